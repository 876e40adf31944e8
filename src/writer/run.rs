//! Run: the sorted terms of some documents, with their postings, in memory or spilled.
//!
//! Runs are private to one build and never read by another version, but they may pass through a
//! disk, so every interval of records carries a checksum and reading never trusts a length.
//!
//! A record begins with eight bytes, since a merge reads so many of them that it should not have to guess where each number
//! ends: bytes shared with the term before, bytes of the rest, document frequency, length of the occurrences, one byte each, and
//! four with the last document. A byte of 255 says that the number follows as a varint, in this order. Then come the rest,
//! the documents as gaps (see [`postings`]) with their varint length before them, both only where the frequency is above 1, and
//! the occurrences, where the field keeps them (see `format::occurrences`). Every [`INTERVAL`]th record shares
//! nothing with the one before, so reading can begin there. Behind the records stand the codes of the
//! documents' lengths, then where their words are: for each document the varint length of its part of
//! the offsets, and the part (see `format::offsets`); then the column: for each document how many values it has, as a
//! varint, and for each of them the varint of what it differs by from the one before, the sign in the lowest bit. Vectors
//! come last: each behind its document of 4 bytes, in pieces of up to [`PIECE`] bytes that have a checksum each.

use crate::bytes::{ByteReader, common_prefix_len, write_varint};
use crate::checksum::crc32c;
use crate::error::{Error, Result};
use crate::format::postings;
use crate::storage::{Storage, StorageRead};
use std::sync::Arc;

/// Byte of a record's head whose number stands behind the head.
const FOLLOWS: u8 = u8::MAX;
/// Records between two places where reading can begin.
const INTERVAL: usize = 512;

/// Bytes of vectors that are read at once, at the most.
const PIECE: usize = 256 << 10;

/// Sorted records, written once and then merged.
#[derive(Debug)]
pub(crate) struct Run {
    records: Records,
    /// Bytes of records.
    len: u64,
    /// Codes of lengths behind them, and their checksum.
    n_lengths: usize,
    lengths_crc: u32,
    /// Bytes of the offsets behind those, and their checksum.
    offsets_len: usize,
    offsets_crc: u32,
    /// Bytes of the column behind those, and their checksum.
    column_len: usize,
    column_crc: u32,
    /// Bytes of the vectors behind those, and the checksum of each piece.
    vectors: VectorPieces,
    intervals: Vec<Interval>,
}

#[derive(Debug)]
enum Records {
    Memory(Vec<u8>),
    Spilled { file: Arc<dyn StorageRead>, start: u64 },
}

/// Lengths of the vectors of a run, each with its document, and the checksums of pieces of them.
#[derive(Debug, Default)]
struct VectorPieces {
    /// Bytes of one, of all of a piece but for the last, and of all.
    one: usize,
    piece: usize,
    all: usize,
    checksums: Vec<u32>,
}

impl VectorPieces {
    fn of(vectors: &[u8], one: usize) -> Self {
        let piece = PIECE / one.max(1) * one;
        let checksums = vectors.chunks(piece.max(1)).map(crc32c).collect();
        VectorPieces { one, piece, all: vectors.len(), checksums }
    }
}

/// Point at which reading can begin: the first term there, the offset, and the checksum up to the next one.
#[derive(Debug)]
pub(crate) struct Interval {
    pub(crate) term: Box<[u8]>,
    offset: u64,
    checksum: u32,
}

impl Run {
    /// Bytes of records.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Bytes of heap held.
    pub(crate) fn heap_bytes(&self) -> usize {
        let records = match &self.records {
            Records::Memory(bytes) => bytes.capacity(),
            Records::Spilled { .. } => 0,
        };
        records
            + self
                .intervals
                .iter()
                .map(|interval| size_of::<Interval>() + interval.term.len())
                .sum::<usize>()
            + self.vectors.checksums.len() * size_of::<u32>()
    }

