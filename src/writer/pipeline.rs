//! Tasks on the way to a segment: batches in, a finished segment file out.
//!
//! The caller's thread reads and cuts batches; workers on the pool turn each into runs and stored
//! chunks; chunks go to the segment file in document order as soon as they are ready; at the end
//! runs are merged, range by range, on the same pool, and the caller's thread writes what comes out in
//! order. Memory is bounded by the number of batches under way, by the size of each, and by spilling runs.

use crate::analysis::Analyzers;
use crate::bytes::ByteReader;
use crate::error::{Error, ErrorKind, Result};
use crate::events::{Observer, Operation, What};
use crate::format::FileName;
use crate::format::ranked::Ranking;
use crate::graph::spill::SpillFiles;
use crate::ids::SegmentId;
use crate::schema::{Detail, Schema};
use crate::segment::builder::{BuiltSegment, FieldTotals, OffsetsSection, SegmentBuilder};
use crate::segment::ordinals::OrdinalMap;
use crate::storage::Storage;
use crate::writer::batch::Batch;
use crate::writer::clear_away;
use crate::writer::graph::GraphMeans;
use crate::writer::merge_runs::{MergedRange, merge_range, range_bounds};
use crate::writer::run::{self, Run};
use crate::writer::worker::{FieldOutput, TaskOutput, Worker};
use crate::writer::{points, vectors};
use rayon::ThreadPool;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Documents a segment may hold; as many as Lucene allows, so that no count overflows 31 bits.
pub(crate) const SEGMENT_DOCS_MAX: u32 = (1 << 31) - 1 - 128;

/// Bytes that a batch may take while it is worked on. A stored chunk of 65,536 documents, or of 4 MiB of values, is
/// never divided, and with its terms, its runs and its rows it has been seen to take 20 MiB.
const TASK_BYTES: usize = 16 << 20;

/// About how often a new segment is read to put its documents in order, at most twice as often: a larger one would be read more
/// often, each time in all of its length.
const REORDER_PASSES: u64 = 8;
/// Bytes that a document takes meanwhile, beside its values: 20 for its number, and as many for its waiting place.
const REORDERED_DOC_BYTES: u64 = 40;

/// Memory and threads of a build, and who hears of it.
#[derive(Clone)]
pub(crate) struct Resources {
    pub(crate) memory_bytes: usize,
    /// `None`: everything happens on the caller's thread.
    pub(crate) pool: Option<Arc<ThreadPool>>,
    pub(crate) observer: Arc<Observer>,
}

impl Resources {
    fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Batches under way at once: no more than there is memory for, however many threads there are.
    fn tasks(&self) -> usize {
        self.threads().min((self.memory_bytes / TASK_BYTES).max(1))
    }

    /// The pool, unless the caller is itself one of its threads: it would wait for itself.
    pub(super) fn pool(&self) -> Option<&ThreadPool> {
        self.pool.as_deref().filter(|pool| pool.current_thread_index().is_none())
    }

    /// Bytes of input in one batch. A worker takes up to ten times its batch (text, log, scattered log, terms, run, stored
    /// rows) and leaves holes in memory that others cannot use, the reader takes one batch more, finished runs take a
    /// sixteenth of the budget.
    pub(crate) fn batch_bytes(&self) -> usize {
        let parts = 13 * self.tasks() + 2;
        (self.memory_bytes * 3 / 4 / parts).clamp(64 << 10, 64 << 20)
    }

    /// Bytes of deletions that wait.
    pub(crate) fn deletion_bytes(&self) -> usize {
        self.memory_bytes / 4
    }

    /// Bytes of rows, or of what else documents have, that wait for their turn where a merge puts them in order.
    pub(super) fn reorder_bytes(&self) -> usize {
        self.memory_bytes / 4
    }

    /// Bytes of the terms of documents that are put in the order of similarity: before anything else of a merge takes memory.
    pub(super) fn similarity_bytes(&self) -> usize {
        self.memory_bytes / 2
    }

