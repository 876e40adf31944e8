//! The documents of many terms, united if nothing else is needed of them.

use crate::bitmap::Container;
use crate::bitmap::WINDOW;
use crate::budget::{self, ns};
use crate::error::{Error, Result};
use crate::format::postings::{LongList, PostingList, SHORT_DOCS_MAX};
use crate::format::terms::{PostingsAt, TermInfo};
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;

/// The bits of one window, as a roaring bitmap container has them.
pub(crate) type WindowBits = [[u8; 8]; 1024];

/// A set of this many documents or more is cleared window by window.
const TOUCHED_MAX: usize = 8_192;

/// A set of documents of one segment, a bit for each.
#[derive(Default)]
pub(crate) struct DocSet {
    n_docs: u32,
    len: u32,
    windows: Vec<WindowBits>,
    /// Number of documents in each window.
    cardinalities: Vec<u32>,
    /// Words in which bits were set, as long as that is cheaper to clear than whole windows.
    touched: Vec<u32>,
    /// Bytes of postings that went in.
    bytes_read: u64,
}

impl DocSet {
    /// Bytes that a set of documents among `n_docs` takes.
    pub(crate) fn bytes_for(n_docs: u32) -> u64 {
        u64::from(n_docs.div_ceil(WINDOW)) * size_of::<WindowBits>() as u64
    }

    /// Empties the set, which is from now on one among `n_docs` documents.
    ///
    /// # Errors
    ///
    /// A limit error where a query may not take so much memory.
    pub(crate) fn reset(&mut self, n_docs: u32) -> Result<()> {
        budget::hold(Self::bytes_for(n_docs))?;
        let n_windows = n_docs.div_ceil(WINDOW) as usize;
        if self.touched.len() == self.len as usize {
            for doc in &self.touched {
                self.windows[(doc >> 16) as usize][usize::from(*doc as u16 >> 6)] = [0; 8];
            }
            self.cardinalities.fill(0);
        }
        for (window, cardinality) in self.windows.iter_mut().zip(&mut self.cardinalities) {
            if *cardinality > 0 {
                *window = [[0; 8]; 1024];
                *cardinality = 0;
            }
        }
        self.touched.clear();
        self.windows.resize(n_windows, [[0; 8]; 1024]);
        self.cardinalities.resize(n_windows, 0);
        (self.n_docs, self.len, self.bytes_read) = (n_docs, 0, 0);
        Ok(())
    }

    /// Bytes of memory that the set holds on to.
    pub(crate) fn bytes(&self) -> usize {
        self.windows.capacity() * size_of::<WindowBits>()
    }

    #[cfg(test)]
    fn len(&self) -> u32 {
        self.len
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len == self.n_docs
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Number of documents in window `key`.
    #[inline]
    pub(crate) fn cardinality(&self, key: u32) -> u32 {
        self.cardinalities.get(key as usize).copied().unwrap_or(0)
    }

    /// The first window from `key` on that holds any.
    #[inline]
    pub(crate) fn next_window(&self, key: u32) -> Option<u32> {
        let from = self.cardinalities.get(key as usize..)?;
        from.iter().position(|cardinality| *cardinality > 0).map(|skipped| key + skipped as u32)
    }

    /// The documents of window `key`.
    #[inline]
    pub(crate) fn window(&self, key: u32) -> Container<'_> {
        match self.windows.get(key as usize) {
            Some(bits) => Container::Bitmap(bits),
            None => Container::Array(&[]),
        }
    }

    /// Adds the documents of several terms, until every document is there.
    pub(crate) fn add_terms(&mut self, field: FieldReader<'_>, infos: &[TermInfo]) -> Result<()> {
        for info in infos {
            if self.is_full() {
                break;
            }
            self.add_term(field, info)?;
        }
        Ok(())
    }

