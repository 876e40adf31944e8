//! The first documents of an order, found without sorting the others.
//!
//! By keywords, documents are compared by the numbers of their terms, which each segment counts for itself: before the
//! next one is looked at, kept documents get the ranks of their terms there. A term that the next lacks gets a place
//! between two.

use super::key::Direction;
use super::order::{SortField, SortOrder};
use super::place::{Place, TERM_BYTES};
use super::ranks::SegmentRanks;
use super::streaming::{FirstLists, StreamCounts, Streamed};
use crate::budget::{self, Held, ns};
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::expansion::Expansion;
use crate::facet::{ColumnCounts, NumbersAt};
use crate::format::column::{BLOCK_DOCS, Block, BlockHead, Column, Few, Heads, OneEach};
use crate::ids::{DocId, TermOrdinal};
use crate::matching::{Places, for_each_block, for_each_block_of, for_each_few_or_block};
use crate::plan::order::{OrderCosts, OrderedSegment};
use crate::plan::{CostModel, OrderShape, Plan, SegmentPlan, SortStrategy};
use crate::segment::file::Section;
use crate::segment::reader::SegmentReader;
use crate::weight::Weight;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

/// Documents that are looked at of a search that is stopped, and work that is done for their other keys, in nanoseconds: scores,
/// functions and texts may take much.
pub(super) const AFTER_STOP: usize = 1_024;
const AFTER_STOP_NS: u64 = 2_000_000;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SortProfile {
    pub(crate) column: ColumnCounts,
    pub(crate) streamed: StreamCounts,
}

/// Keeps the first documents of all that it looks at.
#[derive(Debug)]
pub(crate) struct First<'o> {
    pub(super) order: &'o SortOrder,
    pub(super) strategy: SortStrategy,
    pub(super) costs: &'o CostModel,
    pub(super) n: usize,
    /// Whether rank and number tell of two documents which comes first.
    pub(super) is_told_by_first: bool,
    /// The last of them on top.
    kept: BinaryHeap<Place>,
    /// Place that all must come behind, on a later page.
    pub(super) after: Option<Place>,
    /// Ranges of the first key's field of which all that match have a value.
    pub(super) within: Vec<Expansion>,
    pub(crate) profile: SortProfile,
    numbers: NumbersAt,
    /// The document that is looked at.
    pub(super) candidate: Place,
}

/// A look at what matches of a segment.
pub(super) struct InSegment<'f, 'o, 's> {
    pub(super) first: &'f mut First<'o>,
    pub(super) segment: &'f SegmentPlan<'s>,
    pub(super) ranks: SegmentRanks<'s>,
}

/// Matches of a block, with the ranks that it can have by the first key.
struct Part<'m> {
    best: u128,
    nth: u32,
    head: BlockHead,
    places: Places<'m>,
}

