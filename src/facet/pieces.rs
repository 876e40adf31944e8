//! Pieces of the range of codes, with the number of matches in each.

use super::deleted;
use super::of_field::OfSegment;
use super::scan::{InBlock, NumbersAt, Scan, Sink};
use crate::budget::{self, ns};
use crate::doc_id_set::DocIdSet;
use crate::error::{Error, Result};
use crate::format::column::{Block, Plain};
use crate::plan::in_window::ENDS_COMPARED_MAX;
use crate::plan::{RangesCosts, RangesStrategy};
use crate::segment::file::Section;
use crate::simd::numbers::{count_codes_from, count_from};
use crate::value::term_of_code;

/// Slots that a lookup begins with: sixteen kilobytes, and more where there are more ends than that.
const SLOTS_MIN: u64 = 1_024;
const SLOTS_MAX: u64 = 1 << 16;

/// Ascending ends of pieces. Codes are put into equal slots, most of which have one end at the most, so that most codes take one
/// look at a table that stays in the nearest cache.
#[derive(Debug)]
pub(super) struct Pieces {
    ends: Vec<u64>,
    /// Code that slots begin with, and the bits by which a code is shifted to get its slot.
    least: u64,
    shift: u32,
    slots: Vec<Slot>,
}

/// Codes that begin with the same bits.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Number of ends up to its first code, and how many more up to its last.
    from: u32,
    n: u32,
    /// The first of the latter.
    next: u64,
}

impl Pieces {
    /// Makes pieces of ascending ends, for codes that lie in `range`, or for others in more time.
    pub(super) fn new(ends: Vec<u64>, range: Option<(u64, u64)>) -> Self {
        let (least, greatest) = range.unwrap_or_default();
        let n_slots = (ends.len() as u64 * 4).next_power_of_two().clamp(SLOTS_MIN, SLOTS_MAX);
        let bits = u64::BITS - greatest.saturating_sub(least).leading_zeros();
        let shift = bits.saturating_sub(n_slots.ilog2());
        let last = greatest.saturating_sub(least) >> shift;
        let mut from = 0;
        let mut up_to = |code: u64| {
            from += ends[from..].iter().take_while(|end| **end <= code).count();
            from
        };
        let slot = |slot: u64| {
            let first = (slot << shift).saturating_add(least);
            let behind = (1u64 << shift).wrapping_sub(1);
            let from = up_to(first);
            let n = up_to(first.saturating_add(behind)) - from;
            let next = ends.get(from).copied().unwrap_or_default();
            Slot { from: from as u32, n: n as u32, next }
        };
        let slots = (0..=last).map(slot).collect();
        Pieces { ends, least, shift, slots }
    }

    /// Number of ends up to a code.
    #[inline]
    pub(super) fn n_ends(&self, code: u64) -> usize {
        let slot = code.checked_sub(self.least).map(|code| (code >> self.shift) as usize);
        match slot.and_then(|slot| self.slots.get(slot)) {
            Some(&Slot { from, n, next }) if n <= 1 => {
                from as usize + (n as usize & usize::from(next <= code))
            }
            _ => self.ends.partition_point(|end| *end <= code),
        }
    }
}

/// Documents by the number of ends up to their value.
#[derive(Debug)]
pub(super) struct PieceCounts {
    ends: Vec<u64>,
    range: Option<(u64, u64)>,
    costs: RangesCosts,
    /// Pieces of codes, made for the first column that is read by blocks.
    pieces: Option<Pieces>,
    /// Matches with one value.
    pub(super) by_ends: Vec<u64>,
    pub(super) scan: Scan,
}

impl PieceCounts {
    /// Counts by ascending ends, for codes that lie in `range`.
    pub(super) fn new(ends: Vec<u64>, range: Option<(u64, u64)>, costs: RangesCosts) -> Self {
        let (by_ends, scan) = (vec![0; ends.len() + 1], Scan::default());
        PieceCounts { ends, range, costs, pieces: None, by_ends, scan }
    }

