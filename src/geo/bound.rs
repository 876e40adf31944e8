//! Areas in units, compared with points and with boxes of points.

use super::bound_polygons::BoundPolygons;
use super::distance::{Center, haversine_of, metres_of};
use super::length::{length_text, lengths_apart};
use super::nearest_edge::nearest_of;
use super::ring::Ring;
use super::wrapped_box::WrappedBox;
use super::{BoxRelation, GeoArea, GeoCounts, UnitBounds, UnitPoint};

/// An area that points are compared with.
///
/// Boxes are [inside, outside or neither](Self::relation), points are [in it](Self::contains) or not; the two never disagree.
#[derive(Clone, Debug)]
pub(crate) struct BoundArea {
    /// Box that all points of the area are in.
    around: WrappedBox,
    shape: Shape,
}

/// Shape of an area inside of the box around it.
#[derive(Clone, Debug)]
enum Shape {
    /// All of that box.
    Box,
    Ring(Ring),
    /// One polygon or several in that box.
    Polygons(Box<BoundPolygons>),
}

impl BoundArea {
    pub(crate) fn new(area: &GeoArea) -> Self {
        match area {
            &GeoArea::Circle { from, to, center } => {
                let ring = Ring::new(from, to, center);
                let around = match ring.greatest.is_finite() {
                    true => WrappedBox::around(ring.center.point, to.metres()),
                    false => WrappedBox::ALL,
                };
                BoundArea { around, shape: Shape::Ring(ring) }
            }
            &GeoArea::Box { south_west, north_east } => {
                BoundArea { around: WrappedBox::between(south_west, north_east), shape: Shape::Box }
            }
            &GeoArea::Point(point) => {
                let UnitPoint { x, y } = UnitPoint::of(point);
                let around = WrappedBox { west: x, width: 0, south: y, north: y };
                BoundArea { around, shape: Shape::Box }
            }
            GeoArea::Polygons(polygons) => {
                let polygons = BoundPolygons::new(polygons);
                let (west, width, south, north) = polygons.around();
                let around = WrappedBox { west, width, south, north };
                BoundArea { around, shape: Shape::Polygons(Box::new(polygons)) }
            }
            GeoArea::Cell(cell) => {
                let UnitBounds { least, greatest } = cell.units();
                let width = u64::from(greatest.x - least.x);
                let around = WrappedBox { west: least.x, width, south: least.y, north: greatest.y };
                BoundArea { around, shape: Shape::Box }
            }
            // Refused before anybody asks.
            GeoArea::File(_) => BoundArea { around: WrappedBox::NOTHING, shape: Shape::Box },
        }
    }

    /// Whether a point is in the area.
    #[inline]
    pub(crate) fn contains(&self, point: UnitPoint, counts: &mut GeoCounts) -> bool {
        counts.points_tested += 1;
        self.around.contains(point)
            && match &self.shape {
                Shape::Box => true,
                Shape::Ring(ring) => ring.contains(point, counts),
                Shape::Polygons(polygons) => {
                    polygons.contains(point, &mut counts.points_by_formula)
                }
            }
    }

    /// Prepares for comparing about so many points, which changes no answer.
    pub(crate) fn prepare(&self, n_points: u64) {
        if let Shape::Ring(ring) = &self.shape {
            ring.prepare((self.around.south, self.around.north), n_points);
        }
    }

    /// Place of the points of a box, as far as that is known of all.
    pub(crate) fn relation(&self, points: &UnitBounds) -> BoxRelation {
        if points.is_empty() {
            return BoxRelation::Outside;
        }
        match (self.around.relation(points), &self.shape) {
            (BoxRelation::Outside, _) => BoxRelation::Outside,
            (relation, Shape::Box) => relation,
            (_, Shape::Ring(ring)) => ring.relation(points),
            (_, Shape::Polygons(polygons)) => polygons.relation(points),
        }
    }

    /// About which share of the points in a box are in the area.
    pub(crate) fn share_of(&self, points: &UnitBounds) -> f64 {
        match &self.shape {
            Shape::Box => self.around.share_of(points),
            Shape::Ring(ring) => ring.share_of(points),
            Shape::Polygons(polygons) => polygons.share_of(points),
        }
    }

    /// Distances from a center, if these make the area.
    fn ring(&self) -> Option<&Ring> {
        match &self.shape {
            Shape::Ring(ring) => Some(ring),
            Shape::Box | Shape::Polygons(_) => None,
        }
    }

    /// Says how far the nearest of some points is, which are all outside: `16.32 km away, at most 16.09 wanted`.
    pub(crate) fn missed_by(&self, area: &GeoArea, points: &[UnitPoint]) -> String {
        let misses = points.iter().filter_map(|point| self.miss(*point, f64::INFINITY));
        let nearest = misses.min_by(|(a, _), (b, _)| a.total_cmp(b));
        let nearest = nearest.map_or(0.0, |(_, metres)| metres);
        let Some(ring) = self.ring() else {
            let (described, nearest) = (area.described(), length_text(nearest));
            return format!(
                "none of its points is in the {described}; the nearest is {nearest} away"
            );
        };
        let (least, greatest) = ring.metres;
        let (word, wanted) = if nearest < least { ("least", least) } else { ("most", greatest) };
        let (found, wanted) = lengths_apart(nearest, wanted);
        format!("{found} away, at {word} {wanted} wanted")
    }

