//! Counting of facets over the documents that match.

use super::SearchContext;
use super::bound_facet::{BoundFacet, BoundWhat, ExcludedFilters, excluded_filters};
use super::buckets::BucketCollector;
use super::counted::{Buckets, CountedFacet, by_column, by_points};
use super::filter_scope::FilterScope;
use super::outcome::Outcome;
use super::profile::FacetRun;
use crate::doc_id_set::{DocIdSet, Matches};
use crate::error::{Error, ErrorKind, Result};
use crate::facet::{self, ColumnCounts, FieldMatches, MetCounts, SpreadWanted, Steps};
use crate::geo::{GeoCounts, GridWanted};
use crate::hits::{Bucket, FacetCounts, FieldStatistics, PointStatistics};
use crate::matching::Execution;
use crate::plan::{FacetNode, FacetOperator, RangesCosts, RangesPlan};
use crate::request::{AddressRanges, BEHIND, FacetKind, FacetRange, Ranges, Rings, Suitable};
use crate::schema::{Field, FieldKind};
use crate::value::{self, Calendar, Timestamp, Value};
use std::time::Instant;

impl SearchContext<'_, '_> {
    /// Counts all facets, in the order they were asked for.
    pub(super) fn count_facets(
        &self,
        execution: &mut Execution<'_>,
        matches: &Matches,
        found: &mut Outcome,
    ) -> Result<()> {
        let (facets, mut domain) = (self.facets, FilterScope::new(matches));
        let mut stopped = None;
        for (nth, left_out) in excluded_filters(facets).into_iter().enumerate() {
            match execution.find_unselected(nth) {
                Ok(matches) => domain.add(left_out.clone(), matches),
                // Facets of other fields can still be counted.
                Err(error) => {
                    stopped = Some(error);
                    break;
                }
            }
        }
        let plan = execution.plan();
        debug_assert_eq!(facets.len(), plan.facets.len(), "each facet is planned");
        let mut looking =
            BucketCollector { context: self, segments: &plan.segments, hits: None, n_buckets: 0 };
        // Sets that posting lists are tested against, by the selections that are left out.
        let mut tested: Vec<(&ExcludedFilters, Option<Vec<DocIdSet>>)> = vec![];
        for (facet, node) in facets.iter().zip(&plan.facets) {
            let is_ready = facet.all_left_out().into_iter().all(|it| domain.has(it));
            if let Some(error) = stopped.take_if(|_| !is_ready) {
                return Err(error);
            }
            let started = Instant::now();
            let left_out = &facet.left_out;
            let at = tested.iter().position(|(of, _)| *of == left_out).unwrap_or(tested.len());
            if at == tested.len() {
                tested.push((left_out, None));
            }
            let (matches, field) = (domain.of(left_out), facet.field);
            let of = FieldMatches { segments: &plan.segments, matches, field };
            let mut counted = self.count_facet(of, facet, node, &mut tested[at].1)?;
            let mut run = FacetRun::of(node);
            run.add(&counted.profile, 0);
            if facet.is_parted() {
                looking.look_into(facet, node, &mut counted, &domain, &mut run)?;
            }
            // With the passes and the top hits that no profile has, but without what is in those of facets within.
            run.profile.time = started.elapsed().saturating_sub(run.time_within());
            found.facet_runs.push(run);
            found.facets.push(counted.counts);
        }
        Ok(())
    }

