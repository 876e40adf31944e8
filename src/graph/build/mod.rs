//! Building of a graph, by partitions.
//!
//! All vectors are divided into [leaves] of a few hundred that are near each other, in several ways at once, so that what is near is
//! together in some leaf. In a leaf each is compared with each; the nearest become [candidates], and of these those
//! are chosen that lead in different directions. Then links go both ways, are [chosen](mod@prune) again where they are too many,
//! and nodes that no walk comes to get [a link](reach). Nothing is searched for in a graph that is not finished.
//!
//! Leaves in place of searches are from "PiPNN" (arXiv 2602.21247), where leaders are drawn at random.
//!
//! # Determinism
//!
//! A graph depends on the codes and their order and on nothing else: products are whole numbers, leaders are those of the least
//! hashes, and candidates are the same in whatever order they come.
//!
//! # Cost
//!
//! About 3,000 distances a vector in leaves, which come from the nearest caches, and as many hundreds as there are candidates where
//! they are chosen. About 50 bytes of memory for each vector beside its code. Candidates and links take as much as there is
//! [room](Room) for and go to files beyond: 16 bytes for each of some 100 candidates of a vector, 32 for each of its links, and 8 for
//! each link that is left.

mod arrange;
mod candidates;
mod edges;
mod leaders;
mod leaves;
mod partition;
mod prune;
mod reach;
mod space;
mod tuning;

use super::code::{Codes, READ_AHEAD};
use super::crew;
use super::hash::hash_of_code;
use super::spill::{Room, SpillWriter};
use super::{Adjacency, AdjacencyWriter, Graph, Level, TOP_NODES};
use crate::error::{Error, ErrorKind, Result};
pub(crate) use arrange::arrange;
use candidates::Signs;
use edges::{Edge, EdgeSorter, Keep, SortedEdges, edge};
use partition::{Partition, VECTORS_MAX};
use prune::prune;
use rayon::ThreadPool;
use space::Space;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
pub(crate) use tuning::Tuning;

/// Nodes of a level for one of the next.
const LEVEL_SHRINKS: usize = 64;
/// Vectors whose neighbours are chosen in one task.
const TASK: usize = 256;
/// Tasks whose links are in memory at once.
const TASKS: usize = 64;

/// Graph of some vectors.
///
/// # Errors
///
/// [`LimitExceeded`](ErrorKind::LimitExceeded) for more vectors than 2³¹ or more links than 2³²; whatever the
/// [budget](crate::budget) of this thread and temporary files say.
pub(crate) fn build(
    codes: &Arc<Codes>,
    tuning: &Tuning,
    pool: Option<&ThreadPool>,
    room: &Room,
) -> Result<Graph> {
    if codes.len() > VECTORS_MAX {
        return Err(Error::new(ErrorKind::LimitExceeded, "building a graph of neighbours")
            .expected(format!("at most {VECTORS_MAX} vectors"))
            .found(codes.len().to_string()));
    }
    let builder = Builder { tuning, pool, room };
    let mut hashes = vec![0; codes.len()];
    for first in (0..codes.len() as u32).step_by(READ_AHEAD) {
        let some = first..codes.len().min(first as usize + READ_AHEAD) as u32;
        let some = some.map(|rank| codes.at_rank(rank));
        codes.read_ahead(some.clone());
        some.for_each(|at| {
            hashes[at as usize] = hash_of_code(codes.code(at), codes.measures(at).scale);
        });
    }
    let hashes = Arc::new(hashes);
    let samples = samples(&hashes);
    let above = samples.first().map(|above| &above[..]);
    let Flat { order, links, added } = builder.flat(codes, &hashes, above)?;
    let mut node_of = vec![0; order.len()];
    (0..).zip(&order).for_each(|(node, at)| node_of[*at as usize] = node);
    let mut upper = vec![];
    for (nth, sample) in samples.iter().enumerate() {
        let mut nodes: Vec<u32> = sample.iter().map(|at| node_of[*at as usize]).collect();
        nodes.sort_unstable();
        let vectors = || nodes.iter().map(|node| order[*node as usize]);
        let some = Arc::new(codes.some(vectors()));
        let some_hashes = Arc::new(vectors().map(|at| hashes[at as usize]).collect());
        let place =
            |at: &u32| nodes.binary_search(&node_of[*at as usize]).unwrap_or_default() as u32;
        let above: Option<Vec<u32>> =
            samples.get(nth + 1).map(|above| above.iter().map(place).collect());
        let flat = builder.flat(&some, &some_hashes, above.as_deref())?;
        let mut ordered = AdjacencyWriter::new(SpillWriter::new(None, 0));
        for at in 0..nodes.len() as u32 {
            let mut links: Vec<u32> = flat.links_of(at).collect();
            links.sort_unstable();
            ordered.add(&links)?;
        }
        upper.push(Level { nodes, links: ordered.finish()? });
    }
    let flat = Flat { order, links, added };
    let mut ordered = AdjacencyWriter::new(room.writer(4));
    for at in &flat.order {
        let mut links: Vec<u32> = flat.links_of(*at).map(|at| node_of[at as usize]).collect();
        links.sort_unstable();
        ordered.add(&links)?;
    }
    Ok(Graph { order: flat.order, links: ordered.finish()?, upper })
}

