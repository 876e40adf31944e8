//! What allocates and what must not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use treepie::storage::ReadMode;
use treepie::{BadLines, Document, Hit, Index, LineFormat, Schema, TotalMode};

/// The system's allocator, counting for each thread.
struct Counting;

/// What one thread has allocated so far.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Heap {
    allocations: u64,
    /// Bytes asked for, freed since or not.
    bytes: u64,
    /// Bytes not freed yet; negative on a thread that frees what others allocated.
    live: i64,
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
        let live = live + allocated as i64 - freed as i64;
        heap.set(Heap {
            allocations: allocations + u64::from(allocated > 0),
            bytes: bytes + allocated as u64,
            live,
        });
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live)));
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
fn during<T>(work: impl FnOnce() -> T) -> (T, Heap) {
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
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = HEAP.get().live;
    PEAK.set(before);
    let result = work();
    (result, PEAK.get() - before)
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
    assert_eq!(during(|| 1 + 1).1.allocations, 0);
}

/// An index of two segments, with words in a half, a third, a fortieth and few of its documents.
fn words_by_modulus() -> Index {
    let index = Index::in_memory(Schema::builder().text("title").build().unwrap());
    let mut writer = index.writer().unwrap();
    for n in 0..20_000u32 {
        let mut title = String::from("every one");
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
    drop(writer);
    index
}

#[test]
fn finding_the_best_again_allocates_little_and_no_more_than_before() {
    let searcher = words_by_modulus().searcher().unwrap();
    // What is left is the query as it is scored and looked up, its short lists, and the hits.
    for (text, most) in [
        ("two", 8),
        ("rare", 10),
        ("two three", 16),
        ("+two +three", 16),
        ("+two +rare", 17),
        ("two three forty rare single", 36),
    ] {
        let query = searcher.parse(text).unwrap();
        let run = || {
            let search = searcher.search(&query).limit(10).total(TotalMode::Unknown);
            search.fields::<&str>([]).run().unwrap()
        };
        let (first, again) = (run().hits, run().hits);
        let kept = searcher.scratch_bytes();
        let (hits, heap) = during(|| run().hits);
        assert!(heap.allocations <= most, "{text}: {heap:?}");
        assert_eq!((&hits, &hits), (&first, &again), "{text}");
        // Nothing stays allocated but the hits: the scratch has all that it needs.
        assert_eq!(heap.live, (hits.capacity() * size_of::<Hit>()) as i64, "{text}");
        assert_eq!(searcher.scratch_bytes(), kept, "{text}");
    }
    assert!(searcher.scratch_bytes() < 1 << 20);
}

#[test]
fn a_prepared_search_answered_again_allocates_nothing() {
    let searcher = words_by_modulus().searcher().unwrap();
    let queries = [
        "two",
        "rare",
        "absent",
        "two three",
        "+two +three",
        "+two +rare",
        "rare single",
        "two three forty rare single",
        "+two three forty",
        "+two rare single",
        "+two -three",
        "+rare -two three",
        "+(two three) +(forty rare)",
        "\"two three\"",
        "\"two forty rare\"",
        "\"forty single\"",
        "\"three two\"~2",
        "\"every one t\"*",
        "\"two three\" forty",
        "t*",
        "+t* forty",
        "threa~1 two",
        "MAX [two three rare]~0.5",
        "*",
        "NOT two",
    ];
    for text in queries {
        let query = searcher.parse(text).unwrap();
        for total in [TotalMode::Exact, TotalMode::UpTo(100), TotalMode::Unknown] {
            for (offset, limit) in [(0, 10), (5, 100), (0, 0)] {
                let search = || searcher.search(&query).offset(offset).limit(limit).total(total);
                let plain = search().fields::<&str>([]).run().unwrap();
                let mut prepared = search().prepare().unwrap();
                prepared.run().unwrap();
                let kept = searcher.scratch_bytes();
                let (page, heap) = during(|| prepared.run().unwrap());
                let what = format!("{text}, {total:?}, {limit} from {offset}");
                assert_eq!(heap.allocations, 0, "{what}: {heap:?}");
                let docs = page.docs.iter().map(|at| (at.doc, at.score));
                let hits = plain.hits.iter().map(|hit| (hit.doc, hit.score));
                assert!(docs.eq(hits), "{what}");
                assert_eq!(page.total, plain.total, "{what}");
                assert_eq!(searcher.scratch_bytes(), kept, "{what}");
            }
        }
    }
    assert!(searcher.scratch_bytes() < 1 << 20);
}

#[test]
fn a_planned_count_taken_again_allocates_nothing() {
    let index = words_by_modulus();
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
        "\"two three\"",
        "\"every one two\" AND \"three forty\"",
        "\"forty two\"~<>3 OR \"three for\"*",
        "\"every absent\"",
        "*",
    ];
    for query in queries {
        let mut prepared = searcher.prepare(&searcher.parse(query).unwrap()).unwrap();
        let first = prepared.count().unwrap();
        let (second, heap) = during(|| prepared.count().unwrap());
        assert_eq!(first, second, "{query}");
        assert_eq!(heap.allocations, 0, "{query}");
    }
}

/// Titles of several words each, none the same.
fn titles(n: u32) -> String {
    let word = |n: u32| format!("{:x}", n.wrapping_mul(2_654_435_761) >> 12);
    (0..n).map(|i| format!("{}_{}_{i} ({})\n", word(i), word(i % 5_000), word(i % 100))).collect()
}

#[test]
fn an_open_index_needs_next_to_no_heap() {
    let parent = std::env::temp_dir().join(format!("treepie-heap-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&parent);
    for n_titles in [1_000, 400_000] {
        let dir = parent.join(n_titles.to_string());
        std::fs::create_dir_all(&dir).unwrap();
        let index = Index::create(&dir, Schema::wikipedia_titles()).unwrap();
        let mut writer = index.writer().unwrap();
        let (lines, format) = (titles(n_titles), LineFormat::wikipedia_titles());
        writer.add_lines(lines.as_bytes(), &format, BadLines::Refuse).unwrap();
        writer.commit().unwrap();
        drop((writer, index));
        let bytes: u64 = std::fs::read_dir(&dir)
            .unwrap()
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum();

        for mode in [ReadMode::Mmap, ReadMode::Pread] {
            let (open, heap) = during(|| {
                let index = Index::options().read_mode(mode).open(&dir).unwrap();
                let searcher = index.searcher().unwrap();
                (index, searcher)
            });
            let bar = 4096 + 16 * bytes.div_ceil(1 << 20) as i64;
            // Seen with `--nocapture`.
            println!("{bytes} bytes, {mode:?}: {heap:?}, at most {bar} bytes live");
            assert!(heap.live <= bar, "{bytes} bytes, {mode:?}: {heap:?}, at most {bar}");
            // Both opened the commit; what is read without a mapping is bytes while it is looked at.
            if mode == ReadMode::Mmap {
                assert!(
                    heap.bytes <= 2 * bar as u64,
                    "{bytes} bytes: {heap:?}, at most twice {bar}"
                );
            }
            assert_eq!(open.1.n_docs(), u64::from(n_titles));
            // Where only one of the two is kept, it keeps less.
            let live = heap.live + during(|| drop(open.0)).1.live;
            assert!(live <= heap.live);
            assert_eq!(live + during(|| drop(open.1)).1.live, 0, "what was allocated is freed");
        }
    }
    std::fs::remove_dir_all(&parent).unwrap();
}
