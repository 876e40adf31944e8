//! What is too much, for trees that no parser has limited.

use super::{Rewriter, located};
use crate::error::{Error, ErrorKind, Result};
use crate::query::{CLAUSES_MAX, DEPTH_MAX, Place, Query};

/// Terms a query may have at the most after analysis, counted once a field.
pub const TERMS_MAX: usize = 4_096;
/// Levels of a tree at the most; one parenthesis gives at most six: fields, weight, OR, group, AND, NOT.
pub(super) const LEVELS_MAX: usize = 6 * (DEPTH_MAX + 1);

/// Walks the tree without recursion, so that one built by hand cannot exhaust the stack later.
pub(super) fn check(query: &Query) -> Result<()> {
    let too_much = |what: String, found: usize| {
        Err(Error::new(ErrorKind::LimitExceeded, "rewriting the query")
            .expected(what)
            .found(found.to_string()))
    };
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
        if n_clauses > CLAUSES_MAX {
            let what = format!("at most {CLAUSES_MAX} words and values (limit CLAUSES_MAX)");
            return too_much(what, n_clauses);
        }
        next = todo.pop();
    }
    Ok(())
}

impl Rewriter<'_> {
    pub(in crate::query) fn has_room_for_terms(&self) -> bool {
        self.n_terms < TERMS_MAX
    }

    pub(in crate::query) fn count_terms(&mut self, n: usize, place: &Place) -> Result<()> {
        self.n_terms += n;
        if self.n_terms <= TERMS_MAX {
            return Ok(());
        }
        let error = Error::new(ErrorKind::LimitExceeded, "splitting the words of the query")
            .expected(format!("at most {TERMS_MAX} terms (limit TERMS_MAX)"))
            .found(format!("{} or more", self.n_terms));
        Err(located(&place.text, error))
    }
}
