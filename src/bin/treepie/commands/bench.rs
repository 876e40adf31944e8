//! `treepie bench INDEX --queries FILE`: how long queries take, one JSON line each.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::ValueEnum;
use serde_json::{Value, json};
use treepie::{Error, ErrorKind, Index, Searcher, TotalMode};

use super::{
    bench_estimates::{self, ReportFormat},
    open,
};
use crate::{
    args::Global,
    failure::{Exit, Outcome, usage, warn},
    output::Output,
    slow::SlowArgs,
};

/// Time a file of queries, one JSON line per command and query.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  treepie bench titles.tp --queries queries.txt --passes 7
  treepie bench titles.tp --queries queries.txt --commands COUNT,TOP_10
  treepie bench titles.tp --queries queries.txt --estimates

A query a line, or JSON Lines {\"query\": …} as the search benchmark game writes them. Each pass goes
through all queries, so that no query is timed right after itself. The time is that from the text of
the query to its answer, on one thread. A query that this version cannot answer gets a line with
\"error\". Slow queries are written to --log in one more pass, which is not timed.

With --estimates queries are not timed but analyzed, with every match counted, once for each of three kinds
of estimates: from the dictionary alone, also from headers, also from samples. The q-error of an operator is the greater of
estimated and found documents by the smaller, each 1 at least; one outside of its bounds is a fault.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// The queries.
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// What to ask of each query, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "COUNT", ignore_case = true)]
    commands: Vec<BenchCommand>,
    /// How often to go through the queries.
    #[arg(long, default_value_t = 7, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    passes: u32,
    /// Print how far the estimates of plans are off, by operator, instead of times.
    #[arg(long, conflicts_with_all = ["passes", "slow_ms"])]
    estimates: bool,
    /// How to print that [default: text].
    #[arg(long, value_enum, requires = "estimates")]
    format: Option<ReportFormat>,
    #[command(flatten)]
    slow: SlowArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum BenchCommand {
    /// How many documents match.
    #[value(name = "COUNT")]
    Count,
    /// The ten best, without counting the others; `hits` are those that were found.
    #[value(name = "TOP_10")]
    Top10,
    /// The hundred best, without counting the others.
    #[value(name = "TOP_100")]
    Top100,
    /// The ten best, and how many match.
    #[value(name = "TOP_10_COUNT")]
    Top10Count,
}

/// What a command found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Answer {
    hits: u64,
    /// The score of the best, where any was computed.
    top_score: Option<f32>,
}

impl BenchCommand {
    fn name(self) -> &'static str {
        match self {
            BenchCommand::Count => "COUNT",
            BenchCommand::Top10 => "TOP_10",
            BenchCommand::Top100 => "TOP_100",
            BenchCommand::Top10Count => "TOP_10_COUNT",
        }
    }

    /// How many of the best it wants; none where it only counts.
    pub(super) fn hits(self) -> Option<u64> {
        match self {
            BenchCommand::Count => None,
            BenchCommand::Top10 | BenchCommand::Top10Count => Some(10),
            BenchCommand::Top100 => Some(100),
        }
    }

    fn run(self, searcher: &Searcher, text: &str) -> Result<Answer, Error> {
        let query = searcher.parse(text)?;
        let (limit, total) = match self {
            BenchCommand::Count => {
                return Ok(Answer { hits: searcher.count(&query)?, top_score: None });
            }
            BenchCommand::Top10 => (10, TotalMode::Unknown),
            BenchCommand::Top100 => (100, TotalMode::Unknown),
            BenchCommand::Top10Count => (10, TotalMode::Exact),
        };
        let search = searcher.search(&query).limit(limit).total(total);
        // Documents are found, not fetched.
        let found = search.fields::<&str>([]).run()?;
        let hits = match total {
            TotalMode::Exact => found.total.value,
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
    let queries = read_queries(&args.queries)?;
    let searcher = open(&args.index)?.searcher()?;
    if args.estimates {
        let mut out = Output::new(global.color);
        let format = args.format.unwrap_or_default();
        return bench_estimates::report(&searcher, &args.commands, &queries, format, &mut out);
    }
    let mut cases: Vec<Case> = vec![];
    for command in args.commands {
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
        let searcher = args.slow.listen(Index::options())?.open(&args.index)?.searcher()?;
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
    if n_failed > 0 {
        warn(format!("{n_failed} of {} queries could not be answered", cases.len()));
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
        let about_the_query = [ErrorKind::Query, ErrorKind::Unsupported, ErrorKind::LimitExceeded];
        match &mut self.answer {
            Err(error) if !about_the_query.contains(&error.kind()) => {
                Err(std::mem::replace(error, usage("")))
            }
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

fn read_queries(path: &Path) -> Result<Vec<String>, Error> {
    let text = fs::read_to_string(path)
        .map_err(|error| Error::io("reading the queries", error).in_file(path))?;
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
