//! Plans made visible: one tree of plain data, and the ways to print it.
//!
//! An [`ExplainTree`] says what was asked, what the query became, which operators answer it with
//! which algorithm, what each was expected to find and why, and, after a run, what it found. It is
//! made from a plan and, optionally, the profile of its execution; the renderers know only the
//! tree, so that text, JSON and whatever a program makes of the public fields tell the same story.
//!
//! ```
//! use treepie::explain::{Estimate, ExplainNode, ExplainTree};
//!
//! let mut tree = ExplainTree::new("rust", ExplainNode::new("Term", "title:rust"));
//! tree.plan.estimate = Estimate::exact(42, "document frequency");
//! assert!(tree.to_string().contains("= 42 documents (document frequency)"));
//! ```
//!
//! - `Display` and [`ExplainTree::to_text`]: a tree with box drawing, as wide as the terminal.
//! - [`ExplainTree::to_json`]: one object; names may be added to it, none is renamed within a
//!   [`SCHEMA_VERSION`].
//!
//! # JSON
//!
//! ```json
//! {"schema_version": 1, "query": "…", "parsed": "…", "rewritten": "…", "notes": ["…"],
//!  "plan": {"id": "0", "operator": "Intersect", "label": "…", "field": null, "predicate": "…",
//!           "algorithm": "…",
//!           "estimate": {"documents": 120, "lower": 0, "upper": 4312, "source": "independence"},
//!           "actual": {"documents": 118, "documents_in": 4430, "time_ns": 3100, "bytes_read": 812,
//!                      "containers": {"array": 3, "bitmap": 1, "run": 0, "skipped": 29},
//!                      "terms": {"visited": 90, "expanded": 12, "cut": false},
//!                      "positions": {"candidates": 209, "positions": 1204},
//!                      "ranking": {"documents_scored": 157, "postings": 186, "blocks": 3072, "blocks_skipped": 3054,
//!                                  "windows": 3, "windows_skipped": 0,
//!                                  "candidates": {"looked_up": 0, "found": 512, "skipped_by_blocks": 290,
//!                                                 "skipped_by_frequencies": 13},
//!                                  "thresholds": [{"documents": 12, "score": 3.25}]},
//!                      "sort": {"documents": 4096, "blocks": 9766, "blocks_skipped": 9762},
//!                      "complete": true},
//!           "q_error": 1.017,
//!           "segments": [{"id": "…", "algorithm": "…", "estimate": {}, "actual": {}}],
//!           "decisions": [{"rule": "…", "accepted": true, "reason": "…", "estimated_cost_ns": 2900,
//!                          "alternative": {"name": "…", "estimated_cost_ns": 5100}}],
//!           "children": []},
//!  "segments": [{"id": "…", "documents": 13755095, "bytes": 641728512}],
//!  "facets": [{"field": "…", "limit": 10, "options": "by value", "algorithm": "…", "terms": 300,
//!              "actual": {"terms_intersected": 12, "terms_skipped": 288,
//!                         "terms_from_document_frequency": 0, "time_ns": 9000, "bytes_read": 512},
//!              "decisions": []},
//!             {"field": "…", "limit": 3, "ranges": "3 ranges", "algorithm": "…", "terms": 0,
//!              "actual": {"time_ns": 9000, "column": {"documents": 0, "blocks": 98, "blocks_skipped": 98}}, "decisions": []}],
//!  "total_ns": 42000}
//! ```
//!
//! `actual`, `q_error` and `total_ns` are there where the plan was run, `q_error` where it ran to
//! its end, `documents_in` where a node has inputs, `terms` where it stands for those of a pattern,
//! `positions` where it looks for a phrase, `sort` where it finds the first in the order of fields, `streamed` where it read lists in that order before, `ranking` where it finds
//! the best by score, `candidates` in
//! that where these are documents with the words of a phrase, `searched_twice` in that where it is true. `field`, `predicate`, `algorithm`,
//! `estimated_cost_ns` and `alternative` may be null.
//!
//! Facets within another are its `within`; each has the buckets that it is expected to be counted in, and the documents of all of these
//! together, as `"estimate": {"buckets": 3, "documents": 76}`, and in `actual` those that it was counted in as `within`. Of what counts
//! everything by a dictionary, less what some deleted documents have, `actual` and `column` say as `deleted_taken_away` how many those are;
//! `column` says as `ends_looked_up` for how many ends of ranges.
//!
//! Cost: rendering is linear in the size of the tree and does no I/O.

