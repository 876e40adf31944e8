//! The writer of the soak: all kinds of work, one after the other, until it is killed.
//!
//! It says what it is about to do and what it has done: `opening`, `opened STEP`, `committing STEP`,
//! `committed STEP GENERATION`, `at WORK`, `did WORK`; `waiting` while there is no room to open or to roll back;
//! `failed OUTCOME` where the disk was full, whereupon it waits to be told to go on, and then says `resumed STEP`.

use super::steps::{all_of, check, take_step};
use super::{is_long, rest};
use crate::content::{make_a_mess, noise, steps_of};
use crate::process::Parent;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};
use treepie::storage::WriteMode;
use treepie::writer::{CommitInfo, MergePolicy};
use treepie::{
    CancelToken, Error, ErrorKind, Index, IndexReader, IndexWriter, Result, SharedWriter,
    WriterOptions,
};

/// So slow that commits come in between, and cancels.
const MERGE_BYTES_PER_SECOND: u64 = 512 << 10;

/// How far the writer is, for whoever reads in its process.
#[derive(Default)]
struct Progress {
    committed: AtomicU64,
    /// The last step that may be visible.
    begun: AtomicU64,
}

struct Worker<'p> {
    parent: &'p Parent,
    index: Index,
    writer: SharedWriter,
    step: u64,
    progress: Arc<Progress>,
    /// Whether a merge failed of which it is not known whether the writer is of use since.
    had_no_room_to_merge: bool,
}

pub(crate) fn write(parent: &Parent) {
    parent.say("opening");
    let dice = noise(u64::from(std::process::id()));
    let mode = [WriteMode::Auto, WriteMode::FileIo, WriteMode::Direct][dice as usize % 3];
    let index = Index::options().write_mode(mode).open(&parent.place).unwrap();
    let writer = open(parent, &index);
    let step = steps_of(&index).unwrap();
    parent.say(format!("opened {step}"));
    let progress = Arc::new(Progress::default());
    progress.committed.store(step, Ordering::SeqCst);
    let mut worker = Worker { parent, index, writer, step, progress, had_no_room_to_merge: false };
    let (reader, progress) = (worker.index.reader().unwrap(), Arc::clone(&worker.progress));
    thread::spawn(move || follow(&reader, &progress));
    let mut nth = dice;
    while !parent.wants_the_end() {
        nth += 1;
        let started = Instant::now();
        if let Err(error) = worker.work(noise(nth)) {
            worker = worker.recover(&error, nth);
        }
        sleep(if is_long() { started.elapsed() } else { Duration::ZERO });
    }
}

/// Becomes the writer once there is room for that.
fn open(parent: &Parent, index: &Index) -> SharedWriter {
    until_there_is_room(parent, || {
        let policy = MergePolicy::default().factor(4);
        let options = WriterOptions::new().threads(1).merge_policy(policy);
        let options = options.merge_bytes_per_second(MERGE_BYTES_PER_SECOND);
        index.writer_with(options).map(IndexWriter::into_shared)
    })
}

fn until_there_is_room<T>(parent: &Parent, mut work: impl FnMut() -> Result<T>) -> T {
    loop {
        match work() {
            Ok(done) => return done,
            Err(error) => assert_eq!(error.kind(), ErrorKind::NoSpace, "{error}"),
        }
        parent.say("waiting");
        sleep(Duration::from_millis(5));
    }
}

