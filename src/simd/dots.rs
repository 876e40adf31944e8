//! Sums over the numbers of two vectors: inner products, squared distances, squared lengths.
//!
//! Each adds up in 16 partial sums, which are then added in pairs, always in the same order and without fused
//! multiply-add, so that all instruction sets give the same bits. The rows are little-endian bytes as they lie in a file, of
//! [numbers](Numbers) of 32, 16 or 8 bits or of one bit; each is widened to 32 bits, which loses nothing.

/// Partial sums.
const LANES: usize = 16;

/// Numbers of a row.
pub(crate) trait Numbers {
    /// Bytes of as many numbers as there are partial sums.
    type Bytes: for<'r> TryFrom<&'r [u8]>;
    /// Number of these bytes.
    const LEN: usize;

    /// The bytes of a row by as many numbers; a rest is left out.
    fn chunks(row: &[u8]) -> &[Self::Bytes];

    /// The number of a lane, of 32 bits.
    fn widened(bytes: &Self::Bytes, lane: usize) -> f32;
}

/// Numbers of 32 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct F32;

/// Numbers of 16 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct F16;

/// Whole numbers of 8 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct I8;

/// Numbers that are 0 or 1, the first in the highest bit of a byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bits;

impl Numbers for F32 {
    type Bytes = [u8; 4 * LANES];
    const LEN: usize = 4 * LANES;

    #[inline(always)]
    fn chunks(row: &[u8]) -> &[Self::Bytes] {
        row.as_chunks().0
    }

    #[inline(always)]
    fn widened(bytes: &Self::Bytes, lane: usize) -> f32 {
        f32::from_le_bytes(bytes.as_chunks().0[lane])
    }
}

impl Numbers for F16 {
    type Bytes = [u8; 2 * LANES];
    const LEN: usize = 2 * LANES;

    #[inline(always)]
    fn chunks(row: &[u8]) -> &[Self::Bytes] {
        row.as_chunks().0
    }

    #[inline(always)]
    fn widened(bytes: &Self::Bytes, lane: usize) -> f32 {
        of_f16(u16::from_le_bytes(bytes.as_chunks().0[lane]))
    }
}

/// A finite number of 16 bits, by the same instructions whatever it is, so that the compiler finds vectors for it.
#[inline(always)]
fn of_f16(bits: u16) -> f32 {
    /// Bits of a fraction that numbers of 32 bits have more, and the difference of the exponents of 1.
    const FRACTION_MORE: u32 = 13;
    const EXPONENT_MORE: u32 = 127 - 15;
    /// The unit of the last bit of a subnormal number: 2 to the −24th.
    const UNIT: f32 = 1.0 / (1 << 24) as f32;
    let (sign, magnitude) = (u32::from(bits >> 15) << 31, u32::from(bits & 0x7FFF));
    let normal = (magnitude << FRACTION_MORE) + (EXPONENT_MORE << 23);
    let subnormal = (magnitude as i32 as f32 * UNIT).to_bits();
    let is_normal = magnitude >= 0x400;
    f32::from_bits(sign | if is_normal { normal } else { subnormal })
}

impl Numbers for I8 {
    type Bytes = [u8; LANES];
    const LEN: usize = LANES;

    #[inline(always)]
    fn chunks(row: &[u8]) -> &[Self::Bytes] {
        row.as_chunks().0
    }

    #[inline(always)]
    fn widened(bytes: &Self::Bytes, lane: usize) -> f32 {
        f32::from(bytes[lane].cast_signed())
    }
}

impl Numbers for Bits {
    type Bytes = [u8; LANES / 8];
    const LEN: usize = LANES / 8;

    #[inline(always)]
    fn chunks(row: &[u8]) -> &[Self::Bytes] {
        row.as_chunks().0
    }

    #[inline(always)]
    fn widened(bytes: &Self::Bytes, lane: usize) -> f32 {
        let [first, second] = *bytes;
        let bits = u32::from(first) << 8 | u32::from(second);
        if bits & (1 << (LANES - 1 - lane)) != 0 { 1.0 } else { 0.0 }
    }
}

/// The sum of the partial sums, in pairs.
#[inline(always)]
fn total(mut sums: [f32; LANES]) -> f32 {
    let mut n = LANES;
    while n > 1 {
        n /= 2;
        for lane in 0..n {
            sums[lane] += sums[lane + n];
        }
    }
    sums[0]
}

