//! Findings: sentences about a plan or a run. Each is about one node, and says what can be done about it.
//!
//! Rules read an [`ExplainTree`] and nothing else, so they hold for trees of any origin; [`ExplainTree::find`] applies
//! them. If a remedy is a number that only the dictionary knows, they ask [`Facts`], which trees that were read from a
//! file have none of: then the remedy is told without the number.
//!
//! Whether a rule finds something depends on what was counted, so that the same search finds the same again. Times
//! only say how much it matters: what took little of the time is left out, and what took most of it comes first.

mod estimates;
mod facets;
mod index;
mod look;
mod neighbors;
mod pages;
mod patterns;
mod words;

use super::{ExplainTree, TermCounts};
use crate::named::named;
use crate::query::Query;
use look::Look;

/// One sentence about a plan or what happened when it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that found it, a name that does not change: `wide expansion`.
    pub rule: String,
    /// Severity of the finding.
    pub severity: Severity,
    /// Id of the node it is about; `None` for the whole search.
    pub node: Option<String>,
    /// The field of the facet it is about, if any.
    pub facet: Option<String>,
    /// Sentence that says what was found.
    pub message: String,
    /// Remedy, if anything can be done about it.
    pub remedy: Option<String>,
    /// Whether the remedy, or the last one that it names, needs a rebuilt index.
    pub rebuild: bool,
}

/// Importance of a [`Finding`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// Good to know.
    #[default]
    Note,
    /// Something could be faster, or is not what it seems.
    Hint,
    /// Most time or memory is spent here, or the answer is not the wanted one.
    Warning,
}

named! {
    /// The name in JSON: `note`, `hint` or `warning`.
    pub Severity { Note: "note", Hint: "hint", Warning: "warning" }
}

impl ExplainTree {
    /// Finds what is worth knowing of this tree, the weightiest first. Trees of searches have the result already in
    /// [`findings`](Self::findings); this is for trees that were made or changed by hand.
    ///
    /// ```
    /// use treepie::explain::{Estimate, ExplainNode, ExplainTree, Severity};
    ///
    /// let mut tree = ExplainTree::new("rutabaga", ExplainNode::new("TermScan", "title:rutabaga"));
    /// tree.plan.predicate = Some("title:rutabaga".into());
    /// tree.plan.estimate = Estimate::exact(0, "document frequency");
    /// tree.findings = tree.find();
    /// assert_eq!(tree.findings[0].severity, Severity::Warning);
    /// assert_eq!(tree.findings[0].message, "no document has title:rutabaga, so nothing matches");
    /// ```
    ///
    /// Cost: a few walks over the tree; no I/O.
    pub fn find(&self) -> Vec<Finding> {
        self.find_with(&())
    }

    /// Finds what is worth knowing, with remedies from what an index knows.
    pub(crate) fn find_with(&self, facts: &dyn Facts) -> Vec<Finding> {
        let mut look = Look::new(self, facts);
        index::look_at(&mut look);
        words::look_at(&mut look);
        patterns::look_at(&mut look);
        pages::look_at(&mut look);
        facets::look_at(&mut look);
        estimates::look_at(&mut look);
        neighbors::look_at(&mut look);
        look.finish()
    }
}

/// Facts that an index knows and a tree does not say. Every answer is bounded in cost, and `None` or empty where that
/// was not enough.
pub(crate) trait Facts {
    /// Returns the prefix that most terms of a field have, of those `more` characters longer than `prefix`, and how
    /// many terms have it in all segments. A term that several segments have counts for each.
    fn widest_prefix(&self, _field: &str, _prefix: &str, _more: usize) -> Option<(String, u64)> {
        None
    }

    /// Returns the counts of expanding a pattern of one field.
    fn walked(&self, _pattern: &Query) -> Option<TermCounts> {
        None
    }

    /// The words of a field that are nearest to one that it does not have, each with its documents; few.
    fn similar_words(&self, _field: &str, _word: &str) -> Vec<(String, u64)> {
        vec![]
    }

    /// Whether a field keeps a column. Fields of texts can have none, which is `None`.
    fn has_column(&self, _field: &str) -> Option<bool> {
        None
    }
}

/// Nothing more is known of a tree without its index.
impl Facts for () {}
