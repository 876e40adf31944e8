//! Keys of fields of points.

use std::ops::Range;

use toml::de::DeValue;
use treepie::schema::CoordinateOrder;
use treepie::{Error, FieldKind};

use super::File;

impl File<'_> {
    /// The order of the numbers of an array.
    pub(super) fn coordinate_order(
        &self,
        value: &DeValue<'_>,
        span: &Range<usize>,
    ) -> Result<CoordinateOrder, Error> {
        let expected = "latlon or lonlat";
        let Some(name) = value.as_str() else {
            return Err(self.kind_of(span.clone(), "array", expected, value));
        };
        CoordinateOrder::ALL.into_iter().find(|it| it.name() == name).ok_or_else(|| {
            let error = self.wrong(span.clone()).expected(format!("{expected} for 'array'"));
            error.found(format!("'{name}'"))
        })
    }

    /// The kind of a field with the order of its arrays, which is refused of another kind.
    pub(super) fn of_points(
        &self,
        kind: FieldKind,
        array: Option<(CoordinateOrder, Range<usize>)>,
    ) -> Result<FieldKind, Error> {
        match (kind, array) {
            (FieldKind::Point { .. }, Some((array, _))) => {
                Ok(FieldKind::Point { array: Some(array) })
            }
            (kind, None) => Ok(kind),
            (kind, Some((_, span))) => Err(self
                .wrong(span)
                .expected("'array' in point fields only")
                .found(format!("it in a {} field", kind.name()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse, parse_with_settings, print};
    use super::*;
    use treepie::{Field, Schema};

    #[test]
    fn fields_of_points_are_read_and_printed() {
        let text = "[fields.a]\ntype = \"point\"\n\
                    [fields.b]\ntype = \"point\"\narray = \"lonlat\"\nmany = true\n";
        let b = FieldKind::Point { array: Some(CoordinateOrder::LonLat) };
        let schema =
            Schema::builder().point("a").field(Field::new("b", b).many(true)).build().unwrap();
        assert_eq!(parse(text).unwrap(), schema);
        assert_eq!(print(&schema), text);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, words) in [
            (
                "type = \"point\"\narray = \"xy\"",
                "latlon or lonlat for 'array', found 'xy' (line 3)",
            ),
            ("type = \"point\"\narray = true", "latlon or lonlat"),
            (
                "type = \"text\"\narray = \"latlon\"",
                "'array' in point fields only, found it in a text",
            ),
            ("type = \"point\"\ncolumn = true", "found it in a point field (line 3)"),
            ("type = \"geo\"", "places are fields of the type point"),
            ("type = \"point\"\nfrom = [\"a\"]", "two names, of the latitude and the longitude"),
            ("type = \"text\"\nfrom = [\"a\", \"b\"]", "a text for 'from'"),
        ] {
            let text = format!("[fields.p]\n{text}\n");
            let message = parse_with_settings(&text).unwrap_err().to_string();
            assert!(message.contains(words), "{text}\n{message}");
        }
    }
}
