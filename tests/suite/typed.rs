//! Typed fields: what a range, a value or a list of values matches, what is stored, and what is counted, compared with
//! documents that are looked at one by one.

use crate::random::Random;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use treepie::facet::FacetMethod;
use treepie::query::{ParseOptions, Query, parse};
use treepie::{
    After, Decimal, Document, ErrorKind, Facet, Field, FieldKind, Index, Schema, Searcher,
    Timestamp, Value,
};

const MICRO: i128 = 1_000_000;
pub(crate) const FIELDS: [(&str, FieldKind, bool); 10] = [
    ("i", FieldKind::I64, false),
    ("u", FieldKind::U64, false),
    ("f", FieldKind::F64, false),
    ("p", FieldKind::Decimal { scale: 2 }, false),
    ("d", FieldKind::Date, false),
    ("b", FieldKind::Bool, false),
    ("im", FieldKind::I64, true),
    ("dm", FieldKind::Date, true),
    ("a", FieldKind::Ip, false),
    ("am", FieldKind::Ip, true),
];
/// How many of them, from the first on, ranges can be counted of.
pub(crate) const N_NUMBERS: usize = 8;
/// Stands for an address of version 6 that all of version 4 are below, and its negative for the first of all.
const FAR_ADDRESS: i128 = 1_000;

/// The address of a number: those near zero of version 4, aligned so that zero begins a block.
fn address(number: i128) -> IpAddr {
    match number {
        FAR_ADDRESS => "2001:db8::1".parse().unwrap(),
        number if number == -FAR_ADDRESS => "::".parse().unwrap(),
        near => Ipv4Addr::from_bits((10 << 24) + 64 + near as u32).into(),
    }
}

/// Keywords with columns, and whether a document has many: words in the order of numbers, most of them rare.
pub(crate) const KEYWORDS: [(&str, bool); 2] = [("k", false), ("km", true)];

/// Keywords with columns that languages and people sort otherwise than by bytes, and whether a document has many.
pub(crate) const NAMES: [(&str, bool); 2] = [("n", false), ("nm", true)];
/// Different ones, most of them.
pub(crate) const NAMES_LEN: usize = 600;

/// The name of a number below that.
pub(crate) fn name(number: usize) -> String {
    const STEMS: [&str; 8] =
        ["Bar ", "bar ", "B\u{e4}r ", "baz", "\u{c4}", "", "Be\u{301}b-", "zoo"];
    let (stem, number) = (STEMS[number % 8], number / 8);
    let end = ["", "a", " B"][number % 3];
    if number.is_multiple_of(5) {
        format!("{stem}{number:04}{end}")
    } else {
        format!("{stem}{number}{end}")
    }
}

/// The number of different words of the text field `t`, of which a document has none to seven.
pub(crate) const WORDS: usize = 6;

/// The word of a number below 10,000.
pub(crate) fn word(number: i128) -> String {
    format!("w{number:04}{}", "\u{e9}".repeat(number as usize % 3))
}

/// A document as it is looked at: of each field the values in millionths, which all of them are whole numbers of.
pub(crate) type Item = BTreeMap<&'static str, Vec<i128>>;

/// A value that the field can have: few different ones, and the least and the greatest.
pub(crate) fn any_value(kind: FieldKind, random: &mut Random) -> i128 {
    let near = random.below(30) as i128 - 10;
    let is_far = random.below(40) == 0;
    match kind {
        FieldKind::I64 if is_far => [i64::MIN, i64::MAX][random.below(2)] as i128 * MICRO,
        FieldKind::I64 => near * MICRO,
        FieldKind::U64 if is_far => i128::from(u64::MAX) * MICRO,
        FieldKind::U64 => near.abs() * MICRO,
        FieldKind::F64 => near * MICRO / 4,
        FieldKind::Decimal { .. } => near * MICRO / 100 * 5,
        FieldKind::Date => near * 3_600 * MICRO + if is_far { 1 } else { 0 },
        FieldKind::Bool => (near & 1) * MICRO,
        FieldKind::Ip if is_far => [-FAR_ADDRESS, FAR_ADDRESS][random.below(2)] * MICRO,
        FieldKind::Ip => (near + 10) * MICRO,
        _ => unreachable!("{kind:?}"),
    }
}

