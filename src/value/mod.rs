//! Values of documents, as they are given and as they come back with a hit.
//!
//! ```
//! use treepie::{Document, Value};
//!
//! let lamp = Document::new().with("name", "A lamp").with("price", 12.5).with("year", 1922);
//! assert_eq!(lamp.values("year").next(), Some(&Value::I64(1922)));
//! let unknown = Document::new().with("year", None::<i64>); // says that there is no year
//! assert_eq!(unknown.values("year").next(), Some(&Value::Null));
//! ```

mod access;
mod address;
mod date;
mod dates;
mod decimal;
mod interval;
mod json;
mod path;
mod point;
pub(crate) mod stored;
mod term;
mod typed;
mod vector;
mod width;
mod zone;

use crate::geo::GeoPoint;
use crate::schema::FieldKind;
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::SystemTime;

pub(crate) use address::{AddressSpan, addresses, term_of_address};
pub use date::Timestamp;
pub use dates::Dates;
pub use decimal::Decimal;
pub(crate) use decimal::write_decimal;
pub(crate) use interval::Calendar;
pub use interval::Interval;
pub(crate) use path::{
    canonical as canonical_path, canonical_prefix as canonical_path_prefix, check as check_path,
    ends as path_ends, is_last_name, read as read_path,
};
pub(crate) use point::{POINT_PARTS, point_of_parts, points_of};
pub(crate) use term::{address_term, exact_term, term, value_of_term};
pub(crate) use typed::{
    NotTaken, Span, code, code_of_f64, code_of_term, f64_of_code, not_taken, span, span_in,
    term_of_code, value, vanishes,
};
pub(crate) use vector::{
    append_vector, beside_numbers, bits_of, check_vector, gathered, numbers_of_row,
};
pub(crate) use width::DecimalWidth;
pub use zone::Zone;

/// One value of a field.
///
/// Whole numbers, fractions, texts and the rest are taken by any field that can hold them: a text that reads as a
/// number by a field of numbers, a number by a keyword field as its text.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Value {
    /// Explicit null of a document, which is not the same as a missing field.
    #[default]
    Null,
    /// A text, or the value of a keyword.
    Text(String),
    /// A whole number.
    I64(i64),
    /// A whole number that is not negative.
    U64(u64),
    /// A number with 53 significant bits.
    F64(f64),
    /// True or false.
    Bool(bool),
    /// A point in time.
    Date(Timestamp),
    /// A number with so many digits behind the point.
    Decimal(Decimal),
    /// An address of the Internet Protocol. One of version 4 that is written as version 6 has it comes back as one of
    /// version 4.
    Ip(IpAddr),
    /// A vector, of a field of these.
    Vector(Vec<f32>),
    /// A point on the globe, of a field of these.
    Point(GeoPoint),
}

impl Value {
    /// The text, or what the value is written as; nothing for [`Value::Null`].
    ///
    /// ```
    /// use treepie::Value;
    ///
    /// assert_eq!(Value::from(2.50).to_text(), "2.5");
    /// ```
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Value::Text(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.to_string()),
        }
    }

    /// The text that means this and nothing else, in a query of any field: of a date with all digits behind the second, of a
    /// number with all of its digits. In a field of texts and keywords it is what is indexed.
    pub(crate) fn to_exact_text(&self) -> Cow<'_, str> {
        match self {
            Value::Date(date) => Cow::Owned(date.to_exact_text()),
            // Infinity is beyond all numbers, in all fields of them.
            Value::F64(number) if number.is_infinite() => {
                Cow::Borrowed(if *number > 0.0 { "1e999" } else { "-1e999" })
            }
            // Whole numbers far apart: with all of their digits, which are those of a text, too.
            Value::F64(number) if is_spaced(*number) => {
                let is_in_reach = number.abs() < u64::MAX as f64;
                Cow::Owned(match is_in_reach {
                    true => (*number as i128).to_string(),
                    false => format!("{number:e}"),
                })
            }
            Value::F64(number) => Cow::Owned(number.to_string()),
            other => other.to_text(),
        }
    }

    /// About how many bytes it has.
    pub(crate) fn n_bytes(&self) -> usize {
        match self {
            Value::Text(text) => text.len(),
            Value::Ip(_) => size_of::<IpAddr>(),
            Value::Point(_) => size_of::<GeoPoint>(),
            Value::Vector(numbers) => size_of_val(&numbers[..]),
            _ => size_of::<u64>(),
        }
    }

    /// Whether it says that there is none.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Name of its kind in messages.
    pub(crate) fn described(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Text(_) => "a text",
            Value::I64(_) | Value::U64(_) => "a whole number",
            Value::F64(_) | Value::Decimal(_) => "a number",
            Value::Bool(_) => "a boolean",
            Value::Date(_) => "a date",
            Value::Ip(_) => "an address",
            Value::Vector(_) => "a vector",
            Value::Point(_) => "a point",
        }
    }
}

