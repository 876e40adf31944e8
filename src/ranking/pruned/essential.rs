//! Documents of those lists of a window without which none is good enough.
//!
//! Lists that together cannot lift a document to the worst kept score need not be gone through (MAXSCORE). The others are *essential*: what
//! they add to each document is summed up, list after list, and with the most that the rest adds in its block that is a bound. Few documents
//! remain. They are looked up in the rest, first in the list that adds most, and what is found there, or not, lowers the bound of each.

use super::block_units::{add_up, each_code};
use super::bounds::ScoreQuantizer;
use super::exhaustive::WholeWindow;
use super::parts::Opened;
use super::query::Run;
use super::sum::past_the_end;
use crate::error::Result;
use crate::format::lengths::score_part;
use crate::plan::WINDOW;
use crate::plan::in_window::looking_up_pays;
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;
use crate::simd::sums::{BLOCKS, units};
use crate::simd::windows::ABSENT;
use std::cmp::Reverse;

/// Documents that are looked up at once.
const MOST: usize = 128;

/// A number for each document that is looked up.
type Row<T> = [T; MOST];

/// The memory of documents that may be among the best.
#[derive(Debug)]
pub(super) struct Essential {
    /// Lists that are not essential in a window that was better scored whole, at the most.
    pub(super) least_others: usize,
    /// The most that lists add in each block that are not essential.
    rest: Vec<u16>,
    /// Units that no score passes, and what the document has not in common with the others of the window.
    candidates: Vec<u32>,
    n: usize,
    lows: Row<u16>,
    bounds: Row<u32>,
    ranks: Row<u32>,
    /// By list, parts of the scores.
    parts: Vec<Row<f32>>,
}

heap_bytes!(Essential { rest, candidates, parts });

impl Default for Essential {
    fn default() -> Self {
        let (lows, bounds, ranks) = ([0; MOST], [0; MOST], [0; MOST]);
        let (rest, candidates, parts) = (vec![], vec![], vec![]);
        Essential { least_others: 0, rest, candidates, n: 0, lows, bounds, ranks, parts }
    }
}

