//! The k best documents of a segment by a tree over terms, phrases and sets. Its nodes are sums and maxima.
//!
//! The bounds of terms are put together as their scores are ([`bound`]): first those of whole windows, then
//! those of all blocks of a window at once ([`sums`]) or, where every result is in some list of few postings, of
//! the blocks that these touch ([`lead`]). In a block that can matter the tree is gone through with
//! 64 documents at a time ([`block`]): what all parts together allow is what is scored. Nothing is found
//! beforehand but sets, so a word that must not be there costs a look into the blocks that are good enough.
//!
//! If one word must be there and others only add to its score, or must not be there, documents with that word alone are
//! found as if it were the whole query, or, where many are wanted, all of its documents are looked up in the other lists
//! ([`required`]).
//!
//! If texts are short, the score of one word alone is soon known to be not good enough
//! ([`tie_cache`](super::tie_cache)).
//!
//! If bounds cannot be computed with, because there are too many parts or because nothing adds to a score, the same is
//! done with a limit of 0, so that everything that matches is scored.

mod block;
mod bound;
mod lead;
mod lists;
mod memory;
mod required;
mod sums;
#[cfg(test)]
mod tests;

use super::bounds::CLAUSES_MAX;
use super::order::{BlockQueue, FIRST_WINDOWS, Place, SUMMED_MAX, ScoreBuckets, WINDOWS_MAX};
use super::parts::{Opened, Window, WindowPostings};
use super::pruning::Pruning;
use super::scratch::Scratch;
use super::sum::Readers;
use crate::budget::{self, ns};
use crate::error::Result;
use crate::ids::DocId;
use crate::phrase::PhraseReader;
use crate::plan::in_window::{SPREAD_MAX, SPREAD_POSTINGS, WholeCosts};
use crate::plan::{ListsKernel, WINDOW};
use crate::ranking::top::Top;
use crate::recycle::recycled;
use crate::simd::sums::BLOCKS;
use crate::weight::neighbors::NeighborScores;
use crate::weight::node::Node;
use block::BlockScorer;
use bound::{OfWindow, UpperBounds, View};
pub(crate) use lists::{Tree, TreeCombined, TreeField, TreePhrase};
pub(super) use memory::Memory;
use memory::OpenWindows;
use required::RequiredFirst;
use std::cmp::Reverse;
use sums::add_up;

/// A query in one segment with what reads its phrases.
#[derive(Debug)]
pub(crate) struct OpenTree<'s> {
    tree: Tree<'s>,
    required: Option<RequiredFirst>,
    phrases: Vec<Option<PhraseReader<'s>>>,
}

impl<'s> OpenTree<'s> {
    /// Finds out how to go about `root`; `phrases` read those of the tree.
    pub(crate) fn new(root: &Node, tree: Tree<'s>, phrases: Vec<Option<PhraseReader<'s>>>) -> Self {
        OpenTree { required: RequiredFirst::of(root, &tree), tree, phrases }
    }

    /// Ends the query and keeps its memory.
    pub(crate) fn recycle(self, scratch: &mut Scratch) {
        let Tree { clauses, numbers, .. } = self.tree;
        scratch.numbers = numbers;
        scratch.keep_clauses(clauses);
    }

    /// Offers to `top` every document that matches `root`, which it was opened for, and can be among its best.
    pub(crate) fn offer(
        &mut self,
        root: &Node,
        top: &mut Top,
        scratch: &mut Scratch,
    ) -> Result<Pruning> {
        let OpenTree { tree, required, phrases } = self;
        if let Node::Nearest { nth, .. } = root {
            let pruning = offer_neighbors(&tree.neighbors[*nth], tree.base, top)?;
            return Ok(pruning.by(ListsKernel::Tree, 0));
        }
        let Some(required) = required else {
            let pruning = offer_matching(tree, root, phrases, top, scratch)?;
            return Ok(pruning.by(ListsKernel::Tree, 0));
        };
        let mut pruning = Pruning::default();
        required.raise(tree, top)?;
        if required.offer_each(tree, top, scratch, &mut pruning)? {
            return Ok(pruning.by(ListsKernel::RequiredEach, 0));
        }
        let memory = &mut scratch.tree.required;
        if let Some(root) = &required.with_others
            && !required.offer_with_few(tree, top, memory, &mut pruning)?
        {
            pruning += offer_matching(tree, root, phrases, top, scratch)?;
        }
        required.offer_alone(tree, top, scratch, &mut pruning)?;
        Ok(pruning.by(ListsKernel::RequiredWord, 0))
    }
}

