//! Ascending numbers from the gaps between them, each written in 1 to 4 bytes.
//!
//! Lengths stand apart from gaps, four in a byte, so that a vector has the bytes of four gaps moved to their places at once by one
//! instruction, from a table by the byte of lengths. No branch depends on what is read.

/// Gaps whose lengths are in a byte.
pub(crate) const GROUP: usize = 4;
/// Bytes that such gaps may take.
pub(crate) const GROUP_BYTES: usize = GROUP * size_of::<u32>();
/// Numbers that are decoded at once.
pub(crate) const NUMBERS: usize = 64;

/// Numbers and how they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    /// Bytes of their gaps.
    pub(crate) n_bytes: usize,
    /// Gaps joined by OR: none is greater.
    pub(crate) all: u32,
}

/// Decodes numbers, each by its gap and 1 greater than the one before, modulo 2³²; the first than `before`.
///
/// `lengths` has 2 bits for each, the bytes of its gap less one; those behind the last number are zeros. Gaps behind the end of `bytes`
/// are zeros. Numbers of a last group that is not full have followers of any value.
#[inline]
pub(crate) fn numbers(
    bytes: &[u8],
    lengths: &[u8],
    before: u32,
    to: &mut [u32; NUMBERS],
) -> Decoded {
    return_by_vectors!(avx2 vector::numbers => (bytes, lengths, before, to));
    numbers_portable(bytes, lengths, before, to)
}

fn numbers_portable(
    bytes: &[u8],
    lengths: &[u8],
    mut before: u32,
    to: &mut [u32; NUMBERS],
) -> Decoded {
    let mut decoded = Decoded { n_bytes: 0, all: 0 };
    for (lengths, to) in lengths.iter().zip(to.as_chunks_mut::<GROUP>().0) {
        let mut word = u128::from_le_bytes(group(bytes, decoded.n_bytes));
        for (nth, to) in to.iter_mut().enumerate() {
            let n_bytes = u32::from(lengths >> (2 * nth) & 3) + 1;
            let gap = word as u32 & u32::MAX >> (32 - 8 * n_bytes);
            word >>= 8 * n_bytes;
            decoded.n_bytes += n_bytes as usize;
            decoded.all |= gap;
            before = before.wrapping_add(gap).wrapping_add(1);
            *to = before;
        }
    }
    decoded
}

