//! Figures by which a strategy is chosen inside one window, one block or one list.
//!
//! Bounds leave out the more, the better the worst of the documents kept so far is, and that rises while they are found.
//! So the way that costs least is not known before the window is opened, and is chosen there; by these.

use super::WINDOW;
use crate::format::column::WINDOW_BLOCKS;

/// Documents from which on a union of more than two inputs is made in a bitmap.
pub(crate) const UNION_BITS_FROM: u32 = 512;

/// Documents on pages of points up to which they are sorted; more are bits, of which windows are counted.
pub(crate) const FEW_ON_PAGES: u32 = 4_096;

/// Documents of a window up to which their values are looked up one by one: sixteen a block.
pub(crate) const FEW_OF_WINDOW: u32 = 16 * WINDOW_BLOCKS;
/// Documents of a window up to which there is less than one in each line of 64 bytes, or little more: then all that are brought
/// together are asked for before the first is read.
pub(crate) const FAR_APART: u32 = 2_048;
/// Numbers between the least and the greatest that is wanted, up to which a bit for each pays.
pub(crate) const WANTED_BITS_MAX: u32 = 1 << 12;
/// Ends within a block with which all of its numbers are compared.
pub(crate) const ENDS_COMPARED_MAX: usize = 16;
/// Ranges that numbers are compared with one after the other, with all of some hundred at once.
pub(crate) const RANGES_COMPARED_MAX: usize = 4;
/// Codes that are written down and sorted to find ranks in the end: some two milliseconds of it.
pub(crate) const CODES_SORTED_MAX: u64 = 1 << 17;

/// Postings of the shortest list of a window from which on it has a code for each block.
pub(crate) const DENSE_MIN: u32 = 1024;
/// Postings of a window that are compared with a filter before bounds are looked at, and how many of them are expected to pass:
/// as many as take about as long as looking at the blocks of a window.
const FILTERED_MAX: u64 = 8_192;
const PASSED_MAX: u64 = 512;

/// Whether so many postings of the lists that score in a window, and of the least that filters, are compared with that filter first.
#[inline]
pub(crate) fn filtering_first_pays(n_scored: u64, n_least: u64) -> bool {
    n_scored <= FILTERED_MAX && n_scored * n_least <= PASSED_MAX * u64::from(WINDOW)
}

/// Whether these documents of a block are scored together, as takes less time for four or more than one after the other.
#[inline]
pub(crate) fn are_many(docs: u64) -> bool {
    // Without the lowest bits something is left: counting all takes longer where no instruction does it.
    let but_lowest = |word: u64| word & word.wrapping_sub(1);
    but_lowest(but_lowest(but_lowest(docs))) != 0
}

/// Cost of looking a document up, in documents of two lists that are intersected.
const LOOK_UP_STEPS: usize = 6;
/// Matches that are counted by scoring them: about what planning a count takes.
pub(crate) const COUNTED_BY_SCORING_MAX: u64 = 500;

/// Costs to touch the block of a posting, to complete its sum by one list, to sum up a window and to
/// add a list to it, in quarters of a nanosecond.
const TOUCH: usize = 8;
const COMPLETE: usize = 4;
const SUM: usize = 1200;
const SUM_LIST: usize = 300;
/// Postings that are gone through in the time that one block is looked up.
pub(crate) const WALK: usize = 16;

/// Postings of a window up to which looking at their blocks takes less than adding up all blocks.
pub(crate) const LEAD_MAX: u32 = 48;
/// Postings up to which making a code for each block of a window takes no longer than looking some of them up.
pub(crate) const SPREAD_POSTINGS: u32 = 64;
/// Lists, in all windows that are open, up to which codes are made for that.
pub(crate) const SPREAD_MAX: usize = 128;

