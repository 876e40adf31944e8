//! Words in several fields that are taken for one: BM25F.
//!
//! ```text
//! score     = boost × idf × (k1 + 1) × frequency / (frequency + K)     K = k1 × (1 − b + b × length / average)
//! frequency = Σ weightᶠ × frequencyᶠ      length = Σ weightᶠ × lengthᶠ      average = Σ weightᶠ × wordsᶠ / N
//! ```
//!
//! over the fields f in the order of the query, each with the term that the word is there. The idf is that of the
//! most documents that one of the fields has with its term among N, the most documents that have one of the fields.
//! Computed in `f32` as written, everywhere. The formula is that of Robertson, Zaragoza and Taylor, "Simple BM25
//! Extension to Multiple Weighted Fields" (2004), the statistics are those of Lucene's `CombinedFieldQuery`; lengths
//! are not rounded again once they are added.
//!
//! # Bounds
//!
//! With xᶠ = frequencyᶠ / Kᶠ, where Kᶠ is K in the field alone with the same k1 and b, the list of the field has
//! bounds of g(xᶠ) = xᶠ / (1 + xᶠ). Since no length is negative, what the field adds to frequency / K is at most
//! cᶠ × xᶠ with cᶠ = max(weightᶠ, average / averageᶠ). And g is concave with g(0) = 0, so
//! g(Σ cᶠ × xᶠ) ≤ Σ max(1, cᶠ) × g(xᶠ): each field is a list with max(1, cᶠ) times the word's weight.

use super::bm25::{FieldScoring, idf};
use super::cursor::TermCursor;
use super::node::Node;
use super::prepared::Ranked;
use super::pruned::tree::{Tree, TreeCombined, TreeField};
use super::statistics::Sources;
use crate::error::Result;
use crate::format::lengths::{Bm25, Lengths, length_of};
use crate::format::terms::TermInfo;
use crate::ids::FieldId;
use crate::query::CombinedField;
use crate::segment::file::Section;
use crate::segment::reader::SegmentReader;
use std::sync::Arc;

/// A word, looked up in all its fields.
#[derive(Debug)]
pub(crate) struct RankedCombined {
    fields: Vec<RankedField>,
    /// Of the fields together.
    pub(crate) bm25: Bm25,
    pub(super) n_docs: u64,
    pub(super) df: u64,
    pub(super) boost: f32,
    pub(crate) weight: f32,
}

#[derive(Debug)]
struct RankedField {
    weight: f32,
    /// The field alone, with the parameters that all have together.
    scoring: Arc<FieldScoring>,
    term: Option<Vec<u8>>,
    /// By segment; none where it has no document.
    infos: Vec<Option<TermInfo>>,
}

impl Ranked<'_> {
    pub(super) fn combined(
        &mut self,
        fields: &[CombinedField],
        boost: f32,
        sources: &Sources<'_>,
    ) -> Result<Node> {
        let (mut n_docs, mut df, mut n_tokens) = (0, 0, 0.0);
        let mut parameters = None;
        let mut ranked = Vec::with_capacity(fields.len());
        for CombinedField { field, weight, term } in fields {
            let place = self.place_of(*field, sources)?;
            let own = &self.fields[place];
            let (k1, b) = *parameters.get_or_insert((own.bm25.k1, own.bm25.b));
            let bm25 = Bm25 { k1, b, average: own.bm25.average };
            let scoring = match bm25 == own.bm25 {
                true => Arc::clone(own),
                false => Arc::new(FieldScoring { bm25, k_by_code: bm25.k_by_code(), ..**own }),
            };
            n_docs = n_docs.max(own.n_docs);
            n_tokens += f64::from(*weight) * own.n_tokens as f64;
            let infos = match term {
                Some(term) => self.look_up(*field, term, sources)?,
                None => vec![None; self.segments.len()],
            };
            let here = infos.iter().flatten().map(|info| u64::from(info.df)).sum();
            df = df.max(match term {
                Some(term) => sources.statistics.document_frequency(*field, term, here)?,
                None => 0,
            });
            ranked.push(RankedField { weight: *weight, scoring, term: term.clone(), infos });
        }
        let (k1, b) = parameters.unwrap_or_default();
        // As long as a word where there are none, to divide by.
        let average = if n_docs > 0 && n_tokens > 0.0 { n_tokens / n_docs as f64 } else { 1.0 };
        let bm25 = Bm25 { k1, b, average: average as f32 };
        let weight = boost * idf(n_docs, df) * (k1 + 1.0);
        self.combined.push(Arc::new(RankedCombined {
            fields: ranked,
            bm25,
            n_docs,
            df,
            boost,
            weight,
        }));
        Ok(Node::Combined(self.combined.len() - 1))
    }
}

impl RankedCombined {
    pub(super) fn idf(&self) -> f32 {
        idf(self.n_docs, self.df)
    }

    /// How many lists it has, and how many documents these have together.
    pub(super) fn lists(&self) -> (usize, u64) {
        let df = |field: &RankedField| {
            field.infos.iter().flatten().map(|info| u64::from(info.df)).sum::<u64>()
        };
        let with_term = self.fields.iter().filter(|field| field.term.is_some());
        (with_term.count(), self.fields.iter().map(df).sum())
    }