    /// First term and byte length of each interval: what key ranges of equal work are cut by.
    pub(crate) fn intervals(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let ends = self.intervals.iter().skip(1).map(|next| next.offset).chain([self.len]);
        self.intervals
            .iter()
            .zip(ends)
            .map(|(interval, end)| (&*interval.term, end - interval.offset))
    }

    /// The records of all intervals that may hold terms in `from..to`, read and checked.
    pub(crate) fn read(&self, from: Option<&[u8]>, to: Option<&[u8]>) -> Result<RunSlice<'_>> {
        let first = from.map_or(0, |from| {
            self.intervals.partition_point(|interval| *interval.term <= *from).saturating_sub(1)
        });
        let end =
            to.map_or(self.intervals.len(), |to| self.intervals.partition_point(|i| *i.term < *to));
        if first >= end {
            return Ok(RunSlice { bytes: Borrowed::Memory(&[]) });
        }
        let start_offset = self.intervals[first].offset;
        let end_offset = self.intervals.get(end).map_or(self.len, |interval| interval.offset);
        let bytes = match &self.records {
            Records::Memory(bytes) => {
                Borrowed::Memory(&bytes[start_offset as usize..end_offset as usize])
            }
            Records::Spilled { file, start } => {
                let mut bytes = vec![0; (end_offset - start_offset) as usize];
                file.read_at(start + start_offset, &mut bytes)?;
                for nth in first..end {
                    self.check_interval(nth, &bytes, start_offset)
                        .map_err(|(at, error)| error.in_file(file.path()).at_offset(start + at))?;
                }
                Borrowed::Read(bytes)
            }
        };
        Ok(RunSlice { bytes })
    }

    /// Appends the codes of the lengths of all documents of the run; none where the field keeps none.
    pub(crate) fn append_lengths(&self, lengths: &mut Vec<u8>) -> Result<()> {
        self.append(self.len, self.n_lengths, self.lengths_crc, lengths)
    }

    /// Appends the parts of all documents, each behind its varint length; nothing where the field keeps no offsets.
    pub(crate) fn append_offsets(&self, offsets: &mut Vec<u8>) -> Result<()> {
        let at = self.len + self.n_lengths as u64;
        self.append(at, self.offsets_len, self.offsets_crc, offsets)
    }

    /// Calls `visit` with the codes of each document in turn; of a field that keeps a column.
    pub(crate) fn for_each_in_column(
        &self,
        mut visit: impl FnMut(&[u64]) -> Result<()>,
    ) -> Result<()> {
        let at = self.len + (self.n_lengths + self.offsets_len) as u64;
        let mut bytes = vec![];
        self.append(at, self.column_len, self.column_crc, &mut bytes)?;
        let (mut reader, mut codes, mut last) = (ByteReader::new(&bytes), vec![], 0);
        while !reader.remaining().is_empty() {
            codes.clear();
            let mut read = || {
                for _ in 0..reader.varint_u32()? {
                    last = moved_by(last, reader.varint()?);
                    codes.push(last);
                }
                Some(())
            };
            read().ok_or_else(|| {
                Error::corrupt("reading the column of a run")
                    .expected("the values of a document")
                    .found("bytes that end within one")
            })?;
            visit(&codes)?;
        }
        Ok(())
    }

    /// Number of vectors.
    pub(crate) fn n_vectors(&self) -> usize {
        self.vectors.all / self.vectors.one.max(1)
    }

    /// Calls `visit` with each vector, in the order of documents.
    pub(crate) fn for_each_vector(
        &self,
        mut visit: impl FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let first = self.len + (self.n_lengths + self.offsets_len + self.column_len) as u64;
        let VectorPieces { one, piece, all, checksums } = &self.vectors;
        let (mut at, mut bytes) = (0, vec![]);
        for checksum in checksums {
            bytes.clear();
            self.append(first + at as u64, (*piece).min(all - at), *checksum, &mut bytes)?;
            at += bytes.len();
            for vector in bytes.chunks_exact(*one) {
                if let Some((doc, row)) = vector.split_first_chunk() {
                    visit(u32::from_le_bytes(*doc), row)?;
                }
            }
        }
        Ok(())
    }

    /// Appends `len` bytes from `at` on, which lie behind the records.
    fn append(&self, at: u64, len: usize, expected: u32, out: &mut Vec<u8>) -> Result<()> {
        match &self.records {
            Records::Memory(bytes) => out.extend_from_slice(&bytes[at as usize..][..len]),
            Records::Spilled { file, start } => {
                let before = out.len();
                out.resize(before + len, 0);
                file.read_at(start + at, &mut out[before..])?;
                let found = crc32c(&out[before..]);
                if found != expected {
                    return Err(differs(expected, found)
                        .in_file(file.path())
                        .at_offset(start + at));
                }
            }
        }
        Ok(())
    }

    /// Compares the checksum of an interval, given the bytes from `base` on; an error with the offset of the interval in the run.
    fn check_interval(&self, nth: usize, bytes: &[u8], base: u64) -> Result<(), (u64, Error)> {
        let interval = &self.intervals[nth];
        let end = self.intervals.get(nth + 1).map_or(self.len, |next| next.offset);
        let found = crc32c(&bytes[(interval.offset - base) as usize..(end - base) as usize]);
        match found == interval.checksum {
            true => Ok(()),
            false => Err((interval.offset, differs(interval.checksum, found))),
        }
    }
}

