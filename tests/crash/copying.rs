//! An index is copied while the power fails: the copy is whole or no index at all, and a second attempt makes it whole.

use crate::bugs::{Bug, Buggy};
use crate::disk::{Disk, Promise};
use crate::states::{Dice, NameOrder, for_each};
use std::collections::BTreeSet;
use std::sync::Arc;
use treepie::storage::{MemoryStorage, Storage};
use treepie::{Document, ErrorKind, Index, Result, Schema, WriterOptions};

/// States of each moment that are looked at.
const PER_MOMENT: usize = 60;
/// The commit that is copied, and its documents.
const NEWEST: u64 = 3;
const DOCS: u64 = 8;

/// Two segments, of which one has deletes; their names are the same each time.
fn original() -> (Arc<MemoryStorage>, Index) {
    let storage = Arc::new(MemoryStorage::new());
    let schema = Schema::builder().text("title").key("id").build().unwrap();
    let index = Index::options().create_in(storage.clone(), schema).unwrap();
    let options = WriterOptions::new().threads(1).memory_bytes(16 << 20).reproducible_ids([9; 16]);
    let mut writer = index.writer_with(options).unwrap();
    for ids in [0..5, 5..9, 0..0] {
        for id in ids {
            let title = format!("all number{id}");
            let document = Document::new().with("id", id.to_string()).with("title", title);
            writer.add(document).unwrap();
        }
        writer.set_payload(*b"as far as here").unwrap();
        writer.commit().unwrap();
        writer.delete_key("3").unwrap();
    }
    (storage, index)
}

/// The names of everything but the manifests, which are one in a copy.
fn names(storage: &dyn Storage) -> BTreeSet<String> {
    let names = storage.list().unwrap().into_iter().map(|entry| entry.name);
    names.filter(|name| !name.starts_with("manifest-")).collect()
}

/// Every document of the copy, counted with every byte checked.
fn count(disk: &Disk) -> Result<u64> {
    let index = Index::options().open_storage(Arc::new(disk.clone()))?;
    let mut wrong = None;
    index.inspect()?.verify(|error| {
        wrong.get_or_insert(error);
    });
    wrong.map_or(Ok(()), Err)?;
    let searcher = index.searcher()?;
    assert_eq!((searcher.generation(), searcher.payload()), (NEWEST, &b"as far as here"[..]));
    searcher.count(&searcher.parse("all")?)
}

/// Copies to a disk that may do something wrong, on which an attempt before may have left something; how many states were no
/// index and how many were whole, or what is wrong.
fn fail_while_copying(bug: Option<Bug>, disk: &Disk, order: NameOrder) -> Result<[u64; 2], String> {
    let (storage, index) = original();
    disk.record(Promise::default());
    disk.begin(NEWEST);
    let to: Arc<dyn Storage> = match bug {
        None => Arc::new(disk.clone()),
        Some(bug) => Arc::new(Buggy::new(disk.clone(), bug)),
    };
    assert_eq!(index.copy_to_storage(to).unwrap(), NEWEST);
    disk.acknowledge(NEWEST);
    let (mut found, mut wrong, mut dice) = ([0; 2], None, Dice::new(7));
    for moment in disk.take_moments() {
        for_each(&moment.image, order, PER_MOMENT, &mut dice, |state| {
            let after = Disk::of(state.image());
            let what = || format!("after {}, {:?}", moment.after, state.choices);
            let again = || index.copy_to_storage(Arc::new(after.clone()));
            let is_whole = match count(&after) {
                Ok(DOCS) => true,
                Err(error)
                    if error.kind() == ErrorKind::NotAnIndex
                        && moment.promise.acknowledged == 0 =>
                {
                    false
                }
                other => {
                    wrong.get_or_insert(format!("{}: {other:?}", what()));
                    return;
                }
            };
            found[usize::from(is_whole)] += 1;
            if is_whole {
                assert_eq!(again().unwrap_err().kind(), ErrorKind::AlreadyExists, "{}", what());
            } else {
                assert_eq!(again().unwrap(), NEWEST, "{}", what());
                assert_eq!(count(&after).unwrap(), DOCS, "{}", what());
                assert_eq!(names(&after), names(&*storage), "{}", what());
            }
        });
    }
    wrong.map_or(Ok(found), Err)
}

/// What was left by an attempt whose last files are torn.
fn interrupted() -> Disk {
    let (storage, _) = original();
    let disk = Disk::default();
    for name in names(&*storage).into_iter().chain([format!(".tmp-{:032x}", 1)]) {
        disk.create(&name).unwrap().write_all(b"torn").unwrap();
    }
    disk.sync_names().unwrap();
    disk
}

#[test]
fn a_power_failure_while_copying_leaves_no_index_or_a_whole_one() {
    let mut sums = [0; 2];
    for order in [NameOrder::Journaled, NameOrder::Any] {
        for disk in [Disk::default(), interrupted()] {
            let found = fail_while_copying(None, &disk, order);
            let found = found.unwrap_or_else(|what| panic!("{order:?}: {what}"));
            sums.iter_mut().zip(found).for_each(|(sum, n)| *sum += n);
        }
    }
    println!("{} states without an index, {} whole copies", sums[0], sums[1]);
    assert!(sums[0] > 500 && sums[1] > 15, "{sums:?}");
}

#[test]
fn planted_bugs_of_copying_are_found() {
    let bugs = [
        (Bug::NoSegmentSync, NameOrder::Journaled),
        (Bug::NoManifestSync, NameOrder::Journaled),
        (Bug::NoNameSyncBefore, NameOrder::Any),
        (Bug::NoNameSyncAfter, NameOrder::Journaled),
        (Bug::ManifestInPlace, NameOrder::Journaled),
    ];
    for (bug, order) in bugs {
        let found = fail_while_copying(Some(bug), &Disk::default(), order);
        let what = found.expect_err("a bug that was not found");
        println!("{bug:?}: {what}");
    }
}
