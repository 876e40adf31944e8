//! A text → the words in it that were asked for.

use super::proximity::{self, Place};
use super::terms::FieldTerms;

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
    pub(super) fn marks(&self, text: &str) -> Vec<Mark> {
        let Some(analyzer) = &self.analyzer else {
            let whole = |item| Mark { from: 0, to: text.len(), item };
            let items = self.items(text.as_bytes()).filter(|_| !text.is_empty());
            return items.map(whole).collect();
        };
        let mut marks = vec![];
        // For each item of a phrase, where it stands.
        let mut places = vec![vec![]; if self.phrases.is_empty() { 0 } else { self.n_items() }];
        analyzer.clone().for_each_token(text, |token| {
            let (from, to) = (token.offset_from, token.offset_to);
            for item in self.items(token.term.as_bytes()) {
                // A plugged-in tokenizer may say anything.
                if from >= to || text.get(from..to).is_none() {
                    continue;
                }
                // Nor are there more positions than bytes in a text, but by a tokenizer that skips some.
                if let Some(places) = places.get_mut(item as usize)
                    && token.position as usize <= text.len()
                {
                    places.push(Place { position: token.position, mark: marks.len() });
                }
                marks.push(Mark { from, to, item });
            }
        });
        places.iter_mut().for_each(|places| places.sort_unstable_by_key(|place| place.position));
        let mut counts: Vec<bool> = marks.iter().map(|mark| self.is_anywhere(mark.item)).collect();
        for phrase in &self.phrases {
            proximity::occurrences(phrase, &places, |mark| counts[mark] = true);
        }
        let mut counts = counts.into_iter();
        marks.retain(|_| counts.next().unwrap_or_default());
        marks.sort_by_key(|mark| (mark.from, mark.to));
        marks
    }
}
