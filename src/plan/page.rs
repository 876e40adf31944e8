//! Pages of what matches: the operator above the matching ones, and how it works.
//!
//! | operator | makes the page of | strategies |
//! |---|---|---|
//! | `DocOrder` | the first documents, or their number alone: matching operators fill it themselves | |
//! | `TopK` | the best by score | [`TopKStrategy`] |
//! | `Sort` | the first in the order of fields | [`SortStrategy`] |
//! | `Collapse` | the first of each value of a field | [`CollapseStrategy`] |
//! | `Fuse` | the best of several ranked lists by what each adds: other pages, which come before it | |
//! | `Count` | nothing: it counts what matches beside the page | [`CountStrategy`] |

use super::cost::{BestCosts, ScoredLists};
use super::estimate::{Estimate, EstimateSource};
use super::forced::Forced;
use super::order::{OrderCosts, OrderShape, SortStrategy, first_batch};
use super::scoring::{Scoring, Shape};
use super::top_hits::TopHitsStrategy;
use super::{CostModel, Goal, NodeId, Operator, Plan, Total};

/// The largest first batch of groups that is found before they are counted.
const UNCOUNTED_MAX: u64 = 4_096;

/// Page that is made, and by what.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PagePlan {
    pub(crate) operator: PageOperator,
    pub(crate) count: CountStrategy,
    /// Way to find the first of known documents, for groups.
    pub(crate) first: TopHitsStrategy,
    pub(crate) wanted: PageWanted,
}

/// Description of a page for people.
#[derive(Debug)]
pub(crate) struct PageDescription {
    pub(crate) details: PageDetails,
    /// Hits that it has.
    pub(crate) estimate: Estimate,
    /// Costs of finding the best, where they are found by lists.
    pub(crate) best: Option<BestCosts>,
    /// Whether the whole answer is kept already; none where no answers are.
    pub(crate) is_kept: Option<bool>,
}

/// Ways to count matches beside a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CountStrategy {
    /// Not at all: their number is known only where making the page finds it.
    #[default]
    Unasked,
    /// Making the page counts them, as it finds everything that matches.
    WithPage,
    /// The matching operators count them after the page was made, unless making it has found the number.
    AfterPage,
}

/// Operator that makes a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PageOperator {
    /// Documents in their order, with the score that all have, where any is wanted.
    DocOrder {
        score: Option<f32>,
    },
    TopK(TopKStrategy),
    Sort(SortStrategy),
    Collapse(CollapseStrategy),
    /// Pages of its branches are made first, each by an operator of its own.
    Fuse,
}

/// Ways to find the first of each group: a batch of the first matches at a time, each larger than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollapseStrategy {
    /// The first batch is one of so many; groups are counted once it is not enough.
    Batches(u64),
    /// Groups are counted first: no batch has to be larger than for all of them.
    CountFirst,
    /// Everything that matches is one batch.
    All,
}

/// Strategy that finds the best by score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TopKStrategy {
    /// By the best that blocks of documents can score.
    BlockMax,
    /// A phrase by that, before its words are placed.
    PhraseBlockMax,
    /// A phrase by placing its words wherever all are, which counts its documents.
    Phrase,
    /// By scoring everything that matches.
    Exhaustive,
}

/// Page that is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PageWanted {
    /// Hits that are left out before the first, and hits at the most.
    pub(crate) offset: u64,
    pub(crate) limit: u64,
    pub(crate) total: Total,
    /// Whether only the number of matches is wanted.
    pub(crate) count_only: bool,
    /// Whether all matches are kept, to count facets of them.
    pub(crate) has_facets: bool,
    /// The order of fields by which hits are sorted, and whether they are grouped by the values of one.
    pub(crate) order: Option<OrderShape>,
    pub(crate) is_collapsed: bool,
    /// Whether hits are those of several ranked lists.
    pub(crate) is_fused: bool,
    /// Whether it goes on after a hit of an earlier page.
    pub(crate) is_after: bool,
    /// Whether lists stay open from one search to the next.
    pub(crate) stays_open: bool,
    pub(crate) forced: Option<Forced>,
}

/// Nothing is wanted so far.
impl Default for PageOperator {
    fn default() -> Self {
        PageOperator::DocOrder { score: None }
    }
}

