//! `treepie plan view LOG | diff A B | schema`: plans that were kept.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use clap::{Subcommand, ValueEnum};
use treepie::{
    Error, ErrorKind,
    explain::{
        ExplainTree, HtmlPages, JSON_SCHEMA, PlanDiff, Recorded, SlowSearch, SlowestSearches,
        TextOptions,
    },
};

use crate::{
    args::Global,
    destination::DestinationArgs,
    failure::{Exit, Outcome, usage, warn},
    output::{self, Color, Output},
    terminal,
};

/// Look at plans that were kept: the worst of a log, or two of them compared.
#[derive(Debug, clap::Args)]
#[command(
    subcommand_value_name = "WHAT",
    subcommand_help_heading = "What",
    after_help = "Examples:
  treepie search titles.tp 'a*' --slow-ms 50 --log slow.jsonl
  treepie plan view slow.jsonl
  treepie plan view slow.jsonl --limit 20 -o worst.html
  treepie explain titles.tp 'a*' --analyze --format json -o before.json
  treepie plan diff before.json after.json --open"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The worst searches of a log, as a table or a page for a browser.
    View(ViewArgs),
    /// What differs between two plans. Exit status: 0 the same, 1 different, 2 error.
    Diff(DiffArgs),
    /// The JSON Schema of plans.
    Schema,
}

#[derive(Debug, clap::Args)]
struct ViewArgs {
    /// A log of slow searches, or plans as explain --format json prints them; - for standard input.
    log: PathBuf,
    /// How many, the slowest first.
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// How to show them [default: text, with -o or --open html].
    #[arg(long, value_enum)]
    format: Option<ViewFormat>,
    #[command(flatten)]
    destination: DestinationArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ViewFormat {
    /// A table: how long, which query, and what took longest.
    Text,
    /// A page for a browser that needs nothing but itself.
    Html,
}

#[derive(Debug, clap::Args)]
struct DiffArgs {
    /// The plan before: as explain --format json prints it, or a line of a log of slow searches; - for standard input.
    before: PathBuf,
    /// The plan after.
    after: PathBuf,
    /// How to show what differs [default: text, with --open html].
    #[arg(long, value_enum)]
    format: Option<DiffFormat>,
    /// Draw with ASCII characters only.
    #[arg(long)]
    ascii: bool,
    #[command(flatten)]
    destination: DestinationArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
    /// Both plans beside each other, for a browser.
    Html,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    match args.what {
        What::View(args) => view(&args, global),
        What::Diff(args) => diff(&args, global),
        What::Schema => {
            let mut out = Output::new(global.color);
            out.write_all(JSON_SCHEMA.as_bytes())?;
            out.flush()?;
            Ok(Exit::Done)
        }
    }
}

/// Bytes of a plan or a line at the most, which is what the library reads.
const TEXT_BYTES_MAX: u64 = 256 << 20;
/// Bad lines that are told one by one.
const BAD_LINES_TOLD: usize = 10;
/// Columns of a table that the query may have, as a share of all.
const QUERY_SHARE: usize = 3;

const READING: &str = "reading plans";

fn failed(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
    move |error| Error::io(READING, error).in_file(shown(path))
}

fn shown(path: &Path) -> &Path {
    if is_stdin(path) { Path::new("standard input") } else { path }
}

fn is_stdin(path: &Path) -> bool {
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
        Error::new(ErrorKind::Corrupt, READING)
            .expected("UTF-8")
            .found("other bytes")
            .at_offset(error.utf8_error().valid_up_to() as u64)
    })
}

fn too_large() -> Error {
    Error::new(ErrorKind::LimitExceeded, READING)
        .expected(format!("at most {} MiB of a plan or a line", TEXT_BYTES_MAX >> 20))
        .found("more")
}

