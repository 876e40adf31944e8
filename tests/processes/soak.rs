//! A writer and three readers for an hour, with kills, full disks and cancels: nothing may be lost.
//!
//! All of it lies on a small file system in memory. The [writer] does all kinds of work and is killed at any moment; a
//! balloon takes the room on the disk now and then, also over kills and restarts. The [readers](reader) search all the
//! time. Whatever anybody sees must be exactly what the rule of the [steps] says, and as far as was acknowledged.
//!
//! The short form takes some seconds. The long one, for so many of them, leaves half of the processors to others:
//!
//! ```text
//! TREEPIE_PROCESSES_SOAK=3600 cargo test --test processes soak -- --nocapture
//! ```

mod reader;
mod steps;
mod writer;

use crate::content::{noise, steps_of};
use crate::kills::leaves_no_litter;
use crate::place::{Place, long_or, skip};
use crate::process::{Parent, Process};
use crate::sandbox::{can_mount, mounted};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};
use treepie::Index;

pub(crate) use reader::read;
pub(crate) use writer::write;

const READERS: usize = 3;
/// Seconds of the short form, and from when on it is a long one.
const SHORT: u64 = 5;
const LONG: u64 = 60;
/// Room for some ten versions of the index.
const DISK: &str = "24m";
/// The most that a balloon leaves free.
const ROOM_MAX: u64 = 256 << 10;
/// What must have happened before the short form ends.
const KILLS_MIN: u64 = 10;
const FAILURES_MIN: u64 = 2;

fn seconds() -> u64 {
    long_or("TREEPIE_PROCESSES_SOAK", SHORT)
}

fn is_long() -> bool {
    seconds() >= LONG
}

/// Leaves the processors to others, in the long form, after so much work.
fn rest(work: Duration) {
    if is_long() {
        sleep((3 * work).min(Duration::from_secs(1)));
    }
}

/// Runs it all, in the place where the disk is mounted; says now and then how far it is, and the counts at the end.
pub(crate) fn run(parent: &Parent) {
    let index = parent.place.join("index.tp");
    let mut writer = Index::create(&index, steps::schema()).unwrap().writer().unwrap();
    steps::begin(&mut writer).unwrap();
    let generation = writer.commit().unwrap().generation;
    drop(writer);
    let readers = Readers::start(&index);
    let started = Instant::now();
    let mut soak = Soak {
        balloon: Balloon { file: parent.place.join("balloon"), is_full: false },
        index,
        acknowledged: 0,
        begun: 0,
        generation,
        at: String::new(),
        counts: BTreeMap::new(),
        kills: BTreeMap::new(),
    };
    let is_small = is_mounted(&parent.place);
    let (mut nth, mut told) = (0, started);
    loop {
        let kills: u64 = soak.kills.values().sum();
        let has_happened =
            kills >= KILLS_MIN && (!is_small || soak.count("full disk") >= FAILURES_MIN);
        if started.elapsed() >= Duration::from_secs(seconds()) && has_happened {
            break;
        }
        nth += 1;
        soak.live_and_die(noise(nth), is_small);
        readers.assert_alive();
        if told.elapsed() >= Duration::from_secs(60) {
            told = Instant::now();
            parent.say(soak.report(started.elapsed(), &BTreeMap::new()));
        }
    }
    let took = started.elapsed();
    soak.end();
    let seen = readers.end();
    leaves_no_litter(&soak.index);
    parent.say(soak.report(took, &seen));
    parent.say("done");
    let needed = ["reloads", "new snapshots", "openings", "searches"];
    assert!(needed.iter().all(|what| seen.contains_key(*what)), "{seen:?}");
    assert!(soak.count("commits") > kills_of(&soak), "{:?}", soak.counts);
}

fn kills_of(soak: &Soak) -> u64 {
    soak.kills.values().sum()
}

/// Whether this is a disk of its own.
fn is_mounted(place: &std::path::Path) -> bool {
    let device = |path| fs::metadata(path).unwrap().dev();
    device(place) != device(place.parent().expect("a directory for places"))
}

