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
use super::parting::Parting;
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
    let by_piece = buckets_by_piece(&ranges, is_inside.len(), &mut held)?;
    let (pieces, mut parting) = (Pieces::new(ends, range), Parting::new(ranges.len()));
    for (segment, matches) in of.parts() {
        parting.begin(segment.n_docs)?;
        // Whether there is one was looked up in the schema.
        if let Some(column) = segment.segment.field(of.field).column()? {
            add_segment(&mut parting, (&pieces, &by_piece), column, matches)?;
        }
        parting.end()?;
    }
    Ok(parting.finish())
}

/// Ranges that have a piece, by the number of ends up to it.
pub(super) fn buckets_by_piece(
    ranges: &[Range<usize>],
    n_pieces: usize,
    held: &mut Held,
) -> Result<Vec<Vec<u32>>> {
    let n_in_pieces = ranges.iter().map(Range::len).sum::<usize>() + n_pieces;
    held.more((n_in_pieces * size_of::<Vec<u32>>()) as u64)?;
    budget::work(n_in_pieces as u64)?;
    let mut by_piece = vec![vec![]; n_pieces];
    for (bucket, range) in (0..).zip(ranges) {
        for buckets in by_piece.iter_mut().skip(range.start + 1).take(range.len()) {
            buckets.push(bucket);
        }
    }
    Ok(by_piece)
}

fn add_segment(
    parting: &mut Parting,
    (pieces, by_piece): (&Pieces, &[Vec<u32>]),
    column: Column<Section<'_>>,
    matches: &DocIdSet,
) -> Result<()> {
    let buckets = |piece: usize| by_piece.get(piece).map_or(&[][..], |buckets| buckets);
    for_each_block(matches, &mut Heads::of(column), |heads, nth, places| {
        budget::work(ns::COLUMN_HEAD)?;
        let head = heads.get(nth)?;
        if head.n_values == 0 {
            return Ok(());
        }
        let (piece, first) = (pieces.n_ends(head.least), nth * BLOCK_DOCS);
        // Not read where all documents have a value in one piece.
        let is_one =
            piece == pieces.n_ends(head.greatest) && u32::from(head.n_with) == column.docs_of(nth);
        let block = (!is_one).then(|| column.block(nth, head)).transpose()?;
        places.try_for_each(|place| match &block {
            None => parting.put(buckets(piece), first + place),
            Some(block) => block.codes(place).try_for_each(|code| {
                budget::work(ns::VALUE_OF_FEW)?;
                parting.put(buckets(pieces.n_ends(code)), first + place)
            }),
        })
    })
}
