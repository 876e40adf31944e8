//! Committing: how new segments become the index, in one step that survives a power failure.
//!
//! 1. The segments are written and made durable, each before anything names it
//!    ([`Unsynced::sync`](crate::segment::file::Unsynced::sync)).
//! 2. Their names are made durable.
//! 3. The manifest is written under a temporary name and made durable.
//! 4. It is published under the name of the next generation, which nobody may have taken.
//! 5. The new name is made durable.
//! 6. Only now the commit is acknowledged,
//! 7. and only now what it superseded is deleted.
//!
//! A file that is visible under a manifest's name is therefore durable and complete. An error in 1 to 5
//! leaves the commit before intact and the [`Committer`] useless: nobody knows which writes reached
//! the disk, a second sync would claim they all did, and so the only way on is to open a new one.
//!
//! The last two commits stay, but for the one of the number 0, which [creating](crate::writer::create) an index makes. Older ones go unless a reader has pinned them; a segment, or what is deleted of one, goes
//! when no commit that is left names it. Files that a crash leaves behind (orphaned segments, temporary files, spilled
//! runs) are removed by the next [`Committer::open`]. Only regular files with names of our grammar are
//! ever deleted.
//!
//! Commits of an older format, which this build cannot read, may be [superseded](OlderFormat::Supersede): the next
//! commit follows the newest of them by its name, and once it is durable all of them go, as far as no reader has
//! pinned them, and then the segments that say the same of themselves. Until then nobody knows which segments they
//! name, so no segment is deleted. Damaged commits and those of a newer format are never superseded.

use crate::analysis::TermVersions;
use crate::error::{CommitOutcome, Error, ErrorKind, Result};
use crate::format::FileName;
use crate::format::manifest::{Manifest, SegmentMeta, writer_version};
use crate::ids::SegmentId;
use crate::schema::Schema;
use crate::segment::snapshot::{Contents, contents, is_of_older_format, read_manifest};
use crate::storage::{Storage, WriterLock};
use crate::writer::clear_away;
use crate::writer::lock::lock_within;
use std::{collections::HashSet, sync::Arc, time::Duration};

/// Commits that stay: the newest, and one to go back to.
const COMMITS_KEPT: usize = 2;

/// Contents of the next commit.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) schema: Schema,
    /// Old and new, in the order of their documents; all of them durable, unless it is to be shown and not committed.
    pub(crate) segments: Vec<SegmentMeta>,
    /// The caller's own, such as how far it has read its source.
    pub(crate) payload: Vec<u8>,
    /// Versions of the analyzers that made the terms.
    pub(crate) term_versions: TermVersions,
}

/// A commit of which the manifest is durable under a temporary name.
#[derive(Debug)]
pub(crate) struct Prepared {
    manifest: Manifest,
    temporary: FileName,
}

impl Prepared {
    pub(crate) fn manifest(&self) -> &Manifest {
        &self.manifest
    }
}

/// A commit and the files that it names.
#[derive(Debug)]
struct Named {
    generation: u64,
    files: Vec<FileName>,
}

impl Named {
    fn of(manifest: &Manifest) -> Self {
        let files = manifest.segments.iter().flat_map(SegmentMeta::files).collect();
        Named { generation: manifest.generation, files }
    }
}

fn files_of(commits: &[Named]) -> HashSet<FileName> {
    commits.iter().flat_map(|commit| &commit.files).copied().collect()
}

const NOTHING_COMMITTED: &str = "nothing was committed; the commit before is intact";

/// The one writer of an index: holds the lock and makes the commits.
#[derive(Debug)]
pub(crate) struct Committer {
    storage: Arc<dyn Storage>,
    lock: WriterLock,
    current: Option<Manifest>,
    /// Stays from the first commit on.
    index_id: SegmentId,
    /// The generation of the newest commit, which may be of an older format; 0 before the first.
    generation: u64,
    /// The commits that are there, the oldest first; `None` if that has to be looked up.
    commits: Option<Vec<Named>>,
    /// Files that go as soon as it is durable that the commits are gone that named them.
    doomed: Vec<FileName>,
    /// Why nothing can be committed any more.
    broken: Option<String>,
}

