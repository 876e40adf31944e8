//! Statistics of points: their number, the box around them and their centroid.
//!
//! A point that a document has twice counts once.
//!
//! Cost: some hundred and fifty nanoseconds a point. Memory: up to sixteen bytes a point, at most eight megabytes.

use super::cells::for_each_block;
use super::of_field::FieldMatches;
use crate::budget::{self, ns};
use crate::error::Result;
use crate::geo::{GeoCounts, PointTotals};

/// Bytes of a slot of the longitudes of points, which takes no longer than a point.
const SLOT_BYTES: u64 = 8;

/// Box and centroid of the points of a field.
#[derive(Debug)]
pub(crate) struct PointsOfMatches {
    pub(crate) totals: PointTotals,
    /// Matching documents that have any, and that have none.
    pub(crate) with_value: u64,
    pub(crate) missing: u64,
    pub(crate) work: GeoCounts,
}

/// Looks at all points of what matches.
pub(crate) fn statistics_of_points(of: FieldMatches<'_>) -> Result<PointsOfMatches> {
    let mut n_points = 0;
    for (segment, matches) in of.parts() {
        let Some(points) = segment.segment.field(of.field).points()? else { continue };
        // Few in most buckets, however many points the index has.
        let of_matches = matches.len(segment.n_docs).saturating_mul(points.most().into());
        n_points += points.n_points().min(of_matches);
    }
    let n_bytes = PointTotals::n_bytes(n_points);
    budget::hold(n_bytes)?;
    budget::work(ns::POINT_TESTED * n_bytes / SLOT_BYTES)?;
    let (mut totals, mut with_value) = (PointTotals::new(n_points), 0);
    let (mut work, mut of_doc) = (GeoCounts::default(), vec![]);
    for (segment, matches) in of.parts() {
        for_each_block(of, segment, matches, |points, block| {
            work.boxes_tested += 1;
            block.for_each_doc(points, |block, _, numbers| {
                with_value += u64::from(!numbers.is_empty());
                work.points_tested += numbers.len() as u64;
                of_doc.clear();
                of_doc.extend(numbers.map(|number| block.point(number)));
                of_doc.sort_unstable();
                of_doc.dedup();
                of_doc.iter().for_each(|point| totals.add(*point));
                Ok(())
            })
        })?;
    }
    let missing = of.n_matches().saturating_sub(with_value);
    Ok(PointsOfMatches { totals, with_value, missing, work })
}
