//! Values that are selected: conditions of a search that do not apply to the facet of their own field.
//!
//! Hits, the total and all facets of other fields are those of the query with all selections. The facet of a field that is
//! selected in itself is counted without that selection, so that it shows what else could be chosen, and so is all that lies
//! within it: the query is matched once more with the others. That mostly costs little more than its rarest condition, where what
//! each selection matches by itself may be most of the index.

use super::request::Selection;
use super::search::SearchBuilder;
use crate::error::{Error, ErrorKind, Result};
use crate::execution::{MatchSet, Matches};
use crate::plan::PlanOptions;
use crate::query::{self, Query};
use crate::value::{Dates, Value};
use std::borrow::Cow;

impl SearchBuilder<'_> {
    /// Only documents that have one of these values in a field; asked for twice of the same field, one of all that were
    /// named. No values, of which [`Value::Null`] is none, select nothing, and change nothing. Hits, total and facets are those of what is left, but a facet
    /// of the same field, whatever it counts, leaves this selection out: it shows what else there is to choose.
    ///
    /// Costs one search more for each selected field that a facet is asked for, however many facets it has.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().keyword("brand").keyword("color").build()?);
    /// let mut writer = index.writer()?;
    /// for (brand, color) in [("acme", "red"), ("acme", "blue"), ("bolt", "red")] {
    ///     writer.add(Document::new().with("brand", brand).with("color", color))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let page = searcher.search(&query).select("color", ["red"]).facet("brand", 9).facet("color", 9).run()?;
    /// assert_eq!(page.total.value, 2);
    /// let counts = |nth: usize| -> Vec<_> {
    ///     page.facets[nth].buckets.iter().map(|b| (b.value.to_string(), b.count)).collect()
    /// };
    /// assert_eq!(counts(0), [("acme".into(), 1), ("bolt".into(), 1)]); // of what is red
    /// assert_eq!(counts(1), [("red".into(), 2), ("blue".into(), 1)]); // of all
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When it runs: a query error for a field that does not exist, or a value that it cannot have.
    pub fn select<V: Into<Value>>(
        mut self,
        field: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let (field, values) = (field.into(), values.into_iter().map(Into::into));
        let values = values.filter(|value| !value.is_null());
        match self.request.selections.iter_mut().find(|selection| selection.field == field) {
            Some(selection) => selection.values.extend(values),
            None => {
                let values: Vec<Value> = values.collect();
                if !values.is_empty() {
                    self.request.selections.push(Selection { field, values, read: None });
                }
            }
        }
        self
    }

    /// The same where dates are those of a query that was read [at](Query::at) `dates`: a day is that of its zone, or else of the
    /// field's, and `now` is known. Other values are what they are.
    ///
    /// # Errors
    ///
    /// What [`Query::at`] refuses.
    pub fn select_at<V: Into<Value>>(
        self,
        field: impl Into<String>,
        values: impl IntoIterator<Item = V>,
        dates: &Dates,
    ) -> Result<Self> {
        let field = field.into();
        let mut search = self.select(&*field, values);
        let schema = search.searcher.schema();
        for selection in search.request.selections.iter_mut().filter(|it| it.field == field) {
            selection.read = Some(selection.as_given().at(schema, dates)?);
        }
        Ok(search)
    }

    /// The query, with all selections as conditions that are not scored.
    pub fn query(&self) -> Cow<'_, Query> {
        selected(&self.request.query, self.request.selections.iter())
    }

    /// How many documents are expected to match without some selections.
    ///
    /// # Errors
    ///
    /// What planning the query says.
    pub(super) fn expected_without(&self, left_out: &[usize]) -> Result<f64> {
        let query = selected(&self.request.query, self.selections_but(left_out));
        let normal = self.searcher.matching(&query)?;
        let plan =
            self.searcher.plan_of(&normal, &PlanOptions::default(), self.look_ups(), None)?;
        Ok(plan.node(plan.root()).estimate.documents as f64)
    }

    /// How many times as many that is without some as without others.
    pub(super) fn expected_ratio(&self, without: &[usize], others: &[usize]) -> Result<f64> {
        if without == others {
            return Ok(1.0);
        }
        Ok(self.expected_without(without)? / self.expected_without(others)?.max(1.0))
    }

    fn selections_but(&self, left_out: &[usize]) -> impl Iterator<Item = &Selection> {
        let selections = self.request.selections.iter().enumerate();
        selections.filter(move |(nth, _)| !left_out.contains(nth)).map(|(_, it)| it)
    }

    /// Refuses selections of fields that there are not.
    pub(super) fn check_selections(&self) -> Result<()> {
        self.request.selections.iter().try_for_each(|Selection { field, .. }| {
            let wrong = Error::new(ErrorKind::Query, "selecting values of a field");
            self.field_for(wrong, field).map(drop)
        })
    }

    /// Whether a facet of this field leaves a selection out.
    pub(super) fn is_selected(&self, field: &str) -> bool {
        self.request.selections.iter().any(|selection| selection.field == field)
    }

    /// The selections that a facet leaves out which lies within these fields, its own last.
    pub(super) fn left_out(&self, path: &[&str]) -> LeftOut {
        let selections = self.request.selections.iter().enumerate();
        let own = selections.filter(|(_, selection)| path.contains(&&*selection.field));
        own.map(|(nth, _)| nth).collect()
    }
}

/// A query with selections as conditions.
fn selected<'q>(
    query: &'q Query,
    selections: impl Iterator<Item = &'q Selection>,
) -> Cow<'q, Query> {
    let mut selections = selections.peekable();
    if selections.peek().is_none() {
        return Cow::Borrowed(query);
    }
    let all = Query::boolean().must(query.clone());
    let with = |all: query::GroupBuilder, selection: &Selection| all.filter(selection.query());
    Cow::Owned(selections.fold(all, with).build())
}

/// Selections that are left out, by their places.
pub(super) type LeftOut = Vec<usize>;

/// What facets count: what matches, of all documents or of those of a bucket, by the selections that are left out.
#[derive(Default)]
pub(super) struct Domain<'m>(Vec<(LeftOut, Part<'m>)>);

enum Part<'m> {
    Lent(&'m [MatchSet]),
    Own(Matches),
}

impl<'m> Domain<'m> {
    /// What a search matches.
    pub(super) fn new(matches: &'m [MatchSet]) -> Self {
        Domain(vec![(vec![], Part::Lent(matches))])
    }

    /// Finds what a search matches without some of its selections, where that is not known yet.
    pub(super) fn need(&mut self, search: &SearchBuilder<'_>, left_out: &LeftOut) -> Result<()> {
        if self.0.iter().any(|(of, _)| of == left_out) {
            return Ok(());
        }
        let others = search.selections_but(left_out);
        let searcher = search.searcher;
        let normal = searcher.matching(&selected(&search.request.query, others))?;
        let mut execution = searcher.collecting(&normal, searcher.segments(), search.look_ups())?;
        let matches = execution.page_and_matches(&mut vec![])?.1;
        searcher.recycle(execution);
        self.add(left_out.clone(), matches);
        Ok(())
    }

    /// Adds what matches without some selections.
    pub(super) fn add(&mut self, left_out: LeftOut, matches: Matches) {
        self.0.push((left_out, Part::Own(matches)));
    }

    /// What matches without these selections, which are some that there are.
    pub(super) fn of(&self, left_out: &LeftOut) -> &[MatchSet] {
        let part = self.0.iter().find(|(of, _)| of == left_out).map(|(_, part)| part);
        match part {
            Some(Part::Lent(matches)) => matches,
            Some(Part::Own(matches)) => matches,
            None => &[],
        }
    }
}
