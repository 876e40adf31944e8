//! The command-line tool from the outside: what it prints, where, and how it ends.
//!
//! Everything here runs the built binary, as scripts do. Shapes of JSON and exit statuses are a
//! contract; what bad input leads to is a typed error on one line, never a panic.

mod columns;
mod explain;
mod facets;
mod formats;
mod index;
mod inferred;
mod input;
mod inspect;
mod kept_plans;
mod kept_values;
mod llms;
mod measure;
mod neighbors;
mod place_facets;
mod plans;
mod points;
mod printed;
mod records;
mod remembered;
mod requests;
mod round_trip;
mod search;
mod slow;
mod typing;
mod upgrade;
mod vectors;
mod what_if;
mod why_empty;

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
};

use serde_json::Value;

/// A directory that goes when the test ends.
pub(crate) struct Dir(PathBuf);

impl Dir {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("treepie-cli-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Dir(path)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The tool, working in this directory.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_treepie"));
        command.args(arguments).current_dir(&self.0);
        for name in ["NO_COLOR", "COLUMNS", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).spawn().unwrap(), vec![])
    }

    fn run_with(&self, arguments: &[&str], stdin: impl Into<Vec<u8>>) -> Ran {
        let child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        Ran::of(child, stdin.into())
    }

    /// Runs what must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.status, 0, "{arguments:?}\n{}", ran.stderr);
        ran.stdout
    }

    /// An index `t.tp` of a few titles.
    fn with_titles() -> Self {
        let dir = Dir::new();
        dir.write("titles.txt", TITLES);
        dir.ok(&["index", "t.tp", "titles.txt", "--preset", "wikipedia-titles", "--quiet"]);
        dir
    }

    pub(crate) fn count(&self, query: &str) -> u64 {
        let ran = self.run(&["search", "t.tp", query, "--count"]);
        assert!(ran.status < 2, "{}", ran.stderr);
        ran.stdout.trim().parse().unwrap()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const TITLES: &str = "page_title\n\
    Paris,_Texas_(film)\n\
    Paris\n\
    History_of_France\n\
    History_of_Spain_(book)\n\
    Über_den_Wolken_(song)\n\
    東京\n\
    A_(b)_(film)\n";

pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Feeds a child and waits for it; a child that does not read on has its reasons.
    fn of(mut child: Child, stdin: Vec<u8>) -> Ran {
        let mut to = child.stdin.take();
        let feeder = thread::spawn(move || {
            if let Some(to) = &mut to {
                let _ = to.write_all(&stdin);
            }
        });
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// An error told in one line that has all of these words.
    #[track_caller]
    pub(crate) fn fails_with(&self, words: &[&str]) {
        assert_eq!(self.status, 2, "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        assert!(self.stderr.starts_with("treepie: "), "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in {}", self.stderr);
        }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}", self.stdout))
    }
}
