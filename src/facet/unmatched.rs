//! Values of a field that no matching document has, where these are wanted too.

use super::merged::MergedTerms;
use super::profile::TermCounts;
use crate::budget::{self, ns};
use crate::error::Result;
use crate::plan::{FacetOrder, FacetPlan, SegmentPlan, ValuesWanted};
use std::collections::BTreeMap;

/// Memory of a term that is kept, beside its bytes.
const TERM_BYTES: u64 = 64;

/// Adds values that are in the dictionaries and that nothing counted: behind the others where these come by count, otherwise
/// where they belong. At the most as many terms are walked over as there is room for, and those that are counted.
pub(super) fn add_unmatched(
    segments: &[SegmentPlan<'_>],
    plan: &FacetPlan,
    counts: &mut TermCounts,
) -> Result<()> {
    let ValuesWanted { limit, order, ref filter, .. } = plan.values;
    let fields = segments.iter().map(|segment| segment.segment.field(plan.field));
    let mut terms =
        MergedTerms::of_fields(fields, filter.as_ref(), order == FacetOrder::ValueDescending)?;
    let counted = std::mem::take(&mut counts.buckets);
    let by_term: BTreeMap<&[u8], u64> =
        counted.iter().map(|(term, count)| (&term[..], *count)).collect();
    let mut buckets = if order == FacetOrder::Count { counted.clone() } else { vec![] };
    while buckets.len() < limit
        && let Some((term, _)) = terms.next()?
    {
        budget::work(ns::TERM_WALKED)?;
        let count = by_term.get(term).copied();
        // By value those with a count come where they belong, too: all before the last that is wanted were counted.
        if order == FacetOrder::Count && count.is_some() {
            continue;
        }
        budget::hold(TERM_BYTES + term.len() as u64)?;
        buckets.push((term.to_vec(), count.unwrap_or(0)));
    }
    counts.buckets = buckets;
    Ok(())
}
