//! `treepie salvage INDEX OUT`: makes a new index of a damaged one's readable parts.

use std::{io::Write, path::PathBuf};

use serde_json::{Value, json};
use treepie::Index;
use treepie::writer::{Salvage, SalvagedSegment, SegmentOutcome};

use super::recover::{commit_to_json, print_damaged};
use crate::{
    args::Global,
    failure::{Exit, Outcome},
    output::{Format, Output, Table, grouped, plural},
    terminal,
};

/// Rebuild what can be read of a damaged index as a new one.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Example:
  treepie salvage titles.tp saved.tp

The damaged index is only read. Lists on standard output what is lost and ends with 0, also where
documents are lost: --format json says \"nothing_lost\": false then. Where a newer commit is lost, or
there are segments that no commit names, nobody knows how many documents are: \"lost\" is null, and
\"lost_of_commit\" is about the commit that was saved. Ends with 2 where nothing could be saved.")]
pub(crate) struct Args {
    /// The damaged index.
    index: PathBuf,
    /// The new one, which must not exist.
    out: PathBuf,
    /// Print in this format.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let salvage = Index::salvage(&args.index, &args.out)?;
    let mut out = Output::new(global.color);
    match args.format {
        Format::Text => print_text(&mut out, &salvage)?,
        Format::Json | Format::Jsonl => out.json_line(&to_json(&salvage))?,
        format => print_rows(&mut out, format, &salvage)?,
    }
    out.flush()?;
    Ok(if salvage.nothing_saved() { Exit::Failed } else { Exit::Done })
}

