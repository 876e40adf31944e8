//! Nodes of the operators that make a page of what matches.

use super::{Explaining, estimate};
use crate::execution::WorkCounts;
use crate::explain::tree::nanoseconds;
use crate::explain::{
    Actual, ColumnCounts, Decision, Estimate, ExplainNode, ExplainOperator, RankingCounts,
    Threshold,
};
use crate::plan::forced::{Forced, Measured};
use crate::plan::order::OrderCosts;
use crate::plan::{
    CollapseDetails, CollapseStrategy, CountStrategy, Goal, KernelCounts, ListsKernel, PageDetails,
    PageOperator, PagePlan, Shape, SortDetails, SortStrategy, StatisticsOf, TopKDetails,
    TopKStrategy, Total,
};
use crate::plural::counted;
use crate::ranking::top::Trace;
use crate::sort::SortProfile;
use std::time::Duration;

/// Run of the operator that makes a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRun<'r> {
    pub(crate) hits: u64,
    /// Documents that match, where making the page has found their number.
    pub(crate) matching: Option<u64>,
    /// Time beside that of the matching operators.
    pub(crate) time: Duration,
    pub(crate) looked_at: WorkCounts,
    /// Rise of the threshold of the best.
    pub(crate) trace: Option<&'r Trace>,
    pub(crate) is_stopped: bool,
}