/// Sum of what `of` makes of the numbers of a query and of a row, as many as both have.
#[inline(always)]
fn sum<N: Numbers>(query: &[f32], row: &[u8], of: impl Fn(f32, f32) -> f32) -> f32 {
    let (of_query, rest_of_query) = query.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    // One form for whole steps and for the rest, or the compiler takes the lanes apart.
    let add = |sums: &mut [f32; LANES], a: &[f32; LANES], b: &N::Bytes| {
        for lane in 0..LANES {
            sums[lane] += of(a[lane], N::widened(b, lane));
        }
    };
    for (a, b) in of_query.iter().zip(N::chunks(row)) {
        add(&mut sums, a, b);
    }
    if !rest_of_query.is_empty()
        && let Some(rest_of_row) = row.get(of_query.len() * N::LEN..)
    {
        // Zeros behind the last number add nothing.
        let (mut a, mut b) = ([0.0; LANES], [0; 4 * LANES]);
        let n = (rest_of_row.len() * LANES / N::LEN).min(rest_of_query.len());
        let len = (n * N::LEN).div_ceil(LANES);
        a[..n].copy_from_slice(&rest_of_query[..n]);
        b[..len].copy_from_slice(&rest_of_row[..len]);
        if let Some(b) = N::chunks(&b).first() {
            add(&mut sums, &a, b);
        }
    }
    total(sums)
}

kernel! {
    /// Inner product of a vector and a row.
    dot<N: Numbers>(query: &[f32], row: &[u8]) -> f32 {
        sum::<N>(query, row, |a, b| a * b)
    }
}

kernel! {
    /// Squared Euclidean distance of a vector and a row.
    squared_distance<N: Numbers>(query: &[f32], row: &[u8]) -> f32 {
        sum::<N>(query, row, |a, b| (a - b) * (a - b))
    }
}

kernel! {
    /// Inner product of a vector and a row, and of the row with itself.
    dot_and_square<N: Numbers>(query: &[f32], row: &[u8]) -> (f32, f32) {
        (sum::<N>(query, row, |a, b| a * b), sum::<N>(query, row, |_, b| b * b))
    }
}

