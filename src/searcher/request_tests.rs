//! Requests as JSON and back, and what they find then.

use super::{Hits, SearchBuilder, Searcher, Setting};
use crate::budget::Budget;
use crate::document::Document;
use crate::error::{ErrorKind, Result};
use crate::function::{Decay, FieldValue, Function, Modifier, ScoreFunction};
use crate::geo::{GeoGrid, GeoPoint};
use crate::ids::DocId;
use crate::limits::{self, Limits};
use crate::plan::FacetMethod;
use crate::query::{Boost, ParseOptions, Query, parse};
use crate::request::*;
use crate::schema::{Field, FieldKind, Schema};
use crate::searcher::stopping_tests::filled;
use crate::sort::SortKey;
use crate::value::{Dates, Decimal, Interval, Value, Zone};
use std::sync::Arc;
use std::time::Duration;

fn searcher() -> Searcher {
    let price = Field::new("price", FieldKind::Decimal { scale: 2 });
    let schema = Schema::builder()
        .text("title")
        .keyword("brand")
        .field(price)
        .field(Field::new("since", FieldKind::Date))
        .field(Field::new("path", FieldKind::Path { separator: '/' }))
        .point("at");
    filled(schema.build().unwrap(), |writer| {
        for (title, brand, price) in [("Red lamp", "acme", "3.50"), ("Blue lamp", "bolt", "9.99")] {
            let document = Document::new().with("title", title).with("brand", brand);
            writer
                .add(document.with("price", price).with("since", "2024-05-06").with("at", "1,2"))
                .unwrap();
        }
    })
}

/// Requests with everything that there is.
fn every<'s>(searcher: &'s Searcher, query: &'s Query) -> Vec<SearchBuilder<'s>> {
    let new = || searcher.search(query);
    let brands = || Facet::values("brand");
    let age = Function::expression("(now - since) / 86400").unwrap();
    let age = age.with("now", 1.5e9).with("now", 1.7e9);
    let popular = FieldValue::new("price").factor(0.1).modifier(Modifier::Log1p).missing(1.0);
    let recent = Decay::exp("since", "2024-05-06", 86_400.0).offset(1.0).decay(0.3).missing(0.0);
    let zone = || "+02:00".parse::<Zone>().unwrap();
    let read = new().select("since", ["2024-05-06"]).request().clone();
    let read = read.selected_at(searcher.schema(), &Dates::new().zone(zone())).unwrap();
    let rings = ["..1.5km", "1km..5mi", "5mi.."].map(|it| it.parse::<FacetRange>().unwrap());
    let spread = Facet::statistics("price").distinct().percentiles([50.0, 99.9]);
    vec![
        new(),
        new().limit(0).offset(7).total(TotalMode::UpTo(1_000)),
        new().total(TotalMode::Unknown).count_only().fields(["title"]),
        new().fields(Vec::<String>::new()).order(Order::Document),
        new().after(After::score(1.2345678, DocId(1))),
        new().after(After::score(f32::NAN, DocId(u64::MAX >> 1))),
        new()
            .sort([
                SortKey::ascending("brand").natural(),
                SortKey::descending("price").missing_first(),
            ])
            .after(After::values(
                [Value::from("acme"), Value::Decimal(Decimal::new(350, 2).unwrap())],
                DocId(0),
            )),
        new().sort([
            SortKey::ascending("brand").collated("de"),
            SortKey::score(),
            SortKey::score().reversed(),
        ]),
        new().sort([SortKey::function(age.clone()).reversed(), SortKey::random(u64::MAX)]),
        new().sort(["at:near=48.8566/-2.3522,step=500m:desc".parse().unwrap()]),
        new().sort(["at:near=0/180:asc:missing_first".parse().unwrap()]),
        new().bm25("title", 0.1, 1.0).bm25("title", 2.0, 0.3).pattern_terms(7),
        new()
            .statistics(IdfScope::Segment)
            .timeout(Duration::from_millis(60_500))
            .budget(Budget::new().memory_bytes(1 << 30))
            .partial(),
        new()
            .score_function(ScoreFunction::multiply(age))
            .score_function(ScoreFunction::sum(popular))
            .score_function(ScoreFunction::replace(recent)),
        new()
            .select("brand", ["acme", "bolt"])
            .select("price", [Value::from(3.5), Value::U64(4), Value::I64(-4)]),
        searcher.search_for(read),
        new().collapse(Collapse::by("brand").keep(3).missing_alone()),
        new()
            .facet("brand", 3)
            .with_facet(brands().by_value().minimum(0).prefix("a").containing("c").matching("a.*"))
            .with_facet(brands().method(FacetMethod::Dictionary))
            .with_facet(brands().by_value_descending().top_hits(2).with_facet(spread))
            .with_facet(Facet::values("price").between("1..5".parse::<FacetRange>().unwrap()))
            .with_facet(Facet::values("path").under("home")),
        new()
            .with_facet(Facet::ranges(
                "price",
                [
                    FacetRange::new(None::<Value>, Some(5)),
                    FacetRange::new(Some("5"), None::<Value>),
                ],
            ))
            .with_facet(Facet::date_histogram("since", Interval::Month))
            .with_facet(Facet::date_histogram_in("since", Interval::Day, zone()).top_hits(1))
            .with_facet(Facet::histogram("price", "0.5"))
            .with_facet(Facet::auto_ranges("price", 5))
            .with_facet(Facet::quantiles("price", 4)),
        new()
            .with_facet(Facet::grid("at", GeoGrid::Tile { zoom: 8 }).top_hits(1))
            .with_facet(Facet::grid("at", GeoGrid::Geohash { len: 12 }))
            .with_facet(Facet::auto_tiles("at", 200).with_facet(brands()))
            .with_facet(Facet::rings("at", GeoPoint::new(-1.5, 180.0).unwrap(), rings)),
    ]
}

