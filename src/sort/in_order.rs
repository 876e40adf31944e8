//! First documents if the index has them in this order. Matches are gone through until they are found.
//!
//! Matches come in the order of the first keys as they stand if that is the order of each segment's documents. So the
//! first are the first that match, and all that are the same by these keys as the last of them, if there are other
//! keys. The end of another page is looked up by binary search in the segment.
//!
//! Cost: some 20 to 40 ns for each document of the page, and for each that is the same as its last.

use super::first::{First, InSegment};
use super::order::SortOrder;
use super::place::Place;
use crate::budget::{self, ns};
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::plan::OrderShape;
use crate::schema::Schema;
use std::cmp::Ordering;

impl SortOrder {
    /// Number of first keys that documents of each segment are in the order of; none if documents have to be scored.
    pub(crate) fn n_in_index_order(&self, schema: &Schema) -> usize {
        let pairs = self.keys().iter().zip(schema.order_fields());
        let n = pairs.take_while(|(key, of_index)| key.is_in_order_of(of_index)).count();
        if self.needs_scores() { 0 } else { n }
    }

    /// Facts that the way to find the first depends on, of an index with this schema.
    pub(crate) fn shape(&self, schema: &Schema) -> OrderShape {
        let is_in_index_order = self.n_in_index_order(schema) > 0;
        let (has_bounds, has_places) = (self.first_field().is_some(), self.near().is_some());
        OrderShape { is_in_index_order, has_bounds, has_places }
    }
}

impl InSegment<'_, '_, '_> {
    /// Looks at what matches of a segment that has it in the order of the first `n_keys`.
    pub(super) fn look_at_in_order(&mut self, n_keys: usize, matches: &DocIdSet) -> Result<()> {
        let start = self.start(n_keys)?;
        for doc in matches.documents_from(start, self.segment.n_docs)? {
            self.first.profile.column.documents += 1;
            budget::work(ns::KEY_COMPARED)?;
            let rank = self.ranks.first(doc)?;
            if !self.first.admits(rank, self.ranks.id(doc)) {
                break;
            }
            self.take(doc, rank)?;
            let First { candidate, .. } = &*self.first;
            if self.first.last().is_some_and(|last| self.compare(candidate, last, n_keys).is_gt()) {
                break;
            }
        }
        Ok(())
    }

    /// The first document of a segment that does not come before what all must come behind.
    fn start(&mut self, n_keys: usize) -> Result<u32> {
        let mut docs = 0..self.segment.n_docs;
        while self.first.after.is_some() && !docs.is_empty() {
            budget::work(ns::KEY_COMPARED * self.first.order.keys().len() as u64)?;
            let middle = docs.start + (docs.end - docs.start) / 2;
            let candidate = &mut self.first.candidate;
            (candidate.first, candidate.doc) = (self.ranks.first(middle)?, self.ranks.id(middle));
            self.ranks.rest(middle, candidate)?;
            let First { candidate, after, .. } = &*self.first;
            let is_before = |after| self.compare(candidate, after, n_keys).is_lt();
            match after.as_ref().is_some_and(is_before) {
                true => docs.start = middle + 1,
                false => docs.end = middle,
            }
        }
        Ok(docs.start)
    }

    /// Compares two documents by the first `n_keys`; by their numbers, too, if there are no others.
    fn compare<'p>(&self, a: &'p Place, b: &'p Place, n_keys: usize) -> Ordering {
        if n_keys == self.first.order.keys().len() {
            return a.cmp(b);
        }
        let ranks = |place: &'p Place| place.ranks().map(|(rank, _)| rank).take(n_keys);
        ranks(a).cmp(ranks(b))
    }
}
