//! Neighbours of vectors, and the conditions that they are looked for among.
//!
//! These are the clauses that must match, or must not, on the way of conjunctions from the root to the neighbours. They are
//! known once what stands beside is bound, which takes a second walk; queries without neighbours are walked once.

use super::beside::{Beside, Conditions};
use super::binder::{Binder, located};
use super::clause::Clause;
use super::part::Part;
use crate::error::{Error, ErrorKind, Result};
use crate::query::nearest::unbound;
use crate::query::normal::NeighborsSpec;
use crate::query::{Neighbors, Place, Query, QueryVector};
use crate::value::check_vector;
use std::sync::Arc;

impl Binder<'_> {
    /// Binds a query, a second time if it asks for neighbours: among what all else allows.
    pub(super) fn query_with_neighbors<P: Part>(&mut self, query: &Query) -> Result<Clause<P>> {
        let (noted, n_terms) = (self.notes.len(), self.n_terms);
        let clause = self.clause(query, 1.0)?;
        if !self.beside.has_neighbors {
            return Ok(clause);
        }
        self.notes.truncate(noted);
        self.n_terms = n_terms;
        self.beside = Beside { is_gathered: true, ..Beside::default() };
        let clause = self.clause(query, 1.0);
        self.beside = Beside::default();
        clause
    }

    /// Does something with clauses of a conjunction, with those that do not ask for the nearest as conditions beside the others.
    pub(super) fn beside<T>(
        &mut self,
        (must, must_not): (&[Query], &[Query]),
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if !self.beside.is_gathered {
            return bind(self);
        }
        let before = (self.beside.plain.len(), self.beside.within.len());
        let (noted, n_terms) = (self.notes.len(), self.n_terms);
        let plain = self.conditions((must, must_not), |query| !query.has_neighbors())?;
        self.beside.plain.all.extend(plain.all);
        self.beside.plain.none.extend(plain.none);
        let is_within = |query: &Query| query.has_neighbors() && !query.has_nearest();
        let within = self.conditions((must, must_not), is_within)?;
        self.beside.within.all.extend(within.all);
        self.beside.within.none.extend(within.none);
        // They are bound, noted and counted where they stand.
        self.notes.truncate(noted);
        self.n_terms = n_terms;
        let bound = bind(self);
        self.beside.plain.truncate(before.0);
        self.beside.within.truncate(before.1);
        bound
    }

    /// Binds some clauses of a conjunction by themselves; of those that exclude, as they stand there.
    fn conditions(
        &mut self,
        (must, must_not): (&[Query], &[Query]),
        is_wanted: impl Fn(&Query) -> bool,
    ) -> Result<Conditions> {
        let mut conditions = Conditions::default();
        for query in must.iter().filter(|query| is_wanted(query)) {
            if let Clause::Whole(normal) = self.clause(query, 1.0)? {
                conditions.all.push(normal);
            }
        }
        for query in must_not.iter().filter(|query| is_wanted(query)) {
            let clause = self.beside_nothing(false, |this| this.clause(query, 1.0))?;
            if let Clause::Whole(normal) | Clause::Partial(normal, _) = clause {
                conditions.none.push(normal);
            }
        }
        Ok(conditions)
    }

    /// Does something with clauses that are alternatives or excluded: nothing stands beside them, unless `is_alone` says that
    /// there is no other.
    pub(super) fn beside_nothing<T>(
        &mut self,
        is_alone: bool,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if !self.beside.is_gathered || is_alone {
            return bind(self);
        }
        let outside =
            std::mem::replace(&mut self.beside, Beside { is_gathered: true, ..Beside::default() });
        let bound = bind(self);
        self.beside = outside;
        bound
    }

    /// Binds neighbours of a vector.
    pub(super) fn neighbors<P: Part>(
        &mut self,
        (field, vector): (Option<&str>, &QueryVector),
        wanted: Neighbors,
        boost: f32,
        place: &Place,
    ) -> Result<Clause<P>> {
        let (name, in_text) = (field.unwrap_or_default(), &place.text);
        let doing = || Error::new(ErrorKind::Query, format!("looking for neighbours in '{name}'"));
        if field.is_none() {
            let error = Error::new(ErrorKind::Query, "looking for neighbours of a vector");
            let error = error.expected("a field of vectors before it").found("none");
            return Err(located(in_text, error));
        }
        let id = self.field(name, place)?;
        let kind = self.schema.get(id).kind;
        let Some(params) = kind.vector() else {
            let error = doing().expected("a field of vectors");
            return Err(located(&place.field, error.found(format!("a {} field", kind.name()))));
        };
        match vector {
            QueryVector::Parameter(name) => return Err(unbound(name, place)),
            QueryVector::Numbers(numbers) => {
                check_vector(params, numbers.as_slice()).map_err(|wrong| {
                    located(in_text, doing().expected(wrong.expected).found(wrong.found))
                })?
            }
            QueryVector::Document(_) => {}
        }
        match wanted {
            Neighbors::Nearest(0, _) => {
                let error = doing().expected("1 neighbour or more").found("0");
                return Err(located(in_text, error));
            }
            Neighbors::Within(similarity) if !similarity.is_finite() => {
                let error = doing().expected("a finite similarity").found(similarity.to_string());
                return Err(located(in_text, error));
            }
            Neighbors::Nearest(_, effort) => {
                if let Some((expected, found)) = effort.wrong() {
                    return Err(located(in_text, doing().expected(expected).found(found)));
                }
            }
            Neighbors::Within(_) => {}
        }
        self.beside.has_neighbors = true;
        let Beside { plain, within, .. } = &self.beside;
        let (mut all, mut none) = (plain.all.clone(), plain.none.clone());
        if let Neighbors::Nearest(..) = wanted {
            all.extend_from_slice(&within.all);
            none.extend_from_slice(&within.none);
        }
        let noted = self.notes.len();
        let filter = self.and(all, none);
        // Whatever is to be said of these conditions is said where they stand.
        self.notes.truncate(noted);
        let spec = NeighborsSpec { field: id, vector: vector.clone(), wanted, filter };
        Ok(Clause::Whole(P::neighbors(Arc::new(spec), boost)))
    }
}
