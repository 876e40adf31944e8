//! Data of a long list for ranking and phrases, by the rank of a posting.
//!
//! Written behind the list's bitmap by [`RankedWriter`] while runs or segments are merged, read by
//! [`RankedLong`] and [`PostingReader`] in pieces: no part is ever decoded as a whole. The rank of a posting
//! is the number of documents before it in the list.
//!
//! # Layout
//!
//! Integers and floats are little-endian; offsets count from the first byte behind the bitmap. `n` is
//! the list's number of containers, `df` its number of documents. The sizes of all parts but
//! the last follow from the cardinalities in the bitmap's header.
//!
//! ```text
//! offset  size  field            meaning
//!      0     4  max              f32, the best score part of all postings, see below
//!      4     3  kth              u8 each: code, rounded down, of the 10th, 100th, 1,000th best part; 0: fewer
//!      7     1  flags            1: widths of positions are even, up to 32; 2, in old segments, 4, 8 and 16: see below
//!      8     7  frequencies_len  bytes of `frequencies`
//!     15     1  told_from        the smallest code from which on codes tell parts apart; 0: none
//!     16     n  max_codes        the largest code of each container
//!      *     *  codes            container after container
//!      *     *  directories      container after container
//!      *     *  widths           u32 per 64 postings
//!      *     *  bases            16 bytes per 65,536 postings after the first 65,536
//!      *     *  starts           u32 per 1,024 postings after the first 1,024; only with flag 16
//!      *     *  records          18 bytes per 32 postings, 20 without flag 16; only with positions
//!      *     *  frequencies      packed
//!      *     *  positions        packed; only with positions
//! ```
//!
//! *Codes.* The score part of a posting is what its frequency and its document's length make of a
//! score, see [`lengths`](crate::format::lengths); the code of a part s is the smallest c of 1 to 255
//! with c × max ≥ 255 × s. The codes and the directory of a container follow from its cardinality
//! alone:
//!
//! ```text
//! cardinality  codes                                directory
//! 1..=128      one a posting                        none
//! 129..=511    one a posting                        16 u16, one per 4,096 documents
//! 512..=1023   one a posting                        32 u16, one per 2,048 documents
//! 1024..=4096  1,024, one per block of 64 documents 64 u16, one per 1,024 documents
//! 4097..       1,024, one per block of 64 documents 512 u16, one per 128 documents
//! ```
//!
//! From the code `told_from` on all postings whose parts have the same code have the same part, as far as the 64 best parts
//! say so: in short texts that is nearly every code. Then a block of a code that was met before holds nothing better
//! than what was met. In segments without the incompatible feature 1 `told_from` is 0, and flag 2 says that this holds
//! from code 1 on and that there are at most 128 different parts.
//!
//! The code of a block of 64 documents is the largest of its postings, 0 if it has none. If there is
//! one code a posting, the first posting of each block has the block's code and the others have 0.
//! Entry i of a directory is the number of postings of the container before the documents it is for.
//!
//! *Frequencies.* An entry of `widths` is for 64 postings by rank, whose frequencies less one are packed, lowest bit first, from a
//! byte of `frequencies` on. With flag 4 the entry is offset << 16 | four times four bits, from the lowest on, which are the widths
//! of the first sixteen postings, of the second and so on, 0 to 15 bits a posting; they begin with byte 2 × offset. A list
//! with a frequency above 32,768 has no flag 4: then the entry is offset << 8 | width, 0 to 32 bits for each of the 64, and
//! they begin with byte 8 × offset. Nothing lies between groups. Offsets count from the u64 base of the 65,536 postings that the
//! group belongs to, the first half of an entry of `bases`; the base of the first 65,536 is 0.
//!
//! *Positions.* A record is for 32 postings by rank: an offset into `positions`, then 16 bytes whose
//! byte i has the width of posting i in its lower and of posting 16 + i in its upper half, less one.
//! From that offset on stand, for each posting, its first position and then each position less the one
//! before, all with the posting's width. The bits of a posting follow those of the one before; the last
//! byte of a record is filled with zeros. With flag 1 a width is twice what is written. With flag 16 offsets are u16 and count
//! from the start of the 1,024 postings that the record belongs to; it is 0 for the first, and starts count from a base as above,
//! the second half of the entry. A list has no flag 16 if such an offset passes 65,535: then they are u32, and count from the base.
//!
//! A posting of one position has one bit less with flag 8: the position and one, without the highest bit, which is 1. Its
//! width is then what is written in the record, 0 to 15. Every list with positions has flag 8 but those with flag 1.
//!
//! Segments without the incompatible feature 2 have none of the flags 4, 8 and 16.
//!
//! # Example
//!
//! A list as short as it gets: documents 0 to 255 in one run, each of ten words, which is the average; a
//! word that stands first in all of them and once more, at position 9, in document 255. The codes of
//! the postings begin at 0011, the directory at 0111, widths at 0131, records at 0141,
//! frequencies at 01D1.
//!
//! ```text
//! 0000  00 00 20 3F B9 B9 00 1C  02 00 00 00 00 00 00 01
//! 0010  FF BA 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0020  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0030  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0040  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0050  00 BA 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0060  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0070  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0080  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0090  00 BA 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 00A0  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 00B0  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 00C0  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 00D0  00 FF 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 00E0  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 00F0  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0100  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0110  00 00 00 00 01 00 01 00  01 00 01 00 01 00 01 00
//! 0120  01 00 01 00 01 00 01 00  01 00 01 00 01 00 01 00
//! 0130  01 00 00 00 00 00 00 00  00 00 00 00 00 00 10 00
//! 0140  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0150  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0160  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0170  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0180  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0190  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 01A0  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 01B0  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 01C0  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 01D0  30 00 80 90
//! ```
//!
//! # Invariants
//!
//! - R1: `max`, `max_codes`, `codes`, `kth`, `told_from` and flag 2 are those of the postings, computed in `f32` in the order that
//!   [`score_part`] has, with the parameters in LENGTHS.
//! - R2: directories are those of the bitmap.
//! - R3: offsets, starts and bases are those that follow from the widths and frequencies before, and no byte is left over.
//! - R4: widths are the smallest that hold their numbers. Flag 1 is set, and flags 4, 8 and 16 are not, only where numbers do not fit.
//!
//! # Checks
//!
//! Opening compares the length with the sizes of the parts. A read refuses an offset that leads outside,
//! and thereby never allocates more than eight positions a byte, and one. `verify` writes
//! everything again and compares.
//!
//! # Cost
//!
//! Opening reads the head and `max_codes`. A frequency takes two small reads, the positions of a posting two more;
//! what lies in the same 4 KiB as the posting before takes none.
//! Wikipedia articles (21 M postings): codes 0.5 B a posting, directories 0.09, frequencies 0.4, positions 3.7.
//!
//! # Versions
//!
//! 2: with directories of twice as many entries.
//! 3: without `told_from`.
//! 3, with the incompatible feature 1 of segments: without flags 4, 8 and 16.
//! 3, with the incompatible features 1 and 2: as above.
//!
//! # Why
//!
//! Blocks of 64 documents, because a block is a word of a bitmap and four times as fine bounds skip four times
//! as much as blocks of 256. Addressing by rank, because phrases look at few postings, far apart. Everything
//! packed without escapes, because the postings that are looked at are those of high frequency. Codes stand apart from the
//! rest, because a query reads all codes and little else. Widths of frequencies by sixteen, because one frequent document makes
//! 64 wide: they take a quarter less. Most postings have one position, whose highest bit says nothing that its width does not.

