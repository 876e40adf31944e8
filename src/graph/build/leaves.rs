//! Leaves: few vectors that are near each other, each compared with each.

use super::candidates::Candidates;
use super::space::{Space, Strips};
use crate::graph::walk::key_of;
use crate::simd::codes::{STRIP, at_most};

/// Memory of leaves, which one after the other uses.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    strips: Strips,
    /// The nearest of each member so far: distance and place in the leaf.
    nearest: Vec<u64>,
    /// Distance of the last of them.
    bounds: Vec<[f32; STRIP]>,
    /// Candidates by member: each pair in both directions.
    pairs: Vec<(u32, u64)>,
}

impl Leaves {
    /// Offers each member its `k` nearest in the leaf, and itself to these.
    pub(super) fn compare(
        &mut self,
        space: &Space,
        members: &[u32],
        k: usize,
        candidates: &Candidates,
    ) {
        let k = k.min(members.len().saturating_sub(1));
        if k == 0 {
            return;
        }
        self.strips.fill(space, members);
        let n = self.strips.len();
        self.nearest.clear();
        self.nearest.resize(n * STRIP * k, u64::MAX);
        self.bounds.clear();
        self.bounds.resize(n, [f32::MAX; STRIP]);
        let mut distances = [[0.0; STRIP]; STRIP];
        for row in 0..n {
            for column in row..n {
                self.strips.distances(row, &self.strips, column, &mut distances);
                self.keep(row, column, &distances, k);
            }
        }
        self.offer(members, k, candidates);
    }

    /// Keeps what is near of the distances of two strips.
    fn keep(&mut self, row: usize, column: usize, distances: &[[f32; STRIP]; STRIP], k: usize) {
        for (nth, distances) in distances.iter().enumerate() {
            let of = row * STRIP + nth;
            let mut near = at_most(distances, &[self.bounds[row][nth]; STRIP]);
            if row == column {
                near &= !(1 << nth);
            }
            while near != 0 {
                let mth = near.trailing_zeros() as usize;
                near &= near - 1;
                self.insert(of, column * STRIP + mth, distances[mth], k);
            }
            if row == column {
                continue;
            }
            let mut near = at_most(distances, &self.bounds[column]);
            while near != 0 {
                let mth = near.trailing_zeros() as usize;
                near &= near - 1;
                self.insert(column * STRIP + mth, of, distances[mth], k);
            }
        }
    }

    fn insert(&mut self, of: usize, other: usize, distance: f32, k: usize) {
        let nearest = &mut self.nearest[of * k..][..k];
        let key = key_of(distance, other as u32);
        if nearest[k - 1] <= key {
            return;
        }
        let at = nearest.partition_point(|kept| *kept < key);
        nearest.copy_within(at..k - 1, at + 1);
        nearest[at] = key;
        if nearest[k - 1] != u64::MAX {
            self.bounds[of / STRIP][of % STRIP] = super::super::walk::distance_of(nearest[k - 1]);
        }
    }

    fn offer(&mut self, members: &[u32], k: usize, candidates: &Candidates) {
        const DISTANCE: u64 = !0 << 32;
        self.pairs.clear();
        for (of, nearest) in (0..members.len()).zip(self.nearest.chunks(k)) {
            for key in nearest.iter().filter(|key| **key != u64::MAX) {
                let other = *key as u32;
                if members[other as usize] == members[of] {
                    continue;
                }
                self.pairs.push((of as u32, key & DISTANCE | u64::from(members[other as usize])));
                self.pairs.push((other, key & DISTANCE | u64::from(members[of])));
            }
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        for pairs in self.pairs.chunk_by(|a, b| a.0 == b.0) {
            candidates.offer(members[pairs[0].0 as usize], pairs.iter().map(|(_, key)| *key));
        }
    }
}
