//! Tests of graphs over vectors beside a comparison with all.

use crate::bytes::Source;
use crate::document::Document;
use crate::error::{ErrorKind, Result};
use crate::explain::{ExplainNode, VectorCounts};
use crate::format::FileName;
use crate::format::envelope::{SectionEntry, SectionKind};
use crate::format::graph::links::LinksWriter;
use crate::format::graph::{DEGREE_MAX, nodes};
use crate::format::manifest::Manifest;
use crate::ids::{DocId, FieldId};
use crate::index::Index;
use crate::query::{ParseOptions, Query, parse};
use crate::schema::{Field, FieldKind, Metric, Schema, VectorCodes, VectorParams, VectorValues};
use crate::segment::file;
use crate::segment::snapshot::Snapshot;
use crate::segment::verify;
use crate::storage::{MemoryStorage, Storage};
use crate::writer::{MergePolicy, SegmentOutcome, WriterOptions};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) const DIMS: usize = 16;

pub(super) struct Random(pub(super) u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % n
    }

    /// A vector near one of some centres.
    pub(super) fn vector(&mut self) -> Vec<f32> {
        let centre = self.below(20);
        let of_centre = |n: u64| ((centre * 7 + n * 13) % 11) as f32 - 5.0;
        (0..DIMS as u64).map(|n| of_centre(n) + self.below(1_000) as f32 / 250.0).collect()
    }
}

/// The numbers of a vector as a field keeps them.
fn kept(values: VectorValues, vector: Vec<f32>) -> Vec<f32> {
    let of = |number: f32| match values {
        VectorValues::F16 => half::f16::from_f32(number).to_f32(),
        VectorValues::I8 => (number * 9.0).round(),
        VectorValues::Bits => f32::from(u8::from(number > 0.0)),
        _ => number,
    };
    vector.into_iter().map(of).collect()
}

/// A document of the naive index.
struct Row {
    id: String,
    share: u64,
    vectors: Vec<Vec<f32>>,
}

pub(super) struct Case {
    pub(super) params: VectorParams,
    rows: BTreeMap<String, Row>,
    pub(super) index: Index,
    pub(super) storage: Arc<MemoryStorage>,
}

pub(super) fn schema(params: VectorParams, many: bool) -> Schema {
    Schema::builder()
        .field(Field::new("walked", FieldKind::Vector(params)).many(many))
        .field(Field::new("share", FieldKind::I64))
        .key("id")
        .build()
        .unwrap()
}

impl Case {
    /// Documents in several commits, some of which are deleted again.
    fn new(
        metric: Metric,
        many: bool,
        n_docs: u64,
        n_commits: u64,
        options: impl Fn() -> WriterOptions,
    ) -> Self {
        let params = VectorParams::new(DIMS as u16, metric);
        Case::of(params, many, n_docs, n_commits, options)
    }

    /// Documents of vectors of some kind.
    pub(super) fn of(
        params: VectorParams,
        many: bool,
        n_docs: u64,
        n_commits: u64,
        options: impl Fn() -> WriterOptions,
    ) -> Self {
        let storage = Arc::new(MemoryStorage::new());
        let index = Index::options().create_in(storage.clone(), schema(params, many)).unwrap();
        let (mut random, mut rows) = (Random(n_docs), BTreeMap::new());
        for commit in 0..n_commits {
            let mut writer = index
                .writer_with(options().merge_policy(MergePolicy::default().factor(50)))
                .unwrap();
            for nth in 0..n_docs / n_commits {
                let id = format!("d{}", commit * n_docs + nth);
                let share = random.below(1_000);
                let n = if many { random.below(4) } else { 1 };
                let vectors: Vec<_> = (0..n)
                    .map(|_| match random.below(30) {
                        // Some are equal to others.
                        0 => vec![1.0; DIMS],
                        _ => kept(params.values, random.vector()),
                    })
                    .collect();
                let mut document = Document::new().with("id", &*id).with("share", share as i64);
                vectors.iter().for_each(|vector| document.push("walked", &vector[..]));
                writer.add(document).unwrap();
                rows.insert(id.clone(), Row { id, share, vectors });
            }
            for _ in 0..n_docs / n_commits / 20 {
                let id = format!(
                    "d{}",
                    random.below(commit + 1) * n_docs + random.below(n_docs / n_commits)
                );
                writer.delete_key(&*id).unwrap();
                rows.remove(&id);
            }
            writer.commit().unwrap();
        }
        Case { params, rows, index, storage }
    }

