//! Keyword fields whose values go through filters of characters: documents, queries, facets and keys meet
//! whatever the spelling, and the stored document keeps what was given.

use treepie::query::Query;
use treepie::{Document, ErrorKind, Facet, Field, FieldKind, Index, Schema, Value};

fn keyword(name: &str, normalizer: &str) -> Field {
    Field::new(name, FieldKind::Keyword).normalizer(normalizer)
}

fn index(field: Field, values: &[&str]) -> Index {
    let schema = Schema::builder().field(field).text("t").build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for value in values {
        writer.add(Document::new().with("k", *value).with("t", "x")).unwrap();
    }
    writer.commit().unwrap();
    index
}

fn count(index: &Index, query: &str) -> u64 {
    let searcher = index.searcher().unwrap();
    searcher.count(&searcher.parse(query).unwrap()).unwrap()
}

#[test]
fn queries_of_every_kind_meet_the_values() {
    let nfd = "Zu\u{308}rich";
    for (normalizer, value, found, missed) in [
        (
            "nfc",
            nfd,
            &[
                "k:Zürich",
                "k:Zu\u{308}rich",
                "k:Zü*",
                "k:Z?rich",
                "k:*rich",
                "k:IN [Zürich x]",
                "k:[Zü TO Zÿ]",
                "k:\"Zürich\"",
                "k:Zürch~1",
                "t:x AND k:Zürich",
            ][..],
            &["k:zürich", "k:ZÜRICH"][..],
        ),
        (
            "nfc|lower",
            nfd,
            &["k:ZÜRICH", "k:zü*", "k:Z?RICH", "k:ZÜ*H", "k:IN [ZÜRICH]", "k:[zü TO zÿ]"],
            &["k:zurich"],
        ),
        (
            "nfkc|lower|fold",
            nfd,
            &["k:zurich", "k:ZÜR*", "k:z?rich", "k:ＺＵＲＩＣＨ", "k:[ZUR TO zus]"],
            &["k:zuerich"],
        ),
        ("lower", "O’Neil", &["k:O'Neil", "k:o’neil"], &["k:ONeil"]),
        ("lower:tr", "ISPARTA", &["k:ısparta"], &["k:isparta"]),
        ("nfkc", "ﬁn ＡＢ", &["k:\"fin AB\"", "k:fin*"], &["k:\"FIN AB\""]),
    ] {
        for column in [false, true] {
            let index = index(keyword("k", normalizer).column(column), &[value, "other"]);
            for query in found {
                assert_eq!(count(&index, query), 1, "{query} by {normalizer}");
            }
            for query in missed {
                assert_eq!(count(&index, query), 0, "{query} by {normalizer}");
            }
        }
    }
    // Without a normalizer bytes are compared.
    let plain = index(Field::new("k", FieldKind::Keyword), &[nfd]);
    assert_eq!([count(&plain, "k:Zürich"), count(&plain, "k:Zu\u{308}rich")], [0, 1]);
}

#[test]
fn facets_selections_and_sorting_see_one_value_for_all_spellings() {
    let values = ["Zürich", "Zu\u{308}rich", "ZÜRICH", "Bern"];
    for column in [false, true] {
        let index = index(keyword("k", "nfc|lower").column(column), &values);
        let searcher = index.searcher().unwrap();
        let found = searcher.search(&Query::All).facet("k", 5).run().unwrap();
        let buckets: Vec<_> = found.facets[0].buckets.iter().collect();
        let counts: Vec<_> = buckets.iter().map(|it| (it.value.to_string(), it.count)).collect();
        assert_eq!(counts, [("zürich".to_owned(), 3), ("bern".to_owned(), 1)]);
        let stored: Vec<_> = found.hits.iter().map(|hit| hit.fields["k"].to_string()).collect();
        assert_eq!(stored, values, "stored values stay as they were given");
        for selected in ["Zürich", "Zu\u{308}rich", "zÜRICH"] {
            let all = Query::All;
            let search = searcher.search(&all).select("k", [selected]);
            assert_eq!(search.run().unwrap().total.value, 3, "{selected}");
        }
        let query = searcher.parse("k:zürich").unwrap();
        let highlighter = searcher.highlighter(&query).unwrap();
        let passages = highlighter.passages("k", values[1], &Default::default());
        let whole = 0..values[1].len();
        assert_eq!(passages[0].matches(), std::slice::from_ref(&whole));
    }
}

#[test]
fn filters_of_facets_meet_the_values_as_queries_do() {
    for (normalizer, prefix, part, regex, none, value) in [
        ("nfc|lower", "ZU\u{308}", "ÜRI", "ZU\u{308}.*", "zu.*", "zürich"),
        ("nfkc|lower|fold", "Zür", "ＲＩＣ", "z[ÜX]r.*", "z[^ü]r.*", "zurich"),
    ] {
        for column in [false, true] {
            let index =
                index(keyword("k", normalizer).column(column), &["Zürich", "ZÜRICH", "Bern"]);
            let searcher = index.searcher().unwrap();
            let all = || Facet::values("k");
            for (facet, is_there) in [
                (all().prefix(prefix), true),
                (all().containing(part), true),
                (all().prefix(prefix).containing(part), true),
                (all().matching(regex), true),
                (all().matching(none), false),
            ] {
                let found = searcher.search(&Query::All).with_facet(facet.clone()).run().unwrap();
                let counts = found.facets[0].buckets.iter();
                let counts: Vec<_> = counts.map(|it| (it.value.to_string(), it.count)).collect();
                let expected = is_there.then(|| (value.to_owned(), 2));
                assert_eq!(counts, Vec::from_iter(expected), "{facet:?}");
            }
        }
    }
}

