//! The best documents of one list: by the code of each block, without a sum.
//!
//! Containers come in the order of their documents, so of documents that are equally good the first are
//! seen first. The codes of a container are compared 32 at once with the least that can still matter; what
//! is left is scored, frequencies by the group and lengths where they are needed.

use super::bounds::changes;
use super::exhaustive::{GROUP, past_the_end};
use super::parts::{LongPart, kth_code};
use super::{Pruning, WINDOW};
use crate::bitmap::Container;
use crate::error::Result;
use crate::format::lengths::score_part;
use crate::format::ranked::{Codes, FrequencyGroup, RankedList, RankedLong};
use crate::ids::DocId;
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::segment::file::Section;
use crate::simd::sums::select_codes;

/// What f32 may round away of the product of a weight and a score part.
const ROUNDING: f64 = 1e-6;

/// Offers what can be among the best; `candidates` is memory to use.
pub(super) fn offer(
    clause: &Clause<'_, '_>,
    base: u64,
    top: &mut Top,
    candidates: &mut Vec<u32>,
) -> Result<Pruning> {
    let mut pruning = Pruning::default();
    match &clause.list {
        RankedList::Short(list) => {
            for (&doc, &frequency) in list.docs().iter().zip(list.frequencies()) {
                let code = clause.lengths.code(doc)?;
                let k = clause.scoring.k_by_code[usize::from(code)];
                let score = clause.weight * score_part(frequency, k);
                top.push(score, DocId(base + u64::from(doc)));
            }
            pruning.documents_scored = list.docs().len() as u64;
        }
        RankedList::Long(list) => {
            let mut scan = Scan { clause, list, base, group: None, top, pruning: &mut pruning };
            scan.offer(candidates)?;
        }
    }
    Ok(pruning)
}

/// A list on its way.
struct Scan<'a, 's, 'f> {
    clause: &'a Clause<'s, 'f>,
    list: &'a RankedLong<'s, Section<'s>>,
    base: u64,
    /// The frequencies at hand, and which they are.
    group: Option<(u32, FrequencyGroup<'s>)>,
    top: &'a mut Top,
    pruning: &'a mut Pruning,
}

impl Scan<'_, '_, '_> {
    fn offer(&mut self, candidates: &mut Vec<u32>) -> Result<()> {
        let (most, least) = changes(&self.clause.lengths.bm25(), self.clause.scoring);
        let best = f64::from(self.clause.weight) * f64::from(self.list.max_part());
        if let Some(kth) = kth_code(self.list, self.top.k()) {
            self.top.raise((best * f64::from(kth) / 255.0 * least * (1.0 - ROUNDING)) as f32);
        }
        let per_code = best * most / 255.0 * (1.0 + ROUNDING);
        for container in self.list.containers() {
            self.pruning.windows_considered += 1;
            let cut = cut(self.top.threshold(), per_code);
            if u32::from(container.max_code) < cut {
                self.pruning.windows_skipped += 1;
                continue;
            }
            let codes = self.list.codes(&container)?;
            let codes = match &codes {
                Codes::Dense(codes) | Codes::ByRank(codes) => &codes[..],
            };
            candidates.clear();
            select_codes(codes, cut.clamp(1, 255) as u8, candidates);
            self.pruning.blocks_considered += codes.len() as u64;
            if candidates.is_empty() {
                continue;
            }
            let part = LongPart::open(self.list, &container)?;
            let high = u32::from(container.key) * WINDOW;
            for &candidate in &*candidates {
                let candidate = candidate as usize;
                // Equal scores of later documents do not enter: those are most, where texts are short.
                let code = codes.get(candidate).copied().unwrap_or_default();
                if (f64::from(code) * per_code) < f64::from(self.top.threshold()) {
                    continue;
                }
                self.pruning.blocks_scored += 1;
                match part.codes.dense() {
                    Some(_) => self.offer_block(&part, candidate, high)?,
                    None => self.offer_from(&part, candidate, high)?,
                }
            }
        }
        Ok(())
    }

    /// Scores the documents of a block of which the container has a code.
    fn offer_block(&mut self, part: &LongPart<'_>, block: usize, high: u32) -> Result<()> {
        let (mut word, mut rank) = part.block(block);
        while word != 0 {
            let low = (block * 64) as u32 + word.trailing_zeros();
            word &= word - 1;
            self.offer_posting(high + low, rank)?;
            rank += 1;
        }
        Ok(())
    }

    /// Scores posting number `first` of a container and those that follow in the same block.
    fn offer_from(&mut self, part: &LongPart<'_>, first: usize, high: u32) -> Result<()> {
        let rank = part.first_rank + first as u32;
        let Container::Array(values) = part.container() else {
            let values = part.container().select(first as u32);
            return values
                .map_or(Ok(()), |low| self.offer_block(part, usize::from(low >> 6), high));
        };
        let block = |value: &[u8; 2]| u16::from_le_bytes(*value) >> 6;
        let rest = values.get(first..).unwrap_or_default();
        let same = rest.iter().take_while(|value| block(value) == block(&rest[0]));
        for (rank, value) in (rank..).zip(same) {
            self.offer_posting(high + u32::from(u16::from_le_bytes(*value)), rank)?;
        }
        Ok(())
    }

    #[inline]
    fn offer_posting(&mut self, doc: u32, rank: u32) -> Result<()> {
        if self.group.as_ref().is_none_or(|(nth, _)| *nth != rank / GROUP) {
            self.group = Some((rank / GROUP, self.list.frequencies().group(rank / GROUP)?));
        }
        let frequency = self.group.as_ref().map_or(1, |(_, group)| match group.is_all_ones() {
            true => 1,
            false => group.get(rank % GROUP),
        });
        if doc >= self.clause.lengths.n_docs() {
            return Err(past_the_end());
        }
        let code = self.clause.lengths.code(doc)?;
        let k = self.clause.scoring.k_by_code[usize::from(code)];
        self.pruning.documents_scored += 1;
        let score = self.clause.weight * score_part(frequency, k);
        self.top.push(score, DocId(self.base + u64::from(doc)));
        Ok(())
    }
}

/// The smallest code with which a score can reach the threshold; above 255 where none can.
fn cut(threshold: f32, per_code: f64) -> u32 {
    let mut cut = (f64::from(threshold) / per_code) as u32;
    while f64::from(cut) * per_code < f64::from(threshold) && cut <= 255 {
        cut += 1;
    }
    cut
}
