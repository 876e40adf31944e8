//! `treepie inspect INDEX [WHAT]`: what an index is made of.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::{Subcommand, ValueEnum};
use serde_json::{Map, Value, json};
use treepie::inspect::{CurvePoint, DiskUsage, GraphInfo, Inspector, PostingsInfo};
use treepie::{DocId, Error, ErrorKind, Field, FieldKind};

use super::{inspect_io, open, value_to_json};
use crate::{
    args::{self, Global},
    destination::DestinationArgs,
    failure::{Exit, Outcome, usage, warn},
    input::{
        kept::Kept,
        schema_file::{self, MoreLines},
    },
    output::{Format, Output, Table, bytes, plural},
    terminal,
};

/// Look inside: segments, schema, terms, lists, documents, bytes.
///
/// Also what was done to the files.
#[derive(Debug, clap::Args)]
#[command(
    subcommand_value_name = "WHAT",
    subcommand_help_heading = "What",
    after_long_help = "Examples:
  treepie inspect titles.tp
  treepie inspect titles.tp terms --field qualifier --prefix fil
  treepie inspect titles.tp postings london
  treepie inspect titles.tp document 42
  treepie inspect titles.tp storage --format json
  treepie inspect titles.tp storage --format html --open
  treepie merge titles.tp --events titles.tp.events.jsonl && treepie inspect titles.tp io"
)]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    #[command(subcommand)]
    what: Option<What>,
    /// Print in this format.
    ///
    /// The default is text; html with --open, or if the ending of --output is .html.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, global = true)]
    format: Option<InspectFormat>,
}

/// Format of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InspectFormat {
    /// For people.
    Text,
    /// One JSON array.
    Json,
    /// One JSON object a line.
    Jsonl,
    /// Values between tabs, with a line of names.
    Tsv,
    /// Values between commas, with a line of names.
    Csv,
    /// A page for a browser; of the storage only.
    Html,
}

impl InspectFormat {
    /// Format of text or data; `None` for a page.
    fn printed(self) -> Option<Format> {
        match self {
            InspectFormat::Text => Some(Format::Text),
            InspectFormat::Json => Some(Format::Json),
            InspectFormat::Jsonl => Some(Format::Jsonl),
            InspectFormat::Tsv => Some(Format::Tsv),
            InspectFormat::Csv => Some(Format::Csv),
            InspectFormat::Html => None,
        }
    }
}

#[derive(Debug, Subcommand)]
enum What {
    /// Segments, their documents and bytes; shown if nothing is named.
    Segments,
    /// Fields, as a schema file.
    ///
    /// Comments say how inputs of the index are read where it remembers that.
    Schema {
        /// Print how inputs are read as keys and not as comments.
        ///
        /// For inputs like those of the index. An export is read without.
        #[arg(long)]
        inputs: bool,
    },
    /// Terms of a field in order, with the number of documents each.
    Terms {
        #[command(flatten)]
        field: FieldArg,
        /// Only those that begin so.
        #[arg(long, default_value = "", hide_default_value = true, value_name = "PREFIX")]
        prefix: String,
        /// Print at most N [default: all].
        #[arg(long, value_parser = args::whole_number::<u64>, value_name = "N")]
        limit: Option<u64>,
    },
    /// Posting list of a term: its layout, and its documents.
    Postings {
        /// The term as it stands in the dictionary.
        term: String,
        #[command(flatten)]
        field: FieldArg,
        /// Print at most N.
        #[arg(long, default_value_t = 20, value_parser = args::whole_number::<usize>, value_name = "N")]
        limit: usize,
    },
    /// The stored fields of a document.
    Document {
        /// Its number in the index as it is now.
        #[arg(value_parser = args::whole_number::<u64>)]
        number: u64,
    },
    /// Vectors of each field by segment: how many, how long, in how many bytes.
    ///
    /// Also their graphs: nodes, links, and the recall that was measured by how many nodes a walk keeps.
    Vectors {
        /// Field of the index.
        ///
        /// Only its vectors are shown.
        #[arg(long, value_name = "FIELD")]
        field: Option<String>,
    },
    /// Bytes by part: sections, terms, lists, containers.
    ///
    /// A page also has what could be left out, the largest lists, and what is in memory now.
    Storage {
        #[command(flatten)]
        destination: DestinationArgs,
        /// List the N terms with the largest lists [default: 100].
        #[arg(long, value_parser = args::whole_number::<usize>, value_name = "N")]
        terms: Option<usize>,
    },
    /// Operations on the files, when and for how long.
    ///
    /// Reads the events that `--events FILE` of index, merge and delete wrote.
    Io(inspect_io::IoArgs),
}

