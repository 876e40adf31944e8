//! Tests of frequencies, lengths and positions in built and merged segments, against the documents' words.

use crate::analysis::Analyzers;
use crate::document::Document;
use crate::format::envelope::SectionKind;
use crate::format::lengths::length_of;
use crate::format::ranked::{Place, RankedList};
use crate::format::{FileName, lengths};
use crate::ids::{FieldId, SegmentId};
use crate::limits::Limits;
use crate::schema::{Detail, Field, FieldKind, Schema};
use crate::segment::builder::BuiltSegment;
use crate::segment::file::SegmentFile;
use crate::segment::reader::SegmentReader;
use crate::segment::verify;
use crate::storage::{MemoryStorage, Storage};
use crate::writer::batch::{Batch, DocumentBatch};
use crate::writer::merge_segments::{self, GraphMemory, Reordering};
use crate::writer::pipeline::{Pipeline, Resources};
use std::collections::BTreeMap;
use std::sync::Arc;

/// By term, then by document: positions.
type Postings = BTreeMap<String, BTreeMap<u32, Vec<u32>>>;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % n
    }
}

/// Texts with words in as many documents as the limits of encodings, and with words that are repeated.
fn texts(n_docs: u32) -> Vec<String> {
    let mut random = Random(11);
    let mut texts = vec![];
    for doc in 0..n_docs {
        let mut words = vec![];
        for _ in 0..random.below(30) {
            let n_ranks = 1 << random.below(12);
            let rank = random.below(n_ranks);
            words.push(format!("r{rank}"));
        }
        words.push(format!("own{doc}"));
        for df in [4, 5, 255, 256, 257] {
            if doc % (n_docs / df) == 1 && doc / (n_docs / df) < df {
                words.extend((0..=random.below(3)).map(|_| format!("df{df}")));
            }
        }
        if doc % 700 == 3 {
            words.extend((0..200).map(|_| "seldom".to_owned()));
        }
        if doc % 10 != 9 {
            words.push("common".to_owned());
        }
        if doc % 50 == 0 {
            words.clear();
        }
        texts.push(words.join(" "));
    }
    texts
}

fn postings(texts: &[String]) -> Postings {
    let mut postings = Postings::new();
    for (doc, text) in (0..).zip(texts) {
        for (position, word) in (0..).zip(text.split_whitespace()) {
            let by_doc = postings.entry(word.to_owned()).or_default();
            by_doc.entry(doc).or_default().push(position);
        }
    }
    postings
}

fn schema(detail: Detail) -> Schema {
    let text = Field::new("text", FieldKind::Text).detail(detail);
    Schema::builder().field(text).build().unwrap()
}

fn build(
    schema: &Schema,
    documents: impl IntoIterator<Item = Document>,
    storage: &Arc<dyn Storage>,
    id: u8,
) -> BuiltSegment {
    let resources = Resources { memory_bytes: 16 << 20, pool: None, observer: Arc::default() };
    let (schema, analyzers) = (Arc::new(schema.clone()), Arc::new(Analyzers::default()));
    let id = SegmentId([id; 16]);
    let mut pipeline =
        Pipeline::new(schema.clone(), analyzers, storage.clone(), id, resources).unwrap();
    let mut batch = DocumentBatch::default();
    for (doc, document) in (0..).zip(documents) {
        batch.add(&document, doc, &schema, &Limits::DEFAULT).unwrap();
    }
    batch.seal();
    pipeline.submit(Batch::Documents(batch)).unwrap();
    pipeline.finish(|_| ()).unwrap()
}

fn documents(texts: &[String]) -> impl Iterator<Item = Document> {
    texts.iter().map(|text| Document::new().with("text", text.as_str()))
}

fn open(storage: &dyn Storage, segment: &BuiltSegment) -> SegmentFile {
    let file = storage.open(&FileName::Segment(segment.id).to_string()).unwrap();
    SegmentFile::open(file, Some((segment.id, segment.seal))).unwrap()
}

fn check(segment: SegmentReader<'_>, detail: Detail, texts: &[String]) {
    let n_damaged = verify::verify(segment, |error| panic!("{error}"));
    assert_eq!(n_damaged, 0);
    let field = segment.field(FieldId(0));
    match field.lengths().unwrap() {
        Some(lengths) => {
            assert!(detail.has_frequencies());
            for (doc, text) in (0..).zip(texts) {
                let n_words = text.split_whitespace().count() as u32;
                let length = length_of(lengths.code(doc).unwrap());
                assert_eq!(length, length_of(lengths::code_of(n_words)));
            }
        }
        None => assert_eq!(detail, Detail::Documents),
    }
    let expected = postings(texts);
    let mut stream = field.terms().unwrap().iter();
    let mut n_terms = 0;
    while let Some((term, _, info)) = stream.next().unwrap() {
        n_terms += 1;
        let by_doc = &expected[std::str::from_utf8(term).unwrap()];
        let mut docs = vec![];
        field.postings(&info).unwrap().decode_into(segment.n_docs(), &mut docs).unwrap();
        assert!(docs.iter().eq(by_doc.keys()));
        if detail == Detail::Documents {
            assert!(field.ranked(&info).is_err());
            continue;
        }
        let mut found = vec![];
        match field.ranked(&info).unwrap() {
            RankedList::Short(list) => {
                assert_eq!(list.docs(), docs);
                for (nth, positions) in by_doc.values().enumerate() {
                    assert_eq!(list.frequencies()[nth] as usize, positions.len());
                    let read = list.positions(nth, &mut found);
                    assert_eq!(read.is_some(), detail.has_positions());
                    assert!(read.is_none() || found == *positions);
                }
                assert!(list.positions(docs.len(), &mut found).is_none());
            }
            RankedList::Long(list) => {
                let (mut reader, mut place) = (list.reader(), Place::default());
                for (rank, positions) in (0..).zip(by_doc.values()) {
                    let frequency = list.frequencies().get(rank).unwrap();
                    assert_eq!(frequency as usize, positions.len());
                    if let Some(reader) = &mut reader {
                        reader.place(rank, &mut place).unwrap();
                        reader.positions(&place, u32::MAX, &mut found).unwrap();
                        assert_eq!(found, *positions);
                    }
                }
            }
        }
    }
    assert_eq!(n_terms, expected.len());
}

