//! First documents by distance, by boxes of points: the nearest are opened first.
//!
//! A box is no nearer than its nearest corner or edge. So once the last document that is kept is nearer than the next box, all boxes
//! that are left are too far. Farthest first is the same the other way round.
//!
//! Cost: some pages of 512 points, about as many as hold what is wanted of what matches.

use super::distances::Near;
use super::first::InSegment;
use crate::budget::{self, ns};
use crate::doc_id_set::DocIdSet;
use crate::error::{Error, Result};
use crate::format::boxes::PAGE_POINTS;
use crate::format::pages::Placed;
use crate::format::points::{BLOCK_DOCS, Points};
use crate::ids::DocId;
use crate::matching::for_each_block_of;
use crate::plan::SortStrategy;
use crate::segment::file::Section;
use crate::segment::reader::{FieldPages, FieldReader};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// Points of a segment on pages.
struct OnPages<'s> {
    points: Points<Section<'s>>,
    of_field: FieldPages<'s>,
}

impl<'s> OnPages<'s> {
    fn open(reader: FieldReader<'s>) -> Result<Option<Self>> {
        let Some(points) = reader.points()? else { return Ok(None) };
        let of_field = reader.pages(points.n_points())?;
        Ok(of_field.map(|of_field| OnPages { points, of_field }))
    }
}

impl InSegment<'_, '_, '_> {
    /// Looks at the nearest boxes first, where that pays; `false` where nothing was looked at.
    pub(super) fn look_at_nearest(&mut self, matches: &DocIdSet) -> Result<bool> {
        let Some(near) = self.first.order.near() else { return Ok(false) };
        if self.first.strategy != SortStrategy::Places {
            return Ok(false);
        }
        let Some(pages) = OnPages::open(self.segment.segment.field(near.field))? else {
            return Ok(false);
        };
        let n_docs = self.segment.n_docs;
        let has_missing = pages.points.n_with() < n_docs;
        let n_matches = matches.len(n_docs) as f64;
        let pays = self.first.ordered(self.segment, n_matches, None).places_pay(self.first.costs);
        if has_missing && near.direction.missing_first || !pays {
            return Ok(false);
        }
        self.look_at_boxes(near, &pages, matches)?;
        if has_missing && self.first.last().is_none() {
            self.look_at_missing(near, matches)?;
        }
        Ok(true)
    }

    fn look_at_boxes(
        &mut self,
        near: Near<'_>,
        pages: &OnPages<'_>,
        matches: &DocIdSet,
    ) -> Result<()> {
        let boxes = &pages.of_field.boxes;
        let first_doc = DocId(self.segment.base);
        let mut seen = HashSet::new();
        let mut next = BinaryHeap::from([Reverse((0, boxes.root()))]);
        while let Some(Reverse((best, place))) = next.pop() {
            if !self.first.admits(best, first_doc) {
                break;
            }
            if place.level == 0 {
                self.look_at_page((near, pages), place.nth, matches, &mut seen)?;
                continue;
            }
            for below in boxes.below(place) {
                budget::work(ns::POINTS_BOX)?;
                self.first.profile.column.blocks += 1;
                let bounds = boxes.bounds(below)?;
                let best = near.best(&bounds);
                let is_before = |after: &super::place::Place| near.worst(&bounds) < after.first;
                if self.first.after.as_ref().is_some_and(is_before)
                    || !self.first.admits(best, first_doc)
                {
                    self.first.profile.column.blocks_skipped += 1;
                } else {
                    next.push(Reverse((best, below)));
                }
            }
        }
        Ok(())
    }

    /// Looks at the points of a page; of documents with several points once.
    fn look_at_page(
        &mut self,
        (near, pages): (Near<'_>, &OnPages<'_>),
        nth: u32,
        matches: &DocIdSet,
        seen: &mut HashSet<u32>,
    ) -> Result<()> {
        budget::work(ns::PAGE_COMPARED)?;
        let (of_field, n_docs) = (&pages.of_field, self.segment.n_docs);
        let page = of_field.pages.page(of_field.boxes.page(nth)?)?;
        let is_match = |doc: u32| match matches {
            DocIdSet::Everything => true,
            DocIdSet::Some(windows) => windows.contains(doc),
        };
        let around = self.first.last().and_then(|last| near.around(last.first));
        let (mut points, mut greatest) = (Vec::with_capacity(PAGE_POINTS as usize), 0);
        page.for_each(|placed| {
            greatest = greatest.max(placed.doc);
            let is_near = around.is_none_or(|around| around.contains(placed.point));
            if is_near && is_match(placed.doc) {
                points.push(placed);
            }
        });
        if greatest >= n_docs {
            return Err(Error::corrupt("reading pages of points")
                .expected(format!("documents below {n_docs}"))
                .found(format!("document {greatest}"))
                .in_file(self.segment.segment.file().path()));
        }
        self.first.profile.column.documents += points.len() as u64;
        // The nearest at a glance, as many as are wanted, leave most others out.
        let wanted = self.first.n_missing();
        let mut around = around;
        if around.is_none() && !near.direction.descending && (1..points.len()).contains(&wanted) {
            points.select_nth_unstable_by_key(wanted - 1, |it| (near.about(it.point), it.doc));
        }
        for (at, Placed { doc, point }) in points.into_iter().enumerate() {
            if at == wanted {
                around = self.first.last().and_then(|last| near.around(last.first));
            }
            if around.is_some_and(|around| !around.contains(point)) {
                continue;
            }
            let rank = match pages.points.most() {
                1 => near.rank(near.center.metres(point)),
                _ if seen.insert(doc) => self.ranks.first(doc)?,
                _ => continue,
            };
            self.take_if_wanted(doc, rank)?;
        }
        Ok(())
    }

    /// Looks at documents without any point, which come behind all others.
    fn look_at_missing(&mut self, near: Near<'_>, matches: &DocIdSet) -> Result<()> {
        let missing = near.direction.rank(None);
        for_each_block_of(matches, self.segment.n_docs, |nth, places| {
            places.try_for_each(|place| {
                budget::work(ns::KEY_COMPARED)?;
                let doc = nth * BLOCK_DOCS + place;
                match self.ranks.first(doc)? {
                    rank if rank == missing => self.take_if_wanted(doc, rank),
                    _ => Ok(()),
                }
            })
        })
    }
}
