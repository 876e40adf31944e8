//! Upper bounds of scores as 16-bit numbers. Bounds of many blocks are added at once.
//!
//! With n clauses, the best possible score M = Σ mᵗ of all of them is 65,535 − 258 n *units*. A clause
//! whose best is m has the weight W = max(256, ⌈m / M × units × 256 / 255⌉), and what its code c adds to a
//! bound is ⌊c × 256 × W / 65,536⌋, which no more than one unit is missing from, and which is not 0 unless
//! c is: so sums never pass 16 bits, and a block without the word shows.
//!
//! A block is left out if the sum of its units is below the [`limit`](ScoreQuantizer::limit): then what it is short
//! of the worst kept score is more than the n units that were rounded away and what `f32` rounds in
//! the sum of a score, for which a factor of 1 − 10⁻⁵ stands. It is *below*, never equal: which of two
//! documents with equal scores is better is not for bounds to say.

pub(super) use crate::plan::BOUNDED_LISTS_MAX as CLAUSES_MAX;

/// Factor just below 1 for the rounding of up to [`CLAUSES_MAX`] products and sums.
const ROUNDING: f64 = 1.0 - 1e-5;

/// Quantizer of scores into units.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoreQuantizer {
    units_per_score: f64,
    units: f64,
    n_clauses: u32,
}

impl ScoreQuantizer {
    /// Tells only whether something is there: every limit is 0.
    pub(super) const PRESENCE: ScoreQuantizer =
        ScoreQuantizer { units_per_score: 0.0, units: 65_535.0, n_clauses: 0 };

    /// From the best that `n_clauses` can score together; `None` where that cannot be computed with.
    pub(super) fn of(most: f64, n_clauses: usize) -> Option<ScoreQuantizer> {
        if n_clauses > CLAUSES_MAX {
            return None;
        }
        let n_clauses = n_clauses as u32;
        let units = 65_535.0 - 258.0 * f64::from(n_clauses);
        let units_per_score = units / most;
        let is_sound = most > 0.0 && most.is_finite() && units_per_score.is_finite();
        is_sound.then_some(ScoreQuantizer { units_per_score, units, n_clauses })
    }

    /// Factor on the codes of a clause.
    pub(super) fn weight(&self, max: f64) -> u16 {
        let weight = (max * self.units_per_score * (256.0 / 255.0)).ceil();
        if weight.is_nan() { 256 } else { weight.clamp(256.0, 65_535.0) as u16 }
    }

    /// Units of a known score part, rounded down as sums of codes are.
    pub(super) fn exact(&self, score: f32) -> u16 {
        let units = f64::from(score) * self.units_per_score;
        if units.is_nan() { 1 } else { units.clamp(1.0, self.units) as u16 }
    }

    /// Units that a known score part does not pass.
    #[inline]
    pub(super) fn bound(&self, score: f32) -> u32 {
        (f64::from(score) * self.units_per_score) as u32 + 1
    }

    /// The score that a unit is worth at least.
    #[inline]
    pub(super) fn score_per_unit(&self) -> f32 {
        ((1.0 - 1e-6) / self.units_per_score) as f32
    }

    /// The sum of units below which no document enters whose score must not be below `score`.
    #[inline]
    pub(super) fn limit(&self, score: f32) -> u32 {
        let limit = (f64::from(score) * self.units_per_score * ROUNDING) as u32;
        limit.saturating_sub(self.n_clauses)
    }
}

/// The smallest code that adds at least `needed` units; 256 where none does.
pub(super) fn code_for(needed: u32, weight: u16) -> u32 {
    // The smallest c with c × 256 × weight ≥ needed × 65,536.
    needed.saturating_mul(256).div_ceil(u32::from(weight)).min(256)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::sums::units;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_score_passes_the_bound_of_its_codes(
            clauses in prop::collection::vec((1e-3f32..50.0, 0.05f32..1.0, 0u32..=255), 1..=CLAUSES_MAX),
            share in 0.0f32..=1.0,
        ) {
            // Score parts just below what a code says, and others.
            let best = |&(weight, max, _): &(f32, f32, u32)| f64::from(weight) * f64::from(max);
            let scale = ScoreQuantizer::of(clauses.iter().map(best).sum(), clauses.len()).unwrap();
            let (mut sum, mut bound) = (0.0f32, 0u32);
            for clause in &clauses {
                let (weight, max, code) = *clause;
                let part = (f64::from(code) * f64::from(max) / 255.0) as f32;
                let part = if share < 0.5 { part } else { part * share };
                sum += weight * part;
                let units = units(code as u8, scale.weight(best(clause)));
                prop_assert!(code == 0 || units > 0);
                bound += u32::from(units);
            }
            prop_assert!(bound <= 65_535);
            prop_assert!(bound >= scale.limit(sum));
        }

        #[test]
        fn the_code_for_some_units_is_the_smallest(needed in 0u32..70_000, weight in 256u16..) {
            let least = (0..=255).find(|code| u32::from(units(*code, weight)) >= needed);
            prop_assert_eq!(code_for(needed, weight), least.map_or(256, u32::from));
        }
    }
}
