//! Newest snapshot of an index in this process, in one place for writers and readers.
//!
//! A writer publishes by one atomic store, and a reader takes what is there by one atomic load: neither waits for the
//! other, and nobody sees half of a change. A value that was taken stays as it is for as long as it is held.

use crate::segment::snapshot::Snapshot;
use crate::sync::{self, Condvar, Mutex};
use arc_swap::ArcSwapOption;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Newest snapshot of one index, shared by an index, its clones, its writer and its readers.
#[derive(Debug, Default)]
pub(crate) struct Published {
    newest: ArcSwapOption<Snapshot>,
    /// Whether somebody is a reader, or about to be one.
    wanted: AtomicBool,
    /// Number of those readers; held while they come and go, and by nobody else.
    n_readers: Mutex<usize>,
    /// Number of snapshots that showed uncommitted documents, so that no two of them have the same number.
    n_flushes: AtomicU64,
    /// Whether a writer has committed: then there is an index to keep.
    pub(crate) established: AtomicBool,
    /// Snapshot that was published and is no more, if nothing could be published in its place.
    stale: ArcSwapOption<Snapshot>,
    /// For whoever waits for the next one; neither publishing's store nor a reader's load needs it.
    n_changes: Mutex<u64>,
    changed: Condvar,
}

impl Published {
    /// Last published snapshot; `None` before anybody asked for it.
    pub(crate) fn newest(&self) -> Option<Arc<Snapshot>> {
        sync::step();
        self.newest.load_full()
    }

    /// Asks for commits from now on. Whoever asks before looking for the newest one misses none: a writer that sees
    /// nobody ask has committed before that look.
    pub(crate) fn want(&self) {
        let mut n_readers = self.n_readers.lock().unwrap_or_else(PoisonError::into_inner);
        *n_readers += 1;
        self.wanted.store(true, Ordering::SeqCst);
    }

    /// Takes back one [`want`](Self::want). After the last one no commit is kept open for nobody, and its files may go; what
    /// was flushed stays, for the next who asks.
    pub(crate) fn leave(&self) {
        let mut n_readers = self.n_readers.lock().unwrap_or_else(PoisonError::into_inner);
        *n_readers = n_readers.saturating_sub(1);
        let unwanted = self.forget_unless_wanted(*n_readers);
        // Dropping a snapshot may run code of the host's, which may open a reader.
        drop(n_readers);
        drop(unwanted);
    }

    /// Lets go of what is there for no reader, and gives it back: not of what was flushed, as long as it is there.
    fn forget_unless_wanted(&self, n_readers: usize) -> [Option<Arc<Snapshot>>; 2] {
        if n_readers > 0 {
            return [None, None];
        }
        self.wanted.store(false, Ordering::SeqCst);
        let is_kept = |now: &Arc<Snapshot>| now.is_flushed() && !self.is_stale(now);
        let newest = self.newest.rcu(|now| now.clone().filter(is_kept));
        [newest, self.forget_what_was_replaced()]
    }

    /// Whether there are readers who want to know of commits, or who would find what was flushed before one.
    pub(crate) fn is_wanted(&self) -> bool {
        sync::step();
        self.wanted.load(Ordering::SeqCst) || self.newest.load().is_some()
    }

    /// Says that the last published snapshot is outdated: the next who looks has to look at the disk.
    pub(crate) fn set_stale(&self) {
        self.stale.store(self.newest.load_full());
        let n_readers = self.n_readers.lock().unwrap_or_else(PoisonError::into_inner);
        let unwanted = self.forget_unless_wanted(*n_readers);
        drop(n_readers);
        drop(unwanted);
        // Another may have been published meanwhile.
        self.forget_what_was_replaced();
    }

    /// Lets go of what is no more and is not the newest either.
    fn forget_what_was_replaced(&self) -> Option<Arc<Snapshot>> {
        let is_newest = |stale: &Arc<Snapshot>| {
            self.newest.load().as_ref().is_some_and(|newest| Arc::ptr_eq(newest, stale))
        };
        self.stale.rcu(|stale| stale.clone().filter(is_newest))
    }

    /// Whether this is no more. It stays so until something else is published, so that whoever fails to look leaves it to
    /// the next; and says nothing of what is published meanwhile.
    pub(crate) fn is_stale(&self, snapshot: &Arc<Snapshot>) -> bool {
        self.stale.load().as_ref().is_some_and(|stale| Arc::ptr_eq(stale, snapshot))
    }

    /// A number for the next snapshot of what no commit has: even, so that there is one between each and the next for
    /// what is [published in its place](Self::publish_instead).
    pub(crate) fn next_flush(&self) -> u64 {
        self.n_flushes.fetch_add(2, Ordering::Relaxed) + 2
    }

