//! Frequencies by rank, packed in groups of 64, with a width for each sixteen.

use super::{BASE_LEN, CHUNK};
use crate::bytes::{Bytes, Piece, Source, array_at};
use crate::error::{Error, Result};
use crate::simd::packed::bits_at;
use crate::simd::scores::Packed;
use crate::simd::widths::{SIXTEEN, Widths};
use crate::simd::windows::{self, Group, ListParts};
use std::ops::Range;

/// Postings of a group.
pub(super) const GROUP: u32 = 64;
const WIDTH_LEN: u64 = 4;
/// Bits of the width of a group in its entry, or of the four of its sixteens.
const WIDTH_BITS: u32 = 8;
const WIDTHS_BITS: u32 = 16;
const WIDTH_MAX: u32 = 32;
/// The greatest width of a sixteen that an entry has room for.
const NIBBLE_MAX: u32 = 15;

/// Collects frequencies.
#[derive(Debug, Default)]
pub(super) struct FrequencyWriter {
    pub(super) widths: Vec<u8>,
    pub(super) packed: Vec<u8>,
    /// Whether a sixteen is wider than its entry can say.
    pub(super) is_too_wide: bool,
    /// Whether each sixteen has a width, not each group.
    by_sixteen: bool,
    chunk_at: usize,
    /// The frequencies less one of the group that is not complete.
    group: Vec<u32>,
}

impl FrequencyWriter {
    pub(super) fn clear(&mut self, by_sixteen: bool) {
        self.widths.clear();
        self.packed.clear();
        self.group.clear();
        (self.is_too_wide, self.by_sixteen, self.chunk_at) = (false, by_sixteen, 0);
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
        // Groups of a chunk take at most 1,024 times 256 bytes; those of narrow sixteens 120.
        let offset = (self.packed.len() - self.chunk_at) as u32;
        let (mut bits, mut widths) = (BitWriter::default(), 0);
        let n = if self.by_sixteen { SIXTEEN } else { GROUP };
        for (nth, numbers) in (0..).zip(self.group.chunks(n as usize)) {
            let width = width_of(numbers);
            self.is_too_wide |= self.by_sixteen && width > NIBBLE_MAX;
            widths |= width << (nth * 4);
            numbers.iter().for_each(|&less_one| bits.push(less_one, width, &mut self.packed));
        }
        bits.finish(&mut self.packed);
        let entry = match self.by_sixteen {
            true => (offset / 2) << WIDTHS_BITS | widths,
            false => (offset / 8) << WIDTH_BITS | widths,
        };
        self.widths.extend_from_slice(&entry.to_le_bytes());
        self.group.clear();
    }

    pub(super) fn finish(&mut self) {
        if !self.group.is_empty() {
            self.end_group();
        }
    }
}

/// The bits of the widest of some numbers.
fn width_of(numbers: &[u32]) -> u32 {
    u32::BITS - numbers.iter().fold(0, |all, number| all | number).leading_zeros()
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
    /// Whether each sixteen has a width, not each group.
    pub(super) by_sixteen: bool,
}

/// The frequencies less one of up to 64 postings, packed.
#[derive(Debug)]
pub(crate) struct FrequencyGroup<'s> {
    packed: Bytes<'s>,
    widths: Widths,
}

impl FrequencyGroup<'_> {
    /// The frequency of posting `nth` of the group, below 64.
    #[inline]
    pub(crate) fn get(&self, nth: u32) -> u32 {
        let (bit, width) = self.widths.place(nth % GROUP);
        bits_at(&self.packed, bit as usize, width).saturating_add(1)
    }
}

