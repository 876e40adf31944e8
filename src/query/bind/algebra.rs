//! The laws of sets, by which what is joined becomes as small as it can.
//!
//! Laws applied: flattening, duplicates, everything and nothing, double negation, complement
//! (`a AND NOT a`), absorption (`a AND (a OR b)`), and that a document with a term in a field has
//! the field. Negation moves up until it stands at the root or beside something positive:
//! `a OR NOT b` becomes `NOT (b -a)`, so that nothing below the root counts absent documents.

use super::binder::Binder;
use crate::ids::FieldId;
use crate::query::normal::{Normal, nothing};
use std::collections::HashSet;
use std::sync::Arc;

/// Up to this many queries are compared with each other; more are hashed.
const FEW: usize = 8;
/// Reasons given for an empty result at the most.
const REASONS_SHOWN: usize = 3;

impl Binder<'_> {
    /// Intersection of all of `all` without any of `none`, from nodes that are normal.
    pub(in crate::query) fn and(&mut self, mut all: Vec<Normal>, mut none: Vec<Normal>) -> Normal {
        if none.is_empty() && all.len() == 1 {
            return self.memory.normal.last_of(all).unwrap_or(Normal::All);
        }
        if are_few_terms(&all) && are_few_terms(&none) && !all.iter().any(|it| none.contains(it)) {
            (all, none) = (distinct(all), distinct(none));
            return match (all.len(), none.len()) {
                (0, 0) => Normal::All,
                (1, 0) => self.memory.normal.last_of(all).unwrap_or(Normal::All),
                _ => Normal::And { all, none },
            };
        }
        loop {
            all = match flatten_all(all, &mut none) {
                Ok(all) => all,
                Err(nothing) => return nothing,
            };
            match self.or(none) {
                Normal::All => return nothing("every document is excluded"),
                Normal::Nothing { .. } => none = vec![],
                Normal::Or(any) => none = any,
                // All but all but these: these.
                Normal::And { all: some, none: not } if some.is_empty() => {
                    let positive = self.or(not);
                    all.push(positive);
                    none = vec![];
                    continue;
                }
                one => none = vec![one],
            }
            let excluded: HashSet<&Normal> = none.iter().collect();
            let both = || all.iter().find(|query| is_part_of(query, &excluded));
            if let Some(both) = (!none.is_empty()).then(both).flatten() {
                let reason = format!("'{}' is asked for and excluded", both.display(self.schema));
                self.note(format!("{reason}, so nothing matches both"));
                return Normal::Nothing { reason };
            }
            if !shrink_alternatives(&mut all, &none) {
                break;
            }
        }
        drop_what_neighbors_meet(&mut all, &mut none);
        match (all.len(), none.len()) {
            (0, 0) => Normal::All,
            (1, 0) => all.remove(0),
            _ => Normal::And { all, none },
        }
    }

    /// Union of `any`, from nodes that are normal.
    pub(in crate::query) fn or(&mut self, mut any: Vec<Normal>) -> Normal {
        let are_few = !any.is_empty() && are_few_terms(&any);
        if are_few {
            any = distinct(any);
        }
        match (any.len(), are_few) {
            (1, _) => return self.memory.normal.last_of(any).unwrap_or(Normal::All),
            (_, true) => return Normal::Or(any),
            _ => {}
        }
        let mut reasons = vec![];
        let mut positive = vec![];
        let mut negative = vec![];
        for query in any {
            match query {
                Normal::All => return Normal::All,
                Normal::Nothing { reason } => reasons.push(reason),
                Normal::Or(inner) => positive.extend(inner),
                Normal::And { all, none } if all.is_empty() => negative.push(none),
                other => positive.push(other),
            }
        }
        if !negative.is_empty() {
            return self.or_not(positive, negative);
        }
        let mut any = without_parts(without_duplicates(positive));
        match any.len() {
            0 => {
                let mut seen = HashSet::new();
                reasons.retain(|reason| seen.insert(reason.clone()));
                reasons.truncate(REASONS_SHOWN);
                nothing(reasons.join("; "))
            }
            1 => any.remove(0),
            _ => Normal::Or(any),
        }
    }

    /// Documents of at least `minimum` of `any`, from nodes that are normal; the same one twice counts twice.
    pub(super) fn at_least(&mut self, mut minimum: u32, any: Vec<Normal>) -> Normal {
        let asked = any.len();
        let mut kept = vec![];
        for query in any {
            match query {
                Normal::Nothing { .. } => {}
                Normal::All => minimum -= 1,
                other => kept.push(other),
            }
            if minimum == 0 {
                return Normal::All;
            }
        }
        match kept.len() as u64 {
            n if u64::from(minimum) > n => {
                nothing(format!("no document can match {minimum} of {asked} alternatives"))
            }
            n if u64::from(minimum) == n => self.and(kept, vec![]),
            _ if minimum == 1 => self.or(kept),
            _ => Normal::AtLeast { minimum, any: kept },
        }
    }

    /// `a OR NOT b` as `NOT (b AND NOT a)`.
    fn or_not(&mut self, positive: Vec<Normal>, negative: Vec<Vec<Normal>>) -> Normal {
        let noted = self.notes.len();
        let negative = negative.into_iter().map(|none| self.or(none)).collect();
        let missed = self.and(negative, positive);
        // That nothing is missed is no bad news about what was asked.
        self.notes.truncate(noted);
        self.and(vec![], vec![missed])
    }
}

