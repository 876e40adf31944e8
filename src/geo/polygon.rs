//! Polygons as users give them.

use super::{GeoPoint, NoGeo};
use crate::error::Result;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Corners of all polygons of an area at the most.
pub const VERTICES_MAX: usize = 65_536;
/// Degrees of longitude that corners go to, over 180° on either side.
const LON_MAX: f64 = 360.0;
/// Degrees of longitude of an edge at the most, if it is not along a pole.
const EDGE_LON_MAX: f64 = 180.0;

/// A corner of a polygon in degrees.
///
/// Its longitude goes on over 180° on either side, to 360°: a polygon across that meridian has corners at 170 and 190.
#[derive(Clone, Copy, Debug)]
pub struct GeoVertex {
    /// Degrees east of Greenwich, from −360 to 360.
    pub lon: f64,
    /// Degrees north of the equator.
    pub lat: f64,
}

impl GeoVertex {
    fn bits(self) -> (u64, u64) {
        (self.lon.to_bits(), self.lat.to_bits())
    }
}

impl PartialEq for GeoVertex {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for GeoVertex {}

impl Hash for GeoVertex {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}

impl From<GeoPoint> for GeoVertex {
    fn from(point: GeoPoint) -> Self {
        GeoVertex { lon: point.lon(), lat: point.lat() }
    }
}

/// Longitude and latitude, as the standards of polygons have them.
impl fmt::Display for GeoVertex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.lon, self.lat)
    }
}

/// One polygon or several, each with an outer ring and any number of holes.
///
/// A point is in a polygon if it is in the outer ring and in no hole, where a ring that crosses itself encloses what is reached over
/// an odd number of edges (even-odd). Edges belong to the polygon, those of holes, too; they are straight lines in longitude and
/// latitude, as RFC 7946 has them. The direction of rings means nothing.
///
/// Its text is well-known text, which has the longitude first. Cloning shares the corners.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GeoPolygons(Arc<Vec<Vec<Vec<GeoVertex>>>>);

impl GeoPolygons {
    /// Returns the rings of each polygon, the outer one first.
    ///
    /// The first corner of a ring is not repeated at its end.
    pub fn polygons(&self) -> &[Vec<Vec<GeoVertex>>] {
        &self.0
    }

    /// Returns the number of all corners.
    pub fn n_vertices(&self) -> usize {
        self.0.iter().flatten().map(Vec::len).sum()
    }

    /// Makes polygons of the corners of their rings.
    pub(super) fn of_rings(
        polygons: impl IntoIterator<Item = impl IntoIterator<Item = Vec<GeoVertex>>>,
    ) -> Result<Self, NoGeo> {
        let mut builder = PolygonsBuilder::default();
        for rings in polygons {
            builder.polygon();
            for ring in rings {
                builder.ring();
                ring.into_iter().try_for_each(|vertex| builder.vertex(vertex))?;
                builder.end_ring()?;
            }
        }
        builder.finish()
    }
}

/// Well-known text, of which a blank and a comma separate corners.
impl fmt::Display for GeoPolygons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0[..] {
            [rings] => {
                f.write_str("POLYGON ")?;
                write_rings(rings, f)
            }
            several => {
                f.write_str("MULTIPOLYGON (")?;
                for (at, rings) in several.iter().enumerate() {
                    f.write_str(if at > 0 { ", " } else { "" })?;
                    write_rings(rings, f)?;
                }
                f.write_str(")")
            }
        }
    }
}

fn write_rings(rings: &[Vec<GeoVertex>], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (at, ring) in rings.iter().enumerate() {
        f.write_str(if at > 0 { ", (" } else { "((" })?;
        for vertex in ring {
            write!(f, "{vertex}, ")?;
        }
        // Closed, as the standard wants them.
        ring.first().map_or(Ok(()), |first| write!(f, "{first})"))?;
    }
    f.write_str(")")
}

/// Polygons while they are read, corner by corner, so that what is wrong is known where it stands.
#[derive(Debug, Default)]
pub(super) struct PolygonsBuilder {
    polygons: Vec<Vec<Vec<GeoVertex>>>,
    n_vertices: usize,
}

impl PolygonsBuilder {
    /// Begins a polygon.
    pub(super) fn polygon(&mut self) {
        self.polygons.push(vec![]);
    }

    /// Begins a ring of the last polygon.
    pub(super) fn ring(&mut self) {
        if self.polygons.is_empty() {
            self.polygon();
        }
        self.rings().push(vec![]);
    }

    fn rings(&mut self) -> &mut Vec<Vec<GeoVertex>> {
        self.polygons.last_mut().expect("a polygon has begun")
    }

