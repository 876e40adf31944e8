//! The place of a build that failed: what only it made there is taken away.

use std::{
    fs,
    path::{Path, PathBuf},
};

use treepie::storage::{FsStorage, ReadMode, Storage};

/// The only file that a writer without a commit leaves behind.
const LOCK_FILE: &str = "write.lock";

/// Takes the directory of a new index away when it is dropped, unless there is an index.
///
/// To be made before the writer, so that it is dropped after it.
#[derive(Debug)]
pub(crate) struct Vacated(Option<PathBuf>);

impl Vacated {
    /// Remembers whether this run is what makes the directory.
    pub(crate) fn unless_kept(directory: &Path) -> Self {
        // Also where it is a link that leads nowhere.
        Vacated(fs::symlink_metadata(directory).is_err().then(|| directory.to_owned()))
    }

    /// Leaves everything where it is.
    pub(crate) fn keep(&mut self) {
        self.0 = None;
    }
}

impl Drop for Vacated {
    fn drop(&mut self) {
        if let Some(directory) = self.0.take() {
            // The error that the build ended with is the one to tell.
            let _ = take_away(&directory);
        }
    }
}

/// Takes away a directory in which there is nothing but a lock that nobody holds.
fn take_away(directory: &Path) -> Result<(), treepie::Error> {
    let storage = FsStorage::open(directory, ReadMode::Pread)?;
    // Held while its file goes: another writer that waits for it is refused, as it finds the file gone.
    let lock = storage.lock_writer()?;
    if storage.list()?.iter().all(|entry| entry.name == LOCK_FILE) {
        storage.delete(LOCK_FILE)?;
    }
    drop(lock);
    // Not if anything else lies in it.
    let _ = fs::remove_dir(directory);
    Ok(())
}
