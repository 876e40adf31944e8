//! Patterns that are scored by their best terms, for people.

use crate::expansion::TermCounts;
use crate::plural::counted;
use std::fmt;

/// Pattern with the terms that it is scored by.
#[derive(Debug)]
pub(crate) struct ScoredPattern {
    pub(crate) label: String,
    pub(crate) walked: TermCounts,
    pub(crate) n_scored: usize,
    /// The first few of those that are scored.
    pub(crate) terms: Vec<String>,
}

impl fmt::Display for ScoredPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScoredPattern { label, walked, n_scored, terms } = self;
        write!(
            f,
            "{label} scores by {n_scored} of {} ({} visited)",
            counted(walked.expanded, "term"),
            walked.visited
        )?;
        if !terms.is_empty() {
            let more = if terms.len() < *n_scored { ", …" } else { "" };
            write!(f, ": {}{more}", terms.join(", "))?;
        }
        match walked.cut {
            true => write!(f, "; the other {} add nothing", walked.expanded - *n_scored as u64),
            false => Ok(()),
        }
    }
}
