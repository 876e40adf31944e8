//! Numbers with a fixed number of digits behind the point.

use crate::error::{Error, ErrorKind, Result};
use crate::schema::DECIMAL_SCALE_MAX;
use std::fmt;
use std::str::FromStr;

/// Decimal number with a scale: 12.50 is 1250 with the scale 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Decimal {
    unscaled: i64,
    scale: u8,
}

impl Decimal {
    /// `unscaled` divided by 10 to the power of `scale`; `None` above [`DECIMAL_SCALE_MAX`].
    ///
    /// ```
    /// use treepie::Decimal;
    ///
    /// assert_eq!(Decimal::new(-1250, 2).unwrap().to_string(), "-12.50");
    /// ```
    pub fn new(unscaled: i64, scale: u8) -> Option<Self> {
        (scale <= DECIMAL_SCALE_MAX).then_some(Decimal { unscaled, scale })
    }

    /// The number without its point.
    pub fn unscaled(self) -> i64 {
        self.unscaled
    }

    /// Digits behind the point.
    pub fn scale(self) -> u8 {
        self.scale
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(self.unscaled.into(), self.scale, f)
    }
}

/// Writes a number with its point moved so many digits to the left; sums have more digits than one decimal.
pub(crate) fn write_decimal(unscaled: i128, scale: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let scale = usize::from(scale);
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    match scale {
        0 => write!(f, "{sign}{whole}"),
        _ => write!(f, "{sign}{whole}.{fraction}"),
    }
}

/// Reads a number with as many digits behind the point as stand there.
///
/// ```
/// use treepie::Decimal;
///
/// let price: Decimal = "-12.50".parse()?;
/// assert_eq!((price.unscaled(), price.scale()), (-1250, 2));
/// assert!("1e5".parse::<Decimal>().is_err());
/// # Ok::<(), treepie::Error>(())
/// ```
impl FromStr for Decimal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        written(text).ok_or_else(|| {
            Error::new(ErrorKind::Usage, "reading a decimal number")
                .expected(format!(
                    "digits that fit into 64 bits, at most {DECIMAL_SCALE_MAX} of them behind a point"
                ))
                .found(format!("'{text}'"))
        })
    }
}

fn written(text: &str) -> Option<Decimal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let scale = u8::try_from(fraction.len()).ok()?;
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || !is_number(digits) || !is_number(fraction) {
        return None;
    }
    Decimal::new(format!("{whole}{fraction}").parse().ok()?, scale)
}

/// A number as it is written, times 10 to the power of `scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scaled {
    /// Exactly this.
    Exactly(i128),
    /// Between this and one more.
    Above(i128),
}

/// Reads `-12.50` and `-1.25e1`; `None` for what is no such number. Numbers beyond 36 digits are the greatest there are.
pub(super) fn scaled(text: &str, scale: u8) -> Option<Scaled> {
    let (is_negative, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent_of(exponent)?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    // Digits before the point, once it stands where the exponent and the scale move it to.
    let places = exponent.saturating_add(i64::from(scale)).saturating_add(whole.len() as i64);
    let kept = usize::try_from(places).unwrap_or(0);
    let written = || whole.bytes().chain(fraction.bytes());
    let zeros = kept.saturating_sub(whole.len() + fraction.len()).min(DIGITS_MAX);
    let digits = written().take(kept).chain(std::iter::repeat_n(b'0', zeros));
    let number = digits.fold(0i128, |sum, digit| match sum > BEYOND {
        true => sum,
        false => sum * 10 + i128::from(digit - b'0'),
    });
    let is_exact = written().skip(kept).all(|digit| digit == b'0');
    Some(match (is_negative, is_exact) {
        (false, true) => Scaled::Exactly(number),
        (true, true) => Scaled::Exactly(-number),
        (false, false) => Scaled::Above(number),
        (true, false) => Scaled::Above(-number - 1),
    })
}

/// Numbers beyond all that a field can hold may be cut off there.
const BEYOND: i128 = i128::MAX / 100;
/// Zeros that make any number but nought one beyond.
const DIGITS_MAX: usize = 38;

/// The number behind an `e`; one of more digits than fit is the greatest there is.
fn exponent_of(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let is_negative = text.starts_with('-');
    let most = if is_negative { i64::MIN } else { i64::MAX };
    Some(text.parse().unwrap_or(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_with_all_of_their_digits() {
        let cases =
            [(0, 0, "0"), (5, 2, "0.05"), (-5, 2, "-0.05"), (-1250, 2, "-12.50"), (7, 0, "7")];
        for (unscaled, scale, expected) in cases {
            assert_eq!(Decimal::new(unscaled, scale).unwrap().to_string(), expected);
        }
        let least = Decimal::new(i64::MIN, DECIMAL_SCALE_MAX).unwrap();
        assert_eq!(least.to_string(), "-9.223372036854775808");
        assert_eq!(Decimal::new(1, DECIMAL_SCALE_MAX + 1), None);
    }

    #[test]
    fn numbers_between_two_steps_say_so() {
        use Scaled::{Above, Exactly};
        let cases = [
            ("12.5", 2, Some(Exactly(1250))),
            ("-12.5", 2, Some(Exactly(-1250))),
            ("+3", 0, Some(Exactly(3))),
            ("3.000", 0, Some(Exactly(3))),
            ("3.001", 0, Some(Above(3))),
            ("-3.001", 0, Some(Above(-4))),
            (".5", 1, Some(Exactly(5))),
            ("5.", 1, Some(Exactly(50))),
            ("", 0, None),
            (".", 0, None),
            ("-", 0, None),
            ("1e3", 0, Some(Exactly(1_000))),
            ("1.5E+01", 0, Some(Exactly(15))),
            ("-2.5e-3", 4, Some(Exactly(-25))),
            ("-2.5e-3", 3, Some(Above(-3))),
            ("2500e-2", 0, Some(Exactly(25))),
            ("1e-400", 2, Some(Above(0))),
            ("-1e-400", 2, Some(Above(-1))),
            ("0e99999999999999999999", 2, Some(Exactly(0))),
            ("0.00e-99999999999999999999", 2, Some(Exactly(0))),
            (".5e1", 0, Some(Exactly(5))),
            ("00012", 0, Some(Exactly(12))),
            ("e3", 0, None),
            (".e3", 0, None),
            ("1e", 0, None),
            ("1e+", 0, None),
            ("1e1.5", 0, None),
            ("1e1e1", 0, None),
            ("1e+-1", 0, None),
            ("1e١", 0, None),
            ("1_000", 0, None),
            ("--1", 0, None),
            ("١", 0, None),
        ];
        for (text, scale, expected) in cases {
            assert_eq!(scaled(text, scale), expected, "{text}");
        }
        for far in ["9".repeat(99), "1e99".into(), "0.1e99999999999999999999".into()] {
            let Some(Exactly(number)) = scaled(&far, 18) else { panic!("{far}") };
            assert!(number > i128::from(u64::MAX), "{far}");
        }
        let long = format!("0.1{}", "0".repeat(400));
        assert_eq!(scaled(&long, 2), Some(Exactly(10)));
        assert_eq!(scaled(&format!("{long}1"), 2), Some(Above(10)));
        assert!(scaled(&format!("{long}e400"), 0).is_some());
    }
}
