//! Edges between vectors, by the [rank](crate::graph::code::Codes::rank) of the vector that they lead from.
//!
//! Edges come in any order and from any thread. They are collected in buffers, which are sorted when they are full, and those that
//! nobody will need are left out. The rest is a run, in memory or in a file. In the end all edges of some vectors are taken out of
//! all runs. They depend on all that came and not on their order, nor on how much memory there was.

use super::candidates::Directions;
use crate::error::Result;
use crate::graph::crew::lock;
use crate::graph::spill::{Room, SpillFile, SpillFiles};
use crate::storage::StorageRead;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Bytes of an edge in a file.
const LEN: usize = size_of::<u128>();
/// Most edges of a buffer: more are sorted no better.
const BUFFER_MAX: usize = 1 << 19;
/// Least edges of a buffer: what any build has memory for.
const BUFFER_MIN: usize = 1 << 10;
/// Edges that are written at once.
const WRITE_EDGES: usize = 4_096;
/// Edges of a run that are found by the first of them: a page.
const PAGE_EDGES: usize = 256;

/// An edge. In its order: the rank of the vector that it leads from, the distance, the vector that it leads to, and the direction.
pub(super) type Edge = u128;

/// An edge of a key, which is a distance and the vector that it leads to.
pub(super) fn edge(from: u32, key: u64, direction: u16) -> Edge {
    u128::from(from) << 96 | u128::from(key) << 32 | u128::from(direction)
}

/// Distance and vector that an edge leads to.
pub(super) fn key(edge: Edge) -> u64 {
    (edge >> 32) as u64
}

fn from(edge: Edge) -> u32 {
    (edge >> 96) as u32
}

/// Edges that are left of those of a vector, in their order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keep {
    /// The nearest of each direction, and so many of these.
    Directions(usize),
    /// Each once.
    All,
}

/// Choice of edges, with its memory.
#[derive(Debug)]
struct Reducer {
    keep: Keep,
    directions: Directions,
}

impl Reducer {
    /// Keeps what is needed of the edges of one vector, which are in order, at the front; how many.
    fn reduce(&mut self, edges: &mut [Edge]) -> usize {
        let mut n = 0;
        match self.keep {
            Keep::Directions(capacity) => {
                for at in 0..edges.len() {
                    if n == capacity {
                        break;
                    }
                    if self.directions.is_first(edges[at] as u16) {
                        edges[n] = edges[at];
                        n += 1;
                    }
                }
                self.directions.forget(edges[..n].iter().map(|edge| *edge as u16));
            }
            Keep::All => {
                for at in 0..edges.len() {
                    if n == 0 || edges[n - 1] != edges[at] {
                        edges[n] = edges[at];
                        n += 1;
                    }
                }
            }
        }
        n
    }
}

/// Edges of some thread, with its memory.
#[derive(Debug)]
pub(super) struct EdgeBuffer {
    edges: Vec<Edge>,
    reducer: Reducer,
}

impl EdgeBuffer {
    /// Sorts the edges and leaves out what nobody will need.
    fn reduce(&mut self) {
        self.edges.sort_unstable();
        let (mut n, mut first) = (0, 0);
        while let Some(next) = self.edges.get(first) {
            let vector = from(*next);
            let len = self.edges[first..].iter().take_while(|edge| from(**edge) == vector).count();
            let n_kept = self.reducer.reduce(&mut self.edges[first..first + len]);
            self.edges.copy_within(first..first + n_kept, n);
            (n, first) = (n + n_kept, first + len);
        }
        self.edges.truncate(n);
    }
}

/// Edges on their way into runs.
#[derive(Debug)]
pub(super) struct EdgeSorter {
    keep: Keep,
    /// Edges of a buffer.
    buffer: usize,
    idle: Mutex<Vec<EdgeBuffer>>,
    runs: Mutex<Runs>,
}

#[derive(Debug, Default)]
struct Runs {
    /// Edges for which there is memory.
    room: usize,
    in_memory: Vec<Vec<Edge>>,
    files: Option<SpillFiles>,
    file: Option<SpillFile>,
    in_file: Vec<FileRun>,
}

/// A run in a file.
#[derive(Debug)]
struct FileRun {
    edges: Range<u64>,
    /// Vector that the first edge of each page leads from.
    firsts: Vec<u32>,
}

impl EdgeSorter {
    /// For so many threads, with a part of a room.
    pub(super) fn new(keep: Keep, room: &Room, parts: usize, n_threads: usize) -> Self {
        let edges = room.bytes / parts / LEN;
        // Half of it for buffers, as far as they can be as large.
        let buffer = (edges / 2 / n_threads).clamp(BUFFER_MIN, BUFFER_MAX);
        let runs = Runs {
            room: edges.saturating_sub(buffer * n_threads),
            files: room.files.clone(),
            ..Runs::default()
        };
        EdgeSorter { keep, buffer, idle: Mutex::default(), runs: Mutex::new(runs) }
    }

