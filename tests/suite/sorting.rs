//! Hits in the order of fields: every page of a walk, forwards by offset and from hit to hit, compared with documents that
//! are filtered and sorted one by one.
//!
//! ```text
//! cargo test --test suite sorting
//! TREEPIE_SORTING=100000 TREEPIE_SORTING_SEED=7 cargo test --release --test suite sorting_walks -- --nocapture
//! ```

use crate::orders::{By, Key, Row, id, scores};
use crate::random::Random;
use crate::typed::{self, FIELDS, Item, Matches};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use treepie::facet::{FacetKind, FacetRange};
use treepie::query::{ParseOptions, Query, parse};
use treepie::search::TotalMode;
use treepie::value::Interval;
use treepie::{
    After, Budget, Document, ErrorKind, Facet, Field, FieldKind, Hit, Index, Schema, SearchBuilder,
    SortKey, Timestamp, Value,
};

/// Walks that are made unless more are asked for.
pub(crate) const WALKS: u64 = 500;

pub(crate) fn from_env(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |number| number.parse().expect("a number"))
}

/// A query, and what it matches.
pub(crate) fn any_query(random: &mut Random) -> (String, Matches<'static>) {
    let (a, is_a) = typed::leaf(random);
    let (b, is_b) = typed::leaf(random);
    let has = |word: usize| {
        let has = move |item: &Item| item.get("t").is_some_and(|it| it.contains(&(word as i128)));
        (format!("t:x{word}"), has)
    };
    let (word, has_word) = has(random.below(typed::WORDS));
    let (other, has_other) = has(random.below(typed::WORDS));
    match random.below(10) {
        6 => (format!("{word} OR {other}"), Box::new(move |it| has_word(it) || has_other(it))),
        7 => (format!("{word} AND {a}"), Box::new(move |it| has_word(it) && is_a(it))),
        8 => (format!("{word} OR {b}^2.5"), Box::new(move |it| has_word(it) || is_b(it))),
        9 => {
            let (first, second) = (&word[2..], &other[2..]);
            let [a, b] = [first, second].map(|word| word[1..].parse::<i128>().unwrap());
            let stand_so = move |item: &Item| {
                let words = item.get("t").map_or(&[][..], |words| words);
                words.windows(2).any(|pair| pair == [a, b])
            };
            (format!("t:\"{first} {second}\""), Box::new(stand_so))
        }
        0 => (format!("{a} AND {b}"), Box::new(move |item| is_a(item) && is_b(item))),
        1 => (format!("{a} OR {b}"), Box::new(move |item| is_a(item) || is_b(item))),
        2 => (format!("* AND NOT {b}"), Box::new(move |item| !is_b(item))),
        3 => ("*".into(), Box::new(|_| true)),
        _ => (a, is_a),
    }
}

