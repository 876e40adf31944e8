//! Limits of documents and queries that may be set, with their defaults.
//!
//! A limit is there so that no document and no query, whoever wrote it, takes memory or time without bound.
//! Anything that exceeds one is refused with [`ErrorKind::LimitExceeded`] or, for a document,
//! [`ErrorKind::Document`]; [`Error::limit`](crate::Error::limit) tells which limit it was.
//!
//! Limits of the file format are not here, because they cannot be raised: terms of 32,766 bytes, 1,024 fields,
//! 2³¹ − 129 documents a segment, 4,096 fields' worth of names in a manifest of 16 MiB. Nor is what a loop works in:
//! 127 bytes of a wildcard behind its fixed beginning, 256 words of a phrase with slop.
//!
//! The limits of an index hold for a thread while it answers a query of that index, as its
//! [budget](crate::Budget) does, so they are in no signature either.

use crate::error::{Error, ErrorKind, Result};
use std::cell::Cell;

/// Limits of the documents and queries of an index; see [`Index::with_limits`](crate::Index::with_limits).
///
/// ```
/// use treepie::{Document, ErrorKind, Index, Limits, Schema};
///
/// let mut limits = Limits::default();
/// limits.query_clauses = 3;
/// let index = Index::in_memory(Schema::builder().text("title").build()?).with_limits(limits)?;
/// let mut writer = index.writer()?;
/// writer.add(Document::new().with("title", "Paris"))?;
/// writer.commit()?;
///
/// let error = index.searcher()?.parse("a b c d").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::LimitExceeded);
/// let limit = error.limit().unwrap();
/// assert_eq!((limit.name, limit.value, limit.found), ("CLAUSES_MAX", 3, Some(4)));
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a value of a text field (default 16 MiB, at most 1 GiB).
    pub value_bytes: usize,
    /// Bytes of all values of a document (default 64 MiB, at most 1 GiB).
    pub document_bytes: usize,
    /// Bytes of a query text (default 64 KiB).
    pub query_bytes: usize,
    /// Brackets that are open at the same time in a query (default 128).
    ///
    /// That is as much as plans take.
    pub query_depth: usize,
    /// Words and values of a query (default 1,024).
    pub query_clauses: usize,
    /// Terms of a query after analysis, counted once a field (default 4,096).
    pub query_terms: usize,
    /// Terms of one segment that a pattern may look at (default 2²⁴).
    ///
    /// Patterns are wildcards, regular expressions and fuzzy words.
    pub terms_visited: u64,
    /// Terms of a pattern that may be scored (default 1,024).
    pub pattern_terms: u32,
    /// Bytes of a regular expression's automaton and its making (default 1 MiB).
    pub regex_bytes: usize,
    /// Characters of a fuzzy word (default 128).
    pub fuzzy_chars: usize,
    /// Patterns in a phrase (default 64).
    pub phrase_patterns: usize,
    /// Positions that the patterns of a phrase gather of rare terms (default 2²²).
    pub phrase_positions: usize,
    /// Frequent terms that the patterns of a phrase stand for (default 4,096).
    pub phrase_lists: usize,
    /// Memory of a query in bytes (default [`QUERY_MEMORY_BYTES`](crate::search::QUERY_MEMORY_BYTES)).
    ///
    /// A [budget](crate::Budget::memory_bytes) that says something else counts before it.
    pub query_memory_bytes: u64,
}

/// Bytes of a document, or of a value, whatever the limits are: batches count them in 32 bits.
const DOCUMENT_BYTES_MOST: usize = 1 << 30;
/// Open brackets whatever the limits are: plans are at most twice as deep.
const QUERY_DEPTH_MOST: usize = 128;

impl Limits {
    /// Default limits.
    pub const DEFAULT: Limits = Limits {
        value_bytes: 16 << 20,
        document_bytes: 64 << 20,
        query_bytes: 64 << 10,
        query_depth: 128,
        query_clauses: 1_024,
        query_terms: 4_096,
        terms_visited: 1 << 24,
        pattern_terms: 1_024,
        regex_bytes: 1 << 20,
        fuzzy_chars: 128,
        phrase_patterns: 64,
        phrase_positions: 1 << 22,
        phrase_lists: 4_096,
        query_memory_bytes: 256 << 20,
    };

    /// Limits that refuse no document that was ever taken.
    pub(crate) fn of_any_document() -> Self {
        let most = DOCUMENT_BYTES_MOST;
        Limits { value_bytes: most, document_bytes: most, ..Limits::DEFAULT }
    }

    /// Refuses limits above their maximums.
    pub(crate) fn checked(self) -> Result<Self> {
        for (name, own, most) in [
            ("value_bytes", self.value_bytes, DOCUMENT_BYTES_MOST),
            ("document_bytes", self.document_bytes, DOCUMENT_BYTES_MOST),
            ("query_depth", self.query_depth, QUERY_DEPTH_MOST),
        ] {
            if own > most {
                return Err(Error::new(ErrorKind::Usage, format!("setting the limit {name}"))
                    .expected(format!("at most {most}"))
                    .found(own.to_string()));
            }
        }
        Ok(self)
    }

    /// Makes these the limits of the thread until the scope ends.
    pub(crate) fn enter(self) -> Scope {
        Scope { before: CURRENT.replace(self) }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}

thread_local! {
    static CURRENT: Cell<Limits> = const { Cell::new(Limits::DEFAULT) };
}

/// The limits that hold for this thread.
pub(crate) fn current() -> Limits {
    CURRENT.get()
}

/// Holds limits for the thread while this lives.
#[derive(Debug)]
#[must_use = "the limits hold as long as this lives"]
pub(crate) struct Scope {
    before: Limits,
}

impl Drop for Scope {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_until_the_scope_ends() {
        let small = Limits { query_clauses: 1, ..Limits::DEFAULT };
        let scope = small.enter();
        assert_eq!(current().query_clauses, 1);
        drop(Limits { query_clauses: 2, ..small }.enter());
        assert_eq!(current().query_clauses, 1);
        drop(scope);
        assert_eq!(current(), Limits::DEFAULT);
    }

    #[test]
    fn what_cannot_be_raised_is_refused() {
        let sets: [fn(&mut Limits, usize); 3] = [
            |limits, n| limits.value_bytes = n,
            |limits, n| limits.document_bytes = n,
            |limits, n| limits.query_depth = n,
        ];
        for (set, most) in sets.into_iter().zip([1 << 30, 1 << 30, 128]) {
            let mut limits = Limits::DEFAULT;
            set(&mut limits, most);
            assert_eq!(limits.checked().unwrap(), limits);
            set(&mut limits, most + 1);
            assert_eq!(limits.checked().unwrap_err().kind(), ErrorKind::Usage);
        }
    }
}
