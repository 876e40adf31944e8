//! Highlighting: the best passages of a text, with the words of the query marked.
//!
//! A [`Highlighter`] is made of a query once and then looks at stored texts. A text is analysed as it
//! was when it was indexed, and its terms, not its spelling, are compared with those of the query: so
//! `running` is marked where `run` was asked for and the field stems, `Łódź` for `lodz` where it
//! folds. Patterns mark the words whose terms they stand for, synonyms the words found by them,
//! and of phrases only the words that stand as the phrase wants them. Words that the query
//! excludes are not marked.
//!
//! ```
//! use treepie::{Document, Index, Schema, highlight::PassageOptions};
//!
//! let index = Index::in_memory(Schema::builder().text("title").build()?);
//! let mut writer = index.writer()?;
//! writer.add(Document::new().with("title", "A <short> History of France"))?;
//! writer.commit()?;
//!
//! let searcher = index.searcher()?;
//! let query = searcher.parse("histor* france -spain")?;
//! let highlighter = searcher.highlighter(&query)?;
//! let page = searcher.search(&query).run()?;
//! let title = page.hits[0].fields["title"].to_string();
//! let passages = highlighter.passages("title", &title, &PassageOptions::default());
//! assert_eq!(passages[0].to_html(&title), "A &lt;short&gt; <em>History</em> of <em>France</em>");
//! # Ok::<(), treepie::Error>(())
//! ```
//!
//! # Passages
//!
//! A text of at most [`max_len`](PassageOptions::max_len) bytes is one passage. From a longer one the
//! passages with the most different words of the query are taken, and of equal ones the earlier. They
//! begin and end with sentences if that is near, else with words.
//!
//! # Offsets
//!
//! If a field keeps [offsets](crate::Field::offsets), [`Highlighter::in_document`] looks the words of the query
//! up in the index and does not analyse the text; the marks are the same. Texts are analysed all the same
//! if nothing is kept of a document (a plugged-in tokenizer gave its words in another order, or several at one
//! position), and where patterns stand for so many terms that looking them up would take longer.
//!
//! # Cost
//!
//! With offsets: per term of the query that the segment has, its list's head and its positions in the document,
//! and per occurrence a word of the offsets. Patterns are walked once a segment and highlighter.
//!
//! Else one pass of the analyzer over the text; per token one look into a hash table, and a walk along each
//! pattern of the query, of which the first [`PATTERNS_MAX`] a field are taken. A phrase takes a bit for each
//! position of the document.

#[cfg(test)]
mod laws;
mod markup;
mod marks;
mod offsets;
mod passages;
mod proximity;
mod terms;

use std::fmt;
use std::sync::Arc;

use marks::Mark;
pub use markup::Passage;
use offsets::Lookup;
use terms::FieldTerms;
pub use terms::PATTERNS_MAX;

use crate::analysis::Analyzers;
use crate::error::Result;
use crate::ids::DocId;
use crate::query::Query;
use crate::schema::Schema;
use crate::schema::names::position_of;
use crate::segment::snapshot::Snapshot;

/// Bytes of a passage unless [`PassageOptions::max_len`] says otherwise.
const MAX_LEN_DEFAULT: usize = 200;
/// Passages unless [`PassageOptions::max_passages`] says otherwise.
const MAX_PASSAGES_DEFAULT: usize = 3;

/// Highlighter of the words of a query, field by field.
///
/// It is made by [`Searcher::highlighter`](crate::Searcher::highlighter) or, without an index, by [`new`](Self::new).
#[derive(Clone)]
pub struct Highlighter {
    fields: Vec<(String, FieldTerms)>,
    /// Snapshot in which words may be looked up.
    lookup: Option<Lookup>,
}

/// One value of a document's field, and what to mark in it; from [`Highlighter::in_document`].
#[derive(Clone, Debug)]
pub struct Marked<'t> {
    text: &'t str,
    marks: Vec<Mark>,
}

/// Options of passages: their length and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassageOptions {
    max_len: usize,
    max_passages: usize,
}

