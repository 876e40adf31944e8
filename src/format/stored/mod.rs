//! Stored fields: what a document gives back with a hit, one document at a time.
//!
//! Written by [`ChunkWriter`] chunk after chunk, read by [`StoredReader`].
//!
//! # Layout
//!
//! All integers are little-endian. A document's *row* is its stored values; one of a typed field is its
//! term, eight bytes. If the schema has exactly one stored field and that has one value, the row is the
//! value; otherwise it is, for each stored field in schema order, a varint count and that many varint
//! lengths, then all values.
//!
//! The STORED section is chunks back to back; STORED_INDEX says where each begins:
//!
//! ```text
//! offset  size  field       meaning
//!      0     4  n_chunks    u32
//!      4     4  n_docs      u32, documents in all chunks
//!      8     *  entries     n_chunks times: u32 first document, u64 offset in STORED
//! ```
//!
//! A chunk holds consecutive documents; its offsets count from its start:
//!
//! ```text
//! chunk      size  field       meaning
//!      0     1  codec       1 symbols, 2 LZ4
//!      1     1  n_symbols   symbols of the table (codec 1), else 0
//!      2     2  reserved    0, ignored by readers
//!      4     4  n_docs      u32
//!      8     4  n_groups    u32
//!     12     *  table       codec 1: 8 bytes a symbol, then 1 byte a length
//!      *     *  groups      n_groups times: u32 first document in the chunk, u32 offset of the group
//!      *     *  data        the groups
//! ```
//!
//! A group of codec 1 is at most 64 rows: for each a varint, 0 where the document stores nothing, else
//! coded length + 1; then the coded rows. A group of codec 2 ends with the row that brings it to 16 KiB, and has at most 256; it is
//! the varint length of its uncompressed form and that form in LZ4 block format: the same varints with plain
//! lengths, then the rows.
//!
//! # Example
//!
//! A chunk with the rows `ab`, nothing, and an empty row, coded by a table without symbols:
//!
//! ```text
//! 0000  01 00 00 00 03 00 00 00  01 00 00 00 00 00 00 00
//! 0010  14 00 00 00 05 00 01 FF  61 FF 62
//! ```
//!
//! # Invariants
//!
//! - S1: chunks and groups ascend by document and offset; the first begins at document 0.
//! - S2: a chunk ends before a multiple of 65,536 documents, or with the document that brings the
//!   values of its documents, stored or not, to 4 MiB, or where the writer's caller changes from lines
//!   to documents. So chunks depend on what was written alone, not on how the work was divided.
//! - S3: the codec is LZ4 where rows have 256 bytes or more on average, and in chunks of fewer than 4,096 bytes, which a
//!   table of symbols would take more of than it saves; else symbols.
//!
//! # Checks
//!
//! Opening checks that the index has as many entries as it says. A fetch checks every length it
//! follows; damage is an error, never a panic. No length from the file is allocated before it is
//! compared with what the chunk can hold.
//!
//! # Cost
//!
//! A fetch by symbols reads the chunk's table (at most 2,295 bytes) and one row: about 0.2 µs warm. By LZ4
//! it decodes one group of 16 KiB: a few µs.
//!
//! # Versions
//!
//! 1: as above.
//!
//! # Why
//!
//! On 2.1 million titles a symbol table for each 65,536 documents takes 28.0 MB of 41.5 and fetches
//! one title without its neighbours; LZ4 blocks of 64 titles take 33 MB and are decoded whole. A
//! table trained on the beginning of the input is worse than none where the input is sorted by language.

mod symbols;

use crate::budget::{self, ns};
use crate::bytes::{ByteReader, Bytes, Source, array_at, put_at, write_varint};
use crate::error::{Error, Result};
use std::ops::Range;
use symbols::{SYMBOLS_MAX, SymbolCoder, SymbolTable};

