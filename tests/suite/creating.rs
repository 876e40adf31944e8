//! Indexes before their first document: created, opened or created, overwritten.

use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::thread;
use treepie::storage::{MemoryStorage, Storage};
use treepie::{Document, Error, ErrorKind, Field, FieldKind, Index, Schema};

fn schema() -> Schema {
    Schema::builder().text("title").build().unwrap()
}

fn document() -> Document {
    Document::new().with("title", "Paris")
}

/// A directory that is gone afterwards.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let name = format!("treepie-creating-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        Place(path)
    }

    fn manifests(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.0).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name.starts_with("manifest-")).collect();
        names.sort();
        names
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Everything that can be asked of an index answers, and finds nothing.
#[track_caller]
fn assert_empty(index: &Index) {
    let searcher = index.searcher().unwrap();
    assert_eq!((searcher.n_docs(), searcher.generation(), searcher.payload()), (0, 0, &b""[..]));
    assert_eq!((searcher.schema(), index.schema()), (&schema(), &schema()));
    for query in ["paris", "*", "\"paris texas\"", "par*", "-paris"] {
        let query = searcher.parse(query).unwrap();
        assert_eq!(searcher.count(&query).unwrap(), 0);
        assert!(searcher.search(&query).run().unwrap().hits.is_empty());
        searcher.explain(&query).unwrap();
        searcher.search(&query).analyze().unwrap();
    }
    assert!(searcher.reload().unwrap().is_none());
    let reader = index.reader().unwrap();
    assert_eq!(reader.searcher().n_docs(), 0);
    assert!(!reader.refresh().unwrap());
}

#[test]
fn an_index_is_there_as_soon_as_it_is_created() {
    let place = Place::new("there");
    let created = Index::create(&place.0, schema()).unwrap();
    for index in [created.clone(), Index::open(&place.0).unwrap()] {
        assert_empty(&index);
        assert!(index.disk_usage().unwrap().live > 0);
        let inspector = index.inspect().unwrap();
        assert_eq!((inspector.generation(), inspector.segments().len()), (0, 0));
        assert!(inspector.verify(|error| panic!("{error}")).is_sound());
        assert_empty(&Index::open_bytes(index.to_image().unwrap()).unwrap());
    }
    let copy = Place::new("there-copy");
    created.copy_to(&copy.0).unwrap();
    assert_empty(&Index::open(&copy.0).unwrap());
    assert!(Index::recover(&copy.0).unwrap().nothing_lost());

    // Somebody else adds, and whoever has it open is told.
    let (reader, searcher) = (created.reader().unwrap(), created.searcher().unwrap());
    let mut writer = Index::open(&place.0).unwrap().writer().unwrap();
    writer.add(document()).unwrap();
    let commit = writer.commit().unwrap();
    assert_eq!((commit.generation, commit.documents), (1, 1));
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.searcher().n_docs(), 1);
    assert_eq!(searcher.reload().unwrap().unwrap().n_docs(), 1);
    // What was asked first keeps its answer.
    assert_eq!(searcher.n_docs(), 0);
}

