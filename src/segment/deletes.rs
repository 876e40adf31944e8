//! The deleted documents of a segment, open.

use crate::bitmap::{Container, RoaringHeader};
use crate::bytes::{Bytes, Source};
use crate::error::{Error, Result};
use crate::format::FileName;
use crate::format::deletes::DeletedSet;
use crate::format::envelope::SectionKind;
use crate::format::header::FileKind;
use crate::format::manifest::{DeletesMeta, SegmentMeta};
use crate::format::postings::LongList;
use crate::ids::SegmentId;
use crate::segment::file::{self, Section, SegmentFile, Unsynced};
use crate::storage::Storage;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Writes the deleted documents of a segment, at least one; not yet durable. The number, which is not 0, is
/// never that of an earlier file, not even after a crash.
pub(crate) fn write(
    storage: &dyn Storage,
    segment: SegmentId,
    number: u64,
    set: &mut DeletedSet,
) -> Result<(DeletesMeta, Unsynced)> {
    let name = FileName::Deletes { segment, number };
    let mut writer = file::create_of(FileKind::Deletes, segment, name, storage)?;
    writer.section(None, SectionKind::DELETED, &set.encode())?;
    let n_docs = set.len() as u32; // documents have numbers of 32 bits
    let (seal, file) = file::finish(writer)?;
    Ok((DeletesMeta { number, seal, n_docs }, file))
}

/// The documents of a segment that are deleted.
#[derive(Debug)]
pub(crate) struct DeletedDocs {
    file: SegmentFile,
    header: RoaringHeader,
    /// 8 bytes for each 65,536 documents, so that asking for one does not read them again.
    header_bytes: Box<[u8]>,
    number: u64,
    /// A bit for each document of a container, made when it is first asked for: who asks does so for many.
    bits: Box<[OnceLock<Box<WindowBits>>]>,
}

/// The documents of a window as bits.
type WindowBits = [[u8; 8]; 1024];

impl DeletedDocs {
    /// Opens what a commit says is deleted of a segment.
    pub(crate) fn open(
        storage: &dyn Storage,
        segment: &SegmentMeta,
        meta: &DeletesMeta,
    ) -> Result<DeletedDocs> {
        let name = FileName::Deletes { segment: segment.id, number: meta.number };
        let file = storage.open(&name.to_string())?;
        let file = SegmentFile::open_of(FileKind::Deletes, file, Some((segment.id, meta.seal)))?;
        let section = file.require(None, SectionKind::DELETED)?;
        let (header, header_bytes) = {
            let list = LongList::open(section, 0, section.len())?;
            let last = list.n_containers().checked_sub(1).map(|last| u32::from(list.key(last)));
            let found = match last {
                Some(last) if last > (segment.n_docs - 1) >> 16 => {
                    Some("a container past the segment's end".to_owned())
                }
                _ if list.cardinality() != u64::from(meta.n_docs) => {
                    Some(list.cardinality().to_string())
                }
                _ => None,
            };
            if let Some(found) = found {
                let expected = format!("{} documents below {}", meta.n_docs, segment.n_docs);
                let error = Error::corrupt("opening the deletes of a segment");
                return Err(section.locate(0, error.expected(expected).found(found)));
            }
            list.into_header()
        };
        let header_bytes = Box::from(&*header_bytes);
        let bits = (0..header.n_containers()).map(|_| OnceLock::new()).collect();
        Ok(DeletedDocs { file, header, header_bytes, number: meta.number, bits })
    }

    /// Bytes of the file.
    pub(crate) fn file_len(&self) -> u64 {
        self.file.len()
    }

    /// Whether this is what a commit says of the deletes.
    pub(crate) fn is(&self, meta: &DeletesMeta) -> bool {
        self.number == meta.number && self.file.seal() == meta.seal
    }

    /// Number of deleted documents; at least one.
    pub(crate) fn n_docs(&self) -> u32 {
        self.header.total_cardinality() as u32
    }

    /// The documents as a list.
    pub(crate) fn list(&self) -> Result<LongList<'_, Section<'_>>> {
        let section = self.file.require(None, SectionKind::DELETED)?;
        Ok(LongList::with_header(section, Bytes::Mapped(&self.header_bytes), self.header))
    }

    /// The documents of a window, given their upper half, as a bitmap, with their number; none where nothing is deleted there.
    pub(crate) fn window(&self, key: u32) -> Result<Option<(Container<'_>, u32)>> {
        let found = u16::try_from(key).map(|key| self.header.find(&self.header_bytes, key));
        let Ok(Ok(nth)) = found else { return Ok(None) };
        let bits = match self.bits[nth].get() {
            Some(bits) => bits,
            None => {
                let bits = self.read_bits(nth)?;
                self.bits[nth].get_or_init(|| bits)
            }
        };
        let n = self.header.cardinality(&self.header_bytes, nth);
        Ok(Some((Container::Bitmap(bits), n)))
    }

