//! Bytes in memory as long as there is room, and in temporary files beyond.
//!
//! A file is written once, opened when it is whole, and loses its name then: its bytes go with the last who has it open, and
//! a crash leaves litter that the next writer finds. Pages of a mapped file are the system's, which takes them
//! back when others need memory.
//!
//! A storage that maps no files ([`ReadMode::Pread`](crate::storage::ReadMode)) has them read back into memory if they must be read in
//! any order.

use crate::error::Result;
use crate::format::FileName;
use crate::ids::SegmentId;
use crate::storage::{Storage, StorageRead, StorageWrite};
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes that are written at once.
const WRITE_BYTES: usize = 256 << 10;
/// First number of files: those of runs count up from zero, those of dictionaries down from the greatest.
const FIRST_NUMBER: u32 = 1 << 31;

/// Maker of the temporary files of a build.
#[derive(Clone, Debug)]
pub(crate) struct SpillFiles {
    storage: Arc<dyn Storage>,
    build: SegmentId,
    next: Arc<AtomicU32>,
}

impl SpillFiles {
    pub(crate) fn new(storage: Arc<dyn Storage>, build: SegmentId) -> Self {
        SpillFiles { storage, build, next: Arc::new(AtomicU32::new(FIRST_NUMBER)) }
    }

    /// Creates a file.
    pub(super) fn create(&self) -> Result<SpillFile> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let name = FileName::Run { build: self.build, number }.to_string();
        let file = self.storage.create(&name)?;
        Ok(SpillFile { storage: Arc::clone(&self.storage), name, file: Some(file), len: 0 })
    }
}

/// A temporary file that is written; it is gone if it is dropped before it is whole.
#[derive(Debug)]
pub(super) struct SpillFile {
    storage: Arc<dyn Storage>,
    name: String,
    file: Option<Box<dyn StorageWrite>>,
    len: u64,
}

impl SpillFile {
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.len += bytes.len() as u64;
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Opens what was written.
    pub(super) fn finish(mut self) -> Result<Arc<dyn StorageRead>> {
        if let Some(mut file) = self.file.take() {
            file.flush()?;
        }
        self.storage.open(&self.name)
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        self.file = None;
        // A file that cannot be deleted is litter, as after a crash.
        let _ = self.storage.delete(&self.name);
    }
}

/// Bytes that do not change any more.
#[derive(Clone, Debug)]
pub(crate) enum SpilledBytes {
    Memory(Vec<u8>),
    File(Arc<dyn StorageRead>),
}

impl Default for SpilledBytes {
    fn default() -> Self {
        SpilledBytes::Memory(vec![])
    }
}

impl Deref for SpilledBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            SpilledBytes::Memory(bytes) => bytes,
            SpilledBytes::File(file) => file.mapped().unwrap_or_default(),
        }
    }
}

impl SpilledBytes {
    /// Says that they are read in any order, so that the system reads nothing ahead but [what is asked for](Self::read_ahead).
    pub(super) fn read_in_any_order(&self) {
        if let SpilledBytes::File(file) = self {
            file.read_in_any_order();
        }
    }

    /// Has the system read some of them from the disk, while this thread goes on.
    pub(super) fn read_ahead(&self, bytes: Range<usize>) {
        if let SpilledBytes::File(file) = self {
            file.read_ahead(bytes.start as u64..bytes.end as u64);
        }
    }
}

impl PartialEq for SpilledBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for SpilledBytes {}

/// Bytes that are added one after the other.
#[derive(Debug)]
pub(crate) struct SpillWriter {
    files: Option<SpillFiles>,
    /// Bytes that may be in memory.
    room: usize,
    memory: Vec<u8>,
    file: Option<SpillFile>,
}

impl SpillWriter {
    /// For bytes that may take so much memory; without files, any.
    pub(crate) fn new(files: Option<&SpillFiles>, room: usize) -> Self {
        SpillWriter { files: files.cloned(), room, memory: vec![], file: None }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let len = self.memory.len() + bytes.len();
        if let Some(file) = &mut self.file {
            if len > WRITE_BYTES {
                file.write(&self.memory)?;
                self.memory.clear();
            }
        } else if let Some(files) = self.files.as_ref().filter(|_| len > self.room) {
            let mut file = files.create()?;
            file.write(&self.memory)?;
            self.memory = Vec::with_capacity(WRITE_BYTES);
            self.file = Some(file);
        } else if len > self.memory.capacity() {
            let most = if self.files.is_some() { self.room } else { usize::MAX };
            self.memory.reserve_exact((2 * len).min(most).max(len) - self.memory.len());
        }
        self.memory.extend_from_slice(bytes);
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<SpilledBytes> {
        let SpillWriter { mut memory, file, .. } = self;
        let Some(mut file) = file else {
            memory.shrink_to_fit();
            return Ok(SpilledBytes::Memory(memory));
        };
        file.write(&memory)?;
        let file = file.finish()?;
        if file.mapped().is_some() {
            return Ok(SpilledBytes::File(file));
        }
        memory.clear();
        memory.resize(file.len() as usize, 0);
        file.read_at(0, &mut memory)?;
        Ok(SpilledBytes::Memory(memory))
    }
}

/// Memory of a build, and files for the rest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    /// Bytes of memory for what grows with the vectors, beside some tens for each.
    pub(crate) bytes: usize,
    /// Takes the rest; without it there is only memory.
    pub(crate) files: Option<SpillFiles>,
}

impl Room {
    /// All in memory.
    #[cfg(test)]
    pub(crate) fn unlimited() -> Self {
        Room { bytes: usize::MAX, files: None }
    }

    /// A part of it, for bytes that are added.
    pub(super) fn writer(&self, parts: usize) -> SpillWriter {
        SpillWriter::new(self.files.as_ref(), self.bytes / parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{FsStorage, MemoryStorage, ReadMode, TestDirectory};

    #[test]
    fn bytes_are_the_same_in_memory_and_in_files_that_leave_nothing() {
        let directory = TestDirectory::new();
        let storages: [Arc<dyn Storage>; 3] = [
            Arc::new(MemoryStorage::new()),
            Arc::new(FsStorage::create(directory.path(), ReadMode::Mmap).unwrap()),
            Arc::new(FsStorage::open(directory.path(), ReadMode::Pread).unwrap()),
        ];
        let all: Vec<u8> = (0..600_000u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
        for storage in storages {
            let files = SpillFiles::new(Arc::clone(&storage), SegmentId([7; 16]));
            for (room, is_file) in [(0, true), (1_000, true), (599_999, true), (600_000, false)] {
                let mut writer = SpillWriter::new(Some(&files), room);
                all.chunks(7_001).for_each(|part| writer.write(part).unwrap());
                assert_eq!(writer.file.is_some(), is_file);
                let bytes = writer.finish().unwrap();
                assert!(*bytes == *all && storage.list().unwrap().is_empty());
            }
            let mut dropped = SpillWriter::new(Some(&files), 0);
            dropped.write(&[1]).unwrap();
            assert_eq!(storage.list().unwrap().len(), 1);
            drop(dropped);
            assert!(storage.list().unwrap().is_empty());
        }
    }
}
