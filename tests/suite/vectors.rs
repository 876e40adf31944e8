//! Fields of vectors as programs meet them: which documents are taken, and what comes back of them.

use std::sync::Arc;
use treepie::schema::{Detail, Metric, VectorParams, VectorValues};
use treepie::storage::MemoryStorage;
use treepie::{
    DocId, Document, ErrorKind, Field, FieldKind, Index, Schema, Searcher, Value, WriterOptions,
};

fn kind(dims: u16, metric: Metric) -> FieldKind {
    FieldKind::Vector(VectorParams::new(dims, metric))
}

fn schema() -> Schema {
    Schema::builder()
        .text("title")
        .field(Field::new("one", kind(2, Metric::Cosine)))
        .field(Field::new("many", kind(2, Metric::L2)).many(true))
        .field(Field::new("secret", kind(1, Metric::Dot)).stored(false))
        .build()
        .unwrap()
}

fn of(documents: impl IntoIterator<Item = Document>) -> Searcher {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    documents.into_iter().for_each(|document| writer.add(document).unwrap());
    writer.commit().unwrap();
    index.searcher().unwrap()
}

fn birds() -> Vec<Document> {
    vec![
        Document::new().with("title", "magpie").with("one", [1.0, 2.0]).with("secret", [0.0]),
        Document::new().with("title", "rook"),
        Document::new()
            .with("title", "jay")
            .with("many", &[0.0, -0.5][..])
            .with("many", [3.0, 4.0]),
        Document::new()
            .with("title", "crow")
            .with("one", None::<Vec<f32>>)
            .with("many", vec![1e-45, 0.0]),
    ]
}

#[test]
fn vectors_come_with_a_document_and_with_a_hit_that_is_asked_for_them() {
    let searcher = of(birds());
    let document = |doc| searcher.document(DocId(doc)).unwrap();
    assert_eq!(document(0)["one"].as_slice(), [Value::from([1.0, 2.0])]);
    let many = [Value::from([0.0, -0.5]), Value::from([3.0, 4.0])];
    assert_eq!(document(2)["many"].as_slice(), many);
    assert_eq!(document(3)["many"].as_slice(), [Value::from([1e-45, 0.0])]);
    assert!(document(1).keys().eq(["title"]) && document(3).keys().eq(["many", "title"]));
    assert!(!document(0).contains_key("secret"), "it is not stored");

    let query = searcher.parse("magpie OR jay").unwrap();
    let hits = |fields: Option<&[&str]>| {
        let search = searcher.search(&query);
        let search =
            fields.iter().fold(search, |search, fields| search.fields(fields.iter().copied()));
        search.run().unwrap().hits
    };
    assert!(hits(None).iter().all(|hit| hit.fields.keys().eq(["title"])));
    let with = hits(Some(&["one", "many"]));
    assert!(with[0].fields.keys().eq(["one"]) && with[1].fields.keys().eq(["many"]));
    assert_eq!(with[1].fields["many"].as_slice(), many);
    let error = searcher.search(&query).fields(["secret"]).run().unwrap_err();
    assert!(error.to_string().contains("'secret', which is not stored"), "{error}");
}

#[test]
fn documents_with_a_vector_are_known() {
    let searcher = of(birds());
    for (query, n) in
        [("one:*", 1), ("_missing:one", 3), ("many:*", 2), ("secret:*", 1), ("-many:* title:*", 2)]
    {
        assert_eq!(searcher.count(&searcher.parse(query).unwrap()).unwrap(), n, "{query}");
    }
}

