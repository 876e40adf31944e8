//! Query plans: operators, what each is expected to find, and why this way.
//!
//! [`plan`] turns the normal form of a query into a [`Plan`]. It looks every word up once in every
//! segment and reads the headers of long posting lists, and nothing else: no postings are touched,
//! so that planning costs what a lookup costs. A plan is plain data that `execution` carries out
//! and `explain` shows; the two never disagree, because they match on the same operators. People may be told more
//! of what to expect, see [`EstimateFrom`]: a `sample` reads some postings, which changes no operator, no order and no way
//! of counting.
//!
//! ```text
//! Normal ── look up ──▶ leaves of each segment ── bounds ──▶ estimates ── order, rules ──▶ Plan
//! ```
//!
//! | family | operators |
//! |---|---|
//! | matching | All, Nothing, TermScan, Exists, Expand, ColumnScan, GeoScan, Nearest, Phrase, Intersect, Union, AtLeast, Deleted |
//! | page | DocOrder, TopK, Sort, Collapse, Fuse |
//! | facets | Facet, Statistics, TopHits |
//!
//! | of | strategies |
//! |---|---|
//! | TopK | BlockMax, PhraseBlockMax, Phrase, Exhaustive |
//! | Sort | IndexOrder, ListsOrBounds, Lists, Bounds, Places, EveryMatch, SortAll |
//! | Collapse | Batches, CountFirst, All |
//! | count of a page | Unasked, WithPage, AfterPage |
//! | Facet of values | DocumentFrequency, MostFrequentFirst, Dictionary, Column |
//! | Facet of ranges | Sums, Column |
//! | Facet of cells | Pages, Points |
//! | Statistics | BlockBounds, Dictionary, Points |
//! | TopHits | DocOrder, Scored, Sorted |
//! | ranks | Frequencies, Rounds, Tally, Sketch |
//! | kernels | OneList, OneShortList, ShortestList, ShortLists, Bounds, EveryPosting, RequiredWord, RequiredEach, Tree |
//!
//! People see an intersection of one input or none that leaves documents out as a `Difference`, `DocOrder` as a `Limit`, and a count
//! beside the page as a `Count`. Matching operators stand in [`Plan::nodes`] and those that count facets of what they find in
//! [`Plan::facets`]; the one that makes a page is a [`PagePlan`] above them. All together are a
//! [`SearchPlan`](crate::execution::SearchPlan).
//!
//! Decisions taken here: which operators are known to be empty or complete, the order of
//! intersections, the way a count is taken, and where reading may stop. Left to execution, because
//! only it knows: the order inside one container, by the cardinalities found there, and the way inside one window or block
//! of documents, by the worst score kept so far, which rises while the best are found; [`in_window`] has the figures.

mod adaptive;
mod areas;
mod columns;
pub(crate) mod cost;
mod costs;
pub(crate) mod covered;
mod decide;
pub(crate) mod decision;
mod deleted;
pub(crate) mod estimate;
mod facet;
mod facets;
pub(crate) mod forced;
mod grid;
pub(crate) mod in_window;
pub(crate) mod leaf;
mod lists_kernel;
mod neighbors;
pub(crate) mod order;
pub(crate) mod page;
mod pair;
mod phases;
mod placed;
mod planner;
pub(crate) mod points_scan;
mod ranges;
mod sample;
mod scoring;
mod spread;
mod top_hits;
mod window;

