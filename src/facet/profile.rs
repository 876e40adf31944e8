//! Counts of a facet, and the work that they took.

use crate::geo::GeoCounts;
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

/// Work of counting one facet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FacetProfile {
    /// All but its time.
    pub(crate) counts: FacetActual,
    pub(crate) time: Duration,
    /// Method by which values were counted in the end.
    pub(crate) method: Option<FacetMethod>,
    /// Whether another took more memory than there was.
    pub(crate) fell_back: bool,
}

/// Work on a column, and the work that bounds of blocks spared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnCounts {
    /// Documents whose values were read.
    pub documents: u64,
    /// Blocks of 1,024 documents whose least and greatest value was looked at. A block in which matches come in several
    /// runs counts for each. None where the column is read without its directory; where the first key of an order has
    /// no bounds, those in which anything matches.
    pub blocks: u64,
    /// Blocks among [`blocks`](Self::blocks) that were not read because their bounds say enough. None of their
    /// values can be among the first of an order, or all of them are in one range.
    pub blocks_skipped: u64,
    /// Ends of ranges looked up in dictionaries, whose cumulative document frequencies counted whole segments.
    pub ends_looked_up: u64,
    /// Deleted documents whose values were taken away from what these say.
    pub deleted_taken_away: u64,
}

/// The buckets that a facet is counted in, which lies within another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InBuckets {
    /// Number of buckets.
    pub buckets: u64,
    /// The documents of all of them together.
    pub documents: u64,
}

/// Work of counting one facet. A term that several segments have is a term of each, so that all three numbers
/// of terms add up to [`ExplainFacet::terms`](crate::explain::ExplainFacet::terms).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FacetActual {
    /// Terms whose postings were intersected with the result.
    pub terms_intersected: u64,
    /// Terms whose postings were not read. They could not enter the top by their document frequency, or every document
    /// was accounted for before their turn came.
    pub terms_skipped: u64,
    /// Terms whose count is their document frequency, because every document matches.
    pub terms_from_document_frequency: u64,
    /// Deleted documents whose terms were taken away from document frequencies, as all others match.
    pub deleted_taken_away: u64,
    /// Time of the facet.
    pub time_ns: u64,
    /// Bytes of postings and dictionary that it read.
    pub bytes_read: u64,
    /// Work on a column, if the facet is counted by one. Within another facet it may come beside terms, as each bucket
    /// may be counted in another way.
    pub column: Option<ColumnCounts>,
    /// Points that were looked at, if the facet is of a field of points.
    pub geo: Option<GeoCounts>,
    /// Within another facet, in which of its buckets it was counted.
    pub within: Option<InBuckets>,
}

impl FacetActual {
    pub(crate) fn of_column(column: ColumnCounts) -> Self {
        FacetActual { column: Some(column), ..FacetActual::default() }
    }

    pub(crate) fn of_points(geo: GeoCounts) -> Self {
        FacetActual { geo: Some(geo), ..FacetActual::default() }
    }

    /// Whether it says anything of terms: within another facet beside a column.
    pub(crate) fn is_by_terms(&self) -> bool {
        let FacetActual { time_ns, column, geo, within, .. } = *self;
        let is_by_others = column.is_some() || geo.is_some();
        !is_by_others || *self != FacetActual { time_ns, column, geo, within, ..Self::default() }
    }
}

sums! {
    ColumnCounts: documents, blocks, blocks_skipped, ends_looked_up, deleted_taken_away;
    FacetActual: terms_intersected, terms_skipped, terms_from_document_frequency, deleted_taken_away, bytes_read;
}

impl FacetProfile {
    /// Adds the work of another, whatever its method was.
    pub(crate) fn add(&mut self, other: &FacetProfile) {
        self.counts += other.counts;
        self.time += other.time;
        self.fell_back |= other.fell_back;
        if let Some(column) = &other.counts.column {
            *self.counts.column.get_or_insert_default() += *column;
        }
        if let Some(geo) = &other.counts.geo {
            *self.counts.geo.get_or_insert_default() += *geo;
        }
    }
}
