//! Facets within the buckets of a facet, and the best documents of each bucket.
//!
//! The documents of each bucket are found first, of a value by its posting lists and of ranges by one pass over the column. Over
//! them all is counted as over the matches of a search: each facet in the way that is cheapest for so many documents. So any
//! facet may lie within any other that has buckets, and what is true of facets is true there.

use super::SearchContext;
use super::bound_facet::{BoundFacet, ExcludedFilters};
use super::counted::{Buckets, CountedFacet};
use super::filter_scope::FilterScope;
use super::profile::FacetRun;
use super::top_hits::TopHits;
use crate::budget::{self, ns};
use crate::error::{Error, ErrorKind, Result};
use crate::facet::{self, FacetProfile, FieldMatches};
use crate::hits::Bucket;
use crate::plan::{BUCKETS_MAX, FacetNode, FacetOperator, SegmentPlan};
use std::time::Instant;

/// Looks into buckets.
pub(super) struct BucketCollector<'l, 's> {
    pub(super) context: &'l SearchContext<'l, 's>,
    pub(super) segments: &'l [SegmentPlan<'l>],
    /// Once any were wanted.
    pub(super) hits: Option<TopHits<'l>>,
    pub(super) n_buckets: usize,
}

impl BucketCollector<'_, '_> {
    /// Counts what is asked for within each bucket of a facet.
    pub(super) fn look_into(
        &mut self,
        facet: &BoundFacet,
        node: &FacetNode,
        counted: &mut CountedFacet,
        domain: &FilterScope<'_>,
        run: &mut FacetRun,
    ) -> Result<()> {
        let CountedFacet { counts, buckets, .. } = counted;
        self.n_buckets += counts.buckets.len() + 1;
        if self.n_buckets > BUCKETS_MAX {
            return Err(Error::new(ErrorKind::LimitExceeded, "looking into the buckets of facets")
                .expected(format!("at most {BUCKETS_MAX} buckets"))
                .found(format!("{} of '{}'", self.n_buckets, counts.field))
                .hint("facets that others lie within need smaller limits or wider steps"));
        }
        let (segments, field) = (self.segments, facet.field);
        let look_ups = self.context.look_ups;
        let mut parts = vec![];
        for left_out in wanted(facet) {
            let of = FieldMatches { segments, matches: domain.of(left_out), field };
            let of_ranges = match buckets {
                Buckets::Codes(ranges) => facet::in_ranges(of, ranges)?,
                Buckets::Addresses(ranges) => facet::in_address_ranges(of, ranges)?,
                Buckets::Cells(cells) => facet::in_cells(of, cells)?,
                Buckets::Rings(near, rings) => facet::in_rings(of, *near, rings)?,
                Buckets::Terms(_) => vec![],
            };
            parts.push((left_out, of, of_ranges.into_iter()));
        }
        let n_buckets = counts.buckets.len();
        let mut missing = (counts.missing > 0)
            .then(|| Box::new(Bucket { count: counts.missing, ..Bucket::default() }));
        let all = counts.buckets.iter_mut().chain(missing.as_deref_mut());
        for (nth, bucket) in all.enumerate() {
            budget::giving_back(|| {
                let mut of_bucket = FilterScope::default();
                for (left_out, of, of_ranges) in &mut parts {
                    let matches = match buckets {
                        _ if nth == n_buckets => facet::without_value(*of)?,
                        Buckets::Terms(terms) => {
                            let term = terms.get(nth).map_or(&[][..], |term| term);
                            facet::with_term(*of, term, look_ups)?
                        }
                        Buckets::Codes(_)
                        | Buckets::Addresses(_)
                        | Buckets::Cells(_)
                        | Buckets::Rings(..) => of_ranges.next().unwrap_or_default(),
                    };
                    of_bucket.add(left_out.to_vec(), matches);
                }
                self.fill(facet, node, bucket, &of_bucket, run)
            })?;
            budget::hold(bucket.n_bytes() as u64)?;
        }
        counts.missing_bucket = missing;
        Ok(())
    }

    /// Counts what is asked for within one bucket.
    fn fill(
        &mut self,
        facet: &BoundFacet,
        node: &FacetNode,
        bucket: &mut Bucket,
        domain: &FilterScope<'_>,
        run: &mut FacetRun,
    ) -> Result<()> {
        budget::work(ns::BUCKET_OPENED)?;
        for ((facet, node), run) in facet.within.iter().zip(&node.within).zip(&mut run.within) {
            let (segments, matches) = (self.segments, domain.of(&facet.left_out));
            let of = FieldMatches { segments, matches, field: facet.field };
            let started = Instant::now();
            let mut counted = self.context.count_facet(of, facet, node, &mut None)?;
            counted.profile.time = started.elapsed();
            run.add(&counted.profile, of.n_matches());
            if facet.is_parted() {
                self.look_into(facet, node, &mut counted, domain, run)?;
            }
            bucket.facets.push(counted.counts);
        }
        // They come behind the facets.
        let place = facet.within.len();
        if let (Some(node), Some(run)) = (node.within.get(place), run.within.get_mut(place))
            && let FacetOperator::TopHits(n, strategy) = node.operator
        {
            let (started, matches) = (Instant::now(), domain.of(&facet.left_out));
            let hits = match &self.hits {
                Some(hits) => hits,
                None => self.hits.insert(TopHits::new(self.context, strategy)),
            };
            bucket.hits = hits.fetched(self.context, self.segments, matches, n)?;
            let profile = FacetProfile { time: started.elapsed(), ..FacetProfile::default() };
            run.add(&profile, bucket.count);
        }
        Ok(())
    }
}

/// Matches that the buckets of a facet need: by the selections that are left out.
fn wanted(facet: &BoundFacet) -> Vec<&ExcludedFilters> {
    let own = (facet.hits > 0).then_some(&facet.left_out).into_iter();
    let within = facet.within.iter().flat_map(BoundFacet::all_left_out);
    let mut wanted: Vec<_> = own.chain(within).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}
