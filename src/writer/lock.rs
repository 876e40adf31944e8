//! Becoming the one writer, and waiting for the one that there is.

use crate::budget;
use crate::error::{Error, ErrorKind, Result};
use crate::storage::{Storage, WriterLock};
use std::time::{Duration, Instant};

/// Time before the lock is asked for the second time.
const NAP_MIN: Duration = Duration::from_millis(1);
/// Longest time between two attempts.
const NAP_MAX: Duration = Duration::from_millis(100);

/// Takes the lock of the writer, within the time `wait` if somebody else has it.
///
/// # Errors
///
/// `Locked` if somebody else still has it then; `Timeout` and `Cancelled` where a budget ends the wait.
pub(super) fn lock_within(storage: &dyn Storage, wait: Duration) -> Result<WriterLock> {
    let began = Instant::now();
    let mut nap = NAP_MIN;
    loop {
        let locked = match storage.lock_writer() {
            Err(error) if error.kind() == ErrorKind::Locked && !wait.is_zero() => error,
            locked => return locked,
        };
        let waited = began.elapsed();
        match wait.checked_sub(waited).filter(|left| !left.is_zero()) {
            None => {
                return Err(locked
                    .expected(format!("it to end within {wait:.1?}"))
                    .found(format!("it at work after {waited:.1?} of waiting")));
            }
            Some(left) => budget::sleep(nap.min(left)).map_err(stopped)?,
        }
        nap = (nap * 2).min(NAP_MAX);
    }
}

#[cold]
fn stopped(error: Error) -> Error {
    error.during("waiting for another writer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Budget, CancelToken};
    use crate::storage::MemoryStorage;
    use std::{sync::Arc, thread};

    const LONG: Duration = Duration::from_secs(3_600);

    #[test]
    fn the_lock_is_had_as_soon_as_it_is_free() {
        let storage = Arc::new(MemoryStorage::new());
        let held = storage.lock_writer().unwrap();
        let waiter = thread::spawn({
            let storage = Arc::clone(&storage);
            move || lock_within(&*storage, LONG).map(drop)
        });
        thread::sleep(Duration::from_millis(20));
        drop(held);
        waiter.join().unwrap().unwrap();
    }

    #[test]
    fn an_error_says_how_long_was_waited() {
        let storage = MemoryStorage::new();
        let _held = storage.lock_writer().unwrap();
        let began = Instant::now();
        let error = lock_within(&storage, Duration::from_millis(30)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked);
        assert!(began.elapsed() >= Duration::from_millis(30));
        let text = error.to_string();
        for part in ["another writer", "within 30.0ms", "at work after 3", "of waiting"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let at_once = lock_within(&storage, Duration::ZERO).unwrap_err().to_string();
        assert!(!at_once.contains("waiting"), "{at_once}");
    }

    #[test]
    fn a_budget_ends_the_wait() {
        let storage = MemoryStorage::new();
        let _held = storage.lock_writer().unwrap();
        let waiting = |budget: Budget| budget.run(|| lock_within(&storage, LONG)).unwrap_err();
        let error = waiting(Budget::new().timeout(Duration::from_millis(20)));
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert!(error.to_string().contains("waiting for another writer"), "{error}");
        let token = CancelToken::new();
        let canceller = thread::spawn({
            let token = token.clone();
            move || {
                thread::sleep(Duration::from_millis(20));
                token.cancel();
            }
        });
        assert_eq!(waiting(Budget::new().cancel(&token)).kind(), ErrorKind::Cancelled);
        canceller.join().unwrap();
    }
}