pub(crate) fn value(kind: FieldKind, micros: i128) -> Value {
    match kind {
        FieldKind::I64 => Value::I64((micros / MICRO) as i64),
        FieldKind::U64 => Value::U64((micros / MICRO) as u64),
        FieldKind::F64 => Value::F64(micros as f64 / MICRO as f64),
        FieldKind::Decimal { scale } => {
            let unscaled = micros * 10i128.pow(scale.into()) / MICRO;
            Value::Decimal(Decimal::new(unscaled as i64, scale).unwrap())
        }
        FieldKind::Date => Value::Date(Timestamp::from_micros(micros as i64).unwrap()),
        FieldKind::Bool => Value::Bool(micros > 0),
        FieldKind::Ip => Value::Ip(address(micros / MICRO)),
        _ => unreachable!("{kind:?}"),
    }
}

/// A text of a query that means the values between two numbers, mostly one.
fn text(kind: FieldKind, micros: i128, random: &mut Random) -> (String, i128, i128) {
    if kind == FieldKind::Date {
        let date = Timestamp::from_micros(micros as i64).unwrap().to_string();
        if random.below(2) == 0 {
            let day = 86_400 * MICRO;
            let first = micros.div_euclid(day) * day;
            return (format!("\"{}\"", &date[..10]), first, first + day - 1);
        }
        let (second, fraction) = date.trim_end_matches('Z').split_once('.').unwrap_or((&date, ""));
        let second = second.trim_end_matches('Z');
        return (format!("\"{second}.{fraction:0<6}Z\""), micros, micros);
    }
    if kind == FieldKind::Bool {
        return ((micros > 0).to_string(), micros, micros);
    }
    if kind == FieldKind::Ip {
        let number = micros / MICRO;
        if number.abs() == FAR_ADDRESS {
            return (format!("\"{}\"", address(number)), micros, micros);
        }
        let length = [32, 32, 31, 29][random.below(4)];
        let first = number - number % (1 << (32 - length));
        let last = first + (1 << (32 - length)) - 1;
        let length = if length == 32 { String::new() } else { format!("/{length}") };
        return (format!("{}{length}", address(first)), first * MICRO, last * MICRO);
    }
    let sign = if micros < 0 { "-" } else { "" };
    let (whole, fraction) = (micros.abs() / MICRO, micros.abs() % MICRO);
    (format!("\"{sign}{whole}.{fraction:06}\""), micros, micros)
}

/// Whether a document matches.
pub(crate) type Matches<'m> = Box<dyn Fn(&Item) -> bool + 'm>;

