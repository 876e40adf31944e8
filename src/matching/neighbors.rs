//! Neighbours of vectors, found before all else: they depend on all segments.

use super::Execution;
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::nearest::find;
use crate::plan::{NodeId, Plan};
use std::sync::Arc;
use std::time::Instant;

impl Execution<'_> {
    /// Finds the neighbours that the plan asks for, once.
    pub(super) fn find_neighbors(&mut self) -> Result<()> {
        for nth in 0..self.plan.neighbors.len() {
            if self.plan.neighbors[nth].found.is_none() {
                self.find_some(nth)?;
            }
        }
        Ok(())
    }

    fn find_some(&mut self, nth: usize) -> Result<()> {
        let filter = self.documents_of(self.plan.neighbors[nth].filter)?;
        let started = self.profile.timed.then(Instant::now);
        let segments: Vec<_> =
            self.plan.segments.iter().map(|part| (part.segment, part.base)).collect();
        let (spec, leaf) = (&self.plan.neighbors[nth].spec, self.plan.neighbors[nth].leaf);
        let found = Arc::new(find(spec, &segments, &filter)?);
        for (at, of_segment) in found.segments.iter().enumerate() {
            let Plan { leaves, expansions, segments, .. } = &mut self.plan;
            let (lists, part) = (&mut self.lists[at], &mut segments[at]);
            let (doc_sets, timed) = (&mut self.memory.doc_sets, self.profile.timed);
            lists.open(leaves, expansions, part, doc_sets, timed)?;
            lists.put_documents(leaf, of_segment.iter().map(|neighbor| neighbor.doc));
        }
        self.plan.neighbors[nth].found = Some(found);
        if let Some(started) = started {
            self.took_to_find(nth, started.elapsed().as_nanos() as u64);
        }
        Ok(())
    }

    /// Documents of an operator that comes before all others, by segment.
    fn documents_of(&mut self, root: NodeId) -> Result<Vec<DocIdSet>> {
        self.profiled_of(root, |run| {
            (0..run.plan.segments.len()).map(|at| run.set_in(at, root)).collect()
        })
    }

    /// Takes note of the time at the operator in the first segment, as all are searched together.
    fn took_to_find(&mut self, nth: usize, ns: u64) {
        let leaf = self.plan.neighbors[nth].leaf;
        let is_own = |node: &crate::plan::Node| node.operator.leaf() == Some(leaf);
        if let Some(node) = self.plan.nodes.iter().position(is_own)
            && !self.plan.segments.is_empty()
        {
            self.profile.segment_mut(0).nodes[node].time_ns += ns;
        }
    }
}

