//! A writer that is killed at any moment, again and again, beside readers that are not.
//!
//! The writer says over its line which commits it begins and which were acknowledged to it. After each kill the index
//! must be the last acknowledged commit or the one in flight, with exactly its documents, sound in every byte; the
//! next writer takes up there, and is killed too, often before it has opened. Meanwhile readers compare all that they
//! are given.

use crate::content::{check, create, noise, steps_of};
use crate::place::{Place, long_or, names};
use crate::process::Process;
use std::collections::BTreeMap;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};
use treepie::Index;

const READERS: usize = 2;
/// Kills of the short form.
const KILLS: u64 = 60;

/// What a writer was last heard to do, and what it had been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Account {
    acknowledged: u64,
    begun: u64,
    generation: u64,
    at: &'static str,
}

impl Account {
    /// Takes note of what a writer said.
    fn hear(&mut self, line: &str) {
        let mut words = line.split(' ');
        let what = words.next().unwrap_or_default();
        let mut number = || words.next().and_then(|n| n.parse::<u64>().ok());
        self.at = match (what, number(), number()) {
            ("opening", None, None) => "opening",
            ("opened", Some(step), None) => {
                assert_eq!(step, self.acknowledged, "where the writer takes up");
                "between commits"
            }
            ("committing", Some(step), None) => {
                assert_eq!(step, self.acknowledged + 1);
                self.begun = step;
                "committing"
            }
            ("committed", Some(step), Some(generation)) => {
                assert!(generation > self.generation);
                (self.acknowledged, self.generation) = (step, generation);
                "between commits"
            }
            ("tidying", None, None) => "merging",
            ("tidied", None, None) => "between commits",
            _ => panic!("a writer says {line:?}"),
        };
    }

    /// The index after a kill must be a commit of those that are possible; takes up from there.
    fn settle(&mut self, place: &Path) {
        let index = Index::open(place).unwrap();
        let searcher = index.searcher().unwrap();
        let found = check(&searcher).unwrap_or_else(|what| panic!("{self:?}: {what}"));
        assert!((self.acknowledged..=self.begun).contains(&found), "{self:?}: found step {found}");
        assert!(searcher.generation() >= self.generation, "{self:?}: {}", searcher.generation());
        assert_eq!(steps_of(&index).unwrap(), found, "{self:?}: the payload");
        let report = index.inspect().unwrap().verify(|error| panic!("{self:?}: {error}"));
        assert!(report.is_sound());
        (self.acknowledged, self.begun) = (found, found);
        self.generation = searcher.generation();
    }
}

/// Starts a writer and kills it at a moment that `dice` says.
fn kill_a_writer(place: &Path, account: &mut Account, dice: u64) {
    account.at = "starting";
    let mut writer = Process::start("writer", place);
    let micros = |most: u64| Duration::from_micros((dice >> 8) % most);
    if dice.is_multiple_of(3) {
        // While it starts, opens, and clears up what the one before left.
        sleep(micros(10_000));
    } else {
        for _ in 0..=dice / 3 % 12 {
            let line = writer.hear().expect("a writer that is not killed goes on");
            account.hear(&line);
        }
        if (dice / 36).is_multiple_of(2) {
            sleep(micros(2_000));
        }
    }
    writer.kill().iter().for_each(|line| account.hear(line));
}

#[test]
fn kills_lose_nothing_that_was_acknowledged_and_readers_see_whole_commits() {
    let kills = long_or("TREEPIE_PROCESSES_KILLS", KILLS);
    let place = Place::new("kills");
    let index = place.index();
    create(&index);
    let mut readers: Vec<_> = (0..READERS).map(|_| Process::start_nice("reader", &index)).collect();
    readers.iter_mut().for_each(|reader| drop(reader.expect("reading")));

    let started = Instant::now();
    let mut account = Account { acknowledged: 0, begun: 0, generation: 1, at: "" };
    let (mut moments, mut in_flight) = (BTreeMap::<_, u64>::new(), 0);
    for nth in 0..kills {
        kill_a_writer(&index, &mut account, noise(nth));
        *moments.entry(account.at).or_default() += 1;
        let acknowledged = account.acknowledged;
        account.settle(&index);
        in_flight += account.acknowledged - acknowledged;
        readers.iter_mut().for_each(Process::assert_alive);
        if nth % 500 == 499 {
            println!("{} kills in {:.0?}", nth + 1, started.elapsed());
        }
    }
    let took = started.elapsed();
    // Reloads, snapshots, looks at held ones, openings, copies.
    let mut seen = [0_u64; 5];
    for reader in readers {
        let report = reader.end().pop().expect("the report of a reader");
        let counts = report.split(' ').map(|n| n.parse::<u64>().expect("a number"));
        seen.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
    }
    let steps = account.acknowledged;
    println!(
        "{kills} kills in {took:.0?} ({moments:?}), {steps} commits, {in_flight} of them in flight when killed; {READERS} \
         readers: {seen:?} reloads, snapshots, held ones again, openings, copies: 0 lost, 0 errors"
    );
    assert!(steps > kills && seen.iter().all(|n| *n > 0), "{steps} {seen:?}");
    assert!(moments.len() >= 3 && moments.contains_key("committing"), "{moments:?}");
    leaves_no_litter(&index);
}

/// One more writer, undisturbed, clears everything away.
pub(crate) fn leaves_no_litter(index: &Path) {
    let mut writer = Index::open(index).unwrap().writer().unwrap();
    writer.merge().unwrap();
    writer.commit().unwrap();
    writer.commit().unwrap();
    let names = names(index);
    let of = |prefix: &str| names.iter().filter(|name| name.starts_with(prefix)).count();
    assert_eq!((of("manifest-"), of("seg-"), of("write.lock")), (2, 1, 1), "{names:?}");
    assert_eq!(names.len(), 4, "{names:?}");
}
