//! What an index tells of what it does equals what the storage below it was asked to do.

use crate::heap::allocated;
use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use treepie::events::{Event, Operation, Tally, What};
use treepie::query::{ParseOptions, parse};
use treepie::storage::{Entry, MemoryStorage, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use treepie::writer::{BadLines, LineFormat};
use treepie::{Document, Error, ErrorKind, Index, IndexWriter, Result, Schema, WriterOptions};

/// A call that a storage got: what, to which file, bytes, and the kind of its error.
#[derive(Clone, Debug, PartialEq)]
struct Call {
    operation: Operation,
    file: String,
    from: String,
    bytes: u64,
    failed: Option<ErrorKind>,
    /// What the thread allocated between the end of the call before and the beginning of this one.
    allocated: u64,
}

thread_local! {
    /// What the thread had allocated when its last call ended.
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

/// Writes down every call, and fails one of them.
#[derive(Clone, Debug)]
struct Recorder {
    storage: MemoryStorage,
    calls: Arc<Mutex<Vec<Call>>>,
    /// The calls that can fail, counted down to the one that does.
    until_failure: Arc<AtomicUsize>,
}

impl Recorder {
    fn new(fails_at: usize) -> Self {
        let storage = MemoryStorage::new();
        let until_failure = Arc::new(AtomicUsize::new(fails_at));
        Recorder { storage, calls: Arc::default(), until_failure }
    }

    fn record<T>(
        &self,
        operation: Operation,
        (file, from): (&str, &str),
        bytes: impl Fn(&T) -> u64,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let since = allocated() - ALLOCATED.get();
        let before = self.until_failure.fetch_sub(1, Relaxed);
        let done = match before {
            1 => Err(Error::new(ErrorKind::NoSpace, "a planted failure")),
            _ => work(),
        };
        self.calls.lock().unwrap().push(Call {
            operation,
            file: file.to_owned(),
            from: from.to_owned(),
            bytes: done.as_ref().map_or(0, bytes),
            failed: done.as_ref().err().map(Error::kind),
            allocated: since,
        });
        ALLOCATED.set(allocated());
        done
    }

    fn of<T>(
        &self,
        operation: Operation,
        file: &str,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.record(operation, (file, ""), |_| 0, work)
    }

    fn written(&self, file: Box<dyn StorageWrite>, name: &str) -> Box<dyn StorageWrite> {
        Box::new(RecordedWrite { file, of: self.clone(), name: name.to_owned(), unsynced: 0 })
    }
}

impl Storage for Recorder {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        let file = self.of(Operation::Create, name, || self.storage.create(name))?;
        Ok(self.written(file, name))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        let len = |file: &Arc<dyn StorageRead>| file.len();
        self.record(Operation::Open, (name, ""), len, || self.storage.open(name))
    }

    fn open_unmapped(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        let file = self.open(name)?;
        Ok(Arc::new(RecordedRead { file, of: self.clone(), name: name.to_owned() }))
    }

    fn list(&self) -> Result<Vec<Entry>> {
        self.storage.list()
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.of(Operation::Delete, name, || self.storage.delete(name))
    }

    fn publish(&self, from: &str, to: &str) -> Result<()> {
        self.record(Operation::Publish, (to, from), |()| 0, || self.storage.publish(from, to))
    }

    fn link(&self, name: &str, also: &str) -> Result<()> {
        self.record(Operation::Link, (also, name), |()| 0, || self.storage.link(name, also))
    }

    fn sync_names(&self) -> Result<()> {
        self.of(Operation::SyncNames, "", || self.storage.sync_names())
    }

    fn lock_writer(&self) -> Result<WriterLock> {
        self.storage.lock_writer()
    }

    fn pin(&self, name: &str) -> Result<Pin> {
        self.storage.pin(name)
    }

    fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
        self.of(Operation::Delete, name, || self.storage.delete_unless_pinned(name))
    }

    fn location(&self) -> PathBuf {
        self.storage.location()
    }
}

#[derive(Debug)]
struct RecordedWrite {
    file: Box<dyn StorageWrite>,
    of: Recorder,
    name: String,
    unsynced: u64,
}

