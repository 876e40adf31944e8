//! Operators that make a page of what matches, in words.

use super::{Explaining, Planned, estimate};
use crate::execution::WorkCounts;
use crate::explain::tree::{nanoseconds, whole_ns};
use crate::explain::{Actual, Decision, Estimate, ExplainNode, ExplainOperator};
use crate::plan::forced::Forced;
use crate::plan::order::OrderCosts;
use crate::plan::{
    BranchSource, CollapseDetails, CollapseStrategy, FuseDetails, FusedBranch, Goal, KernelCounts,
    ListsKernel, PageDetails, PageOperator, Shape, SortDetails, SortStrategy, StatisticsOf,
    TopKDetails, TopKStrategy, Total,
};
use crate::plural::counted;
use crate::sort::SortProfile;
use std::time::Duration;

/// Whether the answer is one that is kept already: the plan shows how it is found otherwise.
pub(super) fn cache_decision(is_kept: bool) -> Decision {
    let rule = "answer from the cache";
    match is_kept {
        true => {
            let reason = "the same was asked of this snapshot before; the plan shows how it is answered without";
            Decision::accepted(rule, reason).instead_of("answer anew", None)
        }
        false => Decision::rejected(rule, "no answer to the same is kept of this snapshot"),
    }
}

/// Returns the decision on how words that only filter do so: in `n_with_masks` of the segments as masks.
fn decision_of_masks(n_with_masks: usize, n_segments: usize) -> Decision {
    let rule = "filter by masks";
    if n_with_masks == 0 {
        let reason =
            "the filter, or what scores, is in so few documents that looking these up costs less";
        return Decision::rejected(rule, reason);
    }
    let most =
        "a word that only filters is in many documents: its list masks the blocks of the others";
    let reason = match n_with_masks == n_segments {
        true => most.to_owned(),
        false => format!("{most}, in {n_with_masks} of {n_segments} segments"),
    };
    Decision::accepted(rule, &reason).instead_of("look its documents up", None)
}

/// Kernels that found the best by `bounded` parts of a query: bounds alone go without saying.
fn kernels_in_words(kernels: KernelCounts, bounded: &str) -> String {
    use ListsKernel::{Bounds, Tree};
    let all: Vec<_> = kernels.taken().collect();
    let words = match all[..] {
        [(Bounds | Tree, _)] => return format!("BM25, by bounds of {bounded}"),
        [(kernel, _)] => kernel.name().to_owned(),
        _ => {
            let ways = all.iter().map(|(kernel, n)| {
                format!("{} in {}", kernel.name(), counted(u64::from(*n), "segment"))
            });
            ways.collect::<Vec<_>>().join(", ")
        }
    };
    format!("BM25 of {bounded}: {words}")
}

const BATCHES: &str = "larger batches until it is";
const COUNT_FIRST: &str = "count groups first";

impl Explaining<'_, '_> {
    /// The first documents in their order.
    pub(super) fn limit(&self, node: &mut ExplainNode) {
        let Goal::Page { offset, limit, total } = self.plan.goal else { return };
        node.operator = ExplainOperator::Limit;
        let and_count = if total == Total::Exact { ", count all" } else { "" };
        node.label = match offset {
            0 => format!("first {limit}{and_count}"),
            _ => format!("{limit} from the {}th{and_count}", offset.saturating_add(1)),
        };
        let is_less_deleted = self.plan.segments.iter().any(|part| part.less_deleted.is_some());
        node.algorithm = match total {
            Total::Exact if is_less_deleted => {
                "document order; past the page document frequencies less deleted documents".into()
            }
            Total::Exact => "document order; count what is past the page".into(),
            Total::UpTo(most) => format!("document order; count up to {most}"),
            Total::Unknown => "document order; stop at the page".into(),
        };
        node.estimate = self.estimate_of_page();
        let matching = node.children[0].actual.as_ref();
        node.actual = self.run.zip(matching).map(|(run, matching)| Actual {
            documents: run.found.n_hits,
            documents_in: Some(matching.documents),
            ..Actual::default()
        });
    }

