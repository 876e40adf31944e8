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
//!   [`SCHEMA_VERSION`]. [`ExplainTree::from_json`] reads it back.
//! - `ExplainTree::to_html` and `HtmlPages` (feature `viewer`): one file that draws it in a browser.
//! - [`ExplainTree::to_dot`], [`ExplainTree::to_mermaid`]: drawings by Graphviz and Mermaid.
//! - [`ExplainTree::to_pgjson`]: what viewers of the plans of Postgres read.
//! - [`ExplainTree::to_folded`]: the times for flame graphs.
//! - [`ExplainTree::to_outline`] and [`assert_plan!`](crate::assert_plan): what stays the same, for tests.
//! - [`glossary()`]: meanings of the words that plans use.
//! - [`EstimateErrors`]: how far the estimates of many plans were off.
//!
//! What is worth knowing first, sentences with remedies, stands in [`ExplainTree::findings`]; trees that are made or changed by
//! hand get theirs by [`ExplainTree::find`]. Why a search finds nothing is no plan: see [`WhyEmpty`].
//!
//! Two of them are compared by [`PlanDiff`]; [`SlowestSearches`] finds the worst in a log of slow searches.
//!
//! # JSON
//!
//! ```json
//! {"schema_version": 1, "query": "…", "parsed": "…", "rewritten": "…", "notes": ["…"],
//!  "findings": [{"rule": "…", "severity": "hint", "node": "0.1", "facet": null, "message": "…", "remedy": "…",
//!                "rebuild": true}],
//!  "plan": {"id": "0", "operator": "Intersect", "label": "…", "field": null, "predicate": "…",
//!           "algorithm": "…",
//!           "estimate": {"documents": 120, "lower": 0, "upper": 4312, "source": "independence"},
//!           "terms": 12400,
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
//!                      "streamed": {"segments": 2, "given_up": 1, "terms": 31, "documents": 977, "candidates": 12},
//!                      "complete": false, "stopped": true},
//!           "q_error": 1.017,
//!           "segments": [{"id": "…", "algorithm": "…", "estimate": {}, "actual": {}}],
//!           "decisions": [{"rule": "…", "accepted": true, "reason": "…", "estimated_cost_ns": 2900,
//!                          "measured_ns": 3100, "confirmed": true,
//!                          "alternative": {"name": "…", "estimated_cost_ns": 5100, "measured_ns": 5900},
//!                          "others": [{"name": "…", "estimated_cost_ns": 8000}]}],
//!           "windows": [{"segment": "…", "kinds": "ab.r", "documents": [12, 40213, 0, 65536]}],
//!           "children": []},
//!  "segments": [{"id": "…", "documents": 13755095, "deleted": 12, "bytes": 641728512}],
//!  "page": {"offset": 0, "limit": 10, "total": "exact"},
//!  "facets": [{"field": "…", "limit": 10, "options": "by value", "algorithm": "…", "terms": 300,
//!              "actual": {"terms_intersected": 12, "terms_skipped": 288,
//!                         "terms_from_document_frequency": 0, "time_ns": 9000, "bytes_read": 512},
//!              "decisions": []},
//!             {"field": "…", "limit": 3, "ranges": "3 ranges", "algorithm": "…", "terms": 0,
//!              "actual": {"time_ns": 9000, "column": {"documents": 0, "blocks": 98, "blocks_skipped": 98}}, "decisions": []}],
//!  "documents": [{"doc": 15212, "title": "…", "deleted": false, "matches": true, "failed_at": null, "reason": "matches",
//!                 "misses": [], "verdicts": {"0": "matched", "0.0": "matched", "0.1": "not reached"},
//!                 "score": {"value": 11.83, "what": "…", "parts": []}}],
//!  "term_lookups": 2,
//!  "planning_ns": 3000,
//!  "planning": {"parse_ns": 400, "bind_ns": 700, "look_up_ns": 1100, "estimate_ns": 300, "choose_ns": 500},
//!  "rest_ns": 1700,
//!  "total_ns": 42000,
//!  "repeated": {"runs": 7, "planning": {"min_ns": 2800, "median_ns": 3000, "max_ns": 9000},
//!               "total": {"min_ns": 40000, "median_ns": 42000, "max_ns": 81000}}}
//! ```
//!
//! The example has more than any node has at once. `actual`, `q_error`, `planning_ns`, `planning` (its phases, which add up to it; `parse_ns` where that is known, see [`ExplainTree::add_parsing`]), `rest_ns` (what neither planning nor a node or facet took) and `total_ns` are there where the plan was run, `q_error` where it ran to
//! its end, `documents_in` where a node has inputs, `terms` where it stands for those of a pattern,
//! `positions` where it looks for a phrase, `repeated`, and `times` of a node or facet with the names of `total` there, where the plan was run several times, `sort` where it finds the first in the order of fields, `streamed` where it read lists in that order before, `stopped` where it is true: the search was stopped while the node was at work, `ranking` where it finds
//! the best by score, `candidates` in
//! that where these are documents with the words of a phrase, `searched_twice` in that where it is true. `field`, `predicate`, `algorithm`,
//! `estimated_cost_ns` and `alternative` may be null, and so `node`, `facet` and `remedy` of a finding and `failed_at` and `score` of a document. `measured_ns`, `confirmed` (whether no
//! other way took less time by more than a tenth and 200 ns) and `others` of a decision, `windows` and `documents` are there where they are known, `terms` of a node where it stands for a
//! pattern, `rebuild` of a finding where its remedy needs an index that is built anew, `deleted` of a segment where there are any, and `page` where hits are wanted. `severity` is `note`, `hint` or `warning`, a
//! verdict `matched`, `failed` or `not reached`.
//!
//! Facets within another are its `within`; each has the buckets that it is expected to be counted in, and the documents of all of these
//! together, as `"estimate": {"buckets": 3, "documents": 76}`, and in `actual` those that it was counted in as `within`, with both
//! `column` and numbers of terms where some buckets were counted by each. Of what counts
//! everything by a dictionary, less what some deleted documents have, `actual` and `column` say as `deleted_taken_away` how many those are;
//! `column` says as `ends_looked_up` for how many ends of ranges.
//!
//! `documents` has those that were [asked for](crate::search::Explainer::documents); [`ExplainDocument`] says what the verdicts
//! mean, of what is excluded, too. `windows` of a leaf come from the headers of its lists: a leaf that unites lists or compares values
//! has none, and a short list of a segment with more windows than one has them after a run. After a run the node that finds
//! everything that matches has those of what was found, unless the number was known without looking. All leaves together have at most
//! 8,192 windows, those first that stand first, and so many has what was found.
//!
//! Cost: rendering is linear in the size of the tree and does no I/O.