    /// Adds a corner to the last ring.
    pub(super) fn vertex(&mut self, vertex: GeoVertex) -> Result<(), NoGeo> {
        check_degrees(vertex)?;
        // No −0, which is printed as what it is.
        let vertex = GeoVertex { lon: vertex.lon + 0.0, lat: vertex.lat + 0.0 };
        self.n_vertices += 1;
        if self.n_vertices > VERTICES_MAX {
            let expected = format!("at most {VERTICES_MAX} corners (limit VERTICES_MAX)");
            return Err(NoGeo::new(expected, "more"));
        }
        let before = self.rings().last().and_then(|ring| ring.last()).copied();
        if let Some(before) = before {
            self.check_edge(before, vertex)?;
        }
        let ring = self.rings().last_mut().expect("a ring has begun");
        ring.push(vertex);
        Ok(())
    }

    /// Closes the last ring, unless its first corner is its last.
    pub(super) fn end_ring(&mut self) -> Result<(), NoGeo> {
        let ring = self.rings().last_mut().expect("a ring has begun");
        let ends = (ring.first().copied(), ring.last().copied());
        if ring.len() > 1 && ends.0 == ends.1 {
            ring.pop();
            self.n_vertices -= 1;
        } else if let (Some(first), Some(last)) = ends {
            self.check_edge(last, first)?;
        }
        let ring = self.rings().last().expect("a ring has begun");
        let n = n_different(ring);
        if n < 3 {
            let found = match n {
                0 => "an empty one".to_owned(),
                1 => "one corner".to_owned(),
                n => format!("{n} corners, which enclose nothing"),
            };
            let place = self.place_of_ring();
            return Err(NoGeo::new("a ring of three corners or more", format!("{found}{place}")));
        }
        Ok(())
    }

    /// ` in ring 2 of polygon 3`
    fn place_of_ring(&self) -> String {
        let n_rings = self.polygons.last().map_or(0, Vec::len);
        match self.polygons.len() {
            0 | 1 => format!(" in ring {n_rings}"),
            n => format!(" in ring {n_rings} of polygon {n}"),
        }
    }

    /// Refuses edges that go round the globe either way, and says both.
    fn check_edge(&self, from: GeoVertex, to: GeoVertex) -> Result<(), NoGeo> {
        let long = (to.lon - from.lon).abs();
        // A pole is one point, so that nothing is on the other way.
        let is_along_pole = from.lat == to.lat && from.lat.abs() == 90.0;
        if long <= EDGE_LON_MAX || is_along_pole {
            return Ok(());
        }
        let nth = self.polygons.last().and_then(|rings| rings.last()).map_or(0, Vec::len);
        let n_rings = self.polygons.last().map_or(0, Vec::len);
        let of_polygon = match self.polygons.len() {
            0 | 1 => String::new(),
            n => format!(" of polygon {n}"),
        };
        // The long way round is as many degrees modulo 360; some edges are longer than the globe.
        let short = (long - 360.0).abs();
        let nearer = |lon: f64, other: f64| if other > lon { lon + 360.0 } else { lon - 360.0 };
        let (written, instead) = match nearer(to.lon, from.lon) {
            lon if lon.abs() <= LON_MAX => (to.lon, lon),
            _ => (from.lon, nearer(from.lon, to.lon)),
        };
        let found = format!(
            "edge {nth} of ring {n_rings}{of_polygon}, from {from} to {to}, which is {}° or {}° long: write {} in place of {written} to cross ±180, or a point between to go round",
            rounded(long),
            rounded(short),
            rounded(instead),
        );
        Err(NoGeo::new("edges of at most 180° of longitude", found))
    }

    /// The polygons, of which there must be one with corners.
    pub(super) fn finish(mut self) -> Result<GeoPolygons, NoGeo> {
        self.polygons.retain(|rings| !rings.is_empty());
        match self.polygons.is_empty() {
            true => Err(NoGeo::new("a polygon with corners", "an empty geometry")),
            false => Ok(GeoPolygons(Arc::new(self.polygons))),
        }
    }
}

/// Refuses degrees that are none, and says what else they may be.
fn check_degrees(GeoVertex { lon, lat }: GeoVertex) -> Result<(), NoGeo> {
    if lat.abs() <= 90.0 && lon.abs() <= LON_MAX {
        return Ok(());
    }
    let found = match (lat, lon) {
        _ if !lat.is_finite() || !lon.is_finite() => format!("{lon} {lat}"),
        _ if lat.abs() <= 90.0 => format!(
            "longitude {lon}, which is beyond ±360: metres of a projection? coordinates are degrees"
        ),
        _ if lat.abs() <= LON_MAX && lon.abs() <= 90.0 => format!(
            "latitude {lat}, which is beyond ±90: well-known text and GeoJSON have the longitude first; did you mean {lat} {lon}?"
        ),
        _ if lat.abs() <= LON_MAX => format!("latitude {lat}, which is beyond ±90"),
        _ => format!(
            "latitude {lat}, which is beyond ±90: metres of a projection? coordinates are degrees"
        ),
    };
    Err(NoGeo::new("longitudes and latitudes in degrees", found))
}

