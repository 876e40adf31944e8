//! Answering of a search: it is planned and carried out, and its hits are fetched.

use super::search::Search;
use super::{Hit, Hits, Stopped};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::execution::{
    BoundFacet, MatchPlanner, Matching, Outcome, Scorings, SearchContext, SearchPlan,
};
use crate::hits::FieldSimilarity;
use crate::plan::forced::Forced;
use crate::plan::{CountStrategy, Goal, NeighborsPlan, PlanOptions};
use crate::query::NeighborsSpec;
use std::time::Instant;

/// Room made for hits before any is found.
const HITS_ROOM: u64 = 100;
/// Hits that are still fetched when the time is over and what was found is wanted nevertheless.
const HITS_AFTER_STOP: usize = 10;

impl<'a> Search<'a> {
    /// Answers the query.
    pub(super) fn run(mut self) -> Result<Hits> {
        let started = Instant::now();
        let answer = match &self.searcher.0.setting.cache {
            Some(cache) => cache.answer(&self, started),
            None => self.answer(started),
        };
        self.log_if_slow(Some(started), answer.as_ref().err());
        if let Some(memory) = self.meaning.take_memory() {
            self.searcher.0.memory.give(memory);
        }
        answer
    }

    /// Answers by a search that has to run.
    pub(super) fn answer(&self, started: Instant) -> Result<Hits> {
        let _scope = self.searcher.enter(&self.budget());
        let fields = self.known_fields()?;
        let mut plan = SearchPlan::default();
        if let Err(error) = self.plan(&mut plan) {
            // A search that is stopped before it begins has counted nothing.
            let mut found = Outcome::uncounted();
            found.stop(error, &self.request)?;
            return Ok(found.into_hits(vec![], started.elapsed()));
        }
        let n_hits = if self.request.count_only { 0 } else { self.request.limit.min(HITS_ROOM) };
        let mut hits = Vec::with_capacity(n_hits as usize);
        let mut stopped = None;
        let mut found = self
            .context(false)?
            .run(&mut plan, |hit| self.fetch(hit, fields.as_deref(), &mut hits, &mut stopped))?;
        self.add_similarities(&plan, &mut hits);
        self.add_distances(&mut hits)?;
        if found.stopped.is_none() {
            self.recycle(plan);
        }
        found.stopped = found.stopped.or(stopped);
        Ok(found.into_hits(hits, started.elapsed()))
    }

    /// Adds to hits how similar they are to the vectors whose neighbours they are.
    pub(super) fn add_similarities(&self, plan: &SearchPlan<'_>, hits: &mut [Hit]) {
        let mut known: Vec<&NeighborsSpec> = vec![];
        plan.each_plan(&mut |plan| {
            for NeighborsPlan { spec, found, .. } in &plan.neighbors {
                let Some(found) = found else { continue };
                if known.iter().any(|it| **it == **spec) {
                    continue;
                }
                known.push(spec);
                let field = &self.searcher.schema().get(spec.field).name;
                for hit in &mut *hits {
                    let Some(segment) = plan.segments.iter().rposition(|it| it.base <= hit.doc.0)
                    else {
                        continue;
                    };
                    let doc = (hit.doc.0 - plan.segments[segment].base) as u32;
                    if let Some(similarity) = found.similarity(segment, doc) {
                        hit.similarities.push(FieldSimilarity { field: field.clone(), similarity });
                    }
                }
            }
        });
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
            *stopped = Some(self.request.stopped(error)?);
            if hits.len() >= HITS_AFTER_STOP {
                return Ok(());
            }
        }
        let fields = self.searcher.snapshot().stored(hit.doc, fields)?;
        hits.push(Hit { fields, ..hit });
        Ok(())
    }

    /// Plans the search. Looks up what scores depend on, finds the sets among that, and plans the page, and what matches if it
    /// is known to be wanted.
    pub(super) fn plan(&self, plan: &mut SearchPlan<'a>) -> Result<()> {
        let mut scorings = self.look_up_scorings()?;
        plan.page = self.page_plan(&scorings);
        plan.branches = self.plan_branches(Self::planned)?;
        let sets = scorings.wanted_sets();
        if !sets.is_empty() || scorings.has_neighbors() {
            let of_page = (&mut scorings, &mut plan.page);
            plan.matching = Matching::Planned(self.plan_with_sets(sets, of_page, false, true)?);
        }
        self.meaning.scorings.get_or_init(|| scorings);
        // Making the page may find the number of matches on its way.
        let may_be_found = plan.page.count == CountStrategy::AfterPage && !self.stays_open;
        let is_planned = matches!(plan.matching, Matching::Planned(_));
        if !is_planned && plan.page.runs_matching() && !may_be_found {
            self.plan_matching(plan.page.goal(), &mut plan.matching)?;
        }
        Ok(())
    }

    /// Its plan.
    pub(super) fn planned(&self) -> Result<SearchPlan<'a>> {
        let mut plan = SearchPlan::default();
        self.plan(&mut plan)?;
        Ok(plan)
    }

    /// Keeps the memory of a plan that was carried out for the next search.
    pub(super) fn recycle(&self, plan: SearchPlan<'a>) {
        self.searcher.recycle(plan.matching);
        plan.branches.into_iter().for_each(|branch| self.recycle(branch));
    }

    /// All that the operators of its plan read.
    pub(super) fn context(&self, is_traced: bool) -> Result<SearchContext<'_, 'a>> {
        let facets = self.bound_facets()?;
        let wants_hits = facets.iter().any(BoundFacet::wants_hits);
        Ok(SearchContext {
            request: &self.request,
            snapshot: self.searcher.snapshot(),
            costs: self.searcher.costs(),
            scorings: self.scorings(),
            order: self.sort_order()?,
            group: self.group_field()?,
            facets,
            fields: if wants_hits { self.known_fields()? } else { None },
            look_ups: self.look_ups(),
            scratch: &self.searcher.0.pruned,
            planner: self,
            is_traced,
            fused: self.fused(is_traced)?,
        })
    }

    /// Options that a plan is made by.
    pub(super) fn options(
        &self,
        goal: Goal,
        explain: bool,
        scorings: Option<&Scorings<'_>>,
    ) -> Result<PlanOptions> {
        let (forced, estimate_from) = (self.forced, self.estimate_from.unwrap_or_default());
        let mut options =
            PlanOptions { goal, explain, forced, estimate_from, ..PlanOptions::default() };
        let bound = self.bound_facets()?;
        if bound.is_empty() {
            return Ok(options);
        }
        let top_hits = self.top_hits(scorings);
        options.facets.extend(bound.iter().map(|facet| facet.wanted(top_hits)));
        if let Some(Forced::Facet { nth, .. } | Forced::Tally { nth }) = self.forced
            && let Some(facet) = options.facets.get_mut(nth as usize)
        {
            match self.forced {
                Some(Forced::Facet { method, .. }) => facet.method = Some(method),
                _ => facet.is_tallied = true,
            }
        }
        options.unselected = self.unselected()?;
        Ok(options)
    }
}

impl<'a> MatchPlanner<'a> for Search<'a> {
    fn plan_matching(&self, goal: Goal, matching: &mut Matching<'a>) -> Result<()> {
        let options = self.options(goal, false, self.scorings())?;
        let (normal, look_ups) = (&self.rewritten()?.normal, self.look_ups_after(self.scorings()));
        self.searcher.plan_matching(normal, &options, look_ups, matching)
    }
}
