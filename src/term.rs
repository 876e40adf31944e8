//! Terms of queries, as bytes.

use smallvec::SmallVec;

/// Term of a field; most are short enough to need no memory of their own.
pub(crate) type Term = SmallVec<[u8; 24]>;
