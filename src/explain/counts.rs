//! Measurements of a plan's run: results of its operators, their work, and its time.

pub use crate::expansion::TermCounts;
pub use crate::facet::{ColumnCounts, FacetActual, InBuckets};
pub use crate::geo::GeoCounts;
pub use crate::matching::ContainerCounts;
pub use crate::nearest::VectorCounts;
pub use crate::phrase::PositionCounts;
pub use crate::ranking::pruned::CandidateCounts;
pub use crate::ranking::top::Threshold;
pub use crate::sort::StreamCounts;
use std::ops::AddAssign;

/// Measurements of one node while the plan ran.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Actual {
    /// Documents that came out.
    pub documents: u64,
    /// Documents that went in from all inputs, if the node has any.
    pub documents_in: Option<u64>,
    /// The node's own time without its children's.
    pub time_ns: u64,
    /// Bytes of postings and dictionary that the node read.
    pub bytes_read: u64,
    /// Roaring containers by kind, and those that did not need to be read.
    pub containers: ContainerCounts,
    /// Terms of the dictionary, if the node is a pattern.
    pub terms: Option<TermCounts>,
    /// Vectors that were compared, if the node looks for neighbours.
    pub vectors: Option<VectorCounts>,
    /// Points that were compared, if the node looks for those in an area.
    pub geo: Option<GeoCounts>,
    /// Reads of positions, if the node looks for a phrase.
    pub positions: Option<PositionCounts>,
    /// Work done for scores, if the node finds the best documents. Reads for scores are counted here, not as bytes.
    pub ranking: Option<RankingCounts>,
    /// Work done in columns to find the first documents in the order of fields.
    pub sort: Option<ColumnCounts>,
    /// Lists read in the order of a field to find its first documents. A column is looked at for these afterwards.
    pub streamed: Option<StreamCounts>,
    /// Whether the node has seen everything. A limit, a timeout or an early end stops it before that.
    pub complete: bool,
    /// Whether the search was stopped during the node's work, by a deadline or by cancelling.
    pub stopped: bool,
}

/// Work of finding the best documents by score, and work that score bounds spared.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RankingCounts {
    /// Documents whose score was computed.
    pub documents_scored: u64,
    /// Postings whose part of a score was computed for that. `None` if they are not counted: of phrases positions are,
    /// and if every match is scored one by one, every word is asked for every match.
    pub postings: Option<u64>,
    /// Blocks of 64 documents whose best possible score was looked at.
    pub blocks: u64,
    /// Blocks among these that were not decoded, because their best possible score is too low.
    pub blocks_skipped: u64,
    /// Windows of 65,536 documents in which something may match.
    pub windows: u64,
    /// Windows among these of which not even blocks were looked at.
    pub windows_skipped: u64,
    /// Whether everything was searched twice, and is counted so here. The reason is a first threshold from documents of
    /// which too many were deleted.
    pub searched_twice: bool,
    /// Counts of the documents that have all words of a phrase.
    pub candidates: Option<CandidateCounts>,
    /// Thresholds in the course of the run: least scores of the best documents. They ascend in both numbers and are at
    /// most 32: the first, the last, and evenly spread ones between. Empty where fewer documents match than are wanted.
    pub thresholds: Vec<Threshold>,
}

/// Times of something over several runs, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunTimes {
    /// Time of the fastest run.
    pub min_ns: u64,
    /// Median time: half of the runs are not above it. Of an even number of runs it is the lower middle one.
    pub median_ns: u64,
    /// Time of the slowest run.
    pub max_ns: u64,
}

/// Times of all runs of a plan that was run several times; see [`Explainer::repeat`](crate::search::Explainer::repeat).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepeatedRuns {
    /// Number of runs.
    pub runs: u64,
    /// Times of planning.
    pub planning: RunTimes,
    /// Times of the whole search.
    pub total: RunTimes,
}

impl Default for Actual {
    fn default() -> Self {
        Actual {
            documents: 0,
            documents_in: None,
            time_ns: 0,
            bytes_read: 0,
            containers: ContainerCounts::default(),
            terms: None,
            vectors: None,
            geo: None,
            positions: None,
            ranking: None,
            sort: None,
            streamed: None,
            complete: true,
            stopped: false,
        }
    }
}

/// Adds what is known of another to what is known of one.
fn add_known<T: AddAssign + Copy>(one: &mut Option<T>, other: Option<T>) {
    match (one, other) {
        (Some(one), Some(other)) => *one += other,
        (one, other) => *one = one.or(other),
    }
}

impl Actual {
    /// Returns the measurements of a node that ran to its end and found `documents`.
    pub fn of(documents: u64) -> Self {
        Actual { documents, ..Actual::default() }
    }

    /// Adds what happened in another segment.
    pub fn add(&mut self, other: &Actual) {
        self.documents = self.documents.saturating_add(other.documents);
        if let Some(documents) = other.documents_in {
            self.documents_in = Some(self.documents_in.unwrap_or(0).saturating_add(documents));
        }
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
        self.bytes_read = self.bytes_read.saturating_add(other.bytes_read);
        self.containers += other.containers;
        add_known(&mut self.terms, other.terms);
        add_known(&mut self.vectors, other.vectors);
        add_known(&mut self.geo, other.geo);
        add_known(&mut self.positions, other.positions);
        if let Some(other) = &other.ranking {
            self.ranking.get_or_insert_default().add(other);
        }
        add_known(&mut self.sort, other.sort);
        add_known(&mut self.streamed, other.streamed);
        self.complete &= other.complete;
        self.stopped |= other.stopped;
    }

