//! Documents of buckets that are met in their order, window by window.

use crate::bitmap::ContainerBuf;
use crate::budget::{self, Held, ns};
use crate::doc_id_set::{DocIdSet, MatchWindows, Matches};
use crate::error::Result;
use crate::plan::WINDOW;

/// Documents of buckets for which memory is held at a time, until their window ends.
const PUT_AT_ONCE: usize = 1 << 16;

/// Puts documents into buckets.
pub(super) struct Parting {
    /// The documents of each bucket in a segment, and those of the window at hand.
    buckets: Vec<(MatchWindows, Vec<u16>)>,
    /// The window at hand, the buckets that have some of it, and what was put into these.
    window: u32,
    met: Vec<u32>,
    n_put: usize,
    held: Held,
    parts: Vec<Matches>,
}

impl Parting {
    pub(super) fn new(n_buckets: usize) -> Self {
        let parts = (0..n_buckets).map(|_| Matches::new()).collect();
        Parting { buckets: vec![], window: 0, met: vec![], n_put: 0, held: Held::default(), parts }
    }

    /// Begins a segment of `n_docs` documents.
    pub(super) fn begin(&mut self, n_docs: u32) -> Result<()> {
        let n_windows = u64::from(n_docs.div_ceil(WINDOW));
        let bytes = size_of::<DocIdSet>() as u64 + n_windows * size_of::<u32>() as u64;
        budget::hold(self.parts.len() as u64 * bytes)?;
        let room = || MatchWindows::with_room(n_docs);
        self.buckets = self.parts.iter().map(|_| (room(), vec![])).collect();
        Ok(())
    }

    /// Ends the segment.
    pub(super) fn end(&mut self) -> Result<()> {
        self.end_window()?;
        for (parts, (part, _)) in self.parts.iter_mut().zip(self.buckets.drain(..)) {
            parts.push(DocIdSet::Some(part));
        }
        Ok(())
    }

    /// Documents of each bucket in all segments.
    pub(super) fn finish(self) -> Vec<Matches> {
        self.parts
    }

    /// Puts a document, which is none of an earlier window, into some buckets.
    pub(super) fn put(&mut self, buckets: &[u32], doc: u32) -> Result<()> {
        budget::work(ns::DOC_PUT * buckets.len() as u64)?;
        if self.window != doc / WINDOW {
            self.end_window()?;
            self.window = doc / WINDOW;
        }
        for nth in buckets {
            let Some((_, lows)) = self.buckets.get_mut(*nth as usize) else { continue };
            // A document with several values in a bucket is there once.
            if lows.last() == Some(&(doc as u16)) {
                continue;
            }
            if lows.is_empty() {
                self.met.push(*nth);
            }
            lows.push(doc as u16);
            if self.n_put.is_multiple_of(PUT_AT_ONCE) {
                self.held.more((PUT_AT_ONCE * size_of::<u16>()) as u64)?;
            }
            self.n_put += 1;
        }
        Ok(())
    }

    fn end_window(&mut self) -> Result<()> {
        let mut documents = ContainerBuf::new();
        for nth in self.met.drain(..) {
            let Some((part, lows)) = self.buckets.get_mut(nth as usize) else { continue };
            budget::work(ns::CONTAINER_INTERSECTED)?;
            // Given back: another window may be that of another bucket.
            let lows = std::mem::take(lows);
            documents.set_sorted(lows.iter().copied());
            part.push(self.window, lows.len() as u32, documents.as_container())?;
        }
        (self.n_put, self.held) = (0, Held::default());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_parted_by_window_and_are_in_a_bucket_once() {
        let mut parting = Parting::new(2);
        parting.begin(3 * WINDOW).unwrap();
        let docs = [3, 3, 9, 2 * WINDOW, 2 * WINDOW + 5, 3 * WINDOW - 1];
        let buckets: [&[u32]; 6] = [&[0], &[0, 1], &[], &[0], &[0, 1], &[]];
        for (doc, buckets) in docs.into_iter().zip(buckets) {
            parting.put(buckets, doc).unwrap();
        }
        parting.end().unwrap();
        let docs = |parts: &Matches| -> Vec<u32> {
            parts[0].documents_from(0, 3 * WINDOW).unwrap().collect()
        };
        let parts = parting.finish();
        assert_eq!(parts.iter().map(|it| it[0].len(3 * WINDOW)).collect::<Vec<_>>(), [3, 2]);
        assert_eq!(docs(&parts[0]), [3, 2 * WINDOW, 2 * WINDOW + 5]);
        assert_eq!(docs(&parts[1]), [3, 2 * WINDOW + 5]);
    }
}
