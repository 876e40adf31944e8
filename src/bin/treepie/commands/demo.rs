//! `treepie demo`: a tour on titles that are part of the program.

use std::{
    env, io,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use treepie::highlight::{Highlighter, PassageOptions};
use treepie::writer::BadLines;
use treepie::{Error, Hit, Index, Searcher};

use super::{explain, facet, in_query};
use crate::{
    args::Global,
    failure::{Exit, Outcome},
    input::{
        kept::Kept,
        settings::{InputSettings, Preset},
    },
    output::{self, Output},
    terminal,
};

/// A tour: index the titles inside the program, ask, count, explain.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Directory of the index [default: one for temporary files].
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
}

/// Titles in several scripts, one a line, as in the dumps of Wikimedia.
const TITLES: &str = include_str!("../../../../corpus/titles.txt");

/// Queries, each with what to see in its answer.
const QUERIES: &[(&str, &str)] = &[
    ("london", "one word, as it stands in the dictionary"),
    ("history AND (france OR spain) -war", "AND, OR, parentheses; a minus excludes"),
    ("london AND qualifier:film", "a word in another field"),
    ("東京 OR москва", "any script will do"),
    ("museum -qualifier:*", "without anything in parentheses at the end"),
    (PHRASE, "a phrase: its words next to each other, in this order"),
    ("londn~1 AND univ*", "a misspelt word, and the beginning of one"),
];

const PHRASE: &str = "\"military history\" AND france";

/// A query whose best hit shows how a score comes about.
const SCORED: &str = "battle of paris";

/// Hits shown of each query.
const HITS_SHOWN: u64 = 3;

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let mut out = Output::new(global.color);
    let path = args.index.unwrap_or_else(|| env::temp_dir().join("treepie-demo.tp"));
    heading(&mut out, "Building an index")?;
    let searcher = build(&mut out, &path)?;
    heading(&mut out, "Asking")?;
    for (query, remark) in QUERIES {
        ask(&mut out, &searcher, query, remark)?;
    }
    heading(&mut out, "Ranking")?;
    explain_score(&mut out, &searcher)?;
    heading(&mut out, "Counting values")?;
    count_values(&mut out, &searcher)?;
    heading(&mut out, "Explaining")?;
    show_plans(&mut out, &searcher)?;
    heading(&mut out, "What next")?;
    say_what_next(&mut out, &path)?;
    out.flush()?;
    Ok(Exit::Done)
}

fn heading(out: &mut Output, text: &str) -> io::Result<()> {
    let line = "─".repeat(terminal::width(text));
    writeln!(out, "\n{}\n{}", out.strong(text), out.dim(&line))
}

fn build(out: &mut Output, path: &Path) -> Outcome<Searcher> {
    let start = Instant::now();
    let preset = Preset::WikipediaTitles;
    let index = Index::overwrite(path, preset.schema()?)?;
    let mut writer = index.writer()?;
    // For whoever adds titles to it.
    let kept = Kept { settings: InputSettings::of_preset(preset), ..Kept::default() };
    writer.set_payload(kept.payload(writer.schema())?)?;
    writer.add_lines(TITLES.as_bytes(), &preset.line_format(), BadLines::Refuse)?;
    let commit = writer.commit()?;
    let elapsed = start.elapsed();
    let n_bytes = index.inspect()?.segments().iter().map(|segment| segment.bytes).sum();
    writeln!(
        out,
        "{} ({}) became an index of {} in {}, safe on disk.\nIt lies in {}",
        output::plural(commit.documents, "title"),
        output::bytes(TITLES.len() as u64),
        output::bytes(n_bytes),
        output::duration(elapsed),
        path.display(),
    )?;
    let (searcher, elapsed) = timed(|| Index::open(path)?.searcher())?;
    writeln!(
        out,
        "Opening it takes {}: nothing is read that is not asked for.",
        output::duration(elapsed)
    )?;
    Ok(searcher)
}

