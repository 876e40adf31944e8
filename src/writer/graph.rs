//! Graph over the vectors of a segment, built when these are written.
//!
//! A commit and a merge make the same bytes of the same vectors.
//! Codes of all vectors are in memory then, a byte a number. Vectors of one code are one node.

use crate::error::Result;
use crate::format::graph::codes::Code;
use crate::format::graph::curve::{StoredCurve, StoredPoint};
use crate::format::graph::upper::LevelParts;
use crate::graph::build::{Tuning, build};
use crate::graph::code::{Codes, Measures};
use crate::graph::curve::{CURVE_SAMPLES, CurvePoint, curve};
use crate::graph::{Graph, Level};
use crate::ids::FieldId;
use crate::schema::{Field, VectorParams};
use crate::segment::builder::SegmentBuilder;
use crate::segment::graph::GraphParts;
use crate::value;
use std::collections::HashMap;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::hash::{BuildHasher, BuildHasherDefault};
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

/// Codes of the vectors of a segment to be.
#[derive(Debug)]
pub(super) struct GraphBuffer {
    params: VectorParams,
    nodes_min: u32,
    /// Each once.
    codes: Codes,
    /// Place in `codes` of the code of each row.
    of_rows: Vec<u32>,
    /// Places of codes by their hash, or the next number that was free.
    places: HashMap<u64, u32, BuildHasherDefault<DefaultHasher>>,
    /// The code of the row that was added last.
    code: Vec<u8>,
}

impl GraphBuffer {
    /// For so many vectors of a field; none if there will be no graph.
    pub(super) fn of(field: &Field, params: VectorParams, n_vectors: u32) -> Option<Self> {
        let nodes_min = nodes_min(field, params).filter(|least| n_vectors >= *least)?;
        Some(GraphBuffer {
            params,
            nodes_min,
            codes: Codes::new(params.metric, params.dims),
            of_rows: Vec::with_capacity(n_vectors as usize),
            places: HashMap::default(),
            code: vec![],
        })
    }

    /// Adds the next row.
    pub(super) fn add(&mut self, row: &[u8]) {
        let GraphBuffer { codes, code, places, .. } = self;
        code.clear();
        let numbers = value::numbers_of_row(self.params, row);
        let measures =
            crate::graph::code::encode(self.params.metric, numbers.iter().copied(), code);
        let mut hash = places.hasher().hash_one((&*code, measures.scale.to_bits()));
        let place = loop {
            match places.entry(hash) {
                Entry::Vacant(free) => {
                    codes.push_code(code, measures);
                    break *free.insert(codes.len() as u32 - 1);
                }
                Entry::Occupied(known) if is_at(codes, *known.get(), code, measures) => {
                    break *known.get();
                }
                Entry::Occupied(_) => hash = hash.wrapping_add(1),
            }
        };
        self.of_rows.push(place);
    }

    /// Builds the graph and writes it behind the vectors, if there are enough different ones.
    pub(super) fn write(self, field: FieldId, builder: &mut SegmentBuilder) -> Result<()> {
        let GraphBuffer { params, nodes_min, codes, of_rows, places, .. } = self;
        if codes.len() < nodes_min as usize {
            return Ok(());
        }
        drop(places);
        let codes = Arc::new(codes);
        let graph = Arc::new(build(&codes, &Tuning::DEFAULT, None)?);
        let curve = measured(&codes, &graph)?;
        let (starts, rows) = rows_of_nodes(&graph.order, &of_rows);
        let code = |node: u32| {
            let at = graph.order.get(node as usize).copied().unwrap_or_default();
            let Measures { scale, square } = codes.measures(at);
            Code { steps: codes.code(at), scale, square }
        };
        let levels: Vec<_> = graph.upper.iter().map(parts_of_level).collect();
        let parts = GraphParts {
            dims: params.dims,
            code: &code,
            starts: &starts,
            rows: &rows,
            link_starts: &graph.links.starts,
            links: &graph.links.to,
            levels: &levels,
            curve: &curve,
        };
        parts.write(field, builder.file())
    }
}

fn parts_of_level(Level { nodes, links }: &Level) -> LevelParts<'_> {
    LevelParts { nodes, starts: &links.starts, links: &links.to }
}

fn is_at(codes: &Codes, place: u32, code: &[u8], measures: Measures) -> bool {
    codes.code(place) == code && codes.measures(place) == measures
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
fn measured(codes: &Arc<Codes>, graph: &Arc<Graph>) -> Result<StoredCurve> {
    let point = |it: CurvePoint| StoredPoint {
        ef: it.ef.into(),
        recall: it.recall.into(),
        distances: it.distances,
        hops: it.hops,
    };
    let points = curve(codes, graph, None)?.into_iter().map(point).collect();
    Ok(StoredCurve { n_samples: codes.len().min(CURVE_SAMPLES) as u32, points })
}
