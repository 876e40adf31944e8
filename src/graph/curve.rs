//! Recall of walks, measured.
//!
//! Vectors of the graph are looked for as if they were not in it: walks do not come to them. Whatever led to one leads to the nearest
//! of those that it leads to instead, since a graph without it would have a link there, too.
//!
//! Walks over a graph of a few thousand vectors that have [codes of a bit](super::bit_code) compare these, and what they keep is
//! compared by codes of a byte a number as a search compares vectors: as long as the bound of a code does not prove that it is
//! farther than the nearest so far.
//!
//! The true nearest are found by comparing all, many vectors at a time.

use super::bit_code::{BitCodes, BitTarget};
use super::code::{Codes, READ_AHEAD, Target, distance};
use super::crew;
use super::hash::hash_of_code;
use super::seen::Seen;
use super::walk::{Counts, Nodes, Scratch, walk};
use super::{Graph, enter};
use crate::error::Result;
use crate::format::graph::bit_codes::code_of_row;
use crate::simd::codes::{GROUP_OF_STRIP, STRIP, Tile, pack, pack_into, tile};
use rayon::ThreadPool;
use std::sync::Arc;

/// Nodes that walks keep at the points of a curve.
pub(crate) const CURVE_EFS: [u16; 12] = [10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448];
/// Vectors that are looked for.
pub(crate) const CURVE_SAMPLES: usize = 256;
/// Nearest that count.
pub(crate) const CURVE_NEAREST: usize = 10;

/// Vectors that samples are compared with in one task.
const TASK: usize = 4_096;

/// Recall and cost of walks that keep so many nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CurvePoint {
    pub(crate) ef: u16,
    /// True nearest that were found, of 10,000.
    pub(crate) recall: u16,
    /// Hops of a walk, rounded up.
    pub(crate) hops: u32,
    /// Distances of a walk, rounded up.
    pub(crate) distances: u32,
}

/// Nodes without one of them.
struct Others<'g> {
    codes: &'g Codes,
    graph: &'g Graph,
    target: &'g Target,
    /// Codes that the walk compares, if they are others, and the target by these.
    bits: Option<(&'g BitCodes, BitTarget)>,
    without: u32,
    /// Nodes whose codes a disk was asked for.
    asked: Seen,
}

impl Nodes for Others<'_> {
    fn n_nodes(&self) -> usize {
        self.graph.order.len()
    }

    fn links(&mut self, node: u32, to: &mut Vec<u32>) -> Result<()> {
        let first = to.len();
        to.extend(self.graph.links.of_node(node));
        if let Some(nth) = to[first..].iter().position(|node| *node == self.without) {
            to.swap_remove(first + nth);
            to.extend(self.instead(node, &to[first..]));
        }
        Ok(())
    }

    fn distance(&mut self, node: u32) -> Result<f32> {
        Ok(self.walked_distance(node))
    }

    fn prefetch(&mut self, nodes: &[u32]) {
        let at = |node: &u32| self.graph.order[*node as usize];
        match &self.bits {
            Some((codes, _)) => nodes.iter().for_each(|node| codes.prefetch(*node)),
            None if self.codes.is_in_file() => {
                let asked = &mut self.asked;
                self.codes.read_ahead(nodes.iter().filter(|node| asked.insert(**node)).map(at));
            }
            None => nodes.iter().for_each(|node| self.codes.prefetch(at(node))),
        }
    }
}

