//! One file a command: `Args` is what was typed, `run` does it.

pub(crate) mod analyze;
mod batches;
pub(crate) mod bench;
mod bench_what_if;
pub(crate) mod calibrate;
pub(crate) mod bench_disk;
mod bench_estimates;
mod bench_knn;
mod columns;
pub(crate) mod completions;
pub(crate) mod copy;
pub(crate) mod delete;
pub(crate) mod demo;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod export;
mod facet;
mod facet_tree;
mod fusion;
pub(crate) mod help;
pub(crate) mod index;
pub(crate) mod inspect;
mod inspect_io;
pub(crate) mod man;
pub(crate) mod merge;
mod page;
mod places;
pub(crate) mod plan;
pub(crate) mod recover;
pub(crate) mod salvage;
pub(crate) mod schema;
mod score;
pub(crate) mod search;
mod statistics;
pub(crate) mod stats;
mod typed_names;
pub(crate) mod upgrade;
mod vectors;
pub(crate) mod verify;
mod why_empty;

use std::{
    borrow::Cow,
    io::{self, Read},
    path::Path,
    sync::OnceLock,
    time::{Duration, SystemTime},
};

use serde_json::{Map, Value, json};
use treepie::analysis::{Analyzers, Synonyms};
use treepie::geo::GeoArea;
use treepie::query::{Boost, DefaultOperator, LenientQuery, ParseOptions, Query, Remark, parse};
use treepie::schema::{EMPTY_FIELD, NULL_FIELD};
use treepie::search::Fields;
use treepie::value::{Dates, Zone};
use treepie::{
    Decimal, Error, ErrorKind, Field, FieldKind, Index, IndexOptions, Schema, Timestamp,
    WriterOptions,
};

use crate::{
    args::{Cli, Command, byte_size, duration},
    events::EventLog,
    failure::{Failure, Outcome, read_text, usage, warn},
    terminal,
};

/// Does what the command line asks for.
pub(crate) fn run(cli: Cli) -> Outcome {
    use Command::{Recover, Salvage, Verify};
    let is_about_damage = matches!(cli.command, Verify(_) | Recover(_) | Salvage(_));
    run_command(cli).map_err(|failure| match is_about_damage {
        true => failure,
        false => failure.telling_damage(),
    })
}

fn run_command(cli: Cli) -> Outcome {
    let global = cli.global;
    match cli.command {
        Command::Index(args) => index::run(args, global),
        Command::Search(args) => search::run(args, global),
        Command::Explain(args) => explain::run(args, global),
        Command::Inspect(args) => inspect::run(args, global),
        Command::Stats(args) => stats::run(args, global),
        Command::Verify(args) => verify::run(args, global),
        Command::Recover(args) => recover::run(args, global),
        Command::Salvage(args) => salvage::run(args, global),
        Command::Upgrade(args) => upgrade::run(args, global),
        Command::Schema(args) => schema::run(args, global),
        Command::Merge(args) => merge::run(args, global),
        Command::Copy(args) => copy::run(args, global),
        Command::Delete(args) => delete::run(args, global),
        Command::Export(args) => export::run(args, global),
        Command::Analyze(args) => analyze::run(args, global),
        Command::Eval(args) => eval::run(args, global),
        Command::Plan(args) => plan::run(args, global),
        Command::Bench(args) => bench::run(args, global),
        Command::BenchDisk(args) => bench_disk::run(args, global),
        Command::Calibrate(args) => calibrate::run(args, global),
        Command::Demo(args) => demo::run(args, global),
        Command::Help(args) => help::run(args, global),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }
}

/// The index that a command reads.
fn open(path: &Path) -> Result<Index, Error> {
    Index::open(path)
}

/// An index to write to; what is done to it is written down if that was asked for.
fn open_to_write(path: &Path, events: &EventLog) -> Result<Index, Error> {
    events.listen(Index::options()).open(path)
}

/// Opens an index with other options, and with rules of synonyms for the words of queries: `FIELD:FILE` each.
fn open_with(options: IndexOptions, path: &Path, synonyms: &[String]) -> Outcome<Index> {
    let index = options.clone().open(path)?;
    if synonyms.is_empty() {
        return Ok(index);
    }
    let analyzers = index.searcher()?.analyzers().clone();
    let analyzers = analyzers_with_synonyms(analyzers, index.schema(), synonyms)?;
    Ok(options.analyzers(analyzers).open(path)?)
}

