//! Keys that only fields of vectors have.

use std::ops::Range;

use treepie::schema::{Metric, VectorCodes, VectorValues};

/// Value of a key, and where the key stands.
pub(super) type Said<T> = Option<(T, Range<usize>)>;

/// Values that a field gives its vectors.
#[derive(Debug, Default)]
pub(super) struct VectorKeys {
    pub(super) dims: Said<u16>,
    pub(super) metric: Said<Metric>,
    pub(super) values: Said<VectorValues>,
    pub(super) codes: Said<VectorCodes>,
    pub(super) graph: Said<bool>,
}

impl VectorKeys {
    /// Keys that only fields of vectors have.
    pub(super) const KEYS: [&str; 5] = ["dims", "metric", "values", "codes", "graph"];
}
