//! Graphs of neighbours of vectors.
//!
//! Each node leads to some of those near to it, and a walk from node to node comes to the nearest of any vector.
//!
//! A graph is built of [codes](code), whose products are whole numbers, so that it is the same on all processors, with
//! any number of threads. It knows no segments: their readers hand nodes to the [walk](mod@walk). A build that lacks memory writes
//! [temporary files](spill).
//!
//! Above the nodes are [levels](Level) of a few of them, in which the walk looks for where to enter.

pub(crate) mod bit_code;
pub(crate) mod build;
pub(crate) mod code;
mod crew;
pub(crate) mod curve;
pub(crate) mod distinct;
mod hash;
mod seen;
pub(crate) mod spill;
pub(crate) mod walk;

use crate::error::{Error, ErrorKind, Result};
use spill::{SpillWriter, SpilledBytes};
use walk::{Counts, Nodes, Scratch, walk};

/// Most neighbours of a node.
pub(crate) const DEGREE_MAX: usize = 64;
/// Nodes of the highest level, all of which a walk begins with.
pub(crate) const TOP_NODES: usize = 64;
/// Nearest nodes of a level that the walk goes on with.
pub(crate) const ENTRIES: usize = 4;

/// Neighbours of each of some nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Adjacency {
    /// Place of the first neighbour of each node, and behind the last.
    pub(crate) starts: Vec<u32>,
    /// Neighbours, ascending within a node, as little-endian numbers of [`NODE_LEN`] bytes.
    to: SpilledBytes,
}

/// Bytes of a neighbour.
const NODE_LEN: usize = size_of::<u32>();

impl Adjacency {
    #[cfg(test)]
    pub(crate) fn of<'l>(links: impl IntoIterator<Item = &'l [u32]>) -> Self {
        let mut writer = AdjacencyWriter::new(SpillWriter::new(None, 0));
        links.into_iter().for_each(|links| writer.add(links).unwrap());
        writer.finish().unwrap()
    }

    /// Neighbours of a node; none of one that is not there.
    pub(crate) fn of_node(&self, node: u32) -> impl Iterator<Item = u32> {
        let range = self.starts.get(node as usize..).and_then(|starts| starts.first_chunk());
        let all = self.to.as_chunks::<NODE_LEN>().0;
        let links = range.and_then(|[from, to]| all.get(*from as usize..*to as usize));
        links.unwrap_or_default().iter().map(|to| u32::from_le_bytes(*to))
    }

    /// Neighbours of all nodes.
    pub(crate) fn all(&self) -> Vec<u32> {
        let all = self.to.as_chunks::<NODE_LEN>().0;
        all.iter().map(|to| u32::from_le_bytes(*to)).collect()
    }
}

/// Neighbours of nodes one after the other.
#[derive(Debug)]
struct AdjacencyWriter {
    starts: Vec<u32>,
    to: SpillWriter,
}

impl AdjacencyWriter {
    fn new(to: SpillWriter) -> Self {
        AdjacencyWriter { starts: vec![0], to }
    }

    /// Adds the neighbours of the next node.
    fn add(&mut self, links: &[u32]) -> Result<()> {
        let start = self.starts.last().copied().unwrap_or_default();
        let end = start.checked_add(links.len() as u32).ok_or_else(|| {
            Error::new(ErrorKind::LimitExceeded, "building a graph of neighbours")
                .expected(format!("at most {} links", u32::MAX))
                .found("more")
        })?;
        self.starts.push(end);
        links.iter().try_for_each(|to| self.to.write(&to.to_le_bytes()))
    }

    fn finish(self) -> Result<Adjacency> {
        let to = self.to.finish()?;
        to.read_in_any_order();
        Ok(Adjacency { starts: self.starts, to })
    }
}

/// Some of the nodes, as a graph of their own: those of the least hashes, so that each level has those of the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Level {
    /// The nodes, ascending.
    pub(crate) nodes: Vec<u32>,
    /// Neighbours by place in `nodes`.
    pub(crate) links: Adjacency,
}

/// Nodes and their neighbours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Graph {
    /// Input vector of each node: nodes next to each other are near each other.
    pub(crate) order: Vec<u32>,
    /// Neighbours by node.
    pub(crate) links: Adjacency,
    /// Levels above, the largest first. The last has at most [`TOP_NODES`]; there is none if all nodes are as few.
    pub(crate) upper: Vec<Level>,
}

/// Nodes of a level, as a walk sees them.
struct NodesOfLevel<'g, D> {
    level: &'g Level,
    distance: D,
}

impl<D: FnMut(u32) -> Result<f32>> Nodes for NodesOfLevel<'_, D> {
    fn n_nodes(&self) -> usize {
        self.level.nodes.len()
    }

    fn links(&mut self, place: u32, to: &mut Vec<u32>) -> Result<()> {
        to.extend(self.level.links.of_node(place));
        Ok(())
    }

    fn distance(&mut self, place: u32) -> Result<f32> {
        (self.distance)(self.level.nodes.get(place as usize).copied().unwrap_or(u32::MAX))
    }
}

/// Nodes with which a walk over all `n_nodes` enters: the nearest that walks over the levels above come to. `distance` is that of a
/// node; the levels begin with the largest.
///
/// # Errors
///
/// Whatever `distance` says.
pub(crate) fn enter(
    levels: &[Level],
    n_nodes: usize,
    mut distance: impl FnMut(u32) -> Result<f32>,
    scratch: &mut Scratch,
    entries: &mut Vec<u32>,
) -> Result<Counts> {
    entries.clear();
    let top = levels.last().map_or(n_nodes, |level| level.nodes.len());
    entries.extend(0..top.min(TOP_NODES) as u32);
    let mut counts = Counts::default();
    let mut below = levels.iter().rev().skip(1);
    for level in levels.iter().rev() {
        let mut nodes = NodesOfLevel { level, distance: &mut distance };
        counts += walk(&mut nodes, entries, ENTRIES, scratch)?;
        entries.clear();
        let found = scratch.nearest().map(|(place, _)| level.nodes[place as usize]);
        match below.next() {
            Some(below) => entries.extend(
                found.filter_map(|node| below.nodes.binary_search(&node).ok().map(|at| at as u32)),
            ),
            None => entries.extend(found),
        }
    }
    Ok(counts)
}
