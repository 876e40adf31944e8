//! Areas of a query, and how many documents of a segment have points there.

use super::estimate::{EstimateSource, Span};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::points::{BLOCK_DOCS, Points};
use crate::geo::{BoundArea, BoxRelation, GeoArea, GeoCounts};
use crate::plan::covered::Covered;
use crate::segment::file::Section;
use std::sync::Arc;

/// Documents of a segment whose points are looked at to estimate how many are in an area.
const SAMPLE_DOCS: u32 = 256;
/// Documents among these of one block.
const SAMPLE_DOCS_OF_BLOCK: u32 = 16;

/// An area of the query.
#[derive(Clone, Debug)]
pub(crate) struct AreaPlan {
    pub(crate) area: Arc<GeoArea>,
    pub(crate) bound: Arc<BoundArea>,
}

/// Points of a segment, compared with an area when the plan is executed.
#[derive(Debug)]
pub(crate) struct PointsScan<'s> {
    pub(crate) points: Points<Section<'s>>,
    pub(crate) area: Arc<BoundArea>,
    /// Pages that the area covers, where the segment has any.
    pub(super) covered: Option<Covered<'s>>,
    /// Whether points are found on these pages, and not by document.
    pub(super) goes_by_pages: bool,
    /// Documents that are expected, and bounds by boxes.
    pub(crate) span: Span,
    pub(super) source: EstimateSource,
}

impl<'s> PointsScan<'s> {
    /// The pages that are read, if points are not compared by document.
    #[inline]
    pub(crate) fn by_pages(&self) -> Option<&Covered<'s>> {
        self.covered.as_ref().filter(|_| self.goes_by_pages)
    }

    /// Whether no document has two points.
    pub(crate) fn has_one_value_each(&self) -> bool {
        self.points.most() <= 1
    }
}

/// Documents with points in an area, by the pages that it covers.
pub(super) fn expected_of_pages(
    points: &Points<Section<'_>>,
    covered: &Covered<'_>,
) -> (Span, EstimateSource) {
    let n_with = points.n_with();
    let most = u64::from(points.most().max(1));
    let lower = u32::try_from(covered.n_inside.div_ceil(most)).unwrap_or(n_with).min(n_with);
    let upper = covered.n_inside.saturating_add(covered.n_border);
    let upper = u32::try_from(upper).unwrap_or(n_with).min(n_with);
    // Documents with several points have them all there or none.
    let of_points = f64::from(n_with) / points.n_points().max(1) as f64;
    let documents = (covered.n_inside as f64 + covered.expected) * of_points;
    let documents = documents.clamp(lower.into(), upper.into());
    let source = match covered.read {
        None => EstimateSource::PageBoxes,
        Some(_) => EstimateSource::BorderPoints,
    };
    (Span { lower, upper, documents }, source)
}

/// Documents with points in an area: bounds by the boxes of blocks, and a guess by some points of those that cross its border.
pub(super) fn expected(
    points: &Points<Section<'_>>,
    area: &BoundArea,
) -> Result<(Span, EstimateSource)> {
    let (mut inside, mut crossing) = (0, vec![]);
    let (mut n_crossing, mut by_boxes) = (0, 0.0);
    for nth in 0..points.n_blocks() {
        budget::work(ns::POINTS_BOX)?;
        let head = points.head(nth)?;
        match area.relation(&head.bounds) {
            BoxRelation::Outside => {}
            BoxRelation::Inside => inside += u32::from(head.n_with),
            BoxRelation::Crosses => {
                n_crossing += u32::from(head.n_with);
                by_boxes += f64::from(head.n_with) * area.share_of(&head.bounds);
                crossing.push((nth, head));
            }
        }
    }
    let step = (crossing.len() / (SAMPLE_DOCS / SAMPLE_DOCS_OF_BLOCK) as usize).max(1);
    let (mut asked, mut found) = (0, 0);
    for (nth, head) in crossing.into_iter().step_by(step) {
        let block = points.block(nth, head)?;
        let places = (0..block.n_docs()).step_by((BLOCK_DOCS / SAMPLE_DOCS_OF_BLOCK) as usize);
        for place in places {
            budget::work(ns::POINT_TESTED)?;
            let mut of_doc = block.points(place).peekable();
            if of_doc.peek().is_some() {
                asked += 1;
                let is_in = |point| area.contains(point, &mut GeoCounts::default());
                found += u32::from(of_doc.any(is_in));
            }
        }
    }
    let n_with = f64::from(n_crossing);
    let (documents, source) = match found {
        // Fewer than one of so many.
        0 => (by_boxes.min(n_with / f64::from(asked.max(1))), EstimateSource::PointBoxes),
        found => {
            let of = n_crossing;
            let share = f64::from(found) / f64::from(asked);
            (n_with * share, EstimateSource::PointSample { documents: asked, of })
        }
    };
    let (lower, upper) = (inside, inside.saturating_add(n_crossing).min(points.n_with()));
    let documents = (f64::from(inside) + documents).min(upper.into());
    Ok((Span { lower, upper, documents }, source))
}
