//! Looking documents of a short list up in a long one.

use crate::bytes::Bytes;
use crate::error::Result;
use crate::format::ranked::{Directory, RankedContainer, RankedLong};
use crate::segment::file::Section;

/// Finds ascending documents in a long list.
pub(super) struct Walk<'a, 's, I> {
    list: &'a RankedLong<'s, Section<'s>>,
    containers: I,
    /// The container at hand, and what is read of it.
    at: Option<(RankedContainer, Option<(Bytes<'s>, Directory<'s>)>)>,
}

impl<'a, 's> Walk<'a, 's, ()> {
    pub(super) fn new(
        list: &'a RankedLong<'s, Section<'s>>,
    ) -> Walk<'a, 's, impl Iterator<Item = RankedContainer> + 'a> {
        let mut containers = list.containers();
        let at = containers.next().map(|first| (first, None));
        Walk { list, containers, at }
    }
}

impl<I: Iterator<Item = RankedContainer>> Walk<'_, '_, I> {
    /// The rank of `doc`, if the list has it.
    pub(super) fn rank(&mut self, doc: u32) -> Result<Option<u32>> {
        let key = doc >> 16;
        while let Some((container, _)) = &self.at
            && u32::from(container.key) < key
        {
            self.at = self.containers.next().map(|next| (next, None));
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
        let values = self.list.list().container(container.nth, bytes)?;
        Ok(directory.find(values, doc as u16).map(|rank| container.first_rank + rank))
    }
}
