//! Own structs as documents and from hits, and plans, requests and cursors as serde writes them.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::IpAddr;
use treepie::explain::ExplainTree;
use treepie::schema::{Metric, VectorParams};
use treepie::serde::{from_fields, from_hit, to_document};
use treepie::{
    After, Decimal, DocId, Document, ErrorKind, Facet, Field, FieldKind, Index, Schema,
    SearchRequest, Searcher, SortKey, Timestamp, Value, WriterOptions,
};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Film,
    Book,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Person {
    name: String,
    born: Option<i32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Work {
    id: u64,
    title: String,
    kind: Kind,
    year: Option<i16>,
    #[serde(default)]
    genres: Vec<String>,
    rating: f64,
    price: Decimal,
    seen: bool,
    since: Timestamp,
    host: IpAddr,
    by: Person,
    with: Option<Person>,
    grade: Option<char>,
}

fn schema() -> Schema {
    let schema = Schema::builder().u64("id").text("title").keyword("kind").i64("year");
    let schema = schema.keyword("genres").f64("rating").decimal("price", 2).bool("seen");
    let schema = schema.date("since").ip("host").text("by.name").i64("by.born");
    schema.text("with.name").i64("with.born").keyword("grade").build().unwrap()
}

fn works() -> Vec<Work> {
    let first = Work {
        id: u64::MAX,
        title: "Paris, Texas".into(),
        kind: Kind::Film,
        year: Some(-1984),
        genres: vec!["road".into(), "drama".into(), "road".into()],
        rating: 0.1 + 0.2,
        price: "12.50".parse().unwrap(),
        seen: true,
        since: "2024-05-06T12:00:00.000001Z".parse().unwrap(),
        host: "2001:db8::1".parse().unwrap(),
        by: Person { name: "Wim Wenders".into(), born: Some(1945) },
        with: Some(Person { name: "Nastassja Kinski".into(), born: None }),
        grade: Some('é'),
    };
    let bare = Work {
        id: 0,
        kind: Kind::Book,
        year: None,
        genres: vec![],
        by: Person { name: "".into(), born: None },
        with: None,
        grade: None,
        ..first.clone()
    };
    let one_genre = Work { id: 7, genres: vec!["only".into()], seen: false, ..bare.clone() };
    vec![first, bare, one_genre]
}

fn searcher<T: Serialize>(schema: Schema, structs: &[T]) -> Searcher {
    let index = Index::in_memory(schema);
    let mut writer = index.writer_with(WriterOptions::new().threads(1)).unwrap();
    for it in structs {
        writer.add(to_document(it).unwrap()).unwrap();
    }
    writer.commit().unwrap();
    index.searcher().unwrap()
}

/// Every hit of a query as a struct, in the order of documents.
fn all<T: DeserializeOwned>(searcher: &Searcher) -> treepie::Result<Vec<T>> {
    let query = searcher.parse("*")?;
    let page = searcher.search(&query).limit(100).run()?;
    page.hits.iter().map(from_hit).collect()
}

#[test]
fn structs_come_back_as_they_were() {
    let searcher = searcher(schema(), &works());
    assert_eq!(all::<Work>(&searcher).unwrap(), works());
    let fields = searcher.document(DocId(0)).unwrap();
    assert_eq!(from_fields::<Work>(&fields).unwrap(), works()[0]);
}

#[test]
fn a_struct_may_ask_for_less_and_for_other_types() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Shown {
        title: Value,
        price: f64,
        #[serde(rename = "by.name")]
        director: String,
        year: Option<f32>,
        since: String,
        host: String,
        #[serde(default)]
        stars: u8,
        #[serde(flatten)]
        others: BTreeMap<String, Value>,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct Title {
        title: Name,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct Name(String);

    let works = [Work { genres: vec!["one".into()], ..works().remove(0) }];
    let searcher = searcher(schema(), &works);
    let shown: Shown = all(&searcher).unwrap().remove(0);
    assert_eq!(shown.title, Value::from("Paris, Texas"));
    assert_eq!((shown.price, &*shown.director, shown.year), (12.5, "Wim Wenders", Some(-1984.0)));
    assert_eq!((&*shown.since, &*shown.host), ("2024-05-06T12:00:00.000001Z", "2001:db8::1"));
    assert_eq!((shown.stars, shown.others["genres"].as_str()), (0, Some("one")));
    assert_eq!(all::<Title>(&searcher).unwrap(), [Title { title: Name("Paris, Texas".into()) }]);
}

#[test]
fn maps_and_documents_by_hand_are_the_same() {
    let map = BTreeMap::from([("title", "Paris"), ("kind", "film")]);
    let by_hand = Document::new().with("kind", "film").with("title", "Paris");
    assert_eq!(to_document(&map).unwrap(), by_hand);
    #[derive(Serialize)]
    struct Numbers {
        small: i128,
        large: u128,
        none: Option<u8>,
        pair: (u8, f32),
        unit: (),
    }
    let numbers = Numbers { small: -1, large: 1 << 63, none: None, pair: (1, 0.1), unit: () };
    let by_hand = Document::new()
        .with("small", -1)
        .with("large", 1u64 << 63)
        .with("none", None::<u8>)
        .with("pair", 1u8)
        .with("pair", 0.1)
        .with("unit", None::<u8>);
    assert_eq!(to_document(&numbers).unwrap(), by_hand);
}

#[test]
fn what_a_document_cannot_hold_is_refused_with_its_field() {
    #[derive(Serialize)]
    enum Shape {
        Circle(f64),
        Square { side: f64 },
        Line(f64, f64),
    }
    #[derive(Serialize)]
    struct Of<T> {
        field: T,
    }
    fn refused<T: Serialize>(value: T) -> String {
        let error = to_document(&value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Document, "{error}");
        error.to_string()
    }
    let field = |text: String, found: &str| {
        assert!(text.contains("field 'field'") && text.contains(found), "{text}");
    };
    field(refused(Of { field: vec![vec!["a"]] }), "a list of lists that are not of numbers");
    field(refused(Of { field: vec![Of { field: 1 }] }), "a list of structs");
    field(refused(Of { field: Shape::Circle(1.0) }), "the variant Circle with data");
    field(refused(Of { field: Shape::Square { side: 1.0 } }), "the variant Square with data");
    field(refused(Of { field: Shape::Line(1.0, 2.0) }), "the variant Line with data");
    field(refused(Of { field: u128::MAX }), "more than 64 bits");
    field(refused(Of { field: i128::MIN }), "more than 64 bits");
    for text in [refused(7), refused("text"), refused(vec![1]), refused(None::<u8>)] {
        assert!(text.contains("expected a struct or a map"), "{text}");
    }
}

#[test]
fn hits_that_do_not_fit_are_told_with_their_field() {
    fn told<T: DeserializeOwned + Debug>(searcher: &Searcher, parts: &[&str]) {
        let error = all::<T>(searcher).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Document);
        let text = error.to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "never made")]
    struct OneGenre {
        genres: String,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "never made")]
    struct SmallId {
        id: u8,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "never made")]
    struct Stars {
        stars: u8,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "never made")]
    struct OtherKind {
        kind: Other,
    }
    #[derive(Debug, Deserialize)]
    enum Other {
        Song,
    }
    let searcher = searcher(schema(), &works()[..1]);
    let _ = Other::Song;
    told::<OneGenre>(&searcher, &["field 'genres'", "expected one value", "found 3"]);
    told::<SmallId>(&searcher, &["field 'id'", "u8"]);
    told::<Stars>(&searcher, &["expected the field 'stars'", "#[serde(default)]"]);
    told::<OtherKind>(&searcher, &["field 'kind'", "film", "Song"]);
}

