//! Looking inside an index: the bytes add up, what is listed is what is there, and damage is found.

use std::sync::Arc;
use treepie::storage::{MemoryStorage, Storage};
use treepie::{BadLines, DocId, Document, ErrorKind, Index, LineFormat, Schema};

/// Two segments with lists of every encoding and kind of container.
fn index() -> (Arc<MemoryStorage>, Index) {
    let storage = Arc::new(MemoryStorage::new());
    let index = Index::options().create_in(storage.clone(), Schema::wikipedia_titles());
    let mut writer = index.writer().unwrap();
    let lines: String = (0..70_000)
        .map(|i| {
            format!("all {} n{} {} x{i} ({})\n", ["even", "odd"][i % 2], i % 300, i / 5000, i % 9)
        })
        .collect();
    writer.add_lines(lines.as_bytes(), &LineFormat::wikipedia_titles(), BadLines::Refuse).unwrap();
    writer.commit().unwrap();
    for i in 0..50 {
        writer.add(Document::new().with("title", format!("all n{i}"))).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    let opened = Index::options().open_storage(storage.clone()).unwrap();
    (storage, opened)
}

#[test]
fn every_byte_of_an_index_is_accounted_for() {
    let (storage, index) = index();
    let report = index.inspect().unwrap().storage().unwrap();
    let on_disk: u64 = storage
        .list()
        .unwrap()
        .iter()
        .filter(|entry| entry.name.starts_with("seg-"))
        .map(|entry| storage.open(&entry.name).unwrap().len())
        .sum();
    assert_eq!(report.total, on_disk);
    assert_eq!(report.parts.iter().map(|part| part.bytes).sum::<u64>(), on_disk);
    let count = |part: &str| {
        let parts =
            report.parts.iter().filter(|p| p.part == part && p.field.as_deref() == Some("title"));
        parts.map(|part| part.count).sum::<u64>()
    };
    assert!(count("postings: short lists") > 0);
    assert!(count("postings: array containers") > 0);
    assert!(count("postings: bitmap containers") > 0);
    assert!(count("postings: run containers") > 0);
}

#[test]
fn terms_postings_and_documents_are_those_of_the_snapshot() {
    let (_, index) = index();
    let inspector = index.inspect().unwrap();
    assert_eq!((inspector.documents(), inspector.segments().len()), (70_050, 2));
    let mut terms = vec![];
    inspector
        .for_each_term("title", "n1", |term, documents| {
            terms.push((term.to_string(), documents));
            Ok(terms.len() < 3)
        })
        .unwrap();
    assert_eq!(terms, [("n1".into(), 235), ("n10".into(), 235), ("n100".into(), 233)]);
    let lists = inspector.postings("title", "all", 3).unwrap();
    assert_eq!(
        (lists[0].documents, lists[0].encoding, &lists[0].docs[..]),
        (70_000, "long", &[DocId(0), DocId(1), DocId(2)][..])
    );
    assert_eq!((lists[1].documents, lists[1].encoding, lists[1].docs.len()), (50, "short", 0));
    assert_eq!(inspector.document(DocId(70_001)).unwrap(), [("title".to_owned(), "all n1".into())]);
    assert_eq!(inspector.document(DocId(70_050)).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(inspector.postings("nope", "", 0).unwrap_err().kind(), ErrorKind::Schema);
}

#[test]
fn verification_finds_a_changed_byte_anywhere() {
    let (storage, index) = index();
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
    let entries = storage.list().unwrap();
    let name = &entries.iter().find(|entry| entry.name.starts_with("seg-")).unwrap().name;
    let file = storage.open(name).unwrap();
    let mut bytes = vec![0; file.len() as usize];
    file.read_at(0, &mut bytes).unwrap();
    for at in (64..bytes.len()).step_by(bytes.len() / 37) {
        let damaged = MemoryStorage::new();
        for entry in &entries {
            let whole = storage.open(&entry.name).unwrap();
            let mut copy = vec![0; whole.len() as usize];
            whole.read_at(0, &mut copy).unwrap();
            if entry.name == *name {
                copy[at] ^= 0x10;
            }
            let mut file = damaged.create(&entry.name).unwrap();
            file.write_all(&copy).unwrap();
        }
        let opened = Index::options().open_storage(Arc::new(damaged));
        let Ok(inspector) = opened.and_then(|index| index.inspect()) else { continue };
        let mut found = vec![];
        let report = inspector.verify(|error| found.push(error));
        assert!(!report.is_sound() && !found.is_empty(), "byte {at}");
        assert_eq!(found[0].kind(), ErrorKind::Corrupt, "{}", found[0]);
    }
}
