//! Pages in the order of fields.

use super::answer::SearchOutcome;
use super::meaning::once;
use super::scorings::Scorings;
use super::search::Search;
use crate::error::Result;
use crate::execution::{Execution, Matches};
use crate::explain::WorkCounts;
use crate::ids::DocId;
use crate::plan::SortStrategy;
use crate::request::After;
use crate::sort::{First, SortOrder};
use crate::value::Value;
use std::time::{Duration, Instant};

impl Search<'_> {
    /// The order that is asked for; of no field where none is.
    pub(super) fn sort_order(&self) -> Result<&SortOrder> {
        once(&self.meaning.order, || SortOrder::new(&self.request.sort, self.searcher.schema()))
    }

    /// Room for the documents of the page, and of those before.
    pub(super) fn first(&self, strategy: SortStrategy) -> Result<First<'_>> {
        let order = self.sort_order()?;
        let after = match &self.request.after {
            Some(After::Values { values, doc }) => Some(order.place_of(values, *doc)?),
            _ => None,
        };
        let wanted = self.request.offset.saturating_add(self.request.limit);
        let n_kept = strategy.n_kept(wanted, self.searcher.n_docs());
        Ok(First::new((order, strategy), n_kept, after, self.searcher.costs()))
    }

    /// Gives the documents of the page to `hit` with their values, and finds what else was asked for: of what `planned`
    /// finds, or of what is planned for it.
    pub(super) fn sorted(
        &self,
        strategy: SortStrategy,
        planned: Option<&mut Execution<'_>>,
        mut hit: impl FnMut(DocId, Option<f32>, Vec<Value>) -> Result<()>,
    ) -> Result<SearchOutcome> {
        let order = self.sort_order()?;
        let ranked = self.scorings().and_then(Scorings::known).filter(|_| order.needs_scores());
        let (mut found, mut first) = (SearchOutcome::uncounted(), self.first(strategy)?);
        let mut took = Duration::ZERO;
        let look = |execution: &Execution<'_>, matches: &Matches, _: &mut SearchOutcome| {
            let started = Instant::now();
            first.keep_to(execution.plan());
            let done = first.look_at(&execution.plan().segments, matches, ranked);
            took = started.elapsed();
            done
        };
        let done = self.with_matches(planned, &mut found, look);
        self.end(done, &mut found)?;
        (found.looked_at, found.took) = (WorkCounts::Columns(first.profile), took);
        let sorted = first.into_sorted();
        let start = usize::try_from(self.request.offset).unwrap_or(usize::MAX);
        let end = usize::try_from(self.request.offset.saturating_add(self.request.limit))
            .unwrap_or(usize::MAX);
        let page = sorted.get(start..end.min(sorted.len())).unwrap_or_default();
        found.n_hits = page.len() as u64;
        page.iter().try_for_each(|place| hit(place.doc, place.score, order.values(place)))?;
        Ok(found)
    }
}
