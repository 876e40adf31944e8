//! Counts of matching documents by rings: ranges of distances from a point.
//!
//! Distances are compared by the formula of the module [`geo`](crate::geo). A document with many points counts once for each ring that
//! one of them is in, as ranges of numbers do. Boxes of 1,024 documents between the same ends settle all of theirs.
//!
//! Cost: some hundred nanoseconds for each document that matches and each of its points.

use super::cells::{for_each_block, in_buckets};
use super::of_field::FieldMatches;
use super::parts::buckets_by_piece;
use super::pieces::Pieces;
use super::ranges::{Cut, RangeCounting};
use super::scan::Scan;
use crate::budget::{self, Held};
use crate::doc_id_set::Matches;
use crate::error::Result;
use crate::geo::{DistanceCodes, GeoCounts, GeoPoint};
use std::ops::Range;

/// Matching documents by ring.
#[derive(Debug)]
pub(crate) struct RingCounts {
    pub(crate) counts: Vec<u64>,
    /// Matching documents with points, but none in a ring.
    pub(crate) other: u64,
    pub(crate) missing: u64,
    pub(crate) work: GeoCounts,
}

/// Counts what matches by ranges of codes of distances.
pub(crate) fn count_rings(
    of: FieldMatches<'_>,
    near: GeoPoint,
    rings: &[Range<u128>],
) -> Result<RingCounts> {
    budget::hold(size_of_val(rings) as u64 * 12)?;
    budget::work((rings.len() * rings.len()) as u64)?;
    let (distances, mut counting) = (DistanceCodes::of(near), RangeCounting::new(rings));
    let ends = counting.cut.ends.clone();
    let mut by_ends = vec![0; ends.len() + 1];
    let pieces = Pieces::new(ends, Some((0, DistanceCodes::FARTHEST)));
    let (mut n_with, mut work, mut of_doc) = (0, GeoCounts::default(), vec![]);
    for (segment, matches) in of.parts() {
        for_each_block(of, segment, matches, |points, block| {
            work.boxes_tested += 1;
            let (least, greatest) = distances.codes_of(&block.head.bounds);
            let piece = pieces.n_ends(least);
            if block.all_have_some && piece == pieces.n_ends(greatest) {
                work.boxes_settled += 1;
                let n = u64::from(block.places.len());
                n_with += n;
                by_ends[piece] += n;
                return Ok(());
            }
            block.for_each_doc(points, |block, _, numbers| {
                n_with += u64::from(!numbers.is_empty());
                work.points_tested += numbers.len() as u64;
                work.points_by_formula += numbers.len() as u64;
                let piece = |number: u32| pieces.n_ends(distances.code(block.point(number)));
                match numbers.len() {
                    0 => Ok(()),
                    1 => {
                        by_ends[piece(numbers.start)] += 1;
                        Ok(())
                    }
                    _ => {
                        of_doc.clear();
                        of_doc.extend(numbers.map(piece));
                        of_doc.sort_unstable();
                        of_doc.dedup();
                        counting.add_many(&of_doc)
                    }
                }
            })
        })?;
    }
    let counts = counting.finish(&by_ends, Scan { n_with, ..Scan::default() }, of.n_matches());
    Ok(RingCounts { counts: counts.counts, other: counts.other, missing: counts.missing, work })
}

/// Matches that have a point in each ring.
pub(crate) fn in_rings(
    of: FieldMatches<'_>,
    near: GeoPoint,
    rings: &[Range<u128>],
) -> Result<Vec<Matches>> {
    let Cut { ranges, ends, is_inside } = Cut::of(rings);
    let mut held = Held::default();
    let by_piece = buckets_by_piece(&ranges, is_inside.len(), &mut held)?;
    let pieces = Pieces::new(ends, Some((0, DistanceCodes::FARTHEST)));
    let distances = DistanceCodes::of(near);
    in_buckets(of, rings.len(), |point, found| {
        let piece = pieces.n_ends(distances.code(point));
        found.extend(by_piece.get(piece).into_iter().flatten());
    })
}
