//! Facets of a plan, and what happened to them in a run.

use crate::execution::FacetRun;
use crate::explain::tree::nanoseconds;
use crate::explain::{ColumnCounts, Decision, ExplainFacet, FacetActual, FacetEstimate};
use crate::plan::forced::{Forced, Measured};
use crate::plan::{
    Adaptive, FacetDetails, FacetMethod, FacetNode, FacetOperator, FacetOrder, FacetPlan,
    FacetStrategy, RangesPlan, RangesStrategy, SpreadPlan, SpreadStrategy, StatisticsStrategy,
};
use crate::plural::counted;
use crate::schema::Schema;

/// Facets of a plan, with what happened to those that were counted, and what other ways to count were measured to take.
pub(super) fn facets(
    nodes: &[FacetNode],
    schema: &Schema,
    runs: Option<&[FacetRun]>,
    measured: Option<&Measured>,
) -> Vec<ExplainFacet> {
    let mut all = ExplainFacet::default();
    put_all(&mut all, None, nodes, schema, runs);
    for (nth, facet) in (0..).zip(&mut all.within) {
        let (Some(measured), decisions) = (measured, &mut facet.decisions) else { continue };
        if let Some(decision) = decisions.iter_mut().find(|it| it.rule == TELL_APART) {
            decision.put_way(measured, Forced::Tally { nth });
        }
        // The last decision is what was done in the end.
        if let Some(decision) = decisions.last_mut() {
            let ways = FacetMethod::ALL.into_iter().map(|method| Forced::Facet { nth, method });
            ways.for_each(|way| decision.put_way(measured, way));
        }
    }
    all.within
}

/// Puts operators into what they are within, or on what matches.
fn put_all(
    outer: &mut ExplainFacet,
    of: Option<&FacetNode>,
    nodes: &[FacetNode],
    schema: &Schema,
    runs: Option<&[FacetRun]>,
) {
    for (nth, node) in nodes.iter().enumerate() {
        let run = runs.and_then(|runs| runs.get(nth));
        let mut facet = ExplainFacet::of(&schema.get(node.field).name);
        facet.actual = run.map(|run| FacetActual {
            time_ns: nanoseconds(run.profile.time),
            within: of.map(|_| run.buckets),
            ..run.profile.counts
        });
        if let Some(of) = of {
            let reason = match of.values() {
                Some(_) => "posting lists of its values, intersected with what matches",
                None => "one pass over its column parts what matches",
            };
            let rule = format!("look into each bucket of {}", outer.field);
            facet.decisions.push(Decision::accepted(rule, reason));
        }
        let mut cost_ns = 0;
        if let Some(details) = &node.details {
            facet.limit = details.limit;
            (facet.ranges, facet.options) = (details.ranges.clone(), details.options.clone());
            facet.estimate = Some(estimate(details, of.is_some()));
            if let Some(ns) = details.matching_ns {
                let reason =
                    "they leave nothing out of it: what the others match is found by itself";
                let decision = Decision::accepted("match without its selections", reason);
                facet.decisions.push(decision.costing(ns.round() as u64));
            }
            cost_ns = details.cost_ns;
        }
        let is_within = of.is_some();
        let decision = match &node.operator {
            FacetOperator::Facet(FacetStrategy::Values(plan)) => {
                facet.terms = plan.sizes.n_terms;
                put_values(&mut facet, plan, run, is_within);
                None
            }
            FacetOperator::Facet(FacetStrategy::Ranges(plan)) => {
                facet.decisions.extend(plan.cut.as_ref().map(decision_of_spread));
                let decision = put_ranges(&mut facet, plan, cost_ns);
                facet.decisions.push(decision);
                None
            }
            FacetOperator::Statistics(strategy, spread) => {
                facet.decisions.extend(spread.as_ref().map(decision_of_spread));
                match strategy {
                    StatisticsStrategy::BlockBounds => {
                        facet.algorithm = "column, by bounds of blocks".into();
                        let reason = "a block of which all documents have one value is not read";
                        Some(("look at the column", reason))
                    }
                    StatisticsStrategy::Dictionary => {
                        facet.algorithm = "dictionary, term by term".into();
                        Some(("go through the dictionary", "the field keeps no column"))
                    }
                }
            }
            FacetOperator::TopHits(n, strategy) => {
                facet.operator = "TopHits".into();
                facet.ranges = Some(match n {
                    1 => "the best document of each".to_owned(),
                    n => format!("the {n} best documents of each"),
                });
                facet.algorithm = strategy.name().into();
                let reason = "documents of a bucket lie anywhere, so that no bounds leave out any";
                Some(("find the best of each bucket", reason))
            }
        };
        let decision =
            decision.map(|(rule, reason)| Decision::accepted(rule, reason).costing(cost_ns));
        facet.decisions.extend(decision);
        put_all(&mut facet, Some(node), &node.within, schema, run.map(|run| &run.within[..]));
        outer.within.push(facet);
    }
}

