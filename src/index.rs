//! An index: where it lies, how it is read, and the way to its writer and searchers.

use crate::analysis::Analyzers;
use crate::error::{Error, ErrorKind, Result};
use crate::events::{Event, Listener, Observer, Stats};
use crate::inspect::Inspector;
use crate::limits::Limits;
use crate::reader::IndexReader;
use crate::schema::{Field, Schema};
use crate::searcher::{ResultCache, ResultCacheStats, Searcher, Setting};
pub use crate::segment::disk_usage::DiskUsage;
use crate::segment::disk_usage::disk_usage;
use crate::segment::published::Published;
use crate::segment::snapshot;
use crate::segment::snapshot::{Contents, Snapshot, contents};
use crate::storage::{
    FsStorage, ImageBytes, MemoryStorage, Observed, ReadMode, Storage, WriteMode,
};
use crate::writer::recover::recover;
use crate::writer::salvage::salvage;
use crate::writer::{CommitInfo, Existing, IndexWriter, Recovery, Salvage, WriterOptions};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// An index on disk or in memory. Cheap to clone; holds no lock, and no open file unless a
/// [reader](Self::reader) was asked for.
#[derive(Clone, Debug)]
pub struct Index {
    place: Place,
    analyzers: Arc<Analyzers>,
    /// What [`writer`](Self::writer) starts with.
    schema: Option<Schema>,
    existing: Existing,
    /// Where they are not the default.
    limits: Option<Limits>,
    /// Where it is switched on.
    cache: Option<Arc<ResultCache>>,
    /// What a writer of this index, or of a clone of it, has flushed and committed.
    published: Arc<Published>,
    /// Who counts and tells what is done through this value, its clones and their writers.
    observer: Arc<Observer>,
}

#[derive(Clone, Debug)]
enum Place {
    /// A directory that the first writer makes.
    Directory(PathBuf, ReadMode, WriteMode),
    Storage(Arc<dyn Storage>),
}

/// How an index is opened: [`Index::options`].
#[derive(Clone, Debug, Default)]
pub struct IndexOptions {
    read_mode: ReadMode,
    write_mode: WriteMode,
    analyzers: Analyzers,
    listener: Option<Listener>,
    measures_times: bool,
    result_cache_bytes: u64,
}

impl IndexOptions {
    /// Sets how files are read (default: mapped into memory).
    #[must_use]
    pub fn read_mode(mut self, read_mode: ReadMode) -> Self {
        self.read_mode = read_mode;
        self
    }

    /// Sets how files are written (default: [`WriteMode::Auto`]); the environment may
    /// [say otherwise](WriteMode::VARIABLE).
    #[must_use]
    pub fn write_mode(mut self, write_mode: WriteMode) -> Self {
        self.write_mode = write_mode;
        self
    }

    /// Plugs in analyzers of the caller's, which the schema names; the same ones each time the index is opened.
    #[must_use]
    pub fn analyzers(mut self, analyzers: Analyzers) -> Self {
        self.analyzers = analyzers;
        self
    }

    /// Sets what is called with everything that the index does to its files and whole commits, on the thread
    /// that did it; see [`events`](crate::events) for an example.
    #[must_use]
    pub fn on_event(mut self, listener: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.listener = Some(Listener::new(listener));
        self
    }

    /// Has [`Index::stats`] measure times, too (default: only where there is a listener or a subscriber of
    /// `tracing`). It costs two looks at the clock for each operation on a file, and for each piece that is written.
    #[must_use]
    pub fn measure_times(mut self, measures: bool) -> Self {
        self.measures_times = measures;
        self
    }

