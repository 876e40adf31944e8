//! Documents one by one: their scores, and how these come about.

use super::combined::CombinedCursors;
use super::cursor::{FoundTerm, TermCursor};
use super::pruned::PhraseClause;
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::format::lengths::{self, score_part};
use crate::function::{FunctionColumns, as_score};
use crate::ids::FieldId;
use crate::phrase::PhraseReader;
use crate::plural::counted;
use crate::weight::bm25::{FieldScoring, idf};
use crate::weight::neighbors::NeighborScores;
use crate::weight::node::{Node, Scores};
use crate::weight::{TermWeight, Weight};
use std::fmt;

/// Formulas as explanations have them.
const IDF: &str = "idf: ln(1 + (N - n + 0.5) / (n + 0.5))";
const PART: &str = "frequency / (frequency + k1 × (1 - b + b × length / average))";

/// Scores documents of one segment, in ascending order.
#[derive(Debug)]
pub(crate) struct SegmentScorer<'r, 's> {
    ranked: &'r Weight<'s>,
    segment: usize,
    /// The document at hand.
    doc: u32,
    cursors: Vec<Option<TermCursor<'s>>>,
    phrases: Vec<Option<(PhraseClause<'s>, PhraseReader<'s>)>>,
    combined: Vec<CombinedCursors<'s>>,
    neighbors: Vec<NeighborScores>,
    /// By function its columns.
    functions: Vec<FunctionColumns<'s>>,
}

impl<'s> Weight<'s> {
    /// Gets ready to score documents of one segment.
    pub(crate) fn segment(&self, segment: usize) -> Result<SegmentScorer<'_, 's>> {
        let cursor = |term: &TermWeight| {
            let reader = self.segments[segment].field(self.fields[term.field].field);
            TermCursor::open(reader, self.infos_of(term)[segment].as_ref())
        };
        let cursors = self.terms.iter().map(cursor).collect::<Result<_>>()?;
        let phrases = self.phrases.iter().map(|phrase| self.open_words(phrase, segment));
        let phrases = phrases.collect::<Result<_>>()?;
        let combined =
            self.combined.iter().map(|word| word.cursors(&self.segments[segment], segment));
        let combined = combined.collect::<Result<_>>()?;
        let functions = self.functions.iter().map(|it| it.function.open(self.segments[segment]));
        let functions = functions.collect::<Result<_>>()?;
        let neighbors = self.neighbors.iter().map(|scored| scored.in_segment(segment)).collect();
        let (ranked, doc) = (self, 0);
        Ok(SegmentScorer { ranked, segment, doc, cursors, phrases, combined, neighbors, functions })
    }
}

impl SegmentScorer<'_, '_> {
    /// The score of a document; `None` where it does not match.
    pub(crate) fn score(&mut self, doc: u32) -> Result<Option<f32>> {
        let ranked = self.ranked;
        self.doc = doc;
        let score = ranked.root.score(self)?;
        let Some(score) = score.filter(|_| !self.functions.is_empty()) else { return Ok(score) };
        let mut changed = f64::from(score);
        for (function, columns) in ranked.functions.iter().zip(&mut self.functions) {
            let value = function.function.value(columns, doc, changed)?;
            changed = function.apply(changed, value);
        }
        Ok(Some(as_score(changed)))
    }

    fn found_term(&mut self, at: usize) -> Result<Option<FoundTerm>> {
        let scoring = &self.ranked.fields[self.ranked.terms[at].field];
        let cursor = self.cursors[at].as_mut();
        cursor.map_or(Ok(None), |cursor| cursor.part(self.doc, &scoring.norm_cache))
    }

    fn found_phrase(&mut self, at: usize) -> Result<Option<FoundTerm>> {
        let doc = self.doc;
        let Some((PhraseClause { lengths, scoring, .. }, reader)) = &mut self.phrases[at] else {
            return Ok(None);
        };
        let frequency = reader.frequency(doc)?;
        if frequency == 0 {
            return Ok(None);
        }
        let length_code = lengths.code(doc)?;
        let part = score_part(frequency, scoring.norm_cache[usize::from(length_code)]);
        Ok(Some(FoundTerm { frequency, length_code, part }))
    }

