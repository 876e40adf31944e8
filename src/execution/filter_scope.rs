//! Matches that facets count, with and without selections.

use super::bound_facet::ExcludedFilters;
use crate::doc_id_set::{DocIdSet, Matches};

/// Matches that facets count, of all documents or of those of a bucket, by the selections that are left out.
#[derive(Default)]
pub(super) struct FilterScope<'m>(Vec<(ExcludedFilters, Part<'m>)>);

enum Part<'m> {
    Lent(&'m [DocIdSet]),
    Own(Matches),
}

impl<'m> FilterScope<'m> {
    /// Scope of all matches of a search.
    pub(super) fn new(matches: &'m [DocIdSet]) -> Self {
        FilterScope(vec![(vec![], Part::Lent(matches))])
    }

    /// Whether it is known what matches without these selections.
    pub(super) fn has(&self, left_out: &ExcludedFilters) -> bool {
        self.0.iter().any(|(of, _)| of == left_out)
    }

    /// Adds what matches without some selections.
    pub(super) fn add(&mut self, left_out: ExcludedFilters, matches: Matches) {
        self.0.push((left_out, Part::Own(matches)));
    }

    /// Matches without these selections, which must be in the scope.
    pub(super) fn of(&self, left_out: &ExcludedFilters) -> &[DocIdSet] {
        let part = self.0.iter().find(|(of, _)| of == left_out).map(|(_, part)| part);
        match part {
            Some(Part::Lent(matches)) => matches,
            Some(Part::Own(matches)) => matches,
            None => &[],
        }
    }
}
