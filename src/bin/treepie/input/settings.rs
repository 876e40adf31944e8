//! Settings of an input beside its fields: sources of fields, and forms of values.
//!
//! ```toml
//! [input]
//! delimiter = ";"        # between two cells of CSV; default ","
//! encoding = "utf-16le"  # a label of the WHATWG; default UTF-8, and UTF-16 where a byte order mark says so
//! decimal_comma = true   # 1.234,50 in all fields of numbers; default false
//! thousands_comma = true # 1,234.50 in all fields of numbers; default false
//! unit = "$"             # may be before or behind the numbers of all fields: $5, 5 kg
//! trim = true            # blanks at the ends of texts are left out; default false
//! date_format = "%d.%m.%Y"   # in all fields of dates: as in strftime, or "seconds" or "milliseconds" after 1970 began
//! ignore_unknown = true  # columns and keys that no field is of are left out; default false
//! preset = "wikipedia-titles"   # what a line of text is, in an index of these fields
//! [fields.price]
//! type = "f64"
//! from = "Price (EUR)"   # the name of the column or key; default that of the field; ["lat", "lng"] of a point
//! decimal_comma = true   # in this field; numbers only; as are thousands_comma and unit
//! [fields.tags]
//! type = "keyword"
//! many = true
//! split = ";"            # a text is several values with this between them
//! [fields.day]
//! type = "date"
//! date_format = "%d.%m.%Y"   # in this field; dates only
//! ```
//!
//! Settings belong to inputs and are no part of what an index is. An index that is made by them
//! [remembers](super::kept) them all the same, for inputs that are added to it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use clap::ValueEnum;
use encoding_rs::Encoding;
use jiff::{
    SignedDuration, Timestamp,
    civil::date,
    fmt::strtime::{self, BrokenDownTime},
};
use treepie::writer::LineFormat;
use treepie::{Error, Field, FieldKind, Schema};

use super::{
    bad,
    numbers::{NumberStyle, is_digits, without_unit},
    records::Dialect,
};
use crate::failure::usage;

/// Settings by which the inputs of a command are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputSettings {
    /// Separator of cells, if that was said.
    pub(crate) delimiter: Option<u8>,
    /// Encoding of the bytes, if one was given.
    pub(crate) encoding: Option<&'static Encoding>,
    pub(crate) ignore_unknown: bool,
    /// Whether blanks at the ends of texts are left out.
    pub(crate) trim: bool,
    /// Preset format of the lines, if one was given.
    pub(crate) preset: Option<Preset>,
    /// Settings of all fields that may have them; those of `fields` have them too.
    pub(super) of_all: FieldSettings,
    /// Fields with a source or a way to be written of their own.
    fields: Vec<FieldSettings>,
    left_out: LeftOut,
}

/// Inputs that are known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// One title a line with underscores for spaces, as in the dumps of Wikimedia: fields `title`
    /// and `qualifier`, which is what stands in a trailing "(…)".
    WikipediaTitles,
}

/// Settings by which one field is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FieldSettings {
    pub(crate) name: String,
    /// The column or key that it is read from.
    pub(crate) from: Option<String>,
    /// The columns or keys that the latitude and the longitude of a point are read from.
    pub(crate) from_parts: Option<[String; 2]>,
    pub(crate) date_format: Option<DateFormat>,
    pub(crate) decimal_comma: Option<bool>,
    pub(crate) thousands_comma: Option<bool>,
    /// The sign of a currency, or whatever else is before or behind numbers.
    pub(crate) unit: Option<String>,
    /// Stands between the values of one text.
    pub(crate) split: Option<char>,
}

/// Format of dates.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DateFormat {
    /// A pattern of `strftime`.
    Pattern(String),
    /// Numbers after 1970 began, with so many digits of a second in a whole one.
    SinceEpoch { digits: usize },
}

