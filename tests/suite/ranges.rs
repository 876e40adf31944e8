//! Ranges over values that are mostly different in each document: by their posting lists or by the column, beside
//! conditions that leave many documents or few, compared with documents that are looked at one by one.

use crate::random::Random;
use std::collections::HashSet;
use treepie::facet::FacetRange;
use treepie::query::{ParseOptions, Query, parse};
use treepie::search::Order;
use treepie::{Document, Facet, Field, FieldKind, Index, Schema, Searcher};

const N: usize = 150_000;

/// A document as it is looked at.
#[derive(Default)]
struct Item {
    /// Of all documents, or nearly all of them.
    number: i64,
    rare: Option<i64>,
    many: Vec<i64>,
    word: String,
    marks: Vec<&'static str>,
}

fn items(random: &mut Random) -> Vec<Item> {
    let item = |at: usize| {
        let of = [("half", 2), ("tenth", 10), ("hundredth", 100), ("rare", 5_000)];
        let marks = random.marks(&of);
        Item {
            number: random.below(1 << 20) as i64 - 1_000,
            // Some thousand documents in a row have one in twenty, or all.
            rare: match at / 3_000 % 3 {
                0 => None,
                1 => (random.below(20) == 0).then(|| random.below(100_000) as i64),
                _ => Some(at as i64),
            },
            many: (0..random.below(4)).map(|_| random.below(100_000) as i64).collect(),
            word: format!("w{:05}", random.below(50_000)),
            marks,
        }
    };
    (0..N).map(item).collect()
}

