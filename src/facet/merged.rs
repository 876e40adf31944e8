//! The terms of one field in several segments as one list, ascending or descending.

use crate::budget;
use crate::error::Result;
use crate::expansion::{TermFilter, WantedTerms};
use crate::format::terms::{TermDictionary, TermInfo};
use crate::ids::TermOrdinal;
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;

/// What reading a term by its number takes about, in nanoseconds.
pub(super) const TERM_NS: u64 = 150;

/// A term in one of the fields that are merged: the field's place, and what its dictionary says.
pub(super) type Occurrence = (usize, TermInfo);

/// Walks over the terms; each comes once, with the fields that have it.
#[derive(Debug)]
pub(super) struct MergedTerms<'f, 's> {
    streams: Vec<WantedTerms<'f, 's, Section<'s>>>,
    is_descending: bool,
    /// The next term of each stream; without information where the stream has ended. A stream
    /// alone needs none: its terms are lent where they lie.
    heads: Vec<(Vec<u8>, Option<TermInfo>)>,
    occurrences: Vec<Occurrence>,
}

impl<'f, 's> MergedTerms<'f, 's> {
    /// Such terms as a filter wants, or all.
    pub(super) fn open(
        fields: impl Iterator<Item = FieldReader<'s>>,
        filter: Option<&'f TermFilter>,
        is_descending: bool,
    ) -> Result<Self> {
        let stream =
            |field: FieldReader<'s>| WantedTerms::open(&field.terms()?, filter, is_descending);
        let streams = fields.map(stream).collect::<Result<Vec<_>>>()?;
        let mut merged = MergedTerms { streams, is_descending, heads: vec![], occurrences: vec![] };
        if merged.streams.len() > 1 {
            merged.heads.resize(merged.streams.len(), (vec![], None));
            for at in 0..merged.streams.len() {
                merged.refill(at)?;
            }
        }
        Ok(merged)
    }

    /// The next term, and where it is.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], &[Occurrence])>> {
        if self.streams.len() != 1 {
            return self.next_of_many();
        }
        let Some((term, _, info)) = self.streams[0].next()? else { return Ok(None) };
        self.occurrences.clear();
        self.occurrences.push((0, info));
        Ok(Some((term, &self.occurrences)))
    }

    fn next_of_many(&mut self) -> Result<Option<(&[u8], &[Occurrence])>> {
        for nth in 0..self.occurrences.len() {
            self.refill(self.occurrences[nth].0)?;
        }
        self.occurrences.clear();
        let waiting = self.heads.iter().filter(|(_, info)| info.is_some()).map(|(head, _)| head);
        let first = if self.is_descending { waiting.max() } else { waiting.min() };
        let Some(first) = first else { return Ok(None) };
        for (at, (head, info)) in self.heads.iter().enumerate() {
            if let Some(info) = info
                && head == first
            {
                self.occurrences.push((at, *info));
            }
        }
        Ok(Some((first, &self.occurrences)))
    }

    fn refill(&mut self, at: usize) -> Result<()> {
        let (head, known) = &mut self.heads[at];
        *known = match self.streams[at].next()? {
            Some((term, _, info)) => {
                head.clear();
                head.extend_from_slice(term);
                Some(info)
            }
            None => None,
        };
        Ok(())
    }
}

/// Walks over the terms of several dictionaries that have been counted; each comes once, with the sum of its counts.
pub(super) struct MergedCounts<'s, I> {
    parts: Vec<CountedTerms<'s, I>>,
    term: Vec<u8>,
}

/// The terms of one dictionary that have been counted.
struct CountedTerms<'s, I> {
    terms: TermDictionary<Section<'s>>,
    /// Ordinals, ascending, with their counts.
    counts: I,
    /// The next of them; without a count behind the last.
    head: Vec<u8>,
    count: Option<u32>,
}

impl<'s, I: Iterator<Item = (u64, u32)>> MergedCounts<'s, I> {
    pub(super) fn open(
        parts: impl Iterator<Item = (TermDictionary<Section<'s>>, I)>,
    ) -> Result<Self> {
        let part = |(terms, counts)| {
            let mut part = CountedTerms { terms, counts, head: vec![], count: None };
            part.advance()?;
            Ok(part)
        };
        Ok(MergedCounts { parts: parts.map(part).collect::<Result<_>>()?, term: vec![] })
    }

    /// The next term, and its count.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], u64)>> {
        let waiting = self.parts.iter().filter(|part| part.count.is_some());
        let Some(least) = waiting.map(|part| &part.head).min() else { return Ok(None) };
        self.term.clone_from(least);
        let mut sum = 0;
        for part in &mut self.parts {
            if let Some(count) = part.count
                && part.head == self.term
            {
                sum += u64::from(count);
                part.advance()?;
            }
        }
        Ok(Some((&self.term, sum)))
    }
}

impl<I: Iterator<Item = (u64, u32)>> CountedTerms<'_, I> {
    fn advance(&mut self) -> Result<()> {
        self.count = None;
        if let Some((ordinal, count)) = self.counts.next() {
            budget::work(TERM_NS)?;
            let ordinal = TermOrdinal(u32::try_from(ordinal).unwrap_or(u32::MAX));
            self.terms.term(ordinal, &mut self.head)?;
            self.count = Some(count);
        }
        Ok(())
    }
}
