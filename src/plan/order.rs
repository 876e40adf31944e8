//! Strategies for the first documents of an order, and of each group, by cost.
//!
//! | way | reads |
//! |---|---|
//! | order of the index | what matches, up to the last that is wanted |
//! | lists in their order | lists of the first field, from its first value on, until they hold as much of what matches as is wanted; then the column for these |
//! | bounds of blocks | heads of all blocks of the first field's column where something matches, and the blocks with the best bounds |
//! | places | boxes of points, the nearest first, and the pages of points that may be among the first |
//! | every match | a key of each match |
//!
//! A [`SortStrategy`] says which of these are open. Whether lists or bounds of blocks cost less depends on the matches of each
//! segment: the plan has the rule and the number from which on it is lists.

use super::costs::CostModel;
use super::forced::Forced;
use crate::bitmap;
use crate::format::boxes::PAGE_POINTS;
use crate::format::column::BLOCK_DOCS;

/// Factor by which lists must cost less than heads of blocks: values of the matches may be others than those of all.
const BETTER_BY: f32 = 4.0;
/// Matches of a window up to which a document is searched for among them.
const ARRAY_MAX: f64 = bitmap::ARRAY_MAX as f64;
/// Documents for one that matches from which on groups of documents tell enough, groups for one in which something matches, and
/// matches that are put into groups in the time that groups save where a document is asked for.
const SPARSE_FROM: f64 = 64.0;
const GROUPS_EACH: f64 = 8.0;
const MATCHES_OF_ASKED: f64 = 8.0;
/// Hits of the first batch for each of a page that is grouped, the least there are, and growth from batch to batch.
const BATCH_PER_HIT: u64 = 4;
const BATCH_MIN: u64 = 64;
const BATCH_GROWTH: u64 = 8;

/// Facts of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OrderShape {
    /// Whether documents of the index lie in this order, by its first keys.
    pub(crate) is_in_index_order: bool,
    /// Whether blocks of a column have bounds of the first key.
    pub(crate) has_bounds: bool,
    /// Whether the first key is a distance, which boxes of points have bounds of.
    pub(crate) has_places: bool,
}

/// Ways to find the first documents of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortStrategy {
    /// Reads matches as they lie in the index, up to the last that is wanted.
    IndexOrder,
    /// Lists of the first field in their order in segments where [they pay](OrderedSegment::lists_pay), bounds of blocks in others.
    ListsOrBounds,
    /// Lists of the first field in their order wherever there are any, whatever they cost.
    Lists,
    /// Bounds of the blocks of the first field's column.
    Bounds,
    /// Boxes of points, the nearest first, in segments where [they pay](OrderedSegment::places_pay), every match in others.
    Places,
    /// A key of every match, of which the first are kept.
    EveryMatch,
    SortAll,
}

impl SortStrategy {
    pub(crate) fn choose(order: OrderShape, forced: Option<Forced>) -> Self {
        match forced {
            Some(Forced::SortAll) => SortStrategy::SortAll,
            _ if order.is_in_index_order => SortStrategy::IndexOrder,
            Some(Forced::EveryMatch) => SortStrategy::EveryMatch,
            _ if order.has_places => SortStrategy::Places,
            _ if !order.has_bounds => SortStrategy::EveryMatch,
            Some(Forced::WithoutStreams) => SortStrategy::Bounds,
            Some(Forced::WithStreams) => SortStrategy::Lists,
            _ => SortStrategy::ListsOrBounds,
        }
    }

    /// Documents that are kept, where so many of `n_docs` are wanted.
    pub(crate) fn n_kept(self, wanted: u64, n_docs: u64) -> u64 {
        if self == SortStrategy::SortAll { n_docs } else { wanted.min(n_docs) }
    }

    /// Whether lists may be read: also of a segment that does not lie in the order of the index.
    pub(crate) fn may_read_lists(self) -> bool {
        matches!(self, SortStrategy::ListsOrBounds | SortStrategy::Lists | SortStrategy::IndexOrder)
    }

