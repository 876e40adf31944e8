//! The distance of a document's points from another point as a function.

use super::{Function, Kind, refused};
use crate::error::Result;
use crate::geo::{Distance, GeoPoint};
use crate::ids::FieldId;
use crate::schema::Schema;
use std::fmt;

/// Metres from a point to the nearest point of a document, or whole steps of these.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DistanceFrom {
    pub(crate) field: String,
    pub(crate) point: GeoPoint,
    /// Distances count as the beginning of the step that they are in.
    pub(crate) step: Option<Distance>,
}

impl DistanceFrom {
    /// Looks its field up.
    pub(super) fn field_id(&self, schema: &Schema, function: &Function) -> Result<FieldId> {
        let name = &self.field;
        let points = schema.fields().iter().filter(|field| field.kind.is_point());
        let known = match &points.map(|field| &*field.name).collect::<Vec<_>>()[..] {
            [] => "a field of points, of which there is none".to_owned(),
            known => format!("one of {}", known.join(", ")),
        };
        let Some(field) = schema.field_id(name) else {
            let error = refused(function).expected(known).found(format!("'{name}'"));
            return Err(schema.did_you_mean(error, name));
        };
        let kind = schema.get(field).kind;
        match kind.is_point() {
            true => Ok(field),
            false => {
                let found = format!("the {} field '{name}'", kind.name());
                Err(refused(function).expected(known).found(found))
            }
        }
    }

    /// Refuses steps that have no length.
    pub(super) fn check(&self, function: &Function) -> Result<()> {
        match self.step {
            Some(step) if step.metres() == 0.0 => {
                Err(refused(function).expected("steps of more than 0").found(step.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// Value for so many metres.
    pub(crate) fn value(&self, metres: f64) -> f64 {
        match self.step.map(Distance::metres) {
            Some(step) if step > 0.0 => (metres / step).floor() * step,
            _ => metres,
        }
    }
}

impl fmt::Display for DistanceFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DistanceFrom { field, point, step } = self;
        write!(f, "distance({field}, {}, {})", point.lat(), point.lon())?;
        match step {
            Some(step) => write!(f, " in steps of {step}"),
            None => Ok(()),
        }
    }
}

impl Function {
    /// The distance of a document's nearest point from another.
    pub(crate) fn distance(distance: DistanceFrom) -> Self {
        Function(Kind::Distance(distance))
    }

    /// The distance that it is, if it is one.
    pub(crate) fn as_distance(&self) -> Option<&DistanceFrom> {
        match &self.0 {
            Kind::Distance(distance) => Some(distance),
            _ => None,
        }
    }
}
