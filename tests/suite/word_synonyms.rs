//! Synonyms of several words for words side by side, without quotes.

use std::sync::Arc;
use treepie::analysis::{Analyzer, Analyzers, Synonyms};
use treepie::query::{DefaultOperator, ParseOptions, parse};
use treepie::search::Order;
use treepie::storage::MemoryStorage;
use treepie::{Document, Field, FieldKind, Index, Schema, Searcher};

const RULES: &str = "usa, united states, united states of america\n\
                     i pod => ipod\n\
                     new york, ny\n\
                     york, jorvik\n\
                     großer hund, dogge";

const TEXTS: [&str; 10] = [
    "the united states today",
    "usa today",
    "states united once",
    "united kingdom",
    "ipod",
    "i have a pod",
    "ny",
    "jorvik",
    "new york",
    "dogge",
];

/// Rules are for `title`; `body` has the same texts.
fn searcher() -> Searcher {
    let fold = "words|lower|fold";
    let title = Field::new("title", FieldKind::Text).analyzer(fold);
    let schema =
        Schema::builder().field(title).text("body").default_fields(["title"]).build().unwrap();
    let rules = Synonyms::parse(RULES, &Analyzer::from_spec(fold).unwrap()).unwrap();
    let analyzers = Analyzers::default().synonyms("title", rules);
    let index = Index::options()
        .analyzers(analyzers)
        .create_in(Arc::new(MemoryStorage::new()), schema)
        .unwrap();
    let mut writer = index.writer().unwrap();
    for text in TEXTS {
        writer.add(Document::new().with("title", text).with("body", text)).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    index.searcher().unwrap()
}

fn hits(searcher: &Searcher, query: &str, operator: DefaultOperator) -> Vec<u64> {
    let query = parse(query, &ParseOptions::default().default_operator(operator)).unwrap();
    let page = searcher.search(&query).order(Order::Document).limit(100).run().unwrap();
    let found: Vec<u64> = page.hits.iter().map(|hit| hit.doc.0).collect();
    let mut best: Vec<u64> =
        searcher.search(&query).limit(100).run().unwrap().hits.iter().map(|it| it.doc.0).collect();
    best.sort_unstable();
    assert_eq!(best, found, "{query}");
    found
}

#[test]
fn words_side_by_side_are_analysed_together() {
    let searcher = searcher();
    for (query, any, all) in [
        ("united states", &[0, 1, 2, 3][..], &[0, 1, 2][..]),
        ("UNITED States", &[0, 1, 2, 3], &[0, 1, 2]),
        ("usa", &[0, 1], &[0, 1]),
        ("united states today", &[0, 1, 2, 3], &[0, 1]),
        ("the united states of america", &[0, 1, 2, 3], &[0]),
        ("united states of america", &[0, 1, 2, 3], &[0, 1]),
        ("i pod", &[4], &[4]),
        ("ipod", &[4], &[4]),
        // The longest match wins: `york` alone would be another rule.
        ("new york", &[6, 8], &[6, 8]),
        ("york", &[7, 8], &[7, 8]),
        ("york new york", &[6, 7, 8], &[8]),
        ("grosser Hund", &[9], &[9]),
        // In a group of its own, and in one of fields.
        ("(united states) kingdom", &[0, 1, 2, 3], &[]),
        ("title:(united states)", &[0, 1, 2, 3], &[0, 1, 2]),
        ("{title}:(united states)^2", &[0, 1, 2, 3], &[0, 1, 2]),
        ("body:(united states)", &[0, 2, 3], &[0, 2]),
        ("body:(i pod)", &[5], &[5]),
        ("{title body}:(i pod)", &[4, 5], &[4, 5]),
        ("{title^2 + body}:(united states)", &[0, 1, 2, 3], &[0, 1, 2]),
        ("{body}:(united states) title:united title:states", &[0, 1, 2, 3], &[0, 2]),
        ("-(united states) united", &[], &[]),
        ("-(united states) +kingdom", &[], &[3]),
        ("(united states today)~2", &[0, 1, 2], &[0, 1, 2]),
        ("(united states today)~3", &[0, 1], &[0, 1]),
        // Operators and weights of their own keep words apart.
        ("united AND states", &[0, 2], &[0, 2]),
        ("united^2 states", &[0, 2, 3], &[0, 2]),
        ("\"united states\"", &[0, 1], &[0, 1]),
    ] {
        if query != "-(united states) +kingdom" {
            assert_eq!(hits(&searcher, query, DefaultOperator::Or), any, "{query}");
        }
        if query != "-(united states) united" && query != "-(united states) +kingdom" {
            assert_eq!(hits(&searcher, query, DefaultOperator::And), all, "{query} with AND");
        }
    }
}

#[test]
fn alternatives_score_once_and_are_told_and_marked() {
    let searcher = searcher();
    let query = |text: &str| searcher.parse(text).unwrap();
    let score = |text: &str, doc: u64| {
        let page = searcher.search(&query(text)).limit(100).run().unwrap();
        page.hits.iter().find(|hit| hit.doc.0 == doc).map_or(0.0, |hit| hit.score.unwrap())
    };
    let usa = score("title:IN [usa]", 1);
    assert!(usa > 0.0);
    for text in
        ["title:(united states)", "title:(+united +states)", "title:(united states kingdom)~2"]
    {
        assert!((score(text, 1) - usa).abs() < 1e-5, "{text}: {} for {usa}", score(text, 1));
    }
    let plan = searcher.explain(&query("+united +states")).unwrap();
    assert_eq!(
        plan.notes,
        [
            "with synonyms, 'united states' is looked up in 'title' as united states, usa, united states of america"
        ]
    );
    let marked = |text: &str, doc: usize| {
        let highlighter = searcher.highlighter(&query(text)).unwrap();
        let passages = highlighter.passages("title", TEXTS[doc], &Default::default());
        passages.first().map_or(String::new(), |it| it.to_plain(TEXTS[doc], "[", "]"))
    };
    assert_eq!(marked("united states", 1), "[usa] today");
    assert_eq!(marked("united states", 2), "[states] [united] once");
    assert_eq!(marked("i pod", 4), "[ipod]");
    assert_eq!(marked("i pod", 5), "");
    // Words that are read together are one condition.
    let why = searcher.search(&query("+united +states +jorvik")).explainer().why_empty().unwrap();
    assert_eq!((why.clauses.len(), why.clauses[0].matches), (2, 3), "{why}");
}

#[test]
fn many_words_are_no_trouble() {
    let searcher = searcher();
    let text = "united states ".repeat(400);
    assert_eq!(hits(&searcher, &text, DefaultOperator::And), [0, 1, 2]);
}
