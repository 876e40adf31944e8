//! An index is recovered while the power fails: it is as damaged as before or recovered, nothing of what was damaged is
//! gone, and to recover again does what is left.

use crate::disk::{Disk, Promise};
use crate::states::{Dice, NameOrder, for_each};
use std::collections::BTreeMap;
use std::sync::Arc;
use treepie::storage::Storage;
use treepie::{Document, ErrorKind, Index, Result, Schema, WriterOptions};

/// States of each moment that are looked at.
const PER_MOMENT: usize = 60;

fn index(disk: &Disk) -> Result<Index> {
    Index::options().open_storage(Arc::new(disk.clone()))
}

fn add_and_commit(index: &Index, title: &str) -> Result<u64> {
    let mut writer = index.writer_with(WriterOptions::new().threads(1).memory_bytes(16 << 20))?;
    writer.add(Document::new().with("title", title))?;
    Ok(writer.commit()?.generation)
}

fn files(disk: &Disk) -> BTreeMap<String, Vec<u8>> {
    let read = |name: &str| {
        let file = disk.open(name).unwrap();
        let mut bytes = vec![0; file.len() as usize];
        file.read_at(0, &mut bytes).unwrap();
        bytes
    };
    disk.list().unwrap().into_iter().map(|entry| (entry.name.clone(), read(&entry.name))).collect()
}

/// Three commits of a document each, and the file of the last one whose name begins so has a wrong byte.
fn damaged(prefix: &str) -> Disk {
    let disk = Disk::default();
    let schema = Schema::builder().text("title").build().unwrap();
    let index = Index::options().create_in(Arc::new(disk.clone()), schema).unwrap();
    add_and_commit(&index, "all one").unwrap();
    add_and_commit(&index, "all two").unwrap();
    let before = files(&disk);
    add_and_commit(&index, "all three").unwrap();
    let after = files(&disk);
    let is_new = |name: &&String| name.starts_with(prefix) && !before.contains_key(*name);
    let name = after.keys().find(is_new).unwrap();
    let mut bytes = after[name].clone();
    bytes[100] ^= 4;
    disk.delete(name).unwrap();
    let mut file = disk.create(name).unwrap();
    file.write_all(&bytes).unwrap();
    file.sync().unwrap();
    disk.sync_names().unwrap();
    disk
}

/// Every document, counted with every byte checked.
fn count(disk: &Disk) -> Result<u64> {
    let index = index(disk)?;
    let mut wrong = None;
    index.inspect()?.verify(|error| {
        wrong.get_or_insert(error);
    });
    wrong.map_or(Ok(()), Err)?;
    let searcher = index.searcher()?;
    searcher.count(&searcher.parse("all")?)
}

fn assert_all_kept(before: &BTreeMap<String, Vec<u8>>, disk: &Disk, what: &str) {
    let after = files(disk);
    for (name, bytes) in before.iter().filter(|(name, _)| *name != "write.lock") {
        let is_it = |(other, found): (&String, &Vec<u8>)| found == bytes && other.ends_with(name);
        assert!(after.iter().any(is_it), "{what}: {name} is gone");
    }
}

#[test]
fn a_power_failure_while_recovering_leaves_the_damage_or_the_whole_commit() {
    let (mut n_damaged, mut n_recovered) = (0, 0);
    for prefix in ["manifest-", "seg-"] {
        let disk = damaged(prefix);
        let before = files(&disk);
        assert_eq!(count(&disk).unwrap_err().kind(), ErrorKind::Corrupt);
        disk.record(Promise::default());
        disk.begin(4);
        let recovery = Index::options().recover_storage(Arc::new(disk.clone())).unwrap();
        assert_eq!((recovery.whole, recovery.published), (2, Some(4)));
        disk.acknowledge(4);
        let mut dice = Dice::new(5);
        for moment in disk.take_moments() {
            for order in [NameOrder::Journaled, NameOrder::Any] {
                for_each(&moment.image, order, PER_MOMENT, &mut dice, |state| {
                    let after = Disk::of(state.image());
                    let what = format!("after {}, {:?}", moment.after, state.choices);
                    match count(&after) {
                        Ok(n) => {
                            assert_eq!(n, 2, "{what}");
                            n_recovered += 1;
                        }
                        Err(error) => {
                            assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
                            assert_eq!(moment.promise.acknowledged, 0, "{what}");
                            n_damaged += 1;
                        }
                    }
                    assert_all_kept(&before, &after, &what);
                    let again = Index::options().recover_storage(Arc::new(after.clone()));
                    let again = again.unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert_eq!(again.documents, 2, "{what}");
                    assert_all_kept(&before, &after, &what);
                    // Writers find nothing in their way, and nothing that was set aside is theirs to delete.
                    let index = index(&after).unwrap();
                    for title in ["all four", "all five", "all six"] {
                        add_and_commit(&index, title).unwrap();
                    }
                    assert_eq!(count(&after).unwrap(), 5, "{what}");
                    let left = files(&after);
                    let manifests = left.keys().filter(|name| name.starts_with("manifest-"));
                    assert_eq!(manifests.count(), 2, "{what}: {:?}", left.keys());
                    let aside = left.keys().filter(|name| name.starts_with("damaged-"));
                    assert!(aside.count() >= 2, "{what}: {:?}", left.keys());
                });
            }
        }
    }
    println!("{n_damaged} states as damaged as before, {n_recovered} recovered");
    assert!(n_damaged > 200 && n_recovered > 50, "{n_damaged} damaged, {n_recovered} recovered");
}