/// Number of corners that differ, as far as three.
fn n_different(ring: &[GeoVertex]) -> usize {
    let Some(first) = ring.first() else { return 0 };
    let Some(second) = ring.iter().find(|it| *it != first) else { return 1 };
    2 + usize::from(ring.iter().any(|it| it != first && it != second))
}

/// Degrees without the digits that a difference of decimals has behind those of its parts.
fn rounded(degrees: f64) -> f64 {
    const DIGITS: f64 = 1e9;
    (degrees * DIGITS).round() / DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rings(rings: &[&[(f64, f64)]]) -> Result<GeoPolygons, NoGeo> {
        let ring = |ring: &&[(f64, f64)]| {
            ring.iter().map(|&(lon, lat)| GeoVertex { lon, lat }).collect::<Vec<_>>()
        };
        GeoPolygons::of_rings([rings.iter().map(ring).collect::<Vec<_>>()])
    }

    #[test]
    fn rings_are_closed_or_not() {
        let open = rings(&[&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]]).unwrap();
        assert_eq!(open, rings(&[&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)]]).unwrap());
        assert_eq!(open.to_string(), "POLYGON ((0 0, 1 0, 1 1, 0 0))");
        assert_eq!(open.n_vertices(), 3);
        assert_eq!(rings(&[&[(-0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]]).unwrap(), open);
    }

    #[test]
    fn edges_have_one_way_to_go() {
        for (ring, words) in [
            (
                &[(170.0, 0.0), (-170.0, 0.0), (-170.0, 5.0)][..],
                "edge 1 of ring 1, from 170 0 to -170 0, which is 340° or 20° long: write 190 in place of -170 to cross ±180, or a point between to go round",
            ),
            (&[(170.0, 0.0), (180.0, 0.0), (-175.5, 0.0)], "edge 2 of ring 1"),
            (&[(-170.0, 0.0), (170.0, 0.0), (0.0, 5.0)], "write -190 in place of 170"),
            (
                &[(-350.0, 0.0), (10.0, 0.0), (0.0, 5.0)],
                "360° or 0° long: write -350 in place of 10",
            ),
            (
                &[(200.0, 0.0), (10.0, 0.0), (100.0, 5.0)],
                "190° or 170° long: write -160 in place of 200",
            ),
            // The edge that closes it.
            (&[(-180.0, 5.0), (0.0, 5.0), (180.0, 5.0)], "edge 3 of ring 1"),
        ] {
            let found = rings(&[ring]).unwrap_err().found;
            assert!(found.contains(words), "{found}");
        }
        // Poles are points.
        rings(&[&[(-180.0, -90.0), (180.0, -90.0), (180.0, 90.0), (-180.0, 90.0)]]).unwrap();
        rings(&[&[(-360.0, 80.0), (-180.0, 80.0), (0.0, 80.0), (0.0, 90.0), (-360.0, 90.0)]])
            .unwrap();
        rings(&[&[(0.0, 0.0), (180.0, 0.0), (90.0, 1.0)]]).unwrap();
    }

    #[test]
    fn what_is_no_polygon_is_told() {
        for (ring, words) in [
            (&[(0.0, 0.0), (1.0, 1.0)][..], "2 corners, which enclose nothing in ring 1"),
            (&[(0.0, 0.0), (1.0, 1.0), (0.0, 0.0)], "2 corners"),
            (&[(0.0, 0.0), (1.0, 1.0), (1.0, 1.0), (0.0, 0.0), (1.0, 1.0)], "2 corners"),
            (&[(0.0, 0.0); 5], "one corner"),
            (&[], "an empty one in ring 1"),
            (
                &[(0.0, 91.0)],
                "latitude 91, which is beyond ±90: well-known text and GeoJSON have the longitude first; did you mean 91 0?",
            ),
            (&[(100.0, 100.0)], "latitude 100, which is beyond ±90"),
            (&[(361.0, 0.0)], "longitude 361, which is beyond ±360: metres of a projection?"),
            (&[(412_345.0, 5_411_000.0)], "latitude 5411000, which is beyond ±90: metres"),
            (&[(f64::NAN, 0.0)], "NaN 0"),
            (&[(0.0, f64::INFINITY)], "0 inf"),
        ] {
            let found = rings(&[ring]).unwrap_err().found;
            assert!(found.contains(words), "{found}");
        }
        assert_eq!(rings(&[]).unwrap_err().found, "an empty geometry");
        let many: Vec<_> = (0..=VERTICES_MAX).map(|n| (n as f64 / 1e6, 0.0)).collect();
        let wrong = rings(&[&many]).unwrap_err();
        assert!(wrong.expected.contains("at most 65536 corners (limit VERTICES_MAX)"));
        assert!(rings(&[&many[1..]]).is_ok());
    }
}
