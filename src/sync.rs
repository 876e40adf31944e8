//! The locks and threads by which writers, readers and those who wait for them agree with each other.
//!
//! They are those of the standard library. In a build of the unit tests with `--cfg treepie_schedules` they are those of
//! `shuttle`, which runs one thread at a time, decides at each of their calls who goes on, and so tries one schedule after
//! the other, each of which can be repeated: the tests in `schedules` run the same code that everybody runs.

#[cfg(not(all(test, treepie_schedules)))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard},
    thread::{Builder as ThreadBuilder, JoinHandle},
};

#[cfg(all(test, treepie_schedules))]
pub(crate) use shuttle::{
    sync::{Condvar, Mutex, MutexGuard},
    thread::{Builder as ThreadBuilder, JoinHandle},
};

/// A step on what threads share without a lock, such as a cell of `arc-swap`: where schedules are tried, another thread
/// may come first here.
#[inline(always)]
pub(crate) fn step() {
    #[cfg(all(test, treepie_schedules))]
    let _ = shuttle::sync::atomic::AtomicBool::new(true).load(std::sync::atomic::Ordering::SeqCst);
}
