//! What do the ten most frequent values of a keyword field cost, by how much of the index matches?
//!
//! Ten million documents, one of 300 values each, the frequent ones some thirty times as frequent as
//! the rare; queries that match 0.1, 1, 10 and 100 % of them. Planning and the intersection with
//! the query itself are part of the time. `cargo bench --bench facets`; building the index takes
//! a quarter of a minute.

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use treepie::{Document, Index, Schema, Searcher};

const N_DOCS: u64 = 10_000_000;
const N_VALUES: u64 = 300;

/// Words, and one of how many documents has them.
const WORDS: [(&str, u64); 3] = [("permille", 1_000), ("percent", 100), ("tenth", 10)];

fn searcher() -> Searcher {
    let index = Index::in_memory(Schema::builder().text("text").keyword("value").build().unwrap());
    let mut writer = index.writer().unwrap();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |n: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % n
    };
    for _ in 0..N_DOCS {
        let mut text = String::from("every");
        for (word, modulus) in WORDS {
            if below(modulus) == 0 {
                text = text + " " + word;
            }
        }
        let document = Document::new().with("text", text);
        // The smaller of two numbers is small more often.
        let value = below(N_VALUES).min(below(N_VALUES));
        writer.add(document.with("value", format!("value {value:03}"))).unwrap();
    }
    writer.commit().unwrap();
    index.searcher().unwrap()
}

fn facets(criterion: &mut Criterion) {
    let searcher = searcher();
    let mut group = criterion.benchmark_group("facets, 300 values, 10 M documents");
    group.sample_size(10);
    for (name, query) in
        [("0.1 %", "permille"), ("1 %", "percent"), ("10 %", "tenth"), ("100 %", "every")]
    {
        let query = searcher.parse(query).unwrap();
        let counts = searcher.facets(&query, "value", 10).unwrap();
        assert_eq!(counts.buckets.len(), 10);
        group.bench_function(name, |bencher| {
            bencher.iter(|| searcher.facets(black_box(&query), "value", 10).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, facets);
criterion_main!(benches);
