//! The terms that several dictionaries have, together.

use crate::error::Result;
use crate::format::terms::{TermInfo, TermStream};
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;

/// The terms of several dictionaries in one order, each once.
pub(super) struct MergedTerms<'s> {
    heads: Vec<Head<'s>>,
    term: Vec<u8>,
}

/// The next term of one dictionary.
struct Head<'s> {
    stream: TermStream<'s, Section<'s>>,
    term: Option<(Vec<u8>, TermInfo)>,
}

impl Head<'_> {
    fn advance(&mut self) -> Result<()> {
        self.term = self.stream.next()?.map(|(term, _, info)| (term.to_vec(), info));
        Ok(())
    }
}

impl<'s> MergedTerms<'s> {
    pub(super) fn open(fields: impl Iterator<Item = FieldReader<'s>>) -> Result<Self> {
        let head = |field: FieldReader<'s>| {
            let mut head = Head { stream: field.terms()?.iter(), term: None };
            head.advance()?;
            Ok(head)
        };
        Ok(MergedTerms { heads: fields.map(head).collect::<Result<_>>()?, term: vec![] })
    }

    /// The next term, after `visit` got each dictionary that has it, by its number.
    pub(super) fn next(
        &mut self,
        mut visit: impl FnMut(usize, &TermInfo) -> Result<()>,
    ) -> Result<Option<&[u8]>> {
        let heads = self.heads.iter().filter_map(|head| head.term.as_ref());
        let Some((least, _)) = heads.min_by_key(|(term, _)| term) else { return Ok(None) };
        self.term.clone_from(least);
        for (nth, head) in self.heads.iter_mut().enumerate() {
            let Some((_, info)) = head.term.as_ref().filter(|(term, _)| *term == self.term) else {
                continue;
            };
            visit(nth, info)?;
            head.advance()?;
        }
        Ok(Some(&self.term))
    }
}
