//! A query ready to be scored over one snapshot.

use super::Clause;
use super::bm25::{FieldScoring, idf};
use super::combined::RankedCombined;
use super::node::Node;
use super::patterns::ScoredPattern;
use super::pruned::PhraseClause;
use super::pruned::tree::{OpenTree, Tree, TreePhrase};
use super::statistics::Sources;
use crate::error::Result;
use crate::execution::{MatchSet, Matches};
use crate::format::ranked::RankedList;
use crate::format::terms::TermInfo;
use crate::function::BoundScoreFunction;
use crate::ids::{FieldId, SegmentId};
use crate::phrase::{PhraseReader, RarePhrase};
use crate::plan::Shape;
use crate::query::{Logical, Normal, PhraseSpec, Proximity};
use crate::recycle::{FreeLists, recycled};
use crate::segment::reader::SegmentReader;
use crate::term::Term;
use smallvec::SmallVec;
use std::sync::Arc;

/// Documents of a segment for one of a word that filters: with fewer of them its documents are looked up in the other lists.
const DOCS_FOR_FILTER: u64 = 64;

/// How the documents of a snapshot are scored: terms looked up, weights computed, sets found.
#[derive(Debug)]
pub(crate) struct Ranked<'s> {
    pub(super) segments: Vec<SegmentReader<'s>>,
    pub(super) fields: Vec<Arc<FieldScoring>>,
    pub(super) terms: Vec<RankedTerm>,
    /// By term and segment what the dictionary says; none where a segment has no document.
    infos: Vec<Option<TermInfo>>,
    pub(super) phrases: Vec<RankedPhrase>,
    /// Words in several fields that are taken for one.
    pub(super) combined: Vec<Arc<RankedCombined>>,
    /// What matches each constant part, by segment.
    pub(super) sets: Vec<Vec<Arc<MatchSet>>>,
    /// The patterns that are scored by their best terms.
    pub(super) patterns: Vec<ScoredPattern>,
    /// The same for each segment by itself, where each is to be scored by its own statistics.
    by_segment: Vec<Ranked<'s>>,
    /// What changes the scores that all this makes, in this order.
    pub(super) functions: Vec<BoundScoreFunction>,
    pub(super) root: Node,
    free: FreeLists<Node>,
}

/// The memory of a ranking that is over, for the next one.
#[derive(Debug, Default)]
pub(crate) struct RankedScratch {
    segments: Vec<SegmentReader<'static>>,
    fields: Vec<Arc<FieldScoring>>,
    terms: Vec<RankedTerm>,
    infos: Vec<Option<TermInfo>>,
    nodes: FreeLists<Node>,
}

#[derive(Debug)]
pub(super) struct RankedTerm {
    /// Index into `fields`.
    pub(super) field: usize,
    pub(super) term: Term,
    pub(super) df: u64,
    pub(super) boost: f32,
    pub(super) weight: f32,
    /// Index into `infos` of what the first segment says of it.
    infos: usize,
    /// Whether it counts as rare as another, of which it is a spelling.
    pub(super) is_spelling: bool,
}

#[derive(Debug)]
pub(super) struct RankedPhrase {
    /// Index into `fields`.
    pub(super) field: usize,
    pub(super) spec: Arc<PhraseSpec>,
    pub(super) boost: f32,
    /// The sum of its words'.
    pub(super) idf: f32,
    pub(super) weight: f32,
    /// By segment, what the dictionary says of each of its terms.
    pub(super) infos: Vec<Vec<Option<TermInfo>>>,
}

/// What of a query is wanted where all that matches scores the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    /// That score: what matches is known otherwise, and no part need be found by itself.
    AsNeeded,
    /// What each part adds to it.
    Each,
}

