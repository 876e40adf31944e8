//! Lists of a query in one segment, and which of them its parts are.

use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::format::lengths::FieldNorms;
use crate::format::terms::TermInfo;
use crate::ranking::Clause;
use crate::ranking::pruned::phrase::PhraseClause;
use crate::recycle::FreeLists;
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;
use crate::weight::bm25::FieldScoring;
use crate::weight::combined::CombinedWeight;
use crate::weight::neighbors::NeighborScores;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// A query in one segment.
#[derive(Debug)]
pub(crate) struct Tree<'s> {
    /// The lists of terms, of the words of phrases, and of words in each of several fields.
    pub(crate) clauses: Vec<Clause<'s>>,
    /// The clause of each term of the query; none where no document has it.
    pub(crate) terms: SmallVec<[Option<usize>; 8]>,
    /// The phrases of the query; none where a word is missing.
    pub(crate) phrases: Vec<Option<TreePhrase<'s>>>,
    /// The words of several fields.
    pub(crate) combined: Vec<TreeCombined<'s>>,
    /// Scores of neighbours of vectors.
    pub(crate) neighbors: Vec<NeighborScores>,
    /// Documents of each of the query's sets.
    pub(crate) sets: Vec<Arc<DocIdSet>>,
    /// Documents of the segment.
    pub(crate) n_docs: u32,
    /// The number of the first.
    pub(crate) base: u64,
    /// Memory for short lists.
    pub(crate) numbers: FreeLists<u32>,
}

/// A phrase in one segment.
#[derive(Debug)]
pub(crate) struct TreePhrase<'s> {
    /// The clauses of words that every match has.
    pub(crate) words: Range<usize>,
    /// Whether it matches no more often than any of its words.
    pub(crate) is_exact: bool,
    pub(crate) clause: PhraseClause<'s>,
}

/// A word of several fields in one segment.
#[derive(Debug)]
pub(crate) struct TreeCombined<'s> {
    /// Every match is in one of these, which add up to a bound of what it scores.
    pub(crate) clauses: Range<usize>,
    /// In the order of the query.
    pub(crate) fields: Vec<TreeField<'s>>,
    pub(crate) word: Arc<CombinedWeight>,
}

/// One of its fields.
#[derive(Debug)]
pub(crate) struct TreeField<'s> {
    /// None where no document has the word there.
    pub(crate) clause: Option<usize>,
    pub(crate) lengths: Option<FieldNorms<Section<'s>>>,
}

impl<'s> Tree<'s> {
    /// Adds a list; `None` where the field has no lengths, and so no documents, in the segment.
    pub(crate) fn add(
        &mut self,
        reader: FieldReader<'s>,
        info: &TermInfo,
        weight: f32,
        scoring: Arc<FieldScoring>,
    ) -> Result<Option<usize>> {
        let Some(lengths) = reader.lengths()? else { return Ok(None) };
        let list = reader.ranked_in(info, &mut self.numbers)?;
        self.clauses.push(Clause { list, weight, lengths, scoring });
        Ok(Some(self.clauses.len() - 1))
    }
}
