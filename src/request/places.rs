//! Facets of fields of points.

use super::facet::{Facet, FacetWhat};
use super::ranges::FacetRange;
use crate::error::Result;
use crate::geo::{GeoGrid, GeoPoint, GridWanted};

impl Facet {
    /// Counts the matching documents with a point in each cell of a grid.
    ///
    /// A document with many points counts once in each of its cells. Cells come by their counts, the greatest first, and by their
    /// names; those without a document are left out. There may be 65,536. A bucket has its [cell](crate::facet::Bucket::cell).
    ///
    /// Tiles of maps end at ±85.05°. Points beyond are in the first and the last row.
    ///
    /// ```
    /// use treepie::geo::{GeoArea, GeoGrid};
    /// use treepie::query::Query;
    /// use treepie::{Document, Facet, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().point("location").build()?);
    /// let mut writer = index.writer()?;
    /// for location in ["48.8566,2.3522", "48.86,2.35", "49.255,4.154"] {
    ///     writer.add(Document::new().with("location", location))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let tiles = Facet::grid("location", GeoGrid::Tile { zoom: 8 });
    /// let page = searcher.search(&query).with_facet(tiles).run()?;
    /// let tile = &page.facets[0].buckets[0];
    /// assert_eq!((tile.to_string(), tile.count), ("tile:8/129/88".to_owned(), 2));
    /// let inside = Query::within_area("location", GeoArea::Cell(tile.cell.unwrap()));
    /// assert_eq!(searcher.count(&inside)?, 2);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When it runs: a usage error for a field that has no points, and for a grid that is finer than the finest; a limit error for too
    /// many cells.
    pub fn grid(field: impl Into<String>, grid: GeoGrid) -> Self {
        Facet::of(field, FacetWhat::Grid(GridWanted::Grid(grid)))
    }

    /// Counts by the smallest tiles of which at most `n` have any.
    ///
    /// `n` is from 1 to 65,536. They are of the deepest zoom with so few that are not empty, which follows from the points of what matches alone: 24 if there
    /// are none. [`FacetCounts::grid`](crate::facet::FacetCounts::grid) says which. All else is as with [`grid`](Self::grid).
    ///
    /// Costs another look at the points.
    ///
    /// ```
    /// use treepie::geo::GeoGrid;
    /// use treepie::{Document, Facet, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().point("location").build()?);
    /// let mut writer = index.writer()?;
    /// for location in ["48.8566,2.3522", "49.255,4.154", "-33.86,151.21"] {
    ///     writer.add(Document::new().with("location", location))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let page = searcher.search(&query).with_facet(Facet::auto_tiles("location", 2)).run()?;
    /// assert_eq!(page.facets[0].buckets.len(), 2);
    /// assert_eq!(page.facets[0].grid, Some(GeoGrid::Tile { zoom: 4 }));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn auto_tiles(field: impl Into<String>, n: usize) -> Self {
        Facet::of(field, FacetWhat::Grid(GridWanted::AutoTiles(n)))
    }

    /// Counts the matching documents with a point in each of these rings.
    ///
    /// Rings are ranges of distances from `near`. Ends are distances with a unit. A ring is from its first distance on and below the second, as all ranges; without one there is no
    /// end on that side. A document with many points counts once for each ring that one of them is in; rings may overlap. At most 1,024
    /// of them.
    ///
    /// ```
    /// use treepie::geo::GeoPoint;
    /// use treepie::{Document, Facet, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().point("location").build()?);
    /// let mut writer = index.writer()?;
    /// for location in ["48.8566,2.3522", "48.8606,2.3376", "49.255,4.154"] {
    ///     writer.add(Document::new().with("location", location))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let rings = Facet::rings("location", GeoPoint::new(48.8566, 2.3522)?, ["..1km".parse()?, "1km..5km".parse()?]);
    /// let page = searcher.search(&query).with_facet(rings).run()?;
    /// let counts: Vec<u64> = page.facets[0].buckets.iter().map(|bucket| bucket.count).collect();
    /// assert_eq!((counts, page.facets[0].other), (vec![1, 1], Some(1)));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When it runs: a usage error for a field that has no points, an end that is no distance with its unit, a ring whose second distance
    /// is less than its first, and for no rings.
    pub fn rings(
        field: impl Into<String>,
        near: GeoPoint,
        rings: impl IntoIterator<Item = FacetRange>,
    ) -> Self {
        Facet::of(field, FacetWhat::Rings(near, rings.into_iter().collect()))
    }

    /// Reads the grid of a facet as the tool has it: `tile=8`, `tile=auto:200` or `geohash=5`.
    ///
    /// ```
    /// use treepie::Facet;
    /// use treepie::geo::GeoGrid;
    ///
    /// let facet = Facet::parse_grid("location", "tile=8")?;
    /// assert_eq!(facet, Facet::grid("location", GeoGrid::Tile { zoom: 8 }));
    /// assert!(Facet::parse_grid("location", "tile=25").is_err());
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) for another text, a zoom or a length beyond the greatest, and for too many tiles.
    pub fn parse_grid(field: impl Into<String>, text: &str) -> Result<Self> {
        let field = field.into();
        match GridWanted::read(text) {
            Ok(grid) => Ok(Facet::of(field, FacetWhat::Grid(grid))),
            Err(wrong) => Err(wrong.into_usage(format!("reading a grid of '{field}'"))),
        }
    }
}
