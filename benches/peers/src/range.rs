//! A range over as many different values as there are documents, with an exact total: what it takes, and of memory what a fresh
//! process has after it that it had not before.

use std::{fs, path::Path, process::Command};

use tantivy::{
    ReloadPolicy, TantivyDocument, Term,
    collector::Count,
    query::RangeQuery,
    schema::{FAST, SchemaBuilder},
};
use treepie::{Document, Field, FieldKind, Index, WriterOptions, query::Query};

use crate::{
    Result,
    build::{create_tantivy, merge_all},
    measure,
};

const ROUNDS: usize = 5;
/// Of all values, where the range begins and ends, in hundredths.
const RANGES: [(u64, u64); 3] = [(0, 100), (10, 90), (50, 51)];

pub(crate) fn compare(dir: &str, documents: &str) -> Result<()> {
    let n: u64 = documents.parse()?;
    println!(
        "{n} documents, each with its own value; median of {ROUNDS} counts, KiB in a fresh process"
    );
    println!(
        "{:<10}{:>12}{:>13}{:>13}{:>13}{:>13}{:>13}",
        "", "range", "total", "first µs", "median µs", "anonymous", "peak"
    );
    for engine in ["tantivy", "treepie"] {
        let at = Path::new(dir).join(format!("values-{engine}-{n}"));
        if !at.exists() {
            fs::create_dir_all(dir)?;
            let build = if engine == "tantivy" { build_tantivy } else { build_treepie };
            let (time, ()) = measure::time(|| build(n, &at))?;
            eprintln!(
                "{}: {:.1} s, {} MiB",
                at.display(),
                time / 1e6,
                measure::size_of(&at)? >> 20
            );
        }
        for (from, to) in RANGES {
            let [lower, upper] = [from, to].map(|hundredth| n * hundredth / 100);
            let output = Command::new(std::env::current_exe()?)
                .args(["range-one", engine])
                .arg(&at)
                .args([lower.to_string(), upper.to_string()])
                .stderr(std::process::Stdio::inherit())
                .output()?;
            let printed = String::from_utf8(output.stdout)?;
            let figures: Vec<&str> = printed.split_whitespace().collect();
            let [total, first, median, anonymous, peak] = figures[..] else {
                return Err(format!("{engine} printed {printed:?}").into());
            };
            if total.parse() != Ok(upper - lower) {
                return Err(format!("{engine} counted {total}, not {}", upper - lower).into());
            }
            let range = format!("{from}-{to} %");
            println!(
                "{engine:<10}{range:>12}{total:>13}{first:>13}{median:>13}{anonymous:>13}{peak:>13}"
            );
        }
    }
    Ok(())
}

/// Prints the total, microseconds of the first and of the median count, and KiB.
pub(crate) fn one(engine: &str, dir: &str, lower: &str, upper: &str) -> Result<()> {
    let (dir, lower, upper) = (Path::new(dir), lower.parse()?, upper.parse()?);
    match engine {
        "tantivy" => with_tantivy(dir, lower, upper),
        "treepie" => with_treepie(dir, lower, upper),
        _ => Err(format!("no engine {engine}").into()),
    }
}

fn print(count: impl Fn() -> Result<u64>) -> Result<()> {
    let before = measure::anonymous_kib()?;
    let (first, total) = measure::time(&count)?;
    let mut times = vec![];
    for _ in 0..ROUNDS {
        times.push(measure::time(&count)?.0);
    }
    let median = measure::median(&mut times);
    let after = measure::anonymous_kib()?.saturating_sub(before);
    println!("{total} {first:.0} {median:.0} {after} {}", measure::peak_kib()?);
    Ok(())
}

/// Every number below `n` once, in no order: a bijection on the next power of two, without what lies above.
fn shuffled(n: u64) -> impl Iterator<Item = u64> {
    let bits = n.next_power_of_two().trailing_zeros().max(2);
    let mask = (1 << bits) - 1;
    let mix = move |x: u64| {
        let x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15 | 1) & mask;
        let x = x ^ (x >> (bits / 2));
        x.wrapping_mul(0xBF58_476D_1CE4_E5B9 | 1) & mask
    };
    (0..=mask).map(mix).filter(move |value| *value < n)
}

fn build_tantivy(n: u64, dir: &Path) -> Result<()> {
    let mut schema = SchemaBuilder::new();
    let value = schema.add_u64_field("value", FAST);
    let index = create_tantivy(dir, schema.build())?;
    let mut writer = index.writer_with_num_threads(2, 512 << 20)?;
    for number in shuffled(n) {
        let mut document = TantivyDocument::new();
        document.add_u64(value, number);
        writer.add_document(document)?;
    }
    writer.commit()?;
    merge_all(&index, writer)
}

fn build_treepie(n: u64, dir: &Path) -> Result<()> {
    let value = Field::new("value", FieldKind::U64).stored(false);
    let index = Index::create(dir, treepie::Schema::builder().field(value).build()?)?;
    let mut writer = index.writer_with(WriterOptions::new().memory_bytes(512 << 20))?;
    for number in shuffled(n) {
        writer.add(Document::new().with("value", number))?;
    }
    writer.commit()?;
    Ok(())
}

fn with_tantivy(dir: &Path, lower: u64, upper: u64) -> Result<()> {
    let index = tantivy::Index::open_in_dir(dir)?;
    let value = index.schema().get_field("value")?;
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let searcher = reader.searcher();
    let query = RangeQuery::new(
        std::ops::Bound::Included(Term::from_field_u64(value, lower)),
        std::ops::Bound::Excluded(Term::from_field_u64(value, upper)),
    );
    print(|| Ok(searcher.search(&query, &Count)? as u64))
}

fn with_treepie(dir: &Path, lower: u64, upper: u64) -> Result<()> {
    let searcher = Index::open(dir)?.searcher()?;
    let query = Query::range(lower..upper).in_field("value");
    print(|| Ok(searcher.count(&query)?))
}
