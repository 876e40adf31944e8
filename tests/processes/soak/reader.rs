//! The readers of the soak: they search all the time, stop searches or let them end, reload, and keep what they
//! have opened.

use super::steps::check_commit;
use super::{is_long, rest};
use crate::content::{Content, noise};
use crate::process::Parent;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};
use treepie::search::{Relation, Stopped};
use treepie::storage::ReadMode;
use treepie::{Budget, CancelToken, Error, ErrorKind, Hits, Index, Searcher};

/// Snapshots that are kept while newer ones come.
const KEPT: usize = 3;

/// What a reader says now and then, and how often: nobody waits long for one who is silent.
pub(super) const ALIVE: &str = "alive";
const ALIVE_EVERY: Duration = Duration::from_secs(30);

/// A query and what it matches, as anybody can see from a text.
type Question = (&'static str, fn(&str) -> bool);

const QUESTIONS: [Question; 8] = [
    ("word3", |text| has(text, "word3")),
    ("word1 AND other2", |text| has(text, "word1") && has(text, "other2")),
    ("word0 OR other6", |text| has(text, "word0") || has(text, "other6")),
    ("since -word4", |text| has(text, "since") && !has(text, "word4")),
    ("\"word2 other3\"", |text| text.contains(" word2 other3 ")),
    ("other* -longer", |text| text.contains(" other") && !has(text, "longer")),
    ("/group1[0-9]/", |text| {
        text.split(' ').any(|word| word.len() == 7 && word.starts_with("group1"))
    }),
    ("group:IN [group3 group4]", |text| has(text, "group3") || has(text, "group4")),
];

fn has(text: &str, word: &str) -> bool {
    text.split(' ').any(|own| own == word)
}

/// A snapshot, what it holds, and what it must answer.
struct View {
    searcher: Searcher,
    step: u64,
    content: Content,
    counts: Vec<u64>,
}

impl View {
    /// Compares all of a snapshot with the commit that it must be.
    fn of(searcher: Searcher) -> Result<View, String> {
        let (step, content) = check_commit(&searcher)?;
        let count =
            |question: &Question| content.values().filter(|text| (question.1)(text)).count() as u64;
        let counts = QUESTIONS.iter().map(count).collect();
        Ok(View { searcher, step, content, counts })
    }

    /// Once more, as it was, with its files in the directory: nothing is collected that somebody has open.
    fn check(&self, index: &Path) -> Result<(), String> {
        let manifest = format!("manifest-{:016x}", self.searcher.generation());
        if !index.join(&manifest).exists() {
            return Err(format!("{manifest} was collected, though it is open"));
        }
        let (step, content) = check_commit(&self.searcher)?;
        let is_same = (step, &content) == (self.step, &self.content);
        if is_same { Ok(()) } else { Err(format!("step {} has become step {step}", self.step)) }
    }
}

/// How a search is stopped.
#[derive(Clone, Copy, Default)]
struct Stop {
    timeout: Option<Duration>,
    cancel: Option<Duration>,
    is_partial: bool,
}

impl Stop {
    fn by(dice: u64) -> Stop {
        // Most end sooner, so some are stopped before they begin.
        let after = Some(Duration::from_micros((dice >> 8) % 400 * u64::from(dice & 128 != 0)));
        let is_partial = dice & 64 != 0;
        match dice % 4 {
            0 => Stop { timeout: after, is_partial, ..Stop::default() },
            1 => Stop { cancel: after, is_partial, ..Stop::default() },
            2 => Stop { timeout: after, cancel: after, is_partial },
            _ => Stop::default(),
        }
    }

    /// Whether somebody asked for that.
    fn explains(self, stopped: Stopped) -> bool {
        if stopped == Stopped::Timeout { self.timeout.is_some() } else { self.cancel.is_some() }
    }
}

struct Reader<'p> {
    parent: &'p Parent,
    index: Index,
    mode: ReadMode,
    newest: View,
    /// Older ones, some for a short time and one for long.
    kept: VecDeque<View>,
    long_kept: Option<(Instant, View)>,
    /// To somebody who cancels.
    tokens: Sender<(CancelToken, Duration)>,
    counts: BTreeMap<&'static str, u64>,
}

