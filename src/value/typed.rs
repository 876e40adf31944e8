//! Values of typed fields as numbers in order, which is what dictionaries and columns hold.
//!
//! Every value of a typed field but an address has a code, a `u64`: of two values the smaller has the smaller code.
//! The term of a code is eight bytes, the highest first, so that terms stand in the order of values.
//!
//! | kind | code |
//! |---|---|
//! | u64 | the number |
//! | i64, date, decimal | the number, microseconds, or number without its point, with the sign bit flipped |
//! | f64 | the bits; the sign bit flipped if it is clear, else all of them (IEEE 754's total order) |
//! | bool | 0 and 1 |
//!
//! Addresses have more bits, and no code: their terms are sixteen bytes, as the module `address` has it.

use super::Value;
use super::date::{self, Timestamp};
use super::decimal::{Decimal, Scaled, scaled};
use super::zone::Zone;
use crate::error::{Error, ErrorKind};
use crate::plural::counted;
use crate::schema::{CoordinateOrder, Field, FieldKind};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::RangeInclusive;

const SIGN: u64 = 1 << 63;
/// Digits of a number that a fraction of 64 bits always keeps.
const DIGITS_OF_F64: usize = 15;
/// Bytes of the term of a typed value.
pub(super) const TERM_LEN: usize = size_of::<u64>();

/// Why a field does not take a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotTaken {
    pub(crate) expected: Cow<'static, str>,
    pub(crate) found: String,
}

impl NotTaken {
    /// Makes an error about what a caller asked for.
    pub(crate) fn into_usage(self, what: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, what).expected(self.expected).found(self.found)
    }

    /// Makes an error about a value.
    pub(crate) fn into_error(self, what: impl Into<String>) -> Error {
        Error::new(ErrorKind::Document, what).expected(self.expected).found(self.found)
    }
}

/// The codes that a text means in a query: those from `first` to `last`. If the first is one more than the last, the
/// text is between two of them; a number that is beyond all codes, beyond them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: i128,
    pub(crate) last: i128,
}

impl Span {
    fn of_micros(micros: RangeInclusive<i64>) -> Self {
        let [first, last] = [micros.start(), micros.end()].map(|at| of_i64(*at).into());
        Span { first, last }
    }

    fn exactly(code: u64) -> Self {
        Span { first: code.into(), last: code.into() }
    }
}

/// The code of a value of a document, in a field of a typed kind.
pub(crate) fn code(kind: FieldKind, value: &Value) -> Result<u64, NotTaken> {
    let refused = || NotTaken { expected: takes(kind).into(), found: shown(value) };
    // The right sort of text, and still not a value.
    let beyond = || NotTaken { expected: takes(kind).into(), found: format!("'{value}'") };
    match (kind, value) {
        (FieldKind::I64, Value::I64(number)) => Ok(of_i64(*number)),
        (FieldKind::U64, Value::U64(number)) => Ok(*number),
        (FieldKind::I64, Value::U64(number)) => {
            i64::try_from(*number).map(of_i64).map_err(|_| beyond())
        }
        (FieldKind::U64, Value::I64(number)) => u64::try_from(*number).map_err(|_| beyond()),
        (FieldKind::F64, Value::F64(number)) => code_of_f64(*number).ok_or_else(refused),
        (FieldKind::F64, Value::I64(number)) => whole_f64(*number).ok_or_else(beyond),
        (FieldKind::F64, Value::U64(number)) => whole_f64(*number).ok_or_else(beyond),
        (FieldKind::Decimal { scale }, Value::Decimal(number)) if number.scale() == scale => {
            Ok(of_i64(number.unscaled()))
        }
        (FieldKind::Bool, Value::Bool(is_true)) => Ok(u64::from(*is_true)),
        (FieldKind::Date, Value::Date(date)) => Ok(of_i64(date.as_micros())),
        (FieldKind::Date, Value::Text(text)) => {
            date::micros(text).map(|micros| of_i64(*micros.start()))
        }
        (FieldKind::Bool, Value::I64(0) | Value::U64(0)) => Ok(0),
        (FieldKind::Bool, Value::I64(1) | Value::U64(1)) => Ok(1),
        (FieldKind::Bool | FieldKind::Date, Value::I64(_) | Value::U64(_) | Value::F64(_)) => {
            Err(refused())
        }
        (
            _,
            Value::Null
            | Value::Bool(_)
            | Value::Date(_)
            | Value::Ip(_)
            | Value::Vector(_)
            | Value::Point(_),
        ) => Err(refused()),
        // A whole number that loses digits is not the number that was meant; of a fraction nobody expects all.
        (FieldKind::F64, Value::Text(_) | Value::Decimal(_)) => {
            let text = value.to_text();
            one(kind, &text).map_err(|refused| match text.trim().parse() {
                Ok(number) if vanishes(text.trim(), number) => NotTaken {
                    expected: "0, or a number of at least 5e-324 or at most -5e-324".into(),
                    ..refused
                },
                _ => beyond(),
            })
        }
        (_, Value::Text(text)) => one(kind, text),
        // 3.0 is the whole number 3, and 0.1 is what its text says, as long as no digit was lost on the way.
        (_, Value::F64(number)) => {
            let text = number.to_string();
            let code = one(kind, &text)?;
            if significant_digits(&text) <= DIGITS_OF_F64 {
                return Ok(code);
            }
            Err(NotTaken {
                expected: format!("at most {DIGITS_OF_F64} digits, or a text, which keeps all")
                    .into(),
                found: format!("'{text}'"),
            })
        }
        (_, other) => one(kind, &other.to_text()),
    }
}

