//! `treepie plan view LOG | estimates LOG | diff A B | schema`: kept plans.

mod diff;
mod estimates;
mod log;
mod view;

use std::io::Write;

use clap::Subcommand;
use treepie::explain::JSON_SCHEMA;
use treepie::search::REQUEST_JSON_SCHEMA;

use crate::{
    args::Global,
    failure::{Exit, Outcome},
};

/// Look at plans that were kept: the worst of a log, or two compared.
///
/// Also how far the estimates of a log were off.
#[derive(Debug, clap::Args)]
#[command(
    subcommand_value_name = "WHAT",
    subcommand_help_heading = "What",
    after_long_help = "Examples:
  treepie search titles.tp 'a*' --slow-ms 50 --log slow.jsonl
  treepie plan view slow.jsonl
  treepie plan view slow.jsonl --limit 20 -o worst.html
  treepie plan view --open                  a page that takes any plan, also of Postgres
  treepie plan estimates slow.jsonl
  treepie explain titles.tp 'a*' --analyze --format json -o before.json
  treepie plan diff before.json after.json --open"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show the worst searches of a log, or a page that takes any plan.
    View(view::Args),
    /// Show how far the estimates of a log's plans were off, by operator.
    Estimates(estimates::Args),
    /// Compare two plans. Exit status: 0 the same, 1 different, 2 error.
    Diff(diff::Args),
    /// The JSON Schema of plans, or of requests.
    Schema {
        /// Print that of requests, which `search --request` reads.
        #[arg(long)]
        request: bool,
    },
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    match args.what {
        What::View(args) => view::run(&args, global),
        What::Estimates(args) => estimates::run(&args, global),
        What::Diff(args) => diff::run(&args, global),
        What::Schema { request } => {
            let mut out = global.output();
            let schema = if request { REQUEST_JSON_SCHEMA } else { JSON_SCHEMA };
            out.write_all(schema.as_bytes())?;
            out.flush()?;
            Ok(Exit::Done)
        }
    }
}
