//! Comparison of two plans or runs: before and after a change, of indexes, of versions.

mod changes;
mod matching;
mod text;

use super::ExplainTree;
use super::units::spaced;
use crate::json::{Json, put_all};
use crate::named::named;
use matching::{Entry, matching, nodes};
use std::fmt;

/// Differences between two plans, node by node.
///
/// Nodes are matched by what they do and to which part of the query, wherever they stand: not by their ids, which a new
/// input would shift. Measurements of a run (documents, times, bytes) are compared if both plans were run.
///
/// ```
/// use treepie::explain::{ExplainNode, ExplainTree, PlanDiff};
///
/// let mut before = ExplainTree::new("rust", ExplainNode::new("TermScan", "title:rust"));
/// let mut after = before.clone();
/// assert!(PlanDiff::new(&before, &after).is_same());
///
/// before.plan.algorithm = "short list".into();
/// after.plan.algorithm = "roaring containers".into();
/// let diff = PlanDiff::new(&before, &after);
/// assert_eq!(diff.nodes[0].changes[0].what, "algorithm");
/// assert!(diff.to_string().contains("algorithm: short list → roaring containers"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlanDiff {
    /// All nodes of both plans, each once. They come in the order of the first, those of the second alone at their
    /// places.
    pub nodes: Vec<NodeDiff>,
    /// Differences beside the nodes: in the queries, the index, facets, findings or the total.
    pub changes: Vec<Change>,
}

/// One node in a comparison of two plans.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NodeDiff {
    /// Id of the node before; `None` if it was added.
    pub left: Option<String>,
    /// Id of the node after; `None` if it was removed.
    pub right: Option<String>,
    /// Kind of difference.
    pub kind: DiffKind,
    /// Operator and label of the node: those after, or before if it was removed.
    pub title: String,
    /// Depth of the node in the plan of its title; 0 for the root.
    pub depth: usize,
    /// Differences, if the node is in both plans.
    pub changes: Vec<Change>,
}

/// Kind of difference that a node makes between two plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffKind {
    /// Nothing that matters.
    #[default]
    Same,
    /// Both plans have the node, and it differs.
    Changed,
    /// Only the second plan has it.
    Added,
    /// Only the first plan has it.
    Removed,
}

named! {
    /// The name in JSON: `same`, `changed`, `added` or `removed`.
    pub DiffKind { Same: "same", Changed: "changed", Added: "added", Removed: "removed" }
}

/// One thing that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Fields of the facet, the outermost first; empty for a node or the whole.
    pub facets: Vec<String>,
    /// Name of the difference: one of the plan's JSON such as `algorithm`, `estimate` or `time_ns`. Others are
    /// `position` for the place in the tree, and `decision`, `finding` or `facet` for one that differs or that only one
    /// side has. Times end in `_ns`.
    pub what: &'static str,
    /// Rule of the decision or finding, or field of the facet.
    pub name: Option<String>,
    /// Value before; `None` if there was nothing like it.
    pub left: Option<DiffValue>,
    /// Value after; `None` if there is nothing like it.
    pub right: Option<DiffValue>,
}

/// One side of a [`Change`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffValue {
    /// A name or a text.
    Text(String),
    /// A number; of times in nanoseconds.
    Number(u64),
}

impl From<&str> for DiffValue {
    fn from(text: &str) -> Self {
        DiffValue::Text(text.to_owned())
    }
}

impl From<u64> for DiffValue {
    fn from(number: u64) -> Self {
        DiffValue::Number(number)
    }
}

