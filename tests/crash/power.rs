//! Power failures after every call, power failures while a writer recovers from one, lives that are a
//! chain of them, and power failures after a writer was killed and another went on.

use crate::bugs::Bug;
use crate::disk::{Disk, Moment, NameChange, Promise};
use crate::oracle::{Verdict, describe, guarded};
use crate::states::{self, CrashState, Dice, NameOrder};
use crate::workload::{self, History, Step, System};
use std::collections::HashSet;
use std::fmt;
use std::time::{Duration, Instant};

/// Distinct states that `cargo test` checks.
const STATES: u64 = 30_000;
/// States of one moment: where a commit may be at stake, and where only litter is.
const PER_MOMENT: usize = 300;
const PER_MOMENT_OF_LITTER: usize = 40;
/// Of one moment in the session after a failure.
const PER_MOMENT_LATER: usize = 24;
/// One of so many writers is killed, of the states that resemble another one of so many goes on.
const KILLED: usize = 16;
const GO_ON: usize = 256;
/// One of so many recoveries leads to a chain of so many failures.
const CHAINED: usize = 8;
const CHAIN: usize = 4;

/// Which failure was being looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    First,
    Second,
    Later,
    AfterKill,
}

/// What is wrong, and when it came out.
type Failure = (Stage, String);

/// A disk after a power failure, the commit that is found there, and what was written until then.
struct Survivor {
    state: CrashState,
    found: u64,
    history: History,
}

/// What was checked.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    rounds: u64,
    moments: u64,
    enumerated: u64,
    /// Distinct states by stage.
    checked: [u64; 4],
    went_on: u64,
}

impl Tally {
    fn checked(&self) -> u64 {
        self.checked.iter().sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, later, after_kill] = self.checked;
        write!(
            f,
            "{} distinct crash states ({first} after one power failure, {second} after two, {later} after \
             up to six, {after_kill} after a kill and one) of {} enumerated at {} moments in {} rounds; \
             {} writers went on",
            self.checked(),
            self.enumerated,
            self.moments,
            self.rounds,
            self.went_on
        )
    }
}

/// One writer's life on one disk, and all that may become of it.
struct Round {
    system: System,
    seed: u64,
    order: NameOrder,
    dice: Dice,
    tally: Tally,
    /// States that were checked already, with what was possible then.
    seen: HashSet<(u64, Promise)>,
}

impl Round {
    fn new(system: System, seed: u64, order: NameOrder) -> Self {
        let tally = Tally { rounds: 1, ..Tally::default() };
        Round { system, seed, order, dice: Dice::new(seed), tally, seen: HashSet::new() }
    }

    fn run(&mut self) -> Result<(), Failure> {
        let steps = match self.system.bug {
            // Names follow from the generation, so every segment has a writer of its own.
            Some(Bug::NameReuse | Bug::PassingOver) => {
                [Step::Commit { docs: 2, payload: 40 }, Step::Reopen].repeat(4)
            }
            _ => {
                let n = 4 + self.dice.below(3);
                workload::steps(&mut self.dice, n)
            }
        };
        let (disk, mut history) = (Disk::default(), History::new());
        disk.record(Promise::default());
        let system = self.system;
        guarded(|| system.run(&disk, &mut history, &steps).map_err(|error| error.to_string()))
            .map_err(|what| (Stage::First, format!("seed {}: {steps:?}: {what}", self.seed)))?;
        let moments = disk.take_moments();
        let (mut shapes, mut recoveries) = (HashSet::new(), vec![]);
        for moment in &moments {
            let budget = match at_stake(moment) {
                true => PER_MOMENT,
                false => PER_MOMENT_OF_LITTER,
            };
            self.check_all(Stage::First, moment, &history, budget, |dice, state, found| {
                let new = shapes.insert((state.shape(), found));
                if new {
                    recoveries.push((state.clone(), found));
                }
                new || dice.below(GO_ON) == 0
            })?;
        }
        for (state, found) in recoveries {
            let (mut stage, mut left) = (Stage::Second, CHAIN);
            let mut next = Some(Survivor { state, found, history: history.clone() });
            while let Some(Survivor { state, found, history }) = next {
                let disk = Disk::of(state.image());
                next = self.fail_again(stage, disk, found, found, &history)?;
                let goes_on = if stage == Stage::Second { self.dice.below(CHAINED) } else { 0 };
                if goes_on != 0 || left == 0 {
                    break;
                }
                (stage, left) = (Stage::Later, left - 1);
            }
        }
        for moment in moments {
            if self.dice.below(KILLED) == 0 {
                let disk = Disk::of(moment.image.clone());
                let found = guarded(|| system.read(&disk, &history)).map_err(|what| {
                    (Stage::AfterKill, format!("killed after {}: {what}", moment.after))
                })?;
                let acknowledged = moment.promise.acknowledged;
                self.fail_again(Stage::AfterKill, disk, found, acknowledged, &history)?;
            }
        }
        Ok(())
    }

