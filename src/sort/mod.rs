//! Hits in an order of their values: the first of all that match, by columns and without sorting what is not shown.

mod first;
mod key;

pub(crate) use first::{First, Place, SortProfile};
pub use key::SortKey;
pub(crate) use key::SortOrder;
