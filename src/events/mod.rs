//! Events of an index: commits, merges, and every file written, made durable or deleted.
//!
//! Two ways to look:
//!
//! - [`Index::metrics`](crate::Index::metrics): how often, how many bytes, how long, since the index was opened. Always
//!   counted, because it costs next to nothing; the times only if somebody wants them.
//! - [`IndexOptions::on_event`](crate::IndexOptions::on_event): a function of the host's that gets every [`Event`].
//!   With the feature `tracing` the same events go to whatever subscribes to that.
//!
//! A listener belongs to the index and not to one writer, because files are also touched by opening, recovering and
//! merging.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use treepie::events::{Operation, What};
//! use treepie::{Document, Index, Schema};
//! # let dir = std::env::temp_dir().join(format!("treepie-doc-events-{}", std::process::id()));
//! # let _ = std::fs::remove_dir_all(&dir);
//!
//! let seen = Arc::new(Mutex::new(vec![]));
//! let events = Arc::clone(&seen);
//! let index = Index::options()
//!     .on_event(move |event| events.lock().unwrap().push(event.clone()))
//!     .create(&dir, Schema::builder().text("title").build()?)?;
//! seen.lock().unwrap().clear(); // creating an index is a commit of its own
//! let mut writer = index.writer()?;
//! writer.add(Document::new().with("title", "Paris"))?;
//! writer.commit()?;
//!
//! let seen = seen.lock().unwrap();
//! let of = |operation| seen.iter().filter(move |event| event.what.operation() == operation);
//! // The segment and the manifest were made durable, then the names of both, and that the empty commit is gone.
//! assert_eq!((of(Operation::Sync).count(), of(Operation::SyncNames).count()), (2, 3));
//! let commit = of(Operation::Commit).next().unwrap();
//! assert!(matches!(commit.what, What::Commit { generation: 1, documents: 1, .. }));
//! // Whatever was written was written for this commit.
//! let written: u64 = of(Operation::Write).map(|event| event.what.bytes()).sum();
//! assert_eq!(commit.what.bytes(), written);
//! println!("{}", commit.to_json());
//!
//! let stats = index.metrics();
//! assert_eq!((stats.commits.count, stats.syncs.count), (2, 3));
//! assert!(stats.writes.bytes > written);
//! # drop(writer);
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The listener
//!
//! A listener is called on the thread that did the work, when the work is done, on several threads at the same time if
//! a writer has several. The work waits for it, so what takes long belongs into a channel, and what waits for the same
//! writer would wait for ever. Failures are events, too. A panic of the listener ends there, and the next event comes
//! as if nothing had been; a program that [aborts on
//! panics](https://doc.rust-lang.org/cargo/reference/profiles.html#panic) does so.
//!
//! Events come in the order in which things end: a commit after the syncs that it consists of.
//!
//! # As JSON
//!
//! [`Event::to_json`] is an object on one line. Names are added, never renamed. `start_us` is in microseconds since 1970,
//! all other times are in nanoseconds:
//!
//! ```text
//! {"event":"sync","start_us":1763800000000000,"time_ns":812345,"file":"seg-….idx","bytes":4711,"error":null}
//! ```
//!
//! | `event` | beside `event`, `start_us`, `time_ns` and `error` |
//! |---|---|
//! | `create` | `file` |
//! | `write` | `file`, `bytes`, `calls`, `busy_ns` |
//! | `sync` | `file`, `bytes` |
//! | `sync_names` | |
//! | `publish`, `link` | `file`, `from` |
//! | `delete` | `file` |
//! | `open` | `file`, `bytes` |
//! | `read` | `file`, `bytes`, `calls`, `busy_ns` |
//! | `spill` | `file`, `bytes` |
//! | `flush` | `documents`, `added`, `deleted`, `segments`, `bytes` |
//! | `prepare` | `generation`, `documents`, `bytes` |
//! | `commit` | `generation`, `documents`, `added`, `deleted`, `segments`, `bytes` |
//! | `merge` | `documents`, `segments`, `bytes_read`, `bytes` |
//! | `rollback` | `bytes` |
//! | `slow_search` | `log`, `bytes` |
//!
//! `error` is null or `{"kind": "NoSpace", "message": "…"}`. [`What`] says what each of them means.
//!
//! # Cost
//!
//! Counting is a few additions for each piece of a file that is written, and one small allocation for each file. No clock
//! is read unless there is a listener, a subscriber of `tracing`, or
//! [`IndexOptions::measure_times`](crate::IndexOptions::measure_times), and no event is made without one of the first two.
//! Searches are not counted, but for slow ones [where these are written down](crate::search::SlowLog), and mapped files are read without
//! anybody noticing.

