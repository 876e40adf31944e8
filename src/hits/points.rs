//! Statistics of the points of a field.

use crate::geo::GeoPoint;

/// Number, box and centroid of the points in the matching documents. Of several points of a document each different one counts once.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PointStatistics {
    /// Number of points.
    pub count: u64,
    /// Matching documents that have any.
    pub documents: u64,
    /// Corners of the smallest box around them, in the south-west and the north-east; `None` without points. It goes over 180° where
    /// that is shorter, and its western corner is then east of the other.
    ///
    /// Of more than a million points that are nowhere 38 m apart in longitude, all round the globe, it may be 38 m too long.
    pub bounds: Option<(GeoPoint, GeoPoint)>,
    /// Point in the direction of the mean of their unit vectors, as an index keeps it. `None` without points, and if these outweigh each
    /// other, as two on opposite sides of the globe do.
    pub centroid: Option<GeoPoint>,
}
