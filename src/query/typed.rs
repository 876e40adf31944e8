//! Queries in a typed field: a value, a range, or nothing for an impossible value.

use std::borrow::Cow;
use std::ops::Bound;

use super::bind::{Binder, Normal, located, nothing, shortened};
use super::{Place, Query};
use crate::error::{Error, ErrorKind, Result};
use crate::expansion::{Expansion, TermPattern};
use crate::ids::FieldId;
use crate::schema::{Field, FieldKind};
use crate::value::{self, Span, Value};

/// The codes of all values.
const CODES: Span = Span { first: 0, last: u64::MAX as i128 };

impl Binder<'_> {
    /// Normal form of a leaf in a typed field.
    pub(super) fn typed(&mut self, id: FieldId, leaf: &Query) -> Result<Normal> {
        let is_address = self.schema.get(id).kind == FieldKind::Ip;
        match leaf {
            Query::Range { lower, upper, .. } if is_address => self.address_range(id, lower, upper),
            Query::Range { lower, upper, .. } => self.typed_range(id, lower, upper),
            Query::InSet { values, place, .. } => {
                self.count_terms(values.len(), place)?;
                let any = values.iter().map(|text| self.typed_value(id, text, place));
                let any = any.collect::<Result<Vec<_>>>()?;
                Ok(self.or_of_values(id, any)?)
            }
            _ => {
                let field = self.schema.get(id);
                let error = Error::new(
                    ErrorKind::Query,
                    format!("looking in the {} field '{}'", field.kind.name(), field.name),
                )
                .expected("a value, a range or a list of values")
                .found("a pattern of characters");
                Err(match is_address {
                    true => error.hint("a block of addresses is written 10.0.0.0/8"),
                    false => error,
                })
            }
        }
    }

    /// Documents with a value, or, as dates are, with one of those that the text leaves open.
    pub(super) fn typed_value(&mut self, id: FieldId, text: &str, place: &Place) -> Result<Normal> {
        let field = self.schema.get(id);
        if field.kind == FieldKind::Ip {
            return self.address(id, text, place);
        }
        let Span { first, last } =
            span(field, text).map_err(|error| located(&place.text, error))?;
        if first == last
            && let Ok(code) = u64::try_from(first)
        {
            return Ok(Normal::Term { field: id, term: value::term_of_code(code)[..].into() });
        }
        if first > last || first > CODES.last || last < CODES.first {
            let reason = format!("no value of '{}' is {}", field.name, shortened(text));
            self.note(format!("{reason}, so it matches nothing"));
            return Ok(nothing(reason));
        }
        self.between(id, Bound::Included(first), Bound::Included(last))
    }

    fn typed_range(
        &mut self,
        id: FieldId,
        lower: &Bound<String>,
        upper: &Bound<String>,
    ) -> Result<Normal> {
        let field = self.schema.get(id);
        let of = |bound: &Bound<String>, included: fn(Span) -> i128, excluded: fn(Span) -> i128| {
            Ok(match bound {
                Bound::Included(text) => Bound::Included(included(span(field, text)?)),
                Bound::Excluded(text) => Bound::Excluded(excluded(span(field, text)?)),
                Bound::Unbounded => Bound::Unbounded,
            })
        };
        // From the beginning of what a text leaves open, or from behind its end.
        let from = of(lower, |span| span.first, |span| span.last)?;
        let to = of(upper, |span| span.last, |span| span.first)?;
        let first = match from {
            Bound::Included(code) => code,
            Bound::Excluded(code) => code + 1,
            Bound::Unbounded => CODES.first,
        };
        let last = match to {
            Bound::Included(code) => code,
            Bound::Excluded(code) => code - 1,
            Bound::Unbounded => CODES.last,
        };
        if first > last || first > CODES.last || last < CODES.first {
            let text = |bound: &Bound<String>| match bound {
                Bound::Included(text) | Bound::Excluded(text) => shortened(text),
                Bound::Unbounded => "*".into(),
            };
            let (lower, upper) = (text(lower), text(upper));
            let reason = format!("no value of '{}' is between {lower} and {upper}", field.name);
            self.note(format!("{reason}, so it matches nothing"));
            return Ok(nothing(reason));
        }
        self.between(id, from, to)
    }

    /// Documents with a value between two codes; bounds beyond all codes are none.
    fn between(&mut self, id: FieldId, from: Bound<i128>, to: Bound<i128>) -> Result<Normal> {
        let bound = |bound: Bound<i128>| {
            let term =
                |code| u64::try_from(code).ok().map(|code| value::term_of_code(code).to_vec());
            match bound {
                Bound::Included(code) => term(code).map_or(Bound::Unbounded, Bound::Included),
                Bound::Excluded(code) => term(code).map_or(Bound::Unbounded, Bound::Excluded),
                Bound::Unbounded => Bound::Unbounded,
            }
        };
        match (bound(from), bound(to)) {
            (Bound::Unbounded, Bound::Unbounded) => Ok(Normal::Exists(id)),
            (from, to) => self.expanded(id, TermPattern::Range(from, to)),
        }
    }

    /// Documents with one of some values: those of one term each in one walk.
    fn or_of_values(&mut self, id: FieldId, values: Vec<Normal>) -> Result<Normal> {
        let (mut set, mut any) = (vec![], vec![]);
        for value in values {
            match value {
                Normal::Term { term, .. } => set.push(term.into_vec()),
                other => any.push(other),
            }
        }
        self.one_of_terms(id, set, any)
    }
}

