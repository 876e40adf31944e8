//! Values that are selected: conditions of a search that do not apply to the facet of their own field.
//!
//! Hits, the total and all facets of other fields are those of the query with all selections. The facet of a field that is
//! selected in itself is counted without that selection, so that it shows what else could be chosen. What the query matches
//! without any selection is found once for all such facets, and so is what each selection matches; each facet has what these
//! share.

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
    /// Where such facets are asked for, however many there are, costs one search more for all of them and one for each selection
    /// that some of them keeps.
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
        if self.selections.is_empty() {
            return Cow::Borrowed(self.query);
        }
        let all = Query::boolean().must(self.query.clone());
        let with = |all: query::GroupBuilder, selection: &Selection| all.filter(selection.query());
        Cow::Owned(self.selections.iter().fold(all, with).build())
    }

    /// Whether a facet of this field leaves a selection out.
    pub(super) fn is_selected(&self, field: &str) -> bool {
        self.selections.iter().any(|selection| selection.field == field)
    }
}

/// What facets of selected fields count: by field what matches with all selections but its own.
pub(super) struct Unselected(Vec<(String, Matches)>);

impl Unselected {
    /// For the facets of a search, at least one of which is of a selected field.
    pub(super) fn of(search: &SearchBuilder<'_>) -> Result<Self> {
        let all = matches(search.searcher, search.query)?;
        let mut of_selections = vec![];
        for selection in &search.selections {
            let mut others = search.facets.iter().filter(|facet| search.is_selected(&facet.field));
            if others.any(|facet| facet.field != selection.field) {
                let matches = matches(search.searcher, &selection.query())?;
                of_selections.push((&selection.field, matches));
            }
        }
        let mut by_field = vec![];
        for selection in &search.selections {
            let own = &selection.field;
            if !search.facets.iter().any(|facet| facet.field == *own) {
                continue;
            }
            let others = of_selections.iter().filter(|(of, _)| *of != own);
            let mut so_far: Cow<'_, [MatchSet]> = Cow::Borrowed(&all);
            for (_, next) in others {
                let pairs = so_far.iter().zip(next);
                so_far = pairs.map(|(a, b)| MatchSet::both(a, b)).collect::<Result<_>>()?;
            }
            by_field.push((own.clone(), so_far.into_owned()));
        }
        Ok(Unselected(by_field))
    }

    /// What matches with all selections but that of a field.
    pub(super) fn but(&self, field: &str) -> &[MatchSet] {
        let own = self.0.iter().find(|(of, _)| of == field);
        own.map_or(&[], |(_, matches)| matches)
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
