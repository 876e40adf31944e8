//! One writer for many threads: adding that never waits, and commits that are shared.
//!
//! Whoever adds puts its documents into a queue, under a lock that is held for no longer than that takes. Whoever
//! commits joins the group that is open. The first of a group whose predecessor is done leads it: takes what is in
//! the queue, commits, and tells the others. So while one commit waits for the disk the next group gathers, and a disk
//! that can make a thousand commits a second serves any number of threads ("group commit": DeWitt et al.,
//! "Implementation techniques for main memory database systems", 1984).
//!
//! By itself that makes two groups that take turns, each of half of the threads: whoever was told of a commit comes back
//! just after the next has begun. So a leader waits for them, no longer than a part of what a commit takes, and
//! where they do not come more and more seldom.

use crate::budget::CancelToken;
use crate::document::Document;
use crate::error::{CommitOutcome, Error, ErrorKind, Result};
use crate::ids::FieldId;
use crate::query::Query;
use crate::sync::{Condvar, JoinHandle, Mutex, MutexGuard, ThreadBuilder, wait_within};
use crate::writer::{
    CommitInfo, FlushInfo, IndexWriter, MergeJob, MergedSegment, Rules, check_payload,
};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What an operation in the queue takes beside its texts.
const OPERATION_BYTES: usize = 128;

/// Who leads a group waits for the others at most for this part of what the commit before took.
const GATHERING_PART: u32 = 4;
/// And no longer than this: it may have been a large one.
const GATHERING_MAX: Duration = Duration::from_millis(5);
/// After so many waits in vain one in 2^n groups is waited for.
const VAIN_MAX: u32 = 6;

/// The [writer](IndexWriter) of an index for any number of threads, from [`IndexWriter::into_shared`].
///
/// ```
/// use treepie::{Document, Index, Schema};
///
/// let index = Index::in_memory(Schema::builder().text("title").build()?);
/// let writer = index.writer()?.into_shared();
/// std::thread::scope(|scope| {
///     for n in 0..16 {
///         let writer = writer.clone();
///         scope.spawn(move || {
///             writer.add(Document::new().with("title", format!("number {n}")))?;
///             writer.commit() // one for all who come at the same time
///         });
///     }
/// });
/// assert_eq!(index.searcher()?.n_docs(), 16);
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SharedWriter(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    /// A commit has ended.
    ended: Condvar,
    /// As many wait in the open group as were expected.
    gathered: Condvar,
    writer: Mutex<IndexWriter>,
    /// The writer's, which may be at work for long.
    rules: Rules,
    /// Bytes of the queue from which on it should be worked on, and those that it holds at most.
    due_bytes: usize,
    bytes_max: usize,
}

#[derive(Debug, Default)]
struct Queue {
    operations: Vec<Operation>,
    bytes: usize,
    /// Those who wait for the next commit.
    open: Arc<Group>,
    is_led: bool,
    gathering: Gathering,
}

/// How many commit at the same time, as far as the last commits show it.
#[derive(Debug, Default)]
struct Gathering {
    /// Those who wait in the open group.
    n_open: usize,
    /// Those whom the last commit was for.
    n_last: usize,
    /// Those, and who came while it was made.
    n_expected: usize,
    /// What it took, without the wait for the writer.
    took: Duration,
    /// Waits in vain since the last that was not.
    n_vain: u32,
    /// Groups that are not to be waited for.
    n_skipped: u32,
}

impl Gathering {
    fn is_complete(&self) -> bool {
        self.n_open >= self.n_expected
    }

    /// How long the open group is worth waiting for; zero where it is not.
    fn patience(&mut self) -> Duration {
        if self.is_complete() {
            return Duration::ZERO;
        }
        if self.n_skipped > 0 {
            self.n_skipped -= 1;
            return Duration::ZERO;
        }
        (self.took / GATHERING_PART).min(GATHERING_MAX)
    }

