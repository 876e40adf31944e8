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

use super::merged::{CountedTerms, Merged};
use super::of_field::{FieldMatches, OfField, OfSegment};
use super::profile::{FacetActual, FacetProfile, TermCounts};
use super::scan::Scan;
use super::tally::{Counted, Tally};
use super::top::Top;
use super::wanted::{Wanted, term_of};
use crate::budget::{self, Held, ns};
use crate::error::Result;
use crate::format::terms::TermDictionary;
use crate::plan::{FacetPlan, cost};
use crate::segment::file::Section;
use crate::value;
use std::collections::HashMap;

/// Counts the values of a field among what matches.
pub(super) fn count_by_column(of: FieldMatches<'_>, plan: &FacetPlan) -> Result<TermCounts> {
    let of_field = OfField::new(of)?;
    of_field.check_matches("counting values by a column")?;
    // Of what was given: a document that says the same twice has two.
    let mut single_valued = true;
    for part in &of_field.columns {
        let statistics = part.field.statistics()?;
        single_valued &= statistics.n_tokens == u64::from(statistics.n_docs_with_value);
    }
    let (values, n_matches) = (&plan.values, of_field.n_matches);
    let filter = values.filter.as_ref();
    let (mut scan, mut top) = (Scan::default(), Top::new(values));
    let most = cost::counters_max(n_matches);
    // As the plan has it: the tallies of all segments are there together.
    match Tallies::of(&of_field, &mut scan, |_, of_all| of_all <= most)? {
        Tallies::OfTerms(parts) => match &parts[..] {
            [(terms, counted)] => {
                // A term is asked for where it is among the first, which its count and its place say.
                let mut wanted = Wanted::of(filter, *terms, counted)?;
                let mut first = Top::new(values);
                budget::giving_back(|| offer(counted, &mut first, |it, _| wanted.has(it)))?;
                let (mut first, mut term) = (first.into_sorted(), vec![]);
                first.sort_unstable();
                for (ordinal, count) in first {
                    term_of(terms, value::code_of_term(&ordinal).unwrap_or(u64::MAX), &mut term)?;
                    top.offer(count, &term)?;
                }
            }
            parts => {
                // Those whose numbers say that they are not wanted are not even read.
                let mut of_filter = vec![];
                for (terms, counted) in parts {
                    of_filter.push(Wanted::of(filter, *terms, counted)?);
                }
                let counts = parts.iter().zip(&of_filter).map(|((terms, counted), wanted)| {
                    (*terms, counted.iter().filter(|(ordinal, _)| wanted.may_have(*ordinal)))
                });
                let mut merged = merged(counts)?;
                while let Some((term, counts)) = merged.next()? {
                    let count = sum(counts);
                    if top.admits(count, term) && filter.is_none_or(|filter| filter.matches(term)) {
                        top.offer(count, term)?;
                    }
                }
            }
        },
        Tallies::OfCodes(tally) => {
            offer(&tally, &mut top, |_, term| Ok(filter.is_none_or(|it| it.matches(term))))?;
        }
    }
    Ok(TermCounts {
        buckets: top.into_sorted(),
        with_value: scan.n_with,
        missing: n_matches.saturating_sub(scan.n_with),
        single_valued,
        profile: FacetProfile {
            counts: FacetActual {
                terms_skipped: plan.sizes.n_terms,
                ..FacetActual::of_column(scan.profile)
            },
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

/// How many of what matches have each term of a field that keeps a column.
///
/// # Errors
///
/// What reading the column and the dictionary says; a limit error where a query may not take more memory.
pub(super) fn count_by_term(of: FieldMatches<'_>) -> Result<CountsByTerm> {
    let (of_field, mut by_term) = (OfField::new(of)?, CountsByTerm::default());
    let mut add = |term: &[u8], count: u32| -> Result<()> {
        by_term.held.more(cost::MET_TERM_BYTES + term.len() as u64)?;
        by_term.counts.insert(term.to_vec(), count.into());
        Ok(())
    };
    let most = cost::counters_max(of_field.n_matches);
    match Tallies::of(&of_field, &mut Scan::default(), |own, _| own <= most)? {
        Tallies::OfTerms(parts) => {
            let mut term = vec![];
            for (terms, tally) in parts {
                tally.for_each(|(ordinal, count)| {
                    term_of(&terms, ordinal, &mut term)?;
                    add(&term, count)
                })?;
            }
        }
        Tallies::OfCodes(tally) => {
            tally.for_each(|(code, count)| add(&value::term_of_code(code), count))?;
        }
    }
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

/// How many different values of a field that keeps a column what matches has, how many of it have none, and how many are left
/// with at most `keep` of each value, where none has two.
pub(crate) fn count_distinct(of: FieldMatches<'_>, keep: u64) -> Result<DistinctCounts> {
    let of_field = OfField::new(of)?;
    let (mut scan, mut counts) = (Scan::default(), DistinctCounts::default());
    let most = cost::counters_max(of_field.n_matches);
    let tallies = Tallies::of(&of_field, &mut scan, |own, _| own <= most)?;
    let mut add = |(_, n_docs): (u64, u32)| {
        counts.add(n_docs.into(), keep);
        Ok(())
    };
    match &tallies {
        Tallies::OfCodes(tally) => tally.for_each(add)?,
        Tallies::OfTerms(parts) => match &parts[..] {
            [(_, tally)] => tally.for_each(&mut add)?,
            parts => {
                let of_terms = parts.iter().map(|(terms, tally)| (*terms, tally.iter()));
                let mut merged = merged(of_terms)?;
                while let Some((_, n_docs)) = merged.next()? {
                    counts.add(sum(n_docs), keep);
                }
            }
        },
    }
    Ok(DistinctCounts { missing: of_field.n_matches.saturating_sub(scan.n_with), ..counts })
}

/// Number of times that each value was met.
enum Tallies<'m> {
    /// By the numbers of terms, of which each segment has its own.
    OfTerms(Vec<(TermDictionary<Section<'m>>, Tally)>),
    /// By codes, which are the same in all segments.
    OfCodes(Tally),
}

impl<'m> Tallies<'m> {
    /// Of what matches. Whether terms have a counter each is asked of how many a segment has, and how many all have together.
    fn of(
        of_field: &OfField<'m>,
        scan: &mut Scan,
        with_counters: impl Fn(u64, u64) -> bool,
    ) -> Result<Self> {
        if !of_field.has_ordinals {
            let (least, greatest) = of_field.range.unwrap_or_default();
            let n_codes = (greatest - least).saturating_add(1);
            let mut tally = Tally::new(least, n_codes, of_field.n_matches)?;
            for part in &of_field.columns {
                add_segment(part, scan, &mut tally)?;
            }
            tally.finish()?;
            return Ok(Tallies::OfCodes(tally));
        }
        let (mut parts, mut n_terms) = (vec![], 0);
        for OfSegment { field, .. } in &of_field.columns {
            n_terms += u64::from(field.terms()?.n_terms());
        }
        for part in &of_field.columns {
            let terms = part.field.terms()?;
            let own = u64::from(terms.n_terms());
            let mut tally = Tally::of(0, own, with_counters(own, n_terms))?;
            add_segment(part, scan, &mut tally)?;
            tally.finish()?;
            parts.push((terms, tally));
        }
        Ok(Tallies::OfTerms(parts))
    }
}

fn add_segment(part: &OfSegment<'_>, scan: &mut Scan, tally: &mut Tally) -> Result<()> {
    let Some(plain) = part.column.plain() else { return scan.few_or_blocks(part, tally) };
    scan.numbers(&plain, part.matches, ns::NUMBER_COUNTED, |numbers| {
        tally.add_numbers(&plain, numbers)
    })
}

/// Terms of several dictionaries, each with its count in some of them.
fn merged<'s, I: Iterator<Item = Counted>>(
    parts: impl Iterator<Item = (TermDictionary<Section<'s>>, I)>,
) -> Result<Merged<CountedTerms<'s, I>>> {
    let list = |(terms, counts)| Ok(CountedTerms { terms, counts, term: vec![] });
    Merged::open(parts.map(list), false)
}

fn sum(counts: &[(usize, u32)]) -> u64 {
    counts.iter().map(|(_, count)| u64::from(*count)).sum()
}

/// Offers codes, as terms that compare as they do; those that would come in are given to `is_wanted` before.
fn offer(
    tally: &Tally,
    top: &mut Top,
    mut is_wanted: impl FnMut(u64, &[u8]) -> Result<bool>,
) -> Result<()> {
    tally.for_each(|(code, count)| {
        let (term, count) = (value::term_of_code(code), u64::from(count));
        match top.admits(count, &term) && is_wanted(code, &term)? {
            true => top.offer(count, &term),
            false => Ok(()),
        }
    })
}