mod from_plan;
mod json;
mod pieces;
mod text;
mod units;

pub(crate) use from_plan::{Run, explain, facet_decisions};
pub use text::TextOptions;

/// The version of the JSON that [`ExplainTree::to_json`] writes. Names are added, never renamed.
pub const SCHEMA_VERSION: u32 = 1;

/// A query on its way to an answer: asked, parsed, rewritten, planned and, after a run, measured.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExplainTree {
    /// The text as it was asked.
    pub query: String,
    /// The text as the parser understood it, every binding spelled out.
    pub parsed: String,
    /// The text after the rewriter simplified it.
    pub rewritten: String,
    /// What the rewriter dropped or replaced, and why, one sentence each.
    pub notes: Vec<String>,
    /// The root of the plan.
    pub plan: ExplainNode,
    /// The segments of the snapshot the plan was made for, in order.
    pub segments: Vec<ExplainSegment>,
    /// How each facet is counted, in the order they were asked for.
    pub facets: Vec<ExplainFacet>,
    /// Time of the whole query from plan to answer; `None` where it was not run.
    pub total_ns: Option<u64>,
}

/// One operator of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExplainNode {
    /// The path from the root: `0`, `0.1`, `0.1.0`; see [`number`](Self::number).
    pub id: String,
    /// What the node does: `Intersect`, `Union`, `Term`, …
    pub operator: String,
    /// What it does it to, for people; printed behind the operator.
    pub label: String,
    /// The field the node reads, where it reads one.
    pub field: Option<String>,
    /// The part of the query that the node answers, in query syntax.
    pub predicate: Option<String>,
    /// How it does it; empty where there is only one way.
    pub algorithm: String,
    /// What the planner expects.
    pub estimate: Estimate,
    /// What happened, summed over the segments; `None` where the plan was not run.
    pub actual: Option<Actual>,
    /// The same by segment, where there is more than the sum to tell.
    pub segments: Vec<NodeSegment>,
    /// What the planner considered here.
    pub decisions: Vec<Decision>,
    /// The inputs.
    pub children: Vec<ExplainNode>,
}

/// A number of documents with the bounds that hold whatever the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// The planner's guess.
    pub documents: u64,
    /// There are never fewer, if the node runs to its end.
    pub lower: u64,
    /// There are never more.
    pub upper: u64,
    /// Where the numbers come from: `document frequency`, `independence`, …
    pub source: String,
}

/// What one node did while the plan ran.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Actual {
    /// Documents that came out.
    pub documents: u64,
    /// Documents that went in from all inputs, where the node has any.
    pub documents_in: Option<u64>,
    /// The node's own time without its children's.
    pub time_ns: u64,
    /// Bytes of postings and dictionary that the node read.
    pub bytes_read: u64,
    /// Roaring containers by kind, and those that did not need to be read.
    pub containers: ContainerCounts,
    /// Terms of the dictionary, where the node stands for those of a pattern.
    pub terms: Option<TermCounts>,
    /// What was read to place words, where the node looks for a phrase.
    pub positions: Option<PositionCounts>,
    /// What was looked at for scores, where the node finds the best. Their reads are counted here, not as bytes.
    pub ranking: Option<RankingCounts>,
    /// What was looked at to find the first in the order of fields.
    pub sort: Option<ColumnCounts>,
    /// The lists that were read in the order of a field to find its first documents, before a column was looked at for these.
    pub streamed: Option<StreamCounts>,
    /// False where a limit, a timeout or an early end stopped the node before it had seen everything.
    pub complete: bool,
    /// Whether the search was stopped while the node was at work, by a deadline or because it was cancelled.
    pub stopped: bool,
}