impl Others<'_> {
    fn distance_of(&self, node: u32) -> f32 {
        let at = self.graph.order[node as usize];
        self.target.distance(self.codes.code(at), self.codes.measures(at))
    }

    /// Distance by the codes that the walk compares.
    fn walked_distance(&self, node: u32) -> f32 {
        match &self.bits {
            Some((codes, target)) => target.distance_of_row(codes.row(node)),
            None => self.distance_of(node),
        }
    }

    /// Distances of the nearest that a search returns which kept what a walk has kept.
    fn returned(&self, scratch: &Scratch) -> Vec<f32> {
        let Some((codes, target)) = &self.bits else {
            return scratch.nearest().take(CURVE_NEAREST).map(|(_, distance)| distance).collect();
        };
        let least = |(node, distance)| {
            let code = code_of_row(codes.row(node));
            (code.map_or(distance, |code| target.least_distance(distance, code)), node)
        };
        let mut kept: Vec<(f32, u32)> = scratch.nearest().map(least).collect();
        kept.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut nearest = vec![];
        for (least, node) in kept {
            // Nothing is greater while there are too few.
            if least > last_of(&nearest) {
                break;
            }
            insert(&mut nearest, self.distance_of(node));
        }
        nearest
    }

    /// The nearest of those that the missing node leads to, for a node that led to it.
    fn instead(&self, of: u32, links: &[u32]) -> Option<u32> {
        let at = |node: u32| self.graph.order[node as usize];
        let (code, measures) = (self.codes.code(at(of)), self.codes.measures(at(of)));
        let target = Target::of_code(self.codes.metric(), code, measures);
        let distance =
            |node: u32| target.distance(self.codes.code(at(node)), self.codes.measures(at(node)));
        let others = self.graph.links.of_node(self.without);
        others
            .filter(|node| *node != of && !links.contains(node))
            .min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then(a.cmp(b)))
    }

    /// True nearest that a walk finds.
    fn found(&mut self, ef: u16, farthest: f32, memory: &mut Memory) -> Result<(usize, Counts)> {
        let Memory { scratch, entries } = memory;
        let levels = &self.graph.upper;
        let mut counts =
            enter(levels, self.n_nodes(), |node| Ok(self.walked_distance(node)), scratch, entries)?;
        entries.retain(|node| *node != self.without);
        if entries.is_empty() {
            entries.extend(self.graph.links.of_node(self.without));
        }
        counts += walk(self, entries, usize::from(ef), scratch)?;
        let nearest = self.returned(scratch).into_iter();
        Ok((nearest.filter(|distance| *distance <= farthest).count(), counts))
    }
}

#[derive(Default)]
struct Memory {
    scratch: Scratch,
    entries: Vec<u32>,
}

/// The curve of a graph, which walks go over by codes of bits if it has some: a point for each of [`CURVE_EFS`].
///
/// # Errors
///
/// Whatever the [budget](crate::budget) of this thread says.
pub(crate) fn curve(
    codes: &Arc<Codes>,
    graph: &Arc<Graph>,
    bits: Option<&Arc<BitCodes>>,
    pool: Option<&ThreadPool>,
) -> Result<Vec<CurvePoint>> {
    let samples = samples(codes, graph);
    let n_samples = samples.len();
    let farthest = farthest(codes, samples.iter().map(|node| graph.order[*node as usize]), pool)?;
    let (codes, graph, bits) = (Arc::clone(codes), Arc::clone(graph), bits.cloned());
    let of_samples = crew::map(pool, n_samples, move |nth, _| {
        of_sample((&codes, bits.as_deref()), &graph, samples[nth], farthest[nth])
    })?;
    let mut totals = [(0, 0, Counts::default()); CURVE_EFS.len()];
    for of_sample in of_samples {
        for (total, (found, of, counts)) in totals.iter_mut().zip(of_sample) {
            total.0 += found;
            total.1 += of;
            total.2 += counts;
        }
    }
    let mean = |sum: u64| sum.div_ceil(n_samples.max(1) as u64) as u32;
    let points = CURVE_EFS.iter().zip(&totals).map(|(ef, (found, of, counts))| CurvePoint {
        ef: *ef,
        recall: (found * 10_000).checked_div(*of).unwrap_or(10_000) as u16,
        hops: mean(counts.hops),
        distances: mean(counts.distances),
    });
    Ok(points.collect())
}

