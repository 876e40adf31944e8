//! Counts of matching documents with a value in each of some ranges, by a column.
//!
//! The ends of all ranges cut the codes into pieces, among which every code is looked for: of a block whose codes are in one
//! piece none has to be. A document with many values counts once for each range that it has one in.
//!
//! The column is not read at all if a whole segment matches and its documents have one value each: the cumulative
//! document frequencies of the dictionary say how many are before each end. If few documents are deleted and all
//! others match, only the values of the deleted ones are read.
//!
//! Cost: two to four nanoseconds for each document that matches and each of its values; where these lie in several pieces, a
//! nanosecond for each piece and range. Memory: some 350 bytes a range.

use super::of_field::{FieldMatches, OfField};
use super::pieces::PieceCounts;
use super::scan::{MetCounts, Scan};
use crate::budget;
use crate::error::Result;
use crate::plan::RangesCosts;
use std::ops::Range;

/// Counts what matches by ranges of codes; one that ends before it begins has none.
pub(crate) fn count_ranges(
    of: FieldMatches<'_>,
    ranges: &[Range<u128>],
    costs: RangesCosts,
) -> Result<MetCounts<u64>> {
    budget::hold(size_of_val(ranges) as u64 * 12)?;
    // Each may lie over the pieces of all others.
    budget::work((ranges.len() * ranges.len()) as u64)?;
    let mut counting = RangeCounting::new(ranges);
    let OfField { columns, n_matches, range, .. } = OfField::new(of)?;
    let mut counts = PieceCounts::new(counting.cut.ends.clone(), range, costs);
    for part in columns {
        counts.add_segment(&part, |n_ends| counting.add_many(n_ends))?;
    }
    Ok(counting.finish(&counts.by_ends, counts.scan, n_matches))
}

/// Ranges of codes, cut into pieces by the ends of all of them.
pub(super) struct Cut {
    /// Numbers of ends up to the codes of each range: more than the first, and up to the second.
    pub(super) ranges: Vec<Range<usize>>,
    /// Ascending.
    pub(super) ends: Vec<u64>,
    /// Whether a range has what lies behind so many ends.
    pub(super) is_inside: Vec<bool>,
}

impl Cut {
    pub(super) fn of(ranges: &[Range<u128>]) -> Self {
        let real = ranges.iter().filter(|range| range.start < range.end);
        let mut ends: Vec<u128> = real.flat_map(|range| [range.start, range.end]).collect();
        ends.sort_unstable();
        ends.dedup();
        let place = |end| ends.partition_point(|other| *other < end);
        let pieces_of = |range: &Range<u128>| match range.start < range.end {
            true => place(range.start)..place(range.end),
            false => 0..0,
        };
        let ranges: Vec<_> = ranges.iter().map(pieces_of).collect();
        // Before the first end and behind the last there is no range.
        let mut is_inside = vec![false; ends.len() + 1];
        for range in &ranges {
            is_inside[range.start + 1..][..range.len()].fill(true);
        }
        // The end of all codes comes before none.
        let ends = ends.into_iter().filter_map(|end| u64::try_from(end).ok()).collect();
        Cut { ranges, ends, is_inside }
    }
}

/// Counts of documents by range.
pub(super) struct RangeCounting {
    pub(super) cut: Cut,
    /// Documents with many values, by range, and those of them that are in any.
    of_many: Vec<u64>,
    n_many_inside: u64,
}

impl RangeCounting {
    pub(super) fn new(ranges: &[Range<u128>]) -> Self {
        RangeCounting { cut: Cut::of(ranges), of_many: vec![0; ranges.len()], n_many_inside: 0 }
    }

    /// Counts a document with values behind so many ends, ascending.
    pub(super) fn add_many(&mut self, n_ends: &[usize]) -> Result<()> {
        let mut is_inside = false;
        for (range, count) in self.cut.ranges.iter().zip(&mut self.of_many) {
            let has = n_ends.iter().any(|n_ends| *n_ends > range.start && *n_ends <= range.end);
            *count += u64::from(has);
            is_inside |= has;
        }
        self.n_many_inside += u64::from(is_inside);
        budget::work((n_ends.len() * self.of_many.len()) as u64)
    }

    /// Given the documents with one value, by the number of ends up to it.
    pub(super) fn finish(self, by_ends: &[u64], scan: Scan, n_matches: u64) -> MetCounts<u64> {
        let of_single = |range: &Range<usize>| -> u64 {
            by_ends.iter().take(range.end + 1).skip(range.start + 1).sum()
        };
        let counts = self.cut.ranges.iter().zip(&self.of_many);
        let counts = counts.map(|(range, many)| of_single(range) + many).collect();
        let inside = by_ends.iter().zip(&self.cut.is_inside).filter(|(_, inside)| **inside);
        let n_inside = inside.map(|(count, _)| count).sum::<u64>() + self.n_many_inside;
        let other = scan.n_with.saturating_sub(n_inside);
        MetCounts { other, ..scan.counts(counts, n_matches) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facet::pieces::Pieces;

    #[test]
    fn pieces_are_cut_by_all_ends_and_belong_to_every_range_over_them() {
        let top = u128::from(u64::MAX) + 1;
        let turned = Range { start: 5, end: 2 };
        let mut counting = RangeCounting::new(&[10..20, 15..30, 30..30, turned, 0..top, 40..top]);
        let ends = counting.cut.ends.clone();
        assert_eq!(ends, [0, 10, 15, 20, 30, 40]);
        let mut by_ends = vec![0; ends.len() + 1];
        let pieces = Pieces::new(ends, None);
        for code in [0, 9, 10, 14, 15, 19, 20, 29, 30, 39, 40, u64::MAX] {
            by_ends[pieces.n_ends(code)] += 1;
        }
        for codes in [[12, 13, 41], [16, 35, 36]] {
            counting.add_many(&codes.map(|code| pieces.n_ends(code))).unwrap();
        }
        let counts = counting.finish(&by_ends, Scan { n_with: 14, ..Scan::default() }, 20);
        assert_eq!(counts.counts, [4 + 2, 4 + 1, 0, 0, 12 + 2, 2 + 1]);
        assert_eq!((counts.other, counts.missing), (0, 6));
        let counting = RangeCounting::new(std::slice::from_ref(&(10..20)));
        let ends = counting.cut.ends.clone();
        let mut by_ends = vec![0; ends.len() + 1];
        let pieces = Pieces::new(ends, Some((0, 30)));
        for code in [9, 10, 19, 20] {
            by_ends[pieces.n_ends(code)] += 1;
        }
        let counts = counting.finish(&by_ends, Scan { n_with: 4, ..Scan::default() }, 4);
        assert_eq!((counts.counts[0], counts.other, counts.missing), (2, 2, 0));
    }
}
