//! What happened while a plan ran: counted always, timed on demand.

use crate::bitmap::ContainerKind;
use crate::plan::leaf::Postings;
use crate::plan::{NodeId, Operator, Plan, SegmentPlan};
use std::time::{Duration, Instant};

/// What one run did, by segment and operator.
#[derive(Debug)]
pub(crate) struct Profile {
    n_nodes: usize,
    timed: bool,
    nodes: Vec<NodeProfile>,
    stopped_early: bool,
    /// From the start of the run to its end.
    pub(crate) total: Duration,
}

/// What one operator did in one segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeProfile {
    /// Documents that came out.
    pub(crate) documents_out: u64,
    /// Documents that came in from all inputs.
    pub(crate) documents_in: u64,
    pub(crate) arrays: u64,
    pub(crate) bitmaps: u64,
    pub(crate) runs: u64,
    /// Containers of a leaf that nothing had to touch.
    pub(crate) skipped: u64,
    pub(crate) bytes_read: u64,
    /// Without the time of the inputs; 0 unless timed.
    pub(crate) time_ns: u64,
    /// Whether the operator has seen all of its documents.
    pub(crate) complete: bool,
    /// Whether the number was known without running.
    pub(crate) answered: bool,
    /// Whether some inputs were not asked because the others held every document.
    pub(crate) partial: bool,
}

/// The part of a profile that belongs to one segment, while it runs.
#[derive(Debug)]
pub(super) struct SegmentProfile<'p> {
    pub(super) nodes: &'p mut [NodeProfile],
    pub(super) timed: bool,
}

impl Profile {
    pub(super) fn new(n_segments: usize, n_nodes: usize, timed: bool) -> Self {
        Profile {
            n_nodes,
            timed,
            nodes: vec![NodeProfile::default(); n_segments * n_nodes],
            stopped_early: false,
            total: Duration::ZERO,
        }
    }

    pub(super) fn clear(&mut self) {
        self.nodes.fill(NodeProfile::default());
        self.stopped_early = false;
    }

    pub(super) fn segment_mut(&mut self, segment: usize) -> SegmentProfile<'_> {
        let nodes = &mut self.nodes[segment * self.n_nodes..][..self.n_nodes];
        SegmentProfile { nodes, timed: self.timed }
    }

    /// What one operator did in one segment.
    pub(crate) fn node(&self, segment: usize, node: NodeId) -> &NodeProfile {
        &self.nodes[segment * self.n_nodes + node.index()]
    }

    /// A number that was known without running.
    pub(super) fn answered(&mut self, segment: usize, node: NodeId, documents: u64) {
        self.segment_mut(segment).answered(node, documents);
    }

    pub(super) fn stopped_early(&mut self) {
        self.stopped_early = true;
    }

    /// Derives what follows from what was counted: containers left alone, and who saw everything.
    pub(super) fn finish(&mut self, plan: &Plan<'_>, started: Instant) {
        let stopped = self.stopped_early;
        for (at, part) in plan.segments.iter().enumerate() {
            let nodes = self.segment_mut(at).nodes;
            let root = plan.root();
            for (id, node) in plan.nodes.iter().enumerate() {
                if let Operator::TermScan(leaf) | Operator::Exists(leaf) = node.operator {
                    let profile = &mut nodes[id];
                    let touched = profile.arrays + profile.bitmaps + profile.runs;
                    let all = containers(part, leaf.index());
                    profile.skipped = all.saturating_sub(touched);
                }
            }
            let complete = !stopped || nodes[root.index()].answered;
            mark_complete(plan, part, nodes, root, complete);
        }
        self.total = started.elapsed();
    }
}

impl SegmentProfile<'_> {
    pub(super) fn answered(&mut self, node: NodeId, documents: u64) {
        let profile = &mut self.nodes[node.index()];
        profile.documents_out = documents;
        profile.answered = true;
    }

    pub(super) fn touched(&mut self, node: NodeId, kind: ContainerKind, bytes: usize) {
        let profile = &mut self.nodes[node.index()];
        match kind {
            ContainerKind::Array => profile.arrays += 1,
            ContainerKind::Bitmap => profile.bitmaps += 1,
            ContainerKind::Run => profile.runs += 1,
        }
        profile.bytes_read += bytes as u64;
    }
}

/// How many containers a leaf has in a segment, as far as they are containers.
fn containers(part: &SegmentPlan<'_>, leaf: usize) -> u64 {
    match &part.leaves[leaf].postings {
        Postings::Long(list) => list.n_containers() as u64,
        _ => 0,
    }
}

/// A root that ran to its end has seen everything, and so have the inputs of a union that has. An
/// input of an intersection is asked only where the others have documents: it has seen everything
/// only if everything it was expected to find came out.
fn mark_complete(
    plan: &Plan<'_>,
    part: &SegmentPlan<'_>,
    nodes: &mut [NodeProfile],
    id: NodeId,
    complete: bool,
) {
    let estimate = part.estimate(id);
    let profile = &mut nodes[id.index()];
    let all_came = profile.documents_out == estimate.upper;
    let asked_all = !profile.answered && !profile.partial;
    let complete = match plan.node(id).operator {
        Operator::TermScan(_) | Operator::Exists(_) => all_came,
        _ => complete || all_came,
    };
    profile.complete = complete;
    match &plan.node(id).operator {
        Operator::Union { any } => {
            for input in plan.inputs(any) {
                mark_complete(plan, part, nodes, *input, complete && asked_all);
            }
        }
        Operator::Intersect { all, none } => {
            for input in plan.inputs(all).iter().chain(plan.inputs(none)) {
                mark_complete(plan, part, nodes, *input, false);
            }
        }
        Operator::All | Operator::Nothing { .. } | Operator::TermScan(_) | Operator::Exists(_) => {}
    }
}
