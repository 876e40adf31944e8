//! Limits on the time and memory of a search, asked in every loop.
//!
//! A [`Budget`] is handed to a searcher ([`Searcher::with_budget`](crate::Searcher::with_budget)) or to one search. A search
//! enters it on the thread that it runs on, whichever that is, and the loops below it say what they did ([`work`]) and what they
//! are about to allocate ([`hold`]). They are many and deep, from dictionaries over containers to the positions of phrases, so
//! inside the library the budget is a value of the thread. [`Budget::run`] does the same for other work.
//!
//! # Cost
//!
//! Work is told in nanoseconds that it takes about, by the window, container, block or batch of documents, never
//! by the document: a subtraction and a branch. The clock and the tokens are asked once half a
//! millisecond of work was told, and never if there is no budget.
//!
//! # What is not interrupted
//!
//! Sorting a page, compiling a regular expression, unpacking one stored document, and reading a block of a file
//! that is not in memory: each is one step.

pub(crate) mod ns;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::{self, Limits};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of memory that a query may take unless its budget says otherwise.
pub const QUERY_MEMORY_BYTES: u64 = Limits::DEFAULT.query_memory_bytes;

/// Nanoseconds of work, as it is told, after which the clock is asked.
const GRAIN: i64 = 500_000;
/// Longest sleep of a thread that a budget may stop.
const NAP: Duration = Duration::from_millis(5);
/// Name of the limit of memory in errors.
const MEMORY_LIMIT: &str = "QUERY_MEMORY_BYTES";
/// More work than any thread will do.
const UNLIMITED: i64 = i64::MAX;

thread_local! {
    /// Work that may be done before the clock is asked.
    static LEFT: Cell<i64> = const { Cell::new(UNLIMITED) };
    static MEMORY: Cell<Memory> =
        const { Cell::new(Memory { left: QUERY_MEMORY_BYTES, of: QUERY_MEMORY_BYTES, is_asked: false }) };
    /// Budgets that were entered and not left.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The budgets that hold, the innermost last; only those that can stop anything.
    static HELD: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
}

#[derive(Clone, Copy)]
struct Memory {
    left: u64,
    of: u64,
    /// Whether a budget asks for this, and not only the limits that hold.
    is_asked: bool,
}

impl Memory {
    /// Memory left for a budget inside this one. It is part of the memory that it asks for or, if it asks for none, of
    /// that around it or of the limits that hold now.
    fn inside(self, asked: Option<u64>) -> Memory {
        let used = self.of - self.left;
        match asked {
            Some(own) if self.is_asked => {
                let own = own.min(self.left);
                Memory { left: own, of: own, is_asked: true }
            }
            Some(own) => Memory { left: own.saturating_sub(used), of: own, is_asked: true },
            None if self.is_asked => self,
            None => {
                let of = limits::current().query_memory_bytes;
                Memory { left: of.saturating_sub(used), of, is_asked: false }
            }
        }
    }
}

struct Entered {
    started: Instant,
    deadline: Option<Instant>,
    cancel: Option<CancelToken>,
    #[cfg(test)]
    asks_left: Option<u64>,
}

