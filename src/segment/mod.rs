//! One immutable piece of the index, where the write path and the read path meet.

pub(crate) mod file;
pub(crate) mod snapshot;
