//! A living index: durable commits of one document, many small commits, and updates by key.
//!
//! Every engine runs in a process of its own, one after the other, so that the kernel's account of what it wrote is
//! its own.

use std::{
    collections::HashMap, fs, path::Path, process::Command, thread::JoinHandle, time::Instant,
};

use tantivy::{
    TantivyDocument, Term,
    schema::{
        Field, IndexRecordOption, STORED, STRING, SchemaBuilder, TextFieldIndexing, TextOptions,
    },
};
use treepie::writer::MergedSegment;
use treepie::{CancelToken, Document, Index, IndexWriter, Schema, Searcher, WriterOptions};

use crate::{Result, build::create_tantivy, measure};

/// What each engine may hold while it indexes.
const MEMORY: usize = 256 << 20;
const THREADS: usize = 2;
/// Commits of one document that are timed.
const SINGLE_COMMITS: usize = 400;
/// Updates between two commits.
const UPDATES_A_COMMIT: u64 = 10_000;
const QUERIES: u64 = 200;
const ROUNDS: usize = 15;

/// Compares the engines: `documents` updates over as many documents, and `commits` of a hundred.
pub(crate) fn compare(dir: &str, documents: &str, commits: &str) -> Result<()> {
    fs::create_dir_all(dir)?;
    println!("load {}; {THREADS} threads, {} MiB", measure::load()?, MEMORY >> 20);
    for (what, n) in [("single", "0"), ("small", commits), ("updates", documents)] {
        for engine in ["tantivy", "treepie"] {
            let at = Path::new(dir).join(format!("{what}-{engine}"));
            if at.exists() {
                fs::remove_dir_all(&at)?;
            }
            fs::create_dir(&at)?;
            let mut one = Command::new(std::env::current_exe()?);
            let status = one.args(["live-one", engine, what, n]).arg(&at).status()?;
            if !status.success() {
                return Err(format!("{engine} failed at {what}").into());
            }
            fs::remove_dir_all(&at)?;
        }
    }
    Ok(())
}

/// One engine in this process.
pub(crate) fn one(engine: &str, what: &str, n: &str, dir: &str) -> Result<()> {
    let (dir, n) = (Path::new(dir), n.parse()?);
    match engine {
        "tantivy" => run(&mut Tantivy::create(dir)?, engine, what, n, dir),
        "treepie" => {
            run(&mut Treepie::create(dir)?, engine, what, n, dir)?;
            if what == "updates" { compare_with_fresh(dir, n) } else { Ok(()) }
        }
        _ => Err(format!("no engine {engine}").into()),
    }
}

/// What both engines do.
trait Engine {
    /// Adds a document, or replaces the one with this key.
    fn put(&mut self, key: u64, text: &str) -> Result<()>;
    fn commit(&mut self) -> Result<()>;
    /// Waits for all merges that the engine's own policy wants.
    fn settle(&mut self) -> Result<()>;
}

fn run(engine: &mut impl Engine, name: &str, what: &str, n: u64, dir: &Path) -> Result<()> {
    match what {
        "single" => {
            let mut times = vec![];
            for key in 0..SINGLE_COMMITS as u64 {
                engine.put(key, &text(key))?;
                times.push(measure::time(|| engine.commit())?.0);
            }
            println!(
                "{name:<8} a durable commit of one document: median {:.0} us",
                measure::median(&mut times)
            );
        }
        "small" => {
            let (started, before) = (Instant::now(), written()?);
            for commit in 0..n {
                (0..100).try_for_each(|nth| {
                    engine.put(commit * 100 + nth, &text(commit * 100 + nth))
                })?;
                engine.commit()?;
            }
            engine.settle()?;
            let (bytes, size) = (written()? - before, measure::size_of(dir)?);
            println!(
                "{name:<8} {n} commits of 100 documents: {:.1} s, {} MB written, {} MB left: {:.1} times",
                started.elapsed().as_secs_f64(),
                bytes >> 20,
                size >> 20,
                bytes as f64 / size as f64
            );
        }
        "updates" => {
            (0..n).try_for_each(|key| engine.put(key, &text(key)))?;
            engine.commit()?;
            let (started, before) = (Instant::now(), written()?);
            for nth in 0..n {
                engine.put(shuffled(nth, n), &text(nth + n))?;
                if (nth + 1) % UPDATES_A_COMMIT == 0 {
                    engine.commit()?;
                }
            }
            engine.commit()?;
            let seconds = started.elapsed().as_secs_f64();
            engine.settle()?;
            println!(
                "{name:<8} {n} updates by key over {n} documents, {UPDATES_A_COMMIT} a commit: {:.0} a second, {} MB written, settled after {:.1} s more, peak {} MiB",
                n as f64 / seconds,
                (written()? - before) >> 20,
                started.elapsed().as_secs_f64() - seconds,
                measure::peak_kib()? >> 10
            );
        }
        _ => return Err(format!("nothing called {what}").into()),
    }
    Ok(())
}

/// Bytes that this process has handed to the system to write.
fn written() -> Result<u64> {
    let io = fs::read_to_string("/proc/self/io")?;
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: ")).ok_or("no wchar")?;
    Ok(line.trim().parse()?)
}

