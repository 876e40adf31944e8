//! Counting the values of a field over everything that matches.

mod terms;

pub(crate) use terms::{FacetProfile, count_terms};