impl StorageWrite for RecordedWrite {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        let len = |_: &()| bytes.len() as u64;
        let write = || self.file.write_all(bytes);
        let written = self.of.record(Operation::Write, (&self.name, ""), len, write);
        self.unsynced += if written.is_ok() { bytes.len() as u64 } else { 0 };
        written
    }

    fn flush(&mut self) -> Result<()> {
        self.of.of(Operation::Write, &self.name, || self.file.flush())
    }

    fn sync(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut self.unsynced);
        self.of.record(Operation::Sync, (&self.name, ""), |()| bytes, || self.file.sync())
    }
}

#[derive(Debug)]
struct RecordedRead {
    file: Arc<dyn StorageRead>,
    of: Recorder,
    name: String,
}

impl StorageRead for RecordedRead {
    fn len(&self) -> u64 {
        self.file.len()
    }

    /// As a file on disk that is not mapped.
    fn mapped(&self) -> Option<&[u8]> {
        None
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let len = buffer.len() as u64;
        let read = || self.file.read_at(offset, buffer);
        self.of.record(Operation::Read, (&self.name, ""), |()| len, read)
    }

    fn path(&self) -> PathBuf {
        self.file.path()
    }
}

/// What was asked for, of everything but reading and writing, in order; and of reading and writing calls, bytes and
/// failures by file.
#[derive(Debug, Default, PartialEq)]
struct Summary {
    in_order: Vec<(Operation, String, String, Option<ErrorKind>)>,
    /// Syncs and opens, too: their bytes.
    bytes: BTreeMap<(Operation, String), (u64, u64)>,
    failed: Vec<(Operation, String, ErrorKind)>,
}

impl Summary {
    fn add(&mut self, call: Call, n_calls: u64) {
        let Call { operation, file, from, bytes, failed, .. } = call;
        let (of_calls, of_bytes) = self.bytes.entry((operation, file.clone())).or_insert((0, 0));
        *of_calls += n_calls;
        *of_bytes += bytes;
        if let Some(kind) = failed {
            self.failed.push((operation, file.clone(), kind));
        }
        if !matches!(operation, Operation::Read | Operation::Write) {
            self.in_order.push((operation, file, from, failed));
        }
    }

    fn of_calls(calls: Vec<Call>) -> Summary {
        let mut summary = Summary::default();
        calls.into_iter().for_each(|call| summary.add(call, 1));
        summary
    }

    fn of_events(events: &[Event]) -> Summary {
        let mut summary = Summary::default();
        for event in events {
            let n_calls = match &event.what {
                What::Write { calls, .. } | What::Read { calls, .. } => *calls,
                What::Flush { .. }
                | What::Prepare { .. }
                | What::Commit { .. }
                | What::Merge { .. }
                | What::Rollback { .. }
                | What::Spill { .. } => continue,
                _ => 1,
            };
            let from = match &event.what {
                What::Publish { from, .. } | What::Link { from, .. } => from.clone(),
                _ => String::new(),
            };
            let call = Call {
                operation: event.what.operation(),
                file: event.what.file().unwrap_or_default().to_owned(),
                from,
                bytes: event.what.bytes(),
                failed: event.failure.as_ref().map(|failure| failure.kind),
                allocated: 0,
            };
            summary.add(call, n_calls);
        }
        summary
    }

    /// For sessions on several threads.
    fn sorted(mut self) -> Summary {
        self.in_order.sort_by_key(|call| format!("{call:?}"));
        self
    }
}

fn schema() -> Schema {
    Schema::builder().text("title").build().unwrap()
}

fn add(writer: &mut IndexWriter, n: u32, word: &str) -> Result<()> {
    (0..n).try_for_each(|at| writer.add(Document::new().with("title", format!("{word} {at}"))))
}

/// Commits in one phase and in two, a flush, deletes, a merge, something rolled back, and a search.
fn session(index: &Index, threads: usize) -> Result<()> {
    let mut writer = index.writer_with(WriterOptions::new().threads(threads))?;
    add(&mut writer, 3, "one")?;
    writer.commit()?;
    add(&mut writer, 2_000, "two")?;
    delete(&mut writer, "1")?;
    writer.commit()?;
    add(&mut writer, 5, "three")?;
    writer.rollback()?;
    add(&mut writer, 5, "four")?;
    writer.flush()?;
    writer.prepare_commit()?.finish()?;
    writer.merge()?;
    let searcher = index.searcher()?;
    assert_eq!(searcher.count(&searcher.parse("four")?)?, 5);
    Ok(())
}

