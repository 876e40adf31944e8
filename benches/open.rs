//! What do opening an index and checking what is read cost?
//!
//! `cold blocks`: fifteen scattered ranges of 100 bytes, as a query touches them, in a file that was just
//! mapped, with the checksum of every block they lie in: the reason for blocks of 16 KiB. `open`: an
//! index with one small segment, up to the first count.
//!
//! `cargo bench --bench open`

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::{env, fs, hint::black_box, process};
use treepie::storage::{FsStorage, ReadMode, Storage};
use treepie::{Document, Index, Schema};

const FILE_BYTES: usize = 64 << 20;

/// Fifteen places in the file, other ones for each round.
fn places(round: u64) -> impl Iterator<Item = usize> {
    let mut random = round + 1;
    (0..15).map(move |_| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % (FILE_BYTES - 100)
    })
}

fn cold_blocks(criterion: &mut Criterion) {
    let directory = env::temp_dir().join(format!("treepie-bench-blocks-{}", process::id()));
    let storage = FsStorage::create(&directory, ReadMode::Mmap).unwrap();
    let mut file = storage.create("file").unwrap();
    let chunk: Vec<u8> = (0..1 << 20).map(|at: u32| at.wrapping_mul(2_654_435_761) as u8).collect();
    (0..FILE_BYTES / chunk.len()).for_each(|_| file.write_all(&chunk).unwrap());
    file.sync().unwrap();

    let mut group = criterion.benchmark_group("cold blocks");
    for block_len in [0, 4 << 10, 16 << 10, 64 << 10] {
        let name =
            if block_len == 0 { "unchecked".into() } else { format!("{} KiB", block_len >> 10) };
        let mut round = 0;
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || {
                    round += 1;
                    (storage.open("file").unwrap(), round)
                },
                |(file, round)| {
                    let bytes = file.mapped().unwrap();
                    for place in places(round) {
                        // No block length: nothing is checked.
                        let first = place.checked_div(block_len).unwrap_or(1);
                        let last = (place + 99).checked_div(block_len).unwrap_or(0);
                        (first..=last).for_each(|block| {
                            black_box(crc32c::crc32c(&bytes[block * block_len..][..block_len]));
                        });
                        black_box(bytes[place + 50]);
                    }
                    file
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
    fs::remove_dir_all(directory).unwrap();
}

fn open(criterion: &mut Criterion) {
    let directory = env::temp_dir().join(format!("treepie-bench-open-{}", process::id()));
    let index =
        Index::create(&directory, Schema::builder().text("title").build().unwrap()).unwrap();
    let mut writer = index.writer().unwrap();
    for n in 0..10_000 {
        writer.add(Document::new().with("title", format!("number {n}"))).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);

    criterion.bench_function("open, and count one word", |bencher| {
        bencher.iter(|| {
            let searcher = Index::open(&directory).unwrap().searcher().unwrap();
            let query = searcher.parse("number").unwrap();
            assert_eq!(searcher.count(&query).unwrap(), 10_000);
        });
    });
    fs::remove_dir_all(directory).unwrap();
}

criterion_group!(benches, cold_blocks, open);
criterion_main!(benches);
