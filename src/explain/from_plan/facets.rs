//! Facets of a plan in words, and what happened to them in a run.

use crate::execution::FacetRun;
use crate::explain::tree::{nanoseconds, whole_ns};
use crate::explain::{
    ColumnCounts, Decision, ExplainFacet, ExplainNode, ExplainOperator, FacetActual, FacetEstimate,
};
use crate::plan::forced::{Forced, Measured};
use crate::plan::{
    Adaptive, FacetMethod, FacetNode, FacetOrder, FacetPlan, GridPlan, GridStrategy, RangesPlan,
    RangesStrategy, SpreadPlan, SpreadStrategy, StatisticsStrategy, TopHitsStrategy,
};
use crate::plural::counted;

/// A facet, its run, and the facet around it with the name of its field.
pub(super) struct FacetAt<'p> {
    pub(super) node: &'p FacetNode,
    pub(super) run: Option<&'p FacetRun>,
    pub(super) around: Option<(&'p FacetNode, &'p str)>,
}

/// Puts what other ways to count facets were measured to take.
pub(super) fn put_measured(facets: &mut [ExplainFacet], measured: &Measured) {
    for (nth, facet) in (0..).zip(facets) {
        let decisions = &mut facet.decisions;
        if let Some(decision) = decisions.iter_mut().find(|it| it.rule == TELL_APART) {
            decision.put_way(measured, Forced::Tally { nth });
        }
        // The last decision is what was done in the end.
        if let Some(decision) = decisions.last_mut() {
            let ways = FacetMethod::ALL.into_iter().map(|method| Forced::Facet { nth, method });
            ways.for_each(|way| decision.put_way(measured, way));
        }
    }
}

const TELL_APART: &str = "tell values apart";

