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
                let mut all = self.matching_each(must);
                if minimum > 0 {
                    // Else alternatives change no matches.
                    let should = self.matching_each(should);
                    all.push(match minimum {
                        1 => self.or(should),
                        minimum => self.at_least(minimum, should),
                    });
                }
                self.and(all, must_not)
            }
            Logical::Max { any, .. } => {
                let any = self.matching_each(any);
                self.or(any)
            }
        }
    }

    fn matching_each(&mut self, parts: Vec<Logical>) -> Vec<Normal> {
        parts.into_iter().map(|part| self.matching(part)).collect()
    }
}
