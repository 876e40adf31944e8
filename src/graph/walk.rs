//! Walks over a graph, best first.
//!
//! A walk goes on from the nearest node that it has not gone on from. It keeps the `ef` nearest nodes that it has seen, and
//! ends when it has gone on from all of them. The more it keeps, the more of the true nearest are among them, and the longer it
//! takes.

use super::seen::Seen;
use crate::budget::{self, ns};
use crate::error::{Error, Result};
use crate::sums::sums;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Nodes and what they lead to, as a file or memory has them.
pub(crate) trait Nodes {
    fn n_nodes(&self) -> usize;

    /// Appends the neighbours of a node.
    ///
    /// # Errors
    ///
    /// Whatever reading says.
    fn links(&mut self, node: u32, to: &mut Vec<u32>) -> Result<()>;

    /// Distance of a node, or anything that grows with it.
    ///
    /// # Errors
    ///
    /// Whatever reading says.
    fn distance(&mut self, node: u32) -> Result<f32>;

    /// Appends the distance of each of some nodes.
    ///
    /// # Errors
    ///
    /// Whatever reading says.
    fn distances(&mut self, nodes: &[u32], to: &mut Vec<f32>) -> Result<()> {
        for node in nodes {
            to.push(self.distance(*node)?);
        }
        Ok(())
    }

    /// Begins to load what the distances of some nodes need.
    fn prefetch(&mut self, _nodes: &[u32]) {}

    /// Whether a node may be found, in a walk [among](walk_among) some.
    ///
    /// # Errors
    ///
    /// Whatever reading says.
    fn is_wanted(&mut self, _node: u32) -> Result<bool> {
        Ok(true)
    }
}

/// Work of walks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Nodes that were gone on from.
    pub(crate) hops: u64,
    /// Nodes whose distance was computed.
    pub(crate) distances: u64,
    /// Nodes of which it was asked whether they are wanted.
    pub(crate) tests: u64,
    /// Wanted ones of these.
    pub(crate) wanted: u64,
}

sums! {
    Counts: hops, distances, tests, wanted;
}

/// A node that a walk keeps.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// Distance and node, as a number that has their order.
    key: u64,
    is_open: bool,
}

/// Memory of walks, which one after the other uses.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Nodes that are kept, the nearest first.
    kept: Vec<Kept>,
    seen: Seen,
    links: Vec<u32>,
    /// Distances of those of the links that are compared.
    distances: Vec<f32>,
    /// Nodes that were gone on from.
    gone_on: Vec<u32>,
    /// Nodes that a walk among some may go on from, the nearest on top.
    open: BinaryHeap<Reverse<u64>>,
    /// Nodes that are not wanted, and such ones whose neighbours were looked at.
    unwanted: Seen,
    passed: Seen,
}

impl Scratch {
    /// Nodes that the last walk kept with their distances, the nearest first. Of nodes of equal distance the lower first.
    pub(crate) fn nearest(&self) -> impl ExactSizeIterator<Item = (u32, f32)> {
        self.kept.iter().map(|kept| (kept.key as u32, distance_of(kept.key)))
    }

    /// Nodes that the last walk compared or, among some, asked about.
    pub(crate) fn seen(&self) -> impl Iterator<Item = u32> {
        self.seen.nodes()
    }

    /// Nodes that the last walk has gone on from.
    pub(crate) fn gone_on(&self) -> &[u32] {
        &self.gone_on
    }

    /// Bytes of what walks over so many nodes need.
    pub(crate) fn bytes(n_nodes: usize) -> u64 {
        3 * Seen::bytes(n_nodes)
    }

    /// Whether a node is near enough to be among the `ef` nearest.
    #[inline]
    fn is_near(&self, key: u64, ef: usize) -> bool {
        key < bound_of(&self.kept, ef)
    }
}

