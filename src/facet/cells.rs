//! Counts of matching documents by the cells of a grid that their points are in.
//!
//! A document with many points counts once in each of its cells. Points are read by document; boxes of 1,024 documents that are in one
//! cell settle all of theirs. If everything matches, nothing is deleted and no document has several points, so do pages of points of a
//! given grid: those inside one cell are counted unread, and only pages on the lines between cells are read.
//!
//! Cost: some ten nanoseconds for each document that matches and each of its points. Memory: four bytes a cell that may come, where these
//! are few, or sixteen for each document and cell.

use super::of_field::FieldMatches;
use super::parting::Parting;
use super::scan::Sink;
use super::tally::Tally;
use crate::budget::{self, ns};
use crate::doc_id_set::{DocIdSet, Matches};
use crate::error::{Error, ErrorKind, Result};
use crate::format::pages::PageNumbers;
use crate::format::points::{BLOCK_DOCS, BlockHead, Points, PointsBlock};
use crate::geo::{
    CELLS_MAX, CellFinder, GeoCell, GeoCounts, GeoGrid, UnitBounds, UnitPoint, ZOOM_MAX,
};
use crate::matching::{Places, for_each_block_of};
use crate::plan::{PagesByCell, SegmentPlan, TallyStrategy};
use crate::segment::file::Section;
use std::collections::{HashMap, HashSet};

/// Memory of a cell with its bucket.
const CELL_BYTES: u64 = 256;
/// Memory of a tile that was met.
const TILE_BYTES: u64 = 32;

/// Matching documents by cell.
#[derive(Debug)]
pub(crate) struct CellCounts {
    /// Cells that any are in, ascending by their number.
    pub(crate) cells: Vec<(GeoCell, u64)>,
    /// Matching documents without a point.
    pub(crate) missing: u64,
    pub(crate) work: GeoCounts,
}

/// Counts what matches by cells; `pages` has those of each segment where they are to be counted.
pub(crate) fn count_cells(
    of: FieldMatches<'_>,
    grid: GeoGrid,
    pages: &[PagesByCell],
) -> Result<CellCounts> {
    let n_matches = of.n_matches();
    if n_matches > u64::from(u32::MAX) {
        return Err(Error::new(ErrorKind::LimitExceeded, "counting by the cells of a grid")
            .expected(format!("at most {} documents that match", u32::MAX))
            .found(n_matches.to_string()));
    }
    let finder = CellFinder::new(grid, &bounds_of(of)?, n_matches);
    let strategy = TallyStrategy::choose(grid.n_cells(), n_matches);
    let tally = Tally::new(0, grid.n_cells(), strategy)?;
    let mut counting =
        CellCounting { finder, tally, n_with: 0, work: GeoCounts::default(), of_doc: vec![] };
    for (nth, (segment, matches)) in of.parts().enumerate() {
        match (pages.get(nth), matches) {
            (Some(pages), DocIdSet::Everything) => counting.add_pages(of, segment, pages)?,
            _ => for_each_block(of, segment, matches, |points, block| {
                counting.add_block(points, block)
            })?,
        }
    }
    let CellCounting { mut tally, n_with, work, .. } = counting;
    tally.finish()?;
    let mut cells = vec![];
    tally.for_each(|(number, count)| {
        budget::hold(CELL_BYTES)?;
        if cells.len() == CELLS_MAX {
            return Err(Error::new(ErrorKind::LimitExceeded, "counting by the cells of a grid")
                .expected(format!("at most {CELLS_MAX} cells that have any"))
                .found(format!("more of {grid}"))
                .hint("larger cells are fewer: a lower zoom, a shorter geohash, or tile=auto:N"));
        }
        cells.push((grid.cell(number), u64::from(count)));
        Ok(())
    })?;
    Ok(CellCounts { cells, missing: n_matches.saturating_sub(n_with), work })
}

/// A box around all points of a field.
fn bounds_of(of: FieldMatches<'_>) -> Result<UnitBounds> {
    let mut around = UnitBounds::NONE;
    for (segment, _) in of.parts() {
        if let Some(points) = segment.segment.field(of.field).points()?
            && !points.bounds().is_empty()
        {
            around = around.with(points.bounds().least).with(points.bounds().greatest);
        }
    }
    Ok(around)
}

