//! Commits that come by themselves, and merges beside them.

use super::SharedWriter;
use crate::budget::CancelToken;
use crate::error::{CommitOutcome, Error, ErrorKind, Result};
use crate::sync::{self, Condvar, JoinHandle, Mutex, ThreadBuilder};
use crate::writer::{CommitInfo, IndexWriter, MergeJob, MergedSegment};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Between two commits that come by themselves at least.
const INTERVAL_MIN: Duration = Duration::from_millis(1);

impl SharedWriter {
    /// Commits every so often, on a thread of its own, as long as what is returned lives: where anything was added since, and
    /// once more at the end. What is due is merged on one more thread, in nobody's way, as by
    /// [`begin_merge`](IndexWriter::begin_merge), whoever made the commits; what is being merged at the end is given up. `told`
    /// gets what became of each commit, and the error of a merge; while the writer is useless, that, each time. An interval of
    /// less than a millisecond is one.
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
            let mut merges = MergesBeside::default();
            let mut is_over = false;
            while !is_over {
                is_over = stopped.wait(interval.max(INTERVAL_MIN));
                if writer.has_changes() {
                    let committed = surviving("committing", || writer.commit());
                    let has_failed = committed.is_err();
                    told(committed);
                    if has_failed {
                        continue;
                    }
                }
                let merged = surviving("merging segments", || {
                    writer.merge_beside(&mut merges, &stopped.merging)
                });
                if let Err(error) = merged {
                    told(Err(error));
                }
            }
        };
        let thread = ThreadBuilder::new().name("treepie-commit".into()).spawn(work);
        let thread = thread.map_err(|error| Error::io("starting a thread that commits", error))?;
        Ok(PeriodicCommits { stop, thread: Some(thread) })
    }

    /// Takes in what was merged, and begins the next merge where one may be due.
    fn merge_beside(&self, merges: &mut MergesBeside, cancel: &CancelToken) -> Result<()> {
        if let Some(done) = merges.running.take_if(|merging| merging.is_done()) {
            match done.join() {
                Err(error) if error.kind() == ErrorKind::Cancelled => {}
                merged => drop(self.with(|writer| writer.finish_merge(merged?))?),
            }
            // Only here: what has failed is tried again after the next commit, and not at once and for ever.
            merges.looked_at = None;
        }
        if merges.running.is_some() || cancel.is_cancelled() {
            return Ok(());
        }
        let commit = Some(self.writer().generation());
        if merges.looked_at == commit {
            return Ok(());
        }
        if let Some(job) = self.with(IndexWriter::begin_merge)? {
            merges.running = Some(Merging::start(job, cancel.clone())?);
        }
        merges.looked_at = commit;
        Ok(())
    }
}

/// What a panic of the host's code leaves is an error like others for those who go on.
fn surviving<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let error = Error::new(ErrorKind::Poisoned, what).found("a panic of the host's code");
        Err(error.outcome(CommitOutcome::Unknown))
    })
}

/// The merges of somebody who commits every so often.
#[derive(Default)]
struct MergesBeside {
    running: Option<Merging>,
    /// The commit after which nothing is due that has not begun.
    looked_at: Option<u64>,
}

/// A merge on a thread of its own, which ends with this at the latest.
struct Merging {
    thread: Option<JoinHandle<Result<MergedSegment>>>,
    is_done: Arc<AtomicBool>,
    cancel: CancelToken,
}

impl Merging {
    fn start(job: MergeJob, cancel: CancelToken) -> Result<Self> {
        let is_done = Arc::new(AtomicBool::new(false));
        let (done, cancelled) = (IsDone(Arc::clone(&is_done)), cancel.clone());
        let work = move || {
            let _done = done;
            job.run(&cancelled)
        };
        let thread = ThreadBuilder::new().name("treepie-merge".into()).spawn(work);
        let thread = thread.map_err(|error| Error::io("starting a thread that merges", error))?;
        Ok(Merging { thread: Some(thread), is_done, cancel })
    }

    fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Acquire)
    }

    /// What it made. A panic is not the writer's: that is as it was.
    fn join(mut self) -> Result<MergedSegment> {
        let panicked = || Error::io("merging segments", io::Error::other("a panic of the host's"));
        let merged = self.thread.take().and_then(|thread| thread.join().ok());
        merged.unwrap_or_else(|| Err(panicked()))
    }
}

impl Drop for Merging {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.cancel.cancel();
            // What it made goes with it.
            drop(thread.join());
        }
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

/// Commits every so often; from [`SharedWriter::commit_every`]. Dropping it ends that with a last commit, and waits for it:
/// not to be done inside of [`SharedWriter::with`], which that commit would wait for. Where what is told of a commit
/// drops it, one more may follow, and nobody waits for that.
#[derive(Debug)]
#[must_use = "the commits end when it is dropped"]
pub struct PeriodicCommits {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for PeriodicCommits {
    fn drop(&mut self) {
        self.stop.tell();
        let is_own = |thread: &JoinHandle<()>| thread.thread().id() == sync::current_thread();
        // Nobody waits for himself.
        if let Some(thread) = self.thread.take().filter(|thread| !is_own(thread)) {
            // It ends by a panic only where `told` panics, which was reported then.
            let _ = thread.join();
        }
    }
}
