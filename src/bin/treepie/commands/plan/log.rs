//! Reader of kept plans: a file of one, or a log with lines of searches.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use treepie::{Error, ErrorKind, explain::JSON_BYTES_MAX};

use crate::{
    failure::{unread, warn},
    output, terminal,
};

/// Bytes of a plan or a line at the most, which is what the library reads.
const TEXT_BYTES_MAX: u64 = JSON_BYTES_MAX as u64;
/// Bad lines that are told one by one.
const BAD_LINES_TOLD: usize = 10;

pub(super) const READING: &str = "reading plans";

fn failed(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
    unread(READING, shown(path))
}

pub(super) fn shown(path: &Path) -> &Path {
    if is_stdin(path) { Path::new("standard input") } else { path }
}

pub(super) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    if is_stdin(path) {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(path).map_err(failed(path))?;
    Ok(Box::new(BufReader::with_capacity(1 << 20, file)))
}

fn utf8(bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let found = error.as_bytes().get(at).map_or(0, |byte| *byte);
        Error::new(ErrorKind::Corrupt, READING)
            .expected("UTF-8")
            .found(format!("the byte 0x{found:02X}"))
            .at_offset(at as u64)
    })
}

fn too_large() -> Error {
    Error::new(ErrorKind::LimitExceeded, READING)
        .expected(format!("at most {} MiB of a plan or a line", TEXT_BYTES_MAX >> 20))
        .found("more")
}

/// All of a file, which is one plan or one line of a log.
pub(super) fn read_one<T>(
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut bytes = vec![];
    open(path)?.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed(path))?;
    let read = match bytes.len() as u64 > TEXT_BYTES_MAX {
        true => Err(too_large()),
        false => utf8(bytes).and_then(|text| parse(&text)),
    };
    read.map_err(|error| error.in_file(shown(path)))
}

/// Gives `take` every line of a log that is not blank, or all of the text if that is one plan over several lines. A
/// refusal of `take` is reported; if nothing is accepted, the first refusal is the error.
///
/// The text is read once, so that it may come from a pipe.
pub(super) fn for_each(
    path: &Path,
    quiet: bool,
    mut take: impl FnMut(&str) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut lines = open(path)?;
    let mut whole = Whole::default();
    let (mut number, mut n_read, mut n_bad, mut told) = (0, 0, 0, vec![]);
    while let Some(line) = next_line(&mut lines).map_err(failed(path))? {
        number += 1;
        if n_read == 0 {
            whole.add(line.as_deref().ok());
        }
        let read = line.and_then(utf8).and_then(|line| match line.trim().is_empty() {
            true => Ok(0),
            false => take(&line).map(|()| 1),
        });
        match read {
            Ok(0) => {}
            Ok(n) => {
                n_read += n;
                whole = Whole::default();
            }
            Err(error) => {
                n_bad += 1;
                if told.len() < BAD_LINES_TOLD {
                    // For the library the line is all there is, so that its first one is this.
                    told.push(error.in_file(shown(path)).at_line(number));
                }
            }
        }
    }
    if n_read == 0 {
        let first = told.into_iter().next().unwrap_or_else(|| nothing(path));
        return match whole.take(take) {
            None => Err(first),
            Some(read) => read.map_err(|error| error.in_file(shown(path))),
        };
    }
    if n_bad > 0 && !quiet {
        told.iter().for_each(|error| warn(terminal::printable(&error.to_string())));
        let (n_read, n_bad) = (output::grouped(n_read), output::plural(n_bad, "line"));
        let path = shown(path).display().to_string();
        let path = terminal::printable(&path);
        warn(format!("{n_bad} of {path} could not be read, {n_read} could"));
    }
    Ok(())
}

fn nothing(path: &Path) -> Error {
    Error::new(ErrorKind::NotFound, READING)
        .expected("a line for each slow search")
        .found("nothing")
        .in_file(shown(path))
}

/// All of a text of which no line is anything by itself: it may be one plan that was printed prettily.
#[derive(Default)]
struct Whole {
    bytes: Vec<u8>,
    /// Lines that begin with a brace. A plan has one of them, a log nothing else.
    n_opening: usize,
    /// Whether it is too large, or a log.
    is_no_plan: bool,
}

impl Whole {
    fn add(&mut self, line: Option<&[u8]>) {
        let room = TEXT_BYTES_MAX.saturating_sub(self.bytes.len() as u64 + 1);
        self.n_opening += usize::from(line.is_some_and(|line| line.starts_with(b"{")));
        match line {
            Some(line) if line.len() as u64 <= room && self.n_opening < 2 && !self.is_no_plan => {
                self.bytes.extend_from_slice(line);
                self.bytes.push(b'\n');
            }
            _ => *self = Whole { is_no_plan: true, ..Whole::default() },
        }
    }

    /// Gives the whole to `take`; `None` if it is no plan, so that its first line tells more.
    fn take(self, take: impl FnOnce(&str) -> Result<(), Error>) -> Option<Result<(), Error>> {
        if self.is_no_plan {
            return None;
        }
        let text = String::from_utf8(self.bytes).ok().filter(|text| !text.trim().is_empty())?;
        Some(take(&text))
    }
}

/// The next line without what ends it, or why it is none; at the end nothing.
fn next_line(lines: &mut dyn BufRead) -> io::Result<Option<Result<Vec<u8>, Error>>> {
    let mut line = vec![];
    lines.take(TEXT_BYTES_MAX + 1).read_until(b'\n', &mut line)?;
    match line.last() {
        None => return Ok(None),
        Some(b'\n') => {
            line.pop();
        }
        Some(_) if line.len() as u64 > TEXT_BYTES_MAX => {
            drop(line);
            skip_line(lines)?;
            return Ok(Some(Err(too_large())));
        }
        Some(_) => {}
    }
    Ok(Some(Ok(line)))
}

fn skip_line(lines: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let buffer = lines.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let (used, is_end) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), false),
        };
        lines.consume(used);
        if is_end {
            return Ok(());
        }
    }
}
