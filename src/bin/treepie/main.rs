//! Command-line tool treepie, which uses only the public interface of the library. `args` parses the command line, and
//! each command has its own file under `commands`.
#![forbid(unsafe_code)]

mod args;
mod cells;
mod commands;
mod destination;
mod events;
mod failure;
mod input;
mod markdown;
mod output;
mod pager;
mod progress;
mod relevance;
mod slow;
/// Width of a terminal, and text that may go to it: the library's own file, which the library does not use.
#[path = "../../terminal.rs"]
mod terminal;
mod vacated;

use std::process::ExitCode;

use failure::{Exit, Failure};

fn main() -> ExitCode {
    let typed: Vec<_> = std::env::args_os().collect();
    let outcome = args::parse(&typed).and_then(|parsed| match parsed {
        args::Parsed::Help(text) => output::print_help(&text),
        args::Parsed::Command(cli) => commands::run(*cli),
    });
    let exit = match outcome {
        Ok(exit) => exit,
        // Whoever closed the pipe has read enough.
        Err(Failure::ClosedPipe) => Exit::Done,
        Err(Failure::Error(error)) => {
            failure::report(&error, None);
            Exit::Failed
        }
        Err(Failure::Damage(error)) => {
            failure::report_damage(&error);
            Exit::Failed
        }
        Err(Failure::InQuery { error, query }) => {
            failure::report(&error, Some(&query));
            Exit::Failed
        }
    };
    exit.into()
}
