//! Best few terms of a pattern, chosen over all segments of a snapshot.
//!
//! The dictionaries are walked side by side, so that the documents of a term are known when it is met and
//! nothing is kept but the best so far: memory does not grow with the pattern.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Bound;

use super::automaton::{AfterPrefix, RegexAutomaton};
use super::levenshtein::LevenshteinAutomaton;
use super::wildcard::WildcardAutomaton;
use super::{AnyAutomaton, Expansion, TermCounts, TermPattern, too_many_visited};
use crate::bytes::Source;
use crate::error::Result;
use crate::format::terms::{ByBytes, TermDictionary, TermInfo, TermSearch, TermStream};
use crate::ids::TermOrdinal;
use crate::limits;

/// The best terms of a pattern, the best first.
#[derive(Debug, Default)]
pub(crate) struct BestTerms {
    pub(crate) terms: Vec<BestTerm>,
    /// In all segments together; a term of several segments is expanded once. Cut where there are others.
    pub(crate) walked: TermCounts,
}

/// A term, and what each segment knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BestTerm {
    /// Edit distance from the word that was asked for; 0 for all terms of other patterns.
    pub(crate) distance: u8,
    /// In how many documents it is.
    pub(crate) df: u64,
    pub(crate) term: Vec<u8>,
    /// None where a segment does not have it.
    pub(crate) infos: Vec<Option<TermInfo>>,
}

impl BestTerm {
    /// The nearest first, then the most frequent, then in the order of their bytes.
    fn rank(&self) -> (u8, Reverse<u64>, &[u8]) {
        (self.distance, Reverse(self.df), &self.term)
    }
}

/// The better is the smaller.
impl Ord for BestTerm {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for BestTerm {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Expansion {
    /// Whether some of its terms are better than others; those of ranges and lists are not.
    pub(crate) fn has_best_terms(&self) -> bool {
        !matches!(self.pattern(), TermPattern::Range(..) | TermPattern::Set(_))
    }

    /// The `n` best terms of a field, given its dictionary in each segment: the most frequent, of a fuzzy word
    /// the nearest, and of equally near ones the most frequent. Only those whose [`nearness`](Self::nearness)
    /// is above 0.
    ///
    /// # Errors
    ///
    /// Fails like [`walk`](Self::walk).
    pub(crate) fn best_terms<'s, S: Source<'s>>(
        &self,
        dictionaries: &[TermDictionary<S>],
        n: usize,
    ) -> Result<BestTerms> {
        let walks = dictionaries.iter().map(|dictionary| Walk::new(self, dictionary));
        let mut walks = walks.collect::<Result<Vec<_>>>()?;
        let mut walked = TermCounts::default();
        // The worst on top.
        let mut best: BinaryHeap<BestTerm> = BinaryHeap::new();
        let mut term = vec![];
        while let Some(next) = walks.iter().filter_map(Walk::term).min() {
            term.clear();
            term.extend_from_slice(next);
            walked.expanded += 1;
            let infos = || walks.iter().map(|walk| walk.info_of(&term));
            let df = infos().flatten().map(|info| u64::from(info.df)).sum();
            let distance = self.distance(&term);
            let is_better = best.len() < n
                || best
                    .peek()
                    .is_some_and(|worst| (distance, Reverse(df), &term[..]) < worst.rank());
            if is_better && self.nearness(&term, distance) > 0.0 {
                let infos = infos().collect();
                best.push(BestTerm { distance, df, term: term.clone(), infos });
                if best.len() > n {
                    best.pop();
                }
            }
            for walk in &mut walks {
                if walk.term() == Some(&term) {
                    walk.advance()?;
                }
            }
        }
        walked.visited = walks.iter().map(Walk::visited).sum();
        let terms = best.into_sorted_vec();
        walked.cut = (terms.len() as u64) < walked.expanded;
        Ok(BestTerms { terms, walked })
    }

