//! Statistics of the numbers or dates of a field.

use crate::facet::{DISTINCT_ERROR, NumberStatistics, RANK_ERROR};
use crate::named::named;
use crate::schema::FieldKind;
use crate::value::{self, Timestamp, Value};
use std::fmt;

/// Microseconds of a second.
const MICROS: f64 = 1e6;

/// Sum, extremes, mean and spread of a field's values in the matching documents. Each of many values counts.
///
/// The variance is that of all these values, and not what it would be of more of which they are a sample.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FieldStatistics {
    /// Number of values.
    pub count: u64,
    /// Matching documents that have any.
    pub documents: u64,
    /// All of them added up; of dates there is none.
    pub sum: Option<Sum>,
    /// Least value; null if there is none.
    pub min: Value,
    /// Greatest value; null if there is none.
    pub max: Value,
    /// Mean of the values: a fraction, or of dates a date; null without values.
    pub mean: Value,
    /// The mean square of their distances from the mean; of dates in seconds, squared.
    pub variance: Option<f64>,
    /// Number of different values, if it was asked for.
    pub distinct: Option<u64>,
    /// Accuracy of `distinct`. It is exact if a quarter of the search's remaining memory suffices to count each value.
    pub distinct_by: Accuracy,
    /// Percentiles that were asked for; none without values. Each is the least value that so many percent are not above
    /// (the "nearest rank", always one of the values).
    pub percentiles: Vec<(f64, Value)>,
    /// Accuracy of `percentiles`, decided as that of `distinct`.
    pub percentiles_by: Accuracy,
}

/// Accuracy of a figure, compared with counting each value.
///
/// ```
/// use treepie::facet::Accuracy;
///
/// assert!(Accuracy::Exact.is_exact() && Accuracy::Exact.error() == 0.0);
/// assert_eq!(Accuracy::Kll.to_string(), "KLL, ranks within 0.28 %");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Accuracy {
    /// Exact figure.
    #[default]
    Exact,
    /// A number of distinct values by the sketch HyperLogLog. It is off by up to an [error](Self::error) of itself, in
    /// all but 3 of a thousand cases.
    HyperLogLog,
    /// A percentile by the sketch KLL: one of the values. The share of values not above it is within an
    /// [error](Self::error) of the percentage, in all but one of a million cases. The choice among the values near by
    /// depends on chance.
    Kll,
}

named! {
    /// The name used in JSON.
    pub Accuracy { Exact: "exact", HyperLogLog: "hyperloglog", Kll: "kll" }
}

impl Accuracy {
    /// Returns the maximum error as a share. It is a share of the number itself, or of the number of values.
    pub fn error(self) -> f64 {
        match self {
            Accuracy::Exact => 0.0,
            Accuracy::HyperLogLog => DISTINCT_ERROR,
            Accuracy::Kll => RANK_ERROR,
        }
    }

    /// Whether it is what counting gives.
    pub fn is_exact(self) -> bool {
        self == Accuracy::Exact
    }
}

/// For people.
impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In percent, without digits that only binary fractions have.
        let percent = (self.error() * 1e6).round() / 1e4;
        match self {
            Accuracy::Exact => f.write_str("exact"),
            Accuracy::HyperLogLog => write!(f, "HyperLogLog, within {percent} %"),
            Accuracy::Kll => write!(f, "KLL, ranks within {percent} %"),
        }
    }
}

impl FieldStatistics {
    /// Whether all of it is what counting each value gives.
    pub fn is_exact(&self) -> bool {
        self.distinct_by.is_exact() && self.percentiles_by.is_exact()
    }

    /// The root of the variance; of dates in seconds.
    pub fn standard_deviation(&self) -> Option<f64> {
        self.variance.map(f64::sqrt)
    }

