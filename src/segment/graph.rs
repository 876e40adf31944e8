//! Graph over the vectors of a field in a segment: its sections together.

use crate::error::Result;
use crate::format::envelope::SectionKind;
use crate::format::graph::DEGREE_MAX;
use crate::format::graph::bit_codes;
use crate::format::graph::codes::{self, Code, Codes};
use crate::format::graph::curve::{self, StoredCurve};
use crate::format::graph::links::{Links, LinksWriter};
use crate::format::graph::nodes::{self, Nodes};
use crate::format::graph::upper::{self, LevelParts, Upper};
use crate::graph::TOP_NODES;
use crate::graph::bit_code::{BitCodes, Frame, Mean};
use crate::ids::FieldId;
use crate::schema::{VectorCodes, VectorParams};
use crate::segment::file::{Section, SegmentFile, SegmentFileWriter};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

const _: () =
    assert!(crate::graph::DEGREE_MAX <= DEGREE_MAX, "graphs have no more links than are written");

/// Bytes that are written at once.
const WRITE_BYTES: usize = 1 << 20;

/// The graph of a field, read where it lies.
#[derive(Clone, Debug)]
pub(crate) struct FieldGraph<'s> {
    params: VectorParams,
    /// Codes of nodes, as the field has them; none if walks compare the rows.
    pub(crate) codes: Option<Codes<Section<'s>>>,
    pub(crate) links: Links<Section<'s>>,
    pub(crate) upper: Upper<Section<'s>>,
    pub(crate) nodes: Nodes<Section<'s>>,
}

impl<'s> FieldGraph<'s> {
    /// Opens the graph over so many rows of a field; none if the file has no section of it.
    pub(crate) fn open(
        file: &'s SegmentFile,
        field: FieldId,
        n_rows: u32,
        params: VectorParams,
    ) -> Result<Option<Self>> {
        if !has_graph(file, field) {
            return Ok(None);
        }
        let section = |kind| file.require(Some(field), kind);
        let nodes = Nodes::open(section(SectionKind::NODES)?, n_rows)?;
        let n_nodes = nodes.n_nodes();
        let codes = match params.codes {
            VectorCodes::I8 => Some(Codes::open(section(SectionKind::CODES)?, params.dims)?),
            VectorCodes::B1 => Some(bit_codes::open(section(SectionKind::CODES)?, params.dims)?),
            VectorCodes::None => None,
        };
        if let Some(codes) = codes.filter(|codes| codes.n_nodes() != n_nodes) {
            let found = format!("{} codes of {n_nodes} nodes", codes.n_nodes());
            return Err(codes.damage(0, found));
        }
        let (links, at) = (section(SectionKind::LINKS)?, section(SectionKind::LINKS_AT)?);
        let links = Links::open(links, at, n_nodes)?;
        let upper = Upper::open(section(SectionKind::UPPER)?, n_nodes)?;
        Ok(Some(FieldGraph { params, codes, links, upper, nodes }))
    }

    pub(crate) fn n_nodes(&self) -> u32 {
        self.nodes.n_nodes()
    }

    /// The first row of a node.
    #[inline]
    pub(crate) fn first_row(&self, node: u32) -> Result<u32> {
        self.nodes.row(self.nodes.places(node)?.start)
    }

    /// Checks what no walk looks at as a whole; `code_of` returns the code of a row.
    pub(crate) fn verify(
        &self,
        n_rows: u32,
        code_of: impl Fn(u32) -> Result<RowCode>,
    ) -> Result<()> {
        self.verify_rows(n_rows, &code_of)?;
        self.verify_bits(&code_of)?;
        self.verify_codes_differ(&code_of)?;
        self.links.verify_places()?;
        self.verify_upper()?;
        self.verify_reach()
    }

    /// Whether each row is there once, and nodes have its code: rows of one node have the same.
    fn verify_rows(&self, n_rows: u32, code_of: impl Fn(u32) -> Result<RowCode>) -> Result<()> {
        let (mut seen, mut next) = (vec![false; n_rows as usize], 0);
        for node in 0..self.n_nodes() {
            let places = self.nodes.places(node)?;
            if places.start != next {
                return Err(self.nodes.damage(node, format!("rows from {} on", places.start)));
            }
            next = places.end;
            let mut code = self.byte_codes().map(|it| code_of_node(it, node)).transpose()?;
            let mut last = None;
            for place in places {
                let row = self.nodes.row(place)?;
                let is_first = seen.get_mut(row as usize).map(|seen| std::mem::replace(seen, true));
                if is_first != Some(false) || last >= Some(row) {
                    return Err(self.nodes.damage(node, format!("the row {row} out of turn")));
                }
                last = Some(row);
                let own = code_of(row)?;
                if code.as_ref().is_some_and(|code| *code != own) {
                    return Err(self.nodes.damage(node, format!("not the code of row {row}")));
                }
                code = Some(own);
            }
        }
        match next == n_rows {
            true => Ok(()),
            false => Err(self.nodes.damage(self.n_nodes(), format!("{next} rows of {n_rows}"))),
        }
    }

