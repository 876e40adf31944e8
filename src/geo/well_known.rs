//! Well-known text of polygons: `POLYGON ((2.2 48.8, 2.4 48.8, 2.4 48.9))`.
//!
//! By hand, because what is wrong is told with its place, and corners are limited while they are read.

use super::point::degrees;
use super::polygon::{GeoPolygons, GeoVertex, PolygonsBuilder};
use super::{GeoArea, NoGeo};
use crate::error::Result;
use std::ops::Range;

/// Kinds of geometries that enclose nothing.
const WITHOUT_INSIDE: [&str; 5] =
    ["POINT", "MULTIPOINT", "LINESTRING", "MULTILINESTRING", "CIRCULARSTRING"];
/// The reference system of longitudes and latitudes in degrees.
const SRID_OF_DEGREES: &str = "4326";
/// Prefix of texts that say their reference system, as PostGIS writes them.
const SRID: &str = "SRID=";

/// Whether a text begins as one of these.
pub(super) fn is_well_known(text: &str) -> bool {
    let kinds =
        WITHOUT_INSIDE[1..].iter().chain(&["POLYGON", "MULTIPOLYGON", "GEOMETRYCOLLECTION"]);
    let word = &text[..text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len())];
    let head = text.get(..SRID.len()).unwrap_or_default();
    head.eq_ignore_ascii_case(SRID) || kinds.into_iter().any(|it| it.eq_ignore_ascii_case(word))
}

/// Reads polygons.
pub(super) fn read_well_known(text: &str) -> Result<GeoArea, NoGeo> {
    let mut reader = WktReader { text, at: 0, builder: PolygonsBuilder::default() };
    reader.reference_system()?;
    let begin = reader.at;
    reader.geometry(true)?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.unexpected("nothing behind the last parenthesis"));
    }
    let polygons: GeoPolygons =
        reader.builder.finish().map_err(|wrong| wrong.at(begin..text.len()))?;
    Ok(GeoArea::Polygons(polygons))
}

struct WktReader<'t> {
    text: &'t str,
    at: usize,
    builder: PolygonsBuilder,
}

