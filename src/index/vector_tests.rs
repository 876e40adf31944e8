//! Tests of vectors in segments against those that documents were given.

use crate::document::Document;
use crate::index::Index;
use crate::schema::{Field, FieldKind, Metric, Schema, VectorParams, VectorValues};
use crate::segment::snapshot::Snapshot;
use crate::segment::verify;
use crate::storage::{MemoryStorage, Storage};
use crate::value;
use crate::writer::{IndexWriter, MergePolicy, WriterOptions};
use std::collections::BTreeMap;
use std::sync::Arc;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % n
    }

    /// Numbers that a field keeps as they are, of which the first is not small.
    fn vector_of(&mut self, dims: u16, values: VectorValues) -> Vec<f32> {
        let numbers = self.vector(dims);
        match values {
            VectorValues::F16 => {
                numbers.into_iter().map(|it| half::f16::from_f32(it % 1e4).to_f32()).collect()
            }
            VectorValues::I8 => (0..dims).map(|_| self.below(128) as f32 - 128.0).collect(),
            VectorValues::Bits => {
                numbers.into_iter().map(|it| f32::from(u8::from(it > 0.3))).collect()
            }
            _ => numbers,
        }
    }

    /// Numbers of all sizes, subnormal ones and zeros of both signs too, of which the first is not small.
    fn vector(&mut self, dims: u16) -> Vec<f32> {
        let number = |random: &mut Self| match random.below(12) {
            0 => f32::from_bits(random.below(1 << 20) as u32),
            1 => -0.0,
            2 => -(random.below(1 << 30) as f32) * 1e6,
            _ => (random.below(2_001) as f32 - 1_000.0) / 777.0,
        };
        let first = 0.5 + self.below(1_000) as f32;
        std::iter::once(first).chain((1..dims).map(|_| number(self))).collect()
    }
}

const ONE: VectorParams = VectorParams::new(7, Metric::Cosine);
const MANY: VectorParams = VectorParams::new(3, Metric::L2);
const LATE: VectorParams = VectorParams::new(2, Metric::Dot);

fn schema(order: bool, values: VectorValues) -> Schema {
    let schema = Schema::builder()
        .text("title")
        .field(Field::new("one", FieldKind::Vector(ONE.values(values))))
        .field(Field::new("rank", FieldKind::I64))
        .field(Field::new("many", FieldKind::Vector(MANY.values(values))).many(true).stored(false))
        .key("id");
    let schema = if order { schema.order_by(["rank"]) } else { schema };
    schema.build().unwrap()
}

/// By field: the vectors of a document.
type Given = BTreeMap<&'static str, Vec<Vec<f32>>>;

/// A document with some vectors, or none.
fn document(
    id: &str,
    has_late: bool,
    values: VectorValues,
    random: &mut Random,
) -> (Document, Given) {
    let mut document = Document::new().with("id", id).with("rank", random.below(1_000) as i64);
    let mut given = Given::new();
    let fields = [("one", 2, ONE), ("many", 4, MANY), ("late", 2, LATE)];
    for (name, below, params) in fields.into_iter().take(if has_late { 3 } else { 2 }) {
        let vectors: Vec<_> =
            (0..random.below(below)).map(|_| random.vector_of(params.dims, values)).collect();
        for vector in &vectors {
            document.push(name, &vector[..]);
        }
        if !vectors.is_empty() {
            given.insert(name, vectors);
        }
    }
    (document, given)
}

