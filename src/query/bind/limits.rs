//! Limits on the size of a query tree, for trees that no parser has limited.

use super::binder::{Binder, located};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{self, Limits};
use crate::query::{DEPTH_MAX, Place, Query};

/// Maximum number of terms of a query, unless [`Limits`] says otherwise. They are counted after analysis, once a field.
pub const TERMS_MAX: usize = Limits::DEFAULT.query_terms;
/// Levels of a tree at the most; one parenthesis gives at most six: fields, weight, OR, group, AND, NOT.
pub(super) const LEVELS_MAX: usize = 6 * (DEPTH_MAX + 1);

/// Walks the tree without recursion, so that one built by hand cannot exhaust the stack later.
pub(in crate::query) fn check(query: &Query) -> Result<()> {
    let too_much = |what: String, found: usize| {
        Err(Error::new(ErrorKind::LimitExceeded, "rewriting the query")
            .expected(what)
            .found(found.to_string()))
    };
    let clauses_most = limits::current().query_clauses;
    let mut n_clauses = usize::from(query.is_leaf());
    // Operators inside operators; a query of words has none, and so allocates nothing here.
    let mut todo = vec![];
    let mut next = Some((query, 1));
    while let Some((query, level)) = next {
        let mut deepest = level;
        for child in query.children() {
            deepest = level + 1;
            match child.is_leaf() {
                true => n_clauses += 1,
                false => todo.push((child, level + 1)),
            }
        }
        if deepest > LEVELS_MAX {
            return too_much(format!("at most {LEVELS_MAX} levels of operators"), deepest);
        }
        if n_clauses > clauses_most {
            let (what, unit) = ("rewriting the query", "words and values");
            let found = Some(n_clauses);
            return Err(Error::limit_reached(what, "CLAUSES_MAX", clauses_most, unit, found));
        }
        next = todo.pop();
    }
    Ok(())
}

impl Binder<'_> {
    pub(in crate::query) fn has_room_for_terms(&self) -> bool {
        self.n_terms < limits::current().query_terms
    }

    pub(in crate::query) fn count_terms(&mut self, n: usize, place: &Place) -> Result<()> {
        self.n_terms += n;
        let most = limits::current().query_terms;
        if self.n_terms <= most {
            return Ok(());
        }
        let (what, found) = ("splitting the words of the query", Some(self.n_terms));
        let error = Error::limit_reached(what, "TERMS_MAX", most, "terms", found);
        Err(located(&place.text, error))
    }
}
