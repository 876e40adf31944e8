//! A facet that was counted.

use crate::facet::{AddressRange, ColumnCounts, FacetActual, FacetProfile};
use crate::hits::{Bucket, FacetCounts};
use crate::request::{FacetKind, FacetRange};
use crate::schema::Field;
use std::ops::Range;

/// A facet that was counted.
pub(super) struct CountedFacet {
    pub(super) counts: FacetCounts,
    /// Documents of each bucket, where these will be asked for.
    pub(super) buckets: Buckets,
    pub(super) profile: FacetProfile,
}

/// Values that the documents of buckets have.
pub(super) enum Buckets {
    Terms(Vec<Vec<u8>>),
    /// A code in a range.
    Codes(Vec<Range<u128>>),
    /// An address in a range.
    Addresses(Vec<AddressRange>),
}

impl CountedFacet {
    /// Ranges with whatever says what is in each; beside them so many documents with other values, and with none.
    pub(super) fn ranges(
        field: &Field,
        ranges: Vec<(FacetRange, u64)>,
        of_ranges: Buckets,
        (other, missing): (u64, u64),
        profile: ColumnCounts,
    ) -> Self {
        let bucket =
            |(FacetRange { from, to }, count)| Bucket { from, to, count, ..Bucket::default() };
        let counts = FacetCounts {
            field: field.name.clone(),
            kind: FacetKind::Ranges,
            buckets: ranges.into_iter().map(bucket).collect(),
            other: Some(other),
            missing,
            exact: true,
            ..FacetCounts::default()
        };
        CountedFacet { counts, buckets: of_ranges, profile: by_column(profile) }
    }
}

/// Work of counting by nothing but a column.
pub(super) fn by_column(column: ColumnCounts) -> FacetProfile {
    FacetProfile { counts: FacetActual::of_column(column), ..FacetProfile::default() }
}
