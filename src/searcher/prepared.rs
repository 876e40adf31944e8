//! Searches made ready once, to be answered any number of times.

use super::Searcher;
use super::answer::{Found, Ready};
use super::hits::{FacetCounts, Stopped, Total};
use super::search::Search;
use crate::budget::Budget;
use crate::error::Result;
use crate::execution::Execution;
use crate::ids::DocId;
use crate::plan::{CountStrategy, PageOperator, PagePlan, PlanOptions};
use crate::ranking::prepared::Ranked;
use crate::ranking::search::OpenLists;
use crate::request::RequestLimits;
use std::time::Instant;

/// A planned count with the memory to take it; from [`Searcher::prepare`](super::Searcher::prepare).
#[derive(Debug)]
pub struct PreparedCount<'s> {
    pub(super) execution: Execution<'s>,
    pub(super) budget: Budget,
    pub(super) searcher: &'s Searcher,
}

impl PreparedCount<'_> {
    /// Sets what each count may take from now on (default: no deadline, nobody who cancels, the memory of any query).
    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// How many documents match. From the second time on nothing is allocated, where the index is
    /// mapped or in memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where what it reads is damaged; what the budget says.
    pub fn count(&mut self) -> Result<u64> {
        let _scope = self.searcher.enter(&self.budget);
        self.execution.count()
    }
}

/// A search whose words are looked up, whose lists are open and whose plan is made; from
/// [`SearchBuilder::prepare`](super::SearchBuilder::prepare).
#[derive(Debug)]
pub struct PreparedSearch<'s> {
    search: Search<'s>,
    way: PreparedWay<'s>,
    docs: Vec<DocId>,
    ranking: Vec<RankedDoc>,
    facets: Vec<FacetCounts>,
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

/// A document of a page, without its stored fields.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RankedDoc {
    /// Its number in the snapshot, for [`Searcher::document`](super::Searcher::document).
    pub doc: DocId,
    /// How well it matches, where anything is scored.
    pub score: Option<f32>,
}

/// One page of a prepared search.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Page<'p> {
    /// How many documents match.
    pub total: Total,
    /// The documents of the page, in the order of the search.
    pub docs: &'p [RankedDoc],
    /// As [`Hits::groups`](super::Hits::groups).
    pub groups: Option<u64>,
    /// In the order they were asked for.
    pub facets: &'p [FacetCounts],
    /// Why this is not everything, where the search was stopped and gives what it
    /// [found so far](super::SearchBuilder::partial).
    pub stopped: Option<Stopped>,
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
            (PageOperator::Collapse | PageOperator::Sort, _) => {
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
            (PageOperator::DocOrder { .. } | PageOperator::TopK(_), _) => PreparedWay::Plan {
                execution: Box::new(self.execution(&options)?),
                score: page.score(),
            },
        };
        Ok(PreparedSearch { search: self, way, docs: vec![], ranking: vec![], facets: vec![] })
    }

    /// What counts the matches, where that is asked for and has to be done by itself.
    fn counting(&self, page: &PagePlan) -> Result<Option<Execution<'s>>> {
        if page.count != CountStrategy::AfterPage {
            return Ok(None);
        }
        let options = PlanOptions { goal: page.goal_of_count(), ..PlanOptions::default() };
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

    /// Answers the query. From the second time on nothing is allocated beyond the memory that the searcher
    /// [keeps](super::Searcher::scratch_bytes), where the index is mapped or in memory, no facets are
    /// asked for and hits are neither sorted by fields nor grouped.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where what it reads is damaged.
    pub fn run(&mut self) -> Result<Page<'_>> {
        let started = self.search.searcher.0.setting.slow.as_ref().map(|_| Instant::now());
        let found = self.find();
        self.search.log_if_slow(started, found.as_ref().err());
        let Found { total, groups, stopped, .. } = found?;
        Ok(Page { total, docs: &self.ranking, groups, facets: &self.facets, stopped })
    }

    /// Finds the documents of the page, and the facets.
    fn find(&mut self) -> Result<Found> {
        let PreparedSearch { search, way, docs, ranking, facets } = self;
        let _scope = search.searcher.enter(&search.budget());
        ranking.clear();
        facets.clear();
        let mut add = |doc: DocId, score: Option<f32>| {
            ranking.push(RankedDoc { doc, score });
            Ok(())
        };
        let mut found = match way {
            PreparedWay::Plan { execution, score } => {
                docs.clear();
                let mut found = Found { docs: std::mem::take(docs), ..Found::uncounted() };
                let done = search.execute(execution, &mut found);
                search.end(done, &mut found)?;
                found.docs.iter().try_for_each(|doc| add(*doc, *score))?;
                *docs = std::mem::take(&mut found.docs);
                found
            }
            PreparedWay::Lists { ranked, kept } => {
                let Kept { lists, counting } = &mut **kept;
                let ready =
                    Ready { lists: Some(lists), planned: counting.as_mut(), is_traced: false };
                search.find(Some(ranked), ready, |hit| add(hit.doc, hit.score))?
            }
            PreparedWay::Anew(ranked) => {
                let ranked = ranked.as_ref();
                search.find(ranked, Ready::default(), |hit| add(hit.doc, hit.score))?
            }
        };
        facets.append(&mut found.facets);
        Ok(found)
    }
}
