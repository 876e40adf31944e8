//! The formula of distances: what it is for one center, and metres of it.

use super::units::{X_UNITS, Y_UNITS};
use super::{GeoPoint, UnitBounds, UnitPoint};
use std::f64::consts::PI;

/// Radius of the sphere in metres: the mean radius of the Earth.
pub const EARTH_RADIUS_M: f64 = 6_371_008.771_4;

/// A point that distances are measured from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Center {
    pub(crate) point: UnitPoint,
    pub(super) cos_lat: f64,
    sin_lat: f64,
}

/// Quarter of a circle of latitude in units.
const QUARTER_TURN: u32 = 1 << 30;
const HALF_TURN: u32 = 1 << 31;
/// Halves of the angles of a unit of latitude and of longitude.
const HALF_Y_RADIANS: f64 = PI / (2.0 * Y_UNITS);
const HALF_X_RADIANS: f64 = PI / X_UNITS;
/// More than the cosine of a latitude near a pole is off.
const COSINE_OF_POLE: f64 = 4e-16;
/// Units of latitude from a pole within which cosines have fewer than twelve digits that are right.
const NEAR_POLE: u32 = 1 << 21;

impl Center {
    pub(crate) fn of(point: GeoPoint) -> Self {
        Self::at(UnitPoint::of(point))
    }

    pub(super) fn at(point: UnitPoint) -> Self {
        Center { point, cos_lat: cos_lat(point.y), sin_lat: libm::sin(lat_radians(point.y)) }
    }

    /// The square of the sine of half the angle to another point, which grows with the distance.
    #[inline]
    pub(crate) fn haversine(&self, other: UnitPoint) -> f64 {
        // Differences of whole numbers are exact, also over 180°.
        let dx = other.x.wrapping_sub(self.point.x).cast_signed();
        let dy = i64::from(other.y) - i64::from(self.point.y);
        let sin_lat = libm::sin(dy as f64 * (PI / (2.0 * Y_UNITS)));
        let sin_lon = libm::sin(f64::from(dx) * (PI / X_UNITS));
        sin_lat * sin_lat + self.cos_lat * cos_lat(other.y) * (sin_lon * sin_lon)
    }

    /// A haversine that no point of a box is nearer than, by powers instead of sines.
    ///
    /// It takes a twentieth of the time of [the closest](Self::nearest_haversine), and is as close for small boxes near the center.
    #[inline]
    pub(crate) fn rough_nearest(&self, UnitBounds { least, greatest }: &UnitBounds) -> f64 {
        let dx = match (least.x..=greatest.x).contains(&self.point.x) {
            true => 0,
            false => self.turn_to(least.x).min(self.turn_to(greatest.x)),
        };
        let dy = self.point.y.abs_diff(self.point.y.clamp(least.y, greatest.y));
        let [south, north] = [least.y, greatest.y].map(|y| lat_radians(y).abs());
        let of_lat = sine_at_least(f64::from(dy) * HALF_Y_RADIANS);
        let of_lon = sine_at_least(f64::from(dx) * HALF_X_RADIANS);
        let cosines = self.cos_lat * cosine_at_least(south.max(north));
        let haversine = of_lat * of_lat + cosines * (of_lon * of_lon);
        haversine - haversine * 1e-12 - self.cos_lat * COSINE_OF_POLE
    }

    /// A haversine that no point of a box is farther than, as [roughly](Self::rough_nearest).
    pub(crate) fn rough_farthest(&self, UnitBounds { least, greatest }: &UnitBounds) -> f64 {
        let opposite = self.point.x.wrapping_add(HALF_TURN);
        let dx = match (least.x..=greatest.x).contains(&opposite) {
            true => HALF_TURN,
            false => self.turn_to(least.x).max(self.turn_to(greatest.x)),
        };
        let dy = self.point.y.abs_diff(least.y).max(self.point.y.abs_diff(greatest.y));
        // Half the units from pole to pole are no whole number.
        let is_at_equator = least.y <= u32::MAX / 2 && u32::MAX / 2 < greatest.y;
        let [south, north] = [least.y, greatest.y].map(|y| lat_radians(y).abs());
        let to_equator = if is_at_equator { 0.0 } else { south.min(north) };
        let of_lat = sine_at_most(f64::from(dy) * HALF_Y_RADIANS);
        let of_lon = sine_at_most(f64::from(dx) * HALF_X_RADIANS);
        let cosines = self.cos_lat * cosine_at_most(to_equator);
        let haversine = of_lat * of_lat + cosines * (of_lon * of_lon);
        haversine + haversine * 1e-12 + self.cos_lat * COSINE_OF_POLE
    }

