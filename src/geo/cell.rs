//! Cells of grids on the globe: tiles of maps and geohashes.
//!
//! Each point is in exactly one cell of a grid. Points on the line between two are in the cell to the east; of tiles in that to the
//! south, and of geohashes in that to the north, as those who made them have it.

use super::units::{Y_UNITS, y_of};
use super::{GeoPoint, NoGeo, UnitBounds, UnitPoint};
use crate::error::{Error, Result};
use std::f64::consts::PI;
use std::fmt;
use std::str::FromStr;

/// Zoom of the smallest tiles.
pub const ZOOM_MAX: u8 = 24;
/// Characters of the smallest geohashes.
pub const GEOHASH_LEN_MAX: u8 = 12;
/// Bits of a character of a geohash.
const GEOHASH_BITS: u32 = 5;
const GEOHASH_DIGITS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";

/// A grid that every point has a cell of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GeoGrid {
    /// Tiles of maps in the Mercator projection: 2^zoom columns and rows.
    ///
    /// The projection ends at ±85.05°; what is beyond is in the first and the last row.
    Tile {
        /// Zoom, from 0 to [`ZOOM_MAX`].
        zoom: u8,
    },
    /// Geohashes.
    Geohash {
        /// Characters, from 1 to [`GEOHASH_LEN_MAX`].
        len: u8,
    },
}

/// A cell of a grid.
///
/// ```
/// use treepie::geo::{GeoCell, GeoGrid, GeoPoint};
///
/// let paris = GeoPoint::new(48.8566, 2.3522)?;
/// assert_eq!(GeoCell::of_point(GeoGrid::Tile { zoom: 8 }, paris)?.to_string(), "tile:8/129/88");
/// assert_eq!(GeoCell::of_point(GeoGrid::Geohash { len: 5 }, paris)?.to_string(), "geohash:u09tv");
/// let (south_west, north_east) = "geohash:u09".parse::<GeoCell>()?.corners();
/// assert_eq!((south_west.lat(), north_east.lon()), (47.8125, 2.8125));
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GeoCell {
    grid: GeoGrid,
    /// Column, eastwards from 180° west on.
    column: u32,
    /// Row: of tiles southwards, of geohashes northwards.
    row: u32,
}

impl GeoGrid {
    /// Refuses zooms and lengths beyond the greatest.
    pub(crate) fn checked(self) -> Result<Self, NoGeo> {
        match self {
            GeoGrid::Tile { zoom } if zoom > ZOOM_MAX => {
                Err(NoGeo::new(format!("a zoom from 0 to {ZOOM_MAX}"), zoom.to_string()))
            }
            GeoGrid::Geohash { len } if len == 0 || len > GEOHASH_LEN_MAX => {
                let expected = format!("from 1 to {GEOHASH_LEN_MAX} characters of a geohash");
                Err(NoGeo::new(expected, len.to_string()))
            }
            grid => Ok(grid),
        }
    }

    /// Binary logarithms of the numbers of columns and rows.
    fn bits(self) -> (u32, u32) {
        match self {
            GeoGrid::Tile { zoom } => (zoom.into(), zoom.into()),
            GeoGrid::Geohash { len } => {
                let bits = u32::from(len) * GEOHASH_BITS;
                (bits.div_ceil(2), bits / 2)
            }
        }
    }

    /// Least and greatest units of latitude of a row.
    fn units_of_row(self, row: u32) -> (u32, u32) {
        let n = 1u64 << self.bits().1;
        let (row, next) = (u64::from(row), u64::from(row) + 1);
        match self {
            GeoGrid::Tile { .. } => (
                if next == n { 0 } else { tile_line(next, n) + 1 },
                if row == 0 { u32::MAX } else { tile_line(row, n) },
            ),
            GeoGrid::Geohash { .. } => {
                let line = |nth: u64| y_of(nth as f64 / n as f64 * 180.0 - 90.0);
                (line(row), if next == n { u32::MAX } else { line(next) - 1 })
            }
        }
    }

