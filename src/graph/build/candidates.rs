//! Candidates for the neighbours of each vector.
//!
//! Only the nearest in each direction is kept, and in all a [number](Tuning::capacity) of the nearest. These depend on all that
//! were offered and not on their order: candidates may come from any thread at any time.

use super::space::{Space, Strips};
use super::tuning::Tuning;
use crate::error::Result;
use crate::graph::crew::{self, lock};
use crate::graph::hash::mixed;
use crate::simd::codes::{GROUP_OF_STRIP, pack};
use rayon::ThreadPool;
use std::sync::{Arc, Mutex};

/// Vectors whose candidates one thread at a time may change.
pub(super) const SHARD: usize = 64;
/// Signs of a direction.
const BITS: usize = 12;
/// Vectors that are projected in one task.
const TASK: usize = 4_096;

/// Candidates of all vectors.
#[derive(Debug)]
pub(super) struct Candidates {
    capacity: usize,
    /// Projections of each vector. The signs of their differences are a direction.
    projections: Vec<[f32; BITS]>,
    shards: Vec<Mutex<Shard>>,
}

/// Candidates of neighbouring vectors.
#[derive(Debug, Default)]
struct Shard {
    lens: Vec<u8>,
    /// Distances and candidates as numbers of their order, as many as there is room for of each vector.
    keys: Vec<u64>,
    /// Their directions.
    directions: Vec<u16>,
}

impl Candidates {
    pub(super) fn new(
        space: &Arc<Space>,
        tuning: &Tuning,
        pool: Option<&ThreadPool>,
    ) -> Result<Self> {
        let n = space.len();
        let projected = {
            let (space, signs) = (Arc::clone(space), signs(space.codes.dims()));
            crew::map(pool, n.div_ceil(TASK), move |nth, _| project(&space, &signs, nth * TASK))?
        };
        let shards = (0..n.div_ceil(SHARD)).map(|_| Mutex::default()).collect();
        Ok(Candidates { capacity: tuning.capacity, projections: projected.concat(), shards })
    }

    /// Direction from one vector to another.
    fn direction(&self, from: u32, to: u32) -> u16 {
        let (from, to) = (&self.projections[from as usize], &self.projections[to as usize]);
        let mut direction = 0;
        for bit in 0..BITS {
            direction |= u16::from(to[bit] >= from[bit]) << bit;
        }
        direction
    }

    /// Offers candidates for one vector.
    pub(super) fn offer(&self, of: u32, keys: impl Iterator<Item = u64>) {
        let (capacity, at) = (self.capacity, of as usize % SHARD);
        let mut shard = lock(&self.shards[of as usize / SHARD]);
        let shard = &mut *shard;
        if shard.lens.is_empty() {
            shard.lens = vec![0; SHARD];
            shard.keys = vec![0; SHARD * capacity];
            shard.directions = vec![0; SHARD * capacity];
        }
        let len = &mut shard.lens[at];
        let room = at * capacity..(at + 1) * capacity;
        let (all_keys, directions) = (&mut shard.keys[room.clone()], &mut shard.directions[room]);
        for key in keys {
            let n = usize::from(*len);
            let farthest = || (0..n).max_by_key(|nth| all_keys[*nth]).unwrap_or(0);
            let direction = self.direction(of, key as u32);
            let same = directions[..n].iter().position(|other| *other == direction);
            let place = match same {
                Some(same) => same,
                None if n < capacity => {
                    *len += 1;
                    all_keys[n] = u64::MAX;
                    n
                }
                None => farthest(),
            };
            if key < all_keys[place] {
                all_keys[place] = key;
                directions[place] = direction;
            }
        }
    }

    pub(super) fn n_shards(&self) -> usize {
        self.shards.len()
    }

    /// Takes the candidates of the vectors of a shard out, the nearest of each first.
    pub(super) fn take(&self, shard: usize) -> Vec<Vec<u64>> {
        let mut taken = std::mem::take(&mut *lock(&self.shards[shard]));
        // A vector that nobody was offered for has none.
        taken.lens.resize(SHARD, 0);
        taken.keys.resize(SHARD * self.capacity, 0);
        let keys = taken.keys.chunks(self.capacity).zip(&taken.lens);
        keys.map(|(keys, len)| {
            let mut keys = keys[..usize::from(*len)].to_vec();
            keys.sort_unstable();
            keys
        })
        .collect()
    }
}

/// Vectors of signs by which others are projected.
fn signs(n_numbers: usize) -> Vec<[u8; GROUP_OF_STRIP]> {
    let row = |row: usize| -> Vec<u8> {
        let sign = |nth: usize| match mixed((row * n_numbers + nth) as u64 + 1) & 1 {
            0 => 1,
            _ => (-1i8).cast_unsigned(),
        };
        (0..n_numbers).map(sign).collect()
    };
    let rows: Vec<_> = (0..BITS).map(row).collect();
    pack(rows.iter().map(|row| &row[..]), n_numbers)
}

/// Projections of some vectors from the `first` on.
fn project(space: &Space, signs: &[[u8; GROUP_OF_STRIP]], first: usize) -> Vec<[f32; BITS]> {
    let members: Vec<u32> = (first as u32..space.len().min(first + TASK) as u32).collect();
    let mut strips = Strips::default();
    strips.fill(space, &members);
    let mut all = Vec::with_capacity(members.len());
    for nth in 0..strips.len() {
        let rows = strips.products(nth, signs);
        for (row, scale) in rows.iter().zip(strips.scales(nth)) {
            all.push(std::array::from_fn(|bit| row[bit] as f32 * scale));
        }
    }
    all.truncate(members.len());
    all
}
