//! The terms of one field in several segments as one ascending list.

use crate::error::Result;
use crate::format::terms::{TermInfo, TermStream};
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;

/// A term in one of the fields that are merged: the field's place, and what its dictionary says.
pub(super) type Occurrence = (usize, TermInfo);

/// Walks over the terms; each comes once, with the fields that have it.
#[derive(Debug)]
pub(super) struct MergedTerms<'s> {
    streams: Vec<TermStream<'s, Section<'s>>>,
    /// The next term of each stream; without information where the stream has ended. A stream
    /// alone needs none: its terms are lent where they lie.
    heads: Vec<(Vec<u8>, Option<TermInfo>)>,
    occurrences: Vec<Occurrence>,
}

impl<'s> MergedTerms<'s> {
    pub(super) fn open(fields: impl Iterator<Item = FieldReader<'s>>) -> Result<Self> {
        let streams = fields.map(|field| Ok(field.terms()?.iter())).collect::<Result<Vec<_>>>()?;
        let mut merged = MergedTerms { streams, heads: vec![], occurrences: vec![] };
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
        let waiting = self.heads.iter().filter(|(_, info)| info.is_some());
        let Some((least, _)) = waiting.min_by(|(a, _), (b, _)| a.cmp(b)) else { return Ok(None) };
        for (at, (head, info)) in self.heads.iter().enumerate() {
            if let Some(info) = info
                && head == least
            {
                self.occurrences.push((at, *info));
            }
        }
        Ok(Some((least, &self.occurrences)))
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
