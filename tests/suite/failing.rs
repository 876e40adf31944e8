//! A storage of a host's, which may fail, have mistakes, or take its time.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{fmt, io};
use treepie::storage::{Entry, MemoryStorage, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use treepie::{Error, Result};

/// What is done before a call, given its name and that of the file.
type Before = Arc<dyn Fn(&str, &str) -> Result<()> + Send + Sync>;

/// What comes before each call, where anything does.
#[derive(Clone, Default)]
struct Hook(Arc<Mutex<Option<Before>>>);

impl Hook {
    fn check(&self, call: &str, name: &str) -> Result<()> {
        let before = self.0.lock().unwrap().clone();
        before.map_or(Ok(()), |before| before(call, name))
    }
}

/// Files in memory; something else may come before each call that has to do with names, and before each `sync` of a file.
#[derive(Default)]
pub(crate) struct Failing {
    files: MemoryStorage,
    hook: Hook,
}

impl Failing {
    /// Does this before each call.
    pub(crate) fn before(&self, work: impl Fn(&str, &str) -> Result<()> + Send + Sync + 'static) {
        *self.hook.0.lock().unwrap() = Some(Arc::new(work));
    }

    /// Fails all calls of a kind, but for so many.
    pub(crate) fn fail(&self, call: &'static str, room: usize, how: io::ErrorKind) {
        let room = AtomicUsize::new(room);
        self.before(move |called, name| {
            let is_met = called == call && is_used_up(&room);
            let error = || Error::io(format!("calling {call}"), how.into()).in_file(name);
            if is_met { Err(error()) } else { Ok(()) }
        });
    }

    /// Panics in all calls of a kind.
    pub(crate) fn panic(&self, call: &'static str) {
        self.before(move |called, _| {
            assert!(called != call, "a mistake of the host's in {call}");
            Ok(())
        });
    }

    /// All calls work again.
    pub(crate) fn mend(&self) {
        *self.hook.0.lock().unwrap() = None;
    }

    fn check(&self, call: &str, name: &str) -> Result<()> {
        self.hook.check(call, name)
    }
}

/// A file of it.
struct FailingFile {
    file: Box<dyn StorageWrite>,
    name: String,
    hook: Hook,
}

impl fmt::Debug for FailingFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

impl StorageWrite for FailingFile {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes)
    }
    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
    fn sync(&mut self) -> Result<()> {
        self.hook.check("sync", &self.name)?;
        self.file.sync()
    }
}

/// Takes one of what is left; whether there was none.
fn is_used_up(room: &AtomicUsize) -> bool {
    room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err()
}

impl fmt::Debug for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failing").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Storage for Failing {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        self.check("create", name)?;
        let (file, name, hook) = (self.files.create(name)?, name.to_owned(), self.hook.clone());
        Ok(Box::new(FailingFile { file, name, hook }))
    }
    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        self.check("open", name)?;
        self.files.open(name)
    }
    fn list(&self) -> Result<Vec<Entry>> {
        self.check("list", "")?;
        self.files.list()
    }
    fn delete(&self, name: &str) -> Result<()> {
        self.check("delete", name)?;
        self.files.delete(name)
    }
    fn publish(&self, from: &str, to: &str) -> Result<()> {
        self.check("publish", to)?;
        self.files.publish(from, to)
    }
    fn sync_names(&self) -> Result<()> {
        self.check("sync_names", "")?;
        self.files.sync_names()
    }
    fn lock_writer(&self) -> Result<WriterLock> {
        self.files.lock_writer()
    }
    fn pin(&self, name: &str) -> Result<Pin> {
        self.check("pin", name)?;
        self.files.pin(name)
    }
    fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
        self.check("delete_unless_pinned", name)?;
        self.files.delete_unless_pinned(name)
    }
    fn location(&self) -> PathBuf {
        PathBuf::from("(failing)")
    }
}
