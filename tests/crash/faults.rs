//! Calls that fail: each call of a session, in each way, once and for ever, alone and with all others. Whatever it was, the error
//! is of the right kind and says what became of the commit, the writer takes no more, and both a
//! restart and a power failure at every later moment find what was promised. And disks that are full.

use crate::bugs::Bug;
use crate::disk::{Disk, Fault, How, Image, Moment, Promise, Reach};
use crate::oracle::{Verdict, describe, guarded};
use crate::states::{self, Dice, NameOrder};
use crate::workload::{History, Step, System, document};
use std::collections::{BTreeSet, HashSet};
use std::io::ErrorKind::{
    Interrupted, Other, PermissionDenied, QuotaExceeded, StorageFull, WriteZero,
};
use std::sync::Arc;
use treepie::error::CommitOutcome;
use treepie::query::Query;
use treepie::storage::Storage;
use treepie::{Error, ErrorKind, Index, IndexWriter};

/// States of one moment after the failure: the corners, and some at random.
const PER_MOMENT: usize = 12;
/// Errors that a call may fail with: EIO, and what a full disk, a quota, missing rights and a signal say.
const ERRORS: [std::io::ErrorKind; 5] =
    [Other, StorageFull, QuotaExceeded, PermissionDenied, Interrupted];
/// What the session calls, and what a session that spills calls beside.
const CALLS: [&str; 27] = [
    "check lock",
    "create deletes",
    "create manifest",
    "create segment",
    "delete deletes",
    "delete manifest",
    "delete run",
    "delete segment",
    "delete unless pinned",
    "flush",
    "list",
    "lock",
    "open deletes",
    "open manifest",
    "open segment",
    "pin",
    "publish",
    "read deletes",
    "read manifest",
    "read segment",
    "sync deletes",
    "sync manifest",
    "sync names",
    "sync segment",
    "write deletes",
    "write manifest",
    "write segment",
];
const CALLS_ON_RUNS: [&str; 6] =
    ["create run", "write run", "flush", "open run", "read run", "delete run"];

/// An index with two commits and what a crashed writer left, and what is done with it.
struct Scene {
    system: System,
    image: Image,
    history: History,
    steps: &'static [Step],
}

static SESSION: [Step; 11] = [
    Step::Commit { docs: 2, payload: 700 },
    Step::Flushed { docs: 2 },
    Step::Read,
    Step::Commit { docs: 1, payload: 40 },
    Step::Delete { docs: 2, percent: 50 },
    Step::Read,
    Step::Delete { docs: 1, percent: 50 },
    Step::Reopen,
    Step::Merge { docs: 1 },
    Step::Read,
    Step::Pack,
];

/// A session that deletes only what was committed: where a commit deletes, it opens the segment that it has just
/// written, and so finds by itself what is wrong with it.
const OLD_DELETED: [Step; 5] = [
    Step::Commit { docs: 2, payload: 700 },
    Step::Delete { docs: 0, percent: 50 },
    Step::Commit { docs: 1, payload: 40 },
    Step::Merge { docs: 1 },
    Step::Read,
];

impl Scene {
    fn new(bug: Option<Bug>, steps: &'static [Step]) -> Scene {
        let without_key = bug == Some(Bug::IgnoredShortWrite);
        let sound = System { fixed_ids: true, without_key, ..System::default() };
        let (disk, mut history) = (Disk::default(), History::new());
        let before = [Step::Commit { docs: 2, payload: 40 }; 2];
        sound.run(&disk, &mut history, &before).unwrap();
        let id = "0123456789abcdef0123456789abcdef";
        for litter in [
            format!("seg-{id}.idx"),
            format!(".tmp-{id}"),
            format!(".run-{id}-00000000"),
            format!("del-{id}-0123456789abcdef.rbm"),
        ] {
            disk.create(&litter).unwrap().write_all(b"half of it").unwrap();
        }
        disk.sync_names().unwrap();
        let history = history.up_to(2);
        Scene { system: System { bug, ..sound }, image: disk.image(), history, steps }
    }

    fn disk(&self) -> Disk {
        Disk::of(self.image.clone()).unmapped()
    }

