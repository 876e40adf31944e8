//! Indexes on disk and in memory: what is built, opened and refused.

use super::*;
use crate::document::Document;
use crate::ids::FieldId;
use crate::storage::MemoryStorage;
use crate::writer::{BadLines, LineFormat};

fn titles(n: u32) -> String {
    (0..n)
        .map(|i| {
            format!("Title_{}_number_{i}_({})\n", i % 97, ["film", "album", "book"][i as usize % 3])
        })
        .collect()
}

/// The bytes of the one segment that a build leaves.
fn build(input: &str, options: WriterOptions) -> Vec<u8> {
    let storage = Arc::new(MemoryStorage::new());
    let index = Index::options().create_in(storage.clone(), Schema::of_titles()).unwrap();
    let mut writer = index.writer_with(options.reproducible_ids([7; 16])).unwrap();
    writer.add_lines(input.as_bytes(), &LineFormat::titles(), BadLines::Refuse).unwrap();
    writer.commit().unwrap();
    let entries = storage.list().unwrap();
    let segments: Vec<_> = entries.iter().filter(|entry| entry.name.starts_with("seg-")).collect();
    assert_eq!(segments.len(), 1, "{entries:?}");
    assert!(!entries.iter().any(|entry| entry.name.starts_with(".run-")), "{entries:?}");
    let file = storage.open(&segments[0].name).unwrap();
    let mut bytes = vec![0; file.len() as usize];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn the_same_lines_give_the_same_bytes_whatever_the_threads_and_the_memory() {
    let input = titles(300_000);
    let whole = build(&input, WriterOptions::new().threads(1));
    let spilled = build(&input, WriterOptions::new().threads(1).memory_bytes(16 << 20));
    let parallel = build(&input, WriterOptions::new().threads(3).memory_bytes(17 << 20));
    assert!(whole == spilled, "memory shows in the bytes");
    assert!(whole == parallel, "threads show in the bytes");
}

#[test]
fn lines_and_documents_and_merges_give_the_same_answers() {
    let storage = Arc::new(MemoryStorage::new());
    let index = Index::options().create_in(storage.clone(), Schema::of_titles()).unwrap();
    let mut writer = index.writer().unwrap();
    writer
        .add_lines("Paris_(film)\nRome\n".as_bytes(), &LineFormat::titles(), BadLines::Refuse)
        .unwrap();
    writer.add(Document::new().with("title", "Oslo\n(film)").with("qualifier", "film")).unwrap();
    writer.add(Document::new()).unwrap();
    let commit = writer.commit().unwrap();
    assert_eq!((commit.documents, commit.segments), (4, 1));
    for _ in 0..5 {
        writer.add(Document::new().with("title", "Rome again").with("qualifier", "")).unwrap();
    }
    let commit = writer.commit().unwrap();
    assert_eq!((commit.documents, commit.added, commit.segments), (9, 5, 2));
    drop(writer);
    let check = |bases: &[u32]| {
        let snapshot = Snapshot::open(&*storage).unwrap();
        let docs = |field: u16, term: &str| {
            let mut all = vec![];
            for (segment, base) in snapshot.readers().zip(bases) {
                let field = segment.field(FieldId(field));
                if let Some(info) = field.terms().unwrap().get(term.as_bytes()).unwrap() {
                    let mut docs = vec![];
                    field
                        .postings(&info)
                        .unwrap()
                        .decode_into(segment.n_docs(), &mut docs)
                        .unwrap();
                    all.extend(docs.iter().map(|doc| doc + base));
                }
            }
            all
        };
        assert_eq!(docs(0, "rome"), [1, 4, 5, 6, 7, 8]);
        assert_eq!(docs(0, "film"), [0, 2]);
        assert_eq!(docs(1, "film"), [0, 2]);
        assert_eq!(docs(1, ""), [4, 5, 6, 7, 8]);
        let stored: Vec<_> = snapshot
            .readers()
            .flat_map(|s| (0..s.n_docs()).map(move |doc| s.stored(doc).unwrap()))
            .collect();
        assert_eq!(stored[0], [(FieldId(0), "Paris (film)".into())]);
        assert_eq!(stored[2], [(FieldId(0), "Oslo\n(film)".into())]);
        assert!(stored[3].is_empty());
        let statistics: Vec<_> = snapshot.readers().map(|s| s.statistics().unwrap()).collect();
        let sum = |of: fn(&crate::format::statistics::FieldStatistics) -> u64, field: usize| {
            statistics.iter().map(|s| of(&s.fields[field])).sum::<u64>()
        };
        assert_eq!((sum(|f| f.n_tokens, 0), sum(|f| f.n_tokens, 1)), (15, 7));
        assert_eq!(
            (sum(|f| f.n_docs_with_value.into(), 0), sum(|f| f.n_docs_with_value.into(), 1)),
            (8, 7)
        );
        assert_eq!(sum(|f| f.n_docs_with_empty_value.into(), 1), 5);
    };
    check(&[0, 4]);
    let merged = index.merge().unwrap();
    assert_eq!((merged.documents, merged.segments), (9, 1));
    check(&[0]);
}

#[test]
fn an_index_is_neither_made_twice_nor_replaced_before_the_commit() {
    let storage = Arc::new(MemoryStorage::new());
    let create = || Index::options().create_in(storage.clone(), Schema::of_titles());
    let index = create().unwrap();
    let mut writer = index.writer().unwrap();
    assert_eq!(index.writer().unwrap_err().kind(), ErrorKind::Locked);
    assert_eq!(create().unwrap_err().kind(), ErrorKind::AlreadyExists);
    writer.add(Document::new().with("title", "one")).unwrap();
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(create().unwrap_err().kind(), ErrorKind::AlreadyExists);
    let other = Schema::builder().text("other").build().unwrap();
    let mut writer = Index::options().overwrite_in(storage.clone(), other).writer().unwrap();
    assert_eq!(Snapshot::open(&*storage).unwrap().manifest.n_docs(), 1);
    let commit = writer.commit().unwrap();
    assert_eq!((commit.documents, commit.segments), (0, 0));
    assert!(Snapshot::open(&*storage).unwrap().manifest.schema.field("other").is_some());
}

#[test]
fn a_bad_line_leaves_the_index_as_it_was_and_the_writer_useless() {
    let storage = Arc::new(MemoryStorage::new());
    let index = Index::options().create_in(storage, Schema::of_titles()).unwrap();
    let mut writer = index.writer().unwrap();
    let format = LineFormat::titles();
    let error = writer.add_lines(&b"fine\nb\xFFd\n"[..], &format, BadLines::Refuse).unwrap_err();
    assert_eq!((error.kind(), error.line()), (ErrorKind::Document, Some(2)));
    assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::Poisoned);
}