    #[cold]
    fn read_bits(&self, nth: usize) -> Result<Box<WindowBits>> {
        let (list, mut bits) = (self.list()?, Box::new([[0; 8]; 1024]));
        let payload = list.payload(nth)?;
        for low in list.container(nth, &payload)?.iter().map(usize::from) {
            bits[low / 64][low % 64 / 8] |= 1 << (low % 8);
        }
        Ok(bits)
    }

    /// Whether a document is deleted: a look at its bit.
    pub(crate) fn contains(&self, doc: u32) -> Result<bool> {
        Ok(self.window(doc >> 16)?.is_some_and(|(deleted, _)| deleted.contains(doc as u16)))
    }

    /// Takes what is deleted out of ascending documents of a window, given their upper half.
    pub(crate) fn leave_out(&self, key: u32, lows: &mut Vec<u16>) -> Result<()> {
        if let Some((deleted, _)) = self.window(key)? {
            lows.retain(|low| !deleted.contains(*low));
        }
        Ok(())
    }

    /// Calls `take` with each of them, ascending; an error if one is not below `n_docs`.
    pub(crate) fn for_each(&self, n_docs: u32, mut take: impl FnMut(u32)) -> Result<()> {
        let list = self.list()?;
        for nth in 0..list.n_containers() {
            let payload = list.payload(nth)?;
            let high = u32::from(list.key(nth)) << 16;
            for low in list.container(nth, &payload)?.iter() {
                let doc = high | u32::from(low);
                if doc >= n_docs {
                    return Err(Error::corrupt("reading the deletes of a segment")
                        .expected(format!("documents below {n_docs}"))
                        .found(doc.to_string())
                        .in_file(self.file.path()));
                }
                take(doc);
            }
        }
        Ok(())
    }

    /// Adds them to a set.
    pub(crate) fn add_to(&self, set: &mut DeletedSet) -> Result<()> {
        let list = self.list()?;
        for nth in 0..list.n_containers() {
            let payload = list.payload(nth)?;
            set.add_window(list.key(nth), list.container(nth, &payload)?);
        }
        Ok(())
    }

