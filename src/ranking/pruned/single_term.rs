//! The best documents of one list: by the code of each block, without a sum.
//!
//! Containers come in the order of their documents, so of documents that are equally good the first are
//! seen first. The codes of a container are compared 32 at once with the least that can still matter; what
//! is left is scored, frequencies and lengths where they are needed.

use super::order::BLOCKS_AT_ONCE;
use super::parts::LongPart;
use super::pruning::Pruning;
use super::reached::raise;
use super::sum::{Frequencies, Norms, past_the_end};
use super::tie_cache::TieCache;
use super::together::{Together, bits_of};
use crate::bitmap::Container;
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::changed::PartChange;
use crate::format::lengths::score_part;
use crate::format::ranked::{Codes, RankedList, RankedLong, Walk};
use crate::ids::DocId;
use crate::plan::WINDOW;
use crate::plan::in_window::are_many;
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::recycle::recycled;
use crate::segment::file::Section;
use crate::simd::sums::select_codes;

/// Part that f32 may round away of the product of a weight and a score part.
const ROUNDING: f64 = 1e-6;

/// Offers what can be among the best; `candidates` is memory to use.
pub(super) fn offer(
    clause: &Clause<'_>,
    base: u64,
    top: &mut Top,
    candidates: &mut Vec<u32>,
    seen: &mut TieCache,
) -> Result<Pruning> {
    let mut pruning = Pruning::default();
    match &clause.list {
        RankedList::Short(list) => {
            let (mut lengths, mut at, mut fewest) = (clause.lengths.reader(), 0.0, 0);
            for (&doc, &frequency) in list.docs().iter().zip(list.frequencies()) {
                if top.threshold() != at {
                    at = top.threshold();
                    fewest = clause.least_frequency(f64::from(at) * (1.0 - 1e-5));
                }
                if frequency < fewest {
                    continue;
                }
                pruning.documents_scored += 1;
                let k = clause.scoring.norm_cache[usize::from(lengths.code(doc)?)];
                let score = clause.weight * score_part(frequency, k);
                top.push(score, DocId(base + u64::from(doc)));
            }
            pruning.postings = pruning.documents_scored;
            pruning.matching = Some(list.docs().len() as u64);
        }
        RankedList::Long(list) => {
            raise(clause, list, top)?;
            let mut scan = Scan::new(clause, list, base, top, seen, ExcludedDocs::Nothing);
            scan.offer(candidates, &mut pruning)?;
            pruning.matching = Some(list.list().cardinality());
        }
    }
    Ok(pruning)
}

/// Scores documents of one list.
pub(super) struct Scan<'a, 's> {
    clause: &'a Clause<'s>,
    list: &'a RankedLong<'s, Section<'s>>,
    base: u64,
    frequencies: Frequencies<'s>,
    /// For many postings at once; made when they are needed.
    lengths: Option<Norms<'s>>,
    top: &'a mut Top,
    seen: &'a mut TieCache,
    pub(super) left_out: ExcludedDocs<'a, 's>,
    change: Option<PartChange>,
}

