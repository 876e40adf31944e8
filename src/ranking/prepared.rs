//! A query ready to be scored over one snapshot.

use super::Clause;
use super::bm25::{FieldScoring, idf};
use super::cursor::{FoundTerm, TermCursor};
use super::node::{Node, Scores};
use super::pruned::PhraseClause;
use super::pruned::tree::{Tree, TreePhrase};
use crate::error::Result;
use crate::execution::{MatchSet, Matches};
use crate::format::lengths::{self, Lengths, score_part};
use crate::format::terms::TermInfo;
use crate::ids::FieldId;
use crate::phrase::PhraseReader;
use crate::query::{Normal, PhraseSpec, Proximity, Scored};
use crate::segment::file::Section;
use crate::segment::reader::SegmentReader;
use std::fmt;
use std::sync::Arc;

/// How the documents of a snapshot are scored: terms looked up, weights computed, sets found.
#[derive(Debug)]
pub(crate) struct Ranked<'s> {
    segments: Vec<SegmentReader<'s>>,
    fields: Vec<Arc<FieldScoring>>,
    terms: Vec<RankedTerm>,
    phrases: Vec<RankedPhrase>,
    /// What matches each constant part, by segment.
    sets: Vec<Matches>,
    root: Node,
}

/// A [`Tree`] with what reads its phrases.
type SegmentTree<'s, 'f> = (Tree<'s, 'f>, Vec<Option<PhraseReader<'s>>>);

#[derive(Debug)]
struct RankedTerm {
    /// Index into `fields`.
    field: usize,
    term: Vec<u8>,
    df: u64,
    boost: f32,
    weight: f32,
    /// By segment; none where it has no document.
    infos: Vec<Option<TermInfo>>,
}

#[derive(Debug)]
struct RankedPhrase {
    /// Index into `fields`.
    field: usize,
    spec: Arc<PhraseSpec>,
    boost: f32,
    /// The sum of its words'.
    idf: f32,
    weight: f32,
    /// By segment, what the dictionary says of each of its terms.
    infos: Vec<Vec<Option<TermInfo>>>,
}

/// Queries whose best documents can be found without scoring all that match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Every document that matches has this score: any will do.
    Constant,
    /// Terms of which one must match.
    AnyOf,
    /// Terms that must all match.
    AllOf,
    /// A phrase.
    Phrase,
    /// Anything else.
    Tree,
}

impl<'s> Ranked<'s> {
    /// Looks up what `scored` needs. `matches` finds the documents of a constant part.
    pub(crate) fn new(
        scored: &Scored,
        segments: Vec<SegmentReader<'s>>,
        scoring: impl Fn(FieldId) -> Result<Arc<FieldScoring>>,
        mut matches: impl FnMut(&Normal) -> Result<Matches>,
    ) -> Result<Self> {
        let mut ranked = Ranked {
            segments,
            fields: vec![],
            terms: vec![],
            phrases: vec![],
            sets: vec![],
            root: Node::NOTHING,
        };
        // The whole query is a set that its caller knows already.
        ranked.root = match scored {
            Scored::Constant { score, matching } => {
                let label = ranked.label(matching);
                Node::Set { set: usize::MAX, score: *score, label }
            }
            other => ranked.node(other, &scoring, &mut matches)?,
        };
        Ok(ranked)
    }

    fn node(
        &mut self,
        scored: &Scored,
        scoring: &impl Fn(FieldId) -> Result<Arc<FieldScoring>>,
        matches: &mut impl FnMut(&Normal) -> Result<Matches>,
    ) -> Result<Node> {
        let mut nodes = |this: &mut Self, parts: &[Scored]| -> Result<Vec<Node>> {
            parts.iter().map(|part| this.node(part, scoring, matches)).collect()
        };
        Ok(match scored {
            Scored::Term { field, term, boost } => {
                self.term(*field, term, *boost, scoring, matches)?
            }
            Scored::Phrase { field, phrase, boost } => {
                self.phrase(*field, phrase, *boost, scoring)?
            }
            Scored::Constant { matching, score } => self.set(matching, *score, matches)?,
            Scored::Sum { must, should, must_not, minimum } => {
                let must = nodes(self, must)?;
                let should = nodes(self, should)?;
                let mut excluded = vec![];
                for normal in must_not {
                    excluded.push(self.excluded(normal, scoring, matches)?);
                }
                Node::Sum { must, should, must_not: excluded, minimum: *minimum }
            }
            Scored::Max { any, tie } => Node::Max { any: nodes(self, any)?, tie: *tie },
        })
    }

