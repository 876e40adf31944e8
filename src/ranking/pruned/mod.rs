//! The k best documents of a segment by the sum of their score parts, found without scoring the rest.
//!
//! Every long list says of each block of 64 documents what its best posting can add to a score at most
//! ([`format::ranked`](crate::format::ranked)). These bounds, as whole numbers of 16 bits ([`bounds`]), are
//! added over the lists of a query, and what cannot reach the worst kept score is never looked at: windows
//! of 65,536 documents by the best of their containers, then blocks ([`blocks`]), then documents of a
//! block. Where all words must match and one has few documents in a window, its documents are looked up in
//! the other lists instead ([`ranked_and`]). Results are those of scoring everything ([`exhaustive`]), to the
//! last bit of every score and the order of equal ones.

mod batch;
mod blocks;
mod bounds;
mod exhaustive;
mod shortest_list;
mod ranked_and;
mod single_term;
mod order;
mod parts;
mod pruning;
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
use crate::plan::WINDOW;
use crate::plan::in_window::{DENSE_MIN, FILTERED_MAX, PASSED_MAX};
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::recycle::recycled;
use blocks::{Blocks, OpenWindow, by_best};
use bounds::{CLAUSES_MAX, ScoreQuantizer};
use order::{FIRST_WINDOWS, SUMMED_MAX, WINDOWS_MAX};
use parts::{Opened, Parts, Window};
pub(crate) use phrase::{PhraseClause, PhrasePruning, phrase, rare_phrase};
pub(crate) use pruning::Pruning;
use query::Query;
use ranked_and::RankedAnd;
pub(crate) use scratch::Scratch;
use std::cmp::Reverse;
use std::ops::Range;
use sum::Readers;
use tie_cache::TieCache;

