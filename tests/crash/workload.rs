//! What writers do while they are watched, and what each of their commits consists of.

use crate::bugs::{Bug, Buggy};
use crate::disk::Disk;
use crate::states::Dice;
use std::sync::Arc;
use treepie::error::CommitOutcome;
use treepie::geo::GeoPoint;
use treepie::query::Query;
use treepie::schema::{Metric, VectorParams};
use treepie::storage::Storage;
use treepie::writer::{CommitInfo, MergePolicy};
use treepie::{
    Document, ErrorKind, Field, FieldKind, Index, IndexWriter, Result, Schema, WriterOptions,
};

/// The titles of all documents of each commit, by generation; the first is none.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) commits: Vec<Arc<[Arc<str>]>>,
    /// Tells the documents of one session from those of another that made the same generation.
    session: usize,
}

impl History {
    pub(crate) fn new() -> Self {
        History { commits: vec![Arc::default()], session: 0 }
    }

    /// The history as the next session finds it that starts from `generation`.
    pub(crate) fn up_to(&self, generation: u64) -> Self {
        let commits = self.commits[..=generation as usize].to_vec();
        History { commits, session: self.session + 1 }
    }

    fn newest(&self) -> u64 {
        self.commits.len() as u64 - 1
    }

    /// Takes a document out of the commit that was begun.
    pub(crate) fn forget(&mut self, nth: usize) {
        let newest = self.newest() as usize;
        let mut titles = self.commits[newest].to_vec();
        titles.remove(nth);
        self.commits[newest] = titles.into();
    }

    /// Begins the next commit, of so many new documents; their titles.
    pub(crate) fn begin(&mut self, n_docs: usize) -> Vec<Arc<str>> {
        self.begin_with(n_docs, |n| format!("title {n} of {n_docs}"))
    }

    /// Begins the next commit, of so many documents with the keys of others, in whose place they come; their titles.
    fn begin_replacing(&mut self, n_docs: usize) -> Vec<Arc<str>> {
        let before = &self.commits[self.commits.len() - 1];
        let mut dice = Dice::new((self.commits.len() * 100 + self.session) as u64);
        let start = dice.below(before.len().max(1));
        let keys: Vec<String> =
            before.iter().skip(start).take(n_docs).map(|title| key_of(title).to_owned()).collect();
        let (generation, session) = (self.newest() + 1, self.session);
        let title = |(n, key)| format!("all s{session}g{generation} again {n} {key}").into();
        let new: Vec<Arc<str>> = keys.iter().enumerate().map(title).collect();
        let kept = before.iter().filter(|title| !keys.iter().any(|key| key == key_of(title)));
        self.commits.push(kept.chain(&new).cloned().collect());
        new
    }

    /// Takes about so many of a hundred documents out of the commit that was begun; their titles.
    fn delete(&mut self, percent: usize) -> Vec<Arc<str>> {
        let newest = self.newest() as usize;
        let mut dice = Dice::new((newest * 100 + self.session) as u64);
        let all = self.commits[newest].iter().cloned();
        let (doomed, kept): (Vec<_>, Vec<_>) = all.partition(|_| dice.below(100) < percent);
        self.commits[newest] = kept.into();
        doomed
    }

    fn begin_with(&mut self, n_docs: usize, text: impl Fn(usize) -> String) -> Vec<Arc<str>> {
        let (generation, session) = (self.newest() + 1, self.session);
        let title = |n| {
            format!("all s{session}g{generation} {} s{session}g{generation}n{n}", text(n)).into()
        };
        let new: Vec<Arc<str>> = (0..n_docs).map(title).collect();
        let before = &self.commits[self.commits.len() - 1];
        self.commits.push(before.iter().chain(&new).cloned().collect());
        new
    }
}

/// The key of a document, by its title.
fn key_of(title: &str) -> &str {
    title.rsplit(' ').next().unwrap_or_default()
}

/// The document of a title.
pub(crate) fn document(title: &str) -> Document {
    let document = Document::new().with("title", title).with("kind", "k").with("id", key_of(title));
    document.with("near", near(title)).with("spot", spot(title))
}

