//! Words side by side that have synonyms of several words. `united states` beside the rule `usa, united states` is an
//! example.
//!
//! Words of a group without an operator or a weight of their own are read together where a rule of their field is for
//! several of them; the longest rule wins, from left to right. Its right side is an alternative to the words: they must
//! all match, or one of them, as in their group, or else the query that they also stand for does. Of several fields
//! those count whose rule is for the most words.

use std::ops::Range;

use super::BindMemory;
use super::binder::{Binder, JoinedField, shortened};
use super::clause::Group;
use super::part::Part;
use super::{Clause, Clauses, Normal, names_field};
use crate::analysis::{Alternative, Analyzers};
use crate::error::Result;
use crate::ids::FieldId;
use crate::query::phrase::spelled;
use crate::query::phrase_spec::TextForm;
use crate::query::{Boost, Query};
use crate::schema::Schema;

/// Words that are read together.
#[derive(Clone, Debug)]
pub(crate) struct JoinedWords {
    /// The words by their places in the group.
    pub(crate) words: Range<usize>,
    /// Query that the words also stand for.
    pub(crate) others: Normal,
    /// The fields with a rule for them.
    pub(crate) fields: Vec<JoinedField>,
}

/// Finds the words of a group that are read together, in the default fields that are given.
///
/// # Errors
///
/// Fails like [`rewrite`](super::rewrite).
pub(crate) fn joined_words(
    group: &[Query],
    fields: Option<&[(String, Boost)]>,
    schema: &Schema,
    analyzers: &Analyzers,
) -> Result<Vec<JoinedWords>> {
    if !analyzers.has_synonyms() {
        return Ok(vec![]);
    }
    let mut memory = BindMemory::default();
    let mut binder = Binder::new(schema, analyzers, &mut memory);
    if let Some(fields) = fields {
        binder.push_fields(fields, false)?;
    }
    binder.joined(group)
}

