//! Hits in the order of fields: every page of a walk, forwards by offset and from hit to hit, compared with documents that
//! are filtered and sorted one by one.
//!
//! ```text
//! cargo test --test suite sorting
//! TREEPIE_SORTING=100000 TREEPIE_SORTING_SEED=7 cargo test --release --test suite sorting_walks -- --nocapture
//! ```

use crate::random::Random;
use crate::typed::{self, FIELDS, Item, KEYWORDS, Matches};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use treepie::query::{ParseOptions, Query, parse};
use treepie::{
    Decay, DocId, Document, ErrorKind, FacetKind, FacetRange, Field, FieldKind, FieldValue,
    Function, Hit, Index, Interval, Modifier, Order, Schema, ScoreFunction, SearchBuilder,
    Searcher, SortKey, Timestamp, TotalMode, Value,
};

/// Walks that are made unless more are asked for.
const WALKS: u64 = 500;

pub(crate) fn from_env(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |number| number.parse().expect("a number"))
}

/// A key, and how it compares documents.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    by: By,
    descending: bool,
    missing_first: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum By {
    Field(&'static str),
    /// Names, in one of [`ORDERS`].
    Names(&'static str, usize),
    Score,
    Random(u64),
    /// One of [`functions`].
    Function(usize),
}

/// A document that matches: its id, what it has, and its score in a search by score.
#[derive(Clone, Copy)]
struct Row<'i> {
    id: usize,
    item: &'i Item,
    score: f32,
}

impl Key {
    fn any(random: &mut Random) -> Self {
        let [descending, missing_first] = [(); 2].map(|()| random.below(2) == 0);
        let by = match random.below(10) {
            8 | 9 => By::Names(typed::NAMES[random.below(2)].0, random.below(ORDERS.len())),
            6 | 7 => By::Function(random.below(functions().len())),
            0 => By::Score,
            1 => By::Random(random.below(1_000) as u64),
            _ => {
                let nth = random.below(FIELDS.len() + KEYWORDS.len());
                let of_keyword = || KEYWORDS[nth - FIELDS.len()].0;
                By::Field(FIELDS.get(nth).map_or_else(of_keyword, |field| field.0))
            }
        };
        Key { by, descending, missing_first }
    }

    fn sort_key(&self) -> SortKey {
        let key = match &self.by {
            By::Field(name) => SortKey::ascending(*name),
            By::Names(name, nth) => match ORDERS[*nth] {
                "natural" => SortKey::ascending(*name).natural(),
                locale => SortKey::ascending(*name).collated(locale),
            },
            By::Score => SortKey::score().reversed(),
            By::Random(seed) => SortKey::random(*seed),
            By::Function(nth) => SortKey::function(functions()[*nth].0.clone()),
        };
        let key = if self.descending { key.reversed() } else { key };
        if self.missing_first { key.missing_first() } else { key }
    }

    /// The value that counts.
    fn of(&self, row: Row<'_>) -> Option<i128> {
        match &self.by {
            By::Field(name) => {
                let values = row.item.get(name)?.iter().copied();
                if self.descending { values.max() } else { values.min() }
            }
            By::Names(name, nth) => {
                let ranks = &ranks_of_names()[*nth];
                let values = row.item.get(name)?.iter().map(|number| ranks[*number as usize]);
                if self.descending { values.max() } else { values.min() }
            }
            By::Score => Some(row.score.to_bits().into()),
            By::Function(nth) => {
                let value = functions()[*nth].1(row).filter(|value| value.is_finite())?;
                Some(in_order(value))
            }
            By::Random(seed) => {
                let hash = i128::from(split_mix(split_mix(*seed) ^ row.id as u64) >> 11);
                // Turning it round does nothing.
                Some(if self.descending { -hash } else { hash })
            }
        }
    }

    fn compare(&self, a: Row<'_>, b: Row<'_>) -> Ordering {
        match (self.of(a), self.of(b)) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) if self.missing_first => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => self.compare(b, a).reverse(),
            (Some(a), Some(b)) if self.descending => b.cmp(&a),
            (Some(a), Some(b)) => a.cmp(&b),
        }
    }

    /// What a hit has to say that it stands where it does by.
    fn check(&self, row: Row<'_>, found: &Value, about: &str) {
        let value = self.of(row);
        assert_eq!(found.is_null(), value.is_none(), "{about}");
        match &self.by {
            By::Field(name) if KEYWORDS.iter().any(|(keyword, _)| keyword == name) => {
                let word = value.map_or(Value::Null, |value| typed::word(value).into());
                assert_eq!(*found, word, "{about}");
            }
            By::Names(_, nth) => {
                let ranks = &ranks_of_names()[*nth];
                let number = value.and_then(|value| ranks.iter().position(|rank| *rank == value));
                assert_eq!(*found, Value::from(number.map(typed::name)), "{about}");
            }
            By::Score => assert_eq!(*found, Value::from(row.score), "{about}"),
            By::Function(nth) => {
                let value = functions()[*nth].1(row).filter(|value| value.is_finite());
                assert_eq!(*found, Value::from(value.map(|value| value + 0.0)), "{about}");
            }
            By::Field(_) | By::Random(_) => {}
        }
    }
}

