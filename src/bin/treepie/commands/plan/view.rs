//! `treepie plan view LOG`: the worst searches of a log.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::ValueEnum;
use treepie::{
    Error, ErrorKind,
    explain::{ExplainFacet, HtmlPages, Recorded, SlowSearch, SlowestSearches},
};

use super::log::{self, READING, shown};
use crate::{
    args::Global,
    destination::DestinationArgs,
    failure::{Exit, Outcome, usage},
    output, terminal,
};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A log of slow searches, or plans as explain --format json prints them; - for standard input.
    ///
    /// Without it, a page for a browser is written that takes any plan that is pasted or dropped there, of treepie or of
    /// Postgres (EXPLAIN with FORMAT JSON).
    log: Option<PathBuf>,
    /// Print at most N.
    ///
    /// The slowest first.
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Print in this format.
    ///
    /// The default is that of the ending of --output, .html or .txt; else text, with -o, --open or without a log html.
    #[arg(help_heading = "Show")]
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

/// Columns of a table that the query may have, as a share of all.
const QUERY_SHARE: usize = 3;

pub(super) fn run(args: &Args, global: Global) -> Outcome {
    let default = match args.destination.is_given() || args.log.is_none() {
        true => ViewFormat::Html,
        false => ViewFormat::Text,
    };
    let format = args.format.or_else(|| args.destination.format_by_name()).unwrap_or(default);
    let destination = args.destination.check()?;
    let Some(log) = &args.log else {
        if format == ViewFormat::Text {
            return Err(
                usage("--format text lists the searches of a log, and none is named").into()
            );
        }
        destination.write(&HtmlPages::new().to_html(), "html", global)?;
        return Ok(Exit::Done);
    };
    if args.limit == 0 {
        return Err(usage("--limit").expected("at least 1").found("0").into());
    }
    let mut slowest = SlowestSearches::new(args.limit);
    log::for_each(log, global.quiet, |line| add(&mut slowest, line))?;
    let searches = slowest.into_vec();
    let (text, extension) = match format {
        ViewFormat::Text => (table(&searches, output::width()), "txt"),
        ViewFormat::Html => (page(searches, log)?, "html"),
    };
    destination.write(&text, extension, global)?;
    Ok(Exit::Done)
}

/// A line of a log, or a plan by itself.
fn add(slowest: &mut SlowestSearches, line: &str) -> Result<(), Error> {
    let Err(error) = slowest.add(line) else { return Ok(()) };
    // Anything but a line of a log is a plan, and reported as one if it is damaged.
    match Recorded::from_json(line)? {
        Recorded::Plan(plan) => {
            slowest.add_plan(plan);
            Ok(())
        }
        _ => Err(error),
    }
}

fn took(search: &SlowSearch) -> String {
    output::duration(Duration::from_nanos(search.took_ns))
}

/// A page with a plan for each search that has one.
fn page(searches: Vec<SlowSearch>, path: &Path) -> Result<String, Error> {
    let mut pages = HtmlPages::new();
    let mut has_any = false;
    for mut search in searches {
        let (took, is_of_log) = (took(&search), !search.at.is_empty());
        let Some(plan) = &mut search.plan else { continue };
        has_any = true;
        if is_of_log {
            let told = format!(
                "took {took} in {}, until {}; the times of the plan are those of running it again",
                search.index, search.at
            );
            plan.notes.insert(0, told);
        }
        plan.notes.extend(search.error.as_ref().map(|error| format!("failed: {error}")));
        match is_of_log {
            true => drop(pages.add_slow(&search.query, &search)),
            false => pages.add(&search.query, plan),
        }
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

/// Time of the run that the plan is of. A plan by itself was run once.
fn run_again(search: &SlowSearch) -> String {
    let is_of_log = !search.at.is_empty();
    let again = search.plan.as_ref().and_then(|plan| plan.total_ns).filter(|_| is_of_log);
    again.map_or_else(|| "–".to_owned(), |ns| output::duration(Duration::from_nanos(ns)))
}

/// A row for each search: both of its times, what was asked, and what took longest.
fn table(searches: &[SlowSearch], width: usize) -> String {
    let heads = ["took", "run again", "command", "query", "what took longest when run again"];
    let mut rows = vec![heads.map(str::to_owned)];
    for search in searches {
        let printable = |text: &str| terminal::printable(text).into_owned();
        rows.push([
            took(search),
            run_again(search),
            printable(&search.command),
            printable(&search.query),
            printable(&longest(search)),
        ]);
    }
    let widest = |nth: usize| rows.iter().map(|row| terminal::width(&row[nth])).max().unwrap_or(0);
    let query_max = widest(3).min((width / QUERY_SHARE).max(5));
    let columns = [widest(0), widest(1), widest(2).min(10), query_max];
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (nth, cell) in row.iter().enumerate() {
            let room = width.saturating_sub(terminal::width(&line)).max(1);
            let columns = columns.get(nth).copied().unwrap_or(room).min(room);
            let cell = terminal::truncate(cell, columns, "…");
            let blanks = " ".repeat(columns.saturating_sub(terminal::width(&cell)));
            match nth {
                0 | 1 => line += &format!("{blanks}{cell}  "),
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

/// The first finding, or else what took most of the time: planning, a node or a facet.
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
    let facets = plan.facets.iter().flat_map(ExplainFacet::iter).filter_map(|facet| {
        Some((facet.actual.as_ref()?.time_ns, format!("facet {}", facet.field)))
    });
    let planning = plan.planning_ns.map(|ns| (ns, "planning".to_owned()));
    let rest = plan.rest_ns().map(|ns| (ns, "what is in no node".to_owned()));
    match planning.into_iter().chain(nodes).chain(facets).chain(rest).max_by_key(|(ns, _)| *ns) {
        None => "not run again".to_owned(),
        Some((ns, name)) => {
            let share = 100 * u128::from(ns)
                / u128::from(plan.measured_ns().max(plan.total_ns.unwrap_or(1)).max(1));
            format!("{share} %: {name}")
        }
    }
}
