//! First documents by distance, by boxes of points: the nearest are opened first.
//!
//! A box is no nearer than its nearest corner or edge. So once the last document that is kept is nearer than the next box, all boxes
//! that are left are too far. Farthest first is the same the other way round. Boxes are compared by rough bounds, which take no sines;
//! pages by the closest ones before they are read.
//!
//! Cost: some pages of 512 points, about as many as hold what is wanted of what matches.

use super::distances::Near;
use super::first::InSegment;
use super::key::Direction;
use super::match_groups::Matching;
use crate::budget::{self, ns};
use crate::doc_id_set::DocIdSet;
use crate::error::{Error, Result};
use crate::format::boxes::PageEntry;
use crate::format::pages::{PageNumbers, Placed};
use crate::format::points::{BLOCK_DOCS, Points};
use crate::geo::{BoxRelation, WrappedBox};
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

/// Places of a walk over boxes, and what is looked for.
struct View<'v, 'o, 's> {
    near: Near<'o>,
    pages: &'v OnPages<'s>,
    matching: &'v Matching<'v>,
}

/// Room of a walk, and how far it goes.
#[derive(Default)]
struct Room {
    numbers: PageNumbers,
    points: Vec<Placed>,
    /// Documents with several points that were looked at.
    seen: HashSet<u32>,
    limit: Limit,
}

/// Keys and places up to the last document that is kept, once there are as many as wanted.
struct Limit {
    rank: Option<u128>,
    key: f64,
    around: Option<WrappedBox>,
}

impl Default for Limit {
    fn default() -> Self {
        Limit { rank: None, key: f64::INFINITY, around: None }
    }
}

impl Limit {
    /// Learns of the last document.
    fn renew(&mut self, near: Near<'_>, last: Option<u128>) {
        if self.rank != last {
            let key = last.and_then(|last| near.keys_of(last)).map_or(f64::INFINITY, |keys| keys.1);
            *self = Limit { rank: last, key, around: last.and_then(|last| near.around(last)) };
        }
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
        let ordered = self.first.ordered(self.segment, matches.len(n_docs) as f64, None);
        let pays = ordered.places_pay(self.first.costs);
        if has_missing && near.direction.missing_first || !pays {
            return Ok(false);
        }
        let matching = Matching::new(matches, n_docs, ordered.group_bits())?;
        let done = self.look_at_boxes(&View { near, pages: &pages, matching: &matching });
        matching.release();
        done?;
        if has_missing && self.first.last().is_none() {
            self.look_at_missing(near, matches)?;
        }
        Ok(true)
    }

    fn look_at_boxes(&mut self, view: &View<'_, '_, '_>) -> Result<()> {
        let View { near, pages, .. } = *view;
        let boxes = &pages.of_field.boxes;
        let (mut room, mut from) = (Room::default(), None);
        if let Some(after) = &self.first.after {
            from = match near.keys_of(after.first) {
                Some((least, _)) => Some(least),
                // Behind a document without points there is none with some.
                None if after.first == Direction::LAST => return Ok(()),
                None => None,
            };
        }
        // Keys of boxes are no less than 0, so that their bits are in their order.
        let mut next = BinaryHeap::from([Reverse((0, boxes.root()))]);
        while let Some(Reverse((key, place))) = next.pop() {
            room.limit.renew(near, self.first.last().map(|last| last.first));
            if f64::from_bits(key) > room.limit.key {
                break;
            }
            if place.level == 0 {
                self.look_at_page(view, boxes.page(place.nth)?, &mut room)?;
                continue;
            }
            let Limit { key: limit, around, .. } = room.limit;
            let (mut n_boxes, mut n_skipped) = (0, 0);
            let done = boxes.for_each_below(place, |below, bounds| {
                budget::work(ns::POINTS_BOX)?;
                let is_apart = |around: WrappedBox| around.relation(bounds) == BoxRelation::Outside;
                let best = match around.is_some_and(is_apart) {
                    true => f64::INFINITY,
                    false => near.best_key(bounds),
                };
                if best > limit || from.is_some_and(|from| near.worst_key(bounds) < from) {
                    n_skipped += 1;
                } else {
                    next.push(Reverse((best.max(0.0).to_bits(), below)));
                }
                n_boxes += 1;
                Ok(())
            });
            self.first.profile.column.blocks += n_boxes;
            self.first.profile.column.blocks_skipped += n_skipped;
            done?;
        }
        Ok(())
    }

    /// Looks at the points of a page; of documents with several points once.
    fn look_at_page(
        &mut self,
        view: &View<'_, '_, '_>,
        entry: PageEntry,
        room: &mut Room,
    ) -> Result<()> {
        let View { near, pages, matching } = *view;
        let Room { numbers, points, seen, limit } = room;
        if limit.rank.is_some() {
            let best = near.best(&entry.bounds);
            if !self.first.admits(best, self.ranks.id(entry.first_doc)) {
                self.first.profile.column.blocks_skipped += 1;
                return Ok(());
            }
        }
        budget::work(ns::PAGE_COMPARED)?;
        let page = pages.of_field.pages.page(entry)?;
        let docs = page.docs(numbers);
        let greatest = docs.iter().copied().fold(0, u32::max);
        if greatest >= self.segment.n_docs {
            return Err(Error::corrupt("reading pages of points")
                .expected(format!("documents below {}", self.segment.n_docs))
                .found(format!("document {greatest}"))
                .in_file(self.segment.segment.file().path()));
        }
        points.clear();
        match limit.around {
            // Most points are too far, so that few documents are looked up.
            Some(around) => {
                let near = page.points(numbers).filter(|it| around.contains(it.point));
                points.extend(near.filter(|it| matching.contains(it.doc)));
            }
            None if matches!(matching, Matching::Everything) => points.extend(page.points(numbers)),
            None => {
                let of_matches =
                    docs.iter().enumerate().filter(|(_, doc)| matching.contains(**doc));
                points.extend(
                    of_matches.map(|(nth, doc)| Placed { doc: *doc, point: page.point(nth) }),
                );
            }
        }
        self.first.profile.column.documents += points.len() as u64;
        // The nearest at a glance, as many as are wanted, leave most others out.
        let wanted = self.first.n_missing();
        if !near.direction.descending && (1..points.len()).contains(&wanted) {
            points.select_nth_unstable_by_key(wanted - 1, |it| (near.about(it.point), it.doc));
        }
        for (at, Placed { doc, point }) in points.drain(..).enumerate() {
            if at == wanted {
                limit.renew(near, self.first.last().map(|last| last.first));
            }
            if limit.around.is_some_and(|around| !around.contains(point)) {
                continue;
            }
            let haversine = near.center.haversine(point);
            if near.key(haversine) > limit.key {
                continue;
            }
            let rank = match pages.points.most() {
                1 => near.rank(haversine),
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