/// The point of a title.
pub(crate) fn spot(title: &str) -> GeoPoint {
    let [_, all, some] = near(title);
    GeoPoint::new(f64::from(some % 90.0), f64::from(all % 180.0)).unwrap()
}

/// The vector of a title.
pub(crate) fn near(title: &str) -> [f32; 3] {
    let sum = |step: usize| title.bytes().step_by(step).map(f32::from).sum();
    [1.0, sum(1), sum(2)]
}

/// Merges of one call that a history has room for.
const MERGES_MAX: usize = 16;

/// The library, with or without one of the bugs that the tests must find.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct System {
    pub(crate) bug: Option<Bug>,
    /// The same session names its segments alike each time, so that two runs can be compared.
    pub(crate) fixed_ids: bool,
    /// Documents do not replace each other. Whoever compares keys reads what was written just now, and notices some bugs.
    pub(crate) without_key: bool,
    /// Segments lie in the order of keys, the greatest first, so that what a commit adds is written twice.
    pub(crate) ordered: bool,
}

/// One thing that a session does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Adds documents, and commits with a payload of so many bytes.
    Commit { docs: usize, payload: usize },
    /// Adds documents, deletes about so many of a hundred of those that are there, and commits.
    Delete { docs: usize, percent: usize },
    /// Adds documents and flushes after each, takes a prepared commit back, and commits.
    Flushed { docs: usize },
    /// Adds documents and flushes after each, deletes, takes a prepared commit back, and rolls it all back.
    RollBack { docs: usize },
    /// Adds documents with the keys of so many that are there, and commits.
    Replace { docs: usize },
    /// Merges what is due, each time in a commit.
    Maintain,
    /// Adds documents, commits, and makes all segments one.
    Merge { docs: usize },
    /// Adds so many documents of many words that runs are spilled, and commits.
    Spill { docs: usize },
    /// Closes the writer and opens another.
    Reopen,
    /// Opens a searcher that stays open, and closes the one before.
    Read,
    /// Packs the newest commit into one image.
    Pack,
    /// Closes the writer, adds a field to the index, which is a commit, and opens another.
    AddField,
}

impl System {
    pub(crate) fn storage(&self, disk: &Disk) -> Arc<dyn Storage> {
        match self.bug {
            None => Arc::new(disk.clone()),
            Some(bug) => Arc::new(Buggy::new(disk.clone(), bug)),
        }
    }

    pub(crate) fn index(&self, storage: Arc<dyn Storage>, history: &History) -> Result<Index> {
        match history.newest() {
            0 => {
                let kind = Field::new("kind", FieldKind::Keyword);
                let near = VectorParams::new(3, Metric::Cosine);
                let schema = Schema::builder().text("title").field(kind).vector("near", near);
                let schema = schema.point("spot");
                let schema = match self.without_key {
                    true => schema.keyword("id"),
                    false => {
                        let id = Field::new("id", FieldKind::Keyword).column(self.ordered);
                        schema.field(id).key("id")
                    }
                };
                let schema = if self.ordered { schema.order_by(["-id"]) } else { schema };
                Index::options().open_or_create_in(storage, schema.build()?)
            }
            _ => Index::options().open_storage(storage),
        }
    }

    /// A writer that works on this thread, so that every run makes the same calls.
    pub(crate) fn writer(&self, index: &Index, history: &History) -> Result<IndexWriter> {
        let policy = MergePolicy::default().factor(2);
        let mut options =
            WriterOptions::new().threads(1).memory_bytes(16 << 20).merge_policy(policy);
        let mut seed = [0xAA; 16];
        seed[8] = history.newest() as u8;
        if self.fixed_ids {
            seed[9] = history.session as u8;
            options = options.reproducible_ids(seed);
        } else if self.bug == Some(Bug::NameReuse) {
            options = options.reproducible_ids(seed);
        }
        index.writer_with(options)
    }

