//! Documents with points in areas.

use super::bind::check_size;
use super::{Place, Query};
use crate::error::Result;
use crate::geo::{GeoArea, GeoRelation};

impl Query {
    /// Documents with a point in an area: `location:WITHIN [10km OF 48.8566,2.3522]`.
    ///
    /// Each scores 1, as the documents of a range do.
    ///
    /// ```
    /// use treepie::geo::{GeoArea, GeoPoint};
    /// use treepie::query::Query;
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("name").point("location").build()?);
    /// let mut writer = index.writer()?;
    /// for (name, location) in [("Reims", "49.255,4.154"), ("Lyon", "45.76,4.835")] {
    ///     writer.add(Document::new().with("name", name).with("location", location))?;
    /// }
    /// writer.commit()?;
    /// let paris = GeoPoint::new(48.8566, 2.3522)?;
    /// let near = Query::within_area("location", GeoArea::circle("150km".parse()?, paris));
    /// let hits = index.searcher()?.search(&near).run()?;
    /// assert_eq!(hits.hits[0].fields["name"].to_string(), "Reims");
    /// assert_eq!(hits.hits.len(), 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn within_area(field: impl Into<String>, area: GeoArea) -> Self {
        Query::area(field, GeoRelation::Within, area)
    }

    /// Documents whose points have a relation to an area.
    ///
    /// ```
    /// use treepie::geo::GeoRelation;
    /// use treepie::query::Query;
    ///
    /// let far = Query::area("location", GeoRelation::Disjoint, "10km OF 0,0".parse()?);
    /// assert_eq!(far.to_string(), "location:DISJOINT [10km OF 0,0]");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn area(field: impl Into<String>, relation: GeoRelation, area: GeoArea) -> Self {
        Query::of_area(Some(field.into()), relation, area)
    }

    /// Replaces names of files by the areas that `read` makes of them: `location:WITHIN [@paris.geojson]`.
    ///
    /// ```
    /// use treepie::query::{ParseOptions, parse};
    ///
    /// let query = parse("location:WITHIN [@place.wkt]", &ParseOptions::default())?;
    /// let query = query.with_area_files(&mut |name| {
    ///     assert_eq!(name, "place.wkt");
    ///     "POLYGON ((0 0, 1 0, 1 1))".parse()
    /// })?;
    /// assert_eq!(query.to_string(), "location:WITHIN [POLYGON ((0 0, 1 0, 1 1, 0 0))]");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like `read`, and like a search does with a query that is too large.
    pub fn with_area_files(&self, read: &mut dyn FnMut(&str) -> Result<GeoArea>) -> Result<Self> {
        check_size(self)?;
        self.with_areas_of(read)
    }

    /// Recursive, as a tree that can be asked is not deep.
    fn with_areas_of(&self, read: &mut dyn FnMut(&str) -> Result<GeoArea>) -> Result<Self> {
        if let Query::Area { field, relation, area: GeoArea::File(name), place } = self {
            let (field, relation, place) = (field.clone(), *relation, place.clone());
            return Ok(Query::Area { field, relation, area: read(name)?, place });
        }
        let children = self.children().map(|child| child.with_areas_of(read));
        let children = children.collect::<Result<Vec<_>>>()?;
        Ok(self.with_children(children))
    }

    pub(super) fn of_area(field: Option<String>, relation: GeoRelation, area: GeoArea) -> Self {
        Query::Area { field, relation, area, place: Place::default() }
    }
}
