//! `treepie completions SHELL`: a completion script.

use std::io::{self, Write};

use clap_complete::Shell;

use crate::{
    args,
    failure::{Exit, Outcome},
};

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Example:
  treepie completions bash > ~/.local/share/bash-completion/completions/treepie")]
pub(crate) struct Args {
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: Args) -> Outcome {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut args::definition(), "treepie", &mut script);
    let mut stdout = io::stdout().lock();
    stdout.write_all(&script)?;
    stdout.flush()?;
    Ok(Exit::Done)
}
