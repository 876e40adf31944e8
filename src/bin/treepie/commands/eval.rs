//! `treepie eval INDEX --queries FILE --qrels FILE`: how good the ranking is, by people's judgement.

use std::{collections::HashSet, io::Write, path::PathBuf};

use serde_json::{Map, Value, json};
use treepie::analysis::Analyzers;
use treepie::query::{Boost, Query};
use treepie::search::{Fields, TotalMode};
use treepie::{Error, ErrorKind, FieldKind, Index, Schema, SearchBuilder, Searcher};

use super::fusion::fusion;
use super::{bm25_parameters, combined_fields, did_you_mean, open_with};
use crate::{
    args::Global,
    failure::{Exit, Outcome, usage, warn},
    input::vector_files::read_rows,
    output::{self, Format, Output, Table},
    relevance::{Measures, Run, Topic, read_judgements, read_topics},
};

/// Measure the ranking by judgements of relevance.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:
  treepie eval papers.tp --queries queries.tsv --qrels qrels.txt
  treepie eval papers.tp --queries queries.tsv --qrels qrels.txt --per-query --format tsv
  treepie eval papers.tp --queries queries.tsv --qrels qrels.txt --bm25 title:0.9,0.4
  treepie eval papers.tp --queries queries.tsv --qrels qrels.txt --run-out run.txt
  treepie eval papers.tp --queries queries.tsv --qrels qrels.txt --knn v=q.npy --fuse rrf

Queries: an id, a tab, and plain text a line; any of its words may match, in the default fields.
Judgements, as TREC has them: query, iteration (ignored), document, relevance; above 0 is relevant.
The documents' names are the values of a stored field, `id` unless --id-field says otherwise.

MAP, nDCG@10 with linear gain, P@10, MRR and recall are trec_eval's, over the first 1,000 documents
of each query; their means are those of the judged queries with at least one relevant document.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// File of queries.
    ///
    /// An id and a text a line.
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// The judgements.
    #[arg(long, value_name = "FILE")]
    qrels: PathBuf,
    /// Write what was found to FILE, as a TREC run.
    ///
    /// For every query, judged or not.
    #[arg(help_heading = "Show")]
    #[arg(long, value_name = "FILE")]
    run_out: Option<PathBuf>,
    /// Stored field with the names of documents that judgements use.
    #[arg(long, default_value = "id", value_name = "FIELD")]
    id_field: String,
    /// Score fields as if they were one (BM25F).
    ///
    /// The words are looked for in these, and not in each default field; each field has its weight.
    #[arg(help_heading = "Order")]
    #[arg(long, value_delimiter = ',', value_name = "FIELD[^WEIGHT],…")]
    combined: Vec<String>,
    /// Parameters of the ranking by a field [default: 1.2,0.75].
    ///
    /// May be given several times.
    #[arg(help_heading = "Order")]
    #[arg(long, value_name = "FIELD:K1,B")]
    bm25: Vec<String>,
    /// Rank by vectors, of which a file has a row for each query.
    ///
    /// The K nearest, 1,000 unless said, as .npy or .fvecs files have the rows: embedding=queries.npy:100. The words of the
    /// queries count only with --fuse.
    #[arg(help_heading = "Find")]
    #[arg(long, value_name = "FIELD=FILE[:K]")]
    knn: Option<String>,
    /// Fuse the hits of the query with those of others.
    ///
    /// They are those of --knn; the methods are those of search.
    #[arg(help_heading = "Order")]
    #[arg(long, value_name = "rrf[:K]|sum[:WEIGHT]", requires = "knn")]
    fuse: Option<String>,
    /// Read rules of synonyms for the words of a field from FILE.
    ///
    /// They are for the words of queries; may be given several times.
    #[arg(help_heading = "Find")]
    #[arg(long, value_name = "FIELD:FILE")]
    synonyms: Vec<String>,
    /// Also print the figures of each query.
    #[arg(help_heading = "Show")]
    #[arg(long)]
    per_query: bool,
    /// Print in this format.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Documents looked at for each query.
