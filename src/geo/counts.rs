//! Work of testing points.

use crate::sums::sums;

/// Points that an area was compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GeoCounts {
    /// Boxes around points of some hundred documents that were compared with the area.
    pub boxes_tested: u64,
    /// Boxes among these that settled all of their points.
    pub boxes_settled: u64,
    /// Pages all of whose points are in the area, so that none was compared.
    pub pages_inside: u64,
    /// Pages on the border of the area, whose points were compared.
    pub pages_border: u64,
    /// Points that were compared with the area.
    pub points_tested: u64,
    /// Points among these that needed the formula of distances, or edges of polygons.
    pub points_by_formula: u64,
}

sums! {
    GeoCounts: boxes_tested, boxes_settled, pages_inside, pages_border, points_tested, points_by_formula;
}
