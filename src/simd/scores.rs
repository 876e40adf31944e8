//! Scores of the documents of a block, list after list.
//!
//! Scores are added by one body for all instruction sets, as in [`sums`](super::sums); sixteen at once take longer than eight
//! where a block has few documents, as nearly all have. Divisions and sums are those of single documents, so that scores are the
//! same to the last bit.

#[cfg(target_arch = "x86_64")]
use super::avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use super::neon;
use super::packed::bits_at;
use super::widths::Widths;

/// Documents of a block.
pub(crate) const BLOCK: usize = 64;

/// Numbers of 64 postings at the most, packed: the bytes that they begin with, and their widths.
pub(crate) type Packed<'a> = (&'a [u8], Widths);

/// Replaces the first of `frequencies` by those of the documents in `wanted`, one for each, 0 where the list does not have it. The list
/// has the documents in `listed`, of which the first is number `nth` of the first group, at most 63.
#[inline]
pub(crate) fn gather(
    listed: u64,
    wanted: u64,
    nth: u32,
    groups: [Packed<'_>; 2],
    frequencies: &mut [f32; BLOCK],
) {
    if groups.iter().all(|(_, widths)| widths.fit_bytes()) {
        return_by_vectors!(
            avx512 avx512::scores::gather,
            avx2 gather_bytes
            => (listed, wanted, nth, groups, frequencies)
        );
    }
    gather_portable(listed, wanted, nth, groups, frequencies);
}

fn gather_portable(
    listed: u64,
    wanted: u64,
    nth: u32,
    groups: [Packed<'_>; 2],
    frequencies: &mut [f32; BLOCK],
) {
    let mut left = wanted;
    for frequency in frequencies.iter_mut().take(wanted.count_ones() as usize) {
        let bit = left & left.wrapping_neg();
        left ^= bit;
        let at = nth + (listed & bit.wrapping_sub(1)).count_ones();
        let (packed, widths) = groups[(at / BLOCK as u32) as usize & 1];
        *frequency = match listed & bit {
            0 => 0.0,
            _ => {
                let (bit, width) = widths.place(at % BLOCK as u32);
                let less_one = bits_at(packed, bit as usize, width);
                less_one.saturating_add(1) as f32
            }
        };
    }
}

/// One in each of eight bytes.
#[cfg(target_arch = "x86_64")]
const ONES: u64 = 0x0101_0101_0101_0101;

/// Works like [`gather`] for numbers of at most 8 bits: they are spread over bytes, eight at once, those that are wanted moved together
/// and then to where the documents are that have one.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn gather_bytes(
    listed: u64,
    wanted: u64,
    nth: u32,
    groups: [Packed<'_>; 2],
    frequencies: &mut [f32; BLOCK],
) {
    use std::arch::x86_64::{_pdep_u64, _pext_u64};
    let common = listed & wanted;
    // Postings that are wanted, by their numbers in both groups.
    let postings = u128::from(_pext_u64(common, listed)) << (nth as usize % BLOCK);
    let (mut bytes, mut n) = ([0; BLOCK + 8], 0);
    for ((packed, widths), postings) in groups.into_iter().zip([postings, postings >> BLOCK]) {
        let mut left = postings as u64;
        let mut at = left.trailing_zeros() / 8 % 8;
        left >>= 8 * at;
        while left != 0 {
            let (bit, width) = widths.place(8 * at);
            let numbers = spread(packed, (bit / 8) as usize, width);
            put(&mut bytes, n, _pext_u64(numbers, bytes_of(left as u8)));
            n += (left as u8).count_ones() as usize;
            (left, at) = (left >> 8, at + 1);
        }
    }
    let documents = _pext_u64(common, wanted);
    if common != wanted {
        let (mut spaced, mut from) = ([0; BLOCK + 8], 0);
        for (nth, some) in documents.to_le_bytes().into_iter().enumerate() {
            let some_numbers = super::packed::word_at(&bytes, from);
            put(&mut spaced, 8 * nth, _pdep_u64(some_numbers, bytes_of(some)));
            from += some.count_ones() as usize;
        }
        bytes = spaced;
    }
    let n_chunks = wanted.count_ones().div_ceil(8) as usize;
    let chunks = frequencies.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks::<8>().0);
    for (frequencies, bytes) in chunks.take(n_chunks) {
        for (frequency, byte) in frequencies.iter_mut().zip(bytes) {
            *frequency = f32::from(u16::from(*byte) + 1);
        }
    }
    if common != wanted {
        let chunks = frequencies.as_chunks_mut::<8>().0.iter_mut().zip(documents.to_le_bytes());
        for (frequencies, some) in chunks.take(n_chunks) {
            for (nth, frequency) in frequencies.iter_mut().enumerate() {
                *frequency = if some & 1 << nth != 0 { *frequency } else { 0.0 };
            }
        }
    }
}

/// All bits of those of eight bytes of which a bit is set.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn bytes_of(bits: u8) -> u64 {
    std::arch::x86_64::_pdep_u64(bits.into(), ONES) * 0xFF
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn put(bytes: &mut [u8; BLOCK + 8], at: usize, word: u64) {
    if let Some(to) = bytes.get_mut(at..at + 8) {
        to.copy_from_slice(&word.to_le_bytes());
    }
}

/// Eight numbers of `width` bits, at most 8, as bytes; `at` is the byte that they begin with.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn spread(packed: &[u8], at: usize, width: u32) -> u64 {
    use std::arch::x86_64::{_bzhi_u64, _pdep_u64};
    let of_each = _bzhi_u64(u64::MAX, width) * ONES;
    _pdep_u64(super::packed::word_at(packed, at), of_each)
}

