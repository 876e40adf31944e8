//! Tests of writers, readers and waiting threads by one schedule after the other. They run the code that everybody
//! runs, on [locks and threads](crate::sync) of which `shuttle` says who goes on, and on a storage that lets others
//! come first at each of its calls. A thread that is never woken is a deadlock, which ends the test.
//!
//! ```text
//! RUSTFLAGS='--cfg treepie_schedules' cargo test --lib --no-default-features schedules::
//! TREEPIE_SCHEDULES=100000 RUSTFLAGS='--cfg treepie_schedules' cargo test --lib --no-default-features schedules:: -- --nocapture
//! ```
//!
//! A failure prints its schedule, which `shuttle::replay` runs once more. Memory is taken to be sequentially consistent,
//! and a step of `arc-swap` to be one: its own tests are about less.

use crate::document::Document;
use crate::error::{CommitOutcome, Error, ErrorKind, Result};
use crate::index::Index;
use crate::query::Query;
use crate::schema::Schema;
use crate::searcher::Searcher;
use crate::storage::{Entry, MemoryStorage, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use crate::sync;
use crate::writer::{IndexWriter, WriterOptions};
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner, thread};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Schedules of each test and way of choosing, if nothing else is asked for.
const SCHEDULES: usize = 300;
/// Preemptions that matter to the faults that the second way looks for.
const DEPTH: usize = 3;

fn n_schedules() -> usize {
    std::env::var("TREEPIE_SCHEDULES").map_or(SCHEDULES, |n| n.parse().expect("a number"))
}

/// Runs `test` by schedules of chance, and by such as switch rarely but where it hurts.
fn explore(test: fn()) {
    by(RandomScheduler::new(n_schedules()), test);
    by(PctScheduler::new(DEPTH, n_schedules()), test);
}

fn by(scheduler: impl Scheduler + 'static, test: fn()) {
    let mut config = Config::new();
    config.stack_size = 1 << 20;
    let n = Runner::new(scheduler, config).run(test);
    println!("{n} schedules");
}

/// Files in memory; others may come first at each call that changes names or looks at them. From some call on, files
/// cannot be created.
#[derive(Debug)]
struct Steps {
    files: MemoryStorage,
    creations_left: AtomicU64,
}

impl Storage for Steps {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        sync::step();
        let left = self.creations_left.load(Relaxed);
        if left == 0 {
            return Err(Error::new(ErrorKind::NoSpace, "creating").in_file(name));
        }
        self.creations_left.store(left - 1, Relaxed);
        self.files.create(name)
    }
    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        sync::step();
        self.files.open(name)
    }
    fn list(&self) -> Result<Vec<Entry>> {
        sync::step();
        self.files.list()
    }
    fn delete(&self, name: &str) -> Result<()> {
        sync::step();
        self.files.delete(name)
    }
    fn publish(&self, from: &str, to: &str) -> Result<()> {
        sync::step();
        self.files.publish(from, to)
    }
    fn sync_names(&self) -> Result<()> {
        self.files.sync_names()
    }
    fn lock_writer(&self) -> Result<WriterLock> {
        self.files.lock_writer()
    }
    fn pin(&self, name: &str) -> Result<Pin> {
        sync::step();
        self.files.pin(name)
    }
    fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
        sync::step();
        self.files.delete_unless_pinned(name)
    }
    fn location(&self) -> PathBuf {
        PathBuf::from("(steps)")
    }
}

fn open() -> (Arc<Steps>, Index, IndexWriter) {
    let creations_left = AtomicU64::new(u64::MAX);
    let storage = Arc::new(Steps { files: MemoryStorage::new(), creations_left });
    let schema = Schema::builder().text("text").key("id").build().unwrap();
    let index = Index::options().create_in(storage.clone(), schema).unwrap();
    // One thread works where it is called: none is started that nobody schedules.
    let options = WriterOptions::new().threads(1).memory_bytes(16 << 20);
    let writer = index.writer_with(options).unwrap();
    (storage, index, writer)
}

fn document(id: u64) -> Document {
    Document::new().with("id", id.to_string()).with("text", "all")
}

