//! Envelope of a segment file, and of the file of its deletes. It has a header, sections, a checksum for every block, a
//! table of the sections, and a footer. Written in one pass by [`EnvelopeWriter`], opened by [`Envelope::open`]; what
//! the sections hold is the business of the other modules.
//!
//! # Layout
//!
//! All integers are little-endian. Offsets count from the first byte of the file.
//!
//! ```text
//! offset  size  field         meaning
//!      0    64  header        as of every file (module header), kind 1, or 4 for deletes
//!     64     *  sections      each at a multiple of 8 and followed by at least 64 zero bytes
//!      *     *  checksums     at a multiple of 8: u32 CRC32C of each block of the file from its first
//!                             byte up to here, the last one short; then zeros to a multiple of 8
//!      *     *  table         24 bytes a section, ascending by (field, kind)
//!      *    64  footer        the last 64 bytes
//! ```
//!
//! An entry of the section table:
//!
//! ```text
//! entry   size  field         meaning
//!      0     2  field         u16, position in the schema; 65,535 for what belongs to the segment
//!      2     2  kind          u16, see SectionKind
//!      4     2  codec         u16, how the section is coded; 0 unless its module says otherwise
//!      6     2  zero          reserved, zero, ignored
//!      8     8  offset        u64, a multiple of 8
//!     16     8  length        u64, in bytes, without the zeros that follow
//! ```
//!
//! The footer:
//!
//! ```text
//! footer  size  field         meaning
//!      0     8  file_len      u64, length of the whole file
//!      8     8  checksums_at  u64, offset of the checksums, and length of what they cover
//!     16     8  table_at      u64, offset of the section table
//!     24     4  checksums_crc u32, CRC32C of the bytes from checksums_at to table_at
//!     28     4  table_crc     u32, CRC32C of the bytes from table_at to the footer
//!     32     1  block_shift   u8, 12 to 16: a block has 1 << block_shift bytes
//!     33     7  zero          reserved, zero, ignored
//!     40    16  id            as in the header
//!     56     4  footer_crc    u32, CRC32C of the 56 bytes before
//!     60     4  end           54 50 49 0A
//! ```
//!
//! # Example
//!
//! Segment `0102…10` with one section, the three bytes `abc` as field 0, kind 1, in blocks of 16 KiB:
//!
//! ```text
//! 0000  89 54 50 49 0D 0A 1A 0A  01 00 03 00 00 00 00 00
//! 0010  00 00 00 00 00 00 00 00  03 00 00 00 01 02 03 04
//! 0020  05 06 07 08 09 0A 0B 0C  0D 0E 0F 10 00 00 00 00
//! 0030  00 00 00 00 00 00 00 00  00 00 00 00 E9 F2 E7 20
//! 0040  61 62 63 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0050  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0060  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0070  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0080  00 00 00 00 00 00 00 00  A1 C2 47 09 00 00 00 00
//! 0090  00 00 01 00 00 00 00 00  40 00 00 00 00 00 00 00
//! 00A0  03 00 00 00 00 00 00 00  E8 00 00 00 00 00 00 00
//! 00B0  88 00 00 00 00 00 00 00  90 00 00 00 00 00 00 00
//! 00C0  35 AF F1 D6 CF 27 32 5B  0E 00 00 00 00 00 00 00
//! 00D0  01 02 03 04 05 06 07 08  09 0A 0B 0C 0D 0E 0F 10
//! 00E0  CE 42 2E 3E 54 50 49 0A
//! ```
//!
//! # Invariants
//!
//! 1. Every byte is covered by exactly one checksum: up to `checksums_at` by those of the blocks, from
//!    there by those in the footer, whose last 8 bytes are compared instead.
//! 2. `footer_crc` therefore stands for the whole content; the manifest repeats it.
//! 3. After the last byte of a section at least 64 more bytes can be read, so that a kernel may read on.
//! 4. No two sections have the same field and kind.
//!
//! # Checks
//!
//! [`Envelope::open`] refuses what is not this layout: another magic, kind or version, a checksum of
//! header, footer or tables that differs, a length that is not the file's, a section that leaves the
//! file. It never panics, and allocates 24 bytes a section after the table passed its checksum.
//! Blocks are checked by whoever reads them, when they are first touched; see `segment::file`.
//! A crafted file with right checksums may have sections that overlap, which does no harm.
//!
//! # Cost
//!
//! Open reads header, footer and both tables: 4 bytes for each 16 KiB of file, 20 µs for a gigabyte.
//! The table of checksums stays where it is. Writing keeps 4 bytes a block in memory.
//!
//! # Versions
//!
//! 1.0: the first.
//!
//! # Why
//!
//! One file a segment, because a commit costs a sync a file (0.9 ms against 2.0 ms for six files).
//! CRC32C, because hardware computes it and every change within 32 bits is found. Tables at the end,
//! because the file is then written front to back without seeking. Blocks of 16 KiB, because a cold
//! query touches 15 scattered places: 20 µs with nothing checked, 33 µs with blocks of 4 KiB, 57 µs with
//! 16 KiB, 88 µs with 64 KiB (`benches/open.rs`); and because the checksums of 4 KiB blocks take four times
//! the reading at open, the set of checked blocks four times the heap. A warm read tests one bit.

