//! Polygons in units, under a grid that settles most points without looking at edges.
//!
//! All is in whole numbers, so that what is decided is exact. Columns and rows of the grid are as many units wide as a power of two.
//! A cell that no edge touches is inside or outside as a whole; for points of others the edges of their slab are looked at: rows are cut
//! into slabs, as many as there are edges for. For a box, sums of cells tell in four loads whether an edge is near.

use super::nearest_edge::EdgeLine;
use super::polygon::{GeoPolygons, GeoVertex};
use super::units::{X_UNITS, x_of, y_of};
use super::{BoxRelation, UnitBounds, UnitPoint};
use std::ops::Range;

/// Columns and rows of the grid at the most.
const CELLS_MAX: u64 = 64;
/// Slabs at the most.
const SLABS_MAX: u32 = 1 << 12;
/// Units of longitude round the globe.
const ROUND: u64 = X_UNITS as u64;

/// Polygons that points are compared with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BoundPolygons {
    /// Units of the western side. Longitudes of edges are counted from there.
    west: u32,
    width: u64,
    south: u32,
    height: u32,
    /// Binary logarithms of how many units a column and a row have.
    column_bits: u32,
    row_bits: u32,
    /// Binary logarithm of how many units a slab has, at most as many as a row.
    slab_bits: u32,
    n_columns: usize,
    cells: Vec<Cell>,
    /// Cells with edges, and cells inside, in all columns and rows before one: one column and one row more than there are cells.
    sums: Vec<[u32; 2]>,
    edges: Vec<Edge>,
    /// Edges of each slab, one slab behind the other, and where each slab begins.
    slab_edges: Vec<u32>,
    slab_starts: Vec<u32>,
    rings: Vec<RingKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Outside,
    Inside,
    Edges,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RingKind {
    polygon: u32,
    is_hole: bool,
}

/// A straight line, from its lower end on; one of no height from its western end on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    x: u64,
    y: u32,
    dx: i64,
    dy: u32,
    ring: u32,
}

/// Sight of an edge, looking eastwards from a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    /// Not there.
    Missed,
    Crossed,
    /// The point is on it.
    On,
}

impl Edge {
    fn between(a: (u64, u32), b: (u64, u32), ring: u32) -> Self {
        let (low, high) = if (a.1, a.0) <= (b.1, b.0) { (a, b) } else { (b, a) };
        let dx = high.0.cast_signed() - low.0.cast_signed();
        Edge { x: low.0, y: low.1, dx, dy: high.1 - low.1, ring }
    }

    fn top(&self) -> u32 {
        self.y + self.dy
    }

    /// Western and eastern end.
    fn ends(&self) -> (u64, u64) {
        let other = self.x.wrapping_add_signed(self.dx);
        (self.x.min(other), self.x.max(other))
    }

    /// Looks for the edge from a point eastwards.
    ///
    /// The lower end belongs to the edge and the upper one does not, so that lines through a corner
    /// cross one of its edges.
    #[inline]
    fn seen_from(&self, x: u64, y: u32) -> Sight {
        if y < self.y || y > self.top() {
            return Sight::Missed;
        }
        let (west, east) = self.ends();
        if x > east {
            return Sight::Missed;
        }
        if self.dy == 0 {
            return if x >= west { Sight::On } else { Sight::Missed };
        }
        let is_crossed = if x < west {
            true
        } else {
            // Edges with a height have at most 2³¹ + 1 units of longitude, so that these products are below 2⁶⁴.
            let along = self.dx.unsigned_abs() * u64::from(y - self.y);
            let across = self.x.abs_diff(x) * u64::from(self.dy);
            if along == across {
                return Sight::On;
            }
            (across < along) == (self.dx > 0)
        };
        if is_crossed && y < self.top() { Sight::Crossed } else { Sight::Missed }
    }

