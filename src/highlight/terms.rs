//! [`Query`] → the terms, patterns and phrases to mark in each field.
//!
//! The tree is taken as it was asked, not as it is rewritten: rewriting drops what cannot change which
//! documents match (`a OR a b`), and a reader still wants to see it. What stands under an odd number of
//! negations is not marked.

use std::collections::HashMap;
use std::fmt;

use crate::analysis::{Analyzer, Analyzers, PlacedTerm, phrases};
use crate::error::{Error, ErrorKind, Result};
use crate::expansion::{Expansion, TermPattern, WildcardPiece};
use crate::ids::FieldId;
use crate::query::{Boost, Fuzziness, Normal, Proximity, Query, READINGS_MAX, rewrite};
use crate::schema::{Field, FieldKind, MISSING_FIELD, Schema};

/// Patterns of a query (prefixes, wildcards, regular expressions, fuzzy words, ranges) that are marked in one
/// field; more are left unmarked.
pub const PATTERNS_MAX: usize = 256;

/// What to mark in one field. An *item* is a term or a pattern, known by its number.
#[derive(Clone)]
pub(super) struct FieldTerms {
    /// Makes the terms of texts; none for a field whose values are terms.
    pub(super) analyzer: Option<Analyzer>,
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

/// What to mark, for the fields that the query looks in.
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
    fn new(analyzer: Option<Analyzer>) -> Self {
        FieldTerms {
            analyzer,
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
        // Nothing was written that words could be marked for.
        let is_all = match pattern.pattern() {
            TermPattern::Prefix(prefix) => prefix.is_empty(),
            TermPattern::Wildcard(pieces) => {
                pieces.iter().all(|piece| *piece == WildcardPiece::Any)
            }
            _ => false,
        };
        if is_all || self.patterns.len() == PATTERNS_MAX {
            return None;
        }
        let item = self.anywhere.len() as u32;
        self.anywhere.push(false);
        self.patterns.push((pattern, item));
        Some(item)
    }

    /// A term, or those that begin so.
    fn word(&mut self, term: String, prefix: bool) -> Result<Option<u32>> {
        let term = term.into_bytes();
        match prefix {
            true => Ok(self.pattern(Expansion::new(TermPattern::Prefix(term))?)),
            false => Ok(Some(self.term(term))),
        }
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
                    todo.extend(must.iter().chain(should).map(|query| (query, counts, fields)));
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

    /// A leaf in its field or in the default ones; what is no leaf, or has no words, is nothing.
    fn leaf(&mut self, leaf: &Query, default_fields: Option<&[(String, Boost)]>) -> Result<()> {
        let Some(field) = leaf.field_of_terms() else { return Ok(()) };
        match (field, default_fields) {
            // A name that stands for no field: nothing is found by what is there.
            (Some(name), _)
                if name == MISSING_FIELD && self.schema.field_id(MISSING_FIELD).is_none() =>
            {
                Ok(())
            }
            (Some(name), _) => self.leaf_in(self.field(name)?, leaf),
            (None, Some(fields)) => {
                fields.iter().try_for_each(|(name, _)| self.leaf_in(self.field(name)?, leaf))
            }
            (None, None) => {
                let schema = self.schema;
                schema.default_field_ids().iter().try_for_each(|field| self.leaf_in(*field, leaf))
            }
        }
    }

    fn leaf_in(&mut self, id: FieldId, leaf: &Query) -> Result<()> {
        match leaf {
            // A number is no text that a part of is to be seen in.
            _ if self.schema.get(id).kind.is_typed() => Ok(()),
            Query::Word { text, .. }
            | Query::Fuzzy { text, fuzziness: Fuzziness { distance: 0, .. }, .. } => {
                self.words(id, text, false, Proximity::Exact)
            }
            Query::Prefix { text, .. } => self.words(id, text, true, Proximity::Exact),
            Query::Phrase { text, prefix, proximity, .. } => {
                self.words(id, text, *prefix, *proximity)
            }
            Query::InSet { values, .. } => {
                let mut values = values.iter();
                values.try_for_each(|value| self.words(id, value, false, Proximity::Exact))
            }
            // What a pattern is in a field is known there.
            _ => {
                let leaf = leaf.clone().in_field(&*self.schema.get(id).name);
                let rewritten = rewrite(&leaf, self.schema, self.analyzers)?;
                self.patterns(rewritten.normal)
            }
        }
    }

    /// The terms and patterns that a leaf became.
    fn patterns(&mut self, normal: Normal) -> Result<()> {
        let mut todo = vec![normal];
        while let Some(normal) = todo.pop() {
            match normal {
                Normal::Term { field, term } => {
                    let terms = self.terms(field)?;
                    let item = terms.term(term);
                    terms.mark_anywhere(Some(item));
                }
                Normal::Expand { field, terms: pattern } => {
                    let terms = self.terms(field)?;
                    let item = terms.pattern(pattern);
                    terms.mark_anywhere(item);
                }
                Normal::Phrase { field, phrase: spec } => {
                    let terms = self.terms(field)?;
                    let items = spec.words.iter().map(|word| {
                        let item = match spec.pattern(word) {
                            Some(pattern) => terms.pattern(pattern.clone()),
                            None => Some(terms.term(spec.terms[word.term as usize].clone())),
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

    /// What a text means in one field, the last word of which may go on where it is a `prefix`.
    fn words(&mut self, id: FieldId, text: &str, prefix: bool, proximity: Proximity) -> Result<()> {
        let field = self.schema.get(id);
        let plain = match field.kind {
            FieldKind::Text => self.analyzers.plain_word(field, text),
            _ => Some(self.analyzers.normalize(field, text)?),
        };
        if let Some(term) = plain {
            let terms = self.terms(id)?;
            let item = terms.word(term, prefix)?;
            terms.mark_anywhere(item);
            return Ok(());
        }
        for reading in self.readings(field, text, prefix)? {
            self.reading(id, reading, prefix, proximity)?;
        }
        Ok(())
    }

    /// Every way to read a text: its terms by position.
    fn readings(&self, field: &Field, text: &str, prefix: bool) -> Result<Vec<Vec<PlacedTerm>>> {
        if prefix {
            // The beginning of a word is no word that a synonym could be for.
            let mut terms = vec![];
            self.analyzers.query_time(field)?.for_each_token(text, |token| {
                terms.push(PlacedTerm { position: token.position, term: token.term.to_owned() });
            });
            terms.sort_by_key(|at| at.position);
            return Ok(vec![terms]);
        }
        let slots = self.analyzers.query_slots(field, text)?;
        phrases(&slots, READINGS_MAX)
    }

    fn reading(
        &mut self,
        id: FieldId,
        reading: Vec<PlacedTerm>,
        prefix: bool,
        proximity: Proximity,
    ) -> Result<()> {
        let is_phrase = reading.len() > 1 && self.schema.get(id).detail.has_positions();
        let first = reading.first().map_or(0, |at| at.position);
        let n = reading.len();
        let terms = self.terms(id)?;
        let mut words = Vec::with_capacity(n);
        for (nth, PlacedTerm { position, term }) in reading.into_iter().enumerate() {
            let item = terms.word(term, prefix && nth + 1 == n)?;
            if !is_phrase {
                terms.mark_anywhere(item);
            }
            words.extend(item.map(|item| PhraseItem { offset: position - first, item }));
        }
        // One short where there were too many patterns.
        let phrase = Phrase { words, proximity };
        if is_phrase && phrase.words.len() == n && !terms.phrases.contains(&phrase) {
            terms.phrases.push(phrase);
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
            *slot = Some(FieldTerms::new(analyzer));
        }
        slot.as_mut().ok_or_else(|| unknown(&field.name))
    }

    fn field(&self, name: &str) -> Result<FieldId> {
        self.schema.field_id(name).ok_or_else(|| unknown(name))
    }
}

fn unknown(name: &str) -> Error {
    Error::new(ErrorKind::Query, "looking up a field of the query")
        .expected("a field of the schema")
        .found(format!("'{name}'"))
}
