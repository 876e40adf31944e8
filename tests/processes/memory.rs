//! What building, updating, merging and searching take of memory, each in a child of its own: what of its memory is no
//! file's (`RssAnon`) is read every millisecond.
//!
//! What comes and goes between two looks is bounded, too: beyond somewhat more, the system refuses memory
//! (`RLIMIT_DATA`, which also counts what was asked for and never touched), and that ends the child.

use crate::content::noise;
use crate::place::{Place, long_or, skip};
use crate::process::{Parent, Process};
use crate::sandbox::with_data_limit;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;
use treepie::storage::ReadMode;
use treepie::writer::{BadLines, LineFormat};
use treepie::{Document, Field, FieldKind, Index, Result, Schema, WriterOptions};

/// The smallest budget that there is.
const BUDGET: usize = 16 << 20;
/// What may be taken beyond it.
const BEYOND: u64 = 64 << 20;
/// What the system may be asked for beyond that.
const UNTOUCHED: u64 = 64 << 20;
/// Titles of the short form: so many that they would not fit if nobody kept to the budget.
const TITLES: u64 = 400_000;
/// Documents between two commits of updates.
const UPDATES_A_COMMIT: u64 = 5_000;

/// Documents between two flushes, and partial updates between two commits, each of which looks up a document.
const DOCUMENTS_A_FLUSH: u64 = 1_000;
const PARTIAL_UPDATES: u64 = 20_000;

const PHASES: [&str; 8] =
    ["lines", "documents", "updates", "flushes", "partial", "beside", "merge", "queries"];
const QUERIES: [&str; 12] = [
    "the",
    "of the",
    "+of +the -film",
    "\"of the\"",
    "\"the of\"~4",
    "a*",
    "*ing",
    "lonbon~1",
    "/[a-c].*e/",
    "NOT the",
    "*",
    "(a* OR b*) AND NOT c*",
];

fn titles() -> u64 {
    long_or("TREEPIE_PROCESSES_TITLES", TITLES)
}

/// Titles of a file, or made ones: often few words of which some are frequent, and a number that nothing else has.
fn lines() -> Box<dyn Read> {
    if let Some(path) = std::env::var_os("TREEPIE_PROCESSES_LINES") {
        return Box::new(File::open(path).unwrap());
    }
    let all = titles();
    let chunks = (0..all).step_by(1_000).map(move |first| {
        let chunk: String = (first..all.min(first + 1_000)).map(|n| title(n) + "\n").collect();
        io::Cursor::new(chunk)
    });
    Box::new(Chunks { chunks, now: io::Cursor::new(String::new()) })
}

struct Chunks<I> {
    chunks: I,
    now: io::Cursor<String>,
}

impl<I: Iterator<Item = io::Cursor<String>>> Read for Chunks<I> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.now.read(buffer)? {
                0 if !buffer.is_empty() => match self.chunks.next() {
                    Some(next) => self.now = next,
                    None => return Ok(0),
                },
                n => return Ok(n),
            }
        }
    }
}

fn title(n: u64) -> String {
    let dice = noise(n);
    let of = |nth: u32, n: u64| (dice >> (8 * nth)) % n;
    let small = ["the", "of", "a", "in", "and"][of(0, 5) as usize];
    let rare = noise(of(1, 60_000) * of(2, 7)) % 400_000;
    let kind = ["film", "album", "river", "song", "village"][of(3, 5) as usize];
    format!("{small}_w{:x}_of_the_{:x}ing_{n:x}_({kind})", of(4, 3_000), rare)
}

/// Does what the parent says, with the smallest budget.
pub(crate) fn work(parent: &Parent) -> Result<()> {
    let phase = parent.hear();
    let peak = Arc::new(AtomicU64::new(0));
    let done = Arc::new(AtomicBool::new(false));
    let watching = {
        let (peak, done) = (Arc::clone(&peak), Arc::clone(&done));
        thread::spawn(move || {
            while !done.load(Relaxed) {
                peak.fetch_max(in_memory("RssAnon:").unwrap_or(0), Relaxed);
                thread::sleep(Duration::from_millis(1));
            }
        })
    };
    let what = run(&phase, &parent.place)?;
    done.store(true, Relaxed);
    watching.join().unwrap();
    parent.say(format!("{} {what}", peak.load(Relaxed)));
    Ok(())
}