mod log_file;
mod observer;
mod stats;
#[cfg(feature = "tracing")]
mod tracing;

pub(crate) use log_file::LogFile;
pub(crate) use observer::{Listener, Observer, Pieces, Watch};
pub use stats::{Stats, Tally};

use crate::error::{Error, ErrorKind};
use crate::json::Json;
use crate::plural::counted;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Something that was done, or that failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// Operation that was done, with its numbers.
    pub what: What,
    /// Time at which the operation began. The system's clock was read when the index was first watched; a steady one
    /// counts since then.
    pub start: SystemTime,
    /// Duration of the operation.
    pub duration: Duration,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
}

/// Why something failed; the caller of the writer gets the same as an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// Kind of the error.
    pub kind: ErrorKind,
    /// Message of the error, on one line.
    pub message: String,
}

impl Failure {
    fn of(error: &Error) -> Failure {
        Failure { kind: error.kind(), message: error.to_string() }
    }
}

/// Operation on an index, with its numbers. Files are named as they are in the directory of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// A new file was begun.
    #[non_exhaustive]
    Create {
        /// Name of the file.
        file: String,
    },
    /// A file was written to, since its beginning or its last such event. The time is from the first of the writes to
    /// the end of the last. Bytes that the storage still holds in a buffer, at most 1 MiB, are handed to the system by
    /// the sync that follows.
    #[non_exhaustive]
    Write {
        /// Name of the file.
        file: String,
        /// Bytes that were written.
        bytes: u64,
        /// Number of pieces.
        calls: u64,
        /// The part of the time that writing took, and not computing what to write.
        busy: Duration,
    },
    /// A file was made durable.
    #[non_exhaustive]
    Sync {
        /// Name of the file.
        file: String,
        /// Bytes written since its beginning or since it was last durable; 0 after failure.
        bytes: u64,
    },
    /// The names in the directory were made durable.
    #[non_exhaustive]
    SyncNames {},
    /// A file got its name in one step.
    #[non_exhaustive]
    Publish {
        /// Name that the file has now.
        file: String,
        /// Name that it had before.
        from: String,
    },
    /// A file got a second name.
    #[non_exhaustive]
    Link {
        /// The second.
        file: String,
        /// The one that it had.
        from: String,
    },
    /// A file was deleted. It was superseded, spilled by a build that is done, or left by a writer that crashed.
    #[non_exhaustive]
    Delete {
        /// Name of the file.
        file: String,
    },
    /// A file was opened.
    #[non_exhaustive]
    Open {
        /// Name of the file.
        file: String,
        /// Length of the file in bytes.
        bytes: u64,
    },
    /// A file that was read in pieces was closed: spilled runs, copies. The time is from the first piece to the end of
    /// the last. Mapped files are read without this.
    #[non_exhaustive]
    Read {
        /// Name of the file.
        file: String,
        /// Bytes that were read.
        bytes: u64,
        /// Number of pieces.
        calls: u64,
        /// The time that reading took, of all threads together.
        busy: Duration,
    },
    /// Documents beyond the memory were written to a file as sorted runs.
    #[non_exhaustive]
    Spill {
        /// Name of the file.
        file: String,
        /// Bytes of the runs; 0 if it failed.
        bytes: u64,
    },
    /// Additions and deletions so far were made visible to this process. All numbers but `bytes` are 0 where it failed.
    #[non_exhaustive]
    Flush {
        /// Documents of the index, as this process sees it.
        documents: u64,
        /// Documents that were added since the last commit.
        added: u64,
        /// Documents that were deleted since the last commit.
        deleted: u64,
        /// Segments of the index, as this process sees it.
        segments: u64,
        /// Bytes written for it, as of a commit.
        bytes: u64,
    },
    /// The first phase of a commit, if the host asked for two. All numbers but `bytes` are 0 where it failed.
    #[non_exhaustive]
    Prepare {
        /// The number that the commit will have.
        generation: u64,
        /// Documents that the index will have.
        documents: u64,
        /// Bytes written for it, as of a commit.
        bytes: u64,
    },
    /// Additions and deletions were made durable, or a merge was made part of the index. If the host asked for two
    /// phases, it is the second of them. All numbers but `bytes` are 0 where it failed.
    #[non_exhaustive]
    Commit {
        /// The number of the commit.
        generation: u64,
        /// Documents of the index.
        documents: u64,
        /// Documents that it added.
        added: u64,
        /// Documents that it deleted.
        deleted: u64,
        /// Segments of the index.
        segments: u64,
        /// Bytes written for it, spilled runs included. They are all bytes that no flush, merge, commit or rollback
        /// before was told to have written.
        bytes: u64,
    },
    /// Segments became one, or the documents of a new one were put in order.
    ///
    /// The order is [of fields](crate::SchemaBuilder::order_by) or [of
    /// similarity](crate::SchemaBuilder::order_by_similarity). A commit that follows makes it part of the index.
    #[non_exhaustive]
    Merge {
        /// Documents of the new segment; 0 if it failed.
        documents: u64,
        /// Segments that became one.
        segments: u64,
        /// Bytes that they have, deletes included.
        bytes_read: u64,
        /// Bytes that were written.
        bytes: u64,
    },
    /// A writer forgot what was added since the last commit.
    #[non_exhaustive]
    Rollback {
        /// Bytes that were written for nothing.
        bytes: u64,
    },
    /// A search took long, and [the slow log](crate::IndexOptions::slow_log) has a line about it. The time is from the
    /// beginning of the search to the end of the line. If it failed, the search did not: the line is missing.
    #[non_exhaustive]
    SlowSearch {
        /// The file of the log, or what else it is written to.
        log: String,
        /// Bytes of the line; 0 if it failed.
        bytes: u64,
    },
}