/// Requests whose hits are fused, also with what this index does not have.
fn fused<'s>(searcher: &'s Searcher, query: &'s Query) -> Vec<SearchBuilder<'s>> {
    let weight = |weight| Boost::new(weight).unwrap();
    let near = || Query::nearest("e", [0.25, -3.0], 7);
    let keys = RankedList::of_keys([Value::from("acme"), Value::U64(7)]).weight(weight(0.3));
    let scored = RankedList::scored([("a", 0.1), ("b", -2.5), ("c", 7.0)]).allow_missing();
    [
        Fusion::rrf().with(near()),
        Fusion::rrf_with(0).own_weight(weight(0.7)).with_weighted(near(), weight(2.5)).list(keys),
        Fusion::sum().with(Query::word("lamp")).list(scored).window(1_000),
        Fusion::rerank("e", [0.5, 2.0], 30),
    ]
    .map(|fusion| searcher.search(query).fuse(fusion))
    .into()
}

#[test]
fn requests_are_read_back_as_they_were() {
    let searcher = searcher();
    let schema: serde_json::Value = serde_json::from_str(REQUEST_JSON_SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut named = vec![];
    let phrase = r#"title:"red lamp"~2^2 AND (brand:acme OR price:[1 TO 5}) -blue*"#;
    let vectors = "lamp e:nearest([0.5, -1e-40], 3) -e:within([3.4e38], 0.5) e:within($v1, 1)";
    let places =
        "lamp at:WITHIN [10km OF 1,2] -at:DISJOINT [BOX -1,170 1,-170] at:INTERSECTS [1,2]";
    for text in ["lamp", phrase, "*", "NOT *", vectors, places] {
        let query = searcher.parse(text).unwrap();
        let all = every(&searcher, &query).into_iter().chain(fused(&searcher, &query));
        for search in all {
            let json = search.request().to_json().unwrap();
            let again = SearchRequest::from_json(&json).unwrap();
            assert_eq!(again, *search.request(), "{json}");
            assert_eq!(again.to_json().unwrap(), json);
            let value: serde_json::Value = serde_json::from_str(&json).unwrap();
            let wrong = validator.iter_errors(&value).map(|it| it.to_string()).collect::<Vec<_>>();
            assert!(wrong.is_empty(), "{json}: {wrong:?}");
            named.extend(value.as_object().unwrap().keys().cloned());
        }
    }
    for name in schema["properties"].as_object().unwrap().keys() {
        assert!(named.contains(name), "{name} is in no request");
    }
}

#[test]
fn a_request_that_was_written_down_finds_the_same() {
    let searcher = searcher();
    for text in ["lamp", "title:red OR brand:bolt", "*"] {
        let query = searcher.parse(text).unwrap();
        for search in every(&searcher, &query) {
            let again = SearchRequest::from_json(&search.request().to_json().unwrap()).unwrap();
            let told = |answer: Result<Hits>| {
                answer.map(|it| (it.total, it.hits, it.facets)).map_err(|it| it.to_string())
            };
            assert_eq!(told(searcher.run(&again)), told(search.run()), "{text}");
        }
    }
}

#[test]
fn a_request_within_the_limits_of_its_index_is_read_back() {
    let limits = Limits { query_clauses: 1_500, ..Limits::DEFAULT };
    let searcher = filled(Schema::builder().text("title").build().unwrap(), |writer| {
        writer.add(Document::new().with("title", "word7")).unwrap();
    });
    let (storage, snapshot) = (searcher.storage(), &searcher.0.snapshot);
    let setting = Setting { limits: Some(Box::new(limits)), ..Setting::default() };
    let searcher = Searcher::of(Arc::clone(storage), Arc::clone(snapshot), setting);
    let words = |n: usize| (0..n).map(|nth| format!("word{nth} ")).collect::<String>();
    let query = searcher.parse(&words(1_500)).unwrap();
    let selected = Selection { field: "title".into(), values: vec![], read: Some(query.clone()) };
    let mut request = SearchRequest::new(&query);
    request.selections.push(selected);
    let json = request.to_json().unwrap();
    let error = SearchRequest::from_json(&json).unwrap_err();
    assert_eq!(error.limit().map(|it| it.name), Some("CLAUSES_MAX"), "{error}");
    let again = SearchRequest::from_json_within(&json, limits).unwrap();
    assert_eq!(again, request);
    request.selections.clear();
    let json = request.to_json().unwrap();
    let again = SearchRequest::from_json_within(&json, limits).unwrap();
    assert_eq!(searcher.run(&again).unwrap().total.value, 1);
    // More than they say is refused there, and where it is searched for.
    let larger = Limits { query_clauses: 1_501, ..limits };
    let query = parse(&words(1_501), &ParseOptions::default().limits(larger)).unwrap();
    let json = SearchRequest::new(&query).to_json().unwrap();
    let error = SearchRequest::from_json_within(&json, limits).unwrap_err();
    assert_eq!(error.limit().map(|it| it.value), Some(1_500), "{error}");
    let beyond = SearchRequest::from_json_within(&json, larger).unwrap();
    assert_eq!(searcher.run(&beyond).unwrap_err().kind(), ErrorKind::LimitExceeded);
    // Limits of the thread are as before, and those that cannot be are refused.
    assert_eq!(limits::current(), Limits::DEFAULT);
    let none = Limits { query_depth: 129, ..limits };
    assert_eq!(SearchRequest::from_json_within("{}", none).unwrap_err().kind(), ErrorKind::Usage);
}

#[test]
fn a_query_that_is_longer_than_anybody_types_is_read_back() {
    let query = Query::any_of((0..1_000).map(|nth| Query::word(format!("{nth:070}"))));
    let json = SearchRequest::new(&query).to_json().unwrap();
    assert!(json.len() > Limits::DEFAULT.query_bytes, "{}", json.len());
    assert_eq!(*SearchRequest::from_json(&json).unwrap().query(), query);
}

#[test]
fn vectors_stand_beside_the_query() {
    let numbers = |seed: u32| (0..8_192u32).map(move |it| (it * seed) as f32 / -7.0).collect();
    let (a, b): (Vec<f32>, Vec<f32>) = (numbers(3), numbers(5));
    let query = Query::any_of([Query::nearest("e", a.clone(), 3), Query::within("e", b, 0.5)]);
    let json = SearchRequest::new(&query).to_json().unwrap();
    assert!(json.len() > 2 * Limits::DEFAULT.query_bytes, "{}", json.len());
    assert!(json.contains(r#""query":"e:nearest($v1, 3) OR e:within($v2, 0.5)""#));
    assert_eq!(*SearchRequest::from_json(&json).unwrap().query(), query);
    // Typed, they are too long.
    let typed = parse(&Query::nearest("e", a, 3).to_string(), &ParseOptions::default());
    let error = typed.unwrap_err();
    assert_eq!(error.limit().map(|it| it.name), Some("QUERY_BYTES_MAX"), "{error}");
    assert!(error.to_string().contains("nearest($v, 10)"), "{error}");

    let written = r#"{"vectors": {"v": [0.5, -1]}, "query": "e:nearest($v, 3)"}"#;
    let expected = Query::nearest("e", [0.5, -1.0], 3);
    assert_eq!(*SearchRequest::from_json(written).unwrap().query(), expected);
    for (from, to, words) in [
        ("\"v\"", "\"w\"", "a query with '$w'"),
        ("0.5", "null", "reading vectors.v[0] of a request"),
        ("0.5", "\"0.5\"", "a number, \"NaN\""),
        ("[0.5, -1]", "[[0.5], [1]]", "a number"),
        ("[0.5, -1]", "0.5", "an array"),
        ("{\"v\": [0.5, -1]}", "[0.5]", "an object"),
    ] {
        let error = SearchRequest::from_json(&written.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let unbound = SearchRequest::from_json(r#"{"query": "e:nearest($v, 3)"}"#).unwrap();
    let error = searcher().run(&unbound).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Query, "{error}");
}

#[test]
fn what_people_write_is_read() {
    let request = SearchRequest::from_json(
        r#" { "query": "red lamp", "sort": ["price:desc", "_score"], "total": "exact",
              "facets": [{"field": "brand", "values": {}}] } "#,
    );
    let searcher = searcher();
    let query = searcher.parse("red lamp").unwrap();
    let keys = [SortKey::descending("price"), SortKey::score()];
    let expected = searcher.search(&query).sort(keys).facet("brand", 10);
    assert_eq!(request.unwrap(), *expected.request());
}

#[test]
fn what_is_no_request_is_told_with_its_place() {
    let with = |rest: &str| format!("{{\"query\": \"a\",\n {rest}}}");
    let function = |function: &str| {
        with(&format!(r#""score_functions": [{{"combine": "sum", "function": {function}}}]"#))
    };
    for (text, told) in [
        (String::new(), "line 1"),
        ("{}".to_owned(), "the name \"query\""),
        ("{\"query\": \"a OR\"}".to_owned(), "OR"),
        (with(r#""limits": {"time": 1}"#), "the name \"time\""),
        (with(r#""limit": -1"#), "a whole number"),
        (with(r#""limit": 1.5"#), "a whole number"),
        (with(r#""limitt": 1"#), "\"limitt\""),
        (with(r#""query": "b""#), "each name once"),
        (with(r#""total": "all""#), "\"exact\" or \"unknown\""),
        (with(r#""sort": ["a:up"]"#), "reading an order"),
        (with(r#""sort": [{"field": "a", "random": 1}]"#), "one key"),
        (with(r#""sort": [{"random": 1, "descending": true}]"#), "an option of other keys"),
        (with(r#""sort": [{}]"#), "sort[0]"),
        (with(r#""facets": [{"field": "a"}]"#), "\"quantiles\""),
        (with(r#""facets": [{"field": "a", "steps": 1, "values": {}}]"#), "one kind of facet"),
        (with(r#""facets": [{"field": "a", "steps": 1, "zone": "UTC"}]"#), "a zone beside"),
        (with(r#""facets": [{"field": "a", "values": {"limits": 1}}]"#), "facets[0].values"),
        (function(r#"{"expression": "1 +"}"#), "expression"),
        (function(r#"{"field_value": {"field": "a"}, "with": {"b": 1}}"#), "another function"),
        (function(r#"{"decay": {"field": "a"}}"#), "the name \"shape\""),
        (with(r#""score_functions": [{"combine": "sum"}]"#), "the name \"function\""),
        (with(r#""schema_version": 2"#), "schema_version"),
        (with(r#""selections": [{"field": "a", "values": "b"}]"#), "an array"),
        (with(r#""limit": 1"#) + "x", "line 2"),
    ] {
        let error = SearchRequest::from_json(&text).unwrap_err().to_string();
        assert!(error.contains(told), "{text}: {error}");
    }
}

#[test]
fn code_of_the_host_is_not_written_down() {
    let searcher = searcher();
    let query = Query::All;
    let closure = Function::new("dear", ["price"], |numbers| numbers[0]);
    let search = searcher.search(&query).score_function(ScoreFunction::sum(closure));
    let error = search.request().to_json().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("the closure dear(price)"), "{error}");
}
