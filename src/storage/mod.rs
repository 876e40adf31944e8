//! Files as bytes: the one door to the disk.
//!
//! Everything the index does with files goes through [`Storage`]: files are written once from front
//! to back, made durable, given their name, read, and deleted; none is ever changed. So little is
//! enough for the commit protocol, and small enough for a simulated disk that loses whatever a power
//! failure may lose (`tests/crash`).
//!
//! - [`FsStorage`] is a directory, read through a mapping or by `pread` ([`ReadMode`]), written through the page
//!   cache or past it ([`WriteMode`]).
//! - [`MemoryStorage`] keeps files in memory, for tests, examples and indexes embedded in a program.
//!
//! # What an implementation promises
//!
//! 1. Bytes of a file are durable once [`StorageWrite::sync`] returned Ok; names (created,
//!    published, deleted) once [`Storage::sync_names`] did. No other order is promised, or relied on.
//! 2. [`Storage::publish`] is atomic: afterwards the file has its new name or its old one, and an
//!    existing file of the new name is never replaced.
//! 3. A failed `sync` is final. The file is never synced again, because some systems forget the lost
//!    pages and then report success.
//! 4. A file that is open stays readable and unchanged when its name is deleted.
//!
//! ```
//! use treepie::storage::{MemoryStorage, Storage};
//!
//! let storage = MemoryStorage::new();
//! let mut file = storage.create("greeting")?;
//! file.write_all(b"hello")?;
//! file.sync()?;
//! let mut bytes = [0; 4];
//! storage.open("greeting")?.read_at(1, &mut bytes)?;
//! assert_eq!(&bytes, b"ello");
//! # Ok::<(), treepie::Error>(())
//! ```

mod copy;
mod fs;
mod heap;
mod memory;
mod mmap;
mod observed;
mod paced;
mod priority;
mod unmapped;
mod write;

use crate::error::{Error, ErrorKind, Result};
use crate::plural::counted;
use std::{
    any::Any,
    fmt,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

pub(crate) use copy::{are_equal, copy};
pub(crate) use heap::give_back_free_memory;
pub(crate) use unmapped::Unmapped;

pub use fs::{FsStorage, ReadMode};
pub use memory::{ImageBytes, MemoryStorage};
pub(crate) use observed::Observed;
pub(crate) use paced::{Pace, Paced};
pub use priority::IoPriority;
#[cfg(all(test, target_os = "linux"))]
pub(crate) use priority::io_priority;
pub use write::WriteMode;

/// A flat set of named, write-once files. See the [module](self) for what is promised.
///
/// Names are plain file names: not empty, without a path separator, not starting with `..`.
pub trait Storage: fmt::Debug + Send + Sync {
    /// Starts a new file; an error of kind `AlreadyExists` if the name is taken.
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>>;

    /// Creates as [`create`](Self::create), for a file of about so many bytes.
    ///
    /// It may be written in another way, and if there is not nearly the room, that is told now. More or fewer may
    /// follow.
    fn create_sized(&self, name: &str, bytes: u64) -> Result<Box<dyn StorageWrite>> {
        let _ = bytes;
        self.create(name)
    }

    /// Opens a file that nobody writes to any more.
    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>>;

    /// Opens a file that will be read once and in large pieces.
    ///
    /// It is read through [`read_at`](StorageRead::read_at) alone, so that its pages never count as memory of this
    /// process.
    fn open_unmapped(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        self.open(name)
    }

    /// Everything that lies in this storage, in no particular order.
    fn list(&self) -> Result<Vec<Entry>>;

    /// Removes a file. Whoever has it open keeps its bytes.
    fn delete(&self, name: &str) -> Result<()>;

    /// Gives the file `from` the name `to` in one step.
    ///
    /// An error of kind `AlreadyExists` if `to` is taken.
    fn publish(&self, from: &str, to: &str) -> Result<()>;

    /// Gives the file `name` another name beside the one it has.
    ///
    /// An error of kind `AlreadyExists` if that is taken.
    ///
    /// Unless an implementation knows better, the file is copied, and the copy is durable.
    fn link(&self, name: &str, also: &str) -> Result<()> {
        let from = self.open_unmapped(name)?;
        let mut to = self.create(also)?;
        copy(&*from, &mut *to)
    }

    /// Puts the file `name` into a directory of the file system, under its name.
    ///
    /// It is linked if that is possible, else a durable copy. An existing file is never replaced.
    fn put_into(&self, name: &str, directory: &Path) -> Result<()> {
        let from = self.open_unmapped(name)?;
        let mut to = FsStorage::open(directory, ReadMode::Pread)?.create(name)?;
        copy(&*from, &mut *to)
    }

    /// Makes created, published and deleted names durable.
    fn sync_names(&self) -> Result<()>;

    /// Becomes the one writer, or fails with a `Locked` error that names the other.
    fn lock_writer(&self) -> Result<WriterLock>;

    /// Keeps a file from being deleted until the pin is dropped.
    ///
    /// [`delete_unless_pinned`](Self::delete_unless_pinned) does not delete it, in any process. An error of kind `NotFound` if it is gone already.
    ///
    /// The pin holds nothing, without an error, if nothing can be locked, as on read-only media.
    fn pin(&self, name: &str) -> Result<Pin>;

    /// Removes a file unless it is pinned; `false` if it is. There is no moment between the look and the removal.
    fn delete_unless_pinned(&self, name: &str) -> Result<bool>;

    /// Path of the storage, for messages.
    fn location(&self) -> PathBuf;
}

/// A file being written from front to back. Dropping it keeps only what was flushed or synced.
pub trait StorageWrite: fmt::Debug + Send {
    /// Appends `bytes`. After a failure every later call fails.
    fn write_all(&mut self, bytes: &[u8]) -> Result<()>;

    /// Hands everything appended so far to the system, so that opening the file shows it.
    fn flush(&mut self) -> Result<()>;

    /// Makes everything appended so far durable.
    fn sync(&mut self) -> Result<()>;
}

/// A file being read; it does not change.
pub trait StorageRead: fmt::Debug + Send + Sync {
    /// Length in bytes.
    fn len(&self) -> u64;

    /// Whether there are no bytes at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole file as memory, if it is in memory or in a mapping.
    fn mapped(&self) -> Option<&[u8]>;

    /// Fills `buffer` with the bytes from `offset` on; an error if the file ends before.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// Says that a file that is mapped will be read in any order. A hint: the system reads nothing ahead then but
    /// [what is asked for](Self::read_ahead).
    fn read_in_any_order(&self) {}

    /// Says that some bytes of a file that is mapped will be read soon. A hint: they come from the disk together, while the
    /// caller goes on.
    fn read_ahead(&self, _bytes: Range<u64>) {}

    /// The file, for messages.
    fn path(&self) -> PathBuf;
}

/// One name in a storage.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The name; not always valid Unicode on disk, then with replacement characters.
    pub name: String,
    /// Whether it is a regular file: no directory, no symbolic link.
    pub is_file: bool,
}