    /// A wait is over.
    fn waited(&mut self) {
        self.n_vain = if self.is_complete() { 0 } else { (self.n_vain + 1).min(VAIN_MAX) };
        self.n_skipped = (1 << self.n_vain) - 1;
    }

    /// The open group is closed.
    fn close(&mut self) {
        self.n_last = std::mem::take(&mut self.n_open);
    }

    /// The commit of the group that was closed last is over.
    fn ended(&mut self, took: Duration) {
        self.took = took;
        self.n_expected = self.n_last + self.n_open;
    }
}

impl Queue {
    fn take(&mut self) -> Vec<Operation> {
        self.bytes = 0;
        std::mem::take(&mut self.operations)
    }
}

/// What became of a commit.
#[derive(Debug, Default)]
struct Group(OnceLock<Result<CommitInfo>>);

#[derive(Debug)]
enum Operation {
    Add(Document),
    Delete(FieldId, String),
    Payload(Vec<u8>),
}

/// How much waits to be worked on: [`SharedWriter::add`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Buffered {
    /// About as many bytes.
    pub bytes: usize,
    /// Whether it is time for somebody to [work on it](SharedWriter::process), or to commit.
    pub is_due: bool,
}

impl IndexWriter {
    /// Makes this the writer of many threads. At most an eighth of its memory waits to be worked on, and as
    /// much again is being worked on.
    pub fn into_shared(self) -> SharedWriter {
        let bytes_max = self.waiting_bytes();
        SharedWriter(Arc::new(Shared {
            queue: Mutex::default(),
            ended: Condvar::new(),
            gathered: Condvar::new(),
            rules: self.rules().clone(),
            writer: Mutex::new(self),
            due_bytes: bytes_max / 4,
            bytes_max,
        }))
    }
}

impl SharedWriter {
    /// Adds a document, as [`IndexWriter::add`] does. It is only put into memory: nothing is written, and nobody waits but for
    /// others who do the same. What it returns says when it is time to [work on it](Self::process).
    ///
    /// # Errors
    ///
    /// As [`IndexWriter::add`], but for a writer that is useless, which the next [`process`](Self::process) or
    /// [`commit`](Self::commit) says; [`ErrorKind::Busy`] where too much waits to be worked on: then nothing was added, and
    /// somebody has to [process](Self::process) or [commit](Self::commit) first.
    pub fn add(&self, document: Document) -> Result<Buffered> {
        let bytes = document.iter().map(|(name, value)| name.len() + value.len() + 48).sum();
        self.0.rules.check(&document)?;
        self.push(Operation::Add(document), bytes)
    }

