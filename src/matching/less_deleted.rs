//! Counting a range by the dictionary and its deleted documents by the column.

use super::column;
use super::profile::SegmentProfile;
use crate::doc_id_set::check_inside;
use crate::error::{Error, Result};
use crate::plan::leaf::Postings;
use crate::plan::{Operator, Plan, SegmentPlan};

/// Counts the matches of a segment, if the plan [has it so](crate::plan::LessDeleted); `lows` is memory to use.
pub(super) fn count(
    plan: &Plan<'_>,
    part: &SegmentPlan<'_>,
    lows: &mut Vec<u16>,
    profile: &mut SegmentProfile<'_>,
) -> Result<Option<u64>> {
    let Some(range) = &part.less_deleted else { return Ok(None) };
    let Postings::Long(deleted) = &part.leaves[range.deleted.index()].postings else {
        return Ok(None);
    };
    let mut gone = 0;
    for nth in 0..deleted.n_containers() {
        let payload = deleted.payload(nth)?;
        let container = deleted.container(nth, &payload)?;
        check_inside(deleted.key(nth).into(), container, part.n_docs)
            .map_err(|error| error.in_file(part.segment.file().path()))?;
        lows.clear();
        lows.extend(container.iter());
        column::retain(&range.values, deleted.key(nth).into(), lows)?;
        gone += lows.len() as u64;
    }
    let all = u64::from(range.documents);
    let live = all.checked_sub(gone).ok_or_else(|| {
        Error::corrupt("counting a range without its deleted documents")
            .expected(format!("at most {all} of them"))
            .found(gone.to_string())
            .in_file(part.segment.file().path())
    })?;
    let root = plan.root();
    profile.answered(root, live);
    profile.nodes[root.index()].documents_in = all;
    let is_deleted = |operator: &Operator| matches!(operator, Operator::Deleted(_));
    if let Some(node) = plan.nodes.iter().position(|node| is_deleted(&node.operator)) {
        profile.nodes[node].documents_out = deleted.cardinality();
    }
    Ok(Some(live))
}