/// All of a file, which is one plan or one line of a log.
fn read_one(path: &Path) -> Result<ExplainTree, Error> {
    let mut bytes = vec![];
    open(path)?.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed(path))?;
    let read = match bytes.len() as u64 > TEXT_BYTES_MAX {
        true => Err(too_large()),
        false => utf8(bytes).and_then(|text| Recorded::from_json(&text)),
    };
    match read.map_err(|error| error.in_file(shown(path)))? {
        Recorded::Plan(plan) => Ok(plan),
        Recorded::SlowSearch(SlowSearch { plan: Some(plan), .. }) => Ok(plan),
        _ => Err(Error::new(ErrorKind::NotFound, READING)
            .expected("a search with its plan")
            .found("one that there was no time to explain")
            .in_file(shown(path))),
    }
}

fn diff(args: &DiffArgs, global: Global) -> Outcome {
    let default = if args.destination.open { DiffFormat::Html } else { DiffFormat::Text };
    let format = args.format.unwrap_or(default);
    if args.ascii && format != DiffFormat::Text {
        return Err(usage("--ascii is about --format text").into());
    }
    if is_stdin(&args.before) && is_stdin(&args.after) {
        return Err(usage("only one of two plans can come from standard input").into());
    }
    let destination = args.destination.check()?;
    let (before, after) = (read_one(&args.before)?, read_one(&args.after)?);
    let diff = PlanDiff::new(&before, &after);
    let (text, extension) = match format {
        DiffFormat::Text => {
            let color = match destination.is_standard_output() {
                true => global.color.on(),
                false => global.color == Color::Always,
            };
            let options = TextOptions::default().width(output::width());
            (diff.to_text(&options.ascii(args.ascii).color(color)), "txt")
        }
        DiffFormat::Json => (diff.to_json() + "\n", "json"),
        DiffFormat::Html => {
            let mut pages = HtmlPages::new();
            let title = match before.query == after.query {
                true => before.query.clone(),
                false => format!("{} → {}", before.query, after.query),
            };
            pages.add_diff(&title, &before, &after);
            (pages.to_html(), "html")
        }
    };
    destination.write(&text, extension, global.color)?;
    Ok(if diff.is_same() { Exit::Done } else { Exit::Different })
}

fn view(args: &ViewArgs, global: Global) -> Outcome {
    let default = match args.destination.is_given() {
        true => ViewFormat::Html,
        false => ViewFormat::Text,
    };
    let destination = args.destination.check()?;
    if args.limit == 0 {
        return Err(usage("--limit").expected("at least 1").found("0").into());
    }
    let searches = slowest(&args.log, args.limit, global.quiet)?;
    let (text, extension) = match args.format.unwrap_or(default) {
        ViewFormat::Text => (table(&searches, output::width()), "txt"),
        ViewFormat::Html => (page(searches, &args.log)?, "html"),
    };
    destination.write(&text, extension, global.color)?;
    Ok(Exit::Done)
}

/// The worst of a log, read line by line. What cannot be read is told, unless that is all.
fn slowest(path: &Path, limit: usize, quiet: bool) -> Result<Vec<SlowSearch>, Error> {
    let mut lines = open(path)?;
    let mut slowest = SlowestSearches::new(limit);
    let (mut number, mut n_bad, mut told) = (0, 0, vec![]);
    while let Some(line) = next_line(&mut lines).map_err(failed(path))? {
        number += 1;
        let read = line.and_then(utf8).and_then(|line| match line.trim().is_empty() {
            true => Ok(()),
            false => add(&mut slowest, &line),
        });
        if let Err(error) = read {
            n_bad += 1;
            if told.len() < BAD_LINES_TOLD {
                // For the library the line is all there is, so that its first one is this.
                told.push(error.in_file(shown(path)).at_line(number));
            }
        }
    }
    if slowest.n_added() == 0 {
        // It may be one plan that was printed prettily.
        if let (false, Ok(plan)) = (is_stdin(path), read_one(path)) {
            slowest.add_plan(plan);
            return Ok(slowest.into_vec());
        }
        let nothing = || {
            Error::new(ErrorKind::NotFound, READING)
                .expected("a line for each slow search")
                .found("nothing")
                .in_file(shown(path))
        };
        return Err(told.into_iter().next().unwrap_or_else(nothing));
    }
    if n_bad > 0 && !quiet {
        told.iter().for_each(|error| warn(terminal::printable(&error.to_string())));
        let n_read = output::grouped(slowest.n_added());
        let n_bad = output::grouped(n_bad);
        warn(format!(
            "{n_bad} lines of {} could not be read, {n_read} could",
            shown(path).display()
        ));
    }
    Ok(slowest.into_vec())
}