    fn run(&self, disk: Disk, fault: Option<Fault>) -> Ran {
        disk.set_fault(fault, Promise { acknowledged: 2, begun: 2 });
        let mut history = self.history.clone();
        let result = self.system.run(&disk, &mut history, self.steps);
        Ran { disk, history, result }
    }

    /// The session with a fault: checked from the failure to the end, and after.
    fn run_and_check(&self, fault: Fault, name: &str, checked: &mut Checked) -> Verdict<Ran> {
        let what = format!("{fault:?} in {name:?}");
        let ran = guarded(|| Ok(self.run(self.disk(), Some(fault))));
        let ran = ran.map_err(|why| format!("{what}: {why}"))?;
        checked.check(self, &ran, &what)?;
        Ok(ran)
    }
}

/// What a session did, and how it ended.
struct Ran {
    disk: Disk,
    history: History,
    result: Result<(), Error>,
}

/// States that were checked, whatever session they come from.
#[derive(Default)]
struct Checked {
    seen: HashSet<(u64, Promise)>,
    restarted: HashSet<(u64, Promise)>,
}

impl Checked {
    /// After the session: a restart, and a power failure at every moment since the failure.
    fn check(&mut self, scene: &Scene, ran: &Ran, what: &str) -> Verdict<()> {
        let Ran { disk, history, .. } = ran;
        let (system, promise) = (System { bug: None, ..scene.system }, disk.promise());
        let image = disk.image();
        let mut moments = disk.take_moments();
        moments.push(Moment { after: "the end".into(), image: image.clone(), promise });
        let mut dice = Dice::new(1);
        for mut moment in moments {
            // An error that says that nothing was committed says so of every moment of that commit.
            moment.promise.begun = moment.promise.begun.min(promise.begun);
            let mut failure = None;
            states::for_each(&moment.image, NameOrder::Any, PER_MOMENT, &mut dice, |state| {
                if failure.is_none() && self.seen.insert((state.hash(), moment.promise)) {
                    let checked = system.check(&state, history, moment.promise);
                    failure = checked.err().map(|why| describe(0, &moment, &state, &why));
                }
            });
            failure.map_or(Ok(()), |why| Err(format!("{what}: {why}")))?;
        }
        if !self.restarted.insert((states::hash_visible(&image), promise)) {
            return Ok(());
        }
        let found = guarded(|| system.read(&Disk::of(image.clone()), history))
            .map_err(|why| format!("{what}, then a restart: {why}"))?;
        if !(promise.acknowledged..=promise.begun).contains(&found) {
            return Err(format!("{what}, then a restart: found {found}, possible {promise:?}"));
        }
        system.goes_on(image, found, history).map_err(|why| format!("{what}, then: {why}"))
    }
}

/// All the ways in which a call can go wrong.
fn ways(call: &str) -> Vec<How> {
    let mut ways: Vec<_> = ERRORS.map(How::Fails).into();
    let of = |starts: &[&str]| starts.iter().any(|start| call.starts_with(start));
    if of(&["create", "write", "sync", "publish", "delete"]) {
        ways.push(How::Lies(Other));
    }
    if of(&["write"]) {
        // A short write that cannot be completed: the disk is full, or takes nothing more.
        ways.extend([How::Torn(StorageFull), How::Torn(WriteZero)]);
    }
    if of(&["sync segment", "sync manifest", "sync deletes"]) {
        ways.push(How::DropsPages(Other));
    }
    ways
}

fn expected_kind(how: How) -> ErrorKind {
    let (How::Fails(kind) | How::Lies(kind) | How::Torn(kind) | How::DropsPages(kind)) = how;
    match kind {
        StorageFull | QuotaExceeded => ErrorKind::NoSpace,
        PermissionDenied => ErrorKind::PermissionDenied,
        _ => ErrorKind::Io,
    }
}

/// Whether everything is tried, or what fits a short test.
fn is_long() -> bool {
    std::env::var("TREEPIE_CRASH_STATES").is_ok()
}