/// Key below which a node is among the `ef` nearest of those kept.
#[inline]
fn bound_of(kept: &[Kept], ef: usize) -> u64 {
    if kept.len() < ef { u64::MAX } else { kept.last().map_or(0, |last| last.key) }
}

/// Keeps a node that is below the [bound](bound_of), and says at which place.
#[inline]
fn keep(kept: &mut Vec<Kept>, key: u64, ef: usize) -> usize {
    if kept.len() >= ef {
        kept.pop();
    }
    let at = kept.partition_point(|kept| kept.key < key);
    kept.insert(at, Kept { key, is_open: true });
    at
}

/// A number that has the order of distances, and among equal ones that of nodes.
#[inline]
pub(super) fn key_of(distance: f32, node: u32) -> u64 {
    let bits = distance.to_bits();
    let ordered = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
    u64::from(ordered) << 32 | u64::from(node)
}

#[inline]
pub(super) fn distance_of(key: u64) -> f32 {
    let ordered = (key >> 32) as u32;
    f32::from_bits(if ordered >> 31 == 1 { ordered & !(1 << 31) } else { !ordered })
}

/// Walks from some nodes to the `ef` nearest, which the scratch has then.
///
/// # Errors
///
/// Whatever the nodes say; [`Corrupt`](crate::error::ErrorKind::Corrupt) where a node leads to one that is not there; those of the
/// [budget] of this thread.
pub(crate) fn walk(
    nodes: &mut impl Nodes,
    entries: &[u32],
    ef: usize,
    scratch: &mut Scratch,
) -> Result<Counts> {
    let mut counts = Counts::default();
    scratch.kept.clear();
    scratch.gone_on.clear();
    scratch.seen.begin(nodes.n_nodes());
    scratch.links.clear();
    scratch.links.extend_from_slice(entries);
    visit(nodes, ef, scratch, &mut counts)?;
    let mut next = 0;
    while let Some(kept) = scratch.kept.get_mut(next) {
        if !kept.is_open {
            next += 1;
            continue;
        }
        kept.is_open = false;
        let node = kept.key as u32;
        counts.hops += 1;
        scratch.gone_on.push(node);
        budget::work(ns::LINKS_WALKED)?;
        scratch.links.clear();
        nodes.links(node, &mut scratch.links)?;
        next = visit(nodes, ef, scratch, &mut counts)?.min(next + 1);
    }
    Ok(counts)
}

/// Nodes that a walk among some goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Through {
    /// All: those that are not wanted lead on, and are not kept.
    All,
    /// Wanted ones, and the neighbours of others next to them: only what is wanted is compared.
    Wanted,
}

/// Reason for the end of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// None that is open is as near as the farthest that is kept.
    Beam,
    /// None is open, and fewer are kept than there was room for.
    Exhausted,
    /// It took as much as it was allowed to.
    Spent,
}

/// Walks from some nodes to the `ef` nearest of those that are wanted, as long as `goes_on` says so.
///
/// # Errors
///
/// The errors of [`walk`].
pub(crate) fn walk_among(
    nodes: &mut impl Nodes,
    entries: &[u32],
    (ef, through): (usize, Through),
    goes_on: impl Fn(Counts) -> bool,
    scratch: &mut Scratch,
) -> Result<(Counts, Ended)> {
    let mut counts = Counts::default();
    scratch.kept.clear();
    scratch.gone_on.clear();
    scratch.open.clear();
    for seen in [&mut scratch.seen, &mut scratch.unwanted, &mut scratch.passed] {
        seen.begin(nodes.n_nodes());
    }
    scratch.links.clear();
    scratch.links.extend_from_slice(entries);
    // Wherever it enters, it has to begin.
    compare(nodes, (ef, Through::All), scratch, &mut counts)?;
    while let Some(Reverse(key)) = scratch.open.pop() {
        if !scratch.is_near(key, ef) {
            return Ok((counts, Ended::Beam));
        }
        if !goes_on(counts) {
            return Ok((counts, Ended::Spent));
        }
        counts.hops += 1;
        scratch.gone_on.push(key as u32);
        budget::work(ns::LINKS_WALKED)?;
        scratch.links.clear();
        nodes.links(key as u32, &mut scratch.links)?;
        if through == Through::Wanted {
            pass_unwanted(nodes, scratch, &mut counts)?;
        }
        compare(nodes, (ef, through), scratch, &mut counts)?;
    }
    let is_full = scratch.kept.len() == ef;
    Ok((counts, if is_full { Ended::Beam } else { Ended::Exhausted }))
}

