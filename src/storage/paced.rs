//! Writing that can be slowed down and stopped: for merges, which are never urgent.

use super::{Entry, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use crate::budget::CancelToken;
use crate::error::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest sleep before looking again whether to stop.
const NAP: Duration = Duration::from_millis(20);

/// A storage whose new files are written at no more than some bytes a second, and until somebody cancels.
#[derive(Debug)]
pub(crate) struct Paced {
    storage: Arc<dyn Storage>,
    pace: Arc<Pace>,
    cancel: CancelToken,
}

/// Speed limit of writes; may be shared by several, who have it together.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// 0: as fast as it goes.
    bytes_per_second: AtomicU64,
    /// When the next byte may be written.
    next: Mutex<Option<Instant>>,
}

impl Pace {
    pub(crate) fn set(&self, bytes_per_second: Option<u64>) {
        self.bytes_per_second.store(bytes_per_second.unwrap_or(0), Ordering::Relaxed);
    }

    /// Waits until so many bytes more may be written.
    fn wait(&self, bytes: usize, cancel: &CancelToken) -> Result<()> {
        let rate = self.bytes_per_second.load(Ordering::Relaxed);
        let mut until = None;
        if rate > 0 {
            let now = Instant::now();
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let start = next.map_or(now, |next| next.max(now));
            *next = start.checked_add(Duration::from_secs_f64(bytes as f64 / rate as f64));
            until = Some(start);
        }
        loop {
            if cancel.is_cancelled() {
                return Err(Error::new(ErrorKind::Cancelled, "merging segments"));
            }
            let rest =
                until.map_or(Duration::ZERO, |u| u.saturating_duration_since(Instant::now()));
            if rest.is_zero() {
                return Ok(());
            }
            thread::sleep(rest.min(NAP));
        }
    }
}

impl Paced {
    pub(crate) fn new(storage: Arc<dyn Storage>, pace: Arc<Pace>, cancel: CancelToken) -> Self {
        Paced { storage, pace, cancel }
    }

    fn wrap(&self, file: Box<dyn StorageWrite>) -> Box<dyn StorageWrite> {
        Box::new(PacedWrite { file, pace: Arc::clone(&self.pace), cancel: self.cancel.clone() })
    }
}

impl Storage for Paced {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        self.storage.create(name).map(|file| self.wrap(file))
    }

    fn create_sized(&self, name: &str, bytes: u64) -> Result<Box<dyn StorageWrite>> {
        self.storage.create_sized(name, bytes).map(|file| self.wrap(file))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        self.storage.open(name)
    }

    fn open_unmapped(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        self.storage.open_unmapped(name)
    }

    fn list(&self) -> Result<Vec<Entry>> {
        self.storage.list()
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.storage.delete(name)
    }

    fn publish(&self, from: &str, to: &str) -> Result<()> {
        self.storage.publish(from, to)
    }

    fn link(&self, name: &str, also: &str) -> Result<()> {
        self.storage.link(name, also)
    }

    fn put_into(&self, name: &str, directory: &Path) -> Result<()> {
        self.storage.put_into(name, directory)
    }

    fn sync_names(&self) -> Result<()> {
        self.storage.sync_names()
    }

    fn lock_writer(&self) -> Result<WriterLock> {
        self.storage.lock_writer()
    }

    fn pin(&self, name: &str) -> Result<Pin> {
        self.storage.pin(name)
    }

    fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
        self.storage.delete_unless_pinned(name)
    }

    fn location(&self) -> PathBuf {
        self.storage.location()
    }
}

#[derive(Debug)]
struct PacedWrite {
    file: Box<dyn StorageWrite>,
    pace: Arc<Pace>,
    cancel: CancelToken,
}

impl StorageWrite for PacedWrite {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.pace.wait(bytes.len(), &self.cancel)?;
        self.file.write_all(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }

    fn sync(&mut self) -> Result<()> {
        self.file.sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStorage;

    #[test]
    fn it_is_a_storage_like_the_one_inside() {
        let inner = Arc::new(MemoryStorage::new());
        let paced = Paced::new(inner, Arc::default(), CancelToken::new());
        crate::storage::tests::obeys_the_contract(&paced);
    }

    #[test]
    fn it_is_as_slow_as_it_shall_be_and_stops_when_it_is_told() {
        let (pace, cancel) = (Arc::new(Pace::default()), CancelToken::new());
        let paced = Paced::new(Arc::new(MemoryStorage::new()), Arc::clone(&pace), cancel.clone());
        pace.set(Some(100_000));
        let mut file = paced.create("a").unwrap();
        let start = Instant::now();
        (0..6).for_each(|_| file.write_all(&[0; 1_000]).unwrap());
        // Never faster; how much slower is for the machine to say.
        assert!(start.elapsed() >= Duration::from_millis(50));
        pace.set(Some(1));
        file.write_all(&[0; 1_000_000]).unwrap();
        cancel.cancel();
        assert_eq!(file.write_all(&[0]).unwrap_err().kind(), ErrorKind::Cancelled);
    }
}