    /// End of the run, where that was not the end of the work.
    pub(super) fn ended(&self) -> Option<&'static str> {
        match (self.stopped, self.complete) {
            (true, _) => Some("stopped here, out of time"),
            (false, false) => Some("stopped early"),
            (false, true) => None,
        }
    }
}

impl RankingCounts {
    /// Adds what was looked at in another segment, after what was looked at so far.
    pub fn add(&mut self, other: &RankingCounts) {
        let before = self.documents_scored;
        let after = |rise: &Threshold| Threshold { documents: before + rise.documents, ..*rise };
        self.thresholds.extend(other.thresholds.iter().map(after));
        self.documents_scored += other.documents_scored;
        add_known(&mut self.postings, other.postings);
        self.blocks += other.blocks;
        self.blocks_skipped += other.blocks_skipped;
        self.windows += other.windows;
        self.windows_skipped += other.windows_skipped;
        self.searched_twice |= other.searched_twice;
        add_known(&mut self.candidates, other.candidates);
    }
}

impl RunTimes {
    /// Times of some runs, at least one.
    pub(super) fn of(mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        let time = |at: usize| times.get(at).copied().unwrap_or(0);
        let last = times.len().saturating_sub(1);
        RunTimes { min_ns: time(0), median_ns: time(last / 2), max_ns: time(last) }
    }

    /// Adds a time that each run took besides.
    pub(super) fn add(&mut self, ns: u64) {
        for time in [&mut self.min_ns, &mut self.median_ns, &mut self.max_ns] {
            *time = time.saturating_add(ns);
        }
    }
}

impl ContainerCounts {
    /// Adds what another node or segment touched.
    pub fn add(&mut self, other: &ContainerCounts) {
        *self += *other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that are all different, `n` times each.
    fn counted(n: u64) -> Actual {
        let mut next = 0;
        let mut number = || {
            next += 1;
            n * next
        };
        let ranking = RankingCounts {
            documents_scored: number(),
            postings: Some(number()),
            blocks: number(),
            blocks_skipped: number(),
            windows: number(),
            windows_skipped: number(),
            searched_twice: n == 2,
            candidates: Some(CandidateCounts {
                looked_up: number(),
                found: number(),
                skipped_by_blocks: number(),
                skipped_by_frequencies: number(),
            }),
            thresholds: vec![],
        };
        Actual {
            documents: number(),
            documents_in: Some(number()),
            time_ns: number(),
            bytes_read: number(),
            containers: ContainerCounts {
                array: number(),
                bitmap: number(),
                run: number(),
                skipped: number(),
            },
            terms: Some(TermCounts { visited: number(), expanded: number(), cut: n == 2 }),
            vectors: Some(VectorCounts {
                candidates: number(),
                compared: number(),
                rescored: number(),
                proved_out: number(),
                hops: number(),
                distances: number(),
                blocks: number(),
                switched: number(),
                exhausted: number(),
                nearest: number(),
                recalled: number(),
            }),
            geo: Some(GeoCounts {
                boxes_tested: number(),
                boxes_settled: number(),
                pages_inside: number(),
                pages_border: number(),
                points_tested: number(),
                points_by_formula: number(),
            }),
            positions: Some(PositionCounts { candidates: number(), positions: number() }),
            ranking: Some(ranking),
            sort: Some(ColumnCounts {
                documents: number(),
                blocks: number(),
                blocks_skipped: number(),
                ends_looked_up: number(),
                deleted_taken_away: number(),
            }),
            streamed: Some(StreamCounts {
                segments: number(),
                given_up: number(),
                terms: number(),
                documents: number(),
                candidates: number(),
            }),
            complete: n != 2,
            stopped: n == 2,
        }
    }

    #[test]
    fn every_counter_of_two_segments_adds_up() {
        let mut expected = counted(3);
        expected.terms.as_mut().unwrap().cut = true;
        expected.ranking.as_mut().unwrap().searched_twice = true;
        (expected.complete, expected.stopped) = (false, true);
        for (first, second) in [(1, 2), (2, 1)] {
            let mut sum = counted(first);
            sum.add(&counted(second));
            assert_eq!(sum, expected);
            // Counts that only one of them has are kept.
            let mut alone = Actual::default();
            alone.add(&counted(first));
            assert_eq!(alone, counted(first));
        }
    }

    #[test]
    fn thresholds_of_the_next_segment_come_after_the_documents_of_those_before() {
        let rise = |documents, score| Threshold { documents, score };
        let of = |rises: &[Threshold]| RankingCounts {
            documents_scored: 10,
            thresholds: rises.to_vec(),
            ..RankingCounts::default()
        };
        let mut sum = of(&[rise(4, 1.0)]);
        sum.add(&of(&[rise(3, 2.0)]));
        assert_eq!(sum.thresholds, [rise(4, 1.0), rise(13, 2.0)]);
    }
}
