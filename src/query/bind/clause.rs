//! Clauses after analysis, and groups of them: what can be required, and what drops out.
//!
//! A clause of which the analyzer of its field leaves nothing, a stop word or a dash say, drops out of its group as if
//! it had not been written. Of a clause that is meant in several fields the analyzers of some may leave nothing: it
//! cannot be required, because documents that match in these fields have nothing of it, but it still adds to scores,
//! is an alternative, and excludes. Groups are settled once for what matches and for what is scored, so that both agree.

use super::Normal;
use crate::query::{Query, Score};

/// Reasons given for what drops out at the most.
const REASONS_SHOWN: usize = 3;

/// A clause as the analyzers of its fields leave it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::query) enum Clause<T> {
    /// A clause that every field has something of.
    Whole(T),
    /// A clause that the analyzers of some fields leave nothing of, and why.
    Partial(T, String),
    /// A clause of which nothing is left, and why.
    Dropped(String),
}

/// Clauses of one kind, of which some may have dropped out.
#[derive(Debug)]
pub(in crate::query) struct Clauses<T> {
    /// Clauses that are left.
    parts: Vec<T>,
    /// The places among `parts` of those that some fields have nothing of, and why.
    partial: Vec<(usize, String)>,
    /// Why the others have dropped out.
    dropped: Vec<String>,
    /// Number of clauses that only filter, of those that every field has something of.
    n_filters: usize,
    /// Whether any was written that does not only filter.
    has_words: bool,
}

/// Clauses side by side, before any of them drops out.
#[derive(Debug)]
pub(in crate::query) struct Group<T> {
    pub(in crate::query) must: Clauses<T>,
    pub(in crate::query) should: Clauses<T>,
    pub(in crate::query) must_not: Clauses<Normal>,
    pub(in crate::query) minimum: Option<u32>,
}

/// Clauses side by side that are left.
#[derive(Debug, PartialEq)]
pub(in crate::query) struct Settled<T> {
    pub(in crate::query) must: Vec<T>,
    /// Alternatives, of which `minimum` must match.
    pub(in crate::query) should: Vec<T>,
    pub(in crate::query) minimum: u32,
    /// Clauses that only add to the score.
    pub(in crate::query) scored: Vec<T>,
    pub(in crate::query) must_not: Vec<Normal>,
}

impl<T> Clause<T> {
    pub(in crate::query) fn map<U>(self, change: impl FnOnce(T) -> U) -> Clause<U> {
        match self {
            Clause::Whole(it) => Clause::Whole(change(it)),
            Clause::Partial(it, why) => Clause::Partial(change(it), why),
            Clause::Dropped(why) => Clause::Dropped(why),
        }
    }
}

impl<T> Default for Clauses<T> {
    fn default() -> Self {
        Clauses::in_list(vec![])
    }
}

impl<T> FromIterator<Clause<T>> for Clauses<T> {
    fn from_iter<I: IntoIterator<Item = Clause<T>>>(clauses: I) -> Self {
        let mut all = Clauses::default();
        clauses.into_iter().for_each(|clause| all.push(clause, false));
        all
    }
}

impl<T> Clauses<T> {
    /// No clauses yet, with the memory of an empty list.
    pub(in crate::query) fn in_list(parts: Vec<T>) -> Self {
        Clauses { parts, partial: vec![], dropped: vec![], n_filters: 0, has_words: false }
    }

    /// Adds a clause that may be one which only filters.
    pub(in crate::query) fn push(&mut self, clause: Clause<T>, is_filter: bool) {
        self.has_words |= !is_filter;
        match clause {
            Clause::Whole(it) => {
                self.n_filters += usize::from(is_filter);
                self.parts.push(it);
            }
            Clause::Partial(it, why) => {
                self.partial.push((self.parts.len(), why));
                self.parts.push(it);
            }
            Clause::Dropped(why) => self.dropped.push(why),
        }
    }

    /// Adds those of another list.
    pub(in crate::query) fn append(&mut self, other: Self) {
        let n = self.parts.len();
        self.partial.extend(other.partial.into_iter().map(|(place, why)| (n + place, why)));
        self.parts.extend(other.parts);
        self.dropped.extend(other.dropped);
        self.n_filters += other.n_filters;
        self.has_words |= other.has_words;
    }

    /// Number of clauses that were written.
    fn n_asked(&self) -> usize {
        self.parts.len() + self.dropped.len()
    }

    /// Number of clauses that every field has something of.
    pub(in crate::query) fn n_whole(&self) -> usize {
        self.parts.len() - self.partial.len()
    }

    /// Whether every field has something of each, as it mostly is.
    fn is_whole(&self) -> bool {
        self.partial.is_empty() && self.dropped.is_empty()
    }

