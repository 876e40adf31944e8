//! Facts about a query for plans of pages, from the look-ups of scoring.

use crate::plan::{ScoredLists, Scoring, Shape, cost};
use crate::plural::counted;
use crate::query::Proximity;
use crate::weight::Weight;
use crate::weight::node::Node;

impl Scoring for Weight<'_> {
    fn shape(&self) -> Shape {
        let are_terms = |nodes: &[Node]| nodes.iter().all(|node| node.term().is_some());
        match &self.root {
            Node::Set { .. } => Shape::Constant,
            Node::Term(_) => Shape::AnyOf,
            Node::Phrase(_) => Shape::Phrase,
            Node::Sum { must, should, must_not, minimum } if must_not.is_empty() => {
                match (must.is_empty(), should.is_empty()) {
                    (true, false) if *minimum == 1 && are_terms(should) => Shape::AnyOf,
                    (false, true) if are_terms(must) => Shape::AllOf,
                    _ => Shape::Tree,
                }
            }
            _ => Shape::Tree,
        }
    }

    fn constant(&self) -> Option<f32> {
        if !self.functions.is_empty() {
            return None;
        }
        let score = self.root.constant()?;
        let is_same = |own: &Weight<'_>| own.constant() == Some(score);
        self.by_segment.iter().all(is_same).then_some(score)
    }

    fn has_functions(&self) -> bool {
        !self.functions().is_empty()
    }

    fn is_exact_phrase(&self) -> bool {
        let Node::Phrase(at) = self.root else { return false };
        self.phrases[at].spec.proximity == Proximity::Exact
    }

    /// Nothing is looked up or read, as a decision may not cost more than it is worth. Words that people ask for together are
    /// together in several times as many.
    fn lists(&self) -> ScoredLists {
        let of_segments = 0..self.segments.len();
        let of_phrases = self.phrases.iter().flat_map(|phrase| {
            of_segments.clone().flat_map(|segment| self.infos_of_phrase(phrase, segment))
        });
        let of_words = of_phrases.flatten().map(|info| u64::from(info.df)).sum::<u64>();
        let of_terms = self.terms.iter().map(|term| term.df).sum::<u64>();
        let n_words = self.phrases.iter().map(|phrase| phrase.spec.terms.len()).sum::<usize>();
        let of_fields = self.combined.iter().map(|word| word.lists());
        let combined = of_fields.fold((0, 0), |all, own| (all.0 + own.0, all.1 + own.1));
        let n_docs: u64 = self.segments.iter().map(|segment| u64::from(segment.n_docs())).sum();
        ScoredLists {
            n_docs: u32::try_from(n_docs).unwrap_or(u32::MAX),
            n_lists: self.terms.len() + n_words + combined.0,
            postings: of_terms + of_words + combined.1,
            fewest: self.terms.iter().map(|term| term.df).min().unwrap_or_default(),
            expected: n_docs as f64 * self.expected_share(&self.root, n_docs.max(1) as f64),
        }
    }

    /// Phrases that only add to scores do not count.
    fn matches_by_phrases(&self) -> bool {
        fn asks(node: &Node) -> bool {
            match node {
                Node::Phrase(_) => true,
                Node::Term(_) | Node::Combined(_) | Node::Nearest { .. } | Node::Set { .. } => {
                    false
                }
                Node::Sum { must, should, must_not, minimum } => {
                    let are_needed = *minimum > 0 && should.iter().any(asks);
                    are_needed || must.iter().chain(must_not).any(asks)
                }
                Node::Max { any, .. } => any.iter().any(asks),
            }
        }
        asks(&self.root)
    }
}

impl Weight<'_> {
    /// ScoreDetail that there are bounds of, for people.
    pub(crate) fn what_has_bounds(&self) -> String {
        let of = |n: usize, noun| (n > 0).then(|| counted(n, noun));
        let parts = [
            of(self.terms.len(), "term"),
            of(self.phrases.len(), "phrase"),
            of(self.combined.len(), "word").map(|words| words + " of several fields"),
            of(self.wanted.len(), "set"),
            (self.shape() == Shape::Tree).then(|| "put together as in the query".to_owned()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn expected_share(&self, node: &Node, n_docs: f64) -> f64 {
        let share = |documents: u64| (documents as f64 / n_docs).min(1.0);
        let any_of = |nodes: &[Node]| {
            1.0 - nodes.iter().map(|node| 1.0 - self.expected_share(node, n_docs)).product::<f64>()
        };
        match node {
            Node::Term(nth) => self.terms.get(*nth).map_or(0.0, |term| share(term.df)),
            Node::Phrase(nth) => self.phrases.get(*nth).map_or(0.0, |phrase| {
                let n_words = phrase.spec.terms.len();
                let has_word = |word: usize| {
                    let of_segments = 0..self.segments.len();
                    let infos =
                        of_segments.filter_map(|nth| self.infos_of_phrase(phrase, nth)[word]);
                    share(infos.map(|info| u64::from(info.df)).sum())
                };
                (0..n_words).map(has_word).product::<f64>() * cost::phrase_share(&phrase.spec)
            }),
            Node::Combined(nth) => {
                self.combined.get(*nth).map_or(0.0, |word| share(word.lists().1))
            }
            Node::Set { set, .. } | Node::Nearest { set, .. } => {
                self.docs_of_sets.get(*set).map_or(1.0, |n| share(*n))
            }
            Node::Sum { must, should, must_not, minimum } => {
                let all: f64 = must.iter().map(|node| self.expected_share(node, n_docs)).product();
                let enough = match minimum {
                    0 => 1.0,
                    n => any_of(should).powi((*n).min(8) as i32),
                };
                all * enough * (1.0 - any_of(must_not))
            }
            Node::Max { any, .. } => any_of(any),
        }
    }
}
