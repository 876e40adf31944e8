//! Circles and rings: points at some distances from a center.

use super::distance::{Center, cos_lat, haversine_of};
use super::units::{X_UNITS, Y_UNITS};
use super::{BoxRelation, Distance, GeoCounts, GeoPoint, UnitBounds, UnitPoint};
use std::f64::consts::PI;
use std::sync::OnceLock;

/// Points on the other side of the globe are so many units of longitude away, which are the most.
const HALF_TURN: i64 = 1 << 31;
/// Units by which half widths are made smaller or larger. An arc sine near 1 is off by 11 units at most.
const MARGIN: i64 = 64;
/// Units of a longitude in radians.
const UNITS_OF_RADIAN: f64 = X_UNITS / (2.0 * PI);
/// Units of latitude from a pole within which a cosine is not known to nine digits.
const POLAR: u32 = 1_500;
const BANDS_MIN: u32 = 16;
const BANDS_MAX: u32 = 256;
/// Points for which another band is worth its making.
const POINTS_OF_BAND: u64 = 64;
/// Rows of a box whose widths are added up for its share.
const SHARE_ROWS: u32 = 4;

/// Haversines of the least and the greatest distance from a center.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    pub(super) center: Center,
    pub(super) least: f64,
    pub(super) greatest: f64,
    /// Metres of these.
    pub(super) metres: (f64, f64),
    bands: OnceLock<Bands>,
}

impl Ring {
    pub(super) fn new(from: Option<Distance>, to: Distance, center: GeoPoint) -> Self {
        let (from, to) = (from.map_or(0.0, |from| from.metres()), to.metres());
        Ring {
            center: Center::of(center),
            // The center itself is at a distance of 0.
            least: if from > 0.0 { haversine_of(from) } else { 0.0 },
            greatest: haversine_of(to),
            metres: (from, to),
            bands: OnceLock::new(),
        }
    }

    /// Whether a point is at one of the distances; it is one of the box around.
    #[inline]
    pub(super) fn contains(&self, point: UnitPoint, counts: &mut GeoCounts) -> bool {
        if let Some(known) = self.bands.get().and_then(|bands| bands.settle(point)) {
            return known;
        }
        counts.points_by_formula += 1;
        let haversine = self.center.haversine(point);
        self.least <= haversine && haversine <= self.greatest
    }

    /// Makes bands of the latitudes between two, where so many points are to be compared.
    pub(super) fn prepare(&self, (south, north): (u32, u32), n_points: u64) {
        let n_bands = u32::try_from(n_points / POINTS_OF_BAND).unwrap_or(BANDS_MAX).min(BANDS_MAX);
        if n_bands >= BANDS_MIN && self.bands.get().is_none() {
            self.bands.get_or_init(|| Bands::new(self, (south, north), n_bands));
        }
    }

    /// Place of the points of a box, which has some.
    pub(super) fn relation(&self, points: &UnitBounds) -> BoxRelation {
        let nearest = self.center.rough_nearest(points);
        if nearest > self.greatest {
            return BoxRelation::Outside;
        }
        let farthest = self.center.rough_farthest(points);
        if farthest < self.least {
            return BoxRelation::Outside;
        }
        if self.least <= nearest && farthest <= self.greatest {
            return BoxRelation::Inside;
        }
        let nearest = self.center.nearest_haversine(points);
        if nearest > self.greatest {
            return BoxRelation::Outside;
        }
        let farthest = self.center.farthest_haversine(points);
        match farthest < self.least {
            true => BoxRelation::Outside,
            false if self.least <= nearest && farthest <= self.greatest => BoxRelation::Inside,
            false => BoxRelation::Crosses,
        }
    }

