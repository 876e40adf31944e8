//! Points as whole numbers of 32 bits, which is what an index keeps.
//!
//! x = round((longitude + 180) / 360 · 2³²) mod 2³², and y = round((latitude + 90) / 180 · (2³² − 1)). So 180° east and west are one
//! x, and both poles are exact. A unit is 9.3 mm of longitude at the equator, and 4.7 mm of latitude.

use super::GeoPoint;

/// Units of longitude on a circle of latitude.
pub(super) const X_UNITS: f64 = 4_294_967_296.0;
/// Units of latitude from pole to pole.
pub(super) const Y_UNITS: f64 = 4_294_967_295.0;
/// Digits behind the point of degrees, which tell all units apart.
const DIGITS_MAX: i32 = 9;

/// A point as it is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct UnitPoint {
    /// Longitude, eastwards from 180° west on.
    pub(crate) x: u32,
    /// Latitude, northwards from the south pole on.
    pub(crate) y: u32,
}

impl UnitPoint {
    /// Bytes of a point in a row.
    pub(crate) const LEN: usize = 2 * size_of::<u32>();

    pub(crate) fn of(point: GeoPoint) -> Self {
        UnitPoint { x: x_of(point.lon()) as u32, y: y_of(point.lat()) }
    }

    /// The point with the fewest digits that is kept as this.
    pub(crate) fn to_point(self) -> GeoPoint {
        let lon = f64::from(self.x) * 360.0 / X_UNITS - 180.0;
        let lat = f64::from(self.y) * 180.0 / Y_UNITS - 90.0;
        let lon = shortest(lon, |it| x_of(it) as u32 == self.x);
        GeoPoint::inside(shortest(lat, |it| y_of(it) == self.y), lon)
    }

    /// Bytes of a row.
    pub(crate) fn to_row(self) -> [u8; Self::LEN] {
        (u64::from(self.x) | u64::from(self.y) << u32::BITS).to_le_bytes()
    }

    pub(crate) fn of_row(row: [u8; Self::LEN]) -> Self {
        let both = u64::from_le_bytes(row);
        UnitPoint { x: both as u32, y: (both >> u32::BITS) as u32 }
    }
}

/// Units of a longitude, of which 180° has one more than all others.
pub(super) fn x_of(lon: f64) -> u64 {
    ((lon + 180.0) / 360.0 * X_UNITS).round() as u64
}

pub(super) fn y_of(lat: f64) -> u32 {
    ((lat + 90.0) / 180.0 * Y_UNITS).round() as u32
}

/// The number of degrees with the fewest digits that are still the units asked for.
fn shortest(degrees: f64, is_kept: impl Fn(f64) -> bool) -> f64 {
    let rounded = (0..=DIGITS_MAX).map(|digits| {
        let factor = 10f64.powi(digits);
        (degrees * factor).round() / factor
    });
    // No −0.
    rounded.into_iter().find(|it| is_kept(*it)).unwrap_or(degrees) + 0.0
}

/// The least box around some points. It does not cross 180°.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnitBounds {
    pub(crate) least: UnitPoint,
    pub(crate) greatest: UnitPoint,
}

impl UnitBounds {
    /// Bounds of no point.
    pub(crate) const NONE: UnitBounds = UnitBounds {
        least: UnitPoint { x: u32::MAX, y: u32::MAX },
        greatest: UnitPoint { x: 0, y: 0 },
    };

    pub(crate) fn of(points: impl IntoIterator<Item = UnitPoint>) -> Self {
        points.into_iter().fold(Self::NONE, Self::with)
    }

    pub(crate) fn with(self, UnitPoint { x, y }: UnitPoint) -> Self {
        let UnitBounds { least, greatest } = self;
        UnitBounds {
            least: UnitPoint { x: least.x.min(x), y: least.y.min(y) },
            greatest: UnitPoint { x: greatest.x.max(x), y: greatest.y.max(y) },
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.least.x > self.greatest.x || self.least.y > self.greatest.y
    }
}

/// Place of the points of a box in relation to an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoxRelation {
    Outside,
    Inside,
    /// Each point must be asked.
    Crosses,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ends_of_the_globe_are_exact() {
        let of = |lat, lon| UnitPoint::of(GeoPoint::new(lat, lon).unwrap());
        assert_eq!(of(-90.0, -180.0), UnitPoint { x: 0, y: 0 });
        assert_eq!(of(90.0, 180.0), UnitPoint { x: 0, y: u32::MAX });
        assert_eq!(of(0.0, 0.0).x, 1 << 31);
        assert_eq!(of(90.0, 180.0).to_point(), GeoPoint::new(90.0, -180.0).unwrap());
        let nearly = 180.0 - 1e-9;
        assert_eq!(of(0.0, nearly).x, 0, "rounded over the end");
    }

    proptest! {
        #[test]
        fn points_come_back_within_half_a_unit_with_few_digits(
            lat in -90.0..=90.0f64, lon in -180.0..=180.0f64, digits in 0..8,
        ) {
            let factor = 10f64.powi(digits);
            let (lat, lon) = ((lat * factor).round() / factor, (lon * factor).round() / factor);
            let given = GeoPoint::new(lat, lon).unwrap();
            let unit = UnitPoint::of(given);
            let found = unit.to_point();
            prop_assert_eq!(UnitPoint::of(found), unit);
            prop_assert_eq!(UnitPoint::of_row(unit.to_row()), unit);
            prop_assert!((found.lat() - lat).abs() <= 180.0 / Y_UNITS * 1.001, "{} {}", found, given);
            if lon.abs() < 179.99 {
                prop_assert!((found.lon() - lon).abs() <= 360.0 / X_UNITS * 1.001);
            }
            if digits <= 6 && lon != 180.0 {
                prop_assert_eq!(found, given);
            }
        }
    }
}
