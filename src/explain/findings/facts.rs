//! What rules may ask of an index, so that a remedy is a number and not a hope.

use crate::explain::TermCounts;
use crate::query::Query;

/// What an index knows that a tree does not say. Every answer is bounded in cost, and `None` or empty where that
/// was not enough.
pub(crate) trait Facts {
    /// Of the beginnings that are `more` characters longer than `prefix`, the one that most terms of a field have, and how many
    /// have it in all segments; a term that several have counts for each.
    fn widest_prefix(&self, _field: &str, _prefix: &str, _more: usize) -> Option<(String, u64)> {
        None
    }

    /// What expanding a pattern of one field takes.
    fn walked(&self, _pattern: &Query) -> Option<TermCounts> {
        None
    }

    /// The words of a field that are nearest to one that it does not have, each with its documents; few.
    fn similar_words(&self, _field: &str, _word: &str) -> Vec<(String, u64)> {
        vec![]
    }

    /// Whether a field keeps a column.
    fn has_column(&self, _field: &str) -> Option<bool> {
        None
    }
}

/// Nothing more is known of a tree without its index.
impl Facts for () {}
