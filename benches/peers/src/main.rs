//! treepie side by side with other engines, on the same input, in the same run.
//!
//! See README.md for what is compared and how to run it.

mod build;
mod count;
mod facets;
mod live;
mod measure;
mod open;
mod range;
mod ranked;
mod slices;

use std::{env, process::ExitCode};

/// Whatever went wrong; a benchmark has nobody to tell but its user.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "usage:
  treepie-peers build TITLES DIR [THREADS] [MIB]     sort, tantivy and treepie index the same titles
  treepie-peers open DIR [WORD]                      fresh processes: open what `build` left in DIR, count WORD
  treepie-peers count ARTICLES QUERIES DIR [ROUNDS]  COUNT of AND and OR, with CRoaring as the floor
  treepie-peers facets DIR [DOCUMENTS]               counts by value, range and month, and hits in order
  treepie-peers range DIR [DOCUMENTS]                a range over as many different values, its exact total and memory
  treepie-peers slices DIR [DOCUMENTS]               ranges, sums and medians, with bit slices over CRoaring as the floor
  treepie-peers live DIR [DOCUMENTS [COMMITS]]       commits of one and of a hundred documents, updates by key
  treepie-peers ranked DIR [OPTION VALUE]...         COUNT, TOP_10, TOP_100, TOP_1000, TOP_10_COUNT by class and corpus; options:
        --articles FILE  --titles FILE  --queries FILE  --corpora articles,titles,lines  --classes NAMES  --lines N
        --passes N  --limit N
  treepie-peers ranked-prepare DIR [OPTION VALUE]... only the corpora and questions of it, for lucene/run.sh
  treepie-peers worn DIR [OPTION VALUE]...           what deleted documents and many segments cost treepie; the same options";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match *arguments.as_slice() {
        ["build", titles, dir] => build::compare(titles, dir, "2", "256"),
        ["build", titles, dir, threads] => build::compare(titles, dir, threads, "256"),
        ["build", titles, dir, threads, mib] => build::compare(titles, dir, threads, mib),
        ["build-one", engine, titles, dir, threads, mib] => {
            build::one(engine, titles, dir, threads, mib)
        }
        ["open", dir] => open::compare(dir, "london"),
        ["open", dir, word] => open::compare(dir, word),
        ["open-one", engine, dir, word] => open::one(engine, dir, word),
        ["count", articles, queries, dir] => count::compare(articles, queries, dir, "11"),
        ["count", articles, queries, dir, rounds] => count::compare(articles, queries, dir, rounds),
        ["facets", dir] => facets::compare(dir, "10000000"),
        ["facets", dir, documents] => facets::compare(dir, documents),
        ["range", dir] => range::compare(dir, "100000000"),
        ["range", dir, documents] => range::compare(dir, documents),
        ["range-one", engine, dir, lower, upper] => range::one(engine, dir, lower, upper),
        ["slices", dir] => slices::compare(dir, "10000000"),
        ["slices", dir, documents] => slices::compare(dir, documents),
        ["live", dir] => live::compare(dir, "1000000", "10000"),
        ["live", dir, documents] => live::compare(dir, documents, "10000"),
        ["live", dir, documents, commits] => live::compare(dir, documents, commits),
        ["live-one", engine, what, n, dir] => live::one(engine, what, n, dir),
        ["ranked", dir, ref options @ ..] => ranked::compare(dir, options),
        ["worn", dir, ref options @ ..] => ranked::compare_worn(dir, options),
        ["ranked-prepare", dir, ref options @ ..] => ranked::prepare(dir, options),
        ["ranked-build", engine, corpus, lines, dir] => {
            ranked::build_one(engine, corpus, lines, dir)
        }
        ["ranked-open", engine, dir, command, text] => ranked::open_one(engine, dir, command, text),
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
