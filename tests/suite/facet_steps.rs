//! Steps of fractions begin at multiples of the decimal number that their width is written as.

use crate::random::Random;
use std::collections::BTreeMap;
use treepie::{Document, Facet, Field, FieldKind, Index, Schema, Searcher, Value};

/// A number of so many thousandths.
fn number(thousandths: i64) -> f64 {
    format!("{thousandths}e-3").parse().unwrap()
}

/// Documents that match by the step that they have a number in, of a width in thousandths.
fn expected(documents: &[Vec<i64>], width: i64) -> BTreeMap<i64, u64> {
    let mut counts = BTreeMap::new();
    for values in documents {
        let mut steps: Vec<_> = values.iter().map(|value| value.div_euclid(width)).collect();
        steps.sort_unstable();
        steps.dedup();
        steps.iter().for_each(|step| *counts.entry(*step).or_default() += 1);
    }
    counts
}

/// What a facet counts, checked against `documents` and against a query for each bucket.
fn check(searcher: &Searcher, query: &str, documents: &[Vec<i64>], width: i64, text: &str) {
    let of = searcher.parse(query).unwrap();
    let page = searcher.search(&of).with_facet(Facet::histogram("f", text)).run().unwrap();
    let found: Vec<_> = page.facets[0].buckets.iter().collect();
    let expected = expected(documents, width);
    assert_eq!(found.len(), expected.len(), "{query} by {text}");
    for (bucket, (step, count)) in found.into_iter().zip(expected) {
        let ends = [step, step + 1].map(|step| Value::from(number(step * width)));
        let shown = [&bucket.from, &bucket.to].map(|end| end.clone().unwrap());
        assert_eq!((&shown, bucket.count), (&ends, count), "{query} by {text}");
        let [from, to] = shown;
        let range = format!("+({query}) +f:[{from} TO {to}}}");
        let counted = searcher.count(&searcher.parse(&range).unwrap()).unwrap();
        assert_eq!(counted, count, "{range} by {text}");
    }
}

#[test]
fn a_multiple_of_the_width_begins_its_step_and_is_printed_as_it_is_written() {
    let index =
        Index::in_memory(Schema::builder().field(Field::new("f", FieldKind::F64)).build().unwrap());
    let mut writer = index.writer().unwrap();
    for value in ["0.1", "0.2", "0.3", "0.6", "0.7", "-0.3", "-0.35", "0"] {
        writer.add(Document::new().with("f", value)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let shown = |width: Value| -> Vec<String> {
        let query = searcher.parse("*").unwrap();
        let page = searcher.search(&query).with_facet(Facet::histogram("f", width)).run().unwrap();
        let end = |end: &Option<Value>| end.as_ref().map(Value::to_string).unwrap_or_default();
        let buckets = page.facets[0].buckets.iter();
        buckets.map(|it| format!("{}..{} {}", end(&it.from), end(&it.to), it.count)).collect()
    };
    let tenths = [
        "-0.4..-0.3 1",
        "-0.3..-0.2 1",
        "0..0.1 1",
        "0.1..0.2 1",
        "0.2..0.3 1",
        "0.3..0.4 1",
        "0.6..0.7 1",
        "0.7..0.8 1",
    ];
    for width in [Value::from(0.1), "0.1".into(), "0.10".into(), "1e-1".into(), 0.1f32.into()] {
        assert_eq!(shown(width.clone()), tenths, "{width:?}");
    }
    assert_eq!(
        shown("0.3".into()),
        ["-0.6..-0.3 1", "-0.3..0 1", "0..0.3 3", "0.3..0.6 1", "0.6..0.9 2"]
    );
    assert_eq!(shown("0.7".into()), ["-0.7..0 2", "0..0.7 5", "0.7..1.4 1"]);
}

#[test]
fn buckets_have_what_a_query_for_them_finds_on_every_path_that_counts() {
    let mut random = Random(21);
    let widths = [
        (100, "0.1"),
        (200, "0.2"),
        (300, "0.3"),
        (700, "0.7"),
        (10, "0.01"),
        (50, "5e-2"),
        (250, "0.250"),
        (1, "1E-3"),
        (2_500, "2.5"),
        (10_000, "1e1"),
    ];
    // Few numbers beside many documents, and as many numbers as documents: steps are made before, or met.
    for (spread, commit_every) in [(30usize, 7_000), (3_000, 400), (4_000_000, 1_500)] {
        let schema = Schema::builder()
            .field(Field::new("f", FieldKind::F64).many(true))
            .keyword("is")
            .build()
            .unwrap();
        let index = Index::in_memory(schema);
        let mut writer = index.writer().unwrap();
        let mut documents = vec![];
        for nth in 0..3_000 {
            let coarse = [1, 10, 100][random.below(3)];
            let value = |random: &mut Random| {
                (random.below(spread) as i64 - (spread / 3) as i64) / coarse * coarse
            };
            let values: Vec<_> = (0..random.below(3)).map(|_| value(&mut random)).collect();
            let is = if nth % 100 == 0 {
                "rare"
            } else if nth % 7 == 0 {
                "gone"
            } else {
                "here"
            };
            let document = Document::new().with("is", is);
            let add = |document: Document, value: &i64| document.with("f", number(*value));
            writer.add(values.iter().fold(document, add)).unwrap();
            documents.push((is, values));
            if nth % commit_every == commit_every - 1 {
                writer.commit().unwrap();
            }
        }
        writer.commit().unwrap();
        let all = |only: &[&str]| -> Vec<Vec<i64>> {
            let of = documents.iter().filter(|(is, _)| only.contains(is));
            of.map(|(_, values)| values.clone()).collect()
        };
        let check_all = |only: &[&str]| {
            let searcher = index.searcher().unwrap();
            for (width, text) in widths {
                let is_made = spread as i64 / width < 60_000;
                if is_made {
                    check(&searcher, "*", &all(only), width, text);
                    check(&searcher, "is:rare", &all(&["rare"]), width, text);
                }
            }
        };
        check_all(&["rare", "gone", "here"]);
        writer.delete_value("is", "gone").unwrap();
        writer.commit().unwrap();
        check_all(&["rare", "here"]);
        writer.merge().unwrap();
        check_all(&["rare", "here"]);
    }
}