/// Terms that a node which stands for those of a pattern went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TermCounts {
    /// Terms looked at, whether they match the pattern or not.
    pub visited: u64,
    /// Terms that match it.
    pub expanded: u64,
    /// Whether the node stopped before the last of them, because no more were needed or allowed.
    pub cut: bool,
}

/// What a node that looks for a phrase has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PositionCounts {
    /// Documents with all of the words, in which these were placed.
    pub candidates: u64,
    /// Positions of the words in these documents, as far as they had to be read.
    pub positions: u64,
}

/// Lists of a dictionary that were read in the order of their terms, or in the opposite one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamCounts {
    /// Segments whose first documents were found so.
    pub segments: u64,
    /// Segments of which this was given up, as the values of what matches are too far from the first.
    pub given_up: u64,
    /// Terms whose lists were read.
    pub terms: u64,
    /// Documents in these lists.
    pub documents: u64,
    /// Those of them that match.
    pub candidates: u64,
}

/// What was looked at in a column, and what bounds of blocks spared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnCounts {
    /// Documents whose values were read.
    pub documents: u64,
    /// Blocks of 1,024 documents whose least and greatest value was looked at; one in which matches come in several runs
    /// counts for each. None where the column is read without its directory; where the first key of an order has no bounds, those in
    /// which anything matches.
    pub blocks: u64,
    /// Of these, the ones that were not read because their bounds say enough: none of their values can be among the first of an
    /// order, or all of them lie in one range.
    pub blocks_skipped: u64,
    /// Ends of ranges that were looked up in dictionaries, whose cumulative document frequencies counted whole segments.
    pub ends_looked_up: u64,
    /// Deleted documents whose values were taken away from what these say.
    pub deleted_taken_away: u64,
}

/// What finding the best by score looked at, and what bounds of scores spared it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RankingCounts {
    /// Documents whose score was computed.
    pub documents_scored: u64,
    /// Postings whose part of a score was computed for that; none where that is not counted: of phrases positions
    /// are, and where every match is scored one by one every word is asked for every match.
    pub postings: Option<u64>,
    /// Blocks of 64 documents whose best possible score was looked at.
    pub blocks: u64,
    /// Of these, the ones that were not decoded because that is too low.
    pub blocks_skipped: u64,
    /// Windows of 65,536 documents in which something may match.
    pub windows: u64,
    /// Of these, the ones of which not even blocks were looked at.
    pub windows_skipped: u64,
    /// Whether everything was searched twice, and is counted so here: a first threshold was taken from documents of which
    /// too many were deleted.
    pub searched_twice: bool,
    /// What became of the documents that have all words of a phrase.
    pub candidates: Option<CandidateCounts>,
    /// How the score rose that a document must reach to be among the best, ascending in both numbers; at most
    /// 32 points: the first, the last, and evenly spread ones between. Empty where fewer documents match than
    /// are wanted.
    pub thresholds: Vec<Threshold>,
}

/// Documents that have all words of a phrase, before these are placed; see [`PositionCounts`] for the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CandidateCounts {
    /// Documents of a rare word that were looked up one by one in the lists of the others, where that is how
    /// candidates were found.
    pub looked_up: u64,
    /// How many were found.
    pub found: u64,
    /// Of these, the ones whose block of 64 documents has no score that is good enough.
    pub skipped_by_blocks: u64,
    /// Of these, the ones in which a word is too rare, or which are too long.
    pub skipped_by_frequencies: u64,
}

/// A moment in a search for the best.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Threshold {
    /// Documents that were scored by then.
    pub documents: u64,
    /// The score that a document must reach from then on.
    pub score: f32,
}

/// Roaring containers that a node touched, by kind, and those it could leave alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContainerCounts {
    /// Sorted arrays of up to 4,096 values.
    pub array: u64,
    /// Bitmaps of 8 KiB.
    pub bitmap: u64,
    /// Runs.
    pub run: u64,
    /// Containers of any kind that were not read at all.
    pub skipped: u64,
}

