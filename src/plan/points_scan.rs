//! Areas of a query, and how many documents of a segment have points there.

use super::estimate::{EstimateSource, Span};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::points::{BLOCK_DOCS, Points};
use crate::geo::{BoundArea, BoxRelation, GeoArea, GeoCounts};
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
    /// Documents that are expected, and bounds by boxes.
    pub(super) span: Span,
    pub(super) source: EstimateSource,
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
