//! Less and less, the farther a value is from another.

use super::{Function, number_of, refused};
use crate::error::{Error, Result};
use crate::geo::GeoPoint;
use crate::schema::{Field, Schema};
use crate::value::{self, Dates, NotTaken, Value};
use std::fmt;
use std::hash::{Hash, Hasher};

/// Score by the distance of a field's value from an origin.
///
/// It is 1 at the origin and within the offset of it. Farther away it is less and less: at the scale beyond the
/// offset it is the decay, 0.5 unless that is said otherwise. Distances are numbers, of dates seconds, of points metres. If there
/// are many values, the nearest counts.
///
/// With d the distance beyond the offset and s the scale:
///
/// | shape | is |
/// |---|---|
/// | [`gauss`](Self::gauss) | `decay ^ ((d / s)²)`: a bell |
/// | [`exp`](Self::exp) | `decay ^ (d / s)`: falls at once, and never quite to 0 |
/// | [`linear`](Self::linear) | `1 - (1 - decay) × d / s`, and 0 from where that is less |
///
/// ```
/// use treepie::function::Decay;
///
/// let recent = Decay::exp("since", "2024-05-06", 30.0 * 86_400.0).offset(86_400.0);
/// assert_eq!(recent.to_string(), "exp(since from 2024-05-06, scale 2592000, offset 86400, decay 0.5)");
/// let near = Decay::gauss("location", "48.8566,2.3522", 10_000.0);
/// assert_eq!(near.to_string(), "gauss(location from 48.8566,2.3522, scale 10000, offset 0, decay 0.5)");
/// ```
#[derive(Clone, Debug)]
pub struct Decay {
    pub(super) field: String,
    pub(super) shape: DecayCurve,
    pub(super) origin: Value,
    pub(super) scale: f64,
    pub(super) offset: f64,
    pub(super) decay: f64,
    pub(super) missing: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum DecayCurve {
    Gauss,
    Exp,
    Linear,
}

impl DecayCurve {
    pub(super) const NAMES: [(&str, DecayCurve); 3] =
        [("gauss", DecayCurve::Gauss), ("exp", DecayCurve::Exp), ("linear", DecayCurve::Linear)];

    pub(super) fn name(self) -> &'static str {
        match self {
            DecayCurve::Gauss => "gauss",
            DecayCurve::Exp => "exp",
            DecayCurve::Linear => "linear",
        }
    }
}

impl Decay {
    /// A bell.
    pub fn gauss(field: impl Into<String>, origin: impl Into<Value>, scale: f64) -> Self {
        Self::new(DecayCurve::Gauss, field.into(), origin.into(), scale)
    }

    /// Falling at once, and ever slower.
    pub fn exp(field: impl Into<String>, origin: impl Into<Value>, scale: f64) -> Self {
        Self::new(DecayCurve::Exp, field.into(), origin.into(), scale)
    }

    /// Falling evenly, to 0.
    pub fn linear(field: impl Into<String>, origin: impl Into<Value>, scale: f64) -> Self {
        Self::new(DecayCurve::Linear, field.into(), origin.into(), scale)
    }

    fn new(shape: DecayCurve, field: String, origin: Value, scale: f64) -> Self {
        Decay { field, shape, origin, scale, offset: 0.0, decay: 0.5, missing: None }
    }

    /// Sets the distance up to which the function is 1 (default 0): not negative.
    #[must_use]
    pub fn offset(mut self, offset: f64) -> Self {
        self.offset = offset;
        self
    }

    /// Sets the value at the distance `scale` beyond the offset (default 0.5).
    ///
    /// It is between 0 and 1, both excluded.
    #[must_use]
    pub fn decay(mut self, decay: f64) -> Self {
        self.decay = decay;
        self
    }

    /// Sets the value for documents without one in the field (default: none).
    ///
    /// It is a finite number.
    #[must_use]
    pub fn missing(mut self, value: f64) -> Self {
        self.missing = Some(value);
        self
    }

