//! Who counts, and tells whoever listens.

use super::{Event, Failure, Operation, Stats, Tally, What};
use crate::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

/// A function of the host's that gets every event.
#[derive(Clone)]
pub(crate) struct Listener(Arc<dyn Fn(&Event) + Send + Sync>);

impl Listener {
    pub(crate) fn new(listener: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Listener(Arc::new(listener))
    }

    fn tell(&self, event: &Event) {
        quietly(|| (self.0)(event));
    }
}

/// Runs code of the host's. A panic in it is told by the hook of panics; the work is sound without it.
fn quietly(tell: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(tell));
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// Counts what is done to one index, and tells it.
///
/// The counters say nothing about other memory, so they are relaxed, and a [`Stats`] that is taken while writers
/// are at work may have counted one thing and not yet another.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    listener: Option<Listener>,
    measures_times: bool,
    /// A moment by the steady clock and by the system's.
    anchor: OnceLock<(Instant, SystemTime)>,
    counters: [Counters; Operation::ALL.len()],
    merge_input_bytes: AtomicU64,
    /// Bytes written that no flush, merge, commit or rollback was told to have written.
    unclaimed_bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct Counters {
    count: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
    nanos: AtomicU64,
}

/// Something that is done to the whole index, from [`begin`](Observer::begin) to [`end`](Observer::end).
#[must_use]
pub(crate) struct Watch {
    operation: Operation,
    started: Option<Instant>,
    /// Bytes that had been written before.
    written_before: u64,
    #[cfg(feature = "tracing")]
    _span: Option<super::tracing::Span>,
}

/// Pieces of a file that are told together.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pub(crate) bytes: u64,
    pub(crate) calls: u64,
    /// Time in the calls.
    pub(crate) busy: Duration,
    /// From the beginning of the first to the end of the last.
    pub(crate) span: Option<(Instant, Instant)>,
}

impl Pieces {
    /// Counts a call that began at `started`, if that is known.
    pub(crate) fn add(&mut self, bytes: u64, started: Option<Instant>) {
        self.bytes += bytes;
        self.calls += 1;
        if let Some(started) = started {
            let ended = Instant::now();
            self.busy += ended - started;
            let first = self.span.map_or(started, |(first, _)| first.min(started));
            self.span = Some((first, ended));
        }
    }
}

impl Observer {
    pub(crate) fn new(listener: Option<Listener>, measures_times: bool) -> Self {
        Observer { listener, measures_times, ..Observer::default() }
    }

    /// Returns the counts so far.
    pub(crate) fn stats(&self) -> Stats {
        let of = |operation: Operation| self.counters[operation as usize].tally();
        Stats {
            is_timed: self.is_timed(),
            commits: of(Operation::Commit),
            prepares: of(Operation::Prepare),
            flushes: of(Operation::Flush),
            merges: of(Operation::Merge),
            merge_input_bytes: self.merge_input_bytes.load(Relaxed),
            spills: of(Operation::Spill),
            rollbacks: of(Operation::Rollback),
            creates: of(Operation::Create),
            writes: of(Operation::Write),
            syncs: of(Operation::Sync),
            name_syncs: of(Operation::SyncNames),
            publishes: of(Operation::Publish),
            links: of(Operation::Link),
            deletes: of(Operation::Delete),
            opens: of(Operation::Open),
            reads: of(Operation::Read),
            slow_searches: of(Operation::SlowSearch),
        }
    }

    /// Whether anybody gets events.
    pub(crate) fn is_heard(&self) -> bool {
        #[cfg(feature = "tracing")]
        if super::tracing::is_heard() {
            return true;
        }
        self.listener.is_some()
    }

    fn is_timed(&self) -> bool {
        self.measures_times || self.is_heard()
    }

    /// Returns the time, where anybody wants to know.
    pub(crate) fn clock(&self) -> Option<Instant> {
        if !self.is_timed() {
            return None;
        }
        let now = Instant::now();
        self.anchor.get_or_init(|| (now, SystemTime::now()));
        Some(now)
    }

    /// Something was done that began at `started`.
    pub(crate) fn tell(
        &self,
        operation: Operation,
        started: Option<Instant>,
        bytes: u64,
        failure: Option<&Error>,
        what: impl FnOnce() -> What,
    ) {
        let duration = started.map_or(Duration::ZERO, |started| started.elapsed());
        self.counters[operation as usize].add(bytes, duration, failure);
        if let Some(started) = started {
            self.tell_listeners(started, duration, failure, what);
        }
    }

    /// Pieces of a file were read or written.
    pub(crate) fn tell_pieces(
        &self,
        operation: Operation,
        pieces: &Pieces,
        failure: Option<&Error>,
        what: impl FnOnce() -> What,
    ) {
        self.counters[operation as usize].add(pieces.bytes, pieces.busy, failure);
        if operation == Operation::Write {
            self.unclaimed_bytes.fetch_add(pieces.bytes, Relaxed);
        }
        if let Some((first, last)) = pieces.span {
            self.tell_listeners(first, last - first, failure, what);
        }
    }

    /// Something begins that is done to the whole index. Events on this thread until its end are a part of it.
    pub(crate) fn begin(&self, operation: Operation) -> Watch {
        Watch {
            operation,
            started: self.clock(),
            written_before: self.written(),
            #[cfg(feature = "tracing")]
            _span: super::tracing::span(operation),
        }
    }