    /// Western and eastern end of the part between two latitudes, rounded outwards.
    fn ends_between(&self, south: u32, north: u32) -> (u64, u64) {
        if self.dy == 0 {
            return self.ends();
        }
        let at = |y: u32| {
            let offset = i128::from(self.dx) * i128::from(y.clamp(self.y, self.top()) - self.y);
            let floor = offset.div_euclid(self.dy.into());
            let is_whole = offset.rem_euclid(self.dy.into()) == 0;
            let floor = i128::from(self.x) + floor;
            (floor as u64, floor as u64 + u64::from(!is_whole))
        };
        let (a, b) = (at(south), at(north));
        (a.0.min(b.0), a.1.max(b.1))
    }
}

/// Units of a corner, whose longitude may be beyond 180° by up to one turn on either side.
fn units_of(GeoVertex { lon, lat }: GeoVertex) -> (i64, u32) {
    // Taking off 360° is exact, so that a corner is the same one turn further.
    let (lon, turns) = match lon {
        _ if lon > 180.0 => (lon - 360.0, 1),
        _ if lon < -180.0 => (lon + 360.0, -1),
        lon => (lon, 0),
    };
    (x_of(lon).cast_signed() + turns * ROUND.cast_signed(), y_of(lat))
}

/// Binary logarithm of the units of a slab: so few that edges are in three slabs each at the most on average, unless rows have fewer.
fn slab_bits(edges: &[Edge], height: u32, row_bits: u32) -> u32 {
    let heights: u64 = edges.iter().map(|edge| u64::from(edge.dy)).sum();
    let is_wide_enough =
        |bits: &u32| heights >> bits <= 2 * edges.len() as u64 && height >> bits < SLABS_MAX;
    (0..row_bits).find(is_wide_enough).unwrap_or(row_bits)
}

impl BoundPolygons {
    pub(super) fn new(polygons: &GeoPolygons) -> Self {
        let polygons: Vec<Vec<Vec<(i64, u32)>>> = polygons
            .polygons()
            .iter()
            .map(|rings| {
                let ring = |ring: &Vec<_>| ring.iter().copied().map(units_of).collect();
                rings.iter().map(ring).collect()
            })
            .collect();
        let (west, offsets) = placed(&polygons);
        let (mut edges, mut rings) = (vec![], vec![]);
        for (polygon, (of_polygon, offset)) in polygons.iter().zip(offsets).enumerate() {
            for (nth, ring) in of_polygon.iter().enumerate() {
                let own = rings.len() as u32;
                rings.push(RingKind { polygon: polygon as u32, is_hole: nth > 0 });
                let corner = |(x, y): (i64, u32)| (x.wrapping_sub(offset).cast_unsigned(), y);
                let next = ring.iter().skip(1).chain(ring.first());
                let pairs = ring.iter().zip(next);
                edges.extend(pairs.map(|(a, b)| Edge::between(corner(*a), corner(*b), own)));
            }
        }
        let width = edges.iter().map(|edge| edge.ends().1).max().unwrap_or(0);
        let south = edges.iter().map(|edge| edge.y).min().unwrap_or(0);
        let north = edges.iter().map(Edge::top).max().unwrap_or(0);
        let bits = |units: u64| (0..u64::BITS).find(|bits| units >> bits < CELLS_MAX).unwrap_or(0);
        let height = north - south;
        let (column_bits, row_bits) = (bits(width), bits(height.into()));
        let mut bound = BoundPolygons {
            west,
            width,
            south,
            height,
            column_bits,
            row_bits,
            slab_bits: slab_bits(&edges, height, row_bits),
            n_columns: (width >> column_bits) as usize + 1,
            cells: vec![],
            sums: vec![],
            edges,
            slab_edges: vec![],
            slab_starts: vec![],
            rings,
        };
        bound.sort_into_slabs();
        bound.mark_cells();
        bound.sum_cells();
        bound
    }

    fn n_rows(&self) -> usize {
        (self.height >> self.row_bits) as usize + 1
    }

