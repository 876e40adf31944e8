//! Documents of one list, looked up in others and scored many at a time.
//!
//! Each step goes through all documents of a batch: bounds, then one list after the other, then scores. So kinds of containers are
//! told apart once a batch, and what cannot be foreseen of one document does not hold up the next.

use super::parts::{Opened, Postings};
use super::query::{Divided, Query};
use super::sum::{Norms, Readers, past_the_end};
use crate::error::Result;
use crate::format::lengths::score_part;
use crate::ids::FieldId;
use crate::plan::WINDOW;
use crate::ranking::Clause;
use crate::recycle::heap_bytes;
use crate::simd::sums::units;

/// Documents of a batch at the most, and of the first one: the sooner some are scored, the more of the others are left out.
const MOST: usize = 256;
const FIRST: usize = 32;

/// Rank of a document that a list does not have.
const ABSENT: u32 = u32::MAX;

/// Lists in which documents of another are looked up, by their numbers among those that are open.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Others<'o> {
    /// Clauses that must have a document, the shortest first.
    pub(super) required: &'o [usize],
    /// Clauses that add to the score of a document, if they have it.
    pub(super) optional: &'o [usize],
    /// Clauses whose documents were offered already.
    pub(super) done: &'o [usize],
}

/// Documents that may be among the best.
#[derive(Debug)]
pub(super) struct Batch {
    n: usize,
    room: usize,
    lows: [u16; MOST],
    /// The most that each scores, in units and one more; 0 of those that a list does not have.
    bounds: [u32; MOST],
    /// By list, the rank of each document, as far as it was looked up.
    ranks: Vec<[u32; MOST]>,
    /// Numbers of those that are kept.
    kept: [u16; MOST],
    scores: [f32; MOST],
    /// K of each in a field, and which, as far as it was read.
    k: [f32; MOST],
    field: Option<FieldId>,
}

impl Default for Batch {
    fn default() -> Self {
        Batch {
            n: 0,
            room: FIRST,
            lows: [0; MOST],
            bounds: [0; MOST],
            ranks: vec![],
            kept: [0; MOST],
            scores: [0.0; MOST],
            k: [0.0; MOST],
            field: None,
        }
    }
}

heap_bytes!(Batch { ranks });

impl Batch {
    /// Begins a window of so many lists.
    pub(super) fn start(&mut self, n_lists: usize) {
        (self.n, self.field) = (0, None);
        self.ranks.resize(self.ranks.len().max(n_lists), [0; MOST]);
    }

    /// Small batches first again, for another query.
    pub(super) fn forget(&mut self) {
        self.room = FIRST;
    }

