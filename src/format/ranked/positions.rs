//! Positions by rank: per 32 postings an offset and the width of each, then each at its own width.

use super::frequencies::BitWriter;
use crate::bytes::{Source, array_at};
use crate::error::{Error, Result};
use crate::simd::packed::{FewSums, SPREAD_WIDTH_MAX, STEP, bits_at, running_sums};
use std::ops::Range;

/// Postings of a record.
pub(super) const RECORD: u32 = 32;
const WIDTHS_LEN: usize = RECORD as usize / 2;
pub(super) const RECORD_LEN: u64 = (size_of::<u32>() + WIDTHS_LEN) as u64;
/// Widths that half a byte tells apart.
const N_WIDTHS: u32 = 16;

/// Collects positions.
#[derive(Debug, Default)]
pub(super) struct PositionWriter {
    pub(super) records: Vec<u8>,
    pub(super) packed: Vec<u8>,
    /// Whether an offset did not fit its 32 bits.
    pub(super) is_too_long: bool,
    chunk_at: usize,
    /// Bits of a width that is written as 0, less none: 1, or 2 where positions are wide.
    step: u32,
    /// Whether the only position of a document has one bit less.
    only_is_shorter: bool,
    record_at: usize,
    bits: BitWriter,
    widths: [u8; WIDTHS_LEN],
    len: usize,
    gaps: Vec<u32>,
}

impl PositionWriter {
    pub(super) fn clear(&mut self, step: u32, only_is_shorter: bool) {
        self.records.clear();
        self.packed.clear();
        (self.is_too_long, self.chunk_at) = (false, 0);
        (self.step, self.only_is_shorter) = (step, only_is_shorter);
        self.start_record();
    }

    fn start_record(&mut self) {
        (self.record_at, self.bits) = (self.packed.len(), BitWriter::default());
        (self.widths, self.len) = ([0; WIDTHS_LEN], 0);
    }

    /// Adds a posting of `n` numbers. `None` if there are fewer, false if one is too wide.
    #[inline]
    pub(super) fn add(&mut self, n: u32, mut next: impl FnMut() -> Option<u32>) -> Option<bool> {
        if self.len == RECORD as usize {
            self.end_record();
        }
        let width;
        if n == 1 {
            let first = next()?;
            if self.only_is_shorter {
                // Its highest bit is known, since there is one.
                let one_more = u64::from(first) + 1;
                width = u64::BITS - one_more.leading_zeros();
                if width <= N_WIDTHS {
                    let rest = one_more as u32 & ((1 << (width - 1)) - 1);
                    self.bits.push(rest, width - 1, &mut self.packed);
                }
            } else {
                width = self.width(first);
                if width <= N_WIDTHS {
                    self.bits.push(first, width * self.step, &mut self.packed);
                }
            }
        } else {
            let mut all = 0;
            self.gaps.clear();
            for _ in 0..n {
                let gap = next()?;
                all |= gap;
                self.gaps.push(gap);
            }
            width = self.width(all);
            if width <= N_WIDTHS {
                for &gap in &self.gaps {
                    self.bits.push(gap, width * self.step, &mut self.packed);
                }
            }
        }
        if width > N_WIDTHS {
            return Some(false);
        }
        #[expect(clippy::indexing_slicing, reason = "a remainder of the array's length")]
        let widths = &mut self.widths[self.len % WIDTHS_LEN];
        *widths |= (width as u8 - 1) << (self.len / WIDTHS_LEN * 4);
        self.len += 1;
        Some(true)
    }

    /// Steps of the width that all numbers fit, given what bits they have.
    #[inline]
    fn width(&self, all: u32) -> u32 {
        (u32::BITS - (all | 1).leading_zeros()).div_ceil(self.step)
    }

    pub(super) fn end_record(&mut self) {
        if self.len == 0 {
            return;
        }
        let offset = self.record_at - self.chunk_at;
        self.is_too_long |= u32::try_from(offset).is_err();
        self.records.extend_from_slice(&(offset as u32).to_le_bytes());
        self.records.extend_from_slice(&self.widths);
        self.bits.finish(&mut self.packed);
        self.start_record();
    }

    /// Counts offsets from here on.
    pub(super) fn start_chunk(&mut self) {
        self.chunk_at = self.packed.len();
    }
}