/// Reads until it is told to end, and says that it is [`ALIVE`]. Says then how often it did what: `WHAT N`.
pub(crate) fn read(parent: &Parent) -> Result<(), String> {
    let mode = if std::process::id().is_multiple_of(2) { ReadMode::Mmap } else { ReadMode::Pread };
    let index = Index::options().read_mode(mode).open(&parent.place).map_err(told)?;
    let newest = View::of(index.searcher().map_err(told)?)?;
    let (tokens, waiting) = mpsc::channel::<(CancelToken, Duration)>();
    thread::spawn(move || {
        for (token, after) in waiting {
            sleep(after);
            token.cancel();
        }
    });
    let (kept, counts) = (VecDeque::new(), BTreeMap::new());
    let mut reader = Reader { parent, index, mode, newest, kept, long_kept: None, tokens, counts };
    parent.say("reading");
    let mut nth = u64::from(std::process::id()) << 32;
    let mut said = Instant::now();
    while !parent.wants_the_end() {
        nth += 1;
        let started = Instant::now();
        if said.elapsed() > ALIVE_EVERY {
            said = Instant::now();
            parent.say(ALIVE);
        }
        reader.work(nth)?;
        rest(started.elapsed());
    }
    for (what, n) in reader.counts {
        parent.say(format!("{what} {n}"));
    }
    Ok(())
}

fn told(error: Error) -> String {
    error.to_string()
}

impl Reader<'_> {
    fn work(&mut self, nth: u64) -> Result<(), String> {
        self.reload()?;
        for more in 0..8 {
            let dice = noise(nth * 8 + more);
            let n_views = 2 + self.kept.len() as u64;
            let view = match (dice >> 32) % n_views {
                0 => &self.newest,
                1 => self.long_kept.as_ref().map_or(&self.newest, |(_, view)| view),
                n => &self.kept[n as usize - 2],
            };
            let what = search(view, dice >> 4, Stop::by(dice >> 8), &self.tokens)?;
            self.did(what);
        }
        if nth.is_multiple_of(8) {
            self.kept.front().map_or(Ok(()), |view| view.check(&self.parent.place))?;
            self.did("looks at kept snapshots");
        }
        if nth.is_multiple_of(16) {
            self.open_anew()?;
        }
        if nth.is_multiple_of(64) {
            self.copy()?;
        }
        Ok(())
    }

    fn did(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn reload(&mut self) -> Result<(), String> {
        self.did("reloads");
        let Some(newer) = self.newest.searcher.reload().map_err(told)? else { return Ok(()) };
        let newer = View::of(newer)?;
        let (last, step) = (self.newest.step, newer.step);
        if step < last || newer.searcher.generation() <= self.newest.searcher.generation() {
            return Err(format!("went back from step {last} to {step}"));
        }
        self.did("new snapshots");
        self.kept.push_back(std::mem::replace(&mut self.newest, newer));
        let is_due = |(since, _): &(Instant, View)| since.elapsed() > long();
        if self.kept.len() > KEPT
            && let Some(oldest) = self.kept.pop_front()
            && self.long_kept.as_ref().is_none_or(is_due)
            && let Some((_, kept)) = self.long_kept.replace((Instant::now(), oldest))
        {
            kept.check(&self.parent.place)?;
            self.did("snapshots kept for long");
        }
        Ok(())
    }

    fn open_anew(&mut self) -> Result<(), String> {
        let index = Index::options().read_mode(self.mode).open(&self.parent.place);
        let fresh = View::of(index.and_then(|index| index.searcher()).map_err(told)?)?;
        let last = self.newest.step;
        if fresh.step < last {
            return Err(format!("found step {} after {last}", fresh.step));
        }
        self.did("openings");
        Ok(())
    }

    /// Copies by hard links, for which there may be no room, and in memory.
    fn copy(&mut self) -> Result<(), String> {
        let to = self.parent.place.with_extension(format!("copy-{}", std::process::id()));
        match self.index.copy_to(&to) {
            Ok(_) => {
                let copy = Index::open(&to).and_then(|copy| copy.searcher()).map_err(told)?;
                check_commit(&copy)?;
                self.did("copies");
            }
            Err(error) if error.kind() == ErrorKind::NoSpace => self.did("copies without room"),
            Err(error) => return Err(format!("copying: {error}")),
        }
        let removed = std::fs::remove_dir_all(&to);
        removed.or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error.to_string()),
        })?;
        let image = self.index.to_image().map_err(|error| format!("packing: {error}"))?;
        let image = Index::open_bytes(image).and_then(|index| index.searcher()).map_err(told)?;
        check_commit(&image)?;
        self.did("images");
        Ok(())
    }
}

