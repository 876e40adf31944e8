//! `treepie recover INDEX`: back to the last whole commit.

use std::{io::Write, path::PathBuf};

use serde_json::{Value, json};
use treepie::Index;
use treepie::writer::{DamagedCommit, Recovery};

use super::verify::print_unreferenced;
use crate::{
    args::Global,
    failure::{Exit, Outcome},
    output::{Format, Output, Table, plural},
    terminal,
};

/// Go back to the last whole commit, if the newest is damaged.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:
  treepie recover titles.tp --dry-run
  treepie recover titles.tp

What the damaged commits consisted of is set aside under names that begin with damaged-, not
deleted. `treepie salvage` saves more, and is to be used before. Ends with 0 also where a commit is
lost: --format json says \"nothing_lost\": false then.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// Say what would be done, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print in this format.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let options = Index::options();
    let recovery = match args.dry_run {
        true => options.examine(&args.index)?,
        false => options.recover(&args.index)?,
    };
    let mut out = Output::new(global.color);
    match args.format {
        Format::Text => {
            print_text(&mut out, &recovery, args.dry_run)?;
            if recovery.nothing_lost() {
                print_unreferenced(&mut out, &args.index)?;
            }
        }
        Format::Json | Format::Jsonl => out.json_line(&to_json(&recovery))?,
        format => print_rows(&mut out, format, &recovery)?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn print_text(out: &mut Output, recovery: &Recovery, dry_run: bool) -> Outcome<()> {
    for commit in &recovery.damaged {
        print_damaged(out, commit)?;
    }
    let (whole, documents) = (recovery.whole, plural(recovery.documents, "document"));
    if recovery.nothing_lost() {
        writeln!(out, "commit {whole}, the newest, is whole: {documents}, nothing is lost")?;
    } else if dry_run {
        writeln!(out, "would go back to commit {whole}: {documents}")?;
    }
    if let Some(published) = recovery.published {
        writeln!(out, "went back to commit {whole}, which is commit {published} now: {documents}")?;
    }
    for name in &recovery.set_aside {
        writeln!(out, "set aside: {}", terminal::printable(name))?;
    }
    Ok(())
}

/// One commit and what is wrong with it.
pub(super) fn print_damaged(out: &mut Output, commit: &DamagedCommit) -> Outcome<()> {
    let documents = match commit.documents {
        Some(documents) => plural(documents, "document"),
        None => "nobody knows how many documents".to_owned(),
    };
    writeln!(out, "commit {} is damaged: {documents}", commit.generation)?;
    for error in &commit.damage {
        writeln!(out, "  {error}")?;
    }
    let more = commit.n_damaged - commit.damage.len() as u64;
    if more > 0 {
        writeln!(out, "  and {} more", plural(more, "place"))?;
    }
    Ok(())
}

fn to_json(recovery: &Recovery) -> Value {
    json!({
        "nothing_lost": recovery.nothing_lost(),
        "whole": recovery.whole,
        "documents": recovery.documents,
        "published": recovery.published,
        "damaged": recovery.damaged.iter().map(commit_to_json).collect::<Vec<_>>(),
        "set_aside": recovery.set_aside,
    })
}

/// One commit and what is wrong with it.
pub(super) fn commit_to_json(commit: &DamagedCommit) -> Value {
    json!({
        "commit": commit.generation,
        "documents": commit.documents,
        "damaged": commit.n_damaged,
        "messages": commit.damage.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn print_rows(out: &mut Output, format: Format, recovery: &Recovery) -> Outcome<()> {
    let names = ["commit", "state", "documents", "damaged", "message"];
    let mut table = Table::new(out, format, &names)?;
    for commit in &recovery.damaged {
        table.row(vec![
            json!(commit.generation),
            json!("damaged"),
            json!(commit.documents),
            json!(commit.n_damaged),
            json!(commit.damage.first().map(ToString::to_string)),
        ])?;
    }
    let documents = json!(recovery.documents);
    let mut sound = |commit: u64, state: &str| {
        table.row(vec![json!(commit), json!(state), documents.clone(), json!(0), json!(null)])
    };
    sound(recovery.whole, "whole")?;
    recovery.published.map_or(Ok(()), |commit| sound(commit, "published"))?;
    for name in &recovery.set_aside {
        table.row(vec![json!(null), json!("set aside"), json!(null), json!(null), json!(name)])?;
    }
    Ok(table.finish()?)
}
