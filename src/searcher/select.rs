//! Values that are selected: conditions of a search that do not apply to the facet of their own field.
//!
//! Hits, the total and all facets of other fields are those of the query with all selections. The facet of a field that is
//! selected in itself is counted without that selection, so that it shows what else could be chosen: the query is matched once
//! more with the others. That mostly costs little more than its rarest condition, where what each selection matches by itself may
//! be most of the index.

use super::Searcher;
use super::search::SearchBuilder;
use crate::error::Result;
use crate::execution::{MatchSet, Matches};
use crate::query::{self, Query};
use crate::value::Value;
use std::borrow::Cow;

/// Values of one field, of which a document must have one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Selection {
    field: String,
    values: Vec<Value>,
}

impl Selection {
    fn query(&self) -> Query {
        Query::in_set(self.values.iter().cloned()).in_field(&self.field)
    }

    /// About how many bytes it takes.
    pub(super) fn n_bytes(&self) -> usize {
        let values = self.values.iter().map(|value| size_of::<Value>() + value.n_bytes());
        self.field.len() + values.sum::<usize>()
    }
}

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
        match self.selections.iter_mut().find(|selection| selection.field == field) {
            Some(selection) => selection.values.extend(values),
            None => {
                let values: Vec<Value> = values.collect();
                if !values.is_empty() {
                    self.selections.push(Selection { field, values });
                }
            }
        }
        self
    }

    /// The query, with all selections as conditions that are not scored.
    pub fn query(&self) -> Cow<'_, Query> {
        selected(self.query, self.selections.iter())
    }

    /// Whether a facet of this field leaves a selection out.
    pub(super) fn is_selected(&self, field: &str) -> bool {
        self.selections.iter().any(|selection| selection.field == field)
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

/// What facets of selected fields count: by field what matches with all selections but its own, found for the first facet of
/// the field.
#[derive(Default)]
pub(super) struct Unselected(Vec<OfField>);

/// What matches without the selection of a field, by segment, and the same as bitmaps, where a facet made them.
struct OfField {
    field: String,
    matches: Matches,
    to_test: Option<Vec<MatchSet>>,
}

impl Unselected {
    /// What matches with all selections of a search but that of a field.
    pub(super) fn but(
        &mut self,
        field: &str,
        search: &SearchBuilder<'_>,
    ) -> Result<(&[MatchSet], &mut Option<Vec<MatchSet>>)> {
        let at = match self.0.iter().position(|of| of.field == field) {
            Some(at) => at,
            None => {
                let others = search.selections.iter().filter(|other| other.field != field);
                let matches = matches(search.searcher, &selected(search.query, others))?;
                self.0.push(OfField { field: field.to_owned(), matches, to_test: None });
                self.0.len() - 1
            }
        };
        let OfField { matches, to_test, .. } = &mut self.0[at];
        Ok((matches, to_test))
    }
}

/// Everything that a query matches, by segment.
fn matches(searcher: &Searcher, query: &Query) -> Result<Matches> {
    let normal = query::rewrite(query, searcher.schema(), &searcher.0.setting.analyzers)?.normal;
    let mut execution = searcher.collecting(&normal, searcher.segments())?;
    let matches = execution.page_and_matches(&mut vec![])?.1;
    searcher.recycle(execution);
    Ok(matches)
}
