//! A disk that is full: wherever it happens, the error says so, the commit before stands, and once
//! there is room again a new writer goes on.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use treepie::error::CommitOutcome;
use treepie::storage::{Entry, MemoryStorage, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use treepie::writer::{BadLines, LineFormat};
use treepie::{Document, Error, ErrorKind, Index, Result, WriterOptions};

/// Room that never ends.
const UNLIMITED: u64 = u64::MAX;

/// Files in memory, with room for so many calls that take some.
#[derive(Clone, Debug)]
struct FullDisk {
    files: MemoryStorage,
    room: Arc<AtomicU64>,
}

impl FullDisk {
    fn new() -> Self {
        FullDisk { files: MemoryStorage::new(), room: Arc::new(UNLIMITED.into()) }
    }

    fn names(&self) -> Vec<String> {
        self.files.list().unwrap().into_iter().map(|entry| entry.name).collect()
    }

    /// What a call does first that takes room. Full stays full.
    fn take(&self, doing: &str) -> Result<()> {
        let taken = self.room.fetch_update(Relaxed, Relaxed, |room| match room {
            UNLIMITED => Some(UNLIMITED),
            room => room.checked_sub(1),
        });
        taken.map(|_| ()).map_err(|_| Error::new(ErrorKind::NoSpace, doing))
    }
}

#[derive(Debug)]
struct FullFile(FullDisk, Box<dyn StorageWrite>);

impl StorageWrite for FullFile {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.take("writing")?;
        self.1.write_all(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.0.take("flushing")?;
        self.1.flush()
    }

    fn sync(&mut self) -> Result<()> {
        self.0.take("syncing")?;
        self.1.sync()
    }
}

impl Storage for FullDisk {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        self.take("creating")?;
        Ok(Box::new(FullFile(self.clone(), self.files.create(name)?)))
    }
    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        self.files.open(name)
    }
    fn list(&self) -> Result<Vec<Entry>> {
        self.files.list()
    }
    fn delete(&self, name: &str) -> Result<()> {
        self.files.delete(name)
    }
    fn publish(&self, from: &str, to: &str) -> Result<()> {
        self.take("publishing")?;
        self.files.publish(from, to)
    }
    fn sync_names(&self) -> Result<()> {
        self.files.sync_names()
    }
    fn lock_writer(&self) -> Result<WriterLock> {
        self.files.lock_writer()
    }
    fn pin(&self, name: &str) -> Result<Pin> {
        self.files.pin(name)
    }
    fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
        self.files.delete_unless_pinned(name)
    }
    fn location(&self) -> PathBuf {
        PathBuf::from("(full)")
    }
}

/// What a writer does on a disk that gets full.
#[derive(Clone, Copy, Debug)]
enum Work<'a> {
    /// Documents, then a commit.
    Add,
    /// Lines, so many that they are spilled, then a commit.
    Lines(&'a str),
    Merge,
}

fn options(threads: usize) -> WriterOptions {
    WriterOptions::new().threads(threads).memory_bytes(16 << 20)
}

/// A disk with two commits, each of one segment more.
fn disk() -> FullDisk {
    let disk = FullDisk::new();
    let storage = Arc::new(disk.clone());
    let index =
        Index::options().create_in(storage, LineFormat::titles().schema().unwrap()).unwrap();
    let mut writer = index.writer_with(options(1)).unwrap();
    for n in 0..200 {
        writer.add(Document::new().with("title", format!("old n{}", n % 5))).unwrap();
        if n % 100 == 99 {
            writer.commit().unwrap();
        }
    }
    disk
}

fn count(disk: &FullDisk, text: &str) -> u64 {
    let index = Index::options().open_storage(Arc::new(disk.clone())).unwrap();
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
    let searcher = index.searcher().unwrap();
    searcher.count(&searcher.parse(text).unwrap()).unwrap()
}

/// Does the work while there is room for `room` calls. `None` where that was enough, else what
/// failed.
fn work_with_room(disk: &FullDisk, work: Work<'_>, room: u64, threads: usize) -> Option<Error> {
    let index = Index::options().open_storage(Arc::new(disk.clone())).unwrap();
    let mut writer = index.writer_with(options(threads)).unwrap();
    disk.room.store(room, Relaxed);
    let done = match work {
        Work::Add => (0..50)
            .try_for_each(|n| writer.add(Document::new().with("title", format!("new n{n}"))))
            .and_then(|()| writer.commit().map(|_| ())),
        Work::Lines(lines) => writer
            .add_lines(lines.as_bytes(), &LineFormat::titles(), BadLines::Refuse)
            .and_then(|_| writer.commit().map(|_| ())),
        Work::Merge => writer.merge().map(|_| ()),
    };
    let error = done.err();
    if let Some(error) = &error {
        assert_eq!(error.kind(), ErrorKind::NoSpace, "room for {room}: {error}");
        let again = writer.commit().unwrap_err();
        // A merge that fails costs nothing, so the writer tries again, in vain.
        let goes_on = error.commit_outcome() == Some(CommitOutcome::Committed)
            && again.kind() == ErrorKind::NoSpace;
        assert!(goes_on || again.kind() == ErrorKind::Poisoned, "room for {room}: {again}");
    }
    disk.room.store(UNLIMITED, Relaxed);
    error
}

/// After a failure: the commit before answers, a new writer works, and nothing is left over.
fn goes_on(disk: &FullDisk, what: &str) {
    assert_eq!((count(disk, "old"), count(disk, "new")), (200, 0), "{what}");
    assert!(work_with_room(disk, Work::Add, UNLIMITED, 1).is_none());
    assert_eq!((count(disk, "old"), count(disk, "new")), (200, 50), "{what}");
    let names = disk.names();
    let segments = names.iter().filter(|name| name.starts_with("seg-")).count();
    assert_eq!(segments, 3, "{what}: {names:?}");
    let litter = |name: &&String| name.starts_with('.');
    assert_eq!(names.iter().find(litter), None, "{what}: {names:?}");
}

/// Room for `step` calls more each time, until the work is done; how often it was not.
fn until_done(work: Work<'_>, new: u64, step: u64, threads: usize) -> u64 {
    for failures in 0.. {
        let (disk, room) = (disk(), failures * step);
        match work_with_room(&disk, work, room, threads) {
            Some(error) => goes_on(&disk, &format!("room for {room}: {error}")),
            None => {
                assert_eq!((count(&disk, "old"), count(&disk, "new")), (200, new));
                return failures;
            }
        }
    }
    unreachable!("the work takes some number of calls")
}

#[test]
fn a_commit_that_finds_no_room_leaves_the_one_before() {
    assert!(until_done(Work::Add, 50, 1, 1) > 20);
}

#[test]
fn a_merge_that_finds_no_room_leaves_the_segments() {
    assert!(until_done(Work::Merge, 0, 1, 1) > 20);
}

#[test]
fn runs_that_find_no_room_leave_the_commit_before() {
    let title = |n: u32| format!("New_{}_{n}\n", n.wrapping_mul(2_654_435_761));
    let lines: String = (0..400_000).map(title).collect();
    // Each failure costs most of a build, so not every call is the one that fails.
    for (threads, step) in [(1, 7), (2, 13)] {
        assert!(until_done(Work::Lines(&lines), 400_000, step, threads) > 3);
    }
}
