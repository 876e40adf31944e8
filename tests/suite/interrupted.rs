//! Builds that are killed, and readers beside builds that are not: what was committed stands.
//!
//! The built tool indexes a file under a small budget, so that it spills, and gets SIGKILL at
//! different moments: after some time, or as soon as it has got so far. No moment is promised; what
//! must hold does so at every one.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use treepie::writer::{BadLines, LineFormat};
use treepie::{Index, Searcher};

const OLD_TITLES: u64 = 300;
const NEW_TITLES: u64 = 550_000;
/// What is asked before and after.
const QUERIES: [&str; 5] = ["old", "old AND n3", "NOT n3", "qualifier:film", "new"];

/// When a build is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    After(u64),
    /// As soon as a file whose name begins so is there that was not before.
    Sees(&'static str),
    /// As soon as there are so many runs.
    Runs(usize),
}

const MOMENTS: [Moment; 8] = [
    Moment::After(20),
    Moment::After(60),
    Moment::After(150),
    Moment::After(400),
    Moment::Sees(".run-"),
    Moment::Runs(2),
    Moment::Sees("seg-"),
    Moment::Sees("manifest-"),
];

/// A directory with the input of the builds, the old index, and copies of it; gone with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let dir = format!("treepie-interrupted-{name}-{}", std::process::id());
        let place = Place(std::env::temp_dir().join(dir));
        let _ = fs::remove_dir_all(&place.0);
        fs::create_dir_all(&place.0).unwrap();
        fs::write(place.0.join("new.txt"), new_titles()).unwrap();
        fs::write(place.0.join("more.txt"), "Old_n3_and_more_(film)\n").unwrap();
        let old: String = (0..OLD_TITLES)
            .map(|n| format!("Old_n{}_w{n}_({})\n", n % 7, ["film", "book"][n as usize % 2]))
            .collect();
        let index =
            Index::create(place.0.join("old.tp"), LineFormat::titles().schema().unwrap()).unwrap();
        let mut writer = index.writer().unwrap();
        let format = LineFormat::titles();
        writer.add_lines(old.as_bytes(), &format, BadLines::Refuse).unwrap();
        writer.commit().unwrap();
        place
    }

    fn index(&self) -> PathBuf {
        self.0.join("t.tp")
    }

    /// A copy of the old index, in the place of whatever was there.
    fn restore(&self) {
        let _ = fs::remove_dir_all(self.index());
        fs::create_dir(self.index()).unwrap();
        for name in names(&self.0.join("old.tp")) {
            fs::copy(self.0.join("old.tp").join(&name), self.index().join(&name)).unwrap();
        }
    }

    fn tool(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_treepie"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn build(&self, input: &str, mode: &str) -> Command {
        let preset = "wikipedia-titles";
        self.tool(&[
            "index", "t.tp", input, mode, "--preset", preset, "--memory", "16MiB", "--quiet",
        ])
    }

    /// What a process of its own counts.
    fn count(&self, query: &str) -> u64 {
        let ran = self.tool(&["search", "t.tp", query, "--count"]).output().unwrap();
        let printed = String::from_utf8(ran.stdout).unwrap();
        printed.trim().parse().unwrap_or_else(|_| panic!("{query}: {printed:?}"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// About 20 MB.
fn new_titles() -> String {
    let line = |n: u64| format!("New_title_{}_word{}_number_{n}_(film)\n", n % 5_003, n % 90_001);
    (0..NEW_TITLES).map(line).collect()
}

fn names(dir: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(dir).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

fn succeed(command: &mut Command) {
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

fn counts(searcher: &Searcher) -> [u64; QUERIES.len()] {
    QUERIES.map(|text| searcher.count(&searcher.parse(text).unwrap()).unwrap())
}

/// What the newest commit answers, once every byte of it was found sound.
fn answers(index: &Path) -> [u64; QUERIES.len()] {
    let index = Index::open(index).unwrap();
    let report = index.inspect().unwrap().verify(|error| panic!("{error}"));
    assert!(report.is_sound());
    counts(&index.searcher().unwrap())
}

fn segment_files(index: &Path) -> BTreeSet<String> {
    let segments = Index::open(index).unwrap().inspect().unwrap().segments();
    segments.into_iter().map(|segment| format!("seg-{}.idx", segment.id)).collect()
}

/// Kills a build at a moment. Whether it was still at work then.
fn kill(mut build: Child, index: &Path, moment: Moment) -> bool {
    let before = names(index);
    let reached = || {
        let new = || names(index).into_iter().filter(|name| !before.contains(name));
        match moment {
            Moment::After(ms) => {
                sleep(Duration::from_millis(ms));
                true
            }
            Moment::Sees(prefix) => new().any(|name| name.starts_with(prefix)),
            Moment::Runs(n) => new().filter(|name| name.starts_with(".run-")).count() >= n,
        }
    };
    let mut at_work = true;
    while at_work && !reached() {
        at_work = build.try_wait().unwrap().is_none();
    }
    build.kill().unwrap();
    let ended = build.wait_with_output().unwrap();
    assert!(
        ended.status.code().is_none_or(|code| code == 0),
        "{moment:?}: {}",
        String::from_utf8_lossy(&ended.stderr)
    );
    ended.status.code().is_none()
}

#[test]
fn a_build_killed_at_any_moment_leaves_the_old_index_or_the_new_one() {
    let place = Place::new("killed");
    let index = place.index();
    place.restore();
    let old = answers(&index);
    assert_eq!(old, [OLD_TITLES, 43, OLD_TITLES - 43, OLD_TITLES / 2, 0]);
    let new = [0, 0, NEW_TITLES, NEW_TITLES, NEW_TITLES];
    let manifests = |names: BTreeSet<String>| {
        names.into_iter().filter(|name| name.starts_with("manifest-")).count()
    };
    let (mut killed, mut littered) = (0, 0);
    for moment in MOMENTS {
        place.restore();
        let (old_files, old_segments) = (names(&index), segment_files(&index));
        let build = place.build("new.txt", "--overwrite").spawn().unwrap();
        killed += u32::from(kill(build, &index, moment));
        let committed = manifests(names(&index)) > 1;
        let expected = if committed { new } else { old };
        assert_eq!(answers(&index), expected, "{moment:?}");
        if !committed {
            littered += u32::from(names(&index) != old_files);
        }

        succeed(&mut place.build("more.txt", "--append"));
        let mut expected = expected;
        let added = [1, 1, 0, 1, 0];
        expected.iter_mut().zip(added).for_each(|(count, added)| *count += added);
        assert_eq!(answers(&index), expected, "{moment:?}, then one more title");
        // What is left are files of the newest commit and the one before.
        let mut segments = segment_files(&index);
        segments.extend(old_segments);
        for name in names(&index) {
            let known = name.starts_with("manifest-") || name == "write.lock";
            assert!(known || segments.contains(&name), "{moment:?}: {name} was left behind");
        }
    }
    assert!(killed >= 4 && littered >= 2, "{killed} builds were killed, {littered} left litter");

    place.restore();
    let old_segments = segment_files(&index);
    succeed(&mut place.build("new.txt", "--overwrite"));
    assert_eq!(answers(&index), new);
    let kept: BTreeSet<_> = segment_files(&index).union(&old_segments).cloned().collect();
    let left = names(&index).into_iter().filter(|name| name.starts_with("seg-"));
    assert!(left.collect::<BTreeSet<_>>().is_subset(&kept));
}

#[test]
fn readers_beside_a_build_see_the_commit_before_it() {
    let place = Place::new("readers");
    let index = place.index();
    place.restore();
    let old = answers(&index);
    let mut build = place.build("-", "--append").stdin(Stdio::piped()).spawn().unwrap();
    let mut to = build.stdin.take().unwrap();
    to.write_all(new_titles().as_bytes()).unwrap();
    // The build has taken most of its input, has spilled, and waits for more.
    assert!(build.try_wait().unwrap().is_none());
    assert!(names(&index).iter().any(|name| name.starts_with(".run-")), "{:?}", names(&index));

    let searcher = Index::open(&index).unwrap().searcher().unwrap();
    assert_eq!(counts(&searcher), old);
    assert_eq!(QUERIES.map(|query| place.count(query)), old);
    assert!(place.tool(&["verify", "t.tp"]).output().unwrap().status.success());
    assert!(searcher.reload().unwrap().is_none());

    drop(to);
    assert!(build.wait_with_output().unwrap().status.success());
    assert_eq!(counts(&searcher), old, "what is open does not change");
    let new = searcher.reload().unwrap().expect("a new commit");
    let added = [0, 0, NEW_TITLES, NEW_TITLES, NEW_TITLES];
    let mut expected = old;
    expected.iter_mut().zip(added).for_each(|(count, added)| *count += added);
    assert_eq!(counts(&new), expected);
    assert_eq!(QUERIES.map(|query| place.count(query)), expected);
}