    fn similarity(&self, a: &[f32], b: &[f32]) -> f64 {
        let sum = |of: fn(f64, f64) -> f64, a: &[f32], b: &[f32]| -> f64 {
            a.iter().zip(b).map(|(a, b)| of(f64::from(*a), f64::from(*b))).sum()
        };
        let dot = |a: &[f32], b: &[f32]| sum(|a, b| a * b, a, b);
        match self.params.metric {
            Metric::Cosine => dot(a, b) / (dot(a, a) * dot(b, b)).sqrt(),
            Metric::Dot => dot(a, b),
            Metric::L2 => -sum(|a, b| (a - b) * (a - b), a, b),
        }
    }

    /// Similarities of the nearest of documents of which `share` is below a number, the nearest first.
    fn naive(&self, to: &[f32], below: u64) -> Vec<f64> {
        let let_through = self.rows.values().filter(|row| row.share < below);
        let nearest = |row: &Row| {
            row.vectors.iter().map(|vector| self.similarity(vector, to)).max_by(f64::total_cmp)
        };
        let mut all: Vec<f64> = let_through.filter_map(nearest).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        all
    }

    /// Similarities of what a query finds, the nearest first.
    fn found(&self, query: Query, to: &[f32], below: u64) -> Vec<f64> {
        let searcher = self.index.searcher().unwrap();
        let query = match below {
            1_000 => query,
            _ => Query::boolean()
                .must(query)
                .filter(parse(&format!("share:<{below}"), &ParseOptions::default()).unwrap())
                .build(),
        };
        let hits = searcher.search(&query).limit(1_000).fields(["id"]).run().unwrap();
        let mut ids = std::collections::BTreeSet::new();
        let mut found = vec![];
        for hit in &hits.hits {
            let id = hit.text("id").unwrap();
            assert!(ids.insert(id.to_owned()), "{id} twice");
            let row = self.rows.get(id).unwrap();
            assert!(row.share < below && row.id == id);
            found.extend(
                row.vectors.iter().map(|it| self.similarity(it, to)).max_by(f64::total_cmp),
            );
        }
        assert!(found.is_sorted_by(|a, b| a + 1e-3 >= *b), "{found:?}");
        found
    }

    /// Looks for neighbours with several filters; the recall by filter.
    fn check(&self, n_queries: u64) -> Vec<(u64, f64)> {
        let mut random = Random(77);
        let mut recalls = vec![];
        for below in [1, 3, 10, 30, 100, 300, 500, 800, 1_000] {
            let (mut hit, mut all) = (0, 0);
            for _ in 0..n_queries {
                let to = kept(self.params.values, random.vector());
                let k = 1 + random.below(20) as u32;
                let naive = self.naive(&to, below);
                let wanted = naive.len().min(k as usize);
                let query = Query::nearest("walked", &to[..], k);
                let is_near =
                    |found: &f64| *found >= naive[wanted - 1] - 1e-4 * (1.0 + found.abs());
                let exact = self.found(query.clone().exact(), &to, below);
                assert!(exact.len() == wanted && exact.iter().all(is_near), "{exact:?} {naive:?}");
                for query in
                    [query.clone().ef(1), query.clone().recall(0.5), query.clone().ef(20 * k)]
                {
                    assert_eq!(self.found(query, &to, below).len(), wanted);
                }
                let found = self.found(query, &to, below);
                assert_eq!(found.len(), wanted, "k {k}, share below {below}");
                hit += found.iter().filter(|it| is_near(it)).count();
                all += wanted;
            }
            recalls.push((below, hit as f64 / f64::from(all.max(1) as u32)));
        }
        recalls
    }

