//! Points in objects and lists of JSON.
//!
//! These are `{"lat": 49.2, "lon": 4.1}`, GeoJSON, and arrays of two numbers.

use std::path::Path;

use serde_json::{Map, Value};
use treepie::geo::GeoPoint;
use treepie::schema::CoordinateOrder;
use treepie::{Document, FieldKind, Schema};

use super::{Record, bad};

/// Makes points of texts that are objects or lists.
#[derive(Debug)]
pub(crate) struct PointTexts {
    fields: Vec<(String, Option<CoordinateOrder>)>,
}

/// Description of what is no point.
struct Wrong {
    expected: String,
    found: String,
}

impl Wrong {
    fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Wrong { expected: expected.into(), found: found.into() }
    }
}

impl PointTexts {
    pub(crate) fn of(schema: &Schema) -> Self {
        let of_points = schema.fields().iter().filter_map(|field| match field.kind {
            FieldKind::Point { array } => Some((field.name.clone(), array)),
            _ => None,
        });
        PointTexts { fields: of_points.collect() }
    }

    /// Puts points in the place of such texts, or what is wrong with one in the place of the record.
    pub(crate) fn apply(&self, record: &mut Record, name: &Path) {
        let Record::Document { line, document } = record else { return };
        for (field, array) in &self.fields {
            if !document.values(field).any(|value| value.as_str().is_some_and(is_json)) {
                continue;
            }
            match with_points(document, field, *array) {
                Ok(read) => *document = read,
                Err(Wrong { expected, found }) => {
                    let what = format!("reading the point field '{field}'");
                    let error = bad(what, *line).expected(expected).found(found);
                    *record = Record::Bad(error.in_file(name));
                    return;
                }
            }
        }
    }
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

fn with_points(
    document: &Document,
    field: &str,
    array: Option<CoordinateOrder>,
) -> Result<Document, Wrong> {
    let mut read = Document::new();
    for (name, value) in document.iter() {
        match value.as_str().filter(|text| name == field && is_json(text)) {
            Some(text) => {
                let value = serde_json::from_str(text)
                    .map_err(|error| Wrong::new("a point as JSON", error.to_string()))?;
                points_of(&value, array)?.into_iter().for_each(|value| read.push(name, value));
            }
            None => read.push(name, value.clone()),
        }
    }
    Ok(read)
}

/// The points of a value: an array may be one, or a list of several.
fn points_of(value: &Value, array: Option<CoordinateOrder>) -> Result<Vec<treepie::Value>, Wrong> {
    match value {
        Value::Array(values) if !values.first().is_some_and(Value::is_number) => {
            values.iter().map(|value| point_of(value, array)).collect()
        }
        value => Ok(vec![point_of(value, array)?]),
    }
}

fn point_of(value: &Value, array: Option<CoordinateOrder>) -> Result<treepie::Value, Wrong> {
    match value {
        Value::Object(object) => of_object(object).map(treepie::Value::from),
        Value::Array(numbers) => {
            let Some(array) = array else {
                return Err(Wrong::new(
                    "{\"lat\", \"lon\"}, or array = \"lonlat\" or \"latlon\" in the schema",
                    format!("{value}, an array, which does not say which number is the latitude"),
                ));
            };
            of_array(numbers, array).map(treepie::Value::from)
        }
        // The index reads or refuses it.
        Value::String(text) => Ok(text.clone().into()),
        Value::Null => Ok(treepie::Value::Null),
        other => Err(Wrong::new("a point", other.to_string())),
    }
}

fn of_array(numbers: &[Value], array: CoordinateOrder) -> Result<GeoPoint, Wrong> {
    let shown = || Value::Array(numbers.to_vec()).to_string();
    let [Some(first), Some(second)] = numbers.iter().map(Value::as_f64).collect::<Vec<_>>()[..]
    else {
        return Err(Wrong::new("an array of two numbers", shown()));
    };
    match array {
        CoordinateOrder::LonLat => checked(second, first),
        _ => checked(first, second),
    }
}

/// A latitude and a longitude, or a point as GeoJSON has it.
fn of_object(object: &Map<String, Value>) -> Result<GeoPoint, Wrong> {
    let shown = || Value::Object(object.clone()).to_string();
    if object.contains_key("type") || object.contains_key("coordinates") {
        let expected = "a GeoJSON point, {\"type\": \"Point\", \"coordinates\": [lon, lat]}";
        let coordinates = object.get("coordinates").and_then(Value::as_array);
        return match (object.get("type").and_then(Value::as_str), coordinates) {
            (Some("Point"), Some(numbers)) => {
                // A third number is the height.
                let numbers = if numbers.len() == 3 { &numbers[..2] } else { numbers };
                of_array(numbers, CoordinateOrder::LonLat)
            }
            _ => Err(Wrong::new(expected, shown())),
        };
    }
    let of = |names: &[&str]| {
        let mut found = names.iter().filter_map(|name| object.get(*name));
        match (found.next(), found.next()) {
            (Some(value), None) => match value {
                Value::String(text) => text.trim().parse().ok(),
                value => value.as_f64(),
            },
            _ => None,
        }
    };
    let (lat, lon) = (of(&["lat", "latitude"]), of(&["lon", "lng", "longitude"]));
    match (lat, lon, object.len()) {
        (Some(lat), Some(lon), 2) => checked(lat, lon),
        _ => Err(Wrong::new("a latitude \"lat\" and a longitude \"lon\", in degrees", shown())),
    }
}

fn checked(lat: f64, lon: f64) -> Result<GeoPoint, Wrong> {
    GeoPoint::new(lat, lon).map_err(|error| {
        let text = error.to_string();
        let (expected, found) = text.split_once(", found ").unwrap_or(("", &text));
        let expected = expected.rsplit_once("expected ").map_or(expected, |(_, rest)| rest);
        Wrong::new(expected, found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, array: Option<CoordinateOrder>) -> Result<Vec<String>, String> {
        let document = Document::new().with("p", text).with("q", "[1]");
        let read = with_points(&document, "p", array)
            .map_err(|wrong| format!("expected {}, found {}", wrong.expected, wrong.found))?;
        assert!(read.values("q").eq(["[1]"]));
        Ok(read.values("p").map(|value| value.to_text().into_owned()).collect())
    }

    #[test]
    fn objects_and_arrays_are_points() {
        let (lonlat, latlon) = (Some(CoordinateOrder::LonLat), Some(CoordinateOrder::LatLon));
        for (text, array, points) in [
            (r#"{"lat": 49.255, "lon": 4.154}"#, None, &["49.255,4.154"][..]),
            (r#"{"lng": "4.154", "lat": "49.255"}"#, None, &["49.255,4.154"]),
            (r#"{"longitude": 4.154, "latitude": 49.255}"#, None, &["49.255,4.154"]),
            (r#"{"type":"Point","coordinates":[4.154,49.255]}"#, None, &["49.255,4.154"]),
            (r#"{"type":"Point","coordinates":[4.154,49.255,80]}"#, None, &["49.255,4.154"]),
            ("[4.154, 49.255]", lonlat, &["49.255,4.154"]),
            ("[49.255, 4.154]", latlon, &["49.255,4.154"]),
            ("[[4.154, 49.255], [1, 2]]", lonlat, &["49.255,4.154", "2,1"]),
            (r#"[{"lat":1,"lon":2},"3,4"]"#, None, &["1,2", "3,4"]),
            ("[]", None, &[]),
        ] {
            assert_eq!(read(text, array).unwrap(), points, "{text}");
        }
    }

    #[test]
    fn other_values_are_told_by_what_is_wrong_with_them() {
        let lonlat = Some(CoordinateOrder::LonLat);
        for (text, array, words) in [
            ("[103.85, 1.29]", None, "[103.85,1.29], an array, which does not say which number"),
            ("[1.29, 103.85]", lonlat, "did you mean 1.29,103.85?"),
            ("[1, 2, 3]", lonlat, "an array of two numbers, found [1,2,3]"),
            ("[1, null]", lonlat, "found [1,null]"),
            (r#"{"lat": 91, "lon": 0}"#, None, "found latitude 91, which is beyond ±90"),
            (r#"{"lat": 1, "lon": 412345}"#, None, "metres of a projection?"),
            (r#"{"lat": 1}"#, None, "a latitude \"lat\" and a longitude \"lon\""),
            (r#"{"lat": 1, "lon": 2, "lng": 3}"#, None, "a latitude \"lat\""),
            (r#"{"lat": 1, "lon": 2, "alt": 3}"#, None, "\"alt\":3"),
            (r#"{"lat": 1, "lon": null}"#, None, "found {\"lat\":1,\"lon\":null}"),
            (r#"{"type":"LineString","coordinates":[[1,2]]}"#, None, "a GeoJSON point"),
            (r#"{"coordinates":[1,2]}"#, None, "a GeoJSON point"),
            ("[1, 2", None, "a point as JSON, found EOF"),
            ("[[[1,2]]]", lonlat, "an array of two numbers"),
            ("[true]", None, "a point, found true"),
        ] {
            let error = read(text, array).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
