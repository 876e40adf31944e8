//! `treepie merge INDEX`: merges all segments into one, or a few. Documents of other indexes come along.

use std::{path::PathBuf, time::Instant};

use super::{ResourceArgs, WaitArg, open_to_write};
use crate::{
    args::Global,
    events::EventsArg,
    failure::{Exit, Outcome, note},
    output::{duration, plural},
    progress::{Counters, ProgressLine},
};

/// Make one segment of all, and of other indexes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Example:
  treepie merge titles.tp
  treepie merge titles.tp --segments 4
  treepie merge titles.tp more.tp others.tp    adds all of theirs, which must have the same schema
  treepie merge titles.tp --reorder            similar documents near each other: smaller and faster

Searches go on meanwhile; whoever has the index open keeps the old segments until it reloads.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// Indexes of the same schema whose documents are added first; they stay as they are.
    others: Vec<PathBuf>,
    /// Leave at most N segments.
    ///
    /// Segments with the fewest documents become one.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    segments: u32,
    /// Put documents of like words near each other.
    ///
    /// By the fields that the schema says, or else all of text. Lists become smaller and searches faster; hits of the same score come
    /// in that order. Not where the schema has an order of fields.
    #[arg(long, conflicts_with = "segments")]
    reorder: bool,
    #[command(flatten)]
    resources: ResourceArgs,
    #[command(flatten)]
    wait: WaitArg,
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
    let options = args.resources.apply(args.wait.options());
    let options = options.on_progress(move |progress| stage.set_stage(progress));
    let mut writer = index.writer_with(options).map_err(|error| args.wait.hint(error))?;
    let here = args.index.canonicalize().ok();
    for other in &args.others {
        // By whatever name.
        if here.is_some() && other.canonicalize().ok() == here {
            return Err(treepie::Error::new(treepie::ErrorKind::Usage, "merging indexes")
                .expected("others than the one that they are merged into")
                .found("the same, of which every document would be there twice")
                .in_file(other)
                .into());
        }
        writer.add_index(&super::open(other)?.searcher()?).map_err(|error| error.in_file(other))?;
    }
    let merged = match args.reorder {
        true => writer.reorder()?,
        false => writer.merge_to(args.segments as usize)?,
    };
    drop(progress);
    if !global.quiet {
        note(format!(
            "{} before, {} now, {}, in {}",
            plural(n_before, "segment"),
            merged.segments,
            plural(merged.documents, "document"),
            duration(start.elapsed())
        ));
    }
    Ok(Exit::Done)
}