impl Entry {
    /// An entry as a storage lists it.
    pub fn new(name: impl Into<String>, is_file: bool) -> Self {
        Entry { name: name.into(), is_file }
    }
}

/// The right to write, held until dropped.
#[derive(Debug)]
pub struct WriterLock(Box<dyn HeldLock>);

/// Lock that a storage holds for a [`WriterLock`] until it is dropped.
pub trait HeldLock: fmt::Debug + Send + Sync {
    /// An error if somebody else could be holding the lock by now.
    fn check(&self) -> Result<()>;
}

impl WriterLock {
    /// A lock that is released when `held` is dropped.
    pub fn new(held: impl HeldLock + 'static) -> Self {
        WriterLock(Box::new(held))
    }

    /// Checks that the lock still keeps others out.
    ///
    /// An error if its file was deleted or replaced, or if this process is a fork of the one that took it. Asked
    /// before each commit.
    pub fn check(&self) -> Result<()> {
        self.0.check()
    }
}

/// Keeps one file from being collected while it lives.
pub struct Pin {
    _held: Box<dyn Any + Send + Sync>,
}

impl Pin {
    /// A pin that is released when `held` is dropped.
    pub fn new(held: impl Any + Send + Sync) -> Self {
        Pin { _held: Box::new(held) }
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pin")
    }
}

/// Number of bytes of `range` of a file that are in memory now, so that reading them waits for no disk; `None` if the
/// file is not mapped, or the system does not say.
pub(crate) fn resident(file: &dyn StorageRead, range: Range<u64>) -> Option<u64> {
    let start = usize::try_from(range.start).ok()?;
    let end = usize::try_from(range.end).ok()?;
    mmap::resident(file.mapped()?.get(start..end)?)
}

/// Refuses names that would leave the directory, in every implementation alike.
fn check_name(name: &str) -> Result<&str> {
    let leaves = name.is_empty()
        || name == "."
        || name.starts_with("..")
        || name.contains(['/', '\\', ':', '\0']);
    if leaves {
        return Err(Error::new(ErrorKind::Usage, "naming a file of an index")
            .expected("a plain file name")
            .found(format!("{name:?}")));
    }
    Ok(name)
}

