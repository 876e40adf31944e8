//! Frequencies by rank, packed in groups of 64.

use super::{BASE_LEN, CHUNK};
use crate::bytes::{Bytes, Piece, Source, array_at};
use crate::error::{Error, Result};
use crate::simd::packed::bits_at;
use crate::simd::scores::Packed;
use crate::simd::windows::{self, Group, ListParts};
use std::ops::Range;

/// Postings of a group.
pub(super) const GROUP: u32 = 64;
const WIDTH_LEN: u64 = 4;
const WIDTH_BITS: u32 = 8;
const WIDTH_MAX: u32 = 32;

/// Collects frequencies.
#[derive(Debug, Default)]
pub(super) struct FrequencyWriter {
    pub(super) widths: Vec<u8>,
    pub(super) packed: Vec<u8>,
    chunk_at: usize,
    /// The frequencies less one of the group that is not complete.
    group: Vec<u32>,
}

impl FrequencyWriter {
    pub(super) fn clear(&mut self) {
        self.widths.clear();
        self.packed.clear();
        self.group.clear();
        self.chunk_at = 0;
    }

    #[inline]
    pub(super) fn add(&mut self, frequency: u32) {
        if self.group.len() == GROUP as usize {
            self.end_group();
        }
        self.group.push(frequency - 1);
    }

    /// Counts offsets from here on.
    pub(super) fn start_chunk(&mut self) {
        self.chunk_at = self.packed.len();
    }

    pub(super) fn end_group(&mut self) {
        let all = self.group.iter().fold(0, |all, less_one| all | less_one);
        let width = u32::BITS - all.leading_zeros();
        // Groups of a chunk take at most 1,024 times 256 bytes.
        let offset = ((self.packed.len() - self.chunk_at) / 8) as u32;
        self.widths.extend_from_slice(&(offset << WIDTH_BITS | width).to_le_bytes());
        let mut bits = BitWriter::default();
        self.group.iter().for_each(|&less_one| bits.push(less_one, width, &mut self.packed));
        bits.finish(&mut self.packed);
        self.group.clear();
    }

    pub(super) fn finish(&mut self) {
        if !self.group.is_empty() {
            self.end_group();
        }
    }
}

/// Appends numbers of some bits, lowest first.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::format) struct BitWriter {
    bits: u64,
    n: u32,
}

impl BitWriter {
    /// Appends a number of `width` bits, at most 32.
    #[inline]
    pub(in crate::format) fn push(&mut self, value: u32, width: u32, out: &mut Vec<u8>) {
        self.bits |= u64::from(value) << self.n;
        self.n += width;
        if self.n >= 32 {
            out.extend_from_slice(&(self.bits as u32).to_le_bytes());
            self.bits >>= 32;
            self.n -= 32;
        }
    }

    /// Fills the last byte with zeros.
    #[inline]
    pub(in crate::format) fn finish(self, out: &mut Vec<u8>) {
        // All eight bytes at once are one store; those that hold nothing go again.
        let end = out.len() + self.n.div_ceil(8) as usize;
        out.extend_from_slice(&self.bits.to_le_bytes());
        out.truncate(end);
    }
}

/// Frequencies of a long list.
#[derive(Clone, Debug)]
pub(crate) struct Frequencies<S> {
    pub(super) source: S,
    pub(super) widths_at: u64,
    pub(super) bases_at: u64,
    pub(super) packed: Range<u64>,
    pub(super) df: u32,
}

/// The frequencies less one of up to 64 postings, packed.
#[derive(Debug)]
pub(crate) struct FrequencyGroup<'s> {
    packed: Bytes<'s>,
    width: u32,
}

impl FrequencyGroup<'_> {
    /// The frequency of posting `nth` of the group, below 64.
    #[inline]
    pub(crate) fn get(&self, nth: u32) -> u32 {
        bits_at(&self.packed, (nth * self.width) as usize, self.width).saturating_add(1)
    }
}

/// Reads frequencies by rank; what lies near the one before is at hand.
#[derive(Debug)]
pub(crate) struct FrequencyReader<'s, S> {
    frequencies: Frequencies<S>,
    entries: Piece<'s, S>,
    packed: Piece<'s, S>,
    /// The group at hand, none at first; where it begins, and its width.
    group: u32,
    at: u64,
    width: u32,
    /// Chunk at hand, and the base that its offsets count from.
    base: (u32, u64),
}

