//! Candidates for the neighbours of each vector.
//!
//! Only the nearest in each direction is kept, and in all a [number](super::Tuning::capacity) of the nearest. These depend on all
//! that were offered and not on their order: candidates may come from any thread at any time, and be left out in any groups.

use super::space::Strips;
use crate::graph::hash::mixed;
use crate::simd::codes::{GROUP_OF_STRIP, pack};

/// Signs of a direction.
const BITS: usize = 12;

/// Projections of a vector. The signs of the differences from another are a direction.
pub(super) type Projections = [f32; BITS];

/// Direction from one vector to another.
#[inline]
pub(super) fn direction(from: &Projections, to: &Projections) -> u16 {
    let mut direction = 0;
    for bit in 0..BITS {
        direction |= u16::from(to[bit] >= from[bit]) << bit;
    }
    direction
}

/// Vectors of signs by which others are projected.
#[derive(Debug)]
pub(super) struct Signs(Vec<[u8; GROUP_OF_STRIP]>);

impl Signs {
    pub(super) fn new(n_numbers: usize) -> Self {
        let row = |row: usize| -> Vec<u8> {
            let sign = |nth: usize| match mixed((row * n_numbers + nth) as u64 + 1) & 1 {
                0 => 1,
                _ => (-1i8).cast_unsigned(),
            };
            (0..n_numbers).map(sign).collect()
        };
        let rows: Vec<_> = (0..BITS).map(row).collect();
        Signs(pack(rows.iter().map(|row| &row[..]), n_numbers))
    }

    /// Replaces `projections` by those of vectors side by side, with some behind them that are none.
    pub(super) fn project(&self, strips: &Strips, projections: &mut Vec<Projections>) {
        projections.clear();
        for nth in 0..strips.len() {
            let rows = strips.products(nth, &self.0);
            for (row, scale) in rows.iter().zip(strips.scales(nth)) {
                projections.push(std::array::from_fn(|bit| row[bit] as f32 * scale));
            }
        }
    }
}

/// Directions that were seen.
#[derive(Debug)]
pub(super) struct Directions([u64; 1 << (BITS - 6)]);

impl Default for Directions {
    fn default() -> Self {
        Directions([0; 1 << (BITS - 6)])
    }
}

impl Directions {
    /// Whether a direction was not seen before.
    #[inline]
    pub(super) fn is_first(&mut self, direction: u16) -> bool {
        let (word, bit) = (usize::from(direction >> 6) % self.0.len(), 1 << (direction & 63));
        let is_first = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_first
    }

    /// Forgets these, which must be all.
    pub(super) fn forget(&mut self, directions: impl Iterator<Item = u16>) {
        directions
            .for_each(|direction| self.0[usize::from(direction >> 6) % (1 << (BITS - 6))] = 0);
    }
}
