//! Finding the newest commit and opening what it names.
//!
//! The manifest with the highest generation in its name *is* the index. If it, or a file it names, is
//! damaged or missing, opening fails: going back to an older commit silently would be losing
//! documents that were acknowledged.
//!
//! A reader holds a shared lock on its manifest ([`Pin`]), which keeps the writer's clean-up from
//! taking away the files. Between listing the directory and pinning, a manifest may be superseded and
//! collected; then there is a newer one, and the reader starts again with that.

use crate::analysis::TermVersions;
use crate::error::{Error, ErrorKind, Result};
use crate::format::header::{self, FileKind, HEADER_LEN};
use crate::format::manifest::{
    DeletesMeta, MANIFEST_BYTES_MAX, Manifest, SegmentMeta, writer_version,
};
use crate::format::{FileName, image};
use crate::ids::SegmentId;
use crate::schema::Schema;
use crate::segment::added_fields::AddedFields;
use crate::segment::deletes::DeletedDocs;
use crate::segment::file::SegmentFile;
use crate::segment::reader::SegmentReader;
use crate::storage::{ImageBytes, MemoryStorage, Pin, Storage};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Contents of a storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Nothing at all, or what a first build left that never came to its first commit.
    NoCommit,
    /// The generations of an index, ascending, not empty.
    Commits(Vec<u64>),
    /// Something that is not ours; the name of one such thing.
    Foreign(String),
}

/// Looks at the names in a storage, not into the files.
pub(crate) fn contents(storage: &dyn Storage) -> Result<Contents> {
    let (mut generations, mut foreign) = (vec![], None);
    for entry in storage.list()? {
        match FileName::parse(&entry.name) {
            Some(FileName::Manifest(generation)) => generations.push(generation),
            Some(_) => {}
            None => foreign = foreign.or(Some(entry.name)),
        }
    }
    generations.sort_unstable();
    Ok(match foreign {
        _ if !generations.is_empty() => Contents::Commits(generations),
        Some(name) => Contents::Foreign(name),
        None => Contents::NoCommit,
    })
}

/// Reads the manifest of a generation; an error of kind `NotFound` if it is not there.
pub(crate) fn read_manifest(storage: &dyn Storage, generation: u64) -> Result<Manifest> {
    let bytes = read_manifest_bytes(storage, generation)?;
    let path = storage.location().join(FileName::Manifest(generation).to_string());
    Manifest::decode(&bytes, generation).map_err(|error| error.in_file(path))
}

/// The bytes of a commit's manifest, whatever they are.
pub(crate) fn read_manifest_bytes(storage: &dyn Storage, generation: u64) -> Result<Vec<u8>> {
    let file = storage.open(&FileName::Manifest(generation).to_string())?;
    if file.len() > MANIFEST_BYTES_MAX {
        return Err(Error::corrupt("reading a manifest")
            .expected(format!("at most {MANIFEST_BYTES_MAX} bytes"))
            .found(file.len().to_string())
            .in_file(file.path()));
    }
    // Copied even where it is mapped: it is small, and it is looked at more than once.
    let mut bytes = vec![0; file.len() as usize];
    file.read_at(0, &mut bytes)?;
    Ok(bytes)
}

/// Whether a manifest or a segment says of itself that it is of an older format than this build reads; not if it is
/// damaged or anything else.
pub(crate) fn is_of_older_format(storage: &dyn Storage, name: FileName) -> Result<bool> {
    let kind = match name {
        FileName::Manifest(_) => FileKind::Manifest,
        FileName::Segment(_) => FileKind::Segment,
        FileName::Deletes { .. } => FileKind::Deletes,
        _ => return Ok(false),
    };
    let file = storage.open(&name.to_string())?;
    let mut start = [0; HEADER_LEN];
    if file.len() < start.len() as u64 {
        return Ok(false);
    }
    file.read_at(0, &mut start)?;
    Ok(header::is_of_older_format(&start, kind))
}

