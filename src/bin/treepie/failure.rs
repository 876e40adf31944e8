//! How a command ends: exit status, and the line on standard error that says why.

use std::{
    fmt::Display,
    io::{self, Write},
    ops::Range,
    process::ExitCode,
};

use treepie::{Error, ErrorKind};

/// What every command returns.
pub type Outcome<T = Exit> = Result<T, Failure>;

/// The exit status, by meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done; for a search: something was found.
    Done,
    /// Searched, and nothing was found.
    NothingFound,
    /// An error, or damage that `verify` has listed.
    Failed,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::NothingFound => 1,
            Exit::Failed => 2,
        })
    }
}

/// Why a command stopped early.
#[derive(Debug)]
pub enum Failure {
    /// Told in one line.
    Error(Error),
    /// The query cannot be understood; the place in it is shown below the line.
    InQuery { error: Error, query: String },
    /// Nobody reads standard output any more.
    ClosedPipe,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

/// Only printing results meets bare I/O errors: everything else names what it was doing.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Error(Error::io("printing to standard output", error)),
        }
    }
}

/// An error about what was typed.
pub fn usage(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, what)
}

/// Something of the documented interface that does not exist yet.
pub fn not_yet(what: impl Display) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{what} is not built yet"))
}

/// Prints `treepie: …` to standard error, and below it the place in the query where there is one.
pub fn report(error: &Error, query: Option<&str>) {
    let mut text = format!("treepie: {error}\n");
    if let (Some(query), Some(span)) = (query, error.span()) {
        text.push_str(&caret(query, span));
    }
    note_raw(&text);
}

/// Prints `treepie: …` to standard error, for what the user should know though the command goes on.
pub fn warn(message: impl Display) {
    note_raw(&format!("treepie: {message}\n"));
}

/// Standard error may be closed, and a message is no reason to stop a build.
pub fn note_raw(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Characters of the query shown to either side of the place.
const CONTEXT_CHARS: usize = 36;

/// Two lines: the query around `span`, and a caret for each character of the span.
///
/// A tab or a control character takes one column, and a long query shows its neighbourhood only.
fn caret(query: &str, span: Range<usize>) -> String {
    let place = |at: usize| {
        let at = at.min(query.len());
        query.char_indices().take_while(|(start, _)| *start < at).count()
    };
    let chars: Vec<char> = query.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let start = place(span.start);
    let end = place(span.end).max(start);

    let left = start.saturating_sub(CONTEXT_CHARS);
    let right = (start + CONTEXT_CHARS).min(chars.len());
    let before: String = chars[left..start].iter().collect();
    let after: String = chars[start..right].iter().collect();
    let (cut_left, cut_right) =
        (if left > 0 { "…" } else { "" }, if right < chars.len() { "…" } else { "" });
    let indent = before.chars().map(columns).sum::<usize>() + cut_left.chars().count();
    let marked: usize = chars[start..end.min(right)].iter().map(|c| columns(*c)).sum();
    format!(
        "  {cut_left}{before}{after}{cut_right}\n  {:indent$}{}\n",
        "",
        "^".repeat(marked.max(1))
    )
}

/// Columns of a terminal that a character takes: two for the wide scripts of East Asia and emoji.
pub fn columns(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036F | 0x200B..=0x200F | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0xA4CF
        | 0xA960..=0xA97F
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_place() {
        assert_eq!(caret("a AND (b", 6..7), "  a AND (b\n        ^\n");
        assert_eq!(caret("ab OR", 3..5), "  ab OR\n     ^^\n");
        assert_eq!(caret("東京 AND", 7..10), "  東京 AND\n       ^^^\n");
    }

    #[test]
    fn a_span_at_or_past_the_end_gets_one_caret() {
        assert_eq!(caret("a (", 3..3), "  a (\n     ^\n");
        assert_eq!(caret("", 0..0), "  \n  ^\n");
        assert_eq!(caret("a", 5..9), "  a\n   ^\n");
    }

    #[test]
    fn a_long_query_shows_the_neighbourhood() {
        let shown = caret(&"(".repeat(1_000_000), 500_000..500_001);
        assert!(shown.len() < 400, "{shown}");
        let (text, mark) = shown.split_once('\n').unwrap();
        assert!(text.starts_with("  …") && text.ends_with('…'), "{text}");
        assert_eq!(mark.find('^'), Some(2 + 1 + CONTEXT_CHARS));
    }
}
