//! From documents to a durable commit.
//!
//! [`IndexWriter`] takes documents, or whole lists of lines, and hands them in batches to a pipeline
//! that builds one segment. [`IndexWriter::commit`] finishes the segment and makes it part of the index.
//!
//! ```
//! use treepie::writer::MergePolicy;
//! use treepie::{Document, Index, Schema, WriterOptions};
//!
//! let index = Index::in_memory(Schema::builder().key("id").text("title").build()?);
//! let mut writer = index.writer_with(WriterOptions::new().threads(1).merge_policy(MergePolicy::default()))?;
//! writer.add(Document::new().with("id", "1").with("title", "Paris"))?;
//! writer.add(Document::new().with("id", "1").with("title", "Paris, Texas"))?; // in its place
//! let commit = writer.commit()?; // Ok = it survives a power failure
//! assert_eq!((commit.generation, commit.documents), (1, 1));
//!
//! let writer = writer.into_shared(); // for any number of threads
//! writer.add(Document::new().with("id", "2").with("title", "London"))?;
//! writer.commit()?;
//! assert_eq!(index.searcher()?.n_docs(), 2);
//! # Ok::<(), treepie::Error>(())
//! ```

mod batch;
pub(crate) mod commit;
pub(crate) mod create;
mod deletions;
mod failure;
mod field_buffer;
mod flushing;
mod graph;
mod lines;
mod lock;
mod merge_policy;
mod merge_runs;
mod merge_segments;
mod merge_terms;
mod merged_terms;
mod merging;
#[cfg(test)]
mod occurrence_tests;
mod options;
mod order;
mod pipeline;
mod prepared;
pub(crate) mod recover;
mod reorder;
mod report;
mod run;
mod rules;
pub(crate) mod salvage;
mod similar;
mod staging;
mod states;
mod term_table;
mod thread_pool;
mod update;
mod pages;
mod points;
mod vectors;
mod worker;

pub use batch::{DOCUMENT_BYTES_MAX, VALUE_BYTES_MAX};
pub(crate) use deletions::{DeleteCollector, Matching};
pub use flushing::FlushInfo;
pub use lines::{BadLines, LineFormat, LinesReport};
pub use merge_policy::MergePolicy;
pub use merging::{MergeJob, MergedSegment};
pub use options::WriterOptions;
pub use pipeline::Progress;
pub use prepared::PreparedCommit;
pub use recover::{DamagedCommit, Recovery};
pub use salvage::{Salvage, SalvagedSegment, SegmentOutcome};
pub use thread_pool::ThreadPool;

pub use crate::shared_writer::{Buffered, PeriodicCommits, SharedWriter};

use crate::analysis::{Analyzers, TermVersions};
use crate::document::Document;
use crate::error::{CommitOutcome, Error, ErrorKind, Result};
use crate::events::Operation;
use crate::format::manifest::{Manifest, PAYLOAD_BYTES_MAX, SegmentMeta};
use crate::format::terms::MAX_TERM_LEN;
use crate::ids::{FieldId, SegmentId};
use crate::limits::Limits;
use crate::plural::counted;
use crate::schema::{Field, Schema};
use crate::segment::published::Published;
use crate::segment::snapshot::Snapshot;
use crate::storage::{MemoryStorage, Storage};
use crate::value::Value;
use batch::{Batch, DocumentBatch};
use commit::{Committer, Draft, OlderFormat, Prepared};
use deletions::Deletions;
use lines::LineReader;
use merging::Merges;
use options::IdSource;
use pipeline::{OnProgress, Pipeline, Resources};
pub(crate) use rules::WriterContext;
use staging::Staging;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::{fmt, fs};
use update::RecentKeys;

/// Treatment of documents that are already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// There must be none.
    Refuse,
    /// They stay, and new ones come behind them.
    Keep,
    /// The first commit replaces them.
    Replace,
}

/// Maximum bytes of documents that wait to be worked on.
const WAITING_BYTES_MAX: usize = 32 << 20;

