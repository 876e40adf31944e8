//! The one error of the crate, opaque, with a [`kind`](Error::kind) to match on.
//!
//! Its message says what was being done, what was expected, what was found, and in which place.
//!
//! This module imports nothing of the crate, so that everything may use it.

use std::{error, fmt, io, ops::Range, path::PathBuf};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: [`Error::kind`] is its class, `Display` the whole story.
///
/// One pointer wide, so that `Result<u64>` stays small.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    what: String,
    expected: Option<String>,
    found: Option<String>,
    file: Option<PathBuf>,
    offset: Option<u64>,
    line: Option<u64>,
    column: Option<u64>,
    span: Option<Range<usize>>,
    hint: Option<String>,
    commit_outcome: Option<CommitOutcome>,
    limit: Option<LimitReached>,
    source: Option<io::Error>,
}

/// A limit that was reached: [`Error::limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitReached {
    /// The name of its default value, as in the message.
    pub name: &'static str,
    /// The value of the limit.
    pub value: u64,
    /// The amount found; `None` if counting stopped before the end.
    pub found: Option<u64>,
}

/// The class of an [`Error`]: what a caller may want to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused for a reason not named below.
    Io,
    /// A file or index is not there.
    NotFound,
    /// An index, file or directory is there already.
    AlreadyExists,
    /// The operating system denied access.
    PermissionDenied,
    /// The disk or a quota is full; the previous commit is intact.
    NoSpace,
    /// The directory exists and holds something that is not an index.
    NotAnIndex,
    /// Bytes on disk are not what was written: damage, or a hostile file.
    Corrupt,
    /// A newer version wrote the index, or it has features unknown to this build.
    UnsupportedVersion,
    /// Another writer holds the index.
    Locked,
    /// A limit was reached; the message names it and its value.
    LimitExceeded,
    /// The query text cannot be parsed or means nothing in this schema.
    Query,
    /// A schema is contradictory or names something unknown.
    Schema,
    /// A field's analyzer is neither built in nor registered, or its spec is wrong.
    Analyzer,
    /// A document, or a line of input, does not fit the schema or its encoding.
    Document,
    /// Something that is planned but not built yet.
    Unsupported,
    /// An earlier failure left this writer unusable; open a new one.
    Poisoned,
    /// More waits to be worked on than there is room for; nothing was added.
    Busy,
    /// The caller asked to stop.
    Cancelled,
    /// The deadline came before the answer.
    Timeout,
    /// The caller's arguments contradict each other.
    Usage,
}

/// Outcome of a commit that failed; see [`Error::commit_outcome`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommitOutcome {
    /// Nothing was committed, and no restart will change that: the commit before is the index.
    NotCommitted,
    /// One of the last two steps failed, publishing the commit or making its name durable. Opening the
    /// index shows whether it happened: its generation is one higher then. Or somebody who shares a writer
    /// [rolled back](crate::SharedWriter::rollback) what others waited to see committed.
    Unknown,
    /// Everything that was added is committed; what failed is only the merge after it.
    Committed,
}

/// An error of the system is copied as its code, or else as its kind and message.
impl Clone for Error {
    fn clone(&self) -> Self {
        let Inner { kind, commit_outcome, limit, offset, line, column, .. } = *self.0;
        let source = self.0.source.as_ref().map(|source| match source.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(source.kind(), source.to_string()),
        });
        Error(Box::new(Inner {
            kind,
            what: self.0.what.clone(),
            expected: self.0.expected.clone(),
            found: self.0.found.clone(),
            file: self.0.file.clone(),
            offset,
            line,
            column,
            span: self.0.span.clone(),
            hint: self.0.hint.clone(),
            commit_outcome,
            limit,
            source,
        }))
    }
}

