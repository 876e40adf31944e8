//! A directory as storage: plain files, kernel locks, fsync in the right places.

use super::write::{FsWrite, WriteMode};
use super::{Entry, HeldLock, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use super::{check_name, ends_early, locked, mmap};
use crate::error::{Error, ErrorKind, Result};
use crate::plural::counted;
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    ops::Range,
    path::{Path, PathBuf},
    process,
    sync::Arc,
};

/// The file whose kernel lock makes one process the writer. Its content, the process id, is for people.
const LOCK_FILE: &str = "write.lock";
/// Bytes asked of the system at once; Linux cuts calls at 2 GiB anyway.
const CALL_BYTES_MAX: usize = 1 << 30;

/// Way to read the files of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadMode {
    /// Maps files: nothing is copied, and the page cache is all their memory.
    ///
    /// A program that cuts one of the files short while it is mapped can kill this process by a
    /// signal, and one that overwrites a file in place changes bytes that were already checked.
    /// treepie itself never does either: it writes files once and deletes them whole.
    #[default]
    Mmap,
    /// Every read is a system call into memory of its own, checked each time. The answers are the
    /// same, and whatever others do to the files is an error at worst. For directories of unknown
    /// origin, network drives and removable media.
    Pread,
}

/// A directory that holds an index.
#[derive(Clone, Debug)]
pub struct FsStorage {
    directory: PathBuf,
    mode: ReadMode,
    write_mode: WriteMode,
}

impl FsStorage {
    /// The directory `path`, which must exist.
    ///
    /// # Errors
    ///
    /// `NotFound` if nothing is, `NotAnIndex` if a file is.
    pub fn open(path: impl Into<PathBuf>, mode: ReadMode) -> Result<Self> {
        let directory = path.into();
        let metadata = fs::metadata(&directory).map_err(|cause| {
            let is_missing = cause.kind() == io::ErrorKind::NotFound;
            let error = Error::io("opening an index", cause).in_file(&directory);
            match is_missing {
                true => error
                    .expected("a directory with an index in it")
                    .found("nothing")
                    .hint("`treepie index` makes an index"),
                false => error,
            }
        })?;
        if !metadata.is_dir() {
            return Err(Error::new(ErrorKind::NotAnIndex, "opening an index")
                .expected("a directory")
                .found("a file")
                .in_file(directory));
        }
        let write_mode = WriteMode::default().or_from_environment()?;
        Ok(FsStorage { directory, mode, write_mode })
    }

    /// The directory `path`, made (but not its parents) if it does not exist.
    ///
    /// # Errors
    ///
    /// Fails like [`open`](Self::open), or if the directory cannot be made.
    pub fn create(path: impl Into<PathBuf>, mode: ReadMode) -> Result<Self> {
        let directory = path.into();
        match fs::create_dir(&directory) {
            Ok(()) => {
                let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty());
                sync_directory(parent.unwrap_or(Path::new(".")))?;
                Self::open(directory, mode)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Self::open(directory, mode)
            }
            Err(error) => {
                Err(Error::io("creating the directory of an index", error).in_file(directory))
            }
        }
    }

    /// Sets how files are written (default: [`WriteMode::Auto`]), unless the environment
    /// [says otherwise](WriteMode::VARIABLE).
    ///
    /// # Errors
    ///
    /// A usage error where the environment names no mode that there is.
    pub fn write_mode(mut self, mode: WriteMode) -> Result<Self> {
        self.write_mode = mode.or_from_environment()?;
        Ok(self)
    }

    fn open_as(&self, name: &str, mode: ReadMode) -> Result<Arc<dyn StorageRead>> {
        let path = self.path_of(name)?;
        let opened = File::open(&path).and_then(|file| {
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            let len = metadata.len();
            let content = match mode {
                ReadMode::Mmap => Content::Mapped(mmap::map(&file, len)?),
                ReadMode::Pread => Content::File(file),
            };
            Ok((len, content))
        });
        match opened {
            Ok((len, content)) => Ok(Arc::new(FsRead { path, len, content })),
            Err(error) => Err(Error::io("opening a file", error).in_file(path)),
        }
    }

    fn path_of(&self, name: &str) -> Result<PathBuf> {
        Ok(self.directory.join(check_name(name)?))
    }
}

