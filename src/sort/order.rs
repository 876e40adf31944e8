//! Resolved order of documents: ranks by each key, which compare as the documents do.

use super::distances::Near;
use super::key::{Direction, SortBy, SortKey};
use super::place::Place;
use super::text::{TextKey, TextOrder, Tie};
use crate::error::{Error, ErrorKind, Result};
use crate::format::column::Block;
use crate::function::BoundFunction;
use crate::ids::{DocId, FieldId};
use crate::schema::{FieldKind, OrderField, Schema};
use crate::value::{self, Value};
use std::rc::Rc;
use std::sync::Arc;

/// Keys that hits may be sorted by at the most.
const SORT_KEYS_MAX: usize = 16;

/// Keys whose fields are known to have columns.
#[derive(Clone, Debug)]
pub(crate) struct SortOrder(Vec<OrderKey>);

/// A key, as a schema knows it.
#[derive(Clone, Debug)]
pub(crate) struct OrderKey {
    pub(super) by: OrderBy,
    pub(super) direction: Direction,
    pub(crate) kind: FieldKind,
}

#[derive(Clone, Debug)]
pub(super) enum OrderBy {
    Field(SortField),
    /// Texts of a keyword field, in another order than that of bytes.
    Text(SortField, Arc<TextOrder>),
    Score,
    Random(Shuffle),
    Function(Arc<BoundFunction>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SortField {
    pub(crate) field: FieldId,
    kind: FieldKind,
    /// Whether its codes are numbers of terms, of which each segment has its own.
    pub(crate) has_ordinals: bool,
    pub(crate) direction: Direction,
}

/// An order that is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shuffle {
    seed: u64,
    /// The key of the index, where it has numbers: what a document is known by.
    pub(crate) key: Option<FieldId>,
}

/// The rank of a value; the term that it stands for, and what is compared beside it.
type RankOfValue = (u128, Option<Box<[u8]>>, Option<Rc<TextKey>>);

impl SortOrder {
    /// Looks the fields up; refuses one that there is not, of texts, that keeps no column, or is there twice, and too many keys.
    pub(crate) fn new(keys: &[SortKey], schema: &Schema) -> Result<Self> {
        if keys.len() > SORT_KEYS_MAX {
            return Err(refused()
                .expected(format!("at most {SORT_KEYS_MAX} keys"))
                .found(keys.len().to_string()));
        }
        for (nth, key) in keys.iter().enumerate() {
            let is_same = |other: &SortKey| match key.field() {
                Some(name) => other.field() == Some(name),
                None => key.by == other.by,
            };
            if keys.iter().take(nth).any(is_same) {
                let (expected, found) = match &key.field() {
                    Some(name) => ("each field once", format!("'{name}'")),
                    None => ("each key once", format!("'{key}'")),
                };
                return Err(refused().expected(expected).found(found));
            }
        }
        let key = |key: &SortKey| {
            let direction = key.direction;
            let (by, kind) = match &key.by {
                SortBy::Field(name, text) => {
                    let field = SortField::new(name, direction, schema)?;
                    let by = match TextOrder::new(text)? {
                        None => OrderBy::Field(field),
                        Some(order) if field.kind == FieldKind::Keyword => {
                            OrderBy::Text(field, Arc::new(order))
                        }
                        Some(_) => {
                            return Err(refused()
                                .expected("a field of keywords for an order of texts")
                                .found(format!("the {} field '{name}'", field.kind.name())));
                        }
                    };
                    (by, field.kind)
                }
                SortBy::Score => (OrderBy::Score, FieldKind::F64),
                SortBy::Random(seed) => {
                    (OrderBy::Random(Shuffle::new(*seed, schema)), FieldKind::U64)
                }
                SortBy::Function(function) => {
                    (OrderBy::Function(Arc::new(function.bind(schema)?)), FieldKind::F64)
                }
            };
            Ok(OrderKey { by, direction, kind })
        };
        keys.iter().map(key).collect::<Result<_>>().map(SortOrder)
    }

