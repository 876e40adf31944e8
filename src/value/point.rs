//! Points of documents, in all the forms that a field takes.
//!
//! A point is a value of its own, a text, or an array of two numbers, if the schema says which of these is the latitude. A struct with
//! a latitude and a longitude becomes two values, of which each has a name of its own: [`POINT_PARTS`].

use super::Value;
use super::typed::{self, NotTaken};
use crate::geo::{GeoPoint, NoGeo, UnitPoint, read_point};
use crate::schema::{CoordinateOrder, FieldKind};

/// Endings of the names of latitude and longitude, behind the name of their field.
pub(crate) const POINT_PARTS: [&[&str]; 2] = [&[".lat"], &[".lon", ".lng"]];

impl From<NoGeo> for NotTaken {
    fn from(NoGeo { expected, found, .. }: NoGeo) -> Self {
        NotTaken { expected, found }
    }
}

/// Finds the points of the values that a document has for a field.
pub(crate) fn points_of(
    array: Option<CoordinateOrder>,
    values: &[&Value],
) -> Result<Vec<UnitPoint>, NotTaken> {
    if let Some(numbers) = numbers_of(values) {
        return Ok(vec![UnitPoint::of(of_array(array, &numbers)?)]);
    }
    let point = |value: &&Value| match value {
        Value::Point(point) => Ok(UnitPoint::of(*point)),
        Value::Text(text) => Ok(UnitPoint::of(read_point(text)?)),
        other => Err(NotTaken {
            expected: typed::takes(FieldKind::Point { array }).into(),
            found: typed::shown(other),
        }),
    };
    values.iter().map(point).collect()
}

/// The numbers that all of some values are, if there are any.
fn numbers_of(values: &[&Value]) -> Option<Vec<f64>> {
    let numbers = values.iter().map(|value| value.as_f64());
    numbers.collect::<Option<Vec<_>>>().filter(|numbers| !numbers.is_empty())
}

fn of_array(array: Option<CoordinateOrder>, numbers: &[f64]) -> Result<GeoPoint, NotTaken> {
    let (first, second) = match *numbers {
        [first, second] => (first, second),
        _ => {
            let found = match numbers.len() {
                1 => "one number".to_owned(),
                n => format!("an array of {n} numbers"),
            };
            let expected = typed::takes(FieldKind::Point { array }).into();
            return Err(NotTaken { expected, found });
        }
    };
    match array {
        Some(CoordinateOrder::LatLon) => Ok(GeoPoint::checked(first, second)?),
        Some(CoordinateOrder::LonLat) => Ok(GeoPoint::checked(second, first)?),
        None => Err(NotTaken {
            expected: "{\"lat\", \"lon\"}, or array = \"lonlat\" or \"latlon\" in the schema"
                .into(),
            found: format!(
                "an array, [{first},{second}], which does not say which number is the latitude"
            ),
        }),
    }
}

/// The point of a latitude and a longitude that have names of their own.
pub(crate) fn point_of_parts(lat: &Value, lon: &Value) -> Result<UnitPoint, NotTaken> {
    let number = |value: &Value| match value {
        Value::Text(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    match number(lat).zip(number(lon)) {
        Some((lat, lon)) => Ok(UnitPoint::of(GeoPoint::checked(lat, lon)?)),
        None => Err(NotTaken {
            expected: "a latitude and a longitude in degrees".into(),
            found: format!("{} and {}", typed::shown(lat), typed::shown(lon)),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_documents_have_several_forms() {
        let reims = UnitPoint::of(GeoPoint::new(49.255, 4.154).unwrap());
        let point = Value::from(GeoPoint::new(49.255, 4.154).unwrap());
        let (lat, lon) = (Value::from(49.255), Value::from(4.154));
        for values in [
            &[&point][..],
            &[&"49.255,4.154".into()],
            &[&"POINT (4.154 49.255)".into()],
            &[&lat, &lon],
        ] {
            assert_eq!(points_of(Some(CoordinateOrder::LatLon), values), Ok(vec![reims]));
        }
        assert_eq!(points_of(Some(CoordinateOrder::LonLat), &[&lon, &lat]), Ok(vec![reims]));
        assert_eq!(points_of(None, &[&point, &point]), Ok(vec![reims; 2]));
        assert_eq!(point_of_parts(&lat, &"4.154".into()), Ok(reims));
        assert_eq!(points_of(None, &[]), Ok(vec![]));
    }

    #[test]
    fn what_is_no_point_is_told() {
        let told = |result: Result<Vec<UnitPoint>, NotTaken>| {
            let NotTaken { expected, found } = result.unwrap_err();
            format!("expected {expected}, found {found}")
        };
        let (lat, lon) = (Value::from(1.29), Value::from(103.85));
        for (array, values, words) in [
            (None, &[&lon, &lat][..], "found an array, [103.85,1.29], which does not say"),
            (Some(CoordinateOrder::LatLon), &[&lon, &lat], "did you mean 1.29,103.85?"),
            (Some(CoordinateOrder::LatLon), &[&lat, &lon, &lat], "an array of 3 numbers"),
            (None, &[&lat], "found one number"),
            (None, &[&"here".into()], "found 'here'"),
            (None, &[&Value::Bool(true)], "found a boolean (true)"),
            (None, &[&Value::Vector(vec![1.0, 2.0])], "found a vector of 2 numbers"),
            (None, &[&lat, &"1,2".into()], "found a number (1.29)"),
        ] {
            let told = told(points_of(array, values));
            assert!(told.contains(words), "{told}");
        }
        let parts = point_of_parts(&lat, &Value::Null).map(|point| vec![point]);
        assert!(told(parts).contains("found a number (1.29) and null"));
        let parts = point_of_parts(&Value::from(f64::NAN), &lon).map(|point| vec![point]);
        assert!(told(parts).contains("found NaN,103.85"));
    }
}
