//! Index: its place and options, with the way to its writer and searchers.

mod options;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod bit_code_tests;
#[cfg(test)]
mod graph_bytes_tests;
#[cfg(test)]
mod graph_tests;
#[cfg(test)]
mod vector_tests;

pub use options::IndexOptions;

use crate::analysis::Analyzers;
use crate::error::{ErrorKind, Result};
use crate::events::{Observer, Stats};
use crate::inspect::Inspector;
use crate::limits::Limits;
use crate::plan::Costs;
use crate::reader::IndexReader;
use crate::schema::{Field, Schema};
use crate::searcher::{ResultCache, ResultCacheStats, Searcher, Setting, SlowSearches};
use crate::segment::disk_usage::{DiskUsage, disk_usage};
use crate::segment::published::Published;
use crate::segment::snapshot;
use crate::segment::snapshot::{Contents, Snapshot, contents};
use crate::storage::{FsStorage, ImageBytes, Observed, ReadMode, Storage, WriteMode};
use crate::writer::create::{Making, create, refuse_existing};
use crate::writer::{CommitInfo, Existing, IndexWriter, Recovery, Salvage, WriterOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// An index on disk or in memory. Cheap to clone; holds no lock, and no open file unless a
/// [reader](Self::reader) was asked for.
#[derive(Clone, Debug)]
pub struct Index {
    place: Place,
    analyzers: Arc<Analyzers>,
    /// Schema that [`writer`](Self::writer) starts with.
    schema: Schema,
    existing: Existing,
    /// Limits, if they are not the default.
    limits: Option<Limits>,
    /// Cache, if it is switched on.
    cache: Option<Arc<ResultCache>>,
    /// Log of slow searches, if there is one.
    slow: Option<SlowSearches>,
    /// Costs of this machine, if they were measured.
    costs: Option<Arc<Costs>>,
    /// Flushes and commits of a writer of this index, or of a clone of it.
    published: Arc<Published>,
    /// Who counts and tells what is done through this value, its clones and their writers.
    observer: Arc<Observer>,
}

#[derive(Clone, Debug)]
enum Place {
    /// A directory, made if it did not exist.
    Directory(PathBuf, ReadMode, WriteMode),
    Storage(Arc<dyn Storage>),
}

impl Index {
    /// Starts with how an index is read and analyzed.
    pub fn options() -> IndexOptions {
        IndexOptions::default()
    }

    /// Creates an index without documents in the directory `path`, which is made if necessary.
    ///
    /// `Ok` means that it survives a power failure, and that every process can [open](Self::open) it: it is an empty
    /// commit, of the number 0. The first commit of a writer takes its place. If two processes create an index at
    /// once, one of them does, and the other has an error; see [`open_or_create`](Self::open_or_create).
    ///
    /// ```
    /// use treepie::{Index, Schema};
    /// # let dir = std::env::temp_dir().join(format!("treepie-doc-create-{}", std::process::id()));
    /// # let _ = std::fs::remove_dir_all(&dir);
    ///
    /// Index::create(&dir, Schema::builder().text("title").build()?)?;
    /// assert_eq!(Index::open(&dir)?.searcher()?.n_docs(), 0);
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyExists`] if there is one already, [`ErrorKind::NotAnIndex`] if there is something else,
    /// [`ErrorKind::Locked`] while somebody overwrites nothing with a first commit. After any of them the place is as it
    /// was, but for an empty directory that a second attempt takes.
    pub fn create(path: impl Into<PathBuf>, schema: Schema) -> Result<Index> {
        Self::options().create(path, schema)
    }

    /// Opens the index in the directory `path`, or creates it if there is none.
    ///
    /// Several processes may do so at once: one of them creates the index, and all of them have it.
    ///
    /// ```
    /// use treepie::{ErrorKind, Index, Schema};
    /// # let dir = std::env::temp_dir().join(format!("treepie-doc-open-or-create-{}", std::process::id()));
    /// # let _ = std::fs::remove_dir_all(&dir);
    ///
    /// let schema = Schema::builder().text("title").build()?;
    /// for _ in 0..2 {
    ///     assert_eq!(Index::open_or_create(&dir, schema.clone())?.schema(), &schema);
    /// }
    /// let other = Schema::builder().text("body").build()?;
    /// let error = Index::open_or_create(&dir, other).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Schema);
    /// assert!(error.to_string().contains("'title'"));
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Schema`] if the index has another schema, which the error tells the difference to; as
    /// [`open`](Self::open) and [`create`](Self::create).
    pub fn open_or_create(path: impl Into<PathBuf>, schema: Schema) -> Result<Index> {
        Self::options().open_or_create(path, schema)
    }

    /// Makes a new index in the place of any that is there.
    ///
    /// It may be of an older format that this version does not read. The first commit replaces the old one at once:
    /// searches see all of the old or all of the new. An index that is damaged or of a newer format is not replaced.
    ///
    /// If there is no index, there is none before that commit either: other processes find none, and searchers of this
    /// value find no documents. So a build that is interrupted leaves nothing; to make an index that is there at once see
    /// [`create`](Self::create).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] where the directory does not exist and cannot be made, [`ErrorKind::NotAnIndex`] for a file. Errors of
    /// [`writer`](Self::writer) come later.
    pub fn overwrite(path: impl Into<PathBuf>, schema: Schema) -> Result<Index> {
        Self::options().overwrite(path, schema)
    }

    /// A new index in memory, gone with the last of its clones and searchers.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.commit()?;
    /// assert_eq!(index.searcher()?.n_docs(), 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn in_memory(schema: Schema) -> Index {
        Self::options().in_memory(schema)
    }

    /// Opens the index in the directory `path`, to search and to add.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] if there is no directory, [`ErrorKind::NotAnIndex`] if it holds something else,
    /// [`ErrorKind::Corrupt`] if the newest manifest is damaged: never an older one instead. Segments are
    /// opened by [`searcher`](Self::searcher).
    pub fn open(path: impl Into<PathBuf>) -> Result<Index> {
        Self::options().open(path)
    }

    /// Whether this version reads the index in the directory `path`.
    ///
    /// False if an older or a newer version wrote it, in a format that this one does not know. The error of
    /// [`open`](Self::open) then says which, and what to do.
    ///
    /// Opens the index and its segments, and reads no document.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    /// # let dir = std::env::temp_dir().join(format!("treepie-doc-compatible-{}", std::process::id()));
    /// # let _ = std::fs::remove_dir_all(&dir);
    ///
    /// let index = Index::create(&dir, Schema::builder().text("title").build()?)?;
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.commit()?;
    /// assert!(Index::is_compatible(&dir)?);
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`open`](Self::open) and [`searcher`](Self::searcher), for everything but the version.
    pub fn is_compatible(path: impl Into<PathBuf>) -> Result<bool> {
        match Index::open(path).and_then(|index| index.searcher()) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::UnsupportedVersion => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Opens an index that was packed by [`to_image`](Self::to_image).
    ///
    /// The bytes are not copied, and may be in memory, in the program itself by `include_bytes!`, or elsewhere. It
    /// cannot be written to.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.commit()?;
    ///
    /// let image: Vec<u8> = index.to_image()?;
    /// let searcher = Index::open_bytes(image)?.searcher()?;
    /// assert_eq!(searcher.count(&searcher.parse("paris")?)?, 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`] if the bytes are not a whole image. Segments are checked when they are read.
    pub fn open_bytes(image: impl Into<ImageBytes>) -> Result<Index> {
        Self::options().open_storage(Arc::new(snapshot::image_storage(image)?))
    }

    /// The newest commit as one piece of memory for [`open_bytes`](Self::open_bytes), every byte checked.
    ///
    /// # Errors
    ///
    /// Fails like [`open`](Self::open).
    pub fn to_image(&self) -> Result<Vec<u8>> {
        snapshot::to_image(&*self.storage()?)
    }

    /// Goes back to the last commit that is whole, if the newest is damaged. Reads every byte of the commits that it
    /// looks at. Whoever adds and searches must be done or must be able to wait: it becomes the writer meanwhile.
    ///
    /// The whole commit is published once more, under the next number. Files of the damaged ones are not
    /// deleted but set aside, under names that begin with `damaged-`; [`salvage`](Self::salvage) saves more of it,
    /// and is to be used before. Searchers that have a damaged commit open keep it until they reload.
    ///
    /// After a power failure the index is as damaged as before, or recovered.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    /// # let dir = std::env::temp_dir().join(format!("treepie-doc-recover-{}", std::process::id()));
    /// # let _ = std::fs::remove_dir_all(&dir);
    ///
    /// let mut writer = Index::create(&dir, Schema::builder().text("title").build()?)?.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.commit()?;
    /// writer.add(Document::new().with("title", "London"))?;
    /// writer.commit()?;
    /// # drop(writer);
    /// std::fs::write(dir.join("manifest-0000000000000002"), "scribble")?;
    /// assert!(Index::open(&dir).is_err());
    ///
    /// let recovery = Index::recover(&dir)?;
    /// assert_eq!((recovery.whole, recovery.published, recovery.documents), (1, Some(3), 1));
    /// assert_eq!(recovery.set_aside.len(), 2); // the manifest and the segment of the second commit
    /// assert_eq!(Index::open(&dir)?.searcher()?.n_docs(), 1);
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`] if no commit is whole, [`ErrorKind::Locked`] while there is a writer,
    /// [`ErrorKind::UnsupportedVersion`] if a newer version wrote the index.
    pub fn recover(path: impl Into<PathBuf>) -> Result<Recovery> {
        Self::options().recover(path)
    }

    /// Rebuilds what is readable of the index in `path` as a new index in `to`. The old one is only read.
    ///
    /// The newest commit counts whose manifest can be read. Its segments that are sound are copied; the documents of the
    /// others are added anew as far as their stored values can be read. Fields that are not stored are lost with a
    /// damaged segment, and so are the places in it that cannot be read; the result says which.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`] if no manifest can be read, [`ErrorKind::AlreadyExists`] and
    /// [`ErrorKind::NotAnIndex`] if there is something in `to`, [`ErrorKind::Analyzer`] where documents need one that is
    /// not registered ([`IndexOptions::analyzers`]).
    pub fn salvage(path: impl Into<PathBuf>, to: impl Into<PathBuf>) -> Result<Salvage> {
        Self::options().salvage(path, to)
    }

    /// Checks that an index can be created at `path`, before anything is done for that.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyExists`] if there is one already, [`ErrorKind::NotAnIndex`] if there is something else.
    pub fn check_vacant(path: impl AsRef<Path>) -> Result<()> {
        refuse_existing(path.as_ref(), Making::New)
    }

    /// Fields that documents may have, and how each is indexed.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Sets other limits for queries and documents, for this value and its clones.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] for a limit above what is possible.
    pub fn with_limits(mut self, limits: Limits) -> Result<Index> {
        self.limits = Some(limits.checked()?);
        Ok(self)
    }

    /// Becomes the writer, with default options.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Locked`] while there is another one, in this process or any other, which
    /// [`WriterOptions::wait`] waits for; [`ErrorKind::Schema`] if the index has another schema by now.
    pub fn writer(&self) -> Result<IndexWriter> {
        self.writer_with(WriterOptions::new())
    }

    /// Becomes the writer.
    ///
    /// # Errors
    ///
    /// Fails like [`writer`](Self::writer).
    pub fn writer_with(&self, options: WriterOptions) -> Result<IndexWriter> {
        let storage = self.storage_to_write()?;
        IndexWriter::open(
            storage,
            self.schema.clone(),
            Arc::clone(&self.analyzers),
            self.existing,
            Arc::clone(&self.published),
            options
                .with_limits(self.limits.unwrap_or_default())
                .observed_by(Arc::clone(&self.observer)),
        )
    }

    /// Reads the newest commit, which no later one changes.
    ///
    /// # Errors
    ///
    /// Fails like [`open`](Self::open).
    pub fn searcher(&self) -> Result<Searcher> {
        let storage = self.storage()?;
        let snapshot = Arc::new(self.snapshot(&*storage)?);
        Ok(Searcher::of(storage, snapshot, self.setting()))
    }

    /// Follows the index: gives searchers of the newest snapshot.
    ///
    /// That includes what a writer of this value or of a clone of it has [flushed](IndexWriter::flush).
    ///
    /// # Errors
    ///
    /// Fails like [`open`](Self::open), if nothing was flushed yet.
    pub fn reader(&self) -> Result<IndexReader> {
        let open = |storage: &dyn Storage| self.snapshot(storage);
        IndexReader::open(self.storage()?, self.setting(), Arc::clone(&self.published), open)
    }

    /// Opens the newest commit; an empty snapshot where a first commit is still to come.
    fn snapshot(&self, storage: &dyn Storage) -> Result<Snapshot> {
        let is_to_come = || {
            let is_established = self.published.established.load(Ordering::Relaxed);
            let is_overwritten = self.existing == Existing::Replace && !is_established;
            is_overwritten && matches!(contents(storage), Ok(Contents::NoCommit))
        };
        match Snapshot::open(storage) {
            Err(error) if error.kind() == ErrorKind::NotAnIndex && is_to_come() => {
                Ok(Snapshot::empty(self.schema.clone()))
            }
            opened => opened,
        }
    }

    fn setting(&self) -> Setting {
        let (analyzers, cache) = (Arc::clone(&self.analyzers), self.cache.clone());
        let (slow, costs) = (self.slow.clone(), self.costs.clone());
        Setting { analyzers, limits: self.limits.map(Box::new), cache, slow, costs }
    }

    /// Adds fields to the index by one commit, durable and all at once. No document is read or written: those that
    /// there are have no value of the new fields until they are replaced, just as those that are added without one.
    /// The commit takes as long as any; the memory of an open segment that was made before grows by up to a byte a
    /// document for each new text field that is asked for, until a merge makes it part of the files.
    ///
    /// A field stays as it was made: none is changed and none removed. If the [default fields](crate::schema::SchemaBuilder::default_fields)
    /// are all text fields, new text fields are among them.
    ///
    /// Searchers that are open keep the fields that they have, and [readers](Self::reader) follow. Other values of this index, clones
    /// and those in other processes, write the new fields with the next writer that they open, while
    /// [`schema`](Self::schema) tells what was there when they were opened.
    ///
    /// ```
    /// use treepie::{Document, Field, FieldKind, Index, Schema};
    ///
    /// let mut index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.commit()?;
    /// drop(writer);
    ///
    /// index.add_fields([Field::new("year", FieldKind::I64)])?;
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris, Texas").with("year", 1984))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// assert_eq!(searcher.count(&searcher.parse("paris AND year:1984")?)?, 1);
    /// assert_eq!(searcher.count(&searcher.parse("paris AND _missing:year")?)?, 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Schema`] as [`Schema::with_fields`]: for a name that there is, among others. It also fails like [`writer`](Self::writer) and
    /// [`IndexWriter::commit`].
    pub fn add_fields(&mut self, fields: impl IntoIterator<Item = Field>) -> Result<CommitInfo> {
        self.add_fields_with(fields, WriterOptions::new())
    }

    /// Adds fields by a writer with these options, such as [how long to wait](WriterOptions::wait).
    ///
    /// Apart from that it is [`add_fields`](Self::add_fields).
    ///
    /// # Errors
    ///
    /// Fails like [`add_fields`](Self::add_fields).
    pub fn add_fields_with(
        &mut self,
        fields: impl IntoIterator<Item = Field>,
        options: WriterOptions,
    ) -> Result<CommitInfo> {
        let mut writer = self.writer_with(options)?;
        let info = writer.add_fields(fields.into_iter().collect())?;
        self.schema = writer.schema().clone();
        Ok(info)
    }

    /// Makes all segments one. Searchers that are open keep the old ones.
    ///
    /// # Errors
    ///
    /// Fails like [`writer`](Self::writer) and [`IndexWriter::commit`].
    pub fn merge(&self) -> Result<CommitInfo> {
        self.writer()?.merge()
    }

    /// Returns the disk space that the index takes, and how much is not needed.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// for title in ["Paris", "Texas"] {
    ///     writer.add(Document::new().with("title", title))?;
    ///     writer.commit()?;
    /// }
    /// let usage = index.disk_usage()?;
    /// assert!(usage.live > 0 && usage.older > 0); // the manifest of the first commit is still there
    /// assert_eq!(usage.total(), usage.live + usage.reclaimable());
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`open`](Self::open).
    pub fn disk_usage(&self) -> Result<DiskUsage> {
        disk_usage(&*self.storage()?)
    }

    /// Returns counts of the work so far: commits, merges, bytes and files.
    ///
    /// They are of this value, its clones and its writers. Reading it is reading some 60 counters.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.commit()?;
    /// let stats = index.metrics();
    /// assert_eq!((stats.commits.count, stats.creates.count, stats.syncs.count), (2, 3, 3)); // creating is a commit
    /// assert_eq!(stats.commits.bytes, stats.writes.bytes);
    /// println!("{stats}");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn metrics(&self) -> Stats {
        self.observer.stats()
    }

    /// Returns the statistics of the [cache of results](IndexOptions::result_cache_bytes); all zeros if there is none.
    pub fn result_cache(&self) -> ResultCacheStats {
        self.cache.as_ref().map_or_else(Default::default, |cache| cache.stats())
    }

    /// Opens the newest commit for looking inside.
    ///
    /// # Errors
    ///
    /// Fails like [`open`](Self::open).
    pub fn inspect(&self) -> Result<Inspector> {
        Ok(Inspector::new(Snapshot::open(&*self.storage()?)?))
    }

    /// Makes the empty commit that it begins with.
    fn created(self) -> Result<Index> {
        create(&self.storage_to_write()?, &self.schema, &self.observer)?;
        Ok(self)
    }

    fn storage_to_write(&self) -> Result<Arc<dyn Storage>> {
        match &self.place {
            Place::Directory(path, mode, write_mode) => {
                let storage = FsStorage::create(path, *mode)?.write_mode(*write_mode)?;
                Ok(Observed::watch(Arc::new(storage), &self.observer))
            }
            Place::Storage(storage) => Ok(Arc::clone(storage)),
        }
    }

    /// The storage to read from.
    pub(crate) fn storage(&self) -> Result<Arc<dyn Storage>> {
        match &self.place {
            Place::Directory(path, mode, write_mode) => {
                let storage = FsStorage::open(path, *mode)?.write_mode(*write_mode)?;
                Ok(Observed::watch(Arc::new(storage), &self.observer))
            }
            Place::Storage(storage) => Ok(Arc::clone(storage)),
        }
    }
}
