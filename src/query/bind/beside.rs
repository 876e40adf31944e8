//! Conditions that stand beside a clause.

use crate::query::normal::Normal;

/// Conditions on the way from the root to the clause that is bound.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Whether there are any neighbours.
    pub(super) has_neighbors: bool,
    /// Whether conditions are gathered, as in the second walk.
    pub(super) is_gathered: bool,
    /// Conditions without neighbours.
    pub(super) plain: Conditions,
    /// Conditions by how near documents are, which each document meets by itself.
    pub(super) within: Conditions,
}

/// Documents that match all of `all` and none of `none`.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    pub(super) all: Vec<Normal>,
    pub(super) none: Vec<Normal>,
}

impl Conditions {
    pub(super) fn len(&self) -> (usize, usize) {
        (self.all.len(), self.none.len())
    }

    pub(super) fn truncate(&mut self, (all, none): (usize, usize)) {
        self.all.truncate(all);
        self.none.truncate(none);
    }
}
