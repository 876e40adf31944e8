//! [`Query`] → the terms, patterns and phrases to mark in each field.
//!
//! The tree is taken as it was asked, not as it is rewritten: rewriting drops what cannot change which documents match
//! (`a OR a b`), and a reader still wants to see it. Clauses under an odd number of negations are not marked.

use std::collections::HashMap;
use std::fmt;

use crate::analysis::{Analyzer, Analyzers};
use crate::error::{Error, ErrorKind, Result};
use crate::expansion::{Expansion, TermPattern, WildcardPiece};
use crate::ids::FieldId;
use crate::query::{Boost, Normal, Proximity, Query, joined_words, rewrite};
use crate::schema::{FieldKind, MISSING_FIELD, Schema};

/// Maximum number of a query's patterns that are marked in one field. They are prefixes, wildcards, regular
/// expressions, fuzzy words and ranges; more are left unmarked.
pub const PATTERNS_MAX: usize = 256;

/// Terms and patterns to mark in one field. An *item* is a term or a pattern, known by its number.
#[derive(Clone)]
pub(super) struct FieldTerms {
    /// Makes the terms of texts; none for a field whose values are terms.
    pub(super) analyzer: Option<Analyzer>,
    /// Positions between two values of a document.
    pub(super) position_gap: u32,
    terms: HashMap<Vec<u8>, u32>,
    patterns: Vec<(Expansion, u32)>,
    /// For each item, whether it is marked wherever it stands.
    anywhere: Vec<bool>,
    pub(super) phrases: Vec<Phrase>,
}

/// Words that are marked where they stand so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Phrase {
    /// Two or more, by offset, of which the first is 0.
    pub(super) words: Vec<PhraseItem>,
    pub(super) proximity: Proximity,
}

/// A word of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PhraseItem {
    /// Its position less that of the first word, where they stand as written.
    pub(super) offset: u32,
    pub(super) item: u32,
}

/// Terms to mark, for the fields that the query looks in.
pub(super) fn of_query(
    query: &Query,
    schema: &Schema,
    analyzers: &Analyzers,
) -> Result<Vec<(String, FieldTerms)>> {
    let mut fields = vec![];
    fields.resize_with(schema.fields().len(), || None);
    let mut compiler = Compiler { schema, analyzers, fields };
    compiler.walk(query)?;
    let names = schema.fields().iter().map(|field| field.name.clone());
    Ok(names.zip(compiler.fields).filter_map(|(name, terms)| Some((name, terms?))).collect())
}

impl FieldTerms {
    fn new(analyzer: Option<Analyzer>, position_gap: u32) -> Self {
        FieldTerms {
            analyzer,
            position_gap,
            terms: HashMap::new(),
            patterns: vec![],
            anywhere: vec![],
            phrases: vec![],
        }
    }

    pub(super) fn n_items(&self) -> usize {
        self.anywhere.len()
    }

    /// Whether an item is marked wherever it stands.
    pub(super) fn is_anywhere(&self, item: u32) -> bool {
        self.anywhere[item as usize]
    }

    /// The items that a term of a text is.
    pub(super) fn items(&self, term: &[u8]) -> impl Iterator<Item = u32> {
        let matching = self.patterns.iter().filter(move |(pattern, _)| pattern.matches(term));
        self.terms.get(term).copied().into_iter().chain(matching.map(|(_, item)| *item))
    }

    /// The terms, each with its item.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.terms.iter().map(|(term, item)| (&term[..], *item))
    }

    /// The patterns, each with its item.
    pub(super) fn patterns(&self) -> impl Iterator<Item = (&Expansion, u32)> {
        self.patterns.iter().map(|(pattern, item)| (pattern, *item))
    }

    fn term(&mut self, term: Vec<u8>) -> u32 {
        let next = self.anywhere.len() as u32;
        let item = *self.terms.entry(term).or_insert(next);
        if item == next {
            self.anywhere.push(false);
        }
        item
    }

    fn pattern(&mut self, pattern: Expansion) -> Option<u32> {
        let mut known = self.patterns.iter();
        if let Some((_, item)) = known.find(|(other, _)| *other == pattern) {
            return Some(*item);
        }
        if self.patterns.len() == PATTERNS_MAX {
            return None;
        }
        let item = self.anywhere.len() as u32;
        self.anywhere.push(false);
        self.patterns.push((pattern, item));
        Some(item)
    }

    fn mark_anywhere(&mut self, item: Option<u32>) {
        if let Some(item) = item {
            self.anywhere[item as usize] = true;
        }
    }
}

impl fmt::Debug for FieldTerms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut terms: Vec<_> =
            self.terms.keys().map(|term| String::from_utf8_lossy(term)).collect();
        terms.sort_unstable();
        f.debug_struct("FieldTerms")
            .field("terms", &terms)
            .field("patterns", &self.patterns)
            .field("phrases", &self.phrases)
            .finish()
    }
}

struct Compiler<'a> {
    schema: &'a Schema,
    analyzers: &'a Analyzers,
    fields: Vec<Option<FieldTerms>>,
}

