//! The oracle: an index that looks at every document for every query.

use std::collections::{BTreeMap, BTreeSet};
use treepie::query::Query;
use treepie::{Document, FieldKind, Schema};

pub(crate) struct NaiveIndex {
    schema: Schema,
    n_docs: usize,
    /// Whether each document has a term, by field and term.
    terms: BTreeMap<(String, String), Vec<bool>>,
    /// Whether each document has a value, by field.
    present: BTreeMap<String, Vec<bool>>,
}

impl NaiveIndex {
    pub(crate) fn new(schema: &Schema, docs: &[Document]) -> Self {
        let (mut terms, mut present) = (BTreeMap::new(), BTreeMap::new());
        let nobody = || vec![false; docs.len()];
        for (doc, document) in docs.iter().enumerate() {
            for (field, value) in document.iter() {
                present.entry(field.into()).or_insert_with(nobody)[doc] = true;
                for term in terms_of(schema, field, value) {
                    terms.entry((field.into(), term)).or_insert_with(nobody)[doc] = true;
                }
            }
        }
        NaiveIndex { schema: schema.clone(), n_docs: docs.len(), terms, present }
    }

    /// For every document whether it matches.
    pub(crate) fn matches(&self, query: &Query) -> Vec<bool> {
        let all = |queries: &[Query]| {
            queries.iter().fold(vec![true; self.n_docs], |so_far, query| {
                so_far.into_iter().zip(self.matches(query)).map(|(a, b)| a && b).collect()
            })
        };
        let any = |queries: &[Query]| {
            queries.iter().fold(vec![false; self.n_docs], |so_far, query| {
                so_far.into_iter().zip(self.matches(query)).map(|(a, b)| a || b).collect()
            })
        };
        match query {
            Query::All => vec![true; self.n_docs],
            Query::Nothing => vec![false; self.n_docs],
            Query::Word { field, text, .. } | Query::Phrase { field, text, .. } => {
                let fields: Vec<&str> = match field {
                    Some(field) => vec![field],
                    None => self.schema.default_fields().map(|field| &*field.name).collect(),
                };
                let mut found = vec![false; self.n_docs];
                for field in fields {
                    let terms = terms_of(&self.schema, field, text);
                    let sets: Vec<_> = terms.iter().map(|term| self.term(field, term)).collect();
                    for (doc, found) in found.iter_mut().enumerate() {
                        *found |= !sets.is_empty() && sets.iter().all(|set| set[doc]);
                    }
                }
                found
            }
            Query::Exists { field, .. } => {
                self.present.get(field).cloned().unwrap_or_else(|| vec![false; self.n_docs])
            }
            Query::And(queries) => all(queries),
            Query::Or(queries) => any(queries),
            Query::Not(query) => self.matches(query).into_iter().map(|hit| !hit).collect(),
            Query::Group { must, should, must_not, .. } => {
                let wanted = match must.is_empty() && !should.is_empty() {
                    true => any(should),
                    false => all(must),
                };
                wanted.into_iter().zip(any(must_not)).map(|(a, b)| a && !b).collect()
            }
            other => panic!("the oracle does not know {other:?}"),
        }
    }

    fn term(&self, field: &str, term: &str) -> Vec<bool> {
        let key = (field.to_string(), term.to_string());
        self.terms.get(&key).cloned().unwrap_or_else(|| vec![false; self.n_docs])
    }

    /// The most frequent terms of a field among `matches`, and how many matches have no value.
    pub(crate) fn facet(
        &self,
        field: &str,
        limit: usize,
        matches: &[bool],
    ) -> (Vec<(String, u64)>, u64) {
        let both =
            |set: &[bool]| set.iter().zip(matches).filter(|(a, b)| **a && **b).count() as u64;
        let mut counts: Vec<(String, u64)> = self
            .terms
            .iter()
            .filter(|((of, _), _)| of == field)
            .map(|((_, term), set)| (term.clone(), both(set)))
            .filter(|(_, count)| *count > 0)
            .collect();
        counts.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.as_bytes().cmp(b.as_bytes())));
        counts.truncate(limit);
        let total = matches.iter().filter(|hit| **hit).count() as u64;
        (counts, total - self.present.get(field).map_or(0, |set| both(set)))
    }
}

fn terms_of(schema: &Schema, field: &str, text: &str) -> BTreeSet<String> {
    match schema.field(field).map(|field| field.kind) {
        Some(FieldKind::Keyword) => [text.to_string()].into(),
        _ => text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect(),
    }
}
