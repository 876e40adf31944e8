//! Merging: fewer segments, without what is deleted. In the foreground, or as jobs on whatever thread the host has.
//!
//! A [job](MergeJob) reads segments that do not change and writes a file that nobody knows, so it is in nobody's way:
//! documents are added, deleted and committed meanwhile. Deletes in its segments while it runs are carried over to the
//! new one when it is taken in; that concerns the deletes alone.

use super::{IndexWriter, before_publishing, info, report, report_progress};
use crate::budget::{Budget, CancelToken};
use crate::error::{CommitOutcome, Error, ErrorKind, Result};
use crate::events::{Observer, Operation};
use crate::format::FileName;
use crate::format::deletes::DeletedSet;
use crate::format::manifest::SegmentMeta;
use crate::ids::{FieldId, SegmentId};
use crate::schema::Schema;
use crate::segment::builder::BuiltSegment;
use crate::segment::deletes::{self, DeletedDocs};
use crate::segment::file::SegmentFile;
use crate::segment::order::first_out_of_order;
use crate::segment::reader::SegmentReader;
use crate::segment::renumbering::Renumbering;
use crate::segment::snapshot::{self, Snapshot};
use crate::storage::{IoPriority, Pace, Paced, Storage};
use crate::writer::CommitInfo;
use crate::writer::clear_away;
use crate::writer::merge_segments::{self, Merged, Reordering};
use crate::writer::pipeline::Progress;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Segments that are merged at once by those who merge all.
const OPEN_SEGMENTS_MAX: usize = 256;

/// Merges that a writer has begun.
#[derive(Debug)]
pub(super) struct Merges {
    pace: Arc<Pace>,
    priority: IoPriority,
    /// Sources of merges that may still be taken in.
    running: Vec<Weak<Sources>>,
}

/// The segments of a merge.
#[derive(Debug)]
struct Sources(Vec<SegmentId>);

impl Merges {
    pub(super) fn new(bytes_per_second: Option<u64>, priority: IoPriority) -> Self {
        let pace = Arc::new(Pace::default());
        pace.set(bytes_per_second);
        Merges { pace, priority, running: vec![] }
    }

    /// None of them is taken in any more: their files may be gone.
    pub(super) fn forget(&mut self) {
        self.running.clear();
    }

    fn has(&self, segment: &SegmentMeta) -> bool {
        let running = self.running.iter().filter_map(Weak::upgrade);
        running.into_iter().any(|sources| sources.0.contains(&segment.id))
    }
}

/// A merge that is due, to be [run](Self::run) on any thread; from [`IndexWriter::begin_merge`]. Dropping it gives it up.
#[derive(Debug)]
#[must_use = "nothing is merged until it runs"]
pub struct MergeJob {
    input: Input,
    schema: Arc<Schema>,
    id: SegmentId,
    storage: Arc<dyn Storage>,
    pace: Arc<Pace>,
    priority: IoPriority,
    sources: Arc<Sources>,
    observer: Arc<Observer>,
    reordering: Reordering<'static>,
}

/// Segment made by a [`MergeJob`]: durable, but part of no index until [`IndexWriter::finish_merge`]. Dropping it deletes it.
#[derive(Debug)]
#[must_use = "it is part of nothing until the writer takes it in"]
pub struct MergedSegment {
    built: Option<BuiltSegment>,
    /// The numbers that the documents of each segment have in it.
    numbers: Vec<Renumbering>,
    storage: Arc<dyn Storage>,
    sources: Arc<Sources>,
    /// The process that made it: a fork of it must not delete what that has committed.
    process: u32,
}

/// Segments that are merged, open.
#[derive(Debug)]
struct Input {
    metas: Vec<SegmentMeta>,
    files: Vec<Arc<SegmentFile>>,
    deletes: Vec<Option<Arc<DeletedDocs>>>,
}

impl Input {
    /// No pin is needed: only this writer collects, and not what the last commit names; and what is open stays.
    fn open(storage: &dyn Storage, schema: &Schema, metas: &[SegmentMeta]) -> Result<Self> {
        let files = metas.iter().map(|segment| snapshot::open_segment(storage, schema, segment));
        let files = files.collect::<Result<_>>()?;
        let deletes = metas.iter().map(|meta| Snapshot::open_deletes_of(storage, meta, None));
        let deletes = deletes.collect::<Result<_>>()?;
        Ok(Input { metas: metas.to_vec(), files, deletes })
    }

