//! Points in time: as text, and as microseconds.

use super::typed::NotTaken;
use super::zone::Zone;
use crate::error::{Error, Result};
use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::rfc2822;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) const MICROS_PER_SECOND: i64 = 1_000_000;
pub(super) const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// Microseconds from the beginning of 1970 to a time in UTC; what is less than one is left out.
pub(super) fn in_utc(civil: DateTime) -> i64 {
    let since = civil.duration_since(Date::constant(1970, 1, 1).to_datetime(Time::midnight()));
    let nanos = i128::from(since.as_secs()) * 1_000_000_000 + i128::from(since.subsec_nanos());
    nanos.div_euclid(1_000) as i64
}

/// The first and the last microsecond that there are.
pub(super) fn ends() -> (i64, i64) {
    (in_utc(DateTime::MIN), in_utc(DateTime::MAX))
}

/// The time in UTC, if there is one.
pub(super) fn civil(micros: i64) -> Option<DateTime> {
    let epoch = Date::constant(1970, 1, 1).to_datetime(Time::midnight());
    epoch.checked_add(SignedDuration::from_micros(micros)).ok()
}

/// The microsecond that a day begins with in UTC.
pub(super) fn midnight(date: Date) -> i64 {
    in_utc(date.to_datetime(Time::midnight()))
}

/// A point in time, to the microsecond, of the years -9999 to 9999.
///
/// ```
/// use treepie::Timestamp;
///
/// let date: Timestamp = "2010-12-01 08:26+01:00".parse()?;
/// assert_eq!(date.to_string(), "2010-12-01T07:26:00Z");
/// assert_eq!(date.as_micros(), 1_291_188_360_000_000);
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Converts microseconds since 1970 (UTC), negative before. `None` outside of the years -9999 to 9999.
    pub fn from_micros(micros: i64) -> Option<Self> {
        let (first, last) = ends();
        (first..=last).contains(&micros).then_some(Timestamp(micros))
    }

    /// Microseconds since 1970 began (UTC).
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// In UTC with all six digits behind the second, so that as a query it means nothing else.
    pub(super) fn to_exact_text(self) -> String {
        civil(self.0).map_or_else(|| self.to_string(), |civil| format!("{civil:.6}Z"))
    }

    /// The code of a point in time, given in microseconds.
    pub(crate) fn code_of_micros(micros: i64) -> u64 {
        super::typed::of_i64(micros)
    }

    /// The point in time that a code of the module `typed` stands for, if there is one.
    pub(crate) fn from_code(code: u64) -> Option<Self> {
        Self::from_micros(super::typed::to_i64(code))
    }

    /// Timestamp of a code, if nothing says that it is within those years.
    pub(super) fn of_code(micros: i64) -> Self {
        Timestamp(micros)
    }
}

/// In UTC as RFC 3339 has it, with as many digits behind the second as there are.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match civil(self.0) {
            Some(civil) => write!(f, "{civil}Z"),
            // Only of damaged bytes.
            None => write!(f, "{} µs", self.0),
        }
    }
}

/// The first microsecond of what the text says: RFC 3339 and ISO 8601, to the day, month or year, too, and the dates of
/// mails (RFC 2822). Without an offset it is UTC. More digits behind the second than a microsecond has are rounded to the nearest,
/// and a leap second, `23:59:60`, is the first of the next minute.
impl FromStr for Timestamp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let span = micros(text).map_err(|wrong| wrong.into_error("reading a date"))?;
        Ok(Timestamp(*span.start()))
    }
}

/// Times outside of the years that there are become the nearest that is inside; what is less than a microsecond is left out.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let nanos = |since: Duration| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX);
        let nanos = match time.duration_since(UNIX_EPOCH) {
            Ok(since) => nanos(since),
            Err(before) => -nanos(before.duration()),
        };
        let (first, last) = ends();
        let micros = nanos.div_euclid(1_000).clamp(first.into(), last.into());
        Timestamp(micros as i64)
    }
}

