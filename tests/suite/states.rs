//! Null, empty, missing: what a document says of a field without giving it a value, compared with documents that are looked
//! at one by one, before and after updates, deletes and merges.

use crate::random::Random;
use treepie::query::Query;
use treepie::schema::{EMPTY_FIELD, NULL_FIELD};
use treepie::writer::LineFormat;
use treepie::{Document, ErrorKind, Field, FieldKind, Index, Schema, Searcher, Value};

/// What a document says of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Said {
    Nothing,
    Null,
    EmptyList,
    EmptyText,
    Value,
    /// Which makes nothing of what else is said.
    NullAndValue,
    EmptyTextAndValue,
}

const FIELDS: [&str; 3] = ["word", "tag", "number"];
type Item = [Said; 3];

fn any_said(field: &str, random: &mut Random) -> Said {
    let texts = [Said::EmptyText, Said::EmptyTextAndValue];
    let all = [Said::Nothing, Said::Null, Said::EmptyList, Said::Value, Said::NullAndValue];
    match random.below(7) {
        nth @ ..5 => all[nth],
        nth if field != "number" => texts[nth - 5],
        _ => Said::Nothing,
    }
}

fn schema() -> Schema {
    Schema::builder()
        .field(Field::new("word", FieldKind::Text).many(true))
        .keyword("tag")
        .field(Field::new("number", FieldKind::I64).many(true))
        .key("id")
        .nulls()
        .build()
        .unwrap()
}

fn say(document: &mut Document, field: &str, said: Said) {
    if matches!(said, Said::Null | Said::NullAndValue) {
        document.push(field, Value::Null);
    }
    if said == Said::EmptyList {
        document.push(EMPTY_FIELD, field);
    }
    if matches!(said, Said::EmptyText | Said::EmptyTextAndValue) {
        document.push(field, "");
    }
    if matches!(said, Said::Value | Said::NullAndValue | Said::EmptyTextAndValue) {
        document.push(field, "7");
    }
}

fn document(id: usize, item: &Item) -> Document {
    let mut document = Document::new().with("id", id.to_string());
    FIELDS.iter().zip(item).for_each(|(field, said)| say(&mut document, field, *said));
    document
}

fn check(searcher: &Searcher, items: &[Option<Item>]) {
    let has_value = |said: Said| {
        use Said::{EmptyText, EmptyTextAndValue, NullAndValue, Value};
        matches!(said, EmptyText | Value | NullAndValue | EmptyTextAndValue)
    };
    let count =
        |is: &dyn Fn(&Item) -> bool| items.iter().flatten().filter(|it| is(it)).count() as u64;
    for (nth, field) in FIELDS.into_iter().enumerate() {
        let is_null = |item: &Item| item[nth] == Said::Null;
        let is_empty = |item: &Item| {
            matches!(item[nth], Said::EmptyList | Said::EmptyText | Said::EmptyTextAndValue)
        };
        let is_missing = |item: &Item| item[nth] == Said::Nothing;
        let other = (nth + 1) % 3;
        let other_is_null = |item: &Item| item[other] == Said::Null;
        let others = Query::null(FIELDS[other]);
        let both = |a: Query| Query::all_of([a, others.clone()]);
        for (query, expected) in [
            (Query::null(field), count(&is_null)),
            (Query::empty(field), count(&is_empty)),
            (Query::missing(field), count(&is_missing)),
            (Query::exists(field), count(&|item| has_value(item[nth]))),
            (both(Query::missing(field)), count(&|it| is_missing(it) && other_is_null(it))),
            (both(Query::empty(field)), count(&|it| is_empty(it) && other_is_null(it))),
            (
                Query::any_of([Query::missing(field), others.clone()]),
                count(&|it| is_missing(it) || other_is_null(it)),
            ),
            (Query::Not(Box::new(Query::missing(field))), count(&|it| !is_missing(it))),
        ] {
            assert_eq!(searcher.count(&query).unwrap(), expected, "{query}");
            let hits = searcher.search(&query).limit(10_000).run().unwrap();
            assert_eq!(hits.hits.len() as u64, expected, "{query}");
            assert_eq!(searcher.parse(&query.to_string()).unwrap(), query);
        }
    }
}

#[test]
fn what_is_said_of_a_field_is_found_and_stays_as_it_is() {
    let mut random = Random(3);
    let mut items: Vec<Option<Item>> =
        (0..600).map(|_| Some(FIELDS.map(|field| any_said(field, &mut random)))).collect();
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    for (id, item) in items.iter().enumerate() {
        writer.add(document(id, item.as_ref().unwrap())).unwrap();
        if id % 150 == 149 {
            writer.commit().unwrap();
        }
    }
    check(&index.searcher().unwrap(), &items);
    // What is not changed stays as it is.
    for id in (0..600).step_by(7) {
        let field = random.below(3);
        let said = any_said(FIELDS[field], &mut random);
        let change = |document: &mut Document| {
            document.remove(FIELDS[field]);
            say(document, FIELDS[field], said);
        };
        assert!(writer.update(id.to_string(), change).unwrap());
        items[id].as_mut().unwrap()[field] = said;
    }
    for id in (0..600).step_by(11) {
        writer.delete_key(id.to_string()).unwrap();
        items[id] = None;
    }
    writer.commit().unwrap();
    check(&index.searcher().unwrap(), &items);
    writer.merge().unwrap();
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
    check(&index.searcher().unwrap(), &items);
}

#[test]
fn where_nulls_are_not_kept_they_say_nothing() {
    let index = Index::in_memory(Schema::builder().keyword("tag").build().unwrap());
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("tag", Value::Null)).unwrap();
    writer.add(Document::new().with("tag", "")).unwrap();
    let error = writer.add(Document::new().with_empty("tag")).unwrap_err();
    assert!(error.to_string().contains("found '_empty'"), "{error}");
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    assert_eq!(searcher.count(&Query::missing("tag")).unwrap(), 1);
    for query in [Query::null("tag"), Query::empty("tag")] {
        let error = searcher.count(&query).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Query);
        assert!(error.to_string().contains("SchemaBuilder::nulls"), "{error}");
    }
}

#[test]
fn what_says_nothing_of_a_field_is_refused() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    let document = || Document::new().with("id", "1");
    for (field, name) in [(NULL_FIELD, "x"), (EMPTY_FIELD, NULL_FIELD), ("x", "")] {
        let value = if field == "x" { Value::Null } else { name.into() };
        let error = writer.add(document().with(field, value)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Document, "{error}");
    }
    let error = writer.add(Document::new().with("id", Value::Null)).unwrap_err();
    assert!(error.to_string().contains("the key, 'id'"), "{error}");
    let error = writer.add_lines(&b"a\n"[..], &LineFormat::field("word"), Default::default());
    assert!(error.unwrap_err().to_string().contains("keeps no nulls"));
    let own = Field::new(NULL_FIELD, FieldKind::I64);
    assert_eq!(Schema::builder().field(own).nulls().build().unwrap_err().kind(), ErrorKind::Schema);
}
