//! Codes of vectors: a bit a number, by which graphs are walked.
//!
//! Graphs are built by [codes of a byte a number](super::code), of which these are made.
//!
//! A code has the signs of the vector less a centroid, after a rotation that makes any vector look like a random one. Then the sum of
//! another vector's numbers with these signs, times a factor of the code, is about the inner product of both, and it is known how
//! much that may be off: "RaBitQ" (arXiv 2405.12497). The other vector has four bits a number, so that sums are counts of bits.
//!
//! # Bounds
//!
//! An estimate differs from the inner product by a number that is as if drawn at random: the rotation is fixed, but knows nothing of
//! the vectors. Its standard deviation is known, and [`DEVIATIONS`] times that are taken for the most that it is off. So the bound is
//! not one that always holds: it holds about 98 times of 100, and a vector is lost by it only where it is one of the nearest, too.
//! The bound that always holds, by Cauchy and Schwarz, is the square root of the number of dimensions times the deviation: it
//! tells no vectors apart. Curves of graphs are measured with the loss.

use super::code::{Codes, Measures, READ_AHEAD};
use super::hash::mixed;
use super::spill::{Room, SpilledBytes};
use super::{Graph, crew};
use crate::error::Result;
use crate::format::graph::bit_codes::{BitCode, bits_len, code_of_row, encode_row};
use crate::schema::Metric;
use crate::simd::planes::{PLANES, WORD, rotate, weighted_differences};
use crate::simd::prefetch::prefetch;
use rayon::ThreadPool;
use std::sync::Arc;

/// Rounds of a rotation.
const ROUNDS: usize = 4;
/// Seed of the rotation of new segments: any will do.
pub(crate) const SEED: u64 = 0x7472_6565_7069_6521;
/// Standard deviations that an estimate is taken to be off by at the most.
const DEVIATIONS: f64 = 2.0;
/// Greatest number of a vector of four bits a number: these are odd, from its negative one on.
const GREATEST: i32 = (1 << PLANES) - 1;
/// Nodes that are encoded in one task.
const TASK: usize = 1_024;
/// Tasks whose codes are in memory at once.
const TASKS: usize = 64;

/// Origin and rotation of vectors that have codes.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    seed: u64,
    centroid: Vec<f32>,
    /// Words of each round.
    signs: Vec<u64>,
}