use crate::bytes::{ByteReader, Bytes, array_at, put_at};
use crate::checksum::{crc32c, crc32c_append};
use crate::error::{Error, Result};
use crate::format::header::{FileKind, HEADER_LEN, Header, ID_AT, checksum_differs, expect_crc};
use crate::ids::{FieldId, SegmentId};
use crate::plural::counted;
use std::ops::Range;

const END: [u8; 4] = *b"TPI\n";
const FOOTER_CRCS_AT: usize = 3 * size_of::<u64>();
const BLOCK_SHIFT_AT: usize = FOOTER_CRCS_AT + 2 * size_of::<u32>();
const FOOTER_ID_AT: usize = 40;
const FOOTER_CRC_AT: usize = FOOTER_ID_AT + size_of::<SegmentId>();
const END_AT: usize = FOOTER_CRC_AT + size_of::<u32>();
/// Length of the footer of a segment file.
pub(crate) const FOOTER_LEN: usize = END_AT + END.len();
const _: () = assert!(FOOTER_LEN == 64, "the footer's size is part of the format");

const ENTRY_LEN: usize = 24;
const SECTION_ALIGNMENT: u64 = 8;
/// Zero bytes after each section, at least.
pub(crate) const SECTION_PADDING: u64 = 64;
/// The `field` of a section that belongs to no field.
const NO_FIELD: u16 = u16::MAX;
/// Blocks of 16 KiB.
pub(crate) const BLOCK_SHIFT: u8 = 14;
/// Block sizes a reader accepts: 4 to 64 KiB.
const BLOCK_SHIFTS: std::ops::RangeInclusive<u8> = 12..=16;

/// Kind of a section. The numbers are part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SectionKind(pub(crate) u16);

impl SectionKind {
    pub(crate) const TERMS: SectionKind = SectionKind(1);
    pub(crate) const TERMS_INDEX: SectionKind = SectionKind(2);
    pub(crate) const TERMS_HEADS: SectionKind = SectionKind(3);
    pub(crate) const POSTINGS: SectionKind = SectionKind(4);
    pub(crate) const PRESENCE: SectionKind = SectionKind(5);
    pub(crate) const EMPTY: SectionKind = SectionKind(6);
    pub(crate) const STORED: SectionKind = SectionKind(7);
    pub(crate) const STORED_INDEX: SectionKind = SectionKind(8);
    pub(crate) const STATISTICS: SectionKind = SectionKind(9);
    pub(crate) const LENGTHS: SectionKind = SectionKind(10);
    pub(crate) const OFFSETS: SectionKind = SectionKind(11);
    pub(crate) const DELETED: SectionKind = SectionKind(12);
    pub(crate) const COLUMN: SectionKind = SectionKind(13);
    pub(crate) const CUMULATIVE: SectionKind = SectionKind(14);
    pub(crate) const VECTORS: SectionKind = SectionKind(15);
    pub(crate) const VECTOR_DOCS: SectionKind = SectionKind(16);
    pub(crate) const CODES: SectionKind = SectionKind(17);
    pub(crate) const LINKS: SectionKind = SectionKind(18);
    pub(crate) const LINKS_AT: SectionKind = SectionKind(19);
    pub(crate) const UPPER: SectionKind = SectionKind(20);
    pub(crate) const NODES: SectionKind = SectionKind(21);
    pub(crate) const CURVE: SectionKind = SectionKind(22);
    pub(crate) const POINTS: SectionKind = SectionKind(23);
    pub(crate) const PAGES: SectionKind = SectionKind(24);
    pub(crate) const BOXES: SectionKind = SectionKind(25);