    /// Has whole answers kept, up to so many bytes (default 0: none), for those who ask the same of the same snapshot again:
    /// the query, the page and everything else that an answer depends on. An answer is kept under the
    /// [etag](crate::Searcher::etag) of its snapshot, so none is ever old. What is kept is there for all threads that
    /// search through this value, its clones and their readers, whatever their [limits](Index::with_limits), deadlines and
    /// cancel tokens are, since nothing runs; [`Index::result_cache`] says how much it helps. Answers of more than an eighth of the
    /// room are not kept.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    /// use treepie::storage::MemoryStorage;
    /// use std::sync::Arc;
    ///
    /// let schema = Schema::builder().text("title").build()?;
    /// let options = Index::options().result_cache_bytes(64 << 20);
    /// let index = options.create_in(Arc::new(MemoryStorage::new()), schema);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("paris")?;
    /// assert!(!searcher.search(&query).run()?.from_cache);
    /// assert!(searcher.search(&query).run()?.from_cache);
    /// let stats = index.result_cache();
    /// assert_eq!((stats.hits, stats.misses), (1, 1));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn result_cache_bytes(mut self, bytes: u64) -> Self {
        self.result_cache_bytes = bytes;
        self
    }

    fn cache(&self) -> Option<Arc<ResultCache>> {
        (self.result_cache_bytes > 0).then(|| Arc::new(ResultCache::new(self.result_cache_bytes)))
    }

    /// As [`Index::create`].
    ///
    /// # Errors
    ///
    /// As [`Index::create`].
    pub fn create(self, path: impl Into<PathBuf>, schema: Schema) -> Result<Index> {
        let path = path.into();
        refuse_existing(&path)?;
        Ok(self.index(path, Some(schema), Existing::Refuse))
    }

    /// As [`Index::overwrite`].
    ///
    /// # Errors
    ///
    /// As [`Index::overwrite`].
    pub fn overwrite(self, path: impl Into<PathBuf>, schema: Schema) -> Result<Index> {
        Ok(self.index(path.into(), Some(schema), Existing::Replace))
    }

    /// As [`Index::open`].
    ///
    /// # Errors
    ///
    /// As [`Index::open`].
    pub fn open(self, path: impl Into<PathBuf>) -> Result<Index> {
        let storage = FsStorage::open(path, self.read_mode)?.write_mode(self.write_mode)?;
        let storage: Arc<dyn Storage> = Arc::new(storage);
        self.open_storage(storage)
    }

    /// Opens the index in `storage`.
    ///
    /// # Errors
    ///
    /// As [`Index::open`].
    pub fn open_storage(self, storage: Arc<dyn Storage>) -> Result<Index> {
        let (observer, cache) = (self.observer(), self.cache());
        let storage = Observed::watch(storage, &observer);
        let schema = Snapshot::manifest(&*storage)?.schema;
        Ok(Index {
            place: Place::Storage(storage),
            analyzers: Arc::new(self.analyzers),
            schema: Some(schema),
            existing: Existing::Keep,
            limits: None,
            cache,
            published: Arc::default(),
            observer,
        })
    }

    /// As [`Index::create`], in `storage`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyExists`] if there is an index already, when its writer is opened.
    pub fn create_in(self, storage: Arc<dyn Storage>, schema: Schema) -> Index {
        let (observer, cache) = (self.observer(), self.cache());
        Index {
            place: Place::Storage(Observed::watch(storage, &observer)),
            analyzers: Arc::new(self.analyzers),
            schema: Some(schema),
            existing: Existing::Refuse,
            limits: None,
            cache,
            published: Arc::default(),
            observer,
        }
    }

    /// As [`Index::overwrite`], in `storage`.
    pub fn overwrite_in(self, storage: Arc<dyn Storage>, schema: Schema) -> Index {
        Index { existing: Existing::Replace, ..self.create_in(storage, schema) }
    }

    /// As [`Index::recover`].
    ///
    /// # Errors
    ///
    /// As [`Index::recover`].
    pub fn recover(self, path: impl Into<PathBuf>) -> Result<Recovery> {
        let storage = FsStorage::open(path, self.read_mode)?;
        self.recover_storage(Arc::new(storage))
    }

    /// As [`Index::recover`], of the index in `storage`.
    ///
    /// # Errors
    ///
    /// As [`Index::recover`].
    pub fn recover_storage(self, storage: Arc<dyn Storage>) -> Result<Recovery> {
        recover(Observed::watch(storage, &self.observer()), false)
    }

    /// What [`Index::recover`] would find, reading every byte and changing nothing. No lock is taken: where a
    /// writer is at work, a commit may be gone before it has been read.
    ///
    /// # Errors
    ///
    /// As [`Index::recover`].
    pub fn examine(self, path: impl Into<PathBuf>) -> Result<Recovery> {
        let storage = FsStorage::open(path, self.read_mode)?;
        self.examine_storage(Arc::new(storage))
    }

    /// As [`examine`](Self::examine), of the index in `storage`.
    ///
    /// # Errors
    ///
    /// As [`Index::recover`].
    pub fn examine_storage(self, storage: Arc<dyn Storage>) -> Result<Recovery> {
        recover(storage, true)
    }

    /// As [`Index::salvage`].
    ///
    /// # Errors
    ///
    /// As [`Index::salvage`].
    pub fn salvage(self, path: impl Into<PathBuf>, to: impl Into<PathBuf>) -> Result<Salvage> {
        let to = to.into();
        let from = FsStorage::open(path, self.read_mode)?;
        refuse_existing(&to)?;
        let to: Arc<dyn Storage> = Arc::new(FsStorage::create(&to, self.read_mode)?);
        self.salvage_storage(&from, to)
    }

    /// As [`Index::salvage`], from one storage to another.
    ///
    /// # Errors
    ///
    /// As [`Index::salvage`].
    pub fn salvage_storage(self, from: &dyn Storage, to: Arc<dyn Storage>) -> Result<Salvage> {
        let observer = self.observer();
        let to = Observed::watch(to, &observer);
        let options = WriterOptions::new().observed_by(observer);
        salvage(from, to, Arc::new(self.analyzers), options)
    }

    fn observer(&self) -> Arc<Observer> {
        Arc::new(Observer::new(self.listener.clone(), self.measures_times))
    }

    fn index(self, path: PathBuf, schema: Option<Schema>, existing: Existing) -> Index {
        let place = Place::Directory(path, self.read_mode, self.write_mode);
        let (observer, cache) = (self.observer(), self.cache());
        Index {
            place,
            analyzers: Arc::new(self.analyzers),
            schema,
            existing,
            limits: None,
            cache,
            published: Arc::default(),
            observer,
        }
    }
}

