//! Pages of points that an area covers: a walk over the tree of boxes.

use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::pages::PageNumbers;
use crate::geo::{BoundArea, BoxRelation, GeoCounts};
use crate::segment::reader::FieldPages;
use std::ops::Range;

/// Boxes that are compared with an area; pages below those that are not count as on its border.
const BOXES_MAX: u64 = 1 << 16;
/// Pages on the border up to which their points are compared while planning: shares of a few boxes say little of how many are in a small
/// area.
const FEW_PAGES: usize = 8;

/// Pages in an area and on its border.
#[derive(Debug)]
pub(crate) struct Covered<'s> {
    pub(crate) field: FieldPages<'s>,
    /// Pages all of whose points are in the area, ascending.
    pub(crate) inside: Vec<Range<u32>>,
    /// Pages whose points are compared, ascending.
    pub(crate) border: Vec<u32>,
    /// Points on the pages of both kinds.
    pub(crate) n_inside: u64,
    pub(crate) n_border: u64,
    /// Points of the border that are expected in the area.
    pub(crate) expected: f64,
    /// Points of the border that are in the area, if these were looked for.
    pub(crate) read: Option<BorderRead>,
    pub(crate) boxes_tested: u64,
}

/// Work of comparing the points of pages on the border while planning, and the documents of those in the area.
#[derive(Debug, Default)]
pub(crate) struct BorderRead {
    pub(crate) docs: Vec<u32>,
    pub(crate) counts: GeoCounts,
    pub(crate) n_bytes: u64,
}

impl<'s> Covered<'s> {
    /// Walks from the root to the pages on the border.
    pub(super) fn new(field: FieldPages<'s>, area: &BoundArea) -> Result<Self> {
        let boxes = field.boxes.clone();
        let (inside, border) = (vec![], vec![]);
        let mut found = Covered {
            field,
            inside,
            border,
            n_inside: 0,
            n_border: 0,
            expected: 0.0,
            read: None,
            boxes_tested: 0,
        };
        let mut places = vec![boxes.root()];
        while let Some(place) = places.pop() {
            budget::work(ns::POINTS_BOX)?;
            let (bounds, pages) = (boxes.bounds(place)?, boxes.pages_of(place));
            found.boxes_tested += 1;
            match area.relation(&bounds) {
                BoxRelation::Outside => {}
                BoxRelation::Inside => {
                    found.n_inside += boxes.points_of(&pages);
                    match found.inside.last_mut().filter(|last| last.end == pages.start) {
                        Some(last) => last.end = pages.end,
                        None => found.inside.push(pages),
                    }
                }
                BoxRelation::Crosses if place.level == 0 || found.boxes_tested >= BOXES_MAX => {
                    let n_points = boxes.points_of(&pages);
                    found.n_border += n_points;
                    found.expected += n_points as f64 * area.share_of(&bounds);
                    found.border.extend(pages);
                }
                BoxRelation::Crosses => {
                    let before = places.len();
                    places.extend(boxes.below(place));
                    // Ascending pages are read one after the other.
                    places[before..].reverse();
                }
            }
        }
        if (1..=FEW_PAGES).contains(&found.border.len()) {
            let mut read = BorderRead::default();
            found.for_each_on_border(area, &mut read.counts, &mut read.n_bytes, |docs| {
                read.docs.extend_from_slice(docs);
                Ok(())
            })?;
            found.expected = read.docs.len() as f64;
            found.read = Some(read);
        }
        Ok(found)
    }

    /// Calls `visit` with the documents of each page on the border, of its points that are in the area.
    pub(crate) fn for_each_on_border(
        &self,
        area: &BoundArea,
        counts: &mut GeoCounts,
        n_bytes: &mut u64,
        mut visit: impl FnMut(&[u32]) -> Result<()>,
    ) -> Result<()> {
        let (mut numbers, mut docs) = (PageNumbers::default(), vec![]);
        for nth in &self.border {
            budget::work(ns::PAGE_COMPARED)?;
            let page = self.field.pages.page(self.field.boxes.page(*nth)?)?;
            docs.clear();
            let in_area = page.points(&mut numbers).filter(|it| area.contains(it.point, counts));
            docs.extend(in_area.map(|it| it.doc));
            visit(&docs)?;
            counts.pages_border += 1;
            *n_bytes += page.n_bytes();
        }
        Ok(())
    }

    /// Pages in the area.
    pub(crate) fn n_pages_inside(&self) -> u64 {
        self.inside.iter().map(|pages| u64::from(pages.end - pages.start)).sum()
    }
}
