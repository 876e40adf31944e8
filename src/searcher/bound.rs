//! Binding a search to the schema of its index, once, and planning what it means.

use super::meaning::{SearchMemory, once};
use super::search::Search;
use crate::analysis::Analyzers;
use crate::error::Result;
use crate::execution::Scorings;
use crate::look_ups::LookUps;
use crate::matching::Execution;
use crate::plan::{Phase, PhaseClock, PlanOptions};
use crate::query::{self, BindOptions, BoundQuery, BoundSelections, Normal, Rewritten};
use crate::request::{IdfScope, Selection};
use crate::schema::Schema;

impl<'s> Search<'s> {
    /// The query with all selections, bound to the schema.
    pub(super) fn bound(&self) -> Result<&BoundQuery> {
        let bind = || match self.request.selections.is_empty() {
            true => {
                let (query, options) = (self.matched(), self.bind_options());
                let (schema, analyzers) = self.names();
                self.with_memory(|memory| {
                    query::bind(query, schema, analyzers, options, &mut memory.bind)
                })
            }
            false => self.bound_without(&[]),
        };
        once(&self.meaning.bound, || self.meaning.time(Phase::Bind, bind))
    }

    /// The query without some of its selections.
    pub(super) fn bound_without(&self, left_out: &[usize]) -> Result<BoundQuery> {
        let names = self.names();
        if self.matched().has_neighbors() {
            // Each set of selections allows other neighbours.
            let query = self.query_without(left_out);
            let options = self.bind_options();
            return self.with_memory(|memory| {
                query::bind(&query, names.0, names.1, options, &mut memory.bind)
            });
        }
        let bound = once(&self.meaning.selections, || {
            let query = self.matched();
            let selections = self.request.selections.iter().map(Selection::query);
            let options = self.bind_options();
            self.with_memory(|memory| {
                BoundSelections::new(query, selections, names, options, &mut memory.bind)
            })
        })?;
        Ok(self.with_memory(|memory| bound.without(left_out, names, &mut memory.bind)))
    }

    /// The documents of the query without some of its selections.
    pub(super) fn matching_without(&self, left_out: &[usize]) -> Result<Normal> {
        let bound = self.bound_without(left_out)?;
        let (schema, analyzers) = self.names();
        Ok(self.with_memory(|memory| bound.rewritten(schema, analyzers, &mut memory.bind)).normal)
    }

    fn bind_options(&self) -> BindOptions {
        let (pattern_terms, notes) = (self.request.pattern_terms, self.meaning.is_explained());
        BindOptions { pattern_terms, notes }
    }

    /// Schema and analyzers that give names and words their meaning.
    fn names(&self) -> (&'s Schema, &'s Analyzers) {
        (self.searcher.schema(), &self.searcher.0.setting.analyzers)
    }

    /// Does something in memory that earlier searches left.
    pub(super) fn with_memory<T>(&self, work: impl FnOnce(&mut SearchMemory) -> T) -> T {
        let memory = &mut *self.meaning.memory.borrow_mut();
        work(memory.get_or_insert_with(|| self.searcher.0.memory.take()))
    }

    /// The documents that the query means with all selections.
    pub(super) fn rewritten(&self) -> Result<&Rewritten> {
        once(&self.meaning.rewritten, || self.meaning.time(Phase::Bind, || self.rewrite()))
    }

    fn rewrite(&self) -> Result<Rewritten> {
        let (schema, analyzers) = self.names();
        // To count needs no scores, unless documents are explained that are counted.
        let is_bound = self.meaning.bound.get().is_some()
            || !self.request.selections.is_empty()
            || !self.explained.is_empty();
        match is_bound.then(|| self.bound()).transpose()? {
            Some(bound) => {
                Ok(self.with_memory(|memory| bound.rewritten(schema, analyzers, &mut memory.bind)))
            }
            None if self.meaning.is_explained() => {
                query::rewrite(self.matched(), schema, analyzers)
            }
            None => self.with_memory(|memory| {
                let (query, memory) = (self.matched(), &mut memory.bind);
                let normal = query::matching_in(query, schema, analyzers, memory)?;
                Ok(Rewritten { normal, notes: vec![] })
            }),
        }
    }

    /// The terms that were looked up so far.
    pub(super) fn look_ups(&self) -> &LookUps {
        self.meaning.look_ups.get_or_init(|| match self.asks_for_terms_once() {
            true => LookUps::default(),
            false => LookUps::keeping(&self.searcher.0.terms),
        })
    }

    /// Begins to explain the search: people will read what it finds out, and the clock, which starts now.
    pub(super) fn is_to_be_explained(&self) -> &PhaseClock {
        let clock = self.meaning.clock.get_or_init(Box::default);
        clock.start(Phase::Bind);
        clock
    }

    /// These terms with those that scores needed: a plan that is made after them need not ask again.
    pub(super) fn look_ups_after(&self, scorings: Option<&Scorings<'_>>) -> &LookUps {
        let look_ups = self.look_ups();
        if let Some(ranked) = scorings.and_then(Scorings::known)
            && look_ups.begin_to_keep(&self.searcher.0.terms)
        {
            ranked.each_term(|segment, field, term, info| {
                look_ups.learn(segment, field, term, info);
            });
        }
        look_ups
    }

    /// Whether nothing is known to need a term twice, but for one plan [after scores](Self::look_ups_after).
    fn asks_for_terms_once(&self) -> bool {
        let is_simple = self.request.facets.is_empty()
            && self.request.statistics != IdfScope::Segment
            && !self.meaning.is_explained();
        let has_each_once = || match (self.meaning.bound.get(), self.meaning.rewritten.get()) {
            (Some(bound), _) => bound.logical.has_each_term_once(self.searcher.schema()),
            (None, Some(rewritten)) => rewritten.normal.has_each_term_once(),
            (None, None) => false,
        };
        is_simple && has_each_once()
    }

    /// Plans the search and gets ready to carry the plan out.
    pub(super) fn execution(&self, options: &PlanOptions) -> Result<Execution<'s>> {
        let normal = &self.rewritten()?.normal;
        self.searcher.execution_of(normal, options, self.look_ups_after(self.scorings()))
    }
}
