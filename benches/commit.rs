//! What does a durable commit of one document cost, beside the system calls that it cannot do without?
//!
//! Both run in turns in the same directory, so that they meet the same disk. The bare sequence writes files of the
//! sizes that the commit before it wrote: the segment, made durable; its name, made durable; the manifest, made
//! durable; its name, and that made durable.
//!
//! And what do many threads get that commit at the same time, and how soon is a document there that is only flushed, beside
//! two million others?
//!
//! `cargo bench --bench commit`, in `TMPDIR` or the directory that `TREEPIE_BENCH_DIR` names.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use treepie::{Document, Index, IndexWriter, Schema, WriterOptions};

/// Commits of one index: more would measure how manifests grow.
const COMMITS: usize = 20;
const INDEXES: usize = 20;

fn main() {
    // `cargo test` runs benches to see that they work.
    let is_test = std::env::args().any(|argument| argument == "--test");
    let indexes = if is_test { 1 } else { INDEXES };
    let parent =
        std::env::var_os("TREEPIE_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let place = parent.join(format!("treepie-bench-commit-{}", std::process::id()));
    fs::create_dir_all(&place).expect("a directory to write to");
    let (mut commits, mut bare) = (vec![], vec![]);
    for nth in 0..indexes {
        measure(&place.join(nth.to_string()), &mut commits, &mut bare).expect("commits work");
    }
    let alone = commits_a_second(&place.join("alone"), 1, is_test).expect("commits work");
    let together = commits_a_second(&place.join("together"), 16, is_test).expect("commits work");
    let mut flushes = flushes(&place.join("flushes"), is_test).expect("flushes work");
    fs::remove_dir_all(&place).expect("the directory goes");
    let [commit, calls] = [&mut commits, &mut bare].map(|times| {
        times.sort_unstable();
        [0.5, 0.9, 0.99].map(|share| times[((times.len() - 1) as f64 * share) as usize])
    });
    println!("{:28} {:>10} {:>10} {:>10}", "of one document, durable", "p50", "p90", "p99");
    for (what, [p50, p90, p99]) in [("commit", commit), ("the bare system calls", calls)] {
        println!("{what:28} {p50:>10.1?} {p90:>10.1?} {p99:>10.1?}");
    }
    println!("ratio of the p50s: {:.2}", commit[0].as_secs_f64() / calls[0].as_secs_f64());
    println!(
        "commits a second that are acknowledged: {alone:.0} of one thread, {together:.0} of 16: {:.1} times",
        together / alone
    );
    flushes.sort_unstable();
    let at = |share: f64| flushes[((flushes.len() - 1) as f64 * share) as usize];
    println!(
        "from a document to a searcher that has it, by a flush: p50 {:.1?}, p99 {:.1?}",
        at(0.5),
        at(0.99)
    );
}

/// Documents a second, each committed by whoever adds it, by so many threads that share a writer.
fn commits_a_second(path: &Path, threads: usize, is_test: bool) -> treepie::Result<f64> {
    let each = if is_test { 2 } else { 600 / threads.min(4) };
    let index = Index::create(path, Schema::builder().text("title").build()?)?;
    let writer = index.writer_with(WriterOptions::new().threads(1))?.into_shared();
    let started = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for nth in 0..each {
                    let title = format!("The {nth}th treepie of the day");
                    writer.add(Document::new().with("title", title)).expect("there is room");
                    writer.commit().expect("commits work");
                    if nth % 50 == 49 {
                        writer.with(|writer| writer.maintain()).expect("merges work");
                    }
                }
            });
        }
    });
    Ok((threads * each) as f64 / started.elapsed().as_secs_f64())
}

/// How long it takes from adding a document to a searcher that finds it.
fn flushes(path: &Path, is_test: bool) -> treepie::Result<Vec<Duration>> {
    let (documents, n) = if is_test { (1_000, 10) } else { (2_000_000, 500) };
    let index = Index::create(path, Schema::builder().text("title").build()?)?;
    let mut writer = index.writer_with(WriterOptions::new().threads(1))?;
    for nth in 0..documents {
        writer.add(Document::new().with("title", format!("The {nth}th treepie of the day")))?;
    }
    writer.commit()?;
    let reader = index.reader()?;
    let mut times = vec![];
    for nth in 0..n {
        let started = Instant::now();
        writer.add(Document::new().with("title", format!("The {nth}th raven of the night")))?;
        writer.flush()?;
        let searcher = reader.searcher();
        times.push(started.elapsed());
        assert_eq!(searcher.count(&searcher.parse("raven")?)?, nth + 1);
    }
    Ok(times)
}

fn measure(
    path: &Path,
    commits: &mut Vec<Duration>,
    bare: &mut Vec<Duration>,
) -> treepie::Result<()> {
    fs::create_dir(path).expect("a directory for the index and the files beside it");
    let index = Index::create(path.join("index"), Schema::builder().text("title").build()?)?;
    let mut writer = index.writer_with(WriterOptions::new().threads(1))?;
    let calls = path.join("calls");
    fs::create_dir(&calls).expect("a directory beside the index");
    commit(&mut writer, 0)?; // the first makes the lists of the second shorter
    for nth in 1..=COMMITS {
        let started = Instant::now();
        commit(&mut writer, nth)?;
        commits.push(started.elapsed());
        let (segment, manifest) = sizes(&path.join("index")).expect("an index has both");
        let started = Instant::now();
        write_bare(&calls, nth, &vec![7; segment], &vec![7; manifest]).expect("files are written");
        bare.push(started.elapsed());
    }
    Ok(())
}

fn commit(writer: &mut IndexWriter, nth: usize) -> treepie::Result<()> {
    writer.add(Document::new().with("title", format!("The {nth}th treepie of the day")))?;
    writer.commit().map(drop)
}

/// The bytes of a newest segment and of the newest manifest.
fn sizes(index: &Path) -> io::Result<(usize, usize)> {
    let newest = |prefix: &str| -> io::Result<usize> {
        let mut files = vec![];
        for entry in fs::read_dir(index)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                let metadata = entry.metadata()?;
                files.push((metadata.modified()?, metadata.len() as usize));
            }
        }
        Ok(files.into_iter().max().map_or(0, |(_, len)| len))
    };
    Ok((newest("seg-")?, newest("manifest-")?))
}

fn write_bare(directory: &Path, nth: usize, segment: &[u8], manifest: &[u8]) -> io::Result<()> {
    let write = |name: &Path, bytes: &[u8]| {
        let mut file = OpenOptions::new().write(true).create_new(true).open(name)?;
        file.write_all(bytes)?;
        file.sync_data()
    };
    let sync_names = || match cfg!(unix) {
        true => File::open(directory)?.sync_all(),
        false => Ok(()),
    };
    write(&directory.join(format!("segment-{nth}")), segment)?;
    sync_names()?;
    let temporary = directory.join("manifest");
    write(&temporary, manifest)?;
    fs::hard_link(&temporary, directory.join(format!("manifest-{nth}")))?;
    fs::remove_file(&temporary)?;
    sync_names()
}
