//! Words in several fields that are taken for one, among the lists of a tree.

use super::pruned::tree::{Tree, TreeCombined, TreeField};
use crate::error::Result;
use crate::segment::reader::SegmentReader;
use crate::weight::combined::{CombinedWeight, RankedField};
use std::sync::Arc;

impl CombinedWeight {
    /// Adds the lists of the fields to a tree, with weights that make bounds of theirs bounds of the word's.
    pub(super) fn in_tree<'s>(
        self: &Arc<Self>,
        reader: &SegmentReader<'s>,
        segment: usize,
        tree: &mut Tree<'s>,
    ) -> Result<TreeCombined<'s>> {
        let start = tree.clauses.len();
        let mut fields = Vec::with_capacity(self.fields.len());
        for RankedField { weight, scoring, infos, .. } in &self.fields {
            let reader = reader.field(scoring.field);
            let factor = weight.max(self.bm25.average / scoring.bm25.average).max(1.0);
            // Room for what is rounded away in all this.
            let weight = self.weight * factor * (1.0 + 1e-5);
            let clause = match &infos[segment] {
                Some(info) => tree.add(reader, info, weight, Arc::clone(scoring))?,
                None => None,
            };
            fields.push(TreeField { clause, lengths: reader.lengths()? });
        }
        Ok(TreeCombined { clauses: start..tree.clauses.len(), fields, word: Arc::clone(self) })
    }
}
