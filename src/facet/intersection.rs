//! Intersections of one posting list with everything that matches.

use crate::bitmap;
use crate::budget::{self, ns};
use crate::doc_id_set::{MatchWindow, MatchWindows};
use crate::error::Result;
use crate::format::postings::LongList;
use crate::plan::{WINDOW, leaf};
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;

/// Counts those of a few documents that match.
#[inline]
pub(super) fn count_documents(docs: &[u32], matches: &MatchWindows) -> u64 {
    docs.iter().filter(|doc| matches.contains(**doc)).count() as u64
}

/// Windows in which something matches and a list has a container, each with the place of that.
pub(super) fn shared<'w>(
    list: &LongList<'_, Section<'_>>,
    matches: &'w MatchWindows,
) -> impl Iterator<Item = (&'w MatchWindow, usize)> {
    let mut nth = 0;
    matches.windows().iter().filter_map(move |window| {
        nth = leaf::seek(list, nth, window.key);
        let is_there = nth < list.n_containers() && u32::from(list.key(nth)) == window.key;
        is_there.then_some((window, nth))
    })
}

/// The most that a list can share with what matches, from its header alone.
pub(super) fn most_in_common(
    list: &LongList<'_, Section<'_>>,
    matches: &MatchWindows,
) -> Result<u64> {
    budget::work(ns::CONTAINER_LOOKED_FOR * matches.windows().len() as u64)?;
    let most = |(window, nth): (&MatchWindow, _)| {
        u64::from(list.container_cardinality(nth).min(window.cardinality))
    };
    Ok(shared(list, matches).map(most).sum())
}

/// Counts the matches that have a value of a field.
pub(super) fn count_present(
    field: FieldReader<'_>,
    n_docs: u32,
    matches: &MatchWindows,
    bytes_read: &mut u64,
) -> Result<u64> {
    match field.statistics()?.n_docs_with_value {
        0 => Ok(0),
        present if present == n_docs => Ok(matches.len),
        _ => count_list(&field.presence()?, matches, bytes_read),
    }
}

/// Counts the documents of a list that match; only containers in windows with a match are read.
pub(super) fn count_list(
    list: &LongList<'_, Section<'_>>,
    matches: &MatchWindows,
    bytes_read: &mut u64,
) -> Result<u64> {
    let mut count = 0;
    for (window, nth) in shared(list, matches) {
        let cardinality = list.container_cardinality(nth);
        count += u64::from(if window.cardinality == WINDOW || cardinality == WINDOW {
            cardinality.min(window.cardinality)
        } else {
            budget::work(ns::CONTAINER_INTERSECTED)?;
            let payload = list.payload(nth)?;
            *bytes_read += payload.len() as u64;
            let container = list.container(nth, &payload)?;
            bitmap::and_count(container, cardinality, matches.documents(window), window.cardinality)
        });
    }
    Ok(count)
}
