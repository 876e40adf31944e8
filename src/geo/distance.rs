//! The formula of distances: what it is for one center, and metres of it.

use super::units::{X_UNITS, Y_UNITS};
use super::{GeoPoint, UnitPoint};
use std::f64::consts::PI;

/// Radius of the sphere in metres: the mean radius of the Earth.
pub const EARTH_RADIUS_M: f64 = 6_371_008.771_4;

/// A point that distances are measured from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Center {
    pub(crate) point: UnitPoint,
    cos_lat: f64,
}

impl Center {
    pub(crate) fn of(point: GeoPoint) -> Self {
        let point = UnitPoint::of(point);
        Center { point, cos_lat: cos_lat(point.y) }
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
fn cos_lat(y: u32) -> f64 {
    match y {
        0 | u32::MAX => 0.0,
        y => libm::cos(lat_radians(y)),
    }
}

fn metres_of(haversine: f64) -> f64 {
    2.0 * EARTH_RADIUS_M * libm::asin(haversine.sqrt().min(1.0))
}

/// The greatest haversine of points within some metres; infinite where all points are.
pub(super) fn haversine_of(metres: f64) -> f64 {
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
            let center = Center { point: a, cos_lat: cos_lat(a.y) };
            let (own, other) = (center.metres(b), metres_by_vectors(a, b));
            let is_opposite = other > PI * EARTH_RADIUS_M - 200.0;
            prop_assert!((own - other).abs() < if is_opposite { 0.3 } else { 0.001 }, "{own} {other}");
        }
    }
}
