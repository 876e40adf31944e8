//! Scores of the documents of a block, list after list.
//!
//! One body serves all instruction sets, as in [`sums`](super::sums). Divisions and sums are those of single
//! documents, so that scores are the same to the last bit.

use super::packed::bits_at;

/// Documents of a block.
pub(crate) const BLOCK: usize = 64;

/// Numbers of 64 postings at the most, packed: the bytes that they begin with, and the bits of each.
pub(crate) type Packed<'a> = (&'a [u8], u32);

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
    #[cfg(target_arch = "x86_64")]
    if groups.iter().all(|(_, width)| *width <= 8) && super::has_bit_features() {
        #[expect(unsafe_code, reason = "calls a function that needs AVX2, BMI and POPCNT")]
        // SAFETY: `has_bit_features` found every feature that the function enables.
        return unsafe { gather_bytes(listed, wanted, nth, groups, frequencies) };
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
        let (packed, width) = groups[(at / BLOCK as u32) as usize & 1];
        *frequency = match listed & bit {
            0 => 0.0,
            _ => {
                let less_one = bits_at(packed, (at % BLOCK as u32 * width) as usize, width);
                less_one.saturating_add(1) as f32
            }
        };
    }
}

/// As [`gather`] for numbers of at most 8 bits: they are spread over bytes, eight at once, and those that are wanted picked.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn gather_bytes(
    listed: u64,
    wanted: u64,
    nth: u32,
    groups: [Packed<'_>; 2],
    frequencies: &mut [f32; BLOCK],
) {
    use std::arch::x86_64::_pext_u64;
    let mut numbers = [0; 2 * BLOCK];
    let nth = nth as usize % BLOCK;
    let end = nth + listed.count_ones() as usize;
    let [first, second] = groups;
    let (of_first, of_second) = numbers.split_at_mut(BLOCK);
    unpack(first, nth / 8..end.min(BLOCK).div_ceil(8), of_first);
    unpack(second, 0..end.saturating_sub(BLOCK).div_ceil(8), of_second);
    let common = listed & wanted;
    // The numbers of the postings that are wanted, and of the documents that have one.
    let (mut postings, mut documents) = (_pext_u64(common, listed), _pext_u64(common, wanted));
    if common != wanted {
        frequencies.fill(0.0);
    }
    while postings != 0 {
        let (at, to) = (postings.trailing_zeros() as usize, documents.trailing_zeros() as usize);
        (postings, documents) = (postings & (postings - 1), documents & documents.wrapping_sub(1));
        frequencies[to % BLOCK] = f32::from(u16::from(numbers[(nth + at) % (2 * BLOCK)]) + 1);
    }
}

/// Spreads numbers of at most 8 bits over bytes, in steps of eight.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn unpack((packed, width): Packed<'_>, steps: std::ops::Range<usize>, numbers: &mut [u8]) {
    for step in steps {
        if let Some(to) = numbers.get_mut(8 * step..8 * step + 8) {
            to.copy_from_slice(&spread(packed, step * width as usize, width));
        }
    }
}

/// Eight numbers of `width` bits, at most 8, as bytes; `at` is the byte that they begin with.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn spread(packed: &[u8], at: usize, width: u32) -> [u8; 8] {
    use std::arch::x86_64::{_bzhi_u64, _pdep_u64};
    let of_each = _bzhi_u64(u64::MAX, width) * 0x0101_0101_0101_0101;
    _pdep_u64(super::packed::word_at(packed, at), of_each).to_le_bytes()
}

/// Adds what a list scores to the first `n` scores: `weight * f / (f + k)` where the frequency f is not 0. Those behind may be
/// anything afterwards.
#[inline]
pub(crate) fn add(
    n: usize,
    scores: &mut [f32; BLOCK],
    frequencies: &[f32; BLOCK],
    k: &[f32; BLOCK],
    weight: f32,
) {
    #[cfg(target_arch = "x86_64")]
    if super::has_bit_features() {
        #[expect(unsafe_code, reason = "calls a function that needs AVX2, BMI and POPCNT")]
        // SAFETY: `has_bit_features` found every feature that the function enables.
        return unsafe { add_avx2(n, scores, frequencies, k, weight) };
    }
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
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frequencies_are_those_of_each_document_by_itself(
            (listed, wanted) in (any::<u64>(), any::<u64>()),
            nth in 0u32..64,
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            widths in prop_oneof![(0u32..9, 0u32..9), (0u32..33, 0u32..33)],
        ) {
            let groups = [(&bytes[..], widths.0), (&bytes[bytes.len() / 2..], widths.1)];
            let mut expected = vec![];
            for bit in (0..64).filter(|bit| wanted >> bit & 1 == 1) {
                let before = (0..bit).filter(|bit| listed >> bit & 1 == 1).count() as u32;
                let (packed, width) = groups[((nth + before) / 64) as usize % 2];
                let at = (nth + before) % 64 * width;
                let frequency = bits_at(packed, at as usize, width).saturating_add(1) as f32;
                expected.push(if listed >> bit & 1 == 1 { frequency } else { 0.0 });
            }
            for kernel in [gather, gather_portable] {
                let mut found = [7.0; BLOCK];
                kernel(listed, wanted, nth, groups, &mut found);
                prop_assert_eq!(&found[..expected.len()], &expected[..]);
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
            for kernel in [add, add_portable] {
                let mut scores = as_array(&before);
                kernel(n, &mut scores, &of_list, &as_array(&k), weight);
                let bits = |scores: [f32; BLOCK]| scores.map(f32::to_bits);
                prop_assert_eq!(&bits(scores)[..n], &bits(expected)[..n]);
            }
        }
    }
}
