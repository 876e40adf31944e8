//! `treepie explain INDEX QUERY`: the plan, with `--analyze` also what happened.

use std::{
    io,
    io::Write,
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::{Arg, ValueEnum};
use serde_json::Value;
use treepie::{
    DocId, Error, ErrorKind, Index, Searcher,
    explain::{ExplainTree, TextOptions},
};

use super::{
    in_query, open_with,
    search::{Asked, PlanArgs},
    why_empty,
};
use crate::{
    args::{self, EstimatesFrom, Global},
    destination::{Destination, DestinationArgs},
    failure::{Exit, Outcome, usage},
    output::{self, Color, Output},
};

/// Show how a query would be answered, or was.
#[derive(Debug, clap::Args)]
#[command(
    mut_args(beside_plans),
    after_help = "More: `treepie explain --help`, `treepie help query`, `treepie help facets`.",
    after_long_help = "Examples:
  treepie explain titles.tp 'history AND (france OR spain) -war'
  treepie explain titles.tp 'history AND (france OR spain) -war' --analyze --facet qualifier
  treepie explain titles.tp 'history AND france' --analyze --repeat 21 --explain-words
  treepie explain titles.tp history --count --format json
  treepie explain titles.tp 'history AND france' --count --what-if
  treepie explain titles.tp 'history france' --doc 15212
  treepie explain titles.tp '+history +frnace -war' --why-empty
  treepie explain titles.tp 'history france' --analyze --format dot | dot -Tsvg >plan.svg
  treepie explain titles.tp 'history france' --analyze -o plan.html
  treepie explain titles.tp 'history france' --analyze --open

Without --analyze the dictionary and the headers of posting lists are read, and no postings but
those of the document of --doc. With it estimates come from a sample of postings, for some 20 µs, as
without it where --estimate-from says samples. Each estimate says what it comes from. With --doc the
exit status is 1 where the document does not match."
)]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// The query, or - for standard input.
    #[arg(allow_hyphen_values = true, required_unless_present = "request")]
    pub(crate) query: Option<String>,
    /// Answer the query, and show what happened.
    #[arg(help_heading = "Plan")]
    #[arg(long)]
    analyze: bool,
    /// Answer it N times, and show the median and the spread.
    ///
    /// The plan is that of the run with the median time; each node, and the whole, have the least, the median and the
    /// most of all runs.
    #[arg(help_heading = "Plan", hide_short_help = true)]
    #[arg(long, requires = "analyze", conflicts_with = "what_if", value_parser = clap::value_parser!(u32).range(1..=10_000), value_name = "N")]
    repeat: Option<u32>,
    /// Also take each decision the other way, and compare.
    ///
    /// The plan shows what the search took so; includes --analyze, and takes a second, or half of --timeout.
    #[arg(help_heading = "Plan")]
    #[arg(long)]
    what_if: bool,
    /// Only count the documents that match.
    ///
    /// The plan is that of a count, instead of one of a page of hits.
    #[arg(help_heading = "Plan")]
    #[arg(long, conflicts_with_all = ["limit", "offset", "total", "pattern_terms"])]
    count: bool,
    /// Show what becomes of a document, by its number.
    ///
    /// Prints the nodes that it matches, the one that it fails at, and its score.
    #[arg(help_heading = "Plan")]
    #[arg(long, value_parser = args::whole_number::<u64>, allow_negative_numbers = true, value_name = "N")]
    doc: Option<u64>,
    /// Data that estimates may read [default: headers; samples if analyzed].
    #[arg(help_heading = "Plan", hide_short_help = true)]
    #[arg(long, value_enum, value_name = "SOURCE")]
    estimate_from: Option<EstimatesFrom>,
    /// Compare neighbours with the nearest of all vectors.
    ///
    /// For neighbours that were found by a graph; the plan then says how many of the nearest were found.
    #[arg(help_heading = "Plan", hide_short_help = true)]
    #[arg(long, requires = "analyze")]
    recall: bool,
    /// Show why nothing matches.
    ///
    /// The fewest conditions that no document meets together, and what each of them does.
    #[arg(help_heading = "Plan")]
    #[arg(long, conflicts_with_all = ["analyze", "what_if", "recall", "doc", "count", "limit", "offset", "facets", "statistics_of", "top_hits", "collapse", "total", "pattern_terms", "sort", "after", "score", "boosts", "decays", "estimate_from", "ascii", "explain_words"])]
    why_empty: bool,
    #[command(flatten)]
    shape: PlanArgs,
    /// Draw with ASCII characters only.
    #[arg(help_heading = "Show")]
    #[arg(long)]
    ascii: bool,
    /// Explain the words that the plan uses.
    ///
    /// Their meanings, which are those of the glossary in the guide, are printed below the plan.
    #[arg(help_heading = "Show")]
    #[arg(long)]
    explain_words: bool,
    /// Print in this format.
    ///
    /// The default is that of the ending of --output, .html, .json, .dot, .mmd, .folded or .txt; else text, with --open html.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum)]
    format: Option<ExplainFormat>,
    #[command(flatten)]
    destination: DestinationArgs,
}

