//! How many documents two lists share, for the counts that need nothing else.
//!
//! Two words joined by AND or OR are what people ask most, and their lists are mostly short: going
//! through the operators for each window would cost more than the windows. So where nobody asks what
//! each operator did, such a count goes through the two lists alone, by the same containers and kernels.

use super::WINDOW_NS;
use super::lists::Lists;
use crate::bitmap;
use crate::budget;
use crate::error::Result;
use crate::plan::leaf::Postings;
use crate::plan::{LeafId, NodeId, Operator, Plan, SegmentPlan};

/// Two lists, in one or both of which documents must be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    a: LeafId,
    b: LeafId,
    is_union: bool,
}

impl Pair {
    /// The two lists that are the whole plan in one segment; `None` where it is anything else.
    pub(super) fn of(plan: &Plan<'_>, part: &SegmentPlan<'_>) -> Option<Pair> {
        let (inputs, is_union) = match &plan.node(plan.root()).operator {
            Operator::Intersect { all, none } if none.is_empty() => (all, false),
            Operator::Union { any } => (any, true),
            _ => return None,
        };
        let [a, b] = plan.inputs(inputs) else { return None };
        let (a, b) = (list_of(plan, part, *a)?, list_of(plan, part, *b)?);
        Some(Pair { a, b, is_union })
    }

    /// Counts the documents, given the open lists of the segment.
    pub(super) fn count<'s>(self, part: &SegmentPlan<'s>, lists: &mut Lists<'s>) -> Result<u64> {
        let shared = self.shared(part, lists)?;
        let documents = |leaf: LeafId| u64::from(part.leaves[leaf.index()].documents);
        Ok(match self.is_union {
            true => (documents(self.a) + documents(self.b)).saturating_sub(shared),
            false => shared,
        })
    }

    fn shared<'s>(self, part: &SegmentPlan<'s>, lists: &mut Lists<'s>) -> Result<u64> {
        let Pair { a, b, .. } = self;
        let (mut key, mut total) = (0, 0);
        loop {
            let Some((of_a, n_a)) = lists.seek(part, a, key) else { return Ok(total) };
            let Some((of_b, n_b)) = lists.seek(part, b, of_a) else { return Ok(total) };
            key = of_b;
            if of_a == of_b {
                budget::work(WINDOW_NS)?;
                let (in_a, in_b) = (lists.fetch(part, a)?.0, lists.fetch(part, b)?.0);
                let (x, y) = (lists.resolve(part, in_a)?, lists.resolve(part, in_b)?);
                total += u64::from(bitmap::and_count(x, n_a, y, n_b));
                key += 1;
            }
        }
    }
}

/// The leaf of an input, where it reads one list.
fn list_of(plan: &Plan<'_>, part: &SegmentPlan<'_>, input: NodeId) -> Option<LeafId> {
    let leaf = plan.node(input).operator.leaf()?;
    let postings = &part.leaves[leaf.index()].postings;
    matches!(postings, Postings::Inline(_) | Postings::Short(_) | Postings::Long(_)).then_some(leaf)
}