/// Names beyond the schema with how many values there were of each, shared by all inputs.
#[derive(Clone, Debug, Default)]
struct LeftOut(Arc<Mutex<BTreeMap<String, u64>>>);

impl InputSettings {
    /// Settings of a format that has a name.
    pub(crate) fn of_preset(preset: Preset) -> Self {
        InputSettings { preset: Some(preset), ..InputSettings::default() }
    }

    /// Adds what is said of fields.
    pub(crate) fn with_fields(mut self, fields: Vec<FieldSettings>) -> Self {
        self.fields =
            fields.into_iter().filter(|field| *field != FieldSettings::of(&field.name)).collect();
        self
    }

    /// Fields with anything to say of how they are read, in the order of the schema.
    pub(super) fn fields(&self) -> &[FieldSettings] {
        &self.fields
    }

    pub(crate) fn ignores_unknown(&self) -> bool {
        self.ignore_unknown
    }

    /// Dialect of CSV: a comma, or the separator that was given.
    pub(crate) fn comma_or_own(&self) -> Dialect {
        match self.delimiter {
            Some(delimiter) => Dialect { delimiter, quoting: true },
            None => Dialect::COMMA,
        }
    }

    /// Whether names of columns and keys are not just those of fields.
    pub(crate) fn maps_names(&self) -> bool {
        let is_mapped = |field: &FieldSettings| field.from.is_some() || field.from_parts.is_some();
        self.ignore_unknown || self.fields.iter().any(is_mapped)
    }