    /// What must not match: terms are looked up where that is needed, all else is found beforehand.
    fn excluded(
        &mut self,
        normal: &Normal,
        scoring: &impl Fn(FieldId) -> Result<Arc<FieldScoring>>,
        matches: &mut impl FnMut(&Normal) -> Result<Matches>,
    ) -> Result<Node> {
        match normal {
            Normal::Term { field, term } => self.term(*field, term, 0.0, scoring, matches),
            Normal::Or(any) => {
                let any = any.iter().map(|part| self.excluded(part, scoring, matches));
                let should = any.collect::<Result<_>>()?;
                Ok(Node::Sum { must: vec![], should, must_not: vec![], minimum: 1 })
            }
            other => self.set(other, 0.0, matches),
        }
    }

    fn set(
        &mut self,
        matching: &Normal,
        score: f32,
        matches: &mut impl FnMut(&Normal) -> Result<Matches>,
    ) -> Result<Node> {
        self.sets.push(matches(matching)?);
        Ok(Node::Set { set: self.sets.len() - 1, score, label: self.label(matching) })
    }

    fn label(&self, matching: &Normal) -> String {
        let schema = self.segments.first().map(|segment| segment.schema());
        schema.map_or_else(String::new, |schema| matching.display(schema).to_string())
    }

    fn term(
        &mut self,
        field: FieldId,
        term: &[u8],
        boost: f32,
        scoring: &impl Fn(FieldId) -> Result<Arc<FieldScoring>>,
        matches: &mut impl FnMut(&Normal) -> Result<Matches>,
    ) -> Result<Node> {
        let place = self.place_of(field, scoring)?;
        let mut infos = Vec::with_capacity(self.segments.len());
        for segment in &self.segments {
            infos.push(segment.field(field).terms()?.get(term)?);
        }
        let df = infos.iter().flatten().map(|info| u64::from(info.df)).sum();
        let keeps_frequencies = self
            .segments
            .first()
            .is_none_or(|segment| segment.field(field).detail().has_frequencies());
        if !keeps_frequencies {
            // Once in a document of one word: nothing but rarity tells such documents apart.
            let score = boost * idf(self.fields[place].n_docs, df);
            return self.set(&Normal::Term { field, term: term.to_vec() }, score, matches);
        }
        let weight = self.fields[place].weight(df, boost);
        self.terms.push(RankedTerm { field: place, term: term.to_vec(), df, boost, weight, infos });
        Ok(Node::Term(self.terms.len() - 1))
    }

    fn phrase(
        &mut self,
        field: FieldId,
        spec: &Arc<PhraseSpec>,
        boost: f32,
        scoring: &impl Fn(FieldId) -> Result<Arc<FieldScoring>>,
    ) -> Result<Node> {
        let place = self.place_of(field, scoring)?;
        let mut infos = Vec::with_capacity(self.segments.len());
        let mut df = vec![0; spec.terms.len()];
        for segment in &self.segments {
            let dictionary = segment.field(field).terms()?;
            let mut of_segment = Vec::with_capacity(spec.terms.len());
            for (term, df) in spec.terms.iter().zip(&mut df) {
                let info = dictionary.get(term)?;
                *df += info.map_or(0, |info| u64::from(info.df));
                of_segment.push(info);
            }
            infos.push(of_segment);
        }
        let scoring = &self.fields[place];
        let words = spec.words.iter().map(|word| idf(scoring.n_docs, df[word.term as usize]));
        let idf = words.fold(0.0, |sum, idf| sum + idf);
        let weight = boost * idf * (scoring.bm25.k1 + 1.0);
        let spec = Arc::clone(spec);
        self.phrases.push(RankedPhrase { field: place, spec, boost, idf, weight, infos });
        Ok(Node::Phrase(self.phrases.len() - 1))
    }

    /// The field among those that are scored.
    fn place_of(
        &mut self,
        field: FieldId,
        scoring: &impl Fn(FieldId) -> Result<Arc<FieldScoring>>,
    ) -> Result<usize> {
        if let Some(place) = self.fields.iter().position(|scoring| scoring.field == field) {
            return Ok(place);
        }
        self.fields.push(scoring(field)?);
        Ok(self.fields.len() - 1)
    }

