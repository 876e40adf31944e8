//! A query ready to be scored over one snapshot.

mod best_terms;
pub(crate) mod bm25;
pub(crate) mod combined;
mod combining;
mod found_neighbors;
pub(crate) mod neighbors;
pub(crate) mod node;
pub(crate) mod patterns;
pub(crate) mod statistics;

use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::format::terms::TermInfo;
use crate::function::BoundScoreFunction;
use crate::ids::{FieldId, SegmentId};
use crate::query::{Logical, Normal, PhraseSpec};
use crate::recycle::{FreeLists, emptied, recycled};
use crate::segment::reader::SegmentReader;
use crate::term::Term;
use bm25::{FieldScoring, idf};
use combined::CombinedWeight;
use neighbors::ScoredNeighbors;
use node::Node;
use patterns::ScoredPattern;
use smallvec::{SmallVec, smallvec};
use statistics::Sources;
use std::mem::{replace, take};
use std::slice::from_ref;
use std::sync::Arc;

/// Query compiled for scoring over a snapshot: terms looked up, weights computed, sets found.
#[derive(Debug)]
pub(crate) struct Weight<'s> {
    pub(crate) segments: Vec<SegmentReader<'s>>,
    pub(crate) fields: Vec<Arc<FieldScoring>>,
    pub(crate) terms: Vec<TermWeight>,
    /// By term and segment what the dictionary says; none where a segment has no document.
    pub(crate) infos: Vec<Option<TermInfo>>,
    pub(crate) phrases: Vec<PhraseWeight>,
    /// Words in several fields that are taken for one.
    pub(crate) combined: Vec<Arc<CombinedWeight>>,
    /// Constant parts whose documents are to be found.
    pub(crate) wanted: Vec<Normal>,
    /// Queries that all must match where every match scores the same.
    whole: Vec<Normal>,
    /// Matches of each constant part, by segment.
    pub(crate) sets: Vec<Vec<Arc<DocIdSet>>>,
    /// Documents of each, found or expected.
    pub(crate) docs_of_sets: Vec<u64>,
    /// Neighbours of vectors, each once.
    pub(crate) neighbors: Vec<ScoredNeighbors>,
    /// The patterns that are scored by their best terms.
    pub(crate) patterns: Vec<ScoredPattern>,
    /// Weights of each segment by itself, if each is to be scored by its own statistics.
    pub(crate) by_segment: Vec<Weight<'s>>,
    /// Functions that change the scores that all this makes, in this order.
    pub(crate) functions: Vec<BoundScoreFunction>,
    /// Tree that makes the score of a document.
    pub(crate) root: Node,
    free: FreeLists<Node>,
}

/// The memory of a ranking that is over, for the next one.
#[derive(Debug, Default)]
pub(crate) struct WeightScratch {
    segments: Vec<SegmentReader<'static>>,
    fields: Vec<Arc<FieldScoring>>,
    terms: Vec<TermWeight>,
    infos: Vec<Option<TermInfo>>,
    phrases: Vec<PhraseWeight>,
    nodes: FreeLists<Node>,
}

#[derive(Debug)]
pub(crate) struct TermWeight {
    /// Index into `fields`.
    pub(crate) field: usize,
    pub(crate) term: Term,
    pub(crate) df: u64,
    pub(crate) boost: f32,
    pub(crate) weight: f32,
    /// Index into `infos` of what the first segment says of it.
    infos: usize,
    /// Whether it counts as rare as another, of which it is a spelling.
    pub(crate) is_spelling: bool,
}

#[derive(Debug)]
pub(crate) struct PhraseWeight {
    /// Index into `fields`.
    pub(crate) field: usize,
    pub(crate) spec: Arc<PhraseSpec>,
    pub(crate) boost: f32,
    /// The sum of its words'.
    pub(crate) idf: f32,
    pub(crate) weight: f32,
    /// Index into `infos` of what the first segment says of its first term; its other terms come next, then other segments.
    infos: usize,
}

/// Detail of the scores that is wanted if all matches score the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScoreDetail {
    /// Score alone: what matches is known otherwise, and no part need be found by itself.
    AsNeeded,
    /// Score of each part.
    Each,
}