/// Offers to `top` every document that matches a clause and can be among its best. Clauses from `first_filter` on add nothing to a
/// score; all of them must match, and they are long. `base` is the number of the segment's first document. Counts on `top` taking
/// whatever is good enough: a document that is not offered may be left out because of others that are. `None`, and nothing
/// is offered, where there are filters and no bounds.
pub(crate) fn any_of(
    clauses: &[Clause<'_>],
    first_filter: usize,
    base: u64,
    top: &mut Top,
    scratch: &mut Scratch,
) -> Result<Option<Pruning>> {
    let mut readers = Readers::new(&mut scratch.readers);
    let found = find::<false>(clauses, first_filter, &mut readers, false, base, top, scratch);
    with_postings(found, readers, scratch)
}

/// Offers to `top` every document that matches all clauses and can be among its best. With `count` every match is
/// scored as long as that looks cheaper than counting them otherwise; then [`Pruning::matching`] is known. `None`, and nothing is
/// offered, where there are no bounds.
pub(crate) fn all_of(
    clauses: &[Clause<'_>],
    count: bool,
    base: u64,
    top: &mut Top,
    scratch: &mut Scratch,
) -> Result<Option<Pruning>> {
    let n = clauses.len();
    if n < 2 {
        return any_of(clauses, n, base, top, scratch);
    }
    let mut readers = Readers::new(&mut scratch.readers);
    let found = match scratch.few.offer(clauses, &mut readers, base, top) {
        Ok(None) => find::<true>(clauses, n, &mut readers, count, base, top, scratch),
        few => few,
    };
    with_postings(found, readers, scratch)
}

/// Adds what `readers` have read, and keeps their memory.
fn with_postings(
    found: Result<Option<Pruning>>,
    readers: Readers<'_>,
    scratch: &mut Scratch,
) -> Result<Option<Pruning>> {
    let read = readers.n_postings;
    scratch.readers = readers.recycle();
    let add = |pruning: Pruning| Pruning { postings: pruning.postings + read, ..pruning };
    Ok(found?.map(add))
}

/// `None` where there are no bounds of a query with filters, or whose clauses must all match.
fn find<'s, const ALL: bool>(
    clauses: &[Clause<'s>],
    first_filter: usize,
    readers: &mut Readers<'s>,
    count: bool,
    base: u64,
    top: &mut Top,
    scratch: &mut Scratch,
) -> Result<Option<Pruning>> {
    let has_filters = first_filter < clauses.len();
    let Scratch { parts, opened, windows, summed, blocks, common, shorts, .. } = scratch;
    let scale = match clauses {
        [] => return Ok(Some(Pruning::nothing())),
        [clause] => {
            let Blocks { bands, block, .. } = blocks;
            TieCache::start_all(&mut block.seen, clauses);
            let seen = &mut block.seen[0];
            return single_term::offer(clause, base, top, &mut bands.candidates, seen).map(Some);
        }
        _ if clauses.len() <= CLAUSES_MAX => parts.prepare(clauses, !ALL, !has_filters, top)?,
        _ => None,
    };
    shorts.clear();
    if !ALL && clauses.iter().all(|clause| matches!(clause.list, RankedList::Short(_))) {
        let documents_scored = shorts.offer(clauses, first_filter, readers, 0.0, base, top)?;
        let matching = Some(shorts.docs.len() as u64);
        return Ok(Some(Pruning { documents_scored, matching, ..Pruning::default() }));
    }
    let Some(scale) = scale else {
        if ALL || has_filters {
            return Ok(None);
        }
        let query =
            Query { clauses, scale: ScoreQuantizer::PRESENCE, base, offered: &[], first_filter };
        return exhaustive::offer(&query, parts, opened, readers, top, &mut blocks.whole).map(Some);
    };
    parts.filter_by(first_filter);
    let mut pruning = Pruning::default();
    if !ALL {
        let rest = (0..clauses.len()).map(|nth| parts.best(nth)).sum();
        pruning.documents_scored = shorts.offer(clauses, first_filter, readers, rest, base, top)?;
        if rest * rare_terms::ROUNDING < f64::from(top.threshold()) {
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
    common.start();
    // Good ones first, so that few of the others are opened.
    parts.windows.sort_by_key(|window| Reverse(window.bound));
    TieCache::start_all(&mut blocks.block.seen, clauses);
    blocks.whole.start();
    let query = Query { clauses, scale, base, offered: &shorts.docs, first_filter };
    let mut search = Search {
        query,
        parts,
        opened: recycled(std::mem::take(opened)),
        readers,
        windows,
        summed,
        blocks,
        pruning,
    };
    let found = if ALL { search.all_of(common, top) } else { search.any_of(common, top) };
    let pruning = search.pruning;
    *opened = recycled(search.opened);
    found.map(|()| Some(pruning))
}

/// Ways to find what can be among the best of a window without bounds of its blocks, or with those of both lists.
#[derive(Clone, Copy, Debug)]
enum WayAround {
    /// Documents of each list that all filters let through.
    Filtered,
    /// Documents that both of two lists have, as either word alone is known to be too little.
    Both,
    /// Likewise, by bounds of their blocks.
    BothByBlocks,
}

/// A query on its way through the windows of a segment.
struct Search<'q, 's> {
    query: Query<'q, 's>,
    parts: &'q Parts,
    opened: Vec<Opened<'q, 's>>,
    readers: &'q mut Readers<'s>,
    windows: &'q mut Vec<OpenWindow>,
    /// Those of the windows that are to have a sum for every block.
    summed: &'q mut Vec<OpenWindow>,
    blocks: &'q mut Blocks,
    pruning: Pruning,
}

impl Search<'_, '_> {
    fn any_of(&mut self, common: &mut RankedAnd, top: &mut Top) -> Result<()> {
        let windows = &self.parts.windows;
        self.start();
        let mut is_first = true;
        for window in windows {
            if self.is_too_weak(window, top) {
                continue;
            }
            let opened = self.open(window)?;
            if let Some(way) = self.way_around_bounds(window, opened.clone(), top) {
                self.offer_by(way, opened, common, top)?;
                is_first = false;
                continue;
            }
            let (query, pruning, nth) = (&self.query, &mut self.pruning, self.windows.len() - 1);
            let OpenWindow { order, n_scored, .. } = &self.windows[nth];
            let (opened, order) = (&self.opened[opened][..*n_scored], &order[..*n_scored]);
            let is_done = self.blocks.touch_window(query, nth, opened, order, top, pruning);
            if !is_done {
                self.summed.push(self.windows[nth].clone());
            }
            let room = if is_first { FIRST_WINDOWS } else { WINDOWS_MAX };
            if self.windows.len() == room || self.summed.len() == SUMMED_MAX {
                self.offer_any(top)?;
                is_first = false;
            }
        }
        self.offer_any(top)
    }

    fn offer_any(&mut self, top: &mut Top) -> Result<()> {
        let (query, pruning, opened) = (&self.query, &mut self.pruning, &self.opened[..]);
        self.blocks.offer_noted(query, self.windows, opened, self.readers, top, pruning)?;
        self.blocks.offer::<false>(query, self.summed, opened, self.readers, top, pruning)?;
        self.start();
        Ok(())
    }

    fn all_of(&mut self, common: &mut RankedAnd, top: &mut Top) -> Result<()> {
        let windows = &self.parts.windows;
        // Windows with a short list cost little, and show how good the best are.
        for window in windows.iter().filter(|window| window.n_least < DENSE_MIN) {
            if self.is_too_weak(window, top) {
                continue;
            }
            self.start();
            self.open(window)?;
            let (query, pruning) = (&self.query, &mut self.pruning);
            common.offer(query, window.key, &self.opened, self.readers, top, pruning)?;
        }
        self.start();
        for window in windows.iter().filter(|window| window.n_least >= DENSE_MIN) {
            if self.is_too_weak(window, top) {
                continue;
            }
            self.open(window)?;
            if self.windows.len() == SUMMED_MAX {
                self.offer_all(top)?;
            }
        }
        self.offer_all(top)
    }

    fn offer_all(&mut self, top: &mut Top) -> Result<()> {
        let (query, pruning, opened) = (&self.query, &mut self.pruning, &self.opened[..]);
        self.blocks.offer::<true>(query, self.windows, opened, self.readers, top, pruning)?;
        self.start();
        Ok(())
    }

    fn is_too_weak(&mut self, window: &Window, top: &Top) -> bool {
        let skip = self.pruning.matching.is_none()
            && (window.bound < self.query.scale.limit(top.threshold())
                || self.is_ruled_out(window, top));
        self.pruning.windows_skipped += u64::from(skip);
        skip
    }

    /// Whether only one list has documents in a window, and none that is not known to be too bad.
    fn is_ruled_out(&self, window: &Window, top: &Top) -> bool {
        let mut bests = self.parts.bests(self.query.clauses, window);
        match (bests.next(), bests.next()) {
            (Some((clause, _, code)), None) => self.is_tied(window, clause, code, top),
            _ => false,
        }
    }

    /// Whether documents of a window that have only this list are known to be too bad, given its best code there.
    fn is_tied(&self, window: &Window, clause: usize, code: Option<u8>, top: &Top) -> bool {
        let first = DocId(self.query.base + u64::from(window.key * WINDOW));
        code.is_some_and(|code| self.blocks.block.seen[clause].rules_out(code, first, top))
    }

    /// How the documents of an open window are found without looking at bounds of blocks, where that costs less.
    fn way_around_bounds(
        &self,
        window: &Window,
        opened: Range<usize>,
        top: &Top,
    ) -> Option<WayAround> {
        let n_scored = self.windows.last()?.n_scored;
        let (scored, filters) = self.opened[opened].split_at(n_scored);
        let sizes = || scored.iter().map(|list| u64::from(list.n_postings()));
        let all = sizes().sum::<u64>();
        if let Some(least) = filters.iter().map(|list| u64::from(list.n_postings())).min()
            && all <= FILTERED_MAX
            && all * least <= PASSED_MAX * u64::from(WINDOW)
        {
            return Some(WayAround::Filtered);
        }
        let limit = self.query.scale.limit(top.threshold());
        let mut bests = self.parts.bests(self.query.clauses, window);
        let are_too_weak = bests.all(|(clause, best, code)| {
            let only_filters = clause >= self.query.first_filter;
            only_filters || best < limit || self.is_tied(window, clause, code, top)
        });
        // What is left of more lists than two are pairs of them, for which bounds of blocks cost less.
        (n_scored == 2 && are_too_weak).then(|| match sizes().all(|n| n >= u64::from(DENSE_MIN)) {
            true => WayAround::BothByBlocks,
            false => WayAround::Both,
        })
    }

    /// Offers documents of the window that was opened last, and closes it.
    fn offer_by(
        &mut self,
        way: WayAround,
        opened: Range<usize>,
        common: &mut RankedAnd,
        top: &mut Top,
    ) -> Result<()> {
        let Some(window) = self.windows.pop() else { return Ok(()) };
        let (query, pruning) = (&self.query, &mut self.pruning);
        let (lists, of_window) = (&self.opened[opened.clone()], (window.key, window.n_scored));
        match way {
            WayAround::Filtered => {
                common.offer_filtered(query, of_window, lists, self.readers, top, pruning)?;
            }
            WayAround::Both => {
                common.offer(query, window.key, lists, self.readers, top, pruning)?;
            }
            WayAround::BothByBlocks => {
                let (window, opened) = (std::slice::from_ref(&window), &self.opened[..]);
                self.blocks.offer::<true>(query, window, opened, self.readers, top, pruning)?;
            }
        }
        self.opened.truncate(opened.start);
        Ok(())
    }

    fn start(&mut self) {
        self.opened.clear();
        self.windows.clear();
        self.summed.clear();
    }

    /// Opens a window behind those that are open.
    fn open(&mut self, window: &Window) -> Result<Range<usize>> {
        budget::work(ns::WINDOW_BOUNDS * self.query.clauses.len() as u64)?;
        let start = self.opened.len();
        self.parts.open(self.query.clauses, window, &mut self.opened)?;
        let opened = start..self.opened.len();
        let n_filters = self.query.clauses.len() - self.query.first_filter;
        let scored = start..self.opened.len() - n_filters;
        let (order, n_scored) = (by_best(&self.opened[scored.clone()]), scored.len());
        self.windows.push(OpenWindow { key: window.key, opened: opened.clone(), order, n_scored });
        Ok(opened)
    }
}