impl PagePlan {
    /// Chooses what makes a page, of a query that is scored where that is known.
    pub(crate) fn choose(
        wanted: PageWanted,
        scoring: Option<&impl Scoring>,
        first: TopHitsStrategy,
        costs: &CostModel,
    ) -> Self {
        let has_hits = !wanted.count_only && wanted.limit > 0;
        let operator = match (scoring, wanted.order) {
            _ if wanted.is_fused && has_hits => PageOperator::Fuse,
            _ if wanted.is_collapsed && has_hits => {
                PageOperator::Collapse(CollapseStrategy::choose(&wanted))
            }
            (Some(scoring), _) if scoring.constant().is_none() || wanted.is_after => {
                PageOperator::TopK(TopKStrategy::choose(&wanted, scoring, costs))
            }
            (_, Some(order)) if has_hits => {
                PageOperator::Sort(SortStrategy::choose(order, wanted.forced))
            }
            (scoring, _) => PageOperator::DocOrder { score: scoring.and_then(Scoring::constant) },
        };
        let count = CountStrategy::choose(operator, wanted.total, wanted.has_facets);
        PagePlan { operator, count, first, wanted }
    }

    /// Whether everything that matches has to be found to make the page.
    pub(crate) fn needs_matches(&self) -> bool {
        match self.operator {
            PageOperator::TopK(TopKStrategy::BlockMax) | PageOperator::Fuse => {
                self.wanted.has_facets
            }
            PageOperator::TopK(TopKStrategy::PhraseBlockMax | TopKStrategy::Phrase) => false,
            PageOperator::TopK(TopKStrategy::Exhaustive) => true,
            PageOperator::DocOrder { .. } => false,
            PageOperator::Sort(_) | PageOperator::Collapse(_) => true,
        }
    }

    /// Whether the matching operators are carried out: some pages are made by reading their lists.
    pub(crate) fn runs_matching(&self) -> bool {
        match self.operator {
            PageOperator::TopK(_) | PageOperator::Fuse => {
                self.needs_matches() || self.count == CountStrategy::AfterPage
            }
            _ => true,
        }
    }

    /// Goal of the matching operators.
    pub(crate) fn goal(&self) -> Goal {
        let PageWanted { offset, limit, total, count_only, .. } = self.wanted;
        match self.operator {
            PageOperator::DocOrder { .. } if count_only => Goal::Count,
            PageOperator::DocOrder { .. } => Goal::Page { offset, limit, total },
            _ if self.needs_matches() => Goal::MATCHES,
            _ => self.goal_of_count(),
        }
    }

    /// Goal of the matching operators where they do nothing but count.
    pub(crate) fn goal_of_count(&self) -> Goal {
        match (self.count, self.wanted.total) {
            (CountStrategy::AfterPage, total @ Total::UpTo(_)) => {
                Goal::Page { offset: 0, limit: 0, total }
            }
            _ => Goal::Count,
        }
    }

    /// The score that all hits have, where nothing is scored and any is wanted.
    pub(crate) fn score(&self) -> Option<f32> {
        let PageOperator::DocOrder { score } = self.operator else { return None };
        score
    }
}

impl CountStrategy {
    fn choose(page: PageOperator, total: Total, has_facets: bool) -> Self {
        match page {
            _ if has_facets => CountStrategy::WithPage,
            _ if total == Total::Unknown => CountStrategy::Unasked,
            PageOperator::TopK(TopKStrategy::BlockMax) | PageOperator::Fuse => {
                CountStrategy::AfterPage
            }
            _ => CountStrategy::WithPage,
        }
    }
}

impl CollapseStrategy {
    fn choose(wanted: &PageWanted) -> Self {
        match first_batch(wanted.offset.saturating_add(wanted.limit)) {
            _ if wanted.forced == Some(Forced::GroupAll) => CollapseStrategy::All,
            n if n <= UNCOUNTED_MAX => CollapseStrategy::Batches(n),
            _ => CollapseStrategy::CountFirst,
        }
    }
}