/// Options of a search that its plan is rarely looked at for; only the long help has them.
fn beside_plans(arg: Arg) -> Arg {
    let rare = ["and", "lenient", "select", "score", "stats", "total", "limit", "offset", "ascii"];
    let is_rare = |name| rare.contains(&name) || matches!(name, "timeout" | "max-memory");
    let hides = arg.get_long().is_some_and(is_rare);
    if hides { arg.hide_short_help(true) } else { arg }
}

/// Format of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExplainFormat {
    /// A tree for people.
    Text,
    /// The tree as JSON with a stable schema.
    Json,
    /// A drawing for Graphviz.
    Dot,
    /// A flowchart for Mermaid, which many places draw that show Markdown.
    Mermaid,
    /// The plan as Postgres prints it, for viewers of such plans.
    Pgjson,
    /// Folded stacks of times, for flame graphs; with --analyze.
    Folded,
    /// A page for a browser that needs nothing but itself.
    Html,
}

impl ExplainFormat {
    /// Extension of files in this format.
    fn extension(self) -> &'static str {
        match self {
            ExplainFormat::Text => "txt",
            ExplainFormat::Json | ExplainFormat::Pgjson => "json",
            ExplainFormat::Dot => "dot",
            ExplainFormat::Mermaid => "mmd",
            ExplainFormat::Folded => "folded",
            ExplainFormat::Html => "html",
        }
    }
}

impl Args {
    fn format(&self) -> ExplainFormat {
        let default = if self.destination.open { ExplainFormat::Html } else { ExplainFormat::Text };
        self.format.or_else(|| self.destination.format_by_name()).unwrap_or(default)
    }

    /// Refuses what does not go together, before anything is opened.
    fn check(&self) -> Result<Destination, Error> {
        if self.format() == ExplainFormat::Folded && !self.analyze && !self.what_if {
            return Err(usage("--format folded prints the times of a run").hint("add --analyze"));
        }
        if self.ascii && self.format() != ExplainFormat::Text {
            return Err(self.not_in_format("--ascii is about --format text"));
        }
        if self.explain_words && self.format() != ExplainFormat::Text {
            return Err(self
                .not_in_format("--explain-words is about --format text")
                .hint("--format html has the words as tooltips"));
        }
        let is_of_nodes = matches!(self.format(), ExplainFormat::Pgjson | ExplainFormat::Folded);
        if self.doc.is_some() && is_of_nodes {
            let shows = "--doc shows with --format text, json, html, dot or mermaid";
            return Err(self.not_in_format(shows));
        }
        let has_reason = matches!(
            self.format(),
            ExplainFormat::Text | ExplainFormat::Json | ExplainFormat::Html
        );
        if self.why_empty && !has_reason {
            return Err(self.not_in_format("--why-empty shows with --format text, json or html"));
        }
        self.destination.check()
    }

