//! The first terms found so far, and what may still join them.

use crate::budget;
use crate::compared::ordered;
use crate::error::Result;
use crate::plan::{FacetOrder, ValuesWanted};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// At most `limit` terms with their counts.
#[derive(Debug)]
pub(super) struct Top {
    limit: usize,
    order: FacetOrder,
    /// Minimum of a count; one at least.
    minimum: u64,
    /// The worst on top.
    best: BinaryHeap<Reverse<CountedTerm>>,
}

/// One term with its count; greater is better, and comes before others in their order.
#[derive(Debug)]
struct CountedTerm {
    order: FacetOrder,
    count: u64,
    term: Vec<u8>,
}

impl CountedTerm {
    fn compare(&self, other: &Self) -> Ordering {
        self.compare_with(other.count, &other.term)
    }

    fn compare_with(&self, count: u64, term: &[u8]) -> Ordering {
        match self.order {
            FacetOrder::Count => self.count.cmp(&count).then_with(|| term.cmp(&self.term)),
            FacetOrder::Value => term.cmp(&self.term),
            FacetOrder::ValueDescending => self.term[..].cmp(term),
        }
    }
}

ordered! {
    CountedTerm;
}

impl Top {
    pub(super) fn new(values: &ValuesWanted) -> Self {
        let ValuesWanted { limit, order, minimum, .. } = *values;
        Top { limit, order, minimum: minimum.max(1), best: BinaryHeap::new() }
    }

    #[inline]
    pub(super) fn least(&self) -> u64 {
        match self.best.peek() {
            Some(worst) if self.order == FacetOrder::Count && self.best.len() == self.limit => {
                worst.0.count.max(self.minimum)
            }
            _ => self.minimum,
        }
    }

    /// Whether a term that some document has may be refused.
    #[inline]
    pub(super) fn is_choosy(&self) -> bool {
        self.minimum > 1 || self.best.len() == self.limit
    }

    /// Whether `term` would be among the best so far if its count was `most`. Otherwise, neither would one with that
    /// count that comes later in the dictionary, or earlier if terms descend, nor the same term with a lower one.
    #[inline]
    pub(super) fn admits(&self, most: u64, term: &[u8]) -> bool {
        match self.best.peek() {
            _ if most < self.minimum => false,
            Some(Reverse(worst)) if self.best.len() == self.limit => {
                worst.compare_with(most, term) == Ordering::Less
            }
            _ => self.limit > 0,
        }
    }

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
        self.best.push(Reverse(CountedTerm { order: self.order, count, term: term.to_vec() }));
        Ok(())
    }

    pub(super) fn into_sorted(self) -> Vec<(Vec<u8>, u64)> {
        let best = self.best.into_sorted_vec();
        best.into_iter().map(|Reverse(counted)| (counted.term, counted.count)).collect()
    }
}

fn bytes_of(term: &[u8]) -> u64 {
    (size_of::<CountedTerm>() + term.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn top(limit: usize, order: FacetOrder, minimum: u64) -> Top {
        Top::new(&ValuesWanted { limit, order, minimum, filter: None })
    }

    const COUNTED: [(u64, &[u8]); 5] = [(3, b"c"), (1, b"a"), (3, b"d"), (3, b"b"), (0, b"0")];

    #[test]
    fn the_best_stay_and_ties_go_to_the_smaller_term() {
        let mut best = top(2, FacetOrder::Count, 0);
        assert!(best.admits(1, b"z") && !best.admits(0, b"a"));
        assert_eq!(best.least(), 1);
        for (count, term) in COUNTED {
            best.offer(count, term).unwrap();
        }
        assert_eq!(best.least(), 3);
        assert!(best.admits(3, b"a") && !best.admits(3, b"c") && !best.admits(2, b"a"));
        assert_eq!(best.into_sorted(), [(b"b".to_vec(), 3), (b"c".to_vec(), 3)]);
        assert!(!top(0, FacetOrder::Count, 0).admits(9, b"a"));
    }

    #[test]
    fn by_value_counts_decide_only_whether_a_term_may_come() {
        let first = |order, minimum| {
            let mut first = top(2, order, minimum);
            COUNTED.iter().for_each(|(count, term)| first.offer(*count, term).unwrap());
            assert_eq!(first.least(), minimum);
            let terms = first.into_sorted().into_iter().map(|(term, _)| term);
            String::from_utf8(terms.flatten().collect()).unwrap()
        };
        assert_eq!(first(FacetOrder::Value, 1), "ab");
        assert_eq!(first(FacetOrder::Value, 3), "bc");
        assert_eq!(first(FacetOrder::ValueDescending, 1), "dc");
        assert_eq!(first(FacetOrder::Count, 4), "");
        let mut first = top(1, FacetOrder::Value, 1);
        first.offer(1, b"b").unwrap();
        assert!(first.admits(1, b"a") && !first.admits(9, b"c"));
    }
}
