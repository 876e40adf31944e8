//! Areas in GeoJSON (RFC 7946): geometries, features and collections of features.
//!
//! By hand, on our own reader of JSON, because what is wrong is told with its place, and corners are limited while they are read.

use super::polygon::{GeoVertex, PolygonsBuilder};
use super::{GeoArea, GeoPoint, NoGeo};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Reader;
use std::ops::Range;

/// Name of the text in messages.
const TEXT: &str = "GeoJSON";
const KINDS: &str = "Polygon, MultiPolygon, Point, GeometryCollection, Feature or FeatureCollection as its \"type\"";
/// Kinds of geometries that enclose nothing.
const WITHOUT_INSIDE: [&str; 4] = ["Point", "MultiPoint", "LineString", "MultiLineString"];
/// Names of the reference system of longitudes and latitudes in degrees end so, in texts from before the standard.
const DEGREES: [&str; 2] = ["4326", "CRS84"];

/// Reads an area at the start of a text; returns the bytes that it takes, too.
pub(super) fn read_geojson(text: &str) -> Result<(GeoArea, usize), NoGeo> {
    let mut found = Found::default();
    let mut read = || {
        let mut reader = Reader::new(text, TEXT)?;
        object(&mut reader, Level::Whole, &mut found)?;
        Ok(reader.position())
    };
    let end = read().map_err(|error| no_geo(&error, text))?;
    let Found { point, builder } = found;
    match point {
        Some(point) => Ok((GeoArea::Point(point), end)),
        None => match builder.finish() {
            Ok(polygons) => Ok((GeoArea::Polygons(polygons), end)),
            Err(wrong) => Err(wrong.at(0..end)),
        },
    }
}

#[derive(Default)]
struct Found {
    /// The point that the whole text is.
    point: Option<GeoPoint>,
    builder: PolygonsBuilder,
}

/// Objects that may be in others, from the outermost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Whole,
    /// One of several features.
    Feature,
    /// Geometry of the only feature.
    OnlyGeometry,
    /// Geometry of one of several features.
    Geometry,
    /// One of a collection of geometries.
    Part,
}

/// Members of an object that matter, and their places.
#[derive(Default)]
struct Members {
    kind: Option<(String, Range<usize>)>,
    coordinates: Option<Range<usize>>,
    geometry: Option<Range<usize>>,
    geometries: Option<Range<usize>>,
    features: Option<Range<usize>>,
}