/// Documents between forced chunk ends: the documents of one roaring key.
pub(crate) const CHUNK_DOCS_MAX: u32 = 65_536;
/// Bytes of values that end a chunk.
pub(crate) const CHUNK_VALUE_BYTES: usize = 4 << 20;
/// Rows that share one offset under symbols.
const GROUP_DOCS: usize = 64;
/// Bytes of rows that end a group under LZ4, and rows: a row is found by the lengths of those before it.
const GROUP_ROW_BYTES: usize = 16 << 10;
const GROUP_ROWS: usize = 256;
/// Mean row length from which LZ4 is the codec.
const LONG_ROW_BYTES: usize = 256;
/// Bytes of values below which LZ4 is the codec: a table of symbols takes more than it saves. Of titles it does up to some
/// 5,000 bytes.
const SHORT_CHUNK_BYTES: usize = 4_096;
/// The longest row: the limit of a document.
pub(crate) const ROW_BYTES_MAX: usize = 64 << 20;

const CODEC_SYMBOLS: u8 = 1;
const CODEC_LZ4: u8 = 2;
const CHUNK_HEADER_LEN: usize = 12;
const INDEX_HEADER_LEN: usize = 8;
const INDEX_ENTRY_LEN: usize = 12;

/// Collects rows and turns them into chunks.
///
/// The caller says where a chunk ends ([`ends_chunk`](Self::ends_chunk) tells), so that chunks can be made
/// on several threads.
#[derive(Debug, Default)]
pub(crate) struct ChunkWriter {
    /// Rows back to back.
    rows: Vec<u8>,
    /// End of each row in `rows`, and whether there is one.
    ends: Vec<(u32, bool)>,
    scratch: Vec<u8>,
}

impl ChunkWriter {
    /// Adds the row of the next document; `None` if it stores nothing.
    pub(crate) fn add(&mut self, row: Option<&[u8]>) {
        self.rows.extend_from_slice(row.unwrap_or_default());
        self.ends.push((self.rows.len() as u32, row.is_some()));
    }

    pub(crate) fn n_docs(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Bytes of heap held.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.rows.capacity()
            + self.ends.capacity() * size_of::<(u32, bool)>()
            + self.scratch.capacity()
    }

    /// Whether a chunk whose documents have values of `value_bytes` ends before document `next_doc` (S2).
    #[inline]
    pub(crate) fn ends_chunk(next_doc: u32, value_bytes: usize) -> bool {
        next_doc.is_multiple_of(CHUNK_DOCS_MAX) || value_bytes >= CHUNK_VALUE_BYTES
    }

