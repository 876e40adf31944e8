//! How long does it take to make an index of titles, and to merge one?
//!
//! ```sh
//! cargo bench --bench build
//! ```
//!
//! 200,000 generated titles, in memory first, so that the disk stays out of the figure; then with
//! files, on one thread and on all, durable at the end.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::sync::Arc;
use treepie::storage::MemoryStorage;
use treepie::writer::{BadLines, LineFormat};
use treepie::{Index, WriterOptions};

mod common;

const TITLES: u64 = 200_000;

fn add(index: &Index, titles: &[u8], options: WriterOptions) {
    let mut writer = index.writer_with(options).unwrap();
    writer.add_lines(titles, &LineFormat::titles(), BadLines::Refuse).unwrap();
    black_box(writer.commit().unwrap());
}

fn build(criterion: &mut Criterion) {
    let titles = common::titles(TITLES);
    let mut group = criterion.benchmark_group("build");
    group.sample_size(10).throughput(Throughput::Elements(TITLES));
    for threads in [1, 2] {
        group.bench_function(format!("in memory, {threads} threads"), |bencher| {
            bencher.iter_batched(
                || Index::in_memory(LineFormat::titles().schema().unwrap()),
                |index| add(&index, &titles, WriterOptions::new().threads(threads)),
                BatchSize::PerIteration,
            );
        });
    }
    let directory =
        std::env::temp_dir().join(format!("treepie-bench-build-{}", std::process::id()));
    group.bench_function("on disk, 2 threads, durable", |bencher| {
        bencher.iter_batched(
            || Index::overwrite(&directory, LineFormat::titles().schema().unwrap()).unwrap(),
            |index| add(&index, &titles, WriterOptions::new().threads(2)),
            BatchSize::PerIteration,
        );
    });
    group.finish();
    std::fs::remove_dir_all(&directory).unwrap();
}

fn merge(criterion: &mut Criterion) {
    let titles = common::titles(TITLES);
    let mut group = criterion.benchmark_group("merge");
    group.sample_size(10).throughput(Throughput::Elements(2 * TITLES));
    group.bench_function("two segments into one, in memory", |bencher| {
        bencher.iter_batched(
            || {
                let storage = Arc::new(MemoryStorage::new());
                let index = Index::options()
                    .create_in(storage, LineFormat::titles().schema().unwrap())
                    .unwrap();
                (0..2).for_each(|_| add(&index, &titles, WriterOptions::new().threads(2)));
                index
            },
            |index| black_box(index.merge().unwrap()),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, build, merge);
criterion_main!(benches);