fn searchers(items: &[Item]) -> Vec<(Searcher, Vec<bool>)> {
    let schema = Schema::builder()
        .field(Field::new("number", FieldKind::I64))
        .field(Field::new("rare", FieldKind::I64))
        .field(Field::new("many", FieldKind::I64).many(true))
        .field(Field::new("word", FieldKind::Keyword).column(true))
        .field(Field::new("mark", FieldKind::Keyword).many(true))
        .build()
        .unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    let (mut searchers, mut left) = (vec![], vec![true; items.len()]);
    for (at, item) in items.iter().enumerate() {
        let mut document = Document::new().with("number", item.number).with("word", &*item.word);
        item.rare.iter().for_each(|value| document.push("rare", *value));
        item.many.iter().for_each(|value| document.push("many", *value));
        item.marks.iter().for_each(|mark| document.push("mark", *mark));
        writer.add(document).unwrap();
        // The first segment ends inside a window, the second is short.
        if [99_999, 100_099].contains(&at) {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    searchers.push((index.searcher().unwrap(), left.clone()));
    for one_in in [1_300, 13] {
        let gone: HashSet<i64> = items.iter().step_by(one_in).map(|item| item.number).collect();
        for number in &gone {
            writer.delete_value("number", *number).unwrap();
        }
        writer.commit().unwrap();
        left.iter_mut().zip(items).for_each(|(left, item)| *left &= !gone.contains(&item.number));
        searchers.push((index.searcher().unwrap(), left.clone()));
    }
    searchers
}

type Matches = Box<dyn Fn(&Item) -> bool>;

/// A range of one field, of any width.
fn range(random: &mut Random) -> (String, Matches) {
    let field = ["number", "rare", "many", "word"][random.below(4)];
    let most = if field == "number" { 1 << 20 } else { 100_000 };
    let width = most >> random.below(14);
    let from = random.below(most) as i64 - 2_000;
    let to = from + width as i64;
    let inside = move |value: &i64| (from..=to).contains(value);
    match field {
        "number" => {
            (format!("number:[{from} TO {to}]"), Box::new(move |item| inside(&item.number)))
        }
        "rare" => {
            (format!("rare:[{from} TO {to}]"), Box::new(move |item| item.rare.iter().any(inside)))
        }
        "many" => {
            (format!("many:[{from} TO {to}]"), Box::new(move |item| item.many.iter().any(inside)))
        }
        _ => {
            let (from, to) = (format!("w{:05}", from.max(0)), format!("w{:05}", to.max(0)));
            (
                format!("word:[{from} TO {to}]"),
                Box::new(move |item| (&from..=&to).contains(&&item.word)),
            )
        }
    }
}

/// Some values of one field, most of which are there.
fn values(random: &mut Random, items: &[Item]) -> (String, Matches) {
    let mut any = || &items[random.below(items.len())];
    let n = [2, 3, 5, 12, 30][any().number.rem_euclid(5) as usize];
    match any().number % 3 {
        0 => {
            let wanted: Vec<i64> = (0..n).map(|_| any().number).chain([-5]).collect();
            let query = format!("number:IN {wanted:?}").replace(',', "");
            (query, Box::new(move |item| wanted.contains(&item.number)))
        }
        1 => {
            let wanted: Vec<i64> =
                (0..n).filter_map(|_| any().many.first().copied()).chain([7, 8]).collect();
            let query = format!("many:IN {wanted:?}").replace(',', "");
            (query, Box::new(move |item| item.many.iter().any(|value| wanted.contains(value))))
        }
        _ => {
            let mut wanted: Vec<String> = (0..n).map(|_| any().word.clone()).collect();
            wanted.push("w0".into());
            let query = format!("word:IN [{}]", wanted.join(" "));
            (query, Box::new(move |item| wanted.contains(&item.word)))
        }
    }
}

fn mark(random: &mut Random) -> (String, Matches) {
    let mark = ["every", "half", "tenth", "hundredth", "rare", "none"][random.below(6)];
    (format!("mark:{mark}"), Box::new(move |item| item.marks.contains(&mark)))
}

fn query(random: &mut Random, items: &[Item], depth: usize) -> (String, Matches) {
    let inner = |random: &mut Random| query(random, items, depth - 1);
    match random.below(if depth == 0 { 2 } else { 6 }) {
        0 => mark(random),
        1 if random.below(3) == 0 => values(random, items),
        1 => range(random),
        2 | 3 => {
            let ((a, is_a), (b, is_b)) = (inner(random), inner(random));
            (format!("({a} AND {b})"), Box::new(move |item| is_a(item) && is_b(item)))
        }
        4 => {
            let ((a, is_a), (b, is_b)) = (inner(random), inner(random));
            (format!("({a} OR {b})"), Box::new(move |item| is_a(item) || is_b(item)))
        }
        _ => {
            let ((a, is_a), (b, is_b)) = (inner(random), inner(random));
            (format!("({a} AND NOT {b})"), Box::new(move |item| is_a(item) && !is_b(item)))
        }
    }
}

#[test]
fn ranges_match_the_same_by_whatever_way_they_are_found() {
    let mut random = Random(23);
    let items = items(&mut random);
    let searchers = searchers(&items);
    let (mut by_lists, mut by_numbers, mut by_blocks, mut within_union) = (0, 0, 0, 0);
    for round in 0..300 {
        let (text, matches) = match round % 3 {
            0 => {
                let (a, is_a) = mark(&mut random);
                let (b, is_b) = match round % 2 {
                    0 => range(&mut random),
                    _ => values(&mut random, &items),
                };
                let both: Matches = Box::new(move |item| is_a(item) && is_b(item));
                (format!("{a} AND {b}"), both)
            }
            _ => query(&mut random, &items, 3),
        };
        let parsed = parse(&text, &ParseOptions::default()).unwrap();
        for (searcher, left) in &searchers {
            let all = items.iter().zip(left).enumerate();
            let expected: Vec<u64> = all
                .filter(|(_, (item, left))| **left && matches(item))
                .map(|(at, _)| at as u64)
                .collect();
            let plan = searcher.search(&parsed).count_only().analyze().unwrap();
            let shown = plan.to_string();
            by_lists += u32::from(shown.contains("united in a bitmap"));
            by_numbers += u32::from(shown.contains("numbers of the column compared"));
            by_blocks += u32::from(shown.contains("blocks of the column compared"));
            within_union += u32::from(shown.contains("Union") && shown.contains("ColumnScan"));
            assert_eq!(searcher.count(&parsed).unwrap(), expected.len() as u64, "{text}\n{shown}");
            let search = searcher.search(&parsed).order(Order::Document);
            let page = search.limit(N as u64).fields::<String>([]).run().unwrap();
            let found: Vec<u64> = page.hits.iter().map(|hit| hit.doc.0).collect();
            assert_eq!(found, expected, "{text}\n{shown}");
        }
    }
    let counts = [by_lists, by_numbers, by_blocks, within_union];
    assert!(counts.into_iter().all(|n| n > 10), "{counts:?}");
}

#[test]
fn a_range_of_values_of_which_documents_have_one_is_counted_by_the_dictionary() {
    let mut random = Random(29);
    let items = items(&mut random);
    // Of which no document is deleted.
    let (searcher, _) = &searchers(&items)[0];
    for _ in 0..200 {
        let (text, matches) = range(&mut random);
        let parsed = parse(&text, &ParseOptions::default()).unwrap();
        let expected = items.iter().filter(|item| matches(item)).count() as u64;
        let plan = searcher.search(&parsed).count_only().analyze().unwrap();
        assert_eq!(searcher.count(&parsed).unwrap(), expected, "{text}");
        if text.starts_with("many") {
            continue;
        }
        let estimate = &plan.plan.estimate;
        assert_eq!((estimate.lower, estimate.upper), (expected, expected), "{text}\n{plan}");
        let actual = plan.plan.actual.as_ref().unwrap();
        assert_eq!((actual.documents, actual.bytes_read), (expected, 0), "{text}\n{plan}");
    }
}

#[test]
fn ranges_of_all_documents_are_counted_by_the_dictionary() {
    let items = items(&mut Random(31));
    let ranges = || (0..12).map(|nth| (nth * 100_000 - 1_000, nth * 100_000 + 69_000));
    let values = |item: &Item, field| match field {
        "number" => vec![item.number],
        "rare" => item.rare.iter().copied().collect(),
        _ => item.many.clone(),
    };
    let (all, searchers) = (Query::All, searchers(&items));
    for (nth, (searcher, left)) in searchers.iter().enumerate() {
        for field in ["number", "rare", "many"] {
            let search = || {
                let asked = ranges().map(|(from, to)| FacetRange::new(Some(from), Some(to)));
                searcher.search(&all).limit(0).with_facet(Facet::ranges(field, asked))
            };
            let plan = search().analyze().unwrap();
            let facet = &search().run().unwrap().facets[0];
            assert_eq!(facet.buckets.len(), 12);
            for (bucket, (from, to)) in facet.buckets.iter().zip(ranges()) {
                let has = |(item, left): &(&Item, &bool)| {
                    let inside = |value: &i64| (from..to).contains(value);
                    **left && values(item, field).iter().any(inside)
                };
                let expected = items.iter().zip(left).filter(has).count() as u64;
                assert_eq!(bucket.count, expected, "{field} of {nth}\n{plan}");
            }
            let column = plan.facets[0].actual.as_ref().unwrap().column.unwrap();
            // The values of a short segment are looked at, and those of deleted documents, where they are few.
            let looked_at = 100 + column.deleted_taken_away;
            let by_dictionary = column.ends_looked_up > 0 && column.documents <= looked_at;
            // With many deleted documents both cost about as much: what is shown is what was done.
            let is_shown = plan.facets[0].algorithm.starts_with("sums of document frequencies");
            assert_eq!(by_dictionary, is_shown, "{field} of {nth}\n{plan}");
            if nth < 2 || field == "many" {
                assert_eq!(by_dictionary, field != "many", "{field} of {nth}\n{plan}");
            }
        }
    }
}

/// From the least value on, or from behind it, to the greatest, or to before it: where a column says that a range is of all
/// values the dictionary is not searched, on some segments and not on others.
#[test]
fn ranges_of_all_values_but_the_ends_are_told_from_those_of_all() {
    let number = Field::new("number", FieldKind::I64);
    let part = Field::new("part", FieldKind::F64).many(true);
    let schema = Schema::builder().field(number).field(part).build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    let mut numbers: Vec<Option<i64>> = vec![];
    for from in [0, 50] {
        for nth in 0..100 {
            let number = (nth != 7).then_some(from + nth * 37 % 100);
            let mut document = Document::new().with("part", 0.5).with("part", nth as f64);
            if let Some(number) = number {
                document = document.with("number", number);
            }
            writer.add(document).unwrap();
            numbers.push(number);
        }
        writer.commit().unwrap();
    }
    let searcher = index.searcher().unwrap();
    assert_eq!(index.inspect().unwrap().segments().len(), 2);
    let ends =
        [None, Some(-1), Some(0), Some(1), Some(49), Some(50), Some(99), Some(149), Some(150)];
    let shown = |end: Option<i64>| end.map_or("*".to_owned(), |end| end.to_string());
    for (from, to) in ends.iter().flat_map(|from| ends.iter().map(move |to| (*from, *to))) {
        for (open, close) in [('[', ']'), ('{', ']'), ('[', '}'), ('{', '}')] {
            let text = format!("number:{open}{} TO {}{close}", shown(from), shown(to));
            let is_in = |number: &&i64| {
                from.is_none_or(|from| from + i64::from(open == '{') <= **number)
                    && to.is_none_or(|to| **number <= to - i64::from(close == '}'))
            };
            let expected = numbers.iter().flatten().filter(is_in).count() as u64;
            let query = searcher.parse(&text).unwrap();
            assert_eq!(searcher.count(&query).unwrap(), expected, "{text}");
        }
    }
    for (text, expected) in [("part:[0 TO *]", 200), ("part:{0 TO 99}", 200), ("part:{98 TO *]", 2)]
    {
        let query = searcher.parse(text).unwrap();
        assert_eq!(searcher.count(&query).unwrap(), expected, "{text}");
    }
}
