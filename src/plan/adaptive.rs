//! Strategies that depend on how many documents match, which a plan can but estimate: it holds each with the number of matches
//! from which on it is taken, and a run compares what it has found with these.

use smallvec::{SmallVec, smallvec};

/// Documents that match, as far as that is known before, of those that are not deleted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchBounds {
    pub(crate) lower: u64,
    pub(crate) expected: u64,
    pub(crate) upper: u64,
    pub(crate) live: u64,
    pub(crate) deleted: u64,
}

/// Strategies, each with the number of matches from which on it is taken: ascending, the first from none on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Adaptive<S>(SmallVec<[(u64, S); 2]>);

impl<S: Copy + PartialEq> Adaptive<S> {
    /// One strategy for any number.
    pub(crate) fn always(strategy: S) -> Self {
        Adaptive(smallvec![(0, strategy)])
    }

    /// Strategies that `choose` takes for ascending numbers, and for those between them. The end of one is found to an
    /// eighth: no cost is known better.
    pub(crate) fn among(numbers: &[u64], choose: impl Fn(u64) -> S) -> Self {
        let mut numbers = numbers.iter().copied();
        let first = numbers.next().unwrap_or_default();
        let mut last = (first, choose(first));
        let mut all = Self::always(last.1);
        for number in numbers {
            if number > last.0 {
                let next = (number, choose(number));
                all.cut(last, next, &choose);
                last = next;
            }
        }
        all
    }

    fn cut(&mut self, low: (u64, S), high: (u64, S), choose: &impl Fn(u64) -> S) {
        if low.1 == high.1 {
            return;
        }
        if high.0.saturating_sub(low.0) <= low.0 / 8 + 1 {
            return self.from(high.0, high.1);
        }
        let middle =
            ((low.0.max(1) as f64 * high.0 as f64).sqrt() as u64).clamp(low.0 + 1, high.0 - 1);
        let middle = (middle, choose(middle));
        self.cut(low, middle, choose);
        self.cut(middle, high, choose);
    }

    /// Takes another from a greater number on.
    pub(crate) fn from(&mut self, n_matches: u64, strategy: S) {
        self.0.retain(|(from, _)| *from < n_matches);
        if self.0.last().is_none_or(|(_, last)| *last != strategy) {
            self.0.push((n_matches, strategy));
        }
    }

    /// The one for so many.
    pub(crate) fn of(&self, n_matches: u64) -> S {
        let behind = self.0.partition_point(|(from, _)| *from <= n_matches);
        self.0[behind.saturating_sub(1)].1
    }

    /// All of them, each with the number from which on it is taken.
    pub(crate) fn steps(&self) -> &[(u64, S)] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_found_about_where_it_begins() {
        let choose = |n: u64| (n >= 100) as u8 + (n >= 5_000) as u8;
        let all = Adaptive::among(&[0, 1_000, 1 << 20], choose);
        assert_eq!((all.of(0), all.of(50), all.of(1_000), all.of(1 << 20)), (0, 0, 1, 2));
        let [(0, 0), (first, 1), (second, 2)] = *all.steps() else { panic!("{all:?}") };
        assert!((100..=113).contains(&first) && (5_000..=5_625).contains(&second), "{all:?}");
        assert_eq!(Adaptive::among(&[7, 7], choose), Adaptive::always(0));
        let mut certain = Adaptive::always(1);
        certain.from(9, 1);
        certain.from(9, 3);
        assert_eq!((certain.of(8), certain.of(9)), (1, 3));
        certain.from(0, 2);
        assert_eq!(certain, Adaptive::always(2));
    }
}
