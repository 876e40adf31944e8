//! Searches made ready once, to be answered any number of times.

use super::answer::{PreparedState, SearchOutcome};
use super::hits::Hits;
use super::page::Ready;
use super::search::Search;
use crate::budget::Budget;
use crate::error::Result;
use crate::execution::Execution;
use crate::plan::{PageOperator, PagePlan, PlanOptions};
use crate::ranking::search::OpenLists;
use crate::request::RequestLimits;
use std::time::Instant;

/// Prepared search: words looked up, lists open, plan made. It is from
/// [`SearchBuilder::prepare`](super::SearchBuilder::prepare).
#[derive(Debug)]
pub struct PreparedSearch<'s> {
    pub(super) search: Search<'s>,
    page: PagePlan,
    /// Open lists, if the best are looked for by lists.
    lists: Option<Box<OpenLists<'s>>>,
    /// Finds what matches, or counts it, where making the page does not.
    planned: Option<Box<Execution<'s>>>,
    /// The answer, whose memory is used again.
    hits: Hits,
}

impl<'s> Search<'s> {
    /// Opens and plans what can be done before.
    pub(super) fn prepare(mut self) -> Result<PreparedSearch<'s>> {
        let _scope = self.searcher.enter(&self.budget());
        self.stays_open = true;
        let Ready { page, planned } = self.ready()?;
        let lists = match (page.operator, self.scorings().and_then(|it| it.page.as_ref())) {
            (PageOperator::TopK(_), Some(ranked)) if !page.needs_matches() => {
                Some(Box::new(OpenLists::of(ranked)?))
            }
            _ => None,
        };
        let is_unasked = !page.runs_matching();
        // A count that the dictionary knows is as soon made as looked for.
        let planned = match is_unasked || self.counts_term(&page)? {
            true => None,
            false => Some(match planned {
                Some(planned) => planned,
                None => {
                    let options = self.options(page.goal(), false, self.scorings())?;
                    Box::new(self.execution(&options)?)
                }
            }),
        };
        Ok(PreparedSearch { search: self, page, lists, planned, hits: Hits::default() })
    }

    /// Whether below a page nothing is done but to count one term.
    fn counts_term(&self, page: &PagePlan) -> Result<bool> {
        let normal = &self.rewritten()?.normal;
        Ok(self.only_counts(page) && PlanOptions::default().counted_term(normal).is_some())
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
        let SearchOutcome { total, groups, stopped, .. } = found?;
        let took = started.elapsed();
        let Hits { hits, facets, .. } = std::mem::take(&mut self.hits);
        self.hits = Hits { total, hits, groups, facets, took, from_cache: false, stopped };
        Ok(&self.hits)
    }

    /// Finds the documents of the page, and the facets.
    fn find(&mut self) -> Result<SearchOutcome> {
        let PreparedSearch { search, page, lists, planned, hits } = self;
        let Hits { hits, facets, .. } = hits;
        let _scope = search.searcher.enter(&search.budget());
        hits.clear();
        facets.clear();
        let ready = PreparedState {
            lists: lists.as_deref_mut(),
            planned: planned.as_deref_mut(),
            is_traced: false,
        };
        let mut found = search.find(page, ready, |hit| {
            hits.push(hit);
            Ok(())
        })?;
        facets.append(&mut found.facets);
        Ok(found)
    }
}
