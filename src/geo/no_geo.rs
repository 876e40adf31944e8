//! Descriptions of texts and numbers that are no points, distances or areas.

use crate::error::{Error, ErrorKind};
use std::borrow::Cow;

/// Description of what is no point, distance or area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoGeo {
    pub(crate) expected: Cow<'static, str>,
    pub(crate) found: String,
}

impl NoGeo {
    pub(crate) fn new(expected: impl Into<Cow<'static, str>>, found: impl Into<String>) -> Self {
        NoGeo { expected: expected.into(), found: found.into() }
    }

    /// Makes an error about what a caller asked for.
    pub(crate) fn into_usage(self, what: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, what).expected(self.expected).found(self.found)
    }
}