    /// Memory and threads for graphs over vectors: all there are, as nothing else goes on meanwhile.
    pub(super) fn graph_means(&self, files: SpillFiles) -> GraphMeans<'_> {
        GraphMeans { memory_bytes: self.memory_bytes, pool: self.pool(), files }
    }

    /// Bytes of buffers at which a worker ends its run early.
    fn worker_bytes(&self) -> usize {
        self.memory_bytes / 2 / self.tasks()
    }

    /// Bytes of finished runs kept in memory; beyond, they are spilled. Few, because a byte that makes runs longer, and so fewer,
    /// saves more than one that is not written.
    fn run_bytes(&self) -> usize {
        self.memory_bytes / 16
    }

    /// Bytes of runs merged in one range: one more of them than there are threads is under way or waits,
    /// and each needs its input, its output and the longest list decoded. Beside them stand, as long
    /// as a field is merged, the lengths of all its documents, a byte each.
    fn range_bytes(&self) -> u64 {
        (self.memory_bytes / (12 * (self.threads() + 1))).max(64 << 10) as u64
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, {} threads", self.memory_bytes, self.threads())
    }
}

/// Progress of a build, to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Documents were handed to the workers so far; runs were spilled to disk so far.
    Reading {
        /// Documents so far.
        documents: u64,
        /// Runs spilled so far.
        runs_spilled: u64,
    },
    /// Documents are being put in the [order of similarity](crate::SchemaBuilder::order_by_similarity).
    ///
    /// `done` of `total` times one was put in the half that suits it.
    Reordering {
        /// Documents put in halves so far, each as often as it was.
        done: u64,
        /// Bytes of all documents until they stand in order.
        total: u64,
    },
    /// Runs are being merged: `done` of `total` ranges of terms.
    Merging {
        /// Ranges merged.
        done: u64,
        /// Ranges in all.
        total: u64,
    },
    /// The segment and its commit are being made durable.
    Committing,
}

/// Called on the caller's thread whenever a step is done.
pub(crate) type OnProgress = Box<dyn FnMut(Progress) + Send>;

/// One segment in the making.
pub(crate) struct Pipeline {
    shared: Arc<Shared>,
    resources: Resources,
    n_docs: u32,
    /// Bytes of the values of all documents.
    value_bytes: u64,
    n_tasks: u64,
    /// Whose threads and files these are.
    process: u32,
}

/// State that the tasks share.
struct Shared {
    schema: Arc<Schema>,
    analyzers: Arc<Analyzers>,
    storage: Arc<dyn Storage>,
    observer: Arc<Observer>,
    id: SegmentId,
    worker_bytes: usize,
    run_bytes: usize,
    state: Mutex<State>,
    changed: Condvar,
    /// The file being written, and the chunks that came before their turn.
    stored: Mutex<StoredInOrder>,
}

/// A batch that was handed in, its number, and that of its first document.
struct Task {
    number: u64,
    batch: Batch,
    first_doc: u32,
}

#[derive(Default)]
struct State {
    /// Handed in and not begun: whoever is first does it, a thread of the pool or somebody who waits.
    waiting: VecDeque<Task>,
    /// Handed in and not done.
    running: usize,
    idle: Vec<Worker>,
    fields: BTreeMap<u64, Vec<FieldOutput>>,
    run_heap_bytes: usize,
    n_spilled: u64,
    /// Tokens left out because they are too long.
    n_too_long: u64,
    spill_files: Vec<String>,
    failed: Option<Error>,
}

/// Chunks of stored rows back to back, with the documents and bytes of each.
type StoredChunks = (Vec<u8>, Vec<(u32, u64)>);