    fn slab_of(&self, y: u32) -> usize {
        ((y - self.south) >> self.slab_bits) as usize
    }

    fn slabs_of(&self, edge: &Edge) -> Range<usize> {
        self.slab_of(edge.y)..self.slab_of(edge.top()) + 1
    }

    /// Lists the edges of each slab in the order of their rings.
    fn sort_into_slabs(&mut self) {
        let n_slabs = (self.height >> self.slab_bits) as usize + 1;
        let mut starts = vec![0u32; n_slabs + 1];
        for edge in &self.edges {
            self.slabs_of(edge).for_each(|slab| starts[slab + 1] += 1);
        }
        for slab in 0..n_slabs {
            starts[slab + 1] += starts[slab];
        }
        let mut next = starts.clone();
        self.slab_edges = vec![0; starts[n_slabs] as usize];
        for (nth, edge) in self.edges.iter().enumerate() {
            for slab in self.slabs_of(edge) {
                self.slab_edges[next[slab] as usize] = nth as u32;
                next[slab] += 1;
            }
        }
        self.slab_starts = starts;
    }

    fn edges_of_slab(&self, slab: usize) -> impl Iterator<Item = &Edge> {
        let (start, end) = (self.slab_starts[slab] as usize, self.slab_starts[slab + 1] as usize);
        self.slab_edges[start..end].iter().map(|nth| &self.edges[*nth as usize])
    }

    /// Marks each cell that an edge touches, up to the line where the next one begins; of others a point tells about all.
    fn mark_cells(&mut self) {
        let n_columns = self.n_columns;
        let mut cells = vec![Cell::Outside; n_columns * self.n_rows()];
        for (row, of_row) in cells.chunks_exact_mut(n_columns).enumerate() {
            let south = u64::from(self.south) + ((row as u64) << self.row_bits);
            let first = row << (self.row_bits - self.slab_bits);
            let n_slabs = self.slab_starts.len() - 1;
            let behind = ((row + 1) << (self.row_bits - self.slab_bits)).min(n_slabs);
            for slab in first..behind {
                let south = u64::from(self.south) + ((slab as u64) << self.slab_bits);
                let north = (south + (1 << self.slab_bits)).min(u32::MAX.into());
                for edge in self.edges_of_slab(slab) {
                    let (from, to) = edge.ends_between(south as u32, north as u32);
                    let to = ((to >> self.column_bits) as usize).min(n_columns - 1);
                    of_row[(from >> self.column_bits) as usize..=to].fill(Cell::Edges);
                }
            }
            // No edge is between two cells that no edge touches.
            let mut last = Cell::Edges;
            for (column, cell) in of_row.iter_mut().enumerate() {
                if *cell != Cell::Edges {
                    *cell = match last {
                        Cell::Edges => {
                            let x = (column as u64) << self.column_bits;
                            let is_in = self.is_in_by_edges(x, south as u32);
                            if is_in { Cell::Inside } else { Cell::Outside }
                        }
                        known => known,
                    };
                }
                last = *cell;
            }
        }
        self.cells = cells;
    }

    fn sum_cells(&mut self) {
        let width = self.n_columns + 1;
        let mut sums = vec![[0; 2]; width * (self.n_rows() + 1)];
        for (row, of_row) in self.cells.chunks_exact(self.n_columns).enumerate() {
            let mut so_far = [0; 2];
            for (column, cell) in of_row.iter().enumerate() {
                so_far[0] += u32::from(*cell == Cell::Edges);
                so_far[1] += u32::from(*cell == Cell::Inside);
                let before = sums[row * width + column + 1];
                let sum = [before[0] + so_far[0], before[1] + so_far[1]];
                sums[(row + 1) * width + column + 1] = sum;
            }
        }
        self.sums = sums;
    }