impl Index {
    /// Starts with how an index is read and analyzed.
    pub fn options() -> IndexOptions {
        IndexOptions::default()
    }

    /// A new index in the directory `path`, which [`writer`](Self::writer) makes where it does not exist.
    /// The index is there from its first commit on.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyExists`] if there is one already, [`ErrorKind::NotAnIndex`] if there is something else.
    pub fn create(path: impl Into<PathBuf>, schema: Schema) -> Result<Index> {
        Self::options().create(path, schema)
    }

    /// A new index in the place of any that is there, be it of an older format that this version does not
    /// read. The first commit replaces the old one at once: whoever searches sees all of the old or all of the new.
    /// What is damaged or of a newer format is not replaced.
    ///
    /// # Errors
    ///
    /// None yet: those of [`writer`](Self::writer) come later.
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
        Self::options().create_in(Arc::new(MemoryStorage::new()), schema)
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

    /// Opens an index that was packed by [`to_image`](Self::to_image), where it lies: in memory, in the
    /// program itself by `include_bytes!`, or wherever else bytes come from. It cannot be written to.
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
    /// As [`open`](Self::open).
    pub fn to_image(&self) -> Result<Vec<u8>> {
        snapshot::to_image(&*self.storage()?)
    }

    /// Goes back to the last commit that is whole, where the newest is damaged. Reads every byte of the commits that it
    /// looks at. Whoever adds and searches must be done or must be able to wait: it becomes the writer meanwhile.
    ///
    /// The whole commit is published once more, under the next number. What the damaged ones consisted of is not
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

