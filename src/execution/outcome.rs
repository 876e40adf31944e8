//! Outcome of a plan that was carried out.

use super::profile::{FacetRun, WorkCounts};
use crate::hits::{FacetCounts, Hit, Hits, Relation, Stopped, Total};
use crate::ids::DocId;
use crate::ranking::top::Trace;
use std::time::Duration;

/// Outcome of an execution, before stored fields are fetched.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The documents of the page, where they are not the best.
    pub(super) docs: Vec<DocId>,
    /// Number of hits that are on the page.
    pub(crate) n_hits: u64,
    pub(crate) total: Total,
    pub(crate) facets: Vec<FacetCounts>,
    pub(crate) facet_runs: Vec<FacetRun>,
    /// Number of different values that hits could have, if they are grouped.
    pub(crate) groups: Option<u64>,
    /// Whether matching operators were carried out: the best of many queries are found, and counted, without.
    pub(crate) is_planned: bool,
    pub(crate) looked_at: WorkCounts,
    /// Time of making the page, beside that of the matching operators; none if nobody asks.
    pub(crate) took: Duration,
    pub(crate) trace: Option<Trace>,
    pub(crate) stopped: Option<Stopped>,
    /// Outcomes of the queries whose hits are fused, in their order.
    pub(crate) branches: Vec<Outcome>,
}

impl Outcome {
    /// The page, with its hits.
    pub(crate) fn into_hits(self, hits: Vec<Hit>, took: Duration) -> Hits {
        let Outcome { total, groups, facets, stopped, .. } = self;
        Hits { total, hits, groups, facets, took, from_cache: false, stopped }
    }

    /// Nothing so far.
    pub(crate) fn uncounted() -> Self {
        let total = Total { value: 0, relation: Relation::AtLeast };
        Outcome { total, ..Outcome::default() }
    }
}
