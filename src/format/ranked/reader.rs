//! Frequencies and positions of one posting after the other.

use super::CHUNK;
use super::frequencies::{Frequencies, GROUP, base_at};
use super::positions::{NEAR, Place, Positions, RECORD};
use crate::bytes::{Piece, Source, array_at};
use crate::error::Result;
use crate::simd::packed::{FewSums, PackedRecord, RecordForm, Unpacked, bits_at};
use crate::simd::widths::SIXTEEN;

/// Reads postings of a long list, by rank. Data near the posting before is at hand: of each part of the list 4 KiB, and
/// the frequencies and widths of 32 postings, unpacked.
#[derive(Debug)]
pub(crate) struct PostingReader<'s, S> {
    frequencies: Frequencies<S>,
    positions: Positions<S>,
    entries: Piece<'s, S>,
    packed: Piece<'s, S>,
    starts: Piece<'s, S>,
    /// The postings that share the start at hand, by their number, and that start.
    near: (u32, u64),
    records: Piece<'s, S>,
    bits: Piece<'s, S>,
    record: Record,
}

/// The postings of a record.
#[derive(Debug)]
struct Record {
    /// Its number; none at first.
    number: u32,
    /// Start of the positions.
    start: u64,
    postings: Unpacked,
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
            near: (0, 0),
            starts: Piece::new(source, positions.starts_at(frequencies.df)..positions.records_at),
            records: Piece::new(source, positions.records_at..frequencies.packed.start),
            bits: Piece::new(source, positions.packed.clone()),
            frequencies,
            positions,
            record: Record { number: u32::MAX, start: 0, postings: Unpacked::default() },
        }
    }

    /// Makes `place` where the positions in the document of this rank are. It is written where it will be
    /// read: a result of several words that is handed on waits for its parts to be stored.
    #[inline]
    pub(crate) fn place(&mut self, rank: u32, place: &mut Place) -> Result<()> {
        if rank >= self.frequencies.df {
            return Err(self.frequencies.no_such_rank(rank));
        }
        if rank / RECORD != self.record.number {
            self.load(rank / RECORD)?;
        }
        let (nth, step) = ((rank % RECORD) as usize, self.positions.form.step);
        let postings = &self.record.postings;
        place.start = self.record.start;
        place.bit = postings.bits_before(nth) * u64::from(step);
        (place.n, place.width) = (postings.frequency(nth), postings.width(nth) * step);
        let is_inside = place.bytes().end <= self.positions.packed.end;
        if is_inside { Ok(()) } else { Err(self.positions.outside()) }
    }

    /// The start that offsets of a posting's record count from, 0 if that is the base.
    #[inline]
    fn near_start(&mut self, rank: u32) -> Result<u64> {
        if rank / NEAR != self.near.0
            && let Some(range) = self.positions.start_range(rank, self.frequencies.df)
        {
            let start = array_at(self.starts.get(range)?, 0).unwrap_or_default();
            self.near = (rank / NEAR, u32::from_le_bytes(start).into());
        }
        Ok(self.near.1)
    }

    /// Unpacks a record.
    #[inline(never)]
    fn load(&mut self, number: u32) -> Result<()> {
        let near_start = match number * RECORD {
            0..NEAR => 0,
            rank => self.near_start(rank)?,
        };
        let PostingReader { frequencies, positions, record, .. } = self;
        // Nothing is at hand if this fails.
        record.number = u32::MAX;
        let rank = number * RECORD;
        let n = (frequencies.df - rank).min(RECORD);
        let (source, bases_at, chunk) = (frequencies.source, frequencies.bases_at, rank / CHUNK);
        let group = rank / GROUP;
        let entry = self.entries.get(frequencies.entry_range(group))?;
        let base = base_at(source, bases_at, chunk, 0)?;
        let (group_at, of_group) = frequencies.group_of_entry(entry, base, group)?;
        let nth = rank % GROUP;
        let (start, frequency_widths) = of_group.half(nth);
        let [first, second] = frequency_widths.map(u32::from);
        let end = match n {
            RECORD => start + SIXTEEN * (first + second),
            n => start + n.min(SIXTEEN) * first + n.saturating_sub(SIXTEEN) * second,
        };
        // A sixteen begins with a byte.
        let packed = group_at + u64::from(start / 8)
            ..frequencies.inside(group_at + u64::from(end.div_ceil(8)))?;
        let packed = if packed.is_empty() { &[] } else { self.packed.get(packed)? };
        let base = base_at(source, bases_at, chunk, 1)?.saturating_add(near_start);
        let (start, widths) =
            positions.start_of(self.records.get(positions.record_range(rank))?, base)?;
        record.start = start;
        record.postings.unpack(PackedRecord {
            widths: &widths,
            packed,
            form: RecordForm { frequency_widths, only_is_shorter: positions.form.only_is_shorter },
        });
        record.number = number;
        Ok(())
    }

    /// Begins to load the positions at a place, the first few.
    #[inline]
    pub(crate) fn prefetch_positions(&self, place: &Place) {
        let start = place.bytes().start;
        self.positions.source.prefetch(start..start + 1);
    }

    /// Replaces `positions` by those at a place, ascending; those behind the first that passes `limit` may be left out.
    /// Returns how many bytes were read.
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

    /// The positions at a place, if they are eight at most and not far apart.
    #[inline]
    pub(crate) fn few_positions(&mut self, place: &Place) -> Result<Option<FewSums<'_>>> {
        match place.is_of_few() {
            true => Ok(Some(self.positions.few(place, self.bits.get(place.bytes())?))),
            false => Ok(None),
        }
    }

    /// The position at a place that is the only one.
    #[inline]
    pub(crate) fn only_position(&mut self, place: &Place) -> Result<u32> {
        Ok(self.positions.only(place, self.bits.get(place.bytes())?))
    }

    /// Calls `visit` with the frequency of each posting in the order of their ranks, and the numbers that stand
    /// for its positions: the first, then each less the one before.
    pub(super) fn for_each(
        &mut self,
        mut visit: impl FnMut(u32, &mut dyn Iterator<Item = u32>) -> Result<()>,
    ) -> Result<()> {
        let mut place = Place::default();
        let mut end = self.positions.packed.start;
        for rank in 0..self.frequencies.df {
            self.place(rank, &mut place)?;
            let range = place.bytes();
            if rank % RECORD == 0 && range.start != end {
                return Err(self.positions.damage("a gap or overlap before a record"));
            }
            end = range.end;
            let bytes = self.bits.get(range)?;
            let mut bit = (place.bit % 8) as usize;
            let base = self.positions.base(&place);
            let mut numbers = (0..place.n).map(|_| {
                // There is but one number if something is added.
                let number = bits_at(bytes, bit, place.width) + base;
                bit += place.width as usize;
                number
            });
            visit(place.n, &mut numbers)?;
        }
        match end == self.positions.packed.end {
            true => Ok(()),
            false => Err(self.positions.damage("bytes of no document")),
        }
    }
}