impl<'s> Weight<'s> {
    /// Looks up what `scored` needs, but for [sets](Self::wanted_sets) that are to be found.
    pub(crate) fn new(
        scored: &Logical,
        segments: impl Iterator<Item = SegmentReader<'s>>,
        sources: &Sources<'_>,
        detail: ScoreDetail,
        scratch: WeightScratch,
    ) -> Result<Self> {
        let WeightScratch { segments: memory, fields, terms, infos, phrases, nodes: free } =
            scratch;
        let mut in_order = recycled(memory);
        in_order.extend(segments);
        let mut ranked = Weight {
            segments: in_order,
            fields,
            terms,
            infos,
            phrases,
            combined: vec![],
            wanted: vec![],
            whole: vec![],
            sets: vec![],
            docs_of_sets: vec![],
            neighbors: vec![],
            patterns: vec![],
            by_segment: vec![],
            functions: vec![],
            root: Node::NOTHING,
            free,
        };
        // The whole query is a set that its caller knows already.
        ranked.root = match scored {
            Logical::Constant { score, matching } => {
                ranked.whole.push(matching.clone());
                Node::Set { set: usize::MAX, score: *score }
            }
            Logical::Phrase { field, phrase, boost } => {
                ranked.phrase(*field, phrase, *boost, sources)?
            }
            other => {
                let root = ranked.node(other, sources)?;
                match root.constant().filter(|_| detail == ScoreDetail::AsNeeded) {
                    Some(score) => {
                        let wanted = std::mem::take(&mut ranked.wanted);
                        root.each_set(&mut |set| ranked.whole.extend(wanted.get(set).cloned()));
                        Node::Set { set: usize::MAX, score }
                    }
                    None => root,
                }
            }
        };
        Ok(ranked)
    }

    /// Sets that it wants, which are to be [given](Self::give_sets).
    pub(crate) fn wanted_sets(&self) -> Vec<Normal> {
        let mut all: Vec<Normal> = vec![];
        for normal in [self].into_iter().chain(&self.by_segment).flat_map(Weight::wanted) {
            if !all.contains(normal) {
                all.push(normal.clone());
            }
        }
        all
    }

    /// Sets that are to be found; of neighbours there is more to be given.
    fn wanted(&self) -> impl Iterator<Item = &Normal> {
        let are_neighbors = |nth: usize| self.neighbors.iter().any(|it| it.set == nth);
        let sets = self.wanted.iter().enumerate();
        sets.filter(move |(nth, _)| !are_neighbors(*nth)).map(|(_, normal)| normal)
    }

    /// Sets the documents of sets that were [wanted](Self::wanted_sets), each by segment.
    pub(crate) fn give_sets(&mut self, wanted: &[Normal], found: &[Vec<Arc<DocIdSet>>]) {
        let of = |normal: &Normal| {
            wanted.iter().zip(found).find(|(it, _)| *it == normal).map_or(&[][..], |it| it.1)
        };
        self.sets = self.wanted.iter().map(|normal| of(normal).to_vec()).collect();
        let segments = &self.segments;
        let n_docs = |found: &[Arc<DocIdSet>]| {
            found.iter().zip(segments).map(|(set, segment)| set.len(segment.n_docs())).sum()
        };
        self.docs_of_sets = self.sets.iter().map(|found| n_docs(found)).collect();
        for (nth, own) in self.by_segment.iter_mut().enumerate() {
            let here = |normal| of(normal).get(nth).cloned().into_iter().collect();
            own.sets = own.wanted.iter().map(here).collect();
        }
    }

    /// Sets how many documents are expected of each set, where these are not to be given.
    pub(crate) fn expect_sets(&mut self, expected: impl Fn(&Normal) -> u64) {
        self.docs_of_sets = self.wanted.iter().map(expected).collect();
        self.expect_neighbors();
    }

