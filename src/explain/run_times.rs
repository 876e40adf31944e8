//! Times of several runs of a plan, in the plan.

/// Times of something over several runs, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunTimes {
    /// Time of the fastest run.
    pub min_ns: u64,
    /// Time that half of the runs are not above; of an even number the lower of the two in the middle.
    pub median_ns: u64,
    /// Time of the slowest run.
    pub max_ns: u64,
}

/// Times of all runs of a plan that was run several times; see [`Explainer::repeat`](crate::search::Explainer::repeat).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepeatedRuns {
    /// Number of runs.
    pub runs: u64,
    /// Times of planning.
    pub planning: RunTimes,
    /// Times of the whole search.
    pub total: RunTimes,
}

impl RunTimes {
    /// Times of some runs, at least one.
    pub(super) fn of(mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        let median_at = times.len().saturating_sub(1) / 2;
        RunTimes {
            min_ns: times.first().copied().unwrap_or(0),
            median_ns: times.get(median_at).copied().unwrap_or(0),
            max_ns: times.last().copied().unwrap_or(0),
        }
    }

    /// Adds a time that each run took besides.
    pub(super) fn add(&mut self, ns: u64) {
        for time in [&mut self.min_ns, &mut self.median_ns, &mut self.max_ns] {
            *time = time.saturating_add(ns);
        }
    }
}