    /// The sections of a graph, of which a field has all or none.
    pub(crate) const GRAPH: [SectionKind; 6] =
        [Self::CODES, Self::LINKS, Self::LINKS_AT, Self::UPPER, Self::NODES, Self::CURVE];

    /// The name that `inspect` and messages use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TERMS => "terms",
            Self::TERMS_INDEX => "terms index",
            Self::TERMS_HEADS => "terms heads",
            Self::POSTINGS => "postings",
            Self::PRESENCE => "presence",
            Self::EMPTY => "empty",
            Self::STORED => "stored",
            Self::STORED_INDEX => "stored index",
            Self::STATISTICS => "statistics",
            Self::LENGTHS => "lengths",
            Self::OFFSETS => "offsets",
            Self::DELETED => "deleted",
            Self::COLUMN => "column",
            Self::CUMULATIVE => "cumulative frequencies",
            Self::VECTORS => "vectors",
            Self::VECTOR_DOCS => "documents of vectors",
            Self::CODES => "codes of vectors",
            Self::LINKS => "links of vectors",
            Self::LINKS_AT => "places of links of vectors",
            Self::UPPER => "upper levels of vectors",
            Self::NODES => "nodes of vectors",
            Self::CURVE => "curve of vectors",
            Self::POINTS => "points",
            Self::PAGES => "pages of points",
            Self::BOXES => "boxes of points",
            _ => "unknown",
        }
    }
}

/// One entry of the section table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SectionEntry {
    pub(crate) field: Option<FieldId>,
    pub(crate) kind: SectionKind,
    pub(crate) codec: u16,
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