    /// A writer finds `found` and makes another commit, and the power fails at each of its calls. One of
    /// the states that are left, what is found in it, and what has been written by then.
    fn fail_again(
        &mut self,
        stage: Stage,
        disk: Disk,
        found: u64,
        acknowledged: u64,
        history: &History,
    ) -> Result<Option<Survivor>, Failure> {
        let mut history = history.up_to(found);
        disk.record(Promise { acknowledged, begun: found });
        let (system, payload) = (self.system, [40, 700][self.dice.below(2)]);
        guarded(|| {
            let committed = system.add_and_commit(&disk, &mut history, 2, payload);
            committed.map_err(|error| error.to_string())
        })
        .map_err(|what| (stage, format!("seed {}: the next writer: {what}", self.seed)))?;
        let (mut picked, mut n) = (None, 0);
        for moment in disk.take_moments() {
            self.check_all(stage, &moment, &history, PER_MOMENT_LATER, |dice, state, found| {
                n += 1;
                if dice.below(n) == 0 {
                    picked = Some((state.clone(), found));
                }
                false
            })?;
        }
        Ok(picked.map(|(state, found)| Survivor { state, found, history }))
    }

    /// Checks the states of one moment; from those that `go_on` picks a writer goes on.
    fn check_all(
        &mut self,
        stage: Stage,
        moment: &Moment,
        history: &History,
        budget: usize,
        mut go_on: impl FnMut(&mut Dice, &CrashState, u64) -> bool,
    ) -> Result<(), Failure> {
        let Round { system, seed, order, dice, tally, seen } = self;
        tally.moments += 1;
        let mut failure = None;
        let mut picks = dice.clone();
        states::for_each(&moment.image, *order, budget, dice, |state| {
            tally.enumerated += 1;
            if failure.is_some() || !seen.insert((state.hash(), moment.promise)) {
                return;
            }
            tally.checked[stage as usize] += 1;
            let mut check = || -> Verdict<()> {
                let found = system.check(&state, history, moment.promise)?;
                if go_on(&mut picks, &state, found) {
                    tally.went_on += 1;
                    system.goes_on(state.image(), found, history)?;
                }
                Ok(())
            };
            failure = check().err().map(|what| describe(*seed, moment, &state, &what));
        });
        match failure {
            Some(what) => Err((stage, what)),
            None => Ok(()),
        }
    }
}

/// Whether a manifest is on its way to the medium.
fn at_stake(moment: &Moment) -> bool {
    moment.image.changes.iter().any(|change| match change {
        NameChange::Link(name, _) | NameChange::Unlink(name) => name.starts_with("manifest-"),
    })
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

#[test]
fn a_power_failure_at_any_moment_leaves_exactly_one_commit() {
    let only = setting("TREEPIE_CRASH_SEED");
    let wanted = setting("TREEPIE_CRASH_STATES").unwrap_or(STATES);
    let (mut total, start) = (Tally::default(), Instant::now());
    let mut told = Duration::ZERO;
    for seed in only.unwrap_or(1).. {
        let system = System { ordered: seed % 3 == 2, ..System::default() };
        let mut round = Round::new(system, seed, NameOrder::Any);
        round.run().unwrap_or_else(|(stage, what)| panic!("{stage:?} failure: {what}"));
        total.rounds += 1;
        total.moments += round.tally.moments;
        total.enumerated += round.tally.enumerated;
        total.went_on += round.tally.went_on;
        for (total, of_round) in total.checked.iter_mut().zip(round.tally.checked) {
            *total += of_round;
        }
        if start.elapsed() > told + Duration::from_secs(60) {
            told = start.elapsed();
            println!("after {} s: {total}", told.as_secs());
        }
        if only.is_some() || total.checked() >= wanted {
            break;
        }
    }
    println!("{total}: 0 lost, 0 unreadable, in {:.1} s", start.elapsed().as_secs_f64());
    assert!(total.checked.iter().all(|checked| *checked > 0) && total.went_on > 0);
}

/// Rounds until the bug shows: how many it took, at which stage it did, and how.
fn find(bug: Bug, order: NameOrder, rounds: u64) -> Option<(u64, Stage, String)> {
    let system = System { bug: Some(bug), ..System::default() };
    (1..=rounds).find_map(|seed| {
        let failure = Round::new(system, seed, order).run().err();
        failure.map(|(stage, what)| (seed, stage, what))
    })
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[test]
fn planted_bugs_of_the_protocol_are_found() {
    let bugs = [
        (Bug::NoSegmentSync, NameOrder::Journaled),
        (Bug::NoManifestSync, NameOrder::Journaled),
        (Bug::NoNameSyncBefore, NameOrder::Any),
        (Bug::NoNameSyncAfter, NameOrder::Journaled),
        (Bug::EarlyCollection, NameOrder::Any),
        (Bug::ManifestInPlace, NameOrder::Journaled),
        (Bug::EarlyAcknowledgement, NameOrder::Journaled),
    ];
    for (bug, order) in bugs {
        let found = find(bug, order, 3);
        let (round, stage, what) = found.unwrap_or_else(|| panic!("{bug:?} was not found"));
        println!("{bug:?} found in round {round}, {stage:?} failure: {}", first_line(&what));
        if order == NameOrder::Any {
            // Not a bug where the file system keeps the order, so this is what was found.
            assert_eq!(find(bug, NameOrder::Journaled, 1), None, "{bug:?}");
        }
    }
}

#[test]
fn names_that_are_used_again_show_after_two_power_failures() {
    let found = find(Bug::NameReuse, NameOrder::Any, 3);
    let (round, stage, what) = found.expect("the re-used names were not found");
    println!("NameReuse found in round {round}, {stage:?} failure: {}", first_line(&what));
    assert_ne!(stage, Stage::First, "one power failure is not enough");
    assert_eq!(find(Bug::PassingOver, NameOrder::Any, 1), None);
}