/// A query of one field, and what it matches.
pub(crate) fn leaf(random: &mut Random) -> (String, Matches<'static>) {
    let (name, kind, _) = FIELDS[random.below(FIELDS.len())];
    let near = |random: &mut Random| {
        let value = any_value(kind, random);
        // Between the values that there are, too.
        let between = !matches!(kind, FieldKind::Bool | FieldKind::Date | FieldKind::Ip)
            && random.below(4) == 0;
        value + if between { 1_000 * random.below(3) as i128 - 1_000 } else { 0 }
    };
    let any = move |item: &Item, is_one: &dyn Fn(i128) -> bool| {
        item.get(name).is_some_and(|values| values.iter().any(|value| is_one(*value)))
    };
    match random.below(5) {
        0 => (format!("{name}:*"), Box::new(move |item| item.contains_key(name))),
        1 => {
            let micros = near(random);
            let (text, first, last) = text(kind, micros, random);
            let matches = move |item: &Item| any(item, &|value| (first..=last).contains(&value));
            (format!("{name}:{text}"), Box::new(matches))
        }
        2 => {
            let values: Vec<_> = (0..1 + random.below(4))
                .map(|_| {
                    let micros = near(random);
                    text(kind, micros, random)
                })
                .collect();
            let texts: Vec<_> = values.iter().map(|(text, ..)| &**text).collect();
            let query = format!("{name}:IN [{}]", texts.join(" "));
            let matches = move |item: &Item| {
                let of = |value: i128| {
                    values.iter().any(|(_, first, last)| (*first..=*last).contains(&value))
                };
                any(item, &of)
            };
            (query, Box::new(matches))
        }
        _ => {
            let mut bounds = [(); 2].map(|()| {
                let micros = near(random);
                (random.below(5) > 0).then(|| text(kind, micros, random))
            });
            if let [Some((_, lower, _)), Some((_, upper, _))] = &bounds
                && lower > upper
                && random.below(4) > 0
            {
                bounds.reverse();
            }
            let [lower, upper] = bounds;
            let [from, to] = [(); 2].map(|()| random.below(2) == 0);
            let shown = |bound: &Option<(String, i128, i128)>| match bound {
                Some((text, ..)) => text.clone(),
                None => "*".into(),
            };
            let query = format!(
                "{name}:{}{} TO {}{}",
                if from { '[' } else { '{' },
                shown(&lower),
                shown(&upper),
                if to { ']' } else { '}' }
            );
            let matches = move |item: &Item| {
                let is_above = |value: i128| match &lower {
                    Some((_, first, last)) => {
                        if from {
                            value >= *first
                        } else {
                            value > *last
                        }
                    }
                    None => true,
                };
                let is_below = |value: i128| match &upper {
                    Some((_, first, last)) => {
                        if to {
                            value <= *last
                        } else {
                            value < *first
                        }
                    }
                    None => true,
                };
                any(item, &|value| is_above(value) && is_below(value))
            };
            (query, Box::new(matches))
        }
    }
}

fn schema() -> Schema {
    let fields = FIELDS.iter().map(|(name, kind, many)| Field::new(*name, *kind).many(*many));
    let builder = Schema::builder().field(Field::new("id", FieldKind::U64)).key("id").text("t");
    let keyword = |(name, many)| Field::new(name, FieldKind::Keyword).many(many).column(true);
    let keywords = KEYWORDS.into_iter().chain(NAMES);
    let builder = keywords.map(keyword).fold(builder, |builder, field| builder.field(field));
    fields.fold(builder, |builder, field| builder.field(field)).build().unwrap()
}

pub(crate) fn items(n: usize, random: &mut Random) -> Vec<Item> {
    let item = |_| {
        let mut item = Item::new();
        for (name, kind, many) in FIELDS {
            let n = match many {
                true => random.below(4),
                false => usize::from(random.below(5) > 0),
            };
            let values: Vec<_> = (0..n).map(|_| any_value(kind, random)).collect();
            if n > 0 {
                item.insert(name, values);
            }
        }
        item
    };
    let mut items: Vec<Item> = (0..n).map(item).collect();
    let mut random = Random(n as u64);
    for item in &mut items {
        for (name, many) in KEYWORDS {
            let n = if many { random.below(4) } else { usize::from(random.below(5) > 0) };
            let most = if random.below(3) == 0 { 20 } else { 9_999 };
            let values: Vec<_> = (0..n).map(|_| random.below(most) as i128).collect();
            if n > 0 {
                item.insert(name, values);
            }
        }
        for (field, many) in NAMES {
            let n = if many { random.below(3) } else { usize::from(random.below(6) > 0) };
            let names: Vec<_> = (0..n).map(|_| random.below(NAMES_LEN) as i128).collect();
            if n > 0 {
                item.insert(field, names);
            }
        }
        let words: Vec<_> =
            (0..random.below(8)).map(|_| random.below(WORDS).pow(2) as i128 / 6).collect();
        if !words.is_empty() {
            item.insert("t", words);
        }
    }
    items
}

