//! Hybrid search: words and vectors in one query, and two rankings fused into one page.
//!
//! `cargo run --example hybrid`; `cargo run --example hybrid -- FOLDER` writes to a folder what the tool takes: titles and their
//! vectors, `titles.jsonl` and `titles.fvecs`, a schema, the vector `q.json` of a misspelt title, and queries for `bench`:
//!
//! ```text
//! treepie index titles.tp titles.jsonl --schema titles.toml --vectors letters=titles.fvecs
//! treepie search titles.tp 'history' --knn letters=@q.json:10 --fuse rrf
//! treepie bench titles.tp --knn queries.fvecs --truth exact
//! ```
//!
//! A model would make vectors of what a title means. These, which need none, count its groups of three letters, so that
//! titles are near each other that are spelled alike; all else is the same.

use std::fs;
use std::path::Path;
use treepie::query::{Query, QueryVector};
use treepie::schema::{Metric, VectorParams};
use treepie::search::Fusion;
use treepie::{Document, Index, Schema, Searcher};

const TITLES: &str = include_str!("../corpus/titles.txt");
const DIMS: usize = 128;
const TYPED: &str = "histroy of frnace";

fn main() -> treepie::Result<()> {
    if let Some(folder) = std::env::args().nth(1) {
        let written = write_files(folder.as_ref());
        return written.map_err(|cause| treepie::Error::io("writing files", cause).in_file(folder));
    }
    let vectors = VectorParams::new(DIMS as u16, Metric::Cosine);
    let schema = Schema::builder().text("title").vector("letters", vectors).build()?;
    let index = Index::in_memory(schema);
    let mut writer = index.writer()?;
    for title in titles() {
        let letters = vector_of(&title);
        writer.add(Document::new().with("title", title).with("letters", letters))?;
    }
    writer.commit()?;
    let searcher = index.searcher()?;

    print(&searcher, "with all of the words", &words_of(TYPED))?;

    // The five nearest of all titles. A parameter stands for the vector: a query text need not have its numbers.
    let nearest = searcher.parse("letters:nearest($typed, 5)")?;
    let nearest = nearest.with_vectors([("typed", vector_of(TYPED))])?;
    print(&searcher, "spelled like it", &nearest)?;

    // Scores add up, of words and of vectors: titles that both find come first.
    let words = searcher.parse("france")?;
    print(
        &searcher,
        "spelled like it, or with the word 'france'",
        &Query::any_of([words.clone(), nearest.clone()]),
    )?;

    // Fused, each ranks by itself, and what counts is the rank: scores of words and of vectors need not go together.
    let fused = searcher.search(&words).fuse(Fusion::rrf().with(nearest)).limit(5).run()?;
    println!("fused by rank: {}", fused.total.value);
    for hit in &fused.hits {
        let ranks: Vec<_> = hit.fused.iter().map(|it| [it.branch as u64, it.rank]).collect();
        println!(
            "  {:.4}  {}  {ranks:?}",
            hit.score.unwrap_or_default(),
            hit.text("title").unwrap_or_default()
        );
    }

    // Conditions beside are met by all that are found, so that there are five wherever five titles meet them.
    let nearest = Query::nearest("letters", vector_of(TYPED), 5);
    let filtered = Query::boolean().filter(searcher.parse("film")?).must(nearest).build();
    print(&searcher, "spelled like it, of the films", &filtered)?;

    // More like this: a document's own vectors stand for themselves.
    let best = searcher.search(&words_of("paris texas")).limit(1).run()?.hits[0].doc;
    let like = Query::nearest("letters", QueryVector::Document(best), 3);
    print(&searcher, "like 'Paris, Texas'", &like)
}

fn words_of(text: &str) -> Query {
    Query::all_of(text.split(' ').map(Query::word))
}

fn print(searcher: &Searcher, what: &str, query: &Query) -> treepie::Result<()> {
    let page = searcher.search(query).limit(5).run()?;
    println!("{what}: {}", page.total.value);
    for hit in &page.hits {
        let title = hit.text("title").unwrap_or_default();
        println!("  {:.3}  {title}", hit.score.unwrap_or_default());
    }
    Ok(())
}

/// The titles of the corpus, behind its header.
fn titles() -> impl Iterator<Item = String> {
    TITLES.lines().skip(1).map(|line| line.replace('_', " "))
}

/// Counts of groups of three letters, each in the place that a hash of it says.
fn vector_of(text: &str) -> Vec<f32> {
    let mut letters = vec![' '];
    letters.extend(
        text.chars().flat_map(char::to_lowercase).filter(|c| c.is_alphanumeric() || *c == ' '),
    );
    letters.extend([' ', ' ']);
    let mut counts = vec![0.0; DIMS];
    for group in letters.windows(3) {
        let hash = group.iter().fold(0x811C_9DC5, |hash: u32, letter| {
            (hash ^ u32::from(*letter)).wrapping_mul(0x0100_0193)
        });
        counts[(hash >> 16) as usize % DIMS] += 1.0;
    }
    counts
}

/// Writes a document a line, a row of numbers for each, and what is asked.
fn write_files(folder: &Path) -> std::io::Result<()> {
    let document = |title: String| format!("{}\n", serde_json::json!({ "title": title }));
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.join(name), bytes);
    fs::create_dir_all(folder)?;
    write("titles.jsonl", titles().map(document).collect::<String>().into())?;
    write("titles.fvecs", rows(titles()))?;
    // Beginnings of every hundredth title, as somebody might type it.
    let begun = titles().step_by(100).map(|title| title.chars().take(12).collect());
    write("queries.fvecs", rows(begun))?;
    write("q.json", serde_json::json!(vector_of(TYPED)).to_string().into())?;
    let schema = format!(
        "[fields.title]\ntype = \"text\"\n[fields.letters]\ntype = \"vector\"\ndims = {DIMS}\n"
    );
    write("titles.toml", schema.into())
}

/// Vectors of texts: for each how many numbers there are, and the numbers, little-endian.
fn rows(texts: impl Iterator<Item = String>) -> Vec<u8> {
    let row = |text: String| {
        let numbers = vector_of(&text).into_iter().flat_map(f32::to_le_bytes);
        (DIMS as u32).to_le_bytes().into_iter().chain(numbers)
    };
    texts.flat_map(row).collect()
}