    /// What the fields of a document add up to, each given by its frequency and length; `None` where the word is
    /// in none of them.
    pub(crate) fn sum(
        &self,
        of_fields: impl Iterator<Item = Result<(u32, u32)>>,
    ) -> Result<Option<CombinedSum>> {
        let mut sum = CombinedSum { frequency: 0.0, length: 0.0 };
        for (field, of_field) in self.fields.iter().zip(of_fields) {
            let (frequency, length) = of_field?;
            sum.frequency += field.weight * frequency as f32;
            sum.length += field.weight * length as f32;
        }
        Ok(Some(sum).filter(|sum| sum.frequency > 0.0))
    }

    /// The part of a score that is made of frequency and length.
    pub(crate) fn part(&self, sum: &CombinedSum) -> f32 {
        let Bm25 { k1, b, average } = self.bm25;
        let k = k1 * (1.0 - b + b * sum.length / average);
        sum.frequency / (sum.frequency + k)
    }

    /// What finds the word in the documents of a segment.
    pub(super) fn cursors<'s>(
        &self,
        reader: &SegmentReader<'s>,
        segment: usize,
    ) -> Result<CombinedCursors<'s>> {
        let of_field = |field: &RankedField| {
            let reader = reader.field(field.scoring.field);
            let lengths = reader.lengths()?;
            let list = field.infos[segment].as_ref().map(|info| reader.ranked(info)).transpose()?;
            let cursor = list.zip(reader.lengths()?);
            Ok((cursor.map(|(list, lengths)| TermCursor::new(list, lengths)), lengths))
        };
        Ok(CombinedCursors(self.fields.iter().map(of_field).collect::<Result<_>>()?))
    }

    /// Adds the lists of the fields to a tree, with weights that make bounds of theirs bounds of the word's.
    pub(super) fn in_tree<'s>(
        self: &Arc<Self>,
        reader: &SegmentReader<'s>,
        segment: usize,
        tree: &mut Tree<'s>,
    ) -> Result<TreeCombined<'s>> {
        let start = tree.clauses.len();
        let mut fields = Vec::with_capacity(self.fields.len());
        for RankedField { weight, scoring, infos, .. } in &self.fields {
            let reader = reader.field(scoring.field);
            let factor = weight.max(self.bm25.average / scoring.bm25.average).max(1.0);
            // Room for what is rounded away in all this.
            let weight = self.weight * factor * (1.0 + 1e-5);
            let clause = match &infos[segment] {
                Some(info) => tree.add(reader, info, weight, Arc::clone(scoring))?,
                None => None,
            };
            fields.push(TreeField { clause, lengths: reader.lengths()? });
        }
        Ok(TreeCombined { clauses: start..tree.clauses.len(), fields, word: Arc::clone(self) })
    }

    /// The word as people write it, given the names of fields.
    pub(super) fn label(&self, name: impl Fn(FieldId) -> String) -> String {
        let of_field = |field: &RankedField| {
            let term = String::from_utf8_lossy(field.term.as_ref()?);
            let weight = match field.weight {
                1.0 => String::new(),
                weight => format!("^{weight}"),
            };
            Some(format!("{}:{term}{weight}", name(field.scoring.field)))
        };
        self.fields.iter().filter_map(of_field).collect::<Vec<_>>().join(" + ")
    }

    /// A weighted sum over the fields, spelled out.
    pub(super) fn spelled(&self, values: &[u32], name: impl Fn(FieldId) -> String) -> String {
        let of_field = |(field, value): (&RankedField, &u32)| {
            format!("{} × {value} in {}", field.weight, name(field.scoring.field))
        };
        self.fields.iter().zip(values).map(of_field).collect::<Vec<_>>().join(" + ")
    }
}

/// A word in the documents of a segment: by field its term and the lengths.
#[derive(Debug)]
pub(super) struct CombinedCursors<'s>(Vec<(Option<TermCursor<'s>>, Option<Lengths<Section<'s>>>)>);

/// Frequency and length of a word in a document, over all its fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CombinedSum {
    pub(super) frequency: f32,
    pub(super) length: f32,
}

impl CombinedCursors<'_> {
    /// What `word` is in a document; `None` where it is in none of its fields.
    pub(super) fn find(&mut self, word: &RankedCombined, doc: u32) -> Result<Option<CombinedSum>> {
        word.sum(self.of_fields(doc))
    }

    /// Frequency and length of each field.
    pub(super) fn of_fields(&mut self, doc: u32) -> impl Iterator<Item = Result<(u32, u32)>> {
        self.0.iter_mut().map(move |(cursor, lengths)| {
            let frequency = match cursor {
                Some(cursor) => cursor.frequency(doc)?.unwrap_or_default(),
                None => 0,
            };
            Ok((frequency, length_in(lengths.as_ref(), doc)?))
        })
    }
}

/// The length of a field in a document; 0 where the segment has no such field.
pub(crate) fn length_in(lengths: Option<&Lengths<Section<'_>>>, doc: u32) -> Result<u32> {
    Ok(match lengths {
        Some(lengths) => length_of(lengths.code(doc)?),
        None => 0,
    })
}