    /// The row of units of latitude.
    pub(super) fn row_of(self, y: u32) -> u32 {
        let n = 1u64 << self.bits().1;
        let guess = match self {
            GeoGrid::Tile { .. } => {
                let sine = libm::sin((f64::from(y) / Y_UNITS - 0.5) * PI);
                (0.5 - libm::atanh(sine) / (2.0 * PI)) * n as f64
            }
            GeoGrid::Geohash { .. } => f64::from(y) / Y_UNITS * n as f64,
        };
        // Saturating: the poles are at infinity.
        let mut row = (guess as u64).min(n - 1) as u32;
        let is_southwards = matches!(self, GeoGrid::Tile { .. });
        loop {
            let (least, greatest) = self.units_of_row(row);
            match (y < least, y > greatest) {
                (false, false) => return row,
                (is_south, _) if is_south == is_southwards => row += 1,
                _ => row -= 1,
            }
        }
    }

    /// The cell of a point.
    pub(crate) fn cell_of(self, UnitPoint { x, y }: UnitPoint) -> GeoCell {
        self.cell_in_row(x, self.row_of(y))
    }

    /// The cell of a row that a longitude is in.
    #[inline]
    pub(super) fn cell_in_row(self, x: u32, row: u32) -> GeoCell {
        let column = x.checked_shr(u32::BITS - self.bits().0).unwrap_or(0);
        GeoCell { grid: self, column, row }
    }

    /// Number of cells.
    pub(crate) fn n_cells(self) -> u64 {
        let (columns, rows) = self.bits();
        1 << (columns + rows)
    }

    /// The cell of a [number](GeoCell::number).
    pub(crate) fn cell(self, number: u64) -> GeoCell {
        let columns = self.bits().0;
        let column = number & ((1 << columns) - 1);
        GeoCell { grid: self, column: column as u32, row: (number >> columns) as u32 }
    }
}

/// Units of latitude of the line north of a row of tiles, of which there are `n`.
pub(super) fn tile_line(row: u64, n: u64) -> u32 {
    let lat = libm::atan(libm::sinh(PI * (1.0 - 2.0 * row as f64 / n as f64)));
    y_of(lat.to_degrees())
}

/// `tile=8`, `geohash=5`
impl fmt::Display for GeoGrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GeoGrid::Tile { zoom } => write!(f, "tile={zoom}"),
            GeoGrid::Geohash { len } => write!(f, "geohash={len}"),
        }
    }
}

impl GeoCell {
    /// The cell of a point.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) for a grid that is finer than the finest.
    pub fn of_point(grid: GeoGrid, point: GeoPoint) -> Result<Self> {
        let grid = grid.checked().map_err(|wrong| wrong.into_usage("finding a cell"))?;
        Ok(grid.cell_of(UnitPoint::of(point)))
    }

    /// Returns the grid.
    pub fn grid(self) -> GeoGrid {
        self.grid
    }

    /// Corners in the south-west and the north-east.
    ///
    /// Tiles of the first and the last row end where the projection does.
    pub fn corners(self) -> (GeoPoint, GeoPoint) {
        let (columns, rows) = self.grid.bits();
        let share = |nth: u32, bits: u32| f64::from(nth) / (1u64 << bits) as f64;
        let lon = |nth: u32| share(nth, columns) * 360.0 - 180.0;
        let lat = |nth: u32| match self.grid {
            GeoGrid::Tile { .. } => {
                libm::atan(libm::sinh(PI * (1.0 - 2.0 * share(nth, rows)))).to_degrees()
            }
            GeoGrid::Geohash { .. } => share(nth, rows) * 180.0 - 90.0,
        };
        let (a, b) = (lat(self.row), lat(self.row + 1));
        let south_west = GeoPoint::inside(a.min(b), lon(self.column));
        (south_west, GeoPoint::inside(a.max(b), lon(self.column + 1)))
    }

    /// Number among the cells of its grid, row by row.
    #[inline]
    pub(crate) fn number(self) -> u64 {
        u64::from(self.row) << self.grid.bits().0 | u64::from(self.column)
    }

    /// The tile of the next lower zoom that a tile is in.
    pub(crate) fn outer_tile(self) -> Option<Self> {
        match self.grid {
            GeoGrid::Tile { zoom: zoom @ 1.. } => {
                let grid = GeoGrid::Tile { zoom: zoom - 1 };
                Some(GeoCell { grid, column: self.column >> 1, row: self.row >> 1 })
            }
            _ => None,
        }
    }

