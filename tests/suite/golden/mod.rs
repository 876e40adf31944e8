//! Golden plans: the outline of what a few hundred searches are answered by, in `tests/fixtures/plans/`, for a review to see
//! what a change of the planner changes.
//!
//! After such a change run
//!
//! ```text
//! TREEPIE_GOLDEN=write cargo test --test suite golden::
//! ```
//!
//! which writes the files anew; then read their diff.

mod names;
mod properties;
mod questions;
mod schema;

use questions::{Group, Question, groups};
use std::fmt::Write;
use std::{collections::BTreeSet, env, fs, path::PathBuf, sync::LazyLock};
use treepie::explain::{ExplainTree, difference};
use treepie::schema::{Metric, VectorParams};
use treepie::{Document, Field, FieldKind, Index, Schema, Searcher};

/// Documents of one segment. With as many as this lists are arrays and bitmaps, and columns have several blocks.
const N_DOCS: u32 = 9_000;

static INDEXES: LazyLock<Indexes> = LazyLock::new(Indexes::new);

/// The two indexes that are asked.
pub(super) struct Indexes {
    /// One segment, nothing deleted.
    quiet: Searcher,
    /// Three segments, of which every 40th document is deleted.
    living: Searcher,
}

impl Indexes {
    fn new() -> Self {
        Indexes { quiet: index(1, false), living: index(3, true) }
    }

    fn plan(&self, question: &Question) -> ExplainTree {
        let searcher = if question.living { &self.living } else { &self.quiet };
        let query = question.query(searcher);
        let search = question.search(searcher, &query);
        let tree = if question.runs() { search.analyze() } else { search.explain() };
        tree.unwrap_or_else(|error| panic!("{}: {error}", question.title()))
    }
}

fn schema() -> Schema {
    Schema::builder()
        .text("t")
        .field(Field::new("k", FieldKind::Keyword).column(true))
        .field(Field::new("tag", FieldKind::Keyword).column(true))
        .keyword("list")
        .field(Field::new("n", FieldKind::I64))
        .field(Field::new("m", FieldKind::I64).column(false))
        .field(Field::new("d", FieldKind::Date))
        .vector("v", VectorParams::new(2, Metric::L2))
        .point("p")
        .key("id")
        .default_fields(["t"])
        .build()
        .unwrap()
}

/// Each word `byN` is in the documents whose number N divides; the other fields follow from the number, too.
fn document(n: u32) -> Document {
    let divides = |d: &u32| n.is_multiple_of(*d);
    let mut words: Vec<String> = [1, 2, 3, 5, 7, 50, 500, 4_000]
        .iter()
        .filter(|d| divides(d))
        .map(|d| format!("by{d}"))
        .collect();
    words.push(format!("w{}", n % 900));
    match n % 120 {
        0 | 40 => words.extend(["san", "marino"].map(String::from)),
        60 => words.extend(["marino", "by", "san"].map(String::from)),
        80 => words.push("san".to_owned()),
        _ => {}
    }
    let mut document =
        Document::new().with("t", words.join(" ")).with("n", i64::from(n * 7 % 1_000));
    document.push("id", format!("{n}"));
    document.push("m", i64::from(n % 11));
    document.push("k", format!("k{}", n % 300));
    if !n.is_multiple_of(10) {
        document.push("tag", ["red", "green", "blue", "black", "white"][n as usize % 5]);
    }
    if n.is_multiple_of(4) {
        document.push("list", format!("l{}", n % 48));
    }
    if n.is_multiple_of(2) {
        document.push("v", [(n % 101) as f32, (n % 7) as f32]);
    }
    if !n.is_multiple_of(5) {
        document.push("p", format!("{},{}", n % 61, n % 151));
    }
    if !n.is_multiple_of(3) {
        document.push("d", format!("2024-{:02}-{:02}", n % 12 + 1, n % 28 + 1));
    }
    document
}

fn index(n_segments: u32, deletes: bool) -> Searcher {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    for nth in 0..n_segments {
        for n in 0..N_DOCS / n_segments {
            writer.add(document(nth * N_DOCS / n_segments + n)).unwrap();
        }
        writer.commit().unwrap();
    }
    if deletes {
        let deleted =
            treepie::query::Query::in_set((0..300_u32).step_by(40).map(|n| format!("k{n}")));
        writer.delete(&deleted.in_field("k")).unwrap();
        writer.commit().unwrap();
    }
    let searcher = index.searcher().unwrap();
    let tree = searcher.search(&searcher.parse("*").unwrap()).explain().unwrap();
    assert_eq!(tree.segments.len(), n_segments as usize);
    searcher
}

fn path(group: &Group) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/plans");
    folder.join(format!("{}.txt", group.name))
}

fn outlines(group: &Group) -> String {
    let mut text = format!("# {}\n", group.about);
    for question in &group.questions {
        let outline = INDEXES.plan(question).to_outline();
        write!(text, "\n== {}\n{outline}", question.title()).unwrap();
    }
    text
}

#[test]
fn every_plan_is_as_it_was_reviewed() {
    let writes = env::var_os("TREEPIE_GOLDEN").is_some_and(|value| value == "write");
    let mut differences = String::new();
    let mut texts = BTreeSet::new();
    for group in groups() {
        texts.extend(group.questions.iter().map(|question| question.text.to_owned()));
        let (path, found) = (path(&group), outlines(&group));
        if writes {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, found).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if expected != found {
            let name = path.display();
            write!(differences, "\n{name}:\n{}", difference(&expected, &found)).unwrap();
        }
    }
    assert!(texts.len() >= 150, "{} queries", texts.len());
    assert!(
        differences.is_empty(),
        "plans have changed (- was reviewed, + is found); if that is meant, run\n\
         TREEPIE_GOLDEN=write cargo test --test suite golden::\n{differences}"
    );
}
