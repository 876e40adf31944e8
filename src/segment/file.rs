//! File of a segment: written in one pass, opened in constant time, checked while read.
//!
//! [`SegmentFile::open`] looks at header, footer and tables only. Whoever wants bytes asks a
//! [`Section`] for them, and gets them after the blocks they lie in have passed their checksums:
//!
//! - mapped, each block is checked when it is first touched and remembered with one bit, so that a
//!   warm read costs a few comparisons;
//! - read by `pread`, the blocks are checked at every read, because the bytes are new every time.
//!
//! So nothing is ever answered from a damaged byte, and nobody waits for a byte he does not need.
//! The heap holds 8 bytes a MiB of mapped file, 24 bytes a section, and what is known of [dictionaries](Dictionaries).

use crate::bytes::{Bytes, Source};
use crate::checksum::crc32c;
use crate::error::{Error, ErrorKind, Result};
use crate::format::FileName;
use crate::format::envelope::{Envelope, EnvelopeWriter, Seal, SectionEntry, SectionKind, Sink};
use crate::format::header::{FileKind, checksum_differs};
use crate::format::statistics::SegmentStatistics;
use crate::format::terms::TermDictionary;
use crate::ids::{FieldId, SegmentId};
use crate::segment::added_fields::AddedFields;
use crate::segment::dictionaries::{Dictionaries, OpenDictionary, Place};
use crate::simd::prefetch::prefetch;
use crate::storage::{self, Storage, StorageRead, StorageWrite};
use std::{
    ops::Range,
    path::PathBuf,
    sync::Arc,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// A segment file being written; [`finish`] ends it.
pub(crate) type SegmentFileWriter = EnvelopeWriter<Box<dyn StorageWrite>>;

impl Sink for Box<dyn StorageWrite> {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        (**self).write_all(bytes)
    }
}

/// Starts the file of segment `id`.
pub(crate) fn create(storage: &dyn Storage, id: SegmentId) -> Result<SegmentFileWriter> {
    create_of(FileKind::Segment, id, FileName::Segment(id), storage)
}

/// Starts a file of `kind` that belongs to segment `id`.
pub(crate) fn create_of(
    kind: FileKind,
    id: SegmentId,
    name: FileName,
    storage: &dyn Storage,
) -> Result<SegmentFileWriter> {
    EnvelopeWriter::new(kind, id, storage.create(&name.to_string())?)
}

/// Creates a file that will have about so many bytes.
pub(crate) fn create_sized(
    storage: &dyn Storage,
    id: SegmentId,
    bytes: u64,
) -> Result<SegmentFileWriter> {
    EnvelopeWriter::new(
        FileKind::Segment,
        id,
        storage.create_sized(&FileName::Segment(id).to_string(), bytes)?,
    )
}

/// Writes the tables. The file can be opened then; before a manifest names it, it is to be made durable.
pub(crate) fn finish(writer: SegmentFileWriter) -> Result<(Seal, Unsynced)> {
    let (seal, mut file) = writer.finish()?;
    file.flush()?;
    Ok((seal, Unsynced(Some(file))))
}

/// Ends the file and makes it durable.
#[cfg(test)]
pub(crate) fn seal(writer: SegmentFileWriter) -> Result<Seal> {
    let (seal, mut file) = finish(writer)?;
    file.sync()?;
    Ok(seal)
}

/// A whole file that a power failure may still take away, unless it was synced.
#[derive(Debug)]
#[must_use = "a manifest that names it has to wait for `sync`"]
pub(crate) struct Unsynced(Option<Box<dyn StorageWrite>>);

impl Unsynced {
    /// One that is durable already.
    pub(crate) fn durable() -> Self {
        Unsynced(None)
    }

    pub(crate) fn is_durable(&self) -> bool {
        self.0.is_none()
    }

    /// Makes the file durable, if it is not. After an error it never will be.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.0.as_mut().map_or(Ok(()), |file| file.sync())?;
        self.0 = None;
        Ok(())
    }
}

/// An open segment file.
#[derive(Debug)]
pub(crate) struct SegmentFile {
    file: Arc<dyn StorageRead>,
    envelope: Envelope,
    /// One bit a block that has passed its checksum; empty where the file is not mapped. Relaxed is
    /// enough: the bit says something about bytes that nobody changes, and publishes no others.
    checked: Box<[AtomicU64]>,
    n_checked: AtomicU64,
    dictionaries: Dictionaries,
    /// Fields that came to the schema later, if any did.
    added: Option<AddedFields>,
}