    /// Ways that could be taken instead, given whether lists were read.
    pub(crate) fn otherwise(self, has_read_lists: bool) -> impl Iterator<Item = Forced> {
        let lists = if has_read_lists { Forced::WithoutStreams } else { Forced::WithStreams };
        let lists = (self == SortStrategy::ListsOrBounds).then_some(lists);
        let every_match = (self == SortStrategy::Places).then_some(Forced::EveryMatch);
        [Forced::SortAll].into_iter().chain(lists).chain(every_match)
    }
}

/// Segment whose first documents are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OrderedSegment {
    pub(crate) n_docs: u32,
    pub(crate) n_windows: u32,
    pub(crate) n_matches: f64,
    pub(crate) n_wanted: f64,
    /// Facts of the order there.
    pub(crate) shape: OrderShape,
    /// Lists of the first field from which documents may come, and documents in them, where they can be read instead.
    pub(crate) lists: Option<(u32, u64)>,
}

/// Costs of the ways to find the first documents, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OrderCosts {
    /// Lists in their order, where they can be read.
    pub(crate) by_lists: Option<f32>,
    /// Boxes of points, the nearest first, where the first key is a distance.
    pub(crate) by_places: Option<f32>,
    /// Heads of blocks, and the best blocks.
    pub(crate) by_bounds: f32,
    /// Bounds left out: every match, of which the first are kept.
    pub(crate) of_every_match: f32,
    pub(crate) sorted: f32,
    pub(crate) chosen: f32,
    pub(crate) reads_lists: bool,
    /// Matches from which on lists are read instead of heads of blocks, where that is ever so.
    pub(crate) lists_from: Option<u64>,
}

/// Costs of a list that is read in its order, of a document in it, and the most that all may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListCosts {
    pub(crate) list: f32,
    pub(crate) doc: f32,
    pub(crate) most: f32,
}

impl OrderedSegment {
    fn n_blocks(&self) -> f64 {
        self.n_matches.min(f64::from(self.n_docs.div_ceil(BLOCK_DOCS)))
    }

    /// Reading the heads of blocks, which are sorted by their bounds.
    fn heads_ns(&self, costs: &CostModel) -> f32 {
        self.n_blocks() as f32 * (costs.column_block_ns + costs.sort_code_ns)
    }

    /// Costs of reading lists, of which heads of blocks are the limit.
    fn list_costs(&self, costs: &CostModel) -> ListCosts {
        let is_searched = self.n_matches <= ARRAY_MAX * f64::from(self.n_windows.max(1));
        let look_up = if is_searched { costs.gallop_ns } else { costs.probe_bit_ns };
        ListCosts {
            list: costs.enumerate_term_ns + costs.open_list_ns,
            doc: costs.varint_ns + look_up,
            most: self.heads_ns(costs),
        }
    }

    /// Pages of points that have the first of what matches, and a few more around the point that is asked about.
    fn by_places_ns(&self, costs: &CostModel) -> Option<f32> {
        const PAGES_AROUND: f64 = 4.0;
        let points_of_page = f64::from(PAGE_POINTS);
        let n_pages = PAGES_AROUND + self.n_read_for_first() / points_of_page;
        let ns = (n_pages * points_of_page) as f32 * costs.page_point_ns;
        self.shape.has_places.then_some(ns)
    }

    /// Binary logarithm of the documents of a group, if few match of those around a point: a bit for each group then answers for most of
    /// its documents.
    pub(crate) fn group_bits(&self) -> Option<u32> {
        let docs_of_match = f64::from(self.n_docs) / self.n_matches.max(1.0);
        let pays = docs_of_match >= SPARSE_FROM
            && self.n_read_for_first() * MATCHES_OF_ASKED >= self.n_matches;
        pays.then(|| (docs_of_match / GROUPS_EACH) as u32).map(u32::ilog2)
    }

    /// Documents around a point among which as many match as are wanted.
    fn n_read_for_first(&self) -> f64 {
        self.n_wanted * f64::from(self.n_docs) / self.n_matches.max(1.0)
    }