#[test]
fn what_is_no_vector_of_the_field_is_refused_and_leaves_nothing_behind() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    let long = vec![1.0; 8_192];
    let wrong: Vec<(&str, Value, &str)> = vec![
        ("one", [1.0].into(), "expected a vector of 2 numbers, found one of 1"),
        ("one", [1.0, 2.0, 3.0].into(), "found one of 3"),
        ("one", Value::Vector(vec![]), "found one of 0"),
        ("one", long.into(), "found one of 8192"),
        ("one", [1.0, f32::NAN].into(), "expected finite numbers, found NaN, number 2 of 2"),
        ("many", [f32::INFINITY, 1.0].into(), "found inf, number 1 of 2"),
        ("many", [1.0, f32::NEG_INFINITY].into(), "found -inf, number 2 of 2"),
        ("one", [0.0, -0.0].into(), "a direction"),
        ("one", [1e-30, 1e-30].into(), "a direction"),
        ("one", [3e38, 3e38].into(), "a length of at most"),
        ("many", [1e20, 0.0].into(), "a length of at most"),
        ("one", "1.0, 2.0".into(), "expected a vector of 2 numbers, found a text"),
        ("one", 7.into(), "found one of 1"),
        ("one", f64::NAN.into(), "found one of 1"),
        ("secret", f64::NAN.into(), "found NaN, number 1 of 1"),
        ("one", true.into(), "found a boolean"),
        ("title", [1.0, 2.0].into(), "expected a text, found a vector of 2 numbers"),
    ];
    for (field, value, words) in wrong {
        let document = Document::new().with("many", [1.0, 2.0]).with(field, value);
        let error = writer.add(document).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Document);
        let message = error.to_string();
        assert!(message.contains(words) && message.contains(&format!("'{field}'")), "{message}");
    }
    let twice = Document::new().with("one", [1.0, 2.0]).with("one", [1.0, 2.0]);
    assert!(writer.add(twice).unwrap_err().to_string().contains("a second one"));
    writer.add(Document::new().with("title", "good").with("many", [0.0, 0.0])).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    assert_eq!(searcher.n_docs(), 1);
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
    assert_eq!(searcher.document(DocId(0)).unwrap()["many"].as_slice(), [Value::from([0.0, 0.0])]);
}

#[test]
fn vectors_come_back_as_their_field_keeps_them() {
    let given = [1.0, 0.0, 0.1, 70_000.0];
    for (values, document, words) in [
        (VectorValues::F32, given, Ok(given)),
        (VectorValues::F16, given, Err("65504, as 16 bits have them, found 70000, number 4 of 4")),
        (VectorValues::F16, [1.0, -0.0, 0.1, 65_504.0], Ok([1.0, -0.0, 0.099975586, 65_504.0])),
        (VectorValues::I8, given, Err("from -128 to 127, found 0.1, number 3 of 4")),
        (VectorValues::I8, [1.0, -0.0, -128.0, 127.0], Ok([1.0, 0.0, -128.0, 127.0])),
        (VectorValues::Bits, given, Err("0 or 1, found 0.1, number 3 of 4")),
        (VectorValues::Bits, [1.0, 0.0, 1.0, 1.0], Ok([1.0, 0.0, 1.0, 1.0])),
    ] {
        let params = VectorParams::new(4, Metric::L2).values(values);
        let index = Index::in_memory(Schema::builder().vector("v", params).build().unwrap());
        let mut writer = index.writer().unwrap();
        let added = writer.add(Document::new().with("v", document));
        let kept = match words {
            Ok(kept) => kept,
            Err(words) => {
                let error = added.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Document);
                let message = error.to_string();
                assert!(message.contains(words) && message.contains("'v'"), "{message}");
                continue;
            }
        };
        writer.commit().unwrap();
        let inspector = index.inspect().unwrap();
        assert!(inspector.verify(|error| panic!("{error}")).is_sound());
        let info = &inspector.vectors(None).unwrap()[0];
        assert_eq!((info.params, info.vectors), (params, 1));
        assert_eq!(info.bytes, 16 + values.row_len(4) as u64 + 4, "{values:?}");
        let searcher = index.searcher().unwrap();
        let back = searcher.document(DocId(0)).unwrap();
        assert_eq!(back["v"].as_slice(), [Value::from(kept)], "{values:?}");
        // Nothing else is as near to it, whatever numbers are asked about.
        let query = searcher.parse("v:within($v, 0)").unwrap();
        let others =
            [[kept[0] + 0.25, kept[1], kept[2], kept[3]], [kept[0], 9.0, kept[2], kept[3]]];
        for (vector, n) in [(kept, 1), (others[0], 0), (others[1], 0)] {
            let query = query.with_vectors([("v", vector.to_vec())]).unwrap();
            assert_eq!(searcher.count(&query).unwrap(), n, "{values:?} {vector:?}");
        }
    }
}