/// The one writer of an index: adds documents and makes them durable by commits.
///
/// Documents that were added become visible, and survive, with [`commit`](Self::commit); until then, and
/// if the process ends before, the index is as the last commit left it, but for what [`flush`](Self::flush) shows this
/// process. After an error that may
/// have lost documents every later call fails with [`ErrorKind::Poisoned`], until [`rollback`](Self::rollback).
///
/// # Cost
///
/// Memory stays within [`WriterOptions::memory_bytes`] and 64 MiB as long as no word is in more than some two million
/// documents of a segment: what does not fit is spilled into the index directory and merged at the commit, by lists,
/// which takes some 20 bytes for each document with the most frequent word, and some 6 for each word of a
/// field. A commit writes one file and waits four times for the disk.
///
/// If the schema has an [order](crate::schema::SchemaBuilder::order_by), a commit, a merge, and whatever else makes what was
/// added a segment, puts that in order on the caller's thread: that takes 20 bytes more for each document of the segment and 16 for
/// each field of the order but the first, and reads it several times if it is more than a quarter of that memory. Documents
/// added between two commits become a segment of their own whenever they are about twice that memory. The cost of putting similar
/// documents near each other is
/// [described there](crate::schema::SchemaBuilder::order_by_similarity).
///
/// ```
/// use treepie::{Document, Index, Schema};
/// # let dir = std::env::temp_dir().join(format!("treepie-doc-writer-{}", std::process::id()));
/// # let _ = std::fs::remove_dir_all(&dir);
///
/// let schema = Schema::builder().text("title").keyword("qualifier").build()?;
/// let mut writer = Index::create(&dir, schema)?.writer()?;
/// writer.add(Document::new().with("title", "Paris (film)").with("qualifier", "film"))?;
/// let commit = writer.commit()?;
/// assert_eq!(commit.documents, 1);
/// # drop(writer);
/// # std::fs::remove_dir_all(&dir).unwrap();
/// # Ok::<(), treepie::Error>(())
/// ```
pub struct IndexWriter {
    committer: Committer,
    /// Versions of the analyzers that make the terms, as long as the writer is open.
    term_versions: TermVersions,
    rules: WriterContext,
    resources: Resources,
    ids: IdSource,
    on_progress: Option<OnProgress>,
    /// Flushes and commits that this process sees.
    published: Arc<Published>,
    /// Segments of the next commit, without documents that are in none yet.
    staging: Staging,
    /// The segments as they were when they were last needed.
    open: Option<Arc<Snapshot>>,
    /// The segment that documents go into, from the first one on.
    pipeline: Option<Pipeline>,
    pending: DocumentBatch,
    /// Keys of the documents that are in no segment yet.
    recent_keys: RecentKeys,
    deletions: Deletions,
    merge_policy: MergePolicy,
    merges: Merges,
    payload: Vec<u8>,
    failed: bool,
    n_rollbacks: u64,
    /// Whether the first commit replaces what there is.
    replaces: bool,
}

/// Result of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitInfo {
    /// The number of the commit; it only grows.
    pub generation: u64,
    /// Documents of the index.
    pub documents: u64,
    /// Documents that this commit added.
    pub added: u64,
    /// Documents that this commit deleted or replaced, those among them that it added.
    pub deleted: u64,
    /// Segments of the index.
    pub segments: usize,
    /// Runs that were spilled to disk on the way.
    pub runs_spilled: u64,
    /// Tokens that this commit left out because they are too long.
    ///
    /// Too long is that for a term or for a filter of their field's analyzer. Their positions stay empty.
    pub tokens_skipped: u64,
}

impl IndexWriter {
    /// Becomes the writer of the index in `storage`.
    pub(crate) fn open(
        storage: Arc<dyn Storage>,
        schema: Schema,
        analyzers: Arc<Analyzers>,
        existing: Existing,
        published: Arc<Published>,
        options: WriterOptions,
    ) -> Result<Self> {
        let older = match existing {
            Existing::Replace => OlderFormat::Supersede,
            Existing::Refuse | Existing::Keep => OlderFormat::Refuse,
        };
        let committer = Committer::open_within(storage, older, options.wait)?;
        // Another writer of this value may have made the first commit while this one waited.
        let existing = match published.established.load(Ordering::Relaxed) {
            true => Existing::Keep,
            false => existing,
        };
        let (schema, kept) = start(&committer, schema, existing)?;
        let limits = options.limits();
        let merge_policy = options.merge_policy;
        let merges = Merges::new(options.merge_bytes_per_second, options.merge_io_priority);
        let (resources, ids, on_progress) = options.resolve()?;
        let term_versions = match committer.current() {
            Some(current) if existing != Existing::Replace && !current.segments.is_empty() => {
                current.term_versions
            }
            _ => TermVersions::CURRENT,
        };
        let analyzers = analyzers.in_version(term_versions.analysis);
        let rules = WriterContext::new(schema, analyzers, limits);
        Ok(IndexWriter {
            term_versions,
            payload: match committer.current() {
                // The payload of a replaced index does not describe the new one.
                Some(current) if existing != Existing::Replace => current.payload.clone(),
                _ => vec![],
            },
            staging: Staging::new(Arc::clone(committer.storage()), kept),
            open: None,
            published,
            committer,
            rules,
            resources,
            ids,
            on_progress,
            pipeline: None,
            pending: DocumentBatch::default(),
            recent_keys: RecentKeys::default(),
            deletions: Deletions::default(),
            merge_policy,
            merges,
            failed: false,
            n_rollbacks: 0,
            replaces: existing == Existing::Replace,
        })
    }