fn document(id: usize, item: &Item) -> Document {
    let mut document = Document::new().with("id", id as u64);
    for (name, kind, _) in FIELDS {
        for micros in item.get(name).into_iter().flatten() {
            document.push(name, value(kind, *micros));
        }
    }
    for (name, _) in KEYWORDS {
        for number in item.get(name).into_iter().flatten() {
            document.push(name, word(*number));
        }
    }
    for (field, _) in NAMES {
        for number in item.get(field).into_iter().flatten() {
            document.push(field, name(*number as usize));
        }
    }
    if let Some(words) = item.get("t") {
        let words: Vec<_> = words.iter().map(|number| format!("x{number}")).collect();
        document.push("t", words.join(" "));
    }
    document
}

/// The same documents in several forms, and which of them are left in each.
pub(crate) fn searchers(items: &[Item]) -> Vec<(Searcher, Vec<bool>)> {
    let one = Index::in_memory(schema());
    let mut writer = one.writer().unwrap();
    let several = Index::in_memory(schema());
    let mut parts = several.writer().unwrap();
    for (id, item) in items.iter().enumerate() {
        writer.add(document(id, item)).unwrap();
        parts.add(document(id, item)).unwrap();
        if id % 700 == 699 {
            parts.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    parts.commit().unwrap();
    let all = vec![true; items.len()];
    let mut searchers =
        vec![(one.searcher().unwrap(), all.clone()), (several.searcher().unwrap(), all)];
    let is_left = |item: &Item| {
        let is = |name, micros| item.get(name).is_some_and(|values| values.contains(&micros));
        !is("i", 3 * MICRO) && !is("im", 5 * MICRO)
    };
    let left: Vec<_> =
        items.iter().enumerate().map(|(id, item)| is_left(item) && id != 7).collect();
    parts.delete_value("i", 3).unwrap();
    parts.delete_value("im", "5").unwrap();
    parts.delete_key(7u64).unwrap();
    parts.commit().unwrap();
    searchers.push((several.searcher().unwrap(), left.clone()));
    parts.merge().unwrap();
    searchers.push((several.searcher().unwrap(), left));
    searchers
}

/// The ids of what matches, ascending.
fn found(searcher: &Searcher, query: &Query) -> Vec<u64> {
    let page = searcher.search(query).limit(100_000).fields(["id"]).run().unwrap();
    let id = |values: &treepie::search::Values| match values.as_slice() {
        [Value::U64(id)] => *id,
        other => panic!("{other:?}"),
    };
    let mut ids: Vec<_> = page.hits.iter().map(|hit| id(&hit.fields["id"])).collect();
    assert_eq!(page.total.value, ids.len() as u64);
    ids.sort_unstable();
    ids
}

#[test]
fn ranges_and_values_match_what_a_look_at_each_document_finds() {
    let mut random = Random(7);
    let items = items(3_000, &mut random);
    let searchers = searchers(&items);
    for _ in 0..600 {
        let (a, is_a) = leaf(&mut random);
        let (b, is_b) = leaf(&mut random);
        let (text, matches): (String, Matches<'_>) = match random.below(4) {
            0 => (format!("{a} AND {b}"), Box::new(|item| is_a(item) && is_b(item))),
            1 => (format!("{a} OR {b}"), Box::new(|item| is_a(item) || is_b(item))),
            2 => (format!("{a} AND NOT {b}"), Box::new(|item| is_a(item) && !is_b(item))),
            _ => (a, Box::new(|item| is_a(item))),
        };
        let query = parse(&text, &ParseOptions::default()).unwrap();
        for (nth, (searcher, left)) in searchers.iter().enumerate() {
            let matching = items.iter().zip(left).enumerate();
            let expected: Vec<u64> = matching
                .filter(|(_, (item, left))| **left && matches(item))
                .map(|(id, _)| id as u64)
                .collect();
            assert_eq!(searcher.count(&query).unwrap(), expected.len() as u64, "{nth}: {text}");
            assert_eq!(found(searcher, &query), expected, "{nth}: {text}");
        }
    }
}

#[test]
fn what_was_added_comes_back_and_its_values_are_counted() {
    let mut random = Random(11);
    let items = items(2_000, &mut random);
    for (searcher, left) in searchers(&items) {
        let everything = searcher.parse("*").unwrap();
        let mut search = searcher.search(&everything).limit(100_000);
        for (name, ..) in FIELDS {
            search = search.facet(name, 12);
        }
        for (name, ..) in FIELDS {
            search = search.with_facet(Facet::values(name).limit(12).method(FacetMethod::Column));
        }
        let page = search.run().unwrap();
        assert_eq!(page.hits.len(), left.iter().filter(|left| **left).count());
        for hit in &page.hits {
            let Value::U64(id) = hit.fields["id"].as_slice()[0] else { panic!("{hit:?}") };
            let item = &items[id as usize];
            for (name, kind, _) in FIELDS {
                let stored: Vec<_> =
                    hit.fields.get(name).map_or(vec![], |values| values.iter().cloned().collect());
                let values = item.get(name).into_iter().flatten();
                let added: Vec<_> = values.map(|micros| value(kind, *micros)).collect();
                assert_eq!(stored, added, "{name} of {id}");
            }
        }
        for (facet, (name, kind, _)) in page.facets.iter().zip(FIELDS.into_iter().chain(FIELDS)) {
            let mut counts: BTreeMap<i128, u64> = BTreeMap::new();
            for (item, _) in items.iter().zip(&left).filter(|(_, left)| **left) {
                let mut values = item.get(name).cloned().unwrap_or_default();
                values.sort_unstable();
                values.dedup();
                values.into_iter().for_each(|value| *counts.entry(value).or_default() += 1);
            }
            let mut expected: Vec<_> = counts.into_iter().collect();
            expected.sort_by_key(|(value, count)| (u64::MAX - count, *value));
            expected.truncate(12);
            let expected: Vec<_> =
                expected.into_iter().map(|(micros, count)| (value(kind, micros), count)).collect();
            let counted: Vec<_> =
                facet.buckets.iter().map(|bucket| (bucket.value.clone(), bucket.count)).collect();
            assert_eq!(counted, expected, "{name}");
        }
    }
}

#[test]
fn a_value_that_a_field_cannot_have_is_refused_and_nothing_else() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    for (field, given, found) in [
        ("i", Value::from(1.5), "'1.5'"),
        ("u", Value::from(-1), "'-1'"),
        ("f", Value::from(f64::INFINITY), "inf"),
        ("p", Value::from("1.234"), "'1.234'"),
        ("d", Value::from("2010-02-30"), "2010-02-30"),
        ("b", Value::from("maybe"), "'maybe'"),
        ("a", Value::from("10.0.0.256"), "'10.0.0.256'"),
        ("a", Value::from("10.0.0.0/8"), "'10.0.0.0/8'"),
        ("a", Value::from(7), "a whole number (7)"),
        ("id", Value::from("x"), "'x'"),
    ] {
        let id = if field == "id" { Value::Null } else { 1.into() };
        let error = writer.add(Document::new().with("id", id).with(field, given)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Document);
        let message = error.to_string();
        assert!(
            message.contains(&format!("field '{field}'")) && message.contains(found),
            "{message}"
        );
    }
    let error = writer.add(Document::new().with("id", Value::Null)).unwrap_err();
    assert!(error.to_string().contains("the key, 'id'"), "{error}");
    writer.add(Document::new().with("id", "007").with("i", None::<i64>)).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 1);
    assert_eq!(writer.delete_value("u", "many").unwrap_err().kind(), ErrorKind::Usage);
    assert_eq!(writer.delete_value("a", "10.0.0.0/8").unwrap_err().kind(), ErrorKind::Usage);
    assert_eq!(writer.delete_key("x").unwrap_err().kind(), ErrorKind::Usage);
    let update = |document: &mut Document| {
        document.set("p", 12.5);
        document.set("id", 7);
    };
    assert!(writer.update(7u64, update).unwrap());
    let error = writer.update(7, |document| document.set("id", 8)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("p:12.50").unwrap();
    let page = searcher.search(&query).run().unwrap();
    assert_eq!(page.hits[0].fields["id"].as_slice(), [Value::U64(7)]);
    assert_eq!(page.hits[0].fields["p"].to_string(), "12.50");
}

#[test]
fn what_is_deleted_by_its_value_is_one_value() {
    let schema = Schema::builder().keyword("k").field(Field::new("d", FieldKind::Date)).build();
    let index = Index::in_memory(schema.unwrap());
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("k", "").with("d", "2010-12-01T00:00:00Z")).unwrap();
    writer.add(Document::new().with("k", "a").with("d", "2010-12-02T00:00:00Z")).unwrap();
    assert_eq!(writer.delete_value("k", None::<&str>).unwrap_err().kind(), ErrorKind::Usage);
    let error = writer.delete_value("d", "2010-12").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("found '2010-12'"), "{error}");
    writer.commit().unwrap();
    let day: Timestamp = "2010-12-01".parse().unwrap();
    let searcher = index.searcher().unwrap();
    let bucket = &searcher.facets(&Query::All, "d", 1).unwrap().buckets[0];
    assert_eq!(bucket.value, Value::Date(day));
    // What a facet says is what finds it, though it is not written with all of its digits.
    let of_bucket = Query::value("d", &bucket.value);
    assert_eq!(searcher.count(&of_bucket).unwrap(), 1);
    assert_eq!(searcher.count(&Query::in_set([day]).in_field("d")).unwrap(), 1);
    assert_eq!(searcher.count(&Query::range(day..).in_field("d")).unwrap(), 2);
    writer.delete_value("d", day).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 1);
}