    /// Fields that get what stands in a column or under a key.
    pub(crate) fn targets<'s>(&self, source: &str, schema: &'s Schema) -> Vec<&'s Field> {
        let from = |field: &Field| {
            let own = self.fields.iter().find(|own| own.name == field.name);
            own.and_then(|own| own.from.as_deref())
        };
        let is_fed = |field: &&Field| from(field).unwrap_or(&field.name) == source;
        schema.fields().iter().filter(is_fed).collect()
    }

    /// Names of the latitudes and longitudes of points that get what stands in a column or under a key.
    pub(crate) fn parts_of_points(&self, source: &str) -> Vec<String> {
        let of_field = |own: &FieldSettings| {
            let [lat, lon] = own.from_parts.as_ref()?;
            let ending = if lat == source { "lat" } else { "lon" };
            (lat == source || lon == source).then(|| format!("{}.{ending}", own.name))
        };
        self.fields.iter().filter_map(of_field).collect()
    }

    /// Names of the columns and keys that points come from.
    pub(crate) fn sources_of_points(&self, schema: &Schema) -> Vec<String> {
        let sources = self.sources(schema).into_iter().zip(schema.fields());
        let is_point = |field: &Field| matches!(field.kind, FieldKind::Point { .. });
        let of_points = sources.filter(|(_, field)| is_point(field));
        of_points.map(|(source, _)| source).collect()
    }

    /// Names of all columns and keys that the fields come from.
    pub(crate) fn sources(&self, schema: &Schema) -> Vec<String> {
        let source = |field: &Field| {
            let own = self.fields.iter().find(|own| own.name == field.name);
            own.and_then(|own| own.from.clone()).unwrap_or_else(|| field.name.clone())
        };
        schema.fields().iter().map(source).collect()
    }

    /// Names of the columns and keys that vectors come from.
    pub(crate) fn sources_of_vectors(&self, schema: &Schema) -> Vec<String> {
        let sources = self.sources(schema).into_iter().zip(schema.fields());
        let of_vectors = sources.filter(|(_, field)| field.kind.vector().is_some());
        of_vectors.map(|(source, _)| source).collect()
    }

    /// Notes a column or key that no field is of.
    pub(crate) fn leave_out(&self, name: &str) {
        let mut names = self.left_out.0.lock().unwrap_or_else(PoisonError::into_inner);
        match names.get_mut(name) {
            Some(n) => *n += 1,
            None => drop(names.insert(name.to_owned(), 1)),
        }
    }

    /// Says which columns and keys were left out, if any were.
    pub(crate) fn left_out(&self) -> Option<String> {
        const SHOWN_MAX: usize = 20;
        let names = self.left_out.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = names.iter().take(SHOWN_MAX).map(|(name, n)| match n {
            1 => name.clone(),
            n => format!("{name} ({n} times)"),
        });
        let shown: Vec<_> = shown.collect();
        let more = match names.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (what, are) = if names.len() == 1 { ("name", "is") } else { ("names", "are") };
        (!names.is_empty()).then(|| {
            format!(
                "{} {what} {are} no field and left out: {}{more}",
                names.len(),
                shown.join(", ")
            )
        })
    }

    /// Whether texts of any field are not its values as they are.
    pub(crate) fn has_formats(&self) -> bool {
        let has = |field: &FieldSettings| field.has_format() || field.split.is_some();
        self.trim || self.fields.iter().any(has)
    }

    /// The values that a text stands for, as its field takes them.
    pub(crate) fn values(
        &self,
        field: &str,
        text: String,
        line: u64,
    ) -> Result<Vec<String>, Error> {
        let value = |text: &str| {
            let converted = self.converted(field, text, false, line)?;
            Ok(converted.unwrap_or_else(|| text.to_owned()))
        };
        match self.split(field, &text) {
            Some(parts) => parts.into_iter().map(value).collect(),
            None if self.trim => Ok(vec![value(text.trim())?]),
            None => Ok(vec![value(&text)?]),
        }
    }

    /// The parts of a text without empty ones, if its field has it split.
    fn split<'t>(&self, field: &str, text: &'t str) -> Option<Vec<&'t str>> {
        let own = self.fields.iter().find(|own| own.name == field)?;
        let parts = text.split(own.split?).map(str::trim);
        Some(parts.filter(|part| !part.is_empty()).collect())
    }

    /// A value as its field takes it, if it is written in another way; `is_number` of JSON. A word without digits is left to
    /// the field, which may know it or not.
    pub(crate) fn converted(
        &self,
        field: &str,
        text: &str,
        is_number: bool,
        line: u64,
    ) -> Result<Option<String>, Error> {
        let own = self.fields.iter().find(|own| own.name == field && own.has_format());
        let text = text.trim();
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let Some(own) = own.filter(|_| has_digit) else { return Ok(None) };
        let (converted, expected) = match &own.date_format {
            Some(format) => (format.read(text), format.described()),
            None if is_number => return Ok(None),
            None => (own.number(text), own.number_described()),
        };
        match converted {
            Some(converted) => Ok(Some(converted)),
            None => Err(bad(format!("reading the field '{field}'"), line)
                .expected(expected)
                .found(format!("'{text}'"))),
        }
    }
}

impl FieldSettings {
    fn has_format(&self) -> bool {
        self.date_format.is_some()
            || self.unit.is_some()
            || self.number_style() != NumberStyle::Plain
    }

    /// A number as Rust reads it. Commas in one that may have none are left to the field, which refuses them.
    fn number(&self, text: &str) -> Option<String> {
        let bare = self.unit.as_ref().and_then(|unit| without_unit(text, unit));
        let number = bare.unwrap_or_else(|| text.to_owned());
        match self.number_style() {
            NumberStyle::Plain => Some(number),
            style => style.with_point(&number),
        }
    }

    fn number_described(&self) -> String {
        let style = self.number_style().described();
        match &self.unit {
            Some(unit) => format!("{style}, with the unit {unit} or none"),
            None => style.to_owned(),
        }
    }

    /// Style of numbers; a comma is not both.
    fn number_style(&self) -> NumberStyle {
        match (self.decimal_comma, self.thousands_comma) {
            (Some(true), _) => NumberStyle::DecimalComma,
            (_, Some(true)) => NumberStyle::ThousandsComma,
            _ => NumberStyle::Plain,
        }
    }

