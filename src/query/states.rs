//! Queries for documents that have a field null, empty or missing.

use super::bind::{Binder, Normal, located};
use super::{Place, Query};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{EMPTY_FIELD, MISSING_FIELD, NULL_FIELD};

impl Query {
    /// Documents that have a field null, and no value of it: `_null:field`. The schema must [keep
    /// nulls](crate::SchemaBuilder::nulls).
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::null("tag").to_string(), "_null:tag");
    /// ```
    pub fn null(field: impl Into<String>) -> Self {
        Query::word_in(NULL_FIELD, field)
    }

    /// Documents that give a field an empty text or an empty list: `_empty:field`. The schema
    /// must [keep nulls](crate::SchemaBuilder::nulls).
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::empty("tag").to_string(), "_empty:tag");
    /// ```
    pub fn empty(field: impl Into<String>) -> Self {
        Query::word_in(EMPTY_FIELD, field)
    }

    /// Documents that say nothing of a field: `_missing:field`. If the schema does not [keep](crate::SchemaBuilder::nulls)
    /// nulls and empty lists, these say nothing, either. Documents say nothing of a field of an object, as `author.name`, if the
    /// object is not there, or is itself null or empty.
    ///
    /// | a document says | `tag:*` | `_null:tag` | `_empty:tag` | `_missing:tag` | the last without nulls |
    /// |---|---|---|---|---|---|
    /// | `{}` | | | | yes | yes |
    /// | `{"tag": null}`, `{"tag": [null]}` | | yes | | | yes |
    /// | `{"tag": []}` | | | yes | | yes |
    /// | `{"tag": ""}`, `{"tag": ["", null]}` | yes | | yes | | |
    /// | `{"tag": "a"}`, `{"tag": ["a", null]}` | yes | | | | |
    ///
    /// Counts of documents without a value, as [`FacetCounts::missing`](crate::facet::FacetCounts::missing), are of all
    /// that `tag:*` does not match.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::missing("tag").to_string(), "_missing:tag");
    /// ```
    pub fn missing(field: impl Into<String>) -> Self {
        Query::word_in(MISSING_FIELD, field)
    }
}

impl Binder<'_> {
    /// Query of a word behind one of the names that stand for no field of values; `None` behind those of fields.
    pub(super) fn state(
        &mut self,
        name: Option<&str>,
        text: &str,
        place: &Place,
    ) -> Result<Option<Normal>> {
        let Some(name @ (NULL_FIELD | EMPTY_FIELD | MISSING_FIELD)) = name else { return Ok(None) };
        let own = self.schema.field_id(name);
        // It is the name of a field, and stands where words do.
        let of = || Place { field: place.text.clone(), text: None };
        if name == MISSING_FIELD && own.is_none() {
            let id = self.field(text, &of())?;
            let mut none = vec![Normal::Exists(id)];
            if self.schema.keeps_nulls() {
                let said = [NULL_FIELD, EMPTY_FIELD].map(|name| self.schema.field_id(name));
                let term = |field| Normal::Term {
                    field,
                    term: self.schema.get(id).name.as_bytes().into(),
                };
                none.extend(said.into_iter().flatten().map(term));
            }
            return Ok(Some(self.and(vec![], none)));
        }
        if self.schema.keeps_nulls() {
            let id = self.field(text, &of())?;
            // Documents say it of the field by the name that the schema has.
            let known = &self.schema.get(id).name;
            if known != text {
                let term = |field| Normal::Term { field, term: known.as_bytes().into() };
                return Ok(own.map(term));
            }
        } else if own.is_none() {
            let error = Error::new(ErrorKind::Query, "looking for what is null or empty")
                .expected("an index that keeps nulls")
                .found("one that does not")
                .hint("SchemaBuilder::nulls, or `nulls = true` under [index] in the schema file, keeps them");
            return Err(located(&place.field, error));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analyzers;
    use crate::query::{ParseOptions, parse, rewrite};
    use crate::schema::Schema;

    fn rewritten(text: &str, nulls: bool) -> Result<String> {
        let schema = Schema::builder().text("title").keyword("tag");
        let schema = if nulls { schema.nulls() } else { schema }.build()?;
        let query = parse(text, &ParseOptions::default())?;
        let rewritten = rewrite(&query, &schema, &Analyzers::default())?;
        Ok(rewritten.normal.display(&schema).to_string())
    }

    #[test]
    fn names_of_states_are_looked_up_as_fields() {
        for (text, nulls, expected) in [
            ("_null:tag", true, "_null:\"tag\""),
            ("_empty:\"tag\"", true, "_empty:\"tag\""),
            ("_missing:tag", true, "-tag:* -_null:\"tag\" -_empty:\"tag\""),
            ("_missing:tag", false, "NOT tag:*"),
            ("title:a _missing:tag", false, "NOT (tag:* -title:a)"),
            ("+title:a -_missing:tag", false, "title:a AND tag:*"),
        ] {
            assert_eq!(rewritten(text, nulls).unwrap(), expected, "{text}");
        }
        for query in [Query::null("a b"), Query::empty("tag"), Query::missing("TO")] {
            assert_eq!(parse(&query.to_string(), &ParseOptions::default()).unwrap(), query);
        }
    }

    #[test]
    fn what_no_document_can_say_is_refused_where_it_stands() {
        for (text, nulls, words, span) in [
            ("_null:tag", false, "expected an index that keeps nulls", 0..5),
            ("_empty:tag", false, "expected an index that keeps nulls", 0..6),
            ("_null:tagg", true, "did you mean 'tag'?", 6..10),
            ("_missing:x", false, "found 'x'", 9..10),
        ] {
            let error = rewritten(text, nulls).unwrap_err();
            assert_eq!((error.kind(), error.span()), (ErrorKind::Query, Some(span)), "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
