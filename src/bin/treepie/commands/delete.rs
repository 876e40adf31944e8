//! `treepie delete INDEX QUERY`: what matches goes.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    path::PathBuf,
};

use serde_json::json;
use treepie::{Error, ErrorKind};

use super::{DatesArgs, WaitArg, in_query, open_to_write, parse_query};
use crate::{
    args::Global,
    events::EventsArg,
    failure::{Exit, Outcome, warn},
    output::{Format, Output, grouped, plural},
};

/// Delete the documents that match a query.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "More: `treepie delete --help`, `treepie help query`.",
    after_long_help = "Examples:
  treepie delete shop.tp 'sku:\"A-100\"'
  treepie delete shop.tp 'discontinued -in_stock' --and --yes

Prints how many were deleted. It asks before; without a terminal to ask on, as in scripts, --yes is
needed. Whoever has the index open keeps seeing them until it reloads. Their room comes back as
segments are merged; `treepie merge` gives all of it back."
)]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// Documents to delete, in the query language.
    query: String,
    /// Require all words, not any of them.
    #[arg(help_heading = "Find")]
    #[arg(long)]
    and: bool,
    /// Do not ask; needed if there is no terminal.
    #[arg(long, short)]
    yes: bool,
    /// Print in this format.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    dates: DatesArgs,
    #[command(flatten)]
    wait: WaitArg,
    #[command(flatten)]
    events: EventsArg,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let events = args.events.begin("delete", &args.index)?;
    let index = open_to_write(&args.index, &events)?;
    let query = parse_query(&args.query, args.and, index.searcher()?.schema(), &args.dates)?;
    let mut out = Output::new(global.color);
    let count = || -> Outcome<(u64, u64)> {
        let searcher = index.searcher()?;
        let n_matching = searcher.count(&query).map_err(narrower);
        Ok((n_matching.map_err(in_query(&args.query))?, searcher.n_docs()))
    };
    let n_matching = count()?.0;
    // Whatever is found: else a script would work today and not tomorrow.
    let is_asked = is_asked(args.yes, io::stdin().is_terminal(), io::stderr().is_terminal())?;
    if n_matching == 0 {
        // Nothing to commit.
        return print(&mut out, args.format, 0);
    }
    let mut writer =
        index.writer_with(args.wait.options()).map_err(|error| args.wait.hint(error))?;
    // Counted anew: while there is no other writer this is what will be deleted.
    let (n_matching, n_docs) = count()?;
    if n_matching == 0 || is_asked && !is_confirmed(n_matching, n_docs)? {
        return print(&mut out, args.format, 0);
    }
    writer.delete(&query).map_err(narrower).map_err(in_query(&args.query))?;
    let commit = writer.commit()?;
    let merged = writer.maintain();
    let printed = print(&mut out, args.format, commit.deleted)?;
    if let Err(error) = merged {
        warn(format_args!("the documents are deleted, but merging segments failed: {error}"));
    }
    Ok(printed)
}

/// Gives a query that is too much a hint that this command has an option for.
fn narrower(error: Error) -> Error {
    match error.kind() {
        ErrorKind::LimitExceeded => {
            error.hint("several narrower queries take less, one after the other")
        }
        _ => error,
    }
}

/// Whether to ask before anything is deleted.
///
/// # Errors
///
/// Fails if nobody would see the question, or could answer it.
fn is_asked(yes: bool, has_input: bool, has_output: bool) -> Result<bool, Error> {
    let can_ask = has_input && has_output;
    if !yes && !can_ask {
        let what = if has_input { "standard error" } else { "standard input" };
        return Err(Error::new(ErrorKind::Usage, "asking before documents are deleted")
            .expected("a terminal")
            .found(format!("none at {what}"))
            .hint("--yes deletes without asking"));
    }
    Ok(!yes)
}

/// Asks on the terminal; anything but yes is no.
fn is_confirmed(n_matching: u64, n_docs: u64) -> io::Result<bool> {
    let all = if n_matching == n_docs { "all ".to_owned() } else { String::new() };
    eprint!("delete {all}{} of {}? [y/N] ", plural(n_matching, "document"), grouped(n_docs));
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes" | "YES"))
}

fn print(out: &mut Output, format: Format, deleted: u64) -> Outcome {
    match format {
        Format::Text => writeln!(out, "{deleted}")?,
        Format::Json | Format::Jsonl => out.json_line(&json!({ "deleted": deleted }))?,
        Format::Tsv | Format::Csv => writeln!(out, "deleted\n{deleted}")?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_cannot_see_the_question_is_refused() {
        let asked = |yes, input, output| is_asked(yes, input, output).ok();
        assert_eq!(asked(false, true, true), Some(true));
        for (input, output) in [(true, false), (false, true), (false, false)] {
            assert_eq!(asked(false, input, output), None, "a program does not answer");
            assert_eq!(asked(true, input, output), Some(false));
        }
        assert_eq!(asked(true, true, true), Some(false));
    }
}
