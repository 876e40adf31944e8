//! The k best documents of a segment by sums of score parts. They are found without scoring the rest.
//!
//! Every long list says of each block of 64 documents what its best posting can add to a score at most
//! ([`format::ranked`](crate::format::ranked)). These bounds, as whole numbers of 16 bits ([`bounds`]), are added over
//! the lists of a query, and what cannot reach the worst kept score is never looked at: windows of 65,536 documents by
//! the best of their containers, then blocks ([`blocks`]), then documents of a block. If blocks leave out too little, lists
//! are added up without which no document is good enough, and the rest is looked up ([`essential`]). If all words must match
//! and one has few documents in a window, its documents are looked up in the other lists instead ([`ranked_and`]). Results are
//! those of scoring everything ([`exhaustive`]), to the last bit of every score and the order of equal ones.

mod batch;
mod block_units;
mod blocks;
mod bounds;
mod essential;
mod exhaustive;
mod shortest_list;
mod ranked_and;
mod single_term;
mod order;
mod parts;
mod pruning;
mod reached;
mod query;
mod scratch;
mod tie_cache;
mod sum;
mod together;
mod rare_terms;
mod phrase;
#[cfg(test)]
mod tests;
pub(crate) mod tree;

use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::ranked::RankedList;
use crate::ids::DocId;
use crate::plan::in_window::{DENSE_MIN, filtering_first_pays};
use crate::plan::{ListsKernel, WINDOW};
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::recycle::recycled;
use blocks::{Blocks, OpenWindow, by_best};
use bounds::ScoreQuantizer;
use order::{FIRST_WINDOWS, SUMMED_MAX, WINDOWS_MAX};
use parts::{Opened, Window, WindowPostings};
pub use phrase::CandidateCounts;
pub(crate) use phrase::{PhraseClause, PhrasePruning, phrase, rare_phrase};
pub(crate) use pruning::Pruning;
use query::{Query, Run};
pub(crate) use reached::BestReached;
pub(crate) use scratch::Scratch;
use std::cmp::Reverse;
use std::ops::Range;
use sum::Readers;
use tie_cache::TieCache;

