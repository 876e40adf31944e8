//! Options for opening an index: storage, cache and logs, costs, and a listener for events.

use super::{Index, Place};
use crate::analysis::Analyzers;
use crate::error::{Error, ErrorKind, Result};
use crate::events::{Event, Listener, Observer};
use crate::plan::Costs;
use crate::schema::Schema;
use crate::searcher::{ResultCache, SlowLog, SlowSearches};
use crate::segment::snapshot::Snapshot;
use crate::storage::{FsStorage, MemoryStorage, Observed, ReadMode, Storage, WriteMode};
use crate::writer::create::{Making, create, refuse_existing};
use crate::writer::recover::recover;
use crate::writer::salvage::salvage;
use crate::writer::{Existing, Recovery, Salvage, WriterOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Options for opening or creating an index; from [`Index::options`].
#[derive(Clone, Debug, Default)]
pub struct IndexOptions {
    read_mode: ReadMode,
    write_mode: WriteMode,
    analyzers: Analyzers,
    listener: Option<Listener>,
    measures_times: bool,
    result_cache_bytes: u64,
    slow_log: Option<Arc<SlowLog>>,
    costs: Option<Arc<Costs>>,
    /// Name of the index in the log: its path, or nothing.
    name: Arc<str>,
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

    /// Plugs in analyzers of the caller's, which the schema names.
    ///
    /// They must be the same each time the index is opened.
    #[must_use]
    pub fn analyzers(mut self, analyzers: Analyzers) -> Self {
        self.analyzers = analyzers;
        self
    }

    /// Sets a listener for everything that the index does to its files and commits.
    ///
    /// It is called with each event, also with that of whole commits, on the thread that did it; see
    /// [`events`](crate::events) for an example.
    #[must_use]
    pub fn on_event(mut self, listener: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.listener = Some(Listener::new(listener));
        self
    }

    /// Makes [`Index::metrics`] measure times, too.
    ///
    /// By default it does if there is a listener or a subscriber of `tracing`. It costs two looks at the clock for
    /// each operation on a file, and for each piece that is written.
    #[must_use]
    pub fn measure_times(mut self, measures: bool) -> Self {
        self.measures_times = measures;
        self
    }

    /// Sets the size of the cache of results, in bytes (default 0: none). The cache keeps whole answers for equal requests of the
    /// same snapshot: the query, the page and everything else that an answer depends on are equal. An answer is kept under the
    /// [etag](crate::Searcher::etag) of its snapshot, so none is ever old. The cache is shared by all threads that
    /// search through this value, its clones and their readers, whatever their [limits](Index::with_limits), deadlines and
    /// cancel tokens are, since nothing runs; [`Index::result_cache`] says how much it helps, and a plan whether an answer is kept. Answers of more than an eighth of the
    /// room are not kept.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    /// use treepie::storage::MemoryStorage;
    /// use std::sync::Arc;
    ///
    /// let schema = Schema::builder().text("title").build()?;
    /// let options = Index::options().result_cache_bytes(64 << 20);
    /// let index = options.create_in(Arc::new(MemoryStorage::new()), schema)?;
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

    /// Writes slow searches down, with how they were answered (default: none).
    ///
    /// Several indexes may have one log in common, as an `Arc`. See [`SlowLog`] for an example, and for what that
    /// costs.
    #[must_use]
    pub fn slow_log(mut self, log: impl Into<Arc<SlowLog>>) -> Self {
        self.slow_log = Some(log.into());
        self
    }

    /// Plans searches by what this machine takes, as [`calibrate`](crate::calibrate()) measured it.
    ///
    /// By default the built-in figures count. Answers are the same; plans say in a note that it is so.
    ///
    /// ```
    /// use treepie::explain::Costs;
    /// use treepie::{Document, Index, Schema};
    /// use treepie::storage::MemoryStorage;
    /// use std::sync::Arc;
    ///
    /// let costs = Costs::from_text("version = 1\nmachine = \"a laptop\"\nlookup_ns = 420\n")?;
    /// let schema = Schema::builder().text("title").build()?;
    /// let index = Index::options().costs(costs).create_in(Arc::new(MemoryStorage::new()), schema)?;
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new().with("title", "Paris"))?;
    /// # writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let tree = searcher.explain(&searcher.parse("paris")?)?;
    /// assert_eq!(tree.notes.last().unwrap(), "costs are those measured on a laptop");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn costs(mut self, costs: Costs) -> Self {
        self.costs = Some(Arc::new(costs));
        self
    }

    fn cache(&self) -> Option<Arc<ResultCache>> {
        (self.result_cache_bytes > 0).then(|| Arc::new(ResultCache::new(self.result_cache_bytes)))
    }

    /// Creates as [`Index::create`] does.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::create`].
    pub fn create(self, path: impl Into<PathBuf>, schema: Schema) -> Result<Index> {
        let path = path.into();
        refuse_existing(&path, Making::New)?;
        self.in_directory(path, schema, Existing::Keep)?.created()
    }

    /// Opens or creates as [`Index::open_or_create`] does.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::open_or_create`].
    pub fn open_or_create(self, path: impl Into<PathBuf>, schema: Schema) -> Result<Index> {
        let path = path.into();
        let options = self.named(&path);
        let open = || {
            let storage = FsStorage::open(&path, options.read_mode)?;
            Ok(Arc::new(storage.write_mode(options.write_mode)?) as Arc<dyn Storage>)
        };
        let create = |schema| options.clone().create(&path, schema);
        options.opened_or_created(open, create, schema)
    }

    /// Overwrites as [`Index::overwrite`] does.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::overwrite`].
    pub fn overwrite(self, path: impl Into<PathBuf>, schema: Schema) -> Result<Index> {
        self.in_directory(path.into(), schema, Existing::Replace)
    }

    /// Opens as [`Index::open`] does.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::open`].
    pub fn open(self, path: impl Into<PathBuf>) -> Result<Index> {
        let path = path.into();
        let options = self.named(&path);
        let storage = FsStorage::open(path, options.read_mode)?.write_mode(options.write_mode)?;
        options.open_storage(Arc::new(storage))
    }

    /// Opens the index in `storage`.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::open`].
    pub fn open_storage(self, storage: Arc<dyn Storage>) -> Result<Index> {
        let observer = self.observer();
        let storage = Observed::watch(storage, &observer);
        let schema = Snapshot::manifest(&*storage)?.schema;
        Ok(self.index(Place::Storage(storage), schema, Existing::Keep, observer))
    }

    /// Creates as [`Index::create`] does, in `storage`.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::create`].
    pub fn create_in(self, storage: Arc<dyn Storage>, schema: Schema) -> Result<Index> {
        self.in_storage(storage, schema, Existing::Keep).created()
    }

    /// Opens or creates as [`Index::open_or_create`] does, in `storage`.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::open_or_create`].
    pub fn open_or_create_in(self, storage: Arc<dyn Storage>, schema: Schema) -> Result<Index> {
        let create = |schema| self.clone().create_in(Arc::clone(&storage), schema);
        self.opened_or_created(|| Ok(Arc::clone(&storage)), create, schema)
    }

    /// Overwrites as [`Index::overwrite`] does, in `storage`.
    pub fn overwrite_in(self, storage: Arc<dyn Storage>, schema: Schema) -> Index {
        self.in_storage(storage, schema, Existing::Replace)
    }

    /// Recovers as [`Index::recover`] does.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::recover`].
    pub fn recover(self, path: impl Into<PathBuf>) -> Result<Recovery> {
        let storage = FsStorage::open(path, self.read_mode)?;
        self.recover_storage(Arc::new(storage))
    }

    /// Recovers, as [`Index::recover`] does, the index in `storage`.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::recover`].
    pub fn recover_storage(self, storage: Arc<dyn Storage>) -> Result<Recovery> {
        recover(Observed::watch(storage, &self.observer()), false)
    }

    /// Reports the damage that [`Index::recover`] would find, and changes nothing. It reads every byte and takes no lock: if a
    /// writer is at work, a commit may be gone before it has been read.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::recover`].
    pub fn examine(self, path: impl Into<PathBuf>) -> Result<Recovery> {
        let storage = FsStorage::open(path, self.read_mode)?;
        self.examine_storage(Arc::new(storage))
    }

    /// Examines, as [`examine`](Self::examine) does, the index in `storage`.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::recover`].
    pub fn examine_storage(self, storage: Arc<dyn Storage>) -> Result<Recovery> {
        recover(storage, true)
    }

    /// Salvages as [`Index::salvage`] does.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::salvage`].
    pub fn salvage(self, path: impl Into<PathBuf>, to: impl Into<PathBuf>) -> Result<Salvage> {
        let to = to.into();
        let from = FsStorage::open(path, self.read_mode)?;
        refuse_existing(&to, Making::Salvage)?;
        let to: Arc<dyn Storage> = Arc::new(FsStorage::create(&to, self.read_mode)?);
        self.salvage_storage(&from, to)
    }

    /// Salvages, as [`Index::salvage`] does, from one storage to another.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::salvage`].
    pub fn salvage_storage(self, from: &dyn Storage, to: Arc<dyn Storage>) -> Result<Salvage> {
        let observer = self.observer();
        let to = Observed::watch(to, &observer);
        let options = WriterOptions::new().observed_by(observer);
        salvage(from, to, Arc::new(self.analyzers), options)
    }

    fn observer(&self) -> Arc<Observer> {
        Arc::new(Observer::new(self.listener.clone(), self.measures_times))
    }

    fn slow(&self, observer: &Arc<Observer>) -> Option<SlowSearches> {
        let (index, observer) = (Arc::clone(&self.name), Arc::clone(observer));
        self.slow_log.clone().map(|log| SlowSearches { log, index, observer })
    }

    /// Names the index after its directory.
    fn named(mut self, path: &Path) -> Self {
        self.name = path.display().to_string().into();
        self
    }

    fn opened_or_created(
        &self,
        open: impl Fn() -> Result<Arc<dyn Storage>>,
        create: impl Fn(Schema) -> Result<Index>,
        schema: Schema,
    ) -> Result<Index> {
        let open = || self.clone().open_storage(open()?);
        let is_none = |error: &Error| {
            // Also what is no index: creating one says better than opening it what is wrong with that.
            matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotAnIndex)
        };
        let index = match open() {
            Err(error) if is_none(&error) => match create(schema.clone()) {
                // Somebody else was faster.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => open()?,
                created => return created,
            },
            opened => opened?,
        };
        if index.schema != schema {
            return Err(Error::new(ErrorKind::Schema, "opening an index")
                .expected("the schema that it is to be created with")
                .found(schema.difference(&index.schema))
                .in_file(index.storage()?.location())
                .hint("open it without a schema, add the fields to it, or choose another name"));
        }
        Ok(index)
    }

    /// An index in memory. Creating it there cannot fail for want of anything, and if it does the first commit says so.
    pub(super) fn in_memory(self, schema: Schema) -> Index {
        let observer = self.observer();
        let storage = Observed::watch(Arc::new(MemoryStorage::new()), &observer);
        let existing = match create(&storage, &schema, &observer) {
            Ok(()) => Existing::Keep,
            Err(_) => Existing::Replace,
        };
        self.index(Place::Storage(storage), schema, existing, observer)
    }

    fn in_directory(self, path: PathBuf, schema: Schema, existing: Existing) -> Result<Index> {
        let options = self.named(&path);
        FsStorage::create(&path, options.read_mode)?;
        let place = Place::Directory(path, options.read_mode, options.write_mode);
        let observer = options.observer();
        Ok(options.index(place, schema, existing, observer))
    }

    fn in_storage(self, storage: Arc<dyn Storage>, schema: Schema, existing: Existing) -> Index {
        let observer = self.observer();
        let place = Place::Storage(Observed::watch(storage, &observer));
        self.index(place, schema, existing, observer)
    }

    fn index(
        self,
        place: Place,
        schema: Schema,
        existing: Existing,
        observer: Arc<Observer>,
    ) -> Index {
        let (cache, slow) = (self.cache(), self.slow(&observer));
        Index {
            place,
            analyzers: Arc::new(self.analyzers),
            schema,
            existing,
            limits: None,
            cache,
            slow,
            costs: self.costs,
            published: Arc::default(),
            observer,
        }
    }
}