    /// Counts what matches in a segment. Documents with many values are given to `add_many`, by the numbers of ends up to these.
    pub(super) fn add_segment(
        &mut self,
        part: &OfSegment<'_>,
        add_many: impl FnMut(&[usize]) -> Result<()>,
    ) -> Result<()> {
        match deleted::n_of(part.segment.segment, part.matches) {
            Some(n_deleted) if self.add_everything(part, n_deleted)? => match n_deleted {
                0 => Ok(()),
                _ => self.take_deleted_away(part, n_deleted),
            },
            _ => self.add_by_column(part, add_many),
        }
    }

    /// Takes away what the deleted documents of a segment have of which all were counted.
    fn take_deleted_away(&mut self, part: &OfSegment<'_>, n_deleted: u64) -> Result<()> {
        let damage = || {
            Error::corrupt("counting deleted documents by their values")
                .expected("one value each at the most, which all documents have been counted by")
                .found("others")
                .in_file(part.segment.segment.file().path())
        };
        let documents = DocIdSet::Some(deleted::documents(part.segment.segment)?);
        let mut of_deleted = PieceCounts::new(self.ends.clone(), self.range, self.costs);
        let part = OfSegment { matches: &documents, ..*part };
        of_deleted.add_by_column(&part, |_| Err(damage()))?;
        let taken = of_deleted.by_ends.iter().chain([&of_deleted.scan.n_with]);
        for (count, taken) in self.by_ends.iter_mut().chain([&mut self.scan.n_with]).zip(taken) {
            *count = count.checked_sub(*taken).ok_or_else(damage)?;
        }
        self.scan.profile += of_deleted.scan.profile;
        self.scan.profile.deleted_taken_away += n_deleted;
        Ok(())
    }

    fn add_by_column(
        &mut self,
        part: &OfSegment<'_>,
        add_many: impl FnMut(&[usize]) -> Result<()>,
    ) -> Result<()> {
        if let Some(plain) = part.column.plain() {
            return self.add_plain(&plain, part.matches);
        }
        let make = || Pieces::new(self.ends.clone(), self.range);
        let mut by_block = ByBlock {
            pieces: self.pieces.get_or_insert_with(make),
            by_ends: &mut self.by_ends,
            of_many: vec![],
            numbers: NumbersAt::default(),
            add_many,
        };
        self.scan.few_or_blocks(part, &mut by_block)
    }

    /// Counts all documents by the sums of the dictionary; `false` where these are not kept, or cost more with what is deleted.
    fn add_everything(&mut self, part: &OfSegment<'_>, n_deleted: u64) -> Result<bool> {
        let n_ends = self.ends.len() as u64;
        let strategy = self.costs.choose(n_ends, n_deleted, part.column.n_docs());
        if strategy == RangesStrategy::Column || !part.field.has_codes() {
            return Ok(false);
        }
        let dictionary = part.field.terms()?;
        let Some(cumulative) = part.field.cumulative(dictionary.n_blocks())? else {
            return Ok(false);
        };
        budget::work(ns::RANGE_END * n_ends)?;
        let below = |end: &u64| dictionary.documents_below(&term_of_code(*end), &cumulative);
        let of_all = cumulative.before(dictionary.n_blocks());
        let mut before = 0;
        for (up_to, count) in self.ends.iter().map(below).chain([of_all]).zip(&mut self.by_ends) {
            let up_to = up_to?;
            *count += u64::from(up_to.checked_sub(before).ok_or_else(|| {
                let found = format!("{before} documents up to the end of a range, then {up_to}");
                cumulative.damage(0, found)
            })?);
            before = up_to;
        }
        self.scan.n_with += u64::from(before);
        self.scan.profile.ends_looked_up += n_ends;
        Ok(true)
    }

