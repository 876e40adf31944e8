//! `treepie export INDEX`: stored documents as JSON Lines, the way across changes of the format.

use std::{io::Write, path::PathBuf};

use treepie::Field;

use super::{fields_to_json, open};
use crate::{
    args::Global,
    failure::{Exit, Outcome, warn},
    output::Output,
};

/// Print the stored documents as JSON Lines.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  treepie export shop.tp > products.jsonl
  treepie inspect shop.tp schema > schema.toml
  treepie index new.tp products.jsonl --schema schema.toml

Fields that are not stored cannot be printed; a remark on standard error names them.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let searcher = open(&args.index)?.searcher()?;
    let fields: Vec<&Field> = searcher.schema().fields().iter().collect();
    let unstored: Vec<&str> =
        fields.iter().filter(|field| !field.stored).map(|field| &*field.name).collect();
    if !unstored.is_empty() && !global.quiet {
        warn(format!("not stored and so not printed: {}", unstored.join(", ")));
    }
    let mut out = Output::new(global.color);
    for doc in searcher.documents() {
        let stored = searcher.document(doc?)?;
        out.json_line(&fields_to_json(&fields, &stored).into())?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
