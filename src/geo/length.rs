//! Distances as they are written, and texts of metres.

use super::NoGeo;
use crate::error::{Error, Result};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// A distance with its unit, as `10km`.
///
/// ```
/// use treepie::geo::Distance;
///
/// let ten: Distance = "10mi".parse()?;
/// assert_eq!((ten.metres(), ten.to_string().as_str()), (16_093.44, "10mi"));
/// let bare = "10".parse::<Distance>().unwrap_err();
/// assert!(bare.to_string().contains("10 of what? write 10km or 10mi"));
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Distance {
    number: f64,
    unit: DistanceUnit,
}

/// Unit of a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DistanceUnit {
    /// Metres: `m`.
    Metre,
    /// Kilometres: `km`.
    Kilometre,
    /// International miles of 1,609.344 m: `mi`.
    Mile,
    /// Nautical miles of 1,852 m: `nmi`.
    NauticalMile,
    /// Yards of 0.9144 m: `yd`.
    Yard,
    /// International feet of 0.3048 m: `ft`.
    Foot,
}

impl DistanceUnit {
    /// All units.
    pub const ALL: [DistanceUnit; 6] = [
        DistanceUnit::Metre,
        DistanceUnit::Kilometre,
        DistanceUnit::Mile,
        DistanceUnit::NauticalMile,
        DistanceUnit::Yard,
        DistanceUnit::Foot,
    ];

    /// The name behind a number.
    pub fn name(self) -> &'static str {
        match self {
            DistanceUnit::Metre => "m",
            DistanceUnit::Kilometre => "km",
            DistanceUnit::Mile => "mi",
            DistanceUnit::NauticalMile => "nmi",
            DistanceUnit::Yard => "yd",
            DistanceUnit::Foot => "ft",
        }
    }

    /// Metres of one.
    pub fn metres(self) -> f64 {
        match self {
            DistanceUnit::Metre => 1.0,
            DistanceUnit::Kilometre => 1_000.0,
            DistanceUnit::Mile => 1_609.344,
            DistanceUnit::NauticalMile => 1_852.0,
            DistanceUnit::Yard => 0.9144,
            DistanceUnit::Foot => 0.3048,
        }
    }
}

impl Distance {
    /// Makes a distance of a number, finite and not negative, of a unit.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) for another number.
    pub fn new(number: f64, unit: DistanceUnit) -> Result<Self> {
        Self::checked(number, unit).map_err(|wrong| wrong.into_usage("making a distance"))
    }

    fn checked(number: f64, unit: DistanceUnit) -> Result<Self, NoGeo> {
        match number.is_finite() && number >= 0.0 {
            true => Ok(Distance { number: number + 0.0, unit }),
            false => Err(NoGeo::new("a distance of 0 or more", number.to_string())),
        }
    }

    /// Makes a distance of metres.
    ///
    /// # Errors
    ///
    /// Fails like [`new`](Self::new).
    pub fn from_metres(metres: f64) -> Result<Self> {
        Self::new(metres, DistanceUnit::Metre)
    }

    /// Returns the distance in metres.
    pub fn metres(self) -> f64 {
        self.number * self.unit.metres()
    }

    pub(crate) fn read(text: &str) -> Result<Self, NoGeo> {
        let text = text.trim();
        let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
        let end = text.find(|c| !is_of_number(c)).unwrap_or(text.len());
        let (number, unit) = (&text[..end], text[end..].trim());
        let expected = "a distance with its unit, as 10km; units are m, km, mi, nmi, yd and ft";
        let wrong = |found: String| NoGeo::new(expected, found);
        let Ok(parsed) = number.parse::<f64>() else {
            return Err(wrong(format!("'{text}'")));
        };
        match DistanceUnit::ALL.into_iter().find(|it| it.name() == unit) {
            Some(unit) => Self::checked(parsed, unit),
            None if unit.is_empty() => {
                Err(wrong(format!("{number} of what? write {number}km or {number}mi")))
            }
            None => Err(wrong(format!("the unit '{unit}'"))),
        }
    }

    fn key(self) -> (u64, DistanceUnit) {
        (self.number.to_bits(), self.unit)
    }
}

impl PartialEq for Distance {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Distance {}

impl Hash for Distance {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, self.unit.name())
    }
}

impl FromStr for Distance {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::read(text).map_err(|wrong| wrong.into_usage("reading a distance"))
    }
}

/// Digits of a distance in messages.
const DIGITS: usize = 4;
/// Digits that numbers of 64 bits have.
const DIGITS_MAX: usize = 17;

/// Metres for people: `812.4 m`, `16.32 km`.
pub(crate) fn length_text(metres: f64) -> String {
    let (number, unit) = in_unit(metres, metres);
    format!("{} {unit}", rounded(number, DIGITS))
}

/// Two lengths in the unit that suits the second, with as many digits as tell them apart: `16.32 km`, `16.09`.
pub(crate) fn lengths_apart(metres: f64, other: f64) -> (String, String) {
    let ((number, unit), (other, _)) = (in_unit(metres, other), in_unit(other, other));
    let both = |digits| (rounded(number, digits), rounded(other, digits));
    let all = (DIGITS..=DIGITS_MAX).map(both);
    let (number, other) = all.into_iter().find(|(a, b)| a != b).unwrap_or_else(|| both(DIGITS_MAX));
    (format!("{number} {unit}"), other)
}

fn in_unit(metres: f64, like: f64) -> (f64, &'static str) {
    if like < 1_000.0 { (metres, "m") } else { (metres / 1_000.0, "km") }
}

/// A number with so many digits that mean something, and no zeros at its end.
fn rounded(number: f64, digits: usize) -> String {
    let whole = number.abs().log10().floor().max(0.0) as usize + 1;
    let text = format!("{number:.*}", digits.saturating_sub(whole));
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_for_people_have_few_digits() {
        for (metres, text) in [
            (0.0, "0 m"),
            (0.25, "0.25 m"),
            (812.44, "812.4 m"),
            (999.99, "1000 m"),
            (41_200.0, "41.2 km"),
            (16_320.4, "16.32 km"),
            (20_015_114.0, "20015 km"),
        ] {
            assert_eq!(length_text(metres), text);
        }
        let apart = |a, b| {
            let (a, b) = lengths_apart(a, b);
            format!("{a}, {b}")
        };
        assert_eq!(apart(16_320.0, 16_093.44), "16.32 km, 16.09");
        assert_eq!(apart(16_093.45, 16_093.44), "16.0935 km, 16.0934");
        assert_eq!(apart(1_500.0, 5.0), "1500 m, 5");
    }

    #[test]
    fn distances_need_a_unit() {
        for (text, metres) in
            [("10km", 10_000.0), ("0m", 0.0), (".5 mi", 804.672), ("3nmi", 5_556.0)]
        {
            let read: Distance = text.parse().unwrap();
            assert_eq!(read.metres(), metres);
            assert_eq!(read.to_string().parse::<Distance>().unwrap(), read);
        }
        for (text, words) in [
            ("10", "10 of what? write 10km or 10mi"),
            ("10 parsecs", "found the unit 'parsecs'"),
            ("-1km", "a distance of 0 or more, found -1"),
            ("km", "found 'km'"),
            ("1e3m", "the unit 'e3m'"),
            ("", "found ''"),
            ("1.2.3km", "found '1.2.3km'"),
        ] {
            let error = text.parse::<Distance>().unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!(Distance::from_metres(f64::NAN).is_err());
    }
}
