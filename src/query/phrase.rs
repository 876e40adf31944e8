//! Analysis of the text of a query in a field: its terms and their positions.
//!
//! A text becomes terms by the field's analyzer. One term matches the documents that have it;
//! several are a phrase, whether they stood in quotes or not. If the analyzer leaves a word out,
//! its place stays empty. Synonyms of several words are read as phrases of their own. A field
//! that keeps no positions cannot tell a phrase from its words, so it takes those, and a note says so.

use super::bind::{Binder, Clause, Normal, located, nothing, shortened};
use super::phrase_of::Placed;
use super::phrase_spec::{PhraseSpec, TextForm};
use super::{Place, Proximity, Query};
use crate::analysis::{PlacedTerm, Slot, phrases};
use crate::error::{Error, Result};
use crate::expansion::{Expansion, TermPattern};
use crate::ids::FieldId;
use crate::limits::Limits;
use crate::term::Term;

/// Words of a phrase that need not stand next to each other.
pub const NEAR_WORDS_MAX: usize = 256;
/// Ways to read a phrase with synonyms.
pub const READINGS_MAX: usize = 256;

/// Words of a phrase that may stand for many terms: `PHRASE [a* b?c]`.
pub const PHRASE_PATTERNS_MAX: usize = Limits::DEFAULT.phrase_patterns;
/// Maximum number of positions, in one segment, of a phrase's rare pattern terms: `"of mi"*`.
pub const PHRASE_PATTERN_POSITIONS_MAX: usize = Limits::DEFAULT.phrase_positions;
/// Frequent terms of one segment that the words of a phrase may stand for.
pub const PHRASE_PATTERN_LISTS_MAX: usize = Limits::DEFAULT.phrase_lists;

