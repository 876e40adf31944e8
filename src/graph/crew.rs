//! Tasks on the threads of a pool and on the one that waits for them.

use crate::budget::{self, ns};
use crate::error::{Error, Result};
use rayon::ThreadPool;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which a thread that waits for others asks whether to stop.
const TICK: Duration = Duration::from_millis(5);

/// Word to tasks that nobody wants their results any more.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Whether a task is to end early, about so many nanoseconds of work after it asked last.
    pub(super) fn is_asked(&self, ns: u64) -> bool {
        // Budgets are of the thread that waits: the others hear of it by the flag.
        if budget::work(ns).is_err() {
            self.0.store(true, Ordering::Relaxed);
        }
        self.0.load(Ordering::Relaxed)
    }
}

/// Results of tasks 0 to `n` in their order. This thread takes tasks, too, so that it waits for none that nobody has begun:
/// all threads of the pool may be busy, and wait for this one.
///
/// # Errors
///
/// Whatever the [budget] of this thread says, which is asked between tasks, and the first error of a task; no other is begun
/// then.
pub(super) fn map<T: Send + 'static>(
    pool: Option<&ThreadPool>,
    n: usize,
    task: impl Fn(usize, &Stop) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let job = Arc::new(Job {
        state: Mutex::new(State { next: 0, n, active: 0, failed: None, panic: None }),
        changed: Condvar::new(),
        stop: Stop::default(),
        task: Mutex::new(Some(Arc::new(task))),
        results: Mutex::new((0..n).map(|_| None).collect()),
    });
    if let Some(pool) = pool {
        for _ in 1..pool.current_num_threads().min(n) {
            let job = Arc::clone(&job);
            pool.spawn(move || job.run(|| true));
        }
    }
    job.run(|| !job.stop.is_asked(ns::GRAPH_TASK));
    job.end();
    // Whoever was told to stop once is told so each time.
    budget::work(ns::GRAPH_TASK)?;
    if let Some(error) = lock(&job.state).failed.take() {
        return Err(error);
    }
    Ok(std::mem::take(&mut *lock(&job.results)).into_iter().flatten().collect())
}

type Task<T> = Arc<dyn Fn(usize, &Stop) -> Result<T> + Send + Sync>;

struct Job<T> {
    state: Mutex<State>,
    changed: Condvar,
    stop: Stop,
    /// Until the end: a thread that comes later shall hold nothing.
    task: Mutex<Option<Task<T>>>,
    results: Mutex<Vec<Option<T>>>,
}

struct State {
    next: usize,
    n: usize,
    active: usize,
    failed: Option<Error>,
    panic: Option<Box<dyn Any + Send>>,
}

impl<T> Job<T> {
    /// Carries tasks out until there is none, or `goes_on` says no.
    fn run(&self, mut goes_on: impl FnMut() -> bool) {
        let Some(task) = lock(&self.task).clone() else { return };
        while let Some(nth) = self.take() {
            let result = match goes_on() {
                true => catch_unwind(AssertUnwindSafe(|| task(nth, &self.stop))).map(Some),
                false => Ok(None),
            };
            let mut state = lock(&self.state);
            state.active -= 1;
            match result {
                Ok(Some(Ok(result))) => lock(&self.results)[nth] = Some(result),
                Ok(Some(Err(error))) => {
                    state.failed.get_or_insert(error);
                    state.n = state.next;
                }
                Ok(None) => state.n = state.next,
                Err(panic) => {
                    state.panic = Some(panic);
                    state.n = state.next;
                }
            }
            drop(state);
            self.changed.notify_all();
        }
    }

    fn take(&self) -> Option<usize> {
        let mut state = lock(&self.state);
        let nth = state.next;
        (nth < state.n).then(|| {
            state.next += 1;
            state.active += 1;
            nth
        })
    }

    /// Waits for tasks that others have begun.
    fn end(&self) {
        let mut state = lock(&self.state);
        while state.active > 0 {
            let waited = self.changed.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if self.stop.is_asked(TICK.as_nanos() as u64) {
                state.n = state.next;
            }
        }
        let panic = state.panic.take();
        drop(state);
        *lock(&self.task) = None;
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