impl<'s, S: Source<'s>> FrequencyReader<'s, S> {
    fn new(frequencies: Frequencies<S>) -> Self {
        let source = frequencies.source;
        FrequencyReader {
            entries: Piece::new(source, frequencies.widths_at..frequencies.bases_at),
            packed: Piece::new(source, frequencies.packed.clone()),
            frequencies,
            group: u32::MAX,
            at: 0,
            width: 0,
            base: (0, 0),
        }
    }

    /// Number of times that the term occurs in the document of this rank.
    #[inline]
    pub(crate) fn get(&mut self, rank: u32) -> Result<u32> {
        if rank >= self.frequencies.df {
            return Err(self.frequencies.no_such_rank(rank));
        }
        if rank / GROUP != self.group {
            self.open_group(rank / GROUP)?;
        }
        if self.width == 0 {
            return Ok(1);
        }
        let bit = u64::from(rank % GROUP * self.width);
        let (start, end) = (self.at + bit / 8, self.at + (bit + u64::from(self.width)).div_ceil(8));
        let bytes = self.packed.get(start..self.frequencies.inside(end)?)?;
        Ok(bits_at(bytes, (bit % 8) as usize, self.width).saturating_add(1))
    }

    /// Adds to the scores of documents of a window what the list adds; the first has this rank. Given are the codes of lengths of the
    /// window, which there must be for the last document.
    pub(crate) fn add_all(
        &mut self,
        scores: &mut [f32; windows::DOCS],
        (lows, rank): (&[[u8; 2]], u32),
        codes: &[u8],
        parts: ListParts<'_>,
    ) -> Result<()> {
        let (mut lows, mut rank) = (lows, rank);
        while !lows.is_empty() {
            let n = lows.len().min((GROUP - rank % GROUP) as usize);
            let (of_group, rest) = lows.split_at(n);
            let [(packed, width), _] = self.groups(rank / GROUP, false)?;
            let group = Group { lows: of_group, packed, width, first: (rank % GROUP) as usize };
            windows::add(scores, group, codes, parts);
            (lows, rank) = (rest, rank + n as u32);
        }
        Ok(())
    }

    /// The numbers of a group, and those of the next one where `has_next` says that they are wanted.
    // Else it is a call for each block of a word, since windows scored whole ask for groups, too.
    #[inline(always)]
    pub(crate) fn groups(&mut self, nth: u32, has_next: bool) -> Result<[Packed<'_>; 2]> {
        let last = nth + u32::from(has_next);
        let df = self.frequencies.df;
        if last >= df.div_ceil(GROUP) {
            return Err(self.frequencies.no_such_rank(last.saturating_mul(GROUP)));
        }
        let (at, width) = self.group_at(nth)?;
        let len = |nth: u32, width: u32| {
            let n = (df - nth * GROUP).min(GROUP);
            u64::from((n * width).div_ceil(8))
        };
        let end = at + len(nth, width);
        let (next, end) = match has_next {
            false => ((end, width), end),
            true => {
                let (next_at, next_width) = self.group_at(last)?;
                // One lies behind the other (R4).
                if next_at != end {
                    return Err(self.frequencies.outside());
                }
                ((next_at, next_width), next_at + len(last, next_width))
            }
        };
        let bytes = self.packed.get(at..self.frequencies.inside(end)?)?;
        Ok([(bytes, width), (bytes.get((next.0 - at) as usize..).unwrap_or_default(), next.1)])
    }

    #[inline]
    fn open_group(&mut self, nth: u32) -> Result<()> {
        // Nothing is at hand if this fails.
        self.group = u32::MAX;
        (self.at, self.width) = self.group_at(nth)?;
        self.group = nth;
        Ok(())
    }

    /// Start of a group, and its width.
    #[inline]
    fn group_at(&mut self, nth: u32) -> Result<(u64, u32)> {
        let chunk = nth / (CHUNK / GROUP);
        if chunk != self.base.0 {
            let Frequencies { source, bases_at, .. } = self.frequencies;
            self.base = (chunk, base_at(source, bases_at, chunk, 0)?);
        }
        let entry = self.entries.get(self.frequencies.entry_range(nth))?;
        self.frequencies.group_of_entry(entry, self.base.1, nth)
    }
}

