//! What is counted over the documents that match.

use super::facet::{Facet, FacetRange, FacetWhat};
use super::hits::{Bucket, FacetCounts, FacetKind};
use super::search::{Found, SearchBuilder};
use super::select::Unselected;
use super::statistics::FieldStatistics;
use crate::error::{Error, ErrorKind, Result};
use crate::execution::{Execution, Matches};
use crate::explain::{ColumnCounts, Decision, ExplainFacet, ExplainTree, FacetActual};
use crate::facet::{self, ColumnProfile, Steps};
use crate::ids::FieldId;
use crate::plan::{FacetMethod, FacetWanted};
use crate::schema::{Field, FieldKind};
use crate::value::{self, Interval, Timestamp, Value};
use std::ops::Range;

/// Ranges that a facet may have at the most.
const RANGES_MAX: usize = 1_024;
/// Behind all codes.
const BEHIND: u128 = 1 << u64::BITS;

/// The code that an end of a range stands before, and its value where it is one of the field.
fn end_of(field: &Field, end: &Value) -> Result<(u128, Value)> {
    let kind = field.kind;
    let wrong = |refused: value::NotTaken| {
        Error::new(ErrorKind::Usage, format!("reading an end of a range of '{}'", field.name))
            .expected(refused.expected)
            .found(refused.found)
    };
    let span = value::span_in(field, &end.to_exact_text()).map_err(wrong)?;
    let first = u128::try_from(span.first.max(0)).unwrap_or(0).min(BEHIND);
    let code = u64::try_from(span.first).ok().filter(|_| span.first <= span.last);
    Ok((first, code.map_or_else(|| end.clone(), |code| value::value(kind, code))))
}

/// Ranges of codes, and the ends that they are shown with.
struct Ranges {
    codes: Vec<Range<u128>>,
    shown: Vec<FacetRange>,
}

impl Ranges {
    fn of(field: &Field, ranges: &[FacetRange]) -> Result<Self> {
        if ranges.len() > RANGES_MAX {
            return Err(Error::new(ErrorKind::Usage, "counting by ranges")
                .expected(format!("at most {RANGES_MAX} ranges"))
                .found(ranges.len().to_string()));
        }
        let (mut codes, mut shown) = (vec![], vec![]);
        for range in ranges {
            let from = range.from.as_ref().map(|end| end_of(field, end)).transpose()?;
            let to = range.to.as_ref().map(|end| end_of(field, end)).transpose()?;
            let first = from.as_ref().map_or(0, |from| from.0);
            codes.push(first..to.as_ref().map_or(BEHIND, |to| to.0));
            shown.push(FacetRange { from: from.map(|end| end.1), to: to.map(|end| end.1) });
        }
        Ok(Ranges { codes, shown })
    }
}

/// Steps of a width that is a number of the field, and more than nothing.
fn steps_of(field: &Field, width: &Value) -> Result<Steps> {
    let text = width.to_exact_text();
    let wrong = |expected: String| {
        Error::new(ErrorKind::Usage, format!("reading the width of steps of '{}'", field.name))
            .expected(expected)
            .found(format!("'{text}'"))
    };
    let span = value::span(field.kind, &text).map_err(|refused| wrong(refused.expected.into()))?;
    let code = u64::try_from(span.first).ok().filter(|_| span.first == span.last);
    // The codes of all but natural numbers begin below zero.
    let zero = match field.kind {
        FieldKind::U64 => 0,
        FieldKind::F64 => value::code_of_f64(0.0).unwrap_or_default(),
        _ => Timestamp::code_of_micros(0),
    };
    let is_fraction = field.kind == FieldKind::F64;
    match code.filter(|code| *code > zero) {
        Some(code) if is_fraction => Ok(Steps::Fractions { width: value::f64_of_code(code) }),
        Some(code) => Ok(Steps::Whole { zero, width: code - zero }),
        None => Err(wrong("a number of the field above zero".to_owned())),
    }
}

