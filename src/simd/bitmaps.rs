//! Sets of 65,536 bits as 1024 little-endian words: combined, counted, or both in one pass.
//!
//! One body serves all instruction sets; compiled with AVX2 or AVX-512 it becomes vector code by
//! itself, because lengths are fixed and nothing aliases. Probing single bits of a bitmap stays
//! scalar on purpose: compiled for AVX2 it turns into gathers, which are slower.

use std::ops::Range;

/// The words of a bitmap container, where they lie.
pub(crate) type Words = [[u8; 8]; 1024];

/// Operation on two words.
pub(crate) trait WordOp {
    fn apply(a: u64, b: u64) -> u64;
}

/// Values in both sets.
pub(crate) struct And;
/// Values in either set.
pub(crate) struct Or;
/// Values in the first set and not in the second.
pub(crate) struct AndNot;
/// Values in one of the sets and not in the other.
pub(crate) struct Xor;

macro_rules! word_op {
    ($op:ident, $a:ident, $b:ident => $result:expr) => {
        impl WordOp for $op {
            #[inline(always)]
            fn apply($a: u64, $b: u64) -> u64 {
                $result
            }
        }
    };
}
word_op!(And, a, b => a & b);
word_op!(Or, a, b => a | b);
word_op!(AndNot, a, b => a & !b);
word_op!(Xor, a, b => a ^ b);

kernel! {
    /// Counts the bits of the combination.
    combine_count<O: WordOp>(a: &Words, b: &Words) -> u32 {
        let mut n = 0;
        for (&a, &b) in a.iter().zip(b) {
            n += u64::from(O::apply(u64::from_le_bytes(a), u64::from_le_bytes(b)).count_ones());
        }
        n as u32
    }
}

kernel! {
    /// Counts the bits of the combination that a third set has not.
    combine_count_without<O: WordOp>(a: &Words, b: &Words, without: &Words) -> u32 {
        let mut n = 0;
        for ((&a, &b), &without) in a.iter().zip(b).zip(without) {
            let word = O::apply(u64::from_le_bytes(a), u64::from_le_bytes(b));
            n += u64::from((word & !u64::from_le_bytes(without)).count_ones());
        }
        n as u32
    }
}

kernel! {
    /// Writes the combination to `out` and returns how many bits it has.
    combine<O: WordOp>(a: &Words, b: &Words, out: &mut Words) -> u32 {
        let mut n = 0;
        for ((&a, &b), out) in a.iter().zip(b).zip(out) {
            let word = O::apply(u64::from_le_bytes(a), u64::from_le_bytes(b));
            *out = word.to_le_bytes();
            n += u64::from(word.count_ones());
        }
        n as u32
    }
}

kernel! {
    /// Replaces `a` by the combination and returns how many bits it has.
    combine_in_place<O: WordOp>(a: &mut Words, b: &Words) -> u32 {
        let mut n = 0;
        for (a, &b) in a.iter_mut().zip(b) {
            let word = O::apply(u64::from_le_bytes(*a), u64::from_le_bytes(b));
            *a = word.to_le_bytes();
            n += u64::from(word.count_ones());
        }
        n as u32
    }
}

/// Counts the bits that are set.
pub(crate) fn count(a: &Words) -> u32 {
    combine_count::<And>(a, a)
}

