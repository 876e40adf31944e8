//! Clauses of which an analyzer leaves nothing drop out of their group, in every operator and field.

use treepie::query::{DefaultOperator, ParseOptions, Query, parse};
use treepie::schema::Detail;
use treepie::search::Order;
use treepie::{Document, Field, FieldKind, Index, Schema, Searcher};

fn text(name: &str, analyzer: &str) -> Field {
    Field::new(name, FieldKind::Text).analyzer(analyzer)
}

const STOP: &str = "words|lower|stop:en";

/// Titles keep every word, bodies have no stop words, `loose` no positions.
fn index() -> Index {
    let loose = text("loose", STOP).detail(Detail::Frequencies);
    let schema = Schema::builder()
        .field(text("title", "default"))
        .field(text("body", STOP))
        .field(loose)
        .keyword("kind")
        .default_fields(["title"])
        .build()
        .unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for (words, kind) in
        [("the king of spain", "a"), ("rock & roll", "b"), ("king kong", "a"), ("of mice", "b")]
    {
        let document = Document::new().with("title", words).with("body", words).with("kind", kind);
        writer.add(document.with("loose", words)).unwrap();
    }
    writer.add(Document::new().with("body", "a king in spain").with("kind", "c")).unwrap();
    writer.commit().unwrap();
    drop(writer);
    index
}

fn hits(searcher: &Searcher, query: &Query) -> Vec<u64> {
    let mut hits: Vec<u64> =
        searcher.search(query).run().unwrap().hits.iter().map(|hit| hit.doc.0).collect();
    hits.sort_unstable();
    let unscored = searcher.search(query).order(Order::Document).run().unwrap();
    let unscored: Vec<u64> = unscored.hits.iter().map(|hit| hit.doc.0).collect();
    assert_eq!(unscored, hits, "{query}");
    assert_eq!(searcher.count(query).unwrap(), hits.len() as u64, "{query}");
    hits
}

#[test]
fn a_clause_without_terms_drops_out_of_its_group() {
    let searcher = index().searcher().unwrap();
    for (query, expected) in [
        // In a field that keeps every word a dash or an ampersand has no term.
        ("rock AND & AND roll", &[1][..]),
        ("+rock +& +roll", &[1]),
        ("+rock +— +roll", &[1]),
        ("rock & roll", &[1]),
        ("(rock & roll)~3", &[1]),
        ("(rock & roll)~2", &[1]),
        ("(rock & roll)~4", &[]),
        ("rock -&", &[1]),
        ("rock AND NOT &", &[1]),
        ("rock OR &", &[1]),
        ("rock OR NOT &", &[1]),
        ("MAX [rock &]", &[1]),
        ("rock AND (& AND (— OR …))", &[1]),
        ("rock AND \"\"", &[1]),
        ("rock AND \"…\"~3", &[1]),
        ("rock AND \"-- --\"*", &[1]),
        ("rock AND …*", &[1]),
        ("rock AND …~1", &[1]),
        ("rock AND IN [… &]", &[1]),
        ("rock AND PHRASE [… &]", &[1]),
        ("rock AND &^2", &[1]),
        ("rock AND &^=3", &[1]),
        ("rock AND title:(& —)", &[1]),
        ("rock AND {title + body}:&", &[1]),
        ("* AND &", &[0, 1, 2, 3, 4]),
        ("+& rock", &[1]),
        ("+& kind:a", &[0, 2]),
        ("+&^=0 rock", &[1]),
        // Stop words, in a field that leaves them out.
        ("body:(+king +of)", &[0, 2, 4]),
        ("body:(king AND of AND spain)", &[0, 4]),
        ("body:(king of spain)~3", &[0, 4]),
        ("body:(king of spain)~2", &[0, 4]),
        ("body:(king of the spain)~1", &[0, 2, 4]),
        ("loose:(king AND of AND spain)", &[0]),
        ("body:(king -of)", &[0, 2, 4]),
        ("body:(the -king)", &[1, 3]),
        ("body:(king AND NOT (of the))", &[0, 2, 4]),
        ("body:(king AND NOT (of spain))", &[2]),
        ("body:IN [of spain]", &[0, 4]),
        // The beginning of a word is no stop word, and a value is what it is.
        ("body:(king AND the*)", &[]),
        ("kind:(a AND &)", &[]),
        ("kind:a AND NOT *", &[]),
        ("body:king AND NOT *", &[]),
    ] {
        let parsed = searcher.parse(query).unwrap();
        assert_eq!(hits(&searcher, &parsed), expected, "{query}");
    }
    for (query, expected) in [
        ("rock & roll", &[1][..]),
        ("rock — roll", &[1]),
        ("title:(rock & roll)", &[1]),
        ("body:(the king of spain)", &[0, 4]),
        ("{body}:(the king of spain)", &[0, 4]),
        ("body:(\"king of\" spain)", &[0, 4]),
    ] {
        let options = ParseOptions::default().default_operator(DefaultOperator::And);
        let parsed = parse(query, &options).unwrap();
        assert_eq!(hits(&searcher, &parsed), expected, "{query} with AND");
    }
}