    /// Puts the label of the hits of a page, behind those of earlier pages, and their numbers.
    fn put_page(&self, operator: ExplainOperator, first: &str, what: &str, node: &mut ExplainNode) {
        node.label = match self.bounds_of_page() {
            (0, limit) => format!("{first} {limit} {what}"),
            (offset, limit) => format!("{limit} after the first {offset} {what}"),
        };
        node.estimate = self.estimate_of_page();
        let matching = node.children[0].actual.as_ref().map(|actual| actual.documents);
        node.actual = self.run.map(|run| run.page(matching));
        let is_sorted = matches!(operator, ExplainOperator::Sort | ExplainOperator::Collapse);
        if let Some(actual) = node.actual.as_mut().filter(|_| is_sorted) {
            actual.sort.get_or_insert_default();
        }
        node.operator = operator;
    }

    fn estimate_of_page(&self) -> Estimate {
        let described = self.search.described.as_deref();
        described.map(|page| estimate(&page.estimate)).unwrap_or_default()
    }

    fn bounds_of_page(&self) -> (u64, u64) {
        let wanted = self.search.page.wanted;
        (wanted.offset, wanted.limit)
    }

    /// Counting of what matches: all of it, or as far as it is wanted beside a page of the best.
    pub(super) fn count(&self, node: &mut ExplainNode) {
        let matching = &node.children[0];
        let actual = matching.actual.as_ref().map(|matching| Actual {
            documents: matching.documents,
            documents_in: Some(matching.documents),
            complete: matching.complete,
            stopped: matching.stopped,
            ..Actual::default()
        });
        (node.estimate, node.actual) = (matching.estimate.clone(), actual);
        node.operator = ExplainOperator::Count;
        node.label = "all matches".to_owned();
        let described = self.search.described.as_deref();
        let Some(PageDetails::TopK(details)) = described.map(|page| &page.details) else { return };
        if let Total::UpTo(most) = self.search.page.wanted.total {
            node.label = format!("up to {}", counted(most, "match"));
        }
        node.algorithm = match self.run.is_some_and(|run| run.profile().is_none()) {
            true => "the page has found their number".into(),
            false => "after the page, by what is below".into(),
        };
        if node.estimate.upper > 0 {
            let (finding, with_page) = self.plan.costs_of_count(details.lists.n_lists);
            let reason = "a page by bounds does not meet all that matches";
            let other = ("count while every match is scored", with_page);
            node.decisions.push(self.chosen(("count after the page", reason), finding, other, &[]));
        }
    }

    pub(super) fn top_k(&self, details: &TopKDetails, node: &mut ExplainNode) {
        let PageOperator::TopK(strategy) = self.search.page.operator else { return };
        self.put_page(ExplainOperator::TopK, "best", "by score", node);
        node.algorithm = match strategy {
            TopKStrategy::BlockMax | TopKStrategy::PhraseBlockMax => {
                let of_lists =
                    self.kernels().map(|kernels| kernels_in_words(kernels, &details.bounded));
                of_lists.unwrap_or_else(|| format!("BM25, by bounds of {}", details.bounded))
            }
            TopKStrategy::Phrase => "BM25, wherever the words stand so".into(),
            TopKStrategy::Exhaustive => {
                let functions = details.functions.iter().map(|it| format!(", {it}"));
                format!("BM25 of every match{}", functions.collect::<String>())
            }
        };
        let own = match details.statistics {
            StatisticsOf::Snapshot => None,
            StatisticsOf::Segment => Some(Decision::accepted(
                "statistics of each segment",
                "each segment is ranked by how rare words are and how long texts are there",
            )),
            StatisticsOf::Collection => Some(Decision::accepted(
                "statistics of a collection",
                "words are as rare, and texts as long, as in the collection that this is a part of",
            )),
        };
        let own = own.map(|own| own.instead_of("statistics of the snapshot", None));
        let patterns = details.patterns.iter().map(|pattern| {
            Decision::accepted("score patterns by their best terms", pattern)
                .instead_of("the same score for every match", None)
        });
        let masks = details.segments_with_masks.filter(|_| strategy == TopKStrategy::BlockMax);
        let masks = masks.map(|n| decision_of_masks(n, self.plan.segments.len()));
        let whole = self.run.and_then(|run| match run.found.looked_at {
            WorkCounts::Blocks(work) if work.windows_whole > 0 => {
                let n = counted(work.windows_whole, "window");
                let reason = format!("bounds leave out too little of {n} of 65,536 documents");
                const SCORE: &str = "score windows whole";
                const ESSENTIAL: &str = "add up essential lists";
                const INTERSECT: &str = "intersect windows";
                let rule = match details.shape {
                    Shape::AllOf => INTERSECT,
                    _ if work.windows_essential > 0 => ESSENTIAL,
                    _ => SCORE,
                };
                let way = Decision::accepted(rule, reason).costing(work.whole_ns);
                Some(way.instead_of("look into their blocks", Some(work.by_blocks_ns)))
            }
            _ => None,
        });
        // Nothing is looked at whichever way where nothing can match.
        let has_matches = node.children[0].estimate.upper > 0;
        let decision = has_matches.then(|| self.decision_of_top_k(details, strategy)).flatten();
        let others = masks.into_iter().chain(whole).chain(own).chain(patterns);
        node.decisions = decision.into_iter().chain(others).collect();
    }