    /// Appends the chunk of all rows so far and starts the next one.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        if self.ends.is_empty() {
            return;
        }
        let is_long = self.rows.len() / self.ends.len() >= LONG_ROW_BYTES;
        if is_long || self.rows.len() < SHORT_CHUNK_BYTES {
            self.finish_lz4(out);
        } else {
            self.finish_symbols(out);
        }
        self.rows.clear();
        self.ends.clear();
    }

    /// Range in `rows` of the rows of these documents, which follow each other.
    fn place(&self, docs: Range<usize>) -> Range<usize> {
        let end = |n_docs: usize| {
            let last = n_docs.checked_sub(1).and_then(|last| self.ends.get(last));
            last.map_or(0, |(end, _)| *end as usize)
        };
        end(docs.start)..end(docs.end)
    }

    /// Ranges of the rows themselves, and whether there is one.
    fn places(&self, docs: Range<usize>) -> impl Iterator<Item = (Range<usize>, bool)> {
        let mut start = self.place(docs.clone()).start;
        self.ends.iter().take(docs.end).skip(docs.start).map(move |(end, is_there)| {
            let end = *end as usize;
            (std::mem::replace(&mut start, end)..end, *is_there)
        })
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "rows end where `add` has noted it, and `coded` has room for two bytes of each byte"
    )]
    fn finish_symbols(&mut self, out: &mut Vec<u8>) {
        let n_docs = self.ends.len();
        let rows: Vec<&[u8]> = self.places(0..n_docs).map(|(row, _)| &self.rows[row]).collect();
        let coder = SymbolCoder::train(&rows);
        self.rows.extend_from_slice(&[0; 8]); // the coder reads eight bytes at once
        let n_groups = self.ends.len().div_ceil(GROUP_DOCS);
        let mut header = ChunkHeader::begin(
            out,
            CODEC_SYMBOLS,
            coder.n_symbols() as u8,
            self.ends.len(),
            n_groups,
        );
        coder.write_table(out);
        header.reserve_groups(out);
        let mut coded = std::mem::take(&mut self.scratch);
        for first in (0..self.ends.len()).step_by(GROUP_DOCS) {
            header.group(out, first);
            let docs = first..n_docs.min(first + GROUP_DOCS);
            let group_bytes = self.place(docs.clone()).len();
            if coded.len() < 2 * group_bytes {
                coded.resize(2 * group_bytes, 0);
            }
            let mut written = 0;
            for (row, is_there) in self.places(docs) {
                let (text, len) = (&self.rows[row.start..], row.len());
                let len = coder.encode(text, len, &mut coded[written..]);
                written += len;
                write_varint(out, if is_there { len as u64 + 1 } else { 0 });
            }
            out.extend_from_slice(&coded[..written]);
        }
        self.scratch = coded;
    }

    #[expect(clippy::indexing_slicing, reason = "rows end where `add` has noted it")]
    fn finish_lz4(&mut self, out: &mut Vec<u8>) {
        let mut groups = vec![0];
        let (mut first, mut group_start) = (0, 0);
        for doc in 1..self.ends.len() {
            let start = self.place(doc..doc).start;
            if start - group_start >= GROUP_ROW_BYTES || doc - first >= GROUP_ROWS {
                (first, group_start) = (doc, start);
                groups.push(doc);
            }
        }
        let mut header = ChunkHeader::begin(out, CODEC_LZ4, 0, self.ends.len(), groups.len());
        header.reserve_groups(out);
        let mut plain = std::mem::take(&mut self.scratch);
        for (nth, &first) in groups.iter().enumerate() {
            header.group(out, first);
            let end = groups.get(nth + 1).copied().unwrap_or(self.ends.len());
            plain.clear();
            for (row, is_there) in self.places(first..end) {
                write_varint(&mut plain, if is_there { row.len() as u64 + 1 } else { 0 });
            }
            plain.extend_from_slice(&self.rows[self.place(first..end)]);
            write_varint(out, plain.len() as u64);
            out.extend_from_slice(&lz4_flex::block::compress(&plain));
        }
        self.scratch = plain;
    }
}

/// Writes a chunk's fixed part and fills in its groups' offsets as they become known.
struct ChunkHeader {
    chunk_at: usize,
    groups_at: usize,
    n_groups: usize,
    nth: usize,
}

impl ChunkHeader {
    fn begin(out: &mut Vec<u8>, codec: u8, n_symbols: u8, n_docs: usize, n_groups: usize) -> Self {
        let chunk_at = out.len();
        out.extend_from_slice(&[codec, n_symbols, 0, 0]);
        out.extend_from_slice(&(n_docs as u32).to_le_bytes());
        out.extend_from_slice(&(n_groups as u32).to_le_bytes());
        ChunkHeader { chunk_at, groups_at: 0, n_groups, nth: 0 }
    }

    fn reserve_groups(&mut self, out: &mut Vec<u8>) {
        self.groups_at = out.len();
        out.resize(self.groups_at + 8 * self.n_groups, 0);
    }

    fn group(&mut self, out: &mut [u8], first_doc: usize) {
        let offset = (out.len() - self.chunk_at) as u32;
        let entry_at = self.groups_at + 8 * self.nth;
        put_at(out, entry_at, (first_doc as u32).to_le_bytes());
        put_at(out, entry_at + 4, offset.to_le_bytes());
        self.nth += 1;
    }
}

/// Collects where chunks begin; [`finish`](Self::finish) gives the STORED_INDEX section.
#[derive(Debug, Default)]
pub(crate) struct StoredIndexWriter {
    entries: Vec<u8>,
    n_docs: u32,
    offset: u64,
}