impl<'s> Ranked<'s> {
    /// Looks up what `scored` needs. `matches` finds the documents of a constant part.
    pub(crate) fn new(
        scored: &Logical,
        segments: impl Iterator<Item = SegmentReader<'s>>,
        sources: &Sources<'_>,
        parts: Parts,
        scratch: RankedScratch,
        mut matches: impl FnMut(&Normal) -> Result<Matches>,
    ) -> Result<Self> {
        let RankedScratch { segments: memory, fields, terms, infos, nodes: free } = scratch;
        let mut in_order = recycled(memory);
        in_order.extend(segments);
        let mut ranked = Ranked {
            segments: in_order,
            fields,
            terms,
            infos,
            phrases: vec![],
            combined: vec![],
            sets: vec![],
            patterns: vec![],
            by_segment: vec![],
            functions: vec![],
            root: Node::NOTHING,
            free,
        };
        // The whole query is a set that its caller knows already.
        ranked.root = match scored {
            Logical::Constant { score, matching } => {
                let label = ranked.label(matching);
                Node::Set { set: usize::MAX, score: *score, label }
            }
            Logical::Phrase { field, phrase, boost } => {
                ranked.phrase(*field, phrase, *boost, sources)?
            }
            other => {
                // Found only when it is known that they are needed.
                let mut constant = vec![];
                let mut later = |normal: &Normal| {
                    constant.push(normal.clone());
                    Ok(vec![])
                };
                let root = ranked.node(other, sources, &mut later)?;
                match root.constant().filter(|_| parts == Parts::AsNeeded) {
                    Some(score) => {
                        ranked.sets.clear();
                        Node::Set { set: usize::MAX, score, label: root.label_of_sets() }
                    }
                    None => {
                        for (set, normal) in ranked.sets.iter_mut().zip(&constant) {
                            *set = matches(normal)?.into_iter().map(Arc::new).collect();
                        }
                        root
                    }
                }
            }
        };
        Ok(ranked)
    }

    fn node(
        &mut self,
        scored: &Logical,
        sources: &Sources<'_>,
        matches: &mut impl FnMut(&Normal) -> Result<Matches>,
    ) -> Result<Node> {
        let mut nodes = |this: &mut Self, parts: &[Logical], are_scored| -> Result<Vec<Node>> {
            if parts.is_empty() {
                return Ok(vec![]);
            }
            let (infos, n_segments) = (this.look_up_all(parts, sources)?, this.segments.len());
            let mut nodes = this.free.take();
            for (nth, part) in parts.iter().enumerate() {
                nodes.push(match part {
                    Logical::Term { field, term, boost } => {
                        let infos = infos + nth * n_segments;
                        this.term(*field, term, *boost, infos, sources, matches)?
                    }
                    // A word that only filters: its list says where it is, and no set of all its documents is needed.
                    Logical::Constant { matching: matching @ Normal::Term { .. }, score }
                        if *score == 0.0 && are_scored =>
                    {
                        this.unscored(matching, sources, matches)?
                    }
                    other => this.node(other, sources, matches)?,
                });
            }
            Ok(nodes)
        };
        Ok(match scored {
            Logical::Term { field, term, boost } => {
                let infos = self.look_up(*field, term, sources)?;
                self.term(*field, term, *boost, infos, sources, matches)?
            }
            Logical::Phrase { field, phrase, boost } => {
                let node = self.phrase(*field, phrase, *boost, sources)?;
                if phrase.terms.is_empty() {
                    // No list of a word leads to it, so its documents are found beforehand.
                    let normal = Normal::Phrase { field: *field, phrase: Arc::clone(phrase) };
                    let must = vec![self.set(&normal, 0.0, matches)?, node];
                    return Ok(Node::Sum { must, should: vec![], must_not: vec![], minimum: 0 });
                }
                node
            }
            Logical::Combined { fields, boost } => self.combined(fields, *boost, sources)?,
            Logical::BestTerms { field, terms, n, boost } => {
                self.best_terms(*field, terms, *n, *boost, sources, matches)?
            }
            Logical::Constant { matching, score } => self.set(matching, *score, matches)?,
            Logical::Sum { must, should, must_not, minimum } => {
                let are_scored = !(are_constant(must) && are_constant(should));
                let must = nodes(self, must, are_scored)?;
                let should = nodes(self, should, are_scored)?;
                let must_not = self.all_unscored(must_not, sources, matches)?;
                Node::Sum { must, should, must_not, minimum: *minimum }
            }
            Logical::Max { any, tie } => Node::Max { any: nodes(self, any, false)?, tie: *tie },
        })
    }