    /// The query in one segment, if it is a phrase that documents there may have.
    pub(crate) fn phrase_clause(&self, segment: usize) -> Result<Option<PhraseClause<'s, '_>>> {
        let Node::Phrase(at) = self.root else { return Ok(None) };
        let RankedPhrase { field, spec, weight, infos, .. } = &self.phrases[at];
        let scoring = &self.fields[*field];
        let reader = self.segments[segment].field(scoring.field);
        let words = PhraseReader::open(reader, &infos[segment], spec)?;
        let clause = |(words, lengths)| PhraseClause { words, weight: *weight, lengths, scoring };
        Ok(words.zip(reader.lengths()?).map(clause))
    }

    /// How its best documents can be found.
    pub(crate) fn shape(&self) -> Shape {
        let are_terms = |nodes: &[Node]| nodes.iter().all(|node| matches!(node, Node::Term(_)));
        match &self.root {
            Node::Set { .. } => Shape::Constant,
            Node::Term(_) => Shape::AnyOf,
            Node::Phrase(_) => Shape::Phrase,
            Node::Sum { must, should, must_not, minimum } if must_not.is_empty() => {
                match (must.is_empty(), should.is_empty()) {
                    (true, false) if *minimum <= 1 && are_terms(should) => Shape::AnyOf,
                    (false, true) if are_terms(must) => Shape::AllOf,
                    _ => Shape::Tree,
                }
            }
            _ => Shape::Tree,
        }
    }

    /// The score of every document, where all have the same.
    pub(crate) fn constant(&self) -> Option<f32> {
        match &self.root {
            Node::Set { score, .. } => Some(*score),
            _ => None,
        }
    }

    /// The terms of a query that is nothing else, in one segment, in the order of the query; those without
    /// documents there are left out.
    pub(crate) fn clauses(&self, segment: usize) -> Result<Vec<Clause<'s, '_>>> {
        let mut clauses = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let Some(info) = &term.infos[segment] else { continue };
            let scoring = &self.fields[term.field];
            let reader = self.segments[segment].field(scoring.field);
            let list = reader.ranked(info)?;
            if let Some(lengths) = reader.lengths()? {
                clauses.push(Clause { list, weight: term.weight, lengths, scoring });
            }
        }
        Ok(clauses)
    }

    /// A query of any shape in one segment, whose first document has the number `base`, with what reads its
    /// phrases.
    pub(crate) fn tree(&self, segment: usize, base: u64) -> Result<SegmentTree<'s, '_>> {
        let mut tree = Tree {
            root: &self.root,
            clauses: Vec::with_capacity(self.terms.len()),
            terms: Vec::with_capacity(self.terms.len()),
            phrases: Vec::with_capacity(self.phrases.len()),
            sets: Vec::with_capacity(self.sets.len()),
            n_docs: self.segments[segment].n_docs(),
            base,
        };
        for term in &self.terms {
            let scoring = &self.fields[term.field];
            let reader = self.segments[segment].field(scoring.field);
            let clause = match &term.infos[segment] {
                Some(info) => tree.add(reader, info, term.weight, scoring)?,
                None => None,
            };
            tree.terms.push(clause);
        }
        let mut readers = Vec::with_capacity(self.phrases.len());
        for phrase in &self.phrases {
            let scoring = &self.fields[phrase.field];
            let reader = self.segments[segment].field(scoring.field);
            let words = PhraseReader::open(reader, &phrase.infos[segment], &phrase.spec)?;
            let Some((words, lengths)) = words.zip(reader.lengths()?) else {
                tree.phrases.push(None);
                readers.push(None);
                continue;
            };
            let start = tree.clauses.len();
            for info in phrase.infos[segment].iter().flatten() {
                tree.add(reader, info, phrase.weight, scoring)?;
            }
            let is_exact = phrase.spec.proximity == Proximity::Exact;
            let (words_of, weight) = (start..tree.clauses.len(), phrase.weight);
            tree.phrases.push(Some(TreePhrase {
                words: words_of,
                is_exact,
                weight,
                lengths,
                scoring,
            }));
            readers.push(Some(words));
        }
        tree.sets
            .extend(self.sets.iter().map(|set| set.get(segment).unwrap_or(&MatchSet::Everything)));
        Ok((tree, readers))
    }

    pub(crate) fn segments(&self) -> &[SegmentReader<'s>] {
        &self.segments
    }

    /// How many terms the query has.
    pub(crate) fn n_terms(&self) -> usize {
        self.terms.len()
    }

    /// What it is that there are bounds of, for people.
    pub(crate) fn what_has_bounds(&self) -> String {
        let of = |n: usize, one: &str, more: &str| match n {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {more}")),
        };
        let parts = [
            of(self.terms.len(), "term", "terms"),
            of(self.phrases.len(), "phrase", "phrases"),
            of(self.sets.len(), "set", "sets"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match self.shape() {
            Shape::Tree => format!("{}, put together as in the query", parts.join(", ")),
            _ => parts.join(", "),
        }
    }

    /// Gets ready to score documents of one segment.
    pub(crate) fn segment(&self, segment: usize) -> Result<SegmentScorer<'_, 's>> {
        let mut cursors = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            cursors.push(match &term.infos[segment] {
                None => None,
                Some(info) => {
                    let scoring = &self.fields[term.field];
                    let reader = self.segments[segment].field(scoring.field);
                    let lengths = reader.lengths()?;
                    lengths
                        .map(|lengths| {
                            Ok::<_, crate::error::Error>(TermCursor::new(
                                reader.ranked(info)?,
                                lengths,
                            ))
                        })
                        .transpose()?
                }
            });
        }
        let mut phrases = Vec::with_capacity(self.phrases.len());
        for phrase in &self.phrases {
            let reader = self.segments[segment].field(self.fields[phrase.field].field);
            let words = PhraseReader::open(reader, &phrase.infos[segment], &phrase.spec)?;
            phrases.push(words.zip(reader.lengths()?));
        }
        Ok(SegmentScorer { ranked: self, segment, cursors, phrases })
    }
}

