//! Positions by rank: per 32 postings an offset and the width of each, then each at its own width.

use super::CHUNK;
use super::frequencies::{BitWriter, Frequencies, GROUP, base_at, bits_at};
use crate::bytes::{Source, array_at};
use crate::error::{Error, Result};
use std::ops::Range;

/// Postings of a record.
const RECORD: u32 = 32;
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
    record_at: usize,
    bits: BitWriter,
    widths: [u8; WIDTHS_LEN],
    len: usize,
    gaps: Vec<u32>,
}

impl PositionWriter {
    pub(super) fn clear(&mut self, step: u32) {
        self.records.clear();
        self.packed.clear();
        (self.is_too_long, self.chunk_at, self.step) = (false, 0, step);
        self.start_record();
    }

    fn start_record(&mut self) {
        (self.record_at, self.bits) = (self.packed.len(), BitWriter::default());
        (self.widths, self.len) = ([0; WIDTHS_LEN], 0);
    }

    /// Adds a posting of `n` numbers. `None` where there are fewer, false where one is too wide.
    #[inline]
    pub(super) fn add(&mut self, n: u32, mut next: impl FnMut() -> Option<u32>) -> Option<bool> {
        if self.len == RECORD as usize {
            self.end_record();
        }
        let width;
        if n == 1 {
            let first = next()?;
            width = self.width(first);
            if width <= N_WIDTHS {
                self.bits.push(first, width * self.step, &mut self.packed);
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
        self.widths[self.len % WIDTHS_LEN] |= (width as u8 - 1) << (self.len / WIDTHS_LEN * 4);
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
    pub(super) bases_at: u64,
    pub(super) packed: Range<u64>,
    /// Bits that a width counts: 1, or 2 where positions are wide.
    pub(super) step: u32,
}

impl<'s, S: Source<'s>> Positions<S> {
    /// Replaces `positions` by those of the document of this rank, ascending; how many bytes they take.
    pub(crate) fn get(
        &self,
        frequencies: &Frequencies<S>,
        rank: u32,
        positions: &mut Vec<u32>,
    ) -> Result<usize> {
        positions.clear();
        let place = self.place(frequencies, rank)?;
        let bytes = self.source.bytes(place.bytes())?;
        let n = place.n as usize;
        positions.reserve(n);
        let (mut bit, mut last) = (place.bit as usize % 8, 0u32);
        for _ in 0..n {
            last = last
                .checked_add(bits_at(&bytes, bit, place.width))
                .ok_or_else(|| self.damage("a position above 4294967295"))?;
            positions.push(last);
            bit += place.width as usize;
        }
        Ok(bytes.len())
    }

    /// Where the bits of a posting are; inside of `packed`, so that no more than those are read.
    #[inline]
    fn place(&self, frequencies: &Frequencies<S>, rank: u32) -> Result<Place> {
        let group = frequencies.group_of(rank)?;
        let at = self.records_at + u64::from(rank / RECORD) * RECORD_LEN;
        let record = self.source.bytes(at..at + RECORD_LEN)?;
        let (offset, widths) = (
            u32::from_le_bytes(array_at(&record, 0).unwrap_or_default()),
            array_at::<WIDTHS_LEN>(&record, size_of::<u32>()).unwrap_or_default(),
        );
        let width = |nth: u32| {
            let nth = nth as usize;
            (u32::from(widths[nth % WIDTHS_LEN] >> (nth / WIDTHS_LEN * 4) & 15) + 1) * self.step
        };
        let (in_record, first) = (rank % RECORD, rank / RECORD * RECORD % GROUP);
        let mut bit = 0u64;
        if group.is_all_ones() {
            bit = u64::from((sum_of_widths(widths, in_record) + in_record) * self.step);
        } else {
            for nth in 0..in_record {
                bit += u64::from(group.get(first + nth)) * u64::from(width(nth));
            }
        }
        let base = base_at(self.source, self.bases_at, rank / CHUNK, 1)?;
        let start =
            self.packed.start.checked_add(base).and_then(|at| at.checked_add(offset.into()));
        let n = group.get(first + in_record);
        let width = width(in_record);
        start
            .map(|start| Place { start, bit, n, width })
            .filter(|place| place.start <= self.packed.end && place.bytes().end <= self.packed.end)
            .ok_or_else(|| self.damage("positions that end outside of the list"))
    }

    /// Calls `visit` with the frequency of each posting in the order of their ranks, and the numbers that stand for
    /// its positions: the first, then each less the one before.
    pub(super) fn for_each(
        &self,
        frequencies: &Frequencies<S>,
        mut visit: impl FnMut(u32, &mut dyn Iterator<Item = u32>) -> Result<()>,
    ) -> Result<()> {
        let mut end = self.packed.start;
        for first in (0..frequencies.df).step_by(RECORD as usize) {
            let n = (frequencies.df - first).min(RECORD);
            let (start, last) =
                (self.place(frequencies, first)?, self.place(frequencies, first + n - 1)?);
            if start.start != end {
                return Err(self.damage("a gap or overlap before a record"));
            }
            end = last.bytes().end;
            let bytes = self.source.bytes(start.start..end)?;
            for rank in first..first + n {
                let place = self.place(frequencies, rank)?;
                let mut bit = place.bit as usize;
                let mut numbers = (0..place.n).map(|_| {
                    let number = bits_at(&bytes, bit, place.width);
                    bit += place.width as usize;
                    number
                });
                visit(place.n, &mut numbers)?;
            }
        }
        if end == self.packed.end { Ok(()) } else { Err(self.damage("bytes of no document")) }
    }

    #[cold]
    fn damage(&self, found: &str) -> Error {
        let error = Error::corrupt("reading the positions of a term").found(found);
        self.source.locate(self.packed.start, error)
    }
}

/// The sum of the first `n` widths of a record as they are written, `n` below 32: all bytes at once, because
/// most postings that phrases look at are in the middle of a record.
#[inline]
fn sum_of_widths(widths: [u8; WIDTHS_LEN], n: u32) -> u32 {
    const LOWER_HALVES: u128 = u128::from_le_bytes([0x0F; WIDTHS_LEN]);
    let first = |n: u32| (1u128 << (8 * n)) - 1;
    let both = u128::from_le_bytes(widths);
    let sums = match n.checked_sub(WIDTHS_LEN as u32) {
        None => both & LOWER_HALVES & first(n),
        Some(upper) => (both & LOWER_HALVES) + (both >> 4 & LOWER_HALVES & first(upper)),
    };
    // Eight bytes of at most 30 each add up in the highest one.
    let add_up = |sums: u64| (sums.wrapping_mul(0x0101_0101_0101_0101) >> 56) as u32;
    add_up(sums as u64) + add_up((sums >> 64) as u64)
}

/// The bits of one posting.
struct Place {
    /// Where its record begins.
    start: u64,
    /// The posting's first bit, from there.
    bit: u64,
    /// How many numbers, of how many bits.
    n: u32,
    width: u32,
}

impl Place {
    fn bytes(&self) -> Range<u64> {
        // Sums of 32 products of 32-bit and 6-bit numbers.
        let end = self.bit + u64::from(self.n) * u64::from(self.width);
        self.start + self.bit / 8..self.start.saturating_add(end.div_ceil(8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_add_up_to_every_posting_of_a_record() {
        let records = [
            [0x0F; 16],
            [0xF0; 16],
            [0xFF; 16],
            std::array::from_fn(|i| (i as u8).wrapping_mul(37)),
        ];
        for widths in records {
            let width = |nth: usize| u32::from(widths[nth % 16] >> (nth / 16 * 4) & 15);
            for n in 0..32 {
                let expected: u32 = (0..n as usize).map(width).sum();
                assert_eq!(sum_of_widths(widths, n), expected, "the first {n} of {widths:?}");
            }
        }
    }
}
