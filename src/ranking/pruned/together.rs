//! Documents of one block that are scored together, list after list.
//!
//! Where a block has many documents that can be among the best, as those of frequent words have, what is needed for the first
//! of them is needed for the others: the lengths of the block, and one or two groups of frequencies of each list.

use super::exhaustive::{GROUP, past_the_end};
use crate::error::Result;
use crate::format::ranked::RankedLong;
use crate::ranking::Clause;
use crate::ranking::bm25::FieldScoring;
use crate::segment::file::Section;
use crate::simd::scores::{self, BLOCK};
use std::sync::Arc;

/// Documents of a block from which on scoring them together takes less time than one after the other.
pub(super) const TOGETHER_MIN: u32 = 6;

/// Documents of a block, and what they score so far.
pub(super) struct Together<'c> {
    /// The first document of the block.
    first: u32,
    /// Those that are scored, as bits.
    docs: u64,
    scores: [f32; BLOCK],
    frequencies: [f32; BLOCK],
    /// K of each document in a field, and which.
    k: [f32; BLOCK],
    field: Option<&'c Arc<FieldScoring>>,
}

impl<'c> Together<'c> {
    pub(super) fn new(first: u32, docs: u64) -> Self {
        let (scores, frequencies, k) = ([0.0; BLOCK], [0.0; BLOCK], [1.0; BLOCK]);
        Together { first, docs, scores, frequencies, k, field: None }
    }

    /// Adds a list, which has the documents in `listed` here; `rank` is that of the first of them.
    pub(super) fn add<'s>(
        &mut self,
        clause: &'c Clause<'s>,
        list: &RankedLong<'s, Section<'s>>,
        listed: u64,
        rank: u32,
    ) -> Result<()> {
        if !self.field.is_some_and(|field| Arc::ptr_eq(field, &clause.scoring)) {
            self.read_lengths(clause)?;
        }
        let last = rank + listed.count_ones().saturating_sub(1);
        let group = list.frequencies().group(rank / GROUP)?;
        let next = match last / GROUP == rank / GROUP {
            true => None,
            false => Some(list.frequencies().group(last / GROUP)?),
        };
        let groups = [group.packed(), next.as_ref().unwrap_or(&group).packed()];
        scores::gather(listed, self.docs, rank % GROUP, groups, &mut self.frequencies);
        scores::add(&mut self.scores, &self.frequencies, &self.k, clause.weight);
        Ok(())
    }

    /// Adds a list whose scores are known, by rank.
    pub(super) fn add_known(&mut self, listed: u64, rank: u32, of_list: &[f32]) {
        let mut left = listed & self.docs;
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            let nth = rank + (listed & ((1 << bit) - 1)).count_ones();
            self.scores[bit as usize] += of_list[nth as usize];
        }
    }

    /// Computes K of each document.
    fn read_lengths(&mut self, clause: &'c Clause<'_>) -> Result<()> {
        let n_docs = clause.lengths.n_docs();
        let end = self.first.saturating_add(BLOCK as u32).min(n_docs);
        let codes = clause.lengths.codes(self.first.min(end)..end)?;
        let mut left = self.docs;
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            let code = codes.get(bit).ok_or_else(past_the_end)?;
            self.k[bit] = clause.scoring.k_by_code[usize::from(*code)];
        }
        self.field = Some(&clause.scoring);
        Ok(())
    }

    /// Each document with its score.
    pub(super) fn scored(&self) -> impl Iterator<Item = (u32, f32)> {
        let mut left = self.docs;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some((self.first + bit, self.scores[bit as usize]))
        })
    }
}