impl Worker<'_> {
    /// Does one of the things that there are to do.
    fn work(&mut self, dice: u64) -> Result<()> {
        match dice % 16 {
            0 => {
                self.writer.with(make_a_mess)?;
                self.roll_back()
            }
            1 => {
                self.take_and_flush(dice)?;
                self.roll_back()
            }
            2..=4 => {
                self.take_and_flush(dice)?;
                self.take(dice)?;
                self.commit(IndexWriter::commit)
            }
            5 | 6 => {
                self.take(dice)?;
                self.prepare_and_take_back()?;
                self.take(dice)?;
                self.commit(|writer| writer.prepare_commit()?.finish())
            }
            7 | 8 => self.take_and_commit_together(dice),
            9..=11 => self.merge_beside(dice),
            12 => self.maintain(),
            13 => {
                self.at("merge_to");
                self.writer.with(|writer| writer.merge_to(1 + dice as usize / 16 % 4))?;
                self.did("merge_to");
                Ok(())
            }
            _ => {
                self.take(dice)?;
                self.commit(IndexWriter::commit)
            }
        }
    }

    fn at(&self, what: &str) {
        self.parent.say(format!("at {what}"));
    }

    fn did(&self, what: &str) {
        self.parent.say(format!("did {what}"));
    }

    /// Takes the next step, by one thread or several.
    fn take(&mut self, dice: u64) -> Result<()> {
        self.step += 1;
        self.progress.begun.fetch_max(self.step, Ordering::SeqCst);
        take_step(&self.writer, self.step, 1 + (dice >> 4) as usize % 3)
    }

    fn take_and_flush(&mut self, dice: u64) -> Result<()> {
        self.take(dice)?;
        self.at("flush");
        self.writer.flush()?;
        self.did("flush");
        Ok(())
    }

    fn roll_back(&mut self) -> Result<()> {
        self.at("rollback");
        self.writer.rollback()?;
        self.did("rollback");
        self.step = self.progress.committed.load(Ordering::SeqCst);
        Ok(())
    }

    fn prepare_and_take_back(&self) -> Result<()> {
        self.at("prepare");
        self.writer.with(|writer| writer.prepare_commit().map(drop))?;
        self.did("take back");
        Ok(())
    }

    /// Commits in some way, and says so before and afterwards.
    fn commit(
        &mut self,
        committing: impl FnOnce(&mut IndexWriter) -> Result<CommitInfo>,
    ) -> Result<()> {
        self.begin_commit()?;
        let commit = self.writer.with(committing)?;
        self.end_commit(&commit);
        Ok(())
    }

    fn begin_commit(&self) -> Result<()> {
        self.parent.say(format!("committing {}", self.step));
        self.writer.set_payload(self.step.to_le_bytes()).map(drop)
    }

    fn end_commit(&mut self, commit: &CommitInfo) {
        self.had_no_room_to_merge = false;
        self.parent.say(format!("committed {} {}", self.step, commit.generation));
        self.progress.committed.store(self.step, Ordering::SeqCst);
    }

    /// Several threads ask for the same commit.
    fn take_and_commit_together(&mut self, dice: u64) -> Result<()> {
        self.take(dice)?;
        self.begin_commit()?;
        let commits: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| self.writer.commit())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        // Whoever comes late gets a commit of its own, which may fail though that of the others did not.
        if let Some(last) = commits.iter().flatten().max_by_key(|commit| commit.generation) {
            self.end_commit(last);
            if commits.iter().any(Result::is_err) {
                self.did("group commit before one that failed");
            }
        }
        all_of::<_, Vec<_>>(commits.into_iter())?;
        self.did("group commit");
        Ok(())
    }

    /// Merges on another thread while this one commits, until that is done or somebody cancels.
    fn merge_beside(&mut self, dice: u64) -> Result<()> {
        let Some(job) = self.writer.with(IndexWriter::begin_merge)? else { return self.work(15) };
        self.at("merge job");
        let cancel = CancelToken::new();
        let running = {
            let cancel = cancel.clone();
            thread::spawn(move || job.run(&cancel))
        };
        if (dice >> 8).is_multiple_of(2) {
            let cancel = cancel.clone();
            thread::spawn(move || {
                sleep(Duration::from_micros((dice >> 9) % 50_000));
                cancel.cancel();
            });
        }
        let taken = self.take(dice).and_then(|()| self.commit(IndexWriter::commit));
        // Whatever was begun before that is of no use then.
        let taken = match (dice >> 30) % 8 {
            0 => taken.and_then(|()| self.roll_back()),
            _ => taken,
        };
        if taken.is_err() {
            cancel.cancel();
        }
        let merged = running.join().expect("a merge that does not panic");
        taken?;
        match merged {
            Ok(merged) => {
                self.at("finish merge");
                let taken_in = self.writer.with(|writer| writer.finish_merge(merged))?;
                self.did(if taken_in { "merge job" } else { "stale merge job" });
            }
            Err(error) if error.kind() == ErrorKind::Cancelled && cancel.is_cancelled() => {
                self.did("cancelled merge job");
            }
            Err(error) => self.go_on_without_a_merge(error)?,
        }
        Ok(())
    }

    fn maintain(&mut self) -> Result<()> {
        self.at("maintain");
        let n_merges = match self.writer.with(IndexWriter::maintain) {
            Err(error) => {
                // Where it was the commit of the merge that failed the next call says so.
                self.had_no_room_to_merge = true;
                return self.go_on_without_a_merge(error);
            }
            Ok(n_merges) => n_merges,
        };
        (0..n_merges).for_each(|_| self.did("maintain"));
        Ok(())
    }

    /// A merge that finds no room costs nothing: the next commit must work if there is room for that.
    fn go_on_without_a_merge(&self, error: Error) -> Result<()> {
        if error.kind() != ErrorKind::NoSpace {
            return Err(error);
        }
        self.did("merge without room");
        Ok(())
    }

    /// After an error, which can only be that the disk was full: with the same writer or with a new one.
    fn recover(self, error: &Error, nth: u64) -> Self {
        let is_told_late = self.had_no_room_to_merge && error.kind() == ErrorKind::Poisoned;
        assert!(error.kind() == ErrorKind::NoSpace || is_told_late, "{error}");
        self.parent.say(format!("failed {:?}", error.commit_outcome()));
        assert_eq!(self.parent.hear(), "go on");
        let Worker { parent, index, mut writer, progress, .. } = self;
        if nth.is_multiple_of(2) {
            until_there_is_room(parent, || writer.rollback());
        } else {
            drop(writer);
            writer = open(parent, &index);
            // A commit of which nobody knew whether it happened.
            index.reader().and_then(|reader| reader.refresh()).unwrap();
        }
        let step = steps_of(&index).unwrap();
        progress.committed.store(step, Ordering::SeqCst);
        parent.say(format!("resumed {step}"));
        Worker { parent, index, writer, step, progress, had_no_room_to_merge: false }
    }
}

/// Reads what is flushed and committed in the process of the writer; ends the process where that is wrong.
fn follow(reader: &IndexReader, progress: &Progress) {
    let mut changes = reader.subscribe();
    loop {
        let least = progress.committed.load(Ordering::SeqCst);
        let Some(searcher) = changes.next_within(Duration::from_secs(1)) else { continue };
        let started = Instant::now();
        let found = check(&searcher).map(|(step, _)| step);
        let most = progress.begun.load(Ordering::SeqCst);
        if !found.as_ref().is_ok_and(|step| (least..=most.max(least)).contains(step)) {
            eprintln!("in the process of the writer, between {least} and {most}: {found:?}");
            std::process::exit(1);
        }
        rest(started.elapsed());
    }
}