    /// Edges that [`miss`](Self::miss) compares a point with at the most.
    pub(crate) fn n_edges(&self) -> u64 {
        match &self.shape {
            Shape::Polygons(polygons) => polygons.n_edges(),
            Shape::Box | Shape::Ring(_) => 0,
        }
    }

    /// Metres by which a point misses the area, if these are less than `below`, and metres to what it is measured from: the center, or the
    /// border of an area without one.
    pub(crate) fn miss(&self, point: UnitPoint, below: f64) -> Option<(f64, f64)> {
        if let Shape::Ring(ring) = &self.shape {
            let (metres, (least, greatest)) = (ring.center.metres(point), ring.metres);
            let miss = (metres - greatest).max(least - metres);
            return (miss < below).then_some((miss, metres));
        }
        if self.contains(point, &mut GeoCounts::default()) {
            return (0.0 < below).then_some((0.0, 0.0));
        }
        let center = Center::at(point);
        let to_box = self.around.parts().map(|part| center.nearest_metres(&part));
        let to_box = to_box.reduce(f64::min).filter(|metres| *metres < below)?;
        let metres = match &self.shape {
            Shape::Polygons(polygons) => {
                let limit = if below.is_finite() { haversine_of(below) } else { below };
                metres_of(nearest_of(polygons.lines(), &center, limit)?)
            }
            Shape::Box | Shape::Ring(_) => to_box,
        };
        Some((metres, metres))
    }

    /// Says that there is nothing in the area, and how far the nearest point is from its center or border, in metres.
    pub(crate) fn nothing_within(&self, area: &GeoArea, nearest: f64) -> String {
        let nearest = length_text(nearest);
        let Some(ring) = self.ring() else {
            return format!("nothing in the {}; the nearest is {nearest} away", area.described());
        };
        let (least, greatest) = (ring.metres.0, length_text(ring.metres.1));
        match least > 0.0 {
            true => format!(
                "nothing from {} to {greatest} away; the nearest to that is {nearest} away",
                length_text(least)
            ),
            false => format!("nothing within {greatest}; the nearest is {nearest} away"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geo::{Distance, GeoPoint};
    use proptest::prelude::*;

    fn point(lat: f64, lon: f64) -> GeoPoint {
        GeoPoint::new(lat, lon).unwrap()
    }

    fn contains(area: &str, lat: f64, lon: f64) -> bool {
        let area = BoundArea::new(&area.parse().unwrap());
        area.contains(UnitPoint::of(point(lat, lon)), &mut GeoCounts::default())
    }

    #[test]
    fn what_is_outside_is_as_far_as_the_nearest_edge() {
        for (area, lat, lon, expected) in [
            // A degree is 111.2 km.
            ("BOX 0,0 10,10", 11.0, 5.0, 111_195.0),
            ("BOX -10,170 10,-170", 0.0, -169.0, 111_195.0),
            ("BOX 0,0 10,10", 5.0, 5.0, 0.0),
            ("1,2", 1.0, 3.0, 111_178.0),
            ("POLYGON((0 0,10 0,10 10,0 10))", -1.0, 5.0, 111_195.0),
            ("POLYGON((170 -10,190 -10,190 10,170 10))", 0.0, -169.0, 111_195.0),
            // The middle of the slope, √½ degrees away.
            ("POLYGON((-1 0,1 0,0 1,-1 0))", 1.0, 1.0, 78_622.0),
            // In the hole.
            ("POLYGON((0 0,10 0,10 10,0 10),(1 -1,9 -1,9 9,1 9))", 5.0, 2.0, 110_772.0),
            ("POLYGON((0 0,10 0,10 10,0 10))", 5.0, 5.0, 0.0),
        ] {
            let area = BoundArea::new(&area.parse().unwrap());
            let outside = UnitPoint::of(point(lat, lon));
            let (miss, metres) = area.miss(outside, f64::INFINITY).unwrap();
            assert!((metres - expected).abs() < 20.0, "{metres} in place of {expected}");
            assert_eq!((miss, area.miss(outside, miss * 0.999)), (metres, None));
            assert_eq!(area.miss(outside, miss + 1.0), Some((miss, metres)));
        }
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
            let ring = area.ring().unwrap();
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
                let never = if is_in { BoxRelation::Outside } else { BoxRelation::Inside };
                prop_assert!(alone != never, "{:?}", other);
            }
            let all = area.relation(&UnitBounds::of(points.iter().copied()));
            let any = points.iter().any(|it| area.contains(*it, &mut counts));
            prop_assert!(!any || all != BoxRelation::Outside);
            let every = points.iter().all(|it| area.contains(*it, &mut counts));
            prop_assert!(every || all != BoxRelation::Inside);
            let before = area.contains(points[0], &mut counts);
            area.prepare(1 << 20);
            prop_assert_eq!(area.contains(points[0], &mut counts), before);
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
