//! Time zones: which moment a date on a wall calendar is.

use super::date;
use super::typed::NotTaken;
use crate::error::{Error, ErrorKind, Result};
use jiff::Timestamp as Moment;
use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// A time zone: UTC, an offset from it as `+05:30`, or, with the feature `zones`, one of the names of the IANA database, whose
/// rules come with this crate: `Europe/Berlin`.
///
/// ```
/// use treepie::Zone;
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

    pub(super) fn is_utc(&self) -> bool {
        self.zone == TimeZone::UTC
    }

    /// What a clock on the wall shows, and how many microseconds it is ahead of UTC; `None` at the very ends of time, where
    /// only UTC is told.
    pub(super) fn on_the_wall(&self, micros: i64) -> Option<(DateTime, i64)> {
        let offset = self.zone.to_offset(Moment::from_microsecond(micros).ok()?);
        let ahead = i64::from(offset.seconds()) * date::MICROS_PER_SECOND;
        Some((date::civil(micros.checked_add(ahead)?)?, ahead))
    }

    /// The first moment of a day, even where there is no midnight.
    pub(super) fn start_of(&self, day: Date) -> i64 {
        if self.is_utc() {
            return date::midnight(day);
        }
        let moment = day.to_zoned(self.zone.clone()).map(|at| at.timestamp().as_microsecond());
        moment.unwrap_or_else(|_| date::midnight(day))
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
        let moment = |micros: i64| Moment::from_microsecond(micros).ok();
        let Some((at, next)) = moment(micros).zip(moment(micros.saturating_add(1))) else {
            return (None, None);
        };
        // Of some changes clocks know nothing: a zone's name, or whether it is summer.
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
    /// by hours, minutes and seconds; `None` where that is beyond all dates.
    pub(super) fn moved(&self, micros: i64, by: jiff::Span) -> Option<i64> {
        let at = Moment::from_microsecond(micros).ok()?.to_zoned(self.zone.clone());
        Some(at.checked_add(by).ok()?.timestamp().as_microsecond())
    }
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
