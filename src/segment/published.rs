//! The newest snapshot of an index as this process knows it, in one place for writers and readers.
//!
//! A writer publishes by one atomic store, and a reader takes what is there by one atomic load: neither waits for the
//! other, and nobody sees half of a change. What was taken stays as it is for as long as it is held.

use crate::segment::snapshot::Snapshot;
use crate::sync::{self, Condvar, Mutex};
use arc_swap::ArcSwapOption;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Where the snapshots of one index are published, shared by an index, its clones, its writer and its readers.
#[derive(Debug, Default)]
pub(crate) struct Published {
    newest: ArcSwapOption<Snapshot>,
    /// Whether somebody is a reader, or about to be one.
    wanted: AtomicBool,
    /// How many snapshots showed what no commit had, so that no two of them have the same number.
    n_flushes: AtomicU64,
    /// Whether a writer has committed: then there is an index to keep.
    pub(crate) established: AtomicBool,
    /// Whether what was published last is no more, and nothing could be published in its place.
    stale: AtomicBool,
    /// For whoever waits for the next one; neither publishing's store nor a reader's load needs it.
    n_changes: Mutex<u64>,
    changed: Condvar,
}

impl Published {
    /// What was published last; `None` before anybody asked for it.
    pub(crate) fn newest(&self) -> Option<Arc<Snapshot>> {
        sync::step();
        self.newest.load_full()
    }

    /// Asks for commits from now on. Whoever asks before looking for the newest one misses none: a writer that sees
    /// nobody ask has committed before that look.
    pub(crate) fn want(&self) {
        self.wanted.store(true, Ordering::SeqCst);
    }

    /// Whether there are readers who want to know of commits, or who would find what was flushed before one.
    pub(crate) fn is_wanted(&self) -> bool {
        sync::step();
        self.wanted.load(Ordering::SeqCst) || self.newest.load().is_some()
    }

    /// What was published last is not what there is: the next who looks has to look at the disk.
    pub(crate) fn set_stale(&self) {
        self.stale.store(true, Ordering::Release);
    }

    /// Whether it is; to be put right by whoever asks.
    pub(crate) fn take_stale(&self) -> bool {
        self.stale.swap(false, Ordering::AcqRel)
    }

    /// A number for the next snapshot of what no commit has.
    pub(crate) fn next_flush(&self) -> u64 {
        self.n_flushes.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Publishes what the writer has made: what was stale before it is put right.
    pub(crate) fn publish_written(&self, snapshot: Arc<Snapshot>) {
        // Before it is there: there is one writer, and nothing that it makes stale is made so in between.
        self.stale.store(false, Ordering::Release);
        self.publish(snapshot);
    }

    /// Publishes `snapshot`, unless there is a newer one.
    pub(crate) fn publish(&self, snapshot: Arc<Snapshot>) {
        let is_newer = |than: &Arc<Snapshot>| snapshot.version() > than.version();
        let before = self.newest.rcu(|now| {
            sync::step();
            match now {
                Some(now) if !is_newer(now) => Some(Arc::clone(now)),
                _ => Some(Arc::clone(&snapshot)),
            }
        });
        if before.as_ref().is_none_or(is_newer) {
            *self.n_changes.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            self.changed.notify_all();
        }
    }

    /// How often something newer was published.
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
            schema: Schema::wikipedia_titles(),
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
        assert!(filled.is_wanted());
    }

    /// It would be answered from for ever, or each reader would read the disk each time.
    #[test]
    fn what_is_no_more_is_looked_up_once_unless_a_writer_puts_it_right() {
        let storage = MemoryStorage::new();
        let published = Published::default();
        assert!(!published.take_stale());
        let one = snapshot(&storage, 1, 0);
        published.publish(Arc::clone(&one));
        published.set_stale();
        assert!(published.take_stale() && !published.take_stale());
        published.set_stale();
        published.publish(one);
        assert!(published.take_stale(), "the same again is no news");
        published.set_stale();
        published.publish_written(snapshot(&storage, 2, 0));
        assert!(!published.take_stale());
    }

    #[test]
    fn no_two_flushes_have_the_same_number_nor_that_of_a_commit() {
        let published = Published::default();
        assert_eq!([(); 3].map(|()| published.next_flush()), [1, 2, 3]);
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
