//! Numbers with their units, and texts that may be long, for people.

use crate::terminal;
use std::borrow::Cow;
use std::fmt;

/// A text of at most so many characters, and an ellipsis where anything is missing.
pub(super) fn shortened(text: &str, chars_max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars_max) {
        Some((at, _)) => Cow::Owned(format!("{}…", &text[..at])),
        None => Cow::Borrowed(text),
    }
}

/// The same as it may be shown: control characters and marks that reorder text are written as escapes.
pub(super) fn shown(text: &str, chars_max: usize) -> String {
    terminal::printable(&shortened(text, chars_max)).into_owned()
}

/// A name of JSON in words, without its unit.
pub(super) fn spaced(name: &str) -> String {
    name.strip_suffix("_ns").unwrap_or(name).replace('_', " ")
}

/// A number with its thousands grouped.
pub(super) struct Grouped(pub(super) u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ..1_000 => write!(f, "{}", self.0),
            n => write!(f, "{},{:03}", Grouped(n / 1_000), n % 1_000),
        }
    }
}

/// A number of things.
pub(super) struct Count(pub(super) u64, pub(super) &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} {}{plural}", Grouped(self.0), self.1)
    }
}

/// A score with three decimals, or as a power of ten where these say little.
pub(super) struct Score(pub(super) f32);

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0.001..1e6 => write!(f, "{:.3}", self.0),
            0.0 => f.write_str("0"),
            _ => write!(f, "{:.3e}", self.0),
        }
    }
}

/// Nanoseconds with three digits and the unit that fits.
pub(super) struct Time(pub(super) u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        in_units(self.0, 1_000, ["ns", "µs", "ms", "s"], f)
    }
}

/// Bytes with three digits and the unit that fits.
pub(super) struct Bytes(pub(super) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        in_units(self.0, 1_024, ["B", "KiB", "MiB", "GiB"], f)
    }
}

/// A number in the largest of some units that it has one of, each so many of the one before.
fn in_units(n: u64, each: u64, units: [&str; 4], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match (n.max(1).ilog(each) as usize).min(units.len() - 1) {
        0 => write!(f, "{n} {}", units[0]),
        nth => write!(f, "{} {}", Digits(n as f64 / each.pow(nth as u32) as f64), units[nth]),
    }
}

/// A number of at least 1 with about three digits.
pub(super) struct Digits(pub(super) f64);

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ..10.0 => write!(f, "{:.2}", self.0),
            10.0..100.0 => write!(f, "{:.1}", self.0),
            _ => write!(f, "{:.0}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fit_their_numbers() {
        let time = |ns| Time(ns).to_string();
        assert_eq!(
            [time(0), time(999), time(1_000), time(42_000)],
            ["0 ns", "999 ns", "1.00 µs", "42.0 µs"]
        );
        assert_eq!([time(812_345_000), time(3_100_000_000)], ["812 ms", "3.10 s"]);
        let bytes = |n| Bytes(n).to_string();
        assert_eq!(
            [bytes(812), bytes(2_048), bytes(641_728_512)],
            ["812 B", "2.00 KiB", "612 MiB"]
        );
        assert_eq!(Grouped(13_755_095).to_string(), "13,755,095");
        assert_eq!(Grouped(100).to_string(), "100");
    }
}