/// Tells searches on any thread to stop. Cheap to clone: all clones are the same token.
///
/// ```
/// use treepie::{Budget, CancelToken, ErrorKind};
/// # use treepie::{Document, Index, Schema};
/// # let index = Index::in_memory(Schema::builder().text("title").build()?);
/// # let mut writer = index.writer()?;
/// # writer.add(Document::new().with("title", "Paris"))?;
/// # writer.commit()?;
///
/// let searcher = index.searcher()?;
/// let query = searcher.parse("pari*")?;
/// let token = CancelToken::new();
/// let search = searcher.search(&query).budget(Budget::new().cancel(&token));
/// assert_eq!(search.clone().run()?.total.value, 1);
///
/// token.cancel(); // from any thread, also while a search is running
/// assert_eq!(search.run().unwrap_err().kind(), ErrorKind::Cancelled);
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that stops nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops every search that was given this token, for good.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Limits of time and memory, and a token that cancels.
///
/// They are for a search, a searcher or whatever else [runs](Self::run) under them.
///
/// It is handed over: [`SearchBuilder::budget`](crate::SearchBuilder::budget) takes one for a search,
/// [`Searcher::with_budget`](crate::Searcher::with_budget) one for everything that is asked of a searcher, and
/// [`PreparedSearch::set_budget`](crate::search::PreparedSearch::set_budget) one for each run. It works on whatever thread calls
/// them. [`run`](Self::run) is for what takes none: the work of a writer, a highlighter, a check of an index.
///
/// ```
/// use std::time::Duration;
/// use treepie::Budget;
/// # use treepie::{Document, Index, Schema};
/// # let index = Index::in_memory(Schema::builder().text("title").build()?);
/// # let mut writer = index.writer()?;
/// # writer.add(Document::new().with("title", "Paris"))?;
/// # writer.commit()?;
/// let budget = Budget::new().timeout(Duration::from_millis(200)).memory_bytes(64 << 20);
/// let searcher = index.searcher()?.with_budget(budget);
/// let handler = std::thread::spawn(move || searcher.count(&searcher.parse("paris OR london")?));
/// assert_eq!(handler.join().expect("no panic")?, 1);
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Budget {
    timeout: Option<Duration>,
    deadline: Option<Instant>,
    cancel: Option<CancelToken>,
    memory_bytes: Option<u64>,
    #[cfg(test)]
    asks_left: Option<u64>,
}

impl Budget {
    /// No deadline, nobody who cancels, and the memory that the limits of an index allow.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops what takes longer than this, from when it begins to run.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Stops what still runs then.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Stops when the token is cancelled.
    #[must_use]
    pub fn cancel(mut self, token: &CancelToken) -> Self {
        self.cancel = Some(token.clone());
        self
    }

    /// Sets the memory that a query may take, in bytes.
    ///
    /// The default is what the [limits](crate::Limits::query_memory_bytes) of the index say. It is for what grows with
    /// the index: the documents of patterns and of everything that matches, results of operators, the best of a page,
    /// the terms of facets, and the hits of buckets with their stored fields. Stored fields of the hits of a page,
    /// which are as many as the caller asks for, are not counted.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }

    /// Runs a closure under this budget and whatever budget holds already.
    ///
    /// The earliest deadline counts, every token, and the least memory.
    ///
    /// Whatever it asks of an index ends with [`ErrorKind::Timeout`] or [`ErrorKind::Cancelled`] within
    /// 10 ms, or with [`ErrorKind::LimitExceeded`] before it takes more memory. The budget holds on the thread that calls
    /// this: threads that the closure starts are not stopped, nor is anything that is not asked of an index.
    ///
    /// ```
    /// use treepie::{Budget, CancelToken, ErrorKind};
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new().with("title", "Paris"))?;
    /// # writer.commit()?;
    /// let shutdown = CancelToken::new(); // set by the signal handler of a program
    /// shutdown.cancel();
    /// let searcher = index.searcher()?;
    /// let counted = Budget::new().cancel(&shutdown).run(|| searcher.count(&searcher.parse("pari*")?));
    /// assert_eq!(counted.unwrap_err().kind(), ErrorKind::Cancelled);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn run<T>(&self, f: impl FnOnce() -> T) -> T {
        let _scope = self.enter();
        f()
    }

    /// Makes the budget hold until the scope ends.
    pub(crate) fn enter(&self) -> Scope {
        let memory = MEMORY.get();
        MEMORY.set(memory.inside(self.memory_bytes));
        DEPTH.set(DEPTH.get() + 1);
        let can_stop = self.can_stop();
        if can_stop {
            let started = Instant::now();
            let deadline = self.deadline_from(started);
            let cancel = self.cancel.clone();
            HELD.with_borrow_mut(|held| {
                held.push(Entered {
                    started,
                    deadline,
                    cancel,
                    #[cfg(test)]
                    asks_left: self.asks_left,
                });
            });
            // So that the first work asks.
            LEFT.set(0);
        }
        Scope { memory, can_stop }
    }

    /// When what begins at `started` has to end.
    pub(crate) fn deadline_from(&self, started: Instant) -> Option<Instant> {
        let of_timeout = self.timeout.and_then(|timeout| started.checked_add(timeout));
        [of_timeout, self.deadline].into_iter().flatten().min()
    }

    /// The numbers of the budget, which can be written down, apart from the rest: its timeout and memory.
    pub(crate) fn apart_from_numbers(self) -> (Self, Option<Duration>, Option<u64>) {
        let (timeout, memory_bytes) = (self.timeout, self.memory_bytes);
        (Budget { timeout: None, memory_bytes: None, ..self }, timeout, memory_bytes)
    }

    fn can_stop(&self) -> bool {
        #[cfg(test)]
        if self.asks_left.is_some() {
            return true;
        }
        self.timeout.is_some() || self.deadline.is_some() || self.cancel.is_some()
    }

    /// Stops when work is told for the `n`-th time, counted from 0: for tests that stop everywhere.
    #[cfg(test)]
    pub(crate) fn stopping_at(n: u64) -> Self {
        Budget { asks_left: Some(n), ..Budget::default() }
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("timeout", &self.timeout)
            .field("deadline", &self.deadline)
            .field("cancel", &self.cancel)
            .field("memory_bytes", &self.memory_bytes)
            .finish()
    }
}

