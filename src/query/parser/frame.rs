//! Clauses between two brackets, joined by precedence. AND comes first, then clauses side by side, then OR.

use super::DefaultOperator;
use crate::query::lexer::FieldList;
use crate::query::{Query, Tie};
use std::ops::Range;

/// State of the query between two brackets.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) open: Range<usize>,
    pub(super) is_max: bool,
    /// The field that words in here have unless they name one.
    pub(super) scope: Option<(String, Range<usize>)>,
    /// The fields that stand before the bracket.
    pub(super) fields: Option<FieldList>,
    /// Finished groups, to be joined by OR.
    pub(super) any: Vec<Query>,
    /// The clauses of the group so far, and how many of the last are joined by AND: of a clause by itself, one.
    pub(super) group: Vec<(Option<Prefix>, Query)>,
    pub(super) n_joined: usize,
    /// Last item read, if it waits for something to follow.
    pub(super) waiting: Option<Waiting>,
    pub(super) prefix: Option<Prefix>,
    pub(super) before: Option<Before>,
}

/// Operator before the atom that follows.
pub(super) enum Before {
    Field(String, Range<usize>),
    Fields(FieldList),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefix {
    Must,
    MustNot,
}

/// The text that cannot be the end: an operator, a prefix or a field.
pub(super) struct Waiting {
    pub(super) after: Range<usize>,
    pub(super) joins_all: bool,
}

impl Frame {
    /// Whether nothing that matches has been read since the bracket or the last OR.
    pub(super) fn is_empty(&self) -> bool {
        self.group.is_empty()
    }

    /// Notes that something must follow, keeping an AND that waits already.
    pub(super) fn wait(&mut self, after: Range<usize>) {
        let joins_all = self.waiting.as_ref().is_some_and(|waiting| waiting.joins_all);
        self.waiting = Some(Waiting { after, joins_all });
    }

    /// Takes a clause with the prefix before it.
    pub(super) fn push(&mut self, query: Query) {
        if !self.waiting.take().is_some_and(|waiting| waiting.joins_all) {
            self.end_and();
        }
        self.group.push((self.prefix.take(), query));
        self.n_joined += 1;
    }

    /// Makes one clause of those that AND joined so far.
    fn end_and(&mut self) {
        if self.n_joined > 1 {
            let all = self.group.drain(self.group.len() - self.n_joined..).map(with_prefix);
            let all = Query::And(all.collect());
            self.group.push((None, all));
        }
        self.n_joined = 0;
    }

    /// Moves the group so far among the alternatives.
    pub(super) fn end_group(&mut self, operator: DefaultOperator) {
        self.end_and();
        let group = group(std::mem::take(&mut self.group), operator, None);
        self.any.push(group);
    }

    /// Only the lenient reading comes here with nothing behind an OR.
    pub(super) fn finish(&mut self, operator: DefaultOperator) -> Query {
        self.end_and();
        if self.any.is_empty() {
            return group(std::mem::take(&mut self.group), operator, None);
        }
        if !self.group.is_empty() {
            self.end_group(operator);
        }
        match self.any.len() {
            1 => self.any.remove(0),
            _ => Query::Or(std::mem::take(&mut self.any)),
        }
    }

    /// Number of alternatives that [`finish_with_minimum`](Self::finish_with_minimum) would have.
    pub(super) fn n_alternatives(&self) -> usize {
        if !self.any.is_empty() {
            return self.any.len() + usize::from(!self.is_empty());
        }
        let is_free = |clause: &&(Option<Prefix>, Query)| clause.0.is_none();
        let n_alone = self.group.len() - self.n_joined;
        let of_joined = match &self.group[n_alone..] {
            [clause] => usize::from(clause.0.is_none()),
            all => usize::from(!all.is_empty()),
        };
        self.group[..n_alone].iter().filter(is_free).count() + of_joined
    }

    /// A minimum is one of alternatives, whatever words side by side mean elsewhere.
    pub(super) fn finish_with_minimum(mut self, minimum: u32) -> Query {
        self.end_and();
        if !self.any.is_empty() {
            if !self.is_empty() {
                self.end_group(DefaultOperator::Or);
            }
            let alternatives = self.any.drain(..).map(|query| (None, query));
            self.group.extend(alternatives);
        }
        group(self.group, DefaultOperator::Or, Some(minimum))
    }

    pub(super) fn finish_max(mut self, tie: Tie) -> Query {
        self.end_and();
        Query::DisMax { any: self.group.into_iter().map(with_prefix).collect(), tie }
    }
}

/// The query of clauses side by side.
fn group(
    mut clauses: Vec<(Option<Prefix>, Query)>,
    operator: DefaultOperator,
    minimum: Option<u32>,
) -> Query {
    if minimum.is_none()
        && let [(None | Some(Prefix::Must), _)] = clauses[..]
    {
        return clauses.remove(0).1;
    }
    let (mut must, mut should, mut must_not) = (vec![], vec![], vec![]);
    for (prefix, query) in clauses {
        match (prefix, operator) {
            (Some(Prefix::MustNot), _) => must_not.push(query),
            (None, DefaultOperator::Or) => should.push(query),
            (Some(Prefix::Must), _) | (None, DefaultOperator::And) => must.push(query),
        }
    }
    if minimum.is_none() && must.is_empty() && should.is_empty() && must_not.len() == 1 {
        return must_not.into_iter().map(negated).next().unwrap_or(Query::All);
    }
    Query::Group { must, should, must_not, minimum }
}

/// A clause among others joined by AND: `+` says nothing new there.
fn with_prefix((prefix, query): (Option<Prefix>, Query)) -> Query {
    match prefix {
        Some(Prefix::MustNot) => negated(query),
        Some(Prefix::Must) | None => query,
    }
}

/// Negates a query and keeps a double negation as it is written, other than [`Query::not`].
pub(super) fn negated(query: Query) -> Query {
    match query {
        Query::All => Query::Nothing,
        query => Query::Not(Box::new(query)),
    }
}
