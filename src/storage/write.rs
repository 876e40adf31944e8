//! A file being written: whole calls, early write-back, direct I/O, and room reserved beforehand.
//!
//! Every mode gives the same bytes and makes them durable by the same `fdatasync`; what differs is when they go to
//! the disk. [`WriteMode::Auto`] takes what measured best: for files of unknown or moderate size the system is
//! told every 8 MiB to begin writing, so that the sync at the end has little left to wait for; files known to be
//! large pass the page cache by, which spares the processor a copy and other files their place in memory.
//!
//! There is no mode for `io_uring`: on a virtual machine of two x86-64 cores (Linux, ext4 on virtio), in turns in one run,
//! the calls of a durable commit took 0.94 ms at the median, the same as one chain of requests 1.0 and in three rounds 0.96;
//! 512 MiB past the page cache took 0.40 to 0.45 s, by eight requests at a time 0.41 to 0.42, with 0.05 s less of a processor.
//!
//! Anything that is not there falls back to plain writes and is no error: no direct I/O on the file system, no
//! hints or reservations on the platform. Only that the disk is full is told, and told early.

use super::StorageWrite;
use crate::error::{Error, ErrorKind, Result};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes handed to the system at once. Larger calls gain nothing, and Linux cuts them at 2 GiB anyway.
const CALL_BYTES_MAX: usize = 1 << 30;
/// Bytes collected before a file is written to: small enough to spare, large enough for full speed.
pub(super) const BUFFER_BYTES: usize = 1 << 20;
/// Bytes after which the system is told to begin writing.
const WRITE_BACK_BYTES: u64 = 8 << 20;
/// From this expected size on, [`WriteMode::Auto`] passes the page cache by.
const DIRECT_FROM_BYTES: u64 = 256 << 20;
/// Alignment of addresses, lengths and offsets of direct I/O, on any disk.
const ALIGNMENT: usize = 4_096;

/// Way to write files. All modes give the same bytes, equally durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WriteMode {
    /// [`Direct`](Self::Direct) for large files, [`EarlyWriteback`](Self::EarlyWriteback) for all others.
    ///
    /// Large are those that are expected to have 256 MiB or more, as merges write them.
    #[default]
    Auto,
    /// Plain writes.
    ///
    /// The system begins to write when it likes, at the latest when the file is made durable. Every other mode falls
    /// back to it if a platform or a file system lacks that mode.
    FileIo,
    /// Plain writes, and every 8 MiB a hint to begin writing to the disk (Linux).
    EarlyWriteback,
    /// Writes that pass the page cache by (Linux, if the file system can).
    Direct,
}

impl WriteMode {
    /// The environment variable that overrides every other choice, for when one makes trouble.
    pub const VARIABLE: &str = "TREEPIE_WRITE_MODE";

    /// The names as the environment variable has them.
    const NAMES: [(&str, WriteMode); 4] = [
        ("auto", WriteMode::Auto),
        ("file_io", WriteMode::FileIo),
        ("early_writeback", WriteMode::EarlyWriteback),
        ("direct", WriteMode::Direct),
    ];

    /// The mode of this name: `auto`, `file_io`, `early_writeback` or `direct`.
    ///
    /// ```
    /// use treepie::storage::WriteMode;
    ///
    /// assert_eq!(WriteMode::from_name("direct"), Some(WriteMode::Direct));
    /// assert_eq!(WriteMode::from_name("fast"), None);
    /// assert_eq!(WriteMode::FileIo.name(), "file_io");
    /// ```
    pub fn from_name(name: &str) -> Option<WriteMode> {
        Self::NAMES.iter().find(|(own, _)| *own == name).map(|(_, mode)| *mode)
    }

