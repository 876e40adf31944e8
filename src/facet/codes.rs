//! Most frequent or first values of a field among the matches, by its column.
//!
//! Each document that matches is asked for its codes, which a [`Tally`] counts. Numbers of terms are counted in each segment
//! and brought together by their terms, the codes of typed fields are the same in all segments. A [filter](super::wanted)
//! is applied to the values that were met. Counts are exact and ties go to the smaller term by bytes, as with
//! [`terms`](super::terms).
//!
//! Cost: two or three nanoseconds for each document, and a nanosecond a counter. Memory: four bytes a counter, or 32 bytes for
//! each code that is met.

use super::merged::{CountedTerms, Merged};
use super::of_field::{FieldMatches, OfField, OfSegment};
use super::profile::{FacetActual, FacetProfile, TermCounts};
use super::scan::Scan;
use super::tally::Tally;
use super::top::Top;
use super::wanted::{Wanted, term_of};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::terms::TermDictionary;
use crate::plan::{FacetPlan, TallyStrategy, cost};
use crate::segment::file::Section;
use crate::simd::numbers::count_from;
use crate::value;
use std::collections::HashMap;

pub(super) fn count_by_column(of: FieldMatches<'_>, plan: &FacetPlan) -> Result<TermCounts> {
    let of_field = OfField::new(of)?;
    of_field.check_matches("counting values by a column")?;
    let (values, n_matches) = (&plan.values, of_field.n_matches);
    let filter = values.filter.as_ref();
    let (mut scan, mut top) = (Scan::default(), Top::new(values));
    // The tallies of all segments are there together.
    let strategy = plan.tally.of(n_matches);
    let tallies = Tallies::of(&of_field, &mut scan, |_| strategy)?;
    if let Tallies::OfTerms(parts) = &tallies
        && let [(terms, counted)] = &parts[..]
    {
        // A term is asked for where it is among the first, which its count and its place say.
        let mut wanted = Wanted::of(Some(plan), *terms, counted)?;
        let mut first = Top::new(values);
        budget::giving_back(|| {
            counted.for_each(|(ordinal, count)| {
                let (place, count) = (value::term_of_code(ordinal), u64::from(count));
                match first.admits(count, &place) && wanted.has(ordinal)? {
                    true => first.offer(count, &place),
                    false => Ok(()),
                }
            })
        })?;
        let (mut first, mut term) = (first.into_sorted(), vec![]);
        first.sort_unstable();
        for (ordinal, count) in first {
            term_of(terms, value::code_of_term(&ordinal).unwrap_or(u64::MAX), &mut term)?;
            top.offer(count, &term)?;
        }
    } else {
        tallies.for_each_term(Some(plan), |term, count| {
            match top.admits(count, term) && filter.is_none_or(|filter| filter.matches(term)) {
                true => top.offer(count, term),
                false => Ok(()),
            }
        })?;
    }
    Ok(TermCounts {
        buckets: top.into_sorted(),
        with_value: scan.n_with,
        missing: n_matches.saturating_sub(scan.n_with),
        // Values that were given: a document that says the same twice has two.
        single_valued: plan.sizes.is_single,
        profile: FacetProfile {
            counts: FacetActual {
                terms_skipped: plan.sizes.n_terms,
                ..FacetActual::of_column(scan.profile)
            },
            ..FacetProfile::default()
        },
    })
}