#[test]
fn sorting_walks_are_those_of_a_stable_sort() {
    let seed = from_env("TREEPIE_SORTING_SEED", 11);
    let mut random = Random(seed);
    let items = typed::items(9_000, &mut random);
    let searchers = typed::searchers(&items);
    let n_walks = from_env("TREEPIE_SORTING", WALKS);
    let mut n_pages = 0;
    for _ in 0..n_walks {
        let (text, matches) = any_query(&mut random);
        let query = parse(&text, &ParseOptions::default()).unwrap();
        let mut keys: Vec<Key> = vec![];
        for _ in 0..1 + random.below(3) {
            let key = Key::any(&mut random);
            // Each field once, in whatever order.
            let field = |key: &Key| key.sort_key().field().map(str::to_owned);
            let is_same = |other: &Key| {
                other.by == key.by || field(&key).is_some() && field(other) == field(&key)
            };
            if !keys.iter().any(is_same) {
                keys.push(key);
            }
        }
        let (searcher, left) = &searchers[random.below(searchers.len())];
        let is_scored = keys.iter().any(|key| matches!(key.by, By::Score | By::Function(1 | 4)));
        let scores = if is_scored { scores(searcher, &query) } else { BTreeMap::new() };
        let is_left = |row: &Row<'_>| left[row.id] && matches(row.item);
        let row = |(id, item)| {
            let score = scores.get(&(id as u64)).copied().unwrap_or_default();
            Row { id, item, score }
        };
        let mut expected: Vec<_> = items.iter().enumerate().map(row).filter(is_left).collect();
        assert!(!is_scored || scores.len() == expected.len(), "{text}");
        expected.sort_by(|a, b| {
            let orders = keys.iter().map(|key| key.compare(*a, *b));
            orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        });
        let facet = FIELDS[random.below(FIELDS.len())].0;
        let per_page = 1 + random.below(40) as u64;
        let search = |query| {
            let keys = keys.iter().map(|key| key.sort_key());
            searcher.search(query).sort(keys).limit(per_page).fields(["id"])
        };
        let from = random.below(expected.len() + 2);
        let about = format!("{text} by {keys:?} from {from}, {per_page} a page, seed {seed}");
        let with_facet = random.below(4) == 0;
        // A page somewhere, then from its last hit on.
        let mut at = from;
        let mut next: Option<SearchBuilder<'_>> = Some(search(&query).offset(from as u64));
        for _ in 0..4 {
            let Some(mut page) = next.take() else { break };
            if with_facet {
                page = page.facet(facet, 5);
            }
            let page = page.run().unwrap();
            n_pages += 1;
            assert_eq!(page.total.value, expected.len() as u64, "{about}");
            let wanted: Vec<_> = expected.iter().skip(at).take(per_page as usize).collect();
            let ids: Vec<u64> = wanted.iter().map(|row| row.id as u64).collect();
            assert_eq!(page.hits.iter().map(id).collect::<Vec<_>>(), ids, "{about}, at {at}");
            if with_facet {
                let has = |row: &&Row<'_>| row.item.contains_key(facet);
                let missing = expected.len() - expected.iter().filter(has).count();
                assert_eq!(page.facets[0].missing, missing as u64, "{about}");
            }
            at += wanted.len();
            for (hit, row) in page.hits.iter().zip(&wanted) {
                assert_eq!(hit.score, is_scored.then_some(row.score), "{about}");
                for (key, found) in keys.iter().zip(&hit.sort) {
                    key.check(**row, found, &about);
                }
            }
            next =
                page.hits.last().map(|hit| search(&query).after(After::values(&hit.sort, hit.doc)));
        }
    }
    println!("{n_walks} walks, {n_pages} pages, seed {seed}");
}

/// Ranges of a field, and the values in millionths that they begin with and end before.
fn any_ranges(
    kind: FieldKind,
    random: &mut Random,
) -> Vec<(FacetRange, Option<i128>, Option<i128>)> {
    // More than are compared with each number one by one, too.
    let n_ranges = [6, 40][random.below(2)];
    let mut end = |n: u32| {
        let micros = typed::any_value(kind, random);
        (random.below(6) > 0).then(|| {
            // As a value, or as the text that says the same.
            let value = typed::value(kind, micros);
            let text = Value::from(value.to_text().into_owned());
            (if n.is_multiple_of(2) { value } else { text }, micros)
        })
    };
    let range = |nth| {
        let (from, to) = (end(nth), end(nth + 1));
        let micros = |end: &Option<(Value, i128)>| end.as_ref().map(|end| end.1);
        let (first, last) = (micros(&from), micros(&to));
        let value = |end: Option<(Value, i128)>| end.map(|end| end.0);
        (FacetRange::new(value(from), value(to)), first, last)
    };
    (0..n_ranges).map(range).collect()
}

#[test]
fn ranges_count_the_documents_that_have_a_value_in_them() {
    let mut random = Random(5);
    let items = typed::items(4_000, &mut random);
    let searchers = typed::searchers(&items);
    for _ in 0..from_env("TREEPIE_SORTING", WALKS) {
        let (text, matches) = any_query(&mut random);
        let query = parse(&text, &ParseOptions::default()).unwrap();
        let (searcher, left) = &searchers[random.below(searchers.len())];
        let is_left = |(nth, item): &(usize, &Item)| left[*nth] && matches(item);
        let expected: Vec<(usize, &Item)> = items.iter().enumerate().filter(is_left).collect();
        let (name, kind, _) = FIELDS[random.below(typed::N_NUMBERS)];
        let ranges = any_ranges(kind, &mut random);
        let is_in = |value: i128, (_, from, to): &(FacetRange, Option<i128>, Option<i128>)| {
            from.is_none_or(|from| from <= value) && to.is_none_or(|to| value < to)
        };
        let asked = ranges.iter().map(|range| range.0.clone());
        let page =
            searcher.search(&query).with_facet(Facet::ranges(name, asked)).facet("b", 1).limit(3);
        let page = page.run().unwrap();
        let about = format!("{text}: {name} {ranges:?}");
        let of = |item: &Item| item.get(name).cloned().unwrap_or_default();
        let facet = &page.facets[0];
        assert_eq!((facet.kind, &*page.facets[1].field), (FacetKind::Ranges, "b"));
        for (bucket, range) in facet.buckets.iter().zip(&ranges) {
            let has = |item: &Item| of(item).iter().any(|value| is_in(*value, range));
            let count = expected.iter().filter(|(_, item)| has(item)).count();
            assert_eq!(bucket.count, count as u64, "{about}: {range:?}");
        }
        let has_none = |item: &Item| {
            let is_out = |value: &i128| !ranges.iter().any(|range| is_in(*value, range));
            item.contains_key(name) && of(item).iter().all(is_out)
        };
        let other = expected.iter().filter(|(_, item)| has_none(item)).count();
        let missing = expected.iter().filter(|(_, item)| !item.contains_key(name)).count();
        assert_eq!((facet.other, facet.missing), (Some(other as u64), missing as u64), "{about}");
        // The calendar, by hours.
        let name = ["d", "dm"][random.below(2)];
        let hours = searcher
            .search(&query)
            .with_facet(Facet::date_histogram(name, Interval::Hour))
            .limit(0);
        let hours = hours.run().unwrap().facets.remove(0);
        let mut by_hour = BTreeMap::new();
        for (_, item) in &expected {
            let hours = item.get(name).into_iter().flatten().map(|at| at.div_euclid(3_600_000_000));
            for hour in hours.collect::<BTreeSet<_>>() {
                *by_hour.entry(hour).or_insert(0) += 1;
            }
        }
        let found = hours.buckets.iter().map(|bucket| match &bucket.from {
            Some(Value::Date(from)) => (i128::from(from.as_micros()) / 3_600_000_000, bucket.count),
            other => panic!("{other:?}"),
        });
        assert!(found.eq(by_hour), "{text} by hours of {name}");
        assert_eq!(hours.other, Some(0));
    }
}

