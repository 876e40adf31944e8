//! Facts of a query that is scored.

use super::cost::ScoredLists;

/// Queries whose best documents can be found without scoring all that match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Every document that matches has this score: any will do.
    Constant,
    /// Terms of which one must match.
    AnyOf,
    /// Terms that must all match.
    AllOf,
    /// A phrase.
    Phrase,
    /// Anything else.
    Tree,
}

/// Facts of a query that is ready to be scored.
pub(crate) trait Scoring {
    fn shape(&self) -> Shape;
    /// The score of every match, where all have the same.
    fn constant(&self) -> Option<f32>;
    /// Whether functions change scores, of which there are no bounds.
    fn has_functions(&self) -> bool;
    /// Whether a phrase is in no document more often than its rarest word, so that there are bounds of it.
    fn is_exact_phrase(&self) -> bool;
    /// Lists that score documents, of which as many are expected to match as if all parts were independent of each other.
    fn lists(&self) -> ScoredLists;
    /// Whether words have to be placed to know what matches.
    fn matches_by_phrases(&self) -> bool;
}
