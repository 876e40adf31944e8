//! Scores of the documents of a block, list after list.
//!
//! One body serves all instruction sets, as in [`sums`](super::sums). Divisions and sums are those of single
//! documents, so that scores are the same to the last bit.

use super::packed::bits_at;

/// Documents of a block.
pub(crate) const BLOCK: usize = 64;

/// Numbers of 64 postings at the most, packed: the bytes that they begin with, and the bits of each.
pub(crate) type Packed<'a> = (&'a [u8], u32);

/// Replaces `frequencies` by those of the documents in `wanted`, 0 for others. The list has the documents in `listed`, of which the
/// first is number `nth` of the first group, at most 63.
#[inline]
pub(crate) fn gather(
    listed: u64,
    wanted: u64,
    nth: u32,
    groups: [Packed<'_>; 2],
    frequencies: &mut [f32; BLOCK],
) {
    #[cfg(target_arch = "x86_64")]
    if has_features() {
        #[expect(unsafe_code, reason = "calls a function that needs AVX2, BMI and POPCNT")]
        // SAFETY: the features were found in the line above.
        return unsafe { gather_avx2(listed, wanted, nth, groups, frequencies) };
    }
    gather_portable(listed, wanted, nth, groups, frequencies);
}

#[inline(always)]
fn gather_portable(
    listed: u64,
    wanted: u64,
    nth: u32,
    groups: [Packed<'_>; 2],
    frequencies: &mut [f32; BLOCK],
) {
    frequencies.fill(0.0);
    let mut left = listed & wanted;
    while left != 0 {
        let bit = left.trailing_zeros();
        left &= left - 1;
        let at = nth + (listed & ((1 << bit) - 1)).count_ones();
        let (packed, width) = groups[(at / BLOCK as u32) as usize & 1];
        let less_one = bits_at(packed, (at % BLOCK as u32 * width) as usize, width);
        frequencies[bit as usize % BLOCK] = less_one.saturating_add(1) as f32;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn gather_avx2(
    listed: u64,
    wanted: u64,
    nth: u32,
    groups: [Packed<'_>; 2],
    frequencies: &mut [f32; BLOCK],
) {
    gather_portable(listed, wanted, nth, groups, frequencies);
}

/// Adds what a list scores: `weight * f / (f + k)` where the frequency f is not 0.
#[inline]
pub(crate) fn add(
    scores: &mut [f32; BLOCK],
    frequencies: &[f32; BLOCK],
    k: &[f32; BLOCK],
    weight: f32,
) {
    #[cfg(target_arch = "x86_64")]
    if has_features() {
        #[expect(unsafe_code, reason = "calls a function that needs AVX2, BMI and POPCNT")]
        // SAFETY: the features were found in the line above.
        return unsafe { add_avx2(scores, frequencies, k, weight) };
    }
    add_portable(scores, frequencies, k, weight);
}

#[inline(always)]
fn add_portable(
    scores: &mut [f32; BLOCK],
    frequencies: &[f32; BLOCK],
    k: &[f32; BLOCK],
    weight: f32,
) {
    for ((score, frequency), k) in scores.iter_mut().zip(frequencies).zip(k) {
        let more = weight * (frequency / (frequency + k));
        *score += if *frequency > 0.0 { more } else { 0.0 };
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn add_avx2(scores: &mut [f32; BLOCK], frequencies: &[f32; BLOCK], k: &[f32; BLOCK], weight: f32) {
    add_portable(scores, frequencies, k, weight);
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_features() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
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
            widths in (0u32..33, 0u32..33),
        ) {
            let groups = [(&bytes[..], widths.0), (&bytes[bytes.len() / 2..], widths.1)];
            let mut expected = [0.0; BLOCK];
            for bit in (0..64).filter(|bit| (listed & wanted) >> bit & 1 == 1) {
                let before = (0..bit).filter(|bit| listed >> bit & 1 == 1).count() as u32;
                let (packed, width) = groups[((nth + before) / 64) as usize];
                let at = (nth + before) % 64 * width;
                expected[bit] = bits_at(packed, at as usize, width).saturating_add(1) as f32;
            }
            let (mut found, mut portable) = ([7.0; BLOCK], [8.0; BLOCK]);
            gather(listed, wanted, nth, groups, &mut found);
            gather_portable(listed, wanted, nth, groups, &mut portable);
            prop_assert_eq!(found, expected);
            prop_assert_eq!(portable, expected);
        }

        #[test]
        fn scores_are_those_of_each_document_by_itself(
            frequencies in prop::collection::vec(0u32..40, BLOCK),
            k in prop::collection::vec(prop_oneof![Just(0.0f32), 0.0f32..9.0], BLOCK),
            before in prop::collection::vec(0.0f32..30.0, BLOCK),
            weight in 0.0f32..20.0,
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
                kernel(&mut scores, &of_list, &as_array(&k), weight);
                prop_assert_eq!(scores.map(f32::to_bits), expected.map(f32::to_bits));
            }
        }
    }
}
