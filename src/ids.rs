//! Numbers that must not be mixed: documents, fields, terms, segments.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    process,
    time::SystemTime,
};

/// Number of a document in one snapshot. Segments come in order, their documents in insertion order or in that of the
/// [schema](crate::SchemaBuilder::order_by), be it one of fields or of
/// [similarity](crate::SchemaBuilder::order_by_similarity).
///
/// It is valid for the [`Searcher`](crate::Searcher) that gave it, and changes when segments merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u64);

impl fmt::Display for DocId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The position of a field in its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FieldId(pub(crate) u16);

impl FieldId {
    #[inline]
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The rank of a term among the terms of one field of one segment, in byte order, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TermOrdinal(pub(crate) u32);

/// The random name of a segment; never used twice, so that an old file cannot pass for a new one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SegmentId(pub(crate) [u8; 16]);

impl SegmentId {
    /// An id that nobody has drawn before, here or elsewhere.
    ///
    /// The randomness is that of hash tables, which the system seeds for each thread; process and
    /// time are added for the sake of forked processes, which inherit the seed.
    pub(crate) fn random() -> Self {
        let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |elapsed| elapsed.as_nanos());
        let half = || RandomState::new().hash_one((process::id(), now)).to_le_bytes();
        let (left, right) = (half(), half());
        SegmentId(std::array::from_fn(|at| if at < 8 { left[at] } else { right[at - 8] }))
    }
}

impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_le_bytes(self.0).swap_bytes())
    }
}

impl fmt::Debug for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SegmentId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_ids_differ() {
        let ids: std::collections::HashSet<_> = (0..1_000).map(|_| SegmentId::random().0).collect();
        assert_eq!(ids.len(), 1_000);
        assert!(ids.iter().any(|id| id[..8] != id[8..]));
    }
}