/// Positions of a long list.
#[derive(Clone, Debug)]
pub(crate) struct Positions<S> {
    pub(super) source: S,
    pub(super) records_at: u64,
    pub(super) packed: Range<u64>,
    /// Bits that a width counts: 1, or 2 where positions are wide.
    pub(super) step: u32,
    /// Whether the only position of a document has one bit less, the highest of its number and one.
    pub(super) only_is_shorter: bool,
}

impl<'s, S: Source<'s>> Positions<S> {
    /// Replaces `positions` by those of a posting, whose bytes are `bytes`; those behind the first that passes
    /// `limit` may be left out.
    #[inline]
    pub(super) fn unpack(
        &self,
        place: &Place,
        bytes: &[u8],
        limit: u32,
        positions: &mut Vec<u32>,
    ) -> Result<()> {
        if place.n == 1 {
            positions.clear();
            positions.push(self.only(place, bytes));
            return Ok(());
        }
        let (bit, n) = ((place.bit % 8) as usize, place.n as usize);
        match running_sums(bytes, bit, place.width, n, limit, positions) {
            true => Ok(()),
            false => Err(self.damage("a position above 4294967295")),
        }
    }

    /// The position of a posting that has one, given its bytes.
    #[inline]
    pub(super) fn only(&self, place: &Place, bytes: &[u8]) -> u32 {
        bits_at(bytes, (place.bit % 8) as usize, place.width) + self.base(place)
    }

    /// The positions of a posting given their bytes, if they are eight at most and not far apart.
    #[inline]
    pub(super) fn few<'b>(&self, place: &Place, bytes: &'b [u8]) -> FewSums<'b> {
        let (bit, n) = ((place.bit % 8) as usize, place.n as usize);
        FewSums { bytes, bit, width: place.width, n, base: self.base(place) }
    }

    /// What is added to the first number of a posting: where it has a bit less, the one that it lacks, less one.
    #[inline]
    pub(super) fn base(&self, place: &Place) -> u32 {
        let is_shorter = self.only_is_shorter & (place.n == 1);
        // Widths are below 16 there.
        ((u32::from(is_shorter)) << (place.width % u32::BITS)).saturating_sub(is_shorter.into())
    }

    /// Where the record of a posting is.
    #[inline]
    pub(super) fn record_range(&self, rank: u32) -> Range<u64> {
        let at = self.records_at + u64::from(rank / RECORD) * RECORD_LEN;
        at..at + RECORD_LEN
    }

    /// Where the positions of a record begin, and the widths of its postings as they are written; given its
    /// bytes, and what its offset counts from.
    #[inline]
    pub(super) fn start_of(&self, record: &[u8], base: u64) -> Result<(u64, [u8; WIDTHS_LEN])> {
        let offset = u32::from_le_bytes(array_at(record, 0).unwrap_or_default());
        let start =
            self.packed.start.checked_add(base).and_then(|at| at.checked_add(offset.into()));
        match (start, array_at(record, size_of::<u32>())) {
            (Some(start), Some(widths)) if start <= self.packed.end => Ok((start, widths)),
            _ => Err(self.outside()),
        }
    }

    #[cold]
    pub(super) fn outside(&self) -> Error {
        self.damage("positions that end outside of the list")
    }

    #[cold]
    pub(super) fn damage(&self, found: &str) -> Error {
        let error = Error::corrupt("reading the positions of a term").found(found);
        self.source.locate(self.packed.start, error)
    }
}

/// The bits of one posting.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// Where its record begins.
    pub(super) start: u64,
    /// The posting's first bit, from there.
    pub(super) bit: u64,
    /// How many numbers, of how many bits.
    pub(super) n: u32,
    pub(super) width: u32,
}

impl Place {
    /// That of positions which are at hand anyway.
    pub(crate) fn at_hand(n: u32) -> Self {
        Place { n, ..Place::default() }
    }

    /// How many positions.
    #[inline]
    pub(crate) fn n(&self) -> u32 {
        self.n
    }

    /// Bytes that they are in.
    #[inline]
    pub(crate) fn n_bytes(&self) -> u64 {
        let bytes = self.bytes();
        bytes.end - bytes.start
    }

    #[inline]
    pub(super) fn is_of_few(&self) -> bool {
        self.n as usize <= STEP && self.width <= SPREAD_WIDTH_MAX
    }

    #[inline]
    pub(super) fn bytes(&self) -> Range<u64> {
        // Sums of 32 products of 32-bit and 6-bit numbers.
        let end = self.bit + u64::from(self.n) * u64::from(self.width);
        self.start + self.bit / 8..self.start.saturating_add(end.div_ceil(8))
    }
}