/// Scores documents of one segment, in ascending order.
#[derive(Debug)]
pub(crate) struct SegmentScorer<'r, 's> {
    ranked: &'r Ranked<'s>,
    segment: usize,
    cursors: Vec<Option<TermCursor<'s>>>,
    phrases: Vec<Option<(PhraseReader<'s>, Lengths<Section<'s>>)>>,
}

impl SegmentScorer<'_, '_> {
    /// The score of a document; `None` where it does not match.
    pub(crate) fn score(&mut self, doc: u32) -> Result<Option<f32>> {
        let ranked = self.ranked;
        self.node(&ranked.root, doc)
    }

    fn node(&mut self, node: &Node, doc: u32) -> Result<Option<f32>> {
        node.score(&mut ScorerAt { scorer: self, doc })
    }

    fn phrase(&mut self, at: usize, doc: u32) -> Result<Option<FoundTerm>> {
        let Some((reader, lengths)) = &mut self.phrases[at] else { return Ok(None) };
        let frequency = reader.frequency(doc)?;
        if frequency == 0 {
            return Ok(None);
        }
        let length_code = lengths.code(doc)?;
        let k_by_code = &self.ranked.fields[self.ranked.phrases[at].field].k_by_code;
        let part = score_part(frequency, k_by_code[usize::from(length_code)]);
        Ok(Some(FoundTerm { frequency, length_code, part }))
    }

    fn is_in(&self, set: usize, doc: u32) -> bool {
        match self.ranked.sets.get(set).and_then(|matches| matches.get(self.segment)) {
            Some(MatchSet::Some(windows)) => windows.contains(doc),
            // The set that is the whole query is not kept: its documents come from there.
            Some(MatchSet::Everything) | None => true,
        }
    }

    /// How the score of a document comes about; `None` where it does not match.
    pub(crate) fn explain(&mut self, doc: u32) -> Result<Option<Explanation>> {
        let ranked = self.ranked;
        self.explain_node(&ranked.root, doc)
    }

    fn explain_node(&mut self, node: &Node, doc: u32) -> Result<Option<Explanation>> {
        let Some(value) = self.node(node, doc)? else { return Ok(None) };
        let (what, nodes) = match node {
            Node::Term(at) => return self.explain_term(*at, value, doc),
            Node::Phrase(at) => return self.explain_phrase(*at, value, doc),
            Node::Set { label, .. } => (format!("{label} matches"), vec![]),
            Node::Sum { must, should, .. } => {
                ("sum of".to_owned(), must.iter().chain(should).collect())
            }
            Node::Max { any, tie } => {
                (format!("best of, and {tie} times the others"), any.iter().collect::<Vec<_>>())
            }
        };
        let mut parts = vec![];
        for node in nodes {
            parts.extend(self.explain_node(node, doc)?);
        }
        Ok(Some(Explanation { value, what, parts }))
    }