/// The newest commit as one image in memory, with every byte checked.
pub(crate) fn to_image(storage: &dyn Storage) -> Result<Vec<u8>> {
    let snapshot = Snapshot::open(storage)?;
    let generation = snapshot.manifest.generation;
    let segments = snapshot.manifest.segments.iter().flat_map(SegmentMeta::files);
    let names: Vec<_> = std::iter::once(FileName::Manifest(generation)).chain(segments).collect();
    for (at, segment) in snapshot.segments.iter().enumerate() {
        let mut first = None;
        segment.verify(|error| {
            first.get_or_insert(error);
        });
        if let Some(deletes) = &snapshot.deletes[at] {
            deletes.verify(snapshot.manifest.segments[at].n_docs, |error| {
                first.get_or_insert(error);
            });
        }
        first.map_or(Ok(()), Err)?;
    }
    let contents = names.iter().map(|name| {
        let file = storage.open(&name.to_string())?;
        let mut bytes = vec![0; file.len() as usize];
        file.read_at(0, &mut bytes).map(|()| bytes)
    });
    let contents = contents.collect::<Result<Vec<_>>>()?;
    let files: Vec<_> = names.into_iter().zip(contents.iter().map(Vec::as_slice)).collect();
    Ok(image::encode(snapshot.manifest.index_id, &files))
}

/// An image as a storage, to open snapshots of it. Nothing is copied.
pub(crate) fn image_storage(image: impl Into<ImageBytes>) -> Result<MemoryStorage> {
    let image = image.into();
    let files = image::decode(image.as_slice())?;
    let parts = files.into_iter().map(|(name, range)| (name.to_string(), range));
    MemoryStorage::from_parts(image, parts)
}

/// One commit, open: its manifest, its segments, and the lock that keeps them. Or what a writer of this process has
/// flushed beyond a commit: then the manifest is the one that it would write.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) manifest: Manifest,
    /// 0 for a commit; else what tells flushes beyond the same commit apart, and grows.
    flush: u64,
    /// In the order of the manifest, which is that of the documents.
    pub(crate) segments: Vec<Arc<SegmentFile>>,
    /// Deleted documents of each segment.
    pub(crate) deletes: Vec<Option<Arc<DeletedDocs>>>,
    _pin: Option<Pin>,
}

impl Snapshot {
    /// Opens the newest commit.
    pub(crate) fn open(storage: &dyn Storage) -> Result<Snapshot> {
        Self::open_after(storage, None)
    }

    /// An index without documents and without a file, as it is before its first commit.
    pub(crate) fn empty(schema: Schema) -> Snapshot {
        let manifest = Manifest {
            index_id: SegmentId::random(),
            generation: 0,
            previous: 0,
            writer: writer_version(),
            term_versions: TermVersions::CURRENT,
            schema,
            segments: vec![],
            payload: vec![],
            writable: true,
        };
        Snapshot { manifest, flush: 0, segments: vec![], deletes: vec![], _pin: None }
    }

    /// Opens the newest commit and takes over the open segments of `before`, with what is known of
    /// their checksums, where the two share any.
    pub(crate) fn open_after(storage: &dyn Storage, before: Option<&Snapshot>) -> Result<Snapshot> {
        let mut gone: Option<(u64, Error)> = None;
        loop {
            let newest = newest(storage)?;
            if let Some((generation, error)) = gone.take_if(|(generation, _)| *generation >= newest)
            {
                return Err(missing(storage, generation, error));
            }
            match Self::open_generation(storage, newest, before) {
                Err(error) if error.kind() == ErrorKind::NotFound => gone = Some((newest, error)),
                opened => return opened,
            }
        }
    }

    /// The newest commit's manifest alone, without a look at its segments.
    pub(crate) fn manifest(storage: &dyn Storage) -> Result<Manifest> {
        loop {
            let generation = newest(storage)?;
            match read_manifest(storage, generation) {
                // Collected since it was listed: then there is a newer one.
                Err(error)
                    if error.kind() == ErrorKind::NotFound && newest(storage)? > generation => {}
                read => return read,
            }
        }
    }

    fn open_generation(
        storage: &dyn Storage,
        generation: u64,
        before: Option<&Snapshot>,
    ) -> Result<Snapshot> {
        let pin = storage.pin(&FileName::Manifest(generation).to_string())?;
        let manifest = read_manifest(storage, generation)?;
        Self::open_files(storage, manifest, 0, Some(pin), before)
    }

