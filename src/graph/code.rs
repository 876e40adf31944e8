//! Codes of vectors: 8 bits a number, by which graphs are built and walked. The nearest are compared by the vectors themselves in
//! the end.
//!
//! A code has the numbers of a vector divided by a scale of its own, so that the greatest becomes 127. Nothing is learnt
//! from other vectors, so a vector has the same code in every segment. Distances are those of the vectors that the codes stand
//! for: what rounding did to two vectors near each other mostly does not show then, as it does not in lengths that are taken
//! from the vectors. All numbers are computed in one order and without fused multiply-add, so they are the same on
//! all processors.
//!
//! # Inner products
//!
//! A greater product is no smaller distance: the longest vectors are near to all. A graph is built as if vectors had one number
//! more, that makes all as long as the longest; the nearest of them by distance have the greatest products then. Walks compare
//! products.
//!
//! # Bounds
//!
//! Rounding takes from some numbers of a vector and adds to others in no order, so that it mostly cancels out in a sum over all:
//! by Hoeffding's inequality one side of an inner product is off by more than [`RANGES`] times the root of the sum of the squares of
//! the ranges at most 3 times of 10,000. The bound that always holds, half a step in each number, is many times that.

use super::spill::SpilledBytes;
use crate::schema::Metric;
use crate::simd::codes::{TOGETHER, dot, dots, sum};
use crate::simd::prefetch::prefetch;
use crate::storage::give_back_free_memory;

/// Greatest number of a code.
const GREATEST: f64 = 127.0;

/// Root of summed squared ranges that a product is taken to be off by at the most.
const RANGES: f64 = 2.0;
/// Part of summed squared lengths that sums of 32 bits are taken to be off by at the most.
const ROUNDED: f64 = 1e-6;

/// Codes that are [read ahead](Codes::read_ahead) at once where all are gone through.
pub(crate) const READ_AHEAD: usize = 4_096;

/// Measures of the vector that a code stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Measures {
    /// By which the numbers of the code are multiplied.
    pub(crate) scale: f32,
    /// Squared length.
    pub(crate) square: f32,
}

/// Appends the code of a vector. Under the cosine it is that of the vector of length 1 in its direction.
pub(crate) fn encode(
    metric: Metric,
    numbers: impl ExactSizeIterator<Item = f32> + Clone,
    code: &mut Vec<u8>,
) -> Measures {
    let numbers = numbers.map(f64::from);
    let greatest = numbers.clone().fold(0.0, |greatest, number| number.abs().max(greatest));
    if greatest == 0.0 {
        code.resize(code.len() + numbers.len(), 0);
        return Measures::default();
    }
    let length = match metric {
        Metric::Cosine => numbers.clone().map(|number| number * number).sum::<f64>().sqrt(),
        _ => 1.0,
    };
    let (steps, mut square) = (GREATEST / greatest, 0);
    code.extend(numbers.map(|number| {
        let number = nearest_even(number * steps) as i8;
        square += i64::from(number) * i64::from(number);
        number.cast_unsigned()
    }));
    let scale = (greatest / GREATEST / length) as f32;
    let square = f64::from(scale) * f64::from(scale) * square as f64;
    Measures { scale, square: square as f32 }
}

/// The nearest whole number, of two the even one. Adding leaves no bits for a fraction, which is one instruction everywhere.
fn nearest_even(number: f64) -> f64 {
    const UNIT_IS_LAST_BIT: f64 = 1.5 * (1u64 << 52) as f64;
    (number + UNIT_IS_LAST_BIT) - UNIT_IS_LAST_BIT
}

/// Code of a vector that others are compared with.
#[derive(Debug)]
pub(crate) struct Target {
    metric: Metric,
    code: Vec<u8>,
    sum: i32,
    measures: Measures,
}

impl Target {
    pub(crate) fn new(metric: Metric, numbers: impl ExactSizeIterator<Item = f32> + Clone) -> Self {
        let mut code = vec![];
        let measures = encode(metric, numbers, &mut code);
        Target { metric, sum: sum(&code), code, measures }
    }

    /// A target by its code.
    pub(crate) fn of_code(metric: Metric, code: &[u8], measures: Measures) -> Self {
        Target { metric, sum: sum(code), code: code.to_vec(), measures }
    }

    /// Distance of a vector by its code, as long as that of the target; of inner products the negative one. The less the nearer.
    #[inline]
    pub(crate) fn distance(&self, code: &[u8], measures: Measures) -> f32 {
        let product = dot(&self.code, self.sum, code);
        distance(self.metric, self.measures, measures, product)
    }

    /// The least distance that the vector of a code may have, given [that of the code](Self::distance).
    pub(crate) fn least_distance(&self, distance: f32, measures: Measures) -> f32 {
        let squares = [self.measures, measures].map(|it| f64::from(it.square));
        let steps = [self.measures, measures].map(|it| f64::from(it.scale).powi(2));
        let distance = f64::from(distance);
        let off = match self.metric {
            Metric::Dot => RANGES * (squares[0] * steps[1] + squares[1] * steps[0]).sqrt(),
            // Each number of the difference of both is off by a step of each.
            _ => 2.0 * RANGES * (distance.max(0.0) * (steps[0] + steps[1])).sqrt(),
        };
        (distance - off - ROUNDED * (squares[0] + squares[1])) as f32
    }

