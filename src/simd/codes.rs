//! Inner products of codes: vectors of whole numbers of 8 bits, with their sign.
//!
//! Sums are whole numbers, so their order changes nothing and all steps give the same: AVX-512 multiplies and adds up four
//! numbers in one instruction, but only unsigned ones with signed ones. So it adds 128 to those of one side, and takes 128
//! times the sum of the other side away again.

#[cfg(target_arch = "x86_64")]
use super::avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use super::neon;

/// Rows of a [strip](pack).
pub(crate) const STRIP: usize = 16;
/// Neighbouring numbers of a row that a strip has together.
pub(crate) const GROUP: usize = 4;
/// Numbers of a group, of all rows of a strip.
pub(crate) const GROUP_OF_STRIP: usize = STRIP * GROUP;

/// Numbers of a row that are added up by themselves, so that the compiler finds vectors for it.
const STEP: usize = 16;

/// A number of a code.
#[inline(always)]
fn number(byte: u8) -> i32 {
    i32::from(byte.cast_signed())
}

/// Sum of the numbers of a code.
pub(crate) fn sum(code: &[u8]) -> i32 {
    code.iter().map(|byte| number(*byte)).sum()
}

/// Inner product of a code with another that is as long or longer; `sum` is that of the numbers of the first.
#[inline]
pub(crate) fn dot(code: &[u8], sum: i32, other: &[u8]) -> i32 {
    return_by_vectors!(avx512 avx512::codes::dot, avx2 dot_avx2, neon neon::codes::dot => (code, sum, other));
    dot_portable(code, sum, other)
}

#[inline(always)]
pub(super) fn dot_portable(code: &[u8], _sum: i32, other: &[u8]) -> i32 {
    let n = code.len().min(other.len());
    let (steps, rest) = code[..n].as_chunks::<STEP>();
    let (others, others_rest) = other[..n].as_chunks::<STEP>();
    let mut dot = 0i32;
    for (a, b) in steps.iter().zip(others) {
        for (a, b) in a.iter().zip(b) {
            dot = dot.wrapping_add(number(*a) * number(*b));
        }
    }
    for (a, b) in rest.iter().zip(others_rest) {
        dot = dot.wrapping_add(number(*a) * number(*b));
    }
    dot
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn dot_avx2(code: &[u8], sum: i32, other: &[u8]) -> i32 {
    use std::arch::x86_64::*;
    let (steps, rest) = code.as_chunks::<STEP>();
    let (others, others_rest) = other[..code.len().min(other.len())].as_chunks::<STEP>();
    let mut dots = _mm256_setzero_si256();
    for (a, b) in steps.iter().zip(others) {
        dots = _mm256_add_epi32(dots, _mm256_madd_epi16(wide(a), wide(b)));
    }
    let dots = _mm_add_epi32(_mm256_castsi256_si128(dots), _mm256_extracti128_si256::<1>(dots));
    let dots = _mm_add_epi32(dots, _mm_srli_si128::<8>(dots));
    let dots = _mm_add_epi32(dots, _mm_srli_si128::<4>(dots));
    _mm_cvtsi128_si32(dots).wrapping_add(dot_portable(rest, sum, others_rest))
}

/// Groups of the rows of a strip: of as many numbers as the longest has, zeros where there are none.
///
/// A group has its numbers of the first row, then those of the second, and so on.
pub(crate) fn pack<'r>(
    rows: impl IntoIterator<Item = &'r [u8]>,
    n_numbers: usize,
) -> Vec<[u8; GROUP_OF_STRIP]> {
    let mut strip = vec![];
    pack_into(rows, n_numbers, &mut strip);
    strip
}

/// Appends what [`pack`] returns.
pub(crate) fn pack_into<'r>(
    rows: impl IntoIterator<Item = &'r [u8]>,
    n_numbers: usize,
    strips: &mut Vec<[u8; GROUP_OF_STRIP]>,
) {
    let first = strips.len();
    strips.resize(first + n_numbers.div_ceil(GROUP), [0; GROUP_OF_STRIP]);
    let strip = &mut strips[first..];
    for (nth, row) in rows.into_iter().take(STRIP).enumerate() {
        let (groups, rest) = row.as_chunks::<GROUP>();
        for (to, group) in strip.iter_mut().zip(groups) {
            to.as_chunks_mut::<GROUP>().0[nth] = *group;
        }
        if let Some(to) = strip.get_mut(groups.len()) {
            to.as_chunks_mut::<GROUP>().0[nth][..rest.len()].copy_from_slice(rest);
        }
    }
}

/// Inner products of each row of a strip with each of another.
pub(crate) type Tile = [[i32; STRIP]; STRIP];

/// Inner products of each row of a strip with each row of another: the latter next to each other. `sums` are those of the
/// numbers of the rows of the first.
#[inline]
pub(crate) fn tile(
    rows: &[[u8; GROUP_OF_STRIP]],
    sums: &[i32; STRIP],
    others: &[[u8; GROUP_OF_STRIP]],
    to: &mut Tile,
) {
    return_by_vectors!(avx512 avx512::codes::tile, avx2 tile_avx2, neon neon::codes::tile => (rows, sums, others, to));
    tile_portable(rows, sums, others, to);
}

