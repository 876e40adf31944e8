//! A text → the words in it that were asked for.

use super::proximity::{self, Place};
use super::terms::FieldTerms;
use crate::budget;
use crate::error::{Error, Result};

/// What looking at a word takes about, in nanoseconds.
const TOKEN_NS: u64 = 50;

/// A word of a text that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The bytes of the text: where they begin …
    pub(super) from: usize,
    /// … and end.
    pub(super) to: usize,
    /// The term or pattern that it is, below the number of those that the field has.
    pub(super) item: u32,
}

impl FieldTerms {
    /// What to mark in a text, by where it begins.
    ///
    /// # Errors
    ///
    /// None but those of a budget.
    pub(super) fn marks(&self, text: &str) -> Result<Vec<Mark>> {
        let Some(analyzer) = &self.analyzer else {
            let whole = |item| Mark { from: 0, to: text.len(), item };
            let items = self.items(text.as_bytes()).filter(|_| !text.is_empty());
            return Ok(items.map(whole).collect());
        };
        let mut found = Found::new(self);
        analyzer.clone().try_for_each_token(text, |token| {
            budget::work(TOKEN_NS)?;
            let (from, to) = (token.offset_from, token.offset_to);
            for item in self.items(token.term.as_bytes()) {
                // A plugged-in tokenizer may say anything.
                if from >= to || text.get(from..to).is_none() {
                    continue;
                }
                // Nor are there more positions than bytes in a text, but by a tokenizer that skips some.
                let position = Some(token.position).filter(|at| *at as usize <= text.len());
                found.add(Mark { from, to, item }, position);
            }
            Ok::<(), Error>(())
        })?;
        Ok(found.marks())
    }
}

/// Where the items of a field stand in one text.
pub(super) struct Found<'t> {
    terms: &'t FieldTerms,
    marks: Vec<Mark>,
    /// For each item where it stands, if there are phrases.
    places: Vec<Vec<Place>>,
}

impl<'t> Found<'t> {
    pub(super) fn new(terms: &'t FieldTerms) -> Self {
        let n_items = if terms.phrases.is_empty() { 0 } else { terms.n_items() };
        Found { terms, marks: vec![], places: vec![vec![]; n_items] }
    }

    /// Adds an occurrence, which may be part of a phrase if it has a position.
    pub(super) fn add(&mut self, mark: Mark, position: Option<u32>) {
        if let Some(places) = self.places.get_mut(mark.item as usize)
            && let Some(position) = position
        {
            places.push(Place { position, mark: self.marks.len() });
        }
        self.marks.push(mark);
    }

    /// What to mark of it, by where it begins.
    pub(super) fn marks(self) -> Vec<Mark> {
        let Found { terms, mut marks, mut places } = self;
        places.iter_mut().for_each(|places| places.sort_unstable_by_key(|place| place.position));
        let mut counts: Vec<bool> = marks.iter().map(|mark| terms.is_anywhere(mark.item)).collect();
        for phrase in &terms.phrases {
            proximity::occurrences(phrase, &places, |mark| counts[mark] = true);
        }
        let mut counts = counts.into_iter();
        marks.retain(|_| counts.next().unwrap_or_default());
        marks.sort_unstable_by_key(|mark| (mark.from, mark.to, mark.item));
        marks
    }
}