/// Reads an object that is known by its type, which may stand behind what it is about.
fn object(reader: &mut Reader<'_>, level: Level, found: &mut Found) -> Result<()> {
    let mut members = Members::default();
    reader.next_byte();
    let start = reader.position();
    reader.object(&[], |reader, name| {
        match name {
            "type" => {
                reader.next_byte();
                let start = reader.position();
                members.kind = Some((reader.string()?, start..reader.position()));
            }
            "coordinates" => members.coordinates = Some(reader.skip()?),
            "geometry" => members.geometry = Some(reader.skip()?),
            "geometries" => members.geometries = Some(reader.skip()?),
            "features" => members.features = Some(reader.skip()?),
            "crs" => check_reference_system(reader)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let place = start..reader.position();
    let Some((kind, place_of_kind)) = members.kind else {
        return Err(wrong(place, KINDS, "none"));
    };
    let member = |member: Option<Range<usize>>, name: &str| {
        let missing = || wrong(place.clone(), format!("\"{name}\" of a {kind}"), "none");
        member.ok_or_else(missing)
    };
    let (is_collection, is_feature) = (level <= Level::Geometry, level <= Level::Feature);
    match &*kind {
        "Polygon" => {
            found.builder.polygon();
            polygon(&mut reader.again(member(members.coordinates, "coordinates")?), found)
        }
        "MultiPolygon" => {
            let mut reader = reader.again(member(members.coordinates, "coordinates")?);
            reader.array(|reader| {
                found.builder.polygon();
                polygon(reader, found)
            })?;
            Ok(())
        }
        "Point" if matches!(level, Level::Whole | Level::OnlyGeometry) => {
            let place = member(members.coordinates, "coordinates")?;
            let GeoVertex { lon, lat } = vertex(&mut reader.again(place.clone()))?;
            let point = GeoPoint::checked(lat, lon);
            found.point = Some(point.map_err(|no_geo| into_error(no_geo.at(place)))?);
            Ok(())
        }
        "GeometryCollection" if is_collection => {
            let mut reader = reader.again(member(members.geometries, "geometries")?);
            reader.array(|reader| object(reader, Level::Part, found))?;
            Ok(())
        }
        "Feature" if is_feature => {
            let level = match level {
                Level::Whole => Level::OnlyGeometry,
                _ => Level::Geometry,
            };
            let mut reader = reader.again(member(members.geometry, "geometry")?);
            // Null is a feature that is nowhere.
            reader.or_null(|reader| object(reader, level, found))?;
            Ok(())
        }
        "FeatureCollection" if level == Level::Whole => {
            let mut reader = reader.again(member(members.features, "features")?);
            reader.array(|reader| object(reader, Level::Feature, found))?;
            Ok(())
        }
        kind if WITHOUT_INSIDE.contains(&kind) => {
            let expected = "a Polygon or a MultiPolygon";
            Err(wrong(place_of_kind, expected, format!("a {kind}, which encloses nothing")))
        }
        kind => Err(wrong(place_of_kind, KINDS, format!("{kind:?}"))),
    }
}

/// Refuses metres of projections.
fn check_reference_system(reader: &mut Reader<'_>) -> Result<()> {
    let place = reader.skip()?;
    let text = reader.slice(place.clone());
    match text == "null" || DEGREES.iter().any(|it| text.contains(it)) {
        true => Ok(()),
        false => {
            let expected = "degrees of WGS 84, which need no \"crs\"";
            Err(wrong(place, expected, text.chars().take(80).collect::<String>()))
        }
    }
}

/// An array of rings.
fn polygon(reader: &mut Reader<'_>, found: &mut Found) -> Result<()> {
    reader.array(|reader| {
        reader.next_byte();
        let start = reader.position();
        found.builder.ring();
        reader.array(|reader| {
            reader.next_byte();
            let start = reader.position();
            let vertex = vertex(reader)?;
            let added = found.builder.vertex(vertex);
            added.map_err(|no_geo| into_error(no_geo.at(start..reader.position())))
        })?;
        let ended = found.builder.end_ring();
        ended.map_err(|no_geo| into_error(no_geo.at(start..reader.position())))
    })?;
    Ok(())
}

/// `[longitude, latitude]`, and maybe an altitude.
fn vertex(reader: &mut Reader<'_>) -> Result<GeoVertex> {
    reader.next_byte();
    let start = reader.position();
    let numbers = reader.array(Reader::finite_double)?;
    match numbers[..] {
        [lon, lat] | [lon, lat, _] => Ok(GeoVertex { lon, lat }),
        _ => {
            let found = match numbers.len() {
                1 => "one number".to_owned(),
                n => format!("{n} numbers"),
            };
            Err(wrong(start..reader.position(), "[longitude, latitude]", found))
        }
    }
}

fn wrong(place: Range<usize>, expected: impl Into<String>, found: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, "reading GeoJSON").expected(expected).found(found).at_span(place)
}

fn into_error(NoGeo { expected, found, place }: NoGeo) -> Error {
    wrong(place.unwrap_or_default(), expected, found)
}

/// Words of an error, with its place in the text.
fn no_geo(error: &Error, text: &str) -> NoGeo {
    let (expected, found) = error.expected_and_found();
    let no_geo = NoGeo::new(expected.to_owned(), found);
    no_geo.at(error.span().unwrap_or_else(|| {
        // The reader of JSON counts lines and columns.
        let before = error.line().map_or(0, |line| line.saturating_sub(1)) as usize;
        let line_start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
        let column = error.column().map_or(0, |column| column.saturating_sub(1)) as usize;
        let mut of_line = text[line_start..].char_indices().map(|(at, _)| line_start + at);
        let start = of_line.nth(column).unwrap_or(text.len());
        let end = text[start..].chars().next().map_or(start, |c| start + c.len_utf8());
        start..end
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = "[[[0,0],[1,0],[1,1],[0,0]]]";
    const PRINTED: &str = "POLYGON ((0 0, 1 0, 1 1, 0 0))";

    fn read(text: &str) -> Result<GeoArea, NoGeo> {
        read_geojson(text).map(|(area, _)| area)
    }

    #[test]
    fn areas_come_from_all_kinds_of_objects() {
        let polygon = format!(r#"{{"type":"Polygon","coordinates":{SQUARE}}}"#);
        let twice = format!("MULTIPOLYGON ({}, {})", &PRINTED[8..], &PRINTED[8..]);
        for (text, printed) in [
            (polygon.clone(), PRINTED),
            // The type behind what it is about, and altitudes.
            (r#"{"coordinates":[[[0,0,5],[1,0,5],[1,1,5]]],"type":"Polygon"}"#.to_owned(), PRINTED),
            (
                format!(
                    r#" {{ "bbox":[0,0,1,1], "coordinates":[{SQUARE}], "type":"MultiPolygon"}}"#
                ),
                PRINTED,
            ),
            (
                format!(r#"{{"type":"Feature","properties":{{"type":"x"}},"geometry":{polygon}}}"#),
                PRINTED,
            ),
            (
                format!(
                    r#"{{"type":"FeatureCollection","crs":{{"type":"name","properties":{{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}}},"features":[{{"type":"Feature","geometry":{polygon}}},{{"type":"Feature","geometry":null}},{{"type":"Feature","geometry":{polygon}}}]}}"#
                ),
                &*twice,
            ),
            (
                format!(r#"{{"type":"GeometryCollection","geometries":[{polygon},{polygon}]}}"#),
                &*twice,
            ),
            (r#"{"type":"Point","coordinates":[2.5,48]}"#.to_owned(), "48,2.5"),
            (
                r#"{"type":"Feature","geometry":{"type":"Point","coordinates":[2.5,48]}}"#
                    .to_owned(),
                "48,2.5",
            ),
            (
                r#"{"type":"MultiPolygon","coordinates":[[],[[[0,0],[1,0],[1,1]]]]}"#.to_owned(),
                PRINTED,
            ),
        ] {
            let (area, end) =
                read_geojson(&text).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"));
            assert_eq!(area.to_string(), printed, "{text}");
            assert_eq!(end, text.len());
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, words, place) in [
            ("{}", "as its \"type\", found none", "{}"),
            (
                r#"{"type":"Polygon"}"#,
                "\"coordinates\" of a Polygon, found none",
                r#"{"type":"Polygon"}"#,
            ),
            (
                r#"{"type":"Feature"}"#,
                "\"geometry\" of a Feature, found none",
                r#"{"type":"Feature"}"#,
            ),
            (
                r#"{"type":"Feature","geometry":null}"#,
                "found an empty geometry",
                r#"{"type":"Feature","geometry":null}"#,
            ),
            (
                r#"{"type":"Polygon","coordinates":[]}"#,
                "found an empty geometry",
                r#"{"type":"Polygon","coordinates":[]}"#,
            ),
            (r#"{"type":"Polygon","coordinates":[[]]}"#, "an empty one in ring 1", "[]"),
            (r#"{"type":"polygon","coordinates":[]}"#, "found \"polygon\"", "\"polygon\""),
            (
                r#"{"type":"LineString","coordinates":[[0,0],[1,1]]}"#,
                "a LineString, which encloses nothing",
                "\"LineString\"",
            ),
            (
                r#"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[0,0]}}]}"#,
                "a Point, which encloses nothing",
                "\"Point\"",
            ),
            (
                r#"{"type":"GeometryCollection","geometries":[{"type":"GeometryCollection","geometries":[]}]}"#,
                "found \"GeometryCollection\"",
                "\"GeometryCollection\"",
            ),
            (
                r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1]]]}"#,
                "[longitude, latitude], found one number",
                "[1]",
            ),
            (
                r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,2,3,4]]]}"#,
                "found 4 numbers",
                "[1,2,3,4]",
            ),
            (
                r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],["1",2]]]}"#,
                "a number, found the text \"1\"",
                "\"",
            ),
            (
                r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1e999]]]}"#,
                "a number that a float of 64 bits can hold, found the number 1e999",
                "1",
            ),
            (r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[NaN,1]]]}"#, "found 'NaN'", "N"),
            (
                r#"{"type":"Polygon","coordinates":[[0,0],[1,0],[1,1]]}"#,
                "an array, found the number 0",
                "0",
            ),
            (
                r#"{"type":"Polygon","coordinates":[[[170,0],[-170,0],[0,1]]]}"#,
                "write 190 in place of -170",
                "[-170,0]",
            ),
            (
                r#"{"type":"Polygon","coordinates":[[[1,103.85],[2,48],[1,48]]]}"#,
                "did you mean 103.85 1?",
                "[1,103.85]",
            ),
            (
                r#"{"type":"Polygon","coordinates":[[[0,0],[1,1],[0,0]]]}"#,
                "2 corners",
                "[[0,0],[1,1],[0,0]]",
            ),
            (
                r#"{"type":"Point","coordinates":[1,103.85]}"#,
                "did you mean 1,103.85?",
                "[1,103.85]",
            ),
            (
                r#"{"crs":{"name":"EPSG:3857"},"type":"Polygon"}"#,
                "which need no \"crs\"",
                r#"{"name":"EPSG:3857"}"#,
            ),
            ("{\n \"type\": nix}", "a text, found 'nix'", "n"),
            (r#"{"type":"Polygon","type":"Polygon"}"#, "each name once", "\""),
        ] {
            let wrong = read(text).unwrap_err();
            let told = format!("expected {}, found {}", wrong.expected, wrong.found);
            assert!(told.contains(words), "{text}: {told}");
            assert_eq!(&text[wrong.place.unwrap()], place, "{text}: {told}");
        }
    }

    #[test]
    fn texts_cut_anywhere_are_refused() {
        let text = format!(
            r#"{{"type":"FeatureCollection","features":[{{"type":"Feature","geometry":{{"type":"Polygon","coordinates":{SQUARE}}}}}]}}"#
        );
        for end in 0..text.len() {
            let wrong = read(&text[..end]).unwrap_err();
            assert!(wrong.place.unwrap().end <= end, "{}", &text[..end]);
        }
        assert!(read(&"[".repeat(1_000)).is_err());
        assert!(read(&r#"{"a":"#.repeat(1_000)).is_err());
    }
}
