//! How many of the documents that match have a value in each of some ranges, by a column.
//!
//! The ends of all ranges cut the codes into pieces. Of a block whose least and greatest code lie in the same piece nothing is
//! read where each of its documents has a value; of others every code is looked for among the ends. A document with many
//! values counts once for each range that it has one in.
//!
//! Cost: a look at the directory for 1,024 documents, and up to some 10 ns for each that matches; where it has many values, a
//! nanosecond for each of them and each range. Memory: 128 bytes a range.

use crate::budget;
use crate::error::Result;
use crate::execution::{MatchSet, Places, for_each_block};
use crate::format::column::{BLOCK_DOCS, Column};
use crate::ids::FieldId;
use crate::plan::SegmentPlan;
use crate::segment::file::Section;
use std::ops::Range;
use std::time::{Duration, Instant};

/// What a look at the directory takes about, and at a document, in nanoseconds.
const HEAD_NS: u64 = 20;
const DOC_NS: u64 = 10;

/// What ranges count, and what they leave out.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeCounts {
    /// Matching documents with a value in each range, in the order of these.
    pub(crate) counts: Vec<u64>,
    /// Matching documents that have a value, but in no range.
    pub(crate) other: u64,
    /// Matching documents that have none.
    pub(crate) missing: u64,
    pub(crate) profile: ColumnProfile,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ColumnProfile {
    /// Documents whose values were read.
    pub(crate) documents: u64,
    /// Blocks in which something matches, and those that were not read because their bounds say all.
    pub(crate) blocks: u64,
    pub(crate) blocks_skipped: u64,
    pub(crate) time: Duration,
}

