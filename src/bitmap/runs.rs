//! Runs of a run container as ranges, with their intersection, union and difference.

use std::{ops::Range, slice};

/// First and last value of a run as written; the last is at most 65,535, whatever the bytes say.
#[inline]
pub(super) fn start_and_last([s0, s1, l0, l1]: [u8; 4]) -> (u32, u32) {
    let (start, more) = (u16::from_le_bytes([s0, s1]), u16::from_le_bytes([l0, l1]));
    (u32::from(start), u32::from(start.saturating_add(more)))
}

/// The bytes of the run that holds a non-empty range of values.
#[inline]
pub(super) fn run_bytes(run: Range<u32>) -> [u8; 4] {
    let ([s0, s1], [l0, l1]) =
        ((run.start as u16).to_le_bytes(), ((run.end - 1 - run.start) as u16).to_le_bytes());
    [s0, s1, l0, l1]
}

/// The runs of a run container as ranges: never empty, ascending and disjoint, because each is cut
/// to what lies behind the one before. So no reader of runs sees a value twice, whatever the bytes.
#[derive(Clone, Debug)]
pub(super) struct Runs<'a> {
    runs: slice::Iter<'a, [u8; 4]>,
    floor: u32,
}

impl<'a> Runs<'a> {
    pub(super) fn new(runs: &'a [[u8; 4]]) -> Self {
        Self::from(runs, 0)
    }

    /// Leaves out what lies before `value`.
    pub(super) fn from(runs: &'a [[u8; 4]], value: u16) -> Self {
        Runs { runs: runs.iter(), floor: u32::from(value) }
    }
}

impl Iterator for Runs<'_> {
    type Item = Range<u32>;

    #[inline]
    fn next(&mut self) -> Option<Range<u32>> {
        for &run in self.runs.by_ref() {
            let (start, last) = start_and_last(run);
            if last >= self.floor {
                let range = start.max(self.floor)..last + 1;
                self.floor = range.end;
                return Some(range);
            }
        }
        None
    }
}

/// The ranges that lie in runs of both.
pub(super) fn common_runs<'a>(
    a: &'a [[u8; 4]],
    b: &'a [[u8; 4]],
) -> impl Iterator<Item = Range<u32>> + 'a {
    let (mut a, mut b) = (Runs::new(a), Runs::new(b));
    let (mut x, mut y) = (a.next(), b.next());
    std::iter::from_fn(move || {
        loop {
            let (in_a, in_b) = (x.clone()?, y.clone()?);
            let common = in_a.start.max(in_b.start)..in_a.end.min(in_b.end);
            if in_a.end <= in_b.end {
                x = a.next();
            }
            if in_b.end <= in_a.end {
                y = b.next();
            }
            if !common.is_empty() {
                return Some(common);
            }
        }
    })
}

/// The ranges that lie in runs of either, ascending and disjoint; some may touch.
pub(super) fn joined_runs<'a>(
    a: &'a [[u8; 4]],
    b: &'a [[u8; 4]],
) -> impl Iterator<Item = Range<u32>> + 'a {
    let (mut a, mut b) = (Runs::new(a).peekable(), Runs::new(b).peekable());
    let mut floor = 0;
    std::iter::from_fn(move || {
        loop {
            let from_a = match (a.peek(), b.peek()) {
                (Some(in_a), Some(in_b)) => in_a.start <= in_b.start,
                (in_a, _) => in_a.is_some(),
            };
            let run = if from_a { a.next() } else { b.next() }?;
            let rest = run.start.max(floor)..run.end;
            if !rest.is_empty() {
                floor = rest.end;
                return Some(rest);
            }
        }
    })
}

/// The ranges that lie in runs of `a` and in none of `b`.
pub(super) fn runs_without<'a>(
    a: &'a [[u8; 4]],
    b: &'a [[u8; 4]],
) -> impl Iterator<Item = Range<u32>> + 'a {
    let (mut a, mut b) = (Runs::new(a), Runs::new(b).peekable());
    let mut rest = 0..0;
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                rest = a.next()?;
            }
            while b.next_if(|gone| gone.end <= rest.start).is_some() {}
            let gone = match b.peek() {
                Some(gone) if gone.start < rest.end => gone.clone(),
                _ => return Some(std::mem::replace(&mut rest, 0..0)),
            };
            let before = rest.start..gone.start;
            rest.start = gone.end.min(rest.end);
            if !before.is_empty() {
                return Some(before);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::container::Container;
    use super::super::words::FULL;
    use crate::test_sizes::unless_miri;

    #[test]
    fn runs_that_overlap_or_leave_the_range_yield_each_value_once() {
        let first = unless_miri(0, 65_000);
        let lies =
            [[10_u16, 20], [5, 10], [15, 100], [65_000, 65_535], [65_000, 65_535], [first, 65_535]]
                .map(|[start, more]| {
                    [start.to_le_bytes(), more.to_le_bytes()].concat().try_into().unwrap()
                });
        let container = Container::Run(&lies);
        let values: Vec<u16> = container.iter().collect();
        assert!(values.is_sorted_by(|a, b| a < b));
        assert_eq!(values.len(), container.cardinality() as usize);
        assert!(container.rank(u16::MAX) <= FULL);
        let [low, high] = first.to_le_bytes();
        let full_often = vec![[low, high, 0xFF, 0xFF]; unless_miri(65_535, 300)];
        let full = FULL - u32::from(first);
        assert_eq!(Container::Run(&full_often).cardinality(), full);
        assert_eq!(Container::Run(&full_often).iter().count(), full as usize);
    }
}