impl Committer {
    /// Takes the lock, reads the newest commit, and clears away what crashed writers left.
    ///
    /// # Errors
    ///
    /// `Locked` if there is another writer, `NotAnIndex` if something else lies here, `Corrupt` if the newest
    /// commit is damaged, `UnsupportedVersion` if a newer version may have to write it, or if an older one did
    /// and its commits are not to be superseded.
    pub(crate) fn open(storage: Arc<dyn Storage>, older: OlderFormat) -> Result<Committer> {
        Self::open_within(storage, older, Duration::ZERO)
    }

    /// Works like [`open`](Self::open), and waits for another writer for up to the time `wait`.
    ///
    /// # Errors
    ///
    /// Fails like [`open`](Self::open); `Timeout` and `Cancelled` where a budget ends the wait.
    pub(crate) fn open_within(
        storage: Arc<dyn Storage>,
        older: OlderFormat,
        wait: Duration,
    ) -> Result<Committer> {
        // Before the lock, which would leave a file in a directory that is not ours.
        refuse_foreign(&*storage)?;
        let lock = lock_within(&*storage, wait)?;
        let (current, generation) = newest_commit(&*storage, older)?;
        let index_id = current.as_ref().map_or_else(SegmentId::random, |current| current.index_id);
        let (commits, doomed, broken) = (None, vec![], None);
        let mut committer =
            Committer { storage, lock, current, index_id, generation, commits, doomed, broken };
        // Litter that cannot be removed now (a mapped file on Windows, a failing disk) stays litter.
        let _ = committer.collect_all(Orphans::Delete);
        Ok(committer)
    }

    /// Begins anew from the newest commit, as a new writer would; nothing of the next commit may be being written. After
    /// a failure whose outcome was `Unknown` this shows what it was.
    ///
    /// # Errors
    ///
    /// Fails like [`open`](Self::open), and `Locked` where the lock no longer keeps others out; it stays useless then.
    pub(crate) fn start_again(&mut self, older: OlderFormat) -> Result<()> {
        self.lock.check()?;
        (self.current, self.generation) = newest_commit(&*self.storage, older)?;
        self.index_id = self.current.as_ref().map_or(self.index_id, |current| current.index_id);
        self.commits = None;
        // Nothing names them, so they go with all else of which that is true.
        self.doomed.clear();
        self.broken = None;
        let _ = self.collect_all(Orphans::Delete);
        Ok(())
    }

    /// Goes on from the commit `whole`, passing over damaged ones up to `newest`. Files that they name stay.
    pub(crate) fn going_back(
        storage: Arc<dyn Storage>,
        lock: WriterLock,
        whole: Manifest,
        newest: u64,
    ) -> Committer {
        let (index_id, current, generation) = (whole.index_id, Some(whole), newest);
        let (commits, doomed, broken) = (None, vec![], None);
        Committer { storage, lock, current, index_id, generation, commits, doomed, broken }
    }

    /// The commit that the next one follows; `None` before the first, and where that one is of an older format.
    pub(crate) fn current(&self) -> Option<&Manifest> {
        self.current.as_ref()
    }

