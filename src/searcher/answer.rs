//! Execution of a search: its matches, their count, and the page of hits.

use super::scorings::Scorings;
use super::search::Search;
use super::{FacetCounts, Fields, Hit, Hits, Relation, Stopped, Total};
use crate::budget::{self, ns};
use crate::error::{Error, ErrorKind, Result};
use crate::execution::{Counted, Execution, Matches};
use crate::explain::{FacetRun, WorkCounts};
use crate::ids::DocId;
use crate::plan::forced::Forced;
use crate::plan::{Goal, PageOperator, PagePlan, PlanOptions};
use crate::ranking::search::OpenLists;
use crate::ranking::top::Trace;
use crate::request::TotalMode;
use std::time::{Duration, Instant};

/// Room made for documents before any is found.
const HITS_ROOM_MAX: u64 = 1_024;
/// Room made for hits, which are larger.
const HITS_ROOM: u64 = 100;
/// Hits that are still fetched when the time is over and what was found is wanted nevertheless.
const HITS_AFTER_STOP: usize = 10;

impl Search<'_> {
    /// Answers the query.
    pub(super) fn run(self) -> Result<Hits> {
        let started = Instant::now();
        let answer = match &self.searcher.0.setting.cache {
            Some(cache) => cache.answer(&self, started),
            None => self.answer(started),
        };
        self.log_if_slow(Some(started), answer.as_ref().err());
        if let Some(memory) = self.meaning.into_memory() {
            self.searcher.0.memory.give(memory);
        }
        answer
    }

    /// Answers by a search that has to run.
    pub(super) fn answer(&self, started: Instant) -> Result<Hits> {
        let _scope = self.searcher.enter(&self.budget());
        let fields = self.known_fields()?;
        let mut ready = match self.ready() {
            Err(error) => {
                // A search that is stopped before it begins has counted nothing.
                let mut found = SearchOutcome::uncounted();
                self.end(Err(error), &mut found)?;
                return Ok(found.into_hits(vec![], started.elapsed()));
            }
            Ok(ready) => ready,
        };
        let n_hits = if self.request.count_only { 0 } else { self.request.limit.min(HITS_ROOM) };
        let mut hits = Vec::with_capacity(n_hits as usize);
        let mut stopped = None;
        let add = |hit: Hit| self.fetch(hit, fields.as_deref(), &mut hits, &mut stopped);
        let planned = ready.planned.as_deref_mut();
        let state = PreparedState { planned, ..PreparedState::default() };
        let mut found = self.find(&ready.page, state, add)?;
        if let Some(execution) = ready.planned.filter(|_| found.stopped.is_none()) {
            self.searcher.recycle(*execution);
        }
        found.stopped = found.stopped.or(stopped);
        Ok(found.into_hits(hits, started.elapsed()))
    }

    /// Adds a hit of the page with its stored fields; of a search that is stopped only the first few.
    pub(super) fn fetch(
        &self,
        hit: Hit,
        fields: Option<&[String]>,
        hits: &mut Vec<Hit>,
        stopped: &mut Option<Stopped>,
    ) -> Result<()> {
        if let Err(error) = budget::work(ns::HIT_FETCHED) {
            *stopped = Some(self.stopped(error)?);
            if hits.len() >= HITS_AFTER_STOP {
                return Ok(());
            }
        }
        hits.push(Hit { fields: self.fetched(hit.doc, fields)?, ..hit });
        Ok(())
    }

    /// The stored fields of a document, all of them or those with these names.
    pub(super) fn fetched(&self, doc: DocId, fields: Option<&[String]>) -> Result<Fields> {
        let mut stored = match fields {
            Some([]) => Fields::new(),
            _ => self.searcher.stored(doc)?,
        };
        if let Some(fields) = fields {
            stored.retain(|name, _| fields.iter().any(|field| field == name));
        }
        Ok(stored)
    }

    /// Carries out what is planned for a page: gives its hits to `hit` without their fields, and finds what else was asked for.
    pub(super) fn find(
        &self,
        page: &PagePlan,
        ready: PreparedState<'_, '_>,
        mut hit: impl FnMut(Hit) -> Result<()>,
    ) -> Result<SearchOutcome> {
        let scorings = self.scorings();
        match (page.operator, scorings.and_then(|it| it.page.as_ref())) {
            (PageOperator::Collapse(strategy), _) => self.collapsed(strategy, ready.planned, hit),
            (PageOperator::TopK(strategy), Some(ranked)) => {
                self.best(ranked, (page, strategy), ready, |doc, score| {
                    hit(Hit::new(doc, Some(score)))
                })
            }
            (PageOperator::Sort(strategy), _) => {
                self.sorted(strategy, ready.planned, |doc, score, sort| {
                    hit(Hit { sort, ..Hit::new(doc, score) })
                })
            }
            (PageOperator::DocOrder { .. } | PageOperator::TopK(_), _) => {
                let mut found = self.planned(page, ready.planned)?;
                let score = page.score();
                found.docs.iter().try_for_each(|doc| hit(Hit::new(*doc, score)))?;
                let docs = std::mem::take(&mut found.docs);
                self.with_memory(|memory| memory.docs.give(docs));
                Ok(found)
            }
        }
    }

    /// Runs the `planned` execution or one of its own, if nothing is scored.
    fn planned(
        &self,
        page: &PagePlan,
        planned: Option<&mut Execution<'_>>,
    ) -> Result<SearchOutcome> {
        let mut docs = self.with_memory(|memory| memory.docs.take());
        if !self.request.count_only {
            docs.reserve(self.request.limit.min(HITS_ROOM_MAX) as usize);
        }
        let mut found = SearchOutcome { docs, ..SearchOutcome::uncounted() };
        let options = || self.options(page.goal(), false, self.scorings());
        let done = match planned {
            None if self.only_counts(page) => self.count(Goal::Count, None, &mut found),
            planned => self.by_plan(planned, options, |it| self.execute(it, &mut found)),
        };
        self.end(done, &mut found)?;
        found.n_hits = found.docs.len() as u64;
        Ok(found)
    }

    /// Whether nothing is wanted but the number of what matches.
    pub(super) fn only_counts(&self, page: &PagePlan) -> bool {
        page.goal() == Goal::Count && self.request.facets.is_empty()
    }

    /// Why the search was stopped, where that is no reason to give nothing.
    ///
    /// # Errors
    ///
    /// Every other error.
    pub(super) fn stopped(&self, error: Error) -> Result<Stopped> {
        match error.kind() {
            ErrorKind::Timeout if self.request.limits.partial => Ok(Stopped::Timeout),
            ErrorKind::Cancelled if self.request.limits.partial => Ok(Stopped::Cancelled),
            _ => Err(error),
        }
    }

    /// Ends a search that has found something, or everything.
    pub(super) fn end(&self, done: Result<()>, found: &mut SearchOutcome) -> Result<()> {
        let Err(error) = done else { return Ok(()) };
        found.stopped = Some(self.stopped(error)?);
        let so_far = found.facets.len();
        let uncounted = self.request.facets.iter().skip(so_far);
        found.facets.extend(uncounted.map(FacetCounts::unknown));
        Ok(())
    }

    /// Finds the documents of the page, counts the matches, and all facets of these.
    pub(super) fn execute(
        &self,
        execution: &mut Execution<'_>,
        found: &mut SearchOutcome,
    ) -> Result<()> {
        found.is_planned = true;
        if !self.request.facets.is_empty() {
            return self.with_matches_of(execution, found, |_, _, _| Ok(()));
        }
        let done = execution.run(&mut found.docs);
        found.total.value = execution.counted();
        found.total = self.total_of(done?);
        Ok(())
    }

    /// Does something by what is `planned` for it, or else by a plan of its own.
    fn by_plan(
        &self,
        planned: Option<&mut Execution<'_>>,
        options: impl FnOnce() -> Result<PlanOptions>,
        work: impl FnOnce(&mut Execution<'_>) -> Result<()>,
    ) -> Result<()> {
        if let Some(execution) = planned {
            return work(execution);
        }
        let mut execution = self.execution(&options()?)?;
        work(&mut execution)?;
        self.searcher.recycle(execution);
        Ok(())
    }

    pub(super) fn total_of(&self, counted: Counted) -> Total {
        let relation = match (counted.more, self.request.total) {
            (false, _) => Relation::Exact,
            (true, TotalMode::Unknown) => Relation::Unknown,
            (true, _) => Relation::AtLeast,
        };
        Total { value: counted.documents, relation }
    }

    /// Finds all matches by the `planned` execution or a plan of its own, does something with them, and counts facets.
    pub(super) fn with_matches(
        &self,
        planned: Option<&mut Execution<'_>>,
        found: &mut SearchOutcome,
        then: impl FnOnce(&Execution<'_>, &Matches, &mut SearchOutcome) -> Result<()>,
    ) -> Result<()> {
        let options = || self.options(Goal::MATCHES, false, self.scorings());
        self.by_plan(planned, options, |it| self.with_matches_of(it, found, then))
    }

    fn with_matches_of(
        &self,
        execution: &mut Execution<'_>,
        found: &mut SearchOutcome,
        then: impl FnOnce(&Execution<'_>, &Matches, &mut SearchOutcome) -> Result<()>,
    ) -> Result<()> {
        found.is_planned = true;
        let done = execution.page_and_matches(&mut found.docs);
        found.total.value = execution.counted();
        let (counted, matches) = done?;
        found.total = self.total_of(counted);
        then(execution, &matches, found)?;
        self.count_facets(execution, &matches, found)
    }

    /// Counts what matches, as far as `goal` says: by what is `planned` for it, or else by a plan of its own.
    pub(super) fn count(
        &self,
        goal: Goal,
        planned: Option<&mut Execution<'_>>,
        found: &mut SearchOutcome,
    ) -> Result<()> {
        let options = PlanOptions { goal, forced: self.forced, ..<_>::default() };
        if goal == Goal::Count && planned.is_none() {
            let normal = &self.rewritten()?.normal;
            let look_ups = self.look_ups_after(self.scorings());
            found.is_planned = true;
            let total_of = &mut found.total.value;
            found.is_planned = self.searcher.count_to(normal, &options, look_ups, total_of)?;
            found.total.relation = Relation::Exact;
            return Ok(());
        }
        self.by_plan(planned, || Ok(options), |it| self.execute(it, found))
    }

    /// Options that a plan is made by.
    pub(super) fn options(
        &self,
        goal: Goal,
        explain: bool,
        scorings: Option<&Scorings<'_>>,
    ) -> Result<PlanOptions> {
        let bound = self.bound_facets()?;
        let top_hits = self.top_hits(scorings);
        let mut facets: Vec<_> = bound.iter().map(|facet| facet.wanted(top_hits)).collect();
        if let Some(Forced::Facet { nth, .. } | Forced::Tally { nth }) = self.forced
            && let Some(facet) = facets.get_mut(nth as usize)
        {
            match self.forced {
                Some(Forced::Facet { method, .. }) => facet.method = Some(method),
                _ => facet.is_tallied = true,
            }
        }
        let (forced, estimate_from) = (self.forced, self.estimate_from.unwrap_or_default());
        let (sets, unselected) = (vec![], self.unselected()?);
        Ok(PlanOptions { goal, facets, explain, forced, estimate_from, sets, unselected })
    }
}

/// State that is there already when a search begins.
#[derive(Debug, Default)]
pub(super) struct PreparedState<'a, 's> {
    /// Lists that stay open, where the best are looked for.
    pub(super) lists: Option<&'a mut OpenLists<'s>>,
    /// Execution that finds everything that matches, or counts it.
    pub(super) planned: Option<&'a mut Execution<'s>>,
    /// Whether anybody will look at how the best were found, and at what that took.
    pub(super) is_traced: bool,
}

/// Outcome of an execution, before stored fields are fetched.
#[derive(Default)]
pub(super) struct SearchOutcome {
    /// The documents of the page, where they are not the best.
    pub(super) docs: Vec<DocId>,
    /// Number of best hits that are on the page.
    pub(super) n_hits: u64,
    pub(super) total: Total,
    pub(super) facets: Vec<FacetCounts>,
    pub(super) facet_runs: Vec<FacetRun>,
    /// Number of different values that hits could have, if they are grouped, and the work it took.
    pub(super) groups: Option<u64>,
    /// Whether a plan was carried out: the best of many queries are found, and counted, without.
    pub(super) is_planned: bool,
    pub(super) looked_at: WorkCounts,
    /// Time of finding the best, or of grouping, by itself; none if nobody asks.
    pub(super) took: Duration,
    pub(super) trace: Option<Trace>,
    pub(super) stopped: Option<Stopped>,
}

impl SearchOutcome {
    /// The page, with its hits.
    pub(super) fn into_hits(self, hits: Vec<Hit>, took: Duration) -> Hits {
        let SearchOutcome { total, groups, facets, stopped, .. } = self;
        Hits { total, hits, groups, facets, took, from_cache: false, stopped }
    }

    /// Nothing so far.
    pub(super) fn uncounted() -> Self {
        let total = Total { value: 0, relation: Relation::AtLeast };
        SearchOutcome { total, ..SearchOutcome::default() }
    }
}
