//! Nodes of a graph, and the rows of each.
//!
//! Written by [`encode`], read by [`Nodes`].
//!
//! # Layout
//!
//! The NODES section of a field. Integers are little-endian.
//!
//! ```text
//! offset  size  field    meaning
//!      0     4  n_nodes  u32
//!      4     4  n_rows   u32, rows of the field
//!      8     *  starts   u32 for each node and one more, where its rows begin; left out if each has one
//!      *     *  rows     u32 for each row, ascending for each node
//! ```
//!
//! # Example
//!
//! Two nodes: the first has the rows 1 and 2, the second the row 0:
//!
//! ```text
//! 0000  02 00 00 00 03 00 00 00  00 00 00 00 02 00 00 00
//! 0010  03 00 00 00 01 00 00 00  02 00 00 00 00 00 00 00
//! ```
//!
//! # Invariants
//!
//! - N1: each row of the field is there once, and each node has one at least.
//! - N2: the rows of a node ascend.
//! - N3: rows of a node have one [code](super::codes), and those of others another, also where codes are not written.
//!
//! # Checks
//!
//! Opening compares the number of rows with that of the field, and the length with both numbers. Reading refuses rows
//! that are not there. `verify` proves N1 and N2, and of N3 that rows of a
//! node have one code.
//!
//! # Cost
//!
//! 4 bytes a row, and 4 a node if any has several.
//!
//! # Versions
//!
//! 1: as above.
//!
//! # Why
//!
//! Nodes have numbers of their own because rows stay in the order of documents, which filters are gone through in. A
//! hundred copies of a vector would only lead to each other.

use super::{U32_LEN, expect_len, head, number_at};
use crate::bytes::{ByteReader, Source};
use crate::error::{Error, Result};
use std::ops::Range;

const HEAD_LEN: u64 = 8;
const DOING: &str = "opening the nodes of vectors";

/// The section of nodes with these rows, given with where those of each begin and where the last ends.
pub(crate) fn encode(starts: &[u32], rows: &[u32]) -> Vec<u8> {
    let n_nodes = starts.len().saturating_sub(1);
    let starts_if_any = if n_nodes == rows.len() { &[] } else { starts };
    let head = [n_nodes as u32, rows.len() as u32];
    head.iter().chain(starts_if_any).chain(rows).flat_map(|it| it.to_le_bytes()).collect()
}

/// The nodes of a field, read where they lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nodes<S> {
    source: S,
    n_nodes: u32,
    n_rows: u32,
}

impl<'s, S: Source<'s>> Nodes<S> {
    /// Opens the nodes of a field of so many rows.
    pub(crate) fn open(source: S, n_rows: u32) -> Result<Self> {
        let bytes = head(source, HEAD_LEN, DOING)?;
        let mut reader = ByteReader::new(&bytes);
        let (n_nodes, own_rows) = reader.u32().zip(reader.u32()).unwrap_or_default();
        if own_rows != n_rows || n_nodes > n_rows || (n_nodes == 0) != (n_rows == 0) {
            let error = Error::corrupt(DOING).expected(format!("1 to {n_rows} of {n_rows} rows"));
            return Err(source.locate(0, error.found(format!("{n_nodes} of {own_rows}"))));
        }
        let n_starts = if n_nodes == n_rows { 0 } else { u64::from(n_nodes) + 1 };
        expect_len(source, HEAD_LEN + (n_starts + u64::from(n_rows)) * U32_LEN, DOING)?;
        Ok(Nodes { source, n_nodes, n_rows })
    }

    /// The nodes as bytes that need no more checks, if they are at hand.
    pub(crate) fn at_hand(&self) -> Option<Nodes<&'s [u8]>> {
        let Nodes { source, n_nodes, n_rows } = *self;
        Some(Nodes { source: source.at_hand()?, n_nodes, n_rows })
    }

    pub(crate) fn n_nodes(&self) -> u32 {
        self.n_nodes
    }

    /// Whether no node has two rows.
    fn has_one_each(&self) -> bool {
        self.n_nodes == self.n_rows
    }

    /// Places of the rows of a node.
    #[inline]
    pub(crate) fn places(&self, node: u32) -> Result<Range<u32>> {
        if node >= self.n_nodes {
            return Err(self.damage(node, format!("{} nodes", self.n_nodes)));
        }
        if self.has_one_each() {
            return Ok(node..node + 1);
        }
        let start = number_at(self.source, HEAD_LEN, node)?;
        let end = number_at(self.source, HEAD_LEN, node + 1)?;
        match start < end && end <= self.n_rows {
            true => Ok(start..end),
            false => Err(self.damage(node, format!("the rows {start}..{end}"))),
        }
    }

    /// The row at a place.
    #[inline]
    pub(crate) fn row(&self, place: u32) -> Result<u32> {
        let n_starts = if self.has_one_each() { 0 } else { u64::from(self.n_nodes) + 1 };
        let row = number_at(self.source, HEAD_LEN + n_starts * U32_LEN, place)?;
        match row < self.n_rows {
            true => Ok(row),
            false => Err(self.damage(place, format!("the row {row} of {}", self.n_rows))),
        }
    }

    /// An error about a node.
    #[cold]
    pub(crate) fn damage(&self, node: u32, found: impl Into<String>) -> Error {
        let error = Error::corrupt(format!("reading the rows of the node {node}"));
        self.source.locate(HEAD_LEN, error.found(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;

    #[test]
    fn the_example_is_what_is_written_and_read() {
        let bytes = encode(&[0, 2, 3], &[1, 2, 0]);
        assert_eq!(
            bytes,
            doc_check::hex_dump(include_str!("nodes.rs")),
            "\n{}",
            doc_check::render(&bytes)
        );
        let nodes = Nodes::open(&bytes[..], 3).unwrap();
        let rows = |node| -> Vec<u32> {
            nodes.places(node).unwrap().map(|at| nodes.row(at).unwrap()).collect()
        };
        assert_eq!([rows(0), rows(1)], [vec![1, 2], vec![0]]);
        assert!(nodes.places(2).is_err() && nodes.row(3).is_err());
    }

    #[test]
    fn a_row_each_takes_no_starts() {
        let bytes = encode(&[0, 1, 2], &[1, 0]);
        assert_eq!(bytes.len(), 16);
        let nodes = Nodes::open(&bytes[..], 2).unwrap();
        assert_eq!((nodes.places(1).unwrap(), nodes.row(0).unwrap()), (1..2, 1));
    }

    #[test]
    fn damage_is_refused() {
        let bytes = encode(&[0, 2, 3], &[1, 2, 0]);
        for n_rows in [0, 2, 4] {
            assert!(Nodes::open(&bytes[..], n_rows).is_err());
        }
        assert!(Nodes::open(&bytes[..bytes.len() - 1], 3).is_err());
        assert!(Nodes::open(&bytes[..5], 3).is_err());
        let (mut starts, mut rows) = (bytes.clone(), bytes);
        starts[12] = 9;
        assert!(Nodes::open(&starts[..], 3).unwrap().places(0).is_err());
        rows[20] = 3;
        assert!(Nodes::open(&rows[..], 3).unwrap().row(0).is_err());
    }
}
