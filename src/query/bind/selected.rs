//! Queries beside conditions of which some may be left out, bound once.

use super::clause::{Clause, Clauses, Group};
use super::{BindMemory, BindOptions, Binder, BoundQuery, Logical, check_size};
use crate::analysis::Analyzers;
use crate::error::Result;
use crate::query::Query;
use crate::schema::Schema;

/// Query and conditions that are not scored, each bound by itself.
#[derive(Clone, Debug)]
pub(crate) struct BoundSelections {
    query: Clause<Logical>,
    is_filter: bool,
    selections: Vec<Clause<Logical>>,
    options: BindOptions,
    notes: Vec<String>,
}

impl BoundSelections {
    /// Binds a query, and `selections` that stand beside it as conditions that are not scored.
    ///
    /// # Errors
    ///
    /// Fails like [`bind`](super::bind()).
    pub(crate) fn new(
        query: &Query,
        selections: impl Iterator<Item = Query>,
        (schema, analyzers): (&Schema, &Analyzers),
        options: BindOptions,
        memory: &mut BindMemory,
    ) -> Result<Self> {
        check_size(query)?;
        let is_filter = query.is_filter();
        let mut binder = Binder { options, ..Binder::new(schema, analyzers, memory) };
        let query = binder.clause(query, 1.0)?;
        let selections = selections.map(|selection| {
            check_size(&selection)?;
            binder.clause(&selection.filter(), 1.0)
        });
        let selections = selections.collect::<Result<_>>()?;
        Ok(BoundSelections { query, is_filter, selections, options, notes: binder.notes })
    }

    /// The query with all selections but those at some places.
    pub(crate) fn without(
        &self,
        left_out: &[usize],
        (schema, analyzers): (&Schema, &Analyzers),
        memory: &mut BindMemory,
    ) -> BoundQuery {
        let mut binder = Binder { options: self.options, ..Binder::new(schema, analyzers, memory) };
        binder.notes.clone_from(&self.notes);
        let selections = self.selections.iter().enumerate();
        let mut others =
            selections.filter(|(nth, _)| !left_out.contains(nth)).map(|(_, it)| it).peekable();
        let clause = match others.peek() {
            None => self.query.clone(),
            Some(_) => {
                let mut must = Clauses::default();
                must.push(self.query.clone(), self.is_filter);
                others.for_each(|selection| must.push(selection.clone(), true));
                binder.sum(Group::all(must))
            }
        };
        let logical = binder.whole(clause);
        BoundQuery { logical, notes: binder.notes, has_notes: self.options.notes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{ParseOptions, bind, parse};
    use crate::schema::{Field, FieldKind};

    #[test]
    fn selections_bound_once_mean_what_the_whole_query_means_without_some() {
        let title = Field::new("title", FieldKind::Text).analyzer("english");
        let schema = Schema::builder().field(title).text("body").keyword("kind").build().unwrap();
        let analyzers = Analyzers::default();
        let (names, mut memory) = ((&schema, &analyzers), BindMemory::default());
        let options = BindOptions { notes: true, ..BindOptions::default() };
        let read = |text: &str| parse(text, &ParseOptions::default()).unwrap();
        let selections = [read("kind:(a OR b)"), read("title:[a TO c]"), read("body:x")];
        for text in [
            "*",
            "paris",
            "the",
            "title:the",
            "+paris -texas",
            "kind:film^=0",
            "a OR b",
            "\"a b\"",
            "-a",
        ] {
            let query = read(text);
            let all = selections.iter().cloned();
            let bound = BoundSelections::new(&query, all, names, options, &mut memory).unwrap();
            for left_out in [&[][..], &[0], &[1, 2], &[0, 1, 2]] {
                let others = selections.iter().enumerate();
                let mut others =
                    others.filter(|(nth, _)| !left_out.contains(nth)).map(|(_, it)| it).peekable();
                let whole = match others.peek() {
                    None => query.clone(),
                    Some(_) => {
                        let all = Query::boolean().must(query.clone());
                        others.fold(all, |all, it| all.filter(it.clone())).build()
                    }
                };
                let whole = bind(&whole, &schema, &analyzers, options, &mut memory).unwrap();
                let parts = bound.without(left_out, names, &mut memory);
                assert_eq!(parts, whole, "{text} without {left_out:?}");
            }
        }
    }
}