impl Binder<'_> {
    /// Normal form of a text in one field.
    pub(super) fn words(
        &mut self,
        id: FieldId,
        text: &str,
        shape: TextForm,
        place: &Place,
    ) -> Result<Clause<Normal>> {
        let field = self.schema.get(id);
        if field.kind.is_typed() {
            self.count_terms(1, place)?;
            let normal = match shape.prefix {
                true => self.typed(id, &Query::prefix(text))?,
                false => self.typed_value(id, text, place)?,
            };
            return Ok(normal.into());
        }
        if !field.kind.is_text() {
            self.count_terms(1, place)?;
            if shape.prefix {
                return Ok(word(id, self.as_in_terms(id, text, true)?, true)?.into());
            }
            let path = self.path(id, text).map_err(|error| located(&place.text, error))?;
            return Ok(match path {
                Some(path) if path.is_empty() => Normal::Exists(id).into(),
                Some(path) => word(id, path, false)?.into(),
                None => word(id, self.as_in_terms(id, text, false)?, false)?.into(),
            });
        }
        if self.has_room_for_terms()
            && let Some(term) = self.analyzers.plain_word(field, text)
        {
            self.count_terms(1, place)?;
            return Ok(word(id, term, shape.prefix)?.into());
        }
        if shape.quoted
            && !shape.prefix
            && field.detail.has_positions()
            && self.has_room_for_terms()
        {
            let words = self.analyzers.plain_words(field, text);
            if words.len() > 1 {
                self.count_terms(words.len(), place)?;
                let mut placed = Placed::default();
                placed.terms.extend((0..).zip(words));
                return Ok(self.phrase(id, placed, shape.proximity, place)?.into());
            }
        }
        let mut readings = self.readings(id, text, shape, place)?;
        self.count_terms(readings.iter().map(Vec::len).sum(), place)?;
        if let [reading] = &mut readings[..]
            && reading.len() == 1
        {
            return Ok(self.reading(id, std::mem::take(reading), shape, place)?.into());
        }
        if readings.iter().all(Vec::is_empty) {
            if shape.prefix && text.is_empty() {
                return Ok(word(id, "", true)?.into());
            }
            return Ok(Clause::Dropped(self.no_words(id, text)));
        }
        let several = readings.iter().any(|reading| reading.len() > 1);
        if several && field.detail.has_positions() {
            if !shape.quoted && readings.len() == 1 {
                self.note(format!(
                    "'{}' is several words in '{}': {} must stand next to each other",
                    shortened(text),
                    field.name,
                    shortened(&spelled(&readings[0])),
                ));
            }
            if text.contains('*') {
                self.note(format!(
                    "in quotes '*' stands for nothing: '{}' with patterns is PHRASE [{}]",
                    shortened(text),
                    shortened(text),
                ));
            }
        } else if several {
            self.note(format!(
                "'{}' keeps no positions, so of '{}' all words must match, in any order",
                field.name,
                shortened(text),
            ));
        }
        let any = readings.into_iter().map(|reading| self.reading(id, reading, shape, place));
        let any = any.collect::<Result<Vec<_>>>()?;
        Ok(self.or(any).into())
    }

    /// Every way to read a text: its terms by position.
    fn readings(
        &mut self,
        id: FieldId,
        text: &str,
        shape: TextForm,
        place: &Place,
    ) -> Result<Vec<Vec<PlacedTerm>>> {
        let field = self.schema.get(id);
        // The beginning of a word is no word that a rule could be about.
        let stands_for_others = !shape.prefix && !self.is_together(id);
        if self.analyzers.synonyms_of(field).is_some() && stands_for_others {
            let slots = self.analyzers.query_slots(field, text)?;
            let readings =
                phrases(&slots, READINGS_MAX).map_err(|error| located(&place.text, error))?;
            self.note_synonyms(id, &slots, text);
            return Ok(readings);
        }
        Ok(vec![match shape.prefix {
            true => self.analyzers.pattern_terms(field, text)?,
            false => self.analyzers.query_terms_in(&mut self.memory.analyzer, field, text)?,
        }])
    }

    fn note_synonyms(&mut self, id: FieldId, slots: &[Slot], text: &str) {
        let alternatives = || slots.iter().flat_map(|slot| &slot.alternatives);
        let is_plain =
            |slot: &Slot| slot.alternatives.len() == 1 && slot.alternatives[0].terms.len() == 1;
        if slots.iter().all(is_plain) {
            return;
        }
        let all: Vec<String> = alternatives().map(|any| spelled(&any.terms)).collect();
        let field = &self.schema.get(id).name;
        let (text, all) = (shortened(text), shortened(&all.join(", ")));
        self.note(format!("with synonyms, '{text}' is looked up in '{field}' as {all}"));
    }

    /// Normal form of the terms of one reading.
    pub(super) fn reading(
        &mut self,
        id: FieldId,
        mut terms: Vec<PlacedTerm>,
        shape: TextForm,
        place: &Place,
    ) -> Result<Normal> {
        let Some(last) = terms.pop() else { return Ok(nothing("a synonym of no words")) };
        if terms.is_empty() {
            return word(id, last.term, shape.prefix);
        }
        let mut placed = Placed::default();
        match shape.prefix {
            true => {
                let beginning = TermPattern::Prefix(last.term.into_bytes());
                placed.open.push((last.position, Expansion::new(beginning)?));
            }
            false => terms.push(last),
        }
        placed.terms =
            terms.iter().map(|at| (at.position, Term::from_slice(at.term.as_bytes()))).collect();
        self.phrase(id, placed, shape.proximity, place)
    }

    /// Normal form of some words at their positions.
    pub(super) fn phrase(
        &mut self,
        id: FieldId,
        placed: Placed,
        proximity: Proximity,
        place: &Place,
    ) -> Result<Normal> {
        let n_words = placed.len();
        let Placed { terms, open, .. } = placed;
        if n_words < 2 || !self.schema.get(id).detail.has_positions() {
            let term = |(_, term)| Normal::Term { field: id, term };
            let expand = |(_, terms)| Normal::Expand { field: id, terms };
            let all = terms.into_iter().map(term).chain(open.into_iter().map(expand)).collect();
            return Ok(self.and(all, vec![]));
        }
        if proximity != Proximity::Exact && n_words > NEAR_WORDS_MAX {
            let (what, name) = ("reading a phrase with slop", "NEAR_WORDS_MAX");
            let error = Error::limit_reached(what, name, NEAR_WORDS_MAX, "words", Some(n_words));
            return Err(located(&place.text, error));
        }
        let phrase = self.memory.shared(PhraseSpec::new(terms, open, proximity));
        Ok(Normal::Phrase { field: id, phrase })
    }

    /// Why nothing of a text can be found in a field.
    pub(super) fn no_words(&self, id: FieldId, text: &str) -> String {
        format!(
            "'{}' has {} to find in '{}'",
            shortened(text),
            match text.contains(char::is_alphanumeric) {
                true => "no term left by the analyzer",
                false => "no letter or digit",
            },
            self.schema.get(id).name
        )
    }
}

/// One term, or those that begin so.
fn word(field: FieldId, term: impl AsRef<[u8]>, prefix: bool) -> Result<Normal> {
    let term = term.as_ref();
    Ok(match prefix {
        true => {
            Normal::Expand { field, terms: Expansion::new(TermPattern::Prefix(term.to_vec()))? }
        }
        false => Normal::Term { field, term: Term::from_slice(term) },
    })
}

pub(super) fn spelled(terms: &[PlacedTerm]) -> String {
    terms.iter().map(|at| &*at.term).collect::<Vec<_>>().join(" ")
}
