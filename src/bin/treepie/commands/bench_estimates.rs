//! `treepie bench INDEX --queries FILE --estimates`: how far the estimates of plans are off.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use treepie::explain::{EstimateErrors, ExplainTree};
use treepie::search::TotalMode;
use treepie::{Error, ErrorKind, Searcher};

use super::bench::{BenchCommand, Unanswered};
use crate::{
    args::{EstimatesFrom, Global},
    failure::{Exit, Outcome, is_about_the_query},
    output::{Output, ReportFormat},
};

/// Names of a kind of estimates, in JSON and for people.
fn names(from: EstimatesFrom) -> (&'static str, &'static str) {
    match from {
        EstimatesFrom::Dictionary => ("dictionary", "Estimates from the dictionary alone"),
        EstimatesFrom::Headers => ("headers", "Estimates from the dictionary and headers"),
        EstimatesFrom::Samples => ("samples", "Estimates from samples"),
    }
}

/// The plan of a query that was run until its end, so that every number is known.
fn analyze(
    searcher: &Searcher,
    command: BenchCommand,
    text: &str,
    from: EstimatesFrom,
) -> Result<ExplainTree, Error> {
    let query = searcher.parse(text)?;
    let search = searcher.search(&query);
    let search = match command.hits() {
        None => search.count_only(),
        Some(limit) => search.limit(limit).total(TotalMode::Exact),
    };
    let mut tree = search.explainer().estimate_from(from.into_library()).analyze()?;
    tree.query = text.to_owned();
    Ok(tree)
}

/// The least time of a few that `explain` takes: making the plan, and the tree with what is worth knowing of it.
fn time_explain(searcher: &Searcher, text: &str, from: EstimatesFrom) -> Result<Duration, Error> {
    let query = searcher.parse(text)?;
    let search =
        || searcher.search(&query).count_only().explainer().estimate_from(from.into_library());
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
    global: Global,
) -> Outcome {
    let out = &mut Output::new(global.color);
    let mut failed = Unanswered::default();
    let mut objects = serde_json::Map::new();
    for (nth, from) in [EstimatesFrom::Dictionary, EstimatesFrom::Headers, EstimatesFrom::Samples]
        .into_iter()
        .enumerate()
    {
        let (name, title) = names(from);
        let (mut errors, mut times) = (EstimateErrors::default(), vec![]);
        failed = Unanswered::default();
        for command in commands {
            for query in queries {
                match analyze(searcher, *command, query, from) {
                    Ok(tree) => errors.add(&tree),
                    Err(error) if is_about_the_query(&error) => failed.add(query, &error),
                    Err(error) => return Err(error.into()),
                }
            }
        }
        for query in queries {
            match time_explain(searcher, query, from) {
                Ok(time) => times.push(time),
                Err(error) if is_about_the_query(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        times.sort_unstable();
        let at = |part: usize| times.get(times.len().saturating_sub(1) * part / 100);
        let us = |part: usize| at(part).map(|time| time.as_nanos() as f64 / 1_000.0);
        let explain_us = json!({ "median": us(50), "p95": us(95), "max": us(100) });
        if format == ReportFormat::Json {
            let mut object: Value = serde_json::from_str(&errors.to_json()).map_err(|error| {
                Error::new(ErrorKind::Io, format!("printing the report: {error}"))
            })?;
            object["explain_us"] = explain_us;
            objects.insert(name.into(), object);
            continue;
        }
        if nth > 0 {
            writeln!(out)?;
        }
        let [median, p95, max] = [50, 95, 100].map(|part| us(part).unwrap_or_default());
        writeln!(
            out,
            "{title}; µs to plan and explain: median {median:.1}, p95 {p95:.1}, max {max:.1}"
        )?;
        write!(out, "{errors}")?;
    }
    if format == ReportFormat::Json {
        out.json_line(&Value::Object(objects))?;
    }
    out.flush()?;
    if !global.quiet {
        failed.tell_first();
        failed.tell_number(commands.len() * queries.len());
    }
    Ok(Exit::Done)
}
