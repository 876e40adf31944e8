//! States of a field without a value in a document: null, or empty.

use crate::document::Document;
use crate::schema::{EMPTY_FIELD, NULL_FIELD};
use crate::value::Value;

/// State of a field in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Null,
    /// A value that is a text without characters.
    EmptyText,
    EmptyList,
}

impl State {
    /// The field that has the names of fields with this state.
    pub(super) fn field(self) -> &'static str {
        match self {
            State::Null => NULL_FIELD,
            State::EmptyText | State::EmptyList => EMPTY_FIELD,
        }
    }
}

/// Whether a field has the names of others.
pub(super) fn is_state(name: &str) -> bool {
    name == NULL_FIELD || name == EMPTY_FIELD
}

/// The fields that a document says something of, with what, as it was given or as it was stored.
pub(super) fn of(document: &Document) -> impl Iterator<Item = (&str, State)> {
    document.iter().filter_map(|(name, value)| match value {
        Value::Text(field) if name == NULL_FIELD => Some((&**field, State::Null)),
        Value::Text(field) if name == EMPTY_FIELD => Some((&**field, State::EmptyList)),
        _ if is_state(name) => None,
        Value::Null => Some((name, State::Null)),
        Value::Text(text) if text.is_empty() => Some((name, State::EmptyText)),
        _ => None,
    })
}