    fn n_live(&self) -> u64 {
        self.metas.iter().map(|segment| u64::from(segment.n_live())).sum()
    }

    fn readers<'s>(&'s self, schema: &'s Schema) -> Vec<SegmentReader<'s>> {
        let parts = self.files.iter().zip(&self.metas).zip(&self.deletes);
        let readers = parts.map(|((file, segment), deletes)| {
            SegmentReader::new(file, schema, segment.n_docs).without(deletes.as_ref())
        });
        readers.collect()
    }
}

/// A segment that is to be written of others.
struct Output<'o> {
    storage: Arc<dyn Storage>,
    id: SegmentId,
    reordering: Reordering<'o>,
    /// Whether it is to be durable at once.
    waits: bool,
    observer: &'o Observer,
}

/// Writes one segment of some. The remains of its file after an error are deleted.
fn write(
    readers: &[SegmentReader<'_>],
    schema: &Schema,
    output: Output<'_>,
    on_progress: impl FnMut(Progress),
) -> Result<Merged> {
    let Output { storage, id, reordering, waits, observer } = output;
    let watch = observer.begin(Operation::Merge);
    let mut unfinished = Unfinished(Some((&*storage, id)));
    let merged =
        merge_segments::merge(readers, schema, Arc::clone(&storage), id, reordering, on_progress);
    let written = merged.and_then(|mut merged| {
        if waits {
            merged.built.file.sync()?;
        }
        Ok(merged)
    });
    report::merge(observer, watch, readers, written.as_ref().err());
    if written.is_ok() {
        unfinished.0 = None;
    }
    written
}

/// A segment whose file goes if it does not come to its end, by an error or a panic of the host's code.
struct Unfinished<'s>(Option<(&'s dyn Storage, SegmentId)>);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some((storage, id)) = self.0 {
            clear_away(storage, &FileName::Segment(id).to_string());
        }
    }
}

impl MergeJob {
    /// Documents that will be written.
    pub fn documents(&self) -> u64 {
        self.input.n_live()
    }

    /// Bytes of the segments that are read.
    pub fn bytes(&self) -> u64 {
        self.input.files.iter().map(|file| file.len()).sum()
    }

    /// Merges, on this thread alone, until somebody cancels. Reads and writes have the
    /// [priority](crate::WriterOptions::merge_io_priority) of jobs.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cancelled`], [`ErrorKind::Timeout`] where it runs under a [`Budget`] of the host's, and those of reading
    /// and writing files. Nothing is left of it then, and the index is as it was.
    pub fn run(self, cancel: &CancelToken) -> Result<MergedSegment> {
        let MergeJob { input, schema, id, storage, pace, priority, sources, observer, reordering } =
            self;
        let paced: Arc<dyn Storage> =
            Arc::new(Paced::new(Arc::clone(&storage), pace, cancel.clone()));
        let _lowered = priority.lower();
        // A merge that reads much and writes little, because most is deleted, is stopped by the budget.
        let output = Output { storage: paced, id, reordering, waits: true, observer: &observer };
        let merged = Budget::new()
            .cancel(cancel)
            .run(|| write(&input.readers(&schema), &schema, output, |_| ()));
        let Merged { built, numbers } = merged.map_err(|error| match error.kind() {
            ErrorKind::Cancelled => Error::new(ErrorKind::Cancelled, "merging segments"),
            _ => error,
        })?;
        let process = std::process::id();
        Ok(MergedSegment { built: Some(built), numbers, storage, sources, process })
    }
}

impl Drop for MergedSegment {
    fn drop(&mut self) {
        let is_ours = std::process::id() == self.process;
        if let Some(BuiltSegment { id, .. }) = self.built.take().filter(|_| is_ours) {
            clear_away(&*self.storage, &FileName::Segment(id).to_string());
        }
    }
}