    fn nodes(
        &mut self,
        parts: &[Logical],
        are_scored: bool,
        sources: &Sources<'_>,
    ) -> Result<Vec<Node>> {
        if parts.is_empty() {
            return Ok(vec![]);
        }
        let (infos, n_segments) = (self.look_up_all(parts, sources)?, self.segments.len());
        let mut nodes = self.free.take();
        for (nth, part) in parts.iter().enumerate() {
            nodes.push(match part {
                Logical::Term { field, term, boost } => {
                    self.term((*field, term), None, *boost, infos + nth * n_segments, sources)?
                }
                // A word that only filters: its list says where it is, and no set of all its documents is needed.
                Logical::Constant { matching: matching @ Normal::Term { .. }, score }
                    if *score == 0.0 && are_scored =>
                {
                    self.unscored(matching, sources)?
                }
                other => self.node(other, sources)?,
            });
        }
        Ok(nodes)
    }

    fn node(&mut self, scored: &Logical, sources: &Sources<'_>) -> Result<Node> {
        Ok(match scored {
            Logical::Term { field, term, boost } => {
                let infos = self.look_up(*field, term, sources)?;
                self.term((*field, term), None, *boost, infos, sources)?
            }
            Logical::Phrase { field, phrase, boost } => {
                let node = self.phrase(*field, phrase, *boost, sources)?;
                if phrase.terms.is_empty() {
                    // No list of a word leads to it, so its documents are found beforehand.
                    let normal = Normal::Phrase { field: *field, phrase: Arc::clone(phrase) };
                    let must = vec![self.set(&normal, 0.0), node];
                    return Ok(Node::Sum { must, should: vec![], must_not: vec![], minimum: 0 });
                }
                node
            }
            Logical::Combined { fields, boost } => self.combined(fields, *boost, sources)?,
            Logical::BestTerms { field, terms, n, boost } => {
                self.best_terms(*field, terms, *n, *boost, sources)?
            }
            Logical::Nearest { neighbors, boost } => self.neighbors_node(neighbors, *boost),
            Logical::Constant { matching, score } => self.set(matching, *score),
            Logical::Sum { must, should, must_not, minimum } => {
                let is_scored = |part: &Logical| !matches!(part, Logical::Constant { .. });
                let are_scored = must.iter().chain(should).any(is_scored);
                let must = self.nodes(must, are_scored, sources)?;
                let should = self.nodes(should, are_scored, sources)?;
                let must_not = self.all_unscored(must_not, sources)?;
                Node::Sum { must, should, must_not, minimum: *minimum }
            }
            Logical::Max { any, tie } => {
                Node::Max { any: self.nodes(any, false, sources)?, tie: *tie }
            }
        })
    }

    /// Documents that must match, or must not, whatever they score: words are looked up, all else is found beforehand.
    fn unscored(&mut self, normal: &Normal, sources: &Sources<'_>) -> Result<Node> {
        match normal {
            Normal::Term { field, term } => {
                let infos = self.look_up(*field, term, sources)?;
                self.term((*field, term), None, 0.0, infos, sources)
            }
            Normal::Phrase { phrase, .. } if phrase.terms.is_empty() => Ok(self.set(normal, 0.0)),
            Normal::Phrase { field, phrase } => self.phrase(*field, phrase, 0.0, sources),
            Normal::And { all, none } => Ok(Node::Sum {
                must: self.all_unscored(all, sources)?,
                should: vec![],
                must_not: self.all_unscored(none, sources)?,
                minimum: 0,
            }),
            Normal::Or(any) | Normal::AtLeast { any, .. } => {
                let minimum =
                    if let Normal::AtLeast { minimum, .. } = normal { *minimum } else { 1 };
                let should = self.all_unscored(any, sources)?;
                Ok(Node::Sum { must: vec![], should, must_not: vec![], minimum })
            }
            Normal::All
            | Normal::Nothing { .. }
            | Normal::Expand { .. }
            | Normal::Exists(_)
            | Normal::Nearest(_)
            | Normal::Area { .. } => Ok(self.set(normal, 0.0)),
        }
    }

