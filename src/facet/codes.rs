//! The most frequent values of a field among the documents that match, by its column.
//!
//! Each document that matches is asked for its codes, and a counter a code does the rest. Numbers of terms are counted in
//! each segment and brought together by their terms, the codes of typed fields are the same in all segments. Where the codes
//! lie close there is a counter for each that may come; where they are far apart and few match, the codes are written down,
//! sorted and counted by their runs.
//!
//! Counts are exact and ties go to the smaller term by bytes, as with [`terms`](super::terms).
//!
//! Cost: a look at the directory for each block of 1,024 documents in which something matches, two or three nanoseconds for
//! each document, and a nanosecond a counter. Memory: four bytes a counter, or 24 bytes for each code that is met.

use super::merged::MergedCounts;
use super::ranges::{ColumnProfile, wider};
use super::terms::{FacetProfile, TermCounts};
use super::top::Top;
use crate::budget;
use crate::error::{Error, Result};
use crate::execution::{MatchSet, Places, for_each_few_or_block};
use crate::format::column::{BLOCK_DOCS, Block, Column, Few, Heads};
use crate::plan::{FacetPlan, SegmentPlan, cost};
use crate::segment::file::Section;
use crate::value;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

/// What a look at the directory takes about, a document, and a counter, in nanoseconds.
const HEAD_NS: u64 = 20;
const DOC_NS: u64 = 3;
const COUNTER_NS: u64 = 1;
/// And at one of a few documents.
const FEW_NS: u64 = 10;
/// Codes that are written down before they are sorted the first time.
const PENDING_MIN: usize = 1 << 16;

/// Counts the values of a field among `matches`, which tells for each segment of a query's plan what matches there.
pub(super) fn count_by_column(
    segments: &[SegmentPlan<'_>],
    plan: &FacetPlan,
    matches: &[MatchSet],
) -> Result<TermCounts> {
    let started = Instant::now();
    let mut counting = Counting::default();
    let mut single_valued = true;
    let mut parts = vec![];
    for (segment, matches) in segments.iter().zip(matches) {
        let field = segment.segment.field(plan.field);
        // That there is one was looked up in the schema.
        let Some(column) = field.column()? else { continue };
        single_valued &= column.n_values() == u64::from(column.n_with());
        counting.n_matches += matches.len(segment.n_docs);
        parts.push((field, column, matches));
    }
    let n_matches = counting.n_matches;
    let of_schema = segments.first().map(|segment| segment.segment.schema().get(plan.field));
    let mut top = Top::new(plan.limit);
    if of_schema.is_some_and(|field| field.has_ordinals()) {
        let mut of_parts = vec![];
        for (field, column, matches) in parts {
            let n_terms = field.terms()?.n_terms();
            let mut tally = Tally::new(0, u64::from(n_terms), n_matches)?;
            counting.add_segment(&column, matches, &mut tally)?;
            of_parts.push((field.terms()?, tally.finish()?));
        }
        match &of_parts[..] {
            [(terms, counted)] => {
                // A term is asked for where it is among the first, which its count and its place say.
                let first = first_of(counted.iter(), plan.limit)?;
                let mut term = vec![];
                for (ordinal, count) in first {
                    let ordinal = u32::try_from(ordinal).unwrap_or(u32::MAX);
                    terms.term(crate::ids::TermOrdinal(ordinal), &mut term)?;
                    top.offer(count, &term)?;
                }
            }
            _ => {
                let counts = of_parts.iter().map(|(terms, counted)| (*terms, counted.iter()));
                let mut merged = MergedCounts::open(counts)?;
                while let Some((term, count)) = merged.next()? {
                    top.offer(count, term)?;
                }
            }
        }
    } else {
        let ranges = parts.iter().map(|(_, column, _)| column.range());
        let (least, greatest) = ranges.fold(None, wider).unwrap_or_default();
        let n_codes = (greatest - least).saturating_add(1);
        let mut tally = Tally::new(least, n_codes, n_matches)?;
        for (_, column, matches) in parts {
            counting.add_segment(&column, matches, &mut tally)?;
        }
        let counted = tally.finish()?;
        for (code, count) in first_of(counted.iter(), plan.limit)? {
            top.offer(count, &value::term_of_code(code))?;
        }
    }
    Ok(TermCounts {
        buckets: top.into_sorted(),
        with_value: counting.n_with,
        missing: n_matches.saturating_sub(counting.n_with),
        single_valued,
        profile: FacetProfile {
            terms_skipped: plan.n_terms,
            time: started.elapsed(),
            column: Some(ColumnProfile { time: started.elapsed(), ..counting.profile }),
            ..FacetProfile::default()
        },
    })
}

#[derive(Debug, Default)]
struct Counting {
    n_matches: u64,
    n_with: u64,
    profile: ColumnProfile,
}

impl Counting {
    fn add_segment(
        &mut self,
        column: &Column<Section<'_>>,
        matches: &MatchSet,
        tally: &mut Tally,
    ) -> Result<()> {
        let few = |(counting, tally): &mut (&mut Self, &mut Tally), few: &Few| {
            budget::work(FEW_NS * few.n_docs)?;
            counting.profile.blocks += few.n_blocks;
            counting.profile.documents += few.n_docs;
            counting.n_with += few.codes().len() as u64;
            few.codes().iter().try_for_each(|code| tally.add(*code, 1))
        };
        for_each_few_or_block(
            matches,
            &mut Heads::of(*column),
            &mut (self, tally),
            few,
            |(counting, tally), heads, nth, places| counting.add_block(heads, nth, places, tally),
        )
    }

    fn add_block<'s>(
        &mut self,
        heads: &mut Heads<'s, Section<'s>>,
        nth: u32,
        places: Places<'_>,
        tally: &mut Tally,
    ) -> Result<()> {
        let column = heads.column();
        self.profile.blocks += 1;
        let head = heads.get(nth)?;
        if head.n_values == 0 {
            self.profile.blocks_skipped += 1;
            return budget::work(HEAD_NS);
        }
        let n_docs = column.n_docs().saturating_sub(nth * BLOCK_DOCS).min(BLOCK_DOCS);
        let n_places = places.len();
        if head.least == head.greatest && head.n_values == n_docs {
            self.n_with += u64::from(n_places);
            self.profile.blocks_skipped += 1;
            budget::work(HEAD_NS)?;
            return tally.add(head.least, n_places);
        }
        budget::work(HEAD_NS + DOC_NS * u64::from(n_places))?;
        self.profile.documents += u64::from(n_places);
        let block = column.block(nth, head)?;
        self.n_with += tally.add_block(&block, places)?;
        Ok(())
    }
}