use crate::bitmap::Kernel;
pub(crate) use crate::bitmap::WINDOW;
use crate::expansion::Expansion;
use crate::format::terms::TermInfo;
use crate::ids::FieldId;
use crate::query::{Normal, PhraseSpec};
use crate::recycle::{emptied, recycled};
use crate::segment::reader::SegmentReader;
pub(crate) use adaptive::Adaptive;
pub(crate) use cost::{ScoredLists, TallyStrategy};
pub(crate) use costs::CostModel;
pub use costs::Costs;
use decision::Decision;
pub(crate) use deleted::LessDeleted;
pub use estimate::EstimateFrom;
use estimate::{Estimate, Span};
pub use facet::{FacetMethod, FacetOrder};
pub(crate) use facet::{FacetPlan, ValuesWanted};
pub(crate) use facets::{
    BUCKETS_MAX, FacetDetails, FacetNode, FacetOf, FacetOperator, FacetStrategy, FacetWanted,
    StatisticsStrategy,
};
use forced::Forced;
pub(crate) use grid::{GridPlan, GridStrategy, PagesByCell};
use leaf::Leaf;
pub(crate) use lists_kernel::{BOUNDED_LISTS_MAX, KernelCounts, ListsKernel};
pub(crate) use neighbors::NeighborsPlan;
pub(crate) use order::{OrderShape, SortStrategy};
pub(crate) use page::{
    BranchSource, CollapseDetails, CollapseStrategy, CountStrategy, FuseDetails, FusedBranch,
    PageDescription, PageDetails, PageOperator, PagePlan, PageWanted, SortDetails, StatisticsOf,
    TopKDetails, TopKStrategy,
};
pub(crate) use pair::{Input, Pair};
pub(crate) use phases::{Phase, PhaseClock, PhaseTimes};
pub(crate) use planner::{PLACED_FOR_READ, plan};
use points_scan::AreaPlan;
pub(crate) use ranges::{RangesCosts, RangesPlan, RangesStrategy};
pub(crate) use scoring::{Scoring, Shape};
use smallvec::SmallVec;
pub(crate) use spread::{SpreadOf, SpreadPlan, SpreadStrategy};
use std::ops::Range;
use std::sync::Arc;
pub(crate) use top_hits::TopHitsStrategy;

/// Purpose and options of a plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanOptions {
    pub(crate) goal: Goal,
    /// Everything that matches is kept for these: then it is found even where its number is known.
    pub(crate) facets: Vec<FacetWanted>,
    /// Whether people will look at the plan: estimates may then cost more than the answer.
    pub(crate) explain: bool,
    /// Decision that is forced.
    pub(crate) forced: Option<Forced>,
    /// Sources that estimates may be read from then.
    pub(crate) estimate_from: EstimateFrom,
    /// Sets that are found beside what matches, as scores depend on them.
    pub(crate) sets: Vec<Normal>,
    /// Queries without some selections, for facets of the fields that these are of, with words on which.
    pub(crate) unselected: Vec<(Normal, String)>,
}

impl PlanOptions {
    /// Whether matches are counted as seems best, and nothing else is done.
    #[inline]
    fn only_counts(&self) -> bool {
        self.goal == Goal::Count && self.facets.is_empty() && self.forced.is_none()
    }

    /// The term of which the dictionary knows how many documents have it, where nothing else is wanted: a [`Plan`] with its
    /// estimates would take half as long again as the look-up.
    #[inline]
    pub(crate) fn counted_term<'q>(&self, normal: &'q Normal) -> Option<(FieldId, &'q [u8])> {
        match normal {
            Normal::Term { field, term } if self.only_counts() => Some((*field, term)),
            _ => None,
        }
    }

    /// Whether everything that matches is found and kept.
    fn keeps_matches(&self) -> bool {
        !self.facets.is_empty() || self.forced == Some(Forced::CollectAll)
    }
}

/// Result that is wanted of the documents that match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Only how many there are.
    #[default]
    Count,
    /// Some of them in document order, and how many there are.
    Page { offset: u64, limit: u64, total: Total },
}

impl Goal {
    /// Everything that matches is found, and no page made of it.
    pub(crate) const MATCHES: Goal = Goal::Page { offset: 0, limit: 0, total: Total::Exact };

    /// Documents behind which none is wanted, and none counted; `None` where all are.
    fn end(self) -> Option<u64> {
        let Goal::Page { offset, limit, total } = self else { return None };
        let page = offset.saturating_add(limit);
        match total {
            Total::Exact => None,
            Total::UpTo(most) => Some(page.max(most.saturating_add(1))),
            Total::Unknown => Some(page),
        }
    }
}

