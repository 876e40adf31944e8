//! Flushing: makes added and deleted documents visible. It writes segments of them, and publishes snapshots for the
//! readers of this process.

use super::deletions;
use super::staging::Counts;
use super::{IndexWriter, before_publishing, report, report_progress};
use crate::error::{Error, ErrorKind, Result};
use crate::events::Operation;
use crate::format::deletes::DeletedSet;
use crate::format::manifest::Manifest;
use crate::plural::counted;
use crate::segment::deletes;
use crate::segment::reader::SegmentReader;
use crate::segment::snapshot::Snapshot;
use crate::writer::pipeline::Pipeline;
use std::sync::Arc;

/// Segments that were flushed are made one if they have so many documents together: a flush is to be soon over. With
/// so many segments they are, whatever they have.
const FLUSHED_DOCS_MAX: u64 = 65_536;
const FLUSHED_SEGMENTS_MAX: usize = 64;

/// Segments of fewer documents together are made one by a commit rather than made durable one by one: that takes
/// milliseconds, as a sync does.
const JOINED_DOCS_MAX: u64 = 4_096;

/// Result of a [flush](IndexWriter::flush): the index as it is visible to this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlushInfo {
    /// Documents of the index, as this process sees it.
    pub documents: u64,
    /// Documents that were added since the last commit.
    pub added: u64,
    /// Documents deleted or replaced since the last commit, those added since among them.
    pub deleted: u64,
    /// Segments of the index, as this process sees it.
    pub segments: usize,
}

