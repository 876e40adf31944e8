//! System calls that fail under the real storage: `strace` makes each call of the built tool fail, once
//! and from then on, and the index must be the one before or the one after, as the tool said.
//!
//! Linux with `strace` only, and in the long form only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use treepie::Index;
use treepie::writer::{BadLines, LineFormat};

const TOOL: Option<&str> = option_env!("CARGO_BIN_EXE_treepie");
/// The calls through which files are changed, and those through which they are found and read.
const CALLS: [&str; 14] = [
    "openat",
    "pwrite64",
    "fdatasync",
    "fsync",
    "linkat",
    "link",
    "unlink",
    "flock",
    "getdents64",
    "pread64",
    "statx",
    "mmap",
    "ftruncate",
    "write",
];
const ERRORS: [&str; 4] = ["EIO", "ENOSPC", "EDQUOT", "EACCES"];
const OLD: u64 = 20;
const NEW: u64 = 30;

/// A directory of its own, gone with the test.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        let name = format!("treepie-system-calls-{}", std::process::id());
        let place = Place(std::env::temp_dir().join(name));
        let _ = fs::remove_dir_all(&place.0);
        fs::create_dir_all(&place.0).unwrap();
        let index =
            Index::create(place.0.join("old.tp"), LineFormat::titles().schema().unwrap()).unwrap();
        let mut writer = index.writer().unwrap();
        for _ in 0..2 {
            let titles = "Old_title_(film)\n".repeat(OLD as usize / 2);
            let format = LineFormat::titles();
            writer.add_lines(titles.as_bytes(), &format, BadLines::Refuse).unwrap();
            writer.commit().unwrap();
        }
        fs::write(place.0.join("new.txt"), "New_title_(book)\n".repeat(NEW as usize)).unwrap();
        place
    }

    fn index(&self) -> PathBuf {
        self.0.join("t.tp")
    }

    /// Puts the index back as it was.
    fn restore(&self) {
        let _ = fs::remove_dir_all(self.index());
        fs::create_dir(self.index()).unwrap();
        for file in fs::read_dir(self.0.join("old.tp")).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), self.index().join(file.file_name())).unwrap();
        }
    }

    /// Adds the new titles by the tool, under `strace` with these arguments; what it traced beside.
    fn append(&self, tool: &str, arguments: &[&str]) -> (Output, String) {
        let trace = self.0.join("trace");
        let output = Command::new("strace")
            .args(["-f", "-qq", "-o"])
            .arg(&trace)
            .args(arguments)
            .arg(tool)
            .arg("index")
            .arg(self.index())
            .arg(self.0.join("new.txt"))
            .args(["--preset", "wikipedia-titles", "--append", "--threads", "1", "--quiet"])
            .output()
            .unwrap();
        (output, fs::read_to_string(trace).unwrap_or_default())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Documents of the newest commit, every byte of which was found sound.
fn documents(index: &Path) -> u64 {
    let index = Index::open(index).unwrap();
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
    let searcher = index.searcher().unwrap();
    let count = |text: &str| searcher.count(&searcher.parse(text).unwrap()).unwrap();
    assert_eq!(count("title"), searcher.n_docs());
    assert_eq!(count("old"), OLD);
    searcher.n_docs()
}

#[test]
fn any_system_call_of_the_tool_may_fail() {
    let has_strace =
        Command::new("strace").arg("-V").output().is_ok_and(|ran| ran.status.success());
    let (Some(tool), true, true) = (TOOL, has_strace, cfg!(target_os = "linux")) else {
        println!("!!! SKIPPED: failing system calls: no strace, or no tool");
        return;
    };
    if std::env::var("TREEPIE_CRASH_STATES").is_err() {
        return;
    }
    let place = Place::new();
    place.restore();
    let (ran, trace) = place.append(tool, &["-e", "trace=all"]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(documents(&place.index()), OLD + NEW);
    let mut counts = BTreeMap::new();
    let (mut injected, mut refused) = (0, 0);
    for call in CALLS {
        let lines = trace.lines().filter(|line| line.contains(&format!(" {call}(")));
        for (nth, line) in (1..).zip(lines) {
            // Memory is mapped for many reasons; files of the index are shared.
            if call == "mmap" && !line.contains("MAP_SHARED") {
                continue;
            }
            *counts.entry(call).or_insert(0) += 1;
            for forever in if call == "mmap" { &[""][..] } else { &["", "+"] } {
                let error = ERRORS[injected % ERRORS.len()];
                let inject = format!("inject={call}:error={error}:when={nth}{forever}");
                place.restore();
                let (ran, trace) = place.append(tool, &["-e", &inject]);
                assert!(trace.contains("(INJECTED)"), "{inject} did not happen");
                injected += 1;
                let message = String::from_utf8_lossy(&ran.stderr).into_owned();
                assert!(!message.contains("panicked"), "{inject}: {message}");
                let code = ran.status.code();
                let found = documents(&place.index());
                let unknown = message.contains("whether the commit happened shows");
                match code {
                    Some(0) => assert_eq!(found, OLD + NEW, "{inject} passed over"),
                    _ if unknown => assert!([OLD, OLD + NEW].contains(&found), "{inject}"),
                    // The tool also says what it did; that may fail after the commit.
                    _ if call == "write" => assert!([OLD, OLD + NEW].contains(&found), "{inject}"),
                    _ => assert_eq!(found, OLD, "{inject}: {code:?} {message}"),
                }
                refused += usize::from(code != Some(0));
                let (ran, _) = place.append(tool, &["-e", "trace=none"]);
                assert!(ran.status.success(), "{inject}, then: {message}");
                assert_eq!(documents(&place.index()), found + NEW, "{inject}, then again");
            }
        }
    }
    println!("{injected} failures of system calls {counts:?}, {refused} ended the tool: 0 lost");
}
