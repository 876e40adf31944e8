//! Ways to count the documents of ranges of codes.

use super::spread::SpreadPlan;
use super::{CostModel, SegmentPlan};
use crate::error::Result;
use crate::ids::FieldId;
use crate::named::named;

/// Ways to count what lies before an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangesStrategy {
    /// The dictionary says it, where everything matches but what is deleted.
    Sums,
    Column,
}

named! {
    /// Name for people.
    pub(crate) RangesStrategy { Sums: "sums of document frequencies", Column: "column" }
}

/// Strategy by which ranges are counted.
#[derive(Clone, Debug)]
pub(crate) struct RangesPlan {
    /// Way to cut them, where they are to have as many values each.
    pub(crate) cut: Option<SpreadPlan>,
    pub(crate) costs: RangesCosts,
    /// Strategy for what is expected to match, for people; and the cost of the other, where it could be taken.
    pub(crate) chosen: RangesStrategy,
    pub(crate) alternative_ns: Option<u64>,
}

/// Costs by which the strategy of a segment is chosen once its ends are known: of an end, a document and a deleted one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RangesCosts {
    end_ns: f32,
    doc_ns: f32,
    deleted_ns: f32,
}

impl RangesPlan {
    pub(super) fn new(cut: Option<SpreadPlan>, costs: &CostModel) -> Self {
        let (end_ns, doc_ns) = (costs.range_end_ns(), costs.column_number_ns);
        let costs = RangesCosts { end_ns, doc_ns, deleted_ns: costs.look_up_doc_ns };
        RangesPlan { cut, costs, chosen: RangesStrategy::Column, alternative_ns: None }
    }

    /// Chooses for so many ends, where everything that is not deleted matches; the cost.
    pub(super) fn expect(
        &mut self,
        segments: &[SegmentPlan<'_>],
        field: FieldId,
        n_ends: u64,
        column_ns: f32,
    ) -> Result<f32> {
        let mut sums_ns = 0.0;
        for part in segments {
            let reader = part.segment.field(field);
            let n_deleted = u64::from(part.n_docs - part.segment.n_live());
            let strategy = self.costs.choose(n_ends, n_deleted, part.n_docs);
            let has_sums = || Ok(reader.cumulative(reader.terms()?.n_blocks())?.is_some());
            if strategy == RangesStrategy::Column || !reader.has_codes() || !has_sums()? {
                return Ok(column_ns);
            }
            sums_ns += self.costs.sums_ns(n_ends, n_deleted);
        }
        (self.chosen, self.alternative_ns) = (RangesStrategy::Sums, Some(column_ns.round() as u64));
        Ok(sums_ns)
    }
}

impl RangesCosts {
    fn sums_ns(self, n_ends: u64, n_deleted: u64) -> f32 {
        n_ends as f32 * self.end_ns + n_deleted as f32 * self.deleted_ns
    }

    /// The strategy in a segment where everything matches but so many deleted documents.
    pub(crate) fn choose(self, n_ends: u64, n_deleted: u64, n_docs: u32) -> RangesStrategy {
        match self.sums_ns(n_ends, n_deleted) <= n_docs as f32 * self.doc_ns {
            true => RangesStrategy::Sums,
            false => RangesStrategy::Column,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_chosen_by_the_costs_of_the_machine() {
        let of = |costs: &CostModel| RangesPlan::new(None, costs).costs.choose(13, 0, 20_000);
        assert_eq!(of(&CostModel::BUILT_IN), RangesStrategy::Sums);
        let slow_look_ups = CostModel { lookup_ns: 1e5, ..CostModel::BUILT_IN };
        assert_eq!(of(&slow_look_ups), RangesStrategy::Column);
    }
}
