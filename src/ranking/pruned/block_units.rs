//! Units that lists add in the blocks of a window at most.

use super::parts::{LongPart, Opened, Postings};
use crate::bitmap::Container;
use crate::plan::WINDOW;
use crate::simd::sums::{self, BLOCKS, units};

/// Calls `add` with the block of each posting of a list with a code for each, and with its units: those of
/// a block's best posting once, 0 with the others.
#[inline(always)]
pub(super) fn each_posting(part: &Opened<'_, '_>, mut add: impl FnMut(usize, u16)) {
    match &part.postings {
        Postings::Short { docs, units, .. } => each_block(docs, units, add),
        Postings::Long(postings, _) => {
            each_code(postings, |block, code| add(block, units(code, part.weight)));
        }
    }
}

/// Calls `add` with the block of each posting of a container with a code for each, and with that code, which is 0 but of
/// the first posting of a block.
#[inline(always)]
pub(super) fn each_code(postings: &LongPart<'_>, mut add: impl FnMut(usize, u8)) {
    let codes = postings.codes.by_rank().unwrap_or_default();
    match postings.container() {
        Container::Array(values) => {
            for (value, code) in values.iter().zip(codes) {
                add(usize::from(u16::from_le_bytes(*value) >> 6), *code);
            }
        }
        other => other.iter().zip(codes).for_each(|(low, code)| add(usize::from(low >> 6), *code)),
    }
}

/// Calls `add` with each block that has documents of a short list, and the most that one of them adds.
fn each_block(docs: &[u32], units: &[u16], mut add: impl FnMut(usize, u16)) {
    let mut units = units.iter();
    for docs in docs.chunk_by(|a, b| block_of(*a) == block_of(*b)) {
        let best = units.by_ref().take(docs.len()).max();
        add(block_of(docs[0]), best.copied().unwrap_or_default());
    }
}

/// Replaces `sums` by those of a window.
pub(super) fn add_up<'o, const ALL: bool>(
    sums: &mut [u16; BLOCKS],
    opened: impl Iterator<Item = &'o Opened<'o, 'o>> + Clone,
) {
    let mut is_first = true;
    for part in opened.clone() {
        if let Some(codes) = part.codes_by_block() {
            match is_first {
                true => sums::set(sums, codes, part.weight),
                false if ALL => sums::add_to_all(sums, codes, part.weight),
                false => sums::add(sums, codes, part.weight),
            }
            is_first = false;
        }
    }
    if is_first {
        sums.fill(0);
    }
    for part in opened.filter(|part| part.codes_by_block().is_none()) {
        each_posting(part, |block, units| {
            if let Some(sum) = sums.get_mut(block) {
                *sum = sum.wrapping_add(units);
            }
        });
    }
}

/// The block of a document in its window.
#[inline]
fn block_of(doc: u32) -> usize {
    (doc % WINDOW) as usize / 64
}

/// The documents of a list in a block, the rank of the first, and what they add at most.
#[inline]
pub(super) fn look_up(part: &Opened<'_, '_>, block: usize) -> (u64, u32, u16) {
    match &part.postings {
        Postings::Short { docs, units, .. } => {
            let start = docs.partition_point(|doc| block_of(*doc) < block);
            let here = docs[start..].iter().take_while(|doc| block_of(**doc) == block);
            here.zip(&units[start..]).fold(
                (0, start as u32, 0),
                |(word, start, best), (doc, units)| {
                    (word | 1 << (doc % 64), start, best.max(*units))
                },
            )
        }
        Postings::Long(postings, _) => {
            let (word, rank) = postings.block(block);
            if word == 0 {
                return (0, rank, 0);
            }
            (word, rank, units(postings.code(block, rank).unwrap_or_default(), part.weight))
        }
    }
}
