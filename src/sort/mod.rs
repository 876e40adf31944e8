//! Hits in an order of their values, by columns. Only documents that are shown are sorted.

mod distances;
mod first;
mod in_order;
mod json;
mod key;
mod match_groups;
mod near;
mod order;
mod place;
mod ranks;
mod streaming;
mod text;

pub(crate) use first::{First, SortProfile};
pub use key::SortKey;
pub(crate) use order::SortOrder;
pub use streaming::StreamCounts;
