//! Upper bounds of score parts, and lower bounds of the k-th best. The upper ones are one code per block of 64
//! documents, one per container, one number per term.

use super::KTH;
use super::directory::{BLOCKS, Granularity};
use crate::bytes::Bytes;
use crate::format::changed::CodeChange;

/// Documents of a block, as a power of two.
const BLOCK_BITS: u32 = 6;

/// The codes of a container.
#[derive(Debug)]
pub(crate) enum Codes<'s> {
    /// One per block of 64 documents, 0 if it has no posting.
    Dense(Bytes<'s>),
    /// One a posting: the first of each block of 64 documents has the block's code, the others 0.
    ByRank(Bytes<'s>),
}

impl Codes<'_> {
    /// The codes by block.
    #[inline]
    pub(crate) fn dense(&self) -> Option<&[u8; BLOCKS]> {
        match self {
            Codes::Dense(bytes) => bytes.first_chunk(),
            Codes::ByRank(_) => None,
        }
    }

    /// Computes the codes of what the parts become; behind them stands 0.
    pub(crate) fn change(&self, change: &CodeChange, to: &mut [u8; BLOCKS]) {
        let (Codes::Dense(codes) | Codes::ByRank(codes)) = self;
        // Mostly nothing stands behind the last block of a segment.
        let n = codes.iter().rposition(|code| *code > 0).map_or(0, |last| last + 1);
        let (changed, behind) = to.split_at_mut(n.min(BLOCKS));
        change.change(codes.get(..n).unwrap_or_default(), changed);
        behind.fill(0);
    }

    /// Puts as many other codes in the place of these.
    pub(crate) fn replaced<'c>(&self, by: &'c [u8; BLOCKS]) -> Codes<'c> {
        match self {
            Codes::Dense(_) => Codes::Dense(Bytes::Mapped(by)),
            Codes::ByRank(codes) => {
                Codes::ByRank(Bytes::Mapped(by.get(..codes.len()).unwrap_or_default()))
            }
        }
    }

    /// The codes by rank in the container.
    #[inline]
    pub(crate) fn by_rank(&self) -> Option<&[u8]> {
        match self {
            Codes::Dense(_) => None,
            Codes::ByRank(bytes) => Some(bytes),
        }
    }
}

/// The smallest code whose bound `code * max / 255` is not below `part`. Products of 8 and 24 bits are
/// exact in `f64`.
#[inline]
pub(crate) fn code_above(part: f32, max: f32) -> u8 {
    let (part, max) = (f64::from(part) * 255.0, f64::from(max));
    // Rounding down and looking, because rounding up is a call where the processor is any of its family.
    let code = (part / max).min(254.0) as u8;
    let is_above = f64::from(code) * max >= part;
    (code + u8::from(!is_above)).max(1)
}

/// The largest code whose bound is not above `part`.
fn code_below(part: f32, max: f32) -> u8 {
    let (part, max) = (f64::from(part) * 255.0, f64::from(max));
    let mut code = (part / max).floor().clamp(0.0, 255.0);
    if code > 0.0 && code * max > part {
        code -= 1.0;
    }
    code as u8
}

/// Collects score parts.
#[derive(Debug, Default)]
pub(super) struct ImpactWriter {
    blocks: Vec<Block>,
    n_postings: u32,
    max: f32,
    best: Best,
    distinct: Distinct,
}

/// The postings of 64 documents.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Documents of the block, without their lower bits.
    number: u32,
    first_rank: u32,
    max: f32,
}

