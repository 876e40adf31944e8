//! `treepie bench INDEX --knn FILE`: times of neighbours, and recall.

use std::{
    io,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use treepie::query::Query;
use treepie::schema::{Metric, VectorParams};
use treepie::search::{Hits, TotalMode};
use treepie::{DocId, Error, ErrorKind, Schema, Searcher};

use super::did_you_mean;
use crate::{
    args::Global,
    failure::{Exit, Outcome, usage},
    input::vector_files::read_rows,
    output::{Output, ReportFormat, duration, plural},
    relevance::{read_truth, recall, similarity},
};

/// Options about vectors.
#[derive(Debug, clap::Args)]
pub(super) struct KnnArgs {
    /// Time the neighbours of the vectors of a file.
    ///
    /// A row each, as .fvecs or .npy files have them.
    #[arg(long, group = "report", value_name = "FILE")]
    #[arg(conflicts_with_all = ["queries", "commands", "slow_ms", "log", "what_if", "estimates"])]
    pub(super) knn: Option<PathBuf>,
    /// Compare what is found with the nearest, which an .ivecs file has, or exact.
    ///
    /// A row for each query: numbers of documents, which are those of the rows that were indexed. With
    /// exact all vectors are compared for it, once for each query.
    #[arg(long, requires = "knn", conflicts_with = "queries", value_name = "FILE|exact")]
    truth: Option<PathBuf>,
    /// Number of neighbours.
    #[arg(long, requires = "knn", conflicts_with = "queries", default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    k: u32,
    /// Field of the index.
    ///
    /// The default is the only one that has vectors.
    #[arg(long, requires = "knn", conflicts_with = "queries", value_name = "FIELD")]
    field: Option<String>,
    /// Find neighbours only among the documents of a query.
    #[arg(long, requires = "knn", conflicts_with = "queries", value_name = "QUERY")]
    filter: Option<String>,
    /// Part of the nearest that is to be found [default: 0.95].
    #[arg(long, requires = "knn", value_name = "PART")]
    #[arg(conflicts_with_all = ["queries", "ef", "exact"])]
    recall: Option<f32>,
    /// Number of vectors that a walk over a graph keeps.
    #[arg(long, requires = "knn", value_name = "N", conflicts_with_all = ["queries", "exact"])]
    ef: Option<u32>,
    /// Compare all vectors.
    #[arg(long, requires = "knn", conflicts_with = "queries")]
    exact: bool,
}

impl KnnArgs {
    /// A query for the nearest, found by as much effort as is asked for.
    fn with_effort(&self, nearest: Query) -> Query {
        match (self.recall, self.ef) {
            _ if self.exact => nearest.exact(),
            (Some(recall), _) => nearest.recall(recall),
            (None, Some(ef)) => nearest.ef(ef),
            (None, None) => nearest,
        }
    }
}

/// Neighbours that are asked for.
struct Asked<'s> {
    searcher: &'s Searcher,
    args: &'s KnnArgs,
    field: &'s str,
    metric: Metric,
    filter: Option<Query>,
    k: u32,
}

/// The nearest that what is found is compared with.
enum Truth<'p> {
    None,
    Exact,
    /// Rows of a file, one for each query.
    Rows(&'p Path, Vec<Vec<DocId>>),
}

/// A query, and what came of it.
struct Case {
    vector: Vec<f32>,
    hits: usize,
    top_score: Option<f32>,
    recall: Option<f64>,
    times: Vec<Duration>,
}