/// Values are equal if kind and value are; a fraction equals itself, whatever it is, also in a vector.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::I64(a), Value::I64(b)) => a == b,
            (Value::U64(a), Value::U64(b)) => a == b,
            (Value::F64(a), Value::F64(b)) => a.to_bits() == b.to_bits(),
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Date(a), Value::Date(b)) => a == b,
            (Value::Decimal(a), Value::Decimal(b)) => a == b,
            (Value::Ip(a), Value::Ip(b)) => a == b,
            (Value::Vector(a), Value::Vector(b)) => bits(a).eq(bits(b)),
            (Value::Point(a), Value::Point(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Value::Null => {}
            Value::Text(text) => text.hash(state),
            Value::I64(number) => number.hash(state),
            Value::U64(number) => number.hash(state),
            Value::F64(number) => number.to_bits().hash(state),
            Value::Bool(is_true) => is_true.hash(state),
            Value::Date(date) => date.hash(state),
            Value::Decimal(number) => number.hash(state),
            Value::Ip(address) => address.hash(state),
            Value::Vector(numbers) => {
                numbers.len().hash(state);
                bits(numbers).for_each(|bits| bits.hash(state));
            }
            Value::Point(point) => point.hash(state),
        }
    }
}

impl Value {
    /// The value of a term of a field: what a facet counts and a plan shows.
    pub(crate) fn of_term(kind: FieldKind, term: &[u8]) -> Self {
        match kind.is_typed() {
            true => value_of_term(kind, term).unwrap_or_default(),
            false => Value::Text(String::from_utf8_lossy(term).into_owned()),
        }
    }
}

/// Whether several whole numbers lie between this and the next: then zeros behind the digits that tell it apart from others
/// may be digits that it does not have.
fn is_spaced(number: f64) -> bool {
    const BITS_OF_F64: u32 = 53;
    number.abs() >= (2u64 << BITS_OF_F64) as f64
}

impl PartialEq<str> for Value {
    fn eq(&self, text: &str) -> bool {
        self.as_str() == Some(text)
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == Some(text)
    }
}

/// Writes the value: numbers in decimal, dates as RFC 3339 has them.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => Ok(()),
            Value::Text(text) => f.write_str(text),
            Value::I64(number) => number.fmt(f),
            Value::U64(number) => number.fmt(f),
            // Not hundreds of zeros.
            Value::F64(number) if *number != 0.0 && number.abs() < 1e-7 || is_spaced(*number) => {
                write!(f, "{number:e}")
            }
            Value::F64(number) => number.fmt(f),
            Value::Bool(is_true) => is_true.fmt(f),
            Value::Date(date) => date.fmt(f),
            Value::Decimal(number) => number.fmt(f),
            Value::Ip(address) => address.fmt(f),
            Value::Vector(numbers) => write_vector(numbers, f),
            Value::Point(point) => point.fmt(f),
        }
    }
}

fn bits(numbers: &[f32]) -> impl Iterator<Item = u32> {
    numbers.iter().map(|number| number.to_bits())
}

/// Writes the numbers as a list of JSON, each with the fewest digits that mean it.
fn write_vector(numbers: &[f32], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("[")?;
    for (nth, number) in numbers.iter().enumerate() {
        write!(f, "{}{number}", if nth == 0 { "" } else { "," })?;
    }
    f.write_str("]")
}

impl From<Vec<f32>> for Value {
    fn from(numbers: Vec<f32>) -> Self {
        Value::Vector(numbers)
    }
}

impl From<&[f32]> for Value {
    fn from(numbers: &[f32]) -> Self {
        Value::Vector(numbers.to_vec())
    }
}

impl<const N: usize> From<&[f32; N]> for Value {
    fn from(numbers: &[f32; N]) -> Self {
        Value::Vector(numbers.to_vec())
    }
}

impl<const N: usize> From<[f32; N]> for Value {
    fn from(numbers: [f32; N]) -> Self {
        Value::Vector(numbers.to_vec())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Value::Text(text.clone())
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Value::Text(text.into_owned())
    }
}

/// The number that it is written as: 0.1, and not the 0.10000000149 that its bits stand for.
impl From<f32> for Value {
    fn from(number: f32) -> Self {
        let exact = f64::from(number);
        if exact.fract() == 0.0 {
            return Value::F64(exact);
        }
        Value::F64(number.to_string().parse().unwrap_or(exact))
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Value::U64(number as u64)
    }
}

impl From<SystemTime> for Value {
    fn from(time: SystemTime) -> Self {
        Value::Date(time.into())
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Self {
        value.clone()
    }
}

/// Nothing is [`Value::Null`].
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Value::$variant(value.into())
            }
        }
    )*};
}

from! {
    String => Text, Box<str> => Text, char => Text,
    i8 => I64, i16 => I64, i32 => I64, i64 => I64,
    u8 => U64, u16 => U64, u32 => U64, u64 => U64,
    f64 => F64,
    bool => Bool, Timestamp => Date, Decimal => Decimal, GeoPoint => Point,
    IpAddr => Ip, Ipv4Addr => Ip, Ipv6Addr => Ip,
}
