//! A facet that was counted.

use crate::facet::{AddressRange, CellCounts, ColumnCounts, FacetActual, FacetProfile};
use crate::geo::{GeoCell, GeoCounts, GeoGrid, GeoPoint};
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
    /// A point in a cell.
    Cells(Vec<GeoCell>),
    /// A point whose distance from this one has a code in a range.
    Rings(GeoPoint, Vec<Range<u128>>),
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

    /// Cells of a grid, those with the most documents first.
    pub(super) fn cells(field: &Field, grid: GeoGrid, counts: CellCounts) -> Self {
        let CellCounts { cells, missing, work } = counts;
        let mut named: Vec<_> =
            cells.into_iter().map(|(cell, count)| (cell.to_string(), cell, count)).collect();
        named.sort_unstable_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
        let cells = named.iter().map(|(_, cell, _)| *cell).collect();
        let bucket = |(name, cell, count): (String, GeoCell, u64)| Bucket {
            value: name.into(),
            cell: Some(cell),
            count,
            ..Bucket::default()
        };
        let counts = FacetCounts {
            field: field.name.clone(),
            kind: FacetKind::Grid,
            buckets: named.into_iter().map(bucket).collect(),
            other: Some(0),
            missing,
            exact: true,
            grid: Some(grid),
            ..FacetCounts::default()
        };
        CountedFacet { counts, buckets: Buckets::Cells(cells), profile: by_points(work) }
    }
}

/// Work of looking at points.
pub(super) fn by_points(geo: GeoCounts) -> FacetProfile {
    FacetProfile { counts: FacetActual::of_points(geo), ..FacetProfile::default() }
}

/// Work of counting by nothing but a column.
pub(super) fn by_column(column: ColumnCounts) -> FacetProfile {
    FacetProfile { counts: FacetActual::of_column(column), ..FacetProfile::default() }
}