    /// About which share of a box is at these distances.
    pub(super) fn share_of(&self, points: &UnitBounds) -> f64 {
        let UnitBounds { least, greatest } = points;
        let (width, height) = (greatest.x - least.x, greatest.y - least.y);
        let west = f64::from(least.x.wrapping_sub(self.center.point.x).cast_signed());
        let width = f64::from(width).max(1.0);
        let row = |nth: u32| {
            let y = least.y
                + (u64::from(height) * u64::from(2 * nth + 1) / u64::from(2 * SHARE_ROWS)) as u32;
            let within = |limit: f64| {
                let half = half_width(self.square(limit, y));
                // From the western side eastwards, and once around.
                let overlap = |turn: f64| {
                    ((west + turn + width).min(half) - (west + turn).max(-half)).max(0.0)
                };
                ((overlap(0.0) + overlap(-X_UNITS) + overlap(X_UNITS)) / width).min(1.0)
            };
            let hole = if self.least > 0.0 { within(self.least) } else { 0.0 };
            within(self.greatest) - hole
        };
        ((0..SHARE_ROWS).map(row).sum::<f64>() / f64::from(SHARE_ROWS)).clamp(0.0, 1.0)
    }

    /// The square of the sine of half the longitude at which points of a latitude have a haversine.
    fn square(&self, limit: f64, y: u32) -> f64 {
        (limit - square_of_lat(i64::from(y) - i64::from(self.center.point.y)))
            / (self.center.cos_lat * cos_lat(y)).max(f64::MIN_POSITIVE)
    }
}

/// The square of the sine of half an angle of so many units of latitude.
fn square_of_lat(units: i64) -> f64 {
    let sine = libm::sin(units as f64 * (PI / (2.0 * Y_UNITS)));
    sine * sine
}

/// Units of longitude for the square of the sine of half the angle.
fn half_width(square: f64) -> f64 {
    match square {
        square if square >= 1.0 => HALF_TURN as f64,
        square if square > 0.0 => 2.0 * square.sqrt().asin() * UNITS_OF_RADIAN,
        _ => 0.0,
    }
}

/// Bands of latitude, which settle most points by their longitude.
#[derive(Clone, Debug)]
struct Bands {
    center_x: u32,
    south: u32,
    /// Bits of a latitude that its band does not depend on.
    shift: u32,
    bands: Vec<Band>,
}

/// Units of longitude from the center, −1 for none.
#[derive(Clone, Copy, Debug)]
struct Band {
    /// Points beyond are too far.
    outer: i64,
    /// Points within are near enough.
    inner: i64,
    /// Points beyond are far enough.
    hole_outer: i64,
    /// Points within are too near.
    hole_inner: i64,
}

impl Bands {
    fn new(ring: &Ring, (south, north): (u32, u32), n_bands: u32) -> Self {
        let shift = (0..u32::BITS - 1).find(|shift| (north - south) >> shift < n_bands);
        let shift = shift.unwrap_or(u32::BITS - 1);
        let n_bands = ((north - south) >> shift) + 1;
        // Both ends of each, the last one beyond the globe at the most.
        let y = |nth: u32| {
            let units = u64::from(south) + (u64::from(nth) << shift);
            units.min(u32::MAX.into()) as u32
        };
        let mut ends = Ends::of(ring, y(0));
        let bands = (1..=n_bands).map(|nth| {
            let next = Ends::of(ring, y(nth));
            let band = Band::between(ring, &ends, &next);
            ends = next;
            band
        });
        let bands = bands.collect();
        Bands { center_x: ring.center.point.x, south, shift, bands }
    }

    /// Whether a point is at one of the distances, where that is known.
    #[inline]
    fn settle(&self, UnitPoint { x, y }: UnitPoint) -> Option<bool> {
        let row = y.checked_sub(self.south)? >> self.shift;
        let band = self.bands.get(row as usize)?;
        let dx = i64::from(x.wrapping_sub(self.center_x).cast_signed()).abs();
        if dx > band.outer || dx <= band.hole_inner {
            return Some(false);
        }
        (dx <= band.inner && dx > band.hole_outer).then_some(true)
    }
}

/// A latitude at which a band ends.
struct Ends {
    y: u32,
    square_of_lat: f64,
    cos_lat: f64,
}

impl Ends {
    fn of(ring: &Ring, y: u32) -> Self {
        let square_of_lat = square_of_lat(i64::from(y) - i64::from(ring.center.point.y));
        Ends { y, square_of_lat, cos_lat: cos_lat(y) }
    }
}

