//! Facets of a plan, and what happened to them in a run.

use crate::explain::tree::nanoseconds;
use crate::explain::{ColumnCounts, Decision, ExplainFacet, FacetActual, InBuckets};
use crate::facet::FacetProfile;
use crate::plan::forced::{Forced, Measured};
use crate::plan::{
    FacetMethod, FacetNode, FacetOperator, FacetOrder, FacetPlan, FacetStrategy, StatisticsStrategy,
};
use crate::plural::counted;
use crate::schema::Schema;
use std::time::Duration;

/// Run of a facet: within another, in all buckets of that.
#[derive(Clone, Debug, Default)]
pub(crate) struct FacetRun {
    buckets: InBuckets,
    pub(crate) profile: FacetProfile,
    /// Methods that counted values, and in how many buckets.
    methods: Vec<(FacetMethod, u64)>,
    pub(crate) within: Vec<FacetRun>,
}

impl FacetRun {
    /// Nothing so far, of a facet and of all within it.
    pub(crate) fn of(node: &FacetNode) -> Self {
        let within = node.within.iter().map(FacetRun::of).collect();
        // Only values may be counted without a column.
        let column = node.values().is_none().then(ColumnCounts::default);
        let counts = FacetActual { column, ..FacetActual::default() };
        let profile = FacetProfile { counts, ..FacetProfile::default() };
        FacetRun { profile, within, ..FacetRun::default() }
    }

    /// Adds the work in one bucket of so many documents.
    pub(crate) fn add(&mut self, of_bucket: &FacetProfile, n_documents: u64) {
        self.buckets.buckets += 1;
        self.buckets.documents += n_documents;
        self.profile.add(of_bucket);
        let Some(method) = of_bucket.method else { return };
        match self.methods.iter_mut().find(|(other, _)| *other == method) {
            Some((_, n)) => *n += 1,
            None => self.methods.push((method, 1)),
        }
    }

    /// Time of all facets within it.
    pub(crate) fn time_within(&self) -> Duration {
        self.within.iter().map(|run| run.profile.time + run.time_within()).sum()
    }

    /// The method that values were counted by, of a facet within no other.
    pub(crate) fn method(&self) -> Option<FacetMethod> {
        self.methods.first().map(|(method, _)| *method)
    }

    fn actual(&self, is_within: bool) -> FacetActual {
        FacetActual {
            time_ns: nanoseconds(self.profile.time),
            within: is_within.then_some(self.buckets),
            ..self.profile.counts
        }
    }
}

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
        // The last decision is what was done in the end.
        if let (Some(measured), Some(decision)) = (measured, facet.decisions.last_mut()) {
            put_measured(decision, nth, measured);
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
        let (run, is_within) = (runs.and_then(|runs| runs.get(nth)), of.is_some());
        let details = node.details.as_deref().cloned().unwrap_or_default();
        let mut facet = ExplainFacet {
            limit: details.limit,
            ranges: details.ranges,
            options: details.options,
            estimate: details.expected.map(|it| InBuckets {
                buckets: it.buckets.round() as u64,
                documents: (it.buckets * it.documents).round() as u64,
            }),
            actual: run.map(|run| run.actual(is_within)),
            ..ExplainFacet::of(&schema.get(node.field).name)
        };
        if let Some(of) = of {
            let reason = match of.values() {
                Some(_) => "posting lists of its values, intersected with what matches",
                None => "one pass over its column parts what matches",
            };
            let rule = format!("look into each bucket of {}", outer.field);
            facet.decisions.push(Decision::accepted(rule, reason));
        }
        let by_column = |rule: &str, reason: &str| {
            let decision = Decision::accepted(rule, reason).costing(details.column_ns);
            decision.instead_of("posting lists of all values", Some(details.lists_ns))
        };
        match &node.operator {
            FacetOperator::Facet(FacetStrategy::Values(plan)) => {
                facet.terms = plan.sizes.n_terms;
                put_values(&mut facet, plan, run, is_within);
            }
            FacetOperator::Facet(FacetStrategy::Column) => {
                facet.algorithm = "column".into();
                let reason = "what lies in one range is counted by its bounds";
                facet.decisions.push(by_column("count by the column", reason));
            }
            FacetOperator::Statistics(StatisticsStrategy::BlockBounds) => {
                facet.algorithm = "column, by bounds of blocks".into();
                let reason = "a block of which all documents have one value is not read";
                facet.decisions.push(by_column("look at the column", reason));
            }
            FacetOperator::Statistics(StatisticsStrategy::Dictionary) => {
                facet.algorithm = "dictionary, term by term".into();
                let (rule, reason) = ("go through the dictionary", "the field keeps no column");
                facet.decisions.push(Decision::accepted(rule, reason).costing(details.lists_ns));
            }
            FacetOperator::TopHits(n) => {
                let hits = match n {
                    1 => "with the best document of each".to_owned(),
                    n => format!("with the {n} best documents of each"),
                };
                let options = outer.options.take().into_iter().chain([hits]);
                outer.options = Some(options.collect::<Vec<_>>().join(", "));
                continue;
            }
        }
        put_all(&mut facet, Some(node), &node.within, schema, run.map(|run| &run.within[..]));
        outer.within.push(facet);
    }
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
        [] if is_within => format!("{}, or in each bucket what is cheapest there", chosen.name()),
        [] => chosen.name().into(),
        _ => ways.collect::<Vec<_>>().join("; "),
    };
    let others = methods.iter().filter(|(method, _)| *method != chosen);
    facet.decisions.extend(others.map(|(method, n)| {
        let reason = match is_within {
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
    let decision = Decision::accepted(rule, reason).costing(choice.cost_ns.round() as u64);
    // By value there may be one way only.
    match choice.alternative == choice.method {
        true => decision,
        false => {
            let cost_ns = Some(choice.alternative_ns.round() as u64);
            decision.instead_of(choice.alternative.name(), cost_ns)
        }
    }
}

/// Puts what was measured down at a facet, by its place.
fn put_measured(decision: &mut Decision, nth: u32, measured: &Measured) {
    let is_named = |method: &FacetMethod| {
        decision.alternative.as_ref().is_some_and(|named| named.name == method.name())
    };
    let (named, others): (Vec<_>, Vec<_>) = FacetMethod::ALL.into_iter().partition(is_named);
    for method in named.into_iter().chain(others) {
        decision.put_way(measured, Forced::Facet { nth, method });
    }
}