    /// Settings of a field with nothing to say.
    pub(super) fn of(name: &str) -> Self {
        FieldSettings { name: name.to_owned(), ..FieldSettings::default() }
    }
}

impl DateFormat {
    /// A format by its text; an error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        const MILLIS: usize = 3;
        match text {
            "seconds" => return Ok(DateFormat::SinceEpoch { digits: 0 }),
            "milliseconds" => return Ok(DateFormat::SinceEpoch { digits: MILLIS }),
            _ => {}
        }
        // Read back, so that what no text can be read by is told now and not for each record.
        let sample = date(2003, 12, 25).at(13, 14, 15, 0);
        let zoned = sample.to_zoned(jiff::tz::TimeZone::UTC).map_err(|error| error.to_string())?;
        let format = DateFormat::Pattern(text.to_owned());
        let written = strtime::format(text, &zoned)
            .map_err(|error| format!("expected a format as in strftime ({error})"))?;
        match format.read(&written) {
            Some(_) => Ok(format),
            None => Err("expected year, month and day, as in %d.%m.%Y,".to_owned()),
        }
    }

    /// The date as a date field reads it.
    pub(super) fn read(&self, text: &str) -> Option<String> {
        match self {
            DateFormat::Pattern(pattern) => {
                let parsed = BrokenDownTime::parse(pattern, text).ok()?;
                // The first of the next minute, as everywhere.
                let leap =
                    SignedDuration::from_secs(has_leap_second(pattern, text, &parsed).into());
                if parsed.offset().is_some() {
                    return Some(parsed.to_timestamp().ok()?.checked_add(leap).ok()?.to_string());
                }
                match parsed.hour() {
                    Some(_) => Some(parsed.to_datetime().ok()?.checked_add(leap).ok()?.to_string()),
                    None => match parsed.to_timestamp() {
                        Ok(timestamp) => Some(timestamp.to_string()),
                        Err(_) => Some(parsed.to_date().ok()?.to_string()),
                    },
                }
            }
            DateFormat::SinceEpoch { digits } => {
                const NANOS_DIGITS: usize = 9;
                let nanos = moved_point(text, NANOS_DIGITS - digits)?;
                Some(Timestamp::from_nanosecond(nanos).ok()?.to_string())
            }
        }
    }

    /// The text that [`parse`](Self::parse) reads.
    pub(super) fn text(&self) -> &str {
        match self {
            DateFormat::Pattern(pattern) => pattern,
            DateFormat::SinceEpoch { digits: 0 } => "seconds",
            DateFormat::SinceEpoch { .. } => "milliseconds",
        }
    }

    fn described(&self) -> String {
        match self {
            DateFormat::Pattern(pattern) => format!("a date as {pattern}"),
            DateFormat::SinceEpoch { digits: 0 } => "seconds after 1970 began".to_owned(),
            DateFormat::SinceEpoch { .. } => "milliseconds after 1970 began".to_owned(),
        }
    }
}

/// Whether the second of a text is 60, which is read as 59: then 59 in its place is the same.
fn has_leap_second(pattern: &str, text: &str, read: &BrokenDownTime) -> bool {
    if read.second() != Some(59) {
        return false;
    }
    let same = |(at, sixty): (usize, &str)| {
        let text = [&text[..at], "59", &text[at + sixty.len()..]].concat();
        let other = BrokenDownTime::parse(pattern, &text).ok();
        other.is_some_and(|other| format!("{other:?}") == format!("{read:?}"))
    };
    text.match_indices("60").any(same)
}

/// Digits that are moved at the most; no time has nearly as many.
const MOVED_MAX: i64 = 40;

