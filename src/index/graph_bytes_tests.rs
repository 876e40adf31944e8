//! Bytes of graphs: neither threads, memory, instructions nor merges show.

use super::graph_tests::{Case, DIMS, Random, built_at_once, counts, one_thread};
use crate::bytes::Source;
use crate::explain::VectorCounts;
use crate::format::envelope::{BLOCK_SHIFT, SectionKind};
use crate::ids::FieldId;
use crate::index::Index;
use crate::query::Query;
use crate::schema::{Metric, Schema, VectorCodes, VectorParams, VectorValues};
use crate::segment::snapshot::Snapshot;
use crate::simd::each_step;
use crate::storage::{MemoryStorage, Storage};
use crate::writer::WriterOptions;
use std::sync::Arc;

/// Documents of a case: more than a leaf has.
const DOCS: u64 = 600;
const COMMITS: u64 = 3;

/// The sections of the only segment, but for those of other fields.
fn sections(storage: &MemoryStorage) -> Vec<(SectionKind, Vec<u8>)> {
    let names = storage.list().unwrap().into_iter().map(|entry| entry.name);
    assert_eq!(names.filter(|name| name.starts_with(".run")).count(), 0);
    let snapshot = Snapshot::open(storage).unwrap();
    let mut segments = snapshot.readers();
    let segment = segments.next().unwrap();
    assert!(segments.next().is_none());
    let own = segment.file().entries().iter().filter(|it| it.field == Some(FieldId(0)));
    let read = own.map(|entry| {
        let section = segment.file().section(entry.field, entry.kind).unwrap();
        (entry.kind, section.bytes(0..section.len()).unwrap().to_vec())
    });
    let read: Vec<_> = read.collect();
    assert!(read.iter().any(|(kind, _)| *kind == SectionKind::LINKS), "a graph");
    read
}

/// All documents that are left of a copy, merged into one segment.
fn merged(case: &Case, options: WriterOptions) -> Arc<MemoryStorage> {
    let storage = Arc::new(MemoryStorage::new());
    case.index.copy_to_storage(storage.clone()).unwrap();
    let index = Index::options().open_storage(storage.clone()).unwrap();
    assert_eq!(index.inspect().unwrap().segments().len() as u64, COMMITS);
    index.writer_with(options).unwrap().merge().unwrap();
    storage
}

/// Kinds of vectors that fields may have.
fn kinds() -> impl Iterator<Item = (VectorValues, VectorCodes)> {
    let of = |values| VectorCodes::ALL.map(|codes| (values, codes));
    VectorValues::ALL.into_iter().flat_map(of).filter(|(values, codes)| {
        let params = VectorParams::new(8, Metric::L2).values(*values).codes(*codes);
        Schema::builder().vector("v", params).build().is_ok()
    })
}

/// Fields of these tests have a thousandth of the memory, so that the least does not hold a graph. Threads of a writer take the
/// instructions of the thread that starts them.
#[test]
fn threads_memory_instructions_and_merges_do_not_show() {
    let mut n_kinds = 0;
    for (nth, (values, codes)) in kinds().enumerate() {
        let (metric, many) = (Metric::ALL[nth % 3], nth % 2 == 1);
        let params = VectorParams::new(DIMS as u16, metric).values(values).codes(codes);
        let case = Case::of(params, many, DOCS, COMMITS, one_thread);
        let expected = sections(&built_at_once(&case, one_thread()));
        for () in each_step() {
            for threads in [1, 2, 7] {
                for memory in [16 << 20, 1 << 30] {
                    let options = || WriterOptions::new().threads(threads).memory_bytes(memory);
                    let built = sections(&built_at_once(&case, options()));
                    assert!(built == expected, "{params:?}, {threads} threads, {memory} bytes");
                    let merged = sections(&merged(&case, options()));
                    assert!(merged == expected, "{params:?}, {threads} threads, {memory} bytes");
                }
            }
        }
        n_kinds += 1;
    }
    assert!(n_kinds >= 6, "{n_kinds} kinds of vectors");
}

/// Blocks of a section that reads at random places come to, each once.
fn blocks_at_random(bytes: u64, reads: u64) -> f64 {
    let blocks = bytes.div_ceil(1 << BLOCK_SHIFT) as f64;
    blocks * (1.0 - (1.0 - 1.0 / blocks).powf(reads as f64))
}

/// Documents come in an order that says nothing of their vectors: nodes in this order would lie at random places.
#[test]
fn nodes_that_are_near_lie_in_few_blocks() {
    for codes in [VectorCodes::I8, VectorCodes::B1] {
        let params = VectorParams::new(DIMS as u16, Metric::L2).codes(codes);
        let case = Case::of(params, false, 20_000, 1, one_thread);
        let sections = sections(&case.storage);
        let len_of = |wanted| sections.iter().find(|(kind, _)| *kind == wanted).unwrap().1.len();
        let [of_codes, of_links, of_vectors] =
            [SectionKind::CODES, SectionKind::LINKS, SectionKind::VECTORS].map(len_of);
        let (searcher, mut random) = (case.index.searcher().unwrap(), Random(9));
        let (mut all, mut in_order_of_documents) = (VectorCounts::default(), 0.0);
        for _ in 0..20 {
            let query = Query::nearest("walked", &random.vector()[..], 10).ef(40);
            let own = counts(&searcher.search(&query).analyze().unwrap().plan).unwrap();
            in_order_of_documents += blocks_at_random(of_codes as u64, own.distances)
                + blocks_at_random(of_links as u64, own.hops)
                + blocks_at_random(of_vectors as u64, own.rescored);
            all += own;
        }
        let share = all.blocks as f64 / in_order_of_documents;
        assert!(all.blocks > 0 && share <= 0.75, "{share:.3}: {all:?}");
    }
}
