//! The fields by whose terms documents are similar, see
//! [`SchemaBuilder::order_by_similarity`](super::SchemaBuilder::order_by_similarity).

use super::Field;
use super::names::{closest, position};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::FieldId;

/// Minimum number of documents of a segment for the order of similarity. Smaller segments soon become part of larger
/// ones.
pub const SIMILARITY_DOCS_MIN: u32 = 1 << 16;

/// Looks fields up; all of text if none is named.
pub(super) fn resolve(names: &[String], fields: &[Field]) -> Result<Vec<FieldId>> {
    let mut resolved = vec![];
    for name in names {
        let at = position(fields, name).ok_or_else(|| {
            let error = refused().expected("the name of a text field").found(format!("'{name}'"));
            match closest(name, fields) {
                Some(known) => error.hint(format!("did you mean '{known}'?")),
                None => error,
            }
        })?;
        let (field, id) = (&fields[at], FieldId(at as u16));
        if !field.kind.is_text() {
            return Err(refused().expected("a text field").found(format!(
                "the {} field '{}'",
                field.kind.name(),
                field.name
            )));
        }
        if resolved.contains(&id) {
            return Err(refused().expected("each field once").found(format!("'{name}' twice")));
        }
        resolved.push(id);
    }
    if names.is_empty() {
        let texts = (0..).zip(fields).filter(|(_, field)| field.kind.is_text());
        resolved.extend(texts.map(|(at, _)| FieldId(at)));
    }
    match resolved.is_empty() {
        true => Err(refused().expected("at least one text field").found("none")),
        false => Ok(resolved),
    }
}

fn refused() -> Error {
    Error::new(ErrorKind::Schema, "ordering the documents of an index by similarity")
}

#[cfg(test)]
mod tests {
    use crate::schema::{Field, FieldKind, Schema, SchemaBuilder};

    fn articles() -> SchemaBuilder {
        Schema::builder()
            .text("title")
            .keyword("tags")
            .text("body")
            .field(Field::new("year", FieldKind::I64))
    }

    fn names(schema: &Schema) -> Vec<&str> {
        schema.similarity_fields().map(|field| &*field.name).collect()
    }

    #[test]
    fn similarity_is_of_the_fields_that_are_named_or_of_all_of_text() {
        let plain = articles().build().unwrap();
        assert!(names(&plain).is_empty() && !plain.is_similarity_of_all());
        let all = articles().order_by_similarity::<&str>([]).build().unwrap();
        assert_eq!(names(&all), ["title", "body"]);
        let named = articles().order_by_similarity(["body"]).build().unwrap();
        assert_eq!(names(&named), ["body"]);
        assert!(all.is_similarity_of_all() && !named.is_similarity_of_all());
        assert_eq!(plain.ordered_by_similarity(["body"]).unwrap(), named);
        assert!(plain.difference(&all).contains("in another order"));
        assert!(all.difference(&named).contains("in another order"));
    }

    #[test]
    fn fields_that_are_added_belong_to_all() {
        let note = || [Field::new("note", FieldKind::Text)];
        let all = articles().order_by_similarity::<&str>([]).build().unwrap();
        let named = articles().order_by_similarity(["title"]).build().unwrap();
        let [wider, still] = [&all, &named].map(|schema| schema.with_fields(note()).unwrap());
        assert_eq!(names(&wider), ["title", "body", "note"]);
        assert_eq!(names(&still), ["title"]);
        assert!(wider.extends(&all) && still.extends(&named) && !wider.extends(&named));
    }

    #[test]
    fn the_last_order_that_is_asked_for_counts() {
        let by_year = articles().order_by(["year"]);
        let schema = by_year.clone().order_by_similarity(["body"]).build().unwrap();
        assert_eq!((names(&schema), schema.order().count()), (vec!["body"], 0));
        let schema = schema.ordered_by(["year"]).unwrap();
        assert_eq!(schema, by_year.build().unwrap());
    }

    #[test]
    fn what_has_no_words_is_refused_by_name() {
        let cases: [(&[&str], &str); 5] = [
            (&["bodi"], "expected the name of a text field, found 'bodi'; did you mean 'body'?"),
            (&[""], "found ''"),
            (&["tags"], "expected a text field, found the keyword field 'tags'"),
            (&["body", "year"], "found the i64 field 'year'"),
            (&["body", "title", "body"], "each field once, found 'body' twice"),
        ];
        for (fields, words) in cases {
            let error = articles().order_by_similarity(fields.iter().copied()).build().unwrap_err();
            assert!(error.to_string().contains(words), "{fields:?}: {error}");
        }
        let error = Schema::builder().keyword("k").order_by_similarity::<&str>([]).build();
        assert!(error.unwrap_err().to_string().contains("at least one text field, found none"));
    }
}