    /// Whether there is room for one more.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.n >= self.room
    }

    /// Takes a document, given units that its score does not pass.
    #[inline]
    pub(super) fn push_bounded(&mut self, low: u16, bound: u32) {
        let n = self.n % MOST;
        (self.lows[n], self.bounds[n]) = (low, bound);
        self.n = n + 1;
    }

    /// Takes a document, which has this rank in list `lead` and adds at most so many units there.
    #[inline]
    pub(super) fn push(&mut self, low: u16, (lead, rank): (usize, u32), units: u16) {
        let n = self.n % MOST;
        self.lows[n] = low;
        self.bounds[n] = u32::from(units) + 1;
        self.ranks[lead][n] = rank;
        self.n = n + 1;
    }

    /// Keeps the documents that the others allow and that can reach the limit, and scores them.
    pub(super) fn finish<'s>(
        &mut self,
        query: &Query<'_, 's>,
        (key, opened): (u32, &[Opened<'_, 's>]),
        others: Others<'_>,
        limit: u32,
        readers: &mut Readers<'s>,
    ) -> Result<impl Iterator<Item = (u32, f32)>> {
        self.bound(opened, others, limit);
        for nth in others.required {
            if self.n > 0 {
                let n_found = self.look_up(key, *nth, opened);
                self.keep(n_found, 0..opened.len());
            }
        }
        for nth in others.done.iter().chain(others.optional) {
            self.find(key, *nth, opened);
        }
        for nth in others.done {
            let mut n_left = 0;
            for (at, rank) in (0..).zip(&self.ranks[*nth][..self.n]) {
                self.kept[n_left % MOST] = at;
                n_left += usize::from(*rank == ABSENT);
            }
            self.keep(n_left, 0..opened.len());
        }
        self.scored(query, key, opened, readers)
    }

    /// Scores all documents, and takes others from now on.
    fn scored<'s>(
        &mut self,
        query: &Query<'_, 's>,
        key: u32,
        opened: &[Opened<'_, 's>],
        readers: &mut Readers<'s>,
    ) -> Result<impl Iterator<Item = (u32, f32)>> {
        if self.n > 0 {
            self.score(query, key, opened, readers)?;
        }
        let n = std::mem::take(&mut self.n);
        self.field = None;
        self.room = (2 * self.room).min(MOST);
        let docs = self.lows[..n].iter().map(move |low| key * WINDOW + u32::from(*low));
        Ok(docs.zip(self.scores[..n].iter().copied()))
    }

    /// Keeps the documents that can reach the limit, where lists that are not essential add so little that others must, and scores them.
    pub(super) fn finish_essential<'s>(
        &mut self,
        query: &Query<'_, 's>,
        window: &Divided<'_, '_, 's>,
        limit: u32,
        readers: &mut Readers<'s>,
    ) -> Result<impl Iterator<Item = (u32, f32)>> {
        let Divided { key, lists, .. } = *window;
        let others = window.others.iter().rev().map(|nth| usize::from(*nth));
        for (n_done, nth) in others.clone().enumerate() {
            if self.n > 0 {
                self.find(key, nth, lists);
                self.lower(query, (key, nth), &lists[nth], readers)?;
                let mut n_kept = 0;
                for (nth, bound) in (0..).zip(&self.bounds[..self.n]) {
                    self.kept[n_kept % MOST] = nth;
                    n_kept += usize::from(*bound >= limit);
                }
                self.keep(n_kept, others.clone().take(n_done + 1));
            }
        }
        for nth in window.essential {
            self.find(key, usize::from(*nth), lists);
        }
        self.scored(query, key, lists, readers)
    }

    /// Replaces the most that a list adds to each document in its block by what it adds.
    fn lower<'s>(
        &mut self,
        query: &Query<'_, 's>,
        (key, nth): (u32, usize),
        part: &Opened<'_, 's>,
        readers: &mut Readers<'s>,
    ) -> Result<()> {
        let Some(((_, list), codes)) = part.long().zip(part.codes_by_block()) else {
            return Ok(());
        };
        let clause = &query.clauses[part.clause];
        let (frequencies, lengths) = readers.both(part.clause, clause, list);
        self.read_k(key, clause, lengths)?;
        let of_docs = self.bounds[..self.n].iter_mut().zip(&self.lows).zip(&self.k);
        for (((bound, low), k), rank) in of_docs.zip(&self.ranks[nth]) {
            if *rank != ABSENT {
                let part = clause.weight * score_part(frequencies.get(*rank)?, *k);
                *bound += query.scale.bound(part);
            }
            let most = units(codes[usize::from(low >> 6)], part.weight);
            *bound = bound.saturating_sub(most.into());
        }
        Ok(())
    }

    /// Leaves out what lists cannot lift to the limit, or what one has nothing of in a block: one byte a list tells.
    fn bound(&mut self, opened: &[Opened<'_, '_>], others: Others<'_>, limit: u32) {
        let n = self.n;
        let (lows, bounds) = (&self.lows[..n], &mut self.bounds[..n]);
        // Added to all alike.
        let mut more = 0;
        let required = others.required.iter().map(|nth| (&opened[*nth], true));
        let optional = others.optional.iter().map(|nth| (&opened[*nth], false));
        for (part, is_required) in required.chain(optional) {
            match part.codes_by_block() {
                Some(codes) => {
                    for (bound, low) in bounds.iter_mut().zip(lows) {
                        let code = codes[usize::from(low >> 6)];
                        let sum = *bound + u32::from(units(code, part.weight));
                        let is_out = is_required && code == 0 || *bound == 0;
                        *bound = if is_out { 0 } else { sum };
                    }
                }
                None => more += u32::from(part.best),
            }
        }
        let mut n_kept = 0;
        for (nth, bound) in (0..).zip(&*bounds) {
            self.kept[n_kept % MOST] = nth;
            n_kept += usize::from(*bound > 0 && *bound + more > limit);
        }
        self.keep(n_kept, 0..opened.len());
    }

    /// Takes note of the ranks that all documents have in list `nth`.
    fn find(&mut self, key: u32, nth: usize, opened: &[Opened<'_, '_>]) {
        if self.n > 0 {
            self.ranks[nth][..self.n].fill(ABSENT);
            self.look_up(key, nth, opened);
        }
    }

    /// Takes note of the documents that list `nth` has, with their ranks; how many these are.
    fn look_up(&mut self, key: u32, nth: usize, opened: &[Opened<'_, '_>]) -> usize {
        let Batch { lows, kept, ranks, n, .. } = self;
        let (lows, ranks) = (&lows[..*n], &mut ranks[nth]);
        let mut n_kept = 0;
        let mut found = |at: usize, rank: u32| {
            kept[n_kept % MOST] = at as u16;
            ranks[at % MOST] = rank;
            n_kept += 1;
        };
        match &opened[nth].postings {
            Postings::Short { docs, .. } => {
                for (at, low) in lows.iter().enumerate() {
                    if let Ok(rank) = docs.binary_search(&(key * WINDOW + u32::from(*low))) {
                        found(at, rank as u32);
                    }
                }
            }
            Postings::Long(part, _) => {
                let first = part.first_rank;
                part.directory
                    .find_each(part.container(), lows, |at, rank| found(at, first + rank));
            }
        }
        n_kept
    }

    /// Moves what is kept to the front, also of the ranks in some lists.
    fn keep(&mut self, n_kept: usize, lists: impl Iterator<Item = usize>) {
        let kept = &self.kept[..n_kept];
        if n_kept < self.n {
            for (to, from) in kept.iter().map(|from| usize::from(*from) % MOST).enumerate() {
                self.lows[to] = self.lows[from];
                (self.bounds[to], self.k[to]) = (self.bounds[from], self.k[from]);
            }
            for nth in lists {
                let ranks = &mut self.ranks[nth];
                for (to, from) in kept.iter().enumerate() {
                    ranks[to] = ranks[usize::from(*from) % MOST];
                }
            }
        }
        self.n = n_kept;
    }

    /// Scores all documents, list after list, as each by itself.
    fn score<'s>(
        &mut self,
        query: &Query<'_, 's>,
        key: u32,
        opened: &[Opened<'_, 's>],
        readers: &mut Readers<'s>,
    ) -> Result<()> {
        let n = self.n;
        self.scores[..n].fill(0.0);
        // Lists that only filter come last.
        let scored = opened.iter().take_while(|part| part.clause < query.first_filter);
        for (nth, part) in scored.enumerate() {
            match &part.postings {
                Postings::Short { scores: of_list, .. } => {
                    for (score, rank) in self.scores[..n].iter_mut().zip(&self.ranks[nth]) {
                        if *rank != ABSENT {
                            *score += of_list[*rank as usize];
                        }
                    }
                }
                Postings::Long(_, list) => {
                    let clause = &query.clauses[part.clause];
                    let (frequencies, lengths) = readers.both(part.clause, clause, list);
                    self.read_k(key, clause, lengths)?;
                    let of_docs = self.scores[..n].iter_mut().zip(&self.k);
                    for ((score, k), rank) in of_docs.zip(&self.ranks[nth]) {
                        if *rank != ABSENT {
                            let frequency = frequencies.get(*rank)?;
                            *score += clause.weight * score_part(frequency, *k);
                        }
                    }
                }
            }
        }
        readers.n_postings += (n * opened.len()) as u64;
        Ok(())
    }

    /// Computes K of each document in the field of a clause, unless that was done for the clause before.
    fn read_k<'s>(&mut self, key: u32, clause: &Clause<'s>, lengths: &mut Norms<'s>) -> Result<()> {
        if self.field == Some(clause.scoring.field) {
            return Ok(());
        }
        for (k, low) in self.k[..self.n].iter_mut().zip(&self.lows) {
            let doc = key * WINDOW + u32::from(*low);
            if doc >= clause.lengths.n_docs() {
                return Err(past_the_end());
            }
            *k = clause.scoring.norm_cache[usize::from(lengths.code(doc)?)];
        }
        self.field = Some(clause.scoring.field);
        Ok(())
    }
}