fn differs(expected: u32, found: u32) -> Error {
    Error::corrupt("reading back a spilled run")
        .expected(format!("checksum {expected:#010x}"))
        .found(format!("{found:#010x}"))
        .hint("the disk returned other bytes than were written to it a moment ago")
}

/// Difference of two codes, with the sign in the lowest bit.
fn difference(from: u64, to: u64) -> u64 {
    let difference = to.wrapping_sub(from) as i64;
    (difference << 1 ^ difference >> 63) as u64
}

/// The code that differs by this.
fn moved_by(from: u64, difference: u64) -> u64 {
    from.wrapping_add(difference >> 1 ^ (difference & 1).wrapping_neg())
}

/// Some consecutive intervals of a run.
#[derive(Debug)]
pub(crate) struct RunSlice<'r> {
    bytes: Borrowed<'r>,
}

#[derive(Debug)]
enum Borrowed<'r> {
    Memory(&'r [u8]),
    Read(Vec<u8>),
}

impl RunSlice<'_> {
    /// A cursor on the first record whose term is at least `from`.
    pub(crate) fn cursor(&self, from: Option<&[u8]>) -> Result<RunCursor<'_>> {
        let bytes = match &self.bytes {
            Borrowed::Memory(bytes) => bytes,
            Borrowed::Read(bytes) => &bytes[..],
        };
        let mut cursor = RunCursor {
            reader: ByteReader::new(bytes),
            term: vec![],
            key: TermKey::of(&[]),
            piece: Piece::default(),
            done: false,
        };
        cursor.advance()?;
        while from.is_some_and(|from| !cursor.done && *cursor.term < *from) {
            cursor.advance()?;
        }
        Ok(cursor)
    }
}

/// The postings of one term in one run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Piece<'r> {
    pub(crate) df: u32,
    last_doc: u32,
    /// The documents, unless there is but one.
    gaps: &'r [u8],
    /// Frequencies and positions of the term in each document.
    pub(crate) occurrences: &'r [u8],
}

impl Piece<'_> {
    /// Appends the documents as gaps behind others that end before `next`; what comes after `next` is now.
    pub(crate) fn append_gaps(&self, next: u32, out: &mut Vec<u8>) -> Option<u32> {
        let mut reader = ByteReader::new(self.gaps);
        let first = if self.df == 1 { self.last_doc } else { reader.varint_u32()? };
        write_varint(out, u64::from(first.checked_sub(next)?));
        out.extend_from_slice(reader.remaining());
        self.last_doc.checked_add(1)
    }

    /// Appends the documents.
    pub(crate) fn append_docs(&self, docs: &mut Vec<u32>) -> Option<()> {
        if self.df == 1 {
            docs.push(self.last_doc);
            return Some(());
        }
        postings::decode_gaps(&mut ByteReader::new(self.gaps), self.df as usize, docs)
    }
}

