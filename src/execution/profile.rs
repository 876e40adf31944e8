//! Records of a run beside those of matching operators.

use crate::facet::{ColumnCounts, FacetActual, FacetProfile, InBuckets};
use crate::geo::GeoCounts;
use crate::plan::{FacetMethod, FacetNode, FacetOperator, FacetStrategy, StatisticsStrategy};
use crate::ranking::pruned::{PhrasePruning, Pruning};
use crate::sort::SortProfile;
use std::time::Duration;

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

/// Run of a facet: within another, in all buckets of that.
#[derive(Clone, Debug, Default)]
pub(crate) struct FacetRun {
    pub(crate) buckets: InBuckets,
    pub(crate) profile: FacetProfile,
    /// Methods that counted values, and in how many buckets.
    pub(crate) methods: Vec<(FacetMethod, u64)>,
    pub(crate) within: Vec<FacetRun>,
}

impl FacetRun {
    /// Nothing so far, of a facet and of all within it.
    pub(crate) fn of(node: &FacetNode) -> Self {
        let within = node.within.iter().map(FacetRun::of).collect();
        // Values may be counted without a column, points have none, and hits are no counts.
        let counts = match node.operator {
            FacetOperator::Facet(FacetStrategy::Values(_)) | FacetOperator::TopHits(..) => {
                FacetActual::default()
            }
            FacetOperator::Facet(FacetStrategy::Grid(_) | FacetStrategy::Rings)
            | FacetOperator::Statistics(StatisticsStrategy::Points, _) => {
                FacetActual::of_points(GeoCounts::default())
            }
            _ => FacetActual::of_column(ColumnCounts::default()),
        };
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
}