    /// Codes of a byte a number.
    fn byte_codes(&self) -> Option<Codes<Section<'s>>> {
        self.codes.filter(|_| self.params.codes == VectorCodes::I8)
    }

    /// Whether codes of a bit a number are those of the rows, which have one code of a byte a number for each node.
    fn verify_bits(&self, code_of: impl Fn(u32) -> Result<RowCode>) -> Result<()> {
        let Some(codes) = self.codes.filter(|_| self.params.codes == VectorCodes::B1) else {
            return Ok(());
        };
        let (seed, centroid) = bit_codes::seed_and_centroid(&codes)?;
        let (mut mean, mut own) = (Mean::new(self.params.dims), vec![]);
        let frame = Frame::new(seed, centroid);
        for node in 0..self.n_nodes() {
            let row = self.first_row(node)?;
            let (code, [scale, _]) = code_of(row)?;
            let scale = f32::from_bits(scale);
            mean.add(&code, scale);
            own.clear();
            frame.encode(&code, scale, &mut own);
            if *codes.row(node)? != *own {
                return Err(codes.damage(node, format!("not the code of row {row}")));
            }
        }
        let mean = mean.finish();
        let is_same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
        match mean.iter().zip(frame.centroid()).all(is_same) {
            true => Ok(()),
            false => Err(codes.damage(0, "another centroid than the mean of all vectors")),
        }
    }

    /// Whether no two nodes have one code of a byte a number. Takes 12 bytes a node.
    fn verify_codes_differ(&self, code_of: impl Fn(u32) -> Result<RowCode>) -> Result<()> {
        let of_node = |node: u32| match self.byte_codes() {
            Some(codes) => code_of_node(codes, node),
            None => code_of(self.first_row(node)?),
        };
        let mut hashes = vec![];
        for node in 0..self.n_nodes() {
            let code = of_node(node)?;
            hashes.push((BuildHasherDefault::<DefaultHasher>::default().hash_one(&code), node));
        }
        hashes.sort_unstable();
        for alike in hashes.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
            let codes = alike.iter().map(|(_, node)| Ok((of_node(*node)?, *node)));
            let mut codes = codes.collect::<Result<Vec<_>>>()?;
            codes.sort_unstable();
            for two in codes.windows(2) {
                let [(before, first), (code, node)] = two else { continue };
                if before == code {
                    let found = format!("that of the node {first}");
                    let error = match self.codes {
                        Some(codes) => codes.damage(*node, found),
                        None => self.nodes.damage(*node, found),
                    };
                    return Err(error.expected("a code of its own"));
                }
            }
        }
        Ok(())
    }

    /// Whether nodes of levels ascend and are in those below, and each is reached from those of the level above.
    fn verify_upper(&self) -> Result<()> {
        let mut above: Vec<u32> = vec![];
        for level in (0..self.upper.n_levels()).rev() {
            let (mut nodes, mut links) = (vec![], vec![]);
            for place in 0..self.upper.n_nodes(level) {
                nodes.push(self.upper.node(level, place)?);
            }
            self.upper.verify_links(level, |of_node| links.push(of_node.to_vec()))?;
            let is_below = above.iter().all(|node| nodes.binary_search(node).is_ok());
            if !nodes.is_sorted_by(|a, b| a < b) || !is_below {
                let found = format!("other nodes in level {level} than above, or out of order");
                return Err(self.upper.damage(0, found));
            }
            // A walk over the highest begins with its first nodes.
            let entries: Vec<u32> = match above.is_empty() {
                true => (0..nodes.len().min(TOP_NODES) as u32).collect(),
                false => above
                    .iter()
                    .filter_map(|node| nodes.binary_search(node).ok().map(|place| place as u32))
                    .collect(),
            };
            let left = first_left(nodes.len(), entries, |place, to| {
                to.extend(links.get(place as usize).into_iter().flatten());
                Ok(())
            })?;
            if let Some(place) = left {
                let found =
                    format!("a node {} in level {level} that no link leads to", nodes[place]);
                let expected = "links to all nodes from those of the level above";
                return Err(self.upper.damage(0, found).expected(expected));
            }
            above = nodes;
        }
        Ok(())
    }

    /// Whether each node is reached from those of the lowest level.
    fn verify_reach(&self) -> Result<()> {
        let entries = match self.upper.n_levels() {
            0 => (0..self.n_nodes().min(TOP_NODES as u32)).collect(),
            _ => (0..self.upper.n_nodes(0))
                .map(|place| self.upper.node(0, place))
                .collect::<Result<Vec<_>>>()?,
        };
        match first_left(self.n_nodes() as usize, entries, |node, to| self.links.read(node, to))? {
            None => Ok(()),
            Some(node) => Err(self
                .nodes
                .damage(node as u32, "a node that no link leads to")
                .expected("links to all nodes from those of the upper levels")),
        }
    }
}