/// Whether the answer is one that is kept already: the plan shows how it is found otherwise.
pub(crate) fn cache_decision(is_kept: bool) -> Decision {
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

/// A node that counts what another finds.
fn count_of(root: &ExplainNode, label: String) -> ExplainNode {
    let mut node = ExplainNode::new(ExplainOperator::Count, label);
    node.estimate = root.estimate.clone();
    node.actual = root.actual.as_ref().map(|root| Actual {
        documents: root.documents,
        documents_in: Some(root.documents),
        complete: root.complete,
        stopped: root.stopped,
        ..Actual::default()
    });
    node
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
    /// Puts what makes the page on top of what matches, where documents are wanted rather than counted.
    pub(super) fn page(&self, root: ExplainNode) -> ExplainNode {
        let page = self.plan.page.as_deref();
        let mut node = match page.map_or(&PageDetails::DocOrder, |page| &page.details) {
            PageDetails::DocOrder => self.in_doc_order(root),
            PageDetails::TopK(details) => self.top_k(self.counted(root, details), details),
            PageDetails::Sort(details) => self.sort(root, details),
            PageDetails::Collapse(details) => self.collapse(root, details),
        };
        node.decisions.extend(page.and_then(|page| page.is_kept).map(cache_decision));
        let unselected =
            self.plan.unselected.iter().map(|it| format!("without selections of {it}: "));
        let scores = (0..self.plan.n_score_sets()).map(|_| "for scores: ".to_owned());
        node.children.extend(self.plan.sets.iter().zip(scores.chain(unselected)).map(
            |(set, words)| {
                let (mut set, _) = self.node(*set);
                set.label.insert_str(0, &words);
                set
            },
        ));
        node
    }

    fn plan_of_page(&self) -> Option<&PagePlan> {
        self.plan.page.as_deref().map(|page| &page.plan)
    }

    /// The first documents in their order; nothing above what matches where only its number is wanted.
    fn in_doc_order(&self, root: ExplainNode) -> ExplainNode {
        let Goal::Page { offset, limit, total } = self.plan.goal else {
            if self.plan.sets.is_empty() {
                return root;
            }
            let mut node = count_of(&root, "all matches".into());
            node.children = vec![root];
            return node;
        };
        let and_count = if total == Total::Exact { ", count all" } else { "" };
        let label = match offset {
            0 => format!("first {limit}{and_count}"),
            _ => format!("{limit} from the {}th{and_count}", offset.saturating_add(1)),
        };
        let mut node = ExplainNode::new(ExplainOperator::Limit, label);
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
        node.actual = self.run.zip(root.actual.as_ref()).map(|(run, root)| Actual {
            documents: run.page.hits,
            documents_in: Some(root.documents),
            ..Actual::default()
        });
        node.children = vec![root];
        node
    }

    /// A node over what matches, with the estimate of a page of `offset` and `limit`.
    fn over(&self, root: ExplainNode, operator: ExplainOperator, label: String) -> ExplainNode {
        let mut node = ExplainNode::new(operator, label);
        node.estimate = self.estimate_of_page();
        let matching = root.actual.as_ref().map(|actual| actual.documents);
        node.actual = self.run.map(|run| Actual {
            documents: run.page.hits,
            documents_in: matching.or(run.page.matching),
            time_ns: nanoseconds(run.page.time),
            complete: !run.page.is_stopped,
            stopped: run.page.is_stopped,
            ..run.page.looked_at.actual(run.page.trace)
        });
        let is_sorted = node.operator != ExplainOperator::TopK;
        if let Some(actual) = node.actual.as_mut().filter(|_| is_sorted) {
            actual.sort.get_or_insert_default();
        }
        node.children = vec![root];
        node
    }

    fn estimate_of_page(&self) -> Estimate {
        self.plan.page.as_deref().map(|page| estimate(&page.estimate)).unwrap_or_default()
    }

    fn bounds_of_page(&self) -> (u64, u64) {
        self.plan_of_page().map_or((0, 0), |page| (page.wanted.offset, page.wanted.limit))
    }

    /// Label of the hits of a page, behind those of earlier pages.
    fn label(&self, first: &str, what: &str) -> String {
        match self.bounds_of_page() {
            (0, limit) => format!("{first} {limit} {what}"),
            (offset, limit) => format!("{limit} after the first {offset} {what}"),
        }
    }

    pub(super) fn measured(&self) -> Option<&Measured> {
        self.run.and_then(|run| run.measured)
    }

    /// Counting of what matches, where the page leaves some of it out, so that it is work of its own.
    fn counted(&self, root: ExplainNode, details: &TopKDetails) -> ExplainNode {
        let Some(PagePlan { count, wanted, .. }) = self.plan_of_page() else { return root };
        if *count != CountStrategy::AfterPage {
            return root;
        }
        let label = match wanted.total {
            Total::UpTo(most) => format!("up to {}", counted(most, "match")),
            Total::Exact | Total::Unknown => "all matches".to_owned(),
        };
        let mut node = count_of(&root, label);
        node.algorithm = match self.run.is_some_and(|run| run.profile.is_none()) {
            true => "the page has found their number".into(),
            false => "after the page, by what is below".into(),
        };
        if root.estimate.upper > 0 {
            let (finding, with_page) = self.plan.costs_of_count(details.lists.n_lists);
            let reason = "a page by bounds does not meet all that matches";
            let decision = Decision::accepted("count after the page", reason);
            let with_page = Some(whole_ns(with_page));
            let decision = decision.instead_of("count while every match is scored", with_page);
            node.decisions.push(decision.costing(whole_ns(finding)));
        }
        node.children = vec![root];
        node
    }

    fn top_k(&self, root: ExplainNode, details: &TopKDetails) -> ExplainNode {
        let operator = self.plan_of_page().map(|page| &page.operator);
        let Some(PageOperator::TopK(strategy)) = operator else { return root };
        let decision = self.decision_of_top_k(details, *strategy, &root);
        let mut node = self.over(root, ExplainOperator::TopK, self.label("best", "by score"));
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
        let masks = details.segments_with_masks.filter(|_| *strategy == TopKStrategy::BlockMax);
        let masks = masks.map(|n| decision_of_masks(n, self.plan.segments.len()));
        let whole = self.run.and_then(|run| match run.page.looked_at {
            WorkCounts::Blocks(work) if work.windows_whole > 0 => {
                let n = counted(work.windows_whole, "window");
                let reason = format!("bounds leave out too little of {n} of 65,536 documents");
                const SCORE: &str = "score windows whole";
                const INTERSECT: &str = "intersect windows";
                let rule = if details.shape == Shape::AllOf { INTERSECT } else { SCORE };
                let way = Decision::accepted(rule, reason).costing(work.whole_ns);
                Some(way.instead_of("look into their blocks", Some(work.by_blocks_ns)))
            }
            _ => None,
        });
        let others = masks.into_iter().chain(whole).chain(own).chain(patterns);
        node.decisions = decision.into_iter().chain(others).collect();
        node
    }

    /// Kernels that found the best in a run by lists, and in how many segments; none where there was nothing to look at.
    fn kernels(&self) -> Option<KernelCounts> {
        let WorkCounts::Blocks(work) = self.run?.page.looked_at else { return None };
        work.kernels.taken().next().map(|_| work.kernels)
    }

    /// Why the best are found in this way, and what another would cost; `matching` finds what matches.
    fn decision_of_top_k(
        &self,
        details: &TopKDetails,
        strategy: TopKStrategy,
        matching: &ExplainNode,
    ) -> Option<Decision> {
        if matching.estimate.upper == 0 {
            // Nothing is looked at whichever way.
            return None;
        }
        const BY_BOUNDS: &str = "top-k by bounds";
        const SCORE_ALL: &str = "score every match";
        // Whether it is by bounds if these can be had, why or why not, and what would be done otherwise.
        let (rule, accepted, reason, other, way) = match strategy {
            TopKStrategy::BlockMax if self.kernels().is_some_and(|it| !it.has_bounds()) => {
                let reason =
                    "bounds of short lists, or of so many, would cost more than they spare";
                ("score lists whole", true, reason, SCORE_ALL, Some(Forced::ScoreAll))
            }
            TopKStrategy::BlockMax => {
                let reason = "a block whose best possible score is too low is left out";
                let way = Some(Forced::ScoreAll);
                (BY_BOUNDS, true, reason, SCORE_ALL, way)
            }
            TopKStrategy::PhraseBlockMax => {
                let reason = "words are placed only where block, frequencies and length allow a score that is good enough";
                let (other, way) = ("place the words in every candidate", Some(Forced::PlaceAll));
                (BY_BOUNDS, true, reason, other, way)
            }
            TopKStrategy::Phrase => {
                let reason = match details.is_exact_phrase {
                    true => "the words are placed in every candidate anyway, to count the matches",
                    false => "words that may stand otherwise than written have no bounds",
                };
                (BY_BOUNDS, false, reason, "stop counting, --total none", None)
            }
            TopKStrategy::Exhaustive if !details.functions.is_empty() => {
                let reason = "what a function makes of a score has no bound in a block";
                (BY_BOUNDS, false, reason, "no function of the score", None)
            }
            TopKStrategy::Exhaustive => match details.shape {
                Shape::Phrase => {
                    let reason = "facets count every match anyway";
                    (BY_BOUNDS, false, reason, "no facets", None)
                }
                Shape::Tree => {
                    let reason =
                        "so few are expected to match that bounds would leave out little of them";
                    let way = Some(Forced::ByBounds);
                    (SCORE_ALL, true, reason, BY_BOUNDS, way)
                }
                Shape::Constant | Shape::AnyOf | Shape::AllOf => return None,
            },
        };
        let costs = self.plan.page.as_deref().and_then(|page| page.best);
        let costs = costs.map(|it| (whole_ns(it.by_bounds), whole_ns(it.of_everything)));
        let costs = if accepted { costs } else { costs.map(|(a, b)| (b, a)) };
        let (estimated_cost_ns, other_ns) = costs.unzip();
        let decision = Decision { accepted, estimated_cost_ns, ..Decision::accepted(rule, reason) };
        let mut decision = decision.instead_of(other, other_ns);
        decision.put_measured(self.measured(), way.as_slice());
        Some(decision)
    }

    fn sort(&self, root: ExplainNode, details: &SortDetails) -> ExplainNode {
        let SortDetails { keys, what, scores, costs, .. } = details;
        let costs = *costs;
        let operator = self.plan_of_page().map(|page| &page.operator);
        let Some(PageOperator::Sort(strategy)) = operator else { return root };
        let label = self.label("first", &format!("by {keys}"));
        let mut node = self.over(root, ExplainOperator::Sort, label);
        node.field.clone_from(&details.field);
        node.predicate = Some(details.written.clone());
        let profile = self.run.map(|run| match run.page.looked_at {
            WorkCounts::Columns(profile) => profile,
            _ => SortProfile::default(),
        });
        let reads_lists = match profile {
            Some(profile) => profile.streamed.segments > 0,
            None => costs.reads_lists,
        };
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
            SortStrategy::EveryMatch => (
                format!("{what} of every match{scores}"),
                "only the first are kept; blocks have no bounds for the first key, so none is left out",
            ),
            SortStrategy::SortAll => (format!("every match, sorted{scores}"), ""),
        };
        node.algorithm = algorithm;
        let decision = Decision::accepted("keep the first, sort nothing else", reason);
        let mut decision = decision
            .costing(whole_ns(costs.chosen))
            .instead_of("sort every match", Some(whole_ns(costs.sorted)));
        decision.put_measured(self.measured(), &[Forced::SortAll]);
        node.decisions.extend(Some(decision).filter(|_| *strategy != SortStrategy::SortAll));
        if *strategy == SortStrategy::ListsOrBounds {
            node.decisions.extend(self.decision_of_lists(costs, reads_lists, profile));
        }
        node
    }

    /// Whether lists are read in the order of the field; nothing where that cannot be.
    fn decision_of_lists(
        &self,
        costs: OrderCosts,
        reads_lists: bool,
        profile: Option<SortProfile>,
    ) -> Option<Decision> {
        let (by_lists, by_bounds) = (whole_ns(costs.by_lists?), whole_ns(costs.by_bounds));
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
            let decision = Decision::rejected(rule, format!("{reason}{from}")).costing(by_bounds);
            let mut decision = decision.instead_of(Forced::WithStreams.name(), Some(by_lists));
            decision.put_measured(self.measured(), &[Forced::WithStreams]);
            return Some(decision);
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
        let decision = Decision::accepted(rule, reason).costing(by_lists);
        let mut decision =
            decision.instead_of("bounds of all blocks where something matches", Some(by_bounds));
        decision.put_measured(self.measured(), &[Forced::WithoutStreams]);
        Some(decision)
    }

    fn collapse(&self, root: ExplainNode, details: &CollapseDetails) -> ExplainNode {
        let CollapseDetails { field, what, order, written, scores } = details;
        let (offset, limit) = self.bounds_of_page();
        let matches = root.estimate.documents;
        let label = self.label("first", &format!("{order}, {what}"));
        let mut node = self.over(root, ExplainOperator::Collapse, label);
        node.field = Some(field.clone());
        node.predicate.clone_from(written);
        let operator = self.plan_of_page().map(|page| &page.operator);
        let (batch, all) = self.plan.costs.group_ns(matches, offset.saturating_add(limit));
        let at_once = Forced::GroupAll.name();
        let (how, rule, reason) = match operator {
            Some(PageOperator::Collapse(CollapseStrategy::All)) => {
                ("at once", at_once, "that is asked for")
            }
            Some(PageOperator::Collapse(CollapseStrategy::CountFirst)) => (
                "a batch at a time, once groups are counted",
                COUNT_FIRST,
                "no batch has to be larger than for as many groups as there are",
            ),
            _ => (
                "a batch at a time",
                BATCHES,
                "how far a page reaches is known when it is full or has all there are",
            ),
        };
        node.algorithm = format!("all matches in order, {how}{scores}");
        let is_all = rule == at_once;
        let (cost, other, name) =
            if is_all { (all, batch, BATCHES) } else { (batch, all, at_once) };
        let decision = Decision::accepted(rule, reason).costing(whole_ns(cost));
        let mut decision = decision.instead_of(name, Some(whole_ns(other)));
        decision.put_measured(self.measured(), &[Forced::GroupAll]);
        node.decisions.push(decision);
        node
    }
}

