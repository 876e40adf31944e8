//! Meanings of dates in texts, by the time and zone of reading.

use super::Value;
use super::date::{self, Timestamp};
use super::interval::{Calendar, Interval};
use super::typed::NotTaken;
use super::zone::Zone;
use crate::schema::{Field, FieldKind};
use jiff::Span;
use std::ops::RangeInclusive;

/// Current time and zone, by which [`Query::at`](crate::query::Query::at) reads the dates of a query.
///
/// A date without an offset is one of the zone, as clocks show it there; of an hour that comes twice the first. If
/// the current time is known, a date may also be relative to it: `now`, `now-7d`, `now-1M/d`. After `now` come any
/// number of steps, `+` or `-` with a number and `y`, `M`, `w`, `d`, `h`, `m` or `s`, and at the end, behind a slash,
/// what it leaves open: `now/d` is all of today, and `now-1M/M` the month before this one. Years, months, weeks and
/// days are those of the calendar, and what clocks show stays the same over them.
///
/// ```
/// use treepie::value::Dates;
/// use treepie::{Field, FieldKind, Schema, Timestamp};
/// use treepie::query::{ParseOptions, parse};
///
/// let schema = Schema::builder().field(Field::new("since", FieldKind::Date)).build()?;
/// let dates = Dates::new().now("2024-03-31T12:00Z".parse::<Timestamp>()?).zone("+02:00".parse()?);
/// let query = parse("since:>=now-1d/d", &ParseOptions::default())?.at(&schema, &dates)?;
/// assert_eq!(query.to_string(), r#"since:["2024-03-29T22:00:00.000000Z" TO *]"#);
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dates {
    now: Option<Timestamp>,
    /// Time zone, if it is not that of each field.
    zone: Option<Zone>,
}

impl Dates {
    /// Dates in UTC, and nothing known of now.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says when now is.
    #[must_use]
    pub fn now(mut self, now: impl Into<Timestamp>) -> Self {
        self.now = Some(now.into());
        self
    }

    /// Says in which zone dates without an offset are (default: that of their [field](crate::Field::zone)).
    #[must_use]
    pub fn zone(mut self, zone: Zone) -> Self {
        self.zone = Some(zone);
        self
    }

    /// Whether all dates are of one zone.
    pub(crate) fn has_zone(&self) -> bool {
        self.zone.is_some()
    }

    /// The moment that a text begins with in a field, if that is one of dates; any other value, and those of other fields,
    /// as they are.
    pub(crate) fn moment(&self, value: &Value, field: &Field) -> Result<Value, NotTaken> {
        match value {
            Value::Text(text) if field.kind == FieldKind::Date => {
                let micros = self.micros(text, field.zone.as_deref())?;
                Ok(Value::Date(Timestamp::of_code(*micros.start())))
            }
            other => Ok(other.clone()),
        }
    }

    /// The zone that dates of a field are in.
    pub(crate) fn zone_of(&self, field: &Field) -> Result<Zone, NotTaken> {
        match &self.zone {
            Some(zone) => Ok(zone.clone()),
            None => Zone::of_field(field.zone.as_deref()),
        }
    }

    /// The microseconds that a text means in a field of this zone.
    pub(crate) fn micros(
        &self,
        text: &str,
        of_field: Option<&str>,
    ) -> Result<RangeInclusive<i64>, NotTaken> {
        let zone = match (&self.zone, of_field) {
            (Some(zone), _) => zone,
            (None, of_field) => &Zone::of_field(of_field)?,
        };
        match date::after_now(text) {
            None => date::micros_in(text, zone),
            Some(steps) => {
                let now = self.now.ok_or_else(|| date::without_now(text))?;
                from_now(now.as_micros(), steps, zone).ok_or_else(|| NotTaken {
                    expected: "now, then steps as +1y, -2M, +3w, -4d, +5h, -6m or +7s, then /d or the like, up to the ends of the years -9999 to 9999".into(),
                    found: format!("'{}'", text.trim()),
                })
            }
        }
    }
}