/// What a node does, or did, in one segment.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NodeSegment {
    /// The segment's id in hexadecimal.
    pub id: String,
    /// The algorithm chosen for this segment; empty where there is only one way.
    pub algorithm: String,
    /// What the planner expects of this segment.
    pub estimate: Estimate,
    /// What happened; `None` where the plan was not run.
    pub actual: Option<Actual>,
}

/// One thing the planner weighed: what it chose, why, and what it would have cost otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// The rule that was considered.
    pub rule: String,
    /// Whether it was applied.
    pub accepted: bool,
    /// Why, or why not.
    pub reason: String,
    /// What the node is expected to cost after the decision, where the rule is about cost.
    pub estimated_cost_ns: Option<u64>,
    /// The best way that was not taken, where there was one.
    pub alternative: Option<Alternative>,
}

/// The way that a decision did not take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alternative {
    /// What it would have been.
    pub name: String,
    /// What it would have cost, where the rule is about cost.
    pub estimated_cost_ns: Option<u64>,
}

/// One segment of the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainSegment {
    /// The segment's id in hexadecimal.
    pub id: String,
    /// Documents in it.
    pub documents: u64,
    /// Bytes of its file.
    pub bytes: u64,
}

/// How one facet is counted.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExplainFacet {
    /// The field whose terms are counted.
    pub field: String,
    /// How many values were asked for.
    pub limit: u64,
    /// How they are counted.
    pub algorithm: String,
    /// By which ranges values are counted, for people; `None` where each value counts by itself.
    pub ranges: Option<String>,
    /// Which values are wanted and in what order, for people; `None` where the most frequent ones are.
    pub options: Option<String>,
    /// Distinct terms of the field, summed over the segments; 0 where ranges are counted.
    pub terms: u64,
    /// Of a facet within another, in how many buckets of that it is expected to be counted.
    pub estimate: Option<InBuckets>,
    /// What the planner considered here. Within another facet costs are those of all buckets together.
    pub decisions: Vec<Decision>,
    /// What happened; `None` where the plan was not run. Within another facet that is the sum over its buckets.
    pub actual: Option<FacetActual>,
    /// Those that are counted in each of its buckets.
    pub within: Vec<ExplainFacet>,
}

impl ExplainFacet {
    /// Of a field, of which nothing else is known.
    pub(crate) fn of(field: &str) -> Self {
        ExplainFacet { field: field.to_owned(), ..ExplainFacet::default() }
    }
}

/// The buckets that a facet is counted in, which lies within another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InBuckets {
    /// How many there are.
    pub buckets: u64,
    /// The documents of all of them together.
    pub documents: u64,
}

/// What counting one facet took. A term that several segments have is a term of each, so that all
/// three numbers of terms add up to [`ExplainFacet::terms`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FacetActual {
    /// Terms whose postings were intersected with the result.
    pub terms_intersected: u64,
    /// Terms whose postings were not read: they could not enter the top by their document frequency,
    /// or every document was accounted for before their turn came.
    pub terms_skipped: u64,
    /// Terms whose count is their document frequency, because every document matches.
    pub terms_from_document_frequency: u64,
    /// Deleted documents whose terms were taken away from document frequencies, where all others match.
    pub deleted_taken_away: u64,
    /// Time of the facet.
    pub time_ns: u64,
    /// Bytes of postings and dictionary that it read.
    pub bytes_read: u64,
    /// What was looked at in a column, where it is counted by one.
    pub column: Option<ColumnCounts>,
    /// Within another facet, in which of its buckets it was counted.
    pub within: Option<InBuckets>,
}

impl ExplainTree {
    /// A tree of one query text and the root of its plan; `parsed` and `rewritten` start as the text.
    pub fn new(query: impl Into<String>, plan: ExplainNode) -> Self {
        let query = query.into();
        let mut plan = plan;
        plan.number();
        ExplainTree {
            parsed: query.clone(),
            rewritten: query.clone(),
            query,
            notes: vec![],
            plan,
            segments: vec![],
            facets: vec![],
            total_ns: None,
        }
    }
}

