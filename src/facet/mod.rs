//! Facets: numbers of matching documents for each value or range of a field.
//!
//! A [`Facet`] says what to count and [`FacetCounts`] has what was found.
//!
//! ```
//! use treepie::facet::Bucket;
//! use treepie::{Document, Facet, Index, Schema};
//!
//! let index = Index::in_memory(Schema::builder().text("name").keyword("brand").f64("price").build()?);
//! let mut writer = index.writer()?;
//! for (name, brand, price) in [("red pan", "acme", 12.0), ("red pot", "acme", 30.0), ("red lid", "bolt", 8.0)] {
//!     writer.add(Document::new().with("name", name).with("brand", brand).with("price", price))?;
//! }
//! writer.commit()?;
//! let searcher = index.searcher()?;
//! let query = searcher.parse("red")?;
//! let search = searcher.search(&query).facet("brand", 10).with_facet(Facet::ranges("price", [(..20.0).into()]));
//! let page = search.run()?;
//! let count = |bucket: &Bucket| (bucket.value.to_string(), bucket.count);
//! let brands: Vec<_> = page.facets[0].buckets.iter().map(count).collect();
//! assert_eq!(brands, [("acme".into(), 2), ("bolt".into(), 1)]);
//! assert_eq!(page.facets[1].buckets[0].count, 2); // below 20
//! # Ok::<(), treepie::Error>(())
//! ```

mod address_ranges;
mod cells;
mod codes;
mod deleted;
mod intersection;
mod intervals;
mod merged;
mod moments;
mod of_field;
mod parting;
mod parts;
mod pieces;
mod points;
mod profile;
mod ranges;
mod ranks;
mod rings;
mod scan;
mod sketch;
mod statistics;
mod steps;
mod tally;
mod terms;
mod top;
mod wanted;

pub(crate) use address_ranges::{AddressRange, count_address_ranges, in_address_ranges};
pub(crate) use cells::{CellCounts, count_cells, finest_tiles, in_cells};
pub(crate) use codes::{DistinctCounts, count_distinct};
pub(crate) use intervals::count_intervals;
pub(crate) use of_field::{FieldMatches, wider};
pub(crate) use parts::{in_ranges, with_term, without_value};
pub(crate) use points::statistics_of_points;
pub use profile::{ColumnCounts, FacetActual, InBuckets};
pub(crate) use profile::{FacetProfile, TermCounts};
pub(crate) use ranges::count_ranges;
pub(crate) use rings::{count_rings, in_rings};
pub(crate) use scan::{MetCounts, NumbersAt};
pub(crate) use sketch::{DISTINCT_ERROR, RANK_ERROR};
pub(crate) use statistics::{NumberStatistics, SpreadWanted, equal_parts, statistics_of};
pub(crate) use steps::{Steps, count_steps};

pub use crate::hits::{Accuracy, Bucket, FacetCounts, FieldStatistics, PointStatistics, Sum};
pub use crate::plan::{FacetMethod, FacetOrder};
pub use crate::request::{
    FACET_DEPTH_MAX, Facet, FacetKind, FacetRange, StatisticsFacet, ValueFacet,
};
pub use crate::value::Interval;

use crate::budget::{self, ns};
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::plan::{FacetPlan, SegmentPlan, ValuesWanted};
use merged::MergedTerms;
use std::collections::BTreeMap;

/// Counts the values of a field among what matches as planned for so many, or, where that takes more memory than there is, as
/// planned for that. Posting lists are tested against `to_test`, which the first facet that has to sets up for all.
pub(crate) fn count_values(
    of: FieldMatches<'_>,
    plan: &FacetPlan,
    to_test: &mut Option<Vec<DocIdSet>>,
) -> Result<TermCounts> {
    let (method, before) = (plan.methods.of(of.n_matches()), budget::left());
    let done = count_by(of, plan, method, to_test);
    let (mut counts, method) = match (done, plan.with_less_memory(method)) {
        (Err(error), Some(other)) if budget::is_of_way(&error) => {
            budget::release(before.saturating_sub(budget::left()));
            let mut counts = count_by(of, plan, other, to_test)?;
            counts.profile.fell_back = true;
            (counts, other)
        }
        (done, _) => (done?, method),
    };
    if plan.values.minimum == 0 {
        add_unmatched(of.segments, plan, &mut counts)?;
    }
    counts.profile.method = Some(method);
    Ok(counts)
}

fn count_by(
    of: FieldMatches<'_>,
    plan: &FacetPlan,
    method: FacetMethod,
    to_test: &mut Option<Vec<DocIdSet>>,
) -> Result<TermCounts> {
    let matches = match (method, &mut *to_test) {
        (FacetMethod::Column, _) => return codes::count_by_column(of, plan),
        // No list is read.
        (FacetMethod::DocumentFrequency, _) => of.matches,
        (_, Some(to_test)) => to_test,
        (_, to_test @ None) => {
            let matches = of.matches.iter().map(DocIdSet::to_test);
            to_test.insert(matches.collect::<Result<_>>()?)
        }
    };
    terms::count_terms(FieldMatches { matches, ..of }, plan, method)
}

/// Memory of a term that is kept, beside its bytes.
const TERM_BYTES: u64 = 64;

/// Adds values that no matching document has: behind the others where these come by count, otherwise where they belong.
fn add_unmatched(
    segments: &[SegmentPlan<'_>],
    plan: &FacetPlan,
    counts: &mut TermCounts,
) -> Result<()> {
    let ValuesWanted { limit, order, ref filter, .. } = plan.values;
    let fields = segments.iter().map(|segment| segment.segment.field(plan.field));
    let mut terms =
        MergedTerms::of_fields(fields, filter.as_ref(), order == FacetOrder::ValueDescending)?;
    let counted: BTreeMap<_, _> = counts.buckets.iter().cloned().collect();
    if order != FacetOrder::Count {
        // Buckets with a count come in their place: all before the last that is wanted were counted.
        counts.buckets.clear();
    }
    while counts.buckets.len() < limit
        && let Some((term, _)) = terms.next()?
    {
        budget::work(ns::TERM_WALKED)?;
        let count = counted.get(term);
        if order == FacetOrder::Count && count.is_some() {
            continue;
        }
        budget::hold(TERM_BYTES + term.len() as u64)?;
        counts.buckets.push((term.to_vec(), count.copied().unwrap_or(0)));
    }
    Ok(())
}
