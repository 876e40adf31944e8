//! Documents with points in an area, by the points of each.

use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::points::BLOCK_DOCS;
use crate::geo::{BoxRelation, GeoCounts};
use crate::plan::WINDOW;
use crate::plan::points_scan::PointsScan;

/// Blocks of a window.
const WINDOW_BLOCKS: u32 = WINDOW / BLOCK_DOCS;

/// Keeps those of the documents of window `key` that have a point in the area.
pub(super) fn retain(
    scan: &PointsScan<'_>,
    key: u32,
    lows: &mut Vec<u16>,
    counts: &mut GeoCounts,
) -> Result<()> {
    let PointsScan { points, area, .. } = scan;
    let (mut from, mut n_kept) = (0, 0);
    while let Some(first) = lows.get(from) {
        let nth = u32::from(*first) / BLOCK_DOCS;
        let n = lows[from..].partition_point(|low| u32::from(*low) / BLOCK_DOCS == nth);
        let block = key.saturating_mul(WINDOW_BLOCKS).saturating_add(nth);
        budget::work(ns::POINTS_BOX)?;
        let head = points.head(block)?;
        counts.boxes_tested += 1;
        let relation = area.relation(&head.bounds);
        let all_have_some = u32::from(head.n_with) == points.docs_of(block);
        match relation {
            BoxRelation::Outside => counts.boxes_settled += 1,
            BoxRelation::Inside if all_have_some => {
                counts.boxes_settled += 1;
                lows.copy_within(from..from + n, n_kept);
                n_kept += n;
            }
            BoxRelation::Inside | BoxRelation::Crosses => {
                budget::work(ns::POINT_TESTED * n as u64)?;
                let block = points.block(block, head)?;
                for at in from..from + n {
                    let low = lows[at];
                    let mut of_doc = block.points(u32::from(low) % BLOCK_DOCS);
                    lows[n_kept] = low;
                    n_kept += usize::from(of_doc.any(|point| area.contains(point, counts)));
                }
            }
        }
        from += n;
    }
    lows.truncate(n_kept);
    Ok(())
}

/// Whether a document has a point in the area.
pub(super) fn has(scan: &PointsScan<'_>, doc: u32) -> Result<bool> {
    let mut lows = vec![doc as u16];
    retain(scan, doc / WINDOW, &mut lows, &mut GeoCounts::default())?;
    Ok(!lows.is_empty())
}
