//! `treepie inspect INDEX io [FILE]`: work on an index's files, as table and timeline.
//!
//! It reads what `--events FILE` of other commands wrote, or a program of its own with [`treepie::events`]. Events
//! that it does not know are counted by their name.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};
use treepie::{Error, ErrorKind};

use crate::{
    args, events,
    failure::{Outcome, unread, usage},
    output::{self, Format, Output, Table, bytes, duration, grouped, plural},
    terminal,
};

/// Arguments of `io`.
#[derive(Debug, clap::Args)]
pub(crate) struct IoArgs {
    /// File that `--events` wrote [default: INDEX.events.jsonl].
    file: Option<PathBuf>,
    /// Everything in the file, not the last session alone.
    #[arg(long)]
    all: bool,
    /// Print at most N.
    ///
    /// Rows of the timeline are those that took longest; 0 for all.
    #[arg(long, default_value_t = 40, value_parser = args::whole_number::<usize>, value_name = "N")]
    limit: usize,
}

pub(crate) fn print(out: &mut Output, format: Format, index: &Path, args: &IoArgs) -> Outcome<()> {
    let path = args.file.clone().unwrap_or_else(|| events::beside(index));
    let mut sessions = read(&path).map_err(|error| match (&args.file, error.kind()) {
        (None, ErrorKind::NotFound) => none_kept(index, &path),
        _ => error,
    })?;
    let n_sessions = sessions.len();
    let session = match args.all {
        true => Session {
            title: plural(n_sessions, "session"),
            events: sessions.into_iter().flat_map(|session| session.events).collect(),
        },
        false => sessions.pop().unwrap_or_default(),
    };
    let kinds = Kind::of(&session.events);
    match format {
        Format::Text => {
            let note = match n_sessions {
                0 | 1 => String::new(),
                _ if args.all => String::new(),
                n => format!(", the last of {} sessions; --all shows all", grouped(n as u64)),
            };
            print_text(out, &session, &kinds, &note, args.limit)
        }
        Format::Json => {
            let value = to_json(&session, &kinds, n_sessions);
            Ok(out.json_line(&value)?)
        }
        Format::Jsonl | Format::Tsv | Format::Csv => print_kinds(out, format, &kinds),
    }
}

fn none_kept(index: &Path, path: &Path) -> Error {
    let (index, path) = (index.display(), path.display());
    Error::new(ErrorKind::NotFound, "looking for what was done to an index")
        .expected(format!("its events in {path}"))
        .found("no such file: they are kept only where that is asked for")
        .hint(format!(
            "`treepie merge {index} --events {path}` writes them while it merges, as do `index` and `delete`"
        ))
}

/// Events of one command.
#[derive(Debug, Default)]
struct Session {
    title: String,
    events: Vec<Line>,
}

/// One event.
#[derive(Debug)]
struct Line {
    event: String,
    /// In nanoseconds since 1970.
    start: u64,
    time: u64,
    /// Time that counts in the table: of pieces, the time in the calls.
    busy: u64,
    file: Option<String>,
    bytes: u64,
    failed: bool,
    all: Value,
}

impl Line {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.time)
    }
}

/// The sessions of a file; events without the beginning of one are a session, too.
fn read(path: &Path) -> Result<Vec<Session>, Error> {
    let failed = unread("reading events", path);
    let mut sessions: Vec<Session> = vec![];
    for (at, line) in BufReader::new(File::open(path).map_err(&failed)?).lines().enumerate() {
        let line = line.map_err(&failed)?;
        let wrong = |found: String| {
            usage("reading events")
                .expected(
                    "a JSON object with `event`, `start_us` and `time_ns`, as --events writes it",
                )
                .found(found)
                .in_file(path)
                .at_line(at as u64 + 1)
        };
        if line.trim().is_empty() {
            continue;
        }
        let value: Value = serde_json::from_str(&line).map_err(|error| wrong(error.to_string()))?;
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = |name: &str| value.get(name).and_then(Value::as_u64);
        if let Some(command) = text("session") {
            let title = format!("{command} {}", text("index").unwrap_or_default());
            sessions.push(Session { title, events: vec![] });
            continue;
        }
        let (Some(event), Some(start), Some(time)) =
            (text("event"), number("start_us"), number("time_ns"))
        else {
            return Err(wrong("another".to_owned()));
        };
        if sessions.is_empty() {
            sessions.push(Session { title: path.display().to_string(), events: vec![] });
        }
        let line = Line {
            event,
            start: start.saturating_mul(1_000),
            time,
            busy: number("busy_ns").unwrap_or(time),
            file: text("file"),
            bytes: number("bytes").unwrap_or(0),
            failed: value.get("error").is_some_and(|error| !error.is_null()),
            all: value,
        };
        if let Some(session) = sessions.last_mut() {
            session.events.push(line);
        }
    }
    Ok(sessions)
}