    /// Clauses that are left, and why some fields have nothing of each.
    fn left(self) -> impl Iterator<Item = (T, Option<String>)> {
        let mut partial = self.partial.into_iter().peekable();
        self.parts.into_iter().enumerate().map(move |(place, it)| {
            (it, partial.next_if(|(of, _)| *of == place).map(|(_, why)| why))
        })
    }
}

impl From<Normal> for Clause<Normal> {
    fn from(normal: Normal) -> Self {
        Clause::Whole(normal)
    }
}

impl<T> Group<T> {
    /// Clauses of which all must match.
    pub(in crate::query) fn all(must: Clauses<T>) -> Self {
        Group { must, should: Clauses::default(), must_not: Clauses::default(), minimum: None }
    }

    /// Clauses of which one must match.
    pub(in crate::query) fn any(should: Clauses<T>) -> Self {
        Group { must: Clauses::default(), should, must_not: Clauses::default(), minimum: None }
    }

    /// Leaves out what has no terms, and no longer requires what some fields have nothing of. `note` is told of both.
    pub(in crate::query) fn settle(self, mut note: impl FnMut(String)) -> Clause<Settled<T>> {
        let Group { mut must, mut should, mut must_not, minimum } = self;
        if must.is_whole() && should.is_whole() && must_not.is_whole() {
            let one = u32::from(must.parts.is_empty() && !should.parts.is_empty());
            return Clause::Whole(Settled {
                must: must.parts,
                should: should.parts,
                minimum: minimum.unwrap_or(one),
                scored: vec![],
                must_not: must_not.parts,
            });
        }
        let (n_asked, has_words, n_filters) = (should.n_asked(), must.has_words, must.n_filters);
        let are_in_vain = !must.dropped.is_empty();
        let mut dropped = std::mem::take(&mut must.dropped);
        dropped.append(&mut should.dropped);
        dropped.append(&mut must_not.dropped);
        let mut n_words = must.n_whole() - n_filters;
        let (mut left, mut optional) = (vec![], vec![]);
        for (it, why) in must.left() {
            match why {
                None => left.push(it),
                why => optional.push((it, why)),
            }
        }
        let mut any: Vec<_> = should.left().collect();
        let none = must_not.parts;
        let are_filters_asked = n_filters > 0 && !has_words;
        let is_empty = n_words == 0 && optional.is_empty() && any.is_empty() && none.is_empty();
        // A filter by itself is no answer to required words of which nothing is left.
        if is_empty && !dropped.is_empty() && (n_filters == 0 || are_in_vain) {
            return Clause::Dropped(joined(dropped));
        }
        dropped.into_iter().for_each(|why| note(format!("{why}, so it is left out")));

        let mut minimum = match minimum {
            Some(minimum) => minimum,
            None if n_words > 0 || any.is_empty() || are_filters_asked => 0,
            // The alternatives are what is left, as if what dropped out had not been written.
            None => {
                any.append(&mut optional);
                1
            }
        };
        let n_whole = any.iter().filter(|(_, why)| why.is_none()).count();
        let mut scored = vec![];
        if minimum as usize > n_whole && minimum as usize <= n_asked {
            match n_whole {
                0 => minimum = minimum.min(any.len() as u32),
                // No more can be required than every field has something of: all of these.
                _ => {
                    minimum = 0;
                    n_words += n_whole;
                    let (whole, partial) = any.into_iter().partition(|(_, why)| why.is_none());
                    let whole: Vec<(T, Option<String>)> = whole;
                    left.extend(whole.into_iter().map(|(it, _)| it));
                    any = vec![];
                    optional.extend::<Vec<_>>(partial);
                }
            }
        }
        let mut reasons = vec![];
        // More alternatives than were written down match nowhere, whatever the fields have of them.
        let is_settled = n_whole > 0 || minimum as usize > n_asked;
        let is_required = n_words > 0 || minimum > 0 && is_settled || are_filters_asked;
        for (it, why) in optional {
            match is_required {
                true => {
                    why.into_iter().for_each(|why| note(format!("{why}, so it is not required")));
                    scored.push(it);
                }
                false => {
                    reasons.extend(why);
                    left.push(it);
                }
            }
        }
        let mut alternatives = vec![];
        for (it, why) in any {
            alternatives.push(it);
            match is_required || n_whole > 0 {
                true => why.into_iter().for_each(|why| note(in_other_fields(&why))),
                false => reasons.extend(why),
            }
        }
        let settled = Settled { must: left, should: alternatives, minimum, scored, must_not: none };
        match reasons.is_empty() {
            true => Clause::Whole(settled),
            false => Clause::Partial(settled, joined(reasons)),
        }
    }
}

