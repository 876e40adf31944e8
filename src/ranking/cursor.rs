//! Cursor over the postings of one term, with the part that it adds to the score of a document.

use crate::bytes::Bytes;
use crate::error::Result;
use crate::format::lengths::{Lengths, score_part};
use crate::format::ranked::{Directory, RankedContainer, RankedList, RankedLong};
use crate::segment::file::Section;

/// Finds a term in documents that are asked for in ascending order; other orders are as right and slower.
#[derive(Debug)]
pub(crate) struct TermCursor<'s> {
    list: RankedList<'s, Section<'s>>,
    lengths: Lengths<Section<'s>>,
    /// Of a long list.
    containers: Vec<RankedContainer>,
    window: Option<Window<'s>>,
}

/// The container at hand.
#[derive(Debug)]
struct Window<'s> {
    key: u32,
    /// None where the list has no document there.
    found: Option<(RankedContainer, Bytes<'s>, Directory<'s>)>,
}

/// A term in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundTerm {
    pub(crate) frequency: u32,
    pub(crate) length_code: u8,
    pub(crate) part: f32,
}

impl<'s> TermCursor<'s> {
    pub(crate) fn new(list: RankedList<'s, Section<'s>>, lengths: Lengths<Section<'s>>) -> Self {
        let containers = match &list {
            RankedList::Short(_) => vec![],
            RankedList::Long(list) => list.containers().collect(),
        };
        TermCursor { list, lengths, containers, window: None }
    }

    /// What the term gives `doc`, if it is there.
    pub(crate) fn part(&mut self, doc: u32, k_by_code: &[f32; 256]) -> Result<Option<FoundTerm>> {
        let Some(frequency) = self.frequency(doc)? else { return Ok(None) };
        let length_code = self.lengths.code(doc)?;
        let part = score_part(frequency, k_by_code[usize::from(length_code)]);
        Ok(Some(FoundTerm { frequency, length_code, part }))
    }

    /// How often the term is in `doc`, if it is there.
    pub(crate) fn frequency(&mut self, doc: u32) -> Result<Option<u32>> {
        Ok(match &self.list {
            RankedList::Short(list) => {
                let at = list.docs().binary_search(&doc).ok();
                at.map(|at| list.frequencies()[at])
            }
            RankedList::Long(list) => {
                let key = doc >> 16;
                if self.window.as_ref().is_none_or(|window| window.key != key) {
                    self.window = Some(open(list, &self.containers, key)?);
                }
                match self.window.as_ref().and_then(|window| window.found.as_ref()) {
                    None => None,
                    Some((container, bytes, directory)) => {
                        let values = list.list().container(container.nth, bytes)?;
                        match directory.find(values, doc as u16) {
                            None => None,
                            Some(rank) => {
                                Some(list.frequencies().get(container.first_rank + rank)?)
                            }
                        }
                    }
                }
            }
        })
    }
}

fn open<'s>(
    list: &RankedLong<'s, Section<'s>>,
    containers: &[RankedContainer],
    key: u32,
) -> Result<Window<'s>> {
    let at = containers.binary_search_by_key(&key, |container| u32::from(container.key)).ok();
    let found = match at {
        None => None,
        Some(at) => {
            let container = containers[at];
            Some((container, list.list().payload(container.nth)?, list.directory(&container)?))
        }
    };
    Ok(Window { key, found })
}