    /// A buffer for a task, to be [given back](Self::give_back).
    pub(super) fn take(&self) -> EdgeBuffer {
        lock(&self.idle).pop().unwrap_or_else(|| EdgeBuffer {
            edges: vec![],
            reducer: Reducer { keep: self.keep, directions: Directions::default() },
        })
    }

    pub(super) fn give_back(&self, buffer: EdgeBuffer) {
        lock(&self.idle).push(buffer);
    }

    /// Adds an edge.
    #[inline]
    pub(super) fn add(&self, buffer: &mut EdgeBuffer, edge: Edge) -> Result<()> {
        if buffer.edges.len() == self.buffer {
            self.make_room(buffer)?;
        }
        buffer.edges.push(edge);
        Ok(())
    }

    #[cold]
    fn make_room(&self, buffer: &mut EdgeBuffer) -> Result<()> {
        buffer.reduce();
        match buffer.edges.len() > self.buffer / 2 {
            true => lock(&self.runs).add(&mut buffer.edges),
            false => Ok(()),
        }
    }

    /// All edges.
    pub(super) fn finish(&self) -> Result<SortedEdges> {
        let mut runs = std::mem::take(&mut *lock(&self.runs));
        for mut buffer in std::mem::take(&mut *lock(&self.idle)) {
            buffer.reduce();
            runs.add(&mut buffer.edges)?;
        }
        let file = runs.file.map(SpillFile::finish).transpose()?;
        file.iter().for_each(|file| file.read_in_any_order());
        Ok(SortedEdges { keep: self.keep, in_memory: runs.in_memory, file, in_file: runs.in_file })
    }
}

impl Runs {
    /// Takes edges, which are in order.
    fn add(&mut self, edges: &mut Vec<Edge>) -> Result<()> {
        if self.files.is_none() || edges.len() <= self.room {
            self.room -= edges.len().min(self.room);
            self.in_memory.push(edges.as_slice().to_vec());
            edges.clear();
            return Ok(());
        }
        let file = match (&mut self.file, &self.files) {
            (None, Some(files)) => self.file.insert(files.create()?),
            (Some(file), _) => file,
            (None, None) => return Ok(()),
        };
        let first = file.len() / LEN as u64;
        let mut bytes = Vec::with_capacity(WRITE_EDGES * LEN);
        for some in edges.chunks(WRITE_EDGES) {
            bytes.clear();
            some.iter().for_each(|edge| bytes.extend(edge.to_le_bytes()));
            file.write(&bytes)?;
        }
        let firsts = edges.iter().step_by(PAGE_EDGES).map(|edge| from(*edge)).collect();
        self.in_file.push(FileRun { edges: first..first + edges.len() as u64, firsts });
        edges.clear();
        Ok(())
    }
}

/// Edges in runs, each in order.
#[derive(Debug)]
pub(super) struct SortedEdges {
    keep: Keep,
    in_memory: Vec<Vec<Edge>>,
    file: Option<Arc<dyn StorageRead>>,
    in_file: Vec<FileRun>,
}

impl SortedEdges {
    /// Edges of some vectors, by rank.
    pub(super) fn of(&self, vectors: Range<u32>) -> Result<EdgesOfSome> {
        let mut all = vec![];
        for run in &self.in_memory {
            all.extend_from_slice(part_of(run, &vectors));
        }
        if let Some(file) = &self.file {
            let pages: Vec<_> = self.in_file.iter().map(|run| run.pages(&vectors)).collect();
            for edges in pages.iter().filter(|edges| !edges.is_empty()) {
                file.read_ahead(edges.start * LEN as u64..edges.end * LEN as u64);
            }
            let (mut bytes, mut some) = (vec![], vec![]);
            for edges in pages {
                bytes.resize((edges.end - edges.start) as usize * LEN, 0);
                file.read_at(edges.start * LEN as u64, &mut bytes)?;
                some.clear();
                let edges = bytes.as_chunks::<LEN>().0.iter();
                some.extend(edges.map(|edge| Edge::from_le_bytes(*edge)));
                all.extend_from_slice(part_of(&some, &vectors));
            }
        }
        // Edges by vector first: there are few of each then, and these are sorted in the nearest cache.
        let n = vectors.len();
        let place = |edge: Edge| (from(edge) - vectors.start) as usize;
        let mut ends = vec![0; n + 1];
        all.iter().for_each(|edge| ends[place(*edge) + 1] += 1);
        (0..n).for_each(|nth| ends[nth + 1] += ends[nth]);
        let mut edges = vec![0; all.len()];
        for edge in &all {
            let end = &mut ends[place(*edge)];
            edges[*end] = *edge;
            *end += 1;
        }
        ends.truncate(n);
        drop(all);
        let mut reducer = Reducer { keep: self.keep, directions: Directions::default() };
        let (mut start, mut n_kept) = (0, 0);
        for end in &mut ends {
            let own = &mut edges[start..*end];
            own.sort_unstable();
            let n_own = reducer.reduce(own);
            edges.copy_within(start..start + n_own, n_kept);
            n_kept += n_own;
            start = std::mem::replace(end, n_kept);
        }
        edges.truncate(n_kept);
        Ok(EdgesOfSome { first: vectors.start, edges, ends })
    }
}

