//! Measurement of a search with its plan's decisions taken otherwise, and comparison of the answers.
//!
//! All ways run in turn, and the least time of each counts, so that other load on the machine spoils rounds and not ways. Fetching
//! the fields of hits is the same in all ways and left out.

use super::Relation;
use super::explained::ForPeople;
use super::search::Search;
use crate::budget;
use crate::error::{Error, ErrorKind, Result};
use crate::execution::{Outcome, SearchPlan, WorkCounts};
use crate::explain::ExplainTree;
use crate::ids::DocId;
use crate::nearest::{FoundNeighbors, Way};
use crate::plan::forced::{Forced, Measured, MeasuredRecall};
use crate::plan::{FacetMethod, FacetNode, Goal, PageOperator};
use crate::plural::counted;
use crate::value::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time of measuring if the search has no deadline.
const TIME: Duration = Duration::from_secs(1);
/// Rounds at the least, if there is time; and after that as many as fit into so much of it.
const ROUNDS_MIN: u32 = 9;
const ROUNDS_TIME: Duration = Duration::from_millis(200);
const ROUNDS_MAX: u32 = 101;

/// Result of a search and its plan.
pub(super) struct Ran {
    hits: Vec<(DocId, Option<u32>, Vec<Value>)>,
    took: Duration,
    found: Outcome,
    neighbors: Vec<Option<Arc<FoundNeighbors>>>,
    /// Ways in which these could have been found instead, with their places.
    other_ways: Vec<(u32, Way)>,
}

/// A way to answer, and the least time that it took.
struct Timed {
    /// The way that is forced; `None` for the planned one.
    forced: Option<Forced>,
    ns: Option<u64>,
    /// Whether it turned out to be none.
    is_none: bool,
    neighbors: Vec<Option<Arc<FoundNeighbors>>>,
}

