//! Sums over the numbers of two vectors: inner products, squared distances, squared lengths.
//!
//! Each adds up in 16 partial sums, which are then added in pairs, always in the same order and without fused
//! multiply-add, so that all instruction sets give the same bits. The rows are little-endian bytes as they lie in a file.

/// Partial sums.
const LANES: usize = 16;
/// Bytes of a number.
const LEN: usize = size_of::<f32>();

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
fn sum(query: &[f32], row: &[u8], of: impl Fn(f32, f32) -> f32) -> f32 {
    let (numbers, _) = row.as_chunks::<LEN>();
    let (of_query, rest_of_query) = query.as_chunks::<LANES>();
    let (of_row, _) = numbers.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in of_query.iter().zip(of_row) {
        for lane in 0..LANES {
            sums[lane] += of(a[lane], f32::from_le_bytes(b[lane]));
        }
    }
    let rest_of_row = numbers.get(of_query.len() * LANES..).unwrap_or_default();
    for ((sum, a), b) in sums.iter_mut().zip(rest_of_query).zip(rest_of_row) {
        *sum += of(*a, f32::from_le_bytes(*b));
    }
    total(sums)
}

kernel! {
    /// Inner product of a vector and a row.
    dot(query: &[f32], row: &[u8]) -> f32 {
        sum(query, row, |a, b| a * b)
    }
}

kernel! {
    /// Squared Euclidean distance of a vector and a row.
    squared_distance(query: &[f32], row: &[u8]) -> f32 {
        sum(query, row, |a, b| (a - b) * (a - b))
    }
}

kernel! {
    /// Inner product of a vector and a row, and of the row with itself.
    dot_and_square(query: &[f32], row: &[u8]) -> (f32, f32) {
        (sum(query, row, |a, b| a * b), sum(query, row, |_, b| b * b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(row: &[f32]) -> Vec<u8> {
        row.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    proptest! {
        #[test]
        fn all_steps_give_the_same_bits(pairs in prop::collection::vec((-1e3f32..1e3, -1e3f32..1e3), 0..100)) {
            let (query, row): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let row = bytes(&row);
            let all = || {
                let (both, square) = dot_and_square(&query, &row);
                [dot(&query, &row), squared_distance(&query, &row), both, square].map(f32::to_bits)
            };
            let portable = {
                let (both, square) = dot_and_square::portable(&query, &row);
                let others = [dot::portable(&query, &row), squared_distance::portable(&query, &row)];
                [others[0], others[1], both, square].map(f32::to_bits)
            };
            for () in crate::simd::each_step() {
                prop_assert_eq!(all(), portable);
            }
        }
    }

    #[test]
    fn sums_are_those_of_exact_numbers() {
        for n in [0, 1, 15, 16, 17, 47, 48, 384] {
            let query: Vec<f32> = (0..n).map(|at| (at % 7) as f32 - 3.0).collect();
            let row: Vec<f32> = (0..n).map(|at| (at % 5) as f32 - 1.0).collect();
            let pairs = || query.iter().zip(&row).map(|(a, b)| (f64::from(*a), f64::from(*b)));
            let exact = |of: fn((f64, f64)) -> f64| pairs().map(of).sum::<f64>() as f32;
            let row = bytes(&row);
            assert_eq!(dot(&query, &row), exact(|(a, b)| a * b));
            assert_eq!(squared_distance(&query, &row), exact(|(a, b)| (a - b) * (a - b)));
            assert_eq!(dot_and_square(&query, &row).1, exact(|(_, b)| b * b));
        }
    }
}