fn whole_ns(cost: f32) -> u64 {
    cost.round() as u64
}

impl WorkCounts {
    /// The counts of it, of a page that is otherwise unknown; `trace` is of what was scored.
    fn actual(self, trace: Option<&Trace>) -> Actual {
        let mut actual = Actual::default();
        let rises = trace.map_or(&[][..], |trace| &trace.rises).iter();
        let rises =
            rises.map(|(documents, score)| Threshold { documents: *documents, score: *score });
        let counts = RankingCounts {
            documents_scored: trace.map_or(0, |trace| trace.offered),
            thresholds: rises.collect(),
            ..RankingCounts::default()
        };
        match self {
            WorkCounts::Nothing => {}
            WorkCounts::All(documents_scored) => {
                actual.ranking = Some(RankingCounts { documents_scored, ..counts });
            }
            WorkCounts::Blocks(pruning) => {
                actual.ranking = Some(RankingCounts {
                    documents_scored: pruning.documents_scored,
                    postings: Some(pruning.postings),
                    blocks: pruning.blocks_considered,
                    blocks_skipped: pruning.blocks_considered.saturating_sub(pruning.blocks_scored),
                    windows: pruning.windows_considered,
                    windows_skipped: pruning.windows_skipped,
                    searched_twice: pruning.searched_twice,
                    ..counts
                });
            }
            WorkCounts::Phrase(pruning) => {
                actual.positions = Some(pruning.positions);
                actual.ranking = Some(RankingCounts {
                    windows: pruning.windows,
                    windows_skipped: pruning.windows_skipped,
                    candidates: Some(pruning.candidates),
                    ..counts
                });
            }
            WorkCounts::Columns(SortProfile { column, streamed, .. }) => {
                actual.streamed = (streamed.terms > 0).then_some(streamed);
                actual.sort = Some(column);
            }
            // Documents of a batch again where a larger one is looked at.
            WorkCounts::Groups(documents) => {
                actual.sort = Some(ColumnCounts { documents, ..ColumnCounts::default() });
            }
        }
        actual
    }
}
