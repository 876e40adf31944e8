//! What does it cost to count what lists have in common and together, on their serialised bytes,
//! against the `roaring` crate on its decoded bitmaps?
//!
//! `cargo bench --bench boolean`; seeded, so every run sees the same lists. The real sets are
//! measured where they are at hand, see `src/bitmap/real_sets.rs`.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use roaring::{MultiOps, RoaringBitmap};
use std::{hint::black_box, time::Duration};
use treepie::bitmap::{RoaringBuf, RoaringView, Scratch};

#[path = "../src/bitmap/real_sets.rs"]
mod real_sets;

/// The same list twice: as ours and as theirs, the latter with its smallest containers as well.
struct List {
    ours: RoaringBuf,
    theirs: RoaringBitmap,
}

impl List {
    fn new(ids: impl IntoIterator<Item = u32>) -> Self {
        let mut theirs = RoaringBitmap::from_iter(ids);
        theirs.optimize();
        List { ours: RoaringBuf::from_sorted(&theirs), theirs }
    }
}

fn random(seed: &mut u64) -> u32 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 32) as u32
}

/// `n` different values below `below`, anywhere.
fn scattered(n: usize, below: u32, seed: u64) -> List {
    let mut seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut ids = RoaringBitmap::new();
    while (ids.len() as usize) < n {
        ids.insert(random(&mut seed) % below);
    }
    List::new(ids)
}

/// Runs of 1 to 200 values with gaps of 1 to 200 between.
fn in_runs(below: u32, seed: u64) -> List {
    let mut seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let (mut at, mut ids) = (0, RoaringBitmap::new());
    while at < below {
        let end = (at + 1 + random(&mut seed) % 200).min(below);
        ids.insert_range(at..end);
        at = end + 1 + random(&mut seed) % 200;
    }
    List::new(ids)
}

/// One container against one: every pair of kinds.
fn containers(c: &mut Criterion) {
    const FULL: u32 = 1 << 16;
    let lists = [
        ("array 100", scattered(100, FULL, 1)),
        ("array 1000", scattered(1000, FULL, 2)),
        ("array 4000", scattered(4000, FULL, 3)),
        ("bitmap 9000", scattered(9000, FULL, 4)),
        ("bitmap 30000", scattered(30_000, FULL, 5)),
        ("runs", in_runs(FULL, 6)),
    ];
    let mut group = c.benchmark_group("container and");
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(300));
    group.sample_size(20);
    for (i, (name_a, a)) in lists.iter().enumerate() {
        for (name_b, b) in &lists[i..] {
            let pair = format!("{name_a} x {name_b}");
            let (x, y) = (a.ours.view(), b.ours.view());
            assert_eq!(x.and_count(&y), a.theirs.intersection_len(&b.theirs));
            group.bench_function(BenchmarkId::new("treepie", &pair), |bench| {
                bench.iter(|| black_box(x).and_count(black_box(&y)))
            });
            group.bench_function(BenchmarkId::new("roaring", &pair), |bench| {
                bench.iter(|| black_box(&a.theirs).intersection_len(black_box(&b.theirs)))
            });
        }
    }
    group.finish();
}

