//! The sets that the leaves of a plan read in one segment, window by window.

use super::points::{self, ReadArea};
use crate::bitmap::{Container, ContainerKind};
use crate::budget;
use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::expansion::{DocSet, Expansion, TermCounts};
use crate::plan::covered::Covered;
use crate::plan::in_window::FEW_ON_PAGES;
use crate::plan::leaf::{self, Leaf, Postings};
use crate::plan::points_scan::PointsScan;
use crate::plan::{LeafId, LeafKey, SegmentPlan};
use crate::recycle::recycled;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The cursors of all leaves in one segment, and the documents of their short lists.
///
/// Short lists are kept as the containers they would have been, so that the same kernels serve
/// them: the lower halves of all documents, cut into groups that share the upper half.
#[derive(Debug, Default)]
pub(super) struct Lists<'s> {
    cursors: Vec<Cursor<'s>>,
    groups: Vec<Group>,
    lows: Vec<[u8; 2]>,
    /// The documents of patterns.
    pub(super) expanded: Vec<Expanded>,
    opened: bool,
    /// Work of reading the pages of areas.
    pub(super) areas: Vec<ReadArea>,
    /// The pattern whose terms are being united, or the area whose pages are read, or at which that stopped.
    pub(super) opening: Option<LeafId>,
}

/// The documents of the terms of a pattern, united.
#[derive(Debug)]
pub(super) struct Expanded {
    pub(super) leaf: LeafId,
    pub(super) docs: DocSet,
    /// Terms of a pattern; none for an area.
    pub(super) walked: Option<TermCounts>,
    /// Time that uniting them took, if that was measured.
    pub(super) took: Duration,
}

#[derive(Debug)]
struct Cursor<'s> {
    /// The container or the group that the next window is looked for from, or the place of a pattern in `expanded`.
    place: usize,
    /// The groups of a short list.
    groups: Range<usize>,
    /// The window found last in the documents of a pattern.
    window: u32,
    /// Whether its documents are in `expanded`, as those of a pattern.
    is_united: bool,
    /// The container at hand, where it had to be copied out of a file.
    held: Bytes<'s>,
}

/// The documents of a short list in one window, as a range of lower halves.
#[derive(Clone, Copy, Debug)]
struct Group {
    key: u32,
    start: u32,
    end: u32,
}

/// A container that a leaf has fetched.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fetched<'s> {
    /// It lies in a mapping.
    Mapped(Container<'s>),
    /// The cursor holds a copy of container `nth`.
    Held { leaf: LeafId, nth: usize },
    /// Lower halves of a short list.
    Short { start: u32, end: u32 },
    /// A window of the documents of a pattern.
    Expanded { nth: usize, key: u32 },
}

/// Every document of a window, if it has any.
fn every_document(part: &SegmentPlan<'_>, key: u32) -> Option<(u32, u32)> {
    let len = part.window_len(key);
    (len > 0).then_some((key, len))
}

impl<'s> Lists<'s> {
    /// None open yet of so many, with the memory of others.
    pub(super) fn new(n_leaves: usize, memory: Lists<'static>) -> Self {
        let Lists { cursors, groups, lows, expanded, areas, opened, opening } = memory;
        let cursor = || Cursor {
            place: 0,
            groups: 0..0,
            window: 0,
            is_united: false,
            held: Bytes::Mapped(&[]),
        };
        let mut cursors = recycled(cursors);
        cursors.resize_with(n_leaves, cursor);
        Lists { cursors, groups, lows, expanded, areas, opened, opening }
    }

