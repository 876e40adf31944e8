//! Records of pages that were made.

use crate::execution::WorkCounts;
use crate::explain::tree::nanoseconds;
use crate::explain::{Actual, ColumnCounts, RankingCounts};
use crate::ranking::top::Trace;
use crate::sort::SortProfile;
use std::time::Duration;

/// Run of the operator that makes a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRun<'r> {
    pub(crate) hits: u64,
    /// Documents that match, where making the page has found their number.
    pub(crate) matching: Option<u64>,
    /// Time beside that of the matching operators.
    pub(crate) time: Duration,
    pub(crate) looked_at: WorkCounts,
    /// Rise of the threshold of the best.
    pub(crate) trace: Option<&'r Trace>,
    pub(crate) is_stopped: bool,
}

impl PageRun<'_> {
    /// Measurements of it, where so many documents match.
    pub(super) fn actual(&self, matching: Option<u64>) -> Actual {
        let mut actual = Actual {
            documents: self.hits,
            documents_in: matching.or(self.matching),
            time_ns: nanoseconds(self.time),
            complete: !self.is_stopped,
            stopped: self.is_stopped,
            ..Actual::default()
        };
        let trace = self.trace;
        let counts = RankingCounts {
            documents_scored: trace.map_or(0, |trace| trace.offered),
            thresholds: trace.map_or_else(Vec::new, |trace| trace.rises.clone()),
            ..RankingCounts::default()
        };
        match self.looked_at {
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