/// Vectors of each level above all, the largest first: those of the least hashes, in the order of these.
fn samples(hashes: &[u64]) -> Vec<Vec<u32>> {
    let sizes: Vec<usize> = sample_sizes(hashes.len()).collect();
    let Some(&n) = sizes.first() else { return vec![] };
    let key = |at: &u32| (hashes[*at as usize], *at);
    let mut all: Vec<u32> = (0..hashes.len() as u32).collect();
    all.select_nth_unstable_by_key(n - 1, key);
    all.truncate(n);
    all.sort_unstable_by_key(key);
    sizes.into_iter().map(|n| all[..n].to_vec()).collect()
}

/// Nodes of the levels above so many, the largest first.
fn sample_sizes(n: usize) -> impl Iterator<Item = usize> {
    let next = |n: &usize| (*n > TOP_NODES).then(|| n.div_ceil(LEVEL_SHRINKS).max(TOP_NODES / 2));
    std::iter::successors(Some(n), next).skip(1)
}

/// Links by vector.
struct Links {
    codes: Arc<Codes>,
    of_ranks: Adjacency,
}

impl Links {
    fn of(&self, at: u32) -> impl Iterator<Item = u32> {
        self.of_ranks.of_node(self.codes.rank(at))
    }
}

/// A level by vector.
struct Flat {
    /// Vectors, in an order in which those near each other are together.
    order: Vec<u32>,
    links: Links,
    /// Links that were added, so that each vector is come to.
    added: BTreeMap<u32, Vec<u32>>,
}

impl Flat {
    fn links_of(&self, at: u32) -> impl Iterator<Item = u32> {
        let added = self.added.get(&at).map_or(&[][..], |added| added);
        self.links.of(at).chain(added.iter().copied())
    }
}

struct Builder<'b> {
    tuning: &'b Tuning,
    pool: Option<&'b ThreadPool>,
    room: &'b Room,
}

