//! The best blocks of 64 documents first, by sums of bounds.
//!
//! For each block of some windows the units of all lists are added up. Blocks whose sum can still matter are
//! visited in bands of falling sums, so that the worst kept score rises early. Inside a block a document
//! is scored only if the lists it is in can lift it (MAXSCORE, of Turtle and Flood 1995, on the 64
//! bits of a block; the order is that of Mallia, Suel and Tonellotto, *Faster Learned Sparse Retrieval with
//! Block-Max Pruning*, 2024).

use super::block_units::{add_up, each_posting, look_up};
use super::bounds::CLAUSES_MAX;
use super::essential::Essential;
use super::exhaustive::WholeWindow;
use super::order::{BlockQueue, Place, ScoreBuckets};
use super::parts::Opened;
use super::query::{Divided, Run};
use super::ranked_and::RankedAnd;
use super::single_term::{ExcludedDocs, Scan};
use super::sum::Sum;
use super::tie_cache::TieCache;
use super::together::{Together, bits_of};
use crate::error::Result;
use crate::ids::DocId;
use crate::plan::WINDOW;
use crate::plan::in_window::{self, WholeCosts, are_many, whole_lists_min};
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;
use crate::simd::scores::BLOCK;
use crate::simd::sums::{self, BLOCKS, units};
use std::ops::Range;

/// The memory of sums and of what is found by them.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub(super) bands: ScoreBuckets,
    /// Sums of a window with few postings, 0 between two of them; and which are not 0.
    few: Vec<u16>,
    touched: Vec<u16>,
    pub(super) noted: BlockQueue,
    pub(super) block: Block,
    pub(super) whole: WholeWindow,
    pub(super) essential: Essential,
    pub(super) common: RankedAnd,
}

/// Postings of the lists in one block, by the order in which they were opened.
#[derive(Debug, Default)]
pub(super) struct Block {
    words: [u64; CLAUSES_MAX],
    ranks: [u32; CLAUSES_MAX],
    units: [u16; CLAUSES_MAX],
    /// By clause, what documents with its word alone were found to score.
    pub(super) seen: Vec<TieCache>,
}

/// A window whose lists are open.
#[derive(Clone, Debug)]
pub(super) struct OpenWindow {
    pub(super) key: u32,
    /// Its lists, in the order of the clauses.
    pub(super) opened: Range<usize>,
    /// The numbers there of those that add to scores, which come before others; those first that add least.
    pub(super) order: [u8; CLAUSES_MAX],
    pub(super) n_scored: usize,
}

/// The numbers of lists, those first that add least.
pub(super) fn by_best(opened: &[Opened<'_, '_>]) -> [u8; CLAUSES_MAX] {
    let mut order: [u8; CLAUSES_MAX] = std::array::from_fn(|nth| nth as u8);
    order[..opened.len()].sort_unstable_by_key(|nth| opened[usize::from(*nth)].best);
    order
}

heap_bytes!(Block { seen });
heap_bytes!(Blocks { bands, few, touched, noted, block, whole, essential, common });