    pub(super) fn verify(&self) {
        let snapshot = Snapshot::open(&*self.storage).unwrap();
        for segment in snapshot.readers() {
            assert_eq!(verify::verify(segment, |error| panic!("{error}")), 0);
            let vectors = segment.field(FieldId(0)).vectors().unwrap().unwrap();
            assert!(segment.field(FieldId(0)).graph(vectors.n_vectors()).unwrap().is_some());
        }
    }
}

pub(super) fn one_thread() -> WriterOptions {
    WriterOptions::new().threads(1)
}

#[test]
fn the_nearest_are_found_under_all_filters() {
    for (metric, many) in
        [(Metric::Cosine, false), (Metric::L2, false), (Metric::Dot, true), (Metric::L2, true)]
    {
        let case = Case::new(metric, many, 2_000, 2, one_thread);
        case.verify();
        let recalls = case.check(12);
        for (below, recall) in &recalls {
            assert!(*recall >= 0.9, "{metric:?}, many: {many}, below {below}: {recall}");
        }
        // Walks find them, as they are more than few.
        let of_walks: Vec<f64> = recalls.iter().filter(|it| it.0 > 300).map(|it| it.1).collect();
        let mean = of_walks.iter().sum::<f64>() / of_walks.len() as f64;
        assert!(mean >= 0.95, "{metric:?}, many: {many}: {of_walks:?}");
    }
}

#[test]
fn the_nearest_are_found_in_numbers_of_all_kinds_by_codes_or_without() {
    let (with, bits, without) = (VectorCodes::I8, VectorCodes::B1, VectorCodes::None);
    for (values, codes, metric, many) in [
        (VectorValues::F32, without, Metric::L2, false),
        (VectorValues::F32, bits, Metric::L2, false),
        (VectorValues::F32, bits, Metric::Cosine, true),
        (VectorValues::F16, bits, Metric::Dot, false),
        (VectorValues::F16, with, Metric::Cosine, true),
        (VectorValues::F16, without, Metric::Dot, false),
        (VectorValues::I8, without, Metric::Cosine, false),
        (VectorValues::I8, without, Metric::L2, true),
        (VectorValues::Bits, without, Metric::L2, false),
        (VectorValues::Bits, without, Metric::Cosine, false),
        (VectorValues::Bits, without, Metric::Dot, true),
    ] {
        let params = VectorParams::new(DIMS as u16, metric).values(values).codes(codes);
        let case = Case::of(params, many, 1_500, 2, one_thread);
        case.verify();
        let snapshot = Snapshot::open(&*case.storage).unwrap();
        let has_codes =
            |file: &file::SegmentFile| file.section(Some(FieldId(0)), SectionKind::CODES).is_some();
        assert!(snapshot.readers().all(|it| has_codes(it.file()) == (codes != without)));
        let recalls = case.check(6);
        let mean = recalls.iter().map(|it| it.1).sum::<f64>() / recalls.len() as f64;
        assert!(mean >= 0.95, "{params:?}: {recalls:?}");
        case.index.writer().unwrap().merge().unwrap();
        case.verify();
        case.check(1);
    }
}

/// Counts of the operator that looks for neighbours.
pub(super) fn counts(node: &ExplainNode) -> Option<VectorCounts> {
    let own = node.actual.as_ref().and_then(|actual| actual.vectors);
    own.or_else(|| node.children.iter().find_map(counts))
}

#[test]
fn walks_compare_less_and_plans_say_how_much() {
    let case = Case::new(Metric::L2, false, 6_000, 1, one_thread);
    let searcher = case.index.searcher().unwrap();
    let query = Query::nearest("walked", &Random(5).vector()[..], 10);
    let tree = searcher.search(&query).analyze().unwrap();
    let of_walk = counts(&tree.plan).unwrap();
    assert!(of_walk.hops > 0 && of_walk.distances < 3_000 && of_walk.compared < 100, "{of_walk:?}");
    assert!(tree.to_string().contains("walk over the graph, ef "), "{tree}");
    let tree = searcher.search(&query.exact()).analyze().unwrap();
    let of_all = counts(&tree.plan).unwrap();
    assert_eq!((of_all.hops, of_all.distances, of_all.switched), (0, 0, 0));
    assert!(of_all.compared > 5_000 && tree.to_string().contains("all vectors compared"));
}