#[test]
fn a_key_is_one_in_all_spellings() {
    let schema = Schema::builder().field(keyword("k", "nfc|lower")).text("t").key("k");
    let index = Index::in_memory(schema.build().unwrap());
    let mut writer = index.writer().unwrap();
    let add = |writer: &mut treepie::IndexWriter, key: &str, text: &str| {
        writer.add(Document::new().with("k", key).with("t", text)).unwrap();
    };
    add(&mut writer, "Zürich", "first");
    add(&mut writer, "ZÜRICH", "second");
    writer.commit().unwrap();
    assert_eq!([count(&index, "t:first"), count(&index, "t:second")], [0, 1]);
    add(&mut writer, "Zu\u{308}rich", "third");
    add(&mut writer, "Bern", "fourth");
    writer.commit().unwrap();
    assert_eq!([count(&index, "*"), count(&index, "t:third")], [2, 1]);
    writer.delete_key("zU\u{308}rich").unwrap();
    writer.commit().unwrap();
    assert_eq!([count(&index, "*"), count(&index, "t:fourth")], [1, 1]);
    writer.delete_value("k", "BERN").unwrap();
    writer.commit().unwrap();
    assert_eq!(count(&index, "*"), 0);
}

#[test]
fn a_normalizer_is_kept_by_the_index_and_checked() {
    use std::sync::Arc;
    use treepie::storage::MemoryStorage;
    let storage = Arc::new(MemoryStorage::new());
    let schema = Schema::builder().field(keyword("k", "nfc|lower")).build().unwrap();
    let index = Index::options().create_in(storage.clone(), schema.clone()).unwrap();
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("k", "ÄÖ")).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let index = Index::options().open_storage(storage).unwrap();
    assert_eq!(index.schema(), &schema);
    assert_eq!(index.schema().field("k").unwrap().normalizer_spec(), Some("nfc|lower"));
    assert_eq!(count(&index, "k:äö"), 1);

    // What is no filter of characters is refused where it is needed, as analyzers are.
    for wrong in ["stop:en", "lowr", "nfc|stem:en", "length:3"] {
        let schema = Schema::builder().field(keyword("k", wrong)).text("t").build().unwrap();
        let index = Index::in_memory(schema);
        let mut writer = index.writer().unwrap();
        writer.add(Document::new().with("t", "x")).unwrap();
        let error = writer.add(Document::new().with("k", "x")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Analyzer, "{wrong}: {error}");
        assert!(error.to_string().contains("the field 'k'"), "{error}");
        writer.commit().unwrap();
        let searcher = index.searcher().unwrap();
        assert!(searcher.count(&searcher.parse("k:x").unwrap()).is_err(), "{wrong}");
    }
    for field in [
        Field::new("k", FieldKind::I64).normalizer("nfc"),
        Field::new("k", FieldKind::Keyword).normalizer(""),
        Field::new("k", FieldKind::Keyword).analyzer("english"),
        keyword("k", "nfc").query_analyzer("keyword"),
    ] {
        assert_eq!(Schema::builder().field(field).build().unwrap_err().kind(), ErrorKind::Schema);
    }
}

#[test]
fn a_value_that_gets_too_long_is_refused_and_the_writer_goes_on() {
    let schema = Schema::builder().field(keyword("k", "nfkc")).build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    let error = writer.add(Document::new().with("k", "\u{FDFA}".repeat(2_000))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Document, "{error}");
    writer.add(Document::new().with("k", "\u{FDFA}".repeat(900))).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 1);
}

/// Names of fields in documents, whose characters may be composed or not, as macOS has them.
#[test]
fn documents_may_spell_the_names_of_fields_in_either_way() {
    let (own, other) = ("gr\u{f6}\u{df}e", "gro\u{308}\u{df}e");
    let field = Field::new(own, FieldKind::Keyword);
    let schema = Schema::builder().field(field).text("t").key(own).build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for text in ["a", "b"] {
        writer.add(Document::new().with(other, "x").with("t", text)).unwrap();
    }
    // One that was added and not committed yet is found by its key, too.
    assert!(writer.update("x", |_| ()).unwrap());
    let schema = Schema::builder().keyword(own).text("t").nulls().build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with(other, Value::Null).with("t", "a")).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    for name in [own, other] {
        let query = searcher.parse(&format!("_null:{name}")).unwrap();
        assert_eq!(searcher.count(&query).unwrap(), 1, "{name}");
    }
}
