//! What the next commit will consist of: segments of the last one, and new files that no commit names yet.
//!
//! New files are whole and can be opened, so searchers of this process may see them before they are
//! durable. A commit [syncs](Staging::sync) them first; what is given up before is deleted, and what a crash
//! leaves of it is cleared away by the next writer.

use crate::error::Result;
use crate::format::FileName;
use crate::format::manifest::{DeletesMeta, SegmentMeta};
use crate::segment::builder::BuiltSegment;
use crate::segment::file::Unsynced;
use crate::storage::Storage;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Segments on their way to a commit.
#[derive(Debug)]
pub(super) struct Staging {
    storage: Arc<dyn Storage>,
    /// In the order of their documents.
    segments: Vec<SegmentMeta>,
    /// Those at the front that the last commit names, or what they were merged into.
    n_settled: usize,
    /// Files that no commit names.
    files: HashMap<FileName, Unsynced>,
    pub(super) counts: Counts,
}

/// What happened since the last commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) added: u64,
    pub(super) deleted: u64,
    pub(super) runs_spilled: u64,
    pub(super) tokens_skipped: u64,
}

impl Staging {
    /// Begins with the segments of the last commit that the next one keeps.
    pub(super) fn new(storage: Arc<dyn Storage>, committed: Vec<SegmentMeta>) -> Self {
        let n_settled = committed.len();
        let (files, counts) = Default::default();
        Staging { storage, segments: committed, n_settled, files, counts }
    }

    pub(super) fn segments(&self) -> &[SegmentMeta] {
        &self.segments
    }

    /// Segments of documents that no commit has.
    pub(super) fn unsettled(&self) -> Range<usize> {
        self.n_settled..self.segments.len()
    }

    /// Whether there is anything that the last commit does not have.
    pub(super) fn has_changes(&self) -> bool {
        !self.files.is_empty() || self.counts != Counts::default()
    }

    /// Adds a new segment behind the others.
    pub(super) fn add(&mut self, built: BuiltSegment) {
        let segment = self.keep(built);
        self.segments.push(segment);
    }

    /// Adds a segment that is durable already, with its deletes.
    pub(super) fn add_durable(&mut self, segment: SegmentMeta) {
        self.files.extend(segment.files().map(|name| (name, Unsynced::durable())));
        self.segments.push(segment);
    }

    /// Puts a new segment in the place of some neighbours.
    pub(super) fn replace(&mut self, range: Range<usize>, built: BuiltSegment) {
        let segment = self.keep(built);
        let (first, n_old) = (range.start, range.len());
        let old: Vec<_> = self.segments.splice(range, [segment]).collect();
        if first < self.n_settled {
            let n_settled = n_old.min(self.n_settled - first);
            self.n_settled = self.n_settled - n_settled + 1;
        }
        old.iter().flat_map(SegmentMeta::files).for_each(|name| self.give_up(name));
    }

    /// Sets what is deleted of a segment.
    pub(super) fn set_deletes(&mut self, at: usize, deletes: DeletesMeta, file: Unsynced) {
        let segment = &mut self.segments[at];
        let number =
            |of: &DeletesMeta| FileName::Deletes { segment: segment.id, number: of.number };
        let before = segment.deletes.as_ref().map(number);
        self.files.insert(number(&deletes), file);
        segment.deletes = Some(deletes);
        before.into_iter().for_each(|name| self.give_up(name));
    }

    /// Takes segments out of which nothing is left.
    pub(super) fn remove(&mut self, nothing_left_of: &[bool]) {
        let mut at = 0;
        let is_gone = |at: usize| nothing_left_of.get(at).copied().unwrap_or(false);
        let n_settled = (0..self.n_settled).filter(|at| !is_gone(*at)).count();
        let mut gone = vec![];
        self.segments.retain(|segment| {
            at += 1;
            if is_gone(at - 1) {
                gone.push(*segment);
            }
            !is_gone(at - 1)
        });
        self.n_settled = n_settled;
        gone.iter().flat_map(SegmentMeta::files).for_each(|name| self.give_up(name));
    }

    /// Makes every new file durable.
    pub(super) fn sync(&mut self) -> Result<()> {
        for (name, file) in &mut self.files {
            file.sync().map_err(|error| match error.file() {
                Some(_) => error,
                None => error.in_file(self.storage.location().join(name.to_string())),
            })?;
        }
        Ok(())
    }

    /// The segments are those of the last commit now.
    pub(super) fn set_committed(&mut self) {
        debug_assert!(self.files.values().all(Unsynced::is_durable), "a commit of durable files");
        self.files.clear();
        self.n_settled = self.segments.len();
        self.counts = Counts::default();
    }

    /// Deletes all files that no commit names.
    pub(super) fn discard(&mut self) {
        let names: Vec<_> = self.files.keys().copied().collect();
        names.into_iter().for_each(|name| self.give_up(name));
        self.segments.clear();
        self.n_settled = 0;
        self.counts = Counts::default();
    }

    fn keep(&mut self, built: BuiltSegment) -> SegmentMeta {
        let BuiltSegment { id, seal, n_docs, file } = built;
        self.files.insert(FileName::Segment(id), file);
        SegmentMeta { id, seal, n_docs, deletes: None }
    }

    /// Deletes a file, unless a commit names it.
    fn give_up(&mut self, name: FileName) {
        if let Some(handle) = self.files.remove(&name) {
            drop(handle);
            // No commit will ever name it. If it stays, the next writer clears it away.
            let _ = self.storage.delete(&name.to_string());
        }
    }
}
