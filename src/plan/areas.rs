//! Areas that points are compared with: their leaves, ways and costs.

use super::covered::Covered;
use super::decision::Rule;
use super::forced::Forced;
use super::leaf::{Leaf, Postings};
use super::points_scan::{AreaPlan, PointsScan, expected, expected_of_pages};
use super::{LeafId, LeafKey, NodeId, Operator, Plan};
use crate::error::Result;
use crate::geo::{BoundArea, BoxRelation, GeoArea};
use crate::ids::FieldId;
use crate::segment::reader::FieldReader;
use std::ops::Range;
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
            BoxRelation::Outside => return Ok(Leaf::ABSENT),
            // Whoever has a point has one there.
            BoxRelation::Inside => return Ok(Leaf::of_presence(points.n_with(), n_docs)),
            BoxRelation::Crosses => {}
        }
        let of_field = field.pages(points.n_points())?;
        let covered = of_field.map(|of_field| Covered::new(of_field, area)).transpose()?;
        let (span, source) = match &covered {
            Some(covered) => expected_of_pages(&points, covered),
            None => expected(&points, area)?,
        };
        if span.upper == 0 {
            return Ok(Leaf::ABSENT);
        }
        let documents = (span.documents.round() as u32).clamp(span.lower, span.upper);
        let (area, goes_by_pages) = (Arc::clone(area), false);
        let scan = PointsScan { points, area, covered, goes_by_pages, span, source };
        Ok(Leaf { documents, postings: Postings::Points(Box::new(scan)) })
    }
}

impl<'s> Plan<'s> {
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

    /// The points that a leaf compares, by segment.
    fn scans(&self, leaf: LeafId) -> impl Iterator<Item = &PointsScan<'s>> {
        self.segments.iter().filter_map(move |part| match &part.leaves[leaf.index()].postings {
            Postings::Points(scan) => Some(&**scan),
            _ => None,
        })
    }

    /// Whether an operator compares points of documents that all else leaves.
    pub(super) fn compares_points(&self, operator: &Operator) -> bool {
        match operator {
            Operator::GeoScan(leaf) => self.scans(*leaf).any(|scan| scan.by_pages().is_none()),
            _ => false,
        }
    }

    /// Chooses for each area whether pages of points are read, or points of the documents compared that all else leaves.
    pub(super) fn choose_points(&mut self) {
        if self.areas.is_empty() {
            return;
        }
        let n_docs = self.n_docs() as f64;
        let mut left_by_others = vec![(n_docs, false); self.nodes.len()];
        for at in (0..self.nodes.len()).rev() {
            let (left, is_beside) = left_by_others[at];
            let id = NodeId(at as u32);
            match self.nodes[at].operator.clone() {
                Operator::GeoScan(leaf) => self.choose_way(id, leaf, left, is_beside),
                Operator::Intersect { all, none } => {
                    let left = self.left_by_lists(&all, left);
                    let inputs = self.inputs(&all).iter().chain(self.inputs(&none));
                    inputs.for_each(|input| left_by_others[input.index()] = (left, left < n_docs));
                }
                _ => {}
            }
        }
    }

    /// Documents that the smallest input leaves which is not an area itself.
    fn left_by_lists(&self, all: &Range<u32>, left: f64) -> f64 {
        let others = self.inputs(all).iter().map(|input| self.node(*input));
        let others = others.filter(|node| !matches!(node.operator, Operator::GeoScan(_)));
        others.map(|node| node.expected_docs).fold(left, f64::min)
    }

    /// Documents of a leaf whose points are compared if others leave so many of all.
    fn n_compared(&self, leaf: LeafId, left: f64) -> f64 {
        let n_with: f64 = self.scans(leaf).map(|scan| f64::from(scan.points.n_with())).sum();
        left.min(n_with)
    }

    /// Cost of reading the pages that the area of a leaf covers, where all segments with points have some.
    fn pages_ns(&self, leaf: LeafId) -> Option<f32> {
        let costs = &self.costs;
        let of_scan = |scan: &PointsScan<'_>| {
            let covered = scan.covered.as_ref()?;
            let inside = covered.n_inside as f32 * costs.page_doc_ns;
            Some(inside + covered.n_border as f32 * costs.page_point_ns)
        };
        self.scans(leaf).map(of_scan).sum()
    }

    fn choose_way(&mut self, id: NodeId, leaf: LeafId, left: f64, is_beside: bool) {
        let compared = self.n_compared(leaf, left);
        let column_ns = compared as f32 * self.costs.point_ns;
        let pages_ns = self.pages_ns(leaf);
        let by_pages = match self.forced {
            Some(Forced::PointsByPages(of)) if of == id => pages_ns.is_some(),
            Some(Forced::PointsByColumn(of)) if of == id => false,
            _ => pages_ns.is_some_and(|pages_ns| pages_ns <= column_ns),
        };
        let (mut inside, mut border, mut n_border) = (0, 0, 0);
        for part in &mut self.segments {
            let Postings::Points(scan) = &mut part.leaves[leaf.index()].postings else { continue };
            scan.goes_by_pages = by_pages;
            if let Some(covered) = scan.by_pages() {
                inside += covered.n_pages_inside();
                border += covered.border.len() as u64;
                n_border += covered.n_border;
            }
        }
        if let Some(area) = self.area(leaf) {
            area.bound.prepare(if by_pages { n_border } else { compared as u64 });
        }
        let (chosen_ns, other_ns, rule) = match (by_pages, pages_ns) {
            (true, _) => {
                (pages_ns.unwrap_or(0.0), column_ns, Some(Rule::ByPages { inside, border }))
            }
            (false, Some(pages_ns)) => {
                let documents = compared as u64;
                (column_ns, pages_ns, Some(Rule::PointsLast { documents, beside_pages: true }))
            }
            (false, None) => {
                let all_ns = self.n_compared(leaf, f64::INFINITY) as f32 * self.costs.point_ns;
                let rule = Rule::PointsLast { documents: compared as u64, beside_pages: false };
                (column_ns, all_ns, is_beside.then_some(rule))
            }
        };
        self.nodes[id.index()].cost_ns = chosen_ns;
        if let Some(rule) = rule.filter(|_| !self.scans_are_settled(leaf)) {
            self.record(id, rule, chosen_ns, other_ns);
        }
    }

    /// Whether nothing is left to be read of an area.
    fn scans_are_settled(&self, leaf: LeafId) -> bool {
        self.scans(leaf).next().is_none()
    }

    /// The leaf of an area that is the whole query, where all of its documents are on pages and have one point each.
    pub(super) fn area_to_count(&self, part: usize) -> Option<LeafId> {
        let Operator::GeoScan(leaf) = self.node(self.root()).operator else { return None };
        match &self.segments[part].leaves[leaf.index()].postings {
            Postings::Points(scan) if scan.by_pages().is_some() && scan.has_one_value_each() => {
                Some(leaf)
            }
            _ => None,
        }
    }
}
