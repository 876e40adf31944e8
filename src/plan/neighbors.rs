//! Neighbours of vectors: each is found once, among documents that are found before all else.

use super::estimate::{Estimate, Span};
use super::forced::Forced;
use super::{LeafId, LeafKey, Node, NodeId, Operator, Plan, SegmentPlan};
use crate::error::Result;
use crate::nearest::{Choice, FoundNeighbors, Standing, Way, bounds, choose};
use crate::query::{Neighbors, NeighborsSpec, Normal};
use crate::schema::VectorParams;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;
use std::sync::Arc;

/// Neighbours that are looked for, and the operator that finds the documents among which.
#[derive(Clone, Debug)]
pub(crate) struct NeighborsPlan {
    pub(crate) spec: Arc<NeighborsSpec>,
    pub(crate) filter: NodeId,
    pub(crate) leaf: LeafId,
    /// The way in each segment.
    pub(crate) ways: Vec<Choice>,
    /// None until the plan is carried out.
    pub(crate) found: Option<Arc<FoundNeighbors>>,
    /// Whether another plan has found them, so that nothing is filtered here.
    pub(crate) is_taken: bool,
    /// Places of documents that are asked about and let through, by segment and number there; none of one without a vector.
    pub(crate) standings: Vec<((usize, u32), Option<Standing>)>,
}

