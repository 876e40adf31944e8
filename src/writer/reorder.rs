//! Buffer that reorders parts of documents in bounded memory. It needs no file, but as many passes as it takes.
//!
//! A pass goes over everything and keeps what comes first of what is left, as much as there is room for; then that is written.
//! Input that is in order anyway takes little more than one pass, as the caller can leave out what is not
//! [wanted](ReorderBuffer::wanted).

use crate::error::{Error, Result};
use std::ops::Range;

/// Keeps parts of documents until they are written in the order of these.
#[derive(Debug)]
pub(super) struct ReorderBuffer {
    /// Bytes that it may take, but for a part that alone is larger.
    room: usize,
    /// Documents whose parts are kept by this pass.
    wanted: Range<u32>,
    /// Items in the order they came.
    items: Vec<Item>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    doc: u32,
    len: u32,
    start: usize,
}

/// The length of a part that is not there. No part is as long.
const NONE: u32 = u32::MAX;

impl Item {
    fn bytes(self) -> Range<usize> {
        let len = if self.len == NONE { 0 } else { self.len as usize };
        self.start..self.start + len
    }
}

/// Gives the parts of all of `n_docs` documents to `write` in their order. Each pass is made by `gather`, which
/// [adds](ReorderBuffer::add) every part that is wanted, in whatever order.
///
/// Takes `room` bytes of memory and those of one part, and half as much again for a moment.
pub(super) fn reorder(
    n_docs: u32,
    room: usize,
    mut gather: impl FnMut(&mut ReorderBuffer) -> Result<()>,
    mut write: impl FnMut(Option<&[u8]>) -> Result<()>,
) -> Result<()> {
    let mut buffer = ReorderBuffer { room, wanted: 0..0, items: vec![], bytes: vec![] };
    while buffer.wanted.end < n_docs {
        buffer.wanted = buffer.wanted.end..n_docs;
        buffer.items.clear();
        buffer.bytes.clear();
        gather(&mut buffer)?;
        buffer.write(&mut write)?;
    }
    Ok(())
}

impl ReorderBuffer {
    /// Whether this pass keeps the part of a document.
    #[inline]
    pub(super) fn wants(&self, doc: u32) -> bool {
        self.wanted.contains(&doc)
    }

    /// Keeps the part of a document, if it is wanted, as far as there is room: what is too much is left to another pass.
    pub(super) fn add(&mut self, doc: u32, part: Option<&[u8]>) {
        if !self.wants(doc) {
            return;
        }
        let (len, start) = (part.map_or(NONE, |part| part.len() as u32), self.bytes.len());
        let bytes = part.unwrap_or_default();
        self.reserve(bytes.len());
        self.items.push(Item { doc, len, start });
        self.bytes.extend_from_slice(bytes);
        while self.n_used() > self.room && self.items.len() > 1 {
            self.drop_half();
        }
    }

    /// Makes sure of memory for a part of so many bytes, where there can be, within the room.
    fn reserve(&mut self, len: usize) {
        let is_short = |this: &Self| {
            this.items.len() == this.items.capacity()
                || this.bytes.capacity() - this.bytes.len() < len
        };
        if is_short(self) && self.left() < size_of::<Item>() + len {
            // One of the two may hold what the other one lacks.
            self.items.shrink_to_fit();
            self.bytes.shrink_to_fit();
        }
        let left = self.left();
        grow(&mut self.items, 1, left);
        let left = self.left();
        grow(&mut self.bytes, len, left);
    }

    /// Bytes that are not held yet.
    fn left(&self) -> usize {
        self.room.saturating_sub(self.n_held())
    }

    fn n_held(&self) -> usize {
        self.items.capacity() * size_of::<Item>() + self.bytes.capacity()
    }

    fn n_used(&self) -> usize {
        self.items.len() * size_of::<Item>() + self.bytes.len()
    }

    /// Leaves the later half of the documents to another pass.
    fn drop_half(&mut self) {
        let mut docs: Vec<u32> = self.items.iter().map(|item| item.doc).collect();
        let half = docs.len() / 2;
        let (_, &mut end, _) = docs.select_nth_unstable(half);
        self.wanted.end = end;
        let mut n_kept = 0;
        let bytes = &mut self.bytes;
        self.items.retain_mut(|item| {
            if item.doc >= end {
                return false;
            }
            let from = item.bytes();
            item.start = n_kept;
            n_kept += from.len();
            bytes.copy_within(from, item.start);
            true
        });
        bytes.truncate(n_kept);
    }