impl SectionEntry {
    #[inline]
    fn key(&self) -> u32 {
        key_of(self.field, self.kind)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let (field, kind) = (self.field.map_or(NO_FIELD, |field| field.0), self.kind.0);
        for number in [field, kind, self.codec, 0] {
            out.extend(number.to_le_bytes());
        }
        out.extend(self.offset.to_le_bytes());
        out.extend(self.len.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<SectionEntry> {
        let mut reader = ByteReader::new(bytes);
        let (field, kind, codec, _) = (reader.u16()?, reader.u16()?, reader.u16()?, reader.u16()?);
        Some(SectionEntry {
            field: (field != NO_FIELD).then_some(FieldId(field)),
            kind: SectionKind(kind),
            codec,
            offset: reader.u64()?,
            len: reader.u64()?,
        })
    }
}

/// Sort key of the table.
#[inline]
fn key_of(field: Option<FieldId>, kind: SectionKind) -> u32 {
    u32::from(field.map_or(NO_FIELD, |field| field.0)) << 16 | u32::from(kind.0)
}

/// Destination of an envelope's bytes, front to back.
pub(crate) trait Sink {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()>;
}

impl Sink for Vec<u8> {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// Seal of a finished file, by which a manifest knows it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) file_len: u64,
    pub(crate) footer_crc: u32,
}

/// Writes an envelope: [`start_section`](Self::start_section), [`write`](Self::write) as often as
/// wanted, [`end_section`](Self::end_section), in any order of fields and kinds; then
/// [`finish`](Self::finish). Bytes pass through at once; only checksums are kept.
#[derive(Debug)]
pub(crate) struct EnvelopeWriter<W> {
    sink: W,
    id: SegmentId,
    block_shift: u8,
    written: u64,
    /// Checksums of the blocks that are complete, and of the bytes of the one that is not.
    block_crcs: Vec<u32>,
    block_crc: u32,
    sections: Vec<SectionEntry>,
    open_section: bool,
}

impl<W: Sink> EnvelopeWriter<W> {
    /// Starts a file of `kind`, which belongs to segment `id`, with its header.
    pub(crate) fn new(kind: FileKind, id: SegmentId, sink: W) -> Result<Self> {
        Self::with_block_shift(kind, id, sink, BLOCK_SHIFT)
    }

    /// Makes a writer with blocks of `1 << block_shift` bytes, for measuring.
    pub(crate) fn with_block_shift(
        kind: FileKind,
        id: SegmentId,
        sink: W,
        block_shift: u8,
    ) -> Result<Self> {
        assert!(BLOCK_SHIFTS.contains(&block_shift), "readers refuse blocks of other sizes");
        let mut writer = EnvelopeWriter {
            sink,
            id,
            block_shift,
            written: 0,
            block_crcs: vec![],
            block_crc: 0,
            sections: vec![],
            open_section: false,
        };
        writer.pass(&Header::encode(kind, id, kind.written()))?;
        Ok(writer)
    }

    /// Starts the section of this field (`None`: of the segment) and kind.
    ///
    /// # Panics
    ///
    /// If another section is open, or this one was written before.
    pub(crate) fn start_section(
        &mut self,
        field: Option<FieldId>,
        kind: SectionKind,
        codec: u16,
    ) -> Result<()> {
        assert!(!self.open_section, "the section before was not ended");
        let key = key_of(field, kind);
        assert!(self.sections.iter().all(|entry| entry.key() != key), "{key:?} was written before");
        self.open_section = true;
        self.sections.push(SectionEntry { field, kind, codec, offset: self.written, len: 0 });
        Ok(())
    }

    /// Appends to the open section.
    ///
    /// # Panics
    ///
    /// If none is open.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        assert!(self.open_section, "no section is open");
        self.pass(bytes)
    }

    /// Bytes written to the open section so far.
    pub(crate) fn section_len(&self) -> u64 {
        self.sections.last().map_or(0, |entry| self.written - entry.offset)
    }

    /// Ends the open section; its length in bytes.
    ///
    /// # Panics
    ///
    /// If none is open.
    pub(crate) fn end_section(&mut self) -> Result<u64> {
        assert!(self.open_section, "no section is open");
        self.open_section = false;
        let len = self.section_len();
        if let Some(entry) = self.sections.last_mut() {
            entry.len = len;
        }
        let next = (self.written + SECTION_PADDING).next_multiple_of(SECTION_ALIGNMENT);
        self.pass(&vec![0; (next - self.written) as usize])?;
        Ok(len)
    }

    /// Writes a whole section.
    pub(crate) fn section(
        &mut self,
        field: Option<FieldId>,
        kind: SectionKind,
        bytes: &[u8],
    ) -> Result<()> {
        self.start_section(field, kind, 0)?;
        self.write(bytes)?;
        self.end_section().map(|_| ())
    }

    /// Writes tables and footer.
    ///
    /// # Panics
    ///
    /// If a section is open.
    pub(crate) fn finish(mut self) -> Result<(Seal, W)> {
        assert!(!self.open_section, "the last section was not ended");
        let checksums_at = self.written;
        if !checksums_at.is_multiple_of(1 << self.block_shift) {
            self.block_crcs.push(self.block_crc);
        }
        let mut tail = Vec::with_capacity(self.block_crcs.len() * 4 + 1024);
        tail.extend(self.block_crcs.iter().flat_map(|crc| crc.to_le_bytes()));
        tail.resize(tail.len().next_multiple_of(SECTION_ALIGNMENT as usize), 0);
        let mut table = Vec::with_capacity(self.sections.len() * ENTRY_LEN);
        self.sections.sort_unstable_by_key(SectionEntry::key);
        self.sections.iter().for_each(|entry| entry.encode(&mut table));
        let table_at = checksums_at + tail.len() as u64;
        let footer = Footer {
            file_len: table_at + table.len() as u64 + FOOTER_LEN as u64,
            checksums_at,
            table_at,
            checksums_crc: crc32c(&tail),
            table_crc: crc32c(&table),
            block_shift: self.block_shift,
            id: self.id,
        };
        let encoded = footer.encode();
        tail.extend(table);
        tail.extend(encoded);
        self.sink.write_all(&tail)?;
        let footer_crc = crc32c(&encoded[..FOOTER_CRC_AT]);
        Ok((Seal { file_len: footer.file_len, footer_crc }, self.sink))
    }

    /// Hands bytes on and adds them to the checksums of their blocks.
    fn pass(&mut self, bytes: &[u8]) -> Result<()> {
        let block_len = 1_u64 << self.block_shift;
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = (block_len - self.written % block_len).min(rest.len() as u64);
            let (part, behind) = rest.split_at(room as usize);
            self.block_crc = crc32c_append(self.block_crc, part);
            self.written += room;
            if self.written.is_multiple_of(block_len) {
                self.block_crcs.push(std::mem::take(&mut self.block_crc));
            }
            rest = behind;
        }
        self.sink.write_all(bytes)
    }
}