impl Plan<'_> {
    /// Adds what filters the neighbours that parts of queries ask for, each once.
    pub(super) fn add_filters<'n>(
        &mut self,
        queries: impl Iterator<Item = &'n Normal>,
        has_deletes: bool,
    ) -> Result<()> {
        for query in queries {
            // On the stack: nearly every query has none, and is planned without allocating.
            let mut waiting: SmallVec<[&Normal; 16]> = smallvec![query];
            while let Some(normal) = waiting.pop() {
                match normal {
                    Normal::Nearest(spec) => self.add_filter(spec, has_deletes)?,
                    Normal::And { all, none } => waiting.extend(all.iter().chain(none)),
                    Normal::Or(any) | Normal::AtLeast { any, .. } => waiting.extend(any),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn add_filter(&mut self, spec: &Arc<NeighborsSpec>, has_deletes: bool) -> Result<()> {
        if self.neighbors.iter().any(|it| it.spec == *spec) {
            return Ok(());
        }
        // Filters that ask what is near enough are found before it.
        self.add_filters(std::iter::once(&spec.filter), has_deletes)?;
        let known = self.neighbors.iter().find(|it| it.spec.filter == spec.filter);
        let filter = match known.map(|it| it.filter) {
            Some(filter) => filter,
            None => {
                self.add_live(&spec.filter, has_deletes)?;
                self.root()
            }
        };
        let nth = self.neighbors.len() as u32;
        let leaf = self.add_leaf(LeafKey::Nearest { field: spec.field, nth });
        self.neighbors.push(NeighborsPlan {
            spec: Arc::clone(spec),
            filter,
            leaf,
            ways: vec![],
            found: None,
            is_taken: false,
            standings: vec![],
        });
        Ok(())
    }

    /// The operator that gives neighbours, whose filter is there.
    pub(super) fn operator_of_neighbors(&mut self, spec: &NeighborsSpec) -> Operator {
        match self.neighbors.iter().find(|it| *it.spec == *spec) {
            Some(NeighborsPlan { filter, leaf, .. }) => {
                let start = self.inputs.len() as u32;
                self.inputs.push(*filter);
                Operator::Nearest { leaf: *leaf, input: start..start + 1 }
            }
            None => Operator::Nothing { reason: "neighbours without a filter".into() },
        }
    }

    /// Ways in which neighbours could have been found instead, with their places in the plan.
    pub(crate) fn other_ways(&self) -> Vec<(u32, Way)> {
        let mut all = vec![];
        for (nth, NeighborsPlan { ways, is_taken, .. }) in (0..).zip(&self.neighbors) {
            if *is_taken {
                continue;
            }
            // All of them are what was chosen in some segment, or was rejected there.
            for way in ways.iter().flat_map(|it| it.rejected.iter().map(|(way, _)| *way)) {
                if !all.contains(&(nth, way)) {
                    all.push((nth, way));
                }
            }
        }
        all
    }

    /// The neighbours that a leaf reads.
    pub(crate) fn neighbors_of(&self, leaf: LeafId) -> Option<&NeighborsPlan> {
        self.neighbors.get(self.place_of_neighbors(leaf)? as usize)
    }

    /// Bounds of neighbours in a segment that has this part of all documents, from those of the operators before.
    pub(super) fn span_of_neighbors(
        &self,
        (leaf, input): (LeafId, &Range<u32>),
        part: &SegmentPlan<'_>,
        spans: &[Span],
        share: f64,
    ) -> Span {
        let filter = self.inputs(input).first().and_then(|input| spans.get(input.index()));
        let with_vectors = part.leaves[leaf.index()].documents;
        match (self.neighbors_of(leaf), filter) {
            (Some(it), Some(filter)) => it.spec.span(with_vectors, *filter, share),
            _ => Span::NOTHING,
        }
    }

    /// Whether a document of a segment is one of the neighbours that a leaf reads, as far as these were found.
    pub(crate) fn is_neighbor(&self, leaf: LeafId, part: &SegmentPlan<'_>, doc: u32) -> bool {
        let found = self.neighbors_of(leaf).and_then(|it| it.found.as_ref());
        let segment = self.segments.iter().position(|it| it.base == part.base);
        let similarity = found.zip(segment).map(|(found, nth)| found.similarity(nth, doc));
        similarity.flatten().is_some()
    }

    /// Neighbours that were found.
    pub(crate) fn found_neighbors(&self, spec: &NeighborsSpec) -> Option<Arc<FoundNeighbors>> {
        self.neighbors.iter().find(|it| *it.spec == *spec)?.found.clone()
    }

    /// Chooses the way in each segment, of which the filter lets so many documents through.
    pub(crate) fn choose_ways(
        &mut self,
        nth: usize,
        let_through: impl Fn(usize, &SegmentPlan<'_>) -> u64,
    ) -> Result<()> {
        let NeighborsPlan { spec, leaf, .. } = &self.neighbors[nth];
        let Some(params) = self.vectors_of(*leaf) else { return Ok(()) };
        let figures = self.costs.of_vectors(params);
        let forced = match self.forced {
            Some(Forced::Neighbors { nth: of, way }) if of as usize == nth => Some(way),
            _ => None,
        };
        let parts = self.segments.iter().enumerate();
        let ways = parts
            .map(|(at, part)| choose(part.segment, spec, let_through(at, part), figures, forced));
        self.neighbors[nth].ways = ways.collect::<Result<_>>()?;
        Ok(())
    }

    /// The way by which neighbours that a leaf reads are found in the segment that begins at `base`.
    pub(crate) fn way_in(&self, leaf: LeafId, base: u64) -> Option<&Choice> {
        self.ways(leaf).get(self.segments.iter().position(|it| it.base == base)?)
    }

    /// The ways by which neighbours that a leaf reads are found.
    pub(crate) fn ways(&self, leaf: LeafId) -> &[Choice] {
        self.neighbors_of(leaf).map_or(&[], |it| &it.ways)
    }

    /// Place of the neighbours that a leaf reads.
    pub(crate) fn place_of_neighbors(&self, leaf: LeafId) -> Option<u32> {
        match self.leaves[leaf.index()] {
            LeafKey::Nearest { nth, .. } => Some(nth),
            _ => None,
        }
    }

    /// Documents with a vector.
    fn n_with(&self, leaf: LeafId) -> u64 {
        self.segments.iter().map(|it| u64::from(it.leaves[leaf.index()].documents)).sum()
    }

    /// Bytes of a vector that a leaf compares.
    pub(crate) fn row_len(&self, leaf: LeafId) -> u64 {
        self.vectors_of(leaf).map_or(0, |params| params.row_len() as u64)
    }

    fn vectors_of(&self, leaf: LeafId) -> Option<VectorParams> {
        let of_field = self.leaves[leaf.index()].field().zip(self.segments.first());
        let kind = of_field.map(|(field, part)| part.segment.schema().get(field).kind);
        kind.and_then(|kind| kind.vector())
    }

    /// Expects no more neighbours in all segments together than are asked for, and no more of what is made of them.
    pub(super) fn limit_neighbors(&mut self) -> Result<()> {
        if self.neighbors.is_empty() {
            return Ok(());
        }
        let mut estimates: Vec<Estimate> = self.nodes.iter().map(|node| node.estimate).collect();
        self.limit_estimates(&mut estimates);
        for (node, estimate) in self.nodes.iter_mut().zip(estimates) {
            node.expected_docs = node.expected_docs.min(estimate.upper as f64);
            node.estimate = estimate;
        }
        (0..self.neighbors.len()).try_for_each(|nth| {
            let filter = self.neighbors[nth].filter;
            self.choose_ways(nth, |_, part| part.estimate(filter).documents)
        })
    }

    /// Bounds the estimates of all operators, in all segments together, by the neighbours that are asked for.
    pub(super) fn limit_estimates(&self, estimates: &mut [Estimate]) {
        for (at, node) in self.nodes.iter().enumerate().take(estimates.len()) {
            // Inputs stand before the operators that read them.
            let of = |inputs| self.inputs(inputs).iter().map(|id| estimates[id.index()]);
            let (least, most) = match &node.operator {
                Operator::Nearest { leaf, input } => {
                    let without = self.n_docs().saturating_sub(self.n_with(*leaf));
                    let (filter, it) = (of(input).next(), self.neighbors_of(*leaf));
                    let Some((filter, it)) = filter.zip(it) else { continue };
                    bounds(&it.spec, filter.lower, without)
                }
                Operator::Intersect { all, .. } => (0, of(all).map(|it| it.upper).min()),
                Operator::Union { any } => (0, Some(of(any).map(|it| it.upper).sum())),
                _ => continue,
            };
            let Estimate { documents, lower, upper, .. } = &mut estimates[at];
            *upper = (*upper).min(most.unwrap_or(u64::MAX));
            *lower = (*lower).max(least).min(*upper);
            *documents = (*documents).clamp(*lower, *upper);
        }
    }

    /// Whether an operator of neighbours is the first of those that show what filters them.
    pub(crate) fn shows_filter(&self, id: NodeId) -> bool {
        let filter = |node: &Node| match &node.operator {
            Operator::Nearest { input, .. } => self.inputs(input).first().copied(),
            _ => None,
        };
        let own = filter(self.node(id));
        let is_taken = |leaf| self.neighbors_of(leaf).is_some_and(|it| it.is_taken);
        let is_found_here = self.node(id).operator.leaf().is_none_or(|leaf| !is_taken(leaf));
        own.is_some()
            && is_found_here
            && self.nodes.iter().position(|node| filter(node) == own) == Some(id.index())
    }
}

impl NeighborsSpec {
    /// Bounds of neighbours in a segment of which so many documents have a vector, given those of the filter there, and the part
    /// of all documents that it has.
    pub(super) fn span(&self, with_vectors: u32, filter: Span, share: f64) -> Span {
        let most = filter.upper.min(with_vectors);
        match self.wanted {
            Neighbors::Nearest(k, _) => {
                let upper = most.min(k);
                let documents = filter.documents.min(f64::from(k) * share).min(upper.into());
                Span { lower: 0, upper, documents }
            }
            // Only comparing tells how many are near enough.
            Neighbors::Within(_) => {
                let documents = filter.documents.min(most.into()) / EXPECTED_WITHIN;
                Span { lower: 0, upper: most, documents }
            }
        }
    }
}

/// One of so many documents is expected to be near enough.
const EXPECTED_WITHIN: f64 = 10.0;
