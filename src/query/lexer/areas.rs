//! Areas: `WITHIN [10km OF 48.8566,2.3522]`.

use super::{Lexer, Token};
use crate::error::Result;
use crate::geo::{GeoRelation, read_area};
use crate::query::Query;

impl Lexer<'_> {
    /// Reads the area behind a relation; the position is behind that.
    pub(super) fn area(&mut self, relation: GeoRelation) -> Result<Token> {
        self.skip_blanks();
        let open = self.at;
        let inside = &self.rest()[1..];
        let Some(len) = inside.find(']') else {
            let error = self.refuse(open..self.query.len()).expected("']' behind the area");
            return Err(error.found("the end of the query"));
        };
        self.at = open + len + 2;
        let area = read_area(&inside[..len]).map_err(|wrong| {
            let error = self.refuse(open + 1..open + 1 + len).expected(wrong.expected);
            error.found(wrong.found)
        })?;
        self.end_of_atom()?;
        Ok(Token::Leaf(Query::of_area(None, relation, area)))
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
            ("place:WITHIN [10km OF 48.8566,2.3522]", Query::within_area("place", circle)),
            ("place:WITHIN[ 10 km OF 48.8566 , 2.3522 ]", Query::within_area("place", circle)),
            (
                "place:INTERSECTS [10km OF 2.3522E,48.8566N]",
                Query::area("place", GeoRelation::Intersects, circle),
            ),
            (
                "place:DISJOINT [48.8566/2.3522]",
                Query::area("place", GeoRelation::Disjoint, GeoArea::Point(paris)),
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
        ] {
            let error = parse(text, &ParseOptions::default()).unwrap_err();
            assert!(error.to_string().contains(words), "{text}: {error}");
            assert_eq!(&text[error.span().unwrap()], span, "{text}");
        }
    }
}