    /// Explains the score of a document; `None` if it does not match.
    pub(crate) fn explain(&mut self, doc: u32) -> Result<Option<Explanation>> {
        let ranked = self.ranked;
        self.doc = doc;
        let Some(mut score) = self.explain_node(&ranked.root)? else { return Ok(None) };
        let mut changed = f64::from(score.value);
        for (function, columns) in ranked.functions.iter().zip(&mut self.functions) {
            let value = function.function.value(columns, doc, changed)?;
            changed = function.apply(changed, value);
            let own = match value {
                Some(value) => Explanation::leaf(value as f32, function.function.to_string()),
                None => Explanation::leaf(
                    function.apply(1.0, None) as f32,
                    format!("{} has no value here", function.function),
                ),
            };
            let what = format!("the score {function}");
            score = Explanation { value: changed as f32, what, parts: vec![score, own] };
        }
        if as_score(changed) != score.value {
            let what = "at least 0, and finite".to_owned();
            score = Explanation { value: as_score(changed), what, parts: vec![score] };
        }
        Ok(Some(score))
    }

    fn explain_node(&mut self, node: &Node) -> Result<Option<Explanation>> {
        let Some(value) = node.score(self)? else { return Ok(None) };
        let ranked = self.ranked;
        let (what, nodes) = match node {
            Node::Term(at) => return self.explain_term(*at, value),
            Node::Phrase(at) => return self.explain_phrase(*at, value),
            Node::Combined(at) => return self.explain_combined(*at, value),
            Node::Nearest { nth, set } => {
                let neighbors = &ranked.neighbors[*nth];
                let how = neighbors.described(self.segment, self.doc).unwrap_or_default();
                (format!("{}: {how}", ranked.label_of_set(*set)), vec![])
            }
            Node::Set { set, .. } => (format!("{} matches", ranked.label_of_set(*set)), vec![]),
            Node::Sum { must, should, .. } => {
                ("sum of".to_owned(), must.iter().chain(should).collect())
            }
            Node::Max { any, tie } => {
                (format!("best of, and {tie} times the others"), any.iter().collect::<Vec<_>>())
            }
        };
        let mut parts = vec![];
        for node in nodes {
            parts.extend(self.explain_node(node)?);
        }
        Ok(Some(Explanation { value, what, parts }))
    }

    fn explain_term(&mut self, at: usize, value: f32) -> Result<Option<Explanation>> {
        let Some(found) = self.found_term(at)? else { return Ok(None) };
        let term = &self.ranked.terms[at];
        let scoring = &self.ranked.fields[term.field];
        let text = String::from_utf8_lossy(&term.term);
        let spelling = if term.is_spelling { ", as its most frequent spelling" } else { "" };
        let n_docs = counted(scoring.n_docs, "document");
        let idf = Explanation::leaf(
            idf(scoring.n_docs, term.df),
            format!("{IDF}, in n = {} of N = {n_docs}{spelling}", term.df),
        );
        let weight = weight(term.weight, term.boost, idf, scoring.bm25.k1);
        let what = format!("{}:{text}, weight × part", self.name_of(scoring.field));
        Ok(Some(Explanation { value, what, parts: vec![weight, part(found, scoring)] }))
    }

    fn explain_phrase(&mut self, at: usize, value: f32) -> Result<Option<Explanation>> {
        let Some(found) = self.found_phrase(at)? else { return Ok(None) };
        let phrase = &self.ranked.phrases[at];
        let scoring = &self.ranked.fields[phrase.field];
        let of_words = match (phrase.spec.terms.is_empty(), phrase.spec.open.is_empty()) {
            (_, true) => "idf: the sum over the words of the phrase",
            (true, _) => "idf: 1, as every word of the phrase is a pattern",
            (false, _) => "idf: the sum over the words of the phrase that are no patterns",
        };
        let idf = Explanation::leaf(phrase.idf, of_words.into());
        let weight = weight(phrase.weight, phrase.boost, idf, scoring.bm25.k1);
        let what = format!("{}, weight × part", phrase.spec.to_query(&self.name_of(scoring.field)));
        Ok(Some(Explanation { value, what, parts: vec![weight, part(found, scoring)] }))
    }

