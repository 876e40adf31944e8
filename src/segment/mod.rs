//! Segments: immutable pieces of the index, at which write path and read path meet.

pub(crate) mod added_fields;
pub(crate) mod builder;
pub(crate) mod disk_usage;
pub(crate) mod deletes;
pub(crate) mod dictionaries;
pub(crate) mod doc_ranges;
pub(crate) mod file;
pub(crate) mod graph;
pub(crate) mod order;
pub(crate) mod ordinals;
pub(crate) mod published;
pub(crate) mod reader;
pub(crate) mod renumbering;
pub(crate) mod snapshot;
pub(crate) mod verify;