    /// The same, and works on what waits where that is due: what a thread should call that has time.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add) and [`process`](Self::process), without [`ErrorKind::Busy`].
    pub fn add_and_process(&self, document: Document) -> Result<()> {
        loop {
            match self.add(document.clone()) {
                Ok(Buffered { is_due: false, .. }) => return Ok(()),
                Ok(_) => return self.process(),
                Err(error) if error.kind() == ErrorKind::Busy => self.process()?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Deletes as [`IndexWriter::delete_key`] does what was there or was added before.
    ///
    /// # Errors
    ///
    /// As there; [`ErrorKind::Busy`] as [`add`](Self::add).
    pub fn delete_key(&self, key: &str) -> Result<Buffered> {
        self.push(Operation::Delete(self.0.rules.key()?, key.to_owned()), key.len())
    }

    /// Deletes as [`IndexWriter::delete_value`] does what was there or was added before.
    ///
    /// # Errors
    ///
    /// As there; [`ErrorKind::Busy`] as [`add`](Self::add).
    pub fn delete_value(&self, field: &str, value: &str) -> Result<Buffered> {
        self.push(Operation::Delete(self.0.rules.keyword(field)?, value.to_owned()), value.len())
    }

    /// Deletes as [`IndexWriter::delete`] does; waits for the writer.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn delete(&self, query: &Query) -> Result<()> {
        self.with(|writer| writer.delete(query))
    }

    /// Sets what the next commit carries, as [`IndexWriter::set_payload`] does. Of several callers the last counts.
    ///
    /// # Errors
    ///
    /// As there; [`ErrorKind::Busy`] as [`add`](Self::add).
    pub fn set_payload(&self, payload: impl Into<Vec<u8>>) -> Result<Buffered> {
        let payload = payload.into();
        check_payload(&payload)?;
        let bytes = payload.len();
        self.push(Operation::Payload(payload), bytes)
    }

    /// Hands what waits to the writer, which tokenizes it, and spills what does not fit its memory.
    ///
    /// # Errors
    ///
    /// As [`IndexWriter::add`].
    pub fn process(&self) -> Result<()> {
        self.with(|_| Ok(()))
    }

    /// Makes everything added so far durable and visible, as [`IndexWriter::commit`] does; those who ask at the same time share
    /// one commit, for which those who shared the last one are waited for, a fourth of the time of a commit and 5 ms at
    /// most. Where there is nothing new, as after the commit of somebody else who took it along, it returns the last commit
    /// as one that added and deleted nothing.
    ///
    /// # Errors
    ///
    /// As there, and each of those who share it gets it; [`ErrorKind::Cancelled`] where somebody [rolled back](Self::rollback)
    /// meanwhile what it was to make durable.
    pub fn commit(&self) -> Result<CommitInfo> {
        let mut queue = self.queue();
        let group = Arc::clone(&queue.open);
        queue.gathering.n_open += 1;
        if queue.gathering.is_complete() {
            self.0.gathered.notify_one();
        }
        loop {
            if let Some(outcome) = group.0.get() {
                return outcome.clone();
            }
            if queue.is_led {
                queue = self.0.ended.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            queue.is_led = true;
            drop(self.gather(queue));
            return Leading { writer: self, group: &group, took: Cell::default() }.commit();
        }
    }

    /// Makes everything added so far visible, as [`IndexWriter::flush`] does.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn flush(&self) -> Result<FlushInfo> {
        self.with(IndexWriter::flush)
    }

    /// Forgets what was added and deleted since the last commit, by whomever, as [`IndexWriter::rollback`] does. Whoever waits
    /// in [`commit`](Self::commit) is told by an error; whoever has added and not yet committed has to be told by the caller.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn rollback(&self) -> Result<()> {
        let mut writer = self.writer();
        self.forget_queue();
        writer.rollback()
    }

    /// Forgets what waits, and tells those who wait for it.
    fn forget_queue(&self) {
        let mut queue = self.queue();
        queue.take();
        let error = Error::new(ErrorKind::Cancelled, "committing")
            .found("a rollback by somebody who shares the writer")
            .outcome(CommitOutcome::NotCommitted);
        // Who waits has added what is forgotten. Who has led a group to its end knows better.
        let _ = std::mem::take(&mut queue.open).0.set(Err(error));
        queue.gathering.close();
    }

    /// Does something with the writer itself, once it has what was added so far. The others wait meanwhile, but for
    /// those who [add](Self::add). Where that rolls back, it is as [`rollback`](Self::rollback) for them.
    ///
    /// # Errors
    ///
    /// As [`IndexWriter::add`], and those of `work`.
    pub fn with<T>(&self, work: impl FnOnce(&mut IndexWriter) -> Result<T>) -> Result<T> {
        let writer = self.writer();
        let mut at_work = AtWork { shared: self, n_rollbacks: writer.n_rollbacks(), writer };
        let operations = self.queue().take();
        apply(&mut at_work.writer, operations)?;
        work(&mut at_work.writer)
    }

    /// Commits every so often, on a thread of its own, as long as what is returned lives: where anything was added since, and
    /// once more at the end. What is due is merged on one more thread, in nobody's way, as by
    /// [`begin_merge`](IndexWriter::begin_merge); what is being merged at the end is given up. `told` gets what became of each
    /// commit, and the error of a merge; while the writer is useless, that, each time. An interval of less than a
    /// millisecond is one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] where there is no thread to be had.
    pub fn commit_every(
        &self,
        interval: Duration,
        mut told: impl FnMut(Result<CommitInfo>) + Send + 'static,
    ) -> Result<PeriodicCommits> {
        let stop = Arc::new(Stop::default());
        let (writer, stopped) = (self.clone(), Arc::clone(&stop));
        let work = move || {
            let (mut is_over, mut merging) = (false, None);
            while !is_over {
                is_over = stopped.wait(interval.max(INTERVAL_MIN));
                let mut is_committed = false;
                if writer.has_changes() {
                    let committed = writer.commit();
                    is_committed = committed.is_ok();
                    told(committed);
                }
                let merged = writer.merge_beside(&mut merging, is_committed, &stopped.merging);
                if let Err(error) = merged
                    && !stopped.merging.is_cancelled()
                {
                    told(Err(error));
                }
            }
            if let Some(Merging { thread, .. }) = merging {
                // What it made goes with it.
                drop(thread.join());
            }
        };
        let thread = ThreadBuilder::new().name("treepie-commit".into()).spawn(work);
        let thread = thread.map_err(|error| Error::io("starting a thread that commits", error))?;
        Ok(PeriodicCommits { stop, thread: Some(thread) })
    }

    /// Takes in what was merged, and begins the next merge where one may be due.
    fn merge_beside(
        &self,
        merging: &mut Option<Merging>,
        mut is_due: bool,
        cancel: &CancelToken,
    ) -> Result<()> {
        if let Some(done) = merging.take_if(|merging| merging.is_done.load(Ordering::Acquire)) {
            let panicked =
                |_| Err(Error::new(ErrorKind::Poisoned, "merging segments").found("a panic"));
            let merged = done.thread.join().unwrap_or_else(panicked)?;
            is_due |= self.with(|writer| writer.finish_merge(merged))?;
        }
        if is_due
            && merging.is_none()
            && !cancel.is_cancelled()
            && let Some(job) = self.with(IndexWriter::begin_merge)?
        {
            *merging = Some(Merging::start(job, cancel.clone())?);
        }
        Ok(())
    }

    /// Whether anything was added, deleted or set since the last commit.
    fn has_changes(&self) -> bool {
        !self.queue().operations.is_empty() || self.writer().has_changes()
    }

    fn push(&self, operation: Operation, bytes: usize) -> Result<Buffered> {
        let Shared { due_bytes, bytes_max, .. } = *self.0;
        let mut queue = self.queue();
        // One of any size fits where there is none.
        if queue.bytes > 0 && queue.bytes + bytes > bytes_max {
            return Err(Error::new(ErrorKind::Busy, "adding to an index")
                .expected(format!("at most {bytes_max} bytes that wait to be worked on"))
                .found(format!("{} and {bytes} more", queue.bytes))
                .hint("process or commit what waits, or give the writer more memory"));
        }
        queue.operations.push(operation);
        queue.bytes += bytes + OPERATION_BYTES;
        Ok(Buffered { bytes: queue.bytes, is_due: queue.bytes >= due_bytes })
    }

    /// Waits for those who are expected in the open group.
    fn gather<'w>(&'w self, mut queue: MutexGuard<'w, Queue>) -> MutexGuard<'w, Queue> {
        let patience = queue.gathering.patience();
        if patience.is_zero() {
            return queue;
        }
        let (until, mut is_over) = (Instant::now() + patience, false);
        while !is_over && !queue.gathering.is_complete() {
            let rest = until.saturating_duration_since(Instant::now());
            (queue, is_over) = wait_within(&self.0.gathered, &self.0.queue, queue, rest);
        }
        queue.gathering.waited();
        queue
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing in it is ever half changed.
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, IndexWriter> {
        // A writer that somebody's code has panicked in is useless by itself, unless it stood before or after a step.
        self.0.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody's work with the writer. Whatever becomes of it, those who wait are told where it rolled back.
struct AtWork<'w> {
    shared: &'w SharedWriter,
    n_rollbacks: u64,
    writer: MutexGuard<'w, IndexWriter>,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        if self.writer.n_rollbacks() != self.n_rollbacks {
            self.shared.forget_queue();
        }
    }
}

/// Who leads the commit of a group; whatever happens to it, somebody else leads the next.
struct Leading<'w> {
    writer: &'w SharedWriter,
    group: &'w Group,
    took: Cell<Duration>,
}

