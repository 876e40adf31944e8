//! Several runs of one search as one plan: the median run, with all times.

use super::ExplainTree;
use super::counts::{RepeatedRuns, RunTimes};
use super::tree::{Branch, parents_first};
use std::slice;

impl ExplainTree {
    /// Plan of the run with the median time, with the times of all runs; the empty plan without any.
    pub(crate) fn of_runs(mut runs: Vec<ExplainTree>) -> ExplainTree {
        let all = |of: fn(&ExplainTree) -> Option<u64>| {
            RunTimes::of(runs.iter().map(|run| of(run).unwrap_or(0)).collect())
        };
        let repeated = RepeatedRuns {
            runs: runs.len() as u64,
            planning: all(|tree| tree.planning_ns),
            total: all(|tree| tree.total_ns),
        };
        let of_nodes: Vec<_> = runs.iter().map(|it| own_times(slice::from_ref(&it.plan))).collect();
        let of_facets: Vec<_> = runs.iter().map(|it| own_times(&it.facets)).collect();
        runs.sort_by_key(|tree| tree.total_ns.unwrap_or(0));
        let Some(at) = runs.len().checked_sub(1) else { return ExplainTree::default() };
        let mut tree = runs.swap_remove(at / 2);
        tree.repeated = Some(repeated);
        set_times(slice::from_mut(&mut tree.plan), &of_nodes);
        set_times(&mut tree.facets, &of_facets);
        tree
    }
}

/// Times of nodes or facets and of all below them, parents first.
fn own_times<N: Branch>(roots: &[N]) -> Vec<Option<u64>> {
    roots.iter().flat_map(parents_first).map(Branch::time_ns).collect()
}

/// Sets the times of all runs, which are in the order of [`own_times`]; none of a place that not every run has.
fn set_times<N: Branch>(roots: &mut [N], runs: &[Vec<Option<u64>>]) {
    let mut todo: Vec<&mut N> = roots.iter_mut().rev().collect();
    for place in 0.. {
        let Some(node) = todo.pop() else { break };
        let times = runs.iter().map(|times| times.get(place).copied().flatten());
        let (of_runs, below) = node.parts_mut();
        *of_runs = times.collect::<Option<_>>().map(RunTimes::of);
        todo.extend(below.iter_mut().rev());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::{Actual, ExplainFacet, ExplainNode, FacetActual};

    fn times(min_ns: u64, median_ns: u64, max_ns: u64) -> RunTimes {
        RunTimes { min_ns, median_ns, max_ns }
    }

    /// A plan whose times are this number, with other digits for each part.
    fn run(ns: u64) -> ExplainTree {
        let node = |factor, children| ExplainNode {
            actual: Some(Actual { time_ns: ns * factor, ..Actual::default() }),
            children,
            ..ExplainNode::new("Union", "a OR b")
        };
        let facet = |factor, within| ExplainFacet {
            actual: Some(FacetActual { time_ns: ns * factor, ..FacetActual::default() }),
            within,
            ..ExplainFacet::of("n")
        };
        let inputs = vec![node(10, vec![node(100, vec![])]), node(1_000, vec![])];
        let mut tree = ExplainTree::new("a OR b", node(1, inputs));
        tree.facets = vec![facet(2, vec![facet(20, vec![])]), facet(200, vec![])];
        (tree.planning_ns, tree.total_ns) = (Some(3 * ns), Some(2_000 * ns));
        tree
    }

    #[test]
    fn the_run_in_the_middle_is_shown_with_the_times_of_all() {
        let tree = ExplainTree::of_runs([7, 3, 9, 4, 8].map(run).into());
        assert_eq!(tree.total_ns, Some(14_000));
        let expected = RepeatedRuns {
            runs: 5,
            planning: times(9, 21, 27),
            total: times(6_000, 14_000, 18_000),
        };
        assert_eq!(tree.repeated, Some(expected));
        let of_nodes: Vec<_> = tree.plan.iter().map(|node| node.times.unwrap()).collect();
        let each = |factor: u64| times(3 * factor, 7 * factor, 9 * factor);
        assert_eq!(of_nodes, [1, 10, 100, 1_000].map(each));
        let facets = tree.facets.iter().flat_map(ExplainFacet::iter);
        let of_facets: Vec<_> = facets.map(|facet| facet.times.unwrap()).collect();
        assert_eq!(of_facets, [2, 20, 200].map(each));
    }

    #[test]
    fn a_part_that_not_every_run_has_has_no_times() {
        let mut other = run(5);
        other.plan.children.pop();
        let tree = ExplainTree::of_runs(vec![run(4), run(6), other]);
        let of_nodes: Vec<_> = tree.plan.iter().map(|node| node.times.is_some()).collect();
        assert_eq!(of_nodes, [true, true, true]);
        let tree = ExplainTree::of_runs(vec![run(4), run(5), {
            let mut other = run(6);
            other.plan.children.pop();
            other
        }]);
        assert_eq!(tree.plan.iter().last().unwrap().times, None);
        assert_eq!(ExplainTree::of_runs(vec![]), ExplainTree::default());
    }

    #[test]
    fn of_two_runs_the_faster_is_in_the_middle() {
        let tree = ExplainTree::of_runs(vec![run(6), run(5)]);
        assert_eq!(tree.total_ns, Some(10_000));
        assert_eq!(tree.repeated.unwrap().total, times(10_000, 10_000, 12_000));
    }
}
