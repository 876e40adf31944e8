//! Documents with points in an area, by the points of each or by pages.

use crate::budget::{self, ns};
use crate::error::{Error, Result};
use crate::format::pages::PageNumbers;
use crate::format::points::BLOCK_DOCS;
use crate::geo::{BoxRelation, GeoCounts};
use crate::plan::LeafId;
use crate::plan::WINDOW;
use crate::plan::covered::Covered;
use crate::plan::points_scan::PointsScan;
use std::time::Duration;

/// Blocks of a window.
const WINDOW_BLOCKS: u32 = WINDOW / BLOCK_DOCS;

/// Work of reading the pages that an area covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadArea {
    pub(super) leaf: LeafId,
    pub(super) counts: GeoCounts,
    pub(super) bytes_read: u64,
    pub(super) took: Duration,
}

impl ReadArea {
    pub(super) fn of(leaf: LeafId) -> Self {
        ReadArea { leaf, counts: GeoCounts::default(), bytes_read: 0, took: Duration::ZERO }
    }
}

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

/// Calls `visit` with the documents that have a point in the area, page by page of those that this covers: with each once for each of its
/// points.
pub(super) fn for_each_page(
    (scan, covered): (&PointsScan<'_>, &Covered<'_>),
    n_docs: u32,
    read: &mut ReadArea,
    mut visit: impl FnMut(&[u32]),
) -> Result<()> {
    let (pages, mut numbers) = (&covered.field, PageNumbers::default());
    for nth in covered.inside.iter().cloned().flatten() {
        budget::work(ns::PAGE_ADDED)?;
        let page = pages.pages.page(pages.boxes.page(nth)?)?;
        let docs = page.docs(&mut numbers);
        check_inside(docs, n_docs)?;
        visit(docs);
        read.counts.pages_inside += 1;
        read.bytes_read += page.bytes_of_docs();
    }
    for_each_on_border((scan, covered), n_docs, read, visit)
}

/// Number of points in the area on the pages that this covers: those inside are not read.
pub(super) fn count(
    (scan, covered): (&PointsScan<'_>, &Covered<'_>),
    n_docs: u32,
    read: &mut ReadArea,
) -> Result<u64> {
    let mut n = covered.n_inside;
    for_each_on_border((scan, covered), n_docs, read, |docs| n += docs.len() as u64)?;
    read.counts.pages_inside += covered.n_pages_inside();
    Ok(n)
}

fn for_each_on_border(
    (scan, covered): (&PointsScan<'_>, &Covered<'_>),
    n_docs: u32,
    read: &mut ReadArea,
    mut visit: impl FnMut(&[u32]),
) -> Result<()> {
    read.counts.boxes_tested += covered.boxes_tested;
    read.counts.boxes_settled += covered.boxes_tested.saturating_sub(covered.border.len() as u64);
    let mut checked = |docs: &[u32]| {
        check_inside(docs, n_docs)?;
        visit(docs);
        Ok(())
    };
    if let Some(known) = &covered.read {
        read.counts += known.counts;
        read.bytes_read += known.n_bytes;
        return checked(&known.docs);
    }
    covered.for_each_on_border(&scan.area, &mut read.counts, &mut read.bytes_read, checked)
}

fn check_inside(docs: &[u32], n_docs: u32) -> Result<()> {
    let greatest = docs.iter().copied().fold(0, u32::max);
    match docs.is_empty() || greatest < n_docs {
        true => Ok(()),
        false => Err(Error::corrupt("reading pages of points")
            .expected(format!("documents below {n_docs}"))
            .found(format!("document {greatest}"))),
    }
}
