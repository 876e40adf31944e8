//! Intervals of the calendar.

use super::date::{self, MICROS_PER_DAY, MICROS_PER_SECOND};
use super::zone::Zone;
use crate::error::{Error, ErrorKind, Result};
use jiff::civil::{Date, Weekday};
use std::fmt;
use std::str::FromStr;

/// Intervals of the Gregorian calendar, for all years; weeks begin on Mondays.
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

    /// All of them.
    pub(crate) fn shortest_first() -> impl Iterator<Item = Interval> {
        Self::ALL.into_iter().rev()
    }

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
            // The first week that there is lacks some days.
            Interval::Week if date.weekday() != Weekday::Monday => {
                Some(date.nth_weekday(-1, Weekday::Monday).unwrap_or(Date::MIN))
            }
            Interval::Week | Interval::Day | Interval::Hour | Interval::Minute => None,
        };
        start.map_or(of_step, date::midnight)
    }

    /// The first microsecond of the next interval; `None` if there is none.
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

/// Intervals of the calendar as the clocks of a zone show it.
///
/// They follow each other without a gap, up to both ends of time, and none has two pieces. Days and longer ones begin with the
/// moment when clocks first show a day, so that some are longer or shorter than others; where clocks are put back over midnight,
/// what they show again of the day before belongs to the day that has begun. Hours and minutes begin where clocks show a whole
/// one; if they are put forward or back within one, it ends there, and of an hour that comes twice each is one by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Calendar {
    interval: Interval,
    zone: Zone,
    /// Several years at once; 1 of all other intervals.
    n_years: i16,
}

impl Calendar {
    pub(crate) fn new(interval: Interval, zone: Zone) -> Self {
        Calendar { interval, zone, n_years: 1 }
    }

    /// Interval of so many years, from a multiple of that on.
    pub(crate) fn of_years(n: i16, zone: Zone) -> Self {
        Calendar { n_years: n.max(1), ..Calendar::new(Interval::Year, zone) }
    }

    /// Zone whose clocks show the intervals.
    pub(crate) fn zone(&self) -> &Zone {
        &self.zone
    }

    /// The first of the years at once that a date is in, which may be before all that there are.
    fn first_year(&self, micros: i64) -> Option<i16> {
        let year = self.zone.day(micros).year();
        year.div_euclid(self.n_years).checked_mul(self.n_years)
    }

    /// The microsecond that the interval begins with which this one is in; the first that there is, if it began before.
    pub(crate) fn start(&self, micros: i64) -> i64 {
        if self.n_years > 1 {
            let first = self.first_year(micros).and_then(|year| Date::new(year, 1, 1).ok());
            return self.zone.start_of(first.unwrap_or(Date::MIN));
        }
        if self.zone.is_utc() {
            return self.interval.start(micros);
        }
        match self.step() {
            Some(step) => {
                let ahead = self.zone.ahead(micros);
                let start = (micros + ahead).div_euclid(step) * step - ahead;
                let change = self.zone.changes_around(micros).0;
                change.map_or(start, |change| start.max(change)).max(date::ends().0)
            }
            None => self.zone.start_of(self.first_day(micros)),
        }
    }

    /// The first microsecond of the next interval; `None` if there is none.
    pub(crate) fn next(&self, start: i64) -> Option<i64> {
        if self.n_years > 1 {
            let year = self.first_year(start)?.checked_add(self.n_years)?;
            return Date::new(year, 1, 1).ok().and_then(|first| inside(self.zone.start_of(first)));
        }
        if self.zone.is_utc() {
            return self.interval.next(start);
        }
        match self.step() {
            Some(step) => {
                let ahead = self.zone.ahead(start);
                let next = ((start + ahead).div_euclid(step) + 1) * step - ahead;
                let change = self.zone.changes_around(start).1;
                inside(change.map_or(next, |change| next.min(change)))
            }
            None => {
                let mut first = self.first_day(start);
                loop {
                    let next = self.interval.next(date::midnight(first))?;
                    first = date::civil(next)?.date();
                    let next = self.zone.start_of(first);
                    // A day that clocks were put forward over has no moment of its own.
                    if next > start {
                        return inside(next);
                    }
                }
            }
        }
    }

    /// The day that the interval of a moment begins with.
    fn first_day(&self, micros: i64) -> Date {
        let day = self.zone.day(micros);
        let first = self.interval.start(date::midnight(day));
        date::civil(first).map_or(day, |civil| civil.date())
    }

