//! Commits that come by themselves, and merges beside them.

use super::SharedWriter;
use crate::budget::CancelToken;
use crate::error::{CommitOutcome, Error, ErrorKind, Result};
use crate::sync::{self, Condvar, JoinHandle, Mutex, ThreadBuilder, ThreadId};
use crate::writer::{CommitInfo, IndexWriter, MergeJob, MergedSegment};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Between two commits that come by themselves at least.
const INTERVAL_MIN: Duration = Duration::from_millis(1);

impl SharedWriter {
    /// Commits at an interval, until the returned value is dropped.
    ///
    /// That is on a thread of its own, if anything was added since, and once more at the end. Merges that are due run
    /// on one more thread, in nobody's way, as by [`begin_merge`](IndexWriter::begin_merge), whoever made the
    /// commits; a merge that runs at the end is given up. `told` gets what became of each commit, and the error of a
    /// merge; while the writer is useless, that, each time. An interval of less than a millisecond is one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] if there is no thread to be had.
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
                    let committed = catch_unwind(AssertUnwindSafe(|| writer.commit()));
                    let committed = committed.unwrap_or_else(|_| Err(commit_panicked()));
                    let has_failed = committed.is_err();
                    told(committed);
                    if has_failed {
                        continue;
                    }
                }
                let merging = || writer.merge_beside(&mut merges, &stopped);
                // Not the writer's: where it is useless afterwards, it says so the next time.
                let panicked = |_| Err(merge_panicked());
                let merged = catch_unwind(AssertUnwindSafe(merging)).unwrap_or_else(panicked);
                if let Err(error) = merged {
                    told(Err(error));
                }
            }
        };
        let thread = ThreadBuilder::new().name("treepie-commit".into()).spawn(work);
        let thread = thread.map_err(|error| Error::io("starting a thread that commits", error))?;
        Ok(PeriodicCommits { stop, thread: Some(thread), process: std::process::id() })
    }

    /// Takes in what was merged, and begins the next merge where one may be due.
    fn merge_beside(&self, merges: &mut MergesBeside, stop: &Arc<Stop>) -> Result<()> {
        if let Some(done) = merges.running.take_if(|merging| merging.is_done()) {
            match done.join() {
                Err(error) if error.kind() == ErrorKind::Cancelled => {}
                merged => drop(self.with(|writer| writer.finish_merge(merged?))?),
            }
            // A merge that comes to its end may have left something due.
            merges.looked_at = None;
        }
        if merges.running.is_some() || stop.merging.is_cancelled() {
            return Ok(());
        }
        let commit = Some(self.writer().generation());
        if merges.looked_at == commit {
            return Ok(());
        }
        // First: what fails to begin is tried again after the next commit, and not at once and for ever.
        merges.looked_at = commit;
        if let Some(job) = self.with(IndexWriter::begin_merge)? {
            merges.running = Some(Merging::start(job, Arc::clone(stop))?);
        }
        Ok(())
    }
}

/// Error that a panic of the host's code leaves: one like others for those who go on.
fn commit_panicked() -> Error {
    let error = Error::new(ErrorKind::Poisoned, "committing").found("a panic of the host's code");
    error.outcome(CommitOutcome::Unknown)
}

/// Error of a merge that panicked.
fn merge_panicked() -> Error {
    Error::io("merging segments", io::Error::other("a panic of the host's code"))
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
    stop: Arc<Stop>,
}

impl Merging {
    fn start(job: MergeJob, stop: Arc<Stop>) -> Result<Self> {
        let is_done = Arc::new(AtomicBool::new(false));
        let (done, stopped) = (IsDone(Arc::clone(&is_done)), Arc::clone(&stop));
        let work = move || {
            let _done = done;
            *stopped.merger.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(sync::current_thread());
            job.run(&stopped.merging)
        };
        let thread = ThreadBuilder::new().name("treepie-merge".into()).spawn(work);
        let thread = thread.map_err(|error| Error::io("starting a thread that merges", error))?;
        Ok(Merging { thread: Some(thread), is_done, stop })
    }

    fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Acquire)
    }

    /// Segment that the thread made. A panic is not the writer's: that is as it was.
    fn join(mut self) -> Result<MergedSegment> {
        let merged = self.thread.take().and_then(|thread| thread.join().ok());
        merged.unwrap_or_else(|| Err(merge_panicked()))
    }
}

impl Drop for Merging {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.stop.merging.cancel();
            // The segment that it made goes with it.
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

/// Signal that stops the thread that commits every so often.
#[derive(Debug, Default)]
struct Stop {
    is_over: Mutex<bool>,
    told: Condvar,
    merging: CancelToken,
    /// The thread of the merge that began last.
    merger: Mutex<Option<ThreadId>>,
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

    fn is_merger(&self) -> bool {
        let merger = *self.merger.lock().unwrap_or_else(PoisonError::into_inner);
        merger == Some(sync::current_thread())
    }
}

/// Commits at an interval; from [`SharedWriter::commit_every`]. Dropping it ends that with a last commit, and waits for
/// it: not to be done inside of [`SharedWriter::with`], which that commit would wait for, nor by what is told of the
/// work of another thread that holds the writer or works for one that does. If code that is told of a commit or of a
/// merge of its own drops it, one more commit may follow, and nobody waits for that.
#[derive(Debug)]
#[must_use = "the commits end when it is dropped"]
pub struct PeriodicCommits {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
    /// Whose thread it is.
    process: u32,
}

impl Drop for PeriodicCommits {
    fn drop(&mut self) {
        if std::process::id() != self.process {
            // In a fork there is no such thread, and its locks may be held for ever.
            std::mem::forget((self.thread.take(), Arc::clone(&self.stop)));
            return;
        }
        self.stop.tell();
        let is_own = |thread: &JoinHandle<()>| thread.thread().id() == sync::current_thread();
        // Nobody waits for himself, nor for somebody who waits for him.
        let waits = |thread: &JoinHandle<()>| !is_own(thread) && !self.stop.is_merger();
        if let Some(thread) = self.thread.take().filter(waits) {
            // It ends by a panic only where `told` panics, which was reported then.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
#[cfg(not(treepie_schedules))] // which would have to know of these threads
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::thread;

    /// Its thread is not there, and whoever held a lock holds it for ever.
    #[test]
    fn a_fork_waits_for_nobody() {
        let stop = Arc::new(Stop::default());
        let (_held, (end, ended)) = (stop.is_over.lock().unwrap(), channel::<()>());
        let thread = thread::spawn(move || {
            let _ = ended.recv();
        });
        let process = std::process::id() + 1;
        drop(PeriodicCommits { stop: Arc::clone(&stop), thread: Some(thread), process });
        assert!(!stop.merging.is_cancelled());
        drop(end);
    }

    /// However long he would wait.
    #[test]
    fn who_waits_for_the_next_commit_is_woken_by_the_end() {
        for _ in 0..30 {
            let stop = Arc::new(Stop::default());
            let stopped = Arc::clone(&stop);
            let (tell, told) = channel();
            thread::spawn(move || {
                tell.send(false).unwrap();
                tell.send(stopped.wait(Duration::MAX)).unwrap();
            });
            assert!(!told.recv().unwrap(), "it begins to wait");
            // Nothing says when it does.
            thread::sleep(Duration::from_millis(1));
            stop.tell();
            let is_over = told.recv_timeout(Duration::from_secs(60));
            assert!(is_over.expect("it waits for ever"));
            assert!(stop.merging.is_cancelled());
        }
    }
}