impl Storage for FsStorage {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        Ok(Box::new(FsWrite::create(self.path_of(name)?, self.write_mode, None)?))
    }

    fn create_sized(&self, name: &str, bytes: u64) -> Result<Box<dyn StorageWrite>> {
        Ok(Box::new(FsWrite::create(self.path_of(name)?, self.write_mode, Some(bytes))?))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        self.open_as(name, self.mode)
    }

    fn open_unmapped(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        self.open_as(name, ReadMode::Pread)
    }

    fn list(&self) -> Result<Vec<Entry>> {
        let entries = fs::read_dir(&self.directory).and_then(|entries| {
            let entry = |entry: io::Result<fs::DirEntry>| {
                let entry = entry?;
                // `file_type` does not follow links: what a link points to is not ours.
                let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
                Ok(Entry::new(entry.file_name().to_string_lossy(), is_file))
            };
            entries.map(entry).collect::<io::Result<Vec<_>>>()
        });
        entries.map_err(|e| Error::io("listing an index", e).in_file(&self.directory))
    }

    fn delete(&self, name: &str) -> Result<()> {
        let path = self.path_of(name)?;
        fs::remove_file(&path).map_err(|e| Error::io("deleting a file", e).in_file(path))
    }

    /// Links the new name and then removes the old one: unlike renaming, linking refuses a target
    /// that exists, whoever made it and whenever. File systems without links (FAT, some network
    /// drives) rename, after a look; there the writer lock alone keeps the target free.
    fn publish(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (self.path_of(from)?, self.path_of(to)?);
        let published = match fs::hard_link(&from, &to) {
            Ok(()) => {
                // A temporary name that stays is litter for the next writer, not a failure.
                let _ = fs::remove_file(&from);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(_) if fs::symlink_metadata(&to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(&from, &to),
        };
        published.map_err(|e| Error::io("publishing a file", e).in_file(to))
    }

    fn link(&self, name: &str, also: &str) -> Result<()> {
        let (from, to) = (self.path_of(name)?, self.path_of(also)?);
        let linked = match fs::hard_link(&from, &to) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(_) if fs::symlink_metadata(&to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
            // A file system without links.
            Err(_) => fs::copy(&from, &to).and_then(|_| File::open(&to)?.sync_all()),
        };
        linked.map_err(|e| Error::io("giving a file another name", e).in_file(to))
    }

    fn put_into(&self, name: &str, directory: &Path) -> Result<()> {
        let (from, to) = (self.path_of(name)?, directory.join(name));
        match fs::hard_link(&from, &to) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !from.exists() => {
                Err(Error::io("copying a file", error).in_file(from))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(Error::io("copying a file", error).in_file(to))
            }
            // Another file system, or one without links.
            Err(_) => {
                let copied = fs::copy(&from, &to).and_then(|_| File::open(&to)?.sync_all());
                copied.map_err(|error| Error::io("copying a file", error).in_file(to))
            }
        }
    }

    fn sync_names(&self) -> Result<()> {
        sync_directory(&self.directory)
    }

    fn lock_writer(&self) -> Result<WriterLock> {
        let path = self.directory.join(LOCK_FILE);
        let failed = |e| Error::io("locking the index for writing", e).in_file(&path);
        let options =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let mut file = options.open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(&path).ok();
                let holder =
                    holder.as_deref().map(str::trim).filter(|pid| pid.parse::<u32>().is_ok());
                return Err(locked(self.directory.clone(), holder));
            }
            Err(TryLockError::Error(error)) => {
                return Err(failed(error).hint("writing needs a file system that can lock files"));
            }
        }
        // The kernel holds the lock; the number only helps whoever asks who has it.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", process::id()));
        let lock = FsLock { file, path, process: process::id() };
        // The previous holder may have been an overwriting program that removed the file it had locked.
        lock.check()?;
        Ok(WriterLock::new(lock))
    }

    fn pin(&self, name: &str) -> Result<Pin> {
        let path = self.path_of(name)?;
        let gone = |e| Error::io("pinning a file", e).in_file(&path);
        let file = File::open(&path).map_err(gone)?;
        match file.try_lock_shared() {
            // A reader that cannot lock, as on read-only media, goes without.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            // Only somebody who is about to delete the file locks it against us.
            Err(TryLockError::WouldBlock) => return Err(gone(io::ErrorKind::NotFound.into())),
        }
        if !is_at(&file, &path) {
            return Err(gone(io::ErrorKind::NotFound.into()));
        }
        Ok(Pin::new(file))
    }

    fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
        let path = self.path_of(name)?;
        let failed = |e| Error::io("deleting a file", e).in_file(&path);
        let file = File::open(&path).map_err(failed)?;
        // If locks do not work nobody can tell, so the file stays.
        if file.try_lock().is_err() {
            return Ok(false);
        }
        // Still locked: a reader that comes now finds it locked, or gone.
        fs::remove_file(&path).map_err(failed)?;
        Ok(true)
    }

    fn location(&self) -> PathBuf {
        self.directory.clone()
    }
}