    pub(crate) fn keys(&self) -> &[OrderKey] {
        &self.0
    }

    /// The keyword fields among the keys whose terms have numbers in each segment, each with the number of the key.
    pub(crate) fn with_ordinals(&self) -> impl Iterator<Item = (usize, SortField)> {
        self.0.iter().enumerate().filter_map(|(nth, key)| match key.by {
            OrderBy::Field(field) if field.has_ordinals => Some((nth, field)),
            _ => None,
        })
    }

    pub(crate) fn needs_scores(&self) -> bool {
        self.0.iter().any(|key| match &key.by {
            OrderBy::Score => true,
            OrderBy::Function(function) => function.needs_score(),
            OrderBy::Field(_) | OrderBy::Text(..) | OrderBy::Random(_) => false,
        })
    }

    /// Whether ranks leave open which of two documents comes first, beside their numbers.
    pub(super) fn has_texts(&self) -> bool {
        self.0.iter().any(|key| matches!(key.by, OrderBy::Text(..)))
    }

    /// The first key, where it is a field in the order of its codes: of these blocks have bounds.
    pub(crate) fn first_field(&self) -> Option<SortField> {
        match self.0.first()?.by {
            OrderBy::Field(field) => Some(field),
            _ => None,
        }
    }

    /// The first key, where it is a distance.
    pub(super) fn near(&self) -> Option<Near<'_>> {
        let key = self.0.first()?;
        let OrderBy::Function(function) = &key.by else { return None };
        let (field, center, distance) = function.distance()?;
        Some(Near { field, center, distance, direction: key.direction })
    }

    /// Place of a document with these values, as [`values`](Self::values) gives them: by keywords not yet, as that is
    /// another place in each segment. Refuses values that are not of these keys.
    pub(crate) fn place_of(&self, values: &[Value], doc: DocId) -> Result<Place> {
        if values.len() != self.0.len() {
            return Err(Error::new(ErrorKind::Usage, "going on after a hit")
                .expected(format!("{} values, one a key", self.0.len()))
                .found(values.len().to_string()));
        }
        let mut place = Place::new(doc);
        for (nth, (key, value)) in (1..).zip(self.0.iter().zip(values)) {
            let (rank, term, text) = key.rank_of(value).map_err(|refused| {
                refused.into_usage(format!("going on after a hit, by its value of key {nth}"))
            })?;
            match nth {
                1 => place.first = rank,
                _ => place.rest.push(rank),
            }
            place.terms.push(term);
            if self.has_texts() {
                place.ties.push(Tie::new(text, key.direction));
            }
        }
        Ok(place)
    }

    /// The values that a document is where it is by; null where there was none.
    pub(crate) fn values(&self, place: &Place) -> Vec<Value> {
        let value = |(key, (rank, term)): (&OrderKey, (u128, Option<&[u8]>))| match (&key.by, term)
        {
            (OrderBy::Field(_) | OrderBy::Text(..), Some(term)) => Value::of_term(key.kind, term),
            (OrderBy::Text(..), None) => Value::Null,
            _ => key.direction.code(rank).map_or(Value::Null, |code| key.value(code)),
        };
        self.0.iter().zip(place.ranks()).map(value).collect()
    }
}

fn refused() -> Error {
    Error::new(ErrorKind::Usage, "sorting hits")
}

impl OrderKey {
    /// Whether it is one of the fields that documents of each segment lie in the order of.
    pub(super) fn is_in_order_of(&self, of_index: &OrderField) -> bool {
        let direction = Direction { descending: of_index.descending, missing_first: false };
        matches!(&self.by, OrderBy::Field(it) if it.field == of_index.field && it.direction == direction)
    }

