//! Documents with one word of the query only. Where texts are short, most of these score the same as others.
//!
//! Where a list says that its codes tell scores apart, a code that was met says what every document with it scores
//! that has no other word of the query. Once that is not good enough any more, such documents are left
//! alone: of those that are equally good the first are kept.

use super::bound::Weighed;
use crate::format::ranked::RankedList;
use crate::ids::DocId;
use crate::ranking::node::Node;
use crate::ranking::top::Top;

/// The place of scores that are not kept.
const NONE: usize = usize::MAX;

/// The scores that were met, by clause and code.
#[derive(Debug, Default)]
pub(super) struct Equal {
    /// By clause the place of its scores, [`NONE`] for lists whose codes do not tell; empty where no list has
    /// any.
    places: Vec<usize>,
    scores: Vec<[f32; 256]>,
    /// Whether a clause adds to a score.
    adds: Vec<bool>,
}

impl Equal {
    /// No score is less than 0.
    const UNKNOWN: f32 = -1.0;

    /// Begins a query of which nothing was met yet.
    pub(super) fn start(&mut self, weighed: &Weighed<'_, '_>) {
        let Equal { places, scores, adds } = self;
        places.clear();
        scores.clear();
        adds.clear();
        let tree = weighed.tree;
        if !adds_terms_only(weighed.root) {
            return;
        }
        adds.extend(tree.clauses.iter().map(|clause| clause.weight > 0.0));
        let tells = tree.clauses.iter().map(|clause| match &clause.list {
            // Codes were computed with other numbers where the snapshot has several segments.
            RankedList::Long(list) if clause.weight > 0.0 => {
                list.codes_tell() && clause.lengths.bm25() == clause.scoring.bm25
            }
            _ => false,
        });
        places.extend(tells.map(|tells| match tells {
            true => {
                scores.push([Self::UNKNOWN; 256]);
                scores.len() - 1
            }
            false => NONE,
        }));
        if scores.is_empty() {
            places.clear();
        }
    }

    /// Bytes that it holds on to.
    pub(super) fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<usize>()
            + self.scores.capacity() * size_of::<[f32; 256]>()
            + self.adds.capacity()
    }

    #[inline]
    fn scores(&self, clause: usize) -> Option<&[f32; 256]> {
        self.scores.get(*self.places.get(clause)?)
    }

    /// Whether anything can be ruled out at all.
    #[inline]
    pub(super) fn is_possible(&self) -> bool {
        !self.places.is_empty()
    }

    /// Whether a clause adds to a score, where anything can be ruled out.
    #[inline]
    pub(super) fn adds(&self, clause: usize) -> bool {
        self.adds.get(clause).is_some_and(|adds| *adds)
    }

    /// Takes note of what a posting scores; `code` gives its code.
    #[inline]
    pub(super) fn note(&mut self, clause: usize, score: f32, code: impl FnOnce() -> u8) {
        if let Some(place) = self.places.get(clause)
            && let Some(scores) = self.scores.get_mut(*place)
        {
            scores[usize::from(code())] = score;
        }
    }

    /// Whether no document from `doc` on is good enough that has this code, or a lower one, and no other word.
    #[inline]
    pub(super) fn rules_out(&self, clause: usize, code: u8, doc: DocId, top: &Top) -> bool {
        self.scores(clause).is_some_and(|scores| {
            let score = scores[usize::from(code)];
            score >= 0.0 && !top.would_take(score, doc)
        })
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