    /// The fields that documents may have.
    pub fn schema(&self) -> &Schema {
        &self.rules.schema
    }

    /// Adds a document. It is checked now, and tokenized when enough have come together. If the schema has a
    /// [key](crate::schema::SchemaBuilder::key), it takes the place of the document with the same key, if there is one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Document`] if it does not fit the schema or lacks the key, [`ErrorKind::Analyzer`] where a field's analyzer is
    /// neither built in nor registered; the writer goes on without it. Any other kind is about the index,
    /// and the writer is useless afterwards.
    pub fn add(&mut self, document: Document) -> Result<()> {
        if self.add_to_segment(document)? {
            self.end_large_segment()?;
        }
        Ok(())
    }

    /// Adds a document to the segment that is being built, however large that gets; whether a batch of documents went to the
    /// threads with it.
    fn add_to_segment(&mut self, document: Document) -> Result<bool> {
        self.check()?;
        self.rules.check_analyzers(&document)?;
        let doc = self.pipeline_docs() + self.pending.n_docs;
        let WriterContext { schema, limits, .. } = &self.rules;
        self.pending.add(&document, doc, schema, limits)?;
        let rules = &self.rules;
        self.recent_keys.add(|| {
            let id = schema.key_id()?;
            let mut values = document.values_of(schema, id);
            rules.term(id, values.find(|value| !value.is_null())?).ok()
        });
        let batch_bytes = self.resources.batch_bytes();
        let is_batch = self.pending.heap_bytes() >= batch_bytes && self.pending.is_at_chunk_end();
        if is_batch {
            self.submit_pending()?;
        }
        Ok(is_batch)
    }

    /// Adds every line of `input` as a document, on all threads. Copies of the fields that a line fills are filled, too; where
    /// one is a keyword, so that the whole line is a term, a line may have 32,766 bytes.
    ///
    /// # Errors
    ///
    /// A line that `bad_lines` refuses is an error of kind [`ErrorKind::Document`] that names the line; documents before it
    /// may have been added, so the writer is useless afterwards, and the index is as it was.
    pub fn add_lines(
        &mut self,
        input: impl Read,
        format: &LineFormat,
        bad_lines: BadLines,
    ) -> Result<LinesReport> {
        self.check()?;
        let fields = format.resolve(&self.rules.schema)?;
        if let Some(key) = self.rules.schema.key() {
            return Err(Error::new(ErrorKind::Usage, "adding lines")
                .expected("a schema without a key")
                .found(format!("the key '{}', which lines do not have", key.name)));
        }
        self.submit_pending()?;
        let mut reader = LineReader::new(input, fields, bad_lines, self.pipeline_docs())
            .with_line_bytes(self.rules.line_bytes(fields)?);
        self.attempt(|writer| writer.submit_lines(&mut reader))?;
        Ok(reader.report)
    }

    fn submit_lines<R: Read>(&mut self, reader: &mut LineReader<R>) -> Result<()> {
        let batch_bytes = self.resources.batch_bytes();
        while let Some(batch) = reader.next_batch(batch_bytes)? {
            self.submit(Batch::Lines(batch))?;
            if self.end_large_segment()? {
                reader.begin_segment();
            }
        }
        Ok(())
    }

    /// Deletes the document with this key, if there is one by now; as [`delete_value`](Self::delete_value).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] where the schema has no key.
    pub fn delete_key(&mut self, key: impl Into<Value>) -> Result<()> {
        let id = self.rules.key()?;
        let term = self.rules.term(id, &key.into())?;
        self.delete_in(id, &term)
    }