    /// Resolves an origin that is a date to a moment.
    ///
    /// [`Query::at`](crate::query::Query::at) does so with the dates of a query. It does so for fields of dates of
    /// `schema`: a date without an offset is in the zone of `dates`, and `now`, `now-7d/d` and the like count from
    /// the current time of `dates`. If a text leaves the time open, its first moment is taken. Without this call,
    /// dates without an offset are in the zone of the field.
    ///
    /// ```
    /// use treepie::function::Decay;
    /// use treepie::value::Dates;
    /// use treepie::{Field, FieldKind, Schema, Timestamp};
    ///
    /// let schema = Schema::builder().field(Field::new("since", FieldKind::Date)).build()?;
    /// let dates = Dates::new().now("2024-05-06T12:00Z".parse::<Timestamp>()?).zone("+02:00".parse()?);
    /// let recent = Decay::exp("since", "now/d", 86_400.0).at(&schema, &dates)?;
    /// assert_eq!(recent, Decay::exp("since", "2024-05-05T22:00Z".parse::<Timestamp>()?, 86_400.0));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) for what is no date, a time or a day that clocks are put forward over, or `now`
    /// if nothing is said of it.
    pub fn at(mut self, schema: &Schema, dates: &Dates) -> Result<Self> {
        let Some(field) = schema.field(&self.field) else { return Ok(self) };
        match dates.moment(&self.origin, field) {
            Ok(origin) => {
                self.origin = origin;
                Ok(self)
            }
            Err(not_taken) => Err(not_an_origin(&Function::from(self), not_taken)),
        }
    }

    /// Checks the settings; the origin as a number.
    pub(super) fn check(&self, field: &Field, function: &Function) -> Result<f64> {
        self.check_numbers(function)?;
        let kind = field.kind;
        let origin = Dates::new().moment(&self.origin, field);
        let code = origin.and_then(|origin| value::code(kind, &origin));
        Ok(number_of(kind, code.map_err(|not_taken| not_an_origin(function, not_taken))?))
    }

    /// Checks the settings of one over points; the origin as a point.
    pub(super) fn check_near(&self, function: &Function) -> Result<GeoPoint> {
        self.check_numbers(function)?;
        match &self.origin {
            Value::Point(point) => Ok(*point),
            Value::Text(text) => text.parse(),
            other => Err(refused(function).expected("as origin a point").found(other.to_string())),
        }
    }

    fn check_numbers(&self, function: &Function) -> Result<()> {
        let Decay { scale, offset, decay, missing, .. } = self;
        let numbers = [
            (*scale > 0.0 && scale.is_finite(), "a scale greater than 0", scale),
            (*offset >= 0.0 && offset.is_finite(), "an offset of 0 or more", offset),
            (*decay > 0.0 && *decay < 1.0, "a decay between 0 and 1", decay),
            (missing.is_none_or(f64::is_finite), "a finite value for what is missing", &f64::NAN),
        ];
        if let Some((_, expected, found)) = numbers.into_iter().find(|(is_right, ..)| !is_right) {
            return Err(refused(function).expected(expected).found(found.to_string()));
        }
        Ok(())
    }

    /// Decay of the nearest of some values; NaN if there is none.
    pub(super) fn of_nearest(&self, origin: f64, values: impl Iterator<Item = f64>) -> f64 {
        let distances = values.map(|value| (value - origin).abs());
        distances.reduce(f64::min).map_or(f64::NAN, |distance| self.of_distance(distance))
    }

    /// Decay at a distance from the origin.
    pub(super) fn of_distance(&self, distance: f64) -> f64 {
        let far = (distance - self.offset).max(0.0) / self.scale;
        match self.shape {
            DecayCurve::Gauss => self.decay.powf(far * far),
            DecayCurve::Exp => self.decay.powf(far),
            DecayCurve::Linear => (1.0 - (1.0 - self.decay) * far).max(0.0),
        }
    }

    pub(super) fn or_missing(&self, value: f64) -> f64 {
        if value.is_nan() { self.missing.unwrap_or(f64::NAN) } else { value }
    }

    fn key(&self) -> (&str, DecayCurve, &Value, [u64; 3], Option<u64>) {
        let numbers = [self.scale, self.offset, self.decay].map(f64::to_bits);
        (&self.field, self.shape, &self.origin, numbers, self.missing.map(f64::to_bits))
    }
}

fn not_an_origin(function: &Function, not_taken: NotTaken) -> Error {
    let expected = format!("as origin {}", not_taken.expected);
    refused(function).expected(expected).found(not_taken.found)
}

impl fmt::Display for Decay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Decay { field, origin, scale, offset, decay, .. } = self;
        let shape = self.shape.name();
        write!(f, "{shape}({field} from {origin}, scale {scale}, offset {offset}, decay {decay}")?;
        if let Some(missing) = self.missing {
            write!(f, ", or {missing}")?;
        }
        f.write_str(")")
    }
}

impl PartialEq for Decay {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Decay {}

impl Hash for Decay {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
