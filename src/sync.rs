//! Locks and threads of writers, readers and those who wait for them.
//!
//! They are those of the standard library. In a build of the unit tests with `--cfg treepie_schedules` they are those of
//! `shuttle`, which runs one thread at a time, decides at each of their calls who goes on, and so tries one schedule after
//! the other, each of which can be repeated: the tests in `schedules` run the same code that everybody runs.

use std::sync::PoisonError;
use std::time::Duration;

#[cfg(not(all(test, treepie_schedules)))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard},
    thread::{Builder as ThreadBuilder, JoinHandle, ThreadId},
};

#[cfg(all(test, treepie_schedules))]
pub(crate) use shuttle::{
    sync::{Condvar, Mutex, MutexGuard},
    thread::{Builder as ThreadBuilder, JoinHandle, ThreadId},
};

/// Which thread this is.
pub(crate) fn current_thread() -> ThreadId {
    #[cfg(not(all(test, treepie_schedules)))]
    use std::thread::current;

    #[cfg(all(test, treepie_schedules))]
    use shuttle::thread::current;

    current().id()
}

/// A step on what threads share without a lock, such as a cell of `arc-swap`: where schedules are tried, another thread
/// may come first here.
#[inline(always)]
pub(crate) fn step() {
    #[cfg(all(test, treepie_schedules))]
    let _ = shuttle::sync::atomic::AtomicBool::new(true).load(std::sync::atomic::Ordering::SeqCst);
}

/// Waits until somebody tells, or for so long; whether that is over. If schedules are tried it is over at once, and
/// others may come first or not.
pub(crate) fn wait_within<'m, T>(
    told: &Condvar,
    mutex: &'m Mutex<T>,
    guard: MutexGuard<'m, T>,
    timeout: Duration,
) -> (MutexGuard<'m, T>, bool) {
    #[cfg(all(test, treepie_schedules))]
    {
        let _ = (told, timeout);
        drop(guard);
        step();
        (mutex.lock().unwrap_or_else(PoisonError::into_inner), true)
    }
    #[cfg(not(all(test, treepie_schedules)))]
    {
        let _ = mutex;
        let (guard, result) =
            told.wait_timeout(guard, timeout).unwrap_or_else(PoisonError::into_inner);
        (guard, result.timed_out())
    }
}