/// The codes that a text means in a field.
fn span(field: &Field, text: &str) -> Result<Span> {
    value::span_in(field, text).map_err(|wrong| {
        let what = format!("looking in the {} field '{}'", field.kind.name(), field.name);
        let error = Error::new(ErrorKind::Query, what).expected(wrong.expected).found(wrong.found);
        match text.split_once("..") {
            Some((from, to)) => {
                let end = |end: &str| if end.is_empty() { "*".to_owned() } else { shortened(end) };
                error.hint(format!("a range is written [{} TO {}]", end(from), end(to)))
            }
            None => error,
        }
    })
}

/// Text that means a value in its field: of a date with all digits behind the second, because with fewer it means more.
fn printed(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Date(_) => value.to_exact_text(),
        other => other.to_text(),
    }
}

impl Query {
    /// The leaf that stands for a term of a field.
    pub(crate) fn of_term(field: &Field, term: &[u8]) -> Self {
        let value = Value::of_term(field.kind, term);
        let text = printed(&value);
        let is_word = |c: char| c.is_alphanumeric() || c == '.';
        match field.kind.is_typed() && text.chars().all(is_word) || field.kind.is_text() {
            true => Query::word_in(&*field.name, text),
            false => Query::value(&*field.name, text),
        }
    }

    /// The leaf that stands for the same terms of a field.
    pub(crate) fn of_terms_in(field: &Field, terms: &Expansion) -> Self {
        let text = |term: &Vec<u8>| printed(&Value::of_term(field.kind, term)).into_owned();
        let bound = |bound: &Bound<Vec<u8>>| match bound {
            Bound::Included(term) => Bound::Included(text(term)),
            Bound::Excluded(term) => Bound::Excluded(text(term)),
            Bound::Unbounded => Bound::Unbounded,
        };
        let query = match terms.pattern() {
            TermPattern::Range(lower, upper) => Query::range((bound(lower), bound(upper))),
            TermPattern::Set(values) => Query::in_set(values.iter().map(text)),
            _ => Query::of_terms(terms),
        };
        query.in_field(&*field.name)
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::Analyzers;
    use crate::error::{ErrorKind, Result};
    use crate::query::{ParseOptions, parse, rewrite};
    use crate::schema::{Field, FieldKind, Schema};

    fn schema() -> Schema {
        let field = |name: &str, kind| Field::new(name, kind);
        Schema::builder()
            .text("title")
            .field(field("year", FieldKind::I64))
            .field(field("size", FieldKind::U64))
            .field(field("weight", FieldKind::F64))
            .field(field("price", FieldKind::Decimal { scale: 2 }))
            .field(field("new", FieldKind::Bool))
            .field(field("date", FieldKind::Date))
            .build()
            .unwrap()
    }

    fn rewritten(text: &str) -> Result<(String, Vec<String>)> {
        let query = parse(text, &ParseOptions::default())?;
        let rewritten = rewrite(&query, &schema(), &Analyzers::default())?;
        Ok((rewritten.normal.display(&schema()).to_string(), rewritten.notes))
    }

    #[test]
    fn texts_become_values_of_their_field() {
        let day = "[\"2010-12-01T00:00:00.000000Z\" TO \"2010-12-01T23:59:59.999999Z\"]";
        let cases = [
            ("year:1922", "year:1922"),
            ("year:\"1922\"", "year:1922"),
            ("year:01922", "year:1922"),
            ("year:\\-5", "year:\"-5\""),
            ("year:[1900 TO 1950}", "year:[1900 TO 1950}"),
            ("year:>1900.5", "year:{1900 TO *]"),
            ("year:<=1900.5", "year:[* TO 1900]"),
            ("year:[* TO *]", "year:*"),
            ("year:>=\\-99999999999999999999", "year:*"),
            ("year:<99999999999999999999", "year:*"),
            ("size:>=\\-1", "size:*"),
            ("year:IN [3 1 2 1]", "year:IN [1 2 3]"),
            ("year:IN [3 3]", "year:3"),
            ("weight:1e3", "weight:1000"),
            ("weight:>0.5", "weight:{0.5 TO *]"),
            ("price:12.5", "price:12.50"),
            ("price:>=12.555", "price:[12.56 TO *]"),
            ("new:true", "new:true"),
            ("date:2010-12-01", &format!("date:{day}")),
            ("date:[2010-12-01 TO 2010-12-01]", &format!("date:{day}")),
            ("date:{2010 TO *]", "date:{\"2010-12-31T23:59:59.999999Z\" TO *]"),
            ("date:>=2010", "date:[\"2010-01-01T00:00:00.000000Z\" TO *]"),
            ("date:<2010", "date:[* TO \"2010-01-01T00:00:00.000000Z\"}"),
            ("date:\"2010-12-01T08:26:30.123456Z\"", "date:\"2010-12-01T08:26:30.123456Z\""),
            (
                "date:\"2010-12-01T08:26:30.25\"",
                "date:[\"2010-12-01T08:26:30.250000Z\" TO \"2010-12-01T08:26:30.259999Z\"]",
            ),
            (
                "date:[* TO \"2010-12-01T08:26:30.000000Z\"]",
                "date:[* TO \"2010-12-01T08:26:30.000000Z\"]",
            ),
            ("weight:<1e999", "weight:*"),
            ("year:<1e999", "year:*"),
            ("price:>=\\-1e999", "price:*"),
            ("weight:>=\\-1e999", "weight:*"),
            ("weight:1e300", "weight:1e300"),
            ("weight:0e-400", "weight:0"),
            ("weight:<1e-400", "weight:[* TO 5e-324}"),
            ("weight:>=1e-400", "weight:[5e-324 TO *]"),
            ("weight:<9007199254740993", "weight:[* TO 9007199254740994}"),
            ("weight:>9007199254740993", "weight:{9007199254740992 TO *]"),
            ("year:1922 AND year:*", "year:1922"),
            ("year:1922 AND NOT year:1922", "NOT *"),
            ("{year size}:7", "year:7 OR size:7"),
        ];
        for (text, expected) in cases {
            let (found, _) = rewritten(text).unwrap();
            assert_eq!(found, expected, "{text}");
            assert_eq!(rewritten(&found).unwrap().0, found, "what is printed means the same");
        }
    }

    #[test]
    fn typed_default_fields_take_the_words_that_are_values_of_them() {
        let of = |names: &[&str], text: &str| {
            let builder = schema()
                .fields()
                .iter()
                .cloned()
                .fold(Schema::builder(), |all, field| all.field(field));
            let schema = builder.default_fields(names.iter().copied()).build().unwrap();
            let query = parse(text, &ParseOptions::default())?;
            let rewritten = rewrite(&query, &schema, &Analyzers::default())?;
            Ok::<_, crate::error::Error>((
                rewritten.normal.display(&schema).to_string(),
                rewritten.notes,
            ))
        };
        for (names, text, expected) in [
            (&["year", "weight"][..], "3", "year:3 OR weight:3"),
            (&["year", "weight"], "2.5", "weight:2.5"),
            (&["year", "new"], "true AND 3", "new:true AND year:3"),
            (&["title", "year"], "lamp 3", "title:lamp OR title:3 OR year:3"),
            (&["title", "year"], "lam*", "title:lam*"),
            (&["year", "size"], "[1 TO 2]", "year:[1 TO 2] OR size:[1 TO 2]"),
            (&["year"], "3", "year:3"),
        ] {
            let (found, notes) = of(names, text).unwrap();
            assert_eq!(found, expected, "{text}");
            assert_eq!(notes, [] as [String; 0], "{text}");
        }
        // A text that is no value of any of them matches nothing, as in each alone.
        let (found, notes) =
            of(&["year", "size"], "-5.5").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((&*found, notes.len()), ("*", 2), "{notes:?}");
        let refused = of(&["year", "new"], "lamp").unwrap_err();
        assert_eq!((refused.kind(), refused.span()), (ErrorKind::Query, Some(0..4)));
        let refused = refused.to_string();
        assert!(refused.contains("'lamp'") && refused.contains("year, new"), "{refused}");
    }

    #[test]
    fn what_no_value_can_be_matches_nothing_and_says_so() {
        for (text, reason) in [
            ("year:1922.5", "no value of 'year' is 1922.5"),
            ("size:\\-5", "no value of 'size' is -5"),
            ("year:99999999999999999999", "no value of 'year' is 99999999999999999999"),
            ("year:[5 TO 3]", "no value of 'year' is between 5 and 3"),
            ("year:{5 TO 5]", "no value of 'year' is between 5 and 5"),
            ("year:{5 TO 6}", "no value of 'year' is between 5 and 6"),
            ("weight:>1e999", "no value of 'weight' is between 1e999 and *"),
            ("size:<0", "no value of 'size' is between * and 0"),
            ("weight:1e-400", "no value of 'weight' is 1e-400"),
            ("weight:\\-1e-400", "no value of 'weight' is -1e-400"),
            ("weight:[\\-1e-400 TO 0}", "no value of 'weight' is between -1e-400 and 0"),
            ("price:[0.001 TO 0.009]", "no value of 'price' is between 0.001 and 0.009"),
        ] {
            let (found, notes) = rewritten(text).unwrap();
            assert_eq!(found, "NOT *", "{text}");
            assert_eq!(notes, [format!("{reason}, so it matches nothing")], "{text}");
        }
    }

    #[test]
    fn what_is_no_value_is_refused_where_it_stands() {
        for (text, found, span) in [
            ("year:many", "'many'", Some(5..9)),
            ("a AND year:[1 TO x]", "'x'", None),
            ("weight:nan", "'nan'", Some(7..10)),
            ("date:2010-02-30", "'2010-02-30'", Some(5..15)),
            ("new:2", "'2'", Some(4..5)),
            ("year:PHRASE [1 2]", "'1 2'", None),
            ("year:19*", "a pattern", None),
            ("year:19~1", "a pattern", None),
            ("year:1?", "a pattern", None),
            ("year:/1.*/", "a pattern", None),
            ("year:\"19\"*", "a pattern", None),
        ] {
            let error = rewritten(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Query, "{error}");
            assert!(error.to_string().contains(found), "{error}");
            if span.is_some() {
                assert_eq!(error.span(), span, "{error}");
            }
        }
        let (found, notes) = rewritten("year:PHRASE [1 2*]").unwrap();
        assert_eq!((&*found, notes.len()), ("NOT *", 1));
    }
}
