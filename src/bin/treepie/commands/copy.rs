//! `treepie copy INDEX TO`: the newest commit as an index of its own.

use std::path::PathBuf;

use super::open;
use crate::{
    args::Global,
    failure::{Exit, Outcome, note},
};

/// Copy an index as it is now, while others use it.
///
/// They may write to it and search it meanwhile.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Example:
  treepie copy titles.tp backup.tp

On the same file system the files are linked, which takes no time and no room; elsewhere they are
copied. A linked copy shares its bytes with the index: for a backup, copy to another disk.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// The copy, which must not exist.
    to: PathBuf,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let index = open(&args.index)?;
    let generation = index.copy_to(&args.to)?;
    if !global.quiet {
        note(format!("commit {generation} is in {}", args.to.display()));
    }
    Ok(Exit::Done)
}
