//! [`Logical`] → [`Normal`]: the documents that match, whatever they score.

use super::Normal;
use super::binder::Binder;
use crate::query::logical::Logical;
use std::sync::Arc;

impl Binder<'_> {
    /// The documents of a logical tree.
    pub(super) fn matching(&mut self, logical: &Logical) -> Normal {
        match logical {
            Logical::Term { field, term, .. } => Normal::Term { field: *field, term: term.clone() },
            Logical::Phrase { field, phrase, .. } => {
                Normal::Phrase { field: *field, phrase: Arc::clone(phrase) }
            }
            Logical::BestTerms { field, terms, .. } => {
                Normal::Expand { field: *field, terms: terms.clone() }
            }
            Logical::Nearest { neighbors, .. } => Normal::Nearest(Arc::clone(neighbors)),
            Logical::Constant { matching, .. } => matching.clone(),
            Logical::Combined { fields, .. } => {
                let of_field = fields.iter().filter_map(|it| {
                    Some(Normal::Term { field: it.field, term: it.term.clone()? })
                });
                self.or(of_field.collect())
            }
            Logical::Sum { must, should, must_not, minimum } => {
                let must = self.matching_each(must);
                // Else alternatives change no matches.
                let should = if *minimum > 0 { self.matching_each(should) } else { vec![] };
                let must_not = self.memory.copied(must_not);
                self.matching_sum(must, should, *minimum, must_not)
            }
            Logical::Max { any, .. } => {
                let any = self.matching_each(any);
                self.or(any)
            }
        }
    }

    /// Documents that match all of `must`, none of `must_not` and so many of `should` as `minimum` says.
    pub(super) fn matching_sum(
        &mut self,
        mut must: Vec<Normal>,
        should: Vec<Normal>,
        minimum: u32,
        must_not: Vec<Normal>,
    ) -> Normal {
        match minimum {
            0 => {}
            1 if must.is_empty() && must_not.is_empty() => return self.or(should),
            1 => must.push(self.or(should)),
            minimum => must.push(self.at_least(minimum, should)),
        }
        self.and(must, must_not)
    }

    fn matching_each(&mut self, parts: &[Logical]) -> Vec<Normal> {
        if parts.is_empty() {
            return vec![];
        }
        let mut each = self.memory.normal.take();
        each.extend(parts.iter().map(|part| self.matching(part)));
        each
    }
}
