//! Points on the globe, distances between them, and areas.
//!
//! A point is a latitude and a longitude in degrees. An index keeps each in 32 bits, which moves a point by at most 5.3 mm; query
//! points are rounded alike. Distances are those of great circles on a sphere of 6,371,008.7714 m. Against the ellipsoid WGS84 they
//! are at most 0.45 % too short and 0.56 % too long.
//!
//! A point is in a circle of radius r about a center exactly if
//!
//! ```text
//! sin²(Δφ/2) + cos φ₁ · cos φ₂ · sin²(Δλ/2) ≤ sin²(r / 2R)
//! ```
//!
//! holds in numbers of 64 bits, where φ are latitudes and λ longitudes of the points as they are kept, and the cosine of a pole is 0. The
//! formula is off by less than 1 mm, and by less than 0.3 m within 200 m of the opposite side of the globe. Sines and cosines are
//! those of the crate `libm`, so that all machines agree.
//!
//! A point is in a polygon by whole numbers alone: edges are straight lines in longitude and latitude between corners as they are
//! kept, so that no rounding decides. See [`GeoPolygons`].
//!
//! ```
//! use treepie::geo::{Distance, GeoArea, GeoPoint};
//!
//! let paris = GeoPoint::new(48.8566, 2.3522)?;
//! let reims: GeoPoint = "49.255,4.154".parse()?;
//! assert_eq!(paris.distance(reims).round(), 138_563.0);
//! let around = GeoArea::circle("140km".parse::<Distance>()?, paris);
//! assert_eq!(around.to_string(), "140km OF 48.8566,2.3522");
//! # Ok::<(), treepie::Error>(())
//! ```

mod area;
mod bound;
mod bound_polygons;
mod cell;
mod cell_finder;
mod counts;
mod distance;
mod distance_codes;
mod geojson;
mod grid_wanted;
mod hilbert;
mod length;
mod nearest_edge;
mod no_geo;
mod point;
mod polygon;
mod ring;
mod text;
mod totals;
mod units;
mod well_known;
mod wrapped_box;

pub use area::{GeoArea, GeoRelation};
pub(crate) use bound::BoundArea;
pub use cell::{GEOHASH_LEN_MAX, GeoCell, GeoGrid, ZOOM_MAX};
pub(crate) use cell_finder::CellFinder;
pub use counts::GeoCounts;
pub use distance::EARTH_RADIUS_M;
pub(crate) use distance::{Center, haversine_of, metres_of};
pub(crate) use distance_codes::DistanceCodes;
pub(crate) use grid_wanted::{CELLS_MAX, GridWanted};
pub use length::{Distance, DistanceUnit};
pub(crate) use no_geo::NoGeo;
pub use point::GeoPoint;
pub use polygon::{GeoPolygons, GeoVertex, VERTICES_MAX};
pub(crate) use text::{len_of_area, read_area, read_point};
pub(crate) use totals::PointTotals;
pub(crate) use units::{BoxRelation, UnitBounds, UnitPoint};
pub(crate) use wrapped_box::WrappedBox;
