//! Rings about a point that a facet counts: ranges of distances.

use super::ranges::{BEHIND, FacetRange, check_number};
use crate::error::{Error, ErrorKind, Result};
use crate::geo::{Distance, GeoPoint};
use crate::schema::Field;
use crate::value::Value;
use std::ops::Range;

/// Rings as codes of distances, and the ends that they are shown with.
#[derive(Debug)]
pub(crate) struct Rings {
    pub(crate) near: GeoPoint,
    pub(crate) codes: Vec<Range<u128>>,
    pub(crate) shown: Vec<FacetRange>,
}

impl Rings {
    pub(crate) fn of(field: &Field, near: GeoPoint, ranges: &[FacetRange]) -> Result<Self> {
        check_number(ranges)?;
        let mut rings = Rings { near, codes: vec![], shown: vec![] };
        for (nth, range) in (1..).zip(ranges) {
            let doing = || format!("reading ring {nth} of '{}', {range}", field.name);
            let distance = |end: &Option<Value>| {
                let read = |end: &Value| Distance::read(&end.to_exact_text());
                end.as_ref().map(read).transpose().map_err(|wrong| wrong.into_usage(doing()))
            };
            let (from, to) = (distance(&range.from)?, distance(&range.to)?);
            if let (Some(from), Some(to)) = (from, to)
                && from.metres() > to.metres()
            {
                return Err(Error::new(ErrorKind::Usage, doing())
                    .expected("the lesser distance first")
                    .found(format!("{from} before {to}")));
            }
            let code = |end: Distance| u128::from(end.code());
            rings.codes.push(from.map_or(0, code)..to.map_or(BEHIND, code));
            let shown = |end: Option<Distance>| end.map(|end| end.to_string());
            rings.shown.push(FacetRange::new(shown(from), shown(to)));
        }
        match rings.codes.is_empty() {
            false => Ok(rings),
            true => {
                Err(Error::new(ErrorKind::Usage, format!("counting by rings of '{}'", field.name))
                    .expected("rings, as ..1km, 1km..5km and 5km..")
                    .found("none"))
            }
        }
    }
}