impl StoredIndexWriter {
    /// Notes a chunk of `n_docs` documents and `len` bytes after those before.
    pub(crate) fn add(&mut self, n_docs: u32, len: u64) {
        self.entries.extend_from_slice(&self.n_docs.to_le_bytes());
        self.entries.extend_from_slice(&self.offset.to_le_bytes());
        self.n_docs += n_docs;
        self.offset += len;
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        let n_chunks = (self.entries.len() / INDEX_ENTRY_LEN) as u32;
        let mut section = Vec::with_capacity(INDEX_HEADER_LEN + self.entries.len());
        section.extend_from_slice(&n_chunks.to_le_bytes());
        section.extend_from_slice(&self.n_docs.to_le_bytes());
        section.extend_from_slice(&self.entries);
        section
    }
}

/// Fetches rows from STORED and STORED_INDEX.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredReader<S> {
    stored: S,
    index: S,
    n_chunks: u32,
    n_docs: u32,
}

impl<'s, S: Source<'s>> StoredReader<S> {
    /// Reads the index's header.
    pub(crate) fn open(stored: S, index: S) -> Result<Self> {
        let header = index.bytes(0..index.len().min(INDEX_HEADER_LEN as u64))?;
        let mut reader = ByteReader::new(&header);
        let sizes = reader.u32().zip(reader.u32());
        let expected_len =
            |n_chunks: u32| INDEX_HEADER_LEN as u64 + u64::from(n_chunks) * INDEX_ENTRY_LEN as u64;
        match sizes {
            Some((n_chunks, n_docs)) if expected_len(n_chunks) == index.len() => {
                Ok(StoredReader { stored, index, n_chunks, n_docs })
            }
            _ => {
                let error = Error::corrupt("reading the index of stored fields")
                    .expected("a count of chunks that fits the section")
                    .found(format!("{sizes:?} in {} bytes", index.len()));
                Err(index.locate(0, error))
            }
        }
    }

    /// The documents that the chunks hold.
    pub(crate) fn n_docs(&self) -> u32 {
        self.n_docs
    }

    /// Documents that the chunks hold at most, whatever the index says.
    pub(crate) fn n_docs_max(&self) -> u32 {
        self.n_docs.min(self.n_chunks.saturating_mul(CHUNK_DOCS_MAX))
    }

    /// The row of `doc`; `None` if it stores nothing.
    pub(crate) fn row(&self, doc: u32) -> Result<Option<Vec<u8>>> {
        let nth = self.chunk_of(doc)?;
        let (first, range) = self.chunk(nth)?;
        let at = range.start;
        let damaged = || {
            let error = Error::corrupt(format!("reading the stored fields of document {doc}"))
                .expected("a chunk as its header describes it")
                .found("lengths or codes that do not fit");
            self.stored.locate(at, error)
        };
        let header =
            ChunkView::read(self.stored, range).map_err(|error| error.unwrap_or_else(damaged))?;
        header.row(doc - first).map_err(|error| error.unwrap_or_else(damaged))
    }

