//! `treepie analyze TEXT`: the tokens a text becomes.

use std::{io::Write, path::Path};

use serde_json::json;
use treepie::{
    Field, FieldKind,
    analysis::{Analyzer, Analyzers, DEFAULT_ANALYZER, Slot, filters, names, tokenizers},
};

use super::{analyzers_with_synonyms, did_you_mean_text, open, text_or_stdin};
use crate::{
    args::Global,
    failure::{Exit, Outcome, note, usage},
    output::{Format, Output, Table, plural},
};

/// Show the tokens that an analyzer or a field makes of a text.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "treepie analyze [OPTIONS] TEXT\n       treepie analyze [OPTIONS] INDEX --field FIELD TEXT\n       treepie analyze --list",
    after_help = "More: `treepie analyze --help`, `treepie help analyzers`.",
    after_long_help = "Examples:
  treepie analyze \"Rock'n'Roll (1977)\"
  treepie analyze --analyzer english \"The queen's gambits\"
  treepie analyze --analyzer 'words|lower|fold|stop:fr' \"Les élèves\"
  treepie analyze titles.tp --field title --query 'paris'
  treepie analyze titles.tp --field title --query --synonyms title:synonyms.txt 'usa today'
  treepie analyze --list

With --synonyms the words come slot by slot, as any of several sequences may stand in one: each row
has the slot, the positions left empty before it, which of its alternatives the term belongs to, and
the position of the term in that."
)]
pub(crate) struct Args {
    /// The text, or - for standard input; with --field the index.
    #[arg(allow_hyphen_values = true, required_unless_present = "list")]
    pub(crate) text: Option<String>,
    /// The text where an index stands before it.
    #[arg(hide = true, value_name = "TEXT")]
    pub(crate) text_of_field: Option<String>,
    /// Use this analyzer: a name, or tokenizer|filter|….
    ///
    /// Parts with | between: a tokenizer and filters.
    #[arg(long, default_value = DEFAULT_ANALYZER, value_name = "SPEC", conflicts_with = "field")]
    analyzer: String,
    /// Field of the index.
    ///
    /// Its analyzer is the one that is used.
    #[arg(long, value_name = "FIELD", requires = "text_of_field")]
    field: Option<String>,
    /// Analyze as the words of a query, where that differs.
    #[arg(long)]
    query: bool,
    /// Read rules of synonyms for the words of a field from FILE.
    ///
    /// They are for the words of queries: `usa, united states` makes both stand for both, `tv => television`
    /// replaces; one a line.
    #[arg(long, value_name = "FIELD:FILE", requires = "query")]
    synonyms: Vec<String>,
    /// List the analyzers, tokenizers and filters there are.
    #[arg(long, conflicts_with_all = ["text", "field"])]
    list: bool,
    /// Print as --format json does.
    #[arg(help_heading = "Show")]
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print in this format.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    if args.field.is_none() {
        if args.query {
            return Err(usage("--query shows how the words of a query are analyzed")
                .expected("an index and one of its fields")
                .found("no --field")
                .hint("treepie analyze INDEX --field FIELD --query TEXT")
                .into());
        }
        if args.text_of_field.is_some() {
            return Err(usage("analyzing a text")
                .expected("one, or an index with one of its fields before it")
                .found("two, and no --field")
                .hint("treepie analyze INDEX --field FIELD TEXT")
                .into());
        }
    }
    let mut out = Output::new(global.color);
    let format = if args.json { Format::Json } else { args.format };
    let (Analysis { mut analyzer, synonyms }, typed) =
        match (args.text, &args.field, args.text_of_field) {
            (None, ..) => {
                print_list(&mut out, format)?;
                out.flush()?;
                return Ok(Exit::Done);
            }
            (Some(index), Some(field), Some(text)) => {
                (Analysis::of_field(Path::new(&index), field, args.query, &args.synonyms)?, text)
            }
            (Some(text), ..) => (Analysis::of_spec(&args.analyzer)?, text),
        };
    let text = text_or_stdin(&typed, "reading the text")?;
    let n_too_long = match synonyms {
        Some((analyzers, field)) => {
            print_slots(&mut out, format, &analyzers.query_slots(&field, &text)?)?;
            analyzer.for_each_token(&text, |_| ())
        }
        None => print_tokens(&mut out, format, analyzer, &text)?,
    };
    out.flush()?;
    if n_too_long > 0 && !global.quiet {
        note(format!("{} left out because they are too long", plural(n_too_long, "token")));
    }
    Ok(Exit::Done)
}

/// Steps that a text runs through.
struct Analysis {
    analyzer: Analyzer,
    /// Rules for the words of queries in this field, where some were given.
    synonyms: Option<(Analyzers, Field)>,
}

impl Analysis {
    fn of_spec(spec: &str) -> Outcome<Self> {
        Ok(Analysis { analyzer: Analyzer::from_spec(spec)?, synonyms: None })
    }

    /// That of a field of an index.
    fn of_field(index: &Path, name: &str, query: bool, synonyms: &[String]) -> Outcome<Self> {
        let index = open(index)?;
        let is_text = |field: &&Field| field.kind == FieldKind::Text;
        let Some(field) = index.schema().field(name).filter(is_text) else {
            let text_fields = index.schema().fields().iter().filter(is_text);
            let known: Vec<&str> = text_fields.map(|field| &*field.name).collect();
            let error = usage("choosing a field")
                .expected(match known.as_slice() {
                    [] => "an index with text fields".to_owned(),
                    known => format!("one of the text fields {}", known.join(", ")),
                })
                .found(format!("'{name}'"));
            return Err(did_you_mean_text(error, index.schema(), name).into());
        };
        let analyzers = index.searcher()?.analyzers().clone();
        let analyzers = analyzers_with_synonyms(analyzers, index.schema(), synonyms)?;
        let analyzer =
            if query { analyzers.query_time(field)? } else { analyzers.index_time(field)? };
        let synonyms = (!synonyms.is_empty()).then(|| (analyzers, field.clone()));
        Ok(Analysis { analyzer, synonyms })
    }
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

/// Prints a line for each term that a query looks for in place of its words.
fn print_slots(out: &mut Output, format: Format, slots: &[Slot]) -> Outcome<()> {
    let mut table = Table::new(out, format, &["slot", "gap", "alternative", "position", "term"])?;
    for (nth, slot) in slots.iter().enumerate() {
        for (alternative, sequence) in slot.alternatives.iter().enumerate() {
            for at in &sequence.terms {
                table.row(vec![
                    json!(nth),
                    json!(slot.gap),
                    json!(alternative),
                    json!(at.position),
                    json!(at.term),
                ])?;
            }
        }
    }
    Ok(table.finish()?)
}