    /// Documents that must match, or must not, whatever they score: words are looked up where that is needed, all else is found
    /// beforehand.
    fn unscored(
        &mut self,
        normal: &Normal,
        sources: &Sources<'_>,
        matches: &mut impl FnMut(&Normal) -> Result<Matches>,
    ) -> Result<Node> {
        match normal {
            Normal::Term { field, term } => {
                let infos = self.look_up(*field, term, sources)?;
                self.term(*field, term, 0.0, infos, sources, matches)
            }
            Normal::Phrase { phrase, .. } if phrase.terms.is_empty() => {
                self.set(normal, 0.0, matches)
            }
            Normal::Phrase { field, phrase } => self.phrase(*field, phrase, 0.0, sources),
            Normal::And { all, none } => Ok(Node::Sum {
                must: self.all_unscored(all, sources, matches)?,
                should: vec![],
                must_not: self.all_unscored(none, sources, matches)?,
                minimum: 0,
            }),
            Normal::Or(any) => Ok(Node::Sum {
                must: vec![],
                should: self.all_unscored(any, sources, matches)?,
                must_not: vec![],
                minimum: 1,
            }),
            Normal::AtLeast { minimum, any } => Ok(Node::Sum {
                must: vec![],
                should: self.all_unscored(any, sources, matches)?,
                must_not: vec![],
                minimum: *minimum,
            }),
            Normal::All | Normal::Nothing { .. } | Normal::Expand { .. } | Normal::Exists(_) => {
                self.set(normal, 0.0, matches)
            }
        }
    }

    fn all_unscored(
        &mut self,
        normals: &[Normal],
        sources: &Sources<'_>,
        matches: &mut impl FnMut(&Normal) -> Result<Matches>,
    ) -> Result<Vec<Node>> {
        if normals.is_empty() {
            return Ok(vec![]);
        }
        let mut nodes = self.free.take();
        for normal in normals {
            nodes.push(self.unscored(normal, sources, matches)?);
        }
        Ok(nodes)
    }

    pub(super) fn set(
        &mut self,
        matching: &Normal,
        score: f32,
        matches: &mut impl FnMut(&Normal) -> Result<Matches>,
    ) -> Result<Node> {
        self.sets.push(matches(matching)?.into_iter().map(Arc::new).collect());
        Ok(Node::Set { set: self.sets.len() - 1, score, label: self.label(matching) })
    }

    pub(super) fn label(&self, matching: &Normal) -> String {
        let schema = self.segments.first().map(|segment| segment.schema());
        schema.map_or_else(String::new, |schema| matching.display(schema).to_string())
    }

    /// What the dictionaries say of a term, by segment.
    pub(super) fn look_up_each(
        &self,
        field: FieldId,
        term: &[u8],
        sources: &Sources<'_>,
    ) -> Result<Vec<Option<TermInfo>>> {
        let of_segment = |segment: &SegmentReader<'s>| sources.look_ups.get(*segment, field, term);
        self.segments.iter().map(of_segment).collect()
    }

    /// Looks a term up and keeps what is said of it; the place of what the first segment says.
    fn look_up(&mut self, field: FieldId, term: &[u8], sources: &Sources<'_>) -> Result<usize> {
        let start = self.infos.len();
        for segment in &self.segments {
            self.infos.push(sources.look_ups.get(*segment, field, term)?);
        }
        Ok(start)
    }

    /// Entries of a term in the dictionaries of all segments.
    pub(super) fn infos_of(&self, term: &RankedTerm) -> &[Option<TermInfo>] {
        &self.infos[term.infos..term.infos + self.segments.len()]
    }

    /// Looks up each part that is a term, all of a field together, so that they wait for memory together;
    /// their postings are asked for early. The place of what is said of the first part, of which there is one for every part.
    fn look_up_all(&mut self, parts: &[Logical], sources: &Sources<'_>) -> Result<usize> {
        let (start, n_segments) = (self.infos.len(), self.segments.len());
        self.infos.resize(start + parts.len() * n_segments, None);
        let term_of = |part: &Logical| match part {
            Logical::Term { field, .. } => Some(*field),
            _ => None,
        };
        for (nth, field) in parts.iter().map(term_of).enumerate() {
            let Some(field) = field else { continue };
            if parts[..nth].iter().any(|part| term_of(part) == Some(field)) {
                continue;
            }
            let of_field = || {
                parts.iter().enumerate().filter_map(move |(at, part)| match part {
                    Logical::Term { field: other, term, .. } if *other == field => {
                        Some((at, &term[..]))
                    }
                    _ => None,
                })
            };
            for (nth_segment, segment) in self.segments.iter().enumerate() {
                let reader = segment.field(field);
                let mut places = of_field().map(|(at, _)| at);
                let terms = of_field().map(|(_, term)| term);
                sources.look_ups.get_all(*segment, field, terms, |info| {
                    if let Some(info) = &info {
                        reader.prefetch_postings(info)?;
                    }
                    if let Some(at) = places.next() {
                        self.infos[start + at * n_segments + nth_segment] = info;
                    }
                    Ok(())
                })?;
            }
        }
        Ok(start)
    }