/// The microseconds that a text means, as precise as it is: a day is all of its microseconds. More than six digits behind the second are
/// rounded, and the second 60 is the first of the next minute, both as Postgres has it.
pub(super) fn micros(text: &str) -> std::result::Result<RangeInclusive<i64>, NotTaken> {
    match after_now(text) {
        Some(_) => Err(without_now(text)),
        None => micros_in(text, &Zone::utc()),
    }
}

/// Text behind `now`, if it begins so.
pub(super) fn after_now(text: &str) -> Option<&str> {
    text.trim().strip_prefix("now")
}

/// Why a text that begins with `now` is none of a date.
pub(super) fn without_now(text: &str) -> NotTaken {
    NotTaken {
        expected: "a date, as nobody said when now is (Query::at does)".into(),
        found: format!("'{}'", text.trim()),
    }
}

/// Reads a text, which is of a zone if it has no offset.
pub(super) fn micros_in(
    text: &str,
    zone: &Zone,
) -> std::result::Result<RangeInclusive<i64>, NotTaken> {
    let text = text.trim();
    let not_taken = |why: Option<jiff::Error>| NotTaken {
        expected: "a date as 2010-12-01T08:26:00Z, 2010-12-01 08:26, 2010-12-01, 2010-12 or 2010"
            .into(),
        found: match why {
            Some(why) => format!("'{text}' ({why})"),
            None => format!("'{text}'"),
        },
    };
    let (first_end, last_end) = ends();
    if let Some((first, next)) = year_or_month(text) {
        return Ok(zone.start_of(first)..=next.map_or(last_end, |next| zone.start_of(next) - 1));
    }
    let between = |first: i64, len: i64| match (first_end..=last_end).contains(&first) {
        true => Ok(first..=first.saturating_add(len - 1).min(last_end)),
        false => Err(not_taken(None)),
    };
    let pieces = match Pieces::parse(text) {
        Ok(pieces) => pieces,
        Err(why) => {
            // The dates of mails begin with a day of the week or of the month.
            let of_mail = rfc2822::parse(text).map_err(|_| not_taken(Some(why)))?;
            let minutes = text.bytes().filter(|byte| *byte == b':').count() < 2;
            let len = if minutes { 60 * MICROS_PER_SECOND } else { MICROS_PER_SECOND };
            let civil = of_mail.datetime();
            let is_leap = text.split(':').nth(2).is_some_and(|second| second.starts_with("60"));
            let second = if is_leap { MICROS_PER_SECOND } else { 0 };
            return between(in_utc(civil) - micros_of(of_mail.offset()) + second, len);
        }
    };
    if pieces.time_zone_annotation().is_some() {
        return Err(NotTaken {
            expected: "a date in UTC or with an offset".into(),
            found: format!("'{text}', which names a time zone"),
        });
    }
    let (time, offset) = (pieces.time(), pieces.to_numeric_offset());
    let civil = pieces.date().to_datetime(time.unwrap_or(Time::midnight()));
    // Microseconds that the time as it was read lacks.
    let rest = i64::from(civil.subsec_nanosecond() % 1_000 >= 500)
        + if has_leap_second(text) { MICROS_PER_SECOND } else { 0 };
    match (time, offset) {
        (Some(_), None) => between(zone.moment(civil)? + rest, precision(text)),
        // A day of the zone may be longer than others, or shorter.
        (None, None) => {
            let first = zone.start_of(pieces.date());
            let next = pieces.date().tomorrow().ok().map(|next| zone.start_of(next));
            if next == Some(first) {
                return Err(NotTaken {
                    expected: format!("a day that clocks of {zone} show").into(),
                    found: format!("{}, which they are put forward over", pieces.date()),
                });
            }
            between(first, next.map_or(2 * MICROS_PER_DAY, |next| next - first))
        }
        (time, Some(offset)) => {
            let len = time.map_or(MICROS_PER_DAY, |_| precision(text));
            between(in_utc(civil) - micros_of(offset) + rest, len)
        }
    }
}

