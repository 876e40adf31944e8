//! Areas in units, compared with points and with boxes of points.

use super::distance::{EARTH_RADIUS_M, haversine_of, lat_radians};
use super::length::{length_text, lengths_apart};
use super::units::{X_UNITS, Y_UNITS, x_of};
use super::{Center, GeoArea, GeoCounts, GeoPoint, UnitBounds, UnitPoint};
use std::f64::consts::PI;

/// Units by which the box around a circle is made larger. Rounding moves its sides by less: an arc sine near 1 is off by
/// 1.5 · 10⁻⁸ at most, which are 11 units.
const MARGIN: f64 = 64.0;

/// An area that points are compared with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BoundArea {
    /// Box that all points of the area are in.
    around: WrappedBox,
    /// Distances from a center; without it all points of the box are in the area.
    ring: Option<Ring>,
}

/// Haversines of the least and the greatest distance from a center.
#[derive(Clone, Debug, PartialEq)]
struct Ring {
    center: Center,
    least: f64,
    greatest: f64,
    /// Metres of these.
    metres: (f64, f64),
}

/// A box that may cross 180°.
#[derive(Clone, Copy, Debug, PartialEq)]
struct WrappedBox {
    /// Units of its western side.
    west: u32,
    /// Units from there to its eastern side.
    width: u64,
    south: u32,
    north: u32,
}

/// Place of the points of a box in relation to an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoxRelation {
    Outside,
    Inside,
    /// Each point must be asked.
    Crosses,
}

impl WrappedBox {
    const ALL: WrappedBox =
        WrappedBox { west: 0, width: X_UNITS as u64, south: 0, north: u32::MAX };