/// Times that `-1M/d` means behind `now`; `None` for a text without a meaning, or beyond all dates.
fn from_now(now: i64, steps: &str, zone: &Zone) -> Option<RangeInclusive<i64>> {
    let (mut steps, open) = match steps.split_once('/') {
        Some((steps, unit)) => (steps, Some(interval(unit)?)),
        None => (steps, None),
    };
    let mut at = now;
    while !steps.is_empty() {
        let n_sign = steps.strip_prefix(['+', '-']).map(|_| 1)?;
        let n_digits = steps[n_sign..].bytes().take_while(u8::is_ascii_digit).count();
        let number: i64 = steps[..n_sign + n_digits].parse().ok()?;
        let mut rest = steps[n_sign + n_digits..].chars();
        at = zone.moved(at, span(number, rest.next()?)?)?;
        steps = rest.as_str();
    }
    match open {
        None => Some(at..=at),
        Some(Unit::Second) => {
            let first = at.div_euclid(date::MICROS_PER_SECOND) * date::MICROS_PER_SECOND;
            Some(first..=first + date::MICROS_PER_SECOND - 1)
        }
        Some(Unit::Interval(interval)) => {
            let calendar = Calendar::new(interval, zone.clone());
            let first = calendar.start(at);
            let last = calendar.next(first).map_or(date::ends().1, |next| next - 1);
            Some(first..=last)
        }
    }
}

/// Unit behind the slash.
enum Unit {
    Interval(Interval),
    Second,
}

fn interval(unit: &str) -> Option<Unit> {
    Some(Unit::Interval(match unit {
        "y" => Interval::Year,
        "M" => Interval::Month,
        "w" => Interval::Week,
        "d" => Interval::Day,
        "h" => Interval::Hour,
        "m" => Interval::Minute,
        "s" => return Some(Unit::Second),
        _ => return None,
    }))
}