impl Search<'_> {
    /// Analyzes the search after each decision was taken otherwise.
    pub(super) fn what_if(self) -> Result<ExplainTree> {
        let started = Instant::now();
        let until = match self.budget().deadline_from(started) {
            Some(deadline) => started + deadline.saturating_duration_since(started) / 2,
            None => started + TIME,
        };
        let measured = self.measured(until)?;
        let mut tree = self.analyzed(measured.as_ref())?;
        let of_facets = tree.facets.iter().flat_map(|facet| &facet.decisions);
        let of_nodes = tree.plan.iter().flat_map(|node| &node.decisions);
        let is_measured = of_nodes.chain(of_facets).any(|decision| decision.measured_ns.is_some());
        if !is_measured {
            let why = match measured.is_some() {
                true => "this search would do nothing otherwise, so nothing was measured",
                false => "there was no time to measure anything",
            };
            tree.notes.push(why.into());
        }
        Ok(tree)
    }

    /// Measures all alternatives of the search; `None` if there was no time to run it once.
    fn measured(&self, until: Instant) -> Result<Option<Measured>> {
        let search = |forced: Option<Forced>| {
            let mut search = self.clone();
            (search.forced, search.request.limits.partial) = (forced, false);
            search.budget = search.budget.deadline(until);
            search
        };
        let is_over = |error: &Error| error.kind() == ErrorKind::Timeout && Instant::now() >= until;
        let first = match search(None).ran() {
            Ok(first) => first,
            Err(error) if is_over(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let ways = self.otherwise(&first)?.into_iter().map(Some);
        let mut ways: Vec<Timed> = [None]
            .into_iter()
            .chain(ways)
            .map(|forced| Timed { forced, ns: None, is_none: false, neighbors: vec![] })
            .collect();
        let started = Instant::now();
        'rounds: for round in 0..ROUNDS_MAX {
            if round >= ROUNDS_MIN && started.elapsed() > ROUNDS_TIME {
                break;
            }
            // Each round begins with another one: none always comes after the one that leaves most in the caches.
            for nth in 0..ways.len() {
                let at = (nth + round as usize) % ways.len();
                let Some(way) = ways.get_mut(at) else { break };
                let ran = match search(way.forced).ran() {
                    Ok(ran) => ran,
                    Err(error) if is_over(&error) => break 'rounds,
                    // An alternative that needs more memory than there is is none, unless it was chosen.
                    Err(error) if budget::is_of_way(&error) && way.forced.is_some() => {
                        way.is_none = true;
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                if round == 0
                    && let Some(forced) = way.forced
                {
                    // Walks may find others.
                    if !matches!(forced, Forced::Neighbors { .. }) {
                        first.must_equal(&ran, forced)?;
                    }
                    way.is_none = !ran.is_forced(forced);
                    way.neighbors = ran.neighbors;
                }
                let ns = u64::try_from(ran.took.as_nanos()).unwrap_or(u64::MAX);
                way.ns = Some(way.ns.map_or(ns, |least| least.min(ns)));
            }
            ways.retain(|way| !way.is_none);
        }
        let Some(chosen_ns) = ways.first().and_then(|way| way.ns) else { return Ok(None) };
        let ways = ways.iter().filter(|way| !way.is_none);
        let others = ways.clone().filter_map(|way| way.forced.zip(way.ns)).collect();
        let recalls = first.recalls(|forced| {
            let way = ways.clone().find(|way| way.forced == Some(forced));
            way.map(|way| &way.neighbors[..])
        });
        Ok(Some(Measured { chosen_ns, others, recalls }))
    }

    /// All that can be done otherwise than `first` did.
    pub(super) fn otherwise(&self, first: &Ran) -> Result<Vec<Forced>> {
        let _scope = self.searcher.enter(&self.budget());
        let ForPeople { plan: SearchPlan { page, matching, .. }, .. } =
            self.plan_for_people(true)?;
        let plan = matching.plan()?;
        let of_neighbors = |(nth, way): &(u32, Way)| Forced::Neighbors { nth: *nth, way: *way };
        let mut ways: Vec<Forced> = first.other_ways.iter().map(of_neighbors).collect();
        if first.found.is_planned && !matches!(page.operator, PageOperator::Collapse(_)) {
            let pages = matches!(plan.goal, Goal::Page { limit: 1.., .. });
            let can_be_had = |way: &Forced| match way {
                Forced::CollectAll => pages && self.request.facets.is_empty(),
                // Everything that matches is kept for facets, whatever else is wanted.
                Forced::WriteThenCount | Forced::ReadPostings => self.request.facets.is_empty(),
                _ => true,
            };
            let all = plan.decisions.iter().flat_map(|decision| plan.otherwise(decision));
            for way in all.filter(can_be_had) {
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
        }
        match (page.operator, self.scorings().and_then(|it| it.page.as_ref())) {
            (PageOperator::TopK(strategy), Some(ranked)) => ways.extend(strategy.otherwise(ranked)),
            (PageOperator::Sort(strategy), _) => {
                ways.extend(strategy.otherwise(first.has_read_lists()));
            }
            (PageOperator::Collapse(_), _) => ways.push(Forced::GroupAll),
            (PageOperator::DocOrder { .. } | PageOperator::TopK(_) | PageOperator::Fuse, _) => {}
        }
        for (nth, wanted) in (0_u32..).zip(&self.options(plan.goal, true, self.scorings())?.facets)
        {
            let spread = plan.facets.get(nth as usize).and_then(FacetNode::spread);
            if spread.is_some_and(|spread| spread.has_alternative()) {
                ways.push(Forced::Tally { nth });
            }
            let has_column = self.searcher.schema().get(wanted.field).column;
            let used = first.method(nth);
            if wanted.method.is_some() || used.is_none() {
                continue;
            }
            let methods = FacetMethod::ALL.into_iter().filter(|method| {
                Some(*method) != used && (*method != FacetMethod::Column || has_column)
            });
            ways.extend(methods.map(|method| Forced::Facet { nth, method }));
        }
        Ok(ways)
    }

    /// Answers the query without fetching anything.
    pub(super) fn ran(&self) -> Result<Ran> {
        let started = Instant::now();
        let _scope = self.searcher.enter(&self.budget());
        let (mut plan, mut hits) = (SearchPlan::default(), vec![]);
        self.plan(&mut plan)?;
        let found = self.context(false)?.run(&mut plan, |hit| {
            hits.push((hit.doc, hit.score.map(f32::to_bits), hit.sort));
            Ok(())
        })?;
        let took = started.elapsed();
        let carried_out = plan.matching.execution();
        let of_plan = carried_out.as_ref().map(|it| it.plan());
        let neighbors = of_plan.map_or(vec![], |plan| {
            plan.neighbors.iter().map(|neighbors| neighbors.found.clone()).collect()
        });
        let other_ways = of_plan.map_or(vec![], |plan| plan.other_ways());
        Ok(Ran { hits, took, found, neighbors, other_ways })
    }
}

impl Ran {
    /// Whether this was done as it was forced to be: not every facet can be counted in every way.
    pub(super) fn is_forced(&self, forced: Forced) -> bool {
        match forced {
            Forced::Facet { nth, method } => self.method(nth) == Some(method),
            Forced::WithStreams => self.has_read_lists(),
            _ => true,
        }
    }

    /// The nearest that were found as it was planned and in other ways, of which `found` gives what they did, beside those of
    /// comparing all.
    fn recalls<'w>(
        &self,
        found: impl Fn(Forced) -> Option<&'w [Option<Arc<FoundNeighbors>>]>,
    ) -> Vec<MeasuredRecall> {
        let mut recalls = vec![];
        for (nth, chosen) in (0_u32..).zip(&self.neighbors) {
            let found = |way| {
                let all = found(Forced::Neighbors { nth, way })?;
                all.get(nth as usize)?.as_deref()
            };
            // If all are compared anyway, comparing all is no other way.
            let is_exact = !self.other_ways.contains(&(nth, Way::Exact));
            let Some(chosen) = chosen else { continue };
            let exact = if is_exact { Some(&**chosen) } else { found(Way::Exact) };
            let Some(exact) = exact else { continue };
            recalls.push(MeasuredRecall::of((nth, None), chosen, exact));
            let own = self.other_ways.iter().filter(|(of, _)| *of == nth);
            recalls.extend(own.filter_map(|(_, way)| {
                Some(MeasuredRecall::of((nth, Some(*way)), found(*way)?, exact))
            }));
        }
        recalls
    }

    /// Whether a page was sorted by lists in their order.
    fn has_read_lists(&self) -> bool {
        matches!(self.found.looked_at, WorkCounts::Columns(it) if it.streamed.segments > 0)
    }

    /// Method by which the values of a facet were counted, if it counts values.
    fn method(&self, nth: u32) -> Option<FacetMethod> {
        self.found.facet_runs.get(nth as usize)?.method()
    }

    /// Refuses another answer than this one.
    pub(super) fn must_equal(&self, other: &Ran, forced: Forced) -> Result<()> {
        // An alternative may count as far as it likes if the number need not be known.
        let are_exact = [self, other].iter().all(|ran| ran.found.total.relation == Relation::Exact);
        let what = match () {
            _ if self.hits != other.hits => "hits",
            _ if are_exact && self.found.total != other.found.total => "total",
            _ if self.found.facets != other.found.facets => "facets",
            _ => return Ok(()),
        };
        Err(Error::corrupt("measuring what a query takes otherwise")
            .expected(format!("the same {what} in all ways, {}", self.shown(what)))
            .found(format!("{} by '{}'", other.shown(what), forced.name()))
            .hint("`treepie verify` says whether the index is sound; if it is, this is a bug of treepie"))
    }

    fn shown(&self, what: &str) -> String {
        match what {
            "hits" => {
                let docs = self.hits.iter().take(10).map(|(doc, ..)| doc.to_string());
                format!("{} of them: {}", self.hits.len(), docs.collect::<Vec<_>>().join(", "))
            }
            "total" => self.found.total.value.to_string(),
            _ => {
                let facets = &self.found.facets;
                let buckets = facets.iter().map(|facet| facet.buckets.len());
                let counts = facets.iter().flat_map(|facet| &facet.buckets);
                let sum: u64 = counts.map(|bucket| bucket.count).sum();
                let buckets = counted(buckets.sum::<usize>(), "bucket");
                format!("{buckets} of {}", counted(sum, "document"))
            }
        }
    }
}
