//! Scores of neighbours of vectors.

use crate::nearest::FoundNeighbors;
use crate::query::NeighborsSpec;
use crate::schema::Metric;
use std::sync::Arc;

/// Neighbours that are scored.
#[derive(Debug)]
pub(crate) struct ScoredNeighbors {
    pub(crate) spec: Arc<NeighborsSpec>,
    /// Index into the sets of the query of all of them.
    pub(super) set: usize,
    pub(super) boost: f32,
    pub(super) metric: Metric,
    /// None until they are [given](super::Weight::give_neighbors).
    pub(super) found: Option<Arc<FoundNeighbors>>,
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

    /// Description of the score of a document of a segment.
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
    /// Neighbours with their scores, by document.
    pub(crate) fn all(&self) -> impl ExactSizeIterator<Item = (u32, f32)> {
        let found = self.found.as_ref().and_then(|found| found.segments.get(self.segment));
        let found = found.map_or(&[][..], |found| found).iter();
        found.map(|neighbor| (neighbor.doc, self.boost * self.metric.score(neighbor.similarity)))
    }

    /// Score of a document; none where it is no neighbour.
    pub(crate) fn score(&self, doc: u32) -> Option<f32> {
        let similarity = self.found.as_ref()?.similarity(self.segment, doc)?;
        Some(self.boost * self.metric.score(similarity))
    }
}
