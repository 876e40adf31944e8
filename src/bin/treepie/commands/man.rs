//! `treepie man`: the manual page, one for all commands.

use std::io::{self, Write};

use clap_mangen::Man;

use crate::{
    args,
    failure::{Exit, Outcome},
};

/// Print the manual page (troff).
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  treepie man | man -l -")]
pub(crate) struct Args {}

pub(crate) fn run(_: Args) -> Outcome {
    let mut definition = args::definition();
    definition.build();
    let mut page = vec![];
    Man::new(definition.clone()).render(&mut page)?;
    for command in definition.get_subcommands() {
        let name = format!("treepie {}", command.get_name());
        let man = Man::new(command.clone().bin_name(name.clone()).display_name(name));
        writeln!(page, ".SH \"{}\"", command.get_name().to_uppercase())?;
        man.render_description_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
        if command.has_subcommands() {
            man.render_subcommands_section(&mut page)?;
        }
        man.render_extra_section(&mut page)?;
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(&page)?;
    stdout.flush()?;
    Ok(Exit::Done)
}