impl SegmentFile {
    /// Opens a segment in constant time. `expected` is what the manifest says of it; without it any
    /// sound segment will do.
    pub(crate) fn open(
        file: Arc<dyn StorageRead>,
        expected: Option<(SegmentId, Seal)>,
    ) -> Result<SegmentFile> {
        Self::open_of(FileKind::Segment, file, expected)
    }

    /// Opens a file of `kind` that belongs to a segment.
    pub(crate) fn open_of(
        kind: FileKind,
        file: Arc<dyn StorageRead>,
        expected: Option<(SegmentId, Seal)>,
    ) -> Result<SegmentFile> {
        let read = |range| read_plain(&*file, range);
        let envelope = Envelope::open(kind, file.len(), expected, read)
            .map_err(|error| error.in_file(file.path()))?;
        let n_words = match file.mapped() {
            Some(_) => envelope.n_blocks().div_ceil(64) as usize,
            None => 0,
        };
        let checked = (0..n_words).map(|_| AtomicU64::new(0)).collect();
        let (n_checked, dictionaries) = (AtomicU64::new(0), Dictionaries::of(envelope.sections()));
        Ok(SegmentFile { file, envelope, checked, n_checked, dictionaries, added: None })
    }

    /// Adds the fields that it was made without.
    pub(crate) fn with_added(self, added: Option<AddedFields>) -> SegmentFile {
        SegmentFile { added, ..self }
    }

    /// The fields that it was made without.
    pub(crate) fn added(&self) -> Option<&AddedFields> {
        self.added.as_ref()
    }

    /// File to read a field from: this one, or one in memory if the field came to the schema later.
    #[inline]
    pub(crate) fn of_field(&self, field: FieldId) -> Result<&SegmentFile> {
        match &self.added {
            Some(added) => self.of_added(added, field),
            None => Ok(self),
        }
    }

    fn of_added<'a>(&'a self, added: &'a AddedFields, field: FieldId) -> Result<&'a SegmentFile> {
        Ok(added.file_of(field, || self.expect_n_docs(added))?.unwrap_or(self))
    }

    /// Refuses to make anything for more documents than there are, whatever a manifest says.
    fn expect_n_docs(&self, added: &AddedFields) -> Result<()> {
        let section = self.require(None, SectionKind::STATISTICS)?;
        let n_docs = SegmentStatistics::read(section, added.n_own())?.n_docs;
        match added.n_docs() == n_docs {
            true => Ok(()),
            false => Err(Error::corrupt("reading a field that was added to an index")
                .expected(format!("{} documents, as in the manifest", added.n_docs()))
                .found(n_docs.to_string())
                .in_file(self.path())),
        }
    }

    /// Its documents, deleted ones among them, by what it says itself.
    pub(crate) fn n_docs(&self) -> Result<u32> {
        SegmentStatistics::read_n_docs(self.require(None, SectionKind::STATISTICS)?)
    }

    pub(crate) fn id(&self) -> SegmentId {
        self.envelope.header.id
    }

    /// Its incompatible features.
    pub(crate) fn features(&self) -> u32 {
        self.envelope.header.incompatible
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// Number of bytes of `range` that are in memory now, if that is known.
    pub(crate) fn resident(&self, range: Range<u64>) -> Option<u64> {
        storage::resident(&*self.file, range)
    }

    /// Seal of the file, as a manifest has it.
    pub(crate) fn seal(&self) -> Seal {
        self.envelope.seal
    }

    /// Length of the whole file in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.file.len()
    }

    /// Entries of the section table, in order of field and kind.
    pub(crate) fn entries(&self) -> &[SectionEntry] {
        self.envelope.sections()
    }

