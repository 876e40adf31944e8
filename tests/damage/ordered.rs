//! An index whose segments lie in the order of fields, and to which a field was added: what only such a manifest says.

use crate::changes::{self, Case, Change, sample};
use crate::golden::{Files, Parts, files_in, manifests, writable};
use crate::guard::for_each;
use crate::seals::reseal;
use crate::{mutations, seed};
use std::sync::{Arc, OnceLock};
use treepie::query::Query;
use treepie::storage::MemoryStorage;
use treepie::{
    After, Document, ErrorKind, Field, FieldKind, Index, Schema, SortKey, WriterOptions,
};

/// Changes tried by `cargo test`.
const SHORT: usize = 600;

fn options() -> WriterOptions {
    WriterOptions::new().threads(1).memory_bytes(16 << 20)
}

/// Two segments, one of them made before the last field was added, and deletes.
fn ordered() -> &'static Files {
    static ORDERED: OnceLock<Files> = OnceLock::new();
    ORDERED.get_or_init(|| {
        let kind = Field::new("kind", FieldKind::Keyword).column(true);
        let rank = Field::new("rank", FieldKind::I64);
        let schema = Schema::builder().text("title").field(kind).field(rank).key("id");
        let schema = schema.order_by(["rank", "-kind"]).build().unwrap();
        let storage = Arc::new(MemoryStorage::new());
        let mut index = Index::options().create_in(storage.clone(), schema).unwrap();
        let document = |n: i64| {
            let document = Document::new().with("title", format!("all n{}", n % 9));
            let document = document.with("id", n.to_string()).with("kind", format!("k{}", n % 4));
            if n % 5 == 0 { document } else { document.with("rank", n * 7_919 % 60 - 30) }
        };
        let mut writer = index.writer_with(options().reproducible_ids([5; 16])).unwrap();
        (0..300).for_each(|n| writer.add(document(n)).unwrap());
        writer.commit().unwrap();
        drop(writer);
        index.add_fields([Field::new("stock", FieldKind::U64)]).unwrap();
        let mut writer = index.writer_with(options().reproducible_ids([6; 16])).unwrap();
        (290..340).for_each(|n| writer.add(document(n).with("stock", n)).unwrap());
        writer.commit().unwrap();
        files_in(&*storage)
    })
}

fn newest() -> &'static str {
    manifests(ordered())[1]
}

/// Asks and writes what depends on the order.
fn survive(files: Files) {
    let storage = writable(&files);
    let to = Arc::new(MemoryStorage::new());
    let _ = Index::options().salvage_storage(&*Parts::mapped(files.clone()), to);
    let Ok(index) = Index::options().open_storage(Parts::mapped(files)) else { return };
    if let (Ok(searcher), Ok(inspector)) = (index.searcher(), index.inspect()) {
        for keys in ["rank", "rank,kind:desc", "rank,stock", "kind", "stock"] {
            let keys = SortKey::list(keys).unwrap();
            let by = |query: &Query| searcher.search(query).sort(keys.clone()).limit(5).run();
            for query in [Query::All, Query::word_in("title", "n3"), Query::exists("stock")] {
                let Ok(page) = by(&query) else { continue };
                let Some(last) = page.hits.last() else { continue };
                let next = searcher.search(&query).sort(keys.clone()).limit(5);
                let _ = next.after(After::values(last.sort.clone(), last.doc)).run();
            }
        }
        inspector.verify(drop);
    }
    let Ok(index) = Index::options().open_storage(storage) else { return };
    if let Ok(mut writer) = index.writer_with(options()) {
        let _ = writer.add(Document::new().with("id", "7").with("rank", 3));
        let _ = writer.commit();
        let _ = writer.merge();
    }
}

/// The files of the newest commit.
fn of_newest() -> Files {
    let old = manifests(ordered())[0];
    ordered().clone().into_iter().filter(|(name, _)| name != old).collect()
}

#[test]
fn no_changed_byte_of_its_manifest_is_believed() {
    let files: Files = of_newest().into_iter().filter(|(name, _)| *name == newest()).collect();
    let cases = changes::bytes(&files);
    for_each(&sample(&cases, mutations(SHORT), seed()), |case| {
        let Case { file, .. } = case;
        let index = Index::options().open_storage(Parts::mapped(case.apply(&of_newest())));
        let error = index.and_then(|index| index.searcher()).err();
        let error = error.unwrap_or_else(|| panic!("{file} was believed"));
        assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::UnsupportedVersion));
    });
}

#[test]
fn no_crafted_byte_of_it_does_harm() {
    let files = of_newest();
    survive(files.clone());
    // The numbers of documents are where memory would be taken for more than there are.
    let n_docs = [128 + 28, 128 + 40 + 28].map(|at| at..at + 4);
    let is_number = |case: &Case<'_>| match case.change {
        Change::Byte { at, .. } => n_docs.iter().any(|bytes| bytes.contains(&at)),
        _ => false,
    };
    let (of_manifest, others): (Vec<_>, Vec<_>) =
        changes::bytes(&files).into_iter().partition(|case| case.file == newest());
    let numbers: Vec<_> = of_manifest.iter().copied().filter(is_number).collect();
    let mut cases = sample(&numbers, mutations(SHORT) / 4, seed());
    cases.extend(sample(&of_manifest, mutations(SHORT) / 2, seed()));
    cases.extend(sample(&others, mutations(SHORT) / 2, seed()));
    for_each(&cases, |case| {
        let mut crafted = case.apply(&files);
        reseal(&mut crafted, case.file);
        survive(crafted);
    });
}

/// What is told of segments that do not lie as they should, by whoever looks at all of it.
#[test]
fn a_schema_of_another_order_is_no_reason_to_believe_it() {
    let files = of_newest();
    let verify = |files: &Files| {
        let index = Index::options().open_storage(Parts::mapped(files.clone())).unwrap();
        let mut errors = vec![];
        index.inspect().unwrap().verify(|error| errors.push(error.to_string()));
        errors
    };
    assert!(verify(&files).is_empty());
    // Behind the directions of two fields there is a payload of nothing, and the checksum.
    let directions = [("rank", 4 + 4), ("-kind", 4 + 1)];
    for (field, from_end) in directions {
        let mut crafted = files.clone();
        let mut bytes = files[newest()].to_vec();
        let at = bytes.len() - from_end;
        assert_eq!(bytes[at], field.starts_with('-').into());
        bytes[at] ^= 1;
        crafted.insert(newest().to_owned(), Arc::new(bytes));
        reseal(&mut crafted, newest());
        let errors = verify(&crafted);
        assert_eq!(errors.len(), 2, "{errors:?}");
        let told = |error: &String| error.contains("checking the order of the documents");
        assert!(errors.iter().all(told), "{errors:?}");
        // Answers come of it, and what is merged lies in the other order.
        survive(crafted.clone());
        let index = Index::options().open_storage(writable(&crafted)).unwrap();
        index.writer_with(options()).unwrap().merge().unwrap();
        assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
    }
}