    /// Edges as lines between points.
    pub(super) fn lines(&self) -> impl Iterator<Item = EdgeLine> {
        self.edges.iter().map(|&Edge { x, y, dx, dy, .. }| {
            let from = UnitPoint { x: self.west.wrapping_add(x as u32), y };
            EdgeLine { from, dx, dy }
        })
    }

    /// The box around all: its western side, its width, its southern and its northern side.
    pub(super) fn around(&self) -> (u32, u64, u32, u32) {
        (self.west, self.width, self.south, self.south + self.height)
    }

    /// Whether a point is in one of the polygons, by the edges of its slab.
    fn is_in_by_edges(&self, x: u64, y: u32) -> bool {
        // Whether the point is in the outer ring of the polygon so far, and in no hole.
        let (mut polygon, mut is_in) = (u32::MAX, false);
        let mut edges = self.edges_of_slab(self.slab_of(y)).peekable();
        while let Some(first) = edges.next() {
            let ring = first.ring;
            let (mut is_odd, mut is_on) = (false, false);
            let mut see = |edge: &Edge| match edge.seen_from(x, y) {
                Sight::Missed => {}
                Sight::Crossed => is_odd = !is_odd,
                Sight::On => is_on = true,
            };
            see(first);
            while let Some(edge) = edges.next_if(|edge| edge.ring == ring) {
                see(edge);
            }
            let RingKind { polygon: own, is_hole } = self.rings[ring as usize];
            if own != polygon {
                if is_in {
                    return true;
                }
                (polygon, is_in) = (own, false);
            }
            match is_hole {
                false => is_in = is_odd || is_on,
                true => is_in &= !is_odd || is_on,
            }
        }
        is_in
    }

    pub(super) fn n_edges(&self) -> u64 {
        self.edges.len() as u64
    }

    /// Whether a point is in one of the polygons; adds to `n_by_edges` if edges were looked at.
    pub(super) fn contains(&self, UnitPoint { x, y }: UnitPoint, n_by_edges: &mut u64) -> bool {
        let Some(up) = y.checked_sub(self.south).filter(|up| *up <= self.height) else {
            return false;
        };
        let row = (up >> self.row_bits) as usize;
        // The first of the places that the point has, one turn apart.
        let mut x = u64::from(x.wrapping_sub(self.west));
        while x <= self.width {
            let column = (x >> self.column_bits) as usize;
            let is_in = match self.cells[row * self.n_columns + column] {
                Cell::Outside => false,
                Cell::Inside => true,
                Cell::Edges => {
                    *n_by_edges += 1;
                    self.is_in_by_edges(x, y)
                }
            };
            if is_in {
                return true;
            }
            x += ROUND;
        }
        false
    }

    /// Place of the points of a box, as far as cells tell.
    pub(super) fn relation(&self, points: &UnitBounds) -> BoxRelation {
        let mut relation = BoxRelation::Outside;
        for place in self.places_of(points) {
            match self.relation_at(place, points) {
                BoxRelation::Inside => return BoxRelation::Inside,
                BoxRelation::Crosses => relation = BoxRelation::Crosses,
                BoxRelation::Outside => {}
            }
        }
        relation
    }

    /// Longitudes of a box, from the western side on, one turn apart.
    fn places_of(&self, points: &UnitBounds) -> impl Iterator<Item = (u64, u64)> + use<> {
        let wide = u64::from(points.greatest.x - points.least.x);
        let first = u64::from(points.least.x.wrapping_sub(self.west));
        let width = self.width;
        // One that began a turn earlier reaches over the western side.
        let before = (first + wide).checked_sub(ROUND).map(|end| (0, end));
        let others = (0..).map(move |turn| first + turn * ROUND);
        let others = others.take_while(move |start| *start <= width);
        before.into_iter().chain(others.map(move |start| (start, start + wide)))
    }