/// All events of one name.
#[derive(Debug)]
struct Kind {
    event: String,
    count: u64,
    failed: u64,
    bytes: u64,
    total: u64,
    median: u64,
    max: u64,
}

impl Kind {
    /// Groups events by kind; the kind that took longest in all comes first.
    fn of(events: &[Line]) -> Vec<Kind> {
        let mut times: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for line in events {
            times.entry(&line.event).or_default().push(line.busy);
        }
        let kind = |(event, mut times): (&str, Vec<u64>)| {
            times.sort_unstable();
            let own = || events.iter().filter(|line| line.event == event);
            Kind {
                event: event.to_owned(),
                count: times.len() as u64,
                failed: own().filter(|line| line.failed).count() as u64,
                // Whatever a file says that is not of ours.
                bytes: own().map(|line| line.bytes).fold(0, u64::saturating_add),
                total: times.iter().copied().fold(0, u64::saturating_add),
                median: times[(times.len() - 1) / 2],
                max: times[times.len() - 1],
            }
        };
        let mut kinds: Vec<Kind> = times.into_iter().map(kind).collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.total));
        kinds
    }

    /// Bytes a second, if there are any. Opening a file does not read it.
    fn rate(&self) -> Option<u64> {
        if self.bytes == 0 || self.total == 0 || self.event == "open" {
            return None;
        }
        Some((self.bytes as f64 * 1e9 / self.total as f64) as u64)
    }
}

fn print_kinds(out: &mut Output, format: Format, kinds: &[Kind]) -> Outcome<()> {
    let names = [
        "event",
        "count",
        "failed",
        "bytes",
        "total_ns",
        "median_ns",
        "max_ns",
        "bytes_per_second",
    ];
    let mut table = Table::new(out, format, &names)?;
    for kind in kinds {
        table.row(vec![
            json!(kind.event),
            json!(kind.count),
            json!(kind.failed),
            json!(kind.bytes),
            json!(kind.total),
            json!(kind.median),
            json!(kind.max),
            json!(kind.rate()),
        ])?;
    }
    Ok(table.finish()?)
}

/// A row of the timeline: a file, or something that was done to the whole index.
#[derive(Debug)]
struct Row {
    label: String,
    /// Name of an event, with its start and its end.
    spans: Vec<(String, u64, u64)>,
    bytes: u64,
    failed: bool,
    /// Whether it is of several things that have nothing to do with each other.
    is_gathered: bool,
}

impl Row {
    fn start(&self) -> u64 {
        self.spans.iter().map(|(_, start, _)| *start).min().unwrap_or(0)
    }

    fn end(&self) -> u64 {
        self.spans.iter().map(|(_, _, end)| *end).max().unwrap_or(0)
    }

    /// From the beginning to the end; of what is gathered, the time that it took in all.
    fn time(&self) -> u64 {
        match self.is_gathered {
            true => {
                let times = self.spans.iter().map(|(_, start, end)| end.saturating_sub(*start));
                times.fold(0, u64::saturating_add)
            }
            false => self.end().saturating_sub(self.start()),
        }
    }
}

