//! `treepie export INDEX`: stored documents as JSON Lines, CSV or TSV. JSON Lines are the way across changes of the
//! format.

use std::{io::Write, path::PathBuf};

use clap::ValueEnum;
use serde_json::Value;
use treepie::{Field, Searcher};

use super::{columns::Columns, fields_to_json, is_state, open};
use crate::{
    args::Global,
    failure::{Exit, Outcome, usage, warn},
    output::{Format, Output, Table},
};

/// Print the stored documents, in formats that `index` reads.
///
/// Formats are JSON Lines, CSV and TSV.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Example:
  treepie export shop.tp > products.jsonl
  treepie inspect shop.tp schema > schema.toml
  treepie index new.tp products.jsonl --schema schema.toml

A schema so printed has in comments how inputs of the index are read, for an export is not written
in their way; the new index remembers nothing of it. To have it remembered, make an index of no
documents first:
  treepie inspect shop.tp schema --inputs > inputs.toml
  treepie index new.tp /dev/null --schema inputs.toml
  treepie index new.tp products.jsonl --schema schema.toml --append

Fields that are not stored cannot be printed; a remark on standard error names them.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// Print in this format.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, default_value_t)]
    format: ExportFormat,
}

/// Format of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// One JSON object a line.
    #[default]
    Jsonl,
    /// Comma-separated values under a header, several of a field in columns of one name.
    Csv,
    /// Tab-separated values, with tab, newline and backslash escaped with a backslash.
    Tsv,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let searcher = open(&args.index)?.searcher()?;
    let fields: Vec<&Field> = searcher.schema().fields().iter().collect();
    let unstored: Vec<&str> = fields
        .iter()
        .filter(|field| !field.stored && field.copy_of.is_none())
        .map(|field| &*field.name)
        .collect();
    if !unstored.is_empty() && !global.quiet {
        warn(format!("not stored and so not printed: {}", unstored.join(", ")));
    }
    let mut out = Output::new(global.color);
    match args.format {
        ExportFormat::Csv => print_rows(&mut out, Format::Csv, &searcher)?,
        ExportFormat::Tsv => print_rows(&mut out, Format::Tsv, &searcher)?,
        ExportFormat::Jsonl => {
            for doc in searcher.documents() {
                let stored = searcher.document(doc?)?;
                out.json_line(&fields_to_json(&fields, &stored).into())?;
            }
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// Reads all documents twice: how many values a field has at the most says how many columns there are.
fn print_rows(out: &mut Output, format: Format, searcher: &Searcher) -> Outcome<()> {
    let schema = searcher.schema();
    if schema.keeps_nulls() {
        return Err(usage("exporting rows")
            .expected("an index that does not keep which fields are null or empty")
            .found("one that does, and rows have no form for that")
            .hint("--format jsonl has one")
            .into());
    }
    let fields: Vec<_> =
        schema.fields().iter().filter(|field| field.stored && !is_state(field)).collect();
    if fields.is_empty() {
        return Ok(());
    }
    let mut columns = Columns::new(fields.iter().copied());
    for doc in searcher.documents() {
        columns.see(&searcher.document(doc?)?);
    }
    let mut names = columns.names();
    // A second column, without a name, so that no row is an empty line.
    let is_padded = columns.has_empty_rows() && format == Format::Csv;
    names.extend(is_padded.then(String::new));
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let mut table = Table::new(out, format, &names)?.of_documents();
    for doc in searcher.documents() {
        let stored = searcher.document(doc?)?;
        let mut cells = columns.cells(&fields_to_json(&fields, &stored));
        cells.extend(is_padded.then_some(Value::Null));
        table.row(cells)?;
    }
    table.finish()?;
    Ok(())
}
