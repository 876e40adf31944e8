//! Where a document stands in an order.

use super::order::Ranks;
use crate::ids::DocId;
use std::cmp::Ordering;

/// What a term of a document takes beside its bytes.
pub(super) const TERM_BYTES: usize = 48;

/// Where a document stands: of two the one with the smaller ranks comes first, and where they are equal, that with the
/// smaller number.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// By the first key, and by the others.
    pub(super) first: u128,
    pub(super) rest: Vec<u128>,
    pub(crate) doc: DocId,
    /// By key the term, where there is one; none at all before the segment of the document has been looked at.
    pub(super) terms: Vec<Option<Box<[u8]>>>,
    /// The bits of its score, where it was scored.
    pub(super) score_bits: Option<u32>,
}

impl Place {
    /// Of a document with these ranks.
    pub(crate) fn new(ranks: Ranks, doc: DocId) -> Self {
        let (first, rest) =
            ranks.ranks.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
        Place { first, rest: rest.to_vec(), doc, terms: ranks.terms, score_bits: None }
    }

    /// By key the rank, and the term that it stands for.
    pub(crate) fn ranks(&self) -> impl Iterator<Item = (u128, Option<&[u8]>)> {
        let terms = self.terms.iter().map(Option::as_deref).chain(std::iter::repeat(None));
        [self.first].into_iter().chain(self.rest.iter().copied()).zip(terms)
    }

    pub(crate) fn score(&self) -> Option<f32> {
        self.score_bits.map(f32::from_bits)
    }

    pub(super) fn rank_mut(&mut self, key: usize) -> Option<&mut u128> {
        match key.checked_sub(1) {
            None => Some(&mut self.first),
            Some(key) => self.rest.get_mut(key),
        }
    }

    /// Bytes that it takes, but for its terms.
    pub(super) fn n_bytes(&self) -> u64 {
        (size_of::<Place>() + self.rest.len() * size_of::<u128>()) as u64
    }

    /// Bytes that its terms take.
    pub(super) fn term_bytes(&self) -> u64 {
        self.terms.iter().flatten().map(|term| (term.len() + TERM_BYTES) as u64).sum()
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.first, &self.rest, self.doc).cmp(&(other.first, &other.rest, other.doc))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Place {}
