//! End of a command: exit status, and the line on standard error that says why.

use std::{
    fmt::{Display, Write as _},
    fs,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

use treepie::{Error, ErrorKind};

use crate::terminal;

/// Result of every command.
pub(crate) type Outcome<T = Exit> = Result<T, Failure>;

/// The exit status, by meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; for a search: something was found.
    Done,
    /// Searched, and nothing was found.
    NothingFound,
    /// Compared, and not the same.
    Different,
    /// An error, damage that `verify` has listed, or nothing that could be salvaged.
    Failed,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::NothingFound | Exit::Different => 1,
            Exit::Failed => 2,
        })
    }
}

/// Why a command stopped early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Told in one line.
    Error(Error),
    /// The index is damaged; the line says which command tells more.
    Damage(Error),
    /// The query cannot be understood; the place in it is shown below the line.
    InQuery { error: Error, query: String },
    /// Nobody reads standard output any more.
    ClosedPipe,
}

impl Failure {
    /// Tells damage of an index from other errors, for commands that are not about damage themselves.
    pub(crate) fn telling_damage(self) -> Self {
        match self {
            Failure::Error(error) if is_damage_of_an_index(&error) => Failure::Damage(error),
            other => other,
        }
    }
}

/// Inputs can be damaged as well: only files that are named like those of an index count.
fn is_damage_of_an_index(error: &Error) -> bool {
    let is_of_an_index = |file: &Path| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("manifest-") || name.ends_with(".idx") || name.ends_with(".rbm")
    };
    error.kind() == ErrorKind::Corrupt && error.file().is_some_and(is_of_an_index)
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
pub(crate) fn usage(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, what)
}

/// Turns what the system says of a file that is read into an error about it.
pub(crate) fn unread<'p>(what: &'p str, path: &'p Path) -> impl Fn(io::Error) -> Error + 'p {
    move |cause| {
        let is_missing = cause.kind() == io::ErrorKind::NotFound;
        let error = Error::io(what, cause).in_file(path);
        if is_missing { error.expected("a file").found("nothing") } else { error }
    }
}

/// All of a file that is text.
pub(crate) fn read_text(what: &str, path: &Path) -> Result<String, Error> {
    let bytes = fs::read(path).map_err(unread(what, path))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let found = error.as_bytes().get(at).map_or(0, |byte| *byte);
        Error::new(ErrorKind::Document, what)
            .expected("UTF-8")
            .found(format!("the byte 0x{found:02X}"))
            .in_file(path)
            .at_offset(at as u64)
    })
}

/// Something of the documented interface that does not exist yet.
pub(crate) fn not_yet(what: impl Display) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{what} is not built yet"))
}

/// Whether an error is about one query, so that others can be answered nevertheless.
pub(crate) fn is_about_the_query(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Query | ErrorKind::Unsupported | ErrorKind::LimitExceeded)
}

/// Prints `treepie: …` to standard error, and below it the place in the query if there is one.
pub(crate) fn report(error: &Error, query: Option<&str>) {
    let message = error.to_string();
    // Names and queries in it are somebody else's text; it also has to stay on one line.
    let mut text = format!("treepie: {}", terminal::printable(&message));
    if let (Some(query), Some(span)) = (query, error.span()) {
        for line in treepie::query::render_caret(query, span).lines() {
            let _ = write!(text, "\n  {line}");
        }
    }
    note(text);
}

/// Prints `treepie: …` to standard error for an index that is damaged, and where to read on.
pub(crate) fn report_damage(error: &Error) {
    let message = format!("{error}; `treepie verify` lists all damage");
    warn(terminal::printable(&message));
}

/// Prints `treepie: …` to standard error, for what the user should know though the command goes on.
pub(crate) fn warn(message: impl Display) {
    note(format!("treepie: {message}"));
}

/// Prints a remark to standard error, which may be closed: a message is no reason to stop a build. Names of files and fields in
/// it are somebody else's text.
pub(crate) fn note(message: impl Display) {
    let message = message.to_string();
    let lines: Vec<_> = message.lines().map(terminal::printable).collect();
    let _ = writeln!(io::stderr(), "{}", lines.join("\n"));
}
