//! Selections of values: what they leave of hits and facets is what looking at every document gives.

use crate::random::Random;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use treepie::facet::FacetCounts;
use treepie::query::{ParseOptions, parse};
use treepie::search::Order;
use treepie::{
    After, Document, ErrorKind, Facet, Field, FieldKind, Index, Limits, Schema, SearchBuilder,
    Searcher,
};

const WORDS: [&str; 4] = ["half", "third", "rare", "every"];
const FIELDS: [&str; 3] = ["brand", "tags", "price"];

/// A document: its words, and by field its values as they are written.
struct Shown {
    words: Vec<&'static str>,
    values: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Shown {
    fn has_one_of(&self, field: &str, wanted: &[String]) -> bool {
        self.values[field].iter().any(|value| wanted.contains(value))
    }
}

struct Corpus {
    searcher: Searcher,
    documents: Vec<Shown>,
}

impl Corpus {
    fn new(seed: u64, n_docs: usize, commit_every: usize, deletes: bool) -> Self {
        let mut random = Random(seed);
        let schema = Schema::builder()
            .text("text")
            .field(Field::new("brand", FieldKind::Keyword).column(seed.is_multiple_of(2)))
            .field(Field::new("tags", FieldKind::Keyword).many(true))
            .field(Field::new("price", FieldKind::I64))
            .build()
            .unwrap();
        let index = Index::in_memory(schema);
        let mut writer = index.writer().unwrap();
        let mut documents = vec![];
        for nth in 0..n_docs {
            if nth % commit_every == commit_every - 1 {
                writer.commit().unwrap();
            }
            let is_in = [2, 3, 50, 1].map(|one_of| random.below(one_of) == 0);
            let words = WORDS.iter().zip(is_in).filter(|(_, is_in)| *is_in).map(|(word, _)| *word);
            let words: Vec<_> = words.collect();
            let mut document = Document::new().with("text", words.join(" "));
            let mut values: BTreeMap<_, BTreeSet<String>> =
                FIELDS.into_iter().map(|field| (field, BTreeSet::new())).collect();
            let mut add = |field: &'static str, value: String| {
                values.get_mut(field).unwrap().insert(value);
            };
            if random.below(6) > 0 {
                add("brand", format!("b{}", random.below(9)));
            }
            for _ in 0..random.below(4) {
                add("tags", format!("t{}", random.below(7)));
            }
            if random.below(4) > 0 {
                add("price", format!("{}", random.below(12) as i64 - 4));
            }
            for (field, values) in &values {
                document =
                    values.iter().fold(document, |document, value| document.with(*field, value));
            }
            writer.add(document).unwrap();
            documents.push(Shown { words, values });
        }
        writer.commit().unwrap();
        if deletes {
            writer.delete_value("brand", "b3").unwrap();
            let rare = parse("text:rare", &ParseOptions::default()).unwrap();
            writer.delete(&rare).unwrap();
            writer.commit().unwrap();
            documents.retain(|shown| {
                !shown.has_one_of("brand", &["b3".into()]) && !shown.words.contains(&"rare")
            });
        }
        Corpus { searcher: index.searcher().unwrap(), documents }
    }

