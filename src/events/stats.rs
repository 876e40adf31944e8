//! Counts of what was done so far.

use super::Operation;
use crate::json::Json;
use std::fmt;
use std::time::Duration;

/// Counts of operations, from [`Index::metrics`](crate::Index::metrics). They cover an [`Index`](crate::Index), its
/// clones and its writers.
///
/// `Display` prints a table. In JSON ([`to_json`](Self::to_json)), names may be added:
///
/// ```text
/// {"is_timed": true, "merge_input_bytes": 0,
///  "commits": {"count": 1, "failed": 0, "bytes": 4711, "time_ns": 1312345}, "merges": {…}, …}
/// ```
///
/// with `time_ns` null unless times are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Whether times are measured.
    ///
    /// They are if there is a listener or a subscriber of `tracing`, or if
    /// [`IndexOptions::measure_times`](crate::IndexOptions::measure_times) asked for it. All are 0 if not.
    pub is_timed: bool,
    /// Commits of added and deleted documents. The bytes are those written for them, as all below.
    pub commits: Tally,
    /// First phases of commits of two.
    pub prepares: Tally,
    /// Flushes, which make visible what is not durable.
    pub flushes: Tally,
    /// Merges of segments.
    pub merges: Tally,
    /// Bytes of the segments that were merged.
    pub merge_input_bytes: u64,
    /// Runs that were spilled.
    pub spills: Tally,
    /// Times that a writer has forgotten what was added.
    pub rollbacks: Tally,
    /// Files that were begun.
    pub creates: Tally,
    /// Files that were written to. Of the time only that of the calls counts.
    pub writes: Tally,
    /// Files that were made durable.
    pub syncs: Tally,
    /// Times that the names in the directory were made durable.
    pub name_syncs: Tally,
    /// Files that were published.
    pub publishes: Tally,
    /// Files that got a second name.
    pub links: Tally,
    /// Files that were deleted.
    pub deletes: Tally,
    /// Files that were opened, by searchers too.
    pub opens: Tally,
    /// Files that were read in pieces; mapped ones are not counted. Of the time only that of the calls counts.
    pub reads: Tally,
    /// Searches that were written down because they took long.
    pub slow_searches: Tally,
}

/// Number, bytes and time of operations of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Number of operations, failed ones included.
    pub count: u64,
    /// Number of operations that failed.
    pub failed: u64,
    /// Bytes in all.
    pub bytes: u64,
    /// Time in all; on several threads it adds up to more than has passed.
    pub time: Duration,
}

impl Stats {
    /// Returns the counts of an operation.
    pub fn of(&self, operation: Operation) -> Tally {
        match operation {
            Operation::Create => self.creates,
            Operation::Write => self.writes,
            Operation::Sync => self.syncs,
            Operation::SyncNames => self.name_syncs,
            Operation::Publish => self.publishes,
            Operation::Link => self.links,
            Operation::Delete => self.deletes,
            Operation::Open => self.opens,
            Operation::Read => self.reads,
            Operation::Spill => self.spills,
            Operation::Flush => self.flushes,
            Operation::Prepare => self.prepares,
            Operation::Commit => self.commits,
            Operation::Merge => self.merges,
            Operation::Rollback => self.rollbacks,
            Operation::SlowSearch => self.slow_searches,
        }
    }

    /// By name, what is done to the whole index first.
    fn named(&self) -> [(&'static str, Tally); Operation::ALL.len()] {
        [
            ("commits", self.commits),
            ("prepares", self.prepares),
            ("flushes", self.flushes),
            ("merges", self.merges),
            ("spills", self.spills),
            ("rollbacks", self.rollbacks),
            ("creates", self.creates),
            ("writes", self.writes),
            ("syncs", self.syncs),
            ("name_syncs", self.name_syncs),
            ("publishes", self.publishes),
            ("links", self.links),
            ("deletes", self.deletes),
            ("opens", self.opens),
            ("reads", self.reads),
            ("slow_searches", self.slow_searches),
        ]
    }

    /// Returns one JSON object on one line.
    pub fn to_json(&self) -> String {
        Json::of_object(|json| {
            json.field("is_timed").boolean(self.is_timed);
            json.field("merge_input_bytes").number(self.merge_input_bytes);
            for (name, tally) in self.named() {
                json.field(name).object(|json| {
                    json.field("count").number(tally.count);
                    json.field("failed").number(tally.failed);
                    json.field("bytes").number(tally.bytes);
                    let nanos = u64::try_from(tally.time.as_nanos()).unwrap_or(u64::MAX);
                    json.field("time_ns").number_or_null(self.is_timed.then_some(nanos));
                });
            }
        })
    }
}

/// A table of what was done at all.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<13}{:>9}{:>8}{:>16}", "", "count", "failed", "bytes")?;
        if self.is_timed {
            write!(f, "{:>12}", "time")?;
        }
        for (name, tally) in self.named().into_iter().filter(|(_, tally)| tally.count > 0) {
            write!(f, "\n{name:<13}{:>9}{:>8}{:>16}", tally.count, tally.failed, tally.bytes)?;
            if self.is_timed {
                write!(f, "{:>12}", format!("{:.1?}", tally.time))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each field another number.
    fn stats() -> Stats {
        let tally = |count| Tally {
            count,
            failed: count + 100,
            bytes: count * 1_000,
            time: Duration::from_micros(count),
        };
        Stats {
            is_timed: true,
            commits: tally(1),
            merges: tally(2),
            merge_input_bytes: 77,
            spills: tally(3),
            rollbacks: tally(4),
            creates: tally(5),
            writes: tally(6),
            syncs: tally(7),
            name_syncs: tally(8),
            publishes: tally(9),
            links: tally(10),
            deletes: tally(11),
            opens: tally(12),
            reads: tally(13),
            prepares: tally(14),
            flushes: tally(15),
            slow_searches: tally(16),
        }
    }

    #[test]
    fn json_names_every_counter() {
        let stats = stats();
        let value: serde_json::Value = serde_json::from_str(&stats.to_json()).unwrap();
        assert_eq!((&value["is_timed"], &value["merge_input_bytes"]), (&true.into(), &77.into()));
        assert_eq!(value.as_object().unwrap().len(), 2 + Operation::ALL.len());
        for operation in Operation::ALL {
            let tally = stats.of(operation);
            let expected = serde_json::json!({
                "count": tally.count, "failed": tally.failed, "bytes": tally.bytes,
                "time_ns": tally.time.as_nanos() as u64,
            });
            let found = value.as_object().unwrap().values().filter(|found| **found == expected);
            assert_eq!(found.count(), 1, "{operation:?}");
        }
        let untimed = Stats { is_timed: false, ..stats }.to_json();
        assert_eq!(untimed.matches("\"time_ns\":null").count(), Operation::ALL.len());
    }

    #[test]
    fn text_is_a_table_of_what_was_done() {
        let mut stats = Stats::default();
        assert_eq!(stats.to_string().lines().count(), 1);
        stats.commits = Tally { count: 2, failed: 1, bytes: 4_711, time: Duration::ZERO };
        assert_eq!(
            stats.to_string(),
            "                 count  failed           bytes\n\
             commits              2       1            4711"
        );
        stats.is_timed = true;
        stats.commits.time = Duration::from_micros(1_500);
        assert!(stats.to_string().ends_with(" 4711       1.5ms"), "{stats}");
    }
}
