//! Ranking of the matching documents: BM25 scores, their explanation, and the k best.
//!
//! A score is a sum over the words of a query, in the order in which they stand there, of
//!
//! ```text
//! weight × frequency / (frequency + K)      weight = boost × idf × (k1 + 1)
//! K = k1 × (1 − b + b × length / average)   idf = ln(1 + (N − n + 0.5) / (n + 0.5))
//! ```
//!
//! with N documents that have the field, n of them with the word; frequency and length are the
//! document's, the average is over the snapshot. All of it is computed in `f32` in exactly this order,
//! without fused multiplication, on every path: the same document has the same score to the last
//! bit whichever way it was found, so ties are ties, and go to the smaller document number.
//!
//! The formula is that of Robertson, Walker, Jones, Hancock-Beaulieu and Gatford, "Okapi at TREC-3"
//! (1994), with an idf that is never negative, as in Lucene; lengths are Lucene's one-byte codes.

mod combined;
mod combining;
mod cursor;
mod expected;
mod opened;
pub(crate) mod pruned;
pub(crate) mod scorer;
pub(crate) mod search;
pub(crate) mod top;

use crate::error::Result;
use crate::format::changed::PartChange;
use crate::format::lengths::{FieldNorms, score_part};
use crate::format::ranked::RankedList;
use crate::segment::file::Section;
use crate::weight::bm25::FieldScoring;
use std::sync::Arc;

/// A word of a query in one segment, ready to be scored, or a phrase, which has no list.
#[derive(Debug)]
pub(crate) struct Clause<'s, L = RankedList<'s, Section<'s>>> {
    pub(crate) list: L,
    /// Factor on a score part.
    pub(crate) weight: f32,
    /// The lengths of the field in this segment, and what its codes were computed with.
    pub(crate) lengths: FieldNorms<Section<'s>>,
    /// The field in the snapshot.
    pub(crate) scoring: Arc<FieldScoring>,
}

impl Clause<'_> {
    /// The most that it adds to a score.
    fn best(&self) -> f64 {
        match &self.list {
            RankedList::Short(_) => self.weight.into(),
            RankedList::Long(list) => self.most(list.max_part()),
        }
    }
}

impl<L> Clause<'_, L> {
    /// Change of score parts since the codes of the segment were computed; none where the snapshot has its average length.
    fn change(&self) -> Option<PartChange> {
        PartChange::of(&self.lengths.bm25(), &self.scoring.bm25)
    }

    /// Bound of what a part up to this one, as it was when codes were computed, adds to a score.
    fn most(&self, part: f32) -> f64 {
        let part = f64::from(part);
        f64::from(self.weight) * self.change().map_or(part, |change| change.most(part))
    }

    /// The least frequency with which a document reaches so much of a score by this clause, however short it is.
    fn least_frequency(&self, least: f64) -> u32 {
        let (part, k) = (least / f64::from(self.weight), f64::from(self.scoring.norm_cache[0]));
        match part {
            // A cast takes what is too large for the largest.
            0.0..1.0 => (k * part / (1.0 - part) * (1.0 - 1e-5)).ceil() as u32,
            1.0.. => u32::MAX,
            _ => 0,
        }
    }

    /// The score of a document that has it so often.
    #[inline]
    fn score(&self, doc: u32, frequency: u32) -> Result<f32> {
        let k = self.scoring.norm_cache[usize::from(self.lengths.code(doc)?)];
        Ok(self.weight * score_part(frequency, k))
    }
}
