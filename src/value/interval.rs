//! Intervals of the calendar.

use super::date::{self, MICROS_PER_DAY, MICROS_PER_SECOND};
use crate::error::{Error, ErrorKind, Result};
use jiff::civil::{Date, Weekday};
use std::fmt;
use std::str::FromStr;

/// Intervals of the calendar in UTC, as the Gregorian calendar has them for all years; weeks begin on Mondays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Interval {
    /// From January 1.
    Year,
    /// Three months.
    Quarter,
    /// From the first day of a month.
    Month,
    /// From Monday.
    Week,
    /// From midnight.
    Day,
    /// Sixty minutes.
    Hour,
    /// Sixty seconds.
    Minute,
}

impl Interval {
    const ALL: [Interval; 7] = [
        Interval::Year,
        Interval::Quarter,
        Interval::Month,
        Interval::Week,
        Interval::Day,
        Interval::Hour,
        Interval::Minute,
    ];

    /// The name that the command line and plans use.
    pub fn name(self) -> &'static str {
        match self {
            Interval::Year => "year",
            Interval::Quarter => "quarter",
            Interval::Month => "month",
            Interval::Week => "week",
            Interval::Day => "day",
            Interval::Hour => "hour",
            Interval::Minute => "minute",
        }
    }

    /// The microsecond that the interval begins with which this one is in; the first that there is, if it began before.
    pub(crate) fn start(self, micros: i64) -> i64 {
        let step = match self {
            Interval::Minute => 60 * MICROS_PER_SECOND,
            Interval::Hour => 3_600 * MICROS_PER_SECOND,
            _ => MICROS_PER_DAY,
        };
        let of_step = micros.div_euclid(step).saturating_mul(step);
        let Some(date) = date::civil(micros).map(|civil| civil.date()) else { return of_step };
        let first = |month: i8| Date::new(date.year(), month, 1).ok();
        let start = match self {
            Interval::Year => first(1),
            Interval::Quarter => first((date.month() - 1) / 3 * 3 + 1),
            Interval::Month => first(date.month()),
            // Of the first week that there is not all days are there.
            Interval::Week if date.weekday() != Weekday::Monday => {
                Some(date.nth_weekday(-1, Weekday::Monday).unwrap_or(Date::MIN))
            }
            Interval::Week | Interval::Day | Interval::Hour | Interval::Minute => None,
        };
        start.map_or(of_step, date::midnight)
    }

    /// The first microsecond of the next interval; `None` where there is none.
    pub(crate) fn next(self, start: i64) -> Option<i64> {
        // Longer than the longest of its kind, and shorter than two.
        let days = match self {
            Interval::Year => 370,
            Interval::Quarter => 95,
            Interval::Month => 32,
            Interval::Week => 7,
            Interval::Day => 1,
            Interval::Hour => return inside(start.checked_add(3_600 * MICROS_PER_SECOND)?),
            Interval::Minute => return inside(start.checked_add(60 * MICROS_PER_SECOND)?),
        };
        inside(start.checked_add(days * MICROS_PER_DAY)?).map(|in_next| self.start(in_next))
    }
}

fn inside(micros: i64) -> Option<i64> {
    date::civil(micros).map(|_| micros)
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Interval {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|interval| interval.name() == text).ok_or_else(|| {
            Error::new(ErrorKind::Usage, "reading an interval")
                .expected(Self::ALL.map(Interval::name).join(", "))
                .found(format!("'{text}'"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Timestamp;

    fn micros(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_micros()
    }

    #[test]
    fn intervals_begin_where_the_calendar_says_and_follow_each_other() {
        let cases = [
            (Interval::Year, "2012-02-29T13:45:59Z", "2012-01-01", "2013-01-01"),
            (Interval::Quarter, "2012-06-30", "2012-04-01", "2012-07-01"),
            (Interval::Quarter, "2012-12-31", "2012-10-01", "2013-01-01"),
            (Interval::Month, "2012-02-29", "2012-02-01", "2012-03-01"),
            (Interval::Month, "2012-01-31", "2012-01-01", "2012-02-01"),
            (Interval::Week, "2012-02-29", "2012-02-27", "2012-03-05"),
            (Interval::Week, "2012-02-27", "2012-02-27", "2012-03-05"),
            (Interval::Week, "1969-12-31T23:59:59.5Z", "1969-12-29", "1970-01-05"),
            (Interval::Day, "1969-12-31T23:59:59.5Z", "1969-12-31", "1970-01-01"),
            (Interval::Hour, "1969-12-31T22:30Z", "1969-12-31T22:00Z", "1969-12-31T23:00Z"),
            (Interval::Minute, "2012-01-01T00:00:59Z", "2012-01-01T00:00Z", "2012-01-01T00:01Z"),
            (Interval::Year, "-000001-07-01", "-000001-01-01", "0000-01-01"),
        ];
        for (interval, inside, start, next) in cases {
            let (inside, start, next) = (micros(inside), micros(start), micros(next));
            assert_eq!(interval.start(inside), start, "{interval}");
            assert_eq!(interval.next(start), Some(next), "{interval}");
            assert_eq!(interval.start(next), next, "{interval}");
        }
        assert_eq!(Interval::Month.next(micros("9999-12-01")), None);
        assert_eq!(Interval::Year.next(micros("9999-01-01")), None);
        let first = date::ends().0;
        for interval in Interval::ALL {
            assert_eq!(interval.start(first), first, "{interval}");
            assert!(interval.next(first).is_some_and(|next| interval.start(next) == next));
            assert_eq!(interval.name().parse::<Interval>().unwrap(), interval);
        }
        assert!("fortnight".parse::<Interval>().is_err());
    }
}
