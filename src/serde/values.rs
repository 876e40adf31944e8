//! Values, numbers of documents and cursors as serde writes and reads them.

use crate::ids::DocId;
use crate::request::After;
use crate::value::{self, Decimal, Timestamp, Value};
use serde_core::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_core::ser::{Serialize, SerializeStruct, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// A text in the notation of RFC 3339.
impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Parsed("a date", PhantomData))
    }
}

/// A text with all digits, as `12.50`.
impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Parsed("a decimal number as a text", PhantomData))
    }
}

/// Reads a text as a value.
struct Parsed<T>(&'static str, PhantomData<T>);

impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Parsed<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

impl Serialize for DocId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de> Deserialize<'de> for DocId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u64::deserialize(deserializer).map(DocId)
    }
}

/// Null, a text, a number, a boolean, or a list of the numbers of a vector; dates, decimals and addresses are texts. A point has a
/// latitude `lat` and a longitude `lon`.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Text(text) => serializer.serialize_str(text),
            Value::I64(number) => serializer.serialize_i64(*number),
            Value::U64(number) => serializer.serialize_u64(*number),
            Value::F64(number) => serializer.serialize_f64(*number),
            Value::Bool(is_true) => serializer.serialize_bool(*is_true),
            Value::Date(_) | Value::Decimal(_) | Value::Ip(_) => serializer.collect_str(self),
            Value::Vector(numbers) => serializer.collect_seq(numbers),
            Value::Point(point) => {
                let mut parts = serializer.serialize_struct("GeoPoint", 2)?;
                parts.serialize_field("lat", &point.lat())?;
                parts.serialize_field("lon", &point.lon())?;
                parts.end()
            }
        }
    }
}

/// Reads a format that says what its values are, as JSON. Texts stay texts, which fields of dates, decimals and addresses read.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a text, a number, a boolean or a list of numbers")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut numbers: Vec<Value> = vec![];
        while let Some(number) = seq.next_element()? {
            numbers.push(number);
        }
        let vector = value::gathered(numbers.iter());
        vector.ok_or_else(|| de::Error::invalid_type(de::Unexpected::Seq, &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        match map.next_key::<String>()? {
            Some(name) if name == NUMBER_OF_DIGITS => number(&map.next_value::<String>()?),
            _ => Err(de::Error::invalid_type(de::Unexpected::Map, &self)),
        }
    }
}

/// The one name of what serde_json makes of a number where some crate of the program has asked it to keep all digits
/// (`arbitrary_precision`).
pub(super) const NUMBER_OF_DIGITS: &str = "$serde_json::private::Number";

/// A number by its digits.
fn number<E: de::Error>(digits: &str) -> Result<Value, E> {
    let whole = || digits.parse().map(Value::U64).or_else(|_| digits.parse().map(Value::I64)).ok();
    let fraction = || digits.parse().map(Value::F64).ok();
    whole().or_else(fraction).ok_or_else(|| {
        de::Error::invalid_value(de::Unexpected::Str(digits), &"the digits of a number")
    })
}

const CURSOR: &[&str] = &["score", "values", "doc"];

/// `{"score": 11.83, "doc": 15212}`, or `{"values": ["12.50", null], "doc": 15212}`.
impl Serialize for After {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut cursor = serializer.serialize_struct("After", 2)?;
        match self {
            After::Score { score, .. } => cursor.serialize_field("score", score)?,
            After::Values { values, .. } => cursor.serialize_field("values", values)?,
        }
        cursor.serialize_field("doc", &self.doc())?;
        cursor.end()
    }
}

impl<'de> Deserialize<'de> for After {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("After", CURSOR, Cursor)
    }
}

struct Cursor;

impl<'de> Visitor<'de> for Cursor {
    type Value = After;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a cursor: a score or sort values, and the number of a document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<After, A::Error> {
        let (mut score, mut values, mut doc) = (None::<f32>, None::<Listed>, None::<DocId>);
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "score" => score = Some(map.next_value()?),
                "values" => values = Some(map.next_value()?),
                "doc" => doc = Some(map.next_value()?),
                other => return Err(de::Error::unknown_field(other, CURSOR)),
            }
        }
        let doc = doc.ok_or_else(|| de::Error::missing_field("doc"))?;
        match (score, values) {
            (Some(score), None) if score.is_finite() => Ok(After::score(score, doc)),
            (None, Some(values)) => Ok(After::values(values.0, doc)),
            _ => Err(de::Error::custom("a cursor has a finite score or sort values, and not both")),
        }
    }
}

/// Sort values.
struct Listed(Vec<Value>);

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(List)
    }
}

struct List;

impl<'de> Visitor<'de> for List {
    type Value = Listed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Listed, A::Error> {
        let mut values = vec![];
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(Listed(values))
    }
}
