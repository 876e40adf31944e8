//! Descriptions of texts and numbers that are no points, distances or areas.

use crate::error::{Error, ErrorKind};
use std::borrow::Cow;
use std::ops::Range;

/// Description of what is no point, distance or area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoGeo {
    pub(crate) expected: Cow<'static, str>,
    pub(crate) found: String,
    /// Bytes of the text that it is about, if that is not all of it.
    pub(crate) place: Option<Range<usize>>,
}

impl NoGeo {
    pub(crate) fn new(expected: impl Into<Cow<'static, str>>, found: impl Into<String>) -> Self {
        NoGeo { expected: expected.into(), found: found.into(), place: None }
    }

    /// Says which bytes of the text it is about, if that is not known yet.
    pub(super) fn at(mut self, place: Range<usize>) -> Self {
        self.place.get_or_insert(place);
        self
    }

    /// Moves its place by so many bytes that are before the text.
    pub(super) fn behind(mut self, n_bytes: usize) -> Self {
        self.place = self.place.map(|place| place.start + n_bytes..place.end + n_bytes);
        self
    }

    /// Makes an error about what a caller asked for.
    pub(crate) fn into_usage(self, what: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, what).expected(self.expected).found(self.found)
    }

    /// Makes an error about a text, with line and column if only a part of it is wrong.
    pub(super) fn into_usage_of(self, text: &str, what: impl Into<String>) -> Error {
        let before = self.place.as_ref().and_then(|place| text.get(..place.start));
        let error = self.into_usage(what);
        let Some(before) = before else { return error };
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
        let column = 1 + before[line_start..].chars().count();
        error.at_line(line as u64).at_column(column as u64)
    }
}