/// Offers to `top` neighbours of a vector that are all there is to the query: they have their scores by now.
fn offer_neighbors(neighbors: &NeighborScores, base: u64, top: &mut Top) -> Result<Pruning> {
    let all = neighbors.all();
    budget::work(ns::POSTING_SCORED * all.len() as u64)?;
    let documents_scored = all.len() as u64;
    all.for_each(|(doc, score)| top.push(score, DocId(base + u64::from(doc))));
    Ok(Pruning { documents_scored, ..Pruning::default() })
}

/// Offers to `top` what matches `root`.
fn offer_matching<'s>(
    tree: &Tree<'s>,
    root: &Node,
    readers: &mut [Option<PhraseReader<'s>>],
    top: &mut Top,
    scratch: &mut Scratch,
) -> Result<Pruning> {
    let Scratch { parts, opened, blocks, readers: of_clauses, tree: memory, .. } = scratch;
    let mut of_scorer = std::mem::take(&mut memory.scorer);
    let weighed = UpperBounds::new(tree, root, parts, top, &mut memory.weighed)?;
    parts.divide(&tree.clauses, 1, weighed.n_windows_without_lists());
    parts.bound_windows(|key, best| {
        weighed.bound(root, &mut OfWindow { weighed: &weighed, key, best })
    });
    // Good ones first, so that few of the others are opened.
    parts.windows.sort_by_key(|window| Reverse(window.bound));
    let mut search = Search {
        weighed: &weighed,
        parts,
        scorer: BlockScorer::new(&weighed, readers, Readers::new(of_clauses), &mut of_scorer),
        opened: recycled(std::mem::take(opened)),
        bands: &mut blocks.bands,
        noted: &mut blocks.noted,
        memory,
        pruning: Pruning::default(),
    };
    let found = search.run(top);
    let mut pruning = search.pruning;
    *opened = recycled(search.opened);
    let readers = search.scorer.readers;
    pruning.postings += readers.n_postings;
    *of_clauses = readers.recycle();
    memory.weighed = weighed.units;
    memory.scorer = of_scorer;
    found.map(|()| pruning)
}

/// A tree on its way through the windows of a segment.
struct Search<'q, 's, 'm> {
    weighed: &'q UpperBounds<'q, 's>,
    parts: &'q WindowPostings,
    scorer: BlockScorer<'q, 's, 'm>,
    opened: Vec<Opened<'q, 's>>,
    bands: &'m mut ScoreBuckets,
    noted: &'m mut BlockQueue,
    memory: &'m mut Memory,
    pruning: Pruning,
}