#[test]
fn any_call_may_fail_in_any_way() {
    let scene = Scene::new(None, &SESSION);
    let clean = scene.run(scene.disk(), None);
    clean.result.as_ref().unwrap();
    let calls = clean.disk.calls();
    assert_eq!(calls.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from(CALLS));
    let (mut checked, mut injected, mut reported) = (Checked::default(), 0, 0);
    for (call, name) in calls.iter().enumerate() {
        for (nth, how) in ways(name).into_iter().enumerate() {
            let reaches = [Reach::Once, Reach::SameKind, Reach::Everything];
            for (kind, reach) in reaches.into_iter().enumerate() {
                // The short form takes one plain error for each call, with one reach, and all else.
                let turn = nth == call % ERRORS.len() && kind == call % reaches.len();
                if nth < ERRORS.len() && !turn && !is_long() {
                    continue;
                }
                // A disk that is gone says so.
                if reach == Reach::Everything && !matches!(how, How::Fails(_)) {
                    continue;
                }
                let fault = Fault { call, how, reach };
                let ran = scene.run_and_check(fault, name, &mut checked);
                let ran = ran.unwrap_or_else(|why| panic!("{why}"));
                injected += 1;
                match &ran.result {
                    Ok(()) => {
                        assert!(!must_be_reported(name), "{fault:?} in {name} is not reported")
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), expected_kind(how), "{fault:?}: {error}");
                        reported += 1;
                    }
                }
            }
        }
    }
    println!(
        "{injected} failures at all {} calls of {} kinds, {reported} of them reported; {} restarts and \
         {} power failures from distinct states: 0 lost, 0 unreadable, 0 panics",
        calls.len(),
        CALLS.len(),
        checked.restarted.len(),
        checked.seen.len()
    );
}

/// Whether a failure of this call cannot be passed over. Others may happen while old files are cleared
/// away, after the commit.
fn must_be_reported(name: &str) -> bool {
    let starts = ["create", "write", "sync segment", "sync manifest", "publish", "lock"];
    starts.iter().any(|start| name.starts_with(start))
}

#[test]
fn calls_on_spilled_runs_may_fail_in_any_way() {
    let scene = Scene::new(None, &[Step::Spill { docs: 40_000 }]);
    let clean = scene.run(scene.disk(), None);
    clean.result.as_ref().unwrap();
    let calls = clean.disk.calls();
    // Before, runs that a crashed writer left are deleted.
    let building = calls.iter().position(|call| *call == "create run").expect("runs are spilled");
    let (mut checked, mut injected) = (Checked::default(), 0);
    for name in CALLS_ON_RUNS {
        let first = calls[building..].iter().position(|call| *call == name);
        let first = building + first.expect("runs are spilled");
        // That of the dictionary, which does not fit either, comes last.
        let last = calls.iter().rposition(|call| *call == name).unwrap_or(first);
        let ways = ways(name);
        // Each takes a build of some size: the short form goes one way.
        let skipped = if is_long() { 0 } else { ways.len() - 1 };
        for (nth, how) in ways.into_iter().enumerate().skip(skipped) {
            let call = if is_long() && nth % 2 == 0 { first } else { last };
            let reach = [Reach::Once, Reach::SameKind, Reach::Everything][injected % 3];
            let reach = if matches!(how, How::Fails(_)) { reach } else { Reach::Once };
            let fault = Fault { call, how, reach };
            let ran = scene.run_and_check(fault, name, &mut checked);
            let error = ran.unwrap_or_else(|why| panic!("{why}")).result.unwrap_err();
            assert_eq!(error.kind(), expected_kind(how), "{fault:?} in {name}: {error}");
            // While documents are added there is no commit yet that could have an outcome.
            let outcome = error.commit_outcome();
            assert!(matches!(outcome, None | Some(CommitOutcome::NotCommitted)), "{error}");
            injected += 1;
        }
    }
    println!("{injected} failures at calls on spilled runs: 0 lost, 0 unreadable, 0 panics");
}

