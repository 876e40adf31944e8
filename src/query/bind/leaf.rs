//! Leaves of the logical tree: score parts of words, phrases and patterns.

use super::Normal;
use super::binder::{Binder, Scope};
use crate::ids::FieldId;
use crate::query::logical::{CombinedField, Logical, finite};
use crate::recycle::FreeLists;
use crate::term::Term;

impl Binder<'_> {
    /// Score of a leaf: as one word in fields that are combined, else each term by itself.
    pub(super) fn leaf(&mut self, matching: Normal, boost: f32, names_field: bool) -> Logical {
        let combined = self.scopes.last().filter(|scope| scope.combined && !names_field);
        match combined.and_then(|scope| scope.words(&matching, boost)) {
            Some(combined) => combined,
            None => self.matched(matching, boost, names_field),
        }
    }

    /// Terms that a leaf stands for, each by itself, of the fields that it names or of the default ones.
    fn matched(&mut self, matching: Normal, boost: f32, names_field: bool) -> Logical {
        let weight = |field: FieldId| match self.scopes.last() {
            Some(scope) if !names_field => {
                let own = scope.weighted().find(|(other, _)| *other == field);
                finite(boost * own.map_or(1.0, |(_, weight)| weight))
            }
            _ => boost,
        };
        match matching {
            Normal::Term { field, term } => Logical::Term { field, term, boost: weight(field) },
            Normal::Phrase { field, phrase } => {
                Logical::Phrase { field, phrase, boost: weight(field) }
            }
            Normal::Expand { field, terms }
                if self.options.pattern_terms > 0 && terms.has_best_terms() =>
            {
                let n = self.options.pattern_terms;
                Logical::BestTerms { field, terms, n, boost: weight(field) }
            }
            Normal::Expand { field, .. } => Logical::Constant { score: weight(field), matching },
            Normal::And { all, none } if none.is_empty() && !all.is_empty() => {
                let all = self.each_matched(all, boost, names_field);
                Logical::sum(all, vec![], vec![], 0, &mut self.memory.logical)
            }
            Normal::Or(any) => {
                let any = self.each_matched(any, boost, names_field);
                Logical::sum(vec![], any, vec![], 1, &mut self.memory.logical)
            }
            other => Logical::Constant { matching: other, score: boost },
        }
    }
}

impl Binder<'_> {
    fn each_matched(&mut self, mut parts: Vec<Normal>, boost: f32, named: bool) -> Vec<Logical> {
        let mut each = self.memory.logical.take();
        each.extend(parts.drain(..).map(|part| self.matched(part, boost, named)));
        self.memory.normal.give(parts);
        each
    }
}

impl Scope {
    /// The score of a leaf that is one word or, with synonyms, several, each in some of the fields; `None` for
    /// others. Fields may have different terms for the same word; of several words those that are the same
    /// belong together.
    fn words(&self, matching: &Normal, boost: f32) -> Option<Logical> {
        let any = match matching {
            Normal::Or(any) => &any[..],
            one => std::slice::from_ref(one),
        };
        let terms = any.iter().map(|part| match part {
            Normal::Term { field, term } => Some((*field, term)),
            _ => None,
        });
        let terms: Vec<(FieldId, &Term)> = terms.collect::<Option<_>>()?;
        let mut words: Vec<Vec<CombinedField>> = vec![];
        let is_one_word = (0..terms.len())
            .all(|nth| terms[..nth].iter().all(|(field, _)| *field != terms[nth].0));
        for (field, term) in terms {
            let belongs = |word: &&mut Vec<CombinedField>| {
                is_one_word || word.iter().any(|other| other.term.as_ref() == Some(term))
            };
            let place = match words.iter_mut().find(belongs) {
                Some(word) => word,
                None => {
                    let none = |(field, weight)| CombinedField { field, weight, term: None };
                    words.push(self.weighted().map(none).collect());
                    words.last_mut()?
                }
            };
            place.iter_mut().find(|other| other.field == field)?.term = Some(term.clone());
        }
        let words = words.into_iter().map(|fields| Logical::Combined { fields, boost });
        Some(Logical::sum(vec![], words.collect(), vec![], 1, &mut FreeLists::default()))
    }
}
