//! Records of runs: what pages and facets looked at, and how long they took.

use crate::explain::tree::nanoseconds;
use crate::explain::{Actual, ColumnCounts, FacetActual, InBuckets, RankingCounts};
use crate::facet::FacetProfile;
use crate::plan::{FacetMethod, FacetNode, FacetOperator, FacetStrategy};
use crate::ranking::pruned::{PhrasePruning, Pruning};
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

/// Documents, blocks and groups that making a page looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum WorkCounts {
    #[default]
    Nothing,
    /// All documents that match, by their number.
    All(u64),
    Blocks(Pruning),
    Phrase(PhrasePruning),
    Columns(SortProfile),
    /// The groups of so many documents.
    Groups(u64),
}

impl WorkCounts {
    /// The counts of it, of a page that is otherwise unknown; `trace` is of what was scored.
    pub(super) fn actual(self, trace: Option<&Trace>) -> Actual {
        let mut actual = Actual::default();
        let counts = RankingCounts {
            documents_scored: trace.map_or(0, |trace| trace.offered),
            thresholds: trace.map_or_else(Vec::new, |trace| trace.rises.clone()),
            ..RankingCounts::default()
        };
        match self {
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

/// Run of a facet: within another, in all buckets of that.
#[derive(Clone, Debug, Default)]
pub(crate) struct FacetRun {
    buckets: InBuckets,
    pub(crate) profile: FacetProfile,
    /// Methods that counted values, and in how many buckets.
    pub(super) methods: Vec<(FacetMethod, u64)>,
    pub(crate) within: Vec<FacetRun>,
}

impl FacetRun {
    /// Nothing so far, of a facet and of all within it.
    pub(crate) fn of(node: &FacetNode) -> Self {
        let within = node.within.iter().map(FacetRun::of).collect();
        // Values may be counted without a column, and hits are no counts.
        let has_column = !matches!(
            node.operator,
            FacetOperator::Facet(FacetStrategy::Values(_)) | FacetOperator::TopHits(..)
        );
        let column = has_column.then(ColumnCounts::default);
        let counts = FacetActual { column, ..FacetActual::default() };
        let profile = FacetProfile { counts, ..FacetProfile::default() };
        FacetRun { profile, within, ..FacetRun::default() }
    }

    /// Adds the work in one bucket of so many documents.
    pub(crate) fn add(&mut self, of_bucket: &FacetProfile, n_documents: u64) {
        self.buckets.buckets += 1;
        self.buckets.documents += n_documents;
        self.profile.add(of_bucket);
        let Some(method) = of_bucket.method else { return };
        match self.methods.iter_mut().find(|(other, _)| *other == method) {
            Some((_, n)) => *n += 1,
            None => self.methods.push((method, 1)),
        }
    }

    /// Time of all facets within it.
    pub(crate) fn time_within(&self) -> Duration {
        self.within.iter().map(|run| run.profile.time + run.time_within()).sum()
    }

    /// The method that values were counted by, of a facet within no other.
    pub(crate) fn method(&self) -> Option<FacetMethod> {
        self.methods.first().map(|(method, _)| *method)
    }

    /// Measurements of it, with its buckets where it is within another.
    pub(super) fn actual(&self, is_within: bool) -> FacetActual {
        let (time_ns, within) = (nanoseconds(self.profile.time), is_within.then_some(self.buckets));
        FacetActual { time_ns, within, ..self.profile.counts }
    }
}