/// Counts the documents of `matches` by ranges of codes; one that ends before it begins has none.
pub(crate) fn count_ranges(
    segments: &[SegmentPlan<'_>],
    field: FieldId,
    ranges: &[Range<u128>],
    matches: &[MatchSet],
) -> Result<RangeCounts> {
    let started = Instant::now();
    budget::hold(size_of_val(ranges) as u64 * 4)?;
    // Each may lie over the pieces of all others.
    budget::work((ranges.len() * ranges.len()) as u64)?;
    let mut counting = Counting::new(ranges);
    let mut n_matches = 0;
    for (segment, matches) in segments.iter().zip(matches) {
        n_matches += matches.len(segment.n_docs);
        // Whether there is one was looked up in the schema.
        let Some(column) = segment.segment.field(field).column()? else { continue };
        for_each_block(matches, segment.n_docs, |nth, places| {
            counting.add_block(&column, nth, places)
        })?;
    }
    let counts = counting.finish(n_matches);
    Ok(RangeCounts {
        profile: ColumnProfile { time: started.elapsed(), ..counts.profile },
        ..counts
    })
}

/// The piece that a code is in, by the number of ends up to it, of which there are as many as `within` says.
#[inline]
fn n_ends(ends: &[u128], code: u64, within: &Range<usize>) -> usize {
    let ends = &ends[within.clone()];
    within.start + ends.partition_point(|end| *end <= u128::from(code))
}

struct Counting {
    /// The ends of all ranges, ascending: piece `n` begins at `ends[n]` and ends before the next. Before the first and
    /// behind the last there is no range.
    ends: Vec<u128>,
    /// The pieces of each range.
    ranges: Vec<Range<usize>>,
    /// Of each piece whether a range has it.
    is_inside: Vec<bool>,
    /// Documents with one value, by piece.
    of_pieces: Vec<u64>,
    /// Documents with many, by range.
    of_ranges: Vec<u64>,
    /// Those of the latter that are in any range.
    n_many_inside: u64,
    n_with: u64,
    profile: ColumnProfile,
    pieces: Vec<usize>,
}

impl Counting {
    fn new(ranges: &[Range<u128>]) -> Self {
        let real = ranges.iter().filter(|range| range.start < range.end);
        let mut ends: Vec<u128> = real.flat_map(|range| [range.start, range.end]).collect();
        ends.sort_unstable();
        ends.dedup();
        let place = |end| ends.partition_point(|other| *other < end);
        let pieces_of = |range: &Range<u128>| match range.start < range.end {
            true => place(range.start)..place(range.end),
            false => 0..0,
        };
        let ranges: Vec<Range<usize>> = ranges.iter().map(pieces_of).collect();
        // One more, for what is behind the last end.
        let mut is_inside = vec![false; ends.len() + 1];
        ranges.iter().for_each(|range| is_inside[range.clone()].fill(true));
        Counting {
            of_pieces: vec![0; ends.len() + 1],
            of_ranges: vec![0; ranges.len()],
            ends,
            ranges,
            is_inside,
            n_many_inside: 0,
            n_with: 0,
            profile: ColumnProfile::default(),
            pieces: vec![],
        }
    }

    fn add_block(
        &mut self,
        column: &Column<Section<'_>>,
        nth: u32,
        places: Places<'_>,
    ) -> Result<()> {
        budget::work(HEAD_NS)?;
        self.profile.blocks += 1;
        let head = column.head(nth)?;
        let n_docs = column.n_docs().saturating_sub(nth * BLOCK_DOCS).min(BLOCK_DOCS);
        if head.n_values == 0 {
            self.profile.blocks_skipped += 1;
            return Ok(());
        }
        let all = 0..self.ends.len();
        let of = |code| n_ends(&self.ends, code, &all);
        let within = of(head.least)..of(head.greatest);
        if within.is_empty() && u32::from(head.n_with) == n_docs {
            let n_places = u64::from(places.len());
            self.n_with += n_places;
            self.add_single(within.start, n_places);
            self.profile.blocks_skipped += 1;
            return Ok(());
        }
        let block = column.block(nth, head)?;
        let (mut n_read, mut done) = (0, Ok(()));
        places.for_each(|place| {
            if done.is_err() {
                return;
            }
            n_read += 1;
            let mut codes = block.codes(place);
            let Some(first) = codes.next() else { return };
            self.n_with += 1;
            let piece = n_ends(&self.ends, first, &within);
            match codes.next() {
                None => self.add_single(piece, 1),
                Some(second) => {
                    self.pieces.clear();
                    self.pieces.push(piece);
                    let others = [second].into_iter().chain(codes);
                    let others = others.map(|code| n_ends(&self.ends, code, &within));
                    self.pieces.extend(others);
                    self.pieces.dedup();
                    done = budget::work((self.pieces.len() * self.ranges.len()) as u64);
                    self.add_many();
                }
            }
        });
        self.profile.documents += n_read;
        done?;
        budget::work(DOC_NS * n_read)
    }

    /// Counts documents with a value behind so many ends.
    #[inline]
    fn add_single(&mut self, n_ends: usize, n_docs: u64) {
        // Before the first end as behind the last.
        let piece = n_ends.checked_sub(1).unwrap_or(self.ends.len());
        self.of_pieces[piece] += n_docs;
    }

    /// Counts a document with values in these pieces, ascending.
    fn add_many(&mut self) {
        let mut is_inside = false;
        for (range, count) in self.ranges.iter().zip(&mut self.of_ranges) {
            // By the number of ends up to a value, which is one more than its piece.
            let has =
                self.pieces.iter().any(|n_ends| *n_ends > range.start && *n_ends <= range.end);
            *count += u64::from(has);
            is_inside |= has;
        }
        self.n_many_inside += u64::from(is_inside);
    }

    fn finish(self, n_matches: u64) -> RangeCounts {
        let of_single = |range: &Range<usize>| self.of_pieces[range.clone()].iter().sum::<u64>();
        let counts = self.ranges.iter().zip(&self.of_ranges);
        let counts = counts.map(|(range, many)| of_single(range) + many).collect();
        let inside = self.of_pieces.iter().zip(&self.is_inside).filter(|(_, inside)| **inside);
        let n_inside = inside.map(|(count, _)| count).sum::<u64>() + self.n_many_inside;
        RangeCounts {
            counts,
            other: self.n_with.saturating_sub(n_inside),
            missing: n_matches.saturating_sub(self.n_with),
            profile: self.profile,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_by_all_ends_and_belong_to_every_range_over_them() {
        let top = u128::from(u64::MAX) + 1;
        let turned = Range { start: 5, end: 2 };
        let mut counting = Counting::new(&[10..20, 15..30, 30..30, turned, 0..top, 40..top]);
        assert_eq!(counting.ends, [0, 10, 15, 20, 30, 40, top]);
        let all = 0..counting.ends.len();
        for code in [0, 9, 10, 14, 15, 19, 20, 29, 30, 39, 40, u64::MAX] {
            let n_ends = n_ends(&counting.ends, code, &all);
            counting.add_single(n_ends, 1);
        }
        counting.n_with = 13;
        for codes in [[12, 13, 41], [16, 35, 36]] {
            counting.pieces = codes.map(|code| n_ends(&counting.ends, code, &all)).to_vec();
            counting.add_many();
        }
        let counts = counting.finish(20);
        assert_eq!(counts.counts, [4 + 2, 4 + 1, 0, 0, 12 + 2, 2 + 1]);
        assert_eq!(counts.missing, 7);
        let mut counting = Counting::new(std::slice::from_ref(&(10..20)));
        for code in [9, 10, 19, 20] {
            let n_ends = n_ends(&counting.ends, code, &(0..2));
            counting.add_single(n_ends, 1);
        }
        counting.n_with = 4;
        let counts = counting.finish(4);
        assert_eq!((counts.counts[0], counts.other, counts.missing), (2, 2, 0));
    }
}
