//! Time that a search takes before it runs, by phase.

use std::cell::Cell;
use std::ops::Index;
use std::time::{Duration, Instant};

/// Phase before a search runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Names become fields, words become terms, and the query becomes simpler.
    Bind,
    /// Dictionaries, headers of lists and statistics are read, and patterns are expanded.
    LookUp,
    /// Documents of each operator are estimated.
    Estimate,
    /// Operators, their order and their algorithms are chosen.
    Choose,
    /// Facts that only people read are found: no time of the search.
    Display,
    /// Sets that scores depend on are found, which is no planning any more.
    Sets,
}

/// Time of each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PhaseTimes([Duration; Phase::Sets as usize + 1]);

impl PhaseTimes {
    /// Time of planning: of all phases before the last two.
    pub(crate) fn planning(&self) -> Duration {
        self.0[..Phase::Display as usize].iter().sum()
    }
}

impl Index<Phase> for PhaseTimes {
    type Output = Duration;

    fn index(&self, phase: Phase) -> &Duration {
        &self.0[phase as usize]
    }
}

/// Clock of a search that is explained: each moment between its start and its stop is of one phase.
#[derive(Debug, Default)]
pub(crate) struct PhaseClock {
    /// Phase that runs, and since when; none while the clock is stopped.
    running: Cell<Option<(Phase, Instant)>>,
    times: Cell<PhaseTimes>,
}

impl PhaseClock {
    /// Starts anew, with this phase.
    pub(crate) fn start(&self, phase: Phase) {
        self.times.take();
        self.running.set(Some((phase, Instant::now())));
    }

    /// Goes on with another phase and returns the one before; `None` where the clock is stopped, and stays so.
    pub(crate) fn switch(&self, phase: Phase) -> Option<Phase> {
        let (before, since) = self.running.get()?;
        let now = Instant::now();
        let mut times = self.times.get();
        times.0[before as usize] += now.duration_since(since);
        self.times.set(times);
        self.running.set(Some((phase, now)));
        Some(before)
    }

    /// Does something as a part of this phase, then goes on with the one before.
    pub(crate) fn time<T>(&self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let before = self.switch(phase);
        let done = work();
        before.and_then(|before| self.switch(before));
        done
    }

    /// Adds planning that another clock has the times of.
    pub(crate) fn add_planning(&self, other: PhaseTimes) {
        let mut times = self.times.get();
        let planning = times.0.iter_mut().zip(other.0).take(Phase::Display as usize);
        planning.for_each(|(own, other)| *own += other);
        self.times.set(times);
    }

    /// Times until now.
    pub(crate) fn times(&self) -> PhaseTimes {
        self.running.get().and_then(|(phase, _)| self.switch(phase));
        self.times.get()
    }

    /// Stops, and returns all times.
    pub(crate) fn stop(&self) -> PhaseTimes {
        let times = self.times();
        self.running.take();
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_moment_is_of_one_phase_and_none_of_a_clock_that_is_stopped() {
        let clock = PhaseClock::default();
        assert_eq!(clock.switch(Phase::Bind), None);
        clock.time(Phase::LookUp, || std::thread::sleep(Duration::from_micros(50)));
        assert_eq!(clock.stop(), PhaseTimes::default());

        let started = Instant::now();
        clock.start(Phase::Bind);
        clock.time(Phase::Choose, || {
            clock.time(Phase::LookUp, || std::thread::sleep(Duration::from_micros(50)));
            assert_eq!(clock.switch(Phase::Estimate), Some(Phase::Choose));
        });
        let times = clock.stop();
        let elapsed = started.elapsed();
        assert!(times[Phase::LookUp] >= Duration::from_micros(50), "{times:?}");
        assert!(times.0.iter().sum::<Duration>() <= elapsed, "{times:?} of {elapsed:?}");
        clock.time(Phase::Bind, || ());
        assert_eq!(clock.times(), times);
        clock.start(Phase::Bind);
        let bind = clock.times()[Phase::Bind];
        let anew = clock.stop();
        assert!(anew[Phase::Bind] >= bind);
        assert_eq!(anew.0.iter().sum::<Duration>(), anew[Phase::Bind]);
    }
}