/// Makes the names in a directory durable. Windows has no such call and needs none.
fn sync_directory(directory: &Path) -> Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let synced = File::open(directory).and_then(|file| file.sync_all());
    synced.map_err(|e| Error::io("making file names durable", e).in_file(directory))
}

#[derive(Debug)]
struct FsLock {
    file: File,
    path: PathBuf,
    process: u32,
}

impl Drop for FsLock {
    fn drop(&mut self) {
        // A child process that another thread is starting has the file open, too, until it runs its own program: closing it
        // here would leave it locked for that long. A writer that a fork took along must not unlock its parent's.
        if process::id() == self.process {
            let _ = self.file.unlock();
        }
    }
}

impl HeldLock for FsLock {
    fn check(&self) -> Result<()> {
        let lost = |what: &str| {
            Err(Error::new(ErrorKind::Locked, what)
                .in_file(&self.path)
                .hint("another writer may be at work; open a new writer"))
        };
        if process::id() != self.process {
            return lost("the writer was taken along by a fork and belongs to the parent process");
        }
        if !is_at(&self.file, &self.path) {
            return lost("the lock file was deleted or replaced while it was held");
        }
        Ok(())
    }
}

/// Whether `path` still names the open `file`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata().map(identity), fs::metadata(path).map(identity)) {
        (Ok(ours), Ok(theirs)) => ours == theirs,
        _ => false,
    }
}

/// Whether `path` still names the open `file`, as far as the time of creation tells.
#[cfg(not(unix))]
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(theirs)) => match (ours.created(), theirs.created()) {
            (Ok(ours), Ok(theirs)) => ours == theirs,
            _ => true,
        },
        _ => false,
    }
}

#[derive(Debug)]
struct FsRead {
    path: PathBuf,
    len: u64,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Mapped(mmap::MappedFile),
    File(File),
}

impl StorageRead for FsRead {
    fn len(&self) -> u64 {
        self.len
    }

    fn mapped(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Mapped(map) => Some(map),
            Content::File(_) => None,
        }
    }

    fn read_in_any_order(&self) {
        if let Content::Mapped(map) = &self.content {
            map.read_in_any_order();
        }
    }

    fn read_ahead(&self, bytes: Range<u64>) {
        if let Content::Mapped(map) = &self.content {
            map.read_ahead(bytes);
        }
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let end = offset.checked_add(buffer.len() as u64);
        if end.is_none_or(|end| end > self.len) {
            return Err(ends_early(self, offset, buffer.len()));
        }
        match &self.content {
            // Both ends are at most `len`, which fitted the address space when it was mapped.
            Content::Mapped(map) => {
                buffer.copy_from_slice(&map[offset as usize..][..buffer.len()]);
                Ok(())
            }
            Content::File(file) => {
                let wanted = buffer.len();
                match read_full_at(offset, buffer, |part, offset| read_at(file, part, offset)) {
                    Ok(()) => Ok(()),
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                        Err(Error::corrupt("reading")
                            .expected(counted(wanted, "byte"))
                            .found("a file that was cut short while it was open")
                            .in_file(&self.path)
                            .at_offset(offset))
                    }
                    Err(error) => {
                        Err(Error::io("reading", error).in_file(&self.path).at_offset(offset))
                    }
                }
            }
        }
    }

    fn path(&self) -> PathBuf {
        self.path.clone()
    }
}

