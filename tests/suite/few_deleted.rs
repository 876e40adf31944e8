//! Counts of everything where a few documents are deleted: what dictionaries say, less what the deleted documents have.

use crate::random::Random;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use treepie::explain::{ExplainFacet, ExplainTree};
use treepie::facet::{Bucket, FacetCounts, FacetMethod, FacetRange};
use treepie::value::Interval;
use treepie::{
    Budget, Document, ErrorKind, Facet, Field, FieldKind, Index, Schema, Searcher, Timestamp, Value,
};

const N: usize = 90_000;
/// The first segment has more windows than one.
const COMMIT_AT: usize = 70_000;
const DAY_MICROS: i64 = 86_400_000_000;
const DAYS: usize = 1_200;

struct Item {
    number: i64,
    price: Option<i64>,
    day: Timestamp,
    brand: Option<String>,
    tags: Vec<String>,
    note: String,
}

fn items() -> Vec<Item> {
    let mut random = Random(37);
    let item = |at: usize| Item {
        number: at as i64,
        price: (random.below(9) > 0).then(|| random.below(1_000) as i64),
        day: Timestamp::from_micros(random.below(DAYS) as i64 * DAY_MICROS).unwrap(),
        brand: (random.below(5) > 0)
            .then(|| format!("b{:03}", random.below(20) * random.below(20))),
        tags: (0..random.below(3)).map(|nth| format!("t{nth}{}", random.below(30))).collect(),
        note: format!("n{:02}", random.below(50)),
    };
    (0..N).map(item).collect()
}