impl FacetAt<'_> {
    /// Puts what is expected of it and what it took: documents that match, in so many buckets as it is expected to be counted in.
    pub(super) fn put_numbers(&self, facet: &mut ExplainFacet) {
        facet.actual = self.run.map(|run| FacetActual {
            time_ns: nanoseconds(run.profile.time),
            within: self.around.map(|_| run.buckets),
            ..run.profile.counts
        });
        let Some(details) = &self.node.details else { return };
        facet.limit = details.limit;
        facet.options.clone_from(&details.options);
        if facet.ranges.is_none() {
            facet.ranges.clone_from(&details.ranges);
        }
        let (it, matches) = (details.expected, details.matches);
        facet.estimate = Some(FacetEstimate {
            buckets: it.buckets.round() as u64,
            buckets_upper: it.buckets_max as u64,
            documents: (it.buckets * it.documents).round() as u64,
            lower: if self.around.is_some() { 0 } else { matches.lower },
            upper: (matches.upper as f64 * it.overlap) as u64,
        });
    }

    /// Puts what comes before its own decisions; `spread` is how it tells values apart.
    fn begin(&self, spread: Option<&SpreadPlan>, node: &mut ExplainNode) {
        node.operator = ExplainOperator::Facet;
        if let Some((around, field)) = self.around {
            let reason = match around.values() {
                Some(_) => "posting lists of its values, intersected with what matches",
                None if around.counts_points() => "one pass over the points parts what matches",
                None => "one pass over its column parts what matches",
            };
            let rule = format!("look into each bucket of {field}");
            node.decisions.push(Decision::accepted(rule, reason));
        }
        if let Some(ns) = self.node.details.as_ref().and_then(|details| details.matching_ns) {
            let reason = "they leave nothing out of it: what the others match is found by itself";
            let decision = Decision::accepted("match without its selections", reason);
            node.decisions.push(decision.costing(whole_ns(ns)));
        }
        node.decisions.extend(spread.map(decision_of_spread));
    }

    fn cost_ns(&self) -> u64 {
        self.node.details.as_ref().map_or(0, |details| details.cost_ns)
    }

    pub(super) fn statistics(
        &self,
        strategy: StatisticsStrategy,
        spread: Option<&SpreadPlan>,
        node: &mut ExplainNode,
    ) {
        self.begin(spread, node);
        let (algorithm, rule, reason) = match strategy {
            StatisticsStrategy::BlockBounds => (
                "column, by bounds of blocks",
                "look at the column",
                "a block of which all documents have one value is not read",
            ),
            StatisticsStrategy::Dictionary => (
                "dictionary, term by term",
                "go through the dictionary",
                "the field keeps no column",
            ),
            StatisticsStrategy::Points => (
                GridStrategy::Points.name(),
                "look at the points of each match",
                "each adds to the box and the centroid",
            ),
        };
        node.algorithm = algorithm.into();
        node.decisions.push(Decision::accepted(rule, reason).costing(self.cost_ns()));
    }

    pub(super) fn top_hits(&self, n: usize, strategy: TopHitsStrategy, node: &mut ExplainNode) {
        self.begin(None, node);
        node.operator = ExplainOperator::TopHits;
        node.label = match n {
            1 => "the best document of each".to_owned(),
            n => format!("the {n} best documents of each"),
        };
        node.algorithm = strategy.name().into();
        let reason = "documents of a bucket lie anywhere, so that no bounds leave out any";
        let decision = Decision::accepted("find the best of each bucket", reason);
        node.decisions.push(decision.costing(self.cost_ns()));
    }

    /// Ways to count ranges, as planned, or in a run as its counts say they were taken.
    pub(super) fn ranges(&self, plan: &RangesPlan, node: &mut ExplainNode) {
        self.begin(plan.cut.as_ref(), node);
        let [sums, column] =
            [RangesStrategy::Sums, RangesStrategy::Column].map(RangesStrategy::name);
        let is_planned = plan.chosen == RangesStrategy::Sums;
        let (by_sums, by_column) = match self.run.and_then(|run| run.profile.counts.column) {
            Some(ColumnCounts { ends_looked_up: 1.., documents, deleted_taken_away, .. }) => {
                (true, documents > deleted_taken_away)
            }
            Some(ColumnCounts { documents, blocks, .. }) if documents + blocks > 0 => (false, true),
            _ => (is_planned, !is_planned),
        };
        node.algorithm = match (by_sums, by_column) {
            (true, true) => format!("{sums}, and where some do not match {column}"),
            (true, false) => sums.into(),
            _ => column.into(),
        };
        let (sums_ns, column_ns) = match is_planned {
            true => (Some(self.cost_ns()), plan.alternative_ns),
            false => (None, Some(self.cost_ns())),
        };
        let (rule, reason, cost_ns) = match by_sums {
            true => (
                format!("count by {sums}"),
                "everything matches, so that dictionaries say what lies before each end",
                sums_ns,
            ),
            false => (
                "count by the column".into(),
                "what lies in one range is counted by its bounds",
                column_ns,
            ),
        };
        let decision = Decision { estimated_cost_ns: cost_ns, ..Decision::accepted(rule, reason) };
        node.decisions.push(match (by_sums, is_planned) {
            (true, _) => decision.instead_of(column, column_ns),
            (false, true) => decision.instead_of(sums, sums_ns),
            (false, false) => decision,
        });
    }

    /// Way to count cells, as planned, or in a run as its counts say it was taken.
    pub(super) fn grid(&self, plan: &GridPlan, node: &mut ExplainNode) {
        self.begin(None, node);
        let by_pages = match self.run.and_then(|run| run.profile.counts.geo) {
            Some(geo) if geo.boxes_tested > 0 => geo.pages_inside + geo.pages_border > 0,
            _ => plan.strategy == GridStrategy::Pages,
        };
        let (own, other, rule, reason) = match by_pages {
            true => (
                GridStrategy::Pages,
                GridStrategy::Points,
                "count pages of points",
                "everything matches, so that pages inside one cell are counted unread",
            ),
            false => (
                GridStrategy::Points,
                GridStrategy::Pages,
                "look at the points of each match",
                "boxes of 1,024 documents in one cell are counted unread",
            ),
        };
        node.algorithm = own.name().into();
        let decision = Decision::accepted(rule, reason).costing(self.cost_ns());
        node.decisions.push(match plan.alternative_ns {
            Some(ns) => decision.instead_of(other.name(), Some(whole_ns(ns))),
            None => decision,
        });
    }

    pub(super) fn rings(&self, node: &mut ExplainNode) {
        self.begin(None, node);
        node.algorithm = GridStrategy::Points.name().into();
        let reason = "boxes of 1,024 documents between the same distances are counted unread";
        let decision = Decision::accepted("look at the points of each match", reason);
        node.decisions.push(decision.costing(self.cost_ns()));
    }

    /// Ways to count values, the one that was chosen and those that were taken: within another facet each bucket has its own.
    pub(super) fn values(&self, plan: &FacetPlan, node: &mut ExplainNode) {
        self.begin(None, node);
        let (run, is_within) = (self.run, self.around.is_some());
        node.decisions.push(decision_of_values(plan));
        let (chosen, methods) = (plan.choice.method, run.map_or(&[][..], |run| &run.methods));
        let ways = methods.iter().map(|(method, n)| match is_within {
            true => format!("{} in {}", method.name(), counted(*n, "bucket")),
            false => method.name().to_owned(),
        });
        node.algorithm = match methods {
            [] if is_within && plan.methods.steps().len() > 1 => {
                format!("{}, or in each bucket what is cheapest there", chosen.name())
            }
            [] => chosen.name().into(),
            _ => ways.collect::<Vec<_>>().join("; "),
        };
        let others = methods.iter().filter(|(method, _)| *method != chosen);
        node.decisions.extend(others.map(|(method, n)| {
            let reason = match is_within {
                _ if run.is_some_and(|run| run.profile.fell_back) => {
                    "what was chosen took more memory than was left".to_owned()
                }
                true => format!("it costs less in {n} of the buckets"),
                false => {
                    "other documents matched than were expected, for which this costs less".into()
                }
            };
            let decision = Decision::accepted(format!("count by {}", method.name()), reason);
            decision.instead_of(chosen.name(), None)
        }));
    }
}

