//! Ranges of addresses, whose column has the numbers of their terms: in each segment those of the terms at the ends.
//!
//! Cost: beside that of ranges of codes, two looks into the dictionary of each segment for each range.

use super::parts::in_ranges;
use super::ranges::{RangeCounts, count_ranges};
use crate::budget;
use crate::error::Result;
use crate::execution::{MatchSet, Matches};
use crate::ids::FieldId;
use crate::plan::SegmentPlan;
use crate::value;
use std::ops::Range;
use std::slice;

/// What a look into a dictionary takes about, in nanoseconds.
const LOOK_NS: u64 = 500;

/// Addresses from one on and below another; without the latter there is no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressRange {
    pub(crate) from: u128,
    pub(crate) to: Option<u128>,
}

/// Counts the documents of `matches` by ranges of addresses; one that ends before it begins has none.
pub(crate) fn count_address_ranges(
    segments: &[SegmentPlan<'_>],
    field: FieldId,
    ranges: &[AddressRange],
    matches: &[MatchSet],
) -> Result<RangeCounts> {
    let mut all = RangeCounts { counts: vec![0; ranges.len()], ..RangeCounts::default() };
    for (segment, matches) in segments.iter().zip(matches) {
        let of_segment = ordinals(segment, field, ranges)?;
        let (segment, matches) = (slice::from_ref(segment), slice::from_ref(matches));
        // What one segment takes is given back before the next.
        let counted = budget::giving_back(|| count_ranges(segment, field, &of_segment, matches))?;
        all.counts.iter_mut().zip(counted.counts).for_each(|(all, count)| *all += count);
        all.other += counted.other;
        all.missing += counted.missing;
        all.profile.add(&counted.profile);
    }
    Ok(all)
}

/// What has an address in each range, of what matches.
pub(crate) fn in_address_ranges(
    segments: &[SegmentPlan<'_>],
    field: FieldId,
    ranges: &[AddressRange],
    matches: &[MatchSet],
) -> Result<Vec<Matches>> {
    let mut parts: Vec<Matches> = ranges.iter().map(|_| Matches::new()).collect();
    for (segment, matches) in segments.iter().zip(matches) {
        let of_segment = ordinals(segment, field, ranges)?;
        let (segment, matches) = (slice::from_ref(segment), slice::from_ref(matches));
        let of_ranges = in_ranges(segment, field, &of_segment, matches)?;
        parts.iter_mut().zip(of_ranges).for_each(|(parts, of_segment)| parts.extend(of_segment));
    }
    Ok(parts)
}

/// The codes that ranges of addresses have in the column of a segment.
fn ordinals(
    segment: &SegmentPlan<'_>,
    field: FieldId,
    ranges: &[AddressRange],
) -> Result<Vec<Range<u128>>> {
    let dictionary = segment.segment.field(field).terms()?;
    let rank = |address: u128| -> Result<u128> {
        budget::work(LOOK_NS)?;
        Ok(dictionary.rank(&value::term_of_address(address))?.into())
    };
    let range = |range: &AddressRange| {
        let end = range.to.map_or_else(|| Ok(dictionary.n_terms().into()), rank);
        Ok(rank(range.from)?..end?)
    };
    ranges.iter().map(range).collect()
}