    /// Counts by the numbers of a plain column: ends become numbers once, and no block is set up.
    fn add_plain(&mut self, plain: &Plain<Section<'_>>, matches: &DocIdSet) -> Result<()> {
        let n_matches = matches.len(plain.column().n_docs());
        if n_matches == 0 {
            return Ok(());
        }
        let first = plain.first();
        let (least, greatest) = plain.column().range().unwrap_or_default();
        let up_to = |code: u64| self.ends.partition_point(|end| *end <= code);
        if first == 0 && up_to(least) == up_to(greatest) {
            self.by_ends[up_to(least)] += n_matches;
            self.scan.n_with += n_matches;
            return Ok(());
        }
        let firsts: Vec<u32> = self.ends.iter().map(|end| plain.first_of(*end)).collect();
        let most = plain.first_of(greatest);
        let by_ends = &mut self.by_ends;
        if firsts.len() <= ENDS_COMPARED_MAX {
            return self.scan.numbers(plain, matches, ns::VALUE_PLACED, |numbers| {
                let with = count_from(numbers, first);
                let n_from = |first: &u32| count_from(numbers, *first);
                count_compared(with, firsts.iter().map(n_from), by_ends);
                Ok(with.into())
            });
        }
        budget::work(SLOTS_MAX)?;
        let ends = firsts.iter().map(|first| u64::from(*first)).collect();
        let pieces = Pieces::new(ends, Some((first.into(), most.into())));
        self.scan.numbers(plain, matches, ns::VALUE_PLACED, |numbers| {
            let mut n_with = 0;
            for number in numbers.iter().filter(|number| **number >= first) {
                n_with += 1;
                // No number has more ends before it than there are.
                by_ends[pieces.n_ends(u64::from(*number))] += 1;
            }
            Ok(n_with)
        })
    }
}

struct ByBlock<'c, F> {
    pieces: &'c Pieces,
    by_ends: &'c mut [u64],
    /// Different numbers of ends of a document with many values, ascending.
    of_many: Vec<usize>,
    numbers: NumbersAt,
    add_many: F,
}

impl<F: FnMut(&[usize]) -> Result<()>> Sink for ByBlock<'_, F> {
    const VALUE_NS: u64 = ns::VALUE_PLACED;

    type Key = usize;

    fn key(&self, code: u64) -> Result<usize> {
        Ok(self.pieces.n_ends(code))
    }

    fn add(&mut self, n_ends: usize, n_docs: u32) -> Result<()> {
        // No code has more ends before it than there are.
        self.by_ends[n_ends] += u64::from(n_docs);
        Ok(())
    }

    fn take_few(&mut self, codes: &[u64]) -> Result<()> {
        let ends = &self.pieces.ends;
        if ends.len() > ENDS_COMPARED_MAX {
            return codes.iter().try_for_each(|code| self.add(self.pieces.n_ends(*code), 1));
        }
        let n_from = ends.iter().map(|end| count_codes_from(codes, *end));
        count_compared(codes.len() as u32, n_from, self.by_ends);
        Ok(())
    }

    fn take_block(&mut self, block: &Block<'_>, of: InBlock<'_>) -> Result<u64> {
        budget::work(ns::VALUE_PLACED * u64::from(of.n))?;
        let ByBlock { pieces, by_ends, of_many, numbers: room, add_many } = self;
        // No code has more ends before it than there are.
        let mut add_one = |code| by_ends[pieces.n_ends(code)] += 1;
        let mut n_with = 0;
        if let Some(numbers) = block.one_each() {
            let (least, greatest) = (pieces.n_ends(of.head.least), pieces.n_ends(of.head.greatest));
            let inside = pieces.ends.get(least..greatest).unwrap_or_default();
            if numbers.are_plain() && inside.len() <= ENDS_COMPARED_MAX {
                let mut firsts = [0; ENDS_COMPARED_MAX];
                let of_ends = inside.iter().map(|end| numbers.first_number_of(*end));
                firsts.iter_mut().zip(of_ends).for_each(|(first, of_end)| *first = of_end);
                let (_, read) = room.read(&numbers, of.places);
                let n_from = firsts[..inside.len()].iter().map(|first| count_from(read, *first));
                count_compared(of.n, n_from, &mut by_ends[least..]);
                return Ok(of.n.into());
            }
            of.places.for_each(|place| {
                if let Some(code) = numbers.code(place) {
                    n_with += 1;
                    add_one(code);
                }
            });
            return Ok(n_with);
        }
        of.places.try_for_each(|place| {
            let mut codes = block.codes(place);
            let Some(first) = codes.next() else { return Ok(()) };
            n_with += 1;
            let Some(second) = codes.next() else {
                add_one(first);
                return Ok(());
            };
            of_many.clear();
            of_many
                .extend([first, second].into_iter().chain(codes).map(|code| pieces.n_ends(code)));
            let n_codes = of_many.len() as u64;
            of_many.dedup();
            budget::work(ns::VALUE_OF_MANY * n_codes)?;
            add_many(of_many)
        })?;
        Ok(n_with)
    }
}