/// Whether the blocks that so many postings touch cost less one by one, completed by `n_completing` lists,
/// than all blocks of the window summed up over `n_lists`.
#[inline]
pub(crate) fn touching_pays(n_postings: usize, n_completing: usize, n_lists: usize) -> bool {
    n_postings * (TOUCH + n_completing * COMPLETE) <= SUM + n_lists * SUM_LIST
}

/// Whether so many documents are found in a list by intersecting arrays of so many postings together for less than one by one.
#[inline]
pub(crate) fn intersecting_pays(n_documents: usize, n_postings: usize) -> bool {
    n_documents * LOOK_UP_STEPS > n_postings
}

/// Documents of a page from which on windows of two lists may be scored whole: bounds of two tell blocks apart as long as few are wanted.
const MANY_WANTED: usize = 64;

/// Lists from which on windows may be scored whole where so many documents are wanted.
pub(crate) fn whole_lists_min(n_wanted: usize) -> usize {
    if n_wanted < MANY_WANTED { 3 } else { 2 }
}

/// Times in nanoseconds that going through some windows takes, which has no end where that never pays, and through one of their blocks
/// that can matter then; and that of looking into such a block instead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeCosts {
    pub(crate) of_windows: u64,
    pub(crate) of_left: u64,
    pub(crate) of_block: u64,
}

impl WholeCosts {
    pub(crate) const NEVER: WholeCosts =
        WholeCosts { of_windows: u64::MAX, of_left: 0, of_block: 1 };

    /// Blocks up to which looking into them takes less.
    pub(crate) fn blocks_at_most(&self) -> usize {
        (self.of_windows / self.of_block.saturating_sub(self.of_left).max(1)) as usize
    }
}

/// All that essential lists have is added up; or lists are intersected, given how many documents of a block they have
/// in common by chance: each that is found takes longer than in a block, and words asked for together are together in several times as many.
pub(crate) fn whole_ns(
    (n_windows, n_postings): (usize, usize),
    n_lists: usize,
    n_common: Option<f64>,
) -> WholeCosts {
    let costs = |of_windows: usize, of_left: usize, of_block: usize| {
        let [of_windows, of_left, of_block] = [of_windows, of_left, of_block].map(|n| n as u64);
        WholeCosts { of_windows, of_left, of_block }
    };
    match n_common {
        None => costs(n_windows * 2_000 + n_postings + n_postings / 3, 20, 130 + n_lists * 15),
        Some(n_common) => match ((20 + n_lists * 10) as f64 - 100.0 * n_common) as usize {
            0 => WholeCosts::NEVER,
            of_block => costs(n_windows * 400 + n_postings / 4, 0, of_block),
        },
    }
}

/// Whether all of so many documents with a word that must match, of the segment's, are looked up in the other lists for less than bounds of
/// blocks leave some of them out: where many are wanted, or blocks have one at the most. If few documents have another word, those with this
/// one alone are found by its codes, of which equal ones tell more.
pub(crate) fn looking_each_up_pays(
    n_documents: u64,
    are_others_rare: bool,
    n_docs: u32,
    n_wanted: usize,
) -> bool {
    let n_wanted = n_wanted as u64;
    let most = match are_others_rare {
        true => 4 * n_wanted,
        false => 2_000 + 12 * n_wanted + u64::from(n_docs) / 100,
    };
    n_wanted >= MANY_WANTED as u64 && n_documents <= most
}

/// Documents that are looked up before others are, the best of all: they tell how good the best are.
pub(crate) const LOOKED_UP_FIRST: usize = 128;

/// Whether so many documents are looked up in lists of so many postings for less than all are added up. Most are let go after the first
/// of many lists.
#[inline]
pub(crate) fn looking_up_pays(n_documents: usize, n_postings: usize, n_lists: usize) -> bool {
    n_documents * (12 + n_lists) < 8_000 + n_postings + n_postings / 5
}

/// Blocks that can still matter, for one that will when all are visited, of any lists and of those that are intersected: most are let
/// go later where the worst of the best is still to rise.
pub(crate) const PATIENCE: [usize; 2] = [2, 4];
