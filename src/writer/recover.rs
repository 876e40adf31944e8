//! Going back to the last whole commit, when told to.
//!
//! Opening never goes back by itself. [`recover`] looks at the commits from the newest on, every byte of them, and makes
//! the first whole one the index again: as a new commit, one after the newest, so that no number is used twice and
//! whoever has the index open follows by reloading.
//!
//! The disk may be failing: what cannot be read is an error where files are read, and the end of the process where
//! they are mapped. So each is read piece by piece first, and mapped only to look at what its bytes say once all of them
//! could be read.
//!
//! Nothing of the damaged commits is thrown away. First every segment, and what is deleted of one, that no whole commit names is set aside: it gets
//! a name (`damaged-…`) that no writer touches. Then the new commit is published, and at last the damaged
//! manifests are set aside. A failure before the second step leaves the index as damaged as it was, one after it leaves
//! it recovered; to recover again does what is left.

use crate::error::{Error, ErrorKind, Result};
use crate::format::FileName;
use crate::format::manifest::{Manifest, SegmentMeta};
use crate::segment::deletes::DeletedDocs;
use crate::segment::file::SegmentFile;
use crate::segment::snapshot::{Contents, Snapshot, contents, read_manifest};
use crate::segment::verify;
use crate::storage::{Storage, Unmapped, are_equal};
use crate::writer::commit::{Committer, Draft};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Put before the name of what is set aside; no name of an index begins so.
const ASIDE: &str = "damaged-";
/// Damage of one commit, or of one segment that is salvaged, that is told one by one.
pub(super) const REPORTED_MAX: usize = 20;

/// Report of [`Index::recover`](crate::Index::recover): its findings and its changes.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recovery {
    /// The commit that is whole.
    ///
    /// The index went back to it if there is a newer one in `damaged`.
    pub whole: u64,
    /// Documents, which are those of the index now.
    pub documents: u64,
    /// The commit that it was published as, if the index went back.
    pub published: Option<u64>,
    /// The commits that are damaged, the newest first.
    pub damaged: Vec<DamagedCommit>,
    /// The files that were set aside, by their new names. Nobody reads or deletes them any more.
    pub set_aside: Vec<String>,
}

/// A commit that cannot be read as a whole.
#[derive(Debug)]
#[non_exhaustive]
pub struct DamagedCommit {
    /// Number of the commit.
    pub generation: u64,
    /// Documents; `None` if not even its manifest is readable.
    pub documents: Option<u64>,
    /// Errors that were found, up to 20.
    pub damage: Vec<Error>,
    /// Number of all errors.
    pub n_damaged: u64,
}

impl Recovery {
    /// Whether the newest commit is whole, so that no document is lost.
    pub fn nothing_lost(&self) -> bool {
        self.damaged.first().is_none_or(|newest| newest.generation < self.whole)
    }
}

/// Looks at all commits and goes back; with `only_look` it changes nothing, not even a lock.
///
/// # Errors
///
/// `Corrupt` if no commit is whole.
pub(crate) fn recover(storage: Arc<dyn Storage>, only_look: bool) -> Result<Recovery> {
    // Before the lock, which would leave a file in a directory that is not ours.
    generations(&*storage)?;
    if only_look {
        return Ok(CommitsFound::look(&*storage)?.recovery());
    }
    let lock = storage.lock_writer()?;
    let mut found = CommitsFound::look(&*storage)?;
    let mut recovery = found.recovery();
    let Some(newest) = recovery.damaged.first() else { return Ok(recovery) };
    let newest = newest.generation.max(recovery.whole);
    let is_lost = !recovery.nothing_lost();
    if is_lost && !found.whole.writable {
        return Err(Error::new(ErrorKind::UnsupportedVersion, "going back to a commit")
            .found("features this version can read but not write")
            .in_file(storage.location().join(FileName::Manifest(recovery.whole).to_string()))
            .hint("use the version of treepie that wrote it last"));
    }
    if is_lost || is_half_done(&found.whole, &recovery) {
        set_aside(&*storage, &mut recovery, |name| match name {
            FileName::Segment(_) | FileName::Deletes { .. } => !found.named.contains(&name),
            _ => false,
        })?;
    }
    let Manifest { schema, segments, payload, term_versions, .. } = found.whole.clone();
    let draft = Draft { schema, segments, payload, term_versions };
    // Holds the lock to the end.
    let mut committer = Committer::going_back(Arc::clone(&storage), lock, found.whole, newest);
    if is_lost {
        recovery.published = Some(committer.commit_and_keep(draft)?.generation);
    }
    let damaged: HashSet<u64> = recovery.damaged.iter().map(|commit| commit.generation).collect();
    set_aside(&*storage, &mut recovery, |name| match name {
        FileName::Manifest(generation) => damaged.contains(&generation),
        _ => false,
    })?;
    Ok(recovery)
}