    /// Calls `visit` with every row in document order, group by group: each is decoded once, but for groups of which no
    /// document is `wanted`, whose rows are left out. Checks that chunks and groups follow each other (S1).
    pub(crate) fn for_each(
        &self,
        mut wanted: impl FnMut(Range<u32>) -> bool,
        mut visit: impl FnMut(u32, Option<&[u8]>) -> Result<()>,
    ) -> Result<()> {
        let (mut rows, mut next) = (Rows::default(), (0, 0));
        for nth in 0..self.n_chunks {
            let (first, range) = self.chunk(nth)?;
            let end = if nth + 1 < self.n_chunks { self.entry(nth + 1)?.0 } else { self.n_docs };
            if (first, range.start) != next || end <= first || end > self.n_docs {
                let error = Error::corrupt("reading the index of stored fields")
                    .expected(format!(
                        "chunk {nth} to begin at document {} and byte {}, and to end by {}",
                        next.0, next.1, self.n_docs
                    ))
                    .found(format!("documents {first} to {end} and byte {}", range.start));
                return Err(self.index.locate(0, error));
            }
            next = (end, range.end);
            let at = range.start;
            let damaged = || {
                let error = Error::corrupt("reading the stored fields of all documents")
                    .expected(format!("a chunk of documents {first} to {end}"))
                    .found("lengths or codes that do not fit");
                self.stored.locate(at, error)
            };
            let locate = |error: Option<Error>| error.unwrap_or_else(damaged);
            let chunk = ChunkView::read(self.stored, range).map_err(locate)?;
            if chunk.n_docs != end - first {
                return Err(damaged());
            }
            let table = chunk.table().map_err(locate)?;
            let mut doc = first;
            for nth in 0..chunk.n_groups {
                let docs = chunk.docs_of(nth).map_err(locate)?;
                let docs = first.saturating_add(docs.start)..first.saturating_add(docs.end);
                budget::work(ns::STORED_GROUP_ASKED)?;
                if docs.start == doc && docs.end <= end && !wanted(docs.clone()) {
                    doc = docs.end;
                    continue;
                }
                let begins_at = chunk.rows_of(nth, &table, &mut rows).map_err(locate)?;
                let is_inside = rows.ends.len() <= (end - doc) as usize;
                if begins_at.checked_add(first) != Some(doc) || !is_inside {
                    return Err(damaged());
                }
                for row in rows.iter() {
                    visit(doc, row)?;
                    doc += 1;
                }
            }
            if doc != end {
                return Err(damaged());
            }
        }
        if next.0 == self.n_docs {
            return Ok(());
        }
        let error = Error::corrupt("reading the index of stored fields")
            .expected(format!("chunks of {} documents", self.n_docs))
            .found(next.0.to_string());
        Err(self.index.locate(0, error))
    }

    fn entry(&self, nth: u32) -> Result<(u32, u64)> {
        let at = INDEX_HEADER_LEN as u64 + u64::from(nth) * INDEX_ENTRY_LEN as u64;
        let bytes = self.index.bytes(at..at + INDEX_ENTRY_LEN as u64)?;
        let mut reader = ByteReader::new(&bytes);
        match (reader.u32(), reader.u64()) {
            (Some(first), Some(offset)) => Ok((first, offset)),
            _ => Err(self.index.locate(at, Error::corrupt("reading the index of stored fields"))),
        }
    }

    /// First document and place of chunk `nth`.
    fn chunk(&self, nth: u32) -> Result<(u32, Range<u64>)> {
        let (first, start) = self.entry(nth)?;
        let end = if nth + 1 < self.n_chunks { self.entry(nth + 1)?.1 } else { self.stored.len() };
        if start > end || end > self.stored.len() {
            let error = Error::corrupt("reading the index of stored fields")
                .expected(format!("chunk {nth} inside {} bytes", self.stored.len()))
                .found(format!("{start}..{end}"));
            return Err(self.index.locate(0, error));
        }
        Ok((first, start..end))
    }

    fn chunk_of(&self, doc: u32) -> Result<u32> {
        let (mut low, mut high) = (0, self.n_chunks);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.entry(middle)?.0 <= doc { low = middle + 1 } else { high = middle }
        }
        if low == 0 || doc >= self.n_docs {
            let error = Error::corrupt(format!("looking for the stored fields of document {doc}"))
                .expected(format!("a chunk that holds it among {}", self.n_chunks))
                .found("none");
            return Err(self.index.locate(0, error));
        }
        Ok(low - 1)
    }
}

/// One chunk: where its parts lie.
struct ChunkView<S> {
    stored: S,
    range: Range<u64>,
    codec: u8,
    n_symbols: usize,
    n_docs: u32,
    n_groups: u32,
}

/// Damage is `None`, told by the caller who knows the document; a failed read brings its own error.
type ChunkResult<T> = std::result::Result<T, Option<Error>>;

