//! What does it cost to look at a plan: to make one, and to watch one at work?
//!
//! `cargo bench --bench explain`
//!
//! A count that the bounds answer alone (one of its words is in no document) is planning and nothing else, so what
//! `explain` takes beyond it is the cost of the tree, and what a sample takes beyond headers that of better estimates. What `analyze` takes beyond a count is the cost of clocks and of the
//! tree together, once for a query.

mod common;

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use treepie::inspect::Inspector;
use treepie::query::Query;
use treepie::{BadLines, EstimateFrom, Index, LineFormat, Schema};

const TITLES: u64 = 500_000;

fn index() -> Index {
    let index = Index::in_memory(Schema::wikipedia_titles());
    let mut writer = index.writer().expect("a writer");
    let titles = common::titles(TITLES);
    writer
        .add_lines(&titles[..], &LineFormat::wikipedia_titles(), BadLines::Refuse)
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
            let search = || searcher.search(&three).count_only().estimate_from(from);
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

criterion_group!(benches, explain);
criterion_main!(benches);
