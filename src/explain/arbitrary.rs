//! Arbitrary trees for tests. They are made of a row of bytes, so that failures shrink as these do.

use super::*;
use crate::ranking::scorer::Explanation;
use proptest::prelude::*;

/// Texts that have broken something somewhere.
const HOSTILE: [&str; 12] = [
    "",
    "title:rust",
    "\"\\/\u{8}\u{c}\n\r\t\0\u{7f}\u{9b}",
    "</script><!--",
    "\u{202e}\u{2028}\u{2029}\u{feff}",
    "\u{1b}[2J",
    "東京 × µs ≈ 😀",
    "{\"plan\":[]}",
    "null",
    "\u{10ffff}\u{e000}",
    "AND OR NOT",
    "\\u0041",
];

/// Whole numbers from 0 up to those that a float cannot tell apart.
const NUMBERS: [u64; 8] = [0, 1, 7, 1_000, 1 << 32, (1 << 53) + 1, u64::MAX - 1, u64::MAX];

/// Trees of up to a few dozen nodes, in which everything may be there or not.
pub(crate) fn trees() -> impl Strategy<Value = ExplainTree> {
    proptest::collection::vec(any::<u8>(), 0..2_000).prop_map(|bytes| Bytes(&bytes, 0).tree())
}

/// Bytes that decide everything; zeros without end when they are used up.
struct Bytes<'b>(&'b [u8], usize);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let byte = self.0.get(self.1).copied().unwrap_or(0);
        self.1 += 1;
        byte
    }

    fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    fn number(&mut self) -> u64 {
        match self.byte() {
            byte @ ..128 => NUMBERS[usize::from(byte) % NUMBERS.len()],
            byte => u64::from(byte) << self.below(56),
        }
    }

    fn float(&mut self) -> f32 {
        let bits = u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]);
        Some(f32::from_bits(bits)).filter(|float| float.is_finite()).unwrap_or_default()
    }

    fn boolean(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    fn text(&mut self) -> String {
        match self.byte() {
            byte @ ..200 => HOSTILE[usize::from(byte) % HOSTILE.len()].into(),
            _ => (0..self.below(5)).filter_map(|_| char::from_u32(self.number() as u32)).collect(),
        }
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.boolean().then(|| make(self))
    }

    fn several<T>(&mut self, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.below(3)).map(|_| make(self)).collect()
    }

    fn tree(&mut self) -> ExplainTree {
        let plan = self.node(0);
        let mut tree = ExplainTree::new(self.text(), plan);
        tree.parsed = self.text();
        tree.rewritten = self.text();
        tree.notes = self.several(Self::text);
        tree.segments = self.several(|of| ExplainSegment {
            id: of.text(),
            documents: of.number(),
            bytes: of.number(),
            deleted: of.number(),
        });
        tree.page = self.maybe(|of| ExplainPage {
            offset: of.number(),
            limit: of.number(),
            total: of.text(),
        });
        tree.facets = self.several(|of| of.facet(0));
        tree.findings = self.several(|of| Finding {
            rule: of.text(),
            severity: [Severity::Note, Severity::Hint, Severity::Warning][of.below(3)],
            node: of.maybe(Self::text),
            facet: of.maybe(Self::text),
            message: of.text(),
            remedy: of.maybe(Self::text),
            rebuild: of.boolean(),
        });
        let verdicts = [Verdict::Matched, Verdict::Failed, Verdict::NotReached];
        tree.documents = self.several(|of| ExplainDocument {
            doc: of.number(),
            title: of.text(),
            matches: of.boolean(),
            deleted: of.boolean(),
            failed_at: of.maybe(Self::text),
            reason: of.text(),
            misses: of.several(Self::text),
            verdicts: of.several(|of| (of.text(), verdicts[of.below(3)])).into_iter().collect(),
            score: of.maybe(|of| of.explanation(0)),
        });
        tree.term_lookups = self.maybe(Self::number);
        tree.planning_ns = self.maybe(Self::number);
        tree.planning = self.maybe(|of| PlanningTimes {
            parse_ns: of.maybe(Self::number),
            bind_ns: of.number(),
            look_up_ns: of.number(),
            estimate_ns: of.number(),
            choose_ns: of.number(),
        });
        tree.total_ns = self.maybe(Self::number);
        tree.repeated = self.maybe(|of| RepeatedRuns {
            runs: of.number(),
            planning: of.run_times(),
            total: of.run_times(),
        });
        tree
    }

    fn run_times(&mut self) -> RunTimes {
        RunTimes { min_ns: self.number(), median_ns: self.number(), max_ns: self.number() }
    }

    fn explanation(&mut self, depth: usize) -> Explanation {
        let parts = match depth {
            0..4 => self.several(|of| of.explanation(depth + 1)),
            _ => vec![],
        };
        Explanation { value: self.float(), what: self.text(), parts }
    }

    fn node(&mut self, depth: usize) -> ExplainNode {
        ExplainNode {
            id: String::new(),
            operator: (&*self.text()).into(),
            label: self.text(),
            field: self.maybe(Self::text),
            predicate: self.maybe(Self::text),
            algorithm: self.text(),
            estimate: self.estimate(),
            neighbors: self.maybe(|of| NeighborsEstimate {
                way: of.text(),
                ef: of.number(),
                recall: of.float().into(),
                distances: of.number(),
            }),
            terms: self.maybe(Self::number),
            actual: self.maybe(Self::actual),
            times: self.maybe(Self::run_times),
            segments: self.several(|of| NodeSegment {
                id: of.text(),
                algorithm: of.text(),
                estimate: of.estimate(),
                actual: of.maybe(Self::actual),
            }),
            decisions: self.several(Self::decision),
            windows: self.several(|of| {
                let kinds = ["", "a", "b.r"][of.below(3)].to_owned();
                let documents = kinds.chars().map(|_| of.number() as u32).collect();
                ContainerMap { segment: of.text(), kinds, documents }
            }),
            children: match depth {
                0..5 => self.several(|of| of.node(depth + 1)),
                _ => vec![],
            },
        }
    }

    fn estimate(&mut self) -> Estimate {
        Estimate {
            documents: self.number(),
            lower: self.number(),
            upper: self.number(),
            source: self.text(),
        }
    }

    fn actual(&mut self) -> Actual {
        Actual {
            documents: self.number(),
            documents_in: self.maybe(Self::number),
            time_ns: self.number(),
            bytes_read: self.number(),
            containers: ContainerCounts {
                array: self.number(),
                bitmap: self.number(),
                run: self.number(),
                skipped: self.number(),
            },
            terms: self.maybe(|of| TermCounts {
                visited: of.number(),
                expanded: of.number(),
                cut: of.boolean(),
            }),
            vectors: self.maybe(|of| VectorCounts {
                candidates: of.number(),
                compared: of.number(),
                rescored: of.number(),
                proved_out: of.number(),
                blocks: of.number(),
                hops: of.number(),
                distances: of.number(),
                switched: of.number(),
                exhausted: of.number(),
                nearest: of.number(),
                recalled: of.number(),
            }),
            geo: self.maybe(Self::points),
            positions: self
                .maybe(|of| PositionCounts { candidates: of.number(), positions: of.number() }),
            ranking: self.maybe(|of| RankingCounts {
                documents_scored: of.number(),
                postings: of.maybe(Self::number),
                blocks: of.number(),
                blocks_skipped: of.number(),
                windows: of.number(),
                windows_skipped: of.number(),
                searched_twice: of.boolean(),
                candidates: of.maybe(|of| CandidateCounts {
                    looked_up: of.number(),
                    found: of.number(),
                    skipped_by_blocks: of.number(),
                    skipped_by_frequencies: of.number(),
                }),
                thresholds: of
                    .several(|of| Threshold { documents: of.number(), score: of.float() }),
            }),
            sort: self.maybe(Self::column),
            streamed: self.maybe(|of| StreamCounts {
                segments: of.number(),
                given_up: of.number(),
                terms: of.number(),
                documents: of.number(),
                candidates: of.number(),
            }),
            complete: !self.boolean(),
            stopped: self.boolean(),
        }
    }

    fn points(&mut self) -> GeoCounts {
        GeoCounts {
            boxes_tested: self.number(),
            boxes_settled: self.number(),
            pages_inside: self.number(),
            pages_border: self.number(),
            points_tested: self.number(),
            points_by_formula: self.number(),
        }
    }

    fn column(&mut self) -> ColumnCounts {
        ColumnCounts {
            documents: self.number(),
            blocks: self.number(),
            blocks_skipped: self.number(),
            ends_looked_up: self.number(),
            deleted_taken_away: self.number(),
        }
    }

    fn decision(&mut self) -> Decision {
        Decision {
            rule: self.text(),
            accepted: self.boolean(),
            reason: self.text(),
            estimated_cost_ns: self.maybe(Self::number),
            measured_ns: self.maybe(Self::number),
            recall: self.maybe(Self::recall),
            alternative: self.maybe(Self::alternative),
            others: self.several(Self::alternative),
        }
    }

    fn alternative(&mut self) -> Alternative {
        Alternative {
            name: self.text(),
            estimated_cost_ns: self.maybe(Self::number),
            measured_ns: self.maybe(Self::number),
            recall: self.maybe(Self::recall),
        }
    }

    fn recall(&mut self) -> Recall {
        Recall { nearest: self.number(), recalled: self.number() }
    }

    fn facet(&mut self, depth: usize) -> ExplainFacet {
        ExplainFacet {
            operator: "TopHits".into(),
            field: self.text(),
            limit: self.number(),
            algorithm: self.text(),
            ranges: self.maybe(Self::text),
            options: self.maybe(Self::text),
            terms: self.number(),
            estimate: self.maybe(Self::facet_estimate),
            decisions: self.several(Self::decision),
            actual: self.maybe(Self::facet_actual),
            times: self.maybe(Self::run_times),
            within: match depth {
                0..3 => self.several(|of| of.facet(depth + 1)),
                _ => vec![],
            },
        }
    }

    fn facet_estimate(&mut self) -> FacetEstimate {
        let [buckets, buckets_upper, documents, lower, upper] =
            std::array::from_fn(|_| self.number());
        FacetEstimate { buckets, buckets_upper, documents, lower, upper }
    }

    fn in_buckets(&mut self) -> InBuckets {
        InBuckets { buckets: self.number(), documents: self.number() }
    }

    /// By terms, by a column or by both.
    fn facet_actual(&mut self) -> FacetActual {
        let by_column = FacetActual {
            time_ns: self.number(),
            within: self.maybe(Self::in_buckets),
            column: self.maybe(Self::column),
            geo: self.maybe(Self::points),
            ..FacetActual::default()
        };
        match self.boolean() {
            true => by_column,
            false => FacetActual {
                terms_intersected: self.number(),
                terms_skipped: self.number(),
                terms_from_document_frequency: self.number(),
                deleted_taken_away: self.number(),
                bytes_read: self.number(),
                ..by_column
            },
        }
    }
}