impl SearchBuilder<'_> {
    /// Also counts what a [`Facet`] says; any number of them, of which the result has the counts in this order.
    ///
    /// # Errors
    ///
    /// When it runs: a usage error for a field or an option that does not go with it, a query error for what is no regular
    /// expression.
    pub fn with_facet(mut self, facet: impl Into<Facet>) -> Self {
        self.facets.push(facet.into());
        self
    }

    /// The same as [`facet`](SearchBuilder::facet), in a way of the caller's. The counts are the same in all ways; where one is
    /// not to be had, the plan says what was done instead.
    ///
    /// # Errors
    ///
    /// When it runs: a usage error for a column that the field does not keep.
    pub fn facet_by(self, field: impl Into<String>, limit: usize, method: FacetMethod) -> Self {
        self.with_facet(Facet::values(field).limit(limit).method(method))
    }

    /// Counts how many documents that match have a value in each of these ranges, of a field that keeps a
    /// [column](crate::Field::column). A document with many values counts once for each range that it has one in; ranges
    /// may overlap, and one that is turned round has none. At most 1,024 of them.
    ///
    /// ```
    /// use treepie::{Document, Field, FieldKind, Index, Schema};
    ///
    /// let price = Field::new("price", FieldKind::Decimal { scale: 2 });
    /// let index = Index::in_memory(Schema::builder().field(price).build()?);
    /// let mut writer = index.writer()?;
    /// for price in ["3.50", "9.99", "10", "120"] {
    ///     writer.add(Document::new().with("price", price))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let page = searcher.search(&query).facet_ranges("price", [(0..10).into(), (10..).into()]).run()?;
    /// let counts: Vec<u64> = page.facets[0].buckets.iter().map(|bucket| bucket.count).collect();
    /// assert_eq!(counts, [2, 2]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn facet_ranges(
        self,
        field: impl Into<String>,
        ranges: impl IntoIterator<Item = FacetRange>,
    ) -> Self {
        self.with_facet(Facet::ranges(field, ranges))
    }

    /// Counts how many documents that match have a date in each interval of the calendar, of a field of dates that keeps a
    /// [column](crate::Field::column). Intervals without any are left out.
    pub fn facet_intervals(self, field: impl Into<String>, interval: Interval) -> Self {
        self.with_facet(Facet::intervals(field, interval))
    }

    /// The fields of facets that the plan is to count by their terms; all others are checked.
    pub(super) fn term_facets(&self) -> Result<Vec<FacetWanted>> {
        let mut terms = vec![];
        for facet in &self.facets {
            let field = self.field(&facet.field)?;
            let of_schema = self.searcher.schema().get(field);
            let kind = of_schema.kind;
            let counting = match &facet.what {
                FacetWhat::Values(_) => "counting values",
                FacetWhat::Ranges(_) => "counting by ranges",
                FacetWhat::Intervals(_) => "counting by intervals",
                FacetWhat::Statistics(_) => "taking statistics",
                FacetWhat::Steps(_) => "counting by steps",
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
                    if options.is_filtered() && kind.is_typed() && options.under.is_none() {
                        return wrong("a field of texts or keywords, whose values can be filtered");
                    }
                    let is_selected = self.is_selected(&facet.field);
                    let values = options.wanted(kind)?;
                    terms.push(FacetWanted { field, values, method, is_selected });
                }
                _ if !kind.has_codes() => return wrong("a field of numbers or dates"),
                FacetWhat::Statistics(_) if kind == FieldKind::Bool => {
                    return wrong("a field of numbers or dates");
                }
                FacetWhat::Statistics(options) => drop(options.percentiles()?),
                _ if !of_schema.column => return wrong("a field that keeps a column"),
                FacetWhat::Intervals(_) if kind != FieldKind::Date => {
                    return wrong("a field of dates");
                }
                FacetWhat::Intervals(_) => {}
                FacetWhat::Steps(_) if matches!(kind, FieldKind::Bool | FieldKind::Date) => {
                    return wrong("a field of numbers");
                }
                FacetWhat::Steps(width) => drop(steps_of(of_schema, width)?),
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
        let mut of_all = None;
        let mut unselected = Unselected::default();
        for request in &self.facets {
            let field = self.field(&request.field)?;
            let (matches, to_test) = match self.is_selected(&request.field) {
                true => unselected.but(&request.field, self)?,
                false => (&matches[..], &mut of_all),
            };
            let ranges = match &request.what {
                FacetWhat::Values(_) => {
                    let Some(facet) = planned.next() else { continue };
                    let counts = facet::count_values(segments, facet, matches, to_test)?;
                    found.facet_profiles.push(counts.profile);
                    found.facets.push(self.term_counts(field, counts));
                    continue;
                }
                FacetWhat::Ranges(ranges) => Ranges::of(self.searcher.schema().get(field), ranges)?,
                FacetWhat::Statistics(options) => {
                    let percentiles = options.percentiles()?;
                    let wanted = percentiles.as_deref();
                    let of = facet::statistics_of(segments, field, wanted, matches)?;
                    found.column_profiles.push(of.profile);
                    let kind = self.searcher.schema().get(field).kind;
                    found.facets.push(FacetCounts {
                        field: request.field.clone(),
                        kind: FacetKind::Statistics,
                        missing: of.missing,
                        exact: true,
                        statistics: Some(FieldStatistics::of(kind, &of, wanted.unwrap_or(&[]))),
                        ..FacetCounts::default()
                    });
                    continue;
                }
                FacetWhat::Steps(width) => {
                    let of_schema = self.searcher.schema().get(field);
                    let steps = steps_of(of_schema, width)?;
                    let counts = facet::count_steps(segments, field, steps, matches)?;
                    found.column_profiles.push(counts.profile);
                    let start = |step: i128| {
                        steps.start(step).map(|code| value::value(of_schema.kind, code))
                    };
                    let bucket = |(step, count): (i128, u64)| Bucket {
                        value: Value::Null,
                        from: start(step),
                        to: start(step + 1),
                        count,
                    };
                    found.facets.push(FacetCounts {
                        field: request.field.clone(),
                        kind: FacetKind::Ranges,
                        buckets: counts.counts.into_iter().map(bucket).collect(),
                        other: Some(0),
                        missing: counts.missing,
                        exact: true,
                        statistics: None,
                    });
                    continue;
                }
                FacetWhat::Intervals(interval) => {
                    let counts = facet::count_intervals(segments, field, interval, matches)?;
                    found.column_profiles.push(counts.profile);
                    let date = |micros| Timestamp::from_micros(micros).map(Value::Date);
                    let bucket = |(start, next, count): (i64, Option<i64>, u64)| Bucket {
                        value: Value::Null,
                        from: date(start),
                        to: next.and_then(date),
                        count,
                    };
                    found.facets.push(FacetCounts {
                        field: request.field.clone(),
                        kind: FacetKind::Ranges,
                        buckets: counts.counts.into_iter().map(bucket).collect(),
                        other: Some(0),
                        missing: counts.missing,
                        exact: true,
                        statistics: None,
                    });
                    continue;
                }
            };
            let counts = facet::count_ranges(segments, field, &ranges.codes, matches)?;
            found.column_profiles.push(counts.profile);
            let buckets = ranges.shown.into_iter().zip(counts.counts);
            let bucket =
                |(FacetRange { from, to }, count)| Bucket { value: Value::Null, from, to, count };
            found.facets.push(FacetCounts {
                field: request.field.clone(),
                kind: FacetKind::Ranges,
                buckets: buckets.map(bucket).collect(),
                other: Some(counts.other),
                missing: counts.missing,
                exact: true,
                statistics: None,
            });
        }
        Ok(())
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
            statistics: None,
        }
    }

    /// Puts the facets that are counted by columns where they were asked for among those of the plan, and what happened.
    pub(super) fn put_facets(&self, tree: &mut ExplainTree, run: Option<&Found>) {
        let mut by_terms = std::mem::take(&mut tree.facets).into_iter();
        let mut profiles = run.map(|found| &found.column_profiles[..]).unwrap_or_default().iter();
        for request in &self.facets {
            let unselected = self.is_selected(&request.field);
            let unselected = unselected.then(|| "without its own selection".to_owned());
            let (ranges, limit) = match &request.what {
                FacetWhat::Values(values) => {
                    let options = values.described().into_iter().chain(unselected);
                    let options: Vec<_> = options.collect();
                    let options = (!options.is_empty()).then(|| options.join(", "));
                    tree.facets
                        .extend(by_terms.next().map(|facet| ExplainFacet { options, ..facet }));
                    continue;
                }
                FacetWhat::Ranges(ranges) => (format!("{} ranges", ranges.len()), ranges.len()),
                FacetWhat::Intervals(interval) => (format!("by {interval}"), 0),
                FacetWhat::Statistics(_) => ("statistics".to_owned(), 0),
                FacetWhat::Steps(width) => (format!("by steps of {width}"), 0),
            };
            let of_schema = self.searcher.schema().field(&request.field);
            let (algorithm, decision) = match &request.what {
                FacetWhat::Statistics(_) if of_schema.is_none_or(|field| !field.column) => (
                    "dictionary, term by term",
                    Decision::accepted("go through the dictionary", "the field keeps no column"),
                ),
                FacetWhat::Statistics(_) => {
                    let reason = "a block of which all documents have one value is not read";
                    (
                        "column, by bounds of blocks",
                        Decision::accepted("look at the column", reason),
                    )
                }
                _ => {
                    let reason = "what lies in one range is counted by its bounds";
                    ("column", Decision::accepted("count by the column", reason))
                }
            };
            tree.facets.push(ExplainFacet {
                field: request.field.clone(),
                limit: limit as u64,
                ranges: Some(ranges),
                options: unselected,
                algorithm: algorithm.into(),
                terms: 0,
                decisions: vec![decision],
                actual: profiles.next().map(column_actual),
            });
        }
    }
}

fn column_actual(profile: &ColumnProfile) -> FacetActual {
    FacetActual {
        time_ns: u64::try_from(profile.time.as_nanos()).unwrap_or(u64::MAX),
        column: Some(ColumnCounts {
            documents: profile.documents,
            blocks: profile.blocks,
            blocks_skipped: profile.blocks_skipped,
        }),
        ..FacetActual::default()
    }
}