impl<'t> WktReader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, c: char) -> bool {
        self.blanks();
        let is_next = self.rest().starts_with(c);
        self.at += if is_next { c.len_utf8() } else { 0 };
        is_next
    }

    /// Takes what stands up to a blank, a comma or a parenthesis.
    fn word(&mut self) -> (&'t str, Range<usize>) {
        self.blanks();
        let rest = self.rest();
        let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')');
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let start = self.at;
        self.at += word.len();
        (word, start..self.at)
    }

    #[cold]
    fn unexpected(&mut self, expected: &'static str) -> NoGeo {
        let (word, place) = self.word();
        match (word, self.rest().chars().next()) {
            ("", None) => NoGeo::new(expected, "the end of the text").at(place),
            ("", Some(c)) => {
                let end = place.start + c.len_utf8();
                NoGeo::new(expected, format!("'{c}'")).at(place.start..end)
            }
            (word, _) => NoGeo::new(expected, format!("'{word}'")).at(place),
        }
    }

    /// `SRID=4326;`
    fn reference_system(&mut self) -> Result<(), NoGeo> {
        self.blanks();
        let (text, start) = (self.text, self.at);
        if !text.get(start..start + SRID.len()).is_some_and(|it| it.eq_ignore_ascii_case(SRID)) {
            return Ok(());
        }
        let number = start + SRID.len();
        let end = text[number..].find(';').map_or(text.len(), |len| number + len);
        if text[number..end].trim() != SRID_OF_DEGREES {
            let expected = "degrees of WGS 84, which are SRID=4326";
            let found = format!("'{}'", &text[start..end]);
            return Err(NoGeo::new(expected, found).at(start..end));
        }
        self.at = (end + 1).min(text.len());
        Ok(())
    }

    /// A geometry; in a collection no other collection.
    fn geometry(&mut self, takes_collection: bool) -> Result<(), NoGeo> {
        let (word, place) = self.word();
        let kind = word.to_ascii_uppercase();
        let has_altitudes = self.dimensions()?;
        match &*kind {
            "POLYGON" => self.polygon(has_altitudes),
            "MULTIPOLYGON" => self.list("a polygon", |reader| reader.polygon(has_altitudes)),
            "GEOMETRYCOLLECTION" if takes_collection => {
                self.list("a geometry", |reader| reader.geometry(false))
            }
            kind => {
                let found = match WITHOUT_INSIDE.contains(&kind) {
                    true => format!("a {kind}, which encloses nothing"),
                    false => format!("'{word}'"),
                };
                Err(NoGeo::new("POLYGON or MULTIPOLYGON", found).at(place))
            }
        }
    }

    /// Whether corners have altitudes: Z behind the kind. Measures, M, mean nothing on a map.
    fn dimensions(&mut self) -> Result<bool, NoGeo> {
        self.blanks();
        let before = self.at;
        let (word, place) = self.word();
        match &*word.to_ascii_uppercase() {
            "Z" => Ok(true),
            "M" | "ZM" => {
                let expected = "corners of a longitude and a latitude";
                Err(NoGeo::new(expected, format!("measures ('{word}')")).at(place))
            }
            _ => {
                self.at = before;
                Ok(false)
            }
        }
    }

    /// `(item, item)` or EMPTY.
    fn list(
        &mut self,
        of: &'static str,
        mut item: impl FnMut(&mut Self) -> Result<(), NoGeo>,
    ) -> Result<(), NoGeo> {
        let before = self.at;
        if self.word().0.eq_ignore_ascii_case("EMPTY") {
            return Ok(());
        }
        self.at = before;
        if !self.eat('(') {
            return Err(self.unexpected("'(' or EMPTY"));
        }
        loop {
            item(self)?;
            if self.eat(')') {
                return Ok(());
            }
            if !self.eat(',') {
                return Err(self.unexpected(match of {
                    "a corner" => "a comma or ')' behind a corner",
                    "a ring" => "a comma or ')' behind a ring",
                    "a polygon" => "a comma or ')' behind a polygon",
                    _ => "a comma or ')' behind a geometry",
                }));
            }
        }
    }

    fn polygon(&mut self, has_altitudes: bool) -> Result<(), NoGeo> {
        self.builder.polygon();
        self.list("a ring", |reader| {
            reader.blanks();
            let start = reader.at;
            reader.builder.ring();
            reader.list("a corner", |reader| reader.vertex(has_altitudes))?;
            let end = reader.at;
            reader.builder.end_ring().map_err(|wrong| wrong.at(start..end))
        })
    }

    fn vertex(&mut self, has_altitudes: bool) -> Result<(), NoGeo> {
        self.blanks();
        let start = self.at;
        let lon = self.number("a longitude")?;
        let lat = self.number("a latitude behind a blank")?;
        if has_altitudes {
            self.number("an altitude, as Z is behind the kind")?;
        }
        let place = start..self.at;
        self.builder.vertex(GeoVertex { lon, lat }).map_err(|wrong| wrong.at(place))
    }

    fn number(&mut self, expected: &'static str) -> Result<f64, NoGeo> {
        self.blanks();
        let before = self.at;
        match degrees(self.word().0) {
            Some(number) => Ok(number),
            None => {
                self.at = before;
                Err(self.unexpected(expected))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygons_are_read_as_they_are_printed() {
        for (text, printed) in [
            ("POLYGON((0 0,1 0,1 1))", "POLYGON ((0 0, 1 0, 1 1, 0 0))"),
            ("polygon ( (0 0, 1 0 ,1 1, 0 0) )", "POLYGON ((0 0, 1 0, 1 1, 0 0))"),
            ("POLYGON Z ((0 0 7, 1 0 7, 1 1 7))", "POLYGON ((0 0, 1 0, 1 1, 0 0))"),
            ("SRID=4326; POLYGON((0 0,1 0,1e0 1))", "POLYGON ((0 0, 1 0, 1 1, 0 0))"),
            (
                "POLYGON((0 0,9 0,9 9),(1 1,2 1,2 2))",
                "POLYGON ((0 0, 9 0, 9 9, 0 0), (1 1, 2 1, 2 2, 1 1))",
            ),
            (
                "MULTIPOLYGON(EMPTY,((0 0,1 0,1 1)),((5 5,6 5,6 6)))",
                "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 6 5, 6 6, 5 5)))",
            ),
            ("MULTIPOLYGON(((0 0,1 0,1 1)))", "POLYGON ((0 0, 1 0, 1 1, 0 0))"),
            (
                "GEOMETRYCOLLECTION(POLYGON((0 0,1 0,1 1)),MULTIPOLYGON(((170 5,190 5,180 6))))",
                "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((170 5, 190 5, 180 6, 170 5)))",
            ),
        ] {
            assert!(is_well_known(text), "{text}");
            let area = read_well_known(text).unwrap();
            assert_eq!(area.to_string(), printed);
            assert_eq!(read_well_known(printed), Ok(area));
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, words, place) in [
            ("POLYGON", "'(' or EMPTY, found the end of the text", ""),
            ("POLYGON EMPTY", "found an empty geometry", "POLYGON EMPTY"),
            ("MULTIPOLYGON(EMPTY)", "found an empty geometry", "MULTIPOLYGON(EMPTY)"),
            ("POLYGON(EMPTY)", "an empty one in ring 1", "EMPTY"),
            ("POLYGON((0 0", "a comma or ')' behind a corner, found the end of the text", ""),
            ("POLYGON((0 0,1", "a latitude behind a blank, found the end of the text", ""),
            ("POLYGON((0 0,", "a longitude, found the end of the text", ""),
            ("POLYGON((0 0,1 1,1 0)", "behind a ring, found the end of the text", ""),
            ("POLYGON((0 0,1 1,1 0)))", "nothing behind the last parenthesis, found ')'", ")"),
            ("POLYGON((0 0,1 1,1 0)) or so", "found 'or'", "or"),
            ("POLYGON((0 0 1,1 1 1,1 0 1))", "behind a corner, found '1'", "1"),
            ("POLYGON Z ((0 0,1 1,1 0))", "an altitude, as Z is behind the kind, found ','", ","),
            ("POLYGON M ((0 0 1))", "measures ('M')", "M"),
            ("POLYGON((0,0 1,1))", "a latitude behind a blank, found ','", ","),
            ("POLYGON((0 NaN))", "found 'NaN'", "NaN"),
            ("POLYGON((inf 0))", "a longitude, found 'inf'", "inf"),
            ("POLYGON((0 1e999))", "a latitude behind a blank, found '1e999'", "1e999"),
            ("POLYGON(0 0,1 1,1 0)", "'(' or EMPTY, found '0'", "0"),
            ("POLYGON((0 0,1 1,0 0))", "2 corners", "(0 0,1 1,0 0)"),
            ("POLYGON((1 48,1 103.85,2 48))", "did you mean 103.85 1?", "1 103.85"),
            ("POLYGON((170 0,-170 0,0 1))", "edge 1 of ring 1", "-170 0"),
            (
                "MULTIPOLYGON(((0 0,1 0,1 1)),((0 0,1 0,1 1),(0 0,1 0,-180 1)))",
                "edge 2 of ring 2 of polygon 2",
                "-180 1",
            ),
            ("LINESTRING(0 0,1 1)", "found a LINESTRING, which encloses nothing", "LINESTRING"),
            ("GEOMETRYCOLLECTION(POINT(1 2))", "a POINT, which encloses nothing", "POINT"),
            (
                "GEOMETRYCOLLECTION(GEOMETRYCOLLECTION(EMPTY))",
                "found 'GEOMETRYCOLLECTION'",
                "GEOMETRYCOLLECTION",
            ),
            ("SRID=3857;POLYGON((0 0,1 1,1 0))", "which are SRID=4326", "SRID=3857"),
            ("SRID=4326", "found ''", ""),
            ("POLYGON((é 0))", "found 'é'", "é"),
        ] {
            let wrong = read_well_known(text).unwrap_err();
            let told = format!("expected {}, found {}", wrong.expected, wrong.found);
            assert!(told.contains(words), "{text}: {told}");
            assert_eq!(&text[wrong.place.unwrap()], place, "{text}");
        }
    }

    #[test]
    fn texts_cut_anywhere_are_refused() {
        let text = "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 6 5, 6 6), (5 5, 6 5, 6 6)))";
        for end in 0..text.len() {
            assert!(read_well_known(&text[..end]).is_err(), "{}", &text[..end]);
        }
    }
}