    /// Ends an operation; `what` gets the bytes that were written for it: by a merge, which is a part of something else
    /// at times, those that were written meanwhile, else all that nobody was told to have written.
    pub(crate) fn end(
        &self,
        watch: Watch,
        failure: Option<&Error>,
        what: impl FnOnce(u64) -> What,
    ) {
        let bytes = if watch.operation == Operation::Merge {
            let own = self.written() - watch.written_before;
            // A commit on another thread may have claimed some of them.
            let less = |unclaimed: u64| Some(unclaimed.saturating_sub(own));
            let _ = self.unclaimed_bytes.fetch_update(Relaxed, Relaxed, less);
            own
        } else {
            self.unclaimed_bytes.swap(0, Relaxed)
        };
        self.tell(watch.operation, watch.started, bytes, failure, || what(bytes));
    }

    fn written(&self) -> u64 {
        self.counters[Operation::Write as usize].bytes.load(Relaxed)
    }

    /// Segments of so many bytes go into a merge.
    pub(crate) fn count_merge_input(&self, bytes: u64) {
        self.merge_input_bytes.fetch_add(bytes, Relaxed);
    }

    fn tell_listeners(
        &self,
        started: Instant,
        duration: Duration,
        failure: Option<&Error>,
        what: impl FnOnce() -> What,
    ) {
        if !self.is_heard() {
            return;
        }
        let (steady, system) = *self.anchor.get_or_init(|| (started, SystemTime::now()));
        // Another thread may have been first to set the anchor, a moment after this one looked at its clock.
        let start = system + started.saturating_duration_since(steady);
        let event = Event { what: what(), start, duration, failure: failure.map(Failure::of) };
        #[cfg(feature = "tracing")]
        quietly(|| super::tracing::tell(&event));
        if let Some(listener) = &self.listener {
            listener.tell(&event);
        }
    }
}

impl Counters {
    fn add(&self, bytes: u64, time: Duration, failure: Option<&Error>) {
        self.count.fetch_add(1, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        if failure.is_some() {
            self.failed.fetch_add(1, Relaxed);
        }
        if !time.is_zero() {
            self.nanos.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
        }
    }

    fn tally(&self) -> Tally {
        Tally {
            count: self.count.load(Relaxed),
            failed: self.failed.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            time: Duration::from_nanos(self.nanos.load(Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use std::sync::Mutex;

    fn observer(listener: impl Fn(&Event) + Send + Sync + 'static) -> Observer {
        Observer::new(Some(Listener::new(listener)), false)
    }

    #[test]
    fn without_an_audience_no_clock_is_read_and_no_event_made() {
        let observer = Observer::default();
        assert_eq!((observer.clock(), observer.is_heard()), (None, false));
        let watch = observer.begin(Operation::Commit);
        observer.end(watch, None, |_| panic!("nobody asked for an event"));
        observer.tell(Operation::Sync, None, 5, None, || panic!("nobody asked for an event"));
        let stats = observer.stats();
        assert_eq!((stats.is_timed, stats.commits.count, stats.syncs.bytes), (false, 1, 5));
        assert!(observer.anchor.get().is_none());
    }

    #[test]
    fn times_are_measured_where_that_is_asked_for_without_making_events() {
        let observer = Observer::new(None, true);
        let started = observer.clock();
        std::thread::sleep(Duration::from_millis(2));
        observer.tell(Operation::Sync, started, 0, None, || panic!("nobody asked for an event"));
        let stats = observer.stats();
        assert!(stats.is_timed && stats.syncs.time >= Duration::from_millis(2), "{stats}");
    }

    #[test]
    fn a_listener_that_panics_hears_the_next_event() {
        let heard = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&heard);
        let observer = observer(move |_| {
            count.fetch_add(1, Relaxed);
            panic!("a bug of the host's");
        });
        for _ in 0..2 {
            observer.tell(Operation::SyncNames, observer.clock(), 0, None, || What::SyncNames {});
        }
        assert_eq!((heard.load(Relaxed), observer.stats().name_syncs.count), (2, 2));
    }

    #[test]
    fn failures_and_times_are_told() {
        let events = Arc::new(Mutex::new(vec![]));
        let seen = Arc::clone(&events);
        let observer = observer(move |event| seen.lock().unwrap().push(event.clone()));
        let before = SystemTime::now();
        let started = observer.clock();
        std::thread::sleep(Duration::from_millis(2));
        let error = Error::new(ErrorKind::NoSpace, "writing");
        observer.tell(Operation::SyncNames, started, 0, Some(&error), || What::SyncNames {});
        let events = events.lock().unwrap();
        let event = &events[0];
        assert_eq!(
            event.failure,
            Some(Failure { kind: ErrorKind::NoSpace, message: "writing".to_owned() })
        );
        assert!(event.duration >= Duration::from_millis(2) && event.start >= before);
        assert!(event.start + event.duration <= SystemTime::now());
        assert_eq!(observer.stats().name_syncs.failed, 1);
    }

    #[test]
    fn every_byte_is_claimed_once() {
        let observer = Observer::default();
        let write = |bytes| {
            let pieces = Pieces { bytes, ..Pieces::default() };
            observer.tell_pieces(Operation::Write, &pieces, None, || unreachable!());
        };
        write(3);
        let commit = observer.begin(Operation::Commit);
        write(4);
        let merge = observer.begin(Operation::Merge);
        write(5);
        observer.end(merge, None, |_| unreachable!());
        write(6);
        observer.end(commit, None, |_| unreachable!());
        observer.end(observer.begin(Operation::Flush), None, |_| unreachable!());
        let stats = observer.stats();
        assert_eq!((stats.merges.bytes, stats.commits.bytes, stats.flushes.bytes), (5, 13, 0));
        assert_eq!(stats.writes.bytes, 18);
    }
}