/// A row for each file, by its last name; for each event that is about no file; and one for all that were deleted, and
/// all that were only opened. By the beginning, what takes longer first.
fn timeline(events: &[Line]) -> Vec<Row> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for (nth, line) in events.iter().enumerate() {
        let (key, label) = row_of(line, nth);
        if line.event == "publish" {
            let before = line.all.get("from").and_then(Value::as_str).unwrap_or_default();
            if let Some(row) = rows.remove(before) {
                rows.insert(key.clone(), Row { label: label.clone(), ..row });
            }
        }
        let is_gathered = GATHERED.contains(&&*key);
        let empty = Row { label, spans: vec![], bytes: 0, failed: false, is_gathered };
        let row = rows.entry(key).or_insert(empty);
        row.spans.push((line.event.clone(), line.start, line.end()));
        // Anything made durable was written before.
        if !matches!(&*line.event, "sync" | "read") {
            row.bytes += line.bytes;
        }
        row.failed |= line.failed;
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    rows.sort_by_key(|row| (row.start(), std::cmp::Reverse(row.end())));
    rows
}

/// Keys of rows for many things; no file is named so.
const GATHERED: [&str; 3] = ["\0delete", "\0open", "\0names"];

/// The key of an event's row, and what stands before it.
fn row_of(line: &Line, nth: usize) -> (String, String) {
    let number = |name: &str| line.all.get(name).and_then(Value::as_u64).unwrap_or(0);
    match (&*line.event, &line.file) {
        ("delete", _) => (GATHERED[0].to_owned(), "files deleted".to_owned()),
        ("open", _) => (GATHERED[1].to_owned(), "files opened".to_owned()),
        ("sync_names", _) => (GATHERED[2].to_owned(), "names made durable".to_owned()),
        ("spill", Some(file)) => (format!("\0spill {file}"), format!("spill {}", short(file))),
        (_, Some(file)) => (file.clone(), short(file)),
        ("merge", None) => (format!("\0{nth}"), format!("merge {} to 1", number("segments"))),
        ("commit" | "prepare", None) => {
            (format!("\0{nth}"), format!("{} {}", line.event, number("generation")))
        }
        (event, None) => (format!("\0{nth}"), event.to_owned()),
    }
}

/// A file by the first eight digits of its id, or without the zeros of its number.
fn short(file: &str) -> String {
    if let Some(number) = file.strip_prefix("manifest-") {
        return format!("manifest-{}", number.trim_start_matches('0'));
    }
    let is_digit = |c: char| c.is_ascii_hexdigit();
    match file.find('-').map(|at| file.split_at(at + 1)) {
        Some((kind, id)) if id.chars().take(32).filter(|c| is_digit(*c)).count() == 32 => {
            format!("{kind}{}…{}", &id[..8], &id[32..])
        }
        _ => file.to_owned(),
    }
}

fn to_json(session: &Session, kinds: &[Kind], n_sessions: usize) -> Value {
    let rows = timeline(&session.events);
    let (from, to) = bounds(&rows);
    let kinds: Vec<Value> = kinds
        .iter()
        .map(|kind| {
            json!({
                "event": kind.event, "count": kind.count, "failed": kind.failed,
                "bytes": kind.bytes, "total_ns": kind.total, "median_ns": kind.median,
                "max_ns": kind.max, "bytes_per_second": kind.rate(),
            })
        })
        .collect();
    let since = |time: u64| time.saturating_sub(from);
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            let spans: Vec<Value> = row
                .spans
                .iter()
                .map(|(event, start, end)| {
                    json!({ "event": event, "start_ns": since(*start), "end_ns": since(*end) })
                })
                .collect();
            json!({
                "what": row.label, "start_ns": since(row.start()), "end_ns": since(row.end()),
                "bytes": row.bytes, "failed": row.failed, "spans": spans,
            })
        })
        .collect();
    json!({
        "session": session.title, "sessions": n_sessions, "events": session.events.len(),
        "start_us": from / 1_000, "time_ns": to - from, "kinds": kinds, "timeline": rows,
    })
}

/// From the beginning of the first to the end of the last.
fn bounds(rows: &[Row]) -> (u64, u64) {
    let from = rows.iter().map(Row::start).min().unwrap_or(0);
    (from, rows.iter().map(Row::end).max().unwrap_or(0).max(from))
}

