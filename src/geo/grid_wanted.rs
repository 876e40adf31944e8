//! Grids of facets: a given one, or the finest that suits what matches.

use super::{GEOHASH_LEN_MAX, GeoGrid, NoGeo, ZOOM_MAX};
use std::fmt;

/// Cells that a facet has at the most.
pub(crate) const CELLS_MAX: usize = 1 << 16;

/// Grid whose cells are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GridWanted {
    Grid(GeoGrid),
    /// The smallest tiles of which no more than these have any.
    AutoTiles(usize),
}

impl GridWanted {
    /// Reads `tile=8`, `tile=auto:200` or `geohash=5`.
    pub(crate) fn read(text: &str) -> Result<Self, NoGeo> {
        let number = |text: &str| text.parse::<u64>().ok().filter(|_| !text.starts_with('+'));
        let small = |number: u64| u8::try_from(number).unwrap_or(u8::MAX);
        let wrong = |expected: String| Err(NoGeo::new(expected, format!("'{text}'")));
        let wanted = match text.split_once('=') {
            Some(("tile", value)) => match value.strip_prefix("auto:") {
                Some(most) => match number(most) {
                    Some(n) => GridWanted::AutoTiles(usize::try_from(n).unwrap_or(usize::MAX)),
                    None => return wrong(format!("tile=auto:N, N tiles from 1 to {CELLS_MAX}")),
                },
                None => match number(value) {
                    Some(zoom) => GridWanted::Grid(GeoGrid::Tile { zoom: small(zoom) }),
                    None => {
                        return wrong(format!("tile=ZOOM, from 0 to {ZOOM_MAX}, or tile=auto:N"));
                    }
                },
            },
            Some(("geohash", value)) => match number(value) {
                Some(len) => GridWanted::Grid(GeoGrid::Geohash { len: small(len) }),
                None => {
                    return wrong(format!(
                        "geohash=LENGTH, from 1 to {GEOHASH_LEN_MAX} characters"
                    ));
                }
            },
            _ => return wrong("tile=ZOOM, tile=auto:N or geohash=LENGTH".to_owned()),
        };
        wanted.checked().map_err(|wrong| NoGeo { found: format!("'{text}'"), ..wrong })
    }

    /// Refuses grids that are too fine, and too many tiles or none.
    pub(crate) fn checked(self) -> Result<Self, NoGeo> {
        match self {
            GridWanted::Grid(grid) => grid.checked().map(GridWanted::Grid),
            GridWanted::AutoTiles(n) if (1..=CELLS_MAX).contains(&n) => Ok(self),
            GridWanted::AutoTiles(n) => {
                Err(NoGeo::new(format!("at least 1 tile and at most {CELLS_MAX}"), n.to_string()))
            }
        }
    }
}

/// `tile=8`, `tile=auto:200`, `geohash=5`
impl fmt::Display for GridWanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GridWanted::Grid(grid) => grid.fmt(f),
            GridWanted::AutoTiles(n) => write!(f, "tile=auto:{n}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_read_as_they_are_printed() {
        for text in
            ["tile=0", "tile=24", "tile=auto:1", "tile=auto:65536", "geohash=1", "geohash=12"]
        {
            assert_eq!(GridWanted::read(text).unwrap().to_string(), text);
        }
        for (text, words) in [
            ("tile=25", "a zoom from 0 to 24"),
            ("tile=281", "a zoom from 0 to 24"),
            ("tile=", "tile=ZOOM, from 0 to 24"),
            ("tile=-1", "tile=ZOOM"),
            ("tile=8.5", "tile=ZOOM"),
            ("tile=auto", "tile=auto:N"),
            ("tile=auto:", "N tiles from 1 to 65536"),
            ("tile=auto:0", "at least 1 tile and at most 65536"),
            ("tile=auto:65537", "at most 65536"),
            ("geohash=0", "from 1 to 12 characters"),
            ("geohash=13", "from 1 to 12 characters"),
            ("geohash=u09", "geohash=LENGTH"),
            ("h3=7", "tile=ZOOM, tile=auto:N or geohash=LENGTH"),
            ("tile", "tile=ZOOM, tile=auto:N or geohash=LENGTH"),
        ] {
            let wrong = GridWanted::read(text).unwrap_err();
            assert!(wrong.expected.contains(words), "{text}: {}", wrong.expected);
            assert_eq!(wrong.found, format!("'{text}'"));
        }
    }
}
