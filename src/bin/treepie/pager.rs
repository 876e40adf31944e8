//! Pager for output longer than the screen. It is chosen as git chooses its own: TREEPIE_PAGER, else PAGER, else less.
//!
//! A page of ten hits should not wait for another program to start. So output is held back until it is longer than
//! the screen; only then the pager is started, and gets all of it.

use std::{
    env,
    io::{self, BufWriter, IsTerminal, StdoutLock, Write},
    process::{Child, ChildStdin, Command, Stdio},
};

use crate::{failure::warn, terminal};

/// Pager if none is named.
const DEFAULT: &str = "less";
/// Options of less where LESS is not set: colours, no clearing of the screen, and an end at ^C, which ends this program
/// too.
const LESS: &str = "FRXK";
/// Bytes written at once.
const BUFFER_LEN: usize = 1 << 16;

/// Output that is held back until it is longer than the screen.
pub(crate) struct Screen<W: Write = StdoutLock<'static>> {
    pager: String,
    columns: usize,
    /// Rows that are free.
    rows: usize,
    /// Columns of the line that has not ended yet.
    column: usize,
    /// All output so far, while it fits.
    held: Option<Vec<u8>>,
    process: Option<Process>,
    /// Gets what fits, and all of it if there is no pager.
    to: BufWriter<W>,
}

/// A pager at work.
struct Process {
    child: Child,
    stdin: BufWriter<ChildStdin>,
}

impl Screen {
    /// Screen of standard output, if that is a terminal and there is a pager for it.
    pub(crate) fn of_terminal() -> Option<Self> {
        let stdout = io::stdout();
        if !stdout.is_terminal() || env::var_os("TERM").is_some_and(|term| term == "dumb") {
            return None;
        }
        let pager = chosen(|name| env::var(name).ok())?;
        let (columns, rows) = terminal_size::terminal_size_of(&stdout)?;
        Some(Screen::new(pager, (columns.0.into(), rows.0.into()), stdout.lock()))
    }
}

/// Pager that the environment names; `None` for an empty name and for cat, as of git.
fn chosen(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let named = ["TREEPIE_PAGER", "PAGER"].into_iter().find_map(variable);
    let pager = named.unwrap_or_else(|| DEFAULT.to_owned());
    (!matches!(pager.trim(), "" | "cat")).then_some(pager)
}