fn has(searcher: &Searcher, id: u64) -> bool {
    let query = Query::value("id", id.to_string());
    searcher.count(&query).unwrap() == 1
}

/// Checks that the searcher is whole: every document is found by a word.
fn n_docs(searcher: &Searcher) -> u64 {
    let found = searcher.count(&Query::word_in("text", "all")).unwrap();
    assert_eq!(found, searcher.n_docs());
    found
}

#[test]
fn readers_follow_a_writer_and_end_with_the_newest() {
    explore(|| {
        let (_, index, mut writer) = open();
        writer.add(document(0)).unwrap();
        writer.commit().unwrap();
        let followers: Vec<_> = (0..2)
            .map(|nth| {
                let index = index.clone();
                thread::spawn(move || {
                    // Opened while the writer is at work.
                    let reader = index.reader().unwrap();
                    let mut last = 0;
                    for _ in 0..3 {
                        let now = n_docs(&reader.searcher());
                        assert!(now >= last, "{now} documents after {last}");
                        last = now;
                        // One that looks for itself, and one that is told.
                        if nth == 1 {
                            reader.refresh().unwrap();
                        }
                    }
                    reader
                })
            })
            .collect();
        writer.add(document(1)).unwrap();
        // A flush is published even if nobody has asked for it yet.
        if thread_rng().gen_bool(0.5) {
            writer.flush().unwrap();
        }
        writer.add(document(2)).unwrap();
        writer.commit().unwrap();
        for follower in followers {
            assert_eq!(n_docs(&follower.join().unwrap().searcher()), 3);
        }
        assert_eq!(n_docs(&index.reader().unwrap().searcher()), 3);
    });
}

#[test]
fn whoever_waits_for_a_change_is_woken() {
    explore(|| {
        let (_, index, mut writer) = open();
        writer.commit().unwrap();
        let reader = index.reader().unwrap();
        let waiting: Vec<_> = (0..2)
            .map(|_| {
                let mut changes = reader.subscribe();
                thread::spawn(move || {
                    let mut last = 0;
                    while last < 2 {
                        let now = n_docs(&changes.next());
                        assert!(now >= last, "{now} documents after {last}");
                        last = now;
                    }
                })
            })
            .collect();
        let looking = thread::spawn(move || reader.refresh().unwrap());
        writer.add(document(1)).unwrap();
        writer.commit().unwrap();
        writer.add(document(2)).unwrap();
        writer.flush().unwrap();
        waiting.into_iter().for_each(|thread| thread.join().unwrap());
        looking.join().unwrap();
    });
}

#[test]
fn opening_beside_commits_and_collection_finds_one_whole_commit() {
    explore(|| {
        let (storage, index, mut writer) = open();
        writer.add(document(0)).unwrap();
        writer.commit().unwrap();
        let opening: Vec<_> = (0..2)
            .map(|_| {
                let (storage, index) = (Arc::clone(&storage), index.clone());
                thread::spawn(move || {
                    let mut last = 0;
                    for _ in 0..2 {
                        let searcher = index.searcher().unwrap();
                        let generation = searcher.generation();
                        assert!(generation >= last, "{generation} after {last}");
                        assert_eq!(n_docs(&searcher), generation, "a document a commit");
                        // A pinned commit stays, whatever the writer collects meanwhile.
                        sync::step();
                        let name = format!("manifest-{generation:016x}");
                        let names = storage.files.list().unwrap();
                        assert!(names.iter().any(|entry| entry.name == name), "{name} is gone");
                        last = generation;
                    }
                })
            })
            .collect();
        for id in 1..4 {
            writer.add(document(id)).unwrap();
            writer.commit().unwrap();
        }
        opening.into_iter().for_each(|thread| thread.join().unwrap());
        // Nothing is pinned any more.
        writer.add(document(4)).unwrap();
        writer.commit().unwrap();
        let names = storage.files.list().unwrap();
        let manifests = names.iter().filter(|entry| entry.name.starts_with("manifest-"));
        assert_eq!(manifests.count(), 2, "{names:?}");
    });
}

