//! Exact score of a document, summed posting by posting.

use super::bounds::CLAUSES_MAX;
use crate::error::{Error, Result};
use crate::format::lengths::{FieldNormReader, score_part};
use crate::format::ranked::{FrequencyReader, RankedList, RankedLong};
use crate::ranking::Clause;
use crate::recycle::{heap_bytes, recycled};
use crate::segment::file::Section;
use std::sync::Arc;

/// Frequencies that are packed together.
pub(super) const GROUP: u32 = 64;

/// Readers of the frequencies and the lengths of each clause. Documents come mostly in order, so that the data of one is
/// near the data of the one before, and at hand.
#[derive(Debug, Default)]
pub(super) struct Readers<'s> {
    by_clause: Vec<Reader<'s>>,
    /// Postings whose part of a score was computed.
    pub(super) n_postings: u64,
}

/// Readers over sections of a segment.
pub(super) type Frequencies<'s> = FrequencyReader<'s, Section<'s>>;
pub(super) type Norms<'s> = FieldNormReader<'s, Section<'s>>;

/// Readers of one clause, opened when they are needed.
#[derive(Debug, Default)]
struct Reader<'s> {
    frequencies: Option<Frequencies<'s>>,
    lengths: Option<Norms<'s>>,
}

heap_bytes!(Readers<'_> { by_clause });

impl<'s> Readers<'s> {
    /// None so far, with the memory of others.
    pub(super) fn new(memory: &mut Readers<'static>) -> Self {
        Readers { by_clause: recycled(std::mem::take(&mut memory.by_clause)), n_postings: 0 }
    }

    /// Keeps the memory for the next query.
    pub(super) fn recycle(mut self) -> Readers<'static> {
        self.by_clause.truncate(CLAUSES_MAX);
        self.by_clause.shrink_to(CLAUSES_MAX);
        Readers { by_clause: recycled(self.by_clause), n_postings: 0 }
    }

    #[inline]
    fn of(&mut self, clause: usize) -> &mut Reader<'s> {
        if clause >= self.by_clause.len() {
            self.by_clause.resize_with(clause + 1, Reader::default);
        }
        &mut self.by_clause[clause]
    }

    /// The frequency of the posting of a clause with this rank in its list.
    #[inline]
    pub(super) fn frequency(
        &mut self,
        clause: usize,
        list: &RankedLong<'s, Section<'s>>,
        rank: u32,
    ) -> Result<u32> {
        let reader = &mut self.of(clause).frequencies;
        reader.get_or_insert_with(|| list.frequencies().reader()).get(rank)
    }

    /// Both readers of a clause.
    #[inline]
    pub(super) fn both(
        &mut self,
        nth: usize,
        clause: &Clause<'s>,
        list: &RankedLong<'s, Section<'s>>,
    ) -> (&mut Frequencies<'s>, &mut Norms<'s>) {
        let Reader { frequencies, lengths } = self.of(nth);
        (
            frequencies.get_or_insert_with(|| list.frequencies().reader()),
            lengths.get_or_insert_with(|| clause.lengths.reader()),
        )
    }

    /// K of a document in the field of clause `nth`.
    #[inline]
    fn k(&mut self, clauses: &[Clause<'s>], nth: usize, doc: u32) -> Result<f32> {
        let clause = &clauses[nth];
        if doc >= clause.lengths.n_docs() {
            return Err(past_the_end());
        }
        let reader = self.of(nth).lengths.get_or_insert_with(|| clause.lengths.reader());
        Ok(clause.scoring.norm_cache[usize::from(reader.code(doc)?)])
    }

    /// The part of a score that a frequency in clause `nth` gives a document, without its weight and with it; `known` is K of the
    /// document in the field of a clause before.
    #[inline]
    pub(super) fn score(
        &mut self,
        clauses: &[Clause<'s>],
        nth: usize,
        (doc, frequency): (u32, u32),
        known: &mut Option<(usize, f32)>,
    ) -> Result<(f32, f32)> {
        self.n_postings += 1;
        let part = score_part(frequency, self.known_k(clauses, nth, doc, known)?);
        Ok((part, clauses[nth].weight * part))
    }

    /// K of a document in the field of clause `nth`, which may be known.
    #[inline]
    pub(super) fn known_k(
        &mut self,
        clauses: &[Clause<'s>],
        nth: usize,
        doc: u32,
        known: &mut Option<(usize, f32)>,
    ) -> Result<f32> {
        let k = match *known {
            Some((other, k)) if Arc::ptr_eq(&clauses[other].scoring, &clauses[nth].scoring) => k,
            _ => self.k(clauses, nth, doc)?,
        };
        *known = Some((nth, k));
        Ok(k)
    }
}

/// Adds up what a document scores, clause by clause.
#[derive(Debug)]
pub(super) struct Sum<'r, 's> {
    readers: &'r mut Readers<'s>,
    doc: u32,
    score: f32,
    /// K of the document in the field of this clause.
    k: Option<(usize, f32)>,
}

impl<'r, 's> Sum<'r, 's> {
    #[inline]
    pub(super) fn of(doc: u32, readers: &'r mut Readers<'s>) -> Self {
        Sum { readers, doc, score: 0.0, k: None }
    }

    /// Adds the posting of clause `nth` with this rank in its list.
    #[inline]
    pub(super) fn add_posting(
        &mut self,
        clauses: &[Clause<'s>],
        nth: usize,
        rank: u32,
    ) -> Result<()> {
        let frequency = match &clauses[nth].list {
            RankedList::Short(list) => list.frequencies()[rank as usize],
            RankedList::Long(list) => self.readers.frequency(nth, list, rank)?,
        };
        self.add_frequency(clauses, nth, frequency)
    }

    /// Adds what clause `nth` scores with this frequency.
    #[inline]
    pub(super) fn add_frequency(
        &mut self,
        clauses: &[Clause<'s>],
        nth: usize,
        frequency: u32,
    ) -> Result<()> {
        self.score += self.readers.score(clauses, nth, (self.doc, frequency), &mut self.k)?.1;
        Ok(())
    }

    /// The sum; 0 where nothing was added.
    #[inline]
    pub(super) fn score(&self) -> f32 {
        self.score
    }
}

#[cold]
pub(super) fn past_the_end() -> Error {
    Error::corrupt("scoring the documents of a term")
        .expected("documents of the segment")
        .found("one past its end")
}