    /// Weight of a term of a fuzzy word compared with the word itself: 1 less its distance by the characters of the
    /// shorter of the two, as in Lucene. 1 for the terms of other patterns.
    pub(crate) fn nearness(&self, term: &[u8], distance: u8) -> f32 {
        let TermPattern::Fuzzy { text, .. } = self.pattern() else { return 1.0 };
        // Bytes that do not continue a character begin one.
        let of_term = term.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        let least = of_term.min(text.chars().count()).max(1);
        (1.0 - f32::from(distance) / least as f32).max(0.0)
    }

    /// Distance of a term of this pattern from the word that was asked for.
    fn distance(&self, term: &[u8]) -> u8 {
        match self.automaton.as_deref() {
            Some(AnyAutomaton::Fuzzy(automaton)) => automaton.distance(term),
            _ => 0,
        }
    }
}

/// A dictionary on the way through the terms of a pattern.
struct Walk<'a, 's, S> {
    terms: Terms<'a, 's, S>,
    term: Vec<u8>,
    /// Entry of the term; none behind the last one.
    info: Option<TermInfo>,
}

enum Terms<'a, 's, S> {
    Stream(TermStream<'s, S>, u64),
    Wildcard(TermSearch<'s, S, ByBytes<&'a AfterPrefix<WildcardAutomaton>>>),
    Regex(TermSearch<'s, S, ByBytes<&'a RegexAutomaton>>),
    Fuzzy(TermSearch<'s, S, &'a LevenshteinAutomaton>),
}

impl<'a, 's, S: Source<'s>> Walk<'a, 's, S> {
    /// Stands at the first term.
    fn new(expansion: &'a Expansion, dictionary: &TermDictionary<S>) -> Result<Self> {
        let terms = match (&*expansion.pattern, expansion.automaton.as_deref()) {
            (_, Some(AnyAutomaton::Wildcard(automaton))) => Terms::Wildcard(
                dictionary.search(automaton).visiting_at_most(limits::current().terms_visited),
            ),
            (_, Some(AnyAutomaton::Regex(automaton))) => Terms::Regex(
                dictionary.search(&**automaton).visiting_at_most(limits::current().terms_visited),
            ),
            (_, Some(AnyAutomaton::Fuzzy(automaton))) => Terms::Fuzzy(
                dictionary
                    .search_live(&**automaton)
                    .visiting_at_most(limits::current().terms_visited),
            ),
            (TermPattern::Prefix(prefix), None) => Terms::Stream(dictionary.prefix(prefix)?, 0),
            (_, None) => {
                Terms::Stream(dictionary.range(Bound::Unbounded, Bound::Excluded(&[]))?, 0)
            }
        };
        let mut walk = Walk { terms, term: vec![], info: None };
        walk.advance()?;
        Ok(walk)
    }

    fn advance(&mut self) -> Result<()> {
        let (next, is_exhausted) = match &mut self.terms {
            Terms::Stream(terms, visited) => {
                let next = terms.next()?;
                *visited += u64::from(next.is_some());
                (keep(next, &mut self.term), false)
            }
            Terms::Wildcard(terms) => (keep(terms.next()?, &mut self.term), terms.is_exhausted()),
            Terms::Regex(terms) => (keep(terms.next()?, &mut self.term), terms.is_exhausted()),
            Terms::Fuzzy(terms) => (keep(terms.next()?, &mut self.term), terms.is_exhausted()),
        };
        if is_exhausted {
            return Err(too_many_visited());
        }
        self.info = next;
        Ok(())
    }

    fn term(&self) -> Option<&[u8]> {
        self.info.map(|_| &self.term[..])
    }

    /// Entry of a term, if the walk is at it.
    fn info_of(&self, term: &[u8]) -> Option<TermInfo> {
        self.info.filter(|_| self.term == term)
    }

    fn visited(&self) -> u64 {
        match &self.terms {
            Terms::Stream(_, visited) => *visited,
            Terms::Wildcard(terms) => terms.visited(),
            Terms::Regex(terms) => terms.visited(),
            Terms::Fuzzy(terms) => terms.visited(),
        }
    }
}

/// Copies a term that is lent to `kept`.
fn keep(found: Option<(&[u8], TermOrdinal, TermInfo)>, kept: &mut Vec<u8>) -> Option<TermInfo> {
    let (term, _, info) = found?;
    kept.clear();
    kept.extend_from_slice(term);
    Some(info)
}
