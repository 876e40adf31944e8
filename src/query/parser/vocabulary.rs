//! Knowledge of an index for lenient parsing: its fields, and its answerable clauses.

use super::lenient::Reader;
use super::{placed, with_fields};
use crate::analysis::Analyzers;
use crate::error::Result;
use crate::query::{Query, rewrite};
use crate::schema::{EMPTY_FIELD, MISSING_FIELD, NULL_FIELD, Schema};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// Schema and analyzers that a clause is tried with.
#[derive(Clone, Debug)]
pub(super) struct Vocabulary {
    pub(super) schema: Arc<Schema>,
    pub(super) analyzers: Arc<Analyzers>,
}

/// Stands for a schema that is not known: patterns are tried in its field.
static UNKNOWN: LazyLock<Option<Vocabulary>> = LazyLock::new(|| {
    let schema = Schema::builder().text("text").build().ok()?;
    Some(Vocabulary { schema: Arc::new(schema), analyzers: Arc::default() })
});

fn is_of_field(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Whether a text looks like the name of a field.
pub(super) fn is_like_field(name: &str) -> bool {
    let begins = |c: char| c.is_alphabetic() || c == '_';
    name.starts_with(begins) && name.chars().all(is_of_field)
}

impl Reader<'_, '_> {
    /// Whether a name before a colon is that of a field.
    pub(super) fn is_field(&self, name: &str, span: &Range<usize>) -> bool {
        if let Some(vocabulary) = &self.options.vocabulary {
            let is_state = [MISSING_FIELD, NULL_FIELD, EMPTY_FIELD].contains(&name);
            return is_state || vocabulary.schema.field_id(name).is_some();
        }
        let rest = &self.parser.text[span.end..];
        let has_value = !rest.trim_start().is_empty() && !rest.starts_with("//");
        let is_drive = rest.strip_prefix('\\').is_some_and(|rest| rest.starts_with(is_of_field));
        is_like_field(name) && has_value && !is_drive
    }

    /// Checks a clause in its place against the vocabulary.
    pub(super) fn check(&self, query: &Query) -> Result<()> {
        let vocabulary = match (&self.options.vocabulary, &*UNKNOWN) {
            (Some(vocabulary), _) => vocabulary,
            (None, Some(unknown)) => {
                // Fields are not known, so only what a leaf says can be wrong.
                let mut query = query.clone();
                if let Query::Fields { query: inner, .. } = &mut query {
                    query = (**inner).clone();
                }
                match query.field_of_terms_mut() {
                    Some((field, _)) => *field = None,
                    None => return Ok(()),
                }
                return rewrite(&query, &unknown.schema, &unknown.analyzers).map(drop);
            }
            (None, None) => return Ok(()),
        };
        let around = self.parser.frames.iter().rev().find_map(|frame| frame.fields.clone());
        let query = match around {
            Some(fields) => with_fields(query.clone(), Some(fields)),
            None => query.clone().in_fields(self.options.default_fields.iter().cloned()),
        };
        self.try_out(&query, vocabulary)
    }

    /// A text as a word, in the fields that take it; `None` if no field does.
    pub(super) fn text_query(&self, text: &str, span: &Range<usize>) -> Option<Query> {
        let word = placed(Query::word(text), None, span);
        if self.check(&word).is_ok() {
            return Some(word);
        }
        let schema = &self.options.vocabulary.as_ref()?.schema;
        let of_defaults = schema.default_field_ids().iter().map(|id| schema.get(*id));
        let of_defaults: Vec<_> = of_defaults.collect();
        let all: Vec<_> = schema.fields().iter().filter(|it| !it.kind.is_typed()).collect();
        [of_defaults, all].into_iter().find_map(|fields| {
            let any = fields.into_iter().map(|field| Query::word_in(&*field.name, text));
            let any: Vec<_> = any.filter(|query| self.check(query).is_ok()).collect();
            (!any.is_empty()).then(|| Query::any_of(any))
        })
    }

    /// Checks the whole query against the schema, if it is known.
    pub(super) fn check_whole(&self, query: &Query) -> Result<()> {
        self.options.vocabulary.as_ref().map_or(Ok(()), |it| self.try_out(query, it))
    }

    fn try_out(&self, query: &Query, vocabulary: &Vocabulary) -> Result<()> {
        let Vocabulary { schema, analyzers } = vocabulary;
        match &self.options.dates {
            Some(dates) => rewrite(&query.at(schema, dates)?, schema, analyzers),
            None => rewrite(query, schema, analyzers),
        }
        .map(drop)
    }
}
