//! State of binding a query: the position in it, and the notes so far.

use super::beside::Beside;
use super::memory::BindMemory;
use crate::analysis::Analyzers;
use crate::error::Error;
use crate::ids::FieldId;
use crate::schema::Schema;
use std::ops::Range;

/// Options of binding a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BindOptions {
    /// Number of terms of a pattern that are scored; with 0 all its documents have the same score.
    pub(crate) pattern_terms: u32,
    /// Whether people will be told what was taken otherwise than it may have been meant.
    pub(crate) notes: bool,
}

/// Finds fields and terms, and remembers where in the query it is.
pub(in crate::query) struct Binder<'a> {
    pub(in crate::query) schema: &'a Schema,
    pub(in crate::query) analyzers: &'a Analyzers,
    pub(super) options: BindOptions,
    pub(super) notes: Vec<String>,
    pub(super) n_terms: usize,
    /// The default fields, the innermost last, where the query has its own.
    pub(super) scopes: Vec<Scope>,
    /// The fields in which words are read together at the moment.
    pub(super) together: Vec<JoinedField>,
    /// Conditions beside neighbours of vectors.
    pub(super) beside: Beside,
    pub(in crate::query) memory: &'a mut BindMemory,
}

impl<'a> Binder<'a> {
    pub(in crate::query) fn new(
        schema: &'a Schema,
        analyzers: &'a Analyzers,
        memory: &'a mut BindMemory,
    ) -> Self {
        Binder {
            schema,
            analyzers,
            options: BindOptions::default(),
            notes: vec![],
            n_terms: 0,
            scopes: vec![],
            together: vec![],
            beside: Beside::default(),
            memory,
        }
    }
}

impl Binder<'_> {
    pub(in crate::query) fn note(&mut self, note: String) {
        if self.options.notes && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Default fields.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) fields: Vec<FieldId>,
    /// By field, what its scores are multiplied by.
    pub(super) weights: Vec<f32>,
    /// Whether words are scored as if the fields were one.
    pub(super) combined: bool,
}

impl Scope {
    /// The fields with their weights.
    pub(super) fn weighted(&self) -> impl Iterator<Item = (FieldId, f32)> {
        self.fields.iter().copied().zip(self.weights.iter().copied())
    }
}

/// A field in which words are read together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JoinedField {
    pub(crate) field: FieldId,
    /// Whether the words also stand for themselves there.
    pub(crate) is_kept: bool,
}

/// Adds the place if one is known.
pub(in crate::query) fn located(place: &Option<Range<usize>>, error: Error) -> Error {
    match place {
        Some(span) => error.at_span(span.clone()),
        None => error,
    }
}

/// The start of a text, for a message.
pub(in crate::query) fn shortened(text: &str) -> String {
    const CHARS_SHOWN: usize = 60;
    match text.char_indices().nth(CHARS_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
