//! Upper levels of a graph.
//!
//! Written by [`encode`], read by [`Upper`].
//!
//! # Layout
//!
//! The UPPER section of a field. Integers are little-endian.
//!
//! ```text
//! offset  size  field     meaning
//!      0     4  n_levels  u32, at most 16
//!      4     *  heads     for each level, the largest first: u32, its nodes; u32, their links
//!      *     *  levels    for each level: u32 for each node, the nodes, ascending; u32 for each node and one more, where its links
//!                         begin; u32 for each link, the place of a node in the level
//! ```
//!
//! # Example
//!
//! One level of the nodes 3 and 70, of which the first leads to the other:
//!
//! ```text
//! 0000  01 00 00 00 02 00 00 00  01 00 00 00 03 00 00 00
//! 0010  46 00 00 00 00 00 00 00  01 00 00 00 01 00 00 00
//! 0020  01 00 00 00
//! ```
//!
//! # Invariants
//!
//! - U1: nodes of a level ascend and are those of the graph; each is in all levels before.
//! - U2: links of a node ascend and lead to other places of the level. All links of the level are of a node.
//! - U4: each node of a level can be reached from those of the next, smaller one.
//! - U3: there is a node in each level.
//!
//! # Checks
//!
//! Opening compares the length with all numbers, and refuses what is against U3. Reading refuses links and nodes that are not
//! there. `verify` proves U1, U2 and U4.
//!
//! # Cost
//!
//! Some 2 bytes a node of the graph, of which one in 64 is in a level.
//!
//! # Versions
//!
//! 1: as above.
//!
//! # Why
//!
//! A walk through all nodes that begins far away takes as many steps as there are regions between. Numbers are not packed since
//! there are few.

use super::{DEGREE_MAX, U32_LEN, expect_len, head, number_at};
use crate::bytes::{Source, array_at};
use crate::error::{Error, Result};

const LEVELS_MAX: u32 = 16;
const DOING: &str = "opening the upper levels of a graph";

/// A level to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelParts<'l> {
    pub(crate) nodes: &'l [u32],
    /// Places where the links of each begin, and the last ones end.
    pub(crate) starts: &'l [u32],
    /// Places in the level.
    pub(crate) links: &'l [u32],
}