/// The usual query: a few words, to which no law but idempotence applies. Told apart because the
/// laws, which must be fast for thousands of clauses, take longer than such a query itself.
fn are_few_terms(queries: &[Normal]) -> bool {
    queries.len() <= FEW && queries.iter().all(|query| matches!(query, Normal::Term { .. }))
}

/// A few queries, each once, in order.
fn distinct(mut queries: Vec<Normal>) -> Vec<Normal> {
    let mut kept = 0;
    for at in 0..queries.len() {
        if !queries[..kept].contains(&queries[at]) {
            queries.swap(kept, at);
            kept += 1;
        }
    }
    queries.truncate(kept);
    queries
}

/// Opens up what is joined already, and drops repetitions and what says nothing; `Err` is the node
/// that matches nothing.
fn flatten_all(all: Vec<Normal>, none: &mut Vec<Normal>) -> Result<Vec<Normal>, Normal> {
    let mut flat = vec![];
    for query in all {
        match query {
            Normal::All => {}
            Normal::Nothing { .. } => return Err(query),
            Normal::And { all, none: not } => {
                flat.extend(all);
                none.extend(not);
            }
            other => flat.push(other),
        }
    }
    let mut flat = without_duplicates(flat);
    if flat.iter().any(|query| matches!(query, Normal::Exists(_))) {
        // A document with a term in a field has the field.
        let fields: HashSet<FieldId> = flat.iter().filter_map(field_of_term).collect();
        flat.retain(|query| !matches!(query, Normal::Exists(field) if fields.contains(field)));
    }
    Ok(flat)
}

fn field_of_term(query: &Normal) -> Option<FieldId> {
    match query {
        Normal::Term { field, .. }
        | Normal::Expand { field, .. }
        | Normal::Phrase { field, .. } => Some(*field),
        _ => None,
    }
}

fn without_duplicates(queries: Vec<Normal>) -> Vec<Normal> {
    if queries.len() <= FEW {
        let different = |at: usize| !queries[..at].contains(&queries[at]);
        if (1..queries.len()).all(different) {
            return queries;
        }
    }
    let mut seen = HashSet::with_capacity(queries.len());
    let first = queries.iter().map(|query| seen.insert(query)).collect();
    keep(queries, first)
}

/// The queries whose flag is set.
fn keep(queries: Vec<Normal>, kept: Vec<bool>) -> Vec<Normal> {
    let flagged = queries.into_iter().zip(kept);
    flagged.filter_map(|(query, kept)| kept.then_some(query)).collect()
}

/// Whether every document of `query` is one of `any`, as far as it shows without unfolding.
fn is_part_of(query: &Normal, any: &HashSet<&Normal>) -> bool {
    let exists = || field_of_term(query).is_some_and(|field| any.contains(&Normal::Exists(field)));
    any.contains(query) || exists()
}

/// Drops alternatives that are part of another: `a OR (a AND b)`, `title:a OR title:*`.
fn without_parts(any: Vec<Normal>) -> Vec<Normal> {
    if !any.iter().any(|query| matches!(query, Normal::And { .. } | Normal::Exists(_))) {
        return any;
    }
    let whole: HashSet<&Normal> = any.iter().collect();
    let kept = any.iter().map(|query| match query {
        Normal::And { all, .. } => !all.iter().any(|query| is_part_of(query, &whole)),
        Normal::Term { field, .. }
        | Normal::Expand { field, .. }
        | Normal::Phrase { field, .. } => !whole.contains(&Normal::Exists(*field)),
        _ => true,
    });
    let kept = kept.collect();
    keep(any, kept)
}

/// Drops conditions that neighbours beside them are looked for among: each of these meets them.
fn drop_what_neighbors_meet(all: &mut Vec<Normal>, none: &mut Vec<Normal>) {
    let neighbors = all.iter().filter_map(|query| match query {
        Normal::Nearest(spec) => Some(Arc::clone(spec)),
        _ => None,
    });
    for spec in neighbors.collect::<Vec<_>>() {
        let (met, excluded) = match &spec.filter {
            Normal::And { all, none } => (&all[..], &none[..]),
            one => (std::slice::from_ref(one), &[][..]),
        };
        all.retain(|query| !met.contains(query));
        none.retain(|query| !excluded.contains(query));
    }
}

/// Beside `a` and without `b`, `(a OR c)` says nothing and `(b OR c)` means `c`. Returns whether
/// anything changed.
fn shrink_alternatives(all: &mut Vec<Normal>, none: &[Normal]) -> bool {
    if !all.iter().any(|query| matches!(query, Normal::Or(_))) {
        return false;
    }
    let excluded: HashSet<&Normal> = none.iter().collect();
    let (alternatives, mut kept): (Vec<_>, Vec<_>) =
        std::mem::take(all).into_iter().partition(|query| matches!(query, Normal::Or(_)));
    let required: HashSet<Normal> = kept.iter().cloned().collect();
    let mut changed = false;
    for query in alternatives {
        let Normal::Or(mut any) = query else { continue };
        let n_before = any.len();
        if any.iter().any(|query| required.contains(query)) {
            changed = true;
            continue;
        }
        any.retain(|query| !is_part_of(query, &excluded));
        changed |= any.len() < n_before;
        kept.push(match any.len() {
            0 => nothing("every alternative is excluded"),
            1 => any.remove(0),
            _ => Normal::Or(any),
        });
    }
    *all = kept;
    changed
}
