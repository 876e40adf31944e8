//! Memory of a search by a tree.

use super::block::ScorerMemory;
use super::bound::PartUnits;
use super::lead::LeadBlocks;
use super::sums::Spare;
use crate::ranking::pruned::single_term::Finder;
use crate::ranking::pruned::sum::Readers;
use crate::recycle::heap_bytes;
use crate::simd::sums::BLOCKS;
use std::ops::Range;

/// The memory of a search, for the next time.
#[derive(Debug, Default)]
pub(in crate::ranking::pruned) struct Memory {
    pub(super) windows: OpenWindows,
    /// Windows that are to have a sum for every block.
    pub(super) summed: Vec<usize>,
    pub(super) spare: Spare,
    pub(super) led: LeadBlocks,
    pub(super) weighed: PartUnits,
    pub(super) scorer: ScorerMemory,
    pub(super) required: RequiredMemory,
}

/// Windows whose lists are open.
#[derive(Debug, Default)]
pub(super) struct OpenWindows {
    /// The number of each, and its lists in the order of the clauses.
    pub(super) windows: Vec<(u32, Range<usize>)>,
    /// For each window and clause the place among the window's lists.
    pub(super) places: Vec<u32>,
    /// Codes by block of lists without; how many of them are those of open lists.
    pub(super) spread: Vec<[u8; BLOCKS]>,
    pub(super) n_spread: usize,
    /// For each open list its place among them.
    pub(super) spread_places: Vec<u32>,
}

heap_bytes!(OpenWindows { windows, places, spread, spread_places });
heap_bytes!(Memory { windows, summed, spare, led, weighed, scorer, required });

/// The memory of finding them, for the next time.
#[derive(Debug, Default)]
pub(super) struct RequiredMemory {
    pub(super) finders: Vec<Finder<'static, 'static>>,
    /// Documents, clauses and frequencies.
    pub(super) postings: Vec<(u32, usize, u32)>,
    pub(super) readers: Readers<'static>,
}

heap_bytes!(RequiredMemory { finders, postings, readers });