    /// Counts one facet as planned, but nothing within its buckets.
    pub(super) fn count_facet(
        &self,
        of: FieldMatches<'_>,
        facet: &BoundFacet,
        node: &FacetNode,
        to_test: &mut Option<Vec<DocIdSet>>,
    ) -> Result<CountedFacet> {
        let of_schema = self.snapshot.manifest.schema.get(of.field);
        let plan = || node.ranges().ok_or_else(|| other_plan(of_schema, "ranges"));
        match &facet.what {
            BoundWhat::Values(..) => {
                let plan = node.values().ok_or_else(|| other_plan(of_schema, "values"))?;
                let counts = facet::count_values(of, plan, to_test)?;
                let terms = counts.buckets.iter().filter(|_| facet.is_parted());
                Ok(CountedFacet {
                    buckets: Buckets::Terms(terms.map(|(term, _)| term.clone()).collect()),
                    profile: counts.profile,
                    counts: term_counts(of_schema, counts),
                })
            }
            BoundWhat::Statistics { distinct, percentiles, .. } => {
                let plan = match &node.operator {
                    FacetOperator::Statistics(_, plan) => plan.as_ref(),
                    _ => None,
                };
                let distinct = *distinct;
                let wanted = plan.map(|plan| SpreadWanted { plan, distinct, percentiles });
                let found = facet::statistics_of(of, wanted)?;
                let statistics = FieldStatistics::of(of_schema.kind, &found, percentiles);
                let counts = FacetCounts {
                    field: of_schema.name.clone(),
                    kind: FacetKind::Statistics,
                    missing: found.missing,
                    exact: statistics.is_exact(),
                    statistics: Some(statistics),
                    ..FacetCounts::default()
                };
                let (profile, buckets) = (by_column(found.profile), Buckets::Terms(vec![]));
                Ok(CountedFacet { counts, profile, buckets })
            }
            BoundWhat::Addresses(AddressRanges { ranges, shown }) => {
                let counts = facet::count_address_ranges(of, ranges, plan()?.costs)?;
                Ok(of_ranges(of_schema, shown, Buckets::Addresses(ranges.clone()), counts))
            }
            BoundWhat::Ranges(Ranges { codes, shown }) => {
                let counts = facet::count_ranges(of, codes, plan()?.costs)?;
                Ok(of_ranges(of_schema, shown, Buckets::Codes(codes.clone()), counts))
            }
            BoundWhat::Steps(steps) => of_steps(of, of_schema, *steps, plan()?.costs),
            BoundWhat::Intervals(calendar) => of_intervals(of, of_schema, calendar, plan()?.costs),
            BoundWhat::Suitable(n, zone) => {
                let found = facet::statistics_of(of, None)?;
                let Some(codes) = found.range else {
                    return Ok(no_ranges(of_schema, found.missing, found.profile));
                };
                let costs = plan()?.costs;
                match Suitable::of(of_schema, codes, *n, zone.as_ref()) {
                    Suitable::Steps(steps) => of_steps(of, of_schema, steps, costs),
                    Suitable::Intervals(calendar) => of_intervals(of, of_schema, &calendar, costs),
                }
            }
            BoundWhat::Grid(wanted) => {
                let plan = node.grid().ok_or_else(|| other_plan(of_schema, "cells"))?;
                let mut work = GeoCounts::default();
                let grid = match *wanted {
                    GridWanted::Grid(grid) => grid,
                    GridWanted::AutoTiles(n) => facet::finest_tiles(of, n, &mut work)?,
                };
                let mut counts = facet::count_cells(of, grid, &plan.pages)?;
                counts.work += work;
                Ok(CountedFacet::cells(of_schema, grid, counts))
            }
            BoundWhat::Points => {
                let found = facet::statistics_of_points(of)?;
                let counts = FacetCounts {
                    field: of_schema.name.clone(),
                    kind: FacetKind::Statistics,
                    missing: found.missing,
                    exact: true,
                    points: Some(PointStatistics {
                        count: found.totals.n(),
                        documents: found.with_value,
                        bounds: found.totals.bounds(),
                        centroid: found.totals.centroid(),
                    }),
                    ..FacetCounts::default()
                };
                let (profile, buckets) = (by_points(found.work), Buckets::Terms(vec![]));
                Ok(CountedFacet { counts, profile, buckets })
            }
            BoundWhat::Rings(Rings { near, codes, shown }) => {
                let found = facet::count_rings(of, *near, codes)?;
                let (rings, of_rings) =
                    (shown.iter().cloned().zip(found.counts), Buckets::Rings(*near, codes.clone()));
                let outside = (found.other, found.missing);
                let none = ColumnCounts::default();
                let counted =
                    CountedFacet::ranges(of_schema, rings.collect(), of_rings, outside, none);
                Ok(CountedFacet { profile: by_points(found.work), ..counted })
            }
            BoundWhat::Quantiles(n) => {
                let RangesPlan { cut: Some(cut), costs, .. } = plan()? else {
                    return Err(other_plan(of_schema, "quantiles"));
                };
                let parts = facet::equal_parts(of, *n, cut)?;
                if parts.n_values == 0 {
                    return Ok(no_ranges(of_schema, parts.missing, parts.profile));
                }
                let Ranges { codes, shown } = Ranges::between(of_schema.kind, &parts.starts);
                let counts = facet::count_ranges(of, &codes, *costs)?;
                let mut counted = of_ranges(of_schema, &shown, Buckets::Codes(codes), counts);
                counted.counts.exact &= parts.is_exact;
                Ok(counted)
            }
        }
    }
}