/// Every list of a collection against the next one: round robin, so that no branch predictor
/// learns a pair.
fn neighbours(c: &mut Criterion, collection: &str, lists: &[List]) {
    let views: Vec<RoaringView<'_>> = lists.iter().map(|list| list.ours.view()).collect();
    let bitmaps: Vec<RoaringBitmap> = lists.iter().map(|list| list.theirs.clone()).collect();
    let (mut scratch, few) = (Scratch::new(), 5.min(lists.len()));
    let mut group = c.benchmark_group(collection);
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group.sample_size(20);
    group.bench_function("and/treepie", |bench| {
        bench.iter(|| views.windows(2).map(|pair| pair[0].and_count(&pair[1])).sum::<u64>())
    });
    group.bench_function("and/roaring", |bench| {
        bench
            .iter(|| bitmaps.windows(2).map(|pair| pair[0].intersection_len(&pair[1])).sum::<u64>())
    });
    group.bench_function("or/treepie", |bench| {
        bench.iter(|| views.windows(2).map(|pair| pair[0].or_count(&pair[1])).sum::<u64>())
    });
    group.bench_function("or/roaring", |bench| {
        bench.iter(|| bitmaps.windows(2).map(|pair| pair[0].union_len(&pair[1])).sum::<u64>())
    });
    group.bench_function("or of 5/treepie", |bench| {
        bench.iter(|| {
            views
                .windows(few)
                .map(|lists| RoaringView::or_count_all(lists, &mut scratch))
                .sum::<u64>()
        })
    });
    group.bench_function("or of 5/roaring", |bench| {
        bench.iter(|| bitmaps.windows(few).map(|lists| lists.union().len()).sum::<u64>())
    });
    group.bench_function("and of 5/treepie", |bench| {
        bench.iter(|| {
            views
                .windows(few)
                .map(|lists| RoaringView::and_count_all(lists, &mut scratch))
                .sum::<u64>()
        })
    });
    group.bench_function("and of 5/roaring", |bench| {
        bench.iter(|| bitmaps.windows(few).map(|lists| lists.intersection().len()).sum::<u64>())
    });
    group.bench_function("and as a list/treepie", |bench| {
        bench.iter(|| views.windows(2).map(|pair| pair[0].and(&pair[1]).view().len()).sum::<u64>())
    });
    group.bench_function("and as a list/roaring", |bench| {
        bench.iter(|| bitmaps.windows(2).map(|pair| (&pair[0] & &pair[1]).len()).sum::<u64>())
    });
    group.bench_function("iterate/treepie", |bench| {
        bench.iter(|| views.iter().map(|list| list.iter().map(u64::from).sum::<u64>()).sum::<u64>())
    });
    group.bench_function("iterate/roaring", |bench| {
        bench.iter(|| {
            bitmaps.iter().map(|list| list.iter().map(u64::from).sum::<u64>()).sum::<u64>()
        })
    });
    group.finish();
}

/// Lists as words of two million documents have them: few long, many short.
fn synthetic(c: &mut Criterion) {
    let sizes =
        [500_000, 200, 90_000, 3000, 40_000, 1000, 250_000, 10_000, 700, 20_000, 5000, 120_000];
    let lists: Vec<List> =
        sizes.iter().zip(7..).map(|(&n, seed)| scattered(n, 2_000_000, seed)).collect();
    neighbours(c, "synthetic", &lists);
}

fn real(c: &mut Criterion) {
    for collection in ["census1881", "wikileaks-noquotes"] {
        if let Some(sets) = real_sets::real_sets(collection) {
            let lists: Vec<List> = sets.into_iter().map(List::new).collect();
            neighbours(c, collection, &lists);
        }
    }
}

/// Writing a list straight from its ids, against building a bitmap and serialising it.
fn write(c: &mut Criterion) {
    let mut group = c.benchmark_group("write");
    group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(500));
    for n in [300, 3000, 30_000, 300_000] {
        let ids: Vec<u32> = scattered(n, 2_000_000, 99).theirs.iter().collect();
        let mut bytes = vec![];
        group.bench_function(BenchmarkId::new("treepie", n), |bench| {
            bench.iter(|| {
                bytes.clear();
                treepie::bitmap::write_sorted(black_box(&ids), &mut bytes);
                bytes.len()
            })
        });
        group.bench_function(BenchmarkId::new("roaring", n), |bench| {
            bench.iter(|| {
                bytes.clear();
                let ids = black_box(&ids).iter().copied();
                let mut bitmap = RoaringBitmap::from_sorted_iter(ids).expect("they ascend");
                bitmap.optimize();
                bitmap.serialize_into(&mut bytes).expect("memory takes them");
                bytes.len()
            })
        });
    }
    group.finish();
}

criterion_group!(benches, containers, synthetic, real, write);
criterion_main!(benches);