/// Limit up to which matches are counted; see [`crate::request::TotalMode`] for the public twin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Total {
    #[default]
    Exact,
    /// Up to this many; more are "at least".
    UpTo(u64),
    /// Not at all.
    Unknown,
}

/// A way to answer one query over one snapshot.
#[derive(Debug)]
pub(crate) struct Plan<'s> {
    pub(crate) goal: Goal,
    /// Whether everything that matches is found and kept, whatever is known of its number.
    pub(crate) keeps_matches: bool,
    /// Number of the smallest documents of the only pattern that are looked for, and no others.
    pub(crate) smallest: Option<u64>,
    /// Whether decisions are recorded.
    explain: bool,
    /// Inputs stand before the operators that read them, so the root is the last.
    pub(crate) nodes: Vec<Node>,
    /// Roots of the sets that are found beside what matches, before all operators that are not theirs.
    pub(crate) sets: Vec<NodeId>,
    /// Words on the last of these, which scores do not depend on.
    pub(crate) unselected: Vec<String>,
    /// The inputs of all operators; each operator names ranges of this.
    pub(crate) inputs: Vec<NodeId>,
    /// Key of each leaf, the same in every segment.
    pub(crate) leaves: Vec<LeafKey>,
    /// The bytes of all terms, one after the other.
    pub(crate) terms: Vec<u8>,
    pub(crate) expansions: Vec<Expansion>,
    pub(crate) phrases: Vec<PhrasePlan>,
    /// Neighbours of vectors, each once.
    pub(crate) neighbors: Vec<NeighborsPlan>,
    /// Areas that points are compared with.
    areas: Vec<AreaPlan>,
    pub(crate) segments: Vec<SegmentPlan<'s>>,
    pub(crate) decisions: Vec<Decision>,
    /// In the order asked for.
    pub(crate) facets: Vec<FacetNode>,
    /// Cost model.
    pub(crate) costs: &'s CostModel,
    /// Decision that is forced.
    forced: Option<Forced>,
    /// Estimates for display by operator, if windows were looked at; see [`Plan::display_estimate`].
    display_estimates: Vec<Estimate>,
    /// Part of [`WORK_OF_ALL`](sample::WORK_OF_ALL) that is left for segments to come.
    sample_work_left: u64,
    /// Bounds of each operator in the segment that is being planned.
    spans: Vec<Span>,
    /// Inputs of operators that are not complete yet, while the plan is made.
    pending: Vec<NodeId>,
    /// By operator, the documents for which others want to know, and whether it has been asked.
    wanted: Vec<(f64, bool)>,
    /// Memory for segments that come.
    of_segments: Vec<OfSegment>,
}

/// The memory of a plan that has been carried out, for the next one: planning a few words takes
/// less time than asking the allocator for the dozen small pieces that it needs.
#[derive(Debug, Default)]
pub(crate) struct PlanScratch {
    nodes: Vec<Node>,
    inputs: Vec<NodeId>,
    leaves: Vec<LeafKey>,
    terms: Vec<u8>,
    spans: Vec<Span>,
    pending: Vec<NodeId>,
    wanted: Vec<(f64, bool)>,
    phrases: Vec<PhrasePlan>,
    segments: Vec<SegmentPlan<'static>>,
    /// Parts of its segments, the first one last.
    of_segments: Vec<OfSegment>,
}

/// Segments whose memory is kept.
const SEGMENTS_KEPT: usize = 32;

/// The lists of [`SegmentPlan`], empty.
#[derive(Debug, Default)]
struct OfSegment {
    leaves: Vec<Leaf<'static>>,
    infos: Vec<Option<TermInfo>>,
    estimates: Vec<Estimate>,
}

/// The place of an operator in [`Plan::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NodeId(pub(crate) u32);