#[test]
fn cursors_go_through_json() {
    let searcher = searcher(schema(), &works());
    let query = searcher.parse("paris").unwrap();
    let by_score = || searcher.search(&query).limit(1);
    let by_keys = || by_score().sort(["-since", "price", "id"].map(|key| key.parse().unwrap()));
    for search in [by_score(), by_keys()] {
        let mut ids = vec![];
        let mut page = search.clone().run().unwrap();
        while let Some(cursor) = page.cursor() {
            ids.push(page.hits[0].doc.0);
            let text = serde_json::to_string(&cursor).unwrap();
            let read: After = serde_json::from_str(&text).unwrap();
            assert_eq!(read.doc(), cursor.doc(), "{text}");
            page = search.clone().after(read).run().unwrap();
        }
        ids.sort_unstable();
        assert_eq!(ids, [0, 1, 2]);
    }
    for wrong in ["{}", r#"{"score":1.5}"#, r#"{"score":1.5,"values":[],"doc":1}"#, "[]"] {
        assert!(serde_json::from_str::<After>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn plans_and_requests_are_what_their_json_says() {
    let searcher = searcher(schema(), &works());
    let query = searcher.parse("paris AND kind:film").unwrap();
    let search = searcher.search(&query).limit(3).with_facet(Facet::values("genres").limit(2));
    let search = search.sort([SortKey::descending("price")]);
    let tree = search.clone().analyze().unwrap();
    let value = serde_json::to_value(&tree).unwrap();
    assert_eq!(value, serde_json::from_str::<serde_json::Value>(&tree.to_json()).unwrap());
    let read: ExplainTree = serde_json::from_value(value).unwrap();
    assert_eq!(read.to_json(), tree.to_json());
    let read: ExplainTree = serde_json::from_str(&tree.to_json()).unwrap();
    assert_eq!(read.to_json(), tree.to_json());

    let request = search.request().clone();
    let value = serde_json::to_value(&request).unwrap();
    assert_eq!(
        value,
        serde_json::from_str::<serde_json::Value>(&request.to_json().unwrap()).unwrap()
    );
    let read: SearchRequest<'static> = serde_json::from_value(value).unwrap();
    assert_eq!(read, request.into_owned());
    let error = serde_json::from_str::<ExplainTree>(r#"{"query": 1}"#).unwrap_err();
    assert!(error.to_string().contains("query"), "{error}");
}

#[test]
fn values_are_texts_numbers_and_booleans() {
    let values = [
        (Value::Null, "null"),
        (Value::from("a"), r#""a""#),
        (Value::I64(-1), "-1"),
        (Value::U64(u64::MAX), "18446744073709551615"),
        (Value::F64(1.5), "1.5"),
        (Value::Bool(true), "true"),
    ];
    for (value, text) in values {
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), value);
    }
    let date: Timestamp = "2024-05-06".parse().unwrap();
    assert_eq!(serde_json::to_string(&Value::from(date)).unwrap(), r#""2024-05-06T00:00:00Z""#);
    assert!(serde_json::from_str::<Timestamp>(r#""yesterday""#).is_err());
    assert!(serde_json::from_str::<Decimal>("12.5").is_err(), "it would have been a fraction");
    assert_eq!(serde_json::from_str::<Value>("[1, 0.5]").unwrap(), Value::from([1.0, 0.5]));
    assert!(serde_json::from_str::<Value>(r#"["a"]"#).is_err());
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Embedded {
    title: String,
    #[serde(default)]
    one: Vec<f32>,
    fixed: Option<[f64; 2]>,
    #[serde(default)]
    many: Vec<Vec<f32>>,
}

#[test]
fn lists_of_numbers_are_vectors_of_fields_that_have_these() {
    let of = |dims| FieldKind::Vector(VectorParams::new(dims, Metric::Dot));
    let schema = Schema::builder()
        .text("title")
        .field(Field::new("one", of(3)))
        .field(Field::new("fixed", of(2)))
        .field(Field::new("many", of(2)).many(true))
        .build()
        .unwrap();
    let title = "magpie".to_owned();
    let embedded = [
        Embedded { title: title.clone(), one: vec![0.1, -2.0, 1e-45], fixed: None, many: vec![] },
        Embedded {
            title: title.clone(),
            one: vec![],
            fixed: Some([0.5, 0.25]),
            many: vec![vec![0.1, 0.2], vec![3.0, 4.0]],
        },
        Embedded { title: title.clone(), one: vec![], fixed: None, many: vec![vec![0.1, 0.2]] },
    ];
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    embedded.iter().for_each(|it| writer.add(to_document(it).unwrap()).unwrap());
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    for (doc, expected) in (0..).zip(&embedded) {
        let fields = searcher.document(DocId(doc)).unwrap();
        assert_eq!(from_fields::<Embedded>(&fields).unwrap(), *expected);
    }
    let wrong = BTreeMap::from([("one", vec![0.5f32])]);
    let error = writer.add(to_document(&wrong).unwrap()).unwrap_err();
    assert!(error.to_string().contains("a vector of 3 numbers, found one of 1"), "{error}");
    for (lists, words) in [
        (vec![vec![vec![1.0f32]]], "a list of lists of lists"),
        (vec![vec![vec![]]], "a list of lists of lists"),
    ] {
        let error = to_document(&BTreeMap::from([("many", lists)])).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let texts = BTreeMap::from([("many", vec![vec!["a"]])]);
    let error = to_document(&texts).unwrap_err().to_string();
    assert!(error.contains("a list of lists that are not of numbers"), "{error}");
    let vector = Value::from([0.1, 1e-45]);
    let text = serde_json::to_string(&vector).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), vector);
}