/// The commits that there are, ascending; the error that opening gives if there are none.
fn generations(storage: &dyn Storage) -> Result<Vec<u64>> {
    match contents(storage)? {
        Contents::Commits(generations) => Ok(generations),
        _ => Err(Snapshot::manifest(storage).err().unwrap_or_else(|| {
            Error::new(ErrorKind::NotAnIndex, "recovering an index").in_file(storage.location())
        })),
    }
}

/// Commits and files in a storage.
struct CommitsFound {
    /// The newest commit that is whole.
    whole: Manifest,
    damaged: Vec<DamagedCommit>,
    /// Segments and deletes that the whole commit names, and what can be read of those before it.
    named: HashSet<FileName>,
}

impl CommitsFound {
    /// Reads all commits.
    ///
    /// # Errors
    ///
    /// `Corrupt` if none is whole. An unreadable file may be sound, so any other error is no reason to go back.
    fn look(storage: &dyn Storage) -> Result<CommitsFound> {
        Self::look_at(storage).map_err(|error| match error.kind() {
            ErrorKind::Io => error
                .hint("nothing was changed; where the disk fails for good, `treepie salvage` saves the rest"),
            _ => error,
        })
    }

    fn look_at(storage: &dyn Storage) -> Result<CommitsFound> {
        let (mut whole, mut damaged, mut named) = (None, vec![], HashSet::new());
        for generation in generations(storage)?.into_iter().rev() {
            let manifest = match &whole {
                // Creating made it: all documents would be gone, and it would count as recovered.
                None if generation == 0 && !damaged.is_empty() => continue,
                None => examine(storage, generation)?,
                Some(whole) if bypassed(whole).contains(&generation) => {
                    examine(storage, generation)?
                }
                // Superseded: that it can be read is enough for it to be collected one day.
                Some(_) => match read_manifest(&Unmapped(storage), generation) {
                    Ok(manifest) => Ok(manifest),
                    // Left from before the index was written anew by another version.
                    Err(error) if error.kind() == ErrorKind::UnsupportedVersion => continue,
                    Err(error) => Err(DamagedCommit::unreadable(generation, error)?),
                },
            };
            match manifest {
                Ok(manifest) => {
                    named.extend(manifest.segments.iter().flat_map(SegmentMeta::files));
                    whole.get_or_insert(manifest);
                }
                Err(commit) => damaged.push(commit),
            }
        }
        match (whole, damaged) {
            (Some(whole), damaged) => Ok(CommitsFound { whole, damaged, named }),
            (None, damaged) => Err(no_whole_commit(damaged)),
        }
    }

    /// Describes the recovery, without doing any of it.
    fn recovery(&mut self) -> Recovery {
        Recovery {
            whole: self.whole.generation,
            documents: self.whole.n_docs(),
            published: None,
            damaged: std::mem::take(&mut self.damaged),
            set_aside: vec![],
        }
    }
}

fn no_whole_commit(damaged: Vec<DamagedCommit>) -> Error {
    let newest = damaged.into_iter().find_map(|commit| commit.damage.into_iter().next());
    newest
        .unwrap_or_else(|| Error::corrupt("reading the commits of an index"))
        .during("no commit is whole, so there is none to go back to")
        .hint("`treepie salvage` rebuilds what can be read as a new index")
}