impl NodeId {
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The place of a leaf in [`Plan::leaves`] and in [`SegmentPlan::leaves`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeafId(pub(crate) u32);

impl LeafId {
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) operator: Operator,
    /// Over all segments.
    pub(crate) estimate: Estimate,
    /// Documents expected over whole segments. Inputs are ordered by it, so that what is explained is what runs.
    pub(crate) expected_docs: f64,
    /// Expected cost without its inputs.
    pub(crate) cost_ns: f32,
    /// Whether its inputs come in the order of the plan in every window, and not the smallest there first.
    pub(crate) keeps_order: bool,
    /// Kernel by which two containers meet; if none is named, the one that suits them.
    pub(crate) kernel: Option<Kernel>,
}

/// Ways to count what matches in a segment, where nothing else is wanted of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum CountWay {
    /// From bounds, or from the dictionary less deleted documents.
    AtOnce,
    /// By the containers of one or two lists.
    Pair(Pair),
    /// By the pages of points that an area covers.
    Area(LeafId),
    /// By the kernel that finds the words of the phrase that is the whole plan, and places them.
    Phrase,
    /// Window by window, of which the last step writes nothing.
    #[default]
    ByWindow,
    /// Window by window, each of which is written first.
    Written,
}

#[derive(Clone, Debug)]
pub(crate) enum Operator {
    /// Every document.
    All,
    /// No document, and why.
    Nothing { reason: String },
    /// Documents that were deleted, which are left out of everything else.
    Deleted(LeafId),
    /// Documents that have a term.
    TermScan(LeafId),
    /// Documents that have a value in a field.
    Exists(LeafId),
    /// Documents that have one of the terms that a pattern stands for.
    Expand(LeafId),
    /// Scan of a pattern by the values of a column, in segments whose leaf says so.
    ColumnScan(LeafId),
    /// Documents with a point in an area, by looking at the points, in segments whose leaf says so.
    GeoScan(LeafId),
    /// Neighbours of a vector among the documents of the only input, which is found beforehand in all segments.
    Nearest { leaf: LeafId, input: Range<u32> },
    /// Documents in every input of `all` and in none of `none`; without `all`, every document but
    /// those. Ranges of [`Plan::inputs`], `all` in the order of execution.
    Intersect { all: Range<u32>, none: Range<u32> },
    /// Documents of the only input, which all have the words, where these stand as one of
    /// [`Plan::phrases`] wants them.
    Phrase { nth: u32, input: Range<u32> },
    /// Documents in any input.
    Union { any: Range<u32> },
    /// Documents in so many inputs.
    AtLeast { minimum: u32, any: Range<u32> },
}

/// Key of a leaf: the term, field or pattern that it reads.
#[derive(Clone, Debug)]
pub(crate) enum LeafKey {
    /// A term, as a range of [`Plan::terms`].
    Term { field: FieldId, term: Range<u32> },
    /// The documents that have a value.
    Presence { field: FieldId },
    /// The terms that one of [`Plan::expansions`] stands for.
    Expansion { field: FieldId, nth: u32 },
    /// One of [`Plan::neighbors`].
    Nearest { field: FieldId, nth: u32 },
    /// One of [`Plan::areas`].
    Area { field: FieldId, nth: u32 },
    /// The documents that were deleted.
    Deleted,
}

impl LeafKey {
    /// The field it is about.
    pub(crate) fn field(&self) -> Option<FieldId> {
        match self {
            LeafKey::Term { field, .. }
            | LeafKey::Presence { field }
            | LeafKey::Expansion { field, .. }
            | LeafKey::Nearest { field, .. }
            | LeafKey::Area { field, .. } => Some(*field),
            LeafKey::Deleted => None,
        }
    }
}

/// A phrase, and what reads its words.
#[derive(Clone, Debug)]
pub(crate) struct PhrasePlan {
    pub(crate) field: FieldId,
    pub(crate) spec: Arc<PhraseSpec>,
    /// By term of the phrase.
    pub(crate) leaves: SmallVec<[LeafId; 4]>,
    /// Whether the documents it looks at are those with its words, and no other condition.
    pub(crate) alone: bool,
    /// Whether it stands beside other conditions that must be met.
    pub(crate) is_beside_others: bool,
}