impl ImpactWriter {
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.best.parts.clear();
        self.best.floor = 0.0;
        self.distinct.clear();
        (self.n_postings, self.max) = (0, 0.0);
    }

    /// Adds a posting; with the code of its document's length if there is one occurrence, which tells its part.
    #[inline]
    pub(super) fn add(&mut self, doc: u32, part: f32, code_of_one: Option<u8>) {
        match self.blocks.last_mut() {
            Some(last) if last.number == doc >> BLOCK_BITS => last.max = last.max.max(part),
            _ => self.blocks.push(Block {
                number: doc >> BLOCK_BITS,
                first_rank: self.n_postings,
                max: part,
            }),
        }
        self.best.offer(part);
        if code_of_one.is_none_or(|code| self.distinct.is_new(code)) {
            self.distinct.note(part);
        }
        self.n_postings += 1;
    }

    /// The best part, and the codes of the k-th best ones.
    pub(super) fn finish(&mut self) -> (f32, [u8; 3]) {
        self.max = self.blocks.iter().fold(0.0, |max, block| max.max(block.max));
        let max = self.max;
        let kth = self.best.kth().map(|part| part.map_or(0, |part| code_below(part, max)));
        (max, kth)
    }

    /// The smallest code from which on postings with the same code have the same part, which shows after
    /// [`finish`](Self::finish); 0 if there is none.
    pub(super) fn told_from(&self) -> u8 {
        self.distinct.told_from(self.max)
    }

    /// Appends the largest code of each container, then the codes of all.
    pub(super) fn write_codes(&self, out: &mut Vec<u8>) {
        let of_container =
            |a: &Block, b: &Block| a.number / BLOCKS as u32 == b.number / BLOCKS as u32;
        for blocks in self.blocks.chunk_by(of_container) {
            let best = blocks.iter().fold(0.0f32, |max, block| max.max(block.max));
            out.push(code_above(best, self.max));
        }
        let mut containers = self.blocks.chunk_by(of_container).peekable();
        while let Some(blocks @ [Block { first_rank, .. }, ..]) = containers.next() {
            let next = containers.peek().and_then(|blocks| blocks.first());
            let end_rank = next.map_or(self.n_postings, |next| next.first_rank);
            let granularity = Granularity::of(end_rank - first_rank);
            let start = out.len();
            out.resize(start + granularity.codes_len(), 0);
            let codes = out.get_mut(start..).unwrap_or_default();
            for block in blocks {
                let at = match granularity.is_dense() {
                    true => block.number as usize % BLOCKS,
                    false => (block.first_rank - first_rank) as usize,
                };
                if let Some(code) = codes.get_mut(at) {
                    *code = code_above(block.max, self.max);
                }
            }
        }
    }
}

/// The greatest of the different parts seen so far.
#[derive(Debug)]
struct Distinct {
    /// The bits of each, without order: parts are positive, so bits ascend as they do.
    parts: Vec<u32>,
    /// The greatest part that is not kept, for want of room.
    left_out: u32,
    /// Whether the part of one occurrence was noted, by the code of the length: nearly all parts end here.
    of_one: [bool; 256],
    /// Parts that were noted lately, by a hash.
    recent: [u32; 1 << Distinct::RECENT_BITS],
}

impl Default for Distinct {
    fn default() -> Self {
        let recent = [0; 1 << Distinct::RECENT_BITS];
        Distinct { parts: vec![], left_out: 0, of_one: [false; 256], recent }
    }
}

impl Distinct {
    const RECENT_BITS: u32 = 6;
    /// Parts that are kept, and those that remain if there are more.
    const MOST: usize = 128;
    const REMAINING: usize = 64;

    fn clear(&mut self) {
        self.parts.clear();
        self.left_out = 0;
        self.of_one.fill(false);
        // No part is 0.
        self.recent.fill(0);
    }

    /// Whether no part of one occurrence in a document of such a length was asked about before.
    #[inline]
    fn is_new(&mut self, length_code: u8) -> bool {
        self.of_one
            .get_mut(usize::from(length_code))
            .is_some_and(|was_noted| !std::mem::replace(was_noted, true))
    }

    #[inline]
    fn note(&mut self, part: f32) {
        let bits = part.to_bits();
        let slot = bits.wrapping_mul(0x9E37_79B1) >> (u32::BITS - Self::RECENT_BITS);
        // A slot of as many bits as there are slots for.
        if let Some(recent) = self.recent.get_mut(slot as usize)
            && *recent != bits
        {
            *recent = bits;
            if bits > self.left_out && !self.parts.contains(&bits) {
                self.keep(bits);
            }
        }
    }