    fn rank_of(&self, value: &Value) -> Result<RankOfValue, value::NotTaken> {
        let term = || match value {
            Value::Text(text) => text.clone().into_bytes(),
            value => value.to_exact_text().into_owned().into_bytes(),
        };
        let number = |kind| value::code(kind, value);
        let code = match (&self.by, value) {
            (OrderBy::Field(_) | OrderBy::Text(..) | OrderBy::Function(_), Value::Null) => None,
            (OrderBy::Field(field), _) if field.kind == FieldKind::Ip => {
                let term = value::address_term(value)?.to_vec().into_boxed_slice();
                return Ok((Direction::FIRST, Some(term), None));
            }
            (OrderBy::Field(field), _) if field.has_ordinals => {
                return Ok((Direction::FIRST, Some(term().into_boxed_slice()), None));
            }
            (OrderBy::Text(field, order), _) => {
                let key = order.key(&term());
                return Ok((key.rank(field.direction), None, Some(Rc::new(key))));
            }
            (OrderBy::Score, _) => {
                let score = value::f64_of_code(number(FieldKind::F64)?) as f32;
                Some(code_of_score(score).ok_or_else(|| value::NotTaken {
                    expected: "a score, which is not negative".into(),
                    found: format!("'{value}'"),
                })?)
            }
            // A date as it is written is the first moment that the text can mean.
            _ => Some(number(self.kind)?),
        };
        Ok((self.direction.rank(code), None, None))
    }

    fn value(&self, code: u64) -> Value {
        match self.by {
            // With the digits that it is written with, which lead back to it.
            OrderBy::Score => f32::from_bits(u32::try_from(code).unwrap_or_default()).into(),
            _ => value::value(self.kind, code),
        }
    }
}

/// The bits of a number that is not negative compare as it does.
pub(super) fn code_of_score(score: f32) -> Option<u64> {
    (score >= 0.0).then_some((score + 0.0).to_bits().into())
}

impl Direction {
    /// Ranks of no value: before every rank, and behind.
    pub(super) const FIRST: u128 = 0;
    pub(super) const LAST: u128 = u128::MAX;

    /// A number for a document with this code, or none: the smaller comes first.
    #[inline]
    pub(super) fn rank(self, code: Option<u64>) -> u128 {
        match code {
            None if self.missing_first => Self::FIRST,
            None => Self::LAST,
            Some(code) => 1 + u128::from(if self.descending { !code } else { code }),
        }
    }

    pub(super) fn code(self, rank: u128) -> Option<u64> {
        let code = u64::try_from(rank.checked_sub(1)?).ok()?;
        Some(if self.descending { !code } else { code })
    }
}

impl Shuffle {
    fn new(seed: u64, schema: &Schema) -> Self {
        let has_numbers = |field: &FieldId| {
            let field = schema.get(*field);
            field.column && field.kind.has_codes()
        };
        Shuffle { seed: mixed(seed), key: schema.key_id().filter(has_numbers) }
    }

    /// The code of a document that is known by this number.
    #[inline]
    pub(super) fn code(&self, number: u64) -> u64 {
        // Every reader of JSON keeps as many bits.
        mixed(self.seed ^ number) >> (u64::BITS - f64::MANTISSA_DIGITS)
    }
}

/// Every bit of the number in every bit of another: the step of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators", 2014, figure 18).
#[inline]
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

impl SortField {
    /// Factor on the rank of a term, so that others which the segment does not have find a place before it.
    const BETWEEN: u32 = 64;
    /// More than twice the number of terms can be.
    const TERMS: u128 = 1 << (Self::BETWEEN + 34);

    fn new(name: &str, direction: Direction, schema: &Schema) -> Result<Self> {
        let field = schema.field_id(name).ok_or_else(|| {
            let with_column = schema.fields().iter().filter(|field| field.column);
            let known: Vec<_> = with_column.map(|field| &*field.name).collect();
            let known = match &known[..] {
                [] => "a field with a column, of which there is none".to_owned(),
                known => format!("one of {}", known.join(", ")),
            };
            schema.did_you_mean(refused().expected(known).found(format!("'{name}'")), name)
        })?;
        let of_schema = schema.get(field);
        if let FieldKind::Path { .. } = of_schema.kind {
            return Err(refused()
                .expected("a field whose documents have values, and not all that these are below")
                .found(format!("the path field '{name}'"))
                .hint("a keyword field beside it can be sorted by"));
        }
        if !of_schema.column {
            let hint = match of_schema.kind {
                FieldKind::Text => "texts cannot be sorted by: a keyword field beside it can",
                _ => "column = true in the schema, and an index made anew, make it sortable",
            };
            return Err(refused()
                .expected("a field of numbers, dates, booleans or keywords that keeps a column")
                .found(format!("the {} field '{name}'", of_schema.kind.name()))
                .hint(hint));
        }
        let (kind, has_ordinals) = (of_schema.kind, of_schema.has_ordinals());
        Ok(SortField { field, kind, has_ordinals, direction })
    }