struct StoredInOrder {
    builder: Option<SegmentBuilder>,
    next_task: u64,
    waiting: BTreeMap<u64, StoredChunks>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A task that panics is reported as a failure; what it left is not used.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pipeline {
    /// Starts the segment `id`.
    pub(crate) fn new(
        schema: Arc<Schema>,
        analyzers: Arc<Analyzers>,
        storage: Arc<dyn Storage>,
        id: SegmentId,
        resources: Resources,
    ) -> Result<Self> {
        let builder = SegmentBuilder::create(Arc::clone(&storage), id)?;
        let shared = Shared {
            schema,
            analyzers,
            storage,
            observer: Arc::clone(&resources.observer),
            id,
            worker_bytes: resources.worker_bytes(),
            run_bytes: resources.run_bytes(),
            state: Mutex::default(),
            changed: Condvar::new(),
            stored: Mutex::new(StoredInOrder {
                builder: Some(builder),
                next_task: 0,
                waiting: BTreeMap::new(),
            }),
        };
        let process = std::process::id();
        let (shared, n_docs, value_bytes, n_tasks) = (Arc::new(shared), 0, 0, 0);
        Ok(Pipeline { shared, resources, n_docs, value_bytes, n_tasks, process })
    }

    /// Documents handed in so far.
    pub(crate) fn n_docs(&self) -> u32 {
        self.n_docs
    }

    /// Whether putting the documents in another order would take many passes over them, or more memory than there is.
    pub(crate) fn is_large_to_reorder(&self) -> bool {
        let of_docs = u64::from(self.n_docs) * REORDERED_DOC_BYTES;
        self.value_bytes + of_docs >= REORDER_PASSES * self.resources.reorder_bytes() as u64
    }

    pub(crate) fn runs_spilled(&self) -> u64 {
        lock(&self.shared.state).n_spilled
    }

    /// Tokens of all documents so far that were left out because they are too long; waits for the tasks.
    pub(crate) fn tokens_skipped(&self) -> u64 {
        self.wait();
        lock(&self.shared.state).n_too_long
    }

    /// Hands in the next documents; waits while as many batches are under way as may be.
    pub(crate) fn submit(&mut self, batch: Batch) -> Result<()> {
        let n_docs = self
            .n_docs
            .checked_add(batch.n_docs())
            .filter(|&n_docs| n_docs <= SEGMENT_DOCS_MAX)
            .ok_or_else(|| {
                Error::new(ErrorKind::LimitExceeded, "adding documents")
                    .expected(format!("at most {SEGMENT_DOCS_MAX} documents between two commits"))
                    .found(format!("{} more than {}", batch.n_docs(), self.n_docs))
            })?;
        self.value_bytes += batch.value_bytes() as u64;
        let task = Task { number: self.n_tasks, batch, first_doc: self.n_docs };
        (self.n_tasks, self.n_docs) = (self.n_tasks + 1, n_docs);
        let Some(pool) = self.resources.pool() else {
            // Results that another thread has handed in go first: rows are written in order, and wait in memory for
            // their turn.
            while self.shared.help() {}
            self.shared.run_task(task);
            return self.shared.check();
        };
        let mut state = lock(&self.shared.state);
        while state.running >= self.resources.tasks() && state.failed.is_none() {
            state = self.shared.help_or_wait(state);
        }
        state.running += 1;
        state.waiting.push_back(task);
        drop(state);
        // One that begins when all is over holds nothing of it.
        let shared = Arc::downgrade(&self.shared);
        pool.spawn(move || {
            if let Some(shared) = shared.upgrade() {
                shared.help();
            }
        });
        self.shared.check()
    }

    /// Waits for the tasks, merges, and finishes the file, which is then durable but not yet named
    /// by any commit.
    pub(crate) fn finish(self, mut on_progress: impl FnMut(Progress)) -> Result<BuiltSegment> {
        self.wait();
        self.shared.check()?;
        let mut state = std::mem::take(&mut *lock(&self.shared.state));
        let mut builder = lock(&self.shared.stored).builder.take().ok_or_else(|| {
            Error::new(ErrorKind::Poisoned, "finishing a segment whose file failed before")
        })?;
        state.idle.clear(); // the merge needs the memory of the workers' buffers
        let result = self.merge_fields(&mut state, &mut builder, &mut on_progress);
        let spill_files = std::mem::take(&mut state.spill_files);
        drop(state);
        let removed = spill_files.iter().try_for_each(|name| self.shared.storage.delete(name));
        result?;
        removed?;
        on_progress(Progress::Committing);
        builder.finish(self.n_docs, self.shared.schema.fields().len())
    }

    /// Waits until no task is running.
    fn wait(&self) {
        let mut state = lock(&self.shared.state);
        while state.running > 0 {
            state = self.shared.help_or_wait(state);
        }
    }

    fn merge_fields(
        &self,
        state: &mut State,
        builder: &mut SegmentBuilder,
        on_progress: &mut impl FnMut(Progress),
    ) -> Result<()> {
        builder.end_stored()?;
        let tasks = std::mem::take(&mut state.fields);
        let mut by_field: Vec<(Vec<Run>, FieldTotals)> =
            self.shared.schema.fields().iter().map(|_| (vec![], FieldTotals::default())).collect();
        for output in tasks.into_values().flat_map(|fields| fields.into_iter().enumerate()) {
            let (runs, totals) = &mut by_field[output.0];
            runs.extend(output.1.runs);
            totals.presence.append(&output.1.presence);
            totals.empty.append(&output.1.empty);
            totals.n_tokens += output.1.n_tokens;
        }
        let n_ranges = |runs: &[Run]| {
            let bytes: u64 = runs.iter().map(Run::len).sum();
            let wanted = bytes.div_ceil(self.resources.range_bytes());
            // Several ranges a thread, so that unequal ones even out; none so small that it does not pay.
            wanted.max((4 * self.resources.threads() as u64).min(bytes >> 16)).max(1) as usize
        };
        let total: u64 = by_field.iter().map(|(runs, _)| n_ranges(runs) as u64).sum();
        let mut done = 0;
        for (field, (runs, totals)) in self.shared.schema.field_ids().zip(by_field) {
            let bounds = range_bounds(&runs, n_ranges(&runs));
            let detail = self.shared.schema.get(field).detail;
            let mut lengths = Vec::with_capacity(match detail {
                Detail::Documents => 0,
                _ => self.n_docs as usize,
            });
            for run in &runs {
                run.append_lengths(&mut lengths)?;
            }
            let ranking = totals.ranking(detail, lengths);
            let of_schema = self.shared.schema.get(field);
            let mut writer = builder.start_field(field, self.n_docs, of_schema)?;
            let (n_runs, ahead_max) = (runs.len(), self.resources.threads() + 1);
            let has_ordinals = of_schema.has_ordinals();
            let ranges = Arc::new(Ranges::new(runs, ranking, bounds, ahead_max, has_ordinals));
            let (mut n_terms, mut ordinals) = (0, vec![OrdinalMap::default(); n_runs]);
            self.merge_ranges(&ranges, |merged| {
                writer.write_postings(&merged.postings)?;
                for (of_run, numbers) in ordinals.iter_mut().zip(&merged.ordinals) {
                    numbers.iter().for_each(|number| of_run.push(n_terms + number));
                }
                merged.for_each(|term, new| {
                    n_terms += 1;
                    writer.add_term(term, new)
                })?;
                done += 1;
                on_progress(Progress::Merging { done, total: total.max(done) });
                Ok(())
            })?;
            let frame = writer.finish(&totals, &ranges.ranking)?;
            if of_schema.offsets {
                write_offsets(&ranges.runs, builder.start_offsets(field, self.n_docs)?)?;
            }
            if of_schema.column {
                let mut column = builder.start_column(field, frame)?;
                for (run, ordinals) in ranges.runs.iter().zip(&ordinals) {
                    let ordinals = has_ordinals.then_some(ordinals);
                    run.for_each_in_column(|codes| column.add(codes, ordinals))?;
                }
                column.finish()?;
            }
            if let Some(params) = of_schema.kind.vector() {
                let of = (field, params, of_schema);
                let files = SpillFiles::new(Arc::clone(&self.shared.storage), self.shared.id);
                let graphs = self.resources.graph_means(files);
                vectors::write(&ranges.runs, self.n_docs, of, graphs, builder)?;
            }
            if of_schema.kind.is_point() {
                let files = SpillFiles::new(Arc::clone(&self.shared.storage), self.shared.id);
                let means = self.resources.graph_means(files).of_points();
                points::write(&ranges.runs, self.n_docs, field, means, builder)?;
            }
        }
        Ok(())
    }

    /// Merges all ranges, on the pool if there is one, and gives them to `consume` in order.
    fn merge_ranges(
        &self,
        ranges: &Arc<Ranges>,
        mut consume: impl FnMut(MergedRange) -> Result<()>,
    ) -> Result<()> {
        let n_ranges = ranges.results.n;
        let Some(pool) = self.resources.pool().filter(|_| n_ranges > 1) else {
            return (0..n_ranges).try_for_each(|nth| consume(ranges.merge(nth)?));
        };
        for _ in 0..self.resources.threads().min(n_ranges) {
            // One that begins when all is over holds nothing of it.
            let ranges = Arc::downgrade(ranges);
            pool.spawn(move || {
                if let Some(ranges) = ranges.upgrade() {
                    ranges.work();
                }
            });
        }
        let _ending = Ending(&ranges.results);
        (0..n_ranges).try_for_each(|nth| consume(ranges.get(nth)?))
    }
}

/// Runs of one field that are merged, by ranges of terms.
struct Ranges {
    runs: Vec<Run>,
    ranking: Ranking,
    bounds: Vec<Box<[u8]>>,
    results: OrderedResults,
    /// Whether the numbers of the terms of each run are asked for.
    has_ordinals: bool,
}

impl Ranges {
    fn new(
        runs: Vec<Run>,
        ranking: Ranking,
        bounds: Vec<Box<[u8]>>,
        ahead_max: usize,
        has_ordinals: bool,
    ) -> Self {
        let results = OrderedResults::new(bounds.len() + 1, ahead_max);
        Ranges { runs, ranking, bounds, results, has_ordinals }
    }