    /// Length of an interval that is no day and not made of any.
    fn step(&self) -> Option<i64> {
        match self.interval {
            Interval::Hour => Some(3_600 * MICROS_PER_SECOND),
            Interval::Minute => Some(60 * MICROS_PER_SECOND),
            _ => None,
        }
    }
}

impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.n_years {
            1 => self.interval.fmt(f)?,
            n => write!(f, "{n} years")?,
        }
        if self.zone.is_utc() { Ok(()) } else { write!(f, " of {}", self.zone) }
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

    #[cfg(feature = "zones")]
    #[test]
    fn intervals_of_a_zone_follow_each_other_and_begin_where_its_clocks_say() {
        use jiff::Timestamp as Moment;
        let zones = [
            "Europe/Berlin",
            "Australia/Lord_Howe", // Puts clocks forward by half an hour.
            "America/Havana",      // Its clocks go back at one, to midnight.
            "America/Sao_Paulo",   // They went forward at midnight.
            "Pacific/Apia",        // Left out a day.
            "Asia/Kathmandu",
            "+05:30",
        ];
        let mut n = 0u64;
        let years = (1960..2030).map(|year| format!("{year}-01-01T00:00:00Z"));
        let starts: Vec<i64> = years.map(|year| micros(&year)).collect();
        for (zone, interval) in zones.into_iter().flat_map(|z| Interval::ALL.map(|i| (z, i))) {
            let calendar = Calendar::new(interval, zone.parse().unwrap());
            let name = zone.trim_start_matches("+05:30");
            let bundled = jiff::tz::TimeZoneDatabase::bundled();
            let tz = match name {
                "" => jiff::tz::TimeZone::fixed(jiff::tz::Offset::constant(0)),
                name => bundled.get(name).unwrap(),
            };
            for &year in &starts {
                // Near a change, where there is one, and anywhere.
                n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let any = year + (n >> 14) as i64 % (366 * MICROS_PER_DAY);
                let change = tz.following(Moment::from_microsecond(year).unwrap()).next();
                let change = change.map_or(any, |change| change.timestamp().as_microsecond());
                let nears = [-1, 0, 1, 1_800_000_000, -1_800_000_000, 5_400_000_000];
                for at in nears.map(|by| change + by).into_iter().chain([any]) {
                    let start = calendar.start(at);
                    let next = calendar.next(start).unwrap();
                    assert!(start <= at && at < next, "{zone} {interval} {at}: {start} to {next}");
                    assert_eq!(calendar.start(start), start, "{zone} {interval} {at}");
                    assert_eq!(calendar.start(next - 1), start, "{zone} {interval} {at}");
                    assert_eq!(calendar.start(next), next, "{zone} {interval} {at}");
                    if name.is_empty() {
                        continue;
                    }
                    // Jiff's answer for the same moment.
                    let zoned = Moment::from_microsecond(at).unwrap().to_zoned(tz.clone());
                    let first = match interval {
                        Interval::Year => zoned.first_of_year().unwrap().start_of_day().unwrap(),
                        Interval::Month => zoned.first_of_month().unwrap().start_of_day().unwrap(),
                        Interval::Day => zoned.start_of_day().unwrap(),
                        _ => continue,
                    };
                    assert_eq!(start, first.timestamp().as_microsecond(), "{zone} {interval} {at}");
                }
            }
        }
    }

    /// Checks laws of a moment in any calendar, and of the interval that it is in.
    fn check_laws(calendar: &Calendar, at: i64) -> (i64, Option<i64>) {
        let start = calendar.start(at);
        let next = calendar.next(start);
        let told = || format!("{calendar} at {at}: {start} to {next:?}");
        assert!(date::ends().0 <= start && start <= at, "{}", told());
        assert_eq!(calendar.start(start), start, "{}", told());
        if let Some(next) = next {
            assert!(at < next && next <= date::ends().1, "{}", told());
            assert_eq!(calendar.start(next), next, "{}", told());
            assert_eq!(calendar.start(next - 1), start, "{}", told());
        }
        (start, next)
    }

    #[cfg(feature = "zones")]
    #[test]
    fn a_day_begins_when_clocks_first_show_it_wherever_they_are_put_back_or_forward() {
        use jiff::Timestamp as Moment;
        const HOUR: i64 = 3_600 * MICROS_PER_SECOND;
        let bundled = jiff::tz::TimeZoneDatabase::bundled();
        for name in [
            "America/St_Johns", // Back from 00:01 to 23:01 of the day before.
            "America/Toronto",  // In 1919 forward from 23:30 to 00:30.
            "America/Havana",
            "America/Sao_Paulo",
            "America/Juneau", // Had a day twice in 1867.
            "Asia/Beirut",
            "Asia/Gaza",
            "Africa/Cairo",
            "Africa/Casablanca",
            "Pacific/Apia",
            "Pacific/Kwajalein",
            "Australia/Lord_Howe",
        ] {
            let zone: Zone = name.parse().unwrap();
            let tz = bundled.get(name).unwrap();
            let shown = |at: i64| tz.to_datetime(Moment::from_microsecond(at).unwrap()).date();
            let from = Moment::from_microsecond(micros("1850-01-01")).unwrap();
            let changes = tz.following(from).map(|change| change.timestamp().as_microsecond());
            // Afterwards all years are alike.
            for change in changes.take_while(|change| *change < micros("2045-01-01")) {
                let mut points: Vec<i64> = (-60..=60).map(|n| change + n * HOUR / 2).collect();
                points.extend([change - 1, change + 1]);
                points.sort_unstable();
                let mut latest = shown(points[0] - 30 * HOUR);
                let mut before: Option<(Date, [i64; 5])> = None;
                for at in points {
                    latest = latest.max(shown(at));
                    assert_eq!(zone.day(at), latest, "{name} at {at}");
                    let of_days = [0, 1, 2, 3, 4].map(|n| Interval::ALL[n]);
                    let starts = of_days.map(|interval| {
                        let calendar = Calendar::new(interval, zone.clone());
                        calendar.start(at)
                    });
                    if let Some((day, others)) = before {
                        for n in 0..5 {
                            let of_utc = |day| of_days[n].start(date::midnight(day));
                            let is_same = of_utc(day) == of_utc(latest);
                            assert_eq!(others[n] == starts[n], is_same, "{name} at {at}");
                        }
                    }
                    before = Some((latest, starts));
                }
                for by in [-25 * HOUR, -HOUR / 2, -1, 0, 1, HOUR / 2, 23 * HOUR, 25 * HOUR] {
                    for interval in Interval::ALL {
                        check_laws(&Calendar::new(interval, zone.clone()), change + by);
                    }
                }
            }
        }
    }

    #[test]
    fn intervals_of_zones_tile_time_up_to_both_ends() {
        let (first, last) = date::ends();
        let mut zones = vec!["UTC", "+14:00", "-12:00", "+05:30", "-00:44", "+23:59", "-23:59"];
        if cfg!(feature = "zones") {
            zones.extend(["America/New_York", "Pacific/Apia", "Australia/Sydney"]);
        }
        for (zone, interval) in zones.into_iter().flat_map(|z| Interval::ALL.map(|i| (z, i))) {
            let calendar = Calendar::new(interval, zone.parse().unwrap());
            for n in 0..150 {
                let (into, mut ends) = (n * 1_800 * MICROS_PER_SECOND + n % 3, vec![]);
                for at in [first + into, last - into] {
                    ends.push(check_laws(&calendar, at));
                }
                if n == 0 {
                    assert_eq!((ends[0].0, ends[1].1), (first, None), "{calendar}");
                }
            }
        }
    }

    #[test]
    fn several_years_begin_at_their_multiples() {
        let decade = Calendar::of_years(10, Zone::utc());
        for (inside, start, next) in [
            ("1999-12-31T23:59:59Z", "1990-01-01", "2000-01-01"),
            ("2000-01-01", "2000-01-01", "2010-01-01"),
            ("-000001-07-01", "-000010-01-01", "0000-01-01"),
        ] {
            assert_eq!(decade.start(micros(inside)), micros(start), "{inside}");
            assert_eq!(decade.next(micros(start)), Some(micros(next)), "{inside}");
        }
        assert_eq!(decade.next(micros("9990-01-01")), None);
        let first = date::ends().0;
        assert_eq!(
            (decade.start(first), Calendar::of_years(10_000, Zone::utc()).start(first)),
            (first, first)
        );
        assert_eq!(decade.next(first), Some(micros("-009990-01-01")));
        assert_eq!(decade.to_string(), "10 years");
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
