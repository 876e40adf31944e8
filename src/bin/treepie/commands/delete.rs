//! `treepie delete INDEX QUERY`: what matches goes.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    path::PathBuf,
};

use serde_json::json;
use treepie::{Error, ErrorKind};

use super::{DatesArgs, in_query, open_to_write, parse_query};
use crate::{
    args::Global,
    events::EventsArg,
    failure::{Exit, Outcome, warn},
    output::{Format, Output, grouped, plural},
};

/// Delete the documents that match a query.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  treepie delete shop.tp 'sku:\"A-100\"'
  treepie delete shop.tp 'discontinued -in_stock' --and --yes

Prints how many were deleted. On a terminal it asks before; --yes answers. Whoever has the index open keeps seeing
them until it reloads. Their room comes back as segments are merged; `treepie merge` gives all of it back.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// What to delete, in the query language.
    query: String,
    /// All words must match, not any of them.
    #[arg(long)]
    and: bool,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// How to print how many.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    dates: DatesArgs,
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
        Ok((searcher.count(&query).map_err(in_query(&args.query))?, searcher.n_docs()))
    };
    if count()?.0 == 0 {
        // Nothing to commit.
        return print(&mut out, args.format, 0);
    }
    let is_asked = is_asked(args.yes, io::stdin().is_terminal(), io::stderr().is_terminal())?;
    let mut writer = index.writer()?;
    // Counted anew: while there is no other writer this is what will be deleted.
    let (n_matching, n_docs) = count()?;
    if n_matching == 0 || is_asked && !is_confirmed(n_matching, n_docs)? {
        return print(&mut out, args.format, 0);
    }
    writer.delete(&query).map_err(in_query(&args.query))?;
    let commit = writer.commit()?;
    let merged = writer.maintain();
    let printed = print(&mut out, args.format, commit.deleted)?;
    if let Err(error) = merged {
        warn(format_args!("the documents are deleted, but merging segments failed: {error}"));
    }
    Ok(printed)
}

/// Whether to ask before anything is deleted.
///
/// # Errors
///
/// Where somebody sits there who would not see the question.
fn is_asked(yes: bool, has_input: bool, has_output: bool) -> Result<bool, Error> {
    if !yes && has_input && !has_output {
        return Err(Error::new(ErrorKind::Usage, "asking before documents are deleted")
            .expected("standard error to be a terminal")
            .found("that it is not")
            .hint("--yes deletes without asking"));
    }
    Ok(!yes && has_input)
}

/// Asks on the terminal; anything but yes is no.
fn is_confirmed(n_matching: u64, n_docs: u64) -> io::Result<bool> {
    let all = if n_matching == n_docs { "all ".to_owned() } else { String::new() };
    eprint!("delete {all}{} of {}? [y/N] ", plural_of(n_matching), grouped(n_docs));
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes" | "YES"))
}

fn plural_of(n: u64) -> String {
    match n {
        1 => plural(1, "document"),
        n => format!("{} documents", grouped(n)),
    }
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
        assert_eq!(asked(false, true, false), None);
        // A program, or somebody who has answered.
        assert_eq!(
            (asked(false, false, true), asked(false, false, false)),
            (Some(false), Some(false))
        );
        assert_eq!((asked(true, true, true), asked(true, true, false)), (Some(false), Some(false)));
    }
}