/// The kinds of [`What`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Operation {
    /// [`What::Create`]
    Create,
    /// [`What::Write`]
    Write,
    /// [`What::Sync`]
    Sync,
    /// [`What::SyncNames`]
    SyncNames,
    /// [`What::Publish`]
    Publish,
    /// [`What::Link`]
    Link,
    /// [`What::Delete`]
    Delete,
    /// [`What::Open`]
    Open,
    /// [`What::Read`]
    Read,
    /// [`What::Spill`]
    Spill,
    /// [`What::Flush`]
    Flush,
    /// [`What::Prepare`]
    Prepare,
    /// [`What::Commit`]
    Commit,
    /// [`What::Merge`]
    Merge,
    /// [`What::Rollback`]
    Rollback,
    /// [`What::SlowSearch`]
    SlowSearch,
}

impl Operation {
    /// All of them, in the order of their declaration.
    pub const ALL: [Operation; 16] = [
        Operation::Create,
        Operation::Write,
        Operation::Sync,
        Operation::SyncNames,
        Operation::Publish,
        Operation::Link,
        Operation::Delete,
        Operation::Open,
        Operation::Read,
        Operation::Spill,
        Operation::Flush,
        Operation::Prepare,
        Operation::Commit,
        Operation::Merge,
        Operation::Rollback,
        Operation::SlowSearch,
    ];

    /// Returns the name, as JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Write => "write",
            Operation::Sync => "sync",
            Operation::SyncNames => "sync_names",
            Operation::Publish => "publish",
            Operation::Link => "link",
            Operation::Delete => "delete",
            Operation::Open => "open",
            Operation::Read => "read",
            Operation::Spill => "spill",
            Operation::Flush => "flush",
            Operation::Prepare => "prepare",
            Operation::Commit => "commit",
            Operation::Merge => "merge",
            Operation::Rollback => "rollback",
            Operation::SlowSearch => "slow_search",
        }
    }
}

impl What {
    /// Returns the kind of the operation.
    pub fn operation(&self) -> Operation {
        match self {
            What::Create { .. } => Operation::Create,
            What::Write { .. } => Operation::Write,
            What::Sync { .. } => Operation::Sync,
            What::SyncNames { .. } => Operation::SyncNames,
            What::Publish { .. } => Operation::Publish,
            What::Link { .. } => Operation::Link,
            What::Delete { .. } => Operation::Delete,
            What::Open { .. } => Operation::Open,
            What::Read { .. } => Operation::Read,
            What::Spill { .. } => Operation::Spill,
            What::Flush { .. } => Operation::Flush,
            What::Prepare { .. } => Operation::Prepare,
            What::Commit { .. } => Operation::Commit,
            What::Merge { .. } => Operation::Merge,
            What::Rollback { .. } => Operation::Rollback,
            What::SlowSearch { .. } => Operation::SlowSearch,
        }
    }

