//! `treepie help [COMMAND|TOPIC]`: help of a command, or a language that the tool reads.

use std::io::Write;

use treepie::Error;

use crate::{
    args::{self, Global},
    failure::{Exit, Outcome, usage},
    markdown::{rendered, sections},
    output::{self, Output},
};

/// Print help on a command, or on query, schema, facets, analyzers.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:
  treepie help search
  treepie help plan view
  treepie help query
  treepie help schema        the page on schema files; treepie schema --help is on the command

The pages are those of the guide.")]
pub(crate) struct Args {
    /// A command, or query, schema, facets or analyzers.
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,
}

/// Columns of a line at the most: longer lines are hard to read.
const COLUMNS_MAX: usize = 100;

const SCHEMA: &str = include_str!("../../../docs/guide/schema.md");
/// The section of that page that the one on analyzers begins with.
const ANALYZERS: &str = "Analyzers";

/// A page of the guide, or a part of it.
struct Topic {
    name: &'static str,
    about: &'static str,
    page: &'static str,
    has: fn(before_analyzers: bool) -> bool,
}

const TOPICS: [Topic; 4] = [
    Topic {
        name: "query",
        about: "Queries, as search, explain and delete read them.",
        page: include_str!("../../../docs/guide/query-language.md"),
        has: |_| true,
    },
    Topic {
        name: "schema",
        about: "Schema files: the fields of an index, and how inputs are read.",
        page: SCHEMA,
        has: |before| before,
    },
    Topic {
        name: "facets",
        about: "Facets, statistics, selections and orders of a search.",
        page: include_str!("../../../docs/guide/facets.md"),
        has: |_| true,
    },
    Topic {
        name: "analyzers",
        about: "Analyzers, which turn texts into words, and synonyms.",
        page: SCHEMA,
        has: |before| !before,
    },
];

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let mut out = global.output();
    let topic = TOPICS.iter().find(|topic| matches!(&args.words[..], [word] if word == topic.name));
    match topic {
        Some(topic) => print_topic(&mut out, topic)?,
        None => write!(out, "{}", of_command(&args.words)?)?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// Help of a command, of a command of it, or without words that of the program.
fn of_command(words: &[String]) -> Outcome<String> {
    let mut definition = args::definition();
    definition.build();
    let mut command = &definition;
    for (nth, word) in words.iter().enumerate() {
        command = command.find_subcommand(word).ok_or_else(|| unknown(command, word, nth == 0))?;
    }
    Ok(command.clone().render_long_help().to_string())
}

fn unknown(command: &clap::Command, word: &str, is_first: bool) -> Error {
    let topics = TOPICS.iter().map(|topic| topic.name);
    // One is a command, too.
    let topics = topics.filter(|name| is_first && command.find_subcommand(name).is_none());
    let known: Vec<_> =
        command.get_subcommands().map(clap::Command::get_name).chain(topics).collect();
    let error = usage("looking up help").found(format!("'{word}'"));
    match known.is_empty() {
        true => error.expected(format!("nothing behind '{}'", command.get_name())),
        false => error.expected(format!("one of {}", known.join(", "))),
    }
}

fn print_topic(out: &mut Output, topic: &Topic) -> Outcome<()> {
    let columns = output::width().min(COLUMNS_MAX);
    writeln!(out, "{}", topic.about)?;
    for (heading, section) in of_topic(topic) {
        let text = rendered(section, columns);
        if !text.is_empty() && !is_of_rust(heading) {
            write!(out, "\n{}\n\n{text}", out.strong(heading))?;
        }
    }
    Ok(())
}

fn of_topic(topic: &Topic) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut before = true;
    sections(topic.page).into_iter().filter(move |(heading, _)| {
        before &= *heading != ANALYZERS;
        (topic.has)(before)
    })
}

/// Whether a section is for programmers in Rust alone.
fn is_of_rust(heading: &str) -> bool {
    heading.ends_with("Rust")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_read_well_in_a_terminal() {
        for (topic, parts) in TOPICS.iter().zip([
            &["title:history", "\"mice men\"~2", "since:>=now-7d", "paris^2.5"][..],
            &["type = \"decimal\"", "null_words", "keyword", "treepie schema add"],
            &["--facet brand", "price:step=10", "--sort price", "--collapse brand"],
            &["ngram:MIN,MAX", "edge_ngram", "usa, united states"],
        ]) {
            let shown = |columns| -> String {
                let sections = of_topic(topic).filter(|(heading, _)| !is_of_rust(heading));
                sections
                    .map(|(heading, text)| format!("\n{heading}\n{}", rendered(text, columns)))
                    .collect()
            };
            let text = shown(80);
            for part in parts {
                assert!(text.contains(part), "{}: {part}: {text}", topic.name);
            }
            for markup in ["](", "crate::", "```", "**", "|---", "let mut", "::new("] {
                assert!(!text.contains(markup), "{}: {markup}: {text}", topic.name);
            }
            assert!(text.lines().count() > 30, "{}: {text}", topic.name);
            let long = text.lines().find(|line| {
                let is_code = line.starts_with("    ") || line.trim_start().split(' ').count() < 2;
                !is_code && crate::terminal::width(line) > 80
            });
            assert_eq!(long, None, "{}", topic.name);
        }
    }

    #[test]
    fn a_page_on_schemas_ends_where_that_on_analyzers_begins() {
        let headings =
            |nth: usize| of_topic(&TOPICS[nth]).map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(headings(1)[0], "A schema file");
        assert_eq!(headings(3), ["Analyzers", "Synonyms"]);
        assert!(!headings(1).contains(&"Analyzers"));
    }

    #[test]
    fn help_is_that_of_the_command() {
        let of =
            |words: &[&str]| of_command(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert!(of(&[]).unwrap().starts_with("An embeddable"));
        assert!(of(&["search"]).unwrap().contains("Usage: treepie search [OPTIONS]"));
        assert!(of(&["inspect", "terms"]).unwrap().contains("treepie inspect <INDEX> terms"));
        for (words, part) in [(&["serach"][..], "analyzers"), (&["search", "x"], "nothing behind")]
        {
            let Err(crate::failure::Failure::Error(error)) = of(words) else { panic!("{words:?}") };
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
