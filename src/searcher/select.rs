//! Selected values: conditions of a search that leave out the facet of their own field.
//!
//! Hits, the total and all facets of other fields are those of the query with all selections. The facet of a field that is
//! selected in itself is counted without that selection, so that it shows what else could be chosen, and so is all that lies
//! within it: the plan matches the query once more with the others. That mostly costs little more than its rarest condition, where
//! what each selection matches by itself may be most of the index.

use super::search::Search;
use crate::error::{Error, ErrorKind, Result};
use crate::execution::{ExcludedFilters, excluded_filters};
use crate::query::{GroupBuilder, Normal, Query};
use crate::request::{SearchRequest, Selection};
use crate::schema::Schema;
use crate::value::{Dates, Value};
use std::borrow::Cow;

impl Search<'_> {
    /// The query, with all selections as conditions that are not scored.
    pub(super) fn query(&self) -> Cow<'_, Query> {
        self.query_without(&[])
    }

    /// Queries without these selections, for a plan.
    pub(super) fn unselected(&self) -> Result<Vec<(Normal, String)>> {
        let without = |left_out: &ExcludedFilters| {
            let fields = left_out.iter().map(|nth| &*self.request.selections[*nth].field);
            let words = fields.collect::<Vec<_>>().join(", ");
            Ok((self.matching_without(left_out)?, words))
        };
        excluded_filters(self.bound_facets()?).into_iter().map(without).collect()
    }

    /// Refuses selections of fields that there are not.
    pub(super) fn check_selections(&self) -> Result<()> {
        self.request.selections.iter().try_for_each(|Selection { field, .. }| {
            let wrong = Error::new(ErrorKind::Query, "selecting values of a field");
            self.field_for(wrong, field).map(drop)
        })
    }

    /// The selections that a facet leaves out which lies within these fields, its own last.
    pub(super) fn left_out(&self, path: &[&str]) -> ExcludedFilters {
        let selections = self.request.selections.iter().enumerate();
        let own = selections.filter(|(_, selection)| path.contains(&&*selection.field));
        own.map(|(nth, _)| nth).collect()
    }
}

impl SearchRequest<'_> {
    pub(super) fn select(&mut self, field: String, values: impl Iterator<Item = Value>) {
        let values = values.filter(|value| !value.is_null());
        match self.selections.iter_mut().find(|selection| selection.field == field) {
            Some(selection) => {
                selection.values.extend(values);
                // Dates were read of fewer values.
                selection.read = None;
            }
            None => {
                let values: Vec<Value> = values.collect();
                if !values.is_empty() {
                    self.selections.push(Selection { field, values, read: None });
                }
            }
        }
    }

    /// Reads the dates of [selected](super::SearchBuilder::select) values as those of a query [at](Query::at) `dates`.
    /// A day is that of its zone, or else of the field's, and `now` is known. Other values are what they are, and those
    /// that are selected after this make all of their field what they are.
    ///
    /// # Errors
    ///
    /// Fails like [`Query::at`].
    pub fn selected_at(mut self, schema: &Schema, dates: &Dates) -> Result<Self> {
        for selection in &mut self.selections {
            selection.read = Some(selection.as_given().at(schema, dates)?);
        }
        Ok(self)
    }

    /// The query with all [selections](super::SearchBuilder::select) as conditions that are not scored.
    pub fn selected_query(&self) -> Cow<'_, Query> {
        self.query_without(&[])
    }

    /// The query with all selections but those at some places.
    pub(super) fn query_without(&self, left_out: &[usize]) -> Cow<'_, Query> {
        self.with_selections(&self.query, left_out)
    }

    /// A query with all selections but those at some places.
    pub(super) fn with_selections<'t>(
        &self,
        query: &'t Query,
        left_out: &[usize],
    ) -> Cow<'t, Query> {
        let selections = self.selections.iter().enumerate();
        let mut others = selections.filter(|(nth, _)| !left_out.contains(nth)).peekable();
        if others.peek().is_none() {
            return Cow::Borrowed(query);
        }
        let all = Query::boolean().must(query.clone());
        let with =
            |all: GroupBuilder, (_, selection): (usize, &Selection)| all.filter(selection.query());
        Cow::Owned(others.fold(all, with).build())
    }
}
