//! Scores that a search needs: of its page, and of known matches.

use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::nearest::FoundNeighbors;
use crate::query::{NeighborsSpec, Normal};
use crate::weight::Weight;
use std::sync::Arc;

/// Scores that a search needs.
#[derive(Debug, Default)]
pub(crate) struct Scorings<'a> {
    /// Finds the best; none where the page is made otherwise.
    pub(crate) page: Option<Weight<'a>>,
    /// Scores documents that are known to match, if the page does not. Without selections, as some buckets leave out one.
    pub(crate) known: Option<Box<Weight<'a>>>,
}

impl<'a> Scorings<'a> {
    /// Scores of documents that are known to match; none where nobody asks for these.
    pub(crate) fn known(&self) -> Option<&Weight<'a>> {
        self.known.as_deref().or(self.page.as_ref())
    }

    /// Sets that they depend on, which are to be [given](Self::give_sets).
    pub(crate) fn wanted_sets(&self) -> Vec<Normal> {
        let mut all = self.page.as_ref().map(Weight::wanted_sets).unwrap_or_default();
        for set in self.known.iter().flat_map(|known| known.wanted_sets()) {
            if !all.contains(&set) {
                all.push(set);
            }
        }
        all
    }

    pub(crate) fn give_sets(&mut self, wanted: &[Normal], found: &[Vec<Arc<DocIdSet>>]) {
        let known = self.known.as_deref_mut();
        self.page.iter_mut().chain(known).for_each(|it| it.give_sets(wanted, found));
    }

    /// Neighbours that they depend on and that do not decide what matches, which are found as sets are.
    pub(crate) fn neighbors_beside(&self, matching: &Normal) -> Vec<Normal> {
        let all = self.page.iter().chain(self.known.as_deref());
        all.flat_map(|weight| weight.neighbors_beside(matching)).collect()
    }

    /// Whether they depend on neighbours of vectors, which are to be [given](Self::give_neighbors).
    pub(crate) fn has_neighbors(&self) -> bool {
        self.page.iter().chain(self.known.as_deref()).any(Weight::has_neighbors)
    }

    pub(crate) fn give_neighbors(
        &mut self,
        found: &dyn Fn(&NeighborsSpec) -> Option<Arc<FoundNeighbors>>,
    ) -> Result<()> {
        let known = self.known.as_deref_mut();
        self.page.iter_mut().chain(known).try_for_each(|it| it.give_neighbors(found))
    }

    /// Expects so many documents of each set, where these are not found.
    pub(crate) fn expect_sets(&mut self, wanted: &[Normal], expected: &[u64]) {
        let of = |set: &Normal| wanted.iter().zip(expected).find(|(it, _)| *it == set);
        let all = self.page.iter_mut().chain(self.known.as_deref_mut());
        all.for_each(|it| it.expect_sets(|set| of(set).map_or(0, |(_, n)| *n)));
    }
}
