//! Lengths of a field by document, in one byte, and their effect on scores.
//!
//! Written when a field's documents are all known ([`encode_head`]), read by ranking ([`FieldNorms`]).
//!
//! # Layout
//!
//! The LENGTHS section of a field that keeps frequencies; integers and floats are little-endian,
//! offsets count from its start.
//!
//! ```text
//! offset  size  field    meaning
//!      0     4  n_docs   u32, documents of the segment
//!      4     4  k1       f32 of BM25 that impacts were computed with
//!      8     4  b        f32 of BM25 that impacts were computed with
//!     12     4  average  f32, the average length that impacts were computed with
//!     16     *  codes    n_docs times u8
//! ```
//!
//! The code of a length is the length itself below 40. Above, the length less 24 is written as four
//! significant bits (the first of which is always 1) and an exponent, and rounded down: code c of 40 to
//! 255 stands for 24 + (8 + (c - 24) % 8) << ((c - 24) / 8 - 1). A document without the field, or
//! without a word in it, has code 0.
//!
//! The part of the score that frequency and length make is `tf / (tf + K(length))` with
//! `K = k1 * (1 - b + b * length / average)`, where `length` is what the code stands for. Whoever
//! ranks with another k1, b or average must widen what impacts say by what that changes.
//!
//! # Example
//!
//! Three documents of 7, 0 and 100 words, the second without a value, so that the average is 53.5:
//!
//! ```text
//! 0000  03 00 00 00 9A 99 99 3F  00 00 40 3F 00 00 56 42
//! 0010  07 00 39
//! ```
//!
//! # Invariants
//!
//! - L1: there is a code for each document, and no byte more.
//! - L2: a code is that of the sum of the document's frequencies in this field.
//! - L3: k1 is not negative, b is 0 to 1, the average is positive and finite.
//!
//! # Checks
//!
//! [`FieldNorms::open`] refuses what breaks L1 or L3; `verify` refuses what breaks L2.
//!
//! # Cost
//!
//! One byte a document. Every byte is a code, so nothing is checked when one is read.
//!
//! # Versions
//!
//! 1: as above.
//!
//! # Why
//!
//! Scores hardly change with the last digits of a length, and with 256 lengths all that depends on one
//! is a table. These are Lucene's codes: with them scores can be compared.

use crate::bytes::{Bytes, Piece, Source};
use crate::error::{Error, Result};
use std::ops::Range;

const CODES_AT: usize = 16;
/// Lengths below are their own codes and then some: 16 more, until four bits do not hold the rest.
const N_FREE: u32 = 24;

/// The longest that there is a code for.
const LENGTH_MAX: u32 = i32::MAX as u32;

/// The parameters of BM25, with the average length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bm25 {
    pub(crate) k1: f32,
    pub(crate) b: f32,
    pub(crate) average: f32,
}

impl Bm25 {
    /// Parameters that impacts are computed with: the usual k1 and b, the average of the segment.
    pub(crate) fn of_segment(n_tokens: u64, n_docs_with_value: u64) -> Self {
        Bm25 { k1: 1.2, b: 0.75, average: average(n_tokens, n_docs_with_value) }
    }

    /// Addends to the frequency below the line, by code of the length.
    pub(crate) fn norm_cache(&self) -> [f32; 256] {
        decode_table()
            .map(|length| self.k1 * (1.0 - self.b + self.b * length as f32 / self.average))
    }

    fn is_sound(&self) -> bool {
        self.k1 >= 0.0
            && self.k1.is_finite()
            && (0.0..=1.0).contains(&self.b)
            && self.average > 0.0
            && self.average.is_finite()
    }
}

/// The average length of a field in the documents that have it; 1 if none has, to divide by.
pub(crate) fn average(n_tokens: u64, n_docs_with_value: u64) -> f32 {
    (n_tokens.max(1) as f64 / n_docs_with_value.max(1) as f64) as f32
}

/// The part of a score that a frequency makes with a length, in 0 to 1, without rarity and boosts.
#[inline]
pub(crate) fn score_part(frequency: u32, k: f32) -> f32 {
    let frequency = frequency as f32;
    frequency / (frequency + k)
}