/// Fills `buffer` from `offset` on through `read`; the twin of [`write_full_at`](super::write::write_full_at).
fn read_full_at(
    mut offset: u64,
    mut buffer: &mut [u8],
    mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<()> {
    while !buffer.is_empty() {
        let call = buffer.len().min(CALL_BYTES_MAX);
        match read(&mut buffer[..call], offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(len) => {
                buffer = buffer.get_mut(len..).ok_or(io::ErrorKind::InvalidData)?;
                offset += len as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Elsewhere (WebAssembly) there is neither; files have one thread there.
#[cfg(not(any(unix, windows)))]
fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
    io::Read::read(&mut file, buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::TestDirectory;
    use crate::storage::write::BUFFER_BYTES;

    fn storage(directory: &TestDirectory, mode: ReadMode) -> FsStorage {
        FsStorage::create(directory.path(), mode).unwrap()
    }

    #[test]
    fn a_directory_obeys_the_contract_in_both_modes() {
        for mode in [ReadMode::Mmap, ReadMode::Pread] {
            let directory = TestDirectory::new();
            crate::storage::tests::obeys_the_contract(&storage(&directory, mode));
            let mapped = {
                let storage = storage(&directory, mode);
                storage.create("x").unwrap();
                storage.open("x").unwrap().mapped().is_some()
            };
            assert_eq!(mapped, mode == ReadMode::Mmap);
        }
    }

    #[test]
    fn a_missing_directory_and_a_file_are_told_apart() {
        let directory = TestDirectory::new();
        let open = |path: PathBuf| FsStorage::open(path, ReadMode::Mmap).unwrap_err().kind();
        assert_eq!(open(directory.path().join("no")), ErrorKind::NotFound);
        fs::create_dir(directory.path()).unwrap();
        fs::write(directory.path().join("file"), "x").unwrap();
        assert_eq!(open(directory.path().join("file")), ErrorKind::NotAnIndex);
        let create = FsStorage::create(directory.path().join("a/b"), ReadMode::Mmap);
        assert_eq!(create.unwrap_err().kind(), ErrorKind::NotFound, "parents are not made");
    }

    #[test]
    fn small_and_large_writes_arrive_in_order() {
        let directory = TestDirectory::new();
        let storage = storage(&directory, ReadMode::Pread);
        let mut expected = vec![];
        let mut file = storage.create("a").unwrap();
        for (n, len) in
            [1, BUFFER_BYTES - 1, 1, BUFFER_BYTES, 3 * BUFFER_BYTES + 5, 0, 7].iter().enumerate()
        {
            let part = vec![n as u8 + 1; *len];
            file.write_all(&part).unwrap();
            expected.extend(part);
        }
        file.sync().unwrap();
        let mut found = vec![0; expected.len()];
        let file = storage.open("a").unwrap();
        file.read_at(0, &mut found).unwrap();
        assert!(file.len() == expected.len() as u64 && found == expected);
    }

    #[test]
    fn short_reads_go_on_and_the_end_is_an_error() {
        let disk: Vec<u8> = (0..=255).collect();
        let read = |buffer: &mut [u8], from: u64| {
            read_full_at(from, buffer, |part, offset| {
                let rest = &disk[offset as usize..];
                let len = rest.len().min(part.len()).min(9);
                part[..len].copy_from_slice(&rest[..len]);
                Ok(len)
            })
        };
        let mut buffer = [0; 100];
        read(&mut buffer, 156).unwrap();
        assert_eq!(buffer, disk[156..]);
        assert_eq!(read(&mut buffer, 157).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn the_second_writer_is_told_who_has_the_lock() {
        let directory = TestDirectory::new();
        let storage = storage(&directory, ReadMode::Mmap);
        let _lock = storage.lock_writer().unwrap();
        let message = storage.lock_writer().unwrap_err().to_string();
        if cfg!(unix) {
            assert!(message.contains(&format!("process {}", process::id())), "{message}");
        }
    }

    #[test]
    fn a_deleted_or_replaced_lock_file_is_noticed() {
        let directory = TestDirectory::new();
        let storage = storage(&directory, ReadMode::Mmap);
        let lock = storage.lock_writer().unwrap();
        storage.delete(LOCK_FILE).unwrap();
        assert_eq!(lock.check().unwrap_err().kind(), ErrorKind::Locked);
        let thief = storage.lock_writer().unwrap();
        assert_eq!(lock.check().unwrap_err().kind(), ErrorKind::Locked);
        thief.check().unwrap();
    }

    #[test]
    fn a_lock_that_a_fork_took_along_is_refused() {
        let directory = TestDirectory::new();
        let storage = storage(&directory, ReadMode::Mmap);
        storage.lock_writer().unwrap().check().unwrap();
        let path = directory.path().join(LOCK_FILE);
        let parent = process::id() + 1;
        let lock = FsLock { file: File::open(&path).unwrap(), path, process: parent };
        let error = lock.check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked);
        assert!(error.to_string().contains("fork"), "{error}");
    }

    #[test]
    fn a_file_cut_short_is_an_error_when_read_by_pread() {
        let directory = TestDirectory::new();
        let storage = storage(&directory, ReadMode::Pread);
        storage.create("a").unwrap().write_all(&[1; 100]).unwrap();
        fs::write(storage.path_of("a").unwrap(), [1; 100]).unwrap();
        let open = storage.open("a").unwrap();
        fs::write(storage.path_of("a").unwrap(), [1; 50]).unwrap();
        open.read_at(0, &mut [0; 50]).unwrap();
        let error = open.read_at(40, &mut [0; 20]).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Corrupt, Some(40)));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_listed_as_what_they_are() {
        let directory = TestDirectory::new();
        let storage = storage(&directory, ReadMode::Mmap);
        storage.create("a").unwrap();
        std::os::unix::fs::symlink("a", directory.path().join("link")).unwrap();
        fs::create_dir(directory.path().join("folder")).unwrap();
        let mut entries = storage.list().unwrap();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let expected = [("a", true), ("folder", false), ("link", false)];
        assert_eq!(entries, expected.map(|(name, is_file)| Entry::new(name, is_file)));
    }
}