    /// Kernels that found the best in a run by lists, and in how many segments; none where there was nothing to look at.
    fn kernels(&self) -> Option<KernelCounts> {
        let WorkCounts::Blocks(work) = self.run?.found.looked_at else { return None };
        work.kernels.taken().next().map(|_| work.kernels)
    }

    /// Why the best are found in this way, and what another would cost.
    fn decision_of_top_k(&self, details: &TopKDetails, strategy: TopKStrategy) -> Option<Decision> {
        const BY_BOUNDS: &str = "top-k by bounds";
        const SCORE_ALL: &str = "score every match";
        // Why it is done or cannot be, what would be done otherwise, and by which way where there is a choice.
        let (rule, reason, other, way) = match strategy {
            TopKStrategy::BlockMax if self.kernels().is_some_and(|it| !it.has_bounds()) => {
                let reason =
                    "bounds of short lists, or of so many, would cost more than they spare";
                ("score lists whole", reason, SCORE_ALL, Some(Forced::ScoreAll))
            }
            TopKStrategy::BlockMax => {
                let reason = "a block whose best possible score is too low is left out";
                (BY_BOUNDS, reason, SCORE_ALL, Some(Forced::ScoreAll))
            }
            TopKStrategy::PhraseBlockMax => {
                let reason = "words are placed only where block, frequencies and length allow a score that is good enough";
                let (other, way) = ("place the words in every candidate", Some(Forced::PlaceAll));
                (BY_BOUNDS, reason, other, way)
            }
            TopKStrategy::Phrase => {
                let reason = match details.is_exact_phrase {
                    true => "the words are placed in every candidate anyway, to count the matches",
                    false => "words that may stand otherwise than written have no bounds",
                };
                (BY_BOUNDS, reason, "stop counting, --total none", None)
            }
            TopKStrategy::Exhaustive if !details.functions.is_empty() => {
                let reason = "what a function makes of a score has no bound in a block";
                (BY_BOUNDS, reason, "no function of the score", None)
            }
            TopKStrategy::Exhaustive => match details.shape {
                Shape::Phrase => {
                    let reason = "facets count every match anyway";
                    (BY_BOUNDS, reason, "no facets", None)
                }
                Shape::Tree => {
                    let reason =
                        "so few are expected to match that bounds would leave out little of them";
                    (SCORE_ALL, reason, BY_BOUNDS, Some(Forced::ByBounds))
                }
                Shape::Constant | Shape::AnyOf | Shape::AllOf => return None,
            },
        };
        let accepted = way.is_some();
        let costs = self.search.described.as_deref().and_then(|page| page.best);
        let costs = costs.map(|it| (whole_ns(it.by_bounds), whole_ns(it.of_everything)));
        let costs = if accepted { costs } else { costs.map(|(a, b)| (b, a)) };
        let (estimated_cost_ns, other_ns) = costs.unzip();
        let decision = Decision { accepted, estimated_cost_ns, ..Decision::accepted(rule, reason) };
        let mut decision = decision.instead_of(other, other_ns);
        decision.put_measured(self.run.and_then(|run| run.measured), way.as_slice());
        Some(decision)
    }

