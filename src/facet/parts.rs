//! Matching documents by bucket of a facet, for what is counted within each bucket.
//!
//! The documents of a value are those of its posting lists that match; those of ranges come out of one pass over the column,
//! whatever number of ranges there is. A document with many values is in each range that it has one in.
//!
//! Cost: of a value some 500 ns a window; of ranges some ten nanoseconds for each document that matches and each of its values.
//! Memory: two bytes a document of each bucket, at most 8 KiB a window and bucket.

use super::deleted::push_all;
use super::intersection::shared;
use super::of_field::{FieldMatches, OfField};
use super::pieces::Pieces;
use super::ranges::Cut;
use crate::bitmap::{self, ContainerBuf};
use crate::budget::{self, Held, ns};
use crate::doc_id_set::{DocIdSet, MatchWindows, Matches};
use crate::error::Result;
use crate::format::column::{BLOCK_DOCS, Column, Heads};
use crate::format::postings::{LongList, PostingList};
use crate::look_ups::LookUps;
use crate::matching::for_each_block;
use crate::plan::{WINDOW, leaf};
use crate::segment::file::Section;
use std::ops::Range;

/// Documents of buckets for which memory is held at a time, until their window ends.
const PUT_AT_ONCE: usize = 1 << 16;

/// Matches that have a term.
pub(crate) fn with_term(of: FieldMatches<'_>, term: &[u8], look_ups: &LookUps) -> Result<Matches> {
    let (mut parts, mut both) = (Matches::new(), ContainerBuf::new());
    for (segment, matches) in of.parts() {
        let Some(info) = look_ups.get(segment.segment, of.field, term)? else {
            parts.push(DocIdSet::nothing());
            continue;
        };
        let field = segment.segment.field(of.field);
        let mut part = MatchWindows::with_room(segment.n_docs);
        match (field.postings(&info)?, matches) {
            (PostingList::Short(docs), _) => {
                budget::work(ns::DOC_OF_SHORT_LIST * docs.as_slice().len() as u64)?;
                let is_in = |doc: &&u32| match matches {
                    DocIdSet::Everything => true,
                    DocIdSet::Some(windows) => windows.contains(**doc),
                };
                let docs: Vec<u32> = docs.as_slice().iter().filter(is_in).copied().collect();
                part = MatchWindows::of_documents(segment.n_docs, &docs)?;
            }
            (PostingList::Long(list), DocIdSet::Everything) => push_all(&list, &mut part)?,
            (PostingList::Long(list), DocIdSet::Some(windows)) => {
                for (window, nth) in shared(&list, windows) {
                    budget::work(ns::CONTAINER_INTERSECTED)?;
                    let (payload, documents) = (list.payload(nth)?, windows.documents(window));
                    bitmap::and(list.container(nth, &payload)?, documents, &mut both);
                    part.push(window.key, both.cardinality(), both.as_container())?;
                }
            }
        }
        parts.push(DocIdSet::Some(part));
    }
    Ok(parts)
}

/// Matches that have no value of a field.
pub(crate) fn without_value(of: FieldMatches<'_>) -> Result<Matches> {
    let mut parts = Matches::new();
    for (segment, matches) in of.parts() {
        let field = segment.segment.field(of.field);
        let n_with = field.statistics()?.n_docs_with_value;
        let mut part = MatchWindows::with_room(segment.n_docs);
        if n_with < segment.n_docs {
            push_others(&field.presence()?, segment.n_docs, matches, &mut part)?;
        }
        parts.push(DocIdSet::Some(part));
    }
    Ok(parts)
}

/// Adds what matches and is not in a list.
fn push_others(
    list: &LongList<'_, Section<'_>>,
    n_docs: u32,
    matches: &DocIdSet,
    part: &mut MatchWindows,
) -> Result<()> {
    let (mut nth, mut all, mut others) = (0, ContainerBuf::new(), ContainerBuf::new());
    for key in 0..n_docs.div_ceil(WINDOW) {
        let documents = match matches {
            DocIdSet::Everything => {
                let last = (n_docs - 1 - key * WINDOW).min(WINDOW - 1);
                all.set_range(0..=last as u16);
                all.as_container()
            }
            DocIdSet::Some(windows) => match windows.window(key) {
                Some(window) => windows.documents(window),
                None => continue,
            },
        };
        budget::work(ns::CONTAINER_INTERSECTED)?;
        nth = leaf::seek(list, nth, key);
        match nth < list.n_containers() && u32::from(list.key(nth)) == key {
            true => {
                let payload = list.payload(nth)?;
                bitmap::and_not(documents, list.container(nth, &payload)?, &mut others);
            }
            false => others.set(documents),
        }
        part.push(key, others.cardinality(), others.as_container())?;
    }
    Ok(())
}

