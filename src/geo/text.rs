//! Texts of points and areas.

use super::geojson::read_geojson;
use super::point::degrees;
use super::well_known::{is_well_known, read_well_known};
use super::{Distance, GeoArea, GeoCell, GeoPoint, NoGeo};
use crate::error::{Error, Result};
use std::str::FromStr;

/// Description of the texts of points.
const POINT: &str =
    "a point as 49.255,4.154, the latitude first, or 4.154E,49.255N or POINT(4.154 49.255)";

/// Reads a point.
pub(crate) fn read_point(text: &str) -> Result<GeoPoint, NoGeo> {
    let text = text.trim();
    let wrong = || NoGeo::new(POINT, format!("'{text}'"));
    if let Some(inside) = well_known(text, "POINT") {
        let (lon, lat) = inside.trim().split_once(char::is_whitespace).ok_or_else(wrong)?;
        let [lat, lon] = [lat, lon].map(degrees);
        return GeoPoint::checked(lat.ok_or_else(wrong)?, lon.ok_or_else(wrong)?);
    }
    let (first, second) = text.split_once([',', '/']).ok_or_else(wrong)?;
    let (first, second) = (Angle::read(first), Angle::read(second));
    match first.zip(second).ok_or_else(wrong)? {
        (Angle::Lat(lat) | Angle::Bare(lat), Angle::Lon(lon))
        | (Angle::Lon(lon), Angle::Lat(lat) | Angle::Bare(lat))
        | (Angle::Lat(lat), Angle::Bare(lon))
        | (Angle::Bare(lon), Angle::Lat(lat))
        | (Angle::Bare(lat), Angle::Bare(lon)) => GeoPoint::checked(lat, lon),
        (Angle::Lat(_), Angle::Lat(_)) => {
            Err(NoGeo::new("a latitude and a longitude", format!("two latitudes in '{text}'")))
        }
        (Angle::Lon(_), Angle::Lon(_)) => {
            Err(NoGeo::new("a latitude and a longitude", format!("two longitudes in '{text}'")))
        }
    }
}

impl FromStr for GeoPoint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        read_point(text).map_err(|wrong| wrong.into_usage("reading a point"))
    }
}

impl FromStr for GeoArea {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        read_area(text).map_err(|wrong| wrong.into_usage_of(text, "reading an area"))
    }
}

/// Degrees, with a letter that says which they are or without.
enum Angle {
    Lat(f64),
    Lon(f64),
    Bare(f64),
}

impl Angle {
    fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (number, letter) = match text.char_indices().next_back()? {
            (at, letter) if letter.is_ascii_alphabetic() => {
                (&text[..at], letter.to_ascii_uppercase())
            }
            _ => return degrees(text).map(Angle::Bare),
        };
        // A letter is the sign.
        let number = degrees(number).filter(|number| *number >= 0.0)?;
        Some(match letter {
            'N' => Angle::Lat(number),
            'S' => Angle::Lat(-number),
            'E' => Angle::Lon(number),
            'W' => Angle::Lon(-number),
            _ => return None,
        })
    }
}

/// The inside of the parentheses of a well-known text of a kind.
fn well_known<'t>(text: &'t str, kind: &str) -> Option<&'t str> {
    let head = text.get(..kind.len()).filter(|head| head.eq_ignore_ascii_case(kind))?;
    text[head.len()..].trim_start().strip_prefix('(')?.strip_suffix(')')
}

/// Reads an area as it stands between brackets.
pub(crate) fn read_area(text: &str) -> Result<GeoArea, NoGeo> {
    let n_before = text.len() - text.trim_start().len();
    read_trimmed(text.trim()).map_err(|wrong| wrong.behind(n_before))
}