#[test]
fn who_is_told_of_a_shared_commit_finds_his_document_in_it() {
    explore(|| {
        let (_, index, writer) = open();
        let writer = writer.into_shared();
        let adding: Vec<_> = (0..3)
            .map(|thread| {
                let (writer, index) = (writer.clone(), index.clone());
                thread::spawn(move || {
                    for id in [thread, thread + 10] {
                        writer.add(document(id)).unwrap();
                        let commit = writer.commit().unwrap();
                        let searcher = index.searcher().unwrap();
                        assert!(searcher.generation() >= commit.generation);
                        assert!(has(&searcher, id), "{id} is not in {commit:?}");
                    }
                })
            })
            .collect();
        writer.process().unwrap();
        adding.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(n_docs(&index.searcher().unwrap()), 6);
    });
}

#[test]
fn a_shared_commit_that_fails_is_nobodys() {
    static FAILED: AtomicUsize = AtomicUsize::new(0);
    explore(|| {
        let (storage, index, mut writer) = open();
        writer.commit().unwrap();
        let writer = writer.into_shared();
        storage.creations_left.store(thread_rng().gen_range(0..6), Relaxed);
        let adding: Vec<_> = (0..3)
            .map(|id| {
                let writer = writer.clone();
                thread::spawn(move || writer.add(document(id)).and_then(|_| writer.commit()))
            })
            .collect();
        let told: Vec<_> = adding.into_iter().map(|thread| thread.join().unwrap()).collect();
        let searcher = index.searcher().unwrap();
        let is_nobodys = told.iter().all(Result::is_err);
        assert!(!is_nobodys || n_docs(&searcher) == 0, "{told:?}");
        for (id, told) in told.into_iter().enumerate() {
            // Documents that somebody else's commit took along may be there though the own one failed.
            assert!(told.is_err() || has(&searcher, id as u64), "{id}: {told:?}");
            if let Err(error) = told {
                FAILED.fetch_add(1, Relaxed);
                let is_first = error.commit_outcome() == Some(CommitOutcome::NotCommitted);
                let kind = if is_first { ErrorKind::NoSpace } else { ErrorKind::Poisoned };
                assert_eq!(error.kind(), kind, "{error}");
            }
        }
    });
    assert!(FAILED.load(Relaxed) > n_schedules() / 10, "commits fail");
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_else_is_lost() {
    static REFUSED: AtomicUsize = AtomicUsize::new(0);
    let test = || {
        let (_, index, writer) = open();
        let writer = writer.into_shared();
        let adding: Vec<_> = (0..3)
            .map(|id| {
                let writer = writer.clone();
                thread::spawn(move || {
                    // One word of which the dictionary wants nothing, so that it costs room and no time.
                    let text = "x".repeat(900 << 10);
                    let large = Document::new().with("id", id.to_string()).with("text", text);
                    while let Err(error) = writer.add(large.clone()) {
                        assert_eq!(error.kind(), ErrorKind::Busy);
                        REFUSED.fetch_add(1, Relaxed);
                        writer.process().unwrap();
                    }
                })
            })
            .collect();
        adding.into_iter().for_each(|thread| thread.join().unwrap());
        writer.commit().unwrap();
        assert_eq!(index.searcher().unwrap().n_docs(), 3);
    };
    by(RandomScheduler::new(n_schedules() / 10), test);
    assert!(REFUSED.load(Relaxed) > 0, "too much waits");
}

#[test]
fn commits_that_come_by_themselves_end_with_all_that_was_added() {
    // Whether a wait is over at once or only when somebody tells. One that is over at once may spin for long under
    // schedules that rarely switch.
    explore(|| commit_every(Duration::from_secs(3_600)));
    by(RandomScheduler::new(n_schedules()), || commit_every(Duration::ZERO));
}

fn commit_every(interval: Duration) {
    let (_, index, writer) = open();
    let writer = writer.into_shared();
    let n_told = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&n_told);
    let commits = writer.commit_every(interval, move |commit| {
        told.fetch_add(commit.unwrap().added, Relaxed);
    });
    let other = writer.clone();
    let adding = thread::spawn(move || other.add(document(1)).map(drop));
    writer.add(document(2)).unwrap();
    adding.join().unwrap().unwrap();
    drop(commits.unwrap());
    assert_eq!((n_told.load(Relaxed), n_docs(&index.searcher().unwrap())), (2, 2));
}
