//! Two collections as they are, order lines of a shop and works of a museum: searches with conditions, facets, several
//! sort keys and pages, compared with all records filtered, grouped and sorted one by one.
//!
//! The files are in `$TREEPIE_SHARED/data/facets`; without them records like them are made up. `TREEPIE_COLLECTIONS=50000`
//! tries so many searches of each collection, `TREEPIE_COLLECTIONS_RECORDS=600000` takes so many records.

use crate::random::Random;
use crate::sorting::from_env;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use treepie::facet::{Bucket, FacetRange};
use treepie::query::Query;
use treepie::value::Interval;
use treepie::{
    After, Decimal, Document, Facet, Field, FieldKind, Hit, Index, Schema, SearchBuilder, Searcher,
    SortKey, Timestamp, Value,
};

const RECORDS: u64 = 15_000;
const SEARCHES: u64 = 120;
const MICROS: i64 = 1_000_000;

/// What is taken of a collection, and under which names.
struct Collection {
    file: &'static str,
    text: &'static str,
    numbers: &'static [(&'static str, FieldKind)],
    keywords: &'static [&'static str],
}

const SHOP: Collection = Collection {
    file: "online-retail.jsonl.zst",
    text: "description",
    numbers: &[
        ("quantity", FieldKind::I64),
        ("unit_price", FieldKind::Decimal { scale: 3 }),
        ("date", FieldKind::Date),
    ],
    keywords: &["country", "stock_code", "invoice", "customer"],
};

const MUSEUM: Collection = Collection {
    file: "tate-artworks.jsonl.zst",
    text: "title",
    numbers: &[
        ("acquisition_year", FieldKind::I64),
        ("start_year", FieldKind::I64),
        ("height_mm", FieldKind::Decimal { scale: 3 }),
    ],
    keywords: &["artists", "classification", "medium", "movements", "subjects"],
};