    /// Name of the file.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, mode)| *mode == self).map_or("auto", |(name, _)| name)
    }

    /// This mode, unless the [environment](Self::VARIABLE) names another.
    pub(super) fn or_from_environment(self) -> Result<WriteMode> {
        let Some(name) = std::env::var_os(Self::VARIABLE).filter(|name| !name.is_empty()) else {
            return Ok(self);
        };
        name.to_str().and_then(Self::from_name).ok_or_else(|| {
            let known = Self::NAMES.map(|(name, _)| name).join(", ");
            Error::new(ErrorKind::Usage, format!("reading the variable {}", Self::VARIABLE))
                .expected(format!("one of {known}"))
                .found(format!("{name:?}"))
        })
    }
}

/// A new file on its way to the disk.
#[derive(Debug)]
pub(super) struct FsWrite {
    file: File,
    path: PathBuf,
    buffer: Buffer,
    /// Handle of the file for direct I/O, as long as all that was written fills whole blocks.
    direct: Option<File>,
    writes_back: bool,
    /// Bytes handed to the system.
    written: u64,
    /// Bytes of these that it was told to begin writing.
    written_back: u64,
    /// Bytes that were reserved.
    reserved: u64,
    failed: bool,
}

impl FsWrite {
    /// Makes a file of which about `expected` bytes are to be written, as far as that is known.
    pub(super) fn create(path: PathBuf, mode: WriteMode, expected: Option<u64>) -> Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.map_err(|e| Error::io("creating a file", e).in_file(&path))?;
        Self::of(file, path, mode, expected)
    }

    fn of(file: File, path: PathBuf, mode: WriteMode, expected: Option<u64>) -> Result<Self> {
        let is_direct = match mode {
            WriteMode::Auto => expected.is_some_and(|bytes| bytes >= DIRECT_FROM_BYTES),
            WriteMode::Direct => true,
            WriteMode::FileIo | WriteMode::EarlyWriteback => false,
        };
        let direct = if is_direct { system::open_direct(&path) } else { None };
        let mut this = FsWrite {
            buffer: Buffer::new(if direct.is_some() { ALIGNMENT } else { 1 }),
            direct,
            writes_back: matches!(mode, WriteMode::Auto | WriteMode::EarlyWriteback),
            file,
            path,
            written: 0,
            written_back: 0,
            reserved: 0,
            failed: false,
        };
        // The expected length is a guess: a merge drops what segments have in common. Half of it will be needed.
        if let Some(bytes) = expected.map(|bytes| bytes / 2).filter(|bytes| *bytes > 0) {
            this.once("reserving room for a file", |this| {
                if system::reserve(&this.file, bytes)? {
                    this.reserved = bytes;
                }
                Ok(())
            })?;
        }
        Ok(this)
    }

    /// Runs `work`, and refuses everything after it failed once: nobody knows what is on disk then.
    fn once(&mut self, doing: &str, work: impl FnOnce(&mut Self) -> io::Result<()>) -> Result<()> {
        if self.failed {
            return Err(Error::new(ErrorKind::Poisoned, doing)
                .in_file(&self.path)
                .found("a file that could not be written before"));
        }
        work(self).map_err(|error| {
            self.failed = true;
            Error::io(doing, error).in_file(&self.path)
        })
    }

    /// Hands everything that was collected to the system.
    fn empty_buffer(&mut self) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let written = self.hand_over(buffer.filled());
        self.buffer = buffer;
        self.buffer.clear();
        written
    }

    fn hand_over(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let n_direct = match &self.direct {
            Some(direct) => self.write_directly(direct, bytes)?,
            None => 0,
        };
        if n_direct < bytes.len() {
            // From here on blocks are not whole any more.
            self.direct = None;
            let offset = self.written + n_direct as u64;
            write_full_at(offset, &bytes[n_direct..], |part, at| write_at(&self.file, part, at))?;
        }
        self.written += bytes.len() as u64;
        if self.writes_back && self.direct.is_none() {
            let more = self.written - self.written_back;
            if more >= WRITE_BACK_BYTES {
                system::begin_writing(&self.file, self.written_back, more);
                self.written_back = self.written;
            }
        }
        Ok(())
    }

    /// Writes those of the bytes that fill whole blocks, as far as the file system can; how many.
    fn write_directly(&self, direct: &File, bytes: &[u8]) -> io::Result<usize> {
        let whole = bytes.len() - bytes.len() % ALIGNMENT;
        let mut done = 0;
        let written = write_full_at(self.written, &bytes[..whole], |part, at| {
            let len = write_at(direct, part, at)?;
            done += len;
            Ok(len)
        });
        match written {
            // The file system cannot after all, or not from where a short write has ended.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(done),
            written => written.map(|()| done),
        }
    }
}

