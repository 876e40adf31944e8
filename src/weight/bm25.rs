//! The numbers of BM25 that do not depend on a document.

use crate::compared::equal_by;
use crate::error::Result;
use crate::format::lengths::{self, Bm25};
use crate::ids::FieldId;
use crate::segment::reader::SegmentReader;
use std::sync::{Arc, OnceLock};

/// Parameters of a field: how soon more of the same word adds nothing (k1), and how much the length of
/// a document matters (b).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters {
    pub(crate) k1: f32,
    pub(crate) b: f32,
}

// By their bits, as requests are compared.
equal_by! {
    Parameters: it => (it.k1.to_bits(), it.b.to_bits());
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters { k1: 1.2, b: 0.75 }
    }
}

/// Statistics and parameters for scoring one field of a snapshot.
#[derive(Clone, Debug)]
pub(crate) struct FieldScoring {
    pub(crate) field: FieldId,
    pub(crate) bm25: Bm25,
    /// K of a document by the code of its length.
    pub(crate) norm_cache: [f32; 256],
    /// Documents that have the field, deleted ones included.
    pub(crate) n_docs: u64,
    /// Words in them.
    pub(crate) n_tokens: u64,
}

impl FieldScoring {
    /// Sums the statistics of `field` over the segments of a snapshot.
    pub(crate) fn of<'s>(
        field: FieldId,
        segments: impl Iterator<Item = SegmentReader<'s>>,
        parameters: Parameters,
    ) -> Result<Self> {
        let (mut n_docs, mut n_tokens) = (0, 0);
        for segment in segments {
            let statistics = segment.field(field).statistics()?;
            n_docs += u64::from(statistics.n_docs_with_value);
            n_tokens += statistics.n_tokens;
        }
        Ok(FieldScoring::of_counts(field, n_docs, n_tokens, parameters))
    }

    /// A field of which so many documents have so many words.
    pub(crate) fn of_counts(
        field: FieldId,
        n_docs: u64,
        n_tokens: u64,
        parameters: Parameters,
    ) -> Self {
        let Parameters { k1, b } = parameters;
        let bm25 = Bm25 { k1, b, average: lengths::average(n_tokens, n_docs) };
        FieldScoring { field, bm25, norm_cache: bm25.norm_cache(), n_docs, n_tokens }
    }

    /// Factor on the score part of a word in `df` documents.
    pub(crate) fn weight(&self, df: u64, boost: f32) -> f32 {
        boost * idf(self.n_docs, df) * (self.bm25.k1 + 1.0)
    }
}

/// Statistics of the fields of a snapshot, each found out when it is first asked for.
#[derive(Debug)]
pub(crate) struct FieldScorings(Box<[OnceLock<Arc<FieldScoring>>]>);

impl FieldScorings {
    /// For a schema of so many fields.
    pub(crate) fn new(n_fields: usize) -> Self {
        FieldScorings(std::iter::repeat_with(OnceLock::new).take(n_fields).collect())
    }

    /// That of `field` with the usual parameters or others; the former is kept.
    pub(crate) fn get<'s>(
        &self,
        field: FieldId,
        segments: impl Iterator<Item = SegmentReader<'s>>,
        parameters: Parameters,
    ) -> Result<Arc<FieldScoring>> {
        let kept = self.0.get(field.index()).filter(|_| parameters == Parameters::default());
        if let Some(known) = kept.and_then(OnceLock::get) {
            return Ok(Arc::clone(known));
        }
        let scoring = Arc::new(FieldScoring::of(field, segments, parameters)?);
        Ok(match kept {
            Some(kept) => Arc::clone(kept.get_or_init(|| scoring)),
            None => scoring,
        })
    }
}

/// Inverse document frequency of a word in `df` of `n_docs` documents: less the more there are, never less than 0.
pub(crate) fn idf(n_docs: u64, df: u64) -> f32 {
    // In f64, so that millions of documents do not round to the same number.
    let (n_docs, df) = (n_docs.max(df) as f64, df as f64);
    (1.0 + (n_docs - df + 0.5) / (df + 0.5)).ln() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_say_more_and_none_says_less_than_nothing() {
        // By hand: ln(1 + 9.5 / 1.5), ln(1 + 0.5 / 10.5).
        assert!((idf(10, 1) - 1.992_430_2).abs() < 1e-6);
        assert!((idf(10, 10) - 0.046_520_02).abs() < 1e-6);
        assert!(idf(10, 11) > 0.0);
        let by_df: Vec<_> = (1..100).map(|df| idf(100, df)).collect();
        assert!(by_df.is_sorted_by(|a, b| a > b));
    }
}