/// The analyzers of an index with rules of synonyms: `FIELD:FILE` each.
fn analyzers_with_synonyms(
    mut analyzers: Analyzers,
    schema: &Schema,
    synonyms: &[String],
) -> Outcome<Analyzers> {
    for typed in synonyms {
        let expected = |what: &str| usage("reading --synonyms").expected(what);
        let Some((name, file)) = typed.split_once(':') else {
            return Err(expected("FIELD:FILE").found(format!("'{typed}'")).into());
        };
        let Some(field) = schema.field(name).filter(|field| field.kind == FieldKind::Text) else {
            let error = expected("a text field of the index").found(format!("'{name}'"));
            return Err(did_you_mean_text(error, schema, name).into());
        };
        let rules = read_text("reading the synonyms", file.as_ref())?;
        let analyzer = analyzers.query_time(field)?;
        let rules = Synonyms::parse(&rules, &analyzer).map_err(|error| error.in_file(file))?;
        analyzers = analyzers.synonyms(name, rules);
    }
    Ok(analyzers)
}

/// Time for which a command that writes waits for another one.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct WaitArg {
    /// Wait so long for another writer to finish, as 5s [default: not].
    #[arg(help_heading = "Limits")]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    wait: Option<Duration>,
}

impl WaitArg {
    fn options(self) -> WriterOptions {
        WriterOptions::new().wait(self.wait.unwrap_or_default())
    }

    /// Gives the error of a writer that is locked out the option as a hint, if it was not typed.
    fn hint(self, error: Error) -> Error {
        match (error.kind(), self.wait) {
            (ErrorKind::Locked, None) => {
                error.hint("--wait 5s waits for it; readers are never locked out")
            }
            _ => error,
        }
    }
}

/// Options for what a writer uses.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ResourceArgs {
    /// Use at most about so much memory.
    #[arg(help_heading = "Limits")]
    #[arg(long, default_value = "256MiB", value_parser = byte_size, value_name = "SIZE")]
    memory: u64,
    /// Use N threads [default: one a core].
    #[arg(help_heading = "Limits")]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl ResourceArgs {
    fn apply(self, options: WriterOptions) -> WriterOptions {
        let options = options.memory_bytes(usize::try_from(self.memory).unwrap_or(usize::MAX));
        match self.threads {
            Some(threads) => options.threads(threads.into()),
            None => options,
        }
    }
}

/// Options for reading dates in queries, facets and scores.
#[derive(Debug, clap::Args)]
pub(crate) struct DatesArgs {
    /// Take this as now in dates as now-7d [default: when it runs].
    ///
    /// Also for ranges of --facet, and for --score, --sort and --decay of a search. A walk over pages should
    /// fix it.
    #[arg(help_heading = "Find", hide_short_help = true)]
    #[arg(long, value_name = "DATE")]
    now: Option<Timestamp>,
    /// Time zone of dates without an offset [default: of each field].
    ///
    /// Written as +02:00 or Europe/Berlin; also in ranges of --facet, the origin of --decay, and the days and other intervals
    /// that --facet counts by.
    #[arg(help_heading = "Find", hide_short_help = true)]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    zone: Option<Zone>,
    /// When it was first asked for, so that all dates of a command have the same now.
    #[arg(skip)]
    started: OnceLock<Timestamp>,
}

impl DatesArgs {
    fn now(&self) -> Timestamp {
        self.now.unwrap_or_else(|| *self.started.get_or_init(|| SystemTime::now().into()))
    }

    fn dates(&self) -> Dates {
        let dates = Dates::new().now(self.now());
        match &self.zone {
            Some(zone) => dates.zone(zone.clone()),
            None => dates,
        }
    }
}

/// Reads the text of a search box, and reports what was read otherwise than it is written.
fn parse_leniently(
    text: &str,
    and: bool,
    schema: &Schema,
    dates: &DatesArgs,
) -> Outcome<LenientQuery> {
    let operator = if and { DefaultOperator::And } else { DefaultOperator::Or };
    let options = ParseOptions::default().default_operator(operator);
    let dates = dates.dates();
    let options = options.schema(schema.clone()).dates(dates.clone());
    let mut read = Query::parse_lenient(text, &options);
    let query = read.query.with_area_files(&mut read_area);
    let query = query.and_then(|query| query.at(schema, &dates));
    read.query = query.map_err(in_query(text))?;
    Ok(read)
}

/// Remarks of the lenient reading that are printed at the most.
const REMARKS_SHOWN: usize = 5;

/// Says what was read otherwise than it is written.
fn say_remarks(remarks: &[Remark]) {
    for remark in remarks.iter().take(REMARKS_SHOWN) {
        warn(terminal::printable(remark.message()));
    }
    let more = remarks.len().saturating_sub(REMARKS_SHOWN);
    if more > 0 {
        warn(format!("{more} more of the kind"));
    }
}

