//! `treepie plan estimates LOG`: how far the estimates of plans that were kept are off.

use std::path::PathBuf;

use treepie::{
    Error, ErrorKind,
    explain::{EstimateErrors, Recorded, SlowSearch},
};

use super::log::{self, READING, shown};
use crate::{
    args::Global,
    destination::DestinationArgs,
    failure::{Exit, Outcome, warn},
    output::{self, ReportFormat},
};

#[derive(Debug, clap::Args)]
#[command(after_long_help = "Example:
  treepie plan estimates slow.jsonl

The q-error of an operator is the greater of estimated and found documents by the smaller, each 1 at
least. Only what ran to its end has one. A node that found more than its upper bound or less than
its lower one counts as outside: that is a fault.")]
pub(super) struct Args {
    /// A log of slow searches, or plans as explain --analyze --format json prints them; - for standard input.
    log: PathBuf,
    /// Print in this format.
    ///
    /// The default is that of the ending of --output, .json or .txt; else text.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum)]
    format: Option<ReportFormat>,
    #[command(flatten)]
    destination: DestinationArgs,
}

pub(super) fn run(args: &Args, global: Global) -> Outcome {
    let destination = args.destination.check()?;
    let (mut errors, mut n_without) = (EstimateErrors::default(), 0);
    log::for_each(&args.log, global.quiet, |line| {
        match Recorded::from_json(line)? {
            Recorded::Plan(plan) | Recorded::SlowSearch(SlowSearch { plan: Some(plan), .. })
                if plan.plan.actual.is_some() =>
            {
                errors.add(&plan);
            }
            _ => n_without += 1,
        }
        Ok(())
    })?;
    if errors.n_plans() == 0 {
        return Err(Error::new(ErrorKind::NotFound, READING)
            .expected("plans that were run")
            .found(format!("only {} without", output::grouped(n_without)))
            .in_file(shown(&args.log))
            .hint("explain --analyze runs them")
            .into());
    }
    if n_without > 0 && !global.quiet {
        warn(format!("without a plan that was run: {}", output::grouped(n_without)));
    }
    let format = args.format.or_else(|| args.destination.format_by_name());
    let (text, extension) = match format.unwrap_or_default() {
        ReportFormat::Text => (errors.to_string(), "txt"),
        ReportFormat::Json => (errors.to_json() + "\n", "json"),
    };
    destination.write(&text, extension, global)?;
    Ok(Exit::Done)
}
