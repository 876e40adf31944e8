//! Counts of the documents in one or two lists, if nothing else is asked.
//!
//! Two words joined by AND or OR are what people ask most, and their lists are mostly short: going
//! through the operators for each window would cost more than the windows. So where nobody asks what
//! each operator did, such a count goes through the two lists alone, by the same containers and kernels.

use super::lists::{Fetched, Lists};
use crate::bitmap::{self, Container, ContainerBuf, Kernel};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::plan::leaf::Postings;
use crate::plan::{CountWay, LeafId, NodeId, Operator, Plan, SegmentPlan};

/// One list, or two, in one or both of which documents must be, and what of it is deleted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    a: LeafId,
    b: Option<LeafId>,
    is_union: bool,
    deleted: Option<LeafId>,
    /// By which containers meet, where not by that which suits them.
    kernel: Option<Kernel>,
}

impl Pair {
    /// The lists that are the whole plan in one segment; `None` where it is anything else.
    pub(super) fn of(plan: &Plan<'_>, part: &SegmentPlan<'_>) -> Option<Pair> {
        if matches!(part.count, CountWay::Written) {
            return None;
        }
        let kernel = plan.node(plan.root()).kernel;
        let (inputs, none, is_union) = match &plan.node(plan.root()).operator {
            Operator::Intersect { all, none } => (all, none, false),
            Operator::Union { any } => (any, &(0..0), true),
            _ => return None,
        };
        let deleted = match plan.inputs(none) {
            [] => None,
            [none] => match plan.node(*none).operator {
                Operator::Deleted(leaf) => Some(leaf),
                _ => return None,
            },
            _ => return None,
        };
        // Of a segment where nothing is deleted there is no list to look into.
        let deleted = deleted.filter(|leaf| part.leaves[leaf.index()].documents > 0);
        let (a, b, is_union) = match plan.inputs(inputs) {
            [a, b] => (list_of(plan, part, *a)?, Some(list_of(plan, part, *b)?), is_union),
            [only] => match &plan.node(*only).operator {
                Operator::Union { any } => {
                    let [a, b] = plan.inputs(any) else { return None };
                    (list_of(plan, part, *a)?, Some(list_of(plan, part, *b)?), true)
                }
                _ => (list_of(plan, part, *only)?, None, false),
            },
            _ => return None,
        };
        // Of what is deleted more than two containers meet at once.
        let is_suited = kernel.is_none() || deleted.is_none();
        is_suited.then_some(Pair { a, b, is_union, deleted, kernel })
    }

    /// Counts the documents, given the open lists of the segment; `shared` is memory to use.
    pub(super) fn count<'s>(
        self,
        part: &SegmentPlan<'s>,
        lists: &mut Lists<'s>,
        shared: &mut ContainerBuf,
    ) -> Result<u64> {
        let documents = |leaf: LeafId| u64::from(part.leaves[leaf.index()].documents);
        match (self.b, self.deleted) {
            (Some(b), None) => {
                let shared = self.shared(b, part, lists)?;
                Ok(match self.is_union {
                    true => (documents(self.a) + documents(b)).saturating_sub(shared),
                    false => shared,
                })
            }
            (None, None) => Ok(documents(self.a)),
            (_, Some(deleted)) => self.count_without(deleted, part, lists, shared),
        }
    }

    fn shared<'s>(self, b: LeafId, part: &SegmentPlan<'s>, lists: &mut Lists<'s>) -> Result<u64> {
        let (a, mut key, mut total) = (self.a, 0, 0);
        loop {
            let Some((of_a, n_a)) = lists.seek(part, a, key) else { return Ok(total) };
            let Some((of_b, n_b)) = lists.seek(part, b, of_a) else { return Ok(total) };
            key = of_b;
            if of_a == of_b {
                budget::work(ns::WINDOW_STEP)?;
                let (in_a, in_b) = (lists.fetch(part, a)?.0, lists.fetch(part, b)?.0);
                let (x, y) = (lists.resolve(part, in_a)?, lists.resolve(part, in_b)?);
                total += u64::from(match self.kernel {
                    None => bitmap::and_count(x, n_a, y, n_b),
                    Some(kernel) => bitmap::and_count_by(kernel, x, n_a, y, n_b),
                });
                key += 1;
            }
        }
    }

    /// The same without deleted documents.
    fn count_without<'s>(
        self,
        deleted: LeafId,
        part: &SegmentPlan<'s>,
        lists: &mut Lists<'s>,
        shared: &mut ContainerBuf,
    ) -> Result<u64> {
        let (mut key, mut total) = (0, 0);
        loop {
            let of_a = lists.seek(part, self.a, key);
            let of_b = self.b.and_then(|b| lists.seek(part, b, key));
            let keys = [of_a, of_b].into_iter().flatten().map(|(key, _)| key);
            let Some(next) = (match self.b.is_some() && !self.is_union {
                true if of_a.is_none() || of_b.is_none() => None,
                true => keys.max(),
                false => keys.min(),
            }) else {
                return Ok(total);
            };
            let here = |found: Option<(u32, u32)>| found.filter(|(key, _)| *key == next);
            let (n_a, n_b) = (here(of_a).map(|of| of.1), here(of_b).map(|of| of.1));
            if self.b.is_some() && !self.is_union && (n_a.is_none() || n_b.is_none()) {
                // Not in the same window yet.
                key = next;
                continue;
            }
            budget::work(ns::WINDOW_STEP)?;
            let gone = here(lists.seek(part, deleted, next)).map(|of| of.1);
            let mut fetch = |leaf: LeafId| lists.fetch(part, leaf).map(|fetched| fetched.0);
            let in_a = n_a.map(|_| fetch(self.a)).transpose()?;
            let in_b = self.b.filter(|_| n_b.is_some()).map(&mut fetch).transpose()?;
            let in_deleted = gone.map(|_| fetch(deleted)).transpose()?;
            let resolve = |fetched: Option<Fetched<'s>>| match fetched {
                Some(fetched) => lists.resolve(part, fetched),
                None => Ok(Container::Array(&[])),
            };
            let (a, b, deleted) = (resolve(in_a)?, resolve(in_b)?, resolve(in_deleted)?);
            let (n_a, n_b, n_deleted) = (n_a.unwrap_or(0), n_b.unwrap_or(0), gone.unwrap_or(0));
            let (a, b, deleted) = ((a, n_a), (b, n_b), (deleted, n_deleted));
            total += u64::from(match self.b.is_some() && !self.is_union {
                true => bitmap::and_count_without(a, b, deleted, shared),
                false => bitmap::or_count_without(a, b, deleted, shared),
            });
            key = next + 1;
        }
    }
}

/// The leaf of an input, where it reads one list.
fn list_of(plan: &Plan<'_>, part: &SegmentPlan<'_>, input: NodeId) -> Option<LeafId> {
    let leaf = plan.node(input).operator.leaf()?;
    let postings = &part.leaves[leaf.index()].postings;
    matches!(postings, Postings::Inline(_) | Postings::Short(_) | Postings::Long(_)).then_some(leaf)
}