impl Error {
    /// An error of `kind` that happened while doing or reading `what`.
    #[cold]
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            what: what.into(),
            expected: None,
            found: None,
            file: None,
            offset: None,
            line: None,
            column: None,
            span: None,
            hint: None,
            commit_outcome: None,
            limit: None,
            source: None,
        }))
    }

    /// A limit of so many `unit` that was reached while doing `what`, by `found` if that is known.
    #[cold]
    pub(crate) fn limit_reached(
        what: impl Into<String>,
        name: &'static str,
        value: impl TryInto<u64>,
        unit: &str,
        found: Option<usize>,
    ) -> Self {
        let value = value.try_into().unwrap_or(u64::MAX);
        let mut error = Self::new(ErrorKind::LimitExceeded, what)
            .expected(format!("at most {value} {unit} (limit {name})"))
            .found(found.map_or_else(|| "more".to_owned(), |found| found.to_string()));
        error.0.limit = Some(LimitReached { name, value, found: found.map(|found| found as u64) });
        error
    }

    /// Says which limit was reached, for an error of another kind.
    #[must_use]
    pub(crate) fn of_limit(mut self, name: &'static str, value: usize, found: usize) -> Self {
        self.0.limit = Some(LimitReached { name, value: value as u64, found: Some(found as u64) });
        self
    }

    /// Damage in `what`; follow with [`expected`](Self::expected), [`found`](Self::found) and a place.
    #[cold]
    pub(crate) fn corrupt(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, what)
    }

    /// An operating-system error met while doing `what`; the kind follows from the cause.
    #[cold]
    pub fn io(what: impl Into<String>, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::NotFound => ErrorKind::NotFound,
            io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                ErrorKind::PermissionDenied
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::NoSpace,
            _ => ErrorKind::Io,
        };
        let mut error = Self::new(kind, what);
        error.0.source = Some(source);
        error
    }

    /// Puts what all this was done for before what was being done.
    #[must_use]
    pub(crate) fn during(mut self, task: impl fmt::Display) -> Self {
        self.0.what = format!("{task}: {}", self.0.what);
        self
    }

    /// Says what should have been there.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>) -> Self {
        self.0.expected = Some(expected.into());
        self
    }

    /// Says what was there instead.
    #[must_use]
    pub fn found(mut self, found: impl Into<String>) -> Self {
        self.0.found = Some(found.into());
        self
    }

    /// The file it was in. The first file named stays.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.0.file.get_or_insert_with(|| file.into());
        self
    }

    /// The offset in the file, in bytes from its start.
    #[must_use]
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// The line of input, counted from 1.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.0.line = Some(line);
        self
    }

    /// The column of that line in characters, counted from 1.
    #[must_use]
    pub fn at_column(mut self, column: u64) -> Self {
        self.0.column = Some(column);
        self
    }

    /// The bytes of the query text that it is about.
    #[must_use]
    pub fn at_span(mut self, span: Range<usize>) -> Self {
        self.0.span = Some(span);
        self
    }

    /// Removes the place in the query, for a message that shows the text there.
    pub(crate) fn without_place(mut self) -> Self {
        self.0.span = None;
        self
    }

    /// Leaves out what to do about it, for those who do that already.
    pub(crate) fn without_hint(mut self) -> Self {
        self.0.hint = None;
        self
    }

    /// Says what the reader of the message can do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Sets the outcome of the commit that failed.
    #[must_use]
    pub(crate) fn outcome(mut self, outcome: CommitOutcome) -> Self {
        self.0.commit_outcome = Some(outcome);
        self
    }

    /// Outcome of a commit or a merge that failed. `None` for everything else, such as a call of a writer
    /// that is [`Poisoned`](ErrorKind::Poisoned) by an earlier failure.
    pub fn commit_outcome(&self) -> Option<CommitOutcome> {
        self.0.commit_outcome
    }

    /// The limit that was reached, if that is what is wrong.
    ///
    /// [`Limits`](crate::Limits) raises most of them.
    pub fn limit(&self) -> Option<LimitReached> {
        self.0.limit
    }

    /// Returns what should have been there, and what was there instead; both are empty if they are not known.
    pub(crate) fn expected_and_found(&self) -> (&str, &str) {
        (
            self.0.expected.as_deref().unwrap_or_default(),
            self.0.found.as_deref().unwrap_or_default(),
        )
    }

    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The file it was in, if one is known.
    pub fn file(&self) -> Option<&std::path::Path> {
        self.0.file.as_deref()
    }

    /// The offset in the file in bytes, if one is known.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The line of input, counted from 1, if there is one.
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// The column of that line in characters, counted from 1, if it is known.
    pub fn column(&self) -> Option<u64> {
        self.0.column
    }

    /// The bytes of the query text that it is about, if there are any.
    pub fn span(&self) -> Option<Range<usize>> {
        self.0.span.clone()
    }
}

