//! `treepie schema infer INPUT`: what the fields of an input may be, as a schema file.

use std::{io::Write, path::PathBuf};

use clap::Subcommand;
use treepie::{Error, ErrorKind};

use crate::{
    args::Global,
    failure::{Exit, Outcome},
    input::{Input, Source, format::InputFormat, infer::infer, schema_file},
    output::Output,
    progress::Counters,
};

/// Make a schema file.
#[derive(Debug, clap::Args)]
#[command(
    subcommand_value_name = "WHAT",
    subcommand_help_heading = "What",
    after_help = "Examples:
  treepie schema infer products.jsonl > schema.toml
  treepie index shop.tp products.jsonl --schema schema.toml"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print what the fields may be, judged by the first documents: to look at, and to change.
    Infer {
        /// A file, or - for standard input, which is also read where no file is named.
        input: Option<PathBuf>,
        /// How records stand in the input [default: by content].
        #[arg(long, value_enum, value_name = "FORMAT")]
        input_format: Option<InputFormat>,
    },
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let What::Infer { input, input_format } = args.what;
    let counters = Counters::default();
    let mut out = Output::new(global.color);
    let typed: Vec<PathBuf> = input.into_iter().collect();
    for source in Source::find_all(&typed)? {
        let mut input = Input::open(&source, &counters)?;
        if input.peek(1)?.is_empty() {
            return Err(Error::new(ErrorKind::Schema, "inferring a schema")
                .expected("a document")
                .found("nothing")
                .in_file(&input.name)
                .into());
        }
        let format = match input_format {
            Some(format) => format,
            None => InputFormat::of(&mut input)?,
        };
        let schema = infer(&mut input, format)?;
        write!(out, "{}", schema_file::print(&schema))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
