//! Tests of graphs that are walked by codes of a bit a number.

use super::graph_tests::{Case, DIMS, Random, change, counts, damage, forged, one_thread};
use crate::bytes::Source;
use crate::explain::VectorCounts;
use crate::format::envelope::SectionKind;
use crate::ids::{DocId, FieldId};
use crate::query::{Query, QueryVector};
use crate::schema::{Metric, VectorCodes, VectorParams};
use crate::segment::snapshot::Snapshot;
use std::collections::BTreeSet;

fn params(metric: Metric) -> VectorParams {
    VectorParams::new(DIMS as u16, metric).codes(VectorCodes::B1)
}

/// Counts of a search for the ten nearest by a walk that keeps many more.
fn analyzed(case: &Case, to: &[f32]) -> VectorCounts {
    let searcher = case.index.searcher().unwrap();
    let query = Query::nearest("walked", to, 10).ef(600);
    let tree = searcher.search(&query).explainer().recall().analyze().unwrap();
    counts(&tree.plan).unwrap()
}

#[test]
fn all_that_a_walk_came_to_is_compared_or_proved_out() {
    for codes in [VectorCodes::B1, VectorCodes::I8] {
        for metric in [Metric::Cosine, Metric::L2, Metric::Dot] {
            let case = Case::of(params(metric).codes(codes), false, 4_000, 1, one_thread);
            let (mut all, mut random) = (VectorCounts::default(), Random(6));
            for _ in 0..20 {
                let of_query = analyzed(&case, &random.vector());
                assert_eq!(of_query.compared, of_query.rescored);
                all += of_query;
            }
            assert!(all.recall().unwrap() >= 0.95, "{metric:?}: {all:?}");
            // More than ten each, and fewer than the walk came to.
            assert!(all.rescored >= 200 && all.proved_out > 200, "{metric:?}: {all:?}");
            // Codes of a byte tell nearly all apart.
            assert!(codes == VectorCodes::B1 || all.rescored < 400, "{metric:?}: {all:?}");
        }
    }
}

/// Neighbours in one segment bound what the next may have.
#[test]
fn segments_prove_out_what_those_before_are_nearer_than() {
    let rescored = |case: &Case| {
        let mut random = Random(2);
        (0..20).map(|_| analyzed(case, &random.vector()).rescored).sum::<u64>()
    };
    let case = Case::of(params(Metric::L2), false, 4_000, 4, one_thread);
    let of_four = rescored(&case);
    case.index.writer_with(one_thread()).unwrap().merge().unwrap();
    case.verify();
    let of_one = rescored(&case);
    assert!(of_four < 3 * of_one, "{of_four} {of_one}");
}

#[test]
fn codes_of_bits_take_few_bytes() {
    let case = Case::of(params(Metric::L2), false, 2_000, 1, one_thread);
    let snapshot = Snapshot::open(&*case.storage).unwrap();
    let segment = snapshot.readers().next().unwrap();
    let field = segment.field(FieldId(0));
    let n = field.graph(segment.n_docs()).unwrap().unwrap().n_nodes() as u64;
    let len = |kind: SectionKind| {
        segment.file().section(Some(FieldId(0)), kind).map_or(0, |section| section.len())
    };
    assert_eq!(len(SectionKind::CODES), 16 + 4 * DIMS as u64 + n * (8 + 8));
    let all: u64 = SectionKind::GRAPH.into_iter().map(len).sum();
    assert!(all / n <= DIMS as u64 / 8 + 110, "{}", all / n);
}

#[test]
fn other_codes_than_those_of_rows_and_another_centroid_are_told() {
    let case = Case::of(params(Metric::L2), false, 500, 1, one_thread);
    let start = 16 + 4 * DIMS;
    // The last bit of a number of the centroid, a sign, a length, a factor, the seed.
    for (at, words) in [
        (16, "centroid"),
        (start + 3, "not the code of row"),
        (start + 8, "not the code of row"),
        (start + 12, "not the code of row"),
        (8, "not the code of row"),
    ] {
        let index = forged(&case, |sections| {
            change(sections, SectionKind::CODES, |bytes| bytes[at] ^= 1);
        });
        let damage = damage(&index);
        assert!(damage.contains(words) || damage.contains("not the code of row"), "{at}: {damage}");
        let query = Query::nearest("walked", Random(4).vector(), 10).ef(40);
        let page = index.index.searcher().unwrap().search(&query).limit(10).run().unwrap();
        assert_eq!(page.hits.len(), 10);
    }
    let index = forged(&case, |sections| {
        let nan = f32::NAN.to_le_bytes();
        change(sections, SectionKind::CODES, |bytes| bytes[16..20].copy_from_slice(&nan));
    });
    assert!(damage(&index).contains("a centroid of finite numbers"));
}

/// There is one mean of all: a segment that says another is wrong, even if all of its codes are those by this.
#[test]
fn codes_by_another_centroid_are_told() {
    use crate::graph::bit_code::Frame;
    use crate::graph::code::encode;
    let case = Case::of(params(Metric::L2), false, 400, 1, one_thread);
    let snapshot = Snapshot::open(&*case.storage).unwrap();
    let segment = snapshot.readers().next().unwrap();
    let field = segment.field(FieldId(0));
    let (vectors, graph) =
        (field.vectors().unwrap().unwrap(), field.graph(segment.n_docs()).unwrap().unwrap());
    let frame = Frame::new(3, vec![0.25; DIMS]);
    let mut rows = vec![];
    for node in 0..graph.n_nodes() {
        let row = graph.first_row(node).unwrap();
        let bytes = vectors.rows(row..row + 1).unwrap();
        let numbers = crate::value::numbers_of_row(case.params, &bytes);
        let mut code = vec![];
        let measures = encode(Metric::L2, numbers.iter().copied(), &mut code);
        frame.encode(&code, measures.scale, &mut rows);
    }
    let index = forged(&case, |sections| {
        change(sections, SectionKind::CODES, |bytes| {
            bytes[8..16].copy_from_slice(&3u64.to_le_bytes());
            bytes[16..16 + 4 * DIMS].copy_from_slice(&0.25f32.to_le_bytes().repeat(DIMS));
            bytes[16 + 4 * DIMS..].copy_from_slice(&rows);
        });
    });
    assert!(damage(&index).contains("another centroid"), "{}", damage(&index));
}

/// Walks to several vectors of a document come to the same nodes.
#[test]
fn neighbours_of_a_document_of_several_vectors_are_found_once() {
    for codes in [VectorCodes::I8, VectorCodes::B1, VectorCodes::None] {
        let case = Case::of(params(Metric::L2).codes(codes), true, 600, 1, one_thread);
        let searcher = case.index.searcher().unwrap();
        for doc in (0..600).step_by(40) {
            let of_document = Query::nearest("walked", QueryVector::Document(DocId(doc)), 12);
            let found = |query: &Query| {
                let hits = searcher.search(query).limit(100).run().map(|page| page.hits);
                hits.ok().map(|hits| hits.iter().map(|hit| hit.doc).collect::<BTreeSet<_>>())
            };
            // Some have no vector, or are deleted.
            let Some(found) = found(&of_document.ef(60)) else { continue };
            assert_eq!(found.len(), 12, "{codes:?} {doc}");
            assert!(!found.contains(&DocId(doc)));
        }
    }
}
