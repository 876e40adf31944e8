//! Scores that were met and are not good enough any more.
//!
//! If texts are short, there are few different scores and many documents with the best of them. There a list says from
//! which code on its codes tell score parts apart: once the score behind a code is known, so is that of all documents
//! that have nothing but this word and this code, and a bound of those with a lower one. Of equal ones the first are
//! wanted, so nearly all can be left alone without being looked at.

use crate::format::ranked::{RankedList, RankedLong};
use crate::ids::DocId;
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;
use crate::segment::file::Section;
use crate::weight::node::Node;

/// Scores of documents with one word, by its code.
#[derive(Debug)]
pub(super) struct TieCache {
    /// The most that a document with this code or a lower one scores; infinite where nothing is known.
    bounds: [f32; 256],
    /// The code from which on codes tell scores apart, where there is one, and a score part that all of these exceed.
    from: Option<(u8, f32)>,
}

impl Default for TieCache {
    fn default() -> Self {
        TieCache { bounds: [f32::INFINITY; 256], from: None }
    }
}

impl TieCache {
    /// The code from which on one of the list tells what a document with it scores that has no other word.
    fn told_from(clause: &Clause<'_>) -> Option<u8> {
        // Codes were computed with other numbers where the snapshot has several segments.
        let is_same = clause.lengths.bm25() == clause.scoring.bm25;
        match &clause.list {
            RankedList::Long(list) if is_same => list.told_from(),
            RankedList::Long(_) | RankedList::Short(_) => None,
        }
    }

    /// Begins a query of which nothing was met yet: one cache for each clause.
    pub(super) fn start_all(caches: &mut Vec<TieCache>, clauses: &[Clause<'_>]) {
        caches.resize_with(caches.len().max(clauses.len()), TieCache::default);
        caches.iter_mut().zip(clauses).for_each(|(cache, clause)| cache.start(clause));
    }

    /// Forgets everything, for another list.
    fn start(&mut self, clause: &Clause<'_>) {
        self.from = None;
        if let (Some(from), RankedList::Long(list)) = (Self::told_from(clause), &clause.list) {
            let below = f64::from(list.max_part()) * f64::from(from - 1) / 255.0;
            self.from = Some((from, below as f32));
            self.bounds.fill(f32::INFINITY);
        }
    }

    /// Whether a document with this code tells what others with it score.
    #[inline]
    pub(super) fn tells(&self, code: u8) -> bool {
        self.from.is_some_and(|(from, _)| code >= from)
    }

    /// Takes note of the score of a document with this score part.
    #[inline]
    pub(super) fn note(&mut self, list: &RankedLong<'_, Section<'_>>, part: f32, score: f32) {
        if self.from.is_some_and(|(_, below)| part >= below) {
            self.note_code(list.code_of(part), score);
        }
    }

    /// Takes note of the score of a document with this code.
    #[inline]
    pub(super) fn note_code(&mut self, code: u8, score: f32) {
        let (lower, _) = self.bounds.split_at_mut(usize::from(code) + 1);
        if self.from.is_some_and(|(from, _)| code >= from)
            && lower.last().is_some_and(|bound| score < *bound)
        {
            // Bounds never fall from code to code, so that those above the score are the last.
            let start = lower.partition_point(|bound| *bound <= score);
            lower[start..].fill(score);
        }
    }

    /// Whether no document from `doc` on with this code or a lower one is good enough.
    #[inline]
    pub(super) fn rules_out(&self, code: u8, doc: DocId, top: &Top) -> bool {
        self.from.is_some() && !top.would_take(self.bounds[usize::from(code)], doc)
    }
}

/// The scores that were met by a tree, by clause and code. Only a document with one word of the query is told of by a code.
#[derive(Debug, Default)]
pub(super) struct TieCaches {
    caches: Vec<TieCache>,
    /// Whether a clause adds to a score; empty where no code tells what a document scores.
    adds: Vec<bool>,
}

heap_bytes!(TieCaches { caches, adds });

impl TieCaches {
    /// Begins a query of which nothing was met yet.
    pub(super) fn start(&mut self, root: &Node, clauses: &[Clause<'_>]) {
        let TieCaches { caches, adds } = self;
        adds.clear();
        if adds_terms_only(root)
            && clauses.iter().any(|clause| TieCache::told_from(clause).is_some())
        {
            adds.extend(clauses.iter().map(|clause| clause.weight > 0.0));
            TieCache::start_all(caches, clauses);
        }
    }

    /// Whether anything can be ruled out at all.
    #[inline]
    pub(super) fn is_possible(&self) -> bool {
        !self.adds.is_empty()
    }

    /// Whether a clause adds to a score, where anything can be ruled out.
    #[inline]
    pub(super) fn adds(&self, clause: usize) -> bool {
        self.adds.get(clause).is_some_and(|adds| *adds)
    }

    /// Takes note of what a document with this score part scores.
    #[inline]
    pub(super) fn note(
        &mut self,
        clause: usize,
        list: &RankedLong<'_, Section<'_>>,
        part: f32,
        score: f32,
    ) {
        if self.is_possible() {
            self.caches[clause].note(list, part, score);
        }
    }

    /// Whether no document from `doc` on is good enough that has this code, or a lower one, and no other word.
    #[inline]
    pub(super) fn rules_out(&self, clause: usize, code: u8, doc: DocId, top: &Top) -> bool {
        self.is_possible() && self.caches[clause].rules_out(code, doc, top)
    }
}

/// Whether a document with one term scores what the term does.
fn adds_terms_only(node: &Node) -> bool {
    match node {
        Node::Term(_) => true,
        Node::Phrase(_) | Node::Combined(_) | Node::Nearest { .. } => false,
        Node::Set { score, .. } => *score == 0.0,
        Node::Sum { must, should, .. } => must.iter().chain(should).all(adds_terms_only),
        Node::Max { any, .. } => any.iter().all(adds_terms_only),
    }
}
