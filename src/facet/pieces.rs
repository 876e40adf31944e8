//! Codes cut into pieces, and how many of the documents that match have one in each.

use super::deleted;
use super::of_field::OfSegment;
use super::profile::ColumnCounts;
use crate::budget;
use crate::error::{Error, Result};
use crate::execution::{MatchSet, Places, for_each_few_or_block, for_each_number};
use crate::format::column::{BLOCK_DOCS, Column, Few, Heads, Plain};
use crate::segment::file::Section;
use crate::simd::numbers::{count_codes_from, count_from};
use crate::value::term_of_code;

/// What a look at the directory takes about, at a document, and at one of many values, in nanoseconds.
const HEAD_NS: u64 = 20;
const DOC_NS: u64 = 4;
const CODE_NS: u64 = 5;
/// What looking an end up in the dictionary takes, and adding up to it.
const END_NS: u64 = 1_000;
/// And at one of a few documents.
const FEW_NS: u64 = 10;
/// Slots that a lookup begins with: sixteen kilobytes, and more where there are more ends than that.
const SLOTS_MIN: u64 = 1_024;
const SLOTS_MAX: u64 = 1 << 16;
/// Ends within a block with which all of its numbers are compared.
const COMPARED_MAX: usize = 16;

/// Ascending ends of pieces. Codes are put into equal slots, most of which have one end at the most, so that most codes take one
/// look at a table that stays in the nearest cache.
#[derive(Debug)]
pub(super) struct Pieces {
    ends: Vec<u64>,
    /// What slots begin with, and by how many bits a code is shifted to get its slot.
    least: u64,
    shift: u32,
    slots: Vec<Slot>,
}

/// Codes that begin with the same bits.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// How many ends lie up to its first code, and how many more up to its last.
    from: u32,
    n: u32,
    /// The first of the latter.
    next: u64,
}

impl Pieces {
    /// Of ascending ends, for codes that lie in `range`, or for others in more time.
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

    /// How many ends lie up to a code.
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
    /// Of codes; made for the first column that is read by blocks.
    pieces: Option<Pieces>,
    /// Those with one value.
    pub(super) by_ends: Vec<u64>,
    /// All that have a value.
    pub(super) n_with: u64,
    pub(super) profile: ColumnCounts,
    /// Of a document with many values the different numbers of ends, ascending.
    of_many: Vec<usize>,
    /// Room for what matches in a block, and for its numbers.
    places: Vec<u32>,
    numbers: Vec<u32>,
}

impl PieceCounts {
    /// Of ascending ends, for codes that lie in `range`.
    pub(super) fn new(ends: Vec<u64>, range: Option<(u64, u64)>) -> Self {
        let by_ends = vec![0; ends.len() + 1];
        let profile = ColumnCounts::default();
        PieceCounts {
            ends,
            range,
            pieces: None,
            by_ends,
            n_with: 0,
            profile,
            of_many: vec![],
            places: vec![],
            numbers: vec![],
        }
    }

    /// Counts what matches in a segment. Documents with many values are given to `add_many`, by the numbers of ends up to these.
    pub(super) fn add_segment(
        &mut self,
        part: &OfSegment<'_>,
        add_many: impl FnMut(&[usize]) -> Result<()>,
    ) -> Result<()> {
        let &OfSegment { segment, column, matches, .. } = part;
        if let Some(n_deleted) = deleted::n_of(segment.segment, matches)
            && self.add_everything(part, n_deleted)?
        {
            return match n_deleted {
                0 => Ok(()),
                _ => self.take_deleted_away(part, n_deleted),
            };
        }
        self.add_by_column(&column, matches, add_many)
    }

    /// Takes away what the deleted documents of a segment have of which all were counted.
    fn take_deleted_away(&mut self, part: &OfSegment<'_>, n_deleted: u64) -> Result<()> {
        let damage = || {
            Error::corrupt("counting deleted documents by their values")
                .expected("one value each at the most, which all documents have been counted by")
                .found("others")
                .in_file(part.segment.segment.file().path())
        };
        let documents = MatchSet::Some(deleted::documents(part.segment.segment)?);
        let mut of_deleted = PieceCounts::new(self.ends.clone(), self.range);
        of_deleted.add_by_column(&part.column, &documents, |_| Err(damage()))?;
        let taken = of_deleted.by_ends.iter().chain([&of_deleted.n_with]);
        for (count, taken) in self.by_ends.iter_mut().chain([&mut self.n_with]).zip(taken) {
            *count = count.checked_sub(*taken).ok_or_else(damage)?;
        }
        self.profile += of_deleted.profile;
        self.profile.deleted_taken_away += n_deleted;
        Ok(())
    }

