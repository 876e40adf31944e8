//! Codes of vectors: a byte for each number, which walks compare instead of these.
//!
//! Written by [`encode_head`] and [`encode_row`], read by [`Codes`].
//!
//! # Layout
//!
//! The CODES section of a field whose schema has such codes; others are [a bit for each number](super::bit_codes). Integers and numbers are little-endian.
//!
//! ```text
//! offset  size  field     meaning
//!      0     4  n_nodes   u32
//!      4     2  dims      u16, numbers of a vector, as the schema says
//!      6     1  encoding  u8: 1, a byte for each number
//!      7     9  zero      reserved, zero, ignored
//!     16     *  rows      for each node: an i8 for each number; f32, its scale; f32, squared length
//! ```
//!
//! # Example
//!
//! Two nodes of two dimensions: the codes 127, −64 of scale 0.5, and 0, 127 of scale 2:
//!
//! ```text
//! 0000  02 00 00 00 02 00 01 00  00 00 00 00 00 00 00 00
//! 0010  7F C0 00 00 00 3F 00 02  9E 45 00 7F 00 00 00 40
//! 0020  00 04 7C 47
//! ```
//!
//! # Invariants
//!
//! - K1: a node's code is that of each of its rows, to the bit.
//! - K2: no two nodes have the same.
//!
//! # Checks
//!
//! Opening compares dimensions with the schema, and the length with the number of nodes. `verify` proves K1 and K2; a
//! wrong code makes a walk longer or what it finds less near, and no other harm, since what is found is compared by its rows.
//!
//! # Cost
//!
//! A byte a number and 8 a node, a quarter of the rows. One range of bytes is read for a comparison.
//!
//! # Versions
//!
//! 1: as above.
//!
//! # Why
//!
//! Sums of integers are the same in any order, so that all processors build the same graph. A code depends on its vector
//! alone: segments are merged without making others.

use super::{expect_len, head};
use crate::bytes::{ByteReader, Bytes, Source};
use crate::error::{Error, Result};
use crate::simd::prefetch::prefetch_rows;

const HEAD_LEN: u64 = 16;
const I8: u8 = 1;
const DOING: &str = "opening the codes of vectors";

/// Bytes of a code beside those for numbers.
pub(crate) const BESIDE: usize = 8;

/// A code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Code<'c> {
    /// For each number, as bytes of an i8.
    pub(crate) steps: &'c [u8],
    /// By which they are multiplied.
    pub(crate) scale: f32,
    /// Squared length of what they stand for.
    pub(crate) square: f32,
}

/// Bytes before the rows.
pub(crate) fn encode_head(n_nodes: u32, dims: u16, out: &mut Vec<u8>) {
    out.extend(n_nodes.to_le_bytes());
    out.extend(dims.to_le_bytes());
    out.extend([I8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

/// Adds the row of the next node.
pub(crate) fn encode_row(code: Code<'_>, out: &mut Vec<u8>) {
    out.extend(code.steps);
    out.extend(code.scale.to_le_bytes());
    out.extend(code.square.to_le_bytes());
}

/// Scale and squared length of a row; zeros if it is too short.
#[inline]
pub(crate) fn measures_of_row(row: &[u8]) -> [f32; 2] {
    let [a, b, c, d, e, f, g, h] = row.last_chunk::<BESIDE>().copied().unwrap_or_default();
    [[a, b, c, d], [e, f, g, h]].map(f32::from_le_bytes)
}

/// Splits a row into its parts.
#[inline]
pub(crate) fn code_of_row(row: &[u8]) -> Option<Code<'_>> {
    let (steps, _) = row.split_last_chunk::<BESIDE>()?;
    let [scale, square] = measures_of_row(row);
    Some(Code { steps, scale, square })
}

/// Codes of nodes back to back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeRows<'s> {
    rows: &'s [u8],
    row_len: usize,
}

impl<'s> CodeRows<'s> {
    /// The row of a node.
    #[inline]
    pub(crate) fn row(self, node: u32) -> Option<&'s [u8]> {
        let start = node as usize * self.row_len;
        self.rows.get(start..start + self.row_len)
    }

    /// Begins to load the rows of some nodes.
    #[inline]
    pub(crate) fn prefetch(self, nodes: &[u32]) {
        prefetch_rows(self.rows, self.row_len, nodes.iter().map(|node| *node as usize));
    }
}

