//! Functions that change scores.

use super::{BoundFunction, Function};
use crate::error::Result;
use crate::schema::Schema;
use std::fmt;

/// A function, and what a score becomes by it.
///
/// If the function of a document is missing, its score is multiplied by 1, or gets nothing added; in the place of a score it is 0.
/// Several are applied one after the other, each to what the one before made, with 64 bits. A result below 0 counts as 0.
/// Then it is a score, of 32 bits: of large numbers, as [dates](crate::function::FieldValue::new) are, those that are near each other score the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScoreFunction {
    pub(super) function: Function,
    pub(super) combine: Combine,
}

/// Combination of a function with the score: product, sum, or the function alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Combine {
    /// The score times the function.
    Multiply,
    /// The score and the function, added.
    Sum,
    /// The function alone, which may make use of the score.
    Replace,
}

impl ScoreFunction {
    /// The score times the function.
    pub fn multiply(function: impl Into<Function>) -> Self {
        ScoreFunction { function: function.into(), combine: Combine::Multiply }
    }

    /// The score and the function, added.
    pub fn sum(function: impl Into<Function>) -> Self {
        ScoreFunction { function: function.into(), combine: Combine::Sum }
    }

    /// The function in the place of the score, which it may make use of.
    pub fn replace(function: impl Into<Function>) -> Self {
        ScoreFunction { function: function.into(), combine: Combine::Replace }
    }

    /// Returns how the function is combined with the score.
    pub fn combine(&self) -> Combine {
        self.combine
    }

    pub(crate) fn bind(&self, schema: &Schema) -> Result<BoundScoreFunction> {
        let function = self.function.bind(schema)?;
        Ok(BoundScoreFunction { function, combine: self.combine })
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.function.n_bytes()
    }
}

/// Score function with its names looked up.
#[derive(Clone, Debug)]
pub(crate) struct BoundScoreFunction {
    pub(crate) function: BoundFunction,
    pub(crate) combine: Combine,
}

impl BoundScoreFunction {
    /// Combines a score with the value of the function.
    pub(crate) fn apply(&self, score: f64, value: Option<f64>) -> f64 {
        match (self.combine, value) {
            (Combine::Multiply, Some(value)) => score * value,
            (Combine::Sum, Some(value)) => score + value,
            (Combine::Multiply | Combine::Sum, None) => score,
            (Combine::Replace, value) => value.unwrap_or(0.0),
        }
    }
}

/// A score that documents can be ranked by: not negative, and finite.
pub(crate) fn as_score(score: f64) -> f32 {
    let score = score as f32;
    // No NaN, and no zero with a sign.
    if score > 0.0 { score.min(f32::MAX) } else { 0.0 }
}

impl fmt::Display for ScoreFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.combine, &self.function)
    }
}

impl fmt::Display for BoundScoreFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.combine, &self.function)
    }
}

fn write(f: &mut fmt::Formatter<'_>, combine: Combine, function: &dyn fmt::Display) -> fmt::Result {
    match combine {
        Combine::Multiply => write!(f, "times {function}"),
        Combine::Sum => write!(f, "plus {function}"),
        Combine::Replace => write!(f, "replaced by {function}"),
    }
}
