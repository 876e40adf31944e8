//! Hits in an order of their values: the first of all that match, by columns and without sorting what is not shown.

mod first;
mod in_order;
mod json;
mod key;
mod order;
mod place;
mod ranks;
mod streaming;
mod text;

pub(crate) use first::{First, SortProfile};
pub use key::SortKey;
pub(crate) use order::SortOrder;
pub use streaming::StreamCounts;