const RANKS: u64 = 1_000;

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let topics = read_topics(&args.queries)?;
    let judgements = read_judgements(&args.qrels)?;
    let searcher = open_with(Index::options(), &args.index, &args.synonyms)?.searcher()?;
    check_id_field(&searcher, &args.id_field)?;
    let combined = combined_fields(&args.combined)?;
    let bm25 = bm25_parameters(&args.bm25)?;
    let mut run = args.run_out.as_deref().map(Run::create).transpose()?;
    let nearest = match &args.knn {
        Some(typed) => Some(nearest(typed, searcher.schema(), topics.len())?),
        None => None,
    };
    let mut measured: Vec<(&str, Measures)> = vec![];
    for (nth, topic) in topics.iter().enumerate() {
        let judged = judgements.get(&topic.id);
        if judged.is_none() && run.is_none() {
            continue;
        }
        let nearest = nearest.as_ref().and_then(|all| all.get(nth)).cloned();
        let words = || any_word(searcher.schema(), searcher.analyzers(), &topic.text, &combined);
        let (query, fusion) = match (nearest, &args.fuse) {
            (None, _) => (words()?, None),
            (Some(nearest), None) => (nearest, None),
            (Some(nearest), Some(how)) => (words()?, Some(fusion(how, vec![nearest], vec![])?)),
        };
        let mut search = searcher.search(&query);
        for &(field, k1, b) in &bm25 {
            search = search.bm25(field, k1, b);
        }
        if let Some(fusion) = fusion {
            search = search.fuse(fusion.window(RANKS));
        }
        let ranking = rank(search, topic, &args.id_field)?;
        if let Some(judged) = judged {
            let docs: Vec<String> = ranking.iter().map(|(doc, _)| doc.clone()).collect();
            measured.extend(Measures::of(&docs, judged).map(|figures| (&*topic.id, figures)));
        }
        if let Some(run) = &mut run {
            run.write(&topic.id, ranking)?;
        }
    }
    if let Some(run) = run {
        run.finish()?;
    }
    let figures: Vec<Measures> = measured.iter().map(|(_, figures)| *figures).collect();
    let Some(mean) = Measures::mean(&figures) else {
        return Err(usage("measuring the ranking")
            .expected("a query with a document that is judged relevant")
            .found(format!("{} and no such judgement", output::plural(topics.len(), "query")))
            .in_file(args.qrels)
            .into());
    };
    let known: HashSet<&str> = topics.iter().map(|topic| &*topic.id).collect();
    let n_missing = judgements.keys().filter(|id| !known.contains(id.as_str())).count();
    if n_missing > 0 && !global.quiet {
        let queries = args.queries.display();
        warn(format!("{n_missing} judged queries are not in {queries} and are left out"));
    }
    let report = Report { mean, measured: args.per_query.then_some(measured), n: figures.len() };
    let mut out = Output::new(global.color);
    report.print(&mut out, args.format)?;
    out.flush()?;
    Ok(Exit::Done)
}

/// `embedding=queries.npy:100`: a query for the nearest for each of so many topics.
fn nearest(typed: &str, schema: &Schema, n_topics: usize) -> Outcome<Vec<Query>> {
    let wrong = || usage("reading --knn").expected("FIELD=FILE or FIELD=FILE:K");
    let (name, rest) = typed.split_once('=').ok_or_else(|| wrong().found(format!("'{typed}'")))?;
    let (file, k) = match rest.rsplit_once(':').map(|(file, k)| (file, k.parse())) {
        Some((file, Ok(k))) => (file, k),
        _ => (rest, RANKS as u32),
    };
    let params = schema.field(name).and_then(|field| field.kind.vector()).ok_or_else(|| {
        usage("reading --knn").expected("a vector field of the index").found(format!("'{name}'"))
    })?;
    let rows = read_rows(file.as_ref(), name, params)?;
    if rows.len() != n_topics {
        let expected = format!("{}, one for each query", output::plural(n_topics, "row"));
        let error = usage("reading the vectors of queries").expected(expected);
        return Err(error.found(rows.len().to_string()).in_file(file).into());
    }
    Ok(rows.into_iter().map(|row| Query::nearest(name, row, k)).collect())
}

/// The names of the best documents with their scores, best first.
fn rank(
    search: SearchBuilder<'_>,
    topic: &Topic,
    id_field: &str,
) -> Result<Vec<(String, Option<f32>)>, Error> {
    let search = search.limit(RANKS).total(TotalMode::Unknown);
    let found = search.fields([id_field]).run()?;
    let mut names = HashSet::new();
    let mut ranking = vec![];
    for hit in found.hits {
        let name = name_of(&hit.fields, id_field).ok_or_else(|| {
            Error::new(ErrorKind::Document, "naming the documents that were found")
                .expected(format!("one value in the field '{id_field}' of each"))
                .found(format!("document {} with another number of them", hit.doc))
        })?;
        if !names.insert(name.clone()) {
            return Err(Error::new(ErrorKind::Document, "naming the documents that were found")
                .expected(format!("a field '{id_field}' that no two documents share"))
                .found(format!("'{name}' twice for the query '{}'", topic.id)));
        }
        ranking.push((name, hit.score));
    }
    Ok(ranking)
}

fn name_of(fields: &Fields, id_field: &str) -> Option<String> {
    let mut values = fields.get(id_field)?.iter();
    values.next().filter(|_| values.next().is_none()).map(|value| value.to_text().into_owned())
}

/// A query for any of the words of a plain text, as each default field tells words apart: what the
/// query language takes for a phrase, as "time-sharing", is two words here. Of fields that are combined the
/// first says that for all.
fn any_word(
    schema: &Schema,
    analyzers: &Analyzers,
    text: &str,
    combined: &[(String, Boost)],
) -> Result<Query, Error> {
    let mut words = vec![];
    if let Some((name, _)) = combined.first() {
        let field = schema.field(name).ok_or_else(|| {
            let wrong = usage("reading --combined").expected("a field of the index");
            did_you_mean(wrong.found(format!("'{name}'")), schema, name)
        })?;
        analyzers.query_time(field)?.for_each_token(text, |token| {
            let written = text.get(token.offset_from..token.offset_to).unwrap_or_default();
            words.push(Query::word(written));
        });
        return Ok(side_by_side(words).in_combined_fields(combined.iter().cloned()));
    }
    for field in schema.default_fields().filter(|field| field.kind == FieldKind::Text) {
        analyzers.query_time(field)?.for_each_token(text, |token| {
            let written = text.get(token.offset_from..token.offset_to).unwrap_or_default();
            words.push(Query::word_in(&*field.name, written));
        });
    }
    Ok(side_by_side(words))
}