mod changed;
mod directory;
mod frequencies;
mod impacts;
mod positions;
mod reader;
mod short;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use changed::ChangedCodes;
pub(crate) use directory::Directory;
pub(in crate::format) use frequencies::BitWriter;
pub(crate) use frequencies::{Frequencies, FrequencyReader};
pub(crate) use impacts::Codes;
pub(crate) use positions::Place;
pub(crate) use reader::PostingReader;
pub(crate) use short::RankedShort;
pub(crate) use walk::Walk;

use crate::bytes::{Bytes, Source, array_at, write_varint};
use crate::error::{Error, ErrorKind, Result};
use crate::format::header::{TIGHT, TOLD_FROM};
use crate::format::lengths::{Bm25, score_part};
use crate::format::occurrences::{self, OccurrenceReader};
use crate::format::postings::LongList;
use crate::schema::Detail;
use crate::simd::prefetch::prefetch_of;
use directory::Granularity;
use frequencies::FrequencyWriter;
use impacts::ImpactWriter;
use positions::{PositionWriter, Positions};
use std::ops::Range;

const HEAD_LEN: usize = 16;
const WIDE: u8 = 1;
const TOLD_APART: u8 = 2;
const BY_SIXTEEN: u8 = 4;
const ONLY_IS_SHORTER: u8 = 8;
const NEAR: u8 = 16;
/// Bits of the length of frequencies, below `told_from`.
const LEN_BITS: u32 = 56;
/// Postings that share a base of offsets. As many as a container has room for, but by their rank in the list, not by
/// their documents: a part of the format that nothing else depends on.
const CHUNK: u32 = 1 << 16;
const BASE_LEN: u64 = 16;
/// By how many postings the one whose length is asked for lies ahead.
const AHEAD: usize = 16;
/// The ranks whose score parts are kept.
pub(crate) const KTH: [usize; 3] = [10, 100, 1000];