/// Eight words of 20,000, the first ones more often.
fn text(n: u64) -> String {
    let mut state = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let words = (0..8).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let unit = (state >> 11) as f64 / (1u64 << 53) as f64;
        format!("w{}", (20_000f64.powf(unit)) as u64)
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A number below `n` for each: all of them, in no order.
fn shuffled(nth: u64, n: u64) -> u64 {
    // A stride without a common divisor visits everything once.
    let mut stride = (n as f64 * 0.618) as u64 | 1;
    while gcd(stride, n) != 1 {
        stride += 2;
    }
    nth * stride % n
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

struct Tantivy {
    writer: Option<tantivy::IndexWriter<TantivyDocument>>,
    key: Field,
    text: Field,
}

impl Tantivy {
    fn create(dir: &Path) -> Result<Self> {
        let mut schema = SchemaBuilder::new();
        let key = schema.add_text_field("id", STRING | STORED);
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("words")
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let text = TextOptions::default().set_indexing_options(indexing) | STORED;
        let text = schema.add_text_field("text", text);
        let index = create_tantivy(dir, schema.build())?;
        let writer = Some(index.writer_with_num_threads(THREADS, MEMORY)?);
        Ok(Tantivy { writer, key, text })
    }

    fn writer(&mut self) -> Result<&mut tantivy::IndexWriter<TantivyDocument>> {
        Ok(self.writer.as_mut().ok_or("the writer is gone")?)
    }
}

impl Engine for Tantivy {
    fn put(&mut self, key: u64, text: &str) -> Result<()> {
        let (key_field, text_field) = (self.key, self.text);
        let (writer, key) = (self.writer()?, key.to_string());
        writer.delete_term(Term::from_field_text(key_field, &key));
        let mut document = TantivyDocument::new();
        document.add_text(key_field, key);
        document.add_text(text_field, text);
        writer.add_document(document)?;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.writer()?.commit()?;
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        Ok(self.writer.take().ok_or("settled already")?.wait_merging_threads()?)
    }
}

struct Treepie {
    writer: IndexWriter,
    /// The merge that is on its way on a thread of its own, as tantivy's are.
    merging: Option<JoinHandle<treepie::Result<MergedSegment>>>,
}

fn schema() -> treepie::Result<Schema> {
    Schema::builder().text("text").key("id").build()
}

impl Treepie {
    fn create(dir: &Path) -> Result<Self> {
        let options = WriterOptions::new().threads(THREADS).memory_bytes(MEMORY);
        let writer = Index::create(dir, schema()?)?.writer_with(options)?;
        Ok(Treepie { writer, merging: None })
    }
}

impl Treepie {
    fn take_in(&mut self) -> Result<()> {
        if let Some(merging) = self.merging.take() {
            let merged = merging.join().map_err(|_| "a merge panicked")??;
            self.writer.finish_merge(merged)?;
        }
        Ok(())
    }
}

impl Engine for Treepie {
    fn put(&mut self, key: u64, text: &str) -> Result<()> {
        Ok(self.writer.add(Document::new().with("id", key.to_string()).with("text", text))?)
    }

    fn commit(&mut self) -> Result<()> {
        self.writer.commit()?;
        if self.merging.as_ref().is_none_or(JoinHandle::is_finished) {
            self.take_in()?;
            let job = self.writer.begin_merge()?;
            self.merging = job.map(|job| std::thread::spawn(move || job.run(&CancelToken::new())));
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        self.take_in()?;
        Ok(self.writer.maintain().map(drop)?)
    }
}

/// The same queries on the index that was updated, merged, and on one that was built of the same documents.
fn compare_with_fresh(dir: &Path, n: u64) -> Result<()> {
    let merged = Index::open(dir)?;
    merged.merge()?;
    let place = dir.join("fresh");
    let fresh = Index::create(&place, schema()?)?;
    let mut writer = fresh.writer()?;
    for nth in 0..n {
        writer.add(
            Document::new().with("id", shuffled(nth, n).to_string()).with("text", text(nth + n)),
        )?;
    }
    writer.commit()?;
    let searchers = [merged.searcher()?, fresh.searcher()?];
    let mut times: HashMap<(bool, usize), Vec<f64>> = HashMap::new();
    for round in 0..ROUNDS {
        for (which, searcher) in searchers.iter().enumerate() {
            for is_count in [true, false] {
                let (time, _) = measure::time(|| ask(searcher, is_count))?;
                if round > 0 {
                    times.entry((is_count, which)).or_default().push(time / QUERIES as f64);
                }
            }
        }
    }
    for (is_count, what) in [(true, "COUNT"), (false, "TOP_10")] {
        let mut median = |which| measure::median(times.entry((is_count, which)).or_default());
        let [merged, fresh] = [median(0), median(1)];
        println!(
            "         {what} afterwards, merged: {merged:.1} us; built anew: {fresh:.1} us; ratio {:.2}",
            merged / fresh
        );
    }
    Ok(())
}

fn ask(searcher: &Searcher, is_count: bool) -> Result<u64> {
    let mut sum = 0;
    for nth in 0..QUERIES {
        let query = searcher.parse(&format!("w{} OR w{}", nth + 1, nth * 7 + 3))?;
        sum += match is_count {
            true => searcher.count(&query)?,
            false => searcher.search(&query).limit(10).run()?.hits.len() as u64,
        };
    }
    Ok(sum)
}