impl IndexWriter {
    /// Makes everything added and deleted so far visible to this process.
    ///
    /// [`Index::reader`](crate::Index::reader) sees it. It is not durable: what is flushed and not committed is gone
    /// when the writer is, or the process.
    ///
    /// # Cost
    ///
    /// Writes a segment and does not wait for the disk. Small ones are merged as they come together, on this thread: up to
    /// 65,536 documents at once, or more if there are more than 64 segments since the last commit. If the schema has an
    /// [order](crate::schema::SchemaBuilder::order_by), what was added is written once more, in that, on this thread too.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.flush()?;
    /// let reader = index.reader()?;
    /// assert_eq!(reader.searcher().n_docs(), 1);
    /// assert_eq!(index.searcher()?.n_docs(), 0); // nothing is committed
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`commit`](Self::commit).
    pub fn flush(&mut self) -> Result<FlushInfo> {
        self.check()?;
        let watch = self.resources.observer.begin(Operation::Flush);
        let flushed = self.attempt(|writer| writer.try_flush().map_err(before_publishing));
        report::flush(&self.resources.observer, watch, flushed.as_ref().copied());
        flushed
    }

    fn try_flush(&mut self) -> Result<FlushInfo> {
        self.stage_and_merge()?;
        let flush = self.published.next_flush();
        let snapshot = self.open_staging(flush)?;
        let Counts { added, deleted, .. } = self.staging.counts;
        let documents = snapshot.manifest.n_docs();
        let segments = snapshot.manifest.segments.len();
        self.published.publish(snapshot);
        Ok(FlushInfo { documents, added, deleted, segments })
    }

    /// [Stages](Self::stage), and merges what is due of the segments since the last commit, as far as that is soon done.
    pub(super) fn stage_and_merge(&mut self) -> Result<()> {
        self.stage()?;
        let mut rest = self.staging.unsettled();
        while let Some(due) = self.due(rest.clone()) {
            let segments = &self.staging.segments()[due.clone()];
            let n_docs: u64 = segments.iter().map(|segment| u64::from(segment.n_live())).sum();
            if n_docs > FLUSHED_DOCS_MAX && self.staging.unsettled().len() <= FLUSHED_SEGMENTS_MAX {
                rest.start = due.end;
            } else {
                self.merge_staged(due)?;
                rest = self.staging.unsettled();
            }
        }
        Ok(())
    }

    /// Makes what was added so far a segment where the schema has an order and it is as much as is put in order at once; whether
    /// it did. The [policy](crate::WriterOptions::merge_policy) says when such segments become one: they are in order then, and
    /// are read once for that.
    pub(super) fn end_large_segment(&mut self) -> Result<bool> {
        let has_order = !self.rules.schema.order_fields().is_empty();
        let is_large = self.pipeline.as_ref().is_some_and(Pipeline::is_large_to_reorder);
        if has_order && is_large {
            self.attempt(Self::stage_and_merge)?;
        }
        Ok(has_order && is_large)
    }

    /// Everything so far as segments: what was added is a new one, and what was deleted is told by all.
    pub(super) fn stage(&mut self) -> Result<()> {
        self.submit_pending()?;
        let n_old = self.staging.segments().len();
        if let Some(pipeline) = self.pipeline.take() {
            let counts = &mut self.staging.counts;
            counts.tokens_skipped += pipeline.tokens_skipped();
            counts.runs_spilled += pipeline.runs_spilled();
            let on_progress = &mut self.on_progress;
            let built = pipeline.finish(|progress| report_progress(on_progress, progress))?;
            self.staging.counts.added += u64::from(built.n_docs);
            self.staging.add(built);
        }
        self.recent_keys.clear();
        let new = self.staging.segments().get(n_old).map(|segment| segment.id);
        self.carry_out_deletions(n_old)?;
        // Only now: what a document replaces, and what was deleted before it came, is told by when it was added.
        let place = self.staging.segments().iter().position(|segment| Some(segment.id) == new);
        place.map_or(Ok(()), |at| self.put_in_order(at..at + 1))
    }

    /// Makes what was told to delete part of the segments, of which the first `n_old` were there when it was asked for.
    /// Segments without any document left go as well.
    pub(super) fn carry_out_deletions(&mut self, n_old: usize) -> Result<()> {
        let mut deletions = std::mem::take(&mut self.deletions);
        let key = self.rules.schema.key_id().filter(|_| self.staging.segments().len() > n_old);
        if deletions.is_empty() && key.is_none() {
            return Ok(());
        }
        let open = self.open_staging(0)?;
        let parts = open.segments.iter().zip(&open.manifest.segments);
        let readers: Vec<_> = parts
            .map(|(file, segment)| SegmentReader::new(file, &self.rules.schema, segment.n_docs))
            .collect();
        let mut sets: Vec<_> = readers.iter().map(|_| DeletedSet::default()).collect();
        for (at, (reader, set)) in readers.iter().zip(&mut sets).enumerate() {
            deletions.find(*reader, at >= n_old, set)?;
        }
        if let Some(key) = key {
            let (old, new) = sets.split_at_mut(n_old);
            let mut older: Vec<_> = readers.iter().copied().zip(old).collect();
            if let (Some(reader), Some(own)) = (readers.get(n_old), new.first_mut()) {
                deletions::find_replaced(*reader, key, own, &mut older)?;
            }
        }
        let storage = Arc::clone(self.committer.storage());
        let mut nothing_left_of = vec![false; sets.len()];
        for (at, set) in sets.iter_mut().enumerate() {
            if set.len() == 0 {
                continue;
            }
            let before = match &open.deletes[at] {
                None => 0,
                Some(deleted) => {
                    deleted.add_to(set)?;
                    u64::from(deleted.n_docs())
                }
            };
            let segment = &open.manifest.segments[at];
            let new = set.len().checked_sub(before).ok_or_else(|| {
                Error::corrupt("adding to the deletes of a segment")
                    .expected(counted(before, "document"))
                    .found(set.len().to_string())
            })?;
            self.staging.counts.deleted += new;
            if new > 0 && set.len() < u64::from(segment.n_docs) {
                let number = self.ids.next_number();
                let (deletes, file) = deletes::write(&*storage, segment.id, number, set)?;
                self.staging.set_deletes(at, deletes, file);
            } else if new > 0 {
                nothing_left_of[at] = true;
            }
        }
        self.staging.remove(&nothing_left_of);
        Ok(())
    }

    /// The segments as they are now, open. Known segments stay open.
    pub(super) fn open_staging(&mut self, flush: u64) -> Result<Arc<Snapshot>> {
        let is_same = |open: &&Arc<Snapshot>| open.manifest.segments == self.staging.segments();
        if flush == 0
            && let Some(open) = self.open.as_ref().filter(is_same)
        {
            return Ok(Arc::clone(open));
        }
        let manifest = self.committer.manifest(self.draft());
        let storage = &**self.committer.storage();
        let published = self.published.newest();
        let known = self.open.as_deref().or(published.as_deref());
        let open = Snapshot::of_flush(storage, manifest, flush, known)?;
        Ok(Arc::clone(self.open.insert(Arc::new(open))))
    }

    /// Makes one of the segments that were flushed since the last commit, where that costs less than the wait for one
    /// more file.
    pub(super) fn join_small_segments(&mut self) -> Result<()> {
        let unsettled = self.staging.unsettled();
        let segments = &self.staging.segments()[unsettled.clone()];
        let n_docs: u64 = segments.iter().map(|segment| u64::from(segment.n_live())).sum();
        if segments.len() > 1 && n_docs <= JOINED_DOCS_MAX {
            self.merge_staged(unsettled)?;
        }
        Ok(())
    }

    /// Shows the last commit to the readers of this process, if there are any, in the place of what was flushed.
    pub(super) fn publish_commit(&mut self) {
        if !self.published.is_wanted() {
            return;
        }
        let storage = &**self.committer.storage();
        let before = self.published.newest();
        let opened = match self.committer.current() {
            Some(current) => Snapshot::of_commit(storage, current.clone(), before.as_deref()),
            None => self.without_documents(),
        };
        // The commit stands. Readers who could not be told find it by looking for it.
        let Ok(snapshot) = opened else { return self.published.set_stale() };
        let flushed = before.is_some_and(|before| before.version() > snapshot.version());
        let snapshot =
            if flushed { snapshot.instead_of_flush(self.published.next_flush()) } else { snapshot };
        self.open = None;
        self.published.publish(Arc::new(snapshot));
    }

    /// Shows what the disk has to the readers of this process, in the place of what was flushed and is lost.
    pub(super) fn publish_newest(&self) {
        let Some(before) = self.published.newest() else { return };
        let newest = match Snapshot::open_after(&**self.committer.storage(), Some(&before)) {
            Err(error) if error.kind() == ErrorKind::NotAnIndex => self.without_documents(),
            opened => opened,
        };
        match newest {
            Ok(newest) if newest.version() > before.version() => {
                self.published.publish(Arc::new(newest));
            }
            Ok(newest) => {
                let newest = newest.instead_of_flush(self.published.next_flush());
                self.published.publish(Arc::new(newest));
            }
            Err(_) => self.published.set_stale(),
        }
    }

    /// Snapshot before the first commit.
    fn without_documents(&self) -> Result<Snapshot> {
        let nothing = Manifest { segments: vec![], ..self.committer.manifest(self.draft()) };
        Snapshot::of_flush(&**self.committer.storage(), nothing, 0, None)
    }
}