impl<'s, S: Source<'s>> ChunkView<S> {
    fn read(stored: S, range: Range<u64>) -> ChunkResult<Self> {
        let end = range.end.min(range.start + CHUNK_HEADER_LEN as u64);
        let bytes = stored.bytes(range.start..end)?;
        let mut reader = ByteReader::new(&bytes);
        let codec = reader
            .u8()
            .filter(|&codec| codec == CODEC_SYMBOLS || codec == CODEC_LZ4)
            .ok_or(None)?;
        let n_symbols = usize::from(reader.u8().ok_or(None)?);
        reader.u16();
        let (n_docs, n_groups) = reader.u32().zip(reader.u32()).ok_or(None)?;
        let view = ChunkView { stored, range, codec, n_symbols, n_docs, n_groups };
        let fixed = view.groups_at() + 8 * u64::from(n_groups);
        let sound = n_symbols <= SYMBOLS_MAX && fixed <= view.len() && n_groups <= n_docs;
        if sound { Ok(view) } else { Err(None) }
    }

    fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    fn groups_at(&self) -> u64 {
        (CHUNK_HEADER_LEN + SymbolTable::byte_len(self.n_symbols)) as u64
    }

    fn bytes(&self, range: Range<u64>) -> ChunkResult<Bytes<'s>> {
        if range.start > range.end || range.end > self.len() {
            return Err(None);
        }
        Ok(self.stored.bytes(self.range.start + range.start..self.range.start + range.end)?)
    }

    fn group(&self, nth: u32) -> ChunkResult<(u32, u64)> {
        let at = self.groups_at() + 8 * u64::from(nth);
        let bytes = self.bytes(at..at + 8)?;
        let first = array_at(&bytes, 0).map(u32::from_le_bytes).ok_or(None)?;
        let offset = array_at(&bytes, 4).map(u32::from_le_bytes).ok_or(None)?;
        Ok((first, u64::from(offset)))
    }

    fn row(&self, doc: u32) -> ChunkResult<Option<Vec<u8>>> {
        if doc >= self.n_docs {
            return Err(None);
        }
        let (mut low, mut high) = (0, self.n_groups);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.group(middle)?.0 <= doc { low = middle + 1 } else { high = middle }
        }
        let nth = low.checked_sub(1).ok_or(None)?;
        let (first, n_rows, bytes) = self.group_bytes(nth)?;
        let nth = (doc - first) as usize;
        match self.codec {
            CODEC_SYMBOLS => self.symbol_row(&bytes, nth, n_rows),
            _ => {
                let mut plain = vec![];
                lz4_group(&bytes, &mut plain).ok_or(None)?;
                Ok(row_in(&plain, nth, n_rows).ok_or(None)?.map(<[u8]>::to_vec))
            }
        }
    }

    /// The documents of a group, counted from the first of the chunk.
    fn docs_of(&self, nth: u32) -> ChunkResult<Range<u32>> {
        let (first, _) = self.group(nth)?;
        let end = if nth + 1 < self.n_groups { self.group(nth + 1)?.0 } else { self.n_docs };
        if first <= end { Ok(first..end) } else { Err(None) }
    }

    /// The first document of a group, how many it has, and its bytes.
    fn group_bytes(&self, nth: u32) -> ChunkResult<(u32, usize, Bytes<'s>)> {
        let (first, start) = self.group(nth)?;
        let (next_first, end) =
            if nth + 1 < self.n_groups { self.group(nth + 1)? } else { (self.n_docs, self.len()) };
        let n_rows = next_first.checked_sub(first).ok_or(None)?;
        if n_rows > CHUNK_DOCS_MAX {
            return Err(None);
        }
        Ok((first, n_rows as usize, self.bytes(start..end)?))
    }

    /// The bytes of the table of symbols; none for the other codec.
    fn table(&self) -> ChunkResult<Bytes<'s>> {
        self.bytes(CHUNK_HEADER_LEN as u64..self.groups_at())
    }

    /// Decodes a group, given the chunk's table; its first document.
    fn rows_of(&self, nth: u32, table: &[u8], rows: &mut Rows) -> ChunkResult<u32> {
        let (first, n_rows, bytes) = self.group_bytes(nth)?;
        let decoded = match self.codec {
            CODEC_SYMBOLS => SymbolTable::parse(table, self.n_symbols)
                .and_then(|table| rows.read(&bytes, n_rows, |coded, out| table.decode(coded, out))),
            _ => {
                let mut plain = std::mem::take(&mut rows.plain);
                let read = lz4_group(&bytes, &mut plain).and_then(|()| {
                    rows.read(&plain, n_rows, |row, out| {
                        out.extend_from_slice(row);
                        Some(())
                    })
                });
                rows.plain = plain;
                read
            }
        };
        decoded.ok_or(None).map(|()| first)
    }

    fn symbol_row(&self, group: &[u8], nth: usize, n_rows: usize) -> ChunkResult<Option<Vec<u8>>> {
        let Some(coded) = row_in(group, nth, n_rows).ok_or(None)? else { return Ok(None) };
        let table = self.table()?;
        let table = SymbolTable::parse(&table, self.n_symbols).ok_or(None)?;
        let mut row = Vec::with_capacity(coded.len() * 3);
        table.decode(coded, &mut row).ok_or(None)?;
        Ok(Some(row))
    }
}

