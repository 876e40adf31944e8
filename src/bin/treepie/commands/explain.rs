//! `treepie explain INDEX QUERY`: the plan, with `--analyze` also what happened.

use std::{io, io::Write, path::PathBuf};

use clap::ValueEnum;
use serde_json::Value;
use treepie::{
    DocId, Error, ErrorKind,
    explain::{ExplainTree, TextOptions},
};

use super::{in_query, open_with_synonyms, search::Shape, text_or_stdin, why};
use crate::{
    args::Global,
    failure::{Exit, Outcome},
    output::{self, Output},
};

/// Show how a query would be answered, or was.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  treepie explain titles.tp 'history AND (france OR spain) -war'
  treepie explain titles.tp 'history AND (france OR spain) -war' --analyze --facet qualifier
  treepie explain titles.tp history --count --format json
  treepie explain titles.tp 'history france' --doc 15212

Without --analyze the dictionary and the headers of posting lists are read, and no postings, but for
phrases a sample of documents.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// The query, or - for standard input.
    #[arg(allow_hyphen_values = true)]
    pub(crate) query: String,
    /// Answer the query and show what happened beside what was expected.
    #[arg(long)]
    analyze: bool,
    /// The plan of a count instead of one of a page of hits.
    #[arg(long, conflicts_with_all = ["limit", "offset", "total", "pattern_terms"])]
    count: bool,
    /// How the score of a document comes about, or why it does not match, by its number.
    #[arg(long, value_name = "N", conflicts_with_all = ["analyze", "count", "limit", "offset", "facets", "statistics_of", "top_hits", "total", "after"])]
    doc: Option<u64>,
    #[command(flatten)]
    shape: Shape,
    /// Draw with ASCII characters only.
    #[arg(long)]
    ascii: bool,
    #[arg(long, value_enum, default_value_t)]
    format: ExplainFormat,
}

/// How a plan is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ExplainFormat {
    /// A tree for people.
    #[default]
    Text,
    /// The tree as JSON with a stable schema.
    Json,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let text = text_or_stdin(&args.query, "reading the query")?;
    let searcher = open_with_synonyms(&args.index, &args.shape.synonyms)?.searcher()?;
    let query = args.shape.query(&text, searcher.schema())?;
    let mut search = args.shape.apply(searcher.search(&query), searcher.schema())?;
    if args.count {
        search = search.count_only();
    }
    if let Some(doc) = args.doc {
        let why = why::of(&searcher, &search, DocId(doc)).map_err(in_query(&text))?;
        let mut out = Output::new(global.color);
        match args.format {
            ExplainFormat::Text => why.print_text(&mut out)?,
            ExplainFormat::Json => out.json_line(&why.to_json(&text))?,
        }
        out.flush()?;
        return Ok(if why.matches() { Exit::Done } else { Exit::NothingFound });
    }
    let explained = match args.analyze {
        true => search.analyze(),
        false => search.explain(),
    };
    let mut tree = explained.map_err(in_query(&text))?;
    tree.query = text;
    let mut out = Output::new(global.color);
    match args.format {
        ExplainFormat::Text => print_text(&mut out, &tree, args.ascii)?,
        ExplainFormat::Json => writeln!(out, "{}", tree.to_json())?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// The tree as wide as the terminal.
pub(crate) fn print_text(out: &mut Output, tree: &ExplainTree, ascii: bool) -> io::Result<()> {
    let options = TextOptions::default().width(output::width()).ascii(ascii).color(out.color());
    let text = tree.to_text(&options);
    writeln!(out, "{}", text.trim_end_matches('\n'))
}

/// The tree as a JSON value, to stand inside another.
pub(crate) fn to_value(tree: &ExplainTree) -> Result<Value, Error> {
    serde_json::from_str(&tree.to_json())
        .map_err(|error| Error::new(ErrorKind::Io, format!("printing the plan: {error}")))
}