    /// Does what the steps say until one fails; `history` and the disk know how far it came.
    pub(crate) fn run(&self, disk: &Disk, history: &mut History, steps: &[Step]) -> Result<()> {
        let storage = self.storage(disk);
        let mut index = self.index(storage, history)?;
        let mut writer = self.writer(&index, history)?;
        let mut reader = None;
        for step in steps {
            match *step {
                Step::Commit { docs, payload } => {
                    add(&mut writer, history.begin(docs))?;
                    writer.set_payload(vec![0x5A; payload]).unwrap();
                    commit(disk, history, &mut writer, |writer| writer.commit())?;
                }
                Step::Delete { docs, percent } => {
                    add(&mut writer, history.begin(docs))?;
                    let doomed = history.delete(percent);
                    // One that fails leaves the writer as it was.
                    doomed.iter().try_for_each(|title| {
                        let query = Query::phrase(&**title).in_field("title");
                        writer.delete(&query)
                    })?;
                    commit(disk, history, &mut writer, |writer| {
                        let commit = writer.commit()?;
                        assert_eq!(commit.deleted, doomed.len() as u64, "documents deleted");
                        Ok(commit)
                    })?;
                }
                Step::Flushed { docs } => {
                    for title in history.begin(docs) {
                        add(&mut writer, vec![title])?;
                        writer.flush()?;
                    }
                    drop(writer.prepare_commit()?);
                    commit(disk, history, &mut writer, |writer| writer.commit())?;
                }
                Step::RollBack { docs } => {
                    // Of another session, so that nobody takes them for what is committed later.
                    let mut never = history.up_to(history.newest());
                    for title in never.begin(docs) {
                        add(&mut writer, vec![title])?;
                        writer.flush()?;
                    }
                    never
                        .delete(50)
                        .iter()
                        .try_for_each(|title| writer.delete_key(key_of(title)))?;
                    drop(writer.prepare_commit()?);
                    writer.rollback()?;
                }
                Step::Replace { docs } => {
                    let replacing = history.begin_replacing(docs);
                    let n = replacing.len() as u64;
                    add(&mut writer, replacing)?;
                    commit(disk, history, &mut writer, |writer| {
                        let commit = writer.commit()?;
                        assert_eq!((commit.added, commit.deleted), (n, n), "documents replaced");
                        Ok(commit)
                    })?;
                }
                Step::Maintain => maintain(disk, history, &mut writer)?,
                Step::Merge { docs } => {
                    add(&mut writer, history.begin(docs))?;
                    // What was added is committed first, as it is; then the merge is.
                    history.begin(0);
                    commit(disk, history, &mut writer, |writer| writer.merge())?;
                }
                Step::Spill { docs } => {
                    let words = |n| format!("{} {}", words(n), words(n + docs));
                    add(&mut writer, history.begin_with(docs, words))?;
                    commit(disk, history, &mut writer, |writer| {
                        let commit = writer.commit()?;
                        assert!(commit.runs_spilled > 0, "nothing was spilled");
                        Ok(commit)
                    })?;
                }
                Step::Reopen => {
                    drop(writer);
                    writer = self.writer(&index, history)?;
                }
                Step::Read => reader = Some(index.searcher()?),
                Step::Pack => drop(index.to_image()?),
                Step::AddField => {
                    drop(writer);
                    let field = Field::new(format!("f{}", history.newest()), FieldKind::Keyword);
                    history.begin(0);
                    let before = disk.promise().acknowledged;
                    disk.begin(history.newest());
                    let CommitInfo { generation, .. } =
                        index.add_fields([field]).inspect_err(|error| {
                            let outcome = error.commit_outcome();
                            let outcome = outcome.unwrap_or(CommitOutcome::NotCommitted);
                            settle(disk, before, outcome);
                        })?;
                    assert_eq!(generation, history.newest(), "the number of the commit");
                    disk.acknowledge(generation);
                    writer = self.writer(&index, history)?;
                }
            }
        }
        drop(reader);
        Ok(())
    }