/// Settings of a field that are known before its lists are written.
#[derive(Debug)]
pub(crate) struct Ranking {
    pub(crate) detail: Detail,
    pub(crate) bm25: Bm25,
    /// Codes of the documents' lengths; empty where the field keeps no frequencies.
    pub(crate) lengths: Vec<u8>,
    /// Whether lists say from which code on codes tell parts apart, as in all segments that are written now.
    tells_from: bool,
    /// Whether lists take the forms of segments with the incompatible feature 2, as all that are written now have.
    is_tight: bool,
    norm_cache: [f32; 256],
    /// Score parts of one occurrence, by the code of the length.
    parts_of_one: [f32; 256],
}

impl Ranking {
    pub(crate) fn new(detail: Detail, bm25: Bm25, lengths: Vec<u8>) -> Self {
        let (tells_from, is_tight) = (true, true);
        let norm_cache = bm25.norm_cache();
        let parts_of_one = norm_cache.map(|k| score_part(1, k));
        Ranking { detail, bm25, lengths, tells_from, is_tight, norm_cache, parts_of_one }
    }

    /// Writes as in segments with these incompatible features.
    pub(crate) fn set_features(&mut self, incompatible: u32) {
        self.tells_from = incompatible & TOLD_FROM != 0;
        self.is_tight = incompatible & TIGHT != 0;
    }

    /// Code of the length of a document.
    #[inline]
    fn length_code(&self, doc: u32) -> u8 {
        self.lengths.get(doc as usize).copied().unwrap_or_default()
    }

    /// Asks for the length of a document whose turn is soon: those of a rare term lie far apart.
    #[inline]
    fn prefetch_length(&self, doc: u32) {
        if let Some(length) = self.lengths.get(doc as usize) {
            prefetch_of(length);
        }
    }

    /// Part of the score that so many occurrences make in a document whose length has this code.
    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "the tables have an entry for each value of a byte"
    )]
    fn part(&self, frequency: u32, length_code: u8) -> f32 {
        match frequency {
            1 => self.parts_of_one[usize::from(length_code)],
            _ => score_part(frequency, self.norm_cache[usize::from(length_code)]),
        }
    }
}

/// A way to pack frequencies and positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Form {
    /// Whether each sixteen frequencies have a width, not each group.
    by_sixteen: bool,
    /// Bits that a width of positions counts.
    step: u32,
    /// Whether the only position of a document has one bit less.
    only_is_shorter: bool,
    /// Whether offsets of positions are of 16 bits, and count from starts.
    is_near: bool,
}

impl Form {
    /// The narrowest of a field.
    fn new(detail: Detail, is_tight: bool) -> Self {
        let positions = is_tight && detail.has_positions();
        Form { by_sixteen: is_tight, step: 1, only_is_shorter: positions, is_near: positions }
    }

    fn flags(self) -> u8 {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        flag(self.step > 1, WIDE)
            | flag(self.by_sixteen, BY_SIXTEEN)
            | flag(self.only_is_shorter, ONLY_IS_SHORTER)
            | flag(self.is_near, NEAR)
    }

