//! Records of runs, as plans show them.

use crate::execution::{Outcome, WorkCounts};
use crate::explain::tree::nanoseconds;
use crate::explain::{Actual, ColumnCounts, RankingCounts};
use crate::hits::Relation;
use crate::matching::Profile;
use crate::plan::PhaseTimes;
use crate::plan::forced::Measured;
use crate::sort::SortProfile;
use std::time::Duration;

/// Records of one run.
#[derive(Clone, Copy)]
pub(crate) struct Run<'r> {
    /// Page and facets, with the work that they took.
    pub(crate) found: &'r Outcome,
    /// Profile of the matching operators, and of those that found sets.
    pub(crate) matching: &'r Profile,
    pub(crate) planning: PhaseTimes,
    /// Time of all, planning included, by one clock.
    pub(crate) took: Duration,
    /// Times of the search as planned and otherwise, where they were measured.
    pub(crate) measured: Option<&'r Measured>,
}

impl<'r> Run<'r> {
    /// Records of a branch, which are parts of those of the whole search.
    pub(super) fn of_branch(found: &'r Outcome, matching: &'r Profile) -> Self {
        let (planning, took) = (PhaseTimes::default(), Duration::ZERO);
        Run { found, matching, planning, took, measured: None }
    }

    /// Profile of the matching operators; none if making the page found all that was wanted, so that they did not run.
    pub(super) fn profile(&self) -> Option<&'r Profile> {
        self.found.is_planned.then_some(self.matching)
    }

    /// Documents that match, if all were counted.
    pub(super) fn n_matching(&self) -> Option<u64> {
        let is_counted =
            self.found.total.relation == Relation::Exact && self.found.stopped.is_none();
        is_counted.then_some(self.found.total.value)
    }

    /// Measurements of the operator that makes the page, where so many documents match.
    pub(super) fn page(&self, matching: Option<u64>) -> Actual {
        let Outcome { n_hits, took, looked_at, stopped, trace, .. } = self.found;
        let mut actual = Actual {
            documents: *n_hits,
            documents_in: matching.or(self.n_matching()),
            time_ns: nanoseconds(*took),
            complete: stopped.is_none(),
            stopped: stopped.is_some(),
            ..Actual::default()
        };
        let trace = trace.as_ref();
        let counts = RankingCounts {
            documents_scored: trace.map_or(0, |trace| trace.offered),
            thresholds: trace.map_or_else(Vec::new, |trace| trace.rises.clone()),
            ..RankingCounts::default()
        };
        match *looked_at {
            WorkCounts::Nothing => {}
            WorkCounts::All(documents_scored) => {
                actual.ranking = Some(RankingCounts { documents_scored, ..counts });
            }
            WorkCounts::Blocks(pruning) => {
                actual.ranking = Some(RankingCounts {
                    documents_scored: pruning.documents_scored,
                    postings: Some(pruning.postings),
                    blocks: pruning.blocks_considered,
                    blocks_skipped: pruning.blocks_considered.saturating_sub(pruning.blocks_scored),
                    windows: pruning.windows_considered,
                    windows_skipped: pruning.windows_skipped,
                    searched_twice: pruning.searched_twice,
                    ..counts
                });
            }
            WorkCounts::Phrase(pruning) => {
                actual.positions = Some(pruning.positions);
                actual.ranking = Some(RankingCounts {
                    windows: pruning.windows,
                    windows_skipped: pruning.windows_skipped,
                    candidates: Some(pruning.candidates),
                    ..counts
                });
            }
            WorkCounts::Columns(SortProfile { column, streamed, .. }) => {
                actual.streamed = (streamed.terms > 0).then_some(streamed);
                actual.sort = Some(column);
            }
            // Documents of a batch again where a larger one is looked at.
            WorkCounts::Groups(documents) => {
                actual.sort = Some(ColumnCounts { documents, ..ColumnCounts::default() });
            }
        }
        actual
    }
}
