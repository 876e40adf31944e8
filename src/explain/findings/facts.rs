//! What rules may ask of an index, so that a remedy is a number and not a hope.

use crate::query::Query;

/// What an index knows that a tree does not say. Every answer is bounded in cost, and `None` or empty where that
/// was not enough.
pub(crate) trait Facts {
    /// Of the beginnings that are `more` characters longer than `prefix`, the one that most terms of a field have.
    fn widest_prefix(&self, field: &str, prefix: &str, more: usize) -> Option<WidestPrefix>;

    /// What expanding a pattern of one field takes.
    fn walked(&self, pattern: &Query) -> Option<Walked>;

    /// The words of a field that are nearest to one that it does not have, each with its documents; few.
    fn similar_words(&self, field: &str, word: &str) -> Vec<(String, u64)>;

    /// Whether a field keeps a column.
    fn has_column(&self, field: &str) -> Option<bool>;
}

/// A beginning of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WidestPrefix {
    pub(crate) text: String,
    /// In all segments; a term that several have counts for each.
    pub(crate) terms: u64,
}

/// Terms that a pattern takes in all segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walked {
    pub(crate) visited: u64,
    pub(crate) expanded: u64,
}

/// Of a tree without its index nothing more is known.
impl Facts for () {
    fn widest_prefix(&self, _: &str, _: &str, _: usize) -> Option<WidestPrefix> {
        None
    }

    fn walked(&self, _: &Query) -> Option<Walked> {
        None
    }

    fn similar_words(&self, _: &str, _: &str) -> Vec<(String, u64)> {
        vec![]
    }

    fn has_column(&self, _: &str) -> Option<bool> {
        None
    }
}
