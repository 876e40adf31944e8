//! Documents with one word of the query only. Where texts are short, most of these score the same as others.
//!
//! Where a list says that its codes tell scores apart, a code that was met says what every document with it scores
//! that has no other word of the query. Once that is not good enough any more, such documents are left
//! alone: of those that are equally good the first are kept.

use super::bound::UpperBounds;
use crate::format::ranked::RankedLong;
use crate::ids::DocId;
use crate::ranking::node::Node;
use crate::ranking::pruned::tie_cache::TieCache;
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;
use crate::segment::file::Section;

/// The scores that were met, by clause and code.
#[derive(Debug, Default)]
pub(super) struct TieCaches {
    caches: Vec<TieCache>,
    /// Whether a clause adds to a score; empty where no code tells what a document scores.
    adds: Vec<bool>,
}

heap_bytes!(TieCaches { caches, adds });

impl TieCaches {
    /// Begins a query of which nothing was met yet.
    pub(super) fn start(&mut self, weighed: &UpperBounds<'_, '_>) {
        let TieCaches { caches, adds } = self;
        adds.clear();
        let clauses = &weighed.tree.clauses;
        if adds_terms_only(weighed.root)
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
        Node::Phrase(_) | Node::Combined(_) => false,
        Node::Set { score, .. } => *score == 0.0,
        Node::Sum { must, should, .. } => must.iter().chain(should).all(adds_terms_only),
        Node::Max { any, .. } => any.iter().all(adds_terms_only),
    }
}
