//! The positions of one word of a phrase in one document after the other.

use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::format::ranked::{Directory, RankedContainer, RankedList, RankedLong, RankedShort};
use crate::format::terms::TermInfo;
use crate::query::{PHRASE_PREFIX_LISTS_MAX, PHRASE_PREFIX_POSITIONS_MAX};
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;

/// Where one word, or one of many, stands in the documents of a segment.
pub(super) enum WordList<'s> {
    Short(Box<RankedShort<'s>>),
    Long(Box<LongWord<'s>>),
    Any(Box<AnyOf<'s>>),
}

/// A term of many documents, with the container at hand.
pub(super) struct LongWord<'s> {
    list: RankedLong<'s, Section<'s>>,
    containers: Vec<RankedContainer>,
    at_hand: Option<AtHand<'s>>,
}

struct AtHand<'s> {
    container: RankedContainer,
    payload: Bytes<'s>,
    directory: Directory<'s>,
}

/// Several terms, any of which will do.
pub(super) struct AnyOf<'s> {
    /// Documents and positions of those with short lists, ascending.
    gathered: Vec<(u32, u32)>,
    long: Vec<LongWord<'s>>,
    of_one: Vec<u32>,
}

impl<'s> WordList<'s> {
    /// Opens the list of one term.
    pub(super) fn open(field: FieldReader<'s>, info: &TermInfo) -> Result<Self> {
        Ok(match field.ranked(info)? {
            RankedList::Short(list) => WordList::Short(Box::new(list)),
            RankedList::Long(list) => WordList::Long(Box::new(LongWord::new(list))),
        })
    }

    /// Opens the lists of several terms, any of which will do.
    pub(super) fn any_of(field: FieldReader<'s>, infos: &[TermInfo]) -> Result<Self> {
        if let [info] = infos {
            return WordList::open(field, info);
        }
        let mut any = AnyOf { gathered: vec![], long: vec![], of_one: vec![] };
        for info in infos {
            match field.ranked(info)? {
                RankedList::Long(list) => any.long.push(LongWord::new(list)),
                RankedList::Short(list) => {
                    for (nth, doc) in list.docs().iter().enumerate() {
                        list.positions(nth, &mut any.of_one).ok_or_else(damaged)?;
                        any.gathered.extend(any.of_one.iter().map(|position| (*doc, *position)));
                    }
                }
            }
            if any.gathered.len() > PHRASE_PREFIX_POSITIONS_MAX {
                let what = format!(
                    "at most {PHRASE_PREFIX_POSITIONS_MAX} positions (limit PHRASE_PREFIX_POSITIONS_MAX)"
                );
                return Err(too_many(what));
            }
            if any.long.len() > PHRASE_PREFIX_LISTS_MAX {
                let what = format!(
                    "at most {PHRASE_PREFIX_LISTS_MAX} frequent terms (limit PHRASE_PREFIX_LISTS_MAX)"
                );
                return Err(too_many(what));
            }
        }
        any.gathered.sort_unstable();
        Ok(WordList::Any(Box::new(any)))
    }

    /// The rank of a document in the list. Of several terms it is not known until the positions are
    /// read whether one is there.
    pub(super) fn find(&mut self, doc: u32) -> Result<Option<u32>> {
        match self {
            WordList::Short(list) => Ok(list.docs().binary_search(&doc).ok().map(|nth| nth as u32)),
            WordList::Long(list) => list.find(doc),
            WordList::Any(_) => Ok(Some(0)),
        }
    }

    /// How often the word is in the document of this rank; of several terms, more often than any.
    pub(super) fn frequency(&self, rank: u32) -> Result<u32> {
        match self {
            WordList::Short(list) => {
                list.frequencies().get(rank as usize).copied().ok_or_else(damaged)
            }
            WordList::Long(list) => list.list.frequencies().get(rank),
            WordList::Any(_) => Ok(u32::MAX),
        }
    }

    /// Replaces `positions` by those in a document of this rank; how many bytes were read for it.
    pub(super) fn positions(
        &mut self,
        doc: u32,
        rank: u32,
        positions: &mut Vec<u32>,
    ) -> Result<usize> {
        match self {
            WordList::Short(list) => {
                list.positions(rank as usize, positions).ok_or_else(damaged)?;
                Ok(0)
            }
            WordList::Long(list) => list.positions(rank, positions),
            WordList::Any(any) => any.positions(doc, positions),
        }
    }
}

impl<'s> LongWord<'s> {
    fn new(list: RankedLong<'s, Section<'s>>) -> Self {
        LongWord { containers: list.containers().collect(), list, at_hand: None }
    }

    fn find(&mut self, doc: u32) -> Result<Option<u32>> {
        let Ok(key) = u16::try_from(doc >> 16) else { return Ok(None) };
        if self.at_hand.as_ref().is_none_or(|at_hand| at_hand.container.key != key) {
            let nth = self.containers.binary_search_by_key(&key, |container| container.key);
            let Some(container) = nth.ok().and_then(|nth| self.containers.get(nth)) else {
                return Ok(None);
            };
            self.at_hand = Some(AtHand {
                container: *container,
                payload: self.list.list().payload(container.nth)?,
                directory: self.list.directory(container)?,
            });
        }
        let Some(AtHand { container, payload, directory }) = &self.at_hand else {
            return Ok(None);
        };
        let documents = self.list.list().container(container.nth, payload)?;
        Ok(directory.find(documents, doc as u16).map(|rank| container.first_rank + rank))
    }

    fn positions(&self, rank: u32, positions: &mut Vec<u32>) -> Result<usize> {
        let of_list = self.list.positions().ok_or_else(damaged)?;
        of_list.get(self.list.frequencies(), rank, positions)
    }
}

impl AnyOf<'_> {
    fn positions(&mut self, doc: u32, positions: &mut Vec<u32>) -> Result<usize> {
        positions.clear();
        let first = self.gathered.partition_point(|(of, _)| *of < doc);
        let gathered = self.gathered[first..].iter().take_while(|(of, _)| *of == doc);
        positions.extend(gathered.map(|(_, position)| *position));
        let mut bytes = 0;
        for list in &mut self.long {
            if let Some(rank) = list.find(doc)? {
                bytes += list.positions(rank, &mut self.of_one)?;
                positions.extend_from_slice(&self.of_one);
            }
        }
        positions.sort_unstable();
        positions.dedup();
        Ok(bytes)
    }
}

#[cold]
fn damaged() -> Error {
    Error::corrupt("reading the positions of a term")
        .expected("positions in each of its documents")
        .found("other bytes")
}

#[cold]
fn too_many(expected: String) -> Error {
    Error::new(ErrorKind::LimitExceeded, "looking for the last word of a phrase")
        .expected(expected)
        .found("more")
        .hint("more of the word leaves fewer terms")
}
