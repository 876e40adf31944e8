//! Documents with points in areas.

use super::{Place, Query};
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

    pub(super) fn of_area(field: Option<String>, relation: GeoRelation, area: GeoArea) -> Self {
        Query::Area { field, relation, area, place: Place::default() }
    }
}
