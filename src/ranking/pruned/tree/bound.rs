//! Upper bounds of a query tree's score for a window, a block, or a document. They are made from its lists and sets.

use super::lists::Tree;
use crate::bitmap::Container;
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::ids::DocId;
use crate::plan::WINDOW;
use crate::ranking::pruned::bounds::ScoreQuantizer;
use crate::ranking::pruned::parts::{Opened, WindowPostings};
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;
use crate::simd::sums::BLOCKS;
use crate::weight::node::Node;

/// A tree whose parts have units.
pub(super) struct UpperBounds<'q, 's> {
    pub(super) tree: &'q Tree<'s>,
    /// Tree that is looked for: the query, or another one of the same parts.
    pub(super) root: &'q Node,
    pub(super) scale: ScoreQuantizer,
    /// The most that a document scores, where that is known.
    greatest: Option<f32>,
    pub(super) units: PartUnits,
}

/// Units of parts that are no lists; kept from one query to the next.
#[derive(Debug, Default)]
pub(super) struct PartUnits {
    /// Addend of being in a set.
    pub(super) sets: Vec<u16>,
    /// Maximum that a phrase adds, whatever its words say.
    pub(super) phrases: Vec<u16>,
    /// Maximum that a word of several fields adds.
    pub(super) combined: Vec<u16>,
    /// For each clause 0.
    nothing: Vec<u16>,
    /// Whether documents of a clause are results.
    suffices: Vec<bool>,
}

heap_bytes!(PartUnits { sets, phrases, combined, nothing, suffices });

/// Units that a list or a set has at most where one looks; 0 where it has nothing.
pub(super) trait Bounds {
    fn list(&mut self, clause: usize) -> u32;
    fn set(&mut self, set: usize) -> u32;
}

impl<'q, 's> UpperBounds<'q, 's> {
    /// Takes stock of the lists, and finds units for all parts. Tells `top` how good the best are at least.
    pub(super) fn new(
        tree: &'q Tree<'s>,
        root: &'q Node,
        parts: &mut WindowPostings,
        top: &mut Top,
        memory: &mut PartUnits,
    ) -> Result<Self> {
        let mut of_parts = std::mem::take(memory);
        let PartUnits { sets, phrases, combined, nothing, suffices } = &mut of_parts;
        suffices.clear();
        suffices.resize(tree.clauses.len(), false);
        root.each_sufficient(&mut |term| {
            if let Some(clause) = tree.terms[term] {
                suffices[clause] = true;
            }
        });
        parts.take_stock(&tree.clauses, |clause| suffices[clause], true, top)?;
        let n = tree.clauses.len() + tree.sets.len() + tree.phrases.len() + tree.combined.len();
        let scale =
            ScoreQuantizer::of(most(tree, root, parts), n).unwrap_or(ScoreQuantizer::PRESENCE);
        parts.weigh(&scale);
        let greatest = root.greatest(&|part| greatest(tree, part));
        sets.clear();
        sets.resize(tree.sets.len(), 0);
        weigh_sets(tree, root, &scale, sets);
        phrases.clear();
        phrases.extend(tree.phrases.iter().map(|phrase| match phrase {
            Some(phrase) => scale.exact(phrase.clause.weight),
            None => 0,
        }));
        combined.clear();
        combined.extend(tree.combined.iter().map(|it| scale.exact(it.word.weight)));
        nothing.clear();
        nothing.resize(tree.clauses.len(), 0);
        Ok(UpperBounds { tree, root, scale, greatest, units: of_parts })
    }

    /// Whether no document from `first` on is good enough: so many score the most there is that none enters behind them.
    #[inline]
    pub(super) fn is_over(&self, first: u32, top: &Top) -> bool {
        let first = DocId(self.tree.base + u64::from(first));
        self.greatest.is_some_and(|score| !top.would_take(score, first))
    }

