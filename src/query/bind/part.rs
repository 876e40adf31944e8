//! Parts that a walk makes of a query's clauses: documents alone, or with scores.

use super::Normal;
use super::binder::Binder;
use super::clause::Settled;
use super::memory::BindMemory;
use crate::query::NeighborsSpec;
use crate::query::logical::Logical;
use crate::recycle::FreeLists;
use std::sync::Arc;

/// A part of a query that is bound. The walk over the query is the same whatever comes of it, so that both mean the same.
pub(super) trait Part: Clone {
    /// Documents that all have one score.
    fn constant(matching: Normal, score: f32) -> Self;

    /// The terms of a word, a phrase or a pattern, that may name its field itself.
    fn of_leaf(binder: &mut Binder<'_>, matching: Normal, boost: f32, names_field: bool) -> Self;

    /// Neighbours of a vector.
    fn neighbors(neighbors: Arc<NeighborsSpec>, boost: f32) -> Self;

    /// Sum of the clauses that are left side by side.
    fn sum(binder: &mut Binder<'_>, settled: Settled<Self>) -> Self;

    /// The best of some alternatives, and `tie` times the others.
    fn best_of(binder: &mut Binder<'_>, any: Vec<Self>, tie: f32) -> Self;

    /// Lists of such parts that are free.
    fn lists(memory: &mut BindMemory) -> &mut FreeLists<Self>;
}

impl Part for Normal {
    fn constant(matching: Normal, _score: f32) -> Self {
        matching
    }

    fn of_leaf(
        _binder: &mut Binder<'_>,
        matching: Normal,
        _boost: f32,
        _names_field: bool,
    ) -> Self {
        matching
    }

    fn neighbors(neighbors: Arc<NeighborsSpec>, _boost: f32) -> Self {
        Normal::Nearest(neighbors)
    }

    fn sum(binder: &mut Binder<'_>, settled: Settled<Self>) -> Self {
        // Clauses that only add to scores change no matches.
        let Settled { must, should, minimum, scored: _, must_not } = settled;
        binder.matching_sum(must, should, minimum, must_not)
    }

    fn best_of(binder: &mut Binder<'_>, any: Vec<Self>, _tie: f32) -> Self {
        binder.or(any)
    }

    fn lists(memory: &mut BindMemory) -> &mut FreeLists<Self> {
        &mut memory.normal
    }
}

impl Part for Logical {
    fn constant(matching: Normal, score: f32) -> Self {
        Logical::Constant { matching, score }
    }

    fn of_leaf(binder: &mut Binder<'_>, matching: Normal, boost: f32, names_field: bool) -> Self {
        binder.leaf(matching, boost, names_field)
    }

    fn neighbors(neighbors: Arc<NeighborsSpec>, boost: f32) -> Self {
        Logical::Nearest { neighbors, boost }
    }

    fn sum(binder: &mut Binder<'_>, settled: Settled<Self>) -> Self {
        let Settled { mut must, mut should, minimum, scored, must_not } = settled;
        let free = &mut binder.memory.logical;
        match minimum {
            0 => should.extend(scored),
            _ if scored.is_empty() => {}
            _ => {
                must.push(Logical::sum(vec![], should, vec![], minimum, free));
                return Logical::sum(must, scored, must_not, 0, free);
            }
        }
        Logical::sum(must, should, must_not, minimum, free)
    }

    fn best_of(_binder: &mut Binder<'_>, mut any: Vec<Self>, tie: f32) -> Self {
        match any.len() {
            1 => any.remove(0),
            _ => Logical::Max { any, tie },
        }
    }

    fn lists(memory: &mut BindMemory) -> &mut FreeLists<Self> {
        &mut memory.logical
    }
}
