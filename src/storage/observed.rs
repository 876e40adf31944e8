//! Any storage, with everything that is done to its files counted and told.
//!
//! This is the one place that sees every file: whatever an index does goes through it, and nothing that it does
//! changes. An event says what the storage was asked for, in its order, and whether it could.

use super::{Entry, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use crate::error::{Error, Result};
use crate::events::{Observer, Operation, Pieces, What};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A storage and who watches it.
#[derive(Debug)]
pub(crate) struct Observed {
    storage: Arc<dyn Storage>,
    observer: Arc<Observer>,
}

impl Observed {
    /// Has everything that is done to `storage` through the result watched.
    pub(crate) fn watch(storage: Arc<dyn Storage>, observer: &Arc<Observer>) -> Arc<dyn Storage> {
        Arc::new(Observed { storage, observer: Arc::clone(observer) })
    }

    /// Does something to a file and tells of it.
    fn tell<T>(
        &self,
        operation: Operation,
        work: impl FnOnce(&dyn Storage) -> Result<T>,
        what: impl FnOnce() -> What,
    ) -> Result<T> {
        let started = self.observer.clock();
        let done = work(&*self.storage);
        self.observer.tell(operation, started, 0, done.as_ref().err(), what);
        done
    }

    fn create_by(
        &self,
        name: &str,
        create: impl FnOnce(&dyn Storage) -> Result<Box<dyn StorageWrite>>,
    ) -> Result<Box<dyn StorageWrite>> {
        let file =
            self.tell(Operation::Create, create, || What::Create { file: name.to_owned() })?;
        Ok(Box::new(ObservedWrite {
            file,
            observer: Arc::clone(&self.observer),
            // Only events have names.
            name: if self.observer.is_heard() { name.to_owned() } else { String::new() },
            untold: Pieces::default(),
            unsynced: 0,
        }))
    }

    fn open_by(
        &self,
        name: &str,
        open: impl FnOnce(&dyn Storage) -> Result<Arc<dyn StorageRead>>,
    ) -> Result<Arc<dyn StorageRead>> {
        let started = self.observer.clock();
        let opened = open(&*self.storage);
        let bytes = opened.as_ref().map_or(0, |file| file.len());
        self.observer.tell(Operation::Open, started, bytes, opened.as_ref().err(), || What::Open {
            file: name.to_owned(),
            bytes,
        });
        opened
    }
}

impl Storage for Observed {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        self.create_by(name, |storage| storage.create(name))
    }

    fn create_sized(&self, name: &str, bytes: u64) -> Result<Box<dyn StorageWrite>> {
        self.create_by(name, |storage| storage.create_sized(name, bytes))
    }

    /// The file itself: most are mapped, and searches pay for nothing.
    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        self.open_by(name, |storage| storage.open(name))
    }

    fn open_unmapped(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        let file = self.open_by(name, |storage| storage.open_unmapped(name))?;
        Ok(Arc::new(ObservedRead {
            file,
            observer: Arc::clone(&self.observer),
            name: if self.observer.is_heard() { name.to_owned() } else { String::new() },
            pieces: Mutex::default(),
        }))
    }

    fn list(&self) -> Result<Vec<Entry>> {
        self.storage.list()
    }

    fn delete(&self, name: &str) -> Result<()> {
        let what = || What::Delete { file: name.to_owned() };
        self.tell(Operation::Delete, |storage| storage.delete(name), what)
    }

    fn publish(&self, from: &str, to: &str) -> Result<()> {
        let what = || What::Publish { file: to.to_owned(), from: from.to_owned() };
        self.tell(Operation::Publish, |storage| storage.publish(from, to), what)
    }

    fn link(&self, name: &str, also: &str) -> Result<()> {
        let what = || What::Link { file: also.to_owned(), from: name.to_owned() };
        self.tell(Operation::Link, |storage| storage.link(name, also), what)
    }

    fn put_into(&self, name: &str, directory: &Path) -> Result<()> {
        let to = || directory.join(name).display().to_string();
        let what = || What::Link { file: to(), from: name.to_owned() };
        self.tell(Operation::Link, |storage| storage.put_into(name, directory), what)
    }

    fn sync_names(&self) -> Result<()> {
        let what = || What::SyncNames {};
        self.tell(Operation::SyncNames, |storage| storage.sync_names(), what)
    }

    fn lock_writer(&self) -> Result<WriterLock> {
        self.storage.lock_writer()
    }

    fn pin(&self, name: &str) -> Result<Pin> {
        self.storage.pin(name)
    }

    /// Tells nothing of a file that is pinned and stays.
    fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
        let started = self.observer.clock();
        let deleted = self.storage.delete_unless_pinned(name);
        if !matches!(deleted, Ok(false)) {
            let what = || What::Delete { file: name.to_owned() };
            self.observer.tell(Operation::Delete, started, 0, deleted.as_ref().err(), what);
        }
        deleted
    }

    fn location(&self) -> PathBuf {
        self.storage.location()
    }
}