/// A facet that was planned as another.
fn other_plan(field: &Field, what: &str) -> Error {
    Error::new(ErrorKind::Usage, "counting a facet")
        .expected(format!("a plan for the {what} of '{}'", field.name))
        .found("another")
}

fn term_counts(field: &Field, counts: facet::TermCounts) -> FacetCounts {
    let shown: u64 = counts.buckets.iter().map(|(_, count)| count).sum();
    let other = match field.kind {
        FieldKind::Text => None,
        FieldKind::Path { .. } if !counts.single_valued => None,
        _ if field.many && !counts.single_valued => None,
        _ => Some(counts.with_value.saturating_sub(shown)),
    };
    let bucket = |(term, count): (Vec<u8>, u64)| Bucket {
        value: Value::of_term(field.kind, &term),
        count,
        ..Bucket::default()
    };
    FacetCounts {
        field: field.name.clone(),
        kind: FacetKind::Terms,
        buckets: counts.buckets.into_iter().map(bucket).collect(),
        other,
        missing: counts.missing,
        exact: true,
        ..FacetCounts::default()
    }
}

fn of_ranges(
    field: &Field,
    shown: &[FacetRange],
    of_ranges: Buckets,
    MetCounts { counts, other, missing, profile }: MetCounts<u64>,
) -> CountedFacet {
    let ranges = shown.iter().cloned().zip(counts).collect();
    CountedFacet::ranges(field, ranges, of_ranges, (other, missing), profile)
}

fn no_ranges(field: &Field, missing: u64, profile: ColumnCounts) -> CountedFacet {
    CountedFacet::ranges(field, vec![], Buckets::Codes(vec![]), (0, missing), profile)
}

fn of_steps(
    of: FieldMatches<'_>,
    of_schema: &Field,
    steps: Steps,
    costs: RangesCosts,
) -> Result<CountedFacet> {
    let counts = facet::count_steps(of, steps, costs)?;
    let range = |(step, count): (i128, u64)| {
        let (from, to) = (steps.start(step), steps.start(step + 1));
        let value = |code| value::value(of_schema.kind, code);
        let shown = FacetRange { from: from.map(value), to: to.map(value) };
        ((shown, count), from.map_or(0, u128::from)..to.map_or(BEHIND, u128::from))
    };
    let (ranges, codes) = counts.counts.into_iter().map(range).unzip();
    let outside = (0, counts.missing);
    Ok(CountedFacet::ranges(of_schema, ranges, Buckets::Codes(codes), outside, counts.profile))
}

fn of_intervals(
    of: FieldMatches<'_>,
    of_schema: &Field,
    calendar: &Calendar,
    costs: RangesCosts,
) -> Result<CountedFacet> {
    let counts = facet::count_intervals(of, calendar, costs)?;
    let date = |micros| Timestamp::from_micros(micros).map(Value::Date);
    let code = |micros| u128::from(Timestamp::code_of_micros(micros));
    let range = |(start, next, count): (i64, Option<i64>, u64)| {
        let shown = FacetRange { from: date(start), to: next.and_then(date) };
        ((shown, count), code(start)..next.map_or(BEHIND, code))
    };
    let (ranges, codes) = counts.counts.into_iter().map(range).unzip();
    let outside = (0, counts.missing);
    let mut counted =
        CountedFacet::ranges(of_schema, ranges, Buckets::Codes(codes), outside, counts.profile);
    counted.counts.zone = Some(calendar.zone().clone());
    Ok(counted)
}
