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
//! Findings, sentences with remedies, are in [`ExplainTree::findings`]; trees that are made or changed by hand get theirs
//! by [`ExplainTree::find`]. [`WhyEmpty`] is no plan: it says why a search finds nothing.
//!
//! Two plans are compared by [`PlanDiff`]; [`SlowestSearches`] finds the worst in a log of slow searches.
//!
//! # JSON
//!
//! Objects have the names of the public fields here, from [`ExplainTree`] down to [`RankingCounts`] and
//! [`FacetActual`], and some that follow from these: `schema_version`, [`rest_ns`](ExplainTree::rest_ns),
//! [`q_error`](ExplainNode::q_error) and [`confirmed`](Decision::confirmed). [`JSON_SCHEMA`] has all of them: which are
//! always there, which may be null, and what each means. Operators that were not run have no `actual`, and no times.
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
mod from_plan;
mod glossary;
#[cfg(test)]
mod hostile;
#[cfg(feature = "viewer")]
mod html;
mod json;
mod lens;
mod measured;
mod mermaid;
mod operator;
mod outline;
mod pgjson;
mod pieces;
mod q_errors;
mod repeated;
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
    Actual, CandidateCounts, ColumnCounts, ContainerCounts, FacetActual, GeoCounts, InBuckets,
    PositionCounts, RankingCounts, RepeatedRuns, RunTimes, StreamCounts, TermCounts, Threshold,
    VectorCounts,
};
pub use diff::{Change, DiffKind, DiffValue, NodeDiff, PlanDiff};
pub use documents::{ExplainDocument, Verdict};
pub(crate) use findings::Facts;
pub use findings::{Finding, Severity};
pub(crate) use from_plan::{Run, explain};
pub use glossary::{GlossaryEntry, WordKind, glossary};
#[cfg(feature = "viewer")]
pub use html::HtmlPages;
pub use operator::ExplainOperator;
#[doc(hidden)]
pub use outline::assert_outline;
pub use q_errors::{EstimateErrors, QErrors, WorstEstimate};
pub use slow_search::{Recorded, SlowSearch, SlowestSearches};
pub use text::TextOptions;
pub use tree::{
    Alternative, ContainerMap, Decision, Estimate, ExplainFacet, ExplainNode, ExplainPage,
    ExplainSegment, ExplainTree, FacetEstimate, NeighborsEstimate, NodeSegment, PlanningTimes,
    Recall, Spread,
};
pub(crate) use why::document;
pub use why_empty::{ConflictSize, EmptyArea, EmptyClause, EmptyPhrase, UnknownTerm, WhyEmpty};

#[doc(hidden)]
pub use crate::difference::difference;
pub use crate::json::JSON_BYTES_MAX;
pub use crate::plan::{Costs, EstimateFrom};
pub use crate::ranking::scorer::Explanation;

/// The version of the JSON that [`ExplainTree::to_json`] writes. Names are added, never renamed.
pub const SCHEMA_VERSION: u32 = 1;

/// The JSON Schema (2020-12) of what [`ExplainTree::to_json`] writes, every name described. It allows no names but those
/// that are written, for checking writers; readers must accept more.
pub const JSON_SCHEMA: &str = include_str!("../docs/plan.schema.json");