    fn term(
        &mut self,
        field: FieldId,
        term: &[u8],
        boost: f32,
        infos: usize,
        sources: &Sources<'_>,
        matches: &mut impl FnMut(&Normal) -> Result<Matches>,
    ) -> Result<Node> {
        let own = &self.infos[infos..infos + self.segments.len()];
        let here = own.iter().flatten().map(|info| u64::from(info.df)).sum();
        let df = sources.statistics.document_frequency(field, term, here)?;
        self.term_as_rare_as(df, field, term, boost, infos, sources, matches)
    }

    /// A term that counts as if it were in `df` documents; `infos` is the place of what the first segment says.
    #[expect(clippy::too_many_arguments, reason = "what a term is, and what finds out the rest")]
    pub(super) fn term_as_rare_as(
        &mut self,
        df: u64,
        field: FieldId,
        term: &[u8],
        boost: f32,
        infos: usize,
        sources: &Sources<'_>,
        matches: &mut impl FnMut(&Normal) -> Result<Matches>,
    ) -> Result<Node> {
        let place = self.place_of(field, sources)?;
        let keeps_frequencies = self
            .segments
            .first()
            .is_none_or(|segment| segment.field(field).detail().has_frequencies());
        if !keeps_frequencies {
            // Once in a document of one word: nothing but rarity tells such documents apart.
            let score = boost * idf(self.fields[place].n_docs, df);
            return self.set(&Normal::Term { field, term: term.into() }, score, matches);
        }
        let weight = self.fields[place].weight(df, boost);
        let (term, is_spelling) = (Term::from_slice(term), false);
        self.terms.push(RankedTerm { field: place, term, df, boost, weight, infos, is_spelling });
        Ok(Node::Term(self.terms.len() - 1))
    }

    fn phrase(
        &mut self,
        field: FieldId,
        spec: &Arc<PhraseSpec>,
        boost: f32,
        sources: &Sources<'_>,
    ) -> Result<Node> {
        let place = self.place_of(field, sources)?;
        let mut infos = Vec::with_capacity(self.segments.len());
        let mut df = vec![0; spec.terms.len()];
        for segment in &self.segments {
            let mut of_segment = Vec::with_capacity(spec.terms.len());
            let mut sums = df.iter_mut();
            let terms = spec.terms.iter().map(|term| &term[..]);
            sources.look_ups.get_all(*segment, field, terms, |info| {
                if let (Some(info), Some(df)) = (&info, sums.next()) {
                    segment.field(field).prefetch_postings(info)?;
                    *df += u64::from(info.df);
                }
                of_segment.push(info);
                Ok(())
            })?;
            infos.push(of_segment);
        }
        for (df, term) in df.iter_mut().zip(&spec.terms) {
            *df = sources.statistics.document_frequency(field, term, *df)?;
        }
        let scoring = &self.fields[place];
        // A word that stands for many terms says nothing of how rare the phrase is, unless all do.
        let words = spec.words.iter().filter_map(|word| df.get(word.term as usize));
        let idf = words.fold(0.0, |sum, df| sum + idf(scoring.n_docs, *df));
        let idf = if spec.terms.is_empty() { 1.0 } else { idf };
        let weight = boost * idf * (scoring.bm25.k1 + 1.0);
        let spec = Arc::clone(spec);
        self.phrases.push(RankedPhrase { field: place, spec, boost, idf, weight, infos });
        Ok(Node::Phrase(self.phrases.len() - 1))
    }

    /// The field among those that are scored.
    pub(super) fn place_of(&mut self, field: FieldId, sources: &Sources<'_>) -> Result<usize> {
        if let Some(place) = self.fields.iter().position(|scoring| scoring.field == field) {
            return Ok(place);
        }
        self.fields.push(sources.statistics.field(field)?);
        Ok(self.fields.len() - 1)
    }

