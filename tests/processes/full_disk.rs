//! Disks that are full: a file system in memory that is made 4 KiB larger each time until all fits, and an `ext4` whose
//! own disk has no room, so that writes succeed and the sync fails.
//!
//! Root only, with `mount`; the second with `mkfs.ext4` and loop devices.

use crate::content::{check, create, noise, steps_of, take_step};
use crate::place::{Place, long_or, names, skip};
use crate::process::Parent;
use crate::sandbox::{can_mount, mounted};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use treepie::error::CommitOutcome;
use treepie::storage::WriteMode;
use treepie::{
    Document, Error, ErrorKind, Field, FieldKind, Index, IndexWriter, Result, Schema, WriterOptions,
};

/// The smallest disk, and by how much the next one is larger.
const DISK_MIN: u64 = 64 << 10;
const DISK_STEP: u64 = 4 << 10;
/// More than is ever needed.
const DISK_ENOUGH: u64 = 16 << 20;
/// Steps before the disk gets small, and after.
const OLD: u64 = 3;
const NEW: u64 = 150;

/// Fills ever larger disks; the file system is mounted at the place. Says what was seen.
pub(crate) fn fill(parent: &Parent) {
    let (disk, index) = (&parent.place, parent.place.join("index.tp"));
    let (mut kinds, mut n, mut size) = (BTreeMap::<_, u64>::new(), 0, DISK_MIN);
    loop {
        resize(disk, DISK_ENOUGH);
        let _ = fs::remove_dir_all(&index);
        create(&index);
        let mode = [WriteMode::Auto, WriteMode::FileIo, WriteMode::Direct][n % 3];
        let opened = Index::options().write_mode(mode).open(&index).unwrap();
        steps(&mut writer(&opened), 1, OLD, &mut 0).unwrap();
        resize(disk, size);

        let mut writing = writer(&opened);
        let mut acknowledged = OLD;
        let Err(error) = steps(&mut writing, OLD + 1, NEW, &mut acknowledged) else { break };
        let what = format!("{size} bytes, {mode:?}: {error}");
        assert_eq!(error.kind(), ErrorKind::NoSpace, "{what}");
        *kinds.entry(format!("{:?}", error.commit_outcome())).or_default() += 1;
        match (error.commit_outcome(), writing.commit()) {
            // A merge that finds no room costs nothing.
            (Some(CommitOutcome::Committed), Ok(_)) => {}
            (_, Err(again)) => {
                assert_eq!(again.kind(), ErrorKind::Poisoned, "{what}, then {again}")
            }
            (outcome, Ok(_)) => panic!("{what}, {outcome:?}, and the writer goes on"),
        }
        // Reading takes no room.
        let found = sound_step(&index).unwrap_or_else(|found| panic!("{what}: {found}"));
        let may_be = error.commit_outcome() == Some(CommitOutcome::Unknown);
        assert!(found == acknowledged || (may_be && found > acknowledged), "{what}: {found}");

        resize(disk, DISK_ENOUGH);
        if n % 2 == 0 {
            writing.rollback().unwrap();
        } else {
            drop(writing);
            writing = writer(&opened);
        }
        steps(&mut writing, found + 1, NEW, &mut acknowledged).unwrap();
        assert_eq!(sound_step(&index), Ok(NEW), "{what}, then with room");
        writing.commit().unwrap();
        let left = names(&index);
        assert!(left.iter().all(|name| !name.starts_with('.')), "{what}: {left:?}");
        (n, size) = (n + 1, size + DISK_STEP);
    }
    assert_eq!(sound_step(&index), Ok(NEW));
    parent.say(format!("{n} disks, {size} bytes were enough; {kinds:?}"));
    assert!(n >= 20, "{n} disks");
}

fn writer(index: &Index) -> IndexWriter {
    index.writer_with(WriterOptions::new().threads(1)).unwrap()
}

/// Takes the steps from `first` to `last`: most of them as one commit, the last ones one by one, then merges.
fn steps(
    writer: &mut IndexWriter,
    first: u64,
    last: u64,
    acknowledged: &mut u64,
) -> Result<(), Error> {
    let together = first.max(last - last.min(8));
    for step in first..=last {
        take_step(writer, step)?;
        if step >= together {
            writer.commit()?;
            *acknowledged = step;
        }
    }
    writer.merge().map(drop)
}

/// The step of the newest commit, sound in every byte.
fn sound_step(index: &Path) -> Result<u64, String> {
    let told = |error: Error| error.to_string();
    let index = Index::open(index).map_err(told)?;
    let mut damage = vec![];
    index.inspect().map_err(told)?.verify(|error| damage.push(told(error)));
    match damage.pop() {
        Some(error) => Err(error),
        None => check(&index.searcher().map_err(told)?),
    }
}