/// The query that was typed, for an index of this schema; what is wrong with it is shown below the message.
fn parse_query(text: &str, and: bool, schema: &Schema, dates: &DatesArgs) -> Outcome<Query> {
    let operator = if and { DefaultOperator::And } else { DefaultOperator::Or };
    let options = ParseOptions::default().default_operator(operator);
    let query = parse(text, &options)
        .and_then(|query| query.with_area_files(&mut read_area))
        .and_then(|query| query.at(schema, &dates.dates()))
        .and_then(|query| query.in_copies(schema));
    query.map_err(in_query(text))
}

/// The area of a file: `location:WITHIN [@paris.geojson]`.
fn read_area(path: &str) -> Result<GeoArea, Error> {
    let text = read_text("reading an area", path.as_ref())?;
    let refused = |found: String| {
        let error = usage("reading an area").expected("well-known text or GeoJSON");
        Err(error.found(found).in_file(path))
    };
    if text.trim().is_empty() {
        return refused("an empty file".to_owned());
    }
    match text.parse() {
        Ok(GeoArea::File(other)) => refused(format!("the name of another file, '{other}'")),
        other => other.map_err(|error| error.in_file(path)),
    }
}

/// Refuses a field that there is not, whether the query makes use of it or not.
fn check_field(option: &str, name: &str, schema: &Schema) -> Result<(), Error> {
    if schema.field(name).is_some() {
        return Ok(());
    }
    let names: Vec<_> = schema.fields().iter().map(|field| &*field.name).collect();
    let error = usage(format!("reading {option}"))
        .expected(format!("one of the fields {}", names.join(", ")));
    Err(did_you_mean(error.found(format!("'{name}'")), schema, name))
}

/// Adds the field that was probably meant, if there is one.
fn did_you_mean(error: Error, schema: &Schema, name: &str) -> Error {
    match schema.closest_field(name) {
        Some(known) => error.hint(format!("did you mean '{known}'?")),
        None => error,
    }
}

/// Adds the text field that was probably meant, if there is one: for a field of another type a text copy of it.
fn did_you_mean_text(error: Error, schema: &Schema, name: &str) -> Error {
    let Some(source) = schema.field(name) else { return did_you_mean(error, schema, name) };
    let is_its_text = |field: &&Field| {
        field.kind == FieldKind::Text && field.copy_of.as_ref() == Some(&source.name)
    };
    match schema.fields().iter().find(is_its_text) {
        Some(copy) => error.hint(format!("did you mean '{}'?", copy.name)),
        None => error,
    }
}

/// `title^3`, `body`: fields with their weights.
fn combined_fields(typed: &[String]) -> Result<Vec<(String, Boost)>, Error> {
    let field = |typed: &String| {
        let (name, weight) = typed.rsplit_once('^').unwrap_or((typed, "1"));
        let weight = weight.parse().ok().and_then(|weight| Boost::new(weight).ok());
        match weight.filter(|_| !name.is_empty()) {
            Some(weight) => Ok((name.to_owned(), weight)),
            None => Err(usage("reading --combined")
                .expected("FIELD or FIELD^WEIGHT, as in title^3")
                .found(format!("'{typed}'"))),
        }
    };
    typed.iter().map(field).collect()
}

/// `title:0.9,0.4`: fields with the parameters k1 and b of their ranking.
fn bm25_parameters<'t>(typed: &'t [String]) -> Result<Vec<(&'t str, f32, f32)>, Error> {
    let parts = |typed: &'t String| {
        let (field, numbers) = typed.rsplit_once(':')?;
        let (k1, b) = numbers.split_once(',')?;
        Some((field, k1.parse().ok()?, b.parse().ok()?))
    };
    let wrong = |typed| usage("reading --bm25").expected("FIELD:K1,B").found(format!("'{typed}'"));
    typed.iter().map(|typed| parts(typed).ok_or_else(|| wrong(typed))).collect()
}

/// Turns an error that knows its place in the query into one that shows it.
fn in_query(query: &str) -> impl Fn(Error) -> Failure {
    |error| match error.span() {
        Some(_) => Failure::InQuery { error, query: query.to_owned() },
        None => Failure::Error(error),
    }
}

