//! An index is created while the power fails: it is there without documents or not at all, and a second attempt makes it.

use crate::bugs::{Bug, Buggy};
use crate::disk::{Disk, Fault, How, Promise, Reach};
use crate::states::{Dice, NameOrder, for_each};
use std::io;
use std::sync::Arc;
use treepie::error::CommitOutcome;
use treepie::storage::Storage;
use treepie::{Document, ErrorKind, Index, Result, Schema, WriterOptions};

/// States of each moment that are looked at.
const PER_MOMENT: usize = 60;

fn schema() -> Schema {
    Schema::builder().text("title").build().unwrap()
}

fn open(disk: &Disk) -> Result<Index> {
    Index::options().open_storage(Arc::new(disk.clone()))
}

fn create(disk: &Disk) -> Result<Index> {
    Index::options().create_in(Arc::new(disk.clone()), schema())
}

/// Whether there is an index, which has no documents then.
fn is_there(disk: &Disk) -> Result<bool, String> {
    match open(disk).and_then(|index| index.searcher()) {
        Ok(searcher) if searcher.n_docs() == 0 && searcher.schema() == &schema() => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotAnIndex => Ok(false),
        other => Err(format!("{other:?}")),
    }
}

/// What comes next on a disk after a failure: the index is created or opened, and written to.
fn go_on(disk: &Disk, is_there: bool, what: &str) {
    match create(disk) {
        Ok(_) => assert!(!is_there, "{what}: created twice"),
        Err(error) => {
            assert!(is_there, "{what}: {error}");
            assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{what}: {error}");
        }
    }
    let index = open(disk).unwrap_or_else(|error| panic!("{what}: {error}"));
    let options = WriterOptions::new().threads(1).memory_bytes(16 << 20);
    let mut writer = index.writer_with(options).unwrap();
    writer.add(Document::new().with("title", "all")).unwrap();
    assert_eq!(writer.commit().unwrap().generation, 1, "{what}");
    drop(writer);
    assert_eq!(index.searcher().unwrap().n_docs(), 1, "{what}");
    let names: Vec<_> = disk.image().visible.keys().cloned().collect();
    assert_eq!(names.len(), 2, "{what}: a manifest and a segment, {names:?}");
}

/// How many states have no index and how many have one, or what is wrong.
fn fail_while_creating(bug: Option<Bug>, order: NameOrder) -> Result<[u64; 2], String> {
    let disk = Disk::default();
    disk.record(Promise::default());
    let storage: Arc<dyn Storage> = match bug {
        None => Arc::new(disk.clone()),
        Some(bug) => Arc::new(Buggy::new(disk.clone(), bug)),
    };
    Index::options().create_in(storage, schema()).unwrap();
    // The number of the commit is 0, as that of none: what was promised is that there is one.
    disk.acknowledge(1);
    let (mut found, mut wrong, mut dice) = ([0; 2], None, Dice::new(7));
    for moment in disk.take_moments() {
        for_each(&moment.image, order, PER_MOMENT, &mut dice, |state| {
            let after = Disk::of(state.image());
            let what = format!("after {}, {:?}", moment.after, state.choices);
            match is_there(&after) {
                Ok(false) if moment.promise.acknowledged > 0 => {
                    wrong.get_or_insert(format!("{what}: lost"));
                }
                Ok(is_there) => {
                    found[usize::from(is_there)] += 1;
                    go_on(&after, is_there, &what);
                }
                Err(error) => {
                    wrong.get_or_insert(format!("{what}: {error}"));
                }
            }
        });
    }
    wrong.map_or(Ok(found), Err)
}

#[test]
fn a_power_failure_while_creating_leaves_no_index_or_an_empty_one() {
    let mut sums = [0; 2];
    for order in [NameOrder::Journaled, NameOrder::Any] {
        let found = fail_while_creating(None, order);
        let found = found.unwrap_or_else(|what| panic!("{order:?}: {what}"));
        sums.iter_mut().zip(found).for_each(|(sum, n)| *sum += n);
    }
    println!("{} states without an index, {} with an empty one", sums[0], sums[1]);
    assert!(sums[0] > 10 && sums[1] > 4, "{sums:?}");
}

#[test]
fn planted_bugs_of_creating_are_found() {
    let bugs = [
        (Bug::NoManifestSync, NameOrder::Journaled),
        (Bug::NoNameSyncAfter, NameOrder::Journaled),
        (Bug::ManifestInPlace, NameOrder::Journaled),
    ];
    for (bug, order) in bugs {
        let what = fail_while_creating(Some(bug), order).expect_err("a bug that was not found");
        println!("{bug:?}: {what}");
    }
}

/// Whatever call fails, and however: it is said, nothing is half there, and a second attempt is possible.
#[test]
fn creating_fails_whole_or_not_at_all() {
    let n_calls = {
        let disk = Disk::default();
        create(&disk).unwrap();
        disk.calls().len()
    };
    let mut n_unknown = 0;
    for call in 0..n_calls {
        for how in [
            How::Fails(io::ErrorKind::StorageFull),
            How::Lies(io::ErrorKind::Other),
            How::Torn(io::ErrorKind::Other),
            How::DropsPages(io::ErrorKind::Other),
        ] {
            for reach in [Reach::Once, Reach::Everything] {
                let disk = Disk::default();
                disk.set_fault(Some(Fault { call, how, reach }), Promise::default());
                let created = create(&disk);
                let what = format!("call {call}, {how:?}, {reach:?}: {created:?}");
                disk.set_fault(None, Promise::default());
                let is_there = is_there(&disk).unwrap_or_else(|error| panic!("{what}: {error}"));
                match created {
                    Ok(_) => assert!(is_there, "{what}"),
                    Err(error) if error.commit_outcome() == Some(CommitOutcome::Unknown) => {
                        n_unknown += 1;
                    }
                    Err(_) => assert!(!is_there, "{what}"),
                }
                go_on(&disk, is_there, &what);
            }
        }
    }
    assert!(n_unknown > 0);
}
