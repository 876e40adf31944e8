//! Bugs that the enumerator must find: each is what a storage or a commit protocol could do wrong.

use crate::disk::{Disk, Name};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use treepie::storage::{Entry, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use treepie::{Error, Result};

/// What is wrong with a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// Segments are not synced.
    NoSegmentSync,
    /// Manifests are not synced.
    NoManifestSync,
    /// Names are not synced before a manifest is published.
    NoNameSyncBefore,
    /// Names are not synced after a manifest was published.
    NoNameSyncAfter,
    /// Segments are deleted before the deletion of the manifest that names them is synced.
    EarlyCollection,
    /// A manifest is written where it will lie, not beside it.
    ManifestInPlace,
    /// The sync after publishing is left for later, and said to be done.
    EarlyAcknowledgement,
    /// A sync that failed is tried again.
    RetriedSync,
    /// A write that was cut short passes for a whole one.
    IgnoredShortWrite,
    /// No sync before publishing, commits that are not whole are passed over, and, the bug, segments
    /// get names that were used before.
    NameReuse,
    /// The same without the bug: every segment has a name of its own.
    PassingOver,
}

/// What happened to names since they were synced last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    Nothing,
    Published,
    Deleted,
}

/// A disk with a bug before it.
#[derive(Debug)]
pub(crate) struct Buggy {
    disk: Disk,
    bug: Bug,
    since: Mutex<Since>,
}

impl Buggy {
    pub(crate) fn new(disk: Disk, bug: Bug) -> Self {
        Buggy { disk, bug, since: Mutex::new(Since::Nothing) }
    }

    fn note(&self, what: Since) -> Since {
        std::mem::replace(&mut self.since.lock().expect("nothing panics here"), what)
    }

    fn passes_over(&self) -> bool {
        matches!(self.bug, Bug::NameReuse | Bug::PassingOver)
    }

    fn bytes_of(&self, name: &str) -> Result<Vec<u8>> {
        let file = self.disk.open(name)?;
        let mut bytes = vec![0; file.len() as usize];
        file.read_at(0, &mut bytes)?;
        Ok(bytes)
    }

    /// Whether a manifest names a segment that is not there.
    fn lacks_segments(&self, manifest: &str, names: &[Entry]) -> bool {
        let Ok(bytes) = self.bytes_of(manifest) else { return true };
        let n = bytes.get(116..120).map_or(0, |n| u32::from_le_bytes(n.try_into().unwrap()));
        let ids = bytes.get(128..).unwrap_or_default().chunks_exact(40).take(n as usize);
        let segment = |segment: &[u8]| {
            let hex: String = segment[..16].iter().map(|byte| format!("{byte:02x}")).collect();
            format!("seg-{hex}.idx")
        };
        ids.map(segment).any(|name| !names.iter().any(|entry| entry.name == name))
    }
}

impl Storage for Buggy {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        if self.bug == Bug::EarlyAcknowledgement && self.note(Since::Nothing) == Since::Published {
            self.disk.sync_names()?;
        }
        let inner = self.disk.create(name)?;
        Ok(Box::new(BuggyWrite { inner, bug: self.bug, name: name.into() }))
    }

    fn list(&self) -> Result<Vec<Entry>> {
        let mut names = self.disk.list()?;
        if self.passes_over() {
            let all = names.clone();
            names.retain(|entry| {
                !entry.name.starts_with("manifest-") || !self.lacks_segments(&entry.name, &all)
            });
        }
        Ok(names)
    }

    fn publish(&self, from: &str, to: &str) -> Result<()> {
        self.note(Since::Published);
        if self.bug == Bug::ManifestInPlace {
            let bytes = self.bytes_of(from)?;
            let mut file = self.disk.create(to)?;
            file.write_all(&bytes)?;
            file.sync()?;
            return self.disk.delete(from);
        }
        if self.passes_over() && self.disk.list()?.iter().any(|entry| entry.name == to) {
            self.disk.delete(to)?;
        }
        self.disk.publish(from, to)
    }

    fn sync_names(&self) -> Result<()> {
        if self.bug == Bug::EarlyAcknowledgement {
            let published = *self.since.lock().expect("nothing panics here") == Since::Published;
            return if published { Ok(()) } else { self.disk.sync_names() };
        }
        match (self.bug, self.note(Since::Nothing)) {
            (Bug::NoNameSyncBefore | Bug::NameReuse | Bug::PassingOver, Since::Nothing)
            | (Bug::NoNameSyncAfter, Since::Published)
            | (Bug::EarlyCollection, Since::Deleted) => Ok(()),
            _ => self.disk.sync_names(),
        }
    }

    fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
        if self.bug != Bug::EarlyAcknowledgement {
            self.note(Since::Deleted);
        }
        self.disk.delete_unless_pinned(name)
    }

    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        self.disk.open(name)
    }
    fn delete(&self, name: &str) -> Result<()> {
        self.disk.delete(name)
    }
    fn lock_writer(&self) -> Result<WriterLock> {
        self.disk.lock_writer()
    }
    fn pin(&self, name: &str) -> Result<Pin> {
        self.disk.pin(name)
    }
    fn location(&self) -> PathBuf {
        self.disk.location()
    }
}

#[derive(Debug)]
struct BuggyWrite {
    inner: Box<dyn StorageWrite>,
    bug: Bug,
    name: Name,
}

impl StorageWrite for BuggyWrite {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.inner.write_all(bytes);
        if self.bug == Bug::IgnoredShortWrite { Ok(()) } else { written }
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }

    fn sync(&mut self) -> Result<()> {
        match self.bug {
            Bug::NoSegmentSync if self.name.starts_with("seg-") => Ok(()),
            Bug::NoManifestSync if self.name.starts_with(".tmp-") => Ok(()),
            Bug::RetriedSync => self.inner.sync().or_else(|_: Error| self.inner.sync()),
            _ => self.inner.sync(),
        }
    }
}