    /// The section of this field (`None`: of the segment) and kind.
    #[inline]
    pub(crate) fn section(&self, field: Option<FieldId>, kind: SectionKind) -> Option<Section<'_>> {
        let SectionEntry { offset, len, .. } = *self.envelope.section(field, kind)?;
        Some(self.section_at(Place { offset, len }))
    }

    #[inline]
    fn section_at(&self, place: Place) -> Section<'_> {
        Section { file: self, mapped: self.file.mapped(), place }
    }

    /// The dictionary of a field; opening it for the first time reads the header of its index.
    #[inline]
    pub(crate) fn dictionary(&self, field: FieldId) -> Result<TermDictionary<Section<'_>>> {
        match self.dictionaries.get(field) {
            Some(OpenDictionary { blocks, index, heads, opened }) => {
                let [blocks, index, heads] =
                    [blocks, index, heads].map(|place| self.section_at(*place));
                Ok(TermDictionary::opened(blocks, index, heads, *opened))
            }
            None => self.open_dictionary(field),
        }
    }

    #[cold]
    fn open_dictionary(&self, field: FieldId) -> Result<TermDictionary<Section<'_>>> {
        let section = |kind| self.require(Some(field), kind);
        let blocks = section(SectionKind::TERMS)?;
        let (index, heads) =
            (section(SectionKind::TERMS_INDEX)?, section(SectionKind::TERMS_HEADS)?);
        let dictionary = TermDictionary::open(blocks, index, heads)?;
        let [blocks, index, heads] = [blocks, index, heads].map(|section| section.place);
        let opened = dictionary.open_index();
        self.dictionaries.keep(field, OpenDictionary { blocks, index, heads, opened });
        Ok(dictionary)
    }

    /// Finds a section whose absence is damage.
    #[inline]
    pub(crate) fn require(&self, field: Option<FieldId>, kind: SectionKind) -> Result<Section<'_>> {
        match self.section(field, kind) {
            Some(section) => Ok(section),
            None => Err(self.absent(field, kind)),
        }
    }

    #[cold]
    fn absent(&self, field: Option<FieldId>, kind: SectionKind) -> Error {
        let of = field.map_or("the segment".into(), |field| format!("field {}", field.0));
        Error::corrupt("reading the section table")
            .expected(format!("a section '{}' of {of}", kind.name()))
            .found("none")
            .in_file(self.file.path())
    }

    #[cfg(test)]
    /// Blocks of the file, and how often one was checked since it was opened.
    pub(crate) fn blocks(&self) -> BlockCounts {
        BlockCounts {
            total: self.envelope.n_blocks(),
            checked: self.n_checked.load(Relaxed),
            bytes: 1 << self.envelope.block_shift(),
        }
    }

    /// Reads and checks everything anew, whatever was checked before, and hands each damage found to
    /// `report`; how many there were.
    pub(crate) fn verify(&self, mut report: impl FnMut(Error)) -> u64 {
        let mut n_damaged = 0;
        let mut damaged = |error: Error| {
            n_damaged += 1;
            report(error.in_file(self.file.path()));
        };
        let expected = Some((self.id(), self.envelope.seal));
        let read = |range| read_plain(&*self.file, range);
        if let Err(error) = Envelope::open(self.envelope.kind, self.file.len(), expected, read) {
            damaged(error);
        }
        for block in 0..self.envelope.n_blocks() {
            let bytes = read_plain(&*self.file, self.envelope.block_range(block));
            if let Err(error) = bytes.and_then(|bytes| self.compare(block, &bytes)) {
                damaged(error);
            }
        }
        n_damaged
    }

    /// Whether two places of a mapped file are in one block, which was checked.
    #[inline]
    fn has_checked(&self, first: u64, last: u64) -> bool {
        let block = first >> self.envelope.block_shift();
        let word = self.checked.get((block / 64) as usize);
        block == last >> self.envelope.block_shift()
            && word.is_some_and(|word| word.load(Relaxed) & (1 << (block % 64)) != 0)
    }

    /// Whether all blocks of a mapped file that `range`, not empty and inside the file, touches were checked.
    fn has_checked_all(&self, range: &Range<u64>) -> bool {
        let shift = self.envelope.block_shift();
        let (first, last) = (range.start >> shift, (range.end - 1) >> shift);
        (first / 64..=last / 64).all(|at| {
            let from = if at == first / 64 { first % 64 } else { 0 };
            let to = if at == last / 64 { last % 64 } else { 63 };
            let wanted = u64::MAX << from & u64::MAX >> (63 - to);
            let word = self.checked.get(at as usize).map(|word| word.load(Relaxed));
            word.is_some_and(|word| word & wanted == wanted)
        })
    }

    /// Checks the blocks of a mapped file that `range`, not empty and inside the file, touches.
    fn touch(&self, mapped: &[u8], range: &Range<u64>) -> Result<()> {
        let shift = self.envelope.block_shift();
        for block in range.start >> shift..=(range.end - 1) >> shift {
            let word = self.checked.get((block / 64) as usize);
            if word.is_none_or(|word| word.load(Relaxed) & (1 << (block % 64)) == 0) {
                self.check(mapped, block)?;
            }
        }
        Ok(())
    }

    /// Checks a block of a mapped file and remembers that it did.
    #[cold]
    fn check(&self, mapped: &[u8], block: u64) -> Result<()> {
        let range = self.envelope.block_range(block);
        let bytes = mapped.get(range.start as usize..range.end as usize);
        let bytes = bytes.ok_or_else(|| self.outside(range))?;
        self.compare(block, bytes)?;
        if let Some(word) = self.checked.get((block / 64) as usize) {
            word.fetch_or(1 << (block % 64), Relaxed);
        }
        Ok(())
    }

    /// Compares the checksum of a block with the one in the file.
    fn compare(&self, block: u64, bytes: &[u8]) -> Result<()> {
        let expected = read_plain(&*self.file, self.envelope.checksums_range(block..block + 1))?;
        self.compare_with(block, bytes, &expected)
    }

    fn compare_with(&self, block: u64, bytes: &[u8], expected: &[u8]) -> Result<()> {
        let found = crc32c(bytes);
        self.n_checked.fetch_add(1, Relaxed);
        if *expected == found.to_le_bytes() {
            return Ok(());
        }
        let expected = expected.first_chunk().map_or(0, |crc| u32::from_le_bytes(*crc));
        let range = self.envelope.block_range(block);
        let what = format!("reading a block of {} bytes", range.end - range.start);
        Err(checksum_differs(what, expected, found)
            .in_file(self.file.path())
            .at_offset(range.start)
            .hint("the bytes on disk have changed"))
    }

    /// Reads `range`, not empty and inside what the blocks cover, and checks it on the way.
    fn read(&self, range: Range<u64>) -> Result<Bytes<'_>> {
        let shift = self.envelope.block_shift();
        let blocks = range.start >> shift..((range.end - 1) >> shift) + 1;
        let covering = self.envelope.block_range(blocks.start).start
            ..self.envelope.block_range(blocks.end - 1).end;
        let mut bytes = read_vec(&*self.file, covering.clone())?;
        let expected = read_vec(&*self.file, self.envelope.checksums_range(blocks.clone()))?;
        for ((block, part), expected) in
            blocks.zip(bytes.chunks(1 << shift)).zip(expected.chunks_exact(4))
        {
            self.compare_with(block, part, expected)?;
        }
        bytes.truncate((range.end - covering.start) as usize);
        bytes.drain(..(range.start - covering.start) as usize);
        Ok(Bytes::Read(bytes.into_boxed_slice()))
    }

    #[cold]
    fn outside(&self, range: Range<u64>) -> Error {
        Error::corrupt("reading a segment")
            .expected(format!("{} bytes of memory", self.file.len()))
            .found(format!("less than {}", range.end))
            .in_file(self.file.path())
    }
}

