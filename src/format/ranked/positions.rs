//! Positions by rank. Per 32 postings there are an offset and the width of each, then each at its own width.

use super::Form;
use super::frequencies::BitWriter;
use crate::bytes::{Source, array_at};
use crate::error::{Error, Result};
use crate::simd::packed::{FewSums, SPREAD_WIDTH_MAX, STEP, bits_at, running_sums};
use std::ops::Range;

/// Postings of a record.
pub(super) const RECORD: u32 = 32;
const WIDTHS_LEN: usize = RECORD as usize / 2;
/// Postings of records whose offsets of 16 bits count from one start.
pub(super) const NEAR: u32 = 1_024;
const START_LEN: u64 = size_of::<u32>() as u64;
/// Widths that half a byte tells apart.
const N_WIDTHS: u32 = 16;

/// Length of a record.
#[inline]
pub(super) fn record_len(is_near: bool) -> u64 {
    let offset_len = if is_near { size_of::<u16>() } else { size_of::<u32>() };
    (offset_len + WIDTHS_LEN) as u64
}

/// Length of the starts of a list.
pub(super) fn starts_len(is_near: bool, df: u64) -> u64 {
    if is_near { df.saturating_sub(1) / u64::from(NEAR) * START_LEN } else { 0 }
}

/// Collects positions.
#[derive(Debug, Default)]
pub(super) struct PositionWriter {
    /// Starts of each 1,024 postings but the first, if offsets count from them.
    pub(super) starts: Vec<u8>,
    pub(super) records: Vec<u8>,
    pub(super) packed: Vec<u8>,
    /// Whether an offset did not fit its 32 bits.
    pub(super) is_too_long: bool,
    /// Whether one did not fit the 16 bits that it should.
    pub(super) is_too_far: bool,
    form: Form,
    chunk_at: usize,
    /// The start that offsets count from.
    near_at: usize,
    n_records: u32,
    record_at: usize,
    bits: BitWriter,
    widths: [u8; WIDTHS_LEN],
    len: usize,
    gaps: Vec<u32>,
}

impl PositionWriter {
    pub(super) fn clear(&mut self, form: Form) {
        self.starts.clear();
        self.records.clear();
        self.packed.clear();
        (self.is_too_long, self.is_too_far, self.form) = (false, false, form);
        (self.chunk_at, self.near_at, self.n_records) = (0, 0, 0);
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
            if self.form.only_is_shorter {
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
                    self.bits.push(first, width * self.form.step, &mut self.packed);
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
                    self.bits.push(gap, width * self.form.step, &mut self.packed);
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
        (u32::BITS - (all | 1).leading_zeros()).div_ceil(self.form.step)
    }

    pub(super) fn end_record(&mut self) {
        if self.len == 0 {
            return;
        }
        let offset = self.record_at - self.chunk_at;
        self.is_too_long |= u32::try_from(offset).is_err();
        if self.form.is_near {
            if self.n_records.is_multiple_of(NEAR / RECORD) {
                self.near_at = self.record_at;
                if self.n_records > 0 {
                    self.starts.extend_from_slice(&(offset as u32).to_le_bytes());
                }
            }
            let offset = self.record_at - self.near_at;
            self.is_too_far |= u16::try_from(offset).is_err();
            self.records.extend_from_slice(&(offset as u16).to_le_bytes());
        } else {
            self.records.extend_from_slice(&(offset as u32).to_le_bytes());
        }
        self.n_records += 1;
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
    pub(super) form: Form,
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

    /// The positions given their bytes, if they are eight at most and not far apart.
    #[inline]
    pub(super) fn few<'b>(&self, place: &Place, bytes: &'b [u8]) -> FewSums<'b> {
        let (bit, n) = ((place.bit % 8) as usize, place.n as usize);
        FewSums { bytes, bit, width: place.width, n, base: self.base(place) }
    }

    /// The number that is added to the first of a posting: the bit that it lacks, less one.
    #[inline]
    pub(super) fn base(&self, place: &Place) -> u32 {
        let lacks_one = self.form.only_is_shorter & (place.n == 1);
        // Widths are below 16 there.
        if lacks_one { (1 << (place.width % u32::BITS)) - 1 } else { 0 }
    }

    /// Range of the record of a posting.
    #[inline]
    pub(super) fn record_range(&self, rank: u32) -> Range<u64> {
        let len = record_len(self.form.is_near);
        let at = self.records_at + u64::from(rank / RECORD) * len;
        at..at + len
    }

    /// The first start of a list of `df` postings.
    #[inline]
    pub(super) fn starts_at(&self, df: u32) -> u64 {
        self.records_at - starts_len(self.form.is_near, df.into())
    }

    /// The start that a posting's record counts from; `None` if that is the base.
    #[inline]
    pub(super) fn start_range(&self, rank: u32, df: u32) -> Option<Range<u64>> {
        let nth = (rank / NEAR).checked_sub(1).filter(|_| self.form.is_near)?;
        let at = self.starts_at(df) + u64::from(nth) * START_LEN;
        Some(at..at + START_LEN)
    }

    /// Start of the positions of a record, and the widths of its postings as they are written; given its bytes, and the
    /// base of its offset.
    #[inline]
    pub(super) fn start_of(&self, record: &[u8], base: u64) -> Result<(u64, [u8; WIDTHS_LEN])> {
        let (offset, widths) = match self.form.is_near {
            true => {
                let offset = u16::from_le_bytes(array_at(record, 0).unwrap_or_default());
                (u64::from(offset), array_at(record, size_of::<u16>()))
            }
            false => {
                let offset = u32::from_le_bytes(array_at(record, 0).unwrap_or_default());
                (u64::from(offset), array_at(record, size_of::<u32>()))
            }
        };
        let start = self.packed.start.checked_add(base).and_then(|at| at.checked_add(offset));
        match (start, widths) {
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
    /// Start of its record.
    pub(super) start: u64,
    /// The posting's first bit, from there.
    pub(super) bit: u64,
    /// Number of positions, and their bits.
    pub(super) n: u32,
    pub(super) width: u32,
}

impl Place {
    /// That of positions which are at hand anyway.
    pub(crate) fn at_hand(n: u32) -> Self {
        Place { n, ..Place::default() }
    }

    /// Number of positions.
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
