//! The nearest so far.

use super::neighbor::Neighbor;
use crate::budget;
use crate::error::Result;
use crate::query::Neighbors;
use std::cmp::Ordering;
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