fn micros_of(offset: Offset) -> i64 {
    i64::from(offset.seconds()) * MICROS_PER_SECOND
}

/// The first day of a year, `2010`, or of a month, `2010-12`, and of the next one, if there is one.
fn year_or_month(text: &str) -> Option<(Date, Option<Date>)> {
    let number = |digits: &str, n: usize| {
        let are_digits = digits.len() == n && digits.bytes().all(|byte| byte.is_ascii_digit());
        are_digits.then(|| digits.parse::<i16>().ok()).flatten()
    };
    let date = |year: i16, month: i16| Date::new(year, i8::try_from(month).ok()?, 1).ok();
    if let Some(year) = number(text, 4) {
        return Some((date(year, 1)?, date(year + 1, 1)));
    }
    let (year, month) = text.split_once('-')?;
    let (year, month) = (number(year, 4)?, number(month, 2)?);
    let next = if month == 12 { date(year + 1, 1) } else { date(year, month + 1) };
    Some((date(year, month)?, next))
}

/// The time of a text, without a date and an offset.
fn time_of(text: &str) -> &str {
    let time = text.split_once(['T', 't', ' ']).map_or("", |(_, time)| time);
    &time[..time.find(['Z', 'z', '+', '-']).unwrap_or(time.len())]
}

/// Whether the second is 60, which is read as 59.
fn has_leap_second(text: &str) -> bool {
    let time = time_of(text);
    let whole = time.split_once(['.', ',']).map_or(time, |(whole, _)| whole);
    whole.bytes().filter(u8::is_ascii_digit).count() == 6 && whole.ends_with("60")
}