/// Sets aside the budgets that hold for the thread until the scope ends: what must come to its end is stopped by none of them. Memory
/// is as much as the limits say that hold now.
pub(crate) fn apart() -> Apart {
    let of = limits::current().query_memory_bytes;
    let memory = MEMORY.replace(Memory { left: of, of, is_asked: false });
    let depth = DEPTH.replace(1);
    let held = HELD.with_borrow_mut(std::mem::take);
    Apart { memory, depth, held, left: LEFT.replace(UNLIMITED) }
}

/// Sets budgets aside: those that held before do not hold while this lives.
#[must_use = "the budgets hold again as soon as this is gone"]
pub(crate) struct Apart {
    memory: Memory,
    depth: u32,
    held: Vec<Entered>,
    left: i64,
}

impl Drop for Apart {
    fn drop(&mut self) {
        MEMORY.set(self.memory);
        DEPTH.set(self.depth);
        LEFT.set(self.left);
        HELD.set(std::mem::take(&mut self.held));
    }
}

impl fmt::Debug for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Apart").field("memory", &self.memory).finish_non_exhaustive()
    }
}

/// Whether an error says that a query may not take more memory.
pub(crate) fn is_memory(error: &Error) -> bool {
    error.limit().is_some_and(|limit| limit.name == MEMORY_LIMIT)
}

/// Whether an error is about the way of finding something, which another may do without: too little memory, or more than one way
/// of counting is made for. Any other limit is that of the query, and no way gets round it.
pub(crate) fn is_of_way(error: &Error) -> bool {
    let is_of_query = error.limit().is_some() && !is_memory(error);
    error.kind() == ErrorKind::LimitExceeded && !is_of_query
}

/// Holds a budget for the thread while this lives.
#[derive(Debug)]
#[must_use = "the budget holds as long as this lives"]
pub(crate) struct Scope {
    memory: Memory,
    can_stop: bool,
}

impl Drop for Scope {
    fn drop(&mut self) {
        MEMORY.set(self.memory);
        DEPTH.set(DEPTH.get() - 1);
        if self.can_stop {
            let are_others = HELD.with_borrow_mut(|held| {
                held.pop();
                !held.is_empty()
            });
            LEFT.set(if are_others { 0 } else { UNLIMITED });
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes", self.left, self.of)
    }
}

/// Says that about so many nanoseconds of work are next.
///
/// # Errors
///
/// [`ErrorKind::Timeout`] or [`ErrorKind::Cancelled`] where the thread is to stop; from then on each time.
#[inline]
pub(crate) fn work(ns: u64) -> Result<()> {
    let left = LEFT.get() - ns as i64;
    LEFT.set(left);
    if left < 0 { ask() } else { Ok(()) }
}

/// Sleeps for so long, or until the thread is to stop.
///
/// # Errors
///
/// Fails like [`work`].
pub(crate) fn sleep(time: Duration) -> Result<()> {
    let began = Instant::now();
    loop {
        ask()?;
        let left = time.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Ok(());
        }
        let can_stop = HELD.with_borrow(|held| !held.is_empty());
        thread::sleep(if can_stop { left.min(NAP) } else { left });
    }
}

