//! One document in a plan: the nodes that it matches, and its score explained.

use crate::named::named;
use crate::ranking::scorer::Explanation;
use std::collections::BTreeMap;

/// Verdicts of a plan's nodes on one document, from [`Explainer::documents`](crate::search::Explainer::documents).
///
/// A verdict is what a node says of the document by itself, whatever the node above makes of it: an input of
/// an intersection that is excluded, by NOT, has [`Matched`](Verdict::Matched) where the document has what must
/// not be there, and it is the intersection that fails.
///
/// Inputs of an intersection are asked in the order in which they are carried out, and none behind the first that
/// decides, but for deleted documents, which are always known. Inputs of a union, and of what wants several of
/// its inputs, are all asked, also where one is enough: each that matches adds to the score. A node that has no
/// verdict has none yet: whether a document that matches is on the page is known where the plan was run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExplainDocument {
    /// Number in the snapshot.
    pub doc: u64,
    /// Text to recognise it by: the start of its first stored text or other value. Empty where nothing is stored, or
    /// the document is deleted.
    pub title: String,
    /// Whether it is deleted.
    pub deleted: bool,
    /// Whether it matches the query.
    pub matches: bool,
    /// Verdict of each node, by the node's id.
    pub verdicts: BTreeMap<String, Verdict>,
    /// Node that decides, if the document does not match or is not on the page.
    pub failed_at: Option<String>,
    /// Outcome for the document and why, in a sentence for people.
    pub reason: String,
    /// Sentences for all conditions that it does not meet; empty if it matches. Conditions that nobody had to ask any
    /// more are among them.
    pub misses: Vec<String>,
    /// Explanation of the score, if the document matches and the query is scored.
    pub score: Option<Explanation>,
}

/// Verdict of a node on a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The document is among those that come out of the node.
    Matched,
    /// The document is not among those that come out of the node.
    Failed,
    /// Nobody has to ask, because what stands before it has decided.
    NotReached,
}

named! {
    /// The name in JSON: `matched`, `failed` or `not reached`.
    pub Verdict { Matched: "matched", Failed: "failed", NotReached: "not reached" }
}