/// Orders of names: natural, and those of languages.
const ORDERS: [&str; 3] = ["natural", "de", "sv-u-kn"];

/// By order and number the rank of a name among all; of what is the same but for its bytes these decide.
fn ranks_of_names() -> &'static [Vec<i128>] {
    static RANKS: LazyLock<Vec<Vec<i128>>> = LazyLock::new(|| {
        let ranks = |order: &str| {
            let compare: Box<dyn Fn(&String, &String) -> Ordering> = match order {
                "natural" => Box::new(|a, b| pieces(a).cmp(&pieces(b))),
                locale => {
                    let locale = icu_locale_core::Locale::try_from_str(locale).unwrap();
                    let collator =
                        icu_collator::Collator::try_new((&locale).into(), Default::default());
                    let collator = collator.unwrap();
                    Box::new(move |a, b| collator.compare(a, b))
                }
            };
            let names: Vec<_> = (0..typed::NAMES_LEN).map(typed::name).collect();
            let mut sorted: Vec<_> = names.iter().collect();
            sorted.sort_by(|a, b| compare(a, b).then_with(|| a.cmp(b)));
            sorted.dedup();
            let rank = |name| sorted.iter().position(|other| *other == name).unwrap() as i128;
            names.iter().map(rank).collect()
        };
        ORDERS.map(ranks).into()
    });
    &RANKS
}

/// A name in pieces: letters without case and marks, and numbers, which stand where a 0 does.
fn pieces(name: &str) -> Vec<(char, u64)> {
    let mut pieces: Vec<(char, u64)> = vec![];
    let mut is_number = false;
    for c in name.chars().filter(|c| *c != '\u{301}') {
        match (c.to_digit(10), pieces.last_mut()) {
            (Some(digit), Some((_, number))) if is_number => {
                *number = *number * 10 + u64::from(digit)
            }
            (Some(digit), _) => pieces.push(('0', digit.into())),
            (None, _) => {
                let plain = if matches!(c, '\u{e4}' | '\u{c4}') { 'a' } else { c };
                pieces.push((plain.to_ascii_lowercase(), 0));
            }
        }
        is_number = c.is_ascii_digit();
    }
    pieces
}

impl Row<'_> {
    /// The number of a field, as functions have it: of many the least.
    fn number(&self, field: &str) -> Option<f64> {
        let micros = *self.item.get(field)?.iter().min()?;
        let million = 1_000_000;
        // A whole number has to be rounded once at the most.
        let is_whole = micros % million == 0;
        Some(if is_whole { (micros / million) as f64 } else { micros as f64 / 1e6 })
    }
}