/// Way to tell values apart, and the cost of counting each.
fn decision_of_spread(plan: &SpreadPlan) -> Decision {
    let (strategy, cost_ns, tally_ns) = plan.chosen;
    let reason = match strategy {
        SpreadStrategy::Frequencies => {
            "every document matches, so that dictionaries say what stands at a rank"
        }
        SpreadStrategy::Rounds => {
            "values lie too far apart for a counter each, and their parts need few"
        }
        SpreadStrategy::Tally => "values are few, or lie close together",
        SpreadStrategy::Sketch => "a count of each takes too much of the memory that is left",
    };
    let reason = adapted(reason, &plan.strategies, SpreadStrategy::name);
    let decision = Decision::accepted(TELL_APART, reason).costing(cost_ns.round() as u64);
    match plan.has_alternative() {
        true => decision.instead_of(SpreadStrategy::Tally.name(), Some(tally_ns.round() as u64)),
        false => decision,
    }
}

/// A reason, and the strategies for other numbers of matches.
fn adapted<S: Copy + PartialEq>(
    reason: &str,
    all: &Adaptive<S>,
    name: fn(S) -> &'static str,
) -> String {
    let mut reason = reason.to_owned();
    for (at, (n, other)) in all.steps().iter().enumerate().filter(|_| all.steps().len() > 1) {
        let from = if at == 0 { "for few matches".to_owned() } else { format!("from {n} on") };
        reason += &format!("; {from} {}", name(*other));
    }
    reason
}

/// The way to count values that was chosen, why, and what else was weighed.
fn decision_of_values(plan: &FacetPlan) -> Decision {
    let choice = &plan.choice;
    let (rule, reason) = match choice.method {
        _ if choice.is_wanted => ("count as asked for", "the caller says how".to_owned()),
        FacetMethod::DocumentFrequency => (
            "count by document frequency",
            match choice.n_deleted {
                0 => "every document matches, so the dictionary holds the counts".to_owned(),
                n => format!(
                    "everything matches but {n} deleted documents, and what these have is taken away from what the dictionary says"
                ),
            },
        ),
        FacetMethod::MostFrequentFirst => (
            "most frequent terms first",
            format!(
                "a term whose document frequency cannot enter the top {} is not intersected",
                plan.values.limit
            ),
        ),
        FacetMethod::Dictionary if plan.values.order != FacetOrder::Count => (
            "one pass over the dictionary",
            format!("it is in the order of values, and ends with number {}", plan.values.limit),
        ),
        FacetMethod::Dictionary => (
            "one pass over the dictionary",
            "so few documents match that document frequencies exclude little".to_owned(),
        ),
        FacetMethod::Column => (
            "count by the column",
            "to look up each document that matches costs less than to intersect the terms"
                .to_owned(),
        ),
    };
    let reason = adapted(&reason, &plan.methods, FacetMethod::name);
    let decision = Decision::accepted(rule, reason).costing(choice.cost_ns.round() as u64);
    // By value there may be one way only.
    if choice.alternative == choice.method {
        return decision;
    }
    decision.instead_of(choice.alternative.name(), Some(choice.alternative_ns.round() as u64))
}