/// Refusal of a value by a field of a kind that takes none of its sort.
pub(crate) fn not_taken(kind: FieldKind, value: &Value) -> NotTaken {
    NotTaken { expected: takes(kind).into(), found: shown(value) }
}

/// The code of a value that is looked for: a text that leaves open which of several is meant is none.
pub(super) fn exact_code(field: &Field, value: &Value) -> Result<u64, NotTaken> {
    match value {
        Value::Text(text) if field.kind == FieldKind::Date => {
            let Span { first, last } = span_in(field, text)?;
            u64::try_from(first).ok().filter(|_| first == last).ok_or_else(|| NotTaken {
                expected: "a time to the microsecond, as 2010-12-01T08:26:00.000000Z; a query finds all that a shorter text means".into(),
                found: format!("'{text}'"),
            })
        }
        other => code(field.kind, other),
    }
}

/// The one code that a text means.
fn one(kind: FieldKind, text: &str) -> Result<u64, NotTaken> {
    let Span { first, last } = span(kind, text)?;
    let refused = || NotTaken { expected: takes(kind).into(), found: format!("'{text}'") };
    if first == last { u64::try_from(first).map_err(|_| refused()) } else { Err(refused()) }
}

/// Span of a text in a field, which may have a time zone of its own.
pub(crate) fn span_in(field: &Field, text: &str) -> Result<Span, NotTaken> {
    match field.zone.as_deref() {
        Some(_) if date::after_now(text).is_some() => Err(date::without_now(text)),
        Some(zone) => date::micros_in(text, &Zone::of_field(Some(zone))?).map(Span::of_micros),
        None => span(field.kind, text),
    }
}

