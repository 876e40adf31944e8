//! Documents of the short lists of a union: scored first, each as a whole.
//!
//! A list of at most 255 documents belongs to a rare word, and the documents of rare words are most of the
//! best. They are looked up in the long lists as far as those can help, so that the worst kept score is
//! known before a window of the long lists is opened; mostly none is good enough then.

use super::single_term::Finder;
use super::sum::{Readers, Sum};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::lengths::score_part;
use crate::format::ranked::{RankedList, Walk};
use crate::ids::DocId;
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::recycle::{heap_bytes, recycled};
use crate::segment::file::Section;

/// Factor for what f32 may round away of a sum.
pub(super) const ROUNDING: f64 = 1.0 + 1e-5;

/// The memory of the documents of short lists.
#[derive(Debug, Default)]
pub(super) struct RareTermsFirst {
    postings: Vec<Posting>,
    /// The documents, ascending, which were scored.
    pub(super) docs: Vec<u32>,
    /// Whether these are all.
    pub(super) is_whole: bool,
    sums: Vec<f32>,
    /// Scores in another order.
    partitioned: Vec<f32>,
    walks: Vec<LongWalk<'static, 'static>>,
    /// The numbers of these, those first that add most.
    order: Vec<usize>,
}

/// A long list on its way through the documents of the short ones.
#[derive(Debug)]
struct LongWalk<'a, 's> {
    clause: usize,
    walk: Walk<'a, 's, Section<'s>>,
    /// The most that it adds to a score.
    best: f64,
    /// The rank of the document at hand, if it has that.
    rank: Option<u32>,
}

/// A posting of a short list: its document, the number of its clause, and its place in the list, as numbers are put in order fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Posting(u64);

