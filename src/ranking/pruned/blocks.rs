//! The best blocks of 64 documents first, by sums of bounds.
//!
//! For each block of some windows the units of all lists are added up. Blocks whose sum can still matter are
//! visited in bands of falling sums, so that the worst kept score rises early. Inside a block a document
//! is scored only if the lists it is in can lift it (MAXSCORE, of Turtle and Flood 1995, on the 64
//! bits of a block; the order is that of Mallia, Suel and Tonellotto, *Faster Learned Sparse Retrieval with
//! Block-Max Pruning*, 2024).

use super::bounds::CLAUSES_MAX;
use super::parts::{LongPart, Opened, Postings, Sum};
use super::{Pruning, Query, WINDOW};
use crate::error::Result;
use crate::format::ranked::RankedList;
use crate::ids::DocId;
use crate::ranking::top::Top;
use crate::simd::sums::{self, BLOCKS, units};
use std::ops::Range;

/// Windows whose blocks are put in one order.
pub(super) const WINDOWS_MAX: usize = 8;
/// Steps from the best sum down to the least that matters; 4 and 16 are not better.
const BANDS: u32 = 8;

/// The memory of sums and of what is found by them.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    sums: Vec<[u16; BLOCKS]>,
    candidates: Vec<u32>,
    block: Block,
}

/// What the lists have in one block, by the order in which they were opened.
#[derive(Debug, Default)]
struct Block {
    words: [u64; CLAUSES_MAX],
    ranks: [u32; CLAUSES_MAX],
    units: [u16; CLAUSES_MAX],
}

/// A window whose lists are open.
#[derive(Clone, Debug)]
pub(super) struct OpenWindow {
    pub(super) key: u32,
    /// Its lists, in the order of the clauses.
    pub(super) opened: Range<usize>,
}

impl Blocks {
    pub(super) fn bytes(&self) -> usize {
        self.sums.capacity() * size_of::<[u16; BLOCKS]>()
            + self.candidates.capacity() * size_of::<u32>()
    }

    /// Offers what can be among the best of some windows: documents of all their lists, or of any.
    pub(super) fn offer<const ALL: bool>(
        &mut self,
        query: &Query<'_, '_, '_>,
        windows: &[OpenWindow],
        opened: &[Opened<'_, '_>],
        top: &mut Top,
        pruning: &mut Pruning,
    ) -> Result<()> {
        self.sums.resize(self.sums.len().max(windows.len()), [0; BLOCKS]);
        for (sums, window) in self.sums.iter_mut().zip(windows) {
            add_up::<ALL>(sums, &opened[window.opened.clone()]);
        }
        let best = self.sums[..windows.len()].iter().map(sums::max).max().unwrap_or_default();
        pruning.blocks_considered += (windows.len() * BLOCKS) as u64;
        let (best, mut level) = (u32::from(best), u32::from(best));
        for band in 1.. {
            let limit = query.scale.limit(top.threshold()).max(1);
            if level < limit {
                break;
            }
            level = level.saturating_sub((best - limit) / BANDS + 1);
            if level < limit || band >= BANDS {
                level = limit;
            }
            self.candidates.clear();
            for (first, sums) in (0..).step_by(BLOCKS).zip(&self.sums[..windows.len()]) {
                sums::select(sums, level as u16, first, &mut self.candidates);
            }
            for nth in 0..self.candidates.len() {
                let candidate = self.candidates[nth] as usize;
                let sum = std::mem::take(&mut self.sums[candidate / BLOCKS][candidate % BLOCKS]);
                if u32::from(sum) < query.scale.limit(top.threshold()) {
                    continue;
                }
                let window = &windows[candidate / BLOCKS];
                let opened = &opened[window.opened.clone()];
                let block = Place { key: window.key, block: candidate % BLOCKS, sum };
                pruning.blocks_scored += 1;
                self.block.score::<ALL>(query, opened, block, top, pruning)?;
            }
            if level <= limit {
                break;
            }
        }
        Ok(())
    }
}