fn resize(disk: &Path, bytes: u64) {
    let options = format!("remount,size={bytes}");
    let ran = Command::new("mount").args(["-o", &options]).arg(disk).output().unwrap();
    assert!(ran.status.success(), "{options}: {}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_full_file_system_loses_nothing_and_with_room_it_goes_on() {
    let place = Place::new("full");
    let mount = format!("mount -t tmpfs -o size={DISK_ENOUGH} tmpfs \"$PLACE\"");
    if !can_mount(&mount, place.path()) {
        return skip("full file systems", "mounting is not possible");
    }
    let (said, status) = mounted(&mount, "filler", place.path()).wait();
    assert!(status.success(), "{said:?}, {status}");
    println!("{}", said.join(" "));
}

/// Rounds, each on a disk of another size: of the short form, and the most there are.
const ROUNDS: u64 = 1;
const ROUNDS_MAX: u64 = 12;
/// Commits that are more than any of these disks takes.
const COMMITS: u64 = 200;

/// Writes to an `ext4` in a file that has no room to grow to its size, until something fails; gives the file room, and
/// mounts it again as after a restart. What was acknowledged must be there then, each byte of it.
pub(crate) fn lose_syncs(parent: &Parent) {
    let place = &parent.place;
    for round in 0..rounds() {
        let mode = [WriteMode::Auto, WriteMode::FileIo, WriteMode::Direct][round as usize % 3];
        let image = "truncate -s 128M t/image && mkfs.ext4 -q -F -E nodiscard t/image";
        let size = 24 + 4 * round;
        run(place, &format!("mount -t tmpfs -o size={size}m tmpfs t && {image}"));
        run(place, "mount -o loop t/image m");
        let (acknowledged, begun, error) = until_it_fails(&place.join("m"), mode);
        run(place, "umount m && mount -o remount,size=200m t && mount -o loop t/image m");
        let index = Index::options().write_mode(mode).open(place.join("m/index.tp")).unwrap();
        let found = texts_of(&index);
        let what =
            format!("{size} MiB, {mode:?}, {error}: {acknowledged} to {begun}, found {found}");
        assert!((acknowledged..=begun).contains(&found), "{what}");
        commit_text(&mut writer(&index), found).unwrap();
        assert_eq!(texts_of(&index), found + 1, "{what}");
        drop(index);
        run(place, "umount m && umount t");
        parent.say(what);
    }
}

/// Commits a text at a time until that fails, and then tries again; how many were acknowledged and how many begun.
fn until_it_fails(disk: &Path, mode: WriteMode) -> (u64, u64, Error) {
    let mut text = Field::new("text", FieldKind::Text);
    text.stored = true;
    let schema = Schema::builder().field(text).build().unwrap();
    let index = Index::options().write_mode(mode).create(disk.join("index.tp"), schema).unwrap();
    let mut writing = writer(&index);
    let mut acknowledged = 0;
    let error = loop {
        assert!(acknowledged < COMMITS, "nothing fails");
        match commit_text(&mut writing, acknowledged) {
            Ok(()) => acknowledged += 1,
            Err(error) => break error,
        }
        if let Err(error) = writing.maintain() {
            break error;
        }
    };
    let mut begun = acknowledged + 1;
    assert!(matches!(error.kind(), ErrorKind::Io | ErrorKind::NoSpace), "{error}");
    // Whatever succeeds from here on counts as well.
    for _ in 0..3 {
        if writing.rollback().is_ok() {
            let found = steps_of(&index).unwrap();
            begun = begun.max(found + 1);
            if commit_text(&mut writing, found).is_ok() {
                acknowledged = found + 1;
            }
        }
    }
    (acknowledged, begun, error)
}

/// Some 700 KB that no compression makes smaller.
fn incompressible(n: u64) -> String {
    let words = (0..50_000).map(|nth| format!("{:x}", noise(n << 32 | nth)));
    // One token, too long for any dictionary, so that it is stored and no more.
    format!("{} text{n}", words.collect::<String>())
}

fn commit_text(writer: &mut IndexWriter, n: u64) -> Result<(), Error> {
    writer.add(Document::new().with("text", incompressible(n)))?;
    writer.set_payload((n + 1).to_le_bytes()).unwrap();
    writer.commit().map(drop)
}

/// How many texts there are, each of which is what it was.
fn texts_of(index: &Index) -> u64 {
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
    let searcher = index.searcher().unwrap();
    let docs = searcher.documents().map(Result::unwrap);
    let texts = docs.map(|doc| searcher.document(doc).unwrap()["text"].to_string());
    let n = texts.enumerate().map(|(n, text)| assert!(text == incompressible(n as u64))).count();
    assert_eq!(steps_of(index).unwrap(), n as u64);
    n as u64
}

fn run(place: &Path, script: &str) {
    let ran = Command::new("sh").args(["-c", script]).current_dir(place).output().unwrap();
    assert!(ran.status.success(), "{script}: {}", String::from_utf8_lossy(&ran.stderr));
}

fn rounds() -> u64 {
    long_or("TREEPIE_PROCESSES_SYNCS", ROUNDS).min(ROUNDS_MAX)
}

#[test]
fn a_file_system_whose_sync_fails_loses_nothing_that_was_acknowledged() {
    let place = Place::new("syncs");
    let image =
        "mkdir t m && truncate -s 8M t/image && mkfs.ext4 -q -F t/image && mount -o loop t/image m";
    if !can_mount(&format!("cd \"$PLACE\" && {image}"), place.path()) {
        return skip("failing syncs", "it takes mkfs.ext4 and a loop device");
    }
    let (said, status) = mounted("true", "syncer", place.path()).wait();
    println!("{}", said.join("\n"));
    assert!(status.success() && said.len() == rounds() as usize, "{status}");
}