impl PlanDiff {
    /// Compares two plans, `before` and `after`. Takes time for a hash of each node, and for comparing some hundred inputs of
    /// one node with each other where they are not the same.
    pub fn new(before: &ExplainTree, after: &ExplainTree) -> PlanDiff {
        let (left, right) = (nodes(&before.plan), nodes(&after.plan));
        let found = matching(&left, &right);
        let places = changes::places(&left, &right, &found);
        let mut nodes = vec![];
        let node = |kind, entry: &Entry<'_>| {
            let title = format!("{} {}", entry.node.operator, entry.node.label);
            let title = title.trim_end().to_owned();
            NodeDiff { kind, title, depth: entry.depth, ..NodeDiff::default() }
        };
        // An added node comes behind the one that it follows in the second plan.
        let added_behind = |nodes: &mut Vec<NodeDiff>, at: usize| {
            let added = (at..right.len()).take_while(|at| found.of_right[*at].is_none());
            nodes.extend(added.map(|at| {
                let id = Some(right[at].node.id.clone());
                NodeDiff { right: id, ..node(DiffKind::Added, &right[at]) }
            }));
        };
        added_behind(&mut nodes, 0);
        for (at, entry) in left.iter().enumerate() {
            let id = Some(entry.node.id.clone());
            let Some(other_at) = found.of_left[at] else {
                nodes.push(NodeDiff { left: id, ..node(DiffKind::Removed, entry) });
                continue;
            };
            let other = &right[other_at];
            let mut changes = changes::of_nodes(entry.node, other.node);
            changes.extend(places[at].clone());
            let kind = if changes.is_empty() { DiffKind::Same } else { DiffKind::Changed };
            let right = Some(other.node.id.clone());
            nodes.push(NodeDiff { left: id, right, changes, ..node(kind, other) });
            added_behind(&mut nodes, other_at + 1);
        }
        let changes = changes::of_trees((before, &left), (after, &right), &found);
        PlanDiff { nodes, changes }
    }

    /// Whether nothing differs that matters.
    pub fn is_same(&self) -> bool {
        self.changes.is_empty() && self.nodes.iter().all(|node| node.kind == DiffKind::Same)
    }

    /// Returns the differences as one JSON object on one line. `HtmlPages::add_pair` takes it, too (`add_diff` puts it
    /// into words before):
    ///
    /// ```json
    /// {"nodes": [{"left": "0.1", "right": null, "kind": "removed", "changes": []},
    ///            {"left": "0.2", "right": "0.1", "kind": "changed",
    ///             "changes": [{"what": "algorithm", "left": "…", "right": "…"}, {"what": "time_ns", "left": 812345, "right": 1200},
    ///                         {"what": "decision", "name": "smallest first", "left": "taken", "right": null}]}],
    ///  "changes": [{"facets": ["brand", "size"], "what": "limit", "left": 10, "right": 20},
    ///              {"what": "total_ns", "left": 900000, "right": 3000}]}
    /// ```
    ///
    /// `facets` is there of what is of a facet, `name` where there may be several: see [`Change`].
    pub fn to_json(&self) -> String {
        self.json(false)
    }

    /// Writes the JSON of `to_json`, also with what changed and both sides `in_words` for people.
    fn json(&self, in_words: bool) -> String {
        let change = |json: &mut Json, change: &Change| {
            let what = if in_words { spaced(change.what) } else { change.what.to_owned() };
            let side = |json: &mut Json, value: &Option<DiffValue>| match value {
                None => json.null(),
                Some(value) if in_words => json.string(&text::shown(change.what, value)),
                Some(DiffValue::Text(text)) => json.string(text),
                Some(DiffValue::Number(number)) => json.number(number),
            };
            json.put_full("facets", &change.facets);
            json.field("what").string(&what);
            json.put_some("name", change.name.as_ref());
            side(json.field("left"), &change.left);
            side(json.field("right"), &change.right);
        };
        Json::of_object(|json| {
            json.field("nodes").objects(&self.nodes, |json, node| {
                put_all!(json, node; left, right);
                json.field("kind").string(node.kind.name());
                json.field("changes").objects(&node.changes, change);
            });
            json.field("changes").objects(&self.changes, change);
        })
    }
}

#[cfg(feature = "viewer")]
impl super::HtmlPages {
    /// Adds two plans, before and after, and their differences in units that people read.
    pub fn add_diff(&mut self, title: &str, before: &ExplainTree, after: &ExplainTree) {
        self.add_pair(title, before, after, &PlanDiff::new(before, after).json(true));
    }
}

/// [`PlanDiff::to_text`] with the default options.
impl fmt::Display for PlanDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(&super::TextOptions::default()))
    }
}

#[cfg(test)]
mod tests;