    fn explain_term(&mut self, at: usize, value: f32, doc: u32) -> Result<Option<Explanation>> {
        let term = &self.ranked.terms[at];
        let scoring = &self.ranked.fields[term.field];
        let Some(cursor) = &mut self.cursors[at] else { return Ok(None) };
        let Some(found) = cursor.part(doc, &scoring.k_by_code)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&term.term);
        let idf = Explanation {
            value: idf(scoring.n_docs, term.df),
            what: format!(
                "idf: ln(1 + (N - n + 0.5) / (n + 0.5)), in n = {} of N = {} documents",
                term.df, scoring.n_docs
            ),
            parts: vec![],
        };
        let weight = weight(term.weight, term.boost, idf, scoring);
        let what = format!("{}:{text}, weight × part", self.name_of(scoring.field));
        Ok(Some(Explanation { value, what, parts: vec![weight, part(found, scoring)] }))
    }

    fn explain_phrase(&mut self, at: usize, value: f32, doc: u32) -> Result<Option<Explanation>> {
        let Some(found) = self.phrase(at, doc)? else { return Ok(None) };
        let phrase = &self.ranked.phrases[at];
        let scoring = &self.ranked.fields[phrase.field];
        let idf = Explanation {
            value: phrase.idf,
            what: "idf: the sum over the words of the phrase".into(),
            parts: vec![],
        };
        let weight = weight(phrase.weight, phrase.boost, idf, scoring);
        let what = format!("{}, weight × part", phrase.spec.to_query(&self.name_of(scoring.field)));
        Ok(Some(Explanation { value, what, parts: vec![weight, part(found, scoring)] }))
    }

    fn name_of(&self, field: FieldId) -> String {
        let schema = self.ranked.segments.first().map(|segment| segment.schema());
        schema.map_or_else(String::new, |schema| schema.get(field).name.to_string())
    }
}

/// One document to be scored.
struct ScorerAt<'a, 'r, 's> {
    scorer: &'a mut SegmentScorer<'r, 's>,
    doc: u32,
}

impl Scores for ScorerAt<'_, '_, '_> {
    fn term(&mut self, nth: usize) -> Result<Option<f32>> {
        let term = &self.scorer.ranked.terms[nth];
        let Some(cursor) = &mut self.scorer.cursors[nth] else { return Ok(None) };
        let part = cursor.part(self.doc, &self.scorer.ranked.fields[term.field].k_by_code)?;
        Ok(part.map(|found| term.weight * found.part))
    }

    fn phrase(&mut self, nth: usize) -> Result<Option<f32>> {
        let found = self.scorer.phrase(nth, self.doc)?;
        Ok(found.map(|found| self.scorer.ranked.phrases[nth].weight * found.part))
    }

    fn is_in(&mut self, set: usize) -> bool {
        self.scorer.is_in(set, self.doc)
    }
}

/// The weight of a clause, of its three factors.
fn weight(value: f32, boost: f32, idf: Explanation, scoring: &FieldScoring) -> Explanation {
    let leaf = |value: f32, what: String| Explanation { value, what, parts: vec![] };
    let k1 = scoring.bm25.k1;
    let parts =
        vec![leaf(boost, "boost".into()), idf, leaf(k1 + 1.0, format!("k1 + 1, with k1 = {k1}"))];
    Explanation { value, what: "weight: boost × idf × (k1 + 1)".into(), parts }
}

/// What a frequency makes with a length.
fn part(found: FoundTerm, scoring: &FieldScoring) -> Explanation {
    let what = format!(
        "frequency / (frequency + k1 × (1 - b + b × length / average)), frequency {}, b {}, length {}, average {}",
        found.frequency,
        scoring.bm25.b,
        lengths::length_of(found.length_code),
        scoring.bm25.average
    );
    Explanation { value: found.part, what, parts: vec![] }
}

/// How a score comes about: a tree of numbers. Where the parts say so, they add up or multiply to the
/// value exactly, in `f32` and in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The number.
    pub value: f32,
    /// What it is.
    pub what: String,
    /// What it is made of, in order.
    pub parts: Vec<Explanation>,
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
