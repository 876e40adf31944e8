//! Distances from a center as codes, which rings are ranges of.

use super::distance::{Center, haversine_of};
use super::{Distance, GeoPoint, UnitBounds, UnitPoint};

/// Codes of distances from a center: bits of haversines, which are never negative and so in the order of these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DistanceCodes {
    center: Center,
}

impl DistanceCodes {
    /// Code of the farthest points.
    pub(crate) const FARTHEST: u64 = 1f64.to_bits();

    pub(crate) fn of(center: GeoPoint) -> Self {
        DistanceCodes { center: Center::of(center) }
    }

    /// Code of a point; it is within a distance exactly if that has no smaller code.
    #[inline]
    pub(crate) fn code(&self, point: UnitPoint) -> u64 {
        self.center.haversine(point).to_bits()
    }

    /// Codes that no point of a box is before, and none is behind.
    pub(crate) fn codes_of(&self, bounds: &UnitBounds) -> (u64, u64) {
        let code = |haversine: f64| haversine.max(0.0).to_bits();
        let Self { center } = self;
        (code(center.nearest_haversine(bounds)), code(center.farthest_haversine(bounds)))
    }
}

impl Distance {
    /// Code of points so far from a center.
    pub(crate) fn code(self) -> u64 {
        haversine_of(self.metres()).to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geo::{BoundArea, GeoArea, GeoCounts};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn codes_agree_with_circles(
            x: u32, y: u32, exponent in 0.0..7.5f64,
            near in prop::collection::vec((any::<i32>(), any::<i32>(), 0..32u32), 1..20),
        ) {
            let center = UnitPoint { x, y };
            let radius = Distance::from_metres(10f64.powf(exponent)).unwrap();
            let area = BoundArea::new(&GeoArea::circle(radius, center.to_point()));
            let codes = DistanceCodes::of(center.to_point());
            let points = near.into_iter().map(|(dx, dy, shift)| UnitPoint {
                x: x.wrapping_add_signed(dx >> shift),
                y: y.saturating_add_signed(dy >> shift),
            });
            let points: Vec<_> = points.chain([center]).collect();
            let (least, greatest) = codes.codes_of(&UnitBounds::of(points.iter().copied()));
            for point in points {
                let code = codes.code(point);
                let is_in = area.contains(point, &mut GeoCounts::default());
                prop_assert_eq!(code <= radius.code(), is_in);
                prop_assert!((least..=greatest).contains(&code));
                // A circle that ends at the point, which is in it or not by the last bit.
                let metres = center.to_point().distance(point.to_point());
                let radius = Distance::from_metres(metres).unwrap();
                let area = BoundArea::new(&GeoArea::circle(radius, center.to_point()));
                let is_in = area.contains(point, &mut GeoCounts::default());
                prop_assert_eq!(code <= radius.code(), is_in);
            }
        }
    }
}
