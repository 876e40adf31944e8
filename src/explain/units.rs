//! Numbers with their units, and texts that may be long, for people.

use crate::terminal;
use std::borrow::{Borrow, Cow};

/// A text of at most so many characters, and an ellipsis where anything is missing.
pub(super) fn shortened(text: &str, chars_max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars_max) {
        Some((at, _)) => Cow::Owned(format!("{}…", &text[..at])),
        None => Cow::Borrowed(text),
    }
}

/// Text that may be shown, shortened: control characters and marks that reorder text are written as escapes.
pub(super) fn shown(text: &str, chars_max: usize) -> String {
    terminal::printable(&shortened(text, chars_max)).into_owned()
}

/// A text with signs around it and a blank before, if it is not empty.
pub(super) fn behind(opening: &str, text: &str, closing: &str) -> String {
    match text {
        "" => String::new(),
        _ => format!(" {opening}{text}{closing}"),
    }
}

/// A name of JSON in words, without its unit.
pub(super) fn spaced(name: &str) -> String {
    name.strip_suffix("_ns").unwrap_or(name).replace('_', " ")
}

/// A score with three decimals, or as a power of ten where these say little.
pub(super) fn score(score: f32) -> String {
    match score {
        0.001..1e6 => format!("{score:.3}"),
        0.0 => "0".to_owned(),
        _ => format!("{score:.3e}"),
    }
}

/// Nanoseconds with three digits and the unit that fits.
pub(super) fn duration(ns: u64) -> String {
    in_units(ns, 1_000, ["ns", "µs", "ms", "s"])
}

/// Bytes with three digits and the unit that fits.
pub(super) fn size(bytes: u64) -> String {
    in_units(bytes, 1_024, ["B", "KiB", "MiB", "GiB"])
}

/// A number in the largest of some units that it has one of, each so many of the one before.
fn in_units(n: u64, each: u64, units: [&str; 4]) -> String {
    match (n.max(1).ilog(each) as usize).min(units.len() - 1) {
        0 => format!("{n} {}", units[0]),
        nth => format!("{} {}", digits(n as f64 / each.pow(nth as u32) as f64), units[nth]),
    }
}

/// A number of at least 1 with about three digits.
pub(super) fn digits(number: f64) -> String {
    match number {
        ..10.0 => format!("{number:.2}"),
        10.0..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// Texts with a sign between them, as far as they are there.
pub(super) fn joined<T: Borrow<str>>(texts: impl IntoIterator<Item = T>, between: &str) -> String {
    texts.into_iter().collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fit_their_numbers() {
        let time = duration;
        assert_eq!(
            [time(0), time(999), time(1_000), time(42_000)],
            ["0 ns", "999 ns", "1.00 µs", "42.0 µs"]
        );
        assert_eq!([time(812_345_000), time(3_100_000_000)], ["812 ms", "3.10 s"]);
        let bytes = size;
        assert_eq!(
            [bytes(812), bytes(2_048), bytes(641_728_512)],
            ["812 B", "2.00 KiB", "612 MiB"]
        );
    }
}