/// Counts the bits that are set inside `ranges`, which lie in 0..65,536.
pub(crate) fn count_in(words: &Words, ranges: impl Iterator<Item = Range<u32>>) -> u32 {
    return_by_vectors!(avx512 count_in_avx512, avx2 count_in_avx2 => (words, ranges));
    count_in_portable(words, ranges)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512vpopcntdq,popcnt")]
fn count_in_avx512(words: &Words, ranges: impl Iterator<Item = Range<u32>>) -> u32 {
    count_in_portable(words, ranges)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn count_in_avx2(words: &Words, ranges: impl Iterator<Item = Range<u32>>) -> u32 {
    count_in_portable(words, ranges)
}

#[inline(always)]
fn count_in_portable(words: &Words, ranges: impl Iterator<Item = Range<u32>>) -> u32 {
    let mut n = 0;
    for range in ranges.filter(|range| !range.is_empty()) {
        let (first, last) = (range.start / 64, (range.end - 1) / 64);
        let at_end = |at: u32| match words.get(at as usize) {
            Some(word) => u64::from_le_bytes(*word) & mask(&range, at),
            None => 0,
        };
        n += u64::from(at_end(first).count_ones());
        if first < last {
            n += u64::from(at_end(last).count_ones());
            // Whole words without a mask, which is what becomes vector code.
            let between = words.get(first as usize + 1..last as usize).unwrap_or_default();
            let ones = between.iter().map(|word| u64::from_le_bytes(*word).count_ones());
            n += ones.map(u64::from).sum::<u64>();
        }
    }
    n as u32
}

/// The bits of word `at` that lie in a range, which must touch that word.
#[inline(always)]
pub(crate) fn mask(range: &Range<u32>, at: u32) -> u64 {
    let before = range.start.saturating_sub(at * 64).min(63);
    let behind = ((at + 1) * 64).saturating_sub(range.end).min(63);
    u64::MAX << before & u64::MAX >> behind
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::each_step;
    use crate::test_sizes::{each_unless_miri, unless_miri};

    fn random_words(mut seed: u64) -> Words {
        std::array::from_fn(|_| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed.to_le_bytes()
        })
    }

    fn naive(a: &Words, b: &Words, op: fn(u8, u8) -> u8) -> (Words, u32) {
        let words: Words = std::array::from_fn(|i| std::array::from_fn(|j| op(a[i][j], b[i][j])));
        (words, words.as_flattened().iter().map(|byte| byte.count_ones()).sum())
    }

    fn check<O: WordOp>(op: fn(u8, u8) -> u8) {
        let (zero, one) = ([[0; 8]; 1024], [[0xFF; 8]; 1024]);
        let sets = [random_words(1), random_words(2), zero, one];
        let pairs = sets.iter().flat_map(|a| sets.iter().map(move |b| (a, b)));
        for (a, b) in each_unless_miri(pairs.skip(unless_miri(0, 1)), 16) {
            let (expected, n) = naive(a, b, op);
            for () in each_step() {
                assert_eq!(combine_count::<O>(a, b), n);
                let mut out = random_words(3);
                assert_eq!(combine::<O>(a, b, &mut out), n);
                assert_eq!(out, expected);
                let mut out = *a;
                assert_eq!(combine_in_place::<O>(&mut out, b), n);
                assert_eq!(out, expected);
                for without in each_unless_miri(&sets, 3) {
                    let left = naive(&expected, without, |a, b| a & !b).1;
                    assert_eq!(combine_count_without::<O>(a, b, without), left);
                }
            }
        }
    }

    #[test]
    fn words_combine_like_single_bytes() {
        check::<And>(|a, b| a & b);
        check::<Or>(|a, b| a | b);
        check::<AndNot>(|a, b| a & !b);
        check::<Xor>(|a, b| a ^ b);
        assert_eq!(count(&[[0xFF; 8]; 1024]), 65_536);
    }

    #[test]
    fn bits_in_ranges_count_like_single_bits() {
        let words = random_words(7);
        let bit = |v: &u32| words[*v as usize / 64][*v as usize % 64 / 8] >> (v % 8) & 1 == 1;
        for ranges in [
            &[0..1, 5..64, 64..65],
            &[63..129, 200..5000, 65_535..65_536],
            &[0..0, 7..7, 0..unless_miri(65_536, 700)],
        ] {
            let expected = ranges.iter().cloned().flatten().filter(bit).count() as u32;
            for () in each_step() {
                assert_eq!(count_in(&words, ranges.iter().cloned()), expected, "{ranges:?}");
            }
        }
    }
}
