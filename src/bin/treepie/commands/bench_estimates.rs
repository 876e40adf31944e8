//! `treepie bench INDEX --queries FILE --estimates`: how far the estimates of plans are off.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use clap::ValueEnum;
use serde_json::{Value, json};
use treepie::{
    Error, ErrorKind, EstimateFrom, Searcher, TotalMode,
    explain::{EstimateErrors, ExplainTree},
};

use super::bench::BenchCommand;
use crate::{
    failure::{Exit, Outcome, warn},
    output::Output,
};

/// What estimates may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EstimatesFrom {
    /// How many documents each term has.
    Dictionary,
    /// Also how many it has in each 65,536 of a segment.
    Headers,
    /// Also some postings, for some 20 µs.
    Samples,
}

impl EstimatesFrom {
    pub(crate) fn into_library(self) -> EstimateFrom {
        match self {
            EstimatesFrom::Dictionary => EstimateFrom::Dictionary,
            EstimatesFrom::Headers => EstimateFrom::Headers,
            EstimatesFrom::Samples => EstimateFrom::Samples,
        }
    }

    fn name(self) -> &'static str {
        match self {
            EstimatesFrom::Dictionary => "dictionary",
            EstimatesFrom::Headers => "headers",
            EstimatesFrom::Samples => "samples",
        }
    }

    fn title(self) -> &'static str {
        match self {
            EstimatesFrom::Dictionary => "Estimates from the dictionary alone",
            EstimatesFrom::Headers => "Estimates from the dictionary and headers",
            EstimatesFrom::Samples => "Estimates from samples",
        }
    }
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A table for people.
    #[default]
    Text,
    /// One object.
    Json,
}

/// The plan of a query that was run until its end, so that every number is known.
fn analyze(
    searcher: &Searcher,
    command: BenchCommand,
    text: &str,
    from: EstimatesFrom,
) -> Result<ExplainTree, Error> {
    let query = searcher.parse(text)?;
    let search = searcher.search(&query).estimate_from(from.into_library());
    let mut tree = match command.hits() {
        None => search.count_only().analyze()?,
        Some(limit) => search.limit(limit).total(TotalMode::Exact).analyze()?,
    };
    tree.query = text.to_owned();
    Ok(tree)
}

/// The least time of a few that making the plan takes, without running it.
fn time_plan(searcher: &Searcher, text: &str, from: EstimatesFrom) -> Result<Duration, Error> {
    let query = searcher.parse(text)?;
    let search = || searcher.search(&query).count_only().estimate_from(from.into_library());
    let mut least = Duration::MAX;
    for _ in 0..5 {
        let started = Instant::now();
        search().explain()?;
        least = least.min(started.elapsed());
    }
    Ok(least)
}

/// Analyzes all queries with each kind of estimates and prints how far these are off.
pub(crate) fn report(
    searcher: &Searcher,
    commands: &[BenchCommand],
    queries: &[String],
    format: ReportFormat,
    out: &mut Output,
) -> Outcome {
    let mut failed = 0;
    let mut objects = serde_json::Map::new();
    for (nth, from) in [EstimatesFrom::Dictionary, EstimatesFrom::Headers, EstimatesFrom::Samples]
        .into_iter()
        .enumerate()
    {
        let (mut errors, mut times) = (EstimateErrors::default(), vec![]);
        failed = 0;
        for command in commands {
            for query in queries {
                match analyze(searcher, *command, query, from) {
                    Ok(tree) => errors.add(&tree),
                    Err(error) if is_about_the_query(&error) => failed += 1,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        for query in queries {
            match time_plan(searcher, query, from) {
                Ok(time) => times.push(time),
                Err(error) if is_about_the_query(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        times.sort_unstable();
        let at = |part: usize| times.get(times.len().saturating_sub(1) * part / 100);
        let us = |part: usize| at(part).map(|time| time.as_nanos() as f64 / 1_000.0);
        let plan_us = json!({ "median": us(50), "p95": us(95), "max": us(100) });
        if format == ReportFormat::Json {
            let mut object: Value = serde_json::from_str(&errors.to_json()).map_err(|error| {
                Error::new(ErrorKind::Io, format!("printing the report: {error}"))
            })?;
            object["plan_us"] = plan_us;
            objects.insert(from.name().into(), object);
            continue;
        }
        if nth > 0 {
            writeln!(out)?;
        }
        let [median, p95, max] = [50, 95, 100].map(|part| us(part).unwrap_or_default());
        writeln!(
            out,
            "{}; µs a plan: median {median:.1}, p95 {p95:.1}, max {max:.1}",
            from.title()
        )?;
        write!(out, "{errors}")?;
    }
    if format == ReportFormat::Json {
        out.json_line(&Value::Object(objects))?;
    }
    out.flush()?;
    if failed > 0 {
        warn(format!(
            "{failed} of {} queries could not be answered",
            commands.len() * queries.len()
        ));
    }
    Ok(Exit::Done)
}

fn is_about_the_query(error: &Error) -> bool {
    [ErrorKind::Query, ErrorKind::Unsupported, ErrorKind::LimitExceeded].contains(&error.kind())
}
