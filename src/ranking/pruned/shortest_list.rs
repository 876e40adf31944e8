//! Documents that all lists have, where one of them is short: its documents are looked up in the others.
//!
//! At most 255 documents are looked up, list by list from the shortest on, and few are left after the
//! first: bounds would cost more than the scores that they spare.

use super::pruning::Pruning;
use super::single_term::Finder;
use super::sum::{Readers, Sum};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::ranked::RankedList;
use crate::ids::DocId;
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;

/// The memory of looking documents up.
#[derive(Debug, Default)]
pub(super) struct ShortestListAnd {
    /// The numbers of the clauses, the shortest list first.
    order: Vec<usize>,
    /// Places in the shortest list of the documents that all lists so far have.
    left: Vec<u32>,
    /// By clause and place: the rank of the document in the list.
    ranks: Vec<u32>,
}

heap_bytes!(ShortestListAnd { order, left, ranks });

impl ShortestListAnd {
    /// Offers every document that all clauses have, one of which has a short list.
    pub(super) fn offer<'s>(
        &mut self,
        clauses: &[Clause<'s>],
        readers: &mut Readers<'s>,
        base: u64,
        top: &mut Top,
    ) -> Result<Pruning> {
        self.order.clear();
        self.order.extend(0..clauses.len());
        // Short ones first, also where others say they were as short.
        self.order.sort_unstable_by_key(|nth| match &clauses[*nth].list {
            RankedList::Short(list) => (false, list.docs().len() as u64),
            RankedList::Long(list) => (true, list.list().cardinality()),
        });
        let Some(RankedList::Short(lead)) = self.order.first().map(|nth| &clauses[*nth].list)
        else {
            return Ok(Pruning::nothing());
        };
        let docs = lead.docs();
        self.left.clear();
        self.left.extend(0..docs.len() as u32);
        self.ranks.clear();
        self.ranks.resize(clauses.len() * docs.len(), 0);
        for &nth in &self.order[1..] {
            budget::work(ns::WINDOW_BOUNDS)?;
            let ranks = &mut self.ranks[nth * docs.len()..][..docs.len()];
            let mut finder = Finder::of(&clauses[nth].list);
            let mut n_left = 0;
            for at in 0..self.left.len() {
                let place = self.left[at];
                if let Some(rank) = finder.rank(docs[place as usize])? {
                    ranks[place as usize] = rank;
                    self.left[n_left] = place;
                    n_left += 1;
                }
            }
            self.left.truncate(n_left);
            if self.left.is_empty() {
                break;
            }
        }
        self.score(clauses, docs, readers, base, top)?;
        let n = self.left.len() as u64;
        Ok(Pruning { documents_scored: n, matching: Some(n), ..Pruning::default() })
    }

    /// Scores the documents that are left; `docs` are those of the shortest list.
    fn score<'s>(
        &self,
        clauses: &[Clause<'s>],
        docs: &[u32],
        readers: &mut Readers<'s>,
        base: u64,
        top: &mut Top,
    ) -> Result<()> {
        budget::work(ns::POSTING_OF_FEW * (self.left.len() * clauses.len()) as u64)?;
        for &place in &self.left {
            let doc = docs[place as usize];
            let mut sum = Sum::of(doc, readers);
            for (nth, clause) in clauses.iter().enumerate() {
                let is_lead = self.order.first() == Some(&nth);
                let rank =
                    if is_lead { place } else { self.ranks[nth * docs.len() + place as usize] };
                match &clause.list {
                    RankedList::Short(list) => {
                        sum.add_frequency(clauses, nth, list.frequencies()[rank as usize])?;
                    }
                    RankedList::Long(list) => sum.add_posting(clauses, nth, list, rank)?,
                }
            }
            top.push(sum.score(), DocId(base + u64::from(doc)));
        }
        Ok(())
    }
}