/// Field that a command looks at.
#[derive(Debug, clap::Args)]
struct FieldArg {
    /// Field of the index.
    ///
    /// The default is the first that words without a field are looked up in.
    #[arg(long, value_name = "FIELD")]
    field: Option<String>,
}

impl FieldArg {
    fn resolve<'a>(&'a self, index: &'a Inspector) -> Result<&'a str, Error> {
        let schema = index.schema();
        let first = || schema.default_fields().next().or(schema.fields().first());
        match (&self.field, first()) {
            (Some(name), _) => Ok(name),
            (None, Some(field)) => Ok(&field.name),
            (None, None) => Err(usage("the index has no fields")),
        }
    }
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let what = args.what.unwrap_or(What::Segments);
    if let What::Storage { destination, terms } = &what {
        let default = if destination.open { InspectFormat::Html } else { InspectFormat::Text };
        let by_name = destination.format_by_name().filter(|it| *it == InspectFormat::Html);
        let format = args.format.or(by_name).unwrap_or(default);
        if format == InspectFormat::Html {
            return print_storage_page(&args.index, destination, terms.unwrap_or(TERMS), global);
        }
        if terms.is_some() || destination.is_given() {
            return Err(usage("-o, --open and --terms are about --format html").into());
        }
    }
    let mut out = global.output();
    let Some(format) = args.format.unwrap_or(InspectFormat::Text).printed() else {
        return Err(usage("--format html shows the storage: treepie inspect INDEX storage").into());
    };
    if let What::Io(io) = &what {
        inspect_io::print(&mut out, format, &args.index, io)?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let opened = open(&args.index)?;
    let index = opened.inspect()?;
    match what {
        What::Segments => print_segments(&mut out, format, &index)?,
        What::Schema { inputs } => print_schema(&mut out, format, &index, &args.index, inputs)?,
        What::Terms { field, prefix, limit } => {
            let field = field.resolve(&index)?;
            print_terms(&mut out, format, &index, field, &prefix, limit.unwrap_or(u64::MAX))?;
        }
        What::Postings { term, field, limit } => {
            let field = field.resolve(&index)?;
            let lists = index.postings(field, &term, limit)?;
            if lists.is_empty() {
                return Err(unknown_term(&index, field, &term).into());
            }
            print_postings(&mut out, format, &index, &lists)?;
        }
        What::Vectors { field } => print_vectors(&mut out, format, &index, field.as_deref())?,
        What::Document { number } => print_document(&mut out, format, &index, number)?,
        What::Storage { .. } => print_storage(&mut out, format, &index, opened.disk_usage()?)?,
        // Needs no index, and was printed above.
        What::Io(_) => {}
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn unknown_term(index: &Inspector, field: &str, term: &str) -> Error {
    let error = Error::new(ErrorKind::NotFound, "looking up a term")
        .expected(format!("a term of the field '{field}'"))
        .found(format!("'{term}', which no document has"));
    match index.schema().field(field).map(|field| field.kind) {
        Some(FieldKind::Text) => error.hint("`treepie analyze` shows what terms a text becomes"),
        _ => error,
    }
}

fn print_segments(out: &mut Output, format: Format, index: &Inspector) -> Outcome<()> {
    let names = ["segment", "first_document", "documents", "deleted", "terms", "tokens", "bytes"];
    let mut table = Table::new(out, format, &names)?;
    for segment in index.segments() {
        table.row(vec![
            json!(segment.id),
            json!(segment.first_doc.0),
            json!(segment.documents),
            json!(segment.deleted),
            json!(segment.fields.iter().map(|field| field.terms).sum::<u64>()),
            json!(segment.fields.iter().map(|field| field.tokens).sum::<u64>()),
            json!(segment.bytes),
        ])?;
    }
    Ok(table.finish()?)
}

fn print_schema(
    out: &mut Output,
    format: Format,
    index: &Inspector,
    path: &Path,
    with_inputs: bool,
) -> Outcome<()> {
    let schema = index.schema();
    if format == Format::Text {
        for difference in index.term_versions().differences() {
            writeln!(out, "# {difference}")?;
        }
        let lines = match Kept::of_payload(index.payload(), schema, path) {
            Ok(kept) => kept.unwrap_or_default().lines(schema),
            Err(error) if with_inputs => return Err(error.into()),
            // The fields are right all the same.
            Err(error) => {
                warn(terminal::printable(&error.to_string()));
                MoreLines::default()
            }
        };
        if !with_inputs && !lines.is_empty() {
            writeln!(out, "{INPUTS_IN_COMMENTS}")?;
        }
        return Ok(write!(out, "{}", schema_file::print_more(schema, &lines, !with_inputs))?);
    }
    if with_inputs {
        return Err(usage("--inputs is about --format text").into());
    }
    let is_default = |field: &Field| schema.default_fields().any(|other| other.name == field.name);
    let is_text = |field: &Field| field.kind == FieldKind::Text;
    let mut table = Table::new(
        out,
        format,
        &["field", "type", "stored", "many", "default", "analyzer", "query_analyzer"],
    )?;
    for field in schema.fields() {
        table.row(vec![
            json!(field.name),
            json!(field.kind.name()),
            json!(field.stored),
            json!(field.many),
            json!(is_default(field)),
            json!(
                (is_text(field) || field.normalizer_spec().is_some())
                    .then(|| field.analyzer_spec())
            ),
            json!(is_text(field).then(|| field.query_analyzer_spec())),
        ])?;
    }
    Ok(table.finish()?)
}

/// Lines that [`print_schema`] puts above how inputs are read.
const INPUTS_IN_COMMENTS: &str = "\
# How inputs of this index are read is said in comments, so that this fits what `treepie export` prints;
# --inputs prints it as keys, for more of these inputs.";

fn print_terms(
    out: &mut Output,
    format: Format,
    index: &Inspector,
    field: &str,
    prefix: &str,
    limit: u64,
) -> Outcome<()> {
    let mut table = Table::new(out, format, &["documents", "term"])?;
    let mut left = limit;
    // A closed pipe ends the walk, and is told apart from damage afterwards.
    let mut printed = Ok(());
    index.for_each_term(field, prefix, |term, documents| {
        if left > 0 {
            left -= 1;
            printed = table.row(vec![json!(documents), value_to_json(term)]);
        }
        Ok(left > 0 && printed.is_ok())
    })?;
    printed?;
    Ok(table.finish()?)
}

fn print_postings(
    out: &mut Output,
    format: Format,
    index: &Inspector,
    lists: &[PostingsInfo],
) -> Outcome<()> {
    let segments = index.segments();
    let names = ["segment", "layout", "documents", "bytes", "array", "bitmap", "run", "docs"];
    let mut table = Table::new(out, format, &names)?;
    for list in lists {
        let docs = match format {
            Format::Json | Format::Jsonl => list.docs.iter().map(|doc| json!(doc.0)).collect(),
            _ => {
                let docs: Vec<String> = list.docs.iter().map(DocId::to_string).collect();
                let more = if list.documents > list.docs.len() as u64 { " …" } else { "" };
                json!(format!("{}{more}", docs.join(" ")))
            }
        };
        table.row(vec![
            json!(segments.get(list.segment).map(|segment| &segment.id)),
            json!(list.encoding),
            json!(list.documents),
            json!(list.bytes),
            json!(list.containers.array),
            json!(list.containers.bitmap),
            json!(list.containers.run),
            docs,
        ])?;
    }
    Ok(table.finish()?)
}

fn print_document(out: &mut Output, format: Format, index: &Inspector, number: u64) -> Outcome<()> {
    let stored = index.document(DocId(number))?;
    match format {
        Format::Json | Format::Jsonl => {
            let mut fields = Map::new();
            for (name, value) in stored {
                let many = index.schema().field(&name).is_some_and(|field| field.many);
                match (many, fields.get_mut(&name)) {
                    (true, Some(Value::Array(values))) => values.push(value_to_json(&value)),
                    (true, _) => drop(fields.insert(name, json!([value_to_json(&value)]))),
                    (false, _) => drop(fields.insert(name, value_to_json(&value))),
                }
            }
            out.json_line(&json!({ "doc": number, "fields": fields }))?;
        }
        Format::Text => {
            for (name, value) in &stored {
                let name = out.dim(&format!("{name}:")).into_owned();
                writeln!(out, "{name} {}", terminal::printable(&value.to_text()))?;
            }
        }
        Format::Tsv | Format::Csv => {
            let mut table = Table::new(out, format, &["field", "value"])?;
            for (name, value) in stored {
                // A list in a cell is one of several values.
                let cell = match value.as_vector().is_some() || value.as_point().is_some() {
                    true => json!(value.to_text()),
                    false => value_to_json(&value),
                };
                table.row(vec![json!(name), cell])?;
            }
            table.finish()?;
        }
    }
    Ok(())
}

fn print_vectors(
    out: &mut Output,
    format: Format,
    index: &Inspector,
    field: Option<&str>,
) -> Outcome<()> {
    let names = [
        "field",
        "segment",
        "dims",
        "metric",
        "values",
        "codes",
        "documents",
        "with",
        "without",
        "vectors",
        "bytes",
        "shortest",
        "longest",
        "nodes",
        "links_mean",
        "links_max",
        "graph_bytes",
        "curve",
    ];
    let segments = index.segments();
    let mut table = Table::new(out, format, &names)?;
    for info in index.vectors(field)? {
        table.row(vec![
            json!(info.field),
            json!(segments.get(info.segment).map(|segment| &segment.id)),
            json!(info.params.dims),
            json!(info.params.metric.name()),
            json!(info.params.values.name()),
            json!(info.params.codes.name()),
            json!(info.documents),
            json!(info.with_vectors),
            json!(info.documents - info.with_vectors),
            json!(info.vectors),
            json!(info.bytes),
            json!(info.lengths.map(|(least, _)| rounded(least))),
            json!(info.lengths.map(|(_, most)| rounded(most))),
            json!(info.graph.as_ref().map(|graph| graph.nodes)),
            json!(info.graph.as_ref().map(|it| rounded(it.links as f64 / it.nodes.max(1) as f64))),
            json!(info.graph.as_ref().map(|graph| graph.links_max)),
            json!(info.graph.as_ref().map(|graph| graph.bytes)),
            curve(info.graph.as_ref(), format),
        ])?;
    }
    Ok(table.finish()?)
}

/// Recall by effort: in JSON with all that was measured, else as `10 0.9315, 14 0.9561`.
fn curve(graph: Option<&GraphInfo>, format: Format) -> Value {
    let Some(GraphInfo { curve, .. }) = graph else { return Value::Null };
    let point = |it: &CurvePoint| json!({ "ef": it.ef, "recall": it.recall, "distances": it.distances, "hops": it.hops });
    match format {
        Format::Json | Format::Jsonl => curve.iter().map(point).collect(),
        _ => {
            let points = curve.iter().map(|it| format!("{} {}", it.ef, it.recall));
            json!(points.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A length of six digits, as numbers of 32 bits have not many more.
fn rounded(length: f64) -> f64 {
    format!("{length:.5e}").parse().unwrap_or(length)
}

/// Terms of the page, unless told otherwise.
const TERMS: usize = 100;

fn print_storage_page(
    path: &Path,
    destination: &DestinationArgs,
    terms: usize,
    global: Global,
) -> Outcome {
    let destination = destination.check()?;
    let index = open(path)?;
    let title = path.display().to_string();
    let page = index.inspect()?.storage_html(&title, &index.disk_usage()?, terms)?;
    destination.write(&page, "html", global)?;
    Ok(Exit::Done)
}

fn print_storage(
    out: &mut Output,
    format: Format,
    index: &Inspector,
    usage: DiskUsage,
) -> Outcome<()> {
    let report = index.storage()?;
    if format == Format::Text {
        let each = report.total as f64 / index.documents().max(1) as f64;
        writeln!(
            out,
            "{} in {}, {}, {each:.1} bytes each",
            bytes(report.total),
            plural(index.segments().len(), "segment"),
            plural(index.documents(), "document"),
        )?;
        writeln!(
            out,
            "on disk {} in {}: {} of the newest commit, {} of older ones, {} of none\n",
            bytes(usage.total()),
            plural(usage.files, "file"),
            bytes(usage.live),
            bytes(usage.older),
            bytes(usage.unreferenced),
        )?;
    }
    let mut table = Table::new(out, format, &["field", "part", "count", "bytes", "percent"])?;
    for part in &report.parts {
        let percent = part.bytes as f64 * 100.0 / report.total.max(1) as f64;
        table.row(vec![
            json!(part.field),
            json!(part.part),
            json!(part.count),
            json!(part.bytes),
            json!((percent * 10.0).round() / 10.0),
        ])?;
    }
    Ok(table.finish()?)
}
