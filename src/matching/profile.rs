//! Profile of a run of a plan: counted always, timed on demand.

use crate::bitmap::ContainerKind;
use crate::expansion::TermCounts;
use crate::format::terms::PostingsAt;
use crate::geo::GeoCounts;
use crate::nearest::VectorCounts;
use crate::phrase::{PhraseWork, PositionCounts};
use crate::plan::leaf::Postings;
use crate::plan::{NodeId, Operator, Plan, SegmentPlan};
use crate::sums::sums;

/// Work of one run, by segment and operator.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    n_nodes: usize,
    pub(super) timed: bool,
    pub(super) nodes: Vec<NodeProfile>,
    /// Documents that the root found, window by window; empty unless timed.
    windows: Vec<RootWindow>,
    pub(super) stopped_early: bool,
    /// Whether nothing ran with it.
    is_new: bool,
}

/// Documents that the root found in one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RootWindow {
    segment: u32,
    pub(crate) key: u32,
    pub(crate) documents: u32,
}

/// Work of one operator in one segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeProfile {
    /// Documents that came out.
    pub(crate) documents_out: u64,
    /// Documents that came in from all inputs.
    pub(crate) documents_in: u64,
    pub(crate) containers: ContainerCounts,
    pub(crate) bytes_read: u64,
    /// Work of finding the terms of a pattern.
    pub(crate) terms: Option<TermCounts>,
    /// Work of comparing vectors.
    pub(crate) vectors: Option<VectorCounts>,
    /// Work of comparing points.
    pub(crate) geo: Option<GeoCounts>,
    /// Work of placing words.
    pub(crate) positions: PositionCounts,
    /// Without the time of the inputs; 0 unless timed.
    pub(crate) time_ns: u64,
    /// Whether the operator has seen all of its documents.
    pub(crate) complete: bool,
    /// Whether the number was known without running.
    pub(crate) answered: bool,
    /// Whether some inputs were not asked because the others held every document.
    pub(crate) partial: bool,
    /// Whether a budget ran out here.
    pub(crate) stopped: bool,
}

/// Roaring containers that a node touched, by kind, and those it could leave alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContainerCounts {
    /// Sorted arrays of up to 4,096 values.
    pub array: u64,
    /// Bitmaps of 8 KiB.
    pub bitmap: u64,
    /// Runs.
    pub run: u64,
    /// Containers of any kind that were not read at all.
    pub skipped: u64,
}

sums! {
    ContainerCounts: array, bitmap, run, skipped;
}

/// The part of a profile that belongs to one segment, while it runs.
#[derive(Debug)]
pub(super) struct SegmentProfile<'p> {
    pub(super) nodes: &'p mut [NodeProfile],
    pub(super) timed: bool,
    windows: &'p mut Vec<RootWindow>,
    segment: u32,
}

impl Profile {
    pub(super) fn new(
        n_segments: usize,
        n_nodes: usize,
        timed: bool,
        mut nodes: Vec<NodeProfile>,
    ) -> Self {
        nodes.clear();
        nodes.resize(n_segments * n_nodes, NodeProfile::default());
        Profile { n_nodes, timed, nodes, windows: vec![], stopped_early: false, is_new: true }
    }

    /// Forgets a run, but for the operators before one.
    pub(super) fn clear(&mut self, from: usize) {
        self.stopped_early = false;
        if std::mem::take(&mut self.is_new) {
            return;
        }
        for of_segment in self.nodes.chunks_mut(self.n_nodes.max(1)) {
            of_segment[from..].fill(NodeProfile::default());
        }
        self.windows.clear();
    }

    pub(super) fn segment_mut(&mut self, segment: usize) -> SegmentProfile<'_> {
        let nodes = &mut self.nodes[segment * self.n_nodes..][..self.n_nodes];
        let (windows, segment) = (&mut self.windows, segment as u32);
        SegmentProfile { nodes, timed: self.timed, windows, segment }
    }

    /// The windows of a segment in which the root found documents, ascending, as far as they were looked at.
    pub(crate) fn root_windows(&self, segment: usize) -> &[RootWindow] {
        let from = self.windows.partition_point(|window| (window.segment as usize) < segment);
        let of_segment = self.windows.get(from..).unwrap_or_default();
        let n = of_segment.partition_point(|window| window.segment as usize == segment);
        &of_segment[..n]
    }

    /// Work of one operator in one segment.
    pub(crate) fn node(&self, segment: usize, node: NodeId) -> &NodeProfile {
        &self.nodes[segment * self.n_nodes + node.index()]
    }

    /// Derives what follows from what was counted: containers left alone, and who saw everything.
    pub(super) fn finish(&mut self, plan: &Plan<'_>, root: NodeId) {
        let stopped = self.stopped_early;
        for (at, part) in plan.segments.iter().enumerate() {
            let nodes = self.segment_mut(at).nodes;
            for id in plan.nodes_of(root) {
                let node = &plan.nodes[id];
                if let Some(leaf) = node.operator.leaf() {
                    nodes[id].count_list(&part.leaves[leaf.index()].postings);
                }
            }
            let complete = !stopped || nodes[root.index()].answered;
            mark_complete(plan, part, nodes, root, complete);
        }
    }
}

