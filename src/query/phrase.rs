//! What a text means in a field: its terms, and how they must stand.
//!
//! A text becomes terms by the field's analyzer. Of one term the documents that have it are meant;
//! several are a phrase, whether they stood in quotes or not. Where the analyzer left a word out,
//! its place stays empty. Synonyms of several words are read as phrases of their own. A field
//! that keeps no positions cannot tell a phrase from its words, so it takes those, and a note says so.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::rewrite::{Normal, Rewriter, located, nothing, shortened};
use super::{Place, Proximity, Query};
use crate::analysis::{PlacedTerm, Slot, phrases};
use crate::error::{Error, ErrorKind, Result};
use crate::expansion::{Expansion, TermPattern};
use crate::ids::FieldId;
use crate::schema::FieldKind;

/// Words of a phrase that need not stand next to each other.
pub const NEAR_WORDS_MAX: usize = 256;
/// Ways to read a phrase with synonyms.
pub const READINGS_MAX: usize = 256;

/// Positions, in one segment, of the rare terms that the last word of a phrase may stand for: `"of mi"*`.
pub const PHRASE_PREFIX_POSITIONS_MAX: usize = 1 << 22;
/// Frequent terms of one segment that the last word of a phrase may stand for.
pub const PHRASE_PREFIX_LISTS_MAX: usize = 4_096;

/// Terms, and how they must stand to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhraseSpec {
    /// Each different term once, in the order in which they first stand.
    pub(crate) terms: Vec<Vec<u8>>,
    /// Two or more, with `last`, by offset, of which the first is 0.
    pub(crate) words: Vec<PhraseWord>,
    /// The word behind these, if it stands for many terms, and its offset.
    pub(crate) last: Option<(u32, Expansion)>,
    pub(crate) proximity: Proximity,
}

/// A word of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PhraseWord {
    /// Its position less that of the first word, where they stand as written.
    pub(crate) offset: u32,
    /// Which of the terms.
    pub(crate) term: u32,
}

/// How a text was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) quoted: bool,
    /// Whether the last word may go on.
    pub(super) prefix: bool,
    pub(super) proximity: Proximity,
}

impl Shape {
    /// A word without quotes.
    pub(super) const WORD: Shape =
        Shape { quoted: false, prefix: false, proximity: Proximity::Exact };
    /// The beginning of a word.
    pub(super) const PREFIX: Shape = Shape { prefix: true, ..Shape::WORD };
}

impl PhraseSpec {
    /// A phrase of terms by position, the last of which may stand for many.
    pub(crate) fn new(
        placed: Vec<(u32, Vec<u8>)>,
        last: Option<(u32, Expansion)>,
        proximity: Proximity,
    ) -> Self {
        let first = placed.first().map(|(position, _)| *position).unwrap_or_default();
        let mut numbers = HashMap::with_capacity(placed.len());
        let (mut terms, mut words) = (vec![], Vec::with_capacity(placed.len()));
        for (position, term) in placed {
            let number = *numbers.entry(term.clone()).or_insert(terms.len() as u32);
            if number as usize == terms.len() {
                terms.push(term);
            }
            words.push(PhraseWord { offset: position.saturating_sub(first), term: number });
        }
        let last = last.map(|(position, expansion)| (position.saturating_sub(first), expansion));
        PhraseSpec { terms, words, last, proximity }
    }

    /// How many words it has.
    pub(crate) fn len(&self) -> usize {
        self.words.len() + usize::from(self.last.is_some())
    }

    /// The phrase in the query language; a place that is left empty is printed as `*`.
    pub(crate) fn to_query(&self, field: &str) -> Query {
        let mut text = String::new();
        let mut end = 0;
        let prefix = self.last.as_ref().map(|(offset, expansion)| {
            let bytes = match expansion.pattern() {
                TermPattern::Prefix(prefix) => &prefix[..],
                _ => &[],
            };
            (*offset, bytes)
        });
        let words = self.words.iter().map(|word| (word.offset, &*self.terms[word.term as usize]));
        for (offset, term) in words.chain(prefix) {
            while end < offset {
                text.push_str(if end + 8 < offset { "… " } else { "* " });
                end = if end + 8 < offset { offset } else { end + 1 };
            }
            text.push_str(&String::from_utf8_lossy(term));
            text.push(' ');
            end = end.max(offset.saturating_add(1));
        }
        text.pop();
        Query::Phrase {
            field: Some(field.into()),
            text,
            prefix: prefix.is_some(),
            proximity: self.proximity,
            place: Place::default(),
        }
    }
}

impl Hash for PhraseSpec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The rest mostly follows from these.
        self.terms.hash(state);
        self.words.hash(state);
    }
}

