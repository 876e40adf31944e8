//! What allocates and what must not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use treepie::{Document, Index, Schema};

/// The system's allocator, counting for each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count_one() {
    // A thread that is ending has no counter any more, and nobody asks for it.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

#[expect(unsafe_code, reason = "the trait of allocators is unsafe")]
// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: as this function's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as this function's.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count_one();
        // SAFETY: as this function's.
        unsafe { System.realloc(at, layout, new_size) }
    }
}

/// How often this thread allocates in `work`.
fn during<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = ALLOCATIONS.get();
    let result = work();
    (result, ALLOCATIONS.get() - before)
}

#[test]
fn the_counter_counts() {
    assert_eq!(during(|| Box::new(1)).1, 1);
    assert_eq!(during(|| 1 + 1).1, 0);
}

#[test]
fn a_planned_count_taken_again_allocates_nothing() {
    let index = Index::in_memory(Schema::builder().text("title").build().unwrap());
    let mut writer = index.writer().unwrap();
    for n in 0..20_000u32 {
        let mut title = String::from("every");
        for (word, modulus) in
            [("two", 2), ("three", 3), ("forty", 40), ("rare", 900), ("single", 20_000)]
        {
            if n % modulus == 0 {
                title.push(' ');
                title.push_str(word);
            }
        }
        writer.add(Document::new().with("title", title)).unwrap();
        if n == 7_000 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();

    let searcher = index.searcher().unwrap();
    let queries = [
        "two",
        "two AND three",
        "two OR three",
        "two AND three AND forty",
        "two OR three OR forty OR rare OR single",
        "rare AND two",
        "single OR rare",
        "NOT (two OR three)",
        "+two -three -forty",
        "every AND (two OR rare) AND NOT (forty OR single)",
        "absent OR two",
        "absent AND two",
        "*",
    ];
    for query in queries {
        let mut prepared = searcher.prepare(&searcher.parse(query).unwrap()).unwrap();
        let first = prepared.count().unwrap();
        let (second, allocations) = during(|| prepared.count().unwrap());
        assert_eq!(first, second, "{query}");
        assert_eq!(allocations, 0, "{query}");
    }
}