/// Documents that are not offered.
#[derive(Debug)]
pub(super) enum ExcludedDocs<'a, 's> {
    Nothing,
    /// These, which ascend.
    Docs(&'a [u32]),
    /// Documents that one of these lists has.
    Lists(Vec<Finder<'a, 's>>),
}

impl<'a, 's> ExcludedDocs<'a, 's> {
    /// Whether a document is left out; asked in ascending order.
    pub(super) fn has(&mut self, doc: u32) -> Result<bool> {
        match self {
            ExcludedDocs::Nothing => Ok(false),
            ExcludedDocs::Docs(docs) => Ok(docs.binary_search(&doc).is_ok()),
            ExcludedDocs::Lists(lists) => {
                for list in lists {
                    if list.rank(doc)?.is_some() {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Documents of some lists, with the memory of others.
    pub(super) fn lists(
        lists: impl Iterator<Item = &'a RankedList<'s, Section<'s>>>,
        memory: &mut Vec<Finder<'static, 'static>>,
    ) -> Self {
        let mut finders = recycled(std::mem::take(memory));
        finders.extend(lists.map(Finder::of));
        if finders.is_empty() {
            *memory = recycled(finders);
            return ExcludedDocs::Nothing;
        }
        ExcludedDocs::Lists(finders)
    }

    /// Keeps the memory for the next query.
    pub(super) fn recycle(self, memory: &mut Vec<Finder<'static, 'static>>) {
        if let ExcludedDocs::Lists(finders) = self {
            *memory = recycled(finders);
        }
    }
}

/// Finds ascending documents in a list.
#[derive(Debug)]
pub(super) enum Finder<'a, 's> {
    /// Documents, and the first that was not passed over.
    Short(&'a [u32], usize),
    Long(Walk<'a, 's, Section<'s>>),
}

impl<'a, 's> Finder<'a, 's> {
    pub(super) fn of(list: &'a RankedList<'s, Section<'s>>) -> Self {
        match list {
            RankedList::Short(list) => Finder::Short(list.docs(), 0),
            RankedList::Long(list) => Finder::Long(list.walk()),
        }
    }

    /// The rank of a document, if the list has it.
    pub(super) fn rank(&mut self, doc: u32) -> Result<Option<u32>> {
        match self {
            Finder::Short(docs, from) => {
                *from += docs[*from..].iter().take_while(|at| **at < doc).count();
                Ok((docs.get(*from) == Some(&doc)).then_some(*from as u32))
            }
            Finder::Long(walk) => walk.rank(doc),
        }
    }
}

impl<'a, 's> Scan<'a, 's> {
    pub(super) fn new(
        clause: &'a Clause<'s>,
        list: &'a RankedLong<'s, Section<'s>>,
        base: u64,
        top: &'a mut Top,
        seen: &'a mut TieCache,
        left_out: ExcludedDocs<'a, 's>,
    ) -> Self {
        let (frequencies, change) = (list.frequencies().reader(), clause.change());
        Scan { clause, list, base, frequencies, lengths: None, top, seen, left_out, change }
    }

    /// Offers what can be among the best.
    pub(super) fn offer(&mut self, candidates: &mut Vec<u32>, pruning: &mut Pruning) -> Result<()> {
        let best = f64::from(self.clause.weight) * f64::from(self.list.max_part());
        let per_code = best / 255.0 * (1.0 + ROUNDING);
        let (weight, change) = (self.clause.weight.into(), self.change);
        let mut reach = Reach { weight, change, of: 0.0, needed: 0.0 };
        for container in self.list.containers() {
            budget::work(ns::WINDOW_BOUNDS)?;
            pruning.windows_considered += 1;
            let high = u32::from(container.key) * WINDOW;
            let mut cut = cut(reach.needed(self.top), per_code);
            while cut <= 255 && self.rules_out(cut as u8, high) {
                cut += 1;
            }
            if u32::from(container.max_code) < cut {
                pruning.windows_skipped += 1;
                continue;
            }
            let codes = self.list.codes(&container)?;
            let codes = match &codes {
                Codes::Dense(codes) | Codes::ByRank(codes) => &codes[..],
            };
            candidates.clear();
            select_codes(codes, cut.clamp(1, 255) as u8, candidates);
            pruning.blocks_considered += codes.len() as u64;
            if candidates.is_empty() {
                continue;
            }
            let part = LongPart::open(self.list, &container)?;
            // Every block that comes is behind those that were scored.
            let mut reached = high;
            for (nth, &candidate) in candidates.iter().enumerate() {
                if nth % BLOCKS_AT_ONCE == 0 {
                    budget::work(ns::BLOCK_SCORED * BLOCKS_AT_ONCE as u64)?;
                }
                let candidate = candidate as usize;
                // Equal scores of later documents do not enter: those are most, where texts are short.
                let code = codes.get(candidate).copied().unwrap_or_default();
                if (f64::from(code) * per_code) < reach.needed(self.top)
                    || self.rules_out(code, reached)
                {
                    continue;
                }
                pruning.blocks_scored += 1;
                let (first, word, rank) = match part.codes.dense() {
                    Some(_) => block(&part, candidate),
                    None => block_from(&part, candidate),
                };
                pruning.documents_scored += u64::from(word.count_ones());
                pruning.postings += u64::from(word.count_ones());
                self.offer_block(high + first, (word, rank), word, Some(code))?;
                reached = high + first + 64;
            }
        }
        Ok(())
    }

    #[inline]
    fn rules_out(&self, code: u8, doc: u32) -> bool {
        let doc = DocId(self.base + u64::from(doc));
        self.seen.rules_out(code, doc, self.top)
    }

    /// Scores documents of a block that begins with `first`: those that are `wanted` of all that the list has there, given as
    /// bits, which have no other word. `rank` is that of the first one of the list, and `code` the block's as it is written.
    pub(super) fn offer_block(
        &mut self,
        first: u32,
        (word, rank): (u64, u32),
        wanted: u64,
        code: Option<u8>,
    ) -> Result<()> {
        if wanted == 0 {
            return Ok(());
        }
        if first + wanted.ilog2() >= self.clause.lengths.n_docs() {
            return Err(past_the_end());
        }
        if let Some(code) = code
            && self.is_too_weak(first, wanted, code)?
        {
            return Ok(());
        }
        if are_many(wanted) {
            let mut together = Together::new(first, wanted);
            let lengths = self.lengths.get_or_insert_with(|| self.clause.lengths.reader());
            together.add(self.clause, (&mut self.frequencies, lengths), word, rank)?;
            if let Some(code) = code.filter(|code| wanted == word && self.seen.tells(*code)) {
                // The best document has the code of the block.
                let best = together.scored().map(|(_, score)| score).fold(0.0, f32::max);
                self.seen.note_code(code, best);
            }
            let mut good = together.at_least(self.top.threshold());
            return good.try_for_each(|(doc, score)| self.offer_scored(score, doc));
        }
        let start = first + wanted.trailing_zeros();
        let lengths = self.clause.lengths.codes(start..first + wanted.ilog2() + 1)?;
        let norm_cache = &self.clause.scoring.norm_cache;
        for (nth, bit) in (0..).zip(bits_of(wanted)) {
            // Counting bits takes longer where no instruction does it.
            let nth = if wanted == word { nth } else { (word & ((1 << bit) - 1)).count_ones() };
            let frequency = self.frequencies.get(rank + nth)?;
            let at = (first + bit - start) as usize;
            let length = lengths.get(at).copied().ok_or_else(past_the_end)?;
            let part = score_part(frequency, norm_cache[usize::from(length)]);
            let score = self.clause.weight * part;
            self.seen.note(self.list, part, score);
            self.offer_scored(score, first + bit)?;
        }
        Ok(())
    }

    /// Whether no document of a block is good enough by the code and the lengths of these, where codes were computed with another
    /// average length.
    fn is_too_weak(&self, first: u32, wanted: u64, code: u8) -> Result<bool> {
        let (Some(change), Clause { lengths, scoring, weight, .. }) = (&self.change, self.clause)
        else {
            return Ok(false);
        };
        let codes = lengths.codes(first..lengths.n_docs().min(first + 64))?;
        let of = |bit: u32| codes.get(bit as usize).copied().unwrap_or_default();
        let (least, greatest) = bits_of(wanted)
            .map(of)
            .fold((u8::MAX, 0), |(least, greatest), of| (least.min(of), greatest.max(of)));
        let k = |length: u8| scoring.norm_cache[usize::from(length)];
        let part = f64::from(self.list.max_part()) * f64::from(code) / 255.0;
        let most = change.most_of(part, (k(least), k(greatest)));
        Ok(f64::from(*weight) * most * (1.0 + ROUNDING) < f64::from(self.top.threshold()))
    }

    /// Offers a document, unless it is left out.
    #[inline]
    fn offer_scored(&mut self, score: f32, doc: u32) -> Result<()> {
        let id = DocId(self.base + u64::from(doc));
        let is_offered = match &mut self.left_out {
            ExcludedDocs::Nothing => true,
            left_out => self.top.would_take(score, id) && !left_out.has(doc)?,
        };
        if is_offered {
            self.top.push(score, id);
        }
        Ok(())
    }
}

/// The first document of a block in its window, what the list has there as bits, and the rank of that.
fn block(part: &LongPart<'_>, block: usize) -> (u32, u64, u32) {
    let (word, rank) = part.block(block);
    ((block * 64) as u32, word, rank)
}

/// Block that posting `nth` of a container is the first of.
fn block_from(part: &LongPart<'_>, nth: usize) -> (u32, u64, u32) {
    let Container::Array(values) = part.container() else {
        let low = part.container().select(nth as u32);
        return low.map_or((0, 0, 0), |low| block(part, usize::from(low >> 6)));
    };
    let mut lows = values.get(nth..).unwrap_or_default().iter().map(|v| u16::from_le_bytes(*v));
    let Some(first) = lows.next() else { return (0, 0, 0) };
    let same = lows.take_while(|low| low >> 6 == first >> 6);
    let word = same.fold(1 << (first & 63), |word, low| word | 1 << (low & 63));
    (u32::from(first & !63), word, part.first_rank + nth as u32)
}

/// Least score of documents that are good enough, by the parts that codes were computed of.
struct Reach {
    weight: f64,
    change: Option<PartChange>,
    /// The threshold that was asked for last, and the answer.
    of: f32,
    needed: f64,
}

impl Reach {
    #[inline]
    fn needed(&mut self, top: &Top) -> f64 {
        let threshold = top.threshold();
        if threshold != self.of {
            let now = f64::from(threshold);
            let needed = |change: &PartChange| change.needed(now / self.weight) * self.weight;
            (self.of, self.needed) = (threshold, self.change.as_ref().map_or(now, needed));
        }
        self.needed
    }
}

/// The smallest code with which a score can reach what is needed; above 255 where none can.
fn cut(needed: f64, per_code: f64) -> u32 {
    let mut cut = (needed / per_code) as u32;
    while f64::from(cut) * per_code < needed && cut <= 255 {
        cut += 1;
    }
    cut
}