    fn keep(&mut self, bits: u32) {
        self.parts.push(bits);
        if self.parts.len() > Self::MOST {
            self.parts.sort_unstable_by(|a, b| b.cmp(a));
            self.left_out = self.parts.get(Self::REMAINING).copied().unwrap_or_default();
            self.parts.truncate(Self::REMAINING);
        }
    }

    /// The smallest code such that of it, and of each greater one, all parts are the same; 0 where the greatest code has
    /// several.
    fn told_from(&self, max: f32) -> u8 {
        let code = |bits: u32| code_above(f32::from_bits(bits), max);
        let mut parts_of = [0u8; 256];
        for bits in &self.parts {
            if let Some(n) = parts_of.get_mut(usize::from(code(*bits))) {
                *n = n.saturating_add(1);
            }
        }
        let least = if self.left_out == 0 { 1 } else { code(self.left_out).saturating_add(1) };
        let is_told = |of: &u8| parts_of.get(usize::from(*of)).is_some_and(|n| *n <= 1);
        (least..=u8::MAX).rev().take_while(is_told).last().unwrap_or(0)
    }
}

/// The best parts seen so far.
#[derive(Debug, Default)]
struct Best {
    /// Unordered; all of the best, and some more.
    parts: Vec<f32>,
    /// Score that as many as are asked for are not below.
    floor: f32,
}

impl Best {
    const LEN: usize = {
        let [_, _, most] = KTH;
        most
    };

    #[inline]
    fn offer(&mut self, part: f32) {
        if part > self.floor {
            self.parts.push(part);
            if self.parts.len() == 4 * Self::LEN {
                self.cut();
            }
        }
    }

    #[cold]
    fn cut(&mut self) {
        let (_, kth, _) = self.parts.select_nth_unstable_by(Self::LEN - 1, |a, b| b.total_cmp(a));
        self.floor = *kth;
        self.parts.truncate(Self::LEN);
    }

    fn kth(&mut self) -> [Option<f32>; 3] {
        self.parts.sort_unstable_by(|a, b| b.total_cmp(a));
        KTH.map(|k| self.parts.get(k - 1).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_the_smallest_whose_bound_is_not_below() {
        let maxima = [1.0, 0.7, 0.333_333_34, 1e-3, f32::MIN_POSITIVE, 3e38];
        for max in maxima {
            for nth in 0..=2_000u16 {
                let part = max * f32::from(nth) / 2_000.0;
                for part in [part.next_down(), part, part.next_up()] {
                    if !(0.0..=max).contains(&part) {
                        continue;
                    }
                    let bound = |code: u8| f64::from(code) * f64::from(max);
                    let reaches = |code: &u8| bound(*code) >= f64::from(part) * 255.0;
                    assert_eq!(
                        code_above(part, max),
                        (1..=255).find(reaches).unwrap_or(255),
                        "{part} of {max}"
                    );
                }
            }
            assert_eq!(code_above(2.0 * max, max), 255);
        }
        assert_eq!((code_above(0.0, 1.0), code_above(1.0, 0.0)), (1, 255));
    }

    #[test]
    fn each_part_of_one_occurrence_is_told_apart() {
        let told_from = |parts: &[(f32, u8)]| {
            let mut writer = ImpactWriter::default();
            // Twice, because a writer is kept from list to list.
            for _ in 0..2 {
                writer.clear();
                for (doc, (part, length_code)) in (0..).zip(parts) {
                    writer.add(doc << BLOCK_BITS, *part, Some(*length_code));
                }
                writer.finish();
            }
            writer.told_from()
        };
        assert_eq!(told_from(&[(1.0, 3), (1.0, 3), (0.5, 9)]), 1);
        // Both have the code 255, or both the code 128.
        assert_eq!(told_from(&[(1.0, 3), (0.999, 4)]), 0);
        assert_eq!(told_from(&[(1.0, 3), (0.5, 9), (0.4999, 10), (0.1, 90)]), 129);
    }
}