/// A file being written. Its pieces are told together, when it is handed over, made durable or closed.
#[derive(Debug)]
struct ObservedWrite {
    file: Box<dyn StorageWrite>,
    observer: Arc<Observer>,
    name: String,
    untold: Pieces,
    /// Bytes that are not durable.
    unsynced: u64,
}

impl ObservedWrite {
    fn tell_written(&mut self, failure: Option<&Error>) {
        if self.untold.calls == 0 {
            return;
        }
        let pieces = std::mem::take(&mut self.untold);
        self.observer.tell_pieces(Operation::Write, &pieces, failure, || What::Write {
            file: self.name.clone(),
            bytes: pieces.bytes,
            calls: pieces.calls,
            busy: pieces.busy,
        });
    }
}

impl StorageWrite for ObservedWrite {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        let started = self.observer.clock();
        let written = self.file.write_all(bytes);
        let n_written = if written.is_ok() { bytes.len() as u64 } else { 0 };
        self.untold.add(n_written, started);
        self.unsynced += n_written;
        if let Err(error) = &written {
            self.tell_written(Some(error));
        }
        written
    }

    fn flush(&mut self) -> Result<()> {
        let started = self.observer.clock();
        let flushed = self.file.flush();
        self.untold.add(0, started);
        self.tell_written(flushed.as_ref().err());
        flushed
    }

    fn sync(&mut self) -> Result<()> {
        self.tell_written(None);
        let started = self.observer.clock();
        let synced = self.file.sync();
        let unsynced = std::mem::take(&mut self.unsynced);
        let bytes = if synced.is_ok() { unsynced } else { 0 };
        self.observer.tell(Operation::Sync, started, bytes, synced.as_ref().err(), || What::Sync {
            file: self.name.clone(),
            bytes,
        });
        synced
    }
}

impl Drop for ObservedWrite {
    fn drop(&mut self) {
        self.tell_written(None);
    }
}

/// A file being read in pieces, which are told when it is closed.
#[derive(Debug)]
struct ObservedRead {
    file: Arc<dyn StorageRead>,
    observer: Arc<Observer>,
    name: String,
    pieces: Mutex<Pieces>,
}

impl StorageRead for ObservedRead {
    fn len(&self) -> u64 {
        self.file.len()
    }

    fn mapped(&self) -> Option<&[u8]> {
        self.file.mapped()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let started = self.observer.clock();
        let read = self.file.read_at(offset, buffer);
        let n_read = if read.is_ok() { buffer.len() as u64 } else { 0 };
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        pieces.add(n_read, started);
        if let Err(error) = &read {
            let untold = std::mem::take(&mut *pieces);
            drop(pieces);
            tell_read(&self.observer, &self.name, untold, Some(error));
        }
        read
    }

    fn path(&self) -> PathBuf {
        self.file.path()
    }
}

impl Drop for ObservedRead {
    fn drop(&mut self) {
        let pieces = self.pieces.get_mut().unwrap_or_else(PoisonError::into_inner);
        let pieces = std::mem::take(pieces);
        tell_read(&self.observer, &self.name, pieces, None);
    }
}