/// The part of a plan that belongs to one segment.
#[derive(Debug)]
pub(crate) struct SegmentPlan<'s> {
    pub(crate) segment: SegmentReader<'s>,
    /// The number of the segment's first document in the snapshot.
    pub(crate) base: u64,
    pub(crate) n_docs: u32,
    pub(crate) leaves: Vec<Leaf<'s>>,
    /// Dictionary entry of each leaf's term; nothing in a plan without phrases.
    pub(crate) infos: Vec<Option<TermInfo>>,
    /// By node.
    pub(crate) estimates: Vec<Estimate>,
    /// Estimates for display, from headers by window or from a sample; empty if neither was looked at.
    display_estimates: Vec<Estimate>,
    /// Counting by the deleted documents, if matches are counted so.
    pub(crate) less_deleted: Option<Box<LessDeleted<'s>>>,
    pub(crate) count: CountWay,
}

impl Operator {
    /// Leaf that it reads, if it has no inputs.
    #[inline]
    pub(crate) fn leaf(&self) -> Option<LeafId> {
        match self {
            Operator::TermScan(leaf)
            | Operator::Exists(leaf)
            | Operator::Expand(leaf)
            | Operator::ColumnScan(leaf)
            | Operator::GeoScan(leaf)
            | Operator::Nearest { leaf, .. }
            | Operator::Deleted(leaf) => Some(*leaf),
            _ => None,
        }
    }
}

impl<'s> Plan<'s> {
    #[inline]
    pub(crate) fn root(&self) -> NodeId {
        NodeId(self.nodes.len() as u32 - 1)
    }

    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Operators that find sets, and what neighbours are filtered by; those that follow find what matches.
    pub(crate) fn n_of_sets(&self) -> usize {
        let filters = self.neighbors.iter().map(|it| it.filter.index() + 1).max();
        self.sets.last().map_or(0, |root| root.index() + 1).max(filters.unwrap_or(0))
    }

    /// Documents expected in each of the sets that scores depend on.
    pub(crate) fn expected_sets(&self) -> Vec<u64> {
        let roots = self.sets[..self.n_score_sets()].iter();
        roots.map(|root| self.node(*root).estimate.documents).collect()
    }

    /// Operators of what matches or of a set, which ends with its `root`.
    pub(crate) fn nodes_of(&self, root: NodeId) -> Range<usize> {
        let filters = self.neighbors.iter().map(|it| it.filter);
        let before = self.sets.iter().copied().chain(filters).filter(|set| set.0 < root.0);
        before.map(|set| set.index() + 1).max().unwrap_or(0)..root.index() + 1
    }

    /// Sets that scores depend on; those behind them are what matches without some selections.
    pub(crate) fn n_score_sets(&self) -> usize {
        self.sets.len() - self.unselected.len()
    }

    /// Estimate for display. Nothing that runs depends on it: counted bounds are no reason to leave an operator out.
    pub(crate) fn display_estimate(&self, id: NodeId) -> &Estimate {
        self.display_estimates.get(id.index()).unwrap_or(&self.node(id).estimate)
    }

