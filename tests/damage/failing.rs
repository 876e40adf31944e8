//! A disk that cannot read some of its bytes: a file that has such is not to be mapped.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use treepie::storage::{Entry, MemoryStorage, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use treepie::{Error, ErrorKind, Result};

/// Files in memory of which one fails where it is read in some range, so many times.
#[derive(Debug)]
pub(crate) struct Failing {
    pub(crate) files: Arc<MemoryStorage>,
    pub(crate) file: String,
    pub(crate) range: Range<u64>,
    pub(crate) times: Arc<AtomicU64>,
}

impl Failing {
    pub(crate) fn new(
        files: Arc<MemoryStorage>,
        file: &str,
        range: Range<u64>,
        times: u64,
    ) -> Arc<Self> {
        let times = Arc::new(AtomicU64::new(times));
        Arc::new(Failing { files, file: file.to_owned(), range, times })
    }

    /// How often it still fails.
    pub(crate) fn left(&self) -> u64 {
        self.times.load(Relaxed)
    }
}

impl Storage for Failing {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        self.files.create(name)
    }
    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        let is_manifest = name.starts_with("manifest-");
        // On a disk, touching the range would end the process.
        assert!(is_manifest || name != self.file || self.left() == 0, "{name} was mapped");
        self.files.open(name)
    }
    fn open_unmapped(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        let fails = (name == self.file).then(|| (self.range.clone(), Arc::clone(&self.times)));
        Ok(Arc::new(Reading { file: self.files.open(name)?, fails }))
    }
    fn list(&self) -> Result<Vec<Entry>> {
        self.files.list()
    }
    fn delete(&self, name: &str) -> Result<()> {
        self.files.delete(name)
    }
    fn publish(&self, from: &str, to: &str) -> Result<()> {
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
        self.files.location()
    }
}

#[derive(Debug)]
struct Reading {
    file: Arc<dyn StorageRead>,
    fails: Option<(Range<u64>, Arc<AtomicU64>)>,
}

impl StorageRead for Reading {
    fn len(&self) -> u64 {
        self.file.len()
    }
    fn mapped(&self) -> Option<&[u8]> {
        None
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        if let Some((range, times)) = &self.fails
            && offset < range.end
            && range.start < offset + buffer.len() as u64
            && times.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok()
        {
            return Err(Error::new(ErrorKind::Io, "reading a sector").in_file(self.path()));
        }
        self.file.read_at(offset, buffer)
    }
    fn path(&self) -> PathBuf {
        self.file.path()
    }
}
