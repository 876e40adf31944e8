//! Directories for indexes, and what a machine can do.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// A directory of its own, gone with the test.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Place {
        let name = format!("treepie-processes-{name}-{}", std::process::id());
        let place = Place(env::temp_dir().join(name));
        let _ = fs::remove_dir_all(&place.0);
        fs::create_dir_all(&place.0).unwrap();
        place
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.0.join("index.tp")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The names in a directory, sorted.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What a variable of the environment says, or what there is for the short form.
pub(crate) fn long_or(variable: &str, short: u64) -> u64 {
    env::var(variable).map_or(short, |text| {
        text.parse().unwrap_or_else(|_| panic!("{variable}: expected a number, found {text:?}"))
    })
}

/// Says what is left out, and why.
pub(crate) fn skip(what: &str, why: &str) {
    println!("!!! SKIPPED: {what}: {why}");
}