/// A line of a log, or a plan by itself.
fn add(slowest: &mut SlowestSearches, line: &str) -> Result<(), Error> {
    let Err(error) = slowest.add(line) else { return Ok(()) };
    match Recorded::from_json(line) {
        Ok(Recorded::Plan(plan)) => {
            slowest.add_plan(plan);
            Ok(())
        }
        _ => Err(error),
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

fn took(search: &SlowSearch) -> String {
    output::duration(std::time::Duration::from_nanos(search.took_ns))
}

/// A page with a plan for each search that has one.
fn page(searches: Vec<SlowSearch>, path: &Path) -> Result<String, Error> {
    let mut pages = HtmlPages::new();
    let mut has_any = false;
    for search in searches {
        let took = took(&search);
        let Some(mut plan) = search.plan else { continue };
        has_any = true;
        if !search.at.is_empty() {
            let told = format!("took {took} in {}, until {}", search.index, search.at);
            plan.notes.insert(0, told);
        }
        plan.notes.extend(search.error.map(|error| format!("failed: {error}")));
        pages.add(&format!("{took} {}", search.query), &plan);
    }
    match has_any {
        true => Ok(pages.to_html()),
        false => Err(Error::new(ErrorKind::NotFound, READING)
            .expected("searches with their plans")
            .found("only such as there was no time to explain")
            .in_file(shown(path))
            .hint("--format text lists them")),
    }
}

/// A row for each search: how long, what was asked, and what took longest.
fn table(searches: &[SlowSearch], width: usize) -> String {
    let mut rows = vec![["took", "command", "query", "what took longest"].map(str::to_owned)];
    for search in searches {
        let printable = |text: &str| terminal::printable(text).into_owned();
        rows.push([
            took(search),
            printable(&search.command),
            printable(&search.query),
            printable(&longest(search)),
        ]);
    }
    let widest = |nth: usize| rows.iter().map(|row| terminal::width(&row[nth])).max().unwrap_or(0);
    let query_max = widest(2).min((width / QUERY_SHARE).max(5));
    let columns = [widest(0), widest(1).min(10), query_max];
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (nth, cell) in row.iter().enumerate() {
            let room = width.saturating_sub(terminal::width(&line)).max(1);
            let columns = columns.get(nth).copied().unwrap_or(room).min(room);
            let cell = terminal::truncate(cell, columns, "…");
            let blanks = " ".repeat(columns.saturating_sub(terminal::width(&cell)));
            match nth {
                0 => line += &format!("{blanks}{cell}  "),
                _ => line += &format!("{cell}{blanks}  "),
            }
            if terminal::width(&line) >= width {
                break;
            }
        }
        text += terminal::truncate(line.trim_end(), width, "…").as_ref();
        text.push('\n');
    }
    text
}

/// The first finding, or else the node with most of the time.
fn longest(search: &SlowSearch) -> String {
    if let Some(error) = &search.error {
        return format!("failed: {error}");
    }
    let Some(plan) = &search.plan else { return "no plan: there was no time".to_owned() };
    if let Some(finding) = plan.findings.first() {
        return finding.message.clone();
    }
    let nodes = plan.plan.iter().filter_map(|node| {
        let name = format!("{} {}", node.operator, node.label);
        Some((node.actual.as_ref()?.time_ns, name))
    });
    let facets = plan.facets.iter().filter_map(|facet| {
        Some((facet.actual.as_ref()?.time_ns, format!("facet {}", facet.field)))
    });
    let parts: Vec<_> = nodes.chain(facets).collect();
    let all: u128 = parts.iter().map(|(ns, _)| u128::from(*ns)).sum();
    match parts.into_iter().max_by_key(|(ns, _)| *ns) {
        None => "not run again".to_owned(),
        Some((ns, name)) => format!("{} %: {name}", 100 * u128::from(ns) / all.max(1)),
    }
}
