//! Time zones: which moment a date on a wall calendar is.

use super::date::{self, Timestamp};
use super::typed::NotTaken;
use crate::error::{Error, ErrorKind, Result};
use jiff::Timestamp as Moment;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// A time zone: UTC, an offset as `+05:30`, or a name as `Europe/Berlin`.
///
/// Names are those of the IANA database. They need the feature `zones`, with which their rules come with this crate.
///
/// ```
/// use treepie::value::Zone;
///
/// let zone: Zone = "+05:30".parse()?;
/// assert_eq!(zone.to_string(), "+05:30");
/// assert!("Mars/Olympus".parse::<Zone>().unwrap_err().to_string().contains("'Mars/Olympus'"));
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// Coordinated universal time, the default.
    pub fn utc() -> Self {
        Zone { name: "UTC".into(), zone: TimeZone::UTC }
    }

    /// That of a field of dates.
    pub(super) fn of_field(name: Option<&str>) -> std::result::Result<Self, NotTaken> {
        let Some(name) = name else { return Ok(Self::utc()) };
        name.parse().map_err(|_| NotTaken {
            expected: "the time zone of the field to be known to this build".into(),
            found: format!("'{name}'"),
        })
    }

    /// The name that it was given by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes a moment as clocks of the zone show it, with their offset from UTC. Reading it gives the same moment.
    ///
    /// ```
    /// use treepie::value::Zone;
    /// use treepie::Timestamp;
    ///
    /// let zone: Zone = "+05:30".parse()?;
    /// let moment: Timestamp = "2024-02-29T18:30:00Z".parse()?;
    /// assert_eq!(zone.format(moment), "2024-03-01T00:00:00+05:30");
    /// assert_eq!(zone.format(moment).parse::<Timestamp>()?, moment);
    /// assert_eq!(Zone::utc().format(moment), "2024-02-29T18:30:00Z");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn format(&self, moment: Timestamp) -> String {
        let ahead = self.ahead(moment.as_micros());
        let shown = moment.as_micros().checked_add(ahead).and_then(date::civil);
        // Clocks show nothing beyond the years that there are.
        let Some(shown) = shown.filter(|_| !self.is_utc()) else { return moment.to_string() };
        let sign = if ahead < 0 { '-' } else { '+' };
        let seconds = (ahead / date::MICROS_PER_SECOND).unsigned_abs();
        let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        match seconds {
            0 => format!("{shown}{sign}{hours:02}:{minutes:02}"),
            // The time of the sun, before there were zones.
            _ => format!("{shown}{sign}{hours:02}:{minutes:02}:{seconds:02}"),
        }
    }

    pub(super) fn is_utc(&self) -> bool {
        self.zone == TimeZone::UTC
    }

    /// Number of microseconds that clocks are ahead of UTC. At the very ends of time, of which the rules of zones say
    /// nothing, as far as next to them.
    pub(super) fn ahead(&self, micros: i64) -> i64 {
        let offset = self.zone.to_offset(nearest(micros));
        i64::from(offset.seconds()) * date::MICROS_PER_SECOND
    }

    /// The day of a moment: the latest that clocks have shown until then. If clocks are put back over midnight, the
    /// hours that they show again of the day before belong to the day that has begun, so that each day is one piece of
    /// time.
    pub(super) fn day(&self, micros: i64) -> Date {
        let of_clock = match date::civil(micros.saturating_add(self.ahead(micros))) {
            Some(shown) => shown.date(),
            // Moments that a clock has no date for belong to the first day and to the last.
            None if micros < 0 => Date::MIN,
            None => Date::MAX,
        };
        let mut day = of_clock;
        while let Ok(next) = day.tomorrow()
            && self.start_of(next) <= micros
        {
            day = next;
        }
        day
    }

    /// The moment when clocks first show a day or a later one: the next day's, where they were put forward over all of it.
    /// The first day begins with the first moment that there is.
    pub(super) fn start_of(&self, day: Date) -> i64 {
        let midnight = date::midnight(day);
        if day == Date::MIN || self.is_utc() {
            return midnight;
        }
        let civil = day.to_datetime(Time::midnight());
        let before = |offset: Offset| {
            let start = midnight - i64::from(offset.seconds()) * date::MICROS_PER_SECOND;
            start.max(date::ends().0)
        };
        match self.zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => before(offset),
            AmbiguousOffset::Fold { before: first, .. } => before(first),
            // Clocks pass midnight when they are put forward.
            AmbiguousOffset::Gap { before: old, .. } => {
                let passed = before(old);
                self.changes_around(passed).0.unwrap_or(passed)
            }
        }
    }

    /// The moment when clocks show this, and of two the first.
    ///
    /// # Errors
    ///
    /// For a time that clocks are put forward over.
    pub(super) fn moment(&self, civil: DateTime) -> std::result::Result<i64, NotTaken> {
        let offset: Offset = match self.zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Fold { before, .. } => before,
            AmbiguousOffset::Gap { .. } => {
                return Err(NotTaken {
                    expected: format!("a time that clocks of {self} show").into(),
                    found: format!("{civil}, which they are put forward over"),
                });
            }
        };
        Ok(date::in_utc(civil) - i64::from(offset.seconds()) * date::MICROS_PER_SECOND)
    }

    /// The last moment up to this one, and the first after it, when clocks were put forward or back.
    pub(super) fn changes_around(&self, micros: i64) -> (Option<i64>, Option<i64>) {
        let (at, next) = (nearest(micros), nearest(micros.saturating_add(1)));
        // Some changes do not move clocks: a zone's name, or whether it is summer.
        let changes = |at: &Moment, before: Moment| {
            let offset = |of| self.zone.to_offset(of);
            offset(*at) != offset(before)
        };
        let before = |at: &Moment| at.checked_sub(jiff::SignedDuration::from_nanos(1)).ok();
        let is_change = |at: &Moment| before(at).is_some_and(|before| changes(at, before));
        let last = self.zone.preceding(next).map(|it| it.timestamp()).find(is_change);
        let first = self.zone.following(at).map(|it| it.timestamp()).find(is_change);
        (last.map(Moment::as_microsecond), first.map(Moment::as_microsecond))
    }

    /// A moment moved by years, months, weeks and days of the calendar, which keep what clocks show as far as they can, or
    /// by hours, minutes and seconds; `None` if that is beyond all dates.
    pub(super) fn moved(&self, micros: i64, by: jiff::Span) -> Option<i64> {
        let at = Moment::from_microsecond(micros).ok()?.to_zoned(self.zone.clone());
        Some(at.checked_add(by).ok()?.timestamp().as_microsecond())
    }
}