impl Binder<'_> {
    /// The words of a group that are read together.
    pub(in crate::query) fn joined(&mut self, group: &[Query]) -> Result<Vec<JoinedWords>> {
        let mut all = vec![];
        if !self.analyzers.has_synonyms() || group.len() < 2 {
            return Ok(all);
        }
        let is_beside = |a: &Query, b: &Query| match (a, b) {
            (Query::Word { field: a, .. }, Query::Word { field: b, .. }) => a == b,
            _ => false,
        };
        let mut start = 0;
        for words in group.chunk_by(is_beside) {
            self.join(words, start, &mut all)?;
            start += words.len();
        }
        Ok(all)
    }

    /// Adds those of some words, all of the same fields, that are read together.
    fn join(&mut self, words: &[Query], start: usize, all: &mut Vec<JoinedWords>) -> Result<()> {
        let Some(Query::Word { field, place, .. }) = words.first() else { return Ok(()) };
        if words.len() < 2 {
            return Ok(());
        }
        let texts = words.iter().filter_map(|word| match word {
            Query::Word { text, .. } => Some(&**text),
            _ => None,
        });
        let texts: Vec<&str> = texts.collect();
        let fields = match field {
            // A name that stands for no field has no rules.
            Some(name) => self.schema.field_id(name).into_iter().collect(),
            None => self.default_fields().to_vec(),
        };
        let mut rules = vec![];
        for id in fields {
            let field = self.schema.get(id);
            let own = self.analyzers.word_rules(field, &texts)?;
            rules.extend(own.into_iter().map(|rule| (id, rule)));
        }
        rules.sort_by_key(|(_, rule)| (rule.words.start, std::cmp::Reverse(rule.words.end)));
        let mut end = 0;
        for rules in rules.chunk_by(|(_, a), (_, b)| a.words == b.words) {
            let own = rules[0].1.words.clone();
            if own.start < end {
                continue;
            }
            end = own.end;
            let (mut fields, mut others) = (vec![], vec![]);
            for (field, rule) in rules {
                fields.push(JoinedField { field: *field, is_kept: rule.is_kept });
                self.note_joined(*field, &texts[own.clone()], rule.is_kept, &rule.others);
                for Alternative { terms, .. } in &rule.others {
                    self.count_terms(terms.len(), place)?;
                    others.push(self.reading(*field, terms.clone(), TextForm::WORD, place)?);
                }
            }
            let words = start + own.start..start + own.end;
            all.push(JoinedWords { words, others: self.or(others), fields });
        }
        Ok(())
    }

    fn note_joined(&mut self, id: FieldId, words: &[&str], is_kept: bool, others: &[Alternative]) {
        let words = words.join(" ");
        let own = is_kept.then(|| words.clone());
        let others = others.iter().map(|any| spelled(&any.terms));
        let all: Vec<String> = own.into_iter().chain(others).collect();
        let field = &self.schema.get(id).name;
        let (words, all) = (shortened(&words), shortened(&all.join(", ")));
        self.note(format!("with synonyms, '{words}' is looked up in '{field}' as {all}"));
    }

    /// Looks words up as they are, in the fields that keep them, until [`leave_joined`](Self::leave_joined).
    pub(in crate::query) fn enter_joined(&mut self, joined: &JoinedWords) {
        self.together.clone_from(&joined.fields);
    }

    pub(in crate::query) fn leave_joined(&mut self) {
        self.together.clear();
    }

    /// Words that are read together, as far as any field keeps them.
    pub(in crate::query) fn kept<'q>(&self, words: &'q [Query]) -> &'q [Query] {
        let is_kept = |id: &FieldId| self.keeps(*id);
        let is_any_kept = match words.first() {
            Some(Query::Word { field: Some(name), .. }) => {
                self.schema.field_id(name).is_none_or(|id| is_kept(&id))
            }
            _ => self.default_fields().iter().any(is_kept),
        };
        if is_any_kept { words } else { &[] }
    }

    /// Whether words of a field are looked up there, and not only what they stand for.
    pub(super) fn keeps(&self, id: FieldId) -> bool {
        self.together.iter().all(|it| it.field != id || it.is_kept)
    }

    /// Whether words of a field are read together, so that each by itself stands for nothing else.
    pub(in crate::query) fn is_together(&self, id: FieldId) -> bool {
        self.together.iter().any(|it| it.field == id)
    }

    /// Clauses side by side with those that are read together as one, which scores as the best of its readings. If
    /// several alternatives must match, each word is one, and the query that they all stand for counts for each of
    /// them.
    pub(super) fn side_by_side<P: Part>(
        &mut self,
        group: &[Query],
        boost: f32,
        are_required: bool,
        minimum: Option<u32>,
    ) -> Result<Clauses<P>> {
        let together = self.joined(group)?;
        if together.is_empty() {
            return self.clauses(group, boost);
        }
        let (mut clauses, mut at) = (Clauses::default(), 0);
        for joined in together {
            clauses.append(self.clauses(&group[at..joined.words.start], boost)?);
            at = joined.words.end;
            let written = &group[joined.words.clone()];
            let names_field = written.first().is_some_and(names_field);
            self.enter_joined(&joined);
            let words = self.kept(written).iter().map(|word| self.clause(word, boost));
            let words = words.collect::<Result<Vec<_>>>();
            self.leave_joined();
            let words = words?;
            if minimum.is_some_and(|minimum| minimum > 1) {
                // They count for each of the words, and so for all of these once.
                let boost = boost / written.len() as f32;
                let others = P::of_leaf(self, joined.others, boost, names_field);
                let mut words = words.into_iter();
                for _ in written {
                    let either = words.next().into_iter();
                    let either = either.chain([Clause::Whole(others.clone())]);
                    clauses.push(self.best_of(either.collect(), 0.0), false);
                }
                continue;
            }
            let own = match (words.is_empty(), are_required) {
                (true, _) => None,
                (false, true) => Some(self.sum(Group::all(words.into_iter().collect()))),
                (false, false) => Some(self.sum(Group::any(words.into_iter().collect()))),
            };
            let others = Clause::Whole(P::of_leaf(self, joined.others, boost, names_field));
            let either = own.into_iter().chain([others]).collect();
            clauses.push(self.best_of(either, 0.0), false);
        }
        clauses.append(self.clauses(&group[at..], boost)?);
        Ok(clauses)
    }
}