/// Offers to `top` every document that matches a clause, or all, and can be among its best. Clauses from `first_filter` on add nothing
/// to a score; all of them must match, and they are long. `base` is the number of the segment's first document. Counts on `top` taking
/// whatever is good enough: a document that is not offered may be left out because of others that are. With `count` every match of
/// all clauses is scored as long as that looks cheaper than counting them otherwise; then [`Pruning::matching`] is known. `None`, and
/// nothing is offered, where there are no bounds, and filters or clauses that must all match.
pub(crate) fn find<const ALL: bool>(
    clauses: &[Clause<'_>],
    first_filter: usize,
    count: bool,
    base: u64,
    top: &mut Top,
    scratch: &mut Scratch,
) -> Result<Option<Pruning>> {
    let is_short = |clause: &&Clause<'_>| matches!(clause.list, RankedList::Short(_));
    let mut kernel = ListsKernel::of(ALL, clauses.len(), clauses.iter().filter(is_short).count());
    if let (ListsKernel::OneList | ListsKernel::OneShortList, [clause]) = (kernel, clauses) {
        let Blocks { bands, block, .. } = &mut scratch.blocks;
        TieCache::start_all(&mut block.seen, clauses);
        let seen = &mut block.seen[0];
        let found = single_term::offer(clause, base, top, &mut bands.candidates, seen)?;
        return Ok(Some(found.by(kernel, 0)));
    }
    let mut readers = Readers::new(&mut scratch.readers);
    let found = match kernel {
        ListsKernel::ShortestList => {
            scratch.few.offer(clauses, &mut readers, count, base, top).map(Some)
        }
        ListsKernel::ShortLists => {
            let shorts = &mut scratch.shorts;
            shorts.offer(clauses, first_filter, &mut readers, count, base, top).map(|n| {
                let matching = shorts.is_whole.then_some(shorts.docs.len() as u64);
                Some(Pruning { documents_scored: n, matching, ..Pruning::default() })
            })
        }
        ListsKernel::Bounds => {
            by_bounds::<ALL>(clauses, first_filter, &mut readers, count, base, top, scratch)
        }
        _ => Ok(None),
    };
    let found = match found {
        Ok(None) if !ALL && first_filter == clauses.len() => {
            let scale = ScoreQuantizer::PRESENCE;
            let query = Query { clauses, scale, base, offered: &[], first_filter };
            let Scratch { parts, opened, blocks, .. } = scratch;
            let mut run = Run { query, readers: &mut readers, pruning: Pruning::default() };
            kernel = ListsKernel::EveryPosting;
            let done = exhaustive::offer(&mut run, (parts, opened), &mut blocks.whole, top);
            done.map(|()| Some(run.pruning))
        }
        found => found,
    };
    let read = readers.n_postings;
    scratch.readers = readers.recycle();
    Ok(found?.map(|own| own.by(kernel, read)))
}

/// `None` where there are no bounds to compute with.
fn by_bounds<'s, const ALL: bool>(
    clauses: &[Clause<'s>],
    first_filter: usize,
    readers: &mut Readers<'s>,
    count: bool,
    base: u64,
    top: &mut Top,
    scratch: &mut Scratch,
) -> Result<Option<Pruning>> {
    let has_filters = first_filter < clauses.len();
    let Scratch { parts, opened, windows, summed, blocks, shorts, .. } = scratch;
    // Documents of one list are results of a union that nothing filters; those of its short lists are scored first.
    parts.take_stock(clauses, |_| !ALL && !has_filters, false, top)?;
    let most = (0..clauses.len()).map(|nth| parts.best(nth)).sum();
    let Some(scale) = ScoreQuantizer::of(most, clauses.len()) else { return Ok(None) };
    parts.weigh(&scale);
    parts.filter_by(first_filter);
    let mut pruning = Pruning::default();
    shorts.clear();
    if !ALL {
        pruning.documents_scored =
            shorts.offer(clauses, first_filter, readers, false, base, top)?;
        if most * rare_terms::ROUNDING < f64::from(top.threshold()) {
            return Ok(Some(pruning));
        }
    }
    parts.divide(clauses, if ALL { clauses.len() } else { 1 }, 0);
    if has_filters {
        parts.keep_filtered(first_filter);
    }
    let is_sparse = |window: &Window| window.n_least < DENSE_MIN;
    pruning.matching = (ALL && count && parts.windows.iter().all(is_sparse)).then_some(0);
    pruning.windows_considered = parts.windows.len() as u64;
    blocks.common.start();
    // Good ones first, so that few of the others are opened.
    parts.windows.sort_by_key(|window| Reverse(window.bound));
    TieCache::start_all(&mut blocks.block.seen, clauses);
    blocks.whole.start();
    blocks.essential.start();
    let query = Query { clauses, scale, base, offered: &shorts.docs, first_filter };
    let run = Run { query, readers, pruning };
    let memory = recycled(std::mem::take(opened));
    let mut search = Search { run, parts, opened: memory, windows, summed, blocks, top };
    let found = if ALL { search.all_of() } else { search.any_of() };
    let pruning = search.run.pruning;
    *opened = recycled(search.opened);
    found.map(|()| Some(pruning))
}

/// A query on its way through the windows of a segment.
struct Search<'q, 's> {
    run: Run<'q, 's>,
    parts: &'q WindowPostings,
    opened: Vec<Opened<'q, 's>>,
    windows: &'q mut Vec<OpenWindow>,
    /// Windows that are to have a sum for every block.
    summed: &'q mut Vec<OpenWindow>,
    blocks: &'q mut Blocks,
    top: &'q mut Top,
}

impl Search<'_, '_> {
    fn any_of(&mut self) -> Result<()> {
        let parts = self.parts;
        self.start();
        let mut is_first = true;
        for window in &parts.windows {
            if self.is_too_weak(window) {
                continue;
            }
            let opened = self.open(window)?;
            if self.offer_around_bounds(window, opened.start)? {
                is_first = false;
                continue;
            }
            let nth = self.windows.len() - 1;
            let (window, lists) = (&self.windows[nth], &self.opened[opened]);
            if !self.blocks.touch_window(&mut self.run, nth, window, lists, self.top) {
                self.summed.push(window.clone());
            }
            let room = if is_first { FIRST_WINDOWS } else { WINDOWS_MAX };
            if self.windows.len() == room || self.summed.len() == SUMMED_MAX {
                self.offer_any()?;
                is_first = false;
            }
        }
        self.offer_any()
    }

    fn offer_any(&mut self) -> Result<()> {
        let Search { run, opened, windows, summed, blocks, top, .. } = self;
        blocks.offer_noted(run, windows, opened, top)?;
        blocks.offer::<false>(run, summed, opened, top)?;
        self.start();
        Ok(())
    }

    fn all_of(&mut self) -> Result<()> {
        let parts = self.parts;
        self.start();
        // Windows that are intersected cost little, and show how good the best are.
        for by_blocks in [false, true] {
            let is_now = |window: &&Window| (window.n_least >= DENSE_MIN) == by_blocks;
            for window in parts.windows.iter().filter(is_now) {
                if self.is_too_weak(window) {
                    continue;
                }
                self.open(window)?;
                if !by_blocks {
                    let of_window = (window.key, self.opened.len(), None);
                    self.blocks.common.offer(&mut self.run, of_window, &self.opened, self.top)?;
                    self.start();
                } else if self.windows.len() == SUMMED_MAX {
                    self.offer_all()?;
                }
            }
        }
        self.offer_all()
    }

    fn offer_all(&mut self) -> Result<()> {
        self.blocks.offer::<true>(&mut self.run, self.windows, &self.opened, self.top)?;
        self.start();
        Ok(())
    }

    /// The units below which nothing is good enough.
    fn limit(&self) -> u32 {
        self.run.query.scale.limit(self.top.threshold())
    }

    fn is_too_weak(&mut self, window: &Window) -> bool {
        let skip = self.run.pruning.matching.is_none()
            && (window.bound < self.limit() || self.is_ruled_out(window));
        self.run.pruning.windows_skipped += u64::from(skip);
        skip
    }

    /// Whether only one list has documents in a window, and none that is not known to be too bad.
    fn is_ruled_out(&self, window: &Window) -> bool {
        let mut bests = self.parts.bests(window);
        match (bests.next(), bests.next()) {
            (Some((clause, _, code)), None) => self.is_tied(window, clause, code),
            _ => false,
        }
    }

    /// Whether documents of a window that have only this list are known to be too bad, given its best code there.
    fn is_tied(&self, window: &Window, clause: usize, code: u8) -> bool {
        let first = DocId(self.run.query.base + u64::from(window.key * WINDOW));
        self.blocks.block.seen[clause].rules_out(code, first, self.top)
    }

    /// Whether no document of a window is good enough that has one of its lists alone.
    fn is_any_alone_too_weak(&self, window: &Window) -> bool {
        let (query, limit) = (&self.run.query, self.limit());
        self.parts.bests(window).all(|(clause, best, code)| {
            clause >= query.first_filter || best < limit || self.is_tied(window, clause, code)
        })
    }

    /// Offers documents of the window that was opened last, whose lists begin at `start`, and closes it, where they are found for
    /// less than by bounds of its blocks, or by those of both lists; whether that is so.
    fn offer_around_bounds(&mut self, window: &Window, start: usize) -> Result<bool> {
        let nth = self.windows.len() - 1;
        let (lists, n_scored) = (&self.opened[start..], self.windows[nth].n_scored);
        let (scored, filters) = lists.split_at(n_scored);
        let size = |list: &Opened<'_, '_>| u64::from(list.n_postings());
        let all: u64 = scored.iter().map(size).sum();
        let least = filters.iter().map(size).min();
        let are_filtered = least.is_some_and(|least| filtering_first_pays(all, least));
        // More than two lists leave pairs, for which bounds of blocks cost less.
        if !are_filtered && (scored.len() != 2 || !self.is_any_alone_too_weak(window)) {
            return Ok(false);
        }
        if !are_filtered && scored.iter().all(|list| list.n_postings() >= DENSE_MIN) {
            let window = &self.windows[nth..];
            self.blocks.offer::<true>(&mut self.run, window, &self.opened, self.top)?;
        } else {
            let n_scored = if are_filtered { n_scored } else { lists.len() };
            let of_window = (window.key, n_scored, None);
            self.blocks.common.offer(&mut self.run, of_window, lists, self.top)?;
        }
        self.windows.truncate(nth);
        self.opened.truncate(start);
        Ok(true)
    }

    fn start(&mut self) {
        self.opened.clear();
        self.windows.clear();
        self.summed.clear();
    }

    /// Opens a window behind those that are open.
    fn open(&mut self, window: &Window) -> Result<Range<usize>> {
        let Query { clauses, first_filter, .. } = self.run.query;
        budget::work(ns::WINDOW_BOUNDS * clauses.len() as u64)?;
        let start = self.opened.len();
        self.parts.open(clauses, window, &mut self.opened)?;
        let opened = start..self.opened.len();
        let n_scored = opened.len() - (clauses.len() - first_filter);
        let order = by_best(&self.opened[start..start + n_scored]);
        self.windows.push(OpenWindow { key: window.key, opened: opened.clone(), order, n_scored });
        Ok(opened)
    }
}