#[derive(Clone, Copy, Debug)]
struct Footer {
    file_len: u64,
    checksums_at: u64,
    table_at: u64,
    checksums_crc: u32,
    table_crc: u32,
    block_shift: u8,
    id: SegmentId,
}

impl Footer {
    fn encode(&self) -> [u8; FOOTER_LEN] {
        let mut out = [0; FOOTER_LEN];
        for (nth, number) in [self.file_len, self.checksums_at, self.table_at].iter().enumerate() {
            put_at(&mut out, nth * size_of::<u64>(), number.to_le_bytes());
        }
        put_at(&mut out, FOOTER_CRCS_AT, self.checksums_crc.to_le_bytes());
        put_at(&mut out, FOOTER_CRCS_AT + size_of::<u32>(), self.table_crc.to_le_bytes());
        put_at(&mut out, BLOCK_SHIFT_AT, [self.block_shift]);
        put_at(&mut out, FOOTER_ID_AT, self.id.0);
        let crc = crc32c(&out[..FOOTER_CRC_AT]);
        put_at(&mut out, FOOTER_CRC_AT, crc.to_le_bytes());
        put_at(&mut out, END_AT, END);
        out
    }

    /// The fields, after the checksum passed.
    fn decode(footer: &[u8; FOOTER_LEN]) -> Option<Footer> {
        let mut reader = ByteReader::new(footer);
        Some(Footer {
            file_len: reader.u64()?,
            checksums_at: reader.u64()?,
            table_at: reader.u64()?,
            checksums_crc: reader.u32()?,
            table_crc: reader.u32()?,
            block_shift: reader.u8()?,
            id: SegmentId(array_at(footer, FOOTER_ID_AT)?),
        })
    }
}

/// An opened envelope: where everything is. The bytes of its blocks are not checked yet.
#[derive(Debug)]
pub(crate) struct Envelope {
    pub(crate) kind: FileKind,
    pub(crate) header: Header,
    pub(crate) seal: Seal,
    block_shift: u8,
    checksums_at: u64,
    sections: Box<[SectionEntry]>,
    /// The number of a section by the [slot](slot_of) of its key, where no other has the same.
    slots: [u8; SLOTS],
}

/// Slots of section keys: those of four fields differ, and every search asks for a dozen sections of each segment.
const SLOTS: usize = 64;

#[inline]
fn slot_of(key: u32) -> usize {
    (key >> 16 << 4 | key & 15) as usize % SLOTS
}

