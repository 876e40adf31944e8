//! `treepie schema infer INPUT`: possible fields of an input, as a schema file. `treepie schema add INDEX FILE`: fields
//! for an index that there is.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::Subcommand;
use treepie::{Error, ErrorKind};

use super::{WaitArg, open_to_write};
use crate::{
    args::Global,
    events::EventsArg,
    failure::{Exit, Outcome, note},
    input::{
        Input, Source, encoding::Encodings, null_words::NullWords, options::ReadingArgs,
        schema_file, settings::InputSettings,
    },
    output::{Output, plural},
    progress::Counters,
};

/// Make a schema file, or add fields to an index.
#[derive(Debug, clap::Args)]
#[command(
    subcommand_value_name = "WHAT",
    subcommand_help_heading = "What",
    after_long_help = "Examples:
  treepie schema infer products.jsonl > schema.toml
  treepie index shop.tp products.jsonl --schema schema.toml
  treepie schema add shop.tp more-fields.toml"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print what the fields may be, judged by the first documents.
    ///
    /// To look at, and to change.
    Infer {
        /// A file, or - for standard input, which is also read if no file is named.
        input: Option<PathBuf>,
        #[command(flatten)]
        reading: ReadingArgs,
    },
    /// Add fields to an index, by one commit.
    ///
    /// Documents that are there have none of them, those that are added may. No document is read or written. A field stays as it was made: none is changed and none removed.
    Add {
        /// The index.
        index: PathBuf,
        /// A schema file that has the new fields and nothing else.
        file: PathBuf,
        #[command(flatten)]
        wait: WaitArg,
        #[command(flatten)]
        events: EventsArg,
    },
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    match args.what {
        What::Infer { input, reading } => print_inferred(input, &reading, global),
        What::Add { index, file, wait, events } => add(&index, &file, wait, &events, global),
    }
}

fn add(path: &Path, file: &Path, wait: WaitArg, events: &EventsArg, global: Global) -> Outcome {
    let fields = schema_file::read_fields(file)?;
    let names = fields.iter().map(|field| &*field.name).collect::<Vec<_>>().join(", ");
    let events = events.begin("schema add", path)?;
    let mut index = open_to_write(path, &events)?;
    let added = index
        .add_fields_with(fields, wait.options())
        .map_err(|error| wait.hint(error))
        .map_err(|error| match error.file() {
            Some(_) => error,
            // An error of the fields, and not of the index.
            None if error.kind() == ErrorKind::Schema => error.in_file(file),
            None => error.in_file(path),
        })?;
    if !global.quiet {
        note(format!(
            "added {names} in commit {}, which makes {}",
            added.generation,
            plural(index.schema().fields().len(), "field")
        ));
    }
    Ok(Exit::Done)
}

fn print_inferred(input: Option<PathBuf>, reading: &ReadingArgs, global: Global) -> Outcome {
    let counters = Counters::default();
    let mut out = Output::new(global.color);
    let typed: Vec<PathBuf> = input.into_iter().collect();
    let settings = reading.settings(InputSettings::default())?;
    let encodings = Encodings { asked: settings.encoding, lossy: true };
    for source in Source::find_all(&typed)? {
        let mut input = Input::open(&source, encodings, &counters)?;
        if input.is_empty()? {
            return Err(Error::new(ErrorKind::Schema, "inferring a schema")
                .expected("a document")
                .found("nothing")
                .in_file(&input.name)
                .into());
        }
        // The hints of a build are about options that this command does not have.
        let (inferred, recognised) = reading
            .infer(&mut input, &settings, &NullWords::default(), false)
            .map_err(|error| error.hint("change the input, or write the schema file by hand"))?;
        write!(out, "{}", inferred.print())?;
        if let (Some(recognised), false) = (recognised, global.quiet) {
            note(format!("{}: {recognised}", input.name.display()));
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}
