//! Events for subscribers of `tracing`.
//!
//! All have the target `treepie`. Flushes, commits, merges, spilled runs, rollbacks and slow searches are of the level INFO, what is done
//! to single files is DEBUG, and whatever failed is WARN. All of the first but spilled runs and slow searches are spans too, which hold what
//! is told on the same thread meanwhile.

use super::{Event, Operation, What};
use tracing::{Level, event, info_span};

const TARGET: &str = "treepie";

/// A span that is entered; it ends when it is dropped.
pub(crate) struct Span(
    #[expect(dead_code, reason = "its drop ends it")] tracing::span::EnteredSpan,
);

/// Whether anybody subscribes to some of the events.
pub(crate) fn is_heard() -> bool {
    tracing::enabled!(target: TARGET, Level::WARN)
}

/// Enters the span of what is done to the whole index.
pub(crate) fn span(operation: Operation) -> Option<Span> {
    let span = match operation {
        Operation::Flush => info_span!(target: TARGET, "flush"),
        Operation::Prepare => info_span!(target: TARGET, "prepare"),
        Operation::Commit => info_span!(target: TARGET, "commit"),
        Operation::Merge => info_span!(target: TARGET, "merge"),
        Operation::Rollback => info_span!(target: TARGET, "rollback"),
        _ => return None,
    };
    Some(Span(span.entered()))
}

/// Tells an event to the subscriber.
pub(crate) fn tell(of: &Event) {
    // The level of a place in the code is fixed.
    macro_rules! tell {
        ($level:expr) => {{
            let (generation, documents) = numbers(&of.what);
            event!(
                target: TARGET,
                $level,
                operation = of.what.operation().name(),
                file = of.what.file(),
                bytes = of.what.bytes(),
                generation,
                documents,
                time_ns = u64::try_from(of.duration.as_nanos()).unwrap_or(u64::MAX),
                error = of.failure.as_ref().map(|failure| failure.message.as_str()),
            )
        }};
    }
    match of.what.operation() {
        _ if of.failure.is_some() => tell!(Level::WARN),
        Operation::Flush
        | Operation::Prepare
        | Operation::Commit
        | Operation::Merge
        | Operation::Rollback
        | Operation::SlowSearch
        | Operation::Spill => tell!(Level::INFO),
        _ => tell!(Level::DEBUG),
    }
}

fn numbers(what: &What) -> (Option<u64>, Option<u64>) {
    match what {
        What::Commit { generation, documents, .. }
        | What::Prepare { generation, documents, .. } => (Some(*generation), Some(*documents)),
        What::Flush { documents, .. } | What::Merge { documents, .. } => (None, Some(*documents)),
        _ => (None, None),
    }
}
