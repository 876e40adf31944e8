//! Scores of neighbours of vectors.

use super::Weight;
use super::node::Node;
use crate::doc_id_set::{DocIdSet, MatchWindows};
use crate::error::Result;
use crate::nearest::{FoundNeighbors, Neighbor};
use crate::query::{Neighbors, NeighborsSpec, Normal};
use crate::schema::Metric;
use crate::segment::reader::SegmentReader;
use std::sync::Arc;

/// Neighbours that are scored.
#[derive(Debug)]
pub(crate) struct ScoredNeighbors {
    pub(crate) spec: Arc<NeighborsSpec>,
    /// Index into the sets of the query of all of them.
    pub(super) set: usize,
    boost: f32,
    metric: Metric,
    /// Their query, as people write it.
    pub(crate) label: String,
    /// None until they are [given](Weight::give_neighbors).
    found: Option<Arc<FoundNeighbors>>,
}

/// Scores of the neighbours in one segment.
#[derive(Clone, Debug)]
pub(crate) struct NeighborScores {
    found: Option<Arc<FoundNeighbors>>,
    segment: usize,
    boost: f32,
    metric: Metric,
    /// The greatest of these scores.
    pub(crate) greatest: f32,
}

impl ScoredNeighbors {
    /// Scores in one segment.
    pub(crate) fn in_segment(&self, segment: usize) -> NeighborScores {
        let (found, boost, metric) = (self.found.clone(), self.boost, self.metric);
        let most = found.as_ref().and_then(|found| found.greatest_in(segment));
        let greatest = most.map_or(0.0, |similarity| boost * metric.score(similarity));
        NeighborScores { found, segment, boost, metric, greatest }
    }

    /// How near a document of a segment is, and how that is called.
    pub(crate) fn described(&self, segment: usize, doc: u32) -> Option<String> {
        let similarity = self.found.as_ref()?.similarity(segment, doc)?;
        let (metric, boost) = (self.metric.name(), self.boost);
        let what = match self.metric {
            Metric::Cosine => "(1 + similarity) / 2",
            Metric::Dot if similarity < 0.0 => "1 / (1 - similarity)",
            Metric::Dot => "1 + similarity",
            Metric::L2 => "1 / (1 - similarity)",
        };
        let of_boost = if boost == 1.0 { String::new() } else { format!("boost {boost} × ") };
        Some(format!("{of_boost}{what}, with the {metric} similarity {similarity}"))
    }
}

impl NeighborScores {
    /// Score of a document; none where it is no neighbour.
    pub(crate) fn score(&self, doc: u32) -> Option<f32> {
        let similarity = self.found.as_ref()?.similarity(self.segment, doc)?;
        Some(self.boost * self.metric.score(similarity))
    }
}

impl Weight<'_> {
    /// Node of neighbours that are to be given.
    pub(super) fn neighbors_node(&mut self, spec: &Arc<NeighborsSpec>, boost: f32) -> Node {
        let normal = Normal::Nearest(Arc::clone(spec));
        let schema = self.segments.first().map(|segment| segment.schema());
        let kind = schema.map(|schema| schema.get(spec.field).kind);
        let metric = kind.and_then(|kind| kind.vector()).map_or(Metric::default(), |it| it.metric);
        let (spec, label) = (Arc::clone(spec), self.label(&normal));
        let (nth, set) = (self.neighbors.len(), self.wanted.len());
        self.neighbors.push(ScoredNeighbors { spec, set, boost, metric, label, found: None });
        self.wanted.push(normal);
        Node::Nearest { nth, set }
    }

    /// Whether scores depend on neighbours.
    pub(crate) fn has_neighbors(&self) -> bool {
        !self.neighbors.is_empty() || self.by_segment.iter().any(Weight::has_neighbors)
    }

    /// Neighbours that only scores depend on, given what matches.
    pub(crate) fn neighbors_beside(&self, matching: &Normal) -> Vec<Normal> {
        let all = self.neighbors.iter().map(|scored| Normal::Nearest(Arc::clone(&scored.spec)));
        all.filter(|neighbors| !matching.asks_for(neighbors)).collect()
    }

    /// Sets the neighbours that were found for each that is asked for, after the [sets](Self::give_sets).
    ///
    /// # Errors
    ///
    /// A limit error where a query may not take so much memory.
    pub(crate) fn give_neighbors(
        &mut self,
        found: &dyn Fn(&NeighborsSpec) -> Option<Arc<FoundNeighbors>>,
    ) -> Result<()> {
        self.sets.resize(self.wanted.len(), vec![]);
        self.docs_of_sets.resize(self.wanted.len(), 0);
        for scored in &mut self.neighbors {
            scored.found = found(&scored.spec);
            let Some(found) = &scored.found else { continue };
            let segments = self.segments.iter().zip(&found.segments);
            let of_segment = |(segment, found): (&SegmentReader<'_>, &Vec<Neighbor>)| {
                let docs: Vec<u32> = found.iter().map(|neighbor| neighbor.doc).collect();
                let set = MatchWindows::of_documents(segment.n_docs(), &docs)?;
                Ok(Arc::new(DocIdSet::Some(set)))
            };
            self.sets[scored.set] = segments.map(of_segment).collect::<Result<_>>()?;
            self.docs_of_sets[scored.set] = found.n_docs();
        }
        for (nth, own) in self.by_segment.iter_mut().enumerate() {
            let here = |spec: &NeighborsSpec| found(spec).map(|all| Arc::new(all.of_segment(nth)));
            own.give_neighbors(&here)?;
        }
        Ok(())
    }

    /// Expects as many neighbours as are asked for.
    pub(super) fn expect_neighbors(&mut self) {
        for scored in &self.neighbors {
            self.docs_of_sets[scored.set] = match scored.spec.wanted {
                Neighbors::Nearest(k) => k.into(),
                Neighbors::Within(_) => 0,
            };
        }
    }
}