    /// The generation of the newest commit, whatever its format; 0 before the first.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Id of the index through all of its commits.
    pub(crate) fn index_id(&self) -> SegmentId {
        self.index_id
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
                .hint("the last commit is intact; roll back, or open a new writer")),
        }
    }

    /// Whether the lock still keeps others out.
    pub(crate) fn is_sole_writer(&self) -> bool {
        self.lock.check().is_ok()
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
        let manifest = self.commit_and_keep(draft)?;
        // The commit stands, whatever happens to what it superseded.
        let _ = self.collect();
        Ok(manifest)
    }

    /// Commits, and deletes nothing.
    pub(crate) fn commit_and_keep(&mut self, draft: Draft) -> Result<Manifest> {
        let prepared = self.prepare(draft)?;
        self.publish_prepared(prepared)
    }

    /// Makes an index without documents if there is none, by a commit of the number 0.
    ///
    /// # Errors
    ///
    /// Fails like [`commit`](Self::commit).
    pub(crate) fn create(&mut self, schema: Schema) -> Result<Manifest> {
        debug_assert!(self.current.is_none() && self.generation == 0, "there is no index");
        let term_versions = TermVersions::CURRENT;
        let draft = Draft { schema, segments: vec![], payload: vec![], term_versions };
        let prepared = self.write_manifest(self.manifest(draft));
        let prepared = prepared.inspect_err(|error| self.poison(error))?;
        self.publish_prepared(prepared)
    }

    /// Steps 2 and 3: what is left to do can hardly fail.
    ///
    /// # Errors
    ///
    /// Fails like [`commit`](Self::commit).
    pub(crate) fn prepare(&mut self, draft: Draft) -> Result<Prepared> {
        self.check()?;
        let prepared = self.try_prepare(draft);
        prepared.inspect_err(|error| self.poison(error))
    }

    fn try_prepare(&self, draft: Draft) -> Result<Prepared> {
        let manifest = Manifest { generation: self.next_generation()?, ..self.manifest(draft) };
        self.write_manifest(manifest).map_err(|error| error.hint(NOTHING_COMMITTED))
    }

    fn write_manifest(&self, manifest: Manifest) -> Result<Prepared> {
        let bytes = manifest.encode()?;
        let prepared = Prepared { manifest, temporary: FileName::Temporary(SegmentId::random()) };
        if let Err(error) = self.write_temporary(&prepared.temporary.to_string(), &bytes) {
            self.abandon(prepared);
            return Err(error);
        }
        Ok(prepared)
    }

    /// Gives up what was prepared; the commit before stays the index.
    pub(crate) fn abandon(&self, prepared: Prepared) {
        // In a fork of the process it is not ours.
        if self.is_sole_writer() {
            clear_away(&*self.storage, &prepared.temporary.to_string());
        }
    }

    /// Steps 4 to 7.
    ///
    /// # Errors
    ///
    /// Fails like [`commit`](Self::commit).
    pub(crate) fn finish(&mut self, prepared: Prepared) -> Result<Manifest> {
        let manifest = self.publish_prepared(prepared)?;
        let _ = self.collect();
        Ok(manifest)
    }

    fn publish_prepared(&mut self, prepared: Prepared) -> Result<Manifest> {
        let manifest = match self.check().and_then(|()| self.publish(prepared)) {
            Ok(manifest) => manifest,
            Err(error) => {
                self.poison(&error);
                return Err(error);
            }
        };
        self.generation = manifest.generation;
        self.current = Some(manifest.clone());
        if let Some(commits) = &mut self.commits {
            commits.push(Named::of(&manifest));
        }
        Ok(manifest)
    }

    /// Steps 4 and 5.
    fn publish(&self, prepared: Prepared) -> Result<Manifest> {
        if let Err(error) = self.lock.check() {
            self.abandon(prepared);
            return Err(error.hint(NOTHING_COMMITTED));
        }
        let Prepared { manifest, temporary } = prepared;
        let name = FileName::Manifest(manifest.generation).to_string();
        let published = self.storage.publish(&temporary.to_string(), &name);
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

    fn next_generation(&self) -> Result<u64> {
        self.generation.checked_add(1).ok_or_else(|| {
            Error::new(ErrorKind::LimitExceeded, "committing").expected("a generation below 2^64")
        })
    }

    /// Manifest of a draft, beyond the newest commit and under its number.
    pub(crate) fn manifest(&self, draft: Draft) -> Manifest {
        // If damaged commits were passed over, it is not the one before.
        let previous = self.current.as_ref().map_or(self.generation, |current| current.generation);
        let Draft { schema, segments, payload, term_versions } = draft;
        Manifest {
            index_id: self.index_id,
            generation: self.generation,
            previous,
            writer: writer_version(),
            term_versions,
            schema,
            segments,
            payload,
            writable: true,
        }
    }

    /// Step 7: deletes superseded commits and what only they named. After the first time that costs a look at nothing
    /// that stays, since nobody else makes or deletes commits.
    fn collect(&mut self) -> Result<()> {
        let Some(commits) = self.commits.take() else { return self.collect_all(Orphans::Keep) };
        let n_old = n_superseded(commits.iter().map(|commit| commit.generation));
        let mut left = vec![];
        for (at, commit) in commits.into_iter().enumerate() {
            match at < n_old && self.delete_commit(commit.generation) {
                true => self.doomed.extend(commit.files),
                false => left.push(commit),
            }
        }
        let mut spared = files_of(&left);
        self.doomed.retain(|file| spared.insert(*file));
        self.commits = Some(left);
        if !self.doomed.is_empty() {
            // Else a manifest could come back after a crash without the segments that went with it. If no segment goes,
            // it may.
            self.storage.sync_names()?;
        }
        for file in std::mem::take(&mut self.doomed) {
            // One that cannot be deleted does not keep the others.
            let _ = self.storage.delete(&file.to_string());
        }
        Ok(())
    }

    /// Whether the manifest of a commit is gone, by whomever: not where a reader has pinned it.
    fn delete_commit(&self, generation: u64) -> bool {
        let name = FileName::Manifest(generation).to_string();
        let deleted = self.storage.delete_unless_pinned(&name);
        deleted.unwrap_or_else(|error| error.kind() == ErrorKind::NotFound)
    }

    /// Deletes superseded files that a look at all files finds; with [`Orphans::Delete`] also all files that nobody
    /// names.
    fn collect_all(&mut self, orphans: Orphans) -> Result<()> {
        let storage = Arc::clone(&self.storage);
        let storage = &*storage;
        let Contents::Commits(generations) = contents(storage)? else {
            self.commits = Some(vec![]);
            return self.delete_files(orphans, |_| orphans == Orphans::Delete);
        };
        if self.current.is_none() {
            // The newest commit is of an older format, and nobody knows what it names.
            return self.delete_files(orphans, |_| false);
        }
        let (old, kept) = generations.split_at(n_superseded(generations.iter().copied()));
        let (mut left, mut newest, mut older) = (vec![], vec![], vec![]);
        let mut superseded: HashSet<_> = self.doomed.iter().copied().collect();
        for generation in kept {
            // A commit that cannot be read may name anything, so nothing can be deleted.
            match self.named_by(*generation)? {
                Some(commit) => newest.push(commit),
                None => older.push(*generation),
            }
        }
        let mut is_damaged_gone = false;
        for generation in old {
            let named = self.named_by(*generation);
            if named.as_ref().is_err_and(|error| error.kind() == ErrorKind::Corrupt)
                && self.delete_commit(*generation)
            {
                // Nobody goes back to it, and it would keep all files for ever. Files that it alone named are orphans
                // now.
                is_damaged_gone = true;
                continue;
            }
            match named? {
                Some(commit) if self.delete_commit(*generation) => {
                    // At once: the next manifest may be one that cannot be read.
                    self.doomed.extend(commit.files.iter().copied());
                    superseded.extend(commit.files);
                }
                Some(commit) => left.push(commit),
                None => older.push(*generation),
            }
        }
        left.append(&mut newest);
        // This build could not go back to any of an older format, so not even the last one stays.
        let is_older_left =
            older.iter().filter(|generation| !self.delete_commit(**generation)).count() > 0;
        // The directory is looked at once, as in `collect`. The writer before may have got this far, so this is due before deleting orphans too.
        let is_any_gone = !superseded.is_empty() || !older.is_empty() || is_damaged_gone;
        if is_any_gone || orphans == Orphans::Delete {
            self.doomed = superseded.iter().copied().collect();
            storage.sync_names()?;
            self.doomed.clear();
        }
        let named = files_of(&left);
        self.delete_files(orphans, |file| {
            let is_of_older = || is_of_older_format(storage, file).unwrap_or(false);
            match named.contains(&file) {
                true => false,
                false if superseded.contains(&file) => true,
                false if is_older_left => false,
                false => orphans == Orphans::Delete || (!older.is_empty() && is_of_older()),
            }
        })?;
        self.commits = older.is_empty().then_some(left);
        Ok(())
    }

    /// Deletes segments and deletes that are `doomed`, and orphans of other kinds.
    fn delete_files(&self, orphans: Orphans, doomed: impl Fn(FileName) -> bool) -> Result<()> {
        for entry in self.storage.list()?.into_iter().filter(|entry| entry.is_file) {
            let is_doomed = match FileName::parse(&entry.name) {
                Some(file @ (FileName::Segment(_) | FileName::Deletes { .. })) => doomed(file),
                Some(FileName::Temporary(_) | FileName::Run { .. }) => orphans == Orphans::Delete,
                Some(FileName::Manifest(_) | FileName::WriteLock) | None => false,
            };
            if is_doomed {
                // One that cannot be deleted does not keep the others.
                let _ = self.storage.delete(&entry.name);
            }
        }
        Ok(())
    }

    /// Files that a commit names; `None` if it is of an older format.
    fn named_by(&self, generation: u64) -> Result<Option<Named>> {
        match &self.current {
            Some(current) if current.generation == generation => Ok(Some(Named::of(current))),
            _ => Ok(read_unless_older(&*self.storage, generation)?.ok().as_ref().map(Named::of)),
        }
    }
}