pub(super) fn run(
    searcher: &Searcher,
    args: &KnnArgs,
    (queries, passes): (&Path, u32),
    format: ReportFormat,
    global: Global,
) -> Outcome {
    let (field, params) = vector_field(searcher.schema(), args.field.as_deref())?;
    let vectors = read_rows(queries, field, params)?;
    if vectors.is_empty() {
        let error = usage("reading the queries").expected("a row or more").found("none");
        return Err(error.in_file(queries).into());
    }
    let truth = match args.truth.as_deref() {
        None => Truth::None,
        Some(path) if path.as_os_str() == "exact" => Truth::Exact,
        Some(path) => Truth::Rows(path, read_truth(path, vectors.len(), args.k as usize)?),
    };
    let filter = args.filter.as_deref().map(|text| searcher.parse(text)).transpose()?;
    let asked = Asked { searcher, args, field, metric: params.metric, filter, k: args.k };
    let mut cases = vec![];
    // Not timed: bytes are checked once they are first read.
    for (nth, vector) in vectors.into_iter().enumerate() {
        let found = asked.find(&vector).map_err(|error| of_row(error, nth, queries))?;
        let mut case = Case {
            hits: found.hits.len(),
            top_score: found.hits.first().and_then(|hit| hit.score),
            recall: None,
            times: vec![],
            vector,
        };
        case.recall = match &truth {
            Truth::None => None,
            Truth::Exact => {
                let nearest = asked.find_exactly(&case.vector)?;
                let nearest: Vec<f64> = asked.similarities(&case.vector, &nearest)?;
                Some(asked.recall(&case.vector, &found, &nearest)?)
            }
            Truth::Rows(path, rows) => {
                let nearest = asked.similarities_of(&case.vector, &rows[nth], (path, nth))?;
                Some(asked.recall(&case.vector, &found, &nearest)?)
            }
        };
        cases.push(case);
    }
    for _ in 0..passes {
        for case in &mut cases {
            let start = Instant::now();
            asked.find(&case.vector)?;
            case.times.push(start.elapsed());
        }
    }
    let mut out = Output::new(global.color);
    print(&mut out, &asked, &mut cases, passes, format)?;
    out.flush()?;
    Ok(Exit::Done)
}

/// The field that was named, or the only one with vectors.
fn vector_field<'s>(
    schema: &'s Schema,
    named: Option<&'s str>,
) -> Result<(&'s str, VectorParams), Error> {
    let of_vectors =
        || schema.fields().iter().filter_map(|field| Some((&*field.name, field.kind.vector()?)));
    let wrong = || usage("reading --field").expected("a vector field of the index");
    let Some(name) = named else {
        let (mut all, names) = (of_vectors(), || of_vectors().map(|(name, _)| name));
        return match (all.next(), all.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => Err(wrong().found("none")),
            _ => Err(wrong()
                .found(names().collect::<Vec<_>>().join(", "))
                .hint("--field says which one the queries are for")),
        };
    };
    of_vectors().find(|(field, _)| *field == name).ok_or_else(|| match schema.field(name) {
        Some(other) => wrong().found(format!("the {} field '{name}'", other.kind.name())),
        None => did_you_mean(wrong().found(format!("'{name}'")), schema, name),
    })
}

/// An error about a row of the queries.
fn of_row(error: Error, nth: usize, path: &Path) -> Error {
    match error.kind() {
        ErrorKind::Query => error.in_file(path).hint(format!("it is row {} of the file", nth + 1)),
        _ => error,
    }
}

impl Asked<'_> {
    fn find(&self, vector: &[f32]) -> Result<Hits, Error> {
        self.search(self.args.with_effort(Query::nearest(self.field, vector, self.k)))
    }

    fn find_exactly(&self, vector: &[f32]) -> Result<Hits, Error> {
        self.search(Query::nearest(self.field, vector, self.k).exact())
    }

    fn search(&self, nearest: Query) -> Result<Hits, Error> {
        let query = match &self.filter {
            None => nearest,
            Some(filter) => Query::boolean().filter(filter.clone()).must(nearest).build(),
        };
        // Documents are found, not fetched.
        let search = self.searcher.search(&query).limit(self.k.into()).total(TotalMode::Unknown);
        search.fields::<&str>([]).run()
    }

    /// The part that was found of the nearest, which are this similar.
    fn recall(&self, vector: &[f32], found: &Hits, nearest: &[f64]) -> Result<f64, Error> {
        Ok(recall(&self.similarities(vector, found)?, nearest))
    }

    fn similarities(&self, vector: &[f32], found: &Hits) -> Result<Vec<f64>, Error> {
        found.hits.iter().map(|hit| self.similarity(vector, hit.doc)).collect()
    }

    /// Similarities of the documents of a row of a file.
    fn similarities_of(
        &self,
        vector: &[f32],
        nearest: &[DocId],
        (path, nth): (&Path, usize),
    ) -> Result<Vec<f64>, Error> {
        let of_row =
            |error: Error| error.in_file(path).hint(format!("row {} of the truth has it", nth + 1));
        nearest.iter().map(|doc| self.similarity(vector, *doc).map_err(of_row)).collect()
    }

    /// Similarity of a document to a vector, by the nearest of its own.
    fn similarity(&self, vector: &[f32], doc: DocId) -> Result<f64, Error> {
        let fields = self.searcher.document(doc)?;
        let own = fields.get(self.field).into_iter().flat_map(|values| values.iter());
        let own = own.filter_map(|value| value.as_vector());
        let all =
            own.map(|own| similarity(self.metric, vector, own)).collect::<Result<Vec<_>, _>>()?;
        all.into_iter().reduce(f64::max).ok_or_else(|| {
            Error::new(ErrorKind::Document, format!("comparing with document {doc}"))
                .expected(format!("a stored vector in the field '{}'", self.field))
                .found("none")
        })
    }
}

