//! Counts of codes: how often each was met.

use super::scan::{InBlock, Sink, take_codes};
use crate::budget::{self, Held, ns};
use crate::error::{Error, Result};
use crate::format::column::Block;
use crate::plan::TallyStrategy;

/// Counters, and codes, that are gone through before the clock is asked.
const AT_ONCE: usize = 1 << 16;
/// Codes that are written down before they are sorted: some ten milliseconds of it.
const PENDING_MAX: usize = 1 << 18;

pub(super) type CodeCount = (u64, u32);

/// Codes with their counts: a counter for each that may come where these are few, otherwise as they come.
#[derive(Debug)]
pub(super) struct Tally {
    least: u64,
    /// For each code from `least` on; empty where codes are written down.
    counters: Vec<u32>,
    pending: Vec<CodeCount>,
    /// Ascending codes; each run has more than twice as many as the next, so that none is merged often.
    runs: Vec<Vec<CodeCount>>,
    held: Held,
}

impl Tally {
    pub(super) fn new(least: u64, n_codes: u64, strategy: TallyStrategy) -> Result<Self> {
        let (mut counters, mut held) = (vec![], Held::default());
        if strategy == TallyStrategy::Counters {
            held.more(n_codes * size_of::<u32>() as u64)?;
            counters = vec![0; n_codes as usize];
        }
        Ok(Tally { least, counters, pending: vec![], runs: vec![], held })
    }

    /// Adds the codes that numbers from `first` on stand for, of which that stands for `base` and each more for `unit` more.
    pub(super) fn add_numbers(
        &mut self,
        first: u32,
        numbers: &[u32],
        (base, unit): (u64, u64),
    ) -> Result<()> {
        let code = |number: u32| base.wrapping_add(unit.wrapping_mul(u64::from(number - first)));
        if self.counters.is_empty() {
            let with = numbers.iter().filter(|number| **number >= first);
            self.pending.extend(with.map(|number| (code(*number), 1)));
            return self.sort_if_many();
        }
        let offset = base.wrapping_sub(self.least);
        let counters = self.counters.get_mut(offset as usize..).unwrap_or_default();
        let numbers = numbers.iter().copied();
        let wrong = match (first, unit) == (0, 1) {
            true => count_at(counters, numbers, u64::from),
            false => count_at(counters, numbers.filter(|number| *number >= first), |number| {
                u64::from(number - first).wrapping_mul(unit)
            }),
        };
        wrong.map_or(Ok(()), |number| Err(outside(code(number))))
    }

    #[inline]
    fn sort_if_many(&mut self) -> Result<()> {
        if self.pending.len() < PENDING_MAX { Ok(()) } else { self.sort_pending() }
    }

    fn sort_pending(&mut self) -> Result<()> {
        let n = self.pending.len();
        let n_rounds = u64::from(usize::BITS - n.leading_zeros());
        budget::work(n as u64 * n_rounds * ns::CODE_ROUND)?;
        self.pending.sort_unstable();
        self.held.more((n * size_of::<CodeCount>()) as u64)?;
        let mut run = std::mem::take(&mut self.pending);
        run.dedup_by(|later, first| add_if_same(first, *later));
        run.shrink_to_fit();
        self.held.less(((n - run.len()) * size_of::<CodeCount>()) as u64);
        self.runs.push(run);
        while let [.., a, b] = &self.runs[..]
            && a.len() <= 2 * b.len()
        {
            self.merge_last()?;
        }
        Ok(())
    }

    fn merge_last(&mut self) -> Result<()> {
        let (Some(b), Some(mut merged)) = (self.runs.pop(), self.runs.pop()) else { return Ok(()) };
        let (n, bytes) = (merged.len() + b.len(), |n: usize| (n * size_of::<CodeCount>()) as u64);
        self.held.more(bytes(n))?;
        budget::work(n as u64 * ns::CODE_ROUND)?;
        merged.extend(b);
        // Sorting that is stable finds the two runs, and merges them.
        merged.sort();
        merged.dedup_by(|later, first| add_if_same(first, *later));
        merged.shrink_to_fit();
        self.held.less(bytes(2 * n - merged.len()));
        self.runs.push(merged);
        Ok(())
    }

    /// Brings together what was met; nothing is added any more.
    pub(super) fn finish(&mut self) -> Result<()> {
        if !self.pending.is_empty() {
            self.sort_pending()?;
        }
        while self.runs.len() > 1 {
            self.merge_last()?;
        }
        Ok(())
    }

    /// The codes that were met, ascending, with their counts.
    pub(super) fn iter(&self) -> impl Iterator<Item = CodeCount> {
        // Counted from nought: behind the greatest code there is none.
        let counters = (0..).zip(&self.counters).filter(|(_, count)| **count > 0);
        let listed = self.runs.iter().flatten().copied();
        counters.map(|(nth, count): (u64, _)| (self.least + nth, *count)).chain(listed)
    }

    /// Calls `visit` with each of them, and asks the clock now and then.
    pub(super) fn for_each(&self, mut visit: impl FnMut(CodeCount) -> Result<()>) -> Result<()> {
        for (first, counters) in (0..).step_by(AT_ONCE).zip(self.counters.chunks(AT_ONCE)) {
            budget::work(counters.len() as u64 * ns::COUNTER)?;
            let mut n_met = 0;
            for (nth, &count) in (first..).zip(counters).filter(|(_, count)| **count > 0) {
                n_met += 1;
                visit((self.least + nth, count))?;
            }
            budget::work(n_met * ns::CODE_MET)?;
        }
        for counted in self.runs.iter().flat_map(|run| run.chunks(AT_ONCE)) {
            budget::work(counted.len() as u64 * ns::CODE_MET)?;
            counted.iter().try_for_each(|counted| visit(*counted))?;
        }
        Ok(())
    }
}