impl Frame {
    pub(crate) fn new(seed: u64, centroid: Vec<f32>) -> Self {
        let n_words = centroid.len().div_ceil(WORD) * ROUNDS;
        let word = |nth: u64| mixed(seed.wrapping_add(nth.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        let signs = (1..=n_words as u64).map(word).collect();
        Frame { seed, centroid, signs }
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn centroid(&self) -> &[f32] {
        &self.centroid
    }

    /// Dimensions with those that fill the last word.
    fn n_bits(&self) -> usize {
        self.centroid.len().div_ceil(WORD) * WORD
    }

    fn rotated(&self, mut numbers: Vec<f32>) -> Vec<f32> {
        numbers.resize(self.n_bits(), 0.0);
        rotate(&mut numbers, &self.signs);
        numbers
    }

    /// Appends the row of the vector that a code of a byte a number stands for.
    pub(crate) fn encode(&self, code: &[u8], scale: f32, row: &mut Vec<u8>) {
        let numbers = numbers_of(code, scale).zip(&self.centroid).map(|(number, of)| number - of);
        let numbers = self.rotated(numbers.collect());
        let (mut magnitudes, mut square) = (0.0, 0.0);
        let mut bits = Vec::with_capacity(numbers.len() / 8);
        for numbers in numbers.as_chunks::<8>().0 {
            let mut byte = 0;
            for (nth, number) in numbers.iter().enumerate() {
                magnitudes += f64::from(number.abs());
                square += f64::from(*number) * f64::from(*number);
                byte |= u8::from(*number >= 0.0) << nth;
            }
            bits.push(byte);
        }
        let factor = if magnitudes > 0.0 { (square / magnitudes) as f32 } else { 0.0 };
        encode_row(BitCode { bits: &bits, length: square.sqrt() as f32, factor }, row);
    }
}

/// Numbers that a code of a byte a number stands for.
fn numbers_of(code: &[u8], scale: f32) -> impl ExactSizeIterator<Item = f32> + Clone {
    code.iter().map(move |byte| f32::from(byte.cast_signed()) * scale)
}

/// Mean of vectors, one after the other.
#[derive(Debug)]
pub(crate) struct Mean {
    sums: Vec<f64>,
    n: u64,
}

impl Mean {
    pub(crate) fn new(dims: u16) -> Self {
        Mean { sums: vec![0.0; usize::from(dims)], n: 0 }
    }

    /// Adds the next, by its code of a byte a number.
    pub(crate) fn add(&mut self, code: &[u8], scale: f32) {
        self.n += 1;
        for (sum, byte) in self.sums.iter_mut().zip(code) {
            *sum += f64::from(byte.cast_signed()) * f64::from(scale);
        }
    }

    pub(crate) fn finish(self) -> Vec<f32> {
        let n = self.n.max(1) as f64;
        self.sums.into_iter().map(|sum| (sum / n) as f32).collect()
    }
}

/// Codes of the nodes of a graph, by node.
#[derive(Debug)]
pub(crate) struct BitCodes {
    pub(crate) frame: Frame,
    rows: SpilledBytes,
    row_len: usize,
}

impl BitCodes {
    /// Codes of the nodes of a graph, made of those that it was built by. They are the same with any threads.
    ///
    /// # Errors
    ///
    /// Whatever the [budget](crate::budget) of this thread and temporary files say.
    pub(crate) fn of(
        codes: &Arc<Codes>,
        graph: &Arc<Graph>,
        pool: Option<&ThreadPool>,
        room: &Room,
    ) -> Result<Self> {
        let mut mean = Mean::new(codes.dims() as u16);
        for some in graph.order.chunks(READ_AHEAD) {
            codes.read_ahead(some.iter().copied());
            some.iter().for_each(|at| mean.add(codes.code(*at), codes.measures(*at).scale));
        }
        let frame = Frame::new(SEED, mean.finish());
        let row_len = bits_len(codes.dims() as u16) + size_of::<[f32; 2]>();
        let mut rows = room.writer(4);
        let n_tasks = graph.order.len().div_ceil(TASK);
        for first in (0..n_tasks).step_by(TASKS) {
            let (frame, codes, graph) = (frame.clone(), Arc::clone(codes), Arc::clone(graph));
            let some = crew::map(pool, TASKS.min(n_tasks - first), move |nth, _| {
                let mut some = Vec::with_capacity(TASK * row_len);
                let vectors = graph.order.iter().skip((first + nth) * TASK).take(TASK);
                codes.read_ahead(vectors.clone().copied());
                for at in vectors {
                    frame.encode(codes.code(*at), codes.measures(*at).scale, &mut some);
                }
                Ok(some)
            })?;
            some.iter().try_for_each(|of_task| rows.write(of_task))?;
        }
        Ok(BitCodes { frame, rows: rows.finish()?, row_len })
    }

    /// The row of a node; none of one that is not there.
    #[inline]
    pub(crate) fn row(&self, node: u32) -> &[u8] {
        let start = node as usize * self.row_len;
        self.rows.get(start..start + self.row_len).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn prefetch(&self, node: u32) {
        prefetch(self.row(node));
    }
}

/// A vector that codes are compared with.
#[derive(Debug)]
pub(crate) struct BitTarget {
    metric: Metric,
    /// Four bits of each number after the rotation, word by word.
    planes: Vec<[u64; PLANES]>,
    /// Step of these numbers.
    step: f32,
    /// Squared length of what was rotated, or of inner products that of the vector with the centroid.
    offset: f32,
    /// Squared length of what was rotated, and of what its numbers of four bits are off.
    squares: [f64; 2],
}

impl BitTarget {
    pub(crate) fn new(
        metric: Metric,
        frame: &Frame,
        numbers: impl ExactSizeIterator<Item = f32> + Clone,
    ) -> Self {
        let length = match metric {
            Metric::Cosine => {
                numbers.clone().map(|it| f64::from(it) * f64::from(it)).sum::<f64>().sqrt()
            }
            _ => 1.0,
        };
        let part = if length > 0.0 { 1.0 / length } else { 0.0 };
        let numbers = numbers.map(|number| (f64::from(number) * part) as f32);
        let pairs = || numbers.clone().zip(&frame.centroid);
        // Inner products are estimated from the origin: the part of the centroid in those of a code is not known.
        let rotated = frame.rotated(match metric {
            Metric::Dot => numbers.clone().collect(),
            _ => pairs().map(|(number, of)| number - of).collect(),
        });
        let greatest = rotated.iter().fold(0.0, |greatest: f32, number| greatest.max(number.abs()));
        let step = greatest / (GREATEST + 1) as f32;
        let mut planes = Vec::with_capacity(rotated.len() / WORD);
        let mut squares = [0.0; 2];
        for numbers in rotated.as_chunks::<WORD>().0 {
            let mut words = [0; PLANES];
            for (nth, number) in numbers.iter().enumerate() {
                let place = (number / step + GREATEST as f32 + 1.0) / 2.0;
                // Without a step it is no number, which is 0 then.
                let place = (place as i32).clamp(0, GREATEST);
                for (plane, word) in words.iter_mut().enumerate() {
                    *word |= ((place >> plane) as u64 & 1) << nth;
                }
                let off = f64::from(*number) - f64::from(step) * f64::from(2 * place - GREATEST);
                squares[0] += f64::from(*number) * f64::from(*number);
                squares[1] += off * off;
            }
            planes.push(words);
        }
        let offset = match metric {
            Metric::Dot => pairs().map(|(number, of)| f64::from(number) * f64::from(*of)).sum(),
            _ => squares[0],
        };
        BitTarget { metric, planes, step, offset: offset as f32, squares }
    }

    /// A target by its code of a byte a number.
    pub(crate) fn of_code(metric: Metric, frame: &Frame, code: &[u8], measures: Measures) -> Self {
        BitTarget::new(metric, frame, numbers_of(code, measures.scale))
    }

    fn n_bits(&self) -> usize {
        self.planes.len() * WORD
    }

    /// About the distance of a vector by its code; of inner products the negative one. The less the nearer.
    #[inline]
    pub(crate) fn distance(&self, code: BitCode<'_>) -> f32 {
        let differences = weighted_differences(code.bits, &self.planes) as i32;
        let sum = GREATEST * self.n_bits() as i32 - 2 * differences;
        let product = code.factor * self.step * sum as f32;
        match self.metric {
            Metric::Dot => -(self.offset + product),
            _ => (self.offset + code.length * code.length) - 2.0 * product,
        }
    }

    /// Distance by the code of a row; far where it has too few bytes.
    #[inline]
    pub(crate) fn distance_of_row(&self, row: &[u8]) -> f32 {
        code_of_row(row).map_or(f32::MAX, |code| self.distance(code))
    }

    /// The least distance that the vector of a code may have, given [that of the code](Self::distance).
    pub(crate) fn least_distance(&self, distance: f32, code: BitCode<'_>) -> f32 {
        let (length, factor) = (f64::from(code.length), f64::from(code.factor));
        let product = match self.metric {
            Metric::Dot => -f64::from(distance) - f64::from(self.offset),
            _ => (f64::from(self.offset) + length * length - f64::from(distance)) / 2.0,
        };
        let [square, off] = self.squares;
        let n = self.n_bits() as f64;
        // Squared length that the code's own direction leaves out, for each unit of what is across it.
        let spread = (factor * factor * n - length * length).max(0.0) / (n - 1.0);
        let error = |across: f64| DEVIATIONS * (spread * across + factor * factor * off).sqrt();
        // The part along the vector of the code is estimated without error.
        let along = (product.abs() - error(square)).max(0.0) / length.max(f64::MIN_POSITIVE);
        let error = error((square - along * along).max(0.0));
        let least = match self.metric {
            Metric::Dot => f64::from(distance) - error,
            _ => f64::from(distance) - 2.0 * error,
        };
        least as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::code::{Codes, Target};
    use crate::graph::spill::Room;
    use rayon::ThreadPoolBuilder;

    struct Random(u64);

    impl Random {
        /// From −1 to 1.
        fn number(&mut self) -> f32 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
        }

        /// Vectors about a few centres, away from the origin.
        fn vectors(&mut self, n: usize, dims: usize) -> Vec<Vec<f32>> {
            let centres: Vec<Vec<f32>> =
                (0..5).map(|_| (0..dims).map(|_| self.number() + 0.5).collect()).collect();
            let mut about =
                |nth: usize| centres[nth % 5].iter().map(|it| it + self.number()).collect();
            (0..n).map(&mut about).collect()
        }
    }

    /// Codes of vectors, each of which is a node.
    fn codes(metric: Metric, vectors: &[Vec<f32>]) -> (Arc<Codes>, Arc<Graph>) {
        let mut codes = Codes::new(metric, vectors[0].len() as u16);
        vectors.iter().for_each(|vector| codes.push(vector.iter().copied()));
        let order = (0..vectors.len() as u32).rev().collect();
        (Arc::new(codes), Arc::new(Graph { order, ..Graph::default() }))
    }

    const METRICS: [Metric; 3] = [Metric::Cosine, Metric::Dot, Metric::L2];

    #[test]
    fn distances_are_estimated_and_bounds_mostly_hold() {
        let mut random = Random(5);
        for dims in [3, 64, 100, 384] {
            let vectors = random.vectors(300, dims);
            for metric in METRICS {
                let (codes, graph) = codes(metric, &vectors);
                let bits = BitCodes::of(&codes, &graph, None, &Room::unlimited()).unwrap();
                let (mut n, mut wrong, mut off, mut all) = (0, 0, 0.0, 0.0);
                for to in random.vectors(20, dims) {
                    let exact = Target::new(metric, to.iter().copied());
                    let target = BitTarget::new(metric, &bits.frame, to.iter().copied());
                    for (node, at) in (0..).zip(&graph.order) {
                        let code = code_of_row(bits.row(node)).unwrap();
                        let distance = target.distance(code);
                        let exact = exact.distance(codes.code(*at), codes.measures(*at));
                        let least = target.least_distance(distance, code);
                        assert!(least <= distance);
                        (n, wrong) = (n + 1, wrong + u32::from(exact < least));
                        off += f64::from(distance - least);
                        all += f64::from(distance - exact).abs();
                    }
                }
                assert!(
                    f64::from(wrong) < 0.03 * f64::from(n),
                    "{metric:?} {dims}: {wrong} of {n}"
                );
                // Two deviations are two and a half times the mean error of what is normal.
                let times = off / all;
                // With few dimensions it is not.
                assert!(dims < 64 || (2.0..3.6).contains(&times), "{metric:?} {dims}: {times}");
            }
        }
    }

    #[test]
    fn a_vector_is_its_own_nearest() {
        let vectors = Random(8).vectors(200, 96);
        let (codes, graph) = codes(Metric::L2, &vectors);
        let bits = BitCodes::of(&codes, &graph, None, &Room::unlimited()).unwrap();
        for node in (0..200).step_by(9) {
            let at = graph.order[node as usize];
            let target =
                BitTarget::of_code(Metric::L2, &bits.frame, codes.code(at), codes.measures(at));
            let distance = |node: &u32| target.distance_of_row(bits.row(*node));
            let nearest = (0..200).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            assert_eq!(nearest, Some(node));
        }
        assert_eq!(bits.row(200), [0u8; 0]);
    }

    #[test]
    fn vectors_that_are_all_the_same_or_nothing_have_codes() {
        for vectors in
            [vec![vec![0.0; 5]; 3], vec![vec![1.0; 5]; 3], vec![vec![f32::from_bits(1); 5]]]
        {
            for metric in METRICS {
                let (codes, graph) = codes(metric, &vectors);
                let bits = BitCodes::of(&codes, &graph, None, &Room::unlimited()).unwrap();
                let target = BitTarget::new(metric, &bits.frame, vectors[0].iter().copied());
                let code = code_of_row(bits.row(0)).unwrap();
                let distance = target.distance(code);
                assert!(distance.is_finite() && target.least_distance(distance, code).is_finite());
            }
        }
    }

    #[test]
    fn threads_memory_and_instructions_do_not_show() {
        let vectors = Random(2).vectors(2_100, 70);
        let (codes, graph) = codes(Metric::Cosine, &vectors);
        let of = |pool: Option<&ThreadPool>| {
            let bits = BitCodes::of(&codes, &graph, pool, &Room::unlimited()).unwrap();
            (bits.frame.centroid().to_vec(), bits.rows.to_vec())
        };
        let expected = of(None);
        assert_eq!(expected.1.len(), 2_100 * (16 + 8));
        for threads in [1, 2, 7] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(of(Some(&pool)) == expected);
        }
        for () in crate::simd::each_step() {
            assert!(of(None) == expected);
        }
    }
}