    /// Opens what the writer has just committed.
    pub(crate) fn of_commit(
        storage: &dyn Storage,
        manifest: Manifest,
        before: Option<&Snapshot>,
    ) -> Result<Snapshot> {
        let pin = storage.pin(&FileName::Manifest(manifest.generation).to_string())?;
        Self::open_files(storage, manifest, 0, Some(pin), before)
    }

    /// Opens what the writer has made and not committed, of which the manifest is not written. There is nothing to pin:
    /// files stay readable as long as they are open.
    pub(crate) fn of_flush(
        storage: &dyn Storage,
        manifest: Manifest,
        flush: u64,
        before: Option<&Snapshot>,
    ) -> Result<Snapshot> {
        Self::open_files(storage, manifest, flush, None, before)
    }

    fn open_files(
        storage: &dyn Storage,
        manifest: Manifest,
        flush: u64,
        pin: Option<Pin>,
        before: Option<&Snapshot>,
    ) -> Result<Snapshot> {
        let open = |meta: &SegmentMeta| {
            let known = before.and_then(|snapshot| snapshot.segment_of(meta));
            let schema = &manifest.schema;
            known
                .filter(|file| AddedFields::are(file.added(), schema, meta))
                .map_or_else(|| open_segment(storage, schema, meta), |segment| Ok(segment.clone()))
        };
        let segments = manifest.segments.iter().map(open).collect::<Result<_>>()?;
        let open = |meta: &SegmentMeta| Self::open_deletes_of(storage, meta, before);
        let deletes = manifest.segments.iter().map(open).collect::<Result<_>>()?;
        Ok(Snapshot { manifest, flush, segments, deletes, _pin: pin })
    }

    /// A number that no other snapshot has: of its schema, of the names of its files, which are random, and of its number.
    pub(crate) fn content(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let Manifest { index_id, generation, payload, schema, .. } = &self.manifest;
        (index_id, generation, payload, schema).hash(&mut hasher);
        let files = self.manifest.segments.iter().flat_map(SegmentMeta::files);
        files.for_each(|name| name.hash(&mut hasher));
        hasher.finish()
    }

    /// Makes it the successor of a flush that is taken back, and older than the next flush: those have even numbers.
    pub(crate) fn instead_of_flush(self, flush: u64) -> Snapshot {
        Snapshot { flush: flush | 1, ..self }
    }

    /// Whether it shows what no commit has.
    pub(crate) fn is_flushed(&self) -> bool {
        self.flush > 0 && self.flush.is_multiple_of(2)
    }

    /// Number among the snapshots of its commit; 0 for the commit itself.
    pub(crate) fn flush(&self) -> u64 {
        self.flush
    }

    /// Version, which grows from each snapshot of an index to the next: the number of the commit, and that of the flush
    /// beyond it.
    pub(crate) fn version(&self) -> (u64, u64) {
        (self.manifest.generation, self.flush)
    }

    /// Opens one segment of a commit, whatever the others are like.
    pub(crate) fn open_segment_of(
        storage: &dyn Storage,
        manifest: &Manifest,
        meta: &SegmentMeta,
    ) -> Result<Arc<SegmentFile>> {
        debug_assert!(manifest.segments.contains(meta), "a segment of this commit");
        open_segment(storage, &manifest.schema, meta)
    }