impl Envelope {
    /// Reads header, footer and tables of a file of `file_len` bytes through `read`, which returns
    /// the bytes of a range inside the file, which is of `kind`. `expected` is what the manifest says of it.
    pub(crate) fn open<'s>(
        kind: FileKind,
        file_len: u64,
        expected: Option<(SegmentId, Seal)>,
        read: impl Fn(Range<u64>) -> Result<Bytes<'s>>,
    ) -> Result<Envelope> {
        let what = || format!("opening {}", kind.name());
        let smallest = (HEADER_LEN + FOOTER_LEN) as u64;
        let len_expected = expected.map_or(smallest, |(_, seal)| seal.file_len);
        if file_len < smallest || (expected.is_some() && file_len != len_expected) {
            let at_least = if expected.is_some() { "" } else { "at least " };
            return Err(Error::corrupt(what())
                .expected(format!("a file of {at_least}{len_expected} bytes"))
                .found(counted(file_len, "byte"))
                .at_offset(file_len.min(len_expected)));
        }
        let header = Header::decode(&read(0..HEADER_LEN as u64)?, kind)?;
        let (footer, footer_crc) = read_footer(file_len, &read)?;
        let seal = Seal { file_len, footer_crc };
        let id_expected = expected.map_or(header.id, |(id, _)| id);
        if header.id != id_expected || footer.id != id_expected {
            return Err(Error::corrupt(what())
                .expected(format!("segment {id_expected}"))
                .found(format!("{} in its header, {} in its footer", header.id, footer.id))
                .at_offset(ID_AT as u64));
        }
        if let Some((_, expected)) = expected.filter(|(_, expected)| *expected != seal) {
            return Err(checksum_differs(
                format!("{}: the footer is not the one that was committed", what()),
                expected.footer_crc,
                footer_crc,
            )
            .at_offset(file_len - FOOTER_LEN as u64));
        }
        check_places(&footer, file_len)?;
        let tables = [
            (
                "the checksums of a segment",
                footer.checksums_at..footer.table_at,
                footer.checksums_crc,
            ),
            ("the section table", footer.table_at..file_len - FOOTER_LEN as u64, footer.table_crc),
        ];
        for (what, range, expected) in tables.clone() {
            let found = crc32c(&read(range.clone())?);
            if found != expected {
                let what = format!("reading {what}");
                return Err(checksum_differs(what, expected, found).at_offset(range.start));
            }
        }
        let [_, (_, table, _)] = tables;
        let sections = read_sections(&read(table.clone())?, &footer)?;
        let Footer { block_shift, checksums_at, .. } = footer;
        let mut slots = [0; SLOTS];
        for (nth, entry) in (0..=u8::MAX).zip(&sections) {
            if let Some(slot) = slots.get_mut(slot_of(entry.key())) {
                *slot = nth;
            }
        }
        Ok(Envelope { kind, header, seal, block_shift, checksums_at, sections, slots })
    }

    /// The entries in order of field and kind.
    pub(crate) fn sections(&self) -> &[SectionEntry] {
        &self.sections
    }

    /// The entry of a section; most are where their slot says.
    #[inline]
    pub(crate) fn section(
        &self,
        field: Option<FieldId>,
        kind: SectionKind,
    ) -> Option<&SectionEntry> {
        let key = key_of(field, kind);
        let slot = self.slots.get(slot_of(key)).copied().unwrap_or_default();
        match self.sections.get(usize::from(slot)) {
            Some(entry) if entry.key() == key => Some(entry),
            _ => self.search(key),
        }
    }

    fn search(&self, key: u32) -> Option<&SectionEntry> {
        let at = self.sections.partition_point(|entry| entry.key() < key);
        self.sections.get(at).filter(|entry| entry.key() == key)
    }

    /// Bytes that blocks cover: everything before the checksums.
    #[cfg(test)]
    pub(crate) fn covered_len(&self) -> u64 {
        self.checksums_at
    }

    pub(crate) fn block_shift(&self) -> u8 {
        self.block_shift
    }

    pub(crate) fn n_blocks(&self) -> u64 {
        self.checksums_at.div_ceil(1 << self.block_shift)
    }

    /// The bytes of block `block`, which must be below [`n_blocks`](Self::n_blocks).
    pub(crate) fn block_range(&self, block: u64) -> Range<u64> {
        let start = block << self.block_shift;
        start..(start + (1 << self.block_shift)).min(self.checksums_at)
    }

    /// Range of the checksums of these blocks, 4 bytes each.
    pub(crate) fn checksums_range(&self, blocks: Range<u64>) -> Range<u64> {
        self.checksums_at + blocks.start * 4..self.checksums_at + blocks.end * 4
    }
}

