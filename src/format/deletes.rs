//! The documents of a segment that are deleted: a set of them for each commit that deletes more, in a file of its own.
//! Built as a [`DeletedSet`], read by `segment::deletes`.
//!
//! # Layout
//!
//! An envelope (the module `envelope`) of kind 4 with the id of the segment and one section, `deleted` of the
//! segment: a portable roaring bitmap (the module `bitmap`) of the numbers of the documents.
//!
//! # Example
//!
//! The section where the documents 3 and 70,000 are deleted:
//!
//! ```text
//! 0000  3A 30 00 00 02 00 00 00  00 00 00 00 01 00 00 00
//! 0010  18 00 00 00 1A 00 00 00  03 00 70 11
//! ```
//!
//! # Invariants
//!
//! 1. A file never changes: whoever deletes more writes a new one under another name, and the manifest names that.
//! 2. Every document is below the number of documents of the segment, and there is at least one.
//! 3. The manifest repeats how many there are.
//!
//! # Checks
//!
//! Opening checks the envelope against id and seal in the manifest, the head of the bitmap, its cardinality against
//! the manifest, and its last container against the segment. Blocks are checked when they are read, and everything
//! by `verify`.
//!
//! # Cost
//!
//! Written whole each time, at most a bit for each document of the segment: 1 MiB for 8 million documents.
//! Opening reads 8 bytes for each 65,536 of them. A merge leaves deleted documents out, and the file goes.
//!
//! # Versions
//!
//! 3.0 with the incompatible feature 2 of manifests: the first.
//!
//! # Why
//!
//! Deleted documents instead of those that are left, because they are fewer; a bitmap as posting lists are, because
//! then one more operator of the plan leaves them out, by the same kernels. Files are not appended to, so that
//! nothing has to be told apart after a crash.

use crate::bitmap::{Container, ContainerBuf, write_containers};
use std::collections::BTreeMap;

/// Documents to be deleted from one segment, as they come together.
#[derive(Debug, Default)]
pub(crate) struct DeletedSet {
    /// By the upper half of their numbers.
    windows: BTreeMap<u16, ContainerBuf>,
    /// Upper and lower half of those that are not in there yet.
    waiting: Vec<u32>,
}

/// Documents that wait to be added together: adding one by one would copy a window for each.
const WAITING_MAX: usize = 1 << 16;

impl DeletedSet {
    /// Adds a document.
    pub(crate) fn add(&mut self, doc: u32) {
        self.waiting.push(doc);
        if self.waiting.len() == WAITING_MAX {
            self.settle();
        }
    }

    /// Adds the documents of a window, given their upper half.
    pub(crate) fn add_window(&mut self, key: u16, documents: Container<'_>) {
        self.windows.entry(key).or_default().or_with(documents);
    }

    fn settle(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_unstable();
        waiting.dedup();
        let mut lows: Vec<[u8; 2]> = vec![];
        for of_window in waiting.chunk_by(|a, b| a >> 16 == b >> 16) {
            lows.clear();
            lows.extend(of_window.iter().map(|doc| (*doc as u16).to_le_bytes()));
            if let Some(first) = of_window.first() {
                self.add_window((first >> 16) as u16, Container::Array(&lows));
            }
        }
        waiting.clear();
        self.waiting = waiting;
    }

    /// Number of deleted documents.
    pub(crate) fn len(&mut self) -> u64 {
        self.settle();
        self.windows.values().map(|window| u64::from(window.cardinality())).sum()
    }

    /// The bytes of the section.
    pub(crate) fn encode(&mut self) -> Vec<u8> {
        self.settle();
        let mut out = vec![];
        let filled = self.windows.iter().filter(|(_, window)| window.cardinality() > 0);
        write_containers(filled.map(|(key, window)| (*key, window.as_container())), &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::RoaringView;
    use crate::format::doc_check;
    use crate::test_sizes::unless_miri;

    #[test]
    fn the_example_in_the_docs_is_what_we_write() {
        let mut set = DeletedSet::default();
        [70_000, 3].into_iter().for_each(|doc| set.add(doc));
        let documented = doc_check::hex_dump(include_str!("deletes.rs"));
        assert_eq!(documented, set.encode(), "\n{}", doc_check::render(&set.encode()));
    }

    #[test]
    fn what_is_added_in_whatever_order_and_however_often_is_there_once() {
        let mut set = DeletedSet::default();
        assert_eq!(set.len(), 0);
        let (n_added, n_docs) = unless_miri((150_000u32, 200_000), (5_200, 70_000));
        let docs = || (0..n_added).map(|n| n.wrapping_mul(2_654_435_761) % n_docs);
        docs().for_each(|doc| set.add(doc));
        set.add_window(2, Container::Array(&[[7, 0], [9, 0]]));
        docs().step_by(3).for_each(|doc| set.add(doc));
        let mut expected: Vec<_> = docs().chain([2 << 16 | 7, 2 << 16 | 9]).collect();
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(set.len(), expected.len() as u64);
        let bytes = set.encode();
        let found: Vec<_> = RoaringView::new(&bytes).unwrap().iter().collect();
        assert!(found == expected);
    }

    #[test]
    fn neighbours_are_taken_in_any_order_and_windows_without_any_are_left_out() {
        let (mut set, mut same) = (DeletedSet::default(), DeletedSet::default());
        [9, 7, 8, 7, 70_000, 8, 3].into_iter().for_each(|doc| set.add(doc));
        set.add_window(5, Container::Array(&[]));
        [3, 7, 8, 9, 70_000].into_iter().for_each(|doc| same.add(doc));
        assert_eq!((set.len(), same.len()), (5, 5));
        assert_eq!(set.encode(), same.encode());
        set.add(4);
        assert_eq!(RoaringView::new(&set.encode()).unwrap().iter().nth(1), Some(4), "added since");
    }
}