/// Asks a snapshot something and compares what it answers; how that ended.
fn search(
    view: &View,
    dice: u64,
    stop: Stop,
    tokens: &Sender<(CancelToken, Duration)>,
) -> Result<&'static str, String> {
    let nth = dice as usize % QUESTIONS.len();
    let text = QUESTIONS[nth].0;
    let query = view.searcher.parse(text).map_err(told)?;
    let mut search = view.searcher.search(&query).limit(10).facet("group", 5);
    if let Some(timeout) = stop.timeout {
        search = search.timeout(timeout);
    }
    if let Some(after) = stop.cancel {
        let token = CancelToken::new();
        search = search.budget(Budget::new().cancel(&token));
        if after.is_zero() {
            token.cancel();
        } else {
            tokens.send((token, after)).map_err(|_| "nobody cancels")?;
        }
    }
    if stop.is_partial {
        search = search.partial();
    }
    let stopped = match search.run() {
        Ok(hits) => {
            compare(view, nth, &hits)
                .map_err(|what| format!("{text}, step {}: {what}", view.step))?;
            match hits.stopped {
                None => return Ok("searches"),
                Some(stopped) if stop.is_partial => stopped,
                Some(stopped) => return Err(format!("{text}: {stopped} without an error")),
            }
        }
        Err(error) if stop.is_partial => return Err(format!("{text}, partial: {error}")),
        Err(error) => match error.kind() {
            ErrorKind::Timeout => Stopped::Timeout,
            ErrorKind::Cancelled => Stopped::Cancelled,
            _ => return Err(format!("{text}: {error}")),
        },
    };
    if !stop.explains(stopped) {
        return Err(format!("{text}: {stopped}, and nobody asked for that"));
    }
    Ok(match (stopped == Stopped::Timeout, stop.is_partial) {
        (true, false) => "searches beyond their deadline",
        (true, true) => "parts found until a deadline",
        (false, false) => "cancelled searches",
        (false, true) => "parts found until cancelled",
    })
}

/// Each hit must be a document of the snapshot that matches; of what is counted all must be there.
fn compare(view: &View, nth: usize, hits: &Hits) -> Result<(), String> {
    let expected = view.counts[nth];
    let is_right = match hits.stopped {
        None => hits.total.relation == Relation::Exact && hits.total.value == expected,
        Some(_) => hits.total.value <= expected,
    };
    if !is_right {
        return Err(format!("{:?} documents, not {expected}", hits.total));
    }
    for hit in &hits.hits {
        let field = |name| hit.fields.get(name).map(ToString::to_string).unwrap_or_default();
        let (key, text) = (field("id"), field("text"));
        if view.content.get(&key) != Some(&text) || !(QUESTIONS[nth].1)(&text) {
            return Err(format!("{key}={text:.60} is among the hits"));
        }
    }
    let n_hits = hits.hits.len() as u64;
    let buckets = hits.facets.iter().flat_map(|facet| &facet.buckets);
    let counted: u64 = buckets.map(|bucket| bucket.count).sum();
    let (missing, other): (u64, Option<u64>) =
        hits.facets.iter().fold((0, Some(0)), |(missing, other), facet| {
            (missing + facet.missing, other.zip(facet.other).map(|(a, b)| a + b))
        });
    let is_whole = hits.stopped.is_some()
        || (n_hits == expected.min(10) && other.map(|n| n + counted + missing) == Some(expected));
    if is_whole { Ok(()) } else { Err(format!("{n_hits} hits, facets {:?}", hits.facets)) }
}

/// How long the one is kept that is kept for long.
fn long() -> Duration {
    Duration::from_secs(if is_long() { 60 } else { 1 })
}
