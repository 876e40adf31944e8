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
use crate::error::Result;
use crate::format::lengths::Bm25;
use crate::format::terms::TermInfo;
use crate::ids::FieldId;
use crate::term::Term;
use std::sync::Arc;

/// A word, looked up in all its fields.
#[derive(Debug)]
pub(crate) struct CombinedWeight {
    pub(crate) fields: Vec<RankedField>,
    /// BM25 of the fields together.
    pub(crate) bm25: Bm25,
    pub(crate) n_docs: u64,
    pub(crate) df: u64,
    pub(crate) boost: f32,
    pub(crate) weight: f32,
}

#[derive(Debug)]
pub(crate) struct RankedField {
    pub(crate) weight: f32,
    /// The field alone, with the parameters that all have together.
    pub(crate) scoring: Arc<FieldScoring>,
    pub(crate) term: Option<Term>,
    /// By segment; none where it has no document.
    pub(crate) infos: Vec<Option<TermInfo>>,
}

impl CombinedWeight {
    pub(crate) fn idf(&self) -> f32 {
        idf(self.n_docs, self.df)
    }

    /// Number of lists, and of documents that these have together.
    pub(crate) fn lists(&self) -> (usize, u64) {
        let df = |field: &RankedField| {
            field.infos.iter().flatten().map(|info| u64::from(info.df)).sum::<u64>()
        };
        let with_term = self.fields.iter().filter(|field| field.term.is_some());
        (with_term.count(), self.fields.iter().map(df).sum())
    }

    /// The sum over the fields of a document, of the frequency and length of each; `None` where the word is in none.
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

    /// The word as people write it, given the names of fields.
    pub(crate) fn label(&self, name: impl Fn(FieldId) -> String) -> String {
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
    pub(crate) fn spelled(&self, values: &[u32], name: impl Fn(FieldId) -> String) -> String {
        let of_field = |(field, value): (&RankedField, &u32)| {
            format!("{} × {value} in {}", field.weight, name(field.scoring.field))
        };
        self.fields.iter().zip(values).map(of_field).collect::<Vec<_>>().join(" + ")
    }
}

/// Frequency and length of a word in a document, over all its fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CombinedSum {
    pub(crate) frequency: f32,
    pub(crate) length: f32,
}
