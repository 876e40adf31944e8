//! Facets: order, what is left out, and how few terms are looked at.

use treepie::explain::FacetActual;
use treepie::{Document, FacetCounts, Field, FieldKind, Index, Schema, Searcher};

/// The field `single` is declared with one value at most, `many` with any number.
fn searcher(documents: impl IntoIterator<Item = Document>) -> Searcher {
    let schema = Schema::builder()
        .text("text")
        .field(Field::new("single", FieldKind::Keyword))
        .keyword("many")
        .build()
        .unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for (n, document) in documents.into_iter().enumerate() {
        if n == 500 {
            writer.commit().unwrap();
        }
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    index.searcher().unwrap()
}

fn facet(searcher: &Searcher, query: &str, field: &str, limit: usize) -> FacetCounts {
    let query = searcher.parse(query).unwrap();
    searcher.facets(&query, field, limit).unwrap()
}

fn buckets(counts: &FacetCounts) -> Vec<(&str, u64)> {
    counts.buckets.iter().map(|bucket| (&*bucket.value, bucket.count)).collect()
}

/// A thousand documents with 40 values: value n in about 1000 / (n + 1), the even documents "even".
fn skewed() -> Searcher {
    searcher((0..1_000u32).map(|n| {
        let document = Document::new().with("text", if n % 2 == 0 { "even all" } else { "all" });
        let values = (0..40).filter(|value| n % (value + 1) == 0);
        values.fold(document, |document, value| document.with("many", format!("{value:02}")))
    }))
}

#[test]
fn ties_go_to_the_smaller_value_by_bytes() {
    let values = ["b", "ä", "B", "a", "b", "", "a b"];
    let searcher = searcher(values.iter().map(|value| Document::new().with("single", *value)));
    let counts = facet(&searcher, "*", "single", 4);
    assert_eq!(buckets(&counts), [("b", 2), ("", 1), ("B", 1), ("a", 1)]);
    assert_eq!((counts.other, counts.missing), (Some(2), 0));
    assert_eq!(buckets(&facet(&searcher, "*", "single", 100)).last(), Some(&("ä", 1)));
    assert!(facet(&searcher, "*", "single", 0).buckets.is_empty());
}

#[test]
fn what_is_not_shown_is_known_where_a_document_has_one_value() {
    let documents = (0..900).map(|n| {
        let document = Document::new().with("text", if n % 2 == 0 { "even" } else { "odd" });
        match n % 3 {
            0 => document.with("single", "third").with("many", "x").with("many", "y"),
            1 => document.with("single", format!("other {n}")),
            _ => document,
        }
    });
    let searcher = searcher(documents);
    let counts = facet(&searcher, "even", "single", 1);
    assert_eq!(buckets(&counts), [("third", 150)]);
    assert_eq!((counts.other, counts.missing), (Some(150), 150));
    let counts = facet(&searcher, "even", "many", 1);
    assert_eq!(buckets(&counts), [("x", 150)]);
    assert_eq!((counts.other, counts.missing), (None, 300));
    let counts = facet(&searcher, "odd OR even", "text", 5);
    assert_eq!(buckets(&counts), [("even", 450), ("odd", 450)]);
}

fn work(searcher: &Searcher, query: &str, limit: usize) -> (u64, FacetActual) {
    let query = searcher.parse(query).unwrap();
    let tree = searcher.search(&query).facet("many", limit).analyze().unwrap();
    let actual = tree.facets[0].actual.unwrap();
    assert!(
        searcher.search(&query).facet("many", limit).explain().unwrap().facets[0].actual.is_none()
    );
    (tree.facets[0].terms, actual)
}

#[test]
fn where_everything_matches_the_dictionary_holds_the_counts() {
    let (terms, actual) = work(&skewed(), "all", 3);
    assert_eq!(terms, 80, "forty in each of two segments");
    assert_eq!(actual.terms_intersected, 0);
    assert_eq!(actual.terms_from_document_frequency, 3, "in ascending order each is less frequent");
    assert_eq!(actual.terms_skipped, 37);
    assert_eq!(actual.bytes_read, 0);
}

#[test]
fn terms_that_cannot_enter_the_top_are_not_intersected() {
    let searcher = skewed();
    assert_eq!(
        buckets(&facet(&searcher, "even", "many", 3)),
        [("00", 500), ("01", 500), ("03", 250)]
    );
    let (_, actual) = work(&searcher, "even", 3);
    // After 00 (500 of 1000), 01 (500 of 500), 02 (167 of 334) and 03 (250 of 250) no other has
    // 250 documents.
    assert_eq!((actual.terms_intersected, actual.terms_skipped), (4, 36));
    let (_, actual) = work(&searcher, "even", 40);
    assert_eq!((actual.terms_intersected, actual.terms_skipped), (40, 0));
}
