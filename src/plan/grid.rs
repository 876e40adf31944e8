//! Ways to count the points of what matches by the cells of a grid.

use super::adaptive::MatchBounds;
use super::cost::FacetSizes;
use super::{CostModel, SegmentPlan};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::geo::{CellFinder, GeoCell, GeoGrid, GridWanted};
use crate::ids::FieldId;
use crate::named::named;
use crate::segment::reader::FieldPages;

/// Boxes that are looked at; pages below those that are not count as crossing lines of the grid.
const BOXES_MAX: u64 = 1 << 16;

/// Ways to count by cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GridStrategy {
    /// Pages inside one cell are counted unread, where everything matches.
    Pages,
    /// Points of each document that matches.
    Points,
}

named! {
    /// Name for people.
    pub(crate) GridStrategy { Pages: "pages of points", Points: "points by document" }
}

/// Pages of a segment by the cells that they are in.
#[derive(Clone, Debug, Default)]
pub(crate) struct PagesByCell {
    /// Points of pages inside one cell; a cell may come several times.
    pub(crate) inside: Vec<(GeoCell, u64)>,
    /// Pages with points of several cells, ascending.
    pub(crate) border: Vec<u32>,
    pub(crate) n_pages_inside: u64,
    pub(crate) boxes_tested: u64,
    /// Points on pages of the border.
    n_border: u64,
}

impl PagesByCell {
    /// Walks from the root to the pages on lines between cells.
    fn new(of_field: &FieldPages<'_>, grid: GeoGrid) -> Result<Self> {
        let boxes = &of_field.boxes;
        let mut found = PagesByCell::default();
        let finder = CellFinder::new(grid, &boxes.bounds(boxes.root())?, boxes.n_points());
        let mut places = vec![boxes.root()];
        while let Some(place) = places.pop() {
            budget::work(ns::POINTS_BOX)?;
            let (bounds, pages) = (boxes.bounds(place)?, boxes.pages_of(place));
            found.boxes_tested += 1;
            match finder.cell_around(&bounds) {
                Some(cell) => {
                    found.n_pages_inside += pages.len() as u64;
                    found.inside.push((cell, boxes.points_of(&pages)));
                }
                None if place.level == 0 || found.boxes_tested >= BOXES_MAX => {
                    found.n_border += boxes.points_of(&pages);
                    found.border.extend(pages);
                }
                None => {
                    let before = places.len();
                    places.extend(boxes.below(place));
                    // Ascending pages are read one after the other.
                    places[before..].reverse();
                }
            }
        }
        Ok(found)
    }
}

/// Way by which cells are counted.
#[derive(Clone, Debug)]
pub(crate) struct GridPlan {
    /// Pages of each segment where these are counted, and nothing otherwise.
    pub(crate) pages: Vec<PagesByCell>,
    pub(crate) strategy: GridStrategy,
    /// Cost of pages, where they can be counted.
    pub(crate) pages_ns: Option<f32>,
    /// Cost of the way that was not chosen, where there was another.
    pub(crate) alternative_ns: Option<f32>,
}

impl GridPlan {
    pub(super) fn new(
        segments: &[SegmentPlan<'_>],
        field: FieldId,
        wanted: GridWanted,
        matches: &MatchBounds,
        costs: &CostModel,
    ) -> Result<Self> {
        let strategy = GridStrategy::Points;
        let mut plan = GridPlan { pages: vec![], strategy, pages_ns: None, alternative_ns: None };
        let all_match = matches.lower == matches.live && matches.deleted == 0;
        if let (true, GridWanted::Grid(grid)) = (all_match, wanted)
            && let Some(pages) = pages_by_cell(segments, field, grid)?
        {
            let n_border: u64 = pages.iter().map(|pages| pages.n_border).sum();
            let pages_ns = n_border as f32 * costs.page_point_ns;
            plan.pages_ns = Some(pages_ns);
            let sizes = FacetSizes::of_points(segments, field)?;
            let by_points = points_ns(&sizes, costs, f64::INFINITY);
            plan.alternative_ns = Some(pages_ns);
            if pages_ns <= by_points {
                (plan.pages, plan.strategy) = (pages, GridStrategy::Pages);
                plan.alternative_ns = Some(by_points);
            }
        }
        Ok(plan)
    }
}

/// Cost of reading the points of so many documents, by document.
pub(super) fn points_ns(sizes: &FacetSizes, costs: &CostModel, documents: f64) -> f32 {
    documents.min(sizes.n_with as f64) as f32 * costs.point_ns
}

/// Pages by cell of all segments; none where a segment has no pages, or a document several points.
fn pages_by_cell(
    segments: &[SegmentPlan<'_>],
    field: FieldId,
    grid: GeoGrid,
) -> Result<Option<Vec<PagesByCell>>> {
    let mut all = vec![];
    for part in segments {
        let reader = part.segment.field(field);
        all.push(match reader.points()? {
            Some(points) if points.n_points() > 0 => {
                let pages = reader.pages(points.n_points())?.filter(|_| points.most() == 1);
                let Some(pages) = pages else { return Ok(None) };
                PagesByCell::new(&pages, grid)?
            }
            _ => PagesByCell::default(),
        });
    }
    Ok(Some(all))
}

impl FacetSizes {
    /// Sizes of a field of points.
    pub(super) fn of_points(segments: &[SegmentPlan<'_>], field: FieldId) -> Result<Self> {
        let mut sizes = FacetSizes { is_single: true, ..FacetSizes::default() };
        for part in segments {
            sizes.n_segments += 1;
            sizes.n_docs = sizes.n_docs.saturating_add(part.n_docs);
            if let Some(points) = part.segment.field(field).points()? {
                sizes.n_with += u64::from(points.n_with());
                sizes.n_values += points.n_points();
                sizes.is_single &= points.most() <= 1;
            }
        }
        Ok(sizes)
    }
}
