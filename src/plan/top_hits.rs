//! Strategies for the best of documents that are known to match.

use super::CostModel;
use super::order::{OrderShape, SortStrategy};
use super::scoring::Scoring;

/// Ways to find the best documents of a bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TopHitsStrategy {
    /// The first, with the score that all have, where any is wanted.
    DocOrder { score: Option<f32> },
    /// All documents are scored.
    Scored,
    /// The first in an order are looked for in columns.
    Sorted(SortStrategy),
}

impl Default for TopHitsStrategy {
    fn default() -> Self {
        TopHitsStrategy::DocOrder { score: None }
    }
}

impl TopHitsStrategy {
    /// Chooses by the order of fields, if there is one, or else by score, if that is wanted.
    pub(crate) fn choose(order: Option<OrderShape>, scoring: Option<&impl Scoring>) -> Self {
        if let Some(order) = order {
            return TopHitsStrategy::Sorted(SortStrategy::choose(order, None));
        }
        match scoring {
            Some(scoring) if scoring.constant().is_none() => TopHitsStrategy::Scored,
            scoring => TopHitsStrategy::DocOrder { score: scoring.and_then(Scoring::constant) },
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            TopHitsStrategy::DocOrder { .. } => "the first in document order",
            TopHitsStrategy::Scored => "BM25 of every document",
            TopHitsStrategy::Sorted(_) => "columns of every document",
        }
    }

    pub(super) fn cost_ns(self, costs: &CostModel, n: usize, documents: f64) -> f32 {
        let (n, documents) = ((n as f64).min(documents) as f32, documents as f32);
        match self {
            TopHitsStrategy::DocOrder { .. } => n * costs.write_ns,
            TopHitsStrategy::Scored => documents * costs.score_looked_up_ns,
            TopHitsStrategy::Sorted(_) => costs.column_ns + documents * costs.column_doc_ns,
        }
    }
}