impl TopKStrategy {
    /// Chooses by cost where there is a choice: bounds of plain words, and of a phrase that nobody counts, end in scoring
    /// everything where they leave out nothing, so they never cost more.
    fn choose(wanted: &PageWanted, scoring: &impl Scoring, costs: &CostModel) -> Self {
        let shape = scoring.shape();
        let (has_functions, is_tree) = (scoring.has_functions(), shape == Shape::Tree);
        match wanted.forced {
            Some(Forced::ScoreAll) => return TopKStrategy::Exhaustive,
            Some(Forced::ByBounds) if is_tree && !has_functions => return TopKStrategy::BlockMax,
            Some(Forced::PlaceAll) if shape == Shape::Phrase => return TopKStrategy::Phrase,
            _ => {}
        }
        match shape {
            _ if has_functions => TopKStrategy::Exhaustive,
            Shape::Tree => {
                let BestCosts { by_bounds, of_everything } = wanted.costs_of_tree(scoring, costs);
                let bounds_pay = by_bounds <= of_everything;
                if bounds_pay { TopKStrategy::BlockMax } else { TopKStrategy::Exhaustive }
            }
            Shape::AnyOf | Shape::AllOf => TopKStrategy::BlockMax,
            Shape::Constant => TopKStrategy::Exhaustive,
            Shape::Phrase if wanted.has_facets => TopKStrategy::Exhaustive,
            Shape::Phrase if wanted.total == Total::Unknown && scoring.is_exact_phrase() => {
                TopKStrategy::PhraseBlockMax
            }
            Shape::Phrase => TopKStrategy::Phrase,
        }
    }

    /// Strategy that could be taken instead.
    pub(crate) fn otherwise(self, scoring: &impl Scoring) -> Option<Forced> {
        match self {
            TopKStrategy::BlockMax => Some(Forced::ScoreAll),
            TopKStrategy::PhraseBlockMax => Some(Forced::PlaceAll),
            TopKStrategy::Exhaustive
                if scoring.shape() == Shape::Tree && !scoring.has_functions() =>
            {
                Some(Forced::ByBounds)
            }
            TopKStrategy::Phrase | TopKStrategy::Exhaustive => None,
        }
    }
}

impl Plan<'_> {
    /// Describes a page of what matches.
    pub(crate) fn describe_page(
        &self,
        page: &PagePlan,
        details: PageDetails,
        is_kept: Option<bool>,
    ) -> PageDescription {
        let estimate = page.wanted.estimate(self.display_estimate(self.root()), page.operator);
        let best = match (&details, page.operator) {
            (PageDetails::TopK(details), PageOperator::TopK(strategy)) => {
                self.costs_of_best(strategy, &page.wanted, details)
            }
            _ => None,
        };
        PageDescription { details, estimate, best, is_kept }
    }

    /// Costs of finding the best by bounds, and by all that matches; `None` where there are no bounds.
    fn costs_of_best(
        &self,
        strategy: TopKStrategy,
        wanted: &PageWanted,
        details: &TopKDetails,
    ) -> Option<BestCosts> {
        let TopKDetails { lists, shape, .. } = details;
        let ScoredLists { n_docs, n_lists, postings, .. } = *lists;
        let matching = self.display_estimate(self.root());
        let (costs, matches) = (self.costs, matching.documents as f64);
        let best = wanted.offset.saturating_add(wanted.limit) as f64;
        match (strategy, shape) {
            (TopKStrategy::Exhaustive, _) if !details.functions.is_empty() => None,
            (_, Shape::Tree) => details.of_tree,
            (_, Shape::Phrase) => {
                // Documents with the words, if nothing else is below the phrase.
                let with_words = match &self.node(self.root()).operator {
                    Operator::Phrase { input, .. } => self.inputs(input).first(),
                    _ => None,
                };
                let documents = |id: &NodeId| self.display_estimate(*id).documents;
                let candidates = with_words.map_or(matching.upper, documents);
                let opening = 350.0 * n_lists as f32;
                let finding = opening + with_words.map_or(0.0, |id| self.node(*id).cost_ns);
                let placing =
                    BestCosts::of_phrase(costs, candidates as f64, matches, n_lists, best);
                Some(BestCosts {
                    by_bounds: finding + placing.by_bounds,
                    of_everything: finding + placing.of_everything,
                })
            }
            (TopKStrategy::BlockMax, _) => {
                let of_everything = costs.score_postings_ns(postings, n_docs);
                let is_all = *shape == Shape::AllOf;
                let by_bounds = costs.best_of_lists_ns(is_all, lists, (matches, best));
                Some(BestCosts::or_less(by_bounds, of_everything))
            }
            _ => None,
        }
    }

    /// Costs of counting by itself, and while everything that matches is scored in `n_lists`.
    pub(crate) fn costs_of_count(&self, n_lists: usize) -> (f32, f32) {
        let finding = self.nodes[self.n_of_sets()..].iter().map(|node| node.cost_ns).sum::<f32>();
        let matches = self.display_estimate(self.root()).documents as f64;
        (finding, finding + self.costs.score_matches_ns(matches, n_lists))
    }
}