/// The first of so many nodes that links do not lead to from some.
fn first_left(
    n_nodes: usize,
    mut waiting: Vec<u32>,
    mut links: impl FnMut(u32, &mut Vec<u32>) -> Result<()>,
) -> Result<Option<usize>> {
    let mut reached = vec![false; n_nodes];
    while let Some(node) = waiting.pop() {
        let is_first = reached.get_mut(node as usize).map(|it| std::mem::replace(it, true));
        if is_first == Some(false) {
            links(node, &mut waiting)?;
        }
    }
    Ok(reached.iter().position(|reached| !reached))
}

/// Code of a row: its numbers, and the bits of scale and squared length.
pub(crate) type RowCode = (Vec<u8>, [u32; 2]);

fn code_of_node(codes: Codes<Section<'_>>, node: u32) -> Result<RowCode> {
    let bytes = codes.row(node)?;
    match codes::code_of_row(&bytes) {
        Some(Code { steps, scale, square }) => {
            Ok((steps.to_vec(), [scale, square].map(f32::to_bits)))
        }
        None => Err(codes.damage(node, "too few bytes")),
    }
}

/// Reads the curve of a graph.
pub(crate) fn read_curve(file: &SegmentFile, field: FieldId) -> Result<Option<StoredCurve>> {
    match has_graph(file, field) {
        true => curve::read(file.require(Some(field), SectionKind::CURVE)?).map(Some),
        false => Ok(None),
    }
}

/// Whether a file has a section of a graph; it has all then, unless it is damaged.
fn has_graph(file: &SegmentFile, field: FieldId) -> bool {
    SectionKind::GRAPH.iter().any(|kind| file.section(Some(field), *kind).is_some())
}

/// Codes of the nodes of a graph to be written.
pub(crate) enum CodesToWrite<'g> {
    None,
    /// A byte for each number.
    Bytes(&'g dyn Fn(u32) -> Code<'g>),
    /// A bit for each number.
    Bits(&'g BitCodes),
}

/// A graph to be written.
pub(crate) struct GraphParts<'g> {
    pub(crate) dims: u16,
    pub(crate) codes: CodesToWrite<'g>,
    /// Places where the rows of each node begin, and the last ones end.
    pub(crate) starts: &'g [u32],
    pub(crate) rows: &'g [u32],
    /// Appends the links of a node, ascending.
    pub(crate) links: &'g dyn Fn(u32, &mut Vec<u32>),
    /// The largest first.
    pub(crate) levels: &'g [LevelParts<'g>],
    pub(crate) curve: &'g StoredCurve,
}

impl GraphParts<'_> {
    /// Writes the sections of a graph.
    pub(crate) fn write(&self, field: FieldId, file: &mut SegmentFileWriter) -> Result<()> {
        let (field, mut out) = (Some(field), vec![]);
        let n_nodes = self.starts.len().saturating_sub(1) as u32;
        match self.codes {
            CodesToWrite::None => {}
            CodesToWrite::Bytes(code_of) => {
                file.start_section(field, SectionKind::CODES, 0)?;
                codes::encode_head(n_nodes, self.dims, &mut out);
                for node in 0..n_nodes {
                    codes::encode_row(code_of(node), &mut out);
                    write_if_full(&mut out, file)?;
                }
                end(&mut out, file)?;
            }
            CodesToWrite::Bits(codes) => {
                file.start_section(field, SectionKind::CODES, 0)?;
                let frame = &codes.frame;
                bit_codes::encode_head(n_nodes, frame.seed(), frame.centroid(), &mut out);
                for node in 0..n_nodes {
                    out.extend(codes.row(node));
                    write_if_full(&mut out, file)?;
                }
                end(&mut out, file)?;
            }
        }
        file.start_section(field, SectionKind::LINKS, 0)?;
        let mut writer = LinksWriter::default();
        let mut links = vec![];
        for node in 0..n_nodes {
            links.clear();
            (self.links)(node, &mut links);
            writer.add(&links, &mut out);
            write_if_full(&mut out, file)?;
        }
        end(&mut out, file)?;
        file.section(field, SectionKind::LINKS_AT, &writer.finish())?;
        file.section(field, SectionKind::UPPER, &upper::encode(self.levels))?;
        file.section(field, SectionKind::NODES, &nodes::encode(self.starts, self.rows))?;
        file.section(field, SectionKind::CURVE, &curve::encode(self.curve))
    }
}

fn write_if_full(out: &mut Vec<u8>, file: &mut SegmentFileWriter) -> Result<()> {
    if out.len() >= WRITE_BYTES {
        file.write(out)?;
        out.clear();
    }
    Ok(())
}

fn end(out: &mut Vec<u8>, file: &mut SegmentFileWriter) -> Result<()> {
    file.write(out)?;
    out.clear();
    file.end_section()?;
    Ok(())
}
