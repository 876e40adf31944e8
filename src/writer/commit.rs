//! Committing: how new segments become the index, in one step that survives a power failure.
//!
//! 1. The segments are written and made durable, each by whoever wrote it ([`file::seal`](crate::segment::file::seal)).
//! 2. Their names are made durable.
//! 3. The manifest is written under a temporary name and made durable.
//! 4. It is published under the name of the next generation, which nobody may have taken.
//! 5. That name is made durable.
//! 6. Only now the commit is acknowledged,
//! 7. and only now what it superseded is deleted.
//!
//! Whatever is visible under a manifest's name is therefore durable and complete. An error in 1 to 5
//! leaves the commit before intact and the [`Committer`] useless: nobody knows which writes reached
//! the disk, a second sync would claim they all did, and so the only way on is to open a new one.
//!
//! The last two commits stay. Older ones go unless a reader has pinned them; a segment goes when no
//! commit that is left names it. What a crash leaves behind (orphaned segments, temporary files, spilled
//! runs) is removed by the next [`Committer::open`]. Only regular files with names of our grammar are
//! ever deleted.

use crate::analysis::TermVersions;
use crate::error::{CommitOutcome, Error, ErrorKind, Result};
use crate::format::FileName;
use crate::format::manifest::{Manifest, SegmentMeta, writer_version};
use crate::ids::SegmentId;
use crate::schema::Schema;
use crate::segment::snapshot::{Contents, contents, read_manifest};
use crate::storage::{Storage, WriterLock};
use std::{collections::HashSet, sync::Arc};

/// Commits that stay: the newest, and one to go back to.
const COMMITS_KEPT: usize = 2;

/// What the next commit shall consist of.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) schema: Schema,
    /// Old and new, in the order of their documents; all of them durable.
    pub(crate) segments: Vec<SegmentMeta>,
    /// The caller's own, such as how far it has read its source.
    pub(crate) payload: Vec<u8>,
    /// What made the terms.
    pub(crate) term_versions: TermVersions,
}

/// The one writer of an index: holds the lock and makes the commits.
#[derive(Debug)]
pub(crate) struct Committer {
    storage: Arc<dyn Storage>,
    lock: WriterLock,
    current: Option<Manifest>,
    /// Why nothing can be committed any more.
    broken: Option<String>,
}

impl Committer {
    /// Takes the lock, reads the newest commit, and clears away what crashed writers left.
    ///
    /// # Errors
    ///
    /// `Locked` if there is another writer, `NotAnIndex` if something else lies here, `Corrupt` if the newest
    /// commit is damaged, `UnsupportedVersion` if a newer version may have to write it.
    pub(crate) fn open(storage: Arc<dyn Storage>) -> Result<Committer> {
        // Before the lock, which would leave a file in a directory that is not ours.
        refuse_foreign(&*storage)?;
        let lock = storage.lock_writer()?;
        let current = match contents(&*storage)? {
            Contents::Commits(generations) => {
                let newest = generations.last().map(|newest| read_manifest(&*storage, *newest));
                newest.transpose()?
            }
            Contents::NoCommit | Contents::Foreign(_) => None,
        };
        if let Some(current) = current.as_ref().filter(|current| !current.writable) {
            return Err(Error::new(ErrorKind::UnsupportedVersion, "writing to an index")
                .found("features this version can read but not write")
                .in_file(
                    storage.location().join(FileName::Manifest(current.generation).to_string()),
                )
                .hint("use the version of treepie that wrote it last"));
        }
        let committer = Committer { storage, lock, current, broken: None };
        // Litter that cannot be removed now (a mapped file on Windows, a failing disk) stays litter.
        let _ = committer.collect(Orphans::Delete);
        Ok(committer)
    }

    /// The commit that the next one follows; `None` before the first.
    pub(crate) fn current(&self) -> Option<&Manifest> {
        self.current.as_ref()
    }

