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

mod periodic;

use crate::document::Document;
use crate::error::{CommitOutcome, Error, ErrorKind, Result};
use crate::ids::FieldId;
use crate::query::Query;
use crate::sync::{Condvar, Mutex, MutexGuard, wait_within};
use crate::value::Value;
use crate::writer::{CommitInfo, FlushInfo, IndexWriter, WriterContext, check_payload};
use std::cell::Cell;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub use periodic::PeriodicCommits;

/// Bytes of an operation in the queue beside its texts.
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
    /// Signal that as many wait in the open group as were expected.
    gathered: Condvar,
    writer: Mutex<IndexWriter>,
    /// The writer's, which may be at work for long.
    rules: WriterContext,
    /// Bytes of the queue from which on it should be worked on, and those that it holds at most.
    due_bytes: usize,
    bytes_max: usize,
}

#[derive(Debug, Default)]
struct Queue {
    operations: Vec<Operation>,
    bytes: usize,
    /// Group of those who wait for the next commit.
    open: Arc<Group>,
    is_led: bool,
    gathering: Gathering,
}

/// Number of threads that commit at the same time, as far as the last commits show it.
#[derive(Debug, Default)]
struct Gathering {
    /// Number of threads that wait in the open group.
    n_open: usize,
    /// Number of threads that the last commit was for.
    n_last: usize,
    /// Number of threads of the last commit, and of those that came while it was made.
    n_expected: usize,
    /// Time of the commit, without the wait for the writer.
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

    /// Time for which the open group is worth waiting; zero if it is not.
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

/// Outcome of a commit.
#[derive(Debug, Default)]
struct Group(OnceLock<Result<CommitInfo>>);

#[derive(Debug)]
enum Operation {
    Add(Document),
    Delete(FieldId, Vec<u8>),
    Payload(Vec<u8>),
}

/// Amount of data that waits to be processed; from [`SharedWriter::add`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Buffered {
    /// Bytes that wait, about.
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
    /// others who do the same. The result says when it is time to [work on it](Self::process).
    ///
    /// # Errors
    ///
    /// Fails like [`IndexWriter::add`], but for a writer that is useless, which the next [`process`](Self::process) or
    /// [`commit`](Self::commit) says; [`ErrorKind::Busy`] where too much waits to be worked on: then nothing was added, and
    /// somebody has to [process](Self::process) or [commit](Self::commit) first.
    pub fn add(&self, document: Document) -> Result<Buffered> {
        let bytes = document.iter().map(|(name, value)| name.len() + value.n_bytes() + 48).sum();
        self.0.rules.check(&document)?;
        self.push(Operation::Add(document), bytes)
    }

    /// Adds a document as [`add`](Self::add), and [processes](Self::process) what waits if that is due. Threads
    /// that have time should call this.
    ///
    /// # Errors
    ///
    /// Fails like [`add`](Self::add) and [`process`](Self::process), without [`ErrorKind::Busy`].
    pub fn add_and_process(&self, document: Document) -> Result<()> {
        match self.add(document.clone()) {
            Ok(Buffered { is_due: false, .. }) => Ok(()),
            Ok(_) => self.process(),
            // Behind what waits, and not in the queue, which others may go on filling for ever.
            Err(error) if error.kind() == ErrorKind::Busy => {
                self.with(|writer| writer.attempt(|writer| writer.add(document)))
            }
            Err(error) => Err(error),
        }
    }

    /// Deletes as [`IndexWriter::delete_key`] does what was there or was added before.
    ///
    /// # Errors
    ///
    /// Fails like the writer's own; [`ErrorKind::Busy`] as [`add`](Self::add).
    pub fn delete_key(&self, key: impl Into<Value>) -> Result<Buffered> {
        self.delete_in(self.0.rules.key()?, &key.into())
    }