    /// Adds the documents of a term.
    pub(crate) fn add_term(&mut self, field: FieldReader<'_>, info: &TermInfo) -> Result<()> {
        budget::work(ns::SHORT_LIST_UNITED)?;
        let mut are_inside = true;
        match info.postings {
            PostingsAt::Inline(docs) => {
                are_inside = docs.as_slice().iter().all(|doc| self.add_doc(*doc));
            }
            PostingsAt::Section { len, .. } if info.df as usize <= SHORT_DOCS_MAX => {
                self.bytes_read += u64::from(len);
                field.short_postings(info, |doc| are_inside &= self.add_doc(doc))?;
            }
            PostingsAt::Section { offset, len, .. } => {
                self.add_list(&field.long_postings(info, offset, len)?)?;
            }
        }
        if are_inside { Ok(()) } else { Err(self.past_the_end()) }
    }

    /// Adds a document; whether it is one of the segment.
    #[inline]
    fn add_doc(&mut self, doc: u32) -> bool {
        let (key, low) = ((doc >> 16) as usize, doc as u16);
        let Some(bits) = self.windows.get_mut(key).filter(|_| doc < self.n_docs) else {
            return false;
        };
        let new = set(bits, low);
        self.cardinalities[key] += new;
        self.len += new;
        if new > 0 && self.touched.len() < TOUCHED_MAX {
            self.touched.push(doc);
        }
        true
    }

    /// Adds documents of the segment, without counting them.
    ///
    /// Nothing else is done meanwhile, so that bits of many documents are fetched at a time: these lie anywhere.
    #[inline]
    pub(crate) fn mark(&mut self, docs: &[u32]) {
        let words = self.windows.as_flattened_mut();
        for doc in docs {
            if let Some(word) = words.get_mut((doc / u64::BITS) as usize) {
                *word = (u64::from_le_bytes(*word) | 1 << (doc % u64::BITS)).to_le_bytes();
            }
        }
    }

    /// Counts all documents, where some were [marked](Self::mark).
    pub(crate) fn count_marked(&mut self) {
        self.touched.clear();
        self.len = 0;
        for (bits, cardinality) in self.windows.iter().zip(&mut self.cardinalities) {
            *cardinality = bits.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum();
            self.len += *cardinality;
        }
    }

    fn add_list(&mut self, list: &LongList<'_, Section<'_>>) -> Result<()> {
        self.bytes_read += list.header_len() as u64;
        for nth in 0..list.n_containers() {
            let key = usize::from(list.key(nth));
            let Some(room) = self.window_len(key) else { return Err(self.past_the_end()) };
            if self.cardinalities[key] == room {
                continue;
            }
            budget::work(ns::CONTAINER_UNITED)?;
            let payload = list.payload(nth)?;
            self.bytes_read += payload.len() as u64;
            let bits = &mut self.windows[key];
            let before = self.cardinalities[key];
            let after = match list.container(nth, &payload)? {
                Container::Array(values) => {
                    let values = values.iter().map(|value| u16::from_le_bytes(*value));
                    before + values.map(|low| set(bits, low)).sum::<u32>()
                }
                container => {
                    unite(bits, container);
                    bits.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum()
                }
            };
            self.cardinalities[key] = after;
            self.len += after - before;
            // The last window has room for fewer than its bits.
            if room < WINDOW && bits_from(bits, room) {
                return Err(self.past_the_end());
            }
        }
        Ok(())
    }

    /// Number of the segment's documents that window `key` covers.
    fn window_len(&self, key: usize) -> Option<u32> {
        let start = u32::try_from(key).ok()?.checked_mul(WINDOW)?;
        let left = self.n_docs.checked_sub(start).filter(|left| *left > 0)?;
        Some(left.min(WINDOW))
    }

    #[cold]
    fn past_the_end(&self) -> Error {
        past_the_end(self.n_docs)
    }
}

#[cold]
fn past_the_end(n_docs: u32) -> Error {
    Error::corrupt("reading a posting list")
        .expected(format!("documents below {n_docs}"))
        .found("a document past the segment's end")
}

