//! Areas: `WITHIN [10km OF 48.8566,2.3522]`.

use super::{Lexer, Token};
use crate::error::Result;
use crate::geo::{GeoArea, GeoRelation, len_of_area, read_area};
use crate::query::Query;

impl Lexer<'_> {
    /// Reads the area behind a relation; the position is behind that.
    pub(super) fn area(&mut self, relation: GeoRelation) -> Result<Token> {
        self.skip_blanks();
        let open = self.at;
        let inside = &self.rest()[1..];
        let Some(len) = len_of_area(inside) else {
            // GeoJSON that is cut short is told what it lacks.
            if inside.trim_start().starts_with('{') {
                self.read_area(open + 1, inside)?;
            }
            let error = self.refuse(open..self.query.len()).expected("']' behind the area");
            return Err(error.found("the end of the query"));
        };
        self.at = open + len + 2;
        let area = self.read_area(open + 1, &inside[..len])?;
        self.end_of_atom()?;
        Ok(Token::Leaf(Query::of_area(None, relation, area)))
    }

    /// The area that a text from `start` on is.
    fn read_area(&self, start: usize, text: &str) -> Result<GeoArea> {
        read_area(text).map_err(|wrong| {
            let place = wrong.place.unwrap_or(0..text.len());
            let error = self.refuse(start + place.start..start + place.end);
            error.expected(wrong.expected).found(wrong.found)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::geo::{GeoArea, GeoPoint, GeoRelation};
    use crate::query::{ParseOptions, Query, parse};

    #[test]
    fn areas_are_read_as_they_are_printed() {
        let paris = GeoPoint::new(48.8566, 2.3522).unwrap();
        let circle = GeoArea::circle("10km".parse().unwrap(), paris);
        for (text, expected) in [
            ("place:WITHIN [10km OF 48.8566,2.3522]", Query::within_area("place", circle.clone())),
            (
                "place:WITHIN[ 10 km OF 48.8566 , 2.3522 ]",
                Query::within_area("place", circle.clone()),
            ),
            (
                "place:INTERSECTS [10km OF 2.3522E,48.8566N]",
                Query::area("place", GeoRelation::Intersects, circle.clone()),
            ),
            (
                "place:DISJOINT [48.8566/2.3522]",
                Query::area("place", GeoRelation::Disjoint, GeoArea::Point(paris)),
            ),
            (
                "place:WITHIN [POLYGON((0 0, 1 0, 1 1))]",
                Query::within_area("place", "POLYGON ((0 0,1 0,1 1,0 0))".parse().unwrap()),
            ),
            (
                r#"place:WITHIN [{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1]]],"x":"]"}]^2 OR b"#,
                Query::any_of([
                    Query::within_area("place", "POLYGON ((0 0,1 0,1 1))".parse().unwrap())
                        .boosted(2.0)
                        .unwrap(),
                    Query::word("b"),
                ]),
            ),
            (
                "place:WITHIN [CELL tile:8/132/88]",
                Query::within_area("place", "CELL tile:8/132/88".parse().unwrap()),
            ),
            (
                "place:WITHIN [@a.geojson] OR b",
                Query::any_of([
                    Query::within_area("place", GeoArea::File("a.geojson".into())),
                    Query::word("b"),
                ]),
            ),
            (
                "place:WITHIN [@\"a]b.wkt\"]",
                Query::within_area("place", GeoArea::File("a]b.wkt".into())),
            ),
            (
                "-place:CONTAINS [POINT(2.3522 48.8566)]",
                Query::not(Query::area("place", GeoRelation::Contains, GeoArea::Point(paris))),
            ),
            (
                "a AND (place:WITHIN [BOX 1,2 3,4]^2 OR place:WITHIN [1m TO 2m OF 0,0])",
                Query::all_of([
                    Query::word("a"),
                    Query::any_of([
                        Query::within_area("place", "BOX 1,2 3,4".parse().unwrap())
                            .boosted(2.0)
                            .unwrap(),
                        Query::within_area("place", "1m TO 2m OF 0,0".parse().unwrap()),
                    ]),
                ]),
            ),
        ] {
            let query = parse(text, &ParseOptions::default()).unwrap();
            assert_eq!(query, expected, "{text}");
            assert_eq!(parse(&query.to_string(), &ParseOptions::default()).unwrap(), query);
            assert_eq!(query.clone(), query);
        }
        // A word that only looks like a relation.
        for text in ["WITHIN", "place:WITHIN", "WITHIN x", "\\WITHIN [a TO b]"] {
            let query = parse(text, &ParseOptions::default()).unwrap();
            assert!(!format!("{query:?}").contains("Area"), "{query:?}");
            assert_eq!(parse(&query.to_string(), &ParseOptions::default()).unwrap(), query);
        }
    }

    #[test]
    fn errors_point_at_the_area() {
        for (text, words, span) in [
            ("p:WITHIN [10 OF 1,2]", "10 of what? write 10km or 10mi", "10 OF 1,2"),
            ("p:WITHIN [103.85,1.29]", "did you mean 1.29,103.85?", "103.85,1.29"),
            ("p:WITHIN [10km OF 1,2", "']' behind the area", "[10km OF 1,2"),
            ("p:WITHIN []", "an area: 10km OF a point", ""),
            ("p:WITHIN [1km TO 2km]", "an area: 10km OF a point", "1km TO 2km"),
            ("p:WITHIN [1,2]x", "a blank or a bracket", "x"),
            ("p:WITHIN [ POLYGON((0 0,1 x))]", "a latitude behind a blank, found 'x'", "x"),
            ("p:WITHIN [POLYGON((170 0,-170 0,0 1))]", "write 190 in place of -170", "-170 0"),
            (
                "p:WITHIN [{\"type\":\"Polygon\",\"coordinates\":[[[1,103.85]]]}]",
                "did you mean 103.85 1?",
                "[1,103.85]",
            ),
            (
                "p:WITHIN [{\"type\":\"Polygon\",\"coordinates\":[[[1,103",
                "a comma or the end of the array, found the end of the text",
                "",
            ),
            (
                "p:WITHIN [{\"type\":\"Point\",\"coordinates\":[1,2]}",
                "']' behind the area",
                "[{\"type\":\"Point\",\"coordinates\":[1,2]}",
            ),
            ("p:WITHIN [CELL u09]", "a cell as tile:8/132/88", "CELL u09"),
        ] {
            let error = parse(text, &ParseOptions::default()).unwrap_err();
            assert!(error.to_string().contains(words), "{text}: {error}");
            assert_eq!(&text[error.span().unwrap()], span, "{text}");
        }
    }
}
