//! A query in one segment, as ways through its windows see it.

use super::bounds::ScoreQuantizer;
use super::parts::Opened;
use super::pruning::Pruning;
use super::sum::Readers;
use crate::ids::DocId;
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::simd::sums::BLOCKS;

/// A query in one segment.
pub(super) struct Query<'q, 's> {
    pub(super) clauses: &'q [Clause<'s>],
    pub(super) scale: ScoreQuantizer,
    /// The number of the segment's first document.
    pub(super) base: u64,
    /// Documents that were offered already, ascending.
    pub(super) offered: &'q [u32],
    /// Clauses from this one on only filter: every match is in their lists, which are long.
    pub(super) first_filter: usize,
}

/// A query on its way through a segment: what reads for it, and what it looked at so far.
pub(super) struct Run<'q, 's> {
    pub(super) query: Query<'q, 's>,
    pub(super) readers: &'q mut Readers<'s>,
    pub(super) pruning: Pruning,
}

/// A window, given its lists, the bounds of its blocks, those that are left, and the numbers of the lists that are not essential, those first
/// that add least, and of the others in the order of the clauses.
pub(super) struct Divided<'w, 'q, 's> {
    pub(super) key: u32,
    pub(super) lists: &'w [Opened<'q, 's>],
    pub(super) bounds: &'w [u16; BLOCKS],
    pub(super) left: &'w [u32],
    pub(super) others: &'w [u8],
    pub(super) essential: &'w [u8],
}

impl Query<'_, '_> {
    /// Offers a document, unless that was done before.
    #[inline]
    pub(super) fn push(&self, score: f32, doc: u32, top: &mut Top) {
        let id = DocId(self.base + u64::from(doc));
        if self.offered.is_empty()
            || top.would_take(score, id) && self.offered.binary_search(&doc).is_err()
        {
            top.push(score, id);
        }
    }
}
