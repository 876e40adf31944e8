//! Accidents: an index of which something has changed answers right or says what is wrong.

use crate::changes::{self, Case, Change, sample};
use crate::golden::{Dice, Files, Parts, golden, manifests, writable};
use crate::guard::{MEMORY_MAX, for_each};
use crate::questions::{Truth, Turn, all_answers, sound};
use crate::{mutations, seed};
use std::sync::Arc;
use treepie::storage::{FsStorage, ReadMode};
use treepie::{ErrorKind, Index, WriterOptions};

/// Bytes changed by `cargo test`.
const SHORT: usize = 1_200;

/// What must come of damage to one file: is the index refused at once, is damage found, or is the file not
/// read at all?
fn judge(files: &Files, truth: &Truth, case: Case<'_>) {
    let newest = manifests(files)[1];
    let seen = truth.check(Parts::mapped(case.apply(files)), case.turn());
    match case.change {
        _ if !truth.is_read(case.file) => assert_eq!(seen, Some(false), "is not read"),
        // Not to be told from an index whose last commit never was.
        Change::Missing if case.file == newest => assert_eq!(seen, Some(false)),
        Change::Missing | Change::Cut(_) | Change::Longer(..) => assert_eq!(seen, None),
        _ if case.file == newest => assert_eq!(seen, None),
        _ => assert_ne!(seen, Some(false), "verification did not see it"),
    }
}

#[test]
fn no_changed_byte_gives_a_wrong_answer_and_verification_sees_it() {
    let (files, truth) = sound();
    let all = changes::bytes(files);
    let cases = sample(&all, mutations(SHORT), seed());
    let seen = for_each(&cases, |case| judge(files, truth, case));
    println!("{} of {} changed bytes, seed {}: {}", cases.len(), all.len(), seed(), seen);
    assert!(all.len() >= 650_000, "{} changes", all.len());
    assert!(seen.peak_bytes * 2 < MEMORY_MAX, "the limit means something: {}", seen.peak_bytes);
}

#[test]
fn no_length_is_taken_for_the_whole() {
    let (files, truth) = sound();
    let cases = changes::cuts(files);
    let seen = for_each(&cases, |case| match truth.is_read(case.file) {
        true => judge(files, truth, case),
        false => drop(Index::options().open_storage(Parts::mapped(case.apply(files))).unwrap()),
    });
    println!("{} lengths: {seen}", cases.len());
}

#[test]
fn no_sector_burst_or_tail_gives_a_wrong_answer() {
    let (files, truth) = sound();
    let all = changes::coarse(files, &mut Dice::new(seed()));
    let cases = sample(&all, mutations(SHORT) / 6, seed());
    let seen = for_each(&cases, |case| judge(files, truth, case));
    println!("{} of {} sectors, bursts and tails: {seen}", cases.len(), all.len());
}

/// A file in the place of another: of the same index, of the commit before, of another index that has
/// files of the same names.
#[test]
fn a_file_in_the_place_of_another_is_never_answered_from() {
    let (files, truth) = sound();
    let other = golden(2);
    let names: Vec<&String> = files.keys().filter(|file| truth.is_read(file)).collect();
    let mut exchanged = 0;
    for name in &names {
        let foreign = other.iter().map(|(from, bytes)| ("the other index", from, bytes));
        let own = files.iter().map(|(from, bytes)| ("this index", from, bytes));
        for (index, from, bytes) in own.chain(foreign) {
            let mut damaged = files.clone();
            damaged.insert((*name).clone(), Arc::clone(bytes));
            if damaged == *files {
                continue;
            }
            exchanged += 1;
            let seen = truth.check(Parts::mapped(damaged), Turn::ALL);
            assert_eq!(seen, None, "{from} of {index} as {name}");
        }
    }
    for (nth, a) in names.iter().enumerate() {
        for b in &names[..nth] {
            let mut damaged = files.clone();
            damaged.insert((*a).clone(), Arc::clone(&files[*b]));
            damaged.insert((*b).clone(), Arc::clone(&files[*a]));
            assert_eq!(
                truth.check(Parts::mapped(damaged), Turn::ALL),
                None,
                "{a} and {b} exchanged"
            );
            exchanged += 1;
        }
    }
    println!("{exchanged} files exchanged");
    let without = files.clone().into_iter().filter(|(name, _)| !name.starts_with("manifest-"));
    let error = Index::options().open_storage(Parts::mapped(without.collect())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotAnIndex);
}

#[test]
fn files_on_disk_are_as_safe_mapped_and_read() {
    let dir = std::env::temp_dir().join(format!("treepie-damage-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    let (files, truth) = sound();
    for (name, bytes) in files {
        std::fs::write(dir.join(name), &**bytes).unwrap();
    }
    let cases = [changes::bytes(files), changes::cuts(files)];
    for case in cases.iter().flat_map(|cases| sample(cases, 20, seed())) {
        let path = dir.join(case.file);
        // A new file each time: a mapped one must not change.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, &**case.apply(files)[case.file]).unwrap();
        let on_disk = [ReadMode::Mmap, ReadMode::Pread]
            .map(|mode| truth.check(Arc::new(FsStorage::open(&dir, mode).unwrap()), Turn::ALL));
        let in_pieces = truth.check(Parts::unmapped(case.apply(files)), Turn::ALL);
        assert_eq!(on_disk, [in_pieces; 2], "{case:?}");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, &**files[case.file]).unwrap();
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_merge_of_damaged_segments_is_refused_or_right() {
    let (files, _) = sound();
    // By a fixed name, so that plans are the same.
    let options = || {
        let options = WriterOptions::new().threads(1).memory_bytes(16 << 20);
        options.reproducible_ids([0x77; 16])
    };
    let merge = |index: &Index| index.writer_with(options()).and_then(|mut writer| writer.merge());
    let merged = Index::options().open_storage(writable(files)).unwrap();
    merge(&merged).unwrap();
    let expected = all_answers(&merged);
    let all = [changes::bytes(files), changes::cuts(files)];
    let cases: Vec<_> =
        all.iter().flat_map(|all| sample(all, mutations(SHORT) / 60, seed())).collect();
    for case in cases {
        let storage = writable(&case.apply(files));
        let Ok(index) = Index::options().open_storage(storage) else { continue };
        match merge(&index) {
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{case:?}: {error}"),
            Ok(_) => {
                assert!(all_answers(&index) == expected, "{case:?}");
                let report = index.inspect().unwrap().verify(|error| panic!("{error}"));
                assert!(report.is_sound());
            }
        }
    }
}
