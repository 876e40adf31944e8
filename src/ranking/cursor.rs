//! Cursor over the postings of one term, with its parts of scores.

use crate::bytes::Bytes;
use crate::error::Result;
use crate::format::lengths::{FieldNorms, score_part};
use crate::format::ranked::{Directory, RankedContainer, RankedList};
use crate::format::terms::TermInfo;
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;

/// Finds a term in documents that are asked for in ascending order; other orders are as right and slower.
#[derive(Debug)]
pub(crate) struct TermCursor<'s> {
    list: RankedList<'s, Section<'s>>,
    lengths: FieldNorms<Section<'s>>,
    /// Containers of a long list.
    containers: Vec<RankedContainer>,
    /// The window at hand, and its container; none where the list has no document there.
    key: Option<u32>,
    container: Option<(RankedContainer, Bytes<'s>, Directory<'s>)>,
}

/// A term in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundTerm {
    pub(crate) frequency: u32,
    pub(crate) length_code: u8,
    pub(crate) part: f32,
}

impl<'s> TermCursor<'s> {
    /// A term in one segment, given what the dictionary says; `None` where no document has it.
    pub(crate) fn open(reader: FieldReader<'s>, info: Option<&TermInfo>) -> Result<Option<Self>> {
        let Some(info) = info else { return Ok(None) };
        let Some(lengths) = reader.lengths()? else { return Ok(None) };
        let list = reader.ranked(info)?;
        let containers = match &list {
            RankedList::Short(_) => vec![],
            RankedList::Long(list) => list.containers().collect(),
        };
        Ok(Some(TermCursor { list, lengths, containers, key: None, container: None }))
    }

    /// Score part of the term in `doc`, if it is there.
    pub(crate) fn part(&mut self, doc: u32, norm_cache: &[f32; 256]) -> Result<Option<FoundTerm>> {
        let Some(frequency) = self.frequency(doc)? else { return Ok(None) };
        let length_code = self.lengths.code(doc)?;
        let part = score_part(frequency, norm_cache[usize::from(length_code)]);
        Ok(Some(FoundTerm { frequency, length_code, part }))
    }

    /// Number of times that the term is in `doc`, if it is there.
    pub(crate) fn frequency(&mut self, doc: u32) -> Result<Option<u32>> {
        let list = match &self.list {
            RankedList::Long(list) => list,
            RankedList::Short(list) => {
                let at = list.docs().binary_search(&doc).ok();
                return Ok(at.map(|at| list.frequencies()[at]));
            }
        };
        let key = doc >> 16;
        if self.key != Some(key) {
            let at = self.containers.binary_search_by_key(&key, |it| u32::from(it.key));
            let open = |at: usize| {
                let container = self.containers[at];
                Ok((container, list.list().payload(container.nth)?, list.directory(&container)?))
            };
            (self.key, self.container) = (Some(key), at.ok().map(open).transpose()?);
        }
        let Some((container, bytes, directory)) = &self.container else { return Ok(None) };
        let rank = directory.find(list.list().container(container.nth, bytes)?, doc as u16);
        rank.map(|rank| list.frequencies().get(container.first_rank + rank)).transpose()
    }
}