impl StorageWrite for FsWrite {
    fn write_all(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.once("writing", |this| {
            // Without the page cache everything goes through memory that is aligned.
            if this.direct.is_none() && this.buffer.len() + bytes.len() > BUFFER_BYTES {
                this.empty_buffer()?;
                if bytes.len() >= BUFFER_BYTES {
                    return this.hand_over(bytes);
                }
            }
            loop {
                bytes = this.buffer.fill(bytes);
                if bytes.is_empty() {
                    return Ok(());
                }
                this.empty_buffer()?;
            }
        })
    }

    fn flush(&mut self) -> Result<()> {
        self.once("writing", |this| {
            this.empty_buffer()?;
            // A file that is whole may wait for long until it is made durable.
            if this.buffer.len() == 0 {
                this.buffer = Buffer::new(this.buffer.alignment);
            }
            Ok(())
        })
    }

    fn sync(&mut self) -> Result<()> {
        self.once("writing", Self::empty_buffer)?;
        if self.reserved > self.written {
            self.once("giving back room that was reserved", |this| {
                this.reserved = 0;
                this.file.set_len(this.written)
            })?;
        }
        self.once("making a file durable", |this| this.file.sync_data())
    }
}

/// Bytes that are collected, at an address that direct I/O can take.
#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    alignment: usize,
    /// Start of the collected ones.
    start: usize,
}

impl Buffer {
    fn new(alignment: usize) -> Self {
        Buffer { bytes: vec![], alignment, start: 0 }
    }

    fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    fn filled(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn clear(&mut self) {
        self.bytes.truncate(self.start);
    }

    /// Takes as many bytes as there is room for; the others.
    fn fill<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        if self.alignment > 1 && self.bytes.is_empty() {
            // Never grows again, so that it stays where it is.
            self.bytes.reserve_exact(BUFFER_BYTES + self.alignment);
            self.start = self.bytes.as_ptr().align_offset(self.alignment);
            self.bytes.resize(self.start, 0);
        }
        let (now, later) = bytes.split_at(bytes.len().min(BUFFER_BYTES - self.len()));
        self.bytes.extend_from_slice(now);
        later
    }
}

