//! The nearest so far.

use super::neighbor::Neighbor;
use crate::budget;
use crate::error::Result;
use crate::query::Neighbors;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Room that is made before anything is found.
const ROOM_MAX: usize = 1_024;

/// Neighbours that are kept.
#[derive(Debug)]
pub(super) enum Best {
    /// At most so many, the farthest on top.
    Nearest(usize, BinaryHeap<Kept>),
    /// All that are near enough.
    Within(f32, Vec<Kept>),
}

/// A neighbour in its segment. The greatest is the farthest; of those as far, the last in the index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kept {
    segment: usize,
    neighbor: Neighbor,
}

/// The greatest of some similarities.
#[derive(Debug)]
pub(super) struct NearestSoFar {
    k: usize,
    /// Numbers of their order, the least on top.
    greatest: BinaryHeap<Reverse<i32>>,
}

impl NearestSoFar {
    /// Keeps as many as `k`.
    pub(super) fn new(k: usize) -> Self {
        NearestSoFar { k, greatest: BinaryHeap::with_capacity(k.min(ROOM_MAX)) }
    }

    pub(super) fn offer(&mut self, similarity: f32) {
        let ordered = Reverse(ordered(similarity.to_bits().cast_signed()));
        if self.greatest.len() < self.k {
            self.greatest.push(ordered);
        } else if let Some(mut least) = self.greatest.peek_mut()
            && ordered < *least
        {
            *least = ordered;
        }
    }

    /// The least of them, if they are as many as are kept.
    pub(super) fn least(&self) -> Option<f32> {
        let Reverse(least) = self.greatest.peek().filter(|_| self.greatest.len() == self.k)?;
        Some(f32::from_bits(ordered(*least).cast_unsigned()))
    }
}

/// Bits of a number as a whole number that has its order, and the other way round.
fn ordered(bits: i32) -> i32 {
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

impl Eq for Kept {}

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.neighbor, &other.neighbor);
        b.similarity
            .total_cmp(&a.similarity)
            .then_with(|| (self.segment, a.doc).cmp(&(other.segment, b.doc)))
    }
}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Best {
    pub(super) fn of(wanted: Neighbors) -> Self {
        match wanted {
            Neighbors::Nearest(k, _) => {
                let k = k as usize;
                Best::Nearest(k, BinaryHeap::with_capacity(k.min(ROOM_MAX)))
            }
            Neighbors::Within(similarity) => Best::Within(similarity, vec![]),
        }
    }

    /// Number of neighbours that are wanted, if it is known.
    pub(super) fn n_wanted(&self) -> Option<usize> {
        match self {
            Best::Nearest(k, _) => Some(*k),
            Best::Within(..) => None,
        }
    }

    /// The least similarity of as many as are wanted: whatever has less is none of them.
    pub(super) fn least(&self) -> Option<f32> {
        match self {
            Best::Nearest(k, heap) if heap.len() == *k => {
                heap.peek().map(|farthest| farthest.neighbor.similarity)
            }
            _ => None,
        }
    }

    /// Keeps a neighbour of a segment, if it is near enough.
    pub(super) fn offer(&mut self, segment: usize, neighbor: Neighbor) -> Result<()> {
        let kept = Kept { segment, neighbor };
        match self {
            Best::Nearest(k, heap) if heap.len() < *k => {
                budget::hold(size_of::<Kept>() as u64)?;
                heap.push(kept);
            }
            Best::Nearest(_, heap) => {
                if let Some(mut farthest) = heap.peek_mut()
                    && kept < *farthest
                {
                    *farthest = kept;
                }
            }
            Best::Within(similarity, all) if neighbor.similarity >= *similarity => {
                budget::hold(size_of::<Kept>() as u64)?;
                all.push(kept);
            }
            Best::Within(..) => {}
        }
        Ok(())
    }

    /// Neighbours of each of so many segments, ascending by document.
    pub(super) fn by_segment(self, n_segments: usize) -> Vec<Vec<Neighbor>> {
        let all = match self {
            Best::Nearest(_, heap) => heap.into_vec(),
            Best::Within(_, all) => all,
        };
        let mut segments = vec![vec![]; n_segments];
        for Kept { segment, neighbor } in all {
            segments[segment].push(neighbor);
        }
        segments.iter_mut().for_each(|found| found.sort_unstable_by_key(|it| it.doc));
        segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_least_of_the_greatest_is_known_once_there_are_enough(
            similarities in prop::collection::vec(-2f32..2.0, 0..40), k in 1usize..12,
        ) {
            let (mut nearest, mut naive) = (NearestSoFar::new(k), vec![]);
            for similarity in similarities {
                nearest.offer(similarity);
                naive.push(similarity);
                naive.sort_by(|a, b| b.total_cmp(a));
                prop_assert_eq!(nearest.least(), naive.get(k - 1).copied());
            }
        }
    }
}
