//! Distances as ranks: of points, and of boxes at the least and at the most.
//!
//! Before any rank, places are compared by a *key*: the haversine of their distance, or two less that if the farthest come first. Keys
//! grow from the first to the last as ranks do, and take no arc sine.

use super::key::Direction;
use crate::function::DistanceFrom;
use crate::geo::{Center, UnitBounds, UnitPoint, WrappedBox, haversine_of, metres_of};
use crate::ids::FieldId;
use crate::value;

/// Share by which keys of a rank are made less and more than they are, and metres: above all that rounding changes.
const MARGIN: f64 = 1e-12;
const MARGIN_M: f64 = 1e-9;

/// Distances that documents are in the order of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near<'o> {
    pub(super) field: FieldId,
    pub(super) center: Center,
    pub(super) distance: &'o DistanceFrom,
    pub(super) direction: Direction,
}

impl Near<'_> {
    /// Rank of a document whose nearest point has a haversine.
    pub(super) fn rank(&self, haversine: f64) -> u128 {
        self.rank_of_metres(metres_of(haversine))
    }

    fn rank_of_metres(&self, metres: f64) -> u128 {
        self.direction.rank(value::code_of_f64(self.distance.value(metres)))
    }

    /// The rank that no point of a box comes before.
    pub(super) fn best(&self, bounds: &UnitBounds) -> u128 {
        self.rank_of_metres(match self.direction.descending {
            false => self.center.nearest_metres(bounds),
            true => self.center.farthest_metres(bounds),
        })
    }

    /// Key of points with a haversine.
    #[inline]
    pub(super) fn key(&self, haversine: f64) -> f64 {
        if self.direction.descending { 2.0 - haversine } else { haversine }
    }

    /// A key that no point of a box is below.
    #[inline]
    pub(super) fn best_key(&self, bounds: &UnitBounds) -> f64 {
        match self.direction.descending {
            false => self.center.rough_nearest(bounds),
            true => self.key(self.center.rough_farthest(bounds)),
        }
    }

    /// A key that no point of a box is above.
    pub(super) fn worst_key(&self, bounds: &UnitBounds) -> f64 {
        match self.direction.descending {
            false => self.center.rough_farthest(bounds),
            true => self.key(self.center.rough_nearest(bounds)),
        }
    }

    /// Keys that no point with a rank is below or above; `None` for the rank of missing points.
    pub(super) fn keys_of(&self, rank: u128) -> Option<(f64, f64)> {
        let metres = value::f64_of_code(self.direction.code(rank)?);
        let up_to = metres + self.distance.step.map_or(0.0, |step| step.metres());
        let nearest = haversine_of((metres - metres * MARGIN - MARGIN_M).max(0.0)).min(1.0);
        let farthest = haversine_of(up_to + up_to * MARGIN + MARGIN_M);
        let (nearest, farthest) = (nearest - nearest * MARGIN, farthest + farthest * MARGIN);
        Some(match self.direction.descending {
            false => (nearest, farthest),
            // Two less a small number is rounded.
            true => (self.key(farthest) - MARGIN, self.key(nearest) + MARGIN),
        })
    }

    /// The box that points are in which may come before a rank; none if that is not known.
    pub(super) fn around(&self, last: u128) -> Option<WrappedBox> {
        let code = self.direction.code(last).filter(|_| !self.direction.descending)?;
        let metres =
            value::f64_of_code(code) + self.distance.step.map_or(0.0, |step| step.metres());
        Some(WrappedBox::around(self.center.point, metres))
    }

    /// A number that grows with the distance of points that are near.
    pub(super) fn about(&self, UnitPoint { x, y }: UnitPoint) -> u64 {
        let UnitPoint { x: to_x, y: to_y } = self.center.point;
        let dx = f64::from(x.wrapping_sub(to_x).cast_signed()) * 2.0 * self.center.cos_lat();
        let dy = f64::from(y) - f64::from(to_y);
        (dx * dx + dy * dy) as u64
    }
}