/// A number, also one with an exponent, with its point so many places further right; `None` for what is no number, or has digits
/// left behind it.
fn moved_point(text: &str, places: usize) -> Option<i128> {
    let (text, exponent) = match text.split_once(['e', 'E']) {
        Some((text, exponent)) => (text, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    if digits.is_empty() || !is_digits(digits) || !is_digits(fraction) {
        return None;
    }
    let behind = i64::try_from(fraction.len()).ok()?;
    let moved = i64::try_from(places).ok()?.checked_add(exponent)?.checked_sub(behind)?;
    let number = format!("{whole}{fraction}");
    let number = match usize::try_from(moved) {
        Ok(n_zeros) if moved <= MOVED_MAX => format!("{number}{}", "0".repeat(n_zeros)),
        Ok(_) => return None,
        Err(_) => {
            let n_left = usize::try_from(moved.checked_neg()?).ok()?;
            let (kept, left) = number.split_at_checked(number.len().checked_sub(n_left)?)?;
            if left.bytes().any(|byte| byte != b'0') {
                return None;
            }
            kept.to_owned()
        }
    };
    number.parse().ok()
}

/// The character between values of one text, as it is typed.
pub(crate) fn separator(typed: &str) -> Result<char, String> {
    match typed.chars().collect::<Vec<_>>()[..] {
        [one] if !one.is_alphanumeric() => Ok(one),
        _ => Err("expected one character that is no letter and no digit".to_owned()),
    }
}

/// A separator of vectors, which are lists of numbers or base64.
pub(crate) fn separator_of_vectors(typed: &str) -> Result<char, String> {
    let is_inside = |c: char| c.is_whitespace() || ",[]+-./=".contains(c);
    match separator(typed)? {
        c if is_inside(c) => {
            Err("expected a character that is in no list of numbers and no base64".to_owned())
        }
        c => Ok(c),
    }
}

/// A delimiter as it is typed: one character, or `\t`, or the word tab.
pub(crate) fn delimiter(typed: &str) -> Result<u8, String> {
    let delimiter = match typed {
        "\\t" | "tab" => b'\t',
        typed => match typed.as_bytes() {
            [byte] => *byte,
            _ => return Err("expected one ASCII character, or tab".to_owned()),
        },
    };
    match delimiter {
        b'"' | b'\n' | b'\r' => {
            Err("expected a character other than quotes and line ends".to_owned())
        }
        byte if byte.is_ascii_alphanumeric() => {
            Err("expected a character that is no letter and no digit".to_owned())
        }
        byte => Ok(byte),
    }
}

/// An encoding by one of its names.
pub(crate) fn encoding(label: &str) -> Result<&'static Encoding, String> {
    Encoding::for_label(label.as_bytes())
        .ok_or_else(|| "expected the name of an encoding, as utf-16le or windows-1252".to_owned())
}

impl Preset {
    /// The preset of this name.
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        const NAMES: &str = "expected the name of a preset, as wikipedia-titles";
        <Self as ValueEnum>::from_str(name, false).map_err(|_| NAMES.to_owned())
    }

    pub(super) fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }

    /// Schema of the preset.
    pub(crate) fn schema(self) -> Result<Schema, Error> {
        self.line_format().schema()
    }

    /// Format of the preset's lines.
    pub(crate) fn line_format(self) -> LineFormat {
        match self {
            Preset::WikipediaTitles => LineFormat::titles(),
        }
    }
}

/// Kinds of fields that have numbers in them.
pub(crate) fn is_number(kind: FieldKind) -> bool {
    matches!(kind, FieldKind::I64 | FieldKind::U64 | FieldKind::F64 | FieldKind::Decimal { .. })
}

