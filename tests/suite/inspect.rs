//! Looking inside an index: the bytes add up, what is listed is what is there, and damage is found.

use std::sync::Arc;
use treepie::schema::Detail;
use treepie::storage::{MemoryStorage, Storage};
use treepie::writer::{BadLines, LineFormat};
use treepie::{DocId, Document, ErrorKind, Field, FieldKind, Index, Schema};

/// Two segments with lists of every encoding and kind of container.
fn index() -> (Arc<MemoryStorage>, Index) {
    let storage = Arc::new(MemoryStorage::new());
    let index = Index::options()
        .create_in(storage.clone(), LineFormat::titles().schema().unwrap())
        .unwrap();
    let mut writer = index.writer().unwrap();
    let lines: String = (0..70_000)
        .map(|i| {
            format!("all {} n{} {} x{i} ({})\n", ["even", "odd"][i % 2], i % 300, i / 5000, i % 9)
        })
        .collect();
    writer.add_lines(lines.as_bytes(), &LineFormat::titles(), BadLines::Refuse).unwrap();
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

#[test]
fn the_terms_with_the_largest_lists_are_found_among_all() {
    let (_, index) = index();
    let inspector = index.inspect().unwrap();
    let mut all = vec![];
    for field in ["title", "qualifier"] {
        inspector
            .for_each_term(field, "", |term, documents| {
                let lists = inspector.postings(field, &term.to_string(), 0)?;
                let bytes: u64 = lists.iter().map(|list| list.bytes).sum();
                if bytes > 0 {
                    all.push((bytes, field.to_owned(), term.to_string(), documents));
                }
                Ok(true)
            })
            .unwrap();
    }
    // Stable, so that those of one size stay in the order of fields and terms.
    all.sort_by_key(|(bytes, ..)| std::cmp::Reverse(*bytes));
    for n in [0, 1, 7, 250, usize::MAX] {
        let top = inspector.top_terms(n).unwrap();
        let found: Vec<_> = top
            .iter()
            .map(|one| (one.bytes, one.field.clone(), one.term.to_string(), one.documents))
            .collect();
        assert_eq!(found, all[..n.min(all.len())], "{n}");
    }
    let every = &inspector.top_terms(1).unwrap()[0].containers;
    assert!(every.bitmap + every.run > 0, "{every:?}");
}

#[test]
fn sections_lie_one_behind_the_other_and_their_parts_in_memory_are_told() {
    let (_, index) = index();
    let inspector = index.inspect().unwrap();
    let sections = inspector.sections();
    for segment in inspector.segments() {
        let mut end = 0;
        for section in sections.iter().filter(|section| section.segment == segment.id) {
            assert!(section.offset >= end, "{section:?}");
            end = section.offset + section.bytes;
            // These files are in memory already.
            let expected = cfg!(target_os = "linux").then_some(section.bytes);
            assert_eq!(section.resident, expected, "{section:?}");
        }
        assert!(0 < end && end < segment.bytes);
    }
    let names: Vec<_> = sections.iter().map(|one| (one.field.as_deref(), one.section)).collect();
    assert!(names.contains(&(Some("title"), "postings")), "{names:?}");
}

#[test]
fn what_positions_take_is_what_an_index_without_them_lacks() {
    let total = |positions: bool| {
        let mut field = Field::new("t", FieldKind::Text);
        field.detail = if positions { Detail::Positions } else { Detail::Frequencies };
        let index = Index::in_memory(Schema::builder().field(field).build().unwrap());
        let mut writer = index.writer().unwrap();
        for n in 0..20_000u32 {
            // Words of every frequency: in each document, in a few and in one, once and several times.
            let text = format!("all all w{} w{} x{n} all y{}", n % 7, n % 900, n / 3);
            writer.add(Document::new().with("t", text)).unwrap();
        }
        writer.commit().unwrap();
        let inspector = index.inspect().unwrap();
        (inspector.storage().unwrap().total, inspector.savings().unwrap())
    };
    let ((with, savings), (without, none)) = (total(true), total(false));
    let [positions] = &savings[..] else { panic!("{savings:?}") };
    assert_eq!((positions.what, positions.field.as_deref()), ("positions", Some("t")));
    let saved = with - without;
    // Lists that are short enough then move into the dictionary, so it is not the same to the byte.
    assert!(
        positions.bytes.abs_diff(saved) < saved / 10,
        "{} told, {saved} saved",
        positions.bytes
    );
    assert_eq!(none, []);
}

#[test]
fn deleted_documents_are_a_saving_until_they_are_merged_away() {
    let index = Index::in_memory(Schema::builder().text("t").keyword("k").build().unwrap());
    let mut writer = index.writer().unwrap();
    for n in 0..1_000 {
        let document = Document::new().with("t", "some words of a document");
        writer.add(document.with("k", if n % 4 == 0 { "a" } else { "b" })).unwrap();
    }
    writer.commit().unwrap();
    writer.delete_value("k", "a").unwrap();
    writer.commit().unwrap();
    let of_deleted = || {
        let inspector = index.inspect().unwrap();
        let savings = inspector.savings().unwrap();
        let saving = savings.iter().find(|saving| saving.what == "deleted documents");
        saving.map(|saving| (saving.bytes, inspector.storage().unwrap().total))
    };
    let (bytes, total) = of_deleted().expect("a quarter is deleted");
    assert!((total / 5..total / 3).contains(&bytes), "{bytes} of {total}");
    writer.merge_to(1).unwrap();
    assert_eq!(of_deleted(), None);
}

#[test]
fn the_page_of_the_storage_carries_what_the_inspector_says_and_hostile_text_stays_data() {
    let index = Index::in_memory(Schema::builder().text("t").keyword("k").build().unwrap());
    let mut writer = index.writer().unwrap();
    for n in 0..300 {
        let document = Document::new().with("t", format!("words of {n}"));
        writer.add(document.with("k", "</script><script>alert(1)</script>")).unwrap();
    }
    writer.commit().unwrap();
    let inspector = index.inspect().unwrap();
    let usage = index.disk_usage().unwrap();
    let html = inspector.storage_html("</script><!--", &usage, 3).unwrap();
    let (_, data) = html.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["title"], "</script><!--");
    assert_eq!(data["documents"], 300);
    assert_eq!(data["total"], inspector.storage().unwrap().total);
    let terms = inspector.top_terms(3).unwrap();
    for (told, term) in data["terms"].as_array().unwrap().iter().zip(&terms) {
        assert_eq!(
            (&told["bytes"], &told["term"]),
            (&term.bytes.into(), &term.term.to_text().into())
        );
    }
    assert_eq!(data["savings"][0]["what"], "positions");
    assert!(!html.contains("alert(1)</") && !html.contains("<!--"), "markup got into the page");
}
