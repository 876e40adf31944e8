//! The bounds of all blocks of a window at once.

use super::bound::View;
use crate::bitmap::Container;
use crate::doc_id_set::DocIdSet;
use crate::plan::WINDOW;
use crate::ranking::pruned::block_units::each_code;
use crate::ranking::pruned::bounds::code_for;
use crate::ranking::pruned::parts::{Opened, Postings};
use crate::recycle::HeapBytes;
use crate::simd::sums::{self, BLOCKS};
use crate::weight::node::Node;

/// Units of each block.
pub(super) type Sums = [u16; BLOCKS];

/// Memory for sums that are parts of others.
#[derive(Debug, Default)]
pub(super) struct Spare(
    #[expect(
        clippy::vec_box,
        reason = "sums are taken out and put back, which must not move them"
    )]
    Vec<Box<Sums>>,
);

impl HeapBytes for Spare {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes() + self.0.len() * size_of::<Sums>()
    }
}

impl Spare {
    /// Calls `with` with sums that have anything in them.
    fn lend(&mut self, with: impl FnOnce(&mut Sums, &mut Spare)) {
        let mut sums = self.0.pop().unwrap_or_else(|| Box::new([0; BLOCKS]));
        with(&mut sums, self);
        self.0.push(sums);
    }
}

/// Replaces `codes` by those of each block, made of those of each posting.
pub(super) fn spread(part: &Opened<'_, '_>, codes: &mut [u8; BLOCKS]) {
    codes.fill(0);
    match &part.postings {
        Postings::Short { docs, units, .. } => {
            for (doc, units) in docs.iter().zip(*units) {
                let code = code_for((*units).into(), part.weight).min(255) as u8;
                let of_block = &mut codes[(doc % WINDOW) as usize / 64];
                *of_block = code.max(*of_block);
            }
        }
        // Only the first posting of a block has one.
        Postings::Long(postings, _) => each_code(postings, |block, code| codes[block] |= code),
    }
}

/// Replaces `sums` by the bounds of a part of the tree.
pub(super) fn add_up(view: &View<'_, '_, '_>, node: &Node, sums: &mut Sums, spare: &mut Spare) {
    let weighed = view.weighed;
    match node {
        Node::Term(nth) => match weighed.tree.terms[*nth] {
            Some(clause) => of_list(view, clause, sums),
            None => sums.fill(0),
        },
        Node::Phrase(nth) => of_phrase(view, *nth, sums, spare),
        Node::Combined(nth) => of_combined(view, *nth, sums, spare),
        Node::Set { set, .. } | Node::Nearest { set, .. } => of_set(view, *set, sums),
        Node::Sum { must, should, minimum, .. } => match &must[..] {
            // A sum of nothing matches, too.
            [] => add(view, should, u16::from(*minimum == 0), sums, spare),
            [first, others @ ..] => {
                add_up(view, first, sums, spare);
                spare.lend(|more, spare| {
                    for part in others {
                        add_up(view, part, more, spare);
                        sums::plus_all(sums, more);
                    }
                    if *minimum > 0 {
                        add(view, should, 0, more, spare);
                        sums::plus_all(sums, more);
                        return;
                    }
                    for part in should {
                        add_up(view, part, more, spare);
                        sums::plus_some(sums, more);
                    }
                });
            }
        },
        Node::Max { any, tie } => {
            sums.fill(0);
            spare.lend(|others, spare| {
                others.fill(0);
                spare.lend(|more, spare| {
                    for part in any {
                        add_up(view, part, more, spare);
                        sums::best(sums, others, more);
                    }
                });
                if *tie > 0.0 {
                    let share = (tie * 65_536.0).ceil().min(65_535.0);
                    sums::plus_share(sums, others, share as u16);
                }
            });
        }
    }
}

/// Replaces `sums` by those of any of the parts, on top of what there is anyway.
fn add(view: &View<'_, '_, '_>, parts: &[Node], anyway: u16, sums: &mut Sums, spare: &mut Spare) {
    let parts = match parts {
        [first, others @ ..] if anyway == 0 => {
            add_up(view, first, sums, spare);
            others
        }
        parts => {
            sums.fill(anyway);
            parts
        }
    };
    spare.lend(|more, spare| {
        for part in parts {
            add_up(view, part, more, spare);
            sums::plus(sums, more);
        }
    });
}

fn of_list(view: &View<'_, '_, '_>, clause: usize, sums: &mut Sums) {
    let Some(part) = view.list(clause) else { return sums.fill(0) };
    match view.codes(view.places[clause] as usize) {
        Some(codes) => sums::set(sums, codes, part.weight),
        None => sums.fill(part.best),
    }
}

fn of_phrase(view: &View<'_, '_, '_>, nth: usize, sums: &mut Sums, spare: &mut Spare) {
    let Some(phrase) = &view.weighed.tree.phrases[nth] else { return sums.fill(0) };
    sums.fill(view.weighed.units.phrases[nth]);
    spare.lend(|more, _| {
        for clause in phrase.words.clone() {
            of_list(view, clause, more);
            if !phrase.is_exact {
                // Only whether it is there.
                more.iter_mut().for_each(|units| *units = if *units == 0 { 0 } else { u16::MAX });
            }
            sums::least(sums, more);
        }
    });
}

fn of_combined(view: &View<'_, '_, '_>, nth: usize, sums: &mut Sums, spare: &mut Spare) {
    sums.fill(0);
    spare.lend(|more, _| {
        for clause in view.weighed.tree.combined[nth].clauses.clone() {
            of_list(view, clause, more);
            sums::plus(sums, more);
        }
    });
    let most = view.weighed.units.combined[nth];
    sums.iter_mut().for_each(|units| *units = most.min(*units));
}

fn of_set(view: &View<'_, '_, '_>, set: usize, sums: &mut Sums) {
    let units = view.weighed.units.sets[set];
    let DocIdSet::Some(windows) = &*view.weighed.tree.sets[set] else { return sums.fill(units) };
    match windows.window(view.key).map(|window| windows.documents(window)) {
        None => sums.fill(0),
        Some(Container::Bitmap(words)) => {
            for (sum, word) in sums.iter_mut().zip(words) {
                *sum = if *word == [0; 8] { 0 } else { units };
            }
        }
        Some(few) => {
            sums.fill(0);
            for low in few.iter() {
                sums[usize::from(low >> 6)] = units;
            }
        }
    }
}