impl MergedSegment {
    /// Documents deleted since the merge began, by the numbers of the new segment. `now` are the same segments as they
    /// are by now.
    fn deleted_since(&self, now: &[SegmentMeta]) -> Result<DeletedSet> {
        let mut set = DeletedSet::default();
        for (numbers, segment) in self.numbers.iter().zip(now) {
            if let Some(deletes) = Snapshot::open_deletes_of(&*self.storage, segment, None)? {
                deletes.for_each(segment.n_docs, |doc| {
                    if let Some(new) = numbers.get(doc) {
                        set.add(new);
                    }
                })?;
            }
        }
        Ok(set)
    }
}

impl IndexWriter {
    /// Makes all segments of the index one, without what is deleted.
    ///
    /// Documents added since the last commit come along, if there are any.
    ///
    /// # Errors
    ///
    /// Fails like [`commit`](Self::commit). If the outcome is [`Committed`](CommitOutcome::Committed), only the merge failed: what was
    /// added is durable, and unless publishing failed the writer goes on.
    pub fn merge(&mut self) -> Result<CommitInfo> {
        self.merge_to(1)
    }

    /// Merges segments as [`merge`](Self::merge), until there are at most `segments`. Neighbours with the fewest documents
    /// become one.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// for n in 0..5 {
    ///     writer.add(Document::new().with("title", format!("number {n}")))?;
    ///     writer.commit()?;
    /// }
    /// assert_eq!(writer.merge_to(3)?.segments, 3);
    /// assert_eq!(writer.merge()?.segments, 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`merge`](Self::merge).
    pub fn merge_to(&mut self, segments: usize) -> Result<CommitInfo> {
        let first = self.commit()?;
        if self.staging.segments().len() > OPEN_SEGMENTS_MAX {
            // By few at a time: who merges has all of them open.
            self.maintain().map_err(|error| error.outcome(CommitOutcome::Committed))?;
        }
        let groups = cheapest(self.staging.segments(), segments.max(1));
        if groups.is_empty() {
            return Ok(first);
        }
        self.merge_groups(first, groups.into_iter(), &[])
    }

