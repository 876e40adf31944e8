//! `treepie merge INDEX`: all segments become one.

use std::{path::PathBuf, time::Instant};

use treepie::WriterOptions;

use super::open_to_write;
use crate::{
    args::Global,
    events::EventsArg,
    failure::{Exit, Outcome, note},
    output::{duration, grouped, plural},
    progress::{Counters, ProgressLine},
};

/// Make one segment of all.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  treepie merge titles.tp

Searches go on meanwhile; whoever has the index open keeps the old segments until it reloads.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    #[command(flatten)]
    events: EventsArg,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let start = Instant::now();
    let events = args.events.begin("merge", &args.index)?;
    let index = open_to_write(&args.index, &events)?;
    let n_before = index.inspect()?.segments().len();
    let counters = Counters::default();
    let progress = ProgressLine::start(global.quiet, None, &counters);
    let stage = counters.clone();
    let options = WriterOptions::new().on_progress(move |progress| stage.set_stage(progress));
    let merged = index.writer_with(options)?.merge()?;
    drop(progress);
    if !global.quiet {
        note(format!(
            "{} before, {} now, {} documents, in {}",
            plural(n_before, "segment"),
            merged.segments,
            grouped(merged.documents),
            duration(start.elapsed())
        ));
    }
    Ok(Exit::Done)
}
