//! What plans say of facets.

use super::answer::Found;
use super::counted::Inner;
use super::facet::{Facet, FacetWhat};
use super::ranges::{calendar, steps_of};
use super::search::Search;
use crate::error::Result;
use crate::explain::{
    self, ColumnCounts, Decision, ExplainFacet, ExplainTree, FacetActual, InBuckets,
};
use crate::facet::{self, ColumnProfile};
use crate::plan::{
    FacetMethod, FacetOrder, FacetPlan, FacetWanted, Plan, SegmentPlan, ValuesWanted,
};
use crate::value::Timestamp;

/// Intervals that are made to know how many there may be.
const INTERVALS_MAX: usize = 4_096;

/// The buckets that a facet is expected to be counted in.
#[derive(Clone, Copy)]
struct Expected {
    buckets: f64,
    /// In each of them.
    documents: f64,
}

impl Expected {
    fn in_buckets(self) -> InBuckets {
        InBuckets {
            buckets: self.buckets.round() as u64,
            documents: (self.buckets * self.documents).round() as u64,
        }
    }
}

/// A facet as it is planned, before anything is counted.
pub(super) struct PlannedFacet {
    shown: ExplainFacet,
    /// Of values within another: what is expected to be cheapest in its buckets.
    method: Option<FacetMethod>,
    within: Vec<PlannedFacet>,
}

impl PlannedFacet {
    /// What is shown of it where it lies within another, and of what it took.
    fn with_actual(self, run: Option<&Inner>) -> ExplainFacet {
        let PlannedFacet { shown: mut facet, method, within } = self;
        match (method, run) {
            (_, None) => {}
            (None, Some(inner)) => {
                let within = Some(inner.run.within());
                facet.actual = Some(FacetActual { within, ..column_actual(&inner.run.column) });
            }
            (Some(_), Some(inner)) if inner.run.n_buckets == 0 => {}
            (Some(method), Some(inner)) => {
                facet.algorithm = inner.ways();
                facet.actual = Some(inner.actual());
                let others = inner.run.methods.iter().filter(|it| it.0 != method);
                facet.decisions.extend(others.map(|(other, n)| {
                    let rule = format!("count by {}", other.name());
                    let reason = format!("it costs less in {n} of the buckets");
                    Decision::accepted(rule, reason).instead_of(method.name(), None)
                }));
            }
        }
        facet.within = all_within(within, run.map(|inner| &inner.inner[..]));
        facet
    }
}

/// The facets within another, and what counting them took.
fn all_within(planned: Vec<PlannedFacet>, run: Option<&[Inner]>) -> Vec<ExplainFacet> {
    let each = planned.into_iter().enumerate();
    each.map(|(nth, facet)| facet.with_actual(run.and_then(|run| run.get(nth)))).collect()
}