/// Edges of some vectors out of a run.
fn part_of<'r>(run: &'r [Edge], vectors: &Range<u32>) -> &'r [Edge] {
    let start = run.partition_point(|edge| from(*edge) < vectors.start);
    let n = run[start..].partition_point(|edge| from(*edge) < vectors.end);
    &run[start..start + n]
}

impl FileRun {
    /// Whole pages of the file that have all edges of some vectors.
    fn pages(&self, vectors: &Range<u32>) -> Range<u64> {
        // A vector has edges in the page before the first that it begins, too.
        let first = self.firsts.partition_point(|first| *first < vectors.start).saturating_sub(1);
        let end = self.firsts.partition_point(|first| *first < vectors.end);
        let at = |page: usize| (self.edges.start + (page * PAGE_EDGES) as u64).min(self.edges.end);
        at(first.min(end))..at(end)
    }
}

/// Edges of consecutive vectors that are left, in their order.
#[derive(Debug)]
pub(super) struct EdgesOfSome {
    first: u32,
    edges: Vec<Edge>,
    ends: Vec<usize>,
}

impl EdgesOfSome {
    /// Rank of each vector, and its edges.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &[Edge])> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let edges = starts.zip(&self.ends).map(|(start, end)| &self.edges[start..*end]);
        (self.first..).zip(edges)
    }

    /// Vectors that edges lead to, once or more.
    pub(super) fn targets(&self) -> impl Iterator<Item = u32> {
        self.edges.iter().map(|edge| key(*edge) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SegmentId;
    use crate::storage::{FsStorage, MemoryStorage, ReadMode, Storage, TestDirectory};
    use std::collections::{BTreeMap, BTreeSet};

    /// Edges that are left by a naive choice.
    fn expected(all: &[Edge], keep: Keep) -> BTreeMap<u32, Vec<Edge>> {
        let mut of = BTreeMap::<u32, BTreeSet<Edge>>::new();
        all.iter().for_each(|edge| _ = of.entry(from(*edge)).or_default().insert(*edge));
        let kept = |edges: BTreeSet<Edge>| -> Vec<Edge> {
            let Keep::Directions(capacity) = keep else { return edges.into_iter().collect() };
            let mut seen = BTreeSet::new();
            edges.into_iter().filter(|edge| seen.insert(*edge as u16)).take(capacity).collect()
        };
        of.into_iter().map(|(vector, edges)| (vector, kept(edges))).collect()
    }

    #[test]
    fn edges_are_the_same_with_any_room_and_in_any_order() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        let mut all: Vec<Edge> = (0..40_000)
            .map(|_| {
                let (from, to) = (random(300), random(300));
                // A direction and a distance of each pair.
                let key = (from * to % 97) << 32 | to;
                edge(from as u32, key, (from * 31 + to * 17) as u16 % 90)
            })
            .collect();
        let directory = TestDirectory::new();
        let pread = FsStorage::create(directory.path(), ReadMode::Pread).unwrap();
        let storages: [Arc<dyn Storage>; 2] = [Arc::new(MemoryStorage::new()), Arc::new(pread)];
        for keep in [Keep::All, Keep::Directions(48)] {
            let expected = expected(&all, keep);
            assert!(expected.values().any(|edges| edges.len() >= 48));
            for (nth, bytes) in [0, 20_000, 200_000, 1 << 30].into_iter().enumerate() {
                all.rotate_left(777);
                let storage = Arc::clone(&storages[nth % 2]);
                let files = Some(SpillFiles::new(storage, SegmentId([3; 16])));
                let sorter = EdgeSorter::new(keep, &Room { bytes, files }, 1, 2);
                let (mut even, mut odd) = (sorter.take(), sorter.take());
                for edges in all.chunks(2) {
                    sorter.add(&mut even, edges[0]).unwrap();
                    sorter.add(&mut odd, edges[1]).unwrap();
                }
                sorter.give_back(even);
                sorter.give_back(odd);
                let sorted = sorter.finish().unwrap();
                assert_eq!(sorted.file.is_some(), bytes < 1 << 30);
                for step in [1, 64, 1_000] {
                    let mut found = BTreeMap::new();
                    for first in (0..300).step_by(step) {
                        let vectors = first..(first + step as u32).min(300);
                        let some = sorted.of(vectors).unwrap();
                        let full = some.iter().filter(|(_, edges)| !edges.is_empty());
                        found.extend(full.map(|(vector, edges)| (vector, edges.to_vec())));
                    }
                    assert!(found == expected, "{keep:?}, {bytes} bytes, by {step}");
                }
            }
        }
    }
}