#[test]
fn values_of_rust_find_what_was_added_with_them_in_a_field_of_any_kind() {
    let fields = [FieldKind::F64, FieldKind::Decimal { scale: 8 }, FieldKind::Keyword];
    let date: Timestamp = "2010-12-01T00:00:00Z".parse().unwrap();
    for kind in fields {
        let schema = Schema::builder().field(Field::new("n", kind)).build().unwrap();
        let index = Index::in_memory(schema);
        let mut writer = index.writer().unwrap();
        let values =
            [Value::F64(5e-8), Value::from(4_294_967_296f32), Value::F64(0.1), Value::F64(1e10)];
        for value in &values {
            writer.add(Document::new().with("n", value)).unwrap();
        }
        if kind == FieldKind::Keyword {
            writer.add(Document::new().with("n", date)).unwrap();
        }
        writer.commit().unwrap();
        let searcher = index.searcher().unwrap();
        for value in &values {
            assert_eq!(searcher.count(&Query::value("n", value)).unwrap(), 1, "{value} {kind:?}");
        }
        if kind == FieldKind::Keyword {
            assert_eq!(searcher.count(&Query::value("n", date)).unwrap(), 1);
        } else {
            let all = Query::range(f64::NEG_INFINITY..=f64::INFINITY).in_field("n");
            assert_eq!(searcher.count(&all).unwrap(), 4);
        }
        assert_eq!(searcher.count(&Query::value("n", None::<f64>)).unwrap(), 0);
    }
}