/// Does a little more for a search that is stopped, so that what it found can be shown: nothing asks for time before about so
/// many nanoseconds of work were told.
pub(crate) fn in_grace<T>(ns: u64, f: impl FnOnce() -> T) -> T {
    let left = LEFT.replace(ns as i64);
    let result = f();
    LEFT.set(left);
    result
}

/// Says that memory is about to be allocated that grows with the index or the query.
///
/// # Errors
///
/// [`ErrorKind::LimitExceeded`] if there is not so much left.
pub(crate) fn hold(bytes: u64) -> Result<()> {
    let memory = MEMORY.get();
    match memory.left.checked_sub(bytes) {
        Some(left) => {
            // Outside of all budgets nothing says when it is free again.
            if DEPTH.get() > 0 {
                MEMORY.set(Memory { left, ..memory });
            }
            Ok(())
        }
        None => Err(too_much(memory, bytes)),
    }
}

/// Says that memory which was [held](hold) is free again.
pub(crate) fn release(bytes: u64) {
    let memory = MEMORY.get();
    MEMORY.set(Memory { left: memory.left.saturating_add(bytes).min(memory.of), ..memory });
}

/// Does something of which nothing is left but its result: whatever it held is free again, and the caller says what the result
/// takes.
pub(crate) fn giving_back<T>(f: impl FnOnce() -> T) -> T {
    let before = left();
    let result = f();
    release(before.saturating_sub(left()));
    result
}

/// Bytes that may still be held.
pub(crate) fn left() -> u64 {
    MEMORY.get().left
}

/// Memory that is held as long as this is there.
#[derive(Debug, Default)]
pub(crate) struct Held(u64);

impl Held {
    /// Holds more, as [`hold`].
    pub(crate) fn more(&mut self, bytes: u64) -> Result<()> {
        hold(bytes)?;
        self.0 += bytes;
        Ok(())
    }

    /// Releases some of it.
    pub(crate) fn less(&mut self, bytes: u64) {
        let bytes = bytes.min(self.0);
        release(bytes);
        self.0 -= bytes;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        release(self.0);
    }
}

/// Whether an error says that a budget ran out of time or was cancelled.
pub(crate) fn is_stop(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Timeout | ErrorKind::Cancelled)
}

#[cold]
#[inline(never)]
fn ask() -> Result<()> {
    HELD.with_borrow_mut(|held| {
        if held.is_empty() {
            LEFT.set(UNLIMITED);
            return Ok(());
        }
        let mut now = None;
        for budget in held.iter_mut() {
            let now = || *now.get_or_insert_with(Instant::now);
            budget.check(now)?;
        }
        LEFT.set(GRAIN);
        #[cfg(test)]
        if held.iter().any(|budget| budget.asks_left.is_some()) {
            LEFT.set(0);
        }
        Ok(())
    })
}

impl Entered {
    fn check(&mut self, mut now: impl FnMut() -> Instant) -> Result<()> {
        #[cfg(test)]
        if let Some(left) = &mut self.asks_left {
            *left =
                left.checked_sub(1).ok_or_else(|| Error::new(ErrorKind::Timeout, "searching"))?;
        }
        if self.cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
            let ran = now().saturating_duration_since(self.started);
            return Err(Error::new(ErrorKind::Cancelled, "searching")
                .found(format!("a token that was cancelled, after {ran:.1?}")));
        }
        match self.deadline {
            Some(deadline) if deadline <= now() => {
                let allowed = deadline.saturating_duration_since(self.started);
                let ran = now().saturating_duration_since(self.started);
                Err(Error::new(ErrorKind::Timeout, "searching")
                    .expected(format!("an answer within {allowed:.1?}"))
                    .found(format!("none after {ran:.1?}")))
            }
            _ => Ok(()),
        }
    }
}