/// Block of points in which something matches.
pub(super) struct MatchedBlock<'m> {
    pub(super) nth: u32,
    pub(super) head: BlockHead,
    pub(super) places: Places<'m>,
    /// Whether each of its documents has points.
    pub(super) all_have_some: bool,
}

/// Calls `visit` with the blocks of a segment that have points, in which something matches.
pub(super) fn for_each_block(
    of: FieldMatches<'_>,
    segment: &SegmentPlan<'_>,
    matches: &DocIdSet,
    mut visit: impl FnMut(&Points<Section<'_>>, MatchedBlock<'_>) -> Result<()>,
) -> Result<()> {
    let Some(points) = segment.segment.field(of.field).points()? else { return Ok(()) };
    if points.n_points() == 0 {
        return Ok(());
    }
    for_each_block_of(matches, segment.n_docs, |nth, places| {
        budget::work(ns::POINTS_BOX)?;
        let head = points.head(nth)?;
        if head.n_points == 0 {
            return Ok(());
        }
        let all_have_some = u32::from(head.n_with) == points.docs_of(nth);
        visit(&points, MatchedBlock { nth, head, places, all_have_some })
    })
}

impl MatchedBlock<'_> {
    /// Calls `visit` with each document that matches, by its place in the block, and the numbers of its points.
    pub(super) fn for_each_doc(
        self,
        points: &Points<Section<'_>>,
        mut visit: impl FnMut(&PointsBlock<'_>, u32, std::ops::Range<u32>) -> Result<()>,
    ) -> Result<()> {
        let block = points.block(self.nth, self.head)?;
        self.places.try_for_each(|place| {
            let numbers = block.numbers(place);
            budget::work(ns::POINT_TESTED * numbers.len().max(1) as u64)?;
            visit(&block, place, numbers)
        })
    }
}

struct CellCounting {
    finder: CellFinder,
    /// By the number of a cell.
    tally: Tally,
    n_with: u64,
    work: GeoCounts,
    /// Cells of a document with several points.
    of_doc: Vec<u64>,
}

impl CellCounting {
    fn add_block(&mut self, points: &Points<Section<'_>>, block: MatchedBlock<'_>) -> Result<()> {
        self.work.boxes_tested += 1;
        if let Some(cell) = self.finder.cell_around(&block.head.bounds)
            && block.all_have_some
        {
            self.work.boxes_settled += 1;
            let n = block.places.len();
            self.n_with += u64::from(n);
            return self.tally.add(cell.number(), n);
        }
        block.for_each_doc(points, |block, _, numbers| {
            self.n_with += u64::from(!numbers.is_empty());
            self.work.points_tested += numbers.len() as u64;
            if numbers.len() == 1 {
                let cell = self.finder.cell_of(block.point(numbers.start));
                return self.tally.add(cell.number(), 1);
            }
            self.of_doc.clear();
            let cells = numbers.map(|number| self.finder.cell_of(block.point(number)).number());
            self.of_doc.extend(cells);
            self.of_doc.sort_unstable();
            self.of_doc.dedup();
            self.of_doc.iter().try_for_each(|number| self.tally.add(*number, 1))
        })
    }

    /// Counts the points of a segment, all of whose documents match and have one at the most.
    fn add_pages(
        &mut self,
        of: FieldMatches<'_>,
        segment: &SegmentPlan<'_>,
        by_cell: &PagesByCell,
    ) -> Result<()> {
        let reader = segment.segment.field(of.field);
        let Some(points) = reader.points()?.filter(|points| points.n_points() > 0) else {
            return Ok(());
        };
        let Some(pages) = reader.pages(points.n_points())? else { return Ok(()) };
        self.n_with += u64::from(points.n_with());
        self.work.boxes_tested += by_cell.boxes_tested;
        self.work.boxes_settled += by_cell.boxes_tested.saturating_sub(by_cell.border.len() as u64);
        self.work.pages_inside += by_cell.n_pages_inside;
        for (cell, n) in &by_cell.inside {
            // No segment has more documents.
            self.tally.add(cell.number(), u32::try_from(*n).unwrap_or(u32::MAX))?;
        }
        let (mut numbers, mut unpacked) = (vec![], PageNumbers::default());
        for nth in &by_cell.border {
            budget::work(ns::PAGE_COMPARED)?;
            numbers.clear();
            let page = pages.pages.page(pages.boxes.page(*nth)?)?;
            let points = page.points(&mut unpacked);
            numbers.extend(points.map(|placed| self.finder.cell_of(placed.point).number()));
            self.work.pages_border += 1;
            self.work.points_tested += numbers.len() as u64;
            numbers.iter().try_for_each(|number| self.tally.add(*number, 1))?;
        }
        Ok(())
    }
}