/// Matches that have a value in each range of codes, by the column of a field.
pub(crate) fn in_ranges(of: FieldMatches<'_>, ranges: &[Range<u128>]) -> Result<Vec<Matches>> {
    let Cut { ranges, ends, is_inside } = Cut::of(ranges);
    let OfField { range, .. } = OfField::new(of)?;
    let mut held = Held::default();
    let n_in_pieces = ranges.iter().map(Range::len).sum::<usize>() + is_inside.len();
    held.more((n_in_pieces * size_of::<Vec<u32>>()) as u64)?;
    budget::work(n_in_pieces as u64)?;
    let mut by_piece = vec![vec![]; is_inside.len()];
    for (bucket, range) in (0..).zip(&ranges) {
        for buckets in by_piece.iter_mut().skip(range.start + 1).take(range.len()) {
            buckets.push(bucket);
        }
    }
    let mut parting = Parting::new(Pieces::new(ends, range), by_piece);
    let mut parts: Vec<Matches> = ranges.iter().map(|_| Matches::new()).collect();
    for (segment, matches) in of.parts() {
        let n_windows = u64::from(segment.n_docs.div_ceil(WINDOW));
        let bytes = size_of::<DocIdSet>() as u64 + n_windows * size_of::<u32>() as u64;
        budget::hold(ranges.len() as u64 * bytes)?;
        let room = || MatchWindows::with_room(segment.n_docs);
        parting.buckets = ranges.iter().map(|_| (room(), vec![])).collect();
        // Whether there is one was looked up in the schema.
        if let Some(column) = segment.segment.field(of.field).column()? {
            parting.add_segment(column, matches)?;
        }
        for (parts, (part, _)) in parts.iter_mut().zip(parting.buckets.drain(..)) {
            parts.push(DocIdSet::Some(part));
        }
    }
    Ok(parts)
}

struct Parting {
    pieces: Pieces,
    /// By the number of ends up to a code the buckets that have it.
    by_piece: Vec<Vec<u32>>,
    /// The documents of each bucket in a segment, and those of the window at hand.
    buckets: Vec<(MatchWindows, Vec<u16>)>,
    /// The window at hand, the buckets that have some of it, and what was put into these.
    window: u32,
    met: Vec<u32>,
    n_put: usize,
    held: Held,
}

impl Parting {
    fn new(pieces: Pieces, by_piece: Vec<Vec<u32>>) -> Self {
        let (buckets, met, held) = (vec![], vec![], Held::default());
        Parting { pieces, by_piece, buckets, window: 0, met, n_put: 0, held }
    }

    fn add_segment(&mut self, column: Column<Section<'_>>, matches: &DocIdSet) -> Result<()> {
        for_each_block(matches, &mut Heads::of(column), |heads, nth, places| {
            budget::work(ns::COLUMN_HEAD)?;
            let head = heads.get(nth)?;
            if head.n_values == 0 {
                return Ok(());
            }
            let key = nth * BLOCK_DOCS / WINDOW;
            if self.window != key {
                self.end_window()?;
                self.window = key;
            }
            let (piece, first) = (self.pieces.n_ends(head.least), nth * BLOCK_DOCS);
            // Not read where all documents have a value in one piece.
            let is_one = piece == self.pieces.n_ends(head.greatest)
                && u32::from(head.n_with) == column.docs_of(nth);
            let block = (!is_one).then(|| column.block(nth, head)).transpose()?;
            places.try_for_each(|place| match &block {
                None => self.put(piece, first + place),
                Some(block) => block.codes(place).try_for_each(|code| {
                    budget::work(ns::VALUE_OF_FEW)?;
                    self.put(self.pieces.n_ends(code), first + place)
                }),
            })
        })?;
        self.end_window()
    }

    /// Puts a document into the buckets of a piece.
    fn put(&mut self, piece: usize, doc: u32) -> Result<()> {
        let Some(of_piece) = self.by_piece.get(piece) else { return Ok(()) };
        budget::work(ns::DOC_PUT * of_piece.len() as u64)?;
        for nth in of_piece {
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
        let by_piece = vec![vec![], vec![0], vec![0, 1], vec![]];
        let pieces = Pieces::new(vec![10, 20, 30], None);
        let n_docs = 3 * WINDOW;
        let room = || MatchWindows::with_room(n_docs);
        let mut parting = Parting::new(pieces, by_piece);
        parting.buckets = (0..2).map(|_| (room(), vec![])).collect();
        for (key, docs) in [(0, [3, 3, 9]), (2, [2 * WINDOW, 2 * WINDOW + 5, 3 * WINDOW - 1])] {
            parting.window = key;
            for (doc, code) in docs.into_iter().zip([10, 25, 30]) {
                parting.put(parting.pieces.n_ends(code), doc).unwrap();
            }
            parting.end_window().unwrap();
        }
        let docs = |(part, _): &(MatchWindows, Vec<u16>)| -> Vec<u32> {
            let windows = part.windows().iter();
            let docs = windows.flat_map(|window| {
                let lows = part.documents(window).iter();
                lows.map(|low| window.key * WINDOW + u32::from(low)).collect::<Vec<_>>()
            });
            docs.collect()
        };
        assert_eq!(docs(&parting.buckets[0]), [3, 2 * WINDOW, 2 * WINDOW + 5]);
        assert_eq!(docs(&parting.buckets[1]), [3, 2 * WINDOW + 5]);
    }
}