    /// Deletes every document that has this value in a keyword or typed field.
    ///
    /// Deleted are documents that are there by now, as [`delete`](Self::delete) does what matches a query. Many
    /// values at once cost little more than one: they are looked up in one pass. If they take more memory than a
    /// writer has for that, those so far are carried out.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] for a field that is none of the schema's or a text field, and for a value that the field cannot
    /// have. Any other kind is about the index, and the writer is useless afterwards.
    pub fn delete_value(&mut self, field: &str, value: impl Into<Value>) -> Result<()> {
        let id = self.rules.exact(field)?;
        let term = self.rules.term(id, &value.into())?;
        self.delete_in(id, &term)
    }

    /// Deletes by a term that is given.
    pub(crate) fn delete_in(&mut self, id: FieldId, term: &[u8]) -> Result<()> {
        self.check()?;
        if term.len() > MAX_TERM_LEN {
            return Ok(()); // no document can have it
        }
        self.make_room_for_deletions()?;
        let before = self.pipeline_docs() + self.pending.n_docs;
        self.deletions.add_value(id, term, before);
        Ok(())
    }

    /// Deletes what a function finds in each segment.
    pub(crate) fn delete_matching(&mut self, matching: Matching) -> Result<()> {
        self.check()?;
        self.make_room_for_deletions()?;
        let before = self.pipeline_docs() + self.pending.n_docs;
        self.deletions.add_matching(matching, before);
        Ok(())
    }

    /// Analyzers of queries that select documents to delete.
    pub(crate) fn analyzers(&self) -> &Analyzers {
        &self.rules.analyzers
    }

    /// Whether this is the index in a storage, which may be another way to the same files.
    pub(crate) fn is_of(&self, index: SegmentId, storage: &Arc<dyn Storage>) -> bool {
        let own = self.committer.storage();
        // All that are in memory say that they are at the same place.
        let place = |of: &Arc<dyn Storage>| {
            let location = of.location();
            fs::canonicalize(&location).unwrap_or(location)
        };
        let is_same_place = || {
            let own = place(own);
            own == place(storage) && own.as_os_str() != MemoryStorage::LOCATION
        };
        self.committer.index_id() == index && (Arc::ptr_eq(own, storage) || is_same_place())
    }

    /// Limits of queries that select documents to delete.
    pub(crate) fn limits(&self) -> Limits {
        self.rules.limits
    }

    /// The segments that there are by now, open.
    pub(crate) fn segments_so_far(&mut self) -> Result<Arc<Snapshot>> {
        self.check()?;
        self.open_staging(0)
    }

    /// Deletions wait in memory, which has a limit: if they have reached it they become part of the segments.
    fn make_room_for_deletions(&mut self) -> Result<()> {
        // Half of what can be told apart by 32 bits leaves room for one more of whatever length.
        let limit = self.resources.deletion_bytes().min(1 << 31);
        if self.deletions.bytes() <= limit { Ok(()) } else { self.attempt(Self::stage_and_merge) }
    }

    /// Sets the caller's payload of the next commit, such as its position in a source. Without a call a commit carries
    /// what the one before did, and the first of an index that is overwritten nothing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LimitExceeded`] above 64 KiB; nothing is set then.
    pub fn set_payload(&mut self, payload: impl Into<Vec<u8>>) -> Result<()> {
        let payload = payload.into();
        check_payload(&payload)?;
        self.payload = payload;
        Ok(())
    }

    /// Makes everything added so far durable and visible. `Ok` means that it survives a power failure.
    ///
    /// # Errors
    ///
    /// After any error the last commit is intact, and the writer is useless.
    /// [`Error::commit_outcome`] says whether this one may have happened all the same.
    pub fn commit(&mut self) -> Result<CommitInfo> {
        let observer = Arc::clone(&self.resources.observer);
        let watch = observer.begin(Operation::Commit);
        let committed = self.prepare().and_then(PreparedCommit::publish);
        report::commit(&observer, watch, committed.as_ref().copied());
        committed
    }

    /// Commits if there is anything to commit; otherwise returns the last commit.
    pub(crate) fn commit_changes(&mut self) -> Result<CommitInfo> {
        self.check()?;
        match self.committer.current() {
            Some(current) if !self.replaces && !self.has_changes() => Ok(info(current)),
            _ => self.commit(),
        }
    }