    /// Those that have a word and all selections but that of one field.
    fn matching<'c>(
        &'c self,
        word: &'c str,
        selections: &'c BTreeMap<&str, Vec<String>>,
        but: &'c str,
    ) -> impl Iterator<Item = &'c Shown> {
        self.documents.iter().filter(move |shown| {
            shown.words.contains(&word)
                && selections.iter().all(|(field, wanted)| {
                    *field == but || wanted.is_empty() || shown.has_one_of(field, wanted)
                })
        })
    }

    fn check(&self, random: &mut Random) {
        let word = WORDS[random.below(4)];
        let mut selections: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (field, first) in FIELDS.into_iter().zip(["b", "t", ""]) {
            if random.below(2) == 0 {
                let value = |random: &mut Random| format!("{first}{}", random.below(9));
                let values = (0..random.below(4)).map(|_| value(random)).collect();
                selections.insert(field, values);
            }
        }
        let what = format!("{word} {selections:?}");
        let query = self.searcher.parse(word).unwrap();
        let mut search = self.searcher.search(&query).limit(100_000);
        for (field, values) in &selections {
            // In one call or in several.
            let at = random.below(values.len() + 1);
            search = search.select(*field, &values[..at]).select(*field, &values[at..]);
        }
        let page = with_facets(search.clone()).order(Order::Document).run().unwrap();
        let found = self.matching(word, &selections, "").count() as u64;
        assert_eq!(page.total.value, found, "{what}");
        for (hit, shown) in page.hits.iter().zip(self.matching(word, &selections, "")) {
            for (field, values) in &shown.values {
                let stored = hit.fields.get(*field);
                let stored = stored.into_iter().flatten().map(ToString::to_string);
                assert_eq!(&stored.collect::<BTreeSet<_>>(), values, "{what}");
            }
        }
        assert_eq!(page.hits.len() as u64, found, "{what}");
        for (counts, field) in page.facets.iter().zip(FIELDS) {
            let mut missing = 0;
            let typed = |value: &String| match field {
                "price" => OrderedValue::Number(value.parse().unwrap()),
                _ => OrderedValue::Text(value.clone()),
            };
            let mut expected: BTreeMap<OrderedValue, u64> = BTreeMap::new();
            for shown in self.matching(word, &selections, field) {
                missing += u64::from(shown.values[field].is_empty());
                shown.values[field]
                    .iter()
                    .for_each(|value| *expected.entry(typed(value)).or_default() += 1);
            }
            let mut expected: Vec<_> = expected.into_iter().collect();
            expected.sort_by_key(|(_, count)| Reverse(*count));
            let expected: Vec<_> =
                expected.into_iter().map(|(value, count)| (value.to_string(), count)).collect();
            assert_eq!((shown(counts), counts.missing), (expected, missing), "{field} of {what}");
        }
        let of_ranges: Vec<u64> =
            page.facets[3].buckets.iter().map(|bucket| bucket.count).collect();
        let in_range = |is_negative: bool| {
            let of_price = self.matching(word, &selections, "price");
            let prices = of_price.flat_map(|shown| &shown.values["price"]);
            prices.filter(|price| price.starts_with('-') == is_negative).count() as u64
        };
        assert_eq!(of_ranges, [in_range(true), in_range(false)], "{what}");

        // By score: the same facets, and the scores of the query without selections.
        let ranked = with_facets(search.clone()).run().unwrap();
        assert_eq!((ranked.total, &ranked.facets), (page.total, &page.facets), "{what}");
        let all = self.searcher.search(&query).limit(100_000).run().unwrap();
        let scores: BTreeMap<_, _> = all.hits.iter().map(|hit| (hit.doc, hit.score)).collect();
        let mut docs: Vec<_> = ranked.hits.iter().map(|hit| hit.doc).collect();
        assert!(ranked.hits.iter().all(|hit| scores[&hit.doc] == hit.score), "{what}");
        docs.sort_unstable();
        assert!(docs.iter().eq(page.hits.iter().map(|hit| &hit.doc)), "{what}");
        let mut prepared = with_facets(search.clone()).prepare().unwrap();
        for _ in 0..2 {
            let again = prepared.run().unwrap();
            assert_eq!((again.total, &again.facets), (page.total, &page.facets), "{what}");
        }
        let counted = search.clone().count_only().run().unwrap();
        assert_eq!(counted.total, page.total, "{what}");
        let plan = with_facets(search).analyze().unwrap();
        for (facet, field) in plan.facets.iter().zip(FIELDS) {
            let is_selected = selections.get(field).is_some_and(|values| !values.is_empty());
            let said = facet.options.as_deref() == Some("without its own selection");
            assert_eq!(said, is_selected, "{field} of {what}");
        }
    }
}