#[test]
fn a_word_that_one_of_several_fields_leaves_out_is_not_required() {
    let searcher = index().searcher().unwrap();
    for (query, expected) in [
        ("king AND of AND spain", &[0, 4][..]),
        ("+king +of +spain", &[0, 4]),
        ("(king of spain)~3", &[0, 4]),
        ("(king mice of)~2", &[0, 3]),
        ("of", &[0, 3]),
        ("of AND the", &[0]),
        ("of OR kong", &[0, 2, 3]),
        ("+of kong", &[0, 2, 3]),
        ("king -of", &[2, 4]),
        ("king AND NOT of", &[2, 4]),
        ("NOT of", &[1, 2, 4]),
        ("+of +kind:b^=0", &[3]),
        ("\"king of\" AND kong", &[2]),
    ] {
        for wrapped in
            [format!("{{title body}}:({query})"), format!("{{title^3 + body}}:({query})")]
        {
            let parsed = searcher.parse(&wrapped).unwrap();
            assert_eq!(hits(&searcher, &parsed), expected, "{wrapped}");
        }
    }
    // It still adds to the score of what has it.
    let query = searcher.parse("{title body}:(king AND of)").unwrap();
    let best = searcher.search(&query).run().unwrap().hits[0].doc;
    let without = searcher.parse("{title body}:(king)").unwrap();
    let score = |query| searcher.explain_score(query, best).unwrap().unwrap().value;
    assert_eq!(best.0, 0);
    assert!(score(&query) > score(&without));
}

#[test]
fn a_query_of_nothing_else_finds_nothing_and_says_why() {
    let index = index();
    let searcher = index.searcher().unwrap();
    let queries = [
        "&",
        "\"\"",
        "& —",
        "& AND —",
        "-&",
        "NOT &",
        "-& -—",
        "(& —)~1",
        "MAX [& —]",
        "body:the",
        "-body:the",
        "body:(the AND NOT of)",
        "body:\"of the\"",
        "+& +kind:a^=0",
    ];
    for query in queries {
        let parsed = searcher.parse(query).unwrap();
        assert!(hits(&searcher, &parsed).is_empty(), "{query}");
        let plan = searcher.explain(&parsed).unwrap().to_string();
        assert!(plan.contains("to find in"), "{query}: {plan}");
        let why = searcher.search(&parsed).explainer().why_empty().unwrap();
        assert!(why.to_string().contains("to find in"), "{query}: {why}");
        // Nor does it select what it would not find, whatever values are chosen beside it.
        let chosen = searcher.search(&parsed).select("kind", ["a"]);
        let page = chosen.facet("kind", 9).run().unwrap();
        assert_eq!(page.total.value, 0, "{query}");
        assert_eq!(page.facets[0].buckets.len(), 0, "{query}");
    }
    let mut writer = index.writer().unwrap();
    for query in queries {
        writer.delete(&searcher.parse(query).unwrap()).unwrap();
    }
    assert_eq!(writer.commit().unwrap().deleted, 0);
    writer.delete(&searcher.parse("body:(kong AND the)").unwrap()).unwrap();
    assert_eq!(writer.commit().unwrap().deleted, 1);
}

#[test]
fn what_is_left_out_is_told() {
    let searcher = index().searcher().unwrap();
    for (query, note) in [
        ("rock AND &", "'&' has no letter or digit to find in 'title', so it is left out"),
        (
            "body:(king of)",
            "'of' has no term left by the analyzer to find in 'body', so it is left out",
        ),
        (
            "{title body}:(king AND of)",
            "'of' has no term left by the analyzer to find in 'body', so it is not required",
        ),
        (
            "{title body}:of",
            "'of' has no term left by the analyzer to find in 'body', so it is looked for in the other fields only",
        ),
        ("&", "'&' has no letter or digit to find in 'title', so it matches nothing"),
    ] {
        let plan = searcher.explain(&searcher.parse(query).unwrap()).unwrap();
        let mut notes = plan.notes;
        notes.retain(|note| !note.starts_with("every match scores"));
        assert_eq!(notes, [note], "{query}");
    }
    // What is left out is no condition that nothing meets.
    let query = searcher.parse("+rock +& +kind:c").unwrap();
    let why = searcher.search(&query).explainer().why_empty().unwrap();
    assert_eq!(why.clauses.len(), 2, "{why}");
    assert_eq!(why.conflict, [0, 1], "{why}");
}