    /// The storage that the segments of the next commit belong in.
    pub(crate) fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// An error of kind `Poisoned` if an earlier one left this writer useless.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.broken {
            None => Ok(()),
            Some(cause) => Err(Error::new(ErrorKind::Poisoned, "writing to an index")
                .found(format!("an earlier failure: {cause}"))
                .in_file(self.storage.location())
                .hint("the last commit is intact; open a new writer")),
        }
    }

    /// Makes this writer useless because of `cause`: a segment that was to be committed is lost.
    pub(crate) fn poison(&mut self, cause: &Error) {
        self.broken.get_or_insert_with(|| cause.to_string());
    }

    /// Makes `draft` the index. `Ok` means that it survives a power failure.
    ///
    /// # Errors
    ///
    /// After any, every later call fails with `Poisoned`. The [outcome](Error::commit_outcome) says whether
    /// the commit may have happened all the same, which opening the index decides.
    pub(crate) fn commit(&mut self, draft: Draft) -> Result<Manifest> {
        self.check()?;
        let manifest = match self.publish(draft) {
            Ok(manifest) => manifest,
            Err(error) => {
                self.poison(&error);
                return Err(error);
            }
        };
        self.current = Some(manifest.clone());
        // The commit stands, whatever happens to what it superseded.
        let _ = self.collect(Orphans::Keep);
        Ok(manifest)
    }

    /// Steps 2 to 5.
    fn publish(&self, draft: Draft) -> Result<Manifest> {
        let manifest = self.next(draft)?;
        let bytes = manifest.encode()?;
        let temporary = FileName::Temporary(SegmentId::random()).to_string();
        let written = self.write_temporary(&temporary, &bytes);
        if let Err(error) = written.and_then(|()| self.lock.check()) {
            // Best effort: what stays is cleared away by the next writer.
            let _ = self.storage.delete(&temporary);
            return Err(error.hint("nothing was committed; the commit before is intact"));
        }
        let name = FileName::Manifest(manifest.generation).to_string();
        let published = self.storage.publish(&temporary, &name);
        published.and_then(|()| self.storage.sync_names()).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => error.hint("another writer made a commit meanwhile"),
            _ => error
                .outcome(CommitOutcome::Unknown)
                .hint("whether the commit happened shows when the index is opened again"),
        })?;
        Ok(manifest)
    }

    fn write_temporary(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.lock.check()?;
        self.storage.sync_names()?;
        let mut file = self.storage.create(name)?;
        file.write_all(bytes)?;
        file.sync()
    }

    fn next(&self, draft: Draft) -> Result<Manifest> {
        let (index_id, previous) = match &self.current {
            Some(current) => (current.index_id, current.generation),
            None => (SegmentId::random(), 0),
        };
        let generation = previous.checked_add(1).ok_or_else(|| {
            Error::new(ErrorKind::LimitExceeded, "committing").expected("a generation below 2^64")
        })?;
        let Draft { schema, segments, payload, term_versions } = draft;
        Ok(Manifest {
            index_id,
            generation,
            previous,
            writer: writer_version(),
            term_versions,
            schema,
            segments,
            payload,
            writable: true,
        })
    }

    /// Step 7: deletes superseded commits and what only they named; with [`Orphans::Delete`] also all
    /// files that nobody names.
    fn collect(&self, orphans: Orphans) -> Result<()> {
        let storage = &*self.storage;
        let Contents::Commits(generations) = contents(storage)? else {
            return self.delete_unnamed(&HashSet::new(), orphans, &[]);
        };
        let (old, kept) = generations.split_at(generations.len().saturating_sub(COMMITS_KEPT));
        let mut named = HashSet::new();
        for generation in kept {
            // A commit that cannot be read may name anything, so nothing can be deleted.
            named.extend(self.segments_of(*generation)?);
        }
        let mut superseded = vec![];
        for generation in old {
            let segments = self.segments_of(*generation)?;
            match storage.delete_unless_pinned(&FileName::Manifest(*generation).to_string()) {
                Ok(true) => superseded.extend(segments),
                Ok(false) | Err(_) => named.extend(segments),
            }
        }
        // Else a manifest could come back after a crash without the segments that went with it. The
        // writer before may have got this far, so this is due before deleting orphans too.
        if !superseded.is_empty() || orphans == Orphans::Delete {
            storage.sync_names()?;
        }
        self.delete_unnamed(&named, orphans, &superseded)
    }

    fn delete_unnamed(
        &self,
        named: &HashSet<SegmentId>,
        orphans: Orphans,
        superseded: &[SegmentId],
    ) -> Result<()> {
        for entry in self.storage.list()?.into_iter().filter(|entry| entry.is_file) {
            let doomed = match FileName::parse(&entry.name) {
                Some(FileName::Segment(id)) => {
                    !named.contains(&id) && (orphans == Orphans::Delete || superseded.contains(&id))
                }
                Some(FileName::Temporary(_) | FileName::Run { .. }) => orphans == Orphans::Delete,
                Some(FileName::Manifest(_) | FileName::WriteLock) | None => false,
            };
            if doomed {
                // One that cannot be deleted does not keep the others.
                let _ = self.storage.delete(&entry.name);
            }
        }
        Ok(())
    }

    fn segments_of(&self, generation: u64) -> Result<Vec<SegmentId>> {
        let ids = |manifest: &Manifest| manifest.segments.iter().map(|meta| meta.id).collect();
        match &self.current {
            Some(current) if current.generation == generation => Ok(ids(current)),
            _ => read_manifest(&*self.storage, generation).map(|manifest| ids(&manifest)),
        }
    }
}