/// The only segment's sections of the field.
fn sections(storage: &MemoryStorage) -> Vec<Vec<u8>> {
    let snapshot = Snapshot::open(storage).unwrap();
    let mut segments = snapshot.readers();
    let segment = segments.next().unwrap();
    assert!(segments.next().is_none());
    let read = |kind: &SectionKind| {
        let section = segment.file().section(Some(FieldId(0)), *kind).unwrap();
        section.bytes(0..section.len()).unwrap().to_vec()
    };
    SectionKind::GRAPH.iter().map(read).collect()
}

/// An index of the same documents in the same order, built at once.
pub(super) fn built_at_once(case: &Case, options: WriterOptions) -> Arc<MemoryStorage> {
    let searcher = case.index.searcher().unwrap();
    let all = searcher.search(&Query::All).limit(100_000).fields(["id"]).run().unwrap();
    let mut hits: Vec<_> = all.hits.iter().collect();
    hits.sort_by_key(|hit| hit.doc);
    let storage = Arc::new(MemoryStorage::new());
    let many = case.rows.values().any(|row| row.vectors.len() > 1);
    let schema = schema(case.params, many);
    let index = Index::options().create_in(storage.clone(), schema).unwrap();
    let mut writer = index.writer_with(options).unwrap();
    for hit in hits {
        let row = &case.rows[hit.text("id").unwrap()];
        let mut document = Document::new().with("id", &*row.id).with("share", row.share as i64);
        row.vectors.iter().for_each(|vector| document.push("walked", &vector[..]));
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    storage
}

/// Old links are not used again, so that nothing decays.
#[test]
fn graphs_after_many_rounds_of_changes_are_those_built_at_once() {
    let mut case = Case::new(Metric::Cosine, false, 800, 1, one_thread);
    let (mut random, n) = (Random(3), case.rows.len());
    for round in 0..20 {
        let mut writer = case.index.writer_with(one_thread()).unwrap();
        for _ in 0..n / 20 {
            let nth = random.below(case.rows.len() as u64) as usize;
            let row = case.rows.values_mut().nth(nth).unwrap();
            row.vectors = vec![random.vector()];
            let document = Document::new().with("id", &*row.id).with("share", row.share as i64);
            writer.add(document.with("walked", &row.vectors[0][..])).unwrap();
        }
        writer.commit().unwrap();
        match round % 4 {
            3 => _ = writer.merge().unwrap(),
            _ => _ = writer.maintain().unwrap(),
        }
    }
    let merged = sections(&case.storage);
    assert_eq!(case.rows.len(), n);
    case.verify();
    assert!(sections(&built_at_once(&case, one_thread())) == merged);
}

/// Deleted documents are in the way of walks until they are merged away.
#[test]
fn the_nearest_are_found_where_half_is_deleted() {
    for (metric, codes, many) in [
        (Metric::Cosine, VectorCodes::I8, false),
        (Metric::L2, VectorCodes::I8, false),
        (Metric::Dot, VectorCodes::I8, true),
        (Metric::L2, VectorCodes::B1, false),
    ] {
        let params = VectorParams::new(DIMS as u16, metric).codes(codes);
        let mut case = Case::of(params, many, 3_000, 1, one_thread);
        let mut writer = case.index.writer_with(one_thread()).unwrap();
        let mut random = Random(1);
        let all: Vec<String> = case.rows.keys().cloned().collect();
        for id in all.iter().filter(|_| random.below(2) == 0) {
            writer.delete_key(&**id).unwrap();
            case.rows.remove(id);
        }
        writer.commit().unwrap();
        drop(writer);
        let left = case.rows.len() * 100 / all.len();
        assert!((45..55).contains(&left), "{left} of 100");
        let mut recalls = case.check(20);
        // Few may be none.
        recalls.retain(|it| it.0 >= 30);
        let mean = recalls.iter().map(|it| it.1).sum::<f64>() / recalls.len() as f64;
        assert!(mean >= 0.95 && recalls.iter().all(|it| it.1 >= 0.93), "{metric:?}: {recalls:?}");
        // Without another filter all walks meet deleted documents.
        let last = recalls.last().unwrap();
        assert!(last.0 == 1_000 && last.1 >= 0.95, "{metric:?}: {recalls:?}");
    }
}

pub(super) struct Forged {
    pub(super) index: Index,
    storage: Arc<MemoryStorage>,
}

pub(super) type Sections = Vec<(SectionEntry, Vec<u8>)>;

/// An index whose only segment has other sections, all with right checksums.
pub(super) fn forged(case: &Case, alter: impl FnOnce(&mut Sections)) -> Forged {
    let snapshot = Snapshot::open(&*case.storage).unwrap();
    let segment = snapshot.readers().next().unwrap();
    let read = |entry: &SectionEntry| {
        let section = segment.file().section(entry.field, entry.kind).unwrap();
        (*entry, section.bytes(0..section.len()).unwrap().to_vec())
    };
    let mut sections: Sections = segment.file().entries().iter().map(read).collect();
    alter(&mut sections);
    let storage = Arc::new(MemoryStorage::new());
    let mut writer = file::create(&*storage, segment.id()).unwrap();
    for (entry, bytes) in sections {
        writer.start_section(entry.field, entry.kind, entry.codec).unwrap();
        writer.write(&bytes).unwrap();
        writer.end_section().unwrap();
    }
    let seal = file::seal(writer).unwrap();
    let names: Vec<String> = case.storage.list().unwrap().into_iter().map(|it| it.name).collect();
    let generation = |name: &str| match FileName::parse(name) {
        Some(FileName::Manifest(generation)) => Some(generation),
        _ => None,
    };
    let newest = names.iter().max_by_key(|name| generation(name)).unwrap();
    let read = |name: &str| {
        let file = case.storage.open(name).unwrap();
        let mut bytes = vec![0; file.len() as usize];
        file.read_at(0, &mut bytes).unwrap();
        bytes
    };
    let write = |name: &str, bytes: &[u8]| {
        let mut file = storage.create(name).unwrap();
        file.write_all(bytes).unwrap();
        file.sync().unwrap();
    };
    let mut manifest = Manifest::decode(&read(newest), generation(newest).unwrap()).unwrap();
    manifest.segments[0].seal = seal;
    write(newest, &manifest.encode().unwrap());
    names.iter().filter(|name| name.starts_with("del-")).for_each(|name| write(name, &read(name)));
    Forged { index: Index::options().open_storage(storage.clone()).unwrap(), storage }
}

/// All that is wrong with an index.
pub(super) fn damage(of: &Forged) -> String {
    let snapshot = Snapshot::open(&*of.storage).unwrap();
    let mut all = String::new();
    for segment in snapshot.readers() {
        verify::verify(segment, |error| all += &error.to_string());
    }
    all
}

pub(super) fn change(
    sections: &mut Sections,
    kind: SectionKind,
    change: impl FnOnce(&mut Vec<u8>),
) {
    let section = sections.iter_mut().find(|(entry, _)| entry.kind == kind).unwrap();
    change(&mut section.1);
}

#[test]
fn forged_graphs_give_an_error_or_as_many_hits_as_there_are() {
    let params = VectorParams::new(DIMS as u16, Metric::L2);
    let cases = [VectorCodes::I8, VectorCodes::B1, VectorCodes::None]
        .map(|codes| Case::of(params.codes(codes), false, 500, 1, one_thread));
    let (mut random, mut n_errors, mut n_right) = (Random(9), 0, 0);
    for nth in 0..1_500 {
        let case = &cases[nth / 550];
        let kind = SectionKind::GRAPH[nth % SectionKind::GRAPH.len()];
        if kind == SectionKind::CODES && case.params.codes == VectorCodes::None {
            continue;
        }
        let index = forged(case, |sections| {
            change(sections, kind, |bytes| match random.below(8) {
                0 => bytes.truncate(random.below(bytes.len() as u64) as usize),
                1 => bytes.push(0),
                2 => bytes.fill(random.below(256) as u8),
                _ => {
                    for _ in 0..1 + random.below(3) {
                        let at = random.below(bytes.len() as u64) as usize;
                        bytes[at] = random.below(256) as u8;
                    }
                }
            });
        });
        let query = Query::nearest("walked", random.vector(), 10).ef(40);
        match index.index.searcher().unwrap().search(&query).limit(10).run() {
            Ok(page) => {
                assert_eq!(page.hits.len(), 10, "{}", kind.name());
                n_right += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                n_errors += 1;
            }
        }
    }
    assert!(n_errors > 100 && n_right > 100, "{n_errors} {n_right}");
}

#[test]
fn nodes_that_nothing_leads_to_and_missing_sections_are_told_or_made_up_for() {
    let case = Case::new(Metric::L2, false, 500, 1, one_thread);
    let to = Random(4).vector();
    let query = Query::nearest("walked", &to[..], 10).ef(100);
    let found = |index: &Index| -> Result<Vec<DocId>> {
        let page = index.searcher()?.search(&query).limit(10).run()?;
        Ok(page.hits.iter().map(|hit| hit.doc).collect())
    };
    let right = found(&case.index).unwrap();
    // No links at all, and a ring.
    let snapshot = Snapshot::open(&*case.storage).unwrap();
    let segment = snapshot.readers().next().unwrap();
    let graph = segment.field(FieldId(0)).graph(segment.n_docs()).unwrap().unwrap();
    let n = graph.n_nodes();
    for is_ring in [false, true] {
        let (mut writer, mut links) = (LinksWriter::default(), vec![]);
        for node in 0..n {
            let next = [(node + 1) % n];
            writer.add(if is_ring { &next } else { &[] }, &mut links);
        }
        let at = writer.finish();
        let index = forged(&case, |sections| {
            change(sections, SectionKind::LINKS, |bytes| *bytes = links);
            change(sections, SectionKind::LINKS_AT, |bytes| *bytes = at);
        });
        assert_eq!(found(&index.index).unwrap().len(), 10);
        if !is_ring {
            assert_eq!(found(&index.index).unwrap(), right, "all are compared");
            assert!(damage(&index).contains("no link leads to"));
        }
    }
    for kind in SectionKind::GRAPH {
        let index = forged(&case, |sections| sections.retain(|(entry, _)| entry.kind != kind));
        let error = found(&index.index).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(damage(&index).contains(kind.name()), "{}", kind.name());
    }
    let index = forged(&case, |sections| {
        sections.retain(|(entry, _)| !SectionKind::GRAPH.contains(&entry.kind));
    });
    assert_eq!(found(&index.index).unwrap(), right, "without a graph all are compared");
    // Another code than that of a row is seen, and does no harm.
    let index = forged(&case, |sections| {
        change(sections, SectionKind::CODES, |bytes| bytes[16] ^= 1);
    });
    assert_eq!(found(&index.index).unwrap().len(), 10);
    assert!(damage(&index).contains("not the code of row"));
}

/// A graph as it is read, to be written with something wrong.
struct Read {
    links: Vec<Vec<u32>>,
    rows: Vec<Vec<u32>>,
    code_len: usize,
}

impl Read {
    fn of(case: &Case) -> Self {
        let snapshot = Snapshot::open(&*case.storage).unwrap();
        let segment = snapshot.readers().next().unwrap();
        let graph = segment.field(FieldId(0)).graph(segment.n_docs()).unwrap().unwrap();
        let links = |node| {
            let mut links = vec![];
            graph.links.read(node, &mut links).unwrap();
            links
        };
        let row = |place| graph.nodes.row(place).unwrap();
        let rows = |node| graph.nodes.places(node).unwrap().map(row).collect();
        let n = graph.n_nodes();
        let code_len = graph.codes.unwrap().row(0).unwrap().len();
        Read { links: (0..n).map(links).collect(), rows: (0..n).map(rows).collect(), code_len }
    }

    /// Writes links and rows.
    fn write(&self, sections: &mut Sections) {
        let (mut writer, mut links) = (LinksWriter::default(), vec![]);
        self.links.iter().for_each(|of_node| writer.add(of_node, &mut links));
        let mut starts = vec![0];
        for of_node in &self.rows {
            starts.push(starts.last().unwrap() + of_node.len() as u32);
        }
        let nodes = nodes::encode(&starts, &self.rows.concat());
        change(sections, SectionKind::LINKS, |bytes| *bytes = links);
        change(sections, SectionKind::LINKS_AT, |bytes| *bytes = writer.finish());
        change(sections, SectionKind::NODES, |bytes| *bytes = nodes);
    }
}

/// Changes numbers of 4 bytes.
fn numbers(bytes: &mut [u8], alter: impl FnOnce(&mut [u32])) {
    let number = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
    let mut all: Vec<u32> = bytes.as_chunks().0.iter().map(number).collect();
    alter(&mut all);
    bytes.copy_from_slice(&all.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<_>>());
}

#[test]
fn whatever_a_graph_may_not_be_is_told_by_its_name() {
    // Two levels are above so many.
    let case = Case::new(Metric::L2, false, 5_000, 1, one_thread);
    let read = || Read::of(&case);
    let n = read().links.len() as u32;
    let mut n_told = 0;
    let mut told = |words: &str, alter: &dyn Fn(&mut Sections)| {
        let index = forged(&case, alter);
        let damage = damage(&index);
        assert!(damage.contains(words), "{words:?}: {damage}");
        let to = Random(n_told).vector();
        for query in ["*", "share:<700", "share:<10"] {
            let filter = parse(query, &ParseOptions::default()).unwrap();
            let nearest = Query::nearest("walked", &to[..], 10).ef(64);
            let query = Query::boolean().must(nearest).filter(filter.clone()).build();
            let searcher = index.index.searcher().unwrap();
            match searcher.search(&query).limit(10).run() {
                Ok(page) => {
                    let expected = searcher.count(&filter).unwrap().min(10);
                    assert_eq!(page.hits.len() as u64, expected, "{words}");
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}"),
            }
        }
        n_told += 1;
    };
    let with = |alter: &dyn Fn(&mut Read)| {
        let mut read = read();
        alter(&mut read);
        move |sections: &mut Sections| read.write(sections)
    };
    told("a link to 7", &with(&|read| read.links[7] = vec![7]));
    told(&format!("a link to {n}"), &with(&|read| read.links[3] = vec![1, n]));
    told(
        "no link leads to",
        &with(&|read| {
            read.links.iter_mut().for_each(|links| links.retain(|to| *to != n / 2));
        }),
    );
    let of = |kind, alter: fn(&mut Vec<u8>)| {
        move |sections: &mut Sections| change(sections, kind, alter)
    };
    told("65 links", &of(SectionKind::LINKS, |bytes| bytes[0] = 65));
    told("reading the links of vectors", &of(SectionKind::LINKS, |bytes| bytes.push(0)));
    told("bytes from", &of(SectionKind::LINKS_AT, |bytes| bytes[136] ^= 1));
    // A row twice, a row not at all, and rows in another order than they have.
    told("out of turn", &with(&|read| read.rows[1] = read.rows[0].clone()));
    told(
        "out of turn",
        &with(&|read| {
            let of_several = read.rows.iter_mut().find(|rows| rows.len() > 1).unwrap();
            of_several.reverse();
        }),
    );
    // Codes of the same bytes are of one node.
    told("a code of its own", &|sections| {
        let mut read = read();
        let node = read.rows.iter().position(|rows| rows.len() > 1).unwrap();
        let row = read.rows[node].pop().unwrap();
        read.rows.push(vec![row]);
        read.links[node].truncate(DEGREE_MAX - 1);
        read.links[node].push(n);
        read.links.push(vec![node as u32]);
        read.write(sections);
        change(sections, SectionKind::CODES, |bytes| {
            let at = 16 + node * read.code_len;
            bytes.extend_from_within(at..at + read.code_len);
            bytes[..4].copy_from_slice(&(n + 1).to_le_bytes());
        });
    });
    told("not the code of row", &of(SectionKind::CODES, |bytes| bytes[20] ^= 1));
    // Levels of two sizes: their heads are five numbers, then the nodes of the first follow.
    let upper = of_upper;
    told("out of order", &upper(|all| all.swap(5, 6)));
    told("other nodes in level", &upper(|all| all[5 + level_len(all)] += 1));
    told("of the place 0 in level 0", &upper(|all| all[5 + 2 * all[1] as usize + 1] = 0));
    told("links from", &upper(|all| all[5 + all[1] as usize] = 1));
    told(
        "in level 0 that no link leads to",
        &upper(|all| {
            let (n_nodes, n_links) = (all[1] as usize, all[2] as usize);
            let above: Vec<u32> = all[5 + level_len(all)..][..all[3] as usize].to_vec();
            let is_above = |place: &usize| above.contains(&all[5 + place]);
            let left = (0..n_nodes).find(|place| !is_above(place)).unwrap() as u32;
            let starts = 5 + n_nodes;
            for place in 0..n_nodes {
                let range = all[starts + place] as usize..all[starts + place + 1] as usize;
                let links = &mut all[starts + n_nodes + 1..][..n_links][range];
                // Links to it lead to another node that is no neighbour yet.
                if let Ok(at) = links.binary_search(&left) {
                    let other = (0..n_nodes as u32)
                        .find(|to| *to != place as u32 && !links.contains(to))
                        .unwrap();
                    links[at] = other;
                    links.sort_unstable();
                }
            }
        }),
    );
    let curve = |alter: fn(&mut [u32])| {
        move |sections: &mut Sections| {
            change(sections, SectionKind::CURVE, |bytes| numbers(bytes, alter))
        }
    };
    told("points that ascend", &curve(|all| all.swap(2, 6)));
    told("points that ascend", &curve(|all| all[3] = 10_001));
    told("points that ascend", &curve(|all| all[2] = 0));
    told("0 points", &curve(|all| all[1] = 0));
    told("bytes", &curve(|all| all[1] -= 1));
    assert_eq!(n_told, 20);
}

fn of_upper(alter: fn(&mut [u32])) -> impl Fn(&mut Sections) {
    move |sections| change(sections, SectionKind::UPPER, |bytes| numbers(bytes, alter))
}

/// Numbers of the first level.
fn level_len(upper: &[u32]) -> usize {
    2 * upper[1] as usize + 1 + upper[2] as usize
}

#[test]
fn vectors_come_out_of_a_segment_with_a_damaged_graph() {
    let case = Case::new(Metric::Cosine, true, 500, 1, one_thread);
    let damaged = forged(&case, |sections| {
        change(sections, SectionKind::NODES, |bytes| bytes.fill(0));
    });
    let storage = Arc::new(MemoryStorage::new());
    let salvage = Index::options().salvage_storage(&*damaged.storage, storage.clone()).unwrap();
    assert_eq!((salvage.documents, salvage.lost), (case.rows.len() as u64, 0));
    let outcome = SegmentOutcome::Rebuilt { fields_lost: vec![] };
    assert_eq!(salvage.segments[0].outcome, outcome);
    let index = Index::options().open_storage(storage.clone()).unwrap();
    let case = Case { index, storage, ..case };
    case.verify();
    case.check(2);
    let copy = Arc::new(MemoryStorage::new());
    case.index.copy_to_storage(copy.clone()).unwrap();
    assert!(sections(&case.storage) == sections(&copy));
}
