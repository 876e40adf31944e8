//! Cumulative document frequencies of the blocks of a dictionary. A range is counted by them without looking at the
//! terms inside.
//!
//! Written by [`encode`] where a field keeps a column and no document has two values, so that terms share no document and
//! their document frequencies add up to sets of documents. Read by [`Cumulative`].
//!
//! # Layout
//!
//! The CUMULATIVE section of a field; integers are little-endian.
//!
//! ```text
//! offset  size  field  meaning
//!      0     *  sums   u32 for each block of the dictionary, documents of the terms before it; then u32, of all terms
//! ```
//!
//! # Example
//!
//! Two blocks: the terms of the first have 40 documents, those of the second 7.
//!
//! ```text
//! 0000  00 00 00 00 28 00 00 00  2F 00 00 00
//! ```
//!
//! # Invariants
//!
//! - U1: each number is the one before and the document frequencies of the terms of a block; the first is 0.
//! - U2: the last is the number of documents with a value.
//!
//! # Checks
//!
//! Opening compares the length with the number of blocks. Reading refuses numbers that descend. Other contradictions
//! to the dictionary (U1, U2) are found by `verify`; until then they make wrong counts.
//!
//! # Cost
//!
//! 4 bytes for 32 terms. The number of documents with the terms before one takes one read here, and the infos of a
//! block.
//!
//! # Versions
//!
//! 1: as above. Segments without the section are read as ever, and a build that does not know it passes over it.
//!
//! # Why
//!
//! A range over a hundred million different values would otherwise look at each of their documents, or of their terms. A
//! sum for each term would be eight times as long and save some of 32 infos, a tenth of a microsecond.

use crate::bytes::{Source, array_at};
use crate::error::{Error, Result};
use crate::plural::counted;

const SUM_LEN: u64 = size_of::<u32>() as u64;

/// The section of a dictionary whose blocks have these sums before them and that many documents in all.
pub(crate) fn encode(before_blocks: &[u32], of_all: u32) -> Vec<u8> {
    before_blocks.iter().chain([&of_all]).flat_map(|sum| sum.to_le_bytes()).collect()
}

/// The sums of a field, read where they lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cumulative<S> {
    source: S,
}

impl<'s, S: Source<'s>> Cumulative<S> {
    /// Opens the sums of a dictionary of so many blocks.
    pub(crate) fn open(source: S, n_blocks: u32) -> Result<Self> {
        let expected = (u64::from(n_blocks) + 1) * SUM_LEN;
        if source.len() != expected {
            let error = Error::corrupt("opening the cumulative document frequencies of a field");
            let error = error.expected(counted(expected, "byte"));
            return Err(source.locate(0, error.found(source.len().to_string())));
        }
        Ok(Cumulative { source })
    }

    /// The documents of the terms before a block, or of all for the one behind the last.
    pub(crate) fn before(&self, block: u32) -> Result<u32> {
        let at = u64::from(block) * SUM_LEN;
        let bytes = self.source.bytes(at..at + SUM_LEN)?;
        array_at(&bytes, 0)
            .map(u32::from_le_bytes)
            .ok_or_else(|| self.damage(block, "too few bytes"))
    }

    /// An error about the sum before a block.
    #[cold]
    pub(crate) fn damage(&self, block: u32, found: impl Into<String>) -> Error {
        let error = Error::corrupt("reading the cumulative document frequencies of a field");
        self.source.locate(u64::from(block) * SUM_LEN, error.found(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;

    #[test]
    fn the_example_is_what_is_written_and_read() {
        let bytes = encode(&[0, 40], 47);
        assert_eq!(bytes, doc_check::hex_dump(include_str!("cumulative.rs")));
        let sums = Cumulative::open(&bytes[..], 2).unwrap();
        assert_eq!([0, 1, 2].map(|block| sums.before(block).unwrap()), [0, 40, 47]);
        assert!(sums.before(3).is_err(), "past the end");
        assert!(sums.damage(1, "40").to_string().contains("found 40"));
    }

    #[test]
    fn another_length_than_the_blocks_have_is_refused() {
        let bytes = encode(&[0, 40], 47);
        for n_blocks in [0, 1, 3, u32::MAX] {
            let error = Cumulative::open(&bytes[..], n_blocks).unwrap_err().to_string();
            assert!(error.contains("cumulative document frequencies"), "{error}");
        }
    }
}