/// Replaces `sums` by those of a window.
fn add_up<const ALL: bool>(sums: &mut [u16; BLOCKS], opened: &[Opened<'_, '_>]) {
    let mut is_first = true;
    for part in opened {
        if let Postings::Long(postings) = &part.postings
            && let Some(codes) = postings.codes.dense()
        {
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
    for part in opened {
        match &part.postings {
            Postings::Long(postings) => {
                if let Some(codes) = postings.codes.by_rank() {
                    scatter(sums, postings, codes, part.weight);
                }
            }
            Postings::Short { docs, units, .. } => {
                let mut postings = docs.iter().map(|doc| block_of(*doc)).zip(*units).peekable();
                while let Some((block, units)) = postings.next() {
                    let mut best = *units;
                    while let Some((_, more)) = postings.next_if(|next| next.0 == block) {
                        best = best.max(*more);
                    }
                    sums[block] += best;
                }
            }
        }
    }
}

/// The block of a document in its window.
#[inline]
fn block_of(doc: u32) -> usize {
    (doc % WINDOW) as usize / 64
}

fn scatter(sums: &mut [u16; BLOCKS], postings: &LongPart<'_>, codes: &[u8], weight: u16) {
    use crate::bitmap::Container;
    match postings.container() {
        Container::Array(values) => {
            for (value, code) in values.iter().zip(codes) {
                let block = usize::from(u16::from_le_bytes(*value) >> 6);
                sums[block] = sums[block].wrapping_add(units(*code, weight));
            }
        }
        other => {
            for (value, code) in other.iter().zip(codes) {
                let block = usize::from(value >> 6);
                sums[block] = sums[block].wrapping_add(units(*code, weight));
            }
        }
    }
}

/// A block, and the sum of what its lists can add.
#[derive(Clone, Copy)]
struct Place {
    key: u32,
    block: usize,
    sum: u16,
}

impl Block {
    /// Scores the documents of a block that can be among the best.
    fn score<const ALL: bool>(
        &mut self,
        query: &Query<'_, '_, '_>,
        opened: &[Opened<'_, '_>],
        place: Place,
        top: &mut Top,
        pruning: &mut Pruning,
    ) -> Result<()> {
        let mut limit = query.scale.limit(top.threshold());
        let mut docs = match ALL {
            true => self.common(opened, place.block),
            false => self.essential(opened, place, limit),
        };
        while docs != 0 {
            let bit = docs.trailing_zeros();
            docs &= docs - 1;
            let has = |word: &u64| word >> bit & 1 == 1;
            let words = &self.words[..opened.len()];
            let present = words.iter().zip(&self.units).filter(|(word, _)| has(word));
            if present.map(|(_, units)| u32::from(*units)).sum::<u32>() < limit {
                continue;
            }
            let low = (place.block * 64) as u32 + bit;
            let mut sum = Sum::of(place.key * WINDOW + low);
            for ((part, word), rank) in opened.iter().zip(words).zip(&self.ranks) {
                if !has(word) {
                    continue;
                }
                let rank = rank + (word & ((1 << bit) - 1)).count_ones();
                match (&part.postings, &query.clauses[part.clause].list) {
                    (Postings::Short { scores, .. }, _) => sum.add(scores[rank as usize]),
                    (Postings::Long(_), RankedList::Long(list)) => {
                        sum.add_posting(query.clauses, part.clause, list, rank)?;
                    }
                    (Postings::Long(_), RankedList::Short(_)) => {}
                }
            }
            pruning.documents_scored += 1;
            let before = top.threshold();
            top.push(sum.score(), DocId(query.base + u64::from(place.key * WINDOW + low)));
            if top.threshold() != before {
                limit = query.scale.limit(top.threshold());
            }
        }
        Ok(())
    }

    /// The documents that all lists have.
    fn common(&mut self, opened: &[Opened<'_, '_>], block: usize) -> u64 {
        let mut docs = u64::MAX;
        for (nth, part) in opened.iter().enumerate() {
            self.look_up(nth, part, block);
            docs &= self.words[nth];
            if docs == 0 {
                break;
            }
        }
        docs
    }

    /// The documents of those lists without which no document can reach the limit.
    fn essential(&mut self, opened: &[Opened<'_, '_>], place: Place, limit: u32) -> u64 {
        // The sum says when all lists that have something here were found.
        let mut rest = place.sum;
        for (nth, part) in opened.iter().enumerate() {
            (self.words[nth], self.units[nth]) = (0, 0);
            if let Postings::Long(postings) = &part.postings
                && let Some(codes) = postings.codes.dense()
                && codes[place.block] > 0
            {
                self.look_up(nth, part, place.block);
                rest = rest.wrapping_sub(self.units[nth]);
            }
        }
        for (nth, part) in opened.iter().enumerate() {
            if rest == 0 {
                break;
            }
            if !matches!(&part.postings, Postings::Long(it) if it.codes.dense().is_some()) {
                self.look_up(nth, part, place.block);
                rest = rest.wrapping_sub(self.units[nth]);
            }
        }
        // Lists that add little are left out as long as they add too little together.
        let (mut docs, mut left_out, mut done) = (0, 0, 0u32);
        for _ in opened {
            let open = (0..opened.len()).filter(|nth| done >> nth & 1 == 0);
            let Some(least) = open.min_by_key(|nth| self.units[*nth]) else { break };
            done |= 1 << least;
            left_out += u32::from(self.units[least]);
            if left_out >= limit {
                docs |= self.words[least];
            }
        }
        docs
    }

    /// Finds the documents of a list in a block, the rank of the first, and what they add at most.
    fn look_up(&mut self, nth: usize, part: &Opened<'_, '_>, block: usize) {
        match &part.postings {
            Postings::Short { docs, units, .. } => {
                let start = docs.partition_point(|doc| block_of(*doc) < block);
                let (mut word, mut best) = (0u64, 0);
                for (doc, units) in docs[start..].iter().zip(&units[start..]) {
                    if block_of(*doc) != block {
                        break;
                    }
                    word |= 1 << (doc % 64);
                    best = best.max(*units);
                }
                (self.words[nth], self.ranks[nth], self.units[nth]) = (word, start as u32, best);
            }
            Postings::Long(postings) => {
                let (word, rank) = postings.block(block);
                let code = match (postings.codes.dense(), postings.codes.by_rank()) {
                    (Some(codes), _) => codes[block],
                    (_, Some(codes)) if word != 0 => {
                        let at = rank - postings.first_rank;
                        codes.get(at as usize).copied().unwrap_or_default()
                    }
                    _ => 0,
                };
                self.words[nth] = word;
                self.ranks[nth] = rank;
                self.units[nth] = if word == 0 { 0 } else { units(code, part.weight) };
            }
        }
    }
}
