//! COUNT of two- and three-word AND and OR over articles, one thread, all engines in one process.
//!
//! The floor is CRoaring on the same lists: what the set operation alone costs, with the bitmaps
//! ready in memory, no dictionary, no planning, no checksums.

use std::{
    collections::BTreeMap,
    fs,
    hint::black_box,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

use croaring::Bitmap;
use tantivy::{
    DocSet, TERMINATED, TantivyDocument, Term,
    collector::Count,
    query::{BooleanQuery, Occur, Query, TermQuery},
    schema::{Field, IndexRecordOption, SchemaBuilder},
};
use treepie::search::PreparedSearch;
use treepie::{Document, FieldKind, Index};

use crate::{
    Result,
    build::{create_tantivy, merge_all, words_only},
    measure,
};

/// `treepie` plans each time, as tantivy does; `prepared` is the same plan run again, which is what
/// CRoaring may be compared with.
const ENGINES: [&str; 4] = ["tantivy", "treepie", "prepared", "CRoaring"];

/// How often each engine has its turn where it answers several rounds in a row.
const TURNS: usize = 3;

struct Question {
    class: &'static str,
    words: Vec<String>,
}

pub(crate) fn compare(articles: &str, queries: &str, dir: &str, rounds: &str) -> Result<()> {
    let (articles, rounds) = (Path::new(articles), rounds.parse::<usize>()?.max(1));
    let questions = read_questions(Path::new(queries))?;
    let tantivy = open_or_build(&Path::new(dir).join("articles-tantivy"), |dir| {
        build_tantivy(articles, dir)
    })?;
    let treepie = open_or_build(&Path::new(dir).join("articles-treepie"), |dir| {
        build_treepie(articles, dir)
    })?;

    let index = tantivy::Index::open_in_dir(tantivy)?;
    let body = index.schema().get_field("body")?;
    let searcher = index.reader()?.searcher();
    let lists = read_lists(&searcher, body, &questions)?;
    let tantivy_queries: Vec<BooleanQuery> =
        questions.iter().map(|question| tantivy_query(body, question)).collect();
    let treepie = Index::open(treepie)?.searcher()?;
    let treepie_queries: Vec<treepie::query::Query> = questions
        .iter()
        .map(|question| treepie_query(&treepie, question))
        .collect::<Result<_>>()?;
    let mut prepared: Vec<PreparedSearch<'_>> = treepie_queries
        .iter()
        .map(|query| Ok(treepie.search(query).count_only().prepare()?))
        .collect::<Result<_>>()?;

    // A process that serves queries answers many in a row; one that does other things in between finds
    // its data gone from the caches. Here the other engines are what happens in between.
    for (what, turns) in [("several rounds in a row", TURNS), ("a round each in turn", rounds)] {
        let mut times: Vec<[Vec<f64>; ENGINES.len()]> =
            questions.iter().map(|_| Default::default()).collect();
        let mut counts = vec![[0; ENGINES.len()]; questions.len()];
        // Of several rounds the first only warms up.
        let (first, last) = if turns < rounds { (0, rounds.div_ceil(turns)) } else { (1, 1) };
        for engine in (0..turns).flat_map(|_| 0..ENGINES.len()) {
            for round in first..=last {
                for (at, question) in questions.iter().enumerate() {
                    let (time, count) = measure::time(|| match engine {
                        0 => Ok(searcher.search(black_box(&tantivy_queries[at]), &Count)? as u64),
                        1 => Ok(treepie.count(black_box(&treepie_queries[at]))?),
                        2 => Ok(prepared[at].run()?.total.value),
                        _ => Ok(croaring_count(question, black_box(&lists))),
                    })?;
                    counts[at][engine] = count;
                    if round > 0 {
                        times[at][engine].push(time);
                    }
                }
            }
        }
        compare_counts(&questions, &counts)?;
        println!("COUNT in µs, {what}: mean of the medians of {rounds} rounds; all counts agree");
        print_classes(&questions, &mut times);
    }
    Ok(())
}

fn compare_counts(questions: &[Question], counts: &[[u64; ENGINES.len()]]) -> Result<()> {
    for (question, counts) in questions.iter().zip(counts) {
        if *counts != [counts[0]; ENGINES.len()] {
            let what = (question.class, question.words.join(" "));
            return Err(format!("{what:?}: {ENGINES:?} count {counts:?}").into());
        }
    }
    Ok(())
}

fn print_classes(questions: &[Question], times: &mut [[Vec<f64>; ENGINES.len()]]) {
    print!("{:<6}{:>9}", "", "queries");
    ENGINES.iter().for_each(|engine| print!("{engine:>11}"));
    println!("{:>18}{:>19}", "tantivy/treepie", "prepared/CRoaring");
    let mut classes: BTreeMap<&str, [Vec<f64>; ENGINES.len()]> = BTreeMap::new();
    for (question, times) in questions.iter().zip(times) {
        let class = classes.entry(question.class).or_default();
        for (medians, times) in class.iter_mut().zip(times) {
            medians.push(measure::median(times));
        }
    }
    for (class, medians) in classes {
        let means = medians.each_ref().map(|figures| measure::mean(figures));
        print!("{class:<6}{:>9}", medians[0].len());
        means.iter().for_each(|mean| print!("{mean:>11.2}"));
        let [tantivy, treepie, prepared, croaring] = means;
        println!("{:>18.1}{:>19.2}", tantivy / treepie, prepared / croaring);
    }
}

/// Intersections and unions of two and three plain words.
fn read_questions(path: &Path) -> Result<Vec<Question>> {
    let mut questions = vec![];
    for line in BufReader::new(fs::File::open(path)?).lines() {
        let line: serde_json::Value = serde_json::from_str(&line?)?;
        let text = line["query"].as_str().ok_or("a query is no string")?;
        let words: Vec<String> = text
            .split_whitespace()
            .map(|word| word.trim_start_matches('+').to_lowercase())
            .collect();
        let class = match (line["tags"][0].as_str(), words.len()) {
            (Some("intersection"), 2) => "and2",
            (Some("intersection"), 3) => "and3",
            (Some("union"), 2) => "or2",
            (Some("union"), 3) => "or3",
            _ => continue,
        };
        if words.iter().all(|word| !word.is_empty() && word.chars().all(char::is_alphanumeric)) {
            questions.push(Question { class, words });
        }
    }
    Ok(questions)
}

fn open_or_build(dir: &Path, build: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    if !dir.exists() {
        eprintln!("building {}", dir.display());
        build(dir)?;
    }
    Ok(dir.to_owned())
}

/// The body of every line of JSON.
fn each_body(articles: &Path, mut take: impl FnMut(&str) -> Result<()>) -> Result<()> {
    for line in BufReader::with_capacity(1 << 20, fs::File::open(articles)?).lines() {
        let line: serde_json::Value = serde_json::from_str(&line?)?;
        take(line["body"].as_str().ok_or("an article has no body")?)?;
    }
    Ok(())
}

fn build_tantivy(articles: &Path, dir: &Path) -> Result<()> {
    let mut schema = SchemaBuilder::new();
    let body = schema.add_text_field("body", words_only());
    let index = create_tantivy(dir, schema.build())?;
    let mut writer = index.writer_with_num_threads(1, 256 << 20)?;
    each_body(articles, |text| {
        let mut document = TantivyDocument::new();
        document.add_text(body, text);
        writer.add_document(document)?;
        Ok(())
    })?;
    writer.commit()?;
    merge_all(&index, writer)
}

fn build_treepie(articles: &Path, dir: &Path) -> Result<()> {
    // As much as tantivy keeps.
    let body = treepie::Field::new("body", FieldKind::Text)
        .stored(false)
        .detail(treepie::schema::Detail::Documents);
    let index = Index::create(dir, treepie::Schema::builder().field(body).build()?)?;
    let mut writer = index.writer()?;
    each_body(articles, |text| Ok(writer.add(Document::new().with("body", text))?))?;
    writer.commit()?;
    Ok(())
}

fn treepie_query(
    searcher: &treepie::Searcher,
    question: &Question,
) -> Result<treepie::query::Query> {
    let between = if question.class.starts_with("and") { " AND " } else { " OR " };
    Ok(searcher.parse(&question.words.join(between))?)
}

fn tantivy_query(body: Field, question: &Question) -> BooleanQuery {
    let occur = if question.class.starts_with("and") { Occur::Must } else { Occur::Should };
    let term = |word: &String| -> (Occur, Box<dyn Query>) {
        let term = Term::from_field_text(body, word);
        (occur, Box::new(TermQuery::new(term, IndexRecordOption::Basic)))
    };
    BooleanQuery::new(question.words.iter().map(term).collect())
}

/// The documents of every word, from tantivy, as CRoaring likes them best.
fn read_lists(
    searcher: &tantivy::Searcher,
    body: Field,
    questions: &[Question],
) -> Result<BTreeMap<String, Bitmap>> {
    let [segment] = searcher.segment_readers() else {
        return Err("tantivy's index has more than one segment".into());
    };
    let inverted = segment.inverted_index(body)?;
    let mut lists = BTreeMap::new();
    for word in questions.iter().flat_map(|question| &question.words) {
        let mut list = Bitmap::new();
        let term = Term::from_field_text(body, word);
        if let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::Basic)? {
            while postings.doc() != TERMINATED {
                list.add(postings.doc());
                postings.advance();
            }
        }
        list.run_optimize();
        list.shrink_to_fit();
        lists.insert(word.clone(), list);
    }
    Ok(lists)
}

fn croaring_count(question: &Question, lists: &BTreeMap<String, Bitmap>) -> u64 {
    let list = |at: usize| &lists[&question.words[at]];
    match question.class {
        "and2" => list(0).and_cardinality(list(1)),
        "or2" => list(0).or_cardinality(list(1)),
        "and3" => {
            let mut order = [list(0), list(1), list(2)];
            order.sort_by_key(|list| list.cardinality());
            order[0].and(order[1]).and_cardinality(order[2])
        }
        _ => list(0).or(list(1)).or_cardinality(list(2)),
    }
}