impl<'o> First<'o> {
    /// Room for `n` documents, which come behind `after`.
    pub(crate) fn new(
        (order, strategy): (&'o SortOrder, SortStrategy),
        n: u64,
        after: Option<Place>,
        costs: &'o CostModel,
    ) -> Self {
        First {
            order,
            strategy,
            costs,
            n: usize::try_from(n).unwrap_or(usize::MAX),
            is_told_by_first: order.keys().len() == 1 && !order.has_texts(),
            kept: BinaryHeap::new(),
            after,
            within: vec![],
            profile: SortProfile::default(),
            numbers: NumbersAt::default(),
            candidate: Place::new(DocId(0)),
        }
    }

    /// Learns what the plan that finds the matches says of the first key's field.
    pub(crate) fn keep_to(&mut self, plan: &Plan<'_>) {
        if let Some(field) = self.order.first_field() {
            self.within = plan.required_ranges(field.field).cloned().collect();
        }
    }

    /// Costs of all ways, as far as a plan knows what matches.
    pub(crate) fn expected(&self, plan: &Plan<'_>) -> Result<OrderCosts> {
        plan.segments.iter().try_fold(OrderCosts::default(), |sum, segment| {
            let n_matches = segment.display_estimate(plan.root()).documents as f64;
            let lists = self.lists(segment)?;
            let ordered = self.ordered(segment, n_matches, lists.as_ref());
            Ok(sum.and(ordered.costs(self.costs)))
        })
    }

    /// Keys in whose order the documents of a segment are gone through; none where they are looked for otherwise.
    fn n_in_order(&self, segment: &SegmentPlan<'_>) -> usize {
        match self.strategy {
            SortStrategy::IndexOrder => self.order.n_in_index_order(segment.segment.schema()),
            _ => 0,
        }
    }

    /// Documents that are wanted beside those that are kept.
    pub(super) fn n_missing(&self) -> usize {
        self.n.saturating_sub(self.kept.len())
    }

    /// Facts of a segment in which so many match.
    pub(super) fn ordered(
        &self,
        segment: &SegmentPlan<'_>,
        n_matches: f64,
        lists: Option<&FirstLists>,
    ) -> OrderedSegment {
        OrderedSegment {
            n_docs: segment.n_docs,
            n_windows: segment.n_windows(),
            n_matches,
            n_wanted: self.n as f64,
            shape: OrderShape {
                is_in_index_order: self.n_in_order(segment) > 0,
                has_bounds: self.order.first_field().is_some(),
                has_places: self.order.near().is_some(),
            },
            lists: lists.map(|lists| (lists.ordinals.len() as u32, lists.n_docs)),
        }
    }

    /// Looks at all that matches: at what can have the best first, so that of the rest as little as may be is read. `ranked`
    /// scores it, where a key asks for that.
    pub(crate) fn look_at(
        &mut self,
        segments: &[SegmentPlan<'_>],
        matches: &[DocIdSet],
        ranked: Option<&Weight<'_>>,
    ) -> Result<()> {
        if self.n == 0 {
            return Ok(());
        }
        let mut by_best = vec![];
        for (at, (segment, matches)) in segments.iter().zip(matches).enumerate() {
            // Numbers of terms say nothing beside those of another segment.
            let field = self.order.first_field().filter(|field| !field.has_ordinals);
            let column = field.map(|field| segment.segment.field(field.field).column());
            let bounds = field.zip(column.transpose()?.flatten()).map(|(field, column)| {
                field.bounds(column.range(), column.n_with() < column.n_docs())
            });
            let range = bounds.unwrap_or((Direction::FIRST, Direction::LAST));
            by_best.push((range, at, segment, matches));
        }
        by_best.sort_by_key(|((best, _), at, ..)| (*best, *at));
        for ((best, worst), at, segment, matches) in by_best {
            if self.is_passed_over(best, worst, DocId(segment.base)) {
                continue;
            }
            let ranked = ranked.map(|ranked| ranked.of_segment(at));
            let scorer = ranked.map(|(ranked, nth)| ranked.segment(nth)).transpose()?;
            let (reader, base) = (segment.segment, segment.base);
            let ranks = SegmentRanks::open(self.order, reader, base, scorer)?;
            self.go_over_to(reader)?;
            let done = InSegment { segment, ranks, first: &mut *self }.look_at(matches);
            let has_ordinals = self.order.with_ordinals().next().is_some();
            // Hits found so far are shown if there was no time for the rest.
            let read = if has_ordinals { self.read_terms(reader, done.is_err()) } else { Ok(()) };
            done.and(read)?;
        }
        Ok(())
    }

    /// Gives what is kept the ranks that its terms have in `segment`.
    fn go_over_to(&mut self, segment: SegmentReader<'_>) -> Result<()> {
        let (order, mut held) = (self.order, Held::default());
        for (key, field) in order.with_ordinals() {
            let places = self.kept.iter().chain(&self.after);
            let terms = places.filter_map(|place| place.terms.get(key)?.as_deref());
            let mut ranks: BTreeMap<&[u8], u128> = BTreeMap::new();
            for term in terms {
                budget::work(ns::KEY_COMPARED)?;
                if ranks.insert(term, 0).is_none() {
                    held.more(TERM_BYTES as u64)?;
                }
            }
            let dictionary = segment.field(field.field).terms()?;
            for (nth, (term, rank)) in (0..).zip(&mut ranks) {
                budget::work(ns::TERM_RANK)?;
                let n_less = dictionary.rank(term)?;
                *rank = match dictionary.get(term)? {
                    Some(_) => field.rank(Some(n_less.into())),
                    None => field.rank_between(n_less, nth),
                };
            }
            let rank = |place: &Place| ranks.get(place.terms.get(key)?.as_deref()?).copied();
            // In the order in which the heap has what is kept.
            let ranks: Vec<_> = self.kept.iter().chain(&self.after).map(rank).collect();
            held.more(size_of_val(&ranks[..]) as u64)?;
            let mut places = std::mem::take(&mut self.kept).into_vec();
            for (place, rank) in places.iter_mut().chain(&mut self.after).zip(ranks) {
                if let (Some(rank), Some(slot)) = (rank, place.rank_mut(key)) {
                    *slot = rank;
                }
            }
            // They stand to each other as before.
            self.kept = places.into();
        }
        Ok(())
    }

    /// Reads the terms of what is kept of `segment`, while its numbers of terms mean something; of a search that is
    /// stopped, too. Unreadable documents are not kept.
    fn read_terms(&mut self, segment: SegmentReader<'_>, is_stopped: bool) -> Result<()> {
        let (order, mut term) = (self.order, vec![]);
        let mut places = std::mem::take(&mut self.kept).into_vec();
        if is_stopped {
            places.sort_unstable();
            places.truncate(AFTER_STOP);
        }
        let done = places.iter_mut().filter(|place| place.terms.is_empty()).try_for_each(|place| {
            let mut terms = vec![None; order.keys().len()];
            for (key, field) in order.with_ordinals() {
                if let Some(ordinal) = place.rank_mut(key).and_then(|rank| field.ordinal(*rank)) {
                    segment.field(field.field).terms()?.term(TermOrdinal(ordinal), &mut term)?;
                    terms[key] = Some(term.as_slice().into());
                }
            }
            place.terms = terms;
            if !is_stopped {
                budget::hold(place.term_bytes())?;
                budget::work(ns::TERM_RANK)?;
            }
            Ok(())
        });
        places.retain(|place| !place.terms.is_empty());
        self.kept = places.into();
        done
    }

    /// The last of the documents that are kept, where there are as many as wanted.
    #[inline]
    pub(super) fn last(&self) -> Option<&Place> {
        self.kept.peek().filter(|_| self.kept.len() == self.n)
    }

    /// Whether a document with this rank by the first key, and this number or a greater one, may be one of the first.
    #[inline]
    pub(super) fn admits(&self, first: u128, doc: DocId) -> bool {
        self.last().is_none_or(|last| match self.is_told_by_first {
            true => (first, doc) < (last.first, last.doc),
            false => first <= last.first,
        })
    }

    /// Whether none can be with a rank between these.
    fn is_passed_over(&self, best: u128, worst: u128, doc: DocId) -> bool {
        self.after.as_ref().is_some_and(|after| worst < after.first) || !self.admits(best, doc)
    }

    pub(crate) fn into_sorted(self) -> Vec<Place> {
        self.kept.into_sorted_vec()
    }
}

impl<'s> InSegment<'_, '_, 's> {
    fn look_at(&mut self, matches: &DocIdSet) -> Result<()> {
        let n_in_order = self.first.n_in_order(self.segment);
        if n_in_order > 0 {
            return self.look_at_in_order(n_in_order, matches);
        }
        if let Some(field) = self.first.order.first_field()
            && let Some(column) = self.segment.segment.field(field.field).column()?
        {
            let left = budget::left();
            let streamed = self.streamed(matches)?;
            let held = left.saturating_sub(budget::left());
            let done = match streamed {
                None => self.look_at_blocks(field, column, matches),
                Some(Streamed { documents, first, stopped }) => {
                    let looked_at = || self.look_at_blocks(field, column, &documents);
                    let done = stopped.map_or_else(looked_at, Err);
                    // Hits found so far are shown if there was no time to look at it.
                    if done.as_ref().is_err_and(budget::is_stop) {
                        self.take_after_stop(&first)?;
                    }
                    done
                }
            };
            budget::release(held);
            return done;
        }
        if self.look_at_nearest(matches)? {
            return Ok(());
        }
        for_each_block_of(matches, self.segment.n_docs, |nth, places| {
            self.first.profile.column.blocks += 1;
            self.first.profile.column.documents += u64::from(places.len());
            places.try_for_each(|place| {
                budget::work(ns::KEY_COMPARED)?;
                let doc = nth * BLOCK_DOCS + place;
                let rank = self.ranks.first(doc)?;
                self.take_if_wanted(doc, rank)
            })
        })
    }

    /// Documents that have the first of all among them, by lists in their order, where the plan has it that these pay.
    fn streamed(&mut self, matches: &DocIdSet) -> Result<Option<Streamed>> {
        let Some(lists) = self.first.lists(self.segment)? else { return Ok(None) };
        let n_matches = matches.len(self.segment.n_docs) as f64;
        let ordered = self.first.ordered(self.segment, n_matches, Some(&lists));
        match ordered.lists_by(self.first.strategy, self.first.costs) {
            Some(costs) => self.first.candidates(lists, (self.segment, matches), costs),
            None => Ok(None),
        }
    }

    /// Takes documents that are known to match, of a search that is stopped: a few, and as many of these as take little time.
    fn take_after_stop(&mut self, docs: &[u32]) -> Result<()> {
        let taken: HashSet<DocId> = self.first.kept.iter().map(|place| place.doc).collect();
        let mut take = |doc: u32| {
            let (rank, id) = (self.ranks.first(doc)?, self.ranks.id(doc));
            match self.is_wanted(rank, doc) && !taken.contains(&id) {
                true => self.put(doc, rank),
                false => Ok(()),
            }
        };
        match budget::in_grace(AFTER_STOP_NS, || docs.iter().try_for_each(|doc| take(*doc))) {
            Err(error) if budget::is_stop(&error) => Ok(()),
            done => done,
        }
    }

    /// Whether a document with this rank by the first key may be one of the first.
    #[inline]
    fn is_wanted(&self, rank: u128, doc: u32) -> bool {
        let least = self.first.after.as_ref().map_or(0, |after| after.first);
        rank >= least && self.first.admits(rank, self.ranks.id(doc))
    }

    fn look_at_blocks(
        &mut self,
        field: SortField,
        column: Column<Section<'s>>,
        matches: &DocIdSet,
    ) -> Result<()> {
        let (mut parts, mut heads) = (vec![], Heads::of(column));
        if column.n_with() == column.n_docs() {
            // If few of a block match, its bounds say little of them: their values are read at once.
            for_each_few_or_block(
                matches,
                &mut heads,
                &mut (&mut *self, &mut parts),
                |(look, _), few| look.look_at_few(field, few),
                |(look, parts), heads, nth, places| {
                    parts.extend(look.part(field, heads, nth, places)?);
                    Ok(())
                },
            )?;
        } else {
            for_each_block(matches, &mut heads, |heads, nth, places| {
                parts.extend(self.part(field, heads, nth, places)?);
                Ok(())
            })?;
        }
        budget::work(ns::BLOCK_SORTED * parts.len() as u64)?;
        parts.sort_unstable_by_key(|part| (part.best, part.nth));
        let n_parts = parts.len() as u64;
        for part in parts {
            if self.first.admits(part.best, self.ranks.id(part.nth * BLOCK_DOCS)) {
                let block = column.block(part.nth, part.head)?;
                self.look_at_block(field, &block, part)?;
            } else {
                self.first.profile.column.blocks_skipped += 1;
            }
        }
        budget::release(n_parts * size_of::<Part<'_>>() as u64);
        Ok(())
    }

    /// Matches of a block, if any of it may be among the first.
    fn part<'m>(
        &mut self,
        field: SortField,
        heads: &mut Heads<'s, Section<'s>>,
        nth: u32,
        places: Places<'m>,
    ) -> Result<Option<Part<'m>>> {
        budget::work(ns::COLUMN_HEAD)?;
        self.first.profile.column.blocks += 1;
        let head = heads.get(nth)?;
        let n_docs = heads.column().docs_of(nth);
        let range = (head.n_values > 0).then_some((head.least, head.greatest));
        let (best, worst) = field.bounds(range, u32::from(head.n_with) < n_docs);
        if self.first.is_passed_over(best, worst, self.ranks.id(nth * BLOCK_DOCS)) {
            self.first.profile.column.blocks_skipped += 1;
            return Ok(None);
        }
        budget::hold(size_of::<Part<'_>>() as u64)?;
        Ok(Some(Part { best, nth, head, places }))
    }

    /// Looks at documents here and there, each of which has one value.
    fn look_at_few(&mut self, field: SortField, few: &Few) -> Result<()> {
        self.first.profile.column.blocks += few.n_blocks;
        self.first.profile.column.documents += few.n_docs;
        for (doc, code) in few.docs_and_codes() {
            self.take_if_wanted(doc, field.rank(Some(code)))?;
        }
        budget::work(ns::VALUE_OF_FEW * few.n_docs)
    }

    fn look_at_block(&mut self, field: SortField, block: &Block<'_>, part: Part<'_>) -> Result<()> {
        let n_read = u64::from(part.places.len());
        let done = match block.one_each().filter(OneEach::are_plain) {
            Some(numbers) => self.look_at_numbers(field, &numbers, part),
            None => part.places.try_for_each(|place| {
                let rank = field.rank(field.code_of(block, place));
                self.take_if_wanted(part.nth * BLOCK_DOCS + place, rank)
            }),
        };
        self.first.profile.column.documents += n_read;
        budget::work(ns::DOC_RANKED * n_read)?;
        done
    }

    /// Looks at the numbers of a block, most of which are told to be too far from the first by one comparison.
    fn look_at_numbers(
        &mut self,
        field: SortField,
        of_block: &OneEach<'_>,
        part: Part<'_>,
    ) -> Result<()> {
        let mut room = std::mem::take(&mut self.first.numbers);
        let (places, numbers) = room.read(of_block, part.places);
        let admitted = |first: &First<'_>| {
            let code = |place: Option<&Place>| field.direction.code(place?.first);
            let codes = match (field.direction.descending, code(first.last())) {
                (false, Some(last)) => 0..=last,
                (true, Some(last)) => last..=u64::MAX,
                (_, None) => 0..=u64::MAX,
            };
            of_block.numbers_of(&codes).unwrap_or(0..u32::MAX)
        };
        let mut wanted = admitted(self.first);
        let mut done = Ok(());
        for (place, number) in places.iter().zip(numbers) {
            if !wanted.contains(number) {
                continue;
            }
            let rank = field.rank(Some(of_block.code_of(*number)));
            let doc = part.nth * BLOCK_DOCS + place;
            if self.is_wanted(rank, doc) {
                done = self.take(doc, rank);
                if done.is_err() {
                    break;
                }
                wanted = admitted(self.first);
            }
        }
        self.first.numbers = room;
        done
    }

    #[inline]
    pub(super) fn take_if_wanted(&mut self, doc: u32, rank: u128) -> Result<()> {
        if self.is_wanted(rank, doc) { self.take(doc, rank) } else { Ok(()) }
    }

    /// Takes a document if it is one of the first so far.
    #[inline(never)]
    pub(super) fn take(&mut self, doc: u32, rank: u128) -> Result<()> {
        budget::work(ns::KEY_COMPARED * self.first.order.keys().len() as u64)?;
        self.put(doc, rank)
    }

    /// Offers a document without asking for time.
    fn put(&mut self, doc: u32, rank: u128) -> Result<()> {
        let InSegment { first, ranks, .. } = self;
        let candidate = &mut first.candidate;
        (candidate.first, candidate.doc) = (rank, ranks.id(doc));
        ranks.rest(doc, candidate)?;
        if first.after.as_ref().is_some_and(|after| *candidate <= *after) {
            return Ok(());
        }
        let is_full = first.kept.len() == first.n;
        match first.kept.peek_mut().filter(|_| is_full) {
            Some(last) if *last <= *candidate => return Ok(()),
            Some(last) => {
                let last = PeekMut::pop(last);
                budget::release(last.term_bytes() + last.tie_bytes());
            }
            None => budget::hold(candidate.n_bytes())?,
        }
        budget::hold(candidate.tie_bytes())?;
        first.kept.push(candidate.clone());
        Ok(())
    }
}