/// Sets a bit; 1 if it was not set before.
#[inline]
fn set(bits: &mut WindowBits, low: u16) -> u32 {
    let byte = &mut bits[usize::from(low >> 6)][usize::from(low >> 3 & 7)];
    let mask = 1 << (low & 7);
    let new = u32::from(*byte & mask == 0);
    *byte |= mask;
    new
}

fn unite(bits: &mut WindowBits, container: Container<'_>) {
    match container {
        Container::Bitmap(other) => {
            for (word, other) in bits.iter_mut().zip(other) {
                *word = (u64::from_le_bytes(*word) | u64::from_le_bytes(*other)).to_le_bytes();
            }
        }
        other => {
            for low in other.iter() {
                set(bits, low);
            }
        }
    }
}

/// Whether any bit from `from` on is set.
fn bits_from(bits: &WindowBits, from: u32) -> bool {
    let (word, bit) = (from as usize / 64, from % 64);
    let in_word = |at: usize| bits.get(at).map_or(0, |word| u64::from_le_bytes(*word));
    in_word(word) >> bit != 0 || (word + 1..bits.len()).any(|at| in_word(at) != 0)
}

impl std::fmt::Debug for DocSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DocSet({} of {})", self.len, self.n_docs)
    }
}

/// The smallest documents seen so far, ascending.
pub(super) struct Smallest {
    k: usize,
    /// Bytes of posting lists.
    bytes_read: u64,
    docs: Vec<u32>,
    /// Why it is not known whether a document is deleted.
    damage: Option<Error>,
}

impl Smallest {
    /// Keeps the smallest `k` in `docs`, which is emptied first.
    pub(super) fn new(k: usize, mut docs: Vec<u32>) -> Self {
        docs.clear();
        Smallest { k, bytes_read: 0, docs, damage: None }
    }

    /// The documents, and how many bytes of posting lists were read for them.
    pub(super) fn finish(self) -> Result<(Vec<u32>, u64)> {
        self.damage.map_or(Ok((self.docs, self.bytes_read)), Err)
    }

    /// Whether nothing can be smaller: the documents are the first of the segment.
    pub(super) fn is_settled(&self) -> bool {
        self.docs.len() == self.k
            && self.docs.last().is_none_or(|last| *last as usize + 1 == self.k)
    }