    fn merge(&self, nth: usize) -> Result<MergedRange> {
        let from = nth.checked_sub(1).map(|before| &*self.bounds[before]);
        let to = self.bounds.get(nth).map(|bound| &**bound);
        let merge = || merge_range(&self.runs, &self.ranking, from, to, self.has_ordinals);
        catch_unwind(AssertUnwindSafe(merge)).unwrap_or_else(|_| Err(panicked("merging")))
    }

    /// Merges until there is nothing left to begin.
    fn work(&self) {
        while let Some(nth) = self.results.take() {
            self.results.put(nth, self.merge(nth));
        }
    }

    /// The next range: merged by now, awaited if somebody is at it, or merged here.
    fn get(&self, nth: usize) -> Result<MergedRange> {
        match self.results.get(nth) {
            Some(merged) => merged,
            None => self.merge(nth).inspect(|_| self.results.has_consumed(nth)),
        }
    }
}

/// Nobody begins another range, and whoever is at one comes to its end, before this is gone: by a panic too.
struct Ending<'w>(&'w OrderedResults);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Writes where the words of all documents are.
fn write_offsets(runs: &[Run], mut writer: OffsetsSection<'_>) -> Result<()> {
    let mut parts = vec![];
    for run in runs {
        parts.clear();
        run.append_offsets(&mut parts)?;
        let mut reader = ByteReader::new(&parts);
        while !reader.remaining().is_empty() {
            let len = reader.varint_u32();
            let part = len.and_then(|len| reader.take(len as usize)).ok_or_else(|| {
                Error::corrupt("reading the offsets of a run")
                    .expected("a whole part")
                    .found("bytes that end within one")
            })?;
            writer.add(part)?;
        }
    }
    writer.finish()
}

