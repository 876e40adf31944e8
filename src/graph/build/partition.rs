//! Partition of all vectors into leaves, which overlap.
//!
//! Leaders are the vectors of the least hashes, and each vector goes with its nearest: with several at first, so that
//! vectors near each other meet in some leaf whatever border is between them, and with one in the end.

use super::candidates::Signs;
use super::edges::{EdgeBuffer, EdgeSorter};
use super::leaders::{Followers, LEADERS_MAX, leaders};
use super::leaves::{Leaves, Offers};
use super::space::Space;
use super::tuning::Tuning;
use crate::budget::ns;
use crate::error::Result;
use crate::graph::crew::{self, Stop};
use rayon::ThreadPool;
use std::ops::Range;
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
    pub(super) signs: Signs,
    /// Takes the candidates.
    pub(super) candidates: Arc<EdgeSorter>,
    pub(super) tuning: Tuning,
}

impl Partition {
    /// Offers the vectors of each leaf to each other; an order of all vectors that has those of a leaf together, and leaves near
    /// each other, too.
    pub(super) fn run(self, pool: Option<&ThreadPool>) -> Result<Vec<u32>> {
        let this = Arc::new(self);
        let n = this.space.len();
        let all = |part: Range<usize>| part.map(|at| at as u32 | FIRST).collect::<Vec<_>>();
        if n <= this.tuning.leaf {
            return Task::new(&this, &Stop::default()).descend_all(all(0..n), 0);
        }
        let leaders = Arc::new(this.leaders(&all(0..n)));
        let n_leaders = leaders.len();
        let chosen = {
            let (this, leaders) = (Arc::clone(&this), Arc::clone(&leaders));
            crew::map(pool, n.div_ceil(TASK), move |nth, stop| {
                let members = all(nth * TASK..n.min((nth + 1) * TASK));
                Ok(Task::new(&this, stop).assign(&members, &leaders, 0))
            })?
        };
        let orders = {
            let fan = this.fan(0, n_leaders);
            crew::map(pool, n_leaders, move |nth, stop| {
                // Members of one leader at a time: all together are several times as many as there are vectors.
                let chosen = chosen.iter().flatten().enumerate();
                let own = chosen.filter(|(_, leader)| usize::from(**leader) == nth);
                let member = |at: usize| {
                    let is_first = at.is_multiple_of(fan);
                    (at / fan) as u32 | if is_first { FIRST } else { 0 }
                };
                let members: Vec<u32> = own.map(|(at, _)| member(at)).collect();
                let codes = &this.space.codes;
                codes.read_ahead(members.iter().map(|member| member & !FIRST));
                Task::new(&this, stop).descend_all(members, 1)
            })?
        };
        Ok(orders.concat())
    }

    /// Leaders with whom a vector goes at a depth: not with all, which would divide nothing.
    fn fan(&self, depth: usize, n_leaders: usize) -> usize {
        self.tuning.fan.get(depth).copied().unwrap_or(1).min(n_leaders - 1).max(1)
    }

    /// Leaders of some members.
    fn leaders(&self, members: &[u32]) -> Vec<u32> {
        let n = (self.tuning.leaders_of_leaf * members.len()).div_ceil(self.tuning.leaf);
        let n = n.clamp(2, self.tuning.leaders_max.min(LEADERS_MAX));
        leaders((&self.space, &self.hashes), members.iter().map(|member| member & !FIRST), n)
    }
}

/// Members of each leader in the order of leaders, by the `fan` leaders chosen for each member, the nearest first.
fn group<'c>(
    members: &[u32],
    n_leaders: usize,
    chosen: impl Iterator<Item = &'c u8>,
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
    follow: Followers,
    plain: Vec<u32>,
    buffer: EdgeBuffer,
}

impl<'p> Task<'p> {
    fn new(partition: &'p Partition, stop: &'p Stop) -> Self {
        Task {
            partition,
            stop,
            leaves: Leaves::default(),
            follow: Followers::default(),
            plain: vec![],
            buffer: partition.candidates.take(),
        }
    }

    /// Compares all leaves below some members, as [`descend`](Self::descend), and ends the task.
    fn descend_all(mut self, members: Vec<u32>, depth: usize) -> Result<Vec<u32>> {
        let order = self.descend(members, depth);
        self.partition.candidates.give_back(self.buffer);
        order
    }

    /// Compares all leaves below some members; the members that have their place there, in order.
    fn descend(&mut self, members: Vec<u32>, depth: usize) -> Result<Vec<u32>> {
        if self.stop.is_asked(ns::GRAPH_TASK) {
            return Ok(vec![]);
        }
        let tuning = &self.partition.tuning;
        if members.len() <= tuning.leaf {
            self.plain.clear();
            self.plain.extend(members.iter().map(|member| member & !FIRST));
            let k = if depth == 0 { tuning.capacity } else { tuning.nearest };
            let mut offers = Offers {
                signs: &self.partition.signs,
                sorter: &self.partition.candidates,
                buffer: &mut self.buffer,
            };
            self.leaves.compare(&self.partition.space, &self.plain, k, &mut offers)?;
            let first = members.iter().filter(|member| **member & FIRST != 0);
            return Ok(first.map(|member| member & !FIRST).collect());
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
                    order.extend(self.descend(group.to_vec(), depth + 1)?);
                }
            } else {
                order.extend(self.descend(group, depth + 1)?);
            }
        }
        Ok(order)
    }

    /// The nearest leaders of each member, the nearest first.
    fn assign(&mut self, members: &[u32], leaders: &[u32], depth: usize) -> Vec<u8> {
        let fan = self.partition.fan(depth, leaders.len());
        self.plain.clear();
        self.plain.extend(members.iter().map(|member| member & !FIRST));
        self.follow.assign(&self.partition.space, &self.plain, leaders, fan)
    }
}
