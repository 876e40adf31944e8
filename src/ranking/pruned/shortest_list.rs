//! Documents that all lists have, if one is short. Its documents are looked up in the others.
//!
//! At most 255 documents are looked up, in the shorter lists first, and few are left after the first. The part of the
//! shortest list is known of each; of the others only the best.

use super::pruning::Pruning;
use super::rare_terms::ROUNDING;
use super::single_term::Finder;
use super::sum::{Readers, Sum};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::ranked::RankedList;
use crate::ids::DocId;
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::recycle::{heap_bytes, recycled};

/// The memory of looking documents up.
#[derive(Debug, Default)]
pub(super) struct ShortestListAnd {
    /// The numbers of the clauses, the shortest list first.
    order: Vec<usize>,
    /// By clause the rank of the document at hand in the list, and what finds it there.
    ranks: Vec<u32>,
    finders: Vec<Finder<'static, 'static>>,
}

heap_bytes!(ShortestListAnd { order, ranks, finders });

impl ShortestListAnd {
    /// Offers every document that all clauses have, one of which has a short list, or with `count` false those that can be among
    /// the best.
    pub(super) fn offer<'s>(
        &mut self,
        clauses: &[Clause<'s>],
        readers: &mut Readers<'s>,
        count: bool,
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
        let Some(first) = self.order.first().map(|nth| &clauses[*nth]) else {
            return Ok(Pruning::nothing());
        };
        let RankedList::Short(lead) = &first.list else { return Ok(Pruning::nothing()) };
        let rest: f64 = self.order[1..].iter().map(|nth| clauses[*nth].best()).sum();
        let (order, ranks) = (&self.order, &mut self.ranks);
        ranks.clear();
        ranks.resize(clauses.len(), 0);
        let mut finders: Vec<Finder<'_, 's>> = recycled(std::mem::take(&mut self.finders));
        finders.extend(clauses.iter().map(|clause| Finder::of(&clause.list)));
        budget::work(ns::WINDOW_BOUNDS * clauses.len() as u64)?;
        let (mut n, mut n_skipped, mut at, mut least) = (0, 0, 0.0, 0);
        'docs: for (place, (&doc, &frequency)) in
            (0..).zip(lead.docs().iter().zip(lead.frequencies()))
        {
            // Most are not good enough in segments behind the first.
            if !count && top.threshold() != at {
                at = top.threshold();
                least = first.least_frequency(f64::from(at) / ROUNDING - rest);
            }
            if frequency < least {
                n_skipped += 1;
                continue;
            }
            ranks[order[0]] = place;
            for &nth in &order[1..] {
                let Some(rank) = finders[nth].rank(doc)? else { continue 'docs };
                ranks[nth] = rank;
            }
            budget::work(ns::POSTING_OF_FEW * clauses.len() as u64)?;
            let mut sum = Sum::of(doc, readers);
            for (nth, rank) in ranks.iter().enumerate() {
                sum.add_posting(clauses, nth, *rank)?;
            }
            top.push(sum.score(), DocId(base + u64::from(doc)));
            n += 1;
        }
        self.finders = recycled(finders);
        let matching = (n_skipped == 0).then_some(n);
        Ok(Pruning { documents_scored: n, matching, ..Pruning::default() })
    }
}