/// What was heard of the writers, and what has to be true by that.
struct Soak {
    index: PathBuf,
    balloon: Balloon,
    /// The last step that a writer was told is committed, and the last it was about to commit.
    acknowledged: u64,
    begun: u64,
    generation: u64,
    /// What the writer was last heard to do.
    at: String,
    counts: BTreeMap<String, u64>,
    kills: BTreeMap<String, u64>,
}

impl Soak {
    fn count(&self, what: &str) -> u64 {
        self.counts.get(what).copied().unwrap_or_default()
    }

    fn did(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    /// Starts a writer, lets it work with room and without as `dice` says, and kills it; sometimes before it has opened.
    fn live_and_die(&mut self, dice: u64, is_small: bool) {
        self.at = "starting".into();
        let mut writer = Process::start("soak writer", &self.index);
        if dice.is_multiple_of(4) {
            sleep(Duration::from_micros((dice >> 8) % 30_000));
        } else {
            let acts = 1 + (dice >> 2) % 4;
            for act in 0..acts {
                let dice = noise(dice ^ act);
                for _ in 0..=dice % 100 {
                    self.hear_from(&mut writer, dice >> 32);
                }
                if is_small && act + 1 < acts {
                    self.balloon.change((dice >> 8) % ROOM_MAX);
                }
            }
            sleep(Duration::from_micros((dice >> 8) % 3_000));
        }
        let mut failed = false;
        for line in writer.kill() {
            failed |= self.hear(&line);
        }
        let at = self.at.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ').to_owned();
        *self.kills.entry(at).or_default() += 1;
        self.settle(failed.then(|| self.at.clone()).as_deref());
        // Nobody is there for whom the disk could be full for ever.
        if dice.is_multiple_of(3) {
            self.balloon.burst();
        }
    }

    /// The next line of a writer. One whose disk was full goes on once what it left was looked at.
    fn hear_from(&mut self, writer: &mut Process, dice: u64) {
        let line = writer.hear().expect("a writer that is not killed goes on");
        if self.hear(&line) {
            self.settle(Some(&line));
            // Sometimes it begins again while there is no room.
            if !dice.is_multiple_of(4) {
                self.balloon.burst();
            }
            writer.tell("go on");
        }
    }

    /// Takes note of what a writer said; whether its disk was full.
    fn hear(&mut self, line: &str) -> bool {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut numbers = rest.split(' ').map_while(|n| n.parse::<u64>().ok());
        match what {
            "opening" | "waiting" | "at" => {}
            "did" => self.did(rest),
            "opened" | "resumed" => {
                assert_eq!(numbers.next(), Some(self.acknowledged), "where the writer takes up");
            }
            "committing" => {
                let step = numbers.next().expect("a step");
                assert!(step > self.acknowledged);
                self.begun = step;
            }
            "committed" => {
                let [step, generation] = [(); 2].map(|()| numbers.next().expect("a number"));
                assert!(step == self.begun && generation > self.generation, "{line}");
                (self.acknowledged, self.generation) = (step, generation);
                self.did("commits");
            }
            "failed" => {
                self.did("full disk");
                self.did(&format!("outcome {rest}"));
            }
            _ => panic!("a writer says {line:?}"),
        }
        self.at = line.to_owned();
        what == "failed"
    }

    /// Now that nobody writes the index must be a commit of those that are possible, sound in every byte; takes up from
    /// there. `failure` is what the writer said of its last one, if that failed.
    fn settle(&mut self, failure: Option<&str>) {
        let Soak { acknowledged, begun, generation, .. } = *self;
        let what = format!("{acknowledged} to {begun}, commit {generation}, {}", self.at);
        let index = Index::open(&self.index).unwrap();
        let searcher = index.searcher().unwrap();
        let found = steps::check_commit(&searcher).map(|(step, _)| step);
        let found = found.unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
        let may_be = match failure {
            None | Some("failed Some(Unknown)") => acknowledged..=begun,
            Some(_) => acknowledged..=acknowledged,
        };
        assert!(may_be.contains(&found), "{what}: found step {found}");
        assert!(searcher.generation() >= generation, "{what}: found {}", searcher.generation());
        assert!(index.inspect().unwrap().verify(|error| panic!("{what}: {error}")).is_sound());
        if found > acknowledged {
            self.did("commits found that were in flight");
        }
        (self.acknowledged, self.begun, self.generation) = (found, found, searcher.generation());
    }

    /// A last writer, which nobody disturbs.
    fn end(&mut self) {
        self.balloon.burst();
        let mut writer = Process::start("soak writer", &self.index);
        for _ in 0..200 {
            self.hear_from(&mut writer, 1);
        }
        for line in writer.end() {
            assert!(!self.hear(&line), "there is room");
        }
        self.settle(None);
        assert_eq!(steps_of(&Index::open(&self.index).unwrap()).unwrap(), self.acknowledged);
    }

    fn report(&self, took: Duration, seen: &BTreeMap<String, u64>) -> String {
        let kills = kills_of(self);
        format!(
            "{took:.0?}: {kills} kills {:?}, step {}, the writers {:?}, {READERS} readers {seen:?}: 0 lost, 0 errors",
            self.kills, self.acknowledged, self.counts
        )
    }
}

/// A file that takes the room on a disk.
struct Balloon {
    file: PathBuf,
    is_full: bool,
}

impl Balloon {
    /// Takes all but so many bytes where there is room, and gives it back where there is none.
    fn change(&mut self, leaves: u64) {
        if self.is_full { self.burst() } else { self.blow_up(leaves) }
    }

