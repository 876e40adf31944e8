//! One file a command: `Args` is what was typed, `run` does it.

pub mod analyze;
pub mod completions;
pub mod man;

use std::io::{self, Read};

use treepie::{Error, ErrorKind};

use crate::{
    args::{Cli, Command},
    failure::{Outcome, usage},
};

/// Does what the command line asks for.
pub fn run(cli: Cli) -> Outcome {
    let global = cli.global;
    match cli.command {
        Command::Analyze(args) => analyze::run(args, global),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }
}

/// The longest text taken from standard input in place of an argument.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// An argument, or all of standard input where it is `-`; without the line break at its end.
fn text_or_stdin(typed: &str, what: &str) -> Result<String, Error> {
    if typed != "-" {
        return Ok(typed.to_owned());
    }
    let mut bytes = vec![];
    io::stdin()
        .lock()
        .take(TEXT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::io(what, error).in_file("standard input"))?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(Error::new(ErrorKind::LimitExceeded, what)
            .expected(format!("at most {} MiB", TEXT_BYTES_MAX >> 20))
            .found("more")
            .in_file("standard input"));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        usage(what)
            .expected("UTF-8")
            .found("other bytes")
            .in_file("standard input")
            .at_offset(error.utf8_error().valid_up_to() as u64)
    })?;
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    Ok(text)
}