#[test]
fn blocks_that_lie_in_one_range_are_not_read() {
    let index = prices(100_000);
    let searcher = index.searcher().unwrap();
    // All but one: what all documents have, the dictionary knows.
    let query = searcher.parse("name:thing -price:99999").unwrap();
    let search = || {
        let ranges = [(0..50_000u64).into(), (50_000u64..).into()];
        searcher
            .search(&query)
            .with_facet(Facet::ranges("price", ranges))
            .facet("price", 1)
            .limit(0)
    };
    let page = search().run().unwrap();
    let counts: Vec<_> = page.facets[0].buckets.iter().map(|bucket| bucket.count).collect();
    assert_eq!(counts, [50_000, 49_999]);
    let tree = search().analyze().unwrap();
    let (ranges, terms) = (&tree.facets[0], &tree.facets[1]);
    assert_eq!((ranges.ranges.as_deref(), terms.ranges.as_deref()), (Some("2 ranges"), None));
    let counts = ranges.actual.unwrap().column.unwrap();
    // That with 50,000 in it.
    assert_eq!((counts.blocks, counts.blocks_skipped, counts.documents), (98, 97, 1_024));
    let text = tree.to_string();
    assert!(text.contains("price, 2 ranges") && text.contains("1 of 98 blocks"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&tree.to_json()).unwrap();
    assert_eq!(json["facets"][0]["actual"]["column"]["blocks_skipped"], 97);
    let refused = |search: SearchBuilder<'_>, words: &str| {
        for error in [search.clone().run().unwrap_err(), search.explain().unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains(words), "{error}");
        }
    };
    let all = || searcher.search(&query);
    refused(all().with_facet(Facet::ranges("name", [(..).into()])), "found the text field 'name'");
    refused(
        all().with_facet(Facet::ranges("plain", [(..).into()])),
        "expected a field that keeps a column",
    );
    refused(all().with_facet(Facet::ranges("price", [("cheap"..).into()])), "found 'cheap'");
    refused(
        all().with_facet(Facet::date_histogram("price", Interval::Day)),
        "expected a field of dates",
    );
    let turned = all()
        .with_facet(Facet::ranges("price", [FacetRange::new(Some(9), Some(3)), (..3).into()]))
        .run()
        .unwrap();
    assert_eq!(turned.facets[0].buckets.iter().map(|b| b.count).collect::<Vec<_>>(), [0, 3]);
}

