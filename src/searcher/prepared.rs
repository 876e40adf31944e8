//! Searches made ready once, to be answered any number of times.

use super::Hits;
use super::search::Search;
use crate::budget::Budget;
use crate::error::Result;
use crate::execution::{Matching, Outcome, SearchPlan};
use crate::plan::PageOperator;
use crate::ranking::search::OpenLists;
use crate::request::RequestLimits;
use std::time::Instant;

/// Prepared search: words looked up, lists open, plan made. It is from
/// [`SearchBuilder::prepare`](super::SearchBuilder::prepare).
#[derive(Debug)]
pub struct PreparedSearch<'s> {
    pub(super) search: Search<'s>,
    plan: SearchPlan<'s>,
    /// The answer, whose memory is used again.
    hits: Hits,
}

impl<'s> Search<'s> {
    /// Opens and plans what can be done before.
    pub(super) fn prepare(mut self) -> Result<PreparedSearch<'s>> {
        let _scope = self.searcher.enter(&self.budget());
        self.stays_open = true;
        self.each_branch(&mut |branch| branch.stays_open = true);
        let mut plan = self.planned()?;
        self.open_lists(&mut plan)?;
        Ok(PreparedSearch { search: self, plan, hits: Hits::default() })
    }

    /// Opens the lists of a plan, and those of its branches.
    fn open_lists(&self, plan: &mut SearchPlan<'s>) -> Result<()> {
        if let (PageOperator::TopK(_), false) = (plan.page.operator, plan.page.needs_matches())
            && let Some(ranked) = self.scorings().and_then(|it| it.page.as_ref())
        {
            plan.lists = Some(Box::new(OpenLists::of(ranked)?));
        }
        if !plan.page.runs_matching() {
            // It has found sets, and nothing is left to do for it.
            plan.matching = Matching::Unplanned;
        }
        let branches = self.queries_of_branches().zip(&mut plan.branches);
        branches.into_iter().try_for_each(|(search, plan)| search.open_lists(plan))
    }
}

impl PreparedSearch<'_> {
    /// Sets the budget of each search from now on. It replaces that of the [builder](super::SearchBuilder::timeout):
    /// every search may have another deadline or token.
    pub fn set_budget(&mut self, budget: Budget) {
        let partial = self.search.request.limits.partial;
        self.search.request.limits = RequestLimits { partial, ..RequestLimits::default() };
        self.search.budget = budget;
    }

    /// Answers the query. Hits have no stored fields: [`Searcher::document`](super::Searcher::document) gives those of the
    /// hits that are shown.
    ///
    /// From the second time on nothing is allocated beyond the memory that the searcher
    /// [keeps](super::Searcher::scratch_bytes), where the index is mapped or in memory, no facets are
    /// asked for and hits are neither sorted by fields nor grouped.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where what it reads is damaged; those of the budget.
    pub fn run(&mut self) -> Result<&Hits> {
        let started = Instant::now();
        let found = self.find();
        self.search.log_if_slow(Some(started), found.as_ref().err());
        let Outcome { total, groups, stopped, .. } = found?;
        let took = started.elapsed();
        let Hits { hits, facets, .. } = std::mem::take(&mut self.hits);
        self.hits = Hits { total, hits, groups, facets, took, from_cache: false, stopped };
        Ok(&self.hits)
    }

    /// Finds the documents of the page, and the facets.
    fn find(&mut self) -> Result<Outcome> {
        let PreparedSearch { search, plan, hits } = self;
        let Hits { hits, facets, .. } = hits;
        let _scope = search.searcher.enter(&search.budget());
        hits.clear();
        facets.clear();
        let mut found = search.context(false)?.run(plan, |hit| {
            hits.push(hit);
            Ok(())
        })?;
        facets.append(&mut found.facets);
        Ok(found)
    }
}
