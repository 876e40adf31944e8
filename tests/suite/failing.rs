//! A storage of a host's, which may fail or have mistakes.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use treepie::storage::{Entry, MemoryStorage, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use treepie::{Error, Result};

/// Files in memory of which one kind of call fails from some moment on, or panics.
#[derive(Debug, Default)]
pub(crate) struct Failing {
    files: MemoryStorage,
    fault: Mutex<Option<Fault>>,
}

#[derive(Debug)]
struct Fault {
    call: &'static str,
    /// Calls that still work.
    room: usize,
    /// A panic where it is none.
    how: Option<io::ErrorKind>,
}

impl Failing {
    pub(crate) fn fail(&self, call: &'static str, room: usize, how: io::ErrorKind) {
        *self.fault.lock().unwrap() = Some(Fault { call, room, how: Some(how) });
    }

    pub(crate) fn panic(&self, call: &'static str, room: usize) {
        *self.fault.lock().unwrap() = Some(Fault { call, room, how: None });
    }

    /// All calls work again.
    pub(crate) fn mend(&self) {
        *self.fault.lock().unwrap() = None;
    }

    fn check(&self, call: &str, name: &str) -> Result<()> {
        let how = match &mut *self.fault.lock().unwrap() {
            Some(fault) if fault.call == call && fault.room > 0 => {
                fault.room -= 1;
                return Ok(());
            }
            Some(fault) if fault.call == call => fault.how,
            _ => return Ok(()),
        };
        let how = how.unwrap_or_else(|| panic!("a mistake of the host's in {call}"));
        Err(Error::io(format!("calling {call}"), how.into()).in_file(name))
    }
}

impl Storage for Failing {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        self.check("create", name)?;
        self.files.create(name)
    }
    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        self.check("open", name)?;
        self.files.open(name)
    }
    fn list(&self) -> Result<Vec<Entry>> {
        self.files.list()
    }
    fn delete(&self, name: &str) -> Result<()> {
        self.files.delete(name)
    }
    fn publish(&self, from: &str, to: &str) -> Result<()> {
        self.check("publish", to)?;
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
        PathBuf::from("(failing)")
    }
}