    fn write(&mut self, write: &mut impl FnMut(Option<&[u8]>) -> Result<()>) -> Result<()> {
        self.items.sort_unstable_by_key(|item| item.doc);
        let docs = self.items.iter().map(|item| item.doc);
        if !docs.eq(self.wanted.clone()) {
            return Err(Error::corrupt("putting what documents have in order")
                .expected(format!("a part of each of {} documents", self.wanted.len()))
                .found(format!("{} parts", self.items.len())));
        }
        for item in &self.items {
            let part = self.bytes.get(item.bytes()).filter(|_| item.len != NONE);
            write(part)?;
        }
        Ok(())
    }
}

/// Reserves memory for so many more if there is none: for twice as many, but, as others want it too, for no more than half
/// of the bytes that are left.
fn grow<T>(items: &mut Vec<T>, n_more: usize, left: usize) {
    if items.capacity() - items.len() < n_more {
        let most = left / 2 / size_of::<T>();
        items.reserve_exact(items.len().min(most).max(n_more));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of some documents in the order in which they come, the documents shuffled.
    fn parts(n_docs: u32) -> Vec<(u32, Option<Vec<u8>>)> {
        let part = |doc: u32| {
            let len = (doc * 7_919 % 50) as usize;
            (!doc.is_multiple_of(5)).then(|| vec![doc as u8; len])
        };
        (0..n_docs).map(|nth| (nth * 7_919 + 3) % n_docs).map(|doc| (doc, part(doc))).collect()
    }

    #[test]
    fn parts_come_in_order_however_little_room_there_is() {
        for n_docs in [0, 1, 2, 3, 1_000] {
            let parts = parts(n_docs);
            let mut expected = parts.clone();
            expected.sort_by_key(|(doc, _)| *doc);
            let expected: Vec<_> = expected.into_iter().map(|(_, part)| part).collect();
            for (room, passes) in [(1, 1_000), (100, 1_000), (5_000, 20), (1 << 20, 1)] {
                let (mut n_passes, mut written, mut most) = (0, vec![], 0);
                let gather = |buffer: &mut ReorderBuffer| {
                    n_passes += 1;
                    for (doc, part) in &parts {
                        buffer.add(*doc, part.as_deref());
                        most = most.max(buffer.n_held());
                    }
                    Ok(())
                };
                let write = |part: Option<&[u8]>| {
                    written.push(part.map(<[u8]>::to_vec));
                    Ok(())
                };
                reorder(n_docs, room, gather, write).unwrap();
                assert_eq!(written, expected, "{n_docs} documents in {room} bytes");
                assert!(n_passes <= passes, "{n_passes} passes in {room} bytes");
                // One part alone may be larger, and there is one more for a moment.
                let part = 49 + size_of::<Item>();
                assert!(most <= room.max(part) + part, "{most} of {room}");
            }
        }
    }

    /// The bytes of all say how many passes there are, also where memory that was taken for few long parts is wanted for many short ones.
    #[test]
    fn passes_depend_on_all_bytes_however_long_parts_are() {
        let len = |doc: u32| if doc < 100 { 1_000 } else { 1 };
        for is_late in [false, true] {
            let docs = (0..20_000).map(|nth| if is_late { 19_999 - nth } else { nth });
            let (mut n_passes, mut n_written, mut most) = (0, 0, 0);
            let gather = |buffer: &mut ReorderBuffer| {
                n_passes += 1;
                for doc in docs.clone() {
                    buffer.add(doc, Some(&vec![doc as u8; len(doc)]));
                    most = most.max(buffer.n_held());
                }
                Ok(())
            };
            let write = |part: Option<&[u8]>| {
                assert_eq!(part, Some(&vec![n_written as u8; len(n_written)][..]));
                n_written += 1;
                Ok(())
            };
            let room = 40_000;
            reorder(20_000, room, gather, write).unwrap();
            assert_eq!(n_written, 20_000);
            // There are 440,000 bytes in all, and of a room at least half is used.
            assert!(n_passes <= 22, "{n_passes} passes");
            assert!(most <= room + 1_016, "{most} of {room}");
        }
    }

    #[test]
    fn parts_that_are_missing_are_told_of() {
        let gather = |buffer: &mut ReorderBuffer| {
            [2, 0].iter().for_each(|doc| buffer.add(*doc, None));
            Ok(())
        };
        let error = reorder(3, 1 << 10, gather, |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("each of 3 documents, found 2 parts"), "{error}");
    }
}
