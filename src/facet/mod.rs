//! Counting the values of a field over everything that matches.

mod intersection;
mod merged;
mod terms;
mod top;

pub(crate) use terms::{FacetProfile, count_terms};