    pub(crate) fn of(kind: FieldKind, found: &NumberStatistics, percentages: &[f64]) -> Self {
        let NumberStatistics { moments, range, with_value, spread, .. } = found;
        let n = moments.n();
        let of_code = |code: u64| value::value(kind, code);
        // The code of nought, for all kinds of whole numbers, lies where that of the first microsecond of 1970 does, but of those
        // that are never below it.
        let zero = if kind == FieldKind::U64 { 0 } else { Timestamp::code_of_micros(0) };
        let whole = moments.whole_sum(zero);
        let scale = match kind {
            FieldKind::Decimal { scale } => scale,
            _ => 0,
        };
        let step = 10f64.powi(scale.into());
        let sum = match (kind, whole) {
            (FieldKind::Date, _) => None,
            (FieldKind::Decimal { scale }, Some(unscaled)) => {
                Some(Sum::Decimal { unscaled, scale })
            }
            (_, Some(whole)) => Some(Sum::Whole(whole)),
            (_, None) => moments.sum().map(Sum::Fraction),
        };
        let mean = match (kind, whole.filter(|_| n > 0)) {
            (FieldKind::Date, Some(sum)) => {
                let nearest = (sum + i128::from(n / 2)).div_euclid(n.into());
                let micros = i64::try_from(nearest).ok();
                micros.and_then(Timestamp::from_micros).map_or(Value::Null, Value::Date)
            }
            (_, Some(sum)) => {
                let (n, beside) = (i128::from(n), sum.rem_euclid(i128::from(n)));
                Value::F64((((sum - beside) / n) as f64 + beside as f64 / n as f64) / step)
            }
            (_, None) => moments.mean().map_or(Value::Null, Value::F64),
        };
        let unit = if kind == FieldKind::Date { MICROS } else { step };
        let percentiles = match spread {
            Some(spread) if n > 0 => {
                let of_codes = spread.percentiles.iter().map(|code| of_code(*code));
                percentages.iter().copied().zip(of_codes).collect()
            }
            _ => vec![],
        };
        let is_exact = spread.as_ref().is_none_or(|spread| spread.is_exact);
        FieldStatistics {
            count: n,
            documents: *with_value,
            sum,
            min: range.map_or(Value::Null, |(least, _)| of_code(least)),
            max: range.map_or(Value::Null, |(_, greatest)| of_code(greatest)),
            mean,
            variance: moments.variance().map(|variance| variance / unit / unit),
            distinct: spread.as_ref().and_then(|spread| spread.distinct),
            distinct_by: if is_exact { Accuracy::Exact } else { Accuracy::HyperLogLog },
            percentiles_by: if is_exact { Accuracy::Exact } else { Accuracy::Kll },
            percentiles,
        }
    }
}

/// Sum of values: exact for whole numbers and decimals.
///
/// ```
/// use treepie::facet::Sum;
///
/// assert_eq!(Sum::Decimal { unscaled: -1250, scale: 2 }.to_string(), "-12.50");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Sum {
    /// Sum of whole numbers.
    Whole(i128),
    /// Sum of decimals, with as many digits behind the point as they have.
    Decimal {
        /// The number without its point.
        unscaled: i128,
        /// Digits behind the point.
        scale: u8,
    },
    /// Sum of fractions, rounded once or twice; infinite if it is beyond all fractions.
    Fraction(f64),
}

/// In decimal, with all digits.
impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Sum::Whole(whole) => whole.fmt(f),
            Sum::Fraction(number) => Value::F64(number).fmt(f),
            Sum::Decimal { unscaled, scale } => value::write_decimal(unscaled, scale, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_decimals_are_written_however_large() {
        let shown = |unscaled, scale| Sum::Decimal { unscaled, scale }.to_string();
        assert_eq!(shown(5, 2), "0.05");
        assert_eq!(shown(-10i128.pow(25) - 7, 2), "-100000000000000000000000.07");
        assert_eq!(shown(10i128.pow(20), 18), "100.000000000000000000");
        assert_eq!(shown(10i128.pow(20), 0), "100000000000000000000");
    }
}
