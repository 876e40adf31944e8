//! Leaves: few vectors that are near each other, each compared with each.

use super::candidates::{Projections, Signs, direction};
use super::edges::{EdgeBuffer, EdgeSorter, edge};
use super::space::{Space, Strips};
use crate::error::Result;
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
    projections: Vec<Projections>,
}

impl Leaves {
    /// Offers each member its `k` nearest in the leaf, and itself to these.
    pub(super) fn compare(
        &mut self,
        space: &Space,
        members: &[u32],
        k: usize,
        to: &mut Offers<'_>,
    ) -> Result<()> {
        let k = k.min(members.len().saturating_sub(1));
        if k == 0 {
            return Ok(());
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
        to.signs.project(&self.strips, &mut self.projections);
        self.offer(space, members, k, to)
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

    fn offer(&self, space: &Space, members: &[u32], k: usize, to: &mut Offers<'_>) -> Result<()> {
        const DISTANCE: u64 = !0 << 32;
        for (of, nearest) in (0..members.len()).zip(self.nearest.chunks(k)) {
            for key in nearest.iter().filter(|key| **key != u64::MAX) {
                let other = *key as u32 as usize;
                if members[other] == members[of] {
                    continue;
                }
                let mut add = |from: usize, to_member: usize| {
                    let direction =
                        direction(&self.projections[from], &self.projections[to_member]);
                    let key = key & DISTANCE | u64::from(members[to_member]);
                    to.sorter.add(to.buffer, edge(space.codes.rank(members[from]), key, direction))
                };
                add(of, other)?;
                add(other, of)?;
            }
        }
        Ok(())
    }
}

/// Way of candidates out of leaves.
pub(super) struct Offers<'o> {
    pub(super) signs: &'o Signs,
    pub(super) sorter: &'o EdgeSorter,
    pub(super) buffer: &'o mut EdgeBuffer,
}
