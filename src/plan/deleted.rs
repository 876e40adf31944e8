//! Ranges that are counted by the dictionary although some of their documents are deleted.

use super::decision::Rule;
use super::forced::Forced;
use super::leaf::{ColumnValues, Leaf};
use super::{Goal, LeafId, LeafKey, Operator, Plan, Total};
use crate::error::Result;

/// The documents of a range, of which all that is not deleted is wanted: those that the dictionary counts, less such deleted
/// ones as have a value in it.
#[derive(Debug)]
pub(crate) struct LessDeleted<'s> {
    /// With the deleted ones.
    pub(crate) documents: u32,
    /// The values of the range.
    pub(crate) values: ColumnValues<'s>,
    pub(crate) deleted: LeafId,
}

impl<'s> Plan<'s> {
    /// Looks up the values of the deleted documents if that costs less than reading the others: the whole query must be
    /// a range whose number of documents the dictionary knows.
    pub(super) fn choose_less_deleted(&mut self) -> Result<()> {
        let counts = !self.keeps_matches
            && self.forced != Some(Forced::FindRange)
            && matches!(
                self.goal,
                Goal::Count | Goal::Page { limit: 1.., total: Total::Exact, .. }
            );
        let root = self.root();
        let Operator::Intersect { all, none } = &self.node(root).operator else { return Ok(()) };
        let (&[range], &[deleted]) = (self.inputs(all), self.inputs(none)) else { return Ok(()) };
        let node = self.node(range);
        let (leaf, instead_ns) = match node.operator {
            Operator::Expand(leaf) => {
                (leaf, self.costs.expand_ns(self.n_terms(leaf), node.expected_docs as u64))
            }
            Operator::ColumnScan(leaf) => (leaf, node.cost_ns),
            _ => return Ok(()),
        };
        let LeafKey::Expansion { field, nth } = self.leaves[leaf.index()] else { return Ok(()) };
        let Operator::Deleted(deleted) = self.node(deleted).operator else { return Ok(()) };
        let expansion = &self.expansions[nth as usize];
        let n_deleted = |leaves: &[Leaf<'_>]| f64::from(leaves[deleted.index()].documents);
        let n_looked_up = self.segments.iter().map(|part| n_deleted(&part.leaves)).sum();
        let cost_ns = self.costs.column_scan_ns(n_looked_up, n_looked_up);
        if !counts || !expansion.is_range() || cost_ns >= instead_ns {
            return Ok(());
        }
        let mut is_taken = false;
        for part in &mut self.segments {
            let span = part.leaves[leaf.index()].whole();
            if span.lower != span.upper || n_deleted(&part.leaves) == 0.0 {
                continue;
            }
            let reader = part.segment.field(field);
            let values = part.leaves[leaf.index()].values(expansion, reader)?;
            is_taken |= values.is_some();
            part.less_deleted = values
                .map(|values| Box::new(LessDeleted { documents: span.lower, values, deleted }));
        }
        if is_taken {
            let documents = n_looked_up as u64;
            self.record(root, Rule::LessDeleted { documents }, cost_ns, instead_ns);
        }
        Ok(())
    }
}
