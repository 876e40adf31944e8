//! Searches that took long, written down with how they were answered.

use super::search::Search;
use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::events::{LogFile, Observer, Operation, What};
use crate::explain::{ExplainTree, SCHEMA_VERSION};
use crate::json::Json;
use crate::value::Timestamp;
use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Bytes of a file, until it is set aside and a new one is begun.
const BYTES_MAX_DEFAULT: u64 = 64 << 20;
/// Least time that a search may take again, and that planning may take if nothing is run again.
const GRACE: Duration = Duration::from_millis(10);

/// Log of slow searches, with their plans.
///
/// The log is given to an index by [`IndexOptions::slow_log`](crate::IndexOptions::slow_log). Every search through
/// [`SearchBuilder::run`](super::SearchBuilder::run), [`PreparedSearch::run`](super::PreparedSearch::run) and [`Searcher::count`](super::Searcher::count)
/// that takes as long as its threshold leaves a line, also one that ends with an error.
///
/// # Lines
///
/// JSON Lines: an object each, on one line. Names may be added, none is renamed within a `schema_version`, which is that of
/// the plan ([`explain::SCHEMA_VERSION`](crate::explain::SCHEMA_VERSION)).
///
/// ```text
/// {"schema_version":1,"at":"2026-11-24T04:00:00.123456Z","took_ns":812345678,"index":"titles.tp","request":{…},
///  "command":"search","query":"a*","error":null,"plan":{…}}
/// ```
///
/// `request` is what [`SearchRequest::to_json`](super::SearchRequest::to_json) writes, by which the search can be asked once
/// more, or null where it has a closure; of an index with limits of its own it is read [within
/// these](super::SearchRequest::from_json_within). `at` is when the search ended, `command` `search` or `count`, `error` the
/// message of a search that failed. `plan` is what [`ExplainTree::to_json`] writes, or null where there was no time to make it.
/// [`SlowSearch`](crate::explain::SlowSearch) reads a line back, and [`SlowestSearches`](crate::explain::SlowestSearches) finds
/// the worst of many.
///
/// # Cost
///
/// A search that is fast costs two looks at the clock, and nothing where there is no log. One that is slow is
/// [analyzed](super::SearchBuilder::analyze), which runs it again: the plan has what happened in *that* run, which may have found
/// everything in memory, while `took_ns` is what the search itself took. So that this makes nothing worse, only one search
/// of a log is analyzed at a time, it is given up after a bit more than twice the time of the search and at the search's
/// own deadline, and what was cancelled or has no time left is not run again: in all these cases the line has the plan alone,
/// or as much of what happened as there was time for.
///
/// # Example
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use std::time::Duration;
/// use treepie::storage::MemoryStorage;
/// use treepie::search::SlowLog;
/// use treepie::{Document, Index, Schema};
///
/// # #[derive(Clone, Default)] struct Shared(Arc<Mutex<Vec<u8>>>);
/// # impl std::io::Write for Shared {
/// #     fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> { self.0.lock().unwrap().write(bytes) }
/// #     fn flush(&mut self) -> std::io::Result<()> { Ok(()) }
/// # }
/// # let lines = Shared::default();
/// // Everything is slow; a file is named by `SlowLog::to_file("slow.jsonl", …)`.
/// let log = SlowLog::to_writer(lines.clone(), Duration::ZERO);
/// let schema = Schema::builder().text("title").build()?;
/// let index = Index::options().slow_log(log).create_in(Arc::new(MemoryStorage::new()), schema)?;
/// let mut writer = index.writer()?;
/// writer.add(Document::new().with("title", "Paris"))?;
/// writer.commit()?;
/// let searcher = index.searcher()?;
/// searcher.search(&searcher.parse("paris")?).run()?;
///
/// let line = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
/// assert!(line.contains(r#""command":"search","query":"paris","error":null,"plan":{"#));
/// # Ok::<(), treepie::Error>(())
/// ```
pub struct SlowLog {
    threshold: Duration,
    bytes_max: u64,
    /// Name in events.
    name: String,
    sink: Mutex<Sink>,
    /// Held while a search is run again.
    analyzing: Mutex<()>,
}

enum Sink {
    File(LogFile),
    Writer(Box<dyn Write + Send>),
}

impl SlowLog {
    /// Appends searches that take `threshold` or longer to the file `path`. The file is made if it does not exist. When
    /// it would grow beyond [`max_bytes`](Self::max_bytes), it gets the name `path.1`, in the place of an older one,
    /// and a new one is begun. Several processes may add to one file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] and the like where the file cannot be opened. A later error is told as an
    /// [event](crate::events::What::SlowSearch) and makes no search fail.
    pub fn to_file(path: impl Into<PathBuf>, threshold: Duration) -> Result<SlowLog> {
        let path = path.into();
        let failed = |error| Error::io("opening the log of slow searches", error).in_file(&path);
        let log = LogFile::open(&path).map_err(failed)?;
        Ok(SlowLog::new(path.display().to_string(), Sink::File(log), threshold))
    }

