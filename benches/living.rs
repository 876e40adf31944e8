//! What do readers notice of a living index?
//!
//! Of deletes: the same queries on an index and on one of which 30 % of the documents are deleted, in turns, and a count
//! that a document frequency alone would answer beside one cardinality of "these and not those" on bitmaps in memory.
//!
//! Of a writer: how long the queries of one and of two readers take while it adds, commits and merges without a pause,
//! pinned to the last processor, and while nothing happens. The second reader shares that processor with it where there are
//! two.
//!
//! `cargo bench --bench living`, in `TMPDIR` or the directory that `TREEPIE_BENCH_DIR` names; a million documents.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use treepie::bitmap::RoaringBuf;
use treepie::{Document, Index, Schema, Searcher, WriterOptions};

/// Different words; the first ones are in more documents.
const WORDS: u32 = 20_000;
const WORDS_A_DOCUMENT: usize = 12;
/// Documents are of so many lots by chance, of which these are deleted.
const LOTS: u32 = 10;
const LOTS_DELETED: u32 = 3;
const ROUNDS: usize = 15;
const DOCUMENTS_A_COMMIT: u64 = 1_000;

const QUERIES: [&str; 10] = [
    "w3",
    "w150",
    "w9000",
    "+w3 +w40",
    "+w20 +w150 +w900",
    "w3 w40",
    "w20 w150 w900",
    "+w3 -w5",
    "\"w3 w5\"",
    "w12*",
];

