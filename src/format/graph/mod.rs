//! Graphs, by which the nearest vectors are found without comparing all.
//!
//! A node is a code that some rows of the [vectors](super::vectors) have. [`codes`] or [`bit_codes`] have what is compared on the
//! way, [`links`] which nodes lead to which others, [`upper`] samples of nodes where a walk begins, [`nodes`] the rows of each node, and
//! [`curve`] the recall that was measured when the graph was built.
//!
//! A field has all six sections or none, without [codes](crate::schema::VectorParams::codes()) five: small segments have none, and a
//! field may be [without](crate::schema::VectorParams::graph()) them. A build that does not know the sections passes over them and compares all
//! vectors.

pub(crate) mod bit_codes;
pub(crate) mod codes;
pub(crate) mod curve;
pub(crate) mod links;
pub(crate) mod nodes;
pub(crate) mod upper;

use crate::bytes::{Bytes, Source, array_at};
use crate::error::{Error, Result};

const U32_LEN: u64 = size_of::<u32>() as u64;

/// Links that a node may have.
pub(crate) const DEGREE_MAX: usize = 64;

/// Opens the head of a section, of so many bytes.
fn head<'s>(source: impl Source<'s>, len: u64, doing: &str) -> Result<Bytes<'s>> {
    if source.len() < len {
        let error = Error::corrupt(doing).expected(format!("at least {len} bytes"));
        return Err(source.locate(0, error.found(source.len().to_string())));
    }
    source.bytes(0..len)
}

/// Compares the length of a section with the one that its head leads to expect.
fn expect_len<'s>(source: impl Source<'s>, expected: u64, doing: &str) -> Result<()> {
    if source.len() == expected {
        return Ok(());
    }
    let error = Error::corrupt(doing).expected(format!("{expected} bytes"));
    Err(source.locate(0, error.found(source.len().to_string())))
}

/// A number of an array that begins at `start`.
fn number_at<'s>(source: impl Source<'s>, start: u64, nth: u32) -> Result<u32> {
    let at = start + u64::from(nth) * U32_LEN;
    let bytes = source.bytes(at..at + U32_LEN)?;
    Ok(array_at(&bytes, 0).map_or(0, u32::from_le_bytes))
}
