//! What does a term cost: to build, to keep, to look up, to walk over?
//!
//! The vocabulary is that of the Wikipedia titles beside the repository where they are there, else
//! a made one. The dictionary is internal to the library, so the bench compiles the same source.
//!
//! `cargo bench --bench term_lookup`

#![expect(
    dead_code,
    unreachable_pub,
    reason = "modules of the library of which the bench needs a part"
)]
#![cfg_attr(
    test,
    expect(unused_imports, reason = "the tests of these modules run with the library")
)]

#[path = "../src/budget/mod.rs"]
mod budget;
#[path = "../src/bytes.rs"]
mod bytes;
#[path = "../src/checksum.rs"]
mod checksum;
#[path = "../src/error.rs"]
mod error;
#[path = "../src/format"]
mod format {
    pub(crate) mod cumulative;
    #[cfg(test)]
    mod doc_check;
    pub(crate) mod occurrences;
    pub(crate) mod terms;
}
#[path = "../src/ids.rs"]
mod ids;
#[path = "../src/limits.rs"]
mod limits;
#[path = "../src/plural.rs"]
mod plural;
#[path = "../src/schema/mod.rs"]
mod schema;
#[cfg(test)]
#[path = "../src/test_sizes.rs"]
mod test_sizes;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use format::terms::{INLINE_DOCS_MAX, NewTerm, TermDictionary, TermDictionaryWriter};
use fst::Automaton;
use schema::Detail;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;

/// Terms with their documents, and a sample of tokens as they come in the text.
struct Vocabulary {
    name: &'static str,
    n_docs: u32,
    terms: BTreeMap<String, Vec<u32>>,
    tokens: Vec<String>,
}

impl Vocabulary {
    fn of_lines<'a>(name: &'static str, lines: impl Iterator<Item = &'a str>) -> Vocabulary {
        let mut vocabulary = Vocabulary { name, n_docs: 0, terms: BTreeMap::new(), tokens: vec![] };
        for line in lines {
            let doc = vocabulary.n_docs;
            vocabulary.n_docs += 1;
            for token in line.split(|c: char| !c.is_alphanumeric()).filter(|t| !t.is_empty()) {
                let token = token.to_lowercase();
                if doc.is_multiple_of(13) {
                    vocabulary.tokens.push(token.clone());
                }
                let docs = vocabulary.terms.entry(token).or_default();
                if docs.last() != Some(&doc) {
                    docs.push(doc);
                }
            }
        }
        vocabulary
    }

    /// The real titles, if they lie where the project keeps its data.
    fn real() -> Option<Vocabulary> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../shared/data/wikipedia/titles-all.txt.zst");
        let file = std::fs::File::open(path).ok()?;
        let mut text = String::new();
        ruzstd::decoding::StreamingDecoder::new(file).ok()?.read_to_string(&mut text).ok()?;
        Some(Vocabulary::of_lines("Wikipedia titles", text.lines()))
    }

    /// Words of syllables, the frequent ones short.
    fn made() -> Vocabulary {
        let mut random = 1u64;
        let mut below = |n: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % n
        };
        let syllables = ["ka", "lo", "mi", "ber", "sta", "ü", "ной", "京", "tion", "er"];
        let mut text = String::new();
        for _ in 0..300_000 {
            for _ in 0..2 {
                let more = below(5);
                for _ in 0..2 + below(2 + more) {
                    text.push_str(syllables[below(10) as usize]);
                }
                text.push(' ');
            }
            text.push('\n');
        }
        Vocabulary::of_lines("made words", text.lines())
    }

    fn build(&self) -> [Vec<u8>; 3] {
        let mut writer = TermDictionaryWriter::new(self.n_docs, Detail::Documents);
        for (term, docs) in &self.terms {
            let new = match docs.len() {
                few if few <= INLINE_DOCS_MAX as usize => {
                    NewTerm::Inline { docs, occurrences: &[] }
                }
                df => NewTerm::Stored { df: df as u32, len: 2 * df as u32, ranked_len: 0 },
            };
            writer.add(term.as_bytes(), new).unwrap();
        }
        let finished = writer.finish();
        [finished.blocks, finished.index, finished.heads]
    }

    /// Every so manyth term, in an order that no cache foresees.
    fn shuffled(&self) -> Vec<&str> {
        let mut terms: Vec<_> = self.terms.keys().map(String::as_str).collect();
        let mut random = 1u64;
        for at in (1..terms.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            terms.swap(at, (random >> 33) as usize % (at + 1));
        }
        terms.truncate(200_000);
        terms
    }
}