/// The error about settings if nothing is read.
pub(crate) fn of_no_input() -> Error {
    usage("reading the schema file")
        .expected("fields, and nothing of how inputs are read")
        .found("settings of an input")
        .hint(
            "an index remembers how its inputs are read from when it is made; for fields that are added later \
             `treepie index --append --schema` says it, each time",
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_text_are_told_apart() {
        let of = |split| {
            let tags = FieldSettings { split, ..FieldSettings::of("tags") };
            InputSettings::default().with_fields(vec![tags])
        };
        assert_eq!(of(Some(';')).split("tags", "red; blue;;"), Some(vec!["red", "blue"]));
        assert_eq!(of(Some(';')).split("tags", " ; "), Some(vec![]));
        assert_eq!(of(Some('\u{3001}')).split("tags", "赤、青"), Some(vec!["赤", "青"]));
        assert_eq!(of(Some(';')).split("other", "a;b"), None);
        assert_eq!(of(None).split("tags", "a;b"), None);
        assert_eq!(separator("|"), Ok('|'));
        assert!(separator("").is_err() && separator("; ").is_err() && separator("x").is_err());
    }

    #[test]
    fn dates_are_read_as_they_are_written() {
        for (format, written, expected) in [
            ("%d.%m.%Y", "24.12.2020", Some("2020-12-24")),
            ("%d.%m.%Y", "1.2.2020", Some("2020-02-01")),
            ("%d.%m.%Y", "2020-12-24", None),
            ("%d.%m.%Y", "31.02.2020", None),
            ("%m/%d/%y", "12/24/20", Some("2020-12-24")),
            ("%d.%m.%Y %H:%M", "24.12.2020 18:30", Some("2020-12-24T18:30:00")),
            ("%Y-%m-%dT%H:%M:%S%z", "2020-12-24T18:30:00+0100", Some("2020-12-24T17:30:00Z")),
            ("%d %B %Y", "24 December 2020", Some("2020-12-24")),
            // A leap second, as in dates without a format.
            ("%d.%m.%Y %H:%M:%S", "31.12.2016 23:59:60", Some("2017-01-01T00:00:00")),
            ("%d.%m.%Y %H:%M:%S", "31.12.2016 23:59:59", Some("2016-12-31T23:59:59")),
            ("%Y-%m-%dT%H:%M:%S%z", "2016-12-31T15:59:60-0800", Some("2017-01-01T00:00:00Z")),
            ("60 %Y-%m-%d %T%.f", "60 2020-12-24 18:30:59.60", Some("2020-12-24T18:30:59.6")),
            ("seconds", "1600000000", Some("2020-09-13T12:26:40Z")),
            ("seconds", "1600000000.25", Some("2020-09-13T12:26:40.25Z")),
            ("seconds", "-1", Some("1969-12-31T23:59:59Z")),
            ("seconds", "1e9", Some("2001-09-09T01:46:40Z")),
            ("seconds", "1.7e9", Some("2023-11-14T22:13:20Z")),
            ("seconds", "17000000000E-1", Some("2023-11-14T22:13:20Z")),
            ("seconds", "1.7e+9", Some("2023-11-14T22:13:20Z")),
            ("seconds", "1e-10", None),
            ("seconds", "1e999999999999999999", None),
            ("seconds", "1e-9223372036854775808", None),
            ("seconds", "1e", None),
            ("milliseconds", "1.7e12", Some("2023-11-14T22:13:20Z")),
            ("seconds", "", None),
            ("seconds", "99999999999999999", None),
            ("milliseconds", "1600000000250", Some("2020-09-13T12:26:40.25Z")),
            ("milliseconds", "soon", None),
        ] {
            let format = DateFormat::parse(format).unwrap();
            assert_eq!(format.read(written).as_deref(), expected, "{format:?} {written}");
        }
        for format in ["%H:%M", "%d.%m.", "dd.mm.yyyy", "%", "%!", ""] {
            assert!(DateFormat::parse(format).is_err(), "{format}");
        }
    }

    #[test]
    fn delimiters_are_one_character() {
        for (typed, expected) in [(";", b';'), ("|", b'|'), ("\\t", b'\t'), ("tab", b'\t')] {
            assert_eq!(delimiter(typed), Ok(expected));
        }
        for typed in ["", "::", "é", "\"", "\n", "a"] {
            assert!(delimiter(typed).is_err(), "{typed}");
        }
        assert!(encoding("latin1").is_ok() && encoding("utf-61").is_err());
    }
}