impl Band {
    /// The band from one latitude to another in the north, both included.
    fn between(ring: &Ring, south: &Ends, north: &Ends) -> Self {
        let is_at_center = (south.y..=north.y).contains(&ring.center.point.y);
        let is_at_equator = (south.y..=north.y).contains(&(u32::MAX / 2));
        let is_polar = south.y < POLAR || north.y > u32::MAX - POLAR;
        let nearest = if is_at_center { 0.0 } else { south.square_of_lat.min(north.square_of_lat) };
        let farthest = south.square_of_lat.max(north.square_of_lat);
        let least = if is_polar { 0.0 } else { south.cos_lat.min(north.cos_lat) };
        let greatest = if is_at_equator { 1.0 } else { south.cos_lat.max(north.cos_lat) };
        // More and less than what sines and cosines may be off.
        let least = ring.center.cos_lat * least * (1.0 - 1e-9);
        let greatest = ring.center.cos_lat * (greatest * (1.0 + 1e-9) + 1e-15);
        let limits = |limit: f64| {
            if limit == f64::INFINITY {
                return (HALF_TURN, HALF_TURN);
            }
            let margin = 1e-14 * (limit + farthest);
            let (low, high) = (limit - farthest - margin, limit - nearest + margin);
            let inner = match low {
                low if low > 0.0 => units(low / greatest, -1.0),
                _ => -1,
            };
            let outer = match high {
                high if high < 0.0 => -1,
                // Near a pole all longitudes may be near enough.
                _ if least <= 0.0 => HALF_TURN,
                high => units(high / least, 1.0),
            };
            (inner, outer)
        };
        let (inner, outer) = limits(ring.greatest);
        let (hole_inner, hole_outer) = match ring.least > 0.0 {
            true => limits(ring.least),
            false => (-1, -1),
        };
        Band { outer, inner, hole_outer, hole_inner }
    }
}

