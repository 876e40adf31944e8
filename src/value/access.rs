//! Values as types of Rust, if they are such.

use super::{Decimal, Timestamp, Value};
use crate::geo::GeoPoint;
use std::net::IpAddr;

/// Each gives a value of one type of Rust, or `None` if the value is of another kind. Texts are never read as numbers:
/// a field of numbers gives numbers.
///
/// ```
/// use treepie::{Document, Index, Schema, Value};
///
/// let index = Index::in_memory(Schema::builder().text("title").i64("year").bool("seen").build()?);
/// let mut writer = index.writer()?;
/// writer.add(Document::new().with("title", "Paris, Texas").with("year", 1984).with("seen", true))?;
/// writer.commit()?;
/// let searcher = index.searcher()?;
/// let hit = searcher.search(&searcher.parse("texas")?).run()?.hits.remove(0);
/// let value = |name: &str| hit.fields[name].first();
/// assert_eq!(value("title").and_then(Value::as_str), Some("Paris, Texas"));
/// assert_eq!(value("year").and_then(Value::as_i64), Some(1984));
/// assert_eq!(value("seen").and_then(Value::as_bool), Some(true));
/// # Ok::<(), treepie::Error>(())
/// ```
impl Value {
    /// Returns the text, if the value is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the whole number, if the value is one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::I64(number) => Some(*number),
            Value::U64(number) => i64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// Returns the whole number, if the value is one that is not negative.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Value::U64(number) => Some(*number),
            Value::I64(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// Returns the numbers, if the value is a vector.
    pub fn as_vector(&self) -> Option<&[f32]> {
        match self {
            Value::Vector(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// Returns the point, if the value is one.
    pub fn as_point(&self) -> Option<GeoPoint> {
        match self {
            Value::Point(point) => Some(*point),
            _ => None,
        }
    }

    /// Returns the number, if the value is one of any kind.
    ///
    /// A large whole number or a decimal becomes the nearest one of 64 bits.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::F64(number) => Some(*number),
            Value::I64(number) => Some(*number as f64),
            Value::U64(number) => Some(*number as f64),
            Value::Decimal(number) => Some(nearest(*number)),
            _ => None,
        }
    }

    /// Returns whether it is true, if the value is a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(is_true) => Some(*is_true),
            _ => None,
        }
    }

    /// Returns the point in time, if the value is a date.
    pub fn as_date(&self) -> Option<Timestamp> {
        match self {
            Value::Date(date) => Some(*date),
            _ => None,
        }
    }

    /// Returns the number with its digits behind the point, if the value is a decimal.
    pub fn as_decimal(&self) -> Option<Decimal> {
        match self {
            Value::Decimal(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the address, if the value is one.
    pub fn as_ip(&self) -> Option<IpAddr> {
        match self {
            Value::Ip(address) => Some(*address),
            _ => None,
        }
    }
}

/// The nearest fraction of 64 bits. A division of two exact numbers is rounded once, and powers of ten are exact as far as
/// decimals have digits; anything else is read from its text.
fn nearest(number: Decimal) -> f64 {
    const WHOLE_MAX: u64 = 1 << 53;
    let is_exact = number.unscaled().unsigned_abs() <= WHOLE_MAX;
    if is_exact {
        return number.unscaled() as f64 / 10f64.powi(i32::from(number.scale()));
    }
    number.to_string().parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_itself_and_no_other() {
        let date: Timestamp = "2024-05-06".parse().unwrap();
        let cents = Decimal::new(1250, 2).unwrap();
        let address: IpAddr = "10.0.0.1".parse().unwrap();
        let values: [Value; 9] = [
            Value::Null,
            "12".into(),
            (-12).into(),
            12u64.into(),
            12.5.into(),
            true.into(),
            date.into(),
            cents.into(),
            address.into(),
        ];
        let found: Vec<_> = values
            .iter()
            .map(|value| {
                let kinds = [
                    value.as_str().is_some(),
                    value.as_i64().is_some(),
                    value.as_u64().is_some(),
                    value.as_f64().is_some(),
                    value.as_bool().is_some(),
                    value.as_date().is_some(),
                    value.as_decimal().is_some(),
                    value.as_ip().is_some(),
                ];
                kinds.map(|is_some| if is_some { 'x' } else { '.' }).iter().collect::<String>()
            })
            .collect();
        let expected = [
            "........", "x.......", ".x.x....", ".xxx....", "...x....", "....x...", ".....x..",
            "...x..x.", ".......x",
        ];
        assert_eq!(found, expected);
        assert_eq!(Value::from(date).as_date(), Some(date));
        assert_eq!(Value::from(cents).as_decimal(), Some(cents));
        assert_eq!(Value::from(address).as_ip(), Some(address));
    }

    #[test]
    fn numbers_that_do_not_fit_are_none() {
        assert_eq!(Value::U64(u64::MAX).as_i64(), None);
        assert_eq!(Value::I64(-1).as_u64(), None);
        assert_eq!(Value::U64(7).as_i64(), Some(7));
        assert_eq!(Value::I64(i64::MIN).as_f64(), Some(i64::MIN as f64));
    }

    #[test]
    fn decimals_are_the_nearest_fractions() {
        for (unscaled, scale) in
            [(1250, 2), (-5, 3), (i64::MAX, 18), (i64::MIN, 0), (9_007_199_254_740_993, 1), (0, 0)]
        {
            let number = Decimal::new(unscaled, scale).unwrap();
            let expected: f64 = number.to_string().parse().unwrap();
            assert_eq!(Value::from(number).as_f64(), Some(expected), "{number}");
        }
    }
}
