//! Areas as users give them.

use super::{Distance, GeoPoint, NoGeo};
use crate::error::Result;
use std::fmt;

/// An area on the globe. Its border belongs to it.
///
/// Its text is what the query language has between brackets:
///
/// ```
/// use treepie::geo::GeoArea;
///
/// for text in ["10km OF 48.8566,2.3522", "1mi TO 2.5mi OF 0,180", "BOX -10,170 10,-170", "49.255,4.154"] {
///     assert_eq!(text.parse::<GeoArea>()?.to_string(), text);
/// }
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GeoArea {
    /// Points that are not farther from a center than a distance, nor nearer than another.
    Circle {
        /// Least distance; a ring has one.
        from: Option<Distance>,
        /// Greatest distance.
        to: Distance,
        /// The center.
        center: GeoPoint,
    },
    /// Points between two circles of latitude and two meridians.
    ///
    /// It crosses 180° if its western meridian is east of its eastern one.
    Box {
        /// The corner in the south-west.
        south_west: GeoPoint,
        /// The corner in the north-east.
        north_east: GeoPoint,
    },
    /// One point, as an index keeps it.
    Point(GeoPoint),
}

impl GeoArea {
    /// Points within a distance of a center.
    pub fn circle(radius: Distance, center: GeoPoint) -> Self {
        GeoArea::Circle { from: None, to: radius, center }
    }

    /// Points at a distance of a center that is between two others.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if the first is the greater one.
    pub fn ring(from: Distance, to: Distance, center: GeoPoint) -> Result<Self> {
        Self::checked_ring(from, to, center).map_err(|wrong| wrong.into_usage("making a ring"))
    }

    pub(super) fn checked_ring(
        from: Distance,
        to: Distance,
        center: GeoPoint,
    ) -> Result<Self, NoGeo> {
        match from.metres() <= to.metres() {
            true => Ok(GeoArea::Circle { from: Some(from), to, center }),
            false => Err(NoGeo::new("the lesser distance before TO", format!("{from} TO {to}"))),
        }
    }

    /// Points between two corners; it crosses 180° if the first is east of the second.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if the first is north of the second.
    pub fn bounding_box(south_west: GeoPoint, north_east: GeoPoint) -> Result<Self> {
        Self::checked_box(south_west, north_east).map_err(|wrong| wrong.into_usage("making a box"))
    }

    pub(super) fn checked_box(south_west: GeoPoint, north_east: GeoPoint) -> Result<Self, NoGeo> {
        match south_west.lat() <= north_east.lat() {
            true => Ok(GeoArea::Box { south_west, north_east }),
            false => Err(NoGeo::new(
                "the south-western corner of a box, then the north-eastern one",
                format!("{south_west}, which is north of {north_east}"),
            )),
        }
    }

    /// Name of its kind in messages.
    pub(crate) fn described(&self) -> &'static str {
        match self {
            GeoArea::Circle { from: None, .. } => "circle",
            GeoArea::Circle { .. } => "ring",
            GeoArea::Box { .. } => "box",
            GeoArea::Point(_) => "point",
        }
    }
}

impl fmt::Display for GeoArea {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GeoArea::Circle { from: None, to, center } => write!(f, "{to} OF {center}"),
            GeoArea::Circle { from: Some(from), to, center } => {
                write!(f, "{from} TO {to} OF {center}")
            }
            GeoArea::Box { south_west, north_east } => write!(f, "BOX {south_west} {north_east}"),
            GeoArea::Point(point) => point.fmt(f),
        }
    }
}

/// Relation of a document's points to an area.
///
/// `WITHIN` and `INTERSECTS` are the same for points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GeoRelation {
    /// Some value is in the area.
    Within,
    /// Some value has a point in common with the area.
    Intersects,
    /// Some value has all of the area in it; a point has only a point.
    Contains,
    /// There are values, and none has a point in common with the area.
    Disjoint,
}

impl GeoRelation {
    /// All relations.
    pub const ALL: [GeoRelation; 4] = [
        GeoRelation::Within,
        GeoRelation::Intersects,
        GeoRelation::Contains,
        GeoRelation::Disjoint,
    ];

    /// The word in the query language.
    pub fn name(self) -> &'static str {
        match self {
            GeoRelation::Within => "WITHIN",
            GeoRelation::Intersects => "INTERSECTS",
            GeoRelation::Contains => "CONTAINS",
            GeoRelation::Disjoint => "DISJOINT",
        }
    }

    /// The relation of a word.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|relation| relation.name() == name)
    }
}
