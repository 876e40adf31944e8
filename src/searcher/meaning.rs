//! Meaning of a search in the schema of its index, as far as that is known.

use super::bound_facet::BoundFacet;
use crate::plan::LookUps;
use crate::query::{BoundQuery, Rewritten};
use std::cell::{Cell, OnceCell};

/// Findings so far: made once, for all that the search does.
#[derive(Debug, Default)]
pub(super) struct Meaning {
    /// Whether people will be told: then there are notes, and terms are kept to say what was found.
    pub(super) is_explained: Cell<bool>,
    pub(super) bound: OnceCell<BoundQuery>,
    pub(super) rewritten: OnceCell<Rewritten>,
    pub(super) look_ups: OnceCell<LookUps>,
    pub(super) facets: OnceCell<Vec<BoundFacet>>,
}

/// A copy of a search is a search of its own.
impl Clone for Meaning {
    fn clone(&self) -> Self {
        Meaning::default()
    }
}