    fn relation_at(&self, (west, east): (u64, u64), points: &UnitBounds) -> BoxRelation {
        let Some((columns, rows)) = self.cells_of((west, east), points) else {
            return BoxRelation::Outside;
        };
        let [edges, _] = self.sum_of(&columns, &rows);
        let is_inside = self.cells[rows.start * self.n_columns + columns.start] == Cell::Inside;
        match (edges, is_inside) {
            (0, false) => BoxRelation::Outside,
            // All cells are alike if none has edges, but what is beyond them is outside.
            (0, true) if self.holds((west, east), points) => BoxRelation::Inside,
            _ => BoxRelation::Crosses,
        }
    }

    /// Whether the box around the polygons has all of a box, of which a part a turn earlier was cut off.
    fn holds(&self, (west, east): (u64, u64), points: &UnitBounds) -> bool {
        let is_whole = east - west == u64::from(points.greatest.x - points.least.x);
        let north = self.south + self.height;
        is_whole && east <= self.width && self.south <= points.least.y && points.greatest.y <= north
    }

    /// Columns and rows of the part of a box that is in the box around the polygons.
    fn cells_of(
        &self,
        (west, east): (u64, u64),
        points: &UnitBounds,
    ) -> Option<(Range<usize>, Range<usize>)> {
        let north = self.south + self.height;
        let (low, high) = (points.least.y.max(self.south), points.greatest.y.min(north));
        let east = east.min(self.width);
        if low > high || west > east {
            return None;
        }
        let column = |x: u64| (x >> self.column_bits) as usize;
        let row = |y: u32| ((y - self.south) >> self.row_bits) as usize;
        Some((column(west)..column(east) + 1, row(low)..row(high) + 1))
    }

    /// Cells with edges, and cells inside.
    fn sum_of(&self, columns: &Range<usize>, rows: &Range<usize>) -> [u32; 2] {
        let at = |row: usize, column: usize| self.sums[row * (self.n_columns + 1) + column];
        let (whole, corner) = (at(rows.end, columns.end), at(rows.start, columns.start));
        let (above, beside) = (at(rows.start, columns.end), at(rows.end, columns.start));
        [0, 1].map(|of| whole[of] + corner[of] - above[of] - beside[of])
    }

    /// About which share of a box the polygons cover, if points were anywhere in it.
    pub(super) fn share_of(&self, points: &UnitBounds) -> f64 {
        let units = |from: u32, to: u32| f64::from(to) - f64::from(from) + 1.0;
        let of_box =
            units(points.least.x, points.greatest.x) * units(points.least.y, points.greatest.y);
        let covered = |place| {
            let (columns, rows) = self.cells_of(place, points)?;
            let [edges, inside] = self.sum_of(&columns, &rows).map(f64::from);
            let part = (inside + edges / 2.0) / (columns.len() * rows.len()) as f64;
            let wide = (place.1.min(self.width) - place.0) as f64 + 1.0;
            let north = (self.south + self.height).min(points.greatest.y);
            Some(part * wide * units(self.south.max(points.least.y), north))
        };
        let covered: f64 = self.places_of(points).filter_map(covered).sum();
        (covered / of_box).clamp(0.0, 1.0)
    }
}

