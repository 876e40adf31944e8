//! What hits are sorted by.

use crate::error::{Error, ErrorKind, Result};
use crate::format::column::Block;
use crate::ids::FieldId;
use crate::schema::{Field, FieldKind, Schema};
use crate::value::{self, Value};
use std::fmt;
use std::str::FromStr;

/// Keys that hits may be sorted by at the most.
const SORT_KEYS_MAX: usize = 16;

/// One of the fields that hits are sorted by, and which of its ends comes first.
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
    pub(crate) descending: bool,
    missing_first: bool,
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
                let is_known = |field: &&Field| field.column && !field.has_ordinals();
                let with_column = schema.fields().iter().filter(is_known);
                let known: Vec<_> = with_column.map(|field| &*field.name).collect();
                let known = match &known[..] {
                    [] => "a field with a column, of which there is none".to_owned(),
                    known => format!("one of {}", known.join(", ")),
                };
                wrong().expected(known).found(format!("'{}'", key.field))
            })?;
            let of_schema = schema.get(field);
            if !of_schema.column || of_schema.has_ordinals() {
                let hint = match of_schema.kind.is_typed() {
                    true => "its schema says column = false, or is older than columns are",
                    false => "keywords cannot be sorted by yet, texts not at all",
                };
                return Err(wrong()
                    .expected("a field of numbers, dates or booleans that keeps a column")
                    .found(format!("the {} field '{}'", of_schema.kind.name(), key.field))
                    .hint(hint));
            }
            if fields.iter().any(|other| other.field == field) {
                return Err(wrong().expected("each field once").found(format!("'{}'", key.field)));
            }
            fields.push(SortField {
                field,
                kind: of_schema.kind,
                descending: key.descending,
                missing_first: key.missing_first,
            });
        }
        Ok(SortOrder(fields))
    }

    pub(crate) fn fields(&self) -> &[SortField] {
        &self.0
    }

    /// Where a document with these values stands, as [`values`](Self::values) gives them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] where they are not of these keys.
    pub(crate) fn ranks_of(&self, values: &[Value]) -> Result<Vec<u128>> {
        if values.len() != self.0.len() {
            return Err(Error::new(ErrorKind::Usage, "going on after a hit")
                .expected(format!("{} values, one a key", self.0.len()))
                .found(values.len().to_string()));
        }
        let rank = |(nth, (field, value)): (usize, (&SortField, &Value))| match value {
            Value::Null => Ok(field.rank(None)),
            // A date as it is written is the first moment that the text can mean.
            value => {
                let code = value::code(field.kind, value).map_err(|refused| {
                    let doing = format!("going on after a hit, by its value of key {}", nth + 1);
                    Error::new(ErrorKind::Usage, doing)
                        .expected(refused.expected)
                        .found(refused.found)
                })?;
                Ok(field.rank(Some(code)))
            }
        };
        self.0.iter().zip(values).enumerate().map(rank).collect()
    }

    /// The values that ranks were made of; null where there was none.
    pub(crate) fn values(&self, ranks: impl Iterator<Item = u128>) -> Vec<Value> {
        let value = |(field, rank): (&SortField, u128)| match field.code(rank) {
            Some(code) => value::value(field.kind, code),
            None => Value::Null,
        };
        self.0.iter().zip(ranks).map(value).collect()
    }
}

impl SortField {
    /// What comes before every rank, and what behind: ranks of no value.
    const FIRST: u128 = 0;
    const LAST: u128 = u128::MAX;

    /// A number for a document with this code, or none: the smaller comes first.
    #[inline]
    pub(crate) fn rank(&self, code: Option<u64>) -> u128 {
        match code {
            None if self.missing_first => Self::FIRST,
            None => Self::LAST,
            Some(code) => 1 + u128::from(if self.descending { !code } else { code }),
        }
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
        let schema = schema.field(field("c").column(false)).build().unwrap();
        let keys = [SortKey::ascending("a"), SortKey::descending("b").missing_first()];
        let order = SortOrder::new(&keys, &schema).unwrap();
        let rows = [[Some(i64::MIN), None], [Some(-1), Some(i64::MAX)], [Some(-1), Some(3)]];
        let rows = [&rows[..], &[[Some(i64::MAX), Some(i64::MIN)], [None, None]]].concat();
        let mut before: Option<Vec<u128>> = None;
        for row in rows {
            let values = row.map(Value::from);
            let ranks = order.ranks_of(&values).unwrap();
            assert_eq!(order.values(ranks.iter().copied()), values);
            assert!(before.is_none_or(|before| before < ranks), "{values:?}");
            before = Some(ranks);
        }
        assert!(order.ranks_of(&[Value::Null]).is_err());
        assert!(order.ranks_of(&["x".into(), Value::Null]).is_err());
        let refused = |keys: &[SortKey]| SortOrder::new(keys, &schema).unwrap_err().to_string();
        assert!(refused(&[SortKey::ascending("x")]).contains("expected one of a, b, found 'x'"));
        assert!(refused(&[SortKey::ascending("t")]).contains("found the text field 't'"));
        assert!(refused(&[SortKey::ascending("c")]).contains("column = false"));
        assert!(refused(&[keys[0].clone(), SortKey::descending("a")]).contains("each field once"));
        assert!(refused(&vec![keys[0].clone(); 17]).contains("at most 16 keys"));
    }
}