    /// Rebuilds what can be read of the index in the directory `path` as a new index in `to`. The old one
    /// is only read.
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

    /// The fields, where they are known: always for an index that exists.
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref()
    }

    /// The same index with other limits for what is asked of it and added to it through this value and its clones.
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
    /// [`ErrorKind::Locked`] while there is another one, in this process or any other; [`ErrorKind::AlreadyExists`] if the
    /// index was made for [`create`](Self::create) and somebody else created one since.
    pub fn writer(&self) -> Result<IndexWriter> {
        self.writer_with(WriterOptions::new())
    }

    /// Becomes the writer.
    ///
    /// # Errors
    ///
    /// As [`writer`](Self::writer).
    pub fn writer_with(&self, options: WriterOptions) -> Result<IndexWriter> {
        let storage = self.storage_to_write()?;
        let existing = if self.published.established.load(Ordering::Relaxed) {
            Existing::Keep
        } else {
            self.existing
        };
        IndexWriter::open(
            storage,
            self.schema.clone(),
            Arc::clone(&self.analyzers),
            existing,
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
    /// As [`open`](Self::open).
    pub fn searcher(&self) -> Result<Searcher> {
        Searcher::open(self.storage()?, self.setting())
    }

    /// Follows the index: gives searchers of the newest snapshot, also of what a writer of this value or of a clone of
    /// it has [flushed](IndexWriter::flush).
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), where nothing was flushed yet.
    pub fn reader(&self) -> Result<IndexReader> {
        IndexReader::open(self.storage()?, self.setting(), Arc::clone(&self.published))
    }

    fn setting(&self) -> Setting {
        let (analyzers, cache) = (Arc::clone(&self.analyzers), self.cache.clone());
        Setting { analyzers, limits: self.limits, cache }
    }

    /// Adds fields to the index, by one commit: durable and all at once like any other. No document is read or written: those that
    /// there are have no value of the new fields until they are replaced, just as those that are added without one. The commit takes
    /// as long as any; the memory of an open segment that was made before grows by up to a byte a document for each new text
    /// field that is asked for, until a merge makes it part of the files.
    ///
    /// A field stays as it was made: none is changed and none removed. Where the [default fields](crate::schema::SchemaBuilder::default_fields)
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
    /// [`ErrorKind::Schema`] as [`Schema::with_fields`]: for a name that there is, among others. As [`writer`](Self::writer) and
    /// [`IndexWriter::commit`].
    pub fn add_fields(&mut self, fields: impl IntoIterator<Item = Field>) -> Result<CommitInfo> {
        let mut writer = self.writer()?;
        let info = writer.add_fields(fields.into_iter().collect())?;
        self.schema = Some(writer.schema().clone());
        Ok(info)
    }

    /// Makes all segments one. Searchers that are open keep the old ones.
    ///
    /// # Errors
    ///
    /// As [`writer`](Self::writer) and [`IndexWriter::commit`].
    pub fn merge(&self) -> Result<CommitInfo> {
        self.writer()?.merge()
    }

    /// How much of the disk the index takes, and how much of that is for nothing any more.
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
    /// As [`open`](Self::open).
    pub fn disk_usage(&self) -> Result<DiskUsage> {
        disk_usage(&*self.storage()?)
    }

    /// What was done through this value, its clones and its writers so far: commits, merges, bytes and files.
    /// Reading it is reading some 60 counters.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.commit()?;
    /// let stats = index.stats();
    /// assert_eq!((stats.commits.count, stats.creates.count, stats.syncs.count), (1, 2, 2));
    /// assert_eq!(stats.commits.bytes, stats.writes.bytes);
    /// println!("{stats}");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn stats(&self) -> Stats {
        self.observer.stats()
    }

    /// What the [cache of results](IndexOptions::result_cache_bytes) has done so far; all zeros where there is none.
    pub fn result_cache(&self) -> ResultCacheStats {
        self.cache.as_ref().map_or_else(Default::default, |cache| cache.stats())
    }

    /// Opens the newest commit for looking inside.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn inspect(&self) -> Result<Inspector> {
        Ok(Inspector::new(Snapshot::open(&*self.storage()?)?))
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