    /// That of a list with these flags; `None` if there is none.
    fn of_flags(flags: u8) -> Option<Self> {
        let has = |flag: u8| flags & flag != 0;
        let step = if has(WIDE) { 2 } else { 1 };
        let form = Form {
            by_sixteen: has(BY_SIXTEEN),
            step,
            only_is_shorter: has(ONLY_IS_SHORTER),
            is_near: has(NEAR),
        };
        let is_one = form.flags() == flags & !TOLD_APART && !(has(WIDE) && form.only_is_shorter);
        is_one.then_some(form)
    }
}

/// Writes what stands behind a bitmap; keeps its buffers from list to list.
#[derive(Debug, Default)]
pub(crate) struct RankedWriter {
    impacts: ImpactWriter,
    frequencies: FrequencyWriter,
    positions: PositionWriter,
    bases: Vec<u8>,
}

impl RankedWriter {
    /// Appends the parts of the list of `docs`, whose occurrences are `pieces`: streams of as many
    /// documents as are given with them.
    pub(crate) fn write<'p>(
        &mut self,
        docs: &[u32],
        pieces: impl Iterator<Item = (&'p [u8], u32)> + Clone,
        ranking: &Ranking,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut form = Form::new(ranking.detail, ranking.is_tight);
        // Numbers that do not fit are rare enough to do it all again.
        while let Some(wider) = self.pack(docs, pieces.clone(), ranking, form)? {
            form = wider;
        }
        let (max, kth) = self.impacts.finish();
        out.extend_from_slice(&max.to_le_bytes());
        out.extend_from_slice(&kth);
        let (told_from, told_apart) = match (ranking.tells_from, self.impacts.told_from()) {
            (true, from) => (from, 0),
            (false, 1) => (0, TOLD_APART),
            (false, _) => (0, 0),
        };
        out.push(told_apart | form.flags());
        let frequencies_len = self.frequencies.packed.len() as u64;
        out.extend_from_slice(&(frequencies_len | u64::from(told_from) << LEN_BITS).to_le_bytes());
        self.impacts.write_codes(out);
        directory::write(docs, out);
        out.extend_from_slice(&self.frequencies.widths);
        out.extend_from_slice(&self.bases);
        out.extend_from_slice(&self.positions.starts);
        out.extend_from_slice(&self.positions.records);
        out.extend_from_slice(&self.frequencies.packed);
        out.extend_from_slice(&self.positions.packed);
        Ok(())
    }

    /// Packs everything; another form if a number does not fit this one.
    fn pack<'p>(
        &mut self,
        docs: &[u32],
        pieces: impl Iterator<Item = (&'p [u8], u32)>,
        ranking: &Ranking,
        form: Form,
    ) -> Result<Option<Form>> {
        self.impacts.clear();
        self.frequencies.clear(form.by_sixteen);
        self.positions.clear(form);
        self.bases.clear();
        let mut rest = docs;
        for (bytes, n) in pieces {
            let (of_piece, later) = rest.split_at_checked(n as usize).ok_or_else(damaged)?;
            let mut occurrences = OccurrenceReader::new(bytes, ranking.detail);
            for (nth, &doc) in of_piece.iter().enumerate() {
                let rank = (docs.len() - rest.len() + nth) as u32;
                if rank.is_multiple_of(CHUNK) && rank > 0 {
                    self.frequencies.end_group();
                    self.positions.end_record();
                    self.bases.extend((self.frequencies.packed.len() as u64).to_le_bytes());
                    self.bases.extend((self.positions.packed.len() as u64).to_le_bytes());
                    self.frequencies.start_chunk();
                    self.positions.start_chunk();
                }
                let frequency = occurrences.frequency().ok_or_else(damaged)?;
                if let Some(&soon) = rest.get(nth + AHEAD) {
                    ranking.prefetch_length(soon);
                }
                let length_code = ranking.length_code(doc);
                let part = ranking.part(frequency, length_code);
                self.impacts.add(doc, part, (frequency == 1).then_some(length_code));
                self.frequencies.add(frequency);
                if ranking.detail.has_positions() {
                    let read = self.positions.add(frequency, || occurrences.gap());
                    if !read.ok_or_else(damaged)? {
                        return Ok(Some(Form { step: 2, only_is_shorter: false, ..form }));
                    }
                }
            }
            rest = later;
        }
        self.frequencies.finish();
        self.positions.end_record();
        if self.frequencies.is_too_wide || self.positions.is_too_far {
            let by_sixteen = form.by_sixteen && !self.frequencies.is_too_wide;
            let is_near = form.is_near && !self.positions.is_too_far;
            return Ok(Some(Form { by_sixteen, is_near, ..form }));
        }
        if self.positions.is_too_long {
            return Err(Error::new(ErrorKind::LimitExceeded, "packing the positions of a term")
                .expected("at most 4294967295 bytes of them in 65536 documents")
                .found("more"));
        }
        if rest.is_empty() { Ok(None) } else { Err(damaged()) }
    }
}

