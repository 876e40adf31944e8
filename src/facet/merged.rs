//! The terms of one field in several segments as one list, ascending or descending.

use super::wanted::term_of;
use crate::error::Result;
use crate::expansion::{TermFilter, WantedTerms};
use crate::format::terms::{TermDictionary, TermInfo};
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;

/// Terms of one segment in their order, each with what is known of it there.
pub(super) trait Terms {
    type Info: Copy;

    fn next(&mut self) -> Result<Option<(&[u8], Self::Info)>>;
}

/// Terms of fields as a filter wants them, or all.
pub(super) type MergedTerms<'f, 's> = Merged<WantedTerms<'f, 's, Section<'s>>>;

/// A term in one of the lists that are merged: the list's place, and what is known of it there.
pub(super) type Occurrence<I = TermInfo> = (usize, I);
type MergedTerm<'m, I> = (&'m [u8], &'m [Occurrence<I>]);

/// Walks over the terms of several lists; each comes once, with the lists that have it.
pub(super) struct Merged<L: Terms> {
    lists: Vec<L>,
    is_descending: bool,
    /// The next term of each list; without information where the list has ended. A list
    /// alone needs none: its terms are lent where they lie.
    heads: Vec<(Vec<u8>, Option<L::Info>)>,
    occurrences: Vec<Occurrence<L::Info>>,
}

impl<L: Terms> Merged<L> {
    /// Merges lists that all ascend, or all descend.
    pub(super) fn open(
        lists: impl Iterator<Item = Result<L>>,
        is_descending: bool,
    ) -> Result<Self> {
        let lists = lists.collect::<Result<Vec<_>>>()?;
        let mut merged = Merged { lists, is_descending, heads: vec![], occurrences: vec![] };
        if merged.lists.len() > 1 {
            merged.heads.resize(merged.lists.len(), (vec![], None));
            for at in 0..merged.lists.len() {
                merged.refill(at)?;
            }
        }
        Ok(merged)
    }

    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<MergedTerm<'_, L::Info>>> {
        if self.lists.len() != 1 {
            return self.next_of_many();
        }
        let Some((term, info)) = self.lists[0].next()? else { return Ok(None) };
        self.occurrences.clear();
        self.occurrences.push((0, info));
        Ok(Some((term, &self.occurrences)))
    }

    fn next_of_many(&mut self) -> Result<Option<MergedTerm<'_, L::Info>>> {
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
        *known = self.lists[at].next()?.map(|(term, info)| {
            head.clear();
            head.extend_from_slice(term);
            info
        });
        Ok(())
    }
}

impl<'f, 's> MergedTerms<'f, 's> {
    pub(super) fn of_fields(
        fields: impl Iterator<Item = FieldReader<'s>>,
        filter: Option<&'f TermFilter>,
        is_descending: bool,
    ) -> Result<Self> {
        let list =
            |field: FieldReader<'s>| WantedTerms::open(&field.terms()?, filter, is_descending);
        Self::open(fields.map(list), is_descending)
    }
}

impl<'s> Terms for WantedTerms<'_, 's, Section<'s>> {
    type Info = TermInfo;

    #[inline]
    fn next(&mut self) -> Result<Option<(&[u8], TermInfo)>> {
        Ok(self.next()?.map(|(term, _, info)| (term, info)))
    }
}

/// The terms of one dictionary that have been counted: ordinals, ascending, with their counts.
pub(super) struct CountedTerms<'s, I> {
    pub(super) terms: TermDictionary<Section<'s>>,
    pub(super) counts: I,
    pub(super) term: Vec<u8>,
}

impl<I: Iterator<Item = (u64, u32)>> Terms for CountedTerms<'_, I> {
    type Info = u32;

    fn next(&mut self) -> Result<Option<(&[u8], u32)>> {
        let Some((ordinal, count)) = self.counts.next() else { return Ok(None) };
        term_of(&self.terms, ordinal, &mut self.term)?;
        Ok(Some((&self.term, count)))
    }
}
