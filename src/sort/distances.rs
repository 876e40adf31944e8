//! Distances as ranks: of points, and of boxes at the least and at the most.

use super::key::Direction;
use crate::function::DistanceFrom;
use crate::geo::{Center, UnitBounds, UnitPoint, WrappedBox};
use crate::ids::FieldId;
use crate::value;

/// Distances that documents are in the order of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near<'o> {
    pub(super) field: FieldId,
    pub(super) center: Center,
    pub(super) distance: &'o DistanceFrom,
    pub(super) direction: Direction,
}

impl Near<'_> {
    /// Rank of a document whose nearest point is so far.
    pub(super) fn rank(&self, metres: f64) -> u128 {
        self.direction.rank(value::code_of_f64(self.distance.value(metres)))
    }

    /// Ranks that no point of a box comes before or behind.
    pub(super) fn best(&self, bounds: &UnitBounds) -> u128 {
        match self.direction.descending {
            false => self.rank(self.center.nearest_metres(bounds)),
            true => self.rank(self.center.farthest_metres(bounds)),
        }
    }

    pub(super) fn worst(&self, bounds: &UnitBounds) -> u128 {
        match self.direction.descending {
            false => self.rank(self.center.farthest_metres(bounds)),
            true => self.rank(self.center.nearest_metres(bounds)),
        }
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
