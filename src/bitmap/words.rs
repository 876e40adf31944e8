//! A bitmap container's words: single bits, ranges of bits, and walking them.

use super::container::{Container, ContainerKind};
use super::runs::Runs;
use crate::simd::bitmaps::{self, WordOp, Words};
use std::ops::Range;

/// Number of values that a container can hold.
pub(super) const FULL: u32 = super::WINDOW;

/// The set without a value.
pub(super) const EMPTY: Words = [[0; 8]; 1024];

/// The word that has the bit of a value.
#[expect(clippy::indexing_slicing, reason = "16 bits less six are below 1,024")]
#[inline(always)]
fn word_of(words: &Words, value: u16) -> u64 {
    u64::from_le_bytes(words[usize::from(value >> 6)])
}

/// Finds the word of a value, to change it.
#[expect(clippy::indexing_slicing, reason = "16 bits less six are below 1,024")]
#[inline(always)]
fn word_of_mut(words: &mut Words, value: u16) -> &mut [u8; 8] {
    &mut words[usize::from(value >> 6)]
}

#[inline]
pub(super) fn contains(words: &Words, value: u16) -> bool {
    word_of(words, value) >> (value & 63) & 1 == 1
}

#[inline]
pub(super) fn insert(words: &mut Words, value: u16) {
    let word = word_of_mut(words, value);
    *word = (u64::from_le_bytes(*word) | 1 << (value & 63)).to_le_bytes();
}

/// Counts those of `values` that are in the set; scalar, see [`crate::simd::bitmaps`].
#[inline(never)]
pub(super) fn count_values(words: &Words, values: &[[u8; 2]]) -> u32 {
    let mut n = 0;
    for &value in values {
        let value = u16::from_le_bytes(value);
        n += word_of(words, value) >> (value & 63) & 1;
    }
    n as u32
}

/// Counts those of `values` that are in the set and not in the other.
#[inline(never)]
pub(super) fn count_values_without(of: &Words, values: &[[u8; 2]], without: &Words) -> u32 {
    count_bits(of, values, without, |of, without| of & !without)
}

/// Counts those of `values` that are in neither set.
#[inline(never)]
pub(super) fn count_values_in_neither(a: &Words, values: &[[u8; 2]], b: &Words) -> u32 {
    count_bits(a, values, b, |a, b| !(a | b))
}

#[inline(always)]
fn count_bits(a: &Words, values: &[[u8; 2]], b: &Words, of: impl Fn(u64, u64) -> u64) -> u32 {
    let mut n = 0;
    for &value in values {
        let value = u16::from_le_bytes(value);
        n += of(word_of(a, value), word_of(b, value)) >> (value & 63) & 1;
    }
    n as u32
}

/// The words that a range of values touches, each with the bits of the range. Values beyond
/// 65,535 have none.
pub(super) fn masks(range: Range<u32>) -> impl Iterator<Item = (usize, u64)> {
    let (start, end) = (range.start, range.end.min(FULL));
    let touched = start / 64..end.div_ceil(64);
    touched.map(move |at| (at as usize, bitmaps::mask(&(start..end), at)))
}

/// Values of an array from which on it takes less to count all bits again than each as it changes.
const COUNTED_ANEW_MIN: usize = 64;

/// Applies the values of an array or of runs to the words they touch, and returns the new
/// cardinality, `card` having been the old one. Only for operations that leave a word as it is
/// where the other set is empty, which excludes AND.
pub(super) fn apply<O: WordOp>(words: &mut Words, card: u32, other: Container<'_>) -> u32 {
    debug_assert!(O::apply(5, 0) == 5 || other.kind() == ContainerKind::Bitmap, "AND of a part");
    match other {
        Container::Array(values) if values.len() < COUNTED_ANEW_MIN => {
            let mut card = card;
            for &value in values {
                let value = u16::from_le_bytes(value);
                let word = word_of_mut(words, value);
                let old = u64::from_le_bytes(*word);
                let new = O::apply(old, 1 << (value & 63));
                *word = new.to_le_bytes();
                // One bit at most has changed, and no instruction for counting is needed.
                let (was, is) = (old >> (value & 63) & 1, new >> (value & 63) & 1);
                card = card.wrapping_add(is as u32).wrapping_sub(was as u32);
            }
            card
        }
        Container::Array(values) => {
            // By bytes: of values that ascend, the next is often in the same word, which would wait for this one.
            let bytes = words.as_flattened_mut();
            for &value in values {
                let value = u16::from_le_bytes(value);
                if let Some(byte) = bytes.get_mut(usize::from(value >> 3)) {
                    *byte = O::apply(u64::from(*byte), 1 << (value & 7)) as u8;
                }
            }
            bitmaps::count(words)
        }
        Container::Run(runs) => {
            Runs::new(runs).for_each(|run| apply_run::<O>(words, &run));
            bitmaps::count(words)
        }
        Container::Bitmap(other) => bitmaps::combine_in_place::<O>(words, other),
    }
}

