//! Counts of a facet, and the work that they took.

use crate::plan::FacetMethod;
use crate::sums::sums;
use std::time::Duration;

/// The most frequent terms, and what they leave out.
#[derive(Clone, Debug, Default)]
pub(crate) struct TermCounts {
    /// In the order that is wanted; terms that never match are left out.
    pub(crate) buckets: Vec<(Vec<u8>, u64)>,
    /// Matching documents that have a value.
    pub(crate) with_value: u64,
    /// Matching documents that have none.
    pub(crate) missing: u64,
    /// Whether no document of the snapshot has more than one value.
    pub(crate) single_valued: bool,
    pub(crate) profile: FacetProfile,
}

/// Work of counting terms. A term that several segments have is a term of each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FacetProfile {
    pub(crate) terms_intersected: u64,
    /// All others.
    pub(crate) terms_skipped: u64,
    pub(crate) terms_from_document_frequency: u64,
    /// Deleted documents, what has a term of which was taken away from its document frequency.
    pub(crate) deleted_taken_away: u64,
    pub(crate) bytes_read: u64,
    pub(crate) time: Duration,
    /// How they were counted in the end.
    pub(crate) method: Option<FacetMethod>,
    /// Work on a column, where they were counted by one.
    pub(crate) column: Option<ColumnCounts>,
}

/// What was looked at in a column, and what bounds of blocks spared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnCounts {
    /// Documents whose values were read.
    pub documents: u64,
    /// Blocks of 1,024 documents whose least and greatest value was looked at; one in which matches come in several runs
    /// counts for each. None where the column is read without its directory; where the first key of an order has no bounds, those in
    /// which anything matches.
    pub blocks: u64,
    /// Of these, the ones that were not read because their bounds say enough: none of their values can be among the first of an
    /// order, or all of them lie in one range.
    pub blocks_skipped: u64,
    /// Ends of ranges that were looked up in dictionaries, whose cumulative document frequencies counted whole segments.
    pub ends_looked_up: u64,
    /// Deleted documents whose values were taken away from what these say.
    pub deleted_taken_away: u64,
}

sums! {
    ColumnCounts: documents, blocks, blocks_skipped, ends_looked_up, deleted_taken_away;
}

impl FacetProfile {
    /// Adds the work of another, whatever its method was.
    pub(crate) fn add(&mut self, other: &FacetProfile) {
        self.terms_intersected += other.terms_intersected;
        self.terms_skipped += other.terms_skipped;
        self.terms_from_document_frequency += other.terms_from_document_frequency;
        self.deleted_taken_away += other.deleted_taken_away;
        self.bytes_read += other.bytes_read;
        self.time += other.time;
        if let Some(column) = &other.column {
            *self.column.get_or_insert_default() += *column;
        }
    }
}