    /// A segment that was opened by itself.
    pub(crate) fn reader_of<'s>(
        file: &'s SegmentFile,
        manifest: &'s Manifest,
        meta: &SegmentMeta,
    ) -> SegmentReader<'s> {
        SegmentReader::new(file, &manifest.schema, meta.n_docs)
    }

    /// The segments with what the manifest says of them.
    pub(crate) fn readers(&self) -> impl ExactSizeIterator<Item = SegmentReader<'_>> + Clone {
        let parts = self.manifest.segments.iter().zip(&self.segments).zip(&self.deletes);
        parts.map(|((meta, file), deletes)| {
            SegmentReader::new(file, &self.manifest.schema, meta.n_docs).without(deletes.as_ref())
        })
    }

    /// Opens what is deleted of a segment, unless `before` has it open.
    pub(crate) fn open_deletes_of(
        storage: &dyn Storage,
        segment: &SegmentMeta,
        before: Option<&Snapshot>,
    ) -> Result<Option<Arc<DeletedDocs>>> {
        let Some(deletes) = &segment.deletes else { return Ok(None) };
        let known = before.and_then(|snapshot| snapshot.deletes_of(segment.id, deletes));
        match known {
            Some(known) => Ok(Some(Arc::clone(known))),
            None => DeletedDocs::open(storage, segment, deletes).map(Arc::new).map(Some),
        }
    }

    fn deletes_of(&self, segment: SegmentId, meta: &DeletesMeta) -> Option<&Arc<DeletedDocs>> {
        let at = self.manifest.segments.iter().position(|known| known.id == segment)?;
        self.deletes.get(at)?.as_ref().filter(|deletes| deletes.is(meta))
    }

    fn segment_of(&self, meta: &SegmentMeta) -> Option<&Arc<SegmentFile>> {
        let mut metas = self.manifest.segments.iter();
        let at = metas.position(|known| known.id == meta.id && known.seal == meta.seal)?;
        self.segments.get(at)
    }
}

/// Listings after one without a manifest. A large directory that changes while it is listed may show neither the manifest that a
/// writer deletes nor the one that it has just made.
const LISTED_AGAIN: usize = 4;

/// The number of the newest commit.
pub(crate) fn newest(storage: &dyn Storage) -> Result<u64> {
    let not_an_index = |found: String| {
        Error::new(ErrorKind::NotAnIndex, "opening an index")
            .expected("a directory with a manifest in it")
            .found(found)
            .in_file(storage.location())
    };
    let mut found = contents(storage)?;
    for _ in 0..LISTED_AGAIN {
        if matches!(found, Contents::Commits(_)) {
            break;
        }
        found = contents(storage)?;
    }
    match found {
        Contents::Commits(generations) => {
            generations.last().copied().ok_or_else(|| not_an_index("none".into()))
        }
        Contents::NoCommit => {
            let is_segment =
                |name: &str| matches!(FileName::parse(name), Some(FileName::Segment(_)));
            let hint = match storage.list()?.iter().any(|entry| is_segment(&entry.name)) {
                true => {
                    "its first build has not finished, or its manifests were deleted, which name the fields of its segments: \
                     take a copy, or index the input again, which removes them"
                }
                false => {
                    "it is empty, or its first build has not finished; `treepie index` makes an index"
                }
            };
            Err(not_an_index("none".into()).hint(hint))
        }
        Contents::Foreign(name) => Err(not_an_index(format!("other files, such as {name:?}"))),
    }
}

/// Opens the file of a segment of an index of this schema.
pub(crate) fn open_segment(
    storage: &dyn Storage,
    schema: &Schema,
    meta: &SegmentMeta,
) -> Result<Arc<SegmentFile>> {
    let file = storage.open(&FileName::Segment(meta.id).to_string())?;
    let file = SegmentFile::open(file, Some((meta.id, meta.seal)))?;
    Ok(Arc::new(file.with_added(AddedFields::of(schema, meta))))
}