kernel! {
    /// Ones that two rows of bits have in common, and those of the second: what [`dot_and_square()`] returns of them.
    ones_in_common(bits: &[u8], row: &[u8]) -> (u32, u32) {
        let (words, rest) = bits.as_chunks();
        let (of_row, rest_of_row) = row.as_chunks();
        let (mut both, mut own) = (0, 0);
        for (a, b) in words.iter().zip(of_row) {
            let (a, b) = (u64::from_le_bytes(*a), u64::from_le_bytes(*b));
            both += (a & b).count_ones();
            own += b.count_ones();
        }
        for (a, b) in rest.iter().zip(rest_of_row) {
            both += (a & b).count_ones();
            own += b.count_ones();
        }
        (both, own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;
    use proptest::prelude::*;

    fn bytes(row: &[f32]) -> Vec<u8> {
        row.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn halves(row: &[f32]) -> Vec<u8> {
        row.iter().flat_map(|number| f16::from_f32(*number).to_le_bytes()).collect()
    }

    fn whole(row: &[f32]) -> Vec<u8> {
        row.iter().map(|number| (*number as i8).cast_unsigned()).collect()
    }

    fn bits(row: &[f32]) -> Vec<u8> {
        let of_byte = |numbers: &[f32]| {
            let ones = numbers.iter().enumerate().map(|(nth, it)| u8::from(*it > 0.0) << (7 - nth));
            ones.sum()
        };
        row.chunks(8).map(of_byte).collect()
    }

    /// All sums, by bits.
    fn all<N: Numbers>(query: &[f32], row: &[u8]) -> [u32; 4] {
        let (both, square) = dot_and_square::<N>(query, row);
        [dot::<N>(query, row), squared_distance::<N>(query, row), both, square].map(f32::to_bits)
    }

    fn portable<N: Numbers>(query: &[f32], row: &[u8]) -> [u32; 4] {
        let (both, square) = dot_and_square::portable::<N>(query, row);
        let others = [dot::portable::<N>(query, row), squared_distance::portable::<N>(query, row)];
        [others[0], others[1], both, square].map(f32::to_bits)
    }

    proptest! {
        #[test]
        fn all_steps_give_the_same_bits(pairs in prop::collection::vec((-1e3f32..1e3, -120f32..120.0), 0..100)) {
            let (query, row): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let (words, halves, whole, bits) = (bytes(&row), halves(&row), whole(&row), bits(&row));
            let of_words = portable::<F32>(&query, &words);
            let of_halves = portable::<F16>(&query, &halves);
            let of_whole = portable::<I8>(&query, &whole);
            let of_bits = portable::<Bits>(&query, &bits);
            let ones = ones_in_common::portable(&bits, &halves);
            for () in crate::simd::each_step() {
                prop_assert_eq!(all::<F32>(&query, &words), of_words);
                prop_assert_eq!(all::<F16>(&query, &halves), of_halves);
                prop_assert_eq!(all::<I8>(&query, &whole), of_whole);
                prop_assert_eq!(all::<Bits>(&query, &bits), of_bits);
                prop_assert_eq!(ones_in_common(&bits, &halves), ones);
            }
            // Sums are those of the same numbers of 32 bits.
            let wide: Vec<f32> = row.iter().map(|number| f16::from_f32(*number).to_f32()).collect();
            prop_assert_eq!(of_halves, portable::<F32>(&query, &bytes(&wide)));
            let wide: Vec<f32> = row.iter().map(|number| number.trunc() + 0.0).collect();
            prop_assert_eq!(of_whole, portable::<F32>(&query, &bytes(&wide)));
            let wide: Vec<f32> = row.iter().map(|number| f32::from(u8::from(*number > 0.0))).collect();
            prop_assert_eq!(of_bits, portable::<F32>(&query, &bytes(&wide)));
        }

        #[test]
        fn ones_are_counted_as_sums_of_numbers(pairs in prop::collection::vec((any::<bool>(), any::<bool>()), 0..300)) {
            let number = |is_one| if is_one { 1.0f32 } else { 0.0 };
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().map(|(a, b)| (number(a), number(b))).unzip();
            let (both, own) = ones_in_common(&bits(&a), &bits(&b));
            prop_assert_eq!((both as f32, own as f32), dot_and_square::<Bits>(&a, &bits(&b)));
        }
    }

    #[test]
    fn sums_are_those_of_exact_numbers() {
        for n in [0, 1, 15, 16, 17, 47, 48, 384] {
            let query: Vec<f32> = (0..n).map(|at| (at % 7) as f32 - 3.0).collect();
            let row: Vec<f32> = (0..n).map(|at| (at % 5) as f32 - 1.0).collect();
            let pairs = || query.iter().zip(&row).map(|(a, b)| (f64::from(*a), f64::from(*b)));
            let exact = |of: fn((f64, f64)) -> f64| pairs().map(of).sum::<f64>() as f32 + 0.0;
            let sums = [
                exact(|(a, b)| a * b),
                exact(|(a, b)| (a - b) * (a - b)),
                exact(|(a, b)| a * b),
                exact(|(_, b)| b * b),
            ];
            let sums = sums.map(f32::to_bits);
            assert_eq!(all::<F32>(&query, &bytes(&row)), sums);
            assert_eq!(all::<F16>(&query, &halves(&row)), sums);
            assert_eq!(all::<I8>(&query, &whole(&row)), sums);
        }
    }

    #[test]
    fn numbers_of_16_bits_are_widened_exactly() {
        for bits in (0..=u16::MAX).filter(|bits| f16::from_bits(*bits).is_finite()) {
            assert_eq!(of_f16(bits).to_bits(), f16::from_bits(bits).to_f32().to_bits(), "{bits:x}");
        }
    }

    /// Rows that are damaged have other lengths.
    #[test]
    fn sums_end_with_the_shorter() {
        let (query, row) = ([1.0; 40], [0xFF; 9]);
        assert_eq!(dot::<F32>(&query[..3], &[0, 0, 128, 63, 0, 0, 128]), 1.0);
        assert_eq!((dot::<Bits>(&query, &row), dot::<Bits>(&query, &row[..4])), (40.0, 32.0));
        assert_eq!((dot::<I8>(&query[..15], &row), dot::<I8>(&query[..3], &row)), (-9.0, -3.0));
        assert_eq!(dot::<F16>(&query[..3], &[0, 60, 0]), 1.0);
    }
}
