//! Places of documents in an order.

use super::text::Tie;
use crate::compared::ordered;
use crate::ids::DocId;
use std::cmp::Ordering;

/// Bytes of a document's term beside its text.
pub(super) const TERM_BYTES: usize = 48;

/// Place of a document: the one with the smaller ranks comes first, then the one with the smaller number.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// By the first key, and by the others.
    pub(super) first: u128,
    pub(super) rest: Vec<u128>,
    pub(crate) doc: DocId,
    /// By key the term, where there is one; none at all before the segment of the document has been looked at.
    pub(super) terms: Vec<Option<Box<[u8]>>>,
    /// By key what is compared where ranks are the same, where any key is by texts.
    pub(super) ties: Vec<Tie>,
    pub(crate) score: Option<f32>,
}

impl Place {
    /// Makes the place of a document whose ranks are to come.
    pub(super) fn new(doc: DocId) -> Self {
        Place { first: 0, rest: vec![], doc, terms: vec![], ties: vec![], score: None }
    }

    /// By key the rank, and the term that it stands for.
    pub(crate) fn ranks(&self) -> impl Iterator<Item = (u128, Option<&[u8]>)> {
        let term = |nth: usize| {
            let own = self.terms.get(nth).and_then(Option::as_deref);
            own.or_else(|| Some(&self.ties.get(nth)?.key.as_ref()?.term[..]))
        };
        let ranks = [self.first].into_iter().chain(self.rest.iter().copied());
        ranks.enumerate().map(move |(nth, rank)| (rank, term(nth)))
    }

    pub(super) fn rank_mut(&mut self, key: usize) -> Option<&mut u128> {
        match key.checked_sub(1) {
            None => Some(&mut self.first),
            Some(key) => self.rest.get_mut(key),
        }
    }

    /// Bytes that it takes, but for its terms.
    pub(super) fn n_bytes(&self) -> u64 {
        let parts = self.rest.len() * size_of::<u128>() + self.ties.len() * size_of::<Tie>();
        (size_of::<Place>() + parts) as u64
    }

    pub(super) fn term_bytes(&self) -> u64 {
        self.terms.iter().flatten().map(|term| (term.len() + TERM_BYTES) as u64).sum()
    }

    pub(super) fn tie_bytes(&self) -> u64 {
        self.ties.iter().map(Tie::n_bytes).sum()
    }

    fn compare(&self, other: &Self) -> Ordering {
        match self.ties.is_empty() {
            true => (self.first, &self.rest, self.doc).cmp(&(other.first, &other.rest, other.doc)),
            false => self.cmp_with_ties(other),
        }
    }

    /// Works like [`compare`](Self::compare), where some ranks are only the beginning of what is compared.
    fn cmp_with_ties(&self, other: &Self) -> Ordering {
        let ranks = |place: &Self| [place.first].into_iter().chain(place.rest.clone());
        let pairs = ranks(self).zip(ranks(other)).zip(self.ties.iter().zip(&other.ties));
        let mut orders =
            pairs.map(|((a, b), (tie, of_other))| a.cmp(&b).then_with(|| tie.cmp(of_other)));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal).then(self.doc.cmp(&other.doc))
    }
}

ordered! {
    Place;
}