    /// Runs the first phase of a [commit](Self::commit): everything is durable, and nothing visible. The second phase
    /// gives a file its name. For committing together with something else, such as another index or a database:
    /// prepare all, then finish all.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// drop(writer.prepare_commit()?); // the other one was not ready; what was added waits for the next commit
    /// writer.add(Document::new().with("title", "London"))?;
    /// let prepared = writer.prepare_commit()?;
    /// assert_eq!(index.searcher()?.n_docs(), 0); // nothing is visible yet
    /// assert_eq!(prepared.finish()?.added, 2);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`commit`](Self::commit).
    pub fn prepare_commit(&mut self) -> Result<PreparedCommit<'_>> {
        let observer = Arc::clone(&self.resources.observer);
        let watch = observer.begin(Operation::Prepare);
        let prepared = self.prepare();
        report::prepare(&observer, watch, prepared.as_ref());
        prepared
    }

    fn prepare(&mut self) -> Result<PreparedCommit<'_>> {
        self.check()?;
        let prepared = self.attempt(|writer| writer.try_prepare().map_err(before_publishing))?;
        Ok(PreparedCommit { writer: self, prepared: Some(prepared) })
    }

    fn try_prepare(&mut self) -> Result<Prepared> {
        self.stage()?;
        self.join_small_segments()?;
        self.staging.sync()?;
        let draft = self.draft();
        self.committer.prepare(draft)
    }

    /// Makes the segments the index as they are.
    fn commit_staging(&mut self) -> Result<Manifest> {
        let watch = self.resources.observer.begin(Operation::Commit);
        let committed = self.publish_staging();
        report::commit(&self.resources.observer, watch, committed.as_ref().map(info));
        committed
    }

    fn publish_staging(&mut self) -> Result<Manifest> {
        self.staging.sync()?;
        let mut draft = self.draft();
        if let Some(current) = self.committer.current() {
            // Later payloads are about documents that are still to be committed.
            draft.payload.clone_from(&current.payload);
        }
        let prepared = self.committer.prepare(draft)?;
        self.finish_commit(prepared)
    }

    /// Versions of the analyzers that make the terms of the index. Terms of another build stay in it with their
    /// versions.
    pub(crate) fn term_versions(&self) -> TermVersions {
        self.term_versions
    }

    /// Makes terms by the version of another index, whose terms this one takes over.
    pub(crate) fn go_on_with_terms_of(&mut self, versions: TermVersions) {
        self.term_versions = versions;
        let analyzers = self.rules.analyzers.in_version(versions.analysis);
        self.rules = WriterContext::new((*self.rules.schema).clone(), analyzers, self.rules.limits);
    }

    /// Draft of a commit made now.
    fn draft(&self) -> Draft {
        let term_versions = self.term_versions;
        Draft {
            schema: (*self.rules.schema).clone(),
            segments: self.staging.segments().to_vec(),
            payload: self.payload.clone(),
            term_versions,
        }
    }

    fn pipeline_docs(&self) -> u32 {
        self.pipeline.as_ref().map_or(0, Pipeline::n_docs)
    }

    fn submit_pending(&mut self) -> Result<()> {
        if self.pending.n_docs == 0 {
            return Ok(());
        }
        let mut batch = std::mem::take(&mut self.pending);
        batch.seal();
        self.attempt(|writer| writer.submit(Batch::Documents(batch)))
    }

    fn submit(&mut self, batch: Batch) -> Result<()> {
        let pipeline = match &mut self.pipeline {
            Some(pipeline) => pipeline,
            none => none.insert(Pipeline::new(
                Arc::clone(&self.rules.schema),
                Arc::clone(&self.rules.analyzers),
                Arc::clone(self.committer.storage()),
                self.ids.next(),
                self.resources.clone(),
            )?),
        };
        pipeline.submit(batch)?;
        let progress = Progress::Reading {
            documents: u64::from(pipeline.n_docs()),
            runs_spilled: pipeline.runs_spilled(),
        };
        report_progress(&mut self.on_progress, progress);
        Ok(())
    }

    /// Commits the index as it is with more fields; nothing may have been added to this writer yet.
    pub(crate) fn add_fields(&mut self, fields: Vec<Field>) -> Result<CommitInfo> {
        self.check()?;
        let n_fields = fields.len() as u16;
        let schema = self.rules.schema.with_fields(fields)?;
        debug_assert!(!self.has_changes(), "a writer that was just opened");
        let (analyzers, limits) = (Arc::clone(&self.rules.analyzers), self.rules.limits);
        self.rules = WriterContext::new(schema, analyzers, limits);
        self.staging.add_fields(n_fields);
        self.open = None;
        self.attempt(|writer| writer.commit_staging().map_err(before_publishing))
            .map(|manifest| info(&manifest))
    }

    /// Limits and rules for documents and deletions.
    pub(crate) fn rules(&self) -> &WriterContext {
        &self.rules
    }

    /// Bytes that may wait to be worked on beside what the writer itself holds.
    pub(crate) fn waiting_bytes(&self) -> usize {
        (self.resources.memory_bytes / 8).min(WAITING_BYTES_MAX)
    }

    /// Whether the next commit would change anything, or fail because what it was to change is lost.
    pub(crate) fn has_changes(&self) -> bool {
        let committed = self.committer.current().map_or(&[][..], |current| &current.payload);
        self.failed
            || self.pipeline_docs() + self.pending.n_docs > 0
            || !self.deletions.is_empty()
            || self.staging.has_changes()
            || self.payload != committed
    }

    /// The number of the newest commit; 0 before the first.
    pub(crate) fn generation(&self) -> u64 {
        self.committer.generation()
    }

    /// Number of times that added documents were forgotten.
    pub(crate) fn n_rollbacks(&self) -> u64 {
        self.n_rollbacks
    }
}