/// Documents that match, in so many buckets as a facet is expected to be counted in.
fn estimate(details: &FacetDetails, is_within: bool) -> FacetEstimate {
    let (it, matches) = (details.expected, details.matches);
    FacetEstimate {
        buckets: it.buckets.round() as u64,
        buckets_upper: it.buckets_max as u64,
        documents: (it.buckets * it.documents).round() as u64,
        lower: if is_within { 0 } else { matches.lower },
        upper: (matches.upper as f64 * it.overlap) as u64,
    }
}

const TELL_APART: &str = "tell values apart";

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

/// Ways to count ranges, as planned, or in a run as its counts say they were taken.
fn put_ranges(facet: &mut ExplainFacet, plan: &RangesPlan, cost_ns: u64) -> Decision {
    let [sums, column] = [RangesStrategy::Sums, RangesStrategy::Column].map(RangesStrategy::name);
    let is_planned = plan.chosen == RangesStrategy::Sums;
    let (by_sums, by_column) = match facet.actual.and_then(|actual| actual.column) {
        Some(ColumnCounts { ends_looked_up: 1.., documents, deleted_taken_away, .. }) => {
            (true, documents > deleted_taken_away)
        }
        Some(ColumnCounts { documents, blocks, .. }) if documents + blocks > 0 => (false, true),
        _ => (is_planned, !is_planned),
    };
    facet.algorithm = match (by_sums, by_column) {
        (true, true) => format!("{sums}, and where some do not match {column}"),
        (true, false) => sums.into(),
        _ => column.into(),
    };
    let (sums_ns, column_ns) = match is_planned {
        true => (Some(cost_ns), plan.alternative_ns),
        false => (None, Some(cost_ns)),
    };
    if by_sums {
        let reason = "everything matches, so that dictionaries say what lies before each end";
        let decision = Decision::accepted(format!("count by {sums}"), reason);
        let decision = Decision { estimated_cost_ns: sums_ns, ..decision };
        return decision.instead_of(column, column_ns);
    }
    let reason = "what lies in one range is counted by its bounds";
    let decision = Decision::accepted("count by the column", reason);
    let decision = Decision { estimated_cost_ns: column_ns, ..decision };
    if is_planned { decision.instead_of(sums, sums_ns) } else { decision }
}

/// Ways to count values, the one that was chosen and those that were taken: within another facet each bucket has its own.
fn put_values(facet: &mut ExplainFacet, plan: &FacetPlan, run: Option<&FacetRun>, is_within: bool) {
    facet.decisions.push(decision_of_values(plan));
    let (chosen, methods) = (plan.choice.method, run.map_or(&[][..], |run| &run.methods));
    let ways = methods.iter().map(|(method, n)| match is_within {
        true => format!("{} in {}", method.name(), counted(*n, "bucket")),
        false => method.name().to_owned(),
    });
    facet.algorithm = match methods {
        [] if is_within && plan.methods.steps().len() > 1 => {
            format!("{}, or in each bucket what is cheapest there", chosen.name())
        }
        [] => chosen.name().into(),
        _ => ways.collect::<Vec<_>>().join("; "),
    };
    let others = methods.iter().filter(|(method, _)| *method != chosen);
    facet.decisions.extend(others.map(|(method, n)| {
        let reason = match is_within {
            _ if run.is_some_and(|run| run.profile.fell_back) => {
                "what was chosen took more memory than was left".to_owned()
            }
            true => format!("it costs less in {n} of the buckets"),
            false => "other documents matched than were expected, for which this costs less".into(),
        };
        let decision = Decision::accepted(format!("count by {}", method.name()), reason);
        decision.instead_of(chosen.name(), None)
    }));
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