impl Posting {
    fn doc(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn clause(self) -> usize {
        (self.0 >> 8) as usize & 0xFF_FFFF
    }

    fn frequency(self, clauses: &[Clause<'_>]) -> u32 {
        match &clauses[self.clause()].list {
            RankedList::Short(list) => list.frequencies()[self.0 as usize & 0xFF],
            RankedList::Long(_) => 0,
        }
    }
}

heap_bytes!(RareTermsFirst { postings, docs, sums, partitioned, walks, order });

impl RareTermsFirst {
    pub(super) fn clear(&mut self) {
        self.postings.clear();
        self.docs.clear();
        self.sums.clear();
        self.is_whole = true;
    }

    /// Offers every document of a short list that can be among the best: one is looked up in the long lists that add most first,
    /// as long as those that are left can lift it. With `count` all are gathered. Returns how many were scored.
    pub(super) fn offer<'s>(
        &mut self,
        clauses: &[Clause<'s>],
        first_filter: usize,
        readers: &mut Readers<'s>,
        count: bool,
        base: u64,
        top: &mut Top,
    ) -> Result<u64> {
        let (clauses, filters) = clauses.split_at(first_filter);
        let least = if count { 0.0 } else { top.threshold() };
        self.collect(clauses, filters, readers, least)?;
        if self.docs.is_empty() {
            return Ok(0);
        }
        self.raise(top);
        let mut walks: Vec<LongWalk<'_, 's>> = recycled(std::mem::take(&mut self.walks));
        for (clause, of_clause) in clauses.iter().enumerate() {
            if let RankedList::Long(list) = &of_clause.list {
                let (walk, best) = (list.walk(), of_clause.best());
                walks.push(LongWalk { clause, walk, best, rank: None });
            }
        }
        let order = &mut self.order;
        order.clear();
        order.extend(0..walks.len());
        order.sort_unstable_by(|a, b| walks[*b].best.total_cmp(&walks[*a].best));
        let rest: f64 = walks.iter().map(|list| list.best).sum();
        let mut n_scored = 0;
        let mut of_doc = self.postings.chunk_by(|a, b| a.doc() == b.doc());
        'docs: for (doc, short) in self.docs.iter().zip(&self.sums) {
            let postings = of_doc.next().unwrap_or_default();
            let (mut bound, least) = (f64::from(*short) + rest, f64::from(top.threshold()));
            if bound * ROUNDING < least {
                continue;
            }
            budget::work(ns::DOC_OF_SHORT_SCORED * (walks.len() + 1) as u64)?;
            for nth in &*order {
                let LongWalk { walk, best, rank, .. } = &mut walks[*nth];
                *rank = walk.rank(*doc)?;
                if rank.is_none() {
                    bound -= *best;
                    if bound * ROUNDING < least {
                        continue 'docs;
                    }
                }
            }
            // In the order of the clauses, as every score.
            let mut sum = Sum::of(*doc, readers);
            let mut next = postings.iter().peekable();
            for LongWalk { clause, rank, .. } in &walks {
                let Some(rank) = *rank else { continue };
                while let Some(before) = next.next_if(|posting| posting.clause() < *clause) {
                    sum.add_frequency(clauses, before.clause(), before.frequency(clauses))?;
                }
                sum.add_posting(clauses, *clause, rank)?;
            }
            for posting in next {
                sum.add_frequency(clauses, posting.clause(), posting.frequency(clauses))?;
            }
            n_scored += 1;
            top.push(sum.score(), DocId(base + u64::from(*doc)));
        }
        self.walks = recycled(walks);
        Ok(n_scored)
    }

    /// Gathers the documents that `filters` have, too, and what the short lists alone give each. Postings without which all others
    /// together are not good enough are left out: such a document is none of the best, whatever is found of it.
    fn collect<'s>(
        &mut self,
        clauses: &[Clause<'s>],
        filters: &[Clause<'_>],
        readers: &mut Readers<'s>,
        least: f32,
    ) -> Result<()> {
        self.clear();
        let RareTermsFirst { postings, docs, sums, is_whole, .. } = self;
        let all: f64 = clauses.iter().map(Clause::best).sum();
        for (clause, of_clause) in (0..).zip(clauses) {
            if let RankedList::Short(list) = &of_clause.list {
                let needed = f64::from(least) / ROUNDING - (all - of_clause.best());
                let fewest = of_clause.least_frequency(needed);
                let places = (0..).zip(list.docs().iter().zip(list.frequencies()));
                let good = places.filter(|(_, (_, frequency))| **frequency >= fewest);
                let posting =
                    |(place, doc): (u64, u32)| Posting(u64::from(doc) << 32 | clause << 8 | place);
                postings.extend(good.map(|(place, (doc, _))| posting((place, *doc))));
                *is_whole &= fewest <= 1;
            }
        }
        postings.sort_unstable();
        for filter in filters {
            let (mut finder, mut last, mut n_kept) = (Finder::of(&filter.list), None, 0);
            for at in 0..postings.len() {
                let posting = postings[at];
                let has = match last {
                    Some((doc, has)) if doc == posting.doc() => has,
                    _ => finder.rank(posting.doc())?.is_some(),
                };
                last = Some((posting.doc(), has));
                postings[n_kept] = posting;
                n_kept += usize::from(has);
            }
            postings.truncate(n_kept);
        }
        for of_doc in postings.chunk_by(|a, b| a.doc() == b.doc()) {
            let (doc, mut sum, mut known) = (of_doc[0].doc(), 0.0f32, None);
            for posting in of_doc {
                let clause = posting.clause();
                let k = readers.known_k(clauses, clause, doc, &mut known)?;
                sum += clauses[clause].weight * score_part(posting.frequency(clauses), k);
            }
            docs.push(doc);
            sums.push(sum);
        }
        Ok(())
    }

    /// Tells how good the best are at least: long lists only add to these sums.
    fn raise(&mut self, top: &mut Top) {
        let k = top.k();
        if (1..=self.sums.len()).contains(&k) {
            let sums = &mut self.partitioned;
            sums.clear();
            sums.extend_from_slice(&self.sums);
            let (_, kth, _) = sums.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
            top.raise(*kth);
        }
    }
}