/// The codes that a text means in a query of a field of a typed kind.
pub(crate) fn span(kind: FieldKind, text: &str) -> Result<Span, NotTaken> {
    let text = text.trim();
    let refused = || NotTaken { expected: takes(kind).into(), found: format!("'{text}'") };
    let number = |scale, zero: u64| {
        let zero = i128::from(zero);
        Ok(match scaled(text, scale).ok_or_else(refused)? {
            Scaled::Exactly(number) => Span { first: number + zero, last: number + zero },
            Scaled::Above(number) => Span { first: number + zero + 1, last: number + zero },
        })
    };
    let is_number = !matches!(kind, FieldKind::Bool | FieldKind::Date);
    if is_number && let Some(beyond) = beyond(text) {
        return Ok(beyond);
    }
    match kind {
        FieldKind::I64 => number(0, SIGN),
        FieldKind::U64 => number(0, 0),
        FieldKind::Decimal { scale } => number(scale, SIGN),
        FieldKind::F64 => {
            let number: f64 = text.parse().map_err(|_| refused())?;
            match code_of_f64(number) {
                // Between zero and the number next to it.
                Some(zero) if vanishes(text, number) => Ok(match text.starts_with('-') {
                    true => Span { first: zero.into(), last: i128::from(zero) - 1 },
                    false => Span { first: i128::from(zero) + 1, last: zero.into() },
                }),
                // Between two of them, or one.
                Some(code) => Ok(match whole_beside(text, number) {
                    Ordering::Less => Span { first: code.into(), last: i128::from(code) - 1 },
                    Ordering::Greater => Span { first: i128::from(code) + 1, last: code.into() },
                    Ordering::Equal => Span::exactly(code),
                }),
                None => Err(refused()),
            }
        }
        FieldKind::Bool => {
            let is_true = boolean(text).ok_or_else(refused)?;
            Ok(Span::exactly(is_true.into()))
        }
        FieldKind::Date => date::micros(text).map(Span::of_micros),
        FieldKind::Text
        | FieldKind::Keyword
        | FieldKind::Path { .. }
        | FieldKind::Ip
        | FieldKind::Vector(_)
        | FieldKind::Point { .. } => Err(refused()),
    }
}

/// Reads what databases write for true and false, in whatever case.
fn boolean(text: &str) -> Option<bool> {
    const TRUE: [&str; 6] = ["true", "t", "yes", "y", "on", "1"];
    const FALSE: [&str; 6] = ["false", "f", "no", "n", "off", "0"];
    let is_in = |words: [&str; 6]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    match (is_in(TRUE), is_in(FALSE)) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// Span of a text beyond all numbers that there are, as 1e999.
fn beyond(text: &str) -> Option<Span> {
    let number: f64 = text.parse().ok()?;
    let is_written = text.contains(|c: char| c.is_ascii_digit());
    let place = if number > 0.0 { 1 << u64::BITS } else { -1 };
    (number.is_infinite() && is_written).then_some(Span { first: place, last: place })
}

/// Whether a text that is read as 0 means another number, as 1e-400: one too near to 0 to be told from it.
pub(crate) fn vanishes(text: &str, number: f64) -> bool {
    let digits = text.split_once(['e', 'E']).map_or(text, |(digits, _)| digits);
    number == 0.0 && digits.contains(|c: char| matches!(c, '1'..='9'))
}

/// The value of a code.
pub(crate) fn value(kind: FieldKind, code: u64) -> Value {
    match kind {
        FieldKind::I64 => Value::I64(to_i64(code)),
        FieldKind::U64 => Value::U64(code),
        FieldKind::F64 => Value::F64(f64_of_code(code)),
        FieldKind::Bool => Value::Bool(code != 0),
        FieldKind::Date => Value::Date(Timestamp::of_code(to_i64(code))),
        FieldKind::Decimal { scale } => {
            Decimal::new(to_i64(code), scale).map_or(Value::Null, Value::Decimal)
        }
        FieldKind::Text
        | FieldKind::Keyword
        | FieldKind::Path { .. }
        | FieldKind::Ip
        | FieldKind::Vector(_)
        | FieldKind::Point { .. } => Value::Null,
    }
}

/// The term of a code.
pub(crate) fn term_of_code(code: u64) -> [u8; TERM_LEN] {
    code.swap_bytes().to_le_bytes()
}

/// The code of a term; `None` if it is none.
pub(crate) fn code_of_term(term: &[u8]) -> Option<u64> {
    term.try_into().ok().map(|bytes| u64::from_le_bytes(bytes).swap_bytes())
}

/// Whether a field of this kind can have a code, which does not show by itself.
pub(super) fn is_code(kind: FieldKind, code: u64) -> bool {
    match kind {
        FieldKind::Date => Timestamp::from_micros(to_i64(code)).is_some(),
        _ => true,
    }
}

pub(super) fn of_i64(number: i64) -> u64 {
    number as u64 ^ SIGN
}

pub(super) fn to_i64(code: u64) -> i64 {
    (code ^ SIGN) as i64
}

/// The code of a fraction; `None` for what is no number, or infinite. There is one zero.
pub(crate) fn code_of_f64(number: f64) -> Option<u64> {
    let bits = (number + 0.0).to_bits();
    number.is_finite().then_some(if bits & SIGN == 0 { bits | SIGN } else { !bits })
}

/// The fraction that a code of one stands for.
#[inline]
pub(crate) fn f64_of_code(code: u64) -> f64 {
    f64::from_bits(if code & SIGN == 0 { !code } else { code ^ SIGN })
}

/// `None` for a whole number that has more bits than a fraction keeps.
fn whole_f64<T: Into<i128>>(number: T) -> Option<u64> {
    let number: i128 = number.into();
    let fraction = number as f64;
    if fraction as i128 == number { code_of_f64(fraction) } else { None }
}

/// On which side of the number that it was read as a whole number lies that is written with all of its digits: it may have
/// more bits than a fraction keeps. With an exponent, or with digits behind the point, a text means what is nearest; and so it
/// does if it has the digits that tell the number apart from others and zeros behind them, as most programs write it.
fn whole_beside(text: &str, number: f64) -> Ordering {
    let text = text.trim();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if !whole.bytes().all(|byte| byte.is_ascii_digit())
        || !fraction.bytes().all(|byte| byte == b'0')
    {
        return Ordering::Equal;
    }
    let written = whole.trim_start_matches('0');
    let read = format!("{:.0}", number.abs());
    let read = read.trim_start_matches('0');
    if written == number.abs().to_string() {
        return Ordering::Equal;
    }
    let order = written.len().cmp(&read.len()).then_with(|| written.cmp(read));
    if text.starts_with('-') { order.reverse() } else { order }
}

/// Digits of a number but for zeros before the first and behind the last other.
fn significant_digits(text: &str) -> usize {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).collect();
    let first = digits.iter().position(|digit| *digit != b'0').unwrap_or(digits.len());
    let end = digits.iter().rposition(|digit| *digit != b'0').map_or(first, |last| last + 1);
    end - first
}