/// The moment, or next to the ends of time the last one that the rules of zones know of.
fn nearest(micros: i64) -> Moment {
    let last = if micros < 0 { Moment::MIN } else { Moment::MAX };
    Moment::from_microsecond(micros).unwrap_or(last)
}

impl Default for Zone {
    fn default() -> Self {
        Self::utc()
    }
}

impl Hash for Zone {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// `UTC` or `Z`, `+05:30`, `Europe/Berlin`.
impl FromStr for Zone {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if matches!(text, "UTC" | "Z") {
            return Ok(Self::utc());
        }
        let zone = match offset_of(text) {
            Some(offset) => Some(TimeZone::fixed(offset)),
            None if cfg!(feature = "zones") => named(text),
            None => None,
        };
        zone.map(|zone| Zone { name: text.to_owned(), zone }).ok_or_else(|| {
            let error =
                Error::new(ErrorKind::Usage, "looking up a time zone").found(format!("'{text}'"));
            match cfg!(feature = "zones") {
                true => error.expected("UTC, an offset as +05:30, or a name as Europe/Berlin"),
                false => error
                    .expected("UTC or an offset as +05:30")
                    .hint("names need the feature `zones`"),
            }
        })
    }
}

/// A zone of the database that comes along, whatever the system has.
fn named(name: &str) -> Option<TimeZone> {
    jiff::tz::TimeZoneDatabase::bundled().get(name).ok()
}

/// `+05:30`.
fn offset_of(text: &str) -> Option<Offset> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = text.strip_prefix(['+', '-'])?.split_once(':')?;
    let number = |digits: &str, below: i32| {
        let is_pair = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|number: &i32| is_pair && *number < below)
    };
    let (hours, minutes) = (number(hours, 24)?, number(minutes, 60)?);
    Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok()
}
