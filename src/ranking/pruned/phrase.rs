//! The k best documents of a phrase. They are found without looking for it in all that have its words.
//!
//! A phrase is in a document at most as often as the rarest of its words, and a score part grows with the frequency: so
//! the least part of a word is a bound of the phrase's. Documents that cannot be among the best are left out window by
//! window, by the codes of their block of 64 documents, and by frequencies and length, before any position is read; the
//! others are looked at by falling bound, so that the worst kept score rises early. Phrases whose words need not stand
//! as written may be there more often than a word, so no bound holds for them.

use super::sum::past_the_end;
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::changed::PartChange;
use crate::format::lengths::score_part;
use crate::ids::DocId;
use crate::phrase::{
    AHEAD, GATHERED_MAX, PhraseReader, PhraseWindow, PhraseWorkspace, PositionCounts, RarePhrase,
};
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;
use crate::sums::sums;
use std::cmp::Reverse;

/// Bounds that are told apart when candidates are put into order.
const LEVELS: usize = 256;

/// Factor for rounding of `f32` that may differ in a bound and in a score.
const ROUNDING: f32 = 1.0 + 1e-5;

/// Clause of a phrase in one segment.
pub(crate) type PhraseClause<'s> = Clause<'s, ()>;

/// Numbers of documents that were looked at and that were not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PhrasePruning {
    /// Windows of 65,536 documents in which all words are, and those left out by their codes.
    pub(crate) windows: u64,
    pub(crate) windows_skipped: u64,
    /// Documents with all words, in the windows that were looked into.
    pub(crate) candidates: CandidateCounts,
    pub(crate) positions: PositionCounts,
    /// Documents that have the phrase.
    pub(crate) matching: u64,
}

/// Documents with all words of a phrase, before placing; see [`PositionCounts`] for the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CandidateCounts {
    /// Documents of a rare word looked up one by one in the others' lists. It is 0 if candidates were found in another
    /// way.
    pub looked_up: u64,
    /// Number of candidates that were found.
    pub found: u64,
    /// Candidates whose block of 64 documents has no score that is good enough.
    pub skipped_by_blocks: u64,
    /// Candidates in which a word is too rare, or which are too long.
    pub skipped_by_frequencies: u64,
}

sums! {
    PhrasePruning: windows, windows_skipped, candidates, positions, matching;
    CandidateCounts: looked_up, found, skipped_by_blocks, skipped_by_frequencies;
}

/// The memory of finding the best, for the next time.
#[derive(Debug, Default)]
pub(crate) struct PhraseScratch {
    pub(crate) workspace: PhraseWorkspace,
    bounds: Vec<Bound>,
    order: Vec<u32>,
}

/// Bound of a document before positions are read.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// No score of it is greater.
    score: f32,
    /// Addend to the frequency below the line.
    k: f32,
    level: u8,
}

heap_bytes!(PhraseScratch { workspace, bounds, order });

/// Offers to `top` every document of a phrase that was found because one of its words is rare.
pub(crate) fn rare_phrase(
    clause: &PhraseClause<'_>,
    rare: &RarePhrase,
    base: u64,
    top: &mut Top,
) -> Result<PhrasePruning> {
    let mut matching = 0;
    for (doc, frequency) in rare.matches() {
        let id = DocId(base + u64::from(doc));
        if top.is_deleted(id) {
            continue;
        }
        matching += 1;
        top.push(clause.score(doc, frequency)?, id);
    }
    let (looked_up, found) = rare.looked_up();
    let candidates = CandidateCounts { looked_up, found, ..<_>::default() };
    Ok(PhrasePruning { candidates, positions: rare.work().counts, matching, ..<_>::default() })
}

/// Offers to `top` every document that has the phrase of these words and can be among its best; with `count`
/// finds all that have it. `base` is the number of the segment's first document.
pub(crate) fn phrase<'s>(
    clause: &PhraseClause<'s>,
    words: &mut PhraseReader<'s>,
    base: u64,
    count: bool,
    top: &mut Top,
    scratch: &mut PhraseScratch,
) -> Result<PhrasePruning> {
    let PhraseWorkspace { windows, candidates, .. } = &mut scratch.workspace;
    let mut windows = std::mem::take(windows);
    words.windows(&mut windows, candidates);
    let before = words.work();
    let has_bounds = words.is_exact();
    let mut search = Search {
        clause,
        words,
        is_pruned: has_bounds && !count,
        has_bounds,
        change: clause.change(),
        base,
        top,
        pruning: PhrasePruning { windows: windows.len() as u64, ..PhrasePruning::default() },
    };
    if search.is_pruned {
        // Good ones first, so that less is looked at in the others.
        windows.sort_by_key(|window| Reverse(window.best_part.to_bits()));
    }
    for window in &windows {
        search.window(*window, scratch)?;
    }
    scratch.workspace.windows = windows;
    search.pruning.positions = search.words.work().since(before).counts;
    Ok(search.pruning)
}