/// A record as it is looked at. Numbers are those that a field's values are multiples of: ones, thousandths or microseconds.
#[derive(Default)]
struct Record {
    words: BTreeSet<String>,
    numbers: BTreeMap<&'static str, i64>,
    keywords: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Record {
    fn new(collection: &Collection, json: &serde_json::Value) -> Self {
        let mut record = Record::default();
        let text = json[collection.text].as_str().unwrap_or_default();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        record.words = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        for (field, kind) in collection.numbers {
            let number = match (&json[field], kind) {
                (serde_json::Value::String(text), FieldKind::Date) => {
                    text.parse().ok().map(|date: Timestamp| date.as_micros())
                }
                (value, FieldKind::Decimal { .. }) => {
                    value.as_f64().map(|number| (number * 1_000.0).round() as i64)
                }
                (value, _) => value.as_i64(),
            };
            number.map(|number| record.numbers.insert(field, number));
        }
        for field in collection.keywords {
            let all = match &json[field] {
                serde_json::Value::Array(all) => all.as_slice(),
                serde_json::Value::Null => &[],
                one => std::slice::from_ref(one),
            };
            let text = |value: &serde_json::Value| match value {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let values: BTreeSet<String> = all.iter().map(text).collect();
            if !values.is_empty() {
                record.keywords.insert(field, values);
            }
        }
        record
    }

    /// Like those of the files: few common values, many rare ones, some missing.
    fn made_up(collection: &Collection, nth: usize, random: &mut Random) -> Self {
        let mut any = |common: usize, rare: usize| match random.below(3) {
            0 => random.below(rare),
            _ => random.below(common),
        };
        let n_words = any(6, 9);
        let words = (0..n_words).map(|_| format!("word{}", any(20, 2_000))).collect();
        let mut record = Record { words, ..Record::default() };
        for (field, kind) in collection.numbers {
            if any(9, 9) > 0 {
                let number = any(50, 5_000) as i64 - 20;
                let number = if *kind == FieldKind::Date {
                    // Lines of one order stand together.
                    (1_291_191_960 + (nth / 7 * 4_000) as i64 + number) * MICROS
                } else {
                    number * 5
                };
                record.numbers.insert(field, number);
            }
        }
        for (at, field) in collection.keywords.iter().enumerate() {
            if any(9, 9) > 0 {
                let values = (0..=any(2, 4)).map(|_| format!("value {}", any(4 + at, 900)));
                record.keywords.insert(field, values.collect());
            }
        }
        record
    }

    fn document(&self, collection: &Collection, id: usize) -> Document {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let mut document = Document::new().with("id", id as u64).with("text", words.join(" "));
        for (field, kind) in collection.numbers {
            if let Some(number) = self.numbers.get(field) {
                document.push(*field, value(*kind, *number));
            }
        }
        for (field, values) in &self.keywords {
            values.iter().for_each(|value| document.push(*field, &**value));
        }
        document
    }
}

fn value(kind: FieldKind, number: i64) -> Value {
    match kind {
        FieldKind::I64 => Value::I64(number),
        FieldKind::Decimal { scale } => Value::Decimal(Decimal::new(number, scale).unwrap()),
        FieldKind::Date => Value::Date(Timestamp::from_micros(number).unwrap()),
        other => unreachable!("{other:?}"),
    }
}

impl Collection {
    fn path(&self) -> Option<PathBuf> {
        let shared = std::env::var_os("TREEPIE_SHARED").map(PathBuf::from);
        let shared =
            shared.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"));
        Some(shared.join("data/facets").join(self.file)).filter(|path| path.exists())
    }

    fn records(&self, n: usize) -> Vec<Record> {
        let Some(path) = self.path() else {
            println!("{} is not here: records are made up", self.file);
            let mut random = Random(n as u64);
            return (0..n).map(|nth| Record::made_up(self, nth, &mut random)).collect();
        };
        let file = File::open(path).unwrap();
        let decoded = ruzstd::decoding::StreamingDecoder::new(file).unwrap();
        let lines = BufReader::new(decoded).lines().take(n);
        lines
            .map(|line| Record::new(self, &serde_json::from_str(&line.unwrap()).unwrap()))
            .collect()
    }

    fn schema(&self) -> Schema {
        let schema =
            Schema::builder().field(Field::new("id", FieldKind::U64)).key("id").text("text");
        let numbers =
            self.numbers.iter().map(|(name, kind)| Field::new(*name, *kind).stored(false));
        let keyword = |name: &&str| {
            Field::new(*name, FieldKind::Keyword).many(true).column(true).stored(false)
        };
        let fields = numbers.chain(self.keywords.iter().map(keyword));
        fields.fold(schema, |schema, field| schema.field(field)).build().unwrap()
    }

    /// The same records in one segment and in several, with deleted ones, and merged; and which are left in each.
    fn searchers(&self, records: &[Record]) -> Vec<(Searcher, Vec<bool>)> {
        let (one, several) = (Index::in_memory(self.schema()), Index::in_memory(self.schema()));
        let (mut all_at_once, mut parts) = (one.writer().unwrap(), several.writer().unwrap());
        for (id, record) in records.iter().enumerate() {
            all_at_once.add(record.document(self, id)).unwrap();
            parts.add(record.document(self, id)).unwrap();
            if [records.len() / 2, records.len() * 2 / 3, records.len() * 9 / 10].contains(&id) {
                parts.commit().unwrap();
            }
        }
        all_at_once.commit().unwrap();
        parts.commit().unwrap();
        let all = vec![true; records.len()];
        let searchers = [&one, &several].map(|index| (index.searcher().unwrap(), all.clone()));
        let mut searchers = Vec::from(searchers);
        let mut left = all;
        for id in (0..records.len()).filter(|id| id % 11 == 3 || (500..700).contains(id)) {
            parts.delete_key(id as u64).unwrap();
            left[id] = false;
        }
        parts.commit().unwrap();
        searchers.push((several.searcher().unwrap(), left.clone()));
        parts.merge().unwrap();
        searchers.push((several.searcher().unwrap(), left));
        searchers
    }
}

type Matches<'m> = Box<dyn Fn(&Record) -> bool + 'm>;

/// What a search asks for, drawn from the records themselves.
struct Drawn<'r> {
    collection: &'r Collection,
    records: &'r [Record],
    random: Random,
}

impl<'r> Drawn<'r> {
    fn record(&mut self) -> &'r Record {
        &self.records[self.random.below(self.records.len())]
    }