    /// In how many documents an operator places words where nothing says which of them are wanted: those of the inputs of
    /// phrases, each of which has so many `documents`. `None` where it is no phrase and no union of any.
    pub(crate) fn placed(&self, id: NodeId, documents: &dyn Fn(NodeId) -> u64) -> Option<u64> {
        match &self.node(id).operator {
            // To be placed before all other conditions is what is forced then.
            _ if self.phrases.is_empty() || self.forced == Some(Forced::PhrasesFirst) => None,
            Operator::Phrase { input, .. } => self.inputs(input).first().map(|id| documents(*id)),
            Operator::Union { any } => self
                .inputs(any)
                .iter()
                .filter_map(|id| self.placed(*id, documents))
                .reduce(|a, b| a + b),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn inputs(&self, range: &Range<u32>) -> &[NodeId] {
        &self.inputs[range.start as usize..range.end as usize]
    }

    /// The pattern of a leaf that reads the terms of one.
    pub(crate) fn expansion(&self, id: LeafId) -> Option<&Expansion> {
        match self.leaves[id.index()] {
            LeafKey::Expansion { nth, .. } => self.expansions.get(nth as usize),
            _ => None,
        }
    }

    /// The field and the bytes of the term that a leaf reads; no term where it reads presence or
    /// several, and no field where it reads what is deleted.
    pub(crate) fn leaf(&self, id: LeafId) -> (Option<FieldId>, Option<&[u8]>) {
        match &self.leaves[id.index()] {
            LeafKey::Term { field, term } => {
                (Some(*field), Some(&self.terms[term.start as usize..term.end as usize]))
            }
            other => (other.field(), None),
        }
    }

    /// Ranges of which every match has a term in this field, as far as conditions say so.
    pub(crate) fn required_ranges(&self, field: FieldId) -> impl Iterator<Item = &Expansion> {
        let root = self.root();
        let inputs = match &self.node(root).operator {
            Operator::Intersect { all, .. } => self.inputs(all),
            _ => &[],
        };
        [root].into_iter().chain(inputs.iter().copied()).filter_map(move |id| {
            let leaf = self.node(id).operator.leaf()?;
            let is_of_field = self.leaves[leaf.index()].field() == Some(field);
            self.expansion(leaf).filter(|expansion| is_of_field && expansion.is_range())
        })
    }

    /// An empty plan in memory that was used before.
    fn in_memory(memory: &mut PlanScratch, options: &PlanOptions, costs: &'s CostModel) -> Self {
        let taken = std::mem::take(memory);
        Plan {
            goal: options.goal,
            keeps_matches: options.keeps_matches(),
            smallest: None,
            explain: options.explain,
            nodes: taken.nodes,
            sets: vec![],
            unselected: vec![],
            inputs: taken.inputs,
            leaves: taken.leaves,
            terms: taken.terms,
            expansions: vec![],
            phrases: taken.phrases,
            neighbors: vec![],
            areas: vec![],
            segments: recycled(taken.segments),
            decisions: vec![],
            facets: vec![],
            costs,
            forced: options.forced,
            display_estimates: vec![],
            sample_work_left: sample::WORK_OF_ALL,
            spans: taken.spans,
            pending: taken.pending,
            wanted: taken.wanted,
            of_segments: taken.of_segments,
        }
    }

    /// Ends the plan and keeps its memory.
    pub(crate) fn into_scratch(self) -> PlanScratch {
        let Plan { mut segments, mut of_segments, .. } = self;
        of_segments.extend(segments.drain(..).rev().map(|part| OfSegment {
            leaves: recycled(part.leaves),
            infos: recycled(part.infos),
            estimates: recycled(part.estimates),
        }));
        of_segments.drain(..of_segments.len().saturating_sub(SEGMENTS_KEPT));
        PlanScratch {
            nodes: emptied(self.nodes),
            inputs: emptied(self.inputs),
            leaves: emptied(self.leaves),
            terms: emptied(self.terms),
            spans: emptied(self.spans),
            pending: emptied(self.pending),
            wanted: emptied(self.wanted),
            phrases: emptied(self.phrases),
            segments: recycled(segments),
            of_segments,
        }
    }

    /// Documents in the snapshot, deleted ones included.
    pub(crate) fn n_docs(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.n_docs)).sum()
    }
}

impl SegmentPlan<'_> {
    #[inline]
    pub(crate) fn estimate(&self, node: NodeId) -> &Estimate {
        &self.estimates[node.index()]
    }

    /// Estimate for display, see [`Plan::display_estimate`].
    pub(crate) fn display_estimate(&self, node: NodeId) -> &Estimate {
        self.display_estimates.get(node.index()).unwrap_or(self.estimate(node))
    }

    /// Number of windows that the segment's documents span.
    #[inline]
    pub(crate) fn n_windows(&self) -> u32 {
        self.n_docs.div_ceil(WINDOW)
    }

    /// Number of documents in window `key`.
    #[inline]
    pub(crate) fn window_len(&self, key: u32) -> u32 {
        self.n_docs.saturating_sub(key * WINDOW).min(WINDOW)
    }
}