/// A file of the newest commit is not there, and no newer commit explains it.
fn missing(storage: &dyn Storage, generation: u64, error: Error) -> Error {
    let name = FileName::Manifest(generation);
    let file = error.file().map_or_else(|| storage.location(), Into::into);
    Error::corrupt(format!("opening the commit {name}"))
        .expected("every file it consists of")
        .found("none of this name")
        .in_file(file)
        .hint("a file of the index was deleted, or not copied along")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Source;
    use crate::checksum::crc32c;
    use crate::format::FORMAT_VERSION;
    use crate::format::deletes::DeletedSet;
    use crate::format::envelope::SectionKind;
    use crate::format::header::Header;
    use crate::segment::{deletes, file};

    fn put(storage: &dyn Storage, name: &str, bytes: &[u8]) {
        storage.create(name).unwrap().write_all(bytes).unwrap();
    }

    fn segment(storage: &dyn Storage, n: u8) -> SegmentMeta {
        let id = SegmentId([n; 16]);
        let mut writer = file::create(storage, id).unwrap();
        writer.section(None, SectionKind::STATISTICS, &[n; 10]).unwrap();
        SegmentMeta {
            id,
            seal: file::seal(writer).unwrap(),
            n_docs: u32::from(n),
            deletes: None,
            n_added_fields: 0,
        }
    }

    fn manifest(storage: &dyn Storage, generation: u64, segments: &[SegmentMeta]) {
        let manifest = Manifest {
            index_id: SegmentId([0; 16]),
            generation,
            previous: generation - 1,
            writer: [0, 1, 0],
            term_versions: TermVersions::CURRENT,
            schema: Schema::of_titles(),
            segments: segments.to_vec(),
            payload: vec![],
            writable: true,
        };
        put(storage, &FileName::Manifest(generation).to_string(), &manifest.encode().unwrap());
    }

    #[test]
    fn the_highest_generation_is_the_index_and_nothing_else_will_do() {
        let storage = MemoryStorage::new();
        let (one, two) = (segment(&storage, 1), segment(&storage, 2));
        manifest(&storage, 9, &[one]);
        manifest(&storage, 10, &[one, two]);
        let snapshot = Snapshot::open(&storage).unwrap();
        assert_eq!((snapshot.manifest.generation, snapshot.segments.len()), (10, 2));
        assert_eq!(snapshot.segments[1].id(), two.id);

        put(&storage, "manifest-000000000000000b", b"rubbish");
        let error = Snapshot::open(&storage).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("manifest-000000000000000b"), "{error}");
    }

    #[test]
    fn a_missing_or_exchanged_segment_is_damage() {
        let storage = MemoryStorage::new();
        let (one, two) = (segment(&storage, 1), segment(&storage, 2));
        manifest(&storage, 1, &[one, two]);
        let [first, second] = [one, two].map(|meta| FileName::Segment(meta.id).to_string());
        storage.delete(&second).unwrap();
        let error = Snapshot::open(&storage).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains(&second), "{error}");
        storage.publish(&first, &second).unwrap();
        let manifest_of_two = [FileName::Manifest(1).to_string()];
        manifest_of_two.iter().for_each(|name| storage.delete(name).unwrap());
        manifest(&storage, 2, &[two]);
        assert_eq!(Snapshot::open(&storage).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn strangers_and_beginnings_are_no_index() {
        let storage = MemoryStorage::new();
        assert_eq!(contents(&storage).unwrap(), Contents::NoCommit);
        assert_eq!(Snapshot::open(&storage).unwrap_err().kind(), ErrorKind::NotAnIndex);
        segment(&storage, 1);
        assert_eq!(contents(&storage).unwrap(), Contents::NoCommit);
        put(&storage, "holiday.jpg", b"");
        assert_eq!(contents(&storage).unwrap(), Contents::Foreign("holiday.jpg".into()));
        let message = Snapshot::open(&storage).unwrap_err().to_string();
        assert!(message.contains("holiday.jpg"), "{message}");
        manifest(&storage, 1, &[]);
        assert_eq!(contents(&storage).unwrap(), Contents::Commits(vec![1]));
        Snapshot::open(&storage).unwrap();
    }

    #[test]
    fn an_open_snapshot_pins_its_manifest_and_hands_on_its_segments() {
        let storage = MemoryStorage::new();
        let (one, two) = (segment(&storage, 1), segment(&storage, 2));
        manifest(&storage, 1, &[one]);
        let before = Snapshot::open(&storage).unwrap();
        manifest(&storage, 2, &[one, two]);
        let name = FileName::Manifest(1).to_string();
        assert!(!storage.delete_unless_pinned(&name).unwrap());
        let after = Snapshot::open_after(&storage, Some(&before)).unwrap();
        assert!(Arc::ptr_eq(&before.segments[0], &after.segments[0]));
        drop(before);
        assert!(storage.delete_unless_pinned(&name).unwrap());
        // The writer's own, of what it has just committed, keeps it too.
        let name = FileName::Manifest(2).to_string();
        let committed =
            Snapshot::of_commit(&storage, after.manifest.clone(), Some(&after)).unwrap();
        drop(after);
        assert!(!storage.delete_unless_pinned(&name).unwrap());
        drop(committed);
        assert!(storage.delete_unless_pinned(&name).unwrap());
    }

    #[test]
    fn what_a_flush_that_is_taken_back_leaves_is_newer_than_it() {
        let storage = MemoryStorage::new();
        manifest(&storage, 1, &[]);
        let commit = Snapshot::open(&storage).unwrap();
        let flush = |n| Snapshot::of_flush(&storage, commit.manifest.clone(), n, None).unwrap();
        let (flushed, next) = (flush(2), flush(4));
        assert!(flushed.version() > commit.version());
        assert!(flushed.is_flushed() && !commit.is_flushed());
        let instead = commit.instead_of_flush(flushed.flush());
        assert!(flushed.version() < instead.version() && instead.version() < next.version());
        assert!(!instead.is_flushed());
    }

    #[test]
    fn an_image_is_the_newest_commit_and_nothing_is_copied_out_of_it() {
        let storage = MemoryStorage::new();
        let (one, two) = (segment(&storage, 1), segment(&storage, 2));
        manifest(&storage, 1, &[one]);
        manifest(&storage, 2, &[one, two]);
        let image: &'static [u8] = to_image(&storage).unwrap().leak();
        let snapshot = Snapshot::open(&image_storage(image).unwrap()).unwrap();
        assert_eq!(snapshot.manifest, Snapshot::open(&storage).unwrap().manifest);
        let section = snapshot.segments[1].require(None, SectionKind::STATISTICS).unwrap();
        let bytes = section.bytes(0..10).unwrap();
        assert_eq!(*bytes, [2; 10]);
        assert!(image.as_ptr_range().contains(&bytes.as_ptr()));
        let mut damaged = image.to_vec();
        let at = bytes.as_ptr().addr() - image.as_ptr().addr();
        damaged[at] ^= 1;
        let snapshot = Snapshot::open(&image_storage(damaged).unwrap()).unwrap();
        let section = snapshot.segments[1].require(None, SectionKind::STATISTICS).unwrap();
        assert_eq!(section.bytes(0..10).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(image_storage(&b"rubbish"[..]).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    /// A storage where the newest commit is collected each time somebody is about to pin or read it, as long
    /// as there is a newer one to come.
    #[derive(Debug)]
    struct Moving(MemoryStorage, std::sync::atomic::AtomicU64, HiddenIn);

    /// Listings to come that show no manifest.
    type HiddenIn = std::sync::atomic::AtomicU64;

    /// From this generation on it says of each file that there is none, whatever it lists.
    const LOST: u64 = 100;

    impl Moving {
        fn go_on(&self) {
            let generation = self.1.load(std::sync::atomic::Ordering::Relaxed);
            if generation < 5 {
                manifest(&self.0, generation + 1, &[]);
                self.0.delete(&FileName::Manifest(generation).to_string()).unwrap();
                self.1.store(generation + 1, std::sync::atomic::Ordering::Relaxed);
            }
        }
    }

    impl Storage for Moving {
        fn pin(&self, name: &str) -> Result<Pin> {
            self.go_on();
            self.0.pin(name)
        }
        fn create(&self, name: &str) -> Result<Box<dyn crate::storage::StorageWrite>> {
            self.0.create(name)
        }
        fn open(&self, name: &str) -> Result<Arc<dyn crate::storage::StorageRead>> {
            self.go_on();
            if self.1.load(std::sync::atomic::Ordering::Relaxed) >= LOST {
                let n_asked = self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed) - LOST;
                assert!(n_asked < 10, "it asks for ever");
                return Err(Error::io("opening", std::io::ErrorKind::NotFound.into()));
            }
            self.0.open(name)
        }
        fn list(&self) -> Result<Vec<crate::storage::Entry>> {
            use std::sync::atomic::Ordering::Relaxed;
            let mut all = self.0.list()?;
            if self.2.load(Relaxed) > 0 {
                self.2.fetch_sub(1, Relaxed);
                all.retain(|entry| {
                    !matches!(FileName::parse(&entry.name), Some(FileName::Manifest(_)))
                });
            }
            Ok(all)
        }
        fn delete(&self, name: &str) -> Result<()> {
            self.0.delete(name)
        }
        fn publish(&self, from: &str, to: &str) -> Result<()> {
            self.0.publish(from, to)
        }
        fn sync_names(&self) -> Result<()> {
            self.0.sync_names()
        }
        fn lock_writer(&self) -> Result<crate::storage::WriterLock> {
            self.0.lock_writer()
        }
        fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
            self.0.delete_unless_pinned(name)
        }
        fn location(&self) -> std::path::PathBuf {
            self.0.location()
        }
    }

    #[test]
    fn a_reader_follows_as_long_as_the_index_moves_forward() {
        let moving = || {
            let storage = MemoryStorage::new();
            manifest(&storage, 1, &[]);
            Moving(storage, 1.into(), 0.into())
        };
        assert_eq!(Snapshot::open(&moving()).unwrap().manifest.generation, 5);
        assert_eq!(Snapshot::manifest(&moving()).unwrap().generation, 5);
        // And no longer.
        let lost = || {
            let storage = MemoryStorage::new();
            manifest(&storage, 1, &[]);
            Moving(storage, LOST.into(), 0.into())
        };
        assert_eq!(Snapshot::manifest(&lost()).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(Snapshot::open(&lost()).is_err());
    }

    #[test]
    fn a_listing_that_misses_the_manifest_is_asked_for_again() {
        for other in [None, Some("holiday.jpg")] {
            let opened = |n_hidden: u64| {
                let storage = MemoryStorage::new();
                manifest(&storage, 1, &[]);
                other.iter().for_each(|name| put(&storage, name, b""));
                Snapshot::open(&Moving(storage, 5.into(), n_hidden.into()))
            };
            for n_hidden in [0, 1, LISTED_AGAIN as u64] {
                assert_eq!(opened(n_hidden).unwrap().manifest.generation, 1);
            }
            assert_eq!(opened(1_000).unwrap_err().kind(), ErrorKind::NotAnIndex);
        }
    }

    /// Results that were kept for one snapshot would be given for another.
    #[test]
    fn snapshots_of_different_content_are_told_apart() {
        let storage = MemoryStorage::new();
        let segments = [segment(&storage, 1), segment(&storage, 2)];
        manifest(&storage, 1, &segments);
        let first = Snapshot::open(&storage).unwrap().manifest;
        let content = |manifest: &Manifest| {
            Snapshot::of_flush(&storage, manifest.clone(), 1, None).unwrap().content()
        };
        let set = &mut DeletedSet::default();
        set.add(0);
        let (meta, _file) = deletes::write(&storage, segments[1].id, 7, set).unwrap();
        let deleted = SegmentMeta { deletes: Some(meta), ..segments[1] };
        let others = [
            Manifest { index_id: SegmentId([9; 16]), ..first.clone() },
            Manifest { generation: 2, ..first.clone() },
            Manifest { payload: vec![0], ..first.clone() },
            Manifest { schema: Schema::builder().text("t").build().unwrap(), ..first.clone() },
            Manifest { segments: vec![segments[0]], ..first.clone() },
            Manifest { segments: vec![segments[0], deleted], ..first.clone() },
        ];
        assert_eq!(content(&first), content(&first));
        for (nth, other) in others.iter().enumerate() {
            assert_ne!(content(&first), content(other), "{nth}");
        }
    }

    /// A name may come back with other bytes, as where an index was deleted and restored from a copy.
    #[test]
    fn only_what_is_the_same_is_taken_over_from_the_snapshot_before() {
        let storage = MemoryStorage::new();
        let (one, two) = (segment(&storage, 1), segment(&storage, 2));
        let deletes_of = |meta: SegmentMeta, number: u64, doc: u32| {
            let set = &mut DeletedSet::default();
            set.add(doc);
            let (deletes, _file) = deletes::write(&storage, meta.id, number, set).unwrap();
            SegmentMeta { deletes: Some(deletes), ..meta }
        };
        let (one, two) = (deletes_of(one, 7, 0), deletes_of(two, 7, 1));
        manifest(&storage, 1, &[one, two]);
        let before = Snapshot::open(&storage).unwrap();
        let other = deletes_of(two, 8, 0);
        manifest(&storage, 2, &[other]);
        let after = Snapshot::open_after(&storage, Some(&before)).unwrap();
        assert!(Arc::ptr_eq(&before.segments[1], &after.segments[0]));
        assert!(after.deletes[0].as_ref().unwrap().contains(0).unwrap(), "those of now");
        assert_eq!(after.readers().map(|reader| reader.n_live()).sum::<u32>(), 1);

        manifest(&storage, 3, &[two, one]);
        let again = Snapshot::open_after(&storage, Some(&before)).unwrap();
        for (now, then) in [(0, 1), (1, 0)] {
            let [now, then] = [again.deletes[now].as_ref(), before.deletes[then].as_ref()];
            assert!(Arc::ptr_eq(now.unwrap(), then.unwrap()));
        }

        let name = FileName::Segment(one.id).to_string();
        storage.delete(&name).unwrap();
        let mut writer = file::create(&storage, one.id).unwrap();
        writer.section(None, SectionKind::STATISTICS, &[9; 10]).unwrap();
        let exchanged = SegmentMeta { seal: file::seal(writer).unwrap(), deletes: None, ..one };
        manifest(&storage, 4, &[exchanged]);
        let after = Snapshot::open_after(&storage, Some(&again)).unwrap();
        let section = after.segments[0].require(None, SectionKind::STATISTICS).unwrap();
        assert_eq!(*section.bytes(0..10).unwrap(), [9; 10]);
    }

    #[test]
    fn no_image_is_made_of_an_index_with_damage() {
        let storage = MemoryStorage::new();
        let one = SegmentMeta { n_docs: 3 << 16, ..segment(&storage, 1) };
        let set = &mut DeletedSet::default();
        (0..one.n_docs).step_by(2).for_each(|doc| set.add(doc));
        let (meta, _file) = deletes::write(&storage, one.id, 7, set).unwrap();
        manifest(&storage, 1, &[SegmentMeta { deletes: Some(meta), ..one }]);
        to_image(&storage).unwrap();
        // Opening does not look behind the first block of the deletes, nor into a section.
        let deletes = (FileName::Deletes { segment: one.id, number: 7 }, 20_000);
        for (name, at) in [deletes, (FileName::Segment(one.id), HEADER_LEN + 9)] {
            let name = name.to_string();
            let file = storage.open(&name).unwrap();
            let mut bytes = vec![0; file.len() as usize];
            file.read_at(0, &mut bytes).unwrap();
            for flip in [1, 0] {
                bytes[at] ^= flip;
                storage.delete(&name).unwrap();
                put(&storage, &name, &bytes);
                bytes[at] ^= flip;
                Snapshot::open(&storage).unwrap();
                assert_eq!(to_image(&storage).is_err(), flip == 1, "{name}");
            }
        }
    }

    #[test]
    fn what_says_nothing_of_its_format_is_of_no_older_one() {
        let storage = MemoryStorage::new();
        let mut older = Header::encode(FileKind::Manifest, SegmentId([0; 16]), 0);
        older[10..12].copy_from_slice(&(FORMAT_VERSION.0 - 1).to_le_bytes());
        let crc = crc32c(&older[..60]);
        older[60..].copy_from_slice(&crc.to_le_bytes());
        for (generation, len) in [0, 1, HEADER_LEN - 1, HEADER_LEN].into_iter().enumerate() {
            let name = FileName::Manifest(generation as u64);
            put(&storage, &name.to_string(), &older[..len]);
            let is_older = is_of_older_format(&storage, name).unwrap();
            assert_eq!(is_older, len == HEADER_LEN, "{len} bytes");
        }
    }

    #[test]
    fn a_manifest_that_is_too_long_is_not_read() {
        let storage = MemoryStorage::new();
        for (generation, len) in [(1, MANIFEST_BYTES_MAX), (2, MANIFEST_BYTES_MAX + 1)] {
            let name = FileName::Manifest(generation).to_string();
            put(&storage, &name, &vec![0; len as usize]);
        }
        assert_eq!(read_manifest_bytes(&storage, 1).unwrap().len() as u64, MANIFEST_BYTES_MAX);
        assert_eq!(read_manifest_bytes(&storage, 2).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