    /// All points of the cell as they are kept.
    pub(crate) fn units(self) -> UnitBounds {
        let width = u32::BITS - self.grid.bits().0;
        let west = self.column.checked_shl(width).unwrap_or(0);
        let east = west | u32::MAX.checked_shr(u32::BITS - width).unwrap_or(0);
        let (south, north) = self.grid.units_of_row(self.row);
        UnitBounds {
            least: UnitPoint { x: west, y: south },
            greatest: UnitPoint { x: east, y: north },
        }
    }

    pub(super) fn read(text: &str) -> Result<Self, NoGeo> {
        let expected = "a cell as tile:8/132/88, which is zoom, column and row, or geohash:u09";
        let wrong = || NoGeo::new(expected, format!("'{text}'"));
        let (grid, name) = text.trim().split_once(':').ok_or_else(wrong)?;
        match grid {
            "tile" => {
                let numbers: Option<Vec<u32>> = name.split('/').map(|it| it.parse().ok()).collect();
                let Some([zoom, column, row]) = numbers.as_deref() else { return Err(wrong()) };
                let zoom = u8::try_from(*zoom).unwrap_or(u8::MAX);
                let grid = GeoGrid::Tile { zoom }.checked()?;
                let n = 1u32 << zoom;
                if *column >= n || *row >= n {
                    let expected = format!("a column and a row below {n}, as the zoom is {zoom}");
                    return Err(NoGeo::new(expected, format!("'{text}'")));
                }
                Ok(GeoCell { grid, column: *column, row: *row })
            }
            "geohash" => {
                let len = u8::try_from(name.len()).unwrap_or(u8::MAX);
                let grid = GeoGrid::Geohash { len }.checked()?;
                let (mut column, mut row) = (0, 0);
                for (nth, byte) in name.bytes().enumerate() {
                    let is_own = |digit: &u8| *digit == byte.to_ascii_lowercase();
                    let digit = GEOHASH_DIGITS.iter().position(is_own).ok_or_else(|| {
                        NoGeo::new("digits and letters but a, i, l and o", format!("'{name}'"))
                    })?;
                    for bit in 0..GEOHASH_BITS as usize {
                        // Longitude and latitude by turns.
                        let half = if (nth * GEOHASH_BITS as usize + bit).is_multiple_of(2) {
                            &mut column
                        } else {
                            &mut row
                        };
                        *half =
                            *half << 1 | (digit >> (GEOHASH_BITS as usize - 1 - bit) & 1) as u32;
                    }
                }
                Ok(GeoCell { grid, column, row })
            }
            _ => Err(wrong()),
        }
    }
}

impl FromStr for GeoCell {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::read(text).map_err(|wrong| wrong.into_usage("reading a cell"))
    }
}

