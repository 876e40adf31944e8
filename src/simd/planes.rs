//! Codes of a bit a number beside vectors of four, and the rotation of both.
//!
//! Bits that differ are counted, which are whole numbers, and a rotation is sums and differences of two numbers at a time: no step
//! adds anything in another order. So all give the same, to the bit.

/// Bits of each number of a vector that codes are compared with: of the first plane the lowest.
pub(crate) const PLANES: usize = 4;
/// Numbers of a word of a code.
pub(crate) const WORD: usize = 64;

kernel! {
    /// Number of bits in which a code differs from planes. Each plane counts twice the plane before.
    weighted_differences(code: &[u8], planes: &[[u64; PLANES]]) -> u32 {
        let mut counts = [0; PLANES];
        for (word, planes) in code.as_chunks().0.iter().zip(planes) {
            let word = u64::from_le_bytes(*word);
            for nth in 0..PLANES {
                counts[nth] += (word ^ planes[nth]).count_ones();
            }
        }
        let mut sum = 0;
        for (nth, count) in counts.iter().enumerate() {
            sum += count << nth;
        }
        sum
    }
}

kernel! {
    /// Changes signs of numbers and mixes them by Walsh and Hadamard's transform, round after round. There are words of signs for each
    /// round, a bit for each number.
    ///
    /// The transform is of a power of two numbers: the first that many are mixed in the first round, the last in the second, and so
    /// on.
    rotate(numbers: &mut [f32], signs: &[u64]) {
        let (n, n_words) = (numbers.len(), numbers.len() / WORD);
        if n_words == 0 {
            return;
        }
        let part = 1 << n.ilog2();
        let scale = 1.0 / (part as f32).sqrt();
        for (round, signs) in signs.chunks_exact(n_words).enumerate() {
            for (numbers, signs) in numbers.as_chunks_mut::<WORD>().0.iter_mut().zip(signs) {
                for (nth, number) in numbers.iter_mut().enumerate() {
                    let sign = ((signs >> nth) as u32 & 1) << 31;
                    *number = f32::from_bits(number.to_bits() ^ sign);
                }
            }
            let start = if round % 2 == 0 { 0 } else { n - part };
            transform(&mut numbers[start..start + part], scale);
        }
    }
}

#[inline(always)]
fn transform(numbers: &mut [f32], scale: f32) {
    let mut half = 1;
    while half < numbers.len() {
        for block in numbers.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (*low + *high, *low - *high);
            }
        }
        half *= 2;
    }
    for number in numbers {
        *number *= scale;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_steps_count_the_same(
            code in prop::collection::vec(any::<u8>(), 0..300),
            planes in prop::collection::vec(any::<[u64; PLANES]>(), 0..40),
        ) {
            let bit = |word: usize, nth: usize| code[word * 8 + nth / 8] >> (nth % 8) & 1;
            let mut naive = 0;
            for (word, planes) in planes.iter().enumerate().take(code.len() / 8) {
                for nth in 0..WORD {
                    for (weight, plane) in planes.iter().enumerate() {
                        naive += u32::from(bit(word, nth) != (plane >> nth) as u8 & 1) << weight;
                    }
                }
            }
            for () in crate::simd::each_step() {
                prop_assert_eq!(weighted_differences(&code, &planes), naive);
            }
        }

        #[test]
        fn all_steps_rotate_the_same_and_keep_lengths(
            (numbers, signs) in (1usize..9).prop_flat_map(|n_words| (
                prop::collection::vec(-9f32..9.0, n_words * WORD), prop::collection::vec(any::<u64>(), 4 * n_words),
            )),
        ) {
            let square = |of: &[f32]| of.iter().map(|n| f64::from(*n).powi(2)).sum::<f64>();
            let mut expected: Option<Vec<f32>> = None;
            for () in crate::simd::each_step() {
                let mut rotated = numbers.clone();
                rotate(&mut rotated, &signs);
                prop_assert!((square(&rotated) / square(&numbers) - 1.0).abs() < 1e-5);
                let first = expected.get_or_insert_with(|| rotated.clone());
                prop_assert!(first.iter().zip(&rotated).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
        }
    }

    /// Each number of one that is not zero goes to all places, more or less evenly.
    #[test]
    fn a_rotation_spreads_what_is_in_one_place() {
        for n in [64usize, 128, 192, 320, 384, 768, 1_024, 1_536] {
            let mut state = n as u64;
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state ^ state >> 29
            };
            let signs: Vec<u64> = (0..4 * n / WORD).map(|_| random()).collect();
            for at in [0, 1, n / 3, n / 2, n - 1] {
                let mut numbers = vec![0.0; n];
                numbers[at] = 1.0;
                rotate(&mut numbers, &signs);
                let greatest = numbers.iter().fold(0f32, |greatest, n| greatest.max(n.abs()));
                assert!(greatest * (n as f32).sqrt() < 6.0, "{n} {at}: {greatest}");
                let mean: f32 = numbers.iter().map(|n| n.abs()).sum::<f32>() / (n as f32).sqrt();
                assert!(mean > 0.6, "{n} {at}: {mean}");
            }
        }
    }
}