/// Reads frequencies by rank; what lies near the one before is at hand.
#[derive(Debug)]
pub(crate) struct FrequencyReader<'s, S> {
    frequencies: Frequencies<S>,
    entries: Piece<'s, S>,
    packed: Piece<'s, S>,
    /// The group at hand, none at first; where it begins, and its widths.
    group: u32,
    at: u64,
    widths: Widths,
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
            widths: Widths::default(),
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
        if self.widths.are_none() {
            return Ok(1);
        }
        let (bit, width) = self.widths.place(rank % GROUP);
        let start = self.at + u64::from(bit / 8);
        let end = self.at + u64::from((bit + width).div_ceil(8));
        let bytes = self.packed.get(start..self.frequencies.inside(end)?)?;
        Ok(bits_at(bytes, (bit % 8) as usize, width).saturating_add(1))
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
            let [packed, _] = self.groups(rank / GROUP, false)?;
            let group = Group { lows: of_group, packed, first: rank % GROUP };
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
        let (at, widths) = self.group_at(nth)?;
        let len = |nth: u32, widths: Widths| {
            let n = (df - nth * GROUP).min(GROUP);
            u64::from(widths.place(n).0.div_ceil(8))
        };
        let end = at + len(nth, widths);
        let (next, end) = match has_next {
            false => ((end, widths), end),
            true => {
                let (next_at, next_widths) = self.group_at(last)?;
                // One lies behind the other (R4).
                if next_at != end {
                    return Err(self.frequencies.outside());
                }
                ((next_at, next_widths), next_at + len(last, next_widths))
            }
        };
        let bytes = self.packed.get(at..self.frequencies.inside(end)?)?;
        Ok([(bytes, widths), (bytes.get((next.0 - at) as usize..).unwrap_or_default(), next.1)])
    }

    #[inline]
    fn open_group(&mut self, nth: u32) -> Result<()> {
        // Nothing is at hand if this fails.
        self.group = u32::MAX;
        (self.at, self.widths) = self.group_at(nth)?;
        self.group = nth;
        Ok(())
    }

    /// Start of a group, and its widths.
    #[inline]
    fn group_at(&mut self, nth: u32) -> Result<(u64, Widths)> {
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
        let (at, widths) = self.group_at(rank / GROUP)?;
        if widths.are_none() {
            return Ok(1);
        }
        let (bit, width) = widths.place(rank % GROUP);
        let end = at + u64::from((bit + width).div_ceil(8));
        let bytes = self.source.bytes(at + u64::from(bit / 8)..self.inside(end)?)?;
        Ok(bits_at(&bytes, (bit % 8) as usize, width).saturating_add(1))
    }

    /// The frequencies of the 64 postings from rank `64 * nth` on, fewer at the end of the list.
    #[inline]
    pub(crate) fn group(&self, nth: u32) -> Result<FrequencyGroup<'s>> {
        let Some(n) = self.df.checked_sub(nth.saturating_mul(GROUP)).filter(|n| *n > 0) else {
            return Err(self.no_such_rank(nth.saturating_mul(GROUP)));
        };
        let (at, widths) = self.group_at(nth)?;
        let end = at + u64::from(widths.place(n.min(GROUP)).0.div_ceil(8));
        Ok(FrequencyGroup { packed: self.source.bytes(at..self.inside(end)?)?, widths })
    }

    /// Start of a group, and its widths.
    #[inline]
    fn group_at(&self, nth: u32) -> Result<(u64, Widths)> {
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

    /// Start of a group, and its widths, given its entry and the base of its offsets.
    #[inline(always)]
    pub(super) fn group_of_entry(
        &self,
        entry: &[u8],
        base: u64,
        nth: u32,
    ) -> Result<(u64, Widths)> {
        let entry = u32::from_le_bytes(array_at(entry, 0).unwrap_or_default());
        let (offset, widths) = if self.by_sixteen {
            (u64::from(entry >> WIDTHS_BITS) * 2, Widths::of_nibbles(entry as u16))
        } else {
            let width = entry & ((1 << WIDTH_BITS) - 1);
            if width > WIDTH_MAX {
                let error = self.damage(format!("a width of {width} bits"));
                return Err(self.source.locate(self.entry_range(nth).start, error));
            }
            (u64::from(entry >> WIDTH_BITS) * 8, Widths::all(width))
        };
        let start = self.packed.start.saturating_add(base).saturating_add(offset);
        Ok((self.inside(start)?, widths))
    }

    #[inline]
    pub(super) fn inside(&self, end: u64) -> Result<u64> {
        if end <= self.packed.end { Ok(end) } else { Err(self.outside()) }
    }

    /// Calls `visit` with all frequencies in the order of their ranks; refuses what breaks R3 or R4.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u32)) -> Result<()> {
        let mut expected = self.packed.start;
        for nth in 0..self.df.div_ceil(GROUP) {
            let (at, widths) = self.group_at(nth)?;
            let (n, group) = ((self.df - nth * GROUP).min(GROUP), self.group(nth)?);
            let mut all = [0; (GROUP / SIXTEEN) as usize];
            for nth in 0..n {
                let frequency = group.get(nth);
                if let Some(all) = all.get_mut((nth / SIXTEEN) as usize) {
                    *all |= frequency - 1;
                }
                visit(frequency);
            }
            if at != expected || !self.are_smallest(widths, all) {
                return Err(self.source.locate(at, self.damage("a group elsewhere, or too wide")));
            }
            expected += u64::from(widths.place(n).0.div_ceil(8));
        }
        if expected == self.packed.end { Ok(()) } else { Err(self.outside()) }
    }

    /// Whether a group's widths are the smallest, given the bits of each sixteen's numbers.
    fn are_smallest(&self, widths: Widths, mut all: [u32; (GROUP / SIXTEEN) as usize]) -> bool {
        if !self.by_sixteen {
            all = [all.iter().fold(0, |all, bits| all | bits); 4];
        }
        let mut of_each = (0..).zip(all);
        of_each.all(|(nth, bits)| widths.width(nth) == u32::BITS - bits.leading_zeros())
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
