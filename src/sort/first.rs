//! The first documents of an order, found without sorting the others.
//!
//! By keywords, documents are compared by the numbers of their terms, which each segment counts for itself: before the next one
//! is looked at, what is kept gets the ranks that its terms have there. A term that the next does not have finds its place between
//! two others.

use super::key::{Ranks, SortField, SortOrder};
use crate::budget::{self, Held};
use crate::error::Result;
use crate::execution::{MatchSet, Places, for_each_block};
use crate::format::column::{BLOCK_DOCS, Block, BlockHead, Column, Heads};
use crate::ids::{DocId, TermOrdinal};
use crate::plan::SegmentPlan;
use crate::segment::file::Section;
use crate::segment::reader::SegmentReader;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

/// What a look at the directory takes about, and at a document, in nanoseconds.
const HEAD_NS: u64 = 20;
const DOC_NS: u64 = 4;
/// And comparing a document by all keys, for each of them.
const KEY_NS: u64 = 15;
/// And putting a block among the others by its best.
const SORTED_NS: u64 = 30;
/// And looking a term up in a dictionary.
const TERM_NS: u64 = 500;
/// Documents whose terms are read of a search that is stopped: in less than a millisecond.
const AFTER_STOP: usize = 1_024;
/// What a term of a document takes beside its bytes.
const TERM_BYTES: usize = 48;

/// Where a document stands: of two the one with the smaller ranks comes first, and where they are equal, that with the
/// smaller number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// By the first key, and by the others.
    first: u128,
    rest: Vec<u128>,
    pub(crate) doc: DocId,
    /// By key the term, where there is one; none at all before the segment of the document has been looked at.
    terms: Vec<Option<Box<[u8]>>>,
}

impl Place {
    /// Of a document with these ranks.
    pub(crate) fn new(ranks: Ranks, doc: DocId) -> Self {
        let (first, rest) =
            ranks.ranks.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
        Place { first, rest: rest.to_vec(), doc, terms: ranks.terms }
    }

    /// By key the rank, and the term that it stands for.
    pub(crate) fn ranks(&self) -> impl Iterator<Item = (u128, Option<&[u8]>)> {
        let terms = self.terms.iter().map(Option::as_deref).chain(std::iter::repeat(None));
        [self.first].into_iter().chain(self.rest.iter().copied()).zip(terms)
    }

    fn rank_mut(&mut self, key: usize) -> Option<&mut u128> {
        match key.checked_sub(1) {
            None => Some(&mut self.first),
            Some(key) => self.rest.get_mut(key),
        }
    }

    /// Bytes that its terms take.
    fn term_bytes(&self) -> u64 {
        self.terms.iter().flatten().map(|term| (term.len() + TERM_BYTES) as u64).sum()
    }
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SortProfile {
    /// Documents whose values were read.
    pub(crate) documents: u64,
    /// Blocks in which something matches, and those of which nothing can be among the first.
    pub(crate) blocks: u64,
    pub(crate) blocks_skipped: u64,
    pub(crate) time: Duration,
}

/// Keeps the first documents of all that it looks at.
#[derive(Debug)]
pub(crate) struct First<'o> {
    order: &'o SortOrder,
    n: usize,
    /// The last of them on top.
    kept: BinaryHeap<Place>,
    /// What all must come behind, on a later page.
    after: Option<Place>,
    profile: SortProfile,
    /// The ranks of a document by all keys but the first.
    rest: Vec<u128>,
}

/// The columns of a segment, and what is at hand of them.
struct Columns<'s> {
    fields: Vec<(SortField, Column<Section<'s>>)>,
    /// The block that is at hand, by column but the first.
    others: Vec<Option<Block<'s>>>,
    base: u64,
}

/// What matches of a block, with the ranks that it can have by the first key.
struct Part<'m> {
    best: u128,
    nth: u32,
    head: BlockHead,
    places: Places<'m>,
}

impl<'o> First<'o> {
    /// Room for `n` documents, which come behind `after`.
    pub(crate) fn new(order: &'o SortOrder, n: u64, after: Option<Place>) -> Self {
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        let (kept, profile) = (BinaryHeap::new(), SortProfile::default());
        First { order, n, kept, after, profile, rest: vec![] }
    }

