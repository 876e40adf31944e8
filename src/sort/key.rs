//! What hits are sorted by.

use crate::error::{Error, ErrorKind, Result};
use crate::format::column::Block;
use crate::ids::FieldId;
use crate::schema::{FieldKind, Schema};
use crate::value::{self, Value};
use std::fmt;
use std::str::FromStr;

/// Keys that hits may be sorted by at the most.
const SORT_KEYS_MAX: usize = 16;

/// One of the fields that hits are sorted by, and which of its ends comes first: numbers, dates and booleans by their size,
/// keywords by their bytes.
///
/// Of a document with many values the least counts where the order ascends, the greatest where it descends. Documents without
/// a value come last, unless they are wanted [first](Self::missing_first), whichever way the order goes.
///
/// ```
/// use treepie::SortKey;
///
/// let key: SortKey = "price:desc".parse()?;
/// assert_eq!(key, SortKey::descending("price"));
/// assert_eq!(SortKey::ascending("price").missing_first().to_string(), "price:asc:missing_first");
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SortKey {
    field: String,
    descending: bool,
    missing_first: bool,
}

impl SortKey {
    /// The least value first.
    pub fn ascending(field: impl Into<String>) -> Self {
        SortKey { field: field.into(), descending: false, missing_first: false }
    }

    /// The greatest value first.
    pub fn descending(field: impl Into<String>) -> Self {
        SortKey { descending: true, ..Self::ascending(field) }
    }

    /// Documents without a value before all others.
    #[must_use]
    pub fn missing_first(mut self) -> Self {
        self.missing_first = true;
        self
    }

    /// The name of the field.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Bytes of its text.
    pub(crate) fn n_bytes(&self) -> usize {
        self.field.len()
    }
}

/// As the command line has it: `price`, `price:desc`, `price:asc:missing_first`.
impl FromStr for SortKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut parts = text.split(':');
        let mut key = SortKey::ascending(parts.next().unwrap_or_default());
        let (mut has_direction, mut has_missing) = (false, false);
        for part in parts {
            let is_first_time = match part {
                "asc" | "desc" => !std::mem::replace(&mut has_direction, true),
                "missing_first" | "missing_last" => !std::mem::replace(&mut has_missing, true),
                _ => false,
            };
            if !is_first_time {
                key.field.clear();
            }
            key.descending |= part == "desc";
            key.missing_first |= part == "missing_first";
        }
        if key.field.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "reading an order")
                .expected(
                    "FIELD, FIELD:asc or FIELD:desc, and :missing_first or :missing_last behind it",
                )
                .found(format!("'{text}'")));
        }
        Ok(key)
    }
}

impl fmt::Display for SortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.descending { "desc" } else { "asc" };
        write!(f, "{}:{direction}", self.field)?;
        f.write_str(if self.missing_first { ":missing_first" } else { "" })
    }
}

/// Keys whose fields are known to have columns.
#[derive(Clone, Debug)]
pub(crate) struct SortOrder(Vec<SortField>);

/// A key, as a schema knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortField {
    pub(crate) field: FieldId,
    kind: FieldKind,
    /// Whether its codes are numbers of terms, of which each segment has its own.
    pub(crate) has_ordinals: bool,
    pub(crate) descending: bool,
    missing_first: bool,
}

/// Where a document stands by each key of an order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranks {
    pub(crate) ranks: Vec<u128>,
    /// By key the term that a rank stands for, where it is that of a keyword.
    pub(crate) terms: Vec<Option<Box<[u8]>>>,
}