impl Drop for Pipeline {
    /// Lets tasks that run on the pool end before their files are cleaned up.
    fn drop(&mut self) {
        if std::process::id() != self.process {
            // In a fork there are no such threads, locks may be held for ever, and the files are not ours.
            std::mem::forget(Arc::clone(&self.shared));
            return;
        }
        let mut state = lock(&self.shared.state);
        // Nobody wants what has not begun.
        state.running -= std::mem::take(&mut state.waiting).len();
        drop(state);
        self.wait();
        for name in lock(&self.shared.state).spill_files.drain(..) {
            clear_away(&*self.shared.storage, &name);
        }
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline")
            .field("n_docs", &self.n_docs)
            .field("resources", &self.resources)
            .finish()
    }
}

impl Shared {
    /// Fails with the first failure of any task, once.
    fn check(&self) -> Result<()> {
        match lock(&self.state).failed.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Does what waits, or waits itself for those who are at it: nobody may depend on threads of a pool that all
    /// stand and wait for this one.
    fn help_or_wait<'s>(&'s self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        if state.waiting.is_empty() {
            return self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        self.help();
        lock(&self.state)
    }

    /// Does the next task, unless others have begun all; whether there was one.
    fn help(&self) -> bool {
        let Some(task) = lock(&self.state).waiting.pop_front() else { return false };
        self.run_task(task);
        lock(&self.state).running -= 1;
        self.changed.notify_all();
        true
    }

    fn run_task(&self, task: Task) {
        if lock(&self.state).failed.is_some() {
            return;
        }
        let idle = lock(&self.state).idle.pop();
        // A plugged-in tokenizer may panic when it is cloned, too.
        let done = catch_unwind(AssertUnwindSafe(|| {
            let mut worker =
                idle.unwrap_or_else(|| Worker::new(Arc::clone(&self.schema), &self.analyzers));
            let output = worker.process(task.batch, task.first_doc, self.worker_bytes)?;
            self.accept(task.number, output)?;
            Ok(worker)
        }));
        match done.unwrap_or_else(|_| Err(panicked("indexing documents"))) {
            Ok(worker) => lock(&self.state).idle.push(worker),
            Err(error) => {
                // The worker is dropped: it may be in the middle of a document.
                lock(&self.state).failed.get_or_insert(error);
            }
        }
    }

    fn accept(&self, task: u64, mut output: TaskOutput) -> Result<()> {
        self.write_stored(task, output.stored, output.chunks)?;
        let mut runs: Vec<&mut Vec<Run>> =
            output.fields.iter_mut().map(|field| &mut field.runs).collect();
        let heap_bytes: usize = runs.iter().flat_map(|runs| runs.iter()).map(Run::heap_bytes).sum();
        let mut state = lock(&self.state);
        state.n_too_long += output.n_too_long;
        let spill = state.run_heap_bytes + heap_bytes > self.run_bytes;
        if spill {
            let name = FileName::Run { build: self.id, number: task as u32 }.to_string();
            state.spill_files.push(name.clone());
            state.n_spilled += 1;
            drop(state);
            let mut all: Vec<Run> = runs.iter_mut().flat_map(|runs| runs.drain(..)).collect();
            let per_field = all.len() / runs.len().max(1);
            self.spill(&mut all, &name)?;
            for runs in runs.iter_mut() {
                runs.extend(all.drain(..per_field));
            }
            state = lock(&self.state);
        }
        state.run_heap_bytes +=
            output.fields.iter().flat_map(|field| &field.runs).map(Run::heap_bytes).sum::<usize>();
        state.fields.insert(task, output.fields);
        Ok(())
    }

    fn spill(&self, runs: &mut [Run], name: &str) -> Result<()> {
        let started = self.observer.clock();
        let spilled = run::spill(runs, &*self.storage, name);
        let (bytes, failure) = (*spilled.as_ref().unwrap_or(&0), spilled.as_ref().err());
        let what = || What::Spill { file: name.to_owned(), bytes };
        self.observer.tell(Operation::Spill, started, bytes, failure, what);
        spilled.map(drop)
    }

    /// Writes the chunks of `task` when all those before are written.
    fn write_stored(&self, task: u64, bytes: Vec<u8>, chunks: Vec<(u32, u64)>) -> Result<()> {
        let mut stored = lock(&self.stored);
        stored.waiting.insert(task, (bytes, chunks));
        while let Some((bytes, chunks)) = {
            let next = stored.next_task;
            stored.waiting.remove(&next)
        } {
            stored.next_task += 1;
            if let Some(builder) = &mut stored.builder {
                let written = builder.add_stored(&bytes, &chunks);
                if written.is_err() {
                    stored.builder = None;
                    return written;
                }
            }
        }
        Ok(())
    }
}

fn panicked(what: &str) -> Error {
    Error::new(
        ErrorKind::Poisoned,
        format!("{what}: a panic, most likely in a plugged-in tokenizer or storage"),
    )
}

/// Results of numbered tasks, handed out in order, with a bound on how far the workers run ahead.
struct OrderedResults {
    state: Mutex<OrderedState>,
    changed: Condvar,
    n: usize,
    ahead_max: usize,
}

#[derive(Default)]
struct OrderedState {
    next: usize,
    consumed: usize,
    /// Taken and not put.
    at_work: usize,
    ended: bool,
    results: BTreeMap<usize, Result<MergedRange>>,
}

impl OrderedResults {
    fn new(n: usize, ahead_max: usize) -> Self {
        OrderedResults { state: Mutex::default(), changed: Condvar::new(), n, ahead_max }
    }