/// Units for the square of a sine, and some more or less.
fn units(square: f64, sign: f64) -> i64 {
    match square >= 1.0 {
        true => HALF_TURN,
        false => (half_width(square) * (1.0 + sign * 1e-9)) as i64 + sign as i64 * MARGIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ring(x: u32, y: u32, from: f64, to: f64) -> Ring {
        let metres = |it| Distance::from_metres(it).unwrap();
        Ring::new(Some(metres(from)), metres(to), UnitPoint { x, y }.to_point())
    }

    /// Units near the ends of the globe and everywhere.
    fn unit() -> impl Strategy<Value = u32> {
        prop_oneof![
            any::<u32>(),
            (0..40u32).prop_map(|bits| 1u32.checked_shl(bits).unwrap_or(u32::MAX)),
            (0..3_000u32).prop_map(|n| u32::MAX - n),
            0..3_000u32,
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn bands_settle_points_as_the_formula_does(
            x in unit(), y in unit(), exponent in -1.0..7.4f64, share in 0.0..1.5f64, n_bands in 1..256u32,
            near in prop::collection::vec((any::<i32>(), any::<i32>(), 0..32u32, 0..32u32), 1..40),
        ) {
            let to = 10f64.powf(exponent).min(3e7);
            let from = if share > 1.0 { 0.0 } else { to * share };
            let ring = ring(x, y, from, to);
            let bands = Bands::new(&ring, (0, u32::MAX), n_bands);
            let of_ring = {
                let half = (to / super::super::EARTH_RADIUS_M * (Y_UNITS / PI)) as u32;
                Bands::new(&ring, (y.saturating_sub(half), y.saturating_add(half)), n_bands)
            };
            for (dx, dy, shift_x, shift_y) in near {
                let other = UnitPoint {
                    x: x.wrapping_add_signed(dx >> shift_x),
                    y: y.saturating_add_signed(dy >> shift_y),
                };
                let haversine = ring.center.haversine(other);
                let is_in = ring.least <= haversine && haversine <= ring.greatest;
                for bands in [&bands, &of_ring] {
                    let known = bands.settle(other);
                    prop_assert!(known.is_none_or(|known| known == is_in), "{other:?} {is_in}");
                }
            }
        }

        #[test]
        fn boxes_are_where_all_their_points_are(
            x in unit(), y in unit(), exponent in 0.0..7.4f64, share in 0.0..1.5f64,
            corners in prop::collection::vec((any::<i32>(), any::<i32>(), 0..32u32), 1..4),
            inside in prop::collection::vec((0.0..=1.0f64, 0.0..=1.0f64), 1..30),
        ) {
            let to = 10f64.powf(exponent).min(3e7);
            let from = if share > 1.0 { 0.0 } else { to * share };
            let ring = ring(x, y, from, to);
            let bounds = UnitBounds::of(corners.iter().map(|(dx, dy, shift)| UnitPoint {
                x: x.wrapping_add_signed(dx >> shift),
                y: y.saturating_add_signed(dy >> shift),
            }));
            let between = |least: u32, greatest: u32, share: f64| {
                least + (f64::from(greatest - least) * share) as u32
            };
            let relation = ring.relation(&bounds);
            let (nearest, farthest) =
                (ring.center.nearest_haversine(&bounds), ring.center.farthest_haversine(&bounds));
            let rough_nearest = ring.center.rough_nearest(&bounds);
            let rough_farthest = ring.center.rough_farthest(&bounds);
            let mut all = vec![bounds.least, bounds.greatest];
            // Corners, the meridian and the latitude of the center, and others.
            all.push(UnitPoint { x: bounds.least.x, y: bounds.greatest.y });
            all.push(UnitPoint { x: bounds.greatest.x, y: bounds.least.y });
            all.push(UnitPoint {
                x: x.clamp(bounds.least.x, bounds.greatest.x),
                y: y.clamp(bounds.least.y, bounds.greatest.y),
            });
            all.extend(inside.iter().map(|(of_x, of_y)| UnitPoint {
                x: between(bounds.least.x, bounds.greatest.x, *of_x),
                y: between(bounds.least.y, bounds.greatest.y, *of_y),
            }));
            for point in all {
                let haversine = ring.center.haversine(point);
                prop_assert!(nearest <= haversine && haversine <= farthest, "{point:?} {haversine}");
                prop_assert!(rough_nearest <= haversine && haversine <= rough_farthest, "{point:?}");
                let is_in = ring.least <= haversine && haversine <= ring.greatest;
                match relation {
                    BoxRelation::Inside => prop_assert!(is_in, "{point:?}"),
                    BoxRelation::Outside => prop_assert!(!is_in, "{point:?}"),
                    BoxRelation::Crosses => {}
                }
            }
            prop_assert!((0.0..=1.0).contains(&ring.share_of(&bounds)));
        }
    }

    #[test]
    fn bands_settle_nearly_all_points() {
        let paris = UnitPoint::of(GeoPoint::new(48.8566, 2.3522).unwrap());
        let ring = ring(paris.x, paris.y, 0.0, 10_000.0);
        let half = (10_000.0 / super::super::EARTH_RADIUS_M * (Y_UNITS / PI)) as u32;
        let bands = Bands::new(&ring, (paris.y - half, paris.y + half), BANDS_MAX);
        let steps = (0..100).flat_map(|a| (0..100).map(move |b| (a, b)));
        let points = steps.map(|(a, b)| UnitPoint {
            x: paris.x - half + half / 50 * a,
            y: paris.y - half + half / 50 * b,
        });
        let n = points.filter(|point| bands.settle(*point).is_none()).count();
        assert!(n < 200, "{n} of 10,000 are left");
    }

    #[test]
    fn boxes_of_small_circles_are_told_apart() {
        let at = |x: i32, y: i32| UnitPoint {
            x: (1u32 << 31).wrapping_add_signed(x),
            y: (1u32 << 31).wrapping_add_signed(y),
        };
        // A kilometre has 107,000 units of longitude at the equator, twice as many of latitude.
        let ring = ring(1 << 31, 1 << 31, 0.0, 1_000.0);
        for (a, b, relation) in [
            (at(-50_000, -50_000), at(50_000, 50_000), BoxRelation::Inside),
            (at(-110_000, -50_000), at(50_000, 50_000), BoxRelation::Crosses),
            (at(90_000, 190_000), at(110_000, 220_000), BoxRelation::Outside),
            (at(-200_000, 190_000), at(110_000, 220_000), BoxRelation::Crosses),
        ] {
            assert_eq!(ring.relation(&UnitBounds::of([a, b])), relation, "{a:?} {b:?}");
        }
        let half = UnitBounds::of([at(0, -20_000), at(107_000 * 2, 20_000)]);
        assert!((ring.share_of(&half) - 0.5).abs() < 0.02, "{}", ring.share_of(&half));
    }
}