/// Number of these commits, the oldest first, that need not stay. The one that created the index is none to go back to.
fn n_superseded(mut generations: impl ExactSizeIterator<Item = u64>) -> usize {
    let n_commits = generations.len();
    let n_empty = usize::from(n_commits > 1 && generations.next() == Some(0));
    n_commits.saturating_sub(COMMITS_KEPT).max(n_empty)
}

/// The newest commit, unless it is of an older format, and its generation; 0 if there is none.
fn newest_commit(storage: &dyn Storage, older: OlderFormat) -> Result<(Option<Manifest>, u64)> {
    let newest = match contents(storage)? {
        Contents::Commits(generations) => generations.last().copied(),
        Contents::NoCommit | Contents::Foreign(_) => None,
    };
    let current = match newest.map(|newest| read_unless_older(storage, newest)).transpose()? {
        Some(Err(error)) if older == OlderFormat::Refuse => return Err(error),
        read => read.and_then(Result::ok),
    };
    if let Some(current) = current.as_ref().filter(|current| !current.writable) {
        return Err(Error::new(ErrorKind::UnsupportedVersion, "writing to an index")
            .found("features this version can read but not write")
            .in_file(storage.location().join(FileName::Manifest(current.generation).to_string()))
            .hint("use the version of treepie that wrote it last"));
    }
    Ok((current, newest.unwrap_or(0)))
}

/// Reads a commit; the inner error says that it is of an older format.
fn read_unless_older(storage: &dyn Storage, generation: u64) -> Result<Result<Manifest>> {
    match read_manifest(storage, generation) {
        Err(error)
            if error.kind() == ErrorKind::UnsupportedVersion
                && is_of_older_format(storage, FileName::Manifest(generation))? =>
        {
            Ok(Err(error))
        }
        read => read.map(Ok),
    }
}

/// Treatment of a newest commit whose format only older builds read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OlderFormat {
    Refuse,
    /// Nothing of it is wanted: the next commit takes its place.
    Supersede,
}

/// Treatment of files that no commit names: a writer that is at work has such files.
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
mod tests;
