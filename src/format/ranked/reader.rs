//! Frequencies and positions of one posting after the other.

use super::CHUNK;
use super::frequencies::{Frequencies, GROUP, base_at};
use super::positions::{Place, Positions, at_of_record};
use crate::bytes::{Bytes, Source};
use crate::error::Result;
use crate::simd::packed::{STEP, bits_at};
use std::ops::Range;

/// Bytes that are read at once; parts of them are checked once.
const PIECE_LEN: u64 = 4096;

/// Reads postings of a long list, by rank. What lies near the posting before is at hand: of each part of
/// the list 4 KiB.
#[derive(Debug)]
pub(crate) struct PostingReader<'s, S> {
    frequencies: Frequencies<S>,
    positions: Positions<S>,
    entries: Piece<'s, S>,
    packed: Piece<'s, S>,
    records: Piece<'s, S>,
    bits: Piece<'s, S>,
    /// What offsets of this chunk count from: of frequencies, of positions.
    chunk: u32,
    bases: [u64; 2],
}

/// A term in a document.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Posting {
    pub(crate) rank: u32,
    /// How often it is there.
    pub(crate) frequency: u32,
    /// Where its group of frequencies begins, and the width of these.
    group_at: u64,
    width: u32,
}

impl Posting {
    /// One that is not in a long list.
    pub(crate) fn of_short(rank: u32, frequency: u32) -> Self {
        Posting { rank, frequency, group_at: 0, width: 0 }
    }
}

impl<'s, S: Source<'s>> PostingReader<'s, S> {
    pub(super) fn new(
        frequencies: Frequencies<S>,
        positions: Positions<S>,
    ) -> PostingReader<'s, S> {
        let source = positions.source;
        PostingReader {
            entries: Piece::new(source, frequencies.widths_at..frequencies.bases_at),
            packed: Piece::new(source, frequencies.packed.clone()),
            records: Piece::new(source, positions.records_at..frequencies.packed.start),
            bits: Piece::new(source, positions.packed.clone()),
            frequencies,
            positions,
            chunk: 0,
            bases: [0; 2],
        }
    }

    /// Makes `posting` what the frequencies say of the document of this rank. It is written where it will be
    /// read: a result of several words that is handed on waits for its parts to be stored.
    #[inline]
    pub(crate) fn posting(&mut self, rank: u32, posting: &mut Posting) -> Result<()> {
        if rank >= self.frequencies.df {
            return Err(self.frequencies.no_such_rank(rank));
        }
        if rank / CHUNK != self.chunk {
            self.load_bases(rank / CHUNK)?;
        }
        let nth = rank / GROUP;
        let entry = self.entries.get(self.frequencies.entry_range(nth))?;
        let (group_at, width) = self.frequencies.group_of_entry(entry, self.bases[0], nth)?;
        let frequency = match width {
            0 => 1,
            _ => {
                let bit = u64::from(rank % GROUP * width);
                let end = group_at + (bit + u64::from(width)).div_ceil(8);
                let range = group_at + bit / 8..self.frequencies.inside(end)?;
                let less_one = bits_at(self.packed.get(range)?, (bit % 8) as usize, width);
                less_one.saturating_add(1)
            }
        };
        *posting = Posting { rank, frequency, group_at, width };
        Ok(())
    }

    /// Makes `place` the place of a posting's positions, and begins to load them.
    #[inline]
    pub(crate) fn place(&mut self, posting: &Posting, place: &mut Place) -> Result<()> {
        let Posting { rank, width, .. } = *posting;
        if rank / CHUNK != self.chunk {
            self.load_bases(rank / CHUNK)?;
        }
        let start = posting.group_at + at_of_record(rank, width) as u64;
        let end = posting.group_at + u64::from((rank % GROUP + 1) * width).div_ceil(8);
        let of_record = match width {
            0 => &[],
            _ => self.packed.get(start..self.frequencies.inside(end)?)?,
        };
        let record = self.records.get(self.positions.record_range(rank))?;
        self.positions.place_in(record, of_record, width, self.bases[1], rank, place)?;
        self.positions.source.prefetch(place.bytes());
        Ok(())
    }

    /// Begins to load what [`posting`](Self::posting) and [`place`](Self::place) read first.
    #[inline]
    pub(crate) fn prefetch(&self, rank: u32) {
        let source = self.positions.source;
        source.prefetch(self.frequencies.entry_range(rank / GROUP));
        source.prefetch(self.positions.record_range(rank));
    }

    /// Replaces `positions` by those at a place, ascending; those behind the first that passes `limit` may be
    /// left out. How many bytes were read.
    #[inline]
    pub(crate) fn positions(
        &mut self,
        place: &Place,
        limit: u32,
        positions: &mut Vec<u32>,
    ) -> Result<usize> {
        let range = place.bytes();
        let len = (range.end - range.start) as usize;
        self.positions.unpack(place, self.bits.get(range)?, limit, positions)?;
        Ok(len)
    }

    /// Makes `positions` those at a place if they are eight at most and not far apart, and whether they are;
    /// the last one again behind it.
    #[inline]
    pub(crate) fn few_positions(
        &mut self,
        place: &Place,
        positions: &mut [u32; STEP],
    ) -> Result<bool> {
        let is_of_few = place.is_of_few();
        if is_of_few {
            place.eight_sums(self.bits.get(place.bytes())?, positions);
        }
        Ok(is_of_few)
    }

    #[cold]
    fn load_bases(&mut self, chunk: u32) -> Result<()> {
        let Frequencies { source, bases_at, .. } = self.frequencies;
        self.bases = [base_at(source, bases_at, chunk, 0)?, base_at(source, bases_at, chunk, 1)?];
        self.chunk = chunk;
        Ok(())
    }
}

/// A range of bytes of which the part that was read last is at hand.
#[derive(Debug)]
struct Piece<'s, S> {
    source: S,
    range: Range<u64>,
    at: u64,
    bytes: Bytes<'s>,
}

impl<'s, S: Source<'s>> Piece<'s, S> {
    fn new(source: S, range: Range<u64>) -> Self {
        Piece { source, at: range.start, range, bytes: Bytes::Mapped(&[]) }
    }

    /// The bytes of `range`, and some that lie behind it.
    #[inline]
    fn get(&mut self, range: Range<u64>) -> Result<&[u8]> {
        let is_at_hand = range.start >= self.at && range.end <= self.at + self.bytes.len() as u64;
        if !is_at_hand {
            self.load(range.clone())?;
        }
        let start = (range.start - self.at) as usize;
        Ok(self.bytes.get(start..).unwrap_or_default())
    }

    #[inline(never)]
    fn load(&mut self, range: Range<u64>) -> Result<()> {
        // What lies outside of the part is left to the error of reading it.
        let at = (range.start / PIECE_LEN * PIECE_LEN).max(self.range.start).min(range.start);
        let end = range.end.max((at + PIECE_LEN).min(self.range.end));
        self.bytes = self.source.bytes(at..end)?;
        self.at = at;
        Ok(())
    }
}
