//! What tells one snapshot from another.

use crate::segment::snapshot::Snapshot;
use std::fmt;

/// Stands for everything that a snapshot may answer; see [`Searcher::etag`](crate::Searcher::etag). Compare it, or keep
/// its text; another version of treepie may give the same snapshot another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Etag {
    generation: u64,
    content: u64,
}

impl Etag {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        Etag { generation: snapshot.manifest.generation, content: snapshot.content() }
    }
}

/// Letters and digits.
impl fmt::Display for Etag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:016x}", self.generation, self.content)
    }
}
