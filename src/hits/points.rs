//! Statistics of the points of a field.

use crate::geo::GeoPoint;

/// Number, box and centroid of the points in the matching documents.
///
/// A point that a document has twice counts once.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PointStatistics {
    /// Number of points.
    pub count: u64,
    /// Matching documents that have any.
    pub documents: u64,
    /// Corners of the smallest box around them; `None` without points.
    ///
    /// They are in the south-west and the north-east. If the box is shorter over 180°, it goes there, and its western corner is east of
    /// the other. With more than a million points that are nowhere 38 m apart in longitude, all round the globe, it may be 38 m too long.
    pub bounds: Option<(GeoPoint, GeoPoint)>,
    /// Point in the direction of the mean of their unit vectors.
    ///
    /// It is rounded as an index keeps points. `None` without points, and if these outweigh each other, as two on opposite sides of the
    /// globe do.
    pub centroid: Option<GeoPoint>,
}