    /// Returns the file it is about; `None` for what is about the whole index.
    pub fn file(&self) -> Option<&str> {
        match self {
            What::Create { file }
            | What::Write { file, .. }
            | What::Sync { file, .. }
            | What::Publish { file, .. }
            | What::Link { file, .. }
            | What::Delete { file }
            | What::Open { file, .. }
            | What::Read { file, .. }
            | What::Spill { file, .. } => Some(file),
            What::SyncNames {}
            | What::Flush { .. }
            | What::Prepare { .. }
            | What::Commit { .. }
            | What::Merge { .. }
            | What::Rollback { .. }
            | What::SlowSearch { .. } => None,
        }
    }

    /// Returns the number of bytes it is about; 0 if it is about none.
    pub fn bytes(&self) -> u64 {
        match self {
            What::Write { bytes, .. }
            | What::Sync { bytes, .. }
            | What::Open { bytes, .. }
            | What::Read { bytes, .. }
            | What::Spill { bytes, .. }
            | What::Flush { bytes, .. }
            | What::Prepare { bytes, .. }
            | What::Commit { bytes, .. }
            | What::Merge { bytes, .. }
            | What::Rollback { bytes }
            | What::SlowSearch { bytes, .. } => *bytes,
            What::Create { .. }
            | What::SyncNames {}
            | What::Publish { .. }
            | What::Link { .. }
            | What::Delete { .. } => 0,
        }
    }
}

impl Event {
    /// Returns the event as one line of JSON; see the [module](self) for its shape.
    pub fn to_json(&self) -> String {
        Json::of_object(|json| {
            json.field("event").string(self.what.operation().name());
            let since_1970 = self.start.duration_since(UNIX_EPOCH).unwrap_or_default();
            json.field("start_us").number(since_1970.as_micros());
            json.field("time_ns").number(self.duration.as_nanos());
            if let Some(file) = self.what.file() {
                json.field("file").string(file);
            }
            self.what.write_own(json);
            json.field("error");
            match &self.failure {
                None => json.null(),
                Some(failure) => json.object(|json| {
                    json.field("kind").string(&format!("{:?}", failure.kind));
                    json.field("message").string(&failure.message);
                }),
            }
        })
    }
}

impl What {
    /// Writes the fields that only some operations have.
    fn write_own(&self, json: &mut Json) {
        match self {
            What::Create { .. } | What::SyncNames {} | What::Delete { .. } => {}
            What::Publish { from, .. } | What::Link { from, .. } => json.field("from").string(from),
            What::Write { bytes, calls, busy, .. } | What::Read { bytes, calls, busy, .. } => {
                json.field("bytes").number(bytes);
                json.field("calls").number(calls);
                json.field("busy_ns").number(busy.as_nanos());
            }
            What::Sync { bytes, .. }
            | What::Open { bytes, .. }
            | What::Spill { bytes, .. }
            | What::Rollback { bytes } => json.field("bytes").number(bytes),
            What::SlowSearch { log, bytes } => {
                json.field("log").string(log);
                json.field("bytes").number(bytes);
            }
            What::Commit { generation, documents, added, deleted, segments, bytes } => {
                json.field("generation").number(generation);
                json.field("documents").number(documents);
                json.field("added").number(added);
                json.field("deleted").number(deleted);
                json.field("segments").number(segments);
                json.field("bytes").number(bytes);
            }
            What::Flush { documents, added, deleted, segments, bytes } => {
                json.field("documents").number(documents);
                json.field("added").number(added);
                json.field("deleted").number(deleted);
                json.field("segments").number(segments);
                json.field("bytes").number(bytes);
            }
            What::Prepare { generation, documents, bytes } => {
                json.field("generation").number(generation);
                json.field("documents").number(documents);
                json.field("bytes").number(bytes);
            }
            What::Merge { documents, segments, bytes_read, bytes } => {
                json.field("documents").number(documents);
                json.field("segments").number(segments);
                json.field("bytes_read").number(bytes_read);
                json.field("bytes").number(bytes);
            }
        }
    }
}

