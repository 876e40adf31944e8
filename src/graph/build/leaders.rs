//! Leaders of vectors, of which each vector follows the nearest.

use super::space::{Space, Strips};
use crate::graph::walk::{distance_of, key_of};
use crate::simd::codes::{STRIP, at_most};

/// Most leaders among which one is chosen: their numbers have a byte.
pub(super) const LEADERS_MAX: usize = 1 << u8::BITS;

/// Leaders out of some vectors, so many or all: those of the least hashes, each the nearest to the one before that is left.
pub(super) fn leaders(
    (space, hashes): (&Space, &[u64]),
    vectors: impl Iterator<Item = u32>,
    n: usize,
) -> Vec<u32> {
    let key = |at: &u32| (hashes[*at as usize], *at);
    let mut all: Vec<u32> = vectors.collect();
    let n = n.min(all.len());
    if n < all.len() {
        all.select_nth_unstable_by_key(n, key);
        all.truncate(n);
    }
    all.sort_unstable_by_key(key);
    for at in 1..n {
        let last = all[at - 1];
        let nearest =
            (at..n).min_by_key(|other| key_of(space.distance(last, all[*other]), all[*other]));
        all.swap(at, nearest.unwrap_or(at));
    }
    all
}

/// Memory for vectors that are compared with leaders.
#[derive(Debug, Default)]
pub(super) struct Followers {
    members: Strips,
    leaders: Strips,
}

impl Followers {
    /// The `fan` nearest leaders of each member, the nearest first.
    pub(super) fn assign(
        &mut self,
        space: &Space,
        members: &[u32],
        leaders: &[u32],
        fan: usize,
    ) -> Vec<u8> {
        self.leaders.fill(space, leaders);
        let mut chosen = Vec::with_capacity(members.len() * fan);
        let mut distances = [[0.0; STRIP]; STRIP];
        let mut nearest = vec![u64::MAX; STRIP * fan];
        for block in members.chunks(STRIP) {
            self.members.fill(space, block);
            nearest.fill(u64::MAX);
            let mut bounds = [f32::MAX; STRIP];
            for strip in 0..self.leaders.len() {
                self.members.distances(0, &self.leaders, strip, &mut distances);
                for (nth, distances) in distances.iter().enumerate().take(block.len()) {
                    let mut near = at_most(distances, &[bounds[nth]; STRIP]);
                    let nearest = &mut nearest[nth * fan..][..fan];
                    while near != 0 {
                        let mth = near.trailing_zeros() as usize;
                        near &= near - 1;
                        let key = key_of(distances[mth], (strip * STRIP + mth) as u32);
                        if key < nearest[fan - 1] {
                            let at = nearest.partition_point(|kept| *kept < key);
                            nearest.copy_within(at..fan - 1, at + 1);
                            nearest[at] = key;
                            if nearest[fan - 1] != u64::MAX {
                                bounds[nth] = distance_of(nearest[fan - 1]);
                            }
                        }
                    }
                }
            }
            // Numbers that are none are near to nobody, and go with the last.
            let last = leaders.len().saturating_sub(1) as u8;
            chosen.extend(
                nearest[..block.len() * fan]
                    .iter()
                    .map(|key| last.min((*key as u32).min(u8::MAX.into()) as u8)),
            );
        }
        chosen
    }
}
