//! Ranges of addresses, whose column has the numbers of their terms. In each segment they are those of the terms at the
//! ends.
//!
//! Cost: beside that of ranges of codes, two looks into the dictionary of each segment for each range.

use super::of_field::FieldMatches;
use super::parts::in_ranges;
use super::ranges::count_ranges;
use super::scan::MetCounts;
use crate::budget::{self, ns};
use crate::doc_id_set::Matches;
use crate::error::Result;
use crate::plan::RangesCosts;
use crate::value;
use std::ops::Range;
use std::slice;

/// Addresses from one on and below another; without the latter there is no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressRange {
    pub(crate) from: u128,
    pub(crate) to: Option<u128>,
}

/// Counts what matches by ranges of addresses; one that ends before it begins has none.
pub(crate) fn count_address_ranges(
    of: FieldMatches<'_>,
    ranges: &[AddressRange],
    costs: RangesCosts,
) -> Result<MetCounts<u64>> {
    let mut all = MetCounts { counts: vec![0; ranges.len()], ..MetCounts::default() };
    by_segment(of, ranges, |of, codes| {
        // Memory for one segment is given back before the next.
        let counted = budget::giving_back(|| count_ranges(of, codes, costs))?;
        all.counts.iter_mut().zip(counted.counts).for_each(|(all, count)| *all += count);
        all.other += counted.other;
        all.missing += counted.missing;
        all.profile += counted.profile;
        Ok(())
    })?;
    Ok(all)
}

/// Matches that have an address in each range.
pub(crate) fn in_address_ranges(
    of: FieldMatches<'_>,
    ranges: &[AddressRange],
) -> Result<Vec<Matches>> {
    let mut parts: Vec<Matches> = ranges.iter().map(|_| Matches::new()).collect();
    by_segment(of, ranges, |of, codes| {
        let of_ranges = in_ranges(of, codes)?;
        parts.iter_mut().zip(of_ranges).for_each(|(parts, of_segment)| parts.extend(of_segment));
        Ok(())
    })?;
    Ok(parts)
}

/// Visits each segment by itself, with the codes that ranges of addresses have in its column.
fn by_segment(
    of: FieldMatches<'_>,
    ranges: &[AddressRange],
    mut visit: impl FnMut(FieldMatches<'_>, &[Range<u128>]) -> Result<()>,
) -> Result<()> {
    for (segment, matches) in of.parts() {
        let dictionary = segment.segment.field(of.field).terms()?;
        let rank = |address: u128| -> Result<u128> {
            budget::work(ns::TERM_RANK)?;
            Ok(dictionary.rank(&value::term_of_address(address))?.into())
        };
        let codes = |range: &AddressRange| {
            let end = range.to.map_or_else(|| Ok(dictionary.n_terms().into()), rank);
            Ok(rank(range.from)?..end?)
        };
        let codes = ranges.iter().map(codes).collect::<Result<Vec<_>>>()?;
        let (segments, matches) = (slice::from_ref(segment), slice::from_ref(matches));
        visit(FieldMatches { segments, matches, ..of }, &codes)?;
    }
    Ok(())
}
