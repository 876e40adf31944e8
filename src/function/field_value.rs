//! The value of a column as a function.

use super::{Function, refused};
use crate::error::Result;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Score by the number of a field: `modifier(factor × value)`.
///
/// A document without a value gets that of another number.
///
/// ```
/// use treepie::function::{FieldValue, Modifier};
///
/// let popular = FieldValue::new("sales").factor(0.1).modifier(Modifier::Log1p).missing(1.0);
/// assert_eq!(popular.to_string(), "log1p(0.1 × sales, or 1)");
/// ```
#[derive(Clone, Debug)]
pub struct FieldValue {
    pub(super) field: String,
    pub(super) factor: f64,
    pub(super) modifier: Modifier,
    pub(super) missing: Option<f64>,
}

/// Transformation of a value, applied after the factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Modifier {
    /// Nothing else.
    #[default]
    None,
    /// Natural logarithm.
    Ln,
    /// The natural logarithm of 1 more, which is 0 for 0.
    Log1p,
    /// Square root.
    Sqrt,
    /// Square of the value.
    Square,
    /// 1 divided by it.
    Reciprocal,
}

impl Modifier {
    /// All of them.
    pub const ALL: [Modifier; 6] = [
        Modifier::None,
        Modifier::Ln,
        Modifier::Log1p,
        Modifier::Sqrt,
        Modifier::Square,
        Modifier::Reciprocal,
    ];

    /// The name used in options.
    pub fn name(self) -> &'static str {
        match self {
            Modifier::None => "none",
            Modifier::Ln => "ln",
            Modifier::Log1p => "log1p",
            Modifier::Sqrt => "sqrt",
            Modifier::Square => "square",
            Modifier::Reciprocal => "reciprocal",
        }
    }

    fn of(self, number: f64) -> f64 {
        match self {
            Modifier::None => number,
            Modifier::Ln => number.ln(),
            Modifier::Log1p => number.ln_1p(),
            Modifier::Sqrt => number.sqrt(),
            Modifier::Square => number * number,
            Modifier::Reciprocal => number.recip(),
        }
    }
}

impl FieldValue {
    /// Value as it is. Dates count as seconds since 1970, booleans as 1 and 0, many values as their least.
    ///
    /// A score is of 32 bits and keeps seven digits: dates as they are make the same score if they are less than some two minutes
    /// apart, and whole numbers beyond 16 million if they are neighbours. To order by such values,
    /// [sort](crate::SearchBuilder::sort) by them, which compares all digits. To prefer recent documents, use a
    /// [`Decay`](crate::function::Decay) or an age, as `1 / (1 + (now - since) / 86400)`.
    pub fn new(field: impl Into<String>) -> Self {
        let (factor, modifier, missing) = (1.0, Modifier::None, None);
        FieldValue { field: field.into(), factor, modifier, missing }
    }

    /// Sets the factor that the value is multiplied by first (default 1): finite.
    #[must_use]
    pub fn factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// Sets the transformation of the product (default [`Modifier::None`]). If its result is not finite, as the logarithm of 0,
    /// the function has no value.
    #[must_use]
    pub fn modifier(mut self, modifier: Modifier) -> Self {
        self.modifier = modifier;
        self
    }

    /// Sets the value that stands in for a missing one (default: none).
    ///
    /// It is a finite number. Without it the function has no value for such documents.
    #[must_use]
    pub fn missing(mut self, value: f64) -> Self {
        self.missing = Some(value);
        self
    }

    pub(super) fn check(&self, function: &Function) -> Result<()> {
        let of_missing = self.missing.unwrap_or_default();
        match self.factor.is_finite() && of_missing.is_finite() {
            true => Ok(()),
            false => Err(refused(function)
                .expected("a finite factor, and a finite value for what is missing")
                .found(format!("{} and {of_missing}", self.factor))),
        }
    }

    /// Value for a number; NaN stands for a missing one.
    pub(super) fn of(&self, number: f64) -> f64 {
        let number = if number.is_nan() { self.missing.unwrap_or(f64::NAN) } else { number };
        self.modifier.of(self.factor * number)
    }

    fn key(&self) -> (&str, u64, Modifier, Option<u64>) {
        let missing = self.missing.map(f64::to_bits);
        (&self.field, self.factor.to_bits(), self.modifier, missing)
    }
}

impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = match self.modifier {
            Modifier::None => ("", ""),
            modifier => (modifier.name(), ")"),
        };
        write!(f, "{open}{}", if open.is_empty() { "" } else { "(" })?;
        if self.factor != 1.0 {
            write!(f, "{} × ", self.factor)?;
        }
        f.write_str(&self.field)?;
        if let Some(missing) = self.missing {
            write!(f, ", or {missing}")?;
        }
        f.write_str(close)
    }
}

impl PartialEq for FieldValue {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for FieldValue {}

impl Hash for FieldValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