    /// [Distances](Self::distance) of some vectors, which take less together; bytes may follow the codes.
    #[inline]
    pub(crate) fn distances(
        &self,
        codes: [&[u8]; TOGETHER],
        measures: [Measures; TOGETHER],
    ) -> [f32; TOGETHER] {
        let products = dots(&self.code, self.sum, codes);
        std::array::from_fn(|nth| {
            distance(self.metric, self.measures, measures[nth], products[nth])
        })
    }
}

/// Distance of two vectors by the product of their codes.
#[inline]
pub(super) fn distance(metric: Metric, a: Measures, b: Measures, product: i32) -> f32 {
    let product = product as f32 * (a.scale * b.scale);
    match metric {
        Metric::Dot => -product,
        _ => (a.square + b.square) - 2.0 * product,
    }
}

/// Codes of vectors that a graph is built of.
#[derive(Debug)]
pub(crate) struct Codes {
    metric: Metric,
    dims: usize,
    bytes: SpilledBytes,
    /// Place in the bytes of the code of each vector; empty if each has its own.
    places: Vec<u32>,
    /// Vector of each place, where these are [arranged](Self::arranged); else empty.
    order: Vec<u32>,
    measures: Vec<Measures>,
    sums: Vec<i32>,
}

impl Codes {
    /// No codes yet of vectors of so many numbers, at least one.
    #[cfg(test)]
    pub(crate) fn new(metric: Metric, dims: u16) -> Self {
        let dims = usize::from(dims.max(1));
        let (bytes, places) = (SpilledBytes::default(), vec![]);
        Codes { metric, dims, bytes, places, order: vec![], measures: vec![], sums: vec![] }
    }

    /// Appends the code of a vector.
    #[cfg(test)]
    pub(crate) fn push(&mut self, numbers: impl ExactSizeIterator<Item = f32> + Clone) {
        let SpilledBytes::Memory(bytes) = &mut self.bytes else { return };
        let first = bytes.len();
        self.measures.push(encode(self.metric, numbers, bytes));
        bytes.resize(first + self.dims, 0);
        self.sums.push(sum(&bytes[first..]));
    }

    /// Codes of vectors at some places of others, as many as there are measures; at its own each, if there are no places.
    pub(super) fn of(
        (metric, dims): (Metric, u16),
        bytes: SpilledBytes,
        places: Vec<u32>,
        measures: Vec<Measures>,
        sums: Vec<i32>,
    ) -> Self {
        let dims = usize::from(dims.max(1));
        Codes { metric, dims, bytes, places, order: vec![], measures, sums }
    }

    /// Codes of other bytes, which have them in such an order of the vectors.
    pub(super) fn arranged(&self, bytes: SpilledBytes, order: Vec<u32>) -> Self {
        let mut places = vec![0; order.len()];
        (0..).zip(&order).for_each(|(place, at)| places[*at as usize] = place);
        bytes.read_in_any_order();
        let (measures, sums) = (self.measures.clone(), self.sums.clone());
        Codes { metric: self.metric, dims: self.dims, bytes, places, order, measures, sums }
    }

