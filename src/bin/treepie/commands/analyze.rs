//! `treepie analyze TEXT`: the tokens a text becomes.

use std::{io::Write, path::Path};

use serde_json::json;
use treepie::{
    Field, FieldKind, Schema,
    analysis::{Analyzer, Analyzers, DEFAULT_ANALYZER, filters, names, tokenizers},
};

use super::{open, text_or_stdin};
use crate::{
    args::Global,
    failure::{Exit, Outcome, note, usage},
    output::{Format, Output, Table, plural},
};

/// Show the tokens that an analyzer, or a field of an index, makes of a text.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "treepie analyze [OPTIONS] TEXT\n       treepie analyze [OPTIONS] INDEX --field FIELD TEXT\n       treepie analyze --list",
    after_help = "Examples:
  treepie analyze \"Rock'n'Roll (1977)\"
  treepie analyze --analyzer english \"The queen's gambits\"
  treepie analyze --analyzer 'words|lower|fold|stop:fr' \"Les élèves\"
  treepie analyze titles.tp --field title --query 'paris'
  treepie analyze --list"
)]
pub(crate) struct Args {
    /// The text, or - for standard input; with --field the index.
    #[arg(allow_hyphen_values = true, required_unless_present = "list")]
    pub(crate) text: Option<String>,
    /// The text where an index stands before it.
    #[arg(requires = "field", hide = true, value_name = "TEXT")]
    pub(crate) text_of_field: Option<String>,
    /// Which analyzer: a name, or a tokenizer and filters with | between.
    #[arg(long, default_value = DEFAULT_ANALYZER, value_name = "SPEC", conflicts_with = "field")]
    analyzer: String,
    /// The analyzer of this field of the index.
    #[arg(long, value_name = "FIELD", requires = "text_of_field")]
    field: Option<String>,
    /// As the words of a query are analyzed, where that differs from documents.
    #[arg(long, requires = "field")]
    query: bool,
    /// List the analyzers, tokenizers and filters there are.
    #[arg(long, conflicts_with_all = ["text", "field"])]
    list: bool,
    /// The same as --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let mut out = Output::new(global.color);
    let format = if args.json { Format::Json } else { args.format };
    let (analyzer, typed) = match (args.text, &args.field, args.text_of_field) {
        (None, ..) => {
            print_list(&mut out, format)?;
            out.flush()?;
            return Ok(Exit::Done);
        }
        (Some(index), Some(field), Some(text)) => {
            (of_field(Path::new(&index), field, args.query)?, text)
        }
        (Some(text), ..) => (Analyzer::from_spec(&args.analyzer)?, text),
    };
    let text = text_or_stdin(&typed, "reading the text")?;
    let n_too_long = print_tokens(&mut out, format, analyzer, &text)?;
    out.flush()?;
    if n_too_long > 0 && !global.quiet {
        note(format!(
            "{} left out because they are too long",
            plural(n_too_long as usize, "token")
        ));
    }
    Ok(Exit::Done)
}

/// The analyzer of a field of an index.
fn of_field(index: &Path, name: &str, query: bool) -> Outcome<Analyzer> {
    let index = open(index)?;
    let fields = index.schema().map_or(&[][..], Schema::fields);
    let text_fields: Vec<&Field> = fields.iter().filter(|f| f.kind == FieldKind::Text).collect();
    let Some(field) = text_fields.iter().find(|field| field.name == name) else {
        let known: Vec<&str> = text_fields.iter().map(|field| &*field.name).collect();
        return Err(usage("choosing a field")
            .expected(match known.as_slice() {
                [] => "an index with text fields".to_owned(),
                known => format!("one of the text fields {}", known.join(", ")),
            })
            .found(format!("'{name}'"))
            .into());
    };
    let analyzers = Analyzers::default();
    Ok(if query { analyzers.query_time(field)? } else { analyzers.index_time(field)? })
}

fn print_list(out: &mut Output, format: Format) -> Outcome<()> {
    let mut table = Table::new(out, format, &["kind", "spec", "stands for"])?;
    for (name, long) in names() {
        table.row(vec![json!("analyzer"), json!(name), json!(long)])?;
    }
    for tokenizer in tokenizers() {
        table.row(vec![json!("tokenizer"), json!(tokenizer), json!("")])?;
    }
    for filter in filters() {
        table.row(vec![json!("filter"), json!(filter), json!("")])?;
    }
    Ok(table.finish()?)
}

/// Prints a token a line; the result is how many were left out.
fn print_tokens(
    out: &mut Output,
    format: Format,
    mut analyzer: Analyzer,
    text: &str,
) -> Outcome<u64> {
    let mut table = Table::new(out, format, &["position", "term", "start", "end"])?;
    let mut printed = Ok(());
    let n_too_long = analyzer.for_each_token(text, |token| {
        if printed.is_ok() {
            printed = table.row(vec![
                json!(token.position),
                json!(token.term),
                json!(token.offset_from),
                json!(token.offset_to),
            ]);
        }
    });
    printed?;
    table.finish()?;
    Ok(n_too_long)
}