    /// How the query is scored in one segment, if it is a phrase that documents there may have; and its words,
    /// unless all of its documents were `found` already, because one of them is rare.
    pub(crate) fn phrase_clause(
        &self,
        segment: usize,
        found: &mut RarePhrase,
    ) -> Result<Option<(PhraseClause<'s>, Option<PhraseReader<'s>>)>> {
        let Node::Phrase(at) = self.root else { return Ok(None) };
        let RankedPhrase { field, spec, weight, infos, .. } = &self.phrases[at];
        let (infos, scoring) = (&infos[segment], &self.fields[*field]);
        let reader = self.segments[segment].field(scoring.field);
        let words = match found.find(reader, infos, spec)? {
            true if found.matches().len() == 0 => None,
            true => Some(None),
            false => PhraseReader::open(reader, infos, spec)?.map(Some),
        };
        let Some(words) = words else { return Ok(None) };
        let clause = |lengths| {
            (PhraseClause { weight: *weight, lengths, scoring: Arc::clone(scoring) }, words)
        };
        Ok(reader.lengths()?.map(clause))
    }

    /// The same with its words open, also where one of them is rare.
    pub(crate) fn open_phrase(
        &self,
        segment: usize,
    ) -> Result<Option<(PhraseClause<'s>, PhraseReader<'s>)>> {
        let Node::Phrase(at) = self.root else { return Ok(None) };
        let RankedPhrase { field, spec, weight, infos, .. } = &self.phrases[at];
        let scoring = &self.fields[*field];
        let reader = self.segments[segment].field(scoring.field);
        let words = PhraseReader::open(reader, &infos[segment], spec)?;
        let clause = |(words, lengths)| {
            (PhraseClause { weight: *weight, lengths, scoring: Arc::clone(scoring) }, words)
        };
        Ok(words.zip(reader.lengths()?).map(clause))
    }

