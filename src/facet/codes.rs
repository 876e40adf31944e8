//! The most frequent values of a field among the documents that match, or the first, by its column.
//!
//! Each document that matches is asked for its codes, and a counter a code does the rest. Numbers of terms are counted in
//! each segment and brought together by their terms, the codes of typed fields are the same in all segments. Where the codes
//! lie close there is a counter for each that may come; where they are far apart and few match, the codes are written down,
//! sorted and counted by their runs.
//!
//! Where a filter leaves out values, those that were met are tested by their terms, or, where they are many, the dictionary is
//! walked over once to note the numbers that are wanted. Counts are exact and ties go to the smaller term by bytes, as with
//! [`terms`](super::terms).
//!
//! Cost: a look at the directory for each block of 1,024 documents in which something matches where these do not share a frame,
//! two or three nanoseconds for each document, and a nanosecond a counter. Memory: four bytes a counter, or 32 bytes for each code that is met.

use super::merged::MergedCounts;
use super::of_field::{OfField, OfSegment, wider};
use super::profile::{ColumnProfile, FacetProfile, TermCounts};
use super::tally::Tally;
use super::top::Top;
use super::wanted::{Wanted, term_of};
use crate::budget::{self, Held};
use crate::error::{Error, ErrorKind, Result};
use crate::execution::{MatchSet, Places, for_each_few_or_block, for_each_number};
use crate::format::column::{BLOCK_DOCS, Column, Few, Heads};
use crate::ids::FieldId;
use crate::plan::{FacetOrder, FacetPlan, SegmentPlan, ValuesWanted, cost};
use crate::segment::file::Section;
use crate::segment::reader::SegmentReader;
use crate::value;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Instant;

/// What a look at the directory takes about, and at a document, in nanoseconds.
const HEAD_NS: u64 = 20;
const DOC_NS: u64 = 3;
/// And at one of a few documents, and at one where the directory is not needed.
const FEW_NS: u64 = 10;
const NUMBER_NS: u64 = 2;