#[cfg(test)]
pub(crate) mod arbitrary;
mod caption;
mod counts;
mod diff;
mod documents;
mod dot;
mod findings;
mod folded;
mod from_json;
mod from_plan;
mod glossary;
#[cfg(test)]
mod hostile;
#[cfg(feature = "viewer")]
mod html;
mod json;
mod json_values;
mod lens;
mod measured;
mod mermaid;
mod outline;
mod pgjson;
mod pieces;
mod q_errors;
mod repeated;
mod run_times;
#[cfg(test)]
pub(crate) mod sample;
mod slow_search;
mod text;
mod tree;
mod units;
mod why;
mod windows;
mod why_empty;

pub use counts::{
    Actual, CandidateCounts, ColumnCounts, ContainerCounts, FacetActual, InBuckets, PositionCounts,
    RankingCounts, StreamCounts, TermCounts, Threshold,
};
pub use diff::{Change, DiffKind, DiffValue, NodeDiff, PlanDiff};
pub use documents::{ExplainDocument, Verdict};
pub(crate) use findings::Facts;
pub use findings::{Finding, Severity};
pub(crate) use from_plan::{FacetRun, LookedAt, PageRun, Run, cache_decision, explain};
pub use glossary::{GlossaryEntry, WordKind, glossary};
#[cfg(feature = "viewer")]
pub use html::HtmlPages;
#[doc(hidden)]
pub use outline::{assert_outline, difference};
pub use q_errors::{EstimateErrors, QErrors, WorstEstimate};
pub use run_times::{RepeatedRuns, RunTimes};
pub use slow_search::{Recorded, SlowSearch, SlowestSearches};
pub use text::TextOptions;
pub use tree::{
    Alternative, ContainerMap, Decision, Estimate, ExplainFacet, ExplainNode, ExplainPage,
    ExplainSegment, ExplainTree, NodeSegment, PlanningTimes, Spread,
};
pub(crate) use why::{document, locate};
pub use why_empty::{ConflictSize, EmptyClause, EmptyPhrase, UnknownTerm, WhyEmpty};

pub use crate::json::JSON_BYTES_MAX;
pub use crate::plan::{Costs, EstimateFrom};
pub use crate::ranking::scorer::Explanation;

/// The version of the JSON that [`ExplainTree::to_json`] writes. Names are added, never renamed.
pub const SCHEMA_VERSION: u32 = 1;

/// The JSON Schema (2020-12) of what [`ExplainTree::to_json`] writes, every name described. It allows no names but those
/// that are written, for checking writers; readers must accept more.
pub const JSON_SCHEMA: &str = include_str!("../docs/plan.schema.json");