fn print_text(
    out: &mut Output,
    session: &Session,
    kinds: &[Kind],
    note: &str,
    limit: usize,
) -> Outcome<()> {
    let mut rows = timeline(&session.events);
    let (from, to) = bounds(&rows);
    let n_events = plural(session.events.len(), "event");
    let time = duration(Duration::from_nanos(to - from));
    let title = format!("{}: {n_events} in {time}{note}", session.title);
    writeln!(out, "{}\n", out.strong(&terminal::printable(&title)))?;
    print_kinds_for_people(out, kinds)?;
    if rows.is_empty() {
        return Ok(());
    }
    let n_rows = rows.len();
    if limit > 0 && n_rows > limit {
        let mut times: Vec<u64> = rows.iter().map(Row::time).collect();
        times.sort_unstable_by(|a, b| b.cmp(a));
        let least = times[limit - 1];
        // The first of several that took the same time stay.
        let mut room = limit - times.iter().filter(|time| **time > least).count();
        rows.retain(|row| match row.time().cmp(&least) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => {
                let fits = room > 0;
                room = room.saturating_sub(1);
                fits
            }
        });
    }
    print_timeline(out, &rows, from, to)?;
    if n_rows > rows.len() {
        let left_out = grouped((n_rows - rows.len()) as u64);
        writeln!(out, "{left_out} more rows that took less; --limit 0 shows all")?;
    }
    Ok(())
}

/// The table with units; numbers stand right.
fn print_kinds_for_people(out: &mut Output, kinds: &[Kind]) -> Outcome<()> {
    let heads = ["event", "count", "failed", "bytes", "total", "median", "max", "rate"];
    let mut cells: Vec<[String; 8]> = vec![heads.map(str::to_owned)];
    for kind in kinds {
        let time = |nanos: u64| duration(Duration::from_nanos(nanos));
        let or_nothing = |n: u64, shown: String| if n > 0 { shown } else { String::new() };
        cells.push([
            terminal::printable(&kind.event).into_owned(),
            grouped(kind.count),
            or_nothing(kind.failed, grouped(kind.failed)),
            or_nothing(kind.bytes, bytes(kind.bytes)),
            time(kind.total),
            time(kind.median),
            time(kind.max),
            kind.rate().map_or(String::new(), |rate| format!("{}/s", bytes(rate))),
        ]);
    }
    let widths: [usize; 8] = std::array::from_fn(|at| {
        cells.iter().map(|row| terminal::width(&row[at])).max().unwrap_or(0)
    });
    for (nth, row) in cells.iter().enumerate() {
        let mut line = row[0].clone() + &" ".repeat(widths[0] - terminal::width(&row[0]));
        for at in 1..row.len() {
            line.push_str(&" ".repeat(2 + widths[at] - terminal::width(&row[at])));
            line.push_str(&row[at]);
        }
        match nth {
            0 => writeln!(out, "{}", out.dim(line.trim_end()))?,
            _ => writeln!(out, "{}", line.trim_end())?,
        }
    }
    Ok(writeln!(out)?)
}

/// The columns of what stands before a bar, at most.
const LABEL_WIDTH_MAX: usize = 30;
/// The columns of the bytes and of the time behind a bar.
const NUMBER_WIDTH: usize = 10;
/// The columns of a bar, at least.
const BAR_WIDTH_MIN: usize = 10;

fn print_timeline(out: &mut Output, rows: &[Row], from: u64, to: u64) -> Outcome<()> {
    let labels = rows.iter().map(|row| terminal::width(&row.label));
    let label_width = labels.max().unwrap_or(0).clamp(4, LABEL_WIDTH_MAX);
    let beside = label_width + 2 * NUMBER_WIDTH + 2;
    let bar_width = output::width().saturating_sub(beside).max(BAR_WIDTH_MIN);
    let (zero, end) = ("0", duration(Duration::from_nanos(to - from)));
    let line = "─".repeat(bar_width.saturating_sub(zero.len() + terminal::width(&end) + 2));
    let axis = format!(
        "{:label_width$}  {zero} {line} {end}{:>NUMBER_WIDTH$}{:>NUMBER_WIDTH$}",
        "", "bytes", "time"
    );
    writeln!(out, "{}", out.dim(&axis))?;
    for row in rows {
        let label = terminal::printable(&row.label);
        let label = terminal::truncate(&label, label_width, "…");
        let gap = " ".repeat(label_width - terminal::width(&label));
        let bar = bar(row, from, to, bar_width);
        let size = if row.bytes > 0 { bytes(row.bytes) } else { String::new() };
        let time = duration(Duration::from_nanos(row.time()));
        let right = |text: &str| " ".repeat(NUMBER_WIDTH.saturating_sub(terminal::width(text)));
        let failed = if row.failed { "  failed" } else { "" };
        writeln!(out, "{label}{gap}  {bar}{}{size}{}{time}{failed}", right(&size), right(&time))?;
    }
    let legend = "━ whole  ░ being written  █ made durable  ▒ read  × deleted  ┆ anything else";
    Ok(writeln!(out, "\n{}", out.dim(legend))?)
}

