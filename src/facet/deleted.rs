//! Segments of which everything matches but what is deleted.
//!
//! Deleted documents stay in the dictionary, the posting lists and the column of their segment until that is merged. So what
//! all documents have, which the dictionary says, less what the deleted ones have is what matches: where little is deleted, that
//! takes less time than looking at everything else.

use crate::budget::{self, ns};
use crate::doc_id_set::{DocIdSet, MatchWindows};
use crate::error::Result;
use crate::format::postings::LongList;
use crate::segment::file::Section;
use crate::segment::reader::SegmentReader;

/// Returns the number of deleted documents of a segment if all others match; `None` if some do not.
pub(super) fn n_of(segment: SegmentReader<'_>, matches: &DocIdSet) -> Option<u64> {
    // A deleted document never matches, so that equal numbers mean equal sets.
    let n_live = u64::from(segment.n_live());
    let all_match = matches.len(segment.n_docs()) == n_live;
    all_match.then(|| u64::from(segment.n_docs()) - n_live)
}

/// The deleted documents of a segment: up to 8 KiB for 65,536 documents.
pub(super) fn documents(segment: SegmentReader<'_>) -> Result<MatchWindows> {
    let mut documents = MatchWindows::with_room(segment.n_docs());
    if let Some(deleted) = segment.deleted() {
        push_all(&deleted.list()?, &mut documents)?;
    }
    Ok(documents)
}

pub(super) fn push_all(list: &LongList<'_, Section<'_>>, part: &mut MatchWindows) -> Result<()> {
    for nth in 0..list.n_containers() {
        budget::work(ns::CONTAINER_INTERSECTED)?;
        let (payload, cardinality) = (list.payload(nth)?, list.container_cardinality(nth));
        part.push(list.key(nth).into(), cardinality, list.container(nth, &payload)?)?;
    }
    Ok(())
}