/// How often each code was met.
#[derive(Debug)]
struct Tally {
    least: u64,
    /// For each code from `least` on; empty where codes are written down.
    counters: Vec<u32>,
    listed: Listed,
}

/// Codes as they were met, and those before, with their counts.
#[derive(Debug, Default)]
struct Listed {
    pending: Vec<Counted>,
    sorted: Vec<Counted>,
}

/// A code with its count.
type Counted = (u64, u32);

impl Tally {
    /// For `n_codes` codes from `least` on, of which `n_matches` documents have some.
    fn new(least: u64, n_codes: u64, n_matches: u64) -> Result<Self> {
        let mut counters = vec![];
        if n_codes <= cost::counters_max(n_matches) {
            budget::hold(n_codes * size_of::<u32>() as u64)?;
            budget::work(n_codes * COUNTER_NS)?;
            counters = vec![0; n_codes as usize];
        }
        Ok(Tally { least, counters, listed: Listed::default() })
    }

    #[inline]
    fn add(&mut self, code: u64, n_docs: u32) -> Result<()> {
        if self.counters.is_empty() {
            return self.listed.add(code, n_docs);
        }
        let counter =
            code.checked_sub(self.least).and_then(|at| self.counters.get_mut(at as usize));
        match counter {
            Some(counter) => *counter += n_docs,
            None => return Err(outside(code)),
        }
        Ok(())
    }

    /// Adds the codes of the documents in these places; with how many of them have any.
    fn add_block(&mut self, block: &Block<'_>, places: Places<'_>) -> Result<u64> {
        if self.counters.is_empty() {
            self.listed.add_block(block, places)
        } else {
            self.count_block(block, places)
        }
    }