impl PageWanted {
    /// Costs of the best of words and phrases that are put together.
    pub(crate) fn costs_of_tree(&self, scoring: &impl Scoring, costs: &CostModel) -> BestCosts {
        let best = self.offset.saturating_add(self.limit) as f64;
        let has_phrases = scoring.matches_by_phrases();
        // Lists that are open already are what bounds take most time for. Counting up to a number ends where scoring would go
        // on. Words that belong together are in far more documents than is expected.
        let is_uncounted = self.total == Total::Unknown && !has_phrases;
        let is_free = !self.has_facets
            && (self.stays_open || matches!(self.total, Total::UpTo(_)) || is_uncounted);
        BestCosts::of_tree(costs, &scoring.lists(), best, has_phrases, is_free)
    }

    /// Hits of a page, given how many documents match.
    fn estimate(&self, matching: &Estimate, of: PageOperator) -> Estimate {
        let is_grouped = matches!(of, PageOperator::Collapse(_));
        let offset = if is_grouped { 0 } else { self.offset };
        let page = |documents: u64| documents.saturating_sub(offset).min(self.limit);
        let lower = match of {
            // Everything may be one group.
            PageOperator::Collapse(_) => 0,
            // Behind a hit of an earlier page there may be any number of others.
            _ if self.is_after => 0,
            _ => page(matching.lower),
        };
        let (documents, upper) = (page(matching.documents), page(matching.upper));
        Estimate { documents, lower, upper, source: EstimateSource::Limit }
    }
}

/// Details of a page that people are told.
#[derive(Clone, Debug)]
pub(crate) enum PageDetails {
    DocOrder,
    TopK(TopKDetails),
    Sort(SortDetails),
    Collapse(CollapseDetails),
    Fuse(FuseDetails),
}

/// Details of ranked lists that are fused.
#[derive(Clone, Debug, Default)]
pub(crate) struct FuseDetails {
    /// For people: what the best are best by, and how they are found.
    pub(crate) order: &'static str,
    pub(crate) algorithm: String,
    /// Hits of each branch.
    pub(crate) window: u64,
    pub(crate) branches: Vec<FusedBranch>,
}

/// Details of one of these lists.
#[derive(Clone, Debug)]
pub(crate) struct FusedBranch {
    pub(crate) weight: f32,
    pub(crate) source: BranchSource,
}

/// Source of the documents of a list.
#[derive(Clone, Debug)]
pub(crate) enum BranchSource {
    /// A plan of its own.
    Query,
    /// Similarity of the documents of the first list to a vector, in the syntax of queries.
    Similarity(String),
    /// A list from outside: its keys, and those whose documents are ranked.
    Outside(u64, u64),
}

/// Details of scores.
#[derive(Clone, Debug)]
pub(crate) struct TopKDetails {
    pub(crate) shape: Shape,
    /// Parts of the query that have bounds.
    pub(crate) bounded: String,
    pub(crate) is_exact_phrase: bool,
    pub(crate) lists: ScoredLists,
    /// Costs by which the strategy was chosen, where there was a choice.
    pub(crate) of_tree: Option<BestCosts>,
    pub(crate) functions: Vec<String>,
    /// Patterns that are scored by their best terms.
    pub(crate) patterns: Vec<String>,
    pub(crate) statistics: StatisticsOf,
    /// Segments in which words that only filter mask blocks; none where no word does nothing but filter.
    pub(crate) segments_with_masks: Option<usize>,
}

/// Documents that scores are computed of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatisticsOf {
    Snapshot,
    Segment,
    Collection,
}

/// Details of an order.
#[derive(Clone, Debug)]
pub(crate) struct SortDetails {
    /// Keys in words, and as they are written.
    pub(crate) keys: String,
    pub(crate) written: String,
    /// The first key: its field, and what it is.
    pub(crate) field: Option<String>,
    pub(crate) what: String,
    /// Functions of scores in words; nothing without any.
    pub(crate) scores: String,
    /// Costs of all ways, for as many matches as are expected.
    pub(crate) costs: OrderCosts,
}

/// Details of groups.
#[derive(Clone, Debug)]
pub(crate) struct CollapseDetails {
    pub(crate) field: String,
    /// Hits that come of each value, and their order.
    pub(crate) what: String,
    pub(crate) order: String,
    /// Keys of the order as they are written, where there are any.
    pub(crate) written: Option<String>,
    pub(crate) scores: String,
}
