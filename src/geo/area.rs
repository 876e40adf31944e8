//! Areas as users give them.

use super::{Distance, GeoCell, GeoPoint, GeoPolygons, GeoVertex, NoGeo};
use crate::error::Result;
use std::fmt;

/// An area on the globe. Its border belongs to it.
///
/// Its text is what the query language has between brackets:
///
/// ```
/// use treepie::geo::GeoArea;
///
/// for text in [
///     "10km OF 48.8566,2.3522",
///     "1mi TO 2.5mi OF 0,180",
///     "BOX -10,170 10,-170",
///     "49.255,4.154",
///     "POLYGON ((170 -10, 190 -10, 190 10, 170 -10))",
///     "CELL tile:8/129/88",
/// ] {
///     assert_eq!(text.parse::<GeoArea>()?.to_string(), text);
/// }
/// let geojson = r#"{"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1]]]}"#;
/// assert_eq!(geojson.parse::<GeoArea>()?.to_string(), "POLYGON ((0 0, 1 0, 1 1, 0 0))");
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    /// One polygon or several, with their holes.
    Polygons(GeoPolygons),
    /// A cell of a grid.
    Cell(GeoCell),
    /// The area that a file has as well-known text or GeoJSON: `@paris.geojson`.
    ///
    /// The tool reads files, and puts [the area in its place](crate::query::Query::with_area_files). Otherwise it is refused when it
    /// is asked for.
    File(String),
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

    /// Points in a polygon of an outer ring and holes; see [`GeoPolygons`].
    ///
    /// Rings need not be closed.
    ///
    /// ```
    /// use treepie::geo::{GeoArea, GeoVertex};
    ///
    /// let corner = |lon, lat| GeoVertex { lon, lat };
    /// let area = GeoArea::polygon([vec![corner(0.0, 0.0), corner(1.0, 0.0), corner(1.0, 1.0)]])?;
    /// assert_eq!(area.to_string(), "POLYGON ((0 0, 1 0, 1 1, 0 0))");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) for rings of fewer than three corners, degrees that are none, edges that could go
    /// round the globe either way, and more than [`VERTICES_MAX`](super::VERTICES_MAX) corners.
    pub fn polygon(rings: impl IntoIterator<Item = Vec<GeoVertex>>) -> Result<Self> {
        Self::multi_polygon([rings])
    }

    /// Points in one of several polygons.
    ///
    /// # Errors
    ///
    /// Fails like [`polygon`](Self::polygon).
    pub fn multi_polygon(
        polygons: impl IntoIterator<Item = impl IntoIterator<Item = Vec<GeoVertex>>>,
    ) -> Result<Self> {
        let polygons = GeoPolygons::of_rings(polygons);
        polygons.map(GeoArea::Polygons).map_err(|wrong| wrong.into_usage("making a polygon"))
    }

    /// About how many bytes of memory it takes beside itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            GeoArea::Polygons(polygons) => polygons.n_vertices() * size_of::<GeoVertex>(),
            GeoArea::File(name) => name.len(),
            _ => 0,
        }
    }

    /// Name of its kind in messages.
    pub(crate) fn described(&self) -> &'static str {
        match self {
            GeoArea::Circle { from: None, .. } => "circle",
            GeoArea::Circle { .. } => "ring",
            GeoArea::Box { .. } => "box",
            GeoArea::Point(_) => "point",
            GeoArea::Polygons(polygons) if polygons.polygons().len() > 1 => "set of polygons",
            GeoArea::Polygons(_) => "polygon",
            GeoArea::Cell(_) => "cell",
            GeoArea::File(_) => "file",
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
            GeoArea::Polygons(polygons) => polygons.fmt(f),
            GeoArea::Cell(cell) => write!(f, "CELL {cell}"),
            GeoArea::File(name) => write_file_name(name, f),
        }
    }
}

/// `@paris.geojson`, in quotes if it would not be read back otherwise.
fn write_file_name(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_plain = name.trim() == name && !name.is_empty() && !name.contains([']', '"', '\\']);
    match is_plain {
        true => write!(f, "@{name}"),
        false => write!(f, "@\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")),
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
