//! One writer: who is refused, and why; and that a lock ends with its holder.

use crate::content::{check, create, steps_of, take_step};
use crate::place::Place;
use crate::process::{Parent, Process};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use treepie::error::CommitOutcome;
use treepie::{Error, ErrorKind, Index, Result};

/// Opens a writer and does with it what the parent says: `commit`, `roll back`, or `start SECONDS`, another program.
/// Says `open`, then `done` or `error KIND OUTCOME` of each.
pub(crate) fn hold(parent: &Parent) -> Result<()> {
    let index = Index::open(&parent.place)?;
    let mut writer = index.writer()?;
    let mut step = steps_of(&index)?;
    parent.say("open");
    loop {
        let done = match &*parent.hear() {
            "commit" => {
                step += 1;
                take_step(&mut writer, step).and_then(|()| writer.commit()).map(drop)
            }
            "roll back" => writer.rollback(),
            other => {
                let seconds = other.strip_prefix("start ").expect("something to do");
                let started = Command::new("sleep").arg(seconds).stdin(Stdio::null()).spawn();
                parent.say(format!("started {}", started.expect("sleep is everywhere").id()));
                continue;
            }
        };
        match done {
            Ok(()) => parent.say("done"),
            Err(e) => parent.say(format!("error {:?} {:?}", e.kind(), e.commit_outcome())),
        }
    }
}

fn holder(index: &Path) -> Process {
    let mut holder = Process::start("holder", index);
    holder.expect("open");
    holder
}

fn asked(holder: &mut Process, what: &str) -> String {
    holder.tell(what);
    holder.hear().expect("an answer")
}

fn refused(index: &Path) -> Error {
    let error = Index::open(index).unwrap().writer().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    error
}

/// The step that the index is of, all of it compared.
fn found(index: &Path) -> u64 {
    check(&Index::open(index).unwrap().searcher().unwrap()).unwrap()
}

fn refusal(outcome: Option<CommitOutcome>) -> String {
    format!("error {:?} {outcome:?}", ErrorKind::Locked)
}

#[test]
fn the_second_writer_is_refused_and_the_next_one_is_not() {
    let place = Place::new("locks");
    let index = place.index();
    create(&index);
    for step in 1..=5 {
        let mut first = holder(&index);
        let message = refused(&index).to_string();
        assert!(message.contains(&format!("process {}", first.id())), "{message}");
        assert_eq!(asked(&mut first, "commit"), "done", "the refused one did no harm");
        assert_eq!(found(&index), step);
        first.kill();
        // The lock went with the process, and nothing has to be cleared away.
    }
    drop(Index::open(&index).unwrap().writer().unwrap());
}

#[test]
fn programs_that_a_writer_starts_do_not_keep_its_lock() {
    let place = Place::new("programs");
    let index = place.index();
    create(&index);
    let mut first = holder(&index);
    let program = asked(&mut first, "start 300");
    let program = program.strip_prefix("started ").expect("a process id");
    first.kill();
    let next = Index::open(&index).unwrap().writer();
    let killed = Command::new("kill").arg(program).status().unwrap();
    assert!(killed.success(), "the program had not ended");
    drop(next.unwrap());
}

/// What a fork leaves behind: somebody who has the very same open file.
#[test]
fn whoever_shares_the_lock_of_a_dead_writer_keeps_others_out_until_it_ends() {
    let place = Place::new("shared");
    let index = place.index();
    create(&index);
    let lock = File::open(index.join("write.lock")).unwrap();
    lock.lock().unwrap();
    let mut heir = Command::new("cat").stdin(Stdio::piped()).stdout(lock).spawn().unwrap();
    refused(&index);
    drop(heir.stdin.take());
    heir.wait().unwrap();
    drop(Index::open(&index).unwrap().writer().unwrap());
}

#[test]
fn a_commit_under_a_lock_file_that_is_gone_or_another_is_refused() {
    let place = Place::new("stolen");
    let index = place.index();
    let lock = index.join("write.lock");
    create(&index);
    type Steal = fn(&Path);
    let thefts: [(&str, Steal); 3] = [
        ("deleted", |lock| fs::remove_file(lock).unwrap()),
        ("replaced", |lock| {
            let other = lock.with_extension("other");
            fs::write(&other, "").unwrap();
            fs::rename(&other, lock).unwrap();
        }),
        ("moved", |lock| fs::rename(lock, lock.with_extension("moved")).unwrap()),
    ];
    for (nth, (what, steal)) in (0..).zip(thefts) {
        let mut first = holder(&index);
        assert_eq!(asked(&mut first, "commit"), "done");
        steal(&lock);
        let refusal = refusal(Some(CommitOutcome::NotCommitted));
        assert_eq!(asked(&mut first, "commit"), refusal, "{what}");
        assert_eq!(found(&index), 2 * nth + 1, "{what}");
        // Another one may be at work by now.
        let mut second = holder(&index);
        assert_eq!(asked(&mut first, "roll back"), self::refusal(None), "{what}");
        assert!(asked(&mut first, "commit").starts_with("error Poisoned"), "{what}");
        assert_eq!(asked(&mut second, "commit"), "done", "{what}");
        assert_eq!(found(&index), 2 * nth + 2, "{what}");
        second.kill();
        first.kill();
        let _ = fs::remove_file(lock.with_extension("moved"));
    }
}