/// A window, given its lists, the bounds of its blocks, those that are left, and the numbers of the lists that are not essential, those first
/// that add least, and of the others in the order of the clauses.
pub(super) struct Divided<'w, 'q, 's> {
    pub(super) has_required: bool,
    pub(super) key: u32,
    pub(super) lists: &'w [Opened<'q, 's>],
    pub(super) bounds: &'w [u16; BLOCKS],
    pub(super) left: &'w [u32],
    pub(super) others: &'w [u8],
    pub(super) essential: &'w [u8],
}

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
        sums: &mut WholeWindow,
        top: &mut Top,
    ) -> Result<bool> {
        if !window.has_required && window.others.len() <= self.least_others {
            return Ok(false);
        }
        let limit = run.query.scale.limit(top.threshold()).max(1);
        let blocks = window.left.iter().map(|block| *block as usize % BLOCKS);
        let blocks = blocks.filter(|block| u32::from(window.bounds[*block]) >= limit);
        let essential = window.essential.iter().map(|nth| &window.lists[usize::from(*nth)]);
        sums.score(run, (window.key, blocks.clone()), essential)?;
        self.take(&run.query.scale, window, blocks, sums, limit);
        let n_postings = window.lists.iter().map(|list| list.n_postings() as usize).sum();
        if !window.has_required
            && !looking_up_pays(self.candidates.len(), n_postings, window.lists.len())
        {
            self.least_others = window.others.len();
            return Ok(false);
        }
        self.parts.resize(self.parts.len().max(window.lists.len()), [0.0; MOST]);
        let mut candidates = std::mem::take(&mut self.candidates);
        // Some of the best tell how good the best are, then few of the others are left.
        let (n_first, mut start) = (MOST.max(top.k()), 0);
        if candidates.len() > 2 * n_first {
            candidates.select_nth_unstable_by_key(n_first, |candidate| Reverse(*candidate));
            candidates[..n_first].sort_unstable_by_key(|candidate| *candidate as u16);
            self.offer_all(&candidates[..n_first], run, window, top)?;
            start = n_first;
        }
        self.offer_all(&candidates[start..], run, window, top)?;
        self.candidates = candidates;
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

    fn offer_all<'s>(
        &mut self,
        candidates: &[u32],
        run: &mut Run<'_, 's>,
        window: &Divided<'_, '_, 's>,
        top: &mut Top,
    ) -> Result<()> {
        let mut limit = run.query.scale.limit(top.threshold());
        for candidate in candidates {
            let (bound, low) = (candidate >> 16, *candidate as u16);
            if bound < limit {
                continue;
            }
            (self.lows[self.n], self.bounds[self.n]) = (low, bound);
            self.n += 1;
            if self.n == MOST {
                self.finish(run, window, top)?;
                limit = run.query.scale.limit(top.threshold());
            }
        }
        self.finish(run, window, top)
    }

    /// Scores those documents that were taken which can be among the best.
    fn finish<'s>(
        &mut self,
        run: &mut Run<'_, 's>,
        window: &Divided<'_, '_, 's>,
        top: &mut Top,
    ) -> Result<()> {
        let limit = run.query.scale.limit(top.threshold());
        for nth in window.others.iter().rev().map(|nth| usize::from(*nth)) {
            if self.n > 0 {
                self.look_up(run, window, nth, true)?;
                self.keep(limit);
            }
        }
        for nth in window.essential.iter().map(|nth| usize::from(*nth)) {
            if self.n > 0 {
                self.look_up(run, window, nth, false)?;
            }
        }
        let mut scores = [ABSENT; MOST];
        for parts in &self.parts[..window.lists.len()] {
            for (score, part) in scores[..self.n].iter_mut().zip(parts) {
                *score += part;
            }
        }
        run.pruning.documents_scored += self.n as u64;
        for (low, score) in self.lows[..self.n].iter().zip(scores) {
            if score >= top.threshold() {
                run.query.push(score, window.key * WINDOW + u32::from(*low), top);
            }
        }
        self.n = 0;
        Ok(())
    }

    /// Computes what a list adds to each document, and lowers their bounds by what it does not.
    fn look_up<'s>(
        &mut self,
        run: &mut Run<'_, 's>,
        window: &Divided<'_, '_, 's>,
        nth: usize,
        lowers: bool,
    ) -> Result<()> {
        let part = &window.lists[nth];
        let Some((postings, list)) = part.long() else { return Ok(()) };
        let clause = &run.query.clauses[part.clause];
        let scale = run.query.scale;
        let n = self.n;
        self.ranks[..n].fill(u32::MAX);
        let ranks = &mut self.ranks;
        postings.directory.find_each(postings.container(), &self.lows[..n], |at, rank| {
            ranks[at % MOST] = postings.first_rank + rank;
        });
        let (frequencies, lengths) = run.readers.both(part.clause, clause, list);
        let mut spread = [0; BLOCKS];
        if lowers && postings.codes.dense().is_none() {
            each_code(postings, |block, code| spread[block % BLOCKS] |= code);
        }
        let codes = lowers.then(|| postings.codes.dense().unwrap_or(&spread));
        let of_list = self.parts[nth].iter_mut().zip(&mut self.bounds).zip(&self.lows);
        let mut n_found = 0;
        for (((part_of, bound), low), rank) in of_list.zip(&self.ranks[..n]) {
            *part_of = ABSENT;
            if *rank != u32::MAX {
                let doc = window.key * WINDOW + u32::from(*low);
                if doc >= clause.lengths.n_docs() {
                    return Err(past_the_end());
                }
                let k = clause.scoring.norm_cache[usize::from(lengths.code(doc)?)];
                *part_of = clause.weight * score_part(frequencies.get(*rank)?, k);
                n_found += 1;
                if codes.is_some() {
                    *bound += scale.bound(*part_of);
                }
            }
            if let Some(codes) = codes {
                let most = units(codes[usize::from(low >> 6)], part.weight);
                *bound = bound.saturating_sub(most.into());
            }
        }
        run.readers.n_postings += n_found;
        Ok(())
    }

    /// Leaves out documents whose bounds are below the limit.
    fn keep(&mut self, limit: u32) {
        let (mut n_kept, mut kept) = (0, [0u8; MOST]);
        for (nth, bound) in (0..).zip(&self.bounds[..self.n]) {
            kept[n_kept % MOST] = nth;
            n_kept += usize::from(*bound >= limit);
        }
        if n_kept < self.n {
            for (to, from) in kept[..n_kept].iter().map(|from| usize::from(*from)).enumerate() {
                (self.lows[to], self.bounds[to]) = (self.lows[from], self.bounds[from]);
                for parts in &mut self.parts {
                    parts[to] = parts[from];
                }
            }
        }
        self.n = n_kept;
    }
}
