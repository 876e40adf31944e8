//! Documents of those lists of a window without which none is good enough.
//!
//! Lists that together cannot lift a document to the worst kept score need not be gone through (MAXSCORE). The others are *essential*: what
//! they add to each document is summed up, list after list, and with the most that the rest adds in its block that is a bound. Few documents
//! remain. They are looked up in the rest, first in the list that adds most, and what is found there, or not, lowers the bound of each.

use super::batch::Batch;
use super::block_units::add_up;
use super::bounds::ScoreQuantizer;
use super::exhaustive::WholeWindow;
use super::order::BLOCKS_AT_ONCE;
use super::query::{Divided, Run};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::plan::in_window::{LOOKED_UP_FIRST, looking_up_pays};
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;
use crate::simd::sums::BLOCKS;
use std::cmp::Reverse;

/// The memory of documents that may be among the best.
#[derive(Debug, Default)]
pub(super) struct Essential {
    /// Lists that are not essential in a window that was better scored whole, at the most.
    least_others: usize,
    /// The most that lists add in each block that are not essential.
    rest: Vec<u16>,
    /// Units that no score passes, and what the document has not in common with the others of the window.
    candidates: Vec<u32>,
}

heap_bytes!(Essential { rest, candidates });

impl Essential {
    /// Forgets another query.
    pub(super) fn start(&mut self) {
        self.least_others = 0;
    }

    /// Offers what can be among the best. False, and nothing is done, where that is too much to be looked up.
    pub(super) fn offer<'s>(
        &mut self,
        run: &mut Run<'_, 's>,
        window: &Divided<'_, '_, 's>,
        (sums, batch): (&mut WholeWindow, &mut Batch),
        top: &mut Top,
    ) -> Result<bool> {
        if window.others.len() <= self.least_others {
            return Ok(false);
        }
        let limit = run.query.scale.limit(top.threshold()).max(1);
        let blocks = window.left.iter().map(|block| *block as usize % BLOCKS);
        let blocks = blocks.filter(|block| u32::from(window.bounds[*block]) >= limit);
        let essential = window.essential.iter().map(|nth| &window.lists[usize::from(*nth)]);
        sums.score(run, (window.key, blocks.clone()), essential)?;
        self.take(&run.query.scale, window, blocks, sums, limit);
        let n_postings = window.lists.iter().map(|list| list.n_postings() as usize).sum();
        if !looking_up_pays(self.candidates.len(), n_postings, window.lists.len()) {
            self.least_others = window.others.len();
            return Ok(false);
        }
        let candidates = &mut self.candidates;
        // Some of the best tell how good the best are, then few of the others are left.
        let (n_first, mut start) = (LOOKED_UP_FIRST.max(top.k()), 0);
        if candidates.len() > 2 * n_first {
            candidates.select_nth_unstable_by_key(n_first, |candidate| Reverse(*candidate));
            candidates[..n_first].sort_unstable_by_key(|candidate| *candidate as u16);
            start = n_first;
        }
        batch.start(window.lists.len());
        for (nth, candidate) in candidates.iter().enumerate() {
            let (bound, low) = (candidate >> 16, *candidate as u16);
            if bound >= run.query.scale.limit(top.threshold()) {
                batch.push_bounded(low, bound);
            }
            if batch.is_full() || nth + 1 == start {
                look_up(batch, run, window, top)?;
            }
        }
        look_up(batch, run, window, top)?;
        run.pruning.windows_essential += 1;
        Ok(true)
    }

    /// Takes the documents of some blocks that can be among the best, given the sums of the essential lists.
    fn take(
        &mut self,
        scale: &ScoreQuantizer,
        window: &Divided<'_, '_, '_>,
        blocks: impl Iterator<Item = usize>,
        sums: &WholeWindow,
        limit: u32,
    ) {
        let Essential { rest, candidates, .. } = self;
        rest.resize(BLOCKS, 0);
        candidates.clear();
        let Some(rest) = rest.first_chunk_mut::<BLOCKS>() else { return };
        add_up::<false>(rest, window.others.iter().map(|nth| &window.lists[usize::from(*nth)]));
        let (rest, per_unit) = (&*rest, scale.score_per_unit());
        let of_blocks = blocks.map(|block| {
            (block, limit.saturating_sub(rest[block % BLOCKS].into()) as f32 * per_unit)
        });
        for (low, score) in sums.at_least(of_blocks) {
            let bound = scale.bound(score) + u32::from(rest[low as usize / 64 % BLOCKS]);
            candidates.push(bound.min(u16::MAX.into()) << 16 | low);
        }
    }
}

/// Offers what can be among the best of those that were taken.
fn look_up<'s>(
    batch: &mut Batch,
    Run { query, readers, pruning }: &mut Run<'_, 's>,
    window: &Divided<'_, '_, 's>,
    top: &mut Top,
) -> Result<()> {
    budget::work(ns::BLOCK_SCORED * BLOCKS_AT_ONCE as u64)?;
    let limit = query.scale.limit(top.threshold());
    for (doc, score) in batch.finish_essential(query, window, limit, readers)? {
        pruning.documents_scored += 1;
        if score >= top.threshold() {
            query.push(score, doc, top);
        }
    }
    Ok(())
}
