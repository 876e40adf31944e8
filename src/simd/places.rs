//! Places in a sorted list of 16-bit numbers. They are that of one number, and those of the 64 of a block that are
//! there.
//!
//! Only a few dozen numbers are looked at, between two entries of a directory. They are compared 32 at once, because how
//! many there are cannot be foreseen; AVX2 reads neighbours in the list with them, which are left out of account.

#[cfg(target_arch = "x86_64")]
use super::avx512;
use std::ops::Range;

/// A little-endian 16-bit number where it lies.
pub(super) type Le16 = [u8; 2];

/// Numbers that are compared at once.
#[cfg(target_arch = "x86_64")]
const STEP: usize = 32;

/// Numbers compared one after the other, which takes no longer than halving that far.
const COMPARED_MAX: usize = 64;

/// Numbers compared one vector after the other, where a vector is loaded in part.
#[cfg(target_arch = "x86_64")]
const LOADED_MAX: usize = 2 * COMPARED_MAX;

/// Whether the numbers in a range are few enough to be compared, and the list has enough of them to be loaded at once.
#[cfg(target_arch = "x86_64")]
#[inline]
fn are_compared_at_once(list: &[Le16], range: &Range<usize>) -> bool {
    range.len() <= COMPARED_MAX && list.len() >= STEP && range.end <= list.len()
}

/// Counts the ascending numbers in a range of `list` that are below `low`.
#[inline]
pub(crate) fn n_below(list: &[Le16], range: Range<usize>, low: u16) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(numbers) = list.get(range.clone()).filter(|numbers| numbers.len() <= LOADED_MAX) {
        return_by_vectors!(avx512 avx512::places::n_below => (numbers, low));
    }
    #[cfg(target_arch = "x86_64")]
    if are_compared_at_once(list, &range) {
        return_by_vectors!(avx2 avx2::n_below => (list, range, low));
    }
    n_below_portable(list, range, low)
}

fn n_below_portable(list: &[Le16], range: Range<usize>, low: u16) -> usize {
    let numbers = list.get(range).unwrap_or_default();
    let is_below = |number: &Le16| u16::from_le_bytes(*number) < low;
    match numbers.len() {
        0..=COMPARED_MAX => numbers.iter().filter(|number| is_below(number)).count(),
        _ => numbers.partition_point(is_below),
    }
}

/// The numbers of block `nth` of 64 in a range of `list`, as bits, and how many of the range are below them.
#[inline]
pub(crate) fn block(list: &[Le16], range: Range<usize>, nth: u16) -> (u64, usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(numbers) = list.get(range.clone()).filter(|numbers| numbers.len() <= LOADED_MAX) {
        return_by_vectors!(avx512 avx512::places::block => (numbers, nth));
    }
    #[cfg(target_arch = "x86_64")]
    if are_compared_at_once(list, &range) {
        return_by_vectors!(avx2 avx2::block => (list, range, nth));
    }
    block_portable(list, range, nth)
}

/// Word `nth` of a bitmap, how many bits are set in the words from `first` on before it, and how many in it.
#[inline]
pub(crate) fn block_of_bits(words: &[[u8; 8]], first: usize, nth: usize) -> (u64, u32, u32) {
    #[cfg(target_arch = "x86_64")]
    if super::has_avx2() {
        #[expect(unsafe_code, reason = "calls a function that needs POPCNT")]
        // SAFETY: `has_bit_features` found every feature that the function enables.
        return unsafe { block_of_bits_counted(words, first, nth) };
    }
    block_of_bits_portable(words, first, nth)
}

#[inline(always)]
fn block_of_bits_portable(words: &[[u8; 8]], first: usize, nth: usize) -> (u64, u32, u32) {
    let word = words.get(nth).map_or(0, |word| u64::from_le_bytes(*word));
    (word, n_before(words, first, nth), word.count_ones())
}