#[test]
fn a_key_may_be_a_number_however_it_is_written() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("id", 7u64).with("i", 1)).unwrap();
    writer.add(Document::new().with("id", "07").with("i", 2)).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 1);
    let searcher = index.searcher().unwrap();
    assert_eq!(searcher.count(&searcher.parse("id:7 AND i:2").unwrap()).unwrap(), 1);
}

#[test]
fn an_index_on_disk_knows_the_types_of_its_fields() {
    let place: PathBuf =
        std::env::temp_dir().join(format!("treepie-typed-{}.tp", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    let index = Index::create(&place, schema()).unwrap();
    let mut writer = index.writer().unwrap();
    let mut random = Random(3);
    let items = items(50, &mut random);
    items.iter().enumerate().for_each(|(id, item)| writer.add(document(id, item)).unwrap());
    writer.commit().unwrap();
    drop(writer);
    let index = Index::open(&place).unwrap();
    assert_eq!(index.schema(), &schema());
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
    let searcher = index.searcher().unwrap();
    assert_eq!(
        found(&searcher, &searcher.parse("id:[10 TO 19]").unwrap()),
        (10..20).collect::<Vec<_>>()
    );
    std::fs::remove_dir_all(&place).unwrap();
}

#[test]
fn addresses_are_sorted_counted_and_deleted_as_values_and_refuse_what_is_for_numbers() {
    let host = Field::new("host", FieldKind::Ip).many(true);
    let index = Index::in_memory(Schema::builder().keyword("name").field(host).build().unwrap());
    let mut writer = index.writer().unwrap();
    for (name, hosts) in [
        ("a", &["10.0.0.2", "2001:db8::1"][..]),
        ("b", &["::ffff:10.0.0.2"]),
        ("c", &["9.9.9.9"]),
        ("d", &[]),
    ] {
        let document = Document::new().with("name", name);
        writer.add(hosts.iter().fold(document, |doc, host| doc.with("host", *host))).unwrap();
        writer.commit().unwrap();
    }
    let searcher = index.searcher().unwrap();
    let all = Query::All;
    let names = |search: treepie::SearchBuilder<'_>| -> String {
        search.run().unwrap().hits.iter().map(|hit| hit.fields["name"].to_string()).collect()
    };
    let by = |key: &str| searcher.search(&all).sort([key.parse().unwrap()]);
    assert_eq!(names(by("host")), "cabd");
    assert_eq!(names(by("host:desc:missing_first")), "dabc");
    // From a hit on, given as the address or as its text.
    let first = by("host").limit(1).run().unwrap().hits.remove(0);
    assert_eq!(first.sort, [Value::Ip(IpAddr::from([9, 9, 9, 9]))]);
    for from in [first.sort[0].clone(), "9.9.9.9".into()] {
        assert_eq!(names(by("host").after(After::values(&[from], first.doc))), "abd");
    }
    let error = by("host").after(After::values(["x"], first.doc)).run().unwrap_err();
    assert!(error.to_string().contains("by its value of key 1"), "{error}");
    for method in [FacetMethod::Column, FacetMethod::Dictionary] {
        let page = searcher
            .search(&all)
            .with_facet(Facet::values("host").limit(2).method(method))
            .run()
            .unwrap();
        let counts: Vec<_> =
            page.facets[0].buckets.iter().map(|b| (b.value.to_string(), b.count)).collect();
        assert_eq!(counts, [("10.0.0.2".to_owned(), 2), ("9.9.9.9".to_owned(), 1)]);
    }
    for search in [
        searcher.search(&all).with_facet(treepie::Facet::statistics("host")),
        searcher.search(&all).with_facet(treepie::Facet::histogram("host", 1)),
    ] {
        let error = search.run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("found the ip field 'host'"), "{error}");
    }
    let page =
        searcher.search(&all).with_facet(Facet::ranges("host", [(..).into()])).run().unwrap();
    assert_eq!((page.facets[0].buckets[0].count, page.facets[0].missing), (3, 1));
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
    writer.delete_value("host", "10.0.0.2").unwrap();
    assert_eq!(writer.commit().unwrap().documents, 2);
}
