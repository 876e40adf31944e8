//! Segments of the next commit: those of the last one, and unnamed new files.
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
    /// Number of segments at the front that the last commit names, or that these were merged into.
    n_settled: usize,
    /// Files that no commit names.
    files: HashMap<FileName, Unsynced>,
    pub(super) counts: Counts,
}

/// Number of changes since the last commit.
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

    /// Tells the segments that so many fields came to the end of the schema.
    pub(super) fn add_fields(&mut self, n_fields: u16) {
        for segment in &mut self.segments {
            segment.n_added_fields = segment.n_added_fields.saturating_add(n_fields);
        }
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
        SegmentMeta { id, seal, n_docs, deletes: None, n_added_fields: 0 }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::deletes::DeletedSet;
    use crate::ids::SegmentId;
    use crate::segment::{deletes, file};
    use crate::storage::MemoryStorage;

    /// A new segment without sections.
    fn built(storage: &dyn Storage, n: u8) -> BuiltSegment {
        let id = SegmentId([n; 16]);
        let (seal, file) = file::finish(file::create(storage, id).unwrap()).unwrap();
        BuiltSegment { id, seal, n_docs: n.into(), file }
    }

    /// On top of a commit of these segments.
    fn beyond(committed: impl IntoIterator<Item = u8>) -> Staging {
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let metas = committed.into_iter().map(|n| {
            let BuiltSegment { id, seal, n_docs, .. } = built(&*storage, n);
            SegmentMeta { id, seal, n_docs, deletes: None, n_added_fields: 0 }
        });
        let metas = metas.collect();
        Staging::new(storage, metas)
    }

    fn add(staging: &mut Staging, n: u8) {
        let built = built(&*staging.storage, n);
        staging.add(built);
    }

    fn replace(staging: &mut Staging, range: Range<usize>, n: u8) {
        let built = built(&*staging.storage, n);
        staging.replace(range, built);
    }

    fn delete(staging: &mut Staging, at: usize, number: u64) -> FileName {
        let segment = staging.segments[at].id;
        let mut set = DeletedSet::default();
        set.add(0);
        let (meta, file) = deletes::write(&*staging.storage, segment, number, &mut set).unwrap();
        staging.set_deletes(at, meta, file);
        FileName::Deletes { segment, number }
    }

    /// First bytes of the ids of the next commit's segments, and how many of these the last one has.
    fn state(staging: &Staging) -> (Vec<u8>, usize) {
        assert_eq!(staging.unsettled(), staging.n_settled..staging.segments.len());
        (staging.segments.iter().map(|segment| segment.id.0[0]).collect(), staging.n_settled)
    }

    fn assert_files(staging: &Staging, segments: &[u8], deletes: &[FileName]) {
        let segments = segments.iter().map(|n| FileName::Segment(SegmentId([*n; 16])));
        let mut expected: Vec<_> =
            segments.chain(deletes.iter().copied()).map(|name| name.to_string()).collect();
        expected.sort();
        let mut names: Vec<_> =
            staging.storage.list().unwrap().into_iter().map(|entry| entry.name).collect();
        names.sort();
        assert_eq!(names, expected);
    }

    /// Else documents that no commit has would be merged with those that it has, or never.
    #[test]
    fn what_took_the_place_of_a_committed_segment_counts_as_committed() {
        let mut staging = beyond(1..=3);
        add(&mut staging, 4);
        add(&mut staging, 5);
        assert_eq!(state(&staging), (vec![1, 2, 3, 4, 5], 3));
        replace(&mut staging, 0..2, 6);
        assert_eq!(state(&staging), (vec![6, 3, 4, 5], 2));
        replace(&mut staging, 1..3, 7);
        assert_eq!(state(&staging), (vec![6, 7, 5], 2));
        replace(&mut staging, 2..3, 8);
        assert_eq!(state(&staging), (vec![6, 7, 8], 2), "behind them nothing is committed");
        assert_files(&staging, &[1, 2, 3, 6, 7, 8], &[]);
        staging.remove(&[false, false, true]);
        assert_eq!(state(&staging), (vec![6, 7], 2));
        staging.remove(&[true]);
        assert_eq!(state(&staging), (vec![7], 1));
        assert_files(&staging, &[1, 2, 3, 7], &[]);
    }

    #[test]
    fn what_is_given_up_is_deleted_unless_a_commit_names_it() {
        let mut staging = beyond(1..=2);
        assert!(!staging.has_changes());
        let committed = delete(&mut staging, 0, 1);
        assert!(staging.has_changes());
        add(&mut staging, 3);
        staging.counts.added = 3;
        staging.sync().unwrap();
        staging.set_committed();
        assert!(!staging.has_changes());
        assert_eq!(state(&staging), (vec![1, 2, 3], 3));

        add(&mut staging, 4);
        delete(&mut staging, 0, 2);
        delete(&mut staging, 3, 3);
        let [first, fourth] = [delete(&mut staging, 0, 4), delete(&mut staging, 3, 5)];
        assert_files(&staging, &[1, 2, 3, 4], &[committed, first, fourth]);
        let BuiltSegment { id, seal, n_docs, .. } = built(&*staging.storage, 5);
        staging.add_durable(SegmentMeta { id, seal, n_docs, deletes: None, n_added_fields: 0 });
        staging.counts.added = 4;
        staging.discard();
        assert_eq!(state(&staging), (vec![], 0));
        assert!(!staging.has_changes());
        assert_files(&staging, &[1, 2, 3], &[committed]);
        // Documents that are in no segment yet.
        staging.counts.added = 1;
        assert!(staging.has_changes());
    }
}
