//! Strings that may be dates, numbers, or several values, written in another way.
//!
//! A schema that is inferred takes them as they are, since a guess may be wrong for what comes later. The comment behind the
//! type says which lines of a schema file would read them.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::input::numbers::{NumberStyle, without_unit};
use crate::input::settings::DateFormat;

/// Ways in which tables often have dates.
const DATES: [&str; 9] = [
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%Y/%m/%d",
    "%m/%d/%y",
    "%d.%m.%Y %H:%M",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M",
];
/// Values that are looked at: reading dates takes about a microsecond a way.
const VALUES_MAX: u64 = 2_000;
/// Bytes of such a date.
const DATE_BYTES: std::ops::RangeInclusive<usize> = 6..=16;
/// Number of values of which one may be another than the rest: a word for none, or a mistake.
const ONE_IN: u64 = 20;
/// Characters that stand between several values in one text. Commas stand in names as well.
const SEPARATORS: [char; 2] = [';', '|'];
/// Units that tables often have beside numbers. A longer one is before those that it begins or ends with.
const UNITS: [&str; 27] = [
    "US$", "R$", "A$", "C$", "HK$", "NZ$", "$", "€", "£", "¥", "₹", "₩", "₽", "₺", "₪", "₫", "₴",
    "฿", "CHF", "EUR", "USD", "GBP", "JPY", "kr", "zł", "Kč", "%",
];
/// Number of values of which one must have a separator.
const SEPARATED_ONE_IN: u64 = 10;

/// Values of one field, by what they may be meant as.
#[derive(Debug, Default)]
pub(super) struct Clues {
    n_values: u64,
    dates: [u64; DATES.len()],
    a_date: String,
    thousands: Numbers,
    decimals: Numbers,
    unit: Unit,
    lists: [Lists; SEPARATORS.len()],
    hasher: RandomState,
}

/// Unit of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Unit {
    #[default]
    None,
    Of(&'static str),
    /// Several, which no schema can read.
    Mixed,
}

/// Values that are numbers in one style.
#[derive(Debug, Default)]
struct Numbers {
    n: u64,
    /// The first with a comma or a unit.
    an_example: Option<String>,
    has_comma: bool,
}

/// Values that have one separator.
#[derive(Debug, Default)]
struct Lists {
    n_texts: u64,
    n_parts: u64,
    /// Hashes of the different parts.
    distinct: HashSet<u64>,
}

impl Clues {
    /// Looks at a value that is not empty.
    pub(super) fn add(&mut self, value: &str) {
        let value = value.trim();
        if self.n_values == VALUES_MAX {
            return;
        }
        self.n_values += 1;
        for (lists, separator) in self.lists.iter_mut().zip(SEPARATORS) {
            if value.contains(separator) {
                let parts = value.split(separator).map(str::trim).filter(|part| !part.is_empty());
                lists.n_texts += 1;
                for part in parts {
                    lists.n_parts += 1;
                    lists.distinct.insert(self.hasher.hash_one(part));
                }
            }
        }
        if !value.contains(|c: char| c.is_ascii_digit()) {
            return;
        }
        self.add_number(value);
        if DATE_BYTES.contains(&value.len()) && value.starts_with(|c: char| c.is_ascii_digit()) {
            self.add_date(value);
        }
    }

    fn add_number(&mut self, value: &str) {
        let found = UNITS.iter().find_map(|unit| Some((*unit, without_unit(value, unit)?)));
        let number = found.as_ref().map_or(value, |(_, number)| number);
        let is_number = [
            self.thousands.add(NumberStyle::ThousandsComma, number, value),
            self.decimals.add(NumberStyle::DecimalComma, number, value),
        ];
        if let Some((unit, _)) = found.filter(|_| is_number.contains(&true)) {
            self.unit = match self.unit {
                Unit::None => Unit::Of(unit),
                Unit::Of(before) if before == unit => Unit::Of(unit),
                Unit::Of(_) | Unit::Mixed => Unit::Mixed,
            };
        }
    }

    fn add_date(&mut self, value: &str) {
        let mut is_date = false;
        for (n, format) in self.dates.iter_mut().zip(DATES) {
            let is_read =
                DateFormat::parse(format).is_ok_and(|format| format.read(value).is_some());
            *n += u64::from(is_read);
            is_date |= is_read;
        }
        if is_date && self.a_date.is_empty() {
            value.clone_into(&mut self.a_date);
        }
    }

    fn are_about_all(&self, n: u64) -> bool {
        n > 0 && (self.n_values - n.min(self.n_values)) * ONE_IN <= self.n_values
    }

    /// Lines of a schema file that would read the values otherwise, if any.
    pub(super) fn told(&self) -> Option<String> {
        self.of_dates().or_else(|| self.of_numbers()).or_else(|| self.of_lists())
    }

    fn of_dates(&self) -> Option<String> {
        let most = self.dates.iter().copied().max().filter(|n| self.are_about_all(*n))?;
        let best = self.dates.iter().zip(DATES).filter(|(n, _)| **n == most);
        let formats: Vec<_> = best.map(|(_, format)| format!("\"{format}\"")).collect();
        let formats = formats.join(" or ");
        Some(format!("for dates, as {}: type = \"date\", date_format = {formats}", self.a_date))
    }