    fn between(south_west: GeoPoint, north_east: GeoPoint) -> Self {
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
    fn around(center: UnitPoint, metres: f64) -> Self {
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

    #[inline]
    fn contains(&self, UnitPoint { x, y }: UnitPoint) -> bool {
        u64::from(x.wrapping_sub(self.west)) <= self.width && self.south <= y && y <= self.north
    }

    fn relation(&self, UnitBounds { least, greatest }: &UnitBounds) -> BoxRelation {
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
    fn share_of(&self, UnitBounds { least, greatest }: &UnitBounds) -> f64 {
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

impl BoundArea {
    pub(crate) fn new(area: &GeoArea) -> Self {
        match *area {
            GeoArea::Circle { from, to, center } => {
                let center = Center::of(center);
                let (from, to) = (from.map_or(0.0, |from| from.metres()), to.metres());
                let ring = Ring {
                    center,
                    // The center itself is at a distance of 0.
                    least: if from > 0.0 { haversine_of(from) } else { 0.0 },
                    greatest: haversine_of(to),
                    metres: (from, to),
                };
                let around = match ring.greatest.is_finite() {
                    true => WrappedBox::around(center.point, to),
                    false => WrappedBox::ALL,
                };
                BoundArea { around, ring: Some(ring) }
            }
            GeoArea::Box { south_west, north_east } => {
                BoundArea { around: WrappedBox::between(south_west, north_east), ring: None }
            }
            GeoArea::Point(point) => {
                let UnitPoint { x, y } = UnitPoint::of(point);
                let around = WrappedBox { west: x, width: 0, south: y, north: y };
                BoundArea { around, ring: None }
            }
        }
    }

    /// Whether a point is in the area.
    #[inline]
    pub(crate) fn contains(&self, point: UnitPoint, counts: &mut GeoCounts) -> bool {
        counts.points_tested += 1;
        if !self.around.contains(point) {
            return false;
        }
        match &self.ring {
            None => true,
            Some(ring) => {
                counts.points_by_formula += 1;
                let haversine = ring.center.haversine(point);
                ring.least <= haversine && haversine <= ring.greatest
            }
        }
    }

    /// Place of the points of a box, as far as that is known of all.
    pub(crate) fn relation(&self, points: &UnitBounds) -> BoxRelation {
        if points.is_empty() {
            return BoxRelation::Outside;
        }
        match self.around.relation(points) {
            BoxRelation::Inside if self.ring.is_some() => BoxRelation::Crosses,
            relation => relation,
        }
    }

    /// About which share of the points in a box are in the area.
    pub(crate) fn share_of(&self, points: &UnitBounds) -> f64 {
        const CIRCLE: f64 = PI / 4.0;
        let share = self.around.share_of(points);
        if self.ring.is_some() { share * CIRCLE } else { share }
    }

    /// Says how far the nearest of some points is, which are all outside: `16.32 km away, at most 16.09 wanted`.
    pub(crate) fn missed_by(&self, area: &GeoArea, points: &[UnitPoint]) -> String {
        let Some(ring) = &self.ring else {
            return format!("none of its points is in the {}", area.described());
        };
        let (least, greatest) = ring.metres;
        let misses = points.iter().filter_map(|point| self.miss(*point));
        let nearest = misses.min_by(|(a, _), (b, _)| a.total_cmp(b));
        let nearest = nearest.map_or(0.0, |(_, metres)| metres);
        let (word, wanted) = if nearest < least { ("least", least) } else { ("most", greatest) };
        let (found, wanted) = lengths_apart(nearest, wanted);
        format!("{found} away, at {word} {wanted} wanted")
    }

    /// Metres by which a point misses the area, and metres to its center, if it has one.
    pub(crate) fn miss(&self, point: UnitPoint) -> Option<(f64, f64)> {
        let ring = self.ring.as_ref()?;
        let (metres, (least, greatest)) = (ring.center.metres(point), ring.metres);
        Some(((metres - greatest).max(least - metres), metres))
    }

    /// Says that there is nothing in the area, and how far the nearest point is from its center, in metres.
    pub(crate) fn nothing_within(&self, nearest: f64) -> Option<String> {
        let (least, greatest) = self.ring.as_ref()?.metres;
        let (nearest, greatest_text) = (length_text(nearest), length_text(greatest));
        Some(match least > 0.0 {
            true => format!(
                "nothing from {} to {greatest_text} away; the nearest to that is {nearest} away",
                length_text(least)
            ),
            false => format!("nothing within {greatest_text}; the nearest is {nearest} away"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geo::Distance;
    use proptest::prelude::*;

    fn point(lat: f64, lon: f64) -> GeoPoint {
        GeoPoint::new(lat, lon).unwrap()
    }

    fn contains(area: &str, lat: f64, lon: f64) -> bool {
        let area = BoundArea::new(&area.parse().unwrap());
        area.contains(UnitPoint::of(point(lat, lon)), &mut GeoCounts::default())
    }

    #[test]
    fn areas_are_closed_and_go_over_the_ends_of_the_globe() {
        for (area, lat, lon, is_in) in [
            ("BOX -10,170 10,-170", 0.0, 180.0, true),
            ("BOX -10,170 10,-170", 10.0, -170.0, true),
            ("BOX -10,170 10,-170", 0.0, 169.999, false),
            ("BOX -10,170 10,180", 0.0, -180.0, true),
            ("BOX -10,180 10,-170", 0.0, -175.0, true),
            ("BOX -10,180 10,-170", 0.0, 175.0, false),
            ("BOX -90,-180 90,180", 12.0, 34.0, true),
            ("BOX -10,-180 10,-180", 0.0, 180.0, true),
            ("BOX -10,-180 10,-180", 0.0, -179.9, false),
            ("BOX 1,2 1,2", 1.0, 2.0, true),
            ("1,2", 1.0, 2.0, true),
            ("1,2", 1.0, 2.000_001, false),
            ("0m OF 1,2", 1.0, 2.0, true),
            ("0m OF 90,2", 90.0, 77.0, true),
            ("112km OF 0,180", 0.0, -179.0, true),
            ("111km OF 0,180", 0.0, -179.0, false),
            ("20016km OF 0,0", 0.0, 180.0, true),
            ("40000km OF 12,34", -90.0, 0.0, true),
            ("500km OF 89,0", 89.0, 180.0, true),
            ("1km TO 200km OF 0,0", 0.0, 0.0, false),
            ("0m TO 200km OF 0,0", 0.0, 0.0, true),
            ("1km TO 200km OF 0,0", 0.0, 1.0, true),
        ] {
            assert_eq!(contains(area, lat, lon), is_in, "{area} {lat},{lon}");
        }
    }

    /// Points near each other and everywhere, also at the ends of the globe.
    fn unit() -> impl Strategy<Value = u32> {
        prop_oneof![
            any::<u32>(),
            (0..40u32).prop_map(|bits| 1u32.checked_shl(bits).unwrap_or(u32::MAX)),
            Just(0),
            Just(u32::MAX),
            (0..1_000u32).prop_map(|n| u32::MAX - n),
        ]
    }

    proptest! {
        #[test]
        fn boxes_around_circles_hold_all_that_the_formula_lets_in(
            x in unit(), y in unit(), exponent in 0.0..7.4f64,
            near in prop::collection::vec((any::<i32>(), any::<i32>(), 0..32u32), 1..40),
        ) {
            let center = UnitPoint { x, y };
            let radius = Distance::from_metres(10f64.powf(exponent)).unwrap();
            let area = BoundArea::new(&GeoArea::circle(radius, center.to_point()));
            let ring = area.ring.as_ref().unwrap();
            let mut counts = GeoCounts::default();
            let mut points = vec![];
            for (dx, dy, shift) in near {
                let other = UnitPoint {
                    x: x.wrapping_add_signed(dx >> shift),
                    y: y.saturating_add_signed(dy >> shift),
                };
                points.push(other);
                let is_in = ring.center.haversine(other) <= ring.greatest;
                prop_assert_eq!(area.contains(other, &mut counts), is_in, "{:?}", other);
                let alone = area.relation(&UnitBounds::of([other]));
                prop_assert!(!is_in || alone == BoxRelation::Crosses);
            }
            let all = area.relation(&UnitBounds::of(points.iter().copied()));
            let any = points.iter().any(|it| area.contains(*it, &mut counts));
            prop_assert!(!any || all == BoxRelation::Crosses);
            prop_assert!((0.0..=1.0).contains(&area.share_of(&UnitBounds::of(points))));
        }

        #[test]
        fn boxes_settle_boxes_of_points(
            corners in [unit(), unit(), unit(), unit()],
            points in prop::collection::vec((unit(), unit()), 1..20),
        ) {
            let [west, east, a, b] = corners;
            let (south, north) = (a.min(b), a.max(b));
            let corner = |x, y| UnitPoint { x, y }.to_point();
            let area = GeoArea::bounding_box(corner(west, south), corner(east, north)).unwrap();
            let area = BoundArea::new(&area);
            let points: Vec<_> = points.into_iter().map(|(x, y)| UnitPoint { x, y }).collect();
            let inside = |it: &UnitPoint| {
                let is_x = match west <= east {
                    true => west <= it.x && it.x <= east,
                    false => it.x >= west || it.x <= east,
                };
                is_x && south <= it.y && it.y <= north
            };
            let mut counts = GeoCounts::default();
            for point in &points {
                prop_assert_eq!(area.contains(*point, &mut counts), inside(point));
            }
            match area.relation(&UnitBounds::of(points.iter().copied())) {
                BoxRelation::Outside => prop_assert!(!points.iter().any(inside)),
                BoxRelation::Inside => prop_assert!(points.iter().all(inside)),
                BoxRelation::Crosses => {}
            }
        }
    }
}