/// The rows of a group, decoded.
#[derive(Default)]
struct Rows {
    bytes: Vec<u8>,
    /// End of each in `bytes`, and whether there is one.
    ends: Vec<(usize, bool)>,
    plain: Vec<u8>,
}

impl Rows {
    /// The rows in order; `None` for a document that stores nothing.
    fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, is_there)| {
            // `read` has noted where `bytes` ended.
            let row = self.bytes.get(std::mem::replace(&mut start, end)..end);
            row.filter(|_| is_there)
        })
    }

    /// Takes over a group's rows: their lengths + 1 as varints, then they themselves.
    fn read(
        &mut self,
        group: &[u8],
        n_rows: usize,
        mut decode: impl FnMut(&[u8], &mut Vec<u8>) -> Option<()>,
    ) -> Option<()> {
        self.bytes.clear();
        self.ends.clear();
        let mut reader = ByteReader::new(group);
        for _ in 0..n_rows {
            let len = usize::try_from(reader.varint()?).ok()?;
            self.ends.push((len.saturating_sub(1), len > 0));
        }
        for (end, is_there) in &mut self.ends {
            if *is_there {
                decode(reader.take(*end)?, &mut self.bytes)?;
            }
            *end = self.bytes.len();
        }
        Some(())
    }
}

/// Decompresses a group into `plain`.
fn lz4_group(group: &[u8], plain: &mut Vec<u8>) -> Option<()> {
    let mut reader = ByteReader::new(group);
    let plain_len = usize::try_from(reader.varint()?).ok()?;
    // LZ4 cannot expand a byte to more than 255; a larger claim is a lie that would only cost memory.
    let possible = reader.remaining().len().saturating_mul(255).saturating_add(64);
    if plain_len > possible || plain_len > 2 * ROW_BYTES_MAX {
        return None;
    }
    plain.resize(plain_len, 0);
    let len = lz4_flex::block::decompress_into(reader.remaining(), plain).ok()?;
    plain.truncate(len);
    Some(())
}

/// Row `nth` of a group: `n_rows` varints of length + 1, then the rows.
fn row_in(group: &[u8], nth: usize, n_rows: usize) -> Option<Option<&[u8]>> {
    let mut reader = ByteReader::new(group);
    let (mut before, mut wanted) = (0usize, 0);
    for row in 0..n_rows {
        let len = usize::try_from(reader.varint()?).ok()?;
        if row < nth {
            before = before.checked_add(len.saturating_sub(1))?;
        } else if row == nth {
            wanted = len;
        }
    }
    let Some(len) = wanted.checked_sub(1) else { return Some(None) };
    reader.take(before)?;
    Some(Some(reader.take(len)?))
}

#[cfg(test)]
mod tests;