/// Compares those of the links that are seen for the first time, and keeps those that are near enough and wanted.
fn compare(
    nodes: &mut impl Nodes,
    (ef, through): (usize, Through),
    scratch: &mut Scratch,
    counts: &mut Counts,
) -> Result<()> {
    measure(nodes, scratch, counts)?;
    for at in 0..scratch.links.len() {
        let node = scratch.links[at];
        let key = key_of(scratch.distances[at], node);
        if scratch.is_near(key, ef) {
            scratch.open.push(Reverse(key));
            // It was asked before where only those that are wanted are compared.
            let is_wanted = through == Through::Wanted || test(nodes, node, counts)?;
            if is_wanted {
                keep(&mut scratch.kept, key, ef);
            }
        }
    }
    Ok(())
}

/// Replaces those of the links that are not wanted by their neighbours that are, each once.
fn pass_unwanted(nodes: &mut impl Nodes, scratch: &mut Scratch, counts: &mut Counts) -> Result<()> {
    let mut links = std::mem::take(&mut scratch.links);
    let n_links = links.len();
    let mut n_wanted = 0;
    for at in 0..n_links {
        let node = links[at];
        if is_wanted(nodes, node, scratch, counts)? {
            links[n_wanted] = node;
            n_wanted += 1;
        } else if scratch.passed.insert(node) {
            counts.hops += 1;
            budget::work(ns::LINKS_WALKED)?;
            nodes.links(node, &mut links)?;
        }
    }
    for at in n_links..links.len() {
        let node = links[at];
        if is_wanted(nodes, node, scratch, counts)? {
            links[n_wanted] = node;
            n_wanted += 1;
        }
    }
    links.truncate(n_wanted);
    scratch.links = links;
    Ok(())
}

fn test(nodes: &mut impl Nodes, node: u32, counts: &mut Counts) -> Result<bool> {
    let is_wanted = nodes.is_wanted(node)?;
    counts.tests += 1;
    counts.wanted += u64::from(is_wanted);
    Ok(is_wanted)
}

/// Whether a node is wanted; each is asked once.
fn is_wanted(
    nodes: &mut impl Nodes,
    node: u32,
    scratch: &mut Scratch,
    counts: &mut Counts,
) -> Result<bool> {
    if scratch.seen.contains(node) {
        // Compared before: it does not matter.
        return Ok(true);
    }
    if scratch.unwanted.contains(node) {
        return Ok(false);
    }
    // One that is not there is refused where it would be compared.
    let is_wanted = node as usize >= nodes.n_nodes() || test(nodes, node, counts)?;
    if !is_wanted {
        scratch.unwanted.insert(node);
    }
    Ok(is_wanted)
}

/// Keeps those of the links that are seen for the first time and near enough; the place of the nearest.
fn visit(
    nodes: &mut impl Nodes,
    ef: usize,
    scratch: &mut Scratch,
    counts: &mut Counts,
) -> Result<usize> {
    measure(nodes, scratch, counts)?;
    let Scratch { kept, links, distances, .. } = scratch;
    let mut nearest = usize::MAX;
    // Most are too far: one comparison of each.
    let mut bound = bound_of(kept, ef);
    for (node, distance) in links.iter().zip(distances) {
        let key = key_of(*distance, *node);
        if key < bound {
            nearest = nearest.min(keep(kept, key, ef));
            bound = bound_of(kept, ef);
        }
    }
    Ok(nearest)
}