/// Nodes of the greatest hashes. Leaders of the build, which have the least, are found more easily than others.
fn samples(codes: &Codes, graph: &Graph) -> Vec<u32> {
    let hash = |node: &u32| {
        let at = graph.order[*node as usize];
        let hash = hash_of_code(codes.code(at), codes.measures(at).scale);
        std::cmp::Reverse((hash, *node))
    };
    let mut nodes: Vec<u32> = (0..graph.order.len() as u32).collect();
    if nodes.len() > CURVE_SAMPLES {
        let mut hashes = Vec::with_capacity(nodes.len());
        for some in nodes.chunks(READ_AHEAD) {
            codes.read_ahead(some.iter().map(|node| graph.order[*node as usize]));
            hashes.extend(some.iter().map(hash));
        }
        nodes.select_nth_unstable_by_key(CURVE_SAMPLES, |node| hashes[*node as usize]);
        nodes.truncate(CURVE_SAMPLES);
        // One after the other in the file of codes, if there is one.
        nodes.sort_unstable();
    }
    nodes
}

/// Some vectors side by side.
struct Samples {
    at: Vec<u32>,
    strips: Vec<(Vec<[u8; GROUP_OF_STRIP]>, [i32; STRIP])>,
}

impl Samples {
    fn new(codes: &Codes, at: Vec<u32>) -> Self {
        let strip = |some: &[u32]| {
            let mut sums = [0; STRIP];
            some.iter().zip(&mut sums).for_each(|(at, sum)| *sum = codes.sum(*at));
            (pack(some.iter().map(|at| codes.code(*at)), codes.dims()), sums)
        };
        Samples { strips: at.chunks(STRIP).map(strip).collect(), at }
    }

    /// Distances of the nearest of some other vectors, by rank, for each.
    fn nearest(&self, codes: &Codes, first: u32, end: u32) -> Vec<Vec<f32>> {
        codes.read_ahead((first..end).map(|rank| codes.at_rank(rank)));
        let mut nearest = vec![vec![]; self.at.len()];
        let (mut others, mut products): (Vec<_>, Tile) = (vec![], [[0; STRIP]; STRIP]);
        for start in (first..end).step_by(STRIP) {
            let some = (start..end.min(start + STRIP as u32)).map(|rank| codes.at_rank(rank));
            others.clear();
            pack_into(some.clone().map(|at| codes.code(at)), codes.dims(), &mut others);
            for (nth, (strip, sums)) in self.strips.iter().enumerate() {
                tile(strip, sums, &others, &mut products);
                let own = self.at.iter().zip(&mut nearest).skip(nth * STRIP);
                for ((at, nearest), products) in own.zip(&products) {
                    let measures = codes.measures(*at);
                    let (metric, mut last) = (codes.metric(), last_of(nearest));
                    for (other, product) in some.clone().zip(products) {
                        let far = distance(metric, measures, codes.measures(other), *product);
                        if far.total_cmp(&last).is_lt() && other != *at {
                            insert(nearest, far);
                            last = last_of(nearest);
                        }
                    }
                }
            }
        }
        nearest
    }
}

/// Distance that is nearer than any that is to be kept.
fn last_of(nearest: &[f32]) -> f32 {
    nearest.get(CURVE_NEAREST - 1).copied().unwrap_or(f32::NAN)
}

/// Keeps a distance among the least.
fn insert(nearest: &mut Vec<f32>, distance: f32) {
    let at = nearest.partition_point(|kept| kept.total_cmp(&distance).is_le());
    nearest.insert(at, distance);
    nearest.truncate(CURVE_NEAREST);
}

/// Distance of the last of the true nearest of each sample; none if there are no others.
fn farthest(
    codes: &Arc<Codes>,
    samples: impl Iterator<Item = u32>,
    pool: Option<&ThreadPool>,
) -> Result<Vec<Option<f32>>> {
    let samples = Samples::new(codes, samples.collect());
    let (n, codes) = (codes.len(), Arc::clone(codes));
    let mut of_tasks = crew::map(pool, n.div_ceil(TASK), move |nth, _| {
        Ok(samples.nearest(&codes, (nth * TASK) as u32, n.min((nth + 1) * TASK) as u32))
    })?
    .into_iter();
    let mut all = of_tasks.next().unwrap_or_default();
    for of_task in of_tasks {
        for (all, some) in all.iter_mut().zip(of_task) {
            some.into_iter().for_each(|distance| insert(all, distance));
        }
    }
    Ok(all.iter().map(|nearest| nearest.last().copied()).collect())
}