    /// Whether boxes of points cost less than a distance of every match.
    pub(crate) fn places_pay(&self, costs: &CostModel) -> bool {
        let every_match = self.n_matches as f32 * costs.point_ns;
        self.by_places_ns(costs).is_some_and(|ns| ns < every_match)
    }

    /// Reading as many lists as hold what is wanted, where they can be read.
    fn by_lists_ns(&self, of_lists: ListCosts) -> Option<f32> {
        let (n_lists, n_docs) = self.lists.filter(|_| self.n_matches > 0.0)?;
        // Matches count as if they had any of these values.
        let n_docs = n_docs as f64;
        let n_read = self.n_wanted * n_docs / self.n_matches;
        let n_lists = (n_read * f64::from(n_lists) / n_docs.max(1.0)).max(1.0);
        Some(n_lists as f32 * of_lists.list + n_read as f32 * of_lists.doc)
    }

    /// Costs of reading lists, where a strategy has it that they are read.
    pub(crate) fn lists_by(&self, strategy: SortStrategy, costs: &CostModel) -> Option<ListCosts> {
        let of_lists = self.list_costs(costs);
        match strategy {
            SortStrategy::Lists => Some(ListCosts { most: f32::INFINITY, ..of_lists }),
            _ => self.lists_pay(costs).then_some(of_lists),
        }
    }

    /// Whether lists cost enough less than heads of blocks.
    fn lists_pay(&self, costs: &CostModel) -> bool {
        let of_lists = self.list_costs(costs);
        self.by_lists_ns(of_lists).is_some_and(|ns| ns * BETTER_BY <= of_lists.most)
    }

    /// Matches from which on lists pay: the more documents match, the fewer are read before enough are found.
    fn lists_from(&self, costs: &CostModel) -> Option<u64> {
        let pay = |n: u32| OrderedSegment { n_matches: n.into(), ..*self }.lists_pay(costs);
        let mut range = 0..self.lists.map(|_| self.n_docs).filter(|n_docs| pay(*n_docs))?;
        while !range.is_empty() {
            let middle = range.start + range.len() as u32 / 2;
            range = if pay(middle) { range.start..middle } else { middle + 1..range.end };
        }
        Some(range.end.into())
    }

    pub(crate) fn costs(&self, costs: &CostModel) -> OrderCosts {
        let (n_matches, n_blocks) = (self.n_matches as f32, self.n_blocks() as f32);
        let by_lists = self.by_lists_ns(self.list_costs(costs));
        let (reads_lists, lists_from) = (self.lists_pay(costs), self.lists_from(costs));
        let heads = costs.column_ns + self.heads_ns(costs);
        let by_places = self.by_places_ns(costs).filter(|_| self.n_matches > 0.0);
        let of_every_match = match by_places {
            Some(_) => n_matches * costs.point_ns,
            None => heads + n_matches * costs.column_doc_ns,
        };
        // If values lie anywhere, as many blocks have the best bounds as documents are wanted.
        let n_wanted = self.n_matches.min(self.n_wanted) as f32;
        let n_read = n_matches * (n_wanted / n_blocks.max(1.0)).min(1.0);
        let by_bounds = heads + n_read * costs.column_doc_ns;
        let chosen = match by_lists.filter(|_| reads_lists) {
            _ if self.shape.is_in_index_order => n_wanted * costs.write_ns,
            Some(by_lists) => by_lists,
            None if by_places.is_some() => of_every_match.min(by_places.unwrap_or(of_every_match)),
            None if self.shape.has_bounds => by_bounds,
            None => of_every_match,
        };
        let sorted = of_every_match + n_matches * costs.sort_code_ns;
        OrderCosts {
            by_lists,
            by_places,
            by_bounds,
            of_every_match,
            sorted,
            chosen,
            reads_lists,
            lists_from,
        }
    }
}

