//! Boxes that may cross 180°, in units.

use super::distance::{EARTH_RADIUS_M, lat_radians};
use super::units::{X_UNITS, Y_UNITS, x_of};
use super::{BoxRelation, GeoPoint, UnitBounds, UnitPoint};
use std::f64::consts::PI;

/// Units by which the box around a circle is made larger. Rounding moves its sides by less: an arc sine near 1 is off by
/// 1.5 · 10⁻⁸ at most, which are 11 units.
const MARGIN: f64 = 64.0;

/// A box that may cross 180°.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WrappedBox {
    /// Units of its western side.
    pub(super) west: u32,
    /// Units from there to its eastern side.
    pub(super) width: u64,
    pub(super) south: u32,
    pub(super) north: u32,
}

impl WrappedBox {
    pub(super) const ALL: WrappedBox =
        WrappedBox { west: 0, width: X_UNITS as u64, south: 0, north: u32::MAX };
    /// Its northern side is south of the southern one.
    pub(super) const NOTHING: WrappedBox =
        WrappedBox { west: 0, width: 0, south: u32::MAX, north: 0 };

    pub(super) fn between(south_west: GeoPoint, north_east: GeoPoint) -> Self {
        let (west, east) = (x_of(south_west.lon()), x_of(north_east.lon()));
        let east = match south_west.lon() > north_east.lon() {
            true => east + X_UNITS as u64,
            false => east,
        };
        let [south, north] = [south_west, north_east].map(|corner| UnitPoint::of(corner).y);
        // 180° is −180°: a box may begin where the globe ends.
        WrappedBox { west: west as u32, width: east.saturating_sub(west), south, north }
    }

    /// The box around a circle, and a little more.
    pub(crate) fn around(center: UnitPoint, metres: f64) -> Self {
        let angle = metres / EARTH_RADIUS_M;
        let half_height = angle * (Y_UNITS / PI) + MARGIN;
        let (south, north) = (f64::from(center.y) - half_height, f64::from(center.y) + half_height);
        let clamped = |y: f64| y.clamp(0.0, Y_UNITS) as u32;
        let band = WrappedBox { south: clamped(south), north: clamped(north), ..Self::ALL };
        // With a pole in it, or near it, all longitudes are in the circle.
        if south <= 0.0 || north >= Y_UNITS {
            return band;
        }
        let half_width = (angle.sin() / lat_radians(center.y).cos()).min(1.0).asin();
        let half_width = half_width * (X_UNITS / (2.0 * PI)) + MARGIN;
        if 2.0 * half_width >= X_UNITS {
            return band;
        }
        let half_width = half_width as u32;
        WrappedBox {
            west: center.x.wrapping_sub(half_width),
            width: 2 * u64::from(half_width),
            ..band
        }
    }

    /// The one or two boxes that it is made of, none of which crosses 180°.
    pub(super) fn parts(&self) -> impl Iterator<Item = UnitBounds> {
        let WrappedBox { west, width, south, north } = *self;
        let end = u64::from(west) + width;
        let (west, east, rest) = match u32::try_from(end) {
            // All the way round, or more.
            _ if width >= u64::from(u32::MAX) => (0, u32::MAX, None),
            Ok(east) => (west, east, None),
            Err(_) => (west, u32::MAX, Some(end as u32)),
        };
        let part = move |west, east| {
            let corners = (UnitPoint { x: west, y: south }, UnitPoint { x: east, y: north });
            UnitBounds { least: corners.0, greatest: corners.1 }
        };
        let rest = rest.map(|east| part(0, east));
        [part(west, east)].into_iter().chain(rest).filter(|part| !part.is_empty())
    }

    #[inline]
    pub(crate) fn contains(&self, UnitPoint { x, y }: UnitPoint) -> bool {
        u64::from(x.wrapping_sub(self.west)) <= self.width && self.south <= y && y <= self.north
    }

    pub(crate) fn relation(&self, UnitBounds { least, greatest }: &UnitBounds) -> BoxRelation {
        let width = u64::from(greatest.x - least.x);
        // From one western side to the other.
        let (to_least, to_west) = (
            u64::from(least.x.wrapping_sub(self.west)),
            u64::from(self.west.wrapping_sub(least.x)),
        );
        let is_apart = to_least > self.width && to_west > width;
        if is_apart || greatest.y < self.south || self.north < least.y {
            return BoxRelation::Outside;
        }
        let is_inside = to_least.saturating_add(width) <= self.width
            && self.south <= least.y
            && greatest.y <= self.north;
        if is_inside { BoxRelation::Inside } else { BoxRelation::Crosses }
    }

    /// About which share of a box this covers, if points were anywhere in it.
    pub(super) fn share_of(&self, UnitBounds { least, greatest }: &UnitBounds) -> f64 {
        let overlap = |from: f64, to: f64, a: f64, b: f64| (to.min(b) - from.max(a)).max(0.0);
        let [left, right] = [least.x, greatest.x].map(f64::from);
        let (west, width) = (f64::from(self.west), self.width as f64);
        let (wide, high) = (right - left, f64::from(greatest.y) - f64::from(least.y));
        let x = overlap(west, west + width, left, right)
            + overlap(west - X_UNITS, west - X_UNITS + width, left, right);
        let y = overlap(
            f64::from(self.south),
            f64::from(self.north),
            least.y.into(),
            greatest.y.into(),
        );
        (x / wide.max(1.0)).min(1.0) * (y / high.max(1.0)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_of_it_however_wide() {
        let parts = |west: u32, width: u64| -> Vec<(u32, u32)> {
            let around = WrappedBox { west, width, south: 3, north: 9 };
            around.parts().map(|part| (part.least.x, part.greatest.x)).collect()
        };
        assert_eq!(parts(5, 10), [(5, 15)]);
        assert_eq!(parts(u32::MAX - 1, 10), [(u32::MAX - 1, u32::MAX), (0, 8)]);
        // Polygons go round more than once.
        for width in [u64::from(u32::MAX), 5 << 30, 9 << 30] {
            assert_eq!(parts(1 << 31, width), [(0, u32::MAX)]);
        }
    }
}