impl SortOrder {
    /// Looks the fields up.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] for a field that there is not, of texts or keywords, that keeps no column, or is there twice; for too
    /// many keys.
    pub(crate) fn new(keys: &[SortKey], schema: &Schema) -> Result<Self> {
        let wrong = || Error::new(ErrorKind::Usage, "sorting hits");
        if keys.len() > SORT_KEYS_MAX {
            return Err(wrong()
                .expected(format!("at most {SORT_KEYS_MAX} keys"))
                .found(keys.len().to_string()));
        }
        let mut fields: Vec<SortField> = Vec::with_capacity(keys.len());
        for key in keys {
            let field = schema.field_id(&key.field).ok_or_else(|| {
                let with_column = schema.fields().iter().filter(|field| field.column);
                let known: Vec<_> = with_column.map(|field| &*field.name).collect();
                let known = match &known[..] {
                    [] => "a field with a column, of which there is none".to_owned(),
                    known => format!("one of {}", known.join(", ")),
                };
                wrong().expected(known).found(format!("'{}'", key.field))
            })?;
            let of_schema = schema.get(field);
            if !of_schema.column {
                let hint = match of_schema.kind {
                    FieldKind::Text => "texts cannot be sorted by: a keyword field beside it can",
                    FieldKind::Keyword => "column = true in its schema makes it sortable",
                    _ => "its schema says column = false, or is older than columns are",
                };
                return Err(wrong()
                    .expected("a field of numbers, dates, booleans or keywords that keeps a column")
                    .found(format!("the {} field '{}'", of_schema.kind.name(), key.field))
                    .hint(hint));
            }
            if fields.iter().any(|other| other.field == field) {
                return Err(wrong().expected("each field once").found(format!("'{}'", key.field)));
            }
            fields.push(SortField {
                field,
                kind: of_schema.kind,
                has_ordinals: of_schema.has_ordinals(),
                descending: key.descending,
                missing_first: key.missing_first,
            });
        }
        Ok(SortOrder(fields))
    }

    pub(crate) fn fields(&self) -> &[SortField] {
        &self.0
    }

    pub(crate) fn has_ordinals(&self) -> bool {
        self.0.iter().any(|field| field.has_ordinals)
    }

    /// Where a document with these values stands, as [`values`](Self::values) gives them: by keywords not yet, as that is another
    /// place in each segment.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] where they are not of these keys.
    pub(crate) fn ranks_of(&self, values: &[Value]) -> Result<Ranks> {
        if values.len() != self.0.len() {
            return Err(Error::new(ErrorKind::Usage, "going on after a hit")
                .expected(format!("{} values, one a key", self.0.len()))
                .found(values.len().to_string()));
        }
        let rank = |(nth, (field, value)): (usize, (&SortField, &Value))| match value {
            Value::Null => Ok((field.rank(None), None)),
            value if field.has_ordinals => {
                let term = match value {
                    Value::Text(text) => text.clone(),
                    value => value.to_exact_text().into_owned(),
                };
                Ok((SortField::FIRST, Some(term.into_bytes().into_boxed_slice())))
            }
            // A date as it is written is the first moment that the text can mean.
            value => {
                let code = value::code(field.kind, value).map_err(|refused| {
                    let doing = format!("going on after a hit, by its value of key {}", nth + 1);
                    Error::new(ErrorKind::Usage, doing)
                        .expected(refused.expected)
                        .found(refused.found)
                })?;
                Ok((field.rank(Some(code)), None))
            }
        };
        let both = self.0.iter().zip(values).enumerate().map(rank).collect::<Result<Vec<_>>>()?;
        let (ranks, terms) = both.into_iter().unzip();
        Ok(Ranks { ranks, terms })
    }

    /// The values that ranks were made of, given with their terms; null where there was none.
    pub(crate) fn values<'t>(
        &self,
        ranks: impl Iterator<Item = (u128, Option<&'t [u8]>)>,
    ) -> Vec<Value> {
        let value = |(field, (rank, term)): (&SortField, (u128, Option<&[u8]>))| match term {
            Some(term) => Value::of_term(field.kind, term),
            None => field.code(rank).map_or(Value::Null, |code| value::value(field.kind, code)),
        };
        self.0.iter().zip(ranks).map(value).collect()
    }
}

impl SortField {
    /// What comes before every rank, and what behind: ranks of no value.
    const FIRST: u128 = 0;
    const LAST: u128 = u128::MAX;
    /// What the rank of a term is multiplied by, so that others which the segment does not have find a place before it.
    const BETWEEN: u32 = 64;
    /// More than twice the number of terms can be.
    const TERMS: u128 = 1 << (Self::BETWEEN + 34);

    /// A number for a document with this code, or none: the smaller comes first.
    #[inline]
    pub(crate) fn rank(&self, code: Option<u64>) -> u128 {
        match code {
            None if self.missing_first => Self::FIRST,
            None => Self::LAST,
            Some(code) if self.has_ordinals => self.rank_among_terms(2 * u128::from(code) + 1, 0),
            Some(code) => 1 + u128::from(if self.descending { !code } else { code }),
        }
    }