    fn blow_up(&mut self, leaves: u64) {
        self.is_full = true;
        let mut file = File::create(&self.file).unwrap();
        let air = vec![0; 64 << 10];
        let error = loop {
            if let Err(error) = file.write_all(&air) {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
        let bytes = file.metadata().unwrap().len();
        file.set_len(bytes.saturating_sub(leaves)).unwrap();
    }

    fn burst(&mut self) {
        self.is_full = false;
        let removed = fs::remove_file(&self.file);
        removed
            .or_else(|e: io::Error| if e.kind() == ErrorKind::NotFound { Ok(()) } else { Err(e) })
            .unwrap();
    }
}

/// Readers, each with somebody who listens to it.
struct Readers {
    ends: Vec<Box<dyn FnOnce()>>,
    listeners: Vec<JoinHandle<BTreeMap<String, u64>>>,
}

impl Readers {
    fn start(index: &std::path::Path) -> Readers {
        let (mut ends, mut listeners) = (vec![], vec![]);
        for _ in 0..READERS {
            let mut reader = Process::start_nice("soak reader", index);
            reader.expect("reading");
            ends.push(Box::new(reader.ending()) as Box<dyn FnOnce()>);
            listeners.push(thread::spawn(|| {
                let (said, status) = reader.wait();
                assert!(status.success(), "a reader: {said:?}, {status}");
                let count = |line: &String| {
                    let (what, n) = line.rsplit_once(' ').expect("a count");
                    (what.to_owned(), n.parse().expect("a number"))
                };
                said.iter().filter(|line| *line != reader::ALIVE).map(count).collect()
            }));
        }
        Readers { ends, listeners }
    }

    fn assert_alive(&self) {
        assert!(!self.listeners.iter().any(JoinHandle::is_finished), "a reader has ended");
    }

    /// What all of them did.
    fn end(self) -> BTreeMap<String, u64> {
        self.ends.into_iter().for_each(|end| end());
        let mut sums = BTreeMap::new();
        for listener in self.listeners {
            for (what, n) in listener.join().unwrap() {
                *sums.entry(what).or_default() += n;
            }
        }
        sums
    }
}

#[test]
fn a_writer_and_three_readers_lose_nothing_by_kills_full_disks_and_cancels() {
    let place = Place::new("soak");
    let mount = format!("mount -t tmpfs -o size={DISK} tmpfs \"$PLACE\"");
    let mut soak = if can_mount(&mount, place.path()) {
        mounted(&mount, "soak", place.path())
    } else {
        skip("full disks in the soak", "mounting is not possible");
        Process::start("soak", place.path())
    };
    let mut last = String::new();
    while let Some(line) = soak.hear() {
        println!("{line}");
        last = line;
    }
    assert_eq!(last, "done");
    let (_, status) = soak.wait();
    assert!(status.success(), "{status}");
}