    /// Makes all segments one, as [`merge`](Self::merge), with similar documents near each other.
    ///
    /// Similar are documents that have the same words: in the fields that the schema
    /// [says](crate::SchemaBuilder::order_by_similarity), or else in all of text.
    ///
    /// An index whose schema says nothing of it can be put in this order once, as when it has been filled: what is added later comes behind, and
    /// later merges leave what there is as it stands. Whoever wants to know when a document was added needs a field that says so.
    ///
    /// # Cost
    ///
    /// The cost of [the order of a schema](crate::SchemaBuilder::order_by_similarity), and the merge.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// for n in 0..1_000 {
    ///     let topic = ["red birds of the north", "old trains of the south"][n * 7 % 10 / 5];
    ///     writer.add(Document::new().with("title", topic))?;
    /// }
    /// writer.reorder()?;
    /// let searcher = index.searcher()?;
    /// let birds = searcher.search(&searcher.parse("birds")?).limit(1_000).run()?;
    /// let docs: Vec<u64> = birds.hits.iter().map(|hit| hit.doc.0).collect();
    /// assert!(docs.iter().eq(&Vec::from_iter(docs[0]..docs[0] + 500))); // side by side
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Schema`] for an index in an order of fields, which stays as it is, and for one without fields of text;
    /// [`ErrorKind::Cancelled`] and [`ErrorKind::Timeout`] where it runs under a [`Budget`] of the host's, and those of
    /// [`merge`](Self::merge).
    pub fn reorder(&mut self) -> Result<CommitInfo> {
        let fields = self.fields_of_similarity()?;
        let first = self.commit()?;
        if self.staging.segments().len() > OPEN_SEGMENTS_MAX {
            self.maintain().map_err(|error| error.outcome(CommitOutcome::Committed))?;
        }
        match self.staging.segments().len() {
            0 => Ok(first),
            n => self.merge_groups(first, std::iter::once(0..n), &fields),
        }
    }

    fn fields_of_similarity(&self) -> Result<Vec<FieldId>> {
        let schema = &self.rules.schema;
        if !schema.order_fields().is_empty() {
            return Err(Error::new(ErrorKind::Schema, "ordering documents by similarity")
                .expected("an index whose schema has no order of fields")
                .found(format!("the order {}", schema.order().collect::<Vec<_>>().join(", "))));
        }
        match schema.similarity_field_ids() {
            [] => {
                let of_all = schema.ordered_by_similarity::<&str>([])?;
                Ok(of_all.similarity_field_ids().to_vec())
            }
            fields => Ok(fields.to_vec()),
        }
    }

    /// Makes one segment of each group of neighbours and commits them; by similarity where there are fields for that.
    fn merge_groups(
        &mut self,
        first: CommitInfo,
        groups: impl DoubleEndedIterator<Item = Range<usize>>,
        fields: &[FieldId],
    ) -> Result<CommitInfo> {
        // The added documents are durable by now, whatever becomes of the merge. From the back, so that the others stay
        // where they are.
        let merged = groups.rev().try_for_each(|group| self.merge_range(group, true, fields));
        let merged = merged.and_then(|()| self.attempt(Self::commit_staging));
        let manifest = merged.map_err(|error| error.outcome(CommitOutcome::Committed))?;
        let CommitInfo { added, deleted, runs_spilled, tokens_skipped, .. } = first;
        Ok(CommitInfo { added, deleted, runs_spilled, tokens_skipped, ..info(&manifest) })
    }

    /// Merges the segments that are due by the [policy](crate::WriterOptions::merge_policy), in the foreground.
    ///
    /// It makes a commit for each merge, and returns the number of merges. Documents added and deletions since the
    /// last commit wait for the next; so do the merges if anything of them was [flushed](Self::flush).
    ///
    /// To be called after every commit, or when there is time: an index that is committed to often has few segments
    /// then. Whoever searches keeps the old segments until it reloads. See [`begin_merge`](Self::begin_merge) for merging on other threads.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// for n in 0..100 {
    ///     writer.add(Document::new().with("title", format!("number {n}")))?;
    ///     writer.commit()?;
    ///     writer.maintain()?;
    /// }
    /// assert_eq!(writer.commit()?.documents, 100);
    /// assert!(index.inspect()?.segments().len() < 16);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`commit`](Self::commit); the commits before stand. If a merge fails, as on a full disk, the writer goes on with
    /// everything that waits for the next commit; if only its commit fails, the writer is as after any commit that does.
    pub fn maintain(&mut self) -> Result<usize> {
        self.check()?;
        let mut n_merges = 0;
        while let Some(due) = self.due(0..self.staging.segments().len()) {
            let waits = self.staging.has_changes();
            // Until here nothing has changed, so there is nothing to give up after an error.
            self.merge_durably(due).map_err(before_publishing)?;
            self.commit_merge(waits)?;
            n_merges += 1;
        }
        Ok(n_merges)
    }

    /// A merge that is due by the [policy](crate::WriterOptions::merge_policy), if there is one.
    ///
    /// It is of segments that no other job merges, and for the host to run at any time and on any thread.
    ///
    /// ```
    /// use treepie::{CancelToken, Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// let cancel = CancelToken::new();
    /// for n in 0..100 {
    ///     writer.add(Document::new().with("title", format!("number {n}")))?;
    ///     writer.commit()?;
    ///     if let Some(job) = writer.begin_merge()? {
    ///         let cancel = cancel.clone();
    ///         let merging = std::thread::spawn(move || job.run(&cancel));
    ///         writer.commit()?; // goes on meanwhile
    ///         writer.finish_merge(merging.join().unwrap()?)?;
    ///     }
    /// }
    /// assert!(index.inspect()?.segments().len() < 16);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Errors of opening the segments; the writer goes on.
    pub fn begin_merge(&mut self) -> Result<Option<MergeJob>> {
        self.check()?;
        self.merges.running.retain(|sources| sources.strong_count() > 0);
        let Some(due) = self.due(0..self.staging.segments().len()) else { return Ok(None) };
        let storage = Arc::clone(self.committer.storage());
        let input = Input::open(&*storage, &self.rules.schema, &self.staging.segments()[due])?;
        let sources = Arc::new(Sources(input.metas.iter().map(|segment| segment.id).collect()));
        self.merges.running.push(Arc::downgrade(&sources));
        let Merges { pace, priority, .. } = &self.merges;
        let (pace, priority) = (Arc::clone(pace), *priority);
        let (schema, id) = (Arc::clone(&self.rules.schema), self.ids.next());
        let observer = Arc::clone(&self.resources.observer);
        let reordering = Reordering::by_schema(&schema, &self.resources, input.n_live());
        Ok(Some(MergeJob {
            input,
            schema,
            id,
            storage,
            pace,
            priority,
            sources,
            observer,
            reordering: reordering.on_one_thread(),
        }))
    }