/// The times of a row on a line of so many columns; whatever was done takes one at least.
fn bar(row: &Row, from: u64, to: u64, width: usize) -> String {
    let column = |time: u64| {
        let share = time.saturating_sub(from) as f64 / to.saturating_sub(from).max(1) as f64;
        ((share * width as f64) as usize).min(width - 1)
    };
    let mut cells = vec![' '; width];
    let mut spans: Vec<_> = row.spans.iter().collect();
    // The most important are drawn last.
    spans.sort_by_key(|(event, _, _)| weight(event));
    for (event, start, end) in spans {
        // A file is being written from its creation on, be it only computed.
        let start = if event == "write" { row.start().min(*start) } else { *start };
        cells[column(start)..=column(*end)].fill(glyph(event));
    }
    cells.into_iter().collect()
}

fn weight(event: &str) -> u8 {
    match event {
        "write" => 1,
        "read" => 2,
        "delete" => 3,
        "sync" | "sync_names" => 4,
        _ => 0,
    }
}

fn glyph(event: &str) -> char {
    match event {
        "commit" | "prepare" | "flush" | "merge" | "spill" | "rollback" => '━',
        "create" | "write" => '░',
        "sync" | "sync_names" => '█',
        "read" => '▒',
        "delete" => '×',
        _ => '┆',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(event: &str, file: Option<&str>, start: u64, time: u64, bytes: u64) -> Line {
        Line {
            event: event.to_owned(),
            start,
            time,
            busy: time,
            file: file.map(str::to_owned),
            bytes,
            failed: false,
            all: json!({ "from": ".tmp-1", "generation": 3, "segments": 8 }),
        }
    }

    #[test]
    fn kinds_are_counted_and_the_longest_comes_first() {
        let events = [
            line("sync", Some("a"), 0, 10, 4),
            line("sync", Some("b"), 5, 30, 2),
            line("sync", Some("c"), 5, 20, 0),
            line("commit", None, 0, 90, 1_000),
        ];
        let kinds = Kind::of(&events);
        assert_eq!((&*kinds[0].event, kinds[0].rate()), ("commit", Some(11_111_111_111)));
        let Kind { count, bytes, total, median, max, .. } = kinds[1];
        assert_eq!((count, bytes, total, median, max), (3, 6, 60, 20, 30));
    }

    #[test]
    fn a_published_file_is_one_row() {
        let events = [
            line("commit", None, 0, 100, 9),
            line("create", Some(".tmp-1"), 10, 1, 0),
            line("write", Some(".tmp-1"), 20, 10, 9),
            line("sync", Some(".tmp-1"), 40, 30, 9),
            line("publish", Some("manifest-0000000000000003"), 75, 1, 0),
        ];
        let rows = timeline(&events);
        let labels: Vec<_> = rows.iter().map(|row| (&*row.label, row.bytes)).collect();
        assert_eq!(labels, [("commit 3", 9), ("manifest-3", 9)]);
        assert_eq!(bar(&rows[0], 0, 100, 10), "━━━━━━━━━━");
        assert_eq!(bar(&rows[1], 0, 100, 10), " ░░░████  ");
    }

    #[test]
    fn names_of_files_are_short_and_others_stay() {
        let id = "0123456789abcdef0123456789abcdef";
        assert_eq!(short(&format!("seg-{id}.idx")), "seg-01234567….idx");
        assert_eq!(short(&format!(".tmp-{id}")), ".tmp-01234567…");
        assert_eq!(short("manifest-0000000000000012"), "manifest-12");
        assert_eq!(
            short("seg-ärgerlich-und-lang-genug-für-32-zeichen"),
            "seg-ärgerlich-und-lang-genug-für-32-zeichen"
        );
        assert_eq!(short("write.lock"), "write.lock");
    }
}
