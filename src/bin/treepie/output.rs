//! Standard output in the wanted format: buffered, and without a panic on a closed pipe.

use std::{
    borrow::Cow,
    env,
    fmt::Write as _,
    io::{self, BufWriter, IsTerminal, StdoutLock, Write},
};

use clap::ValueEnum;
use serde_json::Value;

use crate::{
    cells,
    failure::{Exit, Outcome},
    pager::Screen,
    terminal,
};

/// Format of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON value.
    Json,
    /// One JSON object a line.
    Jsonl,
    /// Tab-separated values under a header; tab, newline and backslash are escaped with a backslash. `index` reads it.
    Tsv,
    /// Comma-separated values under a header, several of a field in columns of one name. `index` reads it.
    Csv,
}

/// Format of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A table for people.
    #[default]
    Text,
    /// One object.
    Json,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    /// Whether standard output gets colour.
    pub(crate) fn on(self) -> bool {
        let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                !set("NO_COLOR")
                    && io::stdout().is_terminal()
                    && env::var_os("TERM").is_none_or(|term| term != "dumb")
            }
        }
    }
}

/// Whether standard output is a terminal that says it knows UTF-8.
fn is_utf8_terminal() -> bool {
    let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let is_utf8 = |locale: String| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    };
    io::stdout().is_terminal() && (cfg!(windows) || locale.is_some_and(is_utf8))
}

/// Standard output, locked and buffered; errors come back instead of ending the process.
pub(crate) struct Output {
    to: Sink,
    color: bool,
    draws_blocks: bool,
}

/// Writer of an [`Output`].
enum Sink {
    Buffered(BufWriter<StdoutLock<'static>>),
    Paged(Screen),
}

impl Output {
    pub(crate) fn new(color: Color) -> Self {
        let to = Sink::Buffered(BufWriter::with_capacity(1 << 16, io::stdout().lock()));
        Output { to, color: color.on(), draws_blocks: is_utf8_terminal() }
    }

    /// Output that a pager shows if it is longer than the terminal. It ends with the first flush.
    pub(crate) fn paged(color: Color) -> Self {
        let mut out = Output::new(color);
        if let Some(screen) = Screen::of_terminal() {
            out.to = Sink::Paged(screen);
        }
        out
    }

    /// A bar of so many columns for `n` of `most`: of blocks on a terminal that has them, otherwise of ASCII.
    pub(crate) fn bar(&self, n: u64, most: u64, columns: usize) -> String {
        bar(n, most, columns, self.draws_blocks)
    }

    /// Whether colour may be written.
    pub(crate) fn color(&self) -> bool {
        self.color
    }

    /// `text` in bold where colour is on.
    pub(crate) fn strong<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.styled("1", text)
    }

    /// `text` in a quiet tone where colour is on.
    pub(crate) fn dim<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.styled("2", text)
    }

    /// `text` as what was looked for, where colour is on.
    pub(crate) fn marked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.styled("1;31", text)
    }

    fn styled<'t>(&self, code: &str, text: &'t str) -> Cow<'t, str> {
        match self.color {
            true => Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m")),
            false => Cow::Borrowed(text),
        }
    }

    /// One JSON value on one line.
    pub(crate) fn json_line(&mut self, value: &Value) -> io::Result<()> {
        serde_json::to_writer(&mut *self, value)?;
        self.write_all(b"\n")
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            Sink::Buffered(to) => to.write(bytes),
            Sink::Paged(to) => to.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Sink::Buffered(to) => to.flush(),
            Sink::Paged(to) => to.flush(),
        }
    }
}

/// Columns of the terminal, or COLUMNS if that is set; 100 where neither is known.
pub(crate) fn width() -> usize {
    let set = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let of_terminal =
        || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    set.or_else(of_terminal).unwrap_or(100).clamp(20, 1_000)
}

/// Draws a bar, of at least one column, or an eighth of one, for anything above nothing.
fn bar(n: u64, most: u64, columns: usize, of_blocks: bool) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let parts = columns * if of_blocks { EIGHTHS.len() } else { 1 };
    let length = (n as f64 / most.max(1) as f64 * parts as f64).round() as usize;
    let length = length.clamp(usize::from(n > 0), parts);
    match of_blocks {
        true => "█".repeat(length / EIGHTHS.len()) + EIGHTHS[length % EIGHTHS.len()],
        false => "#".repeat(length),
    }
}

