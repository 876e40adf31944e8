//! Searches made ready once, to be answered any number of times.

use super::answer::{PreparedState, SearchOutcome};
use super::hits::{Hit, Hits};
use super::search::Search;
use crate::budget::Budget;
use crate::error::Result;
use crate::execution::Execution;
use crate::ids::DocId;
use crate::plan::{CountStrategy, Goal, PageOperator, PagePlan, PlanOptions, SinglePlan};
use crate::ranking::prepared::Ranked;
use crate::ranking::search::OpenLists;
use crate::request::RequestLimits;
use std::time::Instant;

/// A search whose words are looked up, whose lists are open and whose plan is made; from
/// [`SearchBuilder::prepare`](super::SearchBuilder::prepare).
#[derive(Debug)]
pub struct PreparedSearch<'s> {
    search: Search<'s>,
    way: PreparedWay<'s>,
    docs: Vec<DocId>,
    /// The answer, whose memory is used again.
    hits: Hits,
}

/// How it is answered.
#[derive(Debug)]
enum PreparedWay<'s> {
    /// By a plan: nothing is scored, or every match the same.
    Plan { execution: Box<Execution<'s>>, score: Option<f32> },
    /// By lists that stay open.
    Lists { ranked: Ranked<'s>, kept: Box<Kept<'s>> },
    /// As any other search, but for looking words up where hits are scored.
    Anew(Option<Ranked<'s>>),
}

/// What stays open between the searches of one query.
#[derive(Debug)]
pub(super) struct Kept<'s> {
    pub(super) lists: OpenLists<'s>,
    /// Counts what matches, where finding the best does not tell.
    pub(super) counting: Option<Execution<'s>>,
}

impl<'s> Search<'s> {
    /// Opens and plans what can be done before.
    pub(super) fn prepare(mut self) -> Result<PreparedSearch<'s>> {
        let _scope = self.searcher.enter(&self.budget());
        let ranked = self.ranked()?;
        self.stays_open = true;
        let page = self.page_plan(ranked.as_ref());
        let options = self.options(page.goal(), false)?;
        let way = match (page.operator, ranked) {
            (PageOperator::Collapse(_) | PageOperator::Sort, _) => {
                // Planned anew each time; what is wrong with it is told now.
                self.plan(&options)?;
                PreparedWay::Anew(None)
            }
            (PageOperator::TopK(_), Some(ranked)) if page.needs_matches() => {
                PreparedWay::Anew(Some(ranked))
            }
            (PageOperator::TopK(_), Some(ranked)) => {
                let (lists, counting) = (OpenLists::of(&ranked)?, self.counting(&page)?);
                PreparedWay::Lists { ranked, kept: Box::new(Kept { lists, counting }) }
            }
            // As soon carried out as looked for.
            _ if self.only_counts(&page) && self.is_single()? => PreparedWay::Anew(None),
            (PageOperator::DocOrder { .. } | PageOperator::TopK(_), _) => PreparedWay::Plan {
                execution: Box::new(self.execution(&options)?),
                score: page.score(),
            },
        };
        Ok(PreparedSearch { search: self, way, docs: vec![], hits: Hits::default() })
    }

    /// Whether counting takes one operator, which is planned with each search.
    fn is_single(&self) -> Result<bool> {
        Ok(SinglePlan::of(&self.rewritten()?.normal).is_some())
    }

    /// What counts the matches, where that is asked for and has to be done by itself.
    fn counting(&self, page: &PagePlan) -> Result<Option<Execution<'s>>> {
        let goal = page.goal_of_count();
        if page.count != CountStrategy::AfterPage || goal == Goal::Count && self.is_single()? {
            return Ok(None);
        }
        let options = PlanOptions { goal, ..PlanOptions::default() };
        self.execution(&options).map(Some)
    }
}

impl PreparedSearch<'_> {
    /// Sets what each search may take from now on, in place of what the [builder](super::SearchBuilder::timeout) said:
    /// another deadline or token for every search.
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
        let PreparedSearch { search, way, docs, hits } = self;
        let Hits { hits, facets, .. } = hits;
        let _scope = search.searcher.enter(&search.budget());
        hits.clear();
        facets.clear();
        let mut add = |hit: Hit| {
            hits.push(hit);
            Ok(())
        };
        let mut found = match way {
            PreparedWay::Plan { execution, score } => {
                docs.clear();
                let mut found =
                    SearchOutcome { docs: std::mem::take(docs), ..SearchOutcome::uncounted() };
                let done = search.execute(execution, &mut found);
                search.end(done, &mut found)?;
                found.docs.iter().try_for_each(|doc| add(Hit::new(*doc, *score)))?;
                *docs = std::mem::take(&mut found.docs);
                found
            }
            PreparedWay::Lists { ranked, kept } => {
                let Kept { lists, counting } = &mut **kept;
                let ready = PreparedState {
                    lists: Some(lists),
                    planned: counting.as_mut(),
                    is_traced: false,
                };
                search.find(Some(ranked), ready, add)?
            }
            PreparedWay::Anew(ranked) => {
                search.find(ranked.as_ref(), PreparedState::default(), add)?
            }
        };
        facets.append(&mut found.facets);
        Ok(found)
    }
}