/// What a function makes of a document, said here once more.
type OfRow = fn(Row<'_>) -> Option<f64>;

/// Functions of every sort, whose results have the same bits however they are computed.
fn functions() -> &'static [(Function, OfRow)] {
    static FUNCTIONS: LazyLock<Vec<(Function, OfRow)>> = LazyLock::new(|| {
        let expression = |text| Function::expression(text).unwrap();
        let now = Timestamp::from_micros(7_200_000_000).unwrap();
        let hours = Decay::linear("d", now, 36_000.0).offset(3_600.0);
        vec![
            (expression("f * 2 - u"), |row| Some(row.number("f")? * 2.0 - row.number("u")?)),
            (expression("coalesce(f, 1) * _score"), |row| {
                Some(row.number("f").unwrap_or(1.0) * f64::from(row.score))
            }),
            (expression("if(b, i / 0, -im)"), |row| {
                Some(match row.number("b")? {
                    0.0 => -row.number("im")?,
                    _ => row.number("i")? / 0.0,
                })
            }),
            (expression("(now - d) % 7").with("now", 100.0), |row| {
                Some((100.0 - row.number("d")?) % 7.0)
            }),
            (
                Function::new("sum", ["i", "_score"], |n| Some(n[0].unwrap_or(-5.0) + n[1]?)),
                |row| Some(row.number("i").unwrap_or(-5.0) + f64::from(row.score)),
            ),
            (
                FieldValue::new("u").modifier(Modifier::Sqrt).factor(3.0).missing(2.0).into(),
                |row| Some((3.0 * row.number("u").unwrap_or(2.0)).sqrt()),
            ),
            (hours.into(), |row| {
                let far = ((row.number("d")? - 7_200.0).abs() - 3_600.0).max(0.0) / 36_000.0;
                Some((1.0 - 0.5 * far).max(0.0))
            }),
            (Decay::exp("im", 4, 2.0).missing(0.25).into(), |row| {
                let far = |micros: &i128| (*micros as f64 / 1e6 - 4.0).abs();
                let nearest = row
                    .item
                    .get("im")
                    .and_then(|values| values.iter().map(far).min_by(f64::total_cmp));
                Some(nearest.map_or(0.25, |far| 0.5f64.powf(far / 2.0)))
            }),
        ]
    });
    &FUNCTIONS
}

/// A whole number for a fraction, in the same order.
fn in_order(value: f64) -> i128 {
    let bits = i128::from((value + 0.0).to_bits() & i64::MAX as u64);
    if value < 0.0 { -bits } else { bits }
}

/// As its authors publish it.
fn split_mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// By id the score of each document that matches.
fn scores(searcher: &Searcher, query: &Query) -> BTreeMap<u64, f32> {
    let page = searcher.search(query).limit(1_000_000).fields(["id"]).run().unwrap();
    page.hits.iter().map(|hit| (id(hit), hit.score.unwrap())).collect()
}

/// A query, and what it matches.
fn any_query(random: &mut Random) -> (String, Matches<'static>) {
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

fn id(hit: &Hit) -> u64 {
    match hit.fields["id"].as_slice() {
        [Value::U64(id)] => *id,
        other => panic!("{other:?}"),
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
            next = page.hits.last().map(|hit| search(&query).after_values(&hit.sort, hit.doc));
        }
    }
    println!("{n_walks} walks, {n_pages} pages, seed {seed}");
}

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
            let next = search().after(last.score.unwrap(), last.doc);
            assert_eq!(found(next), wanted, "{text} by {of:?} after {at}");
            let why = search().explain_score(last.doc).unwrap().unwrap();
            assert_eq!(Some(why.value), last.score, "{text} by {of:?}: {why}");
            let by_key = search().sort([SortKey::score()]);
            assert_eq!(
                found(by_key.offset(at as u64))[0],
                (page.hits[0].score.unwrap(), id(&page.hits[0]) as usize)
            );
        }
        let prepared = search().offset(at as u64).limit(n as u64);
        let mut prepared = prepared.prepare().unwrap();
        let docs: Vec<_> = prepared.run().unwrap().docs.iter().map(|doc| doc.doc).collect();
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
    let why = search(by("price - 2")).explain_score(DocId(1)).unwrap().unwrap();
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
    refused(decay(Decay::exp("_score", 1, 1.0)), "found '_score'");
    let value = FieldValue::new("price").factor(f64::NAN);
    refused(search(ScoreFunction::sum(value)), "a finite factor");
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
        let (name, kind, _) = FIELDS[random.below(FIELDS.len())];
        let ranges = any_ranges(kind, &mut random);
        let is_in = |value: i128, (_, from, to): &(FacetRange, Option<i128>, Option<i128>)| {
            from.is_none_or(|from| from <= value) && to.is_none_or(|to| value < to)
        };
        let asked = ranges.iter().map(|range| range.0.clone());
        let page = searcher.search(&query).facet_ranges(name, asked).facet("b", 1).limit(3);
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
        let hours = searcher.search(&query).facet_intervals(name, Interval::Hour).limit(0);
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
    let query = Query::All;
    let search = || {
        let ranges = [(0..50_000u64).into(), (50_000u64..).into()];
        searcher.search(&query).facet_ranges("price", ranges).facet("price", 1).limit(0)
    };
    let page = search().run().unwrap();
    assert_eq!(page.facets[0].buckets.iter().map(|b| b.count).collect::<Vec<_>>(), [50_000; 2]);
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
    refused(all().facet_ranges("name", [(..).into()]), "found the text field 'name'");
    refused(all().facet_ranges("plain", [(..).into()]), "expected a field that keeps a column");
    refused(all().facet_ranges("price", [("cheap"..).into()]), "found 'cheap'");
    refused(all().facet_intervals("price", Interval::Day), "expected a field of dates");
    let turned = all()
        .facet_ranges("price", [FacetRange::new(Some(9), Some(3)), (..3).into()])
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
        let page = searcher.search(&query).facet_intervals("d", interval).run().unwrap();
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
    let search = || searcher.search(&query).facet_intervals("d", Interval::Minute);
    assert_eq!(search().run().unwrap().facets[0].buckets.len(), 20_003);
    let error = search().memory_bytes(1 << 20).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    let ranges = vec![FacetRange::default(); 1_025];
    let error = searcher.search(&query).facet_ranges("d", ranges).run().unwrap_err();
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
            let keys = SortKey::list(keys).unwrap();
            let page = || searcher.search(&query).sort(keys.clone()).limit(97);
            let (mut by_offset, mut by_hit) = (vec![], vec![]);
            let mut after: Option<Hit> = None;
            loop {
                let offset = by_offset.len() as u64;
                let hits = page().offset(offset).run().unwrap().hits;
                by_offset.extend(hits.iter().map(|hit| hit.doc));
                let search = match &after {
                    Some(hit) => page().after_values(&hit.sort, hit.doc),
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
                let docs: Vec<_> = prepared.run().unwrap().docs.iter().map(|doc| doc.doc).collect();
                assert_eq!(docs, by_offset[..97]);
            }
        }
    }
}

