//! Little-endian integers and varints over byte slices: bounded, checked, never panicking.
//!
//! [`ByteReader`] walks a slice and answers `None` if it ends; the caller, who knows what was
//! being read, makes the error. [`Bytes`] and [`Source`] are how formats get at their bytes without
//! knowing where these lie: in a mapping, in memory, or behind `pread`.

#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::todo,
    clippy::unreachable,
    clippy::unwrap_used
)]

use crate::error::{Error, Result};
use std::ops::{Deref, Range};

/// Bytes of a file: borrowed from a mapping or an image in memory, or read for this one use.
#[derive(Debug)]
pub(crate) enum Bytes<'s> {
    Mapped(&'s [u8]),
    Read(Box<[u8]>),
}

impl Deref for Bytes<'_> {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(bytes) => bytes,
            Bytes::Read(bytes) => bytes,
        }
    }
}

impl Bytes<'_> {
    /// Keeps the first `len` bytes; whether there are as many.
    pub(crate) fn truncate(&mut self, len: usize) -> bool {
        if len > self.len() {
            return false;
        }
        match self {
            Bytes::Mapped(bytes) => *bytes = bytes.get(..len).unwrap_or(bytes),
            Bytes::Read(bytes) => {
                let mut kept = std::mem::take(bytes).into_vec();
                kept.truncate(len);
                *bytes = kept.into_boxed_slice();
            }
        }
        true
    }
}

impl<'s> Bytes<'s> {
    /// The bytes of a range inside; a copy of them where they were read.
    pub(crate) fn part(&self, range: Range<usize>) -> Option<Bytes<'s>> {
        Some(match self {
            Bytes::Mapped(bytes) => Bytes::Mapped(bytes.get(range)?),
            Bytes::Read(bytes) => Bytes::Read(bytes.get(range)?.into()),
        })
    }
}

/// Source of a format's bytes. Offsets count from the start of the section; what is handed out has passed its checksum.
/// Copied freely: an implementation is a reference with two numbers.
pub(crate) trait Source<'s>: Copy + 's {
    /// Length in bytes.
    fn len(self) -> u64;

    /// The bytes in `range`; an error if they are damaged or outside the section.
    fn bytes(self, range: Range<u64>) -> Result<Bytes<'s>>;

    /// Whether bytes are at hand rather than read.
    fn is_mapped(self) -> bool {
        true
    }

    /// All bytes, if they are at hand and need no more checks.
    fn at_hand(self) -> Option<&'s [u8]> {
        None
    }

    /// Says that `range` will be asked for soon, so that the wait for several ranges is one wait.
    /// A hint without effect where bytes are not mapped.
    fn prefetch(self, _range: Range<u64>) {}

    /// Adds file and absolute offset to an error about byte `offset` of this section.
    fn locate(self, offset: u64, error: Error) -> Error;
}

impl<'s> Source<'s> for &'s [u8] {
    fn len(self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn bytes(self, range: Range<u64>) -> Result<Bytes<'s>> {
        let inside = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        match inside.and_then(|(start, end)| self.get(start..end)) {
            Some(bytes) => Ok(Bytes::Mapped(bytes)),
            None => Err(self.locate(
                range.start,
                Error::corrupt("reading a section")
                    .expected(format!("a range inside {} bytes", <[u8]>::len(self)))
                    .found(format!("{}..{}", range.start, range.end)),
            )),
        }
    }

    fn at_hand(self) -> Option<&'s [u8]> {
        Some(self)
    }

    fn locate(self, offset: u64, error: Error) -> Error {
        error.at_offset(offset)
    }
}

/// Walks a slice from its start; `None` wherever it would leave it.
#[derive(Clone, Debug)]
pub(crate) struct ByteReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ByteReader<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        ByteReader { bytes, at: 0 }
    }

    /// Bytes walked so far.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    #[inline]
    pub(crate) fn remaining(&self) -> &'a [u8] {
        // Nothing moves `at` past the end.
        self.bytes.get(self.at..).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(len)?;
        let bytes = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(bytes)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = *self.bytes.get(self.at..)?.first_chunk::<N>()?;
        self.at += N;
        Some(bytes)
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    #[inline]
    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// An unsigned LEB128 integer of at most ten bytes; `None` also when it does not fit 64 bits.
    #[inline(always)]
    pub(crate) fn varint(&mut self) -> Option<u64> {
        match *self.bytes.get(self.at..)? {
            [one @ ..0x80, ..] => {
                self.at += 1;
                Some(one.into())
            }
            [low, high @ ..0x80, ..] => {
                self.at += 2;
                Some(u64::from(low & 0x7F) | u64::from(high) << 7)
            }
            _ => {
                let (value, at) = long_varint(self.bytes, self.at);
                self.at = at;
                value
            }
        }
    }

    /// Passes over `n` varints, whatever they are; `None` if there are not as many.
    #[inline]
    pub(crate) fn skip_varints(&mut self, n: usize) -> Option<()> {
        self.at += varints_len(self.remaining(), n)?;
        Some(())
    }

    /// A varint that must fit 32 bits.
    #[inline]
    pub(crate) fn varint_u32(&mut self) -> Option<u32> {
        u32::try_from(self.varint()?).ok()
    }
}