fn main() {
    // `cargo test` runs benches to see that they work.
    let is_test = std::env::args().any(|argument| argument == "--test");
    let documents = if is_test { 2_000 } else { 1_000_000 };
    let parent =
        std::env::var_os("TREEPIE_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let place = parent.join(format!("treepie-bench-living-{}", std::process::id()));
    fs::create_dir_all(&place).expect("a directory to write to");
    let [whole, worn] = ["whole", "worn"].map(|name| place.join(name));
    build(&whole, documents).expect("an index is built");
    build(&worn, documents).expect("an index is built");
    deletes(&whole, &worn, documents).expect("queries work");
    let duration = if is_test { Duration::from_millis(50) } else { Duration::from_secs(8) };
    beside_a_writer(&whole, documents, duration).expect("reading and writing work");
    fs::remove_dir_all(&place).expect("the directory goes");
}

struct Random(u64);

impl Random {
    /// What belongs to a document is always the same.
    fn of(doc: u64) -> Self {
        Random(doc.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A document's lot and its words.
fn content(doc: u64) -> (u32, [u32; WORDS_A_DOCUMENT]) {
    let mut random = Random::of(doc);
    random.next();
    let lot = (random.next() * f64::from(LOTS)) as u32;
    // Evenly by the logarithm, which is Zipf's law.
    (lot, [(); WORDS_A_DOCUMENT].map(|()| f64::from(WORDS).powf(random.next()) as u32))
}

fn document(doc: u64) -> Document {
    let (lot, words) = content(doc);
    let words = words.map(|word| format!("w{word}")).join(" ");
    Document::new().with("text", words).with("lot", lot.to_string())
}

fn build(path: &Path, documents: u64) -> treepie::Result<()> {
    let schema = Schema::builder().text("text").keyword("lot").build()?;
    let mut writer = Index::create(path, schema)?.writer()?;
    (0..documents).try_for_each(|doc| writer.add(document(doc)))?;
    writer.commit()?;
    Ok(())
}

/// The seconds that something takes: the least of some tries, each of so many runs that a clock can tell.
fn seconds(mut work: impl FnMut()) -> f64 {
    work();
    let started = Instant::now();
    work();
    let runs = (2e-3 / started.elapsed().as_secs_f64().max(1e-9)).clamp(1.0, 10_000.0) as u32;
    let tries = (0..ROUNDS).map(|_| {
        let started = Instant::now();
        (0..runs).for_each(|_| work());
        started.elapsed().as_secs_f64() / f64::from(runs)
    });
    tries.fold(f64::MAX, f64::min)
}

fn deletes(whole: &Path, worn: &Path, documents: u64) -> treepie::Result<()> {
    let mut writer = Index::open(worn)?.writer()?;
    (0..LOTS_DELETED).try_for_each(|lot| writer.delete_value("lot", lot.to_string()))?;
    let deleted = writer.commit()?.deleted;
    let searchers = [Index::open(whole)?.searcher()?, Index::open(worn)?.searcher()?];
    println!("{deleted} of {documents} documents deleted; microseconds, whole and worn");
    println!("{:18} {:>9} {:>9} {:>6} {:>10} {:>9} {:>6}", "", "count", "", "", "top 10", "", "");
    let mut ratios = vec![];
    for text in QUERIES {
        let query = searchers[0].parse(text)?;
        let count = |searcher: &Searcher| {
            black_box(searcher.count(&query).expect("queries work"));
        };
        let best = |searcher: &Searcher| {
            black_box(searcher.search(&query).limit(10).run().expect("queries work"));
        };
        let times = [&count as &dyn Fn(&Searcher), &best].map(|ask| {
            // In turns, so that both meet the same machine.
            let turns =
                (0..3).map(|_| searchers.each_ref().map(|searcher| seconds(|| ask(searcher))));
            turns.fold([f64::MAX; 2], |least, turn| [0, 1].map(|at| least[at].min(turn[at])))
        });
        print!("{text:18}");
        for [whole, worn] in times {
            print!(" {:9.2} {:9.2} {:6.2}", whole * 1e6, worn * 1e6, worn / whole);
        }
        println!();
        ratios.push(times.map(|[whole, worn]| worn / whole));
    }
    for (at, what) in ["count", "top 10"].into_iter().enumerate() {
        let of = ratios.iter().map(|ratios| ratios[at]);
        let mean = (of.clone().map(f64::ln).sum::<f64>() / QUERIES.len() as f64).exp();
        println!("{what}: geometric mean {mean:.2}, worst {:.2}", of.fold(0.0, f64::max));
    }
    let lot_of = |doc: &u32| content(u64::from(*doc)).0;
    let deleted = (0..documents as u32).filter(|doc| lot_of(doc) < LOTS_DELETED);
    let deleted = RoaringBuf::from_sorted(deleted);
    for word in [3, 150, 9_000] {
        let has_it = |doc: &u32| content(u64::from(*doc)).1.contains(&word);
        let docs = RoaringBuf::from_sorted((0..documents as u32).filter(has_it));
        let query = searchers[1].parse(&format!("w{word}"))?;
        let floor = || docs.view().and_not_count(&deleted.view());
        assert_eq!(searchers[1].count(&query)?, floor());
        let count = seconds(|| {
            black_box(searchers[1].count(&query).expect("queries work"));
        });
        let floor = seconds(|| {
            black_box(floor());
        });
        println!(
            "w{word}, in {} documents: counted {:.2} us, bitmaps alone {:.2} us: {:.2} times",
            docs.view().len(),
            count * 1e6,
            floor * 1e6,
            count / floor
        );
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn pin(core: usize) {
    let mut cores = rustix::thread::CpuSet::new();
    cores.set(core);
    // Where that is not allowed it runs where it likes.
    let _ = rustix::thread::sched_setaffinity(None, &cores);
}

#[cfg(not(target_os = "linux"))]
fn pin(_: usize) {}

fn beside_a_writer(path: &Path, documents: u64, duration: Duration) -> treepie::Result<()> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let index = Index::open(path)?;
    println!(
        "{:42} {:>9} {:>10} {:>10} {:>10}",
        "queries beside a writer", "queries", "p50", "p99", "most"
    );
    for readers in [1, 2] {
        for writes in [false, true] {
            let (is_over, added) = (AtomicBool::new(false), AtomicU64::new(0));
            let reader = index.reader()?;
            let mut times = thread::scope(|scope| -> treepie::Result<Vec<Duration>> {
                if writes {
                    let mut writer = index.writer_with(WriterOptions::new().threads(1))?;
                    let (is_over, added) = (&is_over, &added);
                    scope.spawn(move || {
                        pin(cores - 1);
                        while !is_over.load(Relaxed) {
                            for _ in 0..DOCUMENTS_A_COMMIT {
                                let doc = documents + added.fetch_add(1, Relaxed);
                                writer.add(document(doc)).expect("documents are added");
                            }
                            writer.commit().expect("commits work");
                            writer.maintain().expect("merges work");
                        }
                    });
                }
                let reading: Vec<_> = (0..readers)
                    .map(|nth| {
                        let reader = &reader;
                        scope.spawn(move || {
                            pin(nth % cores);
                            read(reader, duration)
                        })
                    })
                    .collect();
                let times = reading.into_iter().map(|thread| thread.join().expect("readers work"));
                let times = times.collect::<treepie::Result<Vec<_>>>();
                is_over.store(true, Relaxed);
                Ok(times?.concat())
            })?;
            times.sort_unstable();
            let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
            let what = if writes {
                let rate = added.load(Relaxed) as f64 / duration.as_secs_f64();
                format!("{readers} reading, {rate:.0} documents a second")
            } else {
                format!("{readers} reading, idle")
            };
            println!(
                "{what:42} {:>9} {:>10.1?} {:>10.1?} {:>10.1?}",
                times.len(),
                at(0.5),
                at(0.99),
                at(1.0)
            );
        }
    }
    Ok(())
}

/// Asks all queries again and again; how long each took.
fn read(reader: &treepie::IndexReader, duration: Duration) -> treepie::Result<Vec<Duration>> {
    let (started, mut times) = (Instant::now(), vec![]);
    while started.elapsed() < duration {
        for text in QUERIES {
            let started = Instant::now();
            let searcher = reader.searcher();
            black_box(searcher.search(&searcher.parse(text)?).limit(10).run()?);
            times.push(started.elapsed());
        }
    }
    Ok(times)
}
