//! `treepie bench INDEX --queries FILE`: how long queries take, one JSON line each.

use std::{
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::ValueEnum;
use serde_json::{Value, json};
use treepie::query::Query;
use treepie::search::TotalMode;
use treepie::{Error, Index, SearchBuilder, Searcher};

use super::{bench_estimates, bench_knn, bench_what_if, calibrate::CostsArgs};
use crate::{
    args::Global,
    failure::{Exit, Outcome, is_about_the_query, read_text, usage, warn},
    output::{Output, ReportFormat, plural},
    slow::SlowArgs,
    terminal,
};

/// Time a file of queries, one JSON line per command and query.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Example:
  treepie bench titles.tp --queries queries.txt --passes 7
  treepie bench titles.tp --queries queries.txt --commands COUNT,TOP_10
  treepie bench titles.tp --queries queries.txt --what-if --format text
  treepie bench titles.tp --queries queries.txt --estimates
  treepie bench papers.tp --knn queries.fvecs --truth truth.ivecs --k 10 --format json

A query a line, or JSON Lines {\"query\": …} as the search benchmark game writes them. Each pass goes
through all queries, so that no query is timed right after itself. The time is that from the text of
the query to its answer, on one thread. A query that this version cannot answer gets a line with
\"error\". Slow queries are written to --log in one more pass, which is not timed.

With --what-if each query runs as it is planned and, in turn, with each decision taken the other
way, as treepie explain --what-if does. With --format json a line tells what it took as planned,
what the best way took and which that is; a query that can be answered in one way only has no
\"ways\". A line for each command sums up, and one for all of several: the time of all queries over
that of always choosing best, the part of them within 1.25 times of the best or 5 µs, and the ten
that lost most.

With --estimates queries are not timed but analyzed, with every match counted, once for each of
three kinds of estimates: from the dictionary alone, also from headers, also from samples. The
q-error of an operator is the greater of estimated and found documents by the smaller, each 1 at
least; one outside of its bounds is a fault.

With --knn the neighbours of vectors are found, and percentiles of all times printed; with
--format json after a line for each query. A first pass is not timed. With --truth recall is
the part of the k nearest that is found, by similarity: a document that is as near as the last of
these counts as one of them. With --truth exact all vectors are compared for it. The similarities are computed by 64 bits from the stored vectors.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// File of queries.
    ///
    /// A query a line, or JSON Lines.
    #[arg(long, required_unless_present = "knn", value_name = "FILE")]
    queries: Option<PathBuf>,
    /// Commands for each query, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "COUNT", ignore_case = true)]
    commands: Vec<BenchCommand>,
    /// Number of passes over the queries.
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    passes: u32,
    /// Also take each decision the other way, and compare.
    ///
    /// Compare the ways that were chosen with the best.
    #[arg(long, group = "report", conflicts_with_all = ["passes", "slow_ms", "log"])]
    what_if: bool,
    /// Print how far estimates of plans are off, instead of times.
    ///
    /// By operator.
    #[arg(long, group = "report", conflicts_with_all = ["passes", "slow_ms", "log"])]
    estimates: bool,
    /// Print in this format.
    ///
    /// For --what-if, --estimates and --knn; the default is text.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, requires = "report")]
    format: Option<ReportFormat>,
    #[command(flatten)]
    knn: bench_knn::KnnArgs,
    #[command(flatten)]
    costs: CostsArgs,
    #[command(flatten)]
    slow: SlowArgs,
}

/// Queries that cannot be answered and are told with what is wrong with them.
const UNANSWERED_TOLD: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum BenchCommand {
    /// Number of matching documents.
    #[value(name = "COUNT")]
    Count,
    /// The ten best, without counting the others; `hits` are those that were found.
    #[value(name = "TOP_10")]
    Top10,
    /// The hundred best, without counting the others.
    #[value(name = "TOP_100")]
    Top100,
    /// The thousand best, without counting the others.
    #[value(name = "TOP_1000")]
    Top1000,
    /// The ten best, and how many match.
    #[value(name = "TOP_10_COUNT")]
    Top10Count,
}

/// Answer to a command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Answer {
    hits: u64,
    /// The score of the best, where any was computed.
    top_score: Option<f32>,
}

impl BenchCommand {
    /// Builds the search for a query.
    pub(super) fn search<'s>(self, searcher: &'s Searcher, query: &'s Query) -> SearchBuilder<'s> {
        let search = searcher.search(query);
        match self {
            BenchCommand::Count => search.count_only(),
            BenchCommand::Top10 => search.limit(10).total(TotalMode::Unknown),
            BenchCommand::Top100 => search.limit(100).total(TotalMode::Unknown),
            BenchCommand::Top1000 => search.limit(1000).total(TotalMode::Unknown),
            BenchCommand::Top10Count => search.limit(10).total(TotalMode::Exact),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            BenchCommand::Count => "COUNT",
            BenchCommand::Top10 => "TOP_10",
            BenchCommand::Top100 => "TOP_100",
            BenchCommand::Top1000 => "TOP_1000",
            BenchCommand::Top10Count => "TOP_10_COUNT",
        }
    }

    /// Number of best documents that it wants; none if it only counts.
    pub(super) fn hits(self) -> Option<u64> {
        match self {
            BenchCommand::Count => None,
            BenchCommand::Top10 | BenchCommand::Top10Count => Some(10),
            BenchCommand::Top100 => Some(100),
            BenchCommand::Top1000 => Some(1000),
        }
    }

