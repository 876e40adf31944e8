//! Graph over the vectors of a segment, built when these are written.
//!
//! A commit and a merge make the same bytes of the same vectors, with any memory and any number of threads.
//! Codes of all vectors, a byte a number, are in memory if that is no more than a part of it, else in a temporary file; so is what else
//! the [build](crate::graph::build) keeps. Vectors of one code are one node.

use crate::error::Result;
use crate::format::graph::codes::Code;
use crate::format::graph::curve::{StoredCurve, StoredPoint};
use crate::format::graph::upper::LevelParts;
use crate::graph::bit_code::BitCodes;
use crate::graph::build::{Tuning, arrange, build};
use crate::graph::code::{Codes, Measures, READ_AHEAD};
use crate::graph::curve::{CURVE_SAMPLES, CurvePoint, curve};
use crate::graph::distinct::RowCodes;
use crate::graph::spill::{Room, SpillFiles, SpillWriter};
use crate::graph::{Graph, Level};
use crate::ids::FieldId;
use crate::schema::{Field, VectorCodes, VectorParams};
use crate::segment::builder::SegmentBuilder;
use crate::segment::graph::{CodesToWrite, GraphParts};
use crate::value;
use crate::writer::pages::SortMeans;
use rayon::ThreadPool;
use std::sync::Arc;

/// Different vectors from which on a segment has a graph: fewer are compared in less time than it takes to read one.
const NODES_MIN: u32 = 4_096;
/// The least number of fields that tests are about.
#[cfg(test)]
pub(crate) const NODES_MIN_OF_TESTS: u32 = 24;

/// Different vectors of a field from which on a segment has a graph; none if it never has.
fn nodes_min(field: &Field, params: VectorParams) -> Option<u32> {
    #[cfg(test)]
    if field.name.starts_with("walked") {
        return params.graph.then_some(NODES_MIN_OF_TESTS);
    }
    let _ = field;
    params.graph.then_some(NODES_MIN)
}

/// Bytes that a vector takes beside its code and what is counted as it comes: hash, measures, number, order, leaders, rank.
const VECTOR_BYTES: usize = 64;

/// Memory and threads that a graph is built with.
#[derive(Clone, Debug)]
pub(super) struct GraphMeans<'m> {
    pub(super) memory_bytes: usize,
    pub(super) pool: Option<&'m ThreadPool>,
    /// For what there is no memory for.
    pub(super) files: SpillFiles,
}

impl GraphMeans<'_> {
    /// Bytes of codes in memory.
    fn code_bytes(&self) -> usize {
        self.memory_bytes / 4
    }

    /// Memory for points that are sorted by place.
    pub(super) fn of_points(&self) -> SortMeans {
        SortMeans { memory_bytes: self.memory_bytes / 4, files: self.files.clone() }
    }

    /// Memory for the rest of a build over so many vectors.
    fn room(&self, n_vectors: usize) -> Room {
        let of_vectors = self.code_bytes() + n_vectors.saturating_mul(VECTOR_BYTES);
        let rest = self.memory_bytes.saturating_sub(of_vectors).max(self.memory_bytes / 8);
        // Memory that was given back has holes.
        Room { bytes: rest / 4 * 3, files: Some(self.files.clone()) }
    }
}

/// Codes of the vectors of a segment to be.
#[derive(Debug)]
pub(super) struct GraphBuffer<'m> {
    params: VectorParams,
    nodes_min: u32,
    codes: RowCodes,
    means: GraphMeans<'m>,
}

impl<'m> GraphBuffer<'m> {
    /// For so many vectors of a field; none if there will be no graph.
    pub(super) fn of(
        field: &Field,
        params: VectorParams,
        n_vectors: u32,
        means: GraphMeans<'m>,
    ) -> Option<Self> {
        let nodes_min = nodes_min(field, params).filter(|least| n_vectors >= *least)?;
        #[cfg(test)]
        let means = match field.name.starts_with("walked") {
            true => GraphMeans { memory_bytes: means.memory_bytes >> 10, ..means },
            false => means,
        };
        let bytes = SpillWriter::new(Some(&means.files), means.code_bytes());
        let codes = RowCodes::new(params.metric, params.dims, n_vectors, bytes);
        Some(GraphBuffer { params, nodes_min, codes, means })
    }

