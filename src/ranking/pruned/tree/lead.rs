//! Blocks that few postings lead to.
//!
//! If every match is in some list with a handful of postings, the bounds of the blocks they are in are found one by
//! one, without those of all blocks of the window.

use super::bound::{Bounds, View};
use crate::plan::in_window::LEAD_MAX;
use crate::ranking::pruned::block_units::{each_posting, look_up};
use crate::recycle::heap_bytes;
use crate::simd::sums::{BLOCKS, units};
use crate::weight::node::Node;

/// Memory for the blocks that the postings of some lists are in.
#[derive(Debug, Default)]
pub(super) struct LeadBlocks {
    lists: Vec<usize>,
    blocks: Vec<u16>,
}

heap_bytes!(LeadBlocks { lists, blocks });

impl LeadBlocks {
    /// Calls `visit` with the blocks of a window that can have a match and with their bounds; false, and
    /// nothing is done, where there are too many.
    pub(super) fn visit(
        &mut self,
        view: &View<'_, '_, '_>,
        mut visit: impl FnMut(usize, u32),
    ) -> bool {
        self.lists.clear();
        let weighed = view.weighed;
        let n_postings = leads(view, weighed.root, &mut self.lists);
        if n_postings.is_none_or(|n| n > LEAD_MAX) {
            return false;
        }
        self.blocks.clear();
        for part in self.lists.iter().filter_map(|clause| view.list(*clause)) {
            each_posting(part, |block, units| {
                if block < BLOCKS && units > 0 {
                    self.blocks.push(block as u16);
                }
            });
        }
        if self.lists.len() > 1 {
            self.blocks.sort_unstable();
            self.blocks.dedup();
        }
        for block in self.blocks.iter().map(|block| usize::from(*block)) {
            let bound = weighed.bound(weighed.root, &mut OfBlock { view, block });
            if bound > 0 {
                visit(block, bound);
            }
        }
        true
    }
}

/// Appends lists without which nothing of this part matches; how many postings they have here, at most
/// [`LEAD_MAX`] or one more. `None` where there are none such.
fn leads(view: &View<'_, '_, '_>, node: &Node, lists: &mut Vec<usize>) -> Option<u32> {
    match node {
        Node::Term(nth) => match view.weighed.tree.terms[*nth] {
            Some(clause) => Some(of_list(view, clause, lists)),
            None => Some(0),
        },
        Node::Phrase(nth) => match &view.weighed.tree.phrases[*nth] {
            Some(phrase) => {
                let words = phrase.words.clone();
                fewest(words, lists, |clause, lists| Some(of_list(view, clause, lists)))
            }
            None => Some(0),
        },
        Node::Combined(nth) => {
            let clauses = view.weighed.tree.combined[*nth].clauses.clone();
            let n = clauses.map(|clause| of_list(view, clause, lists)).fold(0, u32::saturating_add);
            Some(n.min(LEAD_MAX + 1))
        }
        Node::Set { .. } | Node::Nearest { .. } => None,
        Node::Sum { must, should, minimum, .. } => {
            let start = lists.len();
            let of_must = fewest(must.iter(), lists, |part, lists| leads(view, part, lists));
            if *minimum == 0 {
                return of_must;
            }
            let end = lists.len();
            match all(view, should, lists) {
                Some(n) if of_must.is_none_or(|of_must| n < of_must) => {
                    lists.drain(start..end);
                    Some(n)
                }
                _ => {
                    lists.truncate(end);
                    of_must
                }
            }
        }
        Node::Max { any, .. } => all(view, any, lists),
    }
}

fn of_list(view: &View<'_, '_, '_>, clause: usize, lists: &mut Vec<usize>) -> u32 {
    lists.push(clause);
    view.list(clause).map_or(0, |part| part.n_postings().min(LEAD_MAX + 1))
}

/// The lists of those of the parts that have fewest postings.
fn fewest<P>(
    parts: impl Iterator<Item = P>,
    lists: &mut Vec<usize>,
    mut leads: impl FnMut(P, &mut Vec<usize>) -> Option<u32>,
) -> Option<u32> {
    let (start, mut fewest) = (lists.len(), None::<u32>);
    for part in parts {
        let end = lists.len();
        match leads(part, lists) {
            Some(n) if fewest.is_none_or(|fewest| n < fewest) => {
                lists.drain(start..end);
                fewest = Some(n);
            }
            _ => lists.truncate(end),
        }
    }
    fewest
}

/// The lists of all of the parts.
fn all(view: &View<'_, '_, '_>, parts: &[Node], lists: &mut Vec<usize>) -> Option<u32> {
    let start = lists.len();
    let mut sum = 0u32;
    for part in parts {
        match leads(view, part, lists) {
            Some(n) => sum = (sum + n).min(LEAD_MAX + 1),
            None => {
                lists.truncate(start);
                return None;
            }
        }
    }
    Some(sum)
}

/// One block of a window.
struct OfBlock<'a, 'q, 's> {
    view: &'a View<'a, 'q, 's>,
    block: usize,
}

impl Bounds for OfBlock<'_, '_, '_> {
    fn list(&mut self, clause: usize) -> u32 {
        let Some(part) = self.view.list(clause) else { return 0 };
        u32::from(match self.view.codes(self.view.places[clause] as usize) {
            Some(codes) => units(codes[self.block], part.weight),
            None => look_up(part, self.block).2,
        })
    }

    fn set(&mut self, set: usize) -> u32 {
        match self.view.word_of_set(set, self.block) {
            0 => 0,
            _ => self.view.weighed.units.sets[set].into(),
        }
    }
}