/// Units of the western side of the least box around all polygons, and what is taken off the longitudes of each.
///
/// Polygons that are cut at 180°, as RFC 7946 wants them, are side by side there.
fn placed(polygons: &[Vec<Vec<(i64, u32)>>]) -> (u32, Vec<i64>) {
    let round = ROUND.cast_signed();
    let spans = polygons.iter().map(|rings| {
        let xs = rings.iter().flatten().map(|(x, _)| *x);
        (xs.clone().min().unwrap_or(0), xs.max().unwrap_or(0))
    });
    let spans: Vec<(i64, i64)> = spans.collect();
    // Beginning and end of each on the globe; the end may be behind that of the globe.
    let mut on_globe: Vec<(i64, i64)> = spans
        .iter()
        .map(|(from, to)| (from.rem_euclid(round), from.rem_euclid(round) + (to - from)))
        .collect();
    on_globe.sort_unstable();
    // The widest gap is the one before the western side.
    let mut reached = on_globe.iter().map(|(_, to)| to - round).max().unwrap_or(0);
    let (mut west, mut widest) = (on_globe.first().map_or(0, |first| first.0), i64::MIN);
    for (from, to) in on_globe {
        if from - reached > widest {
            (west, widest) = (from, from - reached);
        }
        reached = reached.max(to);
    }
    let offset = |(from, _): &(i64, i64)| from - (from - west).rem_euclid(round);
    (west as u32, spans.iter().map(offset).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geo::{BoundArea, GeoArea, GeoCounts, GeoPoint};
    use proptest::prelude::*;

    /// Even-odd of one ring, by definition: whether a point is in it, and whether it is on an edge.
    fn naive_ring(ring: &[(i128, i128)], (x, y): (i128, i128)) -> (bool, bool) {
        let (mut is_odd, mut is_on) = (false, false);
        for (at, a) in ring.iter().enumerate() {
            let b = ring[(at + 1) % ring.len()];
            let cross = (b.0 - a.0) * (y - a.1) - (x - a.0) * (b.1 - a.1);
            let is_between = |p: i128, q: i128, it: i128| p.min(q) <= it && it <= p.max(q);
            is_on |= cross == 0 && is_between(a.0, b.0, x) && is_between(a.1, b.1, y);
            if (a.1 > y) != (b.1 > y) && (cross > 0) == (b.1 > a.1) && cross != 0 {
                is_odd = !is_odd;
            }
        }
        (is_odd, is_on)
    }

    /// The definition, at each of the places that a point has on the globe rolled out.
    fn naive(polygons: &GeoPolygons, point: UnitPoint) -> bool {
        let is_in = |rings: &Vec<Vec<GeoVertex>>, x: i128| {
            let at = (x, i128::from(point.y));
            let rings = rings.iter().map(|ring| {
                let corners = ring.iter().map(|it| units_of(*it));
                let corners = corners.map(|(x, y)| (x.into(), y.into())).collect::<Vec<_>>();
                naive_ring(&corners, at)
            });
            let rings: Vec<_> = rings.collect();
            let outer = rings[0].0 || rings[0].1;
            outer && rings[1..].iter().all(|(is_odd, is_on)| !is_odd || *is_on)
        };
        (-2..=2).any(|turn| {
            let x = i128::from(point.x) + turn * i128::from(ROUND);
            polygons.polygons().iter().any(|rings| is_in(rings, x))
        })
    }

    fn polygons(area: &str) -> GeoPolygons {
        match area.parse().unwrap() {
            GeoArea::Polygons(polygons) => polygons,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn edges_belong_and_globes_have_no_end() {
        const CROSSING: &str = "POLYGON ((170 -10, 190 -10, 190 10, 170 10))";
        const CUT: &str = "MULTIPOLYGON (((170 -10, 180 -10, 180 10, 170 10)), ((-180 -10, -170 -10, -170 10, -180 10)))";
        const HOLE: &str = "POLYGON ((0 0, 9 0, 9 9, 0 9), (3 3, 6 3, 6 6, 3 6))";
        const OUTSIDE: &str = "POLYGON ((0 0, 9 0, 9 9, 0 9), (20 3, 26 3, 26 6, 20 6))";
        const BOW: &str = "POLYGON ((0 0, 4 4, 4 0, 0 4))";
        const CAP: &str = "POLYGON ((-180 80, -60 80, 60 80, 180 80, 180 90, -180 90))";
        for (area, lat, lon, is_in) in [
            (CROSSING, 0.0, 180.0, true),
            (CROSSING, 0.0, -175.0, true),
            (CROSSING, 0.0, -170.0, true),
            (CROSSING, 0.0, -169.9, false),
            (CROSSING, 10.0, 175.0, true),
            (CROSSING, 0.0, 0.0, false),
            (CUT, 0.0, -180.0, true),
            (CUT, 0.0, -175.0, true),
            (CUT, 0.0, 175.0, true),
            (CUT, 0.0, 0.0, false),
            (HOLE, 4.0, 4.0, false),
            (HOLE, 3.0, 4.0, true),
            (HOLE, 6.0, 6.0, true),
            (HOLE, 1.0, 4.0, true),
            (OUTSIDE, 4.0, 22.0, false),
            (OUTSIDE, 4.0, 20.0, false),
            (OUTSIDE, 4.0, 4.0, true),
            (BOW, 1.0, 3.5, true),
            (BOW, 3.5, 2.0, false),
            (BOW, 2.0, 2.0, true),
            (CAP, 85.0, 123.0, true),
            (CAP, 90.0, 77.0, true),
            (CAP, 80.0, -180.0, true),
            (CAP, 79.9, 0.0, false),
            ("MULTIPOLYGON (((0 0, 4 0, 4 4, 0 4)), ((2 2, 6 2, 6 6, 2 6)))", 3.0, 3.0, true),
            ("POLYGON ((0 0, 1 1, 2 2))", 1.0, 1.0, true),
            ("POLYGON ((-180 -90, 180 -90, 180 90, -180 90))", -90.0, 180.0, true),
        ] {
            let bound = BoundArea::new(&area.parse().unwrap());
            let point = UnitPoint::of(GeoPoint::new(lat, lon).unwrap());
            let mut counts = GeoCounts::default();
            assert_eq!(bound.contains(point, &mut counts), is_in, "{area} {lat},{lon}");
            assert_eq!(naive(&polygons(area), point), is_in, "{area} {lat},{lon}");
        }
        // Halves that are cut at 180° are side by side there.
        let (_, width, ..) = BoundPolygons::new(&polygons(CUT)).around();
        assert!(width < ROUND / 10, "{width}");
    }

    /// Coordinates of few different values, of very near ones, and of any.
    fn degrees(most: f64) -> impl Strategy<Value = f64> {
        prop_oneof![
            (-4..=4i32).prop_map(move |n| f64::from(n) * most / 4.0),
            (-9..=9i32).prop_map(|n| f64::from(n) * 1e-7),
            (-40..=40i32).prop_map(move |n| (f64::from(n) * most / 40.0).clamp(-most, most)),
            -most..=most,
        ]
    }

    /// Rings whose edges are short enough, in the turn where they begin or in the next one.
    fn ring() -> impl Strategy<Value = Vec<GeoVertex>> {
        let corner = (degrees(90.0), degrees(90.0));
        let ring = (degrees(270.0), prop::collection::vec(corner, 3..24));
        ring.prop_map(|(center, corners)| {
            let corner = |(lon, lat)| GeoVertex { lon: center + lon, lat };
            corners.into_iter().map(corner).collect()
        })
    }

    fn areas() -> impl Strategy<Value = GeoArea> {
        let polygon = prop::collection::vec(ring(), 1..4);
        prop::collection::vec(polygon, 1..4)
            .prop_filter_map("a polygon", |polygons| GeoArea::multi_polygon(polygons).ok())
    }

    proptest! {
        #[test]
        fn points_and_boxes_are_as_the_definition_has_them(
            area in areas(),
            others in prop::collection::vec((any::<u32>(), any::<u32>(), -2..=2i32, -2..=2i32, 0..32u32), 1..60),
        ) {
            let GeoArea::Polygons(polygons) = &area else { panic!("{area}") };
            let bound = BoundArea::new(&area);
            let corners: Vec<_> = polygons.polygons().iter().flatten().flatten().copied().collect();
            let unit = |vertex| {
                let (x, y) = units_of(vertex);
                UnitPoint { x: x as u32, y }
            };
            let mut points = vec![];
            for (x, y, dx, dy, shift) in others {
                let corner = unit(corners[x as usize % corners.len()]);
                let next = unit(corners[y as usize % corners.len()]);
                // Anywhere, at corners, beside them, and between two.
                points.push(UnitPoint { x, y });
                points.push(corner);
                points.push(UnitPoint {
                    x: corner.x.wrapping_add_signed(dx << shift),
                    y: corner.y.saturating_add_signed(dy << shift),
                });
                let half = next.x.wrapping_sub(corner.x).cast_signed() / 2;
                points.push(UnitPoint {
                    x: corner.x.wrapping_add_signed(half),
                    y: (u64::from(corner.y) + u64::from(next.y)).div_euclid(2) as u32,
                });
            }
            let mut counts = GeoCounts::default();
            for point in &points {
                prop_assert_eq!(bound.contains(*point, &mut counts), naive(polygons, *point), "{:?}", point);
            }
            for some in points.chunks(2) {
                let around = UnitBounds::of(some.iter().copied());
                let corners = [around.least, around.greatest];
                let middle = UnitPoint {
                    x: around.least.x + (around.greatest.x - around.least.x) / 2,
                    y: around.least.y + (around.greatest.y - around.least.y) / 2,
                };
                let inside = corners.iter().chain([&middle]).map(|it| naive(polygons, *it));
                let inside: Vec<bool> = inside.collect();
                match bound.relation(&around) {
                    BoxRelation::Outside => prop_assert!(inside.iter().all(|it| !it)),
                    BoxRelation::Inside => prop_assert!(inside.iter().all(|it| *it)),
                    BoxRelation::Crosses => {}
                }
                prop_assert!((0.0..=1.0).contains(&bound.share_of(&around)));
            }
            // One turn further, and read back.
            prop_assert_eq!(&area.to_string().parse::<GeoArea>().unwrap(), &area);
            let turned: Vec<Vec<Vec<_>>> = polygons.polygons().iter().map(|rings| {
                let lons = rings.iter().flatten().map(|it| it.lon);
                let turn = if lons.clone().all(|it| it > 0.0) { -360.0 } else { 360.0 };
                let turned = |it: &GeoVertex| GeoVertex { lon: it.lon + turn, lat: it.lat };
                rings.iter().map(|ring| ring.iter().map(turned).collect()).collect()
            }).collect();
            // Longitudes of whole multiples of a small power of two are exact one turn further.
            let is_exact = turned.iter().flatten().flatten().zip(&corners)
                .all(|(a, b)| a.lon - b.lon == 360.0 || a.lon - b.lon == -360.0);
            if let (true, Ok(turned)) = (is_exact, GeoArea::multi_polygon(turned)) {
                let turned = BoundArea::new(&turned);
                for point in &points {
                    prop_assert_eq!(
                        turned.contains(*point, &mut counts), bound.contains(*point, &mut counts)
                    );
                }
            }
        }

        #[test]
        fn a_box_is_its_polygon(
            west in -180..=180i32, wide in 0..=180i32, south in -90..90i32, high in 1..=90i32,
            x in -180..=180i32, y in -90..=90i32,
        ) {
            let north = (south + high).min(90);
            let (east, wide) = (west + wide.max(1), wide.max(1));
            let corner = |lon: i32, lat: i32| GeoVertex { lon: lon.into(), lat: lat.into() };
            let ring = vec![corner(west, south), corner(east, south), corner(east, north), corner(west, north)];
            let polygon = BoundArea::new(&GeoArea::polygon([ring]).unwrap());
            let on_globe = if east > 180 { east - 360 } else { east };
            let corner = |lat: i32, lon: i32| GeoPoint::new(lat.into(), lon.into()).unwrap();
            let bound = GeoArea::bounding_box(corner(south, west), corner(north, on_globe)).unwrap();
            let bound = BoundArea::new(&bound);
            let point = UnitPoint::of(corner(y, x));
            let mut counts = GeoCounts::default();
            prop_assert_eq!(polygon.contains(point, &mut counts), bound.contains(point, &mut counts), "{}", wide);
        }
    }
}
