//! Codes of vectors: a bit for each number, which walks compare instead of these.
//!
//! Written by [`encode_head`] and [`encode_row`], read by [`Codes`] that [`open`] makes.
//!
//! # Layout
//!
//! The CODES section of a field whose schema has such codes. Integers and numbers are little-endian. `dims` is rounded up to a
//! multiple of 64, with zeros for the numbers that there are more.
//!
//! ```text
//! offset  size  field     meaning
//!      0     4  n_nodes   u32
//!      4     2  dims      u16, numbers of a vector, as the schema says
//!      6     1  encoding  u8: 2, a bit for each number
//!      7     1  zero      reserved, zero, ignored
//!      8     8  seed      u64, of the signs of the rotation
//!     16     *  centroid  f32 for each number
//!      *     *  rows      for each node: a bit for each number, the first the lowest; f32, its length; f32, its factor
//! ```
//!
//! Each node has a vector, the one that the [code of a byte a number](super::codes) of its rows stands for: each number is the
//! product of scale and whole number, in 32 bits. The centroid is their mean: products in 64 bits are added up in the order
//! of nodes, divided by their number, and rounded to 32 bits.
//!
//! Coded is the vector less the centroid, rotated: in each of four rounds some signs are changed, and 2ⁿ numbers, the
//! greatest power of two that there are, are mixed by Walsh and Hadamard's transform and divided by √2ⁿ: the first that many in the
//! rounds 0 and 2, the last in the rounds 1 and 3. Round r changes the sign of the number i where bit i mod 64 of the word w = ⌊i ÷ 64⌋ is 1: words
//! are the last step of splitmix64 of seed + (r × words a round + w + 1) × 9E3779B97F4A7C15. A bit is 1 where the number that comes
//! out is not negative. The length is that of all numbers, and the factor its square divided by the sum of their magnitudes; both are
//! added up in 64 bits from the first number on, and are 0 of a vector that is the centroid.
//!
//! # Example
//!
//! Two nodes of two dimensions, the centroid 0.5, −0.25, the seed 7:
//!
//! ```text
//! 0000  02 00 00 00 02 00 02 00  07 00 00 00 00 00 00 00
//! 0010  00 00 00 3F 00 00 80 BE  FF 00 FF 00 FF 00 FF 00
//! 0020  00 00 80 3F 00 00 00 3E  0F 0F 0F 0F 0F 0F 0F 0F
//! 0030  00 00 00 40 00 00 80 3E
//! ```
//!
//! # Invariants
//!
//! - B1: a node's code is that of its rows, by the centroid and the seed of the head, to the bit.
//! - B2: the centroid is the mean of the nodes, to the bit.
//! - B3: no two nodes have rows of the same code of a byte a number.
//!
//! # Checks
//!
//! Opening compares dimensions with the schema, and the length with the number of nodes; a centroid that is not of finite
//! numbers is damage. `verify` proves all three. A wrong code makes a walk longer or what it finds less near, or leaves a neighbour
//! out that it would have found; what is found is compared by its rows.
//!
//! # Cost
//!
//! A bit a number and 8 bytes a node: of 384 numbers 56 bytes, a thirtieth of the rows. One range of bytes is read for a comparison.
//!
//! # Versions
//!
//! 1: as above.
//!
//! # Why
//!
//! The estimate of an inner product by signs after a random rotation, and the bound of its error, are those of RaBitQ
//! (arXiv 2405.12497). A rotation by transforms takes n log n sums and no matrix.
//!
//! The encoding is a byte in the head of the section that other codes have, not a section of its own: the schema of a field says
//! which codes it has, so a reader expects one of them, and whatever lists, copies, seals or rebuilds sections has the same kinds
//! to know.
//!
//! Codes are made of codes of a byte a number, by which the graph is built, so that rows that are one node have one code. These
//! are off by about a hundredth of what a bit is.

use super::codes::Codes;
use super::{expect_len, head};
use crate::bytes::{ByteReader, Source};
use crate::error::{Error, Result};

const HEAD_LEN: u64 = 16;
const B1: u8 = 2;
const DOING: &str = "opening the codes of vectors";
/// Numbers of a word of bits.
const WORD: usize = 64;
/// Bytes of a code beside those for numbers.
const BESIDE: usize = 8;

/// Bytes of the bits of so many dimensions.
pub(crate) fn bits_len(dims: u16) -> usize {
    usize::from(dims).div_ceil(WORD) * size_of::<u64>()
}

/// A code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BitCode<'c> {
    pub(crate) bits: &'c [u8],
    /// Distance from the centroid.
    pub(crate) length: f32,
    /// By which sums of numbers with these signs are multiplied.
    pub(crate) factor: f32,
}

/// Bytes before the rows.
pub(crate) fn encode_head(n_nodes: u32, seed: u64, centroid: &[f32], out: &mut Vec<u8>) {
    out.extend(n_nodes.to_le_bytes());
    // No schema has more dimensions than fit.
    out.extend((centroid.len() as u16).to_le_bytes());
    out.extend([B1, 0]);
    out.extend(seed.to_le_bytes());
    out.extend(centroid.iter().flat_map(|number| number.to_le_bytes()));
}