    /// One session of one commit.
    pub(crate) fn add_and_commit(
        &self,
        disk: &Disk,
        history: &mut History,
        docs: usize,
        payload: usize,
    ) -> Result<()> {
        self.run(disk, history, &[Step::Commit { docs, payload }])
    }
}

/// Words that no other number has.
fn words(n: usize) -> String {
    let word =
        |nth: u64| format!("{:x} ", (n as u64 * 8 + nth).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    (0..8).map(word).collect()
}

fn add(writer: &mut IndexWriter, titles: Vec<Arc<str>>) -> Result<()> {
    let mut titles = titles.into_iter();
    let added = titles.try_for_each(|title| writer.add(document(&title)));
    if added.is_err() {
        assert_poisoned(writer);
    }
    added
}

/// Commits, and keeps account of what was promised: by an error too.
fn commit(
    disk: &Disk,
    history: &mut History,
    writer: &mut IndexWriter,
    work: impl FnOnce(&mut IndexWriter) -> Result<CommitInfo>,
) -> Result<()> {
    let before = disk.promise().acknowledged;
    disk.begin(history.newest());
    match work(writer) {
        Ok(CommitInfo { generation, .. }) => {
            // A merge of one segment is none, and then there is no commit of its own.
            history.commits.truncate(generation as usize + 1);
            assert_eq!(generation, history.newest(), "the number of the commit");
            disk.acknowledge(generation);
            Ok(())
        }
        Err(error) => {
            let outcome = error.commit_outcome().expect("an error of a commit has an outcome");
            settle(disk, before, outcome);
            // A merge that fails costs nothing, so the writer may go on.
            if outcome != CommitOutcome::Committed {
                assert_poisoned(writer);
            }
            Err(error)
        }
    }
}

/// What an error says of the commit that was begun.
fn settle(disk: &Disk, before: u64, outcome: CommitOutcome) {
    match outcome {
        CommitOutcome::NotCommitted => disk.begin(before),
        CommitOutcome::Unknown => {}
        CommitOutcome::Committed => disk.acknowledge(before + 1),
    }
}

/// Merges what is due. Of a call that fails some merges may be committed: the documents are the same.
fn maintain(disk: &Disk, history: &mut History, writer: &mut IndexWriter) -> Result<()> {
    let before = history.newest() as usize;
    (0..MERGES_MAX).for_each(|_| drop(history.begin(0)));
    disk.begin(history.newest());
    let n_merges = writer.maintain()?;
    history.commits.truncate(before + n_merges + 1);
    disk.acknowledge(history.newest());
    disk.begin(history.newest());
    Ok(())
}

fn assert_poisoned(writer: &mut IndexWriter) {
    let again = [writer.commit().map(drop), writer.merge().map(drop), writer.add(document("more"))];
    for again in again {
        let error = again.expect_err("a call after a failure");
        assert_eq!(error.kind(), ErrorKind::Poisoned, "{error}");
        assert_eq!(error.commit_outcome(), None, "{error}");
    }
}

/// What a session of a round does, by its seed.
pub(crate) fn steps(dice: &mut Dice, n: usize) -> Vec<Step> {
    let mut steps = vec![];
    for nth in 0..n {
        let docs = 1 + dice.below(3);
        let step = match dice.below(10) {
            // So that there is something to collect in every round.
            _ if nth == 3 => Step::Merge { docs },
            0 => Step::Merge { docs: dice.below(2) },
            1 => Step::Delete { docs: dice.below(3), percent: [20, 50, 100][dice.below(3)] },
            2 => Step::Flushed { docs },
            3 if nth > 0 => Step::Replace { docs },
            4 if nth > 0 => Step::Maintain,
            5 if nth > 0 => Step::AddField,
            // Manifests of one to four sectors.
            _ => Step::Commit { docs, payload: [0, 40, 700, 1_500][dice.below(4)] },
        };
        steps.push(step);
        if nth == 1 {
            steps.push(Step::RollBack { docs });
        }
        match dice.below(6) {
            0 => steps.push(Step::Reopen),
            1 => steps.push(Step::Read),
            _ => {}
        }
    }
    steps
}