fn print_text(out: &mut Output, salvage: &Salvage) -> Outcome<()> {
    for commit in &salvage.unreadable {
        print_damaged(out, commit)?;
    }
    for name in &salvage.unnamed {
        let name = terminal::printable(name);
        writeln!(out, "{name}: no commit that can be read names it, so it is left out")?;
    }
    if salvage.unreadable.is_empty() && !salvage.unnamed.is_empty() {
        writeln!(out, "  left by a build that was stopped, or of a commit whose manifest is gone")?;
    }
    for segment in &salvage.segments {
        let (id, documents) = (&segment.id, plural(segment.documents, "document"));
        match &segment.outcome {
            SegmentOutcome::Copied if segment.revived == 0 => continue,
            SegmentOutcome::Copied => writeln!(out, "segment {id}: {documents}")?,
            SegmentOutcome::Rebuilt { fields_lost } => {
                writeln!(out, "segment {id} is damaged: {documents}, rebuilt from stored values")?;
                if !fields_lost.is_empty() {
                    writeln!(
                        out,
                        "  lost with all values, not being stored: {}",
                        fields_lost.join(", ")
                    )?;
                }
            }
            _ => writeln!(out, "segment {id} is lost: {documents}")?,
        }
        if segment.revived > 0 {
            let back = grouped(segment.revived);
            writeln!(out, "  what says which were deleted is damaged: up to {back} are back")?;
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
    if salvage.nothing_saved() {
        writeln!(out, "nothing could be saved")?;
    }
    let is_saved = |segment: &&SalvagedSegment| !matches!(segment.outcome, SegmentOutcome::Lost);
    let (n, n_saved) = (salvage.segments.len(), salvage.segments.iter().filter(is_saved).count());
    let segments = match n - n_saved {
        0 => plural(n, "segment"),
        _ => format!("{n_saved} of {}", plural(n, "segment")),
    };
    writeln!(
        out,
        "saved {} of commit {} in {segments}; {}",
        plural(salvage.documents, "document"),
        salvage.generation,
        what_is_lost(salvage)
    )?;
    Ok(())
}

/// Documents that are lost, and whole commits, whose documents nobody can count.
fn what_is_lost(salvage: &Salvage) -> String {
    let lost = grouped(salvage.lost);
    match (lost_commits(salvage), salvage.lost) {
        (None, _) => match left_out(salvage) {
            Some(left_out) => format!("lost {lost} of that commit; {left_out}"),
            None => format!("lost {lost}"),
        },
        (Some(commits), 0) => commits,
        (Some(commits), _) => format!("lost {lost} of that commit; {commits}"),
    }
}

/// Newer commits that cannot be read, with what may be theirs.
fn lost_commits(salvage: &Salvage) -> Option<String> {
    let numbers = salvage.unreadable.iter().rev().map(|commit| commit.generation.to_string());
    let lost = match &numbers.collect::<Vec<_>>()[..] {
        [] => return None,
        [number] => format!("commit {number} is lost with what it added"),
        numbers => format!("commits {} are lost with what they added", numbers.join(", ")),
    };
    Some(match left_out(salvage) {
        None => lost,
        Some(left_out) => format!("{lost}: {left_out}"),
    })
}

/// Segments that no commit names, with how many documents they have.
fn left_out(salvage: &Salvage) -> Option<String> {
    let documents = match salvage.unnamed_documents {
        Some(documents) => plural(documents, "document"),
        None => "an unknown number of documents".to_owned(),
    };
    match salvage.unnamed.len() {
        0 => None,
        1 => Some(format!("1 segment of {documents} was left out")),
        n => Some(format!("{} of {documents} were left out", plural(n, "segment"))),
    }
}

/// Documents that are lost in all, if anybody knows.
fn n_lost_in_all(salvage: &Salvage) -> Option<u64> {
    (salvage.unreadable.is_empty() && salvage.unnamed.is_empty()).then_some(salvage.lost)
}

/// Outcome of a segment, and the fields that it lost.
fn outcome_of(segment: &SalvagedSegment) -> (&'static str, &[String]) {
    match &segment.outcome {
        SegmentOutcome::Copied => ("copied", &[]),
        SegmentOutcome::Rebuilt { fields_lost } => ("rebuilt", fields_lost),
        _ => ("lost", &[]),
    }
}

fn n_lost(segment: &SalvagedSegment) -> u64 {
    segment.lost.iter().map(|range| range.end - range.start).sum()
}

fn to_json(salvage: &Salvage) -> Value {
    let segment = |segment: &SalvagedSegment| {
        let (outcome, fields_lost) = outcome_of(segment);
        let ranges = segment.lost.iter().map(|range| json!([range.start, range.end]));
        json!({
            "segment": segment.id,
            "outcome": outcome,
            "documents": segment.documents,
            "lost": n_lost(segment),
            "lost_ranges": ranges.collect::<Vec<_>>(),
            "revived": segment.revived,
            "fields_lost": fields_lost,
            "messages": segment.damage.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    };
    json!({
        "nothing_lost": salvage.nothing_lost(),
        "commit": salvage.generation,
        "documents": salvage.documents,
        "lost": n_lost_in_all(salvage),
        "lost_of_commit": salvage.lost,
        "revived": salvage.revived,
        "unreadable": salvage.unreadable.iter().map(commit_to_json).collect::<Vec<_>>(),
        "unnamed": salvage.unnamed,
        "unnamed_documents": salvage.unnamed_documents,
        "segments": salvage.segments.iter().map(segment).collect::<Vec<_>>(),
    })
}

/// A row for all of it, and one for each thing that it consists of or lacks.
fn print_rows(out: &mut Output, format: Format, salvage: &Salvage) -> Outcome<()> {
    let names =
        ["what", "name", "outcome", "documents", "lost", "revived", "fields_lost", "message"];
    let mut table = Table::new(out, format, &names)?;
    let none = || json!(null);
    let outcome = if salvage.nothing_lost() { "whole" } else { "damaged" };
    let (documents, lost, revived) = (salvage.documents, n_lost_in_all(salvage), salvage.revived);
    let mut cells = vec![json!("salvaged"), json!(salvage.generation), json!(outcome)];
    cells.extend([json!(documents), json!(lost), json!(revived), none(), none()]);
    table.row(cells)?;
    for segment in &salvage.segments {
        let (outcome, fields_lost) = outcome_of(segment);
        let mut cells = vec![json!("segment"), json!(segment.id), json!(outcome)];
        cells.extend([json!(segment.documents), json!(n_lost(segment)), json!(segment.revived)]);
        cells.push(json!(fields_lost.join(", ")));
        cells.push(json!(segment.damage.first().map(ToString::to_string)));
        table.row(cells)?;
    }
    for commit in &salvage.unreadable {
        let mut cells = vec![json!("commit"), json!(commit.generation), json!("lost")];
        cells.extend([json!(commit.documents), none(), none(), none()]);
        cells.push(json!(commit.damage.first().map(ToString::to_string)));
        table.row(cells)?;
    }
    for name in &salvage.unnamed {
        let mut cells = vec![json!("file"), json!(name), json!("left out")];
        cells.extend([none(), none(), none(), none(), none()]);
        table.row(cells)?;
    }
    Ok(table.finish()?)
}