/// Prices that rise with the number of the document, and one field that nobody can sort by.
fn prices(n: u64) -> Index {
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
        let search = searcher.search(query).sort([key.parse().unwrap()]);
        let tree = search.analyze().unwrap();
        assert_eq!((&*tree.plan.operator, tree.plan.id.as_str()), ("Sort", "0"));
        assert!(tree.to_string().contains(&format!("first 10 by {key}")), "{tree}");
        let json: serde_json::Value = serde_json::from_str(&tree.to_json()).unwrap();
        let sort = tree.plan.actual.unwrap().sort.unwrap();
        let told = &json["plan"]["actual"]["sort"];
        assert_eq!(told["blocks_skipped"], sort.blocks_skipped);
        assert_eq!(told["documents"], sort.documents);
        (sort.blocks, sort.blocks_skipped, sort.documents)
    };
    assert_eq!(counts("price:asc", &query), (98, 97, 1_024));
    // The last block has fewer than the others, and all that is wanted.
    assert_eq!(counts("price:desc", &query), (98, 97, 100_000 % 1_024));
    let few = searcher.parse("price:[50000 TO 50099]").unwrap();
    assert_eq!(counts("price:desc", &few).2, 100);
    let explained = searcher.search(&query).sort([SortKey::ascending("price")]).explain().unwrap();
    assert!(explained.plan.actual.is_none() && explained.plan.children.len() == 1);
    assert!(explained.to_string().contains("columns, by bounds of blocks"), "{explained}");
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
    refused(by(vec![SortKey::ascending("plain")]), "its schema says column = false");
    refused(by(vec![price(), SortKey::descending("price")]), "expected each field once");
    refused(by(vec![price().natural()]), "found the u64 field 'price'");
    refused(by(vec![price().collated("d-e")]), "expected a locale, as de");
    let hit = by(vec![price()]).run().unwrap().hits.remove(0);
    refused(by(vec![price()]).after(1.0, hit.doc), "expected values of a hit, found a score");
    refused(by(vec![]).after_values(&hit.sort, hit.doc), "expected keys to sort by");
    let two: [Value; 2] = [Value::Null, Value::Null];
    let with = |values: &[Value]| {
        let search = by(vec![price()]).after_values(values.to_vec(), hit.doc);
        search.run().unwrap_err().to_string()
    };
    assert!(with(&two).contains("expected 1 values, one a key, found 2"));
    assert!(with(&["dear".into()]).contains("found 'dear'"));
}
