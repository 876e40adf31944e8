//! Graphs of neighbours of vectors.
//!
//! Each node leads to some of those near to it, and a walk from node to node comes to the nearest of any vector.
//!
//! A graph is built of [codes](code), whose products are whole numbers, so that it is the same on all processors, with
//! any number of threads. It knows no files: what reads them hands its nodes to the [walk](mod@walk).
//!
//! Above the nodes are [levels](Level) of a few of them, in which the walk looks for where to enter.

pub(crate) mod build;
pub(crate) mod code;
mod crew;
pub(crate) mod curve;
mod hash;
mod seen;
pub(crate) mod walk;

use crate::error::Result;
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
    /// Neighbours, ascending within a node.
    pub(crate) to: Vec<u32>,
}

impl Adjacency {
    pub(crate) fn of<'l>(links: impl IntoIterator<Item = &'l [u32]>) -> Self {
        let mut all = Adjacency { starts: vec![0], to: vec![] };
        for links in links {
            all.to.extend_from_slice(links);
            all.starts.push(all.to.len() as u32);
        }
        all
    }

    /// Neighbours of a node; none of one that is not there.
    pub(crate) fn of_node(&self, node: u32) -> &[u32] {
        let range = self.starts.get(node as usize..).and_then(|starts| starts.first_chunk());
        let links = range.and_then(|[from, to]| self.to.get(*from as usize..*to as usize));
        links.unwrap_or_default()
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
        to.extend_from_slice(self.level.links.of_node(place));
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
