//! Queries open in one segment: lists of their terms, words of their phrases.

use super::Clause;
use super::pruned::PhraseClause;
use super::pruned::tree::{OpenTree, Tree, TreePhrase};
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::phrase::{PhraseReader, PhraseWorkspace};
use crate::plan::cost;
use crate::query::Proximity;
use crate::recycle::FreeLists;
use crate::segment::reader::FieldReader;
use crate::weight::node::Node;
use crate::weight::{PhraseWeight, TermWeight, Weight};
use smallvec::SmallVec;
use std::sync::Arc;

/// Numbers of a few terms.
type Numbers = SmallVec<[usize; 4]>;

impl<'s> Weight<'s> {
    /// Clause of the query in one segment, if it is a phrase that documents there may have. Its words come along,
    /// unless all of its documents were `found` already, because one of them is rare.
    pub(crate) fn phrase_clause(
        &self,
        segment: usize,
        PhraseWorkspace { rare, words: memory, .. }: &mut PhraseWorkspace,
    ) -> Result<Option<(PhraseClause<'s>, Option<PhraseReader<'s>>)>> {
        let Node::Phrase(at) = self.root else { return Ok(None) };
        let phrase = &self.phrases[at];
        let (field, infos) =
            (self.field_of(phrase, segment), self.infos_of_phrase(phrase, segment));
        let words = match rare.find(field, infos, &phrase.spec)? {
            true if rare.matches().len() == 0 => None,
            true => Some(None),
            false => PhraseReader::open_in(field, infos, &phrase.spec, memory)?.map(Some),
        };
        self.with_clause(phrase, words, segment)
    }

    /// A phrase in one segment, with its words open, also where one of them is rare; `None` where it is in no document.
    pub(super) fn open_words(
        &self,
        phrase: &PhraseWeight,
        segment: usize,
    ) -> Result<Option<(PhraseClause<'s>, PhraseReader<'s>)>> {
        let (field, infos) =
            (self.field_of(phrase, segment), self.infos_of_phrase(phrase, segment));
        let words = PhraseReader::open(field, infos, &phrase.spec)?;
        self.with_clause(phrase, words, segment)
    }