/// Number of blocks of a segment that have been checked.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockCounts {
    /// Blocks in the file.
    pub(crate) total: u64,
    /// Checksums computed so far: each block once if it is mapped, else once a read.
    pub(crate) checked: u64,
    /// Bytes of a whole block.
    pub(crate) bytes: u64,
}

/// Bytes of a range inside the file, as they are.
fn read_plain(file: &dyn StorageRead, range: Range<u64>) -> Result<Bytes<'_>> {
    match file.mapped() {
        Some(mapped) => match mapped.get(range.start as usize..range.end as usize) {
            Some(bytes) => Ok(Bytes::Mapped(bytes)),
            None => Err(Error::corrupt("reading a segment")
                .expected(format!("{} bytes of memory", range.end))
                .found(mapped.len().to_string())
                .in_file(file.path())),
        },
        None => Ok(Bytes::Read(read_vec(file, range)?.into_boxed_slice())),
    }
}

fn read_vec(file: &dyn StorageRead, range: Range<u64>) -> Result<Vec<u8>> {
    let len = range.end - range.start;
    let mut bytes = vec![];
    let room = usize::try_from(len).ok().and_then(|len| bytes.try_reserve_exact(len).ok());
    if room.is_none() {
        return Err(Error::new(ErrorKind::LimitExceeded, "reading a segment")
            .expected(format!("memory for {len} bytes"))
            .in_file(file.path())
            .at_offset(range.start));
    }
    bytes.resize(len as usize, 0);
    file.read_at(range.start, &mut bytes)?;
    Ok(bytes)
}

