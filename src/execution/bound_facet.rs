//! Facets of a search with their names and options resolved. They are made once for plans, counts and explanations.

use crate::analysis::Analyzers;
use crate::error::{Error, ErrorKind, Result};
use crate::facet::{self, Steps};
use crate::geo::GridWanted;
use crate::ids::FieldId;
use crate::plan::{
    FacetMethod, FacetOf, FacetWanted, SegmentPlan, SpreadOf, TopHitsStrategy, ValuesWanted,
};
use crate::request::{
    AddressRanges, Facet, FacetWhat, RANGES_MAX, Ranges, Rings, StatisticsOptions, calendar,
    n_intervals, steps_of,
};
use crate::schema::{Field, FieldKind};
use crate::value::{Calendar, Zone};

/// Intervals that are made to know how many there may be.
const INTERVALS_MAX: usize = 4_096;

/// Selections that are left out, by their places.
pub(crate) type ExcludedFilters = Vec<usize>;

/// Facet of a search, and those within it.
#[derive(Debug)]
pub(crate) struct BoundFacet {
    pub(crate) field: FieldId,
    pub(crate) what: BoundWhat,
    /// Selections that it leaves out, by their places.
    pub(crate) left_out: ExcludedFilters,
    pub(crate) within: Vec<BoundFacet>,
    /// Best documents of each bucket.
    pub(crate) hits: usize,
}

/// Values, ranges or numbers that are counted of a field.
#[derive(Debug)]
pub(crate) enum BoundWhat {
    Values(ValuesWanted, Option<FacetMethod>),
    Ranges(Ranges),
    Addresses(AddressRanges),
    Intervals(Calendar),
    Steps(Steps),
    Suitable(usize, Option<Zone>),
    Quantiles(usize),
    Grid(GridWanted),
    Rings(Rings),
    /// Box and centroid of points.
    Points,
    Statistics {
        distinct: bool,
        percentiles: Vec<f64>,
        has_column: bool,
    },
}

impl BoundFacet {
    /// The part of it that a plan needs to know.
    pub(crate) fn wanted(&self, top_hits: TopHitsStrategy) -> FacetWanted {
        let (of, method) = match &self.what {
            BoundWhat::Values(values, method) => (FacetOf::Values(values.clone()), *method),
            BoundWhat::Statistics { distinct, percentiles, has_column } => {
                let (distinct, n_ranks) = (*distinct, percentiles.len());
                let is_wanted = distinct || n_ranks > 0;
                let spread = is_wanted.then_some(SpreadOf::Values { distinct, n_ranks });
                (FacetOf::Statistics { has_column: *has_column, spread }, None)
            }
            BoundWhat::Quantiles(_) => (FacetOf::Quantiles, None),
            BoundWhat::Grid(grid) => (FacetOf::Grid(*grid), None),
            BoundWhat::Rings(_) => (FacetOf::Rings, None),
            BoundWhat::Points => (FacetOf::Points, None),
            _ => (FacetOf::Ranges, None),
        };
        FacetWanted {
            field: self.field,
            of,
            method,
            is_tallied: false,
            is_selected: !self.left_out.is_empty(),
            within: self.within.iter().map(|inner| inner.wanted(top_hits)).collect(),
            hits: (self.hits > 0).then_some((self.hits, top_hits)),
        }
    }

    /// Whether its buckets are looked into.
    pub(crate) fn is_parted(&self) -> bool {
        !self.within.is_empty() || self.hits > 0
    }

    /// Whether documents of buckets are wanted, of it or of a facet within it.
    pub(crate) fn wants_hits(&self) -> bool {
        self.hits > 0 || self.within.iter().any(BoundFacet::wants_hits)
    }

    /// Selections that it leaves out, and each facet within it.
    pub(crate) fn all_left_out(&self) -> Vec<&ExcludedFilters> {
        let within = self.within.iter().flat_map(BoundFacet::all_left_out);
        std::iter::once(&self.left_out).chain(within).collect()
    }