/// Any of these words, read together, so that synonyms of several words are found.
fn side_by_side(words: Vec<Query>) -> Query {
    match words.is_empty() {
        true => Query::Nothing,
        false => Query::group(vec![], words, vec![]),
    }
}

fn check_id_field(searcher: &Searcher, name: &str) -> Result<(), Error> {
    let wrong = || usage("choosing the field with the documents' names").hint("see --id-field");
    match searcher.schema().field(name) {
        Some(field) if field.stored => Ok(()),
        Some(_) => {
            Err(wrong().expected("a stored field").found(format!("'{name}', which is not stored")))
        }
        None => {
            let fields = searcher.schema().fields().iter().filter(|field| field.stored);
            let names: Vec<_> = fields.map(|field| &*field.name).collect();
            let error = wrong().expected(format!("one of {}", names.join(", ")));
            Err(did_you_mean(error.found(format!("'{name}'")), searcher.schema(), name))
        }
    }
}

/// Printed results: the means, and the figures of each query if they are asked for.
struct Report<'t> {
    mean: Measures,
    measured: Option<Vec<(&'t str, Measures)>>,
    n: usize,
}

/// The row of the means among those of queries, as trec_eval names it.
const ALL: &str = "all";

impl Report<'_> {
    fn print(&self, out: &mut Output, format: Format) -> Outcome<()> {
        match format {
            Format::Json => Ok(out.json_line(&self.to_json())?),
            Format::Text if self.measured.is_none() => Ok(self.print_text(out)?),
            _ => self.print_rows(out, format),
        }
    }

    fn print_text(&self, out: &mut Output) -> std::io::Result<()> {
        let queries = if self.n == 1 { "query" } else { "queries" };
        let title = format!("mean of {} {queries}", output::grouped(self.n as u64));
        writeln!(out, "{}", out.dim(&title))?;
        for (name, value) in Measures::NAMES.iter().zip(self.mean.values()) {
            writeln!(out, "{name:<12}{value:.4}")?;
        }
        Ok(())
    }

    fn print_rows(&self, out: &mut Output, format: Format) -> Outcome<()> {
        let names: Vec<&str> = ["query"].into_iter().chain(Measures::NAMES).collect();
        let mut table = Table::new(out, format, &names)?;
        for (id, figures) in self.measured.iter().flatten().copied().chain([(ALL, self.mean)]) {
            // People compare four digits, as trec_eval prints them; programs get all.
            let cell = |value: f64| match format {
                Format::Text => json!(format!("{value:.4}")),
                _ => json!(value),
            };
            table.row([json!(id)].into_iter().chain(figures.values().map(cell)).collect())?;
        }
        Ok(table.finish()?)
    }

    fn to_json(&self) -> Value {
        let mut object = Map::from_iter([("queries".to_owned(), json!(self.n))]);
        object.extend(object_of(&self.mean));
        if let Some(measured) = &self.measured {
            let queries = measured.iter().map(|(id, figures)| {
                let mut object = Map::from_iter([("query".to_owned(), json!(id))]);
                object.extend(object_of(figures));
                Value::Object(object)
            });
            object.insert("per_query".into(), queries.collect());
        }
        Value::Object(object)
    }
}

/// The figures under their names.
fn object_of(figures: &Measures) -> impl Iterator<Item = (String, Value)> {
    let names = Measures::NAMES.map(str::to_owned).into_iter();
    names.zip(figures.values().map(Value::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie::Field;

    #[test]
    fn a_text_is_any_of_its_words() {
        let analyzed = Field::new("text", FieldKind::Text).analyzer("english");
        let schema = Schema::builder().keyword("id").field(analyzed).build().unwrap();
        let text = "What about TSS (time-sharing), i.e. 'quoted' or Euler's -- +AND?";
        let expected = ["What", "about", "TSS", "time", "sharing", "i.e", "quoted", "Euler's"];
        let expected = expected.map(|word| Query::word_in("text", word)).to_vec();
        let expected = Query::group(vec![], expected, vec![]);
        assert_eq!(any_word(&schema, &Analyzers::default(), text, &[]).unwrap(), expected);
        assert_eq!(
            any_word(&schema, &Analyzers::default(), " -- ' ", &[]).unwrap(),
            Query::Nothing
        );
        let combined = ["text", "id"].map(|name| (name.to_owned(), Boost::ONE));
        let query =
            any_word(&schema, &Analyzers::default(), "Euler's time-sharing", &combined).unwrap();
        assert_eq!(query.to_string(), "{text + id}:(Euler's time sharing)");
    }
}
