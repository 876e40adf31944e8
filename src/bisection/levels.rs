//! All steps of an order on one thread, from all documents down to few.

use super::graph::Graph;
use super::halves::{Scratch, Seat, Step};
use crate::budget::{self, ns};
use crate::error::Result;

/// Documents that are not split any more: what is left to gain is less than a step takes.
pub(super) const LEAF_DOCS: usize = 32;

/// Documents that are put in halves in all, each as often as it is.
pub(super) fn work_of(n_docs: usize) -> u64 {
    let (mut largest, mut levels) = (n_docs, 0);
    while largest > LEAF_DOCS {
        (largest, levels) = (largest.div_ceil(2), levels + 1);
    }
    n_docs as u64 * levels
}

/// Splits documents down to the last on this thread; `tell` is told of how many were put in halves so far.
pub(super) fn split_alone(
    graph: &Graph,
    mut seats: Vec<Seat>,
    tell: &mut impl FnMut(u64),
) -> Result<Vec<Seat>> {
    let step = Step { graph, is_shared: false, ask: &|n| budget::work(ns::DOC_WEIGHED * n as u64) };
    let mut done = 0;
    split_all(&step, &mut seats, &mut Scratch::new(graph.n_terms()), |n| {
        done += n as u64;
        tell(done);
    })?;
    Ok(seats)
}

/// Splits documents, and their halves, down to the last; `did` is told of how many were put in halves.
pub(super) fn split_all<A: Fn(usize) -> Result<()> + Sync>(
    step: &Step<'_, A>,
    seats: &mut [Seat],
    scratch: &mut Scratch,
    mut did: impl FnMut(usize),
) -> Result<()> {
    let mut left = vec![seats];
    while let Some(seats) = left.pop() {
        if seats.len() > LEAF_DOCS {
            step.split(seats, scratch)?;
            did(seats.len());
            let (first, second) = seats.split_at_mut(seats.len() / 2);
            left.extend([second, first]);
        }
    }
    Ok(())
}