/// `what: expected …, found … (file …, offset …, line …): cause; hint` on one line, leaving out what is not known.
///
/// Names, values and queries in it are somebody else's text: control characters, which would drive a terminal, and marks of
/// direction, which reorder a line, are escaped.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_to(&mut Escaped(f))
    }
}

/// Writes text with what cannot be seen in it as escapes.
struct Escaped<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl fmt::Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some((at, hidden)) = rest.char_indices().find(|(_, c)| is_hidden(*c)) {
            write!(self.0, "{}{}", &rest[..at], hidden.escape_debug())?;
            rest = &rest[at + hidden.len_utf8()..];
        }
        self.0.write_str(rest)
    }
}

/// Whether a character moves others or the cursor and has no shape of its own.
fn is_hidden(c: char) -> bool {
    let is_of_direction =
        matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    c.is_control() || is_of_direction || matches!(c, '\u{2028}' | '\u{2029}')
}

impl Error {
    fn write_to(&self, f: &mut impl fmt::Write) -> fmt::Result {
        let inner = &*self.0;
        f.write_str(&inner.what)?;
        match (&inner.expected, &inner.found) {
            (Some(expected), Some(found)) => write!(f, ": expected {expected}, found {found}")?,
            (Some(expected), None) => write!(f, ": expected {expected}")?,
            (None, Some(found)) => write!(f, ": found {found}")?,
            (None, None) => {}
        }
        let mut place = vec![];
        if let Some(file) = &inner.file {
            place.push(format!("in {}", file.display()));
        }
        if let Some(offset) = inner.offset {
            place.push(format!("at offset {offset}"));
        }
        if let Some(line) = inner.line {
            place.push(format!("line {line}"));
        }
        if let Some(column) = inner.column {
            place.push(format!("column {column}"));
        }
        if let Some(span) = &inner.span {
            place.push(format!("at byte {} of the query", span.start));
        }
        if !place.is_empty() {
            write!(f, " ({})", place.join(", "))?;
        }
        if let Some(source) = &inner.source {
            match inner.kind {
                // Users search for these words, whatever the platform calls the cause.
                ErrorKind::NoSpace => write!(f, ": no space left ({source})")?,
                _ => write!(f, ": {source}")?,
            }
        }
        if let Some(hint) = &inner.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_what_expected_found_and_where() {
        let error = Error::corrupt("reading the footer")
            .expected("checksum 0x1")
            .found("0x2")
            .in_file("a.idx")
            .in_file("b.idx")
            .at_offset(64)
            .hint("run `treepie verify`");
        assert_eq!(
            error.to_string(),
            "reading the footer: expected checksum 0x1, found 0x2 (in a.idx, at offset 64); run `treepie verify`"
        );
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn a_message_is_one_line_of_characters_that_can_be_seen() {
        let error = Error::new(ErrorKind::Document, "reading '\u{1b}[2J'")
            .found("a\nb\u{202E}c é\0")
            .in_file("x\u{7}.csv")
            .hint("\u{9b}31m");
        let escaped =
            "reading '\\u{1b}[2J': found a\\nb\\u{202e}c é\\0 (in x\\u{7}.csv); \\u{9b}31m";
        assert_eq!(error.to_string(), escaped);
    }

    #[test]
    fn a_full_disk_is_told_in_the_words_people_search_for() {
        let error = Error::io("writing x", io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(error.kind(), ErrorKind::NoSpace);
        assert!(error.to_string().contains("no space left"), "{error}");
    }
}
