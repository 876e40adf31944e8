//! Plans of one or two lists of which only the number of documents is wanted.
//!
//! Two words joined by AND or OR are what people ask most, and their lists are mostly short: to go through the
//! operators for each window would cost more than the windows. Their count goes through the lists alone.

use super::leaf::Postings;
use super::{LeafId, NodeId, Operator, Plan, SegmentPlan};
use crate::bitmap::Kernel;

/// One list, or two, in one or both of which documents must be, and what of it is deleted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) a: Input,
    pub(crate) b: Option<Input>,
    pub(crate) is_union: bool,
    /// Operator whose inputs both are: of a union it may stand below the one that leaves deleted documents out.
    pub(crate) above: NodeId,
    pub(crate) deleted: Option<Input>,
    /// By which containers meet, where not by that which suits them.
    pub(crate) kernel: Option<Kernel>,
}

/// An operator that reads one list, and the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input {
    pub(crate) node: NodeId,
    pub(crate) leaf: LeafId,
}

impl Pair {
    /// The lists that are the whole plan in one segment; `None` where it is anything else.
    pub(super) fn of(plan: &Plan<'_>, part: &SegmentPlan<'_>) -> Option<Pair> {
        let kernel = plan.node(plan.root()).kernel;
        let (inputs, none, is_union) = match &plan.node(plan.root()).operator {
            Operator::Intersect { all, none } => (all, none, false),
            Operator::Union { any } => (any, &(0..0), true),
            _ => return None,
        };
        let deleted = match plan.inputs(none) {
            [] => None,
            [none] => match plan.node(*none).operator {
                Operator::Deleted(leaf) => Some(Input { node: *none, leaf }),
                _ => return None,
            },
            _ => return None,
        };
        // A segment where nothing is deleted has no list to look into.
        let deleted = deleted.filter(|it| part.leaves[it.leaf.index()].documents > 0);
        let (above, inputs, is_union) = match plan.inputs(inputs) {
            [only] => match &plan.node(*only).operator {
                Operator::Union { any } => (*only, plan.inputs(any), true),
                _ => (plan.root(), std::slice::from_ref(only), false),
            },
            inputs => (plan.root(), inputs, is_union),
        };
        let (a, b) = match *inputs {
            [a, b] => (list_of(plan, part, a)?, Some(list_of(plan, part, b)?)),
            [only] if !is_union => (list_of(plan, part, only)?, None),
            _ => return None,
        };
        // With deleted documents more than two containers meet at once.
        let is_suited = kernel.is_none() || deleted.is_none();
        is_suited.then_some(Pair { a, b, is_union, above, deleted, kernel })
    }
}

/// The leaf of an input, where it reads one list.
fn list_of(plan: &Plan<'_>, part: &SegmentPlan<'_>, node: NodeId) -> Option<Input> {
    let leaf = plan.node(node).operator.leaf()?;
    let postings = &part.leaves[leaf.index()].postings;
    matches!(postings, Postings::Inline(_) | Postings::Short(_) | Postings::Long(_))
        .then_some(Input { node, leaf })
}
