//! Choice of segments to merge, so that an index has few after many commits.
//!
//! Segments are of a level by the logarithm of their size. If enough of a level stand side by side, but for smaller
//! ones between them, they are merged, which makes one of the level above, mostly. So a document is written once for each level, and less than a
//! `factor` of segments is left in each. Only neighbours are merged: documents keep the order in which they were added.
//! Segments of which too much is deleted are written anew by themselves.
//!
//! Log-structured storage does the same (O'Neil et al., "The log-structured merge-tree", 1996).

use crate::format::manifest::SegmentMeta;
use crate::writer::pipeline::SEGMENT_DOCS_MAX;
use std::ops::Range;

/// Rules by which [`maintain`](crate::IndexWriter::maintain) merges segments: when, and which.
///
/// With `f` for the factor and `n` documents in commits of `c`, an index has less than `f` segments for each of its
/// log(n / c) / log(f) levels, and each document is written once for each level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergePolicy {
    factor: u32,
    documents_max: u32,
    deleted_percent: u8,
}

/// Segments of fewer documents are taken to have so many: they are all cheap to merge.
const DOCUMENTS_MIN: u32 = 100;

/// Number of segments that may become one whatever the factor is.
const SEGMENTS_MIN: usize = 64;

impl Default for MergePolicy {
    /// A factor of 8, up to 10 million documents, more than 25 % deleted.
    fn default() -> Self {
        MergePolicy { factor: 8, documents_max: 10_000_000, deleted_percent: 25 }
    }
}

impl MergePolicy {
    /// Sets how many neighbours of about the same size become one, at least 2. More of them cost searches more, and
    /// writing less.
    #[must_use]
    pub fn factor(mut self, factor: u32) -> Self {
        self.factor = factor.max(2);
        self
    }

    /// Sets of how many documents segments may be that are merged with others.
    #[must_use]
    pub fn documents_max(mut self, documents: u32) -> Self {
        self.documents_max = documents;
        self
    }

    /// Sets of which share of deleted documents on a segment is written anew, in percent.
    #[must_use]
    pub fn deleted_percent(mut self, percent: u8) -> Self {
        self.deleted_percent = percent;
        self
    }

    /// Neighbours that are to become one, or a segment that is to be written anew; `None` if nothing is due.
    pub(crate) fn due(&self, segments: &[SegmentMeta]) -> Option<Range<usize>> {
        let levels: Vec<Option<u32>> = segments.iter().map(|segment| self.level(segment)).collect();
        let highest = levels.iter().flatten().copied().max().unwrap_or(0);
        for level in 0..=highest {
            let is_low = |of: &Option<u32>| of.is_some_and(|of| of <= level);
            let mut at = 0;
            for group in levels.chunk_by(|a, b| is_low(a) == is_low(b)) {
                // Smaller levels count for nothing: they would have the larger ones written again and again.
                let of_level = || (0..group.len()).filter(|nth| group[*nth] == Some(level));
                if of_level().count() >= self.factor as usize
                    && let (Some(first), Some(last)) = (of_level().next(), of_level().next_back())
                    && let last = last.min(first + self.segments_max() - 1)
                    && let Some(range) = not_too_large(segments, at + first..at + last + 1)
                {
                    return Some(range);
                }
                at += group.len();
            }
        }
        let is_worn = |segment: &SegmentMeta| {
            let deleted = u64::from(segment.n_docs - segment.n_live());
            deleted * 100 > u64::from(segment.n_docs) * u64::from(self.deleted_percent)
        };
        segments.iter().position(is_worn).map(|at| at..at + 1)
    }

    /// Maximum number of segments that become one: each is open meanwhile, and asked for its next term at every term.
    fn segments_max(&self) -> usize {
        (4 * self.factor as usize).max(SEGMENTS_MIN)
    }

    /// The level of a segment; `None` if it is too large to be merged with others.
    fn level(&self, segment: &SegmentMeta) -> Option<u32> {
        let n_docs = segment.n_live();
        (n_docs <= self.documents_max).then(|| n_docs.max(DOCUMENTS_MIN).ilog(self.factor))
    }
}