/// Walks records in term order.
#[derive(Debug)]
pub(crate) struct RunCursor<'r> {
    reader: ByteReader<'r>,
    pub(crate) term: Vec<u8>,
    pub(crate) key: TermKey,
    pub(crate) piece: Piece<'r>,
    pub(crate) done: bool,
}

impl RunCursor<'_> {
    /// Moves to the next record, or to the end.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<()> {
        if self.reader.remaining().is_empty() {
            self.done = true;
            return Ok(());
        }
        self.read_record().ok_or_else(|| {
            Error::corrupt("reading a run")
                .expected("a whole record")
                .found("bytes that end within one")
        })
    }

    #[inline]
    fn read_record(&mut self) -> Option<()> {
        let [shared, rest, df, occurrences, last_doc @ ..] = self.reader.u64()?.to_le_bytes();
        let shared = self.number(shared)? as usize;
        let rest = self.number(rest)? as usize;
        let df = self.number(df)?;
        let occurrences = self.number(occurrences)? as usize;
        let rest = self.reader.take(rest)?;
        if shared > self.term.len() {
            return None;
        }
        self.term.truncate(shared);
        self.term.extend_from_slice(rest);
        self.key = TermKey::of(&self.term);
        let n_gaps = if df == 1 { 0 } else { self.reader.varint_u32()? as usize };
        self.piece = Piece {
            df,
            last_doc: u32::from_le_bytes(last_doc),
            gaps: self.reader.take(n_gaps)?,
            occurrences: self.reader.take(occurrences)?,
        };
        Some(())
    }

    /// The number that a byte of the head stands for.
    #[inline]
    fn number(&mut self, byte: u8) -> Option<u32> {
        if byte == FOLLOWS { self.reader.varint_u32() } else { Some(byte.into()) }
    }
}

/// A term in one number that compares as terms do: its first bytes, highest first, then how many it has.
///
/// Equal keys are of equal terms if they hold the [whole](Self::is_whole) term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TermKey(u128);

impl TermKey {
    /// Bytes that a key holds.
    const LEN: usize = 15;
    /// A key behind those of all terms: no term has so many bytes in it.
    pub(crate) const LAST: TermKey = TermKey(u128::MAX);

    #[inline]
    pub(crate) fn of(term: &[u8]) -> Self {
        let len = term.len().min(Self::LEN + 1) as u128;
        TermKey(first_bytes(term) & !0xFF | len)
    }

    /// Whether it holds all bytes of the term.
    #[inline]
    pub(crate) fn is_whole(self) -> bool {
        self.0 as u8 as usize <= Self::LEN
    }
}

/// The first 16 bytes of a term, highest first, with zeros behind a shorter one. By loads of fixed sizes that overlap: to copy as
/// many bytes as there are is a call.
#[inline]
fn first_bytes(term: &[u8]) -> u128 {
    if let Some(bytes) = term.first_chunk::<16>() {
        return u128::from_le_bytes(*bytes).swap_bytes();
    }
    let unused = 8 * (16 - term.len());
    if let (Some(first), Some(last)) = (term.first_chunk::<8>(), term.last_chunk::<8>()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        return u128::from(first.swap_bytes()) << 64 | u128::from(last.swap_bytes()) << unused;
    }
    if let (Some(first), Some(last)) = (term.first_chunk::<4>(), term.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return u128::from(first.swap_bytes()) << 96 | u128::from(last.swap_bytes()) << unused;
    }
    term.iter()
        .fold(0, |bytes, byte| bytes << 8 | u128::from(*byte))
        .checked_shl(unused as u32)
        .unwrap_or(0)
}