/// Adds the row of the next node.
pub(crate) fn encode_row(code: BitCode<'_>, out: &mut Vec<u8>) {
    out.extend(code.bits);
    out.extend(code.length.to_le_bytes());
    out.extend(code.factor.to_le_bytes());
}

/// Splits a row into its parts.
#[inline]
pub(crate) fn code_of_row(row: &[u8]) -> Option<BitCode<'_>> {
    let (bits, beside) = row.split_last_chunk::<BESIDE>()?;
    let [a, b, c, d, e, f, g, h] = *beside;
    let [length, factor] = [[a, b, c, d], [e, f, g, h]].map(f32::from_le_bytes);
    Some(BitCode { bits, length, factor })
}

/// Opens the section of a field of so many dimensions.
pub(crate) fn open<'s, S: Source<'s>>(source: S, dims: u16) -> Result<Codes<S>> {
    let bytes = head(source, HEAD_LEN, DOING)?;
    let mut reader = ByteReader::new(&bytes);
    let mut read = || Some((reader.u32()?, reader.u16()?, reader.u8()?));
    let (n_nodes, own_dims, encoding) = read().unwrap_or_default();
    if (own_dims, encoding) != (dims, B1) {
        let error = Error::corrupt(DOING).expected(format!("{dims} dimensions, encoding {B1}"));
        return Err(source.locate(4, error.found(format!("{own_dims}, {encoding}"))));
    }
    let start = HEAD_LEN + size_of::<f32>() as u64 * u64::from(dims);
    let row_len = (bits_len(dims) + BESIDE) as u64;
    expect_len(source, start + u64::from(n_nodes) * row_len, DOING)?;
    Ok(Codes::at(source, n_nodes, (start, row_len)))
}

/// Reads seed and centroid of codes that were opened.
pub(crate) fn seed_and_centroid<'s, S: Source<'s>>(codes: &Codes<S>) -> Result<(u64, Vec<f32>)> {
    let bytes = codes.head()?;
    let mut reader = ByteReader::new(bytes.get(8..).unwrap_or_default());
    let seed = reader.u64().unwrap_or_default();
    let numbers = reader.remaining().as_chunks().0;
    let centroid: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    match centroid.iter().find(|number| !number.is_finite()) {
        None => Ok((seed, centroid)),
        Some(number) => Err(codes
            .damage_of_head(HEAD_LEN, number.to_string())
            .expected("a centroid of finite numbers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;

    #[test]
    fn the_example_is_what_is_written_and_read() {
        let first =
            BitCode { bits: &[0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0], length: 1.0, factor: 0.125 };
        let second = BitCode { bits: &[0x0F; 8], length: 2.0, factor: 0.25 };
        let mut out = vec![];
        encode_head(2, 7, &[0.5, -0.25], &mut out);
        encode_row(first, &mut out);
        encode_row(second, &mut out);
        let expected = doc_check::hex_dump(include_str!("bit_codes.rs"));
        assert_eq!(out, expected, "\n{}", doc_check::render(&out));
        let layout = doc_check::layout(include_str!("bit_codes.rs"));
        assert_eq!((layout["seed"], layout["centroid"]), (8, HEAD_LEN as usize));
        let codes = open(&out[..], 2).unwrap();
        assert_eq!(codes.n_nodes(), 2);
        assert_eq!(seed_and_centroid(&codes).unwrap(), (7, vec![0.5, -0.25]));
        assert_eq!(code_of_row(&codes.row(0).unwrap()), Some(first));
        assert_eq!(code_of_row(&codes.row(1).unwrap()), Some(second));
        assert!(codes.row(2).is_err() && code_of_row(&[0; BESIDE - 1]).is_none());
        let at_hand = codes.at_hand().unwrap();
        assert_eq!(code_of_row(at_hand.row(1).unwrap()), Some(second));
    }

    #[test]
    fn other_encodings_dimensions_and_lengths_are_refused() {
        let out = doc_check::hex_dump(include_str!("bit_codes.rs"));
        let error = |bytes: &[u8], dims| open(bytes, dims).unwrap_err().to_string();
        assert!(error(&out, 3).contains("3 dimensions"));
        assert!(error(&out[..9], 2).contains("at least 16 bytes"));
        assert!(error(&out[..out.len() - 1], 2).contains("56 bytes"));
        let mut other = out.clone();
        other[6] = 1;
        assert!(error(&other, 2).contains("encoding 2"));
        assert!(Codes::open(&out[..], 2).unwrap_err().to_string().contains("encoding 1"));
        let mut other = out.clone();
        other[16..20].copy_from_slice(&f32::NAN.to_le_bytes());
        let codes = open(&other[..], 2).unwrap();
        assert!(seed_and_centroid(&codes).unwrap_err().to_string().contains("finite"));
    }
}