/// `tile:8/132/88`, `geohash:u09`
impl fmt::Display for GeoCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.grid {
            GeoGrid::Tile { zoom } => write!(f, "tile:{zoom}/{}/{}", self.column, self.row),
            GeoGrid::Geohash { len } => {
                f.write_str("geohash:")?;
                let (columns, rows) = self.grid.bits();
                let (mut left, mut of) = ([columns, rows], [self.column, self.row]);
                for nth in 0..usize::from(len) {
                    let mut digit = 0;
                    for bit in 0..GEOHASH_BITS as usize {
                        let half = (nth * GEOHASH_BITS as usize + bit) % 2;
                        left[half] -= 1;
                        digit = digit << 1 | (of[half] >> left[half] & 1);
                        of[half] &= (1u32 << left[half]) - 1;
                    }
                    write!(f, "{}", char::from(GEOHASH_DIGITS[digit as usize]))?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grids() -> impl Iterator<Item = GeoGrid> {
        let tiles = (0..=ZOOM_MAX).map(|zoom| GeoGrid::Tile { zoom });
        tiles.chain((1..=GEOHASH_LEN_MAX).map(|len| GeoGrid::Geohash { len }))
    }

    #[test]
    fn cells_are_those_of_others() {
        let cell = |grid, lat, lon| {
            GeoCell::of_point(grid, GeoPoint::new(lat, lon).unwrap()).unwrap().to_string()
        };
        for (lat, lon, zoom, name) in [
            (48.8566, 2.3522, 8, "tile:8/129/88"),
            (0.0, 0.0, 1, "tile:1/1/1"),
            (85.06, -180.0, 3, "tile:3/0/0"),
            (90.0, 179.999_999, 3, "tile:3/7/0"),
            (-90.0, 0.0, 3, "tile:3/4/7"),
            (-33.8688, 151.2093, 16, "tile:16/60294/39327"),
            (12.0, 34.0, 0, "tile:0/0/0"),
        ] {
            assert_eq!(cell(GeoGrid::Tile { zoom }, lat, lon), name);
        }
        for (lat, lon, name) in [
            (57.64911, 10.40744, "geohash:u4pruydqqvj"),
            (48.8566, 2.3522, "geohash:u09tvw0"),
            (0.0, 0.0, "geohash:s00000000000"),
            (45.0, 90.0, "geohash:y0000"),
            (-90.0, -180.0, "geohash:000000000000"),
            (90.0, 179.999_999_9, "geohash:zzzzz"),
        ] {
            let len = (name.len() - "geohash:".len()) as u8;
            assert_eq!(cell(GeoGrid::Geohash { len }, lat, lon), name);
        }
    }

    #[test]
    fn what_is_no_cell_is_told() {
        for (text, words) in [
            ("tile:8/132", "zoom, column and row"),
            ("tile:8/256/0", "a column and a row below 256, as the zoom is 8"),
            ("tile:25/0/0", "a zoom from 0 to 24"),
            ("tile:999/0/0", "a zoom from 0 to 24"),
            ("tile:8/-1/0", "found 'tile:8/-1/0'"),
            ("geohash:", "from 1 to 12 characters of a geohash"),
            ("geohash:u09tvw0u09tvw", "from 1 to 12 characters"),
            ("geohash:ual", "digits and letters but a, i, l and o, found 'ual'"),
            ("geohash:é", "digits and letters"),
            ("s2:123", "a cell as tile:8/132/88"),
            ("", "a cell as"),
        ] {
            let wrong = GeoCell::read(text).unwrap_err();
            let told = format!("expected {}, found {}", wrong.expected, wrong.found);
            assert!(told.contains(words), "{text}: {told}");
        }
        assert_eq!("geohash:U09".parse::<GeoCell>().unwrap().to_string(), "geohash:u09");
    }

    proptest! {
        #[test]
        fn every_point_is_in_one_cell_and_its_name_is_read_back(x: u32, y: u32, at_end in 0..4u32) {
            let point = match at_end {
                0 => UnitPoint { x: x << 12, y: [0, u32::MAX][(y % 2) as usize] },
                1 => UnitPoint { x: x << 24, y: (y << 24).wrapping_sub(x % 2) },
                _ => UnitPoint { x, y },
            };
            for grid in grids() {
                let cell = grid.cell_of(point);
                let UnitBounds { least, greatest } = cell.units();
                prop_assert!(least.x <= point.x && point.x <= greatest.x, "{}", cell);
                prop_assert!(least.y <= point.y && point.y <= greatest.y, "{}", cell);
                prop_assert_eq!(cell.to_string().parse::<GeoCell>().unwrap(), cell);
                // The neighbours begin where it ends.
                if let Some(x) = greatest.x.checked_add(1) {
                    prop_assert_eq!(grid.cell_of(UnitPoint { x, y: point.y }).units().least.x, x);
                }
                for y in [least.y.checked_sub(1), greatest.y.checked_add(1)].into_iter().flatten() {
                    let other = grid.cell_of(UnitPoint { x: point.x, y }).units();
                    let is_next = |a: u32, b: u32| u64::from(a) + 1 == u64::from(b);
                    prop_assert!(is_next(other.greatest.y, least.y) || is_next(greatest.y, other.least.y));
                }
                let (south_west, north_east) = cell.corners();
                prop_assert!(south_west.lat() < north_east.lat() && south_west.lon() < north_east.lon());
            }
        }

        #[test]
        fn cells_are_made_of_smaller_ones(x: u32, y: u32, zoom in 0..ZOOM_MAX, len in 1..GEOHASH_LEN_MAX) {
            let point = UnitPoint { x, y };
            for (grid, finer) in [
                (GeoGrid::Tile { zoom }, GeoGrid::Tile { zoom: zoom + 1 }),
                (GeoGrid::Geohash { len }, GeoGrid::Geohash { len: len + 1 }),
            ] {
                let (large, small) = (grid.cell_of(point).units(), finer.cell_of(point).units());
                prop_assert!(large.least.x <= small.least.x && small.greatest.x <= large.greatest.x);
                prop_assert!(large.least.y <= small.least.y && small.greatest.y <= large.greatest.y);
            }
        }
    }
}
