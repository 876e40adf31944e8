//! What no case may do, whatever the bytes are: panic, take memory out of proportion, or go on for ever.

use crate::heap::peak_of;
use std::fmt::{self, Debug};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// Processor time of one case.
const TIME_MAX: Duration = Duration::from_secs(2);
/// Wall-clock time after which a case is taken for endless, and the whole run is ended.
const ENDLESS: Duration = Duration::from_secs(120);
/// Bytes on the heap of one case at any moment. All questions to the sound index together take a tenth.
pub(crate) const MEMORY_MAX: u64 = 16 << 20;
/// Failures that are described before a run is given up.
const DESCRIBED: usize = 20;

/// What was seen of many cases.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The most that one case held on the heap.
    pub(crate) peak_bytes: u64,
    /// The longest that one case took of a processor.
    pub(crate) longest: Duration,
    /// What all of them took.
    pub(crate) total: Duration,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Seen { peak_bytes, longest, total } = self;
        write!(
            f,
            "at most {peak_bytes} bytes and {longest:.1?} each, {total:.1?} of processors in all"
        )
    }
}

/// Processor time of this thread; of a system that does not tell, the time that passes.
fn thread_time() -> Duration {
    let of_kernel = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = of_kernel.and_then(|text| text.split(' ').next()?.parse().ok());
    static START: Mutex<Option<Instant>> = Mutex::new(None);
    let passed = || START.lock().unwrap().get_or_insert_with(Instant::now).elapsed();
    nanos.map_or_else(passed, Duration::from_nanos)
}

/// Runs `check` on all cases on all processors. Whatever breaks a rule or panics is described, up to
/// twenty of them.
pub(crate) fn for_each<C: Copy + Sync + Debug>(cases: &[C], check: impl Fn(C) + Sync) -> Seen {
    for_each_within(TIME_MAX, cases, check)
}

fn for_each_within<C: Copy + Sync + Debug>(
    time_max: Duration,
    cases: &[C],
    check: impl Fn(C) + Sync,
) -> Seen {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(vec![]));
    let threads = available_parallelism().map_or(1, usize::from);
    // What each thread is at, as the case's number and one, and since when.
    let at: Vec<_> = (0..threads).map(|_| (AtomicUsize::new(0), AtomicU64::new(0))).collect();
    let (start, done) = (Instant::now(), AtomicBool::new(false));
    let work = |(case_at, since): &(AtomicUsize, AtomicU64)| {
        let mut seen = Seen::default();
        let mut time = thread_time();
        loop {
            let nth = next.fetch_add(1, Relaxed);
            let Some(&case) = cases.get(nth) else { break seen };
            since.store(start.elapsed().as_millis() as u64, Relaxed);
            case_at.store(nth + 1, Relaxed);
            let (caught, peak) =
                peak_of(|| catch_unwind(AssertUnwindSafe(|| check(case))).map_err(drop));
            let now = thread_time();
            let took = now - std::mem::replace(&mut time, now);
            seen.peak_bytes = seen.peak_bytes.max(peak);
            seen.longest = seen.longest.max(took);
            seen.total += took;
            let broken = match caught {
                Err(()) => "panicked, see above".to_owned(),
                Ok(()) if peak > MEMORY_MAX => format!("held {peak} bytes"),
                Ok(()) if took > time_max => format!("took {took:?} of a processor"),
                Ok(()) => continue,
            };
            let mut failures = failures.lock().unwrap();
            failures.push(format!("{case:?} {broken}"));
            if failures.len() >= DESCRIBED {
                break seen;
            }
        }
    };
    let watch = || {
        while !done.load(Relaxed) {
            std::thread::park_timeout(Duration::from_millis(200));
            for (case_at, since) in &at {
                let took =
                    start.elapsed().saturating_sub(Duration::from_millis(since.load(Relaxed)));
                let case = case_at.load(Relaxed).checked_sub(1).and_then(|nth| cases.get(nth));
                if let Some(case) = case.filter(|_| took > ENDLESS) {
                    eprintln!("{case:?} does not end: {took:?} so far");
                    std::process::abort();
                }
            }
        }
    };
    let seen = std::thread::scope(|scope| {
        let watching = scope.spawn(watch);
        let running: Vec<_> = at
            .iter()
            .map(|at| {
                let work = &work;
                scope.spawn(move || {
                    let seen = work(at);
                    at.0.store(0, Relaxed);
                    seen
                })
            })
            .collect();
        let seen = running.into_iter().map(|thread| thread.join().unwrap());
        let seen = seen.fold(Seen::default(), |all, of_thread| Seen {
            peak_bytes: all.peak_bytes.max(of_thread.peak_bytes),
            longest: all.longest.max(of_thread.longest),
            total: all.total + of_thread.total,
        });
        done.store(true, Relaxed);
        watching.thread().unpark();
        seen
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} cases:\n{}", failures.len(), failures.join("\n"));
    seen
}

#[test]
fn a_case_that_breaks_a_rule_is_found() {
    let broken = |check: fn(u32)| {
        let within = Duration::from_millis(50);
        let failed = catch_unwind(|| for_each_within(within, &[1, 2, 3], check)).unwrap_err();
        failed.downcast_ref::<String>().unwrap().clone()
    };
    let at_two = broken(|case| assert_ne!(case, 2, "planted"));
    assert!(at_two.contains("1 cases") && at_two.contains("2 panicked"), "{at_two}");
    let greedy = broken(|case| drop(vec![1_u8; case as usize * (MEMORY_MAX as usize / 2 - 9)]));
    assert!(greedy.contains("1 cases") && greedy.contains("3 held"), "{greedy}");
    let slow = broken(|case| {
        let start = thread_time();
        while case == 1 && thread_time() - start < Duration::from_millis(60) {}
    });
    assert!(slow.contains("1 cases") && slow.contains("1 took"), "{slow}");
}