/// Only intervals that have any are made, and told of to whoever limits memory.
#[test]
fn dates_far_from_each_other_are_counted_by_short_intervals() {
    let date = Field::new("d", FieldKind::Date).many(true);
    let index = Index::in_memory(Schema::builder().field(date).build().unwrap());
    let mut writer = index.writer().unwrap();
    for text in
        ["0001-01-01", "2010-05-06T07:08:09Z", "2010-05-06T07:08:59Z", "9999-12-31T23:59:59Z"]
    {
        writer.add(Document::new().with("d", text)).unwrap();
    }
    writer.commit().unwrap();
    let (searcher, query) = (index.searcher().unwrap(), Query::All);
    let by = |interval| {
        let page =
            searcher.search(&query).with_facet(Facet::date_histogram("d", interval)).run().unwrap();
        let text = |end: &Option<Value>| end.as_ref().map(ToString::to_string).unwrap_or_default();
        let buckets = page.facets[0].buckets.iter();
        buckets.map(|b| (text(&b.from), text(&b.to), b.count)).collect::<Vec<_>>()
    };
    let minutes = by(Interval::Minute);
    assert_eq!(minutes[1], ("2010-05-06T07:08:00Z".into(), "2010-05-06T07:09:00Z".into(), 2));
    assert_eq!(minutes[2], ("9999-12-31T23:59:00Z".into(), String::new(), 1));
    assert_eq!((minutes.len(), by(Interval::Week).len(), by(Interval::Year).len()), (3, 3, 3));
    let mut many = Document::new();
    (0..20_000i64).for_each(|nth| {
        many.push("d", Timestamp::from_micros(nth * 60_000_000).unwrap());
    });
    writer.add(many).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let search =
        || searcher.search(&query).with_facet(Facet::date_histogram("d", Interval::Minute));
    assert_eq!(search().run().unwrap().facets[0].buckets.len(), 20_003);
    let error = search().budget(Budget::new().memory_bytes(1 << 20)).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    let ranges = vec![FacetRange::default(); 1_025];
    let error = searcher.search(&query).with_facet(Facet::ranges("d", ranges)).run().unwrap_err();
    assert!(error.to_string().contains("at most 1024 ranges"), "{error}");
}

#[test]
fn a_whole_walk_meets_each_document_once() {
    let mut random = Random(3);
    let items = typed::items(2_500, &mut random);
    for (searcher, left) in typed::searchers(&items) {
        let n_left = left.iter().filter(|left| **left).count();
        // Matches everything, and what else it finds scores more.
        let query = searcher.parse("* OR t:x0 OR t:x2").unwrap();
        for keys in [
            "b",
            "b:desc,im:asc:missing_first",
            "dm:desc",
            "k:desc,b",
            "i,km",
            "_score",
            "b,_score:asc,k",
            "random:5",
            "n:natural:desc",
            "nm:collate=de,i",
            "b,n:collate=sv:asc:missing_first",
            "b,random:9",
            "(coalesce(f, 0) + _score):desc,k",
            "b,(max(i, im)):asc:missing_first",
        ] {
            if keys.contains("collate") && !cfg!(feature = "collation") {
                continue;
            }
            let keys = SortKey::list(keys).unwrap();
            let page = || searcher.search(&query).sort(keys.clone()).limit(97);
            let (mut by_offset, mut by_hit) = (vec![], vec![]);
            let mut after: Option<Hit> = None;
            loop {
                let offset = by_offset.len() as u64;
                let hits = page().offset(offset).run().unwrap().hits;
                by_offset.extend(hits.iter().map(|hit| hit.doc));
                let search = match &after {
                    Some(hit) => page().after(After::values(&hit.sort, hit.doc)),
                    None => page(),
                };
                let hits = search.total(TotalMode::Unknown).run().unwrap().hits;
                by_hit.extend(hits.iter().map(|hit| hit.doc));
                match hits.last() {
                    Some(hit) => after = Some(hit.clone()),
                    None => break,
                }
            }
            assert_eq!(by_offset, by_hit);
            assert_eq!(by_hit.len(), n_left);
            by_hit.sort_unstable();
            by_hit.dedup();
            assert_eq!(by_hit.len(), n_left);
            // A prepared search finds the same.
            let search = page();
            let mut prepared = search.prepare().unwrap();
            for _ in 0..2 {
                let docs: Vec<_> = prepared.run().unwrap().hits.iter().map(|doc| doc.doc).collect();
                assert_eq!(docs, by_offset[..97]);
            }
        }
    }
}