/// A varint of any length, and the place behind what was read of it. By value, so that readers stay in registers.
fn long_varint(bytes: &[u8], mut at: usize) -> (Option<u64>, usize) {
    let word = array_at(bytes, at).map(u64::from_le_bytes);
    if let Some((value, len)) = word.and_then(varint_in) {
        return (Some(value), at + len);
    }
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let Some(byte) = bytes.get(at) else { return (None, at) };
        at += 1;
        let bits = u64::from(byte & 0x7F);
        if shift == 63 && bits > 1 {
            break;
        }
        value |= bits << shift;
        if *byte < 0x80 {
            return (Some(value), at);
        }
    }
    (None, at)
}

/// The varint that eight bytes begin with, and how many it has; `None` if it has more.
#[inline]
pub(crate) fn varint_in(word: u64) -> Option<(u64, usize)> {
    let ends = !word & HIGHEST_BITS;
    if ends == 0 {
        return None;
    }
    let n_bits = ends.trailing_zeros() + 1;
    let bytes = word & !HIGHEST_BITS & u64::MAX >> (64 - n_bits);
    // Neighbours are joined, then pairs, then fours.
    let pairs = bytes & 0x007F_007F_007F_007F | (bytes & 0x7F00_7F00_7F00_7F00) >> 1;
    let fours = pairs & 0x0000_3FFF_0000_3FFF | (pairs & 0x3FFF_0000_3FFF_0000) >> 2;
    Some((fours & 0x0FFF_FFFF | (fours & 0x0FFF_FFFF_0000_0000) >> 4, n_bits as usize / 8))
}

/// Appends `value` as an unsigned LEB128 integer: one byte below 128, at most ten.
#[inline]
pub(crate) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The highest bit of each of eight bytes: unset in the last one of a varint.
pub(crate) const HIGHEST_BITS: u64 = 0x8080_8080_8080_8080;

/// The number 1 in each of eight bytes.
const EACH_BYTE: u64 = 0x0101_0101_0101_0101;

/// Bytes of the first `n` varints; `None` if there are not as many. Only their ends are looked for, eight bytes at a time.
#[inline]
pub(crate) fn varints_len(bytes: &[u8], n: usize) -> Option<usize> {
    let (mut at, mut n_left) = (0, n);
    while n_left > 0 {
        let Some(word) = array_at(bytes, at) else {
            let is_end = |(_, byte): &(usize, &u8)| **byte < 0x80;
            let tail = (at..).zip(bytes.get(at..)?).filter(is_end).nth(n_left - 1);
            return tail.map(|(last, _)| last + 1);
        };
        let ends = !u64::from_le_bytes(word) & HIGHEST_BITS;
        // In each byte the number of ends up to there.
        let counts = (ends >> 7).wrapping_mul(EACH_BYTE);
        let n_ends = (counts >> 56) as usize;
        if n_ends >= n_left {
            let are_enough = ((counts | HIGHEST_BITS) - n_left as u64 * EACH_BYTE) & HIGHEST_BITS;
            return Some(at + (are_enough.trailing_zeros() / 8) as usize + 1);
        }
        (at, n_left) = (at + 8, n_left - n_ends);
    }
    Some(at)
}

/// Bytes of the first two to four varints of some bytes, if they are at most eight and there are as many.
#[inline]
pub(crate) fn few_varints_len(bytes: &[u8], n: u8) -> Option<usize> {
    let first = !u64::from_le_bytes(array_at(bytes, 0)?) & HIGHEST_BITS;
    // Without the end of each but the last.
    let second = first & first.wrapping_sub(1);
    let third = second & second.wrapping_sub(1);
    let last = match n {
        2 => second,
        3 => third,
        _ => third & third.wrapping_sub(1),
    };
    (last != 0).then(|| (last.trailing_zeros() / 8) as usize + 1)
}

/// The `N` bytes at `at`, for little-endian fields at fixed offsets; `None` past the end.
#[inline]
pub(crate) fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk::<N>().copied()
}

/// Writes a field at `at`: the mirror of [`array_at`], for encoders that fill in what they have set aside.
#[expect(
    clippy::indexing_slicing,
    reason = "encoders write to bytes that they have set aside: no place comes from a file"
)]
#[inline]
pub(crate) fn put_at<const N: usize>(bytes: &mut [u8], at: usize, field: [u8; N]) {
    bytes[at..at + N].copy_from_slice(&field);
}