    fn word(&mut self) -> (Query, Matches<'r>) {
        let words: Vec<&String> = self.record().words.iter().collect();
        if words.is_empty() {
            return (Query::All, Box::new(|_| true));
        }
        let word = words[self.random.below(words.len())];
        let query = Query::value("text", &**word);
        (query, Box::new(move |record| record.words.contains(word)))
    }

    fn number(&mut self) -> (&'static str, FieldKind, i64) {
        let (field, kind) =
            self.collection.numbers[self.random.below(self.collection.numbers.len())];
        let known = self.record().numbers.get(field).copied();
        (field, kind, known.unwrap_or_default() + self.random.below(3) as i64 - 1)
    }

    /// One or several values of a keyword field.
    fn values(&mut self) -> (&'static str, HashSet<String>) {
        let field = self.collection.keywords[self.random.below(self.collection.keywords.len())];
        let n = [1, 2, 20][self.random.below(3)];
        let of = |record: &Record| record.keywords.get(field)?.first().cloned();
        let values = (0..n).filter_map(|_| of(self.record()));
        (field, values.chain(["nobody".to_owned()]).collect())
    }

    fn condition(&mut self) -> (Query, Matches<'r>) {
        match self.random.below(4) {
            0 => self.word(),
            1 => {
                let (field, kind, a) = self.number();
                let b = self.record().numbers.get(field).copied().unwrap_or(a);
                let (from, to) = (a.min(b), a.max(b));
                let query = Query::range(value(kind, from)..value(kind, to)).in_field(field);
                let inside = move |number: &i64| (from..to).contains(number);
                (query, Box::new(move |record| record.numbers.get(field).is_some_and(inside)))
            }
            2 => {
                let (field, values) = self.values();
                let query = Query::in_set(values.iter().map(String::as_str)).in_field(field);
                let has = move |record: &Record| {
                    record
                        .keywords
                        .get(field)
                        .is_some_and(|own| own.iter().any(|v| values.contains(v)))
                };
                (query, Box::new(has))
            }
            _ => {
                let (field, ..) = self.number();
                (Query::exists(field), Box::new(move |record| record.numbers.contains_key(field)))
            }
        }
    }

    /// A query of words and conditions.
    fn query(&mut self) -> (Query, Matches<'r>) {
        let (mut query, mut matches): (Query, Matches<'r>) = match self.random.below(4) {
            0 => (Query::All, Box::new(|_| true)),
            1 => {
                let ((a, is_a), (b, is_b)) = (self.word(), self.word());
                (
                    Query::any_of([a, b]),
                    Box::new(move |record: &Record| is_a(record) || is_b(record)),
                )
            }
            _ => self.word(),
        };
        for _ in 0..self.random.below(3) {
            let (condition, holds) = self.condition();
            let is_wanted = self.random.below(4) > 0;
            let all = Query::boolean().must(query);
            query = match is_wanted {
                true => all.filter(condition).build(),
                false => all.must_not(condition).build(),
            };
            let before = matches;
            matches = Box::new(move |record| before(record) && holds(record) == is_wanted);
        }
        (query, matches)
    }

    fn keys(&mut self) -> Vec<Key> {
        let mut keys: Vec<Key> = vec![];
        for _ in 0..self.random.below(4) {
            let numbers = self.collection.numbers.iter().map(|(field, _)| *field);
            let all: Vec<&'static str> =
                numbers.chain(self.collection.keywords.iter().copied()).collect();
            let field = all[self.random.below(all.len())];
            let [descending, missing_first] = [(); 2].map(|()| self.random.below(2) == 0);
            if keys.iter().all(|key| key.field != field) {
                keys.push(Key { field, descending, missing_first });
            }
        }
        keys
    }

