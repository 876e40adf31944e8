//! What is counted over the documents that match.

use super::answer::Found;
use super::counted::{Buckets, Counted, CountedBy, Inner};
use super::facet::{Facet, FacetWhat};
use super::hits::{Bucket, FacetCounts, FacetKind};
use super::ranges::{
    AddressRanges, BEHIND, FacetRange, RANGES_MAX, Ranges, Suitable, calendar, steps_of,
};
use super::search::Search;
use super::select::{Domain, LeftOut};
use super::statistics::FieldStatistics;
use super::within::{Looking, add_wanted};
use crate::error::{Error, ErrorKind, Result};
use crate::execution::{Execution, MatchSet, Matches};
use crate::facet::{self, ColumnProfile, FacetProfile, Steps};
use crate::ids::FieldId;
use crate::plan::{FacetMethod, FacetPlan, FacetWanted, SegmentPlan};
use crate::schema::{Field, FieldKind};
use crate::value::{self, Calendar, Timestamp, Value};
use std::time::Instant;

impl Search<'_> {
    /// The fields of facets that the plan is to count by their terms; all others are checked, and those within them.
    pub(super) fn term_facets(&self) -> Result<Vec<FacetWanted>> {
        self.request.facets.iter().try_for_each(Facet::check_within)?;
        self.checked(&self.request.facets)
    }

    /// Checks facets and those within them; gives those of them that are counted by terms.
    fn checked(&self, facets: &[Facet]) -> Result<Vec<FacetWanted>> {
        let mut terms = vec![];
        for facet in facets {
            self.checked(&facet.within.facets)?;
            let field = self.field(&facet.field)?;
            let of_schema = self.searcher.schema().get(field);
            let kind = of_schema.kind;
            let counting = match &facet.what {
                FacetWhat::Values(_) => "counting values",
                FacetWhat::Ranges(_) => "counting by ranges",
                FacetWhat::Intervals(..) => "counting by intervals",
                FacetWhat::Statistics(_) => "taking statistics",
                FacetWhat::Steps(_) => "counting by steps",
                FacetWhat::Suitable(..) => "counting by ranges that suit",
                FacetWhat::Quantiles(_) => "counting by quantiles",
            };
            let wrong = |expected: &str| {
                Err(Error::new(ErrorKind::Usage, counting)
                    .expected(expected.to_owned())
                    .found(format!("the {} field '{}'", kind.name(), facet.field)))
            };
            match &facet.what {
                FacetWhat::Values(options) => {
                    let method = options.method;
                    if method == Some(FacetMethod::Column) && !of_schema.column {
                        return wrong("a field that keeps a column");
                    }
                    if options.between.is_some() && !kind.has_codes() {
                        return wrong(
                            "a field of numbers or dates, whose values can lie in a range",
                        );
                    }
                    if options.is_filtered() && kind.is_typed() && options.under.is_none() {
                        return wrong("a field of texts or keywords, whose values can be filtered");
                    }
                    let is_selected = self.is_selected(&facet.field);
                    let values = options.wanted(of_schema, &self.searcher.0.setting.analyzers)?;
                    terms.push(FacetWanted { field, values, method, is_selected });
                }
                FacetWhat::Ranges(ranges) if kind == FieldKind::Ip => match of_schema.column {
                    true => drop(AddressRanges::of(of_schema, ranges)?),
                    false => return wrong("a field that keeps a column"),
                },
                FacetWhat::Ranges(_) if !kind.has_codes() => {
                    return wrong("a field of numbers, dates or addresses");
                }
                _ if !kind.has_codes() => return wrong("a field of numbers or dates"),
                FacetWhat::Statistics(_) if kind == FieldKind::Bool => {
                    return wrong("a field of numbers or dates");
                }
                FacetWhat::Statistics(options) => drop(options.percentiles()?),
                _ if !of_schema.column => return wrong("a field that keeps a column"),
                FacetWhat::Intervals(..) if kind != FieldKind::Date => {
                    return wrong("a field of dates");
                }
                FacetWhat::Intervals(..) => {}
                FacetWhat::Steps(_) if matches!(kind, FieldKind::Bool | FieldKind::Date) => {
                    return wrong("a field of numbers");
                }
                FacetWhat::Steps(width) => drop(steps_of(of_schema, width)?),
                FacetWhat::Suitable(..) | FacetWhat::Quantiles(_) if kind == FieldKind::Bool => {
                    return wrong("a field of numbers or dates");
                }
                FacetWhat::Suitable(n, _) | FacetWhat::Quantiles(n)
                    if !(2..=RANGES_MAX).contains(n) =>
                {
                    return Err(Error::new(ErrorKind::Usage, counting)
                        .expected(format!("2 to {RANGES_MAX} ranges"))
                        .found(n.to_string()));
                }
                FacetWhat::Suitable(..) | FacetWhat::Quantiles(_) => {}
                FacetWhat::Ranges(ranges) => drop(Ranges::of(of_schema, ranges)?),
            }
        }
        Ok(terms)
    }

    /// Counts all facets, in the order they were asked for.
    pub(super) fn count_facets(
        &self,
        execution: &Execution<'_>,
        matches: &Matches,
        found: &mut Found,
    ) -> Result<()> {
        let segments = &execution.plan().segments;
        let mut planned = execution.plan().facets.iter();
        let mut domain = Domain::new(matches);
        let mut looking = Looking::new(self, segments)?;
        // What posting lists are tested against, by the selections that are left out.
        let mut tested: Vec<(LeftOut, Option<Vec<MatchSet>>)> = vec![];
        for request in &self.request.facets {
            let started = Instant::now();
            let mut path = vec![&*request.field];
            let left_out = self.left_out(&path);
            let mut inner = self.inner(segments, &request.within.facets, &mut path)?;
            let mut needed = vec![left_out.clone()];
            add_wanted(&inner, &mut needed);
            needed.iter().try_for_each(|left_out| domain.need(self, left_out))?;
            let at = tested.iter().position(|(of, _)| *of == left_out).unwrap_or(tested.len());
            if at == tested.len() {
                tested.push((left_out.clone(), None));
            }
            let plan = if request.is_of_values() { planned.next() } else { None };
            let (matches, to_test) = (domain.of(&left_out), &mut tested[at].1);
            let mut counted = self.count_facet(segments, request, plan, matches, to_test)?;
            if !request.within.is_empty() {
                looking.look_into(request, &mut counted, &domain, &left_out, &mut inner)?;
            }
            // With the passes and the top hits that no profile has, but without what is in those of facets within.
            let took = started.elapsed().saturating_sub(inner.iter().map(Inner::time).sum());
            match counted.by {
                CountedBy::Terms(profile) => {
                    found.facet_profiles.push(FacetProfile { time: took, ..profile });
                }
                CountedBy::Column(profile) => {
                    found.column_profiles.push(ColumnProfile { time: took, ..profile });
                }
            }
            found.inner.push(inner);
            found.facets.push(counted.counts);
        }
        Ok(())
    }

    /// Counts one facet over `matches`, but nothing within its buckets; of values as planned.
    pub(super) fn count_facet(
        &self,
        segments: &[SegmentPlan<'_>],
        request: &Facet,
        plan: Option<&FacetPlan>,
        matches: &[MatchSet],
        to_test: &mut Option<Vec<MatchSet>>,
    ) -> Result<Counted> {
        let field = self.field(&request.field)?;
        let of_schema = self.searcher.schema().get(field);
        let is_parted = !request.within.is_empty();
        match &request.what {
            FacetWhat::Values(options) => {
                let wanted;
                let plan = match plan {
                    Some(plan) => plan,
                    None => {
                        let (values, method) = (
                            options.wanted(of_schema, &self.searcher.0.setting.analyzers)?,
                            options.method,
                        );
                        wanted = FacetPlan::within(
                            segments,
                            &FacetWanted { field, values, method, is_selected: false },
                            self.searcher.costs(),
                        )?;
                        &wanted
                    }
                };
                let counts = facet::count_values(segments, plan, matches, to_test)?;
                let terms = counts.buckets.iter().filter(|_| is_parted);
                Ok(Counted {
                    buckets: Buckets::Terms(terms.map(|(term, _)| term.clone()).collect()),
                    by: CountedBy::Terms(counts.profile),
                    counts: self.term_counts(field, counts),
                })
            }
            FacetWhat::Statistics(options) => {
                let percentiles = options.percentiles()?;
                let wanted = options.spread(&percentiles);
                let of = facet::statistics_of(segments, field, wanted, matches)?;
                let statistics = FieldStatistics::of(of_schema.kind, &of, &percentiles);
                let counts = FacetCounts {
                    field: request.field.clone(),
                    kind: FacetKind::Statistics,
                    missing: of.missing,
                    exact: statistics.is_exact(),
                    statistics: Some(statistics),
                    ..FacetCounts::default()
                };
                let by = CountedBy::Column(of.profile);
                Ok(Counted { counts, by, buckets: Buckets::Terms(vec![]) })
            }
            FacetWhat::Ranges(ranges) if of_schema.kind == FieldKind::Ip => {
                let ranges = AddressRanges::of(of_schema, ranges)?;
                of_address_ranges(segments, field, of_schema, ranges, matches)
            }
            FacetWhat::Ranges(ranges) => {
                of_ranges(segments, field, of_schema, Ranges::of(of_schema, ranges)?, matches)
            }
            FacetWhat::Steps(width) => {
                of_steps(segments, field, of_schema, steps_of(of_schema, width)?, matches)
            }
            FacetWhat::Intervals(interval, zone) => {
                let calendar = calendar(*interval, zone.as_ref());
                of_intervals(segments, field, of_schema, &calendar, matches)
            }
            FacetWhat::Suitable(n, zone) => {
                let of = facet::statistics_of(segments, field, None, matches)?;
                let Some(codes) = of.range else {
                    return Ok(Counted::ranges(of_schema, vec![], (0, of.missing), of.profile));
                };
                match Suitable::of(of_schema, codes, *n, zone.as_ref()) {
                    Suitable::Steps(it) => of_steps(segments, field, of_schema, it, matches),
                    Suitable::Intervals(it) => {
                        of_intervals(segments, field, of_schema, &it, matches)
                    }
                }
            }
            FacetWhat::Quantiles(n) => {
                let parts = facet::equal_parts(segments, field, *n, matches)?;
                if parts.n_values == 0 {
                    let outside = (0, parts.missing);
                    return Ok(Counted::ranges(of_schema, vec![], outside, parts.profile));
                }
                let ranges = Ranges::between(of_schema.kind, &parts.starts);
                let mut counted = of_ranges(segments, field, of_schema, ranges, matches)?;
                counted.counts.exact &= parts.is_exact;
                Ok(counted)
            }
        }
    }

    fn term_counts(&self, field: FieldId, counts: facet::TermCounts) -> FacetCounts {
        let field = self.searcher.schema().get(field);
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
}

fn of_ranges(
    segments: &[SegmentPlan<'_>],
    field: FieldId,
    of_schema: &Field,
    Ranges { codes, shown }: Ranges,
    matches: &[MatchSet],
) -> Result<Counted> {
    let counts = facet::count_ranges(segments, field, &codes, matches)?;
    let ranges = shown.into_iter().zip(codes).zip(counts.counts);
    let ranges = ranges.map(|((shown, codes), count)| (shown, codes, count));
    let outside = (counts.other, counts.missing);
    Ok(Counted::ranges(of_schema, ranges.collect(), outside, counts.profile))
}

fn of_address_ranges(
    segments: &[SegmentPlan<'_>],
    field: FieldId,
    of_schema: &Field,
    AddressRanges { ranges, shown }: AddressRanges,
    matches: &[MatchSet],
) -> Result<Counted> {
    let counts = facet::count_address_ranges(segments, field, &ranges, matches)?;
    let (shown, outside) =
        (shown.into_iter().zip(counts.counts).collect(), (counts.other, counts.missing));
    let of_ranges = Buckets::Addresses(ranges);
    Ok(Counted::of_buckets(of_schema, shown, of_ranges, outside, counts.profile))
}

fn of_steps(
    segments: &[SegmentPlan<'_>],
    field: FieldId,
    of_schema: &Field,
    steps: Steps,
    matches: &[MatchSet],
) -> Result<Counted> {
    let counts = facet::count_steps(segments, field, steps, matches)?;
    let range = |(step, count): (i128, u64)| {
        let (from, to) = (steps.start(step), steps.start(step + 1));
        let value = |code| value::value(of_schema.kind, code);
        let shown = FacetRange { from: from.map(value), to: to.map(value) };
        (shown, from.map_or(0, u128::from)..to.map_or(BEHIND, u128::from), count)
    };
    let ranges = counts.counts.into_iter().map(range).collect();
    Ok(Counted::ranges(of_schema, ranges, (0, counts.missing), counts.profile))
}

fn of_intervals(
    segments: &[SegmentPlan<'_>],
    field: FieldId,
    of_schema: &Field,
    calendar: &Calendar,
    matches: &[MatchSet],
) -> Result<Counted> {
    let counts = facet::count_intervals(segments, field, calendar, matches)?;
    let date = |micros| Timestamp::from_micros(micros).map(Value::Date);
    let code = |micros| u128::from(Timestamp::code_of_micros(micros));
    let range = |(start, next, count): (i64, Option<i64>, u64)| {
        let shown = FacetRange { from: date(start), to: next.and_then(date) };
        (shown, code(start)..next.map_or(BEHIND, code), count)
    };
    let ranges = counts.counts.into_iter().map(range).collect();
    Ok(Counted::ranges(of_schema, ranges, (0, counts.missing), counts.profile))
}