    /// Adds the next row.
    pub(super) fn add(&mut self, row: &[u8]) -> Result<()> {
        let numbers = value::numbers_of_row(self.params, row);
        self.codes.add(numbers.iter().copied())
    }

    /// Builds the graph and writes it behind the vectors, if there are enough different ones.
    pub(super) fn write(self, field: FieldId, builder: &mut SegmentBuilder) -> Result<()> {
        let GraphBuffer { params, nodes_min, codes, means } = self;
        let (codes, of_rows) = codes.finish()?;
        if codes.len() < nodes_min as usize {
            return Ok(());
        }
        let room = means.room(of_rows.len());
        let codes = arrange(codes, means.pool, &room)?;
        let graph = Arc::new(build(&codes, &Tuning::DEFAULT, means.pool, &room)?);
        let bits = match params.codes {
            VectorCodes::B1 => Some(Arc::new(BitCodes::of(&codes, &graph, means.pool, &room)?)),
            VectorCodes::I8 | VectorCodes::None => None,
        };
        let curve = measured(&codes, &graph, bits.as_ref(), means.pool)?;
        let (starts, rows) = rows_of_nodes(&graph.order, &of_rows);
        let bytes = |node: u32| {
            if (node as usize).is_multiple_of(READ_AHEAD) {
                let some = graph.order.iter().skip(node as usize).take(READ_AHEAD);
                codes.read_ahead(some.copied());
            }
            let at = graph.order.get(node as usize).copied().unwrap_or_default();
            let Measures { scale, square } = codes.measures(at);
            Code { steps: codes.code(at), scale, square }
        };
        let links: Vec<_> = graph.upper.iter().map(|level| level.links.all()).collect();
        let levels = graph.upper.iter().zip(&links);
        let levels: Vec<_> = levels.map(|(level, links)| parts_of_level(level, links)).collect();
        let parts = GraphParts {
            dims: params.dims,
            codes: match (params.codes, &bits) {
                (VectorCodes::I8, _) => CodesToWrite::Bytes(&bytes),
                (_, Some(bits)) => CodesToWrite::Bits(bits),
                _ => CodesToWrite::None,
            },
            starts: &starts,
            rows: &rows,
            links: &|node, links| links.extend(graph.links.of_node(node)),
            levels: &levels,
            curve: &curve,
        };
        parts.write(field, builder.file())
    }
}

fn parts_of_level<'l>(level: &'l Level, links: &'l [u32]) -> LevelParts<'l> {
    LevelParts { nodes: &level.nodes, starts: &level.links.starts, links }
}

/// Rows of each node, ascending, with where those of each begin: `order` has the place of the code of each node, `of_rows` that of
/// each row.
fn rows_of_nodes(order: &[u32], of_rows: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut node_of = vec![0; order.len()];
    (0..).zip(order).for_each(|(node, place)| node_of[*place as usize] = node);
    let mut starts = vec![0; order.len() + 1];
    of_rows.iter().for_each(|place| starts[node_of[*place as usize] as usize + 1] += 1);
    for node in 0..order.len() {
        starts[node + 1] += starts[node];
    }
    let (mut next, mut rows) = (starts.clone(), vec![0; of_rows.len()]);
    for (row, place) in (0..).zip(of_rows) {
        let at = &mut next[node_of[*place as usize] as usize];
        rows[*at as usize] = row;
        *at += 1;
    }
    (starts, rows)
}

/// The curve of a graph as it is written.
fn measured(
    codes: &Arc<Codes>,
    graph: &Arc<Graph>,
    bits: Option<&Arc<BitCodes>>,
    pool: Option<&ThreadPool>,
) -> Result<StoredCurve> {
    let point = |it: CurvePoint| StoredPoint {
        ef: it.ef.into(),
        recall: it.recall.into(),
        distances: it.distances,
        hops: it.hops,
    };
    let points = curve(codes, graph, bits, pool)?.into_iter().map(point).collect();
    Ok(StoredCurve { n_samples: codes.len().min(CURVE_SAMPLES) as u32, points })
}