/// What the system says of this process, in bytes.
fn in_memory(what: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(what))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

fn run(phase: &str, place: &Path) -> Result<String> {
    let options = || WriterOptions::new().memory_bytes(BUDGET);
    let (lined, keyed) = (place.join("lines.tp"), place.join("keyed.tp"));
    match phase {
        "lines" => {
            let mut writer = Index::create(&lined, LineFormat::titles().schema().unwrap())?
                .writer_with(options())?;
            let format = LineFormat::titles();
            writer.add_lines(lines(), &format, BadLines::Refuse)?;
            let commit = writer.commit()?;
            Ok(format!("{} lines, {} runs", commit.added, commit.runs_spilled))
        }
        "documents" => {
            let id = Field::new("id", FieldKind::Keyword).many(false);
            let schema = Schema::builder().field(id).text("title").key("id").build()?;
            let mut writer = Index::create(&keyed, schema)?.writer_with(options())?;
            for n in 0..titles() {
                writer.add(keyed_title(n, n))?;
            }
            let commit = writer.commit()?;
            Ok(format!("{} documents, {} runs", commit.added, commit.runs_spilled))
        }
        "updates" => {
            let mut writer = Index::open(&keyed)?.writer_with(options())?;
            let (updates, mut deleted, mut merges) = (titles() / 10, 0, 0);
            for n in 0..updates {
                writer.add(keyed_title(noise(n) % titles(), n + 1))?;
                if n % UPDATES_A_COMMIT == UPDATES_A_COMMIT - 1 || n == updates - 1 {
                    deleted += writer.commit()?.deleted;
                    merges += writer.maintain()?;
                }
            }
            // And all at once.
            for n in 0..updates {
                writer.add(keyed_title(noise(!n) % titles(), n + 2))?;
            }
            let once = writer.commit()?;
            assert_eq!(once.documents, titles(), "an update is no new document");
            Ok(format!(
                "{updates} updates, {deleted} deleted, {merges} merges; {} more",
                once.deleted
            ))
        }
        "flushes" => {
            // Made visible and taken back, then made visible and kept, with somebody who looks.
            let index = Index::open(&keyed)?;
            let mut writer = index.writer_with(options())?;
            let (reader, mut flushes) = (index.reader()?, 0);
            for keeps in [false, true] {
                for n in 0..titles() / 10 {
                    writer.add(keyed_title(noise(n) % titles(), n + 3))?;
                    if n % DOCUMENTS_A_FLUSH == DOCUMENTS_A_FLUSH - 1 {
                        let searcher = reader.searcher();
                        assert!(searcher.count(&searcher.parse("the OR of OR a")?)? > 0);
                        assert_eq!(writer.flush()?.documents, titles());
                        flushes += 1;
                    }
                }
                if keeps { writer.commit().map(drop)? } else { writer.rollback()? }
            }
            Ok(format!("{flushes} flushes, {} segments", writer.commit()?.segments))
        }
        "partial" => {
            // What each finds, changes and writes anew; and deletes of a query and of many keys at once, put back.
            let mut writer = Index::open(&keyed)?.writer_with(options())?;
            for n in 0..PARTIAL_UPDATES {
                let key = format!("{:08}", noise(n) % titles());
                let updated = writer.update(&key, |document| document.set("title", title(n)))?;
                assert!(updated, "{key}");
                if n % UPDATES_A_COMMIT == UPDATES_A_COMMIT - 1 {
                    writer.commit()?;
                    writer.maintain()?;
                }
            }
            let half = titles() / 2;
            (0..half).try_for_each(|n| writer.delete_key(format!("{n:08}")))?;
            writer.flush()?;
            assert_eq!(writer.commit()?.documents, titles() - half);
            (0..half).try_for_each(|n| writer.add(keyed_title(n, n)))?;
            assert_eq!(writer.commit()?.documents, titles());
            Ok(format!("{PARTIAL_UPDATES} partial updates, {half} deleted by key and put back"))
        }
        "beside" => {
            // Threads that share the writer, commits that come by themselves, and merges beside them.
            let index = Index::open(&keyed)?;
            let writer = index.writer_with(options())?.into_shared();
            let (reader, updates) = (index.reader()?, titles() / 10);
            let before = reader.searcher().generation();
            let (tell, told) = std::sync::mpsc::channel();
            let commits = writer.commit_every(Duration::from_millis(20), move |commit| {
                tell.send(commit).expect("somebody hears");
            })?;
            thread::scope(|scope| {
                for first in 0..2 {
                    let writer = writer.clone();
                    scope.spawn(move || {
                        for n in (first..updates).step_by(2) {
                            let document = keyed_title(noise(n) % titles(), n + 4);
                            writer.add_and_process(document).expect("there is room");
                        }
                    });
                }
            });
            drop(commits);
            let added: u64 =
                told.into_iter().map(|told| told.map(|commit| commit.added)).sum::<Result<_>>()?;
            assert_eq!(added, updates, "all are committed by themselves");
            let searcher = reader.searcher();
            assert_eq!(searcher.n_docs(), titles());
            let commits = searcher.generation() - before;
            assert!(commits > 1, "{commits} commits");
            Ok(format!("{updates} updates, {commits} commits and merges"))
        }
        "merge" => {
            let merged = Index::open(&keyed)?.writer_with(options())?.merge()?;
            assert_eq!((merged.segments, merged.documents), (1, titles()));
            // Two halves of a larger one.
            let mut writer = Index::open(&lined)?.writer_with(options())?;
            writer.add_lines(lines(), &LineFormat::titles(), BadLines::Refuse)?;
            let both = writer.merge()?;
            Ok(format!("{} documents by key, {} lines", merged.documents, both.documents))
        }
        "queries" => {
            let mut matches = 0;
            for (index, mode) in
                [(&lined, ReadMode::Mmap), (&lined, ReadMode::Pread), (&keyed, ReadMode::Mmap)]
            {
                let index = Index::options().read_mode(mode).open(index)?;
                let searcher = index.searcher()?;
                for text in QUERIES {
                    let query = searcher.parse(text)?;
                    let ranked = searcher.search(&query).limit(1_000).run()?;
                    matches += ranked.total.value;
                    searcher.count(&query)?;
                    if searcher.schema().field("qualifier").is_some() {
                        searcher.facets(&query, "qualifier", 100)?;
                    }
                }
                if mode == ReadMode::Mmap {
                    let report = index.inspect()?.verify(|error| panic!("{error}"));
                    assert!(report.is_sound());
                }
            }
            Ok(format!("{} queries, {matches} matches", 3 * QUERIES.len()))
        }
        other => panic!("no phase {other}"),
    }
}

fn keyed_title(key: u64, n: u64) -> Document {
    Document::new().with("id", format!("{key:08}")).with("title", title(n).replace('_', " "))
}

#[test]
fn whatever_is_done_memory_stays_within_the_budget_and_64_mib() {
    if in_memory("RssAnon:").is_none() {
        return skip("memory", "the system does not say what a process has");
    }
    let place = Place::new("memory");
    for phase in PHASES {
        let mut child: Process =
            with_data_limit(BUDGET as u64 + BEYOND + UNTOUCHED, "worker", place.path());
        child.tell(phase);
        let (said, status) = child.wait();
        let [said] = &said[..] else { panic!("{phase}: {said:?}, {status}") };
        let (peak, what) = said.split_once(' ').expect("a peak");
        let peak: u64 = peak.parse().unwrap();
        println!("{phase:10} {:5.1} MiB at most: {what}", peak as f64 / (1 << 20) as f64);
        assert!(status.success() && peak <= BUDGET as u64 + BEYOND, "{phase}: {peak}, {status}");
    }
}
