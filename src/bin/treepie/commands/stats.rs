//! `treepie stats INDEX`: an index in figures, on a screen.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    io::Write,
    path::PathBuf,
};

use serde_json::{Value, json};
use treepie::format::FORMAT_VERSION;
use treepie::inspect::{DiskUsage, Inspector, StorageReport};
use treepie::{Error, Schema};

use super::{check_field, open, value_to_json};
use crate::{
    args::{self, Global},
    failure::{Exit, Outcome},
    output::{Format, Output, ReportFormat, Table, bytes, grouped, plural},
    terminal,
};

/// Show an index in figures: documents, bytes, fields, terms.
///
/// The details are in `treepie inspect`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:
  treepie stats titles.tp
  treepie stats titles.tp --terms 10
  treepie stats titles.tp --terms 20 --field title
  treepie stats titles.tp --format json

Terms and tokens are those of the segments, so deleted documents count until a merge takes them
away. The average length of a field is in tokens, of the documents that have a value. Reads the
headers of all posting lists, and with several segments all of their dictionaries.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// List the N most frequent terms of each field.
    #[arg(help_heading = "Show")]
    #[arg(long, value_parser = args::whole_number::<usize>, default_value_t = 0, hide_default_value = true, value_name = "N")]
    terms: usize,
    /// Field of the index.
    ///
    /// Only the fields that are named are shown; may be given several times.
    #[arg(help_heading = "Show")]
    #[arg(long = "field", value_name = "FIELD")]
    fields: Vec<String>,
    /// Print in this format.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
}

/// Figures of an index.
struct Stats {
    generation: u64,
    documents: u64,
    deleted: u64,
    segments: usize,
    bytes: u64,
    on_disk: DiskUsage,
    /// Bytes by part, the largest first.
    parts: Vec<(String, u64)>,
    fields: Vec<FieldStats>,
}

/// Figures of a field, over all segments.
struct FieldStats {
    name: String,
    kind: &'static str,
    /// Documents that have a value.
    documents: u64,
    terms: u64,
    tokens: u64,
    bytes: u64,
    /// Most frequent terms with their documents, the most frequent first.
    top: Vec<(treepie::Value, u64)>,
}

