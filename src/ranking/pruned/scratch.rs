//! Memory of finding the best.

use super::blocks::{Blocks, OpenWindow};
use super::parts::{Opened, WindowPostings};
use super::phrase::PhraseScratch;
use super::rare_terms::RareTermsFirst;
use super::shortest_list::ShortestListAnd;
use super::sum::Readers;
use super::tree::Memory;
use crate::format::ranked::RankedList;
use crate::ranking::Clause;
use crate::ranking::top::ScoredDoc;
use crate::recycle::{FreeLists, heap_bytes, recycled};

/// The memory of finding the best, for the next time.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// For the terms of a query.
    pub(crate) clauses: Vec<Clause<'static>>,
    /// For short lists.
    pub(crate) numbers: FreeLists<u32>,
    /// For the best of a page.
    pub(crate) top: Vec<ScoredDoc>,
    pub(super) parts: WindowPostings,
    pub(super) opened: Vec<Opened<'static, 'static>>,
    pub(super) windows: Vec<OpenWindow>,
    pub(super) summed: Vec<OpenWindow>,
    pub(super) blocks: Blocks,
    pub(super) few: ShortestListAnd,
    pub(super) shorts: RareTermsFirst,
    pub(super) readers: Readers<'static>,
    pub(super) tree: Memory,
    pub(crate) phrase: PhraseScratch,
}

heap_bytes!(Scratch {
    clauses,
    numbers,
    top,
    parts,
    opened,
    windows,
    summed,
    blocks,
    few,
    shorts,
    readers,
    tree,
    phrase,
});

/// Documents of a page up to which its memory is kept.
const TOP_KEPT: usize = 1024;
/// Terms whose memory is kept, over all segments.
const CLAUSES_KEPT: usize = 1024;

impl Scratch {
    /// Keeps the memory of the best, unless it is large.
    pub(crate) fn keep_top(&mut self, best: Vec<ScoredDoc>) {
        if best.capacity() <= TOP_KEPT {
            self.top = best;
        }
    }

    /// Keeps the memory of the terms of a query.
    pub(crate) fn keep_clauses(&mut self, mut clauses: Vec<Clause<'_>>) {
        // None is moved, as they are large.
        for clause in &mut clauses {
            if let RankedList::Short(list) = &mut clause.list {
                self.numbers.give(list.take_memory());
            }
        }
        self.clauses = recycled(clauses);
        self.clauses.shrink_to(CLAUSES_KEPT);
    }
}
