//! The box around many points and their centroid, whatever the order of these.

use super::distance::{cos_lat, lat_radians};
use super::units::X_UNITS;
use super::{GeoPoint, UnitPoint};
use std::f64::consts::PI;

/// Slots of longitudes at the most: eight megabytes.
const SLOTS_MAX: u64 = 1 << 20;
/// A coordinate of a unit vector is a whole number of these, so that sums are exact.
const VECTOR_UNITS: f64 = (1u64 << 60) as f64;
/// A mean vector that is shorter is that of points all round the globe.
const SHORTEST: f64 = 1e-9;
const NO_SLOT: (u32, u32) = (u32::MAX, 0);

/// Sums and extremes of points.
#[derive(Clone, Debug)]
pub(crate) struct PointTotals {
    n: u64,
    /// Sums of unit vectors.
    sums: [i128; 3],
    south: u32,
    north: u32,
    /// The least and the greatest longitude in each of equal parts of the globe.
    slots: Vec<(u32, u32)>,
    shift: u32,
}

impl PointTotals {
    /// Room for at most so many points.
    ///
    /// With a slot for each, the widest gap between longitudes goes over the end of a slot, so that the box is the shortest. With more
    /// points than slots it still is if there is a gap as wide as a slot, and else at most a slot longer, which is 38 m.
    pub(crate) fn new(n_points: u64) -> Self {
        let n_slots = n_points.clamp(2, SLOTS_MAX).next_power_of_two();
        let (slots, shift) = (vec![NO_SLOT; n_slots as usize], u32::BITS - n_slots.ilog2());
        PointTotals { n: 0, sums: [0; 3], south: u32::MAX, north: 0, slots, shift }
    }

    /// Bytes that it takes.
    pub(crate) fn n_bytes(n_points: u64) -> u64 {
        n_points.clamp(2, SLOTS_MAX).next_power_of_two() * size_of::<(u32, u32)>() as u64
    }

    /// Number of points.
    pub(crate) fn n(&self) -> u64 {
        self.n
    }

    pub(crate) fn add(&mut self, UnitPoint { x, y }: UnitPoint) {
        self.n += 1;
        (self.south, self.north) = (self.south.min(y), self.north.max(y));
        if let Some((least, greatest)) = self.slots.get_mut((x >> self.shift) as usize) {
            (*least, *greatest) = ((*least).min(x), (*greatest).max(x));
        }
        let lon = (f64::from(x) - X_UNITS / 2.0) * (2.0 * PI / X_UNITS);
        let cosine = cos_lat(y);
        let vector = [cosine * libm::cos(lon), cosine * libm::sin(lon), libm::sin(lat_radians(y))];
        for (sum, part) in self.sums.iter_mut().zip(vector) {
            *sum += (part * VECTOR_UNITS).round() as i128;
        }
    }

    /// Corners of the smallest box, in the south-west and the north-east; it goes over 180° where that is shorter.
    pub(crate) fn bounds(&self) -> Option<(GeoPoint, GeoPoint)> {
        let slots = || self.slots.iter().filter(|slot| **slot != NO_SLOT);
        let (first, last) = (slots().next()?, slots().next_back()?);
        // The gap over 180° wins among equal ones, so that the box does not go there, and then the western one.
        let over_the_end = u64::from(first.0) + X_UNITS as u64 - u64::from(last.1);
        let mut widest = (over_the_end, first.0, last.1);
        for (slot, next) in slots().zip(slots().skip(1)) {
            let gap = u64::from(next.0 - slot.1);
            if gap > widest.0 {
                widest = (gap, next.0, slot.1);
            }
        }
        let (_, west, east) = widest;
        let corner = |x, y| UnitPoint { x, y }.to_point();
        let north_east = corner(east, self.north);
        // 180° east is kept as 180° west.
        let north_east = match east == 0 && west != 0 {
            true => GeoPoint::inside(north_east.lat(), 180.0),
            false => north_east,
        };
        Some((corner(west, self.south), north_east))
    }

