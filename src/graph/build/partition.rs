//! Partition of all vectors into leaves, which overlap.
//!
//! Leaders are the vectors of the least hashes, and each vector goes with its nearest: with several at first, so that
//! vectors near each other meet in some leaf whatever border is between them, and with one in the end.

use super::candidates::Candidates;
use super::leaves::Leaves;
use super::space::{Space, Strips};
use super::tuning::Tuning;
use crate::budget::ns;
use crate::error::Result;
use crate::graph::crew::{self, Stop};
use crate::graph::walk::key_of;
use crate::simd::codes::{STRIP, at_most};
use rayon::ThreadPool;
use std::sync::Arc;

/// Bit of a member that only ever went with its nearest leader: it is so in one leaf, where it has its place in the order.
const FIRST: u32 = 1 << 31;
/// Most vectors: their numbers leave the bit free.
pub(super) const VECTORS_MAX: usize = FIRST as usize;
/// Depth at which vectors are divided as they stand: the leaders of so many did not tell them apart.
const DEPTH_MAX: usize = 24;
/// Vectors that are compared with leaders in one task.
const TASK: usize = 4_096;

/// A partition, as its tasks share it.
#[derive(Debug)]
pub(super) struct Partition {
    pub(super) space: Arc<Space>,
    pub(super) hashes: Arc<Vec<u64>>,
    pub(super) candidates: Arc<Candidates>,
    pub(super) tuning: Tuning,
}

impl Partition {
    /// Offers the vectors of each leaf to each other; an order of all vectors that has those of a leaf together, and leaves near
    /// each other, too.
    pub(super) fn run(self, pool: Option<&ThreadPool>) -> Result<Vec<u32>> {
        let this = Arc::new(self);
        let all: Vec<u32> = (0..this.space.len() as u32).map(|at| at | FIRST).collect();
        if all.len() <= this.tuning.leaf {
            return Ok(Task::new(&this, &Stop::default()).descend(all, 0));
        }
        let leaders = Arc::new(this.leaders(&all));
        let all = Arc::new(all);
        let chosen = {
            let (this, all, leaders) = (Arc::clone(&this), Arc::clone(&all), Arc::clone(&leaders));
            crew::map(pool, all.len().div_ceil(TASK), move |nth, stop| {
                let end = all.len().min((nth + 1) * TASK);
                Task::new(&this, stop).assign(&all[nth * TASK..end], &leaders, 0)
            })?
        };
        let groups =
            group(&all, leaders.len(), chosen.iter().flatten(), this.fan(0, leaders.len()));
        drop((chosen, all));
        let groups = Arc::new(groups);
        let orders = {
            let this = Arc::clone(&this);
            crew::map(pool, groups.len(), move |nth, stop| {
                Task::new(&this, stop).descend(groups[nth].clone(), 1)
            })?
        };
        Ok(orders.concat())
    }

    /// Leaders with whom a vector goes at a depth: not with all, which would divide nothing.
    fn fan(&self, depth: usize, n_leaders: usize) -> usize {
        self.tuning.fan.get(depth).copied().unwrap_or(1).min(n_leaders - 1).max(1)
    }

    /// Leaders of some members: each the nearest to the one before that is left.
    fn leaders(&self, members: &[u32]) -> Vec<u32> {
        let n = (self.tuning.leaders_of_leaf * members.len()).div_ceil(self.tuning.leaf);
        let n = n.clamp(2, self.tuning.leaders_max).min(members.len());
        let key = |at: &u32| (self.hashes[*at as usize], *at);
        let mut all: Vec<u32> = members.iter().map(|member| member & !FIRST).collect();
        if n < all.len() {
            all.select_nth_unstable_by_key(n, key);
            all.truncate(n);
        }
        all.sort_unstable_by_key(key);
        for at in 1..n {
            let last = all[at - 1];
            let nearest = (at..n)
                .min_by_key(|other| key_of(self.space.distance(last, all[*other]), all[*other]));
            all.swap(at, nearest.unwrap_or(at));
        }
        all
    }
}

/// Members of each leader in the order of leaders, by the `fan` leaders chosen for each member, the nearest first.
fn group<'c>(
    members: &[u32],
    n_leaders: usize,
    chosen: impl Iterator<Item = &'c u16>,
    fan: usize,
) -> Vec<Vec<u32>> {
    let mut groups = vec![vec![]; n_leaders];
    for (nth, leader) in chosen.enumerate() {
        let member = members[nth / fan];
        let is_first = nth % fan == 0;
        groups[usize::from(*leader)].push(if is_first { member } else { member & !FIRST });
    }
    groups
}

/// A part of a partition, with its memory.
struct Task<'p> {
    partition: &'p Partition,
    stop: &'p Stop,
    leaves: Leaves,
    members: Strips,
    leaders: Strips,
    plain: Vec<u32>,
}

impl<'p> Task<'p> {
    fn new(partition: &'p Partition, stop: &'p Stop) -> Self {
        Task {
            partition,
            stop,
            leaves: Leaves::default(),
            members: Strips::default(),
            leaders: Strips::default(),
            plain: vec![],
        }
    }

    /// Compares all leaves below some members; the members that have their place there, in order.
    fn descend(&mut self, members: Vec<u32>, depth: usize) -> Vec<u32> {
        if self.stop.is_asked(ns::GRAPH_TASK) {
            return vec![];
        }
        let tuning = &self.partition.tuning;
        if members.len() <= tuning.leaf {
            self.plain.clear();
            self.plain.extend(members.iter().map(|member| member & !FIRST));
            let k = if depth == 0 { tuning.capacity } else { tuning.nearest };
            self.leaves.compare(&self.partition.space, &self.plain, k, &self.partition.candidates);
            return members
                .iter()
                .filter(|member| **member & FIRST != 0)
                .map(|member| member & !FIRST)
                .collect();
        }
        let leaders = self.partition.leaders(&members);
        let chosen = self.assign(&members, &leaders, depth);
        let n = members.len();
        let groups =
            group(&members, leaders.len(), chosen.iter(), self.partition.fan(depth, leaders.len()));
        drop((members, chosen));
        let mut order = vec![];
        for group in groups {
            if group.len() == n || depth == DEPTH_MAX {
                // All alike: no leaders tell them apart.
                for group in group.chunks(self.partition.tuning.leaf) {
                    order.extend(self.descend(group.to_vec(), depth + 1));
                }
            } else {
                order.extend(self.descend(group, depth + 1));
            }
        }
        order
    }

    /// The nearest leaders of each member, the nearest first.
    fn assign(&mut self, members: &[u32], leaders: &[u32], depth: usize) -> Vec<u16> {
        let space = &self.partition.space;
        let fan = self.partition.fan(depth, leaders.len());
        self.plain.clear();
        self.plain.extend(members.iter().map(|member| member & !FIRST));
        self.leaders.fill(space, leaders);
        let mut chosen = Vec::with_capacity(members.len() * fan);
        let mut distances = [[0.0; STRIP]; STRIP];
        let mut nearest = vec![u64::MAX; STRIP * fan];
        for block in self.plain.chunks(STRIP) {
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
                                bounds[nth] = crate::graph::walk::distance_of(nearest[fan - 1]);
                            }
                        }
                    }
                }
            }
            // Numbers that are none are near to nobody, and go with the last.
            let last = leaders.len().saturating_sub(1) as u16;
            chosen.extend(nearest[..block.len() * fan].iter().map(|key| last.min(*key as u16)));
        }
        chosen
    }
}