    /// The windows of the segment, if there can be matches that no list has.
    pub(super) fn n_windows_without_lists(&self) -> u32 {
        let n_windows = self.tree.n_docs.div_ceil(WINDOW);
        // Without sets all windows are the same to whatever needs no list.
        let n_different = if self.tree.sets.is_empty() { n_windows.min(1) } else { n_windows };
        let is_possible = (0..n_different).any(|key| {
            self.bound(self.root, &mut OfWindow { weighed: self, key, best: &self.units.nothing })
                > 0
        });
        if is_possible { n_windows } else { 0 }
    }

    /// Units that nothing passes which has no more than `bounds` says; 0 where nothing can match.
    pub(super) fn bound(&self, node: &Node, bounds: &mut impl Bounds) -> u32 {
        match node {
            Node::Term(nth) => self.tree.terms[*nth].map_or(0, |clause| bounds.list(clause)),
            Node::Phrase(nth) => self.bound_phrase(*nth, bounds),
            Node::Combined(nth) => {
                let clauses = self.tree.combined[*nth].clauses.clone();
                let sum: u32 = clauses.map(|clause| bounds.list(clause)).sum();
                sum.min(self.units.combined[*nth].into())
            }
            Node::Set { set, .. } | Node::Nearest { set, .. } => bounds.set(*set),
            Node::Sum { must, should, minimum, .. } => {
                let mut sum = 0;
                for part in must {
                    match self.bound(part, bounds) {
                        0 => return 0,
                        units => sum += units,
                    }
                }
                let others: u32 = should.iter().map(|part| self.bound(part, bounds)).sum();
                if others == 0 && *minimum > 0 {
                    return 0;
                }
                // A sum of nothing matches, too.
                (sum + others).max(1)
            }
            Node::Max { any, tie } => {
                let (mut best, mut others) = (0, 0);
                for part in any {
                    let units = self.bound(part, bounds);
                    others += units.min(best);
                    best = best.max(units);
                }
                best + (tie * others as f32).ceil() as u32
            }
        }
    }

    fn bound_phrase(&self, nth: usize, bounds: &mut impl Bounds) -> u32 {
        let Some(phrase) = &self.tree.phrases[nth] else { return 0 };
        let mut least = u32::from(self.units.phrases[nth]);
        for clause in phrase.words.clone() {
            match bounds.list(clause) {
                0 => return 0,
                units if phrase.is_exact => least = least.min(units),
                _ => {}
            }
        }
        least
    }
}

/// The best score that any document can have.
fn most(tree: &Tree<'_>, node: &Node, parts: &WindowPostings) -> f64 {
    let sum = |nodes: &[Node]| nodes.iter().map(|node| most(tree, node, parts)).sum::<f64>();
    match node {
        Node::Term(nth) => tree.terms[*nth].map_or(0.0, |clause| parts.best(clause)),
        Node::Phrase(nth) => match &tree.phrases[*nth] {
            // Room for the units of any of its words.
            Some(phrase) => f64::from(phrase.clause.weight) * (1.0 + 1e-6),
            None => 0.0,
        },
        Node::Combined(nth) => {
            let clauses = tree.combined[*nth].clauses.clone();
            clauses.map(|clause| parts.best(clause)).sum()
        }
        Node::Nearest { nth, .. } => f64::from(tree.neighbors[*nth].greatest),
        Node::Set { score, .. } => f64::from(*score),
        Node::Sum { must, should, .. } => sum(must) + sum(should),
        Node::Max { any, tie } => {
            let best = any.iter().map(|node| most(tree, node, parts)).fold(0.0, f64::max);
            best + f64::from(*tie) * (sum(any) - best)
        }
    }
}