/// Prices that rise with the number of the document, and one field that nobody can sort by.
pub(crate) fn prices(n: u64) -> Index {
    let price = Field::new("price", FieldKind::U64);
    let plain = Field::new("plain", FieldKind::I64).column(false);
    let schema = Schema::builder().text("name").field(price).field(plain).build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for nth in 0..n {
        let document = Document::new().with("name", "thing").with("price", nth).with("plain", 1);
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    index
}

#[test]
fn blocks_that_have_none_of_the_first_are_not_read() {
    let index = prices(100_000);
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("name:thing").unwrap();
    let by_score = searcher.search(&query).sort([SortKey::score()]).analyze().unwrap();
    assert_eq!(by_score.plan.algorithm, "score of every match");
    assert_eq!(by_score.plan.actual.unwrap().sort.unwrap().documents, 100_000);
    let counts = |key: &str, query: &Query| {
        // So many that the lists of the first values hold too few.
        let search = searcher.search(query).sort([key.parse().unwrap()]).limit(2_000);
        let tree = search.analyze().unwrap();
        assert_eq!((tree.plan.operator.name(), tree.plan.id.as_str()), ("Sort", "0"));
        let in_words = key.replace(":asc", " ascending").replace(":desc", " descending");
        assert!(tree.to_string().contains(&format!("first 2000 by {in_words}")), "{tree}");
        let json: serde_json::Value = serde_json::from_str(&tree.to_json()).unwrap();
        assert_eq!(
            (&json["plan"]["field"], &json["plan"]["predicate"]),
            (&"price".into(), &key.into())
        );
        let sort = tree.plan.actual.unwrap().sort.unwrap();
        let told = &json["plan"]["actual"]["sort"];
        assert_eq!(told["blocks_skipped"], sort.blocks_skipped);
        assert_eq!(told["documents"], sort.documents);
        (sort.blocks, sort.blocks_skipped, sort.documents)
    };
    assert_eq!(counts("price:asc", &query), (98, 96, 2 * 1_024));
    // The last block has fewer than the others.
    assert_eq!(counts("price:desc", &query), (98, 95, 2 * 1_024 + 100_000 % 1_024));
    let few = searcher.parse("price:[50000 TO 50099]").unwrap();
    assert_eq!(counts("price:desc", &few).2, 100);
    let explained = searcher.search(&query).sort([SortKey::ascending("price")]).explain().unwrap();
    assert!(explained.plan.actual.is_none() && explained.plan.children.len() == 1);
    assert!(explained.to_string().contains("lists in the order of the field"), "{explained}");
    let decision = |rule: &str| explained.plan.decisions.iter().find(|it| it.rule == rule).unwrap();
    let lists = decision("read lists in their order");
    let by_bounds = lists.alternative.as_ref().unwrap().estimated_cost_ns.unwrap();
    assert!(lists.accepted && lists.estimated_cost_ns.unwrap() < by_bounds, "{explained}");
    let first = decision("keep the first, sort nothing else");
    assert_eq!(first.estimated_cost_ns, lists.estimated_cost_ns);
    assert!(first.alternative.as_ref().unwrap().estimated_cost_ns.unwrap() > by_bounds);
    // The lists of so many cost more than the bounds of all blocks.
    let many = searcher.search(&query).sort([SortKey::ascending("price")]).limit(2_000);
    let explained = many.explain().unwrap();
    let lists = explained.plan.decisions.iter().find(|it| it.rule == "read lists in their order");
    assert!(!lists.unwrap().accepted, "{explained}");
}

#[test]
fn what_cannot_be_sorted_by_is_refused_and_says_what_would_be_needed() {
    let index = prices(3);
    let searcher = index.searcher().unwrap();
    let query = Query::All;
    let by = |keys: Vec<SortKey>| searcher.search(&query).sort(keys);
    let refused = |search: SearchBuilder<'_>, words: &str| {
        for error in [search.clone().run().unwrap_err(), search.explain().unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains(words), "{error}");
        }
    };
    let price = || SortKey::ascending("price");
    refused(by(vec![SortKey::ascending("prize")]), "expected one of price, found 'prize'");
    refused(by(vec![SortKey::ascending("name")]), "found the text field 'name'");
    refused(
        by(vec![SortKey::ascending("plain")]),
        "column = true in the schema, and an index made anew",
    );
    refused(by(vec![price(), SortKey::descending("price")]), "expected each field once");
    refused(by(vec![price().natural()]), "found the u64 field 'price'");
    let of_language = match cfg!(feature = "collation") {
        true => "expected a locale, as de",
        false => "a build with the feature 'collation'",
    };
    refused(by(vec![price().collated("d-e")]), of_language);
    let hit = by(vec![price()]).run().unwrap().hits.remove(0);
    refused(
        by(vec![price()]).after(After::score(1.0, hit.doc)),
        "in its order: expected values of a hit, found a score",
    );
    refused(by(vec![]).after(After::values(&hit.sort, hit.doc)), "expected keys to sort by");
    let two: [Value; 2] = [Value::Null, Value::Null];
    let with = |values: &[Value]| {
        let search = by(vec![price()]).after(After::values(values.to_vec(), hit.doc));
        search.run().unwrap_err().to_string()
    };
    assert!(with(&two).contains("expected 1 values, one a key, found 2"));
    assert!(with(&["dear".into()]).contains("found 'dear'"));
}
