//! Failures of the writer. After one it is useless until it is rolled back to the last commit.

use super::IndexWriter;
use super::batch::DocumentBatch;
use super::commit::{OlderFormat, Prepared};
use super::deletions::Deletions;
use super::report;
use super::staging::Staging;
use crate::budget;
use crate::error::{Error, ErrorKind, Result};
use crate::events::Operation;
use crate::format::manifest::{Manifest, SegmentMeta};
use crate::segment::snapshot::Snapshot;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl IndexWriter {
    /// Forgets what was added, deleted and set since the last commit. After an error that left the writer useless it is
    /// of use again, and goes on from the newest commit: where the [outcome](Error::commit_outcome) of one was
    /// `Unknown`, [`generation`](crate::writer::CommitInfo::generation) of the next shows whether it happened.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.rollback()?;
    /// writer.add(Document::new().with("title", "London"))?;
    /// assert_eq!(writer.commit()?.documents, 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`Index::writer`](crate::Index::writer); the writer is useless then, and may be asked again.
    pub fn rollback(&mut self) -> Result<()> {
        let watch = self.resources.observer.begin(Operation::Rollback);
        let rolled_back = self.start_again();
        report::rollback(&self.resources.observer, watch, &rolled_back);
        rolled_back
    }

    fn start_again(&mut self) -> Result<()> {
        // First, as the host's storage may panic in any step: what is forgotten by half is never committed.
        self.failed = true;
        self.n_rollbacks += 1;
        self.forget_changes();
        let before = self.committer.generation();
        let older = if self.replaces { OlderFormat::Supersede } else { OlderFormat::Refuse };
        self.committer.start_again(older)?;
        // A commit that was not known to have happened may have replaced what there was.
        if self.committer.generation() != before {
            self.replaces = false;
            self.published.established.store(true, Ordering::Relaxed);
        }
        let current = self.committer.current();
        let (kept, payload) = match current {
            Some(current) if !self.replaces => (current.segments.clone(), current.payload.clone()),
            _ => Default::default(),
        };
        self.payload = payload;
        self.merges.forget();
        // Files that no commit names have been cleared away by the committer, who alone knows what was committed.
        self.staging = Staging::new(Arc::clone(self.committer.storage()), kept);
        self.failed = false;
        self.publish_commit();
        Ok(())
    }

    /// Forgets what was added and deleted and is in no segment yet.
    pub(super) fn forget_changes(&mut self) {
        // Ends what is at work, and deletes what it spilled.
        self.pipeline = None;
        self.pending = DocumentBatch::default();
        self.deletions = Deletions::default();
        self.recent_keys.clear();
        self.open = None;
    }

    pub(super) fn finish_commit(&mut self, prepared: Prepared) -> Result<Manifest> {
        let _apart = budget::apart();
        let unwinding = Unwinding(self);
        let finished = unwinding.0.try_finish(prepared);
        unwinding.passed();
        finished
    }

    fn try_finish(&mut self, prepared: Prepared) -> Result<Manifest> {
        let manifest = self.committer.finish(prepared)?;
        self.staging.set_committed();
        self.replaces = false;
        self.published.established.store(true, Ordering::Relaxed);
        self.publish_commit();
        self.close_what_is_gone();
        Ok(manifest)
    }

    /// Files take room on disk for as long as they are open: of those that are open only what is still part of the index stays so.
    fn close_what_is_gone(&mut self) {
        let segments = self.staging.segments();
        let is_left = |segment: &SegmentMeta| segments.iter().any(|left| left.id == segment.id);
        let has_gone = |open: &Arc<Snapshot>| !open.manifest.segments.iter().all(is_left);
        if self.open.as_ref().is_some_and(has_gone) && self.open_staging(0).is_err() {
            // Whoever needs them next is told.
            self.open = None;
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        self.committer.check()?;
        if self.failed {
            return Err(Error::new(ErrorKind::Poisoned, "writing to an index")
                .found("an earlier failure")
                .in_file(self.committer.storage().location())
                .hint("the last commit is intact; roll back, or open a new writer"));
        }
        Ok(())
    }

    /// Does what leaves the writer useless unless it comes to its end: by an error, or a panic of the host's code.
    ///
    /// A budget that somebody holds around it would stop it in the middle, and take along what was added: it is set aside.
    pub(crate) fn attempt<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let _limits = self.rules.limits.enter();
        let _apart = budget::apart();
        let unwinding = Unwinding(self);
        let done = work(unwinding.0);
        unwinding.passed();
        self.keep_failure(done)
    }

    /// Makes the writer useless after an error.
    pub(super) fn keep_failure<T>(&mut self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            self.failed = true;
            self.committer.poison(error);
            self.pipeline = None;
        }
        result
    }
}

/// Makes the writer useless if it is dropped.
struct Unwinding<'w>(&'w mut IndexWriter);

impl Unwinding<'_> {
    fn passed(self) {
        std::mem::forget(self);
    }
}

impl Drop for Unwinding<'_> {
    fn drop(&mut self) {
        let panic = Error::new(ErrorKind::Poisoned, "writing to an index").found("a panic");
        let _: Result<()> = self.0.keep_failure(Err(panic));
    }
}
