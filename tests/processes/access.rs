//! Who may not write: another user, and everybody on read-only media. Searching works, and writing says why not.
//!
//! Only root can become somebody else and mount.

use crate::content::{check, create, take_step};
use crate::opening::{go_on, step_in_copy};
use crate::place::{Place, names, skip};
use crate::process::{Parent, Process, this_binary};
use crate::sandbox::{can_mount, mounted};
use std::fmt::Debug;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use treepie::storage::ReadMode;
use treepie::{Error, ErrorKind, Index, Result};

/// A user who owns nothing.
const NOBODY: u32 = 65_534;

/// Reads all there is in every way, and tries to write in every way. Says `read STEP` or `refused KIND` of each way
/// of reading, and then what became of writing, recovering and overwriting.
pub(crate) fn trespass(parent: &Parent) {
    let place = &parent.place;
    for mode in [ReadMode::Mmap, ReadMode::Pread] {
        let read = |index: Index| {
            let searcher = index.searcher()?;
            let report = index.inspect()?.verify(|error| panic!("{error}"));
            assert!(report.is_sound() && index.disk_usage()?.live > 0);
            let copy = Index::open_bytes(index.to_image()?)?.searcher()?;
            let steps = [check(&searcher), check(&copy)].map(Result::unwrap);
            assert!(steps[0] == steps[1] && searcher.reload()?.is_none());
            Ok(steps[0])
        };
        match Index::options().read_mode(mode).open(place).and_then(read) {
            Ok(step) => parent.say(format!("read {step}")),
            Err(error) => parent.say(format!("refused {:?}", error.kind())),
        }
    }
    let schema = crate::content::schema();
    parent.say(outcome(&Index::open(place).and_then(|index| index.writer())));
    parent.say(outcome(&Index::recover(place)));
    parent.say(outcome(&Index::overwrite(place, schema.clone()).and_then(|index| index.writer())));
    let new = Index::create(place.join("new"), schema).and_then(|index| index.writer());
    parent.say(outcome(&new));
}

fn outcome<T: Debug>(result: &Result<T, Error>) -> String {
    format!("{:?}", result.as_ref().map(|_| "done").map_err(Error::kind))
}

/// A child of a user who owns nothing, where that can be.
fn stranger(role: &str, place: &Path) -> Option<Process> {
    let mut command = Command::new(this_binary());
    command.uid(NOBODY).gid(NOBODY);
    match Process::start_with(command, role, place) {
        Ok(process) => Some(process),
        Err(error) => {
            skip("another user", &error.to_string());
            None
        }
    }
}

/// What a trespasser says of an index in which it may do nothing but read.
fn only_reads(step: u64) -> Vec<String> {
    let read = format!("read {step}");
    let refused = format!("{:?}", Err::<&str, _>(ErrorKind::PermissionDenied));
    [vec![read; 2], vec![refused; 4]].concat()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn index_of_steps(place: &Place, steps: u64) -> std::path::PathBuf {
    let index = place.index();
    create(&index);
    let mut writer = Index::open(&index).unwrap().writer().unwrap();
    for step in 1..=steps {
        take_step(&mut writer, step).unwrap();
        writer.commit().unwrap();
    }
    index
}

#[test]
fn another_user_searches_what_he_may_not_write() {
    let place = Place::new("user");
    let index = index_of_steps(&place, 7);
    let files = |mode| names(&index).iter().for_each(|name| set_mode(&index.join(name), mode));
    let asked = |what: &str| {
        let (said, status) = stranger("trespasser", &index)?.wait();
        assert!(status.success(), "{what}: {said:?}, {status}");
        Some(said)
    };
    set_mode(&index, 0o755);
    files(0o644);
    let Some(said) = asked("files of somebody else") else { return };
    assert_eq!(said, only_reads(7));
    files(0o444);
    set_mode(&index, 0o555);
    assert_eq!(asked("read-only").unwrap(), only_reads(7));
    // As in a copy: nobody has ever locked it.
    fs::remove_file(index.join("write.lock")).unwrap();
    assert_eq!(asked("without a lock file").unwrap(), only_reads(7));
    // A directory that he may write to does not make the files in it his.
    drop(Index::open(&index).unwrap().writer().unwrap());
    files(0o444);
    set_mode(&index, 0o777);
    let said = asked("a directory of everybody's").unwrap();
    assert_eq!((&said[..5], &*said[5]), (&only_reads(7)[..5], "Ok(\"done\")"));
    files(0o600);
    set_mode(&index, 0o755);
    let refused = "refused PermissionDenied".to_owned();
    assert_eq!(asked("unreadable files").unwrap()[..2], [refused.clone(), refused.clone()]);
    files(0o644);
    set_mode(&index, 0o700);
    assert_eq!(asked("a closed directory").unwrap()[..2], [refused.clone(), refused]);
}

#[test]
fn what_another_user_has_open_is_not_collected() {
    let place = Place::new("user-pin");
    let index = index_of_steps(&place, 5);
    let Some(mut keeper) = stranger("keeper", &index) else { return };
    keeper.expect("step 5");
    let generation = Index::open(&index).unwrap().searcher().unwrap().generation();
    go_on(&mut Index::open(&index).unwrap().writer().unwrap(), 6..=20);
    assert_eq!(step_in_copy(&index, generation), Ok(5));
    keeper.tell("again");
    keeper.expect("step 5");
    keeper.kill();
    drop(Index::open(&index).unwrap().writer().unwrap());
    assert!(step_in_copy(&index, generation).is_err());
}

#[test]
fn read_only_media_are_searched_while_others_write_beneath() {
    let place = Place::new("read-only");
    let index = index_of_steps(&place, 7);
    let bind = "mount --bind \"$PLACE\" \"$PLACE\" && mount -o remount,ro,bind \"$PLACE\"";
    if !can_mount(bind, &index) {
        return skip("read-only media", "mounting is not possible");
    }
    let (said, status) = mounted(bind, "trespasser", &index).wait();
    assert!(status.success(), "{said:?}, {status}");
    assert_eq!(said, only_reads(7));

    // A pin through a read-only mount counts as any other.
    let mut keeper = mounted(bind, "keeper", &index);
    keeper.expect("step 7");
    let generation = Index::open(&index).unwrap().searcher().unwrap().generation();
    go_on(&mut Index::open(&index).unwrap().writer().unwrap(), 8..=20);
    assert_eq!(step_in_copy(&index, generation), Ok(7));
    keeper.tell("again");
    keeper.expect("step 7");
    keeper.kill();

    // A medium of its own, which was written elsewhere.
    let from = "cp -r \"$PLACE\" \"$PLACE.from\" && mount -t tmpfs -o size=4m tmpfs \"$PLACE\" && \
                cp \"$PLACE.from\"/* \"$PLACE\" && mount -o remount,ro \"$PLACE\"";
    let (said, status) = mounted(from, "trespasser", &index).wait();
    assert!(status.success(), "{said:?}, {status}");
    assert_eq!(said, only_reads(20));
}