/// The most neighbours that a segment can hold; `None` if it cannot hold two.
fn not_too_large(segments: &[SegmentMeta], range: Range<usize>) -> Option<Range<usize>> {
    let mut sum = 0u64;
    let room = segments[range.clone()].iter().take_while(|segment| {
        sum += u64::from(segment.n_live());
        sum <= u64::from(SEGMENT_DOCS_MAX)
    });
    let n = room.count();
    (n > 1).then(|| range.start..range.start + n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::envelope::Seal;
    use crate::format::manifest::DeletesMeta;
    use crate::ids::SegmentId;

    const SEAL: Seal = Seal { file_len: 1, footer_crc: 1 };

    fn segment(n_docs: u32) -> SegmentMeta {
        SegmentMeta { id: SegmentId([1; 16]), seal: SEAL, n_docs, deletes: None, n_added_fields: 0 }
    }

    #[test]
    fn however_many_segments_have_gathered_few_are_merged_at_once() {
        for factor in [2, 8, 100] {
            let policy = MergePolicy::default().factor(factor);
            let mut segments = vec![segment(1); 5_000];
            let mut most = 0;
            while let Some(range) = policy.due(&segments) {
                most = most.max(range.len());
                let n_live = segments[range.clone()].iter().map(SegmentMeta::n_live).sum();
                segments.splice(range, [segment(n_live)]);
            }
            assert_eq!(segments.iter().map(SegmentMeta::n_live).sum::<u32>(), 5_000);
            assert!(
                most <= (4 * factor as usize).max(64),
                "{most} at once by a factor of {factor}"
            );
            assert!(segments.len() <= 4 * factor as usize, "{} are left", segments.len());
        }
    }

    /// Merges what is due until nothing is; how many documents were written for it.
    fn settle(policy: &MergePolicy, segments: &mut Vec<SegmentMeta>) -> u64 {
        let mut written = 0;
        while let Some(range) = policy.due(segments) {
            let n_live = segments[range.clone()].iter().map(SegmentMeta::n_live).sum();
            written += u64::from(n_live);
            segments.splice(range, [segment(n_live)]);
        }
        written
    }

    #[test]
    fn a_hundred_thousand_commits_of_one_document_leave_few_segments_for_little_writing() {
        for factor in [2, 4, 8, 16] {
            let policy = MergePolicy::default().factor(factor);
            let (mut segments, mut written, mut most) = (vec![], 0, 0);
            for _ in 0..100_000 {
                segments.push(segment(1));
                written += settle(&policy, &mut segments);
                most = most.max(segments.len());
            }
            assert_eq!(segments.iter().map(|segment| segment.n_docs).sum::<u32>(), 100_000);
            let levels = (100_000f64.ln() / f64::from(factor).ln()).ceil();
            assert!(most as f64 <= f64::from(factor) * levels, "{factor}: {most} segments");
            // Below the smallest level a document is written anew each time that a group is full.
            let bound = 100_000.0 * (levels + f64::from(DOCUMENTS_MIN));
            assert!((written as f64) < bound, "{factor}: {written} documents written");
        }
    }

    #[test]
    fn only_neighbours_are_merged_and_large_segments_stay() {
        let policy = MergePolicy::default().factor(3).documents_max(50_000);
        let of = |sizes: &[u32]| sizes.iter().map(|n| segment(*n)).collect::<Vec<_>>();
        assert_eq!(policy.due(&of(&[10, 10])), None);
        assert_eq!(policy.due(&of(&[10, 10, 10])), Some(0..3));
        assert_eq!(policy.due(&of(&[10, 10, 40_000, 10, 10])), None);
        assert_eq!(policy.due(&of(&[10, 10, 40_000, 10, 10, 10])), Some(3..6));
        assert_eq!(policy.due(&of(&[40_000, 40_000, 40_000])), Some(0..3));
        assert_eq!(policy.due(&of(&[60_000, 60_000, 60_000])), None);
        assert_eq!(policy.due(&[]), None);
        // More than one segment can hold.
        let large = MergePolicy::default().factor(2).documents_max(u32::MAX);
        assert_eq!(large.due(&of(&[1 << 30, 1 << 30, 1 << 30])), None);
        assert_eq!(large.due(&of(&[1 << 29, 1 << 29, 1 << 29, 1 << 30])), Some(0..3));
    }

    #[test]
    fn what_is_mostly_deleted_is_written_anew() {
        let policy = MergePolicy::default();
        let worn = |deleted: u32| {
            let deletes = DeletesMeta { number: 1, seal: SEAL, n_docs: deleted };
            SegmentMeta { deletes: Some(deletes), ..segment(1_000) }
        };
        assert_eq!(policy.due(&[segment(10), worn(250)]), None);
        assert_eq!(policy.due(&[segment(10), worn(251)]), Some(1..2));
        let mut segments = vec![segment(10), worn(600)];
        assert_eq!(settle(&policy, &mut segments), 400);
        assert_eq!(segments[1].n_docs, 400);
    }
}