/// A phrase on its way through the windows of a segment.
struct Search<'t, 's> {
    clause: &'t PhraseClause<'s>,
    words: &'t mut PhraseReader<'s>,
    /// Whether documents that cannot be among the best are left out.
    is_pruned: bool,
    has_bounds: bool,
    /// Change of parts since codes were written.
    change: Option<PartChange>,
    base: u64,
    top: &'t mut Top,
    pruning: PhrasePruning,
}

impl Search<'_, '_> {
    fn window(&mut self, window: PhraseWindow, scratch: &mut PhraseScratch) -> Result<()> {
        if self.is_pruned && window.best_part < self.least_part() {
            self.pruning.windows_skipped += 1;
            return Ok(());
        }
        let PhraseScratch { workspace: PhraseWorkspace { candidates, .. }, bounds, order } =
            scratch;
        self.words.candidates(window.key, candidates)?;
        // Before their words are placed, which costs more.
        self.top.leave_out_deleted(window.key, &mut candidates.lows)?;
        self.pruning.candidates.found += candidates.lows.len() as u64;
        let mut rest = 0;
        while rest < candidates.lows.len() {
            if self.is_pruned && self.top.threshold() > 0.0 && self.clause.weight > 0.0 {
                candidates.lows.drain(..rest);
                rest = 0;
                let dropped = self.words.drop_weak(self.least_part(), &mut candidates.lows)?;
                self.pruning.candidates.skipped_by_blocks += dropped as u64;
            }
            let end = candidates.lows.len().min(rest + GATHERED_MAX);
            self.batch(window.key, &candidates.lows[rest..end], bounds, order)?;
            rest = end;
        }
        Ok(())
    }

    /// The least part, as they were when codes were written, that is good enough.
    fn least_part(&self) -> f32 {
        let least = self.top.threshold() / (self.clause.weight * ROUNDING);
        self.change.map_or(least, |change| change.needed(least.into()) as f32)
    }

    /// Looks at some documents of a window that have all words.
    fn batch(
        &mut self,
        key: u32,
        lows: &[u16],
        bounds: &mut Vec<Bound>,
        order: &mut Vec<u32>,
    ) -> Result<()> {
        let Search { clause, words, .. } = self;
        budget::work(ns::WORDS_PLACED * lows.len() as u64)?;
        words.gather(key, lows)?;
        bounds.clear();
        let (Some(first), Some(last)) = (lows.first(), lows.last()) else { return Ok(()) };
        let codes = clause
            .lengths
            .codes(key << 16 | u32::from(*first)..(key << 16 | u32::from(*last)) + 1)?;
        for (nth, low) in lows.iter().enumerate() {
            let code = codes.get(usize::from(low - first)).ok_or_else(past_the_end)?;
            let k = clause.scoring.norm_cache[usize::from(*code)];
            let part = score_part(words.least_frequency(nth), k);
            let level = (part * LEVELS as f32) as u8;
            bounds.push(Bound { score: clause.weight * part * ROUNDING, k, level });
        }
        order.clear();
        match self.is_pruned {
            true => by_falling_level(bounds, self.top.threshold(), order),
            false => order.extend(0..lows.len() as u32),
        }
        self.pruning.candidates.skipped_by_frequencies += (lows.len() - order.len()) as u64;
        order.iter().take(AHEAD).for_each(|nth| words.prefetch(*nth as usize));
        for at in 0..order.len() {
            if let Some(nth) = order.get(at + AHEAD) {
                words.prefetch(*nth as usize);
            }
            let nth = order[at] as usize;
            let Bound { score, k, .. } = bounds[nth];
            let is_weak = self.has_bounds && score < self.top.threshold();
            if is_weak && self.is_pruned {
                self.pruning.candidates.skipped_by_frequencies += 1;
                continue;
            }
            let frequency = words.count(nth, if is_weak { 1 } else { u32::MAX })?;
            if frequency > 0 {
                self.pruning.matching += 1;
                if !is_weak {
                    let score = clause.weight * score_part(frequency, k);
                    let doc = key << 16 | u32::from(lows[nth]);
                    self.top.push(score, DocId(self.base + u64::from(doc)));
                }
            }
        }
        Ok(())
    }
}

/// Appends to `order` the numbers of those bounds that are not below `least`, the greater levels first.
fn by_falling_level(bounds: &[Bound], least: f32, order: &mut Vec<u32>) {
    let mut starts = [0u32; LEVELS];
    let good = || (0u32..).zip(bounds).filter(|(_, bound)| bound.score >= least);
    for (_, bound) in good() {
        starts[usize::from(bound.level)] += 1;
    }
    let mut start = 0;
    for n in starts.iter_mut().rev() {
        start += std::mem::replace(n, start);
    }
    order.resize(start as usize, 0);
    for (nth, bound) in good() {
        let at = &mut starts[usize::from(bound.level)];
        order[*at as usize] = nth;
        *at += 1;
    }
}