impl<'q, 's> Search<'q, 's, '_> {
    fn run(&mut self, top: &mut Top) -> Result<()> {
        self.start();
        let parts = self.parts;
        self.pruning.windows_considered = parts.windows.len() as u64;
        let mut is_first = true;
        // Many lists have fewer windows, so that memory is not theirs times that of a window.
        let room_for_sums =
            SUMMED_MAX * CLAUSES_MAX / self.weighed.tree.clauses.len().max(CLAUSES_MAX);
        for window in &parts.windows {
            if window.bound < self.weighed.scale.limit(top.threshold())
                || self.weighed.is_over(window.key * WINDOW, top)
            {
                self.pruning.windows_skipped += 1;
                continue;
            }
            self.open(window)?;
            self.note(top);
            let room = if is_first { FIRST_WINDOWS } else { WINDOWS_MAX };
            let Memory { windows, summed, .. } = &*self.memory;
            if windows.windows.len() == room || summed.len() >= room_for_sums {
                self.offer(top)?;
                is_first = false;
            }
        }
        self.offer(top)
    }

    fn start(&mut self) {
        self.opened.clear();
        self.memory.windows.windows.clear();
        self.memory.windows.places.clear();
        self.memory.windows.spread_places.clear();
        self.memory.windows.n_spread = 0;
        self.memory.summed.clear();
    }

    /// Opens a window behind those that are open.
    fn open(&mut self, window: &Window) -> Result<()> {
        // Opening the lists, and adding up their bounds.
        budget::work(ns::WINDOW_BOUNDS * self.weighed.tree.clauses.len() as u64)?;
        let start = self.opened.len();
        let clauses = &self.weighed.tree.clauses;
        self.parts.open(clauses, window, &mut self.opened)?;
        let OpenWindows { windows, places, .. } = &mut self.memory.windows;
        let first = places.len();
        places.resize(first + clauses.len(), u32::MAX);
        for (place, part) in (0..).zip(&self.opened[start..]) {
            places[first + part.clause] = place;
        }
        windows.push((window.key, start..self.opened.len()));
        self.memory.windows.spread_short(&self.opened);
        Ok(())
    }

    /// Takes note of the blocks of the last window that can matter, or of the window if these are many.
    fn note(&mut self, top: &Top) {
        let Memory { windows, summed, led, .. } = &mut *self.memory;
        let limit = self.weighed.scale.limit(top.threshold());
        let window = windows.windows.len() - 1;
        let view = windows.view(window, self.weighed, &self.opened);
        let is_led = led.visit(&view, |block, bound| {
            self.pruning.blocks_considered += 1;
            if bound >= limit {
                let sum = bound.min(u16::MAX.into()) as u16;
                self.noted.push(Place { window, block, sum });
            }
        });
        if !is_led {
            summed.push(window);
        }
    }

    /// Offers what is in the open windows, and closes them.
    fn offer(&mut self, top: &mut Top) -> Result<()> {
        let Search { weighed, scorer, opened, bands, noted, memory, pruning, .. } = self;
        let Memory { windows, summed, spare, .. } = &mut **memory;
        windows.spread_all(summed, opened);
        let view = |window| windows.view(window, weighed, opened);
        noted.visit(&weighed.scale, top, |place, _, top| {
            scorer.offer(view(place.window), place.block, top, pruning)
        })?;
        for (sums, window) in bands.sums(summed.len()).iter_mut().zip(&*summed) {
            add_up(&view(*window), weighed.root, sums, spare);
        }
        pruning.blocks_considered += (summed.len() * BLOCKS) as u64;
        let by_blocks = (|_| WholeCosts::NEVER, 1);
        bands.visit(summed.len(), by_blocks, &weighed.scale, top, |place, _, top| {
            scorer.offer(view(summed[place.window]), place.block, top, pruning)
        })?;
        self.start();
        Ok(())
    }
}

impl OpenWindows {
    /// Makes codes by block for the lists of the window opened last that have none and few postings.
    fn spread_short(&mut self, opened: &[Opened<'_, '_>]) {
        for (nth, part) in opened.iter().enumerate().skip(self.spread_places.len()) {
            self.spread_places.push(u32::MAX);
            if part.n_postings() <= SPREAD_POSTINGS && self.n_spread < SPREAD_MAX {
                self.spread_list(nth, part);
            }
        }
    }

    /// Makes codes by block for all lists of some windows that have none.
    fn spread_all(&mut self, some: &[usize], opened: &[Opened<'_, '_>]) {
        for window in some {
            for nth in self.windows[*window].1.clone() {
                self.spread_list(nth, &opened[nth]);
            }
        }
    }

    fn spread_list(&mut self, nth: usize, part: &Opened<'_, '_>) {
        if part.codes_by_block().is_some() || self.spread_places[nth] != u32::MAX {
            return;
        }
        self.spread.resize(self.spread.len().max(self.n_spread + 1), [0; BLOCKS]);
        sums::spread(part, &mut self.spread[self.n_spread]);
        self.spread_places[nth] = self.n_spread as u32;
        self.n_spread += 1;
    }

    fn view<'a, 'q, 's>(
        &'a self,
        nth: usize,
        weighed: &'q UpperBounds<'q, 's>,
        opened: &'a [Opened<'q, 's>],
    ) -> View<'a, 'q, 's> {
        let (key, of_window) = &self.windows[nth];
        let n_clauses = weighed.tree.clauses.len();
        View {
            weighed,
            key: *key,
            opened: &opened[of_window.clone()],
            places: &self.places[nth * n_clauses..(nth + 1) * n_clauses],
            spread: &self.spread,
            spread_places: self.spread_places.get(of_window.clone()).unwrap_or_default(),
        }
    }
}