    /// Puts the result of a job in the place of the segments that it merged.
    ///
    /// Documents deleted meanwhile are left out. It is by a commit of its own, or with the next one as
    /// [`maintain`](Self::maintain). `false`, and nothing happens, if the segments are not there any more, as after a
    /// [`rollback`](Self::rollback) or another merge, or where another writer began the job.
    ///
    /// # Errors
    ///
    /// Fails like [`maintain`](Self::maintain).
    pub fn finish_merge(&mut self, mut merged: MergedSegment) -> Result<bool> {
        self.check()?;
        let is_known = |known: &Weak<Sources>| known.as_ptr() == Arc::as_ptr(&merged.sources);
        let known = self.merges.running.iter().position(is_known);
        let Some(range) = known.and_then(|_| self.position_of(&merged.sources)) else {
            return Ok(false);
        };
        let waits = self.staging.has_changes();
        let mut since = merged.deleted_since(&self.staging.segments()[range.clone()])?;
        let Some(BuiltSegment { id, n_docs, .. }) = merged.built else { return Ok(false) };
        // First, as long as nothing has changed: without them what was deleted would be there again.
        let deletes = if since.len() > 0 && since.len() < u64::from(n_docs) {
            let storage = self.committer.storage();
            let written = deletes::write(&**storage, id, self.ids.next_number(), &mut since);
            Some(written.map_err(before_publishing)?)
        } else {
            None
        };
        let Some(built) = merged.built.take() else { return Ok(false) };
        known.map(|known| self.merges.running.swap_remove(known));
        let at = range.start;
        // All of it or a useless writer, as the host's storage may panic in any step.
        self.attempt(|writer| {
            writer.staging.replace(range, built);
            if let Some((deletes, file)) = deletes {
                writer.staging.set_deletes(at, deletes, file);
            } else if since.len() > 0 {
                let mut nothing_left_of = vec![false; writer.staging.segments().len()];
                nothing_left_of[at] = true;
                writer.staging.remove(&nothing_left_of);
            }
            Ok(())
        })?;
        self.commit_merge(waits)?;
        Ok(true)
    }

    /// Range of the segments of a merge, if they are still side by side.
    fn position_of(&self, sources: &Sources) -> Option<Range<usize>> {
        let ids: Vec<_> = self.staging.segments().iter().map(|segment| segment.id).collect();
        let n = sources.0.len();
        let at = ids.windows(n.max(1)).position(|window| window == sources.0)?;
        Some(at..at + n)
    }

    /// Neighbours of a range that are to become one and that no job merges.
    pub(super) fn due(&self, range: Range<usize>) -> Option<Range<usize>> {
        let segments = self.staging.segments().get(range.clone())?;
        let mut at = range.start;
        segments.chunk_by(|a, b| self.merges.has(a) == self.merges.has(b)).find_map(|group| {
            let start = at;
            at += group.len();
            let is_free = !self.merges.has(group.first()?);
            let due = is_free.then(|| self.merge_policy.due(group)).flatten()?;
            Some(start + due.start..start + due.end)
        })
    }

    /// Makes some neighbouring segments one, without their deleted documents. If that fails nothing has changed.
    pub(super) fn merge_staged(&mut self, range: Range<usize>) -> Result<()> {
        self.merge_range(range, false, &[])
    }

    /// Merges a range, and waits for the disk now, as long as nothing depends on it.
    fn merge_durably(&mut self, range: Range<usize>) -> Result<()> {
        self.merge_range(range, true, &[])
    }