pub(crate) fn refuse_existing(path: &std::path::Path) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    refuse_contents(&FsStorage::open(path, ReadMode::Pread)?)
}

/// Lets a new index begin where there is nothing but what an interrupted attempt may have left.
pub(crate) fn refuse_contents(storage: &dyn Storage) -> Result<()> {
    let error = |kind| Error::new(kind, "creating an index").in_file(storage.location());
    match contents(storage)? {
        Contents::NoCommit => Ok(()),
        Contents::Commits(_) => Err(error(ErrorKind::AlreadyExists)
            .expected("nothing here yet")
            .found("an index")
            .hint("append to it, overwrite it, or choose another name")),
        Contents::Foreign(name) => Err(error(ErrorKind::NotAnIndex)
            .expected("an empty directory or none")
            .found(format!("other files, such as {name:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::ids::FieldId;
    use crate::storage::MemoryStorage;
    use crate::writer::{BadLines, LineFormat};

    fn titles(n: u32) -> String {
        (0..n)
            .map(|i| {
                format!(
                    "Title_{}_number_{i}_({})\n",
                    i % 97,
                    ["film", "album", "book"][i as usize % 3]
                )
            })
            .collect()
    }

    /// The bytes of the one segment that a build leaves.
    fn build(input: &str, options: WriterOptions) -> Vec<u8> {
        let storage = Arc::new(MemoryStorage::new());
        let index = Index::options().create_in(storage.clone(), Schema::wikipedia_titles());
        let mut writer = index.writer_with(options.reproducible_ids([7; 16])).unwrap();
        writer
            .add_lines(input.as_bytes(), &LineFormat::wikipedia_titles(), BadLines::Refuse)
            .unwrap();
        writer.commit().unwrap();
        let entries = storage.list().unwrap();
        let segments: Vec<_> =
            entries.iter().filter(|entry| entry.name.starts_with("seg-")).collect();
        assert_eq!(segments.len(), 1, "{entries:?}");
        assert!(!entries.iter().any(|entry| entry.name.starts_with(".run-")), "{entries:?}");
        let file = storage.open(&segments[0].name).unwrap();
        let mut bytes = vec![0; file.len() as usize];
        file.read_at(0, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn the_same_lines_give_the_same_bytes_whatever_the_threads_and_the_memory() {
        let input = titles(300_000);
        let whole = build(&input, WriterOptions::new().threads(1));
        let spilled = build(&input, WriterOptions::new().threads(1).memory_bytes(16 << 20));
        let parallel = build(&input, WriterOptions::new().threads(3).memory_bytes(17 << 20));
        assert!(whole == spilled, "memory shows in the bytes");
        assert!(whole == parallel, "threads show in the bytes");
    }

    #[test]
    fn lines_and_documents_and_merges_give_the_same_answers() {
        let storage = Arc::new(MemoryStorage::new());
        let index = Index::options().create_in(storage.clone(), Schema::wikipedia_titles());
        let mut writer = index.writer().unwrap();
        writer
            .add_lines(
                "Paris_(film)\nRome\n".as_bytes(),
                &LineFormat::wikipedia_titles(),
                BadLines::Refuse,
            )
            .unwrap();
        writer
            .add(Document::new().with("title", "Oslo\n(film)").with("qualifier", "film"))
            .unwrap();
        writer.add(Document::new()).unwrap();
        let commit = writer.commit().unwrap();
        assert_eq!((commit.documents, commit.segments), (4, 1));
        for _ in 0..5 {
            writer.add(Document::new().with("title", "Rome again").with("qualifier", "")).unwrap();
        }
        let commit = writer.commit().unwrap();
        assert_eq!((commit.documents, commit.added, commit.segments), (9, 5, 2));
        drop(writer);
        let check = |bases: &[u32]| {
            let snapshot = Snapshot::open(&*storage).unwrap();
            let docs = |field: u16, term: &str| {
                let mut all = vec![];
                for (segment, base) in snapshot.readers().zip(bases) {
                    let field = segment.field(FieldId(field));
                    if let Some(info) = field.terms().unwrap().get(term.as_bytes()).unwrap() {
                        let mut docs = vec![];
                        field
                            .postings(&info)
                            .unwrap()
                            .decode_into(segment.n_docs(), &mut docs)
                            .unwrap();
                        all.extend(docs.iter().map(|doc| doc + base));
                    }
                }
                all
            };
            assert_eq!(docs(0, "rome"), [1, 4, 5, 6, 7, 8]);
            assert_eq!(docs(0, "film"), [0, 2]);
            assert_eq!(docs(1, "film"), [0, 2]);
            assert_eq!(docs(1, ""), [4, 5, 6, 7, 8]);
            let stored: Vec<_> = snapshot
                .readers()
                .flat_map(|s| (0..s.n_docs()).map(move |doc| s.stored(doc).unwrap()))
                .collect();
            assert_eq!(stored[0], [(FieldId(0), "Paris (film)".into())]);
            assert_eq!(stored[2], [(FieldId(0), "Oslo\n(film)".into())]);
            assert!(stored[3].is_empty());
            let statistics: Vec<_> = snapshot.readers().map(|s| s.statistics().unwrap()).collect();
            let sum = |of: fn(&crate::format::statistics::FieldStatistics) -> u64, field: usize| {
                statistics.iter().map(|s| of(&s.fields[field])).sum::<u64>()
            };
            assert_eq!((sum(|f| f.n_tokens, 0), sum(|f| f.n_tokens, 1)), (15, 7));
            assert_eq!(
                (sum(|f| f.n_docs_with_value.into(), 0), sum(|f| f.n_docs_with_value.into(), 1)),
                (8, 7)
            );
            assert_eq!(sum(|f| f.n_docs_with_empty_value.into(), 1), 5);
        };
        check(&[0, 4]);
        let merged = index.merge().unwrap();
        assert_eq!((merged.documents, merged.segments), (9, 1));
        check(&[0]);
    }

    #[test]
    fn an_index_is_neither_made_twice_nor_replaced_before_the_commit() {
        let storage = Arc::new(MemoryStorage::new());
        let create = || Index::options().create_in(storage.clone(), Schema::wikipedia_titles());
        let mut writer = create().writer().unwrap();
        assert_eq!(create().writer().unwrap_err().kind(), ErrorKind::Locked);
        writer.add(Document::new().with("title", "one")).unwrap();
        writer.commit().unwrap();
        drop(writer);
        assert_eq!(create().writer().unwrap_err().kind(), ErrorKind::AlreadyExists);
        let other = Schema::builder().text("other").build().unwrap();
        let mut writer = Index { existing: Existing::Replace, schema: Some(other), ..create() }
            .writer()
            .unwrap();
        assert_eq!(Snapshot::open(&*storage).unwrap().manifest.n_docs(), 1);
        let commit = writer.commit().unwrap();
        assert_eq!((commit.documents, commit.segments), (0, 0));
        assert!(Snapshot::open(&*storage).unwrap().manifest.schema.field("other").is_some());
    }

    #[test]
    fn a_bad_line_leaves_the_index_as_it_was_and_the_writer_useless() {
        let storage = Arc::new(MemoryStorage::new());
        let index = Index::options().create_in(storage, Schema::wikipedia_titles());
        let mut writer = index.writer().unwrap();
        let format = LineFormat::wikipedia_titles();
        let error =
            writer.add_lines(&b"fine\nb\xFFd\n"[..], &format, BadLines::Refuse).unwrap_err();
        assert_eq!((error.kind(), error.line()), (ErrorKind::Document, Some(2)));
        assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::Poisoned);
    }
}