    fn wait<'s>(&'s self, state: MutexGuard<'s, OrderedState>) -> MutexGuard<'s, OrderedState> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<usize> {
        let mut state = lock(&self.state);
        while !state.ended && state.next < self.n && state.next >= state.consumed + self.ahead_max {
            state = self.wait(state);
        }
        if state.ended || state.next == self.n {
            return None;
        }
        state.at_work += 1;
        state.next += 1;
        Some(state.next - 1)
    }

    fn put(&self, nth: usize, result: Result<MergedRange>) {
        let mut state = lock(&self.state);
        state.at_work -= 1;
        state.results.insert(nth, result);
        self.changed.notify_all();
    }

    /// The result of a task, awaited if it is taken; `None` if nobody has: then it is the caller's.
    fn get(&self, nth: usize) -> Option<Result<MergedRange>> {
        let mut state = lock(&self.state);
        loop {
            if let Some(result) = state.results.remove(&nth) {
                state.consumed = nth + 1;
                self.changed.notify_all();
                return Some(result);
            }
            if state.next == nth {
                state.next += 1;
                return None;
            }
            state = self.wait(state);
        }
    }

    fn has_consumed(&self, nth: usize) {
        lock(&self.state).consumed = nth + 1;
        self.changed.notify_all();
    }

    fn end(&self) {
        let mut state = lock(&self.state);
        state.ended = true;
        self.changed.notify_all();
        while state.at_work > 0 {
            state = self.wait(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStorage;

    /// Its threads are not there, and what was spilled is the parent's.
    #[test]
    fn a_fork_deletes_nothing_and_waits_for_nobody() {
        for is_fork in [false, true] {
            let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
            let (resources, _, _) =
                crate::writer::WriterOptions::new().threads(1).resolve().unwrap();
            let schema = Arc::new(Schema::builder().text("text").build().unwrap());
            let (analyzers, id) = (Arc::default(), SegmentId([1; 16]));
            let mut pipeline =
                Pipeline::new(schema, analyzers, Arc::clone(&storage), id, resources).unwrap();
            drop(storage.create(".run").unwrap());
            lock(&pipeline.shared.state).spill_files.push(".run".into());
            if is_fork {
                pipeline.process += 1;
                lock(&pipeline.shared.state).running += 1;
            }
            drop(pipeline);
            let is_left = storage.list().unwrap().iter().any(|entry| entry.name == ".run");
            assert_eq!(is_left, is_fork);
        }
    }
}