    /// Reads everything and hands what is wrong to `report`; how much that is.
    pub(crate) fn verify(&self, n_docs: u32, mut report: impl FnMut(Error)) -> u64 {
        let damaged = self.file.verify(&mut report);
        if damaged > 0 {
            return damaged;
        }
        let sound = self.list().and_then(|list| {
            let mut docs = vec![];
            list.decode_into(n_docs, &mut docs)?;
            match docs.len() as u64 == list.cardinality() {
                true => Ok(()),
                false => Err(Error::corrupt("counting the deleted documents of a segment")
                    .expected(list.cardinality().to_string())
                    .found(docs.len().to_string())),
            }
        });
        match sound {
            Ok(()) => 0,
            Err(error) => {
                report(error.in_file(self.file.path()));
                1
            }
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// Bytes of the file.
    pub(crate) fn len(&self) -> u64 {
        self.file.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::format::envelope::Seal;
    use crate::storage::MemoryStorage;

    const DOCS: [u32; 5] = [3, 65_535, 65_536, 70_000, 200_000];

    /// A segment that ends behind the last document that is deleted of it.
    fn segment() -> SegmentMeta {
        let seal = Seal { file_len: 0, footer_crc: 0 };
        SegmentMeta {
            id: SegmentId([5; 16]),
            seal,
            n_docs: 200_001,
            deletes: None,
            n_added_fields: 0,
        }
    }

    fn written(storage: &MemoryStorage, number: u64, docs: &[u32]) -> DeletesMeta {
        let mut set = DeletedSet::default();
        docs.iter().for_each(|doc| set.add(*doc));
        let (meta, mut file) = write(storage, segment().id, number, &mut set).unwrap();
        file.sync().unwrap();
        meta
    }

    #[test]
    fn what_was_written_is_found_again_by_every_way_to_ask() {
        let storage = MemoryStorage::new();
        let meta = written(&storage, 1, &DOCS);
        let deleted = DeletedDocs::open(&storage, &segment(), &meta).unwrap();
        assert_eq!((deleted.n_docs(), meta.n_docs), (5, 5));
        let is_deleted = |doc: &u32| deleted.contains(*doc).unwrap();
        assert!(DOCS.iter().all(is_deleted));
        // Neighbours; a window without any between two that have some; one behind all.
        let others =
            [0, 2, 4, 65_534, 65_537, 131_072 + 3_392, 199_999, 200_001, 262_144 + 3, u32::MAX];
        assert!(!others.iter().any(is_deleted));
        for (key, left) in [
            (0, vec![2, 4]),
            (1, vec![2, 3]),
            (2, vec![2, 3, 3_392, 65_535]),
            (9, vec![3]),
            (1 << 16, vec![3]),
        ] {
            let mut lows: Vec<u16> = left.clone();
            lows.extend(DOCS.iter().filter(|doc| **doc >> 16 == key).map(|doc| *doc as u16));
            lows.sort_unstable();
            deleted.leave_out(key, &mut lows).unwrap();
            assert_eq!(lows, left, "window {key}");
        }
        let (mut all, mut set) = (vec![], DeletedSet::default());
        deleted.for_each(segment().n_docs, |doc| all.push(doc)).unwrap();
        assert_eq!(all, DOCS);
        set.add(7);
        deleted.add_to(&mut set).unwrap();
        assert_eq!(set.len(), 6);
        assert_eq!(deleted.verify(segment().n_docs, |error| panic!("{error}")), 0);
        let len = storage.open(&FileName::Deletes { segment: segment().id, number: 1 }.to_string());
        let len = len.unwrap().len();
        assert_eq!((deleted.len(), deleted.file_len(), meta.seal.file_len), (len, len, len));
    }

    #[test]
    fn deletes_that_do_not_fit_the_manifest_are_refused() {
        let storage = MemoryStorage::new();
        let meta = written(&storage, 1, &DOCS);
        let refused = |segment: SegmentMeta, meta: DeletesMeta| {
            DeletedDocs::open(&storage, &segment, &meta)
                .map_or_else(|error| error.kind() == ErrorKind::Corrupt, |_| false)
        };
        assert!(!refused(segment(), meta));
        for n_docs in [meta.n_docs - 1, meta.n_docs + 1] {
            assert!(refused(segment(), DeletesMeta { n_docs, ..meta }), "{n_docs} documents");
        }
        let seal = Seal { footer_crc: meta.seal.footer_crc ^ 1, ..meta.seal };
        assert!(refused(segment(), DeletesMeta { seal, ..meta }), "another content");
        // The last of them is in the window that begins at 196,608.
        assert!(refused(SegmentMeta { n_docs: 3 << 16, ..segment() }, meta));
        let inside = SegmentMeta { n_docs: (3 << 16) + 1, ..segment() };
        assert!(!refused(inside, meta), "opening reads no further than the windows");
    }

    /// Opening does not look at each document, so whoever takes them does.
    #[test]
    fn a_deleted_document_behind_the_segment_is_damage() {
        let storage = MemoryStorage::new();
        let meta = written(&storage, 1, &DOCS);
        let segment = SegmentMeta { n_docs: 200_000, ..segment() };
        let deleted = DeletedDocs::open(&storage, &segment, &meta).unwrap();
        let error = deleted.for_each(segment.n_docs, |_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let mut told = vec![];
        assert_eq!(deleted.verify(segment.n_docs, |error| told.push(error.kind())), 1);
        assert_eq!(told, [ErrorKind::Corrupt]);
    }

    /// Opening looks at the windows only.
    #[test]
    fn what_is_damaged_behind_the_windows_is_told_once_and_counted() {
        let storage = MemoryStorage::new();
        let (segment, name) = (segment(), FileName::Deletes { segment: segment().id, number: 1 });
        let every_second: Vec<u32> = (0..segment.n_docs).step_by(2).collect();
        let meta = written(&storage, 1, &every_second);
        let mut bytes = vec![0; storage.open(&name.to_string()).unwrap().len() as usize];
        storage.open(&name.to_string()).unwrap().read_at(0, &mut bytes).unwrap();
        bytes[20_000] ^= 1;
        storage.delete(&name.to_string()).unwrap();
        let mut file = storage.create(&name.to_string()).unwrap();
        file.write_all(&bytes).unwrap();
        drop(file);
        let deleted = DeletedDocs::open(&storage, &segment, &meta).unwrap();
        let mut told = vec![];
        assert_eq!(deleted.verify(segment.n_docs, |error| told.push(error.kind())), 1);
        assert_eq!(told, [ErrorKind::Corrupt]);
    }

    #[test]
    fn windows_that_have_other_documents_than_they_count_are_damage() {
        let storage = MemoryStorage::new();
        let mut set = DeletedSet::default();
        (0..60_000).step_by(2).for_each(|doc| set.add(doc));
        let mut bytes = set.encode();
        // One document less in the bitmap, and a right checksum.
        let last = bytes.iter_mut().rfind(|byte| **byte == 0x55).unwrap();
        *last = 0x54;
        let name = FileName::Deletes { segment: segment().id, number: 1 };
        let mut writer = file::create_of(FileKind::Deletes, segment().id, name, &storage).unwrap();
        writer.section(None, SectionKind::DELETED, &bytes).unwrap();
        let (seal, _file) = file::finish(writer).unwrap();
        let meta = DeletesMeta { number: 1, seal, n_docs: 30_000 };
        let deleted = DeletedDocs::open(&storage, &segment(), &meta).unwrap();
        let mut told = vec![];
        assert_eq!(deleted.verify(segment().n_docs, |error| told.push(error.to_string())), 1);
        assert!(told[0].contains("counting the deleted documents"), "{}", told[0]);
    }

    /// Else a reader would go on with what an earlier commit says.
    #[test]
    fn deletes_are_known_again_by_number_and_content() {
        let storage = MemoryStorage::new();
        let [first, second] = [written(&storage, 1, &DOCS), written(&storage, 2, &DOCS[1..])];
        let deleted = DeletedDocs::open(&storage, &segment(), &first).unwrap();
        assert!(deleted.is(&first));
        assert!(!deleted.is(&second));
        assert!(!deleted.is(&DeletesMeta { number: 2, ..first }));
        assert!(!deleted.is(&DeletesMeta { seal: second.seal, ..first }));
    }
}