impl Search<'_> {
    /// Plans the facets for people, with those within others. That is done before a search runs: one that is stopped has no time
    /// left to look anything up.
    ///
    /// # Errors
    ///
    /// What reading dictionaries says, and that the search is stopped.
    pub(super) fn plan_facets(&self, plan: &Plan<'_>) -> Result<Vec<PlannedFacet>> {
        let of_plan = plan.node(plan.root()).estimate.documents as f64;
        let mut planned = vec![];
        for request in &self.request.facets {
            let path = &mut vec![&*request.field];
            let shown = ExplainFacet {
                options: self.described(request, path),
                ..ExplainFacet::of(&request.field)
            };
            let is_of_values = matches!(request.what, FacetWhat::Values(_));
            if is_of_values && request.within.facets.is_empty() {
                planned.push(PlannedFacet { shown, method: None, within: vec![] });
                continue;
            }
            let documents = match &self.left_out(path)[..] {
                [] => of_plan,
                left_out => self.expected_without(left_out)?,
            };
            let all = Expected { buckets: 1.0, documents };
            let of_field = self.facet_plan(&plan.segments, request)?;
            let within = self.within_of(&plan.segments, request, &of_field, all, path)?;
            let shown = match is_of_values {
                true => shown,
                false => {
                    let (algorithm, decision) = self.way_by_column(request, &of_field, all);
                    ExplainFacet {
                        limit: request.what.n_ranges() as u64,
                        ranges: request.what.ranges(),
                        algorithm: algorithm.into(),
                        decisions: vec![decision],
                        ..shown
                    }
                }
            };
            planned.push(PlannedFacet { shown, method: None, within });
        }
        Ok(planned)
    }

    /// Puts the facets that are counted by columns where they were asked for among those of the plan, and what happened; and
    /// those within others.
    pub(super) fn put_facets(
        &self,
        tree: &mut ExplainTree,
        planned: Vec<PlannedFacet>,
        run: Option<&Found>,
    ) {
        let mut by_terms = std::mem::take(&mut tree.facets).into_iter();
        let mut profiles = run.map(|found| &found.column_profiles[..]).unwrap_or_default().iter();
        let mut inner = run.map(|found| &found.inner[..]).unwrap_or_default().iter();
        for (request, PlannedFacet { shown, within, .. }) in self.request.facets.iter().zip(planned)
        {
            let shown = match request.what {
                FacetWhat::Values(_) => {
                    let Some(facet) = by_terms.next() else { continue };
                    ExplainFacet { options: shown.options, ..facet }
                }
                _ => ExplainFacet { actual: profiles.next().map(column_actual), ..shown },
            };
            let within = all_within(within, inner.next().map(|inner| &inner[..]));
            tree.facets.push(ExplainFacet { within, ..shown });
        }
    }

    /// The facets within another that lies in `path`.
    fn within_of<'f>(
        &self,
        segments: &[SegmentPlan<'_>],
        outer: &'f Facet,
        of_outer: &FacetPlan,
        around: Expected,
        path: &mut Vec<&'f str>,
    ) -> Result<Vec<PlannedFacet>> {
        let mut planned = vec![];
        if outer.within.facets.is_empty() {
            return Ok(planned);
        }
        let of_buckets = self.buckets_of(segments, outer, of_outer, around)?;
        let left_out = self.left_out(path);
        let reason = match outer.what {
            FacetWhat::Values(_) => "posting lists of its values, intersected with what matches",
            _ => "one pass over its column parts what matches",
        };
        for request in &outer.within.facets {
            path.push(&request.field);
            let more = self.expected_ratio(&self.left_out(path), &left_out)?;
            let documents = of_buckets.documents * more;
            let expected = Expected { documents, ..of_buckets };
            let rule = format!("look into each bucket of {}", outer.field);
            let mut facet = ExplainFacet {
                limit: request.what.n_ranges() as u64,
                ranges: request.what.ranges(),
                options: self.described(request, path),
                estimate: Some(expected.in_buckets()),
                decisions: vec![Decision::accepted(rule, reason)],
                ..ExplainFacet::of(&request.field)
            };
            let mut of_field = self.facet_plan(segments, request)?;
            let within = self.within_of(segments, request, &of_field, expected, path)?;
            let method = match &request.what {
                FacetWhat::Values(_) => {
                    facet.terms = of_field.n_terms;
                    let mut choice = of_field.choose(expected.documents, None);
                    choice.cost_ns *= expected.buckets as f32;
                    choice.alternative_ns *= expected.buckets as f32;
                    of_field.choice = choice;
                    facet.decisions.extend(explain::facet_decisions(&of_field, None));
                    let method = choice.method.name();
                    facet.algorithm = format!("{method}, or in each bucket what is cheapest there");
                    Some(choice.method)
                }
                _ => {
                    let (algorithm, decision) = self.way_by_column(request, &of_field, expected);
                    facet.algorithm = algorithm.into();
                    facet.decisions.push(decision);
                    None
                }
            };
            planned.push(PlannedFacet { shown: facet, method, within });
            path.pop();
        }
        Ok(planned)
    }

    /// What is known of a facet's field, and of how its values may be counted.
    fn facet_plan(&self, segments: &[SegmentPlan<'_>], request: &Facet) -> Result<FacetPlan> {
        let field = self.field(&request.field)?;
        let (values, method) = match &request.what {
            FacetWhat::Values(options) => (
                options.wanted(
                    self.searcher.schema().get(field),
                    &self.searcher.0.setting.analyzers,
                )?,
                options.method,
            ),
            _ => {
                let order = FacetOrder::Count;
                (ValuesWanted { limit: 0, order, minimum: 1, filter: None }, None)
            }
        };
        let wanted = FacetWanted { field, values, method, is_selected: false };
        FacetPlan::within(segments, &wanted, self.searcher.costs())
    }

    /// How many buckets a facet is expected to have in all that it is counted in itself, and how many documents each of these: as
    /// if the value of rank r had 1/r of the most frequent one's documents, and ranges had the same.
    fn buckets_of(
        &self,
        segments: &[SegmentPlan<'_>],
        request: &Facet,
        of_field: &FacetPlan,
        around: Expected,
    ) -> Result<Expected> {
        let field = self.field(&request.field)?;
        let of_schema = self.searcher.schema().get(field);
        let mut codes = None;
        for part in segments {
            let Some(column) = part.segment.field(field).column()? else { continue };
            codes = facet::wider(codes, column.range());
        }
        let (n, share) = match (&request.what, codes) {
            (FacetWhat::Values(values), _) => {
                let n_terms = of_field.n_wanted().max(1) as f64;
                let n = (values.limit as f64).min(n_terms);
                (n, (1.0 + n.max(1.0).ln()) / (1.0 + n_terms.ln()))
            }
            (FacetWhat::Intervals(interval, zone), Some((least, greatest))) => {
                let calendar = calendar(*interval, zone.as_ref());
                let micros = |code| Timestamp::from_code(code).map_or(0, Timestamp::as_micros);
                let first = Some(calendar.start(micros(least)));
                let starts = std::iter::successors(first, |start| calendar.next(*start));
                let starts = starts.take_while(|start| *start <= micros(greatest));
                (starts.take(INTERVALS_MAX).count() as f64, 1.0)
            }
            (FacetWhat::Steps(width), Some(codes)) => {
                (steps_of(of_schema, width)?.n_between(codes) as f64, 1.0)
            }
            (what, _) => (what.n_ranges() as f64, 1.0),
        };
        let with_value = of_field.share_with_value();
        // What no document lies in is no bucket, and what has no value is one more.
        let shown = n.min((around.documents * with_value).ceil());
        let buckets = shown + f64::from(u8::from(with_value < 1.0));
        let documents = around.documents * (with_value * share + 1.0 - with_value);
        Ok(Expected { buckets: around.buckets * buckets, documents: documents / buckets.max(1.0) })
    }

    /// How a facet that is not of values is counted, and why; what that costs in all buckets.
    fn way_by_column(
        &self,
        request: &Facet,
        of_field: &FacetPlan,
        within: Expected,
    ) -> (&'static str, Decision) {
        let (by_column, by_lists) = of_field.ranges_ns(within.documents);
        let in_all = |ns: f32| (f64::from(ns) * within.buckets).round() as u64;
        let lists = ("posting lists of all values", Some(in_all(by_lists)));
        match (&request.what, by_column) {
            (FacetWhat::Statistics(_), None) => {
                let decision =
                    Decision::accepted("go through the dictionary", "the field keeps no column");
                ("dictionary, term by term", decision.costing(in_all(by_lists)))
            }
            (FacetWhat::Statistics(_), Some(ns)) => {
                let reason = "a block of which all documents have one value is not read";
                let decision = Decision::accepted("look at the column", reason);
                let decision = decision.costing(in_all(ns)).instead_of(lists.0, lists.1);
                ("column, by bounds of blocks", decision)
            }
            (_, ns) => {
                let reason = "what lies in one range is counted by its bounds";
                let decision = Decision::accepted("count by the column", reason);
                let decision = decision.costing(in_all(ns.unwrap_or_default()));
                ("column", decision.instead_of(lists.0, lists.1))
            }
        }
    }

    /// What is not as it is by default of a facet that lies in `path`, for people.
    fn described(&self, request: &Facet, path: &[&str]) -> Option<String> {
        let options = match &request.what {
            FacetWhat::Values(values) => values.described(),
            _ => None,
        };
        let unselected = match (&self.left_out(path)[..], path) {
            ([], _) => None,
            (_, [_]) => Some("without its own selection".to_owned()),
            _ => Some("without the selections of it and what it lies within".to_owned()),
        };
        let hits = match request.within.hits {
            0 => None,
            1 => Some("with the best document of each".to_owned()),
            n => Some(format!("with the {n} best documents of each")),
        };
        let parts: Vec<_> = [options, unselected, hits].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

fn column_actual(profile: &ColumnProfile) -> FacetActual {
    FacetActual {
        time_ns: u64::try_from(profile.time.as_nanos()).unwrap_or(u64::MAX),
        column: Some(ColumnCounts {
            documents: profile.documents,
            blocks: profile.blocks,
            blocks_skipped: profile.blocks_skipped,
            ends_looked_up: profile.ends_looked_up,
            deleted_taken_away: profile.deleted_taken_away,
        }),
        ..FacetActual::default()
    }
}
