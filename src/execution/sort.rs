//! Pages in the order of fields.

use super::outcome::Outcome;
use super::profile::WorkCounts;
use super::scorings::Scorings;
use super::{SearchContext, SearchPlan};
use crate::error::Result;
use crate::hits::Hit;
use crate::plan::{CostModel, SortStrategy};
use crate::request::{After, SearchRequest};
use crate::sort::{First, SortOrder};
use std::time::{Duration, Instant};

/// Room for the first documents in the order of fields: those of a page, and those before. The index has `n_docs`.
pub(crate) fn first_in_order<'o>(
    request: &SearchRequest<'_>,
    (order, strategy): (&'o SortOrder, SortStrategy),
    n_docs: u64,
    costs: &'o CostModel,
) -> Result<First<'o>> {
    let after = match &request.after {
        Some(After::Values { values, doc }) => Some(order.place_of(values, *doc)?),
        _ => None,
    };
    let n_kept = strategy.n_kept(request.offset.saturating_add(request.limit), n_docs);
    Ok(First::new((order, strategy), n_kept, after, costs))
}

impl<'s> SearchContext<'_, 's> {
    /// The first documents in the order of fields, with their values.
    pub(super) fn sort(
        &self,
        plan: &mut SearchPlan<'s>,
        strategy: SortStrategy,
        mut hit: impl FnMut(Hit) -> Result<()>,
    ) -> Result<Outcome> {
        let (order, mut found) = (self.order, Outcome::uncounted());
        let ranked = self.scorings.and_then(Scorings::known).filter(|_| order.needs_scores());
        let mut first = first_in_order(self.request, (order, strategy), self.n_docs(), self.costs)?;
        let mut took = Duration::ZERO;
        let done = self.with_matches(&mut plan.matching, &mut found, |execution, matches, _| {
            let started = Instant::now();
            first.keep_to(execution.plan());
            let done = first.look_at(&execution.plan().segments, matches, ranked);
            took = started.elapsed();
            done
        });
        self.end(done, &mut found)?;
        (found.looked_at, found.took) = (WorkCounts::Columns(first.profile), took);
        let sorted = first.into_sorted();
        let start = usize::try_from(self.request.offset).unwrap_or(usize::MAX);
        let end = usize::try_from(self.page_end()).unwrap_or(usize::MAX);
        let page = sorted.get(start..end.min(sorted.len())).unwrap_or_default();
        found.n_hits = page.len() as u64;
        page.iter().try_for_each(|place| {
            hit(Hit { sort: order.values(place), ..Hit::new(place.doc, place.score) })
        })?;
        Ok(found)
    }
}
