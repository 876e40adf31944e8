//! The steps of an order on the threads of a pool.

use super::graph::Graph;
use super::halves::{Scratch, Seat, Step};
use super::levels::{split_all, split_alone};
use crate::budget;
use crate::error::{Error, ErrorKind, Result};
use rayon::ThreadPool;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Documents that one thread splits down to the last.
const ALONE_DOCS: usize = 1 << 12;
/// Interval at which a thread that waits for others tells how far they are, and asks whether to stop.
const TICK: Duration = Duration::from_millis(5);

/// Splits documents down to the last on the threads of a pool, for which this one waits; if none of them begins, it does so
/// alone, as they may wait for it.
pub(super) fn split_on(
    pool: &ThreadPool,
    graph: &Arc<Graph>,
    seats: Vec<Seat>,
    tell: &mut impl FnMut(u64),
) -> Result<Vec<Seat>> {
    let team = Arc::new(Team {
        graph: Arc::clone(graph),
        shared_docs_min: seats.len() / pool.current_num_threads().max(1),
        seats: Mutex::new(Some(seats)),
        scratches: Mutex::default(),
        stops: AtomicBool::new(false),
        n_done: AtomicU64::new(0),
    });
    let (done, is_done) = channel();
    let theirs = Arc::clone(&team);
    pool.spawn(move || {
        let Some(mut seats) = theirs.begin() else { return };
        let split = catch_unwind(AssertUnwindSafe(|| theirs.split_all(&mut seats)));
        // Whoever waits is there until it gets this.
        let _ = done.send(split.map(|split| split.map(|()| seats)));
    });
    let mut stopped = Ok(());
    loop {
        match is_done.recv_timeout(TICK) {
            // It ends early where this thread says so, which knows why.
            Ok(Ok(split)) => return stopped.and(split),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => {}
        }
        if let Some(seats) = team.begin() {
            return split_alone(graph, seats, tell);
        }
        if stopped.is_ok() {
            stopped = budget::work(TICK.as_nanos() as u64);
            team.stops.store(stopped.is_err(), Ordering::Relaxed);
            tell(team.n_done.load(Ordering::Relaxed));
        }
    }
}

/// State that threads share when they split documents together.
struct Team {
    graph: Arc<Graph>,
    /// Documents whose step is worth more than one thread, as there are not as many steps as threads yet.
    shared_docs_min: usize,
    /// Seats of the documents that are split, until somebody begins.
    seats: Mutex<Option<Vec<Seat>>>,
    /// Memory that no thread uses.
    scratches: Mutex<Vec<Scratch>>,
    stops: AtomicBool,
    n_done: AtomicU64,
}

impl Team {
    /// The documents, if nobody has begun.
    fn begin(&self) -> Option<Vec<Seat>> {
        lock(&self.seats).take()
    }

    fn split_all(&self, seats: &mut [Seat]) -> Result<()> {
        let ask = |_| match self.stops.load(Ordering::Relaxed) {
            true => Err(Error::new(ErrorKind::Cancelled, "ordering documents by similarity")),
            false => Ok(()),
        };
        let is_shared = seats.len() > self.shared_docs_min;
        let step = Step { graph: &self.graph, is_shared, ask: &ask };
        let did = |n: usize| _ = self.n_done.fetch_add(n as u64, Ordering::Relaxed);
        if seats.len() <= ALONE_DOCS {
            return self.with_scratch(|scratch| split_all(&step, seats, scratch, did));
        }
        // Not for as long as the halves take: another step may run on this thread meanwhile.
        self.with_scratch(|scratch| step.split(seats, scratch))?;
        did(seats.len());
        let (first, second) = seats.split_at_mut(seats.len() / 2);
        let (first, second) = rayon::join(|| self.split_all(first), || self.split_all(second));
        first.and(second)
    }

    fn with_scratch(&self, f: impl FnOnce(&mut Scratch) -> Result<()>) -> Result<()> {
        let taken = lock(&self.scratches).pop();
        let mut scratch = taken.unwrap_or_else(|| Scratch::new(self.graph.n_terms()));
        f(&mut scratch)?;
        lock(&self.scratches).push(scratch);
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