#[cold]
fn damaged() -> Error {
    Error::corrupt("merging occurrences")
        .expected("frequencies and positions of each document")
        .found("other bytes")
}

/// A term's documents, with how often and where it is in each.
#[derive(Debug)]
pub(crate) enum RankedList<'s, S> {
    /// At most 255 documents, decoded.
    Short(RankedShort<'s>),
    /// More, read where they lie.
    Long(RankedLong<'s, S>),
}

/// Bytes behind long lists by their use, for `inspect`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RankedBytes {
    /// Heads, and the code of each container.
    pub(crate) heads: u64,
    pub(crate) codes: u64,
    pub(crate) directories: u64,
    /// With widths and half of the bases.
    pub(crate) frequencies: u64,
    /// With records and half of the bases.
    pub(crate) positions: u64,
}

impl RankedBytes {
    /// Adds those of one more list.
    pub(crate) fn add(&mut self, other: &RankedBytes) {
        self.heads += other.heads;
        self.codes += other.codes;
        self.directories += other.directories;
        self.frequencies += other.frequencies;
        self.positions += other.positions;
    }
}

/// The parts of a long list, read where they lie.
#[derive(Debug)]
pub(crate) struct RankedLong<'s, S> {
    list: LongList<'s, S>,
    source: S,
    /// All parts.
    range: Range<u64>,
    /// `max_codes`, behind the head.
    hot: Bytes<'s>,
    max: f32,
    kth: [u8; 3],
    told_from: Option<u8>,
    codes_at: u64,
    directories_at: u64,
    frequencies: Frequencies<S>,
    positions: Option<Positions<S>>,
}

/// The containers of a [`RankedLong`].
#[derive(Clone, Debug)]
pub(crate) struct Containers<'a, 's, S> {
    list: &'a RankedLong<'s, S>,
    nth: usize,
    first_rank: u32,
    codes_at: u64,
    directory_at: u64,
}

impl<'s, S: Source<'s>> Iterator for Containers<'_, 's, S> {
    type Item = RankedContainer;

    #[inline]
    fn next(&mut self) -> Option<RankedContainer> {
        let Containers { list, nth, first_rank, codes_at, directory_at } = self;
        let max_code = *list.max_codes().get(*nth)?;
        let cardinality = list.list.container_cardinality(*nth);
        let container = RankedContainer {
            nth: *nth,
            key: list.list.key(*nth),
            cardinality,
            first_rank: *first_rank,
            max_code,
            codes_at: *codes_at,
            directory_at: *directory_at,
        };
        let granularity = Granularity::of(cardinality);
        *nth += 1;
        *first_rank += cardinality;
        *codes_at += granularity.codes_len() as u64;
        *directory_at += granularity.directory_len() as u64;
        Some(container)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let n = self.list.max_codes().len() - self.nth;
        (n, Some(n))
    }
}

impl<'s, S: Source<'s>> ExactSizeIterator for Containers<'_, 's, S> {}

/// One container of a [`RankedLong`], and where its parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RankedContainer {
    /// Its number in the list.
    pub(crate) nth: usize,
    /// The upper 16 bits of its documents.
    pub(crate) key: u16,
    pub(crate) cardinality: u32,
    /// The rank of its first posting.
    pub(crate) first_rank: u32,
    /// Its largest code.
    pub(crate) max_code: u8,
    codes_at: u64,
    directory_at: u64,
}

