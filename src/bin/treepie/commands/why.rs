//! `treepie explain --doc N`: how the score of a document comes about, or which conditions it misses.

use std::io::{self, Write};

use serde_json::{Value, json};
use treepie::{DocId, Error, Explanation, SearchBuilder, Searcher, query::Query};

use crate::{output::Output, terminal};

/// What there is to say of one document.
#[derive(Debug)]
pub(crate) struct Why {
    doc: DocId,
    score: Option<Explanation>,
    /// What keeps it from matching, a sentence each, where it does not.
    misses: Vec<String>,
}

/// Why a document matches what a search looks for, or does not.
pub(crate) fn of(
    searcher: &Searcher,
    search: &SearchBuilder<'_>,
    doc: DocId,
) -> Result<Why, Error> {
    let score = search.explain_score(doc)?;
    let misses = match score {
        Some(_) => vec![],
        None => misses(searcher, &search.query(), doc)?,
    };
    Ok(Why { doc, score, misses })
}

/// The conditions that a document does not meet, one level deep.
fn misses(searcher: &Searcher, query: &Query, doc: DocId) -> Result<Vec<String>, Error> {
    let meets = |part: &Query| searcher.explain_score(part, doc).map(|score| score.is_some());
    let mut misses = vec![];
    let mut conditions = |parts: &[Query], wanted: bool| {
        for part in parts {
            if meets(part)? != wanted {
                misses.push(match wanted {
                    true => format!("{part} must match and does not"),
                    false => format!("{part} must not match and does"),
                });
            }
        }
        Ok::<_, Error>(())
    };
    match query {
        Query::And(all) => conditions(all, true)?,
        Query::Not(part) => conditions(std::slice::from_ref(part), false)?,
        Query::Group { must, should, must_not, minimum } => {
            conditions(must, true)?;
            conditions(must_not, false)?;
            let least = minimum.unwrap_or(u32::from(must.is_empty() && !should.is_empty()));
            let mut n_matching = 0;
            for part in should {
                n_matching += u32::from(meets(part)?);
            }
            if n_matching < least {
                let of = should.len();
                misses.push(format!("{n_matching} of {of} alternatives match, and {least} must"));
            }
        }
        Query::Or(any) | Query::DisMax { any, .. } => {
            misses.push(format!("none of {} alternatives matches", any.len()));
        }
        other => misses.push(format!("{other} does not match")),
    }
    Ok(misses)
}

impl Why {
    pub(crate) fn matches(&self) -> bool {
        self.score.is_some()
    }

    pub(crate) fn print_text(&self, out: &mut Output) -> io::Result<()> {
        let text = match &self.score {
            Some(score) => score.to_string(),
            None => {
                let misses = self.misses.iter().map(|miss| format!("\n  {miss}"));
                format!("document {} does not match{}", self.doc, misses.collect::<String>())
            }
        };
        text.lines().try_for_each(|line| writeln!(out, "{}", terminal::printable(line)))
    }

    pub(crate) fn to_json(&self, query: &str) -> Value {
        json!({
            "query": query,
            "doc": self.doc.0,
            "matches": self.matches(),
            "score": self.score.as_ref().map(|score| score.value),
            "explanation": self.score.as_ref().map(explanation),
            "misses": self.misses,
        })
    }
}

fn explanation(of: &Explanation) -> Value {
    json!({
        "value": of.value,
        "what": of.what,
        "parts": of.parts.iter().map(explanation).collect::<Vec<_>>(),
    })
}