/// As facets are in order where counts are equal.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum OrderedValue {
    Number(i64),
    Text(String),
}

impl std::fmt::Display for OrderedValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OrderedValue::Number(number) => number.fmt(f),
            OrderedValue::Text(text) => text.fmt(f),
        }
    }
}

/// The values of all fields, and prices below zero and above.
fn with_facets(search: SearchBuilder<'_>) -> SearchBuilder<'_> {
    let search = FIELDS.into_iter().fold(search, |search, field| search.facet(field, 100));
    search.with_facet(Facet::ranges("price", [(-100..0).into(), (0..100).into()]))
}

fn shown(counts: &FacetCounts) -> Vec<(String, u64)> {
    counts.buckets.iter().map(|bucket| (bucket.value.to_string(), bucket.count)).collect()
}

#[test]
fn selections_leave_out_the_facet_of_their_own_field() {
    for (seed, n_docs, commit_every, deletes) in [
        (1, 400, 1_000, false),
        (2, 3_000, 1_100, false),
        (3, 3_000, 700, true),
        (4, 80_000, 70_000, true),
    ] {
        let corpus = Corpus::new(seed, n_docs, commit_every, deletes);
        let mut random = Random(seed + 10);
        let n_checks = if n_docs > 10_000 { 8 } else { 60 };
        (0..n_checks).for_each(|_| corpus.check(&mut random));
    }
}

#[test]
fn a_selection_that_means_nothing_is_an_error() {
    let corpus = Corpus::new(1, 10, 100, false);
    let query = corpus.searcher.parse("every").unwrap();
    for (field, value) in [("nope", "1"), ("price", "cheap")] {
        let refused = corpus.searcher.search(&query).select(field, [value]).run().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Query, "{refused}");
        assert!(refused.to_string().contains(field), "{refused}");
    }
}

#[test]
fn a_document_that_is_not_selected_has_no_score() {
    let corpus = Corpus::new(1, 100, 1_000, false);
    let query = corpus.searcher.parse("every").unwrap();
    let search = corpus.searcher.search(&query).select("brand", ["b1"]);
    let hit = search.clone().run().unwrap().hits.remove(0);
    let score = search.explainer().score(hit.doc).unwrap().unwrap();
    assert_eq!(Some(score.value), hit.score);
    let other = corpus.searcher.search(&query).select("brand", ["b2"]);
    assert!(other.clone().explainer().score(hit.doc).unwrap().is_none());
    assert_eq!(other.request().selected_query().to_string(), "+every +brand:IN [b2]^=0");
}

#[test]
fn conditions_leave_a_score_that_is_the_same_for_all_as_it_was() {
    let corpus = Corpus::new(2, 300, 100, false);
    let searcher = &corpus.searcher;
    let query = searcher.parse("brand:b1").unwrap();
    let plain = searcher.search(&query).limit(500);
    let score = plain.clone().run().unwrap().hits[0].score;
    let selected = plain.clone().select("tags", ["t1", "t2"]);
    let tree = selected.clone().explain().unwrap();
    assert!(tree.to_string().contains("so hits come in document order"), "{tree}");
    let page = selected.clone().run().unwrap();
    assert!(!page.hits.is_empty() && page.hits.len() < plain.run().unwrap().hits.len());
    assert!(page.hits.iter().all(|hit| hit.score == score), "{score:?}");
    assert!(page.hits.is_sorted_by_key(|hit| hit.doc));
    // From the middle on, where scores are compared, come the same.
    let middle = &page.hits[page.hits.len() / 2];
    let rest = selected.after(After::score(middle.score.unwrap(), middle.doc)).run().unwrap();
    let docs = |hits: &[treepie::Hit]| hits.iter().map(|hit| hit.doc).collect::<Vec<_>>();
    assert_eq!(docs(&rest.hits), docs(&page.hits[page.hits.len() / 2 + 1..]));
}