/// Help and version text as clap renders them.
pub(crate) fn print_help(text: &str) -> Outcome {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(Exit::Done)
}

/// Rows under named columns in any [`Format`], streamed.
pub(crate) struct Table<'o> {
    out: &'o mut Output,
    format: Format,
    names: Vec<String>,
    /// Whether rows are documents, of which an empty text is not the same as no value.
    are_documents: bool,
    /// In text the first rows wait here until they have decided the widths; no more than those, so
    /// that any number of rows can be printed.
    held: Vec<Vec<Value>>,
    widths: Option<Vec<usize>>,
    n_printed: u64,
}

/// Rows that decide the widths of the columns in text.
const ROWS_FOR_WIDTHS: usize = 500;
/// A cell wider than this pushes the ones after it to the right instead of widening its column.
const CELL_WIDTH_MAX: usize = 60;

impl<'o> Table<'o> {
    pub(crate) fn new(out: &'o mut Output, format: Format, names: &[&str]) -> io::Result<Self> {
        let table = Table {
            out,
            format,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            are_documents: false,
            held: vec![],
            widths: None,
            n_printed: 0,
        };
        let name = |name: &&str| if name.is_empty() { Value::Null } else { Value::from(*name) };
        let header: Vec<Value> = names.iter().map(name).collect();
        match format {
            Format::Tsv => writeln!(table.out, "{}", separated(&header, false, cells::tsv, "\t"))?,
            Format::Csv => writeln!(table.out, "{}", separated(&header, false, cells::csv, ","))?,
            Format::Json => table.out.write_all(b"[")?,
            Format::Text | Format::Jsonl => {}
        }
        Ok(table)
    }

    /// Rows that `index` reads back as the documents that they are.
    pub(crate) fn of_documents(mut self) -> Self {
        self.are_documents = true;
        self
    }

    /// One row; as many cells as there are names.
    pub(crate) fn row(&mut self, cells: Vec<Value>) -> io::Result<()> {
        debug_assert_eq!(cells.len(), self.names.len());
        match self.format {
            Format::Tsv => {
                writeln!(self.out, "{}", separated(&cells, self.are_documents, cells::tsv, "\t"))
            }
            Format::Csv => {
                writeln!(self.out, "{}", separated(&cells, self.are_documents, cells::csv, ","))
            }
            Format::Jsonl => {
                let row = object(&self.names, cells);
                self.out.json_line(&row)
            }
            Format::Json => {
                let row = object(&self.names, cells);
                self.out.write_all(if self.n_printed == 0 { b"\n " } else { b",\n " })?;
                self.n_printed += 1;
                serde_json::to_writer(&mut *self.out, &row)?;
                Ok(())
            }
            Format::Text if self.widths.is_some() => self.text_row(&cells),
            Format::Text => {
                self.held.push(cells);
                if self.held.len() == ROWS_FOR_WIDTHS {
                    self.print_held()?;
                }
                Ok(())
            }
        }
    }