/// Takes terms in order and gives a [`Run`].
#[derive(Debug, Default)]
pub(crate) struct RunWriter {
    records: Vec<u8>,
    lengths: Vec<u8>,
    offsets: Vec<u8>,
    column: Vec<u8>,
    vectors: Vec<u8>,
    /// Bytes of one of them.
    vector_len: usize,
    last_code: u64,
    intervals: Vec<Interval>,
    n_records: usize,
    last_term: Vec<u8>,
    gaps: Vec<u8>,
}

impl RunWriter {
    /// Sets the codes of the lengths of all documents.
    pub(crate) fn set_lengths(&mut self, lengths: Vec<u8>) {
        self.lengths = lengths;
    }

    /// Sets the parts of all documents, each behind its varint length.
    pub(crate) fn set_offsets(&mut self, offsets: Vec<u8>) {
        self.offsets = offsets;
    }

    /// Sets the vectors of all documents, each behind its document, with which one takes so many bytes.
    pub(crate) fn set_vectors(&mut self, vectors: Vec<u8>, len: usize) {
        (self.vectors, self.vector_len) = (vectors, len);
    }

    /// Adds the codes of the next document to the column.
    pub(crate) fn add_to_column(&mut self, codes: &[u64]) {
        write_varint(&mut self.column, codes.len() as u64);
        for &code in codes {
            write_varint(&mut self.column, difference(self.last_code, code));
            self.last_code = code;
        }
    }

    /// Adds a term, which comes after those before, with its ascending documents and their occurrences.
    pub(crate) fn add(&mut self, term: &[u8], docs: &[u32], occurrences: &[u8]) {
        let Some(&last_doc) = docs.last() else { return };
        let shared = if self.n_records.is_multiple_of(INTERVAL) {
            self.end_interval();
            self.intervals.push(Interval {
                term: term.into(),
                offset: self.records.len() as u64,
                checksum: 0,
            });
            0
        } else {
            common_prefix_len(&self.last_term, term)
        };
        self.n_records += 1;
        let out = &mut self.records;
        let numbers = [shared, term.len() - shared, docs.len(), occurrences.len()];
        let [a, b, c, d] = numbers.map(|number| u8::try_from(number).unwrap_or(FOLLOWS));
        let [e, f, g, h] = last_doc.to_le_bytes();
        out.extend_from_slice(&[a, b, c, d, e, f, g, h]);
        for number in numbers.into_iter().filter(|number| *number >= FOLLOWS.into()) {
            write_varint(out, number as u64);
        }
        out.extend_from_slice(&term[shared..]);
        self.last_term.clear();
        self.last_term.extend_from_slice(term);
        if docs.len() > 1 {
            self.gaps.clear();
            postings::encode_gaps(docs, &mut self.gaps);
            write_varint(out, self.gaps.len() as u64);
            out.extend_from_slice(&self.gaps);
        }
        out.extend_from_slice(occurrences);
    }

    fn end_interval(&mut self) {
        if let Some(last) = self.intervals.last_mut() {
            last.checksum = crc32c(&self.records[last.offset as usize..]);
        }
    }

    /// Ends the run and keeps it in memory.
    pub(crate) fn finish(mut self) -> Run {
        self.end_interval();
        let len = self.records.len() as u64;
        self.records.extend_from_slice(&self.lengths);
        self.records.extend_from_slice(&self.offsets);
        self.records.extend_from_slice(&self.column);
        let vectors = VectorPieces::of(&self.vectors, self.vector_len);
        // Mostly they are all there is, and may take a large part of the memory there is for a run.
        match self.records.is_empty() {
            true => self.records = self.vectors,
            false => self.records.extend_from_slice(&self.vectors),
        }
        self.records.shrink_to_fit();
        Run {
            records: Records::Memory(self.records),
            len,
            n_lengths: self.lengths.len(),
            lengths_crc: crc32c(&self.lengths),
            offsets_len: self.offsets.len(),
            offsets_crc: crc32c(&self.offsets),
            column_len: self.column.len(),
            column_crc: crc32c(&self.column),
            vectors,
            intervals: self.intervals,
        }
    }
}