/// Description of the values that a field of a kind takes.
pub(super) fn takes(kind: FieldKind) -> String {
    match kind {
        FieldKind::I64 => format!("a whole number from {} to {}", i64::MIN, i64::MAX),
        FieldKind::U64 => format!("a whole number from 0 to {}", u64::MAX),
        FieldKind::F64 => "a finite number, a whole one of at most 53 bits".into(),
        FieldKind::Bool => "true or false, yes or no, 1 or 0".into(),
        FieldKind::Date => "a date".into(),
        FieldKind::Decimal { scale } => {
            let [least, most] = [u64::MIN, u64::MAX].map(|code| value(kind, code));
            format!("a number from {least} to {most} with at most {scale} digits behind the point")
        }
        FieldKind::Ip => "an address as 10.0.0.1 or 2001:db8::1".into(),
        FieldKind::Vector(params) => format!("a vector of {}", counted(params.dims, "number")),
        FieldKind::Point { array } => {
            let array = array.map_or(String::new(), |array| match array {
                CoordinateOrder::LatLon => ", or [latitude, longitude]".into(),
                CoordinateOrder::LonLat => ", or [longitude, latitude]".into(),
            });
            format!(
                "a point: {{\"lat\", \"lon\"}}, \"latitude,longitude\" or POINT(longitude latitude){array}"
            )
        }
        FieldKind::Text | FieldKind::Keyword | FieldKind::Path { .. } => "a text".into(),
    }
}

pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        // Hundreds of numbers say nothing to whoever reads a message.
        Value::Vector(numbers) => format!("a vector of {}", counted(numbers.len(), "number")),
        other => format!("{} ({})", other.described(), other),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in crate::value) const KINDS: [FieldKind; 7] = [
        FieldKind::I64,
        FieldKind::U64,
        FieldKind::F64,
        FieldKind::Bool,
        FieldKind::Date,
        FieldKind::Decimal { scale: 2 },
        FieldKind::Decimal { scale: 0 },
    ];

    proptest! {
        #[test]
        fn codes_are_in_the_order_of_values(a: i64, b: i64, x: f64, y: f64) {
            let i64s = [a, b].map(|n| code(FieldKind::I64, &Value::I64(n)).unwrap());
            prop_assert_eq!(a.cmp(&b), i64s[0].cmp(&i64s[1]));
            let u64s = [a, b].map(|n| code(FieldKind::U64, &Value::U64(n as u64)).unwrap());
            prop_assert_eq!((a as u64).cmp(&(b as u64)), u64s[0].cmp(&u64s[1]));
            if x.is_finite() && y.is_finite() {
                let f64s = [x, y].map(|n| code(FieldKind::F64, &Value::F64(n)).unwrap());
                prop_assert_eq!(x.partial_cmp(&y).unwrap(), f64s[0].cmp(&f64s[1]));
            }
            let terms = i64s.map(term_of_code);
            prop_assert_eq!(a.cmp(&b), terms[0].cmp(&terms[1]));
        }

        #[test]
        fn what_a_code_stands_for_has_that_code_and_its_text_means_it(any: u64, near in 0u64..1_000) {
            for kind in KINDS {
                for of in [any, SIGN.wrapping_add(near), SIGN.wrapping_sub(near), near] {
                    let found = value(kind, of);
                    let is_one = match (kind, &found) {
                        (FieldKind::F64, Value::F64(n)) => n.is_finite() && of != !SIGN,
                        (FieldKind::Bool, _) => of < 2,
                        (FieldKind::Date, Value::Date(d)) => {
                            Timestamp::from_micros(d.as_micros()).is_some()
                        }
                        _ => true,
                    };
                    if is_one {
                        prop_assert_eq!(code(kind, &found), Ok(of), "{:?} {:?}", kind, found);
                        // A text leaves open what a date of whole seconds does not say.
                        let span = span(kind, &found.to_text()).unwrap();
                        prop_assert_eq!(span.first, i128::from(of), "{:?} {:?}", kind, found);
                        prop_assert!(span.last == span.first || kind == FieldKind::Date);
                        let exact = super::span(kind, &found.to_exact_text()).unwrap();
                        prop_assert_eq!((exact.first, exact.last), (of.into(), of.into()));
                        prop_assert_eq!(code_of_term(&term_of_code(of)), Some(of));
                    }
                }
            }
        }
    }

    #[test]
    fn a_field_takes_what_it_can_hold_and_says_what_it_takes() {
        let decimal = FieldKind::Decimal { scale: 2 };
        let taken = [
            (FieldKind::I64, Value::from("-3"), "-3"),
            (FieldKind::I64, Value::from(3u8), "3"),
            (FieldKind::I64, Value::from(3.0), "3"),
            (FieldKind::U64, Value::from(3), "3"),
            (FieldKind::F64, Value::from(3), "3"),
            (FieldKind::F64, Value::from("1e3"), "1000"),
            (FieldKind::F64, Value::from(-0.0), "0"),
            (FieldKind::F64, Value::from(format!("0.1{}", "0".repeat(400))), "0.1"),
            (FieldKind::F64, Value::from("0e-400"), "0"),
            (FieldKind::F64, Value::from("1.5E+01"), "15"),
            (FieldKind::F64, Value::from("-2.5e-3"), "-0.0025"),
            (FieldKind::I64, Value::from("1e3"), "1000"),
            (FieldKind::I64, Value::from("-1.5E+01"), "-15"),
            (FieldKind::I64, Value::from("1.0"), "1"),
            (FieldKind::I64, Value::from("9223372036854775807e0"), "9223372036854775807"),
            (FieldKind::U64, Value::from("18446744073709551615.000e-0"), "18446744073709551615"),
            (FieldKind::U64, Value::from("2500e-2"), "25"),
            (decimal, Value::from("125e-2"), "1.25"),
            (decimal, Value::from("1.25E2"), "125.00"),
            (FieldKind::Bool, Value::from("true"), "true"),
            (FieldKind::Bool, Value::from("True"), "true"),
            (FieldKind::Bool, Value::from("TRUE"), "true"),
            (FieldKind::Bool, Value::from("yes"), "true"),
            (FieldKind::Bool, Value::from("Y"), "true"),
            (FieldKind::Bool, Value::from(" t "), "true"),
            (FieldKind::Bool, Value::from("ON"), "true"),
            (FieldKind::Bool, Value::from("1"), "true"),
            (FieldKind::Bool, Value::from(1), "true"),
            (FieldKind::Bool, Value::from(1u8), "true"),
            (FieldKind::Bool, Value::from(0), "false"),
            (FieldKind::Bool, Value::from("No"), "false"),
            (FieldKind::Bool, Value::from("F"), "false"),
            (FieldKind::Bool, Value::from("off"), "false"),
            (FieldKind::Bool, Value::from("0"), "false"),
            (FieldKind::Date, Value::from("2010-12"), "2010-12-01T00:00:00Z"),
            (decimal, Value::from(12.5), "12.50"),
            (decimal, Value::from("12.500"), "12.50"),
            (decimal, Value::from(9_999_999_999_999.99), "9999999999999.99"),
            (decimal, Value::from("12345678901234567.89"), "12345678901234567.89"),
            (decimal, Value::from(0.1f32), "0.10"),
            (FieldKind::Decimal { scale: 18 }, Value::from(0.1), "0.100000000000000000"),
            (FieldKind::Decimal { scale: 8 }, Value::from(20_000_000.5), "20000000.50000000"),
            (FieldKind::I64, Value::from(1e15), "1000000000000000"),
            (FieldKind::F64, Value::from(1i64 << 53), "9007199254740992"),
            (decimal, Value::from(12), "12.00"),
        ];
        for (kind, given, expected) in taken {
            let code = code(kind, &given).unwrap();
            assert_eq!(value(kind, code).to_string(), expected, "{kind:?} {given:?}");
        }
        let refused = [
            (FieldKind::I64, Value::from(3.5), "'3.5'"),
            (FieldKind::I64, Value::from("many"), "'many'"),
            (FieldKind::I64, Value::from(true), "a boolean (true)"),
            (FieldKind::I64, Value::Null, "null"),
            (FieldKind::F64, Value::from(f64::NAN), "a number (NaN)"),
            (FieldKind::F64, Value::from("inf"), "'inf'"),
            (FieldKind::F64, Value::from("1e999"), "'1e999'"),
            (FieldKind::F64, Value::from("1e-400"), "'1e-400'"),
            (FieldKind::F64, Value::from(" -0.01e-400"), "-0.01e-400"),
            (FieldKind::I64, Value::from("1e"), "'1e'"),
            (FieldKind::I64, Value::from("15e-1"), "'15e-1'"),
            (FieldKind::I64, Value::from("1e-400"), "'1e-400'"),
            (FieldKind::U64, Value::from("-1e0"), "'-1e0'"),
            (FieldKind::I64, Value::from("1e400"), "'1e400'"),
            (FieldKind::Date, Value::from("1e3"), "'1e3'"),
            (FieldKind::Date, Value::from("2.01e3"), "'2.01e3'"),
            (decimal, Value::from("1e-3"), "'1e-3'"),
            (decimal, Value::from("1e99"), "'1e99'"),
            (FieldKind::Bool, Value::from(2), "a whole number (2)"),
            (FieldKind::Bool, Value::from(1.0), "a number (1)"),
            (FieldKind::Bool, Value::from("yess"), "'yess'"),
            (FieldKind::Bool, Value::from("11"), "'11'"),
            (FieldKind::Bool, Value::from("1.0"), "'1.0'"),
            (FieldKind::Bool, Value::from(""), "''"),
            (FieldKind::Date, Value::from(2010), "a whole number (2010)"),
            (FieldKind::Date, Value::from("2010-02-30"), "'2010-02-30'"),
            (decimal, Value::from("12.505"), "'12.505'"),
            (decimal, Value::from("99999999999999999999"), "'99999999999999999999'"),
            (decimal, Value::from(12_345_678_901_234.56), "at most 15 digits, or a text"),
            (FieldKind::I64, Value::from(9.007_199_254_740_992e15), "at most 15 digits"),
            (FieldKind::F64, Value::from((1i64 << 53) + 1), "9007199254740993"),
            (FieldKind::F64, Value::from("9007199254740993"), "9007199254740993"),
            (FieldKind::F64, Value::from("9007199254740993.0"), "9007199254740993.0"),
            (FieldKind::F64, Value::from(Decimal::new((1 << 53) + 1, 0)), "9007199254740993"),
            (FieldKind::F64, Value::from(i128::MAX.to_string()), "17014118346046923173"),
            (FieldKind::U64, Value::from(-5i8), "-5"),
            (FieldKind::I64, Value::from(u64::MAX), "18446744073709551615"),
        ];
        for (kind, given, found) in refused {
            let error = code(kind, &given).unwrap_err().into_error("reading a value").to_string();
            assert!(error.contains(found) && error.contains("expected"), "{error}");
        }
    }

    #[test]
    fn what_is_looked_for_by_its_value_is_one() {
        let date = |text: &str| exact_code(&Field::new("d", FieldKind::Date), &text.into());
        assert_eq!(date("1970-01-01T00:00:00.000000Z"), Ok(SIGN));
        assert!(date("1970-01-01").unwrap_err().found.contains("1970-01-01"));
        assert_eq!(exact_code(&Field::new("u", FieldKind::U64), &"7".into()), Ok(7));
        assert!(exact_code(&Field::new("k", FieldKind::Keyword), &Value::Null).is_err());
    }

    #[test]
    fn fractions_that_whole_numbers_lie_between_are_found_by_what_they_are_written_as() {
        let powers = (0..1_024).map(|n| 2f64.powi(n));
        let others = [1e16, 1e17, 1e22, 1e23, 1e300, f64::MAX, 9_007_199_254_740_993.0, 3.7e16];
        for number in powers.chain(others).flat_map(|n| [n, -n, n * 1.1]) {
            let Some(of) = code_of_f64(number) else { continue };
            let found = Value::F64(number);
            for text in [found.to_string(), found.to_exact_text().into(), format!("{number:.0}.0")]
            {
                if text.ends_with(".0") && number.fract() != 0.0 {
                    continue;
                }
                assert_eq!(span(FieldKind::F64, &text), Ok(Span::exactly(of)), "{text}");
                assert_eq!(code(FieldKind::F64, &text.clone().into()), Ok(of), "{text}");
            }
        }
        let between = |text: &str, below: f64| {
            let below = i128::from(code_of_f64(below).unwrap());
            assert_eq!(
                span(FieldKind::F64, text),
                Ok(Span { first: below + 1, last: below }),
                "{text}"
            );
            assert!(code(FieldKind::F64, &text.into()).is_err());
        };
        between("9007199254740993", 9_007_199_254_740_992.0);
        between("-9007199254740993.0", -9_007_199_254_740_994.0);
        between("72057594037927938", 72_057_594_037_927_936.0);
        // Numbers that other programs write.
        for (text, number) in [
            ("72057594037927940", 2f64.powi(56)),
            ("-123456789012345680000", -1.2345678901234568e20),
        ] {
            assert_eq!(span(FieldKind::F64, text), Ok(Span::exactly(code_of_f64(number).unwrap())));
        }
    }

    #[test]
    fn a_text_of_a_query_may_stand_between_values_or_beyond_them() {
        let between = |kind, text, first: i128| {
            assert_eq!(span(kind, text), Ok(Span { first, last: first - 1 }), "{kind:?} {text}");
        };
        between(FieldKind::U64, "2.5", 3);
        between(FieldKind::I64, "-2.5", i128::from(SIGN) - 2);
        between(FieldKind::Decimal { scale: 1 }, "0.25", i128::from(SIGN) + 3);
        let far = span(FieldKind::U64, "-7").unwrap();
        assert_eq!(far, Span { first: -7, last: -7 });
        assert!(span(FieldKind::I64, &"9".repeat(30)).unwrap().first > i128::from(u64::MAX));
        let year = span(FieldKind::Date, "2010").unwrap();
        assert_eq!(year.last - year.first, 365 * 86_400 * 1_000_000 - 1);
    }
}