/// `sync seg-….idx, 4711 bytes, 812µs`, and why it failed.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what.operation().name())?;
        if let Some(file) = self.what.file() {
            write!(f, " {file}")?;
        }
        if let What::Prepare { generation, .. } | What::Commit { generation, .. } = &self.what {
            write!(f, " {generation}")?;
        }
        if self.what.bytes() > 0 {
            write!(f, ", {}", counted(self.what.bytes(), "byte"))?;
        }
        write!(f, ", {:?}", self.duration)?;
        match &self.failure {
            Some(failure) => write!(f, ": {}", failure.message),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<What> {
        let (file, from, busy) = ("a.idx".to_owned(), ".tmp-b".to_owned(), Duration::from_nanos(9));
        let [create, sync, open, spill] = [(); 4].map(|()| file.clone());
        vec![
            What::Create { file: create },
            What::Write { file: file.clone(), bytes: 7, calls: 2, busy },
            What::Sync { file: sync, bytes: 7 },
            What::SyncNames {},
            What::Publish { file: file.clone(), from: from.clone() },
            What::Link { file: file.clone(), from },
            What::Delete { file: file.clone() },
            What::Open { file: open, bytes: 7 },
            What::Read { file, bytes: 7, calls: 2, busy },
            What::Spill { file: spill, bytes: 7 },
            What::Flush { documents: 2, added: 3, deleted: 4, segments: 5, bytes: 6 },
            What::Prepare { generation: 1, documents: 2, bytes: 3 },
            What::Commit {
                generation: 1,
                documents: 2,
                added: 3,
                deleted: 4,
                segments: 5,
                bytes: 6,
            },
            What::Merge { documents: 2, segments: 3, bytes_read: 4, bytes: 5 },
            What::Rollback { bytes: 1 },
            What::SlowSearch { log: "slow.jsonl".into(), bytes: 1 },
        ]
    }

    fn event(what: What, failure: Option<Failure>) -> Event {
        let start = UNIX_EPOCH + Duration::from_micros(1_763_800_000_123_456);
        Event { what, start, duration: Duration::from_nanos(1_500), failure }
    }

    #[test]
    fn every_operation_has_an_event_and_a_name() {
        let of_samples: Vec<_> = samples().iter().map(What::operation).collect();
        assert_eq!(of_samples, Operation::ALL);
        for (at, operation) in Operation::ALL.into_iter().enumerate() {
            assert_eq!(operation as usize, at);
        }
    }

    /// The table of the documentation is what is written.
    #[test]
    fn json_has_the_fields_that_are_documented() {
        let rows: Vec<Vec<&str>> = include_str!("mod.rs")
            .lines()
            .filter_map(|line| line.strip_prefix("//! | `"))
            .filter(|line| !line.starts_with("event` |"))
            .map(|line| line.split('`').collect())
            .collect();
        let mut documented = 0;
        for what in samples() {
            let operation = what.operation().name();
            let json = event(what, None).to_json();
            let value: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(value["event"], operation);
            let row = rows.iter().find(|row| {
                let names = row.iter().take_while(|part| **part != " | " && **part != " | |");
                names.step_by(2).any(|name| *name == operation)
            });
            let row = row.unwrap_or_else(|| panic!("{operation} is not documented")).join("`");
            let fields: Vec<&str> =
                row.split_once(" |").unwrap().1.split('`').skip(1).step_by(2).collect();
            let common = ["event", "start_us", "time_ns"];
            let expected: Vec<&str> = common.into_iter().chain(fields).chain(["error"]).collect();
            let mut found: Vec<&str> =
                value.as_object().unwrap().keys().map(String::as_str).collect();
            let mut expected = expected;
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{operation}");
            documented += 1;
        }
        assert_eq!(documented, Operation::ALL.len());
    }

    #[test]
    fn an_event_reads_well_and_tells_what_failed() {
        let failure = Failure { kind: ErrorKind::NoSpace, message: "no \"space\"".to_owned() };
        let event = event(What::Sync { file: "a.idx".to_owned(), bytes: 4_711 }, Some(failure));
        assert_eq!(event.to_string(), "sync a.idx, 4711 bytes, 1.5µs: no \"space\"");
        assert_eq!(
            event.to_json(),
            concat!(
                r#"{"event":"sync","start_us":1763800000123456,"time_ns":1500,"file":"a.idx","#,
                r#""bytes":4711,"error":{"kind":"NoSpace","message":"no \"space\""}}"#
            )
        );
    }
}