fn ask(out: &mut Output, searcher: &Searcher, text: &str, remark: &str) -> Outcome<()> {
    writeln!(out, "\n{}  {}", out.strong(text), out.dim(remark))?;
    let query = searcher.parse(text).map_err(in_query(text))?;
    let found = searcher.search(&query).limit(HITS_SHOWN).run().map_err(in_query(text))?;
    let highlighter = searcher.highlighter(&query).map_err(in_query(text))?;
    for hit in &found.hits {
        print_title(out, &highlighter, hit)?;
    }
    let more = found.total.value.saturating_sub(found.hits.len() as u64);
    let more =
        if more > 0 { format!("and {} more, ", output::grouped(more)) } else { String::new() };
    let took = output::duration(found.took);
    Ok(writeln!(out, "  {}", out.dim(&format!("{more}found in {took}")))?)
}

/// The score of a hit and its title, in which the words that were looked for are marked.
fn print_title(out: &mut Output, highlighter: &Highlighter, hit: &Hit) -> io::Result<()> {
    let Some(title) = hit.fields.get("title").map(ToString::to_string) else { return Ok(()) };
    let score = hit.score.map_or(String::new(), |score| format!("{score:6.2}"));
    write!(out, "{}  ", out.dim(&score))?;
    let options = PassageOptions::default().max_len(title.len()).max_passages(1);
    match highlighter.passages("title", &title, &options).first() {
        Some(passage) => {
            for (piece, is_marked) in passage.pieces(&title) {
                let piece = terminal::printable(piece);
                write!(out, "{}", if is_marked { out.marked(&piece) } else { piece.clone() })?;
            }
        }
        None => write!(out, "{}", terminal::printable(&title))?,
    }
    writeln!(out)
}

fn explain_score(out: &mut Output, searcher: &Searcher) -> Outcome<()> {
    let query = searcher.parse(SCORED)?;
    let found = searcher.search(&query).limit(1).run()?;
    let Some(hit) = found.hits.first() else { return Ok(()) };
    writeln!(
        out,
        "Hits come best first: rare words count for more, and so do short titles (BM25). Of '{SCORED}':\n"
    )?;
    print_title(out, &searcher.highlighter(&query)?, hit)?;
    if let Some(explanation) = searcher.explain_score(&query, hit.doc)? {
        writeln!(out, "\nHow its score comes about:\n")?;
        for line in explanation.to_string().lines() {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

fn count_values(out: &mut Output, searcher: &Searcher) -> Outcome<()> {
    writeln!(
        out,
        "What stands in parentheses at the end of a title is a field of its own, `qualifier`.\n\
         Its most frequent values among the titles that match:"
    )?;
    for text in ["*", "london"] {
        let query = searcher.parse(text)?;
        let (counts, elapsed) = timed(|| searcher.facets(&query, "qualifier", 5))?;
        let took = format!("counted in {}", output::duration(elapsed));
        writeln!(out, "\n{}  {}", out.strong(text), out.dim(&took))?;
        facet::print_values(out, &counts)?;
    }
    Ok(())
}

fn show_plans(out: &mut Output, searcher: &Searcher) -> Outcome<()> {
    let text = QUERIES[1].0;
    let query = searcher.parse(text)?;
    writeln!(out, "The plan of a query, made from the dictionary alone:\n")?;
    explain::print_text(out, &searcher.explain(&query)?, false)?;
    writeln!(out, "\nThe same after it ran, with what happened:\n")?;
    explain::print_text(out, &searcher.search(&query).analyze()?, false)?;
    let query = searcher.parse(PHRASE)?;
    writeln!(out, "\nA phrase is looked for where all its words are, and nowhere else:\n")?;
    explain::print_text(out, &searcher.search(&query).analyze()?, false)?;
    Ok(())
}

fn say_what_next(out: &mut Output, path: &Path) -> io::Result<()> {
    let program = env::args().next().unwrap_or_else(|| "treepie".to_owned());
    let path = path.display();
    writeln!(
        out,
        "  {program} search {path} 'music -london' --facet qualifier
  {program} search {path} 'river OR lake' --limit 3 --format json
  {program} explain {path} 'the AND +of -list' --analyze
  {program} inspect {path} storage
  {program} inspect {path} terms --field qualifier
  {program} index mine.tp my-texts.txt
  {program} --help"
    )
}

fn timed<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<(T, Duration), Error> {
    let start = Instant::now();
    Ok((work()?, start.elapsed()))
}