/// Deletes a file that nobody needs, if that can be done: what stays is cleared away by the next writer. A storage of the host's
/// that panics while another panic unwinds would end the process.
fn clear_away(storage: &dyn Storage, name: &str) {
    let _ = catch_unwind(AssertUnwindSafe(|| storage.delete(name)));
}

pub(crate) fn check_payload(payload: &[u8]) -> Result<()> {
    if payload.len() <= PAYLOAD_BYTES_MAX {
        return Ok(());
    }
    Err(Error::new(ErrorKind::LimitExceeded, "setting what a commit carries")
        .expected(format!("at most {PAYLOAD_BYTES_MAX} bytes"))
        .found(payload.len().to_string()))
}

/// The schema to write by and the segments to keep.
fn start(
    committer: &Committer,
    schema: Schema,
    existing: Existing,
) -> Result<(Schema, Vec<SegmentMeta>)> {
    let location = || committer.storage().location();
    let Some(current) = committer.current() else { return Ok((schema, vec![])) };
    match existing {
        Existing::Refuse => Err(Error::new(ErrorKind::AlreadyExists, "creating an index")
            .expected("nothing here yet")
            .found(format!("an index of {}", counted(current.n_docs(), "document")))
            .in_file(location())),
        Existing::Replace => Ok((schema, vec![])),
        // Fields may have been added by somebody else since it was opened.
        Existing::Keep if !current.schema.extends(&schema) => {
            Err(Error::new(ErrorKind::Schema, "adding to an index")
                .expected("the schema it was made with")
                .found(schema.difference(&current.schema))
                .in_file(location()))
        }
        Existing::Keep => Ok((current.schema.clone(), current.segments.clone())),
    }
}

/// Marks an error without an outcome as not committed: it came before publishing.
fn before_publishing(error: Error) -> Error {
    match error.commit_outcome() {
        None => error.outcome(CommitOutcome::NotCommitted),
        Some(_) => error,
    }
}

fn report_progress(on_progress: &mut Option<OnProgress>, progress: Progress) {
    if let Some(on_progress) = on_progress {
        on_progress(progress);
    }
}

fn info(manifest: &Manifest) -> CommitInfo {
    CommitInfo {
        generation: manifest.generation,
        documents: manifest.n_docs(),
        added: 0,
        deleted: 0,
        segments: manifest.segments.len(),
        runs_spilled: 0,
        tokens_skipped: 0,
    }
}

/// Flushed documents go with the writer, if they were not committed.
impl Drop for IndexWriter {
    fn drop(&mut self) {
        // In a fork of the process the files are not ours to delete, and a second panic would end it. Readers look for
        // themselves when they refresh.
        if !self.committer.is_sole_writer() || std::thread::panicking() {
            return self.published.set_stale();
        }
        // After a failure a commit may name them.
        if self.check().is_err() {
            return self.publish_newest();
        }
        let had_changes = self.staging.has_changes();
        self.forget_changes();
        self.staging.discard();
        if had_changes {
            self.publish_commit();
        }
    }
}

impl fmt::Debug for IndexWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexWriter")
            .field("location", &self.committer.storage().location())
            .field("uncommitted", &(self.pipeline_docs() + self.pending.n_docs))
            .finish_non_exhaustive()
    }
}