    /// An error about an option that other formats have, which says where the format comes from if nobody named it.
    fn not_in_format(&self, refused: &str) -> Error {
        let error = usage(refused);
        if self.format.is_some() {
            return error;
        }
        let format = self.format().to_possible_value();
        let format = format.as_ref().map_or("another", |format| format.get_name());
        let found =
            match (self.destination.path(), self.destination.format_by_name::<ExplainFormat>()) {
                (Some(path), Some(_)) => format!("{}, whose ending says {format}", path.display()),
                _ => format!("--open, which shows {format}"),
            };
        error.found(found).hint("add --format text")
    }
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let (destination, format) = (args.check()?, args.format());
    let asked = args.shape.asked(args.query.as_deref(), global)?;
    let text = asked.text();
    let options = args.shape.costs.apply(Index::options(), &args.index)?;
    let searcher = open_with(options, &args.index, &args.shape.synonyms)?.searcher()?;
    let started = Instant::now();
    let mut search = args.shape.search(&asked, &searcher, global)?;
    let mut parsing = started.elapsed();
    if let Some(runs) = args.repeat {
        // Parsed as often as it is run: the first time alone is that of a program that has just started.
        parsing = median_parsing(&args.shape, &asked, &searcher, runs)?;
    }
    if args.count {
        search = search.count_only();
    }
    if args.why_empty {
        let plan = match format {
            ExplainFormat::Html => Some(search.clone().explain().map_err(in_query(&text))?),
            _ => None,
        };
        let why = search.explainer().why_empty().map_err(in_query(&text))?;
        let printed = why_empty::printed(why, text, plan, format == ExplainFormat::Json);
        destination.write(&printed, format.extension(), global)?;
        return Ok(Exit::Done);
    }
    let mut search = search.explainer().documents(args.doc.map(DocId));
    if args.recall {
        search = search.recall();
    }
    if let Some(from) = args.estimate_from {
        search = search.estimate_from(from.into_library());
    }
    let explained = match args.analyze {
        _ if args.what_if => search.what_if(),
        _ if args.repeat.is_some() => search.repeat(args.repeat.unwrap_or(1)),
        true => search.analyze(),
        false => search.explain(),
    };
    let mut tree = explained.map_err(in_query(&text))?;
    tree.add_parsing(parsing);
    if tree.total_ns.is_none() {
        // Somebody looks at it, so there is time to ask the index for what can be done.
        tree.findings = searcher.findings(&tree);
    }
    tree.query = text;
    let printed = match format {
        ExplainFormat::Text => {
            let color = match destination.is_standard_output() {
                true => global.color.on(),
                false => global.color == Color::Always,
            };
            to_text(&tree, args.ascii, color, args.explain_words)
        }
        ExplainFormat::Json => tree.to_json() + "\n",
        ExplainFormat::Dot => tree.to_dot(),
        ExplainFormat::Mermaid => tree.to_mermaid(),
        ExplainFormat::Pgjson => tree.to_pgjson(),
        ExplainFormat::Folded => tree.to_folded(),
        ExplainFormat::Html => tree.to_html(),
    };
    destination.write(&printed, format.extension(), global)?;
    // Nothing is said of a document that there was no time to look up.
    match tree.documents.first() {
        Some(document) if !document.matches => Ok(Exit::NothingFound),
        Some(_) | None => Ok(Exit::Done),
    }
}

/// Median of the times that reading the query takes, over so many runs.
fn median_parsing(
    shape: &PlanArgs,
    asked: &Asked,
    searcher: &Searcher,
    runs: u32,
) -> Outcome<Duration> {
    // Remarks have been made.
    let quiet = Global { quiet: true, no_pager: true, color: Color::Never };
    let mut times = vec![];
    for _ in 0..runs {
        let started = Instant::now();
        drop(shape.search(asked, searcher, quiet)?);
        times.push(started.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len().saturating_sub(1) / 2])
}

/// The tree as wide as the terminal.
pub(crate) fn print_text(out: &mut Output, tree: &ExplainTree, ascii: bool) -> io::Result<()> {
    write!(out, "{}", to_text(tree, ascii, out.color(), false))
}

fn to_text(tree: &ExplainTree, ascii: bool, color: bool, words: bool) -> String {
    let options = TextOptions::default().width(output::width()).ascii(ascii).color(color);
    let options = options.explain_words(words);
    let mut text = tree.to_text(&options);
    text.truncate(text.trim_end_matches('\n').len());
    text.push('\n');
    text
}

/// The tree as a JSON value, to stand inside another.
pub(crate) fn to_value(tree: &ExplainTree) -> Result<Value, Error> {
    serde_json::from_str(&tree.to_json())
        .map_err(|error| Error::new(ErrorKind::Io, format!("printing the plan: {error}")))
}