/// The code of a length.
#[inline]
pub(crate) fn code_of(length: u32) -> u8 {
    let Some(rest) = length.min(LENGTH_MAX).checked_sub(N_FREE) else { return length as u8 };
    let bits = u32::BITS - rest.leading_zeros();
    let code = match bits {
        0..=3 => rest,
        _ => (rest >> (bits - 4) & 7) | (bits - 3) << 3,
    };
    (N_FREE + code) as u8
}

/// The smallest length that has this code.
pub(crate) fn length_of(code: u8) -> u32 {
    let Some(rest) = u32::from(code).checked_sub(N_FREE) else { return u32::from(code) };
    match rest >> 3 {
        0 => N_FREE + rest,
        exponent => N_FREE + ((8 | rest & 7) << (exponent - 1)),
    }
}

/// [`length_of`] every code.
pub(crate) fn decode_table() -> [u32; 256] {
    std::array::from_fn(|code| length_of(code as u8))
}

/// The head of the section; the codes of `n_docs` documents follow.
pub(crate) fn encode_head(n_docs: u32, bm25: &Bm25) -> [u8; CODES_AT] {
    let mut head = [0; CODES_AT];
    let parts = [
        n_docs.to_le_bytes(),
        bm25.k1.to_le_bytes(),
        bm25.b.to_le_bytes(),
        bm25.average.to_le_bytes(),
    ];
    for (to, part) in head.as_chunks_mut::<4>().0.iter_mut().zip(parts) {
        *to = part;
    }
    head
}

/// The lengths of a field's documents, read where they lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldNorms<S> {
    source: S,
    n_docs: u32,
    bm25: Bm25,
}

#[cold]
fn unsound<'s>(source: impl Source<'s>) -> Error {
    let error = Error::corrupt("reading the lengths of a field")
        .expected("parameters of BM25 and one byte a document")
        .found(format!("something else in {} bytes", source.len()));
    source.locate(0, error)
}

impl<'s, S: Source<'s>> FieldNorms<S> {
    /// Reads the head.
    #[inline]
    pub(crate) fn open(source: S) -> Result<Self> {
        let head = source.bytes(0..source.len().min(CODES_AT as u64))?;
        match FieldNorms::read(source, &head) {
            Some(lengths) => Ok(lengths),
            None => Err(unsound(source)),
        }
    }

    #[inline]
    fn read(source: S, head: &[u8]) -> Option<Self> {
        let [n_docs, k1, b, average] = *head.first_chunk::<CODES_AT>()?.as_chunks().0 else {
            return None;
        };
        let [k1, b, average] = [k1, b, average].map(f32::from_le_bytes);
        let (n_docs, bm25) = (u32::from_le_bytes(n_docs), Bm25 { k1, b, average });
        let is_sound = bm25.is_sound() && source.len() == CODES_AT as u64 + u64::from(n_docs);
        is_sound.then_some(FieldNorms { source, n_docs, bm25 })
    }

    pub(crate) fn n_docs(&self) -> u32 {
        self.n_docs
    }

    /// Parameters that impacts were computed with.
    pub(crate) fn bm25(&self) -> Bm25 {
        self.bm25
    }

    /// The code of one document.
    #[inline]
    pub(crate) fn code(&self, doc: u32) -> Result<u8> {
        let codes = self.codes(doc..doc.saturating_add(1))?;
        codes.first().copied().ok_or_else(|| {
            let error = Error::corrupt("reading the length of a document")
                .expected(format!("a document below {}", self.n_docs))
                .found(doc.to_string());
            self.source.locate(CODES_AT as u64, error)
        })
    }

    /// Reads the code of one document after the other.
    pub(crate) fn reader(&self) -> FieldNormReader<'s, S> {
        let end = CODES_AT as u64 + u64::from(self.n_docs);
        FieldNormReader { codes: Piece::new(self.source, CODES_AT as u64..end) }
    }

    /// The codes of a range of documents: all of a window, for whoever scores many.
    #[inline]
    pub(crate) fn codes(&self, docs: Range<u32>) -> Result<Bytes<'s>> {
        let at = |doc: u32| CODES_AT as u64 + u64::from(doc);
        self.source.bytes(at(docs.start)..at(docs.end))
    }
}