impl SegmentProfile<'_> {
    /// Takes note of what the root found in a window, where anybody will look.
    #[inline]
    pub(super) fn found(&mut self, key: u32, documents: u32) {
        if self.timed && documents > 0 {
            self.windows.push(RootWindow { segment: self.segment, key, documents });
        }
    }

    /// A number that was known without running.
    pub(super) fn answered(&mut self, node: NodeId, documents: u64) {
        let profile = &mut self.nodes[node.index()];
        profile.documents_out = documents;
        profile.answered = true;
    }

    pub(super) fn touched(&mut self, node: NodeId, kind: ContainerKind, bytes: usize) {
        let profile = &mut self.nodes[node.index()];
        match kind {
            ContainerKind::Array => profile.containers.array += 1,
            ContainerKind::Bitmap => profile.containers.bitmap += 1,
            ContainerKind::Run => profile.containers.run += 1,
        }
        profile.bytes_read += bytes as u64;
    }
}

impl NodeProfile {
    /// Adds what a reader of positions did.
    pub(super) fn placed(&mut self, work: PhraseWork) {
        self.positions += work.counts;
        self.bytes_read += work.bytes;
    }

    /// Adds containers of a leaf that were left alone, and what was read of it besides containers.
    fn count_list(&mut self, postings: &Postings<'_>) {
        match postings {
            Postings::Long(list) => {
                let ContainerCounts { array, bitmap, run, skipped } = &mut self.containers;
                *skipped = (list.n_containers() as u64).saturating_sub(*array + *bitmap + *run);
                self.bytes_read += list.header_len() as u64;
            }
            Postings::Short(info) if self.documents_out > 0 => {
                if let PostingsAt::Section { len, .. } = info.postings {
                    self.bytes_read += u64::from(len);
                }
            }
            _ => {}
        }
    }
}

/// Marks who has seen all of its documents. A root that ran to its end has, and so have the inputs
/// of a union that has. An input of an intersection is asked only where the others have documents:
/// it has seen everything if everything it can find came out, or if all that it reads has.
fn mark_complete(
    plan: &Plan<'_>,
    part: &SegmentPlan<'_>,
    nodes: &mut [NodeProfile],
    id: NodeId,
    ran_to_end: bool,
) -> bool {
    let NodeProfile { documents_out, answered, partial, .. } = nodes[id.index()];
    let all_came = documents_out == part.estimate(id).upper;
    let complete = match &plan.node(id).operator {
        Operator::TermScan(_) | Operator::Exists(_) | Operator::Deleted(_) => all_came,
        Operator::Expand(_)
        | Operator::ColumnScan(_)
        | Operator::GeoScan(_)
        | Operator::Nearest { .. }
        | Operator::All
        | Operator::Nothing { .. } => ran_to_end || all_came,
        Operator::Union { any } => {
            let asked = ran_to_end && !answered && !partial;
            let mut inputs_complete = !answered && !partial;
            for input in plan.inputs(any) {
                inputs_complete &= mark_complete(plan, part, nodes, *input, asked);
            }
            ran_to_end || all_came || inputs_complete
        }
        Operator::AtLeast { any, .. } | Operator::Phrase { input: any, .. } => {
            for input in plan.inputs(any) {
                mark_complete(plan, part, nodes, *input, ran_to_end && !answered);
            }
            ran_to_end || all_came
        }
        Operator::Intersect { all, none } => {
            for input in plan.inputs(all).iter().chain(plan.inputs(none)) {
                mark_complete(plan, part, nodes, *input, false);
            }
            ran_to_end || all_came
        }
    };
    nodes[id.index()].complete = complete;
    complete
}
