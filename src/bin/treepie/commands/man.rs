//! `treepie man`: manual pages, one for all commands or one of each.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use clap_mangen::Man;
use treepie::Error;

use crate::{
    args,
    failure::{Exit, Outcome},
};

/// Print the manual page (troff), or write one of each command.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:
  treepie man | man -l -
  treepie man --to ~/.local/share/man/man1 && man treepie-search")]
pub(crate) struct Args {
    /// Write treepie.1 and a page of each command into a directory.
    ///
    /// Pages of these names that are there are replaced. Without it one page has all commands.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

pub(crate) fn run(args: Args) -> Outcome {
    match args.to {
        Some(directory) => {
            let failed = |error| Error::io("writing manual pages", error).in_file(&directory);
            fs::create_dir_all(&directory).map_err(failed)?;
            clap_mangen::generate_to(args::definition(), &directory).map_err(failed)?;
        }
        None => {
            let mut stdout = io::stdout().lock();
            stdout.write_all(&one_page()?)?;
            stdout.flush()?;
        }
    }
    Ok(Exit::Done)
}

/// All commands, which are sections of one page: it refers to no other.
fn one_page() -> io::Result<Vec<u8>> {
    let mut definition = args::definition();
    definition.build();
    let mut page = vec![];
    let man = Man::new(definition.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    man.render_extra_section(&mut page)?;
    for command in definition.get_subcommands() {
        add(command, "treepie", &mut page)?;
    }
    man.render_version_section(&mut page)?;
    Ok(page)
}

/// Adds a command, and those that it has.
fn add(command: &clap::Command, parent: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let name = format!("{parent} {}", command.get_name());
    let man = Man::new(command.clone().bin_name(name.clone()).display_name(name.clone()));
    writeln!(page, ".SH \"{}\"", name.to_uppercase())?;
    man.render_description_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_options_section(page)?;
    man.render_extra_section(page)?;
    command.get_subcommands().try_for_each(|command| add(command, &name, page))
}