/// Counts the values of a field among `matches`, which tells for each segment of a query's plan what matches there.
pub(super) fn count_by_column(
    segments: &[SegmentPlan<'_>],
    plan: &FacetPlan,
    matches: &[MatchSet],
) -> Result<TermCounts> {
    let started = Instant::now();
    let mut counting = Counting::default();
    // Of what was given: a document that says the same twice has two.
    let mut single_valued = true;
    let mut parts = vec![];
    for (segment, matches) in segments.iter().zip(matches) {
        let field = segment.segment.field(plan.field);
        // That there is one was looked up in the schema.
        let Some(column) = field.column()? else { continue };
        let statistics = field.statistics()?;
        single_valued &= statistics.n_tokens == u64::from(statistics.n_docs_with_value);
        counting.n_matches += matches.len(segment.n_docs);
        parts.push((field, column, matches));
    }
    let n_matches = counting.n_matches;
    if n_matches > u64::from(u32::MAX) {
        return Err(Error::new(ErrorKind::LimitExceeded, "counting values by a column")
            .expected(format!("at most {} documents that match", u32::MAX))
            .found(n_matches.to_string()));
    }
    let of_schema = segments.first().map(|segment| segment.segment.schema().get(plan.field));
    let values = &plan.values;
    let mut top = Top::new(values);
    if of_schema.is_some_and(|field| field.has_ordinals()) {
        let mut of_parts = vec![];
        // As the plan has it: the tallies of all segments are there together.
        let mut n_terms = 0;
        for (field, ..) in &parts {
            n_terms += u64::from(field.terms()?.n_terms());
        }
        let with_counters = n_terms <= cost::counters_max(n_matches);
        for (field, column, matches) in parts {
            let n_terms = field.terms()?.n_terms();
            let mut tally = Tally::of(0, u64::from(n_terms), with_counters)?;
            counting.add_segment(&column, matches, &mut tally)?;
            tally.finish()?;
            of_parts.push((field.terms()?, tally));
        }
        match &of_parts[..] {
            [(terms, counted)] => {
                // A term is asked for where it is among the first, which its count and its place say.
                let mut wanted = Wanted::of(values.filter.as_ref(), *terms, counted)?;
                let first = first_of(counted, values, |ordinal| wanted.has(ordinal))?;
                let mut term = vec![];
                for (ordinal, count) in first {
                    term_of(terms, ordinal, &mut term)?;
                    top.offer(count, &term)?;
                }
            }
            _ => {
                // Those whose numbers say that they are not wanted are not even read.
                let mut of_filter = vec![];
                for (terms, counted) in &of_parts {
                    of_filter.push(Wanted::of(values.filter.as_ref(), *terms, counted)?);
                }
                let counts = of_parts.iter().zip(&of_filter).map(|((terms, counted), wanted)| {
                    (*terms, counted.iter().filter(|(ordinal, _)| wanted.may_have(*ordinal)))
                });
                let mut merged = MergedCounts::open(counts)?;
                while let Some((term, count)) = merged.next()? {
                    if top.admits(count, term)
                        && values.filter.as_ref().is_none_or(|filter| filter.matches(term))
                    {
                        top.offer(count, term)?;
                    }
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
        tally.finish()?;
        let is_wanted = |code| {
            let filter = values.filter.as_ref();
            Ok(filter.is_none_or(|filter| filter.matches(&value::term_of_code(code))))
        };
        for (code, count) in first_of(&tally, values, is_wanted)? {
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

/// How many of some documents have each term that any of them has.
#[derive(Debug, Default)]
pub(super) struct CountsByTerm {
    counts: HashMap<Vec<u8>, u64>,
    held: Held,
}

impl CountsByTerm {
    pub(super) fn of(&self, term: &[u8]) -> u64 {
        self.counts.get(term).copied().unwrap_or(0)
    }
}

/// How many of `matches` in a segment have each term of a field that keeps a column.
///
/// # Errors
///
/// What reading the column and the dictionary says; a limit error where a query may not take more memory.
pub(super) fn count_by_term(
    segment: SegmentReader<'_>,
    field: FieldId,
    matches: &MatchSet,
) -> Result<CountsByTerm> {
    let (reader, mut by_term) = (segment.field(field), CountsByTerm::default());
    let Some(column) = reader.column()? else { return Ok(by_term) };
    let n_matches = matches.len(segment.n_docs());
    let terms = segment.schema().get(field).has_ordinals().then(|| reader.terms()).transpose()?;
    let (least, n_codes) = match (&terms, column.range()) {
        (Some(terms), _) => (0, u64::from(terms.n_terms())),
        (None, Some((least, greatest))) => (least, (greatest - least).saturating_add(1)),
        (None, None) => return Ok(by_term),
    };
    let mut tally = Tally::new(least, n_codes, n_matches)?;
    Counting::default().add_segment(&column, matches, &mut tally)?;
    tally.finish()?;
    tally.for_each(|(code, count)| {
        let mut term = vec![];
        match &terms {
            Some(terms) => drop(term_of(terms, code, &mut term)?),
            None => term.extend_from_slice(&value::term_of_code(code)),
        }
        by_term.held.more(cost::MET_TERM_BYTES + term.len() as u64)?;
        by_term.counts.insert(term, count.into());
        Ok(())
    })?;
    Ok(by_term)
}

/// How many different values there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DistinctCounts {
    pub(crate) distinct: u64,
    /// Documents with any, of each value so many at the most.
    pub(crate) kept: u64,
    /// Documents that have none.
    pub(crate) missing: u64,
}

impl DistinctCounts {
    fn add(&mut self, n_docs: u64, keep: u64) {
        self.distinct += 1;
        self.kept += n_docs.min(keep);
    }
}

/// How many different values of a field that keeps a column `matches` have, how many of them have none, and how many are left
/// with at most `keep` of each value, where none has two.
pub(crate) fn count_distinct(
    segments: &[SegmentPlan<'_>],
    field: FieldId,
    keep: u64,
    matches: &[MatchSet],
) -> Result<DistinctCounts> {
    let mut counting = Counting::default();
    let OfField { columns, n_matches, range } = OfField::new(segments, field, matches)?;
    let has_ordinals = |it: &SegmentPlan<'_>| it.segment.schema().get(field).has_ordinals();
    let mut counts = DistinctCounts::default();
    let mut add = |(_, n_docs): (u64, u32)| {
        counts.add(n_docs.into(), keep);
        Ok(())
    };
    if segments.first().is_some_and(has_ordinals) {
        let mut of_parts = vec![];
        for OfSegment { field, column, matches, .. } in columns {
            let terms = field.terms()?;
            let n_terms = u64::from(terms.n_terms());
            let mut tally = Tally::of(0, n_terms, n_terms <= cost::counters_max(n_matches))?;
            counting.add_segment(&column, matches, &mut tally)?;
            tally.finish()?;
            of_parts.push((terms, tally));
        }
        match &of_parts[..] {
            [(_, tally)] => tally.for_each(add)?,
            parts => {
                let of_terms = parts.iter().map(|(terms, tally)| (*terms, tally.iter()));
                let mut merged = MergedCounts::open(of_terms)?;
                while let Some((_, n_docs)) = merged.next()? {
                    counts.add(n_docs, keep);
                }
            }
        }
    } else {
        let (least, greatest) = range.unwrap_or_default();
        let mut tally = Tally::new(least, (greatest - least).saturating_add(1), n_matches)?;
        for OfSegment { column, matches, .. } in columns {
            counting.add_segment(&column, matches, &mut tally)?;
        }
        tally.finish()?;
        tally.for_each(&mut add)?;
    }
    Ok(DistinctCounts { missing: n_matches.saturating_sub(counting.n_with), ..counts })
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
        if let Some(plain) = column.plain() {
            return for_each_number(matches, &plain, |numbers| {
                budget::work(NUMBER_NS * numbers.len() as u64)?;
                self.profile.documents += numbers.len() as u64;
                self.n_with += tally.add_numbers(&plain, numbers)?;
                Ok(())
            });
        }
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

/// Those of the codes that come first in the order that is wanted, as limit and minimum allow; ascending. Those that would come
/// are given to `is_wanted`.
fn first_of(
    tally: &Tally,
    values: &ValuesWanted,
    mut is_wanted: impl FnMut(u64) -> Result<bool>,
) -> Result<Vec<(u64, u64)>> {
    let (mut best, mut held) = (BinaryHeap::new(), Held::default());
    tally.for_each(|(code, count)| {
        let rank = match values.order {
            FacetOrder::Count => (count, Reverse(code)),
            FacetOrder::Value => (0, Reverse(code)),
            FacetOrder::ValueDescending => (0, Reverse(u64::MAX - code)),
        };
        let counted = Reverse((rank, code, count));
        if u64::from(count) < values.minimum || values.limit == 0 {
            return Ok(());
        }
        if best.len() < values.limit {
            if is_wanted(code)? {
                held.more(2 * size_of_val(&counted) as u64)?;
                best.push(counted);
            }
        } else if best.peek().is_some_and(|worst| *worst > counted)
            && is_wanted(code)?
            && let Some(mut worst) = best.peek_mut()
        {
            *worst = counted;
        }
        Ok(())
    })?;
    let mut best: Vec<_> =
        best.into_iter().map(|Reverse((_, code, count))| (code, count.into())).collect();
    best.sort_unstable();
    Ok(best)
}
