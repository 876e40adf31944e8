//! `treepie analyze TEXT`: the terms a text becomes.

use std::io::Write;

use serde_json::json;
use treepie::analysis::{Analyzer, tokenizer_api::TokenStream};

use super::text_or_stdin;
use crate::{
    args::Global,
    failure::{Exit, Outcome, not_yet, usage},
    output::{Format, Output, Table},
};

/// Show the terms that an analyzer makes of a text.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  treepie analyze \"Rock'n'Roll (1977)\"
  treepie analyze --list")]
pub(crate) struct Args {
    /// The text, or - for standard input.
    #[arg(allow_hyphen_values = true, required_unless_present = "list")]
    pub(crate) text: Option<String>,
    /// Which analyzer.
    #[arg(long, default_value = "default", value_name = "NAME")]
    analyzer: String,
    /// List the analyzers there are.
    #[arg(long, conflicts_with = "text")]
    list: bool,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Analyzers by name, with what they do.
const ANALYZERS: &[(&str, &str)] =
    &[("default", "runs of Unicode letters and digits, lower-cased")];

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let mut out = Output::new(global.color);
    match args.text {
        None => print_list(&mut out, args.format)?,
        Some(text) => print_tokens(&mut out, args.format, &args.analyzer, &text)?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn print_list(out: &mut Output, format: Format) -> Outcome<()> {
    let mut table = Table::new(out, format, &["analyzer", "terms"])?;
    for (name, terms) in ANALYZERS {
        table.row(vec![json!(name), json!(terms)])?;
    }
    Ok(table.finish()?)
}

fn print_tokens(out: &mut Output, format: Format, analyzer: &str, typed: &str) -> Outcome<()> {
    if analyzer == "english" {
        return Err(not_yet("the analyzer 'english'").into());
    }
    if !ANALYZERS.iter().any(|(name, _)| *name == analyzer) {
        return Err(usage("choosing an analyzer")
            .expected("a name that `treepie analyze --list` shows")
            .found(format!("'{analyzer}'"))
            .into());
    }
    let text = text_or_stdin(typed, "reading the text")?;
    let mut analyzer = Analyzer::default();
    let mut stream = analyzer.token_stream(&text);
    let mut table = Table::new(out, format, &["position", "term", "start", "end"])?;
    while stream.advance() {
        let token = stream.token();
        table.row(vec![
            json!(token.position),
            json!(token.text),
            json!(token.offset_from),
            json!(token.offset_to),
        ])?;
    }
    Ok(table.finish()?)
}