/// A read past the end of `file`: it is shorter than what refers to it says.
#[cold]
fn ends_early(file: &dyn StorageRead, offset: u64, wanted: usize) -> Error {
    Error::corrupt("reading")
        .expected(counted(wanted, "byte"))
        .found(format!("the end of the file at {}", file.len()))
        .in_file(file.path())
        .at_offset(offset)
}

/// A second writer was met.
#[cold]
fn locked(location: PathBuf, holder: Option<&str>) -> Error {
    let holder = holder.map_or(String::new(), |pid| format!(" (process {pid})"));
    Error::new(ErrorKind::Locked, format!("another writer{holder} holds the index"))
        .in_file(location)
        .hint("wait until it is done; readers are never locked out")
}

/// A directory of its own for one test, removed at the end; not made yet.
#[cfg(test)]
pub(crate) struct TestDirectory(PathBuf);

#[cfg(test)]
impl TestDirectory {
    pub(crate) fn new() -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("treepie-test-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        TestDirectory(path)
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        &self.0
    }
}

#[cfg(test)]
impl Drop for TestDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract that every storage must keep.
    pub(super) fn obeys_the_contract(storage: &dyn Storage) {
        let content = |name: &str| {
            let file = storage.open(name).unwrap();
            let mut bytes = vec![0; file.len() as usize];
            file.read_at(0, &mut bytes).unwrap();
            if let Some(mapped) = file.mapped() {
                assert_eq!(mapped, bytes);
            }
            bytes
        };
        let names = || {
            let mut names: Vec<_> = storage.list().unwrap().into_iter().map(|e| e.name).collect();
            names.sort();
            names
        };
        assert_eq!(storage.open("a").unwrap_err().kind(), ErrorKind::NotFound);
        let mut file = storage.create("a").unwrap();
        file.write_all(b"one ").unwrap();
        file.write_all(b"two").unwrap();
        file.flush().unwrap();
        assert_eq!(content("a"), b"one two");
        file.sync().unwrap();
        drop(file);
        assert_eq!(storage.create("a").unwrap_err().kind(), ErrorKind::AlreadyExists);

        let open = storage.open("a").unwrap();
        let past = open.read_at(5, &mut [0; 3]).unwrap_err();
        assert_eq!(past.kind(), ErrorKind::Corrupt);
        assert!(open.read_at(u64::MAX, &mut [0; 3]).is_err());

        storage.create("b").unwrap().sync().unwrap();
        assert_eq!(storage.publish("b", "a").unwrap_err().kind(), ErrorKind::AlreadyExists);
        storage.link("a", "also").unwrap();
        assert_eq!(storage.link("a", "also").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(storage.link("none", "e").unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!((content("a"), content("also")), (b"one two".to_vec(), b"one two".to_vec()));
        storage.delete("also").unwrap();
        storage.publish("a", "c").unwrap();
        storage.sync_names().unwrap();
        assert_eq!(names(), ["b", "c"]);
        assert_eq!(content("c"), b"one two");
        assert_eq!(content("b"), b"");
        storage.delete("c").unwrap();
        let mut bytes = [0; 3];
        open.read_at(4, &mut bytes).unwrap();
        assert_eq!(&bytes, b"two", "an open file outlives its name");
        assert_eq!(storage.delete("c").unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(storage.publish("c", "d").unwrap_err().kind(), ErrorKind::NotFound);

        let (pin, twice) = (storage.pin("b").unwrap(), storage.pin("b").unwrap());
        assert!(!storage.delete_unless_pinned("b").unwrap());
        drop(pin);
        assert!(!storage.delete_unless_pinned("b").unwrap());
        drop(twice);
        assert!(storage.delete_unless_pinned("b").unwrap());
        assert_eq!(storage.pin("b").unwrap_err().kind(), ErrorKind::NotFound);

        let lock = storage.lock_writer().unwrap();
        lock.check().unwrap();
        let other = storage.lock_writer().unwrap_err();
        assert_eq!(other.kind(), ErrorKind::Locked);
        drop(lock);
        storage.lock_writer().unwrap();

        for name in ["", ".", "..", "../a", "a/b", "a\\b", "c:", "a\0"] {
            assert_eq!(storage.create(name).unwrap_err().kind(), ErrorKind::Usage, "{name:?}");
            assert_eq!(storage.delete(name).unwrap_err().kind(), ErrorKind::Usage, "{name:?}");
        }
    }
}