/// The section of levels, the largest first.
pub(crate) fn encode(levels: &[LevelParts<'_>]) -> Vec<u8> {
    let mut out = vec![];
    out.extend((levels.len() as u32).to_le_bytes());
    for level in levels {
        out.extend((level.nodes.len() as u32).to_le_bytes());
        out.extend((level.links.len() as u32).to_le_bytes());
    }
    for LevelParts { nodes, starts, links } in levels {
        out.extend([*nodes, starts, links].into_iter().flatten().flat_map(|it| it.to_le_bytes()));
    }
    out
}

/// The upper levels of a graph, read where they lie.
#[derive(Clone, Debug)]
pub(crate) struct Upper<S> {
    source: S,
    /// The largest first.
    levels: Vec<UpperLevel>,
    /// Nodes of the graph.
    n_nodes: u32,
}

/// Place of a level.
#[derive(Clone, Copy, Debug)]
struct UpperLevel {
    at: u64,
    n_nodes: u32,
    n_links: u32,
}

impl<'s, S: Source<'s>> Upper<S> {
    /// Opens the levels above a graph of so many nodes.
    pub(crate) fn open(source: S, n_nodes: u32) -> Result<Self> {
        let n_levels = array_at(&head(source, U32_LEN, DOING)?, 0).map_or(0, u32::from_le_bytes);
        let wrong = |expected: &str, found: String| {
            source.locate(0, Error::corrupt(DOING).expected(expected).found(found))
        };
        if n_levels > LEVELS_MAX {
            return Err(wrong("at most 16 levels", n_levels.to_string()));
        }
        let mut at = U32_LEN + u64::from(n_levels) * 2 * U32_LEN;
        head(source, at, DOING)?;
        let mut levels = vec![];
        for nth in 0..n_levels {
            let own = number_at(source, U32_LEN, 2 * nth)?;
            let n_links = number_at(source, U32_LEN, 2 * nth + 1)?;
            if own == 0 || own > n_nodes {
                return Err(wrong("a node of the graph or more", own.to_string()));
            }
            levels.push(UpperLevel { at, n_nodes: own, n_links });
            at += (2 * u64::from(own) + 1 + u64::from(n_links)) * U32_LEN;
        }
        expect_len(source, at, DOING)?;
        Ok(Upper { source, levels, n_nodes })
    }

    /// The levels as bytes that need no more checks, if they are at hand.
    pub(crate) fn at_hand(&self) -> Option<Upper<&'s [u8]>> {
        let source = self.source.at_hand()?;
        Some(Upper { source, levels: self.levels.clone(), n_nodes: self.n_nodes })
    }

    pub(crate) fn n_levels(&self) -> usize {
        self.levels.len()
    }

    /// Nodes of a level.
    pub(crate) fn n_nodes(&self, level: usize) -> u32 {
        self.levels.get(level).map_or(0, |level| level.n_nodes)
    }

    fn level(&self, level: usize) -> Result<UpperLevel> {
        let found = || format!("level {level} of {}", self.levels.len());
        self.levels.get(level).copied().ok_or_else(|| self.damage(0, found()))
    }

    /// The node at a place of a level.
    pub(crate) fn node(&self, level: usize, place: u32) -> Result<u32> {
        let UpperLevel { at, n_nodes, .. } = self.level(level)?;
        let node = match place < n_nodes {
            true => number_at(self.source, at, place)?,
            false => return Err(self.damage(at, format!("the place {place} of {n_nodes}"))),
        };
        match node < self.n_nodes {
            true => Ok(node),
            false => Err(self.damage(at, format!("the node {node} of {}", self.n_nodes))),
        }
    }

    /// The nodes of a level, if they are at hand; readers check that they are of the graph.
    pub(crate) fn nodes_at_hand(&self, level: usize) -> Option<&'s [[u8; 4]]> {
        let UpperLevel { at, n_nodes, .. } = *self.levels.get(level)?;
        let nodes = self.source.at_hand()?.get(at as usize..)?.as_chunks().0;
        nodes.get(..n_nodes as usize)
    }

    /// Appends the links of a place of a level to `links`: places there.
    pub(crate) fn links(&self, level: usize, place: u32, links: &mut Vec<u32>) -> Result<()> {
        let UpperLevel { at, n_nodes, n_links } = self.level(level)?;
        if place >= n_nodes {
            return Err(self.damage(at, format!("the place {place} of {n_nodes}")));
        }
        let starts = at + u64::from(n_nodes) * U32_LEN;
        let start = number_at(self.source, starts, place)?;
        let end = number_at(self.source, starts, place + 1)?;
        if start > end || end > n_links || (end - start) as usize > DEGREE_MAX {
            return Err(self.damage(starts, format!("the links {start}..{end} of {n_links}")));
        }
        let at = starts + (u64::from(n_nodes) + 1) * U32_LEN;
        let range = at + u64::from(start) * U32_LEN..at + u64::from(end) * U32_LEN;
        for link in self.source.bytes(range)?.as_chunks().0 {
            let link = u32::from_le_bytes(*link);
            if link >= n_nodes {
                return Err(self.damage(at, format!("a link to {link} of {n_nodes}")));
            }
            links.push(link);
        }
        Ok(())
    }

    /// Whether links of a level are of its nodes, ascend and lead to others; gives those of each node to `each`.
    pub(crate) fn verify_links(&self, level: usize, mut each: impl FnMut(&[u32])) -> Result<()> {
        let UpperLevel { at, n_nodes, n_links } = self.level(level)?;
        let starts = at + u64::from(n_nodes) * U32_LEN;
        let [first, last] =
            [number_at(self.source, starts, 0)?, number_at(self.source, starts, n_nodes)?];
        if (first, last) != (0, n_links) {
            let found = format!("links from {first} to {last} in level {level}");
            return Err(self.damage(starts, found).expected(format!("all {n_links}")));
        }
        let mut links = vec![];
        for place in 0..n_nodes {
            links.clear();
            self.links(level, place, &mut links)?;
            if links.contains(&place) || !links.is_sorted_by(|a, b| a < b) {
                let found = format!("the links {links:?} of the place {place} in level {level}");
                return Err(self.damage(starts, found).expected("others, ascending"));
            }
            each(&links);
        }
        Ok(())
    }

    /// An error at a place.
    #[cold]
    pub(crate) fn damage(&self, at: u64, found: impl Into<String>) -> Error {
        let error = Error::corrupt("reading the upper levels of a graph");
        self.source.locate(at, error.found(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;

    const LEVEL: LevelParts<'_> = LevelParts { nodes: &[3, 70], starts: &[0, 1, 1], links: &[1] };

    #[test]
    fn the_example_is_what_is_written_and_read() {
        let bytes = encode(&[LEVEL]);
        assert_eq!(
            bytes,
            doc_check::hex_dump(include_str!("upper.rs")),
            "\n{}",
            doc_check::render(&bytes)
        );
        let (upper, mut links) = (Upper::open(&bytes[..], 71).unwrap(), vec![]);
        assert_eq!((upper.n_levels(), upper.n_nodes(0)), (1, 2));
        assert_eq!([0, 1].map(|place| upper.node(0, place).unwrap()), [3, 70]);
        upper.links(0, 0, &mut links).unwrap();
        assert_eq!(links, [1]);
        upper.links(0, 1, &mut links).unwrap();
        assert_eq!(links.len(), 1, "the other has none");
        assert!(upper.node(0, 2).is_err() && upper.node(1, 0).is_err());
        assert!(upper.links(0, 2, &mut links).is_err());
    }

    #[test]
    fn damage_is_refused() {
        let bytes = encode(&[LEVEL]);
        let flipped = |at: usize, to: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = to;
            bytes
        };
        for (at, to) in [(0, 17), (0, 2), (4, 0), (4, 72), (4, 1), (8, 2)] {
            assert!(Upper::open(&flipped(at, to)[..], 71).is_err(), "{at}");
        }
        let links = |bytes: &[u8]| Upper::open(bytes, 71).unwrap().links(0, 0, &mut vec![]);
        assert!(links(&flipped(20, 2)).is_err() && links(&flipped(24, 2)).is_err());
        assert!(links(&flipped(32, 2)).is_err());
        assert!(Upper::open(&flipped(16, 71)[..], 71).unwrap().node(0, 1).is_err());
        assert!(Upper::open(&bytes[..3], 71).is_err());
    }
}
