//! Patterns that are scored by their best terms.
//!
//! All documents of a pattern match; what they score is the sum of BM25 over those of its best terms that they
//! have, and nothing for other terms. The best are the most frequent ones of the snapshot, so that the
//! segments do not matter.
//!
//! The terms of a fuzzy word are spellings of one word: the nearest are the best, each is weighted by its
//! [nearness](Expansion::nearness), and all count as rare as the most frequent of them. Else a misspelling, which
//! is rare, would be worth more than the word. Lucene does the same (`top_terms_blended_freqs`).

use super::Weight;
use super::node::Node;
use super::patterns::ScoredPattern;
use super::statistics::Sources;
use crate::error::Result;
use crate::expansion::{Expansion, TermPattern};
use crate::ids::FieldId;
use crate::query::Normal;

/// Terms that a plan shows of a pattern.
const TERMS_SHOWN: usize = 5;

impl Weight<'_> {
    /// The `n` best terms of a pattern, and, where there are others, the set of all documents that match.
    pub(crate) fn best_terms(
        &mut self,
        field: FieldId,
        expansion: &Expansion,
        n: u32,
        boost: f32,
        sources: &Sources<'_>,
    ) -> Result<Node> {
        let dictionaries = self.segments.iter().map(|segment| segment.field(field).terms());
        let dictionaries = dictionaries.collect::<Result<Vec<_>>>()?;
        let best = expansion.best_terms(&dictionaries, n as usize)?;
        let pattern = Normal::Expand { field, terms: expansion.clone() };
        let shown = best.terms.iter().take(TERMS_SHOWN);
        self.patterns.push(ScoredPattern {
            label: self.label(&pattern),
            walked: best.walked,
            n_scored: best.terms.len(),
            terms: shown.map(|term| String::from_utf8_lossy(&term.term).into_owned()).collect(),
        });
        let terms = best.terms.iter();
        let dfs = terms.map(|it| sources.statistics.document_frequency(field, &it.term, it.df));
        let dfs = dfs.collect::<Result<Vec<u64>>>()?;
        let most = dfs.iter().copied().max().unwrap_or_default();
        let are_spellings = matches!(expansion.pattern(), TermPattern::Fuzzy { .. });
        let mut should = Vec::with_capacity(best.terms.len() + 1);
        for (term, own) in best.terms.into_iter().zip(dfs) {
            let boost = boost * expansion.nearness(&term.term, term.distance);
            let df = if are_spellings { most } else { own };
            let infos = self.infos.len();
            self.infos.extend(term.infos);
            let node = self.term((field, &term.term), Some(df), boost, infos, sources)?;
            if let Node::Term(nth) = node
                && let Some(term) = self.terms.get_mut(nth)
            {
                term.is_spelling = df != own;
            }
            should.push(node);
        }
        if best.walked.cut {
            should.push(self.set(&pattern, 0.0));
        }
        Ok(Node::Sum { must: vec![], should, must_not: vec![], minimum: 1 })
    }

    /// The patterns that are scored by their best terms.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &ScoredPattern> {
        self.parts().iter().flat_map(|part| &part.patterns)
    }
}
