//! Blocks by falling bound, so that the worst kept score rises early.
//!
//! Blocks of windows that have a sum for each are visited in bands of falling sums, which takes no sorting;
//! single blocks that were noted are sorted, the best of them first and by themselves.

use super::bounds::ScoreQuantizer;
use crate::budget::{self, ns};
use crate::error::Result;
use crate::plan::in_window::WholeCosts;
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;
use crate::simd::sums::{self, BLOCKS};
use std::cmp::Reverse;
use std::ops::Range;

/// Blocks that are scored before the clock may be asked.
pub(super) const BLOCKS_AT_ONCE: usize = 64;
/// Windows whose blocks are put in one order: those with a sum for every block, and all.
pub(super) const SUMMED_MAX: usize = 8;
pub(super) const WINDOWS_MAX: usize = 32;
/// Windows after which it is known, more or less, how good the best are.
pub(super) const FIRST_WINDOWS: usize = 4;
/// Steps from the best sum down to the least that matters; 4 and 16 are not better.
const BANDS: u32 = 8;
/// Bits of the number of a block among those of all open windows.
const PLACE_BITS: u32 = (WINDOWS_MAX * BLOCKS).trailing_zeros();
const _: () = assert!(PLACE_BITS <= 16 && (WINDOWS_MAX * BLOCKS).is_power_of_two());
/// Blocks that are looked into before the others are put in order.
const NOTED_FIRST: usize = 32;

/// A block of an open window, and what its best document reaches at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Index of the window.
    pub(super) window: usize,
    pub(super) block: usize,
    pub(super) sum: u16,
}

/// Sums for all blocks of some windows.
#[derive(Debug, Default)]
pub(super) struct ScoreBuckets {
    sums: Vec<[u16; BLOCKS]>,
    pub(super) candidates: Vec<u32>,
}

heap_bytes!(ScoreBuckets { sums, candidates });

impl ScoreBuckets {
    /// Room for the sums of `n` windows, with anything in it.
    pub(super) fn sums(&mut self, n: usize) -> &mut [[u16; BLOCKS]] {
        self.sums.resize(self.sums.len().max(n), [0; BLOCKS]);
        &mut self.sums[..n]
    }

    /// Calls `visit` with the blocks of the first `n` windows that can matter, and the least units that do. False where they are more than
    /// pay, given the least units that matter, or so many times that as patience allows at first; then sums of those that were visited
    /// are 0.
    pub(super) fn visit(
        &mut self,
        n: usize,
        (costs, patience): (impl Fn(u32) -> WholeCosts, usize),
        scale: &ScoreQuantizer,
        top: &mut Top,
        mut visit: impl FnMut(Place, u32, &mut Top) -> Result<()>,
    ) -> Result<bool> {
        let best = self.sums[..n].iter().map(sums::max).max().unwrap_or_default();
        let (best, mut level, mut n_visited) = (u32::from(best), u32::from(best), 0);
        for band in 1.. {
            let limit = scale.limit(top.threshold()).max(1);
            if level < limit {
                break;
            }
            level = level.saturating_sub((best - limit) / BANDS + 1);
            if level < limit || band >= BANDS {
                level = limit;
            }
            let most = costs(limit).blocks_at_most();
            let patience = if n_visited > most { 1 } else { patience };
            let bar = most.saturating_mul(patience);
            if bar < n * BLOCKS && (patience == 1 || band > 1) {
                self.select(n, limit);
                if self.candidates.len() > bar {
                    return Ok(false);
                }
            }
            self.select(n, level);
            for (nth, candidate) in self.candidates.iter().enumerate() {
                if nth % BLOCKS_AT_ONCE == 0 {
                    budget::work(ns::BLOCK_SCORED * BLOCKS_AT_ONCE as u64)?;
                }
                let (window, block) = (*candidate as usize / BLOCKS, *candidate as usize % BLOCKS);
                let sum = std::mem::take(&mut self.sums[window][block]);
                let limit = scale.limit(top.threshold());
                if u32::from(sum) >= limit {
                    visit(Place { window, block, sum }, limit, top)?;
                    n_visited += 1;
                }
            }
            if level <= limit {
                break;
            }
        }
        Ok(true)
    }

    /// The blocks that were left where looking into them did not pay, by window: its number, the sums of all its blocks, and which they are.
    pub(super) fn left(&self) -> impl Iterator<Item = (usize, &[u16; BLOCKS], &[u32])> {
        let window_of = |candidate: u32| candidate as usize / BLOCKS;
        let by_window = self.candidates.chunk_by(move |a, b| window_of(*a) == window_of(*b));
        by_window.map(move |left| (window_of(left[0]), &self.sums[window_of(left[0])], left))
    }

    /// Replaces the candidates by the blocks of the first `n` windows whose sums are not below a level.
    fn select(&mut self, n: usize, level: u32) {
        self.candidates.clear();
        for (first, sums) in (0..).step_by(BLOCKS).zip(&self.sums[..n]) {
            sums::select(sums, level as u16, first, &mut self.candidates);
        }
    }
}

/// Single blocks.
#[derive(Debug, Default)]
pub(super) struct BlockQueue {
    /// Sum, window and number.
    blocks: Vec<u32>,
}

heap_bytes!(BlockQueue { blocks });

impl BlockQueue {
    #[inline]
    pub(super) fn push(&mut self, place: Place) {
        let number = (place.window * BLOCKS + place.block) as u32;
        self.blocks.push(u32::from(place.sum) << PLACE_BITS | number);
    }

    /// Calls `visit` with those that can matter, and the least units that do, and forgets all.
    pub(super) fn visit(
        &mut self,
        scale: &ScoreQuantizer,
        top: &mut Top,
        mut visit: impl FnMut(Place, u32, &mut Top) -> Result<()>,
    ) -> Result<()> {
        // Some of the best tell how good the best are, then few of the others are left to be sorted.
        let n_first = NOTED_FIRST.max(top.k());
        if self.blocks.len() > 2 * n_first {
            self.blocks.select_nth_unstable_by_key(n_first, |noted| Reverse(*noted));
            self.visit_sorted(0..n_first, scale, top, &mut visit)?;
            let limit = scale.limit(top.threshold());
            self.blocks.drain(..n_first);
            self.blocks.retain(|noted| noted >> PLACE_BITS >= limit);
        }
        self.visit_sorted(0..self.blocks.len(), scale, top, &mut visit)?;
        self.blocks.clear();
        Ok(())
    }

    fn visit_sorted(
        &mut self,
        range: Range<usize>,
        scale: &ScoreQuantizer,
        top: &mut Top,
        visit: &mut impl FnMut(Place, u32, &mut Top) -> Result<()>,
    ) -> Result<()> {
        let noted = &mut self.blocks[range];
        noted.sort_unstable_by_key(|noted| Reverse(*noted));
        for (nth, noted) in noted.iter().enumerate() {
            if nth % BLOCKS_AT_ONCE == 0 {
                budget::work(ns::BLOCK_SCORED * BLOCKS_AT_ONCE as u64)?;
            }
            let (sum, place) = (*noted >> PLACE_BITS, (*noted & ((1 << PLACE_BITS) - 1)) as usize);
            let limit = scale.limit(top.threshold());
            if sum < limit {
                break;
            }
            let (window, block) = (place / BLOCKS, place % BLOCKS);
            visit(Place { window, block, sum: sum as u16 }, limit, top)?;
        }
        Ok(())
    }
}