#[test]
fn built_and_merged_segments_say_where_every_word_stands() {
    let texts = texts(2_100);
    for detail in [Detail::Documents, Detail::Frequencies, Detail::Positions] {
        let schema = schema(detail);
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let whole = build(&schema, documents(&texts), &storage, 1);
        let whole_file = open(&*storage, &whole);
        check(SegmentReader::new(&whole_file, &schema, whole.n_docs), detail, &texts);

        let parts: Vec<_> = (2..)
            .zip([&texts[..700], &texts[700..701], &texts[701..]])
            .map(|(id, texts)| build(&schema, documents(texts), &storage, id))
            .collect();
        let files: Vec<_> = parts.iter().map(|part| open(&*storage, part)).collect();
        let readers: Vec<_> = (files.iter().zip(&parts))
            .map(|(file, part)| SegmentReader::new(file, &schema, part.n_docs))
            .collect();
        let id = SegmentId([9; 16]);
        let graphs = GraphMemory { bytes: 1 << 20, pool: None };
        let reordering = Reordering { room: 1 << 20, similarity: None, graphs };
        let merged =
            merge_segments::merge(&readers, &schema, storage.clone(), id, reordering, |_| ());
        let merged = merged.unwrap().built;
        let merged_file = open(&*storage, &merged);
        check(SegmentReader::new(&merged_file, &schema, merged.n_docs), detail, &texts);

        // Equal documents make the same bytes, in one build or in several.
        let bytes = |file: &SegmentFile, kind| {
            file.section(Some(FieldId(0)), kind).map(|section| {
                use crate::bytes::Source;
                section.bytes(0..section.len()).unwrap().to_vec()
            })
        };
        for kind in [SectionKind::TERMS, SectionKind::POSTINGS, SectionKind::LENGTHS] {
            let (of_whole, of_merged) = (bytes(&whole_file, kind), bytes(&merged_file, kind));
            assert!(of_whole == of_merged, "{} of {detail:?}", kind.name());
            let kept = kind != SectionKind::LENGTHS || detail.has_frequencies();
            assert_eq!(of_whole.is_some(), kept);
        }
    }
}

#[test]
fn several_values_follow_each_other_behind_gaps_and_left_out_words_leave_gaps() {
    let many = |analyzer: &str, gap| {
        Field::new("text", FieldKind::Text).many(true).analyzer(analyzer).position_gap(gap)
    };
    let values = ["the cat of the house", "", "cat and house"];
    let document =
        values.iter().fold(Document::new(), |document, value| document.with("text", *value));
    let positions = |analyzer: &str, gap: u16, term: &str| {
        let schema = Schema::builder().field(many(analyzer, gap)).build().unwrap();
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let built = build(&schema, [document.clone(), document.clone()], &storage, 1);
        let file = open(&*storage, &built);
        let segment = SegmentReader::new(&file, &schema, built.n_docs);
        assert_eq!(verify::verify(segment, |error| panic!("{error}")), 0);
        let field = segment.field(FieldId(0));
        let n_words = if analyzer == "default" { 8 } else { 4 };
        let lengths = field.lengths().unwrap().unwrap();
        assert_eq!(lengths.code(0).unwrap(), lengths::code_of(n_words), "gaps are no words");
        let info = field.terms().unwrap().get(term.as_bytes()).unwrap().unwrap();
        let RankedList::Short(list) = field.ranked(&info).unwrap() else { panic!("two documents") };
        let mut found = [vec![], vec![]];
        found.iter_mut().enumerate().for_each(|(nth, found)| list.positions(nth, found).unwrap());
        assert_eq!(found[0], found[1]);
        found[0].clone()
    };
    for (gap, place) in [(0, 0), (100, 100), (3, 3)] {
        for analyzer in ["default", "words|lower|stop:en"] {
            assert_eq!(positions(analyzer, gap, "cat"), [1, 5 + place]);
            assert_eq!(positions(analyzer, gap, "house"), [4, 7 + place]);
        }
    }
}