    /// Merges a range in the order that the schema says, or if there are fields, in that of similarity by these.
    fn merge_range(&mut self, range: Range<usize>, waits: bool, fields: &[FieldId]) -> Result<()> {
        let storage = Arc::clone(self.committer.storage());
        let input =
            Input::open(&*storage, &self.rules.schema, &self.staging.segments()[range.clone()])?;
        let (id, schema) = (self.ids.next(), &self.rules.schema);
        let on_progress = &mut self.on_progress;
        let on_progress = |progress| report_progress(on_progress, progress);
        let (resources, observer) = (&self.resources, &*self.resources.observer);
        let reordering = match fields {
            [] => Reordering::by_schema(schema, resources, input.n_live()),
            _ => Reordering::by_similarity(fields, resources),
        };
        let output = Output { storage, id, reordering, waits, observer };
        let Merged { built, .. } = write(&input.readers(schema), schema, output, on_progress)?;
        drop(input);
        self.staging.replace(range, built);
        Ok(())
    }

    /// Puts segments that were written as documents were added in the order of the schema, if it has one. Deleted documents
    /// are dropped. Segments in that order stay, and in the order of similarity small ones.
    pub(super) fn put_in_order(&mut self, range: Range<usize>) -> Result<()> {
        for at in range {
            if self.is_to_be_put_in_order(at)? {
                // The file that is merged goes, and takes room on disk for as long as it is open.
                self.open = None;
                self.merge_range(at..at + 1, false, &[])?;
            }
        }
        Ok(())
    }

    fn is_to_be_put_in_order(&self, at: usize) -> Result<bool> {
        let (schema, segments) = (&self.rules.schema, &self.staging.segments()[at..=at]);
        if schema.order_fields().is_empty() {
            let n_docs: u64 = segments.iter().map(|segment| u64::from(segment.n_live())).sum();
            return Ok(Reordering::by_schema(schema, &self.resources, n_docs).similarity.is_some());
        }
        let input = Input::open(&**self.committer.storage(), schema, segments)?;
        let mut readers = input.readers(schema).into_iter();
        let out_of_order = readers.find_map(|reader| first_out_of_order(reader).transpose());
        Ok(out_of_order.transpose()?.is_some())
    }

    /// Commits a merge, unless it waits for what was flushed before.
    fn commit_merge(&mut self, waits: bool) -> Result<()> {
        if waits {
            return Ok(());
        }
        // Making it durable first may fail, or panic, and is not to be tried again.
        self.attempt(|writer| writer.commit_staging().map_err(before_publishing)).map(drop)
    }

