//! Malice: changed bytes with right checksums. Answers may be wrong then; nothing may panic, abort, go on
//! for ever, or take memory out of proportion.

use crate::changes::{self, Case, sample};
use crate::golden::{Dice, Files, Parts, files_in, in_use, manifests, writable};
use crate::guard::for_each;
use crate::questions::{Turn, ask, look, sound};
use crate::seals::reseal;
use crate::{mutations, seed};
use std::sync::Arc;
use treepie::storage::MemoryStorage;
use treepie::{Document, ErrorKind, Index, Result, WriterOptions};

/// Changes tried by `cargo test`.
const SHORT: usize = 600;

/// Opens files with right checksums, asks everything and looks at everything.
fn survive(files: Files, turn: Turn) {
    let Ok(index) = Index::options().open_storage(Parts::mapped(files)) else { return };
    // What it says may be wrong now; that it says something is enough.
    let (Ok(searcher), Ok(inspector)) = (index.searcher(), index.inspect()) else { return };
    ask(&searcher, turn, |_, _, answer| drop(answer));
    look(&inspector, turn, |_, _, answer| drop(answer));
    drop(inspector.segments());
    inspector.verify(drop);
}

/// Changes an index of such files in every way there is, and goes back and rebuilds it. An error may come of each, and
/// nothing of what came before it may be missing after.
fn survive_writing(files: &Files) {
    let storage = writable(files);
    let write = |work: fn(&mut treepie::IndexWriter) -> Result<()>| -> Result<()> {
        let options = WriterOptions::new().threads(1).memory_bytes(16 << 20);
        let index = Index::options().open_storage(storage.clone())?;
        work(&mut index.writer_with(options)?)
    };
    let ways: [fn(&mut treepie::IndexWriter) -> Result<()>; 4] = [
        |writer| writer.delete_value("kind", "k1").and_then(|()| writer.commit().map(drop)),
        |writer| {
            writer.delete(&treepie::query::Query::word_in("title", "even"))?;
            writer.add(Document::new().with("title", "new").with("code", "c00060"))?;
            writer.commit().map(drop)
        },
        |writer| writer.maintain().map(drop),
        |writer| writer.merge().map(drop),
    ];
    for way in ways {
        let _ = write(way);
    }
    let _ = Index::options().recover_storage(writable(files));
    let _ = Index::options()
        .salvage_storage(&*Parts::mapped(files.clone()), Arc::new(MemoryStorage::new()));
}

fn crafted(case: Case<'_>, files: &Files) -> Files {
    let mut files = case.apply(files);
    reseal(&mut files, case.file);
    files
}

#[test]
fn no_crafted_byte_does_harm() {
    let (files, truth) = sound();
    let read: Files = files.clone().into_iter().filter(|(file, _)| truth.is_read(file)).collect();
    let all = changes::bytes(&read);
    let cases = sample(&all, mutations(SHORT), seed());
    let seen = for_each(&cases, |case| survive(crafted(case, &read), case.turn()));
    println!("{} of {} crafted bytes, seed {}: {seen}", cases.len(), all.len(), seed());
}

#[test]
fn no_crafted_sector_burst_or_length_does_harm() {
    let (files, _) = sound();
    let all = [changes::coarse(files, &mut Dice::new(seed())), changes::cuts(files)];
    let cases: Vec<_> =
        all.iter().flat_map(|all| sample(all, mutations(SHORT) / 6, seed())).collect();
    let seen = for_each(&cases, |case| survive(crafted(case, files), case.turn()));
    println!("{} crafted sectors, bursts and lengths: {seen}", cases.len());
}