impl Leading<'_> {
    fn commit(&self) -> Result<CommitInfo> {
        let mut writer = self.writer.writer();
        if let Some(rolled_back) = self.group.0.get() {
            return rolled_back.clone();
        }
        let operations = {
            let mut queue = self.writer.queue();
            queue.gathering.close();
            // Whoever comes from now on has added what this commit does not have.
            queue.open = Arc::default();
            queue.take()
        };
        let started = Instant::now();
        let outcome = apply(&mut writer, operations).and_then(|()| writer.commit_changes());
        self.took.set(started.elapsed());
        self.group.0.get_or_init(|| outcome).clone()
    }
}

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        // Without an outcome there was a panic, with which everything that was to be committed is gone.
        self.group.0.get_or_init(|| {
            let error =
                Error::new(ErrorKind::Poisoned, "committing").found("a panic of who led it");
            Err(error.outcome(CommitOutcome::Unknown))
        });
        let mut queue = self.writer.queue();
        queue.is_led = false;
        queue.gathering.ended(self.took.get());
        drop(queue);
        self.writer.0.ended.notify_all();
    }
}

/// Hands everything to the writer. After an error it is useless: what others have added is lost with the rest, so
/// none of them may be told that it was committed.
fn apply(writer: &mut IndexWriter, operations: Vec<Operation>) -> Result<()> {
    let one = |writer: &mut IndexWriter, operation| match operation {
        Operation::Add(document) => writer.add(document),
        Operation::Delete(field, value) => writer.delete_in(field, &value),
        Operation::Payload(payload) => writer.set_payload(payload),
    };
    writer.attempt(|writer| operations.into_iter().try_for_each(|operation| one(writer, operation)))
}