#[test]
fn alternatives_of_which_none_suffices_match_nothing_with_a_selection_either() {
    let corpus = Corpus::new(1, 100, 30, false);
    let searcher = &corpus.searcher;
    for text in ["(+half)~1", "+(+half)~1 +third", "(+half third)~1", "+(half third)~2 +every"] {
        let query = searcher.parse(text).unwrap();
        let search = searcher.search(&query).limit(1_000).select("brand", ["b1", "b2"]);
        let docs = |order| {
            let page = search.clone().order(order).run().unwrap();
            assert_eq!(page.hits.len() as u64, page.total.value, "{text} {order:?}");
            page.hits.iter().map(|hit| hit.doc).collect::<BTreeSet<_>>()
        };
        assert_eq!(docs(Order::Score), docs(Order::Document), "{text}");
    }
}

#[test]
fn a_selection_is_one_clause_and_takes_values_of_a_text_as_they_are() {
    let schema = Schema::builder().text("title").keyword("brand").build().unwrap();
    let mut limits = Limits::default();
    limits.query_clauses = 3;
    let index = Index::in_memory(schema).with_limits(limits).unwrap();
    let mut writer = index.writer().unwrap();
    for (title, brand) in [("tv", "b1"), ("television", "b2"), ("radio", "b3")] {
        writer.add(Document::new().with("title", title).with("brand", brand)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("*").unwrap();
    let brands = (0..12).map(|nth| format!("b{nth}"));
    let search = searcher.search(&query).select("brand", brands);
    assert_eq!(search.run().unwrap().total.value, 3);
    let page = searcher.search(&query).select("title", ["tv"]).facet("title", 9).run().unwrap();
    assert_eq!(page.total.value, 1);
    assert_eq!(page.facets[0].buckets.len(), 3);
}

/// A field that only later documents have: the largest segment knows no value of it.
#[test]
fn a_facet_of_a_field_that_the_largest_segment_lacks_is_counted() {
    let schema = Schema::builder().keyword("k").field(Field::new("price", FieldKind::I64));
    let index = Index::in_memory(schema.build().unwrap());
    let mut writer = index.writer().unwrap();
    for nth in 0..90_000 {
        let document = Document::new().with("k", "a");
        writer.add(if nth < 60_000 { document } else { document.with("price", nth) }).unwrap();
        if nth == 59_999 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("k:a").unwrap();
    let facet = searcher.search(&query).facet("price", 2).run().unwrap().facets.remove(0);
    assert_eq!(shown(&facet), [("60000".to_owned(), 1), ("60001".to_owned(), 1)]);
    assert_eq!(facet.missing, 60_000);
}

/// In a segment where no term of a pattern is, all that matches would score alike: nothing.
#[test]
fn a_segment_without_the_pattern_is_scored_by_its_own_statistics_too() {
    let index = Index::in_memory(Schema::builder().text("text").keyword("kind").build().unwrap());
    let mut writer = index.writer().unwrap();
    for text in ["paris", "london"] {
        writer.add(Document::new().with("text", text).with("kind", "a")).unwrap();
        writer.commit().unwrap();
    }
    let searcher = index.searcher().unwrap();
    for text in ["par*", "+kind:a par*", "+kind:a +par*", "(+par*)~1"] {
        let query = searcher.parse(text).unwrap();
        let search = searcher.search(&query).pattern_terms(20);
        let search = search.statistics(treepie::search::IdfScope::Segment);
        let found = search.clone().run().unwrap();
        let expected = searcher.search(&query).order(Order::Document).run().unwrap();
        assert_eq!(found.hits.len(), expected.hits.len(), "{text}");
        assert_eq!(search.prepare().unwrap().run().unwrap().hits.len(), found.hits.len(), "{text}");
    }
}