impl ExplainNode {
    /// A node without inputs; set the public fields that apply.
    pub fn new(operator: impl Into<String>, label: impl Into<String>) -> Self {
        ExplainNode { operator: operator.into(), label: label.into(), ..Self::default() }
    }

    /// Gives this node the id `0` and every node below the path that leads to it.
    pub fn number(&mut self) {
        fn number(node: &mut ExplainNode, id: String) {
            for (at, child) in node.children.iter_mut().enumerate() {
                number(child, format!("{id}.{at}"));
            }
            node.id = id;
        }
        number(self, "0".into());
    }

    /// This node and all below it, parents first.
    pub fn iter(&self) -> impl Iterator<Item = &ExplainNode> {
        let mut todo = vec![self];
        std::iter::from_fn(move || {
            let node = todo.pop()?;
            todo.extend(node.children.iter().rev());
            Some(node)
        })
    }

    /// How far the estimate was off as a factor of at least 1, both sides counted as at least one
    /// document; `None` where the node did not run to its end.
    pub fn q_error(&self) -> Option<f64> {
        let actual = self.actual.as_ref().filter(|actual| actual.complete)?;
        let estimated = self.estimate.documents.max(1) as f64;
        let counted = actual.documents.max(1) as f64;
        Some((estimated / counted).max(counted / estimated))
    }
}

impl Estimate {
    /// A number that is known.
    pub fn exact(documents: u64, source: impl Into<String>) -> Self {
        Estimate { documents, lower: documents, upper: documents, source: source.into() }
    }

    /// A guess between two bounds; it is moved to the nearer bound where it lies outside.
    pub fn between(documents: u64, lower: u64, upper: u64, source: impl Into<String>) -> Self {
        let upper = upper.max(lower);
        Estimate { documents: documents.clamp(lower, upper), lower, upper, source: source.into() }
    }

    /// Whether the bounds leave no doubt.
    pub fn is_exact(&self) -> bool {
        self.lower == self.upper
    }
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
            positions: None,
            ranking: None,
            sort: None,
            streamed: None,
            complete: true,
            stopped: false,
        }
    }
}

impl Actual {
    /// Adds what happened in another segment.
    pub fn add(&mut self, other: &Actual) {
        self.documents = self.documents.saturating_add(other.documents);
        self.documents_in = match (self.documents_in, other.documents_in) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (one, None) | (None, one) => one,
        };
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
        self.bytes_read = self.bytes_read.saturating_add(other.bytes_read);
        self.containers.add(&other.containers);
        self.terms = match (self.terms, other.terms) {
            (Some(a), Some(b)) => Some(TermCounts {
                visited: a.visited + b.visited,
                expanded: a.expanded + b.expanded,
                cut: a.cut || b.cut,
            }),
            (one, None) | (None, one) => one,
        };
        self.positions = match (self.positions, other.positions) {
            (Some(a), Some(b)) => Some(PositionCounts {
                candidates: a.candidates + b.candidates,
                positions: a.positions + b.positions,
            }),
            (one, None) | (None, one) => one,
        };
        if let Some(other) = &other.ranking {
            self.ranking.get_or_insert_default().add(other);
        }
        self.sort = match (self.sort, other.sort) {
            (Some(a), Some(b)) => Some(ColumnCounts {
                documents: a.documents + b.documents,
                blocks: a.blocks + b.blocks,
                blocks_skipped: a.blocks_skipped + b.blocks_skipped,
                ends_looked_up: a.ends_looked_up + b.ends_looked_up,
                deleted_taken_away: a.deleted_taken_away + b.deleted_taken_away,
            }),
            (one, None) | (None, one) => one,
        };
        if let Some(other) = other.streamed {
            let streamed = self.streamed.get_or_insert_default();
            streamed.segments += other.segments;
            streamed.given_up += other.given_up;
            streamed.terms += other.terms;
            streamed.documents += other.documents;
            streamed.candidates += other.candidates;
        }
        self.complete &= other.complete;
        self.stopped |= other.stopped;
    }
}

