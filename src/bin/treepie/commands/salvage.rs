//! `treepie salvage INDEX OUT`: what can be read of a damaged index, as a new one.

use std::{io::Write, path::PathBuf};

use serde_json::json;
use treepie::{Index, Salvage, SegmentOutcome};

use super::recover::print_damaged;
use crate::{
    args::Global,
    failure::{Exit, Outcome},
    output::{Format, Output, Table, grouped, plural},
    terminal,
};

/// Rebuild what can be read of a damaged index as a new one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  treepie salvage titles.tp saved.tp

The damaged index is only read. Lists on standard output what is lost and ends with 0, also where
documents are lost; with 2 where nothing could be saved.")]
pub(crate) struct Args {
    /// The damaged index.
    index: PathBuf,
    /// The new one, which must not exist.
    out: PathBuf,
    /// How to print what is lost.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let salvage = Index::salvage(&args.index, &args.out)?;
    let mut out = Output::new(global.color);
    match args.format {
        Format::Text => print_text(&mut out, &salvage)?,
        format => print_rows(&mut out, format, &salvage)?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn print_text(out: &mut Output, salvage: &Salvage) -> Outcome<()> {
    for commit in &salvage.unreadable {
        print_damaged(out, commit)?;
    }
    for name in &salvage.unnamed {
        let name = terminal::printable(name);
        writeln!(out, "{name}: no commit that can be read names it, so it is left out")?;
    }
    for segment in &salvage.segments {
        let (id, documents) = (&segment.id, grouped(segment.documents));
        match &segment.outcome {
            SegmentOutcome::Copied => continue,
            SegmentOutcome::Rebuilt { fields_lost } => {
                writeln!(
                    out,
                    "segment {id} is damaged: {documents} documents, rebuilt from stored values"
                )?;
                if !fields_lost.is_empty() {
                    writeln!(
                        out,
                        "  lost with all values, not being stored: {}",
                        fields_lost.join(", ")
                    )?;
                }
            }
            SegmentOutcome::Undeleted => writeln!(
                out,
                "segment {id}: {documents} documents, and those that were deleted are back: what says which is damaged"
            )?,
            _ => writeln!(out, "segment {id} is lost: {documents} documents")?,
        }
        for range in &segment.lost {
            match range.end - range.start {
                1 => writeln!(out, "  lost: document {}", range.start)?,
                _ => writeln!(out, "  lost: documents {} to {}", range.start, range.end - 1)?,
            }
        }
        for error in &segment.damage {
            writeln!(out, "  {error}")?;
        }
    }
    writeln!(
        out,
        "saved {} documents of commit {} in {}; lost {}",
        grouped(salvage.documents),
        salvage.generation,
        plural(salvage.segments.len(), "segment"),
        grouped(salvage.lost)
    )?;
    Ok(())
}

fn print_rows(out: &mut Output, format: Format, salvage: &Salvage) -> Outcome<()> {
    let names = ["segment", "outcome", "documents", "lost", "fields_lost", "message"];
    let mut table = Table::new(out, format, &names)?;
    for segment in &salvage.segments {
        let lost: u64 = segment.lost.iter().map(|range| range.end - range.start).sum();
        let (outcome, fields_lost) = match &segment.outcome {
            SegmentOutcome::Copied => ("copied", vec![]),
            SegmentOutcome::Rebuilt { fields_lost } => ("rebuilt", fields_lost.clone()),
            SegmentOutcome::Undeleted => ("undeleted", vec![]),
            _ => ("lost", vec![]),
        };
        table.row(vec![
            json!(segment.id),
            json!(outcome),
            json!(segment.documents),
            json!(lost),
            json!(fields_lost.join(", ")),
            json!(segment.damage.first().map(ToString::to_string)),
        ])?;
    }
    Ok(table.finish()?)
}