impl<'s, S: Source<'s>> RankedLong<'s, S> {
    /// Reads the head of the `len` bytes at `at`, which belong to `list`.
    pub(crate) fn open(
        list: LongList<'s, S>,
        source: S,
        at: u64,
        len: u64,
        detail: Detail,
    ) -> Result<Self> {
        let wrong = |found: String| {
            let error = Error::corrupt("reading the impacts of a posting list").found(found);
            source.locate(at, error)
        };
        let n = list.n_containers();
        let end = at.checked_add(len).ok_or_else(|| wrong("an end past 2^64".to_owned()))?;
        let hot = source.bytes(at..end.min(at + (HEAD_LEN + n) as u64))?;
        let head = || {
            let max = f32::from_le_bytes(array_at(&hot, 0)?);
            let [k0, k1, k2, flags] = array_at(&hot, 4)?;
            let lens = u64::from_le_bytes(array_at(&hot, 8)?);
            (hot.len() == HEAD_LEN + n).then_some((max, [k0, k1, k2], flags, lens))
        };
        let (max, kth, flags, lens) = head().ok_or_else(|| wrong(format!("{len} bytes")))?;
        let form = Form::of_flags(flags)
            .filter(|_| (0.0..=1.0).contains(&max))
            .ok_or_else(|| wrong(format!("flags {flags} and a best score part of {max}")))?;
        let (frequencies_len, told_from) = (lens & ((1 << LEN_BITS) - 1), (lens >> LEN_BITS) as u8);
        let told_from = if flags & TOLD_APART != 0 { 1 } else { told_from };
        let df = list.cardinality();
        let (mut codes, mut directories) = (0, 0);
        for nth in 0..n {
            let granularity = Granularity::of(list.container_cardinality(nth));
            codes += granularity.codes_len() as u64;
            directories += granularity.directory_len() as u64;
        }
        let codes_at = at + (HEAD_LEN + n) as u64;
        let directories_at = codes_at + codes;
        let widths_at = directories_at + directories;
        let bases_at = widths_at + df.div_ceil(64) * 4;
        let bases = (df.div_ceil(u64::from(CHUNK)) - 1) * BASE_LEN;
        let records_at = bases_at + bases + positions::starts_len(form.is_near, df);
        let records = match detail.has_positions() {
            true => df.div_ceil(32) * positions::record_len(form.is_near),
            false => 0,
        };
        let frequencies_at = records_at + records;
        let positions_at = frequencies_at
            .checked_add(frequencies_len)
            .filter(|positions_at| *positions_at <= end && (records > 0 || *positions_at == end))
            .ok_or_else(|| wrong(format!("{len} bytes, {frequencies_len} of them frequencies")))?;
        let frequencies = Frequencies {
            source,
            widths_at,
            bases_at,
            packed: frequencies_at..positions_at,
            df: df as u32,
            by_sixteen: form.by_sixteen,
        };
        let positions = detail.has_positions().then_some(Positions {
            source,
            records_at,
            packed: positions_at..end,
            form,
        });
        Ok(RankedLong {
            list,
            source,
            range: at..end,
            hot,
            max,
            kth,
            told_from: (told_from > 0).then_some(told_from),
            codes_at,
            directories_at,
            frequencies,
            positions,
        })
    }

    /// The documents.
    #[inline]
    pub(crate) fn list(&self) -> &LongList<'s, S> {
        &self.list
    }

    /// The best score part of all postings. No part of a posting with code c exceeds
    /// `c * max_part / 255`.
    #[inline]
    pub(crate) fn max_part(&self) -> f32 {
        self.max
    }

    /// Codes, rounded down, of the [`KTH`] best score parts; 0 where there are fewer postings.
    pub(crate) fn kth_codes(&self) -> [u8; 3] {
        self.kth
    }

    /// The smallest code from which on all postings whose parts have the same code have the same part.
    #[inline]
    pub(crate) fn told_from(&self) -> Option<u8> {
        self.told_from
    }

    /// The code of a score part that one of the postings has.
    #[inline]
    pub(crate) fn code_of(&self, part: f32) -> u8 {
        impacts::code_above(part, self.max)
    }

    /// The largest code of each container.
    #[inline]
    pub(crate) fn max_codes(&self) -> &[u8] {
        // `open` has read as many bytes as the head and all codes have.
        self.hot.get(HEAD_LEN..).unwrap_or_default()
    }

    /// Bytes of the list by their use.
    pub(crate) fn bytes(&self) -> RankedBytes {
        let Frequencies { widths_at, bases_at, packed, df, .. } = &self.frequencies;
        let bases = (u64::from(*df).div_ceil(u64::from(CHUNK)) - 1) * BASE_LEN;
        // With starts.
        let records = packed.start - bases_at - bases;
        RankedBytes {
            heads: self.codes_at - self.range.start,
            codes: self.directories_at - self.codes_at,
            directories: widths_at - self.directories_at,
            frequencies: bases_at - widths_at + bases / 2 + packed.end - packed.start,
            positions: bases / 2 + records + self.range.end - packed.end,
        }
    }

    /// All containers in order, with the places of their parts: a few sums each.
    pub(crate) fn containers(&self) -> Containers<'_, 's, S> {
        Containers {
            list: self,
            nth: 0,
            first_rank: 0,
            codes_at: self.codes_at,
            directory_at: self.directories_at,
        }
    }

    /// The codes of a container.
    #[inline]
    pub(crate) fn codes(&self, container: &RankedContainer) -> Result<Codes<'s>> {
        let granularity = Granularity::of(container.cardinality);
        let end = container.codes_at + granularity.codes_len() as u64;
        let bytes = self.source.bytes(container.codes_at..end)?;
        Ok(if granularity.is_dense() { Codes::Dense(bytes) } else { Codes::ByRank(bytes) })
    }

    /// Directory that finds the ranks of a container's documents.
    #[inline]
    pub(crate) fn directory(&self, container: &RankedContainer) -> Result<Directory<'s>> {
        let granularity = Granularity::of(container.cardinality);
        let end = container.directory_at + granularity.directory_len() as u64;
        Ok(Directory::new(granularity, self.source.bytes(container.directory_at..end)?))
    }

    /// Checks R1 to R4 by writing the parts of the list of `docs` once more.
    pub(crate) fn verify(
        &self,
        docs: &[u32],
        ranking: &Ranking,
        writer: &mut RankedWriter,
    ) -> Result<()> {
        let (mut stream, mut expected) = (vec![], vec![]);
        self.append_occurrences(&mut stream)?;
        let all = std::iter::once((&stream[..], docs.len() as u32));
        writer.write(docs, all, ranking, &mut expected)?;
        let range = self.range.clone();
        let found = self.source.bytes(range.clone())?;
        if *found == *expected {
            return Ok(());
        }
        let differing = found.iter().zip(&expected).take_while(|(a, b)| a == b).count() as u64;
        Err(self.source.locate(
            range.start + differing,
            Error::corrupt("checking the impacts, frequencies and positions of a term")
                .expected("what its documents, lengths and occurrences make")
                .found("other bytes"),
        ))
    }

    /// Appends the list's occurrences as a stream, see [`occurrences`].
    pub(crate) fn append_occurrences(&self, out: &mut Vec<u8>) -> Result<()> {
        let Some(mut reader) = self.reader() else {
            return self
                .frequencies
                .for_each(|frequency| write_varint(out, u64::from(frequency - 1)));
        };
        reader.for_each(|frequency, numbers| {
            occurrences::write_gaps(frequency, numbers, out);
            Ok(())
        })
    }

    /// Frequencies of the term in each document, by rank.
    #[inline]
    pub(crate) fn frequencies(&self) -> &Frequencies<S> {
        &self.frequencies
    }

    /// Whether the term occurs once in nearly all of its documents: frequencies take less than a quarter of a bit.
    pub(crate) fn is_mostly_once(&self) -> bool {
        let Frequencies { packed, df, .. } = &self.frequencies;
        (packed.end - packed.start) * 32 < u64::from(*df)
    }

    /// Reads one posting after the other, if the field keeps positions.
    pub(crate) fn reader(&self) -> Option<PostingReader<'s, S>> {
        let positions = self.positions.as_ref()?;
        Some(PostingReader::new(self.frequencies.clone(), positions.clone()))
    }
}