    /// Counts what matches by the values of a column.
    fn add_by_column(
        &mut self,
        column: &Column<Section<'_>>,
        matches: &MatchSet,
        mut add_many: impl FnMut(&[usize]) -> Result<()>,
    ) -> Result<()> {
        if let Some(plain) = column.plain() {
            return self.add_plain(&plain, matches);
        }
        let pieces = match self.pieces.take() {
            Some(pieces) => pieces,
            None => Pieces::new(self.ends.clone(), self.range),
        };
        let few = |counts: &mut &mut Self, few: &Few| {
            counts.profile.blocks += few.n_blocks;
            counts.profile.documents += few.n_docs;
            counts.n_with += few.codes().len() as u64;
            if pieces.ends.len() <= COMPARED_MAX {
                let n_from = |end: &u64| count_codes_from(few.codes(), *end);
                let n_with = few.codes().len() as u32;
                count_compared(n_with, pieces.ends.iter().map(n_from), &mut counts.by_ends);
            } else {
                for code in few.codes() {
                    // No code has more ends before it than there are.
                    counts.by_ends[pieces.n_ends(*code)] += 1;
                }
            }
            budget::work(FEW_NS * few.n_docs)
        };
        for_each_few_or_block(
            matches,
            &mut Heads::of(*column),
            &mut &mut *self,
            few,
            |counts, heads, nth, places| {
                counts.add_block(&pieces, heads, nth, places, &mut add_many)
            },
        )?;
        self.pieces = Some(pieces);
        Ok(())
    }

    /// Counts all documents by the sums of the dictionary; `false` where these are not kept, or cost more with what is deleted and
    /// will have to be taken away.
    fn add_everything(&mut self, part: &OfSegment<'_>, n_deleted: u64) -> Result<bool> {
        let n_ends = self.ends.len() as u64;
        let cost_ns = n_ends * END_NS + n_deleted * FEW_NS;
        if cost_ns > u64::from(part.column.n_docs()) || !part.field.has_codes() {
            return Ok(false);
        }
        let dictionary = part.field.terms()?;
        let Some(cumulative) = part.field.cumulative(dictionary.n_blocks())? else {
            return Ok(false);
        };
        budget::work(END_NS * n_ends)?;
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
        self.n_with += u64::from(before);
        self.profile.ends_looked_up += n_ends;
        Ok(true)
    }

    /// The same by the numbers of a plain column: ends become numbers once, and no block is set up.
    fn add_plain(&mut self, plain: &Plain<Section<'_>>, matches: &MatchSet) -> Result<()> {
        let n_matches = matches.len(plain.column().n_docs());
        if n_matches == 0 {
            return Ok(());
        }
        let first = plain.first();
        let (least, greatest) = plain.column().range().unwrap_or_default();
        let up_to = |code: u64| self.ends.partition_point(|end| *end <= code);
        if first == 0 && up_to(least) == up_to(greatest) {
            self.by_ends[up_to(least)] += n_matches;
            self.n_with += n_matches;
            return Ok(());
        }
        let firsts: Vec<u32> = self.ends.iter().map(|end| plain.first_of(*end)).collect();
        let most = plain.first_of(greatest);
        let (mut n_docs, mut n_with, by_ends) = (0, 0, &mut self.by_ends);
        if firsts.len() <= COMPARED_MAX {
            for_each_number(matches, plain, |numbers| {
                n_docs += numbers.len() as u64;
                let with = count_from(numbers, first);
                n_with += u64::from(with);
                let n_from = |first: &u32| count_from(numbers, *first);
                count_compared(with, firsts.iter().map(n_from), by_ends);
                budget::work(DOC_NS * numbers.len() as u64)
            })?;
        } else {
            budget::work(SLOTS_MAX)?;
            let ends = firsts.iter().map(|first| u64::from(*first)).collect();
            let pieces = Pieces::new(ends, Some((first.into(), most.into())));
            for_each_number(matches, plain, |numbers| {
                n_docs += numbers.len() as u64;
                for number in numbers.iter().filter(|number| **number >= first) {
                    n_with += 1;
                    // No number has more ends before it than there are.
                    by_ends[pieces.n_ends(u64::from(*number))] += 1;
                }
                budget::work(DOC_NS * numbers.len() as u64)
            })?;
        }
        self.profile.documents += n_docs;
        self.n_with += n_with;
        Ok(())
    }