    /// Writes everything that is held back, and the end of the JSON array.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match self.format {
            Format::Text => self.print_held(),
            Format::Json if self.n_printed == 0 => self.out.write_all(b"]\n"),
            Format::Json => self.out.write_all(b"\n]\n"),
            Format::Jsonl | Format::Tsv | Format::Csv => Ok(()),
        }
    }

    fn print_held(&mut self) -> io::Result<()> {
        if self.widths.is_some() {
            return Ok(());
        }
        let held = std::mem::take(&mut self.held);
        let widths = self.names.iter().enumerate().map(|(at, name)| {
            let cells = held.iter().map(|row| terminal::width(&text_field(&row[at])));
            cells.chain([name.len()]).max().unwrap_or(0).min(CELL_WIDTH_MAX)
        });
        self.widths = Some(widths.collect());
        let header: Vec<Value> = self.names.iter().map(|name| Value::from(name.as_str())).collect();
        let line = self.text_line(&header, held.first());
        writeln!(self.out, "{}", self.out.dim(line.trim_end()))?;
        held.iter().try_for_each(|row| self.text_row(row))
    }

    fn text_row(&mut self, cells: &[Value]) -> io::Result<()> {
        let line = self.text_line(cells, None);
        writeln!(self.out, "{}", line.trim_end())
    }

    /// Numbers stand right, everything else left; a header stands as the cells under it do.
    fn text_line(&self, cells: &[Value], like: Option<&Vec<Value>>) -> String {
        let mut line = String::new();
        for (at, cell) in cells.iter().enumerate() {
            let text = text_field(cell);
            let width = self.widths.as_ref().map_or(0, |widths| widths[at]);
            let padding = width.saturating_sub(terminal::width(&text));
            let right = like.map_or(cell, |row| &row[at]).is_number();
            if at > 0 {
                line.push_str("  ");
            }
            let _ = match right {
                true => write!(line, "{:padding$}{text}", ""),
                false => write!(line, "{text}{:padding$}", ""),
            };
        }
        line
    }
}

fn object(names: &[String], cells: Vec<Value>) -> Value {
    Value::Object(names.iter().cloned().zip(cells).collect())
}

fn separated(
    cells: &[Value],
    are_documents: bool,
    write: fn(Option<&str>) -> Cow<'_, str>,
    separator: &str,
) -> String {
    let cell = |cell: &Value| match cell {
        Value::Null => write(None).into_owned(),
        other => {
            let text = plain_field(other);
            let is_value = are_documents || !text.is_empty();
            write(Some(&*text).filter(|_| is_value)).into_owned()
        }
    };
    match cells {
        // An empty line is no record.
        [Value::Null] if are_documents && separator == "\t" => cells::TSV_NONE.to_owned(),
        _ => cells.iter().map(cell).collect::<Vec<_>>().join(separator),
    }
}

/// A value as it is: text without quotes, nothing for null, several values joined.
fn plain_field(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(values) => {
            let values: Vec<_> = values.iter().map(plain_field).collect();
            Cow::Owned(values.join("; "))
        }
        other => Cow::Owned(other.to_string()),
    }
}

fn text_field(value: &Value) -> String {
    match value {
        Value::Number(number) => match number.as_u64() {
            Some(number) => grouped(number),
            None => number.to_string(),
        },
        other => terminal::printable(&plain_field(other)).into_owned(),
    }
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the unit that leaves at most four digits.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if n < 1_024 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1_024.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1_024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A count with its noun: `1 segment`, `2 segments`, `1,000 queries`.
pub(crate) fn plural(n: impl TryInto<u64>, name: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    match (n, name.strip_suffix('y')) {
        (1, _) => format!("1 {name}"),
        (n, Some(stem)) => format!("{} {stem}ies", grouped(n)),
        (n, None) => format!("{} {name}s", grouped(n)),
    }
}

/// A duration in the unit that reads best.
pub(crate) fn duration(elapsed: std::time::Duration) -> String {
    let ns = elapsed.as_nanos() as f64;
    match ns {
        _ if ns < 1e3 => format!("{ns} ns"),
        _ if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        _ if ns < 1e9 => format!("{:.1} ms", ns / 1e6),
        _ => format!("{:.2} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share() {
        let ascii =
            [(0, 9), (1, 9_000), (3, 9), (9, 9), (0, 0)].map(|(n, of)| bar(n, of, 6, false));
        assert_eq!(ascii, ["", "#", "##", "######", ""]);
        let blocks =
            [(0, 9), (1, 9_000), (3, 9), (7, 48), (9, 9)].map(|(n, of)| bar(n, of, 6, true));
        assert_eq!(blocks, ["", "▏", "██", "▉", "██████"]);
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(bytes(1_023), "1023 B");
        assert_eq!(bytes(1_536), "1.5 KiB");
        assert_eq!(bytes(u64::MAX), "16384.0 PiB");
        assert_eq!(duration(Duration::from_micros(1_500)), "1.5 ms");
        assert_eq!(duration(Duration::from_nanos(900)), "900 ns");
    }
}
