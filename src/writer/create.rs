//! Creating an index: an empty commit, so that every process can open it at once.
//!
//! The empty commit has the number 0. It names no file, so it is nothing to go back to: the first commit with documents, which
//! has the number 1, takes its place, and recovery passes over it.

use super::commit::{Committer, OlderFormat};
use super::{before_publishing, info, report};
use crate::error::{Error, ErrorKind, Result};
use crate::events::{Observer, Operation};
use crate::schema::Schema;
use crate::segment::snapshot::{Contents, contents};
use crate::storage::{FsStorage, ReadMode, Storage};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Time that somebody else has who may be creating the same index at this moment.
const OTHER_CREATOR: Duration = Duration::from_secs(2);
/// Time between two looks at whether that has happened.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// Makes an index without documents. `Ok` means that it survives a power failure.
///
/// # Errors
///
/// `AlreadyExists` if there is an index, also where another process was faster; `NotAnIndex` if there is something
/// else; `Locked` while a writer is at work on the first commit.
pub(crate) fn create(
    storage: &Arc<dyn Storage>,
    schema: &Schema,
    observer: &Observer,
) -> Result<()> {
    let mut committer = open_vacant(storage)?;
    let watch = observer.begin(Operation::Commit);
    let created = committer.create(schema.clone()).map_err(before_publishing);
    report::commit(observer, watch, created.as_ref().map(info));
    created.map(drop)
}

/// Becomes the writer of a place without an index.
fn open_vacant(storage: &Arc<dyn Storage>) -> Result<Committer> {
    let began = Instant::now();
    loop {
        refuse_contents(&**storage, Making::New)?;
        match Committer::open(Arc::clone(storage), OlderFormat::Refuse) {
            // Who holds the lock may be creating the index, and is soon done: that there is one says more than the lock.
            Err(error) if error.kind() == ErrorKind::Locked && began.elapsed() < OTHER_CREATOR => {
                thread::sleep(BETWEEN_LOOKS);
            }
            opened => {
                let committer = opened?;
                // Nobody else can make one from now on.
                refuse_contents(&**storage, Making::New)?;
                return Ok(committer);
            }
        }
    }
}

/// Why there is to be an index if there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Making {
    New,
    Copy,
    Salvage,
}

/// Refuses a directory that an index cannot be made in.
pub(crate) fn refuse_existing(path: &Path, making: Making) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    refuse_contents(&FsStorage::open(path, ReadMode::Pread)?, making)
}

/// Refuses a storage with anything but what an interrupted attempt may have left.
pub(crate) fn refuse_contents(storage: &dyn Storage, making: Making) -> Result<()> {
    let (what, hint) = match making {
        Making::New => {
            ("creating an index", "open it to add to it, overwrite it, or choose another name")
        }
        Making::Copy => ("copying an index", "choose another name, or delete it first"),
        Making::Salvage => ("salvaging an index", "choose another name, or delete it first"),
    };
    let error = |kind| Error::new(kind, what).in_file(storage.location());
    match contents(storage)? {
        Contents::NoCommit => Ok(()),
        Contents::Commits(_) => Err(error(ErrorKind::AlreadyExists)
            .expected("nothing here yet")
            .found("an index")
            .hint(hint)),
        Contents::Foreign(name) => Err(error(ErrorKind::NotAnIndex)
            .expected("an empty directory or none")
            .found(format!("other files, such as {name:?}"))),
    }
}