/// Number of microseconds that a text with a time leaves open.
fn precision(text: &str) -> i64 {
    let time = time_of(text);
    if let Some((_, fraction)) = time.split_once(['.', ',']) {
        let digits = fraction.len().min(6) as u32;
        return 10i64.pow(6 - digits);
    }
    let n_digits = time.bytes().filter(u8::is_ascii_digit).count();
    match n_digits {
        0..=2 => 3_600 * MICROS_PER_SECOND,
        3..=4 => 60 * MICROS_PER_SECOND,
        _ => MICROS_PER_SECOND,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> std::result::Result<String, String> {
        let span = micros(text).map_err(|wrong| wrong.found)?;
        let [first, last] = [span.start(), span.end()].map(|at| Timestamp(*at).to_string());
        Ok(format!("{first} {last}"))
    }

    #[test]
    fn a_text_means_as_much_as_it_leaves_open() {
        let cases = [
            ("2010-12-01T08:26:00Z", "2010-12-01T08:26:00Z 2010-12-01T08:26:00.999999Z"),
            ("2010-12-01 08:26", "2010-12-01T08:26:00Z 2010-12-01T08:26:59.999999Z"),
            ("2010-12-01T08:26+01:00", "2010-12-01T07:26:00Z 2010-12-01T07:26:59.999999Z"),
            ("2010-12-01T08:26-0130", "2010-12-01T09:56:00Z 2010-12-01T09:56:59.999999Z"),
            ("2010-12-01T08:26:30.25Z", "2010-12-01T08:26:30.25Z 2010-12-01T08:26:30.259999Z"),
            (
                "2010-12-01T08:26:30.123456789Z",
                "2010-12-01T08:26:30.123457Z 2010-12-01T08:26:30.123457Z",
            ),
            (
                "2010-12-01 08:26:30.1234564",
                "2010-12-01T08:26:30.123456Z 2010-12-01T08:26:30.123456Z",
            ),
            ("2010-12-31 23:59:59.9999995", "2011-01-01T00:00:00Z 2011-01-01T00:00:00Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z 2017-01-01T00:00:00.999999Z"),
            ("20161231T235960", "2017-01-01T00:00:00Z 2017-01-01T00:00:00.999999Z"),
            ("2016-12-31 15:59:60-08:00", "2017-01-01T00:00:00Z 2017-01-01T00:00:00.999999Z"),
            ("2016-12-31 23:59:60.25", "2017-01-01T00:00:00.25Z 2017-01-01T00:00:00.259999Z"),
            ("Sat, 31 Dec 2016 23:59:60 +0000", "2017-01-01T00:00:00Z 2017-01-01T00:00:00.999999Z"),
            ("2016-12-31T23:00:00.60Z", "2016-12-31T23:00:00.6Z 2016-12-31T23:00:00.609999Z"),
            ("2010-12-01T08", "2010-12-01T08:00:00Z 2010-12-01T08:59:59.999999Z"),
            (" 2010-12-01 ", "2010-12-01T00:00:00Z 2010-12-01T23:59:59.999999Z"),
            ("2010-12", "2010-12-01T00:00:00Z 2010-12-31T23:59:59.999999Z"),
            ("2012-02", "2012-02-01T00:00:00Z 2012-02-29T23:59:59.999999Z"),
            ("2010", "2010-01-01T00:00:00Z 2010-12-31T23:59:59.999999Z"),
            ("9999", "9999-01-01T00:00:00Z 9999-12-31T23:59:59.999999Z"),
            ("9999-12-31", "9999-12-31T00:00:00Z 9999-12-31T23:59:59.999999Z"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z 9999-12-31T23:59:59.999999Z"),
            ("-009999-01-01", "-009999-01-01T00:00:00Z -009999-01-01T23:59:59.999999Z"),
            ("1969-12-31T23:59:59.9999999Z", "1970-01-01T00:00:00Z 1970-01-01T00:00:00Z"),
            ("1900-01-01T00:00:00.5Z", "1900-01-01T00:00:00.5Z 1900-01-01T00:00:00.599999Z"),
            ("Wed, 01 Dec 2010 08:26 +0100", "2010-12-01T07:26:00Z 2010-12-01T07:26:59.999999Z"),
            ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z 1969-12-31T23:59:59.999999Z"),
            ("Wed, 01 Dec 2010 08:26:00 +0000", "2010-12-01T08:26:00Z 2010-12-01T08:26:00.999999Z"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn dates_that_do_not_exist_are_refused() {
        for text in [
            "",
            "2010-02-30",
            "2010-13",
            "2010-00",
            "20",
            "12345",
            "2010-12-01T25:00Z",
            "tomorrow",
            "2010-12-01T08:26[Europe/Paris]",
            "01.12.2010",
            "9999-12-31T23:59:59.9999999Z",
            "9999-12-31T23:59:60Z",
            "2010-12-01T08:26:61Z",
        ] {
            let found = shown(text).unwrap_err();
            assert!(found.contains(text), "{found}");
        }
        assert!("2010-02-30".parse::<Timestamp>().unwrap_err().to_string().contains("2010-02-30"));
    }

    #[test]
    fn times_of_the_system_and_microseconds_are_points_in_time() {
        let second_before = UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(Timestamp::from(second_before).as_micros(), -1_000_000);
        let nano_before = UNIX_EPOCH - Duration::from_nanos(1);
        assert_eq!(Timestamp::from(nano_before).as_micros(), -1);
        let half: Timestamp = "2010-12-01T08:26:30.25Z".parse().unwrap();
        assert_eq!(half.to_exact_text(), "2010-12-01T08:26:30.250000Z");
        assert_eq!(Timestamp::from(UNIX_EPOCH).to_string(), "1970-01-01T00:00:00Z");
        assert_eq!(Timestamp::from_micros(i64::MAX), None);
        let far = Timestamp::from(UNIX_EPOCH + Duration::from_secs(1 << 40));
        assert_eq!(Timestamp::from_micros(far.as_micros()), Some(far));
        assert!(Timestamp::of_code(i64::MIN).to_string().ends_with("µs"));
    }
}