fn tell_read(observer: &Observer, name: &str, pieces: Pieces, failure: Option<&Error>) {
    if pieces.calls == 0 {
        return;
    }
    observer.tell_pieces(Operation::Read, &pieces, failure, || What::Read {
        file: name.to_owned(),
        bytes: pieces.bytes,
        calls: pieces.calls,
        busy: pieces.busy,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::events::{Event, Listener};
    use crate::storage::MemoryStorage;

    #[test]
    fn a_watched_storage_obeys_the_contract() {
        let observer = Arc::new(Observer::default());
        let storage = Observed::watch(Arc::new(MemoryStorage::new()), &observer);
        crate::storage::tests::obeys_the_contract(&*storage);
        assert!(observer.stats().deletes.count > 0);
    }

    /// Events as text.
    type Told = Arc<Mutex<Vec<String>>>;

    /// A storage, who watches it, and the events of it without their times.
    fn watched() -> (Arc<dyn Storage>, Arc<Observer>, Told) {
        let events = Arc::new(Mutex::new(vec![]));
        let seen = Arc::clone(&events);
        let listener = Listener::new(move |event: &Event| {
            let failed = event.failure.as_ref().map(|failure| failure.kind);
            seen.lock().unwrap().push(match failed {
                None => format!("{:?}", event.what),
                Some(kind) => format!("{:?}: {kind:?}", event.what),
            });
        });
        let observer = Arc::new(Observer::new(Some(listener), false));
        (Observed::watch(Arc::new(MemoryStorage::new()), &observer), observer, events)
    }

    /// Without what differs from run to run.
    fn taken(events: &Mutex<Vec<String>>) -> Vec<String> {
        let events = std::mem::take(&mut *events.lock().unwrap());
        let without_busy = |event: String| match event.split_once(", busy: ") {
            Some((event, _)) => event.to_owned(),
            None => event,
        };
        events.into_iter().map(without_busy).collect()
    }

    #[test]
    fn what_is_written_is_told_together_and_what_is_durable_apart() {
        let (storage, observer, events) = watched();
        let mut file = storage.create("a").unwrap();
        file.write_all(b"one ").unwrap();
        file.write_all(b"two").unwrap();
        assert_eq!(taken(&events), [r#"Create { file: "a" }"#]);
        file.flush().unwrap();
        file.write_all(b"!").unwrap();
        file.sync().unwrap();
        file.write_all(b"??").unwrap();
        drop(file);
        let told = taken(&events);
        let expected = [
            r#"Write { file: "a", bytes: 7, calls: 3"#,
            r#"Write { file: "a", bytes: 1, calls: 1"#,
            r#"Sync { file: "a", bytes: 8 }"#,
            r#"Write { file: "a", bytes: 2, calls: 1"#,
        ];
        assert_eq!(told, expected);
        let stats = observer.stats();
        assert_eq!((stats.creates.count, stats.writes.bytes, stats.syncs.bytes), (1, 10, 8));
        storage.create("empty").unwrap().sync().unwrap();
        let told = taken(&events);
        assert_eq!(told, [r#"Create { file: "empty" }"#, r#"Sync { file: "empty", bytes: 0 }"#]);
    }

    #[test]
    fn names_reads_and_failures_are_told() {
        let (storage, _, events) = watched();
        drop(storage.create("a"));
        assert_eq!(storage.create("a").unwrap_err().kind(), ErrorKind::AlreadyExists);
        storage.publish("a", "b").unwrap();
        storage.link("b", "c").unwrap();
        storage.sync_names().unwrap();
        let file = storage.open_unmapped("b").unwrap();
        file.read_at(0, &mut []).unwrap();
        file.read_at(1, &mut [0]).unwrap_err();
        drop(file);
        let pin = storage.pin("b").unwrap();
        assert!(!storage.delete_unless_pinned("b").unwrap());
        drop(pin);
        storage.delete_unless_pinned("b").unwrap();
        storage.delete("b").unwrap_err();
        let expected = [
            r#"Create { file: "a" }"#,
            r#"Create { file: "a" }: AlreadyExists"#,
            r#"Publish { file: "b", from: "a" }"#,
            r#"Link { file: "c", from: "b" }"#,
            "SyncNames",
            r#"Open { file: "b", bytes: 0 }"#,
            r#"Read { file: "b", bytes: 0, calls: 2"#,
            r#"Delete { file: "b" }"#,
            r#"Delete { file: "b" }: NotFound"#,
        ];
        assert_eq!(taken(&events), expected);
    }
}