    fn run(self, searcher: &Searcher, text: &str) -> Result<Answer, Error> {
        let query = searcher.parse(text)?;
        if self == BenchCommand::Count {
            return Ok(Answer { hits: searcher.count(&query)?, top_score: None });
        }
        // Documents are found, not fetched.
        let found = self.search(searcher, &query).fields::<&str>([]).run()?;
        let hits = match self {
            BenchCommand::Top10Count => found.total.value,
            _ => found.hits.len() as u64,
        };
        Ok(Answer { hits, top_score: found.hits.first().and_then(|hit| hit.score) })
    }
}

/// One command with one query, and what it took.
struct Case {
    command: BenchCommand,
    query: String,
    answer: Result<Answer, Error>,
    times: Vec<Duration>,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let costs = |options| args.costs.apply(options, &args.index);
    let searcher = || costs(Index::options())?.open(&args.index)?.searcher();
    let format = args.format.unwrap_or_default();
    if let Some(vectors) = &args.knn.knn {
        return bench_knn::run(&searcher()?, &args.knn, (vectors, args.passes), format, global);
    }
    let queries = args.queries.as_deref().map(read_queries).transpose()?.unwrap_or_default();
    let searcher = searcher()?;
    if args.what_if {
        return bench_what_if::run(&searcher, &args.commands, &queries, format, global);
    }
    if args.estimates {
        return bench_estimates::report(&searcher, &args.commands, &queries, format, global);
    }
    let mut cases: Vec<Case> = vec![];
    for command in args.commands.iter().copied() {
        for query in &queries {
            cases.push(Case {
                command,
                query: query.clone(),
                answer: Ok(Answer::default()),
                times: vec![],
            });
        }
    }
    for _ in 0..args.passes {
        for case in &mut cases {
            case.run(&searcher)?;
        }
    }
    if args.slow.is_given() {
        // An index of its own: writing a plan down takes longer than the query.
        let searcher = costs(args.slow.listen(Index::options())?)?.open(&args.index)?.searcher()?;
        for case in cases.iter().filter(|case| case.answer.is_ok()) {
            case.command.run(&searcher, &case.query)?;
        }
    }
    let mut out = Output::new(global.color);
    for case in &mut cases {
        case.times.sort_unstable();
        out.json_line(&case.to_json())?;
    }
    out.flush()?;
    let n_failed = cases.iter().filter(|case| case.answer.is_err()).count();
    if n_failed > 0 && !global.quiet {
        warn(format!("{n_failed} of {} could not be answered", plural(cases.len(), "query")));
    }
    Ok(Exit::Done)
}

impl Case {
    /// Answers once more; an error that is not about the query ends the benchmark.
    fn run(&mut self, searcher: &Searcher) -> Result<(), Error> {
        if self.answer.is_err() {
            return Ok(());
        }
        let start = Instant::now();
        self.answer = self.command.run(searcher, &self.query);
        self.times.push(start.elapsed());
        match &mut self.answer {
            Err(error) if !is_about_the_query(error) => Err(std::mem::replace(error, usage(""))),
            _ => Ok(()),
        }
    }

    fn to_json(&self) -> Value {
        let us = |time: Duration| (time.as_nanos() as f64) / 1_000.0;
        let (command, query) = (self.command.name(), &self.query);
        match &self.answer {
            Ok(Answer { hits, top_score }) => json!({
                "command": command,
                "query": query,
                "hits": hits,
                "top_score": top_score,
                "us_min": self.times.first().map(|time| us(*time)),
                "us_median": self.times.get(self.times.len() / 2).map(|time| us(*time)),
            }),
            Err(error) => json!({ "command": command, "query": query, "error": error.to_string() }),
        }
    }
}

/// Queries that could not be answered: how many, and what was wrong with the first ones.
#[derive(Default)]
pub(super) struct Unanswered {
    n: usize,
    first: Vec<String>,
}

impl Unanswered {
    pub(super) fn add(&mut self, query: &str, error: &Error) {
        self.n += 1;
        if self.first.len() < UNANSWERED_TOLD {
            self.first.push(format!("{query}: {error}"));
        }
    }

    pub(super) fn tell_first(&self) {
        self.first.iter().for_each(|told| warn(terminal::printable(told)));
    }

    pub(super) fn tell_number(&self, n_asked: usize) {
        if self.n > 0 {
            warn(format!("{} of {} could not be answered", self.n, plural(n_asked, "query")));
        }
    }
}

fn read_queries(path: &Path) -> Result<Vec<String>, Error> {
    let text = read_text("reading the queries", path)?;
    let queries: Vec<String> = parse_queries(&text).map_err(|error| error.in_file(path))?;
    match queries.is_empty() {
        true => {
            Err(usage("reading the queries").expected("a query a line").found("none").in_file(path))
        }
        false => Ok(queries),
    }
}

fn parse_queries(text: &str) -> Result<Vec<String>, Error> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let query = |(at, line): (usize, &str)| {
        if !line.trim_start().starts_with('{') {
            return Ok(line.to_owned());
        }
        let value: Option<Value> = serde_json::from_str(line).ok();
        let query = value.as_ref().and_then(|value| value.get("query")?.as_str());
        query.map(str::to_owned).ok_or_else(|| {
            usage("reading the queries")
                .expected("an object with a string \"query\"")
                .found("something else")
                .at_line(at as u64 + 1)
        })
    };
    lines.map(query).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_lines_or_objects() {
        let text = "+a +b\n\n{\"query\": \"c d\", \"tags\": []}\n";
        assert_eq!(parse_queries(text).unwrap(), ["+a +b", "c d"]);
        let error = parse_queries("a\n{\"q\": 1}").unwrap_err();
        assert_eq!(error.line(), Some(2));
    }
}