/// A little-endian integer of as many bytes as there are, at most eight.
#[inline]
pub(crate) fn uint(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Length of the longest common prefix of two byte strings.
#[inline]
pub(crate) fn common_prefix_len(a: &[u8], b: &[u8]) -> usize {
    let mut at = 0;
    while let (Some(x), Some(y)) = (array_at::<8>(a, at), array_at::<8>(b, at)) {
        let differing = u64::from_le_bytes(x) ^ u64::from_le_bytes(y);
        if differing != 0 {
            return at + (differing.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let (Some(x), Some(y)) = (a.get(at), b.get(at))
        && x == y
    {
        at += 1;
    }
    at
}

/// Bytes that a [`Piece`] reads at once.
const PIECE_LEN: u64 = 4096;

/// A range of bytes of which the part that was read last is at hand.
#[derive(Debug)]
pub(crate) struct Piece<'s, S> {
    source: S,
    range: Range<u64>,
    at: u64,
    bytes: Bytes<'s>,
}

impl<'s, S: Source<'s>> Piece<'s, S> {
    pub(crate) fn new(source: S, range: Range<u64>) -> Self {
        Piece { source, at: range.start, range, bytes: Bytes::Mapped(&[]) }
    }

    /// The bytes of `range`, and some that lie behind it.
    #[inline]
    pub(crate) fn get(&mut self, range: Range<u64>) -> Result<&[u8]> {
        let is_at_hand = range.start >= self.at && range.end <= self.at + self.bytes.len() as u64;
        if !is_at_hand {
            self.load(range.clone())?;
        }
        let start = (range.start - self.at) as usize;
        Ok(self.bytes.get(start..).unwrap_or_default())
    }

    #[inline(never)]
    fn load(&mut self, range: Range<u64>) -> Result<()> {
        // A range beyond the part is left to the error of reading it.
        let at = (range.start / PIECE_LEN * PIECE_LEN).max(self.range.start).min(range.start);
        let end = range.end.max((at + PIECE_LEN).min(self.range.end));
        self.bytes = self.source.bytes(at..end)?;
        self.at = at;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_round_trip_and_refuse_what_does_not_fit() {
        let of_each_length =
            (0..64).flat_map(|bits| [1 << bits, (1 << bits) - 1, u64::MAX >> bits]);
        for value in [300, 0x0123_4567_89AB_CDEF].into_iter().chain(of_each_length) {
            let mut bytes = vec![];
            write_varint(&mut bytes, value);
            let mut reader = ByteReader::new(&bytes);
            assert_eq!(reader.varint(), Some(value));
            assert!(reader.remaining().is_empty());
            assert_eq!(ByteReader::new(&bytes[..bytes.len() - 1]).varint(), None, "{value} cut");
            // Something behind it.
            let more = [&bytes[..], &[0xFF; 9]].concat();
            let mut reader = ByteReader::new(&more);
            assert_eq!(reader.varint(), Some(value));
            assert_eq!(reader.position(), bytes.len());
        }
        assert_eq!(ByteReader::new(&[0xFF; 11]).varint(), None);
        let mut too_big = [0x80; 10];
        too_big[9] = 2;
        assert_eq!(ByteReader::new(&too_big).varint(), None);
    }

    #[test]
    fn varints_are_passed_over_by_their_ends() {
        let mut bytes = vec![];
        let mut ends = vec![0];
        for nth in 0..60u64 {
            write_varint(&mut bytes, 1 << (nth * 7 % 64));
            ends.push(bytes.len());
        }
        for from in 0..ends.len() {
            for to in from..ends.len() {
                let len = ends[to] - ends[from];
                assert_eq!(varints_len(&bytes[ends[from]..], to - from), Some(len));
                assert_eq!(varints_len(&bytes[ends[from]..ends[to]], to - from), Some(len));
                if let n @ 2..=4 = to - from {
                    let few = few_varints_len(&bytes[ends[from]..], n as u8);
                    assert_eq!(few, (len <= 8 && bytes.len() - ends[from] >= 8).then_some(len));
                }
                let cut = bytes.get(ends[from]..(ends[to]).max(1) - 1).unwrap_or_default();
                assert_eq!(varints_len(cut, to - from).is_some(), to == from, "{from}..{to}");
            }
        }
    }

    #[test]
    fn the_common_prefix_of_every_length_is_found() {
        let text = *b"abcdefghijklmnopqrstuvwxyz";
        for len in 0..text.len() {
            let mut other = text;
            other[len] = b'!';
            assert_eq!(common_prefix_len(&text, &other), len);
            assert_eq!(common_prefix_len(&text[..len], &text), len);
        }
    }

    #[test]
    fn a_slice_refuses_ranges_outside_it() {
        let source: &[u8] = b"abc";
        assert_eq!(&*source.bytes(1..3).unwrap(), b"bc");
        assert!(source.bytes(1..4).is_err());
        assert!(source.bytes(u64::MAX - 1..u64::MAX).is_err());
    }
}
