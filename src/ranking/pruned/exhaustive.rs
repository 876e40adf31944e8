//! Scores every document of a window that matches, list after list.
//!
//! Pruned search must agree with this, and leaves to it what has more clauses than its bounds have room for, weights that are no
//! numbers to compute bounds with, and windows of which bounds leave out too little: each list is gone through once, so a posting
//! takes a nanosecond or two however many lists there are.

use super::bounds::{CLAUSES_MAX, ScoreQuantizer};
use super::parts::{Opened, Postings, WindowPostings};
use super::query::{Query, Run};
use super::sum::{Readers, past_the_end};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::plan::WINDOW;
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::recycle::{heap_bytes, recycled};
use crate::simd::scores::BLOCK;
use crate::simd::sums::BLOCKS;
use crate::simd::windows::{self, ABSENT, DOCS, ListParts, PartTable};

const _: () = assert!(DOCS == WINDOW as usize);

/// The sums of one window.
#[derive(Debug, Default)]
pub(super) struct WholeWindow {
    scores: Vec<f32>,
    /// Table of the parts of each clause, as far as they were computed: the flags lie apart, as each search forgets
    /// them.
    tables: Vec<PartTable>,
    filled: Vec<bool>,
    /// Documents of a container that is no array, without what they have in common.
    lows: Vec<[u8; 2]>,
}

heap_bytes!(WholeWindow { scores, tables, filled, lows });

impl WholeWindow {
    /// Forgets the lists of another query.
    pub(super) fn start(&mut self) {
        self.filled.clear();
    }

    /// Adds up what some lists give the documents of these blocks of a window; if all that are open do, in the order of the clauses, these
    /// are scores.
    pub(super) fn score<'o, 's: 'o>(
        &mut self,
        Run { query, readers, .. }: &mut Run<'_, 's>,
        (key, blocks): (u32, impl Iterator<Item = usize>),
        mut lists: impl Iterator<Item = &'o Opened<'o, 's>>,
    ) -> Result<()> {
        let clauses = query.clauses;
        self.scores.resize(DOCS, ABSENT);
        let of_blocks = self.scores.as_chunks_mut::<BLOCK>().0;
        blocks.for_each(|block| of_blocks[block % BLOCKS] = [ABSENT; BLOCK]);
        let n_tables = clauses.len().min(CLAUSES_MAX).max(self.tables.len());
        self.tables.resize(n_tables, [0.0; _]);
        self.filled.resize(n_tables, false);
        lists.try_for_each(|part| {
            budget::work(ns::POSTING_SCORED * u64::from(part.n_postings()))?;
            self.add(&clauses[part.clause], key, part, readers)
        })
    }

    /// Adds what one list has in the window.
    fn add<'s>(
        &mut self,
        clause: &Clause<'s>,
        key: u32,
        part: &Opened<'_, 's>,
        readers: &mut Readers<'s>,
    ) -> Result<()> {
        let WholeWindow { scores, tables, filled, lows } = self;
        let Some(scores) = scores.first_chunk_mut() else { return Ok(()) };
        readers.n_postings += u64::from(part.n_postings());
        let (postings, list) = match &part.postings {
            Postings::Short { docs, scores: of_list, .. } => {
                for (doc, more) in docs.iter().zip(*of_list) {
                    scores[*doc as usize % DOCS] += more;
                }
                return Ok(());
            }
            Postings::Long(postings, list) => (postings, list),
        };
        let lows = postings.container().values(lows);
        let (first, n_docs) = (key * WINDOW, clause.lengths.n_docs());
        let end = first.saturating_add(WINDOW).min(n_docs);
        let codes = clause.lengths.codes(first.min(end)..end)?;
        if lows.last().is_some_and(|low| usize::from(u16::from_le_bytes(*low)) >= codes.len()) {
            return Err(past_the_end());
        }
        let norm_cache = &clause.scoring.norm_cache;
        let table = tables.get_mut(part.clause).map(|table| {
            if !std::mem::replace(&mut filled[part.clause], true) {
                windows::fill(table, clause.weight, norm_cache);
            }
            &*table
        });
        let parts = ListParts { weight: clause.weight, norm_cache, table };
        let (frequencies, _) = readers.both(part.clause, clause, list);
        frequencies.add_all(scores, (lows, postings.first_rank), &codes, parts)
    }

    /// Documents with sums that are not below what is said of their blocks.
    pub(super) fn at_least<'a>(
        &'a self,
        blocks: impl Iterator<Item = (usize, f32)> + 'a,
    ) -> impl Iterator<Item = (u32, f32)> + 'a {
        windows::good(self.scores.as_chunks().0, blocks)
    }

    /// Offers the documents of some blocks; how many these are, less those that were offered before.
    pub(super) fn offer(
        &self,
        query: &Query<'_, '_>,
        key: u32,
        blocks: impl Iterator<Item = usize> + Clone,
        top: &mut Top,
    ) -> u64 {
        let least = top.threshold();
        for (low, score) in self.at_least(blocks.clone().map(|block| (block, least))) {
            query.push(score, key * WINDOW + low, top);
        }
        let of_blocks = self.scores.as_chunks().0;
        let n: usize = blocks.map(|block| windows::count(&of_blocks[block % BLOCKS])).sum();
        let n_before = query.offered.iter().filter(|doc| **doc / WINDOW == key).count();
        n.saturating_sub(n_before) as u64
    }
}

/// Offers every document that matches any clause.
pub(super) fn offer(
    run: &mut Run<'_, '_>,
    (parts, opened): (&mut WindowPostings, &mut Vec<Opened<'static, 'static>>),
    whole: &mut WholeWindow,
    top: &mut Top,
) -> Result<()> {
    let clauses = run.query.clauses;
    parts.take_stock(clauses, |_| false, true, top)?;
    parts.weigh(&ScoreQuantizer::PRESENCE);
    parts.divide(clauses, 1, 0);
    whole.start();
    let mut of_window = recycled(std::mem::take(opened));
    for window in &parts.windows {
        of_window.clear();
        parts.open(clauses, window, &mut of_window)?;
        whole.score(run, (window.key, 0..BLOCKS), of_window.iter())?;
        run.pruning.documents_scored += whole.offer(&run.query, window.key, 0..BLOCKS, top);
    }
    *opened = recycled(of_window);
    run.pruning.matching = Some(run.pruning.documents_scored);
    Ok(())
}
