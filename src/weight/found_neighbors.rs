//! Neighbours that scores of a query depend on.

use super::Weight;
use super::neighbors::ScoredNeighbors;
use super::node::Node;
use crate::doc_id_set::{DocIdSet, MatchWindows};
use crate::error::Result;
use crate::nearest::{FoundNeighbors, Neighbor};
use crate::query::{Neighbors, NeighborsSpec, Normal};
use crate::schema::Metric;
use crate::segment::reader::SegmentReader;
use std::sync::Arc;

impl Weight<'_> {
    /// Node of neighbours that are to be given.
    pub(super) fn neighbors_node(&mut self, spec: &Arc<NeighborsSpec>, boost: f32) -> Node {
        let normal = Normal::Nearest(Arc::clone(spec));
        let schema = self.segments.first().map(|segment| segment.schema());
        let kind = schema.map(|schema| schema.get(spec.field).kind);
        let metric = kind.and_then(|kind| kind.vector()).map_or(Metric::default(), |it| it.metric);
        let spec = Arc::clone(spec);
        let (nth, set) = (self.neighbors.len(), self.wanted.len());
        self.neighbors.push(ScoredNeighbors { spec, set, boost, metric, found: None });
        self.wanted.push(normal);
        Node::Nearest { nth, set }
    }

    /// Whether scores depend on neighbours.
    pub(crate) fn has_neighbors(&self) -> bool {
        !self.neighbors.is_empty() || self.by_segment.iter().any(Weight::has_neighbors)
    }

    /// Neighbours that only scores depend on, given what matches.
    pub(crate) fn neighbors_beside(&self, matching: &Normal) -> Vec<Normal> {
        let all = self.neighbors.iter().map(|scored| Normal::Nearest(Arc::clone(&scored.spec)));
        all.filter(|neighbors| !matching.asks_for(neighbors)).collect()
    }

    /// Sets the neighbours that were found for each that is asked for, after the [sets](Self::give_sets).
    ///
    /// # Errors
    ///
    /// A limit error where a query may not take so much memory.
    pub(crate) fn give_neighbors(
        &mut self,
        found: &dyn Fn(&NeighborsSpec) -> Option<Arc<FoundNeighbors>>,
    ) -> Result<()> {
        self.sets.resize(self.wanted.len(), vec![]);
        self.docs_of_sets.resize(self.wanted.len(), 0);
        for scored in &mut self.neighbors {
            scored.found = found(&scored.spec);
            let Some(found) = &scored.found else { continue };
            let segments = self.segments.iter().zip(&found.segments);
            let of_segment = |(segment, found): (&SegmentReader<'_>, &Vec<Neighbor>)| {
                let docs: Vec<u32> = found.iter().map(|neighbor| neighbor.doc).collect();
                let set = MatchWindows::of_documents(segment.n_docs(), &docs)?;
                Ok(Arc::new(DocIdSet::Some(set)))
            };
            self.sets[scored.set] = segments.map(of_segment).collect::<Result<_>>()?;
            self.docs_of_sets[scored.set] = found.n_docs();
        }
        for (nth, own) in self.by_segment.iter_mut().enumerate() {
            let here = |spec: &NeighborsSpec| found(spec).map(|all| Arc::new(all.of_segment(nth)));
            own.give_neighbors(&here)?;
        }
        Ok(())
    }

    /// Expects as many neighbours as are asked for.
    pub(super) fn expect_neighbors(&mut self) {
        for scored in &self.neighbors {
            self.docs_of_sets[scored.set] = match scored.spec.wanted {
                Neighbors::Nearest(k, _) => k.into(),
                Neighbors::Within(_) => 0,
            };
        }
    }
}
