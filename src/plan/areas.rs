//! Areas that points are compared with: their leaves and costs.

use super::decision::Rule;
use super::leaf::{Leaf, Postings};
use super::points_scan::{AreaPlan, PointsScan, expected};
use super::{LeafId, LeafKey, NodeId, Operator, Plan, SegmentPlan};
use crate::error::Result;
use crate::geo::{BoundArea, BoxRelation, GeoArea};
use crate::ids::FieldId;
use crate::segment::reader::FieldReader;
use std::sync::Arc;

impl<'s> Leaf<'s> {
    /// The documents with points in an area.
    pub(super) fn of_area(
        area: &Arc<BoundArea>,
        field: FieldReader<'s>,
        n_docs: u32,
    ) -> Result<Self> {
        let Some(points) = field.points()? else { return Ok(Leaf::ABSENT) };
        match area.relation(points.bounds()) {
            BoxRelation::Outside => Ok(Leaf::ABSENT),
            // Whoever has a point has one there.
            BoxRelation::Inside => Ok(Leaf::of_presence(points.n_with(), n_docs)),
            BoxRelation::Crosses => {
                area.prepare(points.n_points());
                let (span, source) = expected(&points, area)?;
                if span.upper == 0 {
                    return Ok(Leaf::ABSENT);
                }
                let documents = (span.documents.round() as u32).clamp(span.lower, span.upper);
                let scan = PointsScan { points, area: Arc::clone(area), span, source };
                Ok(Leaf { documents, postings: Postings::Points(Box::new(scan)) })
            }
        }
    }
}

impl Plan<'_> {
    /// Adds the leaf of an area.
    pub(super) fn add_area(&mut self, field: FieldId, area: &Arc<GeoArea>) -> LeafId {
        let nth = self.areas.len() as u32;
        let bound = Arc::new(BoundArea::new(area));
        self.areas.push(AreaPlan { area: Arc::clone(area), bound });
        self.add_leaf(LeafKey::Area { field, nth })
    }

    /// The area of a leaf that compares points with one.
    pub(crate) fn area(&self, id: LeafId) -> Option<&AreaPlan> {
        match self.leaves[id.index()] {
            LeafKey::Area { nth, .. } => self.areas.get(nth as usize),
            _ => None,
        }
    }

    /// Documents whose points a leaf compares if nothing else leaves any out.
    fn n_with_points(&self, leaf: LeafId) -> f64 {
        let of_segment = |part: &SegmentPlan<'_>| match &part.leaves[leaf.index()].postings {
            Postings::Points(scan) => f64::from(scan.points.n_with()),
            _ => 0.0,
        };
        self.segments.iter().map(of_segment).sum()
    }

    /// Documents whose points are compared: those that the other conditions of an intersection leave.
    fn documents_left(&self, id: NodeId, leaf: LeafId) -> (f64, bool) {
        let all = self.n_with_points(leaf);
        let around = self.nodes.iter().find_map(|node| match &node.operator {
            Operator::Intersect { all, .. } if self.inputs(all).contains(&id) => Some(all.clone()),
            _ => None,
        });
        let Some(around) = around else { return (all, false) };
        let others = self.inputs(&around).iter().take_while(|other| **other != id);
        let least = others.map(|other| self.node(*other).estimate.documents as f64);
        match least.reduce(f64::min) {
            Some(least) => (least.min(all), true),
            None => (all, false),
        }
    }

    /// Cost of comparing the points of a leaf.
    pub(super) fn points_ns(&self, id: NodeId, leaf: LeafId) -> f32 {
        self.documents_left(id, leaf).0 as f32 * self.costs.point_ns
    }

    /// Records that only the points of documents which all else leaves are compared.
    pub(super) fn decide_points(&mut self, id: NodeId, leaf: LeafId) {
        if let (left, true) = self.documents_left(id, leaf) {
            let all = self.n_with_points(leaf) as f32 * self.costs.point_ns;
            let rule = Rule::PointsLast { documents: left as u64 };
            self.record(id, rule, left as f32 * self.costs.point_ns, all);
        }
    }
}
