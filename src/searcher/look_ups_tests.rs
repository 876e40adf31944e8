//! Terms that plain searches look up: each once in each segment.

use super::SearchBuilder;
use crate::document::Document;
use crate::function::{FieldValue, ScoreFunction};
use crate::request::{Collapse, IdfScope, Order, TotalMode};
use crate::schema::{Field, FieldKind, Schema};
use crate::searcher::Searcher;
use crate::searcher::stopping_tests::filled;
use crate::sort::SortKey;
use std::time::Instant;

/// Two segments, so that each term costs two.
fn searcher() -> Searcher {
    let kind = Field::new("kind", FieldKind::Keyword).column(true);
    let year = Field::new("year", FieldKind::I64);
    let schema = Schema::builder().text("title").text("body").field(kind).field(year);
    filled(schema.default_fields(["title"]).build().unwrap(), |writer| {
        for part in 0..2 {
            for nth in 0..200usize {
                let titles = ["king of spain", "king kong", "of mice and men", "queen of spain"];
                let body = if nth % 3 == part { "a king in spain" } else { "a new deal" };
                let document = Document::new().with("title", titles[nth % 4]).with("body", body);
                let document = document.with("kind", ["a", "b", "c"][nth % 3]);
                writer.add(document.with("year", 1_900 + nth as i64)).unwrap();
            }
            writer.commit().unwrap();
        }
    })
}

/// Options of a search by name, with the terms that they ask for.
type Options = (&'static str, u64, fn(SearchBuilder<'_>) -> SearchBuilder<'_>);

const OPTIONS: [Options; 18] = [
    ("best and total", 0, |search| search),
    ("best", 0, |search| search.total(TotalMode::Unknown)),
    ("best and some", 0, |search| search.total(TotalMode::UpTo(3))),
    ("count", 0, |search| search.count_only()),
    ("no hits", 0, |search| search.limit(0)),
    ("in order", 0, |search| search.order(Order::Document)),
    ("sorted by score", 0, |search| search.sort([SortKey::score()])),
    ("sorted", 0, |search| search.sort([SortKey::ascending("kind")])),
    ("sorted by both", 0, |search| search.sort([SortKey::ascending("kind"), SortKey::score()])),
    ("grouped", 0, |search| search.collapse(Collapse::by("kind"))),
    ("grouped and sorted", 0, |search| {
        search.collapse(Collapse::by("kind")).sort([SortKey::descending("year")])
    }),
    ("facets", 0, |search| search.facet("kind", 3)),
    ("count and facets", 0, |search| search.count_only().facet("kind", 3)),
    ("sorted and facets", 0, |search| search.sort([SortKey::score()]).facet("kind", 3)),
    ("selected", 1, |search| search.select("kind", ["b"])),
    ("selected and facets", 1, |search| search.select("kind", ["b"]).facet("kind", 3)),
    ("by segment", 0, |search| search.statistics(IdfScope::Segment)),
    ("functions", 0, |search| {
        search.score_function(ScoreFunction::multiply(FieldValue::new("year")))
    }),
];

#[test]
fn a_term_is_looked_up_once_in_each_segment_though_nobody_asks() {
    let searcher = searcher();
    for (text, n_terms) in [
        ("king", 1),
        ("king spain", 2),
        ("+king +spain", 2),
        ("king spain mice kong", 4),
        ("+king -spain", 2),
        ("nowhere", 1),
        ("kind:a", 1),
        ("king kind:a", 2),
        ("+king +kind:a", 2),
        ("+kind:a +kind:c", 2),
        ("\"king of spain\"", 3),
        ("\"king of spain\" king", 3),
        ("+\"king of spain\" +\"queen of spain\"", 4),
        ("(king spain) AND (king kong)", 3),
        ("{title + body}:king", 2),
        ("{title^2 body}:(king spain)", 4),
        ("MAX [king spain]~0.1", 2),
        ("king^=2 spain", 2),
        ("(king mice spain)~2", 3),
        ("king AND *ain", 1),
    ] {
        let query = searcher.parse(text).unwrap();
        for (name, n_more, options) in OPTIONS {
            let search = options(searcher.search(&query)).search();
            if let Err(error) = search.answer(Instant::now()) {
                panic!("{text}, {name}: {error}");
            }
            let asked = 2 * (n_terms + n_more);
            assert_eq!(search.look_ups().n_asked(), asked, "{text}: {name}");
            let mut prepared = options(searcher.search(&query)).prepare().unwrap();
            // One word or phrase is counted when it runs, without a plan.
            prepared.run().unwrap();
            assert_eq!(prepared.search.look_ups().n_asked(), asked, "{text}: {name}, prepared");
        }
    }
}
