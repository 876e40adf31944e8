//! Columns all of whose blocks share the frame: read without the directory.

use super::{Column, SLACK, packed_len};
use crate::bytes::{Bytes, Source};
use crate::error::Result;
use crate::simd::numbers;
use std::ops::{Range, RangeInclusive};

/// A mapped column whose blocks all share a frame of 1 to 31 bits: a number for each document of the segment, packed without
/// anything in between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain<S> {
    column: Column<S>,
}

/// The numbers of some of its documents.
#[derive(Debug)]
pub(crate) struct Numbers<'s> {
    bytes: Bytes<'s>,
    width: u32,
}

impl<'s, S: Source<'s>> Column<S> {
    /// Its numbers, if they can be read without the directory.
    pub(crate) fn plain(self) -> Option<Plain<S>> {
        let width = u32::from(self.frame.width);
        let all_share = self.n_shared > 0 && self.n_shared == self.n_blocks();
        // Then they end where the directory begins.
        let len = packed_len(self.n_docs as usize, width) as u64;
        // If all values are one, the directory says so sooner.
        let is_plain = all_share && (1..u32::BITS).contains(&width) && self.source.is_mapped();
        (is_plain && len == self.directory_at).then_some(Plain { column: self })
    }
}

impl<'s, S: Source<'s>> Plain<S> {
    /// The numbers of documents, the first of which is a multiple of eight.
    pub(crate) fn numbers(&self, docs: Range<u32>) -> Result<Numbers<'s>> {
        let width = u32::from(self.column.frame.width);
        let at = |doc: u32| packed_len(doc as usize, width) as u64;
        // One is read with all eight bytes that it begins in, and there is always an entry of the directory behind.
        let bytes = at(docs.start)..at(docs.end) + SLACK as u64;
        Ok(Numbers { bytes: self.column.source.bytes(bytes)?, width })
    }

    pub(crate) fn column(&self) -> &Column<S> {
        &self.column
    }

    /// The least number of a document that has a value.
    pub(crate) fn first(&self) -> u32 {
        self.column.frame.gap.into()
    }

    /// The code that the first stands for, and by how much that of each number lies above that of the one before.
    pub(crate) fn base_and_unit(&self) -> (u64, u64) {
        (self.column.frame.base, self.column.frame.unit)
    }

    /// The least number that stands for `code` or more: greater than all, if none does.
    pub(crate) fn first_of(&self, code: u64) -> u32 {
        let (base, unit) = self.base_and_unit();
        let above = code.saturating_sub(base).div_ceil(unit.max(1));
        u32::try_from(above.saturating_add(self.first().into())).unwrap_or(u32::MAX)
    }
}

impl<'s, S: Source<'s>> Plain<S> {
    /// The numbers that stand for codes in a range.
    pub(crate) fn numbers_of(&self, codes: &RangeInclusive<u64>) -> Range<u32> {
        let start = self.first_of(*codes.start()).max(self.first());
        let end = codes.end().checked_add(1).map_or(u32::MAX, |behind| self.first_of(behind));
        start..end.max(start)
    }
}

impl Numbers<'_> {
    /// Writes those of documents by their places.
    #[inline]
    pub(crate) fn get(&self, places: &[u32], out: &mut [u32]) {
        numbers::unpack(&self.bytes, self.width, places, out);
    }

    /// Writes those of neighbours, the first of which is a multiple of eight.
    #[inline]
    pub(crate) fn get_neighbours(&self, first: u32, out: &mut [u32]) {
        numbers::unpack_neighbours(&self.bytes, self.width, first, out);
    }

    /// The bytes of those of some documents, or what of them there is.
    #[inline]
    pub(crate) fn bytes_of(&self, places: Range<usize>) -> &[u8] {
        let at = |place: usize| (place * self.width as usize / 8).min(self.bytes.len());
        self.bytes.get(at(places.start)..at(places.end)).unwrap_or_default()
    }

    /// The byte that one begins in.
    #[inline]
    pub(crate) fn first_byte(&self, place: u32) -> &[u8] {
        let at = place as usize * self.width as usize / 8;
        self.bytes.get(at..at + 1).unwrap_or_default()
    }
}
