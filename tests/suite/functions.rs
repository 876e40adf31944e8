//! Scores that functions of columns change, compared with what they make of each document.

use crate::orders::{Row, functions, id, scores};
use crate::random::Random;
use crate::sorting::{WALKS, any_query, from_env, prices};
use crate::typed;
use treepie::function::{Decay, FieldValue, Function, Modifier, ScoreFunction};
use treepie::query::{ParseOptions, Query, parse};
use treepie::search::{Collapse, Order};
use treepie::{
    After, DocId, Document, ErrorKind, Field, FieldKind, Index, Schema, SearchBuilder, SortKey,
    Timestamp,
};

#[test]
fn scores_are_changed_as_functions_of_each_document_change_them() {
    let mut random = Random(23);
    let items = typed::items(3_000, &mut random);
    let searchers = typed::searchers(&items);
    for _ in 0..from_env("TREEPIE_SORTING", WALKS) {
        let (text, matches) = any_query(&mut random);
        let query = parse(&text, &ParseOptions::default()).unwrap();
        let (searcher, left) = &searchers[random.below(searchers.len())];
        let scores = scores(searcher, &query);
        let of: Vec<(usize, usize)> = (0..1 + random.below(3))
            .map(|_| (random.below(functions().len()), random.below(3)))
            .collect();
        let changed = |row: Row<'_>| {
            of.iter().fold(f64::from(row.score), |score, (nth, combine)| {
                // It sees the score that the function before it made.
                let value = match nth {
                    1 => Some(row.number("f").unwrap_or(1.0) * score),
                    4 => Some(row.number("i").unwrap_or(-5.0) + score),
                    nth => functions()[*nth].1(row),
                };
                match (combine, value.filter(|value| value.is_finite())) {
                    (0, value) => score * value.unwrap_or(1.0),
                    (1, value) => score + value.unwrap_or(0.0),
                    (_, value) => value.unwrap_or(0.0),
                }
            })
        };
        let mut expected: Vec<(f32, usize)> = vec![];
        for (id, item) in items.iter().enumerate().filter(|(id, it)| left[*id] && matches(it)) {
            let score = changed(Row { id, item, score: scores[&(id as u64)] }) as f32;
            expected.push((if score > 0.0 { score.min(f32::MAX) } else { 0.0 }, id));
        }
        expected.sort_by(|a, b| b.0.total_cmp(&a.0));
        let search = || {
            of.iter().fold(searcher.search(&query).fields(["id"]), |search, (nth, combine)| {
                let function = functions()[*nth].0.clone();
                search.score_function(match combine {
                    0 => ScoreFunction::multiply(function),
                    1 => ScoreFunction::sum(function),
                    _ => ScoreFunction::replace(function),
                })
            })
        };
        let (at, n) = (random.below(expected.len() + 2), 1 + random.below(20));
        let found = |search: SearchBuilder<'_>| -> Vec<(f32, usize)> {
            let page = search.limit(n as u64).run().unwrap();
            assert_eq!(page.total.value, expected.len() as u64);
            page.hits.iter().map(|hit| (hit.score.unwrap(), id(hit) as usize)).collect()
        };
        let wanted: Vec<_> = expected.iter().skip(at).take(n).copied().collect();
        let page = search().offset(at as u64).limit(n as u64).run().unwrap();
        assert_eq!(found(search().offset(at as u64)), wanted, "{text} by {of:?} from {at}");
        // The page after, and a search that is prepared.
        if let Some(last) = page.hits.last() {
            let wanted: Vec<_> = expected.iter().skip(at + wanted.len()).take(n).copied().collect();
            let next = search().after(After::score(last.score.unwrap(), last.doc));
            assert_eq!(found(next), wanted, "{text} by {of:?} after {at}");
            let why = search().explainer().score(last.doc).unwrap().unwrap();
            assert_eq!(Some(why.value), last.score, "{text} by {of:?}: {why}");
            let by_key = search().sort([SortKey::score()]);
            assert_eq!(
                found(by_key.offset(at as u64))[0],
                (page.hits[0].score.unwrap(), id(&page.hits[0]) as usize)
            );
        }
        let prepared = search().offset(at as u64).limit(n as u64);
        let mut prepared = prepared.prepare().unwrap();
        let docs: Vec<_> = prepared.run().unwrap().hits.iter().map(|doc| doc.doc).collect();
        assert_eq!(docs, page.hits.iter().map(|hit| hit.doc).collect::<Vec<_>>());
    }
}