#[test]
fn after_any_failure_a_writer_that_rolls_back_goes_on() {
    let scene = Scene::new(None, &[]);
    let begin = |disk: &Disk| {
        let index = Index::options().open_storage(scene.system.storage(disk))?;
        let writer = scene.system.writer(&index, &scene.history)?;
        Ok::<_, Error>((index, writer))
    };
    let add = |writer: &mut IndexWriter, titles: Vec<Arc<str>>| {
        titles.iter().try_for_each(|title| writer.add(document(title)))
    };
    let session = |writer: &mut IndexWriter, history: &mut History| {
        let doomed = Query::phrase(&*history.commits[2][0]).in_field("title");
        add(writer, history.begin(2))?;
        history.forget(0);
        writer.delete(&doomed)?;
        writer.commit()
    };
    let (mut history, disk) = (scene.history.clone(), scene.disk());
    let (_index, mut writer) = begin(&disk).unwrap();
    session(&mut writer, &mut history).unwrap();
    let calls = disk.calls();
    let mut failures = 0;
    for (call, name) in calls.iter().enumerate() {
        for how in ways(name) {
            let (disk, mut history) = (scene.disk(), scene.history.clone());
            let fault = Fault { call, how, reach: Reach::Once };
            disk.set_fault(Some(fault), Promise { acknowledged: 2, begun: 2 });
            let Ok((index, mut writer)) = begin(&disk) else { continue };
            let failed = session(&mut writer, &mut history).is_err();
            if failed {
                writer.rollback().unwrap_or_else(|error| panic!("{fault:?} in {name}: {error}"));
                let found = index.searcher().unwrap().generation();
                history.commits.truncate(found as usize + 1);
                failures += 1;
            }
            let mut history = history.up_to(history.commits.len() as u64 - 1);
            add(&mut writer, history.begin(1)).unwrap();
            let commit = writer.commit().unwrap();
            assert_eq!(
                commit.generation as usize + 1,
                history.commits.len(),
                "{fault:?} in {name}"
            );
            drop((index, writer));
            let read = scene.system.read(&disk, &history);
            assert_eq!(read, Ok(commit.generation), "{fault:?} in {name}");
        }
    }
    println!("{failures} failures, after each of which the writer rolled back and went on");
    assert!(failures > 100, "{failures}");
}

#[test]
fn a_disk_that_gets_full_at_any_byte_leaves_the_commit_before() {
    let scene = Scene::new(None, &SESSION);
    let step = if is_long() { 8 } else { 128 };
    let (mut checked, mut failures) = (Checked::default(), 0);
    for room in (0..).step_by(step) {
        let disk = scene.disk();
        disk.set_quota(Some(disk.used() + room));
        let ran = scene.run(disk, None);
        let what = format!("a disk with room for {room} bytes");
        // From here on there is room again.
        checked.check(&scene, &ran, &what).unwrap_or_else(|why| panic!("{why}"));
        match ran.result {
            Ok(()) => break,
            Err(error) => assert_eq!(error.kind(), ErrorKind::NoSpace, "{what}: {error}"),
        }
        failures += 1;
    }
    println!("{failures} sizes of a disk that is too small, {step} bytes apart: 0 lost");
    assert!(failures > 20);
}

/// How many of the calls whose name starts so show the bug when they go wrong, and of how many.
fn find(bug: Bug, steps: &'static [Step], calls: &[&str], how: How) -> (usize, usize) {
    let scene = Scene::new(Some(bug), steps);
    let clean = scene.run(scene.disk(), None);
    clean.result.as_ref().unwrap();
    let all = clean.disk.calls();
    let at_fault = all.iter().enumerate().filter(|(_, name)| calls.contains(*name));
    let shows = |(call, name): &(usize, &&str)| {
        let fault = Fault { call: *call, how, reach: Reach::Once };
        let why = scene.run_and_check(fault, name, &mut Checked::default()).err();
        why.is_some()
    };
    (at_fault.clone().filter(shows).count(), at_fault.count())
}

#[test]
fn planted_bugs_of_failing_calls_are_found() {
    let syncs = ["sync segment", "sync manifest", "sync deletes"];
    // Without the commit that is taken back: what was lost of its manifest is lost on purpose.
    let steps = &SESSION[2..];
    let (found, of) = find(Bug::RetriedSync, steps, &syncs, How::DropsPages(Other));
    println!("RetriedSync found at {found} of {of} calls");
    assert_eq!(found, of);
    let writes = ["write segment", "write manifest", "write deletes"];
    let (found, of) = find(Bug::IgnoredShortWrite, &OLD_DELETED, &writes, How::Torn(WriteZero));
    println!("IgnoredShortWrite found at {found} of {of} calls");
    // A write of nothing cannot be cut short.
    assert!(found * 10 >= of * 8, "{found} of {of}");
}