/// One section of an open segment file: what the readers of the formats read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'s> {
    file: &'s SegmentFile,
    mapped: Option<&'s [u8]>,
    place: Place,
}

impl<'s> Source<'s> for Section<'s> {
    #[inline]
    fn len(self) -> u64 {
        self.place.len
    }

    #[inline(always)] // nearly all reads are of bytes that were checked: a dozen instructions then
    fn bytes(self, range: Range<u64>) -> Result<Bytes<'s>> {
        let Place { offset, len } = self.place;
        if let Some(mapped) = self.mapped
            && range.start < range.end
            && range.end <= len
            && self.file.has_checked(offset + range.start, offset + range.end - 1)
            && let Some(bytes) =
                mapped.get((offset + range.start) as usize..(offset + range.end) as usize)
        {
            return Ok(Bytes::Mapped(bytes));
        }
        self.bytes_to_check(range)
    }

    #[inline]
    fn is_mapped(self) -> bool {
        self.mapped.is_some()
    }

    fn at_hand(self) -> Option<&'s [u8]> {
        let (mapped, Place { offset, len }) = (self.mapped?, self.place);
        let range = offset..offset + len;
        let is_checked = len > 0 && self.file.has_checked_all(&range);
        mapped.get(range.start as usize..range.end as usize).filter(|_| is_checked)
    }

    #[inline]
    fn prefetch(self, range: Range<u64>) {
        // A range beyond the file is left to the error of whoever reads it.
        let end = range.end.min(self.place.len);
        if let Some(mapped) = self.mapped
            && range.start < end
            && let Some(bytes) = mapped
                .get((self.place.offset + range.start) as usize..(self.place.offset + end) as usize)
        {
            prefetch(bytes);
        }
    }

    #[cold]
    fn locate(self, offset: u64, error: Error) -> Error {
        error.in_file(self.file.path()).at_offset(self.place.offset.saturating_add(offset))
    }
}