impl<'s, S: Source<'s>> Frequencies<S> {
    /// Reads one frequency after the other.
    pub(crate) fn reader(&self) -> FrequencyReader<'s, S> {
        FrequencyReader::new(self.clone())
    }

    /// Number of times that the term occurs in the document of this rank.
    #[inline]
    pub(crate) fn get(&self, rank: u32) -> Result<u32> {
        if rank >= self.df {
            return Err(self.no_such_rank(rank));
        }
        let (at, width) = self.group_at(rank / GROUP)?;
        if width == 0 {
            return Ok(1);
        }
        let bit = u64::from(rank % GROUP * width);
        let end = at + (bit + u64::from(width)).div_ceil(8);
        let bytes = self.source.bytes(at + bit / 8..self.inside(end)?)?;
        Ok(bits_at(&bytes, (bit % 8) as usize, width).saturating_add(1))
    }

    /// The frequencies of the 64 postings from rank `64 * nth` on, fewer at the end of the list.
    #[inline]
    pub(crate) fn group(&self, nth: u32) -> Result<FrequencyGroup<'s>> {
        let Some(n) = self.df.checked_sub(nth.saturating_mul(GROUP)).filter(|n| *n > 0) else {
            return Err(self.no_such_rank(nth.saturating_mul(GROUP)));
        };
        let (at, width) = self.group_at(nth)?;
        let end = at + u64::from((n.min(GROUP) * width).div_ceil(8));
        Ok(FrequencyGroup { packed: self.source.bytes(at..self.inside(end)?)?, width })
    }

    /// Start of a group, and its width.
    #[inline]
    fn group_at(&self, nth: u32) -> Result<(u64, u32)> {
        let entry = self.source.bytes(self.entry_range(nth))?;
        let base = base_at(self.source, self.bases_at, nth / (CHUNK / GROUP), 0)?;
        self.group_of_entry(&entry, base, nth)
    }

    /// Range of the entry of a group.
    #[inline]
    pub(super) fn entry_range(&self, nth: u32) -> Range<u64> {
        let at = self.widths_at + u64::from(nth) * WIDTH_LEN;
        at..at + WIDTH_LEN
    }

    /// Start of a group, and its width, given its entry and the base of its offsets.
    #[inline(always)]
    pub(super) fn group_of_entry(&self, entry: &[u8], base: u64, nth: u32) -> Result<(u64, u32)> {
        let entry = u32::from_le_bytes(array_at(entry, 0).unwrap_or_default());
        let (offset, width) = (entry >> WIDTH_BITS, entry & ((1 << WIDTH_BITS) - 1));
        if width > WIDTH_MAX {
            let error = self.damage(format!("a width of {width} bits"));
            return Err(self.source.locate(self.entry_range(nth).start, error));
        }
        let start = self.packed.start.saturating_add(base).saturating_add(u64::from(offset) * 8);
        Ok((self.inside(start)?, width))
    }

    #[inline]
    pub(super) fn inside(&self, end: u64) -> Result<u64> {
        if end <= self.packed.end { Ok(end) } else { Err(self.outside()) }
    }

    /// Calls `visit` with all frequencies in the order of their ranks; refuses what breaks R3 or R4.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u32)) -> Result<()> {
        let mut expected = self.packed.start;
        for nth in 0..self.df.div_ceil(GROUP) {
            let (at, width) = self.group_at(nth)?;
            let (n, group) = ((self.df - nth * GROUP).min(GROUP), self.group(nth)?);
            let mut all = 0;
            for frequency in (0..n).map(|nth| group.get(nth)) {
                all |= frequency - 1;
                visit(frequency);
            }
            if at != expected || u32::BITS - all.leading_zeros() != width {
                return Err(self.source.locate(at, self.damage("a group elsewhere, or too wide")));
            }
            expected += u64::from((n * width).div_ceil(8));
        }
        if expected == self.packed.end { Ok(()) } else { Err(self.outside()) }
    }

    #[cold]
    fn damage(&self, found: impl Into<String>) -> Error {
        Error::corrupt("reading the frequencies of a term").found(found)
    }

    #[cold]
    fn outside(&self) -> Error {
        let error = self
            .damage("other groups")
            .expected(format!("groups in {} bytes", self.packed.end - self.packed.start));
        self.source.locate(self.packed.start, error)
    }

    #[cold]
    pub(super) fn no_such_rank(&self, rank: u32) -> Error {
        let error = self
            .damage(format!("a document of rank {rank}"))
            .expected(format!("ranks below {}", self.df));
        self.source.locate(self.packed.start, error)
    }
}

/// The base that the offsets of a chunk count from: its first or second number.
#[inline]
pub(super) fn base_at<'s, S: Source<'s>>(
    source: S,
    bases_at: u64,
    chunk: u32,
    number: u64,
) -> Result<u64> {
    let Some(nth) = chunk.checked_sub(1) else { return Ok(0) };
    let at = bases_at + u64::from(nth) * BASE_LEN + number * 8;
    let base = source.bytes(at..at + 8)?;
    Ok(u64::from_le_bytes(array_at(&base, 0).unwrap_or_default()))
}