impl Compiler<'_> {
    /// Goes through the tree without recursion: one built by hand may be of any depth.
    fn walk(&mut self, query: &Query) -> Result<()> {
        let mut todo = vec![(query, true, None)];
        while let Some((query, counts, fields)) = todo.pop() {
            match query {
                Query::Not(query) => todo.push((query, !counts, fields)),
                Query::Group { must, should, must_not, .. } => {
                    for words in [must, should] {
                        let left = match counts {
                            true => self.joined(words, fields)?,
                            false => words.iter().collect(),
                        };
                        todo.extend(left.into_iter().map(|query| (query, counts, fields)));
                    }
                    todo.extend(must_not.iter().map(|query| (query, !counts, fields)));
                }
                Query::Fields { fields, query, .. } => {
                    todo.push((query, counts, Some(&fields[..])))
                }
                _ if counts => {
                    todo.extend(query.children().map(|query| (query, counts, fields)));
                    self.leaf(query, fields)?;
                }
                _ => todo.extend(query.children().map(|query| (query, counts, fields))),
            }
        }
        Ok(())
    }

    /// Marks words of a group that are read together, and what they also stand for; gives the other clauses.
    fn joined<'q>(
        &mut self,
        group: &'q [Query],
        fields: Option<&[(String, Boost)]>,
    ) -> Result<Vec<&'q Query>> {
        let (mut left, mut at) = (vec![], 0);
        for joined in joined_words(group, fields, self.schema, self.analyzers)? {
            left.extend(&group[at..joined.words.start]);
            at = joined.words.end;
            let replaced = joined.fields.iter().filter(|it| !it.is_kept).map(|it| it.field);
            let replaced: Vec<FieldId> = replaced.collect();
            for word in &group[joined.words] {
                for field in self.fields_of(word, fields)? {
                    if !replaced.contains(&field) {
                        self.leaf_in(field, word)?;
                    }
                }
            }
            self.patterns(joined.others)?;
        }
        left.extend(&group[at..]);
        Ok(left)
    }

    /// A leaf in its field or in the default ones; what is no leaf, or has no words, is nothing.
    fn leaf(&mut self, leaf: &Query, fields: Option<&[(String, Boost)]>) -> Result<()> {
        let fields = self.fields_of(leaf, fields)?;
        fields.into_iter().try_for_each(|field| self.leaf_in(field, leaf))
    }

    /// The fields that a leaf is looked up in.
    fn fields_of(
        &self,
        leaf: &Query,
        default_fields: Option<&[(String, Boost)]>,
    ) -> Result<Vec<FieldId>> {
        let Some(field) = leaf.field_of_terms() else { return Ok(vec![]) };
        match (field, default_fields) {
            // A name that stands for no field: nothing is found by what is there.
            (Some(name), _)
                if name == MISSING_FIELD && self.schema.field_id(MISSING_FIELD).is_none() =>
            {
                Ok(vec![])
            }
            (Some(name), _) => Ok(vec![self.field(name)?]),
            (None, Some(fields)) => fields.iter().map(|(name, _)| self.field(name)).collect(),
            (None, None) => Ok(self.schema.default_field_ids().to_vec()),
        }
    }

    /// A leaf in one field: what it is for a search there.
    fn leaf_in(&mut self, id: FieldId, leaf: &Query) -> Result<()> {
        // A number is no text that a part of is to be seen in.
        if self.schema.get(id).kind.is_typed() {
            return Ok(());
        }
        let leaf = leaf.clone().in_field(&*self.schema.get(id).name);
        let rewritten = rewrite(&leaf, self.schema, self.analyzers)?;
        self.patterns(rewritten.normal)
    }

    /// The terms and patterns that a leaf became.
    fn patterns(&mut self, normal: Normal) -> Result<()> {
        let mut todo = vec![normal];
        while let Some(normal) = todo.pop() {
            match normal {
                Normal::Term { field, term } => {
                    let terms = self.terms(field)?;
                    let item = terms.term(term.into_vec());
                    terms.mark_anywhere(Some(item));
                }
                Normal::Expand { field, terms: pattern } => {
                    let terms = self.terms(field)?;
                    let item = if is_of_all(&pattern) { None } else { terms.pattern(pattern) };
                    terms.mark_anywhere(item);
                }
                Normal::Phrase { field, phrase: spec } => {
                    let terms = self.terms(field)?;
                    let items = spec.words.iter().map(|word| {
                        let item = match spec.pattern(word) {
                            Some(pattern) => terms.pattern(pattern.clone()),
                            None => Some(terms.term(spec.terms[word.term as usize].to_vec())),
                        };
                        item.map(|item| PhraseItem { offset: word.offset, item })
                    });
                    // One short where there were too many patterns.
                    let words: Vec<PhraseItem> = items.flatten().collect();
                    let phrase = Phrase { words, proximity: spec.proximity };
                    if phrase.words.len() == spec.words.len() && !terms.phrases.contains(&phrase) {
                        terms.phrases.push(phrase);
                    }
                }
                Normal::And { all: queries, .. } | Normal::Or(queries) => todo.extend(queries),
                _ => {}
            }
        }
        Ok(())
    }

    fn terms(&mut self, id: FieldId) -> Result<&mut FieldTerms> {
        let (field, slot) = (self.schema.get(id), &mut self.fields[id.index()]);
        if slot.is_none() {
            let analyzer = match field.kind {
                FieldKind::Text => Some(self.analyzers.index_time(field)?),
                _ if field.normalizer_spec().is_some() => Some(self.analyzers.index_time(field)?),
                _ => None,
            };
            *slot = Some(FieldTerms::new(analyzer, field.position_gap.into()));
        }
        slot.as_mut().ok_or_else(|| unknown(&field.name))
    }

    fn field(&self, name: &str) -> Result<FieldId> {
        self.schema.field_id(name).ok_or_else(|| unknown(name))
    }
}

/// Whether nothing was written that words could be marked for; in a phrase they stand where it wants them.
fn is_of_all(pattern: &Expansion) -> bool {
    match pattern.pattern() {
        TermPattern::Prefix(prefix) => prefix.is_empty(),
        TermPattern::Wildcard(pieces) => pieces.iter().all(|piece| *piece == WildcardPiece::Any),
        _ => false,
    }
}

fn unknown(name: &str) -> Error {
    Error::new(ErrorKind::Query, "looking up a field of the query")
        .expected("a field of the schema")
        .found(format!("'{name}'"))
}
