//! Best of documents that are known to match.

use super::SearchContext;
use super::scorings::Scorings;
use crate::budget::{self, ns};
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::hits::Hit;
use crate::ids::DocId;
use crate::plan::{CostModel, SegmentPlan, SortStrategy, TopHitsStrategy};
use crate::ranking::search::score_all;
use crate::ranking::top::Top;
use crate::sort::{First, SortOrder};
use crate::weight::Weight;

/// Finds the best of documents that are known to match, and fetches those of buckets.
pub(super) struct TopHits<'c> {
    order: HitOrder<'c>,
    costs: &'c CostModel,
}

enum HitOrder<'c> {
    /// With what scores, where a key asks for that.
    Sorted(&'c SortOrder, SortStrategy, Option<&'c Weight<'c>>),
    Scored(&'c Weight<'c>),
    /// Documents as they were added, with the score that all have.
    Documents(Option<f32>),
}

impl<'c> TopHits<'c> {
    pub(super) fn new(context: &'c SearchContext<'_, '_>, strategy: TopHitsStrategy) -> Self {
        let scored = context.scorings.and_then(Scorings::known);
        let order = match (strategy, scored) {
            (TopHitsStrategy::Sorted(strategy), scored) => {
                let scored = scored.filter(|_| context.order.needs_scores());
                HitOrder::Sorted(context.order, strategy, scored)
            }
            (TopHitsStrategy::Scored, Some(scored)) => HitOrder::Scored(scored),
            (TopHitsStrategy::DocOrder { score }, _) => HitOrder::Documents(score),
            (TopHitsStrategy::Scored, None) => HitOrder::Documents(None),
        };
        TopHits { order, costs: context.costs }
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
    pub(super) fn fetched(
        &self,
        context: &SearchContext<'_, '_>,
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
            let fields = context.snapshot.stored(hit.doc, context.fields.as_deref())?;
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
