//! Normalizers of keyword fields: chains of character filters that turn values into terms.
//!
//! The stored document keeps the value as it was given. Documents, queries, selections of facets and keys go through
//! the same chain, so that `Café` finds `cafe\u{301}` where the field asks for it.

use crate::analysis::filter::Filter;
use crate::error::{Error, ErrorKind, Result};

/// The filters of a keyword field.
#[derive(Clone, Debug)]
pub(crate) struct Normalizer {
    filters: Vec<Filter>,
    buffer: String,
}

impl Normalizer {
    pub(super) fn new(filters: Vec<Filter>) -> Result<Self> {
        if filters.is_empty() || !filters.iter().all(Filter::is_of_characters) {
            return Err(Error::new(
                ErrorKind::Analyzer,
                "reading the normalizer of a keyword field",
            )
            .expected("filters that change characters: nfc, nfkc, lower, lower:LANGUAGE, fold")
            .found(if filters.is_empty() { "none" } else { "another one" }));
        }
        Ok(Normalizer { filters, buffer: String::new() })
    }

    /// Replaces a value by what its term is made of.
    pub(crate) fn apply(&mut self, value: &mut String) {
        for filter in &self.filters {
            filter.apply_to_characters(value, &mut self.buffer);
        }
    }
}