    fn facet(&mut self) -> (Facet, Counted) {
        match self.random.below(4) {
            0 | 1 => {
                let field =
                    self.collection.keywords[self.random.below(self.collection.keywords.len())];
                let limit = [1, 10, 100][self.random.below(3)];
                (Facet::values(field).limit(limit).into(), Counted::Values(field, limit))
            }
            2 if self.collection.numbers.iter().any(|(_, kind)| *kind == FieldKind::Date) => {
                (Facet::date_histogram("date", Interval::Month), Counted::Months("date"))
            }
            _ => {
                let (field, kind, first) = self.number();
                let mut ends = vec![first];
                for _ in 0..self.random.below(5) {
                    ends.extend(self.record().numbers.get(field));
                }
                ends.sort_unstable();
                ends.dedup();
                let from = [None].into_iter().chain(ends.iter().copied().map(Some));
                let to = ends.iter().copied().map(Some).chain([None]);
                let ranges: Vec<_> = from.zip(to).collect();
                let of = |end: Option<i64>| end.map(|number| value(kind, number));
                let asked = ranges.iter().map(|(from, to)| FacetRange::new(of(*from), of(*to)));
                (Facet::ranges(field, asked), Counted::Ranges(field, ranges))
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Key {
    field: &'static str,
    descending: bool,
    missing_first: bool,
}

impl Key {
    fn sort_key(self) -> SortKey {
        let key = match self.descending {
            true => SortKey::descending(self.field),
            false => SortKey::ascending(self.field),
        };
        if self.missing_first { key.missing_first() } else { key }
    }

    fn compare(self, a: &Record, b: &Record) -> Ordering {
        let of_text = |record: &Record| -> Option<String> {
            let values = record.keywords.get(self.field)?;
            if self.descending { values.last().cloned() } else { values.first().cloned() }
        };
        let of = |record: &Record| (record.numbers.get(self.field).copied(), of_text(record));
        let ((a, b), is_there) =
            ((of(a), of(b)), |(number, text): &(Option<i64>, Option<String>)| {
                number.is_some() || text.is_some()
            });
        match (is_there(&a), is_there(&b)) {
            (true, true) if self.descending => b.cmp(&a),
            (true, true) => a.cmp(&b),
            (a, b) if self.missing_first => a.cmp(&b),
            (a, b) => b.cmp(&a),
        }
    }
}

/// What a facet counts.
enum Counted {
    Values(&'static str, usize),
    Ranges(&'static str, Vec<(Option<i64>, Option<i64>)>),
    Months(&'static str),
}

impl Counted {
    /// What stands for each bucket and its count, and documents without a value.
    fn expected(&self, matching: &[(usize, &Record)]) -> (Vec<(String, u64)>, u64) {
        let records = || matching.iter().map(|(_, record)| *record);
        let without = |n_with: usize| (matching.len() - n_with) as u64;
        match self {
            Counted::Values(field, limit) => {
                let mut counts: BTreeMap<&String, u64> = BTreeMap::new();
                let mut n_with = 0;
                for values in records().filter_map(|record| record.keywords.get(field)) {
                    n_with += 1;
                    values.iter().for_each(|value| *counts.entry(value).or_default() += 1);
                }
                let mut counts: Vec<_> = counts.into_iter().collect();
                counts.sort_by_key(|(value, count)| (Reverse(*count), *value));
                counts.truncate(*limit);
                let counts = counts.into_iter().map(|(value, count)| (value.clone(), count));
                (counts.collect(), without(n_with))
            }
            Counted::Ranges(field, ranges) => {
                let numbers: Vec<i64> =
                    records().filter_map(|r| r.numbers.get(field)).copied().collect();
                let count = |(from, to): &(Option<i64>, Option<i64>)| {
                    let inside = |number: &&i64| {
                        from.is_none_or(|from| **number >= from)
                            && to.is_none_or(|to| **number < to)
                    };
                    (String::new(), numbers.iter().filter(inside).count() as u64)
                };
                (ranges.iter().map(count).collect(), without(numbers.len()))
            }
            Counted::Months(field) => {
                let numbers: Vec<i64> =
                    records().filter_map(|r| r.numbers.get(field)).copied().collect();
                let mut counts: BTreeMap<String, u64> = BTreeMap::new();
                for micros in &numbers {
                    let shown = Timestamp::from_micros(*micros).unwrap().to_string();
                    *counts.entry(shown[..7].to_owned()).or_default() += 1;
                }
                (counts.into_iter().collect(), without(numbers.len()))
            }
        }
    }

    fn shown(&self, bucket: &Bucket) -> (String, u64) {
        let text = match self {
            Counted::Values(..) => bucket.value.to_string(),
            Counted::Ranges(..) => String::new(),
            Counted::Months(_) => bucket.from.as_ref().unwrap().to_string()[..7].to_owned(),
        };
        (text, bucket.count)
    }
}

fn id(hit: &Hit) -> usize {
    match hit.fields["id"].as_slice() {
        [Value::U64(id)] => *id as usize,
        other => panic!("{other:?}"),
    }
}

/// Tries searches of a collection, each from a page somewhere on.
fn check(collection: &Collection) {
    let records = collection.records(from_env("TREEPIE_COLLECTIONS_RECORDS", RECORDS) as usize);
    let searchers = collection.searchers(&records);
    let seed = from_env("TREEPIE_COLLECTIONS_SEED", 5);
    let n_searches = from_env("TREEPIE_COLLECTIONS", SEARCHES);
    let mut drawn = Drawn { collection, records: &records, random: Random(seed) };
    let (mut n_pages, mut n_matching) = (0, 0);
    for nth in 0..n_searches {
        let ((query, matches), keys) = (drawn.query(), drawn.keys());
        let facets: Vec<_> = (0..drawn.random.below(3)).map(|_| drawn.facet()).collect();
        let (searcher, left) = &searchers[drawn.random.below(searchers.len())];
        let is_left = |(id, record): &(usize, &Record)| left[*id] && matches(record);
        let mut expected: Vec<_> = records.iter().enumerate().filter(is_left).collect();
        expected.sort_by(|a, b| {
            let each = keys.iter().map(|key| key.compare(a.1, b.1));
            each.fold(Ordering::Equal, Ordering::then)
        });
        n_matching += expected.len();
        let per_page = 1 + drawn.random.below(60);
        let about = format!("{query} by {keys:?}, {per_page} a page, search {nth} of seed {seed}");
        let search = || {
            let search = searcher.search(&query).limit(per_page as u64).fields(["id"]);
            match keys.is_empty() {
                true => search.order(treepie::search::Order::Document),
                false => search.sort(keys.iter().map(|key| key.sort_key())),
            }
        };
        let mut at = drawn.random.below(expected.len() + 2);
        let mut next: Option<SearchBuilder<'_>> = Some(search().offset(at as u64));
        for of_walk in 0..3 {
            let Some(mut page) = next.take() else { break };
            if of_walk == 0 {
                page = facets.iter().fold(page, |page, (facet, _)| page.with_facet(facet.clone()));
            }
            let page = page.run().unwrap();
            n_pages += 1;
            assert_eq!(page.total.value, expected.len() as u64, "{about}");
            let wanted: Vec<usize> =
                expected.iter().skip(at).take(per_page).map(|(id, _)| *id).collect();
            assert_eq!(page.hits.iter().map(id).collect::<Vec<_>>(), wanted, "{about}, at {at}");
            for (counts, (_, counted)) in page.facets.iter().zip(&facets) {
                let filled =
                    |bucket: &&Bucket| !matches!(counted, Counted::Months(_)) || bucket.count > 0;
                let buckets = counts.buckets.iter().filter(filled);
                let found: Vec<_> = buckets.map(|bucket| counted.shown(bucket)).collect();
                assert_eq!((found, counts.missing), counted.expected(&expected), "{about}");
            }
            at += wanted.len();
            next = match (page.hits.last(), keys.is_empty()) {
                (Some(_), true) => Some(search().offset(at as u64)),
                (Some(hit), false) => Some(search().after(After::values(&hit.sort, hit.doc))),
                (None, _) => None,
            };
        }
    }
    let (n, file) = (records.len(), collection.file);
    println!(
        "{file}: {n} records, {n_searches} searches, {n_matching} matches, {n_pages} pages, seed {seed}"
    );
}

#[test]
fn a_shop_finds_what_a_look_at_each_order_line_finds() {
    check(&SHOP);
}

#[test]
fn a_museum_finds_what_a_look_at_each_work_finds() {
    check(&MUSEUM);
}
