//! What the children do.

use crate::content::{check, make_a_mess, noise, step_of, steps_of, take_step};
use crate::process::Parent;
use crate::{access, creating, full_disk, locks, memory, opening, soak};
use std::collections::VecDeque;
use treepie::storage::ReadMode;
use treepie::writer::MergePolicy;
use treepie::{Index, Result, Searcher, WriterOptions};

/// Snapshots that a reader keeps open while it goes on to newer ones.
const SNAPSHOTS_HELD: usize = 3;

pub(crate) fn play(role: &str, parent: &Parent) {
    match role {
        "writer" => write(parent).unwrap(),
        "reader" => read(parent).unwrap_or_else(|what| panic!("{what}")),
        "opener" => open(parent).unwrap_or_else(|what| panic!("{what}")),
        "keeper" => opening::keep(parent).unwrap_or_else(|what| panic!("{what}")),
        "trespasser" => access::trespass(parent),
        "filler" => full_disk::fill(parent),
        "syncer" => full_disk::lose_syncs(parent),
        "worker" => memory::work(parent).unwrap(),
        "soak" => soak::run(parent),
        "soak writer" => soak::write(parent),
        "soak reader" => soak::read(parent).unwrap_or_else(|what| panic!("{what}")),
        "holder" => locks::hold(parent).unwrap(),
        "creator" => creating::create(parent),
        other => panic!("no role {other}"),
    }
}

/// Takes one step after the other, and merges, until it is told to end. Says what it is about to do and what it has
/// done: `opening`, `opened STEP`, `committing STEP`, `committed STEP GENERATION`, `tidying`, `tidied`.
fn write(parent: &Parent) -> Result<()> {
    parent.say("opening");
    let index = Index::open(&parent.place)?;
    let policy = MergePolicy::default().factor(4);
    let mut writer = index.writer_with(WriterOptions::new().threads(1).merge_policy(policy))?;
    // As a host does that takes up where it stopped.
    let mut step = steps_of(&index)?;
    parent.say(format!("opened {step}"));
    while !parent.wants_the_end() {
        step += 1;
        let dice = noise(!step) % 16;
        if dice == 0 {
            make_a_mess(&mut writer)?;
            writer.rollback()?;
        }
        take_step(&mut writer, step)?;
        parent.say(format!("committing {step}"));
        let commit = writer.commit()?;
        parent.say(format!("committed {step} {}", commit.generation));
        if dice % 4 == 1 {
            parent.say("tidying");
            if dice == 1 {
                writer.merge()?;
            } else {
                writer.maintain()?;
            }
            parent.say("tidied");
        }
    }
    Ok(())
}

/// Reloads for as long as it may, and compares all of every snapshot it gets; those that it holds on to as well, and
/// copies made of one that is pinned. Says at the end how many there were of each.
fn read(parent: &Parent) -> Result<(), String> {
    let told = |error: treepie::Error| error.to_string();
    let mode = if std::process::id().is_multiple_of(2) { ReadMode::Mmap } else { ReadMode::Pread };
    let open = || Index::options().read_mode(mode).open(&parent.place);
    let index = open().map_err(told)?;
    let mut searcher = index.searcher().map_err(told)?;
    let mut last = check(&searcher)?;
    let mut held: VecDeque<(u64, Searcher)> = VecDeque::new();
    let (mut reloads, mut snapshots, mut again, mut opened, mut copies) = (0_u64, 0, 0, 0, 0);
    parent.say("reading");
    while !parent.wants_the_end() {
        reloads += 1;
        if let Some(newer) = searcher.reload().map_err(told)? {
            let step = check(&newer)?;
            if step < last || newer.generation() <= searcher.generation() {
                return Err(format!("went back from step {last} to {step}"));
            }
            held.push_back((last, std::mem::replace(&mut searcher, newer)));
            if held.len() > SNAPSHOTS_HELD {
                held.pop_front();
            }
            (last, snapshots) = (step, snapshots + 1);
        }
        if reloads.is_multiple_of(8)
            && let Some((step, old)) = held.front()
        {
            if check(old)? != *step {
                return Err(format!("step {step} has become another"));
            }
            again += 1;
        }
        if reloads.is_multiple_of(16) {
            let fresh = open().and_then(|index| index.searcher()).map_err(told)?;
            let step = check(&fresh)?;
            if step < last {
                return Err(format!("found step {step} after {last}"));
            }
            opened += 1;
        }
        if reloads.is_multiple_of(32) {
            // Opens the files of a commit by their names, long after it was pinned.
            let image = index.to_image().map_err(|error| format!("packing: {error}"))?;
            let copy = Index::open_bytes(image).and_then(|index| index.searcher()).map_err(told)?;
            check(&copy)?;
            copies += 1;
        }
    }
    parent.say(format!("{reloads} {snapshots} {again} {opened} {copies}"));
    Ok(())
}

/// Opens the index as often as it is told to, each time anew, and asks something. Says where it ended, and how far it
/// is meanwhile.
fn open(parent: &Parent) -> Result<(), String> {
    let told = |error: treepie::Error| error.to_string();
    let n: u64 = parent.hear().parse().expect("how often to open");
    let mut last = 0;
    for nth in 0..n {
        let mode = if nth.is_multiple_of(2) { ReadMode::Mmap } else { ReadMode::Pread };
        let index = Index::options().read_mode(mode).open(&parent.place).map_err(told)?;
        let searcher = index.searcher().map_err(told)?;
        let step = if nth.is_multiple_of(16) { check(&searcher)? } else { step_of(&searcher)? };
        if step < last {
            return Err(format!("found step {step} after {last}"));
        }
        last = step;
        if nth % 5_000 == 4_999 {
            parent.say(format!("opened {}", nth + 1));
        }
    }
    parent.say(format!("at step {last}"));
    Ok(())
}
