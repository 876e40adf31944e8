//! `treepie upgrade INDEX`: whether an index is of the newest format, and what to do if not.
//!
//! This version reads one format. So there are no older segments that could be written anew: an index that opens is of
//! that format, and one of another says why it does not open. Terms may have been made by older analyzers all the same.

use std::{io::Write, path::PathBuf};

use serde_json::json;
use treepie::format::FORMAT_VERSION;

use super::open;
use crate::{
    args::Global,
    failure::{Exit, Outcome},
    output::{Output, ReportFormat},
};

/// Say whether an index is of the newest format.
///
/// If it is not, also what to do.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Example:
  treepie upgrade titles.tp

An index of an older format is refused, with what to do: `treepie export` of the version that wrote
it prints the documents, and `treepie index` makes an index of the newest format of them. An index
whose terms were made by older analyzers works on; it says what is better in a new one.

Exit status: 0 nothing to do, 1 a new index would be better, 2 another format, or an error.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// Print in this format.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    // Segments too: each has its version.
    let index = open(&args.index)?;
    let differences = index.inspect()?.term_versions().differences();
    let version = format!("{}.{}", FORMAT_VERSION.0, FORMAT_VERSION.1);
    let mut out = Output::new(global.color);
    match args.format {
        ReportFormat::Json => {
            out.json_line(&json!({ "format_version": version, "differences": differences }))?;
        }
        ReportFormat::Text if differences.is_empty() => {
            writeln!(out, "format {version}, the newest: nothing to do")?;
        }
        ReportFormat::Text => {
            writeln!(out, "format {version}, the newest; the terms are of other versions:")?;
            differences.iter().try_for_each(|difference| writeln!(out, "  {difference}"))?;
            writeln!(out, "{REBUILD}")?;
        }
    }
    out.flush()?;
    Ok(if differences.is_empty() { Exit::Done } else { Exit::Different })
}

/// Ways to make terms anew.
const REBUILD: &str = "\
To make them anew, from the input or, if all fields are stored, from the index itself:
  treepie inspect INDEX schema > schema.toml
  treepie export INDEX > documents.jsonl
  treepie index NEW documents.jsonl --schema schema.toml";