    fn of_numbers(&self) -> Option<String> {
        let all = [("thousands_comma", &self.thousands), ("decimal_comma", &self.decimals)];
        let most = all.iter().map(|(_, numbers)| numbers.n).max()?;
        let mut best = all.into_iter().filter(|(_, it)| it.n == most && self.are_about_all(it.n));
        let (key, numbers) = best.next()?;
        let example = numbers.an_example.as_ref()?;
        let mut lines = vec!["type = \"f64\"".to_owned()];
        match self.unit {
            Unit::None => {}
            Unit::Of(unit) => lines.push(format!("unit = \"{unit}\"")),
            Unit::Mixed => return None,
        }
        if numbers.has_comma || self.unit == Unit::None {
            let or = best.next().map_or(String::new(), |(key, _)| format!(" or {key} = true"));
            lines.push(format!("{key} = true{or}"));
        }
        Some(format!("for numbers, as {example}: {}", lines.join(", ")))
    }

    fn of_lists(&self) -> Option<String> {
        let is_list = |lists: &Lists| {
            lists.n_texts * SEPARATED_ONE_IN >= self.n_values
                && lists.n_parts > lists.n_texts
                && lists.distinct.len() as u64 * 2 <= lists.n_parts
        };
        let mut found = self.lists.iter().zip(SEPARATORS).filter(|(lists, _)| is_list(lists));
        let (_, separator) = found.next()?;
        Some(format!("for several values in one: many = true, split = \"{separator}\""))
    }
}

impl Numbers {
    /// Adds a value whose number this is; whether it is one of this style.
    fn add(&mut self, style: NumberStyle, number: &str, value: &str) -> bool {
        if style.with_point(number).is_none() {
            return false;
        }
        self.n += 1;
        let has_comma = number.contains(',');
        let is_first = self.an_example.is_none() || has_comma && !self.has_comma;
        if is_first && (has_comma || number != value) {
            self.an_example = Some(value.to_owned());
        }
        self.has_comma |= has_comma;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(values: &[&str]) -> Option<String> {
        let mut clues = Clues::default();
        values.iter().for_each(|value| clues.add(value));
        clues.told()
    }

    #[test]
    fn dates_and_numbers_that_are_written_otherwise_are_told_with_the_lines_that_read_them() {
        for (values, expected) in [
            (
                &["10/09/2024", "08/28/2022"][..],
                Some("for dates, as 10/09/2024: type = \"date\", date_format = \"%m/%d/%Y\""),
            ),
            (
                &["10/09/2024", "1/2/2022"],
                Some(
                    "for dates, as 10/09/2024: type = \"date\", date_format = \"%m/%d/%Y\" or \"%d/%m/%Y\"",
                ),
            ),
            (
                &["24.12.2020 18:30"],
                Some(
                    "for dates, as 24.12.2020 18:30: type = \"date\", date_format = \"%d.%m.%Y %H:%M\"",
                ),
            ),
            (
                &["12.50", "1,726.43", "3"],
                Some("for numbers, as 1,726.43: type = \"f64\", thousands_comma = true"),
            ),
            (
                &["12,5", "1.726,43", "3"],
                Some("for numbers, as 12,5: type = \"f64\", decimal_comma = true"),
            ),
            (
                &["1,234", "5"],
                Some(
                    "for numbers, as 1,234: type = \"f64\", thousands_comma = true or decimal_comma = true",
                ),
            ),
            (
                &["$12.50", "$1,726.43", "-$3"],
                Some(
                    "for numbers, as $1,726.43: type = \"f64\", unit = \"$\", thousands_comma = true",
                ),
            ),
            (
                &["12,50 €", "1.726,43 €", "3"],
                Some("for numbers, as 12,50 €: type = \"f64\", unit = \"€\", decimal_comma = true"),
            ),
            (&["US$5", "US$7.25"], Some("for numbers, as US$5: type = \"f64\", unit = \"US$\"")),
            (&["45 %", "7.5 %"], Some("for numbers, as 45 %: type = \"f64\", unit = \"%\"")),
            (&["$5", "€5"], None),
            (&["$5 off", "$7 off"], None),
            (&["12.5", "3"], None),
            (&["12,5", "1,726.43"], None),
            (&["10/09/2024", "soon"], None),
            (&["99/99/2024"], None),
            (&["A-1", "007"], None),
            (&[], None),
        ] {
            assert_eq!(told(values).as_deref(), expected, "{values:?}");
        }
        // One in twenty may be anything.
        let mut values = vec!["10/29/2024"; 19];
        values.push("n.a.");
        assert!(told(&values).is_some());
        values.push("soon");
        assert_eq!(told(&values), None);
    }

    #[test]
    fn texts_of_values_that_come_again_are_told_to_be_split() {
        let split = Some("for several values in one: many = true, split = \";\"".to_owned());
        assert_eq!(told(&["red;blue", "blue; green", "green;red", "red"]), split);
        assert_eq!(told(&["red|blue", "blue|red"]), split.map(|it| it.replace(';', "|")));
        // Sentences have other parts each, and names have commas.
        assert_eq!(told(&["call before; a dog", "ring twice; no dog at all"]), None);
        assert_eq!(told(&["Office, School", "School, Office"]), None);
        // Nothing behind the separator.
        assert_eq!(told(&["red;", "red;"]), None);
        let mut few = vec!["red"; 19];
        few.push("red;red");
        assert_eq!(told(&few), None);
    }
}