/// Reads the codes of documents; what lies near the one before is at hand.
#[derive(Debug)]
pub(crate) struct FieldNormReader<'s, S> {
    codes: Piece<'s, S>,
}

impl<'s, S: Source<'s>> FieldNormReader<'s, S> {
    /// The codes of documents from `first` on: of `n`, and maybe of more.
    #[inline]
    pub(crate) fn codes(&mut self, first: u32, n: u32) -> Result<&[u8]> {
        let at = CODES_AT as u64 + u64::from(first);
        self.codes.get(at..at + u64::from(n))
    }

    /// The code of one document.
    #[inline]
    pub(crate) fn code(&mut self, doc: u32) -> Result<u8> {
        let at = CODES_AT as u64 + u64::from(doc);
        let codes = self.codes.get(at..at + 1)?;
        Ok(codes.first().copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;

    fn section(lengths: &[u32]) -> Vec<u8> {
        let with_value = lengths.iter().filter(|length| **length > 0).count() as u64;
        let n_tokens = lengths.iter().map(|length| u64::from(*length)).sum();
        let bm25 = Bm25::of_segment(n_tokens, with_value);
        let mut bytes = encode_head(lengths.len() as u32, &bm25).to_vec();
        bytes.extend(lengths.iter().map(|length| code_of(*length)));
        bytes
    }

    #[test]
    fn the_example_in_the_docs_is_what_we_write_and_read() {
        let bytes = section(&[7, 0, 100]);
        let documented = doc_check::hex_dump(include_str!("lengths.rs"));
        assert_eq!(documented, bytes, "{}", doc_check::render(&bytes));
        assert_eq!(doc_check::layout(include_str!("lengths.rs"))["codes"], CODES_AT);
        let lengths = FieldNorms::open(&bytes[..]).unwrap();
        assert_eq!(lengths.bm25(), Bm25 { k1: 1.2, b: 0.75, average: 53.5 });
        let decoded: Vec<_> = (0..3).map(|doc| length_of(lengths.code(doc).unwrap())).collect();
        assert_eq!(decoded, [7, 0, 96]);
        assert!(lengths.code(3).is_err());
    }

    #[test]
    fn codes_are_exact_below_40_and_always_the_largest_length_that_is_not_greater() {
        let table = decode_table();
        assert!(table.is_sorted_by(|a, b| a < b));
        assert!((0..40).all(|length| table[length] == length as u32));
        let mut length = 0u32;
        loop {
            let code = usize::from(code_of(length));
            assert!(table[code] <= length, "{length}");
            assert!(table.get(code + 1).is_none_or(|next| length < *next), "{length}");
            match length.checked_add(1 + length / 50) {
                Some(next) => length = next,
                None => break,
            }
        }
        // Lucene's largest, SmallFloat.byte4ToInt(-1).
        assert_eq!(table[255], 2_013_265_944);
        assert_eq!(code_of(u32::MAX), 255);
    }

    #[test]
    fn sections_of_other_lengths_or_impossible_parameters_are_refused() {
        let bytes = section(&[7, 0, 100]);
        for len in 0..bytes.len() {
            assert!(FieldNorms::open(&bytes[..len]).is_err(), "cut to {len}");
        }
        for (at, value) in [(4, -1.0), (4, f32::NAN), (8, 1.5), (12, 0.0), (12, f32::INFINITY)] {
            let mut bad = bytes.clone();
            bad[at..at + 4].copy_from_slice(&f32::to_le_bytes(value));
            assert!(FieldNorms::open(&bad[..]).is_err(), "{value} at {at}");
        }
    }

    #[test]
    fn a_part_of_a_score_grows_with_the_frequency_and_falls_with_the_length() {
        let k = Bm25::of_segment(1_000, 10).norm_cache();
        assert!(k.is_sorted());
        assert!(k.iter().all(|k| score_part(1, *k) < score_part(2, *k)));
        assert!(score_part(u32::MAX, k[0]) <= 1.0);
    }
}
