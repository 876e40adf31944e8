//! Cells of many points: lines between rows of tiles are worked out once.

use super::cell::tile_line;
use super::{GeoCell, GeoGrid, UnitBounds, UnitPoint};

/// Lines that are made at the most: a quarter of a megabyte.
const LINES_MAX: u64 = 1 << 16;
/// Lines that are made for however few points.
const LINES_MIN: u64 = 16;
/// Points for which a line is worth its making.
const POINTS_OF_LINE: u64 = 8;
/// Slots for each line.
const SLOTS_OF_LINE: usize = 4;

/// Finds the cells of points; each is that of [`GeoGrid::cell_of`].
#[derive(Debug)]
pub(crate) struct CellFinder {
    grid: GeoGrid,
    rows: Option<Rows>,
}

/// Rows of tiles between two latitudes.
#[derive(Debug)]
struct Rows {
    least: u32,
    greatest: u32,
    /// The row that the least latitude is in.
    southern: u32,
    /// Least units of latitude of each row north of it, ascending.
    lines: Vec<u32>,
    /// Latitudes that begin with the same bits, with the number of lines up to the first.
    slots: Vec<u32>,
    shift: u32,
}

impl CellFinder {
    /// Prepares for about so many points in a box.
    pub(crate) fn new(grid: GeoGrid, around: &UnitBounds, n_points: u64) -> Self {
        let rows = match grid {
            GeoGrid::Tile { zoom } if !around.is_empty() => {
                Rows::new(grid, zoom, (around.least.y, around.greatest.y), n_points)
            }
            // Rows of geohashes are as high as each other, so that a multiplication finds them.
            _ => None,
        };
        CellFinder { grid, rows }
    }

    /// The cell of a point.
    #[inline]
    pub(crate) fn cell_of(&self, point: UnitPoint) -> GeoCell {
        match self.rows.as_ref().and_then(|rows| rows.row_of(point.y)) {
            Some(row) => self.grid.cell_in_row(point.x, row),
            None => self.grid.cell_of(point),
        }
    }

    /// The cell that all points of a box are in, if they are in one.
    #[inline]
    pub(crate) fn cell_around(&self, points: &UnitBounds) -> Option<GeoCell> {
        let cell = self.cell_of(points.least);
        (cell == self.cell_of(points.greatest)).then_some(cell)
    }
}

impl Rows {
    fn new(grid: GeoGrid, zoom: u8, (least, greatest): (u32, u32), n_points: u64) -> Option<Self> {
        let (southern, northern) = (grid.row_of(least), grid.row_of(greatest));
        let n_lines = u64::from(southern.saturating_sub(northern));
        if n_lines > (n_points / POINTS_OF_LINE).clamp(LINES_MIN, LINES_MAX) {
            return None;
        }
        let n = 1u64 << zoom;
        let lines = (northern..southern).rev().map(|row| tile_line(u64::from(row) + 1, n) + 1);
        let lines: Vec<u32> = lines.collect();
        let n_slots = ((lines.len() + 1) * SLOTS_OF_LINE).next_power_of_two();
        let bits = u32::BITS - (greatest - least).leading_zeros();
        let shift = bits.saturating_sub(n_slots.ilog2());
        let mut n_before = 0;
        let slot = |slot: u32| {
            let first = least + (slot << shift);
            n_before += lines[n_before..].iter().take_while(|line| **line <= first).count();
            n_before as u32
        };
        let slots = (0..=(greatest - least) >> shift).map(slot).collect();
        Some(Rows { least, greatest, southern, lines, slots, shift })
    }

    /// The row of a latitude between the ends.
    #[inline]
    fn row_of(&self, y: u32) -> Option<u32> {
        if y > self.greatest {
            return None;
        }
        let slot = (y.checked_sub(self.least)? >> self.shift) as usize;
        let mut nth = *self.slots.get(slot)?;
        while self.lines.get(nth as usize).is_some_and(|line| *line <= y) {
            nth += 1;
        }
        Some(self.southern - nth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geo::{GEOHASH_LEN_MAX, ZOOM_MAX};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cells_are_those_that_are_worked_out(
            points in prop::collection::vec((any::<u32>(), any::<u32>(), 0..32u32), 1..60),
            more in any::<u32>(), n_points in 0..20u64,
        ) {
            let points = points.into_iter().flat_map(|(x, y, shift)| {
                let near_poles = [y >> shift, u32::MAX - (y >> shift), y];
                near_poles.map(|y| UnitPoint { x, y })
            });
            let points: Vec<_> = points.collect();
            // Some points are outside of the box that it was made for.
            let around = UnitBounds::of(points[1..].iter().copied());
            let tiles = (0..=ZOOM_MAX).map(|zoom| GeoGrid::Tile { zoom });
            let grids = tiles.chain((1..=GEOHASH_LEN_MAX).map(|len| GeoGrid::Geohash { len }));
            for grid in grids {
                let finder = CellFinder::new(grid, &around, 1 << n_points);
                for point in &points {
                    let cell = grid.cell_of(*point);
                    prop_assert_eq!(finder.cell_of(*point), cell);
                    prop_assert_eq!(grid.cell(cell.number()), cell);
                    prop_assert!(cell.number() < grid.n_cells());
                    let GeoGrid::Tile { zoom } = grid else { continue };
                    let outer = zoom.checked_sub(1).map(|zoom| GeoGrid::Tile { zoom }.cell_of(*point));
                    prop_assert_eq!(cell.outer_tile(), outer);
                    // At both sides of a line.
                    let units = cell.units();
                    for y in [units.least.y, units.greatest.y, units.least.y.saturating_sub(1)] {
                        let point = UnitPoint { x: more, y };
                        prop_assert_eq!(finder.cell_of(point), grid.cell_of(point));
                    }
                }
                let around = UnitBounds::of(points.iter().copied().take(2));
                let same = grid.cell_of(points[0]) == grid.cell_of(points[1]);
                prop_assert!(finder.cell_around(&around).is_none() || same);
            }
        }
    }
}