impl<'s> Section<'s> {
    /// The bytes of a range anywhere, after a check of those that need one.
    #[inline(never)]
    fn bytes_to_check(self, range: Range<u64>) -> Result<Bytes<'s>> {
        let Place { offset, len } = self.place;
        if range.start > range.end || range.end > len {
            return Err(self.beyond(range));
        }
        if range.is_empty() {
            return Ok(Bytes::Mapped(&[]));
        }
        // No overflow: opening compared offset and length with the file.
        let range = offset + range.start..offset + range.end;
        let Some(mapped) = self.mapped else {
            return self.file.read(range);
        };
        self.file.touch(mapped, &range)?;
        match mapped.get(range.start as usize..range.end as usize) {
            Some(bytes) => Ok(Bytes::Mapped(bytes)),
            None => Err(self.file.outside(range)),
        }
    }

    #[cold]
    fn beyond(self, range: Range<u64>) -> Error {
        let error = Error::corrupt("reading a section")
            .expected(format!("a range inside {} bytes", self.place.len))
            .found(format!("{}..{}", range.start, range.end));
        self.locate(range.start, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::terms::{NewTerm, TermDictionaryWriter};
    use crate::schema::Detail;
    use crate::storage::{FsStorage, MemoryStorage, ReadMode, TestDirectory};
    use crate::test_sizes::{each_unless_miri, unless_miri};
    use std::sync::Mutex;

    const ID: SegmentId = SegmentId([7; 16]);
    const KINDS: [SectionKind; 3] = [SectionKind::TERMS, SectionKind::POSTINGS, SectionKind::EMPTY];

    /// Content of section number `n` of the test file.
    fn content(n: usize) -> Vec<u8> {
        content_of(n, [100, unless_miri(10_000, 700), 3][n])
    }

    fn content_of(n: usize, len: usize) -> Vec<u8> {
        (0..len).map(|at: usize| (at * 31 + n * 7 + (at >> 8)) as u8).collect()
    }

    fn write(storage: &dyn Storage) -> Seal {
        let mut writer = create(storage, ID).unwrap();
        for (n, kind) in KINDS.into_iter().enumerate() {
            writer.section(Some(FieldId(n as u16)), kind, &content(n)).unwrap();
        }
        seal(writer).unwrap()
    }

    fn name() -> String {
        FileName::Segment(ID).to_string()
    }

    /// A file whose bytes a test may change while it is open, mapped or not.
    #[derive(Debug)]
    struct FakeFile {
        bytes: Vec<u8>,
        mapped: bool,
        largest_read: Mutex<usize>,
    }

    impl StorageRead for FakeFile {
        fn len(&self) -> u64 {
            self.bytes.len() as u64
        }
        fn mapped(&self) -> Option<&[u8]> {
            self.mapped.then_some(&self.bytes)
        }
        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
            let mut largest = self.largest_read.lock().unwrap();
            *largest = (*largest).max(buffer.len());
            let from = self.bytes.get(offset as usize..offset as usize + buffer.len());
            buffer.copy_from_slice(from.ok_or_else(|| Error::corrupt("reading past the end"))?);
            Ok(())
        }
        fn path(&self) -> PathBuf {
            PathBuf::from("test.idx")
        }
    }

    fn open_bytes(
        bytes: Vec<u8>,
        mapped: bool,
        expected: Option<(SegmentId, Seal)>,
    ) -> Result<SegmentFile> {
        SegmentFile::open(
            Arc::new(FakeFile { bytes, mapped, largest_read: Mutex::new(0) }),
            expected,
        )
    }

    fn file_bytes() -> (Vec<u8>, Seal) {
        let storage = MemoryStorage::new();
        let seal = write(&storage);
        let file = storage.open(&name()).unwrap();
        (file.mapped().unwrap().to_vec(), seal)
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn every_storage_reads_the_same() {
        let directory = TestDirectory::new();
        let seals =
            [write(&FsStorage::create(directory.path(), ReadMode::Mmap).unwrap()), file_bytes().1];
        assert_eq!(seals[0], seals[1]);
        for mode in [ReadMode::Mmap, ReadMode::Pread] {
            let storage = FsStorage::open(directory.path(), mode).unwrap();
            let file = storage.open(&name()).unwrap();
            let segment = SegmentFile::open(file, Some((ID, seals[0]))).unwrap();
            assert_eq!(segment.blocks().checked, 0, "open checks no block");
            for (n, kind) in KINDS.into_iter().enumerate() {
                let section = segment.require(Some(FieldId(n as u16)), kind).unwrap();
                let (expected, len) = (content(n), section.len());
                for (start, end) in
                    [(0, len), (0, 0), (1, 2), (len - 1, len), (len, len), (len / 3, len)]
                {
                    let bytes = section.bytes(start..end).unwrap();
                    assert_eq!(*bytes, expected[start as usize..end as usize]);
                    assert_eq!(
                        matches!(bytes, Bytes::Mapped(_)),
                        mode == ReadMode::Mmap || start == end
                    );
                }
                for (start, end) in [(0, len + 1), (len + 1, len + 1), (u64::MAX, u64::MAX), (2, 1)]
                {
                    assert_eq!(section.bytes(start..end).unwrap_err().kind(), ErrorKind::Corrupt);
                }
            }
            assert_eq!(segment.verify(|error| panic!("{error}")), 0);
            assert!(segment.section(None, SectionKind::TERMS).is_none());
            let missing =
                segment.require(Some(FieldId(1)), SectionKind::TERMS).unwrap_err().to_string();
            assert!(missing.contains("'terms' of field 1"), "{missing}");
        }
    }

    #[test]
    fn the_header_of_a_dictionary_is_read_once() {
        const FIELD: FieldId = FieldId(2);
        let directory = TestDirectory::new();
        let storage = FsStorage::create(directory.path(), ReadMode::Pread).unwrap();
        let mut terms = TermDictionaryWriter::new(3, Detail::Documents);
        terms.add(b"paris", NewTerm::Inline { docs: &[1], occurrences: &[] }).unwrap();
        let terms = terms.finish();
        let mut file = create(&storage, ID).unwrap();
        let mut write = |kind, bytes: &[u8]| file.section(Some(FIELD), kind, bytes).unwrap();
        write(SectionKind::TERMS, &terms.blocks);
        write(SectionKind::TERMS_INDEX, &terms.index);
        write(SectionKind::TERMS_HEADS, &terms.heads);
        let seal = seal(file).unwrap();
        let file = storage.open(&name()).unwrap();
        let segment = SegmentFile::open(file, Some((ID, seal))).unwrap();
        for _ in 0..2 {
            let dictionary = segment.dictionary(FIELD).unwrap();
            // Read again, a block is checked again.
            assert_eq!(segment.blocks().checked, 1);
            assert_eq!((dictionary.n_terms(), dictionary.n_docs()), (1, 3));
        }
        assert_eq!(segment.dictionary(FIELD).unwrap().get(b"paris").unwrap().unwrap().df, 1);
        for field in [FieldId(0), FieldId(3)] {
            assert_eq!(segment.dictionary(field).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }

    #[test]
    fn a_mapped_block_is_checked_once_and_a_read_one_each_time() {
        for (mapped, second_time) in [(true, 1), (false, 2)] {
            let segment = open_bytes(file_bytes().0, mapped, None).unwrap();
            let section = segment.require(Some(FieldId(0)), SectionKind::TERMS).unwrap();
            section.bytes(0..1).unwrap();
            assert_eq!(segment.blocks().checked, 1);
            section.bytes(5..9).unwrap();
            assert_eq!(segment.blocks().checked, second_time);
        }
    }

    #[test]
    fn every_changed_byte_is_an_error_at_open_or_at_the_read_that_touches_it() {
        let (file, seal) = file_bytes();
        for at in each_unless_miri(0..file.len(), 97) {
            for (mapped, flip) in [(true, 0xFF), (false, 1)] {
                let mut bad = file.clone();
                bad[at] ^= flip;
                let Ok(segment) = open_bytes(bad, mapped, Some((ID, seal))) else {
                    continue;
                };
                let mut n_errors = 0;
                for (n, kind) in KINDS.into_iter().enumerate() {
                    let section = segment.require(Some(FieldId(n as u16)), kind).unwrap();
                    match section.bytes(0..section.len()) {
                        Ok(bytes) => assert_eq!(*bytes, content(n), "byte {at}"),
                        Err(error) => {
                            n_errors += 1;
                            assert_eq!(error.kind(), ErrorKind::Corrupt);
                            assert_eq!(error.offset(), Some(0), "the block starts there");
                            assert_eq!(error.file(), Some("test.idx".as_ref()));
                        }
                    }
                }
                // All sections lie in the one block that changed.
                assert_eq!(n_errors, 3, "byte {at}");
                assert_eq!(segment.verify(|_| ()), 1, "byte {at}");
            }
        }
    }

    #[test]
    fn every_cut_is_refused() {
        let (file, seal) = file_bytes();
        for len in each_unless_miri(0..file.len(), 97) {
            for mapped in [true, false] {
                let cut = open_bytes(file[..len].to_vec(), mapped, Some((ID, seal)));
                assert_eq!(cut.unwrap_err().kind(), ErrorKind::Corrupt, "cut to {len}");
                assert!(open_bytes(file[..len].to_vec(), mapped, None).is_err(), "cut to {len}");
            }
        }
    }

    #[test]
    fn damage_in_one_block_leaves_the_others_readable() {
        let mut writer =
            EnvelopeWriter::with_block_shift(FileKind::Segment, ID, vec![], 12).unwrap();
        let content = content_of(1, 10_000);
        writer.section(None, SectionKind::STORED, &content).unwrap();
        let (_, mut file) = writer.finish().unwrap();
        file[5_000] ^= 4;
        for mapped in [true, false] {
            let segment = open_bytes(file.clone(), mapped, None).unwrap();
            let section = segment.require(None, SectionKind::STORED).unwrap();
            assert_eq!(*section.bytes(0..1_000).unwrap(), content[..1_000]);
            assert_eq!(*section.bytes(9_000..10_000).unwrap(), content[9_000..]);
            for range in [4_096..4_097, 0..10_000, 4_000..4_200] {
                assert_eq!(section.bytes(range).unwrap_err().offset(), Some(4_096));
            }
            let mut places = vec![];
            segment.verify(|error| places.push(error.offset()));
            assert_eq!(places, [Some(4_096)]);
        }
    }

    #[test]
    fn reading_allocates_no_more_than_the_range_and_the_ends_of_its_blocks() {
        let (bytes, _) = file_bytes();
        let file = Arc::new(FakeFile { bytes, mapped: false, largest_read: Mutex::new(0) });
        let segment = SegmentFile::open(file.clone(), None).unwrap();
        let section = segment.require(Some(FieldId(1)), SectionKind::POSTINGS).unwrap();
        section.bytes(0..100).unwrap();
        assert!(*file.largest_read.lock().unwrap() <= 1 << 14);
    }
}
