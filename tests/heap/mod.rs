//! What a thread allocates: for tests of several binaries, each of which has this as its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting for each thread.
struct Counting;

/// What one thread has allocated so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Heap {
    pub(crate) allocations: u64,
    /// Bytes asked for, freed since or not.
    pub(crate) bytes: u64,
    /// Bytes not freed yet; negative on a thread that frees what others allocated.
    pub(crate) live: i64,
}

thread_local! {
    static HEAP: Cell<Heap> = const { Cell::new(Heap { allocations: 0, bytes: 0, live: 0 }) };
    /// The most that was live.
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(allocated: usize, freed: usize) {
    // A thread that is ending has no counter any more, and nobody asks for it.
    let _ = HEAP.try_with(|heap| {
        let Heap { allocations, bytes, live } = heap.get();
        // A growing block is there twice while it is copied.
        let peak = live + allocated as i64;
        heap.set(Heap {
            allocations: allocations + u64::from(allocated > 0),
            bytes: bytes + allocated as u64,
            live: peak - freed as i64,
        });
        let _ = PEAK.try_with(|most| most.set(most.get().max(peak)));
    });
}

#[expect(unsafe_code, reason = "the trait of allocators is unsafe")]
// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as this function's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as this function's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as this function's.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size, layout.size());
        // SAFETY: as this function's.
        unsafe { System.realloc(at, layout, new_size) }
    }
}

/// What this thread allocates in `work`.
pub(crate) fn during<T>(work: impl FnOnce() -> T) -> (T, Heap) {
    let before = HEAP.get();
    let result = work();
    let after = HEAP.get();
    let heap = Heap {
        allocations: after.allocations - before.allocations,
        bytes: after.bytes - before.bytes,
        live: after.live - before.live,
    };
    (result, heap)
}

/// How often this thread has allocated so far.
pub(crate) fn allocated() -> u64 {
    HEAP.get().allocations
}

/// The most memory, in bytes, that this thread has at any time in `work` beyond what it had before.
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = HEAP.get().live;
    PEAK.set(before);
    let result = work();
    (result, (PEAK.get() - before).max(0) as u64)
}

#[test]
fn the_peak_is_seen_also_when_it_is_over() {
    let ((), peak) = peak_of(|| drop((vec![0_u8; 1_000], drop(vec![0_u8; 5_000]))));
    assert_eq!(peak, 6_000);
}

#[test]
fn the_counter_counts() {
    let (boxed, heap) = during(|| Box::new([0_u8; 100]));
    assert_eq!(heap, Heap { allocations: 1, bytes: 100, live: 100 });
    assert_eq!(during(|| drop(boxed)).1, Heap { allocations: 0, bytes: 0, live: -100 });
    let grown = during(|| {
        let mut bytes = Vec::<u8>::with_capacity(10);
        bytes.reserve_exact(30);
        bytes
    });
    assert_eq!(grown.1, Heap { allocations: 2, bytes: 40, live: 30 });
    let before = allocated();
    assert_eq!((during(|| 1 + 1).1.allocations, allocated()), (0, before));
}
