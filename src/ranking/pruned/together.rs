//! Documents of one block that are scored together, list after list.
//!
//! If a block has many documents that can be among the best, as those of frequent words have, the first of them needs
//! the same as the others: the lengths of the block, and one or two groups of frequencies of each list.

use super::sum::{Frequencies, GROUP, Norms, past_the_end};
use crate::error::Result;
use crate::ranking::Clause;
use crate::simd::scores::{self, BLOCK};
use crate::weight::bm25::FieldScoring;
use std::sync::Arc;

/// Documents of a block, and what they score so far. Of each of the arrays there is an element for each document.
pub(super) struct Together<'c> {
    /// The first document of the block.
    first: u32,
    /// Documents that are scored, as bits.
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
        (frequencies, lengths): (&mut Frequencies<'s>, &mut Norms<'s>),
        listed: u64,
        rank: u32,
    ) -> Result<()> {
        if !self.field.is_some_and(|field| Arc::ptr_eq(field, &clause.scoring)) {
            self.read_lengths(clause, lengths)?;
        }
        let last = rank + listed.count_ones().saturating_sub(1);
        let groups = frequencies.groups(rank / GROUP, last / GROUP > rank / GROUP)?;
        scores::gather(listed, self.docs, rank % GROUP, groups, &mut self.frequencies);
        let n = self.docs.count_ones() as usize;
        scores::add(n, &mut self.scores, &self.frequencies, &self.k, clause.weight);
        Ok(())
    }

    /// Computes K of each document.
    fn read_lengths<'s>(&mut self, clause: &'c Clause<'s>, lengths: &mut Norms<'s>) -> Result<()> {
        let n = clause.lengths.n_docs().saturating_sub(self.first).min(BLOCK as u32);
        if self.docs.checked_shr(n).unwrap_or_default() != 0 {
            return Err(past_the_end());
        }
        let codes = lengths.codes(self.first, n)?;
        // One by one: few documents are wanted of most blocks.
        let norm_cache = &clause.scoring.norm_cache;
        for (k, bit) in self.k.iter_mut().zip(bits_of(self.docs)) {
            let code = codes.get(bit as usize).copied().unwrap_or_default();
            *k = norm_cache[usize::from(code)];
        }
        self.field = Some(&clause.scoring);
        Ok(())
    }

    /// Each document with its score.
    pub(super) fn scored(&self) -> impl Iterator<Item = (u32, f32)> {
        bits_of(self.docs).zip(self.scores).map(|(bit, score)| (self.first + bit, score))
    }

    /// Documents that score at least so much, with their scores.
    pub(super) fn at_least(&self, least: f32) -> impl Iterator<Item = (u32, f32)> {
        let good = scores::at_least(self.docs.count_ones() as usize, &self.scores, least);
        let (mut docs, mut before) = (self.docs, 0);
        bits_of(good).map(move |nth| {
            // Without the documents before, of which some were passed over.
            (before..nth).for_each(|_| docs &= docs - 1);
            before = nth;
            (self.first + docs.trailing_zeros(), self.scores[nth as usize % BLOCK])
        })
    }
}

/// The bits that are set, from the lowest on.
#[inline]
pub(super) fn bits_of(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
    })
}
