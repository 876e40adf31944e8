//! Facets within the buckets of a facet, and the best documents of each bucket.
//!
//! The documents of each bucket are found first, of a value by its posting lists and of ranges by one pass over the column. Over
//! them all is counted as over the matches of a search: each facet in the way that is cheapest for so many documents. So any
//! facet may lie within any other that has buckets, and what is true of facets is true there.

use super::bound_facet::{BoundFacet, ExcludedFilters};
use super::counted::{Buckets, CountedFacet};
use super::hits::{Bucket, Hit};
use super::scorings::Scorings;
use super::search::Search;
use super::select::FilterScope;
use crate::budget::{self, ns};
use crate::error::{Error, ErrorKind, Result};
use crate::execution::DocIdSet;
use crate::explain::FacetRun;
use crate::facet::{self, FacetProfile, FieldMatches};
use crate::ids::DocId;
use crate::plan::{
    BUCKETS_MAX, CostModel, FacetNode, FacetOperator, SegmentPlan, SortStrategy, TopHitsStrategy,
};
use crate::ranking::prepared::Weight;
use crate::ranking::search::score_all;
use crate::ranking::top::Top;
use crate::request::{FACET_DEPTH_MAX, Facet, FacetWhat};
use crate::sort::{First, SortOrder};
use std::time::Instant;

impl Facet {
    /// Refuses what lies too deep, or within what has no buckets.
    pub(super) fn check_within(&self) -> Result<()> {
        let depth = 1 + self.within.depth();
        if depth > FACET_DEPTH_MAX {
            return Err(Error::new(ErrorKind::Usage, "counting facets within facets")
                .expected(format!("at most {FACET_DEPTH_MAX} within each other"))
                .found(depth.to_string()));
        }
        self.check_buckets()
    }

    fn check_buckets(&self) -> Result<()> {
        if matches!(self.what, FacetWhat::Statistics(_)) && !self.within.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "looking into the buckets of a facet")
                .expected("a facet that has buckets")
                .found(format!("statistics of '{}'", self.field)));
        }
        self.within.facets.iter().try_for_each(Facet::check_buckets)
    }
}

/// Looks into buckets.
pub(super) struct BucketCollector<'l, 's> {
    pub(super) search: &'l Search<'s>,
    pub(super) segments: &'l [SegmentPlan<'l>],
    /// Once any were wanted.
    pub(super) hits: Option<BestHits<'l>>,
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
        let look_ups = self.search.look_ups();
        let mut parts = vec![];
        for left_out in wanted(facet) {
            let of = FieldMatches { segments, matches: domain.of(left_out), field };
            let of_ranges = match buckets {
                Buckets::Codes(ranges) => facet::in_ranges(of, ranges)?,
                Buckets::Addresses(ranges) => facet::in_address_ranges(of, ranges)?,
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
                        Buckets::Codes(_) | Buckets::Addresses(_) => {
                            of_ranges.next().unwrap_or_default()
                        }
                        Buckets::Terms(terms) => {
                            let term = terms.get(nth).map_or(&[][..], |term| term);
                            facet::with_term(*of, term, look_ups)?
                        }
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
            let mut counted = self.search.count_facet(of, facet, node, &mut None)?;
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
                None => self.hits.insert(BestHits::new(self.search, strategy)?),
            };
            bucket.hits = hits.of(self.search, self.segments, matches, n)?;
            let profile = FacetProfile { time: started.elapsed(), ..FacetProfile::default() };
            run.add(&profile, bucket.count);
        }
        Ok(())
    }
}

impl Search<'_> {
    /// The way to find the best of known documents, by these scores where any are wanted.
    pub(super) fn top_hits(&self, scorings: Option<&Scorings<'_>>) -> TopHitsStrategy {
        let is_sorted = !self.request.sort.is_empty();
        TopHitsStrategy::choose(is_sorted, scorings.and_then(Scorings::known))
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

/// Finds the best of documents that are known to match, and fetches those of buckets.
pub(super) struct BestHits<'s> {
    order: HitOrder<'s>,
    fields: Option<Vec<String>>,
    costs: &'s CostModel,
}

enum HitOrder<'s> {
    /// With what scores, where a key asks for that.
    Sorted(&'s SortOrder, SortStrategy, Option<&'s Weight<'s>>),
    Scored(&'s Weight<'s>),
    /// Documents as they were added, with the score that all have.
    Documents(Option<f32>),
}