    /// The point in the direction of the mean of all unit vectors, as an index keeps it; none where they outweigh each other.
    pub(crate) fn centroid(&self) -> Option<GeoPoint> {
        let scale = VECTOR_UNITS * self.n.max(1) as f64;
        let [x, y, z] = self.sums.map(|sum| sum as f64 / scale);
        let flat = (x * x + y * y).sqrt();
        if (flat * flat + z * z).sqrt() < SHORTEST {
            return None;
        }
        let lat = libm::atan2(z, flat).to_degrees();
        // At a pole all longitudes are one point.
        let lon = if flat < SHORTEST { 0.0 } else { libm::atan2(y, x).to_degrees() };
        let point = GeoPoint::checked(lat.clamp(-90.0, 90.0), lon.clamp(-180.0, 180.0)).ok()?;
        Some(UnitPoint::of(point).to_point())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn totals(points: &[(f64, f64)]) -> PointTotals {
        let mut totals = PointTotals::new(points.len() as u64);
        for (lat, lon) in points {
            totals.add(UnitPoint::of(GeoPoint::new(*lat, *lon).unwrap()));
        }
        totals
    }

    #[test]
    fn boxes_and_centroids_are_known_ones() {
        let told = |points: &[(f64, f64)]| {
            let totals = totals(points);
            let bounds = totals.bounds().map(|(a, b)| format!("{a} {b}"));
            let centroid = totals.centroid().map(|it| it.to_string());
            (bounds.unwrap_or_default(), centroid.unwrap_or_default())
        };
        for (points, bounds, centroid) in [
            (&[][..], "", ""),
            (&[(48.8566, 2.3522)], "48.8566,2.3522 48.8566,2.3522", "48.8566,2.3522"),
            (&[(0.0, 170.0), (0.0, -170.0)], "0,170 0,-170", "0,-180"),
            (&[(0.0, 10.0), (0.0, -10.0)], "0,-10 0,10", "0,0"),
            (&[(0.0, 180.0)], "0,-180 0,-180", "0,-180"),
            (&[(10.0, 170.0), (-10.0, 180.0)], "-10,170 10,180", "0,175.00000005"),
            (&[(0.0, 0.0), (0.0, 180.0)], "0,-180 0,0", ""),
            (&[(90.0, 17.0), (-90.0, 17.0)], "-90,17 90,17", ""),
            (&[(90.0, 0.0), (90.0, 90.0)], "90,0 90,90", "90,0"),
            // Each point of the equator is half a unit north of it.
            (&[(0.0, 0.0), (0.0, 90.0), (0.0, -90.0)], "0,-90 0,90", "0.00000006,0"),
        ] {
            assert_eq!(told(points), (bounds.to_owned(), centroid.to_owned()), "{points:?}");
        }
    }

    proptest! {
        #[test]
        fn no_box_around_the_points_is_shorter(
            mut xs in prop::collection::vec((any::<u32>(), 0..32u32), 1..40), from: u32,
        ) {
            let points: Vec<_> = xs.iter().map(|(x, shift)| (x >> shift).wrapping_add(from)).collect();
            let mut totals = PointTotals::new(points.len() as u64);
            let mut reversed = totals.clone();
            points.iter().for_each(|x| totals.add(UnitPoint { x: *x, y: *x }));
            xs.reverse();
            points.iter().rev().for_each(|x| reversed.add(UnitPoint { x: *x, y: *x }));
            prop_assert_eq!(totals.bounds(), reversed.bounds());
            prop_assert_eq!(totals.centroid(), reversed.centroid());
            let (a, b) = totals.bounds().unwrap();
            let (west, east) = (UnitPoint::of(a).x, UnitPoint::of(b).x);
            let width = |west: u32| points.iter().map(|x| x.wrapping_sub(west)).max().unwrap();
            prop_assert_eq!(width(west), east.wrapping_sub(west));
            let shortest = points.iter().map(|west| width(*west)).min().unwrap();
            prop_assert_eq!(east.wrapping_sub(west), shortest);
        }
    }
}