/// Compares all vectors with those that were given, to the bit, and what sets of documents say of them.
fn check(storage: &dyn Storage, given: &BTreeMap<String, Given>) {
    let snapshot = Snapshot::open(storage).unwrap();
    let mut found = BTreeMap::new();
    for segment in snapshot.readers() {
        let n_damaged = verify::verify(segment, |error| panic!("{error}"));
        assert_eq!(n_damaged, 0);
        let mut of_docs: BTreeMap<u32, Given> = BTreeMap::new();
        for field in segment.fields_apart() {
            let name = &*segment.schema().get(field).name;
            let name = ["one", "many", "late"].into_iter().find(|it| *it == name).unwrap();
            let reader = segment.field(field);
            let vectors = reader.vectors().unwrap().unwrap();
            let mut with = vec![];
            let read = |doc: u32, row: &[u8]| {
                let row = value::numbers_of_row(vectors.params(), row);
                of_docs.entry(doc).or_default().entry(name).or_default().push(row);
                with.push(doc);
                Ok(())
            };
            vectors.for_each(read).unwrap();
            with.dedup();
            let mut present = vec![];
            reader.presence().unwrap().decode_into(segment.n_docs(), &mut present).unwrap();
            assert_eq!(with, present);
            assert_eq!(reader.statistics().unwrap().n_docs_with_value as usize, with.len());
        }
        for doc in (0..segment.n_docs()).filter(|doc| !segment.is_deleted(*doc).unwrap()) {
            let values = segment.document(doc).unwrap();
            let key = segment.schema().key_id().unwrap();
            let id = values.iter().find(|(field, _)| *field == key).unwrap().1.to_text();
            let id = id.into_owned();
            let of_doc = of_docs.remove(&doc).unwrap_or_default();
            // Read by its number, it has these too.
            let vectors = values.iter().filter_map(|(_, value)| value.as_vector());
            let by_field = of_doc.iter().collect::<BTreeMap<_, _>>();
            let mut in_order: Vec<_> = by_field.into_iter().collect();
            in_order.sort_by_key(|(name, _)| segment.schema().field_id(name));
            assert!(vectors.eq(in_order.into_iter().flat_map(|(_, rows)| rows)), "{id}");
            assert!(found.insert(id, bits(&of_doc)).is_none());
        }
    }
    let expected: BTreeMap<_, _> = given.iter().map(|(id, of)| (id.clone(), bits(of))).collect();
    assert_eq!(found, expected);
}

/// Numbers as bits, which tell zeros apart.
fn bits(given: &Given) -> BTreeMap<&'static str, Vec<Vec<u32>>> {
    let of_rows = |rows: &Vec<Vec<f32>>| {
        rows.iter().map(|row| row.iter().map(|number| number.to_bits()).collect()).collect()
    };
    given.iter().map(|(name, rows)| (*name, of_rows(rows))).collect()
}

fn changes(order: bool, values: VectorValues, options: impl Fn() -> WriterOptions) {
    let storage = Arc::new(MemoryStorage::new());
    let mut index = Index::options().create_in(storage.clone(), schema(order, values)).unwrap();
    let mut random = Random(3 + u64::from(order));
    let mut given = BTreeMap::new();
    let mut has_late = false;
    for round in 0..12 {
        let mut writer = index.writer_with(options()).unwrap();
        for _ in 0..random.below(120) {
            // Half of them take the place of others.
            let id = format!("d{}", random.below(300));
            let (document, of_document) = document(&id, has_late, values, &mut random);
            writer.add(document).unwrap();
            given.insert(id, of_document);
        }
        for _ in 0..random.below(12) {
            let id = format!("d{}", random.below(300));
            writer.delete_key(&*id).unwrap();
            given.remove(&id);
        }
        update(&mut writer, &mut given, values, &mut random);
        writer.commit().unwrap();
        check(&*storage, &given);
        match round {
            3 | 10 => drop(writer.merge().unwrap()),
            6 => drop(writer.maintain().unwrap()),
            _ => {}
        }
        drop(writer);
        if round == 5 {
            index.add_fields([Field::new("late", FieldKind::Vector(LATE.values(values)))]).unwrap();
            has_late = true;
        }
        check(&*storage, &given);
    }
    assert!(given.len() > 100);
}

/// Changes the titles of some documents, which keep their vectors, or gives one another vector.
fn update(
    writer: &mut IndexWriter,
    given: &mut BTreeMap<String, Given>,
    values: VectorValues,
    random: &mut Random,
) {
    let ids: Vec<String> = given.keys().cloned().collect();
    for id in ids.iter().filter(|_| random.below(20) == 0).collect::<Vec<_>>() {
        let vector = (random.below(2) == 0).then(|| random.vector_of(ONE.dims, values));
        let changed = writer.update(&**id, |document| {
            document.set("title", "changed");
            if let Some(vector) = &vector {
                document.set("one", &vector[..]);
            }
        });
        assert!(changed.unwrap());
        if let Some(vector) = vector {
            given.get_mut(id).unwrap().insert("one", vec![vector]);
        }
    }
}