    fn explain_combined(&mut self, at: usize, value: f32) -> Result<Option<Explanation>> {
        let doc = self.doc;
        let word = &self.ranked.combined[at];
        let Some(found) = word.sum(self.combined[at].of_fields(doc))? else { return Ok(None) };
        let of_fields = self.combined[at].of_fields(doc).collect::<Result<Vec<_>>>()?;
        let (frequencies, lengths): (Vec<u32>, Vec<u32>) = of_fields.into_iter().unzip();
        let names = |field| self.name_of(field);
        let n_docs = counted(word.n_docs, "document");
        let idf = Explanation::leaf(
            word.idf(),
            format!("{IDF}, in n = {} of N = {n_docs}, each the most of any field", word.df),
        );
        let weight = weight(word.weight, word.boost, idf, word.bm25.k1);
        let what = format!(
            "{PART}, frequency {} = {}, b {}, length {} = {}, average {}",
            found.frequency,
            word.spelled(&frequencies, names),
            word.bm25.b,
            found.length,
            word.spelled(&lengths, names),
            word.bm25.average
        );
        let part = Explanation::leaf(word.part(&found), what);
        let what = format!("{}, weight × part", word.label(names));
        Ok(Some(Explanation { value, what, parts: vec![weight, part] }))
    }

    fn name_of(&self, field: FieldId) -> String {
        let schema = self.ranked.segments.first().map(|segment| segment.schema());
        schema.map_or_else(String::new, |schema| schema.get(field).name.to_string())
    }
}

impl Scores for SegmentScorer<'_, '_> {
    fn term(&mut self, nth: usize) -> Result<Option<f32>> {
        let found = self.found_term(nth)?;
        Ok(found.map(|found| self.ranked.terms[nth].weight * found.part))
    }

    fn phrase(&mut self, nth: usize) -> Result<Option<f32>> {
        let found = self.found_phrase(nth)?;
        Ok(found.map(|found| self.ranked.phrases[nth].weight * found.part))
    }

    fn combined(&mut self, nth: usize) -> Result<Option<f32>> {
        let word = &self.ranked.combined[nth];
        let found = word.sum(self.combined[nth].of_fields(self.doc))?;
        Ok(found.map(|found| word.weight * word.part(&found)))
    }

    fn nearest(&mut self, nth: usize) -> Option<f32> {
        self.neighbors[nth].score(self.doc)
    }

    fn is_in(&mut self, set: usize) -> bool {
        let of_segment = self.ranked.sets.get(set).and_then(|matches| matches.get(self.segment));
        match of_segment.map(|set| &**set) {
            Some(DocIdSet::Some(windows)) => windows.contains(self.doc),
            // The set that is the whole query is not kept: its documents come from there.
            Some(DocIdSet::Everything) | None => true,
        }
    }
}

/// The weight of a clause, of its three factors.
fn weight(value: f32, boost: f32, idf: Explanation, k1: f32) -> Explanation {
    let k1 = Explanation::leaf(k1 + 1.0, format!("k1 + 1, with k1 = {k1}"));
    let parts = vec![Explanation::leaf(boost, "boost".into()), idf, k1];
    Explanation { value, what: "weight: boost × idf × (k1 + 1)".into(), parts }
}

/// Explains the part of a frequency with a length.
fn part(found: FoundTerm, scoring: &FieldScoring) -> Explanation {
    let what = format!(
        "{PART}, frequency {}, b {}, length {}, average {}",
        found.frequency,
        scoring.bm25.b,
        lengths::length_of(found.length_code),
        scoring.bm25.average
    );
    Explanation::leaf(found.part, what)
}

/// Explanation of a score: a tree of numbers. If the parts say so, they add up or multiply to the
/// value exactly, in `f32` and in this order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// The number.
    pub value: f32,
    /// Description of the number.
    pub what: String,
    /// Parts that the number is computed from, in order.
    pub parts: Vec<Explanation>,
}

impl Explanation {
    fn leaf(value: f32, what: String) -> Self {
        Explanation { value, what, parts: vec![] }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut todo = vec![(self, 0)];
        while let Some((this, depth)) = todo.pop() {
            writeln!(f, "{:indent$}{} {}", "", this.value, this.what, indent = 2 * depth)?;
            todo.extend(this.parts.iter().rev().map(|part| (part, depth + 1)));
        }
        Ok(())
    }
}