/// Going back to it would lose every document, and count as recovered.
#[test]
fn the_empty_commit_goes_with_the_first_one_that_has_documents() {
    let place = Place::new("goes");
    let index = Index::create(&place.0, schema()).unwrap();
    assert_eq!(place.manifests(), ["manifest-0000000000000000"]);
    let reader = index.reader().unwrap();
    let mut writer = index.writer().unwrap();
    writer.add(document()).unwrap();
    writer.commit().unwrap();
    // A reader that has it open has let go of it, as it was told of the commit.
    drop(reader);
    writer.commit().unwrap();
    assert_eq!(place.manifests(), ["manifest-0000000000000001", "manifest-0000000000000002"]);
    drop(writer);

    // As after a power failure that brought it back.
    let other = Place::new("goes-other");
    Index::create(&other.0, schema()).unwrap();
    let empty = "manifest-0000000000000000";
    let back = || std::fs::copy(other.0.join(empty), place.0.join(empty)).unwrap();
    back();
    for newest in [1, 2] {
        let name = format!("manifest-{newest:016x}");
        std::fs::write(place.0.join(name), "scribble").unwrap();
    }
    let error = Index::recover(&place.0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("salvage"), "{error}");
    let to = Place::new("goes-salvage");
    assert_eq!(Index::salvage(&place.0, &to.0).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(place.manifests().len(), 3, "nothing was touched");
}

#[test]
fn the_first_commit_alone_stays_beside_what_it_took_the_place_of() {
    let storage = Arc::new(MemoryStorage::new());
    let index = Index::options().create_in(storage.clone(), schema()).unwrap();
    let searcher = index.searcher().unwrap();
    let mut writer = index.writer().unwrap();
    writer.commit().unwrap();
    drop(searcher);
    let manifests = || {
        let names = storage.list().unwrap().into_iter().map(|entry| entry.name);
        names.filter(|name| name.starts_with("manifest-")).count()
    };
    drop(writer);
    drop(index.writer().unwrap());
    assert_eq!(manifests(), 1);
}

#[test]
fn of_many_who_create_an_index_at_once_one_does() {
    const N: usize = 8;
    for round in 0..10 {
        let place = Place::new(&format!("at-once-{round}"));
        let memory = Arc::new(MemoryStorage::new());
        let barrier = Barrier::new(N);
        let results: Vec<[Result<Index, Error>; 2]> = thread::scope(|scope| {
            let create = || {
                barrier.wait();
                let in_memory = Index::options().create_in(memory.clone(), schema());
                [Index::create(&place.0, schema()), in_memory]
            };
            let threads: Vec<_> = (0..N).map(|_| scope.spawn(create)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for at in [0, 1] {
            let errors: Vec<_> =
                results.iter().filter_map(|result| result[at].as_ref().err()).collect();
            assert_eq!(errors.len(), N - 1, "{errors:?}");
            for error in errors {
                assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
            }
        }
        assert_empty(&Index::open(&place.0).unwrap());

        let place = Place::new(&format!("either-{round}"));
        let barrier = Barrier::new(N);
        thread::scope(|scope| {
            let open = || {
                barrier.wait();
                assert_empty(&Index::open_or_create(&place.0, schema()).unwrap());
            };
            (0..N).for_each(|_| drop(scope.spawn(open)));
        });
    }
}

#[test]
fn opening_or_creating_names_what_another_schema_differs_in() {
    let builder = || Schema::builder().text("title").keyword("kind");
    let own = builder().build().unwrap();
    let cases = [
        (builder().keyword("more").build().unwrap(), "without the fields 'more'"),
        (Schema::builder().text("title").build().unwrap(), "more fields: 'kind'"),
        (builder().key("id").build().unwrap(), "without the fields 'id'"),
        (
            Schema::builder().text("title").text("kind").build().unwrap(),
            "field 'kind' is keyword, not text",
        ),
        (
            Schema::builder().keyword("kind").text("title").build().unwrap(),
            "field 'title' in the place of 'kind'",
        ),
        (
            Schema::builder()
                .field(Field::new("title", FieldKind::Text).analyzer("english"))
                .keyword("kind")
                .build()
                .unwrap(),
            "field 'title' is another",
        ),
        (builder().nulls().build().unwrap(), "without the fields '_null', '_empty'"),
    ];
    let place = Place::new("differs");
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let in_storage =
        |schema: &Schema| Index::options().open_or_create_in(storage.clone(), schema.clone());
    for round in ["creating", "opening"] {
        assert_eq!(Index::open_or_create(&place.0, own.clone()).unwrap().schema(), &own, "{round}");
        assert_eq!(in_storage(&own).unwrap().schema(), &own, "{round}");
    }
    for (schema, words) in cases {
        for error in [
            Index::open_or_create(&place.0, schema.clone()).unwrap_err(),
            in_storage(&schema).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Schema, "{error}");
            assert!(error.to_string().contains(words), "no {words:?} in {error}");
        }
    }
    // Of an index with documents, too, and what a writer is told is no less.
    let index = Index::open(&place.0).unwrap();
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("title", "Paris")).unwrap();
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(Index::open_or_create(&place.0, own).unwrap().searcher().unwrap().n_docs(), 1);
    assert!(Index::open_or_create(&place.0, schema()).is_err());
}

#[test]
fn nothing_is_made_of_what_is_no_index() {
    let place = Place::new("foreign");
    std::fs::create_dir(&place.0).unwrap();
    std::fs::write(place.0.join("holiday.jpg"), "not an index").unwrap();
    let file = place.0.join("holiday.jpg");
    let missing = place.0.join("a/b");
    let cases = [
        (&place.0, ErrorKind::NotAnIndex),
        (&file, ErrorKind::NotAnIndex),
        (&missing, ErrorKind::NotFound),
    ];
    for (path, kind) in cases {
        assert_eq!(Index::create(path, schema()).unwrap_err().kind(), kind, "{path:?}");
        assert_eq!(Index::open_or_create(path, schema()).unwrap_err().kind(), kind, "{path:?}");
        let overwritten = Index::overwrite(path, schema()).and_then(|index| index.writer());
        assert_eq!(overwritten.unwrap_err().kind(), kind, "{path:?}");
    }
    assert_eq!(std::fs::read_dir(&place.0).unwrap().count(), 1, "nothing was left there");
    // What an interrupted attempt left is taken.
    std::fs::remove_file(&file).unwrap();
    std::fs::write(place.0.join("write.lock"), "1").unwrap();
    std::fs::write(place.0.join(format!(".tmp-{:032x}", 7)), "torn").unwrap();
    assert_empty(&Index::create(&place.0, schema()).unwrap());
    assert_eq!(std::fs::read_dir(&place.0).unwrap().count(), 2, "the lock and the manifest");
}

#[test]
fn an_index_that_overwrites_nothing_is_not_there_before_its_first_commit() {
    let place = Place::new("overwrites-nothing");
    let memory = Arc::new(MemoryStorage::new());
    let of_memory = Index::options().overwrite_in(memory, schema());
    for index in [Index::overwrite(&place.0, schema()).unwrap(), of_memory] {
        assert_empty(&index);
        let reader = index.reader().unwrap();
        let searcher = index.searcher().unwrap();
        let mut writer = index.writer().unwrap();
        writer.add(document()).unwrap();
        writer.flush().unwrap();
        assert_eq!((reader.searcher().n_docs(), index.searcher().unwrap().n_docs()), (1, 0));
        assert!(reader.searcher().reload().unwrap().is_none() && !reader.refresh().unwrap());
        writer.rollback().unwrap();
        assert_eq!(reader.searcher().n_docs(), 0);
        writer.add(document()).unwrap();
        if place.0.exists() && place.manifests().is_empty() {
            assert_eq!(Index::open(&place.0).unwrap_err().kind(), ErrorKind::NotAnIndex);
        }
        assert_eq!(writer.commit().unwrap().generation, 1);
        assert_eq!((reader.searcher().n_docs(), index.searcher().unwrap().n_docs()), (1, 1));
        assert_eq!(searcher.reload().unwrap().unwrap().n_docs(), 1);
    }
    assert_eq!(Index::open(&place.0).unwrap().searcher().unwrap().n_docs(), 1);
}

#[test]
fn an_index_that_is_overwritten_is_searched_until_the_first_commit() {
    for n_docs in [0, 1] {
        let place = Place::new(&format!("overwritten-{n_docs}"));
        let mut writer = Index::create(&place.0, schema()).unwrap().writer().unwrap();
        for _ in 0..n_docs {
            writer.add(document()).unwrap();
            writer.commit().unwrap();
        }
        drop(writer);
        let other = Schema::builder().text("other").build().unwrap();
        let index = Index::overwrite(&place.0, other.clone()).unwrap();
        let reader = index.reader().unwrap();
        let mut writer = index.writer().unwrap();
        for searcher in [index.searcher().unwrap(), reader.searcher()] {
            assert_eq!((searcher.n_docs(), searcher.schema()), (n_docs, &schema()));
        }
        writer.add(Document::new().with("other", "London")).unwrap();
        writer.commit().unwrap();
        for searcher in [index.searcher().unwrap(), reader.searcher()] {
            assert_eq!((searcher.n_docs(), searcher.schema()), (1, &other));
        }
    }
}

#[test]
fn fields_are_added_to_an_index_without_documents() {
    let place = Place::new("fields");
    let mut index = Index::create(&place.0, schema()).unwrap();
    let info = index.add_fields([Field::new("year", FieldKind::I64)]).unwrap();
    assert_eq!((info.generation, info.documents), (1, 0));
    assert_eq!(Index::open(&place.0).unwrap().schema(), index.schema());
    assert_eq!(index.schema().fields().len(), 2);
}
