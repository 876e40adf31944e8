//! Scores every document that matches: list after list, window after window.
//!
//! What pruned search must agree with, and what it leaves to this: more clauses than its bounds have room
//! for, and weights that are no numbers to compute bounds with. Each list is gone through once, so the cost
//! is 5 to 10 ns a posting however many lists there are.

use super::pruning::Pruning;
use crate::budget::{self, ns};
use crate::error::{Error, Result};
use crate::format::lengths::score_part;
use crate::format::ranked::RankedList;
use crate::ids::DocId;
use crate::plan::WINDOW;
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;
use crate::segment::file::Section;

/// Frequencies that are packed together.
pub(super) const GROUP: u32 = 64;

/// The sums of one window.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// By document; those that did not match have any.
    scores: Vec<f32>,
    /// A bit for each document that has a sum.
    matching: Vec<u64>,
    /// A bit for each document of the list that is gone through.
    listed: Vec<u64>,
    cursors: Vec<Cursor>,
}

heap_bytes!(Sums { scores, matching, listed, cursors });

impl Sums {
    fn reset(&mut self, n_clauses: usize) {
        self.scores.resize(WINDOW as usize, 0.0);
        self.matching.clear();
        self.matching.resize(WINDOW as usize / 64, 0);
        self.listed.clear();
        self.listed.resize(WINDOW as usize / 64, 0);
        self.cursors.clear();
        self.cursors.resize(n_clauses, Cursor::default());
    }

    /// The first window that may have a match behind those that were gone through: of any list, or for all lists
    /// the one that none stands before, as long as none has ended.
    fn next_window<const ALL: bool>(&self, clauses: &[Clause<'_>]) -> Option<u32> {
        let cursors = clauses.iter().zip(&self.cursors);
        let windows = cursors.map(|(clause, at)| at.window(&clause.list));
        match ALL {
            true => windows.reduce(|a, b| Some(a?.max(b?))).flatten(),
            false => windows.flatten().min(),
        }
    }

    /// Offers the documents of a window, and forgets them.
    fn offer(&mut self, first: u64, top: &mut Top, pruning: &mut Pruning) {
        for (nth, word) in self.matching.iter_mut().enumerate() {
            pruning.documents_scored += u64::from(word.count_ones());
            while *word != 0 {
                let low = nth * 64 + word.trailing_zeros() as usize;
                *word &= *word - 1;
                top.push(self.scores[low], DocId(first + low as u64));
            }
        }
    }
}

/// Offers every document that matches: all clauses, or any.
pub(super) fn offer<const ALL: bool>(
    clauses: &[Clause<'_>],
    base: u64,
    top: &mut Top,
    sums: &mut Sums,
) -> Result<Pruning> {
    let mut pruning = Pruning::default();
    sums.reset(clauses.len());
    while let Some(window) = sums.next_window::<ALL>(clauses) {
        for (nth, (clause, at)) in clauses.iter().zip(&mut sums.cursors).enumerate() {
            while at.window(&clause.list).is_some_and(|before| before < window) {
                at.skip(&clause.list);
            }
            // As if each list had a quarter of the documents.
            budget::work(ns::POSTING_SCORED * u64::from(WINDOW / 4))?;
            if ALL {
                sums.listed.fill(0);
            }
            at.visit(clause, window, |low, score| {
                pruning.postings += 1;
                let (word, bit) = (low / 64, 1 << (low % 64));
                let is_first = if ALL { nth == 0 } else { sums.matching[word] & bit == 0 };
                sums.scores[low] = if is_first { score } else { sums.scores[low] + score };
                let seen = if ALL { &mut sums.listed } else { &mut sums.matching };
                seen[word] |= bit;
            })?;
            if ALL {
                for (matching, listed) in sums.matching.iter_mut().zip(&sums.listed) {
                    *matching = if nth == 0 { *listed } else { *matching & listed };
                }
            }
        }
        sums.offer(base + u64::from(window) * u64::from(WINDOW), top, &mut pruning);
    }
    Ok(pruning)
}

/// How far a list was gone through.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    /// The next container of a long list.
    container: usize,
    /// Postings before.
    rank: u32,
}

impl Cursor {
    /// The window of the next posting.
    fn window(&self, list: &RankedList<'_, Section<'_>>) -> Option<u32> {
        match list {
            RankedList::Short(list) => list.docs().get(self.rank as usize).map(|doc| doc / WINDOW),
            RankedList::Long(list) if self.container < list.list().n_containers() => {
                Some(u32::from(list.list().key(self.container)))
            }
            RankedList::Long(_) => None,
        }
    }

    /// Leaves out what the list has in the window it stands at.
    fn skip(&mut self, list: &RankedList<'_, Section<'_>>) {
        match list {
            RankedList::Short(_) => self.rank += 1,
            RankedList::Long(list) => {
                self.rank += list.list().container_cardinality(self.container);
                self.container += 1;
            }
        }
    }

    /// Calls `visit` with the documents of a list in a window, less what they have in common, and with what
    /// they score there; moves on behind the window.
    fn visit(
        &mut self,
        clause: &Clause<'_>,
        window: u32,
        mut visit: impl FnMut(usize, f32),
    ) -> Result<()> {
        if self.window(&clause.list) != Some(window) {
            return Ok(());
        }
        let first = window * WINDOW;
        let end = first.saturating_add(WINDOW).min(clause.lengths.n_docs());
        let lengths = clause.lengths.codes(first.min(end)..end)?;
        let mut score = |low: usize, frequency: u32| {
            let code = lengths.get(low).ok_or_else(past_the_end)?;
            let k = clause.scoring.k_by_code[usize::from(*code)];
            visit(low, clause.weight * score_part(frequency, k));
            Ok(())
        };
        match &clause.list {
            RankedList::Short(list) => {
                let postings = list.docs().iter().zip(list.frequencies());
                for (&doc, &frequency) in postings.skip(self.rank as usize) {
                    if doc / WINDOW != window {
                        break;
                    }
                    score((doc - first) as usize, frequency)?;
                    self.rank += 1;
                }
            }
            RankedList::Long(list) => {
                let payload = list.list().payload(self.container)?;
                let values = list.list().container(self.container, &payload)?;
                let mut frequencies = list.frequencies().reader();
                for (rank, low) in (self.rank..).zip(values.iter()) {
                    score(usize::from(low), frequencies.get(rank)?)?;
                }
                self.skip(&clause.list);
            }
        }
        Ok(())
    }
}

#[cold]
pub(super) fn past_the_end() -> Error {
    Error::corrupt("scoring the documents of a term")
        .expected("documents of the segment")
        .found("one past its end")
}