/// Command that a pager is started by: where there is a shell, that reads what has more than a name in it.
fn command(pager: &str) -> Command {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    let words: Vec<&str> = match pager.chars().all(is_name) {
        true => vec![pager],
        false if cfg!(unix) => vec!["sh", "-c", pager],
        false => pager.split_whitespace().collect(),
    };
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    for (name, value) in [("LESS", LESS), ("LV", "-c")] {
        if env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    command
}

impl<W: Write> Screen<W> {
    /// Holds back what fits into `size`, in columns and rows, and writes it to `to` in the end.
    fn new(pager: String, size: (usize, usize), to: W) -> Self {
        Screen {
            pager,
            columns: size.0.max(1),
            // The last row is for the prompt of the shell.
            rows: size.1.saturating_sub(1),
            column: 0,
            held: Some(vec![]),
            process: None,
            to: BufWriter::with_capacity(BUFFER_LEN, to),
        }
    }

    /// Takes the rows of more output; false if there are not so many.
    fn take_rows(&mut self, text: &str) -> bool {
        // Colours are sequences from ESC to m, which take no columns; nothing else of the kind is printed.
        let mut is_sequence = false;
        for c in text.chars() {
            match c {
                '\n' => {
                    let rows = self.column.div_ceil(self.columns).max(1);
                    self.column = 0;
                    let Some(left) = self.rows.checked_sub(rows) else { return false };
                    self.rows = left;
                }
                '\x1b' => is_sequence = true,
                'm' if is_sequence => is_sequence = false,
                _ if is_sequence => {}
                c => self.column += terminal::char_width(c),
            }
        }
        true
    }

    /// Starts the pager, or goes on without one; what was held back goes first.
    fn start(&mut self) -> io::Result<()> {
        let held = self.held.take().unwrap_or_default();
        match command(&self.pager).stdin(Stdio::piped()).spawn() {
            Ok(mut child) => {
                self.process = child.stdin.take().map(|stdin| {
                    let stdin = BufWriter::with_capacity(BUFFER_LEN, stdin);
                    Process { child, stdin }
                });
            }
            // Nobody asked for less.
            Err(_) if self.pager == DEFAULT => {}
            Err(error) => {
                let pager = terminal::printable(&self.pager);
                warn(format!("printing without a pager: starting '{pager}': {error}"));
            }
        }
        self.write_all(&held)
    }

    /// Writes what is held back, or waits until the pager has been left.
    fn finish(&mut self) -> io::Result<()> {
        if let Some(held) = self.held.take() {
            self.to.write_all(&held)?;
        }
        if let Some(Process { mut child, mut stdin }) = self.process.take() {
            let written = stdin.flush();
            // The end of its input.
            drop(stdin.into_parts().0);
            child.wait()?;
            written?;
        }
        self.to.flush()
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(held) = &mut self.held {
            held.extend_from_slice(bytes);
            if !self.take_rows(&String::from_utf8_lossy(bytes)) {
                self.start()?;
            }
            return Ok(bytes.len());
        }
        match &mut self.process {
            Some(process) => process.stdin.write(bytes),
            None => self.to.write(bytes),
        }
    }

    /// Ends the page: what follows is printed below it.
    fn flush(&mut self) -> io::Result<()> {
        self.finish()
    }
}

/// A pager that is not waited for would fight the shell for the terminal.
impl<W: Write> Drop for Screen<W> {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pager_is_the_one_that_git_would_take() {
        let of = |set: &[(&str, &str)]| {
            chosen(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(of(&[]).as_deref(), Some("less"));
        assert_eq!(of(&[("PAGER", "most -s")]).as_deref(), Some("most -s"));
        let both = [("PAGER", "more"), ("TREEPIE_PAGER", "bat")];
        assert_eq!(of(&both).as_deref(), Some("bat"));
        for none in ["", " ", "cat"] {
            assert_eq!(of(&[("PAGER", "less"), ("TREEPIE_PAGER", none)]), None, "{none:?}");
        }
    }

    #[test]
    fn what_fits_the_screen_starts_nothing() {
        let print = |parts: &[&str]| {
            let mut out = vec![];
            let mut screen = Screen::new("/nonexistent/pager".to_owned(), (10, 4), &mut out);
            parts.iter().for_each(|part| screen.write_all(part.as_bytes()).unwrap());
            let fits = screen.held.is_some();
            screen.flush().unwrap();
            drop(screen);
            assert_eq!(String::from_utf8(out).unwrap(), parts.concat(), "nothing is lost");
            fits
        };
        assert!(print(&["one\n", "two\n", "three\n"]));
        assert!(print(&["no end of a line"]));
        assert!(!print(&["one\ntwo\n", "three\nfour\n"]));
        assert!(!print(&["a line that is as long as three of the screen\n"]));
        assert!(print(&["\x1b[1;31m0123456789\x1b[0m\n", "二二二二二\n", "\n"]));
        assert!(!print(&["二二二二二二\n", "\n\n"]));
    }

    #[cfg(unix)]
    #[test]
    fn a_pager_gets_all_that_does_not_fit() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let pager = format!("(echo \"$LESS\"; cat) > '{}'", file.path().display());
        let mut out = vec![];
        let mut screen = Screen::new(pager, (80, 3), &mut out);
        (0..20_000).for_each(|n| writeln!(screen, "line {n}").unwrap());
        screen.flush().unwrap();
        writeln!(screen, "below").unwrap();
        drop(screen);
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert_eq!(text.lines().count(), 20_001);
        assert_eq!(text.lines().last(), Some("line 19999"));
        assert_eq!(out, b"below\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_pager_that_was_left_is_a_closed_pipe() {
        let mut screen = Screen::new("head -n 1 > /dev/null".to_owned(), (80, 3), vec![]);
        let line = "x".repeat(999);
        let error = (0..10_000).find_map(|_| writeln!(screen, "{line}").err()).unwrap();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