    fn add_block<'s>(
        &mut self,
        pieces: &Pieces,
        heads: &mut Heads<'s, Section<'s>>,
        nth: u32,
        places: Places<'_>,
        add_many: &mut impl FnMut(&[usize]) -> Result<()>,
    ) -> Result<()> {
        let column = heads.column();
        self.profile.blocks += 1;
        let head = heads.get(nth)?;
        let n_docs = column.n_docs().saturating_sub(nth * BLOCK_DOCS).min(BLOCK_DOCS);
        if head.n_values == 0 {
            self.profile.blocks_skipped += 1;
            return budget::work(HEAD_NS);
        }
        let n_places = u64::from(places.len());
        let of_least = pieces.n_ends(head.least);
        let of_greatest = pieces.n_ends(head.greatest).max(of_least);
        if u32::from(head.n_with) == n_docs && of_least == of_greatest {
            self.n_with += n_places;
            self.by_ends[of_least] += n_places;
            self.profile.blocks_skipped += 1;
            return budget::work(HEAD_NS);
        }
        budget::work(HEAD_NS + DOC_NS * n_places)?;
        self.profile.documents += n_places;
        let block = column.block(nth, head)?;
        let (by_ends, mut n_with) = (&mut self.by_ends[..], 0);
        // No code has more ends before it than there are.
        let mut add_one = |code| by_ends[pieces.n_ends(code)] += 1;
        if let Some(numbers) = block.one_each() {
            let inside = pieces.ends.get(of_least..of_greatest).unwrap_or_default();
            if numbers.are_plain() && inside.len() <= COMPARED_MAX {
                let mut firsts = [0; COMPARED_MAX];
                let of_ends = inside.iter().map(|end| numbers.first_number_of(*end));
                firsts.iter_mut().zip(of_ends).for_each(|(first, of_end)| *first = of_end);
                self.n_with += n_places;
                // Fetching from places waits for each, and by then most are here.
                numbers.prefetch();
                places.write_to(&mut self.places);
                self.numbers.resize(self.places.len(), 0);
                numbers.numbers(&self.places, &mut self.numbers);
                let n_from = |first: &u32| count_from(&self.numbers, *first);
                let n_from = firsts[..inside.len()].iter().map(n_from);
                count_compared(self.numbers.len() as u32, n_from, &mut by_ends[of_least..]);
                return Ok(());
            }
            places.for_each(|place| {
                if let Some(code) = numbers.code(place) {
                    n_with += 1;
                    add_one(code);
                }
            });
            self.n_with += n_with;
            return Ok(());
        }
        let (of_many, mut done) = (&mut self.of_many, Ok(()));
        places.for_each(|place| {
            let mut codes = block.codes(place);
            let Some(first) = codes.next().filter(|_| done.is_ok()) else { return };
            n_with += 1;
            let Some(second) = codes.next() else { return add_one(first) };
            of_many.clear();
            of_many.push(pieces.n_ends(first));
            let mut n_codes = 1;
            for code in [second].into_iter().chain(codes) {
                n_codes += 1;
                let n_ends = pieces.n_ends(code);
                if of_many.last() != Some(&n_ends) {
                    of_many.push(n_ends);
                }
            }
            done = budget::work(CODE_NS * n_codes).and_then(|()| add_many(of_many));
        });
        self.n_with += n_with;
        done
    }
}

/// Counts what matches in some segments by the number of `ends` up to a value: a document with many values once for each number
/// that one of them has.
pub(super) fn count_by_ends(
    columns: &[OfSegment<'_>],
    ends: Vec<u64>,
    range: Option<(u64, u64)>,
) -> Result<PieceCounts> {
    let mut of_many = vec![0; ends.len() + 1];
    let mut counts = PieceCounts::new(ends, range);
    for part in columns {
        counts.add_segment(part, |n_ends| {
            n_ends.iter().for_each(|n_ends| of_many[*n_ends] += 1);
            Ok(())
        })?;
    }
    counts.by_ends.iter_mut().zip(of_many).for_each(|(count, many)| *count += many);
    Ok(counts)
}

/// Counts documents, of which `n_with` have a value, by how many ends, ascending, are not above it, given for each end how many
/// documents it is not above for. Without a branch that depends on a value: all are compared with one end after the other.
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