/// What to do with files that no commit names: a writer that is at work has such files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Orphans {
    Keep,
    Delete,
}

fn refuse_foreign(storage: &dyn Storage) -> Result<()> {
    match contents(storage)? {
        Contents::Foreign(name) => Err(Error::new(ErrorKind::NotAnIndex, "writing an index")
            .expected("an index, or an empty directory")
            .found(format!("other files, such as {name:?}"))
            .in_file(storage.location())),
        Contents::NoCommit | Contents::Commits(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Source;
    use crate::format::envelope::SectionKind;
    use crate::segment::{file, snapshot::Snapshot};
    use crate::storage::{FsStorage, MemoryStorage, ReadMode, TestDirectory};

    fn draft(segments: Vec<SegmentMeta>) -> Draft {
        let payload = segments.iter().map(|meta| meta.n_docs as u8).collect();
        let schema = Schema::wikipedia_titles();
        Draft { schema, segments, payload, term_versions: TermVersions::CURRENT }
    }

    /// A durable segment of `n` documents, with bytes that follow from `n`.
    fn segment(storage: &dyn Storage, n: u8) -> Result<SegmentMeta> {
        let id = SegmentId::random();
        let mut writer = file::create(storage, id)?;
        writer.section(None, SectionKind::STATISTICS, &[n; 50])?;
        Ok(SegmentMeta { id, seal: file::seal(writer)?, n_docs: n.into() })
    }

    /// Adds a segment of each number to the index, a commit each; every third replaces all before by one.
    fn write(storage: &Arc<dyn Storage>, numbers: std::ops::RangeInclusive<u8>) -> Result<()> {
        let mut committer = Committer::open(Arc::clone(storage))?;
        for n in numbers {
            let mut segments = committer.current().map_or(vec![], |now| now.segments.clone());
            if n.is_multiple_of(3) {
                segments.clear();
            }
            segments.push(segment(&**storage, n)?);
            committer.commit(draft(segments))?;
        }
        Ok(())
    }

    /// What commit `n` of [`write`] consists of.
    fn documents_of(n: u8) -> Vec<u8> {
        (1..=n)
            .rev()
            .take_while(|m| *m == n || !(m + 1).is_multiple_of(3))
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect()
    }

    /// The commit found, after comparing every byte of it with what was written; 0 for none.
    fn commit_found(storage: &dyn Storage) -> u8 {
        let snapshot = match Snapshot::open(storage) {
            Ok(snapshot) => snapshot,
            Err(error) if error.kind() == ErrorKind::NotAnIndex => return 0,
            Err(error) => panic!("{error}"),
        };
        assert_older_commits_are_whole(storage);
        let n = snapshot.manifest.generation as u8;
        assert_eq!(snapshot.manifest.payload, documents_of(n));
        for (number, segment) in documents_of(n).into_iter().zip(&snapshot.segments) {
            let section = segment.require(None, SectionKind::STATISTICS).unwrap();
            assert_eq!(*section.bytes(0..50).unwrap(), [number; 50]);
            assert_eq!(segment.verify(|error| panic!("{error}")), 0);
        }
        n
    }

    /// Whoever goes back to an older commit must find all of it, so none may stay in parts.
    fn assert_older_commits_are_whole(storage: &dyn Storage) {
        let Contents::Commits(generations) = contents(storage).unwrap() else { return };
        for generation in generations {
            for meta in read_manifest(storage, generation).unwrap().segments {
                let file = storage.open(&FileName::Segment(meta.id).to_string()).unwrap();
                file::SegmentFile::open(file, Some((meta.id, meta.seal))).unwrap();
            }
        }
    }

    fn names(storage: &dyn Storage) -> Vec<FileName> {
        let names = storage.list().unwrap();
        names.iter().map(|entry| FileName::parse(&entry.name).unwrap()).collect()
    }

    #[test]
    fn commits_follow_one_another_and_two_are_kept() {
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        write(&storage, 1..=5).unwrap();
        assert_eq!(commit_found(&*storage), 5);
        assert_eq!(documents_of(5), [3, 4, 5]);
        assert_eq!(documents_of(2), [1, 2]);
        write(&storage, 6..=6).unwrap();
        assert_eq!(commit_found(&*storage), 6);
        let names = names(&*storage);
        let segments = names.iter().filter(|name| matches!(name, FileName::Segment(_))).count();
        let manifests: Vec<_> =
            names.iter().filter(|name| matches!(name, FileName::Manifest(_))).collect();
        assert_eq!(manifests, [&FileName::Manifest(5), &FileName::Manifest(6)]);
        assert_eq!((segments, names.len()), (4, 6), "one is new, three are of the commit before");
    }

    #[test]
    fn a_pinned_commit_keeps_its_files_until_the_next_clean_up() {
        let directory = TestDirectory::new();
        let fs = FsStorage::create(directory.path(), ReadMode::Mmap).unwrap();
        let memory = MemoryStorage::new();
        let storages: [Arc<dyn Storage>; 2] = [Arc::new(fs), Arc::new(memory)];
        for storage in storages {
            write(&storage, 1..=2).unwrap();
            let reader = Snapshot::open(&*storage).unwrap();
            write(&storage, 3..=5).unwrap();
            let pinned = FileName::Manifest(2);
            assert!(names(&*storage).contains(&pinned));
            for meta in &reader.manifest.segments {
                assert!(names(&*storage).contains(&FileName::Segment(meta.id)));
            }
            let section = reader.segments[1].require(None, SectionKind::STATISTICS).unwrap();
            assert_eq!(*section.bytes(0..50).unwrap(), [2; 50]);
            drop(reader);
            Committer::open(storage.clone()).unwrap();
            assert!(!names(&*storage).contains(&pinned));
            assert_eq!(commit_found(&*storage), 5);
        }
    }

    #[test]
    fn only_our_own_litter_is_cleared_away() {
        let directory = TestDirectory::new();
        let storage = FsStorage::create(directory.path(), ReadMode::Mmap).unwrap();
        let storage: Arc<dyn Storage> = Arc::new(storage);
        write(&storage, 1..=1).unwrap();
        let id = SegmentId([0xEE; 16]);
        let ours = [
            FileName::Segment(id),
            FileName::Temporary(id),
            FileName::Run { build: id, number: 3 },
        ];
        ours.iter().for_each(|name| drop(storage.create(&name.to_string()).unwrap()));
        let foreign = ["notes.txt", "seg-12.idx", ".tmp-x", "manifest-1"];
        foreign.iter().for_each(|name| drop(storage.create(name).unwrap()));
        let folder = FileName::Temporary(SegmentId([0xDD; 16])).to_string();
        std::fs::create_dir(directory.path().join(&folder)).unwrap();
        Committer::open(storage.clone()).unwrap();
        let left: Vec<_> = storage.list().unwrap().into_iter().map(|entry| entry.name).collect();
        assert!(ours.iter().all(|name| !left.contains(&name.to_string())), "{left:?}");
        assert!(foreign.iter().all(|name| left.iter().any(|left| left == name)), "{left:?}");
        assert!(left.contains(&folder));
        assert_eq!(commit_found(&*storage), 1);
    }

    #[test]
    fn a_directory_that_is_something_else_is_left_alone() {
        let directory = TestDirectory::new();
        let storage = Arc::new(FsStorage::create(directory.path(), ReadMode::Mmap).unwrap());
        drop(storage.create("thesis.doc").unwrap());
        assert_eq!(Committer::open(storage.clone()).unwrap_err().kind(), ErrorKind::NotAnIndex);
        assert_eq!(storage.list().unwrap().len(), 1, "not even a lock file was left");
    }

    #[test]
    fn there_is_one_writer_and_it_notices_when_its_lock_is_stolen() {
        let directory = TestDirectory::new();
        let storage = Arc::new(FsStorage::create(directory.path(), ReadMode::Mmap).unwrap());
        let mut first = Committer::open(storage.clone()).unwrap();
        assert_eq!(Committer::open(storage.clone()).unwrap_err().kind(), ErrorKind::Locked);
        storage.delete("write.lock").unwrap();
        let mut second = Committer::open(storage.clone()).unwrap();
        let committed = first.commit(draft(vec![segment(&*storage, 1).unwrap()]));
        assert_eq!(committed.unwrap_err().kind(), ErrorKind::Locked);
        assert_eq!(first.check().unwrap_err().kind(), ErrorKind::Poisoned);
        second.commit(draft(vec![segment(&*storage, 1).unwrap()])).unwrap();
        assert_eq!(commit_found(&*storage), 1);
    }

    #[test]
    fn a_damaged_newest_commit_stops_the_writer_before_it_deletes_anything() {
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        write(&storage, 1..=3).unwrap();
        storage.create(&FileName::Manifest(4).to_string()).unwrap();
        let before = names(&*storage);
        assert_eq!(Committer::open(storage.clone()).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(names(&*storage), before);
    }
}