/// The codes of a field, read where they lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codes<S> {
    source: S,
    n_nodes: u32,
    /// Bytes before the rows.
    start: u64,
    row_len: u64,
}

impl<'s, S: Source<'s>> Codes<S> {
    /// Opens the section of a field of so many dimensions.
    pub(crate) fn open(source: S, dims: u16) -> Result<Self> {
        let bytes = head(source, HEAD_LEN, DOING)?;
        let mut reader = ByteReader::new(&bytes);
        let mut read = || Some((reader.u32()?, reader.u16()?, reader.u8()?));
        let (n_nodes, own_dims, encoding) = read().unwrap_or_default();
        if (own_dims, encoding) != (dims, I8) {
            let error = Error::corrupt(DOING).expected(format!("{dims} dimensions, encoding {I8}"));
            return Err(source.locate(4, error.found(format!("{own_dims}, {encoding}"))));
        }
        let row_len = u64::from(dims) + BESIDE as u64;
        expect_len(source, HEAD_LEN + u64::from(n_nodes) * row_len, DOING)?;
        Ok(Codes::at(source, n_nodes, (HEAD_LEN, row_len)))
    }

    /// Codes in a section that was checked, with where the rows begin and the bytes of each.
    pub(super) fn at(source: S, n_nodes: u32, (start, row_len): (u64, u64)) -> Self {
        Codes { source, n_nodes, start, row_len }
    }

    /// Bytes before the rows.
    pub(super) fn head(&self) -> Result<Bytes<'s>> {
        self.source.bytes(0..self.start)
    }

    pub(crate) fn n_nodes(&self) -> u32 {
        self.n_nodes
    }

    /// The rows, if they are at hand and need no more checks.
    pub(crate) fn at_hand(&self) -> Option<CodeRows<'s>> {
        let rows = self.source.at_hand()?.get(self.start as usize..)?;
        Some(CodeRows { rows, row_len: self.row_len as usize })
    }

    /// Bytes of the row of a node.
    #[inline]
    pub(crate) fn range(&self, node: u32) -> std::ops::Range<u64> {
        let at = self.start + u64::from(node) * self.row_len;
        at..at + self.row_len
    }

    /// The row of a node.
    #[inline]
    pub(crate) fn row(&self, node: u32) -> Result<Bytes<'s>> {
        self.source.bytes(self.range(node))
    }

    /// Says that a row will be asked for soon.
    #[inline]
    pub(crate) fn prefetch(&self, node: u32) {
        self.source.prefetch(self.range(node));
    }

    /// An error about a node.
    #[cold]
    pub(crate) fn damage(&self, node: u32, found: impl Into<String>) -> Error {
        let error = Error::corrupt("reading the codes of vectors");
        self.source.locate(self.range(node).start, error.found(found))
    }

    /// An error about what stands before the rows.
    #[cold]
    pub(super) fn damage_of_head(&self, at: u64, found: impl Into<String>) -> Error {
        let error = Error::corrupt("reading the codes of vectors");
        self.source.locate(at, error.found(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;

    #[test]
    fn the_example_is_what_is_written_and_read() {
        let first = Code { steps: &[127, 192], scale: 0.5, square: 5_056.25 };
        let second = Code { steps: &[0, 127], scale: 2.0, square: 64_516.0 };
        let mut out = vec![];
        encode_head(2, 2, &mut out);
        encode_row(first, &mut out);
        encode_row(second, &mut out);
        assert_eq!(
            out,
            doc_check::hex_dump(include_str!("codes.rs")),
            "\n{}",
            doc_check::render(&out)
        );
        let codes = Codes::open(&out[..], 2).unwrap();
        assert_eq!(codes.n_nodes(), 2);
        assert_eq!(code_of_row(&codes.row(0).unwrap()), Some(first));
        assert_eq!(code_of_row(&codes.row(1).unwrap()), Some(second));
        assert!(codes.row(2).is_err() && code_of_row(&[0; BESIDE - 1]).is_none());
    }

    #[test]
    fn other_dimensions_and_lengths_are_refused() {
        let out = doc_check::hex_dump(include_str!("codes.rs"));
        let error = |bytes: &[u8], dims| Codes::open(bytes, dims).unwrap_err().to_string();
        assert!(error(&out, 3).contains("3 dimensions"));
        assert!(error(&out[..9], 2).contains("at least 16 bytes"));
        assert!(error(&out[..out.len() - 1], 2).contains("36 bytes"));
    }
}