/// The smallest tiles of which no more than `most` have a point of what matches. They are of the deepest zoom if there are no points.
pub(crate) fn finest_tiles(
    of: FieldMatches<'_>,
    most: usize,
    work: &mut GeoCounts,
) -> Result<GeoGrid> {
    let (around, n_matches) = (bounds_of(of)?, of.n_matches());
    let grid = |zoom: u8| GeoGrid::Tile { zoom };
    let mut zoom = ZOOM_MAX;
    let mut finder = CellFinder::new(grid(zoom), &around, n_matches);
    let (mut tiles, mut last) = (HashSet::new(), None);
    let mut add = |finder: &mut CellFinder, point: UnitPoint| -> Result<()> {
        let tile = finder.cell_of(point);
        if last == Some(tile) || !tiles.insert(tile) {
            last = Some(tile);
            return Ok(());
        }
        budget::hold(TILE_BYTES)?;
        while tiles.len() > most && zoom > 0 {
            budget::work(ns::CODE_MET * tiles.len() as u64)?;
            budget::release(TILE_BYTES * tiles.len() as u64);
            zoom -= 1;
            tiles = tiles.drain().filter_map(GeoCell::outer_tile).collect();
            budget::hold(TILE_BYTES * tiles.len() as u64)?;
            *finder = CellFinder::new(grid(zoom), &around, n_matches);
        }
        last = None;
        Ok(())
    };
    for (segment, matches) in of.parts() {
        for_each_block(of, segment, matches, |points, block| {
            work.boxes_tested += 1;
            if block.all_have_some && finder.cell_around(&block.head.bounds).is_some() {
                work.boxes_settled += 1;
                return add(&mut finder, block.head.bounds.least);
            }
            block.for_each_doc(points, |block, _, mut numbers| {
                work.points_tested += numbers.len() as u64;
                numbers.try_for_each(|number| add(&mut finder, block.point(number)))
            })
        })?;
    }
    budget::release(TILE_BYTES * tiles.len() as u64);
    Ok(grid(zoom))
}

/// Matches that have a point in each of some cells of one grid.
pub(crate) fn in_cells(of: FieldMatches<'_>, cells: &[GeoCell]) -> Result<Vec<Matches>> {
    let Some(first) = cells.first() else { return Ok(vec![]) };
    let finder = CellFinder::new(first.grid(), &bounds_of(of)?, of.n_matches());
    budget::hold(TILE_BYTES * cells.len() as u64)?;
    let buckets: HashMap<GeoCell, u32> = cells.iter().copied().zip(0..).collect();
    in_buckets(of, cells.len(), |point, found| found.extend(buckets.get(&finder.cell_of(point))))
}

/// Matches that have a point in each of some buckets: `find` adds those that a point is in.
pub(super) fn in_buckets(
    of: FieldMatches<'_>,
    n_buckets: usize,
    mut find: impl FnMut(UnitPoint, &mut Vec<u32>),
) -> Result<Vec<Matches>> {
    let (mut parting, mut found) = (Parting::new(n_buckets), vec![]);
    for (segment, matches) in of.parts() {
        parting.begin(segment.n_docs)?;
        for_each_block(of, segment, matches, |points, block| {
            let first = block.nth * BLOCK_DOCS;
            block.for_each_doc(points, |block, place, numbers| {
                // A bucket takes a document once, however often it comes.
                numbers.into_iter().try_for_each(|number| {
                    found.clear();
                    find(block.point(number), &mut found);
                    parting.put(&found, first + place)
                })
            })
        })?;
        parting.end()?;
    }
    Ok(parting.finish())
}