/// Bits of those of the first `n` scores that are as good as this one.
#[inline]
pub(crate) fn at_least(n: usize, scores: &[f32; BLOCK], least: f32) -> u64 {
    return_by_vectors!(avx2 at_least_avx2, neon neon::scores::at_least => (n, scores, least));
    at_least_portable(n, scores, least)
}

fn at_least_portable(n: usize, scores: &[f32; BLOCK], least: f32) -> u64 {
    let good = scores.iter().take(n).map(|score| u64::from(*score >= least));
    good.rev().fold(0, |bits, good| bits << 1 | good)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn at_least_avx2(n: usize, scores: &[f32; BLOCK], least: f32) -> u64 {
    use std::arch::x86_64::{
        _CMP_GE_OQ, _mm256_cmp_ps, _mm256_loadu_ps, _mm256_movemask_ps, _mm256_set1_ps,
    };
    let mut good = 0;
    for (nth, of_8) in scores.as_chunks::<8>().0.iter().take(n.div_ceil(8)).enumerate() {
        #[expect(unsafe_code, reason = "loads from an address")]
        // SAFETY: the array has the eight numbers that are loaded.
        let of_8 = unsafe { _mm256_loadu_ps(of_8.as_ptr()) };
        let is_good = _mm256_cmp_ps::<_CMP_GE_OQ>(of_8, _mm256_set1_ps(least));
        good |= u64::from(_mm256_movemask_ps(is_good) as u8) << (8 * nth);
    }
    std::arch::x86_64::_bzhi_u64(good, n as u32)
}

/// Adds what a list scores to the first `n` scores: `weight * f / (f + k)` where the frequency f is not 0. Numbers
/// behind may be anything afterwards.
#[inline]
pub(crate) fn add(
    n: usize,
    scores: &mut [f32; BLOCK],
    frequencies: &[f32; BLOCK],
    k: &[f32; BLOCK],
    weight: f32,
) {
    return_by_vectors!(avx2 add_avx2 => (n, scores, frequencies, k, weight));
    add_portable(n, scores, frequencies, k, weight);
}

#[inline(always)]
fn add_portable(
    n: usize,
    scores: &mut [f32; BLOCK],
    frequencies: &[f32; BLOCK],
    k: &[f32; BLOCK],
    weight: f32,
) {
    let scores = scores.as_chunks_mut::<8>().0.iter_mut().take(n.div_ceil(8));
    for ((scores, frequencies), k) in
        scores.zip(frequencies.as_chunks::<8>().0).zip(k.as_chunks::<8>().0)
    {
        for ((score, frequency), k) in scores.iter_mut().zip(frequencies).zip(k) {
            let more = weight * (frequency / (frequency + k));
            *score += if *frequency > 0.0 { more } else { 0.0 };
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn add_avx2(
    n: usize,
    scores: &mut [f32; BLOCK],
    frequencies: &[f32; BLOCK],
    k: &[f32; BLOCK],
    weight: f32,
) {
    add_portable(n, scores, frequencies, k, weight);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::each_step;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frequencies_are_those_of_each_document_by_itself(
            (listed, wanted) in (any::<u64>(), any::<u64>()),
            nth in 0u32..64,
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            widths in prop_oneof![
                (0u32..9, 0u32..9).prop_map(|(a, b)| (Widths::all(a), Widths::all(b))),
                (0u32..33, 0u32..33).prop_map(|(a, b)| (Widths::all(a), Widths::all(b))),
                any::<(u16, u16)>().prop_map(|(a, b)| (Widths::of_nibbles(a), Widths::of_nibbles(b))),
                // Numbers of 8 bits at the most, all but those that are 8.
                any::<(u16, u16)>().prop_map(|(a, b)| {
                    (Widths::of_nibbles(a & 0x7777), Widths::of_nibbles(b & 0x7777))
                }),
                (0u16..16, 0u16..16).prop_map(|(a, b)| {
                    (Widths::of_nibbles(a << 3 | 0x8080), Widths::of_nibbles(b << 3 | 0x0808))
                }),
            ],
        ) {
            let groups = [(&bytes[..], widths.0), (&bytes[bytes.len() / 2..], widths.1)];
            let mut expected = vec![];
            for bit in (0..64).filter(|bit| wanted >> bit & 1 == 1) {
                let before = (0..bit).filter(|bit| listed >> bit & 1 == 1).count() as u32;
                let (packed, widths) = groups[((nth + before) / 64) as usize % 2];
                let nth = (nth + before) % 64;
                let of_sixteens = widths.bytes().to_le_bytes().map(u32::from);
                let at: u32 = (0..nth).map(|nth| of_sixteens[nth as usize / 16]).sum();
                let width = of_sixteens[nth as usize / 16];
                let frequency = bits_at(packed, at as usize, width).saturating_add(1) as f32;
                expected.push(if listed >> bit & 1 == 1 { frequency } else { 0.0 });
            }
            for () in each_step() {
                let mut found = [7.0; BLOCK];
                gather(listed, wanted, nth, groups, &mut found);
                prop_assert_eq!(&found[..expected.len()], &expected[..]);
            }
        }

        #[test]
        fn good_scores_are_those_of_each_document_by_itself(
            scores in prop::collection::vec(prop_oneof![Just(2.5f32), 0.0f32..5.0], BLOCK),
            (n, least) in (0..=BLOCK, prop_oneof![Just(2.5f32), 0.0f32..5.0]),
        ) {
            let scores: [f32; BLOCK] = std::array::from_fn(|nth| scores[nth]);
            let expected = (0..n).filter(|nth| scores[*nth] >= least);
            let expected = expected.fold(0u64, |bits, nth| bits | 1 << nth);
            for () in each_step() {
                prop_assert_eq!(at_least(n, &scores, least), expected);
            }
        }

        #[test]
        fn scores_are_those_of_each_document_by_itself(
            frequencies in prop::collection::vec(0u32..40, BLOCK),
            k in prop::collection::vec(prop_oneof![Just(0.0f32), 0.0f32..9.0], BLOCK),
            before in prop::collection::vec(0.0f32..30.0, BLOCK),
            (weight, n) in (0.0f32..20.0, 0..=BLOCK),
        ) {
            let as_array = |from: &[f32]| -> [f32; BLOCK] { std::array::from_fn(|nth| from[nth]) };
            let of_list: [f32; BLOCK] = std::array::from_fn(|nth| frequencies[nth] as f32);
            let expected: [f32; BLOCK] = std::array::from_fn(|nth| match frequencies[nth] {
                0 => before[nth],
                frequency => {
                    let frequency = frequency as f32;
                    before[nth] + weight * (frequency / (frequency + k[nth]))
                }
            });
            for () in each_step() {
                let mut scores = as_array(&before);
                add(n, &mut scores, &of_list, &as_array(&k), weight);
                let bits = |scores: [f32; BLOCK]| scores.map(f32::to_bits);
                prop_assert_eq!(&bits(scores)[..n], &bits(expected)[..n]);
            }
        }
    }
}