    /// Publishes `snapshot`, unless there is a newer one.
    pub(crate) fn publish(&self, snapshot: Arc<Snapshot>) {
        self.publish_where(&snapshot, |now| snapshot.version() > now.version());
        if !snapshot.is_flushed() {
            // The last reader may have left meanwhile, or left what was flushed, in the place of which this is now.
            let n_readers = self.n_readers.lock().unwrap_or_else(PoisonError::into_inner);
            let unwanted = self.forget_unless_wanted(*n_readers);
            drop(n_readers);
            drop(unwanted);
        }
    }

    /// Publishes what the disk has instead of what is no more, unless somebody has published anything meanwhile. Whatever a
    /// writer flushes or commits, then or later, is newer. Whether readers see anything else now.
    pub(crate) fn publish_instead(&self, stale: &Arc<Snapshot>, found: Snapshot) -> bool {
        if found.version() <= stale.version() && !stale.is_flushed() {
            // It is what the disk has.
            self.stale.rcu(|now| now.clone().filter(|now| !Arc::ptr_eq(now, stale)));
            return false;
        }
        let is_newer = found.version() > stale.version();
        let found = Arc::new(if is_newer { found } else { found.instead_of_flush(stale.flush()) });
        self.publish_where(&found, |now| Arc::ptr_eq(now, stale) || found.version() > now.version())
    }

    /// Publishes if that is to take the place of what is there; whether it did.
    fn publish_where(
        &self,
        snapshot: &Arc<Snapshot>,
        replaces: impl Fn(&Arc<Snapshot>) -> bool,
    ) -> bool {
        let before = self.newest.rcu(|now| {
            sync::step();
            match now {
                Some(now) if !replaces(now) => Some(Arc::clone(now)),
                _ => Some(Arc::clone(snapshot)),
            }
        });
        let is_news = before.as_ref().is_none_or(replaces);
        if is_news {
            self.forget_what_was_replaced();
            *self.n_changes.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            self.changed.notify_all();
        }
        is_news
    }

