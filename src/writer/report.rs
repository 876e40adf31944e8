//! Events that the writer reports for the whole index: commits, flushes and the like.

use crate::error::{Error, Result};
use crate::events::{Observer, Watch, What};
use crate::segment::reader::SegmentReader;
use crate::writer::{CommitInfo, FlushInfo, PreparedCommit};

pub(super) fn commit(observer: &Observer, watch: Watch, committed: Result<CommitInfo, &Error>) {
    let info = committed.ok();
    observer.end(watch, committed.err(), |bytes| What::Commit {
        generation: info.map_or(0, |info| info.generation),
        documents: info.map_or(0, |info| info.documents),
        added: info.map_or(0, |info| info.added),
        deleted: info.map_or(0, |info| info.deleted),
        segments: info.map_or(0, |info| info.segments as u64),
        bytes,
    });
}

pub(super) fn prepare(
    observer: &Observer,
    watch: Watch,
    prepared: Result<&PreparedCommit<'_>, &Error>,
) {
    let commit = prepared.ok();
    observer.end(watch, prepared.err(), |bytes| What::Prepare {
        generation: commit.map_or(0, PreparedCommit::generation),
        documents: commit.map_or(0, PreparedCommit::documents),
        bytes,
    });
}

pub(super) fn flush(observer: &Observer, watch: Watch, flushed: Result<FlushInfo, &Error>) {
    let info = flushed.ok();
    observer.end(watch, flushed.err(), |bytes| What::Flush {
        documents: info.map_or(0, |info| info.documents),
        added: info.map_or(0, |info| info.added),
        deleted: info.map_or(0, |info| info.deleted),
        segments: info.map_or(0, |info| info.segments as u64),
        bytes,
    });
}

/// Tells that segments became one, or why not.
pub(super) fn merge(
    observer: &Observer,
    watch: Watch,
    segments: &[SegmentReader<'_>],
    error: Option<&Error>,
) {
    let deletes = segments.iter().filter_map(|segment| segment.deleted());
    let bytes_of_deletes: u64 = deletes.map(|deletes| deletes.file_len()).sum();
    let bytes_read =
        segments.iter().map(|segment| segment.file().len()).sum::<u64>() + bytes_of_deletes;
    let n_live = segments.iter().map(|segment| u64::from(segment.n_live())).sum();
    observer.count_merge_input(bytes_read);
    observer.end(watch, error, |bytes| What::Merge {
        documents: if error.is_none() { n_live } else { 0 },
        segments: segments.len() as u64,
        bytes_read,
        bytes,
    });
}

pub(super) fn rollback(observer: &Observer, watch: Watch, rolled_back: &Result<()>) {
    observer.end(watch, rolled_back.as_ref().err(), |bytes| What::Rollback { bytes });
}