impl OrderCosts {
    /// With those of one more segment.
    pub(crate) fn and(self, other: OrderCosts) -> OrderCosts {
        OrderCosts {
            by_lists: self.by_lists.into_iter().chain(other.by_lists).reduce(|a, b| a + b),
            by_places: self.by_places.into_iter().chain(other.by_places).reduce(|a, b| a + b),
            by_bounds: self.by_bounds + other.by_bounds,
            of_every_match: self.of_every_match + other.of_every_match,
            sorted: self.sorted + other.sorted,
            chosen: self.chosen + other.chosen,
            reads_lists: self.reads_lists || other.reads_lists,
            lists_from: self.lists_from.into_iter().chain(other.lists_from).reduce(|a, b| a + b),
        }
    }
}

/// Hits of the first batch of a page that is grouped and ends behind so many.
pub(crate) fn first_batch(page_end: u64) -> u64 {
    page_end.saturating_mul(BATCH_PER_HIT).max(BATCH_MIN)
}

pub(crate) fn batch_after(n: u64) -> u64 {
    n.saturating_mul(BATCH_GROWTH)
}

impl CostModel {
    /// Grouping the first batch of so many matches, and grouping all: their order apart, which both need.
    pub(crate) fn group_ns(&self, n_matches: u64, page_end: u64) -> (f32, f32) {
        // A value, its term, and an entry in a table.
        let hit_ns = self.column_ns + self.column_block_ns + self.merge_term_ns;
        let batch = first_batch(page_end).min(n_matches) as f32;
        let all = n_matches as f32;
        (batch * hit_ns, all * (hit_ns + self.sort_code_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: &CostModel = &CostModel::BUILT_IN;

    fn segment(n_matches: u32, n_wanted: u32) -> OrderedSegment {
        OrderedSegment {
            n_docs: 1 << 20,
            n_windows: 16,
            n_matches: n_matches.into(),
            n_wanted: n_wanted.into(),
            shape: OrderShape { has_bounds: true, ..OrderShape::default() },
            lists: Some((1_000, 1 << 20)),
        }
    }

    #[test]
    fn lists_are_read_where_many_match_and_few_are_wanted() {
        assert!(segment(1 << 19, 10).costs(COSTS).reads_lists);
        assert!(!segment(1_000, 10).costs(COSTS).reads_lists);
        assert!(!segment(1 << 19, 100_000).costs(COSTS).reads_lists);
        let none = OrderedSegment { lists: None, ..segment(1 << 19, 10) }.costs(COSTS);
        assert_eq!((none.by_lists, none.reads_lists, none.chosen), (None, false, none.by_bounds));
        let from = segment(0, 10).costs(COSTS).lists_from.unwrap() as u32;
        assert!(segment(from, 10).lists_pay(COSTS) && !segment(from - 1, 10).lists_pay(COSTS));
        assert_eq!(none.lists_from, None);
        assert_eq!(segment(0, 1 << 20).costs(COSTS).lists_from, None, "never");
        // Nothing matches, so nothing is read.
        assert_eq!(segment(0, 10).costs(COSTS).by_lists, None);
    }

    #[test]
    fn each_way_costs_less_than_the_one_that_reads_more() {
        for n_matches in [1, 100, 10_000, 1 << 20] {
            let costs = segment(n_matches, 10).costs(COSTS);
            assert!(costs.by_bounds <= costs.of_every_match, "{costs:?}");
            assert!(costs.of_every_match < costs.sorted, "{costs:?}");
            assert!(costs.chosen <= costs.by_bounds, "{costs:?}");
            let mut in_order = segment(n_matches, 10);
            in_order.shape.is_in_index_order = true;
            assert!(in_order.costs(COSTS).chosen <= costs.chosen);
            let (batch, all) = COSTS.group_ns(n_matches.into(), 10);
            assert!(batch < all);
        }
        // A page as deep as what matches has to look at all of it, whatever bounds say.
        let deep = segment(10_000, 10_000).costs(COSTS);
        assert_eq!(deep.by_bounds, deep.of_every_match);
    }

    #[test]
    fn costs_of_segments_add_up() {
        let (one, two) = (segment(1 << 19, 10).costs(COSTS), segment(1_000, 10).costs(COSTS));
        let both = one.and(two);
        assert_eq!(both.chosen, one.chosen + two.chosen);
        assert!(both.reads_lists);
        assert_eq!(OrderCosts::default().and(one), one);
    }
}
