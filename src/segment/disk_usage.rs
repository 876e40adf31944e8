//! Disk usage of an index, and how much of it is no longer needed.

use crate::error::{ErrorKind, Result};
use crate::format::FileName;
use crate::format::manifest::SegmentMeta;
use crate::segment::snapshot::{Snapshot, read_manifest};
use crate::storage::Storage;
use std::collections::HashSet;

/// Bytes of the files of an index by what they are for; from [`Index::disk_usage`](crate::Index::disk_usage).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiskUsage {
    /// Bytes of the newest commit.
    pub live: u64,
    /// Bytes that only older commits need. A writer removes them when no reader has one of these commits open and
    /// newer ones have come.
    pub older: u64,
    /// Bytes that no commit refers to. They are being written, or left by a writer that was killed. The next writer
    /// removes them.
    pub unreferenced: u64,
    /// Files, live or not.
    pub files: u64,
}

impl DiskUsage {
    /// Everything.
    pub fn total(&self) -> u64 {
        self.live + self.older + self.unreferenced
    }

    /// Bytes that would be freed if nothing but the newest commit were kept.
    pub fn reclaimable(&self) -> u64 {
        self.older + self.unreferenced
    }
}

/// Adds up the files in a storage; names that are not ours do not count.
pub(crate) fn disk_usage(storage: &dyn Storage) -> Result<DiskUsage> {
    let newest = Snapshot::manifest(storage)?;
    let entries = storage.list()?;
    let names = || {
        entries
            .iter()
            .filter(|entry| entry.is_file)
            .filter_map(|entry| FileName::parse(&entry.name))
    };
    let mut of_older = HashSet::new();
    for name in names() {
        if let FileName::Manifest(generation) = name
            && generation < newest.generation
            // One that is gone or damaged keeps nothing.
            && let Ok(manifest) = read_manifest(storage, generation)
        {
            of_older.extend(manifest.segments.iter().flat_map(SegmentMeta::files));
        }
    }
    let of_newest: HashSet<_> = newest.segments.iter().flat_map(SegmentMeta::files).collect();
    let mut usage = DiskUsage::default();
    for name in names() {
        let bytes = match storage.open_unmapped(&name.to_string()) {
            Ok(file) => file.len(),
            // Collected meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        usage.files += 1;
        *match name {
            file if of_newest.contains(&file) => &mut usage.live,
            file if of_older.contains(&file) => &mut usage.older,
            FileName::Manifest(generation) if generation < newest.generation => &mut usage.older,
            FileName::Manifest(_) | FileName::WriteLock => &mut usage.live,
            FileName::Segment(_)
            | FileName::Deletes { .. }
            | FileName::Temporary(_)
            | FileName::Run { .. } => &mut usage.unreferenced,
        } += bytes;
    }
    Ok(usage)
}
