//! The files: queries, judgements ("qrels"), and the run that is written.
//!
//! | file | a line | separated by |
//! |---|---|---|
//! | queries | id, text | the first tab |
//! | judgements | query id, iteration (ignored), document id, relevance (an integer) | blanks |
//! | run | query id, `Q0`, document id, rank from 1, score, name of the run | a space |
//!
//! Empty lines mean nothing. The formats are described in the README of
//! [trec_eval](https://github.com/usnistgov/trec_eval).

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use treepie::{Error, ErrorKind};

use crate::failure::read_text;

/// A query of the collection: what somebody wants to know.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Topic {
    pub(crate) id: String,
    /// Plain text, not the query language.
    pub(crate) text: String,
}

/// Grades of relevance, by the query's id, then by the document's.
pub(crate) type Judgements = HashMap<String, HashMap<String, i64>>;

/// Reads the queries, in their order.
pub(crate) fn read_topics(path: &Path) -> Result<Vec<Topic>, Error> {
    let text = read_text("reading the queries", path)?;
    parse_topics(&text).map_err(|error| error.in_file(path))
}

/// Reads the judgements.
pub(crate) fn read_judgements(path: &Path) -> Result<Judgements, Error> {
    let text = read_text("reading the judgements", path)?;
    parse_judgements(&text).map_err(|error| error.in_file(path))
}

fn parse_topics(text: &str) -> Result<Vec<Topic>, Error> {
    let wrong = |line| bad("reading the queries", line);
    let (mut topics, mut ids) = (vec![], HashSet::new());
    for (line, content) in numbered(text) {
        let Some((id, text)) = content.split_once('\t') else {
            return Err(wrong(line).expected("an id, a tab, and the query").found("no tab"));
        };
        if id.is_empty() || id.contains(char::is_whitespace) {
            return Err(wrong(line).expected("an id without blanks").found(format!("'{id}'")));
        }
        if !ids.insert(id) {
            return Err(wrong(line).expected("each id once").found(format!("'{id}' again")));
        }
        topics.push(Topic { id: id.to_owned(), text: text.trim().to_owned() });
    }
    Ok(topics)
}

fn parse_judgements(text: &str) -> Result<Judgements, Error> {
    let wrong = |line| bad("reading the judgements", line);
    let mut judgements = Judgements::new();
    for (line, content) in numbered(text) {
        let columns: Vec<&str> = content.split_whitespace().collect();
        let &[query, _iteration, doc, relevance] = columns.as_slice() else {
            return Err(wrong(line)
                .expected("four columns: query, iteration, document, relevance")
                .found(columns.len().to_string()));
        };
        let relevance: i64 = relevance.parse().map_err(|_| {
            wrong(line).expected("an integer as relevance").found(format!("'{relevance}'"))
        })?;
        match judgements.entry(query.to_owned()).or_default().entry(doc.to_owned()) {
            Entry::Vacant(entry) => entry.insert(relevance),
            Entry::Occupied(_) => {
                return Err(wrong(line)
                    .expected("one judgement of a document for a query")
                    .found(format!("a second one of '{doc}' for '{query}'")));
            }
        };
    }
    Ok(judgements)
}

/// The lines that are not blank, with their numbers from 1.
fn numbered(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty())
}

/// An error about a line of one of these files.
fn bad(what: &str, line: u64) -> Error {
    Error::new(ErrorKind::Document, what).at_line(line)
}

/// The run file on its way to the disk.
#[derive(Debug)]
pub(crate) struct Run {
    path: PathBuf,
    to: BufWriter<File>,
}

impl Run {
    /// The name of the run, in its last column.
    const NAME: &str = "treepie";

    /// Creates the file, or empties it.
    pub(crate) fn create(path: &Path) -> Result<Run, Error> {
        let to = File::create(path)
            .map_err(|error| Error::io("creating the run file", error).in_file(path))?;
        Ok(Run { path: path.to_owned(), to: BufWriter::new(to) })
    }

    /// Writes what was found for one query, best first: documents with their scores. A document without a score is
    /// written with 0.
    pub(crate) fn write(
        &mut self,
        query: &str,
        found: impl IntoIterator<Item = (String, Option<f32>)>,
    ) -> Result<(), Error> {
        for (rank, (doc, score)) in (1..).zip(found) {
            if doc.is_empty() || doc.contains(char::is_whitespace) {
                return Err(Error::new(ErrorKind::Document, "writing the run file")
                    .expected("ids of documents without blanks")
                    .found(format!("'{doc}'"))
                    .in_file(&self.path));
            }
            let score = score.unwrap_or(0.0);
            writeln!(self.to, "{query} Q0 {doc} {rank} {score} {}", Self::NAME)
                .map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    /// Writes what is still held back.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        self.to.flush().map_err(|error| self.failed(error))
    }

    fn failed(&self, error: std::io::Error) -> Error {
        Error::io("writing the run file", error).in_file(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_ids_and_texts() {
        let topics = parse_topics("\u{feff}1\twhat is BM25?\r\n\n2a\t a\tb \n").unwrap();
        let topic = |id: &str, text: &str| Topic { id: id.into(), text: text.into() };
        assert_eq!(topics, [topic("1", "what is BM25?"), topic("2a", "a\tb")]);
        for (text, line, words) in [
            ("1\ta\n2 b\n", 2, "no tab"),
            ("\n\tb\n", 2, "found ''"),
            ("1 2\tb\n", 1, "'1 2'"),
            ("1\ta\n2\tb\n1\tc\n", 3, "'1' again"),
        ] {
            let error = parse_topics(text).unwrap_err();
            assert_eq!(error.line(), Some(line), "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
    }

    #[test]
    fn judgements_are_four_columns() {
        let judgements = parse_judgements("1 0 a 2\n1\tQ0   b -1\r\n\n2 0 a 0\n").unwrap();
        assert_eq!(judgements.len(), 2);
        assert_eq!(judgements["1"], HashMap::from([("a".into(), 2), ("b".into(), -1)]));
        assert_eq!(judgements["2"], HashMap::from([("a".into(), 0)]));
        for (text, line, words) in [
            ("1 0 a\n", 1, "found 3"),
            ("1 0 a 1\n1 0 b 1 x\n", 2, "found 5"),
            ("\n1 0 a yes\n", 2, "'yes'"),
            ("1 0 a 1.5\n", 1, "'1.5'"),
            ("1 0 a 1\n2 0 a 1\n1 1 a 1\n", 3, "a second one of 'a' for '1'"),
        ] {
            let error = parse_judgements(text).unwrap_err();
            assert_eq!(error.line(), Some(line), "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