    /// Closes all and keeps their memory, in `doc_sets` that of the documents of patterns.
    pub(super) fn into_memory(mut self, doc_sets: &mut Vec<DocSet>) -> Lists<'static> {
        let held: usize = self.expanded.iter().map(|expanded| expanded.docs.bytes()).sum();
        budget::release(held as u64);
        self.forget(doc_sets);
        let Lists { cursors, groups, lows, expanded, areas, .. } = self;
        let cursors = recycled(cursors);
        Lists { cursors, groups, lows, expanded, areas, opened: false, opening: None }
    }

    fn forget(&mut self, doc_sets: &mut Vec<DocSet>) {
        self.groups.clear();
        self.lows.clear();
        self.areas.clear();
        doc_sets.extend(std::iter::from_fn(|| self.expanded.pop()).map(|it| it.docs));
    }

    /// Reads the short lists and the headers that planning left unread, and unites the terms of
    /// patterns in memory of `doc_sets`, once, with `timed` by the clock; sets every cursor to the start.
    pub(super) fn open(
        &mut self,
        keys: &[LeafKey],
        expansions: &[Expansion],
        part: &mut SegmentPlan<'s>,
        doc_sets: &mut Vec<DocSet>,
        timed: bool,
    ) -> Result<()> {
        // Whoever opens them again has nothing to unite.
        self.expanded.iter_mut().for_each(|expanded| expanded.took = Duration::ZERO);
        self.areas.iter_mut().for_each(|area| area.took = Duration::ZERO);
        if !self.opened {
            // Also what was left where this ended in an error.
            self.forget(doc_sets);
            for (at, key) in keys.iter().enumerate() {
                let field = key.field().map(|field| part.segment.field(field));
                if let Some(field) = field {
                    part.leaves[at].read_header(field)?;
                }
                let start = self.groups.len();
                match (&part.leaves[at].postings, field) {
                    (Postings::Inline(docs), _) => self.add_docs(docs.as_slice()),
                    (Postings::Short(info), Some(field)) => {
                        field.short_docs(info, |docs| self.add_docs(docs))?;
                    }
                    (Postings::Long(list), _) => {
                        let last = list.n_containers().checked_sub(1).map(|last| list.key(last));
                        if last.is_some_and(|last| u32::from(last) >= part.n_windows()) {
                            return Err(Error::corrupt("reading a posting list")
                                .expected(format!("documents below {}", part.n_docs))
                                .found("a container past the segment's end"));
                        }
                    }
                    (Postings::Terms(terms), Some(field)) => {
                        let leaf = LeafId(at as u32);
                        self.opening = Some(leaf);
                        let started = timed.then(Instant::now);
                        let mut docs = doc_sets.pop().unwrap_or_default();
                        docs.reset(part.n_docs)?;
                        let mut walked = terms.walked;
                        let united = match key {
                            LeafKey::Expansion { nth, .. } if walked.cut => {
                                let united = expansions[*nth as usize].unite(field, &mut docs);
                                united.map(|all| walked = all)
                            }
                            _ => docs.add_terms(field, &terms.infos),
                        };
                        // Also where that failed, so that the memory is not lost.
                        let took = started.map_or(Duration::ZERO, |started| started.elapsed());
                        let walked = Some(walked);
                        self.expanded.push(Expanded { leaf, docs, walked, took });
                        united?;
                        self.opening = None;
                    }
                    (Postings::Points(scan), _) => {
                        if let Some(covered) = scan.by_pages() {
                            let leaf = LeafId(at as u32);
                            self.opening = Some(leaf);
                            self.read_pages(leaf, (scan, covered), part.n_docs, doc_sets, timed)
                                .map_err(|error| error.in_file(part.segment.file().path()))?;
                            self.opening = None;
                        }
                    }
                    _ => {}
                }
                // A leaf without groups starts at container 0, not behind the groups of others.
                let groups = start..self.groups.len();
                self.cursors[at].groups = if groups.is_empty() { 0..0 } else { groups };
            }
            self.opened = true;
        }
        self.rewind();
        Ok(())
    }

    /// Reads the documents of the pages that an area covers: few are sorted, of many each is a bit.
    fn read_pages(
        &mut self,
        leaf: LeafId,
        (scan, covered): (&PointsScan<'s>, &Covered<'s>),
        n_docs: u32,
        doc_sets: &mut Vec<DocSet>,
        timed: bool,
    ) -> Result<()> {
        let started = timed.then(Instant::now);
        let mut read = ReadArea::of(leaf);
        let done = if scan.span.upper <= FEW_ON_PAGES {
            let mut docs = Vec::with_capacity(scan.span.upper as usize);
            let all = points::for_each_page((scan, covered), n_docs, &mut read, |of_page| {
                docs.extend_from_slice(of_page);
            });
            docs.sort_unstable();
            docs.dedup();
            self.add_docs(&docs);
            all
        } else {
            let mut docs = doc_sets.pop().unwrap_or_default();
            docs.reset(n_docs)?;
            let all = points::for_each_page((scan, covered), n_docs, &mut read, |it| docs.mark(it));
            docs.count_marked();
            let (walked, took) = (None, Duration::ZERO);
            self.expanded.push(Expanded { leaf, docs, walked, took });
            self.cursors[leaf.index()].is_united = true;
            all
        };
        read.took = started.map_or(Duration::ZERO, |started| started.elapsed());
        self.areas.push(read);
        done
    }

    /// Puts documents, which ascend, into a leaf that has none yet, of lists that are open.
    pub(super) fn put_documents(&mut self, leaf: LeafId, docs: &[u32]) {
        let start = self.groups.len();
        self.add_docs(docs);
        let groups = start..self.groups.len();
        self.cursors[leaf.index()].groups = if groups.is_empty() { 0..0 } else { groups };
        self.rewind();
    }

    /// Sets every cursor to the start.
    pub(super) fn rewind(&mut self) {
        for cursor in &mut self.cursors {
            cursor.place = cursor.groups.start;
        }
        for (nth, expanded) in self.expanded.iter().enumerate() {
            // These have no position of their own.
            self.cursors[expanded.leaf.index()].place = nth;
        }
    }

    /// Adds the documents of a list, as groups behind those of others.
    fn add_docs(&mut self, docs: &[u32]) {
        let mut rest = docs;
        while let Some(first) = rest.first() {
            // Nearly always all of them.
            let key = first >> 16;
            let (of_key, others) = match rest.last().is_some_and(|last| last >> 16 == key) {
                true => (rest, &[][..]),
                false => rest.split_at(rest.partition_point(|doc| doc >> 16 == key)),
            };
            let start = self.lows.len() as u32;
            self.lows.extend(of_key.iter().map(|doc| (*doc as u16).to_le_bytes()));
            self.groups.push(Group { key, start, end: self.lows.len() as u32 });
            rest = others;
        }
    }

    /// The first window from `key` on where the leaf has documents, and how many.
    #[inline]
    pub(super) fn seek(
        &mut self,
        part: &SegmentPlan<'s>,
        leaf: LeafId,
        key: u32,
    ) -> Option<(u32, u32)> {
        let cursor = &mut self.cursors[leaf.index()];
        let postings = &part.leaves[leaf.index()].postings;
        match postings {
            // Also where values of all documents are compared.
            Postings::Everything | Postings::Column(_) => every_document(part, key),
            Postings::Points(scan) if scan.by_pages().is_none() => every_document(part, key),
            Postings::Long(list) => {
                cursor.place = leaf::seek(list, cursor.place, key);
                if cursor.place >= list.n_containers() {
                    return None;
                }
                let nth = cursor.place;
                Some((u32::from(list.key(nth)), list.container_cardinality(nth)))
            }
            Postings::Terms(_) | Postings::Points(_)
                if cursor.is_united || matches!(postings, Postings::Terms(_)) =>
            {
                let docs = &self.expanded[cursor.place].docs;
                let next = docs.next_window(key)?;
                cursor.window = next;
                Some((next, docs.cardinality(next)))
            }
            _ => {
                let groups = &self.groups[cursor.place..cursor.groups.end];
                cursor.place += groups.iter().take_while(|group| group.key < key).count();
                let group = self.groups[..cursor.groups.end].get(cursor.place)?;
                Some((group.key, group.end - group.start))
            }
        }
    }

    /// Fetches the container that the last [`seek`](Self::seek) found. If it is one of a long list, also says its kind
    /// and how many bytes were read for it.
    #[inline]
    pub(super) fn fetch(
        &mut self,
        part: &SegmentPlan<'s>,
        leaf: LeafId,
    ) -> Result<(Fetched<'s>, Option<(ContainerKind, usize)>)> {
        let cursor = &mut self.cursors[leaf.index()];
        let postings = &part.leaves[leaf.index()].postings;
        match postings {
            Postings::Long(list) => {
                let nth = cursor.place;
                let payload = list.payload(nth)?;
                let len = payload.len();
                let kind = list.container_kind(nth);
                let fetched = match payload {
                    Bytes::Mapped(bytes) => Fetched::Mapped(list.container(nth, bytes)?),
                    Bytes::Read(_) => {
                        list.container(nth, &payload)?;
                        cursor.held = payload;
                        Fetched::Held { leaf, nth }
                    }
                };
                Ok((fetched, Some((kind, len))))
            }
            Postings::Terms(_) | Postings::Points(_)
                if cursor.is_united || matches!(postings, Postings::Terms(_)) =>
            {
                Ok((Fetched::Expanded { nth: cursor.place, key: cursor.window }, None))
            }
            _ => {
                let Group { start, end, .. } = self.groups[cursor.place];
                Ok((Fetched::Short { start, end }, None))
            }
        }
    }

    /// The container behind what [`fetch`](Self::fetch) gave, until the same leaf fetches again.
    #[inline]
    pub(super) fn resolve<'a>(
        &'a self,
        part: &'a SegmentPlan<'s>,
        fetched: Fetched<'s>,
    ) -> Result<Container<'a>> {
        match fetched {
            Fetched::Mapped(container) => Ok(container),
            Fetched::Short { start, end } => {
                Ok(Container::Array(&self.lows[start as usize..end as usize]))
            }
            Fetched::Expanded { nth, key } => Ok(self.expanded[nth].docs.window(key)),
            Fetched::Held { leaf, nth } => match &part.leaves[leaf.index()] {
                Leaf { postings: Postings::Long(list), .. } => {
                    list.container(nth, &self.cursors[leaf.index()].held)
                }
                _ => Ok(Container::Array(&[])),
            },
        }
    }
}