/// Counts the bits that are set in the words from `first` on before word `nth`. Mostly it is one word or none, which a product tells apart
/// without asking.
#[inline(always)]
fn n_before(words: &[[u8; 8]], first: usize, nth: usize) -> u32 {
    let n_ones = |word: &[u8; 8]| u64::from_le_bytes(*word).count_ones();
    match (words.get(first), nth.wrapping_sub(first)) {
        (Some(word), n_words @ 0..=1) => n_ones(word) * n_words as u32,
        _ => words.get(first..nth).unwrap_or_default().iter().map(n_ones).sum(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn block_of_bits_counted(words: &[[u8; 8]], first: usize, nth: usize) -> (u64, u32, u32) {
    block_of_bits_portable(words, first, nth)
}

/// Number of bits set in a bitmap before bit `at`, from the word `first` on, if that is set.
#[inline]
pub(crate) fn rank_of_bit(words: &[[u8; 8]], first: usize, at: u16) -> Option<u32> {
    #[cfg(target_arch = "x86_64")]
    if super::has_avx2() {
        #[expect(unsafe_code, reason = "calls a function that needs POPCNT")]
        // SAFETY: `has_bit_features` found every feature that the function enables.
        return unsafe { rank_of_bit_counted(words, first, at) };
    }
    rank_of_bit_portable(words, first, at)
}

#[inline(always)]
fn rank_of_bit_portable(words: &[[u8; 8]], first: usize, at: u16) -> Option<u32> {
    let (nth, bit) = (usize::from(at >> 6), 1u64 << (at & 63));
    let word = u64::from_le_bytes(*words.get(nth)?);
    if word & bit == 0 {
        return None;
    }
    words.get(first..nth)?;
    Some(n_before(words, first, nth) + (word & (bit - 1)).count_ones())
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn rank_of_bit_counted(words: &[[u8; 8]], first: usize, at: u16) -> Option<u32> {
    rank_of_bit_portable(words, first, at)
}

fn block_portable(list: &[Le16], range: Range<usize>, nth: u16) -> (u64, usize) {
    let before = n_below_portable(list, range.clone(), nth << 6);
    let numbers = list.get(range).unwrap_or_default().get(before..).unwrap_or_default();
    let of_block = numbers.iter().map(|number| u16::from_le_bytes(*number));
    let of_block = of_block.take_while(|number| number >> 6 == nth);
    (of_block.fold(0, |word, number| word | 1 << (number & 63)), before)
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Le16, STEP};
    use std::arch::x86_64::*;
    use std::ops::Range;

    /// 32 numbers of a list with as many at least, those from `at` on among them; how many of them come before `at`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(list: &[Le16], at: usize) -> ([__m256i; 2], usize) {
        let from = at.min(list.len().saturating_sub(STEP));
        let Some(numbers) = list.get(from..).and_then(<[Le16]>::first_chunk::<STEP>) else {
            return ([_mm256_setzero_si256(); 2], 0);
        };
        let address = numbers.as_ptr().cast::<__m256i>();
        #[expect(unsafe_code, reason = "loads through a reference")]
        // SAFETY: the reference is to 64 bytes, of which each load reads a half.
        let halves = unsafe { [_mm256_loadu_si256(address), _mm256_loadu_si256(address.add(1))] };
        (halves, at - from)
    }

    /// A bit for each of 32 comparisons.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn bits(a: __m256i, b: __m256i) -> u32 {
        let bytes = _mm256_permute4x64_epi64::<0b1101_1000>(_mm256_packs_epi16(a, b));
        _mm256_movemask_epi8(bytes).cast_unsigned()
    }

    /// Works like [`super::n_below`].
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn n_below(list: &[Le16], range: Range<usize>, low: u16) -> usize {
        let low = _mm256_set1_epi16(low.cast_signed());
        let (mut at, end) = (range.start, range.end);
        while at < end {
            let (numbers, skipped) = load(list, at);
            let n = first_from(numbers, skipped, low, end - at);
            at += n;
            if n < STEP {
                break;
            }
        }
        at - range.start
    }

    /// The place of the first of 32 ascending numbers that is not below `low`, or of the first `n` of them; `n` or 32 where
    /// all are. Some are skipped before.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn first_from([a, b]: [__m256i; 2], skipped: usize, low: __m256i, n: usize) -> usize {
        let a = _mm256_cmpeq_epi16(_mm256_max_epu16(a, low), a);
        let b = _mm256_cmpeq_epi16(_mm256_max_epu16(b, low), b);
        let below = _bzhi_u32(!bits(a, b) >> skipped, n.min(STEP) as u32);
        below.trailing_ones() as usize
    }

    /// Works like [`super::block`].
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn block(list: &[Le16], range: Range<usize>, nth: u16) -> (u64, usize) {
        let low = _mm256_set1_epi16((nth << 6).cast_signed());
        let (mut at, end) = (range.start, range.end);
        while at < end {
            let (numbers, skipped) = load(list, at);
            let first = first_from(numbers, skipped, low, end - at);
            at += first;
            if first < STEP {
                return (word_from(list, at..end, nth, numbers, skipped + first), at - range.start);
            }
        }
        (0, at - range.start)
    }

    /// The numbers of block `nth` that a range of `list` begins with, as bits. The first number of the range is the one at place
    /// `first` of those loaded.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn word_from(
        list: &[Le16],
        range: Range<usize>,
        nth: u16,
        mut numbers: [__m256i; 2],
        mut first: usize,
    ) -> u64 {
        let nth = _mm256_set1_epi16(nth.cast_signed());
        let (mut at, end) = (range.start, range.end);
        let mut word = 0;
        while at < end {
            let a = _mm256_cmpeq_epi16(_mm256_srli_epi16::<6>(numbers[0]), nth);
            let b = _mm256_cmpeq_epi16(_mm256_srli_epi16::<6>(numbers[1]), nth);
            let n_loaded = (end - at).min(STEP - first);
            let same = _bzhi_u32(bits(a, b) >> first, n_loaded as u32);
            let n = same.trailing_ones() as usize;
            word |= word_of(list.get(at..at + n).unwrap_or_default());
            at += n;
            if n < n_loaded {
                break;
            }
            (numbers, first) = load(list, at);
        }
        word
    }

    /// A bit for each number, by its lower 6 bits: four at once.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn word_of(numbers: &[Le16]) -> u64 {
        let one = _mm256_set1_epi64x(1);
        let mut word = _mm256_setzero_si256();
        let (fours, rest) = numbers.as_chunks::<4>();
        for four in fours {
            let [[a, b], [c, d], [e, f], [g, h]] = *four;
            let four = i64::from_le_bytes([a, b, c, d, e, f, g, h]);
            let four = _mm256_cvtepu16_epi64(_mm_cvtsi64_si128(four));
            let shift = _mm256_and_si256(four, _mm256_set1_epi64x(63));
            word = _mm256_or_si256(word, _mm256_sllv_epi64(one, shift));
        }
        let two = _mm_or_si128(_mm256_castsi256_si128(word), _mm256_extracti128_si256::<1>(word));
        let mut word = (_mm_cvtsi128_si64(two) | _mm_extract_epi64::<1>(two)).cast_unsigned();
        for number in rest {
            word |= 1 << (u16::from_le_bytes(*number) & 63);
        }
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::each_step;
    use crate::test_sizes::unless_miri;
    use proptest::prelude::*;

    fn config() -> ProptestConfig {
        let config = ProptestConfig::default();
        ProptestConfig { cases: unless_miri(config.cases, 4), ..config }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn places_are_those_of_a_search_one_by_one(
            numbers in prop::collection::btree_set(any::<u16>(), 0..150),
            dense in prop::collection::btree_set(30_000u16..30_300, 0..150),
            (start, len) in (0usize..320, 0usize..200),
            probe in prop_oneof![any::<u16>(), 29_900u16..30_400],
        ) {
            let all: Vec<u16> = numbers.union(&dense).copied().collect();
            let list: Vec<Le16> = all.iter().map(|number| number.to_le_bytes()).collect();
            let start = start.min(list.len());
            let range = start..(start + len).min(list.len());
            let part = &all[range.clone()];
            let before = part.partition_point(|number| *number < probe);
            for () in each_step() {
                prop_assert_eq!(n_below(&list, range.clone(), probe), before);
            }
            let nth = probe >> 6;
            let word = part.iter().filter(|number| **number >> 6 == nth);
            let word = word.fold(0u64, |word, number| word | 1 << (number & 63));
            let before = part.partition_point(|number| number >> 6 < nth);
            for () in each_step() {
                prop_assert_eq!(block(&list, range.clone(), nth), (word, before));
            }
        }
    }

    proptest! {
        #[test]
        fn bits_of_a_bitmap_are_counted(
            words in prop::collection::vec(any::<u64>(), 0..20),
            (first, nth) in (0usize..20, 0usize..24),
            bit in 0u16..64,
        ) {
            let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
            let bits = |range: Range<usize>| {
                let words = words.get(range).unwrap_or_default().iter();
                words.map(|word| word.count_ones()).sum::<u32>()
            };
            let word = words.get(nth).copied().unwrap_or_default();
            let expected = (word, bits(first..nth), word.count_ones());
            for () in each_step() {
                prop_assert_eq!(block_of_bits(&bytes, first, nth), expected);
            }
            let is_set = word >> bit & 1 == 1 && first <= nth;
            let before = (0..bit).filter(|bit| word >> bit & 1 == 1).count() as u32;
            let rank = is_set.then_some(bits(first..nth) + before);
            for () in each_step() {
                prop_assert_eq!(rank_of_bit(&bytes, first, (nth as u16) << 6 | bit), rank);
            }
        }
    }

    #[test]
    fn a_full_block_goes_on_behind_what_is_compared_at_once() {
        let list: Vec<Le16> = (640..704u16).map(u16::to_le_bytes).collect();
        for () in each_step() {
            assert_eq!(block(&list, 0..64, 10), (u64::MAX, 0));
            assert_eq!(block(&list, 7..60, 10), ((1 << 60) - (1 << 7), 0));
            assert_eq!(block(&list, 0..64, 11), (0, 64));
            assert_eq!(block(&list, 0..99, 9), (0, 0));
        }
    }
}
