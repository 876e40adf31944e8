//! Vectors of the command line: `--param v=@q.json`, `--knn embedding=@q.json:10`.

use treepie::query::{GroupBuilder, Query, QueryVector};
use treepie::search::Fusion;
use treepie::{DocId, Error};

use crate::failure::{Outcome, read_text, usage};

/// Options about vectors.
#[derive(Debug, clap::Args)]
pub(crate) struct VectorArgs {
    /// Vector that a name stands for in the query, as $NAME.
    ///
    /// A file with a list of numbers in JSON, v=@q.json, or the list itself, v=[0.5,-1]; may be given several times.
    #[arg(help_heading = "Find", hide_short_help = true)]
    #[arg(long = "param", value_name = "NAME=@FILE")]
    params: Vec<String>,
    /// Find the K documents with the vectors nearest to another.
    ///
    /// The query then only filters, with * for all documents, unless --fuse makes one page of both. The vector is in a file,
    /// embedding=@q.json:10, a list, embedding=[0.5,-1]:10, or that of a document, embedding=doc:15212:10. Behind K may
    /// stand the part of them that is to be found, embedding=@q.json:10,recall=.99, how many vectors a walk keeps, ef=200, or
    /// exact, for comparing all; by default recall=.95. May be given several times.
    #[arg(help_heading = "Find", hide_short_help = true)]
    #[arg(long, value_name = "FIELD=VECTOR:K[,recall=N]")]
    knn: Vec<String>,
}

impl VectorArgs {
    /// The query with vectors in place of their names.
    pub(super) fn with_parameters(&self, query: Query) -> Outcome<Query> {
        let mut vectors = vec![];
        for typed in &self.params {
            let Some((name, vector)) = typed.split_once('=') else {
                let wrong = usage("reading --param").expected("NAME=@FILE or NAME=[NUMBER,…]");
                return Err(wrong.found(format!("'{typed}'")).into());
            };
            vectors.push((name, numbers("--param", vector)?));
        }
        Ok(if vectors.is_empty() { query } else { query.with_vectors(vectors)? })
    }

    /// Queries for the nearest, one for each option.
    pub(super) fn nearest(&self) -> Outcome<Vec<Query>> {
        self.knn.iter().map(|typed| nearest(typed)).collect()
    }
}

/// The nearest among all that a query matches.
pub(super) fn filtered_by(query: Query, nearest: Vec<Query>) -> Query {
    match (query, nearest.is_empty()) {
        (query, true) => query,
        (Query::All, false) => Query::all_of(nearest),
        (query, false) => {
            nearest.into_iter().fold(Query::boolean().filter(query), GroupBuilder::must).build()
        }
    }
}

/// `embedding=@q.json:10,recall=.99`.
fn nearest(typed: &str) -> Outcome<Query> {
    let wrong = || {
        usage("reading --knn")
            .expected(
                "FIELD=@FILE:K, FIELD=[NUMBER,…]:K or FIELD=doc:NUMBER:K, with ,recall=N, ,ef=N or ,exact behind K",
            )
            .found(format!("'{typed}'"))
    };
    let (field, vector, k) = split(typed).ok_or_else(wrong)?;
    let (k, effort) = k.split_once(',').map_or((k, None), |(k, effort)| (k, Some(effort)));
    let k: u32 = k.parse().map_err(|_| wrong())?;
    let vector = vector_of("--knn", vector)?.ok_or_else(wrong)?;
    let nearest = Query::nearest(field, vector, k);
    Ok(match effort.map(|effort| effort.split_once('=').unwrap_or((effort, ""))) {
        None => nearest,
        Some(("exact", "")) => nearest.exact(),
        Some(("recall", recall)) => nearest.recall(recall.parse().map_err(|_| wrong())?),
        Some(("ef", n)) => nearest.ef(n.parse().map_err(|_| wrong())?),
        Some(_) => return Err(wrong().into()),
    })
}

/// `embedding=@q.json:100`: an order of the best by similarity.
pub(super) fn rerank(typed: &str) -> Outcome<Fusion> {
    let wrong = || {
        usage("reading --rerank")
            .expected("FIELD=@FILE:N, FIELD=[NUMBER,…]:N or FIELD=doc:NUMBER:N")
            .found(format!("'{typed}'"))
    };
    let (field, vector, n) = split(typed).ok_or_else(wrong)?;
    let n: u32 = n.parse().map_err(|_| wrong())?;
    Ok(Fusion::rerank(field, vector_of("--rerank", vector)?.ok_or_else(wrong)?, n))
}

/// Field, vector and what is behind it.
fn split(typed: &str) -> Option<(&str, &str, &str)> {
    let (field, rest) = typed.split_once('=')?;
    let (vector, number) = rest.rsplit_once(':')?;
    Some((field, vector, number))
}

/// A list of numbers, that of a file, or that of a document; none if it is no number of a document.
fn vector_of(option: &str, typed: &str) -> Outcome<Option<QueryVector>> {
    Ok(match typed.strip_prefix("doc:") {
        Some(doc) => doc.parse().ok().map(|doc| QueryVector::Document(DocId(doc))),
        None => Some(numbers(option, typed)?.into()),
    })
}

/// A list of numbers, or that of a file.
fn numbers(option: &str, typed: &str) -> Result<Vec<f32>, Error> {
    let doing = format!("reading {option}");
    let (text, path) = match typed.strip_prefix('@') {
        Some(path) => (read_text(&doing, path.as_ref())?, Some(path)),
        None => (typed.to_owned(), None),
    };
    let read: Result<Vec<f32>, _> = serde_json::from_str(&text);
    read.map_err(|error| {
        let error = usage(doing).expected("a list of numbers in JSON").found(error.to_string());
        match path {
            Some(path) => error.in_file(path),
            None => error,
        }
    })
}