    pub(super) fn sort(&self, details: &SortDetails, node: &mut ExplainNode) {
        let PageOperator::Sort(strategy) = self.search.page.operator else { return };
        let SortDetails { keys, what, scores, costs, .. } = details;
        let costs = *costs;
        self.put_page(ExplainOperator::Sort, "first", &format!("by {keys}"), node);
        node.field.clone_from(&details.field);
        node.predicate = Some(details.written.clone());
        let profile = self.run.map(|run| match run.found.looked_at {
            WorkCounts::Columns(profile) => profile,
            _ => SortProfile::default(),
        });
        let reads_lists = match profile {
            Some(profile) => profile.streamed.segments > 0,
            None => costs.reads_lists,
        };
        let reads_places = costs.by_places.is_some_and(|ns| ns < costs.of_every_match);
        let (algorithm, reason) = match strategy {
            SortStrategy::IndexOrder => (
                "what matches, in the order of the index".into(),
                "documents of each segment lie in this order: none is read behind the first",
            ),
            SortStrategy::ListsOrBounds | SortStrategy::Lists if reads_lists => (
                "lists in the order of the field, then columns of these".into(),
                "no list is read behind those that hold the first",
            ),
            SortStrategy::ListsOrBounds | SortStrategy::Lists | SortStrategy::Bounds => (
                format!("columns, by bounds of blocks{scores}"),
                "a block of a column of which no value can be among the first is left out",
            ),
            SortStrategy::Places if reads_places => (
                "boxes of points, the nearest first".into(),
                "a box of which no point can be among the first is not opened",
            ),
            SortStrategy::Places => (
                format!("{what} of every match{scores}"),
                "only the first are kept; boxes of points would cost more for so few matches",
            ),
            SortStrategy::EveryMatch => (
                format!("{what} of every match{scores}"),
                "only the first are kept; blocks have no bounds for the first key, so none is left out",
            ),
            SortStrategy::SortAll => (format!("every match, sorted{scores}"), ""),
        };
        node.algorithm = algorithm;
        if strategy == SortStrategy::Places
            && let Some(by_places) = costs.by_places
        {
            let (rule, other) = ("open the nearest boxes first", "the distance of every match");
            let reason = "boxes say how near their points can be, and how far";
            let decision = match reads_places {
                true => {
                    let other = (other, costs.of_every_match);
                    self.chosen((rule, reason), by_places, other, &[Forced::EveryMatch])
                }
                false => {
                    let other = ("boxes of points", by_places);
                    self.chosen(("measure every match", reason), costs.of_every_match, other, &[])
                }
            };
            node.decisions.push(decision);
        }
        if strategy != SortStrategy::SortAll {
            let (taken, other) = ("keep the first, sort nothing else", "sort every match");
            let other = (other, costs.sorted);
            let ways = [Forced::SortAll];
            node.decisions.push(self.chosen((taken, reason), costs.chosen, other, &ways));
        }
        if strategy == SortStrategy::ListsOrBounds {
            node.decisions.extend(self.decision_of_lists(costs, reads_lists, profile));
        }
    }

    /// Whether lists are read in the order of the field; nothing where that cannot be.
    fn decision_of_lists(
        &self,
        costs: OrderCosts,
        reads_lists: bool,
        profile: Option<SortProfile>,
    ) -> Option<Decision> {
        let (by_lists, by_bounds) = (costs.by_lists?, costs.by_bounds);
        let rule = "read lists in their order";
        let from = match costs.lists_from {
            Some(n) => format!("; they pay from about {} on", counted(n, "match")),
            None => "; they never pay".to_owned(),
        };
        if !reads_lists {
            let is_given_up = profile.is_some_and(|profile| profile.streamed.given_up > 0);
            let reason = match is_given_up {
                true => "the first lists hold too few of what matches: they were given up",
                false => "heads of blocks cost less than as many lists as hold the first",
            };
            let (reason, other) = (format!("{reason}{from}"), Forced::WithStreams.name());
            let ways = [Forced::WithStreams];
            let decision = self.chosen((rule, reason), by_bounds, (other, by_lists), &ways);
            return Some(Decision { accepted: false, ..decision });
        }
        let reason = match profile.map(|profile| profile.streamed) {
            Some(streamed) => format!(
                "{} in the first lists {} expected to hold the hits, {} matched",
                counted(streamed.documents, "document"),
                if streamed.documents == 1 { "was" } else { "were" },
                streamed.candidates
            ),
            None => format!("so many match that the first lists hold the hits{from}"),
        };
        let other = ("bounds of all blocks where something matches", by_bounds);
        Some(self.chosen((rule, reason), by_lists, other, &[Forced::WithoutStreams]))
    }

