//! Areas that the points of a field are compared with.

use super::Normal;
use super::binder::{Binder, located};
use crate::error::{Error, ErrorKind, Result};
use crate::geo::{GeoArea, GeoRelation};
use crate::query::Place;
use std::sync::Arc;

impl Binder<'_> {
    /// Documents whose points have a relation to an area.
    pub(super) fn area(
        &mut self,
        field: Option<&str>,
        relation: GeoRelation,
        area: &GeoArea,
        place: &Place,
    ) -> Result<Normal> {
        let Some(name) = field else {
            let error = Error::new(ErrorKind::Query, "looking for points in an area");
            let error = error.expected("a field of points before it").found("none");
            return Err(located(&place.text, error));
        };
        let field = self.field(name, place)?;
        let kind = self.schema.get(field).kind;
        let doing = || Error::new(ErrorKind::Query, format!("looking for points in '{name}'"));
        if !kind.is_point() {
            let error = doing().expected("a field of points");
            return Err(located(&place.field, error.found(format!("a {} field", kind.name()))));
        }
        if let GeoArea::File(_) = area {
            let error = doing().expected("an area").found(format!("the name of a file, '{area}'"));
            let hint =
                "the tool reads files of queries that are typed; of others, write the area itself";
            return Err(located(&place.text, error.hint(hint)));
        }
        let within = Normal::Area { field, area: Arc::new(area.clone()) };
        match (relation, area) {
            (GeoRelation::Within | GeoRelation::Intersects, _)
            | (GeoRelation::Contains, GeoArea::Point(_)) => Ok(within),
            (GeoRelation::Disjoint, _) => Ok(self.and(vec![Normal::Exists(field)], vec![within])),
            (GeoRelation::Contains, area) => {
                let found = format!("a {}", area.described());
                let error = doing().expected("a point behind CONTAINS").found(found);
                let hint = format!("{name} holds points; a point contains no {}", area.described());
                Err(located(&place.text, error.hint(hint)))
            }
        }
    }
}