    /// Adds the documents of other segments of the same schema, which are open, as one new segment.
    pub(crate) fn add_segments(&mut self, readers: &[SegmentReader<'_>]) -> Result<u64> {
        self.check()?;
        self.attempt(Self::stage)?;
        if readers.iter().all(|reader| reader.n_live() == 0) {
            return Ok(0);
        }
        let n_old = self.staging.segments().len();
        let storage = Arc::clone(self.committer.storage());
        let (id, schema) = (self.ids.next(), &self.rules.schema);
        let on_progress = &mut self.on_progress;
        let on_progress = |progress| report_progress(on_progress, progress);
        let n_docs = readers.iter().map(|reader| u64::from(reader.n_live())).sum();
        let reordering = Reordering::by_schema(schema, &self.resources, n_docs);
        let observer = &*self.resources.observer;
        let output = Output { storage, id, reordering, waits: false, observer };
        let Merged { built, .. } = write(readers, schema, output, on_progress)?;
        let n_docs = u64::from(built.n_docs);
        self.staging.counts.added += n_docs;
        self.staging.add(built);
        self.attempt(|writer| writer.carry_out_deletions(n_old))?;
        Ok(n_docs)
    }
}

/// Neighbours that are to become one each so that at most `n` segments are left and few documents are written: again and
/// again those two that have the fewest together. For one segment that includes a single one of which documents are deleted, or that
/// was made without fields that were added since.
fn cheapest(segments: &[SegmentMeta], n: usize) -> Vec<Range<usize>> {
    if n == 1 {
        let is_old =
            |segment: &SegmentMeta| segment.deletes.is_some() || segment.n_added_fields > 0;
        let all = 0..segments.len();
        return if all.len() > 1 || segments.iter().any(is_old) { vec![all] } else { vec![] };
    }
    let single = |(at, segment): (usize, &SegmentMeta)| (at..at + 1, u64::from(segment.n_live()));
    let mut groups: Vec<_> = segments.iter().enumerate().map(single).collect();
    while groups.len() > n {
        let sum = |at: &usize| groups[*at].1 + groups[*at + 1].1;
        let Some(at) = (0..groups.len() - 1).min_by_key(sum) else { break };
        let (next, n_docs) = groups.remove(at + 1);
        groups[at].0.end = next.end;
        groups[at].1 += n_docs;
    }
    groups.into_iter().map(|(group, _)| group).filter(|group| group.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::envelope::Seal;

    #[test]
    fn the_fewest_documents_are_written_for_so_many_segments() {
        let segment = |n_docs| SegmentMeta {
            id: SegmentId([1; 16]),
            seal: Seal { file_len: 1, footer_crc: 1 },
            n_docs,
            deletes: None,
            n_added_fields: 0,
        };
        let segments = [90, 5, 5, 80, 3, 9].map(segment);
        let merged = |n| -> Vec<(usize, usize)> {
            cheapest(&segments, n).iter().map(|group| (group.start, group.end)).collect()
        };
        assert!(merged(6).is_empty());
        assert_eq!(merged(5), [(1, 3)]);
        assert_eq!(merged(4), [(1, 3), (4, 6)]);
        assert_eq!(merged(3), [(1, 4), (4, 6)]);
        assert_eq!(merged(1), [(0, 6)]);
        assert!(cheapest(&segments[..1], 1).is_empty());
        assert!(cheapest(&[], 1).is_empty());
    }

    /// Jobs are started with and without the option: the thread's priority is lower while it runs one.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_job_is_less_urgent_than_its_thread() {
        use crate::document::Document;
        use crate::events::{Listener, What};
        use crate::storage::{MemoryStorage, io_priority};
        use crate::writer::{Existing, MergePolicy, WriterOptions};
        use std::sync::Mutex;

        let urgency_of_jobs = |options: WriterOptions| {
            let seen = Arc::new(Mutex::new(vec![]));
            let saw = Arc::clone(&seen);
            let listener = Listener::new(move |event| {
                if matches!(event.what, What::Merge { .. }) {
                    saw.lock().unwrap().push(io_priority());
                }
            });
            let options =
                options.threads(1).observed_by(Arc::new(Observer::new(Some(listener), false)));
            let schema = Schema::builder().text("title").build().unwrap();
            let (storage, existing) = (Arc::new(MemoryStorage::new()), Existing::Refuse);
            let (analyzers, published) = (Arc::default(), Arc::default());
            let mut writer =
                IndexWriter::open(storage, schema, analyzers, existing, published, options)
                    .unwrap();
            let two = |writer: &mut IndexWriter| {
                for _ in 0..2 {
                    writer.add(Document::new().with("title", "treepie")).unwrap();
                    writer.commit().unwrap();
                }
            };
            two(&mut writer);
            let job = writer.begin_merge().unwrap().expect("two segments of one document");
            drop(job.run(&CancelToken::new()).unwrap());
            assert_eq!(io_priority(), None, "it has its own again");
            writer.merge().unwrap();
            seen.lock().unwrap().clone()
        };
        let test = move || {
            let policy = || WriterOptions::new().merge_policy(MergePolicy::default().factor(2));
            assert_eq!(urgency_of_jobs(policy()), [Some(IoPriority::Low), None]);
            let idle = policy().merge_io_priority(IoPriority::Idle);
            assert_eq!(urgency_of_jobs(idle), [Some(IoPriority::Idle), None]);
            let unchanged = policy().merge_io_priority(IoPriority::Unchanged);
            assert_eq!(urgency_of_jobs(unchanged), [None, None]);
        };
        std::thread::spawn(test).join().unwrap();
    }
}