    pub(super) fn collapse(&self, details: &CollapseDetails, node: &mut ExplainNode) {
        let PageOperator::Collapse(strategy) = self.search.page.operator else { return };
        let CollapseDetails { field, what, order, written, scores } = details;
        let (offset, limit) = self.bounds_of_page();
        let matches = node.children[0].estimate.documents;
        self.put_page(ExplainOperator::Collapse, "first", &format!("{order}, {what}"), node);
        node.field = Some(field.clone());
        node.predicate.clone_from(written);
        let (batch, all) = self.plan.costs.group_ns(matches, offset.saturating_add(limit));
        let at_once = Forced::GroupAll.name();
        let (how, rule, reason) = match strategy {
            CollapseStrategy::All => ("at once", at_once, "that is asked for"),
            CollapseStrategy::CountFirst => (
                "a batch at a time, once groups are counted",
                COUNT_FIRST,
                "no batch has to be larger than for as many groups as there are",
            ),
            CollapseStrategy::Batches(_) => (
                "a batch at a time",
                BATCHES,
                "how far a page reaches is known when it is full or has all there are",
            ),
        };
        node.algorithm = format!("all matches in order, {how}{scores}");
        let (cost, other) = match strategy {
            CollapseStrategy::All => (all, (BATCHES, batch)),
            _ => (batch, (at_once, all)),
        };
        node.decisions.push(self.chosen((rule, reason), cost, other, &[Forced::GroupAll]));
    }

    /// Fusion of ranked lists, with what matches as its first input.
    pub(super) fn fuse(&self, details: &FuseDetails, node: &mut ExplainNode) {
        self.put_page(ExplainOperator::Fuse, "best", details.order, node);
        node.algorithm.clone_from(&details.algorithm);
    }

    /// Puts the branches of a fusion below it.
    pub(super) fn put_branches(&self, details: &FuseDetails, node: &mut ExplainNode) {
        if let Some(matching) = node.children.first_mut() {
            matching.label.insert_str(0, "any branch: ");
        }
        let mut plans = self.branches.iter().cloned();
        for (nth, FusedBranch { weight, source }) in details.branches.iter().enumerate() {
            let mut branch = match source {
                BranchSource::Query => plans.next().unwrap_or_default(),
                BranchSource::Similarity(text) => {
                    let actual = self.run.and_then(|run| run.found.branches.get(nth));
                    let actual = actual.map(|found| (found.n_hits, found.took));
                    self.node(Planned::Similarity(text, details.window, actual), vec![]).0
                }
                BranchSource::Outside(n_keys, n_ranked) => {
                    self.node(Planned::Outside(*n_keys, *n_ranked), vec![]).0
                }
            };
            let weight = if *weight == 1.0 { String::new() } else { format!(" × {weight}") };
            branch.label.insert_str(0, &format!("branch {nth}{weight}: "));
            node.children.push(branch);
        }
    }

    /// Similarity of the documents of the first branch, at most so many; those that have a vector, and the time that it took.
    pub(super) fn similarity(
        &self,
        (text, window): (&str, u64),
        actual: Option<(u64, Duration)>,
        node: &mut ExplainNode,
    ) {
        node.operator = ExplainOperator::Nearest;
        text.clone_into(&mut node.label);
        node.algorithm = "vectors of the documents of branch 0 compared".into();
        node.estimate = Estimate { upper: window, documents: window, ..Estimate::default() };
        node.estimate.source = "a page".into();
        node.actual = actual.map(|(documents, took)| {
            let time_ns = nanoseconds(took);
            Actual { documents, time_ns, complete: true, ..Actual::default() }
        });
    }

    /// List from outside, of so many keys, with the documents of some of them.
    pub(super) fn outside(&self, n_keys: u64, n_ranked: u64, node: &mut ExplainNode) {
        node.operator = ExplainOperator::RankedList;
        node.label = match n_keys == n_ranked {
            true => counted(n_keys, "key"),
            false => format!("{n_ranked} of {}", counted(n_keys, "key")),
        };
        node.algorithm = "ranks from outside, each key looked up".into();
        node.estimate = Estimate::exact(n_ranked, "a list from outside");
        let actual = Actual { documents: n_ranked, complete: true, ..Actual::default() };
        node.actual = self.run.map(|_| actual);
    }
}