fn print_sizes(vocabulary: &Vocabulary, dictionary: &TermDictionary<&[u8]>) {
    let n_terms = vocabulary.terms.len() as f64;
    let bytes = dictionary.bytes();
    println!("{}: {} terms of {} documents", vocabulary.name, n_terms, vocabulary.n_docs);
    let parts = [
        ("keys", bytes.keys),
        ("infos", bytes.infos),
        ("block headers", bytes.block_headers),
        ("index", bytes.index),
        ("heads", bytes.heads),
    ];
    for (part, len) in parts {
        println!("  {part:14} {:6.2} bytes a term", len as f64 / n_terms);
    }
    let sum: u64 = parts.iter().map(|(_, len)| len).sum();
    println!("  {:14} {:6.2} bytes a term", "together", sum as f64 / n_terms);
}

fn term_lookup(criterion: &mut Criterion) {
    let vocabulary = Vocabulary::real().unwrap_or_else(Vocabulary::made);
    let [blocks, index, heads] = vocabulary.build();
    let dictionary = TermDictionary::open(&blocks[..], &index[..], &heads[..]).unwrap();
    print_sizes(&vocabulary, &dictionary);

    let mut group = criterion.benchmark_group("term_lookup");
    let uniform = vocabulary.shuffled();
    let misses: Vec<_> = uniform.iter().map(|term| format!("{term}q")).collect();
    let misses: Vec<_> = misses.iter().map(String::as_str).collect();
    let tokens: Vec<_> = vocabulary.tokens.iter().take(200_000).map(String::as_str).collect();
    for (name, terms) in [("hit", &uniform), ("hit as in text", &tokens), ("miss", &misses)] {
        group.throughput(Throughput::Elements(terms.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for term in terms {
                    black_box(dictionary.get(term.as_bytes()).unwrap());
                }
            });
        });
    }

    group.throughput(Throughput::Elements(uniform.len() as u64));
    group.bench_function("seek by the FST over heads", |bencher| {
        bencher.iter(|| {
            for term in &uniform {
                black_box(dictionary.rank(term.as_bytes()).unwrap());
            }
        });
    });

    group.throughput(Throughput::Elements(vocabulary.terms.len() as u64));
    group.bench_function("enumerate", |bencher| {
        bencher.iter(|| {
            let mut stream = dictionary.iter();
            while let Some(term) = stream.next().unwrap() {
                black_box(term);
            }
        });
    });
    group.bench_function("enumerate backwards", |bencher| {
        bencher.iter(|| {
            let mut stream = dictionary.iter();
            while let Some(term) = stream.next_back().unwrap() {
                black_box(term);
            }
        });
    });
    group.bench_function("build", |bencher| {
        bencher.iter_batched(|| (), |()| vocabulary.build(), BatchSize::PerIteration);
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function("prefix ger", |bencher| {
        bencher.iter(|| {
            let mut stream = dictionary.prefix(b"ger").unwrap();
            while let Some(term) = stream.next().unwrap() {
                black_box(term);
            }
        });
    });
    group.bench_function("automaton ger.*", |bencher| {
        bencher.iter(|| {
            let automaton = fst::automaton::Str::new("ger").starts_with();
            let mut search = dictionary.search(automaton);
            while let Some(term) = search.next().unwrap() {
                black_box(term);
            }
        });
    });
    group.bench_function("automaton g.*e.*y.*", |bencher| {
        bencher.iter(|| {
            let mut search = dictionary.search(fst::automaton::Subsequence::new("geyology"));
            while let Some(term) = search.next().unwrap() {
                black_box(term);
            }
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .measurement_time(std::time::Duration::from_secs(2));
    targets = term_lookup
}
criterion_main!(benches);