#[test]
fn functions_are_told_of_in_plans_and_refused_where_they_mean_nothing() {
    let index = prices(3);
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("name:thing").unwrap();
    let by = |text: &str| ScoreFunction::replace(Function::expression(text).unwrap());
    let search = |function| searcher.search(&query).score_function(function);
    let tree = search(by("_score + price")).analyze().unwrap();
    assert_eq!(tree.plan.algorithm, "BM25 of every match, replaced by _score + price");
    assert!(tree.to_string().contains("has no bound in a block"), "{tree}");
    let why = search(by("price - 2")).explainer().score(DocId(1)).unwrap().unwrap();
    assert_eq!((why.value, why.parts[0].value, why.parts[0].parts[1].value), (0.0, -1.0, -1.0));
    let refused = |search: SearchBuilder<'_>, words: &str| {
        for error in [search.clone().run().unwrap_err(), search.explain().unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains(words), "{error}");
        }
    };
    refused(search(by("prize * 2")), "expected names of price, _score, found 'prize'");
    refused(search(by("name")), "found the text field 'name'");
    refused(search(by("plain")), "'plain', which keeps no column");
    let many = (0..33).map(|nth| format!("n{nth}")).collect::<Vec<_>>().join(" + ");
    refused(search(by(&many)), "expected at most 32 names, found 33");
    refused(search(by("price")).order(Order::Document), "expected an order by score");
    refused(search(by("price")).sort([SortKey::ascending("price")]), "expected an order by score");
    let key = SortKey::function(Function::expression("prize").unwrap());
    refused(searcher.search(&query).sort([key]), "found 'prize'");
    let decay = |decay: Decay| search(ScoreFunction::multiply(decay));
    refused(decay(Decay::gauss("price", 1, 0.0)), "a scale greater than 0, found 0");
    refused(decay(Decay::gauss("price", 1, 1.0).decay(1.0)), "a decay between 0 and 1, found 1");
    refused(decay(Decay::exp("price", 1, 1.0).offset(-1.0)), "an offset of 0 or more, found -1");
    refused(decay(Decay::exp("price", "dear", 1.0)), "as origin a whole number");
    refused(decay(Decay::exp("_score", 1, 1.0)), "expected names of price, found '_score'");
    let value = FieldValue::new("price").factor(f64::NAN);
    refused(search(ScoreFunction::sum(value)), "a finite factor");
}

/// In words for people, and as it is written for programs.
#[test]
fn plans_say_what_hits_are_in_order_of_and_what_scores_are_made_of() {
    let index = prices(300);
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("name:thing").unwrap();
    let search = || {
        searcher
            .search(&query)
            .score_function(ScoreFunction::multiply(
                FieldValue::new("price").modifier(Modifier::Log1p),
            ))
            .score_function(ScoreFunction::sum(Decay::gauss("price", 10, 5.0)))
    };
    let expression = || SortKey::function(Function::expression("price / 2 + _score").unwrap());
    let of_scores = "times log1p(price), plus gauss(price from 10, scale 5, offset 0, decay 0.5)";
    let by_score = search().explain().unwrap();
    assert!(by_score.plan.algorithm.contains(of_scores), "{by_score}");
    let sorted = search().sort([expression().reversed(), SortKey::ascending("price")]);
    let keys = ("(price / 2 + _score):desc, price:asc", None::<&str>);
    let by_brand = search().collapse(Collapse::by("price")).sort([expression()]);
    for (search, label, algorithm, (predicate, field)) in [
        (
            sorted,
            "first 10 by (price / 2 + _score) descending, then price ascending",
            "function of every match; scores are BM25",
            keys,
        ),
        (
            by_brand,
            "first 10 by (price / 2 + _score) ascending, one of each price",
            "all matches in order, a batch at a time; scores are BM25",
            ("(price / 2 + _score):asc", Some("price")),
        ),
    ] {
        for tree in [search.clone().explain().unwrap(), search.analyze().unwrap()] {
            assert_eq!(tree.plan.label, label, "{tree}");
            assert_eq!(tree.plan.algorithm, format!("{algorithm} {of_scores}"), "{tree}");
            assert!(tree.to_string().contains(label), "{tree}");
            let json: serde_json::Value = serde_json::from_str(&tree.to_json()).unwrap();
            assert_eq!(json["plan"]["predicate"], predicate, "{tree}");
            assert_eq!(json["plan"]["field"], serde_json::json!(field), "{tree}");
        }
    }
}