impl Blocks {
    /// Offers what can be among the best of some windows: documents of all their lists, or of any.
    pub(super) fn offer<'q, 's, const ALL: bool>(
        &mut self,
        run: &mut Run<'q, 's>,
        windows: &[OpenWindow],
        opened: &[Opened<'q, 's>],
        top: &mut Top,
    ) -> Result<()> {
        for (sums, window) in self.bands.sums(windows.len()).iter_mut().zip(windows) {
            let (scored, filters) = opened[window.opened.clone()].split_at(window.n_scored);
            add_up::<ALL>(sums, scored.iter());
            for codes in filters.iter().filter_map(Opened::codes_by_block) {
                sums::keep(sums, codes);
            }
        }
        run.pruning.blocks_considered += (windows.len() * BLOCKS) as u64;
        let (Blocks { bands, block, whole, essential, common, .. }, scale) =
            (self, run.query.scale);
        let is_settled = run.pruning.blocks_scored > 0;
        let patience = if is_settled { 1 } else { in_window::PATIENCE[usize::from(ALL)] };
        let n_docs = run.query.clauses.first().map_or(0, |clause| clause.lengths.n_docs());
        let of_limit = |limit| whole_costs::<ALL>(windows, opened, n_docs, limit);
        let are_few = |window: &OpenWindow| window.opened.len() < whole_lists_min(top.k());
        let fixed = match ALL {
            true => Some(of_limit(0)),
            false => windows.iter().all(are_few).then_some(WholeCosts::NEVER),
        };
        let costs = |limit| fixed.unwrap_or_else(|| of_limit(limit));
        let is_done =
            bands.visit(windows.len(), (costs, patience), &scale, top, |place, limit, top| {
                block.score::<ALL>(run, &windows[place.window], opened, (place, limit), top)
            })?;
        if !is_done {
            let n_left = bands.candidates.len() as u64;
            let costs = costs(scale.limit(top.threshold()).max(1));
            run.pruning.windows_whole += windows.len() as u64;
            run.pruning.whole_ns += costs.of_windows + n_left * costs.of_left;
            run.pruning.by_blocks_ns += n_left * costs.of_block;
            run.pruning.blocks_scored += n_left;
            for (window, bounds, left) in bands.left() {
                let window = &windows[window];
                let (key, lists) = (window.key, &opened[window.opened.clone()]);
                if ALL {
                    common.offer(run, (key, lists.len(), Some(bounds)), lists, top)?;
                } else {
                    let limit = scale.limit(top.threshold()).max(1);
                    let (order, n_others) = divide(window, lists, limit);
                    let (others, of_order) = order[..lists.len()].split_at(n_others);
                    let divided = Divided { key, lists, left, bounds, others, essential: of_order };
                    if !essential.offer(run, &divided, (whole, &mut common.batch), top)? {
                        let blocks = left.iter().map(|block| *block as usize % BLOCKS);
                        whole.score(run, (key, blocks.clone()), lists.iter())?;
                        run.pruning.documents_scored += whole.offer(&run.query, key, blocks, top);
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes note of the blocks of window `nth` that can matter, by those that lists touch without which none does. False, and
    /// nothing is done, where one of these lists has a code for each block, not for each posting.
    pub(super) fn touch_window(
        &mut self,
        run: &mut Run<'_, '_>,
        nth: usize,
        window: &OpenWindow,
        opened: &[Opened<'_, '_>],
        top: &Top,
    ) -> bool {
        let (opened, order) = (&opened[..window.n_scored], &window.order[..window.n_scored]);
        // Lists that add too little together need not be gone through: what is good has another word, too.
        let limit = run.query.scale.limit(top.threshold()).max(1);
        let (left_out, essential) = split_essential(order, limit, |nth| opened[nth].best);
        let is_dense = |nth: &u8| opened[usize::from(*nth)].codes_by_block().is_some();
        if essential.iter().any(is_dense) {
            return false;
        }
        let n_postings = |nth: &u8| opened[usize::from(*nth)].n_postings() as usize;
        let n_essential = essential.iter().map(n_postings).sum();
        if !in_window::touching_pays(n_essential, left_out.len(), opened.len()) {
            return false;
        }
        self.few.resize(BLOCKS, 0);
        self.touched.clear();
        for nth in essential {
            each_posting(&opened[usize::from(*nth)], |block, units| {
                if let Some(sum) = self.few.get_mut(block)
                    && units > 0
                {
                    if *sum == 0 {
                        self.touched.push(block as u16);
                    }
                    *sum = sum.wrapping_add(units);
                }
            });
        }
        for nth in left_out {
            self.complete(&opened[usize::from(*nth)]);
        }
        run.pruning.blocks_considered += self.touched.len() as u64;
        for block in &self.touched {
            let sum = std::mem::take(&mut self.few[usize::from(*block)]);
            if u32::from(sum) >= limit {
                self.noted.push(Place { window: nth, block: usize::from(*block), sum });
            }
        }
        true
    }

    /// Offers what can be among the best in the blocks that were noted, and forgets them.
    pub(super) fn offer_noted<'s>(
        &mut self,
        run: &mut Run<'_, 's>,
        windows: &[OpenWindow],
        opened: &[Opened<'_, 's>],
        top: &mut Top,
    ) -> Result<()> {
        let (Blocks { noted, block, .. }, scale) = (self, run.query.scale);
        noted.visit(&scale, top, |place, limit, top| {
            block.score::<false>(run, &windows[place.window], opened, (place, limit), top)
        })
    }

    /// Adds the units of a list to the blocks that others have touched.
    fn complete(&mut self, part: &Opened<'_, '_>) {
        if let Some(codes) = part.codes_by_block() {
            for block in self.touched.iter().map(|block| usize::from(*block)) {
                self.few[block] = self.few[block].wrapping_add(units(codes[block], part.weight));
            }
        } else if part.n_postings() as usize <= in_window::WALK * self.touched.len() {
            each_posting(part, |block, units| {
                if let Some(sum) = self.few.get_mut(block) {
                    *sum = if *sum == 0 { 0 } else { sum.wrapping_add(units) };
                }
            });
        } else {
            for block in self.touched.iter().map(|block| usize::from(*block)) {
                let (_, _, units) = look_up(part, block);
                self.few[block] = self.few[block].wrapping_add(units);
            }
        }
    }
}

/// Time that intersecting the lists of some windows takes, or adding up those that are essential, of which there is no end where lists
/// filter, and that of looking into one of their blocks.
fn whole_costs<const ALL: bool>(
    windows: &[OpenWindow],
    opened: &[Opened<'_, '_>],
    n_docs: u32,
    limit: u32,
) -> WholeCosts {
    let (mut n_lists, mut n_postings, mut common) = (0, 0, 0.0);
    for window in windows {
        if !ALL && window.opened.len() > window.n_scored {
            return WholeCosts::NEVER;
        }
        let lists = &opened[window.opened.clone()];
        n_lists = n_lists.max(lists.len());
        let size = |list: &Opened<'_, '_>| list.n_postings() as usize;
        if ALL {
            n_postings += lists.iter().map(size).sum::<usize>();
            let n_docs = n_docs.saturating_sub(window.key * WINDOW).clamp(1, WINDOW);
            let shares = lists.iter().map(|list| size(list) as f64 / f64::from(n_docs));
            common += shares.product::<f64>();
        } else {
            let (order, n_others) = divide(window, lists, limit);
            let essential = order[n_others..lists.len()].iter();
            n_postings += essential.map(|nth| size(&lists[usize::from(*nth)])).sum::<usize>();
        }
    }
    let n_common = ALL.then_some(64.0 * common / windows.len() as f64);
    in_window::whole_ns((windows.len(), n_postings), n_lists, n_common)
}

/// The numbers of the lists of a window, first those that are not essential, of which there are so many; and of these the ones first
/// that add least. A list without a code for each block is short enough to be gone through.
fn divide(window: &OpenWindow, lists: &[Opened<'_, '_>], limit: u32) -> ([u8; CLAUSES_MAX], usize) {
    let (mut order, mut n_others, mut sum) = (window.order, 0, 0);
    for nth in 0..lists.len() {
        let list = &lists[usize::from(order[nth])];
        if list.codes_by_block().is_some() && sum + u32::from(list.best) < limit {
            sum += u32::from(list.best);
            order[n_others..=nth].rotate_right(1);
            n_others += 1;
        }
    }
    order[n_others..lists.len()].sort_unstable();
    (order, n_others)
}

/// Lists that add little, as long as they add too little together, and the others; `order` has those first that add least.
#[inline(always)]
fn split_essential(order: &[u8], limit: u32, units: impl Fn(usize) -> u16) -> (&[u8], &[u8]) {
    let mut sum = 0;
    let is_too_little = |nth: &&u8| {
        sum += u32::from(units(usize::from(**nth)));
        sum < limit
    };
    order.split_at(order.iter().take_while(is_too_little).count())
}

impl Block {
    /// Scores the documents of a block that can be among the best, as those are that reach the limit.
    fn score<'s, const ALL: bool>(
        &mut self,
        run: &mut Run<'_, 's>,
        window: &OpenWindow,
        opened: &[Opened<'_, 's>],
        (place, mut limit): (Place, u32),
        top: &mut Top,
    ) -> Result<()> {
        let Run { query, readers, pruning } = run;
        let first = window.key * WINDOW + (place.block * 64) as u32;
        let (opened, filters) = opened[window.opened.clone()].split_at(window.n_scored);
        pruning.blocks_scored += 1;
        let mut docs = match ALL {
            true => self.common(opened, place.block),
            false => self.essential(opened, &window.order[..window.n_scored], place, limit),
        };
        let mut filters = filters.iter();
        while docs != 0
            && let Some(filter) = filters.next()
        {
            docs &= look_up(filter, place.block).0;
        }
        if docs == 0 {
            return Ok(());
        }
        let mut lists = (0..opened.len()).filter(|nth| self.words[*nth] != 0);
        if let (Some(nth), None) = (lists.next(), lists.next())
            && let Some((postings, list)) = opened[nth].long()
        {
            let clause = &query.clauses[opened[nth].clause];
            let seen = &mut self.seen[opened[nth].clause];
            let of_list = (self.words[nth], self.ranks[nth]);
            let code = postings.code(place.block, of_list.1).unwrap_or(u8::MAX);
            if seen.rules_out(code, DocId(query.base + u64::from(first)), top) {
                return Ok(());
            }
            pruning.documents_scored += u64::from(docs.count_ones());
            pruning.postings += u64::from(docs.count_ones());
            let left_out = match query.offered {
                [] => ExcludedDocs::Nothing,
                docs => ExcludedDocs::Docs(docs),
            };
            let mut scan = Scan::new(clause, list, query.base, top, seen, left_out);
            // Codes of sums are of other parts where they were changed.
            let code = Some(code).filter(|_| clause.change().is_none());
            return scan.offer_block(first, of_list, docs, code);
        }
        if !ALL && are_many(docs) {
            docs = self.good_enough(opened.len(), docs, limit);
        }
        if are_many(docs) {
            return self.score_together(run, opened, (first, docs), top);
        }
        while docs != 0 {
            let bit = docs.trailing_zeros();
            docs &= docs - 1;
            let words = &self.words[..opened.len()];
            if self.units_of(opened.len(), bit) < limit {
                continue;
            }
            let has = |word: &u64| word >> bit & 1 == 1;
            let mut sum = Sum::of(first + bit, readers);
            for ((part, word), rank) in opened.iter().zip(words).zip(&self.ranks) {
                if has(word) {
                    let rank = rank + (word & ((1 << bit) - 1)).count_ones();
                    sum.add_posting(query.clauses, part.clause, rank)?;
                }
            }
            pruning.documents_scored += 1;
            let before = top.threshold();
            query.push(sum.score(), first + bit, top);
            if top.threshold() != before {
                limit = query.scale.limit(top.threshold());
            }
        }
        Ok(())
    }

    /// Bound of what the lists add to a document.
    // Not inlined: there the compiler loads all lists into vector registers, of which most queries have two.
    #[inline(never)]
    fn units_of(&self, n_lists: usize, bit: u32) -> u32 {
        // Without a branch: which lists have a document cannot be foreseen.
        let lists = self.words[..n_lists].iter().zip(&self.units[..n_lists]);
        lists
            .map(|(word, units)| u32::from(*units) & ((word >> bit & 1) as u32).wrapping_neg())
            .sum()
    }

    /// Documents that the lists they are in can lift to the limit, among some.
    fn good_enough(&self, n_lists: usize, docs: u64, limit: u32) -> u64 {
        let mut sums = [0u16; BLOCK];
        for (word, units) in self.words[..n_lists].iter().zip(&self.units) {
            bits_of(word & docs).for_each(|bit| {
                let sum = &mut sums[bit as usize % BLOCK];
                *sum = sum.wrapping_add(*units);
            });
        }
        let is_good = |bit: u32| u64::from(u32::from(sums[bit as usize % BLOCK]) >= limit) << bit;
        bits_of(docs).map(is_good).fold(0, |good, bit| good | bit)
    }

    /// Scores many documents of a block list by list.
    fn score_together<'s>(
        &mut self,
        Run { query, readers, pruning }: &mut Run<'_, 's>,
        opened: &[Opened<'_, 's>],
        (first, docs): (u32, u64),
        top: &mut Top,
    ) -> Result<()> {
        let mut together = Together::new(first, docs);
        let lists = opened.iter().zip(&self.words).zip(&self.ranks);
        for ((part, word), rank) in lists.filter(|((_, word), _)| *word & docs != 0) {
            let Some((_, list)) = part.long() else { continue };
            let clause = &query.clauses[part.clause];
            together.add(clause, readers.both(part.clause, clause, list), *word, *rank)?;
            pruning.postings += u64::from((word & docs).count_ones());
        }
        pruning.documents_scored += u64::from(docs.count_ones());
        for (doc, score) in together.at_least(top.threshold()) {
            query.push(score, doc, top);
        }
        Ok(())
    }

    /// The documents that all lists have.
    fn common(&mut self, opened: &[Opened<'_, '_>], block: usize) -> u64 {
        let mut docs = u64::MAX;
        for (nth, part) in opened.iter().enumerate() {
            self.look_up(nth, part, block);
            docs &= self.words[nth];
            if docs == 0 {
                break;
            }
        }
        docs
    }

    /// The documents of those lists without which no document can reach the limit.
    fn essential(
        &mut self,
        opened: &[Opened<'_, '_>],
        order: &[u8],
        place: Place,
        limit: u32,
    ) -> u64 {
        // The sum says when all lists that have something here were found.
        let mut rest = place.sum;
        for (nth, part) in opened.iter().enumerate() {
            let code = part.codes_by_block().map_or(0, |codes| codes[place.block]);
            (self.words[nth], self.units[nth]) = (0, units(code, part.weight));
            rest = rest.wrapping_sub(self.units[nth]);
        }
        for (nth, part) in opened.iter().enumerate() {
            if rest == 0 {
                break;
            }
            if part.codes_by_block().is_none() {
                self.look_up(nth, part, place.block);
                rest = rest.wrapping_sub(self.units[nth]);
            }
        }
        let (others, essential) = split_essential(order, limit, |nth| self.units[nth]);
        let docs = self.look_up_dense(opened, essential, place.block);
        if docs != 0 {
            self.look_up_dense(opened, others, place.block);
        }
        docs
    }

    /// Looks a block up in those of some lists that have a code for each block; the documents that any of the lists has.
    fn look_up_dense(&mut self, opened: &[Opened<'_, '_>], some: &[u8], block: usize) -> u64 {
        let mut docs = 0;
        for nth in some.iter().map(|nth| usize::from(*nth)) {
            let part = &opened[nth];
            if self.units[nth] > 0 && part.codes_by_block().is_some() {
                self.look_up(nth, part, block);
            }
            docs |= self.words[nth];
        }
        docs
    }

    fn look_up(&mut self, nth: usize, part: &Opened<'_, '_>, block: usize) {
        (self.words[nth], self.ranks[nth], self.units[nth]) = look_up(part, block);
    }
}
