//! The most frequent terms found so far, and what may still join them.

use crate::budget;
use crate::error::Result;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// At most `limit` terms with their counts.
#[derive(Debug)]
pub(super) struct Top {
    limit: usize,
    /// The worst on top.
    best: BinaryHeap<Reverse<Counted>>,
}

/// One term with its count; greater is better: the higher count, then the smaller term.
#[derive(Debug, PartialEq, Eq)]
struct Counted {
    count: u64,
    term: Vec<u8>,
}

impl Counted {
    fn compare(&self, count: u64, term: &[u8]) -> Ordering {
        self.count.cmp(&count).then_with(|| term.cmp(&self.term))
    }
}

impl Ord for Counted {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare(other.count, &other.term)
    }
}

impl PartialOrd for Counted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Top {
    pub(super) fn new(limit: usize) -> Self {
        Top { limit, best: BinaryHeap::new() }
    }

    /// The count of the last one, where there are as many as wanted: fewer are not worth counting.
    #[inline]
    pub(super) fn threshold(&self) -> Option<u64> {
        self.best.peek().filter(|_| self.best.len() == self.limit).map(|worst| worst.0.count)
    }

    /// Whether `term` would be among the best so far if its count was `most`. Where it would not,
    /// neither would a greater term with that count, nor the same term with a lower one.
    #[inline]
    pub(super) fn admits(&self, most: u64, term: &[u8]) -> bool {
        match self.best.peek() {
            _ if most == 0 => false,
            Some(Reverse(worst)) if self.best.len() == self.limit => {
                worst.compare(most, term) == Ordering::Less
            }
            _ => self.limit > 0,
        }
    }

    /// Takes a term if it is good enough.
    ///
    /// # Errors
    ///
    /// A limit error where a query may not take more memory.
    pub(super) fn offer(&mut self, count: u64, term: &[u8]) -> Result<()> {
        if !self.admits(count, term) {
            return Ok(());
        }
        if self.best.len() == self.limit
            && let Some(Reverse(worst)) = self.best.pop()
        {
            budget::release(bytes_of(&worst.term));
        }
        budget::hold(bytes_of(term))?;
        self.best.push(Reverse(Counted { count, term: term.to_vec() }));
        Ok(())
    }

    /// Descending by count, then ascending by term.
    pub(super) fn into_sorted(self) -> Vec<(Vec<u8>, u64)> {
        let best = self.best.into_sorted_vec();
        best.into_iter().map(|Reverse(counted)| (counted.term, counted.count)).collect()
    }
}

/// What a term takes here.
fn bytes_of(term: &[u8]) -> u64 {
    (size_of::<Counted>() + term.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_stay_and_ties_go_to_the_smaller_term() {
        let mut top = Top::new(2);
        assert!(top.admits(1, b"z") && !top.admits(0, b"a"));
        for (count, term) in [(3, b"c"), (1, b"a"), (3, b"d"), (3, b"b"), (0, b"0")] {
            top.offer(count, term).unwrap();
        }
        assert_eq!(top.threshold(), Some(3));
        assert!(top.admits(3, b"a") && !top.admits(3, b"c") && !top.admits(2, b"a"));
        assert_eq!(top.into_sorted(), [(b"b".to_vec(), 3), (b"c".to_vec(), 3)]);
        assert!(!Top::new(0).admits(9, b"a"));
    }
}