    /// The rank of a term that a segment does not have, where `n_less` of its terms come before, of those that other segments
    /// have the `nth` by their bytes.
    pub(crate) fn rank_between(&self, n_less: u32, nth: u64) -> u128 {
        self.rank_among_terms(2 * u128::from(n_less), nth)
    }

    fn rank_among_terms(&self, place: u128, nth: u64) -> u128 {
        let place = place << Self::BETWEEN | u128::from(nth);
        1 + if self.descending { Self::TERMS.saturating_sub(place) } else { place }
    }

    /// The ranks that documents with a value can have, where nothing is known of them.
    pub(crate) fn all_ranks(&self) -> (u128, u128) {
        (Self::FIRST, Self::LAST)
    }

    /// The number of the term that a rank stands for in the segment that it is of.
    pub(crate) fn ordinal(&self, rank: u128) -> Option<u32> {
        let place = rank.checked_sub(1).filter(|_| rank < Self::LAST)?;
        let place = if self.descending { Self::TERMS.checked_sub(place)? } else { place };
        let place = place >> Self::BETWEEN;
        // What lies between two terms is even.
        if place % 2 == 1 { u32::try_from(place / 2).ok() } else { None }
    }

    /// The code of a document that counts.
    #[inline]
    pub(crate) fn code_of(&self, block: &Block<'_>, place: u32) -> Option<u64> {
        if self.descending { block.greatest(place) } else { block.least(place) }
    }

    fn code(&self, rank: u128) -> Option<u64> {
        let code = u64::try_from(rank.checked_sub(1)?).ok()?;
        Some(if self.descending { !code } else { code })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Field;

    #[test]
    fn keys_are_read_as_they_are_written() {
        for text in ["a:asc", "a:desc", "a.b:asc:missing_first", "a:desc:missing_first"] {
            assert_eq!(text.parse::<SortKey>().unwrap().to_string(), text);
        }
        assert_eq!("a".parse::<SortKey>().unwrap(), SortKey::ascending("a"));
        assert_eq!("a:missing_last:desc".parse::<SortKey>().unwrap(), SortKey::descending("a"));
        for text in
            ["", ":desc", "a:", "a:up", "a:asc:desc", "a:desc:desc", "a:missing_last:missing_first"]
        {
            assert!(text.parse::<SortKey>().is_err(), "{text}");
        }
    }

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
        let mut before: Option<Vec<u128>> = None;
        for row in rows {
            let values = row.map(Value::from);
            let ranks = order.ranks_of(&values).unwrap().ranks;
            assert_eq!(order.values(ranks.iter().map(|rank| (*rank, None))), values);
            assert!(before.is_none_or(|before| before < ranks), "{values:?}");
            before = Some(ranks);
        }
        assert!(order.ranks_of(&[Value::Null]).is_err());
        assert!(order.ranks_of(&["x".into(), Value::Null]).is_err());
        let refused = |keys: &[SortKey]| SortOrder::new(keys, &schema).unwrap_err().to_string();
        assert!(refused(&[SortKey::ascending("x")]).contains("expected one of a, b, k, found 'x'"));
        assert!(refused(&[SortKey::ascending("t")]).contains("found the text field 't'"));
        assert!(refused(&[SortKey::ascending("c")]).contains("column = false"));
        assert!(refused(&[SortKey::ascending("l")]).contains("column = true in its schema"));
        assert!(refused(&[keys[0].clone(), SortKey::descending("a")]).contains("each field once"));
        assert!(refused(&vec![keys[0].clone(); 17]).contains("at most 16 keys"));
    }

    #[test]
    fn terms_of_other_segments_find_their_place_between_those_of_one() {
        let schema = Schema::builder().field(Field::new("k", FieldKind::Keyword).column(true));
        let schema = schema.build().unwrap();
        for key in [SortKey::ascending("k"), SortKey::descending("k").missing_first()] {
            let is_turned = key.descending;
            let order = SortOrder::new(&[key], &schema).unwrap();
            let field = order.fields()[0];
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
