//! One document on its way through a plan: which nodes it matches, and how its score comes about.

use crate::ranking::scorer::Explanation;
use std::collections::BTreeMap;

/// What the nodes of a plan say of one document.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExplainDocument {
    /// Its number in the snapshot.
    pub doc: u64,
    /// Something to recognise it by: the start of its first stored value. Empty where nothing is stored.
    pub title: String,
    /// Whether it matches the query.
    pub matches: bool,
    /// What each node says, by the node's id.
    pub verdicts: BTreeMap<String, Verdict>,
    /// How its score comes about, where it matches and the query is scored.
    pub score: Option<Explanation>,
}

/// What a node says of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The document is among those that come out of the node.
    Matched,
    /// It is not.
    Failed,
    /// Nobody has to ask, because what stands before it has decided.
    NotReached,
}

impl Verdict {
    /// The name in JSON: `matched`, `failed` or `not reached`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Matched => "matched",
            Verdict::Failed => "failed",
            Verdict::NotReached => "not reached",
        }
    }
}