impl RankingCounts {
    /// Adds what was looked at in another segment, after what was looked at so far.
    pub fn add(&mut self, other: &RankingCounts) {
        let before = self.documents_scored;
        self.thresholds.extend(
            other
                .thresholds
                .iter()
                .map(|rise| Threshold { documents: before + rise.documents, ..*rise }),
        );
        self.documents_scored += other.documents_scored;
        self.postings = match (self.postings, other.postings) {
            (Some(a), Some(b)) => Some(a + b),
            (one, None) | (None, one) => one,
        };
        self.blocks += other.blocks;
        self.blocks_skipped += other.blocks_skipped;
        self.windows += other.windows;
        self.windows_skipped += other.windows_skipped;
        self.searched_twice |= other.searched_twice;
        self.candidates = match (self.candidates, other.candidates) {
            (Some(a), Some(b)) => Some(CandidateCounts {
                looked_up: a.looked_up + b.looked_up,
                found: a.found + b.found,
                skipped_by_blocks: a.skipped_by_blocks + b.skipped_by_blocks,
                skipped_by_frequencies: a.skipped_by_frequencies + b.skipped_by_frequencies,
            }),
            (one, None) | (None, one) => one,
        };
    }
}

impl ContainerCounts {
    /// Adds what another node or segment touched.
    pub fn add(&mut self, other: &ContainerCounts) {
        self.array += other.array;
        self.bitmap += other.bitmap;
        self.run += other.run;
        self.skipped += other.skipped;
    }
}

impl Decision {
    /// A rule that was applied.
    pub fn accepted(rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Decision { rule: rule.into(), accepted: true, reason: reason.into(), ..Self::default() }
    }

    /// A rule that was considered and left.
    pub fn rejected(rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Decision { accepted: false, ..Self::accepted(rule, reason) }
    }

    /// Sets what the node is expected to cost after the decision.
    #[must_use]
    pub fn costing(mut self, estimated_cost_ns: u64) -> Self {
        self.estimated_cost_ns = Some(estimated_cost_ns);
        self
    }

    /// Sets the way that was not taken and what it would have cost.
    #[must_use]
    pub fn instead_of(mut self, name: impl Into<String>, estimated_cost_ns: Option<u64>) -> Self {
        self.alternative = Some(Alternative { name: name.into(), estimated_cost_ns });
        self
    }
}

#[cfg(test)]
pub(crate) mod sample {
    use super::*;

