//! Distances to edges of polygons, for people who look for something outside.
//!
//! Edges are straight in longitude and latitude, which are no great circles: the nearest place of one is looked for, first on pieces of
//! it and then around the nearest end of these.

use super::distance::Center;
use super::{UnitBounds, UnitPoint};

/// Binary logarithm of the units of a piece: less than two degrees.
const PIECE_BITS: u32 = 24;
const PIECES_MAX: u64 = 256;
/// Steps that a piece is narrowed down in, each to two thirds: from 300 km to a millimetre.
const STEPS: u32 = 50;

/// An edge in units, from one end on.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeLine {
    pub(super) from: UnitPoint,
    pub(super) dx: i64,
    pub(super) dy: u32,
}

impl EdgeLine {
    /// The place at a share of its length.
    fn at(&self, share: f64) -> UnitPoint {
        let dx = (self.dx as f64 * share).round() as i64;
        let dy = (f64::from(self.dy) * share).round() as u32;
        UnitPoint { x: self.from.x.wrapping_add(dx as u32), y: self.from.y.saturating_add(dy) }
    }

    /// A box that it is in: of all longitudes if it crosses 180°.
    fn bounds(&self) -> UnitBounds {
        let (from, to) = (i64::from(self.from.x), i64::from(self.from.x) + self.dx);
        let (south, north) = (self.from.y, self.from.y.saturating_add(self.dy));
        let x = |x: i64| u32::try_from(x).ok();
        let (west, east) = match (x(from.min(to)), x(from.max(to))) {
            (Some(west), Some(east)) => (west, east),
            _ => (0, u32::MAX),
        };
        UnitBounds::of([UnitPoint { x: west, y: south }, UnitPoint { x: east, y: north }])
    }

    /// About the haversine of its nearest place, and never less than that is.
    fn nearest_haversine(&self, center: &Center) -> f64 {
        let n =
            (self.dx.unsigned_abs().max(self.dy.into()) >> PIECE_BITS).clamp(1, PIECES_MAX) as f64;
        let of_share = |share: f64| center.haversine(self.at(share));
        let ends = (0..=n as u32).map(|nth| f64::from(nth) / n);
        let of_ends = ends.map(|share| (of_share(share), share));
        let Some((mut least, nearest)) = of_ends.min_by(|(a, _), (b, _)| a.total_cmp(b)) else {
            return f64::INFINITY;
        };
        let (mut from, mut to) = ((nearest - 1.0 / n).max(0.0), (nearest + 1.0 / n).min(1.0));
        for _ in 0..STEPS {
            let third = (to - from) / 3.0;
            let (a, b) = (from + third, to - third);
            let (of_a, of_b) = (of_share(a), of_share(b));
            least = least.min(of_a).min(of_b);
            if of_a <= of_b { to = b } else { from = a }
        }
        least
    }
}

/// Haversine of the nearest place of all edges, if it is less than `below`.
pub(super) fn nearest_of(
    edges: impl Iterator<Item = EdgeLine>,
    center: &Center,
    below: f64,
) -> Option<f64> {
    let mut least = None;
    for edge in edges {
        let limit = least.unwrap_or(below);
        if center.rough_nearest(&edge.bounds()) < limit {
            least = Some(edge.nearest_haversine(center)).filter(|it| *it < limit).or(least);
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geo::distance::metres_of;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_place_of_an_edge_is_nearer(
            x: u32, y: u32, from_x: u32, from_y: u32, dx: i32, dy: u32, shift in 0..24u32,
            shares in prop::collection::vec(0.0..=1.0f64, 50),
        ) {
            let from = UnitPoint { x: from_x, y: from_y };
            let dy = (dy >> shift).min(u32::MAX - from_y);
            let edge = EdgeLine { from, dx: i64::from(dx >> shift), dy };
            let center = Center::at(UnitPoint { x, y });
            let nearest = nearest_of([edge].into_iter(), &center, f64::INFINITY).unwrap();
            for share in shares {
                let other = center.haversine(edge.at(share));
                prop_assert!(metres_of(nearest) <= metres_of(other) + 1.0, "{share}");
                let rough = center.rough_nearest(&edge.bounds());
                prop_assert!(rough <= other);
            }
            prop_assert_eq!(nearest_of([edge].into_iter(), &center, nearest), None);
            let again = nearest_of([edge, edge].into_iter(), &center, f64::INFINITY);
            prop_assert_eq!(again, Some(nearest));
        }
    }
}