    /// Number of ranges that the values of all documents lie in, where that follows from these and is of use; of intervals nobody
    /// knows where they are many.
    pub(crate) fn n_ranges(&self, segments: &[SegmentPlan<'_>]) -> Result<Option<f64>> {
        let mut codes = None;
        for part in segments {
            let Some(column) = part.segment.field(self.field).column()? else { continue };
            codes = facet::wider(codes, column.range());
        }
        Ok(match (&self.what, codes) {
            (BoundWhat::Intervals(calendar), Some(codes)) => {
                let n = n_intervals(calendar, codes, INTERVALS_MAX);
                (n < INTERVALS_MAX).then_some(n as f64)
            }
            (BoundWhat::Steps(steps), Some(codes)) => Some(steps.n_between(codes) as f64),
            (BoundWhat::Grid(GridWanted::Grid(grid)), _) => Some(grid.n_cells() as f64),
            _ => None,
        })
    }
}

impl BoundWhat {
    /// Checks and resolves what is counted of a field.
    pub(crate) fn of(facet: &Facet, of_schema: &Field, analyzers: &Analyzers) -> Result<Self> {
        let kind = of_schema.kind;
        let counting = match &facet.what {
            FacetWhat::Values(_) => "counting values",
            FacetWhat::Ranges(_) => "counting by ranges",
            FacetWhat::Intervals(..) => "counting by intervals",
            FacetWhat::Statistics(_) => "taking statistics",
            FacetWhat::Steps(_) => "counting by steps",
            FacetWhat::Suitable(..) => "counting by ranges that suit",
            FacetWhat::Quantiles(_) => "counting by quantiles",
            FacetWhat::Grid(_) => "counting by the cells of a grid",
            FacetWhat::Rings(..) => "counting by rings",
        };
        let wrong = |expected: &str| {
            Err(Error::new(ErrorKind::Usage, counting)
                .expected(expected.to_owned())
                .found(format!("the {} field '{}'", kind.name(), facet.field)))
        };
        let is_of_points = matches!(facet.what, FacetWhat::Grid(_) | FacetWhat::Rings(..));
        if let (true, FacetWhat::Statistics(options)) = (kind.is_point(), &facet.what) {
            return match *options == StatisticsOptions::default() {
                true => Ok(BoundWhat::Points),
                false => wrong(
                    "a field of numbers or dates, which have percentiles and different values",
                ),
            };
        }
        if is_of_points != kind.is_point() {
            return wrong(match is_of_points {
                true => "a field of points",
                false => {
                    "a field with values that can be alike; points are counted by tile=ZOOM, geohash=LENGTH or near=POINT,RING"
                }
            });
        }
        if !is_of_points && !kind.has_terms() {
            return wrong("a field with values that can be alike");
        }
        Ok(match &facet.what {
            FacetWhat::Grid(grid) => {
                BoundWhat::Grid(grid.checked().map_err(|wrong| wrong.into_usage(counting))?)
            }
            FacetWhat::Rings(near, ranges) => {
                BoundWhat::Rings(Rings::of(of_schema, *near, ranges)?)
            }
            FacetWhat::Values(options) => {
                if options.method == Some(FacetMethod::Column) && !of_schema.column {
                    return wrong("a field that keeps a column (column = true)");
                }
                if options.between.is_some() && !kind.has_codes() {
                    return wrong("a field of numbers or dates, whose values can lie in a range");
                }
                if options.is_filtered() && kind.is_typed() && options.under.is_none() {
                    return wrong("a field of texts or keywords, whose values can be filtered");
                }
                BoundWhat::Values(options.wanted(of_schema, analyzers)?, options.method)
            }
            FacetWhat::Ranges(ranges) if kind == FieldKind::Ip => match of_schema.column {
                true => BoundWhat::Addresses(AddressRanges::of(of_schema, ranges)?),
                false => return wrong("a field that keeps a column (column = true)"),
            },
            FacetWhat::Ranges(_) if !kind.has_codes() => {
                return wrong("a field of numbers, dates or addresses");
            }
            _ if !kind.has_codes() => return wrong("a field of numbers or dates"),
            FacetWhat::Statistics(_) | FacetWhat::Suitable(..) | FacetWhat::Quantiles(_)
                if kind == FieldKind::Bool =>
            {
                return wrong("a field of numbers or dates");
            }
            FacetWhat::Statistics(options) => BoundWhat::Statistics {
                distinct: options.distinct,
                percentiles: options.percentiles()?,
                has_column: of_schema.column,
            },
            _ if !of_schema.column => return wrong("a field that keeps a column (column = true)"),
            FacetWhat::Intervals(..) if kind != FieldKind::Date => {
                return wrong("a field of dates");
            }
            FacetWhat::Intervals(interval, zone) => {
                BoundWhat::Intervals(calendar(*interval, zone.as_ref()))
            }
            FacetWhat::Steps(_) if matches!(kind, FieldKind::Bool | FieldKind::Date) => {
                return wrong("a field of numbers");
            }
            FacetWhat::Steps(width) => BoundWhat::Steps(steps_of(of_schema, width)?),
            FacetWhat::Suitable(n, _) | FacetWhat::Quantiles(n)
                if !(2..=RANGES_MAX).contains(n) =>
            {
                return Err(Error::new(ErrorKind::Usage, counting)
                    .expected(format!("2 to {RANGES_MAX} ranges"))
                    .found(n.to_string()));
            }
            FacetWhat::Suitable(n, zone) => BoundWhat::Suitable(*n, zone.clone()),
            FacetWhat::Quantiles(n) => BoundWhat::Quantiles(*n),
            FacetWhat::Ranges(ranges) => BoundWhat::Ranges(Ranges::of(of_schema, ranges)?),
        })
    }
}

/// Selections that facets leave out, each different lot of them once.
pub(crate) fn excluded_filters(facets: &[BoundFacet]) -> Vec<&ExcludedFilters> {
    let all = facets.iter().flat_map(BoundFacet::all_left_out);
    let mut all: Vec<_> = all.filter(|left_out| !left_out.is_empty()).collect();
    all.sort_unstable();
    all.dedup();
    all
}