fn read_trimmed(text: &str) -> Result<GeoArea, NoGeo> {
    if text.starts_with('{') {
        let (area, end) = read_geojson(text)?;
        let behind = &text[end..];
        return match behind.trim() {
            "" => Ok(area),
            more => {
                Err(NoGeo::new("nothing behind the object", format!("'{more}'"))
                    .at(end..text.len()))
            }
        };
    }
    if let Some(name) = text.strip_prefix('@') {
        return read_file_name(name).map(GeoArea::File);
    }
    if is_well_known(text) {
        return read_well_known(text);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let after = |word: &str| words.iter().position(|it| *it == word);
    if words.first() == Some(&"BOX") {
        let corners = without_blanks_at_commas(&words[1..]);
        let [south_west, north_east] = &corners[..] else {
            return Err(NoGeo::new(
                "two points behind BOX, the south-western corner first",
                format!("'{text}'"),
            ));
        };
        return GeoArea::checked_box(read_point(south_west)?, read_point(north_east)?);
    }
    if words.first() == Some(&"CELL") {
        return GeoCell::read(&words[1..].join(" ")).map(GeoArea::Cell);
    }
    if let Some(of) = after("OF") {
        let center = words[of + 1..].join(" ");
        let distances = &words[..of];
        return match distances.iter().position(|word| *word == "TO") {
            None => {
                Ok(GeoArea::circle(Distance::read(&distances.join(" "))?, read_point(&center)?))
            }
            Some(to) => {
                let [from, to] = [&distances[..to], &distances[to + 1..]].map(|it| it.join(" "));
                let (from, to) = (Distance::read(&from)?, Distance::read(&to)?);
                GeoArea::checked_ring(from, to, read_point(&center)?)
            }
        };
    }
    let expected = "an area: 10km OF a point, 1km TO 2km OF a point, BOX and its corners in the south-west and north-east, POLYGON, MULTIPOLYGON, GeoJSON, CELL and its name, or a point";
    match read_point(text) {
        Ok(point) => Ok(GeoArea::Point(point)),
        Err(wrong) if text.contains([',', '/']) => Err(wrong),
        Err(_) => Err(NoGeo::new(expected, format!("'{text}'"))),
    }
}

/// Reads the name of a file, which is in quotes if it has a bracket.
fn read_file_name(text: &str) -> Result<String, NoGeo> {
    let expected = "the name of a file behind @, in quotes if it has a bracket";
    let wrong = || NoGeo::new(expected, format!("'@{text}'"));
    let Some(quoted) = text.strip_prefix('"') else {
        return if text.is_empty() { Err(wrong()) } else { Ok(text.to_owned()) };
    };
    let (mut name, mut chars) = (String::new(), quoted.chars());
    loop {
        match chars.next() {
            Some('"') if chars.as_str().is_empty() && !name.is_empty() => return Ok(name),
            Some('\\') => name.push(chars.next().ok_or_else(wrong)?),
            None | Some('"') => return Err(wrong()),
            Some(c) => name.push(c),
        }
    }
}

/// Bytes of an area up to the bracket behind it, if there is one; brackets of GeoJSON and in quotes belong to the area.
pub(crate) fn len_of_area(text: &str) -> Option<usize> {
    let begin = text.trim_start();
    let (is_geojson, has_quotes) = (begin.starts_with('{'), begin.starts_with(['{', '@']));
    let (mut depth, mut in_quotes, mut is_escaped) = (0u32, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if in_quotes => is_escaped = true,
            '"' if has_quotes => in_quotes = !in_quotes,
            _ if in_quotes => {}
            '[' if is_geojson => depth += 1,
            ']' if depth == 0 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Words, of which those before and behind a comma are one.
fn without_blanks_at_commas(words: &[&str]) -> Vec<String> {
    let mut joined: Vec<String> = vec![];
    for word in words {
        match joined.last_mut() {
            Some(last) if last.ends_with(',') || word.starts_with(',') => last.push_str(word),
            _ => joined.push((*word).to_owned()),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_in_all_their_forms() {
        for text in [
            "49.255,4.154",
            " 49.255 , 4.154 ",
            "49.255/4.154",
            "4.154E,49.255N",
            "49.255N,4.154E",
            "49.255n, 4.154",
            "POINT(4.154 49.255)",
            "point ( 4.154  49.255 )",
        ] {
            assert_eq!(read_point(text), GeoPoint::checked(49.255, 4.154), "{text}");
        }
        assert_eq!(read_point("33.9S,18.4W"), GeoPoint::checked(-33.9, -18.4));
        assert_eq!(read_point("-0,-0").unwrap().to_string(), "0,0");
    }

    #[test]
    fn what_is_no_point_is_told() {
        for (text, words) in [
            ("103.85,1.29", "points are latitude,longitude; did you mean 1.29,103.85?"),
            (
                "91,0",
                "found latitude 91, which is beyond ±90: points are latitude,longitude; did you mean 0,91?",
            ),
            ("-91,100", "found latitude -91, which is beyond ±90"),
            ("0,361", "longitude 361, which is beyond ±180"),
            ("48,412345", "beyond ±180: metres of a projection? coordinates are degrees"),
            ("5411000,412345", "beyond ±90: metres of a projection?"),
            ("NaN,0", "found 'NaN,0'"),
            ("inf,0", "found 'inf,0'"),
            ("1e999,0", "found '1e999,0'"),
            ("1", "the latitude first"),
            ("1,2,3", "found '1,2,3'"),
            ("", "found ''"),
            ("1N,2S", "two latitudes"),
            ("1E,2W", "two longitudes"),
            ("-1N,2E", "found '-1N,2E'"),
            ("POINT(1)", "found 'POINT(1)'"),
            ("POINT(1 2", "found 'POINT(1 2'"),
            ("POINT EMPTY", "found 'POINT EMPTY'"),
        ] {
            let wrong = read_point(text).unwrap_err();
            let told = format!("expected {}, found {}", wrong.expected, wrong.found);
            assert!(told.contains(words), "{text}: {told}");
        }
    }

    #[test]
    fn areas_are_read_as_they_are_printed() {
        for (text, printed) in [
            ("10km OF 48.8566,2.3522", "10km OF 48.8566,2.3522"),
            ("10 km OF 48.8566, 2.3522", "10km OF 48.8566,2.3522"),
            (" 1mi  TO 2mi OF 4E,5N", "1mi TO 2mi OF 5,4"),
            ("BOX -10,170 10,-170", "BOX -10,170 10,-170"),
            ("BOX -10, 170 10 ,-170", "BOX -10,170 10,-170"),
            ("POINT(4 5)", "5,4"),
            ("5/4", "5,4"),
            (" POLYGON((0 0,1 0,1 1))", "POLYGON ((0 0, 1 0, 1 1, 0 0))"),
            (
                " {\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1,0],[1,1]]]} ",
                "POLYGON ((0 0, 1 0, 1 1, 0 0))",
            ),
            ("CELL  tile:8/132/88", "CELL tile:8/132/88"),
            ("CELL geohash:U09", "CELL geohash:u09"),
            ("@a b.geojson", "@a b.geojson"),
            ("@\"a]b\\\"\\\\.wkt\"", "@\"a]b\\\"\\\\.wkt\""),
        ] {
            let bracket = format!("{text}] AND x");
            assert_eq!(len_of_area(&bracket), Some(text.len()), "{text}");
            let area = read_area(text).unwrap();
            assert_eq!(area.to_string(), printed);
            assert_eq!(read_area(printed), Ok(area));
        }
    }

    #[test]
    fn what_is_no_area_is_told() {
        for (text, words) in [
            ("10 OF 1,2", "10 of what? write 10km or 10mi"),
            ("10km OF 103,1", "did you mean 1,103?"),
            ("2km TO 1km OF 1,2", "the lesser distance before TO, found 2km TO 1km"),
            ("TO 1km OF 1,2", "a distance with its unit"),
            ("BOX 1,2", "two points behind BOX"),
            ("BOX 1,2 3,4 5,6", "two points behind BOX"),
            ("BOX 3,2 1,4", "3,2, which is north of 1,4"),
            ("POLYGON((0 0, 1 1, 1 0, 0 0", "behind a corner, found the end of the text"),
            ("CIRCLE((0 0))", "an area: 10km OF a point"),
            (
                "{\"type\":\"Point\",\"coordinates\":[1,2]} x",
                "nothing behind the object, found 'x'",
            ),
            ("{", "a name in double quotes, found the end of the text"),
            ("CELL", "a cell as tile:8/132/88"),
            ("CELL u09", "a cell as tile:8/132/88"),
            ("@", "the name of a file behind @"),
            ("@\"a", "found '@\"a'"),
            ("@\"a\"b", "the name of a file"),
            ("@\"\"", "the name of a file"),
            ("", "an area: 10km OF a point"),
            ("here", "an area: 10km OF a point"),
            ("OF", "a distance with its unit"),
            ("10km OF", "a point as 49.255,4.154"),
        ] {
            let wrong = read_area(text).unwrap_err();
            let told = format!("expected {}, found {}", wrong.expected, wrong.found);
            assert!(told.contains(words), "{text}: {told}");
        }
    }
}