impl Builder<'_> {
    /// Builds a level; walks enter with the nodes of the level above, with all if there is none.
    fn flat(
        &self,
        codes: &Arc<Codes>,
        hashes: &Arc<Vec<u64>>,
        above: Option<&[u32]>,
    ) -> Result<Flat> {
        let space = Arc::new(Space::new(codes));
        let keep = Keep::Directions(self.tuning.capacity);
        let candidates = Arc::new(EdgeSorter::new(keep, self.room, 2, self.n_threads()));
        let partition = Partition {
            space: Arc::clone(&space),
            hashes: Arc::clone(hashes),
            signs: Signs::new(codes.dims()),
            candidates: Arc::clone(&candidates),
            tuning: self.tuning.clone(),
        };
        let order = partition.run(self.pool)?;
        codes.leave_memory();
        let chosen = self.choose(&space, candidates.finish()?)?;
        codes.leave_memory();
        let links = self.links(&space, chosen)?;
        codes.leave_memory();
        let links = Links { codes: Arc::clone(codes), of_ranks: links };
        let added = above.map(|above| reach::connect(&space, &links, above)).unwrap_or_default();
        Ok(Flat { order, links, added })
    }

    /// Threads that carry out tasks: those of the pool, and this one.
    fn n_threads(&self) -> usize {
        self.pool.map_or(1, |pool| pool.current_num_threads() + 1)
    }

    /// Edges from each vector to its neighbours, which are chosen of its candidates, and back.
    fn choose(&self, space: &Arc<Space>, candidates: SortedEdges) -> Result<SortedEdges> {
        let chosen = Arc::new(EdgeSorter::new(Keep::All, self.room, 2, self.n_threads()));
        let (n, space, tuning) = (space.len(), Arc::clone(space), self.tuning.clone());
        let sorter = Arc::clone(&chosen);
        crew::map(self.pool, n.div_ceil(TASK), move |nth, _| {
            let (mut buffer, mut keys) = (sorter.take(), vec![]);
            let some = candidates.of(ranks_of(nth, n))?;
            let codes = &space.codes;
            codes.read_ahead(some.targets());
            for (rank, edges) in some.iter() {
                keys.clear();
                keys.extend(edges.iter().map(|edge| edges::key(*edge)));
                for key in prune(&space, &keys, tuning.slack, tuning.degree) {
                    let back = key & DISTANCE | u64::from(codes.at_rank(rank));
                    sorter.add(&mut buffer, edge(rank, key, 0))?;
                    sorter.add(&mut buffer, edge(codes.rank(key as u32), back, 0))?;
                }
            }
            sorter.give_back(buffer);
            Ok(())
        })?;
        chosen.finish()
    }

    /// Links of each rank to its neighbours and to those that it is a neighbour of, chosen again where these are too many.
    fn links(&self, space: &Arc<Space>, chosen: SortedEdges) -> Result<Adjacency> {
        let (n, chosen) = (space.len(), Arc::new(chosen));
        let n_tasks = n.div_ceil(TASK);
        let mut links = AdjacencyWriter::new(self.room.writer(4));
        for first in (0..n_tasks).step_by(TASKS) {
            let (space, tuning) = (Arc::clone(space), self.tuning.clone());
            let chosen = Arc::clone(&chosen);
            let some = crew::map(self.pool, TASKS.min(n_tasks - first), move |nth, _| {
                let edges = chosen.of(ranks_of(first + nth, n))?;
                let many = edges.iter().filter(|(_, edges)| edges.len() > tuning.degree);
                let compared = many.flat_map(|(_, edges)| edges);
                space.codes.read_ahead(compared.map(|edge| edges::key(*edge) as u32));
                let near = |edges: &[Edge]| edges.iter().map(|edge| edges::key(*edge)).collect();
                let links = edges.iter().map(|(_, edges)| links_of(&space, near(edges), &tuning));
                Ok(links.collect::<Vec<_>>())
            })?;
            some.iter().flatten().try_for_each(|of_one| links.add(of_one))?;
        }
        links.finish()
    }
}

/// Ranks of the vectors of a task, of so many in all.
fn ranks_of(task: usize, n: usize) -> Range<u32> {
    (task * TASK) as u32..n.min((task + 1) * TASK) as u32
}

/// Bits of a distance, without those of the node.
const DISTANCE: u64 = !0 << 32;