    fn field_of(&self, phrase: &PhraseWeight, segment: usize) -> FieldReader<'s> {
        self.segments[segment].field(self.fields[phrase.field].field)
    }

    fn with_clause<T>(
        &self,
        phrase: &PhraseWeight,
        words: Option<T>,
        segment: usize,
    ) -> Result<Option<(PhraseClause<'s>, T)>> {
        let Some(words) = words else { return Ok(None) };
        let (weight, scoring) = (phrase.weight, Arc::clone(&self.fields[phrase.field]));
        let lengths = self.field_of(phrase, segment).lengths()?;
        Ok(lengths.map(|lengths| (PhraseClause { list: (), weight, lengths, scoring }, words)))
    }

    /// Adds the terms of a query that is nothing else, in one segment, to `clauses`, in the order of the query; those without
    /// documents there are left out. `numbers` are memory to use for short lists.
    pub(crate) fn clauses(
        &self,
        segment: usize,
        clauses: &mut Vec<Clause<'s>>,
        numbers: &mut FreeLists<u32>,
    ) -> Result<()> {
        clauses.reserve(self.terms.len());
        self.terms.iter().try_for_each(|term| self.add_clause(term, segment, clauses, numbers))
    }

    /// Adds a term in one segment, unless it has no document there. Clauses are large, so that none is handed on.
    fn add_clause(
        &self,
        term: &TermWeight,
        segment: usize,
        clauses: &mut Vec<Clause<'s>>,
        numbers: &mut FreeLists<u32>,
    ) -> Result<()> {
        let Some(info) = &self.infos_of(term)[segment] else { return Ok(()) };
        let (weight, scoring) = (term.weight, Arc::clone(&self.fields[term.field]));
        let reader = self.segments[segment].field(scoring.field);
        let Some(lengths) = reader.lengths()? else { return Ok(()) };
        let list = reader.ranked_in(info, numbers)?;
        clauses.push(Clause { list, weight, lengths, scoring });
        Ok(())
    }

    /// Terms of which one must match, and terms that only filter, where the query is nothing else.
    fn filtered(&self) -> Option<(Numbers, Numbers)> {
        let Node::Sum { must, should, must_not, minimum } = &self.root else { return None };
        // Masks leave nothing out that another list has.
        if !must_not.is_empty() {
            return None;
        }
        let (any, filters) = match (should.is_empty(), minimum) {
            (false, 1) if !must.is_empty() => (should, self.filters(must.iter())),
            (true, 0) => {
                let at = must.iter().position(|part| part.term().is_none())?;
                let Node::Sum { must: inner, should: any, must_not: not, minimum: 1 } = &must[at]
                else {
                    return None;
                };
                if !inner.is_empty() || !not.is_empty() {
                    return None;
                }
                // The only one that is no word.
                (any, self.filters(must[..at].iter().chain(&must[at + 1..])))
            }
            _ => return None,
        };
        any.iter().map(Node::term).collect::<Option<_>>().zip(filters)
    }

    /// Terms, if none of them adds to a score.
    fn filters<'n>(&self, nodes: impl Iterator<Item = &'n Node>) -> Option<Numbers> {
        nodes.map(|node| node.term().filter(|nth| self.terms[*nth].weight == 0.0)).collect()
    }

    /// Numbers of those terms, if the lists that only filter mask the blocks of the others in a segment.
    fn masked(&self, segment: usize) -> Option<(Numbers, Numbers)> {
        let (any, filters) = self.filtered()?;
        let df = |nth: &usize| self.infos_of(&self.terms[*nth])[segment].map_or(0, |info| info.df);
        let (dfs, of_filters) = (any.iter().map(df), filters.iter().map(df));
        let n_docs = self.segments[segment].n_docs();
        cost::filters_pay_as_masks(dfs, of_filters, n_docs).then_some((any, filters))
    }

    /// Segments in which words that only filter mask blocks, if the query is such words and others of which one must match.
    pub(crate) fn segments_with_masks(&self) -> Option<usize> {
        self.of_segment(0).0.filtered()?;
        let has_masks = |nth: &usize| {
            let (own, nth) = self.of_segment(*nth);
            own.masked(nth).is_some()
        };
        Some((0..self.segments.len()).filter(has_masks).count())
    }

    /// The terms of which one must match, in one segment, behind them those that mask their blocks, and where these begin; `None`
    /// where the query is anything else, or looking the documents of its filter up costs less.
    pub(crate) fn filtered_clauses(
        &self,
        segment: usize,
        mut clauses: Vec<Clause<'s>>,
        numbers: &mut FreeLists<u32>,
    ) -> Result<(Vec<Clause<'s>>, Option<usize>)> {
        let Some((any, filters)) = self.masked(segment) else { return Ok((clauses, None)) };
        clauses.clear();
        for nth in any {
            self.add_clause(&self.terms[nth], segment, &mut clauses, numbers)?;
        }
        let first_filter = clauses.len();
        for nth in filters {
            self.add_clause(&self.terms[nth], segment, &mut clauses, numbers)?;
        }
        Ok((clauses, Some(first_filter)))
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
            neighbors: self.neighbors.iter().map(|scored| scored.in_segment(segment)).collect(),
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
            let Some((clause, words)) = self.open_words(phrase, segment)? else {
                tree.phrases.push(None);
                readers.push(None);
                continue;
            };
            let (reader, start) = (self.field_of(phrase, segment), tree.clauses.len());
            for info in self.infos_of_phrase(phrase, segment).iter().flatten() {
                tree.add(reader, info, clause.weight, Arc::clone(&clause.scoring))?;
            }
            let is_exact = phrase.spec.proximity == Proximity::Exact;
            let words_of = start..tree.clauses.len();
            tree.phrases.push(Some(TreePhrase { words: words_of, is_exact, clause }));
            readers.push(Some(words));
        }
        for word in &self.combined {
            let combined = word.in_tree(&self.segments[segment], segment, &mut tree)?;
            tree.combined.push(combined);
        }
        let everything = || Arc::new(DocIdSet::Everything);
        let in_segment = |set: &Vec<_>| set.get(segment).cloned().unwrap_or_else(everything);
        tree.sets.extend(self.sets.iter().map(in_segment));
        Ok(OpenTree::new(&self.root, tree, readers))
    }
}