/// Counts what matches by the number of `ends` up to a value: a document once for each number that one of its values has.
pub(super) fn count_by_ends(
    columns: &[OfSegment<'_>],
    ends: Vec<u64>,
    range: Option<(u64, u64)>,
    costs: RangesCosts,
) -> Result<PieceCounts> {
    let mut of_many = vec![0; ends.len() + 1];
    let mut counts = PieceCounts::new(ends, range, costs);
    for part in columns {
        counts.add_segment(part, |n_ends| {
            n_ends.iter().for_each(|n_ends| of_many[*n_ends] += 1);
            Ok(())
        })?;
    }
    counts.by_ends.iter_mut().zip(of_many).for_each(|(count, many)| *count += many);
    Ok(counts)
}

/// Counts documents, of which `n_with` have a value, by the ends up to it, given for each end how many lie from it on. Without a
/// branch that depends on a value: all are compared with one end after the other.
fn count_compared(n_with: u32, n_from: impl Iterator<Item = u32>, by_ends: &mut [u64]) {
    let mut n_before = n_with;
    for (n_from, count) in n_from.chain([0]).zip(by_ends) {
        *count += u64::from(n_before - n_from);
        n_before = n_from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_counted_wherever_codes_and_ends_lie() {
        let top = u64::MAX;
        let sets: [&[u64]; 7] = [
            &[],
            &[0],
            &[top],
            &[10, 15, 20, 30, 40],
            &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1 << 40, top - 1, top],
            &[1 << 20, (1 << 20) + 1, 1 << 21],
            &[5, 1 << 63],
        ];
        let ranges = [None, Some((0, 0)), Some((0, top)), Some((12, 35)), Some((3, 1 << 41))];
        let ranges = ranges.into_iter().chain([Some((top - 5, top)), Some((1 << 20, 1 << 21))]);
        for range in ranges {
            for ends in sets {
                let pieces = Pieces::new(ends.to_vec(), range);
                let near =
                    ends.iter().flat_map(|end| [end.wrapping_sub(1), *end, end.wrapping_add(1)]);
                let spread = (0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1, !(1 << bit)]);
                let slots =
                    (0..3_000).map(|nth| range.unwrap_or_default().0.wrapping_add(nth * 700));
                for code in near.chain(spread).chain(slots) {
                    let expected = ends.iter().filter(|end| **end <= code).count();
                    assert_eq!(pieces.n_ends(code), expected, "{code} of {ends:?} in {range:?}");
                }
            }
        }
        let many: Vec<u64> = (0..50_000).map(|nth| nth * 3).collect();
        let pieces = Pieces::new(many.clone(), Some((0, 150_000)));
        for code in 0..150_100 {
            assert_eq!(pieces.n_ends(code), (code / 3 + 1).min(50_000) as usize);
        }
    }
}
