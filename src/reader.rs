//! Reader that follows an index. It gives the newest snapshot that this process knows of, at the cost of an atomic
//! load.

use crate::error::{ErrorKind, Result};
use crate::searcher::{Searcher, Setting};
use crate::segment::published::Published;
use crate::segment::snapshot::{self, Snapshot};
use crate::storage::Storage;
use arc_swap::ArcSwap;
use std::sync::Arc;
use std::time::Duration;

/// Reader that gives searchers of the newest flush or commit, from [`Index::reader`](crate::Index::reader).
///
/// Cheap to clone and to share between threads. Flushes and commits of writers of the same [`Index`](crate::Index) value, or of
/// a clone of it, are there at once; commits of other processes when somebody [looks for them](Self::refresh).
///
/// ```
/// use treepie::{Document, Index, Schema};
///
/// let index = Index::in_memory(Schema::builder().text("title").build()?);
/// let mut writer = index.writer()?;
/// writer.commit()?;
/// let reader = index.reader()?;
/// let before = reader.searcher();
///
/// writer.add(Document::new().with("title", "Paris"))?;
/// writer.flush()?;
/// assert_eq!(reader.searcher().n_docs(), 1);
/// assert_eq!(before.n_docs(), 0); // keeps what it has
///
/// writer.rollback()?;
/// assert_eq!(reader.searcher().n_docs(), 0);
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct IndexReader(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    storage: Arc<dyn Storage>,
    setting: Setting,
    wanted: Wanted,
    /// Searcher of the snapshot that was asked for last.
    searcher: ArcSwap<Searcher>,
}

/// Asks for commits as long as it lives.
#[derive(Debug)]
struct Wanted(Arc<Published>);

impl Wanted {
    fn new(published: Arc<Published>) -> Self {
        published.want();
        Wanted(published)
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl IndexReader {
    /// Begins with what is published, or with the newest commit, which is `opened` then.
    pub(crate) fn open(
        storage: Arc<dyn Storage>,
        setting: Setting,
        published: Arc<Published>,
        opened: impl FnOnce(&dyn Storage) -> Result<Snapshot>,
    ) -> Result<Self> {
        let wanted = Wanted::new(published);
        let published = &wanted.0;
        let snapshot = match published.newest() {
            Some(newest) => newest,
            None => {
                let snapshot = Arc::new(opened(&*storage)?);
                published.publish(Arc::clone(&snapshot));
                published.newest().unwrap_or(snapshot)
            }
        };
        let is_stale = published.is_stale(&snapshot);
        let searcher = Searcher::of(Arc::clone(&storage), snapshot, setting.clone());
        let searcher = ArcSwap::from_pointee(searcher);
        let reader = IndexReader(Arc::new(Inner { storage, setting, wanted, searcher }));
        if is_stale {
            reader.refresh()?;
        }
        Ok(reader)
    }

    /// Answers from the newest snapshot. Never waits, whatever writers do, and never fails.
    pub fn searcher(&self) -> Searcher {
        let Inner { storage, setting, wanted: Wanted(published), searcher } = &*self.0;
        let kept = searcher.load();
        let newest = match published.newest() {
            Some(newest) if !kept.is_of(&newest) => newest,
            _ => return Searcher::clone(&kept),
        };
        let fresh = Searcher::of(Arc::clone(storage), newest, setting.clone());
        // Another thread may have been faster, or may store an older one now: then the next call sees it.
        searcher.store(Arc::new(fresh.clone()));
        fresh
    }

    /// Looks for commits of other processes, and returns whether there was one. If there was none, that costs a listing
    /// of the directory.
    ///
    /// # Errors
    ///
    /// Fails like [`Index::searcher`](crate::Index::searcher); searchers stay as they are.
    pub fn refresh(&self) -> Result<bool> {
        let Inner { storage, wanted: Wanted(published), .. } = &*self.0;
        let known = published.newest();
        let generation = known.as_ref().map_or(0, |known| known.manifest.generation);
        if let Some(stale) = known.as_ref().filter(|known| published.is_stale(known)) {
            let newest = Snapshot::open_after(&**storage, Some(stale))?;
            return Ok(published.publish_instead(stale, newest));
        }
        match snapshot::newest(&**storage) {
            Ok(newest) if newest <= generation => return Ok(false),
            // Nothing is committed yet.
            Err(error)
                if error.kind() == ErrorKind::NotAnIndex && known.is_some() && generation == 0 =>
            {
                return Ok(false);
            }
            looked => looked?,
        };
        let newest = Snapshot::open_after(&**storage, known.as_deref())?;
        let is_newer = newest.manifest.generation > generation;
        published.publish(Arc::new(newest));
        Ok(is_newer)
    }

    /// Waits for snapshots that come after the newest one of now.
    pub fn subscribe(&self) -> Subscription {
        Subscription { reader: self.clone(), seen: self.0.wanted.0.n_changes() }
    }
}

/// Waits for what is flushed, committed or [found](IndexReader::refresh); from [`IndexReader::subscribe`].
///
/// ```
/// use std::time::Duration;
/// use treepie::{Document, Index, Schema};
///
/// let index = Index::in_memory(Schema::builder().text("title").build()?);
/// let mut writer = index.writer()?;
/// writer.commit()?;
/// let mut commits = index.reader()?.subscribe();
/// assert!(commits.next_within(Duration::ZERO).is_none());
///
/// writer.add(Document::new().with("title", "Paris"))?;
/// let writing = std::thread::spawn(move || writer.commit());
/// let searcher = commits.next();
/// assert_eq!(searcher.n_docs(), 1);
/// # writing.join().unwrap()?;
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Subscription {
    reader: IndexReader,
    seen: u64,
}

impl Subscription {
    /// Waits for the next snapshot, and returns the newest one by then. Snapshots in between are left out.
    #[expect(
        clippy::should_implement_trait,
        reason = "it never ends, and an iterator would hide that it waits"
    )]
    pub fn next(&mut self) -> Searcher {
        self.seen = self.reader.0.wanted.0.wait(self.seen, None);
        self.reader.searcher()
    }

    /// Waits for the next snapshot as [`next`](Self::next), but at most for `timeout`. `None` if there was none.
    pub fn next_within(&mut self, timeout: Duration) -> Option<Searcher> {
        let n_changes = self.reader.0.wanted.0.wait(self.seen, Some(timeout));
        let is_new = n_changes > self.seen;
        self.seen = n_changes;
        is_new.then(|| self.reader.searcher())
    }
}