    /// How the score of a document is made.
    pub(crate) fn root(&self) -> &Node {
        &self.root
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
                    (true, false) if *minimum == 1 && are_terms(should) => Shape::AnyOf,
                    (false, true) if are_terms(must) => Shape::AllOf,
                    _ => Shape::Tree,
                }
            }
            _ => Shape::Tree,
        }
    }

    /// Changes every score by these functions.
    pub(crate) fn with_functions(mut self, functions: Vec<BoundScoreFunction>) -> Self {
        for own in &mut self.by_segment {
            own.functions.clone_from(&functions);
        }
        self.functions = functions;
        self
    }

    /// What changes scores. There are no bounds of it.
    pub(crate) fn functions(&self) -> &[BoundScoreFunction] {
        &self.functions
    }

    /// The score of every document, where all have the same.
    pub(crate) fn constant(&self) -> Option<f32> {
        if !self.functions.is_empty() {
            return None;
        }
        let score = self.root.constant()?;
        let is_same = |own: &Ranked<'_>| own.constant() == Some(score);
        self.by_segment.iter().all(is_same).then_some(score)
    }

    /// Scores each segment as `by_segment` does, one for each, in place of this.
    pub(crate) fn with_own_statistics(mut self, by_segment: Vec<Ranked<'s>>) -> Self {
        self.by_segment = by_segment;
        self
    }

    /// What scores a segment, and the number of the segment there.
    pub(crate) fn of_segment(&self, segment: usize) -> (&Ranked<'s>, usize) {
        match self.by_segment.get(segment) {
            Some(own) => (own, 0),
            None => (self, segment),
        }
    }

    /// Those that score segments: itself, or one for each.
    pub(crate) fn parts(&self) -> &[Ranked<'s>] {
        match &self.by_segment[..] {
            [] => std::slice::from_ref(self),
            parts => parts,
        }
    }

    /// The terms of a query that is nothing else, in one segment, in the order of the query; those without
    /// documents there are left out. `clauses` is memory to use, and so are `numbers` for short lists.
    pub(crate) fn clauses(
        &self,
        segment: usize,
        mut clauses: Vec<Clause<'s>>,
        numbers: &mut FreeLists<u32>,
    ) -> Result<Vec<Clause<'s>>> {
        clauses.clear();
        clauses.reserve(self.terms.len());
        for term in &self.terms {
            clauses.extend(self.clause(term, segment, numbers)?);
        }
        Ok(clauses)
    }

    /// A term in one segment; `None` where it has no document there.
    fn clause(
        &self,
        term: &RankedTerm,
        segment: usize,
        numbers: &mut FreeLists<u32>,
    ) -> Result<Option<Clause<'s>>> {
        let Some(info) = &self.infos_of(term)[segment] else { return Ok(None) };
        let scoring = &self.fields[term.field];
        let reader = self.segments[segment].field(scoring.field);
        let list = reader.ranked_in(info, numbers)?;
        let (weight, lengths) = (term.weight, reader.lengths()?);
        Ok(lengths.map(|lengths| Clause { list, weight, lengths, scoring: Arc::clone(scoring) }))
    }

    /// Terms of which one must match, and terms that only filter, where the query is nothing else.
    fn filtered(&self) -> Option<(&[Node], SmallVec<[usize; 4]>)> {
        let Node::Sum { must, should, must_not, minimum } = &self.root else { return None };
        let (filters, any) = match (should.is_empty(), minimum) {
            (false, 1) => (&must[..], &should[..]),
            (true, 0) => {
                let at = must.iter().position(|part| !matches!(part, Node::Term(_)))?;
                let Node::Sum { must: inner, should: any, must_not: not, minimum: 1 } = &must[at]
                else {
                    return None;
                };
                if !inner.is_empty() || !not.is_empty() {
                    return None;
                }
                // The only one that is no word.
                let others = must[..at].iter().chain(&must[at + 1..]);
                return self.filters(others).zip(self.are_terms(any)).map(|(f, any)| (any, f));
            }
            _ => return None,
        };
        if !must_not.is_empty() || filters.is_empty() {
            return None;
        }
        self.filters(filters.iter()).zip(self.are_terms(any)).map(|(filters, any)| (any, filters))
    }

    /// Nodes that are all terms.
    fn are_terms<'n>(&self, nodes: &'n [Node]) -> Option<&'n [Node]> {
        nodes.iter().all(|node| matches!(node, Node::Term(_))).then_some(nodes)
    }

    /// Terms, if none of them adds to a score.
    fn filters<'n>(&self, nodes: impl Iterator<Item = &'n Node>) -> Option<SmallVec<[usize; 4]>> {
        let filter = |node: &Node| match node {
            Node::Term(nth) if self.terms[*nth].weight == 0.0 => Some(*nth),
            _ => None,
        };
        nodes.map(filter).collect()
    }

    /// The terms of which one must match, in one segment, behind them those that only filter, and where these begin; `None` where the
    /// query is anything else, or its filter is in so few documents that looking them up costs less.
    pub(crate) fn filtered_clauses(
        &self,
        segment: usize,
        mut clauses: Vec<Clause<'s>>,
        numbers: &mut FreeLists<u32>,
    ) -> Result<(Vec<Clause<'s>>, Option<usize>)> {
        let Some((any, filters)) = self.filtered() else { return Ok((clauses, None)) };
        let n_docs = u64::from(self.segments[segment].n_docs());
        let df = |nth: &usize| {
            self.infos_of(&self.terms[*nth])[segment].map_or(0, |info| u64::from(info.df))
        };
        let is_frequent = |nth: &usize| df(nth).saturating_mul(DOCS_FOR_FILTER) >= n_docs;
        if filters.is_empty() || !filters.iter().all(is_frequent) {
            return Ok((clauses, None));
        }
        clauses.clear();
        for node in any {
            if let Node::Term(nth) = node {
                clauses.extend(self.clause(&self.terms[*nth], segment, numbers)?);
            }
        }
        let first_filter = clauses.len();
        for nth in &filters {
            clauses.extend(self.clause(&self.terms[*nth], segment, numbers)?);
        }
        let is_long = |clause: &Clause<'_>| matches!(clause.list, RankedList::Long(_));
        let (scored, filters_here) = clauses.split_at(first_filter);
        let is_so = scored.iter().any(is_long)
            && filters_here.len() == filters.len()
            && filters_here.iter().all(is_long);
        Ok((clauses, is_so.then_some(first_filter)))
    }

    /// A query of any shape in one segment, whose first document has the number `base`. `clauses` and `numbers` are memory to use.
    pub(crate) fn tree(
        &self,
        segment: usize,
        base: u64,
        clauses: Vec<Clause<'s>>,
        numbers: FreeLists<u32>,
    ) -> Result<OpenTree<'s>> {
        let mut tree = Tree {
            clauses,
            numbers,
            terms: SmallVec::with_capacity(self.terms.len()),
            phrases: Vec::with_capacity(self.phrases.len()),
            combined: Vec::with_capacity(self.combined.len()),
            sets: Vec::with_capacity(self.sets.len()),
            n_docs: self.segments[segment].n_docs(),
            base,
        };
        for term in &self.terms {
            let scoring = &self.fields[term.field];
            let reader = self.segments[segment].field(scoring.field);
            let clause = match &self.infos_of(term)[segment] {
                Some(info) => tree.add(reader, info, term.weight, Arc::clone(scoring))?,
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
                tree.add(reader, info, phrase.weight, Arc::clone(scoring))?;
            }
            let is_exact = phrase.spec.proximity == Proximity::Exact;
            let (words_of, weight) = (start..tree.clauses.len(), phrase.weight);
            tree.phrases.push(Some(TreePhrase {
                words: words_of,
                is_exact,
                weight,
                lengths,
                scoring: Arc::clone(scoring),
            }));
            readers.push(Some(words));
        }
        for word in &self.combined {
            let combined = word.in_tree(&self.segments[segment], segment, &mut tree)?;
            tree.combined.push(combined);
        }
        let in_segment = |set: &Vec<Arc<MatchSet>>| match set.get(segment) {
            Some(own) => Arc::clone(own),
            None => Arc::new(MatchSet::Everything),
        };
        tree.sets.extend(self.sets.iter().map(in_segment));
        Ok(OpenTree::new(&self.root, tree, readers))
    }

    /// Calls `visit` with each term that was looked up by itself, and what each segment says of it.
    pub(crate) fn each_term(
        &self,
        mut visit: impl FnMut(SegmentId, FieldId, &[u8], Option<TermInfo>),
    ) {
        for term in &self.terms {
            let field = self.fields[term.field].field;
            for (segment, info) in self.segments.iter().zip(self.infos_of(term)) {
                visit(segment.id(), field, &term.term, *info);
            }
        }
    }

    /// Ends the ranking and keeps its memory.
    pub(crate) fn into_scratch(self) -> RankedScratch {
        let Ranked { segments, mut fields, mut terms, mut infos, root, mut free, .. } = self;
        fields.clear();
        terms.clear();
        infos.clear();
        root.give(&mut free);
        RankedScratch { segments: recycled(segments), fields, terms, infos, nodes: free }
    }

    /// Keeps what the segments say of a term that was looked up elsewhere; its place.
    pub(super) fn add_infos(&mut self, infos: Vec<Option<TermInfo>>) -> usize {
        self.infos.extend(infos);
        self.infos.len() - self.segments.len()
    }

    pub(crate) fn segments(&self) -> &[SegmentReader<'s>] {
        &self.segments
    }

    /// How many terms the query has.
    pub(crate) fn n_terms(&self) -> usize {
        self.terms.len()
    }

    /// How many lists score its documents, and how many documents these have together.
    pub(crate) fn lists(&self) -> (usize, u64) {
        let of_phrases = self.phrases.iter().flat_map(|phrase| phrase.infos.iter().flatten());
        let of_words = of_phrases.flatten().map(|info| u64::from(info.df)).sum::<u64>();
        let of_terms = self.terms.iter().map(|term| term.df).sum::<u64>();
        let n_words = self.phrases.iter().map(|phrase| phrase.spec.terms.len()).sum::<usize>();
        let of_fields = self.combined.iter().map(|word| word.lists());
        let combined = of_fields.fold((0, 0), |all, own| (all.0 + own.0, all.1 + own.1));
        (self.terms.len() + n_words + combined.0, of_terms + of_words + combined.1)
    }

    /// Whether a phrase is in no document more often than its rarest word, so that there are bounds of it.
    pub(crate) fn is_exact_phrase(&self) -> bool {
        let Node::Phrase(at) = self.root else { return false };
        self.phrases[at].spec.proximity == Proximity::Exact
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
            of(self.combined.len(), "word of several fields", "words of several fields"),
            of(self.sets.len(), "set", "sets"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match self.shape() {
            Shape::Tree => format!("{}, put together as in the query", parts.join(", ")),
            _ => parts.join(", "),
        }
    }
}

/// Whether each of some parts is a set whose documents score the same.
fn are_constant(parts: &[Logical]) -> bool {
    parts.iter().all(|part| matches!(part, Logical::Constant { .. }))
}