impl Sink for Tally {
    const VALUE_NS: u64 = ns::CODE_COUNTED;

    type Key = u64;

    fn key(&self, code: u64) -> Result<u64> {
        Ok(code)
    }

    #[inline]
    fn add(&mut self, code: u64, n_docs: u32) -> Result<()> {
        if self.counters.is_empty() {
            self.pending.push((code, n_docs));
            return self.sort_if_many();
        }
        let counter =
            code.checked_sub(self.least).and_then(|at| self.counters.get_mut(at as usize));
        let counter = counter.ok_or_else(|| outside(code))?;
        // No document has a code twice, if the bytes are what was written.
        *counter = counter.saturating_add(n_docs);
        Ok(())
    }

    fn take_block(&mut self, block: &Block<'_>, of: InBlock<'_>) -> Result<u64> {
        let Some(numbers) = block.one_each().filter(|_| !self.counters.is_empty()) else {
            return take_codes(self, block, of);
        };
        budget::work(Self::VALUE_NS * u64::from(of.n))?;
        let (counters, least, mut n_with, mut wrong) = (&mut self.counters, self.least, 0, None);
        of.places.for_each(|place| {
            let Some(code) = numbers.code(place) else { return };
            n_with += 1;
            match counters.get_mut(code.wrapping_sub(least) as usize) {
                Some(counter) => *counter = counter.saturating_add(1),
                None => wrong = Some(code),
            }
        });
        wrong.map_or(Ok(n_with), |code| Err(outside(code)))
    }
}

/// Counts each number at its place; the last that has none.
#[inline]
pub(super) fn count_at(
    counters: &mut [u32],
    numbers: impl Iterator<Item = u32>,
    place: impl Fn(u32) -> u64,
) -> Option<u32> {
    let mut wrong = None;
    for number in numbers {
        match counters.get_mut(place(number) as usize) {
            Some(counter) => *counter += 1,
            None => wrong = Some(number),
        }
    }
    wrong
}

/// Adds the count of one to another of the same code; whether it is of the same.
fn add_if_same(to: &mut CodeCount, other: CodeCount) -> bool {
    let is_same = to.0 == other.0;
    to.1 = to.1.saturating_add(if is_same { other.1 } else { 0 });
    is_same
}

#[cold]
pub(super) fn outside(code: u64) -> Error {
    Error::corrupt("counting the codes of a column")
        .expected("one between the least and the greatest of the column")
        .found(code.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn codes_are_counted_alike_by_counters_and_by_what_is_written_down() {
        let mut random = 1u64;
        let codes = (0..3 * PENDING_MAX as u64 + 1_000).map(|nth| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Some often, some once, and the first of a run sometimes the last of that before.
            7 + match nth % 3 {
                0 => random >> 60,
                1 => 100_000 - nth / 10,
                _ => (random >> 40) % 150_000,
            }
        });
        let codes: Vec<u64> = codes.collect();
        let mut expected: BTreeMap<u64, u32> = BTreeMap::new();
        codes.iter().for_each(|code| *expected.entry(*code).or_default() += 1);
        for n_codes in [150_007, u64::MAX] {
            let mut tally =
                Tally::new(7, n_codes, TallyStrategy::choose(n_codes, codes.len() as u64)).unwrap();
            assert_eq!(tally.counters.is_empty(), n_codes == u64::MAX);
            codes.iter().for_each(|code| tally.add(*code, 1).unwrap());
            tally.finish().unwrap();
            assert!(tally.iter().eq(expected.iter().map(|(code, count)| (*code, *count))));
            let mut met = vec![];
            let visit = |counted| {
                met.push(counted);
                Ok(())
            };
            tally.for_each(visit).unwrap();
            assert!(tally.iter().eq(met));
        }
        let mut tally = Tally::new(7, 10, TallyStrategy::Counters).unwrap();
        assert!(tally.add(6, 1).is_err() && tally.add(17, 1).is_err() && tally.add(16, 1).is_ok());
    }

    /// A field of natural numbers may have the greatest there is.
    #[test]
    fn counters_may_end_with_the_last_code() {
        let mut tally = Tally::new(u64::MAX - 3, 4, TallyStrategy::Counters).unwrap();
        tally.add(u64::MAX, 2).unwrap();
        tally.finish().unwrap();
        assert!(tally.iter().eq([(u64::MAX, 2)]));
        let mut met = vec![];
        let visit = |counted| {
            met.push(counted);
            Ok(())
        };
        tally.for_each(visit).unwrap();
        assert_eq!(met, [(u64::MAX, 2)]);
    }

    #[test]
    fn what_is_held_is_given_back() {
        let budget = budget::Budget::new().memory_bytes(8 << 20);
        budget.run(|| {
            for _ in 0..10 {
                let mut tally = Tally::new(0, 1 << 20, TallyStrategy::Counters).unwrap();
                tally.add(3, 1).unwrap();
                tally.finish().unwrap();
            }
            assert!(Tally::new(0, 3 << 20, TallyStrategy::Counters).is_err());
            // Two codes, met more often than there would be room for each time.
            let mut tally = Tally::new(0, u64::MAX, TallyStrategy::List).unwrap();
            for nth in 0..4 * PENDING_MAX as u64 {
                tally.add((nth % 2) << 40, 1).unwrap();
            }
            tally.finish().unwrap();
            assert!(
                tally.iter().eq([(0, 2 * PENDING_MAX as u32), (1 << 40, 2 * PENDING_MAX as u32)])
            );
            assert!(budget::left() > 7 << 20);
        });
    }
}