#[inline(always)]
fn tile_portable(
    rows: &[[u8; GROUP_OF_STRIP]],
    _sums: &[i32; STRIP],
    others: &[[u8; GROUP_OF_STRIP]],
    to: &mut Tile,
) {
    *to = [[0; STRIP]; STRIP];
    for (rows, others) in rows.iter().zip(others) {
        for (row, to) in rows.as_chunks::<GROUP>().0.iter().zip(&mut *to) {
            for (other, to) in others.as_chunks::<GROUP>().0.iter().zip(to) {
                let products = row.iter().zip(other).map(|(a, b)| number(*a) * number(*b));
                *to = to.wrapping_add(products.sum());
            }
        }
    }
}

/// Works like [`tile`], with numbers of 16 bits, of which one instruction multiplies and adds up two.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn tile_avx2(
    rows: &[[u8; GROUP_OF_STRIP]],
    _sums: &[i32; STRIP],
    others: &[[u8; GROUP_OF_STRIP]],
    to: &mut Tile,
) {
    use std::arch::x86_64::*;
    /// Rows at once: as many as there are registers for.
    const ROWS: usize = 2;
    let mut first = 0;
    while first < STRIP {
        let mut sums = [[_mm256_setzero_si256(); 4]; ROWS];
        for (rows, others) in rows.iter().zip(others) {
            let mut wides = [_mm256_setzero_si256(); 4];
            let quarters = others.as_chunks::<STEP>().0;
            for (to, quarter) in wides.iter_mut().zip(quarters) {
                *to = wide(quarter);
            }
            let rows = &rows.as_chunks::<GROUP>().0[first..first + ROWS];
            for (row, sums) in rows.iter().zip(&mut sums) {
                let row = _mm_cvtepi8_epi16(_mm_cvtsi32_si128(i32::from_le_bytes(*row)));
                let row = _mm256_broadcastq_epi64(row);
                for (sum, wide) in sums.iter_mut().zip(&wides) {
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(row, *wide));
                }
            }
        }
        for (sums, to) in sums.iter().zip(&mut to[first..first + ROWS]) {
            for (sum, to) in sums.iter().zip(to.as_chunks_mut::<4>().0) {
                // Both sums of a row next to each other: of the four rows one in each lane of 64 bits.
                let both = _mm256_add_epi32(*sum, _mm256_srli_epi64::<32>(*sum));
                *to = [
                    _mm256_extract_epi32::<0>(both),
                    _mm256_extract_epi32::<2>(both),
                    _mm256_extract_epi32::<4>(both),
                    _mm256_extract_epi32::<6>(both),
                ];
            }
        }
        first += ROWS;
    }
}

/// Rows of which inner products with a code are computed [together](dots).
pub(crate) const TOGETHER: usize = 4;

/// Inner products of a code with each of some others, which are as long or longer; `sum` is that of the numbers of the first.
#[inline]
pub(crate) fn dots(code: &[u8], sum: i32, others: [&[u8]; TOGETHER]) -> [i32; TOGETHER] {
    return_by_vectors!(avx512 avx512::codes::dots, avx2 dots_avx2, neon neon::codes::dots => (code, sum, others));
    others.map(|other| dot_portable(code, sum, other))
}

/// Works like [`dots`]: numbers of the code are made wide once for all rows.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn dots_avx2(code: &[u8], sum: i32, others: [&[u8]; TOGETHER]) -> [i32; TOGETHER] {
    use std::arch::x86_64::*;
    let (steps, rest) = code.as_chunks::<STEP>();
    let [a, b, c, d] = others;
    let [(a, a_rest), (b, b_rest), (c, c_rest), (d, d_rest)] =
        [a, b, c, d].map(|other| other[..code.len().min(other.len())].as_chunks::<STEP>());
    let mut sums = [_mm256_setzero_si256(); TOGETHER];
    for ((((step, a), b), c), d) in steps.iter().zip(a).zip(b).zip(c).zip(d) {
        let step = wide(step);
        sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(step, wide(a)));
        sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(step, wide(b)));
        sums[2] = _mm256_add_epi32(sums[2], _mm256_madd_epi16(step, wide(c)));
        sums[3] = _mm256_add_epi32(sums[3], _mm256_madd_epi16(step, wide(d)));
    }
    let low = _mm256_hadd_epi32(sums[0], sums[1]);
    let high = _mm256_hadd_epi32(sums[2], sums[3]);
    let both = _mm256_hadd_epi32(low, high);
    let dots = _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256::<1>(both));
    let dots = [
        _mm_extract_epi32::<0>(dots),
        _mm_extract_epi32::<1>(dots),
        _mm_extract_epi32::<2>(dots),
        _mm_extract_epi32::<3>(dots),
    ];
    if rest.is_empty() {
        return dots;
    }
    let rests = [a_rest, b_rest, c_rest, d_rest];
    std::array::from_fn(|nth| dots[nth].wrapping_add(dot_portable(rest, sum, rests[nth])))
}