impl FieldStats {
    /// Tokens of a document that has any.
    fn average_length(&self) -> Option<f64> {
        (self.documents > 0).then(|| self.tokens as f64 / self.documents as f64)
    }
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let opened = open(&args.index)?;
    let index = opened.inspect()?;
    args.fields.iter().try_for_each(|name| check_field("--field", name, index.schema()))?;
    let is_shown = |name: &str| args.fields.is_empty() || args.fields.iter().any(|it| it == name);
    let stats = Stats::of(&index, opened.disk_usage()?, args.terms, is_shown)?;
    let mut out = global.output();
    match args.format {
        ReportFormat::Text => stats.print(&mut out, args.terms > 0)?,
        ReportFormat::Json => out.json_line(&stats.to_json(args.terms > 0))?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

impl Stats {
    fn of(
        index: &Inspector,
        on_disk: DiskUsage,
        n_top: usize,
        is_shown: impl Fn(&str) -> bool,
    ) -> Result<Stats, Error> {
        let (segments, report) = (index.segments(), index.storage()?);
        let fields = field_stats(index, &report, n_top, is_shown)?;
        Ok(Stats {
            generation: index.generation(),
            documents: index.documents(),
            deleted: segments.iter().map(|segment| segment.deleted).sum(),
            segments: segments.len(),
            bytes: report.total,
            on_disk,
            parts: bytes_by_part(&report),
            fields,
        })
    }
}

/// Parts as `inspect storage` has them, without the details behind their names and the fields before.
fn bytes_by_part(report: &StorageReport) -> Vec<(String, u64)> {
    let mut sums = BTreeMap::<&str, u64>::new();
    for part in &report.parts {
        let name = part.part.split(':').next().unwrap_or_default();
        *sums.entry(name).or_default() += part.bytes;
    }
    let mut parts: Vec<_> = sums.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
    parts.sort_by_key(|(_, bytes)| Reverse(*bytes));
    parts.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}

fn field_stats(
    index: &Inspector,
    report: &StorageReport,
    n_top: usize,
    is_shown: impl Fn(&str) -> bool,
) -> Result<Vec<FieldStats>, Error> {
    let segments = index.segments();
    let schema: &Schema = index.schema();
    let mut all = vec![];
    for field in schema.fields().iter().filter(|field| is_shown(&field.name)) {
        let of_field = |name: &str| name == field.name;
        let mut stats = FieldStats {
            name: field.name.clone(),
            kind: field.kind.name(),
            documents: 0,
            terms: 0,
            tokens: 0,
            bytes: 0,
            top: vec![],
        };
        for known in segments.iter().flat_map(|it| &it.fields).filter(|it| of_field(&it.name)) {
            stats.documents += known.documents;
            stats.terms += known.terms;
            stats.tokens += known.tokens;
        }
        let parts = report.parts.iter().filter(|part| part.field.as_deref().is_some_and(of_field));
        stats.bytes = parts.map(|part| part.bytes).sum();
        // A term of two segments is one.
        if n_top > 0 || segments.len() > 1 {
            (stats.terms, stats.top) = walk_terms(index, &field.name, n_top)?;
        }
        all.push(stats);
    }
    Ok(all)
}

/// Different terms of a field, and the most frequent ones; of the same frequency those that come first in the dictionary.
fn walk_terms(
    index: &Inspector,
    field: &str,
    n_top: usize,
) -> Result<(u64, Vec<(treepie::Value, u64)>), Error> {
    let (mut n_terms, mut least) = (0_u64, BinaryHeap::new());
    let mut values = BTreeMap::new();
    index.for_each_term(field, "", |term, documents| {
        n_terms += 1;
        let is_among = least.len() < n_top
            || least.peek().is_some_and(|Reverse((fewest, _))| documents > *fewest);
        if is_among {
            least.push(Reverse((documents, Reverse(n_terms))));
            values.insert(n_terms, term.clone());
            if least.len() > n_top
                && let Some(Reverse((_, Reverse(nth)))) = least.pop()
            {
                values.remove(&nth);
            }
        }
        Ok(true)
    })?;
    let most_frequent = least.into_sorted_vec().into_iter();
    let named = most_frequent
        .filter_map(|Reverse((documents, Reverse(nth)))| Some((values.remove(&nth)?, documents)));
    Ok((n_terms, named.collect()))
}

impl Stats {
    fn print(&self, out: &mut Output, with_terms: bool) -> Outcome<()> {
        let deleted = match self.deleted {
            0 => String::new(),
            n => format!(" ({} deleted besides)", grouped(n)),
        };
        let each = self.bytes as f64 / self.documents.max(1) as f64;
        writeln!(
            out,
            "{}{deleted}, {}, {}, {each:.1} bytes each",
            plural(self.documents, "document"),
            plural(self.segments as u64, "segment"),
            bytes(self.bytes),
        )?;
        let (major, minor) = FORMAT_VERSION;
        writeln!(out, "commit {}, format {major}.{minor}", grouped(self.generation))?;
        if self.on_disk.reclaimable() > 0 {
            let (reclaimable, all) = (self.on_disk.reclaimable(), self.on_disk.total());
            writeln!(
                out,
                "on disk {}, {} of it not of this commit",
                bytes(all),
                bytes(reclaimable)
            )?;
        }
        writeln!(out)?;
        let mut table = Table::new(out, Format::Text, &["part", "bytes", "percent"])?;
        for (part, bytes) in &self.parts {
            let percent = *bytes as f64 * 100.0 / self.bytes.max(1) as f64;
            table.row(vec![json!(part), json!(bytes), json!((percent * 10.0).round() / 10.0)])?;
        }
        table.finish()?;
        self.print_fields(out)?;
        match with_terms {
            true => self.print_terms(out),
            false => Ok(()),
        }
    }

    fn print_fields(&self, out: &mut Output) -> Outcome<()> {
        writeln!(out)?;
        let names = ["field", "type", "documents", "terms", "tokens", "average_length", "bytes"];
        let mut table = Table::new(out, Format::Text, &names)?;
        for field in &self.fields {
            let average = field.average_length().map(|length| (length * 10.0).round() / 10.0);
            table.row(vec![
                json!(field.name),
                json!(field.kind),
                json!(field.documents),
                json!(field.terms),
                json!(field.tokens),
                json!(average),
                json!(field.bytes),
            ])?;
        }
        Ok(table.finish()?)
    }

    fn print_terms(&self, out: &mut Output) -> Outcome<()> {
        for field in self.fields.iter().filter(|field| !field.top.is_empty()) {
            let name = terminal::printable(&field.name).into_owned();
            writeln!(out, "\nmost frequent terms of {}", out.strong(&name).into_owned())?;
            let mut table = Table::new(out, Format::Text, &["documents", "percent", "term"])?;
            for (term, documents) in &field.top {
                let percent = *documents as f64 * 100.0 / field.documents.max(1) as f64;
                let percent = json!((percent * 10.0).round() / 10.0);
                table.row(vec![json!(documents), percent, value_to_json(term)])?;
            }
            table.finish()?;
        }
        Ok(())
    }

    fn to_json(&self, with_terms: bool) -> Value {
        let part = |(part, bytes): &(String, u64)| json!({ "part": part, "bytes": bytes });
        let fields = self.fields.iter().map(|field| field.to_json(with_terms));
        json!({
            "format_version": format!("{}.{}", FORMAT_VERSION.0, FORMAT_VERSION.1),
            "generation": self.generation,
            "documents": self.documents,
            "deleted": self.deleted,
            "segments": self.segments,
            "bytes": self.bytes,
            "bytes_on_disk": self.on_disk.total(),
            "bytes_reclaimable": self.on_disk.reclaimable(),
            "parts": self.parts.iter().map(part).collect::<Vec<_>>(),
            "fields": fields.collect::<Vec<_>>(),
        })
    }
}

impl FieldStats {
    fn to_json(&self, with_terms: bool) -> Value {
        let mut object = json!({
            "field": self.name,
            "type": self.kind,
            "documents": self.documents,
            "terms": self.terms,
            "tokens": self.tokens,
            "average_length": self.average_length(),
            "bytes": self.bytes,
        });
        let term = |(term, documents): &(treepie::Value, u64)| json!({ "term": value_to_json(term), "documents": documents });
        if let (true, Some(object)) = (with_terms, object.as_object_mut()) {
            object.insert("top_terms".into(), self.top.iter().map(term).collect());
        }
        object
    }
}