    /// A number for a document with this code, or none: the smaller comes first.
    #[inline]
    pub(crate) fn rank(&self, code: Option<u64>) -> u128 {
        match code {
            Some(code) if self.has_ordinals => self.rank_among_terms(2 * u128::from(code) + 1, 0),
            code => self.direction.rank(code),
        }
    }

    /// The rank of a term that a segment does not have, the `nth` of such by their bytes, where `n_less` of its terms come before.
    pub(crate) fn rank_between(&self, n_less: u32, nth: u64) -> u128 {
        self.rank_among_terms(2 * u128::from(n_less), nth)
    }

    fn rank_among_terms(&self, place: u128, nth: u64) -> u128 {
        let place = place << Self::BETWEEN | u128::from(nth);
        1 + if self.direction.descending { Self::TERMS.saturating_sub(place) } else { place }
    }

    /// The number of the term that a rank stands for in the segment that it is of.
    pub(crate) fn ordinal(&self, rank: u128) -> Option<u32> {
        let place = rank.checked_sub(1).filter(|_| rank < Direction::LAST)?;
        let place = if self.direction.descending { Self::TERMS.checked_sub(place)? } else { place };
        let place = place >> Self::BETWEEN;
        // Places between two terms are even.
        if place % 2 == 1 { u32::try_from(place / 2).ok() } else { None }
    }

    /// The code of a document that counts.
    #[inline]
    pub(crate) fn code_of(&self, block: &Block<'_>, place: u32) -> Option<u64> {
        if self.direction.descending { block.greatest(place) } else { block.least(place) }
    }