fn weigh_sets(tree: &Tree<'_>, node: &Node, scale: &ScoreQuantizer, sets: &mut [u16]) {
    match node {
        Node::Term(_) | Node::Phrase(_) | Node::Combined(_) => {}
        Node::Nearest { nth, set } => sets[*set] = scale.exact(tree.neighbors[*nth].greatest),
        Node::Set { set, score, .. } => sets[*set] = scale.exact(*score),
        Node::Sum { must, should, must_not, .. } => {
            let all = must.iter().chain(should).chain(must_not);
            all.for_each(|part| weigh_sets(tree, part, scale, sets));
        }
        Node::Max { any, .. } => any.iter().for_each(|part| weigh_sets(tree, part, scale, sets)),
    }
}

/// The most that a part without parts scores, where that is known: of sets, and of lists that add nothing.
fn greatest(tree: &Tree<'_>, part: &Node) -> Option<f32> {
    match part {
        Node::Nearest { nth, .. } => Some(tree.neighbors[*nth].greatest),
        Node::Set { set, score, .. } => match tree.sets[*set].len(tree.n_docs) {
            0 => Some(0.0),
            _ => Some(*score),
        },
        Node::Term(nth) => {
            let weight = tree.terms[*nth].map_or(0.0, |clause| tree.clauses[clause].weight);
            (weight == 0.0).then_some(0.0)
        }
        _ => None,
    }
}

/// A window, by the best of each list.
pub(super) struct OfWindow<'a, 'q, 's> {
    pub(super) weighed: &'a UpperBounds<'q, 's>,
    pub(super) key: u32,
    pub(super) best: &'a [u16],
}

impl Bounds for OfWindow<'_, '_, '_> {
    fn list(&mut self, clause: usize) -> u32 {
        self.best[clause].into()
    }

    fn set(&mut self, set: usize) -> u32 {
        let is_there = match &*self.weighed.tree.sets[set] {
            DocIdSet::Everything => self.key < self.weighed.tree.n_docs.div_ceil(WINDOW),
            DocIdSet::Some(windows) => windows.window(self.key).is_some(),
        };
        if is_there { self.weighed.units.sets[set].into() } else { 0 }
    }
}

/// A window whose lists are open.
#[derive(Clone, Copy)]
pub(super) struct View<'a, 'q, 's> {
    pub(super) weighed: &'q UpperBounds<'q, 's>,
    pub(super) key: u32,
    pub(super) opened: &'a [Opened<'q, 's>],
    /// Place of each clause in `opened`; beyond its end where it has nothing here.
    pub(super) places: &'a [u32],
    /// Codes by block that were made for the lists without; nothing where there are few blocks to look at.
    pub(super) spread: &'a [[u8; BLOCKS]],
    /// Place of each of `opened` in `spread`.
    pub(super) spread_places: &'a [u32],
}

impl<'a, 'q, 's> View<'a, 'q, 's> {
    /// Postings of a clause here.
    #[inline]
    pub(super) fn list(&self, clause: usize) -> Option<&'a Opened<'q, 's>> {
        self.opened.get(self.places[clause] as usize)
    }

    /// The codes by block of one of the lists that are open, if there are any.
    #[inline]
    pub(super) fn codes(&self, nth: usize) -> Option<&'a [u8; BLOCKS]> {
        let own = self.opened.get(nth)?.codes_by_block();
        own.or_else(|| self.spread.get(*self.spread_places.get(nth)? as usize))
    }

    /// The documents of a set in a block, as bits.
    #[inline]
    pub(super) fn word_of_set(&self, set: usize, block: usize) -> u64 {
        let DocIdSet::Some(windows) = &*self.weighed.tree.sets[set] else { return u64::MAX };
        match windows.window(self.key).map(|window| windows.documents(window)) {
            None => 0,
            Some(Container::Bitmap(words)) => {
                words.get(block).map_or(0, |word| u64::from_le_bytes(*word))
            }
            Some(few) => {
                let here = few.iter().filter(|low| usize::from(low >> 6) == block);
                here.fold(0, |word, low| word | 1 << (low & 63))
            }
        }
    }
}
