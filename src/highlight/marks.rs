//! The values of a document → the words in them that were asked for.

use super::proximity::{self, Place};
use super::terms::FieldTerms;
use crate::budget::{self, ns};
use crate::error::{Error, Result};

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
    /// Ranges to mark in each value of a document's field, by their starts. A phrase may go from one to the next.
    ///
    /// # Errors
    ///
    /// None but those of a budget.
    pub(super) fn marks(&self, values: &[&str]) -> Result<Vec<Vec<Mark>>> {
        let Some(analyzer) = &self.analyzer else {
            return Ok(values.iter().map(|value| self.whole(value)).collect());
        };
        let (mut analyzer, mut found) = (analyzer.clone(), FieldMarks::new(self));
        // Start of the value among the bytes of all, and the position behind the values before it.
        let (mut start, mut next_position) = (0, 0_u32);
        for value in values {
            let first = match next_position {
                0 => 0,
                next => next.saturating_add(self.position_gap),
            };
            analyzer.try_for_each_token(value, |token| {
                budget::work(ns::WORD_MARKED)?;
                let position = first.saturating_add(token.position);
                // Whatever the order in which a tokenizer gives its tokens.
                next_position = next_position.max(position.saturating_add(1));
                let (from, to) = (token.offset_from, token.offset_to);
                for item in self.items(token.term.as_bytes()) {
                    // A plugged-in tokenizer may say anything.
                    if from >= to || value.get(from..to).is_none() {
                        continue;
                    }
                    found.add(Mark { from: start + from, to: start + to, item }, position);
                }
                Ok::<(), Error>(())
            })?;
            start += value.len();
        }
        Ok(found.marks(values))
    }

    /// Marks of a value that is a term.
    fn whole(&self, value: &str) -> Vec<Mark> {
        let items = self.items(value.as_bytes()).filter(|_| !value.is_empty());
        items.map(|item| Mark { from: 0, to: value.len(), item }).collect()
    }
}

/// Positions of a field's items in one document.
pub(super) struct FieldMarks<'t> {
    terms: &'t FieldTerms,
    /// By the bytes of all values.
    marks: Vec<Mark>,
    /// For each item where it stands, if there are phrases.
    places: Vec<Vec<Place>>,
}

impl<'t> FieldMarks<'t> {
    pub(super) fn new(terms: &'t FieldTerms) -> Self {
        let n_items = if terms.phrases.is_empty() { 0 } else { terms.n_items() };
        FieldMarks { terms, marks: vec![], places: vec![vec![]; n_items] }
    }

    /// Adds an occurrence, its bytes counted from the beginning of the first value.
    pub(super) fn add(&mut self, mark: Mark, position: u32) {
        if let Some(places) = self.places.get_mut(mark.item as usize) {
            places.push(Place { position, mark: self.marks.len() });
        }
        self.marks.push(mark);
    }

    /// Marks of it in each of the values, by their starts.
    pub(super) fn marks(self, values: &[&str]) -> Vec<Vec<Mark>> {
        let FieldMarks { terms, mut marks, mut places } = self;
        places.iter_mut().for_each(|places| places.sort_unstable_by_key(|place| place.position));
        proximity::close_gaps(&terms.phrases, &mut places);
        let mut counts: Vec<bool> = marks.iter().map(|mark| terms.is_anywhere(mark.item)).collect();
        for phrase in &terms.phrases {
            proximity::occurrences(phrase, &places, |mark| counts[mark] = true);
        }
        let mut counts = counts.into_iter();
        marks.retain(|_| counts.next().unwrap_or_default());
        marks.sort_unstable_by_key(|mark| (mark.from, mark.to, mark.item));
        let (mut rest, mut start) = (&marks[..], 0);
        let of_value = |value: &&str| {
            let end = start + value.len();
            let (own, later) = rest.split_at(rest.partition_point(|mark| mark.from < end));
            rest = later;
            let moved =
                |mark: &Mark| Mark { from: mark.from - start, to: mark.to - start, ..*mark };
            let own = own.iter().map(moved).collect();
            start = end;
            own
        };
        values.iter().map(of_value).collect()
    }
}