/// Keeps those of the links that are seen for the first time, and measures their distances.
#[inline]
fn measure(nodes: &mut impl Nodes, scratch: &mut Scratch, counts: &mut Counts) -> Result<()> {
    retain_new(nodes, scratch)?;
    counts.distances += scratch.links.len() as u64;
    scratch.distances.clear();
    nodes.distances(&scratch.links, &mut scratch.distances)
}

/// Keeps those of the links that are seen for the first time.
fn retain_new(nodes: &mut impl Nodes, scratch: &mut Scratch) -> Result<()> {
    let n_nodes = nodes.n_nodes();
    let Scratch { links, seen, .. } = scratch;
    let (mut n_new, mut greatest) = (0, 0);
    for at in 0..links.len() {
        let node = links[at];
        greatest = greatest.max(node);
        links[n_new] = node;
        // Nobody could foretell a branch.
        n_new += usize::from(seen.insert(node));
    }
    if !links.is_empty() && greatest as usize >= n_nodes {
        return Err(Error::corrupt("walking over a graph of neighbours")
            .expected(format!("nodes below {n_nodes}"))
            .found(format!("node {greatest}")));
    }
    links.truncate(n_new);
    nodes.prefetch(links);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::error::ErrorKind;
    use crate::graph::{Adjacency, Level, enter};
    use std::collections::BTreeSet;

    /// Points of a plane, each of which leads to some others.
    struct Plane {
        points: Vec<(f32, f32)>,
        links: Adjacency,
        of: (f32, f32),
    }

    impl Plane {
        fn distance_of(&self, node: u32) -> f32 {
            let (x, y) = self.points[node as usize];
            (x - self.of.0).powi(2) + (y - self.of.1).powi(2)
        }
    }

    impl Nodes for Plane {
        fn n_nodes(&self) -> usize {
            self.points.len()
        }

        fn links(&mut self, node: u32, to: &mut Vec<u32>) -> Result<()> {
            to.extend(self.links.of_node(node));
            Ok(())
        }

        fn distance(&mut self, node: u32) -> Result<f32> {
            Ok(self.distance_of(node))
        }
    }

    fn random(state: &mut u64) -> u32 {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as u32
    }

    /// Points on a grid, so that many distances are equal, with links to random others.
    fn plane(n: u32, degree: u32, state: &mut u64) -> Plane {
        let points =
            (0..n).map(|_| ((random(state) % 20) as f32, (random(state) % 20) as f32)).collect();
        let links: Vec<Vec<u32>> = (0..n)
            .map(|_| {
                (0..degree)
                    .map(|_| random(state) % n)
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .collect()
            })
            .collect();
        let of = ((random(state) % 20) as f32, (random(state) % 20) as f32);
        Plane { points, links: Adjacency::of(links.iter().map(|links| &links[..])), of }
    }

    /// Best first, by the sets of all seen and all that was gone on from.
    fn naive(plane: &Plane, entries: &[u32], ef: usize) -> (Vec<u32>, Counts) {
        let key = |node: &u32| (plane.distance_of(*node).to_bits(), *node);
        let mut seen: BTreeSet<(u32, u32)> = entries.iter().map(key).collect();
        let mut gone = BTreeSet::new();
        let mut kept: BTreeSet<(u32, u32)> = seen.iter().copied().take(ef).collect();
        while let Some(next) = kept.iter().copied().find(|node| !gone.contains(node)) {
            gone.insert(next);
            for node in plane.links.of_node(next.1).map(|node| key(&node)) {
                if seen.insert(node) {
                    kept.insert(node);
                }
            }
            kept = kept.into_iter().take(ef).collect();
        }
        let counts =
            Counts { hops: gone.len() as u64, distances: seen.len() as u64, tests: 0, wanted: 0 };
        (kept.into_iter().map(|(_, node)| node).collect(), counts)
    }

    #[test]
    fn a_walk_is_that_of_sets() {
        let (mut state, mut scratch) = (7, Scratch::default());
        for case in 0..300 {
            let n = 1 + random(&mut state) % 300;
            let degree = random(&mut state) % 8;
            let mut plane = plane(n, degree, &mut state);
            let entries: Vec<u32> = (0..3).map(|_| random(&mut state) % n).collect();
            for ef in [1, 2, 7, 40, 1_000] {
                let expected = naive(&plane, &entries, ef);
                let counts = walk(&mut plane, &entries, ef, &mut scratch).unwrap();
                let found: Vec<u32> = scratch.nearest().map(|(node, _)| node).collect();
                // A node that fell out of those kept, and was gone on from, is so in both.
                assert_eq!((found, counts), expected, "case {case}, ef {ef}");
                assert!(
                    scratch.nearest().all(|(node, distance)| distance == plane.distance_of(node))
                );
            }
        }
    }

    /// A plane of which only some points may be found.
    struct Filtered<'p>(&'p mut Plane, fn(u32) -> bool);

    impl Nodes for Filtered<'_> {
        fn n_nodes(&self) -> usize {
            self.0.n_nodes()
        }

        fn links(&mut self, node: u32, to: &mut Vec<u32>) -> Result<()> {
            self.0.links(node, to)
        }

        fn distance(&mut self, node: u32) -> Result<f32> {
            self.0.distance(node)
        }

        fn is_wanted(&mut self, node: u32) -> Result<bool> {
            Ok(self.1(node))
        }
    }

    /// Best first through all nodes, of which those that are wanted are kept.
    fn naive_among(plane: &Plane, entries: &[u32], ef: usize, wanted: fn(u32) -> bool) -> Vec<u32> {
        let key = |node: &u32| (plane.distance_of(*node).to_bits(), *node);
        let mut seen: BTreeSet<(u32, u32)> = entries.iter().map(key).collect();
        let mut gone = BTreeSet::new();
        let kept = |seen: &BTreeSet<(u32, u32)>| -> Vec<(u32, u32)> {
            seen.iter().copied().filter(|(_, node)| wanted(*node)).take(ef).collect()
        };
        while let Some(next) = seen.iter().copied().find(|node| !gone.contains(node)) {
            let kept = kept(&seen);
            if kept.len() == ef && kept.last().is_some_and(|last| *last <= next) {
                break;
            }
            gone.insert(next);
            seen.extend(plane.links.of_node(next.1).map(|node| key(&node)));
        }
        kept(&seen).into_iter().map(|(_, node)| node).collect()
    }

    #[test]
    fn a_walk_among_some_is_that_of_sets() {
        let (mut state, mut scratch) = (11, Scratch::default());
        let filters: [fn(u32) -> bool; 4] =
            [|_| true, |it| it % 2 == 0, |it| it % 9 == 1, |_| false];
        for case in 0..200 {
            let n = 1 + random(&mut state) % 300;
            let degree = random(&mut state) % 8;
            let mut plane = plane(n, degree, &mut state);
            let entries: Vec<u32> = (0..3).map(|_| random(&mut state) % n).collect();
            for (ef, wanted) in
                [1, 7, 40, 1_000].into_iter().flat_map(|ef| filters.map(|it| (ef, it)))
            {
                let expected = naive_among(&plane, &entries, ef, wanted);
                let all = Through::All;
                let mut some = Filtered(&mut plane, wanted);
                let (counts, ended) =
                    walk_among(&mut some, &entries, (ef, all), |_| true, &mut scratch).unwrap();
                let found: Vec<u32> = scratch.nearest().map(|(node, _)| node).collect();
                assert_eq!(found, expected, "case {case}, ef {ef}");
                assert_eq!(ended == Ended::Exhausted, found.len() < ef);
                // Through those that are wanted, it finds no others and computes no more distances.
                let (fewer, _) =
                    walk_among(&mut some, &entries, (ef, Through::Wanted), |_| true, &mut scratch)
                        .unwrap();
                assert!(scratch.nearest().all(|(node, _)| wanted(node)));
                assert!(ef < 1_000 || fewer.distances <= counts.distances);
                let (spent, ended) =
                    walk_among(&mut some, &entries, (ef, all), |it| it.hops < 1, &mut scratch)
                        .unwrap();
                assert!(spent.hops <= 1 && (ended == Ended::Spent || counts.hops <= 1));
            }
        }
    }

    #[test]
    fn neighbours_of_what_is_not_wanted_are_found_without_comparing_it() {
        // A chain of which every third point is wanted: two others stand between.
        let n = 30u32;
        let points = (0..n).map(|at| (at as f32, 0.0)).collect();
        let links: Vec<Vec<u32>> = (0..n).map(|at| (at + 1..n.min(at + 3)).collect()).collect();
        let links = Adjacency::of(links.iter().map(|links| &links[..]));
        let mut plane = Plane { points, links, of: (99.0, 0.0) };
        let (mut some, mut scratch) =
            (Filtered(&mut plane, |node| node % 3 == 0), Scratch::default());
        let (counts, ended) =
            walk_among(&mut some, &[0], (5, Through::Wanted), |_| true, &mut scratch).unwrap();
        let found: Vec<u32> = scratch.nearest().map(|(node, _)| node).collect();
        assert_eq!((found, ended), (vec![27, 24, 21, 18, 15], Ended::Beam));
        assert_eq!(counts.distances, 10);
    }

    #[test]
    fn distances_have_the_order_of_their_keys() {
        let distances =
            [f32::NEG_INFINITY, -1e9, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1.0, 1e9, f32::INFINITY];
        let keys: Vec<u64> =
            distances.iter().flat_map(|d| [key_of(*d, 0), key_of(*d, u32::MAX)]).collect();
        assert!(keys.is_sorted());
        for distance in distances {
            assert_eq!(distance_of(key_of(distance, 3)).to_bits(), distance.to_bits());
        }
    }

    #[test]
    fn a_link_to_nowhere_is_damage() {
        let mut plane = plane(10, 0, &mut 3);
        plane.links = Adjacency::of([&[10][..]]);
        let walked = walk(&mut plane, &[0], 10, &mut Scratch::default());
        let error = walked.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("node 10"), "{error}");
        let walked = walk(&mut plane, &[12], 10, &mut Scratch::default());
        assert_eq!(walked.unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn a_walk_can_be_stopped() {
        let mut plane = plane(5_000, 8, &mut 3);
        let walked =
            Budget::stopping_at(0).run(|| walk(&mut plane, &[0], 5_000, &mut Scratch::default()));
        assert_eq!(walked.unwrap_err().kind(), ErrorKind::Timeout);
    }

    #[test]
    fn levels_lead_to_the_nearest() {
        let mut state = 5;
        let plane = plane(1_000, 0, &mut state);
        let level = |step: usize| {
            let nodes: Vec<u32> = (0..1_000).step_by(step).collect();
            let all: Vec<u32> = (0..nodes.len() as u32).collect();
            Level { links: Adjacency::of(nodes.iter().map(|_| &all[..])), nodes }
        };
        let levels = [level(4), level(20)];
        let (mut scratch, mut entries) = (Scratch::default(), vec![]);
        let distance = |node| Ok(plane.distance_of(node));
        enter(&levels, 1_000, distance, &mut scratch, &mut entries).unwrap();
        let mut expected = levels[0].nodes.clone();
        expected.sort_by_key(|node| key_of(plane.distance_of(*node), *node));
        assert_eq!(entries, expected[..4]);
        enter(&[], 3, |_| Ok(0.0), &mut scratch, &mut entries).unwrap();
        assert_eq!(entries, [0, 1, 2]);
    }
}