#[test]
fn every_document_keeps_its_vectors_whatever_happens_to_others() {
    for (nth, values) in VectorValues::ALL.into_iter().enumerate() {
        let (order, other) = (nth % 2 == 0, nth % 2 == 1);
        changes(order, values, || WriterOptions::new().threads(2));
        let policy = || MergePolicy::default().factor(2);
        changes(other, values, || WriterOptions::new().threads(1).merge_policy(policy()));
    }
}

/// Bytes of the only segment of an index with more vectors than there is memory for, if that is little.
fn build(order: bool, options: WriterOptions) -> Vec<u8> {
    // Tests of graphs say the same of these.
    let params = VectorParams::new(512, Metric::Dot).graph(false);
    let mut schema = Schema::builder()
        .field(Field::new("v", FieldKind::Vector(params)).many(true))
        .field(Field::new("rank", FieldKind::I64));
    if order {
        schema = schema.order_by(["rank"]);
    }
    let storage = Arc::new(MemoryStorage::new());
    let index = Index::options().create_in(storage.clone(), schema.build().unwrap()).unwrap();
    let mut writer = index.writer_with(options.reproducible_ids([4; 16])).unwrap();
    let mut random = Random(1);
    let mut n_spilled = 0;
    for nth in 0..9_000u32 {
        let mut document = Document::new().with("rank", i64::from(nth * 7_919 % 9_001));
        for _ in 0..nth % 4 {
            let first = random.below(1 << 20) as f32;
            let numbers: Vec<f32> = (0..512).map(|n| first + n as f32).collect();
            document.push("v", numbers);
        }
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    for entry in storage.list().unwrap() {
        n_spilled += usize::from(entry.name.starts_with(".run-"));
    }
    assert_eq!(n_spilled, 0, "runs are cleared away");
    let snapshot = Snapshot::open(&*storage).unwrap();
    let mut segments = snapshot.readers();
    let segment = segments.next().unwrap();
    assert!(segments.next().is_none());
    assert_eq!(verify::verify(segment, |error| panic!("{error}")), 0);
    let file = storage.open(segment.file().path().to_str().unwrap()).unwrap();
    let mut bytes = vec![0; file.len() as usize];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn bytes_depend_on_neither_threads_nor_memory() {
    for order in [false, true] {
        let whole = build(order, WriterOptions::new().threads(1));
        assert!(whole.len() > 25 << 20);
        let spilled = build(order, WriterOptions::new().threads(1).memory_bytes(16 << 20));
        let parallel = build(order, WriterOptions::new().threads(3).memory_bytes(17 << 20));
        assert!(whole == spilled, "memory shows in the bytes");
        assert!(whole == parallel, "threads show in the bytes");
    }
}

#[test]
fn merged_vectors_are_those_of_one_build() {
    let storage = Arc::new(MemoryStorage::new());
    let schema = || {
        let params = VectorParams::new(2, Metric::Cosine);
        Schema::builder().vector("v", params).build().unwrap()
    };
    let other = Arc::new(MemoryStorage::new());
    let [whole, parts] = [&storage, &other]
        .map(|storage| Index::options().create_in(storage.clone(), schema()).unwrap());
    let [mut one, mut many] = [&whole, &parts].map(|index| index.writer().unwrap());
    for nth in 0..500u32 {
        let mut document = Document::new();
        if !nth.is_multiple_of(3) {
            document.push("v", [1.0, nth as f32]);
        }
        one.add(document.clone()).unwrap();
        many.add(document).unwrap();
        if nth.is_multiple_of(200) {
            many.commit().unwrap();
        }
    }
    one.commit().unwrap();
    many.commit().unwrap();
    many.merge().unwrap();
    let rows = |storage: &dyn Storage| {
        let snapshot = Snapshot::open(storage).unwrap();
        assert_eq!(snapshot.readers().len(), 1);
        let segment = snapshot.readers().next().unwrap();
        let vectors = segment.field(crate::ids::FieldId(0)).vectors().unwrap().unwrap();
        let all = 0..vectors.n_vectors();
        (vectors.rows(all.clone()).unwrap().to_vec(), vectors.docs(all).unwrap().to_vec())
    };
    assert!(rows(&*storage) == rows(&*other));
    assert_eq!(rows(&*storage).1.len(), 333 * 4);
}
