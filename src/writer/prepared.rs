//! A commit between its two phases.

use super::commit::Prepared;
use super::staging::Counts;
use super::{CommitInfo, IndexWriter, before_publishing, info, report};
use crate::error::{Error, ErrorKind, Result};
use crate::events::Operation;
use std::sync::Arc;

/// A commit of which everything is durable but its name: [`IndexWriter::prepare_commit`]. Dropping it takes
/// it back; what was added and deleted then waits for the next commit.
#[derive(Debug)]
#[must_use = "a commit that is not finished is taken back"]
pub struct PreparedCommit<'w> {
    pub(super) writer: &'w mut IndexWriter,
    pub(super) prepared: Option<Prepared>,
}

impl PreparedCommit<'_> {
    /// The number that the commit will have.
    pub fn generation(&self) -> u64 {
        self.prepared.as_ref().map_or(0, |prepared| prepared.manifest().generation)
    }

    /// The documents that the index will have.
    pub fn documents(&self) -> u64 {
        self.prepared.as_ref().map_or(0, |prepared| prepared.manifest().n_docs())
    }

    /// Makes it the index. `Ok` means that it survives a power failure.
    ///
    /// # Errors
    ///
    /// Fails like [`IndexWriter::commit`].
    pub fn finish(self) -> Result<CommitInfo> {
        let observer = Arc::clone(&self.writer.resources.observer);
        let watch = observer.begin(Operation::Commit);
        let committed = self.publish();
        report::commit(&observer, watch, committed.as_ref().copied());
        committed
    }

    pub(super) fn publish(mut self) -> Result<CommitInfo> {
        let Some(prepared) = self.prepared.take() else {
            return Err(Error::new(ErrorKind::Poisoned, "finishing a commit"));
        };
        let counts = self.writer.staging.counts;
        let finished = self.writer.finish_commit(prepared).map_err(before_publishing);
        let manifest = self.writer.keep_failure(finished)?;
        let Counts { added, deleted, runs_spilled, tokens_skipped } = counts;
        Ok(CommitInfo { added, deleted, runs_spilled, tokens_skipped, ..info(&manifest) })
    }
}

impl Drop for PreparedCommit<'_> {
    fn drop(&mut self) {
        if let Some(prepared) = self.prepared.take() {
            self.writer.committer.abandon(prepared);
        }
    }
}