    /// Deletes as [`IndexWriter::delete_value`] does what was there or was added before.
    ///
    /// # Errors
    ///
    /// Fails like the writer's own; [`ErrorKind::Busy`] as [`add`](Self::add).
    pub fn delete_value(&self, field: &str, value: impl Into<Value>) -> Result<Buffered> {
        self.delete_in(self.0.rules.exact(field)?, &value.into())
    }

    fn delete_in(&self, field: FieldId, value: &Value) -> Result<Buffered> {
        let term = self.0.rules.term(field, value)?;
        let bytes = term.len();
        self.push(Operation::Delete(field, term), bytes)
    }

    /// Deletes as [`IndexWriter::delete`] does; waits for the writer.
    ///
    /// # Errors
    ///
    /// Fails like the writer's own.
    pub fn delete(&self, query: &Query) -> Result<()> {
        self.with(|writer| writer.delete(query))
    }

    /// Sets what the next commit carries, as [`IndexWriter::set_payload`] does. The last of several callers counts.
    ///
    /// # Errors
    ///
    /// Fails like the writer's own; [`ErrorKind::Busy`] as [`add`](Self::add).
    pub fn set_payload(&self, payload: impl Into<Vec<u8>>) -> Result<Buffered> {
        let payload = payload.into();
        check_payload(&payload)?;
        let bytes = payload.len();
        self.push(Operation::Payload(payload), bytes)
    }

    /// Hands waiting documents to the writer, which tokenizes them, and spills those beyond its memory.
    ///
    /// # Errors
    ///
    /// Fails like [`IndexWriter::add`].
    pub fn process(&self) -> Result<()> {
        self.with(|_| Ok(()))
    }

    /// Makes everything added so far durable and visible, as [`IndexWriter::commit`] does.
    ///
    /// Threads that ask at the same time share one commit. For it those who shared the last one are waited for, a
    /// fourth of the time of a commit and 5 ms at most. If there is nothing new, as after the commit of somebody else
    /// who took it along, it returns the last commit as one that added and deleted nothing.
    ///
    /// # Errors
    ///
    /// Fails like the writer's own, and each of those who share it gets it; [`ErrorKind::Cancelled`] if somebody [rolled back](Self::rollback)
    /// meanwhile what it was to make durable: the [outcome](Error::commit_outcome) is `Unknown` then, since what this
    /// caller had added may have been taken along by the commit of somebody else before.
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
    /// Fails like the writer's own.
    pub fn flush(&self) -> Result<FlushInfo> {
        self.with(IndexWriter::flush)
    }

    /// Forgets what was added and deleted since the last commit, by whomever, as [`IndexWriter::rollback`] does. Whoever waits
    /// in [`commit`](Self::commit) is told by an error; whoever has added and not yet committed has to be told by the caller.
    ///
    /// # Errors
    ///
    /// Fails like the writer's own.
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
            // Documents of a caller may have gone along with a commit before the one that it waits for.
            .outcome(CommitOutcome::Unknown);
        // Who waits has added what is forgotten. Who has led a group to its end knows better.
        let _ = std::mem::take(&mut queue.open).0.set(Err(error));
        queue.gathering.close();
    }

    /// Does something with the writer itself, once it has what was added so far. The others wait meanwhile, but for
    /// those who [add](Self::add). If that rolls back, it is as [`rollback`](Self::rollback) for them.
    ///
    /// # Errors
    ///
    /// Fails like [`IndexWriter::add`], and those of `work`.
    pub fn with<T>(&self, work: impl FnOnce(&mut IndexWriter) -> Result<T>) -> Result<T> {
        let writer = self.writer();
        let mut at_work = AtWork { shared: self, n_rollbacks: writer.n_rollbacks(), writer };
        let operations = self.queue().take();
        apply(&mut at_work.writer, operations)?;
        work(&mut at_work.writer)
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

#[cfg(test)]
#[cfg(not(treepie_schedules))] // which would have to know of these threads
mod tests;
