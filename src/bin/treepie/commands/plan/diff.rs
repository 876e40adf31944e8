//! `treepie plan diff A B`: what differs between two plans.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use treepie::{
    Error, ErrorKind,
    explain::{ExplainTree, HtmlPages, PlanDiff, Recorded, SlowSearch, TextOptions},
};

use super::log::{self, READING, is_stdin, shown};
use crate::{
    args::Global,
    destination::DestinationArgs,
    failure::{Exit, Outcome, usage},
    output::{self, Color},
};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The plan before: as explain --format json prints it, or a line of a log of slow searches; - for standard input.
    before: PathBuf,
    /// The plan after.
    after: PathBuf,
    /// Print in this format.
    ///
    /// The default is that of the ending of --output, .html, .json or .txt; else text, with --open html.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum)]
    format: Option<DiffFormat>,
    /// Draw with ASCII characters only.
    #[arg(help_heading = "Show")]
    #[arg(long)]
    ascii: bool,
    #[command(flatten)]
    destination: DestinationArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
    /// Both plans beside each other, for a browser.
    Html,
}

impl Args {
    fn format(&self) -> DiffFormat {
        let default = if self.destination.open { DiffFormat::Html } else { DiffFormat::Text };
        self.format.or_else(|| self.destination.format_by_name()).unwrap_or(default)
    }
}

/// The plan of a file, which is that or one line of a log.
fn read_one(path: &Path) -> Result<ExplainTree, Error> {
    match log::read_one(path, Recorded::from_json)? {
        Recorded::Plan(plan) => Ok(plan),
        Recorded::SlowSearch(SlowSearch { plan: Some(plan), .. }) => Ok(plan),
        _ => Err(Error::new(ErrorKind::NotFound, READING)
            .expected("a search with its plan")
            .found("one that there was no time to explain")
            .in_file(shown(path))),
    }
}

pub(super) fn run(args: &Args, global: Global) -> Outcome {
    let format = args.format();
    if args.ascii && format != DiffFormat::Text {
        return Err(usage("--ascii is about --format text").into());
    }
    if is_stdin(&args.before) && is_stdin(&args.after) {
        return Err(usage("only one of two plans can come from standard input").into());
    }
    let destination = args.destination.check()?;
    let (before, after) = (read_one(&args.before)?, read_one(&args.after)?);
    let diff = PlanDiff::new(&before, &after);
    let (text, extension) = match format {
        DiffFormat::Text => {
            let color = match destination.is_standard_output() {
                true => global.color.on(),
                false => global.color == Color::Always,
            };
            let options = TextOptions::default().width(output::width());
            (diff.to_text(&options.ascii(args.ascii).color(color)), "txt")
        }
        DiffFormat::Json => (diff.to_json() + "\n", "json"),
        DiffFormat::Html => {
            let mut pages = HtmlPages::new();
            let title = match before.query == after.query {
                true => before.query.clone(),
                false => format!("{} → {}", before.query, after.query),
            };
            pages.add_diff(&title, &before, &after);
            (pages.to_html(), "html")
        }
    };
    destination.write(&text, extension, global)?;
    Ok(if diff.is_same() { Exit::Done } else { Exit::Different })
}