    /// Units of longitude to another meridian, the shorter way.
    fn turn_to(&self, x: u32) -> u32 {
        x.wrapping_sub(self.point.x).cast_signed().unsigned_abs()
    }

    /// A haversine that no point of a box is nearer than.
    pub(crate) fn nearest_haversine(&self, bounds: &UnitBounds) -> f64 {
        let UnitBounds { least, greatest } = bounds;
        let at = |x: u32, y: u32| self.haversine(UnitPoint { x, y });
        let (to_west, to_east) = (
            self.point.x.wrapping_sub(least.x).cast_signed().unsigned_abs(),
            self.point.x.wrapping_sub(greatest.x).cast_signed().unsigned_abs(),
        );
        if (least.x..=greatest.x).contains(&self.point.x) {
            let y = self.point.y.clamp(least.y, greatest.y);
            return self.less(at(self.point.x, y), bounds);
        }
        let (x, dx) = if to_west <= to_east { (least.x, to_west) } else { (greatest.x, to_east) };
        // The nearest point of the meridian.
        let lon = f64::from(dx) * (2.0 * PI / X_UNITS);
        let foot = libm::atan2(self.sin_lat, self.cos_lat * libm::cos(lon));
        let foot = foot * (Y_UNITS / PI) + Y_UNITS / 2.0;
        let is_inside = f64::from(least.y) < foot && foot < f64::from(greatest.y);
        let nearest = match is_inside {
            true => at(x, foot.floor() as u32).min(at(x, foot.ceil() as u32)),
            false if dx > QUARTER_TURN => at(x, least.y).min(at(x, greatest.y)),
            false if foot <= f64::from(least.y) => at(x, least.y),
            false => at(x, greatest.y),
        };
        self.less(nearest, bounds)
    }

    /// A haversine that no point of a box is farther than.
    pub(crate) fn farthest_haversine(&self, bounds: &UnitBounds) -> f64 {
        let UnitBounds { least, greatest } = bounds;
        let [west, east] =
            [least, greatest].map(|corner| corner.x.wrapping_sub(self.point.x).cast_signed());
        let farthest = west.unsigned_abs().max(east.unsigned_abs());
        // Up to a quarter away, corners are the farthest.
        if farthest <= QUARTER_TURN && west <= east {
            let x = if west.unsigned_abs() == farthest { least.x } else { greatest.x };
            let of_corner = |y| self.haversine(UnitPoint { x, y });
            let farthest = of_corner(least.y).max(of_corner(greatest.y));
            return farthest + (farthest - self.less(farthest, bounds));
        }
        1.0 - self.opposite().nearest_haversine(bounds) + 1e-15
    }

    /// Metres that no point of a box is nearer than.
    pub(crate) fn nearest_metres(&self, bounds: &UnitBounds) -> f64 {
        let metres = metres_of(self.nearest_haversine(bounds).max(0.0));
        metres - metres * 1e-12
    }

    /// Metres that no point of a box is farther than.
    pub(crate) fn farthest_metres(&self, bounds: &UnitBounds) -> f64 {
        let metres = metres_of(self.farthest_haversine(bounds));
        metres + metres * 1e-12
    }

    pub(crate) fn cos_lat(&self) -> f64 {
        self.cos_lat
    }

    /// The opposite side of the globe.
    pub(crate) fn opposite(&self) -> Self {
        let UnitPoint { x, y } = self.point;
        let point = UnitPoint { x: x.wrapping_add(1 << 31), y: u32::MAX - y };
        Center { point, cos_lat: self.cos_lat, sin_lat: -self.sin_lat }
    }

    /// Somewhat less than a haversine, by more than it may be off for points of a box.
    fn less(&self, haversine: f64, UnitBounds { least, greatest }: &UnitBounds) -> f64 {
        let is_polar = least.y < NEAR_POLE || greatest.y > u32::MAX - NEAR_POLE;
        let of_pole = if is_polar { self.cos_lat * 4e-16 } else { 0.0 };
        haversine - haversine * 1e-12 - of_pole
    }

    /// Metres to another point.
    pub(crate) fn metres(&self, other: UnitPoint) -> f64 {
        metres_of(self.haversine(other))
    }
}

impl GeoPoint {
    /// Metres to another point along the great circle, both as an index keeps them.
    ///
    /// ```
    /// use treepie::geo::GeoPoint;
    ///
    /// let (east, west) = (GeoPoint::new(0.0, 180.0)?, GeoPoint::new(0.0, -180.0)?);
    /// assert_eq!(east.distance(west), 0.0);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn distance(self, other: GeoPoint) -> f64 {
        Center::of(self).metres(UnitPoint::of(other))
    }
}