impl<'s> BestHits<'s> {
    pub(super) fn new(search: &'s Search<'_>, strategy: TopHitsStrategy) -> Result<Self> {
        let fields = search.known_fields()?;
        let scored = search.scorings().and_then(Scorings::known);
        let order = match (strategy, scored) {
            (TopHitsStrategy::Sorted, scored) => {
                let order = search.sort_order()?;
                let shape = order.shape(search.searcher.schema());
                let strategy = SortStrategy::choose(shape, None);
                let scored = scored.filter(|_| order.needs_scores());
                HitOrder::Sorted(order, strategy, scored)
            }
            (TopHitsStrategy::Scored, Some(scored)) => HitOrder::Scored(scored),
            (TopHitsStrategy::DocOrder { score }, _) => HitOrder::Documents(score),
            (TopHitsStrategy::Scored, None) => HitOrder::Documents(None),
        };
        Ok(BestHits { order, fields, costs: search.searcher.costs() })
    }

    /// Calls `visit` with the `n` best of what matches, the first first and without their fields, until it says that
    /// this is enough. If this is stopped, `visit` gets the best of the documents looked at before the error comes.
    pub(super) fn each(
        &self,
        segments: &[SegmentPlan<'_>],
        matches: &[DocIdSet],
        n: usize,
        mut visit: impl FnMut(Hit) -> Result<bool>,
    ) -> Result<()> {
        let (mut hits, done): (Box<dyn Iterator<Item = Hit>>, _) = match &self.order {
            HitOrder::Documents(score) => {
                let docs = first_of(segments, matches, n)?.into_iter();
                (Box::new(docs.map(|doc| Hit::new(doc, *score))), Ok(()))
            }
            HitOrder::Scored(ranked) => {
                let mut top = Top::new(n, vec![]);
                let done = score_all(ranked, segments, matches, &mut top).map(|_| ());
                let done = or_stopped(done)?;
                let best = top.into_sorted()?.into_iter();
                (Box::new(best.map(|it| Hit::new(it.doc(), Some(it.score())))), done)
            }
            HitOrder::Sorted(order, strategy, ranked) => {
                let mut first = First::new((order, *strategy), n as u64, None, self.costs);
                let done = or_stopped(first.look_at(segments, matches, *ranked))?;
                let places = first.into_sorted().into_iter().map(|place| {
                    let sort = order.values(&place);
                    Hit { sort, ..Hit::new(place.doc, place.score) }
                });
                (Box::new(places), done)
            }
        };
        let mut go_on = true;
        while let Some(hit) = hits.next().filter(|_| go_on) {
            go_on = visit(hit)?;
        }
        done
    }

    /// The `n` best of a bucket; what they and their stored fields take is held.
    fn of(
        &self,
        search: &Search<'_>,
        segments: &[SegmentPlan<'_>],
        matches: &[DocIdSet],
        n: usize,
    ) -> Result<Vec<Hit>> {
        // No more than there are, for which room is made.
        let n_matches = segments.iter().zip(matches).map(|(it, matches)| matches.len(it.n_docs));
        let n = n.min(usize::try_from(n_matches.sum::<u64>()).unwrap_or(usize::MAX));
        let mut hits = vec![];
        self.each(segments, matches, n, |hit| {
            budget::work(ns::HIT_FETCHED)?;
            let fields = search.fetched(hit.doc, self.fields.as_deref())?;
            let hit = Hit { fields, ..hit };
            budget::hold(hit.n_bytes() as u64)?;
            hits.push(hit);
            Ok(true)
        })?;
        Ok(hits)
    }
}

/// Separates a stop from every other error, which is returned at once.
fn or_stopped(done: Result<()>) -> Result<Result<()>> {
    match done {
        Err(error) if !budget::is_stop(&error) => Err(error),
        done => Ok(done),
    }
}

/// The first `n` documents, or all.
fn first_of(segments: &[SegmentPlan<'_>], matches: &[DocIdSet], n: usize) -> Result<Vec<DocId>> {
    budget::hold((n * size_of::<DocId>()) as u64)?;
    let mut docs = vec![];
    for (segment, matches) in segments.iter().zip(matches) {
        let found = matches.documents_from(0, segment.n_docs)?.take(n - docs.len());
        docs.extend(found.map(|doc| DocId(segment.base + u64::from(doc))));
    }
    Ok(docs)
}