/// Nodes out of those near, chosen if these are too many.
fn links_of(space: &Space, mut near: Vec<u64>, tuning: &Tuning) -> Vec<u32> {
    if near.len() > tuning.degree {
        near = prune(space, &near, tuning.slack, tuning.degree);
    }
    near.into_iter().map(|key| key as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Budget, CancelToken};
    use crate::graph::code::Target;
    use crate::graph::curve::curve;
    use crate::graph::distinct::RowCodes;
    use crate::graph::spill::SpillFiles;
    use crate::graph::walk::{Nodes, Scratch, walk};
    use crate::graph::{DEGREE_MAX, enter};
    use crate::ids::SegmentId;
    use crate::schema::Metric;
    use crate::simd::each_step;
    use crate::storage::{FsStorage, MemoryStorage, ReadMode, Storage, TestDirectory};
    use crate::test_sizes::unless_miri;
    use rayon::ThreadPoolBuilder;

    /// Small leaves, so that few vectors have several depths of them.
    const SMALL: Tuning = Tuning { leaf: 48, leaders_max: 16, fan: &[4, 2], ..Tuning::DEFAULT };

    /// Vectors about a few centres.
    fn vectors(n: usize, dims: usize, mut state: u64) -> Vec<Vec<f32>> {
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let centres: Vec<Vec<f32>> =
            (0..8).map(|_| (0..dims).map(|_| random() * 2.0).collect()).collect();
        let about = |nth: usize| &centres[nth * nth % 8];
        (0..n).map(|nth| about(nth).iter().map(|number| number + random()).collect()).collect()
    }

    fn codes(metric: Metric, vectors: &[Vec<f32>]) -> Arc<Codes> {
        let mut codes = Codes::new(metric, vectors.first().map_or(1, Vec::len) as u16);
        vectors.iter().for_each(|vector| codes.push(vector.iter().copied()));
        Arc::new(codes)
    }

    fn built(codes: &Arc<Codes>) -> Graph {
        build(codes, &SMALL, None, &Room::unlimited()).unwrap()
    }

    /// Whether a graph is one of `n` nodes that are all come to.
    fn check(graph: &Graph, n: usize) {
        let mut order = graph.order.clone();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..n as u32), "each vector once");
        check_level(&graph.links, n, graph.upper.first());
        for (level, above) in
            graph.upper.iter().zip(graph.upper.iter().skip(1).map(Some).chain([None]))
        {
            assert!(
                level.nodes.is_sorted_by(|a, b| a < b)
                    && level.nodes.iter().all(|node| (*node as usize) < n)
            );
            let above = above.map(|above| Level {
                nodes: above
                    .nodes
                    .iter()
                    .map(|node| level.nodes.binary_search(node).unwrap() as u32)
                    .collect(),
                ..Level::default()
            });
            check_level(&level.links, level.nodes.len(), above.as_ref());
        }
        assert!(graph.upper.last().map_or(n, |level| level.nodes.len()) <= TOP_NODES);
    }

    fn check_level(links: &Adjacency, n: usize, above: Option<&Level>) {
        assert_eq!(links.starts.len(), n + 1);
        for node in 0..n as u32 {
            let to: Vec<u32> = links.of_node(node).collect();
            assert!(to.len() <= DEGREE_MAX && to.is_sorted_by(|a, b| a < b), "{to:?}");
            assert!(to.iter().all(|to| *to != node && (*to as usize) < n), "{node}: {to:?}");
        }
        let Some(above) = above else { return };
        let (mut left, mut seen) = (above.nodes.clone(), vec![false; n]);
        while let Some(node) = left.pop() {
            if !std::mem::replace(&mut seen[node as usize], true) {
                left.extend(links.of_node(node));
            }
        }
        assert!(seen.into_iter().all(|seen| seen));
    }

    struct InMemory<'g> {
        codes: &'g Codes,
        graph: &'g Graph,
        target: Target,
    }

    impl InMemory<'_> {
        fn distance_of(&self, node: u32) -> f32 {
            let at = self.graph.order[node as usize];
            self.target.distance(self.codes.code(at), self.codes.measures(at))
        }
    }

    impl Nodes for InMemory<'_> {
        fn n_nodes(&self) -> usize {
            self.graph.order.len()
        }

        fn links(&mut self, node: u32, to: &mut Vec<u32>) -> Result<()> {
            to.extend(self.graph.links.of_node(node));
            Ok(())
        }

        fn distance(&mut self, node: u32) -> Result<f32> {
            Ok(self.distance_of(node))
        }
    }

    #[test]
    fn walks_find_the_nearest_under_each_metric() {
        let n = unless_miri(3_000, 200);
        let all = vectors(n + 50, 12, 3);
        for metric in [Metric::Cosine, Metric::Dot, Metric::L2] {
            let codes = codes(metric, &all[..n]);
            let graph = built(&codes);
            check(&graph, n);
            let (mut found, mut scratch, mut entries) = (0, Scratch::default(), vec![]);
            for of in &all[n..] {
                let target = Target::new(metric, of.iter().copied());
                let mut nodes = InMemory { codes: &codes, graph: &graph, target };
                let mut exact: Vec<f32> =
                    (0..n as u32).map(|node| nodes.distance_of(node)).collect();
                exact.sort_by(f32::total_cmp);
                enter(
                    &graph.upper,
                    n,
                    |node| Ok(nodes.distance_of(node)),
                    &mut scratch,
                    &mut entries,
                )
                .unwrap();
                walk(&mut nodes, &entries, 60, &mut scratch).unwrap();
                found += scratch
                    .nearest()
                    .take(10)
                    .filter(|(_, distance)| *distance <= exact[9])
                    .count();
            }
            assert!(found >= 490, "{metric:?}: {found} of 500");
        }
    }

    #[test]
    fn threads_memory_and_instructions_do_not_show() {
        let all = vectors(unless_miri(2_500, 150), 20, 5);
        for metric in [Metric::Cosine, Metric::Dot, Metric::L2] {
            let codes = codes(metric, &all);
            let expected = built(&codes);
            for () in each_step() {
                assert_eq!(built(&codes), expected);
            }
            for threads in [1, 2, 7] {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                for bytes in [0, 200_000, 1 << 30] {
                    let storage = Arc::new(MemoryStorage::new());
                    let files = SpillFiles::new(storage.clone(), SegmentId([1; 16]));
                    let room = Room { bytes, files: Some(files) };
                    let graph = build(&codes, &SMALL, Some(&pool), &room).unwrap();
                    assert_eq!(graph, expected, "{threads} threads, {bytes} bytes");
                    drop(graph);
                    assert!(storage.list().unwrap().is_empty());
                }
            }
        }
    }

    #[test]
    fn codes_in_a_file_lie_in_another_order_and_make_the_same_graph() {
        let all = vectors(unless_miri(2_500, 150), 20, 6);
        let directory = TestDirectory::new();
        for metric in [Metric::Cosine, Metric::Dot, Metric::L2] {
            let storage = FsStorage::create(directory.path(), ReadMode::Mmap).unwrap();
            let files = SpillFiles::new(Arc::new(storage), SegmentId([2; 16]));
            let room = Room { bytes: 10_000, files: Some(files) };
            let n = all.len() as u32;
            let mut rows = RowCodes::new(metric, 20, n, SpillWriter::new(room.files.as_ref(), 0));
            all.iter().for_each(|row| rows.add(row.iter().copied()).unwrap());
            let (codes, arranged) = (codes(metric, &all), rows.finish().unwrap().0);
            let arranged = arrange(arranged, None, &room).unwrap();
            assert!(arranged.is_in_file() && !codes.is_in_file());
            let mut ranks: Vec<u32> = (0..n).map(|at| arranged.rank(at)).collect();
            assert!((0..n).all(|at| arranged.at_rank(ranks[at as usize]) == at));
            assert!((0..n).all(|at| arranged.code(at) == codes.code(at)));
            assert!(!ranks.is_sorted());
            ranks.sort_unstable();
            assert!(ranks.into_iter().eq(0..n));
            let (graph, expected) = (build(&arranged, &SMALL, None, &room), built(&codes));
            let graph = Arc::new(graph.unwrap());
            assert_eq!(*graph, expected);
            let curves = [&arranged, &codes].map(|codes| curve(codes, &graph, None, None).unwrap());
            assert_eq!(curves[0], curves[1]);
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn few_and_equal_vectors_have_graphs() {
        for n in [0, 1, 2, 3, 40, 64, 65, 100] {
            check(&built(&codes(Metric::L2, &vectors(n, 3, 9))), n);
        }
        let n = unless_miri(1_000, 130);
        check(&built(&codes(Metric::L2, &vec![vec![1.0, 2.0]; n])), n);
        // Two islands far from each other, of vectors that are all alike but for a few.
        let mut all: Vec<Vec<f32>> =
            (0..n).map(|nth| vec![if nth % 2 == 0 { 1e6 } else { -1e6 }, 0.0]).collect();
        all.extend(vectors(100, 2, 1));
        check(&built(&codes(Metric::L2, &all)), n + 100);
    }

    #[test]
    fn neighbours_in_the_order_are_near() {
        let all = vectors(unless_miri(2_000, 150), 8, 7);
        let codes = codes(Metric::L2, &all);
        let graph = built(&codes);
        let distance = |a: u32, b: u32| -> f32 {
            let pairs = all[a as usize].iter().zip(&all[b as usize]);
            pairs.map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let mean = |order: &[u32]| {
            order.windows(2).map(|two| distance(two[0], two[1])).sum::<f32>() / order.len() as f32
        };
        let as_given: Vec<u32> = (0..all.len() as u32).collect();
        assert!(
            mean(&graph.order) < 0.6 * mean(&as_given),
            "{} {}",
            mean(&graph.order),
            mean(&as_given)
        );
    }

    #[test]
    fn a_build_can_be_stopped() {
        let codes = codes(Metric::L2, &vectors(1_000, 4, 2));
        let token = CancelToken::new();
        token.cancel();
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for pool in [None, Some(&pool)] {
            let built = || build(&codes, &SMALL, pool, &Room::unlimited());
            assert_eq!(
                Budget::new().cancel(&token).run(built).unwrap_err().kind(),
                ErrorKind::Cancelled
            );
        }
        for n in [0, 1, 5, 20] {
            let stopped =
                Budget::stopping_at(n).run(|| build(&codes, &SMALL, None, &Room::unlimited()));
            assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Timeout);
        }
    }

    /// Threads that wait for whoever builds, who would wait for them.
    #[test]
    fn busy_threads_are_not_waited_for() {
        let codes = codes(Metric::L2, &vectors(500, 4, 2));
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let ends = Arc::new(std::sync::Barrier::new(3));
        for _ in 0..2 {
            let ends = Arc::clone(&ends);
            pool.spawn(move || _ = ends.wait());
        }
        assert_eq!(build(&codes, &SMALL, Some(&pool), &Room::unlimited()).unwrap(), built(&codes));
        ends.wait();
    }
}