    /// Number of times that something newer was published.
    pub(crate) fn n_changes(&self) -> u64 {
        *self.n_changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something newer was published than after `seen` changes, or for so long; how many there were.
    pub(crate) fn wait(&self, seen: u64, timeout: Option<Duration>) -> u64 {
        let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut n_changes = self.n_changes.lock().unwrap_or_else(PoisonError::into_inner);
        while *n_changes <= seen {
            let Some(until) = until else {
                let woken = self.changed.wait(n_changes);
                n_changes = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            let woken = self.changed.wait_timeout(n_changes, rest);
            n_changes = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        *n_changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::TermVersions;
    use crate::format::FileName;
    use crate::format::manifest::Manifest;
    use crate::ids::SegmentId;
    use crate::schema::Schema;
    use crate::storage::{MemoryStorage, Storage};

    /// A commit without documents, and what was flushed after it.
    fn snapshot(storage: &MemoryStorage, generation: u64, flush: u64) -> Arc<Snapshot> {
        let manifest = Manifest {
            index_id: SegmentId([0; 16]),
            generation,
            previous: generation - 1,
            writer: [0, 1, 0],
            term_versions: TermVersions::CURRENT,
            schema: Schema::of_titles(),
            segments: vec![],
            payload: vec![],
            writable: true,
        };
        if flush > 0 {
            return Arc::new(Snapshot::of_flush(storage, manifest, flush, None).unwrap());
        }
        let name = FileName::Manifest(generation).to_string();
        storage.create(&name).unwrap().write_all(&manifest.encode().unwrap()).unwrap();
        Arc::new(Snapshot::open(storage).unwrap())
    }

    /// Whoever is slow to publish what it found does not take readers back.
    #[test]
    fn an_older_snapshot_is_not_published_after_a_newer_one() {
        let storage = MemoryStorage::new();
        let of = |generation, flush| snapshot(&storage, generation, flush);
        let ordered = [of(7, 0), of(7, 1), of(7, 2), of(8, 0), of(9, 0), of(9, 3)];
        let versions: Vec<_> = ordered.iter().map(|snapshot| snapshot.version()).collect();
        assert_eq!(versions, [(7, 0), (7, 1), (7, 2), (8, 0), (9, 0), (9, 3)]);
        for (nth, newest) in ordered.iter().enumerate() {
            let published = Published::default();
            assert!(published.newest().is_none() && !published.is_wanted());
            published.want();
            published.publish(Arc::clone(newest));
            for older in &ordered[..=nth] {
                published.publish(Arc::clone(older));
                assert!(Arc::ptr_eq(&published.newest().unwrap(), newest));
            }
            assert_eq!(published.n_changes(), 1, "nobody is woken for something older");
            assert_eq!(published.wait(1, Some(Duration::ZERO)), 1);
            for newer in &ordered[nth + 1..] {
                published.publish(Arc::clone(newer));
                assert!(Arc::ptr_eq(&published.newest().unwrap(), newer));
            }
            assert_eq!(published.n_changes(), (ordered.len() - nth) as u64);
        }
    }

    /// A writer that believes that nobody asks does not open what it has committed.
    #[test]
    fn whoever_asks_once_or_finds_something_is_told_of_commits() {
        let storage = MemoryStorage::new();
        let asked = Published::default();
        asked.want();
        assert!(asked.is_wanted());
        let filled = Published::default();
        filled.publish(snapshot(&storage, 1, 0));
        assert!(!filled.is_wanted(), "a commit is on the disk for whoever asks");
        filled.publish(snapshot(&storage, 1, filled.next_flush()));
        assert!(filled.is_wanted());
    }

    /// Files that nobody reads would stay for as long as the index is held.
    #[test]
    fn with_the_last_reader_goes_what_was_committed_and_nothing_that_was_flushed() {
        let storage = MemoryStorage::new();
        let published = Published::default();
        published.want();
        published.want();
        published.publish(snapshot(&storage, 1, 0));
        published.set_stale();
        published.leave();
        assert!(published.newest().is_some() && published.is_wanted());
        published.leave();
        assert!(published.newest().is_none() && !published.is_wanted());
        assert!(published.stale.load().is_none());
        published.want();
        published.publish(snapshot(&storage, 1, published.next_flush()));
        published.leave();
        assert!(published.newest().is_some_and(|newest| newest.is_flushed()));
        published.leave();
        assert!(published.is_wanted(), "once too often is no harm");
        published.publish(snapshot(&storage, 2, 0));
        assert!(published.newest().is_none(), "nobody reads what took its place");
        // A removed snapshot is kept for nobody either.
        published.want();
        published.publish(snapshot(&storage, 2, published.next_flush()));
        published.set_stale();
        published.leave();
        assert!(published.newest().is_none());
    }

    /// It would be answered from for ever, or each reader would read the disk each time.
    #[test]
    fn what_is_no_more_is_replaced_once_by_what_the_disk_has() {
        let storage = MemoryStorage::new();
        let published = Published::default();
        published.want();
        published.set_stale();
        let commit = snapshot(&storage, 1, 0);
        let flushed = snapshot(&storage, 1, published.next_flush());
        published.publish(Arc::clone(&flushed));
        assert!(!published.is_stale(&flushed), "there was nothing yet when it was said");
        published.set_stale();
        assert!(published.is_stale(&flushed) && published.is_stale(&flushed));
        published.publish(commit);
        assert!(published.is_stale(&flushed), "an older one is no news");
        let found = || Snapshot::open(&storage).unwrap();
        assert!(published.publish_instead(&flushed, found()));
        let newest = published.newest().unwrap();
        assert!(newest.version() > flushed.version() && !newest.is_flushed());
        assert!(!published.is_stale(&flushed) && !published.is_stale(&newest));
        assert!(!published.publish_instead(&flushed, found()), "by somebody who was late");

        published.set_stale();
        assert!(!published.publish_instead(&newest, found()), "the same again is no news");
        assert!(!published.is_stale(&newest) && published.n_changes() == 2);
    }

    /// Whoever looks at the disk may be slow: what a writer flushes meanwhile stays, whichever of the two comes first.
    #[test]
    fn what_is_flushed_while_somebody_looks_is_not_taken_back() {
        let storage = MemoryStorage::new();
        snapshot(&storage, 1, 0);
        for is_late in [false, true] {
            let published = Published::default();
            published.want();
            let lost = snapshot(&storage, 1, published.next_flush());
            published.publish(Arc::clone(&lost));
            published.set_stale();
            let found = Snapshot::open(&storage).unwrap();
            let flushed = snapshot(&storage, 1, published.next_flush());
            if is_late {
                published.publish(Arc::clone(&flushed));
                assert!(!published.publish_instead(&lost, found));
            } else {
                assert!(published.publish_instead(&lost, found));
                published.publish(Arc::clone(&flushed));
            }
            assert!(Arc::ptr_eq(&published.newest().unwrap(), &flushed));
            assert!(!published.is_stale(&flushed));
        }
    }

    #[test]
    fn no_two_flushes_have_the_same_number_nor_that_of_a_commit() {
        let published = Published::default();
        assert_eq!([(); 3].map(|()| published.next_flush()), [2, 4, 6]);
    }

    #[test]
    fn whoever_waits_is_woken_by_what_is_published_and_not_before() {
        let storage = MemoryStorage::new();
        let published = Published::default();
        let began = Instant::now();
        let short = Duration::from_millis(20);
        assert_eq!(published.wait(0, Some(short)), 0);
        assert!(began.elapsed() >= short);
        let long = Some(Duration::from_secs(60));
        for (generation, timeout) in [(1, None), (2, long)] {
            let woken = std::thread::scope(|scope| {
                let waiting = scope.spawn(|| published.wait(generation - 1, timeout));
                std::thread::sleep(short);
                published.publish(snapshot(&storage, generation, 0));
                waiting.join().unwrap()
            });
            assert_eq!(woken, generation);
        }
        assert_eq!(published.wait(1, None), 2, "nobody waits for what has been");
        assert!(began.elapsed() < Duration::from_secs(30), "woken by the time alone");
    }
}