    /// Codes of some of the vectors, in memory.
    pub(crate) fn some(&self, vectors: impl Iterator<Item = u32> + Clone) -> Self {
        Codes {
            metric: self.metric,
            dims: self.dims,
            bytes: SpilledBytes::Memory(
                vectors.clone().flat_map(|at| self.code(at)).copied().collect(),
            ),
            places: vec![],
            order: vec![],
            measures: vectors.clone().map(|at| self.measures(at)).collect(),
            sums: vectors.map(|at| self.sum(at)).collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.measures.len()
    }

    pub(crate) fn dims(&self) -> usize {
        self.dims
    }

    pub(crate) fn metric(&self) -> Metric {
        self.metric
    }

    /// Numbers of the code of a vector.
    #[inline]
    pub(crate) fn code(&self, at: u32) -> &[u8] {
        let place = self.places.get(at as usize).copied().unwrap_or(at);
        &self.bytes[place as usize * self.dims..][..self.dims]
    }

    /// Whether the system may have to read codes from a disk.
    pub(super) fn is_in_file(&self) -> bool {
        matches!(self.bytes, SpilledBytes::File(_))
    }

    /// Leaves memory that was freed to the pages of codes, if they are in a file.
    pub(super) fn leave_memory(&self) {
        if self.is_in_file() {
            give_back_free_memory();
        }
    }

    /// Number of a vector among all as they are arranged, so that those near each other come one after the other; its own if
    /// nobody arranged them.
    #[inline]
    pub(super) fn rank(&self, at: u32) -> u32 {
        if self.order.is_empty() { at } else { self.places[at as usize] }
    }

    /// Vector of a [rank](Self::rank).
    #[inline]
    pub(super) fn at_rank(&self, rank: u32) -> u32 {
        self.order.get(rank as usize).copied().unwrap_or(rank)
    }

    /// Has the system read codes of some vectors from the disk, if they are in a file, while this thread goes on.
    pub(crate) fn read_ahead(&self, vectors: impl Iterator<Item = u32>) {
        /// Bytes that are read along rather than asked for twice.
        const GAP: usize = 16 << 10;
        if !self.is_in_file() {
            return;
        }
        let place = |at: u32| self.places.get(at as usize).copied().unwrap_or(at);
        let mut places: Vec<u32> = vectors.map(place).collect();
        places.sort_unstable();
        let near = |a: &u32, b: &u32| (b - a) as usize * self.dims <= GAP;
        for places in places.chunk_by(near) {
            let (Some(first), Some(last)) = (places.first(), places.last()) else { continue };
            self.bytes.read_ahead(*first as usize * self.dims..(*last as usize + 1) * self.dims);
        }
    }

    #[inline]
    pub(crate) fn measures(&self, at: u32) -> Measures {
        self.measures[at as usize]
    }

    #[inline]
    pub(super) fn sum(&self, at: u32) -> i32 {
        self.sums[at as usize]
    }

    #[inline]
    pub(crate) fn prefetch(&self, at: u32) {
        prefetch(self.code(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exact(metric: Metric, a: &[f32], b: &[f32]) -> f64 {
        let pairs = || a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)));
        let dot: f64 = pairs().map(|(a, b)| a * b).sum();
        let length = |of: &[f32]| of.iter().map(|n| f64::from(*n).powi(2)).sum::<f64>().sqrt();
        match metric {
            Metric::Dot => -dot,
            Metric::Cosine => 2.0 - 2.0 * dot / (length(a) * length(b)),
            Metric::L2 => pairs().map(|(a, b)| (a - b) * (a - b)).sum(),
        }
    }

    proptest! {
        #[test]
        fn distances_of_codes_are_about_those_of_vectors(
            pairs in prop::collection::vec((-1f32..1.0, -1f32..1.0), 1..200), scale in -30i32..30,
        ) {
            let scale = 2f32.powi(scale);
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().map(|(a, b)| (a * scale + scale, b * scale)).unzip();
            prop_assume!(b.iter().any(|n| n.abs() > scale * 0.1));
            for metric in [Metric::Cosine, Metric::Dot, Metric::L2] {
                let mut codes = Codes::new(metric, b.len() as u16);
                codes.push(b.iter().copied());
                let target = Target::new(metric, a.iter().copied());
                let found = f64::from(target.distance(codes.code(0), codes.measures(0)));
                // Each number is off by half a step at most, and those of the other are as great as the greatest.
                let steps = 6.0 * a.len() as f64 / 127.0;
                let bound = if metric == Metric::Cosine { steps } else { steps * f64::from(scale).powi(2) };
                prop_assert!((found - exact(metric, &a, &b)).abs() <= bound, "{metric:?} {found}");
            }
        }
    }

    #[test]
    fn numbers_of_a_code_are_rounded_to_the_nearest_even() {
        let mut code = vec![];
        let numbers = [127.0f32, 0.5, 1.5, -0.5, -1.5, 2.4, -127.0];
        let measures = encode(Metric::L2, numbers.iter().copied(), &mut code);
        assert_eq!(code.iter().map(|n| *n as i8).collect::<Vec<_>>(), [127, 0, 2, 0, -2, 2, -127]);
        assert_eq!(measures, Measures { scale: 1.0, square: 127.0 * 127.0 * 2.0 + 12.0 });
    }

    #[test]
    fn vectors_of_zeros_and_of_next_to_nothing_have_codes() {
        for metric in [Metric::Cosine, Metric::Dot, Metric::L2] {
            let mut codes = Codes::new(metric, 3);
            codes.push([0.0; 3].into_iter());
            codes.push([f32::from_bits(1), 0.0, -0.0].into_iter());
            assert_eq!(
                (codes.len(), codes.code(0), codes.code(1)),
                (2, &[0; 3][..], &[127, 0, 0][..])
            );
            assert_eq!(codes.measures(0), Measures::default());
            assert!(codes.measures(1).square.is_finite() && codes.measures(1).scale.is_finite());
        }
    }

    #[test]
    fn a_direction_has_one_code_under_the_cosine() {
        let mut codes = Codes::new(Metric::Cosine, 4);
        for scale in [1.0, 0.125, 1024.0] {
            codes.push([3.0, -1.0, 0.5, 2.0].map(|n: f32| n * scale).into_iter());
        }
        assert!(
            (1..3).all(
                |at| codes.code(at) == codes.code(0) && codes.measures(at) == codes.measures(0)
            )
        );
        assert!((codes.measures(0).square - 1.0).abs() < 0.01);
    }
}