/// Counts the matches that have each term of a field that keeps a column.
pub(super) fn count_by_term(of: FieldMatches<'_>) -> Result<HashMap<Vec<u8>, u64>> {
    let (of_field, mut by_term) = (OfField::new(of)?, HashMap::new());
    let n_matches = of_field.n_matches;
    let of_codes = |n_codes| TallyStrategy::choose(n_codes, n_matches);
    let tallies = Tallies::of(&of_field, &mut Scan::default(), of_codes)?;
    tallies.for_each_term(None, |term, count| {
        budget::hold(cost::MET_TERM_BYTES + term.len() as u64)?;
        by_term.insert(term.to_vec(), count);
        Ok(())
    })?;
    Ok(by_term)
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DistinctCounts {
    pub(crate) distinct: u64,
    /// Documents with any, of each value so many at the most.
    pub(crate) kept: u64,
    pub(crate) missing: u64,
}

/// Counts different values of a field among what matches by its column, and at most `keep` documents of each value.
pub(crate) fn count_distinct(of: FieldMatches<'_>, keep: u64) -> Result<DistinctCounts> {
    let of_field = OfField::new(of)?;
    let (mut scan, mut counts) = (Scan::default(), DistinctCounts::default());
    let of_codes = |n_codes| TallyStrategy::choose(n_codes, of_field.n_matches);
    let tallies = Tallies::of(&of_field, &mut scan, of_codes)?;
    let mut add = |n_docs: u64| {
        counts.distinct += 1;
        counts.kept += n_docs.min(keep);
        Ok(())
    };
    // One segment needs no term to be read.
    let alone = match &tallies {
        Tallies::OfCodes(tally) => Some(tally),
        Tallies::OfTerms(parts) => parts.first().filter(|_| parts.len() == 1).map(|(_, it)| it),
    };
    match alone {
        Some(tally) => tally.for_each(|(_, n_docs)| add(n_docs.into()))?,
        None => tallies.for_each_term(None, |_, n_docs| add(n_docs))?,
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
    /// Counts of what matches, by the way of each number of codes that may come together.
    fn of(
        of_field: &OfField<'m>,
        scan: &mut Scan,
        of_codes: impl Fn(u64) -> TallyStrategy,
    ) -> Result<Self> {
        let mut tally_of = |parts: &[OfSegment<'m>], least: u64, n_codes: u64| {
            let mut tally = Tally::new(least, n_codes, of_codes(n_codes))?;
            parts.iter().try_for_each(|part| add_segment(part, scan, &mut tally))?;
            tally.finish().map(|()| tally)
        };
        if !of_field.has_ordinals {
            let (least, _) = of_field.range.unwrap_or_default();
            return tally_of(&of_field.columns, least, of_field.n_codes()).map(Tallies::OfCodes);
        }
        let parts = of_field.columns.chunks(1).map(|part| {
            let terms = part[0].field.terms()?;
            Ok((terms, tally_of(part, 0, terms.n_terms().into())?))
        });
        parts.collect::<Result<_>>().map(Tallies::OfTerms)
    }

    /// Calls `visit` with each term that was met, and with how often it was; not with all of those that a filter leaves out.
    fn for_each_term(
        &self,
        plan: Option<&FacetPlan>,
        mut visit: impl FnMut(&[u8], u64) -> Result<()>,
    ) -> Result<()> {
        let parts = match self {
            Tallies::OfTerms(parts) => parts,
            Tallies::OfCodes(tally) => {
                return tally.for_each(|(code, n)| visit(&value::term_of_code(code), n.into()));
            }
        };
        // Terms whose numbers say that they are not wanted are not even read.
        let wanted = parts.iter().map(|(terms, counted)| Wanted::of(plan, *terms, counted));
        let wanted = wanted.collect::<Result<Vec<_>>>()?;
        let lists = parts.iter().zip(&wanted).map(|((terms, counted), wanted)| {
            let counts = counted.iter().filter(|(ordinal, _)| wanted.may_have(*ordinal));
            Ok(CountedTerms { terms: *terms, counts, term: vec![] })
        });
        let mut merged = Merged::open(lists, false)?;
        while let Some((term, counts)) = merged.next()? {
            visit(term, counts.iter().map(|(_, count)| u64::from(*count)).sum())?;
        }
        Ok(())
    }
}

fn add_segment(part: &OfSegment<'_>, scan: &mut Scan, tally: &mut Tally) -> Result<()> {
    let Some(plain) = part.column.plain() else { return scan.few_or_blocks(part, tally) };
    let (first, unit) = (plain.first(), plain.base_and_unit());
    scan.numbers(&plain, part.matches, ns::NUMBER_COUNTED, |numbers| {
        tally.add_numbers(first, numbers, unit)?;
        Ok(if first == 0 { numbers.len() as u64 } else { count_from(numbers, first).into() })
    })
}