#[test]
fn numbers_one_after_the_other_are_a_vector() {
    let searcher = of([
        Document::new().with("one", 1).with("one", 0.1f32),
        Document::new().with("many", 2.5).with("many", 3u64),
    ]);
    let document = |doc| searcher.document(DocId(doc)).unwrap();
    assert_eq!(document(0)["one"].as_slice(), [Value::from([1.0, 0.1])]);
    assert_eq!(document(1)["many"].as_slice(), [Value::from([2.5, 3.0])]);
}

#[test]
fn what_says_nothing_of_vectors_is_refused_in_a_schema() {
    let vector = || Field::new("v", kind(4, Metric::Cosine));
    let schemas = [
        Schema::builder().field(vector().column(true)),
        Schema::builder().field(vector().detail(Detail::Positions)),
        Schema::builder().field(vector().analyzer("words|lower")),
        Schema::builder().field(vector().normalizer("lower")),
        Schema::builder().field(vector().offsets(true)),
        Schema::builder().field(vector().zone("UTC")),
        Schema::builder().field(vector().position_gap(3)),
        Schema::builder().field(vector()).key("v"),
        Schema::builder().field(vector()).order_by(["v"]),
        Schema::builder().field(vector()).order_by_similarity(["v"]),
        Schema::builder().text("t").field(vector()).default_fields(["t", "v"]),
        Schema::builder().text("t").field(vector().copy_of("t")),
        Schema::builder().field(vector()).field(Field::new("t", FieldKind::Keyword).copy_of("v")),
        Schema::builder().vector("v", VectorParams::new(0, Metric::Dot)),
        Schema::builder().vector("v", VectorParams::new(8_193, Metric::Dot)),
    ];
    for schema in schemas {
        let error = schema.clone().build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema, "{schema:?}");
        assert!(
            error.to_string().contains("vector") || error.to_string().contains("'v'"),
            "{error}"
        );
    }
    Schema::builder().vector("v", VectorParams::new(8_192, Metric::Dot)).build().unwrap();
}

#[test]
fn an_index_of_other_vectors_is_another() {
    let with = |dims, metric| Schema::builder().vector("v", VectorParams::new(dims, metric));
    let storage = Arc::new(MemoryStorage::new());
    let schema = with(2, Metric::Cosine).build().unwrap();
    let index = Index::options().create_in(storage.clone(), schema.clone()).unwrap();
    assert_eq!(*Index::options().open_storage(storage).unwrap().schema(), schema);
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("v", [1.0, 2.0])).unwrap();
    writer.commit().unwrap();
    let halves = VectorParams::new(2, Metric::Cosine).values(VectorValues::F16);
    let halves = Schema::builder().vector("v", halves);
    for other in [with(3, Metric::Cosine), with(2, Metric::Dot), halves] {
        let other = Index::in_memory(other.build().unwrap());
        let error = other.writer().unwrap().add_index(&index.searcher().unwrap()).unwrap_err();
        assert!(error.to_string().contains("one whose field 'v' is another"), "{error}");
    }
    let same = Index::in_memory(schema);
    let mut writer = same.writer_with(WriterOptions::new().threads(1)).unwrap();
    writer.add_index(&index.searcher().unwrap()).unwrap();
    writer.commit().unwrap();
    let document = same.searcher().unwrap().document(DocId(0)).unwrap();
    assert_eq!(document["v"].as_slice(), [Value::from([1.0, 2.0])]);
}

#[test]
fn vectors_have_no_terms_to_be_deleted_by() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    let error = writer.delete_value("one", [1.0, 2.0]).unwrap_err();
    assert!(error.to_string().contains("found 'one'"), "{error}");
}
