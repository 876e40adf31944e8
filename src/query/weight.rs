//! The numbers in a query, which no operation has to check again.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::error::{Error, ErrorKind, Result};

/// Factor of a score: finite and greater than zero. Nested factors multiply to at most 10³⁰, so that no score becomes
/// infinite.
///
/// ```
/// use treepie::query::Boost;
///
/// assert_eq!(Boost::new(2.5)?.get(), 2.5);
/// for refused in [0.0, -1.0, f32::NAN, f32::INFINITY] {
///     assert!(Boost::new(refused).is_err());
/// }
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Boost(f32);

/// The score of every document that a [`constant score`](super::Query::ConstantScore) matches:
/// finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Score(f32);

/// The part of their scores that lesser alternatives of a [`DisMax`](super::Query::DisMax) add.
///
/// From 0, nothing, to 1, all of it.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Tie(f32);

impl Boost {
    /// The factor that changes nothing.
    pub const ONE: Boost = Boost(1.0);

    /// Checks a factor of scores.
    ///
    /// ```
    /// use treepie::query::Boost;
    ///
    /// assert_eq!(Boost::new(2.5)?.get(), 2.5);
    /// assert!(Boost::new(0.0).is_err());
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] for a factor that is not finite or not greater than zero.
    pub fn new(factor: f32) -> Result<Self> {
        match factor.is_finite() && factor > 0.0 {
            true => Ok(Boost(factor)),
            false => Err(refused("weighting a query", "a finite factor greater than 0", factor)),
        }
    }
}

impl Score {
    /// The score of a filter.
    pub const ZERO: Score = Score(0.0);
    /// The usual constant.
    pub const ONE: Score = Score(1.0);

    /// Checks a constant score.
    ///
    /// ```
    /// use treepie::query::Score;
    ///
    /// assert_eq!(Score::new(0.0)?, Score::ZERO);
    /// assert!(Score::new(-1.0).is_err());
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] for a score that is not finite or below zero.
    pub fn new(score: f32) -> Result<Self> {
        match score.is_finite() && score >= 0.0 {
            // Minus zero is zero, also for its bits.
            true => Ok(Score(score + 0.0)),
            false => Err(refused("giving a constant score", "a finite score of 0 or more", score)),
        }
    }
}

impl Tie {
    /// Only the best alternative counts.
    pub const ZERO: Tie = Tie(0.0);

    /// Checks a part of the scores of lesser alternatives.
    ///
    /// ```
    /// use treepie::query::Tie;
    ///
    /// assert_eq!(Tie::new(0.3)?.get(), 0.3);
    /// assert!(Tie::new(1.1).is_err());
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] for a part outside of 0 to 1.
    pub fn new(part: f32) -> Result<Self> {
        match (0.0..=1.0).contains(&part) {
            true => Ok(Tie(part + 0.0)),
            false => Err(refused("weighting the lesser alternatives", "a part from 0 to 1", part)),
        }
    }
}

#[cold]
fn refused(what: &str, expected: &str, found: f32) -> Error {
    Error::new(ErrorKind::Query, what).expected(expected).found(found.to_string())
}

macro_rules! number {
    ($($name:ident)*) => {$(
        impl $name {
            /// The number.
            pub fn get(self) -> f32 {
                self.0
            }
        }

        /// Neither NaN nor minus zero is one of these.
        impl Eq for $name {}

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.to_bits().hash(state);
            }
        }

        /// The shortest decimal that reads as the same number.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

number!(Boost Score Tie);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_make_sense_are_taken() {
        let kinds = |value: f32| {
            [Boost::new(value).is_ok(), Score::new(value).is_ok(), Tie::new(value).is_ok()]
        };
        assert_eq!(kinds(1.0), [true, true, true]);
        assert_eq!(kinds(f32::MAX), [true, true, false]);
        assert_eq!(kinds(f32::MIN_POSITIVE / 2.0), [true, true, true]);
        assert_eq!(kinds(0.0), [false, true, true]);
        assert_eq!(kinds(-0.0), [false, true, true]);
        for value in [-1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(kinds(value), [false, false, false], "{value}");
        }
        assert_eq!(Score::new(-0.0).unwrap().get().to_bits(), 0);
        let error = Boost::new(0.0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Query);
        assert!(error.to_string().contains("greater than 0, found 0"), "{error}");
    }
}