impl Rewriter<'_> {
    /// What a text means in one field.
    pub(super) fn words(
        &mut self,
        id: FieldId,
        text: &str,
        shape: Shape,
        place: &Place,
    ) -> Result<Normal> {
        let field = self.schema.get(id);
        if field.kind == FieldKind::Keyword {
            self.count_terms(1, place)?;
            return self.word(id, text.to_owned(), shape.prefix);
        }
        if self.has_room_for_terms()
            && let Some(term) = self.analyzers.plain_word(field, text)
        {
            self.count_terms(1, place)?;
            return self.word(id, term, shape.prefix);
        }
        let readings = self.readings(id, text, shape, place)?;
        self.count_terms(readings.iter().map(Vec::len).sum(), place)?;
        if readings.iter().all(Vec::is_empty) {
            if shape.prefix && text.is_empty() {
                return self.word(id, String::new(), true);
            }
            return Ok(self.no_words(id, text));
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
        } else if several {
            self.note(format!(
                "'{}' keeps no positions, so of '{}' all words must match, in any order",
                field.name,
                shortened(text),
            ));
        }
        let any = readings.into_iter().map(|reading| self.reading(id, reading, shape, place));
        let any = any.collect::<Result<Vec<_>>>()?;
        Ok(self.or(any))
    }

    /// Every way to read a text: its terms by position.
    fn readings(
        &mut self,
        id: FieldId,
        text: &str,
        shape: Shape,
        place: &Place,
    ) -> Result<Vec<Vec<PlacedTerm>>> {
        let field = self.schema.get(id);
        // The beginning of a word is no word that a rule could be about.
        if self.analyzers.synonyms_of(field).is_some() && !shape.prefix {
            let slots = self.analyzers.query_slots(field, text)?;
            let readings =
                phrases(&slots, READINGS_MAX).map_err(|error| located(&place.text, error))?;
            self.note_synonyms(id, &slots, text);
            return Ok(readings);
        }
        Ok(vec![self.analyzers.query_terms(field, text)?])
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

    /// What the terms of one reading mean.
    fn reading(
        &mut self,
        id: FieldId,
        mut terms: Vec<PlacedTerm>,
        shape: Shape,
        place: &Place,
    ) -> Result<Normal> {
        let Some(last) = terms.pop() else { return Ok(nothing("a synonym of no words")) };
        if terms.is_empty() {
            return self.word(id, last.term, shape.prefix);
        }
        if !self.schema.get(id).detail.has_positions() {
            let term = |at: PlacedTerm| Normal::Term { field: id, term: at.term.into_bytes() };
            let mut all: Vec<Normal> = terms.into_iter().map(term).collect();
            all.push(self.word(id, last.term, shape.prefix)?);
            return Ok(self.and(all, vec![]));
        }
        if shape.proximity != Proximity::Exact && terms.len() >= NEAR_WORDS_MAX {
            let error = Error::new(ErrorKind::LimitExceeded, "reading a phrase with slop")
                .expected(format!("at most {NEAR_WORDS_MAX} words (limit NEAR_WORDS_MAX)"))
                .found((terms.len() + 1).to_string());
            return Err(located(&place.text, error));
        }
        let mut placed: Vec<(u32, Vec<u8>)> =
            terms.into_iter().map(|at| (at.position, at.term.into_bytes())).collect();
        let (position, term) = (last.position, last.term.into_bytes());
        let last = match shape.prefix {
            true => Some((position, Expansion::new(TermPattern::Prefix(term))?)),
            false => {
                placed.push((position, term));
                None
            }
        };
        let phrase = Arc::new(PhraseSpec::new(placed, last, shape.proximity));
        Ok(Normal::Phrase { field: id, phrase })
    }

    /// One term, or those that begin so.
    fn word(&mut self, field: FieldId, term: String, prefix: bool) -> Result<Normal> {
        let term = term.into_bytes();
        Ok(match prefix {
            true => Normal::Expand { field, terms: Expansion::new(TermPattern::Prefix(term))? },
            false => Normal::Term { field, term },
        })
    }

    fn no_words(&mut self, id: FieldId, text: &str) -> Normal {
        let reason = format!(
            "'{}' has {} to find in '{}'",
            shortened(text),
            match text.contains(char::is_alphanumeric) {
                true => "no term left by the analyzer",
                false => "no letter or digit",
            },
            self.schema.get(id).name
        );
        self.note(format!("{reason}, so it matches nothing"));
        Normal::Nothing { reason }
    }
}

fn spelled(terms: &[PlacedTerm]) -> String {
    terms.iter().map(|at| &*at.term).collect::<Vec<_>>().join(" ")
}
