//! Looking documents of a short list up in a long one.

use super::{Containers, Directory, RankedContainer, RankedLong};
use crate::bitmap::Container;
use crate::bytes::{Bytes, Source};
use crate::error::Result;
use crate::simd::arrays::gallop;

/// Finds ascending documents in a long list.
#[derive(Debug)]
pub(crate) struct Walk<'a, 's, S> {
    list: &'a RankedLong<'s, S>,
    containers: Containers<'a, 's, S>,
    /// The container at hand, and what is read of it.
    at: Option<(RankedContainer, Option<(Bytes<'s>, Directory<'s>)>)>,
    /// The place in an array behind all values that are less than the one before.
    place: usize,
}

impl<'s, S: Source<'s>> RankedLong<'s, S> {
    /// Finds documents that are asked for in ascending order.
    pub(crate) fn walk(&self) -> Walk<'_, 's, S> {
        let mut containers = self.containers();
        let at = containers.next().map(|first| (first, None));
        Walk { list: self, containers, at, place: 0 }
    }
}

impl<'s, S: Source<'s>> Walk<'_, 's, S> {
    /// The rank of `doc`, if the list has it.
    pub(crate) fn rank(&mut self, doc: u32) -> Result<Option<u32>> {
        let key = doc >> 16;
        while let Some((container, _)) = &self.at
            && u32::from(container.key) < key
        {
            self.at = self.containers.next().map(|next| (next, None));
            self.place = 0;
        }
        let Some((container, read)) = &mut self.at else { return Ok(None) };
        if u32::from(container.key) != key {
            return Ok(None);
        }
        let (bytes, directory) = match read {
            Some(read) => read,
            None => {
                let payload = self.list.list().payload(container.nth)?;
                read.insert((payload, self.list.directory(container)?))
            }
        };
        let low = doc as u16;
        let rank = match self.list.list().container(container.nth, bytes)? {
            Container::Array(values) => {
                // The document before is mostly nearer than the entry, where a segment has few documents.
                self.place = gallop(values, self.place.max(directory.entry_of(low)), low);
                let found = values.get(self.place).is_some_and(|at| *at == low.to_le_bytes());
                found.then_some(self.place as u32)
            }
            others => directory.find(others, low),
        };
        Ok(rank.map(|rank| container.first_rank + rank))
    }
}