/// Radians of latitude.
pub(super) fn lat_radians(y: u32) -> f64 {
    (f64::from(y) - Y_UNITS / 2.0) * (PI / Y_UNITS)
}

/// The cosine of a latitude; 0 at the poles, where all longitudes are one point.
pub(super) fn cos_lat(y: u32) -> f64 {
    match y {
        0 | u32::MAX => 0.0,
        y => libm::cos(lat_radians(y)),
    }
}

/// Sines and cosines of angles up to a right one, by the first powers of their series, of which each is on the other side.
fn sine_at_least(angle: f64) -> f64 {
    angle * (1.0 - angle * angle / 6.0)
}

fn sine_at_most(angle: f64) -> f64 {
    let square = angle * angle;
    (angle * (1.0 - square / 6.0 * (1.0 - square / 20.0))).min(1.0)
}

fn cosine_at_least(angle: f64) -> f64 {
    cosine_up_to_eighth(angle) - angle.powi(10) / 3_628_800.0
}

fn cosine_at_most(angle: f64) -> f64 {
    cosine_up_to_eighth(angle)
}

fn cosine_up_to_eighth(angle: f64) -> f64 {
    let square = angle * angle;
    1.0 - square / 2.0 * (1.0 - square / 12.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0)))
}

/// Metres of a haversine.
pub(crate) fn metres_of(haversine: f64) -> f64 {
    2.0 * EARTH_RADIUS_M * libm::asin(haversine.sqrt().min(1.0))
}

/// The greatest haversine of points within some metres; infinite where all points are.
pub(crate) fn haversine_of(metres: f64) -> f64 {
    let half = metres / (2.0 * EARTH_RADIUS_M);
    if half >= PI / 2.0 {
        return f64::INFINITY;
    }
    let sine = libm::sin(half);
    sine * sine
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(lat: f64, lon: f64) -> GeoPoint {
        GeoPoint::new(lat, lon).unwrap()
    }

    /// Metres by another formula, which is as good for all distances.
    fn metres_by_vectors(a: UnitPoint, b: UnitPoint) -> f64 {
        let vector = |point: UnitPoint| {
            let (lat, lon) = (lat_radians(point.y), f64::from(point.x) * (2.0 * PI / X_UNITS));
            [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
        };
        let ([a, b, c], [d, e, f]) = (vector(a), vector(b));
        let cross = [b * f - c * e, c * d - a * f, a * e - b * d];
        let length = cross.iter().map(|it| it * it).sum::<f64>().sqrt();
        EARTH_RADIUS_M * length.atan2(a * d + b * e + c * f)
    }

    #[test]
    fn distances_are_known_ones() {
        let quarter = EARTH_RADIUS_M * PI / 2.0;
        for (a, b, metres) in [
            (point(0.0, 0.0), point(0.0, 0.0), 0.0),
            (point(90.0, 0.0), point(90.0, 123.0), 0.0),
            (point(0.0, 180.0), point(0.0, -180.0), 0.0),
            (point(-90.0, 17.0), point(90.0, -4.0), 2.0 * quarter),
            (point(0.0, -90.0), point(0.0, 90.0), 2.0 * quarter),
            (point(12.0, 5.0), point(90.0, 0.0), quarter * 78.0 / 90.0),
            (point(0.0, 179.5), point(0.0, -179.5), quarter / 90.0),
        ] {
            // Half a unit at both ends.
            assert!((a.distance(b) - metres).abs() < 0.02, "{a} {b}: {}", a.distance(b));
            assert_eq!(a.distance(b), b.distance(a));
        }
        assert_eq!(haversine_of(2.0 * quarter), f64::INFINITY);
        assert_eq!(haversine_of(0.0), 0.0);
    }

    proptest! {
        #[test]
        fn another_formula_gives_the_same_metres(x: u32, y: u32, to_x: u32, to_y: u32, near: bool) {
            let a = UnitPoint { x, y };
            let b = match near {
                true => UnitPoint { x: x.wrapping_add(to_x >> 20), y: y.saturating_add(to_y >> 20) },
                false => UnitPoint { x: to_x, y: to_y },
            };
            let center = Center::at(a);
            let (own, other) = (center.metres(b), metres_by_vectors(a, b));
            let is_opposite = other > PI * EARTH_RADIUS_M - 200.0;
            prop_assert!((own - other).abs() < if is_opposite { 0.3 } else { 0.001 }, "{own} {other}");
        }
    }
}