/// Applies a run, which is not empty, to the words that it touches: to those that lie in it without a mask, many at a time.
fn apply_run<O: WordOp>(words: &mut Words, run: &Range<u32>) {
    let apply = |word: &mut [u8; 8], mask: u64| {
        *word = O::apply(u64::from_le_bytes(*word), mask).to_le_bytes();
    };
    let (first, last) = (run.start / 64, (run.end - 1) / 64);
    let Some((word, rest)) =
        words.get_mut(first as usize..=last as usize).and_then(<[_]>::split_first_mut)
    else {
        return;
    };
    apply(word, bitmaps::mask(run, first));
    if let Some((word, between)) = rest.split_last_mut() {
        apply(word, bitmaps::mask(run, last));
        between.iter_mut().for_each(|word| apply(word, u64::MAX));
    }
}

/// Number of runs of consecutive values of the set.
pub(super) fn n_runs(words: &Words) -> u32 {
    let mut n = 0;
    let mut carry = 0;
    for &word in words {
        let word = u64::from_le_bytes(word);
        // A run starts at each bit whose lower neighbour is clear.
        n += (word & !(word << 1 | carry)).count_ones();
        carry = word >> 63;
    }
    n
}

/// The values of a set, ascending.
#[derive(Clone, Debug)]
pub(super) struct Bits<'a> {
    words: &'a Words,
    at: usize,
    word: u64,
}

impl<'a> Bits<'a> {
    /// Starts at the first value that is at least `from`.
    pub(super) fn new(words: &'a Words, from: u16) -> Self {
        let word = word_of(words, from) & u64::MAX << (from & 63);
        Bits { words, at: usize::from(from >> 6), word }
    }

    pub(super) fn size_hint(&self) -> (usize, Option<usize>) {
        let now = self.word.count_ones() as usize;
        (now, Some(now + (self.words.len() - 1 - self.at) * 64))
    }
}

impl Iterator for Bits<'_> {
    type Item = u16;

    #[inline]
    fn next(&mut self) -> Option<u16> {
        while self.word == 0 {
            self.word = u64::from_le_bytes(*self.words.get(self.at + 1)?);
            self.at += 1;
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some((self.at * 64) as u16 + bit as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sizes::unless_miri;

    #[test]
    fn masks_cover_exactly_the_range() {
        let ranges = [
            (0, 0),
            (0, 1),
            (0, 64),
            (63, 65),
            (64, 64),
            (64, 128),
            (5, 9),
            (100, 300),
            (65_535, 65_536),
            (0, 65_536),
        ];
        let n = unless_miri(ranges.len(), ranges.len() - 1);
        for (start, end) in ranges.into_iter().take(n) {
            let values: Vec<u32> = masks(start..end)
                .flat_map(|(at, mask)| {
                    (0..64)
                        .filter(move |bit| mask >> bit & 1 == 1)
                        .map(move |bit| at as u32 * 64 + bit)
                })
                .collect();
            assert_eq!(values, (start..end).collect::<Vec<_>>(), "{start}..{end}");
        }
    }

    #[test]
    fn runs_change_exactly_the_bits_that_they_have() {
        use crate::simd::bitmaps::{Or, Xor};
        for (start, end) in [(0, 1), (63, 65), (64, 128), (5, 900), (65_535, 65_536), (0, 65_536)] {
            let run = super::super::runs::run_bytes(start..end);
            let mut words = EMPTY;
            assert_eq!(apply::<Or>(&mut words, 0, Container::Run(&[run])), end - start);
            assert!(Bits::new(&words, 0).map(u32::from).eq(start..end), "{start}..{end}");
            assert_eq!(apply::<Xor>(&mut words, end - start, Container::Run(&[run])), 0);
        }
    }

    #[test]
    fn runs_are_counted_across_word_borders() {
        let mut words = EMPTY;
        let runs = [[0_u16, 0], [63, 1], [128, 63], [200, 1000], [65_535, 0]];
        let bytes: Vec<[u8; 4]> = runs
            .iter()
            .map(|[s, l]| [s.to_le_bytes(), l.to_le_bytes()].concat().try_into().unwrap())
            .collect();
        let card = apply::<crate::simd::bitmaps::Or>(&mut words, 0, Container::Run(&bytes));
        assert_eq!(card, 1 + 2 + 64 + 1001 + 1);
        assert_eq!(n_runs(&words), 5);
        assert_eq!(n_runs(&[[0xFF; 8]; 1024]), 1);
    }
}
