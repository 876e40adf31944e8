//! Counting the values of a field over everything that matches.

mod intersection;
mod intervals;
mod merged;
mod ranges;
mod terms;
mod top;

pub(crate) use intervals::count_intervals;
pub(crate) use ranges::{ColumnProfile, count_ranges};
pub(crate) use terms::{FacetProfile, TermCounts, count_terms};
