//! The place of a build that failed: what only it made there is taken away.

use std::{
    fs,
    path::{Path, PathBuf},
};

use treepie::storage::{FsStorage, ReadMode, Storage};

/// The lock of the writer, which goes last.
const LOCK_FILE: &str = "write.lock";
/// Beginnings of names of the files that a writer may leave behind that never came to a commit.
const UNCOMMITTED: [&str; 4] = ["seg-", "del-", ".tmp-", ".run-"];

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

/// Takes away a directory in which there is nothing but what a writer without a commit leaves.
fn take_away(directory: &Path) -> Result<(), treepie::Error> {
    let storage = FsStorage::open(directory, ReadMode::Pread)?;
    // Held while the files go: another writer that waits for it is refused, as it finds that of the lock gone.
    let lock = storage.lock_writer()?;
    let names: Vec<_> = storage.list()?.into_iter().map(|entry| entry.name).collect();
    // A commit, or anything else that somebody put there, is a reason to touch nothing.
    if names.iter().all(|name| name == LOCK_FILE || is_uncommitted(name)) {
        names
            .iter()
            .filter(|name| is_uncommitted(name))
            .try_for_each(|name| storage.delete(name))?;
        storage.delete(LOCK_FILE)?;
    }
    drop(lock);
    // Not if anything lies in it.
    let _ = fs::remove_dir(directory);
    Ok(())
}

fn is_uncommitted(name: &str) -> bool {
    UNCOMMITTED.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of what is left of a directory that a build made, if it is left.
    fn left_of(nth: usize, files: &[&str], is_locked: bool, is_kept: bool) -> Option<Vec<String>> {
        let name = format!("treepie-vacated-{}-{nth}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let mut place = Vacated::unless_kept(&directory);
        let storage = FsStorage::create(&directory, ReadMode::Pread).unwrap();
        let lock = storage.lock_writer().unwrap();
        files.iter().for_each(|name| fs::write(directory.join(name), "x").unwrap());
        let lock = Some(lock).filter(|_| is_locked);
        if is_kept {
            place.keep();
        }
        drop(place);
        drop(lock);
        let mut left: Option<Vec<_>> = directory
            .exists()
            .then(|| storage.list().unwrap().into_iter().map(|entry| entry.name).collect());
        left.iter_mut().for_each(|names| names.sort());
        let _ = fs::remove_dir_all(&directory);
        left
    }

    #[test]
    fn a_place_is_free_again_unless_there_is_something() {
        let segment = "seg-00112233445566778899aabbccddeeff.idx";
        assert_eq!(left_of(0, &[], false, false), None);
        assert_eq!(left_of(1, &[segment, ".tmp-0", ".run-0-1", "del-0-1.rbm"], false, false), None);
        let stays = |nth, files: &[&str], is_locked, is_kept| {
            let mut all = [files, &[LOCK_FILE]].concat();
            all.sort_unstable();
            assert_eq!(left_of(nth, files, is_locked, is_kept).unwrap(), all);
        };
        stays(2, &[segment, "manifest-0000000000000001"], false, false);
        stays(3, &[segment, "holiday.jpg"], false, false);
        stays(4, &[segment], true, false);
        stays(5, &[segment], false, true);
    }

    #[test]
    fn a_directory_that_was_there_stays() {
        let directory = std::env::temp_dir().join(format!("treepie-there-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        drop(Vacated::unless_kept(&directory));
        assert!(directory.exists());
        fs::remove_dir(&directory).unwrap();
    }
}