fn delete(writer: &mut IndexWriter, word: &str) -> Result<()> {
    writer.delete(&parse(word, &ParseOptions::default())?)
}

struct Watched {
    index: Index,
    recorder: Recorder,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Watched {
    fn new(fails_at: usize) -> Watched {
        let (recorder, events) = (Recorder::new(0), Arc::<Mutex<Vec<Event>>>::default());
        let seen = Arc::clone(&events);
        let index = Index::options()
            .on_event(move |event| seen.lock().unwrap().push(event.clone()))
            .create_in(Arc::new(recorder.clone()), schema())
            .unwrap();
        // Of what is done with it.
        recorder.until_failure.store(fails_at, Relaxed);
        Watched { index, recorder, events }
    }

    fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    fn summaries(&self) -> [Summary; 2] {
        let calls = self.recorder.calls.lock().unwrap().clone();
        [Summary::of_events(&self.events()), Summary::of_calls(calls)]
    }

    /// The counters are the sums of the events.
    fn check_stats(&self) {
        let (stats, events) = (self.index.metrics(), self.events());
        assert!(stats.is_timed);
        for operation in Operation::ALL {
            let of: Vec<_> =
                events.iter().filter(|event| event.what.operation() == operation).collect();
            let tally = stats.of(operation);
            assert_eq!(tally.count, of.len() as u64, "{operation:?}");
            assert_eq!(
                tally.bytes,
                of.iter().map(|event| event.what.bytes()).sum::<u64>(),
                "{operation:?}"
            );
            let failed = of.iter().filter(|event| event.failure.is_some()).count();
            assert_eq!(tally.failed, failed as u64, "{operation:?}");
            let time = |event: &&Event| match &event.what {
                What::Write { busy, .. } | What::Read { busy, .. } => *busy,
                _ => event.duration,
            };
            assert_eq!(tally.time, of.iter().map(time).sum::<Duration>(), "{operation:?}");
        }
    }
}

#[test]
fn what_is_told_is_what_the_storage_was_asked_for() {
    for threads in [1, 3] {
        let watched = Watched::new(0);
        session(&watched.index, threads).unwrap();
        let [told, recorded] = watched.summaries();
        let seen: HashSet<Operation> =
            recorded.in_order.iter().map(|(operation, ..)| *operation).collect();
        let expected = [Operation::Create, Operation::Sync, Operation::SyncNames];
        let more = [Operation::Publish, Operation::Delete, Operation::Open];
        assert!(expected.iter().chain(&more).all(|operation| seen.contains(operation)), "{seen:?}");
        match threads {
            1 => assert_eq!(told, recorded),
            _ => assert_eq!(told.sorted(), recorded.sorted()),
        }
        watched.check_stats();
    }
}

#[test]
fn runs_that_are_spilled_are_told_and_read_back() {
    let watched = Watched::new(0);
    let options = WriterOptions::new().threads(1).memory_bytes(16 << 20);
    let mut writer = watched.index.writer_with(options).unwrap();
    let lines: String = (0..200_000).map(|n| format!("number {n} of {}\n", n * 7919)).collect();
    writer.add_lines(lines.as_bytes(), &LineFormat::field("title"), BadLines::Refuse).unwrap();
    let commit = writer.commit().unwrap();
    assert!(commit.runs_spilled > 0);
    let [told, recorded] = watched.summaries();
    assert_eq!(told, recorded);
    watched.check_stats();
    let stats = watched.index.metrics();
    assert_eq!(stats.spills.count, commit.runs_spilled);
    let of_runs = |operation: Operation| -> u64 {
        let runs = recorded
            .bytes
            .iter()
            .filter(|((of, file), _)| *of == operation && file.starts_with(".run-"));
        runs.map(|(_, (_, bytes))| bytes).sum()
    };
    assert_eq!(stats.spills.bytes, of_runs(Operation::Write));
    assert!(of_runs(Operation::Read) >= stats.spills.bytes, "runs are read as a whole");
}

#[test]
fn every_byte_was_written_for_a_commit_a_merge_or_nothing() {
    let watched = Watched::new(0);
    session(&watched.index, 1).unwrap();
    let stats = watched.index.metrics();
    let of_index = [stats.flushes, stats.prepares, stats.commits, stats.merges, stats.rollbacks];
    let told: u64 = of_index.iter().map(|tally| tally.bytes).sum();
    let [_, recorded] = watched.summaries();
    let written = recorded.bytes.iter().filter(|((of, _), _)| *of == Operation::Write);
    assert_eq!(told, written.map(|(_, (_, bytes))| bytes).sum::<u64>());
    // A merge commits what there is first, and then itself.
    assert_eq!(of_index.map(|tally| tally.count), [1, 1, 6, 1, 1]);
    assert!(stats.flushes.bytes > 0 && stats.prepares.bytes > 0);

    let events = watched.events();
    let of = |operation| events.iter().filter(move |event| event.what.operation() == operation);
    let commits: Vec<_> = of(Operation::Commit).map(|event| &event.what).collect();
    let Some(What::Commit { generation: 2, documents: 2_001, added: 2_000, deleted: 2, .. }) =
        commits.get(2)
    else {
        panic!("{commits:?}");
    };
    let Some(What::Merge { documents, segments, bytes_read, bytes, .. }) =
        of(Operation::Merge).map(|event| &event.what).next()
    else {
        panic!("no merge");
    };
    // Of three segments, two with deletes; the lengths of their files are known.
    assert_eq!((*documents, *segments), (2_006, 3));
    let size = |file: &str| recorded.bytes[&(Operation::Write, file.to_owned())].1;
    let before_merge = of(Operation::Create).filter_map(|event| event.what.file());
    let before_merge: Vec<_> =
        before_merge.filter(|file| file.starts_with("seg-") || file.starts_with("del-")).collect();
    let merged = before_merge.last().unwrap();
    let inputs = before_merge.iter().filter(|file| *file != merged);
    assert_eq!(*bytes_read, inputs.map(|file| size(file)).sum::<u64>());
    assert_eq!(stats.merge_input_bytes, *bytes_read);
    assert_eq!(*bytes, size(merged));
}

#[test]
fn things_are_told_when_they_end_and_in_time_within_each_other() {
    let watched = Watched::new(0);
    let mut writer = watched.index.writer_with(WriterOptions::new().threads(1)).unwrap();
    add(&mut writer, 3, "one").unwrap();
    watched.events.lock().unwrap().clear();
    writer.commit().unwrap();
    let events = watched.events();
    let told: Vec<Operation> = events.iter().map(|event| event.what.operation()).collect();
    use Operation::*;
    // The segment, its name, the manifest, its name; then goes the commit that created the index.
    let expected =
        [Create, Write, Sync, SyncNames, Create, Write, Sync, Publish, SyncNames, Delete, Commit];
    assert_eq!(told, expected);
    let commit = events.last().unwrap();
    let end = |event: &Event| event.start + event.duration;
    // Clocks are cut to what the system's has, once.
    let slack = Duration::from_micros(1);
    for pair in events.windows(2) {
        assert!(end(&pair[0]) <= end(&pair[1]) + slack, "{} {}", pair[0], pair[1]);
    }
    for event in &events {
        assert!(
            event.start + slack >= commit.start && end(event) <= end(commit) + slack,
            "{event}"
        );
    }
}

/// Every call of a session fails once: what is told is the same, and the commit is told to have failed, too.
#[test]
fn whatever_fails_is_told() {
    let whole = Watched::new(0);
    let of_creating = whole.recorder.calls.lock().unwrap().len();
    session(&whole.index, 1).unwrap();
    let n_calls = whole.recorder.calls.lock().unwrap().len() - of_creating;
    let (mut of_commits, mut of_merges, mut harmless) = (0, 0, 0);
    for fails_at in 1..=n_calls {
        let watched = Watched::new(fails_at);
        let ended = session(&watched.index, 1);
        let [told, recorded] = watched.summaries();
        assert_eq!(told, recorded, "the call {fails_at} of {n_calls}");
        // Clearing up after it may meet a file that was never made.
        let is_delete = |failed: &(Operation, String, ErrorKind)| failed.0 == Operation::Delete;
        assert!(!recorded.failed.is_empty() && recorded.failed[1..].iter().all(is_delete));
        watched.check_stats();
        let stats = watched.index.metrics();
        of_commits += stats.commits.failed;
        of_merges += stats.merges.failed;
        match ended {
            // Clearing up may fail.
            Ok(()) => harmless += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::NoSpace, "{error}"),
        }
    }
    assert!(
        of_commits > 20 && of_merges > 5 && harmless > 0,
        "{of_commits} {of_merges} {harmless}"
    );
}