/// Reads every byte of a commit.
fn examine(storage: &dyn Storage, generation: u64) -> Result<Result<Manifest, DamagedCommit>> {
    let unmapped = &Unmapped(storage);
    let manifest = match read_manifest(unmapped, generation) {
        Ok(manifest) => manifest,
        Err(error) => return Ok(Err(DamagedCommit::unreadable(generation, error)?)),
    };
    let mut commit = DamagedCommit {
        generation,
        documents: Some(manifest.n_docs()),
        damage: vec![],
        n_damaged: 0,
    };
    let mut unread = None;
    for meta in &manifest.segments {
        match Snapshot::open_segment_of(unmapped, &manifest, meta) {
            Ok(file) => {
                let deletes = match Snapshot::open_deletes_of(unmapped, meta, None) {
                    Ok(deletes) => deletes,
                    Err(error) => {
                        commit.add(only_damage(error)?);
                        None
                    }
                };
                verify_segment(storage, (&manifest, meta), &file, deletes.as_ref(), |error| {
                    match only_damage(error) {
                        Ok(damage) => commit.add(damage),
                        Err(error) => _ = unread.get_or_insert(error),
                    }
                })?;
            }
            Err(error) => commit.add(only_damage(error)?),
        }
    }
    match unread {
        // Whatever the rest is, it is damaged.
        _ if commit.n_damaged > 0 => Ok(Err(commit)),
        Some(error) => Err(error),
        None => Ok(Ok(manifest)),
    }
}

/// Reads every byte of a segment of a commit, which was opened unmapped, and then looks at what they say; how much is
/// wrong.
pub(super) fn verify_segment(
    storage: &dyn Storage,
    (manifest, meta): (&Manifest, &SegmentMeta),
    file: &SegmentFile,
    deletes: Option<&Arc<DeletedDocs>>,
    mut report: impl FnMut(Error),
) -> Result<u64> {
    let n_damaged = file.verify(&mut report);
    if n_damaged > 0 {
        return Ok(n_damaged);
    }
    let file = Snapshot::open_segment_of(storage, manifest, meta)?;
    let reader = Snapshot::reader_of(&file, manifest, meta).without(deletes);
    Ok(verify::verify(reader, report))
}

impl DamagedCommit {
    fn unreadable(generation: u64, error: Error) -> Result<DamagedCommit> {
        Ok(Self::without_manifest(generation, only_damage(error)?))
    }

    /// A commit whose manifest cannot be read.
    pub(super) fn without_manifest(generation: u64, damage: Error) -> DamagedCommit {
        DamagedCommit { generation, documents: None, damage: vec![damage], n_damaged: 1 }
    }

    fn add(&mut self, error: Error) {
        self.n_damaged += 1;
        if self.damage.len() < REPORTED_MAX {
            self.damage.push(error);
        }
    }
}

/// Passes on what is no damage: a file that may not be read, or is of another version, says nothing of its content.
pub(super) fn only_damage(error: Error) -> Result<Error> {
    match error.kind() {
        ErrorKind::Corrupt => Ok(error),
        ErrorKind::NotFound => {
            let file = error.file().map(std::path::Path::to_path_buf).unwrap_or_default();
            Ok(Error::corrupt("reading a commit")
                .expected("every file it consists of")
                .found("none of this name")
                .in_file(file))
        }
        _ => Err(error),
    }
}

/// The commits that were passed over when this one was published. Of those that are still there an earlier run
/// has not come to set all aside.
fn bypassed(whole: &Manifest) -> Range<u64> {
    whole.previous.saturating_add(1)..whole.generation
}

fn is_half_done(whole: &Manifest, recovery: &Recovery) -> bool {
    recovery.damaged.iter().any(|commit| bypassed(whole).contains(&commit.generation))
}

/// Gives other names to files. They have both until the new ones are durable.
fn set_aside(
    storage: &dyn Storage,
    recovery: &mut Recovery,
    is_meant: impl Fn(FileName) -> bool,
) -> Result<()> {
    let mut meant = vec![];
    for entry in storage.list()?.into_iter().filter(|entry| entry.is_file) {
        if FileName::parse(&entry.name).is_some_and(&is_meant) {
            recovery.set_aside.push(name_aside(storage, &entry.name)?);
            meant.push(entry.name);
        }
    }
    recovery.set_aside.sort();
    storage.sync_names()?;
    meant.iter().try_for_each(|name| storage.delete(name))?;
    storage.sync_names()
}

/// Gives a file a name that nobody touches; an earlier run may have done it, or begun to.
fn name_aside(storage: &dyn Storage, name: &str) -> Result<String> {
    let mut aside = format!("{ASIDE}{name}");
    for nth in 2.. {
        match storage.link(name, &aside) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if is_same(storage, name, &aside)? {
                    break;
                }
                aside = format!("{ASIDE}{nth}-{name}");
            }
            linked => {
                linked?;
                break;
            }
        }
    }
    Ok(aside)
}

fn is_same(storage: &dyn Storage, a: &str, b: &str) -> Result<bool> {
    are_equal(&*storage.open_unmapped(a)?, &*storage.open_unmapped(b)?)
}