/// Between two commits that come by themselves at least.
const INTERVAL_MIN: Duration = Duration::from_millis(1);

/// A merge on a thread of its own.
struct Merging {
    thread: JoinHandle<Result<MergedSegment>>,
    is_done: Arc<AtomicBool>,
}

impl Merging {
    fn start(job: MergeJob, cancel: CancelToken) -> Result<Self> {
        let is_done = Arc::new(AtomicBool::new(false));
        let done = IsDone(Arc::clone(&is_done));
        let work = move || {
            let _done = done;
            job.run(&cancel)
        };
        let thread = ThreadBuilder::new().name("treepie-merge".into()).spawn(work);
        let thread = thread.map_err(|error| Error::io("starting a thread that merges", error))?;
        Ok(Merging { thread, is_done })
    }
}

/// Says so when it ends, by a panic too.
struct IsDone(Arc<AtomicBool>);

impl Drop for IsDone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// How the thread is stopped that commits every so often.
#[derive(Debug, Default)]
struct Stop {
    is_over: Mutex<bool>,
    told: Condvar,
    merging: CancelToken,
}

impl Stop {
    /// Waits for so long, or until the end is told; whether it was.
    fn wait(&self, interval: Duration) -> bool {
        let until = Instant::now().checked_add(interval);
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let now = Instant::now();
            let rest = until.map_or(Duration::MAX, |until| until.saturating_duration_since(now));
            if *is_over || rest.is_zero() {
                return *is_over;
            }
            let woken = self.told.wait_timeout(is_over, rest.min(Duration::from_secs(3_600)));
            is_over = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn tell(&self) {
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.merging.cancel();
        self.told.notify_all();
    }
}

/// Commits every so often; from [`SharedWriter::commit_every`]. Dropping it ends that with a last commit, and waits for it.
#[derive(Debug)]
#[must_use = "the commits end when it is dropped"]
pub struct PeriodicCommits {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for PeriodicCommits {
    fn drop(&mut self) {
        self.stop.tell();
        if let Some(thread) = self.thread.take() {
            // It ends by a panic only where `told` panics, which was reported then.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
#[cfg(not(treepie_schedules))] // which would have to know of these threads
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::storage::MemoryStorage;
    use crate::writer::{Existing, Progress, WriterOptions};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    /// The writer of an index without documents.
    fn writer(options: WriterOptions) -> SharedWriter {
        of_schema(Schema::builder().text("text").build().unwrap(), options)
    }

    fn of_schema(schema: Schema, options: WriterOptions) -> SharedWriter {
        let (storage, none) = (Arc::new(MemoryStorage::new()), Existing::Refuse);
        let (analyzers, published) = (Arc::default(), Arc::default());
        let writer = IndexWriter::open(storage, Some(schema), analyzers, none, published, options);
        let writer = writer.unwrap().into_shared();
        writer.commit().unwrap();
        writer
    }

    fn document() -> Document {
        Document::new().with("text", "text")
    }

    /// Starts so many threads that commit, and waits until they wait.
    fn commit_by(n: usize, writer: &SharedWriter) -> Vec<thread::JoinHandle<Result<CommitInfo>>> {
        let commit = |_| {
            let writer = writer.clone();
            thread::spawn(move || writer.commit())
        };
        let committing = (0..n).map(commit).collect();
        while writer.queue().gathering.n_open < n {
            thread::yield_now();
        }
        committing
    }

    /// Who waits for a commit whose leader panics is told so, also where somebody rolls back before he wakes.
    #[test]
    fn who_waits_for_a_commit_that_panics_is_told() {
        for _ in 0..50 {
            let panics = Arc::new(AtomicBool::new(false));
            let asked = Arc::clone(&panics);
            let options = WriterOptions::new().threads(1).on_progress(move |progress| {
                let is_late = matches!(progress, Progress::Merging { .. });
                assert!(!(is_late && asked.swap(false, Ordering::SeqCst)), "the host's mistake");
            });
            let writer = writer(options);
            let held = writer.writer();
            writer.add(document()).unwrap();
            let committing = commit_by(2, &writer);
            let other = writer.clone();
            let rolling_back = thread::spawn(move || other.rollback());
            thread::sleep(Duration::from_millis(2));
            panics.store(true, Ordering::SeqCst);
            drop(held);
            rolling_back.join().unwrap().unwrap();
            for told in committing.into_iter().filter_map(|thread| thread.join().ok()) {
                let outcome = told.expect_err("it is lost").commit_outcome();
                assert!(outcome.is_some_and(|of| of != CommitOutcome::Committed), "{outcome:?}");
            }
            panics.store(false, Ordering::SeqCst);
            writer.add(document()).unwrap();
            assert_eq!(writer.commit().unwrap().documents, 1);
        }
    }

    #[test]
    fn who_waits_is_told_of_a_rollback_by_the_writer_itself() {
        let writer = writer(WriterOptions::new().threads(1));
        let committing = writer.with(|own| {
            // Forgotten with the rest, while its commit waits for the writer.
            writer.add(document())?;
            let committing = commit_by(1, &writer);
            own.rollback().map(|()| committing)
        });
        for told in committing.unwrap() {
            assert_eq!(told.join().unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
        }
        assert_eq!(writer.commit().unwrap().documents, 0);
        // The same where a panic comes behind it.
        let mut committing = vec![];
        let work = AssertUnwindSafe(|| {
            writer.with(|own| {
                writer.add(document())?;
                committing = commit_by(1, &writer);
                own.rollback()?;
                panic!("the host's mistake") as Result<()>
            })
        });
        assert!(catch_unwind(work).is_err());
        for told in committing {
            assert_eq!(told.join().unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
        }
    }

    /// Texts count with all their bytes, whatever they are for: from a quarter of the room on it is time, and when it is
    /// full nothing is taken.
    #[test]
    fn what_waits_is_counted_and_work_is_asked_for_in_time() {
        let schema = Schema::builder().text("text").key("id").build().unwrap();
        let writer = of_schema(schema, WriterOptions::new().threads(1).memory_bytes(16 << 20));
        let room = 2 << 20; // an eighth
        let long = "x".repeat(1_000);
        let pushes: [&dyn Fn() -> Result<Buffered>; 4] = [
            &|| writer.add(Document::new().with("id", "1").with("text", &*long)),
            &|| writer.delete_key(&long),
            &|| writer.delete_value("id", &long),
            &|| writer.set_payload(long.as_bytes()),
        ];
        for push in pushes {
            let mut before = Buffered { bytes: 0, is_due: false };
            let error = loop {
                match push() {
                    Ok(now) => {
                        assert!((1_000..1_500).contains(&(now.bytes - before.bytes)), "{now:?}");
                        assert_eq!(now.is_due, now.bytes >= room / 4);
                        before = now;
                    }
                    Err(error) => break error,
                }
            };
            assert_eq!(error.kind(), ErrorKind::Busy);
            assert!((room - 1_500..=room + OPERATION_BYTES).contains(&before.bytes), "{before:?}");
            writer.process().unwrap();
            assert_eq!(writer.queue().bytes, 0);
        }
        // Who has time works on it by himself.
        let mut most = 0;
        for n in 0..4_000 {
            let document = Document::new().with("id", n.to_string()).with("text", &*long);
            writer.add_and_process(document).unwrap();
            most = most.max(writer.queue().bytes);
        }
        assert!((room / 8..room / 4).contains(&most), "{most}");
    }

    #[test]
    fn commits_that_come_by_themselves_come_only_where_something_is_new() {
        let writer = writer(WriterOptions::new().threads(1));
        let (tell, told) = std::sync::mpsc::channel();
        let commits = writer.commit_every(Duration::ZERO, move |commit| {
            tell.send(commit.unwrap().generation).unwrap();
        });
        thread::sleep(Duration::from_millis(30));
        assert!(told.try_recv().is_err(), "nothing was added");
        writer.add(document()).unwrap();
        assert_eq!(told.recv().unwrap(), 2);
        thread::sleep(Duration::from_millis(5));
        drop(commits);
        assert!(told.recv().is_err(), "nor since");
    }

    /// As a commit for `n_last` leaves it that took 8 ms, while which `n_open` more have come.
    fn after(n_last: usize, n_open: usize) -> Gathering {
        let mut gathering = Gathering { n_open: n_last, ..Gathering::default() };
        gathering.close();
        gathering.n_open += n_open;
        gathering.ended(Duration::from_millis(8));
        gathering
    }

    #[test]
    fn a_group_is_waited_for_until_as_many_have_come_as_the_last_time() {
        assert!(Gathering::default().patience().is_zero(), "nobody is expected before a commit");
        let mut gathering = after(3, 1);
        gathering.took = Duration::from_secs(60);
        assert_eq!(gathering.patience(), GATHERING_MAX, "however long it took");
        gathering.took = Duration::from_millis(8);
        for n_open in 1..4 {
            gathering.n_open = n_open;
            assert_eq!(gathering.patience(), Duration::from_millis(2), "{n_open} of 3 + 1");
        }
        for n_open in 4..6 {
            gathering.n_open = n_open;
            assert!(gathering.patience().is_zero(), "{n_open} of 3 + 1");
        }
    }

    /// Whoever commits alone after others have gone pays for a few waits, and not with each of his commits.
    #[test]
    fn waits_in_vain_come_more_and_more_seldom_until_one_was_not() {
        let mut gathering = after(3, 1);
        for n_between in [0, 1, 3, 7, 15, 31, 63, 63] {
            for _ in 0..n_between {
                assert!(gathering.patience().is_zero(), "one of {n_between}");
            }
            assert!(!gathering.patience().is_zero(), "behind {n_between}");
            gathering.waited();
        }
        gathering.n_open = 4;
        gathering.waited();
        gathering.n_open = 1;
        assert!(!gathering.patience().is_zero(), "they are back");
    }
}
