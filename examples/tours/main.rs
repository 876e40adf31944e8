//! Two tours: what a shop asks of its order lines, and a museum of its works.
//!
//! ```text
//! cargo run --release --example tours                                  # both, of records made up here
//! cargo run --release --example tours -- shop online-retail.jsonl      # of a file, one JSON object a line
//! cargo run --release --example tours -- museum artworks.jsonl plans   # with the plan behind each answer
//! ```

mod museum;
mod shop;

use std::fs::File;
use std::io::{BufRead, BufReader};
use treepie::facet::{Bucket, FacetCounts, FacetKind};
use treepie::{Document, Index, Schema, SearchBuilder, Searcher, Value};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Records to ask of, and questions.
struct Tour {
    schema: Schema,
    /// What of a record goes into the index, and under which names.
    document: fn(&serde_json::Value) -> Document,
    /// Record `n` of those that are made up.
    made_up: fn(u64) -> serde_json::Value,
    /// Fields of a hit that are shown.
    shown: &'static [&'static str],
    questions: &'static [Question],
}

struct Question {
    text: &'static str,
    query: &'static str,
    ask: for<'s> fn(SearchBuilder<'s>) -> SearchBuilder<'s>,
}

const MADE_UP: u64 = 50_000;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (plans, args): (Vec<_>, Vec<_>) = args.iter().partition(|arg| *arg == "plans");
    let tours = match args.first().map(|name| name.as_str()) {
        None => vec![shop::tour()?, museum::tour()?],
        Some("shop") => vec![shop::tour()?],
        Some("museum") => vec![museum::tour()?],
        Some(other) => return Err(format!("expected shop or museum, found '{other}'").into()),
    };
    for tour in tours {
        let searcher = tour.index(args.get(1).map(|path| path.as_str()))?;
        for (nth, question) in tour.questions.iter().enumerate() {
            println!("{}. {}\n   {}", nth + 1, question.text, question.query);
            tour.answer(&searcher, question, !plans.is_empty())?;
        }
    }
    Ok(())
}

impl Tour {
    /// An index in memory, of the records in a file or of others.
    fn index(&self, path: Option<&str>) -> Result<Searcher> {
        let index = Index::in_memory(self.schema.clone());
        let mut writer = index.writer()?;
        match path {
            Some(path) => {
                for line in BufReader::new(File::open(path)?).lines() {
                    writer.add((self.document)(&serde_json::from_str(&line?)?))?;
                }
            }
            None => {
                for n in 0..MADE_UP {
                    writer.add((self.document)(&(self.made_up)(n)))?;
                }
            }
        }
        writer.commit()?;
        let searcher = index.searcher()?;
        println!("{} records\n", searcher.n_docs());
        Ok(searcher)
    }

    fn answer(&self, searcher: &Searcher, question: &Question, with_plan: bool) -> Result<()> {
        let query = searcher.parse(question.query)?;
        let search =
            (question.ask)(searcher.search(&query).limit(3).fields(self.shown.iter().copied()));
        let page = search.clone().run()?;
        println!("   {} found", page.total.value);
        for hit in &page.hits {
            let values = self.shown.iter().filter_map(|field| hit.fields.get(*field));
            let values = values.flat_map(|values| values.as_slice());
            let values: Vec<_> = values.map(|value| value.to_string()).collect();
            println!("   - {}", values.join(" | "));
        }
        page.facets.iter().for_each(print_facet);
        if with_plan {
            println!("\n{}", search.analyze()?);
        }
        println!();
        Ok(())
    }
}

fn print_facet(facet: &FacetCounts) {
    println!("   {}:", facet.field);
    for bucket in &facet.buckets {
        let name = match facet.kind {
            FacetKind::Terms => bucket.value.to_string(),
            _ => range(bucket),
        };
        println!("   {:>8}  {name}", bucket.count);
    }
    if let Some(found) = &facet.statistics {
        println!("   from {} to {}, {} in the mean", found.min, found.max, found.mean);
        for (percent, value) in &found.percentiles {
            println!("   {percent} of a hundred are at most {value}");
        }
    }
    if facet.missing > 0 {
        println!("   {:>8}  without one", facet.missing);
    }
}

/// `10..50`, or what begins there where nothing is said of the end.
fn range(bucket: &Bucket) -> String {
    let end = |end: &Option<Value>| end.as_ref().map_or(String::new(), Value::to_string);
    match bucket.value {
        Value::Null => format!("{}..{}", end(&bucket.from), end(&bucket.to)),
        ref value => value.to_string(),
    }
}

/// Numbers by chance, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        // SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ x >> 31) % n.max(1) as u64) as usize
    }

    /// One of some, the first ones more often.
    fn one_of<'t>(&mut self, some: &[&'t str]) -> &'t str {
        let most = 1 + self.below(some.len());
        some[self.below(most)]
    }
}