    fn all_unscored(&mut self, normals: &[Normal], sources: &Sources<'_>) -> Result<Vec<Node>> {
        if normals.is_empty() {
            return Ok(vec![]);
        }
        let mut nodes = self.free.take();
        for normal in normals {
            nodes.push(self.unscored(normal, sources)?);
        }
        Ok(nodes)
    }

    /// Node of the set of `matching`, which is to be found.
    pub(crate) fn set(&mut self, matching: &Normal, score: f32) -> Node {
        self.wanted.push(matching.clone());
        Node::Set { set: self.wanted.len() - 1, score }
    }

    /// Queries whose documents a set has, as people write them.
    pub(crate) fn label_of_set(&self, set: usize) -> String {
        let queries = self.wanted.get(set).map_or(&self.whole[..], from_ref);
        queries.iter().map(|query| self.label(query)).collect::<Vec<_>>().join(" AND ")
    }

    pub(crate) fn label(&self, matching: &Normal) -> String {
        let schema = self.segments.first().map(|segment| segment.schema());
        schema.map_or_else(String::new, |schema| matching.display(schema).to_string())
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
    pub(crate) fn infos_of(&self, term: &TermWeight) -> &[Option<TermInfo>] {
        &self.infos[term.infos..term.infos + self.segments.len()]
    }

    /// Entries of the terms of a phrase in the dictionary of a segment.
    pub(crate) fn infos_of_phrase(
        &self,
        phrase: &PhraseWeight,
        segment: usize,
    ) -> &[Option<TermInfo>] {
        let n_terms = phrase.spec.terms.len();
        let start = phrase.infos + segment * n_terms;
        &self.infos[start..start + n_terms]
    }

    /// Looks up each part that is a term, all of a field together, so that they wait for memory together, and asks for their
    /// postings early. The place of what is said of the first part, of which there is one for every part.
    fn look_up_all(&mut self, parts: &[Logical], sources: &Sources<'_>) -> Result<usize> {
        let (start, n_segments) = (self.infos.len(), self.segments.len());
        self.infos.resize(start + parts.len() * n_segments, None);
        for (nth, part) in parts.iter().enumerate() {
            let Logical::Term { field, .. } = part else { continue };
            let of_field = || {
                parts.iter().enumerate().filter_map(|(at, part)| match part {
                    Logical::Term { field: other, term, .. } => {
                        (other == field).then_some((at, &term[..]))
                    }
                    _ => None,
                })
            };
            if of_field().next().is_some_and(|(first, _)| first < nth) {
                continue;
            }
            for (nth_segment, segment) in self.segments.iter().enumerate() {
                let reader = segment.field(*field);
                let mut places = of_field().map(|(at, _)| at);
                let terms = of_field().map(|(_, term)| term);
                sources.look_ups.get_all(*segment, *field, terms, |info| {
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

    /// A term that counts as if it were in `df` documents, or in those that have it by the `infos` that begin there.
    pub(crate) fn term(
        &mut self,
        (field, term): (FieldId, &[u8]),
        df: Option<u64>,
        boost: f32,
        infos: usize,
        sources: &Sources<'_>,
    ) -> Result<Node> {
        let own = &self.infos[infos..infos + self.segments.len()];
        let here = || own.iter().flatten().map(|info| u64::from(info.df)).sum();
        let df = match df {
            Some(df) => df,
            None => sources.statistics.document_frequency(field, term, here())?,
        };
        let place = self.place_of(field, sources)?;
        let keeps_frequencies = self
            .segments
            .first()
            .is_none_or(|segment| segment.field(field).detail().has_frequencies());
        if !keeps_frequencies {
            // Once in a document of one word: nothing but rarity tells such documents apart.
            let score = boost * idf(self.fields[place].n_docs, df);
            return Ok(self.set(&Normal::Term { field, term: term.into() }, score));
        }
        let weight = self.fields[place].weight(df, boost);
        let (term, is_spelling) = (Term::from_slice(term), false);
        self.terms.push(TermWeight { field: place, term, df, boost, weight, infos, is_spelling });
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
        let infos = self.infos.len();
        let mut df: SmallVec<[u64; 8]> = smallvec![0; spec.terms.len()];
        for segment in &self.segments {
            let mut sums = df.iter_mut();
            let terms = spec.terms.iter().map(|term| &term[..]);
            sources.look_ups.get_all(*segment, field, terms, |info| {
                if let (Some(info), Some(df)) = (&info, sums.next()) {
                    segment.field(field).prefetch_postings(info)?;
                    *df += u64::from(info.df);
                }
                self.infos.push(info);
                Ok(())
            })?;
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
        self.phrases.push(PhraseWeight { field: place, spec, boost, idf, weight, infos });
        Ok(Node::Phrase(self.phrases.len() - 1))
    }

    /// The field among those that are scored.
    pub(crate) fn place_of(&mut self, field: FieldId, sources: &Sources<'_>) -> Result<usize> {
        if let Some(place) = self.fields.iter().position(|scoring| scoring.field == field) {
            return Ok(place);
        }
        self.fields.push(sources.statistics.field(field)?);
        Ok(self.fields.len() - 1)
    }

    /// Changes every score by these functions.
    pub(crate) fn change_by(&mut self, functions: &Vec<BoundScoreFunction>) {
        self.by_segment.iter_mut().for_each(|own| own.functions.clone_from(functions));
        self.functions.clone_from(functions);
    }

    /// Functions that change scores. There are no bounds of it.
    pub(crate) fn functions(&self) -> &[BoundScoreFunction] {
        &self.functions
    }

    /// Scores each segment as `by_segment` does, one for each, in place of this.
    pub(crate) fn with_own_statistics(mut self, by_segment: Vec<Weight<'s>>) -> Self {
        self.by_segment = by_segment;
        self
    }

    /// Weight that scores a segment, and the number of the segment there.
    pub(crate) fn of_segment(&self, segment: usize) -> (&Weight<'s>, usize) {
        match self.by_segment.get(segment) {
            Some(own) => (own, 0),
            None => (self, segment),
        }
    }

    /// The segments, each with the number of its first document.
    pub(crate) fn bases(&self) -> impl Iterator<Item = (SegmentReader<'s>, u64)> {
        self.segments.iter().scan(0, |next, segment| {
            let base = *next;
            *next += u64::from(segment.n_docs());
            Some((*segment, base))
        })
    }

    /// The number of the first document of a segment.
    pub(crate) fn base(&self, segment: usize) -> u64 {
        self.segments[..segment].iter().map(|it| u64::from(it.n_docs())).sum()
    }

    /// Weights that score segments: itself, or one for each.
    pub(crate) fn parts(&self) -> &[Weight<'s>] {
        match &self.by_segment[..] {
            [] => from_ref(self),
            parts => parts,
        }
    }

    /// Calls `visit` with each term that is scored by its list, and what each segment says of it.
    pub(crate) fn each_term(
        &self,
        mut visit: impl FnMut(SegmentId, FieldId, &[u8], Option<TermInfo>),
    ) {
        let field = |place: usize| self.fields[place].field;
        let terms = self.terms.iter().map(|it| (field(it.field), from_ref(&it.term), it.infos));
        let phrases = self.phrases.iter().map(|it| (field(it.field), &it.spec.terms[..], it.infos));
        for (field, terms, infos) in terms.chain(phrases) {
            let of_segments = self.segments.iter();
            let asked = of_segments.flat_map(|it| terms.iter().map(move |term| (it, term)));
            for ((segment, term), info) in asked.zip(&self.infos[infos..]) {
                visit(segment.id(), field, term, *info);
            }
        }
    }

    /// Ends the ranking and keeps its memory.
    pub(crate) fn take_scratch(&mut self) -> WeightScratch {
        let Weight { segments, fields, terms, infos, phrases, root, free, .. } = self;
        let (segments, mut free) = (recycled(take(segments)), take(free));
        let (fields, terms) = (emptied(take(fields)), emptied(take(terms)));
        let (infos, phrases) = (emptied(take(infos)), emptied(take(phrases)));
        replace(root, Node::NOTHING).give(&mut free);
        WeightScratch { segments, fields, terms, infos, phrases, nodes: free }
    }
}
