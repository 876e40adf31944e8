//! What does it cost to look at a plan: to make one, and to watch one at work?
//!
//! `cargo bench --bench explain`
//!
//! With an index and queries of your own, one a line or as `{"query": …}`, it first prints what clocks cost over all of them:
//!
//! `TREEPIE_BENCH_INDEX=articles.tp TREEPIE_BENCH_QUERIES=queries.jsonl cargo bench --bench explain`
//!
//! A search that is prepared is planned and has a little memory set aside, so what `explain` takes beyond it is the cost of
//! the tree, and what a sample takes beyond headers that of better estimates. What `analyze` takes beyond a count is the
//! cost of clocks and of the tree together, once for a query.

mod common;

use criterion::{Criterion, criterion_group};
use std::hint::black_box;
use std::time::{Duration, Instant};
use std::{env, fs};
use treepie::explain::EstimateFrom;
use treepie::inspect::Inspector;
use treepie::query::Query;
use treepie::search::TotalMode;
use treepie::writer::{BadLines, LineFormat};
use treepie::{Index, SearchBuilder, Searcher};

const TITLES: u64 = 500_000;

fn index() -> Index {
    let index = Index::in_memory(LineFormat::titles().schema().unwrap());
    let mut writer = index.writer().expect("a writer");
    let titles = common::titles(TITLES);
    writer
        .add_lines(&titles[..], &LineFormat::titles(), BadLines::Refuse)
        .expect("generated titles are good");
    writer.commit().expect("in memory");
    drop(writer);
    index
}

/// The words that most titles have, the most frequent first.
fn frequent_words(inspector: &Inspector) -> Vec<String> {
    let mut words = vec![];
    let of_dictionary = inspector.for_each_term("title", "", |term, documents| {
        words.push((documents, term.to_text().into_owned()));
        Ok(true)
    });
    of_dictionary.expect("the dictionary is sound");
    words.sort_by_key(|&(documents, _)| std::cmp::Reverse(documents));
    words.into_iter().map(|(_, word)| word).collect()
}

fn explain(c: &mut Criterion) {
    let index = index();
    let words = frequent_words(&index.inspect().expect("a snapshot"));
    let searcher = index.searcher().expect("a snapshot");
    let parse = |text: String| -> Query { searcher.parse(&text).expect("words") };
    let three = parse(format!("{} AND {} AND {}", words[0], words[1], words[2]));
    let never = parse(format!("{} AND {} AND nowhereatall", words[0], words[1]));
    let any = parse(format!("{} OR {} OR {}", words[0], words[1], words[2]));

    let mut group = c.benchmark_group("plan of three words");
    group.bench_function("planned only", |b| {
        b.iter(|| {
            black_box(searcher.search(black_box(&three)).count_only().prepare().expect("sound"))
        });
    });
    group.bench_function("counted, one word in no title", |b| {
        b.iter(|| black_box(searcher.count(black_box(&never)).expect("sound")));
    });
    group.bench_function("explained, one word in no title", |b| {
        b.iter(|| black_box(searcher.search(&never).count_only().explain().expect("sound")));
    });
    for (name, from) in [
        ("explained from the dictionary", EstimateFrom::Dictionary),
        ("explained from headers", EstimateFrom::Headers),
        ("explained with a sample", EstimateFrom::Samples),
    ] {
        group.bench_function(name, |b| {
            let search = || searcher.search(&three).count_only().explainer().estimate_from(from);
            b.iter(|| black_box(search().explain().expect("sound")));
        });
    }
    group.finish();

    for (name, query) in [("all of three words", &three), ("any of three words", &any)] {
        let mut group = c.benchmark_group(name);
        group.bench_function("counted", |b| {
            b.iter(|| black_box(searcher.count(black_box(query)).expect("sound")));
        });
        group.bench_function("counted and analyzed", |b| {
            b.iter(|| black_box(searcher.search(query).count_only().analyze().expect("sound")));
        });
        group.finish();
    }
}

/// How often each query is answered in each way, in turn.
const PASSES: usize = 15;

/// What one way of asking for a query takes, with clocks and without: the least of several turns.
#[derive(Clone, Copy)]
struct Costs {
    plain: Duration,
    timed: Duration,
}

/// Prints what clocks cost over all queries of a file, if one is given.
fn clocks() {
    let file = |name: &str| env::var_os(name).map(std::path::PathBuf::from);
    let (Some(index), Some(queries)) = (file("TREEPIE_BENCH_INDEX"), file("TREEPIE_BENCH_QUERIES"))
    else {
        return;
    };
    let index = Index::open(index).expect("an index");
    let searcher = index.searcher().expect("a snapshot");
    let text = fs::read_to_string(queries).expect("a file of queries");
    let parsed = |line: &str| {
        let of_json = serde_json::from_str::<serde_json::Value>(line).ok();
        let text = of_json.as_ref().and_then(|value| value["query"].as_str()).unwrap_or(line);
        searcher.parse(text).expect("a query")
    };
    let queries: Vec<_> = text.lines().map(parsed).collect();
    type Ask = for<'s> fn(&'s Searcher, &'s Query) -> SearchBuilder<'s>;
    let ways: [(&str, Ask); 3] = [
        ("count", |searcher, query| searcher.search(query).count_only()),
        ("ten best", |searcher, query| searcher.search(query).limit(10).total(TotalMode::Unknown)),
        ("ten best, count", |searcher, query| {
            searcher.search(query).limit(10).total(TotalMode::Exact)
        }),
    ];
    println!(
        "{:<18}{:>9}{:>12}{:>12}{:>8}{:>16}{:>9}",
        "clocks", "queries", "without", "with", "", "median query", "p95"
    );
    for (name, ask) in ways {
        let none = Costs { plain: Duration::MAX, timed: Duration::MAX };
        let mut costs = vec![none; queries.len()];
        for pass in 0..PASSES {
            for (query, costs) in queries.iter().zip(&mut costs) {
                let search = || ask(&searcher, query).fields::<&str>([]);
                let plain = || {
                    let started = Instant::now();
                    black_box(search().run().expect("sound"));
                    started.elapsed()
                };
                // Estimates take no postings, and sampling is none of the time of a search.
                let timed = || {
                    let tree =
                        search().explainer().estimate_from(EstimateFrom::Dictionary).analyze();
                    Duration::from_nanos(tree.expect("sound").total_ns.expect("it ran"))
                };
                // What it reads is in the caches for both, and neither always comes first.
                plain();
                let (plain, timed) = match pass % 2 {
                    0 => (plain(), timed()),
                    _ => {
                        let timed = timed();
                        (plain(), timed)
                    }
                };
                costs.plain = costs.plain.min(plain);
                costs.timed = costs.timed.min(timed);
            }
        }
        let sum = |of: fn(&Costs) -> Duration| costs.iter().map(of).sum::<Duration>();
        let (plain, timed) = (sum(|costs| costs.plain), sum(|costs| costs.timed));
        let mut ratios: Vec<_> =
            costs.iter().map(|of| of.timed.as_secs_f64() / of.plain.as_secs_f64()).collect();
        ratios.sort_by(f64::total_cmp);
        println!(
            "{name:<18}{:>9}{:>12.1?}{:>12.1?}{:>8.3}{:>16.3}{:>9.3}",
            queries.len(),
            plain,
            timed,
            timed.as_secs_f64() / plain.as_secs_f64(),
            ratios[ratios.len() / 2],
            ratios[ratios.len() * 95 / 100]
        );
    }
}

criterion_group!(benches, explain);

fn main() {
    clocks();
    benches();
    Criterion::default().configure_from_args().final_summary();
}