/// Span of so many of a unit; `None` for more than there can be between two dates.
fn span(number: i64, unit: char) -> Option<Span> {
    let zero = Span::new();
    match unit {
        'y' => zero.try_years(number),
        'M' => zero.try_months(number),
        'w' => zero.try_weeks(number),
        'd' => zero.try_days(number),
        'h' => zero.try_hours(number),
        'm' => zero.try_minutes(number),
        's' => zero.try_seconds(number),
        _ => return None,
    }
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(dates: &Dates, text: &str) -> Result<String, String> {
        let span = dates
            .micros(text, None)
            .map_err(|wrong| format!("{} {}", wrong.expected, wrong.found))?;
        let [first, last] =
            [span.start(), span.end()].map(|at| Timestamp::of_code(*at).to_string());
        Ok(if first == last { first } else { format!("{first} {last}") })
    }

    #[test]
    fn now_is_moved_and_left_open() {
        let now: Timestamp = "2024-03-31T12:34:56.789Z".parse().unwrap();
        let dates = Dates::new().now(now);
        for (text, expected) in [
            ("now", "2024-03-31T12:34:56.789Z"),
            (" now-7d ", "2024-03-24T12:34:56.789Z"),
            ("now-1M", "2024-02-29T12:34:56.789Z"),
            ("now+1y-1d+2h", "2025-03-30T14:34:56.789Z"),
            ("now/d", "2024-03-31T00:00:00Z 2024-03-31T23:59:59.999999Z"),
            ("now-1M/M", "2024-02-01T00:00:00Z 2024-02-29T23:59:59.999999Z"),
            ("now/w", "2024-03-25T00:00:00Z 2024-03-31T23:59:59.999999Z"),
            ("now/y", "2024-01-01T00:00:00Z 2024-12-31T23:59:59.999999Z"),
            ("now/h", "2024-03-31T12:00:00Z 2024-03-31T12:59:59.999999Z"),
            ("now-60s/m", "2024-03-31T12:33:00Z 2024-03-31T12:33:59.999999Z"),
            ("now/s", "2024-03-31T12:34:56Z 2024-03-31T12:34:56.999999Z"),
            ("2010-12", "2010-12-01T00:00:00Z 2010-12-31T23:59:59.999999Z"),
        ] {
            assert_eq!(shown(&dates, text).as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "now-",
            "now-d",
            "now-1",
            "now7d",
            "now-1x",
            "now/",
            "now/q",
            "now/d/d",
            "now/d-1d",
            "now--1d",
            "now-99999y",
            "now+99999999999999999999d",
            "nowadays",
            "now -1d",
        ] {
            let message = shown(&dates, text).unwrap_err();
            assert!(message.contains(&format!("'{text}'")), "{message}");
        }
        let message = shown(&Dates::new(), "now-7d").unwrap_err();
        assert!(message.contains("when now is"), "{message}");
    }

    #[cfg(feature = "zones")]
    #[test]
    fn dates_are_those_of_the_clocks_of_a_zone() {
        let now: Timestamp = "2024-03-31T12:00Z".parse().unwrap();
        let dates = Dates::new().now(now).zone("Europe/Berlin".parse().unwrap());
        for (text, expected) in [
            // A day of 23 hours, one of 25, and both sides of them.
            ("2024-03-31", "2024-03-30T23:00:00Z 2024-03-31T21:59:59.999999Z"),
            ("2024-10-27", "2024-10-26T22:00:00Z 2024-10-27T22:59:59.999999Z"),
            ("2024-03", "2024-02-29T23:00:00Z 2024-03-31T21:59:59.999999Z"),
            ("2024", "2023-12-31T23:00:00Z 2024-12-31T22:59:59.999999Z"),
            ("2024-03-31T01:59", "2024-03-31T00:59:00Z 2024-03-31T00:59:59.999999Z"),
            ("2024-03-31T03", "2024-03-31T01:00:00Z 2024-03-31T01:59:59.999999Z"),
            // The first of an hour that comes twice.
            ("2024-10-27T02:30", "2024-10-27T00:30:00Z 2024-10-27T00:30:59.999999Z"),
            ("2024-10-27T02:30+01:00", "2024-10-27T01:30:00Z 2024-10-27T01:30:59.999999Z"),
            ("now-1d", "2024-03-30T13:00:00Z"),
            ("now-24h", "2024-03-30T12:00:00Z"),
            ("now/d", "2024-03-30T23:00:00Z 2024-03-31T21:59:59.999999Z"),
            ("9999-12-31", "9999-12-30T23:00:00Z 9999-12-31T23:59:59.999999Z"),
        ] {
            if text.starts_with("9999") {
                assert!(shown(&dates, text).is_ok(), "{text}");
                continue;
            }
            assert_eq!(shown(&dates, text).as_deref(), Ok(expected), "{text}");
        }
        let message = shown(&dates, "2024-03-31T02:30").unwrap_err();
        assert!(
            message.contains("clocks of Europe/Berlin") && message.contains("02:30"),
            "{message}"
        );
        // Back from 00:01 to 23:01, over midnight: the day has begun, and goes on.
        let dates = Dates::new().now("2010-11-07T02:45Z".parse::<Timestamp>().unwrap());
        let dates = dates.zone("America/St_Johns".parse().unwrap());
        let day = "2010-11-07T02:30:00Z 2010-11-08T03:29:59.999999Z";
        for (text, expected) in [
            ("2010-11-07", day),
            ("now/d", day),
            ("2010-11-06", "2010-11-06T02:30:00Z 2010-11-07T02:29:59.999999Z"),
        ] {
            assert_eq!(shown(&dates, text).as_deref(), Ok(expected), "{text}");
        }
        // Over the date line, without a day.
        let dates = Dates::new().zone("Pacific/Apia".parse().unwrap());
        let message = shown(&dates, "2011-12-30").unwrap_err();
        assert!(
            message.contains("a day that clocks of Pacific/Apia show")
                && message.contains("2011-12-30"),
            "{message}"
        );
        let days = ["2011-12-29", "2011-12-31"].map(|day| shown(&dates, day).unwrap());
        assert_eq!(days[0], "2011-12-29T10:00:00Z 2011-12-30T09:59:59.999999Z");
        assert_eq!(days[1], "2011-12-30T10:00:00Z 2011-12-31T09:59:59.999999Z");
    }

    #[test]
    fn zones_are_named_or_refused() {
        for name in ["UTC", "Z", "+05:30", "-11:00", "+00:00"] {
            assert!(name.parse::<Zone>().is_ok(), "{name}");
        }
        let dates = Dates::new().zone("-05:30".parse().unwrap());
        let day = "2010-12-01T05:30:00Z 2010-12-02T05:29:59.999999Z";
        assert_eq!(shown(&dates, "2010-12-01").as_deref(), Ok(day));
        for name in ["", "Mars/Olympus", "+5:30", "+24:00", "+05:60", "05:30", "+0530", "local"] {
            let error = name.parse::<Zone>().unwrap_err().to_string();
            assert!(error.contains(&format!("found '{name}'")), "{error}");
        }
    }
}