    /// A plan with something of everything.
    pub(crate) fn analyzed() -> ExplainTree {
        let term = |word: &str, documents: u64, array: u64| ExplainNode {
            field: Some("title".into()),
            predicate: Some(format!("title:{word}")),
            estimate: Estimate::exact(documents, "document frequency"),
            actual: Some(Actual {
                documents,
                time_ns: 1_200,
                bytes_read: 8_192,
                containers: ContainerCounts { array, bitmap: 2, run: 0, skipped: 29 },
                ..Actual::default()
            }),
            ..ExplainNode::new("Term", format!("title:{word}"))
        };
        let mut union = ExplainNode::new("Union", "title:france OR title:spain");
        union.estimate = Estimate::between(5_000, 4_000, 8_100, "independence");
        union.actual =
            Some(Actual { documents: 118, complete: false, time_ns: 800, ..Actual::default() });
        union.children = vec![term("france", 4_100, 0), term("spain", 4_000, 3)];

        let mut root =
            ExplainNode::new("Intersect", "title:history AND (title:france OR title:spain)");
        root.algorithm = "gallop array × bitmap".into();
        root.estimate = Estimate::between(120, 0, 4_312, "independence");
        let actual = Actual {
            documents: 118,
            documents_in: Some(4_430),
            time_ns: 3_100,
            bytes_read: 812,
            terms: None,
            positions: None,
            ranking: None,
            sort: None,
            streamed: None,
            containers: ContainerCounts { array: 3, bitmap: 1, run: 0, skipped: 29 },
            complete: true,
            stopped: false,
        };
        root.actual = Some(actual.clone());
        root.decisions = vec![
            Decision::accepted("order by document frequency", "the rarest input first")
                .costing(2_900)
                .instead_of("as written", Some(5_100)),
            Decision::rejected("prove empty", "the ranges of documents overlap"),
        ];
        root.segments = ["0a1b", "2c3d"]
            .map(|id| NodeSegment {
                id: id.into(),
                algorithm: "gallop".into(),
                estimate: Estimate::between(60, 0, 2_000, "independence"),
                actual: Some(actual.clone()),
            })
            .into();
        root.children = vec![term("history", 4_312, 1), union];

        let mut tree = ExplainTree::new("history && (france spain) +AC/DC", root);
        tree.parsed = "history AND (france spain) +AC/DC".into();
        tree.rewritten = "title:history AND (title:france OR title:spain)".into();
        tree.notes = vec!["'AC/DC' is several words".into()];
        tree.segments =
            vec![ExplainSegment { id: "0a1b".into(), documents: 13_755_095, bytes: 641_728_512 }];
        tree.facets = vec![ExplainFacet {
            field: "qualifier".into(),
            limit: 10,
            algorithm: "by descending document frequency".into(),
            ranges: None,
            options: None,
            terms: 300,
            estimate: None,
            decisions: vec![Decision::accepted("stop early", "no other term can enter the top 10")],
            actual: Some(FacetActual {
                terms_intersected: 12,
                terms_skipped: 288,
                time_ns: 9_000,
                bytes_read: 512,
                column: None,
                ..FacetActual::default()
            }),
            within: vec![],
        }];
        tree.total_ns = Some(42_000);
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_by_their_path_and_listed_parents_first() {
        let mut inner = ExplainNode::new("Union", "a OR b");
        inner.children = vec![ExplainNode::new("Term", "a"), ExplainNode::new("Term", "b")];
        let mut root = ExplainNode::new("Intersect", "c AND (a OR b)");
        root.children = vec![ExplainNode::new("Term", "c"), inner];
        let tree = ExplainTree::new("c (a OR b)", root);
        let ids: Vec<_> = tree.plan.iter().map(|node| (&*node.id, &*node.label)).collect();
        assert_eq!(
            ids,
            [
                ("0", "c AND (a OR b)"),
                ("0.0", "c"),
                ("0.1", "a OR b"),
                ("0.1.0", "a"),
                ("0.1.1", "b")
            ]
        );
    }

    #[test]
    fn q_error_is_symmetric_at_least_one_and_unknown_for_what_did_not_finish() {
        let node = |estimated, documents, complete| ExplainNode {
            estimate: Estimate::exact(estimated, "test"),
            actual: Some(Actual { documents, complete, ..Actual::default() }),
            ..ExplainNode::default()
        };
        assert_eq!(node(10, 40, true).q_error(), Some(4.0));
        assert_eq!(node(40, 10, true).q_error(), Some(4.0));
        assert_eq!(node(0, 0, true).q_error(), Some(1.0));
        assert_eq!(node(10, 40, false).q_error(), None);
        assert_eq!(ExplainNode::default().q_error(), None);
    }

    #[test]
    fn sums_of_segments_keep_what_is_unknown_and_what_was_cut_short() {
        let mut sum = Actual::default();
        sum.add(&Actual { documents: 3, documents_in: Some(7), ..Actual::default() });
        sum.add(&Actual { documents: 1, complete: false, ..Actual::default() });
        let expected =
            Actual { documents: 4, documents_in: Some(7), complete: false, ..Actual::default() };
        assert_eq!(sum, expected);
    }

    #[test]
    fn a_guess_outside_its_bounds_is_moved_inside() {
        assert_eq!(Estimate::between(9, 2, 5, "x").documents, 5);
        assert_eq!(Estimate::between(1, 2, 5, "x").documents, 2);
        assert!(Estimate::between(7, 3, 3, "x").is_exact());
    }
}