/// Stored fields: a value, or a list of values where the field may have many; null and an empty list if that was said
/// and kept.
fn fields_to_json(fields: &[&Field], stored: &Fields) -> Map<String, Value> {
    let mut object = Map::new();
    for field in fields {
        if is_state(field) {
            let said = if field.name == NULL_FIELD { Value::Null } else { Value::Array(vec![]) };
            let names = stored.get(&field.name).into_iter().flat_map(|names| names.iter());
            let mut of_others = vec![];
            for name in names.filter_map(|name| name.as_str()) {
                if !fields.iter().any(|shown| shown.name == name) {
                    of_others.push(Value::from(name));
                } else if !object.contains_key(name) {
                    object.insert(name.to_owned(), said.clone());
                }
            }
            if !of_others.is_empty() {
                object.insert(field.name.clone(), of_others.into());
            }
            continue;
        }
        if let Some(value) = stored.get(&field.name) {
            let values: Vec<Value> = value.iter().map(value_to_json).collect();
            let value = match (field.many, values.as_slice()) {
                (false, [one]) => one.clone(),
                _ => Value::Array(values),
            };
            object.insert(field.name.clone(), value);
        }
    }
    object
}

/// Whether a field has the names of others that are null or empty, and nothing of its own to show.
fn is_state(field: &Field) -> bool {
    field.name == NULL_FIELD || field.name == EMPTY_FIELD
}

/// A number as a number, a vector as a list of them, and what has no like in JSON as its text.
fn value_to_json(value: &treepie::Value) -> Value {
    match value {
        treepie::Value::Null => Value::Null,
        treepie::Value::I64(number) => (*number).into(),
        treepie::Value::U64(number) => (*number).into(),
        treepie::Value::F64(number) => (*number).into(),
        treepie::Value::Bool(is_true) => (*is_true).into(),
        treepie::Value::Decimal(number) => decimal_to_json(*number),
        treepie::Value::Vector(numbers) => numbers.iter().map(|it| Value::from(*it)).collect(),
        treepie::Value::Point(point) => json!({ "lat": point.lat(), "lon": point.lon() }),
        other => other.to_text().into(),
    }
}

/// A number where all of its digits stand in one, else its text, which is read as well.
fn decimal_to_json(decimal: Decimal) -> Value {
    const DIGITS_OF_F64: u32 = 15;
    let text = decimal.to_string();
    let mut digits = decimal.unscaled().unsigned_abs();
    while digits != 0 && digits.is_multiple_of(10) {
        digits /= 10;
    }
    match digits < 10u64.pow(DIGITS_OF_F64) {
        // Never with an exponent, and with the digits of its field.
        true => serde_json::from_str(&text).map_or(Value::Null, Value::Number),
        false => text.into(),
    }
}

/// The longest text taken from standard input in place of an argument.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// An argument, or all of standard input if it is `-`; without the line break at its end.
fn text_or_stdin(typed: &str, what: &str) -> Result<String, Error> {
    if typed != "-" {
        return Ok(typed.to_owned());
    }
    let text = String::from_utf8(bytes_of_stdin(what)?).map_err(|error| {
        usage(what)
            .expected("UTF-8")
            .found("other bytes")
            .in_file("standard input")
            .at_offset(error.utf8_error().valid_up_to() as u64)
    })?;
    Ok(without_line_end(text))
}

/// Reads it as far as it is UTF-8, and whether all of it is.
fn lossy_text_or_stdin(typed: &str, what: &str) -> Result<(String, bool), Error> {
    if typed != "-" {
        return Ok((typed.to_owned(), true));
    }
    let bytes = bytes_of_stdin(what)?;
    let text = String::from_utf8_lossy(&bytes);
    let is_whole = matches!(text, Cow::Borrowed(_));
    Ok((without_line_end(text.into_owned()), is_whole))
}

fn without_line_end(mut text: String) -> String {
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    text
}

fn bytes_of_stdin(what: &str) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![];
    io::stdin()
        .lock()
        .take(TEXT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::io(what, error).in_file("standard input"))?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(Error::new(ErrorKind::LimitExceeded, what)
            .expected(format!("at most {} MiB", TEXT_BYTES_MAX >> 20))
            .found("more")
            .in_file("standard input"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_the_ranking_are_read() {
        let typed = ["a:b:0.9,0.4", "title:0,1"].map(str::to_owned);
        let expected = [("a:b", 0.9, 0.4), ("title", 0.0, 1.0)];
        assert_eq!(bm25_parameters(&typed).unwrap(), expected);
        for typed in ["title", "title:1.2", "title:x,0.5", "title:1,2,3"] {
            assert!(bm25_parameters(&[typed.to_owned()]).is_err(), "{typed}");
        }
    }
}