/// Everything, then without every n-th, and whether a document is left.
fn searchers(items: &[Item], one_in: &[usize]) -> Vec<(Searcher, Vec<bool>)> {
    let schema = Schema::builder()
        .field(Field::new("number", FieldKind::I64))
        .field(Field::new("price", FieldKind::I64))
        .field(Field::new("day", FieldKind::Date))
        .field(Field::new("brand", FieldKind::Keyword).column(true))
        .field(Field::new("tag", FieldKind::Keyword).many(true).column(true))
        .field(Field::new("note", FieldKind::Keyword))
        .build()
        .unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for (at, item) in items.iter().enumerate() {
        let mut document = Document::new().with("number", item.number).with("day", item.day);
        item.price.iter().for_each(|value| document.push("price", *value));
        item.brand.iter().for_each(|value| document.push("brand", &**value));
        item.tags.iter().for_each(|value| document.push("tag", &**value));
        writer.add(document.with("note", &*item.note)).unwrap();
        if at + 1 == COMMIT_AT {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    let (mut searchers, mut left) = (vec![], vec![true; items.len()]);
    for one_in in one_in {
        for at in (0..items.len()).step_by(*one_in) {
            writer.delete_value("number", at as i64).unwrap();
            left[at] = false;
        }
        writer.commit().unwrap();
        searchers.push((index.searcher().unwrap(), left.clone()));
    }
    searchers
}

fn counted<K: Ord>(values: impl Iterator<Item = K>) -> BTreeMap<K, u64> {
    values.fold(BTreeMap::new(), |mut counts, value| {
        *counts.entry(value).or_default() += 1;
        counts
    })
}

/// The most frequent values, of equal ones the smaller first.
fn top<K: Ord>(values: impl Iterator<Item = K>, limit: usize) -> Vec<(K, u64)> {
    let mut top: Vec<_> = counted(values).into_iter().collect();
    top.sort_by_key(|(_, count)| Reverse(*count));
    top.truncate(limit);
    top
}

fn run(searcher: &Searcher, query: &str, facet: impl Into<Facet>) -> (FacetCounts, ExplainTree) {
    let query = searcher.parse(query).unwrap();
    let search = searcher.search(&query).limit(0).with_facet(facet);
    let plan = search.clone().analyze().unwrap();
    (search.run().unwrap().facets.remove(0), plan)
}

fn taken_away(facet: &ExplainFacet) -> u64 {
    let actual = facet.actual.unwrap();
    actual.deleted_taken_away + actual.column.map_or(0, |column| column.deleted_taken_away)
}

#[test]
fn values_are_counted_by_document_frequencies_less_deleted_documents() {
    let items = items();
    for (searcher, left) in &searchers(&items, &[900, 3]) {
        let n_deleted = left.iter().filter(|left| !**left).count() as u64;
        let is_few = n_deleted <= 100;
        let live = || items.iter().zip(left).filter(|(_, left)| **left).map(|(item, _)| item);
        for limit in [1, 10, 500] {
            let of_field = |field: &str| -> (Vec<(Value, u64)>, u64) {
                let texts = |values: Vec<(&String, u64)>| {
                    values.into_iter().map(|(text, n)| (Value::from(&**text), n)).collect()
                };
                match field {
                    "brand" => (
                        texts(top(live().filter_map(|item| item.brand.as_ref()), limit)),
                        live().filter(|item| item.brand.is_none()).count() as u64,
                    ),
                    "tag" => (
                        texts(top(live().flat_map(|item| &item.tags), limit)),
                        live().filter(|item| item.tags.is_empty()).count() as u64,
                    ),
                    "note" => (texts(top(live().map(|item| &item.note), limit)), 0),
                    _ => (
                        top(live().filter_map(|item| item.price), limit)
                            .into_iter()
                            .map(|(price, n)| (Value::from(price), n))
                            .collect(),
                        live().filter(|item| item.price.is_none()).count() as u64,
                    ),
                }
            };
            for field in ["brand", "tag", "note", "price"] {
                let expected = of_field(field);
                let any = Facet::values(field).limit(limit);
                let by_frequency = any.clone().method(FacetMethod::DocumentFrequency);
                for (facet, is_wanted) in [(any, false), (by_frequency, true)] {
                    let (counts, plan) = run(searcher, "*", facet);
                    let found = counts.buckets.iter().map(|it| (it.value.clone(), it.count));
                    let found = (found.collect::<Vec<_>>(), counts.missing);
                    assert_eq!(found, expected, "{limit} of {field}\n{plan}");
                    let shown = &plan.facets[0];
                    let is_by_frequency = shown.algorithm == "document frequencies";
                    // Of a field without a column lists are intersected with those that are deleted.
                    assert_eq!(
                        is_by_frequency && is_wanted,
                        is_wanted && field != "note",
                        "{plan}"
                    );
                    if is_few && field != "price" {
                        // By lists or by frequencies, as either costs less.
                        assert_eq!(taken_away(shown), n_deleted, "{plan}");
                    }
                    if is_by_frequency {
                        let reason = &shown.decisions[0].reason;
                        let says = reason.contains(&format!("{n_deleted} deleted documents"));
                        assert!(says || is_wanted, "{plan}");
                    }
                }
            }
        }
        let (_, plan) = run(searcher, "price:[0 TO 500]", Facet::values("brand"));
        assert_eq!(taken_away(&plan.facets[0]), 0, "others are left out, too\n{plan}");
    }
}

#[test]
fn ranges_are_counted_up_to_their_ends_less_deleted_documents() {
    let items = items();
    for (searcher, left) in &searchers(&items, &[900, 3]) {
        let n_deleted = left.iter().filter(|left| !**left).count() as u64;
        let is_few = n_deleted <= 100;
        let live = || items.iter().zip(left).filter(|(_, left)| **left).map(|(item, _)| item);
        let missing = live().filter(|item| item.price.is_none()).count() as u64;
        let ends = [(0, 10), (5, 700), (700, 1_000), (2_000, 3_000)];
        let ranges = ends.map(|(from, to)| FacetRange::new(Some(from), Some(to)));
        let (counts, of_ranges) = run(searcher, "*", Facet::ranges("price", ranges));
        let expected = ends.map(|(from, to)| {
            let is_inside = |item: &&Item| item.price.is_some_and(|it| (from..to).contains(&it));
            live().filter(is_inside).count() as u64
        });
        assert!(counts.buckets.iter().map(|it| it.count).eq(expected), "{of_ranges}");
        assert_eq!(counts.missing, missing, "{of_ranges}");

        let (counts, of_steps) = run(searcher, "*", Facet::histogram("price", 100));
        let expected = counted(live().filter_map(|item| item.price.map(|it| it / 100 * 100)));
        let found = counts.buckets.iter().map(|it| (it.from.clone().unwrap(), it.count));
        let expected = expected.into_iter().map(|(from, count)| (Value::from(from), count));
        assert!(found.eq(expected), "{of_steps}");
        assert_eq!(counts.missing, missing, "{of_steps}");

        let (counts, of_years) = run(searcher, "*", Facet::date_histogram("day", Interval::Year));
        let year = |date: String| date.split('-').next().unwrap().to_owned();
        let expected = counted(live().map(|item| year(item.day.to_string())));
        let from = |it: &Bucket| year(it.from.as_ref().unwrap().to_string());
        let found = counts.buckets.iter().map(|it| (from(it), it.count));
        assert!(found.eq(expected), "{of_years}");

        for plan in [of_ranges, of_steps, of_years] {
            let counted = plan.facets[0].actual.unwrap().column.unwrap();
            let by_dictionary = counted.ends_looked_up > 0;
            assert_eq!(taken_away(&plan.facets[0]), if is_few { n_deleted } else { 0 }, "{plan}");
            assert_eq!(by_dictionary, is_few, "{plan}");
            assert_eq!(counted.documents <= n_deleted, is_few, "{plan}");
        }
    }
}

#[test]
fn totals_of_ranges_are_those_of_the_dictionary_less_deleted_documents() {
    let items = items();
    for (searcher, left) in &searchers(&items, &[900, 3]) {
        let n_deleted = left.iter().filter(|left| !**left).count() as u64;
        for (from, to) in [(0, 900), (0, 5), (3, 999), (400, 600), (-9, 5_000), (2_000, 3_000)] {
            let is_inside = |item: &&Item| item.price.is_some_and(|it| (from..=to).contains(&it));
            let live = items.iter().zip(left).filter(|(_, left)| **left).map(|(item, _)| item);
            let expected = live.filter(is_inside).count() as u64;
            let query = searcher.parse(&format!("price:[{from} TO {to}]")).unwrap();
            assert_eq!(searcher.count(&query).unwrap(), expected, "{query}");
            let page = searcher.search(&query).limit(3).run().unwrap();
            assert_eq!(page.total.value, expected, "{query}");
            let plan = searcher.search(&query).count_only().analyze().unwrap();
            let actual = plan.plan.actual.as_ref().unwrap();
            assert_eq!(actual.documents, expected, "{plan}");
            let rule = "take deleted documents away";
            let is_so = plan.plan.decisions.iter().any(|decision| decision.rule == rule);
            if n_deleted <= 100 && (from, to) == (0, 900) {
                assert!(is_so, "{plan}");
                assert_eq!(plan.plan.algorithm, "document frequencies less deleted documents");
                let all = items.iter().filter(is_inside).count() as u64;
                assert_eq!(actual.documents_in, Some(all), "{plan}");
                assert_eq!(plan.plan.children[1].actual.as_ref().unwrap().documents, n_deleted);
                // Past a page, too, but not where facets need all that matches.
                let page = searcher.search(&query).limit(3);
                let is_told = |plan: &ExplainTree| {
                    let mut decisions = plan.plan.children[0].decisions.iter();
                    let is_so = decisions.any(|decision| decision.rule == rule);
                    assert_eq!(plan.plan.algorithm.contains("less deleted"), is_so, "{plan}");
                    is_so
                };
                assert!(is_told(&page.clone().analyze().unwrap()));
                assert!(!is_told(
                    &page.with_facet(Facet::histogram("price", 100)).analyze().unwrap()
                ));
            }
        }
    }
}

/// What the deleted documents have takes memory while they are taken away, and no longer.
#[test]
fn what_deleted_documents_have_is_taken_away_within_the_memory_that_there_is() {
    let name = Field::new("name", FieldKind::Keyword).column(true);
    let code = Field::new("code", FieldKind::Keyword).column(true);
    let number = Field::new("number", FieldKind::I64);
    let schema = Schema::builder().field(number).field(name).field(code);
    let index = Index::in_memory(schema.build().unwrap());
    let mut writer = index.writer().unwrap();
    for at in 0..N as i64 {
        let code = if at % 300 == 0 { format!("d{at}") } else { format!("n{}", at % 3_000) };
        // Those that will be deleted have long names, of which the dictionary keeps but the ends.
        let name = match at % 300 {
            0 => format!("{}{at}", "long".repeat(500)),
            _ => format!("n{}", at % 3_000),
        };
        let document = Document::new().with("number", at).with("name", name);
        writer.add(document.with("code", code)).unwrap();
    }
    writer.commit().unwrap();
    for at in (0..N as i64).step_by(300) {
        writer.delete_value("number", at).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("*").unwrap();
    let search =
        |bytes: u64| searcher.search(&query).limit(0).budget(Budget::new().memory_bytes(bytes));
    let by_frequency = |name: &str| Facet::values(name).method(FacetMethod::DocumentFrequency);
    let whole = search(8 << 20).facet("name", 10).run().unwrap();
    for (n_bytes, is_enough) in
        [(8 << 20, true), (1 << 20, true), (500 << 10, false), (100 << 10, false)]
    {
        let plan = search(n_bytes).facet("name", 10).analyze().unwrap();
        assert_eq!(plan.facets[0].algorithm == "document frequencies", is_enough, "{plan}");
        let page = search(n_bytes).facet("name", 10).run().unwrap();
        assert_eq!(page.facets, whole.facets, "{n_bytes}");
        // Who asks for it gets it or the error, however often.
        let asked =
            (0..5).fold(search(n_bytes), |search, _| search.with_facet(by_frequency("name")));
        let found = asked.run().map(|page| page.facets);
        assert_eq!(found.is_ok(), is_enough, "{n_bytes}: {found:?}");
        if let Err(error) = found {
            assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{n_bytes}: {error}");
        }
    }
    // Nor does it take most of what there is.
    for (n_bytes, is_little_of_it) in [(8 << 20, true), (110 << 10, false)] {
        let plan = search(n_bytes).facet("code", 10).analyze().unwrap();
        assert_eq!(plan.facets[0].algorithm == "document frequencies", is_little_of_it, "{plan}");
        let asked = search(n_bytes).with_facet(by_frequency("code")).run().unwrap();
        assert_eq!(asked.facets, search(8 << 20).facet("code", 10).run().unwrap().facets);
    }
}