#[test]
fn a_field_of_a_given_name_is_meant_between_backquotes() {
    let schema = Schema::builder()
        .field(Field::new("now", FieldKind::I64))
        .field(Field::new("since", FieldKind::Date))
        .build()
        .unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    let now: Timestamp = "2024-05-06T12:00Z".parse().unwrap();
    for nth in 0..3 {
        let since = Timestamp::from_micros(now.as_micros() - nth * 20_000_000).unwrap();
        writer.add(Document::new().with("now", nth).with("since", since)).unwrap();
    }
    writer.commit().unwrap();
    let (searcher, all) = (index.searcher().unwrap(), Query::All);
    let seconds = now.as_micros() as f64 / 1e6;
    let scores = |text: &str| -> Vec<f32> {
        let function = Function::expression(text).unwrap().with("now", seconds);
        let search = searcher.search(&all).score_function(ScoreFunction::replace(function));
        let mut hits = search.run().unwrap().hits;
        hits.sort_by_key(|hit| hit.doc);
        hits.iter().map(|hit| hit.score.unwrap()).collect()
    };
    assert_eq!(scores("`now`"), [0.0, 1.0, 2.0]);
    assert_eq!(scores("now - since"), [0.0, 20.0, 40.0]);
    assert_eq!(scores("now - since + `now`"), [0.0, 21.0, 42.0]);
    // Of another name there is no field, and what was given is meant in any case.
    let other = Function::expression("`two words` * `now`").unwrap().with("two words", 3.0);
    let search = searcher.search(&all).score_function(ScoreFunction::replace(other));
    assert_eq!(search.run().unwrap().hits[0].score, Some(6.0));
    // As the documentation of field values says of dates.
    assert!(scores("since").windows(2).all(|two| two[0] == two[1]));
    let [a, b, c] = scores("1 / (1 + (now - since) / 86400)")[..] else { unreachable!() };
    assert!(a > b && b > c);
}

#[test]
fn decays_are_also_by_the_distance_of_the_nearest_point() {
    use treepie::geo::GeoPoint;
    let schema = Schema::builder()
        .u64("id")
        .field(Field::new("p", FieldKind::Point { array: None }).many(true));
    let index = Index::in_memory(schema.build().unwrap());
    let mut writer = index.writer().unwrap();
    let all: [&[(f64, f64)]; 5] =
        [&[(0.0, 179.0)], &[], &[(80.0, 0.0), (0.0, -179.5)], &[(0.0, 180.0)], &[(-60.0, 20.0)]];
    for (id, points) in (0u64..).zip(all) {
        let points = points.iter().map(|(lat, lon)| GeoPoint::new(*lat, *lon).unwrap());
        let document = Document::new().with("id", id);
        writer.add(points.fold(document, |document, point| document.with("p", point))).unwrap();
    }
    writer.commit().unwrap();
    let (searcher, all_documents) = (index.searcher().unwrap(), Query::All);
    let center = GeoPoint::new(0.0, 180.0).unwrap();
    let found = |decay: Decay| {
        let search = searcher.search(&all_documents).score_function(ScoreFunction::replace(decay));
        let hits = search.run().unwrap().hits;
        hits.iter().map(|hit| (hit.doc.0, hit.score.unwrap())).collect::<Vec<_>>()
    };
    let decays = [Decay::gauss("p", center, 60_000.0), Decay::exp("p", "0,-180", 60_000.0)];
    for (decay, of) in decays.into_iter().zip([|far: f64| far * far, |far: f64| far]) {
        let hits = found(decay.clone().offset(1_000.0).missing(0.4));
        assert_eq!(hits.iter().map(|it| it.0).collect::<Vec<_>>(), [3, 2, 1, 0, 4]);
        let near = center.distance(GeoPoint::new(0.0, -179.5).unwrap());
        let expected = 0.5f64.powf(of((near - 1_000.0) / 60_000.0));
        assert_eq!((hits[0].1, hits[1].1, hits[2].1), (1.0, expected as f32, 0.4));
        let without = found(decay);
        assert_eq!(without.last().map(|it| it.1), Some(0.0));
    }
    let refused = |decay: Decay, words: &str| {
        let search = searcher.search(&all_documents).score_function(ScoreFunction::replace(decay));
        let error = search.run().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(Decay::gauss("p", 7, 1.0), "as origin a point, found 7");
    refused(Decay::gauss("p", "91,0", 1.0), "latitude 91");
    refused(Decay::gauss("p", center, 0.0), "a scale greater than 0");
}