    /// The ranks that documents with codes in this range have at the least and at the most, where some may have none.
    pub(super) fn bounds(&self, range: Option<(u64, u64)>, has_missing: bool) -> (u128, u128) {
        let missing = self.rank(None);
        let Some((least, greatest)) = range else { return (missing, missing) };
        let (a, b) = (self.rank(Some(least)), self.rank(Some(greatest)));
        match has_missing {
            true => (a.min(b).min(missing), a.max(b).max(missing)),
            false => (a.min(b), a.max(b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Field;

    #[test]
    fn ranks_are_in_the_order_of_the_key_and_give_values_back() {
        let field = |name: &str| Field::new(name, FieldKind::I64);
        let schema = Schema::builder().field(field("a")).field(field("b")).text("t");
        let schema = schema.field(field("c").column(false));
        let keyword = |name: &str| Field::new(name, FieldKind::Keyword);
        let schema = schema.field(keyword("k").column(true)).field(keyword("l"));
        let schema = schema.build().unwrap();
        let keys = [SortKey::ascending("a"), SortKey::descending("b").missing_first()];
        let order = SortOrder::new(&keys, &schema).unwrap();
        let rows = [[Some(i64::MIN), None], [Some(-1), Some(i64::MAX)], [Some(-1), Some(3)]];
        let rows = [&rows[..], &[[Some(i64::MAX), Some(i64::MIN)], [None, None]]].concat();
        let mut before: Option<Place> = None;
        for row in rows {
            let values = row.map(Value::from);
            let place = order.place_of(&values, DocId(0)).unwrap();
            assert_eq!(order.values(&place), values);
            assert!(before.is_none_or(|before| before < place), "{values:?}");
            before = Some(place);
        }
        assert!(order.place_of(&[Value::Null], DocId(0)).is_err());
        assert!(order.place_of(&["x".into(), Value::Null], DocId(0)).is_err());
        let refused = |keys: &[SortKey]| SortOrder::new(keys, &schema).unwrap_err().to_string();
        assert!(refused(&[SortKey::ascending("x")]).contains("expected one of a, b, k, found 'x'"));
        assert!(refused(&[SortKey::ascending("t")]).contains("found the text field 't'"));
        for name in ["c", "l"] {
            assert!(refused(&[SortKey::ascending(name)]).contains("column = true in the schema"));
        }
        assert!(refused(&[keys[0].clone(), SortKey::descending("a")]).contains("each field once"));
        let score = SortKey::score();
        assert!(refused(&[score.clone(), score.reversed()]).contains("each key once"));
        assert!(refused(&vec![keys[0].clone(); 17]).contains("at most 16 keys"));
    }

    #[test]
    fn scores_and_chance_have_values_that_lead_back_to_their_place() {
        let schema = Schema::builder().text("t").build().unwrap();
        let keys = [SortKey::score(), SortKey::random(3)];
        let order = SortOrder::new(&keys, &schema).unwrap();
        let mut before: Option<Place> = None;
        for score in [f32::MAX, 1.5, 0.1, f32::MIN_POSITIVE, 0.0] {
            let values = [Value::from(score), Value::U64((1 << 53) - 1)];
            let place = order.place_of(&values, DocId(0)).unwrap();
            assert_eq!(order.values(&place), values);
            assert!(before.is_none_or(|before| before < place), "{values:?}");
            before = Some(place);
        }
        let refused =
            |values: [Value; 2]| order.place_of(&values, DocId(0)).unwrap_err().to_string();
        assert!(refused([Value::F64(-1.0), Value::U64(0)]).contains("a score"));
        assert!(refused([Value::Null, Value::U64(0)]).contains("value of key 1"));
        assert!(refused([Value::F64(1.0), Value::F64(0.5)]).contains("value of key 2"));
    }

    /// Whoever asks for the next page of an order after an update of this program wants the same one.
    #[test]
    fn chance_is_the_same_for_ever() {
        let schema = Schema::builder().text("t").build().unwrap();
        let codes = |seed| [0, 1, u64::MAX].map(|n| Shuffle::new(seed, &schema).code(n));
        // The first of the generator that begins with 0, as its authors publish it.
        assert_eq!(mixed(0), 0xe220_a839_7b1d_cdaf);
        let expected = |seed, n| mixed(mixed(seed) ^ n) >> 11;
        assert_eq!(codes(7), [0, 1, u64::MAX].map(|n| expected(7, n)));
        assert_ne!(codes(7), codes(8));
    }

    #[test]
    fn terms_of_other_segments_find_their_place_between_those_of_one() {
        let schema = Schema::builder().field(Field::new("k", FieldKind::Keyword).column(true));
        let schema = schema.build().unwrap();
        for key in [SortKey::ascending("k"), SortKey::descending("k").missing_first()] {
            let is_turned = key.direction.descending;
            let order = SortOrder::new(&[key], &schema).unwrap();
            let (_, field) = order.with_ordinals().next().unwrap();
            let most = u32::MAX - 1;
            let mut ranks = vec![
                field.rank_between(0, 0),
                field.rank_between(0, 7),
                field.rank(Some(0)),
                field.rank_between(1, 8),
                field.rank(Some(1)),
                field.rank(Some(most.into())),
                field.rank_between(u32::MAX, u64::MAX),
            ];
            if is_turned {
                ranks.reverse();
                ranks.insert(0, field.rank(None));
            } else {
                ranks.push(field.rank(None));
            }
            assert!(ranks.is_sorted_by(|a, b| a < b), "{ranks:?}");
            for ordinal in [0, 1, 77, most] {
                assert_eq!(field.ordinal(field.rank(Some(ordinal.into()))), Some(ordinal));
            }
            assert_eq!(field.ordinal(field.rank_between(3, 5)), None);
            assert_eq!(field.ordinal(field.rank(None)), None);
        }
    }
}