#[cold]
fn too_much(memory: Memory, bytes: u64) -> Error {
    let Memory { left, of, .. } = memory;
    Error::limit_reached("answering a query", MEMORY_LIMIT, of, "bytes of memory", None)
        .found(format!("{} and {bytes} more", of.saturating_sub(left)))
        .hint("fewer patterns take less, or give the search a larger budget: memory_bytes, --max-memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Works until it is stopped; how much was told until then, at most `most`.
    fn worked(most: u64) -> u64 {
        (0..most / 1_000).take_while(|_| work(1_000).is_ok()).count() as u64 * 1_000
    }

    #[test]
    fn without_a_budget_nothing_stops() {
        assert_eq!(worked(10_000_000), 10_000_000);
        let free = Budget::new().enter();
        assert_eq!(worked(10_000_000), 10_000_000);
        drop(free);
    }

    #[test]
    fn a_deadline_that_is_past_stops_at_once_and_each_time() {
        let kind =
            |budget: &Budget| budget.run(|| [work(1), work(1)].map(|r| r.unwrap_err().kind()));
        let past = Budget::new().deadline(Instant::now());
        assert_eq!(kind(&past), [ErrorKind::Timeout; 2]);
        assert_eq!(kind(&Budget::new().timeout(Duration::ZERO)), [ErrorKind::Timeout; 2]);
        let token = CancelToken::new();
        token.cancel();
        assert_eq!(kind(&Budget::new().cancel(&token)), [ErrorKind::Cancelled; 2]);
        assert_eq!(worked(10_000_000), 10_000_000, "no budget holds any more");
    }

    #[test]
    fn the_clock_is_asked_once_a_grain_of_work() {
        Budget::new().timeout(Duration::from_secs(3_600)).run(|| {
            work(1).unwrap(); // the first asks
            assert_eq!(LEFT.get(), GRAIN);
            work(GRAIN as u64).unwrap();
            assert_eq!(LEFT.get(), 0, "not asked again");
            work(1).unwrap();
            assert_eq!(LEFT.get(), GRAIN);
        });
        assert_eq!(Budget::stopping_at(7).run(|| worked(1_000_000)), 7_000, "but for tests");
    }

    #[test]
    fn a_little_is_done_after_a_stop() {
        Budget::new().timeout(Duration::ZERO).run(|| {
            assert_eq!(worked(1_000_000), 0);
            assert_eq!(in_grace(50_000, || worked(1_000_000)), 50_000);
            in_grace(50_000, || work(1).unwrap());
            assert_eq!(worked(1_000_000), 0, "it is stopped as before");
        });
        assert_eq!(in_grace(50_000, || worked(1_000_000)), 1_000_000, "nothing stops it");
        assert_eq!(worked(1_000_000), 1_000_000);
    }

    #[test]
    fn a_token_stops_another_thread() {
        let token = CancelToken::new();
        let budget = Budget::new().cancel(&token);
        let worker = std::thread::spawn(move || {
            budget.run(|| {
                loop {
                    if let Err(error) = work(1_000) {
                        return error.kind();
                    }
                }
            })
        });
        token.cancel();
        assert_eq!(worker.join().unwrap(), ErrorKind::Cancelled);
    }

    #[test]
    fn the_tightest_of_several_budgets_counts() {
        let (soon, late) = (Duration::ZERO, Duration::from_secs(3_600));
        let run = |outer: Duration, inner: Duration| {
            Budget::new()
                .timeout(outer)
                .run(|| Budget::new().timeout(inner).run(|| work(1).is_ok()))
        };
        assert!(run(late, late) && !run(late, soon) && !run(soon, late));
        // The outer one holds again when the inner one has ended.
        Budget::stopping_at(1).run(|| {
            Budget::new().timeout(late).run(|| work(1).unwrap());
            assert!(work(1).is_err());
        });
    }

    #[test]
    fn what_is_set_apart_is_stopped_by_nobody_and_the_others_hold_again() {
        Budget::stopping_at(2).memory_bytes(100).run(|| {
            work(1).unwrap();
            hold(60).unwrap();
            let apart = apart();
            assert_eq!(worked(10_000_000), 10_000_000);
            hold(QUERY_MEMORY_BYTES).unwrap();
            let error = hold(1).unwrap_err();
            assert!(is_memory(&error) && error.kind() == ErrorKind::LimitExceeded);
            // A budget of its own holds inside.
            assert!(Budget::new().timeout(Duration::ZERO).run(|| work(1)).is_err());
            assert_eq!(worked(10_000_000), 10_000_000);
            let small = Limits { query_memory_bytes: 10, ..Limits::DEFAULT }.enter();
            let inner = super::apart();
            hold(10).unwrap();
            assert!(hold(1).is_err());
            drop(inner);
            drop(small);
            drop(apart);
            assert_eq!(left(), 40);
            assert!(!is_memory(&Error::new(ErrorKind::LimitExceeded, "something else")));
            let stopped = (0..10_000).find_map(|_| work(1_000).err());
            assert_eq!(stopped.unwrap().kind(), ErrorKind::Timeout);
        });
        assert_eq!(worked(10_000_000), 10_000_000);
    }

    #[test]
    fn another_way_is_tried_for_want_of_memory_and_for_its_own_limits() {
        let memory = Budget::new().memory_bytes(1).run(|| hold(2)).unwrap_err();
        let too_many = Error::new(ErrorKind::LimitExceeded, "counting values by a column");
        let walked = Error::limit_reached("walking", "TERMS_VISITED_MAX", 5u64, "terms", None);
        let timeout = Error::new(ErrorKind::Timeout, "searching");
        let told = [memory, too_many, walked, timeout].map(|error| is_of_way(&error));
        assert_eq!(told, [true, true, false, false]);
    }

    #[test]
    fn of_what_is_done_nothing_stays_held() {
        Budget::new().memory_bytes(100).run(|| {
            hold(10).unwrap();
            let given_back = giving_back(|| hold(70).and_then(|()| hold(30)));
            assert_eq!(given_back.unwrap_err().kind(), ErrorKind::LimitExceeded);
            assert_eq!(left(), 90);
            // Memory that was free before is not freed once more.
            giving_back(|| release(10));
            assert_eq!(left(), 100);
        });
    }

    #[test]
    fn memory_is_counted_and_given_back() {
        let budget = Budget::new().memory_bytes(100);
        budget.run(|| {
            hold(60).unwrap();
            let error = hold(41).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
            let message = error.to_string();
            assert!(message.contains("at most 100 bytes") && message.contains("60 and 41 more"));
            // An inner one has what is left, at most.
            assert!(Budget::new().memory_bytes(1 << 40).run(|| hold(41)).is_err());
            Budget::new().run(|| hold(40).unwrap());
            release(60);
            hold(100).unwrap();
            release(1_000);
            assert!(hold(101).is_err());
        });
        // If nobody asks for memory, the limits count that hold inside, and the memory taken already.
        Budget::new().run(|| {
            hold(10).unwrap();
            let small = Limits { query_memory_bytes: 100, ..Limits::DEFAULT };
            let scope = small.enter();
            Budget::new().run(|| {
                assert!(hold(91).is_err());
                hold(90).unwrap();
            });
            drop(scope);
            hold(QUERY_MEMORY_BYTES - 10).unwrap();
            let large = Limits { query_memory_bytes: 2 * QUERY_MEMORY_BYTES, ..Limits::DEFAULT };
            let _scope = large.enter();
            Budget::new().run(|| hold(QUERY_MEMORY_BYTES).unwrap());
        });
        // Outside there is the default for each allocation, and nothing is added up.
        for _ in 0..2 {
            hold(QUERY_MEMORY_BYTES).unwrap();
            assert!(hold(QUERY_MEMORY_BYTES + 1).is_err());
        }
    }
}