impl Case {
    fn to_json(&self, nth: usize) -> Value {
        json!({
            "query": nth,
            "hits": self.hits,
            "top_score": self.top_score,
            "us_min": self.times.first().map(|time| us(*time)),
            "us_median": self.times.get(self.times.len() / 2).map(|time| us(*time)),
            "recall": self.recall,
        })
    }
}

fn us(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1_000.0
}

/// Times of all queries in all passes, ascending.
struct Times(Vec<Duration>);

impl Times {
    fn of(cases: &[Case]) -> Self {
        let mut all: Vec<Duration> = cases.iter().flat_map(|case| &case.times).copied().collect();
        all.sort_unstable();
        Times(all)
    }

    /// The time that so many of a hundred are not above.
    fn percentile(&self, percent: usize) -> Duration {
        let at = (self.0.len() * percent).div_ceil(100).saturating_sub(1);
        self.0.get(at).copied().unwrap_or_default()
    }

    fn mean(&self) -> Duration {
        let n = u32::try_from(self.0.len()).unwrap_or(u32::MAX).max(1);
        self.0.iter().sum::<Duration>() / n
    }

    /// Figures with their names.
    fn figures(&self) -> [(&'static str, Duration); 6] {
        let [median, p90, p95, p99, max] = [50, 90, 95, 99, 100].map(|part| self.percentile(part));
        let mean = self.mean();
        [("mean", mean), ("median", median), ("p90", p90), ("p95", p95), ("p99", p99), ("max", max)]
    }
}

/// Recall over all queries.
struct Recall {
    mean: f64,
    least: f64,
    n_complete: usize,
}

impl Recall {
    /// None where nothing was compared.
    fn of(cases: &[Case]) -> Option<Self> {
        let all: Vec<f64> = cases.iter().filter_map(|case| case.recall).collect();
        let least = all.iter().copied().reduce(f64::min)?;
        let n_complete = all.iter().filter(|recall| **recall == 1.0).count();
        Some(Recall { mean: all.iter().sum::<f64>() / all.len() as f64, least, n_complete })
    }
}

fn print(
    out: &mut Output,
    asked: &Asked<'_>,
    cases: &mut [Case],
    passes: u32,
    format: ReportFormat,
) -> io::Result<()> {
    cases.iter_mut().for_each(|case| case.times.sort_unstable());
    let (times, recall) = (Times::of(cases), Recall::of(cases));
    let Asked { field, k, .. } = asked;
    if format == ReportFormat::Json {
        for (nth, case) in cases.iter().enumerate() {
            out.json_line(&case.to_json(nth))?;
        }
        let of_times: Vec<_> = times
            .figures()
            .into_iter()
            .map(|(name, time)| (name.to_owned(), us(time).into()))
            .collect();
        return out.json_line(&json!({
            "summary": "KNN",
            "field": field,
            "k": k,
            "queries": cases.len(),
            "passes": passes,
            "us": Value::Object(of_times.into_iter().collect()),
            "recall": recall.map(|it| json!({
                "mean": it.mean, "least": it.least, "complete": it.n_complete,
            })),
        }));
    }
    let (queries, n) = (plural(cases.len(), "query"), passes);
    let passes = if n == 1 { "1 pass".to_owned() } else { format!("{n} passes") };
    let title = out.strong(&format!("{k} nearest in '{field}'")).into_owned();
    let figures = times.figures().map(|(name, time)| format!("{name} {}", duration(time)));
    writeln!(out, "{title}: {queries}, {passes}: {}", figures.join(", "))?;
    if let Some(Recall { mean, least, n_complete }) = recall {
        let n = cases.len();
        writeln!(out, "recall@{k} {mean:.4}, all found in {n_complete} of {n}, the least {least}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times = |n: u64| Times((1..=n).map(Duration::from_micros).collect());
        let us = |times: Times| times.figures().map(|(_, time)| us(time));
        assert_eq!(us(times(1_000)), [500.5, 500.0, 900.0, 950.0, 990.0, 1_000.0]);
        assert_eq!(us(times(3)), [2.0, 2.0, 3.0, 3.0, 3.0, 3.0]);
        assert_eq!(us(times(0)), [0.0; 6]);
    }
}
