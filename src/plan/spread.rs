//! Strategies for the spread of a field's values. They count the distinct ones, and find the values at some ranks.

use super::adaptive::MatchBounds;
use super::cost::{FacetSizes, TallyStrategy};
use super::{Adaptive, CostModel, SegmentPlan};
use crate::budget;
use crate::error::Result;
use crate::ids::FieldId;

/// Part of the memory that is left which counting each value may take.
const TALLY_SHARE: u64 = 4;
/// Bytes of a value that is written down.
const LISTED_BYTES: u64 = 32;
/// Codes that each have a counter rather than a part of their range: then counters stay near the processor.
const COUNTERS_NEAR: u64 = 1 << 16;

/// Way to tell values apart and put them in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpreadStrategy {
    /// Sums of document frequencies say it, where all documents match.
    Frequencies,
    /// Values are counted by parts of their range, and in the parts that ranks are in once more.
    Rounds,
    Tally,
    /// Values go into sketches, which take little memory and are not exact.
    Sketch,
}

impl SpreadStrategy {
    pub(crate) fn name(self) -> &'static str {
        match self {
            SpreadStrategy::Frequencies => "sums of document frequencies",
            SpreadStrategy::Rounds => "counts of parts of the range, in rounds",
            SpreadStrategy::Tally => "a count of each value",
            SpreadStrategy::Sketch => "sketches",
        }
    }

    /// The strategy in place of one for which there was too little memory.
    pub(crate) fn with_less_memory(self) -> Option<Self> {
        match self {
            SpreadStrategy::Frequencies | SpreadStrategy::Rounds => Some(SpreadStrategy::Tally),
            SpreadStrategy::Tally => Some(SpreadStrategy::Sketch),
            SpreadStrategy::Sketch => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum SpreadOf {
    Values {
        distinct: bool,
        n_ranks: usize,
    },
    /// Beginnings of parts of as many values.
    EqualParts,
}

/// Ways to tell the values of one field apart.
#[derive(Clone, Debug)]
pub(crate) struct SpreadPlan {
    pub(crate) strategies: Adaptive<SpreadStrategy>,
    pub(crate) tally: Adaptive<TallyStrategy>,
    /// For as many documents as are expected: the strategy, its cost, and that of counting each value.
    pub(crate) chosen: (SpreadStrategy, f32, f32),
}

struct Facts {
    of: SpreadOf,
    is_tallied: bool,
    sizes: FacetSizes,
    /// Codes that may come: any, where some segment has no column.
    n_codes: u64,
    has_others: bool,
    /// Whether all dictionaries keep sums of frequencies.
    has_sums: bool,
    memory: u64,
}

impl SpreadPlan {
    pub(super) fn new(
        segments: &[SegmentPlan<'_>],
        field: FieldId,
        (of, is_tallied): (SpreadOf, bool),
        matches: &MatchBounds,
        costs: &CostModel,
    ) -> Result<Self> {
        let MatchBounds { lower, expected, upper, live, deleted } = *matches;
        let sizes = FacetSizes::of(segments, field, None)?;
        let has_others = sizes.n_docs_in_column < u64::from(sizes.n_docs);
        let n_codes = if has_others { u64::MAX } else { sizes.column_codes.unwrap_or(0) };
        let mut has_sums = deleted == 0 && upper >= live;
        for reader in segments.iter().map(|part| part.segment.field(field)) {
            has_sums = has_sums && reader.cumulative(reader.terms()?.n_blocks())?.is_some();
        }
        let memory = budget::left() / TALLY_SHARE;
        let facts = Facts { of, is_tallied, sizes, n_codes, has_others, has_sums, memory };
        let choose = |n_matches| facts.choose(n_matches, false, costs);
        let mut strategies = Adaptive::among(&[lower, expected, upper], choose);
        if upper >= live {
            strategies.from(live, facts.choose(live, deleted == 0, costs));
        }
        let strategy = strategies.of(expected);
        let tally_ns = sizes.column_ns(costs, n_codes, expected as f64);
        let round_ns = sizes.column_ns(costs, 0, expected as f64);
        let cost_ns = match strategy {
            SpreadStrategy::Frequencies => round_ns + facts.ranks_ns(costs),
            SpreadStrategy::Rounds => 2.0 * round_ns,
            SpreadStrategy::Tally => tally_ns,
            SpreadStrategy::Sketch => round_ns + expected as f32 * costs.sort_code_ns,
        };
        let tally = TallyStrategy::of_codes(n_codes);
        Ok(SpreadPlan { strategies, tally, chosen: (strategy, cost_ns, tally_ns) })
    }

    /// Whether each value could be counted instead.
    pub(crate) fn has_alternative(&self) -> bool {
        matches!(self.chosen.0, SpreadStrategy::Frequencies | SpreadStrategy::Rounds)
    }
}

impl Facts {
    /// Each bit of a rank takes a look into each dictionary at the most.
    fn ranks_ns(&self, costs: &CostModel) -> f32 {
        let SpreadOf::Values { n_ranks, .. } = self.of else { return f32::INFINITY };
        let n_looks = self.sizes.n_segments as f32 * u64::BITS as f32;
        n_looks * n_ranks as f32 * costs.range_end_ns()
    }

    fn choose(&self, n_matches: u64, is_everything: bool, costs: &CostModel) -> SpreadStrategy {
        let (sizes, n_codes) = (&self.sizes, self.n_codes);
        // Matches have as many as other documents.
        let n_values = u128::from(sizes.n_values) * u128::from(n_matches);
        let n_values = n_values.div_ceil(sizes.n_docs_in_column.max(1).into());
        let n_values = u64::try_from(n_values).unwrap_or(u64::MAX);
        if let SpreadOf::Values { distinct, .. } = self.of
            && !self.has_others
            && !self.is_tallied
        {
            let is_single = sizes.n_segments == 1 || !distinct;
            let is_cheap = self.ranks_ns(costs) <= n_matches as f32 * costs.column_number_ns;
            if is_everything && self.has_sums && is_single && is_cheap {
                return SpreadStrategy::Frequencies;
            }
            let bits = if distinct { n_codes / 8 + 8 } else { 0 };
            let fits = bits <= self.memory && bits <= n_values.saturating_mul(LISTED_BYTES);
            // If near codes have a counter each, there is nothing to gain.
            if n_codes > COUNTERS_NEAR && sizes.n_values <= u64::from(u32::MAX) && fits {
                return SpreadStrategy::Rounds;
            }
        }
        let n_met = if self.has_others { n_matches } else { n_values };
        let bytes = match TallyStrategy::choose(n_codes, n_matches) {
            _ if self.has_others => sizes.n_terms.saturating_mul(LISTED_BYTES),
            TallyStrategy::Counters => n_codes.saturating_mul(4),
            TallyStrategy::List => n_values.saturating_mul(LISTED_BYTES),
        };
        match bytes <= self.memory && n_met <= u64::from(u32::MAX) {
            true => SpreadStrategy::Tally,
            false => SpreadStrategy::Sketch,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_looked_up_by_the_costs_of_the_machine() {
        let sizes = FacetSizes { n_segments: 1, n_values: 1 << 20, ..FacetSizes::default() };
        let of = SpreadOf::Values { distinct: false, n_ranks: 3 };
        let (n_codes, memory) = (1 << 30, 1 << 30);
        let (has_others, has_sums, is_tallied) = (false, true, false);
        let facts = Facts { of, is_tallied, sizes, n_codes, has_others, has_sums, memory };
        let choose = |costs: &CostModel| facts.choose(1 << 20, true, costs);
        assert_eq!(choose(&CostModel::BUILT_IN), SpreadStrategy::Frequencies);
        let slow_look_ups = CostModel { lookup_ns: 1e5, ..CostModel::BUILT_IN };
        assert_eq!(choose(&slow_look_ups), SpreadStrategy::Rounds);
    }
}
