//! `treepie upgrade INDEX`: terms of the newest analyzers, made from the stored documents.
//!
//! This version reads one format. So there are no older files that could be written anew: an index that opens is of that
//! format, and one of another says why it does not open. Its terms may have been made by older analyzers all the same.

use std::{io::Write, path::PathBuf};

use serde_json::json;
use treepie::{
    Document, Error, ErrorKind, Index, Schema, Searcher, format::FORMAT_VERSION, search::Fields,
};

use super::{WaitArg, is_state, open};
use crate::{
    args::Global,
    failure::{Exit, Outcome},
    output::{Output, ReportFormat, plural},
    progress::{Counters, ProgressLine},
};

/// Index stored documents anew with today's analyzers.
///
/// An index that has nothing to upgrade is not touched.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:
  treepie upgrade titles.tp
  treepie upgrade titles.tp --check

One commit replaces all documents: searches see all old terms or all new ones, and an upgrade that
is interrupted has changed nothing. It takes as long as indexing, and room for a second index until
it is done. All fields must be stored; otherwise index the input again.

An index of an older format is refused, with what to do: `treepie export` of the version that wrote
it prints the documents, and `treepie index` makes an index of the newest format of them.

Exit status: 0 done or nothing to do, 1 --check found something to do, 2 another format, or an error.")]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// Only say whether there is something to do.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    wait: WaitArg,
    /// Print in this format.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    // Segments too: each has its version.
    let index = open(&args.index)?;
    let differences = index.inspect()?.term_versions().differences();
    let is_left = args.check && !differences.is_empty();
    let n_indexed = match differences.is_empty() || args.check {
        true => None,
        false => Some(index_again(&args, index.schema(), global)?),
    };
    let version = format!("{}.{}", FORMAT_VERSION.0, FORMAT_VERSION.1);
    let mut out = Output::new(global.color);
    match args.format {
        ReportFormat::Json => out.json_line(&json!({
            "format_version": version,
            "differences": differences,
            "documents": n_indexed,
        }))?,
        ReportFormat::Text if differences.is_empty() => {
            writeln!(out, "format {version}, the newest: nothing to do")?;
        }
        ReportFormat::Text => {
            writeln!(out, "format {version}, the newest; terms of other versions:")?;
            differences.iter().try_for_each(|difference| writeln!(out, "  {difference}"))?;
            match n_indexed {
                Some(n) => writeln!(out, "indexed again: {}", plural(n, "document"))?,
                None => writeln!(out, "without --check the stored documents are indexed again")?,
            }
        }
    }
    out.flush()?;
    Ok(if is_left { Exit::Different } else { Exit::Done })
}

/// Replaces all documents by themselves in one commit; how many there are.
fn index_again(args: &Args, schema: &Schema, global: Global) -> Outcome<u64> {
    check_stored(schema).map_err(|error| error.in_file(&args.index))?;
    let counters = Counters::default();
    let progress = ProgressLine::start(global.quiet, None, &counters);
    let stage = counters.clone();
    let options = args.wait.options().on_progress(move |progress| stage.set_stage(progress));
    let new = Index::overwrite(&args.index, schema.clone())?;
    let mut writer = new.writer_with(options).map_err(|error| args.wait.hint(error))?;
    // Opened behind the lock: nobody commits between what is read and what replaces it.
    let old = open(&args.index)?.searcher()?;
    if old.schema() != schema {
        return Err(Error::new(ErrorKind::Schema, READING)
            .expected("the schema that was there at first")
            .found("another, of a commit that came meanwhile")
            .in_file(&args.index)
            .hint("try again")
            .into());
    }
    writer.set_payload(old.payload())?;
    for doc in old.documents() {
        writer.add(document(&old, &old.document(doc?)?))?;
    }
    writer.commit()?;
    drop(progress);
    Ok(old.n_docs())
}

/// Name of the work, in messages.
const READING: &str = "upgrading an index";

/// Refuses an index whose documents cannot be made from what it stores.
fn check_stored(schema: &Schema) -> Result<(), Error> {
    let is_lost = |field: &&treepie::Field| !field.stored && field.copy_of.is_none();
    let lost: Vec<_> = schema.fields().iter().filter(is_lost).map(|field| &*field.name).collect();
    if lost.is_empty() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Schema, READING)
        .expected("stored fields only, to make the terms of")
        .found(format!("not stored: {}", lost.join(", ")))
        .hint("index the input again with `treepie index --overwrite`; until then the index works as before"))
}

/// The document that these stored fields are of. Copies are made anew.
fn document(searcher: &Searcher, stored: &Fields) -> Document {
    let mut document = Document::new();
    for field in searcher.schema().fields().iter().filter(|field| field.copy_of.is_none()) {
        let Some(values) = stored.get(&field.name) else { continue };
        for value in values.iter() {
            // An empty text says by itself that it is one.
            let says_itself =
                is_state(field) && value.as_str().is_some_and(|name| stored.contains_key(name));
            if !says_itself {
                document.push(&*field.name, value.clone());
            }
        }
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie::{Field, FieldKind, Value};

    #[test]
    fn documents_are_made_of_what_is_stored() {
        let schema = Schema::builder().text("title").i64("year").nulls();
        let copy = Field::new("exact", FieldKind::Keyword).stored(false).copy_of("title");
        let tags = Field::new("tag", FieldKind::Keyword).many(true);
        let schema = schema.field(copy).field(tags).build().unwrap();
        let of = |documents: Vec<Document>| {
            let index = Index::in_memory(schema.clone());
            let mut writer = index.writer().unwrap();
            documents.into_iter().for_each(|document| writer.add(document).unwrap());
            writer.commit().unwrap();
            index.searcher().unwrap()
        };
        let stored = |searcher: &Searcher| -> Vec<Fields> {
            searcher.documents().map(|doc| searcher.document(doc.unwrap()).unwrap()).collect()
        };
        let before = of(vec![
            Document::new().with("title", "a b").with("year", 7).with("tag", "x").with("tag", "y"),
            Document::new().with("title", "").with("year", Value::Null).with_empty("tag"),
            Document::new(),
        ]);
        check_stored(before.schema()).unwrap();
        let again = stored(&before).iter().map(|fields| document(&before, fields)).collect();
        let after = of(again);
        assert_eq!(stored(&after), stored(&before));
        for query in ["exact:\"a b\"", "_empty:title", "_null:year", "_empty:tag", "tag:y"] {
            let count =
                |searcher: &Searcher| searcher.count(&searcher.parse(query).unwrap()).unwrap();
            assert_eq!([count(&before), count(&after)], [1, 1], "{query}");
        }
    }

    #[test]
    fn what_is_not_stored_is_named() {
        let secret = Field::new("secret", FieldKind::Keyword).stored(false);
        let schema = Schema::builder().text("title").field(secret).build().unwrap();
        let error = check_stored(&schema).unwrap_err().to_string();
        assert!(error.contains("secret") && error.contains("--overwrite"), "{error}");
    }
}