impl Highlighter {
    /// Finds the terms, patterns and phrases that count in each field.
    ///
    /// # Errors
    ///
    /// Fails like a search for the query: [`ErrorKind::Query`](crate::ErrorKind::Query) for a field that the schema does
    /// not have, [`ErrorKind::Analyzer`](crate::ErrorKind::Analyzer) for an analyzer that is not registered,
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded) for a pattern that is too large.
    pub fn new(query: &Query, schema: &Schema, analyzers: &Analyzers) -> Result<Self> {
        Ok(Highlighter { fields: terms::of_query(query, schema, analyzers)?, lookup: None })
    }

    /// Makes a highlighter that looks up words of its documents in a snapshot.
    pub(crate) fn of_snapshot(
        query: &Query,
        snapshot: &Arc<Snapshot>,
        analyzers: &Analyzers,
    ) -> Result<Self> {
        let own = Self::new(query, &snapshot.manifest.schema, analyzers)?;
        let lookup = Lookup::new(Arc::clone(snapshot), own.fields.len());
        Ok(Highlighter { lookup: Some(lookup), ..own })
    }

    /// Whether anything of the query could be marked in this field.
    ///
    /// Nothing could in one that the schema does not have.
    pub fn marks(&self, field: &str) -> bool {
        self.terms(field).is_some()
    }

    /// Returns the best passages of a text of `field`, the best first.
    ///
    /// There are none if nothing matches, or if a [budget](crate::Budget) runs out.
    /// [`in_document`](Self::in_document) tells these apart.
    ///
    /// A field that the query does not look into has none, and neither has a name that the schema does not have, which is no
    /// error here. [`Passage::beginning`] is for a field that is shown all the same.
    pub fn passages(&self, field: &str, text: &str, options: &PassageOptions) -> Vec<Passage> {
        match self.terms(field) {
            Some(terms) => {
                let marks = terms.marks(&[text]).unwrap_or_default();
                let marks = marks.first().map_or(&[][..], Vec::as_slice);
                passages::choose(text, marks, options)
            }
            None => vec![],
        }
    }

    /// Finds the matches to mark in the values of a document's `field`. All values are given in their order, as they are stored.
    ///
    /// A phrase may go from one value to the next, as it does for a search. Quicker where the field keeps
    /// [offsets](crate::Field::offsets) and the highlighter is a searcher's; of another document's values
    /// anything may be marked then.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where the index is damaged at the places that are read;
    /// what the [budget](crate::Budget) says under which it runs.
    pub fn in_document<'t>(
        &self,
        doc: DocId,
        field: &str,
        values: impl IntoIterator<Item = &'t str>,
    ) -> Result<Vec<Marked<'t>>> {
        let texts: Vec<&str> = values.into_iter().collect();
        let Some((nth, (_, terms))) = self.position(field).map(|nth| (nth, &self.fields[nth]))
        else {
            return Ok(texts.into_iter().map(|text| Marked { text, marks: vec![] }).collect());
        };
        let found = match &self.lookup {
            Some(lookup) => lookup.marks(nth, (field, terms), doc, &texts)?,
            None => None,
        };
        let marks = match found {
            Some(marks) => marks,
            None => terms.marks(&texts)?,
        };
        Ok(texts.into_iter().zip(marks).map(|(text, marks)| Marked { text, marks }).collect())
    }

    fn terms(&self, field: &str) -> Option<&FieldTerms> {
        self.position(field).map(|nth| &self.fields[nth].1)
    }

    /// Place of a field by its name, as the schema knows fields.
    fn position(&self, field: &str) -> Option<usize> {
        position_of(self.fields.iter().map(|(name, _)| &**name), field)
    }
}

impl<'t> Marked<'t> {
    /// The value.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Best passages, the best first; none if nothing matches.
    pub fn passages(&self, options: &PassageOptions) -> Vec<Passage> {
        passages::choose(self.text, &self.marks, options)
    }
}

impl fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.fields.iter().map(|(name, terms)| (name, terms))).finish()
    }
}

impl PassageOptions {
    /// Sets the maximum bytes of text of a passage (default 200).
    ///
    /// At least one character is taken.
    #[must_use]
    pub fn max_len(mut self, max_len: usize) -> Self {
        self.max_len = max_len.max(1);
        self
    }

    /// Sets the maximum number of passages of a text (default 3).
    #[must_use]
    pub fn max_passages(mut self, max_passages: usize) -> Self {
        self.max_passages = max_passages;
        self
    }
}

impl Default for PassageOptions {
    fn default() -> Self {
        PassageOptions { max_len: MAX_LEN_DEFAULT, max_passages: MAX_PASSAGES_DEFAULT }
    }
}
