//! An index of an older format is overwritten while the power fails: all of the old is there, or all of the new.

use crate::disk::{Disk, Promise};
use crate::states::{Dice, NameOrder, for_each};
use std::collections::BTreeMap;
use std::sync::Arc;
use treepie::format::FORMAT_VERSION;
use treepie::storage::Storage;
use treepie::{Document, ErrorKind, Index, Result, Schema, WriterOptions};

/// States of each moment that are looked at.
const PER_MOMENT: usize = 60;

/// Overwrites what is there with documents of these titles.
fn overwrite(disk: &Disk, titles: &[&str]) -> Result<()> {
    let schema = Schema::builder().text("title").build()?;
    let index = Index::options().overwrite_in(Arc::new(disk.clone()), schema);
    let mut writer = index.writer_with(WriterOptions::new().threads(1).memory_bytes(16 << 20))?;
    for title in titles {
        writer.add(Document::new().with("title", *title))?;
    }
    writer.commit().map(drop)
}

/// Manifests and segments with their bytes.
fn files(disk: &Disk) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in disk.list().unwrap() {
        if entry.name.starts_with("manifest-") || entry.name.starts_with("seg-") {
            let file = disk.open(&entry.name).unwrap();
            let mut bytes = vec![0; file.len() as usize];
            file.read_at(0, &mut bytes).unwrap();
            files.insert(entry.name, bytes);
        }
    }
    files
}

/// An index of two commits as a build with the format before would have left it.
fn aged() -> Disk {
    let disk = Disk::default();
    overwrite(&disk, &["old"]).unwrap();
    overwrite(&disk, &["old", "older"]).unwrap();
    for (name, mut bytes) in files(&disk) {
        bytes[10..12].copy_from_slice(&(FORMAT_VERSION.0 - 1).to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..60]).to_le_bytes();
        bytes[60..64].copy_from_slice(&crc);
        disk.delete(&name).unwrap();
        let mut file = disk.create(&name).unwrap();
        file.write_all(&bytes).unwrap();
        file.sync().unwrap();
    }
    disk.sync_names().unwrap();
    disk
}

/// How many documents have a word; the error if the index cannot be opened.
fn count(disk: &Disk, word: &str) -> Result<u64> {
    let searcher = Index::options().open_storage(Arc::new(disk.clone()))?.searcher()?;
    searcher.count(&searcher.parse(word)?)
}

#[test]
fn a_power_failure_while_an_older_format_is_overwritten_leaves_the_old_or_the_new() {
    let disk = aged();
    let old = files(&disk);
    assert_eq!(count(&disk, "old").unwrap_err().kind(), ErrorKind::UnsupportedVersion);
    disk.record(Promise::default());
    disk.begin(3);
    overwrite(&disk, &["new"]).unwrap();
    disk.acknowledge(3);
    let (mut n_old, mut n_new) = (0, 0);
    let mut dice = Dice::new(3);
    for moment in disk.take_moments() {
        for order in [NameOrder::Journaled, NameOrder::Any] {
            for_each(&moment.image, order, PER_MOMENT, &mut dice, |state| {
                let after = Disk::of(state.image());
                let what = format!("after {}, {:?}", moment.after, state.choices);
                match count(&after, "new") {
                    Ok(n) => {
                        assert_eq!(n, 1, "{what}");
                        n_new += 1;
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::UnsupportedVersion, "{what}: {error}");
                        assert_eq!(moment.promise.acknowledged, 0, "{what}");
                        let left = files(&after);
                        assert!(
                            old.iter().all(|(name, bytes)| left.get(name) == Some(bytes)),
                            "{what}"
                        );
                        n_old += 1;
                    }
                }
                // It goes on from there, and the next writer leaves nothing of what came before.
                overwrite(&after, &["newer", "newest"])
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                overwrite(&after, &["newest"]).unwrap();
                assert_eq!(count(&after, "newest").unwrap(), 1, "{what}");
                assert_eq!(files(&after).len(), 4, "{what}: {:?}", files(&after).keys());
            });
        }
    }
    assert!(n_old > 500 && n_new > 30, "{n_old} old, {n_new} new");
}