/// Moves the records of `runs` from memory into the new file `name`.
pub(crate) fn spill(runs: &mut [Run], storage: &dyn Storage, name: &str) -> Result<u64> {
    let mut out = storage.create(name)?;
    let mut starts = vec![];
    let mut at = 0;
    for run in runs.iter() {
        starts.push(at);
        if let Records::Memory(bytes) = &run.records {
            out.write_all(bytes)?;
            at += bytes.len() as u64;
        }
    }
    out.flush()?;
    drop(out);
    let file = storage.open_unmapped(name)?;
    for (run, start) in runs.iter_mut().zip(starts) {
        run.records = Records::Spilled { file: Arc::clone(&file), start };
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several runs are in one file, and each knows its own offsets alone.
    #[test]
    fn damage_is_told_at_its_place_in_the_file() {
        let run = |words: std::ops::Range<usize>| {
            let mut writer = RunWriter::default();
            words.for_each(|n| writer.add(format!("word{n:06}").as_bytes(), &[1, 2, 3], &[]));
            writer.set_lengths(vec![7; 100]);
            writer.finish()
        };
        let storage = crate::storage::MemoryStorage::new();
        let mut runs = [run(0..2_000), run(2_000..4_000)];
        spill(&mut runs, &storage, "run").unwrap();
        let mut bytes = vec![0; storage.open("run").unwrap().len() as usize];
        storage.open("run").unwrap().read_at(0, &mut bytes).unwrap();
        for (nth, run) in runs.iter_mut().enumerate() {
            let Records::Spilled { start, .. } = run.records else { panic!("it is spilled") };
            // In the second interval, and in the lengths behind the records.
            let interval = start + run.intervals[1].offset;
            let lengths = start + run.len;
            for at in [interval, lengths] {
                let mut bytes = bytes.clone();
                bytes[at as usize] ^= 4;
                let name = format!("damaged-{nth}-{at}");
                storage.create(&name).unwrap().write_all(&bytes).unwrap();
                let file = storage.open_unmapped(&name).unwrap();
                run.records = Records::Spilled { file, start };
                let error = match at == interval {
                    true => run.read(None, None).unwrap_err(),
                    false => run.append_lengths(&mut vec![]).unwrap_err(),
                };
                assert_eq!(error.offset(), Some(at), "run {nth}: {error}");
                assert!(error.to_string().contains(&name), "{error}");
            }
        }
    }

    #[test]
    fn vectors_come_back_from_memory_and_from_a_file_and_damage_is_told() {
        let rows: Vec<(u32, [u8; 12])> = (0..50_000u32).map(|n| (n / 2, [n as u8; 12])).collect();
        let mut writer = RunWriter::default();
        let bytes = rows.iter().flat_map(|(doc, row)| doc.to_le_bytes().into_iter().chain(*row));
        writer.set_vectors(bytes.collect(), 16);
        let mut run = [writer.finish()];
        let read = |run: &Run| {
            let mut found = vec![];
            run.for_each_vector(|doc, row| {
                found.push((doc, row.try_into().unwrap()));
                Ok(())
            })
            .map(|()| found)
        };
        assert_eq!(run[0].n_vectors(), rows.len());
        assert!(run[0].vectors.checksums.len() > 2, "several pieces");
        assert!(read(&run[0]).unwrap() == rows);
        let storage = crate::storage::MemoryStorage::new();
        spill(&mut run, &storage, "run").unwrap();
        assert!(read(&run[0]).unwrap() == rows);
        let mut bytes = vec![0; storage.open("run").unwrap().len() as usize];
        storage.open("run").unwrap().read_at(0, &mut bytes).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        storage.create("damaged").unwrap().write_all(&bytes).unwrap();
        let file = storage.open_unmapped("damaged").unwrap();
        run[0].records = Records::Spilled { file, start: 0 };
        assert!(read(&run[0]).unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn keys_compare_as_their_terms() {
        let mut terms: Vec<Vec<u8>> = vec![];
        for len in 0..20 {
            for last in [0, 1, b'a', 0xFF] {
                let term = [&b"abcdefghijklmnopqrst"[..len], &[last]].concat();
                terms.extend([term[..len].to_vec(), [&term[..], &[0]].concat(), term]);
            }
        }
        for (a, b) in terms.iter().flat_map(|a| terms.iter().map(move |b| (a, b))) {
            let (key, other) = (TermKey::of(a), TermKey::of(b));
            match key == other {
                true => assert!(a == b || !key.is_whole(), "{a:?} {b:?}"),
                false => assert_eq!(key.cmp(&other), a.cmp(b), "{a:?} {b:?}"),
            }
            assert!(key < TermKey::LAST);
        }
    }

    #[test]
    fn records_come_back_whatever_their_numbers() {
        let long = "x".repeat(700);
        let mut expected: Vec<(Vec<u8>, Vec<u32>, Vec<u8>)> = vec![];
        for (nth, n) in [1, 2, 254, 255, 256, 5_000].into_iter().enumerate() {
            for rest in [0, 1, 254, 255, 300] {
                let term = format!("{}{nth}{}", &long[..254 + nth / 3], &long[..rest]);
                let docs = (0..n).map(|doc| doc * 300 + 70_000 * nth as u32).collect();
                expected.push((term.into_bytes(), docs, vec![7; (n as usize - 1) * 2 + rest]));
            }
        }
        expected.sort();
        let mut writer = RunWriter::default();
        expected.iter().for_each(|(term, docs, stream)| writer.add(term, docs, stream));
        let run = writer.finish();
        let slice = run.read(None, None).unwrap();
        let mut cursor = slice.cursor(None).unwrap();
        for (term, docs, stream) in &expected {
            assert_eq!((&cursor.term, cursor.key), (term, TermKey::of(term)));
            assert_eq!(
                (cursor.piece.df as usize, cursor.piece.occurrences),
                (docs.len(), &stream[..])
            );
            let (mut found, mut gaps) = (vec![], vec![]);
            cursor.piece.append_docs(&mut found).unwrap();
            assert_eq!(found, *docs);
            // Behind others, only the first gap is another.
            let next = docs[0] - docs[0].min(9);
            assert_eq!(cursor.piece.append_gaps(next, &mut gaps), Some(docs.last().unwrap() + 1));
            let moved: Vec<u32> = docs.iter().map(|doc| doc - next).collect();
            let mut found = vec![];
            postings::decode_gaps(&mut ByteReader::new(&gaps), docs.len(), &mut found).unwrap();
            assert_eq!(found, moved);
            cursor.advance().unwrap();
        }
        assert!(cursor.done);
    }

    #[test]
    fn a_column_comes_back_from_memory_and_from_a_file() {
        let mut random = 7u64;
        let docs: Vec<Vec<u64>> = (0..500)
            .map(|nth| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let first = random >> (random >> 58);
                (0..nth % 4).map(|more| first.saturating_add(more << (nth % 60))).collect()
            })
            .chain([vec![0, u64::MAX], vec![u64::MAX], vec![0], vec![1 << 63]])
            .collect();
        let mut writer = RunWriter::default();
        docs.iter().for_each(|codes| writer.add_to_column(codes));
        let mut run = [writer.finish()];
        let read = |run: &Run| {
            let mut found: Vec<Vec<u64>> = vec![];
            run.for_each_in_column(|codes| {
                found.push(codes.to_vec());
                Ok(())
            })
            .map(|()| found)
        };
        assert_eq!(read(&run[0]).unwrap(), docs);
        let storage = crate::storage::MemoryStorage::new();
        spill(&mut run, &storage, "run").unwrap();
        assert_eq!(read(&run[0]).unwrap(), docs);
    }
}