/// Numbers of 8 bits in 16.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn wide(numbers: &[u8; STEP]) -> std::arch::x86_64::__m256i {
    use std::arch::x86_64::{_mm_set_epi64x, _mm256_cvtepi8_epi16};
    let numbers = u128::from_le_bytes(*numbers);
    _mm256_cvtepi8_epi16(_mm_set_epi64x((numbers >> 64) as i64, numbers as i64))
}

/// Measures of the rows of a strip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    /// By which the numbers are multiplied.
    pub(crate) scales: [f32; STRIP],
    /// Squared lengths; infinite where there is no row, so that nothing is near.
    pub(crate) squares: [f32; STRIP],
    /// A number that each row has besides those of its code.
    pub(crate) extras: [f32; STRIP],
}

impl Measured {
    /// Measures of no rows.
    pub(crate) const NONE: Measured =
        Measured { scales: [0.0; STRIP], squares: [f32::INFINITY; STRIP], extras: [0.0; STRIP] };
}

/// Squared distance of two rows by their scales, squared lengths, further numbers and the product of their codes.
#[inline(always)]
pub(crate) fn distance(a: [f32; 3], b: [f32; 3], product: i32) -> f32 {
    let [scale, square, extra] = a;
    let [other_scale, other_square, other_extra] = b;
    (square + other_square) - 2.0 * (product as f32 * (scale * other_scale) + extra * other_extra)
}

kernel! {
    /// Squared distances by the inner products of a tile.
    tile_distances(products: &Tile, rows: &Measured, others: &Measured, to: &mut [[f32; STRIP]; STRIP]) {
        for (nth, (products, to)) in products.iter().zip(to).enumerate() {
            let row = [rows.scales[nth], rows.squares[nth], rows.extras[nth]];
            for mth in 0..STRIP {
                let other = [others.scales[mth], others.squares[mth], others.extras[mth]];
                to[mth] = distance(row, other, products[mth]);
            }
        }
    }
}

kernel! {
    /// Places at which a number is at most its bound, as bits.
    at_most(numbers: &[f32; STRIP], bounds: &[f32; STRIP]) -> u16 {
        let mut bits = 0;
        for nth in 0..STRIP {
            bits |= u16::from(numbers[nth] <= bounds[nth]) << nth;
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(a: &[u8], b: &[u8]) -> i32 {
        a.iter().zip(b).map(|(a, b)| i32::from(*a as i8) * i32::from(*b as i8)).sum()
    }

    fn codes(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![8 => any::<u8>(), 1 => Just(0x80), 1 => Just(0x7F)];
        prop::collection::vec(byte, n)
    }

    proptest! {
        #[test]
        fn all_steps_give_the_same_products(a in codes(0..200), b in codes(0..200)) {
            let n = a.len().min(b.len());
            for () in crate::simd::each_step() {
                prop_assert_eq!(dot(&a[..n], sum(&a[..n]), &b), naive(&a[..n], &b));
                let others = [&b[..], &a, &b[..n], &a];
                let expected = others.map(|other| naive(&a[..n], other));
                prop_assert_eq!(dots(&a[..n], sum(&a[..n]), others), expected);
            }
        }

        #[test]
        fn all_steps_give_the_same_tiles(
            n_numbers in 0usize..80, n_rows in 0usize..=16, n_others in 0usize..=16, bytes in codes(2_560..2_561),
        ) {
            let rows: Vec<&[u8]> = bytes.chunks_exact(80).map(|row| &row[..n_numbers]).collect();
            let (rows, others) = rows.split_at(STRIP);
            let (rows, others) = (&rows[..n_rows], &others[..n_others]);
            let mut sums = [0; STRIP];
            rows.iter().zip(&mut sums).for_each(|(row, to)| *to = sum(row));
            let packed = |rows: &[&[u8]]| pack(rows.iter().copied(), n_numbers);
            let (packed_rows, packed_others) = (packed(rows), packed(others));
            for () in crate::simd::each_step() {
                let mut found = [[-1; STRIP]; STRIP];
                tile(&packed_rows, &sums, &packed_others, &mut found);
                for (nth, found) in found.iter().enumerate() {
                    for (mth, found) in found.iter().enumerate() {
                        let pair = rows.get(nth).zip(others.get(mth));
                        prop_assert_eq!(*found, pair.map_or(0, |(a, b)| naive(a, b)));
                    }
                }
            }
        }
    }

    #[test]
    fn greatest_products_fit() {
        let (low, high) = (vec![0x80; 8_192], vec![0x7F; 8_192]);
        for () in crate::simd::each_step() {
            assert_eq!(dot(&low, sum(&low), &low), 1 << 27);
            assert_eq!(dot(&low, sum(&low), &high), -128 * 127 * 8_192);
            assert_eq!(dot(&high, sum(&high), &high), 127 * 127 * 8_192);
            let expected = [1 << 27, -128 * 127 * 8_192, 1 << 27, -128 * 127 * 8_192];
            assert_eq!(dots(&low, sum(&low), [&low, &high, &low, &high]), expected);
        }
    }
}