    /// Looks at all that matches: at what can have the best first, so that of the rest as little as may be is read.
    ///
    /// # Errors
    ///
    /// What reading columns says; a limit error where a query may not take more memory.
    pub(crate) fn look_at(
        &mut self,
        segments: &[SegmentPlan<'_>],
        matches: &[MatchSet],
    ) -> Result<()> {
        if self.n == 0 {
            return Ok(());
        }
        let mut by_best = vec![];
        for (segment, matches) in segments.iter().zip(matches) {
            let mut fields = vec![];
            for field in self.order.fields() {
                // That there is one was looked up in the schema.
                let column = segment.segment.field(field.field).column()?;
                fields.extend(column.map(|column| (*field, column)));
            }
            let Some((field, column)) = fields.first() else { continue };
            let range = match field.has_ordinals {
                // Numbers of terms say nothing beside those of another segment.
                true => field.all_ranks(),
                false => bounds(field, column.range(), column.n_with() < column.n_docs()),
            };
            by_best.push((range, segment.base, matches, (segment.segment, fields)));
        }
        by_best.sort_by_key(|((best, _), base, ..)| (*best, *base));
        for ((best, worst), base, matches, (segment, fields)) in by_best {
            if self.is_passed_over(best, worst, DocId(base)) {
                continue;
            }
            let others = fields.iter().skip(1).map(|_| None).collect();
            if !self.order.has_ordinals() {
                self.look_at_segment(&mut Columns { fields, others, base }, matches)?;
                continue;
            }
            self.go_over_to(segment)?;
            let done = self.look_at_segment(&mut Columns { fields, others, base }, matches);
            // What was found is shown, where there was no time for the rest.
            let read = self.read_terms(segment, done.is_err());
            done.and(read)?;
        }
        Ok(())
    }

    /// Gives what is kept the ranks that its terms have in `segment`.
    fn go_over_to(&mut self, segment: SegmentReader<'_>) -> Result<()> {
        // In the order in which the heap has what is kept.
        let (mut by_key, mut held) = (vec![], Held::default());
        for (key, field) in self.order.fields().iter().enumerate() {
            if !field.has_ordinals {
                continue;
            }
            let places = self.kept.iter().chain(&self.after);
            let terms = places.filter_map(|place| place.terms.get(key)?.as_deref());
            let mut ranks: BTreeMap<&[u8], u128> = BTreeMap::new();
            for term in terms {
                budget::work(KEY_NS)?;
                if ranks.insert(term, 0).is_none() {
                    held.more(TERM_BYTES as u64)?;
                }
            }
            let dictionary = segment.field(field.field).terms()?;
            for (nth, (term, rank)) in (0..).zip(&mut ranks) {
                budget::work(TERM_NS)?;
                let n_less = dictionary.rank(term)?;
                *rank = match dictionary.get(term)? {
                    Some(_) => field.rank(Some(n_less.into())),
                    None => field.rank_between(n_less, nth),
                };
            }
            let rank = |place: &Place| ranks.get(place.terms.get(key)?.as_deref()?).copied();
            let of_kept: Vec<_> = self.kept.iter().map(rank).collect();
            held.more(size_of_val(&of_kept[..]) as u64)?;
            by_key.push((key, of_kept, self.after.as_ref().and_then(rank)));
        }
        let mut places = std::mem::take(&mut self.kept).into_vec();
        for (key, of_kept, of_after) in by_key {
            let ranks = of_kept.into_iter().chain([of_after]);
            for (place, rank) in places.iter_mut().chain(&mut self.after).zip(ranks) {
                if let (Some(rank), Some(slot)) = (rank, place.rank_mut(key)) {
                    *slot = rank;
                }
            }
        }
        // They stand to each other as before.
        self.kept = places.into();
        Ok(())
    }

    /// Reads the terms of what is kept of `segment`, while its numbers of terms mean something; of a search that is stopped,
    /// too. What cannot be read is not kept.
    fn read_terms(&mut self, segment: SegmentReader<'_>, is_stopped: bool) -> Result<()> {
        let (order, mut term, mut done) = (self.order, vec![], Ok(()));
        let mut read = |place: &Place| {
            let mut terms = Vec::with_capacity(order.fields().len());
            for (field, (rank, _)) in order.fields().iter().zip(place.ranks()) {
                let ordinal = if field.has_ordinals { field.ordinal(rank) } else { None };
                terms.push(match ordinal {
                    Some(ordinal) => {
                        segment
                            .field(field.field)
                            .terms()?
                            .term(TermOrdinal(ordinal), &mut term)?;
                        Some(term.as_slice().into())
                    }
                    None => None,
                });
            }
            Ok(terms)
        };
        let mut places = std::mem::take(&mut self.kept).into_vec();
        if is_stopped {
            places.sort_unstable();
            places.truncate(AFTER_STOP);
        }
        for place in places.iter_mut().filter(|place| place.terms.is_empty()) {
            done = read(place).map(|terms| place.terms = terms).and_then(|()| match is_stopped {
                true => Ok(()),
                false => budget::hold(place.term_bytes()).and_then(|()| budget::work(TERM_NS)),
            });
            if done.is_err() {
                break;
            }
        }
        places.retain(|place| !place.terms.is_empty());
        self.kept = places.into();
        done
    }

    /// The last of the documents that are kept, where there are as many as wanted.
    #[inline]
    fn last(&self) -> Option<&Place> {
        self.kept.peek().filter(|_| self.kept.len() == self.n)
    }

    /// Whether a document with this rank by the first key, and this number or a greater one, may be one of the first.
    #[inline]
    fn admits(&self, first: u128, doc: DocId) -> bool {
        self.last().is_none_or(|last| match self.order.fields().len() {
            1 => (first, doc) < (last.first, last.doc),
            _ => first <= last.first,
        })
    }

    /// Whether none can be with a rank between these.
    fn is_passed_over(&self, best: u128, worst: u128, doc: DocId) -> bool {
        self.after.as_ref().is_some_and(|after| worst < after.first) || !self.admits(best, doc)
    }

    fn look_at_segment(&mut self, columns: &mut Columns<'_>, matches: &MatchSet) -> Result<()> {
        let Some((field, column)) = columns.fields.first() else { return Ok(()) };
        let (field, column, mut parts) = (*field, *column, vec![]);
        let mut heads = Heads::of(column);
        for_each_block(matches, &mut heads, |heads, nth, places| {
            budget::work(HEAD_NS)?;
            self.profile.blocks += 1;
            let head = heads.get(nth)?;
            let n_docs = column.n_docs().saturating_sub(nth * BLOCK_DOCS).min(BLOCK_DOCS);
            let range = (head.n_values > 0).then_some((head.least, head.greatest));
            let (best, worst) = bounds(&field, range, u32::from(head.n_with) < n_docs);
            if self.is_passed_over(best, worst, columns.first_of(nth)) {
                self.profile.blocks_skipped += 1;
                return Ok(());
            }
            budget::hold(size_of::<Part<'_>>() as u64)?;
            parts.push(Part { best, nth, head, places });
            Ok(())
        })?;
        budget::work(SORTED_NS * parts.len() as u64)?;
        parts.sort_unstable_by_key(|part| (part.best, part.nth));
        let n_parts = parts.len() as u64;
        for part in parts {
            if self.admits(part.best, columns.first_of(part.nth)) {
                let block = column.block(part.nth, part.head)?;
                self.look_at_block(columns, field, &block, part)?;
            } else {
                self.profile.blocks_skipped += 1;
            }
        }
        budget::release(n_parts * size_of::<Part<'_>>() as u64);
        Ok(())
    }

    fn look_at_block(
        &mut self,
        columns: &mut Columns<'_>,
        field: SortField,
        block: &Block<'_>,
        part: Part<'_>,
    ) -> Result<()> {
        columns.others.iter_mut().for_each(|other| *other = None);
        let base = columns.first_of(part.nth).0;
        let before = self.after.as_ref().map_or(0, |after| after.first);
        let (mut n_read, mut done) = (0, Ok(()));
        part.places.for_each(|place| {
            n_read += 1;
            let first = field.rank(field.code_of(block, place));
            let doc = DocId(base + u64::from(place));
            if first >= before && self.admits(first, doc) && done.is_ok() {
                done = self.take(columns, part.nth, place, first);
            }
        });
        self.profile.documents += n_read;
        budget::work(DOC_NS * n_read)?;
        done
    }

    /// Takes a document if it is one of the first so far.
    #[inline(never)]
    fn take(&mut self, columns: &mut Columns<'_>, nth: u32, place: u32, first: u128) -> Result<()> {
        let doc = DocId(columns.first_of(nth).0 + u64::from(place));
        budget::work(KEY_NS * columns.fields.len() as u64)?;
        self.rest.clear();
        for ((field, column), block) in columns.fields.iter().skip(1).zip(&mut columns.others) {
            let block = match block {
                Some(block) => block,
                None => block.insert(column.block(nth, column.head(nth)?)?),
            };
            self.rest.push(field.rank(field.code_of(block, place)));
        }
        let order = |other: &Place| {
            (first, &self.rest[..], doc).cmp(&(other.first, &other.rest[..], other.doc))
        };
        if self.after.as_ref().is_some_and(|after| order(after).is_le()) {
            return Ok(());
        }
        match self.last().map(order) {
            Some(Ordering::Less) => {
                if let Some(place) = self.kept.pop() {
                    budget::release(place.term_bytes());
                }
            }
            Some(_) => return Ok(()),
            None => {
                let ranks = self.rest.len() * size_of::<u128>();
                budget::hold((size_of::<Place>() + ranks) as u64)?;
            }
        }
        self.kept.push(Place { first, rest: self.rest.clone(), doc, terms: vec![] });
        Ok(())
    }

    pub(crate) fn profile(&self) -> SortProfile {
        self.profile
    }

    /// The first documents, in order.
    pub(crate) fn into_sorted(self) -> Vec<Place> {
        self.kept.into_sorted_vec()
    }
}

impl Columns<'_> {
    /// The number of the first document of a block.
    fn first_of(&self, nth: u32) -> DocId {
        DocId(self.base + u64::from(nth) * u64::from(BLOCK_DOCS))
    }
}

/// The ranks that documents with codes in this range have at the least and at the most, where some may have none.
fn bounds(field: &SortField, range: Option<(u64, u64)>, has_missing: bool) -> (u128, u128) {
    let missing = field.rank(None);
    let Some((least, greatest)) = range else { return (missing, missing) };
    let (a, b) = (field.rank(Some(least)), field.rank(Some(greatest)));
    match has_missing {
        true => (a.min(b).min(missing), a.max(b).max(missing)),
        false => (a.min(b), a.max(b)),
    }
}