/// The bytes of a group; zeros behind the end.
#[inline(always)]
fn group(bytes: &[u8], at: usize) -> [u8; GROUP_BYTES] {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(group) => *group,
        None => {
            let mut group = [0; GROUP_BYTES];
            group.iter_mut().zip(rest).for_each(|(to, byte)| *to = *byte);
            group
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod vector {
    use super::{Decoded, GROUP, GROUP_BYTES, NUMBERS, group};
    use std::arch::x86_64::*;

    /// For each byte of lengths the place of each byte of four numbers; one without a byte is zero.
    static PLACES: [[u8; GROUP_BYTES]; 256] = places();
    /// For each byte of lengths the bytes of all four gaps.
    static N_BYTES: [u8; 256] = n_bytes();
    const NO_BYTE: u8 = 0x80;

    const fn places() -> [[u8; GROUP_BYTES]; 256] {
        let (mut all, mut lengths) = ([[NO_BYTE; GROUP_BYTES]; 256], 0);
        while lengths < 256 {
            let (mut nth, mut at) = (0, 0);
            while nth < GROUP_BYTES {
                if nth % 4 <= lengths >> (nth / 4 * 2) & 3 {
                    all[lengths][nth] = at;
                    at += 1;
                }
                nth += 1;
            }
            lengths += 1;
        }
        all
    }

    const fn n_bytes() -> [u8; 256] {
        let (mut all, mut lengths) = ([GROUP as u8; 256], 0);
        while lengths < 256 {
            let mut nth = 0;
            while nth < GROUP {
                all[lengths] += (lengths >> (2 * nth) & 3) as u8;
                nth += 1;
            }
            lengths += 1;
        }
        all
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8; GROUP_BYTES]) -> __m128i {
        let bytes = u128::from_le_bytes(*bytes);
        _mm_set_epi64x((bytes >> 64) as i64, bytes as i64)
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn numbers(
        bytes: &[u8],
        lengths: &[u8],
        before: u32,
        to: &mut [u32; NUMBERS],
    ) -> Decoded {
        let ones = _mm_set1_epi32(1);
        let mut before = _mm_set1_epi32(before.cast_signed());
        let (mut all, mut at) = (_mm_setzero_si128(), 0);
        for (lengths, to) in lengths.iter().zip(to.as_chunks_mut::<GROUP>().0) {
            let lengths = usize::from(*lengths);
            let gaps = match bytes.get(at..).and_then(<[u8]>::first_chunk) {
                Some(group) => load(group),
                None => load(&group(bytes, at)),
            };
            let gaps = _mm_shuffle_epi8(gaps, load(&PLACES[lengths]));
            at += usize::from(N_BYTES[lengths]);
            all = _mm_or_si128(all, gaps);
            let steps = _mm_add_epi32(gaps, ones);
            let steps = _mm_add_epi32(steps, _mm_slli_si128::<4>(steps));
            let steps = _mm_add_epi32(steps, _mm_slli_si128::<8>(steps));
            let numbers = _mm_add_epi32(before, steps);
            before = _mm_shuffle_epi32::<0xFF>(numbers);
            *to = [
                _mm_extract_epi32::<0>(numbers),
                _mm_extract_epi32::<1>(numbers),
                _mm_extract_epi32::<2>(numbers),
                _mm_extract_epi32::<3>(numbers),
            ]
            .map(i32::cast_unsigned);
        }
        let all = _mm_or_si128(all, _mm_srli_si128::<8>(all));
        let all = _mm_or_si128(all, _mm_srli_si128::<4>(all));
        Decoded { n_bytes: at, all: _mm_cvtsi128_si32(all).cast_unsigned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_steps_decode_the_same(
            gaps in prop::collection::vec(prop_oneof![0u32..300, 0u32..70_000, any::<u32>()], 0..=NUMBERS),
            before in any::<u32>(),
            behind in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let (mut bytes, mut lengths) = (vec![], vec![0u8; gaps.len().div_ceil(GROUP)]);
            for (nth, gap) in gaps.iter().enumerate() {
                let n_bytes = gap.to_le_bytes().iter().rposition(|byte| *byte != 0).unwrap_or(0) + 1;
                bytes.extend(&gap.to_le_bytes()[..n_bytes]);
                lengths[nth / GROUP] |= (n_bytes as u8 - 1) << (nth % GROUP * 2);
            }
            let n_bytes = bytes.len() + lengths.len() * GROUP - gaps.len();
            let expected: Vec<u32> = gaps
                .iter()
                .scan(before, |last, gap| {
                    *last = last.wrapping_add(*gap).wrapping_add(1);
                    Some(*last)
                })
                .collect();
            let all = gaps.iter().fold(0, |all, gap| all | gap);
            for bytes in [bytes.clone(), [bytes, behind].concat()] {
                for () in crate::simd::each_step() {
                    let mut to = [7; NUMBERS];
                    let decoded = numbers(&bytes, &lengths, before, &mut to);
                    prop_assert_eq!(&to[..gaps.len()], &expected[..]);
                    prop_assert_eq!(decoded.n_bytes, n_bytes);
                    // Followers of the last number are bytes.
                    prop_assert_eq!(decoded.all & !0xFF, all & !0xFF);
                }
            }
        }

        #[test]
        fn any_bytes_give_the_same(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            lengths in prop::collection::vec(any::<u8>(), 0..=NUMBERS / GROUP),
            before in any::<u32>(),
        ) {
            let mut expected = [0; NUMBERS];
            let all = numbers_portable(&bytes, &lengths, before, &mut expected);
            for () in crate::simd::each_step() {
                let mut to = [0; NUMBERS];
                prop_assert_eq!(numbers(&bytes, &lengths, before, &mut to), all);
                prop_assert_eq!(to, expected);
            }
        }
    }
}