#[test]
fn a_listener_that_panics_harms_nobody() {
    let index = Index::options()
        .on_event(|event| panic!("a bug of the host's, at {event}"))
        .create_in(Arc::new(MemoryStorage::new()), schema())
        .unwrap();
    session(&index, 3).unwrap();
    assert_eq!(index.metrics().commits.count, 6);
}

#[test]
fn counters_need_nobody_who_listens_and_times_have_to_be_asked_for() {
    let [untimed, timed] = [false, true].map(|measures| {
        let storage = Arc::new(MemoryStorage::new());
        let index = Index::options().measure_times(measures).create_in(storage, schema()).unwrap();
        session(&index, 1).unwrap();
        index.clone().metrics()
    });
    for operation in Operation::ALL {
        let (without, with) = (untimed.of(operation), timed.of(operation));
        let counted = |tally: Tally| (tally.count, tally.failed, tally.bytes);
        assert_eq!(counted(without), counted(with), "{operation:?}");
        assert_eq!(without.time, Duration::ZERO);
    }
    assert!(timed.commits.time >= timed.syncs.time && timed.commits.time > Duration::ZERO);
    assert!(!untimed.is_timed && timed.is_timed);
}

/// Between two calls that follow each other at once, only what watches them could allocate.
#[test]
fn without_a_listener_nothing_is_allocated_on_the_way_to_a_file() {
    let allocated_between = |listens: bool| {
        let recorder = Recorder::new(0);
        let options = match listens {
            true => Index::options().on_event(|_| {}),
            false => Index::options(),
        };
        let index = options.create_in(Arc::new(recorder.clone()), schema()).unwrap();
        session(&index, 1).unwrap();
        let calls = recorder.calls.lock().unwrap();
        let follow = |pair: &&[Call]| match (pair[0].operation, pair[1].operation) {
            (Operation::Publish, Operation::SyncNames) => true,
            // The manifest.
            (Operation::Write, Operation::Sync) => pair[1].file.starts_with(".tmp-"),
            _ => false,
        };
        let following: Vec<_> =
            calls.windows(2).filter(follow).map(|pair| pair[1].allocated).collect();
        assert_eq!(following.len(), 12, "two in each of six commits");
        following
    };
    assert_eq!(allocated_between(false), [0; 12]);
    assert!(allocated_between(true).iter().all(|allocated| *allocated > 0));
}

/// Recovering and salvaging are told to the listener of the options.
#[test]
fn ways_back_after_damage_are_told() {
    let storage = MemoryStorage::new();
    let index = Index::options().create_in(Arc::new(storage.clone()), schema()).unwrap();
    let mut writer = index.writer().unwrap();
    for word in ["one", "two"] {
        add(&mut writer, 1, word).unwrap();
        writer.commit().unwrap();
    }
    drop(writer);
    storage.delete("manifest-0000000000000002").unwrap();
    drop(storage.create("manifest-0000000000000002").unwrap());
    let events = Arc::<Mutex<Vec<Event>>>::default();
    let options = || {
        let seen = Arc::clone(&events);
        Index::options().on_event(move |event| seen.lock().unwrap().push(event.clone()))
    };
    let taken = || {
        let events = std::mem::take(&mut *events.lock().unwrap());
        events.into_iter().map(|event| event.what.operation()).collect::<HashSet<_>>()
    };
    options().salvage_storage(&storage, Arc::new(MemoryStorage::new())).unwrap();
    assert!(taken().contains(&Operation::Sync));
    options().recover_storage(Arc::new(storage)).unwrap();
    assert!(taken().contains(&Operation::Publish));
}
