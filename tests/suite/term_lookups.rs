//! Each term of a field is looked up once in each segment, whatever a search does with it.

use treepie::query::{ParseOptions, parse};
use treepie::search::{Collapse, Explainer, IdfScope, TotalMode};
use treepie::{Document, Facet, Index, Schema, SearchBuilder, Searcher, SortKey};

/// Two segments, so that each term costs two.
fn searcher() -> Searcher {
    let kind = treepie::Field::new("kind", treepie::FieldKind::Keyword).column(true);
    let schema = Schema::builder().text("title").text("body").field(kind);
    let schema = schema.default_fields(["title"]).build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for part in 0..2 {
        for nth in 0..200 {
            let title =
                ["king of spain", "king kong", "of mice and men", "queen of spain"][nth % 4];
            let body = if nth % 3 == part { "a king in spain" } else { "a new deal" };
            let kind = ["a", "b", "c"][nth % 3];
            let document = Document::new().with("title", title).with("body", body);
            writer.add(document.with("kind", kind)).unwrap();
        }
        writer.commit().unwrap();
    }
    drop(writer);
    index.searcher().unwrap()
}

/// Options of a search, by name.
type Options = (&'static str, fn(SearchBuilder<'_>) -> Explainer<'_>);

const OPTIONS: [Options; 12] = [
    ("count", |search| search.count_only().explainer()),
    ("best and total", |search| search.explainer()),
    ("best", |search| search.total(TotalMode::Unknown).explainer()),
    ("best and some", |search| search.total(TotalMode::UpTo(3)).explainer()),
    ("facets", |search| search.facet("kind", 3).explainer()),
    ("count and facets", |search| search.count_only().facet("kind", 3).explainer()),
    ("sorted", |search| search.sort([SortKey::ascending("kind"), SortKey::score()]).explainer()),
    ("collapsed", |search| search.collapse(Collapse::by("kind")).explainer()),
    ("by segment", |search| search.statistics(IdfScope::Segment).explainer()),
    ("patterns", |search| search.pattern_terms(5).explainer()),
    ("documents", |search| search.explainer().documents([treepie::DocId(0), treepie::DocId(300)])),
    ("functions", |search| search.facet("kind", 2).total(TotalMode::Unknown).explainer()),
];

#[test]
fn a_term_is_looked_up_once_in_each_segment() {
    let searcher = searcher();
    for (text, terms) in [
        ("king", 1),
        ("king spain", 2),
        ("+king +spain", 2),
        ("nowhere", 1),
        ("(king spain) AND (king kong)", 3),
        ("+king -(spain mice)", 3),
        ("+(king OR mice) -(kong men) +queen", 5),
        ("\"king of spain\"", 3),
        ("\"king of spain\" king", 3),
        ("\"king of spain\" AND \"queen of spain\"", 4),
        ("title:king body:king", 2),
        ("{title^2 body}:(king spain)", 4),
        ("{title^2 + body}:(king spain)", 4),
        ("{title + body}:king title:king", 2),
        ("MAX [king spain]~0.1", 2),
        ("king^=2 spain", 2),
        ("+king +kind:a", 2),
        ("(king mice spain)~2", 3),
        ("NOT king", 1),
        ("king AND *ain", 1),
    ] {
        let query = parse(text, &ParseOptions::default()).unwrap();
        let query = searcher.parse(&query.to_string()).unwrap();
        for (name, options) in OPTIONS {
            let search = || options(searcher.search(&query));
            let explained = search().explain().unwrap().term_lookups;
            // A pattern has terms of its own; these are walked, and not looked up.
            assert_eq!(explained, Some(2 * terms), "{text}: {name}, explained");
            let analyzed = search().analyze().unwrap().term_lookups;
            assert_eq!(analyzed, Some(2 * terms), "{text}: {name}, analyzed");
        }
    }
}

#[test]
fn a_selection_is_looked_up_once_however_many_facets_leave_it_out() {
    let searcher = searcher();
    let query = searcher.parse("king spain").unwrap();
    let search = || {
        let search = searcher.search(&query).select("kind", ["a", "b"]);
        search.facet("kind", 3).facet("title", 3).facet("kind", 1)
    };
    // Two words and two values.
    assert_eq!(search().analyze().unwrap().term_lookups, Some(8));
    // And the three values that documents of buckets are found by, two of which are those.
    let kinds = Facet::values("kind").with_facet(Facet::values("title"));
    let search = searcher.search(&query).select("kind", ["a", "b"]).with_facet(kinds);
    assert_eq!(search.analyze().unwrap().term_lookups, Some(10));
}