/// True nearest of a node that walks find, how many there are, and their work, by point of the curve.
fn of_sample(
    (codes, bits): (&Codes, Option<&BitCodes>),
    graph: &Graph,
    node: u32,
    farthest: Option<f32>,
) -> Result<Vec<(usize, usize, Counts)>> {
    let Some(farthest) = farthest else { return Ok(vec![]) };
    let at = graph.order[node as usize];
    let (metric, code, measures) = (codes.metric(), codes.code(at), codes.measures(at));
    let target = Target::of_code(metric, code, measures);
    let bits = bits.map(|it| (it, BitTarget::of_code(metric, &it.frame, code, measures)));
    let mut asked = Seen::default();
    if bits.is_none() && codes.is_in_file() {
        asked.begin(graph.order.len());
    }
    let mut others = Others { codes, graph, target: &target, bits, without: node, asked };
    let n_nearest = CURVE_NEAREST.min(others.n_nodes() - 1);
    let mut memory = Memory::default();
    let mut points = vec![];
    for ef in CURVE_EFS {
        let (found, counts) = others.found(ef, farthest, &mut memory)?;
        points.push((found, n_nearest, counts));
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::build::{Tuning, build};
    use crate::graph::spill::Room;
    use crate::schema::Metric;

    fn codes(n: usize) -> Arc<Codes> {
        codes_of(Metric::L2, n)
    }

    fn codes_of(metric: Metric, n: usize) -> Arc<Codes> {
        let mut codes = Codes::new(metric, 6);
        let mut state = 11u64;
        for _ in 0..n {
            let numbers: [f32; 6] = std::array::from_fn(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as f32
            });
            codes.push(numbers.into_iter());
        }
        Arc::new(codes)
    }

    #[test]
    fn recall_and_cost_grow_with_what_walks_keep() {
        let codes = codes(2_000);
        let graph = Arc::new(build(&codes, &Tuning::DEFAULT, None, &Room::unlimited()).unwrap());
        let points = curve(&codes, &graph, None, None).unwrap();
        assert_eq!(points.len(), CURVE_EFS.len());
        assert!(
            points
                .windows(2)
                .all(|two| two[0].distances < two[1].distances && two[0].hops < two[1].hops)
        );
        assert!(points[0].recall > 5_000 && points[11].recall > 9_900, "{points:?}");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(curve(&codes, &graph, None, Some(&pool)).unwrap(), points);
    }

    #[test]
    fn the_nearest_are_those_of_a_comparison_of_each() {
        for metric in [Metric::Cosine, Metric::Dot, Metric::L2] {
            for n in [1, 2, 10, 11, 12, 500] {
                let codes = codes_of(metric, n);
                let samples: Vec<u32> = (0..n as u32).step_by(1 + n / 40).collect();
                let found = farthest(&codes, samples.iter().copied(), None).unwrap();
                for (at, found) in samples.into_iter().zip(found) {
                    let target = Target::of_code(metric, codes.code(at), codes.measures(at));
                    let others = (0..n as u32).filter(|other| *other != at);
                    let distance =
                        |other: u32| target.distance(codes.code(other), codes.measures(other));
                    let mut all: Vec<f32> = others.map(distance).collect();
                    all.sort_by(f32::total_cmp);
                    assert_eq!(found, all.get(CURVE_NEAREST.min(n - 1).wrapping_sub(1)).copied());
                }
            }
        }
    }

    #[test]
    fn graphs_of_few_have_curves() {
        for n in [0, 1, 2, 11, 70] {
            let codes = codes(n);
            let graph =
                Arc::new(build(&codes, &Tuning::DEFAULT, None, &Room::unlimited()).unwrap());
            let points = curve(&codes, &graph, None, None).unwrap();
            assert!(points.iter().all(|point| point.recall <= 10_000), "{n}: {points:?}");
            assert_eq!(points[11].recall, 10_000, "{n}");
        }
    }
}
