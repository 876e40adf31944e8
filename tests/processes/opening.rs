//! Readers that open the index again and again while a writer commits, merges and collects, and readers that keep
//! what they have opened.

use crate::content::{check, create, take_step};
use crate::place::{Place, long_or, names};
use crate::process::{Parent, Process};
use std::fs;
use std::path::Path;
use std::time::Instant;
use treepie::writer::MergePolicy;
use treepie::{Index, IndexWriter, WriterOptions};

const READERS: u64 = 8;
/// Openings of the short form, all readers together.
const OPENINGS: u64 = 8_000;

#[test]
fn opening_while_a_writer_commits_and_collects_never_fails() {
    open_again_and_again("opening", long_or("TREEPIE_PROCESSES_OPENS", OPENINGS), 0);
}

/// So many names do not come from the system at once: some may change between the first and the last.
#[test]
fn opening_in_a_crowded_directory_never_fails() {
    open_again_and_again("crowded", long_or("TREEPIE_PROCESSES_OPENS", OPENINGS) / 40, 1_000);
}

/// Opens an index in a directory with so many other files.
fn open_again_and_again(name: &str, openings: u64, others: u64) {
    let place = Place::new(name);
    let index = place.index();
    create(&index);
    for n in 0..others {
        fs::write(index.join(format!("{n}-of-{others}-files-that-belong-to-somebody-else")), "")
            .unwrap();
    }
    let started = Instant::now();
    let mut writer = Process::start("writer", &index);
    writer.expect("opening");
    let mut readers: Vec<_> = (0..READERS).map(|_| Process::start_nice("opener", &index)).collect();
    readers.iter_mut().for_each(|reader| reader.tell(&(openings / READERS).to_string()));
    // What the writer says must be taken, or it would wait for that.
    let end = writer.ending();
    let writing = std::thread::spawn(move || {
        let (said, status) = writer.wait();
        assert!(status.success(), "the writer: {status}");
        said.iter().filter(|line| line.starts_with("committed")).count() as u64
    });
    for reader in readers {
        let (said, status) = reader.wait();
        let is_done = said.last().is_some_and(|last| last.starts_with("at step"));
        assert!(status.success() && is_done, "a reader: {said:?}, {status}");
    }
    let took = started.elapsed();
    end();
    let commits = writing.join().unwrap();
    println!(
        "{openings} openings by {READERS} readers beside {commits} commits in {took:.0?}: 0 errors"
    );
    assert!(commits > openings / 1_000, "{commits} commits");
    check(&Index::open(&index).unwrap().searcher().unwrap()).unwrap();
}

/// Opens the newest commit, keeps it, and says which step it is of, again whenever it is asked to.
pub(crate) fn keep(parent: &Parent) -> Result<(), String> {
    let searcher = Index::open(&parent.place).and_then(|index| index.searcher());
    let searcher = searcher.map_err(|error| error.to_string())?;
    loop {
        parent.say(format!("step {}", check(&searcher)?));
        parent.hear();
    }
}

/// Takes steps and merges, so that nothing of what was there before is left unless somebody has it open.
pub(crate) fn go_on(writer: &mut IndexWriter, steps: std::ops::RangeInclusive<u64>) {
    for step in steps {
        take_step(writer, step).unwrap();
        writer.commit().unwrap();
        writer.maintain().unwrap();
    }
    writer.merge().unwrap();
    writer.commit().unwrap();
}

/// The step found in a copy of an index as it was when its newest commit was of this generation.
pub(crate) fn step_in_copy(index: &Path, generation: u64) -> Result<u64, String> {
    let copy = index.with_extension("copy");
    fs::create_dir(&copy).unwrap();
    let newest = format!("manifest-{generation:016x}");
    for name in names(index) {
        if !name.starts_with("manifest-") || name <= newest {
            fs::copy(index.join(&name), copy.join(&name)).unwrap();
        }
    }
    let searcher = Index::open(&copy).and_then(|index| index.searcher());
    let found = match searcher {
        Ok(searcher) if searcher.generation() == generation => check(&searcher),
        Ok(searcher) => Err(format!("commit {}", searcher.generation())),
        Err(error) => Err(error.to_string()),
    };
    fs::remove_dir_all(&copy).unwrap();
    found
}

#[test]
fn what_a_reader_has_open_stays_until_it_ends_however_it_ends() {
    let place = Place::new("keeping");
    let index = place.index();
    create(&index);
    let options = WriterOptions::new().threads(1).merge_policy(MergePolicy::default().factor(4));
    let mut writer = Index::open(&index).unwrap().writer_with(options).unwrap();
    (1..=5).for_each(|step| {
        take_step(&mut writer, step).unwrap();
        writer.commit().unwrap();
    });
    let mut keeper = Process::start("keeper", &index);
    keeper.expect("step 5");
    let generation = Index::open(&index).unwrap().searcher().unwrap().generation();
    go_on(&mut writer, 6..=40);
    assert_eq!(step_in_copy(&index, generation), Ok(5));
    keeper.tell("again");
    keeper.expect("step 5");
    keeper.kill();
    // Its pin went with it: whoever commits next collects.
    take_step(&mut writer, 41).unwrap();
    writer.commit().unwrap();
    assert!(step_in_copy(&index, generation).is_err());
    writer.merge().unwrap();
    writer.commit().unwrap();
    let left = names(&index);
    assert_eq!(left.iter().filter(|name| !name.starts_with("del-")).count(), 4, "{left:?}");
}