    fn count_block(&mut self, block: &Block<'_>, places: Places<'_>) -> Result<u64> {
        let (least, counters) = (self.least, &mut self.counters[..]);
        let mut wrong = None;
        let mut count = |code: u64| match counters.get_mut(code.wrapping_sub(least) as usize) {
            Some(counter) => *counter += 1,
            None => wrong = Some(code),
        };
        let mut n_with = 0;
        match block.one_each() {
            Some(numbers) => places.for_each(|place| {
                if let Some(code) = numbers.code(place) {
                    n_with += 1;
                    count(code);
                }
            }),
            None => places.for_each(|place| {
                let mut has_any = false;
                block.codes(place).for_each(|code| {
                    has_any = true;
                    count(code);
                });
                n_with += u64::from(has_any);
            }),
        }
        wrong.map_or(Ok(n_with), |code| Err(outside(code)))
    }

    fn finish(mut self) -> Result<Self> {
        self.listed.sort_pending()?;
        budget::work(self.counters.len() as u64 * COUNTER_NS)?;
        Ok(self)
    }

    /// The codes that were met, ascending, with their counts.
    fn iter(&self) -> impl Iterator<Item = Counted> {
        let counters = (self.least..).zip(&self.counters).filter(|(_, count)| **count > 0);
        counters.map(|(code, count)| (code, *count)).chain(self.listed.sorted.iter().copied())
    }
}

impl Listed {
    fn add(&mut self, code: u64, n_docs: u32) -> Result<()> {
        budget::hold(size_of::<Counted>() as u64)?;
        self.pending.push((code, n_docs));
        self.sort_if_many()
    }

    fn add_block(&mut self, block: &Block<'_>, places: Places<'_>) -> Result<u64> {
        let mut n_with = 0;
        let before = self.pending.len();
        places.for_each(|place| {
            let before = self.pending.len();
            self.pending.extend(block.codes(place).map(|code| (code, 1)));
            n_with += u64::from(self.pending.len() > before);
        });
        budget::hold(((self.pending.len() - before) * size_of::<Counted>()) as u64)?;
        self.sort_if_many()?;
        Ok(n_with)
    }

    /// As long as there are fewer than have been sorted, so that none is gone through often.
    fn sort_if_many(&mut self) -> Result<()> {
        match self.pending.len() >= self.sorted.len().max(PENDING_MIN) {
            true => self.sort_pending(),
            false => Ok(()),
        }
    }

    fn sort_pending(&mut self) -> Result<()> {
        let n_pending = self.pending.len();
        budget::work(n_pending as u64 * u64::from(usize::BITS - n_pending.leading_zeros()))?;
        self.pending.sort_unstable();
        self.sorted.append(&mut self.pending);
        let n_before = self.sorted.len();
        // Two runs that ascend: what a stable sort takes one pass for.
        self.sorted.sort_by_key(|(code, _)| *code);
        self.sorted.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            first.1 += if is_same { later.1 } else { 0 };
            is_same
        });
        budget::release(((n_before - self.sorted.len()) * size_of::<Counted>()) as u64);
        Ok(())
    }
}

/// Those with the highest counts, and of equal ones the first, as `limit` allows; ascending by code.
fn first_of(counts: impl Iterator<Item = Counted>, limit: usize) -> Result<Vec<(u64, u64)>> {
    let mut best: BinaryHeap<Reverse<(u32, Reverse<u64>)>> = BinaryHeap::new();
    for (code, count) in counts {
        let counted = Reverse((count, Reverse(code)));
        if best.len() < limit {
            budget::hold(size_of_val(&counted) as u64)?;
            best.push(counted);
        } else if let Some(mut worst) = best.peek_mut()
            && *worst > counted
        {
            *worst = counted;
        }
    }
    let mut best: Vec<_> =
        best.into_iter().map(|Reverse((count, Reverse(code)))| (code, count.into())).collect();
    best.sort_unstable();
    Ok(best)
}

#[cold]
fn outside(code: u64) -> Error {
    Error::corrupt("counting the codes of a column")
        .expected("one between the least and the greatest of the column")
        .found(code.to_string())
}
