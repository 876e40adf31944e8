//! Meaning of a search in the schema of its index, as far as known.

use crate::error::Result;
use crate::execution::{BoundFacet, Scorings};
use crate::function::BoundScoreFunction;
use crate::look_ups::LookUps;
use crate::plan::{Phase, PhaseClock};
use crate::query::{BindMemory, BoundQuery, BoundSelections, Rewritten};
use crate::sort::SortOrder;
use crate::weight::WeightScratch;
use std::cell::{Cell, OnceCell, RefCell};

/// Findings so far: made once, for all that the search does.
#[derive(Debug, Default)]
pub(super) struct Meaning<'a> {
    /// Clock of a search that is explained to people: then there are notes, and terms are kept to say what was found.
    pub(super) clock: OnceCell<Box<PhaseClock>>,
    /// Whether the answer is kept already; none if no answers are.
    pub(super) is_kept: Cell<Option<bool>>,
    pub(super) bound: OnceCell<BoundQuery>,
    /// Query and selections, each bound by itself; none if nothing is selected.
    pub(super) selections: OnceCell<BoundSelections>,
    pub(super) rewritten: OnceCell<Rewritten>,
    pub(super) look_ups: OnceCell<LookUps>,
    pub(super) order: OnceCell<SortOrder>,
    pub(super) functions: OnceCell<Vec<BoundScoreFunction>>,
    pub(super) facets: OnceCell<Vec<BoundFacet>>,
    /// Scores, with all sets that these depend on.
    pub(super) scorings: OnceCell<Scorings<'a>>,
    /// Memory that an earlier search left, once it was asked for.
    pub(super) memory: RefCell<Option<Box<SearchMemory>>>,
}

/// Knowledge of `cell`, which is found out where nobody has asked before.
pub(super) fn once<T>(cell: &OnceCell<T>, find: impl FnOnce() -> Result<T>) -> Result<&T> {
    match cell.get() {
        Some(known) => Ok(known),
        None => find().map(|found| cell.get_or_init(|| found)),
    }
}

/// Memory in which a search is understood, for the next one.
#[derive(Debug, Default)]
pub(super) struct SearchMemory {
    pub(super) bind: BindMemory,
    pub(super) ranked: WeightScratch,
}

impl Meaning<'_> {
    /// Whether people will be told.
    pub(super) fn is_explained(&self) -> bool {
        self.clock.get().is_some()
    }

    /// Ends the search: the memory that it was found in; none where it needed none.
    pub(super) fn take_memory(&mut self) -> Option<Box<SearchMemory>> {
        let mut memory = self.memory.get_mut().take()?;
        if let Some(ranked) = self.scorings.get_mut().and_then(|it| it.page.as_mut()) {
            memory.ranked = ranked.take_scratch();
        }
        self.bound.take().into_iter().for_each(|it| memory.bind.give(it.logical));
        self.rewritten.take().into_iter().for_each(|it| memory.bind.give_normal(it.normal));
        Some(memory)
    }

    /// Does something as a part of a phase, of which only a search that is explained has the time.
    pub(super) fn time<T>(&self, phase: Phase, work: impl FnOnce() -> T) -> T {
        match self.clock.get() {
            Some(clock) => clock.time(phase, work),
            None => work(),
        }
    }
}

/// A copy of a search is a search of its own.
impl Clone for Meaning<'_> {
    fn clone(&self) -> Self {
        Meaning::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::document::Document;
    use crate::function::{FieldValue, ScoreFunction};
    use crate::ids::DocId;
    use crate::schema::Schema;
    use crate::searcher::stopping_tests::filled;
    use crate::sort::SortKey;
    use std::time::Instant;

    #[test]
    fn only_a_search_that_is_explained_has_a_clock() {
        let searcher = filled(Schema::builder().text("title").build().unwrap(), |writer| {
            writer.add(Document::new().with("title", "Paris")).unwrap();
            writer.commit().unwrap();
        });
        let query = searcher.parse("paris").unwrap();
        let search = searcher.search(&query).limit(3).search();
        assert_eq!(search.answer(Instant::now()).unwrap().total.value, 1);
        assert!(!search.meaning.is_explained());
        search.explain_score(DocId(0)).unwrap();
        assert!(search.meaning.is_explained());
    }

    #[test]
    fn keys_and_functions_are_looked_up_in_the_schema_once() {
        let schema = Schema::builder().text("title").i64("year").build().unwrap();
        let searcher = filled(schema, |writer| {
            writer.add(Document::new().with("title", "Paris").with("year", 1)).unwrap();
        });
        let query = searcher.parse("paris").unwrap();
        let function = ScoreFunction::multiply(FieldValue::new("year"));
        let search = searcher.search(&query).score_function(function);
        let search = search.sort([SortKey::score(), SortKey::ascending("year")]).search();
        assert_eq!(search.answer(Instant::now()).unwrap().total.value, 1);
        let known = (search.meaning.order.get().unwrap(), search.meaning.functions.get().unwrap());
        assert!(std::ptr::eq(search.sort_order().unwrap(), known.0));
        assert_eq!(known.1.len(), 1);
        let wrong = search.request.clone().into_owned();
        let wrong = searcher.search_for(wrong).sort([SortKey::ascending("yaer")]).search();
        assert!(wrong.sort_order().is_err() && wrong.meaning.order.get().is_none());
    }
}