    /// Writes searches that take `threshold` or longer to `writer`. Each line is one call of
    /// [`write_all`](std::io::Write::write_all) and one of `flush`.
    pub fn to_writer(writer: impl Write + Send + 'static, threshold: Duration) -> SlowLog {
        SlowLog::new("a writer".to_owned(), Sink::Writer(Box::new(writer)), threshold)
    }

    fn new(name: String, sink: Sink, threshold: Duration) -> SlowLog {
        let (sink, analyzing) = (Mutex::new(sink), Mutex::default());
        SlowLog { threshold, bytes_max: BYTES_MAX_DEFAULT, name, sink, analyzing }
    }

    /// Sets the maximum bytes of a file (default 64 MiB). With the one that was set aside, the log takes twice that. A
    /// line that is larger is not written, and that is told as an event. For a writer nothing is counted.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> SlowLog {
        self.bytes_max = bytes;
        self
    }

    /// Writes a line, and gives how long it was.
    fn write(&self, mut line: String) -> io::Result<u64> {
        line.push('\n');
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        // A writer of the host's may panic, which is no reason for a search to fail.
        let written = catch_unwind(AssertUnwindSafe(|| match &mut *sink {
            Sink::File(log) => log.write(&line, self.bytes_max),
            Sink::Writer(writer) => writer.write_all(line.as_bytes()).and_then(|()| writer.flush()),
        }));
        written.unwrap_or_else(|_| Err(io::Error::other("the writer panicked")))?;
        Ok(line.len() as u64)
    }
}

impl fmt::Debug for SlowLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("SlowLog");
        debug.field("name", &self.name).field("threshold", &self.threshold);
        debug.field("bytes_max", &self.bytes_max).finish_non_exhaustive()
    }
}

/// The log of an index, what the index is called there, and who is told what went wrong.
#[derive(Clone, Debug)]
pub(crate) struct SlowSearches {
    pub(crate) log: Arc<SlowLog>,
    pub(crate) index: Arc<str>,
    pub(crate) observer: Arc<Observer>,
}

impl Search<'_> {
    /// Writes the search down if it took long: it began at `started`, and ends now.
    pub(super) fn log_if_slow(&self, started: Option<Instant>, failure: Option<&Error>) {
        let Some((slow, started)) = self.searcher.0.setting.slow.as_ref().zip(started) else {
            return;
        };
        let took = started.elapsed();
        if took < slow.log.threshold {
            return;
        }
        let at = Timestamp::from(SystemTime::now());
        let plan = self.plan_of_slow(&slow.log, started, took, failure);
        let json = Json::of_object(|json| {
            json.field("schema_version").number(SCHEMA_VERSION);
            json.field("at").string(&at.to_string());
            json.field("took_ns").number(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
            json.field("index").string(&slow.index);
            // It may have a closure of the host's.
            json.field("request").raw_or_null(self.request.to_json().ok().as_deref());
            json.field("command").string(if self.request.count_only { "count" } else { "search" });
            json.field("query").string(&self.request.query.to_string());
            let message = failure.map(ToString::to_string);
            json.field("error").string_or_null(message.as_deref());
            let plan = plan.as_ref().map(ExplainTree::to_json);
            json.field("plan").raw_or_null(plan.as_deref());
        });
        let (bytes, failed) = match slow.log.write(json) {
            Ok(bytes) => (bytes, None),
            Err(error) => {
                let what = "writing to the log of slow searches";
                (0, Some(Error::io(what, error).in_file(&slow.log.name)))
            }
        };
        let started = slow.observer.clock().map(|_| started);
        slow.observer.tell(Operation::SlowSearch, started, bytes, failed.as_ref(), || {
            What::SlowSearch { log: slow.log.name.clone(), bytes }
        });
    }

    /// The plan, with what happens when the search runs again where that may be.
    fn plan_of_slow(
        &self,
        log: &SlowLog,
        started: Instant,
        took: Duration,
        failure: Option<&Error>,
    ) -> Option<ExplainTree> {
        // Documents were asked for of whoever explains the search, not of its log.
        let search = Search { explained: vec![], ..self.clone() };
        let now = Instant::now();
        let deadline = self.budget().deadline_from(started);
        let is_cancelled = failure.is_some_and(|error| error.kind() == ErrorKind::Cancelled);
        let has_time = !is_cancelled && deadline.is_none_or(|deadline| deadline > now);
        if has_time && let Ok(_one_at_a_time) = log.analyzing.try_lock() {
            let again = now + took.saturating_mul(2) + GRACE;
            let until = deadline.map_or(again, |deadline| deadline.min(again));
            let tree = Budget::new().deadline(until).run(|| search.clone().analyzed(None));
            if tree.is_ok() {
                return tree.ok();
            }
        }
        // However the search was stopped, its plan is shown.
        let unhurried = self.searcher.without_budget();
        let Search { mut request, forced, stays_open, estimate_from, explained, .. } = search;
        request.limits.timeout = Some(GRACE);
        let planned = Search::new(&unhurried, request, Budget::new());
        let planned = Search { forced, stays_open, estimate_from, explained, ..planned };
        planned.explain().ok()
    }
}