/// Writes all of `bytes` at `offset` through `write`, which may take less than it is given: goes on
/// after short writes and interruptions, and takes "nothing written" for the error it is.
pub(super) fn write_full_at(
    mut offset: u64,
    mut bytes: &[u8],
    mut write: impl FnMut(&[u8], u64) -> io::Result<usize>,
) -> io::Result<()> {
    while !bytes.is_empty() {
        match write(&bytes[..bytes.len().min(CALL_BYTES_MAX)], offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(len) => {
                // A system that claims more than it was given is not to be trusted with the rest.
                bytes = bytes.get(len..).ok_or(io::ErrorKind::InvalidData)?;
                offset += len as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, offset)
}

/// Elsewhere (WebAssembly) there is neither; files have one thread there.
#[cfg(not(any(unix, windows)))]
fn write_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
    io::Write::write(&mut file, bytes)
}

/// System calls that only Linux has.
#[cfg(target_os = "linux")]
mod system {
    use super::*;
    use rustix::fs::{Advice, FallocateFlags, OFlags, fadvise, fallocate};
    use rustix::io::Errno;
    use std::num::NonZeroU64;
    use std::os::unix::fs::OpenOptionsExt;

    /// The file at `path` again, past the page cache; `None` if that cannot be.
    pub(super) fn open_direct(path: &Path) -> Option<File> {
        let flags = i32::try_from(OFlags::DIRECT.bits()).ok()?;
        OpenOptions::new().write(true).custom_flags(flags).open(path).ok()
    }

    /// Reserves room behind the end of the file; false where file systems cannot.
    pub(super) fn reserve(file: &File, bytes: u64) -> io::Result<bool> {
        match fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes) {
            Ok(()) => Ok(true),
            Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::IO)) => Err(error.into()),
            // A guess that the system does not like is not worth failing for.
            Err(_) => Ok(false),
        }
    }

    /// Begins to write a range of pages to the disk without waiting for it. A hint, and no durability: "not
    /// needed" starts the write-back of dirty pages (`WB_SYNC_NONE`, as `sync_file_range` does) and forgets
    /// those that are clean by then, which what was just written is not.
    pub(super) fn begin_writing(file: &File, offset: u64, len: u64) {
        let _ = fadvise(file, offset, NonZeroU64::new(len), Advice::DontNeed);
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::*;

    pub(super) fn open_direct(_: &Path) -> Option<File> {
        None
    }

    pub(super) fn reserve(_: &File, _: u64) -> io::Result<bool> {
        Ok(false)
    }

    pub(super) fn begin_writing(_: &File, _: u64, _: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::TestDirectory;
    use std::fs;

    const MODES: [WriteMode; 4] =
        [WriteMode::Auto, WriteMode::FileIo, WriteMode::EarlyWriteback, WriteMode::Direct];

    /// A directory on a disk: those of tests may be in memory, if nothing is direct.
    fn directory() -> TestDirectory {
        let directory = TestDirectory::new();
        fs::create_dir(directory.path()).unwrap();
        directory
    }

    #[test]
    fn every_mode_gives_the_same_bytes() {
        let directory = directory();
        let lens = [1, BUFFER_BYTES - 1, 1, BUFFER_BYTES, 3 * BUFFER_BYTES + 5, 0, 7, 9_000_000];
        for mode in MODES {
            for (nth, expected_bytes) in [None, Some(10), Some(20 << 20)].into_iter().enumerate() {
                for flushed in [false, true] {
                    let path = directory.path().join(format!("{}-{nth}-{flushed}", mode.name()));
                    let mut file = FsWrite::create(path.clone(), mode, expected_bytes).unwrap();
                    let mut expected = vec![];
                    for (n, len) in lens.iter().enumerate() {
                        let part: Vec<u8> = (0..*len).map(|at| (at / 7 + n) as u8).collect();
                        file.write_all(&part).unwrap();
                        expected.extend(part);
                        if flushed {
                            file.flush().unwrap();
                            assert_eq!(fs::metadata(&path).unwrap().len(), expected.len() as u64);
                        }
                    }
                    file.sync().unwrap();
                    let found = fs::read(&path).unwrap();
                    assert!(found == expected, "{mode:?}, {expected_bytes:?}: {}", found.len());
                    fs::remove_file(&path).unwrap();
                }
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn room_that_was_reserved_and_not_used_is_given_back() {
        use std::os::unix::fs::MetadataExt;
        let directory = directory();
        for mode in MODES {
            let path = directory.path().join(mode.name());
            let allocated = || fs::metadata(&path).unwrap().blocks() * 512;
            let mut file = FsWrite::create(path.clone(), mode, Some(128 << 20)).unwrap();
            if file.reserved > 0 {
                assert!(allocated() >= 64 << 20, "{mode:?}: {}", allocated());
            }
            file.write_all(&[7; 3 << 20]).unwrap();
            file.sync().unwrap();
            assert!((3 << 20..4 << 20).contains(&allocated()), "{mode:?}: {}", allocated());
            assert_eq!(fs::metadata(&path).unwrap().len(), 3 << 20);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn more_room_than_there_is_is_told_before_anything_is_written() {
        let directory = directory();
        let path = directory.path().join("a");
        match FsWrite::create(path, WriteMode::FileIo, Some(1 << 50)) {
            Err(error) => assert_eq!(error.kind(), ErrorKind::NoSpace, "{error}"),
            // Nothing can be reserved here, or no file is as large.
            Ok(file) => assert_eq!(file.reserved, 0),
        }
    }

    #[test]
    fn a_block_that_is_not_whole_ends_direct_writes() {
        let directory = directory();
        let path = directory.path().join("a");
        let mut file = FsWrite::create(path.clone(), WriteMode::Direct, None).unwrap();
        let was_direct = file.direct.is_some();
        file.write_all(&vec![1; 2 * BUFFER_BYTES + 1]).unwrap();
        assert_eq!(file.direct.is_some(), was_direct, "whole blocks so far");
        file.flush().unwrap();
        assert!(file.direct.is_none());
        file.write_all(&vec![2; BUFFER_BYTES]).unwrap();
        file.sync().unwrap();
        let expected = [vec![1; 2 * BUFFER_BYTES + 1], vec![2; BUFFER_BYTES]].concat();
        assert!(fs::read(path).unwrap() == expected);
    }

    #[test]
    fn where_the_memory_of_direct_writes_begins_is_aligned() {
        let mut buffer = Buffer::new(ALIGNMENT);
        for _ in 0..3 {
            assert_eq!(buffer.fill(&[1; 5]), &[] as &[u8]);
            assert_eq!(buffer.filled().as_ptr().align_offset(ALIGNMENT), 0);
            let rest = vec![2; BUFFER_BYTES];
            assert_eq!(buffer.fill(&rest).len(), 5);
            assert_eq!(buffer.filled().as_ptr().align_offset(ALIGNMENT), 0);
            assert_eq!(
                (buffer.len(), &buffer.filled()[..6]),
                (BUFFER_BYTES, &[1, 1, 1, 1, 1, 2][..])
            );
            buffer.clear();
        }
    }

    #[test]
    fn names_of_modes_lead_back_to_them() {
        for mode in MODES {
            assert_eq!(WriteMode::from_name(mode.name()), Some(mode));
        }
    }

    /// A disk that takes at most `most` bytes a call and is interrupted before every other one.
    fn through_a_fussy_disk(most: usize, bytes: &[u8]) -> (io::Result<()>, Vec<u8>) {
        let (mut disk, mut calls) = (vec![], 0);
        let result = write_full_at(0, bytes, |part, offset| {
            calls += 1;
            assert!(part.len() <= CALL_BYTES_MAX);
            if calls % 2 == 1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            assert_eq!(offset, disk.len() as u64);
            let len = part.len().min(most);
            disk.extend_from_slice(&part[..len]);
            Ok(len)
        });
        (result, disk)
    }

    #[test]
    fn short_writes_go_on_and_nothing_written_is_an_error() {
        let bytes: Vec<u8> = (0..=255).collect();
        for most in [1, 7, 255, 256, 300] {
            let (result, disk) = through_a_fussy_disk(most, &bytes);
            result.unwrap();
            assert_eq!(disk, bytes);
        }
        let (stuck, _) = through_a_fussy_disk(0, &bytes);
        assert_eq!(stuck.unwrap_err().kind(), io::ErrorKind::WriteZero);
        let full = write_full_at(0, &bytes, |_, _| Err(io::ErrorKind::StorageFull.into()));
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
        let liar = write_full_at(0, &bytes, |part, _| Ok(part.len() + 1));
        assert_eq!(liar.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_file_that_failed_takes_nothing_more() {
        let directory = directory();
        let path = directory.path().join("a");
        fs::write(&path, "").unwrap();
        // Opened for reading only, so that the first write to the system fails.
        let file = File::open(&path).unwrap();
        let mut write = FsWrite::of(file, path, WriteMode::FileIo, None).unwrap();
        write.write_all(b"x").unwrap();
        assert_ne!(write.sync().unwrap_err().kind(), ErrorKind::Poisoned);
        assert_eq!(write.sync().unwrap_err().kind(), ErrorKind::Poisoned);
        assert_eq!(write.write_all(b"x").unwrap_err().kind(), ErrorKind::Poisoned);
    }
}
