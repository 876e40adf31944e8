//! A phrase: terms, and how they must stand to each other.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use super::{Place, Proximity, Query};
use crate::expansion::{Expansion, TermPattern};
use crate::few_map::FewMap;
use crate::term::Term;
use smallvec::SmallVec;

/// Empty places next to each other that are printed one by one.
const EMPTY_SHOWN: u32 = 8;

/// Terms, and how they must stand to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhraseSpec {
    /// Each different term once, in the order in which they first stand.
    pub(crate) terms: SmallVec<[Term; 3]>,
    /// Each different pattern once, numbered on behind the terms.
    pub(crate) open: Vec<Expansion>,
    /// Two or more, by offset, of which the first is 0.
    pub(crate) words: SmallVec<[PhraseWord; 4]>,
    pub(crate) proximity: Proximity,
}

/// A word of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PhraseWord {
    /// Its position less that of the first word, where they stand as written.
    pub(crate) offset: u32,
    /// Which of the terms, or of the patterns.
    pub(crate) term: u32,
}

/// Spelling of a text in a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextForm {
    pub(super) quoted: bool,
    /// Whether the last word may go on.
    pub(super) prefix: bool,
    pub(super) proximity: Proximity,
}

impl TextForm {
    /// A word without quotes.
    pub(super) const WORD: TextForm =
        TextForm { quoted: false, prefix: false, proximity: Proximity::Exact };
    /// The beginning of a word.
    pub(super) const PREFIX: TextForm = TextForm { prefix: true, ..TextForm::WORD };
}

impl PhraseSpec {
    /// A phrase of terms by position, and of words that each stand for many.
    pub(crate) fn new(
        placed: impl IntoIterator<Item = (u32, Term)>,
        open: impl IntoIterator<Item = (u32, Expansion)>,
        proximity: Proximity,
    ) -> Self {
        let mut terms = SmallVec::<[Term; 3]>::new();
        let mut words = SmallVec::<[PhraseWord; 4]>::new();
        let mut numbers = FewMap::new();
        for (offset, term) in placed {
            let number = numbers.get(&term).unwrap_or_else(|| {
                let number = terms.len() as u32;
                numbers.insert(term.clone(), number);
                terms.push(term);
                number
            });
            words.push(PhraseWord { offset, term: number });
        }
        let mut patterns: Vec<Expansion> = vec![];
        for (offset, pattern) in open {
            let known = patterns.iter().position(|other| *other == pattern);
            let number = known.unwrap_or(patterns.len());
            if known.is_none() {
                patterns.push(pattern);
            }
            words.push(PhraseWord { offset, term: (terms.len() + number) as u32 });
        }
        if !patterns.is_empty() {
            words.sort_by_key(|word| word.offset);
        }
        let first = words.first().map_or(0, |word| word.offset);
        words.iter_mut().for_each(|word| word.offset = word.offset.saturating_sub(first));
        PhraseSpec { terms, open: patterns, words, proximity }
    }

    /// Number of words.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// The pattern that a word is, if it stands for many terms.
    pub(crate) fn pattern(&self, word: &PhraseWord) -> Option<&Expansion> {
        self.open.get((word.term as usize).checked_sub(self.terms.len())?)
    }

    /// The phrase in the query language; a place that is left empty is printed as `*`.
    pub(crate) fn to_query(&self, field: &str) -> Query {
        let quoted = match self.is_quotable() {
            true => self.to_text(),
            false => Query::phrase_of(self.to_parts(), self.proximity).unwrap_or(Query::Nothing),
        };
        quoted.in_field(field)
    }

    /// Whether quotes are enough to write it: without empty places, and nothing is open but the end.
    fn is_quotable(&self) -> bool {
        let last = self.words.len().saturating_sub(1);
        let is_prefix = |pattern: &Expansion| matches!(pattern.pattern(), TermPattern::Prefix(_));
        self.words.windows(2).all(|pair| pair[0].offset + 1 >= pair[1].offset)
            && (self.open.is_empty()
                || self.words.iter().enumerate().all(|(nth, word)| match self.pattern(word) {
                    Some(pattern) => nth == last && is_prefix(pattern),
                    None => true,
                }))
    }

    fn to_text(&self) -> Query {
        let (mut texts, mut prefix) = (vec![], false);
        for word in &self.words {
            texts.push(match self.pattern(word).map(Expansion::pattern) {
                Some(TermPattern::Prefix(beginning)) => {
                    prefix = true;
                    String::from_utf8_lossy(beginning)
                }
                _ => self.term(word),
            });
        }
        let (field, proximity, place) = (None, self.proximity, Place::default());
        Query::Phrase { field, text: texts.join(" "), prefix, proximity, place }
    }

    fn to_parts(&self) -> Vec<Query> {
        let (mut parts, mut end) = (vec![], 0);
        for word in &self.words {
            match word.offset.saturating_sub(end) {
                gap @ 0..=EMPTY_SHOWN => parts.extend((0..gap).map(|_| Query::All)),
                _ => parts.push(Query::word("…")),
            }
            parts.push(match self.pattern(word) {
                Some(pattern) => Query::of_terms(pattern),
                None => Query::word(self.term(word)),
            });
            end = end.max(word.offset.saturating_add(1));
        }
        parts
    }

    /// The term that a word is, if it stands for one.
    fn term(&self, word: &PhraseWord) -> Cow<'_, str> {
        self.terms
            .get(word.term as usize)
            .map_or(Cow::Borrowed(""), |term| String::from_utf8_lossy(term))
    }
}

impl Hash for PhraseSpec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The rest mostly follows from these.
        self.terms.hash(state);
        self.words.hash(state);
    }
}
