//! Orders of documents, said once more: by keys of every sort, of a document that is looked at as a whole.

use crate::random::Random;
use crate::typed::{self, FIELDS, Item, KEYWORDS};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use treepie::function::{Decay, FieldValue, Function, Modifier};
use treepie::query::Query;
use treepie::{Hit, Searcher, SortKey, Timestamp, Value};

/// A key, and how it compares documents.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) by: By,
    pub(crate) descending: bool,
    pub(crate) missing_first: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum By {
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
pub(crate) struct Row<'i> {
    pub(crate) id: usize,
    pub(crate) item: &'i Item,
    pub(crate) score: f32,
}

impl Key {
    pub(crate) fn any(random: &mut Random) -> Self {
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

    pub(crate) fn sort_key(&self) -> SortKey {
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

    pub(crate) fn compare(&self, a: Row<'_>, b: Row<'_>) -> Ordering {
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
    pub(crate) fn check(&self, row: Row<'_>, found: &Value, about: &str) {
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
#[cfg(feature = "collation")]
const ORDERS: &[&str] = &["natural", "de", "sv-u-kn"];
#[cfg(not(feature = "collation"))]
const ORDERS: &[&str] = &["natural"];

type Compare = dyn Fn(&String, &String) -> Ordering;

/// By order and number the rank of a name among all; of what is the same but for its bytes these decide.
fn ranks_of_names() -> &'static [Vec<i128>] {
    static RANKS: LazyLock<Vec<Vec<i128>>> = LazyLock::new(|| {
        let ranks = |order: &str| {
            let compare: Box<Compare> = match order {
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
        ORDERS.iter().map(|order| ranks(order)).collect()
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
    pub(crate) fn number(&self, field: &str) -> Option<f64> {
        let micros = *self.item.get(field)?.iter().min()?;
        let million = 1_000_000;
        // A whole number has to be rounded once at the most.
        let is_whole = micros % million == 0;
        Some(if is_whole { (micros / million) as f64 } else { micros as f64 / 1e6 })
    }
}

/// What a function makes of a document, said here once more.
pub(crate) type OfRow = fn(Row<'_>) -> Option<f64>;

/// Functions of every sort, whose results have the same bits however they are computed.
pub(crate) fn functions() -> &'static [(Function, OfRow)] {
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
pub(crate) fn scores(searcher: &Searcher, query: &Query) -> BTreeMap<u64, f32> {
    let page = searcher.search(query).limit(1_000_000).fields(["id"]).run().unwrap();
    page.hits.iter().map(|hit| (id(hit), hit.score.unwrap())).collect()
}

pub(crate) fn id(hit: &Hit) -> u64 {
    match hit.fields["id"].as_slice() {
        [Value::U64(id)] => *id,
        other => panic!("{other:?}"),
    }
}