/// The footer and its checksum, once the two agree.
fn read_footer<'s>(
    file_len: u64,
    read: impl Fn(Range<u64>) -> Result<Bytes<'s>>,
) -> Result<(Footer, u32)> {
    let at = file_len - FOOTER_LEN as u64;
    let bytes = read(at..file_len)?;
    let damaged =
        |what: &str| Error::corrupt("reading the footer of a segment").expected(what).at_offset(at);
    let footer = array_at::<FOOTER_LEN>(&bytes, 0).ok_or_else(|| damaged("64 bytes"))?;
    if !footer.ends_with(&END) {
        let found = format!("{:02x?}", &footer[END_AT..]);
        return Err(damaged(&format!("the closing bytes {END:02x?}"))
            .found(found)
            .hint("the file was cut off, or something was appended to it"));
    }
    let crc = expect_crc(&footer, FOOTER_CRC_AT, || "reading the footer of a segment".into())
        .map_err(|error| error.at_offset(at))?;
    Ok((Footer::decode(&footer).ok_or_else(|| damaged("64 bytes"))?, crc))
}

/// Whether everything lies where it must, given that the file has room for header and footer.
fn check_places(footer: &Footer, file_len: u64) -> Result<()> {
    let tables_end = file_len - FOOTER_LEN as u64;
    let block_len = 1_u64.checked_shl(footer.block_shift.into()).unwrap_or(u64::MAX);
    let checksums_len = footer.checksums_at.div_ceil(block_len).saturating_mul(4);
    let table_at = footer.checksums_at.checked_add(checksums_len);
    let table_at = table_at.and_then(|at| at.checked_next_multiple_of(SECTION_ALIGNMENT));
    let sound = BLOCK_SHIFTS.contains(&footer.block_shift)
        && footer.file_len == file_len
        && footer.checksums_at >= HEADER_LEN as u64
        && footer.checksums_at.is_multiple_of(SECTION_ALIGNMENT)
        && table_at == Some(footer.table_at)
        && footer.table_at <= tables_end
        && (tables_end - footer.table_at).is_multiple_of(ENTRY_LEN as u64);
    if sound {
        return Ok(());
    }
    Err(Error::corrupt("reading the footer of a segment")
        .expected(format!("places that fit a file of {file_len} bytes"))
        .found(format!(
            "length {}, checksums at {}, table at {}, blocks of 2^{} bytes",
            footer.file_len, footer.checksums_at, footer.table_at, footer.block_shift
        ))
        .at_offset(tables_end))
}

/// The entries of the section table, which has passed its checksum: its length bounds the allocation.
fn read_sections(table: &[u8], footer: &Footer) -> Result<Box<[SectionEntry]>> {
    let damaged = |at: usize, expected: &str, found: String| {
        Error::corrupt("reading the section table")
            .expected(expected)
            .found(found)
            .at_offset(footer.table_at + (at * ENTRY_LEN) as u64)
    };
    let mut sections: Vec<SectionEntry> = Vec::with_capacity(table.len() / ENTRY_LEN);
    for (at, bytes) in table.chunks_exact(ENTRY_LEN).enumerate() {
        let entry = SectionEntry::decode(bytes)
            .ok_or_else(|| damaged(at, "24 bytes", bytes.len().to_string()))?;
        let end =
            entry.offset.checked_add(entry.len).and_then(|end| end.checked_add(SECTION_PADDING));
        let inside = entry.offset >= HEADER_LEN as u64
            && entry.offset.is_multiple_of(SECTION_ALIGNMENT)
            && end.is_some_and(|end| end <= footer.checksums_at);
        if !inside {
            let found = format!("{} bytes at {}", entry.len, entry.offset);
            return Err(damaged(at, "an aligned section inside the file, with padding", found));
        }
        if sections.last().is_some_and(|last| last.key() >= entry.key()) {
            return Err(damaged(at, "ascending fields and kinds", format!("{:?}", entry.key())));
        }
        sections.push(entry);
    }
    Ok(sections.into_boxed_slice())
}

#[cfg(test)]
mod tests;
