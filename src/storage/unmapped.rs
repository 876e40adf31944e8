//! A storage whose files are read and never mapped.

use super::{Entry, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use crate::error::Result;
use std::path::PathBuf;
use std::sync::Arc;

/// Storage that opens every file [unmapped](Storage::open_unmapped): bytes that a failing disk cannot read are an error
/// then, while a mapping would end the process.
#[derive(Debug)]
pub(crate) struct Unmapped<'s>(pub(crate) &'s dyn Storage);

impl Storage for Unmapped<'_> {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        self.0.create(name)
    }

    fn create_sized(&self, name: &str, bytes: u64) -> Result<Box<dyn StorageWrite>> {
        self.0.create_sized(name, bytes)
    }

    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        self.0.open_unmapped(name)
    }

    fn open_unmapped(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        self.0.open_unmapped(name)
    }

    fn list(&self) -> Result<Vec<Entry>> {
        self.0.list()
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.0.delete(name)
    }

    fn publish(&self, from: &str, to: &str) -> Result<()> {
        self.0.publish(from, to)
    }

    fn link(&self, name: &str, also: &str) -> Result<()> {
        self.0.link(name, also)
    }

    fn sync_names(&self) -> Result<()> {
        self.0.sync_names()
    }

    fn lock_writer(&self) -> Result<WriterLock> {
        self.0.lock_writer()
    }

    fn pin(&self, name: &str) -> Result<Pin> {
        self.0.pin(name)
    }

    fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
        self.0.delete_unless_pinned(name)
    }

    fn location(&self) -> PathBuf {
        self.0.location()
    }
}