#[test]
fn no_crafted_byte_does_harm_to_whoever_writes() {
    let (files, truth) = sound();
    let read: Files = files.clone().into_iter().filter(|(file, _)| truth.is_read(file)).collect();
    let all = changes::bytes(&read);
    let of_deletes: Vec<_> =
        all.iter().filter(|case| case.file.starts_with("del-")).copied().collect();
    let mut cases = sample(&all, mutations(SHORT) / 6, seed());
    cases.extend(sample(&of_deletes, mutations(SHORT) / 12, seed()));
    let seen = for_each(&cases, |case| survive_writing(&crafted(case, files)));
    println!("{} of {} crafted bytes, seed {}: {seen}", cases.len(), all.len(), seed());
}

/// A document that is deleted twice would leave fewer numbers than documents, and two of them the same.
#[test]
fn deletes_that_are_fewer_than_they_say_are_not_merged() {
    let (files, _) = sound();
    let index = Index::options().open_storage(Parts::mapped(files.clone())).unwrap();
    let mut n_tried = 0;
    for segment in index.inspect().unwrap().segments() {
        let Some(path) = segment.deletes_path else { continue };
        let name = path.to_str().unwrap();
        let bytes = &files[name];
        // A list of arrays: its cookie, the number of containers, keys and lengths, offsets, values.
        let list = bytes.windows(4).position(|four| four == 12_346u32.to_le_bytes());
        let Some(list) = list else { continue };
        let n = u32::from_le_bytes(bytes[list + 4..list + 8].try_into().unwrap()) as usize;
        let values = list + 8 + 8 * n;
        let mut bytes = bytes.to_vec();
        bytes.copy_within(values..values + 2, values + 2);
        let mut crafted = files.clone();
        crafted.insert(name.to_owned(), Arc::new(bytes));
        reseal(&mut crafted, name);
        let storage = writable(&crafted);
        let index = Index::options().open_storage(storage.clone()).unwrap();
        let error = index.writer().unwrap().merge().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        let after = files_in(&*storage);
        let kept = in_use(files).into_iter().all(|name| after.get(&name) == crafted.get(&name));
        assert!(kept, "something was collected");
        n_tried += 1;
    }
    assert!(n_tried > 0, "no deletes are an array");
}

/// Each of these is seen by one check alone, and hardly by chance.
#[test]
fn contradictions_are_refused_though_their_checksums_are_right() {
    let (files, _) = sound();
    let newest = manifests(files)[1];
    let segment = files.keys().rfind(|name| name.starts_with("seg-")).unwrap();
    let refused = |file: &str, what: &str, how: fn(&mut Vec<u8>)| {
        let mut crafted = files.clone();
        let mut bytes = files[file].to_vec();
        how(&mut bytes);
        crafted.insert(file.to_owned(), Arc::new(bytes));
        reseal(&mut crafted, file);
        let index = Index::options().open_storage(Parts::mapped(crafted));
        let opened = index.and_then(|index| index.searcher());
        let Err(error) = opened else { panic!("{file} with {what} was opened") };
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{file} with {what}: {error}");
    };
    for file in [newest, segment] {
        refused(file, "another magic", |bytes| bytes[1] = b'X');
        refused(file, "another kind", |bytes| bytes[8] ^= 7);
    }
    refused(segment, "another id", |bytes| bytes[30] ^= 1);
    refused(newest, "another length", |bytes| bytes[64] ^= 1);
    refused(newest, "another generation", |bytes| bytes[72] ^= 1);
    refused(newest, "bytes behind its payload", |bytes| {
        let at = bytes.len() - 4;
        bytes.splice(at..at, [0; 8]);
        let len = bytes.len() as u64;
        bytes[64..72].copy_from_slice(&len.to_le_bytes());
    });
    refused(newest, "bytes behind its schema", |bytes| {
        // The first of the payload becomes the last of the schema.
        bytes[120] += 1;
        bytes[124] -= 1;
    });
    refused(newest, "a segment twice", |bytes| bytes.copy_within(128..144, 168));
    refused(segment, "another length", |bytes| {
        let footer = bytes.len() - 64;
        bytes[footer] ^= 1;
    });
}
