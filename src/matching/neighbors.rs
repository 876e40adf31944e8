//! Neighbours of vectors, found before all else: they depend on all segments.

use super::Execution;
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::nearest::{Choice, FoundNeighbors, VectorCounts, find, standing};
use crate::plan::{LeafId, NeighborsPlan, Node, NodeId, Plan};
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
        // The number let through is known now.
        self.plan.choose_ways(nth, |at, part| filter[at].len(part.n_docs))?;
        let segments: Vec<_> =
            self.plan.segments.iter().map(|part| (part.segment, part.base)).collect();
        let NeighborsPlan { spec, leaf, ways, .. } = &self.plan.neighbors[nth];
        let (leaf, found) =
            (*leaf, Arc::new(find(spec, &segments, &filter, ways, self.profile.timed)?));
        self.put_neighbors(nth, &found)?;
        let took = started.map_or(0, |started| started.elapsed().as_nanos() as u64);
        self.note_neighbors(leaf, &found.counts, took);
        Ok(())
    }

    /// Takes neighbours from another plan that has found them, so that they are not looked for once more.
    pub(crate) fn take_neighbors(&mut self, other: &Plan<'_>) -> Result<()> {
        for nth in 0..self.plan.neighbors.len() {
            let NeighborsPlan { spec, found, .. } = &self.plan.neighbors[nth];
            if found.is_none()
                && let Some(known) = other.found_neighbors(spec)
            {
                self.put_neighbors(nth, &known)?;
                self.plan.neighbors[nth].is_taken = true;
            }
        }
        Ok(())
    }

    /// Finds the place of a document of a segment among all that are compared, for each vector whose neighbours were found.
    pub(crate) fn place_among_neighbors(&mut self, of: (usize, u32)) -> Result<()> {
        let profile = self.profile.clone();
        for nth in 0..self.plan.neighbors.len() {
            let NeighborsPlan { filter, found, .. } = &self.plan.neighbors[nth];
            if found.is_none() {
                continue;
            }
            let filter = self.documents_of(*filter)?;
            let is_let_through = match filter.get(of.0) {
                Some(DocIdSet::Some(windows)) => windows.contains(of.1),
                Some(DocIdSet::Everything) => true,
                None => false,
            };
            if is_let_through {
                let segments = self.plan.segments.iter().map(|part| (part.segment, part.base));
                let segments: Vec<_> = segments.collect();
                let stands = standing(&self.plan.neighbors[nth].spec, &segments, &filter, of)?;
                self.plan.neighbors[nth].standings.push((of, stands));
            }
        }
        self.profile = profile;
        Ok(())
    }

    /// Compares all vectors, and takes note of how many of the nearest were found without.
    pub(crate) fn measure_recall(&mut self) -> Result<()> {
        // The work that this takes is none of the run.
        let profile = self.profile.clone();
        let mut measured = vec![];
        for nth in 0..self.plan.neighbors.len() {
            let NeighborsPlan { filter, found, .. } = &self.plan.neighbors[nth];
            let Some(found) = found.clone() else { continue };
            let filter = self.documents_of(*filter)?;
            let segments = self.plan.segments.iter().map(|part| (part.segment, part.base));
            let segments: Vec<_> = segments.collect();
            let NeighborsPlan { spec, leaf, .. } = &self.plan.neighbors[nth];
            let ways = vec![Choice::default(); segments.len()];
            let exact = find(spec, &segments, &filter, &ways, false)?;
            measured.push((*leaf, found.recalled_of(&exact)));
        }
        self.profile = profile;
        for (leaf, (nearest, recalled)) in measured {
            let is_own = |node: &Node| node.operator.leaf() == Some(leaf);
            let Some(node) = self.plan.nodes.iter().position(is_own) else { continue };
            let counts = &mut self.profile.segment_mut(0).nodes[node].vectors;
            if let Some(counts) = counts {
                (counts.nearest, counts.recalled) = (nearest, recalled);
            }
        }
        Ok(())
    }

    /// Makes documents of neighbours that were found the lists of their leaf.
    fn put_neighbors(&mut self, nth: usize, found: &Arc<FoundNeighbors>) -> Result<()> {
        let leaf = self.plan.neighbors[nth].leaf;
        for (at, of_segment) in found.segments.iter().enumerate() {
            let Plan { leaves, expansions, segments, .. } = &mut self.plan;
            let (lists, part) = (&mut self.lists[at], &mut segments[at]);
            let (doc_sets, timed) = (&mut self.memory.doc_sets, self.profile.timed);
            lists.open(leaves, expansions, part, doc_sets, timed)?;
            let docs: Vec<u32> = of_segment.iter().map(|neighbor| neighbor.doc).collect();
            lists.put_documents(leaf, &docs);
        }
        self.plan.neighbors[nth].found = Some(Arc::clone(found));
        Ok(())
    }

    /// Documents of an operator that comes before all others, by segment.
    fn documents_of(&mut self, root: NodeId) -> Result<Vec<DocIdSet>> {
        self.profiled_of(root, |run| {
            (0..run.plan.segments.len()).map(|at| run.set_in(at, root)).collect()
        })
    }

    /// Takes note of what comparing took: of the time at the first segment, as all are searched together.
    fn note_neighbors(&mut self, leaf: LeafId, counts: &[VectorCounts], ns: u64) {
        let is_own = |node: &Node| node.operator.leaf() == Some(leaf);
        let Some(node) = self.plan.nodes.iter().position(is_own) else { return };
        for (at, counts) in counts.iter().enumerate() {
            let row = self.plan.row_len(leaf);
            let profile = &mut self.profile.segment_mut(at).nodes[node];
            profile.vectors = Some(*counts);
            profile.bytes_read += counts.compared * row;
            profile.time_ns += if at == 0 { ns } else { 0 };
        }
    }
}