    /// Adds those documents of a term that are not deleted and small enough; its list is left at the first that is not.
    pub(super) fn add_term(&mut self, field: FieldReader<'_>, info: &TermInfo) -> Result<()> {
        budget::work(ns::SHORT_LIST_UNITED)?;
        if info.df as usize <= SHORT_DOCS_MAX {
            self.count_short(info);
            // Mostly one document: a list in memory of its own would cost more to move than to go through.
            let mut is_wanted = true;
            return field
                .short_postings(info, |doc| is_wanted = is_wanted && self.offer_live(field, doc));
        }
        match field.postings(info)? {
            PostingList::Short(list) => {
                self.count_short(info);
                list.as_slice().iter().all(|doc| self.offer_live(field, *doc));
            }
            PostingList::Long(list) => {
                self.bytes_read += list.header_len() as u64;
                for nth in 0..list.n_containers() {
                    let high = u32::from(list.key(nth)) << 16;
                    if !self.takes(high) {
                        break;
                    }
                    budget::work(ns::CONTAINER_UNITED)?;
                    let payload = list.payload(nth)?;
                    self.bytes_read += payload.len() as u64;
                    for low in list.container(nth, &payload)?.iter() {
                        if !self.offer_live(field, high | u32::from(low)) {
                            return Ok(());
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn count_short(&mut self, info: &TermInfo) {
        if let PostingsAt::Section { len, .. } = info.postings {
            self.bytes_read += u64::from(len);
        }
    }

    /// Whether a document that is not there yet would be kept.
    #[inline]
    fn takes(&self, doc: u32) -> bool {
        self.docs.len() < self.k || self.docs.last().is_some_and(|last| doc < *last)
    }

    /// Works like [`offer`](Self::offer), unless the document is deleted.
    fn offer_live(&mut self, field: FieldReader<'_>, doc: u32) -> bool {
        match if self.takes(doc) { field.is_deleted(doc) } else { Ok(false) } {
            Ok(is_deleted) => is_deleted || self.offer(doc),
            Err(error) => {
                self.damage.get_or_insert(error);
                false
            }
        }
    }

    /// Takes a document if it is one of the smallest; `false` if greater ones need not be offered.
    #[inline]
    fn offer(&mut self, doc: u32) -> bool {
        if !self.takes(doc) {
            return self.docs.last() == Some(&doc);
        }
        if let Err(at) = self.docs.binary_search(&doc) {
            self.docs.truncate(self.k - 1);
            self.docs.insert(at, doc);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    use super::*;

    proptest! {
        #[test]
        fn the_smallest_of_several_lists_are_kept(
            lists in prop::collection::vec(prop::collection::btree_set(0u32..60, 0..20), 0..6),
            k in 1usize..12,
        ) {
            let mut smallest = Smallest::new(k, vec![7]);
            for list in &lists {
                list.iter().all(|doc| smallest.offer(*doc));
            }
            let all: BTreeSet<u32> = lists.into_iter().flatten().collect();
            let expected: Vec<u32> = all.into_iter().take(k).collect();
            let settled = expected.len() == k && expected[k - 1] as usize == k - 1;
            prop_assert_eq!(smallest.is_settled(), settled);
            prop_assert_eq!(smallest.finish().unwrap().0, expected);
        }

        #[test]
        fn a_set_holds_what_went_in(
            docs in prop_oneof![
                9 => prop::collection::vec(0u32..70_000, 0..200),
                1 => (TOUCHED_MAX as u32 - 5..TOUCHED_MAX as u32 + 5).prop_map(|n| (60_000..60_000 + n).collect()),
            ],
            again in prop::collection::vec(0u32..70_000, 0..20),
        ) {
            let mut set = DocSet::default();
            set.reset(70_000).unwrap();
            for round in [docs, again] {
                assert!(round.iter().all(|doc| set.add_doc(*doc)));
                let expected: BTreeSet<u32> = round.into_iter().collect();
                prop_assert_eq!(set.len() as usize, expected.len());
                let mut found = vec![];
                let mut key = 0;
                while let Some(next) = set.next_window(key) {
                    let lows: Vec<u16> = set.window(next).iter().collect();
                    prop_assert_eq!(set.cardinality(next) as usize, lows.len());
                    found.extend(lows.into_iter().map(|low| next << 16 | u32::from(low)));
                    key = next + 1;
                }
                prop_assert_eq!(&found, &expected.into_iter().collect::<Vec<_>>());
                set.reset(70_000).unwrap();
                expected_again(&mut set, &found);
                set.reset(70_000).unwrap();
            }
        }
    }

    /// Marks the same documents, which are as many then.
    fn expected_again(set: &mut DocSet, docs: &[u32]) {
        set.mark(docs);
        set.count_marked();
        assert_eq!(set.len() as usize, docs.len());
        for key in [0, 1] {
            let of_window = docs.iter().filter(|doc| **doc >> 16 == key).count();
            assert_eq!(set.cardinality(key) as usize, of_window);
            assert_eq!(set.window(key).iter().count(), of_window);
        }
    }

    #[test]
    fn documents_past_the_end_are_refused() {
        let mut set = DocSet::default();
        set.reset(10).unwrap();
        assert!(set.add_doc(9));
        assert!(!set.add_doc(10));
        assert!(!set.add_doc(1 << 20));
        let mut bits = [[0; 8]; 1024];
        super::set(&mut bits, 100);
        assert!(bits_from(&bits, 100) && !bits_from(&bits, 101));
    }
}