/// The note for a clause that the analyzers of some fields leave nothing of, where that changes nothing else.
pub(super) fn in_other_fields(why: &str) -> String {
    format!("{why}, so it is looked for in the other fields only")
}

/// Reasons in one, each once.
pub(in crate::query) fn joined(reasons: Vec<String>) -> String {
    let mut different: Vec<String> = vec![];
    for reason in reasons {
        if !different.contains(&reason) {
            different.push(reason);
        }
    }
    different.truncate(REASONS_SHOWN);
    different.join("; ")
}

impl Query {
    /// Whether it only filters: it has no score of its own. Filters side by side are one, because a group of one clause
    /// is printed as that clause.
    pub(in crate::query) fn is_filter(&self) -> bool {
        match self {
            Query::ConstantScore { score, .. } => *score == Score::ZERO,
            Query::And(all) | Query::Or(all) => !all.is_empty() && all.iter().all(Query::is_filter),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clause(text: &str) -> Clause<&str> {
        match text.split_at_checked(1) {
            Some(("?", rest)) => Clause::Partial(rest, format!("no {rest}")),
            Some(("0", rest)) => Clause::Dropped(format!("no {rest}")),
            _ => Clause::Whole(text),
        }
    }

    /// `a` is whole, `?a` partial, `0a` dropped, `=a` a filter.
    fn settled(must: &str, should: &str, minimum: Option<u32>) -> String {
        let mut required = Clauses::default();
        for text in must.split_whitespace() {
            match text.strip_prefix('=') {
                Some(filter) => required.push(Clause::Whole(filter), true),
                None => required.push(clause(text), false),
            }
        }
        let should = should.split_whitespace().map(clause).collect();
        let group = Group { must: required, should, must_not: Clauses::default(), minimum };
        let show = |settled: Settled<&str>| {
            let Settled { must, should, minimum, scored, .. } = settled;
            let [must, should, scored] = [must, should, scored].map(|parts| parts.join(" "));
            format!("+{must} {minimum}:{should} ^{scored}")
        };
        match group.settle(|_| {}) {
            Clause::Whole(it) => show(it),
            Clause::Partial(it, why) => format!("{} ({why})", show(it)),
            Clause::Dropped(why) => why,
        }
    }

    #[test]
    fn a_group_is_what_is_left_of_its_clauses() {
        for (must, should, minimum, expected) in [
            ("", "", None, "+ 0: ^"),
            ("a 0b", "", None, "+a 0: ^"),
            ("0a 0b 0a", "", None, "no a; no b"),
            ("0a", "b", None, "+ 1:b ^"),
            ("0a", "0b", None, "no a; no b"),
            ("a ?b", "", None, "+a 0: ^b"),
            ("?a ?b", "", None, "+a b 0: ^ (no a; no b)"),
            ("?a", "b", None, "+ 1:b a ^"),
            ("?a", "?b", None, "+ 1:b a ^ (no b; no a)"),
            ("a", "?b 0c", None, "+a 0:b ^"),
            ("", "a ?b 0c", None, "+ 1:a b ^"),
            ("", "?b 0c", None, "+ 1:b ^ (no b)"),
            ("", "a 0b c", Some(3), "+a c 0: ^"),
            ("", "a 0b c", Some(2), "+ 2:a c ^"),
            ("", "a 0b c", Some(4), "+ 4:a c ^"),
            ("", "a ?b c", Some(3), "+a c 0: ^b"),
            ("", "a ?b c", Some(2), "+ 2:a b c ^"),
            ("", "?b ?c 0d", Some(3), "+ 2:b c ^ (no b; no c)"),
            ("", "0b", Some(1), "no b"),
            ("", "0b", Some(0), "no b"),
            ("", "a", Some(3), "+ 3:a ^"),
            ("", "?a", Some(2), "+ 2:a ^"),
            ("", "?a", Some(0), "+ 0:a ^ (no a)"),
            ("", "a ?b", Some(0), "+ 0:a b ^"),
            ("?a", "0b", Some(2), "+ 2: ^a"),
            ("", "", Some(1), "+ 1: ^"),
            ("?a", "b c", Some(1), "+ 1:b c ^a"),
            ("=f 0a", "", None, "no a"),
            ("=f ?a", "", None, "+f a 0: ^ (no a)"),
            ("=f 0a", "b", None, "+f 1:b ^"),
            ("=f", "b", None, "+f 0:b ^"),
            ("=f", "", None, "+f 0: ^"),
            ("=f", "0a", None, "+f 0: ^"),
            ("=f", "?a", None, "+f 0:a ^"),
        ] {
            assert_eq!(settled(must, should, minimum), expected, "{must} / {should} {minimum:?}");
        }
    }
}
