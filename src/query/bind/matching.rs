//! [`Logical`] → [`Normal`]: the documents that match, whatever they score.

use super::Normal;
use super::binder::Binder;
use crate::query::logical::Logical;

impl Binder<'_> {
    /// The documents of a logical tree.
    pub(super) fn matching(&mut self, logical: Logical) -> Normal {
        match logical {
            Logical::Term { field, term, .. } => Normal::Term { field, term },
            Logical::Phrase { field, phrase, .. } => Normal::Phrase { field, phrase },
            Logical::BestTerms { field, terms, .. } => Normal::Expand { field, terms },
            Logical::Constant { matching, .. } => matching,
            Logical::Combined { fields, .. } => {
                let of_field = fields.into_iter().filter_map(|it| Some((it.field, it.term?)));
                self.or(of_field.map(|(field, term)| Normal::Term { field, term }).collect())
            }
            Logical::Sum { must, should, must_not, minimum } => {
                let must = self.matching_each(must);
                // Else alternatives change no matches.
                let should = if minimum > 0 { self.matching_each(should) } else { vec![] };
                self.matching_sum(must, should, minimum, must_not)
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
            1 => must.push(self.or(should)),
            minimum => must.push(self.at_least(minimum, should)),
        }
        self.and(must, must_not)
    }

    fn matching_each(&mut self, parts: Vec<Logical>) -> Vec<Normal> {
        parts.into_iter().map(|part| self.matching(part)).collect()
    }
}
